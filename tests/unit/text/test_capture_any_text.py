"""What holds for capture whatever is said: it never raises, points into the text, takes time in
proportion to the text, and gives the same for the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.capture import CAPTURED_MAX, capture
from tests.growth import assert_time_grows
from tests.unit.text.test_capture import AT, read

SAID = [turn.said for turn in read("kept.txt")]
JOINTS = (  # noqa: SIM905 - a list of twenty quoted words is harder to read
    "I|I'm|my| and |, |\n|```|\"|’|(|: |?|> |İ|🎉"
    "|last March|remember that |we decided to| i |\x00|…|every day"
).split("|")
PIECES = st.sampled_from([*SAID, *JOINTS, "\ud83d"])
TURNS = st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=12).map(" ".join))
# Days from the epoch, up to the year 2190.
MOMENTS = st.builds(
    lambda days, hours: (datetime(1971, 1, 1, tzinfo=UTC) + timedelta(days=days)).astimezone(
        timezone(timedelta(hours=hours))
    ),
    st.integers(0, 80_000),
    st.sampled_from([0, -9, 13]),
)


@settings(max_examples=100, deadline=None)
@given(TURNS, MOMENTS, st.sampled_from(["", "user", "Ana", "J.-P. O'Neil", "李"]))
def test_any_turn_is_read_and_each_fact_points_to_where_it_was_said(
    said: str, at: datetime, speaker: str
) -> None:
    facts = capture(said, at=at, speaker=speaker)
    assert facts == capture(said, at=at, speaker=speaker)
    assert len(facts) <= CAPTURED_MAX
    assert len({fact.text.casefold() for fact in facts}) == len(facts)
    for fact in facts:
        assert 0 <= fact.start < fact.end <= len(said)
        assert said[fact.start : fact.end].strip()
        assert fact.text == fact.text.strip() != ""
        assert "\x00" not in fact.text
        if fact.occurred_at and fact.occurred_until:
            assert fact.occurred_at < fact.occurred_until


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(SAID), min_size=1, max_size=6))
def test_facts_come_in_the_order_they_were_said(turns: list[str]) -> None:
    facts = capture("\n\n".join(turns), at=AT)
    ends = [fact.end for fact in facts]
    assert ends == sorted(ends)


@pytest.mark.parametrize("name", ["kept.txt", "held_out_kept.txt"])
def test_the_words_a_fact_points_to_state_it_by_themselves(name: str) -> None:
    for turn in read(name):
        for fact in capture(turn.said, at=AT, speaker=turn.speaker):
            span = turn.said[fact.start : fact.end]
            again = [one.text for one in capture(span, at=AT, speaker=turn.speaker)]
            assert fact.explicit or fact.rule == "decision" or fact.text in again, (fact, again)


NASTY = [
    "I prefer ", "and ", ", and I ", "```\n", "'I ", '"', "((((", "my my ", "I'm a very ", "!?",
    "i have been ", "remember that ", "… ", "every day ", "\n> ", "the the ", "😀", "a.b.", "- ",
    "I went to the ", ": ", "really ", "I moved to Rome last March. ", "we decided to ", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("piece", NASTY)
def test_time_grows_with_the_text(piece: str) -> None:
    short, long = (piece * (size // len(piece)) for size in (25_000, 200_000))
    # Eight times the text; a square would take 64 times as long. The floor is for the clock.
    assert_time_grows(_captured, short, long, allowed_s=lambda short_s: 32 * max(short_s, 0.004))


def _captured(text: str) -> None:
    capture(text, at=AT)
