"""Memories as a folder of Markdown notes with front matter, as Obsidian reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.domain.memory import Memory
from holdfast.exporters import Exporter
from holdfast.exporters.tables import plain

_NAME_CHARS_MAX = 60
# What front matter has of a memory; its title and text are the note.
_FIELDS = ("id", "created", "updated", "category", "kind", "tags", "session", "speaker", "state")


def _markdown(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    for memory in memories:
        yield note_name(memory), note(memory)


def note_name(memory: Memory) -> str:
    """A name that every file system takes, and no two memories share."""
    words = re.sub(r"[^\w -]+", " ", memory.title)
    words = " ".join(words.split())[:_NAME_CHARS_MAX].strip(" .-")
    return f"{memory.number:05d} {words}.md" if words else f"{memory.number:05d}.md"


def note(memory: Memory) -> str:
    row = plain(memory)
    fields = {"title": memory.title, **{name: row[name] for name in _FIELDS}}
    head = "".join(
        f"{name}: {_yaml(one)}\n" for name, one in fields.items() if one not in (None, "", [])
    )
    if memory.metadata:
        head += f"metadata: {json.dumps(row['metadata'], ensure_ascii=False)}\n"
    return f"---\n{head}---\n\n{memory.content}\n"


def _yaml(value: Any) -> str:
    """A value of front matter: JSON is YAML, and plain words need no quotes."""
    if isinstance(value, list):
        return "[" + ", ".join(_yaml(one) for one in value) + "]"
    text = str(value)
    if re.fullmatch(r"[A-Za-z0-9][\w.:+-]*(?: [\w.+-]+)*", text):
        return text
    return json.dumps(text, ensure_ascii=False)


MARKDOWN = Exporter("markdown", "a folder of Markdown notes", _markdown, folder=True)
