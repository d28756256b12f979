"""Signing in with a key, and out. The key comes in the Authorization header, as everywhere, so that
no other page can sign somebody in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from holdfast.edges.web import cookie
from holdfast.edges.web.strings import t
from holdfast.edges.web.visit import SECURITY_HEADERS, SignInNeeded, Visit, route
from holdfast.engine.people import sign_ins

if TYPE_CHECKING:
    from starlette.routing import Route


def _page(visit: Visit) -> Response:
    return visit.html("sign_in.html", {"message": "", "hint": ""})


def _sign_in(visit: Visit) -> Response:
    """A cookie for a key; its holder brought the key itself, not a cookie."""
    key = visit.caller.key
    if key is None:
        raise SignInNeeded(t("error.sign_in_needed"))
    token = sign_ins.sign_in(visit.memory.core, key)
    secure = visit.request.url.scheme == "https" or (
        visit.request.headers.get("x-forwarded-proto", "").lower() == "https"
    )
    headers = {**SECURITY_HEADERS, "Set-Cookie": cookie.set_cookie(token, secure=secure)}
    return Response(status_code=204, headers=headers)


def _sign_out(visit: Visit) -> Response:
    token = cookie.token_in(visit.request.headers.get("cookie", ""))
    if token:
        sign_ins.sign_out(visit.memory.core, token)
    answer = visit.redirect("/sign-in")
    answer.headers["Set-Cookie"] = cookie.clear_cookie()
    # What the browser has kept of the pages goes too.
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


def routes() -> list[Route]:
    return [
        route("/sign-in", _page),
        route("/sign-in", _sign_in, methods=("POST",)),
        route("/sign-out", _sign_out, methods=("POST",)),
    ]
