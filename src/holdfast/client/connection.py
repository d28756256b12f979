"""One server over HTTP: sends a request, waits, tries again where that is safe, and turns what went
wrong into the errors of the library. It knows nothing of memories.

A request is tried again after a lost connection only where the server cannot do it twice: a read,
or a write with an idempotency key. Where the server said that it did nothing (busy, too often), or
was never reached, any request is.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

from holdfast.client.responses import code_of, of_answer, of_body, unreachable
from holdfast.errors import (
    HoldfastError,
    InvalidInput,
    ServerUnreachable,
    StoreClosed,
    install_hint,
)
from holdfast.system import Backoff, retry_after_s

if TYPE_CHECKING:
    import httpx2


# The encodings that `_decompressed` understands, for the header Accept-Encoding.
ACCEPT_ENCODING = "gzip"
# A page of 100 memories of 640,000 characters each.
RESPONSE_BYTES_MAX = 64_000_000
# An error is a sentence; whatever is longer is no Holdfast server's.
ERROR_BYTES_MAX = 1_000_000
_PIECE_BYTES = 1 << 16
# 16 makes zlib expect the header of gzip.
_GZIP_WINDOW_BITS = 16 + zlib.MAX_WBITS
# A try and four more: with the pauses below that is about eight seconds, which outlasts a restart.
TRIES = 5
_BACKOFF = Backoff(first_s=0.25, longest_s=4.0)
# Where a server asks for a longer pause than this, the error is raised and the caller decides.
_RETRY_AFTER_MOST_S = 30.0
# Statuses which mean that nothing was done and the request may be repeated later.
_LATER = (429, 503)
# Errors with status 503 that last longer than a few seconds.
_LASTING = ("read_only",)
# Answers of a proxy that does not know what the server did.
_UNSURE = (502, 504)
_USER_AGENT = "holdfast-client"
# Shows a server that needs no key that the request does not come from a web page, as pages of other
# sites cannot send this header.
_CLIENT_HEADER = "X-Holdfast-Client"


class Once(NamedTuple):
    """A request to a server, and whether it may be sent again when nobody knows whether it was
    done."""

    method: str
    path: str
    headers: dict[str, str]
    params: dict[str, list[str]]
    body: bytes | None
    repeatable: bool
    # A form with a file: its fields, and the file with its name.
    fields: dict[str, Any] | None = None
    files: dict[str, tuple[str, BinaryIO]] | None = None


class Connection:
    """A server, by its address and with a key. Connections are kept open and shared by threads."""

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        timeout_s: float,
        response_bytes_max: int = RESPONSE_BYTES_MAX,
    ) -> None:
        self.url = _checked(url)
        _check_timeout(timeout_s)
        httpx = _need_httpx()
        headers = {
            "User-Agent": _USER_AGENT,
            "Accept": "application/json",
            "Accept-Encoding": ACCEPT_ENCODING,
            _CLIENT_HEADER: _USER_AGENT,
        }
        if key:
            headers["Authorization"] = f"Bearer {_checked_key(key)}"
        # Redirects are not followed: a key goes to the server it is for, and nowhere else.
        self._http: httpx2.Client = httpx.Client(
            base_url=self.url, headers=headers, timeout=timeout_s, follow_redirects=False
        )
        self._timeout_s = timeout_s
        self._response_bytes_max = response_bytes_max
        self._sleep: Callable[[float], object] = time.sleep

    def close(self) -> None:
        self._http.close()

    def _require_open(self) -> None:
        if self._http.is_closed:
            raise StoreClosed("This client is closed.", hint="Make a new holdfast.Client.")

    def get(self, path: str, *, hub: str | None = None, **params: Any) -> Any:
        """A read."""
        return self._answer(self._request("GET", path, hub, params, None, once=False))

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        hub: str | None = None,
        params: Mapping[str, Any] | None = None,
        once: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """A write, with an idempotency key of its own; `once=False` where the server takes none."""
        return self._answer(
            self._request(method, path, hub, params or {}, body, once=once, headers=headers)
        )

    def ask(self, path: str, body: Any, *, hub: str | None = None) -> Any:
        """A read that is too long for an address."""
        request = self._request("POST", path, hub, {}, body, once=False)
        return self._answer(request._replace(repeatable=True))

    def upload(
        self, path: str, file: BinaryIO, name: str, fields: dict[str, Any], *, hub: str | None
    ) -> Any:
        """A file, streamed. One that cannot be read again from its start is sent once."""
        request = self._request("POST", path, hub, {}, None, once=True)
        request = request._replace(
            fields=fields, files={"file": (name, file)}, repeatable=file.seekable()
        )
        return self._answer(request)

    def lines(self, path: str, body: Any = None, *, hub: str | None = None) -> Iterator[str]:
        """The lines of an answer that is streamed; it is not tried again once it has begun."""
        httpx = _need_httpx()
        method = "GET" if body is None else "POST"
        request = self._request(method, path, hub, {}, body, once=False)
        self._require_open()
        try:
            with self._http.stream(
                request.method,
                request.path,
                headers=request.headers,
                params=request.params,
                content=request.body,
            ) as answer:
                if answer.status_code >= 400:
                    read = read_body(self.url, answer, self._response_bytes_max)
                    raise of_answer(self.url, read)
                yield from read_lines(self.url, answer, self._response_bytes_max)
        except httpx.HTTPError as error:
            raise unreachable(self.url, error, self._timeout_s) from None

    def stream(self, path: str, body: Any, *, hub: str | None = None) -> Iterator[Any]:
        """The items of an answer that is streamed as lines of JSON; HoldfastError where it ends
        before the server says that it is complete."""
        for line in self.lines(path, body, hub=hub):
            try:
                said = json.loads(line)
            except (ValueError, RecursionError):
                said = None
            if not isinstance(said, dict):
                break
            if "data" in said:
                yield said["data"]
            elif isinstance(said.get("error"), dict):
                raise of_body(self.url, said["error"])
            else:
                if said.get("end"):
                    return
                break
        raise ServerUnreachable(
            f"{self.url} sent an answer that is not complete.", hint="Ask for it again."
        )

    def _request(
        self,
        method: str,
        path: str,
        hub: str | None,
        params: Mapping[str, Any],
        body: Any,
        *,
        once: bool,
        headers: Mapping[str, str] | None = None,
    ) -> Once:
        sent = dict(headers or {})
        if hub is not None:
            sent["X-Hub-ID"] = hub
        if once:
            sent["Idempotency-Key"] = os.urandom(16).hex()
        if body is not None:
            sent["Content-Type"] = "application/json"
        safe = method == "GET" or once or method in ("PUT", "DELETE")
        return Once(method, f"/v1{path}", sent, _texts(params), _encoded(body), safe)

    def _answer(self, request: Once) -> Any:
        self._require_open()
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            answer, error = self._try(request)
            if answer is not None and answer.status_code < 400:
                return _json(self.url, answer)
            pause = None if last else self._pause(request, answer, error, attempt)
            if pause is None:
                if answer is not None:
                    raise of_answer(self.url, answer)
                assert error is not None
                raise unreachable(self.url, error, self._timeout_s) from None
            self._sleep(pause)
        raise AssertionError("the last try answers or raises")

    def _try(self, request: Once) -> tuple[httpx2.Response | None, httpx2.HTTPError | None]:
        httpx = _need_httpx()
        try:
            with self._http.stream(
                request.method,
                request.path,
                headers=request.headers,
                params=request.params,
                content=request.body,
                data=request.fields,
                files=request.files,
            ) as answer:
                return read_body(self.url, answer, self._response_bytes_max), None
        except httpx.HTTPError as error:
            return None, error

    def _pause(
        self,
        request: Once,
        answer: httpx2.Response | None,
        error: httpx2.HTTPError | None,
        attempt: int,
    ) -> float | None:
        """The wait before the next try; None if there should be none."""
        httpx = _need_httpx()
        jittered = _BACKOFF.pause_s(attempt)
        if answer is None:
            if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
                return None
            never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            return jittered if never_sent or request.repeatable else None
        wanted = retry_after_s(answer.headers.get("Retry-After", ""))
        if wanted is not None and wanted > _RETRY_AFTER_MOST_S:
            return None
        # A write that is still being worked on is answered under its key when it is done.
        waiting = answer.status_code == 409 and wanted is not None and request.repeatable
        unsure = answer.status_code in _UNSURE and request.repeatable and _is_foreign(answer)
        later = answer.status_code in _LATER and code_of(answer) not in _LASTING
        if later or waiting or unsure:
            return jittered if wanted is None else wanted + jittered
        return None


def _checked(url: str) -> str:
    """The address without a slash at its end; InvalidInput where it is none."""
    text = url.strip() if isinstance(url, str) else ""
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port is None or parts.port >= 0
    except ValueError:
        port_is_fine = False
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine:
        raise InvalidInput(
            f"{url!r} is not the address of a server.", hint="For example: http://127.0.0.1:4653"
        )
    if parts.username or parts.password:
        raise InvalidInput(
            "A key or a password must not stand in the address.",
            hint="Give it as `key`, or in HOLDFAST_KEY for the command line.",
        )
    if parts.query or parts.fragment:
        raise InvalidInput(f"The address {url!r} has something after the path; leave it out.")
    return text.rstrip("/").removesuffix("/v1")


def _check_timeout(timeout_s: float) -> None:
    """Raises InvalidInput for a timeout after which no answer can have come."""
    is_number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
    if not (is_number and timeout_s > 0):
        raise InvalidInput(
            f"The timeout is {timeout_s!r}; it must be a number of seconds above 0.",
            hint="For example timeout_s=30.",
        )


def _checked_key(key: str) -> str:
    text = key.strip() if isinstance(key, str) else ""
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise InvalidInput("This is not a key.", hint="Who runs the server makes one.")
    return text


def _encoded(value: Any) -> bytes | None:
    """A value as JSON; InvalidInput where it has no form there."""
    if value is None:
        return None
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"What was given cannot be sent as JSON: {error}.") from None


def _texts(params: Mapping[str, Any]) -> dict[str, list[str]]:
    """Parameters as a URL has them; what is None is left out, lists repeat."""
    return {
        name: [_text(one) for one in (value if isinstance(value, list | tuple) else [value])]
        for name, value in params.items()
        if value is not None
    }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(url: str, answer: httpx2.Response) -> Any:
    try:
        value = answer.json()
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or "data" not in value:
        raise HoldfastError(
            f"{url} answers, but not as a Holdfast server does.", hint="Check the address."
        )
    return value


def _is_foreign(answer: httpx2.Response) -> bool:
    """Whether something between us and the server made this answer."""
    return not answer.headers.get("content-type", "").startswith("application/json")


def _need_httpx() -> Any:
    try:
        import httpx2
    except ImportError as error:
        raise InvalidInput(
            f"Talking to a server needs the package httpx2, which cannot be imported ({error}).",
            hint=install_hint(),
        ) from error
    return httpx2


# A few kilobytes of gzip can expand to gigabytes. So a body is decompressed here in small pieces,
# not by the HTTP library, and reading stops where it becomes too large.


def read_body(url: str, response: httpx2.Response, bytes_max: int) -> httpx2.Response:
    """A server's response with its whole body, decompressed; HoldfastError where it is too
    large."""
    import httpx2

    if response.status_code >= 400:
        bytes_max = min(bytes_max, ERROR_BYTES_MAX)
    body = bytearray()
    for piece in _pieces(url, response, bytes_max):
        body += piece
        if len(body) > bytes_max:
            raise _too_large(url, bytes_max)
    headers = {
        name: value
        for name, value in response.headers.items()
        if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
    }
    return httpx2.Response(response.status_code, headers=headers, content=bytes(body))


def read_lines(url: str, response: httpx2.Response, bytes_max: int) -> Iterator[str]:
    """The lines of a server's response of any length, without their ends; HoldfastError where a
    line is too large."""
    rest = bytearray()
    for piece in _pieces(url, response, None):
        # The piece alone is searched: what is left of earlier ones has no end of a line.
        *ends, tail = piece.split(b"\n")
        for end in ends:
            rest += end
            if len(rest) > bytes_max:
                raise _too_large(url, bytes_max)
            yield _as_text(rest)
            rest.clear()
        rest += tail
        if len(rest) > bytes_max:
            raise _too_large(url, bytes_max)
    if rest:
        yield _as_text(rest)


def _as_text(line: bytearray) -> str:
    return line.decode("utf-8", errors="replace").removesuffix("\r")


def _pieces(url: str, response: httpx2.Response, raw_bytes_max: int | None) -> Iterator[bytes]:
    """The body in pieces of bounded size, decompressed. Compressed bytes are bounded too where
    there is a bound: a stream of empty gzip members decompresses to nothing for ever."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip"):
        raise HoldfastError(
            f"{url} answers in the encoding {encoding[:50]!r}, which was not asked for.",
            hint="Check what stands between you and the server.",
        )
    raw = _bounded(url, response.iter_raw(), raw_bytes_max)
    return _decompressed(url, raw) if encoding == "gzip" else raw


def _bounded(url: str, raw: Iterator[bytes], bytes_max: int | None) -> Iterator[bytes]:
    count = 0
    for block in raw:
        count += len(block)
        if bytes_max is not None and count > bytes_max:
            raise _too_large(url, bytes_max)
        yield block


def _decompressed(url: str, raw: Iterator[bytes]) -> Iterator[bytes]:
    decoder = zlib.decompressobj(_GZIP_WINDOW_BITS)
    try:
        for block in raw:
            data = block
            while data:
                if decoder.eof:
                    # A gzip file may have several members, one after the other.
                    decoder = zlib.decompressobj(_GZIP_WINDOW_BITS)
                yield decoder.decompress(data, _PIECE_BYTES)
                data = decoder.unconsumed_tail or decoder.unused_data
        while piece := decoder.decompress(b"", _PIECE_BYTES):
            yield piece
        if not decoder.eof:
            raise zlib.error("the stream ends early")
    except zlib.error as error:
        raise HoldfastError(
            f"{url} answers with gzip that cannot be read ({error}).",
            hint="Check what stands between you and the server.",
        ) from None


def _too_large(url: str, bytes_max: int) -> HoldfastError:
    return HoldfastError(
        f"{url} answers with more than {bytes_max:,} bytes; the rest was not read.",
        hint="Ask for fewer at once, or raise `response_bytes_max` of the client.",
    )
