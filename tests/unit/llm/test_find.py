"""From a setting to a model: which forms are known, and that nothing secret is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import InvalidSetting
from holdfast.llm import PROVIDERS, describe, key_variable, parse
from holdfast.testing import ScriptedModel, open_for_tests
from tests.docs.documentation import ROOT


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


@pytest.mark.parametrize(
    ("text", "protocol", "model", "url", "variable"),
    [
        ("xai/grok-4", "openai", "grok-4", "https://api.x.ai/v1", "XAI_API_KEY"),
        ("openai/gpt-5-mini", "openai", "gpt-5-mini", "", "OPENAI_API_KEY"),
        ("anthropic/claude-haiku-4-5", "anthropic", "claude-haiku-4-5", "", "ANTHROPIC_API_KEY"),
        ("openrouter/x-ai/grok-4:free", "openai", "x-ai/grok-4:free",
         "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("ollama/qwen3:8b", "openai", "qwen3:8b", "http://localhost:11434/v1", "OLLAMA_API_KEY"),
        # A provider of the table at another address, and one that is not in it.
        ("xai/grok-4@https://eu.example.org/v1", "openai", "grok-4",
         "https://eu.example.org/v1", "XAI_API_KEY"),
        ("my-house/m@https://llm.example.org/v1/", "openai", "m",
         "https://llm.example.org/v1", "MY_HOUSE_API_KEY"),
    ],
)  # fmt: skip
def test_a_provider_is_named_before_the_model(
    text: str, protocol: str, model: str, url: str, variable: str
) -> None:
    spec = parse(text)
    assert spec is not None
    assert (spec.protocol, spec.model, spec.url) == (protocol, model, url)
    assert key_variable(spec, "") == variable
    assert parse(spec.name) == spec
    assert spec.is_local == text.startswith("ollama")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_of_the_table_is_in_the_docs(provider: str) -> None:
    page = (ROOT / "docs" / "how-to" / "use-a-language-model.md").read_text(encoding="utf-8")
    spec = parse(f"{provider}/m")
    assert spec is not None
    row = next(line for line in page.splitlines() if line.startswith(f"| `{provider}` |"))
    assert spec.url in row
    assert spec.is_local or key_variable(spec, "") in row


def test_a_bare_name_is_a_model_of_the_service_in_use() -> None:
    for base in ("xai/grok-4", "openai:m@https://api.example.org/v1", "anthropic:c"):
        spec, main = parse("small", inherit=base), parse(base)
        assert main is not None
        assert spec == main._replace(model="small")
    # A slash in a name is the model's own where no provider is called so.
    spec = parse("qwen/qwen3-8b", inherit="openai:m@https://api.example.org/v1")
    assert spec is not None
    assert (spec.model, spec.url) == ("qwen/qwen3-8b", "https://api.example.org/v1")
    for text in ("small", "google:gemini", "a b"):
        with pytest.raises(InvalidSetting):
            parse(text)
    with pytest.raises(InvalidSetting):
        parse("opneai:gpt-5", inherit="xai/grok-4")


def test_the_key_of_one_service_is_not_sent_to_another_provider() -> None:
    keys = {"HOUSE_KEY": "hunter2", "XAI_API_KEY": "other"}
    main = "openai:m@https://llm.example.org/v1"
    assert "HOUSE_KEY" in describe(main, "HOUSE_KEY", keys, inherit=main)
    assert "XAI_API_KEY" in describe("xai/grok-4", "HOUSE_KEY", keys, inherit=main)
    assert "HOUSE_KEY" in describe("xai/grok-4", "HOUSE_KEY", keys, inherit="xai/grok-4-fast")


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
