"""What search knows of a turn of the conversation log: the same as of a memory, without vectors.

A turn is indexed where it is written, in the same transaction, so that its words find it at once;
its vectors are made later, off the path of the reply (engine/writing/embedding.py).
"""

from __future__ import annotations

from holdfast.store.values import IndexEntry
from holdfast.text.terms import symbols, terms


def turn_entries(content: str) -> list[IndexEntry]:
    """The index entries of a turn: one a passage, and always at least one."""
    # A command that only reads opens the same store and must not pay for these.
    from holdfast.text.chunking.chunk import Chunk, chunk
    from holdfast.text.chunking.windows import windows_of

    pieces = chunk(content) or [Chunk(0, len(content))]
    windows = sum(len(windows_of(content, piece.start, piece.end)) for piece in pieces)
    out = []
    for ordinal, piece in enumerate(pieces):
        said = content[piece.start : piece.end]
        head = terms(" ".join((*piece.headings, piece.speaker))) + symbols(said)
        out.append(
            IndexEntry(
                ordinal,
                piece.start,
                piece.end,
                piece.headings,
                tuple(terms(said)),
                tuple(head),
                max(1, windows),
            )
        )
    return out
