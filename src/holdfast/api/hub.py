"""`HubMemory`: every operation of a hub, declared once. Each method turns its arguments into domain
values and calls the engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Self, Unpack, overload

from holdfast import engine
from holdfast.api.arguments import draft_from, filter_from, states_from, to_draft
from holdfast.api.operation import (
    ALL_FILES,
    FILES_ARE_LOCAL,
    MEMORY_FILES,
    STREAMS_ARE_LOCAL,
    UPKEEP_IS_LOCAL,
    Follow,
    reads,
    writes,
)
from holdfast.api.perform import PURGED, perform, write_inbox
from holdfast.domain.memory import STATES
from holdfast.domain.query import SHOWN_STATES, Filter
from holdfast.engine.core import Scope
from holdfast.engine.upkeep.automatic import note_use
from holdfast.errors import Forbidden, HoldfastError, InvalidInput, NotFound
from holdfast.files import hub_path, is_kept_in_files
from holdfast.text import clean

if TYPE_CHECKING:
    from holdfast.api.arguments import MemoryChanges, MemoryFields
    from holdfast.api.operation import Call
    from holdfast.domain.change import Change, Entry, Receipt
    from holdfast.domain.hub import Hub, PersonName, Statistics
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
    from holdfast.engine.context.build import Context
    from holdfast.engine.context.items import CorrectedFact
    from holdfast.engine.core import Core
    from holdfast.engine.echo.detect import Heard
    from holdfast.engine.history import FieldDiff, Undone
    from holdfast.engine.jobs import Job
    from holdfast.engine.log.turns import Speaker
    from holdfast.engine.reading.lookup import Reference
    from holdfast.engine.reading.pictures import Activity, MeaningMap
    from holdfast.engine.review.inbox import Chosen
    from holdfast.engine.transfer.imports import ImportItem, SourceStatement, Taken
    from holdfast.engine.transfer.imports import Source as ImportSource
    from holdfast.engine.upkeep.lifecycle import Compacted
    from holdfast.engine.upkeep.secret_scan import Secret
    from holdfast.files.attachments import Attachments, Kept, Received
    from holdfast.files.attachments_tar import Packed
    from holdfast.files.conversation_archive import Archived
    from holdfast.files.documents import Report
    from holdfast.files.file_sync import FileSync
    from holdfast.files.journal import Days
    from holdfast.files.journal.changes import JournalChanges
    from holdfast.files.journal.edits import Rewritten as JournalRewritten
    from holdfast.files.journal.entries import JournalFolder
    from holdfast.files.memory_md.edit import Appended, Rewritten
    from holdfast.files.memory_md.edit import MemoryFile as TextPlace
    from holdfast.files.memory_md.merge import SyncReport
    from holdfast.files.tool_files.operations import Files
    from holdfast.files.tool_files.sync import KeptFiles
    from holdfast.passes.consolidation import Consolidated, Plan

# Inside the class, `list` is the method; `list_` is the built-in type.
list_ = list
# How many revisions of one memory within a change set `touched` allows for when it has a limit.
_REVISIONS_OF_ONE = 4


class HubMemory:
    """A hub: remember, recall, change and look back.

    Each public method is declared once, with `reads` or `writes` (see `api/operation.py`).
    Permissions, retries, file sync and the remote hub all follow that declaration."""

    def __init__(self, core: Core, info: Hub, home: str) -> None:
        self.core = core
        self.info = info
        self.home = home
        self._file_sync: FileSync | None = None
        self._journals_seen: JournalChanges | None = None
        self._syncing: set[int] = set()
        self._owner_hub: Self | None = None

    def _perform(self, call: Call) -> Any:
        """Runs an operation according to its declaration. A remote hub overrides this."""
        return perform(self, call)

    @property
    def _file_owner(self) -> PersonName:
        """The user who reads and writes the hub's files: the hub's owner if the caller has a
        key."""
        return self.core.actor if self.core.permit is None else self.info.owner

    @property
    def _owner_view(self) -> Self:
        """This hub with the file owner's permissions and every memory visible, because the files
        hold what the store holds, whatever the caller may see. Never return its results to a caller
        with a key."""
        if self.core.viewer is None:
            return self
        if self._owner_hub is None:
            core = self.core.acting(self._file_owner, sees_all=True)
            self._owner_hub = type(self)(core, self.info, self.home)
            # Both views share the record of which journal files were read.
            self._owner_hub._journals_seen = self._journal_changes
        return self._owner_hub

    @property
    def _by_hand(self) -> Scope:
        """The scope that edits made by hand are recorded under: the file owner's."""
        return self.scope if self.core.permit is None else self.scope.acting(self._file_owner)

    def _require_local(self) -> None:
        """Raises Forbidden for a caller with a key."""
        if self.core.permit is not None:
            raise Forbidden(
                "Files of the machine are taken in by who has it.", hint="Send the text itself."
            )

    @property
    def scope(self) -> Scope:
        """The scope that engine operations take: the store, the hub, the actor and what they see.
        Built on each access, so that it follows a renamed hub."""
        return Scope(self.core, self.info.id, self.info.called)

    @property
    def name(self) -> str:
        """The hub's name, as the caller sees it."""
        return self.info.called

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def folder(self) -> str:
        """The folder of the hub's files. It is created when the first file is written."""
        return hub_path(self.home, self.info.name)

    @property
    def memory_md(self) -> str:
        """The path of the hub's MEMORY.md, which `sync` creates."""
        return os.path.join(self.folder, "MEMORY.md")

    def _look_up(self) -> None:
        """Reloads the hub's name. It may have been renamed or deleted since this object was made,
        and its old name and folder may belong to another hub by now."""
        with self.core.store.read() as reader:
            found = self.scope.require_hub(reader)
            if found.name == self.info.name:
                return
            from holdfast.engine.people.records import called

            self.info = called(self.core, reader, found)
        self._file_sync = self._journals_seen = None

    def _current_folder(self) -> str:
        """The hub's folder, under the hub's current name."""
        self._look_up()
        return self.folder

    def _as_text(self, source: str, trust: str, agent: str | None) -> TextPlace:
        from holdfast.files.memory_md import edit

        return edit.place_of(self.scope, self.memory_md, source=source, trust=trust, agent=agent)

    @property
    def _journals(self) -> JournalFolder:
        from holdfast.files.journal.entries import JournalFolder

        folder = self._current_folder()
        return JournalFolder(self.scope, folder, self._journal_changes)

    @property
    def _journal_changes(self) -> JournalChanges:
        from holdfast.files.journal.changes import JournalChanges

        if self._journals_seen is None:
            self._journals_seen = JournalChanges()
        return self._journals_seen

    def __repr__(self) -> str:
        return f"<hub {self.name}>"

    # Remembering

    @writes(follow=MEMORY_FILES | Follow.TOOL_FILES, replay=True)
    def remember(self, content: str, **fields: Unpack[MemoryFields]) -> Remembered:
        """Stores a memory.

        Returns Stored, Updated (same key or source path), Duplicate (same content), Superseded or
        Quarantined. Fields that are not given are chosen by the rules in the classification
        reference. For a link, `fetch` has a worker fetch the page later.
        """
        values: dict[str, Any] = {"content": content, **fields}
        ttl = values.pop("ttl", None)
        if ttl is not None:
            if values.get("expires_at") is not None:
                raise InvalidInput("Give ttl or expires_at, not both.")
            try:
                values["expires_at"] = self.core.now() + ttl
            except (TypeError, OverflowError):
                raise InvalidInput(
                    "The ttl must be a timedelta that ends before the year 10000.",
                    hint="Use datetime.timedelta(days=30), for example.",
                ) from None
        return engine.remember.remember(self.scope, draft_from(values), by_rule=True)

    @writes(follow=MEMORY_FILES | Follow.TOOL_FILES, replay=True)
    def remember_draft(self, draft: Draft) -> Remembered:
        return engine.remember.remember(self.scope, draft, by_rule=True)

    @writes(follow=MEMORY_FILES | Follow.TOOL_FILES, replay=True, limits={"items": 500})
    def remember_many(
        self, items: Iterable[str | Draft | Mapping[str, Any]], *, first_is_parent: bool = False
    ) -> list_[Remembered]:
        """Stores several memories as one change set, all or none. Each item is text, a Draft or a
        dictionary. With `first_is_parent`, the others become parts of the first."""
        drafts = [to_draft(item) for item in items]
        return engine.remember.remember_many(
            self.scope, drafts, first_is_parent=first_is_parent, by_rule=True
        )

    @writes(retry=False, local=STREAMS_ARE_LOCAL)
    def remember_stream(
        self, items: Iterable[str | Draft | Mapping[str, Any]]
    ) -> Iterator[Remembered]:
        """Stores any number of memories in batches, as one change set and in constant memory."""
        drafts = (to_draft(item) for item in items)
        return engine.remember.remember_stream(self.scope, drafts)

    @writes(local=STREAMS_ARE_LOCAL)
    def import_items(
        self,
        items: Sequence[ImportItem],
        source: ImportSource,
        change: str | None = None,
        *,
        dry_run: bool = False,
    ) -> list_[Taken]:
        """Imports a batch of another program's records; `Holdfast.import_from` reads the source.
        `change` is the id of the change set to add to; without it, a new one is made. A dry run
        writes nothing."""
        from holdfast.engine.transfer.imports import import_batch, preview_batch

        if dry_run:
            return preview_batch(self.scope, items, source)
        return import_batch(self.scope, items, source, change or self.core.ids.next("chg"))

    @writes(local=STREAMS_ARE_LOCAL)
    def follow_items(
        self,
        statements: Sequence[SourceStatement],
        source: ImportSource,
        change: str | None = None,
        *,
        dry_run: bool = False,
    ) -> list_[Taken]:
        """Updates memories from a source that is edited as text; `statements` is everything that
        the source holds now. Edited statements become new versions; missing ones are archived.
        `change` and `dry_run` work as in `import_items`."""
        from holdfast.engine.transfer.imports import follow_items

        change = change or self.core.ids.next("chg")
        return follow_items(self.scope, statements, source, change, dry_run=dry_run)

    @writes(sync=False, retry=False, own_request=True)
    def remember_file(
        self,
        file: str | os.PathLike[str] | BinaryIO | Received,
        *,
        name: str | None = None,
        **fields: Any,
    ) -> Remembered:
        """Stores a file: its bytes beside the store, and a memory with the file's name as its
        title. A worker extracts the text (`holdfast work`, or the server); until then the memory is
        `processing`. The other fields are those of `remember`. A file with the same bytes is a
        Duplicate."""
        from holdfast.files.attachments import described

        if isinstance(file, str | os.PathLike):
            self._require_local()
        place = self.attachments
        with place.received(file) as received:
            if name is None:
                called = file if isinstance(file, str | os.PathLike) else getattr(file, "name", "")
                name = str(called)
            attachment = described(received, name)
            values = {**fields, "content": attachment.name, "content_type": "file"}
            draft = draft_from({**values, "attachment": attachment})
            with place.placing(received):
                return self.remember_draft(draft)

    @reads(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def attachment(self, reference: Reference) -> Kept:
        """The attached file of a memory: its metadata and the path of its bytes."""
        return self.attachments.kept(self.get(reference))

    @reads(sync=False, retry=False)
    def heard(self, text: str) -> Heard:
        """Removes from a text whatever this hub itself has returned, in context blocks and replies.
        `text` is the rest, `memories` are those that were found in it. For programs that store an
        agent's output."""
        return engine.detect.without_echo(self.core, self.id, text)

    def take_redacted(self) -> dict[str, int]:
        """How many secrets of each kind this thread's writes have replaced by placeholders since
        the last call. Only counts; never the secrets."""
        return self.core.redactor.take()

    # Finding

    @reads(deadline="recall", limits={"limit": 1_000})
    def recall(
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
    ) -> Recalled:
        """Finds the memories that answer a question, best first. Each hit says why it was found.

        The query may hold "quoted phrases", -exclusions and field:value filters; in a `plain`
        query, quotes, dashes and colons are ordinary characters. `as_of` searches the hub as it was
        then. `meaning=False` matches words only, without the embedding model. `explain` also lists
        what matched but was left out, and why. `project` is a folder or a name: memories of that
        project, by source path, tag or metadata, rank a little higher. `where` holds conditions on
        metadata and fields, as a dictionary ({"priority": {"gte": 3}}) or as text ("priority >=
        3").

        Turns of the conversation log are searched too, unless `turns` is False or a filter applies
        only to memories. `layer="turn"` searches nothing else. The hit has a `turn`; with
        `around=N` it also carries the N turns before and after it.

        Where the hub probably has no answer, nothing is found. `caution` multiplies the confidence
        that is needed for hits: 0.5 finds more, also for questions that the hub cannot answer, and
        0 always finds the closest. None takes the setting `recall.caution`.
        """
        wanted = filter_from(
            category=category,
            kind=kind,
            layer=layer,
            tags=tags,
            since=since,
            until=until,
            session=session,
            where=where,
            states=STATES if include_archived else SHOWN_STATES,
            turns=turns,
        )
        return engine.recall.recall_memories(
            self.scope,
            query,
            wanted,
            limit=limit,
            as_of=None if as_of is None else clean.clean_time(as_of),
            now=None if now is None else clean.clean_time(now),
            zone=zone,
            meaning=meaning,
            explain=explain,
            project=project or "",
            plain=plain,
            around=around,
            caution=self.scope.settings["recall.caution"] if caution is None else caution,
        )

    @reads(deadline="recall", limits={"limit": 100})
    def search_text(
        self,
        text: str,
        *,
        words: bool = False,
        category: str | None = None,
        layer: str | None = None,
        order: str = "newest",
        limit: int = 20,
    ) -> list_[Memory]:
        """Finds memories that contain this text, ignoring case and accents; with `words`,
        also those that contain all of its words in any form. The text has no operators and the
        results are not ranked: they come in the same `order` as in `list`."""
        wanted = filter_from(category=category, layer=layer)
        return engine.listing.search_text(
            self.scope, text, wanted, words=words, order=order, limit=limit
        )

    @reads()
    def get(self, reference: Reference, *, as_of: datetime | str | None = None) -> Memory:
        """Returns a memory by its id, number (12 or '#12') or key."""
        at = clean.clean_time(as_of)
        if at is not None:
            return engine.history.memory_as_of(self.scope, reference, at)
        with self.scope.read() as reader:
            return engine.lookup.find_memory(reader, self.scope, reference)

    @reads()
    def find(self, reference: Reference) -> Memory:
        """Like `get`, but also finds a forgotten memory."""
        with self.scope.read() as reader:
            return engine.lookup.find_memory(reader, self.scope, reference, forgotten=True)

    @reads(limits={"limit": 100})
    def list(
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
    ) -> Page:
        """Lists memories in order; with a limit, one page and a `cursor` for the next. Journal
        entries are ordered by the day they belong to, not by when they were written. `where` holds
        conditions on metadata and fields, as in `recall`."""
        at = clean.clean_time(as_of)
        if layer == "journal" and order == "newest":
            order = "happened"
        wanted = filter_from(
            category=category,
            kind=kind,
            stability=stability,
            layer=layer,
            source=source,
            tags=tags,
            session=session,
            pinned=pinned,
            since=since,
            until=until,
            where=where,
            forgotten=forgotten,
            quarantined=quarantined,
            states=states_from(state, hidden=forgotten),
            alive_at=at or self.core.now(),
        )
        return engine.listing.list_memories(
            self.scope, wanted, order=order, limit=limit, cursor=cursor, as_of=at
        )

    @reads(retry=False, deadline=None)
    def scan(self, *, after: int = 0) -> Iterator[Memory]:
        """Streams every visible memory in order of number. `after` is the last number already
        seen."""
        wanted = Filter(states=())
        return engine.listing.scan_memories(self.scope, wanted, after=after)

    @reads(limits={"limit": 50})
    def related(self, reference: Reference, *, limit: int = 5) -> Recalled:
        """Finds memories similar to a memory."""
        return engine.recall.related(self.scope, reference, limit=limit)

    @reads()
    def statistics(self) -> Statistics:
        """Counts what the hub holds. In REST this is `/usage`; `usage` here is the cost of
        models."""
        with self.scope.read() as reader:
            counted = reader.statistics(self.id)
            ran = engine.automatic.last_run(reader, self.id)
        waiting = engine.inbox.count(self.scope) if counted.quarantined else 0
        ran_at = None if ran is None else ran.at
        return counted._replace(hub=self.name, waiting=waiting, lifecycle_at=ran_at)

    @reads(sync=False, deadline=None, limits={"limit": 20_000})
    def meaning_map(self, *, limit: int = 20_000) -> MeaningMap:
        """Places memories on a two-dimensional map where similar meanings are close together, and
        returns the clusters with the words that name them. Hubs of more than `limit` memories are
        sampled evenly."""
        from holdfast.engine.reading import pictures

        return pictures.meaning_map(self.scope, limit=limit)

    @reads(sync=False, limits={"days": 371})
    def activity(self, *, days: int = 371) -> Activity:
        """Counts the changes of each kind on each of the last `days`, and the growth of the hub."""
        from holdfast.engine.reading import pictures

        return pictures.activity(self.scope, days=days)

    @overload
    def context(
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
    def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        unit: str = "chars",
        style: str = "plain",
        count_tokens: Callable[[str], int] | str | None = None,
        explain: Literal[True],
    ) -> Context: ...

    @reads(limits={"budget": 1_000_000})
    def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        unit: str = "chars",
        style: str = "plain",
        count_tokens: Callable[[str], int] | str | None = None,
        explain: bool = False,
    ) -> str | Context:
        """Builds the block to put into an agent's prompt, never larger than `budget`.

        `unit` is chars or tokens, `style` is plain, xml, max, maven or minion. Tokens are counted
        by an upper bound that holds for any model, or by `count_tokens`: a function, or a name such
        as `tiktoken:o200k_base`. With `explain`, returns a `Context` that also says what was
        included, what was not, and why.
        """
        built = self._context(
            query,
            budget=budget,
            unit=unit,
            style=style,
            count_tokens=count_tokens,
            explain=explain,
        )
        return built if explain else built.text

    def _context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        unit: str = "chars",
        style: str = "plain",
        count_tokens: Callable[[str], int] | str | None = None,
        explain: bool = False,
        elsewhere: Callable[[str | None], bool] | None = None,
        outdated: Sequence[CorrectedFact] = (),
    ) -> Context:
        """The context block as a value. Without `explain` it does not list what was left out,
        because that would mean reading everything."""
        from holdfast.engine.context import build

        file = None
        # A caller with a key sees the memories, but not the owner's other text in MEMORY.md.
        if style in ("maven", "minion") and self.core.permit is None:
            from holdfast.files.memory_md.edit import file_parts

            file = file_parts(self.scope)
        built = build.context(
            self.scope,
            query,
            budget=budget,
            unit=unit,
            style=style,
            count_tokens=count_tokens,
            explain=explain,
            file=file,
            elsewhere=elsewhere,
            outdated=outdated,
            own_files=() if query else self._own_files(),
        )
        if style == "minion":
            from holdfast.files.memory_md.edit import note_injected

            note_injected(self._as_text("sdk", "user", None), built)
        return built

    def _own_files(self) -> list_[str]:
        """Indexes the hub's own `files` folder and returns the paths of its documents. A folder
        that cannot be read does not prevent the block from being built."""
        if not os.path.isdir(os.path.join(self.folder, "files")):
            return []
        from holdfast.files.documents import own_paths

        with suppress(HoldfastError, OSError):
            self.index_files()
        return own_paths(self.scope)

    # Changing

    @writes(follow=ALL_FILES)
    def update(
        self,
        reference: Reference,
        *,
        expected_version: int | None = None,
        reason: str = "",
        **changes: Unpack[MemoryChanges],
    ) -> Memory:
        """Changes fields of a memory, for example content, title, category, tags or key."""
        return engine.edit.update(
            self.scope, reference, dict(changes), expected_version=expected_version, reason=reason
        )

    @writes(follow=Follow.NOTHING)
    def pin(self, reference: Reference) -> Memory:
        """Pins a memory: it does not age, and ranks a little higher."""
        return engine.edit.pin(self.scope, reference, True)

    @writes(follow=Follow.NOTHING)
    def unpin(self, reference: Reference) -> Memory:
        return engine.edit.pin(self.scope, reference, False)

    @writes()
    def archive(self, reference: Reference, *, reason: str = "archived by hand") -> Memory:
        """Archives a memory: it is kept, but hidden from recall and lists."""
        return engine.edit.archive(self.scope, [reference], reason)[0]

    @writes(limits={"references": 100})
    def archive_many(
        self, references: Iterable[Reference], *, reason: str = "archived by hand"
    ) -> list_[Memory]:
        """Archives several memories as one change set, all or none."""
        return engine.edit.archive(self.scope, [*references], reason)

    @writes(permission="read", follow=ALL_FILES)
    def forget(self, reference: Reference, *, reason: str = "") -> Memory:
        """Hides a memory everywhere; `restore` or `undo` brings it back."""
        return engine.edit.forget(self.scope, [reference], reason)[0]

    @writes(permission="read", follow=ALL_FILES, limits={"references": 100})
    def forget_many(self, references: Iterable[Reference], *, reason: str = "") -> list_[Memory]:
        """Forgets several memories as one change set, all or none."""
        return engine.edit.forget(self.scope, [*references], reason)

    @writes(permission="read", follow=ALL_FILES)
    def forget_last(
        self, session: str, *, dry_run: bool = False, reason: str = ""
    ) -> list_[Memory]:
        """Forgets everything that was captured from the last message of a session, as one change
        set. A `dry_run` lists the memories and changes nothing."""
        return engine.forget_turns.forget_last(self.scope, session, dry_run=dry_run, reason=reason)

    @reads(limits={"references": 100})
    def traces(self, references: Iterable[Reference]) -> Traces:
        """Finds other places with the words of these memories: the same memory in another layer,
        and turns of the log. `forget` hides those too; for a forgotten memory, this is what was
        hidden with it."""
        return engine.traces.traces(self.scope, [*references])

    @writes(follow=ALL_FILES)
    def restore(self, reference: Reference, *, reason: str = "") -> Memory:
        """Brings back a memory that was forgotten, archived or held for review."""
        return engine.edit.restore(self.scope, [reference], reason)[0]

    @writes(follow=ALL_FILES, limits={"references": 100})
    def restore_many(self, references: Iterable[Reference], *, reason: str = "") -> list_[Memory]:
        """Brings back several memories as one change set, all or none."""
        return engine.edit.restore(self.scope, [*references], reason)

    @writes(
        permission="read",
        follow=Follow.NOTHING,
        sync=False,
        retry=False,
        replay=True,
        limits={"references": 100},
        own_request=True,
    )
    def move_many(self, references: Iterable[Reference], to: HubMemory) -> list_[Memory]:
        """Moves memories to another hub and returns the copies there. They are written to the other
        hub before they are forgotten here; their history stays here, and `restore` brings them
        back."""
        from holdfast.engine.writing.edit import MOVED, copied_draft, movable

        require_target(to)
        if to.id == self.id:
            raise InvalidInput("They are in this hub already.", hint="Name another hub.")
        memories = movable(self.core, [self.get(reference) for reference in references])
        files = [self.attachments.of(memory) for memory in memories]
        drafts = [copied_draft(*pair) for pair in zip(memories, files, strict=True)]
        with to.attachments.copied(self.attachments, [file for file in files if file]):
            results = to.remember_many(drafts)
        self.forget_many([memory.id for memory in memories], reason=MOVED)
        return [result.memory for result in results]

    @writes(permission="read", follow=MEMORY_FILES | Follow.JOURNALS, purges=True)
    def purge(self, reference: Reference, *, reason: str = "", everywhere: bool = False) -> Receipt:
        """Deletes a memory and its whole history permanently; only a receipt without content
        remains. With `everywhere`, also everything that `traces` lists, and what it was moved
        from in another hub of this machine."""
        return self._purge([reference], reason, everywhere=everywhere)[0]

    @writes(
        permission="read",
        follow=MEMORY_FILES | Follow.JOURNALS,
        purges=True,
        limits={"references": 100},
    )
    def purge_many(
        self, references: Iterable[Reference], *, reason: str = "", everywhere: bool = False
    ) -> list_[Receipt]:
        """Purges several memories, all or none. With `everywhere`, also everything that `traces`
        lists."""
        return self._purge([*references], reason, everywhere=everywhere)

    @writes(permission="manage", follow=MEMORY_FILES | Follow.JOURNALS, purges=True, retry=False)
    def purge_forgotten(self, *, reason: str = "") -> list_[Receipt]:
        """Purges memories that were forgotten more than `forget.keep_days` ago."""
        self.core.require("delete_any")
        oldest = self.core.now() - timedelta(days=self.core.settings["forget.keep_days"])
        wanted = Filter(states=(), forgotten=True, quarantined=None)
        gone = [
            memory.id
            for memory in engine.listing.scan_memories(self.scope, wanted)
            if memory.forgotten_at is not None and memory.forgotten_at <= oldest
        ]
        return self._purge(gone, reason) if gone else []

    def _purge(
        self, references: list_[Any], reason: str, *, everywhere: bool = False
    ) -> list_[Receipt]:
        """Purges memories and everything that files hold of them."""
        try:
            ids = self._ids(references)
        except NotFound:
            engine.edit.finish_cut_off_purge(self.scope)
            raise
        from holdfast.files import conversation_archive
        from holdfast.files.memory_md.edit import forget_seen
        from holdfast.files.tool_files import follow

        drop_turns = None
        if everywhere:
            self.core.require("manage")
            engine.late_words.index_late_turns(self.core, self.id, wait=True)
            found = engine.traces.traces(self.scope, ids)
            ids += [memory.id for memory in found.memories]
            archives = engine.forget_turns.archives_of(self.scope, found.turns)
            ids += [one for one in archives if one not in ids]
            drop_turns = engine.forget_turns.dropping(self.scope, found.turns)
            if self.core.permit is None:
                # A caller with a key has permissions in this hub only.
                for hub, memory_id in engine.edit.moved_originals(self.core, self.id, ids):
                    there = HubMemory(self.core, hub, self.home)
                    there.purge(memory_id, reason=reason, everywhere=True)
        forget_seen(self.scope)
        # Looked up first: after the purge, nothing says which files belonged to these memories.
        files = conversation_archive.files_of(self._journals, ids)
        kept = follow.files_of_purged(self._kept_files, ids)
        with self.attachments.releasing(ids):
            receipts = engine.edit.purge(self.scope, ids, reason, also=drop_turns)
        conversation_archive.remove(self._journals, files)
        notes = follow.remove_files_of_purged(self._kept_files, kept)
        if self._file_sync is not None:
            self._file_sync.note(notes)
        if not is_kept_in_files(self.home, self.info.name):
            # With synced files, the freed pages are cleared after those files were written.
            engine.edit.clear_purged(self.core, PURGED)
        return receipts

    def _ids(self, references: list_[Any]) -> list_[str]:
        with self.scope.read() as reader:
            find = engine.lookup.find_memory
            return [find(reader, self.scope, r, forgotten=True).id for r in references]

    @writes(permission="read", follow=Follow.NOTHING)
    def access(self, reference: Reference) -> Memory:
        """Records that a memory was used. Appearing in a recall does not count as use."""
        return engine.edit.access(self.scope, [reference])[0]

    @writes(permission="read", follow=Follow.NOTHING, limits={"references": 100})
    def access_many(self, references: Iterable[Reference]) -> list_[Memory]:
        """Records that several memories were used, all at the same time."""
        return engine.edit.access(self.scope, [*references])

    @writes(permission="manage", retry=False)
    def compact(self, *, dry_run: bool = False) -> Compacted:
        """Merges long-term memories that say the same: one stays, the others are archived with a
        link to it, as one change set. In MEMORY.md, sections of the same category are joined. A dry
        run only reports what it would do."""
        done = engine.lifecycle.compact(self.scope, dry_run=dry_run)
        # The file belongs to the owner, so a run by another caller leaves it unchanged.
        if self.core.permit is not None or not os.path.exists(self.memory_md):
            return done
        from holdfast.files.memory_md.edit import tidy

        place = self._as_text("sdk", "user", None)
        return done._replace(notes=(*done.notes, *tidy(place, dry_run=dry_run)))

    @writes(permission="manage", retry=False, deadline=None)
    def lifecycle(self, *, dry_run: bool = False, category: str | None = None) -> LifecycleMoves:
        """Cools and archives memories that are due, or only those of one category. A dry run only
        reports what it would do and why. The run is one change set; `change` is its id."""
        return engine.lifecycle.lifecycle(self.scope, dry_run=dry_run, category=category)

    @writes(permission="manage", retry=False, deadline=None, local=UPKEEP_IS_LOCAL)
    def _lifecycle_automatically(self) -> LifecycleMoves:
        """The same for an automatic run, for which the caller holds the claim
        (`engine.automatic.claim`)."""
        return engine.lifecycle.lifecycle_automatically(self.scope)

    # Looking back

    @reads()
    def history(self, reference: Reference) -> list_[Entry]:
        """Returns everything that happened to a memory, oldest first."""
        return engine.history.history(self.scope, reference)

    @reads()
    def diff(
        self, reference: Reference, *, old: int | None = None, new: int | None = None
    ) -> list_[FieldDiff]:
        """Returns the differences between two versions; by default, the last change."""
        return engine.history.diff(self.scope, reference, old=old, new=new)

    @reads(limits={"limit": 200})
    def changes(self, *, limit: int = 50, before: str | None = None) -> list_[Change]:
        """Lists change sets, newest first."""
        return engine.history.changes(self.scope, limit=limit, before=before)

    @reads(limits={"changes": 200})
    def touched(
        self, changes: Iterable[str], *, limit: int | None = None
    ) -> dict[str, list_[Memory]]:
        """Returns the memories that each of these change sets touched, in order of number; memories
        purged since are missing. With a limit, the first `limit` memories of each change set."""
        out = {}
        named = [engine.drafts.clean_label("change set", change) for change in changes]
        with self.scope.read() as reader:
            for change in named:
                # A change set may revise a memory more than once.
                most = None if limit is None else limit * _REVISIONS_OF_ONE
                revisions = reader.revisions_of(self.id, change, limit=most)
                ids = dict.fromkeys(one.memory_id for one in revisions)
                found = reader.memories_by_id(self.id, list(ids)[:limit])
                out[change] = sorted(found.values(), key=lambda memory: memory.number)
        return out

    @writes(follow=ALL_FILES)
    def undo(self, change: str | None = None, *, force: bool = False) -> Undone:
        """Undoes the last change set, or the one named. Undoing an undo reapplies the changes."""
        undone = engine.history.undo(self.scope, change, force=force)
        if os.path.exists(self.memory_md):
            from holdfast.files.memory_md.append import put_back

            put_back(self._owner_view.scope, self.memory_md, undone)
        return undone

    @reads(permission="read_log")
    def receipts(self) -> list_[Receipt]:
        """Lists the receipts of what was purged."""
        with self.scope.read() as reader:
            return self.core.receipts(reader, self.id)

    @reads(permission="read_log", retry=False, deadline=None)
    def export(self) -> Iterator[str]:
        """Streams the whole hub as lines of JSON, revisions included."""
        from holdfast.engine.transfer.export import export_hub

        return export_hub(self.scope)

    @reads(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def export_files(self, path: str | os.PathLike[str]) -> Packed:
        """Writes the attached files of the hub's memories to an archive that accompanies an export,
        with only as much about them as the export holds. Without attachments, nothing is written.
        """
        from holdfast.files.attachments import Attachments
        from holdfast.files.attachments_tar import pack_for_export

        self._require_local()
        place = Attachments(self.core, self.id, self._current_folder())
        return pack_for_export(os.fspath(path), self.core, self.id, place)

    # Journals and the conversation log

    @writes(sync=False, retry=False)
    def journal_add(
        self,
        text: str,
        *,
        at: datetime | str | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
        once: bool = False,
    ) -> Memory:
        """Adds an entry to the journal of its UTC day, in the file and as a memory. With `once`, an
        entry that the day already has is not added again."""
        from holdfast.files import journal

        if self.core.permit is not None:
            # Read the owner's edits first, or they would be recorded as the caller's.
            self._owner_view.sync_journals()
        memory = journal.add(
            self._journals,
            text,
            at=at,
            trust=trust,
            source=source,
            source_agent=source_agent,
            once=once,
        )
        if memory.quarantine:
            write_inbox(self)
        return memory

    @reads(sync=False, retry=False)
    def journal(self, when: str | date | tuple[date, date] = "today") -> Days:
        """Returns the journal of today, yesterday, a date, or a range such as
        `2026-05-01..2026-05-27`, newest day first. Edits in the files are read first."""
        from holdfast.files import journal

        if self.core.permit is not None:
            self._owner_view.sync_journals()
            return journal.days_seen(self._journals, when)
        return journal.days(self._journals, when)

    @writes(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def rewrite_journal(self, when: str | date, text: str, *, shown: str) -> JournalRewritten:
        """Replaces the text of a day's journal. `shown` is the day's text as its author saw it;
        entries that others wrote since are kept. Entries left out are archived; `changes` are the
        change sets to undo."""
        from holdfast.files import journal

        return journal.rewrite(self._journals, when, text, shown)

    @writes(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def sync_journals(self, *, confirm: bool = False) -> list_[str]:
        """Reads edits in the journal files and returns notes on those that could not be applied.
        `confirm` accepts that many entries are missing."""
        from holdfast.files import journal

        return journal.sync(self._journals, confirm=confirm)

    @writes(sync=False)
    def log_turn(
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
    ) -> Turn:
        """Adds a message of a user, an assistant or the system to the conversation log, where
        recall finds it.

        `speaker` is the speaker's name, if there are several users. `trust` says where the words
        come from, if not from the role itself: `tool` for the output of a tool or a page, `import`
        for a pasted document. `folder` is where the agent works; `log_rules` may exclude it.
        """
        turn = engine.turns.log_turn(
            self.scope,
            role,
            content,
            source=source,
            session=session,
            at=at,
            speaker=speaker,
            trust=trust,
            folder=folder,
        )
        # The turn can be found by its words at once; its vectors are made in the background.
        self.core.catch_up()
        return turn

    @reads(permission="read_log", sync=False, limits={"limit": 500})
    def turns(
        self, limit: int = 20, session: str | None = None, before: str | None = None
    ) -> list_[Turn]:
        """Lists turns of the log, newest first; `before` is the id of the last one seen."""
        return engine.turns.turns(self.scope, limit=limit, session=session, before=before)

    @reads(permission="read_log", sync=False, limits={"limit": 500})
    def search_turns(self, query: str, limit: int = 10) -> list_[Turn]:
        """Finds turns that contain words of the query, best first."""
        return engine.turns.search_turns(self.scope, query, limit=limit)

    @reads(permission="read_log", sync=False, limits={"limit": 1_000})
    def speakers(self, *, limit: int = 100) -> list_[Speaker]:
        """Lists the speakers in the conversation log with the number of their turns and the time of
        the last one; most turns first."""
        return engine.turns.speakers(self.scope, limit=limit)

    @reads(permission="read_log", sync=False)
    def log_rules(self) -> LogRules:
        """Returns what is not logged: whether the log is paused, and the excluded sessions and
        folders."""
        return engine.log_rules.rules(self.scope)

    @reads(permission="read_log", sync=False)
    def log_size(self) -> LogSize:
        """Returns the size of the log, roughly how much of the store it takes, and how much a year
        at this rate would take."""
        return engine.log_rules.log_size(self.scope)

    @writes(sync=False)
    def pause_log(self, until: datetime | str | None = None) -> LogRules:
        """Stops logging turns, until a time or until `resume_log`."""
        return engine.log_rules.pause(self.scope, until)

    @writes(sync=False)
    def resume_log(self) -> LogRules:
        """Resumes logging."""
        return engine.log_rules.resume(self.scope)

    @writes(sync=False, limits={"sessions": 500, "folders": 500})
    def set_log_aside(
        self,
        *,
        sessions: Iterable[str] = (),
        folders: Iterable[str] = (),
        remove: bool = False,
    ) -> LogRules:
        """Excludes sessions (a name, or a pattern with `*`) and folders with their subfolders from
        the log from now on; `remove` ends the exclusion. Turns already logged stay: see
        `forget_turns`."""
        return engine.log_rules.set_aside(
            self.scope, sessions=[*sessions], folders=[*folders], remove=remove
        )

    @writes(
        permission="manage",
        follow=ALL_FILES,
        purges=True,
        retry=False,
        deadline=None,
        limits={"turns": 500},
    )
    def forget_turns(
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
    ) -> ForgottenTurns:
        """Deletes the turns that meet all conditions: said since or until a time, in a session,
        about a word or a few, or with these ids. Turns are deleted permanently, from the index and
        the vectors too. Memories made from them (and with `about` alone, those that contain the
        words) are forgotten in a change set that `undo` reverts, or purged. A `dry_run` only
        reports what would go."""
        from holdfast.files.conversation_archive import cut_turns

        return engine.forget_turns.forget_turns(
            self.scope,
            since=since,
            until=until,
            session=session,
            about=about,
            turns=[*turns],
            purge=self._purge if purge else None,
            cut_archives=lambda gone: cut_turns(self._journals, gone),
            dry_run=dry_run,
            reason=reason,
        )

    @reads(
        permission="read_log", sync=False, retry=False, limits={"turns": 500, "chars": 1_000_000}
    )
    def recovery_prompt(
        self,
        turns: int = 10,
        chars: int = 500,
        *,
        name: str = "Assistant",
        session: str | None = None,
    ) -> str:
        """Builds a prompt that gives a new session the last turns of a lost one; empty if nothing
        is logged."""
        return engine.turns.recovery_prompt(
            self.scope, count=turns, chars=chars, name=name, session=session
        )

    @writes(sync=False, retry=False, checked=False)
    def archive_conversation(
        self,
        session: str,
        *,
        messages: Iterable[Any] | None = None,
        name: str | None = None,
        at: datetime | str | None = None,
    ) -> Archived:
        """Archives a conversation as a readable file and a searchable memory: the given messages,
        or else the session's turns in the log. Never raises; problems are reported in `notes`."""
        from holdfast.files.conversation_archive import Archived, archive_conversation

        try:
            place = self._journals
        except HoldfastError as error:
            return Archived(None, None, (str(error),))
        done = archive_conversation(place, session, messages=messages, name=name, at=at)
        # A caller with a key does not learn paths of this machine.
        return done if self.core.permit is None else done._replace(path=None)

    # Automatic memory and review

    # What is said

    @writes(sync=False)
    def observe_turn(
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
    ) -> Observed:
        """Takes in a turn of a conversation. Both sides are logged, where recall finds them. With
        `shadowJournal.enabled`, facts worth keeping are written to the day's journal in the
        background, after the reply. Turns with the mode cron, heartbeat or consolidation are only
        logged.

        `turn` is the turn's name within its session, for idempotency: a side that was logged under
        it is not logged again. `noted` is the part of `user` to take facts from, if not all of it.
        `speaker` is the user's name, if there are several. `trust` says where the user's words come
        from, as in `log_turn`. `folder` is where the agent works. Text in `<private>…</private>`
        and whatever `log_rules` exclude is not logged, and `reason` says so. `import_run` is the
        change set of a running import; facts taken from the turn become part of it."""
        observed = engine.observe.observe(
            self.scope,
            user,
            assistant,
            mode=mode,
            session=session,
            source=source,
            at=at,
            turn=turn,
            noted=noted,
            speaker=speaker,
            trust=trust,
            folder=folder,
            import_run=import_run,
        )
        if observed.turns:
            self.core.catch_up()
        if observed.queued and not self.core.has_worker:
            from holdfast.passes.work import Shadow

            core, home = self.core.acting(sees_all=True), self.home
            core.start_background("journaler", lambda: Shadow(core, home))
        if self.core.settings["memConsolidate.enabled"]:
            self._run_what_is_due()
        if self.core.runs_upkeep:
            note_use(self)
        return observed

    def _run_what_is_due(self) -> None:
        """Runs scheduled passes that are due, in the background, if no worker does."""
        if not self.core.runs_upkeep:
            return
        from holdfast.passes.schedule import Due

        core, home, kind = self.core.acting(), self.home, type(self)

        def open_hub(name: str) -> HubMemory:
            return kind(core, engine.hubs.find_hub(core, name), home)

        core.start_background("due", lambda: Due(core, open_hub))

    @writes(sync=False, retry=False, deadline=None)
    def flush(
        self, messages: Iterable[Any] | str | None = None, *, session: str | None = None
    ) -> Flushed:
        """Prepares for a compaction of the agent's context. Returns the prompt that asks the agent
        to save what it must keep, and captures by rules what users said that was not processed yet:
        from the log, or from the given conversation (a transcript, or messages with role and
        content). Calling it again captures nothing twice. The log is only read in a hub that is not
        shared, because it does not say who said what; `note` then says so."""
        from holdfast.passes.flush import flush

        self.core.settings.refresh()
        return flush(self.core, self.home, self.info, messages=messages, session=session)

    @reads(permission="read_log", sync=False, retry=False, limits={"days": 92})
    def captured(self, *, days: int = 7) -> list_[CapturedDay]:
        """Returns what automatic memory captured and what it left out, with reasons, for the last
        days that have anything; newest first."""
        return engine.capture_stats.captured(self.scope, days=days)

    @reads(permission="read_log", sync=False, retry=False, limits={"days": 400})
    def usage(self, *, days: int = 30) -> list_[UsageRow]:
        """Returns what language models cost this hub: requests and tokens by day, pass and model,
        newest day first. What the hub holds is counted by `statistics`, which is `/usage` in REST.
        """
        return engine.model_usage.usage(self.scope, days=days)

    @reads(sync=False, limits={"limit": 500})
    def jobs(self, *, limit: int = 100) -> list_[Job]:
        """Lists the newest background jobs on turns and on memories that the caller sees, oldest
        first. The text of the turns is left out: it is in the log."""
        jobs = engine.jobs
        found = jobs.jobs(self.scope, limit=limit)
        with self.core.read() as reader:
            seen = reader.memories_by_id(self.id, [job.about.get("memory", "") for job in found])
        shown_as = jobs.without_texts if self.core.permit is None else jobs.for_others
        return [
            shown_as(job)
            for job in found
            if job.work == jobs.JOURNAL or job.about.get("memory") in seen
        ]

    # The review inbox

    @reads(follow=Follow.INBOX, limits={"limit": 1_000})
    def review(
        self, *, kind: str | None = None, source: str | None = None, limit: int | None = None
    ) -> list_[Item]:
        """Lists what is hidden until a person has reviewed it, oldest first: all, or of a kind
        (quarantined, conflict, low_trust), or from a source (mcp, an agent, a file or folder)."""
        return engine.inbox.review(self.scope, kind=kind, source=source, limit=limit)

    @reads()
    def review_count(self) -> int:
        """Counts the items that wait for review."""
        return engine.inbox.count(self.scope)

    @writes(follow=ALL_FILES, limits={"references": 1_000})
    def approve(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        text: str | None = None,
        keep_both: bool = False,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list_[Memory]:
        """Approves items of the review inbox: those named, `every` one, or those of a `kind` or
        from a `source`. A single item may be given another `text`. An approved item replaces the
        memory that it contradicts or renews, unless `keep_both`. Returns the memories that are now
        visible."""
        chosen = _chosen(references, every, kind, source)
        return engine.inbox.approve(
            self.scope, chosen, text=text, keep_both=keep_both, reason=reason
        )

    @writes(limits={"references": 1_000})
    def reject(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list_[Memory]:
        """Rejects items of the review inbox: they are archived and stay hidden; `undo` brings them
        back to review."""
        chosen = _chosen(references, every, kind, source)
        return engine.inbox.reject(self.scope, chosen, reason=reason)

    # Decisions

    @writes(follow=Follow.NOTHING)
    def request_decision(
        self,
        question: str,
        options: Sequence[str],
        context: str = "",
        *,
        trust: Trust = "agent",
        source: Source = "sdk",
        source_agent: str | None = None,
    ) -> Decision:
        """Asks a person to decide between 2 to 4 options. At most 3 questions may be open; until it
        is answered, a question is neither recalled nor injected."""
        return engine.decisions.request_decision(
            self.scope,
            question,
            options,
            context,
            trust=trust,
            source=source,
            source_agent=source_agent,
        )

    @reads()
    def decisions(self, *, every: bool = False) -> list_[Decision]:
        """Lists open questions, oldest first; with `every`, also those decided or withdrawn."""
        return engine.decisions.decisions(self.scope, every=every)

    @writes()
    def decide(
        self, reference: Reference, option: str | int, *, note: str = "", source: Source = "sdk"
    ) -> Decision:
        """Records a person's answer: an option by its text or number. The answer becomes a
        memory."""
        return engine.decisions.decide(self.scope, reference, option, note=note, source=source)

    @writes()
    def withdraw_decision(self, reference: Reference, *, note: str = "") -> Decision:
        """Withdraws a question that has no answer."""
        return engine.decisions.withdraw_decision(self.scope, reference, note=note)

    # Consolidation

    @reads(permission="manage", retry=False, deadline=None)
    def plan_consolidation(self) -> Plan:
        """Returns what `consolidate` would do: which journal entries of the last days it would
        promote to long-term memory, which memories it would merge and retire, and what it refuses
        and why. Writes nothing. Its `text` can be edited and passed to `consolidate`."""
        from holdfast.passes.consolidation import run

        return run.plan_consolidation(self.scope)

    @writes(permission="manage", retry=False, deadline=None)
    def consolidate(self, plan: Plan | str | None = None, *, dry_run: bool = False) -> Consolidated:
        """Moves lasting facts from the journals to long-term memory, as one change set that one
        undo reverts. Uses the given plan or the text of one, or makes a new one. Skipped if the
        journals are empty, if nothing has changed since the last run, or if another run is in
        progress."""
        from holdfast.passes.consolidation import run

        return run.consolidate(self.scope, plan=plan, dry_run=dry_run, backup=self._keep_memory_md)

    def _keep_memory_md(self) -> str | None:
        """Writes a backup of MEMORY.md beside it. Returns its path, only to callers without a
        key."""
        from holdfast.files.memory_md.cache import keep_copy

        kept = keep_copy(self.memory_md)
        return kept if self.core.permit is None else None

    # Files

    @writes(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def sync(self, *, confirm: bool = False) -> SyncReport:
        """Synchronises MEMORY.md, INBOX.md and the journals with the store, and keeps them in sync:
        from then on, every operation reads edits first. `confirm` accepts that many lines are
        missing, or that this folder replaces the one that the hub had so far."""
        from holdfast.files import journal
        from holdfast.files.hub_folder import take_over
        from holdfast.files.inbox import InboxFile
        from holdfast.files.memory_md.sync import Mirror

        if confirm:
            take_over(self._owner_view.scope, self.folder)
        # A problem with a journal becomes a note and does not stop the sync of MEMORY.md.
        notes = self.sync_journals(confirm=confirm)
        files = self._owner_view.scope
        # Decisions made in INBOX.md change MEMORY.md, so they come first.
        inbox = InboxFile(files, self.folder)
        decided, waiting = inbox.sync()
        if decided:
            notes += journal.follow(self._owner_view._journals)
        report = Mirror(files, self.memory_md).sync(confirm=confirm)
        waiting += inbox.after()
        return report._replace(notes=(*report.notes, *notes, *waiting))

    @reads(retry=False, local=FILES_ARE_LOCAL)
    def conflicts(self) -> list_[Clash]:
        """Lists conflicts: memories that were changed both in the file and in the store. Both texts
        are kept."""
        from holdfast.files.merge import open_clashes

        return open_clashes(self.scope)

    @writes(follow=ALL_FILES, retry=False, local=FILES_ARE_LOCAL)
    def settle(self, conflict: str, *, keep: str) -> Clash:
        """Resolves a conflict: `keep` the "store" text, the "file" text, or "both"."""
        from holdfast.files.merge import settle

        return settle(self.scope, conflict, keep)

    @property
    def notes(self) -> list_[str]:
        """Messages about the hub's files: what was restored, refused or is in conflict."""
        filer = self._owner_hub or self
        notes = list(filer._file_sync.notes) if filer._file_sync is not None else []
        return notes + (filer._journals_seen.notes if filer._journals_seen is not None else [])

    @reads(retry=False, local=FILES_ARE_LOCAL)
    def read_memory_md(self, *, source_agent: str | None = None) -> str | None:
        """Returns MEMORY.md without Holdfast's markers, for a model to read; None if there is no
        file. The text shown to `source_agent` is recorded, so that its next rewrite can be merged.
        """
        from holdfast.files.memory_md import edit

        return edit.read(self._as_text("sdk", "user", source_agent))

    @writes(retry=False, local=FILES_ARE_LOCAL)
    def append_memory_md(
        self,
        content: str,
        *,
        chars_max: int | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
    ) -> Appended:
        """Appends text to MEMORY.md unchanged: below the heading that it starts with, or at the
        end. Each bullet and paragraph becomes a memory; what is already known is not added again.
        Beyond `chars_max` it is refused, or, with a language model, the file is condensed: a
        rewrite that `undo` reverts."""
        from holdfast.files.memory_md import edit

        place = self._as_text(source, trust, source_agent)
        try:
            return edit.append(place, content, chars_max=chars_max)
        except edit.FileTooLarge:
            from holdfast.passes.condense import condense

            text = edit.read(place) or ""
            shorter = condense(self.scope, text, content, chars_max=chars_max or 0)
            if shorter is None:
                raise
            done = edit.rewrite(place, shorter.text, chars_max=chars_max)
            return edit.condensed(done, shorter.model, chars_max or 0)

    @writes(retry=False, local=FILES_ARE_LOCAL)
    def rewrite_memory_md(
        self,
        text: str,
        *,
        chars_max: int | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
    ) -> Rewritten:
        """Replaces the text of MEMORY.md. Lines that are the same or similar remain the same
        memories; missing ones are archived. The changes are one change set. What others wrote since
        `source_agent` last read the file is kept."""
        from holdfast.files.memory_md import edit

        place = self._as_text(source, trust, source_agent)
        return edit.rewrite(place, text, chars_max=chars_max)

    @writes(sync=False, retry=False, own_request=True)
    def index_files(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        remove: bool = True,
        remove_many: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Updates the index of documents in a folder: the hub's own `files`, or another one.

        New and changed files are read, unchanged files are not opened, and documents with a file
        that is missing are archived unless `remove` is False. If very many files are missing,
        `remove_many` confirms that this is meant. A dry run only reports what it would do.
        """
        from holdfast.files import documents
        from holdfast.files.documents import other_place

        scope = self.scope
        if folder is None:
            place = documents.own_place(self._current_folder())
            scope = self._by_hand
        else:
            self._require_local()
            place = other_place(os.fspath(folder))
        return documents.index_files(
            scope,
            place,
            remove=remove,
            remove_many=remove_many,
            dry_run=dry_run,
            progress=progress,
        )

    def files(
        self, *, trust: Trust = "user", source: Source = "sdk", source_agent: str | None = None
    ) -> Files:
        """The hub's own folder, for an agent to edit, with paths below `/memories`: view, create,
        replace, insert, delete, rename, clear. Each file is a memory and each text it ever had a
        version; undo brings files back."""
        from holdfast.files.tool_files.operations import Files
        from holdfast.files.tool_files.sync import Author

        return Files(self._kept_files, Author(trust, source, source_agent))

    @property
    def _kept_files(self) -> KeptFiles:
        from holdfast.files.tool_files.sync import KeptFiles

        folder = self._current_folder()
        return KeptFiles(self.scope, folder, by_hand=self._by_hand)

    @property
    def attachments(self) -> Attachments:
        """The hub's attached files."""
        from holdfast.files.attachments import Attachments

        return Attachments(self.core, self.id, self._current_folder())

    @reads(sync=False, retry=False, local=UPKEEP_IS_LOCAL)
    def find_secrets(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        note: Callable[[str], None] | None = None,
    ) -> list_[Secret]:
        """Finds secrets in the store, its history, the log, the hub's files and attached files, and
        returns where they are, which kind and how many; never the secrets themselves. `note` is
        called for each attached file that could not be searched, such as a picture."""
        from holdfast.files.secret_scan import find_in_attachments, find_in_files

        found = engine.secret_scan.find_in_store(self.scope, progress)
        found += find_in_files(self._journals)
        return found + find_in_attachments(self.core, self.id, self.attachments, note or _discard)

    @writes(follow=Follow.INBOX, retry=False, local=UPKEEP_IS_LOCAL)
    def redact_secrets(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        attachments: bool = False,
    ) -> list_[str]:
        """Replaces all secrets by placeholders, in old versions too. This cannot be undone. Returns
        notes. With `attachments`, attached files that contain secrets are deleted; their memories
        stay. Other files are not changed: `find_secrets` lists them."""
        from holdfast.files.secret_scan import clean_files, remove_attachments

        engine.secret_scan.clean_store(self.scope, progress)
        notes = clean_files(self._journals)
        if attachments:
            remove_attachments(self.core, self.id, self.attachments, notes.append)
        return notes


def require_target(to: object) -> None:
    """Raises InvalidInput for anything but the hub itself, such as its name."""
    if not isinstance(to, HubMemory):
        raise InvalidInput(
            f"Memories are moved to a hub, not to {to!r}.",
            hint="Hand in the hub itself: memory.hub(NAME).",
        )


def _chosen(
    references: Reference | Iterable[Reference], every: bool, kind: str | None, source: str | None
) -> Chosen:
    named = (references,) if isinstance(references, str | int) else tuple(references)
    return engine.inbox.Chosen(named, every, kind, source)


def _discard(note: str) -> None:
    """Discards a note."""
