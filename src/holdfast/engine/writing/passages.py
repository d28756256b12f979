"""From a memory to what search knows of it: passages, their index terms, their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.recall.voice import ROLES
from holdfast.store.values import Candidate, IndexEntry
from holdfast.text.chunking.chunk import Chunk, chunk
from holdfast.text.chunking.windows import windows_of
from holdfast.text.terms import searchable, symbols, terms
from holdfast.text.variants import definition_marks

if TYPE_CHECKING:
    from holdfast.engine.core import Core

# More windows than this (about 15,000 characters, a second or two) are embedded after the write.
WINDOWS_AT_ONCE = 64


class Indexed(NamedTuple):
    """A memory's derived state, ready for the store."""

    text: str
    entries: list[IndexEntry]
    model: str


def indexed(memory: Memory, core: Core) -> Indexed:
    """Everything the store needs to find this memory."""
    return indexed_all([memory], core)[0]


def indexed_all(memories: Sequence[Memory], core: Core | None) -> list[Indexed]:
    """The same for many at once: the embedding model is asked in one go.

    A long text is kept without vectors at first, so that keeping it does not take a minute: its
    words find it at once, and its vectors are made in the background (engine/writing/embedding.py).
    Without a core no model is asked at all: for inside a write, where everyone who wants to write
    would wait for it.
    """
    cut = [_passages(memory) for memory in memories]
    texts = [
        [window_texts(memory, piece) for piece in pieces]
        for memory, pieces in zip(memories, cut, strict=True)
    ]
    short = [sum(map(len, many)) <= WINDOWS_AT_ONCE for many in texts]
    model, vectors = "", list[bytes]()
    if core is not None:
        asked = [many for many, now in zip(texts, short, strict=True) if now]
        model, vectors = core.embed([text for many in asked for some in many for text in some])
    remaining = iter(vectors)
    out = []
    for memory, pieces, many, now in zip(memories, cut, texts, short, strict=True):
        windows = sum(map(len, many))
        entries = []
        for ordinal, (piece, some) in enumerate(zip(pieces, many, strict=True)):
            made = tuple(next(remaining) for _ in some) if model and now else ()
            entries.append(_entry(memory, ordinal, piece, windows, made))
        out.append(Indexed(searchable(memory), entries, model))
    return out


def _passages(memory: Memory) -> list[Chunk]:
    language = ""
    if memory.content_type == "code":
        from holdfast.text.content_types import language_of

        language = language_of(memory.content, memory.source_path)
    return chunk(memory.content, content_type=memory.content_type, language=language)


def window_texts(memory: Memory, piece: Chunk | Candidate) -> list[str]:
    """What the embedding model reads of a passage: a few sentences at a time, under the heading.

    A speaker's name stands in front, as in a transcript; a role (`user`, `assistant`) says nothing.
    """
    chain = " > ".join(piece.headings)
    front = f"{chain}\n" if chain else ""
    if memory.speaker and memory.speaker.casefold() not in ROLES:
        front += f"{memory.speaker}: "
    return [
        front + memory.content[start:end]
        for start, end in windows_of(memory.content, piece.start, piece.end)
    ]


def _entry(
    memory: Memory, ordinal: int, piece: Chunk, windows: int, vectors: tuple[bytes, ...]
) -> IndexEntry:
    said = memory.content[piece.start : piece.end]
    around = [*piece.headings, *memory.tags, memory.key or "", piece.speaker]
    if not memory.content.startswith(memory.title.rstrip("…")):
        # A title taken from the first words would only count them twice.
        around.insert(0, memory.title)
    head = terms(" ".join(around))
    return IndexEntry(
        ordinal,
        piece.start,
        piece.end,
        piece.headings,
        tuple(terms(said)),
        tuple(head + symbols(said) + definition_marks(said)),
        windows,
        vectors,
    )
