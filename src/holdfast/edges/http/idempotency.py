"""Idempotency keys over REST: a write that is sent twice with the same key is done once, and
answered twice with the same answer. `engine.idempotency` decides; this module makes the digest of a
request, runs the work, and answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Header, Response
from pydantic import BaseModel

from holdfast.api.perform import retried
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Call
from holdfast.engine import idempotency
from holdfast.engine.idempotency import KeyRefused
from holdfast.errors import Forbidden, NotFound, StoreError

if TYPE_CHECKING:
    from holdfast.domain.records import Record
    from holdfast.engine.core import Core

_KEY_CHARS_MAX = 200
_STATUSES: dict[idempotency.Refusal, int] = {
    "idempotency_mismatch": 422,
    "not_found": 404,
    "in_progress": 409,
    "interrupted": 409,
}

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
    claimed = _claim(core, place, asked)
    if claimed.body["status"] is not None:
        return _replayed(call, claimed, response)
    if not harmless:
        call.also = partial(idempotency.note_begun, claimed)
    try:
        status, answer = work()
    except BaseException:
        # The store may be what was lost; the error of the work itself is raised.
        with suppress(StoreError):
            idempotency.release(core, claimed)
        raise
    text = json.dumps(answer, ensure_ascii=False)
    retried(lambda: idempotency.keep(core, claimed, status, text), writes=True)
    response.status_code = status
    return answer


def _claim(core: Core, place: str, asked: str) -> Record:
    try:
        # Outside of the work, which is begun again by itself where its store is lost.
        return retried(lambda: idempotency.claim(core, place, asked), writes=True)
    except KeyRefused as refused:
        headers = {"Retry-After": "1"} if refused.code == "in_progress" else None
        raise Refused(
            _STATUSES[refused.code],
            refused.code,
            refused.message,
            hint=refused.hint,
            headers=headers,
        ) from None


def _replayed(call: Call, kept: Record, response: Response) -> Any:
    """What was answered then, for who may still look; without what is in it where they no longer
    see a memory that it is about."""
    hub = call.hub()
    text: str = kept.body["answer"]
    answer = json.loads(text)
    response.status_code = kept.body["status"]
    left = idempotency.unseen_in(hub.core, hub.id, idempotency.memories_in(text))
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
        left = idempotency.unseen_in(there.core, there.id, left)
    return not left


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
