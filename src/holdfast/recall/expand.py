"""Other words for what a question asks, as far as the hub uses them.

From a table (prod, production), from definitions in the hub ('PostgreSQL (pg)'), from spellings of
numbers, from inflections and compounds of six languages, and from the hub's own vocabulary where a
word of the question is unknown to it and looks like a mistype. An alternative never adds to the
word that it stands for: a passage counts the better of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.query import EVERYTHING
from holdfast.recall.owners import owners_by_id
from holdfast.recall.weights import (
    COMPOUND_QUALITY,
    FORM_QUALITY,
    TYPO_QUALITY,
    VARIANT_QUALITY,
)
from holdfast.store.values import Lexicon, TermQuery
from holdfast.text.edit_distance import edits
from holdfast.text.languages import LANGUAGES, function_words, language_of, stem
from holdfast.text.terms import phrase_terms, words_of
from holdfast.text.variants import (
    DEFINES,
    Variant,
    definitions,
    find_variants,
    number_variants,
    spelled_out,
)

if TYPE_CHECKING:
    from holdfast.store.base import Reader

# Looking into the vocabulary costs some milliseconds in a large hub: a long prompt has many unknown
# words, and none of them matters much.
_VOCABULARY_TERMS_MAX = 12
_LOOKED_UP_MAX = 4
_VOCABULARY_MAX = 2_000
# Shorter words have too many neighbours.
_TYPO_CHARS_LEAST = 5
_TWO_TYPOS_CHARS_LEAST = 9
_FORM_CHARS_LEAST = 4
_COMPOUND_CHARS_LEAST = 5
_ALTERNATIVES_MAX = 4
_DEFINING_PASSAGES_MAX = 8


class Alternative(NamedTuple):
    """Terms that stand for a term of the question. `quality` is what they count, beside the term
    itself; where they stand for several terms, each gets its share."""

    terms: Variant
    quality: float
    share: float = 1.0


Alternatives = Mapping[str, Sequence[Alternative]]
NO_ALTERNATIVES: Alternatives = {}


class Understood(NamedTuple):
    """The question's terms without function words of its language, what else the hub calls them,
    how often the hub has each; and its text, with abbreviations that the hub does not use spelled
    out as it does: a model may not know them."""

    query: TermQuery
    lexicon: Lexicon
    alternatives: Alternatives
    text: str
    # Not in English, as far as its function words and its script tell.
    foreign: bool = False


def understand(reader: Reader, hub_id: str, text: str, query: TermQuery) -> Understood:
    """Reads a question's terms against the hub."""
    words = words_of(text)
    language = language_of(words)
    if language:
        query = _without_function_words(query, language)
    others = _Others(query)
    for own, variants in (find_variants(phrase_terms(text)) | number_variants(text)).items():
        others.add(own, variants, VARIANT_QUALITY)
    asked = dict.fromkeys([*query.terms, *(t for phrase in query.phrases for t in phrase)])
    lexicon = reader.lexicon(hub_id, [*(asked | dict.fromkeys(others.terms())), DEFINES])
    if lexicon.frequency[DEFINES]:
        lexicon = _add_definitions(reader, hub_id, lexicon, query, others)
    if len(query.terms) <= _VOCABULARY_TERMS_MAX:
        lexicon = _add_from_vocabulary(reader, hub_id, lexicon, words, query, language, others)
    known = others.known(lexicon)
    instead = {
        term: several[0].terms for term, several in known.items() if not lexicon.frequency[term]
    }
    foreign = bool(language) or any(not word.isascii() and word.isalpha() for word in words)
    return Understood(query, lexicon, known, spelled_out(text, instead), foreign)


class _Others:
    """Alternatives as they are found."""

    def __init__(self, query: TermQuery) -> None:
        self._asked = set(query.terms)
        self._found: dict[str, dict[Variant, Alternative]] = {}

    def add(self, own: Variant, variants: Iterable[Variant], quality: float) -> None:
        mine = [term for term in own if term in self._asked]
        for term in mine:
            for variant in variants:
                known = self._found.setdefault(term, {})
                known.setdefault(variant, Alternative(variant, quality, 1 / len(mine)))

    def terms(self) -> list[str]:
        return [t for known in self._found.values() for one in known for t in one]

    def has(self, term: str, lexicon: Lexicon) -> bool:
        return any(_is_known(one, lexicon) for one in self._found.get(term, ()))

    def known(self, lexicon: Lexicon) -> dict[str, tuple[Alternative, ...]]:
        out = {}
        for term, variants in self._found.items():
            known = [one for key, one in variants.items() if _is_known(key, lexicon)]
            if known:
                out[term] = tuple(known[:_ALTERNATIVES_MAX])
        return out


def _is_known(variant: Variant, lexicon: Lexicon) -> bool:
    return all(lexicon.frequency.get(term) for term in variant)


def _without_function_words(query: TermQuery, language: str) -> TermQuery:
    common = {term for word in function_words(language) for term in phrase_terms(word)}
    telling = tuple(term for term in query.terms if term not in common)
    return query._replace(terms=telling or query.terms)


def _add_definitions(
    reader: Reader, hub_id: str, lexicon: Lexicon, query: TermQuery, others: _Others
) -> Lexicon:
    """What the hub's own texts say that a term stands for."""
    marks = [DEFINES + term for term in query.terms]
    found = reader.lexicon(hub_id, marks)
    there = tuple(mark for mark in marks if found.frequency[mark])
    if not there:
        return lexicon
    passages = reader.search_terms(
        hub_id, TermQuery(there), EVERYTHING, limit=_DEFINING_PASSAGES_MAX
    )
    memories = owners_by_id(reader, hub_id, list({one.memory_id for one in passages}))
    new: list[str] = []
    for one in passages:
        text = memories[one.memory_id].content[one.start : one.end]
        for short, long in definitions(text):
            others.add(short, [long], VARIANT_QUALITY)
            others.add(long, [short], VARIANT_QUALITY)
            new += [*short, *long]
    more = reader.lexicon(hub_id, [term for term in new if term not in lexicon.frequency])
    return lexicon._replace(frequency={**lexicon.frequency, **more.frequency})


def _add_from_vocabulary(
    reader: Reader,
    hub_id: str,
    lexicon: Lexicon,
    words: Sequence[str],
    query: TermQuery,
    language: str,
    others: _Others,
) -> Lexicon:
    """Forms, compounds and mistypes of words, from the terms that the hub has."""
    frequency = dict(lexicon.frequency)
    looked_up = 0
    asked = set(query.terms)
    for word in dict.fromkeys(words):
        if looked_up == _LOOKED_UP_MAX:
            break
        if len(word) < _FORM_CHARS_LEAST or not word.isalpha() or not word.isascii():
            continue
        (term,) = phrase_terms(word) or ("",)
        # What the hub has is left alone, but for other forms of it in an inflected language.
        if term not in asked or (frequency[term] and not language) or others.has(term, lexicon):
            continue
        looked_up += 1
        near = _forms(reader, hub_id, word, term, language)
        if not near and not frequency[term]:
            near = _mistyped(reader, hub_id, term)
        for other, (quality, passages) in near.items():
            others.add((term,), [(other,)], quality)
            frequency[other] = passages
    return lexicon._replace(frequency=frequency)


_Near = dict[str, tuple[float, int]]


def _forms(reader: Reader, hub_id: str, word: str, term: str, language: str) -> _Near:
    """Terms with the same stem in the language, or in any where it is not known; and, in German
    and Dutch, longer words that begin with it."""
    languages = (language,) if language else LANGUAGES
    stems = {name: stem(word, name) for name in languages}
    prefix = min((*stems.values(), term), key=len)[: max(3, len(word) - 3)]
    found: _Near = {}
    for other, passages in reader.vocabulary(hub_id, prefix, limit=_VOCABULARY_MAX).items():
        if other == term or not other.isalpha() or len(other) < 3:
            continue
        if any(stem(other, name) == one for name, one in stems.items() if len(one) >= 3):
            found[other] = (FORM_QUALITY, passages)
        elif (
            language in ("german", "dutch")
            and len(word) >= _COMPOUND_CHARS_LEAST
            and len(stems[language]) >= _FORM_CHARS_LEAST
            and other.startswith(stems[language])
        ):
            found[other] = (COMPOUND_QUALITY, passages)
    if language in ("german", "dutch") and not found:
        found = _parts(reader, hub_id, word)
    return found


# Letters between the parts of a compound: Arbeit-s-vertrag, Blume-n-topf.
_JOINTS = ("", "s", "n", "es", "en", "e")


def _parts(reader: Reader, hub_id: str, word: str) -> _Near:
    """The longest first part and the longest last part of a compound that the hub knows."""
    cuts = range(4, len(word) - 2)
    fronts = {word[:at].removesuffix(joint): at for at in cuts for joint in _JOINTS[:5]}
    ends = {word[at:]: at for at in cuts if len(word) - at >= 4}
    terms = {part: (phrase_terms(part) or [""])[0] for part in (*fronts, *ends) if len(part) >= 4}
    held = reader.lexicon(hub_id, list(dict.fromkeys(terms.values()))).frequency
    found: _Near = {}
    for parts in (fronts, ends):
        for part in sorted(parts, key=len, reverse=True):
            if passages := held.get(terms.get(part, ""), 0):
                found[terms[part]] = (COMPOUND_QUALITY, passages)
                break
    return found


def _mistyped(reader: Reader, hub_id: str, term: str) -> _Near:
    """The nearest terms by edits; the first letters are held to be right, or swapped."""
    if len(term) < _TYPO_CHARS_LEAST:
        return {}
    most = 2 if len(term) >= _TWO_TYPOS_CHARS_LEAST else 1
    best, found = most + 1, _Near()
    letters = set(term)
    for prefix in (term[:2], term[1] + term[0]):
        for other, passages in reader.vocabulary(hub_id, prefix, limit=_VOCABULARY_MAX).items():
            if abs(len(other) - len(term)) > most or not other.isalpha():
                continue
            # An edit changes two letters at most; this spares nine of ten comparisons.
            if len(letters.symmetric_difference(other)) > 2 * most:
                continue
            distance = edits(term, other, min(best, most))
            if distance < best:
                best, found = distance, {}
            if distance == best <= most:
                found[other] = (TYPO_QUALITY, passages)
        if found:
            break
    return found
