"""Query expansion: alternatives for the terms of a question that occur in the hub, and the names in
a question that the hub does not know.

Alternatives come from a table (prod, production), from definitions in the hub ('PostgreSQL (pg)'),
from spellings of numbers and words (colour, color; time zone, timezone), from inflections and
compounds of six languages, and, if a word of the question looks misspelled and is not in the hub,
from the hub's vocabulary. An alternative never adds to the score of the word that it replaces: a
passage counts the better of the two. A question about a person that no memory mentions gets no
answer, however similar the statements of other people are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from holdfast.domain.query import EVERYTHING
from holdfast.recall.evidence import owners_by_id
from holdfast.recall.weights import (
    COMPOUND_QUALITY,
    FORM_QUALITY,
    TYPO_QUALITY,
    VARIANT_QUALITY,
)
from holdfast.store.values import Lexicon, TermQuery
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import phrase_terms, terms, words_of
from holdfast.text.analysis.variants import (
    DEFINES,
    Variant,
    definitions,
    edits,
    find_variants,
    joined_variants,
    load_variants,
    number_variants,
    spelled_out,
    spelling_variants,
    split_words,
)
from holdfast.text.analysis.word_forms import LANGUAGES, WORDS, other_number, stem, stems
from holdfast.text.tables import lazy

if TYPE_CHECKING:
    from holdfast.store.base import Reader


# A vocabulary lookup costs some milliseconds in a large hub. Longer queries are not expanded from
# it: a long prompt has many unknown words, and no single one matters much.
_VOCABULARY_TERMS_MAX = 12
_LOOKED_UP_MAX = 4
_VOCABULARY_MAX = 2_000
# Words that may be mistyped are looked for among the terms with their first two letters.
_FRONT = 2
# Shorter words have too many similar words.
_TYPO_CHARS_LEAST = 5
_TWO_TYPOS_CHARS_LEAST = 9
_FORM_CHARS_LEAST = 4
_TWO_WORDS_CHARS_LEAST = 5
_COMPOUND_CHARS_LEAST = 5
_COMPOUND_FRONT_LEAST = 3
# How many memories are searched for compounds that end with a word.
_COMPOUND_MEMORIES_MAX = 50
_ALTERNATIVES_MAX = 4
_DEFINING_PASSAGES_MAX = 8


class Alternative(NamedTuple):
    """Terms that mean the same as a term of the question. `quality` is their weight relative to
    the term itself. If they replace several terms of the question, `share` is the part of each.
    Several terms must be adjacent, unless `apart` is set: 'Schlüssel zum Keller' matches
    'Kellerschlüssel'."""

    terms: Variant
    quality: float
    share: float = 1.0
    apart: bool = False


Alternatives = Mapping[str, Sequence[Alternative]]
NO_ALTERNATIVES: Alternatives = {}


class Understood(NamedTuple):
    """The question's terms without stop words of its language, their alternatives in the hub, the
    document frequency of each, and the text of the question. In the text, abbreviations that the
    hub does not use are spelled out as in the hub: an embedding model may not know them."""

    query: TermQuery
    lexicon: Lexicon
    alternatives: Alternatives
    text: str
    # Not in English, judging by its function words and its script.
    foreign: bool = False


def understand(reader: Reader, hub_id: str, text: str, query: TermQuery) -> Understood:
    """Looks up a question's terms in the hub and expands them."""
    words = words_of(text)
    language = language_of(words)
    if language:
        query = _without_function_words(query, language)
    others = _AlternativesFound(query)
    for found in (find_variants(phrase_terms(text)), number_variants(text)):
        for own, variants in found.items():
            others.add(own, variants, VARIANT_QUALITY)
    if len(query.terms) <= _VOCABULARY_TERMS_MAX:
        for found in (spelling_variants(words), joined_variants(words)):
            for own, variants in found.items():
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


def load_tables() -> None:
    """Builds the tables and patterns that are otherwise built lazily. The fork server calls this
    once, so that no forked process has to."""
    words = words_of("colours in 2017")
    load_variants()
    spelling_variants(words)
    language_of(words)


class _AlternativesFound:
    """Collects the alternatives for each term of a question."""

    def __init__(self, query: TermQuery) -> None:
        self._asked = set(query.terms)
        self._found: dict[str, dict[Variant, Alternative]] = {}

    def add(
        self, own: Variant, variants: Iterable[Variant], quality: float, *, apart: bool = False
    ) -> None:
        mine = [term for term in own if term in self._asked]
        for term in mine:
            for variant in variants:
                known = self._found.setdefault(term, {})
                known.setdefault(variant, Alternative(variant, quality, 1 / len(mine), apart))

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


# The index stems every Latin word as English, so that one analysis fits all text. A question in
# another language is brought to it: its function words are left out, and words of the hub with the
# same stem in that language count as the word itself.

# So many function words tell a language.
_FUNCTION_WORDS_LEAST = 2


def language_of(words: Sequence[str]) -> str:
    """Returns the language of a question by its function words and everyday verbs; empty for
    English, and in doubt."""
    said = set(words)
    english = len(said & WORDS["english only"])
    counts = [(len(said & _telling_words(name)), name) for name in LANGUAGES]
    best, language = max(counts)
    # Portuguese and Spanish, German and Dutch share words: what only one has decides a tie.
    tied = [name for count, name in counts if count == best]
    if len(tied) > 1:
        language = max(tied, key=lambda name: len(said & _own_words(name)))
    telling = (said & _telling_words(language)) - WORDS["english"]
    enough = best >= _FUNCTION_WORDS_LEAST or (
        len(words) >= _FUNCTION_WORDS_LEAST and not said.isdisjoint(_own_words(language))
    )
    return language if enough and telling and best > english else ""


@cache
def _telling_words(language: str) -> frozenset[str]:
    return WORDS[language] | WORDS[f"{language} verbs"]


@cache
def _own_words(language: str) -> frozenset[str]:
    others = (_telling_words(name) for name in LANGUAGES if name != language)
    return _telling_words(language).difference(*others)


def _without_function_words(query: TermQuery, language: str) -> TermQuery:
    common = {term for word in WORDS[language] for term in phrase_terms(word)}
    telling = tuple(term for term in query.terms if term not in common)
    return query._replace(terms=telling or query.terms)


def _add_definitions(
    reader: Reader, hub_id: str, lexicon: Lexicon, query: TermQuery, others: _AlternativesFound
) -> Lexicon:
    """Adds what a term is short for, or is abbreviated to, according to texts of the hub. Returns
    the lexicon with the frequencies of the new terms."""
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
    others: _AlternativesFound,
) -> Lexicon:
    """Adds inflected forms, compounds and corrections of misspelled words from the hub's terms.
    Returns the lexicon with the frequencies of the new terms."""
    frequency = dict(lexicon.frequency)
    looked_up = 0
    asked = set(query.terms)
    for word in dict.fromkeys(words):
        if looked_up == _LOOKED_UP_MAX:
            break
        if len(word) < _FORM_CHARS_LEAST or not word.isalpha() or not word.isascii():
            continue
        (term,) = phrase_terms(word) or ("",)
        # Terms that the hub has are only expanded in an inflected language, to other forms.
        if term not in asked or (frequency[term] and not language) or others.has(term, lexicon):
            continue
        looked_up += 1
        # Read first for a word that may be mistyped: its forms and its first halves are among them.
        is_unknown = not frequency[term] and len(term) >= _TYPO_CHARS_LEAST
        alike = _beginning_with(reader, hub_id, term[:_FRONT]) if is_unknown else None
        near = _forms(reader, hub_id, word, term, language, alike)
        if not near and language in _COMPOUNDING:
            near = _compound_parts(reader, hub_id, word)
            if len(near) > 1:
                others.add((term,), [tuple(near)], FORM_QUALITY, apart=True)
        if not near and not frequency[term]:
            for parts, held in _split_words(reader, hub_id, word).items():
                others.add((term,), [parts], VARIANT_QUALITY)
                frequency.update(held)
            if alike is not None and not others.has(term, lexicon._replace(frequency=frequency)):
                near = _mistyped(reader, hub_id, term, alike)
        for other, (quality, passages) in near.items():
            others.add((term,), [(other,)], quality)
            frequency[other] = passages
    return lexicon._replace(frequency=frequency)


def _split_words(reader: Reader, hub_id: str, word: str) -> dict[Variant, dict[str, int]]:
    """Returns the splits of a word into two words that the hub has next to each other, each with
    the frequencies of the two."""
    if len(word) < _TWO_WORDS_CHARS_LEAST:
        return {}
    halves = [(phrase_terms(one)[0], two) for one, two in split_words(word)]
    if not halves:
        return {}
    held = reader.lexicon(hub_id, [first for first, _ in halves]).frequency
    # The first halves are checked first, because few of them are in the hub.
    several = [(first, *phrase_terms(two)) for first, two in halves if held[first]]
    if not several:
        return {}
    held = reader.lexicon(hub_id, list({term for parts in several for term in parts})).frequency
    found = {}
    for parts in several:
        if not all(held[term] for term in parts):
            continue
        rarest = min(parts, key=held.__getitem__)
        query = TermQuery((rarest,), (parts,))
        if reader.search_terms(hub_id, query, EVERYTHING, limit=1):
            found[parts] = {term: held[term] for term in parts}
    return found


# By term: its quality as an alternative, and the number of passages that hold it.
_SimilarTerms = dict[str, tuple[float, int]]


def _beginning_with(
    reader: Reader, hub_id: str, prefix: str, among: Mapping[str, int] | None = None
) -> Mapping[str, int]:
    """Returns the hub's terms with a prefix, in order, and their document frequency. `among` are
    the terms with the first letters of the prefix, if they were read."""
    if among is None or len(among) == _VOCABULARY_MAX:
        return reader.vocabulary(hub_id, prefix, limit=_VOCABULARY_MAX)
    terms = list(among)
    begin, end = _place_of_prefix(terms, prefix)
    return {term: among[term] for term in terms[begin:end]}


def _place_of_prefix(terms: Sequence[str], prefix: str) -> tuple[int, int]:
    """Returns where, in sorted terms, those with a prefix begin and end."""
    return bisect_left(terms, prefix), bisect_left(terms, f"{prefix}\U0010ffff")


def _with_part(terms: Sequence[str], middle: str, end: str) -> list[str]:
    if middle:
        return [one for one in terms if one.endswith(end) or middle in one]
    return [one for one in terms if one.endswith(end)]


def _forms(
    reader: Reader,
    hub_id: str,
    word: str,
    term: str,
    language: str,
    alike: Mapping[str, int] | None,
) -> _SimilarTerms:
    """Returns the hub's terms with the same stem in the language (in any of the languages, if it
    is not known), and in German and Dutch also compounds that begin or end with the stem. `alike`
    are the terms that begin with the same two letters as the word's, if they were read."""
    languages = (language,) if language else LANGUAGES
    own = {name: stem(word, name) for name in languages}
    prefix = min((*own.values(), term), key=len)[: max(3, len(word) - 3)]
    if not prefix.startswith(term[:_FRONT]):
        alike = None
    known = _beginning_with(reader, hub_id, prefix, alike)
    others = [other for other in known if other.isalpha() and len(other) >= 3 and other != term]
    same: set[str] = set()
    for name, one in own.items():
        # In most of the languages no other word has the stem.
        if others and len(one) >= 3 and one in (theirs := stems(others, name)):
            same.update(
                other
                for other, its in zip(others, theirs, strict=True)
                if its == one and other not in WORDS[name]
            )
    has_compounds = language in _COMPOUNDING
    found: _SimilarTerms = {}
    for other in others:
        if other in same:
            found[other] = (FORM_QUALITY, known[other])
        elif (
            has_compounds
            and len(word) >= _COMPOUND_CHARS_LEAST
            and len(own[language]) >= _FORM_CHARS_LEAST
            and other.startswith(own[language])
        ):
            found[other] = (COMPOUND_QUALITY, known[other])
    found |= _other_number(reader, hub_id, word, term, language)
    if has_compounds and len(own[language]) >= _COMPOUND_CHARS_LEAST:
        found = {
            **_compounds_ending_with(reader, hub_id, word, own[language], term, language),
            **found,
        }
    return found


def _other_number(
    reader: Reader, hub_id: str, word: str, term: str, language: str
) -> _SimilarTerms:
    """Returns the singular or plural of a word, if the hub has it."""
    others = [phrase_terms(other) for other in other_number(word, language)]
    terms = [one[0] for one in others if len(one) == 1 and one[0] != term]
    held = reader.lexicon(hub_id, terms).frequency if terms else {}
    return {other: (FORM_QUALITY, passages) for other, passages in held.items() if passages}


def _compounds_ending_with(
    reader: Reader, hub_id: str, word: str, ending: str, term: str, language: str
) -> _SimilarTerms:
    """Returns compounds that end in a word with this stem: Krankenversicherung, for Versicherung.
    The index strips English suffixes from both, so a compound may also end with the word's own
    index term: autoverzekering, for verzekering."""
    # The stem of a Dutch word may be spelled differently from the word.
    written = ending if word.startswith(ending) else term
    ids = reader.search_substring(hub_id, written, EVERYTHING, limit=_COMPOUND_MEMORIES_MAX)
    found = {
        other
        for passage in reader.passages(hub_id, ids)
        for other in passage.body.split()
        if other[_COMPOUND_FRONT_LEAST:].endswith(term)
        or (ending in other[_COMPOUND_FRONT_LEAST:] and stem(other, language).endswith(ending))
    }
    held = reader.lexicon(hub_id, sorted(found)).frequency
    return {term: (COMPOUND_QUALITY, held[term]) for term in sorted(found)}


_COMPOUNDING = ("german", "dutch")
# Linking letters between the parts of a compound: Arbeit-s-vertrag, Blume-n-topf.
_LINKING_LETTERS = ("", "s", "n", "es", "en", "e")


def _compound_parts(reader: Reader, hub_id: str, word: str) -> _SimilarTerms:
    """Returns the longest prefix and the longest suffix of a compound that the hub has as terms."""
    cuts = range(4, len(word) - 2)
    fronts = {word[:at].removesuffix(joint): at for at in cuts for joint in _LINKING_LETTERS[:5]}
    ends = {word[at:]: at for at in cuts if len(word) - at >= 4}
    terms = {part: (phrase_terms(part) or [""])[0] for part in (*fronts, *ends) if len(part) >= 4}
    held = reader.lexicon(hub_id, list(dict.fromkeys(terms.values()))).frequency
    found: _SimilarTerms = {}
    for parts in (fronts, ends):
        for part in sorted(parts, key=len, reverse=True):
            if passages := held.get(terms.get(part, ""), 0):
                found[terms[part]] = (COMPOUND_QUALITY, passages)
                break
    return found


def _mistyped(reader: Reader, hub_id: str, term: str, alike: Mapping[str, int]) -> _SimilarTerms:
    """Returns the hub's terms with the smallest edit distance to a term. Candidates must begin with
    the same two letters (`alike`), or with these in the other order."""
    edits_max = 2 if len(term) >= _TWO_TYPOS_CHARS_LEAST else 1
    first, second = term[0], term[1]
    found = _nearest(term, alike, edits_max)
    if found or first == second:
        return found
    if edits_max == 1:
        # At edit distance 1 only three words can begin with the two letters swapped, so the
        # vocabulary under that prefix need not be read.
        near = {second + first + term[2:], second + term, term[1:]}
        likely = sorted(one for one in near if one.startswith(second + first))
        known = reader.lexicon(hub_id, likely).frequency
        return {one: (TYPO_QUALITY, known[one]) for one in likely if known[one]}
    known = _beginning_with(reader, hub_id, second + first)
    return _nearest(term, known, edits_max)


def _nearest(term: str, known: Mapping[str, int], edits_max: int) -> _SimilarTerms:
    """Returns the terms of `known` with the smallest edit distance, at most `edits_max`. `known`
    maps terms, in order, to their document frequency."""
    best, found = edits_max + 1, _SimilarTerms()
    front, middle, end = _unchanged_parts(term, edits_max)
    letters = set(term)
    terms = list(known)
    begin, after = _place_of_prefix(terms, front)
    likely = [
        *_with_part(terms[:begin], middle, end),
        *terms[begin:after],
        *_with_part(terms[after:], middle, end),
    ]
    for other in likely:
        if abs(len(other) - len(term)) > edits_max:
            continue
        # One edit adds at most one letter and removes at most one. This cheap check skips most of
        # the comparisons.
        if len(letters.difference(other)) > edits_max or len(set(other) - letters) > edits_max:
            continue
        if not other.isalpha():
            continue
        distance = edits(term, other, min(best, edits_max))
        if distance < best:
            best, found = distance, {}
        if distance == best <= edits_max:
            found[other] = (TYPO_QUALITY, known[other])
    return found


def _unchanged_parts(term: str, edits_max: int) -> tuple[str, str, str]:
    """Splits a term into `edits_max` + 1 parts (two or three; the middle one is empty if two).

    A word at an edit distance of at most `edits_max` contains at least one of the parts unchanged:
    the first at its start, the last at its end, or the middle one anywhere. Checking for that skips
    most comparisons. One letter is left out between the parts, so that swapping two adjacent
    letters changes only one of them. The first part is longer, because all candidates begin with
    the same two letters.
    """
    if edits_max == 1:
        cut = len(term) // 2 + 1
        return term[:cut], "", term[cut + 1 :]
    cut = (len(term) - 4) // 3 + 2
    half = (len(term) - cut - 2) // 2
    return term[:cut], term[cut + 1 : cut + 1 + half], term[cut + half + 2 :]


# A capitalised word inside a sentence. Used for English only: German capitalises all nouns.
_NAME = lazy(r"(?<=[\w,;:'’)\"] )[A-Z][a-z]\w+")
_CALENDAR = frozenset(
    """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    """.split()  # noqa: SIM905
)


def names_in(question: str, understood: Understood) -> list[str]:
    """Returns the names in an English question, without months and weekdays."""
    if understood.foreign:
        return []
    found = dict.fromkeys(_NAME.findall(question))
    return [name for name in found if name.casefold() not in _CALENDAR]


def unknown_names(
    names: Iterable[str], understood: Understood, speakers: Iterable[str]
) -> list[str]:
    """Returns the names that do not occur in the hub, in any known spelling."""
    known = {part for speaker in speakers for part in speaker.casefold().split()}
    return [
        name
        for name in names
        if name.casefold() not in known and not _is_name_known(name, understood)
    ]


def _is_name_known(name: str, understood: Understood) -> bool:
    """Whether the hub has the name or an alternative for it. Also true if the name is a stop word,
    because stop words are not searched for."""
    frequency = understood.lexicon.frequency
    asked = [term for term in terms(name) if term in understood.query.terms]
    return not asked or any(
        frequency.get(term) or understood.alternatives.get(term) for term in asked
    )
