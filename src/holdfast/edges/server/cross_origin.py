"""Protects an HTTP server on this machine from web pages of other origins.

A page that a browser has open can send requests to any port of the loopback address. A server
without a key would take them for its user's. `CrossOriginGuard` therefore refuses:

- a Host header that is not one of the server's names (DNS rebinding): 421;
- a request that a browser sends for a page of another origin, by `Origin` or `Sec-Fetch-Site`: 403;
- a write without a header that a page of another origin cannot send without a preflight: 403. No
  preflight is ever granted, except to origins that are configured.

A person who follows a link from another site to the address of the server itself gets a static page
that loads the real one: the second request comes from the server's own origin.

`SecurityHeaders` adds to every response what keeps a browser from embedding it in another page.

Plain ASGI: streaming responses are passed through unbuffered. See docs/decisions/cross-origin.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response

from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Answers a link from elsewhere: it shows nothing, and goes on to the page as one of its own origin.
_LANDING = (
    b'<!doctype html><html lang="en"><meta charset="utf-8"><title>Holdfast</title>'
    b'<meta http-equiv="refresh" content="0; url=/"><a href="/">Holdfast</a></html>'
)
_LANDING_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
# Any value will do. `holdfast.Client` sends it with every request.
CLIENT_HEADER = "X-Holdfast-Client"
# Request headers that no page can add to a cross-origin request without a preflight. The second
# and the third are those of the REST API, the last one is that of MCP.
_PREFLIGHTED_HEADERS = (CLIENT_HEADER, "X-Hub-ID", "Idempotency-Key", "Mcp-Session-Id")
_READS = ("GET", "HEAD", "OPTIONS")
# `none`: the user typed the address. `same-site` is not enough: ports are not part of a site.
_OWN_SITES = ("same-origin", "none")
RESPONSE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#*@]+")
# RFC 6455: the endpoint terminates the connection because of its policy.
_WEBSOCKET_POLICY_VIOLATION = 1008


class Refusal(NamedTuple):
    """Why a request is refused, for the client."""

    status: int
    code: str
    message: str
    hint: str = ""


class CrossOriginRules(NamedTuple):
    """The names that a server goes by, and the pages of other origins that may use it."""

    hosts: Sequence[str]
    origins: Sequence[str] = ()
    # Where a key is needed, a browser has no credentials to add on its own: routes answer 401.
    key_needed: bool = False
    # The cookie of a sign-in, which a browser does add on its own; empty if there is none.
    cookie: str = ""
    # Whether there is a page for people at `/`.
    has_page: bool = False

    @classmethod
    def checked(
        cls, hosts: Sequence[str], origins: Sequence[str] = (), *, key_needed: bool = False
    ) -> CrossOriginRules:
        """The rules, from what a person configured; InvalidInput for what is no origin. `null` is
        none: every sandboxed frame and every file has it."""
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise InvalidInput(
                    f"{origin!r} is not the origin of a web page.",
                    hint="An origin has a scheme, a host and perhaps a port: https://app.example",
                )
        return cls(hosts, origins, key_needed)

    def refusal(self, method: str, headers: Headers) -> Refusal | None:
        """Why this request must not be served; None if it may be."""
        host = headers.get("host", "").lower()
        if not is_named(host, self.hosts):
            return Refusal(
                421,
                "wrong_host",
                "This server does not go by that name.",
                "Start it with `--allow-host NAME` to add one.",
            )
        if self._is_cross_origin(host, headers):
            return Refusal(
                403,
                "foreign_origin",
                "Pages of other sites may not ask here.",
                "Start the server with `--allow-origin URL` to let one in.",
            )
        open_to_pages = not self.key_needed or self._has_cookie(headers)
        if method not in _READS and open_to_pages and not _needs_preflight(headers):
            return Refusal(
                403,
                "client_header_missing",
                "A web page of any site could have sent this request.",
                f"Add the header `{CLIENT_HEADER}: NAME`, send the body as `Content-Type: "
                "application/json`, or send a key.",
            )
        return None

    def is_followed_link(self, method: str, path: str, query: bytes, headers: Headers) -> bool:
        """Whether a person followed a link from another site to the page itself: nothing else is
        asked for by the request, and nothing of another site can read or frame the answer."""
        return (
            self.has_page
            and method == "GET"
            and path == "/"
            and not query
            and is_named(headers.get("host", ""), self.hosts)
            and "origin" not in headers
            and headers.getlist("sec-fetch-mode") == ["navigate"]
            and headers.getlist("sec-fetch-dest") == ["document"]
        )

    def _has_cookie(self, headers: Headers) -> bool:
        return bool(self.cookie) and any(self.cookie in one for one in headers.getlist("cookie"))

    def _is_cross_origin(self, host: str, headers: Headers) -> bool:
        origins = headers.getlist("origin")
        if origins and all(origin in self.origins for origin in origins):
            return False
        if any(origin.lower() not in (f"http://{host}", f"https://{host}") for origin in origins):
            return True
        return any(site.lower() not in _OWN_SITES for site in headers.getlist("sec-fetch-site"))


def is_named(host: str, names: Sequence[str]) -> bool:
    """Whether a Host header, with or without a port, is one of those names."""
    host = host.lower()
    if host in names:
        return True
    name, colon, port = host.rpartition(":")
    return bool(colon) and port.isascii() and port.isdigit() and name in names


def _needs_preflight(headers: Headers) -> bool:
    """Whether a browser would ask the server before it sent this for a page of another origin."""
    # Not `Basic`: a browser sends that by itself, from an address such as http://user:pass@host.
    if headers.get("authorization", "").lower().startswith("bearer "):
        return True
    if any(name in headers for name in _PREFLIGHTED_HEADERS):
        return True
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type == "application/json"


class CrossOriginGuard:
    """Refuses requests that a page of another origin could have made."""

    def __init__(self, app: ASGIApp, *, rules: CrossOriginRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        method, headers = scope.get("method", "GET"), Headers(scope=scope)
        refusal = self._rules.refusal(method, headers)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and self._rules.is_followed_link(
            method, scope["path"], scope.get("query_string", b""), headers
        ):
            landing = Response(_LANDING, headers=_LANDING_HEADERS, media_type="text/html")
            await landing(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _WEBSOCKET_POLICY_VIOLATION})
        else:
            await _response(refusal)(scope, receive, send)


def _response(refusal: Refusal) -> JSONResponse:
    """The refusal in the shape that every error of the REST API has."""
    message = f"{refusal.message} {refusal.hint}".strip()
    error = {"code": refusal.code, "message": message, "details": None, "hint": refusal.hint}
    return JSONResponse({"error": error}, refusal.status)


class SecurityHeaders:
    """Adds headers to every response that keep browsers from guessing its type and from loading it
    into pages of other origins."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in RESPONSE_HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)
