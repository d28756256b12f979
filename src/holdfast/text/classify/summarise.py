"""A summary made of a text's own sentences: those that share most words with the others.

Pure and deterministic: the same text gives the same summary, and nothing is put in that was not
said. This module knows sentences and words; it calls no model and knows no speakers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from holdfast.text.analysis.terms import query_terms
from holdfast.text.sentences import split_sentences

# About 200 words: what a person reads at a glance, and one passage for search.
SUMMARY_CHARS_MAX = 1_200
# A longer sentence is a paragraph without stops; its beginning has its topic.
_SENTENCE_CHARS_MAX = 300
# Of a longer text the beginning and the end are read; decisions are in one of them.
_SENTENCES_MAX = 2_000
# The beginning of a text has its topic, and the end its outcome.
_OPENING, _OPENING_WEIGHT = 0.1, 1.3
_CLOSING, _CLOSING_WEIGHT = 0.9, 1.15
# 'Yes, do that.' depends on what was said before it; a sentence of many words says too much at
# once.
_FEW_TERMS, _FEW_WEIGHT = 4, 0.5
_MANY_TERMS, _MANY_WEIGHT = 40, 0.8
# A question asks for what another sentence answers.
_QUESTION_WEIGHT = 0.8
# A sentence that has less than this part of the best one's merit is chatter, also where there would
# be room for it.
_CHATTER = 0.15
# How much a sentence loses that says what a chosen one has said.
_REPEATED = 0.95

_FENCE = re.compile(
    r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^ {0,3}\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
# A single letter before the stop is an initial or an abbreviation: J. Doe, e.g. this.
# Of many stops in a row, the first that is none of those is where to look, and nowhere else.
_END = re.compile(
    r"((?:(?<![.!?…])(?<!\b[^\W\d_])|(?<=\b[^\W\d_][.!?…]))"
    r"[.!?…]++[\"')\]”’]*+(?=\s|\Z)|[。！？।۔]+[」』”]*)"
)
_MARKS = re.compile(r"^\s*(?:[-*+•>]\s+|#{1,6}\s+|\d+[.)]\s+)+")


def summarise(text: str, *, chars_max: int = SUMMARY_CHARS_MAX) -> str:
    """The telling sentences of a text in their order; never empty if there are words."""
    found = sentences(text)
    chosen = choose(found, chars_max=chars_max)
    return " ".join(found[place] for place in chosen)[:chars_max]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; code is left out where there is anything else."""
    prose = _FENCE.sub("\n", text)
    return _split(prose) or _split(text)


def _split(text: str) -> list[str]:
    out = []
    for line in text.splitlines():
        # The marks go first: the stop of `1.` ends no sentence.
        for said in split_sentences(_MARKS.sub("", line), _END):
            sentence = " ".join(said.split())
            if any(map(str.isalnum, sentence)):
                out.append(_shortened(sentence))
    # A text of nothing but signs is its own summary.
    return out or ([_shortened(bare)] if (bare := " ".join(text.split())) else [])


def _shortened(sentence: str) -> str:
    if len(sentence) <= _SENTENCE_CHARS_MAX:
        return sentence
    cut = sentence[: _SENTENCE_CHARS_MAX - 1]
    space = cut.rfind(" ", _SENTENCE_CHARS_MAX // 2)
    return (cut[:space] if space > 0 else cut) + "…"


def choose(found: Sequence[str], *, chars_max: int = SUMMARY_CHARS_MAX, each: int = 1) -> list[int]:
    """The places of the sentences to keep in a summary, in order: as many as fit, and one at least.

    `each` is what a sentence costs beyond its own characters, such as a space.
    """
    if sum(map(len, found)) + each * len(found) <= chars_max:
        return list(range(len(found)))
    places = list(range(len(found)))
    if len(places) > _SENTENCES_MAX:
        places = places[: _SENTENCES_MAX // 2] + places[-_SENTENCES_MAX // 2 :]
    words = {place: frozenset(query_terms(found[place])) for place in places}
    merit = _merits(found, places, words)
    least = _CHATTER * max(merit.values())
    merit = {place: value for place, value in merit.items() if value >= least}
    room = chars_max
    chosen: list[int] = []
    while merit:
        # Of equals the first: the order decides, not chance.
        best = max(merit, key=lambda place: (merit[place], -place))
        del merit[best]
        if len(found[best]) + each > room:
            continue
        room -= len(found[best]) + each
        chosen.append(best)
        for place in merit:
            merit[place] *= 1 - _REPEATED * _overlap(words[place], words[best])
    if not chosen and places:
        chosen = [places[0]]
    return sorted(chosen)


def _merits(
    found: Sequence[str], places: Sequence[int], words: dict[int, frozenset[str]]
) -> dict[int, float]:
    """The centrality of each sentence: the words that it shares with others, the rarer the
    better."""
    holders = Counter(term for place in places for term in words[place])
    count = len(places)
    weight = {
        term: math.log(1 + many) * math.log((count + 1) / many) if many > 1 else 0.1
        for term, many in holders.items()
    }
    out = {}
    for rank, place in enumerate(places):
        terms = words[place]
        # Summed in a fixed order, so that the last digit does not depend on the hash seed.
        total = math.fsum(sorted(weight[term] for term in terms))
        merit = (total + 0.01) / math.sqrt(len(terms) or 1)
        out[place] = merit * _prior(found[place], len(terms), rank / count)
    return out


def _prior(sentence: str, terms: int, position: float) -> float:
    weight = 1.0
    if position < _OPENING:
        weight *= _OPENING_WEIGHT
    elif position >= _CLOSING:
        weight *= _CLOSING_WEIGHT
    if terms < _FEW_TERMS:
        weight *= _FEW_WEIGHT
    elif terms > _MANY_TERMS:
        weight *= _MANY_WEIGHT
    return weight * (_QUESTION_WEIGHT if sentence.endswith(("?", "？")) else 1.0)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one & other)
    return both / min(len(one), len(other)) if both else 0.0
