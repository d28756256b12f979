"""Two values of one slot: which takes the place of the other, and where that is not certain."""

from __future__ import annotations

import re

from holdfast.text.places import city_and_country
from holdfast.text.slots_fill import (
    Filled,
    Held,
    Verdict,
    filled,
    index_terms,
    one_holds_the_other,
    plain,
)
from holdfast.text.statements import Statement, core_stems
from holdfast.text.terms import fold

# Of these somebody may have several, though they speak of 'my' one.
_ONE_OF_SOME = frozenset(
    """
    dog cat pet horse bird son daughter child kid brother sister friend cousin niece nephew uncle
    aunt car bike colleagu neighbour neighbor babi boy girl
    """.split()  # noqa: SIM905
)


def by_slot(now: Statement, then: Statement) -> Verdict | None:
    """By the slots that both fill."""
    weak: Verdict | None = None
    for new in filled(now):
        for old in filled(then):
            verdict = _byfilled(now, then, new, old)
            if verdict is not None and verdict.relation != "unrelated":
                return verdict
            weak = weak or verdict
    return weak


def slots_in(now: Statement) -> Held:
    return [held for one in filled(now) if (held := _held(now, one)) is not None]


def _held(now: Statement, new: Filled) -> frozenset[str] | None:
    if new.kind == "switch" or now.ended or not new.value:
        # What is over has a value of its own, however it was called.
        return frozenset()
    if new.kind == "given" or (new.kind == "tool" and not (new.what and now.begun)):
        return None
    return index_terms(new.name)


def _byfilled(now: Statement, then: Statement, new: Filled, old: Filled) -> Verdict | None:
    if new.kind == "switch" and new.was:
        return _by_switch(then, new, old)
    if new.kind != old.kind:
        return None
    if not new.value or now.ended:
        # It says that something ended: at that place, with that person.
        return _by_end(now, then, new, old)
    if now.denied or then.denied:
        return None
    if new.kind == "preference":
        return _by_preference(new, old)
    if new.kind == "tool":
        return _by_tool(now, new, old)
    if new.what != old.what or not old.value:
        return None
    if new.value == old.value:
        known = not new.rest or core_stems(new.rest) == core_stems(old.rest)
        return Verdict("same", f"the same {new.label()}") if known else None
    if new.kind == "residence":
        return _by_place(new, old)
    return _by_value(now, then, new, old)


def _by_value(now: Statement, then: Statement, new: Filled, old: Filled) -> Verdict | None:
    about = new.label()
    changed = f"the {about} was {old.value} and is {new.value}"
    if new.kind == "given":
        return Verdict("contradicts", f"the {about} does not change: {old.value}, {new.value}")
    if one_holds_the_other(new.value, old.value) and new.kind not in ("version", "port", "age"):
        # 'Google' and 'Google Zurich': one may only be more exact.
        return Verdict("contradicts", f"one {about} may only be more exact than the other")
    if new.kind in ("version", "port") and core_stems(new.rest) != core_stems(old.rest):
        return None
    if new.kind == "port" and not (new.what or now.subject) and new.name != old.name:
        return Verdict("contradicts", f"{changed}, unless they are two")
    if new.kind == "host" and (re.search(_RUNS, now.body) is None) != (
        re.search(_RUNS, then.body) is None
    ):
        return Verdict("contradicts", f"{changed}, unless one is a part of the other")
    by_person = new.kind == "employer" and re.search(r"(?i)\bworks? for\b", now.body)
    if _is_partial(new) or " and " in new.value or (by_person and not now.begun):
        return Verdict("contradicts", f"{changed}, perhaps only in part")
    if new.kind == "name of":
        several = not new.what or bool(_ONE_OF_SOME.intersection(new.what.split()))
        certain = not several if new.what else not now.subject
        return Verdict("replaces" if certain or now.begun else "contradicts", changed)
    if new.kind == "due" and _is_vague(new.value) and not now.begun:
        return Verdict("contradicts", changed)
    if not _covered(new, old):
        return Verdict("contradicts", f"{changed}, but the older one says more")
    return Verdict("replaces", changed)


_RUNS = r"(?i)\brun"
_AFTER_PLACE = (
    r"(?i)(?:with|and|but|near|since|in|for|because|at|on|now|again|from|to|as|by|where|which|who"
    r"|after|before|last|this|next|together|alone|permanently|over|under|so|of)\b|\W"
)
# For a part of the time, or of the work, an older value may go on.
_PARTIAL = (
    r"(?i)\b(?:during|while|when|summers?|winters?|spring|autumn|weekends?|weekdays?|mornings?"
    r"|evenings?|nights?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|holidays?|half|partly"
    r"|remotely"
    r"|temporarily|investor|advis[eo]r|board|member|volunteer|contractor|consultant|mentor|intern"
    r"|(?:days?|hours?) (?:a|per) (?:week|day|month)|for (?:a|the|two|three|\d+) (?:week|month"
    r"|year|day|summer|winter)s?)\b"
)


def _is_partial(one: Filled) -> bool:
    return bool(one.rest) and re.search(_PARTIAL, one.rest) is not None


def _covered(new: Filled, old: Filled) -> bool:
    """Whether everything that the older one says goes with its value."""
    return set(core_stems(old.rest)) <= set(core_stems(new.rest))


def _is_vague(value: str) -> bool:
    return re.search(r"\d", value) is None


def _by_place(new: Filled, old: Filled) -> Verdict | None:
    moved = f"lived in {old.value} and lives in {new.value}"
    if new.was and new.was == old.value:
        return Verdict("replaces" if _covered(new, old) else "contradicts", moved)
    if any(one.rest and not re.match(_AFTER_PLACE, one.rest) for one in (new, old)):
        # 'The Lisbon office' is no city.
        return None
    if _is_partial(new) or _is_partial(old):
        return Verdict("contradicts", f"{moved}, perhaps only for a part of the time")
    here, there = city_and_country(new.value), city_and_country(old.value)
    if here is None or there is None:
        # One may lie in the other.
        return Verdict("contradicts", f"{moved}, unless one lies in the other")
    if here[1] == there[1] and "" in (here[0], there[0]):
        return None
    if not _covered(new, old):
        return Verdict("contradicts", f"{moved}, but the older one says more")
    return Verdict("replaces", moved)


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
    if then.denied or old.kind not in ("tool", "switch", "version", "preference", "host"):
        return None
    used = f"{old.what} {old.value}" if old.kind == "version" else old.value
    if plain(used) != new.was and fold(old.value) != new.was:
        return None
    if new.what and old.what and new.what != old.what:
        return None
    narrowed = old.what and not new.what and old.kind in ("tool", "preference")
    if narrowed or (old.kind == "preference" and old.was not in ("", new.value)):
        # It may have been given up for one use alone.
        return Verdict("contradicts", f"switched from {new.was} to {new.value}, perhaps here too")
    return Verdict("replaces", f"switched from {new.was} to {new.value}")


def _by_preference(new: Filled, old: Filled) -> Verdict | None:
    if new.what != old.what:
        return None
    if new.value == old.value:
        return Verdict("same", "the same preference") if new.was in ("", old.was) else None
    turned = old.was == new.value and new.was in ("", old.value)
    given_up = new.was and new.was == old.value and old.was in ("", new.value)
    if turned or given_up:
        return Verdict("replaces", f"preferred {old.value} and prefers {new.value}")
    return None


def _by_tool(now: Statement, new: Filled, old: Filled) -> Verdict | None:
    if new.value == old.value:
        return Verdict("same", f"uses {new.value}") if new.what == old.what else None
    if new.what and new.what == old.what and now.begun:
        return Verdict("replaces", f"used {old.value} and now uses {new.value}")
    return None
