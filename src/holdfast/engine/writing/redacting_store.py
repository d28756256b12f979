"""A wrapper around the store that redacts secrets in everything an operation writes.

Operations redact their input before they use it, so that their results contain no secrets. The
wrapper catches an operation that forgets to: every text that is written is checked again, which
costs next to nothing for a text that was checked before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from holdfast.domain.change import Revision
from holdfast.engine.writing.redact import KIND, Redactor
from holdfast.text.analysis.terms import searchable

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.change import Change, Receipt
    from holdfast.domain.hub import Viewer
    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Agreed, Clash, Record, Turn
    from holdfast.store.base import Store, Writer
    from holdfast.store.values import IndexEntry


class _Commits(threading.local):
    """Counts the transactions committed in this thread: an operation that committed none may be
    retried (api/perform.py)."""

    count = 0


COMMITS = _Commits()
# As many as one batch of an import.
_WRITTEN_MAX = 2_000


def guarded(store: Store, redactor: Redactor) -> Store:
    """The store, with every write redacted."""
    return cast("Store", _GuardedStore(store, redactor))


def unguarded(store: Store) -> Store:
    """The wrapped store, for tests of its internals."""
    return store._store if isinstance(store, _GuardedStore) else store


class _GuardedStore:
    """A store whose writes are checked; all other calls are passed on."""

    def __init__(self, store: Store, redactor: Redactor) -> None:
        self._store, self._redactor = store, redactor
        # A direct attribute, because every operation reads.
        self.read = store.read
        self.capabilities = store.capabilities

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def write(
        self,
        *,
        durable: bool = True,
        viewer: Viewer | None = None,
        hub: str | None = None,
        wait: bool = True,
    ) -> Iterator[Writer]:
        redactor = self._redactor
        with (
            self._store.write(durable=durable, viewer=viewer, hub=hub, wait=wait) as writer,
            redactor.inside(writer),
        ):
            yield cast("Writer", _GuardedWriter(writer, redactor))
        redactor.committed()
        if durable:
            COMMITS.count += 1


class _GuardedWriter:
    """A writer that replaces secrets in everything it is given. Methods that are not overridden
    here take no text; tests/unit/engine/test_secret_doors.py compares them with the contract."""

    def __init__(self, writer: Writer, redactor: Redactor) -> None:
        self._writer, self._redactor = writer, redactor
        # The last turn that was written, by hub and session: the next one may answer it.
        self._last_turns: dict[tuple[str, str | None], str] = {}
        # The memories that were written: the index of each is made from its own words.
        self._written: dict[str, Memory] = {}

    def __getattr__(self, name: str) -> Any:
        # Cached, because a batch calls the same few methods for each memory.
        found = self.__dict__[name] = getattr(self._writer, name)
        return found

    def add_memory(self, memory: Memory) -> None:
        self._writer.add_memory(self._redacted(memory))

    def set_memory(self, memory: Memory) -> None:
        self._writer.set_memory(self._redacted(memory))

    def _redacted(self, memory: Memory) -> Memory:
        if len(self._written) >= _WRITTEN_MAX:
            self._written.clear()
        self._written[memory.id] = memory = self._redactor.memory(memory)
        return memory

    def add_change(self, change: Change) -> None:
        self._writer.add_change(self._redactor.row(change))

    def add_revision(
        self,
        hub_id: str,
        change_id: str,
        memory_id: str,
        version: int,
        at: datetime,
        fields: Mapping[str, tuple[Any, Any]],
    ) -> None:
        fields = self._redactor.revised(fields)
        self._writer.add_revision(hub_id, change_id, memory_id, version, at, fields)

    def add_turn(self, turn: Turn, *, words: bool = True) -> None:
        place = turn.hub_id, turn.session
        turn = self._redactor.turn(turn, self._last_turns.get(place, ""))
        self._last_turns[place] = turn.content
        if words:
            self._writer.add_turn(turn)
        else:
            self._writer.add_turn(turn, words=False)

    def add_receipt(self, hub_id: str, receipt: Receipt) -> None:
        self._writer.add_receipt(hub_id, self._redactor.row(receipt))

    def correct(self, hub_id: str, row: Change | Revision | Turn | Receipt | Clash) -> None:
        if isinstance(row, Revision):
            row = row._replace(fields=self._redactor.revised(row.fields))
        else:
            row = self._redactor.row(row)
        self._writer.correct(hub_id, row)

    def add_clash(self, hub_id: str, clash: Clash) -> None:
        self._writer.add_clash(hub_id, self._redactor.row(clash))

    def set_agreed(self, hub_id: str, agreed: Agreed) -> None:
        text = self._redactor.json(agreed.text)
        self._writer.set_agreed(hub_id, agreed._replace(text=text))

    def put_record(self, record: Record) -> None:
        self._writer.put_record(self._clean(record))

    def swap_record(self, before: Record | None, after: Record | None) -> bool:
        return self._writer.swap_record(before, None if after is None else self._clean(after))

    def _clean(self, record: Record) -> Record:
        if record.kind == KIND:
            return record
        redacted = self._redactor.changed(record.body)
        for name, value in record.body.items():
            if isinstance(value, str) and name in redacted:
                redacted[name] = self._redactor.json(value)
        return record._replace(body={**record.body, **redacted})

    def index(
        self, hub_id: str, memory_id: str, text: str, entries: Sequence[IndexEntry], model: str
    ) -> None:
        row = self._written.get(memory_id)
        is_own = row is not None and searchable(row) == text
        if not is_own and self._redactor.text(text) is not text:
            # The entries were made from the original words; the row has redacted ones by now.
            row = self._writer.memory(hub_id, memory_id)
            if row is None:
                return
            from holdfast.engine.writing.indexing import indexed_all

            text, entries, model = indexed_all([row], None)[0]
        self._writer.index(hub_id, memory_id, text, entries, model)
