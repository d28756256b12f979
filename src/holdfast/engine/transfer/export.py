"""Exports a whole hub as JSON Lines, and imports it: memories, change sets, revisions, turns,
receipts, and withheld parts of turns.

The first line describes the file; the last one counts the lines, so that a truncated file is
noticed. An import is invisible until it is complete. Derived state is not exported: the import
rebuilds it.
"""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count as count_from
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import from_text, to_micros, to_text
from holdfast.domain.hub import Hub, PersonName
from holdfast.domain.memory import Memory
from holdfast.domain.query import EVERYTHING
from holdfast.domain.records import Record, Turn, fields_to_plain, memory_to_plain
from holdfast.engine import traces
from holdfast.engine.core import Core, Scope, require_hub
from holdfast.engine.history import Reasons, entries_seen
from holdfast.engine.hubs import drop_hub, is_unused
from holdfast.engine.people import records
from holdfast.engine.people.records import called
from holdfast.engine.transfer.export_format import (
    FORMAT,
    FORMAT_VERSION,
    UNREADABLE,
    ExportLine,
    Value,
    bad_line,
    count_of,
    parsed,
    text_of,
    value_of,
)
from holdfast.engine.writing.indexing import Indexed, embed_hub, indexed_all
from holdfast.errors import AlreadyExists, InvalidInput
from holdfast.store.values import every_memory
from holdfast.text.clean import clean_hub_name

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer

# Lines imported in one transaction: enough for bulk writes, and few enough that three batches (one
# read, one prepared, one written) fit into memory.
_IMPORTED_LINES = 2_000
_IMPORTED_CHARS = 4_000_000


def export_hub(scope: Scope) -> Iterator[str]:
    """The lines of an export of a hub, without line ends, from one consistent snapshot."""
    with scope.core.read() as reader:
        info = scope.require_hub(reader)
        if scope.core.permit is not None:
            # The counter of numbers would reveal memories that a caller cannot see.
            newest = reader.memories(scope.hub_id, EVERYTHING, order="newest", after=None, limit=1)
            info = info._replace(numbers=newest[0].number if newest else 0)
            info = called(scope.core, reader, info)
        count = 0
        for line in _lines(scope.core, reader, info):
            count += 1
            yield _dump(line)
        yield _dump({"type": "end", "lines": count})


def _lines(core: Core, reader: Reader, hub: Hub) -> Iterator[dict[str, Any]]:
    yield {
        "type": FORMAT,
        "version": FORMAT_VERSION,
        "id": hub.id,
        "name": hub.called,
        "owner": hub.owner,
        "created_at": to_text(hub.created_at),
        "numbers": hub.numbers,
    }
    for memory in every_memory(reader, hub.id, EVERYTHING):
        plain = memory_to_plain(memory)
        del plain["hub_id"]
        yield {"type": "memory", **plain}
    reasons = Reasons(core, reader)
    for change in reader.scan_changes(hub.id):
        shown = reasons.seen(change)
        plain = {**shown._asdict(), "at": to_text(change.at)}
        del plain["hub_id"]
        yield {"type": "change", **plain}
    for revision in _revisions(core, reader, hub):
        yield {
            "type": "revision",
            "change_id": revision.change_id,
            "memory_id": revision.memory_id,
            "version": revision.version,
            "at": to_text(revision.at),
            "fields": fields_to_plain(revision.fields),
        }
    for turn in reader.scan_turns(hub.id):
        plain = {**turn._asdict(), "at": to_text(turn.at)}
        del plain["note"]
        del plain["hub_id"]
        yield {"type": "turn", **plain}
    if core.allows("read_log"):
        for note in traces.exported(reader, hub.id):
            yield {"type": "withheld", **note}
    for receipt in core.receipts(reader, hub.id):
        yield {"type": "receipt", **receipt._asdict(), "at": to_text(receipt.at)}


def _revisions(core: Core, reader: Reader, hub: Hub) -> Iterator[Revision]:
    """The revisions, without the versions of others' memories from when they were private."""
    bounded = {
        revision.memory_id
        for revision in reader.scan_revisions(hub.id)
        if "boundary" in revision.fields
    }
    seen = {
        (memory.id, entry.after.version): entry.revision
        for memory in reader.memories_by_id(hub.id, sorted(bounded)).values()
        for entry in entries_seen(core, reader, memory)
    }
    for revision in reader.scan_revisions(hub.id):
        if revision.memory_id not in bounded:
            yield revision
        elif (revision.memory_id, revision.version) in seen:
            yield seen[revision.memory_id, revision.version]


def _dump(line: dict[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


# An import creates a batch of some thousand objects before it releases any, so the garbage
# collector, which runs after every 700 new objects, finds nothing to collect.
_OBJECTS_MADE = 50_000

_collecting = threading.Lock()
_imports = 0
_threshold = (0, 0, 0)


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Raises the threshold of garbage collection in this process. If the program has disabled
    collection or set a higher threshold, it is left alone."""
    global _imports, _threshold
    with _collecting:
        if not _imports:
            _threshold = gc.get_threshold()
            if 0 < _threshold[0] < _OBJECTS_MADE:
                gc.set_threshold(_OBJECTS_MADE, *_threshold[1:])
        _imports += 1
    try:
        yield
    finally:
        with _collecting:
            _imports -= 1
            # The program may have set another one meanwhile.
            if not _imports and gc.get_threshold()[0] == _OBJECTS_MADE:
                gc.set_threshold(*_threshold)


@collected_seldom()
def import_hub(
    core: Core,
    lines: Iterable[str],
    *,
    name: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Hub:
    """Creates a hub from an export. It becomes visible when it is complete."""
    incoming = parsed(lines)
    header = next(incoming, None)
    if header is None:
        raise InvalidInput("The file is empty.", hint="Import a file that an export has written.")
    hub = _begin(core, header, name)
    numbers = hub.numbers
    bytes_max = core.settings["content.bytes_max"]
    try:
        done = highest = 0
        has_traces = has_notes = False
        batches = _batches(_with_heartbeat(core, hub, incoming))
        for ready in prefetched(lambda batch: _made_ready(batch, hub, bytes_max), batches):
            with core.write(hub.id) as writer:
                require_hub(writer, hub.id, hub.name)
                highest = max(highest, _write(writer, hub, ready))
            done += len(ready.values)
            has_traces = has_traces or any(_leaves_traces(value) for _, value in ready.values)
            has_notes = has_notes or any(isinstance(value, Record) for _, value in ready.values)
            if progress is not None:
                progress(done)
        if numbers < highest:
            raise InvalidInput(
                f"The file says that {numbers} numbers were given out, but it has a #{highest}.",
                hint="It was changed or damaged; export it again.",
            )
        with core.write(hub.id) as writer:
            if has_traces and not has_notes:
                traces.note_all(Scope(core, hub.id, hub.name), writer, core.now())
            writer.set_hub_state(hub.id, "active", numbers)
    except BaseException:
        with core.write() as writer:
            writer.drop_hub(hub.id)
        raise
    embed_hub(core, hub.id)
    return hub._replace(state="active", numbers=numbers)


def _leaves_traces(value: Value) -> bool:
    """Whether a part of the turn that a memory was taken from is withheld or outdated."""
    return (
        isinstance(value, Memory)
        and value.origin is not None
        and (value.forgotten_at is not None or value.superseded_by is not None)
    )


Raw = TypeVar("Raw")
Ready = TypeVar("Ready")


def prefetched(make: Callable[[Raw], Ready], raw: Iterable[Raw]) -> Iterator[Ready]:
    """Maps `make` over the items, in order, in a thread that works one item ahead of the caller;
    the items are read in the caller's thread."""
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(1, thread_name_prefix="holdfast-import") as pool:
        before: Future[Ready] | None = None
        for one in raw:
            coming = pool.submit(make, one)
            if before is not None:
                yield before.result()
            before = coming
        if before is not None:
            yield before.result()


def _begin(core: Core, header: ExportLine, name: str | None) -> Hub:
    number, line, _ = header
    if line.get("type") != FORMAT:
        raise InvalidInput(
            f"Line {number} does not say that this is an export of a hub.",
            hint="Import a file that an export has written.",
        )
    if line.get("version") != FORMAT_VERSION:
        raise InvalidInput(
            f"The export has version {line.get('version')}; this Holdfast reads {FORMAT_VERSION}.",
            hint="Upgrade Holdfast.",
        )
    # Not an error of the line: the name comes from the caller.
    chosen = None if name is None else clean_hub_name(name)
    try:
        hub = Hub(
            text_of(line, "id"),
            chosen or clean_hub_name(line["name"]),
            # The stored name: an export from before names were checked can be read.
            PersonName(text_of(line, "owner")),
            from_text(line["created_at"]),
            count_of(line, "numbers", least=0),
            "importing",
        )
    except UNREADABLE as error:
        raise bad_line(number, error) from None
    with core.write() as writer:
        if (there := writer.hub(hub.name)) is not None:
            if there.name != core.settings["hub"] or not is_unused(writer, there):
                raise _name_taken(writer, there, same=there.id == hub.id)
            # The first command on a new machine creates a person's own hub. An export of theirs
            # from another machine replaces it while it is empty.
            drop_hub(writer, there)
        if writer.hub_by_id(hub.id) is not None:
            # The same hub under another name is a copy, with an id of its own.
            hub = hub._replace(id=core.ids.next("hub"))
        writer.add_hub(hub._replace(numbers=_heartbeat(core)))
        records.note(writer, hub.owner, "hub", hub.id, hub.created_at)
    return hub


def _name_taken(reader: Reader, there: Hub, *, same: bool) -> AlreadyExists:
    numbers = (f"{there.name}-{number}" for number in count_from(2))
    free = next(name for name in numbers if reader.hub(name) is None)
    said = (
        f"This is an export of the hub `{there.name}`, which is here already."
        if same
        else f"There is a hub `{there.name}` already, and it is another one."
    )
    return AlreadyExists(
        said,
        hint=f"Import it under another name, such as `{free}`, to have both.",
        command=f"To have both: `holdfast import FILE --as {free}`.",
    )


# An import without a heartbeat for this long is assumed aborted. It normally sends one far more
# often, but a line that comes through a pipe may take minutes.
HEARTBEAT_EXPIRES_S = 600
_BEAT_S = 30


def _heartbeat(core: Core) -> int:
    """The time in seconds. No number is assigned in a hub that is being imported, so until the
    import is complete its number counter stores the time of its last write."""
    return to_micros(core.now()) // 1_000_000


def _with_heartbeat(core: Core, hub: Hub, lines: Iterator[ExportLine]) -> Iterator[ExportLine]:
    """Yields the lines, and writes a heartbeat from time to time."""
    last = core.now()
    for line in lines:
        if abs((core.now() - last).total_seconds()) >= _BEAT_S:
            last = core.now()
            with core.write(hub.id) as writer:
                require_hub(writer, hub.id, hub.name)
                writer.set_hub_state(hub.id, "importing", _heartbeat(core))
        yield line


def seems_running(core: Core, hub: Hub) -> bool:
    """Whether the import of a hub was active recently."""
    return abs(_heartbeat(core) - hub.numbers) < HEARTBEAT_EXPIRES_S


def _batches(lines: Iterator[ExportLine]) -> Iterator[list[ExportLine]]:
    batch: list[ExportLine] = []
    chars = 0
    for line in lines:
        batch.append(line)
        chars += line.chars
        if len(batch) == _IMPORTED_LINES or chars >= _IMPORTED_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


class _Ready(NamedTuple):
    """A batch that can be written: the values, each with its line, and the index entries of
    memories."""

    values: list[tuple[int, Value]]
    indexes: list[tuple[str, Indexed]]


def _made_ready(batch: list[ExportLine], hub: Hub, bytes_max: int) -> _Ready:
    """Checks and analyses a batch, without the store. This is most of the work."""
    values: list[tuple[int, Value]] = []
    for number, line, _ in batch:
        try:
            values.append((number, value_of(line, hub, bytes_max)))
        except UNREADABLE as error:
            raise bad_line(number, error) from None
    shown = [one for _, one in values if isinstance(one, Memory) and one.forgotten_at is None]
    made = zip(shown, indexed_all(shown, None), strict=True)
    return _Ready(values, [(memory.id, index) for memory, index in made])


def _write(writer: Writer, hub: Hub, ready: _Ready) -> int:
    """Writes a batch; returns the highest number of a memory, including purged ones."""
    highest = 0
    for number, value in ready.values:
        try:
            _add(writer, hub, value)
        except UNREADABLE as error:
            raise bad_line(number, error) from None
        if isinstance(value, Memory | Receipt):
            highest = max(highest, value.number)
    for memory_id, index in ready.indexes:
        writer.index(hub.id, memory_id, index.text, index.entries, index.model)
    return highest


def _add(writer: Writer, hub: Hub, value: Value) -> None:
    if isinstance(value, Memory):
        writer.add_memory(value)
    elif isinstance(value, Change):
        writer.add_change(value)
    elif isinstance(value, Turn):
        writer.add_turn(value)
    elif isinstance(value, Receipt):
        writer.add_receipt(hub.id, value)
    elif isinstance(value, Record):
        traces.add_note(writer, value)
    else:
        _, change_id, memory_id, version, at, fields = value
        writer.add_revision(hub.id, change_id, memory_id, version, at, fields)
