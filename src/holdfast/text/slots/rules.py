"""The rules by which a statement fills a slot: which attribute of which subject has which value.
The patterns, in `rules.txt`, match the body of an English statement (see `facts/statements.py`).
`values` decides which of two values replaces the other.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal, NamedTuple, TypeAlias, get_args

from holdfast.text.analysis.terms import fold, terms
from holdfast.text.facts.statements import KEPT_MAX, Statement, core_stems, without_helpers
from holdfast.text.tables import pieces, read_table, read_words

_WORDS = read_words("slots/words.txt")

# Rules


class SlotRule(NamedTuple):
    """A kind of slot, as a row of `rules.txt` describes it. Every matching statement contains one
    of `cues`, and one of `verbs` where there are any. The value of a `dated` rule is a time."""

    kind: str
    example: str
    cues: tuple[str, ...]
    pattern: str
    dated: bool
    verbs: tuple[str, ...]


# A time at the end of a statement, which is not part of the value.
_WHEN = (
    r"(?:,? (?:now|currently|today|yesterday|recently|again|already|these days|at the moment|"
    r"any ?more|any longer|nowadays|instead|permanently|for good|from now on"
    r"|(?:since|in|on|as of|from|around|starting|effective|back in|at the (?:end|start) of"
    r"|early in)"
    r" (?:the )?(?:early |late |mid-?)?(?:\d{4}(?:-\d\d){0,2}|(?:january|february|march|april|may"
    r"|june|july|august|september|october|november|december)(?:,? \d{1,4}(?:,? \d{4})?)?"
    r"|(?:spring|summer|autumn|fall|winter) (?:of )?\d{4}|\d{1,2}(?:st|nd|rd"
    r"|th)? (?:of )?(?:january|february|march|april"
    r"|may|june|july|august|september|october|november|december)(?:,? \d{4})?|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday)"
    r"|(?:last|this|next) (?:week|month|year|spring|summer|autumn|fall|winter|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday)|(?:a|an|one|two|three|\d+) (?:day|week|month"
    r"|year)s? ago|for (?:the (?:last|past) )?(?:\d+|two|three|four|five|ten|many|several)"
    r" (?:day|week|month|year)s))+"
)
# Every match of the pattern above ends with one of these, so other texts are skipped.
_WHEN_ENDS = _WORDS["when ends"]


def without_when(text: str) -> str:
    """A text without the time at its end."""
    last = text.rsplit(" ", 1)[-1].lower().strip(".,;!")
    if last not in _WHEN_ENDS and not last[:1].isdigit():
        return text.strip(" ,;")
    return re.sub(rf"(?i){_WHEN}\Z", "", text).strip(" ,;")


@cache
def rules() -> tuple[SlotRule, ...]:
    """The table, as it is in the file."""
    return tuple(
        SlotRule(kind, example, pieces(cues), pattern, dated == "dated", pieces(verbs))
        for kind, dated, example, cues, verbs, pattern in read_table("slots/rules.txt")
    )


@cache
def compiled(rule: SlotRule) -> re.Pattern[str]:
    """The pattern of a rule, compiled when it is first needed."""
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
    """A slot with its value. `what` tells slots of one kind apart, and `name` is its original
    wording. `was` is the value before, `rest` what else is said; `over`: there is no value now."""

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
    lasting = without_when(said.body)
    out = []
    for rule in rules():
        if not _holds_any(folded, rule.cues):
            continue
        if rule.verbs and not _holds_any(folded, rule.verbs):
            continue
        body = said.body if rule.dated else lasting
        match = compiled(rule).match(without_helpers(body)) or compiled(rule).match(body)
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


def _holds_any(text: str, wanted: tuple[str, ...]) -> bool:
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
    """What a slot is about, in the form in which it is compared."""
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
