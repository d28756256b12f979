"""The database of claude-mem: what it observed in sessions of Claude Code, and its summaries of
them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, moment
from holdfast.importers.sqlite import Database, open_database

_PROGRAM = "claude-mem"
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def read(path: str, options: Options) -> Iterator[Found]:
    """A record for each observation and each summary of a session."""
    if os.path.isdir(path):
        path = os.path.join(path, "claude-mem.db")
    with open_database(path, _PROGRAM) as database:
        database.require("observations", ("id", "project", "text", "type", "created_at"))
        for row in database.rows("SELECT * FROM observations ORDER BY id"):
            yield _observation(row)
        yield from _summaries(database)


def _observation(row: dict[str, Any]) -> Found:
    facts = _list(row.get("facts"))
    narrative = row.get("narrative") or row.get("text") or row.get("subtitle") or ""
    parts = [str(narrative).strip(), "\n".join(f"- {fact}" for fact in facts)]
    text = "\n\n".join(part for part in parts if part) or str(row.get("title") or "")
    name = f"observation:{_session(row)}:{row['id']}"
    if not text.strip():
        return Skipped(name, "it is empty")
    kind = str(row["type"])
    return Record(
        name,
        text,
        created=_time(row),
        title=str(row.get("title") or ""),
        category="decision" if kind == "decision" else "project",
        kind="episodic",
        layer="library",
        tags=[kind, *_list(row.get("concepts"))],
        scope=str(row["project"] or ""),
        session=_session(row) or None,
        event=True,
        noted={
            "type": kind,
            "subtitle": row.get("subtitle"),
            "files_read": _list(row.get("files_read")),
            "files_modified": _list(row.get("files_modified")),
            "prompt_number": row.get("prompt_number"),
        },
    )


def _summaries(database: Database) -> Iterator[Found]:
    if not {"id", "project", "request"} <= database.columns("session_summaries"):
        return
    for row in database.rows("SELECT * FROM session_summaries ORDER BY id"):
        said = [(name, str(row.get(name) or "").strip()) for name in _SUMMARY]
        text = "\n".join(
            f"{name.replace('_', ' ').capitalize()}: {one}" for name, one in said if one
        )
        name = f"summary:{_session(row)}:{row['id']}"
        if not text:
            yield Skipped(name, "it is empty")
            continue
        yield Record(
            name,
            text,
            created=_time(row),
            title=str(row.get("request") or ""),
            category="project",
            kind="episodic",
            layer="library",
            tags=("session-summary",),
            scope=str(row["project"] or ""),
            session=_session(row) or None,
            event=True,
            noted={
                "files_read": _list(row.get("files_read")),
                "files_edited": _list(row.get("files_edited")),
            },
        )


def _session(row: dict[str, Any]) -> str:
    # Versions before 7 called it by the second name.
    return str(row.get("memory_session_id") or row.get("sdk_session_id") or "")


def _time(row: dict[str, Any]) -> Any:
    return moment(row.get("created_at_epoch")) or moment(row.get("created_at"))


def _list(text: Any) -> list[str]:
    """A JSON list of texts; what is not one is a text by itself."""
    if not isinstance(text, str) or not text.strip():
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


IMPORTER = Importer(
    "claude-mem",
    "claude-mem",
    "its folder (~/.claude-mem) or its database, claude-mem.db",
    read,
    (
        Row(
            "observation",
            "a document: the narrative and its facts; its title, and when it happened",
            "type, subtitle, files, prompt number",
        ),
        Row("observation of type `decision`", "category decision; others are of project"),
        Row("concepts, type", "tags", "type"),
        Row("summary of a session", "a document with a line for each part", "files"),
        Row("project", "the scope: a hub of its own with `--split`"),
        Row("memory_session_id", "session"),
        Row("user_prompts", "not taken in: `holdfast import claude-code` has the conversations"),
        Row("vectors (chroma), queues, tokens", "nothing: vectors are made anew"),
    ),
    scopes="project",
    example="~/.claude-mem",
    tried="a database that claude-mem 11.0.0 wrote, while its worker had it open (2"
    " observations and 1 summary in, 3 out)",
)
