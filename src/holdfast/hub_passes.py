"""What a hub does by itself, as methods: the part of HubMemory that passes and the review inbox
are. Thin, like the rest of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.hub_base import HubBase

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.find import Reference
    from holdfast.engine.inbox import Chosen, Item


class HubPasses(HubBase):
    """The methods of a hub that are about automatic memory."""

    # The review inbox

    def review(
        self, *, kind: str | None = None, source: str | None = None, limit: int | None = None
    ) -> list[Item]:
        """What is kept and hidden until a person has looked at it, oldest first: of a kind
        (quarantined, conflict, low_trust), or from a source (mcp, an agent, a file or folder)."""
        return engine.inbox.review(
            self.core, self.id, self.name, kind=kind, source=source, limit=limit
        )

    def review_count(self) -> int:
        """How many items wait for review."""
        return engine.inbox.count(self.core, self.id, self.name)

    def approve(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        text: str | None = None,
        keep_both: bool = False,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list[Memory]:
        """Shows items of the review inbox: those named, or `every` one, those of a `kind` or from a
        `source`; one may be given another `text`. What an item contradicts, or was to renew, it
        takes the place of, unless `keep_both`. Returns the memories that say it now."""
        chosen = _chosen(references, every, kind, source)
        return engine.inbox.approve(
            self.core, self.id, self.name, chosen, text=text, keep_both=keep_both, reason=reason
        )

    def reject(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list[Memory]:
        """Archives items of the review inbox, hidden as they are; `undo` brings them back."""
        chosen = _chosen(references, every, kind, source)
        return engine.inbox.reject(self.core, self.id, self.name, chosen, reason=reason)


def _chosen(
    references: Reference | Iterable[Reference], every: bool, kind: str | None, source: str | None
) -> Chosen:
    named = (references,) if isinstance(references, str | int) else tuple(references)
    return engine.inbox.Chosen(named, every, kind, source)
