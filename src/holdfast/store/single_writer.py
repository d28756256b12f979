"""Defaults for stores on this machine with a single writer at a time: no round trips to save, no
vector index, no clock but ours, and nobody who writes between a read and a write. A store for
several machines implements all of this itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.errors import AlreadyExists, StoreError

if TYPE_CHECKING:
    from holdfast.domain.change import Revision
    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Record
    from holdfast.store.values import VectorRow


class ReaderDefaults:
    """Methods of the Reader contract."""

    if TYPE_CHECKING:

        def revisions(self, hub_id: str, memory_id: str) -> list[Revision]: ...

    def expect(self, hub_id: str, memories: Sequence[Memory]) -> None:
        """Does nothing: single lookups are cheap here."""

    def revisions_by_memory(
        self, hub_id: str, memory_ids: Sequence[str]
    ) -> dict[str, list[Revision]]:
        found = {one: self.revisions(hub_id, one) for one in memory_ids}
        return {one: revisions for one, revisions in found.items() if revisions}

    def vector_index(self, hub_id: str, model: str) -> int:
        return 0

    def nearest(
        self,
        hub_id: str,
        model: str,
        question: Sequence[float],
        *,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[VectorRow]:
        raise StoreError("This store has no index of vectors.")


class WriterDefaults:
    """Methods of the Writer contract."""

    if TYPE_CHECKING:

        def record(self, hub_id: str, kind: str, record_id: str) -> Record | None: ...
        def put_record(self, record: Record) -> None: ...
        def drop_record(self, hub_id: str, kind: str, record_id: str) -> bool: ...

    def swap_record(self, before: Record | None, after: Record | None) -> bool:
        one = before or after
        assert one is not None, "there is something to be put, or to be taken away"
        if self.record(one.hub_id, one.kind, one.id) != before:
            return False
        if after is None:
            return self.drop_record(one.hub_id, one.kind, one.id)
        try:
            self.put_record(after)
        except AlreadyExists:
            return False
        return True


class StoreDefaults:
    """Methods of the Store contract."""

    if TYPE_CHECKING:

        def _ready(self) -> None: ...

    @contextmanager
    def alone(self, name: str, hub_id: str) -> Iterator[bool]:
        # Always granted: a lock could outlive a killed process; leases in records expire instead.
        self._ready()
        yield True

    def skew(self) -> timedelta:
        return timedelta()
