"""Makes bodies, query parameters and routes from the declaration of an operation.

A route runs the operation as its declaration says: which permission it needs, how long it may
take, and whether it may be repeated. `perform` is the one route of `holdfast.Client`, which is
internal, as both sides have the same version: arguments and result are converted by the type hints
of the method. In a body an unknown field is an error, and a value must have the type that is
documented, not one that could be converted to it.
"""

from __future__ import annotations

import collections.abc
import inspect
import json
import re
import types
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, tzinfo
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from holdfast.api.codec import Coder
from holdfast.api.hub import HubMemory
from holdfast.api.operation import (
    PARAMETERS,
    Operation,
    check_limits,
    operation_of,
    remote_operations_of,
)
from holdfast.api.people import People
from holdfast.api.wire import OMITTED, REQUIRED, Coders, arguments_of, coders_of, decode_arguments
from holdfast.domain.memory import Origin
from holdfast.edges.http.answers import of_error
from holdfast.edges.http.call import Call, Calling, IdempotencyKey, data, once, writes
from holdfast.edges.http.client_identity import stream_lines
from holdfast.edges.http.shapes import answer_of
from holdfast.errors import HoldfastError, NotFound


class Body(BaseModel):
    """A body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_half_characters(cls, given: Any) -> Any:
        """Refuses lone surrogates, which JSON can contain but no store or response can."""
        waiting = [given]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Mapping):
                waiting += [*one, *one.values()]
            elif isinstance(one, list):
                waiting += one
            elif isinstance(one, str):
                try:
                    one.encode()
                except UnicodeEncodeError:
                    raise ValueError("a text holds half a character (a lone surrogate)") from None
        return given


class OriginIn(Body):
    """The place in a conversation from which the memory was made."""

    turn: str
    start: int
    end: int
    hash: str


class Parameters(BaseModel):
    """The parameters of an address. Unknown ones are ignored, and a text is read as the type."""


def body_of(
    operation: Callable[..., Any],
    *,
    without: tuple[str, ...] = (),
    fields: Mapping[str, tuple[Any, Any]] | None = None,
) -> Any:
    """A body with the arguments of an operation except those in `without`, each described and
    limited as declared. `fields` has the type and the default of fields that differ from their
    argument, and of additional fields.

    To be subclassed with a name and a docstring."""
    return _model(Body, operation, without, dict(fields or {}))


def named_body(
    name: str,
    operation: Callable[..., Any],
    *,
    without: tuple[str, ...] = (),
    fields: Mapping[str, tuple[Any, Any]] | None = None,
) -> type[BaseModel]:
    """The body of a REST request that runs an operation, named, with the operation's
    description."""
    made: type[BaseModel] = _model(Body, operation, without, dict(fields or {}), name)
    made.__doc__ = operation.__doc__
    return made


def query_of(
    operation: Callable[..., Any],
    *,
    without: tuple[str, ...] = (),
    fields: Mapping[str, tuple[Any, Any]] | None = None,
) -> Any:
    """The query parameters of a REST route with the arguments of an operation."""
    return _model(Parameters, operation, without, dict(fields or {}))


def _model(
    base: type[BaseModel],
    operation: Callable[..., Any],
    without: tuple[str, ...],
    own: dict[str, tuple[Any, Any]],
    called: str = "Fields",
) -> Any:
    declared = operation_of(operation)
    limits = {} if declared is None else declared.limits
    found: dict[str, tuple[Any, Any]] = {}
    for name, hint, default in arguments_of(operation):
        if name in own:
            found[name] = own.pop(name)
        elif name not in without:
            hint = _in_json(hint)
            given = ... if default is REQUIRED else None if default is OMITTED else default
            found[name] = (hint, _field(name, hint, given, limits.get(name)))
    made: Any = create_model
    return made(called, __base__=base, **found, **own)


def _field(name: str, hint: Any, default: Any, most: int | None) -> Any:
    """One field. A limit is the largest number, or the most items, that a server takes."""
    settings: dict[str, Any] = {}
    if most is not None:
        takes_numbers = hint is int or int in get_args(hint)
        settings = {"ge": 1, "le": most} if takes_numbers else {"max_length": most}
    if name in PARAMETERS:
        settings["description"] = PARAMETERS[name].described
    if default == ():
        return Field(default_factory=list, **settings)
    return Field(default=default, **settings)


def _in_json(hint: Any) -> Any:
    """The type of an argument as a body has it: times, zones and references are texts."""
    if hint in (datetime, tzinfo):
        return str
    if hint is Origin:
        return OriginIn
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        # The library accepts a number as a reference; a body has it as text.
        kinds = [one for one in args if not (one is int and str in args)]
        return Union[tuple(dict.fromkeys(_in_json(one) for one in kinds))]  # noqa: UP007
    if origin is collections.abc.Iterable:
        return list[_in_json(args[0])]  # type: ignore[misc]
    if origin is collections.abc.Mapping:
        return dict[str, Any]
    return hint


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
    # The key is checked first: callers without one must not learn which operations exist.
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

    options = {"harmless": declared.replay, "removes": declared.purges}
    return once(call, key, sent, response, work, **options)


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
    """Runs the operation in the hub of the request, if the caller has the permission."""
    hub = call.hub(
        declared.permission,
        lasting=declared.deadline is None,
        soon=declared.deadline == "recall",
    )
    return getattr(hub, declared.name)(**values)


class Routes(APIRouter):
    """A router for routes that run operations."""

    def serves(
        self,
        method: str,
        path: str,
        operation: Callable[..., Any],
        *,
        body: type[BaseModel] | str = "",
        name: str = "",
        status: int = 200,
        about: str = "",
        **fields: tuple[Any, Any],
    ) -> None:
        """Makes the route of an operation: its docstring describes it, its declaration says what
        it needs, and its hints what it answers with. A parameter of the path is its first
        argument. The others come in the body, which is a model or the name of one, and without a
        body in the query. `fields` has the type and the default of those that differ."""
        declared = operation_of(operation)
        assert declared is not None
        in_path = re.findall(r"{(\w+)}", path)
        first = {one: arguments_of(operation)[0][0] for one in in_path}
        hints: dict[str, Any] = {"call": Calling, **dict.fromkeys(in_path, str)}
        taken = tuple(first.values())
        if isinstance(body, str) and body:
            body = named_body(body, operation, without=taken, fields=fields)
        if body:
            hints["body"] = body
        else:
            query = query_of(operation, without=taken, fields=fields)
            if query.model_fields:
                hints["query"] = Annotated[query, Query()]

        def work(call: Call, **given: Any) -> Any:
            values: dict[str, Any] = {}
            for one, value in given.items():
                sent = isinstance(value, BaseModel)
                values |= value.model_dump() if sent else {first[one]: value}
            return _run(call, declared, values)

        def answer(call: Call, **given: Any) -> Any:
            return data(work(call, **given))

        for made in (work, answer):
            made.__name__, made.__doc__ = name or declared.name, about or operation.__doc__
            _set_signature(made, hints)
        if declared.writes:
            writes(
                self,
                path,
                answer_of(operation),
                method=method,
                status=status,
                harmless=declared.replay,
                removes=declared.purges,
            )(work)
        else:
            self.add_api_route(path, answer, methods=[method], response_model=answer_of(operation))


def _set_signature(function: Callable[..., Any], hints: dict[str, Any]) -> None:
    """Gives a function these keyword parameters, which FastAPI reads."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(one, keyword, annotation=hint) for one, hint in hints.items()]
    function.__annotations__ = hints
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]


def _streamed(request: Request, items: Iterator[Any], item: Coder) -> StreamingResponse:
    # The first item is read before the response begins, so that an error has its own status.
    first = [item.encode(one) for _, one in zip(range(1), items, strict=False)]
    return stream_lines(request, _lines(request, first, items, item))


def _lines(request: Request, first: list[Any], items: Iterator[Any], item: Coder) -> Iterator[str]:
    """The items as lines, then an end line or an error."""
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
