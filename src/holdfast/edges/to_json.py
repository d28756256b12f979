"""Values of the domain as JSON: a record is an object of its fields, a time is ISO 8601 in UTC.
Most values have this form by themselves; those that differ from their fields are listed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast.domain.change import Entry
from holdfast.domain.clock import to_text
from holdfast.domain.hub import Invite, Key
from holdfast.domain.memory import Memory
from holdfast.domain.query import Hit, Recalled
from holdfast.domain.records import fields_to_plain, memory_to_plain
from holdfast.domain.results import CapturedDay, Remembered

if TYPE_CHECKING:
    from holdfast.engine.jobs import Job

# How the edge writes a memory.
MemoryToJson: TypeAlias = Callable[[Memory], dict[str, Any]]


def memory_to_json(memory: Memory) -> dict[str, Any]:
    return {**memory_to_plain(memory), "owner_id": memory.owner_id}


def to_json(value: Any, memory: MemoryToJson = memory_to_json) -> Any:
    """A value, and everything in it, as JSON."""

    def convert(one: Any) -> Any:
        match one:
            case Memory():
                return memory(one)
            case datetime():
                return to_text(one)
            case date():
                return one.isoformat()
            case Hit():
                return {name: convert(getattr(one, name)) for name in _HIT}
            case Entry():
                return _entry(one, convert)
            case Invite() | Key():
                fields = {name: convert(part) for name, part in _of(one) if name not in _PLACE}
                fields["created_at"] = fields.pop("at")
                return fields
            case CapturedDay():
                last = [{"at": convert(at), **noted._asdict()} for at, noted in one.last]
                return {**one._asdict(), "last": last}
            case tuple() if hasattr(one, "_asdict"):
                return {name: convert(part) for name, part in _of(one)}
            case Mapping():
                return {name: convert(part) for name, part in one.items()}
            case list() | tuple():
                return [convert(part) for part in one]
        return one

    return convert(value)


# Where an invitation leads is in the address that it was asked for at.
_PLACE = ("scope", "scope_id")
# Without `window`, which is for the page.
_HIT = ("memory", "passage", "score", "probability", "why", "parts", "turn", "around")


def _of(record: Any) -> Any:
    return record._asdict().items()


def _entry(entry: Entry, convert: Callable[[Any], Any]) -> dict[str, Any]:
    return {
        "version": entry.after.version,
        "at": convert(entry.revision.at),
        "change": convert(entry.change),
        "fields": sorted(entry.revision.fields),
        "changed": fields_to_plain(entry.revision.fields),
        "sequence": entry.revision.sequence,
        "memory": convert(entry.after),
    }


def recalled_to_json(found: Recalled) -> dict[str, Any]:
    """An answer of recall: the hits, and what is to be known about them."""
    return {
        "data": to_json(list(found)),
        "confidence": found.confidence,
        "degraded": list(found.degraded),
        "filtered": found.filtered,
        "left_out": to_json(list(found.left_out)),
    }


def result_to_json(result: Remembered) -> dict[str, Any]:
    """The result of storing a memory, besides the memory itself."""
    parts = {name: getattr(result, name, None) for name in ("previous", "close_to", "reason")}
    return {
        "data": memory_to_json(result.memory),
        "result": type(result).__name__.lower(),
        "change": getattr(result, "change", None),
        **to_json(parts),
    }


def job_to_json(job: Job) -> dict[str, Any]:
    """Work for later, and the memory that it is about."""
    names = ("id", "work", "state", "attempts", "done", "total", "reason")
    return {
        **{name: getattr(job, name) for name in names},
        "memory": job.about.get("memory"),
        "created_at": to_text(job.at),
        "ended_at": None if job.ended_at is None else to_text(job.ended_at),
    }
