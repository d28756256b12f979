"""What of whom a statement says, with which value: the slots that it fills, by the rules of
text.slots_rules. How two values stand to each other is not known here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, get_args

from holdfast.text.slots_rules import RULES, compiled, without_when
from holdfast.text.statements import KEPT_MAX, Statement, core_stems, without_helpers
from holdfast.text.terms import fold, terms

Relation: TypeAlias = Literal["same", "replaces", "contradicts", "unrelated"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


# What is in a statement by which it may take the place of others: for each such thing, index terms
# that those others have (see slots.held_by_replaced).
Held: TypeAlias = list[frozenset[str]]


class Verdict(NamedTuple):
    """How a new statement stands to an older one, and why, in half a sentence."""

    relation: Relation
    reason: str


class Filled(NamedTuple):
    """A slot with its value. `what` tells slots of one kind apart, and `name` is how it was said;
    `was` is the value before, `rest` what else is said, and `over` that there is no value now."""

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
        """What it is, for people."""
        if self.kind in ("due", "clock", "given") and self.name:
            return self.name
        link = "" if self.kind in ("favourite", "name of") else "of "
        kind = self.kind if self.name else self.kind.removesuffix(" of")
        return f"{kind} {link}{self.name}" if self.name else kind


@lru_cache(maxsize=KEPT_MAX)
def filled(said: Statement) -> tuple[Filled, ...]:
    folded = said.body.lower()
    lasting = without_when(said.body)
    out = []
    for rule in RULES:
        if not any(cue in folded for cue in rule.cues):
            continue
        if not any(verb in folded for verb in rule.verbs):
            continue
        body = said.body if rule.dated else lasting
        match = compiled(rule).match(without_helpers(body)) or compiled(rule).match(body)
        if match is None:
            continue
        name = " ".join(f"{_one(match, 'whose')} {_one(match, 'what')}".split())
        value, was, rest = _values(match)
        over = match.groupdict().get("gone") is not None
        if value or was or over:
            out.append(Filled(rule.kind, what_of(name), value, was, rest, over, _bare(name)))
    return tuple(out)


def _one(match: re.Match[str], name: str) -> str:
    """The group of this name that took part; a rule of several forms numbers them."""
    for group, text in match.groupdict().items():
        if text and group.rstrip("0123456789") == name:
            return text.strip()
    return ""


def _values(match: re.Match[str]) -> tuple[str, str, str]:
    value, was, rest = (_one(match, name) for name in ("value", "was", "rest"))
    return plain(value), plain(was), without_when(f" {rest}") if rest else ""


def plain(value: str) -> str:
    """A value as it is compared."""
    folded = fold(without_when(value)).strip(" .,;:!\"'`*")
    return re.sub(r"^(?:the|a|an|my|our|his|her|their) ", "", folded)


def what_of(text: str) -> str:
    """What a slot is about, as it is compared."""
    folded = re.sub(r"\b(?:the|a|an|my|our|its?|now|for|of|new|current)\b", " ", fold(text))
    return " ".join(core_stems(folded.replace("'s", " "))) or " ".join(folded.split())


def index_terms(name: str) -> frozenset[str]:
    """Index terms that a statement has which is about the same: those of the words that count."""
    kept = frozenset(what_of(name).split())
    return frozenset(term for term in kept.intersection(terms(name)) if term.isascii())


def _bare(name: str) -> str:
    return re.sub(r"^(?:the|this|my|our) ", "", fold(name))


def one_holds_the_other(one: str, other: str) -> bool:
    """Whether one value may only be more exact than the other."""
    first, second = set(core_stems(one)), set(core_stems(other))
    return bool(first and second) and (first <= second or second <= first)
