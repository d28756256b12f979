"""Conformance: search by words, substrings and vectors."""

from __future__ import annotations

import pytest

from holdfast.domain.query import EVERYTHING
from holdfast.store.base import Store
from holdfast.store.values import Capability, IndexEntry, TermQuery, TextQuery, VectorRow
from holdfast.testing.conformance.base import (
    HUB,
    MODEL,
    StoreCase,
    at,
    index,
    make_memory,
    put,
    revise,
)
from holdfast.text.analysis.terms import searchable, terms, trigram_text

# Numbers count from 1. Words that a query language might take for its own are words here.
TEXTS = (
    "red apple pie",
    "red pear",
    "green apple and pear",
    "near or not and",
    "pie apple red",
    "100% of snake_case * star - dash",
    'she said "hello there" to O\'Brien',
    "東京に住んでいる",
    "𝒳 marks 😀",
    "https://example.org/a?b=c&d=%20",
    "زيارة المدينة",
    "back\\slash and (parens) [brackets] {braces} ^caret ~tilde",
)

TERM_QUERIES = {
    "one term": (TermQuery(("red",)), {1, 2, 5}),
    "any of several terms": (TermQuery(("green", "hello")), {3, 7}),
    "a term that nothing holds": (TermQuery(("nowhere",)), set()),
    "words of query languages": (TermQuery(("near", "not", "or")), {4}),
    "and is a word": (TermQuery(("and",)), {3, 4, 12}),
    "a phrase": (TermQuery((), (("red", "appl"),)), {1}),
    "two phrases": (TermQuery((), (("red", "appl"), ("appl", "pie"))), {1}),
    "a phrase the other way round": (TermQuery((), (("appl", "red"),)), {5}),
    "a phrase of one word": (TermQuery((), (("pear",),)), {2, 3}),
    "a phrase of three": (TermQuery((), (("red", "appl", "pie"),)), {1}),
    "a phrase decides, terms only add": (TermQuery(("green",), (("red", "appl"),)), {1}),
    "an exclusion": (TermQuery(("appl",), (), (("green",),)), {1, 5}),
    "an excluded phrase": (TermQuery(("appl",), (), (("appl", "pie"),)), {3, 5}),
    "two exclusions": (TermQuery(("appl",), (), (("green",), ("red", "appl"))), {5}),
    "a phrase and an exclusion": (TermQuery((), (("appl",),), (("pear",),)), {1, 5}),
    "only an exclusion finds nothing": (TermQuery((), (), (("red",),)), set()),
    "nothing at all": (TermQuery(()), set()),
    "a prefix": (TermQuery((), prefixes=("東",)), {8}),
    "a prefix or a term": (TermQuery(("green",), prefixes=("東",)), {3, 8}),
}

SUBSTRINGS = {
    "part of a word": ("ppl", {1, 3, 5}),
    "over words": ("d apple p", {1}),
    "one letter": ("x", {9, 10}),
    "two letters": ("pi", {1, 5}),
    "per cent": ("%", {6, 10}),
    "per cent in a number": ("100%", {6}),
    "underscore": ("_", {6}),
    "underscore in a name": ("ke_ca", {6}),
    "star": ("*", {6}),
    "star alone between spaces": ("e * s", {6}),
    "dash": ("t - d", set()),
    "dash that is there": ("* star - da", {6}),
    "double quote": ('"hello', {7}),
    "single quote": ("o'b", {7}),
    "NEAR": ("near or", {4}),
    "address": ("org/a?b=c&d=%20", {10}),
    "backslash": ("k\\s", {12}),
    "brackets": ("(parens) [br", {12}),
    "caret and tilde": ("^caret ~t", {12}),
    "script without spaces": ("京に住", {8}),
    "one sign": ("京", {8}),
    "emoji": ("😀", {9}),
    "right to left": ("المدين", {11}),
    "what is not there": ("appel", set()),
    "longer than every text": ("red apple pie and something", set()),
}


class Search(StoreCase):
    """What is found, and what is not."""

    @pytest.fixture
    def texts(self, store: Store) -> Store:
        with store.write() as writer:
            for number, text in enumerate(TEXTS, 1):
                # The title is in the head; here it must not add words of its own.
                put(writer, make_memory(number, text, title=""))
        return store

    def test_the_vocabulary_of_a_hub_is_read_by_the_beginning_of_its_terms(
        self, store: Store
    ) -> None:
        with store.write() as writer:
            for number, text in enumerate(TEXTS, 1):
                put(writer, make_memory(number, text))
        with store.read() as reader:
            assert reader.vocabulary(HUB, "pe", limit=9) == {"pear": 2}
            assert reader.vocabulary(HUB, "nowhere", limit=9) == {}
            assert reader.vocabulary(HUB, "a", limit=1) == {"a": 1}
            assert list(reader.vocabulary(HUB, "a", limit=3)) == ["a", "and", "appl"]
            assert set(reader.vocabulary(HUB, "東", limit=9)) == {"東京"}
            known = reader.vocabulary(HUB, "", limit=1_000)
            assert list(known) == sorted(known)
            assert reader.lexicon(HUB, list(known)).frequency == known

    def test_terms_find_what_holds_them(self, texts: Store) -> None:
        for name, (query, expected) in TERM_QUERIES.items():
            with texts.read() as reader:
                found = reader.search_terms(HUB, query, EVERYTHING, limit=50)
            assert {int(one.memory_id.removeprefix("mem_")) for one in found} == expected, name
            assert len({one.passage_id for one in found}) == len(found), name

    def test_by_rarity_finds_the_same_and_what_shares_most_first(self, store: Store) -> None:
        with store.write() as writer:
            for number in range(1, 31):
                put(writer, make_memory(number, "common word"))
            put(writer, make_memory(31, "rare word"))
            put(writer, make_memory(32, "rare common word", category="wanted"))
            put(writer, make_memory(33, "unlike the others"))
        query = TermQuery(("common", "rare"), by_rarity=True)
        with store.read() as reader:
            found = reader.search_terms(HUB, query, EVERYTHING, limit=50)
            assert len(found) == len({one.passage_id for one in found}) == 32
            first = reader.search_terms(HUB, query, EVERYTHING, limit=2)
            assert "mem_32" in [one.memory_id for one in first]
            wanted = EVERYTHING._replace(categories=("wanted",))
            filtered = reader.search_terms(HUB, query, wanted, limit=2)
            assert [one.memory_id for one in filtered] == ["mem_32"]
            nothing = TermQuery(("absent",), by_rarity=True)
            assert reader.search_terms(HUB, nothing, EVERYTHING, limit=5) == []

    def test_what_holds_the_rarest_terms_is_found_where_postings_are_bounded(
        self, store: Store
    ) -> None:
        with store.write() as writer:
            for number in range(1, 11):
                put(writer, make_memory(number, "common word"))
            put(writer, make_memory(11, "kiwi word"))
            put(writer, make_memory(12, "plum word"))
        terms = ("common", "kiwi", "plum", "absent")
        with store.read() as reader:
            for most, expected in ((1, {11}), (2, {11, 12}), (12, set(range(1, 13)))):
                for by_rarity in (True, False):
                    query = TermQuery(terms, by_rarity=by_rarity, postings_max=most)
                    found = reader.search_terms(HUB, query, EVERYTHING, limit=50)
                    numbers = {int(one.memory_id.removeprefix("mem_")) for one in found}
                    # A store may ask for the others as well.
                    assert numbers >= expected, (most, by_rarity)

    def test_all_matches_are_found_where_their_order_does_not_matter(self, texts: Store) -> None:
        for name, (query, expected) in TERM_QUERIES.items():
            with texts.read() as reader:
                unordered = query._replace(unordered=True)
                found = reader.search_terms(HUB, unordered, EVERYTHING, limit=50)
            assert {int(one.memory_id.removeprefix("mem_")) for one in found} == expected, name
            assert len({one.passage_id for one in found}) == len(found), name

    def test_a_substring_is_found_as_it_stands(self, texts: Store) -> None:
        for name, (needle, expected) in SUBSTRINGS.items():
            with texts.read() as reader:
                found = reader.search_substring(HUB, trigram_text(needle), EVERYTHING, limit=50)
            numbers = [int(memory_id.removeprefix("mem_")) for memory_id in found]
            assert set(numbers) == expected, name
            assert numbers == sorted(numbers, reverse=True), name

    def test_a_long_needle_is_found_whole_or_not_at_all(self, store: Store) -> None:
        text = " ".join(f"word{number}" for number in range(200))
        with store.write() as writer:
            put(writer, make_memory(1, text))
            put(writer, make_memory(2, text.replace("word150", "wordX50")))
        with store.read() as reader:
            found = reader.search_substring(HUB, trigram_text(text[10:]), EVERYTHING, limit=5)
        assert found == ["mem_1"]

    def test_substrings_are_found_in_title_key_and_tags(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "body", title="the titular"))
            put(writer, make_memory(2, "body2", key="keyed.by"))
            put(writer, make_memory(3, "body3", tags=("tagged",)))
        with store.read() as reader:
            for needle, expected in (("itula", "mem_1"), ("ed.by", "mem_2"), ("agge", "mem_3")):
                assert reader.search_substring(HUB, needle, EVERYTHING, limit=5) == [expected]

    def test_head_terms_are_found_like_body_terms(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "body", title="heading words"))
            query = TermQuery((terms("heading")[0],))
            assert len(writer.search_terms(HUB, query, EVERYTHING, limit=5)) == 1
            phrase = TermQuery((), (tuple(terms("heading words")),))
            assert len(writer.search_terms(HUB, phrase, EVERYTHING, limit=5)) == 1
            # A phrase never reaches from the body into the head.
            across = TermQuery((), ((*terms("body"), *terms("heading")),))
            assert writer.search_terms(HUB, across, EVERYTHING, limit=5) == []

    def test_limits_are_kept_also_where_a_filter_leaves_most_out(self, store: Store) -> None:
        with store.write() as writer:
            for number in range(1, 61):
                category = "wanted" if number > 55 else "fact"
                put(writer, make_memory(number, "common word", category=category))
        wanted = EVERYTHING._replace(categories=("wanted",))
        with store.read() as reader:
            assert len(reader.search_terms(HUB, TermQuery(("common",)), wanted, limit=3)) == 3
            assert len(reader.search_terms(HUB, TermQuery(("common",)), wanted, limit=9)) == 5
            assert len(reader.search_substring(HUB, "ommo", wanted, limit=3)) == 3
            assert reader.search_substring(HUB, "ommo", EVERYTHING, limit=2) == ["mem_60", "mem_59"]

    def test_a_text_is_found_as_it_stands_in_the_content_alone(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "Prefers TABS,  not spaces", title="about indentation"))
            put(writer, make_memory(2, "100% of it: 'quoted' and a_b", tags=("tabs",)))
            put(writer, make_memory(3, "100 of it, quoted, and a b"))

        def found(needle: str, *words: str) -> list[int]:
            query = TextQuery(needle, words)
            with store.read() as reader:
                memories = reader.matching(HUB, query, EVERYTHING, order="number")
                return [memory.number for memory in memories]

        assert found("tabs, not") == [1]
        assert found("indent") == []  # in the title
        assert found("tabs") == [1]  # of the second, only a tag
        assert found("0% of") == found("'quoted'") == found("a_b") == [2]
        assert found("%") == found("_") == [2]
        assert found("nothing of the kind", "prefer", "space") == [1]
        assert found("nothing of the kind", "prefer", "quot") == []
        assert found("nothing of the kind", "indent") == []
        assert found("a_b", "quot", "100") == [2, 3]

    def test_words_of_one_text_stand_in_one_passage(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "first line\nsecond line"))
            put(writer, make_memory(2, "second and first"))
        with store.read() as reader:
            query = TextQuery("nowhere", ("first", "second"))
            found = list(reader.matching(HUB, query, EVERYTHING, order="number"))
        assert [memory.number for memory in found] == [2]

    def test_as_many_texts_are_read_as_are_asked_for(self, store: Store) -> None:
        with store.write() as writer:
            for number in range(1, 101):
                put(writer, make_memory(number, f"common words {number}"))
        with store.read() as reader:
            some = reader.matching(HUB, TextQuery("on wor"), EVERYTHING, order="newest")
            assert [m.number for m, _ in zip(some, range(3), strict=False)] == [100, 99, 98]
            every = reader.matching(HUB, TextQuery("on wor"), EVERYTHING, order="oldest")
            assert [memory.number for memory in every] == list(range(1, 101))

    def test_the_lexicon_counts_passages_that_hold_a_term(self, store: Store) -> None:
        memory = make_memory(1, "apple apple pear\napple", title="pear")
        with store.write() as writer:
            put(writer, memory)
            put(writer, make_memory(2, "plum", title=""))
        with store.read() as reader:
            lexicon = reader.lexicon(HUB, ["appl", "pear", "plum", "none"])
        assert lexicon.passages == 3
        assert lexicon.terms == 3 + 1 + 1 + 1 + 1  # two bodies, the title in both heads, plum
        assert dict(lexicon.frequency) == {"appl": 2, "pear": 2, "plum": 1, "none": 0}

    def test_the_lexicon_forgets_what_is_taken_out(self, store: Store) -> None:
        with store.write() as writer:
            one = put(writer, make_memory(1, "apple pie", title=""))
            put(writer, make_memory(2, "apple tart", title=""))
        with store.write() as writer:
            revise(writer, one, "chg_new", at(9), content="plum")
        with store.read() as reader:
            lexicon = reader.lexicon(HUB, ["appl", "pie", "plum"])
            assert dict(lexicon.frequency) == {"appl": 1, "pie": 0, "plum": 1}
            assert (lexicon.passages, lexicon.terms) == (2, 3)
        with store.write() as writer:
            writer.unindex(HUB, "mem_1")
            writer.purge(HUB, "mem_2")
        with store.read() as reader:
            lexicon = reader.lexicon(HUB, ["appl", "pie", "plum"])
            assert dict(lexicon.frequency) == {"appl": 0, "pie": 0, "plum": 0}
            assert (lexicon.passages, lexicon.terms) == (0, 0)

    def test_an_index_replaces_the_one_before(self, store: Store) -> None:
        with store.write() as writer:
            one = put(writer, make_memory(1, "old words\nsecond line"))
        with store.write() as writer:
            revise(writer, one, "chg_new", at(9), content="fresh text", title="fresh text")
        with store.read() as reader:
            assert len(reader.passages(HUB, ["mem_1"])) == 1
            old = TermQuery(tuple(terms("old words second line")))
            assert reader.search_terms(HUB, old, EVERYTHING, limit=5) == []
            assert reader.search_substring(HUB, "ld wor", EVERYTHING, limit=5) == []
            assert reader.search_substring(HUB, "resh te", EVERYTHING, limit=5) == ["mem_1"]

    def test_a_memory_indexed_without_a_passage_can_be_indexed_again(self, store: Store) -> None:
        memory = make_memory(1, "some text")
        with store.write() as writer:
            put(writer, memory)
            writer.index(HUB, "mem_1", trigram_text("some text"), [], "")
            assert writer.search_substring(HUB, "me te", EVERYTHING, limit=5) == []
        with store.write() as writer:
            index(writer, memory)
        with store.read() as reader:
            assert reader.search_substring(HUB, "me te", EVERYTHING, limit=5) == ["mem_1"]
        assert store.check() == []

    def test_a_passage_without_words_is_kept(self, store: Store) -> None:
        with store.write() as writer:
            memory = put(writer, make_memory(1, "—"))
            writer.index(HUB, "mem_1", searchable(memory), [IndexEntry(0, 0, 1, (), (), ())], "")
        with store.read() as reader:
            (only,) = reader.passages(HUB, ["mem_1"])
            assert (only.body, only.head, only.headings) == ("", "", ())
            assert reader.lexicon(HUB, []).passages == 1
        assert store.check() == []


SECOND = "model-two"


class Vectors(StoreCase):
    """The data of a store besides the passages."""

    @pytest.fixture(autouse=True)
    def _only_with_vectors(self, request: pytest.FixtureRequest) -> None:
        if request.function.__qualname__.startswith("Vectors."):
            store: Store = request.getfixturevalue("store")
            if Capability.VECTORS not in store.capabilities:
                pytest.skip("the store does not claim to keep vectors")

    def test_vectors_come_back_in_the_order_of_their_passages(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "a\nb\nc"), [[b"\x00a"], [], [bytes(range(256)), b"second"]])
            put(writer, make_memory(2, "d"), [[b"d"]])
        with store.read() as reader:
            rows = list(reader.vectors(HUB, MODEL, after=0))
            assert [(row.window, row.vector) for row in rows] == [
                (0, b"\x00a"),
                (0, bytes(range(256))),
                (1, b"second"),
                (0, b"d"),
            ]
            ids = [row.passage_id for row in rows]
            assert ids == sorted(ids)
            assert list(reader.vectors(HUB, MODEL, after=ids[1])) == rows[3:]
            assert reader.vectors_of(HUB, MODEL, "mem_1") == rows[:3]
            passages = {one.passage_id: one for one in reader.passages(HUB, ["mem_1", "mem_2"])}
            assert [passages[pk].memory_id for pk in ids] == ["mem_1"] * 3 + ["mem_2"]
            assert [one.windows for one in passages.values()] == [3, 3, 3, 1]
            assert reader.vector_state(HUB, MODEL)[:2] == (4, 3)
            assert reader.statistics(HUB).vectors == 4
            assert reader.unembedded_count(HUB, MODEL) == 1

    def test_models_are_told_apart(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1), [[b"one"]])
            (row,) = writer.vectors(HUB, MODEL, after=0)
            assert writer.vector_models(HUB) == [MODEL]
            writer.set_vectors(HUB, SECOND, [VectorRow(row.passage_id, 0, b"two")])
            assert writer.vector_models(HUB) == sorted([MODEL, SECOND])
        with store.read() as reader:
            assert [r.vector for r in reader.vectors(HUB, MODEL, after=0)] == [b"one"]
            assert [r.vector for r in reader.vectors(HUB, SECOND, after=0)] == [b"two"]
            assert list(reader.vectors(HUB, "model-three", after=0)) == []
            assert reader.statistics(HUB).vectors == 2

    def test_what_has_no_vector_is_listed_until_it_gets_one(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "a\nb"), [[b"a"]])
            put(writer, make_memory(2, "c"))
        with store.read() as reader:
            missing = reader.unembedded(HUB, MODEL, limit=9)
            assert [one.memory_id for one in missing] == ["mem_1", "mem_2"]
            assert reader.unembedded_count(HUB, MODEL) == 2
            assert len(reader.unembedded(HUB, MODEL, limit=1)) == 1
            first = missing[0].passage_id
            assert reader.unembedded(HUB, MODEL, limit=9, after=first) == missing[1:]
            assert reader.unembedded_count(HUB, SECOND) == 3
        with store.write() as writer:
            writer.set_vectors(HUB, MODEL, [VectorRow(one.passage_id, 0, b"n") for one in missing])
        with store.read() as reader:
            assert reader.unembedded(HUB, MODEL, limit=9) == []
            assert reader.unembedded_count(HUB, MODEL) == 0
            assert reader.vector_state(HUB, MODEL).size == 3

    def test_vectors_of_passages_that_are_gone_are_passed_over(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))
            (old,) = writer.passages(HUB, ["mem_1"])
        with store.write() as writer:
            index(writer, make_memory(1))
        with store.write() as writer:
            rows = [VectorRow(old.passage_id, 0, b"late"), VectorRow(10**12, 0, b"never")]
            writer.set_vectors(HUB, MODEL, rows)
        with store.read() as reader:
            assert list(reader.vectors(HUB, MODEL, after=0)) == []
            assert reader.vector_state(HUB, MODEL).size == 0
            assert reader.unembedded_count(HUB, MODEL) == 1
        assert store.check() == []

    def test_a_vector_that_is_set_stays_as_it_is(self, store: Store) -> None:
        """A passage never changes, so its vector does not; a cache relies on that."""
        with store.write() as writer:
            put(writer, make_memory(1), [[b"first"]])
            (row,) = writer.vectors(HUB, MODEL, after=0)
            writer.set_vectors(HUB, MODEL, [VectorRow(row.passage_id, 0, b"second")])
        with store.read() as reader:
            assert list(reader.vectors(HUB, MODEL, after=0)) == [row]
            assert reader.vector_state(HUB, MODEL).size == 1

    def test_the_state_tells_every_difference(self, store: Store) -> None:
        """Two moments with the same state have the same vectors."""
        known: dict[object, list[VectorRow]] = {}

        def look() -> None:
            with store.read() as reader:
                rows = list(reader.vectors(HUB, MODEL, after=0))
                state = reader.vector_state(HUB, MODEL)
            assert state.size == len(rows)
            assert known.setdefault(state, rows) == rows
            if rows:
                assert state.newest >= rows[-1].passage_id

        look()
        for number in range(1, 4):
            with store.write() as writer:
                put(writer, make_memory(number, "a\nb"), [[b"x%d" % number]])
            look()
        with store.write() as writer:
            missing = writer.unembedded(HUB, MODEL, limit=1)
            rows = [VectorRow(one.passage_id, 0, b"late") for one in missing]
            writer.set_vectors(HUB, MODEL, rows)
        look()
        with store.write() as writer:
            index(writer, make_memory(2), [[b"again"]])
        look()
        with store.write() as writer:
            writer.unindex(HUB, "mem_3")
        look()
        with store.write() as writer:
            writer.purge(HUB, "mem_1")
        look()
        with store.write() as writer:
            put(writer, make_memory(4), [[b"new"]])
        look()
        with store.write() as writer:
            writer.drop_derived()
        look()
        for number in (2, 3, 4):
            with store.write() as writer:
                index(writer, make_memory(number, "c\nd"), [[b"rebuilt%d" % number], [b"and"]])
            look()
        assert len(known) > 10

    def test_the_id_of_a_passage_is_never_used_again(self, store: Store) -> None:
        """Vectors are made outside of any write: an id must still mean the same when they come."""
        with store.write() as writer:
            put(writer, make_memory(1))
            put(writer, make_memory(2))
            old = {one.passage_id for one in writer.passages(HUB, ["mem_1", "mem_2"])}
        with store.write() as writer:
            writer.purge(HUB, "mem_2")
        with store.write() as writer:
            writer.drop_derived()
            index(writer, make_memory(1))
            (new,) = writer.passages(HUB, ["mem_1"])
        assert new.passage_id not in old
