"""A tool as a row: its name, its description for a model, its parameters and its handler; what the
handler works with (the hub, the caller, how to report progress, how a call names one memory);
and the check of a call's arguments. A mistake is an InvalidInput with a sentence that a model
can act on; what is left out, or null, gets the default. Nothing here knows a dialect, MCP, HTTP
or a model's API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal, NamedTuple, TypeAlias

from holdfast import engine
from holdfast.agents.wording import in_brief
from holdfast.api.caller import Caller
from holdfast.api.hub import HubMemory
from holdfast.domain.clock import Clock
from holdfast.domain.hub import Hub
from holdfast.domain.memory import AWAITS, Memory, Source, Trust
from holdfast.engine.core import Core
from holdfast.errors import Conflict, HoldfastError, InvalidInput, NotFound
from holdfast.text.names import parse_place

# What a tool answers: text, or data that is sent as JSON.
Answer: TypeAlias = str | dict[str, Any]
# reference: an id, a number or a key, as text or as a number. filter: a condition as text or as an
# object. value: any JSON.
ParameterKind: TypeAlias = Literal[
    "text", "whole", "number", "flag", "texts", "reference", "filter", "value"
]


class Parameter(NamedTuple):
    """One argument of an agent's tool. `least` and `most` bound a number, a text's characters or a
    list's items; a `clamped` number outside of them is taken for the nearest one inside, not
    refused. `shape` is what a value looks like, as a schema, where a form is strict; a call takes
    more."""

    name: str
    kind: ParameterKind
    help: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    shape: Mapping[str, Any] = {}
    clamped: bool = False


class Tool(NamedTuple):
    """One tool of an agent. `run` gets every parameter, defaults filled in, and answers with text
    or data.

    `reads`, `destroys` and `repeats` are the hints of MCP: it changes nothing, it may take
    something away, calling it twice is calling it once. `extra` tools are listed when asked for.
    `wire` replaces the schema in a format that knows the tool by its type.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Callable[[ToolContext, dict[str, Any]], Answer]
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
    # How many turns the log keeps for users of the dialect; 0 leaves that to `log.keep`.
    log_keep: int = 0

    def offered(self, *, all_tools: bool = False, read_only: bool = False) -> tuple[Tool, ...]:
        """The tools that a caller gets, in their order."""
        rows = (read_only and self.when_read_only) or self.tools
        return tuple(
            tool for tool in rows if (all_tools or not tool.extra) and (tool.reads or not read_only)
        )


_NAMES = {
    "text": "text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list of texts",
    "reference": "an id, a number or a key",
    "filter": "a condition as text or as an object",
}


class MissingArguments(InvalidInput):
    """Required arguments are not there; dialects have their own words for it."""

    def __init__(self, tool: str, names: list[str]) -> None:
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        super().__init__(f"{tool}: {listed} must be given.")
        self.names = names


def checked(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Every parameter of the tool with its value; InvalidInput where an argument is wrong."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(
            f"{tool.name}: the arguments must be an object, such as {{{_example(tool)}}}."
        )
    arguments = given or {}
    known = {parameter.name: parameter for parameter in tool.parameters}
    for name in arguments:
        if name not in known:
            raise _unknown(tool, str(name), list(known))
    missing = [p.name for p in tool.parameters if p.required and arguments.get(p.name) is None]
    if missing:
        raise MissingArguments(tool.name, missing)
    return {
        name: parameter.default
        if arguments.get(name) is None
        else _value(tool, parameter, arguments[name])
        for name, parameter in known.items()
    }


def _value(tool: Tool, parameter: Parameter, value: Any) -> Any:
    kind = parameter.kind
    if kind == "value":
        return value
    # True is an int in Python and is no number in JSON; 5.0 is a whole number in JSON.
    number = isinstance(value, int | float) and not isinstance(value, bool)
    # A whole number may be larger than any float.
    whole = number and (isinstance(value, int) or float(value).is_integer())
    fits = {
        "text": isinstance(value, str),
        "whole": whole,
        "number": number,
        "flag": isinstance(value, bool),
        "texts": isinstance(value, list | tuple) and all(isinstance(v, str) for v in value),
        "reference": isinstance(value, str) or whole,
        "filter": isinstance(value, str | Mapping),
    }[kind]
    if not fits:
        wanted = f"{tool.name}: {parameter.name} must be {_NAMES[kind]}"
        if kind == "texts" and isinstance(value, list | tuple):
            odd = next(one for one in value if not isinstance(one, str))
            raise InvalidInput(f"{wanted}; {_shown(odd)} is no text.")
        raise InvalidInput(f"{wanted}, not {_shown(value)}.")
    if parameter.choices and value not in parameter.choices:
        raise InvalidInput(
            f"{tool.name}: {parameter.name} must be one of {', '.join(parameter.choices)}; "
            f"{_shown(value)} is none of them."
        )
    if parameter.clamped:
        value = _clamp(parameter, value)
    _check_bounds(tool, parameter, value)
    return int(value) if whole and kind != "number" else value


def _clamp(parameter: Parameter, value: Any) -> Any:
    """The nearest number within the bounds of a parameter."""
    if parameter.least is not None:
        value = max(value, parameter.least)
    return value if parameter.most is None else min(value, parameter.most)


def _check_bounds(tool: Tool, parameter: Parameter, value: Any) -> None:
    if isinstance(value, str | list | tuple):
        size, unit = len(value), "characters" if isinstance(value, str) else "items"
    else:
        size, unit = value, ""
    low, high = parameter.least, parameter.most
    if (low is None or size >= low) and (high is None or size <= high):
        return
    if low is None or high is None:
        bounds = f"at most {high}" if low is None else f"at least {low}"
    else:
        bounds = f"{low} to {high}"
    has = f"it has {size}" if unit else f"{size} is not"
    wanted = f"have {bounds} {unit}" if unit else f"be {bounds}"
    raise InvalidInput(f"{tool.name}: {parameter.name} must {wanted}; {has}.")


def _unknown(tool: Tool, name: str, known: list[str]) -> InvalidInput:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    guess = f"Did you mean {near[0]}? " if near else ""
    takes = f"It takes {', '.join(known)}." if known else "It takes no arguments."
    return InvalidInput(f"{tool.name} has no argument {_shown(name)}.", hint=guess + takes)


# Enough of a wrong value to know it by; a reply must not carry ten megabytes back.
_SHOWN_MAX = 60


def _shown(value: Any) -> str:
    if isinstance(value, str):
        text = repr(value[: _SHOWN_MAX + 1])
    elif value is None:
        return "null"
    elif isinstance(value, bool):
        return "true" if value else "false"
    elif isinstance(value, int | float):
        text = str(value)
    else:
        return "a list" if isinstance(value, list | tuple) else "an object"
    return text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "…"


def _example(tool: Tool) -> str:
    return ", ".join(f'"{p.name}": …' for p in tool.parameters if p.required)


# (done, total, note); it may raise CallCancelled when the caller has given up.
Report: TypeAlias = Callable[[int, int | None, str], None]


def engine_of(hub: HubMemory) -> Core | None:
    """The engine of a hub; None for one on a server."""
    core: Core | None = getattr(hub, "core", None)
    return core


def now_of(hub: HubMemory) -> datetime:
    """The present by the clock of a hub, which may be on a server."""
    clock: Clock | None = getattr(hub, "clock", None)
    return hub.core.now() if clock is None else clock.now()


class ToolContext(NamedTuple):
    """A hub and the caller. Only with `every_hub` may a tool reach hubs other than its own; a
    caller with a key reaches the hubs that the key opens."""

    hub: HubMemory
    agent: str | None = None
    source: Source = "sdk"
    trust: Trust = "agent"
    zone: tzinfo = UTC
    every_hub: bool = False
    caller: Caller | None = None
    report: Report | None = None

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """To be called now and then in long work; raises CallCancelled if nobody waits."""
        if self.report is not None:
            self.report(done, total, note)

    def take_held(self) -> list[Memory]:
        """The memories that are held because of this call, once. A tool that says so in its own
        words takes them; of what is left, the toolset adds a note."""
        core = engine_of(self.hub)
        # Through a server, the result of the operation says what is held.
        return [] if core is None else core.held.take()

    def now(self) -> datetime:
        return now_of(self.hub)

    def review_by_agents(self) -> bool:
        """Whether agents decide what waits for review. On a server, people do."""
        core = engine_of(self.hub)
        return core is not None and bool(core.settings["review.by_agents"])

    def hub_named(self, name: str | None) -> HubMemory:
        """The hub of that name or id, or its own. A hub out of reach reads like one that is not
        there."""
        if not name:
            return self.hub
        name = parse_place(name)
        if name in (self.hub.name, self.hub.id):
            return self.hub
        if self.caller is not None and self.every_hub:
            return self.caller.hub(name)
        if self.every_hub:
            core = self.hub.core
            with core.store.read() as reader:
                by_id = reader.hub_by_id(name)
            found = by_id or engine.hubs.find_hub(core, name)
            return HubMemory(core, found, self.hub.home)
        raise NotFound(
            f"There is no hub {in_brief(name)!r} here.",
            hint=f"This memory is the hub {self.hub.name!r}; leave the hub out to use it.",
        )

    def hubs(self) -> list[Hub]:
        """The hubs in reach, by name."""
        if not self.every_hub:
            return [self.hub.info]
        if self.caller is not None:
            return [hub for hub, _ in self.caller.hubs()]
        return engine.hubs.list_hubs(self.hub.core)

    def when(self, text: str | None, *, end: bool = False) -> datetime | None:
        """A moment from a date or words such as `yesterday`, in the caller's time zone."""
        if text is None:
            return None
        from holdfast.text.dates import parse_when

        return parse_when(text, now=self.now(), zone=self.zone, end=end)

    def past(self, text: str | None) -> datetime | None:
        """A moment to look back to: `yesterday` means how things stood when it ended."""
        at = self.when(text, end=True)
        return at if at is None else min(at, self.now())


REFERENCE = (
    Parameter("id", "reference", "Its id (mem_…)."),
    Parameter("number", "reference", "Its number, such as 12."),
    Parameter("key", "text", "Its key."),
)


def one_of(given: dict[str, Any], *others: str) -> str | int:
    """The one reference that was given; `others` are what might have been given instead."""
    named = [given[parameter.name] for parameter in REFERENCE if given[parameter.name] is not None]
    if len(named) == 1:
        reference: str | int = named[0]
        return reference
    ways = ", ".join(["its id", "its number", *(f"a {other}" for other in others)])
    if named:
        raise InvalidInput(f"Name the memory once: {ways} or its key.")
    raise InvalidInput(f"Say which memory: {ways} or its key.")


def refuse_held(ctx: ToolContext, memory: Memory) -> None:
    """Raises an error for a memory that waits for review: only a person decides whether a model may
    read it."""
    held = memory.quarantine and memory.quarantine != AWAITS
    if held and not ctx.review_by_agents():
        raise Conflict(
            f"#{memory.number} waits for a person's review: it {memory.quarantine}.",
            hint="They decide with `holdfast review`.",
        )
