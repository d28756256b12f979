"""What a person should know of the store when a server starts: once, and not at every command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast


def tell_notes(memory: Holdfast, command: str, *, quiet: bool) -> None:
    """Says on standard error what the store would work better with."""
    if quiet:
        return
    for note in memory.core.store.notes():
        sys.stderr.write(f"holdfast {command}: {note}\n")
    sys.stderr.flush()
