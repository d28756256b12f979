"""Text in images, read by the program tesseract where it is installed. What an image is, its header
says; one that claims more pixels than anybody has is refused before a decoder sees it."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from typing import Any, BinaryIO

from holdfast.extract.formats import Found, Unavailable, Unreadable

# A poster at 300 dots per inch; more is meant to exhaust the memory of the decoder.
PIXELS_MAX = 100_000_000
# Less than the process around it has, which ends this one with it only if it still can.
_TIMEOUT_S = 200
# JPEG markers that say the size, but for those that only look like it.
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class Ocr:
    """The program that reads text in images."""

    def __init__(self, program: str, languages: str) -> None:
        self._path = shutil.which(program)
        self._languages = languages
        self.missing = f"OCR is not available here: the program `{program}` is not installed"

    @property
    def available(self) -> bool:
        return self._path is not None

    def read(self, image: bytes | BinaryIO) -> str:
        """The text in an image; the process has the limits of this one."""
        if self._path is None:
            raise Unavailable(self.missing)
        words = [self._path, "stdin", "stdout"]
        if self._languages:
            words += ["-l", self._languages]
        given: dict[str, Any] = {"stdin": image}
        if isinstance(image, bytes):
            given = {"input": image}
        # One thread: the limit on processor time is for all of them together.
        environ = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        try:
            done = subprocess.run(
                words, capture_output=True, env=environ, check=False, timeout=_TIMEOUT_S, **given
            )
        except subprocess.TimeoutExpired:
            raise Unreadable("reading the image takes longer than is allowed") from None
        if done.returncode < 0:
            raise Unreadable("reading the image takes more time or memory than is allowed")
        if done.returncode:
            raise Unreadable("the image is broken, or tesseract cannot read its format")
        text = bytes(done.stdout).decode("utf-8", "replace")
        return text.replace("\f", "\n").strip()


def read_image(file: BinaryIO, ocr: Ocr) -> Found:
    """The text in an image; a note where there is none, or nothing that could read it."""
    size = size_of(file.read(1 << 20))
    if size is None:
        raise Unreadable("the image is broken")
    if size[0] * size[1] > PIXELS_MAX:
        raise Unreadable(f"the image claims {size[0]:,} by {size[1]:,} pixels, which is too many")
    file.seek(0)
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    text = ocr.read(file)
    return Found(text, "" if text else "there are no words in the image")


def size_of(head: bytes) -> tuple[int, int] | None:
    """Width and height by the header; None where it is none. TIFF hides them anywhere in the file,
    and is left to the limits on memory: (0, 0)."""
    try:
        if head.startswith(b"\x89PNG"):
            return struct.unpack(">II", head[16:24]) if head[12:16] == b"IHDR" else None
        if head.startswith(b"GIF8"):
            return struct.unpack("<HH", head[6:10])
        if head.startswith(b"BM"):
            width, height = struct.unpack("<ii", head[18:26])
            return abs(width), abs(height)
        if head.startswith(b"\xff\xd8"):
            return _jpeg_size(head)
        if head[8:12] == b"WEBP":
            return _webp_size(head)
    except struct.error:
        return None
    return (0, 0) if head[:4] in (b"II*\0", b"MM\0*") and len(head) > 8 else None


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4])
        if marker in _JPEG_SIZES:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 1 if marker == 0xFF else 2 + max(2, length)
    return None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    form = head[12:16]
    if form == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if form == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 ":
        width, height = struct.unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None
