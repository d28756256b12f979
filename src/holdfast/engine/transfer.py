"""A whole hub as JSON Lines, out and in again: memories, change sets, revisions, receipts.

The first line says what the file is; the last one counts the lines, so that a file that was cut
off is noticed. An import is invisible until it is complete. Derived state does not travel: it is
built anew on arrival.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import from_text, to_text
from holdfast.domain.codec import (
    fields_from_plain,
    fields_to_plain,
    memory_from_plain,
    memory_to_plain,
)
from holdfast.domain.hub import Hub
from holdfast.domain.memory import Memory
from holdfast.domain.query import EVERYTHING
from holdfast.domain.turn import Turn
from holdfast.engine.core import Core, require_hub
from holdfast.engine.embedding import embed_hub
from holdfast.engine.recorder import without_vectors
from holdfast.errors import AlreadyExists, HoldfastError, InvalidInput
from holdfast.text.normalise import clean_hub_name

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer

FORMAT = "holdfast-hub"
FORMAT_VERSION = 1
_BATCH = 500


def export_hub(core: Core, hub_id: str, hub: str) -> Iterator[str]:
    """The lines of the file, without line ends; one consistent moment, however long it takes."""
    with core.store.read() as reader:
        info = require_hub(reader, hub_id, hub)
        count = 0
        for line in _lines(reader, info):
            count += 1
            yield _dump(line)
        yield _dump({"type": "end", "lines": count})


def _lines(reader: Reader, hub: Hub) -> Iterator[dict[str, Any]]:
    yield {
        "type": FORMAT,
        "version": FORMAT_VERSION,
        "id": hub.id,
        "name": hub.name,
        "owner": hub.owner,
        "created_at": to_text(hub.created_at),
        "numbers": hub.numbers,
    }
    after: tuple[Any, int] | None = None
    while True:
        batch = reader.memories(hub.id, EVERYTHING, order="number", after=after, limit=_BATCH)
        for memory in batch:
            plain = memory_to_plain(memory)
            del plain["hub_id"]
            yield {"type": "memory", **plain}
        if len(batch) < _BATCH:
            break
        after = (batch[-1].number, batch[-1].number)
    for change in reader.scan_changes(hub.id):
        plain = {**change._asdict(), "at": to_text(change.at)}
        del plain["hub_id"]
        yield {"type": "change", **plain}
    for revision in reader.scan_revisions(hub.id):
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
        del plain["hub_id"]
        yield {"type": "turn", **plain}
    for receipt in reader.receipts(hub.id):
        yield {"type": "receipt", **receipt._asdict(), "at": to_text(receipt.at)}


def _dump(line: dict[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def import_hub(
    core: Core,
    lines: Iterable[str],
    *,
    name: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Hub:
    """Makes a hub from an export. It appears when all of it is there, or not at all."""
    incoming = _parsed(lines)
    header = next(incoming, None)
    if header is None:
        raise InvalidInput("The file is empty.", hint="Import what `holdfast export` has written.")
    hub = _begin(core, header, name)
    numbers = header[1]["numbers"]
    try:
        done = 0
        for batch in _batches(incoming):
            with core.store.write() as writer:
                require_hub(writer, hub.id, hub.name)
                _write(writer, hub, batch)
            done += len(batch)
            if progress is not None:
                progress(done)
        with core.store.write() as writer:
            writer.set_hub_state(hub.id, "active", numbers)
    except BaseException:
        with core.store.write() as writer:
            writer.drop_hub(hub.id)
        raise
    embed_hub(core, hub.id)
    return hub._replace(state="active", numbers=numbers)


_Line = tuple[int, dict[str, Any]]


def _parsed(lines: Iterable[str]) -> Iterator[_Line]:
    count = 0
    ended = False
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        if ended:
            raise InvalidInput(f"Line {number} comes after the end of the export.")
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict) or "type" not in line:
            raise InvalidInput(
                f"Line {number} is not a line of an export.",
                hint="Import what `holdfast export` has written.",
            )
        if line["type"] == "end":
            ended = True
            if line.get("lines") != count:
                raise InvalidInput(
                    f"The file says it has {line.get('lines')} lines, but {count} were there.",
                    hint="It was changed or damaged; export it again.",
                )
            continue
        count += 1
        yield number, line
    if count and not ended:
        raise InvalidInput(
            "The file ends too early: its last line is missing.", hint="Export it again."
        )


def _begin(core: Core, header: _Line, name: str | None) -> Hub:
    number, line = header
    if line.get("type") != FORMAT:
        raise InvalidInput(
            f"Line {number} does not say that this is an export of a hub.",
            hint="Import what `holdfast export` has written.",
        )
    if line.get("version") != FORMAT_VERSION:
        raise InvalidInput(
            f"The export has version {line.get('version')}; this Holdfast reads {FORMAT_VERSION}.",
            hint="Upgrade Holdfast.",
        )
    try:
        hub = Hub(
            str(line["id"]),
            clean_hub_name(name or line["name"]),
            str(line["owner"]),
            from_text(line["created_at"]),
            int(line["numbers"]),
            "importing",
        )
    except (KeyError, ValueError, TypeError) as error:
        raise _bad_line(number, error) from None
    with core.store.write() as writer:
        if writer.hub(hub.name) is not None:
            raise AlreadyExists(
                f"There is a hub `{hub.name}` already.",
                hint="Import it under another name: `holdfast import FILE --as NAME`.",
            )
        if writer.hub_by_id(hub.id) is not None:
            # The same hub under another name is a copy: it gets an id of its own.
            hub = hub._replace(id=core.ids.next("hub"))
        writer.add_hub(hub)
    return hub


def _batches(lines: Iterator[_Line]) -> Iterator[list[_Line]]:
    batch: list[_Line] = []
    for line in lines:
        batch.append(line)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _write(writer: Writer, hub: Hub, batch: list[_Line]) -> None:
    memories: list[Memory] = []
    for number, line in batch:
        try:
            value = _value(line, hub)
        except (KeyError, ValueError, TypeError) as error:
            raise _bad_line(number, error) from None
        if isinstance(value, Memory):
            writer.add_memory(value)
            memories.append(value)
        elif isinstance(value, Change):
            writer.add_change(value)
        elif isinstance(value, Turn):
            writer.add_turn(value)
        elif isinstance(value, Receipt):
            writer.add_receipt(hub.id, value)
        else:
            _, change_id, memory_id, version, at, fields = value
            writer.add_revision(hub.id, change_id, memory_id, version, at, fields)
    shown = [memory for memory in memories if memory.forgotten_at is None]
    for memory, index in zip(shown, without_vectors(shown), strict=True):
        writer.index(hub.id, memory.id, index.text, index.entries, index.model)


def _value(line: dict[str, Any], hub: Hub) -> Memory | Change | Revision | Turn | Receipt:
    fields = {name: value for name, value in line.items() if name != "type"}
    match line["type"]:
        case "memory":
            return memory_from_plain({**fields, "hub_id": hub.id})
        case "change":
            return Change(**{**fields, "hub_id": hub.id, "at": from_text(fields["at"])})
        case "revision":
            at, changed = from_text(fields.pop("at")), fields_from_plain(fields.pop("fields"))
            return Revision(sequence=0, at=at, fields=changed, **fields)
        case "turn":
            return Turn(**{**fields, "hub_id": hub.id, "at": from_text(fields["at"])})
        case "receipt":
            return Receipt(**{**fields, "at": from_text(fields["at"])})
        case other:
            raise ValueError(f"there is no line type {other!r}")


def _bad_line(number: int, error: Exception) -> HoldfastError:
    return InvalidInput(
        f"Line {number} cannot be read: {error}.", hint="Nothing was imported; export it again."
    )
