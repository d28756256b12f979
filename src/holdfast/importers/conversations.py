"""Conversations as documents: turns with their times, as `text.chunking` reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from holdfast.importers.record import Found, Record, Skipped

# A longer conversation is cut into parts, each a document: half of what one memory may hold, as
# characters may take several bytes.
_PART_CHARS_MAX = 700_000
_NAMES = {"user": "User", "human": "User", "assistant": "Assistant", "ai": "Assistant"}


class Turn(NamedTuple):
    """Who said what, and when."""

    role: str
    text: str
    at: datetime | None = None


def conversation(
    name: str,
    turns: Sequence[Turn],
    *,
    title: str = "",
    created: datetime | None = None,
    updated: datetime | None = None,
    scope: str = "",
    labels: tuple[str, ...] = (),
    noted: dict[str, Any] | None = None,
) -> Iterator[Found]:
    """The conversation as a record, or several where it is long."""
    said = [turn for turn in turns if turn.text.strip()]
    if not said:
        yield Skipped(name, "nothing is said in it")
        return
    for number, part in enumerate(_parts(said), 1):
        yield Record(
            name if number == 1 else f"{name}#{number}",
            "\n\n".join(part),
            created=created or said[0].at,
            updated=updated,
            title=title if number == 1 else f"{title} ({number})",
            category="conversation",
            kind="episodic",
            layer="library",
            content_type="chat",
            scope=scope,
            labels=labels,
            session=name,
            event=True,
            noted=noted or {},
        )


def _parts(turns: Sequence[Turn]) -> Iterator[list[str]]:
    part: list[str] = []
    chars = 0
    for turn in turns:
        line = _line(turn)
        if part and chars + len(line) > _PART_CHARS_MAX:
            yield part
            part, chars = [], 0
        part.append(line)
        chars += len(line)
    yield part


def _line(turn: Turn) -> str:
    name = _NAMES.get(turn.role, turn.role.capitalize() or "User")
    text = turn.text.strip()[:_PART_CHARS_MAX]
    if turn.at is None:
        return f"{name}: {text}"
    return f"[{turn.at.astimezone(UTC):%Y-%m-%d %H:%M}] {name}: {text}"
