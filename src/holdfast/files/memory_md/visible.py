"""MEMORY.md as a caller may see it."""

from __future__ import annotations

from holdfast.engine.scope import Scope
from holdfast.files.memory_md.diff import without
from holdfast.files.memory_md.document import TITLE, Block, Document, Item, Page, Section, Verbatim
from holdfast.files.memory_md.parse import parse


def visible_text(scope: Scope, text: str) -> str:
    """The file without what a caller may not see: what is private to others and, with a key, what
    the owner has written beside the memories."""
    document = parse(text)
    ids = [item.id for item in document.items if item.id]
    with scope.read() as reader:
        hidden = set(ids) - reader.memories_by_id(scope.hub_id, ids).keys()
    if scope.core.permit is None:
        return _without_private(document, hidden) if hidden else text
    # What stays free text is the frame: the title, and the space between the lines.
    shown_to_all = {"", TITLE}
    kept = tuple(
        block
        for block in document.blocks
        if not (isinstance(block, Item) and block.id is None)
        and not (isinstance(block, Verbatim) and block.raw.strip() not in shown_to_all)
    )
    return _without_private(Document(kept, document.newline), hidden, empty=True)


def _without_private(document: Document, hidden: set[str], *, empty: bool = False) -> str:
    """The document without these items. A heading over nothing else goes too: it is the category
    of what is private, and may say as much as that does. So does, if asked, one over nothing."""
    groups: list[list[Block]] = [[]]
    for block in document.blocks:
        if isinstance(block, (Section, Page)):
            groups.append([])
        groups[-1].append(block)
    kept = []
    for group in filter(None, groups):
        items = [block for block in group if isinstance(block, Item)]
        rest = "".join(block.raw for block in group if isinstance(block, Verbatim))
        private = (bool(items) or empty) and all(item.id in hidden for item in items)
        if not (private and isinstance(group[0], Section) and not rest.strip()):
            kept += group
    return without("".join(block.raw for block in kept), hidden)
