"""Passes, which write memories automatically: the journaler after a turn, consolidation, the flush
before a compaction. Each pass proposes, and rules check each proposal before it is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger


def logger(name: str) -> Logger:
    """The logger of that name, with a null handler: without one, Python would print to standard
    error, in the middle of a conversation."""
    import logging

    root = logging.getLogger("holdfast")
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    return logging.getLogger(name)


def prompt(name: str) -> str:
    """A prompt for a model or an agent, from its file."""
    path = os.path.join(os.path.dirname(__file__), "prompts", f"{name}.md")
    with open(path, encoding="utf-8") as file:
        return file.read().strip()
