"""Idempotency keys: a write that is sent twice with the same key is done once, and answered twice
with the same answer. The answers are kept for a day, in the store, for the one who asked.

They are on the way of every such request, so they are written without looking first: a record is
put where there was none, or in the place of the one that is known. Nobody waits for anybody else's.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from weakref import WeakKeyDictionary

from fastapi import Header, Response
from pydantic import BaseModel

from holdfast.domain.records import NO_HUB, Record
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Call
from holdfast.engine import idempotency
from holdfast.engine.core import Core
from holdfast.engine.idempotency import KIND
from holdfast.engine.retry import persist
from holdfast.errors import Forbidden, NotFound, StoreError

if TYPE_CHECKING:
    from holdfast.store.base import Store, Writer

# So often a server looks for answers that were kept long enough, and so many go at once: more than
# come. Not with each request, as all of them would wait for each other at the oldest.
_DROPPED_EVERY = timedelta(seconds=10)
_DROPPED_AT_ONCE = 5_000
_KEPT = timedelta(days=1)
# Who holds a key for longer than this has died, even where nobody can tell.
_HELD = timedelta(minutes=1)
_KEY_CHARS_MAX = 200
# Tells this process from an earlier one of the same number.
_RUN = secrets.token_hex(8)

# An empty one is a client's mistake: it would be the same key for everything that client sends.
IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", min_length=1, max_length=_KEY_CHARS_MAX)
]


def once(
    call: Call,
    key: str | None,
    body: BaseModel | None,
    response: Response,
    work: Callable[[], tuple[int, Any]],
    *,
    harmless: bool = False,
) -> Any:
    """Does the work, or answers as it was answered before under this key. Where the server dies in
    the middle of it, work that is `harmless` to do twice is done again; other work only if nothing
    of it was written."""
    caller = call.caller
    if key is None:
        response.status_code, answer = work()
        return answer
    # Per API key: another one of the same person may be allowed less.
    place = _digest(caller.actor, "" if caller.key is None else caller.key.id, key)
    asked = _digest(
        call.request.method,
        call.request.url.path,
        call.request.url.query,
        call.hub_name or "",
        "" if body is None else body.model_dump_json(),
    )
    core = call.memory.core
    # Outside of the work, which is begun again by itself where its store is lost.
    claimed = persist(lambda: _claim(core, place, asked), writes=True)
    if claimed.body["status"] is not None:
        return _replayed(call, claimed, response)
    if not harmless:
        call.also = partial(_note_begun, claimed)
    try:
        status, answer = work()
    except BaseException:
        # A store that cannot be told is the one that was lost: what became of the work counts.
        with suppress(StoreError):
            _release(core, claimed)
        raise
    persist(lambda: _keep(core, claimed, status, answer), writes=True)
    response.status_code = status
    return answer


def _replayed(call: Call, kept: Record, response: Response) -> Any:
    """What was answered then, for who may still look; without what is in it where they no longer
    see a memory that it is about."""
    hub = call.hub()
    text: str = kept.body["answer"]
    answer = json.loads(text)
    response.status_code = kept.body["status"]
    left = idempotency.memories_in(text)
    with hub.core.read() as reader:
        left -= reader.memories_by_id(hub.id, [*left]).keys()
    bare = idempotency.state_only(answer)
    if left and bare != answer and not _moved_and_seen(call, answer, left):
        response.headers["Idempotent-Replay"] = "state-only"
        return bare
    response.headers["Idempotent-Replay"] = "true"
    return answer


def _moved_and_seen(call: Call, answer: Any, left: frozenset[str]) -> bool:
    """Whether those that are not in the hub are in one that they were moved to, and seen there."""
    if call.request.url.path.rpartition("/")[2] != "batch-move":
        return False
    for hub_id in {one["hub_id"] for one in answer["data"] if "hub_id" in one}:
        try:
            there = call.caller.hub(hub_id)
        except (NotFound, Forbidden):
            continue
        with there.core.read() as reader:
            left -= reader.memories_by_id(there.id, [*left]).keys()
    return not left


def _claim(core: Core, place: str, asked: str) -> Record:
    """What was answered under this key; or, with no status, that it is ours now."""
    now = core.now()
    body = {"asked": asked, "status": None, "answer": "", "holder": _me(), "begun": False}
    ours = Record(NO_HUB, KIND, place, now, body, due=now + _KEPT)
    with core.store.write(hub=NO_HUB) as writer:
        if writer.swap_record(None, ours):
            return ours
        # It was used before, which is rare: this look may wait.
        record = writer.record(NO_HUB, KIND, place)
        if record is not None and record.due is not None and record.due > now:
            _refuse(record, asked, now)
            if record.body["status"] is not None:
                return record
        if not writer.swap_record(record, ours):
            raise _in_progress()
    return ours


def _refuse(record: Record, asked: str, now: datetime) -> None:
    """Refuses where neither the answer can be given nor the work be begun."""
    if record.body["asked"] != asked:
        raise Refused(
            422,
            "idempotency_mismatch",
            "This idempotency key was used for another request.",
            hint="Use a new key for each request.",
        )
    if record.body["status"] is not None:
        if not record.body["answer"]:
            raise Refused(
                404, "not_found", "What this request was answered with has been removed since."
            )
        return
    if now - record.at < _HELD and not _is_gone(record.body["holder"]):
        raise _in_progress()
    if record.body["begun"]:
        raise Refused(
            409,
            "interrupted",
            "The first request with this key was cut off after it had written something.",
            hint="Look what is there before you send it again, with a new key.",
        )


def _in_progress() -> Refused:
    return Refused(
        409,
        "in_progress",
        "The first request with this key is still being worked on.",
        hint="Try again in a moment.",
        headers={"Retry-After": "1"},
    )


def _begun(claimed: Record) -> Record:
    return claimed._replace(body={**claimed.body, "begun": True})


def _note_begun(claimed: Record, writer: Writer) -> None:
    """In the transaction of the work itself: it is there exactly if the work is. What is begun
    already stays so."""
    writer.swap_record(claimed, _begun(claimed))


def _me() -> list[Any]:
    return [socket.gethostname(), os.getpid(), _RUN]


def _is_gone(holder: list[Any]) -> bool:
    """Whether the process that held a key is known to have ended. Of other machines nothing is
    known; there, time tells."""
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


def _keep(core: Core, claimed: Record, status: int, answer: Any) -> None:
    now = core.now()
    text = json.dumps(answer, ensure_ascii=False)
    body = {"asked": claimed.body["asked"], "status": status, "answer": text}
    kept = Record(NO_HUB, KIND, claimed.id, now, body, due=now + _KEPT)
    with core.store.write(hub=NO_HUB) as writer:
        # Whoever took it over, because we were slow, has another record there, and answers.
        if not writer.swap_record(_begun(claimed), kept):
            writer.swap_record(claimed, kept)
        if _LOOKED.get(core.store, now - _DROPPED_EVERY) + _DROPPED_EVERY <= now:
            _LOOKED[core.store] = now
            _drop_old(writer, now, _DROPPED_AT_ONCE)


def _release(core: Core, claimed: Record) -> None:
    """After a failure: where nothing was written nothing is kept, and the request may be sent again
    as it is."""
    with core.store.write(hub=NO_HUB) as writer:
        writer.swap_record(claimed, None)


# When this process has last looked for old answers.
_LOOKED: WeakKeyDictionary[Store, datetime] = WeakKeyDictionary()


def drop_old(core: Core, *, limit: int = 500) -> int:
    """Removes answers that were kept long enough; returns how many."""
    with core.store.write(hub=NO_HUB) as writer:
        return _drop_old(writer, core.now(), limit)


def _drop_old(writer: Writer, now: datetime, limit: int) -> int:
    return sum(writer.swap_record(old, None) for old in writer.due_records(KIND, now, limit=limit))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
