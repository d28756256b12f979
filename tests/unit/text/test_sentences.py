"""Sentences and their places, by each of the rules."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text import sentences
from holdfast.text.sentences import sentence_spans, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved. It rains!", ["I moved.", "It rains!"]),
        ("Our host is db.example.com and I earn 3.5 k. Second.",
         ["Our host is db.example.com and I earn 3.5 k.", "Second."]),
        ('He said "no." Then (or not?) he left…', ['He said "no."', "Then (or not?)", "he left…"]),
        ("one\ntwo\n\nthree", ["one", "two", "three"]),
        ("我搬家了。下雨了。", ["我搬家了。", "下雨了。"]),
        (" \n ", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_sentence_ends_at_its_stop_or_line_and_nowhere_else(
    text: str, expected: list[str]
) -> None:
    assert list(split_sentences(text)) == expected


RULES = [sentences.STOPS, sentences.SPACES, sentences.SPACES_AND_LINES]


@given(st.text(alphabet="a1 .!?…。\n\"')", max_size=40))
@pytest.mark.parametrize("rule", RULES)
def test_every_word_is_in_exactly_one_sentence(rule: re.Pattern[str], text: str) -> None:
    spans = list(sentence_spans(text, rule))
    assert all(start < end for start, end in spans)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    outside = set(range(len(text))).difference(*(range(*one) for one in spans))
    assert not "".join(text[at] for at in outside).strip()


def test_a_part_of_a_text_is_split_at_its_own_places() -> None:
    text = "One. Two. Three."
    assert [text[a:b] for a, b in sentence_spans(text, sentences.SPACES, 5, 12)] == ["Two.", "Th"]


def test_a_sentence_goes_on_behind_an_abbreviation() -> None:
    text = "Dr. Who came. He left."
    spans = sentence_spans(text, goes_on=lambda start, end: text[start : end.end()] == "Dr.")
    assert [text[a:b].strip() for a, b in spans] == ["Dr. Who came.", "He left."]
