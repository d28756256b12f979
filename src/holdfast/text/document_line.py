"""How a document of a hub's own folder is listed in the block: its path, and how it begins."""

from __future__ import annotations

# Enough to know whether it is worth reading.
_LINES = 2
_CHARS = 120
_READ = 2_000


def listed_text(path: str, content: str) -> str:
    """The path and the first lines of a document, on one line."""
    lines = (line.strip(" \t#*->=_") for line in content[:_READ].splitlines())
    text = " · ".join([line for line in lines if line][:_LINES])
    return f"{path}: {text if len(text) <= _CHARS else text[:_CHARS].rstrip() + '…'}"
