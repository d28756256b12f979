"""What a person says about themselves in one turn, as facts in the third person.

Plain rules on single clauses, in English; precision comes before recall, as a wrong fact is told to
an agent on every turn, and what is missed is still found in the conversation. The words that are
the person's own are found in capture_clauses.py, the rules are in capture_rules.py, the wording in
capture_person.py and capture_dates.py. This module knows text alone: not what is known already, nor
what becomes of a fact.
"""

# ruff: noqa: E501 - being laid out

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from holdfast.text.capture_clauses import Clause, Sentence, clauses, sentences
from holdfast.text.capture_dates import resolve
from holdfast.text.capture_grammar import Rule
from holdfast.text.capture_guards import (
    FRONTED,
    OPENING,
    PASSING,
    POINTS,
    SUPPOSED,
    THIRD,
    WANTED,
)
from holdfast.text.capture_person import finish, others, tell
from holdfast.text.capture_rules import compiled

# A turn that states more is a form, or a list somebody pasted.
CAPTURED_MAX = 20
_WORDS_MIN = 2
_NOT_NAMES = frozenset({"", "user", "human", "me", "you"})

_OPENINGS_MAX = 4
_EXPLICIT = re.compile(
    r"(?:(?:can|could|would|will) you +)?(?:please +|pls +)?(?:also +)?"
    r"(?:(?:remember|keep in mind|bear in mind|don'?t forget|do not forget|never forget|make a note|take note"
    r"|memori[sz]e|save (?:this|to memory|in memory)|store (?:this|in memory)|add to (?:your )?memory|note to self"
    r"|note down|write down|commit to memory)(?: this| the following)?(?: for (?:later|next time|the future))?"
    r"(?: *[:,] *| +that +| +(?=(?:i|i'?m|we|my|our) |the .{2,60} (?:is|are|was|were|has|have|will|can|must|goes|runs|starts|lives|uses) ))"
    r"|for (?:future|later) reference *[,:]? +)"
    # Of 'that time', 'that one' somebody only speaks.
    r"(?! |(?:time|day|one|when|night|guy|thing|the time|the day|to|you|your|how|what|where|who)\b)"
)
_STANDING = re.compile(
    r"(?:(?:from now on|going forward|in (?:the )?future|as a rule|by default),? (?:please )?(?:always |never |only |don'?t |do not |just )?"
    r"|(?:please )?(?:always|never) )"
    r"(?:use|answer|reply|respond|write|speak|keep|avoid|call|give|include|add|show|format|ask|explain|start|end|put|run|address|assume|cite|talk|send|make|be|suggest|recommend|commit|push|mention|apologi[sz]e|translate|return|prefer|convert|sign) \S"
)


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

    `at` is when it was said. Without it, 'last March' stays 'last March'.
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


def _stated(clause: Clause, at: datetime | None, named: str) -> Captured | None:
    start, folded = _opened(clause)
    words = clause.said[start:]
    if len(folded.split()) < _WORDS_MIN:
        return None
    subject = clause.inherits or _left_out(clause, folded)
    if subject:
        folded, words = f"{subject} {folded}", f"{subject} {words[:1].lower()}{words[1:]}"
    if not named and clause.first and _STANDING.match(folded) and not POINTS.search(folded):
        folded, words = _without_tail(folded, words)
        return _captured(clause, start, finish(others(words)), "preference", "standing-order")
    fronted = FRONTED.match(folded)
    if fronted is not None:
        folded = f"{folded[fronted.end() :].rstrip('.,!? ')} {fronted['when']}"
        when = words[: len(fronted["when"])]
        words = f"{words[fronted.end() :].rstrip('.,!? ')} {when[:1].lower()}{when[1:]}"
    folded, words = _without_tail(folded, words)
    rule = _rule(folded, words)
    if rule is None or not _holds(rule, folded, named):
        return None
    return _worded(clause, start, words, rule, at, named)


def _left_out(clause: Clause, folded: str) -> str:
    """The subject of 'Moved to Lisbon last March', which people leave out at the beginning."""
    if not clause.first or not _SUBJECTLESS.match(folded):
        return ""
    return "i have" if folded.startswith(("been", "just been")) else "i"


# Past forms only: others are orders as well.
_SUBJECTLESS = re.compile(
    r"(?:just |finally |recently |also )?(?:been (?:\w+ing|into)|lost|started|moved|got|quit|joined|switched|bought|sold"
    r"|adopted|became|decided|graduated|had|won|finished|met|went|left|opened|launched|retired|visited|attended|landed"
    r"|broke up|signed up|stopped|gave up|passed|dyed|ran|turned|celebrated|volunteered|performed|accepted|resigned) "
)


def _rule(folded: str, words: str) -> Rule | None:
    if not _STARTS.match(folded) and " is my " not in folded and " is our " not in folded:
        return None
    for rule, pattern in compiled():
        match = pattern.match(folded)
        if match is None:
            continue
        # A name is told from a word by its capital.
        if match.groupdict().get("name") and not words[match.start("name")].isupper():
            continue
        return rule
    return None


_STARTS = re.compile(
    r"(?:i|i'?m|i'?ve|we|we're|we'?ve|my|our|mine|the|let'?s|decision|final|call|people|everyone|everybody|friends|they|just|please|you)\b"
)
# Words that only end a sentence.
_LAST_WORDS = tuple(
    f" {word}"
    for word in (  # noqa: SIM905 - a list of thirty quoted words is harder to read
        "too|as well|either|though|tho|lol|haha|btw|by the way|fyi|tbh|actually|honestly|please|pls"
        "|thanks|thank you|xd|x|xx|now|you know|of course|obviously|again|right|ok|okay|anyway"
        "|if that matters|in case that helps|so far|unfortunately|and|but|so"
    ).split("|")
)


def _without_tail(folded: str, words: str) -> tuple[str, str]:
    """A clause without the words and signs that only end it."""
    end = len(folded)
    while end:
        char = folded[end - 1]
        if not char.isalnum() and char not in _KEPT_AT_THE_END:
            end -= 1
        elif last := next((one for one in _LAST_WORDS if folded.endswith(one, 0, end)), ""):
            end -= len(last)
        else:
            break
    return folded[:end], words[:end]


_KEPT_AT_THE_END = "'\"()/%$€£+#&?"


def _holds(rule: Rule, folded: str, named: str) -> bool:
    """Whether nothing in the clause says that it is supposed, wished, passing or unclear."""
    if folded.endswith("?") or SUPPOSED.search(folded) or WANTED.match(folded):
        return False
    if "\x00" in folded:
        return False
    if rule.lasting and PASSING.search(folded):
        return False
    plain = re.sub(
        r"\bthis (?:year|month|spring|summer|autumn|fall|winter|week|weekend|coming \w+|past \w+|january|february|march|april|may|june|july|august|september|october|november|december)\b|\bone (?:of|son|daughter|dog|cat|brother|sister|kid|child)\b|\bsame-|\bthese days\b",
        " ",
        folded,
    )
    if POINTS.search(plain):
        return False
    return rule.category == "person" or THIRD.search(plain) is None


def _worded(
    clause: Clause, start: int, words: str, rule: Rule, at: datetime | None, named: str
) -> Captured | None:
    since = until = None
    if rule.when != "yearly":
        resolved = resolve(words, at, ahead=rule.when == "ahead")
        if rule.dated and resolved.since is None and not _RECENTLY.search(words.lower()):
            return None
        words, since, until = resolved
    text = tell(words, named)
    if rule.name == "name" and (called := re.search(r"[Cc]alls? (?:me|them) (.+)", text)):
        text = tell(f"I am called {called[1]}", named)
    if rule.name == "kin-is" and (tie := re.match(r"(.+) is (?:my|our) (.+)", words)):
        text = tell(f"my {tie[2]} is {tie[1]}", named)
    if rule.name == "name":
        text = re.sub(r"^(.*)\b([Nn]ame)'?s (?!is\b)", r"\1\2 is ", text)
    if rule.name == "decision":
        text = re.sub(
            r"^(?:(?:The |Our |Final |My )?[Dd]ecision(?: is)? ?: ?|Let'?s (go|stick) with)",
            lambda m: {"go": "Going with", "stick": "Sticking with"}.get(m[1] or "", ""),
            text,
        )
        text = finish(text)
    fact = _captured(clause, start, text, rule.category, rule.name)
    return fact._replace(occurred_at=since, occurred_until=until)


_RECENTLY = re.compile(r"\brecently\b")


def _captured(clause: Clause, start: int, text: str, category: str, rule: str) -> Captured:
    begin = clause.support if clause.inherits else clause.start + start
    return Captured(text, category, begin, clause.end, rule)


def _opened(clause: Clause) -> tuple[int, str]:
    """Where the clause begins once greetings and fillers are left out, and its words from there."""
    at = 0
    for _ in range(_OPENINGS_MAX):
        found = OPENING.match(clause.folded, at)
        if found is None or found.end() == at:
            break
        at = found.end()
    return at, clause.folded[at:]


def _asked(sentence: Sentence, at: datetime | None, named: str) -> Captured | None:
    """What somebody asks to be remembered, or labels as a decision, to the end of the sentence."""
    opened = _before_remember(sentence.folded)
    asked = _EXPLICIT.match(sentence.folded, opened)
    labelled = _DECISION.match(sentence.folded, opened)
    match = asked or labelled
    if match is None:
        return None
    folded = sentence.folded[match.end() :].rstrip("? ")
    folded, words = _without_tail(folded, sentence.said[match.end() :][: len(folded)])
    if len(folded.split()) < _WORDS_MIN or "\x00" in folded or _TO_YOU.search(folded):
        return None
    rule = _rule(folded, words)
    if named and rule is None and not _STATES.search(folded):
        # Among people, 'remember' is said to cheer each other up, too.
        return None
    ahead = rule.when == "ahead" if rule else _PAST.search(folded) is None
    resolved = resolve(words, at, ahead=ahead)
    if rule is not None and rule.when == "yearly":
        resolved = resolved._replace(text=words)
    start = sentence.start + match.end()
    return Captured(
        tell(resolved.text, named),
        "decision" if labelled else rule.category if rule else "fact",
        start,
        start + len(words),
        "remember" if asked else "decision",
        asked is not None,
        resolved.since,
        resolved.until,
    )


_TO_YOU = re.compile(r"\b(?:you|you're|you'll|your|yourself)\b(?! (?:should|must|always|never))")
_STATES = re.compile(r"\b(?:is|are|was|were|has|have)\b")
_DECISION = re.compile(r"(?:the |our |final |my )?decision(?: is)? ?: ?")
_PAST = re.compile(r"\b(?:was|were|had|did|went|got|came|left|\w{3,}ed)\b")


def _before_remember(folded: str) -> int:
    at = 0
    for _ in range(_OPENINGS_MAX):
        found = OPENING.match(folded, at)
        if found is None or found.end() == at or _EXPLICIT.match(folded, at):
            break
        at = found.end()
    return at
