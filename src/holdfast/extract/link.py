"""Fetches the page of a link and turns its HTML into text. A host name is resolved once, and every
address is checked, so that a page cannot make the server reach private networks."""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from holdfast.extract.readers import ExtractedText, Unreadable

_SKIPPED = frozenset("script style noscript template svg math iframe object select button".split())  # noqa: SIM905
# Around the text of a page: where to go next, and who made it.
_FURNITURE = frozenset(("nav", "footer", "aside"))
_BLOCKS = frozenset(
    """
    p div section article main header ul ol table tr pre blockquote dl dt dd figure figcaption form
    fieldset address hr br h1 h2 h3 h4 h5 h6 li body
    """.split()  # noqa: SIM905
)
# Void elements have no end, so nothing inside them could be skipped.
_VOID = frozenset("br hr img input link meta area base col embed source track wbr".split())  # noqa: SIM905


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title: list[str] = []
        self._skipping: list[str] = []
        self._in_title = False
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        hidden = tag in _SKIPPED or tag in _FURNITURE or dict(attrs).get("hidden", "no") != "no"
        if (hidden or tag in self._skipping) and tag not in _VOID:
            self._skipping.append(tag)
        if self._skipping:
            return
        self._in_title = tag == "title"
        self._pre += tag == "pre"
        if tag in _BLOCKS:
            self.pieces.append("\n" if tag in ("br", "tr", "li") else "\n\n")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.pieces.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self.pieces.append("- ")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipping:
            # What was left open inside ends with it.
            while self._skipping and self._skipping.pop() != tag:
                pass
            return
        self._in_title = False
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag in _BLOCKS and not self._skipping:
            self.pieces.append("\n\n" if tag not in ("li", "tr") else "\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._skipping and self._pre:
            self.pieces.append(data)
        elif not self._skipping:
            words = re.sub(r"\s+", " ", data)
            begins = not self.pieces or self.pieces[-1].endswith("\n")
            if words := words.lstrip() if begins else words:
                self.pieces.append(words)


def page_text(html: str) -> ExtractedText:
    """The text of a page and its title."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    text = "".join(reader.pieces)
    text = re.sub(r"(?<![ \t])[ \t]+\n|\n[ \t]+(?=\n)", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    # A heading or an item without words is no line.
    text = re.sub(r"(?m)^(?:#{1,6}|-) *$\n?", "", text).strip()
    title = " ".join("".join(reader.title).split())[:200]
    return ExtractedText(text, "" if text else "there are no words on the page", title)


REDIRECTS_MAX = 5
_PIECE = 1 << 16
# Characters that need no escape in a path.
_IN_PATH = "/%:@!$&'()*+,;=~"
# So that site operators can identify and block the client.
_AGENT = "Holdfast (fetches a page that its user asked for)"
_TEXTS = ("text/", "application/xhtml+xml", "application/xml", "application/json")
# IPv6 addresses that carry an IPv4 address inside, which is where a packet would go.
_CARRIERS = tuple(map(ipaddress.IPv6Network, ("2002::/16", "64:ff9b::/96", "2001::/32")))
# The public internet: all other addresses are reserved, and versions of Python differ in which they
# know.
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
# Metadata of clouds (in 192.0.0.0/24 Oracle's, 168.63.129.16 Azure's) and relays, which a Python
# may take for global; and addresses that are reserved for documentation.
_KEPT_V4 = tuple(map(ipaddress.IPv4Network, ("192.0.0.0/24", "168.63.129.16/32", "192.88.99.0/24")))
_KEPT_V6 = ipaddress.IPv6Network("3fff::/20")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Sequence[str]]


class TryLater(Exception):
    """The page could not be fetched now; another attempt may succeed."""


class Bounds(NamedTuple):
    """The limits of a fetch. `allowed` are addresses that are reached although they are
    private: for tests with a server of their own, and never from a setting."""

    bytes_max: int
    timeout_s: float
    allowed: tuple[str, ...] = ()


class FetchedPage(NamedTuple):
    """The page behind a link: its final address, its declared type, and its bytes."""

    address: str
    media_type: str
    charset: str
    data: bytes


def resolved(host: str, port: int) -> list[str]:
    """The addresses that the host of a link has."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise TryLater(f"the name {host} is not known") from None
    return [str(one[4][0]) for one in found]


def is_public(text: str) -> bool:
    """Whether the address of a link belongs to the open internet."""
    try:
        address: Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        elif any(address in carrier for carrier in _CARRIERS):
            return False
    if isinstance(address, ipaddress.IPv6Address):
        kept = address not in _GLOBAL_V6 or address in _KEPT_V6
    else:
        kept = any(address in network for network in _KEPT_V4)
    if kept or not address.is_global:
        return False
    return not (address.is_multicast or address.is_reserved or address.is_unspecified)


def checked(parts: SplitResult, bounds: Bounds, resolve: Resolve = resolved) -> tuple[str, int]:
    """The address and port of a link to connect to; Unreadable where any address of the name is
    private."""
    if parts.scheme not in ("http", "https"):
        raise Unreadable("only pages at http and https addresses are fetched")
    if parts.username is not None or parts.password is not None:
        raise Unreadable("an address with a name or password in it is not fetched")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise Unreadable("the address has no port that exists") from None
    if not parts.hostname:
        raise Unreadable("the address names no host")
    addresses = resolve(parts.hostname, port)
    if not addresses:
        raise TryLater(f"the name {parts.hostname} has no address")
    for address in addresses:
        if address not in bounds.allowed and not is_public(address):
            # The address is not revealed to callers from outside.
            raise Unreadable("the link leads to a private address, which is never fetched")
    return addresses[0], port


def fetch(address: str, bounds: Bounds, resolve: Resolve = resolved) -> FetchedPage:
    """Fetches the page behind a link, after at most a few redirects."""
    until = time.monotonic() + bounds.timeout_s
    for _ in range(REDIRECTS_MAX + 1):
        parts = urlsplit(address)
        place, port = checked(parts, bounds, resolve)
        try:
            found = _get(parts, place, port, bounds, until)
        except TimeoutError:
            raise TryLater("the server took too long") from None
        except ssl.SSLError:
            raise Unreadable("the server's certificate is not good") from None
        except (OSError, http.client.HTTPException):
            raise TryLater("the server could not be reached") from None
        if isinstance(found, FetchedPage):
            return found
        address = urljoin(address, found)
    raise Unreadable(f"the link leads on more than {REDIRECTS_MAX} times")


class _Connection(http.client.HTTPConnection):
    """A connection to an address that was checked, under the requested host name."""

    def __init__(self, parts: SplitResult, place: str, port: int, until: float) -> None:
        super().__init__(parts.hostname or "", port)
        self._secure = parts.scheme == "https"
        self._place = place
        self._until = until

    def connect(self) -> None:
        self.sock = socket.create_connection((self._place, self.port), timeout=self.left())
        if self._secure:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host)

    def left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def _get(
    parts: SplitResult, place: str, port: int, bounds: Bounds, until: float
) -> FetchedPage | str:
    """The page, or where it is to be found."""
    connection = _Connection(parts, place, port, until)
    # As people write it, with letters of any script; what is encoded already stays.
    path = quote(parts.path or "/", safe=_IN_PATH)
    if parts.query:
        path += "?" + quote(parts.query, safe=_IN_PATH + "?")
    try:
        host = _host(parts)
        headers = {"Host": host, "User-Agent": _AGENT, "Accept": "text/html, text/*;q=0.9"}
        headers |= {"Accept-Encoding": "identity", "Connection": "close"}
        try:
            connection.request("GET", path, headers=headers)
        except ssl.SSLError:
            # Also a ValueError, where it is about a certificate.
            raise
        except (http.client.InvalidURL, UnicodeEncodeError, ValueError):
            raise Unreadable("the address has characters that no address has") from None
        answer = connection.getresponse()
        location = answer.headers.get("Location")
        if answer.status in (301, 302, 303, 307, 308) and location:
            return location
        _require_good(answer)
        kind = answer.headers.get_content_type()
        if not kind.startswith(_TEXTS):
            raise Unreadable(f"the page is no text but {kind[:100]}")
        data = _body(connection, answer, bounds)
        charset = answer.headers.get_content_charset() or ""
        return FetchedPage(parts.geturl(), kind, charset, data)
    finally:
        connection.close()


def _host(parts: SplitResult) -> str:
    """The name that was asked for, in the letters that names have on the wire."""
    name = parts.netloc.rpartition("@")[2]
    if name.isascii():
        return name
    host, colon, port = name.partition(":")
    try:
        return host.encode("idna").decode() + colon + port
    except UnicodeError:
        raise Unreadable("the address has characters that no address has") from None


def _require_good(answer: http.client.HTTPResponse) -> None:
    if answer.status >= 500 or answer.status == 429:
        raise TryLater(f"the server answered with status {answer.status}")
    if answer.status != 200:
        raise Unreadable(f"the server answered with status {answer.status}")
    if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Unreadable("the server sent a compressed page, which was not asked for")


def _body(connection: _Connection, answer: http.client.HTTPResponse, bounds: Bounds) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        if connection.sock is not None:
            connection.sock.settimeout(connection.left())
        else:
            connection.left()
        piece = answer.read1(_PIECE)
        if not piece:
            return b"".join(pieces)
        size += len(piece)
        if size > bounds.bytes_max:
            raise Unreadable(f"the page has more than {bounds.bytes_max:,} bytes")
        pieces.append(piece)
