"""One request: its caller, its hub, and the memory. The key is looked up once, when it is first
needed, in the thread that does the work. A write that is sent twice with the same Idempotency-Key
runs once, and both requests get the same response: `engine.idempotency` decides, this module makes
the digest of a request, runs the work, and responds."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel

from holdfast.api.caller import Caller
from holdfast.api.hub import HubMemory
from holdfast.api.perform import retried
from holdfast.edges.http.answers import Refused, names_in
from holdfast.edges.to_json import to_json
from holdfast.engine import idempotency
from holdfast.engine.idempotency import KeyRefused
from holdfast.engine.people import keys
from holdfast.errors import Forbidden, NotFound, StoreError

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast
    from holdfast.api.people import CallersPeople
    from holdfast.domain.hub import Act
    from holdfast.domain.records import Record
    from holdfast.engine.core import Core
    from holdfast.store.base import Writer


# The header with which a client names its hub, by name or id.
HUB_HEADER = "X-Hub-ID"
# Query parameters that must not contain a key, because URLs are logged and forwarded.
_KEYS_IN_QUERY = ("key", "api_key", "apikey", "token", "access_token")
# A key of Holdfast is recognised by its format, whatever the parameter is called.
_KEY = re.compile(re.escape(keys.KEY_PREFIX) + r"[A-Za-z0-9_-]{43}")


class Call:
    """The context of a route."""

    def __init__(self, request: Request, memory: Holdfast, *, key_needed: bool) -> None:
        self.request = request
        self.memory = memory
        self.key_needed = key_needed
        # The core for looking up the key and the hub.
        self._looking = memory.core
        # Called in every transaction of the request's own writes.
        self.before_commit: Callable[[Writer], None] | None = None
        # The hub that was looked up last.
        self.hub_id = ""

    def look_up_within(self, seconds: float) -> None:
        """Limits how long the store may take to look up the caller and the hub."""
        self._looking = self.memory.core.acting(deadline_s=seconds)

    @cached_property
    def caller(self) -> Caller:
        """The caller; raises 401 if a key is needed and no valid one was sent."""
        asked = self.request.query_params.multi_items()
        if any(name.lower() in _KEYS_IN_QUERY or _KEY.search(value) for name, value in asked):
            raise Refused(
                400,
                "key_in_query",
                "A key must not stand in the address.",
                hint="Send it as `Authorization: Bearer KEY`, and revoke this one.",
            )
        _require_known(self.request, [name for name, _ in asked])
        kind, _, secret = self.request.headers.get("authorization", "").partition(" ")
        if not secret:
            if self.key_needed:
                raise _unauthorized("A key is needed.")
            return Caller(self.memory, looking=self._looking)
        key = keys.find_key(self._looking, secret.strip()) if kind.lower() == "bearer" else None
        if key is None:
            raise _unauthorized("This key opens nothing.")
        return Caller(self.memory, key, looking=self._looking)

    @property
    def people(self) -> CallersPeople:
        """The operations on people as the caller may use them."""
        return self.caller.people()

    @property
    def hub_name(self) -> str | None:
        return name_in_header(self.request.headers.get(HUB_HEADER, "")) or None

    def hub(self, act: Act = "read", *, lasting: bool = False, soon: bool = False) -> HubMemory:
        """The hub of the request, if the caller has this permission. `lasting` is for requests
        without a deadline, such as an export or a pass that calls a model. `soon` is for those with
        the deadline of a recall: then the lookups do not wait for an unreachable store either, as
        they do before a write."""
        if soon:
            self.look_up_within(self._looking.settings["recall.deadline_s"])
        deadline_s = None if lasting else self.memory.core.settings["server.request_seconds"]
        found = self.caller.hub(
            self.hub_name, act, deadline_s=deadline_s, before_commit=self.before_commit
        )
        self.hub_id = found.id
        return found

    def hub_of_members(self, *, lasting: bool = False) -> HubMemory:
        """The hub of the request, for its members only: for data without a boundary, which those
        who see only memories shared beyond the hub may not read."""
        return self.hub("read_log", lasting=lasting)


def name_in_header(sent: str) -> str:
    """A name beyond ASCII, which clients send percent-encoded or as the bytes of UTF-8. No name of
    a hub has a percent sign or bytes that mean something else in Latin-1, as headers are read."""
    try:
        return unquote(sent.encode("latin-1").decode(), errors="strict")
    except UnicodeError:
        return sent


def _require_known(request: Request, names: Sequence[str]) -> None:
    """Refuses unknown parameters: a misspelt filter would be ignored, and everything returned."""
    route = request.scope.get("route")
    if not names or not isinstance(route, APIRoute) or not route.include_in_schema:
        return
    known = [name for field in route.dependant.query_params for name in names_in(field)]
    for name in names:
        if name not in known:
            raise Refused(
                400,
                "invalid_request",
                f"{name[:100]}: There is no such field in this address.",
                hint=f"There are: {', '.join(known)}." if known else "It takes none.",
                details=[{"where": ["query", name[:100]], "what": "unknown"}],
            )


def _unauthorized(message: str) -> Refused:
    return Refused(
        401,
        "unauthorized",
        message,
        hint="Send it as `Authorization: Bearer KEY`, or keep it with `holdfast login URL`."
        " The person who runs the server makes one with `holdfast key create NAME`.",
        headers={"WWW-Authenticate": "Bearer"},
    )


async def _call(
    request: Request,
    x_hub_id: Annotated[
        str | None,
        Header(
            alias=HUB_HEADER,
            description="The hub that is meant, by name or id; a name beyond ASCII is "
            "percent-encoded. Left out: the hub in use, or the only one in reach.",
        ),
    ] = None,
) -> Call:
    state: Any = request.app.state
    return Call(request, state.memory, key_needed=state.key_needed)


Calling = Annotated[Call, Depends(_call)]


_KEY_CHARS_MAX = 200
_STATUSES: dict[idempotency.Refusal, int] = {
    "idempotency_mismatch": 422,
    "not_found": 404,
    "in_progress": 409,
    "interrupted": 409,
}

# An empty key is a client's mistake, because it would be the same for every request.
IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", min_length=1, max_length=_KEY_CHARS_MAX)
]


def data(value: Any) -> dict[str, Any]:
    """The body of a response with this value."""
    return {"data": to_json(value)}


def writes(
    router: APIRouter,
    path: str,
    model: Any,
    *,
    method: str = "POST",
    status: int = 200,
    harmless: bool = False,
    removes: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function the route of a write. Its result is returned as JSON, and it runs once for
    each Idempotency-Key (see `once`)."""

    def add(work: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(work, include_extras=True)
        own = [
            one.replace(kind=one.KEYWORD_ONLY, annotation=hints[one.name])
            for one in inspect.signature(work).parameters.values()
        ]

        def endpoint(*, response: Response, key: IdempotencyKey = None, **given: Any) -> Any:
            body = next((one for one in given.values() if isinstance(one, BaseModel)), None)
            passed = given | ({"response": response} if "response" in hints else {})
            return once(
                given["call"],
                key,
                body,
                response,
                lambda: (status, data(work(**passed))),
                harmless=harmless,
                removes=removes,
            )

        added = inspect.signature(endpoint, eval_str=True).parameters
        own = [one for one in own if one.name != "response"]
        endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [*own, added["response"], added["key"]]
        )
        endpoint.__name__, endpoint.__doc__ = work.__name__, work.__doc__
        router.add_api_route(
            path,
            endpoint,
            methods=[method],
            response_model=model,
            status_code=None if status == 200 else status,
        )
        return work

    return add


def once(
    call: Call,
    key: str | None,
    body: BaseModel | None,
    response: Response,
    work: Callable[[], tuple[int, Any]],
    *,
    harmless: bool = False,
    removes: bool = False,
) -> Any:
    """Runs the work, or repeats the response stored under this key. After a crash in the middle,
    `harmless` (idempotent) work runs again; other work only if nothing of it was written. For work
    that `removes` memories, the response is stored without their texts."""
    caller = call.caller
    if key is None:
        response.status_code, answer = work()
        return answer
    # Per API key, because another key of the same person may have fewer permissions.
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
        call.before_commit = partial(idempotency.note_begun, claimed)
    try:
        status, answer = work()
    except BaseException:
        # The store itself may be unreachable; the error of the work is raised.
        with suppress(StoreError):
            idempotency.release(core, claimed)
        raise
    kept = idempotency.without_removed(answer) if removes else answer
    text = json.dumps(kept, ensure_ascii=False)
    hub_id = call.hub_id
    retried(lambda: idempotency.keep(core, claimed, status, text, hub_id=hub_id), writes=True)
    response.status_code = status
    return answer


def _claim(core: Core, place: str, asked: str) -> Record:
    try:
        # Separate from the work, which is retried by itself when its store is lost.
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
    """The stored answer, for a caller who may still read the hub; without texts if they no longer
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
    """Whether the memories that are not in the hub are visible in the hub that they were moved
    to."""
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
