"""Between JSON and the values of the library: what a server answers becomes the same named tuples
that the library returns, and what a caller gives becomes what a server takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from holdfast.domain.access import HubCard, Invite, Key, Member, Org, ScopeKind, Team
from holdfast.domain.change import Change, Entry, Receipt, Revision
from holdfast.domain.codec import field_from_plain, fields_from_plain, memory_from_plain
from holdfast.domain.hub import Hub, Statistics
from holdfast.domain.memory import Memory
from holdfast.domain.query import Hit, LeftOut, Passage, Recalled
from holdfast.domain.records import Turn
from holdfast.domain.results import Duplicate, Quarantined, Stored, Superseded, Updated, UsageRow
from holdfast.errors import InvalidInput
from holdfast.text.normalise import clean_time

if TYPE_CHECKING:
    from holdfast.domain.draft import Draft
    from holdfast.domain.results import Remembered
    from holdfast.domain.review import Decision
    from holdfast.engine.context.build import Context
    from holdfast.engine.echo.detect import Heard
    from holdfast.engine.history import FieldDiff, Undone
    from holdfast.engine.jobs.queue import Job
    from holdfast.files.archive import Archived
    from holdfast.files.journal.journal import Days

Plain = Mapping[str, Any]


# What is sent


def sent_time(value: datetime | str | None) -> str | None:
    """A time as the server takes it, after the library's own check."""
    checked = clean_time(value)
    return None if checked is None else checked.isoformat()


_TIMES = ("occurred_at", "occurred_until", "valid_from", "valid_until", "expires_at")


def sent_fields(fields: Plain) -> dict[str, Any]:
    """Fields of a memory as JSON; those that are None stay None."""
    out = dict(fields)
    for name in _TIMES:
        if name in out:
            out[name] = sent_time(out[name])
    if out.get("tags") is not None:
        out["tags"] = list(out["tags"])
    if out.get("metadata") is not None:
        out["metadata"] = dict(out["metadata"])
    if out.get("origin") is not None:
        out["origin"] = out["origin"]._asdict()
    return out


def sent_draft(draft: Draft) -> dict[str, Any]:
    fields = draft._asdict()
    if fields.pop("attachment") is not None:
        raise InvalidInput("A file is sent by itself.", hint="Use remember_file.")
    if fields["supersedes"] is not None:
        fields["supersedes"] = str(fields["supersedes"])
    return {name: value for name, value in sent_fields(fields).items() if value is not None}


def sent_zone(zone: tzinfo | None, at: datetime) -> str | None:
    """A zone by its name; one without a name as it is at that moment."""
    if zone is None:
        return None
    key = getattr(zone, "key", None)
    if isinstance(key, str):
        return key
    offset = zone.utcoffset(at) or timedelta(0)
    sign, span = ("-", -offset) if offset < timedelta(0) else ("+", offset)
    minutes = int(span.total_seconds()) // 60
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"


# What is answered


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def maybe(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


def memory_of(plain: Plain) -> Memory:
    """A memory; fields that a newer server adds are left out."""
    return memory_from_plain({name: plain[name] for name in Memory._fields if name in plain})


def memories_of(plain: Iterable[Plain]) -> list[Memory]:
    return [memory_of(one) for one in plain]


def hub_of(plain: Plain) -> Hub:
    return Hub(plain["id"], plain["name"], plain["owner"], moment(plain["created_at"]))


def result_of(plain: Plain) -> Remembered:
    memory = memory_of(plain["data"])
    match plain["result"]:
        case "stored":
            return Stored(memory, plain["change"])
        case "updated":
            return Updated(memory, plain["change"], memory_of(plain["previous"]))
        case "superseded":
            return Superseded(memory, plain["change"], memory_of(plain["previous"]))
        case "quarantined":
            return Quarantined(memory, plain["change"], plain["reason"])
        case _:
            return Duplicate(memory)


def hit_of(plain: Plain) -> Hit:
    said = plain["passage"]
    passage = Passage(said["text"], said["start"], said["end"], tuple(said["headings"]))
    return Hit(
        memory_of(plain["memory"]), passage, plain["score"], tuple(plain["why"]), plain["parts"]
    )


def recalled_of(answer: Plain, hits: str = "data") -> Recalled:
    return Recalled(
        [hit_of(one) for one in answer[hits]],
        degraded=tuple(answer["degraded"]),
        filtered=answer.get("filtered", {}),
        left_out=[
            LeftOut(memory_of(one["memory"]), one["reason"], one["score"])
            for one in answer.get("left_out", ())
        ],
    )


def change_of(plain: Plain) -> Change:
    fields = {name: plain[name] for name in Change._fields}
    return Change(**{**fields, "at": moment(plain["at"])})


def entries_of(plain: Iterable[Plain]) -> list[Entry]:
    """A memory's history: what one entry left is what the next one found."""
    out: list[Entry] = []
    for one in plain:
        after = memory_of(one["memory"])
        change = change_of(one["change"])
        revision = Revision(
            one["sequence"],
            change.id,
            after.id,
            one["version"],
            moment(one["at"]),
            fields_from_plain(one["changed"]),
        )
        out.append(Entry(change, revision, out[-1].after if out else None, after))
    return out


def receipt_of(plain: Plain) -> Receipt:
    fields = {name: plain[name] for name in Receipt._fields}
    return Receipt(**{**fields, "at": moment(plain["at"])})


def statistics_of(plain: Plain) -> Statistics:
    fields = {name: plain[name] for name in Statistics._fields if name in plain}
    # A server of an older version does not send the last one.
    times = {name: maybe(plain.get(name)) for name in ("oldest", "newest", "lifecycle_at")}
    return Statistics(**{**fields, **times})


def usage_of(plain: Plain) -> UsageRow:
    fields = {name: plain[name] for name in UsageRow._fields}
    return UsageRow(**{**fields, "day": date.fromisoformat(plain["day"])})


def undone_of(plain: Plain) -> Undone:
    from holdfast.engine.history import Undone

    return Undone(
        change_of(plain["change"]), change_of(plain["undone"]), memories_of(plain["memories"])
    )


def diff_of(plain: Iterable[Plain]) -> list[FieldDiff]:
    from holdfast.engine.history import FieldDiff

    return [
        FieldDiff(
            one["field"],
            field_from_plain(one["field"], one["old"]),
            field_from_plain(one["field"], one["new"]),
            tuple(one["lines"]),
        )
        for one in plain
    ]


def context_of(plain: Plain) -> Context:
    from holdfast.engine.context.build import Absent, Context

    left_out = [
        Absent(memory_of(one["memory"]), one["section"], one["reason"]) for one in plain["left_out"]
    ]
    return Context(
        plain["text"],
        tuple(memories_of(plain["included"])),
        tuple(left_out),
        plain["used"],
        plain["budget"],
        plain["unit"],
        tuple(plain["degraded"]),
    )


def heard_of(plain: Plain) -> Heard:
    from holdfast.engine.echo.detect import Heard
    from holdfast.text.echo import Echo

    echoes = tuple(Echo(one["start"], one["end"], one["id"]) for one in plain["echoes"])
    return Heard(plain["text"], echoes, tuple(memories_of(plain["memories"])))


def decision_of(plain: Plain) -> Decision:
    from holdfast.domain.review import Decision

    fields = {name: plain[name] for name in Decision._fields}
    memory = memory_of(plain["memory"])
    return Decision(**{**fields, "memory": memory, "options": tuple(plain["options"])})


def turn_of(plain: Plain) -> Turn:
    fields = {name: plain[name] for name in Turn._fields}
    return Turn(**{**fields, "at": moment(plain["at"])})


def days_of(answer: Plain) -> Days:
    from datetime import date

    from holdfast.files.journal.journal import Day, Days
    from holdfast.files.journal.journal import Entry as Line

    days = []
    for one in answer["data"]:
        lines = tuple(
            Line(e["text"], e["time"], None if e["memory"] is None else memory_of(e["memory"]))
            for e in one["entries"]
        )
        days.append(Day(date.fromisoformat(one["date"]), one["text"], lines))
    return Days(days, answer["notes"])


def archived_of(plain: Plain) -> Archived:
    from holdfast.files.archive import Archived

    memory = None if plain["memory"] is None else memory_of(plain["memory"])
    return Archived(memory, plain["path"], tuple(plain["notes"]))


def job_of(plain: Plain, hub_id: str) -> Job:
    """A job as far as a server tells of it: who works on it is its own business."""
    from holdfast.engine.jobs.queue import Job

    return Job(
        plain["id"],
        hub_id,
        plain["work"],
        {"memory": plain["memory"]},
        moment(plain["created_at"]),
        plain["state"],
        plain["attempts"],
        "",
        plain["done"],
        plain["total"],
        plain["reason"],
        maybe(plain["ended_at"]),
    )


# People and keys


def member_of(plain: Plain) -> Member:
    fields = {name: plain[name] for name in Member._fields}
    return Member(**{**fields, "since": moment(plain["since"])})


def org_of(plain: Plain) -> Org:
    return Org(plain["id"], plain["name"], moment(plain["created_at"]))


def team_of(plain: Plain) -> Team:
    return Team(plain["id"], plain["org_id"], plain["name"], moment(plain["created_at"]))


def card_of(plain: Plain) -> HubCard:
    """What a hub is shared with, as far as a server tells of it."""
    return HubCard(plain["id"], plain["team_id"], plain["delete_policy"], plain["org_id"])


def invite_of(plain: Plain, scope: ScopeKind, scope_id: str) -> Invite:
    return Invite(
        plain["id"],
        scope,
        scope_id,
        plain["role"],
        plain["invited_by"],
        moment(plain["created_at"]),
        moment(plain["expires_at"]),
        maybe(plain["used_at"]),
        plain["used_by"],
    )


def key_of(plain: Plain) -> Key:
    return Key(
        plain["id"],
        plain["actor"],
        plain["name"],
        moment(plain["created_at"]),
        tuple(plain["hubs"]),
        plain["read_only"],
        plain["no_delete"],
        maybe(plain["expires_at"]),
        maybe(plain["revoked_at"]),
        maybe(plain["used_at"]),
    )
