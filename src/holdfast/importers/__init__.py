"""Readers for what other memory programs have stored, grouped by what they read. A module is
imported when one of its readers is asked for. Here: the records that every importer gives, and the
declaration of an importer.

An importer is a pure function from a path to records. It opens the source for reading only, knows
nothing of hubs, and decides nothing about duplicates: `engine.transfer.imports` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

from holdfast.domain.clock import to_text
from holdfast.domain.memory import ContentType, Draft, Kind, Layer
from holdfast.engine.transfer.imports import ImportItem
from holdfast.errors import InvalidInput
from holdfast.text import clean

# The name of each, its module, and the name of its declaration there.
MODULES = {
    "basic-memory": "markdown:BASIC_MEMORY",
    "chatgpt": "chats:CHATGPT",
    "chroma": "chroma:IMPORTER",
    "claude": "chats:CLAUDE",
    "claude-mem": "memory_servers:CLAUDE_MEM",
    "csv": "tables:CSV",
    "graphiti": "frameworks:GRAPHITI",
    "json": "tables:JSON",
    "langgraph": "frameworks:LANGGRAPH",
    "letta": "frameworks:LETTA",
    "markdown": "markdown:MARKDOWN",
    "mcp-memory": "memory_servers:MCP_MEMORY",
    "mcp-memory-service": "memory_servers:MCP_MEMORY_SERVICE",
    "mem0": "mem0:IMPORTER",
    "openclaw": "markdown:OPENCLAW",
}


def importer_named(name: str) -> Importer:
    """The importer of that name."""
    if name not in MODULES:
        raise InvalidInput(
            f"There is no importer {name!r}.", hint=f"There are: {', '.join(sorted(MODULES))}."
        )
    module, _, declared = MODULES[name].partition(":")
    found: Importer = getattr(import_module(f"holdfast.importers.{module}"), declared)
    return found


def importers() -> list[Importer]:
    """All of them, by name."""
    return [importer_named(name) for name in sorted(MODULES)]


# The key of a memory's metadata that holds its origin.
IMPORTED = "imported"
_TITLE_CHARS_MAX = 200
_LABEL_CHARS_MAX = 200


class Record(NamedTuple):
    """One piece of another store. `id` is stable: the same piece has it at every run. `scope` is
    the user, project or namespace that it belongs to. `noted` holds what has no field here."""

    id: str
    text: str
    created: datetime | None = None
    updated: datetime | None = None
    title: str = ""
    category: str | None = None
    kind: Kind | None = None
    layer: Layer | None = "long_term"
    content_type: ContentType | None = None
    tags: Sequence[str] = ()
    scope: str = ""
    # The labels of the hub that adapters use for this scope, where it is a user or a namespace.
    labels: tuple[str, ...] = ()
    # The name of the item in that hub.
    key: str | None = None
    session: str | None = None
    speaker: str | None = None
    expires: datetime | None = None
    # When it ceased to hold.
    until: datetime | None = None
    # Whether `created` is when it happened, and not just since when it is known.
    event: bool = False
    # Metadata of the user's own, which stays as it is.
    metadata: Mapping[str, Any] = {}
    noted: Mapping[str, Any] = {}


class Skipped(NamedTuple):
    """A row of the source that holds nothing to remember, or cannot be read, and why."""

    id: str
    reason: str


Found: TypeAlias = Record | Skipped
Options: TypeAlias = Mapping[str, str]


class Row(NamedTuple):
    """A line of the reference: what is there, what it becomes here, and where the rest is noted."""

    there: str
    here: str
    noted: str = ""


class Importer(NamedTuple):
    """One importer: its name on the command line, the program it reads, and the path it takes."""

    name: str
    title: str
    path: str
    read: Callable[[str, Options], Iterator[Found]]
    rows: tuple[Row, ...]
    # What `Record.scope` is; people are never mixed in one hub without being asked.
    scopes: Literal["user", "agent", "project", "namespace", ""] = ""
    # A path as people have it, for the help.
    example: str = "PATH"
    # How the format was tried: with the real program, or by its documentation.
    tried: str = ""
    # Whether the user says which column is what.
    maps: bool = False


def item_of(record: Record, program: str, *, own_hub: bool = False) -> ImportItem:
    """The record as a hub takes it in; a key names it only in the hub of its scope."""
    origin: dict[str, Any] = {"from": program, "id": record.id}
    if record.scope:
        origin["scope"] = record.scope
    for name, at in (("created", record.created), ("updated", record.updated)):
        if at is not None:
            origin[name] = to_text(at)
    origin |= {name: value for name, value in record.noted.items() if value not in (None, "", [])}
    if isinstance(earlier := record.metadata.get(IMPORTED), Mapping):
        # It was imported before it was exported: where it first came from stays known.
        origin["origin"] = earlier
    draft = Draft(
        record.text,
        title=_cut(record.title, _TITLE_CHARS_MAX) or None,
        category=label(record.category) if record.category else None,
        kind=record.kind,
        layer=record.layer,
        content_type=record.content_type,
        key=_key(record.key) if own_hub and record.key else None,
        tags=labels(record.tags) or None,
        session=_cut(record.session, _LABEL_CHARS_MAX) or None,
        speaker=_cut(record.speaker, _LABEL_CHARS_MAX) or None,
        occurred_at=record.created if record.event else None,
        valid_from=None if record.event else record.created,
        valid_until=None if record.event else _not_before(record.until, record.created),
        expires_at=record.expires,
        metadata={**plain(record.metadata), IMPORTED: plain(origin)},
        source="import",
        source_agent=program,
        trust="import",
    )
    return ImportItem(record.id, draft)


def _not_before(until: datetime | None, since: datetime | None) -> datetime | None:
    return max(until, since) if until and since else until


def _key(text: str) -> str | None:
    try:
        return clean.clean_key(text)
    except InvalidInput:
        return None


def labels(values: Sequence[str]) -> tuple[str, ...]:
    """Tags as a hub takes them: what is not allowed in one becomes a dash."""
    found = dict.fromkeys(label(value) for value in values if isinstance(value, str))
    return tuple(one for one in found if one)[: clean.TAGS_MAX]


def label(text: str) -> str:
    """A tag or category from any text; empty if nothing is left."""
    text = _cut(text.strip().lstrip("#"), 60)
    try:
        return clean.clean_tags([text])[0] if text else ""
    except InvalidInput:
        return re.sub(r"[^\w.]+", "-", text.lower()).strip("-._")


def _cut(text: str | None, chars: int) -> str:
    return " ".join((text or "").split())[:chars]


def plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON can hold it."""
    if isinstance(value, Mapping) and depth < 20:
        return {str(name): plain(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset) and depth < 20:
        return [plain(inner, depth + 1) for inner in value]
    if isinstance(value, datetime):
        return to_text(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


# A number above these counts milliseconds or microseconds; as seconds it would be after the year
# 5000.
_MILLIS, _MICROS = 100_000_000_000, 100_000_000_000_000


def moment(value: Any) -> datetime | None:
    """A time from what programs write: ISO 8601 with or without a zone (then UTC), or a number of
    seconds, milliseconds or microseconds since 1970. None if it is none of these."""
    try:
        if isinstance(value, str):
            try:
                value = datetime.fromisoformat(value.strip())
            except ValueError:
                value = float(value)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            return None
        seconds = value / 1e6 if value > _MICROS else value / 1e3 if value > _MILLIS else value
        return datetime.fromtimestamp(seconds, UTC)
    # Times before the year 1 or after 9999 in UTC too.
    except (ValueError, OverflowError, OSError):
        return None


def digest(*parts: str) -> str:
    """An id for what has none: the same text has the same one."""
    from hashlib import sha256

    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:24]
