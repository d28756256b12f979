"""Reads the body of a response with a bound on its size, before and after decompression.

A few kilobytes of gzip can expand to gigabytes. So the body is decompressed here in small pieces,
not by the HTTP library, and reading stops where it becomes too large.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    import httpx2

# The encodings that `_decompressed` understands, for the header Accept-Encoding.
ACCEPT_ENCODING = "gzip"
# A page of 100 memories of 640,000 characters each.
RESPONSE_BYTES_MAX = 64_000_000
# An error is a sentence; whatever is longer is no Holdfast server's.
ERROR_BYTES_MAX = 1_000_000
_PIECE_BYTES = 1 << 16
# 16 tells zlib to expect the header of gzip.
_GZIP_WINDOW_BITS = 16 + zlib.MAX_WBITS


def read_body(url: str, response: httpx2.Response, bytes_max: int) -> httpx2.Response:
    """The response with its whole body, decompressed; HoldfastError where it is too large."""
    import httpx2

    if response.status_code >= 400:
        bytes_max = min(bytes_max, ERROR_BYTES_MAX)
    body = bytearray()
    for piece in _pieces(url, response, bytes_max):
        body += piece
        if len(body) > bytes_max:
            raise _too_large(url, bytes_max)
    headers = {
        name: value
        for name, value in response.headers.items()
        if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
    }
    return httpx2.Response(response.status_code, headers=headers, content=bytes(body))


def read_lines(url: str, response: httpx2.Response, bytes_max: int) -> Iterator[str]:
    """The lines of a body of any length, without their ends; HoldfastError where a line is too
    large."""
    rest = bytearray()
    for piece in _pieces(url, response, None):
        # The piece alone is searched: what is left of earlier ones has no end of a line.
        *ends, tail = piece.split(b"\n")
        for end in ends:
            rest += end
            if len(rest) > bytes_max:
                raise _too_large(url, bytes_max)
            yield _text(rest)
            rest.clear()
        rest += tail
        if len(rest) > bytes_max:
            raise _too_large(url, bytes_max)
    if rest:
        yield _text(rest)


def _text(line: bytearray) -> str:
    return line.decode("utf-8", errors="replace").removesuffix("\r")


def _pieces(url: str, response: httpx2.Response, raw_bytes_max: int | None) -> Iterator[bytes]:
    """The body in pieces of bounded size, decompressed. Compressed bytes are bounded too where
    there is a bound: a stream of empty gzip members decompresses to nothing for ever."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip"):
        raise HoldfastError(
            f"{url} answers in the encoding {encoding[:50]!r}, which was not asked for.",
            hint="Check what stands between you and the server.",
        )
    raw = _bounded(url, response.iter_raw(), raw_bytes_max)
    return _decompressed(url, raw) if encoding == "gzip" else raw


def _bounded(url: str, raw: Iterator[bytes], bytes_max: int | None) -> Iterator[bytes]:
    count = 0
    for block in raw:
        count += len(block)
        if bytes_max is not None and count > bytes_max:
            raise _too_large(url, bytes_max)
        yield block


def _decompressed(url: str, raw: Iterator[bytes]) -> Iterator[bytes]:
    decoder = zlib.decompressobj(_GZIP_WINDOW_BITS)
    try:
        for block in raw:
            data = block
            while data:
                if decoder.eof:
                    # A gzip file may have several members, one after the other.
                    decoder = zlib.decompressobj(_GZIP_WINDOW_BITS)
                yield decoder.decompress(data, _PIECE_BYTES)
                data = decoder.unconsumed_tail or decoder.unused_data
        while piece := decoder.decompress(b"", _PIECE_BYTES):
            yield piece
        if not decoder.eof:
            raise zlib.error("the stream ends early")
    except zlib.error as error:
        raise HoldfastError(
            f"{url} answers with gzip that cannot be read ({error}).",
            hint="Check what stands between you and the server.",
        ) from None


def _too_large(url: str, bytes_max: int) -> HoldfastError:
    return HoldfastError(
        f"{url} answers with more than {bytes_max:,} bytes; the rest was not read.",
        hint="Ask for fewer at once, or raise `response_bytes_max` of the client.",
    )
