"""A conversation with a model that may call tools, with a bound on everything: rounds, requests,
tokens and seconds. The arguments of a call are checked before a tool sees them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from holdfast.errors import Conflict, Forbidden, InvalidInput, NotFound
from holdfast.llm import Message, Usage
from holdfast.llm.endpoint import is_plain

if TYPE_CHECKING:
    from holdfast.llm import Answer, Model, ModelCall, ModelTool


# A long journal line is far below this; what is larger is no argument of a tool of ours.
ARGUMENTS_CHARS_MAX = 100_000

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def read_arguments(written: str, schema: Mapping[str, Any]) -> dict[str, Any] | str:
    """The arguments of a model's tool call, or a sentence for the model that says what is wrong
    with them."""
    if len(written) > ARGUMENTS_CHARS_MAX:
        return f"the arguments are longer than {ARGUMENTS_CHARS_MAX} characters."
    try:
        found = json.loads(written or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "the arguments are not JSON. Give one JSON object."
    if not isinstance(found, dict):
        return "the arguments are not a JSON object."
    declared = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in found:
            return f"the argument `{name}` is missing."
    for name, value in found.items():
        if name not in declared:
            known = ", ".join(declared) or "none"
            return f"there is no argument `{name[:80]}`. There are: {known}."
        if wrong := _wrong(value, declared[name]):
            return f"the argument `{name}` {wrong}"
    return {name: _clean(value) for name, value in found.items()}


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _wrong(value: Any, schema: Mapping[str, Any]) -> str:
    """The problem with one value; '' if there is none."""
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if names and not any(_is(value, name) for name in names):
        return f"must be of type {' or '.join(names)}."
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of: {', '.join(str(one) for one in schema['enum'])}."
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        for one in value:
            if wrong := _wrong(one, items):
                return f"has an item that {wrong}"
    return ""


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        # A bool is an int to Python, and to no model.
        return name == "boolean"
    return isinstance(value, _TYPES.get(name, (object,)))


def _clean(value: Any) -> Any:
    """Half a surrogate pair, which JSON can spell and no store can keep, becomes a question
    mark."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {_clean(name): _clean(one) for name, one in value.items()}
    return value


Ended: TypeAlias = Literal["done", "rounds", "requests", "tokens", "time"]

# What a tool does with its arguments; the model is given the result.
Handler: TypeAlias = "Callable[[dict[str, Any]], str]"
Tools: TypeAlias = "Mapping[str, tuple[ModelTool, Handler]]"

# An honest answer holds a handful of calls; further calls are refused.
CALLS_MAX = 16
# A tool's answer is part of every later request of the talk; ten pages are enough.
RESULT_CHARS_MAX = 20_000
# With fewer tokens left no useful answer is possible, so no request is made.
_SECONDS_MIN = 0.1
# A character is rarely more than a token where a server counts nothing, and often a quarter.
_CHARS_PER_TOKEN = 4
# How it begins when a call could not be done.
_ERROR = "Error: "
_TOO_MANY = f"{_ERROR}at most {CALLS_MAX} calls of one answer are done; this one was not."
# What a model names comes back to it in an error; enough to know it by.
_NAME_CHARS_MAX = 80


class Limits(NamedTuple):
    """The bounds of one conversation with a model. A round is an answer with calls, and running
    them."""

    rounds: int = 2
    # Every request to the server counts, also one that was made again after a fault.
    requests: int = 6
    tokens_in: int = 32_000
    tokens_out: int = 4_000
    seconds: float = 60.0


class Talk(NamedTuple):
    """The result of a conversation with a model. `ended` is `done`, or the bound that ended it."""

    text: str
    usage: Usage
    ended: Ended


def talk(
    model: Model,
    system: str,
    prompt: str,
    tools: Tools | None = None,
    limits: Limits = Limits(),  # noqa: B008 - a named tuple of numbers
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Talk:
    """Asks the model, runs the calls it makes and sends it the results, until it makes no more
    calls or a bound is reached. The calls of the last round are run; their results are not sent."""
    found = _talk(model, system, prompt, tools or {}, limits, clock)
    if found.ended != "done":
        _log(f"{model.name}: the talk ended with its {found.ended}, after {found.usage}")
    return found


def _talk(
    model: Model,
    system: str,
    prompt: str,
    tools: Tools,
    limits: Limits,
    clock: Callable[[], float],
) -> Talk:
    offered = [tool for tool, _ in tools.values()]
    messages = [Message("user", prompt)]
    usage = Usage()
    text = ""
    until = clock() + limits.seconds
    for _ in range(max(1, limits.rounds)):
        ended = _reached(limits, usage, _size(system, messages), until - clock())
        if ended is not None:
            return Talk(text, usage, ended)
        answer = model.ask(
            system,
            messages,
            tools=offered,
            tokens_max=limits.tokens_out - usage.tokens_out,
            timeout_s=until - clock(),
        )
        usage = _added(usage, answer, _size(system, messages))
        text = answer.text
        if not answer.calls:
            return Talk(text, usage, "done")
        calls = _named_apart(answer.calls)
        messages.append(Message("assistant", answer.text, calls))
        for number, call in enumerate(calls):
            if clock() >= until:
                return Talk(text, usage, "time")
            said = _done(call, tools) if number < CALLS_MAX else _TOO_MANY
            if said.startswith(_ERROR):
                _log(f"{model.name}: a call of its was refused")
            messages.append(Message("tool", said, answers=call.id))
    return Talk(text, usage, "rounds")


def _reached(limits: Limits, usage: Usage, tokens_next: int, seconds_left: float) -> Ended | None:
    if usage.requests >= limits.requests:
        return "requests"
    if usage.tokens_in + tokens_next > limits.tokens_in or usage.tokens_out >= limits.tokens_out:
        return "tokens"
    return "time" if seconds_left < _SECONDS_MIN else None


def _size(system: str, messages: list[Message]) -> int:
    """About how many tokens a request has. A guess, for before the server has counted."""
    chars = len(system)
    for message in messages:
        chars += len(message.text) + sum(len(call.arguments) for call in message.calls)
    return chars // _CHARS_PER_TOKEN


def _added(usage: Usage, answer: Answer, tokens_sent: int) -> Usage:
    """The usage so far. If the server counts nothing, an estimate keeps the bounds."""
    spent = answer.usage
    said = len(answer.text) + sum(len(call.arguments) for call in answer.calls)
    return Usage(
        usage.requests + max(1, spent.requests),
        usage.tokens_in + (spent.tokens_in or tokens_sent),
        usage.tokens_out + (spent.tokens_out or said // _CHARS_PER_TOKEN),
    )


def _named_apart(calls: tuple[ModelCall, ...]) -> tuple[ModelCall, ...]:
    """Every call with a plain id of its own: answers are matched by it, and models forget it."""
    seen: set[str] = set()
    out = []
    for number, call in enumerate(calls):
        taken = call.id in seen or not is_plain(call.id)
        named = f"call_{number}_{len(seen)}" if taken else call.id
        seen.add(named)
        out.append(call._replace(id=named))
    return tuple(out)


def _done(call: ModelCall, tools: Tools) -> str:
    """The tool's answer, or what is wrong with the call."""
    if call.name not in tools:
        known = ", ".join(tools) or "none"
        return f"{_ERROR}there is no tool `{call.name[:_NAME_CHARS_MAX]}`. There are: {known}."
    tool, handler = tools[call.name]
    arguments = read_arguments(call.arguments, tool.schema)
    if isinstance(arguments, str):
        return f"{_ERROR}{arguments}"
    try:
        return handler(arguments)[:RESULT_CHARS_MAX]
    except (InvalidInput, NotFound, Conflict, Forbidden) as error:
        # The call itself is wrong: the model gets the reason. Errors of the store are raised.
        return f"{_ERROR}{error}"


def _log(said: str) -> None:
    """Logged for developers; without any text of the conversation."""
    import logging

    logging.getLogger("holdfast.llm").info("%s.", said)
