"""Styles and scripts: read once, compressed once, and named by their hash, so that a browser keeps
them until they change. There is no folder to walk into: only the names listed here are served."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

_TYPES = {
    "app.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "pictures.js": "text/javascript; charset=utf-8",
    "theme.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "uPlot.iife.min.js": "text/javascript; charset=utf-8",
    "uPlot.min.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_HASH_CHARS = 12


class StaticFile(NamedTuple):
    """One file, ready to be sent."""

    name: str
    hash: str
    plain: bytes
    packed: bytes


@cache
def load(name: str) -> StaticFile:
    plain = files("holdfast.edges.web").joinpath("static", name).read_bytes()
    hashed = hashlib.sha256(plain).hexdigest()[:_HASH_CHARS]
    return StaticFile(name, hashed, plain, gzip.compress(plain, 9, mtime=0))


def url_of(name: str) -> str:
    """The address of a file, which changes with its content."""
    return f"/static/{load(name).hash}/{name}"


def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        return Response("There is no such file.", 404, media_type="text/plain")
    found = load(name)
    # Under another hash it is served too, for a page from before an upgrade, but not kept.
    same = request.path_params["hash"] == found.hash
    headers = {
        "Content-Type": _TYPES[name],
        "Cache-Control": "public, max-age=31536000, immutable" if same else "no-cache",
        "Vary": "Accept-Encoding",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, headers={**headers, "Content-Encoding": "gzip"})
    return Response(found.plain, headers=headers)


def routes() -> list[Route]:
    return [Route("/static/{hash}/{name}", _serve, include_in_schema=False)]
