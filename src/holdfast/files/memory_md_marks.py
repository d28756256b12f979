"""The marks in the text of an item of MEMORY.md: the comment with its id, and the references that
stand for what would break it. It knows lines and strings; what an item is, the parser knows.
"""

from __future__ import annotations

import re

from holdfast.files.memory_md import SPACE

# Looked for where white space begins, and not again at each character of it.
ID_COMMENT = re.compile(r"(?<![ \t])[ \t]*+<!--[ \t]*+(mem_[0-9A-Za-z_-]{1,64})[ \t]*+-->[ \t]*+$")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

# What would break an item is written as an HTML reference, which every reader shows as meant. What
# looks like such a reference already gets one `amp;` more, so that nothing is ever ambiguous.
_REFERENCE = re.compile(r"&((?:amp;)*)(lt;!--|#(?:9|10|13|32|45);)")
_DECODED = {"lt;!--": "<!--", "#9;": "\t", "#10;": "\n", "#13;": "\r", "#32;": " ", "#45;": "-"}


def lines_of(text: str) -> list[str]:
    """The lines with their ends. Only a line feed ends one; `splitlines` knows others."""
    return _LINES.findall(text)


# ── ids ──────────────────────────────────────────────────────────────────────────────────────


def id_of(line: str) -> str | None:
    """The id at the end of a line."""
    if "mem_" not in line:
        return None
    found = _last_comment(line.rstrip("\r\n"))
    return found[1] if found else None


def without_id(line: str, memory_id: str) -> str:
    """A line of an item without the comment that names it."""
    text = line.rstrip("\r\n")
    found = _last_comment(text)
    if found is None or found[1] != memory_id:
        return line
    return text[: found.start()] + line[len(text) :]


def without_any_id(line: str) -> str:
    """A line that names no memory, whatever ids were typed at its end."""
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    while found := _last_comment(text):
        text = text[: found.start()]
    return text + end


def _last_comment(text: str) -> re.Match[str] | None:
    """The comment with an id at the end; of many in a line only the last can be it."""
    at = text.rfind("<!--")
    return ID_COMMENT.match(text, len(text[:at].rstrip(" \t"))) if at >= 0 else None


# ── references ───────────────────────────────────────────────────────────────────────────────


def escaped(content: str) -> str:
    """Content in a form that an item can hold; `unescaped` is its exact inverse."""
    text = _REFERENCE.sub(lambda found: f"&amp;{found[1]}{found[2]}", content)
    text = text.replace("<!--", "&lt;!--").replace("\r", "&#13;")
    body = text.strip(SPACE)
    start = text.find(body)
    front, back = text[:start], text[start + len(body) :]
    first = body.partition("\n")[0]
    if body.startswith("-") and not first.strip("- \t"):
        # After the bullet's own dash it would be a ruled line.
        body = "&#45;" + body[1:]
    return _references(front) + body + _references(back)


def _references(space: str) -> str:
    return "".join(f"&#{ord(character)};" for character in space)


def unescaped(text: str) -> str:
    return _REFERENCE.sub(
        lambda found: f"&{found[1][4:]}{found[2]}" if found[1] else _DECODED[found[2]], text
    )
