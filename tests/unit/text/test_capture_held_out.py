"""Capture, measured on turns that no rule was made for (`tests/data`): what people say to an agent,
requests to remember in nine languages, answers to questions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.text.capture import capture

DATA = Path(__file__).parents[2] / "data"
AT = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Utterance(NamedTuple):
    """A turn, the question it answers, and what has to be kept of it: where, and which words."""

    said: str
    question: str
    kept: tuple[tuple[str, str], ...] = ()


def utterances(name: str) -> list[Utterance]:
    found: list[Utterance] = []
    for line in (DATA / f"utterances_{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            where, words = line.strip().split(" | ", 1)
            found[-1] = found[-1]._replace(kept=(*found[-1].kept, (where, words)))
        elif line and not line.startswith("# "):
            said, _, question = line.partition(" < ")
            found.append(Utterance(said, question))
    return found


class Measured(NamedTuple):
    kept: int
    expected: int
    well_placed: int
    wrong: list[str]


def measure(name: str) -> Measured:
    kept = expected = placed = 0
    wrong: list[str] = []
    for one in utterances(name):
        facts = capture(one.said, at=AT, question=one.question)
        if facts and not one.kept:
            wrong.append(f"{one.said!r}: {facts}")
        for where, words in one.kept:
            expected += 1
            found = [fact for fact in facts if words.lower() in fact.text.lower()]
            kept += bool(found)
            placed += bool(found) and found[0].standing == (where == "standing")
    return Measured(kept, expected, placed, wrong)


@pytest.mark.parametrize(("name", "least"), [("dev", 0.98), ("held_out", 0.85)])
def test_what_people_say_to_an_agent_is_kept_where_it_belongs(name: str, least: float) -> None:
    found = measure(name)
    assert found.expected >= 50
    assert found.wrong == []
    assert found.kept >= least * found.expected, found
    assert found.well_placed >= found.kept - 2, found


@pytest.mark.parametrize("name", ["dev", "held_out"])
def test_requests_to_remember_are_known_in_nine_languages_and_kept_as_said(name: str) -> None:
    lines = (DATA / f"remember_that_{name}.txt").read_text(encoding="utf-8").splitlines()
    wrong = []
    for line in lines:
        _, said, wanted = line.split(" | ")
        asked = [fact for fact in capture(said, at=AT) if fact.explicit]
        right = (
            not asked
            if wanted == "-"
            else any(wanted.lower() in fact.text.lower() for fact in asked)
        )
        if not right or not all(fact.standing and fact.verbatim for fact in asked):
            wrong.append((said, asked))
    assert wrong == []
    assert len({line.split(" | ")[0] for line in lines}) == 9


def test_an_order_that_is_to_be_remembered_is_a_preference() -> None:
    (fact,) = capture("please use ruff, not black. Remember that!", at=AT)
    assert (fact.text, fact.category, fact.explicit) == ("Use ruff, not black", "preference", True)


@pytest.mark.parametrize("name", ["2_dev", "2_held_out"])
def test_what_is_asked_for_with_and_without_that_is_kept_for_good(name: str) -> None:
    wrong = []
    for line in (DATA / f"remember_that_{name}.txt").read_text(encoding="utf-8").splitlines():
        _, said, wanted = line.split(" | ")
        kept = [fact.text.lower() for fact in capture(said, at=AT) if fact.standing]
        found = any(all(word in text for word in wanted.lower().split()) for text in kept)
        if (wanted == "-" and kept) or (wanted != "-" and not found):
            wrong.append((said, kept))
    assert wrong == []


def test_what_was_said_of_the_time_it_was_said_has_its_date() -> None:
    facts = capture("I've been learning Spanish for 6 months. I recently joined a choir.", at=AT)
    assert [fact.text for fact in facts] == [
        "Has been learning Spanish for 6 months (said on 16 November 2026)",
        "Recently joined a choir (said on 16 November 2026)",
    ]


def test_a_day_without_its_month_has_the_date_on_which_it_was_named() -> None:
    (fact,) = capture("Our daughter Saga was born on the 12th", at=AT)
    assert fact.text == "Daughter Saga was born on the 12th (said on 16 November 2026)"


def test_what_is_booked_for_a_date_is_ahead() -> None:
    (fact,) = capture("I got tickets for December 5 in London", at=AT)
    assert fact.occurred_at is not None
    assert f"{fact.occurred_at:%Y-%m-%d}" == "2026-12-05"
    assert "5 December 2026" in fact.text


def test_a_date_in_the_middle_of_a_phrase_is_not_written_into_it() -> None:
    facts = capture("We decided to stick with the next week dates for the trip", at=AT)
    assert all("the in the week" not in fact.text for fact in facts)


def stated(name: str) -> list[tuple[str, str]]:
    """Lines of a file with the words that have to be kept of each; empty where nothing is."""
    found: list[tuple[str, str]] = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[-1] = (found[-1][0], line.strip().lower())
        elif line and not line.startswith("# "):
            found.append((line, ""))
    return found


def test_kinds_of_facts_that_conversations_rarely_have_are_kept() -> None:
    """As measured once, before anything was changed; both may only get better."""
    kept = wrong = 0
    rows = stated("life_changes_held_out.txt")
    for said, words in rows:
        facts = [fact.text.lower() for fact in capture(said, at=AT)]
        kept += bool(words) and any(words in fact for fact in facts)
        wrong += bool(facts) and not words
    assert kept >= 47 and sum(bool(words) for _, words in rows) == 55
    assert wrong <= 2


@pytest.mark.parametrize(("name", "kept_least"), [("dev", 35), ("held_out", 22)])
def test_orders_decisions_and_roles_are_kept_as_people_say_them(name: str, kept_least: int) -> None:
    lines = (DATA / f"orders_{name}.txt").read_text(encoding="utf-8").splitlines()
    kept = wrong = 0
    for line in lines:
        kind, said = line.split(" | ", 1)
        found = bool(capture(said, at=AT))
        kept += found and kind == "keep"
        wrong += found and kind == "nothing"
    print(f"{name}: {kept} kept, {wrong} wrong")
    assert kept >= kept_least
    assert wrong == 0


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "I tend to avoid night trains since I can't sleep in them.",
            "Tends to avoid night trains",
        ),
        ("I generally opt for window seats.", "Generally opts for window seats"),
        ("I dislike shared offices because of their noise.", "Dislikes shared offices"),
        ("We prefer one-way tickets over returns.", "Prefers one-way tickets over returns"),
    ],
)
def test_a_preference_is_kept_without_a_reason_that_points_back(said: str, kept: str) -> None:
    assert [fact.text for fact in capture(said, at=AT)] == [kept]


@pytest.mark.parametrize("said", ["I avoid it.", "I try to avoid mistakes.", "I tend to agree."])
def test_avoiding_nothing_in_particular_is_no_preference(said: str) -> None:
    assert capture(said, at=AT) == []
