"""Cut a conversation into its turns, each with who spoke and when."""

from __future__ import annotations
from holdfast.text.chunk import Chunk


def is_transcript(text: str) -> bool:
    return False


def chunk_transcript(text: str, *, tokens_max: int) -> list[Chunk]:
    from holdfast.text.chunk_markdown import chunk_markdown

    return chunk_markdown(text, tokens_max=tokens_max)
