"""Files over REST: uploads as a multipart form that is streamed to disk, downloads that no browser
renders as a page; and the jobs that read the files."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from holdfast.domain.memory import GIVEN_TIMES
from holdfast.domain.results import Duplicate, Updated
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Call, Calling, IdempotencyKey, once
from holdfast.edges.http.client_identity import Streams, client_of
from holdfast.edges.http.shapes import JobOut, Many, Pushed
from holdfast.edges.server.http_protocol import connection_of
from holdfast.edges.to_json import job_to_json, result_to_json
from holdfast.files.attachments import Incoming, Received

router = APIRouter(prefix="/memories", tags=["files"])
jobs = APIRouter(tags=["files"])

# The size of a form besides the file: field names, boundaries, a few lines of text.
_FORM_BYTES = 200_000
_FIELD_BYTES_MAX = 65_536
_FIELDS_MAX = 64
# Written to disk in pieces of this size, each in another thread.
_PIECE = 1 << 18
# A client that sends nothing for this long has gone; one that is slower than this on average is not
# waited for.
_IDLE_S = 30.0
_WHOLE_S = 900.0

_TEXTS = (
    *("title", "summary", "key", "category", "kind", "stability", "boundary", "layer", "trust"),
    *("source_path", "source_agent", "assisted_by_agent", "session", "speaker"),
    *GIVEN_TIMES,
)
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                        "pinned": {"type": "string", "enum": ["true", "false"]},
                        "metadata": {"type": "string", "description": "a JSON object"},
                        **{name: {"type": "string"} for name in _TEXTS},
                    },
                }
            }
        },
    }
}


class Uploaded(BaseModel):
    """The upload, for detecting a repeated request."""

    hash: str
    name: str
    fields: dict[str, Any]


@router.post(
    "/upload", response_model=Pushed, responses={201: {"model": Pushed}}, openapi_extra=_FORM
)
async def upload(call: Calling, response: Response, key: IdempotencyKey = None) -> Any:
    """Stores a file: 201 with a memory in state `processing`, which gets its text when a worker has
    read it; 200 if the file exists already, or is a new version of the memory with its path or
    key."""
    hub = await run_in_threadpool(call.hub, "write")
    boundary = _boundary(call.request)
    uploads: Streams = call.request.app.state.uploads
    with (
        uploads.open(client_of(call.request.scope)),
        await run_in_threadpool(hub.attachments.incoming, _announced(call.request)) as incoming,
    ):
        connection = connection_of(call.request.scope)
        if connection is not None:
            # The connection is not closed in favour of others while the body arrives.
            connection.protect()
        form = _Form(incoming, boundary)
        await _receive(call.request, form)
        received = await run_in_threadpool(form.received)
        return await run_in_threadpool(_store_upload, call, response, key, form, received)


def _store_upload(
    call: Call, response: Response, key: str | None, form: _Form, received: Received
) -> Any:
    def work() -> tuple[int, Any]:
        result = call.hub("write").remember_file(
            received, name=form.name, source="api", **form.fields
        )
        status = 200 if isinstance(result, Duplicate | Updated) else 201
        return status, result_to_json(result)

    sent = Uploaded(hash=received.hash, name=form.name, fields=form.fields)
    return once(call, key, sent, response, work)


def _announced(request: Request) -> int | None:
    """The smallest possible size of the file, according to the request's headers."""
    stated = request.headers.get("content-length", "")
    size = int(stated[:18]) - _FORM_BYTES if stated.isascii() and stated.isdigit() else 0
    return size if size > 0 else None


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise Refused(
            415,
            "unsupported_media_type",
            "The body must be a multipart form.",
            hint="For example: curl -F file=@report.pdf",
        )
    return boundary


async def _receive(request: Request, form: _Form) -> None:
    """Reads the body in pieces; the sender waits for the disk."""
    waiting = bytearray()
    body = request.stream().__aiter__()
    try:
        async with asyncio.timeout(_WHOLE_S):
            while True:
                async with asyncio.timeout(_IDLE_S):
                    piece = await anext(body, None)
                if piece:
                    waiting += piece
                if waiting and (piece is None or len(waiting) >= _PIECE):
                    await run_in_threadpool(form.feed, bytes(waiting))
                    waiting.clear()
                if piece is None:
                    return
    except TimeoutError:
        raise Refused(408, "too_slow", "The body did not arrive in time.") from None
    except ClientDisconnect:
        raise Refused(400, "disconnected", "The body ended before its end.") from None


class _Form:
    """A form that is being received: the file is written to disk, the other fields are kept."""

    def __init__(self, incoming: Incoming, boundary: bytes) -> None:
        self.name = ""
        self.fields: dict[str, Any] = {}
        self._incoming = incoming
        self._header = b""
        self._value = b""
        self._disposition = b""
        self._field = ""
        self._text = bytearray()
        self._is_file = False
        self._has_file = False
        self._parts = 0
        self._ended = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._on_header,
                    "on_header_value": self._on_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._begin_data,
                    "on_part_data": self._on_data,
                    "on_part_end": self._end,
                    "on_end": self._end_all,
                },
            )
        except FormParserError:
            raise _broken("its boundary is too long") from None

    def feed(self, data: bytes) -> None:
        try:
            self._parser.write(data)
        except FormParserError:
            raise _broken("a part of it is not well-formed") from None

    def received(self) -> Received:
        """The file, after the form is complete."""
        if not self._ended:
            raise _broken("its end is missing")
        if not self._has_file:
            raise Refused(
                400, "missing_content", "There is no file.", hint="Send it in the field `file`."
            )
        return self._incoming.received()

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > _FIELDS_MAX:
            raise _broken(f"it has more than {_FIELDS_MAX} parts")
        self._disposition = self._header = self._value = b""
        self._text.clear()

    def _on_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _begin_data(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        self._is_file = self._field == "file"
        if self._is_file and self._has_file:
            raise _broken("it has more than one file; send one at a time")
        if self._is_file:
            self._has_file = True
            self.name = options.get(b"filename", b"").decode("utf-8", "replace")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._incoming.write(data[start:end])
            return
        self._text += data[start:end]
        if len(self._text) > _FIELD_BYTES_MAX:
            raise _broken(f"its field `{self._field}` is too long")

    def _end(self) -> None:
        if self._is_file:
            return
        try:
            self._set(self._field, self._text.decode())
        except UnicodeDecodeError:
            raise _broken(f"its field `{self._field}` is not UTF-8") from None

    def _set(self, name: str, text: str) -> None:
        if name == "tags":
            # One field per tag, or several tags separated by commas.
            given = [tag.strip() for tag in text.split(",")]
            self.fields.setdefault("tags", []).extend(tag for tag in given if tag)
        elif name == "pinned":
            if text not in ("true", "false"):
                raise _broken("its field `pinned` is neither true nor false")
            self.fields["pinned"] = text == "true"
        elif name == "metadata":
            self.fields["metadata"] = _json_object(text)
        elif name in _TEXTS:
            self.fields[name] = text
        else:
            raise _broken(f"it has a field {name[:100]!r}, which is not known")

    def _end_all(self) -> None:
        self._ended = True


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _broken("its field `metadata` is no JSON object")
    return value


def _broken(how: str) -> Refused:
    return Refused(400, "invalid_request", f"The form cannot be used: {how}.")


@router.get("/{memory_id}/attachment", response_class=FileResponse)
def attachment(call: Calling, memory_id: str) -> FileResponse:
    """Returns the file of a memory, as it was sent."""
    kept = call.hub().attachment(memory_id)
    return FileResponse(
        kept.path,
        media_type=kept.attachment.media_type,
        filename=kept.attachment.name,
        headers={
            # The file is untrusted: no browser may run it, guess its type or cache it for others.
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cache-Control": "private",
        },
    )


@jobs.get("/jobs", response_model=Many[JobOut])
def list_jobs(call: Calling, limit: Annotated[int, Query(ge=1, le=500)] = 100) -> Any:
    """Lists background jobs on memories that the caller sees: waiting, running, done or failed,
    oldest first."""
    return {"data": [job_to_json(job) for job in call.hub().jobs(limit=limit)]}
