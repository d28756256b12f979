"""Slots: how a new statement relates to an older one about the same thing (`compare`).

Here are the index terms to find the statements that a new one may repeat or replace: small and
without patterns, as they are asked for all that is remembered, before the rest of the package is
loaded.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from holdfast.text.analysis.terms import query_terms, terms

# A longer text makes several statements, so it is not compared with others.
STATEMENT_CHARS_MAX = 240
# Words of one row express the same kind of fact, so that one is found by another.
_SYNONYMS = (
    "lives living moved based relocated resides settled wohne lebe gezogen umgezogen habite vis"
    " réside déménagé déménager vivo resido mudé mudado mudar abito risiedo trasferito trasferita"
    " moro mudei woon verhuisd 住在 搬到 搬去 搬来 住ん 引っ",
    "works working job joined employed employer left quit resigned promoted arbeite travaille"
    " trabajo lavoro trabalho werk 工作 上班 働い 勤め",
    "married divorced husband wife separated single engaged widowed",
    "name called heiße heisse nom appelle llamo nombre chiamo nome chamo heet naam 我叫 名字 "
    "名前 申し"
    " 呼ん",
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


@cache
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
