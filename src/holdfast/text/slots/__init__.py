"""Slots: how a new statement relates to an older one about the same thing (`compare`).

Here are the index terms to find the statements that a new one may repeat or replace: small and
without patterns, as they are asked for all that is remembered, before the rest of the package is
loaded.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from holdfast.text.analysis.terms import query_terms, terms
from holdfast.text.tables import read_table

# A longer text makes several statements, so it is not compared with others.
STATEMENT_CHARS_MAX = 240


@cache
def _synonym_rows() -> tuple[frozenset[str], ...]:
    """Index terms of words that express the same kind of fact, so that one is found by another."""
    rows = read_table("slots/synonyms.txt", joiner=" ")
    return tuple(frozenset(terms(words)) for (words,) in rows)


class SearchTerms(NamedTuple):
    """What to search for: the words of the statement, and related words."""

    words: tuple[str, ...]
    kind: tuple[str, ...]


def search_terms_of(text: str) -> SearchTerms:
    """The terms to find older statements about the same thing."""
    words = tuple(query_terms(text))
    own = set(words)
    kind: dict[str, None] = {}
    for row in _synonym_rows():
        if not row.isdisjoint(own):
            kind.update(dict.fromkeys(sorted(row)))
    return SearchTerms(words, tuple(kind))
