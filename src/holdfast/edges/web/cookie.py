"""The cookie of a sign-in, and what it is good for: the pages and the stream of events. It is never
looked at for the REST API or MCP, so that no page can use those by a cookie alone."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from holdfast.engine.people.sign_ins import LASTS, TOKEN_PREFIX

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

NAME = "holdfast_sign_in"
# The page shows changes as they come; the other routes below /v1 take a key.
_EVENTS = "/v1/events"
_CLOSED = ("/v1", "/mcp", "/metrics", "/openapi.json")


def is_for_pages(path: str) -> bool:
    """Whether the cookie is looked at for this path."""
    if path == _EVENTS:
        return True
    return not any(path == one or path.startswith(one + "/") for one in _CLOSED)


def token_in(header: str) -> str:
    """The token in a Cookie header; empty where there is none."""
    if NAME not in header:
        return ""
    try:
        found = SimpleCookie(header).get(NAME)
    except CookieError:
        return ""
    value = "" if found is None else found.value
    return value if value.startswith(TOKEN_PREFIX) and value.isascii() else ""


def set_cookie(token: str, *, secure: bool) -> str:
    """The Set-Cookie header of a sign-in."""
    flags = "; Secure" if secure else ""
    age = int(LASTS.total_seconds())
    return f"{NAME}={token}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{flags}"


def clear_cookie() -> str:
    """The Set-Cookie header that removes it."""
    return f"{NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"


class CookieSignIn:
    """Puts the token of the cookie into the Authorization header, where keys are looked for. A key
    in the header wins."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_for_pages(scope["path"]):
            headers = scope["headers"]
            if not any(name == b"authorization" for name, _ in headers):
                cookies = [value for name, value in headers if name == b"cookie"]
                token = token_in("; ".join(value.decode("latin-1") for value in cookies))
                if token:
                    added = (b"authorization", f"Bearer {token}".encode("ascii"))
                    scope = {**scope, "headers": [*headers, added]}
        await self._app(scope, receive, send)
