"""From a memory to what search knows of it: passages, their index terms, their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.store.base import Candidate, IndexEntry
from holdfast.text.chunk import Chunk, chunk
from holdfast.text.searchable import searchable
from holdfast.text.terms import symbols, terms

if TYPE_CHECKING:
    from holdfast.engine.core import Core


class Indexed(NamedTuple):
    """A memory's derived state, ready for the store."""

    text: str
    entries: list[IndexEntry]
    model: str


def indexed(memory: Memory, core: Core) -> Indexed:
    """Everything the store needs to find this memory."""
    return indexed_all([memory], core)[0]


def indexed_all(memories: Sequence[Memory], core: Core) -> list[Indexed]:
    """The same for many at once: the embedding model is asked in one go."""
    cut = [chunk(memory.content, content_type=memory.content_type) for memory in memories]
    texts = [
        passage_text(memory, piece)
        for memory, pieces in zip(memories, cut, strict=True)
        for piece in pieces
    ]
    model, vectors = core.embed(texts)
    remaining = iter(vectors)
    return [
        Indexed(
            searchable(memory),
            [_entry(memory, n, piece, next(remaining)) for n, piece in enumerate(pieces)],
            model,
        )
        for memory, pieces in zip(memories, cut, strict=True)
    ]


def passage_text(memory: Memory, piece: Chunk | Candidate) -> str:
    """What the embedding model reads of a passage.

    Only what was said, without the speaker's name: names are matched as such (recall/voice.py),
    and in front of every text they would make all of a speaker's turns alike.
    """
    said = memory.content[piece.start : piece.end]
    chain = " > ".join(piece.headings)
    return f"{chain}\n{said}" if chain else said


def _entry(memory: Memory, ordinal: int, piece: Chunk, vector: bytes | None) -> IndexEntry:
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
        tuple(head + symbols(said)),
        vector,
    )
