"""The MCP server over standard input and output: one client, until the input ends or a signal stops
the process.

Standard output is only for the protocol. While the server runs, descriptor 1 is redirected to
standard error and descriptor 0 to the null device, so that a library that prints, or a child that
reads, does no harm.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any, cast

import anyio
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from holdfast.edges.server.listening import guard_log

# A line is one message. The longest honest one holds a memory of `content.bytes_max` with every
# character escaped (six bytes for one); ten times the default of that leaves room.
_LINE_BYTES_MAX = 64_000_000
_CANCELLED = "notifications/cancelled"
# An escaped backslash, a whole pair, or (as a group) half of one.
_ESCAPES = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
# A client that closes the input may still read the answers, as in a shell pipe; one that is gone
# must not keep the server. Clients on the SDK wait two seconds before they send SIGTERM.
_LAST_ANSWERS_S = 1.5
# A call that never reports progress cannot be stopped; one that takes longer is abandoned.
_STOP_S = 5


def serve(server: Server[Any]) -> None:
    """Serves one MCP client over stdio; returns when it is gone, or at SIGTERM and SIGINT."""
    guard_log()
    # Writes are atomic, so the process may end in the middle of one.
    too_late = threading.Timer(_STOP_S, os._exit, (0,))
    too_late.daemon = True
    try:
        anyio.run(_serve, server, too_late)
    except* BrokenPipeError:
        # It no longer reads, so it is gone without notice.
        pass
    finally:
        too_late.cancel()


async def _serve(server: Server[Any], too_late: threading.Timer) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_at_signal, tasks.cancel_scope, too_late)
        lines = cast("anyio.AsyncFile[str]", _lines(_take_input()))
        async with stdio_server(stdin=lines) as (incoming, outgoing):
            asked = _PendingRequests()
            await server.run(
                cast("Any", _Incoming(incoming, asked)),
                cast("Any", _Outgoing(outgoing, asked)),
                server.create_initialization_options(),
            )
        tasks.cancel_scope.cancel()


class _PendingRequests:
    """The requests that wait for an answer."""

    def __init__(self) -> None:
        self._open: set[Any] = set()
        self._answered = anyio.Event()

    def add(self, message: Any) -> None:
        if isinstance(message, JSONRPCRequest):
            self._open.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
            # It will not be answered.
            self._close((message.params or {}).get("requestId"))

    def answer(self, message: Any) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._close(message.id)

    def _close(self, request: Any) -> None:
        if isinstance(request, str | int):
            self._open.discard(request)
            self._answered.set()

    async def all_answered(self) -> None:
        while self._open:
            self._answered = anyio.Event()
            await self._answered.wait()


class _Incoming:
    """The SDK's stream of messages, which ends only after the last ones are answered."""

    def __init__(self, stream: Any, asked: _PendingRequests) -> None:
        self._stream = stream
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> _Incoming:
        return self

    async def __anext__(self) -> Any:
        try:
            item = await self._stream.__anext__()
        except StopAsyncIteration:
            with anyio.move_on_after(_LAST_ANSWERS_S):
                await self._asked.all_answered()
            raise
        self._asked.add(getattr(item, "message", None))
        return item


class _Outgoing:
    """The SDK's stream of answers, which records what was answered."""

    def __init__(self, stream: Any, asked: _PendingRequests) -> None:
        self._stream = stream
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> _Outgoing:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stream.__aexit__(*error)

    async def send(self, item: Any) -> None:
        await self._stream.send(item)
        self._asked.answer(item.message)


async def _stop_at_signal(scope: anyio.CancelScope, too_late: threading.Timer) -> None:
    if sys.platform == "win32":
        # There a client ends the input, or the process.
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            too_late.start()
            scope.cancel()
            return


def _take_input() -> int:
    """Duplicates the input's descriptor; the one that children inherit is redirected to the null
    device."""
    own = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return own


async def _lines(descriptor: int) -> AsyncIterator[str]:
    """The lines of the input. The SDK's own reader cannot be interrupted while it waits for a line,
    so that a signal would not end the server; and it would read a line of any length."""
    limiter = anyio.CapacityLimiter(1)
    # Never closed: a thread may still wait in it when the server ends.
    stream = os.fdopen(descriptor, "rb", closefd=False)
    dropping = False
    while True:
        line = await to_thread.run_sync(
            stream.readline, _LINE_BYTES_MAX, abandon_on_cancel=True, limiter=limiter
        )
        if not line:
            return
        whole = line.endswith(b"\n") or len(line) < _LINE_BYTES_MAX
        if not whole and not dropping:
            sys.stderr.write(
                f"holdfast mcp: dropped a message of over {_LINE_BYTES_MAX:,} bytes.\n"
            )
        if whole and not dropping:
            yield _without_surrogates(line.decode("utf-8", "replace"))
        dropping = not whole


def _without_surrogates(line: str) -> str:
    """A message without lone surrogates, which a program writes that cut a text inside a surrogate
    pair. The SDK cannot read them, and would leave the request without an answer."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _ESCAPES.sub(lambda found: "\\ufffd" if found[1] else found[0], line)
