"""What recall computes in a faster way is what the plain definition gives, to the digit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall import expand, gather, vector, weights
from holdfast.recall.gather import _best, _Scored
from holdfast.recall.lexical import bm25
from holdfast.store.base import Reader
from holdfast.store.values import Candidate, Lexicon, VectorRow, VectorState
from holdfast.text.analysis.variants import edits

_WORDS = st.lists(st.sampled_from(["a", "aa", "ab", "b", "東", "東京"]), max_size=8)


def candidate(memory_id: str, passage: int, body: Sequence[str], head: Sequence[str]) -> Candidate:
    return Candidate(memory_id, passage, 0, 0, 0, (), " ".join(body), " ".join(head), 1)


@given(_WORDS, _WORDS, st.sampled_from([(), ("東",)]))
def test_words_counted_in_a_text_are_those_of_its_list(
    body: list[str], head: list[str], prefixes: tuple[str, ...]
) -> None:
    lexicon = Lexicon(10, 60, {"a": 3, "aa": 2, "b": 0, "ab": 1})
    expected = 0.0
    words = " ".join(body).split(" ") + (head or [])
    damping = 1.2 * (1 - 0.75 + 0.75 * len(words) / 6)
    for term in ("a", "aa", "ab"):
        if count := words.count(term):
            expected += lexicon.rarity(term) * count * (1.2 + 1) / (count + damping)
    expected += sum(any(word.startswith(front) for word in words) for front in prefixes)
    one = candidate("m", 1, body, head)
    assert bm25([one], ["a", "aa", "b", "ab"], lexicon, prefixes) == [expected]


class _Terms:
    """A reader of a hub with these terms."""

    def __init__(self, terms: Mapping[str, int]) -> None:
        self._terms = terms

    def vocabulary(self, hub_id: str, prefix: str, *, limit: int) -> dict[str, int]:
        found = [(one, n) for one, n in sorted(self._terms.items()) if one.startswith(prefix)]
        return dict(found[:limit])

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon:
        return Lexicon(9, 9, {one: self._terms.get(one, 0) for one in terms})


@given(
    st.text("abcé", min_size=5, max_size=8),
    st.dictionaries(st.text("abcé1", min_size=4, max_size=9), st.integers(1, 9), max_size=40),
)
def test_a_mistype_of_one_letter_is_found_as_in_the_whole_vocabulary(
    term: str, terms: dict[str, int]
) -> None:
    terms.pop(term, None)
    # Words that begin with the same two letters come before those that begin with them swapped.
    expected: list[str] = []
    for front in dict.fromkeys((term[:2], term[1] + term[0])):
        near = [one for one in sorted(terms) if one.startswith(front) and one.isalpha()]
        expected = expected or [one for one in near if edits(term, one, 1) == 1]
    reader = cast(Reader, _Terms(terms))
    alike = expand._beginning_with(reader, "hub", term[:2])
    found = expand._mistyped(reader, "hub", term, alike)
    assert list(found) == expected
    assert all(passages == terms[one] for one, (_, passages) in found.items())


@given(
    st.dictionaries(st.text("abé東", min_size=1, max_size=5), st.integers(1, 9), max_size=60),
    st.text("abé東", min_size=2, max_size=4),
    st.sampled_from([3, 6, expand._VOCABULARY_MAX]),
)
def test_terms_with_a_prefix_are_the_same_among_those_with_its_first_letters(
    terms: dict[str, int], prefix: str, limit: int
) -> None:
    reader = cast(Reader, _Terms(terms))
    with pytest.MonkeyPatch.context() as patched:
        # With a low limit, those with the first letters are not all of them.
        patched.setattr(expand, "_VOCABULARY_MAX", limit)
        among = expand._beginning_with(reader, "hub", prefix[:2])
        found = expand._beginning_with(reader, "hub", prefix, among)
    assert list(found.items()) == list(reader.vocabulary("hub", prefix, limit=limit).items())


def edited(word: str, at: int, letter: str, cut: int) -> str:
    """The word with a letter put in at a place, and so many cut out behind it."""
    return word[:at] + letter + word[at + cut :]


_EDIT = st.tuples(st.integers(2, 12), st.sampled_from(["", "a", "b", "xy"]), st.integers(0, 2))


@given(st.text("abcdé", min_size=7, max_size=10), st.lists(st.lists(_EDIT, max_size=2)))
def test_a_mistype_of_two_letters_is_found_as_by_comparing_every_word(
    rest: str, mistypes: list[list[tuple[int, str, int]]]
) -> None:
    term = f"ab{rest}"  # the words that are compared begin alike
    terms = {reduce(lambda word, edit: edited(word, *edit), several, term) for several in mistypes}
    known = dict.fromkeys(sorted(terms - {term}), 1)
    distances = {one: edits(term, one, 2) for one in known}
    least = min(distances.values(), default=3)
    expected = [one for one, distance in distances.items() if distance == least <= 2]
    assert list(expand._nearest(term, known, 2)) == expected


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    st.integers(1, 45),
    st.sets(st.integers(0, 60)),
)
def test_the_nearest_vectors_come_in_order_and_the_named_behind_them(
    values: list[int], limit: int, named: set[int]
) -> None:
    scale = np.float32(1.0).tobytes()
    rows = [
        VectorRow(10 + place, 0, scale + np.array([value, 0], np.int8).tobytes())
        for place, value in enumerate(values)
    ]
    matrix = vector._Matrix(VectorState(len(rows), len(rows), 0, 0), rows, None)
    question = np.array([1, 0], np.float32)
    places, cosines = matrix.nearest(question, limit, sorted(named))
    order = sorted(range(len(values)), key=lambda place: (-values[place], place))
    best = order[:limit]
    behind = [place for place in range(len(values)) if 10 + place in named and place not in best]
    assert places.tolist() == [*best, *behind]
    assert cosines.tolist() == [values[place] for place in places]


def test_of_many_memories_those_with_the_most_evidence_are_ranked() -> None:
    count = weights.RANKED + 50
    found = [(candidate(f"m{n:04}", n, ["a"], []), n / 1_000, n % 7 / 10) for n in range(count)]
    # A second passage whose cosine is better, and whose words are worse.
    found.append((candidate("m0003", count, ["a"], []), 0.9, 0.0))
    own = {one.memory_id: cosine + words for one, cosine, words in found[:-1]}
    own["m0003"] = 0.9 + 0.3
    expected = sorted(own, key=lambda key: (-own[key], key))[: weights.RANKED]
    kept = _best(_Scored(*map(list, zip(*found, strict=True))))
    assert list(kept) == expected
    assert [one.passage_id for one, *_ in kept["m0003"]] == [3, count]


@given(
    st.lists(st.integers(0, 12), max_size=14),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), max_size=8),
)
def test_passages_are_read_as_long_as_enough_others_are_not_before_them(
    nearness: list[int], scores: list[tuple[int, int]]
) -> None:
    # Passages 0, 1, … are found by vectors only, and 100, 101, … by words too. The order is that
    # of a search, which a passage of many windows may be in before a nearer one.
    unknown = list(range(len(nearness)))
    by_words = [100 + at for at in range(len(scores))]
    cosines = dict(enumerate(map(float, nearness)))
    cosines |= {100 + at: float(cosine) for at, (cosine, _) in enumerate(scores)}
    words = [float(score) for _, score in scores]
    spare = 5
    expected: list[int] = []
    least = math.inf
    for passage in unknown:
        least = min(least, cosines[passage])
        stronger = [cosine + score for cosine, score in scores if cosine + score >= least]
        if len(nearness) > spare and len(expected) + len(stronger) >= spare:
            break
        expected.append(passage)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(weights, "RANKED", spare / gather._MARGIN)
        assert gather._worth_reading(unknown, cosines, by_words, words) == expected


def test_vectors_that_are_added_leave_what_is_being_searched_as_it_was() -> None:
    scale = np.float32(0.5).tobytes()

    def rows(begin: int, end: int, value: int) -> list[VectorRow]:
        # Two windows of every third passage.
        return [
            VectorRow(passage, window, scale + np.array([value, passage], np.int8).tobytes())
            for passage in range(begin, end)
            for window in range(1 + (passage % 3 == 0))
        ]

    def grown(value: int, *, size: int, before: vector._Matrix | None) -> vector._Matrix:
        begin = 1 if before is None else before.state.newest + 1
        new = rows(begin, begin + size, value)
        held = 0 if before is None else before.state.size
        state = VectorState(held + len(new), begin + size - 1, begin + size - 1, 0)
        return vector._Matrix(state, new, before)

    def contents(matrix: vector._Matrix) -> list[list[object]]:
        columns = (matrix.ids, matrix.values, matrix.scales, matrix.starts, matrix.penalties)
        return [column.tolist() for column in columns]

    first = grown(1, size=40, before=None)
    before = contents(first)
    # One after the other in the same room, then two that both go on from the first.
    second = grown(2, size=1, before=first)
    third = grown(3, size=1, before=second)
    other = grown(4, size=2, before=first)
    last = grown(5, size=1, before=third)
    assert contents(first) == before
    assert third.ids.base is second.ids.base
    for matrix, new in (
        (second, rows(41, 42, 2)),
        (third, rows(41, 42, 2) + rows(42, 43, 3)),
        (other, rows(41, 43, 4)),
        (last, rows(41, 42, 2) + rows(42, 43, 3) + rows(43, 44, 5)),
    ):
        assert contents(matrix) == contents(
            vector._Matrix(matrix.state, rows(1, 41, 1) + new, None)
        )
