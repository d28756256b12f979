"""One hub as a person's program sees it: remember, recall, change, look back. Thin: each method
parses its arguments into values and calls the engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, overload

from holdfast import engine
from holdfast.arguments import draft_from, filter_from, states_from, to_draft
from holdfast.domain.memory import STATES
from holdfast.domain.query import SHOWN_STATES, Filter
from holdfast.done_again import done_again
from holdfast.engine.core import require_hub
from holdfast.errors import InvalidInput
from holdfast.hub_files import HubFiles
from holdfast.hub_passes import HubPasses
from holdfast.hub_past import HubPast
from holdfast.in_step import keep_in_step
from holdfast.text import normalise

if TYPE_CHECKING:
    from holdfast.domain.change import Receipt
    from holdfast.domain.draft import Draft
    from holdfast.domain.hub import Statistics
    from holdfast.domain.memory import Memory, Origin
    from holdfast.domain.query import Page, Recalled
    from holdfast.domain.results import LifecycleMove, Remembered
    from holdfast.engine.compact import Compacted
    from holdfast.engine.context import Context
    from holdfast.engine.echo import Heard
    from holdfast.engine.find import Reference
    from holdfast.files.attachments import Kept, Received


# Inside HubMemory the word `list` is the method; here it is the type.
list_ = list


@done_again
@keep_in_step
class HubMemory(HubFiles, HubPast, HubPasses):
    """One hub: remember, recall, change, look back."""

    # Taking in

    def remember(
        self,
        content: str,
        *,
        category: str | None = None,
        key: str | None = None,
        session: str | None = None,
        occurred_at: datetime | str | None = None,
        title: str | None = None,
        summary: str | None = None,
        tags: Iterable[str] | None = None,
        kind: str | None = None,
        stability: str | None = None,
        boundary: str | None = None,
        layer: str | None = None,
        content_type: str | None = None,
        pinned: bool = False,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
        assisted_by_agent: str | None = None,
        source_path: str | None = None,
        speaker: str | None = None,
        occurred_until: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        valid_until: datetime | str | None = None,
        expires_at: datetime | str | None = None,
        ttl: timedelta | None = None,
        supersedes: Reference | None = None,
        parent: str | None = None,
        origin: Origin | None = None,
        metadata: Mapping[str, Any] | None = None,
        fetch: bool = False,
    ) -> Remembered:
        """Keeps a piece of knowledge.

        Returns Stored, Updated (same key or source path), Duplicate (same content), Superseded or
        Quarantined. What is not given is picked by the rules in the classification reference. For a
        link, `fetch` asks for the page behind it: a worker fetches it later.
        """
        values = dict(locals())
        del values["self"], values["ttl"]
        if ttl is not None:
            if expires_at is not None:
                raise InvalidInput("Give ttl or expires_at, not both.")
            try:
                values["expires_at"] = self.core.now() + ttl
            except (TypeError, OverflowError):
                raise InvalidInput(
                    "The ttl must be a timedelta that ends before the year 10000."
                ) from None
        return self.remember_draft(draft_from(values))

    def remember_draft(self, draft: Draft) -> Remembered:
        return engine.remember.remember(self.core, self.id, self.name, draft, by_rule=True)

    def remember_many(
        self, items: Iterable[str | Draft | Mapping[str, Any]], *, first_is_parent: bool = False
    ) -> list[Remembered]:
        """Keeps all of them or none, as one change set; each is text, a Draft or a dictionary.
        With `first_is_parent` the others point to the first, as parts of what it tells."""
        drafts = [to_draft(item) for item in items]
        return engine.remember.remember_many(
            self.core,
            self.id,
            self.name,
            drafts,
            first_is_parent=first_is_parent,
            by_rule=True,
        )

    def remember_stream(
        self, items: Iterable[str | Draft | Mapping[str, Any]]
    ) -> Iterator[Remembered]:
        """Keeps any number, a batch at a time, as one change set; memory stays flat."""
        drafts = (to_draft(item) for item in items)
        return engine.remember.remember_stream(self.core, self.id, self.name, drafts)

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
            self._refuse_guest()
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

    def attachment(self, reference: Reference) -> Kept:
        """The file of a memory: what is known of it, and where its bytes are."""
        return self.attachments.kept(self.get(reference))

    def heard(self, text: str) -> Heard:
        """A text without what this hub has handed out itself, in blocks and replies: `text` is what
        remains, `memories` what came back. For whoever stores what an agent says."""
        return engine.echo.without_echo(self.core, self.id, text)

    def take_redacted(self) -> dict[str, int]:
        """How many secrets of each kind were replaced by placeholders, in what this thread has
        written since it last asked. Never what they were."""
        return self.core.redactor.take()

    # Finding

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
        include_archived: bool = False,
        now: datetime | None = None,
        zone: tzinfo | None = None,
        meaning: bool = True,
        explain: bool = False,
        project: str | None = None,
        plain: bool = False,
    ) -> Recalled:
        """Finds what answers a question, best first; each hit says why.

        The query may hold "quoted phrases", -exclusions and field:value filters; in a `plain` one
        quotes, dashes and colons are characters like any other. `as_of` reads the past.
        `meaning=False` matches words only, without the embedding model. `explain` also names
        what matched and was left out, and why. `project` is a folder or a name: what belongs to it,
        by source path, tag or metadata, ranks a little higher.
        """
        wanted = filter_from(
            category=category,
            kind=kind,
            layer=layer,
            tags=tags,
            since=since,
            until=until,
            session=session,
            states=STATES if include_archived else SHOWN_STATES,
        )
        return engine.recall.recall_memories(
            self.core,
            self.id,
            self.name,
            query,
            wanted,
            limit=limit,
            as_of=normalise.clean_time(as_of),
            now=now,
            zone=zone,
            meaning=meaning,
            explain=explain,
            project=project or "",
            plain=plain,
        )

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
        """Memories whose content holds the text as it stands, whatever its case and accents; with
        `words`, also those that hold all its words in any form. Nothing in it is an operator, and
        nothing is ranked: they come in the `order` of `list`."""
        wanted = filter_from(category=category, layer=layer)
        return engine.search_text.search_text(
            self.core, self.id, self.name, text, wanted, words=words, order=order, limit=limit
        )

    def get(self, reference: Reference, *, as_of: datetime | str | None = None) -> Memory:
        """One memory by its id, number (12 or '#12') or key."""
        at = normalise.clean_time(as_of)
        if at is not None:
            return engine.history.memory_as_of(self.core, self.id, self.name, reference, at)
        with self.core.read() as reader:
            require_hub(reader, self.id, self.name)
            return engine.find.find_memory(reader, self.id, self.name, reference)

    def find(self, reference: Reference) -> Memory:
        """The same as `get`, also for one that was forgotten."""
        with self.core.read() as reader:
            require_hub(reader, self.id, self.name)
            return engine.find.find_memory(reader, self.id, self.name, reference, forgotten=True)

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
        forgotten: bool = False,
        quarantined: bool = False,
        order: str = "newest",
        limit: int | None = None,
        cursor: str | None = None,
        as_of: datetime | str | None = None,
    ) -> Page:
        """Memories in an order; with a limit, a page whose `cursor` fetches the next one. The
        newest entries of the journal are those of the newest days, whenever they were written."""
        at = normalise.clean_time(as_of)
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
            forgotten=forgotten,
            quarantined=quarantined,
            states=states_from(state, hidden=forgotten),
            alive_at=at or self.core.now(),
        )
        return engine.listing.list_memories(
            self.core,
            self.id,
            self.name,
            wanted,
            order=order,
            limit=limit,
            cursor=cursor,
            as_of=at,
        )

    def scan(self) -> Iterator[Memory]:
        """Every visible memory by number, without holding all of them at once."""
        return engine.listing.scan_memories(self.core, self.id, self.name, Filter(states=()))

    def related(self, reference: Reference, *, limit: int = 5) -> Recalled:
        """Memories near a memory."""
        return engine.recall.related(self.core, self.id, self.name, reference, limit=limit)

    def statistics(self) -> Statistics:
        with self.core.read() as reader:
            require_hub(reader, self.id, self.name)
            counted = reader.statistics(self.id)
        waiting = engine.inbox.count(self.core, self.id, self.name) if counted.quarantined else 0
        return counted._replace(hub=self.name, waiting=waiting)

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
        file = None
        # A guest sees memories with their own eyes, and not what the owner's file says beside them.
        if style in ("maven", "minion") and self.core.permit is None:
            from holdfast.files.injected import file_parts

            file = file_parts(self.core, self.id)
        built = engine.context.context(
            self.core,
            self.id,
            self.name,
            query,
            budget=budget,
            unit=unit,
            style=style,
            count_tokens=count_tokens,
            explain=explain,
            file=file,
        )
        if style == "minion":
            from holdfast.files.as_text import note_injected

            note_injected(self._as_text("sdk", "user", None), built)
        return built if explain else built.text

    # Changing

    def update(
        self,
        reference: Reference,
        *,
        expected_version: int | None = None,
        reason: str = "",
        **changes: Any,
    ) -> Memory:
        """Sets fields of a memory, for example content, title, category, tags or key."""
        return engine.edit.update(
            self.core,
            self.id,
            self.name,
            reference,
            changes,
            expected_version=expected_version,
            reason=reason,
        )

    def pin(self, reference: Reference) -> Memory:
        """Keeps it from ageing, and lets it rank a little higher."""
        return engine.edit.pin(self.core, self.id, self.name, reference, True)

    def unpin(self, reference: Reference) -> Memory:
        return engine.edit.pin(self.core, self.id, self.name, reference, False)

    def archive(self, reference: Reference, *, reason: str = "archived by hand") -> Memory:
        """Hides it from recall and lists, and keeps it."""
        return engine.edit.archive(self.core, self.id, self.name, [reference], reason)[0]

    def archive_many(
        self, references: Iterable[Reference], *, reason: str = "archived by hand"
    ) -> list_[Memory]:
        """Archives all of them or none, as one change set."""
        return engine.edit.archive(self.core, self.id, self.name, [*references], reason)

    def forget(self, reference: Reference, *, reason: str = "") -> Memory:
        """Hides it everywhere; `restore` or `undo` brings it back."""
        return engine.edit.forget(self.core, self.id, self.name, [reference], reason)[0]

    def forget_many(self, references: Iterable[Reference], *, reason: str = "") -> list_[Memory]:
        """Forgets all of them or none, as one change set."""
        return engine.edit.forget(self.core, self.id, self.name, [*references], reason)

    def restore(self, reference: Reference, *, reason: str = "") -> Memory:
        """Brings back what was forgotten, archived or held for review."""
        return engine.edit.restore(self.core, self.id, self.name, [reference], reason)[0]

    def restore_many(self, references: Iterable[Reference], *, reason: str = "") -> list_[Memory]:
        """Brings all of them back or none, as one change set."""
        return engine.edit.restore(self.core, self.id, self.name, [*references], reason)

    def purge(self, reference: Reference, *, reason: str = "") -> Receipt:
        """Removes it and its whole history, for good; only a receipt without content stays."""
        return self._purge([reference], reason)[0]

    def purge_many(self, references: Iterable[Reference], *, reason: str = "") -> list_[Receipt]:
        """Purges all of them or none."""
        return self._purge([*references], reason)

    def purge_forgotten(self, *, reason: str = "") -> list_[Receipt]:
        """Purges what was forgotten more than `forget.keep_days` ago."""
        oldest = self.core.now() - timedelta(days=self.core.settings["forget.keep_days"])
        wanted = Filter(states=(), forgotten=True, quarantined=None)
        gone = [
            memory.id
            for memory in engine.listing.scan_memories(self.core, self.id, self.name, wanted)
            if memory.forgotten_at is not None and memory.forgotten_at <= oldest
        ]
        return self._purge(gone, reason) if gone else []

    def access(self, reference: Reference) -> Memory:
        """Notes that it was really used; being shown by recall does not count as that."""
        return engine.edit.access(self.core, self.id, self.name, [reference])[0]

    def access_many(self, references: Iterable[Reference]) -> list_[Memory]:
        """Notes that all of them were used, at the same moment."""
        return engine.edit.access(self.core, self.id, self.name, [*references])

    def compact(self, *, dry_run: bool = False) -> Compacted:
        """Of long-term memories that say the same, one stays; the others are archived with a link
        to it, as one change set. In MEMORY.md sections of one category become one. A dry run only
        says what it would do."""
        done = engine.compact.compact(self.core, self.id, self.name, dry_run=dry_run)
        if not os.path.exists(self.memory_md):
            return done
        from holdfast.files.as_text import tidy

        place = self._as_text("sdk", "user", None)
        return done._replace(notes=(*done.notes, *tidy(place, dry_run=dry_run)))

    def lifecycle(
        self, *, dry_run: bool = False, category: str | None = None, when_due: bool = False
    ) -> list_[LifecycleMove]:
        """Cools and archives what is due, or only what is due of one category; a dry run only
        says what it would do and why. `when_due` runs the rules at most once a day."""
        if when_due:
            return engine.lifecycle.lifecycle_when_due(self.core, self.id, self.name)
        return engine.lifecycle.lifecycle(
            self.core, self.id, self.name, dry_run=dry_run, category=category
        )
