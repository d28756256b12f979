"""The slots that a statement fills, by the rules in `rules.txt`: which attribute of which subject
has which value. And which of two values of a slot replaces the other, and where that is not
certain. The patterns match the body of an English statement (see `facts/statements.py`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal, TypeAlias, get_args

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import fold, terms
from holdfast.text.facts.statements import KEPT_MAX, Statement, core_stems, without_helpers
from holdfast.text.tables import Patterns, lazy, pieces, read_table, read_words

_PATTERNS = Patterns("slots/patterns.txt")

_WORDS = read_words("slots/words.txt")

# Rules


class SlotRule(NamedTuple):
    """A kind of slot, as a row of `rules.txt` describes it. Every matching statement contains one
    of `cues`, and one of `verbs` where there are any, and begins with one of the `first` words
    where there are any. The value of a `dated` rule is a time."""

    kind: str
    example: str
    cues: tuple[str, ...]
    pattern: str
    dated: bool
    verbs: tuple[str, ...]
    first: frozenset[str]


# Every time at the end of a statement ends with one of these, so other texts are skipped.
_WHEN_ENDS = _WORDS["when ends"]


def without_when(text: str) -> str:
    """A statement without the time at its end."""
    last = text.rsplit(" ", 1)[-1].lower().strip(".,;!")
    if last not in _WHEN_ENDS and not last[:1].isdigit():
        return text.strip(" ,;")
    return _PATTERNS["when"].sub("", text).strip(" ,;")


@cache
def rules() -> tuple[SlotRule, ...]:
    """The rows of the table of slots."""
    return tuple(
        SlotRule(
            *(kind, example, pieces(cues), pattern, dated == "dated", pieces(verbs)),
            frozenset(() if first == "-" else first.split()),
        )
        for kind, dated, example, cues, verbs, first, pattern in read_table("slots/rules.txt")
    )


@cache
def compiled(rule: SlotRule) -> re.Pattern[str]:
    """The pattern of a rule of a slot, compiled when it is first needed."""
    return re.compile(rf"(?i)(?:{rule.pattern})\Z")


# Slots of a statement


Relation: TypeAlias = Literal["same", "replaces", "contradicts", "unrelated"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


# What is in a statement by which it may take the place of others: for each such thing, index terms
# that those others have (see `compare.terms_of_replaced`).
TermSets: TypeAlias = list[frozenset[str]]


class Verdict(NamedTuple):
    """How a new statement relates to an older one, and why, as a short phrase. `keeps`: what the
    replaced one says beyond that and is still true, as a statement of its own. `both`: it may be
    that both are true."""

    relation: Relation
    reason: str
    keeps: str = ""
    both: bool = False


class Filled(NamedTuple):
    """A slot with its value. `what` distinguishes slots of one kind, and `name` is its original
    wording. `was` is the value before, `rest` the rest of the statement; `over`: there is no value
    now."""

    kind: str
    what: str
    value: str
    was: str
    rest: str
    over: bool
    name: str

    def attribute(self) -> str:
        return f"{self.kind} {self.what}".strip()

    def label(self) -> str:
        """The slot in words, for people."""
        if self.kind in ("due", "given") and self.name:
            return self.name
        link = "" if self.kind in ("favourite", "name of") else "of "
        kind = self.kind if self.name else self.kind.removesuffix(" of")
        return f"{kind} {link}{self.name}" if self.name else kind


@lru_cache(maxsize=KEPT_MAX)
def filled(said: Statement) -> tuple[Filled, ...]:
    folded = said.body.lower()
    dated, lasting = _wordings(said.body), _wordings(without_when(said.body))
    out = []
    for rule in rules():
        if not holds_any(folded, rule.cues):
            continue
        if rule.verbs and not holds_any(folded, rule.verbs):
            continue
        match = _match(rule, dated if rule.dated else lasting)
        if match is None:
            continue
        name = " ".join(f"{_group(match, 'whose')} {_group(match, 'what')}".split())
        value, was, rest = _values(match)
        over = match.groupdict().get("gone") is not None
        if value or was or over:
            out.append(
                Filled(
                    rule.kind, attribute_key(name), value, was, rest, over, _without_article(name)
                )
            )
    return tuple(out)


def _wordings(body: str) -> tuple[tuple[str, str], ...]:
    """What the rules are matched with, each with its first word in small letters: a body from its
    verb on, and all of it."""
    return tuple(
        (text, text.split(" ", 1)[0].lower())
        for text in dict.fromkeys((without_helpers(body), body))
    )


def _match(rule: SlotRule, wordings: tuple[tuple[str, str], ...]) -> re.Match[str] | None:
    for text, first in wordings:
        # Looked at first, as compiling a pattern takes a millisecond.
        if (not rule.first or first in rule.first) and (match := compiled(rule).match(text)):
            return match
    return None


def holds_any(text: str, wanted: tuple[str, ...]) -> bool:
    # A loop: `any` takes twice as long, and this is asked thirty times of every statement.
    for piece in wanted:  # noqa: SIM110
        if piece in text:
            return True
    return False


def _group(match: re.Match[str], name: str) -> str:
    """The group of this name that matched; rules with several forms number their groups."""
    for group, text in match.groupdict().items():
        if text and group.rstrip("0123456789") == name:
            return text.strip()
    return ""


def _values(match: re.Match[str]) -> tuple[str, str, str]:
    value, was, rest = (_group(match, name) for name in ("value", "was", "rest"))
    return plain_value(value), plain_value(was), without_when(f" {rest}") if rest else ""


def plain_value(value: str) -> str:
    """A value in the form in which values are compared."""
    folded = fold(without_when(value)).strip(" .,;:!\"'`*")
    return re.sub(r"^(?:the|a|an|my|our|his|her|their) ", "", folded)


def attribute_key(text: str) -> str:
    """The attribute of a slot, normalised for comparison."""
    folded = re.sub(r"\b(?:the|a|an|my|our|its?|now|for|of|new|current)\b", " ", fold(text))
    return " ".join(core_stems(folded.replace("'s", " "))) or " ".join(folded.split())


def index_terms(name: str) -> frozenset[str]:
    """Index terms that every statement about the same thing has."""
    kept = frozenset(attribute_key(name).split())
    return frozenset(term for term in kept.intersection(terms(name)) if term.isascii())


def _without_article(name: str) -> str:
    return re.sub(r"^(?:the|this|my|our) ", "", fold(name))


def one_includes_other(one: str, other: str) -> bool:
    """Whether one value may only be more precise than the other."""
    first, second = set(core_stems(one)), set(core_stems(other))
    return bool(first and second) and (first <= second or second <= first)


# Places


@cache
def _places() -> tuple[dict[str, str], dict[str, str]]:
    """City → country, and each name of a country → the country."""
    cities: dict[str, str] = {}
    countries: dict[str, str] = {}
    for names, *inside in read_table("slots/places.txt", joiner=" "):
        country, *others = names.split("/")
        countries.update(dict.fromkeys([country, *others], country))
        cities.update(dict.fromkeys(", ".join(inside).split(", ") if inside else (), country))
    return cities, countries


def city_and_country(name: str) -> tuple[str, str] | None:
    """('lisbon', 'portugal') for 'Lisbon' and for 'Lisbon, Portugal', ('', 'portugal') for the
    country; None for a place that is not in the table."""
    cities, countries = _places()
    first, _, second = (part.strip() for part in fold(name).partition(","))
    if first in cities and (not second or countries.get(second, second) == cities[first]):
        return first, cities[first]
    if first in countries and not second:
        return "", countries[first]
    return None


# Two values of a slot


# Somebody may have several of these, though they say 'my'.
SEVERAL_POSSIBLE = _WORDS["several possible"]


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
    if new.kind != old.kind or (new.kind == "age" and now.subject and " old" not in now.body):
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
    if new.value == old.value or (new.kind == "version" and _plain(new) == _plain(old)):
        known = not new.rest or core_stems(new.rest) == core_stems(old.rest)
        # 'I'm using Bootstrap 5.3.0 for the modal' says no more of the project than the first time.
        known = known or (new.kind == "version" and not re.search(r"\d", new.rest))
        return Verdict("same", f"the same {new.label()}") if known else None
    if new.kind == "residence":
        return _by_place(now, then, new, old)
    return _by_value(now, then, new, old)


def _plain(version: Filled) -> str:
    """'5.3' of 'v5.3'."""
    return version.value.lower().removeprefix("v")


def _by_value(now: Statement, then: Statement, new: Filled, old: Filled) -> Verdict | None:
    about = new.label()
    changed = f"the {about} was {old.value} and is {new.value}"
    if new.kind == "given":
        return Verdict("contradicts", f"the {about} does not change: {old.value}, {new.value}")
    if one_includes_other(new.value, old.value) and new.kind not in ("version", "port", "age"):
        # 'Google' and 'Google Zurich': one may only be more exact.
        return _both(f"one {about} may only be more exact than the other")
    if new.kind in ("version", "port") and core_stems(new.rest) != core_stems(old.rest):
        return _both(changed) if now.begun and new.kind == "version" else None
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
        several = not new.what or bool(SEVERAL_POSSIBLE.intersection(new.what.split()))
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


_MOVED = lazy(r"(?i)\bmoved\b")
_PAST_FORMS = {
    "lives": "Lived", "live": "Lived", "works": "Worked", "work": "Worked", "resides": "Resided",
    "is": "Was", "based": "Was based", "working": "Was working", "living": "Was living",
}  # fmt: skip


def _still_true(then: Statement, old: Filled) -> str:
    """What a statement about somebody's home or work still says when that has changed: who else
    there is ('Wife is Ana'), or the whole of it in the past tense."""
    if then.subject or then.owned or old.kind not in ("residence", "employer", "occupation"):
        return ""
    if relative := _relative_with(old):
        return relative
    first, _, rest = then.body.partition(" ")
    past = _PAST_FORMS.get(first.lower())
    return f"{past} {rest}" if past else ""


def _relative_with(old: Filled) -> str:
    """'Wife is Ana' of 'with my wife Ana'; empty where nobody is named."""
    match = _PATTERNS["with relative"].match(old.rest.strip())
    return f"{match['who'].capitalize()} is {match['name']}" if match else ""


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
        both = here is None and bool(_MOVED.search(now.body))
        return Verdict("contradicts", unless, "" if both else _relative_with(old), both)
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
    if old.kind == "preference" and old.what != new.what:
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
    """Compares statements about the same relative by the slots that both fill."""
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
