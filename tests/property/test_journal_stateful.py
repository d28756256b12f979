"""Journals under random edits on both sides and kills between any two steps: the file and the
store end up in step, and every text that was ever acknowledged can be reached."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from holdfast import engine
from holdfast.domain.query import Filter
from holdfast.files import journal
from holdfast.files.journal import day_sync
from holdfast.files.journal import entries as journal_entries
from holdfast.testing import open_for_tests
from holdfast.text.clean import clean_text, is_visible

DAY = "2026-01-14"
WORDS = [
    "tea",
    "milk",
    "the deploy failed",
    "the deploy worked",
    "a\n\n  b",
    "```",
    "---",
    "14:30 x",
]
TEXTS = st.sampled_from(WORDS) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
).map(clean_text).filter(is_visible)
PLACES = st.integers(0, 30)
STEPS = [
    *((day_sync, name) for name in ("apply_day", "note_clashes", "follow_store")),
    *((day_sync, name) for name in ("set_paths", "write_file")),
    *((journal_entries, "agree"), (journal, "append_line"), (engine.remember, "remember")),
    *((engine.remember, "remember_many"), (engine.edit, "archive"), (engine.edit, "update")),
]


class Killed(BaseException):
    """Stands for a kill."""


@contextmanager
def killed_at(step: tuple[Any, str], call: int, *, after: bool) -> Iterator[None]:
    """Kills the process, so to speak, at the n-th call of a function: before or after it."""
    module, name = step
    real = getattr(module, name)
    calls = Counter[str]()

    def cut(*args: Any, **values: Any) -> Any:
        calls[name] += 1
        if calls[name] == call and not after:
            raise Killed
        result = real(*args, **values)
        if calls[name] == call:
            raise Killed
        return result

    with mock.patch.object(module, name, cut):
        try:
            yield
        except Killed:
            return


class Journals(RuleBasedStateMachine):
    """One hub, one day, a person with an editor and an agent with a store."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="holdfast-journals-")
        self.memory = open_for_tests(self.folder, settings={"store.url": "memory:"})
        self.hub = self.memory.create_hub("work")
        self.acknowledged: set[str] = set()
        # Nobody saves while this one looks.
        self.pause = mock.patch.object(day_sync, "PAUSE_S", 0.0)
        self.pause.start()
        self.kill: tuple[tuple[Any, str], int, bool] | None = None
        self.dirty = False

    def teardown(self) -> None:
        self.pause.stop()
        self.memory.close()
        shutil.rmtree(self.folder)

    @property
    def path(self) -> Path:
        return Path(self.hub.folder) / f"{DAY}.md"

    @contextmanager
    def maybe_killed(self) -> Iterator[None]:
        self.dirty = True
        if self.kill is None:
            yield
            return
        step, call, after = self.kill
        self.kill = None
        with killed_at(step, call, after=after):
            yield

    @rule(step=st.sampled_from(STEPS), call=st.integers(1, 2), after=st.booleans())
    def the_next_operation_is_killed(self, step: tuple[Any, str], call: int, after: bool) -> None:
        self.kill = (step, call, after)

    @rule(text=TEXTS)
    def an_entry_is_added(self, text: str) -> None:
        with self.maybe_killed():
            self.hub.journal_add(text)
            self.acknowledged.add(journal_entries.plain(text))

    @rule()
    def the_journal_is_read(self) -> None:
        with self.maybe_killed():
            for day in self.hub.journal():
                self.acknowledged.update(journal_entries.plain(one.text) for one in day.entries)

    @rule(text=TEXTS)
    def a_tool_remembers(self, text: str) -> None:
        with self.maybe_killed():
            self.hub.remember(text, layer="journal", occurred_at="2026-01-14T08:00:00Z")
            self.acknowledged.add(journal_entries.plain(text))

    @precondition(lambda self: self.path.exists())
    @rule(
        place=PLACES, text=TEXTS, what=st.sampled_from(["add", "edit", "remove", "swap", "empty"])
    )
    def a_person_edits_the_file(self, place: int, text: str, what: str) -> None:
        self.dirty = True
        lines = self.path.read_bytes().decode().split("\n")
        at = place % len(lines)
        if what == "add":
            lines[at:at] = journal_entries.render(text).split("\n")
        elif what == "edit":
            lines[at] += " " + text.replace("\n", " ")
        elif what == "remove":
            del lines[at]
        elif what == "swap":
            lines = lines[at:] + lines[:at]
        else:
            lines = []
        self.path.write_bytes("\n".join(lines).encode())

    @precondition(lambda self: self.path.exists())
    @rule()
    def the_file_is_deleted(self) -> None:
        self.dirty = True
        self.path.unlink()

    def _any(self, place: int, *, forgotten: bool = False) -> Any:
        found = self.hub.list(layer="journal", forgotten=forgotten, order="number")
        return found[place % len(found)].id if found else None

    @rule(place=PLACES, text=TEXTS)
    def a_memory_is_updated(self, place: int, text: str) -> None:
        if chosen := self._any(place):
            with self.maybe_killed():
                self.hub.update(chosen, content=text)
                self.acknowledged.add(journal_entries.plain(text))

    @rule(place=PLACES, text=TEXTS)
    def a_memory_is_updated_where_the_file_is_not_at_hand(self, place: int, text: str) -> None:
        with self.hub.core.store.read() as reader:
            wanted = Filter(layers=("journal",))
            found = reader.memories(self.hub.id, wanted, order="number", after=None, limit=100)
        if found:
            self.dirty = True
            chosen = found[place % len(found)].id
            engine.edit.update(self.hub.scope, chosen, {"content": text})
            self.acknowledged.add(journal_entries.plain(text))

    @rule(place=PLACES, keep=st.sampled_from(["store", "file", "both"]))
    def a_conflict_is_settled(self, place: int, keep: str) -> None:
        with self.maybe_killed():
            if found := self.hub.conflicts():
                self.hub.settle(found[place % len(found)].id, keep=keep)

    @rule(place=PLACES)
    def a_memory_is_forgotten(self, place: int) -> None:
        if chosen := self._any(place):
            with self.maybe_killed():
                self.hub.forget(chosen)

    @rule(place=PLACES)
    def a_memory_is_restored(self, place: int) -> None:
        if (chosen := self._any(place, forgotten=True)) and not self._path_taken(chosen):
            with self.maybe_killed():
                self.hub.restore(chosen)

    def _path_taken(self, chosen: str) -> bool:
        with self.hub.core.store.read() as reader:
            memory = reader.memory(self.hub.id, chosen)
            assert memory is not None
            return bool(
                memory.source_path and reader.memory_by_path(self.hub.id, memory.source_path)
            )

    @invariant()
    def every_acknowledged_text_can_be_reached(self) -> None:
        with self.hub.core.store.read() as reader:
            found = set()
            for memory in reader.memories(
                self.hub.id, engine_everything(), order="number", after=None, limit=10_000
            ):
                found.add(journal_entries.plain(memory.content))
                for revision in reader.revisions(self.hub.id, memory.id):
                    pair = revision.fields.get("content", ())
                    found.update(journal_entries.plain(text) for text in pair)
        in_file = (
            journal_entries.plain(self.path.read_bytes().decode()) if self.path.exists() else ""
        )
        lost = {text for text in self.acknowledged if text not in found and text not in in_file}
        assert not lost

    @rule()
    def both_sides_end_up_in_step(self) -> None:
        assert self.hub.sync_journals(confirm=True) == [] or self.hub.conflicts()
        days = self.hub.journal()
        entries = [entry for day in days for entry in day.entries]
        for entry in entries:
            assert entry.memory is not None and entry.memory.forgotten_at is None
            assert journal_entries.plain(entry.text) == journal_entries.plain(entry.memory.content)
        ids = [entry.memory.id for entry in entries if entry.memory]
        assert len(ids) == len(set(ids))
        assert {memory.id for memory in self.hub.list(layer="journal")} <= set(ids)
        before = (self.hub.changes(limit=1), self.path.read_bytes() if self.path.exists() else b"")
        again = self.hub.journal()
        assert [day.entries for day in again] == [day.entries for day in days]
        assert before == (
            self.hub.changes(limit=1),
            self.path.read_bytes() if self.path.exists() else b"",
        )


def engine_everything() -> Any:
    from holdfast.domain.query import EVERYTHING

    return EVERYTHING


TestJournals = Journals.TestCase
TestJournals.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
