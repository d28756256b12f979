"""Where passes tell what went wrong: Python's log, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger


def logger(name: str) -> Logger:
    """The logger of that name. Where nobody listens to the log, Python would print to the screen,
    in the middle of somebody's conversation."""
    import logging

    root = logging.getLogger("holdfast")
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    return logging.getLogger(name)
