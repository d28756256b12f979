"""Finds secrets that are in a store already, and replaces them in place.

This is the one operation that rewrites history. Rows, old versions, reasons, turns and receipts
keep their ids, order and times; only the secrets in them become placeholders, as if they had been
redacted on input. Each changed memory gets a receipt that says so, and the old data is cleared from
the write-ahead log and free pages. files/secret_scan.py does the same for the files of a hub.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.query import EVERYTHING
from holdfast.domain.records import Clash, Turn
from holdfast.engine import idempotency, jobs
from holdfast.engine.core import Core, Scope
from holdfast.engine.upkeep import capture_stats
from holdfast.engine.writing.edit import clear_purged
from holdfast.engine.writing.indexing import embed_memories
from holdfast.engine.writing.recorder import reindex
from holdfast.errors import Forbidden
from holdfast.store.values import every_memory, every_record

if TYPE_CHECKING:
    from holdfast.domain.records import Record
    from holdfast.store.base import Reader, Writer

# One transaction writes at most this many, so that others do not wait for long.
_BATCH = 500

Progress: TypeAlias = Callable[[int, int], None]  # (done, total)
_Row: TypeAlias = Change | Revision | Turn | Receipt | Clash


class Secret(NamedTuple):
    """The number of secrets of one kind in one place; never the secrets themselves. If it is not
    `fixable`, it is in a user's own file, or in one that is `attached` to a memory, which can only
    be removed."""

    where: str
    kind: str
    times: int
    fixable: bool = True
    attached: bool = False


def for_everything(core: Core) -> Core:
    """The core with every memory visible; raises an error for a caller with a key."""
    if core.permit is not None:
        raise Forbidden(
            "Secrets are looked for on the machine that has the memory.",
            hint="Ask who runs it for a scan.",
            command="Ask who runs it for `holdfast scan`.",
        )
    return core.acting(sees_all=True)


def find_in_store(scope: Scope, progress: Progress | None = None) -> list[Secret]:
    """The secrets in memories, their history, the log, receipts, conflicts, queued turns, examples
    in statistics and stored responses."""
    found: list[Secret] = []
    scope = scope._replace(core=for_everything(scope.core))
    with scope.read() as reader:
        total = reader.statistics(scope.hub_id).memories
        for done, memory in enumerate(every_memory(reader, scope.hub_id, EVERYTHING), 1):
            scope.core.redactor.take()
            scope.core.redactor.memory(memory)
            found += secrets_found(scope.core, f"#{memory.number}")
            if progress is not None and done % _BATCH == 0:
                progress(done, max(total, done))
        for row, _ in _cleaned(scope, reader):
            found += secrets_found(scope.core, _place(reader, scope.hub_id, row))
        for record in _records(reader, scope.hub_id):
            scope.core.redactor.take()
            scope.core.redactor.changed(record.body)
            found += secrets_found(scope.core, _PLACES.get(record.kind, "work that waits"))
    return together(found)


def clean_store(scope: Scope, progress: Progress | None = None) -> int:
    """Replaces all secrets; returns the number of changed memories, old versions and other rows."""
    scope = scope._replace(core=for_everything(scope.core))
    with scope.read() as reader:
        dirty = [
            m.id
            for m in every_memory(reader, scope.hub_id, EVERYTHING)
            if scope.core.redactor.memory(m) is not m
        ]
        rows = [pair for pair in _cleaned(scope, reader) if pair[0] is not pair[1]]
        affected = [
            one for one in _records(reader, scope.hub_id) if scope.core.redactor.changed(one.body)
        ]
    total = len(dirty) + len(rows) + len(affected)
    touched = {row.memory_id for row, _ in rows if isinstance(row, Revision)}
    done = 0
    for batch in _batches(dirty):
        with scope.write() as writer:
            _clean_memories(scope, writer, batch)
        done += len(batch)
        if progress is not None:
            progress(done, total)
    for some in _batches(rows):
        with scope.write() as writer:
            for _, clean in some:
                writer.correct(scope.hub_id, clean)
        done += len(some)
        if progress is not None:
            progress(done, total)
    for records in _batches(affected):
        with scope.write() as writer:
            _clean_records(writer, records)
        done += len(records)
        if progress is not None:
            progress(done, total)
    _give_receipts(scope, sorted(touched | set(dirty)))
    clear_purged(scope.core, "The secrets are replaced")
    embed_memories(scope.core, scope.hub_id, dirty)
    # These redactions are not reported as those of a write.
    scope.core.redactor.take()
    return total


def _clean_memories(scope: Scope, writer: Writer, batch: list[str]) -> None:
    """Rewrites the rows and their derived state, without a new version, because the old one must
    not stay."""
    for memory in writer.memories_by_id(scope.hub_id, batch).values():
        clean = scope.core.redactor.memory(memory)
        writer.set_memory(clean)
        if clean.forgotten_at is None:
            reindex(writer, [clean])


def _clean_records(writer: Writer, records: list[Record]) -> None:
    """Redacts records, read again: a job may have ended or have been leased since."""
    for old in records:
        record = writer.record(old.hub_id, old.kind, old.id)
        if record is not None:
            writer.put_record(record)


def _give_receipts(scope: Scope, ids: list[str]) -> None:
    for batch in _batches(ids):
        with scope.write() as writer:
            for memory in writer.memories_by_id(scope.hub_id, batch).values():
                revisions = len(writer.revisions(scope.hub_id, memory.id))
                reason = "secrets were replaced, also in its history"
                writer.add_receipt(
                    scope.hub_id,
                    Receipt(memory.id, memory.number, scope.now(), scope.actor, reason, revisions),
                )


def _rows(reader: Reader, hub_id: str) -> Iterator[_Row]:
    yield from reader.scan_revisions(hub_id)
    yield from reader.scan_changes(hub_id)
    yield from reader.scan_turns(hub_id)
    yield from reader.receipts(hub_id)
    yield from reader.clashes(hub_id, settled=True)


def _records(reader: Reader, hub_id: str) -> Iterator[Record]:
    """Records that contain texts of people."""
    for kind in (*jobs.QUEUES.values(), capture_stats.KIND):
        yield from every_record(reader, hub_id, kind)
    yield from idempotency.answers_about(reader, hub_id)


_PLACES = {
    jobs.QUEUES[jobs.JOURNAL]: "turns that wait",
    capture_stats.KIND: "what was captured",
    idempotency.KIND: "answers to requests",
}


def _cleaned(scope: Scope, reader: Reader) -> Iterator[tuple[_Row, _Row]]:
    """Yields each row and its redacted version, which is the same object if it has no secrets. The
    redactor's counts are those of this row."""
    last: dict[str | None, str] = {}
    for row in _rows(reader, scope.hub_id):
        scope.core.redactor.take()
        if isinstance(row, Turn):
            clean: _Row = scope.core.redactor.turn(row, last.get(row.session, ""))
            last[row.session] = row.content
        else:
            clean = _clean(scope.core, row)
        yield row, clean


def _clean(core: Core, row: _Row) -> _Row:
    """The row without secrets; the same object if it has none."""
    if not isinstance(row, Revision):
        return core.redactor.row(row)
    fields = core.redactor.revised(row.fields)
    return row if fields == dict(row.fields) else row._replace(fields=fields)


def _place(reader: Reader, hub_id: str, row: _Row) -> str:
    match row:
        case Revision():
            memory = reader.memory(hub_id, row.memory_id)
            return f"history of #{memory.number}" if memory else f"history of {row.memory_id}"
        case Change():
            return f"reason of {row.id}"
        case Turn():
            return "conversation log"
        case Receipt():
            return f"receipt of #{row.number}"
        case _:
            return f"conflict {row.id}"


def secrets_found(core: Core, where: str, *, fixable: bool = True) -> list[Secret]:
    """The secrets that were just found, in one place."""
    return [Secret(where, kind, n, fixable) for kind, n in sorted(core.redactor.take().items())]


def together(found: Iterable[Secret]) -> list[Secret]:
    """Merges the secrets found in one place and of one kind, in the order they were found."""
    out: dict[Secret, int] = {}
    for one in found:
        at = one._replace(times=0)
        out[at] = out.get(at, 0) + one.times
    return [one._replace(times=n) for one, n in out.items()]


def _batches(items: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
