"""Whether a claim is about whom the words were about: the speaker, what is theirs, or somebody with
a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.text.clauses import Clause
from holdfast.text.grounding_claim import CAPITAL, Part
from holdfast.text.grounding_words import words_of
from holdfast.text.terms import fold
from holdfast.text.word_forms import base_form, tense

_PRONOUNS = frozenset("he she they it this that there his her their its these those".split())  # noqa: SIM905


_COPULA = frozenset(["is", "are", "was", "were", "am", "been"])
_HAVING = frozenset(["has", "have", "had", "owns", "own"])


def same_subject(part: Part, run: Sequence[Clause], said: Sequence[str]) -> bool:
    """Whether both are about the same person or thing."""
    there = run[0].subject
    if part.subject == "self":
        if there in ("self", ""):
            return bool(there) or _is_elided(part, words_of(run[0].text))
        if there == "you" or there in _PRONOUNS:
            return False
        verb = next((word for word in part.words if word not in ("i", "user")), "")
        if verb in _COPULA or (verb in _HAVING and not there.startswith("my ")):
            # 'The CTO is my friend' does not make the speaker one.
            return False
        # 'My dog is called Rex' supports what speaks of the dog.
        return _is_within(there, part.words)
    if there in ("self", "you"):
        # 'I adopted Rex' says nothing of what Rex did.
        return _is_within(part.subject, ("i", "we", "my")) or _after_self(part, run)
    if there in _PRONOUNS or there == "":
        return False
    return _is_within(there, part.words) or _is_within(part.subject, words_of(there))


def _is_elided(part: Part, said: Sequence[str]) -> bool:
    """Whether a clause without a subject is about the speaker: 'Got a new laptop'. 'Use tabs' is an
    order, and 'Living in Oslo is expensive' is about nobody."""
    words = [word for word in said if word not in _OPENING]
    if not words or not words[0].isascii() or words[0] in part.words[:2]:
        return True
    time = tense(words[0])
    return time == "past" or (time == "ing" and not _FINITE.intersection(words[1:]))


_FINITE = frozenset(["is", "are", "was", "were", "has", "can", "will", "would"])
# What may stand before the verb.
_OPENING = frozenset("just now also finally recently today yesterday really still".split())  # noqa: SIM905


def _after_self(part: Part, run: Sequence[Clause]) -> bool:
    """Whether the claim only turns 'I have a dog called Rex' round to 'the dog is called Rex'."""
    words = words_of(run[0].text)
    naming = {base_form("called"), base_form("name")}.intersection(map(base_form, part.words))
    return bool(naming and _OWNING.intersection(words[:3])) and _is_within(part.subject, words)


_OWNING = frozenset(["have", "has", "got", "own", "my", "our"])
_SMALL = frozenset("the a an some all every my our his her their and 's".split())  # noqa: SIM905


def _is_within(phrase: str, words: Sequence[str]) -> bool:
    keys = {base_form(word) for word in words} | set(words)
    own = [word for word in words_of(phrase) if word not in _SMALL]
    if len(own) > 1 and len(own) != len(set(own)):
        # 'My boss's boss' is not the boss.
        return all(own.count(word) <= list(words).count(word) for word in own)
    return bool(own) and all(base_form(word) in keys or word in keys for word in own)


def names_agree(part: Part, run: Sequence[Clause]) -> bool:
    """Names stand in the order in which they were said, and none comes from a clause that speaks
    of somebody else beside."""
    names = {fold(name) for one in run for name in CAPITAL.findall(one.text)}
    said = [word for one in run for word in words_of(one.text)]
    places = [said.index(word) for word in part.words if word in names and word in said]
    if places != sorted(places):
        return False
    if _OF_SOMEBODY.search(" ".join(one.text for one in run)) and not _same_owners(part, run):
        return False
    if len(run) == 1:
        return True
    # Clauses that are taken together must be about nothing else.
    others = {
        fold(name)
        for one in run
        for name in re.findall(r"(?<!^)\b(?!I\b)[^\W\d_a-z][\w-]*", one.text)
    }
    return others <= set(part.words)


_OF_SOMEBODY = re.compile(r"\b([^\W\d_a-z]\w*)['’]s\b")


def _same_owners(part: Part, run: Sequence[Clause]) -> bool:
    """'Sue's manager is Tom' does not say that anybody is Sue."""
    text = " ".join(one.text for one in run)
    owners = {fold(name) for name in _OF_SOMEBODY.findall(text)}
    plain = {fold(name) for name in re.findall(r"\b([^\W\d_a-z]\w*)\b(?!['’]s)", text)}
    own = {fold(name) for name in _OF_SOMEBODY.findall(part.text)}
    return all(name in own or name not in part.words for name in owners - plain)
