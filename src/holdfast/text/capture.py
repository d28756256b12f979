"""What a person says about themselves in one turn, as facts in the third person.

Plain rules on single clauses, in English; precision comes before recall, as a wrong fact is told to
an agent on every turn, and what is missed is still found in the conversation. Which words are the
person's own is found in capture_own.py, the rules are in capture_rules.py, the wording is in
capture_person.py and capture_dates.py. This module knows text alone: not what is known already, nor
what becomes of a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from holdfast.text.capture_clauses import Clause, clauses
from holdfast.text.capture_dates import Resolved, resolve
from holdfast.text.capture_grammar import Rule
from holdfast.text.capture_guards import (
    ABOUT_ANSWERS,
    DECISION_LABEL,
    EXPLICIT,
    FRONTED,
    LAST_WORDS,
    OPENING,
    PASSING,
    POINTS,
    POINTS_NOWHERE,
    STANDING,
    STARTS,
    SUBJECTLESS,
    SUPPOSED,
    THIRD,
    TO_YOU,
)
from holdfast.text.capture_own import BLANK, Sentence, sentences
from holdfast.text.capture_person import finish, others, tell
from holdfast.text.capture_rules import rows_for

# A turn that states more is a form, or a list somebody pasted.
CAPTURED_MAX = 20
# One word is no statement.
_WORDS_MIN = 2
# 'Hi! So, by the way, actually …'
_OPENINGS_MAX = 4
_NOT_NAMES = frozenset({"", "user", "human", "me", "you"})


class Captured(NamedTuple):
    """A fact as memory keeps it, and the characters of the turn that support it."""

    text: str
    category: str
    start: int
    end: int
    rule: str
    explicit: bool = False
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None


def capture(said: str, *, at: datetime | None, speaker: str = "") -> list[Captured]:
    """The facts of one turn in the order they were said, each once.

    `at` is when it was said. Without it, 'last March' stays 'last March'. With a speaker that is a
    name, the name is the subject.
    """
    named = "" if speaker.strip().lower() in _NOT_NAMES else speaker.strip()
    found: dict[str, Captured] = {}
    for sentence in sentences(said):
        for fact in _facts(sentence, at, named):
            found.setdefault(fact.text.casefold(), fact)
        if len(found) >= CAPTURED_MAX:
            break
    return list(found.values())[:CAPTURED_MAX]


def _facts(sentence: Sentence, at: datetime | None, named: str) -> list[Captured]:
    asked = _asked(sentence, at, named)
    if asked is not None:
        return [asked]
    facts = (_stated(clause, at, named) for clause in clauses(sentence))
    return [fact for fact in facts if fact is not None]


# What is asked for by name


def _asked(sentence: Sentence, at: datetime | None, named: str) -> Captured | None:
    """What somebody asks to be remembered, or labels as a decision, to the end of the sentence."""
    opened = _opening(sentence.folded, until=EXPLICIT)
    explicit = EXPLICIT.match(sentence.folded, opened)
    labelled = DECISION_LABEL.match(sentence.folded, opened)
    begin = explicit or labelled
    if begin is None and not sentence.asked:
        return None
    front = begin.end() if begin else 0
    folded, words = _without_end(sentence.folded[front:].rstrip("? "), sentence.said[front:])
    if len(folded.split()) < _WORDS_MIN or BLANK in folded or TO_YOU.search(folded):
        return None
    rule = next(_rules(folded, words), None)
    if named and rule is None and not _STATES.search(folded):
        # Among people, 'remember' is also said to cheer each other up.
        return None
    when = rule.when if rule else "past" if _PAST.search(folded) else "ahead"
    if when == "yearly":
        resolved = Resolved(words, None, None)
    else:
        resolved = resolve(words, at, when=when)
    start = sentence.start + front
    return Captured(
        _reworded(rule, resolved.text, named),
        "decision" if labelled else rule.category if rule else "fact",
        start,
        start + len(words),
        "decision" if labelled else "remember",
        not labelled,
        resolved.since,
        resolved.until,
    )


_STATES = re.compile(r"\b(?:is|are|was|were|has|have)\b")
_PAST = re.compile(r"\b(?:was|were|had|did|went|got|came|left|\w{3,}ed)\b")


# What is stated


def _stated(clause: Clause, at: datetime | None, named: str) -> Captured | None:
    start = _opening(clause.folded)
    folded, words = clause.folded[start:], clause.said[start:]
    if len(folded.split()) < _WORDS_MIN:
        return None
    subject = clause.inherits or _left_out(clause, folded)
    if subject:
        folded, words = f"{subject} {folded}", f"{subject} {words[:1].lower()}{words[1:]}"
    begin = clause.support if clause.inherits else clause.start + start
    folded, words = _without_end(*_time_last(folded, words))
    if not named and clause.first and _is_standing(folded):
        told = finish(others(words))
        return Captured(told, "preference", begin, clause.end, "standing-order")
    for rule in _rules(folded, words):
        if not _holds(rule, folded):
            continue
        told, since, until = words, None, None
        if rule.when != "yearly":
            told, since, until = resolve(words, at, when=rule.when)
        if rule.lasting and not rule.dated:
            # 'Drives a 2015 Skoda' happened on no day.
            since = until = None
        if not rule.dated or since or "recently" in folded:
            told = _reworded(rule, told, named)
            return Captured(told, rule.category, begin, clause.end, rule.name, False, since, until)
    return None


def _is_standing(folded: str) -> bool:
    """Whether it is an order to the assistant that holds from now on."""
    if not STANDING.match(folded) or _CALLED.search(folded):
        return False
    return POINTS.search(ABOUT_ANSWERS.sub("", folded)) is None


def _opening(folded: str, until: re.Pattern[str] | None = None) -> int:
    """Where the words begin once greetings and fillers are left out."""
    at = 0
    for _ in range(_OPENINGS_MAX):
        found = OPENING.match(folded, at)
        if found is None or found.end() == at or (until and until.match(folded, at)):
            break
        at = found.end()
    return at


def _left_out(clause: Clause, folded: str) -> str:
    """The subject of 'Moved to Lisbon last March', which people leave out at the beginning."""
    if not clause.first or not SUBJECTLESS.match(folded):
        return ""
    return "i have" if folded.startswith(("been", "just been")) else "i"


def _time_last(folded: str, words: str) -> tuple[str, str]:
    """'Every morning I run' as 'I run every morning'."""
    fronted = FRONTED.match(folded)
    if fronted is None:
        return folded, words
    when = words[: len(fronted["when"])]
    rest = len(folded[fronted.end() :].rstrip(".,!? "))
    folded = f"{folded[fronted.end() :][:rest]} {fronted['when']}"
    return folded, f"{words[fronted.end() :][:rest]} {when[:1].lower()}{when[1:]}"


def _without_end(folded: str, words: str) -> tuple[str, str]:
    """A clause without the words and signs that only end it."""
    end = len(folded)
    while end:
        char = folded[end - 1]
        if not char.isalnum() and char not in _SIGNS_KEPT:
            end -= 1
        elif folded.endswith(" right now", 0, end):
            break  # it only holds for a while
        elif last := next((one for one in LAST_WORDS if folded.endswith(one, 0, end)), ""):
            end -= len(last)
        else:
            break
    return folded[:end], words[:end]


_SIGNS_KEPT = "'\"()/%$€£+#&?"


def _rules(folded: str, words: str) -> Iterator[Rule]:
    """The rows that the clause begins like, in their order."""
    if not STARTS.match(folded):
        return
    for rule, pattern in rows_for(folded):
        match = pattern.match(folded)
        if match is None:
            continue
        # A name is told from a word by its capital.
        if match.groupdict().get("name") and not words[match.start("name")].isupper():
            continue
        yield rule


def _holds(rule: Rule, folded: str) -> bool:
    """Whether nothing in the clause says that it is supposed, wished, passing or unclear."""
    if folded.endswith("?") or BLANK in folded or SUPPOSED.search(folded):
        return False
    if rule.lasting and PASSING.search(folded):
        return False
    plain = POINTS_NOWHERE.sub(" ", folded)
    if POINTS.search(plain):
        return False
    if rule.category == "person" or rule.name == "attribute":
        return True
    return THIRD.search(plain) is None


def _reworded(rule: Rule | None, words: str, named: str) -> str:
    """A clause as memory keeps it; a few kinds are turned round first."""
    name = rule.name if rule else ""
    if name == "name" and (called := _CALLED.search(words)):
        words = f"I am called {called[1]}"
    elif name == "name":
        words = _NAMES.sub(r"\1 is ", words)
    elif name == "kin-is" and (tie := _TIE.fullmatch(words)):
        words = f"my {tie[2]} is {tie[1]}"
    elif name.startswith("kin-"):
        words = _IS_SHORT.sub(r"\1 is \2", words)
    elif name == "decision" and (lets := _LETS.match(words)):
        words = f"{lets[1]}ing with{words[lets.end() :]}"
    return tell(words, named)


_CALLED = re.compile(r"(?i)\bcalls? me (.+)")
_NAMES = re.compile(r"(?i)\b(name)(?:['’]s|s) (?!is\b)")
_TIE = re.compile(r"(?i)(.+) is (?:my|our) (.+)")
_IS_SHORT = re.compile(
    r"(?i)^((?:my|our) [\w -]+?)['’]s (getting|moving|studying|working|living|turning|having"
    r"|starting|called|named|allergic|an?|from)\b"
)
_LETS = re.compile(r"(?i)let['’]?s (go|stick)(?= )(?: with)")
