"""MEMORY.md rewritten at random, by several authors and beside a person with an editor: every text
that was ever acknowledged can be reached, and what did not change stays the same memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import holdfast
from holdfast import HubMemory
from holdfast.domain.query import Filter
from holdfast.files import safe_read
from holdfast.files.memory_md.diff import shown
from holdfast.files.memory_md.disk import MirrorFiles
from holdfast.files.memory_md.edit import Rewritten
from holdfast.files.memory_md.pages import joined, split
from holdfast.files.memory_md.parse import parse
from holdfast.testing import FixedClock
from holdfast.text.clean import content_hash, is_visible
from tests.property.test_mirror_properties import STORED, TEXT

SETTINGS = {"store.url": "memory:", "embed.model": "none", "actor": "ann"}
# Few enough to meet each other again.
TEXTS = st.sampled_from(["tea", "green tea", "coffee", "Ann is tall.", "a\n\nb", "- - -", "1. x"])
CATEGORIES = st.sampled_from(["fact", "person", "odd-one"])
WHICH = st.integers(0, 50)


@contextmanager
def a_hub(**more: object) -> Iterator[HubMemory]:
    with (
        tempfile.TemporaryDirectory() as home,
        mock.patch.object(safe_read, "PAUSE_S", 0),
        holdfast.open(home, clock=FixedClock(), settings={**SETTINGS, **more}) as memory,
    ):
        yield memory.hub()


def reachable(hub: HubMemory) -> set[str]:
    """Every text there is or was, and what a rewrite kept aside."""
    everything = Filter(states=(), forgotten=None, quarantined=None)
    with hub.core.store.read() as reader:
        texts = {
            text
            for revision in reader.scan_revisions(hub.id)
            for text in revision.fields.get("content", ())
        }
        found = reader.memories(hub.id, everything, order="number", after=None, limit=500)
        texts |= {memory.content for memory in found}
    return texts


def in_files(hub: HubMemory) -> dict[str, str]:
    texts = {path.name: path.read_bytes().decode() for path in Path(hub.folder).glob("*.md")}
    return {item.id or "": item.content for item in joined(texts).items}


def put_in(hub: HubMemory, contents: list[str]) -> dict[str, str]:
    """Memories with these texts; which id says what."""
    for number, content in enumerate(contents):
        hub.remember(content, category="fact", layer="long_term", session=str(number))
    hub.sync()
    return {m.id: m.content for m in hub.list()}


@settings(max_examples=60, deadline=None)
@given(st.lists(STORED, max_size=5), st.booleans())
def test_a_rewrite_to_the_same_text_changes_nothing(contents: list[str], pages: bool) -> None:
    with a_hub(**{"files.per_category": pages}) as hub:
        put_in(hub, contents)
        text = hub.read_memory_md()
        before, files = hub.changes(), in_files(hub)
        if text is not None:
            assert hub.rewrite_memory_md(text) == Rewritten()
            assert (hub.changes(), in_files(hub)) == (before, files)


@settings(max_examples=60, deadline=None)
@given(st.lists(STORED, min_size=1, max_size=5, unique_by=content_hash), TEXTS, st.data())
def test_the_others_stay_the_same_memories_when_one_is_added_or_left_out(
    contents: list[str], added: str, data: st.DataObject
) -> None:
    with a_hub() as hub:
        before = put_in(hub, contents)
        document = parse(Path(hub.memory_md).read_bytes().decode())
        gone = data.draw(st.sampled_from(document.items))
        rest = "".join(block.raw for block in document.blocks if block is not gone)
        done = hub.rewrite_memory_md(f"{shown(rest)}\n- {added}\n")
        now = {m.id: m.content for m in hub.list()}
        for memory_id, content in before.items():
            if memory_id != gone.id:
                assert now[memory_id] == content
        assert {m.id for m in (*done.archived, *done.changed)} <= {gone.id}
        assert set(before.values()) <= reachable(hub)


@settings(max_examples=50, deadline=None)
@example([], "<!-- mem_1 --><!-- mem_1 -->")
@given(st.lists(STORED, max_size=4), TEXT.filter(is_visible))
def test_any_text_can_be_the_new_one_and_one_undo_takes_it_back(
    contents: list[str], text: str
) -> None:
    with a_hub() as hub:
        before = put_in(hub, contents)
        done = hub.rewrite_memory_md(text)
        assert set(before.values()) <= reachable(hub)
        assert in_files(hub) == {m.id: m.content for m in hub.list()}
        assert len(done.changes) <= 1
        again = hub.sync()
        assert (again.taken_in, again.archived, again.written) == ((), (), False)
        for change in done.changes:
            hub.undo(change)
        assert {m.id: m.content for m in hub.list()} == before


class Crash(Exception):
    """The process ends here."""


class Authors(RuleBasedStateMachine):
    """Two agents that read and rewrite, a person with an editor, and a machine that fails."""

    @initialize(pages=st.booleans())
    def begin(self, pages: bool) -> None:
        self.no_pause = mock.patch.object(safe_read, "PAUSE_S", 0)
        self.no_pause.start()
        self.home = tempfile.mkdtemp()
        self.memory = holdfast.open(
            self.home, clock=FixedClock(), settings={**SETTINGS, "files.per_category": pages}
        )
        self.hub = self.memory.hub()
        self.acknowledged: set[str] = set()
        self.read: dict[str, str] = {}
        for number in range(4):
            self.hub.remember(f"To begin with, {number}.", category="fact", layer="long_term")
        self.hub.sync()

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            # Also of an example that fails: looking for a smaller one opens hundreds of homes, and
            # a server has no connections for all of them.
            try:
                self.all_is_well()
            finally:
                self.memory.close()
                shutil.rmtree(self.home)
                self.no_pause.stop()

    @rule(agent=st.sampled_from(["one", "two"]))
    def look(self, agent: str) -> None:
        self.read[agent] = self.hub.read_memory_md(source_agent=agent) or ""

    @rule(
        agent=st.sampled_from(["one", "two"]),
        drop=WHICH,
        text=TEXTS | STORED,
        heading=st.sampled_from(["## Fact", "## Person", "## Odd / One"]),
        crash=st.none() | st.integers(0, 3),
    )
    def rewrite(self, agent: str, drop: int, text: str, heading: str, crash: int | None) -> None:
        seen = self.read.get(agent)
        if not seen:
            return
        unseen = self.contents() - {item.content for item in parse(seen, whole=True).items}
        lines = seen.splitlines(keepends=True)
        del lines[drop % len(lines)]
        new = "".join(lines) + f"\n{heading}\n- {text}\n"
        try:
            with self.dying(crash):
                self.hub.rewrite_memory_md(new, source_agent=agent)
        except Crash:
            assert self.acknowledged <= self.known()
            self.hub.sync(confirm=True)
            return
        # What the author has not seen is still there.
        assert unseen <= self.contents()
        self.look(agent)
        self.all_is_well()

    @rule(text=TEXTS | STORED, heading=st.sampled_from(["## Fact", "## Person"]))
    def append(self, text: str, heading: str) -> None:
        done = self.hub.append_memory_md(f"{heading}\n- x{text}\n", source_agent="one")
        self.acknowledged |= {m.content for m in done.added}
        assert {m.id for m in done.added} <= in_files(self.hub).keys()
        # Whoever adds a line knows of it, so leaving it out later is meant.
        self.look("one")

    @rule(text=TEXTS | STORED, category=CATEGORIES)
    def remember(self, text: str, category: str) -> None:
        self.hub.remember(text, category=category, layer="long_term")
        self.acknowledged.add(text)

    @rule(text=TEXTS | STORED)
    def type_line(self, text: str) -> None:
        path = Path(self.hub.memory_md)
        path.write_bytes(f"{path.read_bytes().decode()}\n\n## Person\n- {text}".encode())
        typed = {item.content for item in parse(path.read_bytes().decode()).items if item.content}
        if not self.hub.sync(confirm=True).refused:
            self.acknowledged |= typed

    @rule()
    def compact(self) -> None:
        self.hub.compact()

    @rule()
    def undo(self) -> None:
        try:
            self.hub.undo()
        except (holdfast.NotFound, holdfast.Conflict, holdfast.AlreadyExists):
            return

    @contextmanager
    def dying(self, after: int | None) -> Iterator[None]:
        """Ends the process when so many files have been written."""
        put, left = MirrorFiles._put, [after]

        def die(*args: Any) -> None:
            if left[0] == 0:
                raise Crash
            left[0] = None if left[0] is None else left[0] - 1
            put(*args)

        with mock.patch.object(MirrorFiles, "_put", die):
            yield

    def contents(self) -> set[str]:
        return {m.content for m in self.hub.list()}

    def known(self) -> set[str]:
        found = {content_hash(text) for text in reachable(self.hub)}
        return {text for text in self.acknowledged | self.contents() if content_hash(text) in found}

    def all_is_well(self) -> None:
        assert self.acknowledged <= self.known()
        self.hub.sync(confirm=True)
        there = {key: text for key, text in in_files(self.hub).items() if key}
        assert there == {m.id: m.content for m in self.hub.list(layer="long_term")}
        again = self.hub.sync()
        assert (again.written, again.taken_in, again.archived) == (False, (), ())
        texts = {p.name: p.read_bytes().decode() for p in Path(self.hub.folder).glob("*.md")}
        assert split(joined(texts)) == texts


TestAuthors = Authors.TestCase
TestAuthors.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
