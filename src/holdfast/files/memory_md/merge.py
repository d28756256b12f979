"""Three sides of one MEMORY.md: what store and file last agreed on, what the file says now, what
the store says now; and what follows for each memory. It decides and writes nothing.

Of two changes that cannot both be had, the one that would be lost without a trace wins, because the
store has its own history: a text of the file that the store has never had is always taken in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from holdfast.domain.memory import Memory
from holdfast.files.memory_md.document import Document, Item
from holdfast.files.merge import Changed, changed


class View(NamedTuple):
    """What the merge may know of the store.

    `ours` are the memories that belong in the file; `elsewhere` are others whose id is in the file.
    `texts_since` gives the texts a memory has had since it last said what is given (all of them for
    None); `twins` gives the long-term memories that say exactly this.
    """

    ours: Mapping[str, Memory]
    elsewhere: Mapping[str, Memory]
    texts_since: Callable[[Memory, str | None], Sequence[str]]
    twins: Callable[[str], Sequence[Memory]]


class Edit(NamedTuple):
    """A memory that the file changes; `place` is the item's place among the file's items."""

    place: int
    memory: Memory
    content: str
    category: str | None


class New(NamedTuple):
    """A memory that the file adds; `beside` is the one it clashes with, if it does, and `twin` one
    that says the same already, so that only the clash has to be noted."""

    place: int
    content: str
    category: str | None
    beside: Memory | None = None
    twin: Memory | None = None


class Plan(NamedTuple):
    """What taking the file in means. `links` maps each item to its memory; items without one are
    removed from the file, unless they are new."""

    edits: tuple[Edit, ...]
    new: tuple[New, ...]
    gone: tuple[Memory, ...]
    links: Mapping[int, str]


def merge(base: Document | None, file: Document, view: View) -> Plan:
    """The plan for a file, given what it was."""
    return _Merge(base, file, view).plan()


class _Merge:
    def __init__(self, base: Document | None, file: Document, view: View) -> None:
        self.before: dict[str, Item] = {}
        for item in base.items if base else ():
            if item.id is not None:
                self.before.setdefault(item.id, item)
        self.items = file.items
        self.view = view
        self.edits: list[Edit] = []
        self.new: list[New] = []
        self.gone: list[Memory] = []
        self.links: dict[int, str] = {}
        self.claimed: set[str] = set()

    def plan(self) -> Plan:
        strangers = []
        ours, agreed, claimed = self.view.ours, self.before, self.claimed
        for index, item in enumerate(self.items):
            # The very block that both sides agreed on, as in nearly all of a large file: whatever
            # the store says of it by now, the file says nothing new.
            mine = item.id or ""
            if agreed.get(mine) is item and item.content and mine in ours and mine not in claimed:
                claimed.add(mine)
                self.links[index] = mine
                continue
            known = item.id is not None and item.id not in self.claimed
            if not known or not self._known(index, item, item.id or ""):
                strangers.append(index)
        for index in strangers:
            self._stranger(index, self.items[index])
        for memory_id, before in self.before.items():
            memory = self.view.ours.get(memory_id)
            if memory is None or memory_id in self.claimed:
                continue
            # What the store has changed since, nobody has seen in the file and taken out.
            if changed(before.content, memory.content, None) is Changed.FILE:
                self.gone.append(memory)
        return Plan(tuple(self.edits), tuple(self.new), tuple(self.gone), self.links)

    def _known(self, index: int, item: Item, memory_id: str) -> bool:
        """Deals with an item whose id means something here; False where it is a stranger."""
        memory = self.view.ours.get(memory_id)
        before = self.before.get(memory_id)
        if memory is not None:
            if not item.content:
                # The text was deleted and only its invisible comment is left: it was removed.
                return True
            self.claimed.add(memory_id)
            self._compare(index, item, memory, before)
            return True
        if not item.content or (before is not None and before.content == item.content):
            # The store has taken it away, and nobody has touched it in the file since.
            self.claimed.add(memory_id)
            return True
        other = self.view.elsewhere.get(memory_id)
        if other is not None and _can_return(other):
            self.claimed.add(memory_id)
            self._link(index, other.id)
            self.edits.append(Edit(index, other, item.content, item.category))
            return True
        return False

    def _compare(self, index: int, item: Item, memory: Memory, before: Item | None) -> None:
        content, category = memory.content, memory.category
        self._link(index, memory.id)
        agreed = before.content if before else None
        side = changed(agreed, memory.content, item.content)
        if side is Changed.FILE:
            content = item.content
        elif side is Changed.BOTH and item.content not in self.view.texts_since(memory, agreed):
            self._clash(index, item, memory)
        if item.category and before is not None and item.category != before.category:
            category = item.category
        if (content, category) != (memory.content, memory.category):
            self.edits.append(Edit(index, memory, content, category))

    def _clash(self, index: int, item: Item, memory: Memory) -> None:
        shown = [twin for twin in self.view.twins(item.content) if twin.id in self.view.ours]
        twin = shown[0] if shown else None
        self.new.append(New(index, item.content, item.category, beside=memory, twin=twin))

    def _stranger(self, index: int, item: Item) -> None:
        """A bullet without an id that means something: a memory whose comment was lost, one that
        comes back, or a new one."""
        if not item.content:
            return
        for twin in self.view.twins(item.content):
            if twin.id in self.claimed:
                continue
            shown = twin.id in self.view.ours
            if not shown and not _can_return(twin):
                continue
            self.claimed.add(twin.id)
            self._link(index, twin.id)
            moved = item.category is not None and item.category != twin.category
            if moved or not shown:
                self.edits.append(Edit(index, twin, item.content, item.category))
            return
        self.new.append(New(index, item.content, item.category))

    def _link(self, index: int, memory_id: str) -> None:
        self.links[index] = memory_id


def _can_return(memory: Memory) -> bool:
    """Whether a line in the file brings it back; what was forgotten stays forgotten."""
    return (
        memory.visible
        and memory.state == "archived"
        and memory.layer == "long_term"
        and memory.superseded_by is None
    )
