"""Changing what is in a hub on a server, and looking back at what was changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.client import values
from holdfast.client.base import RemoteBase

if TYPE_CHECKING:
    from holdfast.client.hub import RemoteHub
    from holdfast.domain.change import Change, Entry, Receipt
    from holdfast.domain.memory import Memory
    from holdfast.domain.results import UsageRow
    from holdfast.engine.history import FieldDiff, Undone
    from holdfast.engine.reading.lookup import Reference

# As many change sets as a server tells of at once.
_CHANGES_MAX = 200

# The methods are those of `HubMemory`, where each says what it does.


class RemotePast(RemoteBase):
    # Changing

    def update(
        self,
        reference: Reference,
        *,
        expected_version: int | None = None,
        reason: str = "",
        **changes: Any,
    ) -> Memory:
        body = values.sent_fields(changes)
        if reason:
            body["reason"] = reason
        headers = {} if expected_version is None else {"If-Match": f'"{expected_version}"'}
        path = self._path(reference)
        sent = self._send(path, body, method="PATCH", headers=headers)
        memory = values.memory_of(sent["data"])
        if isinstance(changes.get("content"), str):
            self._note_redacted(changes["content"], memory.content)
        return memory

    def pin(self, reference: Reference) -> Memory:
        return values.memory_of(self._send(self._path(reference, "/pin"))["data"])

    def unpin(self, reference: Reference) -> Memory:
        return values.memory_of(self._send(self._path(reference, "/unpin"))["data"])

    def archive(self, reference: Reference, *, reason: str = "archived by hand") -> Memory:
        return self.archive_many([reference], reason=reason)[0]

    def archive_many(
        self, references: Iterable[Reference], *, reason: str = "archived by hand"
    ) -> list[Memory]:
        return self._on_all("archive", references, reason)

    def forget(self, reference: Reference, *, reason: str = "") -> Memory:
        return self.forget_many([reference], reason=reason)[0]

    def forget_many(self, references: Iterable[Reference], *, reason: str = "") -> list[Memory]:
        return self._on_all("forget", references, reason)

    def restore(self, reference: Reference, *, reason: str = "") -> Memory:
        return self.restore_many([reference], reason=reason)[0]

    def restore_many(self, references: Iterable[Reference], *, reason: str = "") -> list[Memory]:
        return self._on_all("restore", references, reason)

    def access(self, reference: Reference) -> Memory:
        return self.access_many([reference])[0]

    def access_many(self, references: Iterable[Reference]) -> list[Memory]:
        return self._on_all("access", references)

    def _on_all(self, what: str, references: Iterable[Reference], reason: str = "") -> list[Memory]:
        batch = self._batch(references, reason)
        if not batch["ids"]:
            return []
        return values.memories_of(self._send(f"/memories/batch-{what}", batch)["data"])

    def move_many(self, references: Iterable[Reference], to: RemoteHub) -> list[Memory]:
        batch = self._batch(references)
        if not batch["ids"]:
            return []
        answer = self._send("/memories/batch-move", {**batch, "hub": to.id})
        return values.memories_of(answer["data"])

    def purge(self, reference: Reference, *, reason: str = "") -> Receipt:
        return self.purge_many([reference], reason=reason)[0]

    def purge_many(self, references: Iterable[Reference], *, reason: str = "") -> list[Receipt]:
        batch = self._batch(references, reason)
        if not batch["ids"]:
            return []
        told = self._send("/memories/batch-delete", batch)["data"]["receipts"]
        return [values.receipt_of(one) for one in told]

    # Looking back

    def history(self, reference: Reference) -> list[Entry]:
        return values.entries_of(self._get(self._path(reference, "/history"))["data"])

    def diff(
        self, reference: Reference, *, old: int | None = None, new: int | None = None
    ) -> list[FieldDiff]:
        found = self._get(self._path(reference, "/diff"), old=old, new=new)
        return values.diff_of(found["data"])

    def changes(self, *, limit: int = 50, before: str | None = None) -> list[Change]:
        out: list[Change] = []
        while True:
            size = max(1, min(_CHANGES_MAX, limit - len(out)))
            answer = self._get("/changes", limit=size, before=before)["data"]
            out += [values.change_of(one) for one in answer]
            if len(out) >= limit or len(answer) < size:
                return out
            before = out[-1].id

    def touched(self, changes: Iterable[str]) -> dict[str, list[Memory]]:
        names = list(changes)
        out: dict[str, list[Memory]] = {}
        for start in range(0, len(names), _CHANGES_MAX):
            asked = {"changes": names[start : start + _CHANGES_MAX]}
            found = self._ask("/changes/touched", asked)["data"]
            out |= {change: values.memories_of(rows) for change, rows in found.items()}
        return out

    def undo(self, change: str | None = None, *, force: bool = False) -> Undone:
        return values.undone_of(self._send("/undo", {"change": change, "force": force})["data"])

    def receipts(self) -> list[Receipt]:
        return [values.receipt_of(one) for one in self._get("/receipts")["data"]]

    def usage(self, *, days: int = 30) -> list[UsageRow]:
        return [values.usage_of(one) for one in self._get("/model-usage", days=days)["data"]]

    def export(self) -> Iterator[str]:
        return self.server.lines("/export", hub=self.id)
