"""Idempotency: a request that is sent twice under one key is executed once, and both get the same
response. Responses are stored for a day, for the same caller.

A key is claimed before the work, and the response is stored after it. Both happen in every such
request, so they are written without reading first, as an insert or a compare-and-swap. No request
waits for the record of another.

When a memory or a hub is removed, the texts in its stored responses are removed too. This module
does not know what a request is.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from holdfast.domain.records import NO_HUB, Record
from holdfast.errors import HoldfastError
from holdfast.store.values import every_record

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader, Store, Writer

KIND = "idempotency"
# How often a process removes expired responses, and how many at once: more than are added in that
# time. Not with each request, because all of them would contend for the oldest rows.
_DROPPED_EVERY = timedelta(seconds=10)
_DROPPED_AT_ONCE = 5_000
_KEPT = timedelta(days=1)
# A process that has held a key for longer than this is assumed to have died.
_HELD = timedelta(minutes=1)
# Distinguishes this process from an earlier one with the same id.
_RUN = secrets.token_hex(8)

Refusal: TypeAlias = Literal["idempotency_mismatch", "not_found", "in_progress", "interrupted"]


class KeyRefused(HoldfastError):
    """The stored response of an idempotency key cannot be given, and the work cannot be started
    under this key."""

    def __init__(self, code: Refusal, message: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code: Refusal = code


# Claiming a key, and storing the response


def claim(core: Core, place: str, asked: str) -> Record:
    """Returns the response stored under this idempotency key; a record without a status means that
    the key is now claimed. `asked` is the digest of the request."""
    now = core.now()
    body = {"asked": asked, "status": None, "answer": "", "holder": _this_process(), "begun": False}
    ours = Record(NO_HUB, KIND, place, now, body, due=now + _KEPT)
    with core.store.write(hub=NO_HUB) as writer:
        if writer.swap_record(None, ours):
            return ours
        # The key was used before, which is rare, so a read that waits is acceptable.
        record = writer.record(NO_HUB, KIND, place)
        if record is not None and record.due is not None and record.due > now:
            _require_usable(record, asked, now)
            if record.body["status"] is not None:
                return record
        if not writer.swap_record(record, ours):
            raise _in_progress()
    return ours


def note_begun(claimed: Record, writer: Writer) -> None:
    """Marks the claim of an idempotency key as begun. Called in the transaction of the work itself,
    so that the mark exists exactly if the work does."""
    writer.swap_record(claimed, _begun(claimed))


def keep(core: Core, claimed: Record, status: int, answer: str, *, hub_id: str = "") -> None:
    """Stores the response under its idempotency key, and the hub that it is about. Sometimes also
    drops expired ones."""
    now = core.now()
    body = {"asked": claimed.body["asked"], "status": status, "answer": answer, "hub": hub_id}
    kept = Record(NO_HUB, KIND, claimed.id, now, body, due=now + _KEPT)
    with core.store.write(hub=NO_HUB) as writer:
        # Another process took over the key because this one was slow; its response counts.
        if not writer.swap_record(_begun(claimed), kept):
            writer.swap_record(claimed, kept)
        if _LOOKED.get(core.store, now - _DROPPED_EVERY) + _DROPPED_EVERY <= now:
            _LOOKED[core.store] = now
            _drop_old(writer, now, _DROPPED_AT_ONCE)


def release(core: Core, claimed: Record) -> None:
    """Releases a claim of an idempotency key after a failure. If nothing was written, nothing is
    stored, and the request may be sent again."""
    with core.store.write(hub=NO_HUB) as writer:
        writer.swap_record(claimed, None)


def drop_old(core: Core) -> int:
    """Removes expired responses to idempotent requests; returns how many. Storing new responses
    does this too; upkeep calls it for when no more are stored."""
    with core.store.write(hub=NO_HUB) as writer:
        return _drop_old(writer, core.now(), _DROPPED_AT_ONCE)


def _drop_old(writer: Writer, now: datetime, limit: int) -> int:
    return sum(writer.swap_record(old, None) for old in writer.due_records(KIND, now, limit=limit))


# Texts of at least this many characters are searched for inside other texts; shorter ones must
# match as a whole.
_TELLING_CHARS = 16
# When this process last looked for expired responses.
_LOOKED: WeakKeyDictionary[Store, datetime] = WeakKeyDictionary()


def _require_usable(record: Record, asked: str, now: datetime) -> None:
    if record.body["asked"] != asked:
        raise KeyRefused(
            "idempotency_mismatch",
            "This idempotency key was used for another request.",
            "Use a new key for each request.",
        )
    if record.body["status"] is not None:
        if not record.body["answer"]:
            raise KeyRefused(
                "not_found", "What this request was answered with has been removed since."
            )
        return
    if now - record.at < _HELD and not _is_gone(record.body["holder"]):
        raise _in_progress()
    if record.body["begun"]:
        raise KeyRefused(
            "interrupted",
            "The first request with this key was cut off after it had written something.",
            "Look what is there before you send it again, with a new key.",
        )


def _in_progress() -> KeyRefused:
    return KeyRefused(
        "in_progress",
        "The first request with this key is still being worked on.",
        "Try again in a moment.",
    )


def _begun(claimed: Record) -> Record:
    return claimed._replace(body={**claimed.body, "begun": True})


def _this_process() -> list[Any]:
    return [socket.gethostname(), os.getpid(), _RUN]


def _is_gone(holder: list[Any]) -> bool:
    """Whether the process that held a key is known to have ended. For processes of other machines
    this is unknown; there, the time limit decides."""
    host, process, run = holder
    if host != socket.gethostname() or os.name != "posix":
        return False
    if process == os.getpid():
        return bool(run != _RUN)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


# The content of a stored response


def blank(writer: Writer, hub_id: str, ids: Collection[str], texts: Iterable[str] = ()) -> None:
    """Removes the texts from responses that contain any of these ids, of purged memories or
    forgotten turns, and from those about their hub that contain any of their texts. The record that
    the request was answered stays, because repeating the request would otherwise restore them."""
    whole, parts = set[str](), list[str]()
    for text in texts:
        # A short text occurs inside many others.
        whole.add(text) if len(text) < _TELLING_CHARS else parts.append(text)

    def holds(text: str) -> bool:
        return text in whole or any(one in text for one in parts)

    for record in _answered(writer):
        named = any(one in record.body["answer"] for one in ids)
        if named or (_is_about(record, hub_id) and _says(record, holds)):
            _empty(writer, record)


def blank_saying(writer: Writer, hub_id: str, holds: Callable[[str], bool]) -> None:
    """Removes the texts from stored responses about this hub that contain a text for which `holds`
    is true."""
    for record in answers_about(writer, hub_id):
        if _says(record, holds):
            _empty(writer, record)


def blank_hub(writer: Writer, hub_id: str) -> None:
    """Removes the texts from stored responses about a hub that is deleted."""
    for record in _answered(writer):
        if record.body.get("hub") == hub_id or hub_id in record.body["answer"]:
            _empty(writer, record)


def answers_about(reader: Reader, hub_id: str) -> Iterator[Record]:
    """The stored responses to idempotent requests about a hub."""
    return (one for one in _answered(reader) if _is_about(one, hub_id))


def _answered(reader: Reader) -> Iterator[Record]:
    return (one for one in every_record(reader, NO_HUB, KIND) if one.body["answer"])


def _is_about(record: Record, hub_id: str) -> bool:
    # A response that names no hub may have the words of any.
    return (record.body.get("hub") or hub_id) == hub_id


def _empty(writer: Writer, record: Record) -> None:
    writer.put_record(record._replace(body={**record.body, "answer": ""}))


def _says(record: Record, holds: Callable[[str], bool]) -> bool:
    return any(map(holds, _texts_in(json.loads(record.body["answer"]))))


def _texts_in(answer: Any, field: str = "") -> Iterator[str]:
    """The texts that somebody wrote: all strings but ids, times and values of closed lists."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield from _texts_in(value, name)
    elif isinstance(answer, list):
        for value in answer:
            yield from _texts_in(value, field)
    elif isinstance(answer, str) and _is_written(answer, field):
        yield answer


def without_removed(answer: Any) -> Any:
    """The stored response to a request that removed turns or memories, without their texts."""
    if isinstance(answer, dict):
        return {name: without_removed(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [without_removed(one) for one in answer if not _is_row(one)]
    return answer


def _is_row(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("id")).startswith(("mem_", "trn_"))


def unseen_in(core: Core, hub_id: str, ids: frozenset[str]) -> frozenset[str]:
    """The memories that are not in this hub, or not visible to the actor of `core`."""
    with core.read() as reader:
        return ids - reader.memories_by_id(hub_id, [*ids]).keys()


# An id of Holdfast, or a time.
_PLAIN = re.compile(r"[a-z]+_[0-9A-Za-z]+|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?")
_MEMORY = re.compile(r"\bmem_[0-9A-Za-z]+")
# Fields with values of closed lists, which reveal nothing of a memory's content.
_CLOSED = frozenset(
    {"action", "boundary", "kind", "layer", "outcome", "result", "role", "source", "stability"}
    | {"state", "status", "trust"}
)


def memories_in(answer: str) -> frozenset[str]:
    """The ids of the memories in a stored response."""
    return frozenset(_MEMORY.findall(answer))


def state_only(answer: Any, field: str = "") -> Any:
    """A stored response without any text that somebody wrote. Its structure, ids, numbers, times
    and states stay, so that a client that repeats a request learns that it succeeded."""
    if isinstance(answer, dict):
        if field == "metadata":
            return {}
        return {name: state_only(value, name) for name, value in answer.items()}
    if isinstance(answer, list):
        kept = [state_only(one, field) for one in answer]
        return [one for one in kept if one != ""]
    if isinstance(answer, str) and _is_written(answer, field):
        return ""
    return answer


def _is_written(text: str, field: str) -> bool:
    """Whether a person or agent wrote the text, rather than this program."""
    return field not in _CLOSED and not _PLAIN.fullmatch(text)
