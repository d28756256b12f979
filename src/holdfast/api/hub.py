"""One hub as a program sees it: every operation, declared once. Each method parses its arguments
into values and calls the engine."""

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
    Operation,
    reads,
    writes,
)
from holdfast.api.perform import PURGED, perform, show_held
from holdfast.domain.memory import STATES
from holdfast.domain.query import SHOWN_STATES, Filter
from holdfast.engine.core import Scope
from holdfast.engine.upkeep.automatic import note_use
from holdfast.errors import Forbidden, HoldfastError, InvalidInput, NotFound
from holdfast.files import is_kept_in_files
from holdfast.text import clean

if TYPE_CHECKING:
    from holdfast.api.arguments import MemoryChanges, MemoryFields
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
    from holdfast.files.journal.entries import JournalFolder
    from holdfast.files.journal.intake import Rewritten as JournalRewritten
    from holdfast.files.memory_md.edit import Appended, Rewritten
    from holdfast.files.memory_md.edit import MemoryFile as TextPlace
    from holdfast.files.memory_md.merge import SyncReport
    from holdfast.files.tool_files.operations import Files
    from holdfast.files.tool_files.sync import KeptFiles
    from holdfast.passes.consolidation import Consolidated, Plan

# Inside the class the word `list` is the method; here it is the type.
list_ = list
# Revisions of one memory in one change set that a limited reading of it reckons with.
_REVISIONS_OF_ONE = 4


class HubMemory:
    """One hub: remember, recall, change, look back.

    Each public method is declared once, here, with `reads` or `writes` (see `operation`). The
    declaration is what permissions, retries, file sync and the remote hub go by."""

    def __init__(self, core: Core, info: Hub, home: str) -> None:
        self.core = core
        self.info = info
        self.home = home
        self._file_sync: FileSync | None = None
        self._journals_seen: JournalChanges | None = None
        self._syncing: set[int] = set()
        self._owner_hub: Self | None = None

    def _perform(
        self,
        operation: Operation,
        method: Callable[..., Any],
        args: tuple[Any, ...],
        values: dict[str, Any],
    ) -> Any:
        """Runs an operation as it is declared. A hub on a server overrides this."""
        return perform(self, operation, method, args, values)

    @property
    def _file_owner(self) -> PersonName:
        """The person who reads and writes the hub's files: its owner if the caller has a key."""
        return self.core.actor if self.core.permit is None else self.info.owner

    @property
    def _owner_view(self) -> Self:
        """This hub for the owner of its files, with every memory visible: the files hold what the
        store holds, whatever the caller may see. Its results are not for callers with a key."""
        if self.core.viewer is None:
            return self
        if self._owner_hub is None:
            core = self.core.acting(self._file_owner, sees_all=True)
            self._owner_hub = type(self)(core, self.info, self.home)
            # Both have read the same files.
            self._owner_hub._journals_seen = self._journal_changes
        return self._owner_hub

    @property
    def _by_hand(self) -> Scope:
        """The scope in which edits made by hand are recorded: the file owner's."""
        return self.scope if self.core.permit is None else self.scope.acting(self._file_owner)

    def _require_local(self) -> None:
        """Raises Forbidden for a caller with a key."""
        if self.core.permit is not None:
            raise Forbidden(
                "Files of the machine are taken in by who has it.", hint="Send the text itself."
            )

    @property
    def scope(self) -> Scope:
        """This hub as operations of the engine are given it: which store, which hub, who acts and
        what they see. Made anew each time, so it follows a renamed hub."""
        return Scope(self.core, self.info.id, self.info.called)

    @property
    def name(self) -> str:
        """Its name for the caller."""
        return self.info.called

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def folder(self) -> str:
        """Where the hub's files are; made when the first one is written."""
        from holdfast.files import hub_path

        return hub_path(self.home, self.info.name)

    @property
    def memory_md(self) -> str:
        """Where the hub's MEMORY.md is, once `sync` has made it."""
        return os.path.join(self.home, "hubs", self.info.name, "MEMORY.md")

    def _look_up(self) -> None:
        """A hub may be renamed or deleted while this is held, and its old name, and the folder of
        that name, may be another hub's by now."""
        with self.core.store.read() as reader:
            found = self.scope.require_hub(reader)
            if found.name == self.info.name:
                return
            from holdfast.engine.people.records import called

            self.info = called(self.core, reader, found)
        self._file_sync = self._journals_seen = None

    def _here(self) -> str:
        """The folder, for work in it."""
        self._look_up()
        return self.folder

    def _as_text(self, source: str, trust: str, agent: str | None) -> TextPlace:
        from holdfast.files.memory_md import edit

        return edit.place_of(self.scope, self.memory_md, source=source, trust=trust, agent=agent)

    @property
    def _journals(self) -> JournalFolder:
        from holdfast.files.journal.entries import JournalFolder

        folder = self._here()
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
        """Keeps a piece of knowledge.

        Returns Stored, Updated (same key or source path), Duplicate (same content), Superseded or
        Quarantined. What is not given is picked by the rules in the classification reference. For a
        link, `fetch` asks for the page behind it: a worker fetches it later.
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
                    "The ttl must be a timedelta that ends before the year 10000."
                ) from None
        return engine.remember.remember(self.scope, draft_from(values), by_rule=True)

    @writes(follow=MEMORY_FILES | Follow.TOOL_FILES, replay=True)
    def remember_draft(self, draft: Draft) -> Remembered:
        return engine.remember.remember(self.scope, draft, by_rule=True)

    @writes(follow=MEMORY_FILES | Follow.TOOL_FILES, replay=True, limits={"items": 500})
    def remember_many(
        self, items: Iterable[str | Draft | Mapping[str, Any]], *, first_is_parent: bool = False
    ) -> list_[Remembered]:
        """Keeps all of them or none, as one change set; each is text, a Draft or a dictionary.
        With `first_is_parent` the others point to the first, as its parts."""
        drafts = [to_draft(item) for item in items]
        return engine.remember.remember_many(
            self.scope, drafts, first_is_parent=first_is_parent, by_rule=True
        )

    @writes(retry=False, local=STREAMS_ARE_LOCAL)
    def remember_stream(
        self, items: Iterable[str | Draft | Mapping[str, Any]]
    ) -> Iterator[Remembered]:
        """Keeps any number, a batch at a time, as one change set; memory stays flat."""
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
        """Takes in some of what another program has stored; `Holdfast.import_from` reads it.
        `change` is the id of the change set, for all that belongs together; without it, it is one
        of its own. A dry run writes nothing."""
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
        """Brings memories up to date with a source that is edited as text; `statements` are all
        that it holds. Edited ones become new versions, and those that are gone are archived.
        `change` and `dry_run` as for `import_items`."""
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
        """Keeps a file: its bytes beside the store, and a memory with its name as the title. A
        worker reads its text (`holdfast work`, or the server); until then it is `processing`. The
        other fields are those of `remember`. The same bytes again are a duplicate."""
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
        """The file of a memory: what is known of it, and where its bytes are."""
        return self.attachments.kept(self.get(reference))

    @reads(sync=False, retry=False)
    def heard(self, text: str) -> Heard:
        """A text without what this hub has handed out itself, in blocks and replies: `text` is what
        remains, `memories` what came back. For programs that store what an agent says."""
        return engine.detect.without_echo(self.core, self.id, text)

    def take_redacted(self) -> dict[str, int]:
        """How many secrets of each kind were replaced by placeholders, in what this thread has
        written since it last asked. Never what they were."""
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
    ) -> Recalled:
        """Finds what answers a question, best first; each hit says why.

        The query may hold "quoted phrases", -exclusions and field:value filters; in a `plain` one
        quotes, dashes and colons are characters like any other. `as_of` reads the past.
        `meaning=False` matches words only, without the embedding model. `explain` also names
        what matched and was left out, and why. `project` is a folder or a name: what belongs to it,
        by source path, tag or metadata, ranks a little higher. `where` holds conditions on metadata
        and fields, as a dictionary ({"priority": {"gte": 3}}) or as text ("priority >= 3").

        Turns of the conversation log are found like memories, unless `turns` is False or there are
        conditions that turns cannot meet; the layer `turn` finds nothing else. Such a hit has a
        `turn`, and `around` brings so many turns before and after it along.
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
            now=now,
            zone=zone,
            meaning=meaning,
            explain=explain,
            project=project or "",
            plain=plain,
            around=around,
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
        """Memories with this text in their content, ignoring case and accents; with `words`, also
        those that hold all its words in any form. Nothing in it is an operator, and nothing is
        ranked: they come in the `order` of `list`."""
        wanted = filter_from(category=category, layer=layer)
        return engine.listing.search_text(
            self.scope, text, wanted, words=words, order=order, limit=limit
        )

    @reads()
    def get(self, reference: Reference, *, as_of: datetime | str | None = None) -> Memory:
        """One memory by its id, number (12 or '#12') or key."""
        at = clean.clean_time(as_of)
        if at is not None:
            return engine.history.memory_as_of(self.scope, reference, at)
        with self.scope.read() as reader:
            return engine.lookup.find_memory(reader, self.scope, reference)

    @reads()
    def find(self, reference: Reference) -> Memory:
        """The same as `get`, also for one that was forgotten."""
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
        """Memories in an order; with a limit, a page with a `cursor` that fetches the next one. The
        newest entries of the journal are those of the newest days, whenever they were written.
        `where` holds conditions on metadata and fields, as in `recall`."""
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
        """Every visible memory by number, without holding all of them at once; `after` is the
        number of the last one that was seen."""
        wanted = Filter(states=())
        return engine.listing.scan_memories(self.scope, wanted, after=after)

    @reads(limits={"limit": 50})
    def related(self, reference: Reference, *, limit: int = 5) -> Recalled:
        """Memories near a memory."""
        return engine.recall.related(self.scope, reference, limit=limit)

    @reads()
    def statistics(self) -> Statistics:
        """What is in the hub, counted. REST has it at `/usage`; `usage` is the cost of models."""
        with self.scope.read() as reader:
            counted = reader.statistics(self.id)
            ran = engine.automatic.last_run(reader, self.id)
        waiting = engine.inbox.count(self.scope) if counted.quarantined else 0
        ran_at = None if ran is None else ran.at
        return counted._replace(hub=self.name, waiting=waiting, lifecycle_at=ran_at)

    @reads(sync=False, deadline=None, limits={"limit": 20_000})
    def meaning_map(self, *, limit: int = 20_000) -> MeaningMap:
        """Where memories are on a map on which near in meaning is near, and the groups they form,
        named by their words. Of more than `limit`, an even sample."""
        from holdfast.engine.reading import pictures

        return pictures.meaning_map(self.scope, limit=limit)

    @reads(sync=False, limits={"days": 371})
    def activity(self, *, days: int = 371) -> Activity:
        """How many changes of each kind there were on each of the last days, and how the hub has
        grown."""
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
        """The block to put into an agent's prompt, never larger than `budget` characters or tokens.

        `style` is plain, xml, max, maven or minion. Tokens are counted by a bound that holds for
        any model, or by `count_tokens`: a function, or a name such as `tiktoken:o200k_base`. With
        `explain`, a value that also says what is in, what is not, and why.
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
        """The block as a value. Without `explain` it does not say what is left out, for which
        everything would have to be read."""
        from holdfast.engine.context import build

        file = None
        # A caller with a key sees their memories, but not the owner's text beside them in the file.
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
        """The paths of the hub's own documents, after what is new in its folder was read. What
        cannot be read now does not keep the block from being made."""
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
        """Sets fields of a memory, for example content, title, category, tags or key."""
        return engine.edit.update(
            self.scope, reference, dict(changes), expected_version=expected_version, reason=reason
        )

    @writes(follow=Follow.NOTHING)
    def pin(self, reference: Reference) -> Memory:
        """Keeps it from ageing, and lets it rank a little higher."""
        return engine.edit.pin(self.scope, reference, True)

    @writes(follow=Follow.NOTHING)
    def unpin(self, reference: Reference) -> Memory:
        return engine.edit.pin(self.scope, reference, False)

    @writes()
    def archive(self, reference: Reference, *, reason: str = "archived by hand") -> Memory:
        """Hides it from recall and lists, and keeps it."""
        return engine.edit.archive(self.scope, [reference], reason)[0]

    @writes(limits={"references": 100})
    def archive_many(
        self, references: Iterable[Reference], *, reason: str = "archived by hand"
    ) -> list_[Memory]:
        """Archives all of them or none, as one change set."""
        return engine.edit.archive(self.scope, [*references], reason)

    @writes(permission="read", follow=ALL_FILES)
    def forget(self, reference: Reference, *, reason: str = "") -> Memory:
        """Hides it everywhere; `restore` or `undo` brings it back."""
        return engine.edit.forget(self.scope, [reference], reason)[0]

    @writes(permission="read", follow=ALL_FILES, limits={"references": 100})
    def forget_many(self, references: Iterable[Reference], *, reason: str = "") -> list_[Memory]:
        """Forgets all of them or none, as one change set."""
        return engine.edit.forget(self.scope, [*references], reason)

    @writes(permission="read", follow=ALL_FILES)
    def forget_last(
        self, session: str, *, dry_run: bool = False, reason: str = ""
    ) -> list_[Memory]:
        """Forgets what was taken in last from a session, as one change set: all that was made from
        the last thing said. A `dry_run` lists what would go, and changes nothing."""
        return engine.forget_turns.forget_last(self.scope, session, dry_run=dry_run, reason=reason)

    @reads(limits={"references": 100})
    def traces(self, references: Iterable[Reference]) -> Traces:
        """What else holds the words of memories: the same memory in another layer, and turns of the
        log. `forget` hides all of it; of a forgotten memory, what was hidden with it."""
        return engine.traces.traces(self.scope, [*references])

    @writes(follow=ALL_FILES)
    def restore(self, reference: Reference, *, reason: str = "") -> Memory:
        """Brings back what was forgotten, archived or held for review."""
        return engine.edit.restore(self.scope, [reference], reason)[0]

    @writes(follow=ALL_FILES, limits={"references": 100})
    def restore_many(self, references: Iterable[Reference], *, reason: str = "") -> list_[Memory]:
        """Brings all of them back or none, as one change set."""
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
        """Moves memories to another hub and returns them as they are there. They are written there
        before they are forgotten here; their history stays here, and `restore` brings them back."""
        from holdfast.engine.writing.edit import MOVED, copied_draft, movable

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
        """Removes it and its whole history, for good; only a receipt without content stays. With
        `everywhere`, also what `traces` names."""
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
        """Purges all of them or none; with `everywhere`, also what `traces` names."""
        return self._purge([*references], reason, everywhere=everywhere)

    @writes(permission="manage", follow=MEMORY_FILES | Follow.JOURNALS, purges=True, retry=False)
    def purge_forgotten(self, *, reason: str = "") -> list_[Receipt]:
        """Purges what was forgotten more than `forget.keep_days` ago."""
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
        """Purges memories with everything that files hold of them."""
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
            found = engine.traces.traces(self.scope, ids)
            ids += [memory.id for memory in found.memories]
            archives = engine.forget_turns.archives_of(self.scope, found.turns)
            ids += [one for one in archives if one not in ids]
            drop_turns = engine.forget_turns.dropping(self.scope, found.turns)
        forget_seen(self.scope)
        # Looked up before: afterwards nothing says which file was theirs.
        files = conversation_archive.files_of(self._journals, ids)
        kept = follow.doomed(self._kept_files, ids)
        with self.attachments.releasing(ids):
            receipts = engine.edit.purge(self.scope, ids, reason, also=drop_turns)
        conversation_archive.remove(self._journals, files)
        notes = follow.remove_doomed(self._kept_files, kept)
        if self._file_sync is not None:
            self._file_sync.note(notes)
        if not is_kept_in_files(os.path.dirname(self.memory_md)):
            # Elsewhere it is done when all files have followed.
            engine.edit.clear_purged(self.core, PURGED)
        return receipts

    def _ids(self, references: list_[Any]) -> list_[str]:
        with self.scope.read() as reader:
            find = engine.lookup.find_memory
            return [find(reader, self.scope, r, forgotten=True).id for r in references]

    @writes(permission="read", follow=Follow.NOTHING)
    def access(self, reference: Reference) -> Memory:
        """Notes that it was really used; being shown by recall does not count as that."""
        return engine.edit.access(self.scope, [reference])[0]

    @writes(permission="read", follow=Follow.NOTHING, limits={"references": 100})
    def access_many(self, references: Iterable[Reference]) -> list_[Memory]:
        """Notes that all of them were used, at the same moment."""
        return engine.edit.access(self.scope, [*references])

    @writes(permission="manage", retry=False)
    def compact(self, *, dry_run: bool = False) -> Compacted:
        """Of long-term memories that say the same, one stays; the others are archived with a link
        to it, as one change set. In MEMORY.md sections of one category become one. A dry run only
        says what it would do."""
        done = engine.lifecycle.compact(self.scope, dry_run=dry_run)
        # The file is the owner's: somebody else's run leaves it as it is.
        if self.core.permit is not None or not os.path.exists(self.memory_md):
            return done
        from holdfast.files.memory_md.edit import tidy

        place = self._as_text("sdk", "user", None)
        return done._replace(notes=(*done.notes, *tidy(place, dry_run=dry_run)))

    @writes(permission="manage", retry=False, deadline=None)
    def lifecycle(self, *, dry_run: bool = False, category: str | None = None) -> LifecycleMoves:
        """Cools and archives what is due, or only what is due of one category; a dry run only
        says what it would do and why. A run is one change set, named in `change`."""
        return engine.lifecycle.lifecycle(self.scope, dry_run=dry_run, category=category)

    @writes(permission="manage", retry=False, deadline=None, local=UPKEEP_IS_LOCAL)
    def _lifecycle_automatically(self) -> LifecycleMoves:
        """The same for an automatic run, which `engine.automatic.claim` allows."""
        return engine.lifecycle.lifecycle_automatically(self.scope)

    # Looking back

    @reads()
    def history(self, reference: Reference) -> list_[Entry]:
        """Everything that happened to a memory, oldest first."""
        return engine.history.history(self.scope, reference)

    @reads()
    def diff(
        self, reference: Reference, *, old: int | None = None, new: int | None = None
    ) -> list_[FieldDiff]:
        """What differs between two versions; by default the last change."""
        return engine.history.diff(self.scope, reference, old=old, new=new)

    @reads(limits={"limit": 200})
    def changes(self, *, limit: int = 50, before: str | None = None) -> list_[Change]:
        """Change sets, newest first."""
        return engine.history.changes(self.scope, limit=limit, before=before)

    @reads(limits={"changes": 200})
    def touched(
        self, changes: Iterable[str], *, limit: int | None = None
    ) -> dict[str, list_[Memory]]:
        """The memories that each of these change sets touched, by number; what was purged since is
        gone. With a limit, only so many of each, the first that it touched."""
        out = {}
        named = [engine.drafts.clean_label("change set", change) for change in changes]
        with self.scope.read() as reader:
            for change in named:
                # A change may revise a memory more than once.
                most = None if limit is None else limit * _REVISIONS_OF_ONE
                revisions = reader.revisions_of(self.id, change, limit=most)
                ids = dict.fromkeys(one.memory_id for one in revisions)
                found = reader.memories_by_id(self.id, list(ids)[:limit])
                out[change] = sorted(found.values(), key=lambda memory: memory.number)
        return out

    @writes(follow=ALL_FILES)
    def undo(self, change: str | None = None, *, force: bool = False) -> Undone:
        """Takes back the last change set, or the one named; undoing an undo brings it back."""
        undone = engine.history.undo(self.scope, change, force=force)
        if os.path.exists(self.memory_md):
            from holdfast.files.memory_md.append import put_back

            put_back(self._owner_view.scope, self.memory_md, undone)
        return undone

    @reads(permission="read_log")
    def receipts(self) -> list_[Receipt]:
        """What was purged."""
        with self.scope.read() as reader:
            return self.core.receipts(reader, self.id)

    @reads(permission="read_log", retry=False, deadline=None)
    def export(self) -> Iterator[str]:
        """The whole hub as lines of JSON, revisions included."""
        from holdfast.engine.transfer.export import export_hub

        return export_hub(self.scope)

    @reads(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def export_files(self, path: str | os.PathLike[str]) -> Packed:
        """The files that memories of this hub were made from, as an archive to go with an export,
        and as far as that tells of them; nothing is written where there are none."""
        from holdfast.files.attachments import Attachments
        from holdfast.files.attachments_tar import pack_for_export

        self._require_local()
        place = Attachments(self.core, self.id, self._here())
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
        """Adds an entry to the journal of its UTC day, in the file and as a memory. What the day
        says already is not written again where it is to be there `once`."""
        from holdfast.files import journal

        if self.core.permit is not None:
            # What the owner wrote into the file must not be recorded as the caller's.
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
            show_held(self)
        return memory

    @reads(sync=False, retry=False)
    def journal(self, when: str | date | tuple[date, date] = "today") -> Days:
        """The journal of today, yesterday, a date, or a range such as `2026-05-01..2026-05-27`;
        newest day first. What was changed in the files is taken in before."""
        from holdfast.files import journal

        if self.core.permit is not None:
            self._owner_view.sync_journals()
            return journal.days_seen(self._journals, when)
        return journal.days(self._journals, when)

    @writes(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def rewrite_journal(self, when: str | date, text: str, *, shown: str) -> JournalRewritten:
        """Puts a text in the place of a day's journal. `shown` is the day's text as its author saw
        it: what others wrote since is kept, entry by entry. What is left out is archived; `changes`
        are the change sets, to undo."""
        from holdfast.files import journal

        return journal.rewrite(self._journals, when, text, shown)

    @writes(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def sync_journals(self, *, confirm: bool = False) -> list_[str]:
        """Takes in what was changed in the journal files; returns notes on what could not be.
        `confirm` says that many missing entries are meant."""
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
        """Logs what a user, an assistant or the system said; recall finds it from then on.

        `speaker` is a name, where several people are users. `trust` is whose words these are, where
        they are not those of the role: `tool` for what a tool or a page says, `import` for a pasted
        document. `folder` is where the agent works; `log_rules` may set it aside.
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
        # Words find it at once; its vectors are made in the background.
        self.core.catch_up()
        return turn

    @reads(permission="read_log", sync=False, limits={"limit": 500})
    def turns(
        self, limit: int = 20, session: str | None = None, before: str | None = None
    ) -> list_[Turn]:
        """Turns of the log, newest first; `before` is the id of the last one seen."""
        return engine.turns.turns(self.scope, limit=limit, session=session, before=before)

    @reads(permission="read_log", sync=False, limits={"limit": 500})
    def search_turns(self, query: str, limit: int = 10) -> list_[Turn]:
        """Turns that hold words of the query, best first."""
        return engine.turns.search_turns(self.scope, query, limit=limit)

    @reads(permission="read_log", sync=False, limits={"limit": 1_000})
    def speakers(self, *, limit: int = 100) -> list_[Speaker]:
        """The speakers in the conversation log, each with the number of their turns and the time of
        the last; most turns first."""
        return engine.turns.speakers(self.scope, limit=limit)

    @reads(permission="read_log", sync=False)
    def log_rules(self) -> LogRules:
        """What is not logged: whether the log is paused, and which sessions and folders are set
        aside."""
        return engine.log_rules.rules(self.scope)

    @reads(permission="read_log", sync=False)
    def log_size(self) -> LogSize:
        """How large the log is, about how much room it takes in the store, and how much a year of
        the like would."""
        return engine.log_rules.log_size(self.scope)

    @writes(sync=False)
    def pause_log(self, until: datetime | str | None = None) -> LogRules:
        """Logs no turn from now on: until a time, or until `resume_log`."""
        return engine.log_rules.pause(self.scope, until)

    @writes(sync=False)
    def resume_log(self) -> LogRules:
        """Logs turns again."""
        return engine.log_rules.resume(self.scope)

    @writes(sync=False, limits={"sessions": 500, "folders": 500})
    def set_log_aside(
        self,
        *,
        sessions: Iterable[str] = (),
        folders: Iterable[str] = (),
        remove: bool = False,
    ) -> LogRules:
        """Keeps sessions (by name, or a pattern with `*`) and folders, with all that is below them,
        out of the log from now on; `remove` takes that back. What was logged stays: see
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
        """Forgets turns that meet all conditions: said since or until a time, of a session, about a
        word or a few, or named by their ids. They go for good, from the index and the vectors too.
        Memories that were made from them, and with `about` alone those that hold the words, are
        forgotten in a change set that `undo` takes back, or purged. A `dry_run` tells what would
        go, and changes nothing."""
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
        """What to tell a new session of the one that was lost; empty where the log is."""
        return engine.turns.recovery_prompt(
            self.scope, count=turns, chars=chars, name=name, session=session
        )

    @writes(sync=False, retry=False)
    def archive_conversation(
        self,
        session: str,
        *,
        messages: Iterable[Any] | None = None,
        name: str | None = None,
        at: datetime | str | None = None,
    ) -> Archived:
        """Keeps a conversation as a file to read and a memory to find: the messages given, else
        what the log has of the session. Raises nothing: what went wrong is in the notes."""
        from holdfast.files.conversation_archive import Archived, archive_conversation

        try:
            place = self._journals
        except HoldfastError as error:
            return Archived(None, None, (str(error),))
        done = archive_conversation(place, session, messages=messages, name=name, at=at)
        # Where files are on this machine is not for a caller with a key.
        return done if self.core.permit is None else done._replace(path=None)

    # Automatic memory and review

    # What is said

    @writes(sync=False)
    def observe_turn(
        self,
        user: str,
        assistant: str,
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
        """Shows memory a turn of a conversation: both sides are logged, where recall finds them,
        and with `shadowJournal.enabled` what is worth keeping is noted in the day's journal, later,
        off the path of the reply. Turns of the modes cron, heartbeat and consolidation are only
        logged.

        `turn` names the turn in its session: a side that was logged under that name is not logged
        again. `noted` is the part of `user` to take notes of, where that is not all of it.
        `speaker` is the user's name, where several people are users; `trust` is whose words the
        user's side has, as in `log_turn`. `folder` is where the agent works. Text in
        `<private>…</private>` and what `log_rules` exclude is not logged; `reason` says so.
        `import_run` is the change set of an import under way, to which what is noted of the turn
        belongs."""
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
        if observed.queued and not self.core.is_worked:
            from holdfast.passes.work import Shadow

            core, home = self.core.acting(sees_all=True), self.home
            core.begin("journaler", lambda: Shadow(core, home))
        if self.core.settings["memConsolidate.enabled"]:
            self._run_what_is_due()
        if self.core.upkeep_is_here:
            note_use(self)
        return observed

    def _run_what_is_due(self) -> None:
        """Has passes that are due run in the background, where no worker does it."""
        if not self.core.upkeep_is_here:
            return
        from holdfast.passes.schedule import Due

        core, home, kind = self.core.acting(), self.home, type(self)

        def open_hub(name: str) -> HubMemory:
            return kind(core, engine.hubs.find_hub(core, name), home)

        core.begin("due", lambda: Due(core, open_hub))

    @writes(sync=False, retry=False, deadline=None)
    def flush(
        self, messages: Iterable[Any] | str | None = None, *, session: str | None = None
    ) -> Flushed:
        """Before a compaction: the prompt that asks the agent to save what it must keep; and what
        users said that nobody has looked at yet is captured by rules, from the log or from the
        conversation given (a transcript, or messages with role and content). Again, it captures
        nothing new. The log is looked at only in a hub that is shared with nobody, as it does not
        say who said what; `note` tells so."""
        from holdfast.passes.flush import flush

        self.core.settings.refresh()
        return flush(self.core, self.home, self.info, messages=messages, session=session)

    @reads(permission="read_log", sync=False, retry=False, limits={"days": 92})
    def captured(self, *, days: int = 7) -> list_[CapturedDay]:
        """What automatic memory took in, left out, and why: the last days on which there was
        anything, newest first."""
        return engine.capture_stats.captured(self.scope, days=days)

    @reads(permission="read_log", sync=False, retry=False, limits={"days": 400})
    def usage(self, *, days: int = 30) -> list_[UsageRow]:
        """What language models cost this hub in the last days: requests and tokens by day, pass
        and model, newest day first. What a hub holds is counted by `statistics`, which is
        `/usage` in REST."""
        return engine.model_usage.usage(self.scope, days=days)

    @reads(sync=False, limits={"limit": 500})
    def jobs(self, *, limit: int = 100) -> list_[Job]:
        """Work for later, on memories that you see and on turns: the newest of it, oldest first.
        The text of the turns is not repeated here: the log has it."""
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
        """What is kept and hidden until a person has looked at it, oldest first: of a kind
        (quarantined, conflict, low_trust), or from a source (mcp, an agent, a file or folder)."""
        return engine.inbox.review(self.scope, kind=kind, source=source, limit=limit)

    @reads()
    def review_count(self) -> int:
        """How many items wait for review."""
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
        """Shows items of the review inbox: those named, or `every` one, those of a `kind` or from a
        `source`; one may be given another `text`. What an item contradicts, or was to renew, it
        takes the place of, unless `keep_both`. Returns the memories that say it now."""
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
        """Archives items of the review inbox, hidden as they are; `undo` brings them back."""
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
        """Asks a person to decide between 2 to 4 options. At most 3 questions are open at a time;
        until it is answered, a question is neither recalled nor injected."""
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
        """Open questions, oldest first; with `every`, also those decided or withdrawn."""
        return engine.decisions.decisions(self.scope, every=every)

    @writes()
    def decide(
        self, reference: Reference, option: str | int, *, note: str = "", source: Source = "sdk"
    ) -> Decision:
        """A person's answer: an option by its words or its number. It becomes a memory."""
        return engine.decisions.decide(self.scope, reference, option, note=note, source=source)

    @writes()
    def withdraw_decision(self, reference: Reference, *, note: str = "") -> Decision:
        """Takes a question back without an answer."""
        return engine.decisions.withdraw_decision(self.scope, reference, note=note)

    # Consolidation

    @reads(permission="manage", retry=False, deadline=None)
    def plan_consolidation(self) -> Plan:
        """What a consolidation would do: what it would promote from the journals of the last days
        to long-term memory, merge and retire there, and what it refuses and why. Writes nothing.
        Its `text` can be edited, and given to `consolidate`."""
        from holdfast.passes.consolidation import run

        return run.plan_consolidation(self.scope)

    @writes(permission="manage", retry=False, deadline=None)
    def consolidate(self, plan: Plan | str | None = None, *, dry_run: bool = False) -> Consolidated:
        """Moves what lasts from the journals to long-term memory, as one change set that one undo
        takes back: by a plan or the text of one, or by one that is made now. Skipped where the
        journals are empty, where nothing has changed since the last run, and while another is
        running."""
        from holdfast.passes.consolidation import run

        return run.consolidate(self.scope, plan=plan, dry_run=dry_run, backup=self._keep_memory_md)

    def _keep_memory_md(self) -> str | None:
        """Writes a copy of MEMORY.md beside it; only callers without a key learn where."""
        from holdfast.files.memory_md.cache import keep_copy

        kept = keep_copy(self.memory_md)
        return kept if self.core.permit is None else None

    # Files

    @writes(sync=False, retry=False, local=FILES_ARE_LOCAL)
    def sync(self, *, confirm: bool = False) -> SyncReport:
        """Brings MEMORY.md, INBOX.md, the journals and the store together, and keeps them so from
        now on: afterwards each operation takes in what was edited. `confirm` says that many missing
        lines are meant, and that this folder is the hub's where another was so far."""
        from holdfast.files import journal
        from holdfast.files.hub_folder import take_over
        from holdfast.files.inbox import InboxFile
        from holdfast.files.memory_md.sync import Mirror

        if confirm:
            take_over(self._owner_view.scope, self.folder)
        # What is wrong with a journal is a note, and keeps MEMORY.md from nothing.
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
        """Where the file and the store both changed one memory; both texts are kept."""
        from holdfast.files.merge import open_clashes

        return open_clashes(self.scope)

    @writes(follow=ALL_FILES, retry=False, local=FILES_ARE_LOCAL)
    def settle(self, conflict: str, *, keep: str) -> Clash:
        """Ends a conflict: `keep` the "store" text, the "file" text, or "both"."""
        from holdfast.files.merge import settle

        return settle(self.scope, conflict, keep)

    @property
    def notes(self) -> list_[str]:
        """What there is to know about the hub's files: restored, refused, in conflict."""
        filer = self._owner_hub or self
        notes = list(filer._file_sync.notes) if filer._file_sync is not None else []
        return notes + (filer._journals_seen.notes if filer._journals_seen is not None else [])

    @reads(retry=False, local=FILES_ARE_LOCAL)
    def read_memory_md(self, *, source_agent: str | None = None) -> str | None:
        """MEMORY.md as a model should see it, without the marks in it; None where there is none.
        What `source_agent` was shown is noted, so that its next rewrite can be merged."""
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
        """Adds text to MEMORY.md as it is given: below the heading that it names, or at the end.
        Each bullet and each paragraph becomes a memory; what is known is not added again. Past
        `chars_max` it is refused, or, with a language model, the file is condensed: that is a
        rewrite which `undo` takes back."""
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
        """Puts a text in the place of MEMORY.md's: lines that are the same or alike stay the same
        memories, what is left out is archived. The changes are one change set; what others wrote
        since `source_agent` last read it is kept."""
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
        """Brings documents up to date with a folder: the hub's own `files`, or another one.

        New and changed files are read, what is unchanged is not opened, and what is gone is
        archived, unless `remove` says not to.
        Where very many files are gone at once, `remove_many` says that this is meant. A dry run
        only says what it would do.
        """
        from holdfast.files import documents
        from holdfast.files.documents import other_place

        scope = self.scope
        if folder is None:
            place = documents.own_place(self._here())
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
        """The hub's own folder as an agent edits it, with paths below `/memories`: look, create,
        replace, insert, delete, rename, clear. Each file is a memory, and each text it ever had a
        version; undo brings files back."""
        from holdfast.files.tool_files.operations import Files
        from holdfast.files.tool_files.sync import Author

        return Files(self._kept_files, Author(trust, source, source_agent))

    @property
    def _kept_files(self) -> KeptFiles:
        from holdfast.files.tool_files.sync import KeptFiles

        folder = self._here()
        return KeptFiles(self.scope, folder, by_hand=self._by_hand)

    @property
    def attachments(self) -> Attachments:
        """The files that memories of this hub were made from."""
        from holdfast.files.attachments import Attachments

        return Attachments(self.core, self.id, self._here())

    @reads(sync=False, retry=False, local=UPKEEP_IS_LOCAL)
    def find_secrets(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        note: Callable[[str], None] | None = None,
    ) -> list_[Secret]:
        """The secrets in the store, its history, the log, the hub's files and those attached to
        memories: where, of which kind, how many; never the secrets themselves. `note` is called
        with the attached files that could not be searched, such as pictures."""
        from holdfast.files.secret_scan import find_in_attachments, find_in_files

        found = engine.secret_scan.find_in_store(self.scope, progress)
        found += find_in_files(self._journals)
        return found + find_in_attachments(self.core, self.id, self.attachments, note or _unheard)

    @writes(follow=Follow.INBOX, retry=False, local=UPKEEP_IS_LOCAL)
    def redact_secrets(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        attachments: bool = False,
    ) -> list_[str]:
        """Replaces all of them by placeholders, in old versions too, for good; returns notes. With
        `attachments`, the attached files that hold some are removed, which cannot be undone; their
        memories stay. What lies in other files stays there: `find_secrets` names it."""
        from holdfast.files.secret_scan import clean_files, remove_attachments

        engine.secret_scan.clean_store(self.scope, progress)
        notes = clean_files(self._journals)
        if attachments:
            remove_attachments(self.core, self.id, self.attachments, notes.append)
        return notes


def _chosen(
    references: Reference | Iterable[Reference], every: bool, kind: str | None, source: str | None
) -> Chosen:
    named = (references,) if isinstance(references, str | int) else tuple(references)
    return engine.inbox.Chosen(named, every, kind, source)


def _unheard(note: str) -> None:
    """Takes notes where the caller wants none."""
