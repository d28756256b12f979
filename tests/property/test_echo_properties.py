"""What we hand out is never taken in again, and nothing that somebody else says is lost."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from holdfast import HubMemory, tools
from holdfast.engine.context.styles import STYLES
from holdfast.store.inmemory import InMemoryStore
from holdfast.testing import open_for_tests
from holdfast.text.facts.sameness import bare

# Pieces of our own shapes, and what breaks patterns, in words that people use.
PIECES = st.sampled_from(
    (
        *("- [#1] ", "- [#2, 2026-01-14] ", "• #1 [fact] ", '<item number="1" category="fact">'),
        *("</item>", '<memory hub="work">', "</memory>", "## preference", "## Long-Term Memory"),
        *("# Long-term Memory", "## 2026-01-14", "**fact**:", "(3 more not shown)", "…", "..."),
        *("#1 · 2026-01-14 · fact · from sdk\n", "why: ", "> ", "\\", "&lt;", "&amp;amp;", "```"),
        *('Remembered (#1, fact): "', '{"content": "', '"}', "---", "- ", "  ", "\t", "\r\n"),
        *("[System: Session recovered]", "(user, 2026-01-14)", "<note>", "<!-- mem_1 -->", "\x1f"),
    )
)
WORDS = st.sampled_from(
    (
        "tabs",
        "spaces",
        "Lisbon",
        "never",
        "a<b",
        "x > y",
        "R&D",
        "naïve",
        "e\u0301",
        "東京",
        "😀",
        "ﬁ",
    )
)
# A line ends in a word: of one that is nothing but a quotation mark, no word comes back.
LINES = st.tuples(st.lists(st.one_of(WORDS, PIECES), max_size=8), WORDS).map(
    lambda parts: " ".join([*parts[0], parts[1]])
)
CONTENTS = st.one_of(
    LINES,
    st.lists(LINES, min_size=1, max_size=5).map("\n".join),
    # Controls are in the pieces; a memory of one letter and a control is in no index by its words.
    st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=80),
    st.lists(WORDS, min_size=60, max_size=90).map(" ".join),
).filter(lambda text: any(map(str.isalnum, text)))
CATEGORIES = st.sampled_from(("fact", "preference", "garden work", "straße", "a]b"))


@contextmanager
def holding(contents: list[tuple[str, str]]) -> Iterator[HubMemory]:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_for_tests(Path(folder), store=InMemoryStore()) as memory,
    ):
        hub = memory.create_hub("work")
        for content, category in contents:
            hub.remember(content, category=category)
        yield hub


def storable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


MEMORIES = st.lists(
    st.tuples(CONTENTS.filter(storable), CATEGORIES),
    min_size=1,
    max_size=6,
    unique_by=lambda m: bare(m[0]).text,
)


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


@given(MEMORIES, st.sampled_from(("plain", "xml", "max")), st.integers(200, 2_000), st.booleans())
@settings(max_examples=100)
def test_a_block_with_numbers_is_never_new(
    contents: list[tuple[str, str]], style: str, budget: int, asked: bool
) -> None:
    with holding(contents) as hub:
        block = hub.context("tabs in Lisbon" if asked else None, style=style, budget=budget)
        for text in (block, quoted(block), block.replace("\n", "\r\n")):
            heard = hub.heard(text)
            assert not heard.text, (heard.text, text)


@given(MEMORIES, st.sampled_from(("maven", "minion")), st.integers(200, 2_000), st.booleans())
@settings(max_examples=100)
def test_a_block_without_numbers_is_never_new(
    contents: list[tuple[str, str]], style: str, budget: int, in_file: bool
) -> None:
    # What has no number is found by its words: it needs some, or to be just as it was.
    assume(all(re.search("[a-z]{4}", content[:100]) for content, _ in contents))
    with holding(contents) as hub:
        if in_file:
            hub.sync()
        block = hub.context(style=style, budget=budget)
        for text in (block, quoted(block)):
            heard = hub.heard(text)
            assert not heard.text, (heard.text, text)


@given(MEMORIES)
@settings(max_examples=40)
def test_a_reply_is_never_new(contents: list[tuple[str, str]]) -> None:
    with holding(contents) as hub:
        for dialect, name, args in (
            ("holdfast", "recall", {"query": "tabs in Lisbon"}),
            ("holdfast", "memory_get", {"number": 1}),
            ("holdfast", "memory_list", {}),
            ("max", "recall", {}),
            ("memax", "memax_recall", {"query": "tabs in Lisbon"}),
            ("pynchy", "recall_memories", {"query": "tabs in Lisbon"}),
        ):
            reply = tools(dialect, hub, all_tools=True).call(name, args).text
            heard = hub.heard(reply)
            assert not heard.text, (dialect, name, heard.text, reply)


@pytest.fixture(scope="module")
def cats_and_dogs(homes: str) -> Iterator[HubMemory]:
    with holding([("The cat sleeps on the sofa", "fact"), ("Dogs bark", "preference")]) as hub:
        yield hub


@given(text=st.lists(st.one_of(WORDS, PIECES), max_size=30).map(" ".join))
@settings(max_examples=150)
def test_what_is_not_in_the_store_comes_back_to_the_letter(
    cats_and_dogs: HubMemory, text: str
) -> None:
    assert cats_and_dogs.heard(text).text == text


@given(
    before=st.text(max_size=60).filter(storable),
    after=st.text(max_size=60).filter(storable),
    style=st.sampled_from(tuple(STYLES)),
)
@settings(max_examples=100)
def test_words_around_a_block_stay_as_they_are(
    cats_and_dogs: HubMemory, before: str, after: str, style: str
) -> None:
    block = cats_and_dogs.context(style=style)
    heard = cats_and_dogs.heard(f"a {before}\n\n{block}\n\n{after} z")
    assert heard.text.split() == [*f"a {before}".split(), *f"{after} z".split()]
