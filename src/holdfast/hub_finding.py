"""Finding, as methods: recall, search, lists, one memory, the block for a prompt. Thin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Literal, overload

from holdfast import engine
from holdfast.arguments import filter_from, states_from
from holdfast.domain.memory import STATES
from holdfast.domain.query import SHOWN_STATES, Filter
from holdfast.engine.core import require_hub
from holdfast.hub_base import HubBase
from holdfast.text import normalise

if TYPE_CHECKING:
    from holdfast.domain.hub import Statistics
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Page, Recalled
    from holdfast.engine.context import Context
    from holdfast.engine.find import Reference

# Inside the class the word `list` is the method; here it is the type.
list_ = list


class HubFinding(HubBase):
    """The methods of a hub that read its memories as they are."""

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
            ran = engine.lifecycle_due.last_run(reader, self.id)
        waiting = engine.inbox.count(self.core, self.id, self.name) if counted.quarantined else 0
        ran_at = None if ran is None else ran.at
        return counted._replace(hub=self.name, waiting=waiting, lifecycle_at=ran_at)

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
            from holdfast.files.memory_md.edit import file_parts

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
            from holdfast.files.memory_md.edit import note_injected

            note_injected(self._as_text("sdk", "user", None), built)
        return built if explain else built.text
