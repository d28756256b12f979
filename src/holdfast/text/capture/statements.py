"""Statements: what a clause says about the person. Rules for single English clauses (`rules.txt`)
decide by how a clause begins; the first that matches counts. Introductions ('I am Karl, CTO of
Acme', 'hi im ana', 'names Priya', 'she/her') state several facts, each one of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Literal, NamedTuple

from holdfast.text.capture.self_contained import is_self_contained
from holdfast.text.capture.sentences import BLANK, Clause
from holdfast.text.capture.wording import (
    Resolved,
    as_said,
    dated,
    finish,
    is_told_well,
    resolve,
    speaks_of_oneself,
    tell,
)
from holdfast.text.facts.statements import without_note
from holdfast.text.tables import Patterns, lazy, pieces, read_table, read_words

_PATTERNS = Patterns("capture/patterns.txt")
_WORDS = read_words("capture/words.txt")

# One word is not a statement.
_WORDS_MIN = 2
# 'Hi! So, by the way, actually …'
_OPENINGS_MAX = 4


# The rule of a sentence that a trained model found.
LEARNED = "learned"


class Captured(NamedTuple):
    """A fact in the third person or, where it is `verbatim`, in the person's own words, and the
    characters of the turn that support it. `lasting`: the trained model keeps it for good, though
    its rule does not."""

    text: str
    category: str
    start: int
    end: int
    rule: str
    explicit: bool = False
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None
    verbatim: bool = False
    lasting: bool = False

    @property
    def standing(self) -> bool:
        """Whether said once is enough for it to be kept for good: it is of such a kind, and says
        by itself what it is about."""
        words = read_words("capture/words.txt")
        if not self.lasting and self.rule not in words["standing"]:
            return False
        text = without_note(self.text)
        if self.rule not in words["checked elsewhere"] and not is_self_contained(text):
            return False
        return not any(pattern.search(text) for pattern in _unclear(self.rule))


@cache
def _unclear(rule: str) -> tuple[re.Pattern[str], ...]:
    """What a fact of this rule says that is unclear by itself (`unclear.txt`). What is to be
    remembered is for the person to choose, in any language."""
    rows = read_table("capture/unclear.txt")
    of_all = "" if rule == "remember" else "-"
    return tuple(
        lazy(pattern) for rules, _, pattern in rows if rules == of_all or rule in pieces(rules)
    )


# The table of rules


class Rule(NamedTuple):
    """A row of `rules.txt`, which says what the cells mean."""

    name: str
    category: str
    how: str
    example: str
    pattern: str

    @property
    def is_dated(self) -> bool:
        return "dated" in self.how

    @property
    def is_lasting(self) -> bool:
        return "lasting" in self.how

    @property
    def when(self) -> Literal["past", "ahead", "near", "yearly"]:
        """In which direction to look for a date."""
        if "ahead" in self.how:
            return "ahead"
        if "near" in self.how:
            return "near"
        return "yearly" if "yearly" in self.how else "past"


@cache
def rules() -> tuple[Rule, ...]:
    """The rules for statements in the order in which they are tried."""
    return tuple(Rule(*row) for row in read_table("capture/rules.txt"))


def matching(folded: str, words: str) -> Iterator[Rule]:
    """The rules that match the beginning of a clause, in order."""
    if not _PATTERNS["starts"].match(folded):
        return
    for rule, pattern in _rules_for(folded):
        match = pattern.match(folded)
        if match is None:
            continue
        # A name is recognised by its capital letter.
        if match.groupdict().get("name") and not words[match.start("name")].isupper():
            continue
        yield rule


def _rules_for(folded: str) -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """The rules that can match a clause by its first word, with their patterns."""
    if folded.startswith(("i ", "i'", "im ", "ive ", "we ", "we'", "weve ")):
        return _compiled("i")
    return _compiled("my" if folded.startswith(("my ", "our ")) else "")


@cache
def _compiled(subject: str) -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """Made once per process, and compiled as needed: all of them take a tenth of a second."""
    rows = (rule for rule in rules() if _subject(rule) in ("", subject))
    return tuple((rule, lazy(rule.pattern)) for rule in rows)


def _subject(rule: Rule) -> str:
    """The first word of a rule's clauses, if its pattern shows it: 'i', 'my', or ''."""
    if rule.pattern.startswith(("(?:i|we", "(?:i'?m|i am|", "(?:i'?ve|i have|")):
        return "i"
    return "my" if rule.pattern.startswith("(?:my|our) ") else ""


# Words that only end a sentence.
_LAST_WORDS = tuple(
    f" {word}"
    for word in (  # noqa: SIM905 - a list of thirty quoted words is harder to read
        "too|as well|either|though|tho|lol|haha|btw|by the way|fyi|tbh|actually|honestly|please|pls"
        "|thanks|thank you|xd|x|xx|you know|of course|obviously|right|ok|okay|anyway"
        "|if that matters|in case that helps|so far|unfortunately|sir|madam|and|but|so|even"
    ).split("|")
)


# Statements


def stated(
    clause: Clause, at: datetime | None, named: str, *, greeted: int | None
) -> Iterator[Captured]:
    """The facts that a person states in a clause. `greeted` is where a greeting before it
    begins."""
    start = opening_end(clause.folded)
    if not named:
        known = _introduced(clause.folded[start:], clause.said[start:], greeted=greeted is not None)
        for text in known:
            begin = clause.start + start if greeted is None else greeted
            yield Captured(text, "fact", begin, clause.end, "name", verbatim=True)
        if known:
            return
    if len(clause.folded[start:].split()) < _WORDS_MIN and not clause.inherits:
        return
    whole = _completed(clause, start)
    folded, words = whole.folded, whole.words
    begin = clause.support if clause.inherits else clause.start + start
    for rule in matching(folded, words):
        if not _holds(rule, _IT.sub("xx", words).lower() if "IT" in words else folded):
            continue
        if clause.role and rule.name not in _WORDS["roles"]:
            return
        if rule.name in ("setup", "uses") and not named and (tools := _versions(words)):
            for tool in tools:
                text = f"Uses {tool}"
                yield Captured(text, rule.category, begin, clause.end, rule.name, verbatim=True)
            return
        resolved = Resolved(words, None, None)
        if rule.when != "yearly":
            resolved = resolve(words, at, when=rule.when)
        since, until = resolved.since, resolved.until
        if rule.is_lasting and not rule.is_dated:
            # 'Drives a 2015 Skoda' has no date.
            since = until = None
        if rule.is_dated and not since and "recently" not in folded:
            continue
        worded = _worded(rule, clause, whole, resolved, named)
        if worded is None:
            continue
        text, verbatim = worded
        text = dated(text, resolved, at, in_words=not verbatim)
        name = _kind(rule, folded)
        yield Captured(text, rule.category, begin, clause.end, name, False, since, until, verbatim)
        return


class _Completed(NamedTuple):
    """A clause with the subject that the person left out, and with its time at the end. `own` has
    the time where the person said it."""

    folded: str
    words: str
    own: str
    subject: str


def _completed(clause: Clause, start: int) -> _Completed:
    """The clause behind its opening, as the rules read it."""
    folded, words = clause.folded[start:], clause.said[start:]
    # In 'Ross moved out. And got divorced!' nobody speaks of themselves.
    goes_on = _GOES_ON.match(clause.folded[:start]) is not None
    subject = clause.inherits or ("" if goes_on else _left_out(clause, folded))
    if subject:
        # 'CTO' keeps its capitals.
        words = words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"
        if subject == "i'm" and _PATTERNS["trade alone"].match(folded):
            subject = "i'm a"
        folded, words = f"{subject} {folded}", f"{subject} {words}"
    own = words
    folded, words = without_end(*_time_last(folded, words))
    if (other := _AND_OTHERS.match(folded)) is not None:
        # What comes behind 'and' is said of somebody or something else.
        folded, words = folded[: other.end("own")], words[: other.end("own")]
    return _Completed(folded, words, own, subject)


def _worded(
    rule: Rule, clause: Clause, whole: _Completed, resolved: Resolved, named: str
) -> tuple[str, bool] | None:
    """The wording of a memory, and whether it has the person's own words; None for a part of a
    sentence that does not stand by itself."""
    words = whole.words
    if clause.inherits == "i'm" and not named:
        # 'Is' and the words of the person
        return _reworded(rule, resolved.text, named), True
    if _FROM_WHEN.match(whole.own) and not named:
        return as_said(whole.own), True
    if (
        "verbatim" in rule.how
        or (rule.name != "name" and not is_told_well(words, resolved))
        or (not named and rule.name != "name" and speaks_of_oneself(words))
    ):
        if whole.subject and not named and not speaks_of_oneself(words):
            return None
        return (tell(resolved.text, named) if named else as_said(words)), not named
    return _reworded(rule, resolved.text, named), False


def _versions(words: str) -> list[str]:
    """The tools of a list with versions, each a fact of its own: a version that is told again, or
    another one, then meets the fact that it is about."""
    found = _PATTERNS["uses several"].match(words)
    if found is None:
        return []
    tools = [one.strip() for one in _LISTED.split(found["tools"]) if one.strip()]
    versioned = sum(_VERSIONED.match(one) is not None for one in tools)
    return tools if versioned > 1 and all(_TOOL.fullmatch(one) for one in tools) else []


_LISTED = lazy(r", and |, | and | & ")
_VERSIONED = lazy(
    r"[A-Za-z][\w.+#-]*(?: [A-Za-z][\w.+#-]*){0,2} v?\d[\w.]*(?: (?:for|as|on) .+)?\Z"
)
_TOOL = lazy(r"(?=\S*[A-Z]|\S+ v?\d)[A-Za-z]\S*(?: \S+){0,5}")


def _kind(rule: Rule, folded: str) -> str:
    """The name of the rule, or another where the clause says less or more than most of its kind."""
    name = rule.name
    if name == "decision" and not _PATTERNS["settles"].search(folded):
        return "intention"
    if name == "uses" and _AT_TIMES.search(folded):
        return "habit"
    if name == "moved" and not _PLACE_NAMED.search(folded):
        return "event"
    if name == "project" and _PATTERNS["learns"].search(folded):
        return "self"
    if name == "started" and _PATTERNS["new work"].search(folded):
        return "new-job"
    if name == "event" and _PATTERNS["life event"].search(folded):
        return "life-event"
    if (
        name == "kin-likes"
        and _REFUSES.search(folded)
        and not _PATTERNS["not family"].match(folded)
    ):
        return "kin-diet"
    if name in ("kin-is", "kin-does", "kin-soon") and _PATTERNS["not family"].match(folded):
        return "acquaintance"
    return name


# 'IT' is a department.
_IT = lazy(r"\bIT\b")
# What one of the family does not eat is known for good, as is what the person does not.
_REFUSES = lazy(
    r"\b(?:hates?|(?:do|does)(?:n't| not) (?:eat|drink)|(?:can't|won't) (?:eat|drink))\b"
)
# 'From Monday on I'm on leave' is clearer than with its time last.
_FROM_WHEN = lazy(r"(?i)(?:from|starting) (?!now)")
_PLACE_NAMED = lazy(r"\b(?:to|into|from|in with|out of|settled(?: down)? in(?! at\b)) \S")
_AT_TIMES = lazy(r"\b(?:usually|sometimes|often|when|while|during)\b")


def opening_end(folded: str, until: re.Pattern[str] | None = None) -> int:
    """Where the clause begins after greetings and fillers."""
    at = 0
    for _ in range(_OPENINGS_MAX):
        found = _PATTERNS["opening"].match(folded, at)
        if found is None or found.end() == at or (until and until.match(folded, at)):
            break
        at = found.end()
    return at


_GOES_ON = lazy(r"(?:and|but|then)\b")


def _left_out(clause: Clause, folded: str) -> str:
    """The subject of a clause without one, such as 'Moved to Lisbon last March'."""
    if clause.first and _PATTERNS["verbless"].match(folded):
        return "i am"
    if not clause.first or not _PATTERNS["subjectless"].match(folded):
        return ""
    return "i have" if folded.startswith(("been", "just been")) else "i"


def _time_last(folded: str, words: str) -> tuple[str, str]:
    """'Every morning I run' as 'I run every morning'."""
    fronted = _PATTERNS["fronted"].match(folded)
    if fronted is None:
        return folded, words
    when = words[: len(fronted["when"])]
    rest = len(folded[fronted.end() :].rstrip(".,!? "))
    folded = f"{folded[fronted.end() :][:rest]} {fronted['when']}"
    return folded, f"{words[fronted.end() :][:rest]} {when[:1].lower()}{when[1:]}"


def without_end(folded: str, words: str) -> tuple[str, str]:
    """A clause without trailing punctuation and closing words."""
    aside = _PATTERNS["aside"].search(folded)
    end = aside.start() if aside else len(folded)
    while end:
        char = folded[end - 1]
        if not char.isalnum() and char not in _SIGNS_KEPT:
            end -= 1
        elif folded.endswith(" right now", 0, end):
            break  # it is only temporary
        elif last := next((one for one in _LAST_WORDS if folded.endswith(one, 0, end)), ""):
            end -= len(last)
        else:
            break
    return folded[:end], words[:end]


_AND_OTHERS = lazy(
    r"(?P<own>(?:i|we|i'?m|we're|i'?ve)\b(?!.*\b(?:that|if|when|because|where|how|what|who|which)\b)"
    r".{6,}?),? (?:and|but|so) (?:on [\w ]{2,20}, )?(?!(?:i|we|my|our|the|an?|this|that|it|to)\b)"
    r"(?:[\w']+ ){1,2}(?:is|are|seems?) \w"
)
_SIGNS_KEPT = "'\"()/%$€£+#&?"


def _holds(rule: Rule, folded: str) -> bool:
    """Whether the clause is not hypothetical, a wish, temporary or unclear."""
    if folded.endswith("?") or BLANK in folded or _PATTERNS["supposed"].search(folded):
        return False
    if rule.is_lasting and _PATTERNS["passing"].search(folded):
        return False
    if rule.name in ("prefers", "decision") and _PATTERNS["says little"].match(folded):
        return False
    plain = _PATTERNS["refers nowhere"].sub(" ", folded)
    if rule.name == "name":
        return True
    if _PATTERNS["refers"].search(plain):
        return False
    if rule.category == "person" or rule.name == "attribute":
        return True
    return _PATTERNS["third"].search(plain) is None


def _reworded(rule: Rule, words: str, named: str) -> str:
    """A clause in the third person; a few kinds are rephrased first."""
    name = rule.name
    if name == "name" and (called := CALLED.search(words)):
        words = f"I am called {called[1]}"
    elif name == "name":
        # 'My name is Ana, nice to meet you'.
        words = _AFTER_NAME.sub("", _NAMES.sub(r"\1 is ", words))
    elif name == "kin-is" and (tie := _TIE.fullmatch(words)):
        words = f"my {tie[2]} is {tie[1]}"
    elif name.startswith("kin-"):
        words = _PATTERNS["is short"].sub(r"\1 is \2", words)
    return tell(words, named)


CALLED = lazy(r"(?i)\bcalls? me ([^,;]+?)(?:,? (?:by the way|btw))?(?:[,;].*|$)")
_NAMES = lazy(r"(?i)\b(name)(?:['’]s|s) (?!is\b)")
_AFTER_NAME = lazy(r", [^\W\d_A-Z].*")
_TIE = lazy(r"(?i)(.+) is (?:my|our) (.+)")


# Introductions


_GREETED = lazy(r"(?:i'?m|i am) (?P<name>[^\W\d_]+)(?:$|[.!,]| and\b| here\b| from\b)")
# 'Richard's here' and 'We're here' name nobody.
_SHORT_VERB = lazy(r"(?i)['’](?:s|re|m|ll|ve|d)\Z")
_HERE = lazy(r"(?P<name>[^\W\d_][\w'-]+) here[.! ]*$")
_NAME_ONLY = lazy(r"names? (?:is )?(?P<name>[^\W\d_][\w'-]+)(?: by the way| btw)?[.! ]*$")


def _introduced(folded: str, words: str, *, greeted: bool = False) -> list[str]:
    """The facts of an introduction; none where it is no introduction. `greeted`: a greeting came
    before it, and then a name may be in lower case."""
    if (match := _PATTERNS["pronouns"].match(folded)) is not None:
        return [f"Pronouns are {match['what']}"]
    if (match := _NAME_ONLY.match(folded)) is not None:
        return _named(match, words)
    if (match := _HERE.match(folded)) is not None and _has_capitals(match, words):
        return _named(match, words)
    match = _PATTERNS["with role"].match(folded)
    if match is not None and words[match.start("name")].isupper():
        return _with_role(_named(match, words), words[match.start("role") : match.end("role")])
    match = _PATTERNS["with capital"].match(folded)
    if match is not None and _has_capitals(match, words):
        place = match["place"]
        named = _named(match, words)
        if named and place:
            return [*named, f"Is from {finish(words[match.start('place') : match.end('place')])}"]
        return named
    if greeted and (match := _GREETED.match(folded)) is not None:
        return _named(match, words)
    return []


def _with_role(named: list[str], role: str) -> list[str]:
    if not named:
        return []
    first, _, rest = finish(role).partition(" ")
    # 'CTO' keeps its capitals.
    first = first if len(first) > 1 and first.isupper() else first.lower()
    return [*named, f"Is {first} {rest}".rstrip()]


def _has_capitals(match: re.Match[str], words: str) -> bool:
    name = words[match.start("name") : match.end("name")]
    return all(part[:1].isupper() and not part.isupper() for part in name.split())


def _named(match: re.Match[str], words: str) -> list[str]:
    if any(_PATTERNS["no name"].match(part) for part in match["name"].split()):
        return []
    name = words[match.start("name") : match.end("name")]
    if _SHORT_VERB.search(name):
        return []
    return [f"Name is {name[:1].upper()}{name[1:]}"]
