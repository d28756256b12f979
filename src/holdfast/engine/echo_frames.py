"""What stands around recognised memories: openings, headings, ends. It goes where they go.

A frame alone is no echo, save for an empty block of this hub: anybody may write a heading.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from holdfast.domain.memory import CATEGORIES
from holdfast.text.bare import bare
from holdfast.text.echo import Echo
from holdfast.text.echo_shapes import Frame, begun
from holdfast.text.spans import line_start, merged

_ELLIPSIS = re.compile(r"[\s>]*(?:…|\.\.\.)[\s>]*\Z")
_FRAMING = re.compile(r"instructions\.|important:")
# A heading that was cut, and the last line of a block behind it.
_MORE = re.compile(
    r"(?:\(\d+morenotshown\))?(?:\(\d+(?:ormore)?waitingforreview:`?holdfastreview`?\))?\Z"
)
# How a block ends.
_LAST = ("</memory>", "shown)", "review`)")
_PARTS = ("pinned", "relevant now", "recent")


class Frames:
    """The frames found in a text, beside the echoes found in it."""

    def __init__(
        self,
        text: str,
        frames: Sequence[Frame],
        echoes: Sequence[Echo],
        hub: str,
        categories: Iterable[str],
    ) -> None:
        self._text = text
        self._frames = frames
        self._echoes = echoes
        self._hub = hub
        names = (*CATEGORIES, *_PARTS, *categories)
        self._names = {bare(name.lower()).text for name in names}

    def taken(self) -> list[Echo]:
        """The frames that go with what was recognised."""
        frames = [frame for frame in self._frames if self._is_ours(frame)]
        frames += self._cut_off()
        taken = [Echo(frame.start, frame.end) for frame in self._with_echo(frames)]
        taken += self._adjacent(frames, [*self._echoes, *taken])
        starts = {one.start: line_start(self._text, one.start) for one in taken}
        return [
            one._replace(start=one.start if (line := starts[one.start]) is None else line)
            for one in dict.fromkeys(taken)
        ]

    def _cut_off(self) -> Iterator[Frame]:
        """Decoration at the end of the text that was not finished."""
        if not self._echoes:
            return
        start = max(*(one.end for one in self._echoes), 0, *(one.end for one in self._frames))
        name = begun(self._text, start)
        if name is not None and any(
            one.startswith(bare(name.lower()).text.rstrip("*:")) for one in self._names
        ):
            yield Frame(start, len(self._text.rstrip()), "line")

    def _is_ours(self, frame: Frame) -> bool:
        if frame.kind != "heading":
            return True
        name = _MORE.sub("", bare(frame.name.lower()).text)
        # The last heading before a block was cut has nothing below it that would vouch for it.
        return (
            name in self._names
            or name.endswith("…")
            or bool(_ELLIPSIS.match(self._text, frame.end))
        )

    def _with_echo(self, frames: Sequence[Frame]) -> Iterator[Frame]:
        """Those of blocks in which something was recognised, and of blocks that are empty."""
        found = sorted(one.start for one in self._echoes)
        for inside, end in _blocks(frames, len(self._text)):
            if _any_between(found, inside[0].start, end) or self._is_empty(inside, end):
                yield from inside

    def _is_empty(self, inside: Sequence[Frame], end: int) -> bool:
        """Whether it is a whole block of this hub in which nothing stands: an opening that nobody
        else writes, and frames."""
        opening = inside[0]
        if opening.name and bare(opening.name).text != bare(self._hub).text:
            return False
        if not _FRAMING.search(self._text, opening.start, opening.end):
            return False
        runs = merged(self._text, [(one.start, one.end) for one in inside])
        last = self._text[runs[-1][0] : runs[-1][1]]
        closed = (
            last.endswith(("</memory>", "shown)", "review`)"))
            or not self._text[runs[-1][1] : end].strip()
        )
        return len(runs) == 1 and closed

    def _adjacent(self, frames: Sequence[Frame], taken: Sequence[Echo]) -> Iterator[Echo]:
        """Those right before or behind what was recognised, where a block lost its other end."""
        runs = merged(
            self._text, [*(one[:2] for one in taken), *((one.start, one.end) for one in frames)]
        )
        at = 0
        found = sorted(one.start for one in taken)
        for frame in sorted(frames):
            while at < len(runs) and runs[at][1] <= frame.start:
                at += 1
            if at < len(runs) and _any_between(found, *runs[at]):
                yield Echo(frame.start, frame.end)


def _blocks(frames: Sequence[Frame], length: int) -> Iterator[tuple[list[Frame], int]]:
    """The frames of each block, from its opening to its closing or the next opening."""
    inside: list[Frame] = []
    for frame in sorted(frames):
        if frame.kind == "opening":
            if inside:
                yield inside, frame.start
            inside = []
        if inside or frame.kind == "opening":
            inside.append(frame)
        if frame.kind == "closing" and inside:
            yield inside, frame.end
            inside = []
    if inside:
        yield inside, length


def _any_between(sorted_offsets: list[int], start: int, end: int) -> bool:
    at = bisect_left(sorted_offsets, start)
    return at < len(sorted_offsets) and sorted_offsets[at] < end
