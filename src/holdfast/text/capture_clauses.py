"""The clauses of a turn that a person says in their own name, with their places.

Left out: code, quotations, pasted texts and mails, lines of other speakers, fiction, what is meant
the other way round. A sentence is cut where a new statement begins, so that one fact stands in one
clause. It does not know which clauses are worth keeping: that is in capture_rules.py.
"""

# ruff: noqa: E501 - being laid out

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.text.capture_guards import OPENING
from holdfast.text.capture_person import fold

# A longer clause holds more than one thing, and a rule on its opening proves little.
CLAUSE_CHARS_MAX = 220
# A longer line without an end of a sentence is a table or a dump.
_SENTENCE_CHARS_MAX = 1_200
# Who says more than this at once has pasted a text.
SENTENCES_MAX = 300


# After more words than this, 'i' rather belongs to 'the mixer i got'.
_RUN_ON_WORDS_MAX = 6


class Sentence(NamedTuple):
    """A sentence of the person's own, and its place in the turn."""

    start: int
    end: int
    said: str
    folded: str


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


_NO_LINE_END = re.compile(r"[^\n]")
_FENCE = re.compile(r"(?m)^ {0,3}(```+|~~~+)")
_INLINE = re.compile(
    r"`[^`\n]{1,300}`|“[^”]{1,600}”|\"[^\"\n]{1,600}\"|\[[^\]\n]{1,400}\]|https?://\S+"
)
_SINGLE = re.compile(r"(?<![\w])['‘](?=\w)[^'’\n]{2,300}(?<=[\w.!?,])['’](?!\w)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|$)")
# From here on the words are somebody else's.
_PASTED = re.compile(
    r"(?:-{2,} ?(?:original message|forwarded message|begin)|(?:from|to|subject|sent|cc|date): \S"
    r"|on .{4,80} wrote: *$|begin forwarded message|dear [\w. ]{1,40},? *$)"
)
_GIVEN = re.compile(
    r"\b(?:translate|rewrite|re-write|summari[sz]e|proofread|proof-read|correct|fix|edit|review|improve"
    r"|polish|check|shorten|rephrase|paraphrase|reword|reply|respond|answer|analy[sz]e|grade|format"
    r"|convert|explain|classify|extract|draft|(?:here(?:'s| is| are)|below is|this is|that's|got this)"
    r" (?:an?|the|my|what|some|how)|text|email|e-mail|message|letter|essay|bio|article|post|lyrics"
    r"|quote|sentence|paragraph|poem|review|wrote|says?|said|reads|goes|prompt|input|example|following"
    r"|transcript|caption|tweet|story|dialogue)\b[^:\n]{0,120}:(?= |$)"
)
_FICTION = re.compile(
    r"\b(?:pretend|imagine|suppose|hypothetically|role-?play|let'?s (?:say|pretend|imagine|assume)|assume"
    r"|in (?:this|the|my) (?:story|scenario|game|novel|scene|dream|play)|(?:act|speak|talk|answer) (?:as|like)"
    r"|you(?:'re| are) an? |(?:write|tell|give|make|compose|generate|create)(?: me| us)? (?:an? |some |the )?"
    r"(?:\w+ ){0,3}(?:story|poem|song|scene|dialogue|monologue|haiku|joke|lyrics|rap|limerick|skit"
    r"|screenplay|persona|fanfic\w*|conversation|diary|test data|sample|example)"
    r"|(?:my|the|main) character|first[- ]person|for example|e\.g\.|lorem)\b"
)
_IRONY = re.compile(
    r"(?:^|\s)/s\b|\byeah,? right\b|\bsure,? jan\b|\bas if\b|\bjust kidding\b|\bonly kidding\b"
    r"|\bj/?k\b|\b(?:i'?m |i am )?kidding\b|\bjoking\b|🙄|\bnot!|\bsarcas\w+|\bwhatever you say\b"
)
_SPEAKER = re.compile(
    r"[ \t]*(?:\*\*)?[A-Z@][\w.-]*(?: [A-Z][\w.-]*)?(?:\*\*)?(?: ?[\[(][^\])\n]{0,40}[\])])? ?:(?:\*\*)? "
)
_OWN_LABELS = frozenset(
    [
        "remember",
        "decision",
        "decided",
        "note",
        "ps",
        "fyi",
        "update",
        "edit",
        "reminder",
        "correction",
        "important",
        "context",
        "background",
        "goal",
        "deadline",
        "birthday",
        "name",
        "user",
        "me",
        "human",
        "memo",
    ]
)
_NO_PROSE = (">", "|", "#", "{", "}", "<", "$", "//", "/*", "import ", "def ", "    ", "\t")
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"')\]”’]*\s+|(?<=[^\W\d_][)\s])[.!?]+(?=\s)|(?<=\w)\.(?=[A-Z]\w* )"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|jr|sr|vs|etc|inc|ltd|co|approx|dept|fig|no|vol|e\.g|i\.e|a\.m|p\.m|u\.s|u\.k)|\b\w)\.$"
)


def sentences(said: str) -> list[Sentence]:
    """The sentences of a turn that are the person's own, in order."""
    plain = _without_quotations(said)
    frame = False
    kept: list[Sentence] = []
    for line in _LINE.finditer(plain):
        text = line.group()
        stripped = text.strip()
        if not stripped:
            # What somebody imagines ends with its paragraph.
            frame = frame and line.end() >= len(plain)
            continue
        folded = fold(stripped)
        if _PASTED.match(folded):
            break
        if not frame and not _is_prose(text, stripped):
            continue
        for start, end in _cut(plain, line.start(), line.end()):
            sentence = fold(plain[start:end])
            if _IRONY.search(sentence):
                # 'I love Mondays. Just kidding.' takes back what was said before.
                if len(sentence) < 40 and kept:
                    kept.pop()
                continue
            if _FICTION.search(sentence):
                frame = True
            given = _GIVEN.search(sentence)
            if given is not None:
                end, sentence = start + given.end(), sentence[: given.end()]
            if not frame:
                kept.append(Sentence(start, end, said[start:end], sentence))
            if given is not None or len(kept) == SENTENCES_MAX:
                return kept
    return kept


def _without_quotations(said: str) -> str:
    """The text with what is code or somebody else's words blanked, character for character."""
    pieces: list[str] = []
    at = 0
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(said):
        if opened is None:
            pieces.append(said[at : fence.start()])
            opened = fence
        elif fence[1].startswith(opened[1]):
            pieces.append(_NO_LINE_END.sub(" ", said[opened.start() : fence.end()]))
            opened, at = None, fence.end()
    if opened is not None:
        # A fence that nobody closed.
        pieces.append(_NO_LINE_END.sub(" ", said[opened.start() :]))
    else:
        pieces.append(said[at:])
    plain = "".join(pieces)
    for pattern in (_INLINE, _SINGLE):
        plain = pattern.sub(_blanked, plain)
    return plain


def _blanked(found: re.Match[str]) -> str:
    said = found.group()
    # A name in quotes is a name, and a word in code is a word; more is somebody's sentence.
    if len(said) <= 42 and said.count(" ") < 3 and said[0] != "[" and not said.startswith("http"):
        return said
    return "\x00" * len(said)


def _is_prose(text: str, stripped: str) -> bool:
    if text.startswith(_NO_PROSE) or stripped.startswith((">", "|")):
        return False
    speaker = _SPEAKER.match(text)
    if speaker is not None:
        label = fold(speaker.group()).strip(" *:").split(" ")[0]
        if label not in _OWN_LABELS:
            return False
    letters = sum(map(str.isalpha, stripped)) + stripped.count(" ")
    # Code, tables and numbers have fewer letters than this.
    return letters >= 0.7 * len(stripped)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    bullet = re.match(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+", text[start:end])
    at = start + bullet.end() if bullet else start
    for found in _SENTENCE_END.finditer(text, at, end):
        if _ABBREVIATION.search(fold(text[max(at, found.start() - 8) : found.start()])):
            continue
        yield from _trimmed(text, at, found.end())
        at = found.end()
    yield from _trimmed(text, at, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    said = text[start:end]
    begin = start + len(said) - len(said.lstrip())
    stop = start + len(said.rstrip())
    if begin < stop <= begin + _SENTENCE_CHARS_MAX:
        yield begin, stop


_ASKS = (
    r"(?:please|pls|plz|can|could|would|will you|what|what's|whats|which|how|how's|any|where|when|should|do|does|did|is|are|who|why"
    r"|let'?s|let me|tell|give|help|suggest|recommend|make|write|show|find|thoughts|is there|got any)\b"
)
_WHO = r"(?:i|i'?m|i'?ve|i'll|i'd|we|we're|we'?ve|my|our|he|he's|she|she's|they|they're|it|it's|its|you|you're|your|the|that|that's|this|there|there's|nobody|everyone|people|his|her|their)\b"
_JOINT = re.compile(
    rf"(?:,? (?:and|but|so|because|cause|'cause|cuz|coz|bc|though|although|while|whereas|plus|except|then|as|yet|or)(?: also| now| then)?)(?= {_WHO})"
    rf"|,? (?:and|so|but)(?= {_ASKS})"
    r"|,? since(?= (?:i'?m|i am|i have|i don'?t|i prefer|my|our|we're|we are|it|it's|the|you|she|he|they)\b)"
    r"|, (?:but|so|which|where|though|although|because|since|except|unless|hence|meaning|thanks|thank you|lol|haha)\b"
    rf"|,(?= {_WHO})|,(?= {_ASKS})"
    r"| (?:lol|haha|lmao|tbh|btw|fyi|thx|thanks|xx+|xd)\b"
    r"| (?:-+|–|—) |[;()]| ?(?:\.{2,}|…)| [:;]-?[)(dp](?= |$)|: |\x00+"
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
    not did do does am was cause cuz person people stuff only every food city town now here
    """.split()  # noqa: SIM905 - a list of eighty quoted words is harder to read
)
_VERBS = (
    "work|live|use|prefer|hate|love|like|enjoy|study|teach|speak|play|eat|drink|run|own|drive|moved|started|decided"
    "|switched|bought|got|joined|quit|left|am|'m|have|don't|dont|can't|cant|never|always|usually|commute|go|grew up|was born|graduated|sold|adopted|married|stopped|became|hope|want|need|plan|think|wish|would|might|feel|guess|put|make|try|keep|get|take|find|bring|help|spend|write|read|watch|listen|made|took|went|said|told|had|saw|met"
)
_AND_VERB = re.compile(rf",? (?:and|but)(?: also| now| then)? (?=(?:{_VERBS})\b)")
_QUESTION = re.compile(_ASKS)
_OPENS = re.compile(rf"(?:{OPENING.pattern}){{1,4}}")
_BEGINS = re.compile(r"(?:hi|hey|hello|yo|ok|so|and|well|i|i'?m|my|we)\b")
_REPORTED = re.compile(
    r"(?:\b(?:said|says|say|told|tells|asked|asks|thinks?|thought|wrote|writes|goes|reads|writes|claims?|like|heard|if|unless|whether|suppose)(?: (?:me|us|that|him|her|them))?|:)[ ,]*$"
)
_SUPPOSED_OPENING = re.compile(
    r"(?:and |but |so |well,? |ok,? )*(?:if|unless|suppose|imagine|pretend|assuming|in case|were i|had i|say|let'?s say|what if|maybe|perhaps|when i was drunk)\b"
)


def clauses(sentence: Sentence) -> Iterator[Clause]:
    """The statements of a sentence, in order; none of a question."""
    folded = sentence.folded
    if _SUPPOSED_OPENING.match(folded):
        return
    joints = [(0, 0)]
    stop = len(folded)
    for found in _JOINT.finditer(folded):
        if found.group() == ": " and not _OPENS.fullmatch(folded[: found.end()]):
            # What comes behind a colon is quoted, or an example.
            stop = found.start()
            break
        if _is_joint(folded, joints[-1][1], found):
            joints.append(found.span())
    joints.append((stop, stop))
    last = len(joints) - 1
    if folded.rstrip("\"')]”’ ").endswith("?"):
        # Only what comes before a question of its own is stated.
        opens = [n for n in range(1, last) if _QUESTION.match(folded[joints[n][1] :].lstrip())]
        last = opens[-1] if opens else 0
    for n in range(last):
        yield from _by_verbs(sentence, joints[n][1], joints[n + 1][0], n == 0)


def _is_joint(folded: str, begin: int, found: re.Match[str]) -> bool:
    before = folded[begin : found.start()]
    if found.end() == found.start():
        # 'hi im ana i live in porto': no word that holds on to what follows.
        short = before.count(" ") < _RUN_ON_WORDS_MAX and _BEGINS.match(before.lstrip())
        return bool(short) and before.rsplit(" ", 1)[-1] not in _HOLDS
    return _REPORTED.search(before[-40:]) is None


def _by_verbs(sentence: Sentence, begin: int, stop: int, first: bool) -> Iterator[Clause]:
    """A clause, cut once more where its subject gets a second verb."""
    offset, folded = sentence.start, sentence.folded
    marks = list(_AND_VERB.finditer(folded, begin, stop))
    subject = re.search(r"(?:^|[\s,])(i|we)(?:'?m|'?ve|'re)? ", folded[begin : begin + 60])
    bounds = [begin, *(mark.end() for mark in marks)] if subject else [begin]
    ends = [*(mark.start() for mark in marks), stop] if subject else [stop]
    for n, (left, right) in enumerate(zip(bounds, ends, strict=True)):
        text = folded[left:right]
        lead = len(text) - len(text.lstrip())
        left, right = left + lead, left + len(text.rstrip())
        if not 0 < right - left <= CLAUSE_CHARS_MAX:
            continue
        yield Clause(
            offset + left,
            offset + right,
            sentence.said[left:right],
            folded[left:right],
            inherits=subject[1] if subject and n else "",
            support=offset + begin + (len(folded[begin:]) - len(folded[begin:].lstrip())),
            first=first and not n,
        )
