"""What can be understood without what was said around it, and what cannot."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.text.capture import capture
from holdfast.text.capture.self_contained import is_self_contained

AT = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "statement",
    [
        "I have a kiln in the garage and use it on Sundays",
        "Has a severe allergy to penicillin",
        "I find it hard to sit still for more than an hour",
        "The deploy pipeline is green, it takes ten minutes",
        "I've been vegan since this spring",
        "One of my brothers lives in Oslo",
        "My sister is older than me",
        "We have three environments, and the last one is for customers",
        "I love it when the window is open",
        "I'm deaf in one ear",
    ],
)
def test_what_names_its_subject_stands_by_itself(statement: str) -> None:
    assert is_self_contained(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "I've been using it in my homemade lemonade",
        "Has most of those in their cupboard already",
        "I've been really loving the coat I bought",
        "We are happy with the tent that you recommended",
        "My wife's share is another 500 euros",
        "I prefer the second option",
        "I run less than before",
        "Hasn't studied in one since school",
        "You told me to keep them apart",
        "I use this for the sourdough",
        "Has been working in the industry",
    ],
)
def test_what_points_at_something_unsaid_does_not(statement: str) -> None:
    assert not is_self_contained(statement)


def test_a_fact_that_is_not_self_contained_is_noted_and_not_kept_for_good() -> None:
    (fact,) = capture("I've been working in the industry for five years.", at=AT)
    assert not fact.standing
    (fact,) = capture("I've been working in the film industry for five years.", at=AT)
    assert fact.standing


def test_a_wedding_to_come_is_in_the_year_that_comes() -> None:
    (fact,) = capture("My sister Margit is getting married on 14 June in Pécs.", at=AT)
    assert fact.text == "Sister Margit is getting married on 14 June 2027 in Pécs"
