"""A socket to listen on and the server that answers it, for every edge that speaks HTTP. What is
wrong with an address or a port is a sentence, before anything is opened."""

from __future__ import annotations

import signal
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

from holdfast.edges.log_limit import guard_log
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    import uvicorn
    from starlette.types import ASGIApp

    from holdfast.edges.connections import ConnectionLimits

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def bracketed(host: str) -> str:
    """A host as it stands in an address."""
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
    """Answers until SIGTERM or SIGINT, then finishes what it has accepted, for at most `stop_s`.
    `stopping` is called first: what would never be finished by itself ends then."""
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

    from holdfast.edges.connections import (
        ACCEPTED_AT_ONCE,
        BACKLOG,
        ConnectionLimits,
        Connections,
    )
    from holdfast.edges.http_protocol import handle_loop_errors, limited_protocol

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
