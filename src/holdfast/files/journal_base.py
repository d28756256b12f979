"""What a journal's file and its memories are compared by: the file as it is, the memories of the
day, and the base, which is what both sides last agreed on. It reads, and notes the base; what
follows from a difference is decided elsewhere (journal_sync).
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from holdfast import engine
from holdfast.domain.memory import Memory
from holdfast.domain.mirror import Agreed
from holdfast.domain.query import Filter
from holdfast.engine.core import Core, require_hub
from holdfast.errors import InvalidInput, StoreError, StoreReadOnly
from holdfast.files import journal_text
from holdfast.files.atomic import real_path
from holdfast.files.journal_look import Look, Signature, signature_of
from holdfast.files.journal_text import Block
from holdfast.store.base import Reader

# A year of a busy agent is less; a larger file is a log that was put in the wrong place.
FILE_BYTES_MAX = 16_000_000


class Place(NamedTuple):
    """Whose journals: the hub, the folder its files are in, and what was seen there last."""

    core: Core
    hub_id: str
    hub: str
    folder: str
    look: Look


class File(NamedTuple):
    """A journal as it was read: its text, and what tells whether it was written since."""

    text: str
    signature: Signature


class Line(NamedTuple):
    """A block of the file and the id of its memory; '' for what is no entry."""

    block: Block
    memory_id: str = ""


class Base(NamedTuple):
    """For each block its key and its memory's id, or its raw text and nothing."""

    items: tuple[tuple[str, str], ...] = ()

    @property
    def ids(self) -> dict[str, str]:
        return {key: memory_id for key, memory_id in self.items if memory_id}


# Names


def name_of(day: date) -> str:
    return f"{day.isoformat()}.md"


def path_of(place: Place, day: date) -> str:
    return os.path.join(place.folder, name_of(day))


def source_path(day: date, key: str) -> str:
    """Where a memory comes from: the day's file and the entry's key in it."""
    return f"{name_of(day)}#{key}"


# Reading


def read_file(place: Place, day: date) -> File | None:
    """The day's file; None where there is none.

    Bytes that are not UTF-8 stay what they are when the text is written again.
    """
    path = path_of(place, day)
    target = real_path(path, within=place.folder)
    try:
        # Not waiting for the other end of a pipe that somebody put there.
        handle = os.open(target, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except PermissionError:
        raise StoreReadOnly(f"{path} cannot be read.", hint="Check who owns it.") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise StoreError(f"{path} is not a file.", hint="Move it away.")
    with os.fdopen(handle, "rb") as file:
        if about.st_size > FILE_BYTES_MAX:
            raise InvalidInput(
                f"{path} has {about.st_size:,} bytes; a journal has at most {FILE_BYTES_MAX:,}.",
                hint="Give it another name, or move it into the files of the hub.",
            )
        text = file.read().decode("utf-8", "surrogateescape")
    return File(text, signature_of(about))


def live_memories(place: Place, first: date, last: date) -> list[Memory]:
    """The memories of the journal layer from these days, by number."""
    start = datetime.combine(first, time.min, UTC)
    # The day after the last day there is does not exist.
    end = None if last == date.max else datetime.combine(last + timedelta(days=1), time.min, UTC)
    wanted = Filter(layers=("journal",), since=start, until=end)
    return list(engine.listing.scan_memories(place.core, place.hub_id, place.hub, wanted))


def time_of(memory: Memory) -> str:
    """The time of day that stands before an entry."""
    return f"{memory.occurred_at or memory.created_at:%H:%M}"


def texts_of(reader: Reader, memory: Memory) -> list[tuple[str, str]]:
    """What a memory has said, newest first, each with its time of day then."""
    out = [(memory.content, time_of(memory))]
    for revision in reversed(reader.revisions(memory.hub_id, memory.id)):
        before = {
            name: revision.fields[name][0]
            for name in ("content", "occurred_at")
            if name in revision.fields
        }
        # The first revision of a memory has no before.
        if before and before.get("content", "") is not None:
            memory = memory._replace(**before)
            out.append((memory.content, time_of(memory)))
    return out


# The base


def base_of(reader: Reader, place: Place, day: date) -> Base:
    """What both sides last agreed on; an empty base where they never did."""
    return _parsed(reader.agreed(place.hub_id, name_of(day)))


def _parsed(agreed: Agreed | None) -> Base:
    if agreed is None:
        return Base()
    value = json.loads(agreed.text)
    return Base(tuple((item[0], item[1]) for item in value["items"]))


def items_of(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """What a base holds of these lines. Of entries only the key is kept: what is purged must leave
    no trace here."""
    keys = journal_text.keys_of(line.block for line in lines)
    return [
        (key, line.memory_id) if line.memory_id else (line.block.raw, "")
        for key, line in zip(keys, lines, strict=True)
    ]


def agree(place: Place, day: date, items: Sequence[tuple[str, str]]) -> None:
    """Notes what both sides agree on."""
    text = json.dumps({"items": items})
    with place.core.store.read() as reader:
        known = reader.agreed(place.hub_id, name_of(day))
    if known is not None and known.text == text:
        return
    with place.core.store.write(hub=place.hub_id) as writer:
        require_hub(writer, place.hub_id, place.hub)
        writer.set_agreed(place.hub_id, Agreed(name_of(day), text, place.core.now()))
