"""The plan of a consolidation as values, and as JSON: what to promote, to merge and to retire, of
which sources, and why. It knows neither the store nor the rules that made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.clock import to_text
from holdfast.domain.memory import Memory
from holdfast.errors import InvalidInput
from holdfast.text.normalise import clean_time

StepKind: TypeAlias = Literal["promote", "merge", "retire"]
STEP_KINDS: tuple[StepKind, ...] = get_args(StepKind)

# Enough of a hash to notice that a text is another one; nobody makes up a text to match it.
HASH_CHARS = 8
# A plan is read by a person; no honest one has more.
STEPS_MAX = 500
SOURCES_MAX = 100
BY_RULES = "rules"


class Source(NamedTuple):
    """A memory that a step speaks of, as it stood when the plan was made."""

    number: int
    hash: str
    day: str
    text: str


class Step(NamedTuple):
    """One thing to do; memories are named by their numbers.

    promote: a new long-term memory says `text`, of these sources, which stay as they are; where
    `replaces` names a long-term memory, in its place. merge: one long-term memory says `text` in
    the place of its sources. retire: the source leaves long-term memory, `replaced_by` another or
    by none. `line` is where it stands in a plan that was written down.
    """

    kind: StepKind
    sources: tuple[int, ...]
    text: str = ""
    category: str = ""
    replaces: int | None = None
    replaced_by: int | None = None
    reason: str = ""
    line: int = 0

    @property
    def named(self) -> tuple[int, ...]:
        """All memories that it speaks of."""
        others = (self.replaces, self.replaced_by)
        return (*self.sources, *(number for number in others if number is not None))


class Refused(NamedTuple):
    """A step that is not done, and why."""

    step: Step
    reason: str


class Plan(NamedTuple):
    """What a consolidation would do. `by` is the model that proposed it, or `rules`; `notes` say
    what else there is to know, such as what was not read."""

    hub: str
    made_at: datetime
    by: str = BY_RULES
    steps: tuple[Step, ...] = ()
    refused: tuple[Refused, ...] = ()
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The plan as a person reads and edits it."""
        from holdfast.passes.consolidate_text import render

        return render(self)


class Done(NamedTuple):
    """A step that was done, and the memory that it made or changed."""

    step: Step
    memory: Memory


class Consolidated(NamedTuple):
    """What a consolidation did. `change` is what one undo takes back; `skipped` says why nothing
    was looked at; `diff` is what changed in long-term memory, and `backup` the file that has
    MEMORY.md as it was."""

    plan: Plan
    done: tuple[Done, ...] = ()
    refused: tuple[Refused, ...] = ()
    change: str | None = None
    skipped: str = ""
    diff: tuple[str, ...] = ()
    backup: str | None = None
    notes: tuple[str, ...] = ()


def source_of(memory: Memory) -> Source:
    day = (memory.occurred_at or memory.created_at).date().isoformat()
    return Source(memory.number, memory.content_hash[:HASH_CHARS], day, memory.content)


def with_sources(plan: Plan, memories: Mapping[int, Memory]) -> Plan:
    """The plan with the memories that its steps speak of, by number."""
    spoken = {number for step in plan.steps for number in step.named}
    spoken |= {number for one in plan.refused for number in one.step.named}
    found = [source_of(memories[number]) for number in sorted(spoken) if number in memories]
    return plan._replace(sources=tuple(found))


# As JSON


def to_plain(plan: Plan) -> dict[str, Any]:
    return {
        "hub": plan.hub,
        "made_at": to_text(plan.made_at),
        "by": plan.by,
        "steps": [plain_step(step) for step in plan.steps],
        "refused": [plain_refused(one) for one in plan.refused],
        "sources": [source._asdict() for source in plan.sources],
        "notes": list(plan.notes),
    }


def plain_step(step: Step) -> dict[str, Any]:
    return {**step._asdict(), "sources": list(step.sources)}


def plain_refused(one: Refused) -> dict[str, Any]:
    return {"step": plain_step(one.step), "reason": one.reason}


def from_plain(value: Any) -> Plan:
    """The plan of a JSON value; InvalidInput says where it is none."""
    plain = _mapping(value, "The plan")
    return Plan(
        _text(plain, "hub"),
        time_of(_text(plain, "made_at")),
        _text(plain, "by", BY_RULES),
        tuple(step_from(one) for one in _list(plain, "steps", STEPS_MAX)),
        tuple(_refused_from(one) for one in _list(plain, "refused", STEPS_MAX)),
        tuple(_source_from(one) for one in _list(plain, "sources", STEPS_MAX * 2)),
        tuple(str(note) for note in _list(plain, "notes", STEPS_MAX)),
    )


def step_from(value: Any) -> Step:
    plain = _mapping(value, "A step")
    kind = _text(plain, "kind")
    if kind not in STEP_KINDS:
        raise InvalidInput(f"`{kind[:40]}` is no step of a plan.", hint=_STEPS_ARE)
    return Step(
        kind,
        tuple(_number(one) for one in _list(plain, "sources", SOURCES_MAX)),
        _text(plain, "text", ""),
        _text(plain, "category", ""),
        None if plain.get("replaces") is None else _number(plain["replaces"]),
        None if plain.get("replaced_by") is None else _number(plain["replaced_by"]),
        _text(plain, "reason", ""),
        _number(plain.get("line") or 0),
    )


_STEPS_ARE = "Steps are promote, merge and retire."


def _refused_from(value: Any) -> Refused:
    plain = _mapping(value, "A refused step")
    return Refused(step_from(plain.get("step")), _text(plain, "reason", ""))


def _source_from(value: Any) -> Source:
    plain = _mapping(value, "A source")
    number = _number(plain.get("number"))
    return Source(number, _text(plain, "hash"), _text(plain, "day", ""), _text(plain, "text", ""))


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be an object, not {type(value).__name__}.")
    return value


def _text(plain: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = plain.get(name, default)
    if not isinstance(value, str):
        raise InvalidInput(f"`{name}` is missing in the plan, or is no text.")
    return value


def _list(plain: Mapping[str, Any], name: str, most: int) -> Iterable[Any]:
    value = plain.get(name, [])
    if not isinstance(value, list):
        raise InvalidInput(f"`{name}` in the plan must be a list.")
    if len(value) > most:
        raise InvalidInput(f"`{name}` has {len(value)} entries; a plan has at most {most}.")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise InvalidInput(f"{str(value)[:40]!r} is no number of a memory.")
    return value


def time_of(text: str) -> datetime:
    """The time that a plan says it was made at."""
    found = clean_time(text)
    assert found is not None, "a text that is given is checked or refused"
    return found
