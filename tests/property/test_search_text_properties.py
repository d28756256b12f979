"""Looking for a text finds exactly the contents that hold it, whatever characters it has."""

from __future__ import annotations

import tempfile

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import InvalidInput
from holdfast.api.hub import HubMemory
from holdfast.store.inmemory import InMemoryStore
from holdfast.testing import open_for_tests
from holdfast.text.analysis.terms import is_unspaced, query_terms, terms, trigram_text
from tests.postgres_server import ROLE, database

# Letters that fold, scripts without spaces, signs of every query language, and white space.
_LETTERS = "aAbé ÉßİıſＡ京都กขあいиЙ\u0301 \n\t%_'\"-*:()[]{}\\^$|&<>~`·\ue02e\u200b🙂🏽"
_TEXTS = st.one_of(
    st.text(alphabet=_LETTERS, min_size=1, max_size=25),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=25),
)


@settings(max_examples=60)
@given(st.lists(_TEXTS, min_size=1, max_size=5), st.data())
def test_every_store_finds_what_holds_the_text_and_nothing_else(
    contents: list[str], data: st.DataObject
) -> None:
    with (
        tempfile.TemporaryDirectory() as home,
        open_for_tests(home) as sqlite,
        open_for_tests("nowhere", store=InMemoryStore()) as model,
    ):
        _finds([sqlite.hub(), model.hub()], contents, data)


@settings(max_examples=20)
@given(st.lists(_TEXTS, min_size=1, max_size=5), st.data())
def test_a_database_finds_what_holds_the_text_and_nothing_else(
    contents: list[str], data: st.DataObject
) -> None:
    with (
        tempfile.TemporaryDirectory() as home,
        database(ROLE) as url,
        open_for_tests(home, settings={"store.url": url}) as postgres,
    ):
        _finds([postgres.hub()], contents, data)


def _finds(hubs: list[HubMemory], contents: list[str], data: st.DataObject) -> None:
    """Puts the texts into every hub and asks for parts of them, and for other texts."""
    kept: list[str] = []
    for content in contents:
        try:
            made = [hub.remember(content).memory for hub in hubs]
        except InvalidInput:  # nothing but white space, say
            continue
        if made[0].number > len(kept):
            kept.append(made[0].content)
    if not kept:
        return
    for _ in range(4):
        needle = data.draw(_needles(kept))
        if not trigram_text(needle):
            continue
        for words in (False, True):
            expected = [n for n, held in enumerate(kept, 1) if _holds(held, needle, words=words)]
            for hub in hubs:
                found = hub.search_text(needle, words=words, order="number")
                assert [memory.number for memory in found] == expected, (needle, words)


def _needles(kept: list[str]) -> st.SearchStrategy[str]:
    def part(content: str) -> st.SearchStrategy[str]:
        ends = st.integers(0, len(content))
        return st.tuples(ends, ends).map(lambda pair: content[min(pair) : max(pair)])

    return st.one_of(st.sampled_from(kept).flatmap(part), _TEXTS)


def _holds(content: str, needle: str, *, words: bool) -> bool:
    if trigram_text(needle) in trigram_text(content):
        return True
    asked = query_terms(needle) if words else []
    single = any(len(term) == 1 and is_unspaced(term) for term in asked)
    return bool(asked) and not single and set(asked) <= set(terms(content))
