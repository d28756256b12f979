"""Idempotency keys: a write that is sent twice with the same key is done once, and answered twice
with the same answer. The answers are kept for a day, in the store, for the one who asked."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Header, Response
from pydantic import BaseModel

from holdfast.domain.record import NO_HUB, Record
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Call
from holdfast.engine.core import Core
from holdfast.engine.kept_answers import KIND

if TYPE_CHECKING:
    from holdfast.store.base import Writer

# With each new answer so many go that were kept long enough: more than come.
_DROPPED_AT_ONCE = 8
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
    guest = call.guest
    if key is None:
        response.status_code, answer = work()
        return answer
    # Per API key: another one of the same person may be allowed less.
    place = _digest(guest.actor, "" if guest.key is None else guest.key.id, key)
    asked = _digest(
        call.request.method,
        call.request.url.path,
        call.request.url.query,
        call.hub_name or "",
        "" if body is None else body.model_dump_json(),
    )
    known = _claim(call, place, asked)
    if known is not None:
        # What was answered then is told again only to who may still look.
        call.hub()
        response.status_code = known["status"]
        response.headers["Idempotent-Replay"] = "true"
        return known["answer"]
    if not harmless:
        call.also = partial(_note_begun, call.memory.core, place)
    try:
        status, answer = work()
    except BaseException:
        _release(call, place)
        raise
    _keep(call, place, asked, status, answer)
    response.status_code = status
    return answer


def _claim(call: Call, place: str, asked: str) -> dict[str, Any] | None:
    """What was answered under this key; None where it is ours now."""
    core = call.memory.core
    now = core.now()
    with core.store.write() as writer:
        record = writer.record(NO_HUB, KIND, place)
        if record is not None and record.due is not None and record.due > now:
            if record.body["asked"] != asked:
                raise Refused(
                    422,
                    "idempotency_mismatch",
                    "This idempotency key was used for another request.",
                    hint="Use a new key for each request.",
                )
            if record.body["status"] is not None and not record.body["answer"]:
                raise Refused(
                    404, "not_found", "What this request was answered with has been removed since."
                )
            if record.body["status"] is not None:
                answer = json.loads(record.body["answer"])
                return {"status": record.body["status"], "answer": answer}
            if now - record.at < _HELD and not _is_gone(record.body["holder"]):
                raise Refused(
                    409,
                    "in_progress",
                    "The first request with this key is still being worked on.",
                    hint="Try again in a moment.",
                    headers={"Retry-After": "1"},
                )
            if record.body["begun"]:
                raise Refused(
                    409,
                    "interrupted",
                    "The first request with this key was cut off after it had written something.",
                    hint="Look what is there before you send it again, with a new key.",
                )
        held = {"asked": asked, "status": None, "answer": "", "holder": _me(), "begun": False}
        writer.put_record(Record(NO_HUB, KIND, place, now, held, due=now + _KEPT))
        _drop_old(writer, now, _DROPPED_AT_ONCE)
    return None


def _note_begun(core: Core, place: str, writer: Writer) -> None:
    """In the transaction of the work itself: it is there exactly if the work is."""
    record = writer.record(NO_HUB, KIND, place)
    if record is not None and not record.body["begun"]:
        writer.put_record(record._replace(body={**record.body, "begun": True}))


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


def _keep(call: Call, place: str, asked: str, status: int, answer: Any) -> None:
    core = call.memory.core
    now = core.now()
    body = {"asked": asked, "status": status, "answer": json.dumps(answer, ensure_ascii=False)}
    with core.store.write() as writer:
        writer.put_record(Record(NO_HUB, KIND, place, now, body, due=now + _KEPT))


def _release(call: Call, place: str) -> None:
    """After a failure: where nothing was written nothing is kept, and the request may be sent again
    as it is."""
    with call.memory.core.store.write() as writer:
        record = writer.record(NO_HUB, KIND, place)
        if record is not None and not record.body["begun"]:
            writer.drop_record(NO_HUB, KIND, place)


def drop_old(core: Core, *, limit: int = 500) -> int:
    """Removes answers that were kept long enough; returns how many."""
    with core.store.write() as writer:
        return _drop_old(writer, core.now(), limit)


def _drop_old(writer: Writer, now: datetime, limit: int) -> int:
    old = writer.due_records(KIND, now, limit=limit)
    for record in old:
        writer.drop_record(record.hub_id, KIND, record.id)
    return len(old)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
