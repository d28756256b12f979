"""Random edits in MEMORY.md and in the store, with crashes between the steps of a sync: every text
that was ever acknowledged can be reached afterwards, from the store or from its history."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import holdfast
from holdfast import engine
from holdfast.domain.memory import Draft
from holdfast.domain.query import Filter
from holdfast.errors import Conflict
from holdfast.files import safe_read
from holdfast.files.memory_md import Document, MarkdownItem, Verbatim, disk, render
from holdfast.files.memory_md.cache import our_memories
from holdfast.files.memory_md.merge import StoreWriter
from holdfast.files.memory_md.parse import parse, rewritten
from holdfast.files.memory_md.sync import Mirror
from holdfast.testing import FixedClock
from holdfast.text.clean import content_hash
from tests.property.test_mirror_properties import STORED

# Few enough to meet each other again, odd enough to try the format.
TEXTS = st.sampled_from(["tea", "coffee", "Ann is tall.", "a\n\nb", "- - -", "x <!-- mem_1 -->"])
SOME = TEXTS | STORED
CATEGORIES = st.sampled_from(["fact", "person", "machine-runtime"])
WHICH = st.integers(0, 50)
CRASHES = ("taken in", "before the file", "after the file", "agreed")


class Crash(Exception):
    """The process ends here."""


@contextmanager
def crash_at(point: str) -> Iterator[None]:
    """Ends a sync at one of its steps."""
    apply, write = StoreWriter.apply, disk.write_atomic

    def taken(self: StoreWriter, *args: object) -> object:
        apply(self, *args)  # type: ignore[arg-type]
        raise Crash

    def before(*args: object, **values: object) -> None:
        raise Crash

    def after(*args: object, **values: object) -> None:
        write(*args, **values)  # type: ignore[arg-type]
        raise Crash

    patches = {
        "taken in": (StoreWriter, "apply", taken),
        "before the file": (disk, "write_atomic", before),
        "after the file": (disk, "write_atomic", after),
        "agreed": (Mirror, "_note_stamp", before),
    }
    with mock.patch.object(*patches[point]):  # type: ignore[call-overload]
        yield


class BothSides(RuleBasedStateMachine):
    """A person with an editor, an agent with tools, and a machine that loses power."""

    @initialize()
    def begin(self) -> None:
        # Nobody is saving this very moment, so there is nothing to wait for.
        self.no_pause = mock.patch.object(safe_read, "PAUSE_S", 0)
        self.no_pause.start()
        self.home = tempfile.mkdtemp()
        self.memory = holdfast.open(
            self.home,
            clock=FixedClock(),
            settings={"store.url": "memory:", "embed.model": "none", "actor": "ann"},
        )
        hub = self.memory.hub()
        self.core, self.hub_id, self.scope = self.memory.core, hub.id, hub.scope
        self.path = Path(hub.folder) / "MEMORY.md"
        self.mirror = Mirror(self.scope, str(self.path))
        self.acknowledged: set[str] = set()
        self.earlier: list[bytes] = []
        for number, category in enumerate(["fact", "fact", "person", "person", "routine"]):
            self.remember(f"To begin with, {number}.", category)
        self.sync(True)

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            try:
                self.sync(True)
            finally:
                self.memory.close()
                shutil.rmtree(self.home)
                self.no_pause.stop()

    # The agent

    @rule(text=SOME, category=CATEGORIES)
    def remember(self, text: str, category: str) -> None:
        draft = Draft(text, category=category, layer="long_term")
        engine.remember.remember(self.scope, draft)
        self.acknowledged.add(text)

    @rule(which=WHICH, text=SOME)
    def update(self, which: int, text: str) -> None:
        if chosen := self.one(which):
            engine.edit.update(self.scope, chosen, {"content": text})
            self.acknowledged.add(text)

    @rule(which=WHICH, category=CATEGORIES)
    def refile(self, which: int, category: str) -> None:
        if chosen := self.one(which):
            engine.edit.update(self.scope, chosen, {"category": category})

    @rule(which=WHICH, how=st.sampled_from(["forget", "archive", "restore"]))
    def hide(self, which: int, how: str) -> None:
        if chosen := self.one(which, hidden=how == "restore"):
            getattr(engine.edit, how)(self.scope, [chosen], "")

    @rule()
    def undo(self) -> None:
        try:
            engine.history.undo(self.scope)
        except (holdfast.NotFound, holdfast.Conflict, holdfast.AlreadyExists):
            return

    def one(self, which: int, *, hidden: bool = False) -> str | None:
        wanted = Filter(states=(), forgotten=None if hidden else False)
        found = engine.listing.list_memories(self.scope, wanted)
        return found[which % len(found)].id if found else None

    # The person

    @property
    def document(self) -> Document:
        return parse(self.path.read_bytes().decode()) if self.path.exists() else Document(())

    def save(self, blocks: list[object]) -> None:
        text = "".join(block.raw for block in blocks)  # type: ignore[attr-defined]
        self.path.write_bytes(text.encode())

    def chosen(self, which: int) -> tuple[list[object], int | None]:
        blocks: list[object] = list(self.document.blocks)
        places = [at for at, block in enumerate(blocks) if isinstance(block, MarkdownItem)]
        return blocks, places[which % len(places)] if places else None

    @rule(which=WHICH, text=SOME)
    def change_line(self, which: int, text: str) -> None:
        blocks, at = self.chosen(which)
        if at is not None:
            item = blocks[at]
            assert isinstance(item, MarkdownItem)
            blocks[at] = rewritten(item, text, item.id or "mem_foreign")
            self.save(blocks)

    @rule(text=SOME, heading=st.sampled_from(["## Fact", "## Person", "## Machine / Runtime"]))
    def type_line(self, text: str, heading: str) -> None:
        # Nobody types this; the store has no carriage returns, and keeps a line break for one
        # (tests/unit/files/test_mirror.py).
        text = text.replace("&#13;", "")
        if not text.strip():
            return
        old = self.path.read_bytes().decode() if self.path.exists() else ""
        typed = f"{old}\n\n{heading}\n- {text}"
        self.path.write_bytes(typed.encode())

    @rule(which=WHICH)
    def delete_line(self, which: int) -> None:
        blocks, at = self.chosen(which)
        if at is not None:
            del blocks[at]
            self.save(blocks)

    @rule(which=WHICH, typed=SOME, told=SOME)
    def change_both(self, which: int, typed: str, told: str) -> None:
        blocks, at = self.chosen(which)
        item = blocks[at] if at is not None else None
        with self.core.store.read() as reader:
            ours = {memory.id for memory in our_memories(self.core, reader, self.hub_id)}
        if isinstance(item, MarkdownItem) and item.id in ours:
            self.change_line(which, typed)
            engine.edit.update(self.scope, item.id, {"content": told})
            self.acknowledged.add(told)

    @rule(which=WHICH, to=WHICH)
    def move_line(self, which: int, to: int) -> None:
        blocks, at = self.chosen(which)
        if at is not None:
            line = blocks.pop(at)
            blocks.insert(to % (len(blocks) + 1), line)
            self.save(blocks)

    @rule(which=WHICH)
    def copy_line(self, which: int) -> None:
        blocks, at = self.chosen(which)
        if at is not None:
            self.save([*blocks[: at + 1], *blocks[at:]])

    @rule()
    def lose_all_comments(self) -> None:
        text = re.sub(r"[ \t]*<!-- mem_\w+ -->", "", render(self.document))
        self.path.write_bytes(text.encode())

    @rule(number=st.integers(0, 9))
    def write_a_note(self, number: int) -> None:
        self.save([*self.document.blocks, Verbatim(f"\n\nA note of my own, {number}.\n\n")])

    @rule()
    def delete_the_file(self) -> None:
        self.path.unlink(missing_ok=True)

    @precondition(lambda self: self.earlier)
    @rule(which=WHICH)
    def check_out_an_earlier_file(self, which: int) -> None:
        self.path.write_bytes(self.earlier[which % len(self.earlier)])

    # The machine

    @rule(confirm=st.booleans())
    def sync(self, confirm: bool) -> None:
        typed, notes = self.typed(), self.notes()
        try:
            self.mirror.sync(confirm=confirm)
        except Conflict:
            assert not confirm
            return
        self.acknowledged |= typed
        assert self.notes() >= notes
        self.all_is_well()
        self.earlier.append(self.path.read_bytes())

    @rule(point=st.sampled_from(CRASHES))
    def crash_in_a_sync(self, point: str) -> None:
        typed = self.typed()
        with crash_at(point):
            try:
                self.mirror.sync(confirm=True)
            except Crash:
                pass
            else:
                self.acknowledged |= typed
        # What was typed is where it was, or in the store.
        assert typed <= self.typed() | self.reachable()
        assert self.acknowledged <= self.reachable()

    # What must hold

    def typed(self) -> set[str]:
        return {item.content for item in self.document.items if item.content.strip()}

    def kept_aside(self) -> list[str]:
        """A file that looks cut off is kept as it is, beside the one that is restored."""
        return [kept.read_bytes().decode() for kept in self.path.parent.glob("MEMORY.md.kept-*")]

    def notes(self) -> set[str]:
        texts = [render(self.document), *self.kept_aside()]
        return set(re.findall(r"A note of my own, \d\.", "\n".join(texts)))

    def reachable(self) -> set[str]:
        everything = Filter(states=(), forgotten=None, quarantined=None)
        texts = set()
        with self.core.store.read() as reader:
            for revision in reader.scan_revisions(self.hub_id):
                texts.update(revision.fields.get("content", ()))
        found = engine.listing.list_memories(self.scope, everything)
        for kept in self.kept_aside():
            texts.update(item.content for item in parse(kept).items)
        return texts | {memory.content for memory in found}

    def all_is_well(self) -> None:
        lost = self.acknowledged - self.reachable()
        # A text that differs only in white space at its ends, or in how its letters are composed,
        # is the same memory to the store, which keeps the first.
        known = {content_hash(text) for text in self.reachable()}
        assert not [text for text in lost if content_hash(text) not in known]
        text = self.path.read_bytes().decode()
        with self.core.store.read() as reader:
            agreed = reader.agreed(self.hub_id, "MEMORY.md")
            ours = {memory.id: memory for memory in our_memories(self.core, reader, self.hub_id)}
        assert agreed is not None
        assert agreed.text == text
        items = self.document.items
        assert {item.id: item.content for item in items} == {
            memory.id: memory.content for memory in ours.values()
        }
        assert len(items) == len(ours)
        assert all(item.category in (None, ours[item.id or ""].category) for item in items)
        again = self.mirror.sync()
        assert (again.written, again.taken_in, again.archived) == (False, (), ())


TestBothSides = BothSides.TestCase
TestBothSides.settings = settings(max_examples=120, stateful_step_count=30)


def test_a_short_file_that_ends_within_a_line_is_kept_aside_with_its_notes() -> None:
    both = BothSides()
    both.begin()
    try:
        both.delete_the_file()
        both.write_a_note(0)
        both.type_line("tea", "## Fact")
        both.sync(True)
        assert [text for text in both.kept_aside() if "A note of my own, 0." in text]
    finally:
        both.teardown()
