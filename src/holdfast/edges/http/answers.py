"""Error responses. Every response is `{"data": …}` or `{"error": {"code": …, "message": …,
"details": …}}`. Errors of the engine become a status and a code that a client can act on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from holdfast.api.caller import without_places
from holdfast.errors import (
    AlreadyExists,
    CallCancelled,
    Conflict,
    DeadlineExceeded,
    EmbedderError,
    Forbidden,
    HoldfastError,
    HubFull,
    InvalidInput,
    ModelError,
    NotFound,
    ServerUnreachable,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreFull,
    StoreReadOnly,
    TooLarge,
    code_of,
)


class Refused(HoldfastError):
    """A REST request that is refused before the engine is called."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        headers: dict[str, str] | None = None,
        details: Any = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.headers = headers or {}
        self.details = details


# The first match counts.
_STATUSES: tuple[tuple[type[HoldfastError], int], ...] = (
    (TooLarge, 413),
    (InvalidInput, 400),
    (NotFound, 404),
    (Forbidden, 403),
    (AlreadyExists, 409),
    (Conflict, 409),
    (DeadlineExceeded, 504),
    (CallCancelled, 499),
    (StoreBusy, 503),
    (StoreClosed, 503),
    (HubFull, 507),
    (StoreFull, 507),
    (StoreReadOnly, 503),
    (ServerUnreachable, 503),
    (StoreError, 500),
    (EmbedderError, 503),
    (ModelError, 503),
    (HoldfastError, 500),
)
# A busy store can be retried soon: writes take milliseconds.
_RETRY_AFTER_S = "1"

_SEND_JSON = "Send it with `Content-Type: application/json`."
_SEND_OBJECT = "Send a JSON object; {} where nothing has to be said."
# What the framework calls a body that is a list, a text, a number or null.
_NO_OBJECT = ("model_attributes_type", "model_type", "dict_type")
_NO_JSON = "The body is no JSON that can be read"
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}


def problem(
    status: int,
    code: str,
    message: str,
    details: Any = None,
    headers: dict[str, str] | None = None,
    hint: str = "",
    command: str = "",
) -> JSONResponse:
    """An error in the common format. The message ends with the hint; for clients that show it
    separately, `hint` has it too, and `command` is what a person types at the command line."""
    error = {"code": code, "message": message, "details": details, "hint": hint}
    body = {"error": error | ({"command": command} if command else {})}
    return JSONResponse(body, status, headers)


def status_of(kind: type[HoldfastError]) -> int:
    """The status for a class of errors."""
    return next(status for known, status in _STATUSES if issubclass(kind, known))


def of_error(request: Request, error: HoldfastError) -> JSONResponse:
    """The response for an error of the engine; for callers with a key, without paths of this
    machine."""
    home = request.app.state.memory.home if "authorization" in request.headers else ""
    said, hint = (without_places(text, home) for text in (str(error), error.hint))
    if isinstance(error, Refused):
        return problem(error.status, error.code, said, error.details, error.headers, hint)
    status = status_of(type(error))
    code = code_of(error)
    if isinstance(error, ServerUnreachable) and not error.in_doubt:
        # Clients repeat a request after a 503, so nothing of it may have been written.
        status, code = (503, code) if error.again else (500, StoreError.code)
    elif isinstance(error, StoreError) and error.in_doubt:
        status = 500
    headers = {"Retry-After": _RETRY_AFTER_S} if status == 503 else None
    command = without_places(error.command, home)
    return problem(status, code, said, headers=headers, hint=hint, command=command)


def install(app: FastAPI) -> None:
    """Makes the app return every error in the common format."""

    @app.exception_handler(HoldfastError)
    async def engine_error(request: Request, error: HoldfastError) -> JSONResponse:
        return of_error(request, error)

    @app.exception_handler(RequestValidationError)
    async def wrong_request(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["loc"] == ("body",) and isinstance(first["input"], bytes):
            # The framework parses only JSON, and passes other bodies as bytes.
            said = "The body must be JSON."
            return problem(415, "unsupported_media_type", said, hint=_SEND_JSON)
        if first["loc"] == ("body",) and first["type"] in _NO_OBJECT:
            said = f"The body must be a JSON object. {_SEND_OBJECT}"
            details = [{"where": ["body"], "what": "must be an object"}]
            return problem(400, "invalid_request", said, details, hint=_SEND_OBJECT)
        if first["type"] == "json_invalid":
            said = f"{_NO_JSON} (at character {first['loc'][-1]})."
            return problem(400, "invalid_request", said)
        details = [{"where": list(one["loc"]), "what": one["msg"]} for one in error.errors()]
        # A misspelt field gives two errors: one missing field, and one unknown.
        message = f"{'; '.join(_wrong(error.errors())[:_ERRORS_SAID])}."
        hint = _about_the_body(request, error.errors())
        said = f"{message} {hint}".rstrip()
        return problem(400, "invalid_request", said, details, hint=hint)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:
            # The framework raises this for a body that is nested too deep, or has a number that is
            # too long.
            return problem(400, "invalid_request", f"{_NO_JSON}.")
        code = _CODES.get(error.status_code, "http_error")
        headers = dict(error.headers) if error.headers else {}
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_methods_at(request))
        message, hint = _said_of(request, error.status_code, headers.get("Allow", ""))
        said = f"{message or error.detail} {hint}".rstrip()
        return problem(error.status_code, code, said, headers=headers, hint=hint)


def _said_of(request: Request, status: int, methods: str) -> tuple[str, str]:
    """The sentence on a path or a method that there is not, and what to do."""
    path = request.url.path[:_PATH_CHARS_MAX]
    if status == 404:
        ends = len(path) > 1 and path.endswith("/")
        hint = "Leave the slash at its end out." if ends else _LISTED
        if path.startswith("/v1/memories/") and not ends:
            hint += " A key with a slash is looked up by /v1/memories/find?reference=KEY."
        return f"There is nothing at {path}.", hint
    if status == 405:
        return f"The path {path} takes {methods} and not {request.method}.", _LISTED
    return "", ""


# As much of a path as a sentence holds.
_PATH_CHARS_MAX = 200
# The rest is in the details.
_ERRORS_SAID = 3
_LISTED = "/openapi.json lists the paths and their methods."


# The framework reports an error for each type that a field may have, with the type as the last part
# of its location.
_TYPE = re.compile(r"str|int|float|bool|\w+\[.*\]")
_SHOULD_BE = "Input should be "


def _wrong(errors: Sequence[Mapping[str, Any]]) -> list[str]:
    """The error of each field, by its name: the first part of its location is body, query or
    path."""
    said: dict[str, str] = {}
    for error in errors:
        place = [str(part) for part in error["loc"][1:]]
        if len(place) > 1 and _TYPE.fullmatch(place[-1]):
            del place[-1]
        name = ".".join(place) or "The request"
        if name in said:
            said[name] += f" or {error['msg'].removeprefix(_SHOULD_BE)}"
        else:
            said[name] = error["msg"]
    return [f"{name}: {message}" for name, message in said.items()]


def _about_the_body(request: Request, errors: Sequence[Mapping[str, Any]]) -> str:
    """What to send, if there is no body or a field is unknown."""
    if any(error["loc"] == ("body",) and error["type"] == "missing" for error in errors):
        return _SEND_OBJECT
    route = request.scope.get("route")
    unknown = any(
        error["type"] == "extra_forbidden" and error["loc"][:-1] == ("body",) for error in errors
    )
    if not unknown or not isinstance(route, APIRoute):
        return ""
    known = [name for field in route.dependant.body_params for name in names_in(field)]
    return f"There are: {', '.join(known)}."


def names_in(field: Any) -> list[str]:
    """The names that a parameter of a route has in a request; a model has one for each field."""
    kind = field.field_info.annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [info.alias or name for name, info in kind.model_fields.items()]
    return [field.alias]


def _methods_at(request: Request) -> list[str]:
    """The methods of a path, which may have a route for each."""
    path = request.url.path
    found = [
        one
        for one in iter_route_contexts(request.app.routes)
        if one.methods and one.path_regex.match(path)
    ]
    # Patterns of later routes may match too; the first one counts.
    same = [one.methods for one in found if one.path == found[0].path]
    return sorted(set[str]().union(*(methods for methods in same if methods)))
