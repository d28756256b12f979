"""Memories in words for a model: a line, a passage with its head, a whole memory. Text from the
store is quoted line by line, so that it cannot pose as words of ours."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Hit, Recalled
    from holdfast.domain.records import Turn
    from holdfast.domain.results import Traces

# A line of a list: enough to know a memory by.
_LINE_CHARS = 100


def day(at: datetime) -> str:
    """The day of a memory as text for a model, in UTC."""
    return at.date().isoformat()


def quoted(text: str) -> str:
    """Text as a quotation for a model; no line of it can begin like one of ours."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines()) or ">"


def traces_text(found: Traces) -> str:
    """The other places that hold the words of a memory, as part of a sentence; empty if there are
    none."""
    parts = [f"#{one.number} ({one.layer.replace('_', '-')})" for one in found.memories]
    if found.turns:
        count = len(found.turns)
        parts.append(f"{count} turn{'' if count == 1 else 's'} of the conversation log")
    return ", ".join(parts)


def in_brief(text: str, chars: int = _LINE_CHARS) -> str:
    """Text on one line for a model, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[: chars - 1].rstrip() + "…"


def on_a_line(text: str) -> str:
    """A name chosen by the author of a memory, without line breaks."""
    return " ".join(text.splitlines())


def records_text(found: Any) -> str:
    """The result of an operation as text for a model, a line for each record with its fields."""
    lines = [_field(one) for one in (found if isinstance(found, list) else [found])]
    return quoted("\n".join(lines)) if lines else "There is nothing."


def _field(value: Any) -> str:
    from holdfast.domain.memory import Memory

    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, Memory):
        # Not its text: it may be held for review.
        return f"#{value.number}"
    if hasattr(value, "_asdict"):
        return " · ".join(f"{name}: {_field(part)}" for name, part in value._asdict().items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_field, value))
    return on_a_line(str(value))


def origin(memory: Memory) -> str:
    """Where a memory came from: a file, an agent, or the interface; `auto` where it was captured
    from a conversation."""
    if memory.is_auto:
        place = memory.source_path or memory.source_agent
        return f"auto, from {on_a_line(place)}" if place else "auto"
    return f"from {on_a_line(memory.source_path or memory.source_agent or memory.source)}"


def head(memory: Memory, hub: HubMemory | None = None) -> str:
    """`#12 · 2026-05-27 · preference · from cli`, and the key where it has one. Of the person's own
    hub beside `hub`, the number has that hub's name before it."""
    from holdfast.api.project_hub import named

    parts = [
        f"#{memory.number}" if hub is None else named(hub, memory),
        day(memory.dated),
        memory.category,
        origin(memory),
    ]
    if memory.key:
        parts.append(f"key {memory.key}")
    return " · ".join(parts)


def hit_text(hit: Hit, hub: HubMemory | None = None) -> str:
    """A hit of recall as text for a model: the passage with its head and the reasons it was
    found."""
    why = on_a_line("; ".join(hit.why))
    above = head(hit.memory, hub) if hit.turn is None else turn_head(hit.turn)
    return f"{above}\n{quoted(hit.passage.text)}\nwhy: {why}"


def turn_head(turn: Turn) -> str:
    """`turn · 2026-05-27 10:00 · said by user · session work`, in UTC."""
    parts = [
        "turn",
        f"{turn.at:%Y-%m-%d %H:%M}",
        f"said by {on_a_line(turn.speaker or turn.voice)}",
    ]
    if turn.session:
        parts.append(f"session {on_a_line(turn.session)}")
    return " · ".join(parts)


def notes_of(found: Recalled) -> Iterable[str]:
    """Notes for a model on an answer of recall: what could not be asked, and what was left out."""
    for reason in found.degraded:
        yield f"Note: this answer may miss something: {reason}."
    if found.filtered and not found:
        left = "; ".join(f"{count} ({reason})" for reason, count in found.filtered.items())
        yield f"Note: found but not shown: {left}."


def whole(memory: Memory, hub: HubMemory | None = None) -> str:
    """One memory as text for a model, with everything that it may need of it."""
    facts = [head(memory, hub), f"id: {memory.id}", f"title: {in_brief(memory.title)}"]
    facts.append(f"kind: {memory.kind}, {memory.stability}, {memory.state}, {memory.layer}")
    if memory.tags:
        facts.append(f"tags: {', '.join(memory.tags)}")
    if memory.pinned:
        facts.append("pinned: yes")
    if memory.superseded_by:
        facts.append(f"superseded by: {memory.superseded_by}")
    if memory.supersedes:
        facts.append(f"supersedes: {memory.supersedes}")
    if memory.valid_until:
        facts.append(f"held until: {day(memory.valid_until)}")
    facts.append(
        f"version {memory.version}, created {day(memory.created_at)}, "
        f"changed {day(memory.updated_at)}"
    )
    return "\n".join([*facts, "", quoted(memory.content)])
