"""A talk with a model that may use tools, with a bound on everything: rounds, requests, tokens and
seconds.

Whatever a model does wrong (a tool that is not there, arguments that are no JSON, calls without
end) is told to the model and costs it a round; it never raises. What the endpoint does wrong is the
ModelError of `Model.ask`. It knows neither memories nor what a tool does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from holdfast.errors import Conflict, Forbidden, InvalidInput, NotFound
from holdfast.llm.base import Message, Usage
from holdfast.llm.called import read_arguments
from holdfast.llm.wire import is_plain

if TYPE_CHECKING:
    from holdfast.llm.base import Answer, Model, ModelCall, ModelTool

Ended: TypeAlias = Literal["done", "rounds", "requests", "tokens", "time"]

# What a tool does with the arguments it was given; its answer is told to the model.
Handler: TypeAlias = "Callable[[dict[str, Any]], str]"
Tools: TypeAlias = "Mapping[str, tuple[ModelTool, Handler]]"

# An honest answer holds a handful of calls; what is beyond is told so and not done.
CALLS_MAX = 16
# A tool's answer is part of every later request of the talk; ten pages are enough.
RESULT_CHARS_MAX = 20_000
# Below this nobody says anything, and the request would be thrown away.
_SECONDS_MIN = 0.1
# A character is rarely more than a token where a server counts nothing, and often a quarter.
_CHARS_PER_TOKEN = 4
# How it begins when a call could not be done.
_ERROR = "Error: "
# What a model names comes back to it in an error; enough to know it by.
_NAME_CHARS_MAX = 80


class Limits(NamedTuple):
    """The bounds of one talk. A round is an answer with calls, and these calls done."""

    rounds: int = 2
    # Every request to the server counts, also one that was made again after a fault.
    requests: int = 6
    tokens_in: int = 32_000
    tokens_out: int = 4_000
    seconds: float = 60.0


class Talk(NamedTuple):
    """What a talk came to. `ended` is `done`, or the bound that ended it."""

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
    """Asks, does what the model calls for, tells it the answers, until it has no more calls or a
    bound is reached. The calls of the last round are done; their answers are told to nobody."""
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
            said = _done(call, tools) if number < CALLS_MAX else _too_many()
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
    """What was spent so far. Where the server counts nothing, a guess keeps the bounds."""
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
        # What it asked for cannot be done. A store that fails is another matter, and raises.
        return f"{_ERROR}{error}"


def _too_many() -> str:
    return f"{_ERROR}at most {CALLS_MAX} calls of one answer are done; this one was not."


def _log(said: str) -> None:
    """For who looks into why little comes of a model; what was said is not part of it."""
    import logging

    logging.getLogger("holdfast.llm").info("%s.", said)
