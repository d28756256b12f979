"""Copies a whole store, or one hub, into another store: hubs with their history, log, records and
vectors.

The source is only read. Each batch is written together with the progress of the move, so that an
interrupted move can be resumed; a hub appears in the target when it is complete. At the end both
sides are compared by hashes of their rows (`digest`). A hub that differs, because somebody wrote to
the source between two attempts, is copied again. Files in a hub's folder stay where they are: they
belong to the home, not to the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.domain.clock import Clock, from_text, to_text
from holdfast.domain.hub import Hub
from holdfast.domain.records import NO_HUB, Record
from holdfast.engine.people.records import note_hub
from holdfast.engine.transfer.export_format import (
    MOVE,
    Digest,
    digest,
    digest_of_records,
    memories_of,
    records_of,
    vectors_by_place,
)
from holdfast.engine.writing.indexing import indexed_all
from holdfast.errors import AlreadyExists, Conflict, HoldfastError, NotFound, ServerUnreachable
from holdfast.store.values import IndexEntry, VectorRow
from holdfast.text.analysis.terms import searchable

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.memory import Memory
    from holdfast.store.base import Reader, Store, Writer

# Rows per transaction: enough for bulk writes; fewer for long texts.
_BATCH = 2_000
_BATCH_CHARS = 4_000_000
# A batch takes seconds: a move without a heartbeat for this long has died.
_PULSE_S = 120
_RUN = "run"


class MovedHub(NamedTuple):
    """A hub that was moved: its name, and the rows of each table on both sides."""

    name: str
    tables: dict[str, Digest]


class Moved(NamedTuple):
    """The result of moving a store: what was moved and verified."""

    hubs: list[MovedHub]
    records: int


# Reports progress: the step, the rows done and the total.
Report: TypeAlias = Callable[[str, int, int], None]


def move(
    source: Store,
    target: Store,
    *,
    clock: Clock,
    run: str,
    report: Report | None = None,
    only: str = "",
) -> Moved:
    """Copies everything, or the hub called `only`, and verifies the copy; `run` identifies this
    attempt. A single hub may be copied into a store with others, without the records that belong to
    no hub (keys, people, teams)."""
    report = report or _ignore_progress
    with source.read() as reader:
        hubs = [hub for hub in reader.hubs() if hub.state == "active" and only in ("", hub.name)]
        if only and not hubs:
            raise NotFound(
                f"There is no hub `{only}` in the source.",
                hint="List the hubs to see which there are.",
                command="`holdfast hub list` shows those there are.",
            )
        _begin(target, hubs, clock, run, alone=bool(only))
        try:
            moved = [
                MovedHub(hub.name, _Mover(reader, target, hub, clock, run, report).move())
                for hub in hubs
            ]
            records = 0 if only else _move_records(reader, target)
        except ServerUnreachable:
            # A failure here is not reported: the heartbeat expires by itself.
            raise
        except BaseException:
            _release(target, run)
            raise
    with target.write() as writer:
        if only:
            note_hub(writer, hubs[0], clock.now())
        ended = {_RUN, *(hub.id for hub in hubs)}
        for one in list(writer.scan_records(NO_HUB)):
            if one.kind == MOVE and (one.id in ended or not only):
                writer.drop_record(NO_HUB, MOVE, one.id)
    return Moved(moved, records)


def empty(store: Store) -> None:
    """Empties a store before a copy is moved into it."""
    with store.write() as writer:
        for hub in writer.hubs():
            writer.drop_hub(hub.id)
        for one in list(writer.scan_records(NO_HUB)):
            writer.drop_record(NO_HUB, one.kind, one.id)


def _ignore_progress(what: str, done: int, total: int) -> None:
    """Discards reports."""


def _begin(target: Store, hubs: list[Hub], clock: Clock, run: str, *, alone: bool) -> None:
    """Refuses a target that has data of its own, and one that another move is filling. For a single
    hub (`alone`), only its name and id must be free."""
    with target.write() as writer:
        other = writer.record(NO_HUB, MOVE, _RUN)
        if other is not None and other.body["run"] != run and is_running(writer, clock.now()):
            raise Conflict(
                "Another move into this store is running.",
                hint=f"If it was killed, wait {_PULSE_S} seconds and start it again.",
            )
        begun = {one.id for one in writer.scan_records(NO_HUB) if one.kind == MOVE}
        there = [hub for hub in writer.hubs() if hub.id not in begun]
        if alone:
            _refuse_same(there, hubs[0])
            _write_heartbeat(writer, clock, run)
            return
        if there:
            raise AlreadyExists(
                f"The target has a hub `{there[0].name}` already.",
                hint="Move into an empty store, or bring single hubs over with export and import."
                " If an earlier move has filled it, it is done: set `store.url` to switch over.",
            )
        known = {hub.id for hub in hubs}
        for gone in (hub for hub in writer.hubs() if hub.id not in known):
            # Copied by an earlier attempt, and deleted in the source since.
            writer.drop_hub(gone.id)
            writer.drop_record(NO_HUB, MOVE, gone.id)
        _write_heartbeat(writer, clock, run)


def _refuse_same(there: list[Hub], hub: Hub) -> None:
    if any(other.id == hub.id for other in there):
        raise AlreadyExists(
            f"The target has the hub `{hub.name}` already.",
            hint="If an earlier move has brought it, it is done. To bring it again, delete it there"
            " first.",
        )
    if any(other.name == hub.name for other in there):
        raise AlreadyExists(
            f"The target has another hub that is called `{hub.name}`.",
            hint="Rename one of the two.",
            command="Rename one of the two: `holdfast hub rename`.",
        )


def is_running(reader: Reader, now: datetime) -> bool:
    """Whether a move into this store was active recently."""
    run = reader.record(NO_HUB, MOVE, _RUN)
    return run is not None and abs((now - from_text(run.body["pulse"])).total_seconds()) < _PULSE_S


def _write_heartbeat(writer: Writer, clock: Clock, run: str) -> None:
    now = clock.now()
    writer.put_record(Record(NO_HUB, MOVE, _RUN, now, {"run": run, "pulse": to_text(now)}))


def _release(target: Store, run: str) -> None:
    """Records that this move has ended, complete or not, so that the next one need not wait for its
    heartbeat to expire."""
    # The error that ended the move is raised, even if the store cannot be written now.
    with suppress(HoldfastError), target.write() as writer:
        note = writer.record(NO_HUB, MOVE, _RUN)
        if note is not None and note.body["run"] == run:
            writer.drop_record(NO_HUB, MOVE, _RUN)


def _move_records(reader: Reader, target: Store) -> int:
    """Copies the records that belong to no hub: people, keys, organisations."""
    with target.write() as writer:
        for one in list(records_of(writer, NO_HUB)):
            writer.drop_record(NO_HUB, one.kind, one.id)
        for one in records_of(reader, NO_HUB):
            writer.put_record(one)
        mine, theirs = digest_of_records(reader, NO_HUB), digest_of_records(writer, NO_HUB)
        if mine != theirs:
            raise Conflict("Keys and people did not come out equal.", hint="Start the move again.")
    return mine.rows


class _Mover:
    """A hub that is being moved. `done` has the number of copied rows of each table."""

    def __init__(
        self, reader: Reader, target: Store, hub: Hub, clock: Clock, run: str, report: Report
    ) -> None:
        self.reader, self.target, self.hub = reader, target, hub
        self.clock, self.run, self.report = clock, run, report
        self.done: dict[str, int] = {}

    def move(self) -> dict[str, Digest]:
        for attempt in ("as far as it was", "anew"):
            self._begin(anew=attempt == "anew")
            self._copy()
            theirs, mine = self._compare()
            if mine == theirs:
                with self._write() as writer:
                    writer.set_hub_state(self.hub.id, "active", self.hub.numbers)
                return mine
        differs = ", ".join(name for name in mine if mine[name] != theirs.get(name))
        raise Conflict(
            f"The hub `{self.hub.name}` did not come out equal: {differs or 'vectors'} differ.",
            hint="Nothing was changed in the source. Run `holdfast doctor` there.",
        )

    def _compare(self) -> tuple[dict[str, Digest], dict[str, Digest]]:
        self.report(f"{self.hub.name}: comparing", 0, 1)
        with self.target.read() as reader:
            theirs = digest(reader, self.hub.id)
        return theirs, digest(self.reader, self.hub.id)

    def _begin(self, *, anew: bool) -> None:
        hub = self.hub
        with self.target.write() as writer:
            note = writer.record(NO_HUB, MOVE, hub.id)
            there = writer.hub_by_id(hub.id)
            if there is not None and (anew or note is None):
                writer.drop_hub(hub.id)
                there = None
            if there is None or note is None:
                writer.add_hub(hub._replace(state="importing"))
                self.done = {}
            else:
                self.done = dict(note.body["done"])
                if there.name != hub.name:
                    writer.rename_hub(hub.id, hub.name)
            self._note(writer)

    def _write(self) -> AbstractContextManager[Writer]:
        """A transaction on this hub and the progress of the move, which blocks nobody else."""
        return self.target.write(hub=self.hub.id)

    def _note(self, writer: Writer) -> None:
        now = self.clock.now()
        writer.put_record(Record(NO_HUB, MOVE, self.hub.id, now, {"done": dict(self.done)}))
        _write_heartbeat(writer, self.clock, self.run)

    # What is copied, in the order of dependencies

    def _copy(self) -> None:
        reader, hub_id = self.reader, self.hub.id
        self._memories()
        self._rows("changes", reader.scan_changes(hub_id), lambda w, one: w.add_change(one))
        self._rows(
            "revisions",
            reader.scan_revisions(hub_id),
            lambda w, one: w.add_revision(hub_id, *one[1:]),
        )
        self._rows("receipts", reader.receipts(hub_id), lambda w, one: w.add_receipt(hub_id, one))
        self._rows("turns", reader.scan_turns(hub_id), lambda w, one: w.add_turn(one))
        self._rows("agreed", reader.scan_agreed(hub_id), lambda w, one: w.set_agreed(hub_id, one))
        self._rows(
            "clashes",
            reader.clashes(hub_id, settled=True),
            lambda w, one: w.add_clash(hub_id, one),
        )
        self._rows("records", records_of(reader, hub_id), lambda w, one: w.put_record(one))
        for model in reader.vector_models(hub_id):
            self._vectors(model)

    def _rows(self, what: str, rows: Iterable[Any], add: Callable[[Writer, Any], None]) -> None:
        """Copies a table in order; rows that were copied already are skipped by number."""
        done = self.done.get(what, 0)
        for batch in _batches(islice(rows, done, None)):
            done += len(batch)
            with self._write() as writer:
                for one in batch:
                    add(writer, one)
                self.done[what] = done
                self._note(writer)
            self.report(f"{self.hub.name}: {what}", done, 0)

    def _memories(self) -> None:
        hub_id, total = self.hub.id, self.hub.numbers
        last = self.done.get("memories", 0)
        for batch in _batches(memories_of(self.reader, hub_id, last)):
            passages = _entries(self.reader, hub_id, batch)
            with self._write() as writer:
                for memory in batch:
                    writer.add_memory(memory)
                    if entries := passages.get(memory.id):
                        writer.index(hub_id, memory.id, searchable(memory), entries, "")
                self.done["memories"] = batch[-1].number
                self._note(writer)
            self.report(f"{self.hub.name}: memories", batch[-1].number, total)

    def _vectors(self, model: str) -> None:
        hub_id, what = self.hub.id, f"vectors of {model}"
        for batch in vectors_by_place(self.reader, hub_id, model, self.done.get(what, 0)):
            ids = list(dict.fromkeys(one.memory_id for one in batch))
            with self._write() as writer:
                there = {
                    (one.memory_id, one.ordinal): one.passage_id
                    for one in writer.passages(hub_id, ids)
                }
                rows = [
                    VectorRow(there[one.memory_id, one.ordinal], one.row.window, one.row.vector)
                    for one in batch
                    if (one.memory_id, one.ordinal) in there
                ]
                writer.set_vectors(hub_id, model, rows)
                self.done[what] = batch[-1].row.passage_id
                self._note(writer)
            self.report(f"{self.hub.name}: vectors", len(rows), 0)


def _entries(reader: Reader, hub_id: str, batch: list[Memory]) -> dict[str, list[IndexEntry]]:
    """The index entries of each memory, from the source; made new if it has none."""
    out: dict[str, list[IndexEntry]] = {}
    for one in reader.passages(hub_id, [memory.id for memory in batch]):
        out.setdefault(one.memory_id, []).append(
            IndexEntry(
                one.ordinal,
                one.start,
                one.end,
                one.headings,
                tuple(one.body.split()),
                tuple(one.head.split()),
                one.windows,
            )
        )
    bare = [one for one in batch if one.id not in out and one.forgotten_at is None]
    for memory, made in zip(bare, indexed_all(bare, None), strict=True):
        out[memory.id] = made.entries
    return out


def _batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    chars = 0
    for row in rows:
        batch.append(row)
        chars += sum(len(value) for value in row if isinstance(value, str))
        if len(batch) == _BATCH or chars >= _BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch
