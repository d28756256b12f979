"""The words of a claim and of what was said: whether all of them are there, with their numbers, in
their order where it matters, in their time, and neither more nor less of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from holdfast.text.quantities import Number, is_number_word, numbers_in
from holdfast.text.statements import long_forms
from holdfast.text.terms import STOP_WORDS, fold, is_unspaced, phrase_terms, terms
from holdfast.text.word_forms import base_form, tense

_WORD = re.compile(r"[^\W_]+(?:['.+#&/_@:-]+[^\W_]+)*(?:\+\+|#)?|[%€$£]")
# What claims are put in, and what they may leave out of what was said.
_GLUE = frozenset(
    """
    user users speaker human person he she they it that which who is has have had been
    currently now also recently just really very actually because since so their his her its
    about
    """.split()  # noqa: SIM905
)
# Small words that make a claim larger or smaller than what was said.
_COUNTING = frozenset(
    """
    all every each both always never only most everyone everything nobody nothing none must
    exclusively daily weekly monthly entirely completely any except without more less few many
    several
    """.split()  # noqa: SIM905
)
# And those that make what was said smaller than a claim without them.
_LIMITING = frozenset(
    """
    sometimes rarely hardly barely seldom occasionally almost nearly only except mostly partly
    somewhat formerly previously once until till former ex temporarily briefly half less badly
    poorly worse every_other
    """.split()  # noqa: SIM905
)


def words_of(text: str) -> list[str]:
    """The folded words of a text in their order, without possessive endings."""
    out = []
    for match in _WORD.finditer(fold(long_forms(text))):
        word = match[0].strip("'.:-/&@")
        word = re.sub(
            r"(?:'s|s'|'(?:m|re|ve|ll|d))$", lambda end: "s" if end[0] == "s'" else "", word
        )
        if word:
            out.append(word)
    return out


@lru_cache(maxsize=4_096)
def _keys(word: str) -> frozenset[str]:
    """The forms under which a word of a turn is found."""
    if is_unspaced(word) or not word.isascii():
        return frozenset([word, base_form(word), *terms(word)])
    keys = {base_form(word), word}
    for piece in re.split(r"[-/&.@:_']", word):
        if len(piece) > 1:
            keys |= {base_form(piece), piece}
    return frozenset(keys)


NEGATORS = frozenset(
    """
    not no never neither nor without nobody nothing none cannot hardly barely
    nicht kein keine keinen keinem keiner nie niemals nichts pas jamais rien nunca jamas nada nao
    non mai niet geen nooit ikke aldri inte aldrig ei nie nigdy не нет никогда
    """.split()  # noqa: SIM905
)


def of_sense(words: Sequence[str]) -> list[str]:
    """The words that carry sense: those that must have been said."""
    return [
        word
        for word in words
        if word in _COUNTING or not (word in STOP_WORDS or word in _GLUE or word in NEGATORS)
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


def kind_of(missing: Sequence[str], claim: str) -> str:
    """What is missing: a number, a name, or other words."""
    capitals = {fold(word) for word in re.findall(r"(?<!^)\b[^\W\d_a-z][\w'-]*", claim)}
    if any(re.search(r"\d", word) for word in missing):
        return "number"
    return "name" if any(word in capitals for word in missing) else "words"


def numbers_agree(claim: str, said: str) -> bool:
    """Every number of the claim was said, and of the same thing where there are several."""
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
            _stand_alike(claim, number, said, other)
            for other in given
            if other.value == number.value
        )
        for number in wanted
    )


def _stand_alike(claim: str, number: Number, said: str, other: Number) -> bool:
    """Whether two numbers are about the same: by the word after them, or at the end by the one
    before."""
    after = _neighbour(claim, number.end)
    if after:
        return after in _neighbours(said, other.end)
    before = of_sense(words_of(fold(long_forms(claim))[: number.start]))[-1:]
    there = of_sense(words_of(fold(long_forms(said))[: other.start]))[-1:]
    return not before or not there or base_form(before[0]) == base_form(there[0])


# What a number is counted in; without it, it is another number.
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
    """The word of sense after a number; '' at the end."""
    after = of_sense(words_of(fold(long_forms(text))[end:]))
    return base_form(after[0]) if after else ""


def _neighbours(text: str, end: int) -> set[str]:
    folded = fold(long_forms(text))
    after = of_sense(words_of(folded[end:]))[:3]
    return {"", *(base_form(word) for word in after)}


# Small words after which it matters what comes: from one to the other, this over that.
_DIRECTIONS = frozenset("from to into over than before after by instead with against".split())  # noqa: SIM905


def same_direction(claim: Sequence[str], said: Sequence[str]) -> bool:
    """'From A to B' is not 'from B to A', and 'A over B' is not 'B over A'."""
    for at, word in enumerate(claim):
        if word not in _DIRECTIONS:
            continue
        after, before = _next_sense(claim, at + 1), _next_sense(claim, at - 1, -1)
        if not after:
            continue
        if word in said:
            followers = {
                _next_sense(said, place + 1) for place, one in enumerate(said) if one == word
            }
            if after not in followers:
                return False
        elif before and word in ("over", "than", "instead"):
            keys = [base_form(one) for one in said]
            if before in keys and after in keys and keys.index(before) > keys.index(after):
                return False
    return True


def _next_sense(words: Sequence[str], at: int, step: int = 1) -> str:
    while 0 <= at < len(words):
        if words[at] not in STOP_WORDS or words[at].isdigit():
            return base_form(words[at])
        at += step
    return ""


def as_large(claim: Sequence[str], said: Sequence[str]) -> bool:
    """What was limited stays limited."""
    limits = _LIMITING.intersection(said)
    if "used" in said and "to" in said[said.index("used") + 1 : said.index("used") + 2]:
        return "used" in claim or "formerly" in claim or "previously" in claim
    return limits <= set(claim) | {"once", "half"}


def same_tense(claim: Sequence[str], said: Sequence[str]) -> bool:
    """The first verb of the claim stands in the time in which it was said."""
    if not _same_being(claim, said):
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


def _same_being(claim: Sequence[str], said: Sequence[str]) -> bool:
    """What was is not what is."""
    if _IS.intersection(claim) and _WAS.intersection(said):
        return bool(_IS.intersection(said))
    if _WAS.intersection(claim) and _IS.intersection(said):
        return bool(_WAS.intersection(said))
    return True


_HELPERS_OF_PAST = frozenset(["did", "have", "has", "had", "having"])


def _tense_at(words: Sequence[str], at: int) -> str:
    before = words[max(0, at - 3) : at]
    found = tense(words[at])
    if found == "present" and _HELPERS_OF_PAST.intersection(before):
        return "past" if "did" in before or "had" in before else found
    if found == "past" and {"is", "are", "am", "be", "get", "gets"}.intersection(before[-2:]):
        # 'Is deployed', 'am married' hold now.
        return "present"
    return found
