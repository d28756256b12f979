"""The plan of a consolidation as a text that a person reads and edits: a line for each step, and
the sources below. What a line means is the plan's business; whether it may be done, the rules'.

    - promote #41 #37 as preference: Prefers tabs over spaces
      > said on 2 days
    - promote #44 as fact, in place of #12: Lives in Lisbon
    - merge #3 #9 as preference: Prefers tabs in Python
    - retire #15, replaced by #20: Works at Acme

A text of several lines goes on in lines that begin with four spaces.
"""

from __future__ import annotations

import json
import re
from typing import Any

from holdfast.domain.clock import to_text
from holdfast.errors import InvalidInput
from holdfast.passes.consolidate_plan import (
    HASH_CHARS,
    SOURCES_MAX,
    STEPS_MAX,
    Plan,
    Refused,
    Source,
    Step,
    from_plain,
    time_of,
)
from holdfast.text.normalise import clean_category

_STEPS, _REFUSED, _SOURCES = "## Steps", "## Refused", "## Sources"
_SECTIONS = (_STEPS, _REFUSED, _SOURCES)
_GOES_ON = "    "
# Of a source only as much is shown as tells which one it is; the store has the rest.
_SHOWN_CHARS = 160
# Lines that are named in an error; whoever has more of them gave another file.
_NAMED_MAX = 5

_TITLE = re.compile(r"# Consolidation of hub (\S+), (\S+), by (.+)")
_NUMBERS = r"(#\d{1,15}(?:[ ,]+#\d{1,15})*)"
_MADE = re.compile(
    rf"- (promote|merge) {_NUMBERS} as (\"(?:[^\"\\]|\\.)*\"|[^:\"]+?)"
    r"(?:, in place of #(\d{1,15}))?:(?: (.*))?"
)
_RETIRE = re.compile(rf"- (retire) {_NUMBERS}(?:, replaced by #(\d{{1,15}}))?(?::(?: (.*))?)?")
_SOURCE = re.compile(rf"- #(\d{{1,15}}) ([0-9a-f]{{{HASH_CHARS}}}) (\S+):(?: (.*))?")


def render(plan: Plan) -> str:
    """The plan as text."""
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
    lines += [f"{_GOES_ON}{line}" for line in rest]
    if why:
        lines.append(f"  > {_one_line(why)}")
    return lines


def _category(category: str) -> str:
    return json.dumps(category, ensure_ascii=False) if set(category) & set('":') else category


def plain_text(text: str) -> str:
    """A text as a plan can hold it: its line ends are alike, and no white space is around it."""
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
    """The plan of a text or of its JSON. InvalidInput names the lines that cannot be read: nothing
    is done of a plan that is half understood."""
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
        if self.open is not None and line.startswith(_GOES_ON):
            self.open["lines"] += [""] * self.blank + [line[len(_GOES_ON) :]]
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
                hint="`holdfast consolidate --plan FILE` writes one.",
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
    named = [f"line {number}, `{_one_line(line)[:60]}`" for number, line in wrong[:_NAMED_MAX]]
    more = len(wrong) - len(named)
    also = f"; and {more} more" if more else ""
    return f"The plan cannot be read: {'; '.join(named)}{also}."
