"""Index terms to find the statements that a new one may repeat or replace. Small and without
patterns: it is used for everything that is remembered, before the rest of the package is loaded.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.text.terms import query_terms, terms

# A longer text makes several statements, so it is not compared with others.
STATEMENT_CHARS_MAX = 240
# Words of one row express the same kind of fact, so that one is found by another.
_SYNONYMS = (
    "lives living moved based relocated resides settled",
    "works working job joined employed employer left quit resigned promoted",
    "married divorced husband wife separated single engaged widowed",
    "name called",
    "vegan vegetarian pescatarian pescetarian omnivore",
    "uses using switched migrated replaced upgraded downgraded updated runs requires prefers",
    "prefers preferred",
    "deployed hosted runs running deploys",
    "deadline due launch release scheduled",
    "port listens runs",
    "likes loves enjoys hates dislikes",
    "old turned age",
    "enabled disabled open closed active inactive",
    "starts begins moved",
)


def _synonym_rows() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(terms(row)) for row in _SYNONYMS)


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
