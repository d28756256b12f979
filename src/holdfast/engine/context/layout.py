"""Fits items into a block of limited size, in an order that changes little between blocks.

It knows styles and budgets, not where items come from. Items are given best first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

from holdfast.domain.memory import CATEGORIES, number_of_close
from holdfast.engine.context.budget import Budget, Candidates
from holdfast.engine.context.styles import PARTS, BlockItem, Part, Style, marked
from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple

# The largest share of one memory: a pasted page must not displace all the others.
ITEM_SHARE = 4
# The same for hits of a question, which were cut to the relevant part already: in a small block
# they may take more.
ANSWER_SHARE = 2
# Items are removed in steps of about an eighth of those that fit: the first part then stays the
# same for several additions, at the cost of at most an eighth of the room.
_STEP_SHARE = 8
# The same if the limit is a number of lines: an eighth of it is one or two.
_STEP_OF_BOUND = 8
# Longer texts are cut to this many characters per unit of the budget before they are measured.
_CHARS_PER_UNIT_MAX = 8
_GAP = "\n\n"
_CUT = "…"


class FileItem(NamedTuple):
    """A memory as it is written in MEMORY.md; without an id it is not stored yet."""

    id: str | None
    content: str


# A person's own text, or a memory.
FilePart: TypeAlias = str | FileItem


class Block:
    """A block for a prompt that is being filled. `room` is the rest of the budget."""

    def __init__(
        self,
        look: Style,
        hub: str,
        budget: Budget,
        *,
        items_max: int,
        waiting: int = 0,
        counts_left: bool = True,
    ) -> None:
        self._look = look
        self._waiting = waiting
        # Whether the last line says how many were left out.
        self._counts_left = counts_left
        self._hub = hub
        self._budget = budget
        self.chosen: list[BlockItem] = []
        # The items left out, in runs with one reason each.
        self._left: list[tuple[Sequence[BlockItem], str]] = []
        self._ids: set[str] = set()
        self._headings: set[tuple[str, str]] = set()
        self._text: str | None = None  # Only for a style that is cut as text.
        self._rendered: dict[tuple[str, str, str], tuple[str, int]] = {}
        self.room = budget.limit - budget.measure(self._frame(items_max))
        if self.room < 0:
            # A block always says that memories wait for review.
            self._waiting = 0
            self.room = budget.limit - budget.measure(self._frame(items_max))
        if self.room < 0:
            raise InvalidInput(
                f"The budget is {budget.limit}; the empty block alone needs"
                f" {budget.limit - self.room} {budget.unit}.",
                hint="Allow more.",
            )

    def _frame(self, left: int) -> str:
        look = self._look
        return look.opening(self._hub) + look.footer(left, self._waiting) + look.closing

    # Filling

    def add_best(
        self,
        items: Sequence[BlockItem],
        room: int,
        reason: str,
        *,
        most: int | None = None,
        beyond: str = "",
    ) -> None:
        """Adds as many of the best as there is room for; the last ones are removed first, in steps.
        `most` limits those that are not pinned, and `beyond` is the reason for the others."""
        new = items
        if self._ids and isinstance(items, Candidates):
            new = items.without(self._ids)
        elif self._ids:
            new = [item for item in items if item.memory.id not in self._ids]
        if self._look.cut_as_text and new and new[0].part == "long_term":
            self._add_text(self._as_file(new), Candidates.of_none(), room, reason)
            return
        fitting = self._fitting(new if most is None else _first(new, most), room)
        is_bounded = most is not None and _ends_at(new, len(fitting), most)
        keep = self._in_steps(new, len(fitting), _STEP_OF_BOUND if is_bounded else 1)
        reason = beyond if is_bounded else reason
        self._take(fitting[:keep])
        self._leave_out(new[keep:], reason)

    def _leave_out(self, items: Sequence[BlockItem], reason: str) -> None:
        if items:
            self._left.append((items, reason))

    @property
    def left_out(self) -> list[tuple[BlockItem, str]]:
        return [(item, reason) for items, reason in self._left for item in items]

    def add_fitting(self, items: Sequence[BlockItem], room: int, reason: str) -> None:
        """Adds each item that fits, in this order; those after one that does not fit are still
        tried."""
        before = self.room
        for item in items:
            if item.memory.id in self._ids:
                continue
            fitting = self._fitting([item], room - (before - self.room))
            self._take(fitting)
            if not fitting:
                self._leave_out([item], reason)

    def _fitting(
        self, items: Iterable[BlockItem], room: int, *, headings: bool = True
    ) -> list[BlockItem]:
        """The first items that fit, each no longer than its share; without headings that are there
        already."""
        out: list[BlockItem] = []
        used = 0
        known = set(self._headings)
        for item in items:
            heading = (item.part, item.section)
            cost = self._heading_cost(item) if headings and heading not in known else 0
            short = self._shortened(item)
            cost += self._cost(short)
            if used + cost > room or (short.text == _CUT != item.text):
                # An item that is cut to nothing is left out.
                break
            used += cost
            known.add(heading)
            out.append(short)
        return out

    def _shortened(self, item: BlockItem) -> BlockItem:
        share = self._budget.limit // (ANSWER_SHARE if item.part == "relevant" else ITEM_SHARE)
        text = item.text[: self._budget.limit * _CHARS_PER_UNIT_MAX]
        while (cost := self._cost(item._replace(text=text))) > share:
            # Slightly less than in proportion, so that few rounds are needed.
            text = text[: min(len(text) - 2, len(text) * share * 9 // (cost * 10))].rstrip() + _CUT
            if len(text) < 2:
                break
        return item._replace(text=text)

    def _cost(self, item: BlockItem) -> int:
        return self._measured(item)[1]

    def _written_item(self, item: BlockItem) -> str:
        return self._measured(item)[0]

    def _measured(self, item: BlockItem) -> tuple[str, int]:
        """An item's text and its size, cached because both are needed several times."""
        key = (item.memory.id, item.part, item.text)
        found = self._rendered.get(key)
        if found is None:
            text = self._look.item(item)
            found = self._rendered[key] = (text, self._budget.measure(text))
        return found

    def _heading_cost(self, item: BlockItem) -> int:
        return self._budget.measure(self._look.heading(item.section) + self._look.ending)

    def _in_steps(self, items: Sequence[BlockItem], fits: int, least: int = 1) -> int:
        """How many items to keep, so that the boundary seldom moves while items are added.

        Counted from the end, where the next one is removed: that end stays in place when new items
        are added at the front.
        """
        if fits == len(items):
            return fits
        step = max(least, 1 << max(0, (fits // _STEP_SHARE).bit_length() - 1))
        leaving = -(-(len(items) - fits) // step) * step
        pinned = sum(1 for item in items[:fits] if item.memory.pinned)
        return max(len(items) - leaving, pinned, 0)

    def _take(self, items: Iterable[BlockItem]) -> None:
        for item in items:
            heading = (item.part, item.section)
            if heading not in self._headings:
                self._headings.add(heading)
                self.room -= self._heading_cost(item)
            self.room -= self._cost(item)
            self._ids.add(item.memory.id)
            self.chosen.append(item)

    # Styles with a file as the long-term part

    def add_file(self, file: Sequence[FilePart], items: Candidates, room: int, reason: str) -> None:
        """Adds the file, with those of its memories that are among the items, which are given best
        first.

        A person's own text takes precedence over memories. A style that is cut as text is cut at
        its end.
        """
        missing = dict.fromkeys(items.ids)
        parts: list[str | FileItem | BlockItem] = []
        for part in file:
            if isinstance(part, str):
                parts.append(part)
            elif part.id is None:
                parts.append(f"- {marked(part.content)}\n")
            elif part.id in missing:
                del missing[part.id]
                parts.append(part)
        if missing:  # Not in the file yet.
            parts += self._as_file([*items.among([*missing])])
        if self._look.cut_as_text:
            self._add_text(parts, items, room, reason)
        else:
            self._add_text(self._only_best(parts, items, room, reason), items, room, reason)

    def _as_file(self, items: Sequence[BlockItem]) -> list[str | BlockItem]:
        """The content that the file would have."""
        parts: list[str | BlockItem] = []
        for section, group in groupby(laid_out(items, self._look), key=lambda one: one.section):
            parts.append((self._look.ending if parts else "") + self._look.heading(section))
            parts += group
        return parts

    def _only_best(
        self, parts: Sequence[str | FileItem | BlockItem], items: Candidates, room: int, reason: str
    ) -> list[str | BlockItem]:
        text = "".join(part for part in parts if isinstance(part, str))
        # The file has its own headings.
        left = room - self._budget.measure(text + _GAP)
        fitting = self._fitting(items, left, headings=False)
        keep = self._in_steps(items, len(fitting))
        self._leave_out(items[keep:], reason)
        kept = {item.memory.id: item for item in fitting[:keep]}
        out: list[str | BlockItem] = []
        for part in parts:
            if isinstance(part, str):
                out.append(part)
            elif (one := kept.get(_id_of(part))) is not None:
                out.append(one)
        return out

    def _add_text(
        self,
        parts: Sequence[str | FileItem | BlockItem],
        items: Candidates,
        room: int,
        reason: str,
    ) -> None:
        """Adds text of the file, with its items in between, which are read in turn."""
        in_file = items.among([_id_of(one) for one in parts if isinstance(one, FileItem)])
        coming, came = iter(in_file), 0
        text, used = "", 0
        begun: list[tuple[int, BlockItem]] = []  # and where each begins
        late: list[BlockItem] = []
        for part in parts:
            if used > room:
                late += [part] if isinstance(part, BlockItem) else []
                continue
            if isinstance(part, FileItem):
                part, came = next(coming), came + 1
            piece = part if isinstance(part, str) else self._look.item(part)
            if not isinstance(part, str):
                begun.append((len(text), part))
            text += piece
            used += self._budget.measure(piece)
        self._text = self._cut(text, room)
        self.room -= self._budget.measure(self._text + _GAP)
        # The last ones may have been cut off completely.
        inside = [item for start, item in begun if start < len(self._text)]
        self.chosen += inside
        self._ids.update(item.memory.id for item in inside)
        self._leave_out([item for start, item in begun if start >= len(self._text)], reason)
        self._leave_out(in_file[came:], reason)
        self._leave_out(late, reason)

    def _cut(self, text: str, room: int) -> str:
        """The longest beginning that fits with a `…` after it; the whole text if that fits."""
        if self._budget.measure(text) <= room:
            return text
        low, high = 0, min(len(text), room * _CHARS_PER_UNIT_MAX)
        while low < high:
            middle = (low + high + 1) // 2
            if self._budget.measure(text[:middle] + "…") <= room:
                low = middle
            else:
                high = middle - 1
        return text[:low] + "…"

    # Rendering

    def finish(self) -> tuple[str, int]:
        """The text and its size. If the whole is larger than the sum of its parts, as with some
        tokenizers, the last items are removed again."""
        while True:
            text = self._written()
            size = self._budget.measure(text) if text else 0
            if size <= self._budget.limit:
                self.chosen = laid_out(self.chosen, self._look)
                return text, size
            if not self.chosen:
                raise InvalidInput(
                    f"The budget is {self._budget.limit}; the empty block alone needs {size}"
                    f" {self._budget.unit}.",
                    hint="Allow more.",
                )
            if self._text is not None and self.chosen[-1].part == "long_term":
                self._text = self._cut(self._text, self._budget.measure(self._text) - 1)
                if self._text == "…":
                    self.chosen.clear()
                continue
            gone = self.chosen.pop()
            self._leave_out([gone], "there is no room for it")

    def _written(self) -> str:
        look = self._look
        text = self._text or ""
        if not (self.chosen or self._left or text.strip() or look.empty_frame):
            return ""
        out = [look.opening(self._hub)]
        items = self.chosen
        if self._text is not None:
            out.append(self._text)
            items = [item for item in items if item.part != "long_term"]
            if items:
                out.append(_GAP)
        for (_, section), group in groupby(
            laid_out(items, look), key=lambda item: (item.part, item.section)
        ):
            out.append(look.heading(section))
            out += [self._written_item(item) for item in group]
            out.append(look.ending)
        left = sum(len(items) for items, _ in self._left) if self._counts_left else 0
        out.append(look.footer(left, self._waiting))
        out.append(look.closing)
        # The last section needs no empty line after it.
        text = "".join(out)
        return re.sub(r"\n+\Z", "\n", text)


def _first(items: Sequence[BlockItem], most: int) -> Iterable[BlockItem]:
    """The first items, and further pinned ones, which precede all others."""
    for at, item in enumerate(items):
        if _ends_at(items, at, most):
            return
        yield item


def _ends_at(items: Sequence[BlockItem], at: int, most: int) -> bool:
    return most <= at < len(items) and not items[at].memory.pinned


def _id_of(part: FileItem | BlockItem) -> str:
    found = part.memory.id if isinstance(part, BlockItem) else part.id
    assert found is not None, "what has no id is a person's own text"
    return found


def laid_out(items: Iterable[BlockItem], look: Style) -> list[BlockItem]:
    """The order of the items in the block: by part, then by section in a fixed order. Within a
    section, new ones are at the end, or before the one that they may replace; relevant ones are in
    the given order, best first, standing facts by importance and turns by time."""
    as_came: dict[Part, list[BlockItem]] = {"standing": [], "relevant": [], "ended": []}
    sorted_ones: list[BlockItem] = []
    for item in items:
        as_came.get(item.part, sorted_ones).append(item)
    sorted_ones.sort(key=lambda item: _place(item, look))
    before = [item for item in sorted_ones if item.part != "recent"]
    recent = sorted_ones[len(before) :]
    if look.order == "number":
        before = newer_first(before)
    return [
        *newer_first(as_came["standing"]),
        *before,
        *as_came["relevant"],
        *recent,
        *as_came["ended"],
    ]


def newer_first(items: list[BlockItem]) -> list[BlockItem]:
    """Puts a memory that may be meant to replace an older one of the same section before that one:
    agents believe the first line that answers, and it is the last to be removed."""
    ordered = list(items)
    for item in items:
        older = number_of_close(item.memory)
        if older is None:
            continue
        section = [one.memory.number if one.section == item.section else 0 for one in ordered]
        if older in section and section.index(older) < (at := section.index(item.memory.number)):
            ordered.insert(section.index(older), ordered.pop(at))
    return ordered


def _place(item: BlockItem, look: Style) -> tuple[int, int, str, float, int]:
    memory, part = item.memory, PARTS.index(item.part)
    if item.part == "recent":
        at = (memory.occurred_at or memory.created_at).timestamp()
        return (part, 0, "", at, memory.number)
    if look.order == "accessed":
        # The exact order of this style: by category, then by last access, newest first.
        at = (memory.accessed_at or memory.created_at).timestamp()
        return (part, 0, item.section, -at, -memory.number)
    known = CATEGORIES.index(item.section) if item.section in CATEGORIES else len(CATEGORIES)
    return (part, known, item.section, 0.0, memory.number)
