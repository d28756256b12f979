"""Which turns state facts and how these are worded, by two tables one can read and extend, and by a
third and fourth that no rule was made for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.text.capture import Captured, capture

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
EXAMPLES = Path(__file__).parent / "capture_examples"


class Expected(NamedTuple):
    """A fact of the table."""

    categories: tuple[str, ...]
    text: str
    date: str = ""


class Turn(NamedTuple):
    """A turn of the table and what it states."""

    speaker: str
    said: str
    facts: tuple[Expected, ...] = ()


def read(name: str) -> list[Turn]:
    turns: list[Turn] = []
    for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("  ") and name.endswith("kept.txt"):
            categories, text, *date = (part.strip() for part in line.split(" | "))
            fact = Expected(tuple(categories.split("/")), text, *date)
            turns[-1] = turns[-1]._replace(facts=(*turns[-1].facts, fact))
        elif line and not line.startswith("# "):
            speaker = ""
            if line.startswith("[") and "] " in line:
                speaker, line = line[1:].split("] ", 1)
            turns.append(Turn(speaker, line.replace("\\n", "\n")))
    return turns


def is_right(fact: Captured, expected: Expected) -> bool:
    date = f"{fact.occurred_at:%Y-%m-%d}" if fact.occurred_at else ""
    return (
        fact.text == expected.text
        and fact.category in expected.categories
        and date.startswith(expected.date)
    )


class Rates(NamedTuple):
    """How many of what was captured is right, and how many of what is right was captured."""

    precision: float
    recall: float


def measure(*names: str) -> tuple[Rates, list[str]]:
    right = captured = expected = 0
    wrong: list[str] = []
    for turn in (turn for name in names for turn in read(name)):
        facts = capture(turn.said, at=AT, speaker=turn.speaker)
        hits = sum(any(is_right(fact, one) for one in turn.facts) for fact in facts)
        right, captured, expected = right + hits, captured + len(facts), expected + len(turn.facts)
        if hits < max(len(facts), len(turn.facts)):
            wrong.append(f"{turn.said!r}: {[(f.text, f.category, f.rule) for f in facts]}")
    return Rates(right / captured, right / expected), wrong


@pytest.mark.parametrize("turn", read("kept.txt"), ids=lambda turn: turn.said[:40])
def test_a_turn_that_states_facts(turn: Turn) -> None:
    facts = capture(turn.said, at=AT, speaker=turn.speaker)
    assert [fact.text for fact in facts] == [one.text for one in turn.facts]
    for fact, expected in zip(facts, turn.facts, strict=True):
        assert is_right(fact, expected), fact


@pytest.mark.parametrize("turn", read("left.txt"), ids=lambda turn: turn.said[:40])
def test_a_turn_that_states_none(turn: Turn) -> None:
    assert capture(turn.said, at=AT, speaker=turn.speaker) == []
