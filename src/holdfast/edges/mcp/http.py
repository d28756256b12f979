"""The MCP server over streamable HTTP: one endpoint for any number of clients.

A request must pass the checks of `edges.server.cross_origin` (else 421 or 403), and carry the key
if there is one (else 401). The app is a function, so that a larger server can mount it.
"""

from __future__ import annotations

import hmac
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.edges.mcp import BODY_BYTES_MAX, PATH, SESSION_ID_HEADER
from holdfast.edges.server import listening
from holdfast.edges.server.cross_origin import CrossOriginGuard, CrossOriginRules, SecurityHeaders
from holdfast.edges.server.http_protocol import BodyTooLarge, BodyTooSlow, read_body
from holdfast.edges.server.listening import LOOPBACK, bracketed, is_loopback, listen, run
from holdfast.edges.server.listening import make_key as make_key
from holdfast.errors import InvalidInput

PORT = 4653  # HOLD on the keys of a telephone
KEY_VARIABLE = "HOLDFAST_MCP_KEY"
_MAKE_KEY = "holdfast mcp --make-key"
# As in the larger server, by default: see the settings `server.body_seconds`, `.session_seconds`.
_BODY_S = 30.0
SESSION_S = 300.0
# A session takes about 40 kB; each has one stream at most.
SESSIONS_MAX = 200
# Streams that stay open must not keep a server from ending.
_STOP_S = 2


def asgi_app(
    server: Server[Any],
    *,
    key: str | None = None,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    path: str = PATH,
    session_s: float = SESSION_S,
    sessions_max: int = SESSIONS_MAX,
) -> ASGIApp:
    """The server as an ASGI app. `hosts` and `origins` are allowed besides those of this machine.
    An app that mounts it must run `server.session_manager.run()` during its own lifetime. A session
    without requests ends after `session_s`."""
    app = server.streamable_http_app(
        streamable_http_path=path,
        max_request_body_size=BODY_BYTES_MAX,
        session_idle_timeout=session_s,
        max_sessions=sessions_max,
        # The library's own check allows pages of every port of this machine; `_rules` does not.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    if key is not None:
        app.user_middleware.append(Middleware(KeyCheck, key=key))
    # After the key check: the body of a request without a key is not read.
    app.user_middleware.append(Middleware(BodyInTime))
    if origins:
        # A browser first sends a preflight without the key, and shows a page only what it is
        # allowed to see.
        asking = Middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=[SESSION_ID_HEADER],
        )
        app.user_middleware.insert(0, asking)
    guard = Middleware(CrossOriginGuard, rules=_rules(hosts, origins, key))
    app.user_middleware[:0] = [Middleware(SecurityHeaders), guard]
    return app


def _rules(hosts: Sequence[str], origins: Sequence[str], key: str | None) -> CrossOriginRules:
    names = [bracketed(host) for host in dict.fromkeys([*LOOPBACK, *hosts])]
    return CrossOriginRules.checked(names, tuple(origins), key_needed=key is not None)


class KeyCheck:
    """Accepts only requests with the key as `Authorization: Bearer …`."""

    def __init__(self, app: ASGIApp, *, key: str) -> None:
        self._app = app
        self._key = key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._has_valid_key(scope):
            answer = JSONResponse(
                {"error": "A key is needed: send it as `Authorization: Bearer KEY`."},
                status_code=401,
                headers={"WWW-Authenticate": "Bearer"},
            )
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _has_valid_key(self, scope: Scope) -> bool:
        kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        # In constant time, so that the time for a wrong key reveals nothing about the right one.
        return kind.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode(errors="replace"), self._key
        )


class BodyInTime:
    """Reads a body before a session is opened for it, within a time limit."""

    def __init__(self, app: ASGIApp, *, seconds: float = _BODY_S) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            replay = await read_body(receive, bytes_max=BODY_BYTES_MAX, seconds=self._seconds)
        except BodyTooSlow:
            answer = JSONResponse({"error": "The body did not arrive in time."}, status_code=408)
            await answer(scope, receive, send)
        except BodyTooLarge:
            said = f"The body is larger than {BODY_BYTES_MAX:,} bytes."
            await JSONResponse({"error": said}, status_code=413)(scope, receive, send)
        else:
            await self._app(scope, replay, send)


# Keys


def find_key(file: str | None, environ: Mapping[str, str] = os.environ) -> str | None:
    """The key of the MCP server over HTTP, from a file or the environment; None if there is
    none."""
    return listening.find_key(file, variable=KEY_VARIABLE, command=_MAKE_KEY, environ=environ)


def require_key(host: str, key: str | None) -> None:
    """Refuses to listen to other machines without a key."""
    if key is None and not is_loopback(host):
        raise InvalidInput(
            f"Anyone who reaches {host} could read and change this memory: a key is needed.",
            hint="Make one with `holdfast mcp --make-key mcp.key`, and add `--key-file mcp.key`.",
        )


# Running


def serve(
    server: Server[Any],
    *,
    host: str = LOOPBACK[0],
    port: int = PORT,
    key: str | None = None,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
) -> None:
    """Serves MCP over HTTP until SIGTERM or SIGINT, and prints the address to standard error."""
    require_key(host, key)
    listening = listen(host, port)
    hosts = [*hosts, host]
    if not is_loopback(host):
        hosts.append(socket.gethostname())
    app = asgi_app(server, key=key, hosts=hosts, origins=origins)
    taken = listening.getsockname()[1]
    sys.stderr.write(f"holdfast mcp: listening on http://{bracketed(host)}:{taken}{PATH}\n")
    sys.stderr.flush()
    run(app, listening, stop_s=_STOP_S)
