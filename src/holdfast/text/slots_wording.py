"""Two statements of almost the same words: one denies the other, has the opposite state, or another
number.
"""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.text.quantities import is_number_word, numbers_in
from holdfast.text.slots_fill import Held, Verdict, index_terms, what_of
from holdfast.text.slots_rules import without_when
from holdfast.text.statements import Statement, core_stems
from holdfast.text.terms import STOP_WORDS, fold, terms

_LIKES = {"like": "like", "love": "like", "enjoy": "like", "adore": "like"}
_DISLIKES = frozenset(["hate", "dislik", "detest", "loath"])
_SEVERAL = r"(?i)\b(?:and|or|but)\b|[,;/]"


# 'Stopped smoking' ends something; 'stopped the server' and 'stopped by the office' do not.
_STOPPED = (
    r"(?i)\b(?:stopped|stops|quit|quits|gave up|given up|ceased|dropped|ditched|abandoned)\b"
    r"(?: (\w+))?"
)


def _is_of_a_thing(said: Statement) -> bool:
    match = re.search(_STOPPED, said.body) if said.ended else None
    return match is not None and not (match[1] or "").endswith("ing")


def _stance(said: Statement) -> tuple[list[str], bool]:
    """What is said, and whether it is denied: to hate is not to like."""
    stems = core_stems(said.body)
    if stems and stems[0] in _DISLIKES:
        return ["like", *stems[1:]], not said.denied
    if stems and stems[0] in _LIKES:
        return ["like", *stems[1:]], said.denied
    return stems, said.denied


# A statement with more words beside those that are denied is about more than them.
_EXTRA_MAX = 3


def by_denial(now: Statement, then: Statement) -> Verdict | None:
    """What is denied, ended, or so again."""
    if now.owned != then.owned or _is_of_a_thing(now) or _is_of_a_thing(then):
        return None
    new, denied = _stance(now)
    old, was_denied = _stance(then)
    if denied == was_denied or not new or not old or new[0] != old[0]:
        return None
    denial, claim = (new, old) if denied else (old, new)
    if not set(denial) <= set(claim) or len(claim) - len(denial) > _EXTRA_MAX:
        return None
    if not denied and len(old) > len(new):
        return None
    certain = now.ended if denied else now.begun
    said = "it is no longer so" if denied else "it is so again"
    if certain and (set(new) == set(old) or not re.search(_SEVERAL, then.body)):
        return Verdict("replaces", said)
    return Verdict("contradicts", "one denies what the other says")


def ends_in(now: Statement) -> Held:
    return [frozenset()] if now.ended or now.begun else []


# States

_STATES = (
    ("enabled", "disabled"), ("on", "off"), ("open", "closed"), ("active", "inactive"),
    ("public", "private"), ("true", "false"), ("required", "optional"), ("paused", "running"),
)  # fmt: skip
_STATE = (
    r"(?i)(?:the )?(?P<what>[\w' .-]{2,60}?) (?:is|are) (?:now |currently |set to )?"
    rf"(?P<value>{'|'.join(word for pair in _STATES for word in pair)})\Z"
)


@lru_cache(maxsize=1_024)
def _state_of(said: Statement) -> tuple[str, str] | None:
    """What is in which state."""
    match = re.match(_STATE, without_when(f"{said.subject} {said.body}".strip()))
    return match and (match["what"], match["value"].lower())


def by_state(now: Statement, then: Statement) -> Verdict | None:
    """What is on and was off."""
    new = _state_of(now)
    old = new and _state_of(then)
    if new is None or old is None or what_of(new[0]) != what_of(old[0]):
        return None
    pair = (new[1], old[1])
    if pair in _STATES or pair[::-1] in _STATES:
        return Verdict("replaces", f"it was {pair[1]} and is {pair[0]}")
    return None


def states_in(now: Statement) -> Held:
    state = _state_of(now)
    return [] if state is None else [index_terms(state[0])]


# Numbers

_NUMBER = r"(?i)[$€£]?\d+(?:[.,:]\d+)*(?:%|[a-z]{1,3})?\.?"
_YEAR = r"(?:19|20)\d\d"
_PRESENT = (
    r"(?i)(?:the |an? )?(?:[\w'.-]+ ){0,6}?(?:is|are|has|have|costs?|takes?|earns?|weighs?|pays?"
    r"|runs?|drinks?|sleeps?|needs?|keeps?|lasts?|spends?|owns?|limits?|timeout|limit|retries"
    r"|equals?|allows?|uses?|works?|reads?|walks?|swims?|eats?|smokes?|charges?|contains?)\b"
)
_RELATIVE = (
    r"(?i)\b(?:son|daughter|brother|sister|child|kid|baby|dog|cat|friend|niece|nephew|cousin|boy"
    r"|girl)\b"
)


def by_number(now: Statement, then: Statement) -> Verdict | None:
    """The same sentence with another number: how much of something there is."""
    if (now.denied, now.owned) != (then.denied, then.owned):
        return None
    new, old = _tokens(now.body), _tokens(then.body)
    if len(new) != len(old):
        return None
    differing = [at for at in range(len(new)) if new[at] != old[at]]
    if new and not differing:
        return Verdict("same", "they say the same in other words")
    if len(differing) != 1:
        return None
    at = differing[0]
    first, second = new[at], old[at]
    if not (re.fullmatch(_NUMBER, first) and re.fullmatch(_NUMBER, second)) or _is_name(new, at):
        return None
    if not re.match(_PRESENT, now.body) or _unit(first) != _unit(second):
        return None
    said = f"it was {second.rstrip('.')} and is {first.rstrip('.')}"
    # 'A discount of 20%' may be one of several.
    several = re.search(_RELATIVE, now.body) or now.body[:2].lower() in ("a ", "an")
    return Verdict("contradicts" if several else "replaces", said)


def amounts_in(now: Statement) -> Held:
    tokens = _tokens(now.body)
    numbers = (at for at, word in enumerate(tokens) if re.fullmatch(_NUMBER, word))
    if all(_is_name(tokens, at) for at in numbers) or not re.match(_PRESENT, now.body):
        return []
    # A small word may be part of another one where it was said before, as in `don't`.
    words = (word for word in tokens if word.isascii() and word.isalpha())
    return [frozenset(term for word in words if word not in STOP_WORDS for term in terms(word))]


def _unit(number: str) -> str:
    return re.sub(r"[\d.,:]", "", number)


def _in_digits(word: str) -> str:
    """'three' as '3'; other words as they are."""
    found = numbers_in(word) if is_number_word(word) else []
    return found[0].value if found else word


@lru_cache(maxsize=1_024)
def _tokens(body: str) -> tuple[str, ...]:
    found = (_in_digits(word.strip(".!\"'")) for word in re.findall(r"[^\s,;]+", fold(body)))
    small = ("the", "a", "an", "now", "currently", "about", "around")
    return tuple(word for word in found if word not in small)


# Before a number that says how much there is; after any other word it may be a name: 'Room 12'.
_BEFORE_AMOUNTS = frozenset(
    """
    is are was has have had of to at by for every about up around on with under over exactly only
    costs takes earns weighs pays runs drinks sleeps needs keeps lasts spends owns limits allows
    uses works reads walks swims eats smokes charges contains equals port
    """.split()  # noqa: SIM905
)


def _is_name(tokens: tuple[str, ...], at: int) -> bool:
    if re.fullmatch(_YEAR, tokens[at]):
        return True
    return at == 0 or tokens[at - 1] not in _BEFORE_AMOUNTS
