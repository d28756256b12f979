"""From a setting to a model: which forms are known, and that nothing secret is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import InvalidSetting
from holdfast.llm.find import parse
from holdfast.testing import ScriptedModel, open_for_tests


@pytest.mark.parametrize(
    ("text", "protocol", "model", "url", "local"),
    [
        ("openai:gpt-5-mini", "openai", "gpt-5-mini", "", False),
        ("openai:a/b:free@http://localhost:11434/v1/", "openai", "a/b:free",
         "http://localhost:11434/v1", True),
        ("openai:q@http://127.0.0.1:1/v1", "openai", "q", "http://127.0.0.1:1/v1", True),
        ("openai:q@http://[::1]:1/v1", "openai", "q", "http://[::1]:1/v1", True),
        ("openai:name@2@https://api.example.org", "openai", "name@2",
         "https://api.example.org", False),
        ("anthropic:claude-haiku-4-5", "anthropic", "claude-haiku-4-5", "", False),
        ("anthropic:c@https://proxy.example.org/a", "anthropic", "c",
         "https://proxy.example.org/a", False),
        # A host that only looks like this machine is another one.
        ("openai:q@http://localhost.example.org/v1", "openai", "q",
         "http://localhost.example.org/v1", False),
    ],
)  # fmt: skip
def test_a_setting_names_a_protocol_a_model_and_an_address(
    text: str, protocol: str, model: str, url: str, local: bool
) -> None:
    spec = parse(text)
    assert spec is not None
    assert (spec.protocol, spec.model, spec.url, spec.is_local) == (protocol, model, url, local)


@pytest.mark.parametrize("text", ["", "  ", "none"])
def test_no_model_is_no_model(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "gpt-5",
        "openai:",
        "openai",
        "openai:@http://localhost",
        "google:gemini",
        "openai:a b",
        "openai:m\n",
        "openai:m\nx",
        "openai:https://api.example.org/v1",
        "openai:m@http://",
        "openai:m@http://user:hunter2@host/v1",
        "openai:m@http://host/v1?key=hunter2",
        "openai:m@http://host:hunter2/v1",
        "openai:m@http://host/v1#hunter2",
        "openai:m@http://höst/v1",
    ],
)
def test_a_setting_that_names_no_model_says_how_to_write_one(text: str) -> None:
    if text == "openai:m\n":
        assert parse(text) is not None  # Space around it is nothing.
        return
    with pytest.raises(InvalidSetting) as caught:
        parse(text)
    assert caught.value.hint
    assert "hunter2" not in str(caught.value)


def test_without_a_model_a_core_has_none(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        assert memory.core.model() is None
        assert memory.core.model("none") is None


def test_a_model_that_is_handed_in_is_every_pass_s_model_but_where_none_is_wanted(
    tmp_path: Path,
) -> None:
    model = ScriptedModel()
    with open_for_tests(tmp_path, model=model) as memory:
        assert memory.core.model() is model
        assert memory.core.model("openai:other") is model
        assert memory.core.acting("someone").model() is model
        assert memory.core.model("none") is None


def test_a_setting_that_is_wrong_is_an_error_when_a_model_is_asked_for(tmp_path: Path) -> None:
    with (
        open_for_tests(tmp_path, settings={"llm.model": "wrong"}) as memory,
        pytest.raises(InvalidSetting, match="wrong"),
    ):
        memory.core.model()
