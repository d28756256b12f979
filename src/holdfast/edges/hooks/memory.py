"""The memory as hooks open it: what is said is noted by itself, unless the person has decided
otherwise."""

from __future__ import annotations

from typing import Any

from holdfast.api import memory as library
from holdfast.api.memory import Holdfast
from holdfast.settings import load


def open_memory(home: str, *, words_only: bool) -> Holdfast:
    """The memory of a home. Whoever set up hooks wants them to take notes; a setting that says
    something else wins."""
    flags: dict[str, Any] = {"embed.background": not words_only}
    if load(home).origin("shadowJournal.enabled") == "default":
        flags["shadowJournal.enabled"] = True
        # Whoever only set up hooks did not ask for files, which every operation would pay for.
        flags["shadowJournal.files"] = False
    if words_only:
        flags["embed.model"] = "none"
    return library.open(home, settings=flags)
