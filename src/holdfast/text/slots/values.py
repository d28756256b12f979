"""Compares two values of one slot, key or relative: which one replaces the other, and where that is
not certain.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.analysis.terms import fold
from holdfast.text.facts.statements import Statement, core_stems
from holdfast.text.slots.rules import (
    Filled,
    Relation,
    TermSets,
    Verdict,
    attribute_key,
    city_and_country,
    filled,
    index_terms,
    one_includes_other,
    plain_value,
    without_when,
)
from holdfast.text.tables import Patterns, read_words

_PATTERNS = Patterns("slots/patterns.txt")

_WORDS = read_words("slots/words.txt")

# Slots


# Somebody may have several of these, though they say 'my'.
_SEVERAL_POSSIBLE = _WORDS["several possible"]


def by_slot(now: Statement, then: Statement) -> Verdict | None:
    """By the slots that both fill."""
    weak: Verdict | None = None
    for new in filled(now):
        for old in filled(then):
            verdict = _by_filled(now, then, new, old)
            if verdict is not None and verdict.relation != "unrelated":
                return verdict
            weak = weak or verdict
    return weak


def slot_terms(now: Statement) -> TermSets:
    return [held for one in filled(now) if (held := _replaced_terms(now, one)) is not None]


def _replaced_terms(now: Statement, new: Filled) -> frozenset[str] | None:
    if new.kind == "switch" or now.ended or not new.value:
        # What has ended is found by its value, whatever it was called.
        return frozenset()
    if new.kind == "given" or (new.kind == "tool" and not (new.what and now.begun)):
        return None
    return index_terms(new.name)


def _by_filled(now: Statement, then: Statement, new: Filled, old: Filled) -> Verdict | None:
    if new.kind == "switch" and new.was:
        return _by_switch(then, new, old)
    if new.kind != old.kind:
        return None
    if not new.value or now.ended:
        # Something ended: at that place, with that person.
        return _by_end(now, then, new, old)
    if now.denied or then.denied:
        return None
    if new.kind == "preference":
        return _by_preference(now, new, old)
    if new.kind == "tool":
        return _by_tool(now, new, old)
    if new.what != old.what or not old.value:
        return None
    if new.value == old.value:
        known = not new.rest or core_stems(new.rest) == core_stems(old.rest)
        return Verdict("same", f"the same {new.label()}") if known else None
    if new.kind == "residence":
        return _by_place(now, then, new, old)
    return _by_value(now, then, new, old)


def _by_value(now: Statement, then: Statement, new: Filled, old: Filled) -> Verdict | None:
    about = new.label()
    changed = f"the {about} was {old.value} and is {new.value}"
    if new.kind == "given":
        return Verdict("contradicts", f"the {about} does not change: {old.value}, {new.value}")
    if one_includes_other(new.value, old.value) and new.kind not in ("version", "port", "age"):
        # 'Google' and 'Google Zurich': one may only be more exact.
        return _both(f"one {about} may only be more exact than the other")
    if new.kind in ("version", "port") and core_stems(new.rest) != core_stems(old.rest):
        return None
    if new.kind == "port" and not (new.what or now.subject) and new.name != old.name:
        return _both(f"{changed}, unless they are two")
    if new.kind == "host" and (re.search(_RUNS, now.body) is None) != (
        re.search(_RUNS, then.body) is None
    ):
        return _both(f"{changed}, unless one is a part of the other")
    by_person = new.kind == "employer" and re.search(r"(?i)\bworks? for\b", now.body)
    if _is_partial(new) or " and " in new.value or (by_person and not now.begun):
        return _both(f"{changed}, perhaps only in part")
    if new.kind == "name of":
        several = not new.what or bool(_SEVERAL_POSSIBLE.intersection(new.what.split()))
        certain = not several if new.what else not now.subject
        return Verdict("replaces", changed) if certain or now.begun else _both(changed)
    if new.kind == "due" and _is_vague(new.value) and not now.begun:
        return Verdict("contradicts", changed)
    return _replaced(changed, then, new, old)


def _replaced(changed: str, then: Statement, new: Filled, old: Filled) -> Verdict:
    """The newer value holds, and what else the older statement says is kept where that is certain
    to be a statement of its own."""
    if _covered(new, old):
        return Verdict("replaces", changed)
    keeps = _still_true(then, old)
    if keeps:
        return Verdict("replaces", changed, keeps)
    return Verdict("contradicts", f"{changed}, but the older one says more")


_MOVED = re.compile(r"(?i)\bmoved\b")
_PAST_FORMS = {
    "lives": "Lived", "live": "Lived", "works": "Worked", "work": "Worked", "resides": "Resided",
    "is": "Was", "based": "Was based", "working": "Was working", "living": "Was living",
}  # fmt: skip


def _still_true(then: Statement, old: Filled) -> str:
    """What a statement about somebody's home or work still says when that has changed: who else
    there is ('Wife is Ana'), or the whole of it in the past tense."""
    if then.subject or then.owned or old.kind not in ("residence", "employer", "occupation"):
        return ""
    if match := _PATTERNS["with relative"].match(old.rest.strip()):
        return f"{match['who'].capitalize()} is {match['name']}"
    first, _, rest = then.body.partition(" ")
    past = _PAST_FORMS.get(first.lower())
    return f"{past} {rest}" if past else ""


def _both(reason: str) -> Verdict:
    """They may speak against each other, and both may be true."""
    return Verdict("contradicts", reason, both=True)


_RUNS = r"(?i)\brun"


def _is_partial(one: Filled) -> bool:
    return bool(one.rest) and _PATTERNS["partial"].search(one.rest) is not None


def _covered(new: Filled, old: Filled) -> bool:
    """Whether the new statement covers everything else that the older one says."""
    return set(core_stems(old.rest)) <= set(core_stems(new.rest))


def _is_vague(value: str) -> bool:
    return re.search(r"\d", value) is None


def _by_place(now: Statement, then: Statement, new: Filled, old: Filled) -> Verdict | None:
    moved = f"lived in {old.value} and lives in {new.value}"
    if new.was and new.was == old.value:
        return _replaced(moved, then, new, old)
    if any(one.rest and not _PATTERNS["after place"].match(one.rest) for one in (new, old)):
        # 'The Lisbon office' is not a city.
        return None
    if _is_partial(new) or _is_partial(old):
        return _both(f"{moved}, perhaps only for a part of the time")
    here, there = city_and_country(new.value), city_and_country(old.value)
    if here is None or there is None:
        # One may lie in the other, and 'moved to Android' is about no place at all.
        unless = f"{moved}, unless one lies in the other"
        return Verdict("contradicts", unless, both=here is None and bool(_MOVED.search(now.body)))
    if here[1] == there[1] and "" in (here[0], there[0]):
        return None
    return _replaced(moved, then, new, old)


def _by_end(now: Statement, then: Statement, new: Filled, old: Filled) -> Verdict | None:
    gone = new.was or new.value
    if then.denied or not old.value or new.kind in ("preference", "tool", "version"):
        return None
    if new.kind == "spouse" and not gone:
        return Verdict("replaces", f"no longer with {old.value}")
    if gone != old.value:
        return None
    if not _covered(new, old) and new.kind != "employer":
        return Verdict("contradicts", f"{gone} is over, but the older one says more")
    return Verdict("replaces", f"{gone} is over")


def _by_switch(then: Statement, new: Filled, old: Filled) -> Verdict | None:
    if old.kind not in ("tool", "switch", "version", "preference", "host"):
        return None
    if then.denied and old.kind != "switch":
        return None
    used = f"{old.what} {old.value}" if old.kind == "version" else old.value
    if plain_value(used) != new.was and fold(old.value) != new.was:
        return None
    if new.what and old.what and new.what != old.what:
        return None
    narrowed = old.what and not new.what and old.kind == "preference"
    if narrowed or (old.kind == "preference" and old.was not in ("", new.value)):
        # It may have been given up for one purpose only.
        return _both(f"switched from {new.was} to {new.value}, perhaps here too")
    return Verdict("replaces", f"switched from {new.was} to {new.value}")


def _by_preference(now: Statement, new: Filled, old: Filled) -> Verdict | None:
    if new.what != old.what:
        return None
    if new.value == old.value:
        return Verdict("same", "the same preference") if new.was in ("", old.was) else None
    turned = old.was == new.value and new.was in ("", old.value)
    given_up = new.was and new.was == old.value and old.was in ("", new.value)
    if turned or given_up or (now.begun and not old.was and not new.was):
        return Verdict("replaces", f"preferred {old.value} and prefers {new.value}")
    return None


def _by_tool(now: Statement, new: Filled, old: Filled) -> Verdict | None:
    if new.value == old.value:
        return Verdict("same", f"uses {new.value}") if new.what == old.what else None
    if new.what and new.what == old.what and now.begun:
        return Verdict("replaces", f"used {old.value} and now uses {new.value}")
    return None


# Keys with a value: 'Editor: Vim', 'The fee is 5'


# A number after one of these is part of a name; another number is another thing.
_NUMBERED_NAMES = _WORDS["numbered names"]
_KEYED = r"(?P<key>[^\W\d_][\w /'()-]{1,40}?)\s*(?::|=|->|→)\s+(?P<value>\S.{0,80})\Z"
_KEY_IS = (
    r"(?i)(?:the )?(?P<key>[\w][\w /'.-]{1,50}?) (?:is|are|has been changed to|was changed to"
    r"|changed to|is set to|equals)(?: now)? (?P<value>\S.{0,80})\Z"
)
_TYPES = (
    ("address", r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.]+|(?:~|\.{0,2})/\S+"),
    ("number", r"(?i)[$€£]?\d+(?:[.,:]\d+)*(?: ?[%a-z]{1,12}(?: [a-z]+)?)?"),
    ("name", r"(?:[^\W\d_a-z][\w.&+'-]*)(?: [^\W\d_a-z][\w.&+'-]*){0,3}"),
    ("word", r"[\w.+#@/:-]+"),
)
# Keys with one value at a time.
_SINGLE_VALUED = _WORDS["single valued"]
_SINGLE_VALUED_ADJECTIVES = frozenset(["default", "main", "current", "primary", "preferred"])
_LIST_KEYS = _WORDS["list keys"]


def by_key(now: Statement, then: Statement) -> Verdict | None:
    """By two values of the same key, or by a value that was given up for another."""
    if (given_up := _by_given_up(now, then)) is not None:
        return given_up
    if (now.denied, now.owned) != (then.denied, then.owned) or now.denied:
        return None
    for pattern in _PAIR_PATTERNS:
        new = _pair(pattern, now.body)
        old = new and _pair(pattern, then.body)
        if new is not None and old is not None:
            return _by_pair(now, new, old)
    return None


def _by_given_up(now: Statement, then: Statement) -> Verdict | None:
    """'Switched from vim to helix' after 'Editor is vim'."""
    for new in filled(now):
        for pattern in _PAIR_PATTERNS if new.kind == "switch" and new.was else ():
            old = _pair(pattern, then.body)
            if old is not None and old.value == new.was and old.name.split()[-1] in _SINGLE_VALUED:
                return Verdict("replaces", f"switched from {new.was} to {new.value}")
    return None


def key_terms(now: Statement) -> TermSets:
    if now.denied:
        return []
    pairs = (pair for pattern in _PAIR_PATTERNS if (pair := _pair(pattern, now.body)) is not None)
    return [
        index_terms(pair.name)
        for pair in pairs
        if _has_one(pair) and pair.kind and _key_change(now, pair) == "replaces"
    ]


class _Pair(NamedTuple):
    """A key and its value: the original name, the forms that are compared, and the value's type."""

    name: str
    key: str
    value: str
    kind: str


_PAIR_PATTERNS = (_KEYED, _KEY_IS)


@lru_cache(maxsize=2_048)
def _pair(pattern: str, body: str) -> _Pair | None:
    match = re.match(pattern, body)
    if match is None:
        return None
    kind = _value_type(without_when(match["value"]))
    return _Pair(fold(match["key"]), attribute_key(match["key"]), plain_value(match["value"]), kind)


def _by_pair(now: Statement, new: _Pair, old: _Pair) -> Verdict | None:
    if new.key != old.key or not _has_one(new):
        return None
    if new.value == old.value:
        return Verdict("same", f"the same {new.key}")
    if new.kind != old.kind or not new.kind:
        return None
    changed = f"the {new.name} was {old.value} and is {new.value}"
    if one_includes_other(new.value, old.value) and new.kind != "number":
        return _both(f"{changed}, or one is only more exact")
    relation = _key_change(now, new)
    return None if relation == "unrelated" else Verdict(relation, changed)


def _has_one(pair: _Pair) -> bool:
    """Whether the key is not one of a list that grows, such as notes or todos."""
    return bool(pair.key) and pair.name.split()[-1] not in _LIST_KEYS


def _key_change(now: Statement, new: _Pair) -> Relation:
    """How a new value of a key relates to another one of its type."""
    words = [word.rstrip("s") if word not in _SINGLE_VALUED else word for word in new.name.split()]
    one = words[-1] in _SINGLE_VALUED or bool(_SINGLE_VALUED_ADJECTIVES.intersection(words))
    if one or (new.kind in ("number", "address") and words[-1] not in _NUMBERED_NAMES):
        return "replaces"
    if new.kind == "word" and not re.match(_KEYED, now.body):
        return "unrelated"
    return "replaces" if now.begun else "contradicts"


def _value_type(value: str) -> str:
    plain_value = value.strip(" .`\"'")
    return next((name for name, pattern in _TYPES if re.fullmatch(pattern, plain_value)), "")


# Relatives


_ONE_OF_THEM = {
    "wife": "wife",
    "husband": "husband",
    "mother": "mother",
    "mom": "mother",
    "father": "father",
    "dad": "father",
    "boss": "boss",
}
# A sister without a name is probably the only one; a friend is not.
_MOSTLY_ONE = ("sister", "brother", "son", "daughter")
_SEVERAL = (*_MOSTLY_ONE, "friend")
_RELATIVE = (
    rf"(?P<who>(?i:{'|'.join((*_ONE_OF_THEM, *_SEVERAL))}))(?: (?P<name>[^\W\d_a-z][\w-]*))?"
    r" (?P<does>\S.*)\Z"
)
# Slots that change over time and have one value at a time.
_CHANGING_SLOTS = frozenset(["residence", "employer", "occupation"])


def relative_terms(now: Statement) -> TermSets:
    match = re.match(_RELATIVE, now.body) if now.owned else None
    if match is None or not _fills_changing_slot(now._replace(body=match["does"], owned=False)):
        return []
    return [frozenset()]


def _fills_changing_slot(said: Statement) -> bool:
    return any(one.kind in _CHANGING_SLOTS for one in filled(said))


def by_relative(now: Statement, then: Statement) -> Verdict | None:
    """By a slot of the same relative."""
    if not (now.owned and then.owned):
        return None
    new, old = re.match(_RELATIVE, now.body), re.match(_RELATIVE, then.body)
    if new is None or old is None:
        return None
    who, other = new["who"].lower(), old["who"].lower()
    if _ONE_OF_THEM.get(who, who) != _ONE_OF_THEM.get(other, other):
        return None
    first, second = (
        said._replace(body=match["does"], owned=False) for said, match in ((now, new), (then, old))
    )
    if not (_fills_changing_slot(first) and _fills_changing_slot(second)):
        return None
    verdict = by_slot(first, second)
    if verdict is None or verdict.relation == "unrelated":
        return None
    verdict = verdict._replace(reason=f"{verdict.reason} (the {who})")
    names = (new["name"] or "").lower(), (old["name"] or "").lower()
    return _of_one(verdict, *names) if who in _ONE_OF_THEM else _of_several(verdict, who, *names)


def _of_one(verdict: Verdict, new: str, old: str) -> Verdict | None:
    if new and old and new != old:
        # Two names are two people.
        return None
    if old and not new and verdict.relation == "replaces":
        return Verdict("contradicts", f"{verdict.reason}, but the older one says more")
    return verdict


def _of_several(verdict: Verdict, who: str, new: str, old: str) -> Verdict | None:
    if new != old:
        return None
    if not new and (who not in _MOSTLY_ONE or verdict.relation == "same"):
        return None
    if verdict.relation == "same":
        return verdict
    return Verdict("contradicts", f"{verdict.reason}, unless they are two")
