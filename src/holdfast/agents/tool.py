"""A tool as a row: its name, what a model is told of it, its parameters and what it does. Rows know
nothing of MCP, HTTP or a model's API; `schemas` turns them into each of those forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from holdfast.domain.memory import Memory
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.agents.desk import Desk

# What a tool answers: text, or data that is sent as JSON.
Answer: TypeAlias = str | dict[str, Any]
# reference: an id, a number or a key, as text or as a number. value: any JSON.
ParameterKind: TypeAlias = Literal["text", "whole", "number", "flag", "texts", "reference", "value"]


class Parameter(NamedTuple):
    """One argument. `least` and `most` bound a number, a text's characters or a list's items.
    `shape` is what a value looks like, as a schema, where a form is strict; a call takes more."""

    name: str
    kind: ParameterKind
    help: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    shape: Mapping[str, Any] = {}


class Tool(NamedTuple):
    """One tool. `run` gets every parameter, defaults filled in, and answers with text or data.

    `reads`, `destroys` and `repeats` are the hints of MCP: it changes nothing, it may take
    something away, calling it twice is calling it once. `extra` tools are listed when asked for.
    `wire` replaces the schema in a format that knows the tool by its type.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Desk, dict[str, Any]], Answer]
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    extra: bool = False
    wire: Mapping[str, Mapping[str, Any]] = {}


def plain_failure(error: HoldfastError) -> str:
    """An error as most dialects say it: what is wrong and what to do."""
    return str(error)


# Replies name at most this many held memories; a folder may bring thousands.
_HELD_NAMED_MAX = 10


def held_sentence(held: Sequence[Memory]) -> str:
    """Says that memories are held, which ones, why, and who decides."""
    named = "; ".join(f"#{one.number} {one.quarantine}" for one in held[:_HELD_NAMED_MAX])
    more = f"; and {len(held) - _HELD_NAMED_MAX} more" if len(held) > _HELD_NAMED_MAX else ""
    return (
        "Held for review, and hidden until a person approves it with `holdfast review`: "
        f"{named}{more}."
    )


def note_held(answer: Answer, held: Sequence[Memory]) -> Answer:
    """An answer with a note on what is held: a line of text, or a field `note`."""
    if isinstance(answer, str):
        return f"{answer}\n{held_sentence(held)}"
    return {**answer, "note": " ".join([*filter(None, [answer.get("note")]), held_sentence(held)])}


class Dialect(NamedTuple):
    """A named set of tools, and how it speaks."""

    name: str
    summary: str
    tools: tuple[Tool, ...]
    instructions: str
    failure: Callable[[HoldfastError], str] = plain_failure
    missing: Callable[[Sequence[str]], str] | None = None
    # How it says that something is held, where the tool has not said so itself.
    held: Callable[[Answer, Sequence[Memory]], Answer] = note_held
    # What is offered instead where nothing may be changed; none: those of the tools that read.
    when_read_only: tuple[Tool, ...] = ()

    def offered(self, *, all_tools: bool = False, read_only: bool = False) -> tuple[Tool, ...]:
        """The tools that a caller gets, in their order."""
        rows = (read_only and self.when_read_only) or self.tools
        return tuple(
            tool for tool in rows if (all_tools or not tool.extra) and (tool.reads or not read_only)
        )
