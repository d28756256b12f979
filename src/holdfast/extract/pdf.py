"""Text out of PDFs, a page at a time. Pages that hold nothing but a picture are read by OCR, where
that is there. Runs in the limited process: the library is C++ and the file is a stranger's."""

from __future__ import annotations

from typing import BinaryIO

from holdfast.extract.formats import Found, Gathered, Progress, Unavailable, Unreadable
from holdfast.extract.image import Ocr

# A thick book has two thousand; more are a bomb.
PAGES_MAX = 5_000
# Reading a picture takes seconds a page, and all of it must fit into the time of one job.
_OCR_PAGES_MAX = 20
# 150 dots per inch: below, small print is lost; above, only time.
_SCALE = 150 / 72
_PIXELS_MAX = 25_000_000
_NEEDS_PASSWORD = 4


def read_pdf(file: BinaryIO, chars_max: int, progress: Progress, ocr: Ocr) -> Found:
    """The text of all pages."""
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
    return Found(gathered.text(), "; ".join(notes))


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
