"""Statements that end what an older one says, though they fill no slot of their own: who ran the
marathon no longer trains for it (`endings.txt`); the same that has gone on for longer by now; and
tools of one kind, of which somebody leaves one for another (`kinds.txt`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.facts.statements import KEPT_MAX, Statement, core_stems
from holdfast.text.slots.values import (
    TermSets,
    Verdict,
    filled,
    holds_any,
    index_terms,
    without_when,
)
from holdfast.text.tables import lazy, read_table


class Ending(NamedTuple):
    """A way to say that something has ended: a row of `endings.txt`. The newer statement begins
    with one of the `first` words where there are any."""

    first: frozenset[str]
    newer: re.Pattern[str]
    older: re.Pattern[str]


# Every newer statement has one of these words; most statements have none, and no pattern is tried.
_CUES = frozenset(
    """
    born birth had welcomed started starts got found landed accepted works bought rented gave given
    cancelled canceled called dropped quit abandoned left finished completed graduated passed ran
    failed adopted rescued expelled broke broken split again more sold rid away alone now days
    instead
    """.split()  # noqa: SIM905
)


@cache
def endings() -> tuple[Ending, ...]:
    return tuple(
        Ending(frozenset(() if first == "-" else first.split()), lazy(newer), lazy(older))
        for _, _, first, newer, older in read_table("slots/endings.txt")
    )


@lru_cache(maxsize=KEPT_MAX)
def _matching_endings(body: str) -> tuple[tuple[Ending, str | None], ...]:
    """The rows whose newer statement matches, with the name of the thing that ended if there is
    one."""
    words = body.lower().split()
    if _CUES.isdisjoint(words):
        return ()
    found = (
        (one, one.newer.match(body)) for one in endings() if not one.first or words[0] in one.first
    )
    return tuple((one, match.groupdict().get("what")) for one, match in found if match)


_SEVERAL = lazy(r"(?i)\b(?:and|or|both)\b|[,;/]")
# Further details of a thing: where it is, with whom, how often.
_OF_IT = lazy(
    r"(?i)[,;:(]|\b(?:in|at|on|by|for|from|to|of|with|without|near|since|until|every|each"
    r"|while|when|because|as|about)\b"
)


def by_ending(now: Statement, then: Statement) -> Verdict | None:
    """Compares by an event that ends something, after which the older statement no longer holds."""
    for one, what in _matching_endings(now.body):
        older = one.older.match(then.body)
        if older is None:
            continue
        if what is None:
            return Verdict("replaces", "it is over")
        # Of 'has a bike and a car', the car is still there.
        if not _SEVERAL.search(then.body):
            verdict = _by_thing(without_when(what), then.body[older.end() :])
            if verdict is not None:
                return verdict
    return None


def _by_thing(ended: str, held: str) -> Verdict | None:
    """Whether what has ended is what the older statement is about, or may be."""
    if not set(core_stems(ended)) <= set(core_stems(held)):
        return None
    kind, things = _things(ended)[:1], _things(held)
    if not kind:
        return None
    if kind[0] in things:
        return Verdict("replaces", "it is over")
    if any(thing[-len(kind[0]) :] == kind[0] for thing in things):
        # 'A company car' may be meant by 'my car', and 'a car insurance' is not.
        return Verdict("contradicts", "a thing of this kind is gone")
    return None


def _things(text: str) -> list[tuple[str, ...]]:
    """The stems of each thing that is named, without what else is said of it."""
    found = (tuple(core_stems(part)) for part in _OF_IT.split(text))
    return [stems for stems in found if stems]


def ended_terms(now: Statement) -> TermSets:
    """Index terms of what `by_ending` and `by_kind` may replace."""
    found: TermSets = [
        frozenset() if what is None else index_terms(without_when(what))
        for _, what in _matching_endings(now.body)
    ]
    if now.begun and any(one.kind == "tool" and kind_of(one.value) for one in filled(now)):
        found.append(frozenset())
    return found


# Durations

_LASTS = lazy(
    r"(?i),? \b(?:for|over)(?: (?:about|around|almost|nearly|over|more than|the (?:last|past)))*"
    r" (?P<long>(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r" (?:day|week|month|year)s?)\b(?: now| already)?"
)
# In other languages than English.
_LASTS_ELSEWHERE = lazy(
    r"(?i),? \b(?:seit|depuis|desde hace|hace|da|há|sinds|al)"
    r"(?: (?:etwa|rund|über|fast|environ|presque|unos|casi|circa|quasi|cerca de|quase|ongeveer"
    r"|bijna))? (?P<long>(?:\d+|[a-zà-ÿ]{2,8}) (?:tag|woche|monat|jahr|jour|semaine|mois|an|année"
    r"|día|semana|mes|año|giorn|settiman|ann|dia|mês|ano|dag|week|weken|maand|jaar)[a-z]{0,2})\b"
    r"(?: schon| déjà| ya| già| já| al)?"
)


# 'Has had their cat, Luna, for 9 months' says what 'Has had Luna for 6 months' says.
_WHO_IT_IS = lazy(r" (?i:my|our|their|his|her) [a-z]+,? (?=[A-Z])")


def _lasting(said: Statement) -> tuple[str, str] | None:
    """What goes on, and for how long by now."""
    body = said.body.lower()
    if holds_any(body, (" for ", " over ")):
        match = _LASTS.search(said.body)
    elif holds_any(body, (" seit ", " depuis ", " hace ", " da ", " há ", " sinds ", " al ")):
        match = _LASTS_ELSEWHERE.search(said.body)
    else:
        return None
    if match is None or said.denied:
        return None
    what = _WHO_IT_IS.sub(" ", said.body[: match.start()]) + said.body[match.end() :]
    # A statement in the person's own words has lost its 'I'.
    return re.sub(r"(?i)\Ahave\b", "Has", what), match["long"].lower()


# Said beside what goes on: how often, where, with whom.
_BESIDE = lazy(r"(?i)(?:,| (?:with|in|at|on|by|from|every|once|twice|\w+ times)\b|\Z)")


def by_duration(now: Statement, then: Statement) -> Verdict | None:
    """Compares statements of how long the same has been going on; what else the older one says of
    it is kept."""
    new, old = _lasting(now), _lasting(then)
    if new is None or old is None or new[1] == old[1] or now.owned != then.owned:
        return None
    short, long = sorted((new[0], old[0]), key=len)
    if not long.lower().startswith(short.lower()) or not _BESIDE.match(long, len(short)):
        return None
    keeps = old[0] if len(old[0]) > len(new[0]) else ""
    return Verdict("replaces", f"it was {old[1]} and is {new[1]}", keeps)


def duration_terms(now: Statement) -> TermSets:
    lasting = _lasting(now)
    stems = core_stems(lasting[0]) if lasting else []
    return [frozenset(stem for stem in stems[:1] if stem.isascii())] if stems else []


# Kinds of tools


# Kinds of which nobody uses two; of the others, the statement has to say that one was left.
_ONE_AT_A_TIME = ("indentation", "theme")
_LEFT = lazy(r"(?i)\b(?:switched|migrated|moved|changed|instead)\b")


@cache
def _kinds() -> dict[str, str]:
    """The kind of each tool in the table."""
    rows = read_table("slots/kinds.txt", joiner=" ")
    return {name: kind for kind, names in rows for name in names.split(", ")}


def kind_of(tool: str) -> str:
    """The kind of a tool that somebody uses or stopped using: 'browser' for 'firefox'; '' where it
    is not in the table."""
    return _kinds().get(tool, "")


def by_kind(now: Statement, then: Statement) -> Verdict | None:
    """Compares by a change to another tool of its kind: 'Switched to Firefox' after 'Uses
    Chrome'."""
    if not now.begun or now.denied or then.denied:
        return None
    for new in filled(now):
        kind = kind_of(new.value) if new.kind in ("tool", "preference") else ""
        if not kind or new.was:
            continue
        if kind not in _ONE_AT_A_TIME and _LEFT.search(now.body) is None:
            # Who now uses Emacs may use Vim as well.
            continue
        for old in filled(then):
            if old.kind not in ("tool", "preference") or old.value == new.value:
                continue
            if kind_of(old.value) == kind and old.what == new.what:
                return Verdict("replaces", f"the {kind} was {old.value} and is {new.value}")
    return None
