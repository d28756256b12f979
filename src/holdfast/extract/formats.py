"""File formats by content, never by name; the values that readers return and the way they fail; and
plain text (UTF-8, UTF-16 with a byte order mark, else Windows-1252)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

# Called with how many parts are done, and of how many.
Progress = Callable[[int, int], None]


class Found(NamedTuple):
    """Text, and what a person should know of it."""

    text: str
    note: str = ""
    title: str = ""


class Unreadable(Exception):
    """There is no text to be had, and another attempt would not help. The reason completes the
    sentence 'There is no text of it: …'."""


class Unavailable(Exception):
    """There might be text, but what reads it is not installed here."""


class Gathered:
    """Pieces of text up to a number of characters; more are counted as left out."""

    def __init__(self, chars_max: int) -> None:
        self._left = chars_max
        self._pieces: list[str] = []
        self.full = False

    def add(self, text: str) -> bool:
        """Takes a piece; False where there is no room for another."""
        text = text.strip()
        if text and not self.full:
            self._pieces.append(text[: self._left])
            self.full = len(text) > self._left
            self._left -= len(text) + 2
            self.full = self.full or self._left <= 0
        return not self.full

    def text(self, between: str = "\n\n") -> str:
        return between.join(self._pieces)

    @property
    def note(self) -> str:
        return "only its first part is kept, as it is very long" if self.full else ""


Family: TypeAlias = Literal["pdf", "image", "zip", "html", "text", "other"]

_SIGNATURES: tuple[tuple[bytes, str, Family], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "image"),
    (b"\xff\xd8\xff", "image/jpeg", "image"),
    (b"GIF87a", "image/gif", "image"),
    (b"GIF89a", "image/gif", "image"),
    (b"II*\0", "image/tiff", "image"),
    (b"MM\0*", "image/tiff", "image"),
    (b"PK\x03\x04", "application/zip", "zip"),
    (b"PK\x05\x06", "application/zip", "zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "other"),
    (b"\x1f\x8b", "application/gzip", "other"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "other"),
    (b"Rar!\x1a\x07", "application/vnd.rar", "other"),
    (b"\x7fELF", "application/x-executable", "other"),
    (b"OggS", "audio/ogg", "other"),
    (b"ID3", "audio/mpeg", "other"),
    (b"fLaC", "audio/flac", "other"),
    (b"SQLite format 3\0", "application/vnd.sqlite3", "other"),
)
# A PDF may begin with a few bytes that are none of it; readers look this far.
_PDF_WITHIN = 1024
_TEXTS = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "json": "application/json",
    "html": "text/html",
    "htm": "text/html",
    "xml": "application/xml",
    "vtt": "text/vtt",
}
_IMAGE_NAMES = frozenset("png jpg jpeg gif tif tiff webp bmp heic avif".split())  # noqa: SIM905
# Control characters that no text has; tab, line ends, form feed, escape (terminal logs) it may.
_BINARY = bytes(set(range(32)) - {8, 9, 10, 12, 13, 27})


def kind_of(head: bytes, name: str = "") -> tuple[str, Family]:
    """The media type and the family of a file that begins so."""
    for signature, media_type, family in _SIGNATURES:
        if head.startswith(signature):
            return media_type, family
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return "application/pdf", "pdf"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp", "image"
    if head[:4] == b"RIFF":
        return "audio/x-wav", "other"
    if head[:2] == b"BM" and len(head) > 18 and head[14:18] in _BMP_HEADERS:
        return "image/bmp", "image"
    if head[4:8] == b"ftyp":
        return "video/mp4", "other"
    if not is_text(head):
        return "application/octet-stream", "other"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html", "html"
    return _TEXTS.get(_extension(name), "text/plain"), "text"


_BMP_HEADERS = tuple(size.to_bytes(4, "little") for size in (12, 40, 52, 56, 64, 108, 124))


def is_text(head: bytes) -> bool:
    """Whether bytes could be text: in UTF-16 by its mark, else without control characters."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    return not head.translate(None, delete=_NOT_BINARY)


_NOT_BINARY = bytes(set(range(256)) - set(_BINARY))


def named_image(name: str) -> bool:
    """Whether a name says that it is an image."""
    return _extension(name) in _IMAGE_NAMES


def _extension(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


# In a western text most letters are plain ones; a file with more others is in another encoding.
_FOREIGN_SHARE_MAX = 0.3
_FOREIGN = bytes(range(128, 256))


def decoded(data: bytes) -> str:
    """The text; Unreadable where no encoding fits."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _or_unreadable(data, "utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    plain = len(data.translate(None, delete=_FOREIGN))
    if len(data) - plain > _FOREIGN_SHARE_MAX * len(data):
        raise Unreadable("it is in an encoding that is not known; save it as UTF-8")
    return _or_unreadable(data, "cp1252")


def _or_unreadable(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        raise Unreadable("it is in an encoding that is not known; save it as UTF-8") from None
