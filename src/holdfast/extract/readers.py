"""File formats by content, never by name, and the text of each: plain text (UTF-8, UTF-16 with a
byte order mark, else Windows-1252), images, PDFs and office documents (docx, xlsx, pptx). Runs in
the limited process, as the libraries are large and the files are a stranger's; a library is
imported when a file of its kind is read.

Text in images is read by the program tesseract, where it is installed; an image with a header that
claims too many pixels is refused before a decoder sees it. Pages of a PDF that hold nothing but a
picture are read in the same way. An office document is a zip file, and is opened only if its
unpacked size is within a limit.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias

from holdfast.extract import ZipRefused, open_zip

# Called with how many parts are done, and of how many.
Progress = Callable[[int, int], None]


class ExtractedText(NamedTuple):
    """Text, and what a person should know of it."""

    text: str
    note: str = ""
    title: str = ""


class Unreadable(Exception):
    """The file has no readable text, and another attempt would not help. The reason completes the
    sentence 'There is no text of it: …'."""


class Unavailable(Exception):
    """The program or package that could read the text of a file is not installed."""


class Gathered:
    """Pieces of a file's text up to a number of characters; more are counted as left out."""

    def __init__(self, chars_max: int) -> None:
        self._left = chars_max
        self._pieces: list[str] = []
        self.full = False

    def add(self, text: str) -> bool:
        """Takes a piece; False if there is no room for another."""
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
# A PDF may begin with a few foreign bytes; readers search this far.
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
    """The text of an attached text file; Unreadable where no encoding fits."""
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


# A poster at 300 dots per inch; more is meant to exhaust the memory of the decoder.
PIXELS_MAX = 100_000_000
# Less than the limit of the surrounding process, so that it can still end this one.
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


def read_image(file: BinaryIO, ocr: Ocr) -> ExtractedText:
    """The text in an image; a note if there is none, or no program to read it."""
    size = size_of(file.read(1 << 20))
    if size is None:
        raise Unreadable("the image is broken")
    if size[0] * size[1] > PIXELS_MAX:
        raise Unreadable(f"the image claims {size[0]:,} by {size[1]:,} pixels, which is too many")
    file.seek(0)
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    text = ocr.read(file)
    return ExtractedText(text, "" if text else "there are no words in the image")


def size_of(head: bytes) -> tuple[int, int] | None:
    """Width and height of an image by its header; None if it is none. TIFF hides them anywhere in
    the file, and is left to the limits on memory: (0, 0)."""
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


# A thick book has two thousand; more are a bomb.
PAGES_MAX = 5_000
# Reading a picture takes seconds a page, and all of it must fit into the time of one job.
_OCR_PAGES_MAX = 20
# 150 dots per inch: below, small print is lost; above, only time.
_SCALE = 150 / 72
_PIXELS_MAX = 25_000_000
_NEEDS_PASSWORD = 4


def read_pdf(file: BinaryIO, chars_max: int, progress: Progress, ocr: Ocr) -> ExtractedText:
    """The text of all pages of a PDF."""
    try:
        import pypdfium2
    except ModuleNotFoundError:
        raise Unavailable("reading PDFs needs the extra `pdf` of holdfast") from None

    try:
        document = pypdfium2.PdfDocument(file)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _NEEDS_PASSWORD:
            raise Unreadable("the PDF is encrypted and needs a password") from None
        raise Unreadable("the PDF is broken and cannot be opened") from None
    if not pages:
        raise Unreadable("the PDF has no pages")
    if pages > PAGES_MAX:
        raise Unreadable(f"the PDF has {pages:,} pages; at most {PAGES_MAX:,} are read")
    gathered = Gathered(chars_max)
    pictures: list[int] = []
    broken = 0
    for number in range(pages):
        try:
            text = document[number].get_textpage().get_text_bounded()
        except pypdfium2.PdfiumError:
            broken += 1
            continue
        if not text.strip():
            pictures.append(number)
        if not gathered.add(text):
            break
        progress(number + 1, pages)
    notes = [gathered.note] if gathered.note else []
    if broken:
        notes.append(f"{broken} of {pages} pages are broken")
    if pictures and not gathered.text():
        notes += _read_pictures(document, pictures, gathered, progress, ocr)
    return ExtractedText(gathered.text(), "; ".join(notes))


def _read_pictures(
    document: object, pages: list[int], gathered: Gathered, progress: Progress, ocr: Ocr
) -> list[str]:
    """Reads a PDF that was scanned; returns what there is to say of it."""
    if not ocr.available:
        return [f"its pages are pictures, and {ocr.missing}"]
    for done, number in enumerate(pages[:_OCR_PAGES_MAX], 1):
        gathered.add(ocr.read(_rendered(document, number)))
        progress(done, len(pages))
    if len(pages) > _OCR_PAGES_MAX:
        return [f"its pages are pictures, of which the first {_OCR_PAGES_MAX} were read"]
    return []


def _rendered(document: object, number: int) -> bytes:
    """A page as a grey picture in the simplest format there is (PGM)."""
    page = document[number]  # type: ignore[index]  # pypdfium2 has no types
    width, height = page.get_size()
    scale = min(_SCALE, (_PIXELS_MAX / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    rows = bytes(bitmap.buffer)
    lines = (
        rows[at : at + bitmap.width]
        for at in range(0, bitmap.stride * bitmap.height, bitmap.stride)
    )
    return b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + b"".join(lines)


# What a document of a thousand pages with pictures has; a bomb claims terabytes.
_UNPACKED_MAX = 300_000_000
_MEDIA = "application/vnd.openxmlformats-officedocument."
# Rows of a table that are worth a reading; beyond, it is data and no text.
_ROWS_MAX = 50_000


def read_office(file: BinaryIO, chars_max: int, progress: Progress) -> tuple[ExtractedText, str]:
    """The text of an office file, and the media type that it turned out to have."""
    names = _checked(file)
    file.seek(0)
    for front, media, read in _READERS:
        if front in names:
            gathered = Gathered(chars_max)
            _run(read, file, gathered, progress)
            return ExtractedText(gathered.text("\n"), gathered.note), _MEDIA + media
    raise Unreadable("it is an archive, whose files are not read; push them one by one")


def _checked(file: BinaryIO) -> set[str]:
    """The names in the zip file, once it is known to be no bomb."""
    try:
        with open_zip(file, unpacked_max=_UNPACKED_MAX) as archive:
            return set(archive.namelist())
    except ZipRefused as error:
        raise Unreadable(str(error)) from None


def _run(
    read: Callable[[BinaryIO], Iterator[str]],
    file: BinaryIO,
    gathered: Gathered,
    progress: Progress,
) -> None:
    try:
        for done, piece in enumerate(read(file)):
            if not gathered.add(piece):
                break
            if done % 500 == 0:
                progress(done, 0)
    except ModuleNotFoundError:
        raise Unavailable("reading office documents needs the extra `office` of holdfast") from None
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # three libraries, and whatever a broken file makes them raise
        raise Unreadable(f"the document is broken ({type(error).__name__})") from None


def _docx(file: BinaryIO) -> Iterator[str]:
    from docx import Document
    from docx.table import Table

    for block in Document(file).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield _row(cell.text for cell in row.cells)
            continue
        style = (block.style.name if block.style is not None else "") or ""
        level = style.removeprefix("Heading ")
        heading = "#" * int(level) + " " if level.isdigit() and style != level else ""
        yield heading + block.text


def _xlsx(file: BinaryIO) -> Iterator[str]:
    from openpyxl import load_workbook

    book = load_workbook(file, read_only=True, data_only=True)
    for sheet in book.worksheets:
        yield f"# {sheet.title}"
        # A sheet may claim a million columns; what is in it counts.
        sheet.reset_dimensions()
        for row in sheet.iter_rows(max_row=_ROWS_MAX, values_only=True):
            if any(value is not None for value in row):
                yield _row("" if value is None else str(value) for value in row)


def _pptx(file: BinaryIO) -> Iterator[str]:
    from pptx import Presentation

    for number, slide in enumerate(Presentation(file).slides, 1):
        title = slide.shapes.title
        yield f"# {title.text_frame.text if title is not None else f'Slide {number}'}"
        for shape in slide.shapes:
            if title is not None and shape.shape_id == title.shape_id:
                continue
            yield from _shape(shape)
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
            yield notes.text


def _shape(shape: Any) -> Iterator[str]:
    if shape.has_text_frame:
        yield shape.text_frame.text
    elif getattr(shape, "has_table", False) and shape.has_table:
        for row in shape.table.rows:
            yield _row(cell.text for cell in row.cells)


def _row(cells: Any) -> str:
    return " | ".join(" ".join(cell.split()) for cell in cells).rstrip(" |")


_READERS: tuple[tuple[str, str, Callable[[BinaryIO], Iterator[str]]], ...] = (
    ("word/document.xml", "wordprocessingml.document", _docx),
    ("xl/workbook.xml", "spreadsheetml.sheet", _xlsx),
    ("ppt/presentation.xml", "presentationml.presentation", _pptx),
)
