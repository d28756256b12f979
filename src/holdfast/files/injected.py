"""MEMORY.md as it is put before an agent: a person's own text as it stands, and each memory by its
id, so that the styles can make its content harmless. Marks that only the mirror needs are gone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.engine.block import FileItem, FilePart
from holdfast.files.memory_md import TITLE, Item
from holdfast.files.memory_md_parse import parse
from holdfast.files.page_files import agreed_text

if TYPE_CHECKING:
    from holdfast.engine.core import Core

_MARKS = re.compile(r"<!-- updated \d{4}-\d\d-\d\d -->\r?\n?")


def file_parts(core: Core, hub_id: str) -> list[FilePart] | None:
    """The file that store and person last agreed on, in parts; None where there is none yet."""
    with core.store.read() as reader:
        text = agreed_text(reader, hub_id)
    return None if text is None else parts_of(text)


def parts_of(text: str) -> list[FilePart]:
    """The parts of a file's text. Its own title is left out: the styles have a heading."""
    out: list[FilePart] = []
    for block in parse(text).blocks:
        if isinstance(block, Item):
            out.append(FileItem(block.id, block.content))
            continue
        raw = _MARKS.sub("", block.raw).replace("\r\n", "\n")
        if not out and raw.startswith(TITLE):
            raw = raw.removeprefix(TITLE).lstrip("\n")
        if raw:
            out.append(raw)
    return out
