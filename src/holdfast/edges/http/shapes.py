"""The models of responses, for the OpenAPI description from which clients are generated.

The model of a domain record is made from its fields (`model_of`). Only responses that differ from
the record are written out: with fields that REST adds, omits or renames.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache
from typing import Any, Generic, Literal, NamedTuple, NewType, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, create_model

from holdfast.api.codec import class_hints
from holdfast.api.wire import returned_by
from holdfast.domain.change import Change, Entry, Receipt
from holdfast.domain.hub import Invite, Key, Member, Statistics
from holdfast.domain.memory import Memory
from holdfast.domain.query import Hit, LeftOut, Passage
from holdfast.domain.records import Turn
from holdfast.domain.results import (
    CapturedDay,
    Decision,
    ForgottenTurns,
    LifecycleMove,
    LogRules,
    LogSize,
    Traces,
    UsageRow,
)
from holdfast.engine.echo.detect import Heard
from holdfast.engine.history import FieldDiff, Undone
from holdfast.engine.jobs import Job
from holdfast.files.conversation_archive import Archived
from holdfast.files.journal import Day, JournalEntry
from holdfast.passes.consolidation import Consolidated, Source, Step


class ResponseModel(BaseModel):
    """A value in a response. It may have more fields than are declared."""

    model_config = ConfigDict(extra="allow")


T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class One(BaseModel, Generic[T]):
    data: T


class Many(BaseModel, Generic[T]):
    data: list[T]


class Shape(NamedTuple):
    """The REST description of a record, if it differs from the record itself."""

    # Instead of its docstring.
    about: str | None = None
    # Instead of its name with `Out` appended.
    name: str = ""
    # The fields that are described; a response may have the others too.
    fields: str = ""
    # Whether it has no others.
    closed: bool = False


_NOT_DESCRIBED = Shape("")
_SHAPES = {
    Archived: Shape("An archived conversation; problems are in the notes.", fields="memory notes"),
    Consolidated: Shape(
        "What a consolidation did; `change` is what undo takes back, `skipped` why nothing was\n"
        "done.",
        fields="plan done refused change skipped diff notes",
    ),
    Day: Shape("", "JournalDayOut"),
    Decision: _NOT_DESCRIBED,
    FieldDiff: Shape("", "DiffOut"),
    ForgottenTurns: Shape(name="ForgottenOut"),
    Heard: Shape("", fields="text memories"),
    Hit: Shape("", fields="memory passage score probability why parts turn around", closed=True),
    LeftOut: Shape("", closed=True),
    LifecycleMove: Shape(name="MoveOut"),
    LogRules: Shape(name="RulesOut"),
    LogSize: Shape(name="SizeOut"),
    Member: Shape("", fields="actor role since added_by"),
    Passage: Shape("", closed=True),
    Statistics: Shape(
        name="UsageOut",
        fields="hub memories visible forgotten by_state by_category content_bytes oldest newest"
        " lifecycle_at",
    ),
    Step: Shape(
        "One step: promote, merge or retire. Memories are named by their numbers.",
        fields="kind sources text category replaces replaced_by reason",
    ),
    Traces: _NOT_DESCRIBED,
    Turn: _NOT_DESCRIBED,
    Undone: _NOT_DESCRIBED,
    UsageRow: Shape(name="ModelUsageOut"),
}


# Models that are written out, by record. A memory in a plan is sent back as it was received.
_BY_HAND: dict[Any, Any] = {Source: dict[str, Any]}


def describes(record: Any) -> Callable[[type[M]], type[M]]:
    """Registers a written-out model for a record."""

    def add(model: type[M]) -> type[M]:
        _BY_HAND[record] = model
        return model

    return add


@cache
def model_of(record: Any) -> Any:
    """The model of a record, by the types of its fields. A response has all of them."""
    if record in _BY_HAND:
        return _BY_HAND[record]
    shape = _SHAPES.get(record, Shape())
    hints = class_hints(record)
    names = shape.fields.split() or record._fields
    make: Any = create_model
    return make(
        shape.name or f"{record.__name__}Out",
        __base__=BaseModel if shape.closed else ResponseModel,
        __doc__=record.__doc__ if shape.about is None else shape.about,
        **{name: (_in_json(hints[name]), ...) for name in names},
    )


def _in_json(hint: Any) -> Any:
    """The JSON type of a value: a time is text, a record is an object."""
    if hint in (datetime, date):
        return str
    if isinstance(hint, NewType):
        return _in_json(hint.__supertype__)
    if hasattr(hint, "_fields"):
        return model_of(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return type(args[0])
    if origin in (Union, types.UnionType):
        return Union[tuple(map(_in_json, args))]  # noqa: UP007
    if origin in (dict, Mapping):
        return dict[str, _in_json(args[1])]  # type: ignore[misc]
    return list[_in_json(args[0])] if origin in (list, tuple) else hint  # type: ignore[misc]


def answer(hint: Any) -> Any:
    """The model of a response with a value of this type: a record, or a list of them."""
    many = get_origin(hint) is list
    item = _in_json(get_args(hint)[0] if many else hint)
    if item is MemoryOut:
        return ManyMemories if many else OneMemory
    generic: Any = Many if many else One
    return generic[item]


def answer_of(operation: Callable[..., Any]) -> Any:
    """The model of the response of an operation."""
    return answer(returned_by(operation))


# With `owner_id`, as Memax calls the owner; of the rest, what every client needs is described.
@describes(Memory)
class MemoryOut(ResponseModel):
    """One memory, with all its fields. `owner_id` is the same as `owner`.
    `shown_count` counts how often recall returned it, `access_count` how often it was used."""

    id: str
    hub_id: str
    number: int
    content: str
    content_hash: str
    title: str
    summary: str
    owner: str
    owner_id: str
    content_type: str
    category: str
    tags: list[str]
    kind: str
    stability: str
    boundary: str
    state: str
    layer: str
    pinned: bool
    source: str
    version: int
    access_count: int
    shown_count: int
    created_at: str
    updated_at: str


class OneMemory(BaseModel):
    data: MemoryOut


class ManyMemories(BaseModel):
    data: list[MemoryOut]


class Pushed(OneMemory):
    """The result of storing a memory: stored, updated, duplicate, superseded or quarantined;
    with the change set, what it was before, or why it is held for review. `close_to` is an older
    memory that the stored one may replace; to replace it, send it with `supersedes`."""

    result: str
    change: str | None = None
    previous: MemoryOut | None = None
    close_to: MemoryOut | None = None
    reason: str | None = None


class ManyPushed(BaseModel):
    data: list[Pushed]


class MemoryPage(BaseModel):
    data: list[MemoryOut]
    next_cursor: str | None


class RecalledOut(BaseModel):
    """The hits for a question, best first; `degraded` says why the answer may be weaker than usual.
    What was found and not shown is counted by reason, and listed if an explanation was
    requested."""

    data: list[model_of(Hit)]  # type: ignore[valid-type]
    confidence: float
    degraded: list[str]
    filtered: dict[str, int] = {}
    left_out: list[model_of(LeftOut)] = []  # type: ignore[valid-type]


class RelatedOut(BaseModel):
    """Memories similar to a memory, and in `hits` the same with the passages and the reasons."""

    data: list[MemoryOut]
    hits: list[model_of(Hit)]  # type: ignore[valid-type]
    degraded: list[str]


class HubOut(ResponseModel):
    """A hub and the caller's role in it. A caller without a role only reads what the hub shares."""

    id: str
    name: str
    owner: str
    created_at: str
    role: str | None
    delete_policy: str


class ThisHub(One[HubOut]):
    now: str


class OrgOut(ResponseModel):
    """An organisation, and the caller's role in it."""

    id: str
    name: str
    created_at: str
    role: str | None


class TeamOut(OrgOut):
    """A team. A caller without a role sees it if it belongs to their organisation."""

    org_id: str


# `created_at` is `at` of the record; where the invitation leads is in the address.
@describes(Invite)
class InviteOut(ResponseModel):
    id: str
    role: str
    invited_by: str
    created_at: str
    expires_at: str
    used_at: str | None
    used_by: str | None


class InviteHanded(InviteOut):
    """With the token of the invitation, which is shown once."""

    token: str


# `created_at` is `at` of the record.
@describes(Key)
class KeyOut(ResponseModel):
    id: str
    actor: str
    name: str
    hubs: list[str]
    read_only: bool
    no_delete: bool
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    used_at: str | None


class KeyHanded(KeyOut):
    """With the secret, which is shown once."""

    secret: str


class Deleted(ResponseModel):
    deleted: str


class Removed(ResponseModel):
    removed: str


class Withdrawn(ResponseModel):
    withdrawn: str


class ManyDeleted(ResponseModel):
    deleted: list[str]
    receipts: list[model_of(Receipt)]  # type: ignore[valid-type]


# The record has the memory before and after; an answer has the one after, and what changed.
@describes(Entry)
class EntryOut(ResponseModel):
    """A version of a memory: what it was then, what changed, and by which change set."""

    version: int
    at: str
    change: model_of(Change)  # type: ignore[valid-type]
    fields: list[str]
    changed: dict[str, Any]
    memory: MemoryOut


class TextOut(ResponseModel):
    """A block of text; if an explanation was requested, also what is in it and what is not."""

    text: str


class TopicOut(ResponseModel):
    name: str
    count: int


# In another order than in the record, and the time is described as optional.
@describes(JournalEntry)
class JournalEntryOut(ResponseModel):
    time: str | None
    text: str
    memory: MemoryOut | None


class LastOut(ResponseModel):
    outcome: str
    reason: str
    text: str
    at: str


# The record has pairs of a time and what was noted then; an answer has one object for each.
@describes(CapturedDay)
class CapturedDayOut(ResponseModel):
    """One UTC day: how often each outcome came, why, and the newest of them."""

    day: str
    outcomes: dict[str, int]
    reasons: dict[str, int]
    last: list[LastOut]


# The record says in `about` what it works on; an answer names the memory alone.
@describes(Job)
class JobOut(ResponseModel):
    """A background job: waiting, running, done or failed."""

    id: str
    work: str
    memory: str | None
    state: str
    attempts: int
    done: int
    total: int | None
    reason: str
    created_at: str
    ended_at: str | None


class JournalOut(BaseModel):
    data: list[model_of(Day)]  # type: ignore[valid-type]
    notes: list[str]


class LifecycleOut(ResponseModel):
    """The memories that moved, or would move; `change` is the change set for undo."""

    dry_run: bool
    moves: list[model_of(LifecycleMove)]  # type: ignore[valid-type]
    change: str | None


class ErrorIn(BaseModel):
    code: str
    message: str
    details: Any = None
    hint: str = ""
    command: str = ""


class ErrorOut(BaseModel):
    error: ErrorIn
