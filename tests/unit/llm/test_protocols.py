"""Both protocols over a real connection: what is sent, what is read, and that no key gets out."""

from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from holdfast.errors import ModelError
from holdfast.llm import Answer, Message, Model, ModelCall, ModelTool, Usage, find_model
from holdfast.llm.tool_loop import Limits, talk
from tests.unit.llm.protocols import ANTHROPIC, OPENAI, PROTOCOLS, Protocol
from tests.unit.llm.servers import reply, serving

KEY = "sk-test-0123456789abcdef"
ADD = ModelTool(
    "add",
    "Adds two numbers.",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
)
TOOLS = {"add": (ADD, lambda given: str(given["a"] + given["b"]))}

both = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.name)


def ask(model: Model, text: str = "Hi", **more: Any) -> Answer:
    more = {"tokens_max": 100, "timeout_s": 10.0, **more}
    return model.ask("Be brief.", [Message("user", text)], **more)


@both
def test_a_question_gets_its_answer(protocol: Protocol) -> None:
    with serving(reply(protocol.says("Hello."))) as server:
        found = ask(protocol.model(server))
    assert found == Answer("Hello.", (), Usage(1, 7, 3))
    heard = server.heard[0]
    assert heard.path == protocol.path
    assert heard.body["model"] == "tiny"
    assert heard.body["max_tokens"] == 100
    assert "tools" not in heard.body


@both
def test_a_call_is_done_and_its_answer_sent_back(protocol: Protocol) -> None:
    with serving(
        reply(protocol.calls("add", {"a": 2, "b": 3})), reply(protocol.says("Five."))
    ) as server:
        found = talk(protocol.model(server), "", "2 + 3?", TOOLS)
    assert found == ("Five.", Usage(2, 14, 6), "done")
    assert "Adds two numbers." in json.dumps(server.heard[0].body["tools"])
    said, answered = server.heard[1].body["messages"][-2:]
    if protocol is OPENAI:
        assert said["tool_calls"][0]["function"] == {
            "name": "add",
            "arguments": '{"a": 2, "b": 3}',
        }
        assert answered == {"role": "tool", "content": "5", "tool_call_id": "call_1"}
    else:
        assert said["content"] == [
            {"type": "tool_use", "id": "call_1", "name": "add", "input": {"a": 2, "b": 3}}
        ]
        assert answered["content"] == [
            {"type": "tool_result", "tool_use_id": "call_1", "content": "5"}
        ]


@both
def test_what_a_model_makes_up_is_sent_back_in_a_form_that_servers_take(
    protocol: Protocol,
) -> None:
    odd = protocol.calls("no such tool!", "not JSON", id_="a b")
    with serving(reply(odd), reply(protocol.says("Sorry."))) as server:
        found = talk(protocol.model(server), "", "Go.", TOOLS)
    assert found.ended == "done"
    sent = json.dumps(server.heard[1].body["messages"])
    assert "there is no tool `no such tool!`" in sent
    assert '"name": "unknown"' in sent
    assert '"a b"' not in sent


@both
def test_endless_calls_are_bounded(protocol: Protocol) -> None:
    with serving(reply(protocol.calls("add", {"a": 1, "b": 1}))) as server:
        found = talk(protocol.model(server), "", "Go.", TOOLS, Limits(rounds=3))
    assert (found.ended, len(server.heard)) == ("rounds", 3)


@both
@pytest.mark.parametrize(
    "counted",
    [
        None,
        [],
        {},
        "many",
        {"prompt_tokens": -5, "input_tokens": -5},
        {"prompt_tokens": 10**30, "completion_tokens": True, "input_tokens": "7"},
    ],
)
def test_tokens_that_a_server_does_not_count_are_guessed(protocol: Protocol, counted: Any) -> None:
    with serving(reply(protocol.says("x" * 400, usage=counted))) as server:
        found = ask(protocol.model(server), "y" * 800)
    assert found.usage == Usage(1, 202, 100)


@both
def test_text_that_no_store_could_keep_is_mended_on_both_ways(protocol: Protocol) -> None:
    with serving(reply(protocol.says("a\ud800b"))) as server:
        assert ask(protocol.model(server), "c\udfffd").text == "a?b"
    assert "c?d" in json.dumps(server.heard[0].body["messages"])


@both
def test_several_threads_may_ask_at_once(protocol: Protocol) -> None:
    def echo(handler: Any) -> None:
        text = handler.server.heard[-1].body["messages"][-1]["content"]
        reply(protocol.says(f"{len(text)}"))(handler)

    with serving(echo) as server, ThreadPoolExecutor(4) as pool:
        model = protocol.model(server)
        assert {one.text for one in pool.map(lambda _: ask(model), range(8))} == {"2"}


def test_tokens_from_a_cache_count_like_others() -> None:
    counted = {"input_tokens": 1, "cache_read_input_tokens": 200, "output_tokens": 3}
    counted["cache_creation_input_tokens"] = 20
    with serving(reply(ANTHROPIC.says("a", usage=counted))) as server:
        assert ask(ANTHROPIC.model(server)).usage == Usage(1, 221, 3)


# The key


@both
def test_this_machine_s_own_server_needs_no_key_and_gets_none(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(variable, KEY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"x-extra: {KEY}")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-extra: {KEY}")
    monkeypatch.setenv("OPENAI_ORG_ID", KEY)
    with serving(reply(protocol.says("Hello."))) as server:
        ask(protocol.model(server))
    assert KEY not in str(server.heard)
    assert set(server.heard[0].headers) <= {
        *("host", "connection", "content-length", "content-type", "accept"),
        *("anthropic-version", "user-agent", "accept-encoding", "x-stainless-raw-response"),
    }


@both
def test_the_key_comes_from_the_variable_that_a_setting_names(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    with serving(reply(protocol.says("Hello."))) as server:
        ask(protocol.model(server, key_variable="MY_KEY"))
        # A local one gets it where it is set, and does without where it is not.
        monkeypatch.delenv("MY_KEY")
        ask(protocol.model(server, key_variable="MY_KEY"))
    first, second = server.heard
    assert KEY in (first.headers.get("authorization", "") + first.headers.get("x-api-key", ""))
    assert "authorization" not in second.headers
    assert "x-api-key" not in second.headers


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"])
def test_a_server_elsewhere_is_not_asked_without_a_key(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable, raising=False)
    protocol = variable.partition("_")[0].lower()
    model = find_model(f"{protocol}:m")
    assert model is not None
    with pytest.raises(ModelError, match=f"{variable} for the key .* is not set") as caught:
        ask(model)
    assert not caught.value.again
    assert caught.value.requests == 0


def test_a_key_that_cannot_be_sent_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nx")
    model = find_model("openai:m")
    assert model is not None
    with pytest.raises(ModelError, match="characters that cannot be sent") as caught:
        ask(model)
    assert KEY not in str(caught.value)


@both
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500])
def test_a_server_that_repeats_the_key_does_not_bring_it_into_errors_and_logs(
    protocol: Protocol,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    refused = reply({"error": {"message": f"Wrong key: {KEY}"}}, status=status, retry_after="9")
    with serving(refused) as server, pytest.raises(ModelError) as caught:
        ask(protocol.model(server, key_variable="MY_KEY"), timeout_s=5.0)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert KEY not in caplog.text


@both
def test_a_redirect_is_not_followed(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(reply(protocol.says("Thief."))) as elsewhere:
        there = elsewhere.url + "/chat/completions"
        with serving(reply({}, status=307, location=there)) as server:
            model = protocol.model(server, key_variable="MY_KEY")
            with pytest.raises(ModelError, match="redirects elsewhere") as caught:
                ask(model)
        assert elsewhere.heard == []
        assert not caught.value.again


@both
def test_no_proxy_stands_before_this_machine(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(reply({}, status=500)) as proxy, serving(reply(protocol.says("Hi."))) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("ALL_PROXY", proxy.url.removesuffix("/v1"))
        assert ask(protocol.model(server)).text == "Hi."
        assert proxy.heard == []


# Servers that speak it their own way


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": None, "refusal": "No."}, "No."),
        ({"content": None}, ""),
        ({"content": 7}, ""),
    ],
)
def test_texts_of_chat_completions_come_in_several_forms(message: Any, answer: str) -> None:
    said = OPENAI.says("")
    said["choices"][0]["message"] = message
    with serving(reply(said)) as server:
        assert ask(OPENAI.model(server)).text == answer


def test_arguments_may_come_as_an_object_and_without_an_id() -> None:
    said = OPENAI.calls("add", {})
    call = said["choices"][0]["message"]["tool_calls"][0]
    call["function"]["arguments"] = {"a": 1}
    del call["id"]
    with serving(reply(said)) as server:
        assert ask(OPENAI.model(server), tools=[ADD]).calls == (ModelCall("", "add", '{"a": 1}'),)


def test_what_a_model_thinks_to_itself_is_not_its_answer() -> None:
    said = ANTHROPIC.says("Hello.")
    said["content"].insert(0, {"type": "thinking", "thinking": "Hm.", "signature": "x"})
    with serving(reply(said)) as server:
        assert ask(ANTHROPIC.model(server)).text == "Hello."
