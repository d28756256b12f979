"""A talk with tools stays within its bounds, whatever the model does."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import InvalidInput, ModelError, StoreFull
from holdfast.llm import Answer, ModelCall, ModelTool, Usage
from holdfast.llm.tool_loop import CALLS_MAX, RESULT_CHARS_MAX, Limits, Tools, talk
from holdfast.testing import Asked, ScriptedModel, call, calls

ADD = ModelTool(
    "add",
    "Adds.",
    {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "integer"},
            "how": {"type": "string", "enum": ["plain", "wrapped"]},
            "more": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["a", "b"],
    },
)


def adding(done: list[dict[str, Any]] | None = None) -> Tools:
    def add(arguments: dict[str, Any]) -> str:
        if done is not None:
            done.append(arguments)
        return str(arguments["a"] + arguments["b"])

    return {"add": (ADD, add)}


def told(model: ScriptedModel) -> list[str]:
    """What tools answered, as the last request shows it."""
    return model.asked[-1].results


def test_a_text_without_calls_ends_the_talk() -> None:
    model = ScriptedModel(["Hello."])
    assert talk(model, "Be kind.", "Hi") == ("Hello.", Usage(1, 100, 10), "done")
    assert (model.asked[0].system, model.asked[0].prompt) == ("Be kind.", "Hi")


def test_a_tool_is_called_and_its_answer_told_to_the_model() -> None:
    model = ScriptedModel([call("add", {"a": 1, "b": 2}), "Three."])
    found = talk(model, "", "1 + 2?", adding())
    assert (found.text, found.ended, found.usage.requests) == ("Three.", "done", 2)
    assert told(model) == ["3"]
    assert model.asked[1].messages[1].calls[0].name == "add"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("subtract", {}, "there is no tool `subtract`. There are: add"),
        ("x" * 5000, {}, f"there is no tool `{'x' * 80}`"),
        ("add", "{", "not JSON"),
        ("add", "[" * 100_000, "not JSON"),
        ("add", '{"a": NaN, "b": 1}', "not JSON"),
        ("add", "[1, 2]", "not a JSON object"),
        ("add", '"a"', "not a JSON object"),
        ("add", "", "`a` is missing"),
        ("add", '{"a": 1}', "`b` is missing"),
        ("add", '{"a": 1, "b": "2"}', "`b` must be of type integer"),
        ("add", '{"a": 1, "b": true}', "`b` must be of type integer"),
        ("add", '{"a": 1, "b": null}', "`b` must be of type integer"),
        ("add", '{"a": 1, "b": 2, "c": 3}', "there is no argument `c`"),
        ("add", '{"a": 1, "b": 2, "how": "odd"}', "must be one of: plain, wrapped"),
        ("add", '{"a": 1, "b": 2, "more": [1, "x"]}', "an item that must be of type integer"),
        ("add", '{"a": "' + "9" * 100_001 + '"}', "longer than 100000 characters"),
    ],
)
def test_a_wrong_call_is_answered_with_what_is_wrong(
    name: str, arguments: dict[str, Any] | str, said: str
) -> None:
    done: list[dict[str, Any]] = []
    model = ScriptedModel([call(name, arguments), "I see."])
    found = talk(model, "", "Go.", adding(done))
    assert found.ended == "done"
    assert done == []
    assert told(model)[0].startswith("Error: ")
    assert said in told(model)[0]


def test_what_a_tool_refuses_is_told_to_the_model() -> None:
    def refuse(arguments: dict[str, Any]) -> str:
        raise InvalidInput("The sum is too large.", hint="Give less.")

    model = ScriptedModel([call("add", {"a": 1, "b": 2}), "Sorry."])
    assert talk(model, "", "Go.", {"add": (ADD, refuse)}).ended == "done"
    assert told(model) == ["Error: The sum is too large. Give less."]


def test_a_store_that_fails_is_not_told_to_the_model() -> None:
    def fail(arguments: dict[str, Any]) -> str:
        raise StoreFull("The disk is full.")

    with pytest.raises(StoreFull):
        talk(ScriptedModel([call("add", {"a": 1, "b": 2})]), "", "Go.", {"add": (ADD, fail)})


def test_an_endpoint_that_fails_raises() -> None:
    with pytest.raises(ModelError, match="down"):
        talk(ScriptedModel([ModelError("It is down.", again=True)]), "", "Go.", adding())


@pytest.mark.parametrize("answer", [call("add", {"a": 1, "b": 2}), call("nothing"), call("add")])
def test_endless_calls_end_with_the_rounds(answer: Answer) -> None:
    model = ScriptedModel([answer], again=True)
    found = talk(model, "", "Go.", adding(), Limits(rounds=3))
    assert found.ended == "rounds"
    assert len(model.asked) == 3
    assert found.usage == Usage(3, 300, 30)


def test_what_a_model_does_wrong_is_in_the_log_and_what_it_said_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "holdfast.llm")
    model = ScriptedModel([call("whisper", {"a": "private"}, text="private")], again=True)
    talk(model, "private", "private", adding(), Limits(rounds=2))
    assert len(caplog.records) == 3
    assert "ended with its rounds" in caplog.text
    assert "private" not in caplog.text
    assert "whisper" not in caplog.text


def test_the_calls_of_the_last_round_are_done() -> None:
    done: list[dict[str, Any]] = []
    model = ScriptedModel([call("add", {"a": 1, "b": 2})], again=True)
    talk(model, "", "Go.", adding(done), Limits(rounds=2))
    assert len(done) == 2


def test_more_calls_than_allowed_in_one_answer_are_refused_with_the_reason() -> None:
    done: list[dict[str, Any]] = []
    many = calls(*[("add", {"a": 1, "b": 2})] * (CALLS_MAX + 5))
    model = ScriptedModel([many, "Enough."])
    talk(model, "", "Go.", adding(done))
    assert len(done) == CALLS_MAX
    # Each call has an answer: a protocol that finds one missing refuses the whole talk.
    assert len(told(model)) == CALLS_MAX + 5
    assert "at most 16" in told(model)[-1]


def test_calls_with_no_id_or_the_same_id_are_told_apart() -> None:
    same = tuple(ModelCall(name, "add", '{"a": 1, "b": 2}') for name in ("", "x", "x", ""))
    model = ScriptedModel([Answer("", same), "Done."])
    talk(model, "", "Go.", adding())
    answered = [message.answers for message in model.asked[1].messages if message.answers]
    assert len(set(answered)) == 4
    assert answered == [one.id for one in model.asked[1].messages[1].calls]


def test_a_long_answer_of_a_tool_is_cut() -> None:
    def long(arguments: dict[str, Any]) -> str:
        return "x" * (RESULT_CHARS_MAX * 2)

    model = ScriptedModel([call("add", {"a": 1, "b": 2}), "Done."])
    talk(model, "", "Go.", {"add": (ADD, long)})
    assert len(told(model)[0]) == RESULT_CHARS_MAX


def test_half_a_surrogate_pair_does_not_reach_a_tool() -> None:
    echo = ModelTool("echo", "", {"properties": {"text": {"type": "string"}}})
    heard: list[str] = []

    def hear(arguments: dict[str, Any]) -> str:
        heard.append(arguments["text"])
        return "ok"

    talk(ScriptedModel([call("echo", '{"text": "a\\ud800b"}')]), "", "Go.", {"echo": (echo, hear)})
    assert heard == ["a?b"]


@pytest.mark.parametrize(
    ("limits", "ended"),
    [
        (Limits(rounds=9, requests=2), "requests"),
        (Limits(rounds=9, tokens_out=20), "tokens"),
        (Limits(rounds=9, tokens_in=200), "tokens"),
    ],
)
def test_each_bound_ends_the_talk(limits: Limits, ended: str) -> None:
    model = ScriptedModel([call("add", {"a": 1, "b": 2})], again=True)
    assert talk(model, "", "Go.", adding(), limits).ended == ended
    assert len(model.asked) == 2


def test_a_prompt_beyond_the_tokens_is_not_sent() -> None:
    model = ScriptedModel(["Hello."])
    assert talk(model, "", "word " * 10_000, limits=Limits(tokens_in=1_000)).ended == "tokens"
    assert model.asked == []


def test_a_server_that_counts_nothing_is_held_by_a_guess() -> None:
    endless = call("add", {"a": 1, "b": 2})._replace(text="x" * 400, usage=Usage())
    model = ScriptedModel([endless], again=True)
    found = talk(model, "", "Go.", adding(), Limits(rounds=99, requests=99, tokens_out=250))
    assert found.ended == "tokens"
    assert len(model.asked) == 3
    assert found.usage.requests == 3


def test_an_answer_may_use_only_the_tokens_that_are_left() -> None:
    model = ScriptedModel([call("add", {"a": 1, "b": 2}), "Done."])
    talk(model, "", "Go.", adding(), Limits(tokens_out=100))
    assert [asked.tokens_max for asked in model.asked] == [100, 90]


def test_the_time_is_that_of_the_whole_talk() -> None:
    now = [0.0]

    def slow(asked: Asked) -> Answer:
        now[0] += 25.0
        return call("add", {"a": 1, "b": 2})

    model = ScriptedModel([slow], again=True)
    found = talk(model, "", "Go.", adding(), Limits(rounds=9, seconds=60.0), clock=lambda: now[0])
    assert found.ended == "time"
    assert [asked.timeout_s for asked in model.asked] == [60.0, 35.0, 10.0]


def test_no_call_is_done_when_the_time_is_up() -> None:
    now = [0.0]
    done: list[dict[str, Any]] = []

    def slow(asked: Asked) -> Answer:
        now[0] += 61.0
        return call("add", {"a": 1, "b": 2})

    assert (
        talk(ScriptedModel([slow]), "", "Go.", adding(done), clock=lambda: now[0]).ended == "time"
    )
    assert done == []
