"""Captures what a person says about themselves, and what they order for the future, in one turn.

Requests to remember something and orders are recognised as such and kept in the person's own words.
Statements are matched by rules for single English clauses, by how a clause begins, and told in the
third person; the first rule that matches decides. In eight other languages a sentence about oneself
is kept as it was said (`facts/about_oneself.py`). Precision comes before recall: a wrong fact is
shown to an agent on every turn, and a missed one is still found in the conversation log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.capture.activity_rules import DOING, LIKES
from holdfast.text.capture.answers import answer_to
from holdfast.text.capture.change_rules import CHANGES
from holdfast.text.capture.introductions import introduced
from holdfast.text.capture.orders import order_start
from holdfast.text.capture.personal_rules import PEOPLE, PLAIN, SELF
from holdfast.text.capture.requests import requested
from holdfast.text.capture.sentences import ASIDE, BLANK, Clause, Sentence, clauses, sentences
from holdfast.text.capture.vocabulary import (
    ACQUAINTANCE,
    DECISION_LABEL,
    EXPLICIT,
    FRONTED,
    KIN,
    LAST_WORDS,
    OPENING,
    PASSING,
    POINTS,
    POINTS_NOWHERE,
    STARTS,
    SUBJECTLESS,
    SUPPOSED,
    THIRD,
    TO_YOU,
    TRADES,
    Rule,
)
from holdfast.text.capture.wording import (
    Resolved,
    as_said,
    dated,
    in_own_words,
    is_told_well,
    resolve,
    said_on,
    tell,
)
from holdfast.text.facts.about_oneself import RULE_OF, stated
from holdfast.text.patterns import lazy

# The table of rules


# Changes come first: 'I no longer eat meat' is no preference for meat.
RULES = (*CHANGES, *SELF, *PEOPLE, *LIKES, *DOING, *PLAIN)


def rows_for(folded: str) -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """The rules that can match a clause by its first word, with their patterns."""
    if folded.startswith(("i ", "i'", "im ", "ive ", "we ", "we'", "weve ")):
        return _compiled("i")
    return _compiled("my" if folded.startswith(("my ", "our ")) else "")


@lru_cache(maxsize=3)
def _compiled(subject: str) -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """Compiled once per process, and only what is needed: all of them take a tenth of a second."""
    rows = (rule for rule in RULES if _subject(rule) in ("", subject))
    return tuple((rule, lazy(rule.pattern)) for rule in rows)


def _subject(rule: Rule) -> str:
    """The first word of a rule's clauses, if its pattern shows it: 'i', 'my', or ''."""
    if rule.pattern.startswith(("(?:i|we", "(?:i'?m|i am|", "(?:i'?ve|i have|")):
        return "i"
    return "my" if rule.pattern.startswith("(?:my|our) ") else ""


# Capture


# A turn with more facts is a form or a pasted list.
CAPTURED_MAX = 20
# One word is not a statement.
_WORDS_MIN = 2
# 'Hi! So, by the way, actually …'
_OPENINGS_MAX = 4
_NOT_NAMES = frozenset({"", "user", "human", "me", "you"})
# What these rules find is about the person, or an order for the future: name, home, family, work,
# health, diet, tools, languages, standing instructions and decisions.
_STANDING_RULES = frozenset(
    """
    remember standing-order answer decision name birthday age lives from work trade degree trait
    allergy health languages attribute kin-name kin-is kin-does has-kin no-longer switched stopped
    moved new-job left prefers never uses setup since routine hates favourite
    life-event self kin-soon hobby
    """.split()  # noqa: SIM905 - a list of thirty quoted words is harder to read
)


class Captured(NamedTuple):
    """A fact in the third person or, where it is `verbatim`, in the person's own words, and the
    characters of the turn that support it."""

    text: str
    category: str
    start: int
    end: int
    rule: str
    explicit: bool = False
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None
    verbatim: bool = False

    @property
    def standing(self) -> bool:
        """Whether said once is enough for it to be kept for good."""
        return self.rule in _STANDING_RULES


def capture(
    said: str, *, at: datetime | None, speaker: str = "", question: str = ""
) -> list[Captured]:
    """The facts of one turn in the order they were said, each once.

    `at` is when it was said. Without it, 'last March' stays 'last March'. With a speaker that is a
    name, the name is the subject. `question` is what the assistant said last, which a short turn
    may answer.
    """
    named = "" if speaker.strip().lower() in _NOT_NAMES else speaker.strip()
    found: dict[str, Captured] = {}
    if question and not named and (answer := answer_to(question, said)) is not None:
        start = len(said) - len(said.lstrip())
        end = len(said.rstrip())
        fact = Captured(answer.text, answer.category, start, end, "answer", verbatim=True)
        found[fact.text.casefold()] = fact
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
    if not named and (order := _ordered(sentence, at)) is not None:
        return [order]
    if not named and (other := _in_another_language(sentence, at)) is not None:
        return [other]
    if not named and (called := _got_and_named(sentence, at)) is not None:
        return [called]
    greeted = sentence.start if _HELLO.match(sentence.folded) else None
    facts = (
        fact for clause in clauses(sentence) for fact in _stated(clause, at, named, greeted=greeted)
    )
    return list(facts)


def _got_and_named(sentence: Sentence, at: datetime | None) -> Captured | None:
    """'We got a puppy on Saturday, her name is Biscuit': the name says nothing by itself."""
    found = _NAMED_LATER.match(sentence.folded)
    if found is None or at is None or BLANK in found[0] or SUPPOSED.search(sentence.folded):
        return None
    if not sentence.said[found.start("name")].isupper():
        return None
    words = _without_end(found[0], sentence.said[: found.end()])[1]
    text = in_own_words(words, at)
    return Captured(
        text, "person", sentence.start, sentence.start + len(words), "kin-name", verbatim=True
    )


_NAMED_LATER = lazy(
    rf"(?:(?:hi|hey|hello|ok|btw|also|so|oh)[,!. ]+)?(?:i|we)(?:'ve| have)? (?:just |now |recently "
    rf"|finally )?(?:got|get|have|adopted|bought|rescued|had|welcomed) (?:an?|our|my|the|two) "
    rf"(?:\w+ ){{0,2}}?{KIN}\b[^.!?]{{0,60}}?(?:,| and| -|;) (?:his|her|its|their|the) "
    r"names?(?:'s| is| are) (?P<name>\S+)"
)
_HELLO = lazy(r"(?:hi|hey|hello|hiya|yo|good (?:morning|evening|afternoon))\b")


# Explicit requests


def _asked(sentence: Sentence, at: datetime | None, named: str) -> Captured | None:
    """What the person asks to be remembered or labels as a decision, to the end of the sentence."""
    opened = _opening(sentence.folded, until=EXPLICIT)
    explicit = EXPLICIT.match(sentence.folded, opened)
    labelled = DECISION_LABEL.match(sentence.folded, opened)
    begin = explicit or labelled
    front, end = begin.end() if begin else 0, len(sentence.said)
    if begin is None and not sentence.asked:
        # 'Please' and 'note' are fillers elsewhere, and begin a request here.
        places = ((at, requested(sentence.folded[at:])) for at in dict.fromkeys((0, opened)))
        found = next(((at, place) for at, place in places if place is not None), None)
        if found is None:
            return None
        front, end = found[0] + found[1][0], found[0] + found[1][1]
    # Addresses and notes in brackets are part of what is to be remembered.
    folded = sentence.folded[front:end].replace(ASIDE, "x").rstrip("? ")
    folded, words = _without_end(folded, sentence.said[front:end])
    if len(folded) < _CHARS_MIN or BLANK in folded or (begin and TO_YOU.search(folded)):
        return None
    if begin and not labelled and folded.count(" ") < _SHORT_WORDS and POINTS.search(folded):
        return None  # 'Remember, just do it.'
    if begin and _SAYING.match(begin[0]) and not _TELLS_SOMETHING.search(words):
        return None  # 'Remember, the experience matters as much as the result.'
    rule = next(_rules(folded, words), None)
    if named and rule is None and not _STATES.search(folded):
        # Between people, 'remember …' is also encouragement.
        return None
    when = rule.when if rule else "past" if _PAST.search(folded) else "ahead"
    if when == "yearly":
        resolved = Resolved(words, None, None)
    else:
        resolved = resolve(words, at, when=when)
    start = sentence.start + front
    # What somebody asks to be remembered is kept as it was said.
    return Captured(
        tell(resolved.text, named) if named else dated(as_said(words), resolved, at),
        "decision" if labelled else rule.category if rule else "fact",
        start,
        start + len(words),
        "decision" if labelled else "remember",
        not labelled,
        resolved.since,
        resolved.until,
        not named,
    )


# 'is 5' is the least that says something; it may be one word in other scripts.
_CHARS_MIN = 4
_SHORT_WORDS = 4
# With a comma, 'remember' also begins a piece of wisdom: what tells something has a person, a
# number, a name or an instruction in it.
_SAYING = lazy(r"(?:remember|never forget|don'?t forget|keep in mind), *$")
_TELLS_SOMETHING = lazy(
    r"(?i:\b(?:i|i'?m|i'?ve|my|me|we|our|us|no|not|never|always|only|don'?t|use|must)\b)|\d"
    r"|\A[A-Z]|(?<=\w )[A-Z]|[_/.@]\w"
)
_STATES = lazy(r"\b(?:is|are|was|were|has|have)\b")
_PAST = lazy(r"\b(?:was|were|had|did|went|got|came|left|\w{3,}ed)\b")


# Orders


def _ordered(sentence: Sentence, at: datetime | None) -> Captured | None:
    """What the person wants done from now on, in their own words."""
    opened = _order_opening(sentence.folded)
    start = order_start(sentence.folded[opened:])
    if start is None or BLANK in sentence.folded or _CALLED.search(sentence.folded):
        return None
    front = opened + start
    front += _POLITE.match(sentence.folded[front:]).end()  # type: ignore[union-attr]
    words = _without_end(sentence.folded[front:], sentence.said[front:])[1].rstrip("? ")
    begin = sentence.start + front
    # 'No, I need 120 stars, not 300' corrects what was said and orders nothing.
    told = _OWN_CORRECTION.match(sentence.folded[front:])
    category, rule = ("fact", "correction") if told else ("preference", "standing-order")
    return Captured(as_said(words), category, begin, begin + len(words), rule, verbatim=True)


_OWN_CORRECTION = lazy(
    r"(?:i|i'?m|i'?ve|my|he|she|they|his|her|their) (?!want you|need you|prefer|said|told|rather"
    r"|would rather|meant)(?=.*, not )"
)


_POLITE = lazy(r"(?:(?:please|pls|plz|just|and|but|so|also|again)\b,? *)*")
_GREETING = lazy(r"(?:(?:hi|hey|hello|ok|okay|btw|also|and|so|thanks|cool|great)[,!. ]+)+")


def _order_opening(folded: str) -> int:
    """Where a sentence begins after a greeting; 'no' and 'please' are part of an order."""
    found = _GREETING.match(folded)
    return found.end() if found else 0


# Other languages


def _in_another_language(sentence: Sentence, at: datetime | None) -> Captured | None:
    """What the person says about themselves in another language than English, as they said it."""
    found = stated(sentence.folded, sentence.said)
    if found is None:
        return None
    rule, category = RULE_OF[found.slot]
    words = as_said(sentence.said[found.start : found.end])
    if found.relative and at is not None:
        words = said_on(words, at)
    start = sentence.start + found.start
    return Captured(words, category, start, sentence.start + found.end, rule, verbatim=True)


# Statements


def _stated(
    clause: Clause, at: datetime | None, named: str, *, greeted: int | None
) -> Iterator[Captured]:
    """The facts of a clause. `greeted` is where a greeting before it begins."""
    start = _opening(clause.folded)
    folded, words = clause.folded[start:], clause.said[start:]
    if not named:
        known = introduced(folded, words, greeted=greeted is not None)
        for text in known:
            begin = clause.start + start if greeted is None else greeted
            yield Captured(text, "fact", begin, clause.end, "name", verbatim=True)
        if known:
            return
    if len(folded.split()) < _WORDS_MIN and not clause.inherits:
        return
    subject = clause.inherits or _left_out(clause, folded)
    if subject:
        # 'CTO' keeps its capitals.
        words = words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"
        if subject == "i'm" and _TRADE_ALONE.match(folded):
            subject = "i'm a"
        folded, words = f"{subject} {folded}", f"{subject} {words}"
    begin = clause.support if clause.inherits else clause.start + start
    own = words
    folded, words = _without_end(*_time_last(folded, words))
    for rule in _rules(folded, words):
        if not _holds(rule, _IT.sub("xx", words).lower() if "IT" in words else folded):
            continue
        resolved = Resolved(words, None, None)
        if rule.when != "yearly":
            resolved = resolve(words, at, when=rule.when)
        told, since, until = resolved.text, resolved.since, resolved.until
        if rule.lasting and not rule.dated:
            # 'Drives a 2015 Skoda' has no date.
            since = until = None
        if rule.dated and not since and "recently" not in folded:
            continue
        text, verbatim = _reworded(rule, told, named), False
        if clause.inherits == "i'm" and not named:
            verbatim = True  # 'Is' and the words of the person
        elif _FROM_WHEN.match(own) and not named:
            text, verbatim = as_said(own), True
        elif rule.verbatim or not is_told_well(words, resolved):
            if subject and not named:
                continue  # A part of a sentence does not stand by itself.
            text, verbatim = (tell(told, named) if named else as_said(words)), not named
        text = dated(text, resolved, at, in_words=not verbatim)
        name = rule.name
        if name == "decision" and not _SETTLES.search(folded):
            name = "intention"
        elif name == "uses" and _AT_TIMES.search(folded):
            name = "habit"
        elif name == "moved" and not _PLACE_NAMED.search(folded):
            name = "event"
        elif name == "project" and _LEARNS.search(folded):
            name = "self"
        elif name == "started" and _NEW_WORK.search(folded):
            name = "new-job"
        elif name == "event" and _LIFE_EVENT.search(folded):
            name = "life-event"
        elif name in ("kin-is", "kin-does") and _NOT_FAMILY.match(folded):
            name = "acquaintance"
        yield Captured(text, rule.category, begin, clause.end, name, False, since, until, verbatim)
        return


# 'IT' is a department.
_IT = lazy(r"\bIT\b")
_TRADE_ALONE = lazy(rf"(?!an? |the |c[a-z]o\b|head of|co-?founder)(?:[\w-]+ ){{0,2}}?{TRADES}")
# What is learned takes longer than what is built.
_LEARNS = lazy(
    r"\b(?:learning|training for|studying for|volunteering|teaching myself"
    r"|saving (?:up )?for)\b"
)
_NEW_WORK = lazy(r"\b(?:new|my) (?:\w+ )?(?:job|role|position)\b|\bworking (?:at|as|for) ")
# What happens once in a life is known for good.
_LIFE_EVENT = lazy(
    r"\b(?:wedding|married|due date|surgery|operation|(?:parental|maternity|paternity) leave"
    r"|baby)\b"
)
# What a colleague or a neighbour is like is no fact about the person.
_NOT_FAMILY = lazy(rf"(?:my|our) (?:\w+ )?{ACQUAINTANCE}\b")
# 'From Monday on I'm on leave' is clearer than with its time last.
_FROM_WHEN = lazy(r"(?i)(?:from|starting) (?!now)")
_PLACE_NAMED = lazy(r"\b(?:to|into|from|in with|out of) \S")
_AT_TIMES = lazy(r"\b(?:usually|sometimes|often|when|while|during)\b")
# What a decision is about for it to hold beyond the day: a tool, a way of working, a plan.
_SETTLES = lazy(
    r"\b(?:use|using|go with|going with|switch|migrate|adopt|drop|support|sunset|deprecate"
    r"|rewrite|ship|launch|hire|replace|standardi[sz]e|host|deploy|against|over|instead"
    r"|in favou?r|chose|chosen|picked|settled|opted|ruled out|that|not to)\b"
)


def _opening(folded: str, until: re.Pattern[str] | None = None) -> int:
    """Where the clause begins after greetings and fillers."""
    at = 0
    for _ in range(_OPENINGS_MAX):
        found = OPENING.match(folded, at)
        if found is None or found.end() == at or (until and until.match(folded, at)):
            break
        at = found.end()
    return at


def _left_out(clause: Clause, folded: str) -> str:
    """The subject of a clause without one, such as 'Moved to Lisbon last March'."""
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
    """A clause without trailing punctuation and closing words."""
    aside = _ASIDES.search(folded)
    end = aside.start() if aside else len(folded)
    while end:
        char = folded[end - 1]
        if not char.isalnum() and char not in _SIGNS_KEPT:
            end -= 1
        elif folded.endswith(" right now", 0, end):
            break  # it is only temporary
        elif last := next((one for one in LAST_WORDS if folded.endswith(one, 0, end)), ""):
            end -= len(last)
        else:
            break
    return folded[:end], words[:end]


_ASIDES = lazy(r",? (?:as|like) (?:i|we)(?:'ve| have)? (?:said|mentioned|told you)(?: before)?$")
_SIGNS_KEPT = "'\"()/%$€£+#&?"


def _rules(folded: str, words: str) -> Iterator[Rule]:
    """The rules that match the beginning of the clause, in order."""
    if not STARTS.match(folded):
        return
    for rule, pattern in rows_for(folded):
        match = pattern.match(folded)
        if match is None:
            continue
        # A name is recognised by its capital letter.
        if match.groupdict().get("name") and not words[match.start("name")].isupper():
            continue
        yield rule


def _holds(rule: Rule, folded: str) -> bool:
    """Whether the clause is not hypothetical, a wish, temporary or unclear."""
    if folded.endswith("?") or BLANK in folded or SUPPOSED.search(folded):
        return False
    if rule.lasting and PASSING.search(folded):
        return False
    if rule.name in ("prefers", "decision") and _SAYS_LITTLE.match(folded):
        return False
    plain = POINTS_NOWHERE.sub(" ", folded)
    if rule.name == "name":
        return True
    if POINTS.search(plain):
        return False
    if rule.category == "person" or rule.name == "attribute":
        return True
    return THIRD.search(plain) is None


# A preference for 'a balanced approach', or a choice of times, is about something said before.
_SAYS_LITTLE = lazy(
    r"\S+ \S+ (?:\S+ )?(?:an? |the )?(?:\w+ ){0,2}(?:approach|option|way|method|version|style|idea"
    r"|plan|solution)$"
    r"|.*\b(?:settled on|chose|picked|decided on|agreed on) (?:an? |the )?(?:\S+ )?(?:ratio|mix"
    r"|blend|combo|size|amount|colou?r|shade|price|fee|date|time)\b"
    r"|\S+ (?:\S+ )?(?:chose|picked|settled on|decided on) [\d: apm]+(?: (?:over|for) [\d: apm]+)?$"
)


def _reworded(rule: Rule | None, words: str, named: str) -> str:
    """A clause in the third person; a few kinds are rephrased first."""
    name = rule.name if rule else ""
    if name == "name" and (called := _CALLED.search(words)):
        words = f"I am called {called[1]}"
    elif name == "name":
        words = _NAMES.sub(r"\1 is ", words)
    elif name == "kin-is" and (tie := _TIE.fullmatch(words)):
        words = f"my {tie[2]} is {tie[1]}"
    elif name.startswith("kin-"):
        words = _IS_SHORT.sub(r"\1 is \2", words)
    return tell(words, named)


_CALLED = lazy(r"(?i)\bcalls? me ([^,;]+?)(?:,? (?:by the way|btw))?(?:[,;].*|$)")
_NAMES = lazy(r"(?i)\b(name)(?:['’]s|s) (?!is\b)")
_TIE = lazy(r"(?i)(.+) is (?:my|our) (.+)")
_IS_SHORT = lazy(
    r"(?i)^((?:my|our) [\w -]+?)['’]s (getting|moving|studying|working|living|turning|having"
    r"|starting|called|named|allergic|an?|from)\b"
)
