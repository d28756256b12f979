"""Signing in with a key, and out. The key comes in the Authorization header, as everywhere, so that
no other page can sign somebody in; the cookie that it is exchanged for stands for the key in later
requests."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from starlette.responses import Response

from holdfast.edges.web.strings import t
from holdfast.edges.web.visit import SECURITY_HEADERS, SignInNeeded, Visit, route
from holdfast.engine.people import keys
from holdfast.engine.people.keys import LASTS, TOKEN_PREFIX

if TYPE_CHECKING:
    from starlette.routing import Route
    from starlette.types import ASGIApp, Receive, Scope, Send


def _page(visit: Visit) -> Response:
    return visit.html("sign_in.html", {"message": "", "hint": ""})


def _sign_in(visit: Visit) -> Response:
    """A cookie for a key; its holder brought the key itself, not a cookie."""
    key = visit.caller.key
    if key is None:
        raise SignInNeeded(t("error.sign_in_needed"))
    token = keys.sign_in(visit.memory.core, key)
    secure = visit.request.url.scheme == "https" or (
        visit.request.headers.get("x-forwarded-proto", "").lower() == "https"
    )
    headers = {**SECURITY_HEADERS, "Set-Cookie": set_cookie(token, secure=secure)}
    return Response(status_code=204, headers=headers)


def _sign_out(visit: Visit) -> Response:
    token = token_in(visit.request.headers.get("cookie", ""))
    if token:
        keys.sign_out(visit.memory.core, token)
    answer = visit.redirect("/sign-in")
    answer.headers["Set-Cookie"] = clear_cookie()
    # What the browser has kept of the pages goes too.
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


def routes() -> list[Route]:
    return [
        route("/sign-in", _page),
        route("/sign-in", _sign_in, methods=("POST",)),
        route("/sign-out", _sign_out, methods=("POST",)),
    ]


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
