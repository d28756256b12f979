"""A socket to listen on, the server that answers it, and its log, for every edge that speaks HTTP.
A wrong address or port is reported before anything is opened."""

from __future__ import annotations

import logging
import os
import signal
import socket
import stat
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from holdfast.errors import AlreadyExists, InvalidInput, NotFound
from holdfast.text.clean import printable

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from holdfast.edges.server.connections import ConnectionLimits


# So many of one kind are written in each period.
PER_PERIOD = 5
PERIOD_S = 10.0
# Kinds that are remembered; beyond that all are forgotten, which costs a few more lines.
_KINDS_MAX = 1_000


class RepeatLimit(logging.Filter):
    """Lets a warning or error through `PER_PERIOD` times in `PERIOD_S` seconds. Records of one kind
    have the same logger, level, message template and type of exception. What is below a warning
    passes: those lines are wanted one by one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        # Kind: when its period began, how many came in it.
        self._seen: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        error = record.exc_info[0] if record.exc_info else None
        kind = (record.name, record.levelno, str(record.msg)[:200], error)
        now = self._clock()
        began, count = self._seen.get(kind, (now, 0))
        if now - began >= PERIOD_S:
            dropped = count - PER_PERIOD
            if dropped > 0:
                record.msg = f"{record.getMessage()} ({dropped:,} more like this were not logged)"
                record.args = None
            began, count = now, 0
        if len(self._seen) >= _KINDS_MAX and kind not in self._seen:
            self._seen.clear()
        self._seen[kind] = (began, count + 1)
        return count < PER_PERIOD


class LineFormatter(logging.Formatter):
    """Writes a message on one line with control characters escaped, and indents tracebacks, so
    that text from outside cannot pose as a line of the log."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        record.message = _one_line(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's name
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802  logging's name
        return _indented(super().formatStack(stack_info))


def _one_line(text: str) -> str:
    """Escaped like a line of a pipe, but with its backslashes as they are: JSON has its own."""
    return printable(text).replace("\n", "\\n")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in printable(text).split("\n"))


def guard_log() -> None:
    """Limits repeated errors and escapes control characters in everything this process logs."""
    for handler in (*logging.getLogger().handlers, logging.lastResort):
        if handler is None:
            continue
        if not any(isinstance(one, RepeatLimit) for one in handler.filters):
            handler.addFilter(RepeatLimit())
        if not isinstance(handler.formatter, LineFormatter):
            old = handler.formatter or logging.Formatter()
            handler.setFormatter(LineFormatter(old._fmt, old.datefmt))


LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether a server that listens on an address can be reached from this machine only."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def bracketed(host: str) -> str:
    """The host that a server listens on, as it is written in a URL."""
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; made here, so that a taken port is a sentence, and port 0 a number."""
    if not 0 <= port <= 65535:
        raise InvalidInput(f"{port} is no port.", hint="Ports are 0 to 65535; 0 takes a free one.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise InvalidInput(
            f"{host} is no address of this machine: {error.strerror}.", hint="Try 127.0.0.1."
        ) from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        # From here on clients are kept waiting, not refused, until the server is up.
        listening.listen()
    except OSError as error:
        listening.close()
        raise InvalidInput(
            f"Port {port} of {host} cannot be had: {error.strerror}.",
            hint="Name another with --port; 0 takes a free one.",
        ) from None
    return listening


def run(
    app: ASGIApp,
    listening: socket.socket,
    *,
    stop_s: int,
    limits: ConnectionLimits | None = None,
    stopping: Callable[[], None] | None = None,
) -> None:
    """Runs an HTTP server until SIGTERM or SIGINT, then finishes what it has accepted, for at most
    `stop_s`. `stopping` is called first: what would never be finished by itself ends then."""
    server = make_server(app, stop_s=stop_s, limits=limits, stopping=stopping)
    guard_log()
    # When it has stopped, uvicorn raises the signal again that stopped it, which must not end the
    # process before the memory is closed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        return
    finally:
        listening.close()


def make_server(
    app: ASGIApp,
    *,
    stop_s: int,
    limits: ConnectionLimits | None = None,
    stopping: Callable[[], None] | None = None,
) -> uvicorn.Server:
    """The server that `run` runs."""
    import asyncio

    import uvicorn

    from holdfast.edges.server.connections import (
        ACCEPTED_AT_ONCE,
        BACKLOG,
        ConnectionLimits,
        Connections,
    )
    from holdfast.edges.server.http_protocol import handle_loop_errors, limited_protocol

    limits = (limits or ConnectionLimits()).within_descriptors()
    connections = Connections(limits)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            handle_loop_errors(asyncio.get_running_loop(), connections)
            await super().startup(sockets)
            for listening in sockets or ():
                # The event loop takes one number for how many wait and how many it accepts at once.
                listening.listen(BACKLOG)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            if stopping is not None:
                stopping()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        http=limited_protocol(limits, connections),
        # Nothing here speaks it, and a request for it would be logged twice.
        ws="none",
        backlog=ACCEPTED_AT_ONCE,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=max(1, int(limits.idle_s)),
        timeout_graceful_shutdown=stop_s,
    )
    return Server(config)


# A shorter one could be guessed.
KEY_CHARS_MIN = 16
_KEY_BYTES = 32


def find_key(
    file: str | None, *, variable: str, command: str, environ: Mapping[str, str] = os.environ
) -> str | None:
    """The key of a file or of the environment; None if there is none. `command` makes one, with
    the name of a file behind it."""
    if file is None:
        given = environ.get(variable)
        return None if given is None else _checked(given.strip(), variable, command)
    path = os.path.expanduser(file)
    try:
        with open(path, encoding="utf-8") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
                raise InvalidInput(
                    f"Others may read the key in {file}.", hint=f"Run `chmod 600 {file}`."
                )
            return _checked(opened.read().strip(), file, command)
    except FileNotFoundError:
        hint = f"Make a key: `{command} {file}`."
        raise NotFound(f"There is no file {file}.", hint=hint) from None
    except UnicodeDecodeError:
        hint = f"Make a key: `{command} another-file`."
        raise InvalidInput(f"{file} holds no key.", hint=hint) from None


def _checked(key: str, where: str, command: str) -> str:
    if len(key) < KEY_CHARS_MIN or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInput(
            f"The key in {where} can be guessed or cannot be sent: it needs at least "
            f"{KEY_CHARS_MIN} letters and digits, without spaces.",
            hint=f"Make a key: `{command} FILE`.",
        )
    return key


def make_key(file: str) -> str:
    """Makes a server's key in a new file that only its owner may read; returns where."""
    import secrets

    path = os.path.abspath(os.path.expanduser(file))
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise AlreadyExists(
            f"There is a file {file} already.", hint="Remove it first, or name another."
        ) from None
    with os.fdopen(handle, "w", encoding="ascii") as opened:
        opened.write(secrets.token_urlsafe(_KEY_BYTES) + "\n")
    return path
