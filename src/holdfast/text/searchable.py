"""The text of a memory that substring search looks through: what a person would call its words."""

from __future__ import annotations

from holdfast.domain.memory import Memory
from holdfast.text.terms import trigram_text


def searchable(memory: Memory) -> str:
    """Content, title, key and tags, folded."""
    parts = [memory.content, memory.title, memory.key or "", " ".join(memory.tags)]
    return trigram_text("\n".join(parts))
