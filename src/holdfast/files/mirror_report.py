"""What a sync of MEMORY.md did, as a value, and several of them as one. It knows nothing of how a
sync goes about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.mirror import Clash


class SyncReport(NamedTuple):
    """What a sync did: memories that came from the file (new, changed, moved or brought back),
    whether the file was written, what was archived, where both sides had changed, what could not
    be taken in, what else is worth knowing, and the change sets to undo."""

    taken_in: tuple[Memory, ...] = ()
    written: bool = False
    archived: tuple[Memory, ...] = ()
    clashes: tuple[Clash, ...] = ()
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def together(reports: Sequence[SyncReport]) -> SyncReport:
    """What several did that ended in a written file, as one."""

    def memories(found: Iterable[Memory]) -> tuple[Memory, ...]:
        return tuple({memory.id: memory for memory in found}.values())

    return SyncReport(
        memories(memory for report in reports for memory in report.taken_in),
        True,
        memories(memory for report in reports for memory in report.archived),
        tuple(clash for report in reports for clash in report.clashes),
        tuple(dict.fromkeys(text for report in reports for text in report.refused)),
        tuple(dict.fromkeys(text for report in reports for text in report.notes)),
        tuple(change for report in reports for change in report.changes),
    )
