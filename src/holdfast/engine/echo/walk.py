"""Goes through the marks of a text and checks which are followed by the words of a memory.

It knows the formats from `shapes.py` and reads the store through `Known`; it does not know how its
result is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from holdfast.domain.memory import Memory
from holdfast.engine.echo.detect import Known
from holdfast.engine.echo.frames import Frames, json_echoes
from holdfast.engine.echo.shapes import Claim, Frame, Reading, marks
from holdfast.engine.echo.signs import Echo
from holdfast.text.analysis.spans import blank, line_start, without
from holdfast.text.facts.sameness import Bare, bare

# The beginning of a memory counts only if it is longer than this, or next to other echoes: a person
# may write 'No…' after a number.
_BEGINNING_CHARS_MIN = 20
# The most characters between two echoes on one line; looking further would be quadratic in a long
# line.
_JOIN_CHARS_MAX = 200
# The longest closing is a source and a time in brackets.
_CLOSING_CHARS_MAX = 120
# The number of characters by which a part from the middle of a memory is located.
_SOUGHT_CHARS = 24
# Longer than any snippet in the output.
_PART_CHARS_MAX = 2_000
# After so many unknown lines, a block without an end has ended.
_MISSES_MAX = 40

# An end that was cut off, perhaps in the middle of a character reference; or the end of the text.
_HALF = r"(?:&[a-z]{0,4}|(?<=&)[a-z]{1,4})?"
_CUT = re.compile(rf"{_HALF}(?:(?:…|\.\.\.)|\Z)")
_UNSEEN = re.compile(r"(?:[ \t]*[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f])*")
_LINE = re.compile(r"[^\n]*\n?")
_LINE_ENDS = re.compile(r"[ \t\r]*(?:\n|\Z)")
_PREFIX = re.compile(r"[ \t>]*")
_BULLET = re.compile(r"[ \t>]*(?:[-*+•][ \t]+)?(?:\d\d:\d\d[ \t]+)?")
_SPOKEN = re.compile(r"[ \t>]*(?:\[[^\]\n]{1,100}\] (?:User|System)|[^\n:]{1,100}): ")
# The marker in MEMORY.md that names the memory of a line.
_COMMENT = re.compile(r"<!--[ \t]*mem_[\w-]{1,64}[ \t]*-->[ \t]*$")
_FILE_CLOSING = re.compile(r"(?:[ \t]*<!--[ \t]*mem_[\w-]{1,64}[ \t]*-->)?")
# If a file was cut, its last line may be too short to search for.
_REST = re.compile(r"[ \t>]*(?:[-#][^\n]{0,20})?(?:…|\.\.\.)[ \t\r]*(?:\n[\s>]*(?:\n|\#|\Z)|\Z)")
# What may follow on the same line where line ends were lost.
_JOINED = re.compile(
    r"[\s>]+(?:[-*+•][\s>]+(?:(?:\[#|#)\d|\[turn )|\*\*[^*\n]{1,100}\*\*:|#{2,3} |</"
    r"|<item|<turn|<section|<note>"
    r"|\(\d+ (?:or )?more not shown(?:; recall finds them)?\)"
    r"|\(\d+ (?:or more )?waiting for review:)"
)


class Walk:
    """One pass over the marks of a text in search of echoes."""

    def __init__(self, text: str, known: Known, hub: str, *, nested: bool = False) -> None:
        self._text = text
        self._nested = nested
        self._known = known
        self._hub = hub
        self._echoes: list[Echo] = []
        self._frames: list[Frame] = []
        self._done = 0  # The end of the last echo.
        self._reads: Reading = ""
        self._day = ""
        self._read_to = 0
        self._misses = 0

    @cached_property
    def _bare(self) -> Bare:
        # Most texts that are looked through have no mark of ours, and nothing to compare.
        return bare(self._text)

    def echoes(self) -> list[Echo]:
        objects = self._objects()
        for mark in marks(self._text):
            while objects and objects[-1].end <= mark.start:
                self._done = max(self._done, objects.pop().end)
            if objects and objects[-1].start <= mark.start:
                continue
            if self._reads:
                self._read_lines(mark.start)
            if mark.start < self._done or not self._begins(mark.start):
                continue
            if isinstance(mark, Claim):
                self._is_echo(mark)
            else:
                self._frame(mark)
        if self._reads:
            self._read_lines(len(self._text))
        around = Frames(
            self._text, self._frames, self._echoes, self._hub, self._known.categories
        ).taken()
        return sorted([*self._echoes, *around])

    def _objects(self) -> list[Echo]:
        """Records echoes in JSON; returns their spans, last first."""
        spans: list[Echo] = []
        if self._nested:
            return spans
        for start, end, ids in json_echoes(self._text, self._known, self._all_ours):
            spans.append(Echo(start, end))
            self._echoes += [Echo(start, end, id_) for id_ in dict.fromkeys(ids or [""])]
        return spans[::-1]

    def _all_ours(self, text: str) -> list[str] | None:
        """The memories of a nested text, if all of it is an echo."""
        echoes = Walk(text, self._known, self._hub, nested=True).echoes()
        if not echoes or without(text, [one[:2] for one in echoes]):
            return None
        return [one.id for one in echoes if one.id.startswith("mem_")]

    def _begins(self, offset: int) -> bool:
        """Whether an echo can begin here: at the start of a line, or directly after another echo if
        lines were joined."""
        if line_start(self._text, offset) is not None:
            return True
        near = self._done > 0 and offset - self._done <= _JOIN_CHARS_MAX
        return near and blank(self._text, self._done, offset)

    def _frame(self, frame: Frame) -> None:
        if frame.kind == "opening":
            self._reads, self._day = frame.reads, frame.name
            self._misses = 0
            self._read_to = frame.end
        elif frame.kind == "closing":
            self._reads = ""
        elif self._reads == "file" and frame.kind == "heading":
            # In a file, a heading may be the person's own, so it is treated like any line.
            self._read_lines(frame.start)
            if self._line(frame.start, frame.end):
                return
        self._frames.append(frame)
        self._done = max(self._done, frame.end)
        self._read_to = max(self._read_to, frame.end)

    # Words after a mark

    def _is_echo(self, claim: Claim) -> bool:
        memories: Iterable[Memory]
        if claim.number is not None:
            memory = self._known.by_number(claim.number)
            memories = [] if memory is None else [memory]
        elif claim.id:
            memory = self._known.by_id(claim.id)
            memories = [] if memory is None else [memory]
        elif claim.change:
            memories = self._known.by_change(claim.change)
        elif claim.is_turn:
            memories = self._known.turns_by_words(self._payload_lines(claim))
        else:
            memories = self._known.by_words(self._payload_lines(claim))
        return any(self._takes_memory(claim, memory) for memory in memories)

    def _takes_memory(self, claim: Claim, memory: Memory) -> bool:
        if claim.title and not self._known.has_title(memory, claim.title):
            return False
        if claim.end:
            ends = bool(claim.title) and self._ends(claim.start, claim.end)
            if ends:
                self._take(claim.start, claim.end, memory.id)
            return ends
        for words in self._known.renderings(memory):
            end = self._reach(claim, words)
            if end is not None:
                self._take(claim.start, end, memory.id)
                return True
        return False

    def _take(self, start: int, end: int, id_: str) -> None:
        begins = line_start(self._text, start)
        self._echoes.append(Echo(start if begins is None else begins, end, id_))
        self._done = self._read_to = end
        self._misses = 0

    def _reach(self, claim: Claim, words: str) -> int | None:
        """The end of the claim in the text, including its closing, if these are its words; None
        otherwise."""
        whole = self._bare.text
        at = self._bare.place_of(claim.payload)
        while at < len(whole) and whole[at] in ">\\":
            at += 1
        if whole.startswith("…", at) and not words.startswith("…"):
            at += 1
            words = words[_place_of(whole, at, words) :]
        length = self._known.common(whole, at, words)
        if not length:
            return None
        place = at + length
        if length < len(words):
            cut = _CUT.match(whole, place)
            if cut is not None:
                place = cut.end()
            elif whole[place - 1] != "…":
                # If the memory contains the sign itself, it has been read over.
                return None
            if length < _BEGINNING_CHARS_MIN and not (self._echoes or self._frames):
                return None
        end = self._bare.offset_of(place) if place < len(whole) else len(self._text.rstrip())
        end = _UNSEEN.match(self._text, end).end()  # type: ignore[union-attr]  # it may be empty
        if claim.closing is not None:
            closed = claim.closing.match(self._text, end)
            if closed:
                end = closed.end()
            elif claim.must_close:
                if not _closing_begun(self._text, end):
                    return None
                end = len(self._text.rstrip())
        return end if self._ends(claim.start, end) else None

    def _ends(self, start: int, offset: int) -> bool:
        """Whether an echo can end here: at the end of a line, or before another echo. If somebody
        has added to it, even in indented lines below, it is their own text."""
        if (line := _LINE_ENDS.match(self._text, offset)) is None:
            return _JOINED.match(self._text, offset) is not None
        begins = line_start(self._text, start)
        if begins is None or line.end() == len(self._text):
            return True
        here, below = (_PREFIX.match(self._text, at) for at in (begins, line.end()))
        assert here and below, "every part of the pattern may be missing"
        if below.end() - below.start() < here.end() - here.start() + 2:
            return True
        return self._text[below.end() : below.end() + 1] in ("", "\r", "\n")

    # Words without a mark, inside a block

    def _read_lines(self, until: int) -> None:
        """Checks each line up to there that was not checked yet."""
        at = max(self._read_to, self._done)
        while at < until and self._reads:
            found = _LINE.match(self._text, at)
            assert found is not None, "every part of the pattern may be missing"
            end = found.end()
            if end == at:
                break
            if not blank(self._text, at, end) and (line_start(self._text, at) is not None):
                if not self._line(at, min(end, until)):
                    self._misses += 1
                    if self._misses > _MISSES_MAX:
                        self._reads = ""
                else:
                    end = max(end, self._done)
            at = end
        self._read_to = max(self._read_to, min(at, until))

    def _line(self, start: int, end: int) -> bool:
        text = self._text
        if self._reads == "log":
            spoken = _SPOKEN.match(text, start, end)
            claim = Claim(start, spoken.end() if spoken else start)
            for turn_id, words in self._known.turns(
                self._bare.text, self._bare.place_of(claim.payload)
            ):
                reached = self._reach(claim, words)
                if reached is not None:
                    self._take(start, reached, turn_id)
                    return True
            return False
        bullet = _BULLET.match(text, start, end)
        claim = Claim(start, bullet.end() if bullet else start, closing=_FILE_CLOSING)
        lines = self._payload_lines(claim)
        day = self._day if self._reads == "day" else ""
        if any(
            self._takes_memory(claim, memory) for memory in self._known.by_words(lines, day=day)
        ):
            return True
        if self._reads == "file":
            line = bare(text[start:end].split("<!--", 1)[0]).text
            if self._known.in_file(line):
                self._take(start, start + len(text[start:end].rstrip()), "")
                return True
            if _REST.match(text, start):
                self._frames.append(Frame(start, len(text[start:end].rstrip()) + start, "line"))
                return True
        return False

    def _payload_lines(self, claim: Claim) -> Iterator[str]:
        """The first line of its words, then the following ones, without the prefix of the claim's
        own line."""
        begins = line_start(self._text, claim.start)
        before = None if begins is None else _PREFIX.match(self._text, begins)
        prefix = before.group() if before else ""
        found = _LINE.match(self._text, claim.payload)
        while found is not None and found.group():
            line = _COMMENT.sub("", found.group().rstrip("\r\n"))
            yield "" if line.strip() == prefix.strip() else line.removeprefix(prefix)
            found = _LINE.match(self._text, found.end())


def _place_of(whole: str, at: int, words: str) -> int:
    """The position in a memory's words of a part from the middle: of the whole part, or, if it runs
    to the end, the last position of its beginning."""
    place = words.find(whole[at : at + _PART_CHARS_MAX].partition("…")[0])
    if place < 0:
        place = words.rfind(whole[at : at + _SOUGHT_CHARS])
    return place if place >= 0 else len(words)


def _closing_begun(text: str, offset: int) -> bool:
    """Whether the text was cut off before or inside the closing of an item."""
    rest = text[offset : offset + _CLOSING_CHARS_MAX].strip()
    if offset + _CLOSING_CHARS_MAX < len(text):
        return False
    return "</item>".startswith(rest) or re.fullmatch(r"\([^()\n]*", rest) is not None
