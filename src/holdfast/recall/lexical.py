"""Evidence from words: BM25 over the terms of passages, with the statistics of one hub; and the
share of a question's words that a memory covers.

The store finds the candidates; scores are computed here, so that every store ranks alike and no
hub's word frequencies affect the ranking of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from holdfast.domain.query import Filter
from holdfast.recall.evidence import Evidence
from holdfast.recall.expand import NO_ALTERNATIVES, Alternative, Alternatives
from holdfast.recall.weights import (
    BM25_B,
    BM25_K1,
    COMMON_FROM_PASSAGES,
    COMMON_SHARE,
    CUT_PASSAGES_LEAST,
    LEXICAL_CANDIDATES,
)
from holdfast.store.values import Candidate, Lexicon, TermQuery
from holdfast.text.analysis.terms import is_unspaced, terms

if TYPE_CHECKING:
    from holdfast.recall.expand import Understood
    from holdfast.recall.gather import SearchRequest
    from holdfast.store.base import Reader


# A passage and its BM25 score.
WordHit = tuple[Candidate, float]
# Takes half the time of the attribute.
_BY_PASSAGE = itemgetter(Candidate._fields.index("passage_id"))


def terms_asked(query: TermQuery) -> tuple[str, ...]:
    """Returns every distinct term of a query, phrases included."""
    return tuple(dict.fromkeys([*query.terms, *(t for phrase in query.phrases for t in phrase)]))


def gather(
    reader: Reader,
    hub_id: str,
    query: TermQuery,
    lexicon: Lexicon,
    wanted: Filter,
    *,
    alternatives: Alternatives = NO_ALTERNATIVES,
    limit: int = LEXICAL_CANDIDATES,
) -> list[WordHit]:
    """Returns the passages that match the terms or their alternatives, best first."""
    asked = terms_asked(query)
    prefixes = tuple(t for t in query.terms if len(t) == 1 and is_unspaced(t))
    terms = tuple(t for t in _worth_asking(query.terms, lexicon) if t not in prefixes)
    # If several terms replace one, searching for the rarest finds all passages that have them all.
    others = (min(a.terms, key=lexicon.frequency.__getitem__) for a in _flatten(alternatives))
    terms = tuple(dict.fromkeys([*terms, *_worth_asking(list(others), lexicon)]))
    narrowed = query._replace(terms=terms, prefixes=prefixes)
    found = reader.search_terms(hub_id, narrowed, wanted, limit=limit)
    found.sort(key=_BY_PASSAGE)
    scores = bm25(found, asked, lexicon, prefixes, alternatives)
    # Ties are ordered by passage id.
    best_first = sorted(range(len(found)), key=scores.__getitem__, reverse=True)
    return [(found[at], scores[at]) for at in best_first]


def _flatten(alternatives: Alternatives) -> list[Alternative]:
    return [one for several in alternatives.values() for one in several]


def _worth_asking(terms: Sequence[str], lexicon: Lexicon) -> list[str]:
    """Returns the terms to search for: those in the hub, without very common ones if any rare
    ones are left."""
    there = [term for term in terms if lexicon.frequency[term]]
    if lexicon.passages < COMMON_FROM_PASSAGES:
        return there
    rare = [t for t in there if lexicon.frequency[t] <= COMMON_SHARE * lexicon.passages]
    return rare or there


def bm25(
    candidates: Sequence[Candidate],
    terms: Sequence[str],
    lexicon: Lexicon,
    prefixes: Sequence[str] = (),
    alternatives: Alternatives = NO_ALTERNATIVES,
) -> list[float]:
    """Returns the BM25 score of each candidate. A term that a candidate does not have is scored by
    the best of its alternatives."""
    passages = max(lexicon.passages, 1)
    average = max(lexicon.terms / passages, 1.0)
    weights = [
        (f" {term} ", f" {term} {term} ", lexicon.rarity(term), alternatives.get(term, ()))
        for term in terms
        if lexicon.frequency[term] or term in alternatives
    ]
    out = []
    for candidate in candidates:
        head = candidate.head
        text = f" {candidate.body} {head} " if head else f" {candidate.body} "
        # Counting in the text takes a third of the time of splitting it into words.
        length = text.count(" ") - 1
        damping = BM25_K1 * (1 - BM25_B + BM25_B * length / average)
        score = 0.0
        for word, twice, weight, others in weights:
            if word in text:
                count = _count(text, word) if twice in text else text.count(word)
                score += weight * count * (BM25_K1 + 1) / (count + damping)
            elif others:
                score += _alternative_score(others, candidate, text, damping, lexicon)
        for front in prefixes:
            score += f" {front}" in text
        out.append(score)
    return out


def _count(text: str, word: str) -> int:
    """Returns how often a text has a word; both have a space at either end."""
    # With doubled spaces, `count` finds a word twice that is repeated: matches may not overlap.
    return text.replace(" ", "  ").count(word)


def _alternative_score(
    alternatives: Sequence[Alternative],
    candidate: Candidate,
    text: str,
    damping: float,
    lexicon: Lexicon,
) -> float:
    """Returns the best score of the alternatives for a term that the candidate does not have."""
    best = 0.0
    for one in alternatives:
        if len(one.terms) == 1:
            word = f" {one.terms[0]} "
            count = _count(text, word) if word in text else 0
        elif one.apart:
            count = int(_holds(text, one.terms))
        else:
            run = f" {' '.join(one.terms)} "
            count = f" {candidate.body} ".count(run) + f" {candidate.head} ".count(run)
        if count:
            rarities = [lexicon.rarity(term) for term in one.terms]
            # Words that need not be adjacent count as much as separate words of the question.
            worth = sum(rarities) if one.apart else max(rarities)
            weight = one.quality * one.share * worth
            best = max(best, weight * count * (BM25_K1 + 1) / (count + damping))
    return best


class Coverage:
    """A callable that returns the share of the question's words that a memory has, weighted by
    rarity.

    Words that the hub has never seen count too: that they are missing is the strongest sign.
    Speakers' names and dates do not count: ranking takes speaker and time into account.
    """

    def __init__(self, asked: SearchRequest, understood: Understood) -> None:
        window = asked.analysis.window
        query, lexicon, self._others, *_ = understood
        self._speakers = asked.voice.names
        said = {*self._speakers, *terms(window.words if window else "")}
        wanted = [term for term in query.terms if term not in said] or list(query.terms)
        # In a hub of three notes every word is common, so rarity assumes a minimum size.
        lexicon = lexicon._replace(passages=max(lexicon.passages, CUT_PASSAGES_LEAST))
        weight = {term: lexicon.rarity(term) for term in wanted}
        for term in wanted:
            if not lexicon.frequency[term] and term in self._others:
                # The hub has it under another name.
                names = [other for one in self._others[term] for other in one.terms]
                weight[term] = max(lexicon.rarity(name) for name in names)
        self._asks_advice = asked.analysis.asks_advice
        self._terms = frozenset(query.terms)
        self._whole = sum(weight.values()) or 1.0
        # As they appear in a passage: between spaces. A single character of a script without
        # spaces is matched as the first of a bigram.
        self._written = [
            (
                f" {term}" if len(term) == 1 and is_unspaced(term) else f" {term} ",
                weight[term],
                self._others.get(term, ()),
            )
            for term in wanted
        ]
        self._shares: dict[int, float] = {}

    def __call__(self, item: Evidence) -> float:
        text = _text(item)
        found = 0.0
        for word, worth, others in self._written:
            if word in text:
                found += worth
            elif others:
                found += worth * _best_quality(text, others)
        return found / self._whole

    def held(self, item: Evidence) -> int:
        """Returns a bit mask of the question's words that the memory has."""
        text = _text(item)
        out, bit = 0, 1
        for word, _, others in self._written:
            if word in text or (others and _best_quality(text, others)):
                out |= bit
            bit <<= 1
        return out

    def share(self, held: int) -> float:
        """Returns the share of the question's words for a bit mask made by `held`."""
        share = self._shares.get(held)
        if share is None:
            worth = (worth for at, (_, worth, _) in enumerate(self._written) if held >> at & 1)
            share = self._shares[held] = sum(worth) / self._whole
        return share

    def of_first(self, ordered: Sequence[Evidence]) -> float:
        """Returns the coverage of the first hit. Its speaker and its time count as one word each:
        the speaker if the question names one, the time if any hit is from the period asked for.

        What advice depends on was said in other words: for such a request the best coverage of
        these hits counts."""
        first, words = ordered[0], len(self._written)
        held = (max(map(self, ordered)) if self._asks_advice else self(first)) * words
        whole = words
        if self._speakers:
            held, whole = held + ("voice" in first.parts), whole + 1
        if any("window" in item.parts for item in ordered):
            held, whole = held + ("window" in first.parts), whole + 1
        return held / max(1, whole)

    def absent_names(self, names: Sequence[str], ordered: Sequence[Evidence]) -> float:
        """Returns the share of the names that occur in none of these memories and are not the name
        of a speaker in the question."""
        if not names:
            return 0.0
        texts = [_text(item) for item in ordered]
        return sum(not self._is_held(name, texts) for name in names) / len(names)

    def _is_held(self, name: str, texts: Sequence[str]) -> bool:
        asked = [term for term in terms(name) if term in self._terms]
        # A stop word is not a term of the question, so it counts as present.
        return not asked or any(
            term in self._speakers
            or f" {term} " in text
            or _best_quality(text, self._others.get(term, ())) > 0
            for term in asked
            for text in texts
        )


def _text(item: Evidence) -> str:
    return f" {item.candidate.body} {item.candidate.head} "


def _best_quality(text: str, others: Iterable[Alternative]) -> float:
    return max((one.quality for one in others if _holds(text, one.terms)), default=0.0)


def _holds(text: str, terms: Iterable[str]) -> bool:
    return all(f" {term} " in text for term in terms)
