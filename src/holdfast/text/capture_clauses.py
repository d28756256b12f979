"""The statements of a sentence, so that one fact stands in one clause.

A sentence is cut where a new statement begins: at 'and I', before a question, where a subject gets
a second verb. It knows how English joins clauses, and not which of them are worth keeping: that is
in capture_rules.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.text.capture_guards import OPENING
from holdfast.text.capture_own import Sentence
from holdfast.text.capture_words import any_of

# A longer clause holds more than one thing, and a rule on its opening proves little.
CLAUSE_CHARS_MAX = 220
# After more words than this, 'i' rather belongs to 'the mixer i got'.
_RUN_ON_WORDS_MAX = 6
# A subject stands within so many characters of a clause, behind greetings and fillers.
_SUBJECT_CHARS_MAX = 60


class Clause(NamedTuple):
    """A statement within a sentence, and its place in the turn."""

    start: int
    end: int
    said: str
    folded: str
    # 'I live in Porto and work as a nurse': the second clause has no subject of its own.
    inherits: str = ""
    # Where the support for the clause begins: at its subject, when it is inherited.
    support: int = -1
    first: bool = True


_ASKS = any_of(
    """
    please, pls, plz, can, could, would, will you, what, what's, whats, which, how, how's, any,
    where, when, should, do, does, did, is, are, who, why, let'?s, let me, tell, give, help,
    suggest, recommend, make, write, show, find, thoughts, is there, got any, have you, has anyone
    """
)
_WHO = any_of(
    """
    i, i'?m, i'?ve, i'll, i'd, we, we're, we'?ve, my, our, he, he's, she, she's, they, they're, it,
    it's, its, you, you're, your, the, that, that's, this, there, there's, nobody, everyone,
    people, his, her, their
    """
)
_JOINT = re.compile(
    r",? (?:and|but|so|because|cause|'cause|cuz|coz|bc|though|although|while|whereas|plus|except"
    rf"|then|as|yet|or)(?: also| now| then)?(?= {_WHO}\b)"
    rf"|,? (?:and|so|but)(?= {_ASKS}\b)"
    # 'So' leads to what follows from the fact, which is not the fact.
    r"|,? so(?= (?:no|not|nothing|none|avoid|don'?t|never)\b"
    r"| \S+ (?:\S+ )?(?:is|are|don'?t|doesn'?t|won'?t|can'?t|has|have|works?|matters?)\b)"
    # 'Since I was a kid' is a time, 'since I'm vegan' a statement.
    r"|,? since(?= (?:i'?m|i am|i have|i don'?t|i prefer|my|our|we're|we are|it|it's|the|you|she"
    r"|he|they)\b)"
    r"|, (?:but|so|which|where|though|although|because|since|except|unless|hence|meaning|thanks"
    r"|thank you|lol|haha)\b"
    rf"|,(?= {_WHO}\b)|,(?= {_ASKS}\b)|,(?= been\b)"
    r"| (?:lol|haha|lmao|tbh|btw|fyi|thx|thanks|xx+|xd)\b"
    r"| (?:-+|–|—) |[;()]| ?(?:\.{2,}|…)| [:;]-?[)(dp](?= |$)|: |\x01+"
    # People who use no punctuation: 'hi im ana i live in porto'.
    r"|(?<=[a-z])(?= i(?:'?m| am| live| work| have)\b)"
)
# Before a new 'I', one of these means that no new statement begins there.
_HOLDS = frozenset(
    """
    that if when where what who whom how why because since while as before after until unless than
    think know said say says believe guess hope wish feel like the of to in on at for with by from
    monday tuesday wednesday thursday friday saturday sunday week month year weekend ago days
    spring summer autumn fall winter morning evening mornings evenings weekends yesterday today
    january february march april may june july august september october november december
    place thing things time way reason day year one ones everything all something anything nothing
    and or but so which whether whenever wherever whatever though although once suppose sure told
    decided agreed not did do does am was cause cuz person people stuff only every food city town
    now here
    """.split()  # noqa: SIM905 - a list of eighty quoted words is harder to read
)
_VERBS = any_of(
    """
    work, live, use, prefer, hate, love, like, enjoy, study, teach, speak, play, eat, drink, run,
    own, drive, moved, started, decided, switched, bought, got, joined, quit, left, am, 'm, have,
    don't, dont, can't, cant, never, always, usually, commute, go, grew up, was born, graduated,
    sold, adopted, married, stopped, became, hope, want, need, plan, think, wish, would, might,
    feel, guess, put, make, try, keep, get, take, find, bring, help, spend, write, read, watch,
    listen, made, took, went, said, told, had, saw, met, format, lint, deploy, build, test
    """
)
_AND_VERB = re.compile(rf",? (?:and|but)(?: also| now| then)? (?={_VERBS}\b)")
_QUESTION = re.compile(rf"{_ASKS}\b")
_OPENS = re.compile(rf"(?:{OPENING.pattern}){{1,4}}")
_BEGINS = re.compile(r"(?:hi|hey|hello|yo|ok|so|and|well|i|i'?m|my|we)\b")
_SUBJECT = re.compile(r"(?:^|[\s,])(i|we)(?:'?m|'?ve|'re)? ")
_REPORTED = re.compile(
    r"(?:\b(?:said|says|say|told|tells|asked|asks|thinks?|thought|wrote|writes|goes|reads|claims?"
    r"|like|heard|if|unless|whether|suppose)(?: (?:me|us|that|him|her|them))?|:)[ ,]*$"
)
_SUPPOSED_OPENING = re.compile(
    r"(?:and |but |so |well,? |ok,? )*(?:if|unless|suppose|imagine|pretend|assuming|in case|were i"
    r"|had i|say|let'?s say|what if|maybe|perhaps)\b"
)


def clauses(sentence: Sentence) -> Iterator[Clause]:
    """The statements of a sentence, in order; none of a question."""
    folded = sentence.folded
    if _SUPPOSED_OPENING.match(folded):
        return
    joints = _joints(folded)
    last = len(joints) - 1
    if folded.rstrip("\"')]”’ ").endswith("?"):
        # Only what comes before a question of its own is stated.
        opens = [n for n in range(1, last) if _QUESTION.match(folded[joints[n][1] :].lstrip())]
        last = opens[-1] if opens else 0
    for n in range(last):
        yield from _by_verbs(sentence, joints[n][1], joints[n + 1][0], n == 0)


def _joints(folded: str) -> list[tuple[int, int]]:
    """The places between statements, with the beginning and the end of them all."""
    joints = [(0, 0)]
    stop = len(folded)
    for found in _JOINT.finditer(folded):
        if found.group() == ": " and not _OPENS.fullmatch(folded[: found.end()]):
            # What comes behind a colon is quoted, or an example.
            stop = found.start()
            break
        if _is_joint(folded, joints[-1][1], found):
            joints.append(found.span())
    return [*joints, (stop, stop)]


def _is_joint(folded: str, begin: int, found: re.Match[str]) -> bool:
    before = folded[begin : found.start()]
    if found.end() == found.start():
        short = before.count(" ") < _RUN_ON_WORDS_MAX and _BEGINS.match(before.lstrip())
        return bool(short) and before.rsplit(" ", 1)[-1] not in _HOLDS
    # 40 characters hold the longest of these.
    return _REPORTED.search(before[-40:]) is None


def _by_verbs(sentence: Sentence, begin: int, stop: int, first: bool) -> Iterator[Clause]:
    """A clause, cut once more where its subject gets a second verb."""
    offset, folded = sentence.start, sentence.folded
    subject = _SUBJECT.search(folded[begin : begin + _SUBJECT_CHARS_MAX])
    marks = list(_AND_VERB.finditer(folded, begin, stop)) if subject else []
    bounds = [begin, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), stop]
    for n, (left, right) in enumerate(zip(bounds, ends, strict=True)):
        text = folded[left:right]
        left, right = left + len(text) - len(text.lstrip()), left + len(text.rstrip())
        if not 0 < right - left <= CLAUSE_CHARS_MAX:
            continue
        yield Clause(
            offset + left,
            offset + right,
            sentence.said[left:right],
            folded[left:right],
            inherits=subject[1] if subject and n else "",
            support=offset + begin + len(folded[begin:stop]) - len(folded[begin:stop].lstrip()),
            first=first and not n,
        )
