"""The sentences of a turn that a person says in their own name, with their places.

Left out: code, quotations, pasted texts and mails, lines of other speakers, fiction, and what is
meant the other way round. It does not know which sentences are worth keeping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.text.capture_person import fold
from holdfast.text.capture_words import any_of

# A longer line without an end of a sentence is a table or a dump.
_SENTENCE_CHARS_MAX = 1_200
# Who says more than this at once has pasted a text.
SENTENCES_MAX = 300
# In a longer turn something is pasted: what somebody says of it stands above or below.
_PASTED_CHARS_MIN = 3_000
# Stands for each character of somebody else's words, and of what only accompanies the person's own:
# a note in brackets, an address.
BLANK, ASIDE = "\x00", "\x01"


class Sentence(NamedTuple):
    """A sentence of the person's own, and its place in the turn. `asked` are the lines under
    'Please remember:'."""

    start: int
    end: int
    said: str
    folded: str
    asked: bool = False


_NO_LINE_END = re.compile(r"[^\n]")
_FENCE = re.compile(r"(?m)^ {0,3}(```+|~~~+)")
_QUOTED = re.compile(
    r"`[^`\n]{1,300}`|“[^”]{1,600}”|\"[^\"\n]{1,600}\"|\[[^\]\n]{1,400}\]|https?://\S+"
)
_SINGLE_QUOTED = re.compile(r"(?<![\w])['‘](?=\w)[^'’\n]{2,300}(?<=[\w.!?,])['’](?!\w)")
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|$)")
# From here on the words are somebody else's.
_PASTED = re.compile(
    r"(?:-{2,} ?(?:original message|forwarded message|begin)|(?:from|to|subject|sent|cc|date): \S"
    r"|on .{4,80} wrote: *$|begin forwarded message|dear [\w. ]{1,40},? *$)"
)
_WORK_ON_TEXT = any_of(
    """
    translate, rewrite, re-write, summari[sz]e, proofread, proof-read, correct, fix, edit, review,
    improve, polish, check, shorten, rephrase, paraphrase, reword, reply, respond, answer,
    analy[sz]e, grade, format, convert, explain, classify, extract, draft, text, email, e-mail,
    message, letter, essay, bio, article, post, lyrics, quote, sentence, paragraph, poem, wrote,
    says?, said, reads, goes, prompt, input, example, following, transcript, caption, tweet, story,
    dialogue, (?:here(?:'s| is| are)|below is|this is|that's|got this) (?:an?|the|my|what|some|how)
    """
)
_GIVEN = re.compile(rf"\b{_WORK_ON_TEXT}\b[^:\n]{{0,120}}:(?= |$)")
_FICTIONS = any_of(
    """
    story, poem, song, scene, dialogue, monologue, haiku, joke, lyrics, rap, limerick, skit,
    screenplay, persona, fanfic, conversation, diary, test data, sample, example
    """
)
_FICTION = re.compile(
    r"\b(?:pretend|imagine|suppose|hypothetically|role-?play|assume|first[- ]person|for example"
    r"|let'?s (?:say|pretend|imagine|assume)|e\.g\.|lorem|(?:my|the|main) character"
    r"|in (?:this|the|my) (?:story|scenario|game|novel|scene|dream|play)|you(?:'re| are) an? "
    r"|(?:act|speak|talk|answer) (?:as|like)|(?:write|tell|give|make|compose|generate|create)"
    rf"(?: me| us)? (?:an? |some |the )?(?:\w+ ){{0,3}}{_FICTIONS})\b"
)
_IRONY = re.compile(
    r"(?:^|\s)/s\b|\byeah,? right\b|\bsure,? jan\b|\bas if\b|\b(?:just |only )?kidding\b|\bj/?k\b"
    r"|\bjoking\b|🙄|\bnot!|\bsarcas\w+|\bwhatever you say\b"
)
# A shorter one with a sign of irony takes back what was said before.
_TAKES_BACK_CHARS_MAX = 40
_SPEAKER = re.compile(
    r"[ \t]*(?:\*\*)?[A-Z@][\w.-]*(?: [A-Z][\w.-]*)?(?:\*\*)?(?: ?[\[(][^\])\n]{0,40}[\])])?"
    r" ?:(?:\*\*)? "
)
_OWN_LABELS = frozenset(
    """
    remember decision decided note ps fyi update edit reminder correction important context
    background deadline birthday user me human memo
    """.split()  # noqa: SIM905 - a list of twenty quoted words is harder to read
)
_NO_PROSE = (">", "|", "#", "{", "}", "<", "$", "//", "/*", "import ", "def ", "    ", "\t")
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"')\]”’]*\s+|(?<=[^\W\d_][)\s])[.!?]+(?=\s)|(?<=\w)\.(?=[A-Z]\w* )"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|jr|sr|vs|etc|inc|ltd|co|approx|dept|fig|no|vol|e\.g|i\.e|a\.m"
    r"|p\.m|u\.s|u\.k)|\b\w)\.$"
)
_ASKED_BELOW = re.compile(
    r"(?:(?:can|could) you )?(?:please |pls )?(?:also )?(?:remember|keep in mind|memori[sz]e|save"
    r"|store|note)(?: these| this| the following)?(?: \w+){0,3} ?:"
)


def sentences(said: str) -> list[Sentence]:
    """The sentences of a turn that are the person's own, in order."""
    plain = _without_quotations(said)
    first, last = _outer_paragraphs(plain)
    kept: list[Sentence] = []
    imagined = asked = False
    for line in _LINE.finditer(plain):
        if first < line.start() < last:
            continue
        text = line.group()
        stripped = text.strip()
        if not stripped:
            # What somebody imagines, or asks for in a list, ends with its paragraph.
            imagined, asked = imagined and line.end() >= len(plain), False
            continue
        if _PASTED.match(fold(stripped)):
            break
        if not _is_prose(text, stripped):
            continue
        for start, end in _cut(plain, line.start(), line.end()):
            folded = fold(plain[start:end])
            if _IRONY.search(folded):
                if len(folded) < _TAKES_BACK_CHARS_MAX and kept:
                    kept.pop()
                continue
            if _ASKED_BELOW.fullmatch(folded):
                asked = True
                continue
            imagined = imagined or _FICTION.search(folded) is not None
            given = _GIVEN.search(folded)
            if given is not None:
                end, folded = start + given.end(), folded[: given.end()]
            if not imagined:
                kept.append(Sentence(start, end, said[start:end], folded, asked))
            if given is not None or len(kept) == SENTENCES_MAX:
                return kept
    return kept


def _outer_paragraphs(plain: str) -> tuple[int, int]:
    """Where the first paragraph ends and the last one begins, in a turn that is too long to be all
    the person's own."""
    if len(plain) < _PASTED_CHARS_MIN:
        return len(plain), len(plain)
    text = plain.rstrip()
    first, last = _PARAGRAPH.search(plain, len(plain) - len(plain.lstrip())), text.rfind("\n\n")
    return (first.start(), last) if first else (len(plain), len(plain))


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
    for pattern in (_QUOTED, _SINGLE_QUOTED):
        plain = pattern.sub(_blanked, plain)
    return plain


def _blanked(found: re.Match[str]) -> str:
    said = found.group()
    # A name in quotes is a name, and a word in code is a word; more is somebody's sentence.
    if said[0] == "[" or said.startswith("http"):
        return ASIDE * len(said)
    if len(said) <= 42 and said.count(" ") < 3:
        return said
    return BLANK * len(said)


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
    return letters >= 0.5 * len(stripped)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of a line."""
    bullet = _BULLET.match(text, start, end)
    at = bullet.end() if bullet else start
    for found in _SENTENCE_END.finditer(text, at, end):
        # 8 characters hold the longest abbreviation.
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
