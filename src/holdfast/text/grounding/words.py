"""Compares the words of a claim with the words of a turn: whether all of them were said, with their
numbers, in their order where it matters, in the same tense, and neither more nor less of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from holdfast.text.analysis.terms import STOP_WORDS, fold, is_unspaced, phrase_terms, terms
from holdfast.text.analysis.word_forms import Number, base_form, is_number_word, numbers_in, tense
from holdfast.text.facts.statements import long_forms
from holdfast.text.tables import lazy, read_words

_WORDS = read_words("grounding/words.txt")

_WORD = lazy(r"[^\W_]+(?:['.+#&/_@:-]+[^\W_]+)*(?:\+\+|#)?|[%€$£]")
# Words that a claim may add, and words that it may leave out.
_FILLERS = _WORDS["fillers"]
# Words that make a claim broader or narrower than what was said.
_QUANTIFIERS = _WORDS["quantifiers"]
# Words that make a statement narrower than a claim without them.
_LIMITERS = _WORDS["limiters"]


def words_of(text: str) -> list[str]:
    """The folded words of a text in their order, without possessive endings."""
    return list(_words_of(text))


# Each rule asks for the words of the same few clauses.
@lru_cache(maxsize=256)
def _words_of(text: str) -> tuple[str, ...]:
    out = []
    for match in _WORD.finditer(fold(long_forms(text))):
        word = match[0].strip("'.:-/&@")
        word = re.sub(
            r"(?:'s|s'|'(?:m|re|ve|ll|d))$", lambda end: "s" if end[0] == "s'" else "", word
        )
        if word:
            out.append(word)
    return tuple(out)


@lru_cache(maxsize=4_096)
def _keys(word: str) -> frozenset[str]:
    """The keys under which a word of a turn is looked up."""
    if is_unspaced(word) or not word.isascii():
        return frozenset([word, base_form(word), *terms(word)])
    keys = {base_form(word), word}
    for piece in re.split(r"[-/&.@:_']", word):
        if len(piece) > 1:
            keys |= {base_form(piece), piece}
    return frozenset(keys)


NEGATORS = _WORDS["negators"]


def content_words(words: Sequence[str]) -> list[str]:
    """The words of a claim that carry meaning: all of them must have been said."""
    return [
        word
        for word in words
        if word in _QUANTIFIERS or not (word in STOP_WORDS or word in _FILLERS or word in NEGATORS)
        if not (word.isdigit() or is_number_word(word))
        and word not in ("only_also", "longer", "anymore")
    ]


def missing_in(claim: Sequence[str], said: Sequence[str]) -> list[str]:
    """The words of a claim that were not said, or not as often."""
    there = frozenset(key for word in said for key in _keys(word))
    missing = [word for word in claim if not _is_there(word, there)]
    if len(claim) == len({base_form(word) for word in claim}):
        return missing
    wanted, given = Counter(map(base_form, claim)), Counter(map(base_form, said))
    return missing + [
        word for word in claim if wanted[base_form(word)] > max(given[base_form(word)], 1)
    ]


def _is_there(word: str, there: frozenset[str]) -> bool:
    if word.isascii():
        return base_form(word) in there or word in there
    # Of a script without spaces, every pair of characters.
    return word in there or set(phrase_terms(word)) <= there


def missing_kind(missing: Sequence[str], claim: str) -> str:
    """The kind of what was not said of a claim: a number, a name, or other words."""
    capitals = {fold(word) for word in re.findall(r"(?<!^)\b[^\W\d_a-z][\w'-]*", claim)}
    if any(re.search(r"\d", word) for word in missing):
        return "number"
    return "name" if any(word in capitals for word in missing) else "words"


def numbers_agree(claim: str, said: str) -> bool:
    """Whether every number of a claim was said in the turn; of several, about the same thing."""
    wanted, given = numbers_in(fold(long_forms(claim))), numbers_in(fold(long_forms(said)))
    values = {number.value for number in given}
    if any(number.value not in values for number in wanted):
        return False
    if any(not _same_unit(claim, number, said, given) for number in wanted):
        return False
    if len(given) < 2:
        return True
    return all(
        any(
            _same_referent(claim, number, said, other)
            for other in given
            if other.value == number.value
        )
        for number in wanted
    )


def _same_referent(claim: str, number: Number, said: str, other: Number) -> bool:
    """Whether two numbers count the same thing: judged by the word after them, or at the end of the
    text by the word before."""
    after = _neighbour(claim, number.end)
    if after:
        return after in _neighbours(said, other.end)
    before = content_words(words_of(fold(long_forms(claim))[: number.start]))[-1:]
    there = content_words(words_of(fold(long_forms(said))[: other.start]))[-1:]
    return not before or not there or base_form(before[0]) == base_form(there[0])


# Units; a number with another unit is another number.
_UNITS = frozenset(
    base_form(word)
    for word in """
    month week day hour minute second km mile metre kg gram mg percent euro dollar pound gb mb ms
    thousand million billion am pm
    """.split()  # noqa: SIM905
)


def _same_unit(claim: str, number: Number, said: str, given: Sequence[Number]) -> bool:
    """Whether a number keeps its unit: five months are not five."""
    after = _neighbour(claim, number.end)
    for other in given:
        if other.value == number.value:
            unit = _first_after(said, other.end)
            if unit not in _UNITS or unit == after or unit == _first_after(claim, number.end):
                return True
    return False


def _first_after(text: str, end: int) -> str:
    words = words_of(fold(long_forms(text))[end:])
    return base_form(words[0]) if words else ""


def _neighbour(text: str, end: int) -> str:
    """The content word after a number; '' at the end."""
    after = content_words(words_of(fold(long_forms(text))[end:]))
    return base_form(after[0]) if after else ""


def _neighbours(text: str, end: int) -> set[str]:
    folded = fold(long_forms(text))
    after = content_words(words_of(folded[end:]))[:3]
    return {"", *(base_form(word) for word in after)}


# The object of these prepositions must not change: from one to the other, this over that.
_DIRECTIONS = frozenset("from to into over than before after by instead with against".split())  # noqa: SIM905


def same_direction(claim: Sequence[str], said: Sequence[str]) -> bool:
    """Whether a claim has the direction of the turn: 'From A to B' is not 'from B to A', and 'A
    over B' is not 'B over A'."""
    for at, word in enumerate(claim):
        if word not in _DIRECTIONS:
            continue
        after, before = _next_content_word(claim, at + 1), _next_content_word(claim, at - 1, -1)
        if not after:
            continue
        if word in said:
            followers = {
                _next_content_word(said, place + 1) for place, one in enumerate(said) if one == word
            }
            if after not in followers:
                return False
        elif before and word in ("over", "than", "instead"):
            keys = [base_form(one) for one in said]
            if before in keys and after in keys and keys.index(before) > keys.index(after):
                return False
    return True


def _next_content_word(words: Sequence[str], at: int, step: int = 1) -> str:
    while 0 <= at < len(words):
        if words[at] not in STOP_WORDS or words[at].isdigit():
            return base_form(words[at])
        at += step
    return ""


def limits_kept(claim: Sequence[str], said: Sequence[str]) -> bool:
    """Whether a claim keeps the limits of what was said in the turn."""
    limits = _LIMITERS.intersection(said)
    if "used" in said and "to" in said[said.index("used") + 1 : said.index("used") + 2]:
        return "used" in claim or "formerly" in claim or "previously" in claim
    return limits <= set(claim) | {"once", "half"}


def same_tense(claim: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the first verb of a claim has the tense in which it was said in the turn."""
    if not _same_copula_tense(claim, said):
        return False
    by_key: dict[str, set[str]] = {}
    for at, word in enumerate(said):
        by_key.setdefault(base_form(word), set()).add(_tense_at(said, at))
    for at, word in enumerate(claim[:4]):
        if word in STOP_WORDS and word not in ("was", "were", "is", "are", "am"):
            continue
        given = by_key.get(base_form(word))
        if given is None:
            continue
        own = _tense_at(claim, at)
        return own in given or (own, *sorted(given)) in (("present", "ing"), ("ing", "present"))
    return True


_IS, _WAS = frozenset(["is", "are", "am"]), frozenset(["was", "were"])


def _same_copula_tense(claim: Sequence[str], said: Sequence[str]) -> bool:
    """Whether `is` and `was` were not exchanged."""
    if _IS.intersection(claim) and _WAS.intersection(said):
        return bool(_IS.intersection(said))
    if _WAS.intersection(claim) and _IS.intersection(said):
        return bool(_WAS.intersection(said))
    return True


_PAST_AUXILIARIES = frozenset(["did", "have", "has", "had", "having"])


def _tense_at(words: Sequence[str], at: int) -> str:
    before = words[max(0, at - 3) : at]
    found = tense(words[at])
    if found == "present" and _PAST_AUXILIARIES.intersection(before):
        return "past" if "did" in before or "had" in before else found
    if found == "past" and {"is", "are", "am", "be", "get", "gets"}.intersection(before[-2:]):
        # 'Is deployed', 'am married' hold now.
        return "present"
    return found


# Order and prepositions


# Prepositions that change the role of the next word; they cannot be added, dropped or changed.
_STRICT_LINKS = _WORDS["strict links"]
# These are interchangeable: at a firm, for a firm.
_LOOSE_LINKS = frozenset("in at on for of with by as about since during through within".split())  # noqa: SIM905
# Words that may come between a preposition and its object.
_DETERMINERS = _WORDS["determiners"]
_REACH = 3
_COPULAS = frozenset(["is", "are", "was", "were", "am", "be", "being"])


def same_links(claim: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the words of the claim have the roles and the order in which they were said."""
    keys = [base_form(word) for word in said]
    for at, word in enumerate(claim):
        if _is_function_word(word):
            continue
        places = [place for place, key in enumerate(keys) if key == base_form(word)]
        own = _governor(claim, at)
        if own and places and all(_belongs_to_another(claim, at, said, place) for place in places):
            return False
        if places and all(not _link_fits(own, claim, at, said, place) for place in places):
            return False
    return _same_order(claim, keys, said) and _no_gerund_between(claim, keys, said)


def _is_function_word(word: str) -> bool:
    return word in STOP_WORDS or word in _STRICT_LINKS or word in _LOOSE_LINKS


def _governor(words: Sequence[str], at: int) -> str:
    """The preposition that governs a word; empty if there is none."""
    for back in range(1, _REACH + 1):
        if at - back < 0:
            return ""
        word = words[at - back]
        if word in _STRICT_LINKS or word in _LOOSE_LINKS:
            return word
        if word not in _DETERMINERS and not word.isdigit():
            return ""
    return ""


def _link_fits(own: str, claim: Sequence[str], at: int, said: Sequence[str], place: int) -> bool:
    given = _governor(said, place)
    if own == given:
        return True
    if given == "to" and not own:
        # 'I like to hike' for 'likes hiking'.
        return _content_word_before(claim, at) != "" and _content_word_before(
            claim, at
        ) == _content_word_before(said, place)
    if own == "to" and not given:
        return _content_word_before(claim, at) == _content_word_before(said, place)
    if not own and given in _LOOSE_LINKS and _has_nearer_object(claim, at, said, place):
        return False
    return own not in _STRICT_LINKS and given not in _STRICT_LINKS


def _has_nearer_object(claim: Sequence[str], at: int, said: Sequence[str], place: int) -> bool:
    """Whether the verb has a nearer object than the claim gives it: somebody who manages the budget
    for five people does not manage the people."""
    head, known = _content_word_before(claim, at), {base_form(word) for word in claim}
    keys = [base_form(word) for word in said[:place]]
    if not head or head not in keys:
        return False
    between = range(keys.index(head) + 1, place)
    return any(not _is_function_word(said[one]) and keys[one] not in known for one in between)


def _belongs_to_another(claim: Sequence[str], at: int, said: Sequence[str], place: int) -> bool:
    """'Redis for queues and Memcached for caching' does not say Redis for caching: after an 'and',
    what is 'for' something is the last thing before it."""
    head = _content_word_before(claim, at)
    nearest = _content_word_before(said, place)
    known = {base_form(word) for word in claim}
    if not head or (nearest in known and nearest == head):
        return False
    keys = [base_form(word) for word in said]
    if head not in keys:
        return False
    there = keys.index(head)
    return "and" in said[min(there, place) : max(there, place)]


def _content_word_before(words: Sequence[str], at: int) -> str:
    """The last content word before a word."""
    for word in reversed(words[:at]):
        if not _is_function_word(word):
            return base_form(word)
    return ""


def _same_order(claim: Sequence[str], keys: Sequence[str], said: Sequence[str]) -> bool:
    """'Won the race' was not said by 'lost the race Tom won'. 'Ana is my wife' may be turned."""
    sense = [
        base_form(word) for word in claim if not _is_function_word(word) and word not in _COPULAS
    ][:2]
    if len(sense) < 2 or _COPULAS.intersection(said) or any(word not in keys for word in sense):
        return True
    first = keys.index(sense[0])
    return any(key == sense[1] for key in keys[first + 1 :])


def _no_gerund_between(claim: Sequence[str], keys: Sequence[str], said: Sequence[str]) -> bool:
    """'I like watching others run' does not say that somebody likes running."""
    sense = [
        base_form(word) for word in claim if not _is_function_word(word) and word not in _COPULAS
    ]
    for one, other in pairwise(sense):
        if one in keys and other in keys[keys.index(one) :]:
            start = keys.index(one)
            between = range(start + 1, keys.index(other, start))
            if any(_is_gerund(said[at]) and keys[at] not in sense for at in between):
                return False
    return True


def _is_gerund(word: str) -> bool:
    return word.endswith("ing") and len(word) > _ING_LEAST and word not in _ING_NOUNS


# 'King', 'thing' and 'evening' are nouns.
_ING_LEAST = 5
_ING_NOUNS = _WORDS["ing nouns"]
