"""How much of a question a memory holds, by its words: those that are asked for, rare ones counting
for more, and the names in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from holdfast.recall import lexical, weights
from holdfast.recall.evidence import Evidence
from holdfast.text.analysis.terms import is_unspaced, terms

if TYPE_CHECKING:
    from holdfast.recall.expand import Alternative, Understood
    from holdfast.recall.gather import Asked


class Coverage:
    """Called with a memory, tells the share of the question's words that it holds.

    A word the hub has never seen counts too: that it is missing says the most. Speakers' names and
    dates do not: ranking has looked at whose words these are, and of when.
    """

    def __init__(self, asked: Asked, understood: Understood) -> None:
        window = asked.analysis.window
        query, lexicon, self._others, *_ = understood
        self._speakers = asked.voice.names
        said = {*self._speakers, *terms(window.words if window else "")}
        wanted = [term for term in query.terms if term not in said] or list(query.terms)
        # In a hub of three notes every word is common; rarity needs a little more to go by.
        lexicon = lexicon._replace(passages=max(lexicon.passages, weights.CUT_PASSAGES_LEAST))
        weight = {term: lexical.rarity(lexicon, term) for term in wanted}
        for term in wanted:
            if not lexicon.frequency[term] and term in self._others:
                # It is known, under another name.
                names = [other for one in self._others[term] for other in one.terms]
                weight[term] = max(lexical.rarity(lexicon, name) for name in names)
        self._terms = frozenset(query.terms)
        self._whole = sum(weight.values()) or 1.0
        # As they are written in the text of a passage: between spaces. A single character of a
        # script without spaces begins some pair.
        self._written = [
            (
                f" {term}" if len(term) == 1 and is_unspaced(term) else f" {term} ",
                weight[term],
                self._others.get(term, ()),
            )
            for term in wanted
        ]

    def __call__(self, item: Evidence) -> float:
        text = _text(item)
        found = 0.0
        for word, worth, others in self._written:
            if word in text:
                found += worth
            elif others:
                found += worth * _best_quality(text, others)
        return found / self._whole

    def of_first(self, ordered: Sequence[Evidence]) -> float:
        """The coverage of the best memory, in which its speaker and its time count as a word each:
        the speaker where the question names one, the time where it asks for one that a hit has."""
        first, words = ordered[0], len(self._written)
        held, whole = self(first) * words, words
        if self._speakers:
            held, whole = held + ("voice" in first.parts), whole + 1
        if any("window" in item.parts for item in ordered):
            held, whole = held + ("window" in first.parts), whole + 1
        return held / max(1, whole)

    def absent_names(self, names: Sequence[str], ordered: Sequence[Evidence]) -> float:
        """The share of the names that none of these memories holds, and no speaker of the hub
        has."""
        if not names:
            return 0.0
        texts = [_text(item) for item in ordered]
        return sum(not self._is_held(name, texts) for name in names) / len(names)

    def _is_held(self, name: str, texts: Sequence[str]) -> bool:
        asked = [term for term in terms(name) if term in self._terms]
        # A function word is no term of the question: then nothing is known of it.
        return not asked or any(
            term in self._speakers
            or f" {term} " in text
            or _best_quality(text, self._others.get(term, ())) > 0
            for term in asked
            for text in texts
        )


def _text(item: Evidence) -> str:
    return f" {item.best.candidate.body} {item.best.candidate.head} "


def _best_quality(text: str, others: Iterable[Alternative]) -> float:
    return max((one.quality for one in others if _holds(text, one.terms)), default=0.0)


def _holds(text: str, terms: Iterable[str]) -> bool:
    return all(f" {term} " in text for term in terms)
