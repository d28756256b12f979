"""The review inbox of a hub on a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.client import values
from holdfast.client.base import RemoteBase, reference_text

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.domain.review import Item
    from holdfast.engine.reading.lookup import Reference

# The methods are those of `HubMemory`, where each says what it does.


class RemoteReview(RemoteBase):
    def review(
        self, *, kind: str | None = None, source: str | None = None, limit: int | None = None
    ) -> list[Item]:
        found = self._get("/review", kind=kind, source=source, limit=limit)["data"]
        return [_item(one) for one in found]

    def review_count(self) -> int:
        count: int = self._get("/review/count")["data"]["count"]
        return count

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
        body = _chosen(references, every, kind, source, reason)
        body |= {"text": text, "keep_both": keep_both}
        shown = values.memories_of(self._send("/review/approve", body)["data"])
        if text is not None:
            for memory in shown:
                self._note_redacted(text, memory.content)
        return shown

    def reject(
        self,
        references: Reference | Iterable[Reference] = (),
        *,
        every: bool = False,
        kind: str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> list[Memory]:
        body = _chosen(references, every, kind, source, reason)
        return values.memories_of(self._send("/review/reject", body)["data"])


def _chosen(
    references: Reference | Iterable[Reference],
    every: bool,
    kind: str | None,
    source: str | None,
    reason: str,
) -> dict[str, Any]:
    named = [references] if isinstance(references, str | int) else list(references)
    return {
        "references": [reference_text(one) for one in named],
        "every": every,
        "kind": kind,
        "source": source,
        "reason": reason,
    }


def _item(plain: Mapping[str, Any]) -> Item:
    from holdfast.domain.review import Item

    about = plain["about"]
    return Item(
        values.memory_of(plain["memory"]),
        plain["kind"],
        plain["why"],
        None if about is None else values.memory_of(about),
        values.moment(plain["expires_at"]),
    )
