"""Which requests the proxy forwards, where to, and with which headers.

Only the paths of this table go out, and only to the one endpoint that was configured: the address
is made from the table, never from what a client sent. Headers that belong to a connection, to this
machine or to Holdfast stay here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from holdfast.edges.proxy.formats import ChatCompletions, Format, Messages, Responses
from holdfast.edges.server.listening import is_loopback
from holdfast.errors import InvalidInput

HUB_HEADER = "x-hub-id"
SESSION_HEADER = "x-holdfast-session"
KEY_HEADER = "x-holdfast-key"
# Under which clients send the name of a conversation, ours first.
SESSION_HEADERS = (SESSION_HEADER, "session_id", "session-id", "conversation_id")
# Where clients put the key of the endpoint.
KEY_HEADERS = ("authorization", "x-api-key", "api-key")

# One part of a path: no slash, nothing that climbs, nothing that ends the path.
_ID = r"(?!\.+(?:/|$))[A-Za-z0-9._:@-]{1,200}"
_HOPS = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "expect"),
    )
)
# Of a request: made anew, of this machine, or of a browser.
_KEPT_HERE = frozenset(
    (
        *("host", "content-length", "accept-encoding", "cookie", "origin", "referer", "forwarded"),
        *("via", "range", "if-range", HUB_HEADER),
    )
)
_KEPT_HERE_PREFIXES = ("sec-", "x-forwarded-", "x-holdfast-", "access-control-")
# Of an answer: about the endpoint's own host, or a permission for web pages to read it.
_DROPPED = frozenset(("set-cookie", "alt-svc", "strict-transport-security", "server", "date"))
_DROPPED_PREFIXES = ("access-control-", "cross-origin-")

Header = tuple[bytes, bytes]


class Route(NamedTuple):
    """A path that is forwarded, by its methods; with a format, memory takes part."""

    methods: tuple[str, ...]
    pattern: re.Pattern[str]
    format: Format | None = None


def _route(methods: str, pattern: str, format_: Format | None = None) -> Route:
    return Route(tuple(methods.split()), re.compile(pattern), format_)


ROUTES = (
    _route("POST", r"/chat/completions", ChatCompletions()),
    _route("POST", r"/responses", Responses()),
    _route("POST", r"/messages", Messages()),
    _route("POST", r"/messages/count_tokens"),
    _route("POST", r"/responses/input_tokens"),
    _route("POST", r"/responses/compact"),
    _route("GET DELETE", rf"/responses/{_ID}"),
    _route("POST", rf"/responses/{_ID}/cancel"),
    _route("GET", rf"/responses/{_ID}/input_items"),
    _route("POST", r"/conversations"),
    _route("GET POST DELETE", rf"/conversations/{_ID}"),
    _route("GET POST", rf"/conversations/{_ID}/items"),
    _route("POST", r"/completions"),
    _route("POST", r"/embeddings"),
    _route("GET", r"/models"),
    # Some endpoints name models by their maker too.
    _route("GET", rf"/models/{_ID}(?:/{_ID})?"),
)
PREFIX = "/v1"
_ADDRESS = re.compile(r"[\x21-\x7e]+")


class NoRoute(Exception):
    """Nothing is forwarded from this path, or not with this method."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Upstream(NamedTuple):
    """The endpoint behind the proxy: the URL that `/v1` of the proxy maps to."""

    url: str
    is_local: bool

    @classmethod
    def parse(cls, text: str) -> Upstream:
        """The endpoint, from what a person typed."""
        hint = "Name the address of the API: --upstream https://api.openai.com/v1"
        try:
            parts = urlsplit(text.strip())
            host, port = parts.hostname, parts.port
        except ValueError:
            raise InvalidInput(f"{text!r} is not an address.", hint=hint) from None
        if parts.scheme not in ("http", "https") or not host or port == 0:
            raise InvalidInput(f"{text!r} is not an address of HTTP.", hint=hint)
        if parts.username is not None or parts.password is not None:
            raise InvalidInput(
                "The address of the endpoint holds a password.",
                hint="Keep the key in an environment variable, and name it with --key-from.",
            )
        if parts.query or parts.fragment or not _ADDRESS.fullmatch(text.strip()):
            raise InvalidInput(f"{text!r} is more than an address.", hint=hint)
        path = parts.path.rstrip("/") or PREFIX
        return cls(f"{parts.scheme}://{parts.netloc}{path}", is_loopback(host))

    def address(self, path: str, query: bytes) -> str:
        """Where a request for a path that is forwarded goes."""
        rest = quote(path.removeprefix(PREFIX), safe="/:@")
        text = query.decode("ascii", "replace")
        return f"{self.url}{rest}" + (f"?{quote(text, safe=_QUERY_SAFE)}" if text else "")


# As a client sent it; what no address may have is escaped.
_QUERY_SAFE = "%&=+/:;,?@!$'()*~-._[]"


def route_of(method: str, path: str) -> Route:
    """The row of the table; NoRoute for anything else."""
    inner = path.removeprefix(PREFIX)
    if inner == path:
        raise NoRoute(404)
    found = [route for route in ROUTES if route.pattern.fullmatch(inner)]
    if not found:
        raise NoRoute(404)
    for route in found:
        if method in route.methods:
            return route
    raise NoRoute(405)


def request_headers(given: Iterable[Header], *, key: str = "") -> list[Header]:
    """What is sent on. With a key of our own, it takes the place of the client's."""
    rows = [(name.lower(), value) for name, value in given]
    dropped = _KEPT_HERE | _HOPS | _named_by_connection(rows)
    kept = [
        (name, value)
        for name, value in rows
        if (text := name.decode("latin-1")) not in dropped
        and not text.startswith(_KEPT_HERE_PREFIXES)
    ]
    offered = b",".join(value.lower() for name, value in rows if name == b"accept-encoding")
    # What can be read on the way; other packings would have to be learnt first.
    kept.append((b"accept-encoding", b"gzip" if b"gzip" in offered else b"identity"))
    return _with_key(kept, key) if key else kept


def _with_key(rows: list[Header], key: str) -> list[Header]:
    names = {name.decode("latin-1") for name, _ in rows} & set(KEY_HEADERS)
    kept = [row for row in rows if row[0].decode("latin-1") not in KEY_HEADERS]
    for name in names or {"authorization"}:
        value = f"Bearer {key}" if name == "authorization" else key
        kept.append((name.encode("latin-1"), value.encode("latin-1")))
    return kept


def response_headers(given: Iterable[Header]) -> list[Header]:
    """What a client gets."""
    rows = [(name.lower(), value) for name, value in given]
    dropped = _DROPPED | _HOPS | _named_by_connection(rows)
    return [
        (name, value)
        for name, value in rows
        if (text := name.decode("latin-1")) not in dropped
        and not text.startswith(_DROPPED_PREFIXES)
    ]


def _named_by_connection(rows: Iterable[Header]) -> set[str]:
    """Headers that were meant for the connection alone. A client must not take a key off the
    request in this way."""
    names = b",".join(value for name, value in rows if name == b"connection")
    found = {name.strip().lower() for name in names.decode("latin-1").split(",")}
    return found - {*KEY_HEADERS, "content-type"}


def client_keys(headers: Mapping[str, str]) -> list[str]:
    """The keys that a client brought for this proxy."""
    found = [headers.get(KEY_HEADER, ""), headers.get("x-api-key", ""), headers.get("api-key", "")]
    kind, _, given = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        found.append(given.strip())
    return [one for one in found if one]
