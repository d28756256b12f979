"""Cut a conversation into its turns, each with who spoke and when.

It reads `Name: text`, `**Name**: text`, either with a time or a date and time before or after the
name, and JSON lists of {role, content}. A time without a date counts only below a line that gives
the date; times without a zone are UTC. A long turn is cut like prose. It does not know who the
speakers are.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import NamedTuple

from holdfast.text.chunking import LINE, TOKENS_MIN, Chunk, count_tokens, trimmed
from holdfast.text.chunking.markdown import MarkdownBlock, read_blocks, split_blocks

_STAMP = (
    r"(?:(?P<{0}day>\d{{4}}-\d\d-\d\d)(?:(?:T|,?[ ]+)(?P<{0}time>\d{{1,2}}:\d\d(?::\d\d)?)"
    r"(?:\.\d+)?[ ]?(?P<{0}half>[AaPp]\.?[Mm]\b\.?)?[ ]?(?P<{0}zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
    r"|(?P<{0}clock>\d{{1,2}}:\d\d(?::\d\d)?)[ ]?(?P<{0}clock_half>[AaPp]\.?[Mm]\b\.?)?)"
)
_NAME = r"[^\W\d_][\w.'’-]{0,30}(?:[ ][\w.'’()&-]{1,30}){0,3}"
_TURN = re.compile(
    rf"[ \t]*(?:[\[(]?{_STAMP.format('a_')}[\])]?[ \t]*(?:[-–—|][ \t]*)?)?"
    rf"(?:\*\*(?P<bold>{_NAME})(?:\*\*[ ]?:|:\*\*)"
    rf"|(?P<name>{_NAME}?)(?:[ ][\[(]{_STAMP.format('b_')}[\])])?[ ]?:)(?=\s|$)"
)
# A line of its own that gives the day of the turns below it, as a heading, a rule or bare.
_DAY_LINE = re.compile(r"[#*=\-–—\[\s]*(\d{4}-\d\d-\d\d)[#*=\-–—\]\s]*$")

_ROLES = frozenset("user assistant system human ai bot agent tool developer model".split())  # noqa: SIM905
# Words before a colon in notes that are nobody's name.
_LABELS = frozenset(
    """
    note notes todo warning example examples subject update edit ps summary tip important question
    answer error output input result results step steps goal goals context decision decisions action
    actions owner status date time when where who what why how title name author description details
    reason reasons source sources link links url tags category key value type version price cost
    total location address phone email file path usage returns raises args see also from to cc re
    attendees agenda topic topics next pros cons problem solution fix cause impact priority deadline
    ingredients instructions conclusion introduction background overview references http https
    """.split()  # noqa: SIM905
)
# Small words inside a name, in lower case.
_PARTICLES = frozenset("de van von der den da di del la le bin ibn al el of the".split())  # noqa: SIM905

# What makes a plain text a conversation: this many turns, each speaker heard twice on average,
# and more than labels with a word behind them. Four, because a shorter one is one passage anyway.
_TURNS_MIN = 4
_WORDS_PER_TURN_MIN = 4


class _Turn(NamedTuple):
    start: int
    speaker: str = ""
    at: datetime | None = None
    headings: tuple[str, ...] = ()
    intro: bool = False  # a title or a preamble, which a turn may take in
    marked: bool = False  # a time, bold type or a known role: more than a word and a colon


def chunk_transcript(text: str, *, tokens_max: int) -> list[Chunk]:
    """The turns as passages; the parts of a long one share its speaker and time."""
    turns = _json_turns(text) or _turns(text)
    ends = [turn.start for turn in turns[1:]] + [len(text)]
    chunks: list[Chunk] = []
    for turn, end in zip(turns, ends, strict=True):
        spans = [(turn.start, end)]
        if count_tokens(text[turn.start : end]) > tokens_max:
            spans = split_blocks(text, read_blocks(text, turn.start, end), tokens_max=tokens_max)
        chunks.extend(
            Chunk(*inner, turn.headings, turn.speaker, turn.at)
            for span in spans
            if (inner := trimmed(text, *span))
        )
    return chunks


def is_transcript(text: str) -> bool:
    """Whether a text that is not said to be a conversation is one beyond doubt."""
    if text.startswith("["):
        json_turns = _json_turns(text)
        if json_turns:
            return len(json_turns) > 1
    turns = [turn for turn in _turns(text) if turn.speaker]
    speakers = {turn.speaker for turn in turns}
    if len(turns) < _TURNS_MIN or len(speakers) < 2 or len(speakers) * 2 > len(turns):
        return False
    if all(turn.marked for turn in turns):
        return True
    return len(text.split()) >= len(turns) * (_WORDS_PER_TURN_MIN + 1)


# ── lines ────────────────────────────────────────────────────────────────────────────────────


def _turns(text: str) -> list[_Turn]:
    turns = [_Turn(0, intro=True)]
    day: date | None = None
    chain: list[tuple[int, str]] = []
    for block in read_blocks(text):
        if block.kind == "heading" and not _read_turn(block.title, None):
            day = _read_day(block.title) or day
            while chain and chain[-1][0] >= block.level:
                chain.pop()
            chain.append((block.level, block.title))
            headings = tuple(title for _, title in chain if title)
            _open(text, turns, _Turn(block.start, headings=headings, intro=True))
        elif block.kind != "fence":
            day = _read_lines(text, block, turns, day)
    return turns


def _read_lines(
    text: str, block: MarkdownBlock, turns: list[_Turn], day: date | None
) -> date | None:
    """Open a turn at each line that begins one; return the day the lines have reached."""
    for line in LINE.finditer(text, block.start, block.end):
        words = line.group()
        # The cheap test first: most lines of a long turn have neither.
        if ":" in words and (turn := _read_turn(words, day)):
            day = turn.at.date() if turn.at else day
            headings = turns[-1].headings
            _open(text, turns, turn._replace(start=line.start(), headings=headings))
        elif "-" in words and (found := _read_day(words)):
            day = found
            _open(text, turns, _Turn(line.start(), headings=turns[-1].headings, intro=True))
    return day


def _open(text: str, turns: list[_Turn], turn: _Turn) -> None:
    """Add a turn; a title of a few words before it becomes its beginning."""
    last = turns[-1]
    if last.intro and count_tokens(text[last.start : turn.start]) < TOKENS_MIN:
        turns[-1] = turn._replace(start=last.start)
    else:
        turns.append(turn)


def _read_turn(words: str, day: date | None) -> _Turn | None:
    found = _TURN.match(words)
    if not found:
        return None
    name = found["bold"] or found["name"]
    stamped = any(found[group] for group in ("a_day", "a_clock", "b_day", "b_clock"))
    role = name.lower() in _ROLES
    if not role and (name.lower() in _LABELS or not (stamped or found["bold"] or _is_name(name))):
        return None
    which = "b_" if found["b_day"] or found["b_clock"] else "a_"
    marked = bool(stamped or found["bold"] or role)
    return _Turn(0, name, _read_stamp(found, which, day), marked=marked)


def _is_name(name: str) -> bool:
    """Whether words before a colon are written like a name: 'Ana', 'Ludwig van Beethoven'."""
    first, *others = name.split()
    if first.lower() in _LABELS or first.islower():
        return False
    return all(not word.islower() or word in _PARTICLES for word in others)


def _read_day(words: str) -> date | None:
    found = _DAY_LINE.match(words)
    try:
        return date.fromisoformat(found.group(1)) if found else None
    except ValueError:
        return None


def _read_stamp(found: re.Match[str], which: str, day: date | None) -> datetime | None:
    """The time of a turn; None when there is none, no day is known, or it does not exist."""
    clock = found[which + "time"] or found[which + "clock"]
    half = found[which + "half"] or found[which + "clock_half"]
    zone = found[which + "zone"] or ""
    try:
        on = date.fromisoformat(found[which + "day"]) if found[which + "day"] else day
        if on is None or not (clock or found[which + "day"]):
            return None
        hour, minute, second = [*map(int, clock.split(":")), 0][:3] if clock else (0, 0, 0)
        if half:
            hour = hour % 12 + (12 if half[0] in "pP" else 0)
        when = datetime.combine(on, time(hour, minute, second), UTC)
        if zone[:1] in ("+", "-"):
            when = datetime.fromisoformat(when.strftime("%Y-%m-%dT%H:%M:%S") + zone)
        return when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────


_BETWEEN = re.compile(r"[ \t\r\n,]*")


def _json_turns(text: str) -> list[_Turn]:
    """The messages of a JSON list, each from its own brace to the next; [] if it is none."""
    opening = len(text) - len(text.lstrip())
    if text[opening : opening + 1] != "[":
        return []
    import json

    decoder = json.JSONDecoder(strict=False)
    turns: list[_Turn] = []
    at = opening + 1
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # matches the empty string
        if text[at : at + 1] == "]":
            break
        try:
            message, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        turn = _json_turn(message)
        if turn is None:
            return []
        turns.append(turn._replace(start=at if turns else 0))
        at = end
    return turns if not text[at + 1 :].strip() else []


def _json_turn(message: object) -> _Turn | None:
    if not isinstance(message, dict) or "content" not in message:
        return None
    speaker = message.get("role") or message.get("speaker") or message.get("name")
    if not isinstance(speaker, str):
        return None
    stamp = next((message[k] for k in ("timestamp", "created_at", "time") if k in message), None)
    at = None
    if isinstance(stamp, str):
        try:
            at = datetime.fromisoformat(stamp)
            at = (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            at = None
    return _Turn(0, speaker[:60], at, marked=True)
