"""The same slot, a new value: by tables of pairs, and by what must hold of every pair."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.analysis.terms import terms
from holdfast.text.facts.statements import adds_nothing, read
from holdfast.text.slots import frames
from holdfast.text.slots.compare import (
    RELATIONS,
    Slot,
    can_replace,
    compare,
    slot_of,
    subject_of,
    tells_of_change,
    terms_of_replaced,
)
from holdfast.text.slots.frames import frame_terms
from tests.unit.text.slots_table import CONTRADICTS, REPLACES, SAME, UNRELATED

ALL = (*REPLACES, *CONTRADICTS, *SAME, *UNRELATED)


@pytest.mark.parametrize(
    ("said", "is_change"),
    [("My left knee hurts", False), ("The left lane is closed", False), ("Leo left us", True)],
)
def test_left_tells_of_a_change_as_a_verb_only(said: str, is_change: bool) -> None:
    assert tells_of_change(said) is is_change


def test_the_tables_are_as_long_as_promised() -> None:
    assert len(REPLACES) + len(CONTRADICTS) >= 100
    assert len(SAME) + len(UNRELATED) >= 150


@pytest.mark.parametrize(("new", "old"), REPLACES)
def test_a_new_value_takes_the_place_of_the_old_one(new: str, old: str) -> None:
    assert compare(new, old).relation == "replaces"


@pytest.mark.parametrize(("new", "old"), CONTRADICTS)
def test_where_nobody_can_tell_it_is_a_contradiction(new: str, old: str) -> None:
    assert compare(new, old).relation == "contradicts"


@pytest.mark.parametrize(("new", "old"), SAME)
def test_the_same_in_other_words_is_the_same(new: str, old: str) -> None:
    assert compare(new, old).relation == "same"


@pytest.mark.parametrize(("new", "old"), UNRELATED)
def test_what_may_be_true_beside_it_is_unrelated(new: str, old: str) -> None:
    assert compare(new, old).relation == "unrelated"


@pytest.mark.parametrize(("new", "old"), (*REPLACES, *CONTRADICTS))
def test_what_speaks_against_something_does_not_repeat_it(new: str, old: str) -> None:
    assert not adds_nothing(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Flies to Lisbon", "Flies from Lisbon to Porto"),
        ("Works for Anna", "Works with Anna on the parser"),
        ("Opted in to the newsletter", "Opted out of the newsletter of Acme"),
        ("Chose SQLite", "Chose PostgreSQL over SQLite"),
        ("Decided to use SQLite", "Decided to use PostgreSQL instead of SQLite"),
        ("Likes tea", "Likes coffee more than tea"),
    ],
)
def test_a_small_word_that_turns_it_around_adds_something(new: str, old: str) -> None:
    assert not adds_nothing(new, old)


def test_only_what_can_replace_something_ever_does() -> None:
    """Who asks first, and looks for nothing where the answer is no, misses nothing."""
    texts = sorted({text for pair in ALL for text in pair})
    unable = [text for text in texts if not can_replace(text)]
    assert [pair for pair in REPLACES if not can_replace(pair[0])] == []
    replaced = [
        (new, old)
        for new in unable
        for old in texts[::4]
        if compare(new, old).relation == "replaces"
    ]
    assert replaced == []
    assert len(unable) > len(texts) / 4, "it would not be worth asking"


def test_what_is_replaced_has_the_terms_it_is_sought_by() -> None:
    texts = sorted({text for pair in ALL for text in pair})
    pairs = {*REPLACES, *((new, old) for new in texts[::3] for old in texts[::5])}
    replaced = [pair for pair in pairs if compare(*pair).relation == "replaces"]
    assert len(replaced) > len(REPLACES)
    for new, old in replaced:
        assert any(held <= set(terms(old)) for held in terms_of_replaced(new)), (new, old)
    telling = [text for text in texts if can_replace(text) and all(terms_of_replaced(text))]
    assert len(telling) > 100, "it would not be worth asking"


THINGS = st.sampled_from(["db3", "The API", "Standup", "the k8s cluster", "Ann's room", "Ann"])
SAYS = st.sampled_from(
    ["runs on port {}", "starts at {}", "is due {}", "keeps logs for {} days",
     "has moved to {} now", "costs {} a month", "meets at {} on Fridays",
     "uses word7 and {} of foo2"]
)  # fmt: skip
VALUES = st.sampled_from(
    ["8080", "9:30", "noon", "5 May", "May 7", "2026-03-01", "v1.2", "$30", "12", "3rd", "40%",
     "https://a.example/x", "ops@a.example", "/srv/data", "+49 30 1234", "10 am", "midnight"]
)  # fmt: skip


@given(THINGS, SAYS, VALUES, VALUES, st.sampled_from(["", "now ", "the "]))
def test_what_differs_in_a_value_is_found_by_the_words_around_it(
    thing: str, says: str, one: str, other: str, small: str
) -> None:
    new, old = (f"{thing} {says.format(value)}" for value in (one, small + other))
    if compare(new, old).relation == "replaces":
        assert any(held <= set(terms(old)) for held in terms_of_replaced(new)), (new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The team lead is Ana now", "The team lead is Tom"),
        ("Ana's dentist is Dr Moe now", "Ana's dentist is Dr Kay"),
        ("I no longer eat fish", "I eat fish"),
        ("I no longer love jazz", "I like jazz"),
        ("We write minutes again", "We no longer write minutes"),
    ],
)
def test_what_is_new_or_over_is_found_by_the_words_that_it_repeats(new: str, old: str) -> None:
    assert compare(new, old).relation == "replaces"
    sought = terms_of_replaced(new)
    assert all(sought), "the whole hub would be compared"
    assert any(held <= set(terms(old)) for held in sought)


def test_what_is_over_is_found_in_another_language_too() -> None:
    new, old = "I no longer work", "Ich arbeite bei Siemens."
    assert compare(new, old).relation == "replaces"
    assert any(held <= set(terms(old)) for held in terms_of_replaced(new))


def test_a_longer_statement_that_tells_of_news_is_compared_with_few() -> None:
    new = "Hey Jon, my sister Maria finally got the big green painting back from Berlin now"
    sought = terms_of_replaced(new)
    old = set(terms("Hey Jon, good morning"))
    assert sought
    assert not any(held <= old for held in sought)


def test_an_identifier_with_a_digit_is_no_value_but_a_word_that_both_share() -> None:
    held = frame_terms(read("The word7 server runs word9 on port 8080"))
    assert held == [frozenset(terms("word7 server run word9 port"))]
    assert frame_terms(read("The word7 server runs word9 with word3")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Likes long walks by the river",
        "Uses Vim",
        "The meeting went well and everybody was happy with the plan for the garden",
        "Maybe Ann lives in Oslo",
        "Used to live in Porto",
        "She lives in Oslo",
        "Todo: call Ann",
        "Read chapter 12 of the book",
    ],
)
def test_most_statements_take_the_place_of_nothing(text: str) -> None:
    assert not can_replace(text)


def test_what_is_unrelated_is_so_the_other_way_round() -> None:
    """But for what ends something: 'Uses npm' may come after 'Switched from npm to pnpm'."""
    turned = [(old, new) for new, old in UNRELATED if compare(old, new).relation == "replaces"]
    assert turned == []


def test_of_two_pairs_at_random_none_replaces_the_other() -> None:
    """Statements of different rows are about different things, or about different people."""
    texts = sorted({text for pair in UNRELATED for text in pair})
    found = {
        (new, old)
        for at, new in enumerate(texts)
        for old in texts[at + 1 : at + 40]
        if compare(new, old).relation == "replaces"
    }
    print(f"\n{len(texts)} statements, {len(found)} replacements by chance: {sorted(found)}")
    assert all(set(slot_subjects(pair)) == {slot_subjects(pair)[0]} for pair in found)


def slot_subjects(pair: tuple[str, str]) -> list[str]:
    return [subject_of(text) for text in pair]


def test_what_else_a_replaced_statement_says_is_kept() -> None:
    for rest in (" with Ana", " and works at Acme", ", which is lovely", " because of the sea"):
        verdict = compare("Moved to Lisbon", "Lives in Porto" + rest)
        assert verdict == ("replaces", verdict.reason, "Lived in Porto" + rest, False)
    kept = compare("Moved to Lisbon", "Lives in Porto with my wife Ana").keeps
    assert kept == "Wife is Ana"
    moved = compare("Me he mudado a Madrid", "Vivo en Barcelona y trabajo como enfermero")
    assert moved.keeps == "Trabajo como enfermero"
    longer = compare("Has been running for a year", "I've been running for 6 months, twice a week")
    assert longer.keeps == "Has been running, twice a week"


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("Moved to Lisbon in March 2026", Slot("", "residence", "lisbon")),
        ("I live in Lisbon", Slot("", "residence", "lisbon")),
        ("Ann works at Acme", Slot("ann", "employer", "acme")),
        ("No longer works at Acme", Slot("", "employer", "acme", True)),
        ("Uses Python 3.12", Slot("", "version python", "3.12")),
        ("Prefers tabs over spaces", Slot("", "preference", "tabs")),
        ("Likes tea", None),
        ("Wants to live in Lisbon", None),
        ("Does she live in Lisbon?", None),
        ("", None),
    ],
)
def test_the_slot_of_a_statement(text: str, slot: Slot | None) -> None:
    assert slot_of(text) == slot


@given(new=st.text(max_size=120), old=st.text(max_size=120))
def test_any_two_texts_have_a_relation_and_a_reason(new: str, old: str) -> None:
    verdict = compare(new, old)
    assert verdict.relation in RELATIONS
    assert verdict.reason


@given(text=st.sampled_from([text for pair in ALL for text in pair]))
def test_a_text_is_the_same_as_itself(text: str) -> None:
    assert compare(text, text).relation == "same"


@pytest.mark.parametrize(
    ("name", "first", "signs"),
    [("set to", "cut", frames._SET_TO), ("old value", "not", frames._BEFORE_OLD_VALUE)],
)
def test_every_form_of_a_pattern_has_a_sign(name: str, first: str, signs: tuple[str, ...]) -> None:
    pattern = frames._PATTERNS[name].pattern
    found = re.search(rf"\(\?:({first}\b[^()]*)\)( to)?", pattern)
    assert found is not None
    forms = [form + (found[2] or " ") for form in found[1].split("|")]
    assert sorted(forms) == sorted(signs)
