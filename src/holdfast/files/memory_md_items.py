"""Items of MEMORY.md as they are written: content and id become a bullet or a paragraph that parses
to just that. It knows the text of one item, not where it stands in a file.
"""

from __future__ import annotations

import re

from holdfast.files.memory_md import SPACE, Item
from holdfast.files.memory_md_marks import escaped, lines_of
from holdfast.files.memory_md_parse import BULLET, parse

# What has to stand alone on its line, so a comment behind it would change what a reader sees.
_LAST_ALONE = re.compile(r"[ \t]*(```|~~~|[-*+][ \t]|#)|.*\|[ \t]*$")


def item_text(content: str, memory_id: str, newline: str = "\n") -> str:
    """A bullet that holds this content."""
    first, *rest = escaped(content).split("\n")
    lines = [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
    return _with_comment(lines, memory_id, newline)


def _with_comment(lines: list[str], memory_id: str, newline: str) -> str:
    comment = f"<!-- {memory_id} -->"
    last = lines[-1] if len(lines) > 1 else BULLET.sub("", lines[-1], count=1)
    if _LAST_ALONE.match(last):
        lines.append(f"  {comment}")
    else:
        lines[-1] = f"{lines[-1].rstrip(SPACE)} {comment}"
    return newline.join(lines) + newline


def paragraph_text(content: str, memory_id: str, newline: str = "\n") -> str | None:
    """A paragraph that holds this content; None where only a bullet can."""
    lines = escaped(content).split("\n")
    lines[-1] += f" <!-- {memory_id} -->"
    raw = newline.join(lines) + newline
    found = parse(raw).blocks
    if len(found) == 1 and isinstance(found[0], Item):
        item = found[0]
        if not item.bullet and (item.id, item.content) == (memory_id, content):
            return raw
    return None


def rewritten(item: Item, content: str, memory_id: str, newline: str = "\n") -> Item:
    """The item with other content, still a paragraph where it was one and still can be."""
    raw = None if item.bullet else paragraph_text(content, memory_id, newline)
    bullet = raw is None
    raw = raw or item_text(content, memory_id, newline)
    return item._replace(raw=raw, id=memory_id, content=content, bullet=bullet)


def identified(item: Item, memory_id: str, newline: str = "\n") -> Item:
    """The item with an id, its text as it was typed."""
    lines = [line.rstrip("\r\n") for line in lines_of(item.raw)]
    if item.id is None:
        raw = _with_comment(lines, memory_id, newline)
    else:
        old = re.compile(rf"<!--[ \t]*{re.escape(item.id)}[ \t]*-->[ \t]*$")
        raw = newline.join(old.sub(f"<!-- {memory_id} -->", line) for line in lines) + newline
    found = parse(f"## x{newline}{raw}").items
    if [(one.id, one.content) for one in found] == [(memory_id, item.content)]:
        return item._replace(raw=raw, id=memory_id)
    return rewritten(item, item.content, memory_id, newline)
