"""Any sequence of operations gives the same state and the same answers on SQLite, on PostgreSQL and
in memory; the past can be read again, undone, and carried over in an export."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime
from operator import methodcaller
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.domain.memory import COUNTERS, Memory
from holdfast.domain.query import EVERYTHING, Hit
from holdfast.engine.upkeep.doctor import examine
from holdfast.errors import Conflict, HoldfastError, NotFound
from holdfast.store.inmemory import InMemoryStore
from holdfast.testing import START, CountedIds, FixedClock, HashEmbedder, open_for_tests
from tests.postgres_server import ROLE, databases
from tests.property.strategies import CHANGES, CONTENTS, DETAILS, KEYS, PATHS, QUERIES

HUBS = ("one", "two")
PICKS = st.integers(0, 30)


class Side:
    """One of the two: a memory with a clock and ids of its own."""

    def __init__(
        self, folder: str, *, in_memory: bool = False, url: str = "", now: datetime = START
    ) -> None:
        self.folder = folder
        self.clock = FixedClock(now)
        self.ids = CountedIds()
        self._store = InMemoryStore() if in_memory else None
        self._url = url
        self.memory = self._open()

    def _open(self) -> Holdfast:
        return open_for_tests(
            self.folder,
            store=self._store,
            clock=self.clock,
            ids=self.ids,
            embedder=HashEmbedder(),
            # What runs in the background comes at any time; here answers are compared.
            settings={
                "embed.background": False,
                "lifecycle.automatic": False,
                "store.url": self._url,
            },
        )

    def reopen(self) -> None:
        """Closed and opened again, where that keeps anything."""
        if self._store is None:
            self.memory.close()
            self.memory = self._open()
        else:
            self.memory.core.write_counters()

    def hub(self, name: str) -> HubMemory:
        return self.memory.hub(name)


def plain(answer: Any) -> Any:
    """An answer without what may differ between stores: the ids of passages are their own."""
    if isinstance(answer, Hit):
        return (plain(answer.memory), answer.passage, answer.score, answer.why, answer.parts)
    if isinstance(answer, Memory):
        return tuple(answer)
    if isinstance(answer, tuple) and hasattr(answer, "_fields"):
        if type(answer).__name__ == "Revision":
            answer = answer._replace(sequence=0)
        return (type(answer).__name__, *(plain(part) for part in answer))
    if isinstance(answer, list | tuple):
        notes = (getattr(answer, "degraded", ()), getattr(answer, "filtered", {}))
        return [*(plain(part) for part in answer), *notes]
    return answer


def seen(hub: HubMemory, at: datetime | None = None) -> list[Memory]:
    """Everything a person could list, without the counters, which have no history."""
    listed = hub.list(state="all", order="number", as_of=at)
    held = hub.list(quarantined=True, order="number", as_of=at)
    blank: dict[str, Any] = dict.fromkeys(COUNTERS, None)
    return [memory._replace(**blank) for memory in [*listed, *held]]


class Twins(RuleBasedStateMachine):
    """The same operations on both stores, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.root = tempfile.mkdtemp()
        self.sides = (
            self.on_trial(),
            Side(f"{self.root}/memory", in_memory=True),
        )
        self.past: list[tuple[str, datetime, list[Memory]]] = []
        self.purged: set[tuple[str, str]] = set()

    def on_trial(self) -> Side:
        return Side(f"{self.root}/sqlite")

    def teardown(self) -> None:
        """Whatever happened, these hold at the end of it."""
        try:
            for name in HUBS:
                self.the_whole_past_reads_as_it_was(name)
                self.each_revision_leads_to_the_next_and_the_last_to_the_row(name)
                self.an_export_comes_back_the_same(name)
                self.undoing_everything_returns_to_the_start(name)
            for side in self.sides:
                found = examine(side.memory.core).found
                assert found == [], found
        finally:
            for side in self.sides:
                side.memory.close()
            shutil.rmtree(self.root)

    def both(self, act: Callable[[Side], Any]) -> Any:
        """Does it on both sides; answers, or the errors they end with, must be alike."""
        outcomes: list[Any] = []
        for side in self.sides:
            try:
                outcomes.append(plain(act(side)))
            except HoldfastError as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]
        return outcomes[0]

    def change(self, name: str, act: Callable[[HubMemory], Any]) -> Any:
        """An operation that may change a hub; the state after it is written down."""
        outcome = self.both(lambda side: act(side.hub(name)))
        moment = self.sides[0].clock.now()
        self.past.append((name, moment, seen(self.sides[0].hub(name))))
        for side in self.sides:
            side.clock.tick()
        return outcome

    def pick(self, name: str, number: int, *, forgotten: bool = False) -> str:
        """Some memory of the hub, sometimes one that is not there."""
        with self.sides[0].memory.core.store.read() as reader:
            hub = reader.hub(name)
            assert hub is not None
            count = hub.numbers
        return f"#{number % (count + 2)}"

    def change_ids(self, name: str) -> list[str]:
        return [change.id for change in self.sides[0].hub(name).changes(limit=500)]

    @initialize(contents=st.lists(CONTENTS, min_size=2, max_size=6))
    def two_hubs(self, contents: list[str]) -> None:
        for name in HUBS:
            self.both(lambda side, name=name: side.memory.create_hub(name).info)
            for content in contents:
                self.change(name, lambda hub, content=content: hub.remember(content))

    @rule(name=st.sampled_from(HUBS), content=CONTENTS, details=DETAILS)
    def remember(self, name: str, content: str, details: dict[str, Any]) -> None:
        self.change(name, lambda hub: hub.remember(content, **details))

    @rule(name=st.sampled_from(HUBS), contents=st.lists(CONTENTS, max_size=4))
    def remember_many(self, name: str, contents: list[str]) -> None:
        self.change(name, lambda hub: hub.remember_many(contents))

    @rule(name=st.sampled_from(HUBS), content=CONTENTS, older=PICKS)
    def supersede(self, name: str, content: str, older: int) -> None:
        reference = self.pick(name, older)
        self.change(name, lambda hub: hub.remember(content, supersedes=reference))

    @rule(name=st.sampled_from(HUBS), which=PICKS, changes=CHANGES)
    def update(self, name: str, which: int, changes: dict[str, Any]) -> None:
        reference = self.pick(name, which)
        self.change(name, lambda hub: hub.update(reference, **changes))

    @rule(
        name=st.sampled_from(HUBS),
        which=PICKS,
        verb=st.sampled_from(("pin", "unpin", "archive", "forget", "restore")),
    )
    def one_word(self, name: str, which: int, verb: str) -> None:
        reference = self.pick(name, which)
        self.change(name, lambda hub: getattr(hub, verb)(reference))

    @rule(name=st.sampled_from(HUBS), which=st.lists(PICKS, min_size=1, max_size=3))
    def forget_many(self, name: str, which: list[int]) -> None:
        references = [self.pick(name, number) for number in which]
        self.change(name, lambda hub: hub.forget_many(references))

    @rule(name=st.sampled_from(HUBS), which=PICKS)
    def purge(self, name: str, which: int) -> None:
        reference = self.pick(name, which)
        self.change(name, lambda hub: hub.purge(reference))
        self.purged |= {(name, receipt.memory_id) for receipt in self.sides[0].hub(name).receipts()}

    @rule(name=st.sampled_from(HUBS), which=PICKS)
    def access(self, name: str, which: int) -> None:
        reference = self.pick(name, which)
        self.change(name, lambda hub: hub.access(reference))

    @rule(name=st.sampled_from(HUBS))
    def undo_the_last(self, name: str) -> None:
        self.change(name, lambda hub: hub.undo())

    @rule(name=st.sampled_from(HUBS), which=PICKS)
    def undo_any(self, name: str, which: int) -> None:
        ids = self.change_ids(name)
        if ids:
            self.change(name, lambda hub: hub.undo(ids[which % len(ids)]))

    @rule(days=st.sampled_from((1, 3, 30, 200)))
    def time_passes(self, days: int) -> None:
        for side in self.sides:
            side.clock.tick(days=days)

    @rule(name=st.sampled_from(HUBS), dry=st.booleans())
    def lifecycle(self, name: str, dry: bool) -> None:
        self.change(name, lambda hub: hub.lifecycle(dry_run=dry))

    @rule(name=st.sampled_from(HUBS), query=QUERIES, archived=st.booleans())
    def recall(self, name: str, query: str, archived: bool) -> None:
        self.both(lambda side: side.hub(name).recall(query, limit=20, include_archived=archived))
        self.both(lambda side: side.hub(name).recall(query, limit=3, meaning=False))

    @precondition(lambda self: self.past)
    @rule(query=QUERIES, which=PICKS)
    def recall_the_past(self, query: str, which: int) -> None:
        name, moment, _ = self.past[which % len(self.past)]
        self.both(lambda side: side.hub(name).recall(query, as_of=moment))

    @rule(name=st.sampled_from(HUBS), which=PICKS)
    def look_back(self, name: str, which: int) -> None:
        reference = self.pick(name, which)
        self.both(lambda side: side.hub(name).get(reference))
        self.both(lambda side: side.hub(name).history(reference))
        self.both(lambda side: side.hub(name).diff(reference))
        self.both(lambda side: side.hub(name).related(reference))
        self.both(lambda side: side.hub(name).changes(limit=9))

    @rule(
        name=st.sampled_from(HUBS),
        order=st.sampled_from(("newest", "oldest", "updated", "accessed", "number")),
        size=st.integers(1, 5),
    )
    def page(self, name: str, order: str, size: int) -> None:
        cursor = None
        while True:
            page = self.both(
                lambda side, cursor=cursor: [
                    (found := side.hub(name).list(order=order, limit=size, cursor=cursor)),
                    found.cursor,
                ]
            )
            cursor = page[1]
            if cursor is None:
                break

    @rule()
    def reopen(self) -> None:
        for side in self.sides:
            side.reopen()

    @invariant()
    def the_same_is_seen_on_both_sides(self) -> None:
        for name in HUBS:
            self.both(lambda side, name=name: seen(side.hub(name)))
            self.both(lambda side, name=name: side.hub(name).statistics())

    @rule(name=st.sampled_from(HUBS), content=CONTENTS, key=KEYS, path=PATHS)
    def remember_again(self, name: str, content: str, key: str | None, path: str | None) -> None:
        self.change(name, lambda hub: hub.remember(content, key=key, source_path=path))

    def the_whole_past_reads_as_it_was(self, name: str) -> None:
        for hub_name, moment, then in self.past:
            if hub_name == name:
                kept = [memory for memory in then if (name, memory.id) not in self.purged]
                for side in self.sides:
                    assert seen(side.hub(name), moment) == kept

    def each_revision_leads_to_the_next_and_the_last_to_the_row(self, name: str) -> None:
        """Field by field: what a revision set is what the next one found, and what the row has."""
        for side in self.sides:
            hub_id = side.hub(name).id
            with side.memory.core.store.read() as reader:
                memories = reader.memories(
                    hub_id, EVERYTHING, order="number", after=None, limit=1_000
                )
                for memory in memories:
                    state = memory
                    for revision in reversed(reader.revisions(hub_id, memory.id)):
                        for field, (old, new) in revision.fields.items():
                            assert getattr(state, field) == new, (field, revision)
                            state = state._replace(**{field: old})

    def an_export_comes_back_the_same(self, name: str) -> None:
        for side in self.sides:
            side.memory.core.write_counters()
        lines, other = (list(side.hub(name).export()) for side in self.sides)
        assert lines == other
        for in_memory in (False, True):
            folder = tempfile.mkdtemp(dir=self.root)
            fresh = Side(folder, in_memory=in_memory, now=self.sides[0].clock.now())
            imported = fresh.memory.import_hub(lines)
            assert list(imported.export()) == lines
            original = self.sides[0].hub(name)
            assert seen(imported) == seen(original)
            assert imported.receipts() == original.receipts()
            # When the lifecycle last ran is not part of an export.
            counted = original.statistics()._replace(lifecycle_at=None)
            assert imported.statistics() == counted
            assert examine(fresh.memory.core).found == []
            fresh.memory.close()

    def undoing_everything_returns_to_the_start(self, name: str) -> None:
        for _ in range(500):
            outcome = self.change(name, lambda hub: hub.undo())
            if outcome[0] is Conflict and "was a purge" in outcome[1]:
                # It names the change before the purge, which may well be meant.
                before = outcome[1].rpartition(" ")[2].rstrip("`.")
                outcome = self.change(name, methodcaller("undo", before))
            if outcome[0] is NotFound:
                break
            assert outcome[0] is not Conflict, outcome
        assert seen(self.sides[0].hub(name)) == []


Twins.TestCase.settings = settings(max_examples=12, stateful_step_count=30, print_blob=False)
TestTwins = Twins.TestCase


class PostgresTwins(Twins):
    """The same with a database in the place of the file."""

    def on_trial(self) -> Side:
        self.database = databases().make()
        return Side(f"{self.root}/postgres", url=databases().url(self.database, ROLE))

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            databases().give_back(self.database)


PostgresTwins.TestCase.settings = settings(max_examples=3, stateful_step_count=30, print_blob=False)
TestPostgresTwins = PostgresTwins.TestCase
