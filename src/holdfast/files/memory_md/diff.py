"""Compares a new text for MEMORY.md with the old one: which lines are existing memories, unchanged
or edited, and which are new."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from holdfast.engine.context.styles import MINION, marked
from holdfast.engine.core import Scope
from holdfast.files.memory_md import (
    SPACE,
    TITLE,
    Block,
    Document,
    MarkdownItem,
    PageBreak,
    Section,
    Verbatim,
    dated,
    ended,
    lines_of,
    updated_of,
    without_any_id,
    without_id,
)
from holdfast.files.memory_md.parse import BULLET, identified, parse, rewritten
from holdfast.text.facts.sameness import STEPS_MAX, similarity

# From this similarity on, a changed text is treated as the same memory. In the tests, everyday
# edits score 0.6 and more, different facts in the same words less ("The database runs on port
# 5432", "The web server runs on port 8080": 0.59). A threshold that is too high is the milder
# mistake: the old text is archived and the new one becomes a memory of its own.
ALIKE_LEAST = 0.6
# The most pairs of changed lines that are compared: 100 with 100 take a second for prose. Beyond
# that, only lines at the same position are compared, because such a large rewrite keeps little.
_PAIRS_MAX = 10_000
# The most work for all comparisons, in steps of 0.2 µs: ten seconds for lines that were crafted to
# take long. It is enough to compare 100 lines of 250 characters of prose letter by letter.
_STEPS_MAX = 50_000_000
_BYTE_ORDER_MARK = "\ufeff"
_MORE = re.compile(r"\(\d+ more not shown\)\s*\Z")


# ── what a reader sees ───────────────────────────────────────────────────────────────────────


def shown(text: str) -> str:
    """MEMORY.md without the parts that only the sync needs: ids, dates of sections, Windows line
    ends."""
    parts: list[str] = []
    before: Block | None = None
    for block in parse(text).blocks:
        part = _shown(block)
        if isinstance(block, MarkdownItem) and isinstance(before, MarkdownItem):
            # Without the id of the item above, a paragraph directly below it would belong to it.
            parts.append("" if BULLET.match(part) else "\n")
        parts.append(part)
        before = block
    out = "".join(parts)
    return out.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n")


def _shown(block: Block) -> str:
    if isinstance(block, (Verbatim, PageBreak)):
        return block.raw
    lines = lines_of(block.raw)
    if isinstance(block, Section):
        return lines[0]
    if block.id is None:
        return block.raw
    bare = [without_id(line, block.id) for line in lines]
    # A comment on a line of its own leaves no line behind.
    return "".join(
        new for old, new in zip(lines, bare, strict=True) if new == old or new.strip(SPACE)
    )


def without(text: str, ids: Iterable[str]) -> str:
    """MEMORY.md without the items with these ids, as seen by somebody who was not shown them."""
    hidden = set(ids)
    return "".join(
        block.raw
        for block in parse(text).blocks
        if not (isinstance(block, MarkdownItem) and block.id in hidden)
    )


# ── the new text ─────────────────────────────────────────────────────────────────────────────


def taken_over(seen: Document, text: str, now: Document) -> Document:
    """The new text of MEMORY.md as a document in which items have the ids of their memories.

    `seen` is the file as its author saw it, `now` the current file: text that a person has added in
    between stays.
    """
    text = without_frame(text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n"))
    if seen.newline != "\n":
        text = text.replace("\n", seen.newline)
    given = parse(text, whole=True)
    blocks = _dated(_known_again(seen, given), seen)
    blocks = _with_what_came_since(blocks, seen, now)
    if now.blocks and now.blocks[0].raw.startswith(_BYTE_ORDER_MARK):
        blocks.insert(0, Verbatim(_BYTE_ORDER_MARK))
    return Document(tuple(blocks), seen.newline)


def without_frame(text: str) -> str:
    """The text without the frame of an injected block, in case the author has copied that too."""
    text = ended(text, "\n")
    opening = MINION.opening("").strip("-\n")
    before, found, after = text.partition(opening)
    if found and not before.strip("- \n"):
        text = after.lstrip("\n")
    return _MORE.sub("", text)


def _known_again(seen: Document, given: Document) -> list[Block]:
    before = {item.id: item for item in seen.items if item.id is not None}
    items = given.items
    found = _matched(list(before.values()), items)
    own = Counter(_free_lines(seen))
    texts: set[str] = set()
    out: list[Block] = []
    at = -1
    for place, block in enumerate(given.blocks):
        if not isinstance(block, MarkdownItem):
            out.append(block)
            continue
        at += 1
        old = found.get(at)
        if old is not None and old.id is not None:
            # In an injected block, structure is escaped; it is still the same text.
            if block.content == _as_injected(old) != old.content:
                out.append(rewritten(block, old.content, old.id, seen.newline))
            else:
                out.append(identified(_nameless(block), old.id, seen.newline))
        elif not block.content:
            continue
        elif _is_free_text(block, given.blocks[place + 1 : place + 2], own):
            out.append(Verbatim("".join(without_any_id(line) for line in lines_of(block.raw))))
        elif block.content not in texts:
            # A text that was not duplicated before is one memory.
            out.append(_nameless(block))
        texts.add(block.content)
    return out


def _nameless(item: MarkdownItem) -> MarkdownItem:
    return item if item.id is None else item._replace(id=None, raw=_shown(item))


def _is_free_text(item: MarkdownItem, after: Sequence[Block], own: Counter[str]) -> bool:
    """Whether the lines are a person's own text: they were before, are above the first section, or
    introduce a list."""
    lines = Counter(_said(item))
    if lines <= own:
        own.subtract(lines)
        return True
    if item.bullet:
        return False
    leads_in = item.content.endswith(":") and bool(after) and isinstance(after[0], MarkdownItem)
    return item.category is None or leads_in


def _said(block: Block) -> Iterator[str]:
    """The non-empty lines."""
    return (line.strip() for line in lines_of(_shown(block)) if line.strip())


def _matched(
    before: Sequence[MarkdownItem], items: Sequence[MarkdownItem]
) -> dict[int, MarkdownItem]:
    """Matches items, by position, with earlier ones: by id, then by equal text, then by
    similarity."""
    left = {item.id: item for item in before}
    found: dict[int, MarkdownItem] = {}
    for at, item in enumerate(items):
        if item.id in left:
            found[at] = left.pop(item.id)
    for old_key, new_key in (
        (_in_its_section, _in_its_section),
        (_anywhere, _anywhere),
        (_as_injected, _anywhere),
    ):
        by_text: dict[str | tuple[str, str | None], list[MarkdownItem]] = {}
        for old in reversed(left.values()):
            by_text.setdefault(old_key(old), []).append(old)
        for at, item in enumerate(items):
            if at not in found and by_text.get(new_key(item)):
                found[at] = by_text[new_key(item)].pop()
                del left[found[at].id]
    rest = [(at, item) for at, item in enumerate(items) if at not in found and item.content]
    return {**found, **dict(_most_alike(list(left.values()), rest))}


def _in_its_section(item: MarkdownItem) -> tuple[str, str | None]:
    return item.content, item.category


def _anywhere(item: MarkdownItem) -> str:
    return item.content


def _as_injected(item: MarkdownItem) -> str:
    """Its content as escaped and indented by a style."""
    return marked(item.content).replace("\n  ", "\n")


def _most_alike(
    before: Sequence[MarkdownItem], items: Sequence[tuple[int, MarkdownItem]]
) -> Iterator[tuple[int, MarkdownItem]]:
    """Pairs of a changed item and its earlier version, the most similar first."""
    if len(before) * len(items) <= _PAIRS_MAX:
        pairs = [(old, new) for old in range(len(before)) for new in range(len(items))]
    else:
        pairs = [(place, place) for place in range(min(len(before), len(items)))]
    steps_max = min(STEPS_MAX, _STEPS_MAX // max(1, len(pairs)))
    scored = []
    for old, new in pairs:
        one, other = before[old].content, items[new][1].content
        score = similarity(one, other, least=ALIKE_LEAST, steps_max=steps_max)
        if score >= ALIKE_LEAST:
            moved = before[old].category != items[new][1].category
            scored.append((-score, moved, old, new))
    taken: set[int] = set()
    used: set[int] = set()
    for _, _, old, new in sorted(scored):
        if old not in used and new not in taken:
            used.add(old)
            taken.add(new)
            yield items[new][0], before[old]


def _dated(blocks: list[Block], seen: Document) -> list[Block]:
    """The sections with the dates they had."""
    dates = {
        block.category: day
        for block in reversed(seen.blocks)
        if isinstance(block, Section) and (day := updated_of(block))
    }
    out: list[Block] = []
    for block in blocks:
        if isinstance(block, Section) and block.category in dates and updated_of(block) is None:
            block = dated(block, dates[block.category], seen.newline)
        out.append(block)
    return out


# ── a person's own text ──────────────────────────────────────────────────────────────────────


def _with_what_came_since(blocks: list[Block], seen: Document, now: Document) -> list[Block]:
    """The blocks, with text that was added to the file and that their author has not seen."""
    known = Counter(_free_lines(seen)) + Counter(line for block in blocks for line in _said(block))
    category: str | None = None
    for block in now.blocks:
        if isinstance(block, Section):
            category = block.category
        elif _is_own(block):
            new = [line for line in lines_of(block.raw) if _is_new(line, known)]
            if new:
                own = Verbatim(now.newline + "".join(ended(line, now.newline) for line in new))
                at = _end_of_section(blocks, category)
                blocks[at:at] = [own]
    return blocks


def _is_new(line: str, known: Counter[str]) -> bool:
    said = line.strip()
    if not said or known[said] > 0:
        known[said] -= 1
        return False
    return True


def _end_of_section(blocks: Sequence[Block], category: str | None) -> int:
    inside = category is None
    for at, block in enumerate(blocks):
        if isinstance(block, Section):
            if inside:
                return at
            inside = block.category == category
    return len(blocks)


def _free_lines(document: Document) -> Iterator[str]:
    for block in document.blocks:
        if _is_own(block):
            yield from _said(block)


def _is_own(block: Block) -> bool:
    """Whether it is a person's own: free text, or a line that could not be stored."""
    return isinstance(block, Verbatim) or (isinstance(block, MarkdownItem) and block.id is None)


def dropped_text(seen: Document, made: Document) -> str:
    """A person's own lines that the new text has dropped."""
    left = Counter(line for block in made.blocks for line in _said(block))
    out = []
    for block in seen.blocks:
        if isinstance(block, Verbatim):
            for line in lines_of(block.raw):
                said = line.strip()
                if said and said != TITLE and said != _BYTE_ORDER_MARK:
                    if left[said] > 0:
                        left[said] -= 1
                    else:
                        out.append(ended(line, seen.newline))
    return "".join(out)


def visible_text(scope: Scope, text: str) -> str:
    """MEMORY.md without the parts that a caller may not see: private memories of others and, for a
    caller with a key, the owner's own text."""
    document = parse(text)
    ids = [item.id for item in document.items if item.id]
    with scope.core.read() as reader:
        hidden = set(ids) - reader.memories_by_id(scope.hub_id, ids).keys()
    if scope.core.permit is None:
        return _without_private(document, hidden) if hidden else text
    # Only the title and the blank lines remain as free text.
    shown_to_all = {"", TITLE}
    kept = tuple(
        block
        for block in document.blocks
        if not (isinstance(block, MarkdownItem) and block.id is None)
        and not (isinstance(block, Verbatim) and block.raw.strip() not in shown_to_all)
    )
    return _without_private(Document(kept, document.newline), hidden, empty=True)


def _without_private(document: Document, hidden: set[str], *, empty: bool = False) -> str:
    """The document without these items. A heading with nothing else below it is removed too,
    because the category of a private memory may reveal as much as the memory. With `empty`,
    headings that had nothing below them are also removed."""
    groups: list[list[Block]] = [[]]
    for block in document.blocks:
        if isinstance(block, (Section, PageBreak)):
            groups.append([])
        groups[-1].append(block)
    kept = []
    for group in filter(None, groups):
        items = [block for block in group if isinstance(block, MarkdownItem)]
        rest = "".join(block.raw for block in group if isinstance(block, Verbatim))
        private = (bool(items) or empty) and all(item.id in hidden for item in items)
        if not (private and isinstance(group[0], Section) and not rest.strip()):
            kept += group
    return without("".join(block.raw for block in kept), hidden)
