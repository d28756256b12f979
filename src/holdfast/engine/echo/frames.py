"""Recognises what surrounds memories in Holdfast's output: openings, headings and ends of blocks,
JSON replies, and files as Anthropic's memory tool shows them. A frame without a memory is not an
echo."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from holdfast.domain.memory import CATEGORIES, Memory
from holdfast.engine.echo.detect import Known
from holdfast.engine.echo.shapes import Frame, begun
from holdfast.engine.echo.signs import Echo
from holdfast.text.analysis.spans import line_start, merged
from holdfast.text.facts.sameness import bare

_ELLIPSIS = re.compile(r"[\s>]*(?:…|\.\.\.)[\s>]*\Z")
_FRAMING = re.compile(r"instructions\.|important:")
# A heading that was cut off, and the last line of a block after it.
_MORE = re.compile(
    r"(?:\(\d+morenotshown(?:;recallfindsthem)?\))?"
    r"(?:\(\d+(?:ormore)?waitingforreview:`?holdfastreview`?\))?\Z"
)
# How a block ends.
_LAST = ("</memory>", "shown)", "review`)")
_PARTS = ("pinned", "standing", "relevant now", "files", "recent", "last session")


@lru_cache(maxsize=1_000)
def _plain_name(name: str) -> str:
    return bare(name.lower()).text


class Frames:
    """The frames found in a text, next to its echoes."""

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
        self._names = set(map(_plain_name, names))

    def taken(self) -> list[Echo]:
        """The frames that belong to recognised memories."""
        if not (self._frames or self._echoes):
            return []
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
        """Incomplete decoration at the end of the text."""
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
        # The last heading of a block that was cut has no recognised memory below it.
        return (
            name in self._names
            or name.endswith("…")
            or bool(_ELLIPSIS.match(self._text, frame.end))
        )

    def _with_echo(self, frames: Sequence[Frame]) -> Iterator[Frame]:
        """The frames of blocks with a recognised memory, and of empty blocks."""
        found = sorted(one.start for one in self._echoes)
        for inside, end in _blocks(frames, len(self._text)):
            if _any_between(found, inside[0].start, end) or self._is_empty(inside, end):
                yield from inside

    def _is_empty(self, inside: Sequence[Frame], end: int) -> bool:
        """Whether it is an empty block of this hub: an opening that nobody else writes, and only
        frames."""
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
        """The frames directly before or after an echo, for a block that lost its other end."""
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


_SIGNS = ('"content"', '"text"', '"key"', '"results"', '"memories"')
_BEGINS = re.compile(r'[\[{]\s*["\[{]')
# Text that only begins like JSON is parsed up to its first error.
_FLAWED_MAX = 8
_DEPTH_MAX = 6
_WORDS = ("content", "text", "snippet")
# Holdfast's own labels, which contain no text of a memory.
_LABELS = (
    *("category", "status", "updated_at", "created_at", "score", "count", "url", "kind"),
    *("source", "state", "layer", "number", "date", "type", "title", "metadata", "tags"),
)
# The notes of a recall that may be incomplete.
_NOTES = ("only words were matched", "only its beginning was used", "no vector of this model")
_LISTS = ("memories", "results", "data", "items")

Nested = Callable[[str], list[str] | None]


def json_echoes(text: str, known: Known, nested: Nested) -> Iterator[tuple[int, int, list[str]]]:
    """The JSON objects that are echoes, with the ids of their memories. `nested` decides for a text
    whether it is an echo completely, and of which memories."""
    if not any(sign in text for sign in _SIGNS):
        return
    decoder = json.JSONDecoder()
    flawed = at = 0
    while flawed < _FLAWED_MAX and (begins := _BEGINS.search(text, at)):
        at = begins.start() + 1
        if line_start(text, begins.start()) is None:
            continue
        try:
            value, at = decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            flawed += 1
            continue
        ids = _ids_of(value, known, nested, _DEPTH_MAX)
        if ids or (ids is not None and _says_nothing(value)):
            yield begins.start(), at, ids


def _ids_of(value: Any, known: Known, nested: Nested, depth: int) -> list[str] | None:
    """The ids of the memories in it; None if a part of it is not an echo."""
    if isinstance(value, str) or depth == 0:
        return None
    if isinstance(value, list):
        return _all_of(value, known, nested, depth)
    if not isinstance(value, dict):
        return []
    memory = _memory_of(value, known)
    if memory is None and ("key" in value or "id" in value):
        return None
    ids = [] if memory is None else [memory.id]
    for name, item in value.items():
        found: list[str] | None = []
        if name in _WORDS:
            found = _words(item, memory, known, nested)
        elif name in _LISTS:
            found = _all_of(item, known, nested, depth) if isinstance(item, list) else None
        elif name in ("notes", "degraded") and isinstance(item, list):
            found = [] if all(_is_note(one) for one in item) else None
        elif name == "title":
            fits = memory is not None and isinstance(item, str) and known.has_title(memory, item)
            found = [] if fits else None
        elif name not in ("key", "id", *_LABELS) and not isinstance(item, (int, float)):
            found = None
        if found is None:
            return None
        ids += found
    return ids


def _says_nothing(value: Any) -> bool:
    """Whether it is the reply of a search without results."""
    return isinstance(value, dict) and any(value.get(name) == [] for name in _LISTS)


def _is_note(value: Any) -> bool:
    return isinstance(value, str) and any(words in value for words in _NOTES)


def _all_of(values: list[Any], known: Known, nested: Nested, depth: int) -> list[str] | None:
    out: list[str] = []
    for value in values:
        found = _ids_of(value, known, nested, depth - 1)
        if found is None:
            return None
        out += found
    return out


def _memory_of(value: dict[str, Any], known: Known) -> Memory | None:
    id_, key = value.get("id"), value.get("key")
    if isinstance(id_, str):
        return known.by_id(id_)
    if not isinstance(key, str):
        return None
    return known.by_key(key) or known.by_id(key)


def _words(item: Any, memory: Memory | None, known: Known, nested: Nested) -> list[str] | None:
    if not isinstance(item, str):
        return None
    words = bare(item).text
    maybe = [memory] if memory is not None else known.by_words(iter(item.splitlines()))
    for one in maybe:
        for rendering in known.renderings(one):
            if words == rendering or (words[-1:] == "…" and rendering.startswith(words[:-1])):
                return [one.id]
    return nested(item)


# Each repeated part begins with a line end, so that there is only one way to match it. The last tab
# may be missing if trailing white space was removed.
_PAGE = re.compile(
    r"Here's the content of /memories/(?P<path>[^\n]{1,1000}) with line numbers:"
    r"(?P<lines>(?:\n *\d{1,6}(?:\t[^\n]*)?)+)"
)
_NUMBER = re.compile(r"\n *\d{1,6}\t?")
_FOLDER = re.compile(
    r"Here're the files and directories up to 2 levels deep in /memories[^\n]{0,1000}, excluding"
    r" hidden items:(?:\n[\d.]+[BKMG]\t/memories[^\n]*)+"
)
_QUOTED = re.compile(r"^[ \t]*> ?", re.MULTILINE)


def is_folder(text: str) -> bool:
    """Whether a text is only the list of a folder's files, as a tool showed it."""
    return _FOLDER.fullmatch(_unquoted(text)) is not None


def page_words(text: str) -> tuple[str, str] | None:
    """The path in a page that a tool showed and its text, without line numbers; None if it is not a
    page."""
    found = _PAGE.fullmatch(_unquoted(text))
    if found is None:
        return None
    return found["path"], _NUMBER.sub("\n", found["lines"]).removeprefix("\n")


def holder(path: str, words: str, at_path: Callable[[str], Memory | None]) -> Memory | None:
    """The memory of the file at that path, if it has these lines."""
    memory = at_path(path)
    if memory is None or not words.strip():
        return None
    lines = f"\n{memory.content.strip()}\n".replace("\r\n", "\n")
    return memory if f"\n{words.strip()}\n" in lines else None


def _unquoted(text: str) -> str:
    plain = text.replace("\r\n", "\n").strip()
    return _QUOTED.sub("", plain).strip() if plain.startswith(">") else plain
