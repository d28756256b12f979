"""Index terms in FTS5's words.

Every term is written with its hub's number in front ('12·tab'), so that posting lists, and the
document counts taken from them, belong to one hub. Terms come analysed from `holdfast.text.terms`
and hold no ASCII punctuation; the `ascii` tokenizer splits them at spaces and nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection

from holdfast.store.values import TermQuery

_MARK = "·"
# Substring search asks for at most this many of a long needle's trigrams; the text itself is
# checked afterwards, so fewer only means a few more texts to look at.
_TRIGRAMS_MAX = 24
# ASCII punctuation would split a trigram in two; it is moved to the private use area.
_PUNCTUATION = {code: 0xE000 + code for code in range(128) if not chr(code).isalnum()}


def prefixed(hub: int, terms: Collection[str]) -> str:
    """The terms as FTS5 indexes them."""
    front = f"{hub}{_MARK}"
    return front + f" {front}".join(terms) if terms else ""


def prefixed_term(hub: int, term: str) -> str:
    return f"{hub}{_MARK}{term}"


def match_expression(hub: int, query: TermQuery) -> str:
    """The MATCH expression of a query; every term is a quoted string, so nothing is syntax."""
    either = [f'"{prefixed_term(hub, term)}"' for term in query.terms]
    either += [f'"{prefixed_term(hub, term)}" *' for term in query.prefixes]
    phrases = [f'"{prefixed(hub, phrase)}"' for phrase in query.phrases]
    must = " AND ".join(phrases)
    if either and phrases:
        # A phrase is required; the loose terms only add to the score.
        any_of = " OR ".join(either)
        expression = f"(({must}) AND ({any_of})) OR ({must})"
    else:
        expression = must or " OR ".join(either)
    if query.excluded:
        without = " OR ".join(f'"{prefixed(hub, phrase)}"' for phrase in query.excluded)
        expression = f"({expression}) NOT ({without})"
    return expression


def body_expression(hub: int, terms: Collection[str]) -> str:
    """A MATCH expression for every one of these terms in one passage's own text."""
    every = " AND ".join(f'"{prefixed_term(hub, term)}"' for term in terms)
    return f"body : ({every})" if every else ""


def trigrams(text: str) -> set[str]:
    """Every run of three characters, with punctuation made harmless."""
    safe = text.translate(_PUNCTUATION)
    return {safe[at : at + 3] for at in range(len(safe) - 2)}


def trigram_expression(hub: int, needle: str) -> str:
    """A MATCH expression that every text holding the needle fulfils; empty if it is too short."""
    found = sorted(trigrams(needle))
    step = max(1, len(found) // _TRIGRAMS_MAX)
    return " AND ".join(f'"{prefixed_term(hub, gram)}"' for gram in found[::step])
