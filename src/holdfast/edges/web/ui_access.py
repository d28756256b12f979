"""Admits the browser that `holdfast ui` opened, and no other program of this machine.

The page that `holdfast ui` serves acts as the person who started it, and every account of a machine
can connect to its loopback address. So the address that is opened holds a ticket, which is good for
one use and is exchanged for a cookie. Tickets are made from a secret in a file of Holdfast's home
that only its owner can read; a second `holdfast ui` reads it to open a server that runs already. A
ticket is good for one port, and for a server that ran when it was made.

Every account can also read the arguments of the browser's process, and so the address; and it can
listen on another port, where the browser sends the cookie too. Where the system says which account
owns a connection, both are taken from the account of the server alone.

A request with a key passes: whether the key is good is decided where all keys are checked.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from holdfast.edges.web.rendering import t
from holdfast.edges.web.visit import cookie_in
from holdfast.system.atomic_file import write_atomic

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

# The parameter of the address.
_TICKET = "ticket"
_FILE = "ui.json"
_SECRETS = ("tickets", "cookie")
# Of an address that names none.
_PORT = 80
# They say nothing about memories; the second is how a running server is recognised.
_OPEN = ("/healthz", "/openapi.json")
_KEY = re.compile(r"bearer +\S+", re.IGNORECASE)
# Tickets that were used are remembered; a person needs a few.
_USED_MAX = 10_000
_COOKIE_SECONDS = 90 * 24 * 3600


class UiAccess:
    """The tickets and the cookie of one server."""

    def __init__(self, tickets: str, cookie: str) -> None:
        self._tickets, self._cookie = tickets, cookie
        self._begun_ns = time.time_ns()
        self._used: set[str] = set()

    @classmethod
    def begin(cls, home: str) -> UiAccess:
        """Starts for a new server: earlier tickets become invalid, an admitted browser stays
        admitted."""
        known = _read(home)
        made = {name: known.get(name) or secrets.token_urlsafe(32) for name in _SECRETS}
        if made != known:
            # Holdfast's own files are readable by their owner alone.
            write_atomic(os.path.join(home, _FILE), f"{json.dumps(made)}\n")
        return cls(**made)

    def admits(self, cookies: str, port: int) -> bool:
        """Whether a Cookie header has the valid cookie."""
        found = cookie_in(cookies, _cookie_name(port))
        return hmac.compare_digest(found.encode(), self._cookie.encode())

    def redeem(self, ticket: str, port: int) -> bool:
        """Whether a ticket is valid here; each is valid once."""
        made, _, signature = ticket.rpartition(".")
        right = _signature(self._tickets, port, made)
        if not hmac.compare_digest(signature.encode(), right.encode()):
            return False
        is_earlier = int(made.partition(".")[0]) < self._begun_ns
        if is_earlier or made in self._used or len(self._used) >= _USED_MAX:
            return False
        self._used.add(made)
        return True

    def set_cookie(self, port: int) -> str:
        """The Set-Cookie header. The port is in the name, because servers of one machine share
        cookies."""
        name = _cookie_name(port)
        return (
            f"{name}={self._cookie}; Path=/; Max-Age={_COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
        )


def address_with_ticket(home: str, url: str) -> str:
    """The address of a page with a new ticket; unchanged if no server of this home requires
    one."""
    tickets = _read(home).get("tickets")
    if not tickets:
        return url
    made = f"{time.time_ns()}.{secrets.token_urlsafe(12)}"
    signature = _signature(tickets, urlsplit(url).port or _PORT, made)
    return f"{url}?{urlencode({_TICKET: f'{made}.{signature}'})}"


def proof_of_home(home: str, port: int, asked: str) -> str:
    """What the server on a port answers to show that it serves this home, to a program of the same
    person, who alone can read the secret. Another account's server on another port cannot pass the
    answer on as its own. Empty if the home has no secret."""
    tickets = _read(home).get("tickets")
    return _signature(tickets, port, f"home {asked}") if tickets else ""


def port_of(scope: Scope) -> int:
    """The port that a request came to, as the server knows it; 0 if it came to none."""
    return (scope.get("server") or ("", 0))[1] or 0


def _read(home: str) -> dict[str, str]:
    try:
        with open(os.path.join(home, _FILE), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}


def _signature(secret: str, port: int, made: str) -> str:
    return hmac.new(secret.encode(), f"{port} {made}".encode(), hashlib.sha256).hexdigest()


def _cookie_name(port: int) -> str:
    return f"holdfast_ui_{port}"


class UiGate:
    """Admits requests with the cookie or a key, and exchanges tickets for the cookie."""

    def __init__(self, app: ASGIApp, *, access: UiAccess) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _OPEN:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        port = port_of(scope)
        asked = parse_qsl(scope.get("query_string", b"").decode("latin-1"))
        ticket = dict(asked).get(_TICKET, "")
        is_known = self._access.admits("; ".join(headers.getlist("cookie")), port)
        if (ticket or is_known) and _is_of_another_account(scope.get("client"), port):
            ticket, is_known = "", False
        if ticket and scope["method"] == "GET" and self._access.redeem(ticket, port):
            rest = urlencode([(name, value) for name, value in asked if name != _TICKET])
            # Two slashes at its beginning would make it an address of another machine.
            path = "/" + _path(scope).lstrip("/")
            answer: Response = RedirectResponse(
                f"{path}{f'?{rest}' if rest else ''}", 303, {"Cache-Control": "no-store"}
            )
            answer.headers["Set-Cookie"] = self._access.set_cookie(port)
            await answer(scope, receive, send)
        elif is_known or _KEY.fullmatch(headers.get("authorization", "")):
            await self._app(scope, receive, send)
        else:
            await _refused(headers)(scope, receive, send)


def _path(scope: Scope) -> str:
    """The path as it was sent: a name in it may contain characters that end a path."""
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    return raw.decode("latin-1")


def _is_of_another_account(client: tuple[str, int] | None, port: int) -> bool:
    """Whether a connection to this port was made by another account of this machine. Only Linux
    says so, of connections by IPv4 over loopback."""
    if client is None or client[0] != "127.0.0.1" or not sys.platform.startswith("linux"):
        return False
    account = _account_of(client[1], port)
    # Root can read the secret anyway; an account outside of the container has the id of nobody.
    known = {None, 0, 65534, os.getuid(), int(os.environ.get("SUDO_UID") or 0)}
    return account not in known


def _account_of(client_port: int, port: int) -> int | None:
    """Who made a connection over loopback, by the system's table of connections. An address in it
    is in hexadecimal, and that of a socket of IPv6 ends like one of IPv4."""
    ends = f"0100007F:{client_port:04X}", f"0100007F:{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError), open(table, encoding="ascii") as rows:
            for row in rows:
                cells = row.split()
                if cells[1].endswith(ends[0]) and cells[2].endswith(ends[1]):
                    return int(cells[7])
    return None


def _refused(headers: Headers) -> Response:
    message = f"{t('ui.closed')} {t('ui.open')}"
    if "text/html" in headers.get("accept", ""):
        page = (
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            f"<title>Holdfast</title><p>{t('ui.closed')}</p><p>{t('ui.open')}</p></html>"
        )
        return HTMLResponse(page, 403)
    error = {"code": "forbidden", "message": message, "details": None, "hint": t("ui.open")}
    return JSONResponse({"error": error}, 403)
