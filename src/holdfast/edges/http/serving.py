"""Serving a memory over HTTP: where, for whom, and until when."""

from __future__ import annotations

import logging
import socket
import sys
from typing import TYPE_CHECKING

from holdfast.edges.http.app import create_app
from holdfast.edges.http.limits import LOOPBACK, Limits
from holdfast.edges.server import listening
from holdfast.edges.server.connections import ConnectionLimits
from holdfast.edges.server.worker import Watcher, Worker
from holdfast.engine.people import keys
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.api.memory import Holdfast

PORT = 4653  # HOLD on the keys of a telephone
# What was accepted is finished within this; writes take milliseconds, a recall at most seconds.
_STOP_S = 10
# A thread gives the interpreter up at each statement of SQL, and waits this long to have it back
# while another computes. Beside exports a good client's p95 is 2.5 times its quiet value with the
# usual 5 ms, and 1.6 times with this (`make test-attack`).
_SWITCH_S = 0.0005


def serve(
    memory: Holdfast,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    key_needed: bool = False,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    quiet: bool = False,
    listening_at: Callable[[str], None] | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT. Beyond this machine, only with a key. `listening_at` is
    called with the address of the page as soon as clients can connect."""
    here = listening.is_loopback(host)
    if not here and not keys.has_keys(memory.core):
        raise InvalidInput(
            f"{host} can be reached from other machines, and there is no key yet.",
            hint="Make one with `holdfast key create NAME`, and give it to who may come in.",
        )
    socket_ = listening.listen(host, port)
    names = [*LOOPBACK, listening.bracketed(host), *hosts]
    if not here:
        names.append(socket.gethostname())
    limits = limits_of(memory)._replace(hosts=tuple(dict.fromkeys(names)), origins=tuple(origins))
    app = create_app(memory, key_needed=key_needed or not here, limits=limits)
    bound = socket_.getsockname()[1]
    if not quiet:
        _tell(memory, host, bound, key_needed=key_needed or not here)
    if listening_at is not None:
        listening_at(url_of(host, bound))
    # Of the libraries only what is wrong: they tell of each request, session and file otherwise.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    logging.getLogger("holdfast").setLevel(logging.INFO)
    sys.setswitchinterval(_SWITCH_S)
    with Worker(memory), Watcher(memory):
        # Streams of events would stay open for as long as there is time.
        listening.run(
            app,
            socket_,
            stop_s=_STOP_S,
            limits=connection_limits_of(memory),
            stopping=app.state.stopping.set,
        )


def limits_of(memory: Holdfast) -> Limits:
    """What the settings say a server bears."""
    settings = memory.core.settings
    return Limits(
        body_bytes_max=settings["server.body_bytes_max"],
        body_seconds_max=settings["server.body_seconds"],
        requests_max=settings["server.requests_max"],
        requests_per_key=settings["server.requests_per_key"],
        streams_per_key=settings["server.streams_per_key"],
        sessions_per_key=settings["server.sessions_per_key"],
        session_seconds=settings["server.session_seconds"],
        session_starts_per_minute=settings["server.session_starts_per_minute"],
        per_minute=settings["server.per_minute"],
    )


def connection_limits_of(memory: Holdfast) -> ConnectionLimits:
    """What the settings say about connections."""
    settings = memory.core.settings
    return ConnectionLimits(
        total=settings["server.connections_max"],
        per_address=settings["server.connections_per_address"],
        header_s=settings["server.header_seconds"],
    )


def _place(memory: Holdfast) -> str:
    """Where the memories are, and their files, if that is elsewhere."""
    address = getattr(memory.core.store, "address", "")
    return f"{address} with files in {memory.home}" if address else memory.home


def url_of(host: str, port: int) -> str:
    """The address of a server, for somebody on this machine."""
    return f"http://{listening.bracketed(host)}:{port}"


def _tell(memory: Holdfast, host: str, port: int, *, key_needed: bool) -> None:
    url = url_of(host, port)
    key = " -H 'Authorization: Bearer KEY'" if key_needed else ""
    body = '{"content": "Ada prefers tabs"}'
    ask = '{"query": "tabs or spaces?"}'
    json = "-H 'Content-Type: application/json'"
    first = ""
    if key_needed and not memory.hubs():
        # Without a key the hub is made by the first memory; a key reaches what is there.
        first = "  There is no hub yet: make one with `holdfast hub create NAME`.\n"
    sys.stderr.write(
        f"holdfast serve: listening on {url}\n"
        f"  the memory in {_place(memory)}, hub {memory.core.settings['hub']} where none is named\n"
        "  REST under /v1 (described in /openapi.json), MCP under /mcp\n"
        f"{first}See it in a browser:\n"
        f"  {url}/\n"
        "Try:\n"
        f"  curl{key} {json} {url}/v1/memories -d '{body}'\n"
        f"  curl{key} {json} {url}/v1/recall -d '{ask}'\n"
        f"  curl{key} {url}/v1/memories\n"
        "Ctrl-C ends it.\n"
    )
    sys.stderr.flush()
