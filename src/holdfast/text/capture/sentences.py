"""Finds the statements of a turn that are the person's own. Code, quotations, pasted texts and
mails, lines of other speakers, fiction and irony are left out. A sentence is cut into clauses, so
that each clause states one fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.text.analysis.spans import fold_in_place as fold
from holdfast.text.sentences import sentence_spans
from holdfast.text.tables import Patterns, lazy, read_words

_PATTERNS = Patterns("capture/patterns.txt")
_WORDS = read_words("capture/words.txt")

# Sentences


# A longer line without a sentence end is a table or a dump.
_SENTENCE_CHARS_MAX = 1_200
# A turn with more sentences was pasted.
SENTENCES_MAX = 300
# A longer turn contains pasted text; what the person says about it is above or below.
_PASTED_CHARS_MIN = 3_000
# BLANK replaces each character of somebody else's words; ASIDE replaces notes in brackets and URLs.
BLANK, ASIDE = "\x00", "\x01"


# What is said while somebody looks for a word, and the word that is said again after it. In German
# 'um' is a word.
_FILLER = lazy(
    r"(?i)(?:, ?)?\b(?:uh|uhm|erm)\b(?:,(?= ))?|(?:, ?)?\bum(?:,|(?=[.?!]|\Z))"
    r"|\b(i|i['’]m|i['’]ve|we|we['’]re|my|our|the|an?|and|in|at|to|of|every|he|she|they),"
    r"(?:(?: (?:uh|uhm|erm|um)\b,?)* )(?=\1\b)"
)

_NEW_SUBJECT = lazy(r"(?i),? (?:i|we|my|our|it|you|they|he|she|there|that)\b")


def without_fillers(said: str) -> tuple[str, list[int]]:
    """A turn as it would be written, and where each of its characters was in it; the list is empty
    where nothing was left out."""
    kept: list[tuple[int, int]] = []
    at = 0
    for found in _FILLER.finditer(said):
        # Where it stands between two statements, its comma stays.
        comma = found[0].startswith(",") and _NEW_SUBJECT.match(said, found.end())
        joined = _WORDS["joins"].intersection(said[at : found.start()].lower().split()[-1:])
        kept.append((at, found.start() + bool(comma and not joined)))
        at = found.end()
    if not kept:
        return said, []
    kept.append((at, len(said)))
    places = [place for start, end in kept for place in range(start, end)]
    return "".join(said[start:end] for start, end in kept), [*places, len(said)]


class Sentence(NamedTuple):
    """A sentence of the person's own, and its place in the turn. `asked` are the lines under
    'Please remember:'."""

    start: int
    end: int
    said: str
    folded: str
    asked: bool = False


_NO_LINE_END = lazy(r"[^\n]")
_FENCE = lazy(r"(?m)^ {0,3}(```+|~~~+)")
_SINGLE_QUOTED = lazy(
    r"(?<![\w])['‘](?=\w)(?:[^'’\n]|(?<=\w)['’](?=\w)){2,300}(?<=[\w.!?,])['’](?!\w)"
)
_PARAGRAPH = lazy(r"\n[ \t]*\r?\n")
_LINE = lazy(r"[^\r\n]*(?:\r\n?|\n|$)")
_HEADING = lazy(r"#{1,6} \S")
# A shorter sentence with a sign of irony retracts the sentence before it.
_TAKES_BACK_CHARS_MAX = 40
_NO_PROSE = (">", "|", "#", "{", "}", "<", "$", "//", "/*", "import ", "def ", "    ", "\t")
_BULLET = lazy(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+")


def sentences(said: str) -> list[Sentence]:
    """The sentences of a turn that are the person's own, in order."""
    plain = _without_quotations(said)
    first, last = _outer_paragraphs(plain)
    kept: list[Sentence] = []
    imagined = asked = headed = about_text = in_shell = False
    for line in _LINE.finditer(plain):
        if first < line.start() < last:
            continue
        text = line.group()
        stripped = text.strip()
        if not stripped:
            # Fiction, and a list to remember, end with their paragraph.
            imagined, asked = imagined and line.end() >= len(plain), False
            if about_text and not _PATTERNS["delimited"].match(said, line.start()):
                break
            about_text = in_shell = False
            continue
        if _PATTERNS["pasted"].match(fold(stripped)):
            break
        # Below a heading is a document; what the person says about it is above.
        headed = headed or _HEADING.match(stripped) is not None
        # Below a command is its output, to the end of the paragraph.
        in_shell = in_shell or stripped.startswith(("$ ", ">>> "))
        if headed or in_shell:
            continue
        if not _is_prose(text, stripped):
            continue
        for start, end in _cut(plain, line.start(), line.end()):
            folded = fold(plain[start:end])
            if _PATTERNS["irony"].search(folded):
                if len(folded) < _TAKES_BACK_CHARS_MAX and kept:
                    kept.pop()
                continue
            if _PATTERNS["asked below"].fullmatch(folded):
                asked = True
                continue
            imagined = imagined or _PATTERNS["fiction"].search(folded) is not None
            about_text = about_text or _PATTERNS["about a text"].search(folded) is not None
            given = _PATTERNS["given"].search(folded)
            if given is not None:
                whole, end, folded = end, start + given.end(), folded[: given.end()]
            if not imagined:
                kept.append(Sentence(start, end, said[start:end], folded, asked))
            if len(kept) == SENTENCES_MAX or _PATTERNS["text and task"].search(folded):
                return kept
            if given is not None and (end < whole or not _PATTERNS["delimited"].match(said, whole)):
                return kept
    return kept


def _outer_paragraphs(plain: str) -> tuple[int, int]:
    """Where the first paragraph ends and the last one begins, in a turn with pasted text."""
    if len(plain) < _PASTED_CHARS_MIN:
        return len(plain), len(plain)
    text = plain.rstrip()
    first, last = _PARAGRAPH.search(plain, len(plain) - len(plain.lstrip())), text.rfind("\n\n")
    return (first.start(), last) if first else (len(plain), len(plain))


def _without_quotations(said: str) -> str:
    """The text with code and quotations blanked, character for character."""
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
        # An unclosed fence.
        pieces.append(_NO_LINE_END.sub(" ", said[opened.start() :]))
    else:
        pieces.append(said[at:])
    plain = "".join(pieces)
    for pattern in (_PATTERNS["quoted"], _SINGLE_QUOTED):
        plain = pattern.sub(_blanked, plain)
    return plain


def _blanked(found: re.Match[str]) -> str:
    said = found.group()
    # A name in quotes is kept, and so is a word in code; anything longer is a quotation.
    if said[0] == "[" or said.startswith("http"):
        return ASIDE * len(said)
    if len(said) <= 42 and said.count(" ") < 3:
        return said
    return BLANK * len(said)


def _is_prose(text: str, stripped: str) -> bool:
    if text.startswith(_NO_PROSE) or stripped.startswith((">", "|")):
        return False
    speaker = _PATTERNS["speaker"].match(text)
    if speaker is not None:
        label = fold(speaker.group()).strip(" *:").split(" ")[0]
        if label not in _WORDS["own labels"]:
            return False
    letters = sum(map(str.isalpha, stripped)) + stripped.count(" ")
    # Code, tables and numbers have fewer letters than this.
    return letters >= 0.5 * len(stripped)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of a line."""
    bullet = _BULLET.match(text, start, end)
    at = bullet.end() if bullet else start

    def goes_on(begin: int, found: re.Match[str]) -> bool:
        # 8 characters hold the longest abbreviation.
        before = fold(text[max(begin, found.start() - 8) : found.start()])
        # What is to be remembered, or said instead, comes after what opens the next sentence.
        return (
            _PATTERNS["abbreviation"].search(before) is not None
            or _PATTERNS["opens next"].fullmatch(text, begin, found.start()) is not None
        )

    for begin, stop in sentence_spans(text, _PATTERNS["sentence end"], at, end, goes_on=goes_on):
        said = text[begin:stop]
        length = len(said.strip())
        if length <= _SENTENCE_CHARS_MAX:
            begin = stop - len(said.lstrip())
            yield begin, begin + length


# Clauses


# A longer clause states several things, and its beginning says little about it.
CLAUSE_CHARS_MAX = 220
# After more words than this, 'i' probably belongs to a phrase such as 'the mixer i got'.
_RUN_ON_WORDS_MAX = 6
# The subject of a clause begins within this many characters, after greetings and fillers.
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
    # 'As a vegetarian', before a question.
    role: bool = False


_INFINITIVE = lazy(r"\b(?:to|will|can|could|would|should|might|must|may) [a-z]+ ")
_BEGINS = lazy(r"(?:hi|hey|hello|yo|ok|so|and|well|i|i'?m|my|we)\b")
_SUBJECT = lazy(r"(?:^|[\s,])(i|we)(?:'?m|'?ve|'re)? ")


def clauses(sentence: Sentence) -> Iterator[Clause]:
    """The statements of a sentence, in order; none of a question."""
    folded = sentence.folded
    if _PATTERNS["supposed opening"].match(folded):
        return
    if (role := _role(sentence)) is not None:
        yield role
    joints = _joints(folded)
    first, last = 0, len(joints) - 1
    if folded.rstrip("\"')]”’ ").endswith("?"):
        first, last = _stated_beside_question(folded, joints)
        joints[-1] = (len(folded.rstrip("?\"')]”’ ")),) * 2
    for n in range(first, last):
        if folded.endswith("which", *joints[n]) and _SUBJECT.match(folded, joints[n][1]):
            continue  # 'A belief which I have held since April' says what the belief is elsewhere.
        yield from _by_verbs(sentence, joints[n][1], joints[n + 1][0], n == 0)


def stated_part(sentence: Sentence) -> Sentence:
    """What a sentence states beside its question, as in 'we deploy with ArgoCD, where does the
    secret go?'; the sentence itself if it asks nothing or states nothing."""
    folded = sentence.folded
    if not folded.rstrip("\"')]”’ ").endswith("?") or _PATTERNS["supposed opening"].match(folded):
        return sentence
    joints = _joints(folded)
    first, last = _stated_beside_question(folded, joints)
    begin = joints[first][1]
    if first == last or _PATTERNS["subordinate"].match(folded, begin):
        return sentence
    if _PATTERNS["with subject"].match(folded, begin) is None:
        # 'From our style guide, is this ok?'
        return sentence
    end = joints[last][0]
    if last == len(joints) - 1:
        end = len(folded.rstrip("?\"')]”’ "))
    begin += len(folded[begin:end]) - len(folded[begin:end].lstrip())
    return sentence._replace(
        start=sentence.start + begin,
        end=sentence.start + end,
        said=sentence.said[begin:end],
        folded=folded[begin:end],
    )


def _stated_beside_question(folded: str, joints: list[tuple[int, int]]) -> tuple[int, int]:
    """Which parts of a question state something: those before a question of its own, or the last
    one behind it."""
    last = len(joints) - 1
    opens = [
        n
        for n in range(1, last)
        if _PATTERNS["question"].match(folded[joints[n][1] :].lstrip())
        or folded.endswith(", which", *joints[n])
    ]
    if opens:
        return 0, opens[-1]
    behind = folded[joints[last - 1][1] :].lstrip()
    if (
        last > 1
        and _PATTERNS["open question"].match(folded[: joints[1][0]])
        and _PATTERNS["statement behind"].match(behind)
    ):
        return last - 1, last
    return 0, 0


def _role(sentence: Sentence) -> Clause | None:
    """What somebody is who asks 'as a vegetarian, what could I cook?' or 'being diabetic, …'."""
    folded = sentence.folded
    found = _PATTERNS["in a role"].match(folded)
    if found is None:
        return None
    begin = found.end() if found["a"] is None else found.start("a")
    end = folded.index(",", begin)
    start = sentence.start
    return Clause(
        start + begin,
        start + end,
        sentence.said[begin:end],
        folded[begin:end],
        inherits="i have" if found["with"] is not None else "i'm",
        support=start + begin,
        role=True,
    )


# 'We're four: me, Lena, Tom and Bo' goes on behind the colon.
_LISTED = lazy(r"(?:[\w'&+.-]+(?: [\w'&+.-]+){0,2}, ){1,8}[\w'&+.-]+(?: [\w'&+-]+){0,3}\W*")


def _joints(folded: str) -> list[tuple[int, int]]:
    """The places between statements, with the beginning and the end of them all."""
    joints = [(0, 0)]
    stop = len(folded)
    for found in _PATTERNS["joint"].finditer(folded):
        if found.group() == ": " and not _PATTERNS["openings"].fullmatch(folded[: found.end()]):
            if _LISTED.fullmatch(folded, found.end()):
                continue
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
        return bool(short) and before.rsplit(" ", 1)[-1] not in _WORDS["holds"]
    # 40 characters hold the longest of these.
    return _PATTERNS["reported"].search(before[-40:]) is None


def _by_verbs(sentence: Sentence, begin: int, stop: int, first: bool) -> Iterator[Clause]:
    """A clause, cut again where its subject has a second verb."""
    offset, folded = sentence.start, sentence.folded
    subject = _SUBJECT.search(folded[begin : begin + _SUBJECT_CHARS_MAX])
    marks = list(_PATTERNS["and verb"].finditer(folded, begin, stop)) if subject else []
    # In 'trying to balance work and study', the second verb has no subject.
    marks = [mark for mark in marks if not _INFINITIVE.search(folded, begin, mark.start())]
    parts = _parts(folded, begin, stop)
    marks = sorted([*marks, *parts], key=lambda mark: mark.start())
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
            inherits=("i'm" if marks[n - 1] in parts else subject[1]) if subject and n else "",
            support=offset + begin + len(folded[begin:stop]) - len(folded[begin:stop].lstrip()),
            first=first and not n,
        )


def _parts(folded: str, begin: int, stop: int) -> list[re.Match[str]]:
    """The commas of 'I'm 34, single, based in Leipzig'."""
    at = begin + len(folded[begin:stop]) - len(folded[begin:stop].lstrip())
    opening = _PATTERNS["openings"].match(folded, at, stop)
    if not _PATTERNS["self"].match(folded, opening.end() if opening else at, stop):
        return []
    return list(_PATTERNS["part of self"].finditer(folded, begin, stop))
