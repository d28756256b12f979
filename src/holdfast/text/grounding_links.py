"""How the words of a claim hang together, against how they did when they were said: what a small
word such as 'from' or 'over' makes of the next one, and what comes first, who does it or what it is
done to.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from holdfast.text.terms import STOP_WORDS
from holdfast.text.word_forms import base_form

# Small words that change what the next word is to the verb; they cannot come, go or change.
_STRICT = frozenset(
    """
    between among from to into over against near except but without than instead off before after
    until unlike under versus vs behind beyond outside opposite despite rather
    """.split()  # noqa: SIM905
)
# These may stand for one another: at a firm, for a firm.
_LOOSE = frozenset("in at on for of with by as about since during through within".split())  # noqa: SIM905
# What may stand between such a word and the one that it is about.
_BETWEEN = frozenset(
    """
    the a an my our his her their its your this that these those some any new old own local big
    small little good great nice other same whole
    """.split()  # noqa: SIM905
)
_REACH = 3
_COPULA = frozenset(["is", "are", "was", "were", "am", "be", "being"])


def same_links(claim: Sequence[str], said: Sequence[str]) -> bool:
    """Whether each word of the claim is to the others what it was when it was said."""
    keys = [base_form(word) for word in said]
    for at, word in enumerate(claim):
        if _is_small(word):
            continue
        places = [place for place, key in enumerate(keys) if key == base_form(word)]
        own = _governor(claim, at)
        if own and places and all(_is_of_another(claim, at, said, place) for place in places):
            return False
        if places and all(not _fits(own, claim, at, said, place) for place in places):
            return False
    return _same_order(claim, keys, said) and _nothing_done_between(claim, keys, said)


def _is_small(word: str) -> bool:
    return word in STOP_WORDS or word in _STRICT or word in _LOOSE


def _governor(words: Sequence[str], at: int) -> str:
    """The small word that a word depends on; '' where it depends on none."""
    for back in range(1, _REACH + 1):
        if at - back < 0:
            return ""
        word = words[at - back]
        if word in _STRICT or word in _LOOSE:
            return word
        if word not in _BETWEEN and not word.isdigit():
            return ""
    return ""


def _fits(own: str, claim: Sequence[str], at: int, said: Sequence[str], place: int) -> bool:
    given = _governor(said, place)
    if own == given:
        return True
    if given == "to" and not own:
        # 'I like to hike' for 'likes hiking'.
        return _before(claim, at) != "" and _before(claim, at) == _before(said, place)
    if own == "to" and not given:
        return _before(claim, at) == _before(said, place)
    if not own and given in _LOOSE and _is_further(claim, at, said, place):
        return False
    return own not in _STRICT and given not in _STRICT


def _is_further(claim: Sequence[str], at: int, said: Sequence[str], place: int) -> bool:
    """Whether something else stood where the claim puts a word: who manages the budget for five
    people does not manage them."""
    head, known = _before(claim, at), {base_form(word) for word in claim}
    keys = [base_form(word) for word in said[:place]]
    if not head or head not in keys:
        return False
    between = range(keys.index(head) + 1, place)
    return any(not _is_small(said[one]) and keys[one] not in known for one in between)


def _is_of_another(claim: Sequence[str], at: int, said: Sequence[str], place: int) -> bool:
    """'Redis for queues and Memcached for caching' does not say Redis for caching: after an 'and',
    what is 'for' something is the last thing before it."""
    head = _before(claim, at)
    nearest = _before(said, place)
    known = {base_form(word) for word in claim}
    if not head or (nearest in known and nearest == head):
        return False
    keys = [base_form(word) for word in said]
    if head not in keys:
        return False
    there = keys.index(head)
    return "and" in said[min(there, place) : max(there, place)]


def _before(words: Sequence[str], at: int) -> str:
    """The last word of sense before a word."""
    for word in reversed(words[:at]):
        if not _is_small(word):
            return base_form(word)
    return ""


def _same_order(claim: Sequence[str], keys: Sequence[str], said: Sequence[str]) -> bool:
    """'Won the race' was not said by 'lost the race Tom won'. 'Ana is my wife' may be turned."""
    sense = [base_form(word) for word in claim if not _is_small(word) and word not in _COPULA][:2]
    if len(sense) < 2 or _COPULA.intersection(said) or any(word not in keys for word in sense):
        return True
    first = keys.index(sense[0])
    return any(key == sense[1] for key in keys[first + 1 :])


def _nothing_done_between(claim: Sequence[str], keys: Sequence[str], said: Sequence[str]) -> bool:
    """'I like watching others run' does not say that somebody likes running."""
    sense = [base_form(word) for word in claim if not _is_small(word) and word not in _COPULA]
    for one, other in pairwise(sense):
        if one in keys and other in keys[keys.index(one) :]:
            start = keys.index(one)
            between = range(start + 1, keys.index(other, start))
            if any(_is_doing(said[at]) and keys[at] not in sense for at in between):
                return False
    return True


def _is_doing(word: str) -> bool:
    return word.endswith("ing") and len(word) > _ING_LEAST and word not in _THINGS


# 'King', 'thing' and 'evening' are no deeds.
_ING_LEAST = 5
_THINGS = frozenset(
    """
    morning evening something anything nothing everything building meeting wedding training
    clothing interesting amazing including during according
    """.split()  # noqa: SIM905
)
