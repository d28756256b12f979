"""Text out of office documents: docx, xlsx, pptx. Each is a zip file, so it is first asked how much
it would become; the libraries see it only if that is little enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from holdfast.extract.formats import Found, Gathered, Progress, Unavailable, Unreadable
from holdfast.system.zip_archive import ZipRefused, open_zip

# What a document of a thousand pages with pictures has; a bomb claims terabytes.
_UNPACKED_MAX = 300_000_000
_MEDIA = "application/vnd.openxmlformats-officedocument."
# Rows of a table that are worth a reading; beyond, it is data and no text.
_ROWS_MAX = 50_000


def read_office(file: BinaryIO, chars_max: int, progress: Progress) -> tuple[Found, str]:
    """The text, and the media type that the file turned out to have."""
    names = _checked(file)
    file.seek(0)
    for front, media, read in _READERS:
        if front in names:
            gathered = Gathered(chars_max)
            _run(read, file, gathered, progress)
            return Found(gathered.text("\n"), gathered.note), _MEDIA + media
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
