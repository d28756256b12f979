"""Text that is to be added to long-term memory, in pieces: one for each bullet, paragraph or other
block, with the category that its heading names. It knows markdown, not what is remembered already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.files.memory_md import Item, Section, category_of
from holdfast.files.memory_md_parse import parse

_ANY_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")


def pieces(text: str) -> list[tuple[str, str | None]]:
    """Text to be added, as (content, category): a piece for each bullet, paragraph and other block;
    headings of any level name categories."""
    out: list[tuple[str, str | None]] = []
    category: str | None = None
    for block in parse(text.replace("\r\n", "\n"), whole=True).blocks:
        if isinstance(block, Section):
            category = block.category
        elif isinstance(block, Item):
            out.append((block.content, category))
        else:
            for part in _parts(block.raw):
                if heading := _ANY_HEADING.fullmatch(part):
                    category = category_of(heading[1])
                else:
                    out.append((part, category))
    return [(content, category) for content, category in out if content.strip()]


def _parts(raw: str) -> Iterator[str]:
    """Free text in parts: headings, blocks of code, and what stands between empty lines."""
    part: list[str] = []
    fence = ""
    for line in raw.splitlines():
        alone = not fence and (_ANY_HEADING.fullmatch(line) or not line.strip())
        if alone and part:
            yield "\n".join(part)
            part = []
        if alone:
            yield line
            continue
        part.append(line)
        if found := _FENCE.match(line):
            # A fence is closed by the signs it was opened with.
            fence = "" if found[1] == fence else fence or found[1]
    if part:
        yield "\n".join(part)
