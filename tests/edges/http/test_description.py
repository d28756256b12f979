"""The description of the API leaves nothing to guess: every field and parameter says what it is,
and every body has an example that can be sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from holdfast.edges.http import description
from tests.edges.http.conftest import House


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    from tests.edges.http.apps import make_app

    found: dict[str, Any] = make_app(None).openapi()
    return found


def _schemas(described: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = described["components"]["schemas"]
    return found


def _bodies(described: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each route that takes JSON, and the name of its body's schema."""
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            content = route.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                schema = content["application/json"]["schema"]
                yield f"{method.upper()} {path}", schema["$ref"].rpartition("/")[2]


def test_every_field_is_described(described: dict[str, Any]) -> None:
    missing = [
        f"{name}.{field}"
        for name, schema in _schemas(described).items()
        for field, about in schema.get("properties", {}).items()
        if not about.get("description")
    ]
    assert missing == []


def test_every_parameter_is_described(described: dict[str, Any]) -> None:
    missing = [
        f"{method.upper()} {path}: {parameter['name']}"
        for path, methods in described["paths"].items()
        for method, route in methods.items()
        for parameter in route.get("parameters", ())
        if not parameter.get("description")
    ]
    assert missing == []


def test_every_body_has_an_example_that_fits_it(described: dict[str, Any]) -> None:
    schemas = _schemas(described)
    for route, name in _bodies(described):
        examples = schemas[name].get("examples")
        assert examples is not None, f"{route}: {name} has no example"
        whole = {"components": described["components"], **schemas[name]}
        validator = jsonschema.Draft202012Validator(whole)
        for example in examples:
            assert [error.message for error in validator.iter_errors(example)] == [], route


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/memories", "NewMemory"),
        ("/v1/memories/batch", "Pushes"),
        ("/v1/recall", "holdfast__edges__http__recall__Question"),
        ("/v1/log", "NewTurn"),
        ("/v1/observe", "NewObservation"),
        ("/v1/flush", "FlushedConversation"),
        ("/v1/heard", "Said"),
        ("/v1/decisions", "holdfast__edges__http__review__Question"),
        ("/v1/journal", "NewEntry"),
        ("/v1/conversations", "Conversation"),
        ("/v1/log/forget", "Forget"),
        ("/v1/lifecycle", "LifecycleRequest"),
        ("/v1/undo", "Undo"),
    ],
)
def test_an_example_is_answered(house: House, path: str, name: str) -> None:
    house.hub.remember("Ada prefers tabs")
    answer = house.ask().post(path, description.EXAMPLES[name])
    assert answer.is_success, answer.text


def test_nothing_is_described_that_is_not_there(described: dict[str, Any]) -> None:
    schemas = _schemas(described)
    fields = {field for schema in schemas.values() for field in schema.get("properties", {})}
    own = {
        f"{name.rpartition('__')[2]}.{field}"
        for name, schema in schemas.items()
        for field in schema.get("properties", {})
    }
    parameters = {
        parameter["name"]
        for methods in described["paths"].values()
        for route in methods.values()
        for parameter in route.get("parameters", ())
    }
    assert set(description._FIELDS) - fields - parameters == set()
    assert set(description._OWN) - own == set()
    assert set(description._OF_ADDRESSES) - parameters == set()
    assert set(description.EXAMPLES) - {name for _, name in _bodies(described)} == set()
