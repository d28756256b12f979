"""The plan of a consolidation: what to promote, merge and retire, from which sources, and why. As
values, as JSON, and as a text that people read and edit: a line for each step, with the sources
below.

    - promote #41 #37 as preference: Prefers tabs over spaces
      > said on 2 days
    - promote #44 as fact, in place of #12: Lives in Lisbon
    - merge #3 #9 as preference: Prefers tabs in Python
    - retire #15, replaced by #20: Works at Acme

A text of several lines continues in lines that begin with four spaces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.clock import to_text
from holdfast.domain.memory import Memory
from holdfast.errors import InvalidInput
from holdfast.text.clean import clean_category, clean_time

# Values and JSON


StepKind: TypeAlias = Literal["promote", "merge", "retire"]
STEP_KINDS: tuple[StepKind, ...] = get_args(StepKind)

# Enough of a hash to detect a changed text; it does not prevent forgery.
HASH_CHARS = 8
# A plan is read by a person; a longer one is refused.
STEPS_MAX = 500
SOURCES_MAX = 100
BY_RULES = "rules"


class Source(NamedTuple):
    """A memory that a step names, as it was when the plan was made."""

    number: int
    hash: str
    day: str
    text: str


class Step(NamedTuple):
    """One thing to do; memories are named by their numbers.

    promote: adds a long-term memory with `text`, made from these sources, which stay unchanged; if
    `replaces` names a long-term memory, as its successor. merge: one long-term memory with `text`
    replaces its sources. retire: the source is removed from long-term memory, `replaced_by` another
    or none. `line` is its line in a written plan.
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
        """All memories that it names."""
        others = (self.replaces, self.replaced_by)
        return (*self.sources, *(number for number in others if number is not None))


class Refused(NamedTuple):
    """A step that is not applied, and the reason."""

    step: Step
    reason: str


class Plan(NamedTuple):
    """A plan; `sources` are the memories that its steps name."""

    hub: str
    made_at: datetime
    # The model that proposed it, or `rules`.
    by: str = BY_RULES
    steps: tuple[Step, ...] = ()
    refused: tuple[Refused, ...] = ()
    sources: tuple[Source, ...] = ()
    # Further notes, such as what was not read.
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The plan as a person reads and edits it."""
        return render(self)


class Done(NamedTuple):
    """An applied step, and the memory that it added or changed."""

    step: Step
    memory: Memory


class Consolidated(NamedTuple):
    """The result of a consolidation. One undo of `change` reverts it; `skipped` is the reason if it
    did not run; `diff` are the changes of long-term memory, and `backup` is a copy of MEMORY.md
    from before."""

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
    """The plan with the memories that its steps name, by number."""
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
        "refused": [{"step": plain_step(one.step), "reason": one.reason} for one in plan.refused],
        "sources": [source._asdict() for source in plan.sources],
        "notes": list(plan.notes),
    }


def plain_step(step: Step) -> dict[str, Any]:
    return {**step._asdict(), "sources": list(step.sources)}


def from_plain(value: Any) -> Plan:
    """The plan of a JSON value; raises InvalidInput if it is none."""
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
        tuple(_number_of(one) for one in _list(plain, "sources", SOURCES_MAX)),
        _text(plain, "text", ""),
        _text(plain, "category", ""),
        None if plain.get("replaces") is None else _number_of(plain["replaces"]),
        None if plain.get("replaced_by") is None else _number_of(plain["replaced_by"]),
        _text(plain, "reason", ""),
        _number_of(plain.get("line") or 0),
    )


_STEPS_ARE = "Steps are promote, merge and retire."


def _refused_from(value: Any) -> Refused:
    plain = _mapping(value, "A refused step")
    return Refused(step_from(plain.get("step")), _text(plain, "reason", ""))


def _source_from(value: Any) -> Source:
    plain = _mapping(value, "A source")
    number = _number_of(plain.get("number"))
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


def _number_of(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise InvalidInput(f"{str(value)[:40]!r} is no number of a memory.")
    return value


def time_of(text: str) -> datetime:
    """The time at which a plan says that it was made."""
    found = clean_time(text)
    assert found is not None, "a text that is given is checked or refused"
    return found


# Text


_STEPS, _REFUSED, _SOURCES = "## Steps", "## Refused", "## Sources"
_SECTIONS = (_STEPS, _REFUSED, _SOURCES)
_CONTINUATION = "    "
# Enough of a source to recognise it.
_SHOWN_CHARS = 160
# Lines that an error names.
_LINES_NAMED_MAX = 5

_TITLE = re.compile(r"# Consolidation of hub (\S+), (\S+), by (.+)")
_NUMBERS = r"(#\d{1,15}(?:[ ,]+#\d{1,15})*)"
_MADE = re.compile(
    rf"- (promote|merge) {_NUMBERS} as (\"(?:[^\"\\]|\\.)*\"|[^:\"]+?)"
    r"(?:, in place of #(\d{1,15}))?:(?: (.*))?"
)
_RETIRE = re.compile(rf"- (retire) {_NUMBERS}(?:, replaced by #(\d{{1,15}}))?(?::(?: (.*))?)?")
_SOURCE = re.compile(rf"- #(\d{{1,15}}) ([0-9a-f]{{{HASH_CHARS}}}) (\S+):(?: (.*))?")


def render(plan: Plan) -> str:
    """The plan of a consolidation as text."""
    lines = [
        f"# Consolidation of hub {plan.hub}, {to_text(plan.made_at)}, by {_one_line(plan.by)}",
        "",
        "> To do it: holdfast consolidate --apply FILE",
        "> A line that is taken out is not done; the words after its colon may be changed.",
        *(f"> {_one_line(note)}" for note in plan.notes),
        "",
        _STEPS,
        "",
    ]
    for step in plan.steps:
        lines += _step_lines(step, step.reason)
    if plan.refused:
        lines += ["", _REFUSED, "", "> These are not done.", ""]
        for one in plan.refused:
            lines += _step_lines(one.step, one.reason)
    if plan.sources:
        lines += ["", _SOURCES, "", "> A step whose source says something else by now is not done."]
        lines += ["", *map(_source_line, plan.sources)]
    return "\n".join(lines) + "\n"


def _step_lines(step: Step, why: str) -> list[str]:
    numbers = " ".join(f"#{number}" for number in step.sources)
    if step.kind == "retire":
        head = f"- retire {numbers}"
        if step.replaced_by is not None:
            head += f", replaced by #{step.replaced_by}"
    else:
        head = f"- {step.kind} {numbers} as {_category(step.category)}"
        if step.replaces is not None:
            head += f", in place of #{step.replaces}"
    first, *rest = plain_text(step.text).split("\n")
    lines = [f"{head}: {first}".rstrip() if first or rest else head + ":"]
    lines += [f"{_CONTINUATION}{line}" for line in rest]
    if why:
        lines.append(f"  > {_one_line(why)}")
    return lines


def _category(category: str) -> str:
    return json.dumps(category, ensure_ascii=False) if set(category) & set('":') else category


def plain_text(text: str) -> str:
    """A text normalised for a plan: uniform line ends, no white space around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _source_line(source: Source) -> str:
    shown = _one_line(source.text)
    if len(shown) > _SHOWN_CHARS:
        shown = shown[: _SHOWN_CHARS - 1].rstrip() + "…"
    return f"- #{source.number} {source.hash} {source.day}: {shown}"


# Reading


def parse(text: str) -> Plan:
    """Parses the text of a plan, or its JSON. Raises InvalidInput with the lines that cannot be
    parsed: a partly understood plan is not applied."""
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] == "{":
        try:
            return from_plain(json.loads(text))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"The plan is no JSON: {error}.") from None
    reading = _Reading()
    for number, line in enumerate(text.split("\n"), 1):
        reading.take(number, line.removesuffix("\r"))
    return reading.plan()


class _Reading:
    """A plan that is being read, line by line."""

    def __init__(self) -> None:
        self.title: re.Match[str] | None = None
        self.section = ""
        self.steps: list[Step] = []
        self.refused: list[Refused] = []
        self.sources: list[Source] = []
        self.wrong: list[tuple[int, str]] = []
        self.open: dict[str, Any] | None = None
        self.blank = 0

    def take(self, number: int, line: str) -> None:
        if self.open is not None and line.startswith(_CONTINUATION):
            self.open["lines"] += [""] * self.blank + [line[len(_CONTINUATION) :]]
            self.blank = 0
        elif not line.strip():
            self.blank += 1
        elif line.lstrip().startswith(">"):
            self._comment(line)
        else:
            self._close()
            self._line(number, line.rstrip())

    def _comment(self, line: str) -> None:
        if self.open is not None and line.startswith(" "):
            self.open["reason"] = line.lstrip().removeprefix(">").strip()
        self._close()

    def _line(self, number: int, line: str) -> None:
        if self.title is None and (found := _TITLE.fullmatch(line)):
            self.title = found
        elif line in _SECTIONS:
            self.section = line
        elif line.startswith("- ") and self.section == _SOURCES:
            self._source(number, line)
        elif line.startswith("- ") and self.section:
            self._step(number, line)
        else:
            self.wrong.append((number, line))

    def _source(self, number: int, line: str) -> None:
        found = _SOURCE.fullmatch(line)
        if found is None:
            self.wrong.append((number, line))
            return
        self.sources.append(Source(int(found[1]), found[2], found[3], found[4] or ""))

    def _step(self, number: int, line: str) -> None:
        values: dict[str, Any]
        if found := _MADE.fullmatch(line):
            category = _read_category(found[3])
            replaces = None if found[4] is None else int(found[4])
            if category is None or (found[1] == "merge" and replaces is not None):
                self.wrong.append((number, line))
                return
            values = {"kind": found[1], "category": category, "replaces": replaces}
            said = found[5]
        elif found := _RETIRE.fullmatch(line):
            by = None if found[3] is None else int(found[3])
            values, said = {"kind": "retire", "replaced_by": by}, found[4]
        else:
            self.wrong.append((number, line))
            return
        sources = tuple(dict.fromkeys(int(one) for one in re.findall(r"\d+", found[2])))
        if len(sources) > SOURCES_MAX:
            self.wrong.append((number, line))
            return
        self.open = {**values, "sources": sources, "line": number, "lines": [said or ""]}
        self.blank = 0

    def _close(self) -> None:
        values, self.open, self.blank = self.open, None, 0
        if values is None:
            return
        step = Step(text="\n".join(values.pop("lines")).strip(), **values)
        if self.section == _REFUSED:
            self.refused.append(Refused(step, step.reason))
        else:
            self.steps.append(step)

    def plan(self) -> Plan:
        self._close()
        if self.title is None:
            raise InvalidInput(
                "This is no plan: it has no line `# Consolidation of hub NAME, TIME, by WHOM`.",
                hint="Let a consolidation write its plan first.",
                command="`holdfast consolidate --plan FILE` writes one.",
            )
        if self.wrong:
            raise InvalidInput(_unreadable(self.wrong), hint="Nothing was done; mend or remove it.")
        if len(self.steps) + len(self.refused) > STEPS_MAX:
            raise InvalidInput(f"The plan has more than {STEPS_MAX} steps.", hint="Split it.")
        return Plan(
            hub=self.title[1],
            made_at=time_of(self.title[2]),
            by=self.title[3],
            steps=tuple(self.steps),
            refused=tuple(self.refused),
            sources=tuple(self.sources),
        )


def _read_category(said: str) -> str | None:
    try:
        return clean_category(json.loads(said) if said.startswith('"') else said)
    except ValueError:  # InvalidInput is one too.
        return None


def _unreadable(wrong: list[tuple[int, str]]) -> str:
    first = wrong[:_LINES_NAMED_MAX]
    named = [f"line {number}, `{_one_line(line)[:60]}`" for number, line in first]
    more = len(wrong) - len(named)
    also = f"; and {more} more" if more else ""
    return f"The plan cannot be read: {'; '.join(named)}{also}."
