"""Memories as JSON Lines and CSV, with the names of columns that the importers know."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.domain.clock import to_text
from holdfast.domain.memory import Memory
from holdfast.exporters import Exporter

# In the order of the columns. `created` is since when it is known, or when it happened.
COLUMNS = (
    *("id", "text", "title", "created", "updated", "expires", "category", "kind", "tags"),
    *("session", "speaker", "layer", "state", "pinned", "source", "metadata"),
)


def plain(memory: Memory) -> dict[str, Any]:
    """A memory by columns, as JSON can hold it."""
    created = memory.occurred_at or memory.valid_from or memory.created_at
    return {
        "id": memory.id,
        "text": memory.content,
        "title": memory.title,
        "created": to_text(created),
        "updated": to_text(memory.updated_at),
        "expires": to_text(memory.expires_at) if memory.expires_at else None,
        "category": memory.category,
        "kind": memory.kind,
        "tags": list(memory.tags),
        "session": memory.session,
        "speaker": memory.speaker,
        "layer": memory.layer,
        "state": memory.state,
        "pinned": memory.pinned,
        "source": memory.source_path or memory.source_agent or memory.source,
        "metadata": dict(memory.metadata),
    }


def _jsonl(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    for memory in memories:
        row = {name: one for name, one in plain(memory).items() if one not in (None, "", [], {})}
        yield "", json.dumps(row, ensure_ascii=False, sort_keys=False) + "\n"


def _csv(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    yield "", _row(COLUMNS)
    for memory in memories:
        row = plain(memory)
        row["tags"] = ",".join(row["tags"])
        row["metadata"] = json.dumps(row["metadata"], ensure_ascii=False) if row["metadata"] else ""
        yield "", _row(["" if row[name] is None else str(row[name]) for name in COLUMNS])


def _row(values: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(values)
    return out.getvalue()


JSONL = Exporter("jsonl", "JSON Lines, a memory on each line", _jsonl)
CSV = Exporter("csv", "CSV with a heading", _csv)
