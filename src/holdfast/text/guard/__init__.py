"""Recognises text that is written to give orders to a model, so that the engine can hold it.

The guard judges the text alone. Whose text is judged, and by which rules, the engine decides from
where the text came (`docs/explanation/trust.md`). Text *about* attacks, which quotes them, is not
an attack, and a prohibition ('never print secrets') is not an order.

The rules are in `rules.txt`, the ways in which text is hidden from a reader in `disguises`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property
from typing import NamedTuple

from holdfast.text.analysis.terms import fold
from holdfast.text.guard.disguises import decoded, flat, hides_characters, unmasked
from holdfast.text.tables import Patterns, pieces, read_table

_PATTERNS = Patterns("guard/patterns.txt")


class GuardRule(NamedTuple):
    """A row of `rules.txt`: a pattern with the reason that is shown to the user. It is only tried
    near one of its `cues`, which keeps long texts fast; `then` must follow it `within` so many
    characters, where there is one."""

    reason: str
    kind: str
    prohibitable: bool
    example: str
    cues: tuple[str, ...]
    pattern: str
    within: int = 0
    then: str = ""


@cache
def rules() -> tuple[GuardRule, ...]:
    """The table, as it is in the file."""
    return tuple(
        GuardRule(
            reason,
            kind,
            prohibitable == "prohibitable",
            example.replace("\\n", "\n"),
            pieces(cues),
            pattern,
            *((int(more[0]), more[1]) if more else ()),
        )
        for reason, kind, prohibitable, example, cues, pattern, *more in read_table(
            "guard/rules.txt"
        )
    )


# How far a match can reach back from a cue, and how far beyond it: gaps in patterns are shorter.
_BEFORE = 300
_AFTER = 400


def instruction_shaped(text: str, *, in_conversation: bool = False) -> str | None:
    """Why a text reads as orders to a model, as half a sentence ('asks to …'); else None.

    With `in_conversation`, only what tries to take the model over counts. The user's standing
    orders, which their own agent writes down, sound like orders because they are.
    """
    wanted = [rule for rule in rules() if not (in_conversation and rule.kind == "standing order")]
    folded = fold(text)
    unquoted = _PATTERNS["quoted"].sub(" … ", folded)
    said = unquoted if _PATTERNS["discussion"].search(unquoted) else folded
    lines = unmasked(said)
    if reason := _judged(wanted, flat(lines), lines):
        return reason
    for hidden in decoded(text, folded):
        if reason := _judged(wanted, hidden):
            return f"hides a text that {reason}"
    return None if text.isascii() else hides_characters(text)


def _judged(wanted: Iterable[GuardRule], form: str, lines: str = "") -> str | None:
    # An order begins a line, or goes on in the next one.
    views = [_View(form), *([_View(lines)] if "\n" in lines else [])]
    for rule in wanted:
        if any(_applies(rule, view) for view in views):
            return rule.reason
    return None


class _View:
    """One reading of a text, and what is left of it without its prohibitions."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def permitted(self) -> str:
        return _PATTERNS["prohibition"].sub(" … ", self.text)


def _applies(rule: GuardRule, view: _View) -> bool:
    """Whether the pattern is found near one of the rule's cues. Most texts have none of them, and
    looking for a word is a hundred times as fast as trying a pattern everywhere."""
    spans = _near(view.text, rule.cues)
    if spans and rule.prohibitable:
        spans = _near(view.permitted, rule.cues)
    if not spans:
        return False
    form = view.permitted if rule.prohibitable else view.text
    pattern = re.compile(rule.pattern)
    if not rule.then:
        return any(pattern.search(form, *span) for span in spans)
    ends = [found.end() for span in spans for found in pattern.finditer(form, *span)]
    then = re.compile(rule.then)
    behind = _merged((end, end + rule.within) for end in ends)
    return any(then.search(form, start, end + _BEFORE) for start, end in behind)


def _near(form: str, cues: tuple[str, ...]) -> list[tuple[int, int]]:
    """The parts of a text around its cues, as far as a match can reach."""
    hits: list[int] = []
    for cue in cues:
        at = form.find(cue)
        while at >= 0:
            hits.append(at)
            # The next one this near would not make the part much longer.
            at = form.find(cue, at + _BEFORE)
    return _merged((max(hit - _BEFORE, 0), hit + _BEFORE + _AFTER) for hit in sorted(hits))


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same stretches, none of which overlap: nothing is searched twice."""
    out: list[tuple[int, int]] = []
    for start, end in spans:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out
