"""Runs an operation of a hub, or on people, for `holdfast.Client`: arguments and result are
converted by the type hints of its method, and what it needs is read from its declaration.

It is internal: both sides have the same version. Other clients use the routes of REST.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import Field

from holdfast.api.codec import Coder
from holdfast.api.hub import HubMemory
from holdfast.api.operation import Operation, check_limits, remote_operations_of
from holdfast.api.people import People
from holdfast.api.wire import Coders, coders_of, decode_arguments
from holdfast.edges.http.answers import of_error
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Call, Calling, IdempotencyKey, once
from holdfast.edges.http.client_identity import stream_lines
from holdfast.errors import HoldfastError, NotFound

router = APIRouter(tags=["operations"])


class Arguments(Body):
    """The arguments of an operation, by name."""

    arguments: dict[str, Any] = Field(default_factory=dict)


@router.post("/operations/{operation}", include_in_schema=False)
def perform(
    call: Calling,
    operation: str,
    sent: Arguments,
    response: Response,
    key: IdempotencyKey = None,
) -> Any:
    """Runs an operation and answers with its result. What it returns one by one is answered as
    lines of JSON, the last of which says that it is complete."""
    # The key is checked first: strangers do not learn which operations there are.
    _ = call.caller
    declared = _declared(operation, HubMemory)
    coders = coders_of(getattr(HubMemory, operation))
    values = _values(declared, coders, sent.arguments)
    if declared.stream:
        items = iter(_run(call, declared, values))
        return _streamed(call.request, items, coders.result)
    if not declared.writes:
        return JSONResponse({"data": coders.result.encode(_run(call, declared, values))})

    def work() -> tuple[int, Any]:
        redactor = call.memory.core.redactor
        redactor.take()
        result = coders.result.encode(_run(call, declared, values))
        return 200, {"data": result, "redacted": redactor.take()}

    return once(call, key, sent, response, work, harmless=declared.replay)


@router.post("/operations/people/{operation}", include_in_schema=False)
def perform_people(call: Calling, operation: str, sent: Arguments) -> Any:
    """Runs an operation on people, teams, organisations or keys. What the caller may do depends on
    the place that the arguments name, so the operation checks it."""
    caller = call.caller
    declared = _declared(operation, People)
    coders = coders_of(getattr(People, operation))
    values = _values(declared, coders, sent.arguments)
    result = getattr(caller.people(call.hub_name), operation)(**values)
    return JSONResponse({"data": coders.result.encode(result)})


def _declared(operation: str, kind: type) -> Operation:
    declared = _operations(kind).get(operation)
    if declared is None:
        raise NotFound(
            f"There is no operation {operation[:100]!r} on this server.",
            hint="Use the same version of Holdfast here and there.",
        )
    return declared


@cache
def _operations(kind: type) -> dict[str, Operation]:
    return remote_operations_of(kind)


def _values(declared: Operation, coders: Coders, sent: dict[str, Any]) -> dict[str, Any]:
    values = decode_arguments(coders, sent)
    if declared.paged and values.get("limit") is None:
        values["limit"] = declared.limits["limit"]
    check_limits(declared, values)
    return values


def _run(call: Call, declared: Operation, values: dict[str, Any]) -> Any:
    """Runs the operation in the hub that is meant, if the caller may do that there."""
    hub = call.hub(
        declared.permission,
        lasting=declared.deadline is None,
        soon=declared.deadline == "recall",
    )
    return getattr(hub, declared.name)(**values)


def _streamed(request: Request, items: Iterator[Any], item: Coder) -> StreamingResponse:
    # The first one is fetched before the answer begins, so that an error has its own status.
    first = [item.encode(one) for _, one in zip(range(1), items, strict=False)]
    return stream_lines(request, _lines(request, first, items, item))


def _lines(request: Request, first: list[Any], items: Iterator[Any], item: Coder) -> Iterator[str]:
    """The items as lines; then the end, or what went wrong."""
    try:
        for one in first:
            yield _line({"data": one})
        for one in items:
            yield _line({"data": item.encode(one)})
        yield _line({"end": True})
    except HoldfastError as error:
        yield bytes(of_error(request, error).body).decode()


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
