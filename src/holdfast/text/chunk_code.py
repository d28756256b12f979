"""Cut source code at its definitions."""

from __future__ import annotations
from holdfast.text.chunk import Chunk


def chunk_code(text: str, *, language: str, tokens_max: int) -> list[Chunk]:
    from holdfast.text.chunk_markdown import chunk_markdown

    return chunk_markdown(text, tokens_max=tokens_max)
