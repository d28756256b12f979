"""One request of the web page: who makes it, the hub it is about, what its form says, and how an
answer or an error becomes HTML; signing in with a key, and out. The key comes in the
Authorization header, as everywhere, so that no other page can sign somebody in; the cookie that
it is exchanged for replaces the key in later requests."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from holdfast.api.caller import Caller, without_places
from holdfast.edges.web import rendering
from holdfast.edges.web.rendering import t
from holdfast.engine.people import keys
from holdfast.engine.people.keys import LASTS, TOKEN_PREFIX
from holdfast.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    HoldfastError,
    InvalidInput,
    NotFound,
    StoreError,
    TooLarge,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast
    from holdfast.domain.hub import Act, Hub, Standing


SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; manifest-src 'self'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# Below this, compressing costs more than it saves.
_GZIP_BYTES_MIN = 1_000
_FORM_FIELDS_MAX = 2_000
_ACTS: tuple[Act, ...] = ("read_log", "write", "retire", "delete_own", "delete_any", "manage")
_STATUSES: tuple[tuple[type[HoldfastError], int], ...] = (
    (TooLarge, 413),
    (InvalidInput, 422),
    (NotFound, 404),
    (Forbidden, 403),
    (AlreadyExists, 409),
    (Conflict, 409),
    (StoreError, 503),
)


class SignInNeeded(HoldfastError):
    """The web page requires a key, and the request has no valid one."""


class Visit:
    """A request for a web page, with its caller, hub and form, as views use it."""

    def __init__(self, request: Request, form: Mapping[str, list[str]]) -> None:
        self.request = request
        self._form = form

    @property
    def memory(self) -> Holdfast:
        memory: Holdfast = self.request.app.state.memory
        return memory

    @property
    def key_needed(self) -> bool:
        return bool(self.request.app.state.key_needed)

    @property
    def is_fragment(self) -> bool:
        """Whether the request is for a part of a page."""
        return "hx-request" in self.request.headers

    # What was sent

    def query(self, name: str) -> str:
        return self.request.query_params.get(name, "").strip()

    def has_query(self, name: str) -> bool:
        return name in self.request.query_params

    def field(self, name: str) -> str:
        return self._form.get(name, [""])[-1]

    def fields(self, name: str) -> list[str]:
        return list(self._form.get(name, []))

    def has(self, name: str) -> bool:
        return name in self._form

    def path(self, name: str) -> str:
        return str(self.request.path_params.get(name, ""))

    # Who, and where

    @cached_property
    def caller(self) -> Caller:
        kind, _, secret = self.request.headers.get("authorization", "").partition(" ")
        if not secret:
            if self.key_needed:
                raise SignInNeeded(t("error.sign_in_needed"))
            return Caller(self.memory)
        key = keys.find_key(self.memory.core, secret.strip()) if kind.lower() == "bearer" else None
        if key is None:
            raise SignInNeeded(t("error.key_refused"))
        return Caller(self.memory, key)

    @property
    def hub_name(self) -> str | None:
        return self.path("hub") or None

    @cached_property
    def _hub_and_standing(self) -> tuple[Hub, Standing]:
        return self.caller.hub_standing(self.hub_name)

    def hub(self, act: Act = "read", *, lasting: bool = False) -> HubMemory:
        """The hub of the address, if the caller may do this there."""
        seconds = None if lasting else self.memory.core.settings["server.request_seconds"]
        return self.caller.hub(self.hub_name, act, deadline_s=seconds)

    def other_hub(self, name: str, act: Act) -> HubMemory:
        return self.caller.hub(name, act)

    def allows(self, act: Act) -> bool:
        return self._hub_and_standing[1].allows(act, self.caller.key)

    @cached_property
    def hubs(self) -> list[tuple[str, str, Hub]]:
        """The hubs that the caller can reach: the name in addresses, the displayed name, and the
        hub."""
        found = [hub for hub, _ in self.caller.hubs()]
        names = Counter(hub.called for hub in found)
        return [
            (hub.called if names[hub.called] == 1 else hub.id, hub.called, hub) for hub in found
        ]

    @cached_property
    def slug(self) -> str:
        """The hub's name in addresses."""
        hub = self._hub_and_standing[0]
        found = (slug for slug, _, one in self.hubs if one.id == hub.id)
        return next(found, hub.called)

    def url(self, rest: str = "", hub: str | None = None) -> str:
        return f"/h/{quote(self.slug if hub is None else hub, safe='')}{rest}"

    # Answers

    def page(self, template: str, values: Mapping[str, Any], *, status: int = 200) -> Response:
        """A whole page in the common frame."""
        hub, standing = self._hub_and_standing
        frame = {
            "visit": self,
            "hub_now": self.memory.core.now(),
            "url": self.url,
            "hub": hub,
            "hubs": self.hubs,
            "slug": self.slug,
            "may": {act: standing.allows(act, self.caller.key) for act in _ACTS},
            "role": standing.role,
            "actor": self.caller.actor,
            "signed_in": self.caller.key is not None,
            "waiting": values.get("waiting"),
        }
        return self.html(template, {**frame, **values}, status=status)

    fragment = page

    def json(self, values: Mapping[str, Any]) -> Response:
        """JSON for a chart."""
        body = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
        return self._sent(body, 200, "application/json", {})

    def html(
        self, template: str, values: Mapping[str, Any], *, status: int = 200, **headers: str
    ) -> Response:
        body = rendering.render(template, values).encode("utf-8", "replace")
        return self._sent(body, status, "text/html; charset=utf-8", headers)

    def _sent(
        self, body: bytes, status: int, media_type: str, headers: Mapping[str, str]
    ) -> Response:
        sent = {**SECURITY_HEADERS, "Cache-Control": "no-store", "Vary": "Accept-Encoding"}
        accepted = self.request.headers.get("accept-encoding", "")
        if len(body) >= _GZIP_BYTES_MIN and "gzip" in accepted:
            body = gzip.compress(body, 5, mtime=0)
            sent["Content-Encoding"] = "gzip"
        return Response(body, status, {**sent, **headers}, media_type)

    def redirect(self, to: str) -> Response:
        """A redirect, for a fragment or a whole page."""
        if self.is_fragment:
            return Response(status_code=204, headers={**SECURITY_HEADERS, "HX-Redirect": to})
        return Response(status_code=303, headers={**SECURITY_HEADERS, "Location": to})

    def error(self, error: HoldfastError) -> Response:
        """An error, as a notice in the requesting page or as a page of its own."""
        home = "" if "authorization" not in self.request.headers else self.memory.home
        values = {
            "message": without_places(error.message, home),
            "hint": without_places(error.hint, home),
        }
        if isinstance(error, SignInNeeded):
            if not self.is_fragment:
                return self.html("sign_in.html", values, status=401)
            values["sign_in"] = "yes"
            return self._notice(values, 401)
        status = next((code for kind, code in _STATUSES if isinstance(error, kind)), 500)
        if self.is_fragment:
            return self._notice(values, status)
        return self.html("error.html", {**values, "status": status}, status=status)

    def _notice(self, values: Mapping[str, Any], status: int) -> Response:
        headers = {"HX-Retarget": "#notices", "HX-Reswap": "afterbegin"}
        return self.html("notice_error.html", values, status=status, **headers)


View: TypeAlias = Callable[[Visit], Response]


def route(path: str, view: View, *, post: bool = False) -> Route:
    """A route with a view that runs in a thread, its form read, and its errors as HTML."""

    async def endpoint(request: Request) -> Response:
        form: dict[str, list[str]] = {}
        if request.method != "GET":
            async with request.form(max_files=0, max_fields=_FORM_FIELDS_MAX) as sent:
                for name, value in sent.multi_items():
                    if isinstance(value, str):
                        # A form of a browser has CRLF between lines.
                        form.setdefault(name, []).append(value.replace("\r\n", "\n"))
        visit = Visit(request, form)

        def work() -> Response:
            try:
                return view(visit)
            except HoldfastError as error:
                return visit.error(error)

        return await run_in_threadpool(work)

    methods = ["POST" if post else "GET"]
    return Route(path, endpoint, methods=methods, include_in_schema=False)


def _page(visit: Visit) -> Response:
    return visit.html("sign_in.html", {"message": "", "hint": ""})


def _sign_in(visit: Visit) -> Response:
    """Creates the cookie of a sign-in. The request must have the key itself, not a cookie."""
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


ROUTES = [
    route("/sign-in", _page),
    route("/sign-in", _sign_in, post=True),
    route("/sign-out", _sign_out, post=True),
]


NAME = "holdfast_sign_in"
# The page shows changes as they come; the other routes below /v1 take a key.
_EVENTS = "/v1/events"
_CLOSED = ("/v1", "/mcp", "/metrics", "/openapi.json")


def is_for_pages(path: str) -> bool:
    """Whether the cookie counts for this path."""
    if path == _EVENTS:
        return True
    return not any(path == one or path.startswith(one + "/") for one in _CLOSED)


def cookie_in(header: str, name: str) -> str:
    """The cookie of that name in a Cookie header; empty if there is none."""
    try:
        found = SimpleCookie(header).get(name) if name in header else None
    except CookieError:
        return ""
    return "" if found is None else found.value


def token_in(header: str) -> str:
    """The token in a Cookie header; empty if there is none."""
    value = cookie_in(header, NAME)
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
    """Signs a browser in: copies the token of the cookie into the Authorization header, where keys
    are expected. A key in the header wins."""

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
