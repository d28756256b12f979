"""Stops a sync of journals that would archive a large part of them: more likely a folder that was
swapped, or a file that was cut, than a wish. It counts, and knows nothing of texts.
"""

from __future__ import annotations

from datetime import date

from holdfast.domain.query import Filter
from holdfast.engine.listing import scan_memories
from holdfast.files.journal_base import Place, name_of

# The same bounds as for MEMORY.md: more than a third of all, and more than a few.
_SHARE = 3
_LEAST = 3


class Guard:
    """Decides for one sync of any number of days."""

    def __init__(self, place: Place, *, confirm: bool = False) -> None:
        self._place = place
        self._confirm = confirm
        self._entries: int | None = None

    def refuses(self, day: date, gone: int) -> bool:
        """Whether so many entries may not go from a day. What is gone from other days, and waits,
        counts as well."""
        withheld = self._place.look.withheld
        others = sum(held.gone for name, held in [*withheld.items()] if name != name_of(day))
        gone += others
        if self._confirm or gone <= _LEAST:
            return False
        return gone * _SHARE > self._count()

    def note(self, day: date, gone: int) -> str:
        return (
            f"{name_of(day)} lacks {gone} of its entries, and the journals together too many to "
            "archive them unasked. If that is meant, say so with `holdfast sync --confirm`; to "
            "have them back, delete the file."
        )

    def _count(self) -> int:
        if self._entries is None:
            place = self._place
            wanted = Filter(layers=("journal",), states=("active", "cooling"))
            found = scan_memories(place.core, place.hub_id, place.hub, wanted)
            self._entries = sum(1 for _ in found)
        return self._entries
