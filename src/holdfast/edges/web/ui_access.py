"""Admits the browser that `holdfast ui` opened, and no other program of this machine.

The page that `holdfast ui` serves acts as the person who started it, and every account of a machine
can connect to its loopback address. So the address that is opened holds a ticket, which is good for
one use and is exchanged for a cookie. Tickets are made from a secret in a file of Holdfast's home
that only its owner can read; a second `holdfast ui` reads it to open a server that runs already.

A request with a key passes: whether the key is good is decided where all keys are checked.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from holdfast.edges.web.rendering import t
from holdfast.system.atomic_file import write_atomic

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

# The parameter of the address.
_TICKET = "ticket"
_FILE = "ui.json"
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
        self._used: set[str] = set()

    @classmethod
    def begin(cls, home: str) -> UiAccess:
        """For a server that starts: earlier tickets are void, a browser that was let in stays."""
        cookie = _read(home).get("cookie") or secrets.token_urlsafe(32)
        tickets = secrets.token_urlsafe(32)
        # Holdfast's own files are readable by their owner alone.
        text = json.dumps({"tickets": tickets, "cookie": cookie})
        write_atomic(os.path.join(home, _FILE), f"{text}\n")
        return cls(tickets, cookie)

    def admits(self, cookies: str, port: int) -> bool:
        """Whether a Cookie header holds the cookie."""
        try:
            found = SimpleCookie(cookies).get(_cookie_name(port))
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(
            found.value.encode(), self._cookie.encode()
        )

    def redeem(self, ticket: str) -> bool:
        """Whether a ticket is good; it is not a second time."""
        nonce, _, signature = ticket.partition(".")
        right = _signature(self._tickets, nonce)
        if not hmac.compare_digest(signature.encode(), right.encode()) or nonce in self._used:
            return False
        if len(self._used) >= _USED_MAX:
            return False
        self._used.add(nonce)
        return True

    def set_cookie(self, port: int) -> str:
        """The Set-Cookie header. The port is in the name: servers of one machine share cookies."""
        name = _cookie_name(port)
        return (
            f"{name}={self._cookie}; Path=/; Max-Age={_COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
        )


def address_with_ticket(home: str, url: str) -> str:
    """The address of a page with a new ticket; as it is where no server of this home asks for
    one."""
    tickets = _read(home).get("tickets")
    if not tickets:
        return url
    nonce = secrets.token_urlsafe(12)
    return f"{url}?{urlencode({_TICKET: f'{nonce}.{_signature(tickets, nonce)}'})}"


def _read(home: str) -> dict[str, str]:
    try:
        with open(os.path.join(home, _FILE), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}


def _signature(secret: str, nonce: str) -> str:
    return hmac.new(secret.encode(), nonce.encode(), hashlib.sha256).hexdigest()


def _cookie_name(port: int) -> str:
    return f"holdfast_ui_{port}"


class UiGate:
    """Lets through what brings the cookie or a key, and exchanges tickets for the cookie."""

    def __init__(self, app: ASGIApp, *, access: UiAccess) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _OPEN:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        port = (scope.get("server") or ("", 0))[1] or 0
        asked = parse_qsl(scope.get("query_string", b"").decode("latin-1"))
        ticket = dict(asked).get(_TICKET, "")
        if ticket and scope["method"] == "GET" and self._access.redeem(ticket):
            rest = urlencode([(name, value) for name, value in asked if name != _TICKET])
            answer: Response = RedirectResponse(
                f"{scope['path']}{f'?{rest}' if rest else ''}", 303, {"Cache-Control": "no-store"}
            )
            answer.headers["Set-Cookie"] = self._access.set_cookie(port)
            await answer(scope, receive, send)
        elif self._access.admits("; ".join(headers.getlist("cookie")), port) or _KEY.fullmatch(
            headers.get("authorization", "")
        ):
            await self._app(scope, receive, send)
        else:
            await _refused(headers)(scope, receive, send)


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
