"""What people say in sessions, measured on turns that no rule was made for
(`tests/data/session_*`): what is about the person or an order for the future enters long-term
memory, and nothing else does. The lowest rates are those measured on the held-out half."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from holdfast.testing import FixedClock, open_for_tests
from holdfast.text.dates import event_in
from tests.unit.engine.session_sets import AT, DATA, observe_each, said_in
from tests.unit.engine.test_changed_facts import Pair, outcome


@pytest.mark.parametrize(
    ("name", "size", "least"),
    [("dev", 90, 0.97), ("held_out", 90, 0.84), ("2_dev", 85, 0.86), ("2_held_out", 25, 0.68)],
)
def test_what_is_about_the_person_or_an_order_is_kept_when_said_once(
    tmp_path: Path, name: str, size: int, least: float
) -> None:
    outcomes = observe_each(tmp_path, said_in(f"facts_{name}"))
    expected = sum(len(one.said.facts) for one in outcomes)
    missing = sum(len(one.missing) for one in outcomes)
    assert expected >= size
    assert expected - missing >= least * expected, expected - missing


@pytest.mark.parametrize(
    ("name", "size", "wrong_most"),
    [("dev", 80, 0), ("held_out", 80, 2), ("2_dev", 41, 0), ("2_held_out", 10, 0)],
)
def test_tasks_questions_fiction_and_the_words_of_others_are_not_kept(
    tmp_path: Path, name: str, size: int, wrong_most: int
) -> None:
    outcomes = observe_each(tmp_path, said_in(f"nothing_{name}"))
    wrong = [one for one in outcomes if one.kept]
    assert len(outcomes) >= size
    assert len(wrong) <= wrong_most


@pytest.mark.parametrize("name", ["dev", "held_out"])
def test_a_short_answer_is_kept_where_the_question_is_about_the_person(
    tmp_path: Path, name: str
) -> None:
    outcomes = observe_each(tmp_path, said_in(f"answers_{name}"))
    assert [one.said.turn for one in outcomes if one.missing] == []
    assert [one.said.turn for one in outcomes if one.kept and not one.said.facts] == []


@pytest.mark.parametrize("name", ["dev", "held_out"])
def test_true_updates_supersede_or_are_named_and_nothing_else_supersedes(
    tmp_path: Path, name: str
) -> None:
    found: Counter[tuple[str, str]] = Counter()
    lines = (DATA / f"session_changes_{name}.txt").read_text(encoding="utf-8").splitlines()
    with open_for_tests(tmp_path, clock=FixedClock()) as memory:
        for at, pair in enumerate(Pair(*line.split(" | ")) for line in lines):
            found[pair.kind, outcome(memory, f"pair-{at}", pair)] += 1
    assert found["update", "superseded"] + found["update", "named"] >= 8, found
    assert found["addition", "superseded"] + found["likeness", "superseded"] == 0, found


@pytest.mark.parametrize(("name", "wrong_most"), [("dev", 6), ("held_out", 3)])
def test_days_are_read_in_nine_languages(name: str, wrong_most: int) -> None:
    """Full dates and times with an open end, which `event_in` leaves alone, count as wrong."""
    lines = (DATA / f"session_dates_{name}.txt").read_text(encoding="utf-8").splitlines()
    events = [(line.split(" | ")[2], event_in(line.split(" | ")[1], at=AT)) for line in lines]
    wrong = [day for day, event in events if (f"{event.since:%Y-%m-%d}" if event else "-") != day]
    assert len(wrong) <= wrong_most
