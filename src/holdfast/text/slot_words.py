"""Index terms by which statements are found that a new one may repeat or replace. Small and without
patterns: it is asked for everything that is remembered, before text.slots is loaded at all.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.text.terms import query_terms, terms

# A longer text says more than one thing, and one of them would go with the other: it is compared
# with nothing.
STATEMENT_CHARS_MAX = 240
# Words of one row say the same kind of thing, so that one of them is found by another.
_KINDS = (
    "lives living moved based relocated resides settled",
    "works working job joined employed employer left quit resigned promoted",
    "married divorced husband wife separated",
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


def _rows() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(terms(row)) for row in _KINDS)


class Sought(NamedTuple):
    """What to look for: the words of the statement, and the words of its kind."""

    words: tuple[str, ...]
    kind: tuple[str, ...]


def sought(text: str) -> Sought:
    """The terms by which older statements are found that a new one may be about."""
    words = tuple(query_terms(text))
    own = set(words)
    kind: dict[str, None] = {}
    for row in _rows():
        if not row.isdisjoint(own):
            kind.update(dict.fromkeys(sorted(row)))
    return Sought(words, tuple(kind))
