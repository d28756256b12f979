"""Idempotency keys: a write that is sent twice with the same key is done once, and answered twice
with the same answer. The answers are kept for a day, in the store, for the one who asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

from fastapi import Header, Response
from pydantic import BaseModel

from holdfast.domain.record import NO_HUB, Record
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Call
from holdfast.engine.core import Core

KIND = "idempotency"
_KEPT = timedelta(days=1)
# Who holds a key for longer than this has died: the request may be tried again.
_HELD = timedelta(minutes=1)
_KEY_CHARS_MAX = 200

IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", max_length=_KEY_CHARS_MAX)]


def once(
    call: Call,
    key: str | None,
    body: BaseModel | None,
    response: Response,
    work: Callable[[], tuple[int, Any]],
) -> Any:
    """Does the work, or answers as it was answered before under this key."""
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
    try:
        status, answer = work()
    except BaseException:
        # Nothing was done, so nothing is kept: the request may be sent again as it is.
        _release(call, place)
        raise
    _keep(call, place, asked, status, answer)
    response.status_code = status
    return answer


def _claim(call: Call, place: str, asked: str) -> dict[str, Any] | None:
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
            if record.body["status"] is None:
                raise Refused(
                    409,
                    "in_progress",
                    "The first request with this key is still being worked on.",
                    hint="Try again in a moment.",
                    headers={"Retry-After": "1"},
                )
            return {"status": record.body["status"], "answer": json.loads(record.body["answer"])}
        held = {"asked": asked, "status": None, "answer": ""}
        writer.put_record(Record(NO_HUB, KIND, place, now, held, due=now + _HELD))
    return None


def _keep(call: Call, place: str, asked: str, status: int, answer: Any) -> None:
    core = call.memory.core
    now = core.now()
    body = {"asked": asked, "status": status, "answer": json.dumps(answer, ensure_ascii=False)}
    with core.store.write() as writer:
        writer.put_record(Record(NO_HUB, KIND, place, now, body, due=now + _KEPT))


def _release(call: Call, place: str) -> None:
    with call.memory.core.store.write() as writer:
        writer.drop_record(NO_HUB, KIND, place)


def drop_old(core: Core, *, limit: int = 500) -> int:
    """Removes answers that were kept long enough; returns how many."""
    with core.store.write() as writer:
        old = writer.due_records(KIND, core.now(), limit=limit)
        for record in old:
            writer.drop_record(record.hub_id, KIND, record.id)
    return len(old)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
