"""Written by `make reference` from the operations of `HubMemory` and `Holdfast`."""

import os
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from typing import Any, BinaryIO, Literal, Unpack, overload

from holdfast.api.arguments import MemoryChanges, MemoryFields
from holdfast.api.hub import HubMemory
from holdfast.api.imports import ImportReport
from holdfast.domain.change import Change, Entry, Receipt
from holdfast.domain.clock import Clock, Ids
from holdfast.domain.hub import Hub, HubCard, Invite, Key, Member, Org, Statistics, Team
from holdfast.domain.memory import Draft, Memory, Source, Trust
from holdfast.domain.query import Page, Recalled
from holdfast.domain.records import Clash, Turn
from holdfast.domain.results import (
    CapturedDay,
    Decision,
    Flushed,
    ForgottenTurns,
    Item,
    LifecycleMoves,
    LogRules,
    LogSize,
    Observed,
    Remembered,
    Traces,
    UsageRow,
)
from holdfast.embed import OwnEmbedder
from holdfast.engine.context.build import Context
from holdfast.engine.echo.detect import Heard
from holdfast.engine.history import FieldDiff, Undone
from holdfast.engine.jobs import Job
from holdfast.engine.log.turns import Speaker
from holdfast.engine.people.records import HandedInvite, HandedKey
from holdfast.engine.reading.lookup import Reference
from holdfast.engine.reading.pictures import Activity, MeaningMap
from holdfast.engine.transfer.imports import ImportItem, SourceStatement, Taken
from holdfast.engine.transfer.imports import Source as ImportSource
from holdfast.engine.upkeep.lifecycle import Compacted
from holdfast.engine.upkeep.secret_scan import Secret
from holdfast.files.attachments import Kept, Received
from holdfast.files.attachments_tar import Packed
from holdfast.files.conversation_archive import Archived
from holdfast.files.documents import Report
from holdfast.files.journal import Days
from holdfast.files.journal.edits import Rewritten as JournalRewritten
from holdfast.files.memory_md.edit import Appended, Rewritten
from holdfast.files.memory_md.merge import SyncReport
from holdfast.llm import Model
from holdfast.passes.consolidation import Consolidated, Plan
from holdfast.store.base import Store

list_ = list

class AsyncHub:
    """One hub. Its methods are coroutines; `wrapped` is the hub they are called on."""

    wrapped: HubMemory
    def __init__(self, hub: HubMemory) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def id(self) -> str: ...
    async def access(self, reference: Reference) -> Memory: ...
    async def access_many(self, references: Iterable[Reference]) -> list_[Memory]: ...
    async def activity(self, *, days: int = 371) -> Activity: ...
    async def append_memory_md(
        self,
        content: str,
        *,
        chars_max: int | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
    ) -> Appended: ...
    async def approve(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        text: str | None = None,
        keep_both: bool = False,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list_[Memory]: ...
    async def archive(
        self, reference: Reference, *, reason: str = "archived by hand"
    ) -> Memory: ...
    async def archive_conversation(
        self,
        session: str,
        *,
        messages: Iterable[Any] | None = None,
        name: str | None = None,
        at: datetime | str | None = None,
    ) -> Archived: ...
    async def archive_many(
        self, references: Iterable[Reference], *, reason: str = "archived by hand"
    ) -> list_[Memory]: ...
    async def attachment(self, reference: Reference) -> Kept: ...
    async def captured(self, *, days: int = 7) -> list_[CapturedDay]: ...
    async def changes(self, *, limit: int = 50, before: str | None = None) -> list_[Change]: ...
    async def compact(self, *, dry_run: bool = False) -> Compacted: ...
    async def conflicts(self) -> list_[Clash]: ...
    async def consolidate(
        self, plan: Plan | str | None = None, *, dry_run: bool = False
    ) -> Consolidated: ...
    @overload
    async def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        unit: str = "chars",
        style: str = "plain",
        count_tokens: Callable[[str], int] | str | None = None,
        explain: Literal[False] = False,
    ) -> str: ...
    @overload
    async def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        unit: str = "chars",
        style: str = "plain",
        count_tokens: Callable[[str], int] | str | None = None,
        explain: Literal[True],
    ) -> Context: ...
    async def decide(
        self, reference: Reference, option: str | int, *, note: str = "", source: Source = "sdk"
    ) -> Decision: ...
    async def decisions(self, *, every: bool = False) -> list_[Decision]: ...
    async def diff(
        self, reference: Reference, *, old: int | None = None, new: int | None = None
    ) -> list_[FieldDiff]: ...
    def export(self) -> AsyncIterator[str]: ...
    async def export_files(self, path: str | os.PathLike[str]) -> Packed: ...
    async def find(self, reference: Reference) -> Memory: ...
    async def find_secrets(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        note: Callable[[str], None] | None = None,
    ) -> list_[Secret]: ...
    async def flush(
        self, messages: Iterable[Any] | str | None = None, *, session: str | None = None
    ) -> Flushed: ...
    async def follow_items(
        self,
        statements: Sequence[SourceStatement],
        source: ImportSource,
        change: str | None = None,
        *,
        dry_run: bool = False,
    ) -> list_[Taken]: ...
    async def forget(self, reference: Reference, *, reason: str = "") -> Memory: ...
    async def forget_last(
        self, session: str, *, dry_run: bool = False, reason: str = ""
    ) -> list_[Memory]: ...
    async def forget_many(
        self, references: Iterable[Reference], *, reason: str = ""
    ) -> list_[Memory]: ...
    async def forget_turns(
        self,
        *,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        session: str | None = None,
        about: str | None = None,
        turns: Iterable[str] = (),
        purge: bool = False,
        dry_run: bool = False,
        reason: str = "",
    ) -> ForgottenTurns: ...
    async def get(self, reference: Reference, *, as_of: datetime | str | None = None) -> Memory: ...
    async def heard(self, text: str) -> Heard: ...
    async def history(self, reference: Reference) -> list_[Entry]: ...
    async def import_items(
        self,
        items: Sequence[ImportItem],
        source: ImportSource,
        change: str | None = None,
        *,
        dry_run: bool = False,
    ) -> list_[Taken]: ...
    async def index_files(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        remove: bool = True,
        remove_many: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report: ...
    async def jobs(self, *, limit: int = 100) -> list_[Job]: ...
    async def journal(self, when: str | date | tuple[date, date] = "today") -> Days: ...
    async def journal_add(
        self,
        text: str,
        *,
        at: datetime | str | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
        once: bool = False,
    ) -> Memory: ...
    async def lifecycle(
        self, *, dry_run: bool = False, category: str | None = None
    ) -> LifecycleMoves: ...
    async def list(
        self,
        *,
        category: str | None = None,
        kind: str | None = None,
        state: str | None = None,
        stability: str | None = None,
        layer: str | None = None,
        source: str | None = None,
        tags: Iterable[str] | None = None,
        session: str | None = None,
        pinned: bool | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        where: Mapping[str, Any] | str | None = None,
        forgotten: bool = False,
        quarantined: bool = False,
        order: str = "newest",
        limit: int | None = None,
        cursor: str | None = None,
        as_of: datetime | str | None = None,
    ) -> Page: ...
    async def log_rules(self) -> LogRules: ...
    async def log_size(self) -> LogSize: ...
    async def log_turn(
        self,
        role: str,
        content: str,
        *,
        source: str = "unknown",
        session: str | None = None,
        at: datetime | str | None = None,
        speaker: str | None = None,
        trust: str | None = None,
        folder: str | None = None,
    ) -> Turn: ...
    async def meaning_map(self, *, limit: int = 20000) -> MeaningMap: ...
    async def move_many(self, references: Iterable[Reference], to: AsyncHub) -> list_[Memory]: ...
    async def observe_turn(
        self,
        user: str | None,
        assistant: str | None,
        *,
        mode: str = "current",
        session: str | None = None,
        source: str = "unknown",
        at: datetime | str | None = None,
        turn: str | None = None,
        noted: str | None = None,
        speaker: str | None = None,
        trust: str | None = None,
        folder: str | None = None,
        import_run: str | None = None,
    ) -> Observed: ...
    async def pause_log(self, until: datetime | str | None = None) -> LogRules: ...
    async def pin(self, reference: Reference) -> Memory: ...
    async def plan_consolidation(self) -> Plan: ...
    async def purge(
        self, reference: Reference, *, reason: str = "", everywhere: bool = False
    ) -> Receipt: ...
    async def purge_forgotten(self, *, reason: str = "") -> list_[Receipt]: ...
    async def purge_many(
        self, references: Iterable[Reference], *, reason: str = "", everywhere: bool = False
    ) -> list_[Receipt]: ...
    async def read_memory_md(self, *, source_agent: str | None = None) -> str | None: ...
    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        as_of: datetime | str | None = None,
        category: str | None = None,
        kind: str | None = None,
        layer: str | None = None,
        tags: Iterable[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        session: str | None = None,
        where: Mapping[str, Any] | str | None = None,
        include_archived: bool = False,
        now: datetime | None = None,
        zone: tzinfo | None = None,
        meaning: bool = True,
        explain: bool = False,
        project: str | None = None,
        plain: bool = False,
        turns: bool = True,
        around: int = 0,
        caution: float | None = None,
    ) -> Recalled: ...
    async def receipts(self) -> list_[Receipt]: ...
    async def recovery_prompt(
        self,
        turns: int = 10,
        chars: int = 500,
        *,
        name: str = "Assistant",
        session: str | None = None,
    ) -> str: ...
    async def redact_secrets(
        self, progress: Callable[[int, int], None] | None = None, *, attachments: bool = False
    ) -> list_[str]: ...
    async def reject(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list_[Memory]: ...
    async def related(self, reference: Reference, *, limit: int = 5) -> Recalled: ...
    async def remember(self, content: str, **fields: Unpack[MemoryFields]) -> Remembered: ...
    async def remember_draft(self, draft: Draft) -> Remembered: ...
    async def remember_file(
        self,
        file: str | os.PathLike[str] | BinaryIO | Received,
        *,
        name: str | None = None,
        **fields: Any,
    ) -> Remembered: ...
    async def remember_many(
        self, items: Iterable[str | Draft | Mapping[str, Any]], *, first_is_parent: bool = False
    ) -> list_[Remembered]: ...
    def remember_stream(
        self, items: Iterable[str | Draft | Mapping[str, Any]]
    ) -> AsyncIterator[Remembered]: ...
    async def request_decision(
        self,
        question: str,
        options: Sequence[str],
        context: str = "",
        *,
        trust: Trust = "agent",
        source: Source = "sdk",
        source_agent: str | None = None,
    ) -> Decision: ...
    async def restore(self, reference: Reference, *, reason: str = "") -> Memory: ...
    async def restore_many(
        self, references: Iterable[Reference], *, reason: str = ""
    ) -> list_[Memory]: ...
    async def resume_log(self) -> LogRules: ...
    async def review(
        self, *, kind: str | None = None, source: str | None = None, limit: int | None = None
    ) -> list_[Item]: ...
    async def review_count(self) -> int: ...
    async def rewrite_journal(
        self, when: str | date, text: str, *, shown: str
    ) -> JournalRewritten: ...
    async def rewrite_memory_md(
        self,
        text: str,
        *,
        chars_max: int | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
    ) -> Rewritten: ...
    def scan(self, *, after: int = 0) -> AsyncIterator[Memory]: ...
    async def search_text(
        self,
        text: str,
        *,
        words: bool = False,
        category: str | None = None,
        layer: str | None = None,
        order: str = "newest",
        limit: int = 20,
    ) -> list_[Memory]: ...
    async def search_turns(self, query: str, limit: int = 10) -> list_[Turn]: ...
    async def set_log_aside(
        self, *, sessions: Iterable[str] = (), folders: Iterable[str] = (), remove: bool = False
    ) -> LogRules: ...
    async def settle(self, conflict: str, *, keep: str) -> Clash: ...
    async def speakers(self, *, limit: int = 100) -> list_[Speaker]: ...
    async def statistics(self) -> Statistics: ...
    async def sync(self, *, confirm: bool = False) -> SyncReport: ...
    async def sync_journals(self, *, confirm: bool = False) -> list_[str]: ...
    async def touched(
        self, changes: Iterable[str], *, limit: int | None = None
    ) -> dict[str, list_[Memory]]: ...
    async def traces(self, references: Iterable[Reference]) -> Traces: ...
    async def turns(
        self, limit: int = 20, session: str | None = None, before: str | None = None
    ) -> list_[Turn]: ...
    async def undo(self, change: str | None = None, *, force: bool = False) -> Undone: ...
    async def unpin(self, reference: Reference) -> Memory: ...
    async def update(
        self,
        reference: Reference,
        *,
        expected_version: int | None = None,
        reason: str = "",
        **changes: Unpack[MemoryChanges],
    ) -> Memory: ...
    async def usage(self, *, days: int = 30) -> list_[UsageRow]: ...
    async def withdraw_decision(self, reference: Reference, *, note: str = "") -> Decision: ...

class AsyncHoldfast:
    """An open memory, or a `holdfast.Client`. Its methods are coroutines; `wrapped` is the memory
    they are called on."""

    wrapped: Any
    def __init__(self, memory: Any) -> None: ...
    async def __aenter__(self) -> AsyncHoldfast: ...
    async def __aexit__(self, *raised: object) -> None: ...
    async def aclose(self) -> None: ...
    async def accept_invite(self, token: str, *, actor: str | None = None) -> Member: ...
    async def backup(
        self, path: str | os.PathLike[str], *, progress: Callable[[int, int], None] | None = None
    ) -> Packed: ...
    async def create_hub(self, name: str) -> AsyncHub: ...
    async def create_key(
        self,
        name: str,
        *,
        actor: str | None = None,
        hubs: Iterable[str] = (),
        read_only: bool = False,
        no_delete: bool = False,
        expires_at: datetime | str | None = None,
    ) -> HandedKey: ...
    async def create_org(self, name: str) -> Org: ...
    async def create_team(self, name: str, *, org: str) -> Team: ...
    async def delete_hub(self, name: str) -> Hub: ...
    async def embed_missing(self, progress: Callable[[int, int], None] | None = None) -> int: ...
    async def hub(self, name: str | None = None, *, create: bool = False) -> AsyncHub: ...
    async def hubs(self) -> list[Hub]: ...
    async def import_from(
        self,
        program: str,
        path: str | os.PathLike[str],
        *,
        hub: str | None = None,
        split: bool = False,
        merge: bool = False,
        only: str | None = None,
        options: Mapping[str, str] | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReport: ...
    async def import_hub(
        self,
        lines: Iterable[str],
        *,
        name: str | None = None,
        progress: Callable[[int], None] | None = None,
        files: str | os.PathLike[str] | None = None,
    ) -> AsyncHub: ...
    async def invite(
        self,
        role: str = "contributor",
        *,
        days: int = 7,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> HandedInvite: ...
    async def invites(
        self, hub: str | None = None, *, team: str | None = None, org: str | None = None
    ) -> list[Invite]: ...
    async def keys(self, *, everyone: bool = False) -> list[Key]: ...
    async def members(
        self, hub: str | None = None, *, team: str | None = None, org: str | None = None
    ) -> list[Member]: ...
    async def orgs(self) -> list[Org]: ...
    async def remove_member(
        self, actor: str, *, hub: str | None = None, team: str | None = None, org: str | None = None
    ) -> str: ...
    async def remove_org(self, org: str) -> Org: ...
    async def remove_team(self, team: str) -> Team: ...
    async def rename_hub(self, name: str, new: str) -> Hub: ...
    async def rename_org(self, org: str, new: str) -> Org: ...
    async def rename_team(self, team: str, new: str) -> Team: ...
    async def revoke_key(self, key_id: str) -> Key: ...
    async def set_hub_folder(self, name: str, folder: str | os.PathLike[str]) -> str: ...
    async def set_member(
        self,
        actor: str,
        role: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> Member: ...
    async def share(
        self,
        hub: str | None = None,
        *,
        team: str | None = None,
        org: str | None = None,
        delete_policy: str | None = None,
    ) -> HubCard: ...
    async def teams(self, org: str | None = None) -> list[Team]: ...
    async def undo_import(
        self, program: str, path: str | os.PathLike[str], *, force: bool = False
    ) -> dict[str, Undone]: ...
    async def unembedded(self) -> int: ...
    async def withdraw_invite(
        self,
        invite_id: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> None: ...

class _Opening:
    def __await__(self) -> Generator[Any, None, AsyncHoldfast]: ...
    async def __aenter__(self) -> AsyncHoldfast: ...
    async def __aexit__(self, *raised: object) -> None: ...

async def in_thread(call: Callable[..., Any], *args: Any, **values: Any) -> Any: ...
def public_methods(kind: type) -> dict[str, Callable[..., Any]]: ...
def aopen(
    where: str | os.PathLike[str] | None = None,
    *,
    store: Store | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    embedder: OwnEmbedder | None = None,
    model: Model | None = None,
    settings: Mapping[str, Any] | None = None,
) -> _Opening: ...
