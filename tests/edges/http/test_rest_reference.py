"""The reference of the REST API is complete, because it is made from the API's own description."""

from __future__ import annotations

import ast
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tools.reference import rest

from holdfast import errors
from holdfast.domain.memory import Memory
from holdfast.domain.records import Role, Turn
from holdfast.edges.http import answers, call
from holdfast.edges.http.shapes import OneMemory, answer
from holdfast.edges.server import cross_origin
from tests.edges.http.permissions import OPEN_ROUTES, OWN_ROUTES, ROUTES

_ROOT = Path(__file__).parents[3]
_PAGE = _ROOT / "docs" / "reference" / "rest.md"


def test_the_page_is_what_the_api_says() -> None:
    assert _PAGE.read_text(encoding="utf-8") == rest.page(), "run `make reference`"


def test_every_route_is_in_the_reference() -> None:
    text = _PAGE.read_text(encoding="utf-8")
    names = {" ".join(name.split()[:2]) for name in (*ROUTES, *OWN_ROUTES, *OPEN_ROUTES)}
    assert [name for name in names if f"`{name}`" not in text] == []


def classes_of_errors() -> set[type[errors.HoldfastError]]:
    kinds = vars(errors).values()
    return {one for one in kinds if isinstance(one, type) and issubclass(one, errors.HoldfastError)}


def codes_in_the_source() -> set[tuple[str, int]]:
    """The codes and statuses that are written out where requests are refused."""
    found = {(kind.code, answers.status_of(kind)) for kind in classes_of_errors()}
    found |= {(code, status) for status, code in answers._CODES.items()}
    found |= set(call._STATUSES.items())
    for file in (*Path(answers.__file__).parent.glob("*.py"), Path(cross_origin.__file__)):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "Refused",
                "Refusal",
                "problem",
            ):
                given = [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]
                if len(given) == 2 and isinstance(given[0], int):
                    found.add((str(given[1]), given[0]))
    return found


def test_every_code_of_an_error_is_in_the_reference_with_its_status() -> None:
    known = {(code, status) for code, status, _ in rest.CODES}
    assert codes_in_the_source() - known == set()
    # Those are chosen where the error is turned into an answer.
    assert known - codes_in_the_source() == {
        ("no_write_access", 403),
        ("http_error", 400),
        ("in_doubt", 500),
    }


class Voice(NamedTuple):
    """Someone who speaks."""

    name: str
    role: Role = "user"
    last: datetime | None = None
    said: tuple[Turn, ...] = ()


def test_a_record_without_a_model_of_its_own_is_described_by_its_fields() -> None:
    described = answer(list[Voice]).model_json_schema()
    voice = described["$defs"]["VoiceOut"]
    assert voice["description"] == "Someone who speaks."
    assert voice["required"] == ["name", "role", "last", "said"]
    assert [voice["properties"][name]["type"] for name in ("name", "role", "said")] == [
        "string",
        "string",
        "array",
    ]
    assert voice["properties"]["last"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert voice["properties"]["said"]["items"] == {"$ref": "#/$defs/TurnOut"}
    assert answer(Memory) is OneMemory
