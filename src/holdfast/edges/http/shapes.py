"""The shapes of answers, for the description of the API that clients are made from."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class MemoryOut(BaseModel):
    """One memory, with everything that is known about it."""

    model_config = ConfigDict(extra="allow")

    id: str
    hub_id: str
    number: int
    content: str
    content_hash: str
    title: str
    summary: str
    owner: str
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
    created_at: str
    updated_at: str


class OneMemory(BaseModel):
    data: MemoryOut


class ManyMemories(BaseModel):
    data: list[MemoryOut]


class Pushed(OneMemory):
    """What became of a memory that was sent: stored, updated, duplicate, superseded, quarantined;
    with the change set, what it was before, or why it is held for review."""

    result: str
    change: str | None = None
    previous: MemoryOut | None = None
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


class HitOut(BaseModel):
    memory: MemoryOut
    passage: PassageOut
    score: float
    why: list[str]
    parts: dict[str, float]


class LeftOutOut(BaseModel):
    memory: MemoryOut
    reason: str
    score: float


class RecalledOut(BaseModel):
    """What answers a question, best first; `degraded` says why it may be less than usual. What was
    found and not shown is counted by reason, and named where an explanation was asked for."""

    data: list[HitOut]
    degraded: list[str]
    filtered: dict[str, int] = {}
    left_out: list[LeftOutOut] = []


class RelatedOut(BaseModel):
    """Memories near a memory, and in `hits` the same with the passages and the reasons."""

    data: list[MemoryOut]
    hits: list[HitOut]
    degraded: list[str]


class ErrorIn(BaseModel):
    code: str
    message: str
    details: Any = None
    hint: str = ""


class ErrorOut(BaseModel):
    error: ErrorIn
