"""The shapes of answers, for the description of the API that clients are made from."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict


class ResponseModel(BaseModel):
    """A value in an answer. It may have more fields than are declared here."""

    model_config = ConfigDict(extra="allow")


T = TypeVar("T")


class One(BaseModel, Generic[T]):
    data: T


class Many(BaseModel, Generic[T]):
    data: list[T]


class MemoryOut(ResponseModel):
    """One memory, with everything that is known about it. `owner_id` is the owner once more.
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
    """What became of a memory that was sent: stored, updated, duplicate, superseded, quarantined;
    with the change set, what it was before, or why it is held for review. `close_to` is an older
    memory that a stored one may be meant to replace: send it with `supersedes` for that."""

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


class PassageOut(BaseModel):
    text: str
    start: int
    end: int
    headings: list[str]


class TurnOut(ResponseModel):
    id: str
    hub_id: str
    role: str
    content: str
    at: str
    source: str
    session: str | None
    speaker: str | None
    trust: str
    note: str


class TracesOut(ResponseModel):
    memories: list[MemoryOut]
    turns: list[TurnOut]


class HitOut(BaseModel):
    memory: MemoryOut
    passage: PassageOut
    score: float
    probability: float
    why: list[str]
    parts: dict[str, float]
    turn: TurnOut | None
    around: list[TurnOut]


class LeftOutOut(BaseModel):
    memory: MemoryOut
    reason: str
    score: float


class RecalledOut(BaseModel):
    """What answers a question, best first; `degraded` says why it may be less than usual. What was
    found and not shown is counted by reason, and named where an explanation was asked for."""

    data: list[HitOut]
    confidence: float
    degraded: list[str]
    filtered: dict[str, int] = {}
    left_out: list[LeftOutOut] = []


class RelatedOut(BaseModel):
    """Memories near a memory, and in `hits` the same with the passages and the reasons."""

    data: list[MemoryOut]
    hits: list[HitOut]
    degraded: list[str]


class HubOut(ResponseModel):
    """A hub, and the caller's role in it; without a role they only read what it shares."""

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
    """A team. Without a role, one knows that it is there: it is of one's organisation."""

    org_id: str


class MemberOut(ResponseModel):
    actor: str
    role: str
    since: str
    added_by: str


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


class ReceiptOut(ResponseModel):
    """That something was purged, and nothing of what it said."""

    memory_id: str
    number: int
    at: str
    actor: str
    reason: str
    revisions: int


class ManyDeleted(ResponseModel):
    deleted: list[str]
    receipts: list[ReceiptOut]


class ChangeOut(ResponseModel):
    """A change set: what was done at once, and can be undone at once."""

    id: str
    hub_id: str
    at: str
    actor: str
    action: str
    reason: str
    undoes: str | None
    undone_by: str | None


class EntryOut(ResponseModel):
    """A version of a memory: what it was then, what changed, and by which change set."""

    version: int
    at: str
    change: ChangeOut
    fields: list[str]
    changed: dict[str, Any]
    memory: MemoryOut


class DiffOut(ResponseModel):
    field: str
    old: Any
    new: Any
    lines: list[str]


class UndoneOut(ResponseModel):
    change: ChangeOut
    undone: ChangeOut
    memories: list[MemoryOut]
    turns: int


class TextOut(ResponseModel):
    """A block of text; where an explanation was asked for, also what is in it and what is not."""

    text: str


class UsageOut(ResponseModel):
    """What is in a hub, counted: of what the caller may see."""

    hub: str
    memories: int
    visible: int
    forgotten: int
    by_state: dict[str, int]
    by_category: dict[str, int]
    content_bytes: int
    oldest: str | None
    newest: str | None
    lifecycle_at: str | None


class TopicOut(ResponseModel):
    name: str
    count: int


class ArchivedOut(ResponseModel):
    """An archived conversation; what went wrong is in the notes."""

    memory: MemoryOut | None
    notes: list[str]


class DecisionOut(ResponseModel):
    memory: MemoryOut
    question: str
    options: list[str]
    context: str
    status: str
    option: str
    note: str
    answer: str


class HeardOut(ResponseModel):
    text: str
    memories: list[MemoryOut]


class JournalEntryOut(ResponseModel):
    time: str | None
    text: str
    memory: MemoryOut | None


class JournalDayOut(ResponseModel):
    date: str
    text: str
    entries: list[JournalEntryOut]


class JournalOut(Many[JournalDayOut]):
    notes: list[str]


class JobOut(ResponseModel):
    """Work for later: waiting, running, done or failed."""

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


class ErrorIn(BaseModel):
    code: str
    message: str
    details: Any = None
    hint: str = ""
    command: str = ""


class ErrorOut(BaseModel):
    error: ErrorIn
