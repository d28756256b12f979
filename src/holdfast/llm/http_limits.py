"""Limits on one HTTP connection to a model's server: only listed headers are sent, the answer is
bounded in size, and a deadline covers the whole request, not each byte."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from holdfast import __version__

if TYPE_CHECKING:
    import ssl


# A thousand times what a pass may have answered, in the longest way to write JSON.
RESPONSE_BYTES_MAX = 1 << 20

# Client libraries add headers of their own and from the environment: their version, the machine's
# kind, whatever somebody put there for another host. These are what a server needs, and the mark by
# which the libraries know afterwards that the answer is wanted as it came.
_SENT = (
    *("host", "connection", "content-length", "content-type", "accept", "authorization"),
    *("x-api-key", "anthropic-version", "x-stainless-raw-response"),
)
# What the official addresses bill by; it is sent to no other host.
_BILLING = ("openai-organization", "openai-project")


class TooMuch(httpx2.ReadError):
    """A model's server sent more than any answer has. A read error, so that the libraries above see
    it as the connection's."""


class Packed(httpx2.ReadError):
    """The model's server packed its answer, although it was asked not to."""


class _Bounded(httpx2.SyncByteStream):
    """A body that ends with an error where it becomes too long."""

    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for block in self._stream:
            read += len(block)
            if read > RESPONSE_BYTES_MAX:
                raise TooMuch("The answer is too long.")
            yield block

    def close(self) -> None:
        self._stream.close()


class RequestClient:
    """An HTTP client for one request. `with_key` says whether the key may go out."""

    def __init__(self, url: str, *, local: bool, with_key: bool, timeout_s: float) -> None:
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._is_cut = False
        self._with_key = with_key
        self._official = not url
        # This machine itself is asked without a proxy.
        self.http = httpx2.Client(
            verify=_certificates() if not url.startswith("http:") else False,
            trust_env=not local,
            follow_redirects=False,
            timeout=timeout_s,
            event_hooks={"request": [self._send], "response": [self._receive]},
        )

    def cut(self) -> None:
        """Closes it: a reader that waits for bytes gets an error."""
        with self._lock:
            self._is_cut = True
            for one in self._sockets:
                _shut(one)

    def _send(self, request: httpx2.Request) -> None:
        allowed = _SENT + (_BILLING if self._official else ())
        for name in list(request.headers):
            if name not in allowed or (name == "authorization" and not self._with_key):
                del request.headers[name]
        request.headers["user-agent"] = f"holdfast/{__version__}"
        # A packed answer may be a thousand times as long as it looks.
        request.headers["accept-encoding"] = "identity"
        request.extensions = {**request.extensions, "trace": self._trace}

    def _receive(self, response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise Packed("The answer is packed.")
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream)

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Called for each connection that is made, and for each that is upgraded to TLS."""
        stream = info.get("return_value")
        if not event.endswith(("connect_tcp.complete", "start_tls.complete")) or stream is None:
            return
        found = stream.get_extra_info("socket")
        with self._lock:
            self._sockets.append(found)
            if self._is_cut:
                _shut(found)


def _shut(one: socket.socket) -> None:
    # Not `close`, which would not wake a thread that already waits.
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """The trusted certificates; read once, since that takes as long as a fast model."""
    context: ssl.SSLContext = httpx2.create_ssl_context()
    return context


T = TypeVar("T")


class Late(Exception):
    """The time for a request to a model's server was up before the work was done."""


def on_time(work: Callable[[], T], seconds: float, cut: Callable[[], None]) -> T:
    """Returns or raises what a request to a model's server does; raises Late if it takes too long,
    and `cut` then makes the rest of it fail soon."""
    done = threading.Event()
    outcome: list[tuple[bool, Any]] = []

    def run() -> None:
        try:
            outcome.append((True, work()))
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody waits
            outcome.append((False, error))
        finally:
            done.set()

    # A daemon thread, so that a program can end without waiting for the server.
    threading.Thread(target=run, name="holdfast-model", daemon=True).start()
    try:
        in_time = done.wait(seconds)
    except BaseException:
        # Somebody pressed Ctrl-C.
        cut()
        raise
    if not in_time:
        cut()
        raise Late
    good, what = outcome[0]
    if good:
        result: T = what
        return result
    raise what
