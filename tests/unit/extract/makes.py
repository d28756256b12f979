"""Files to be read, made here: small, honest ones and hostile ones."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib


def pdf(*pages: str, tail: bytes = b"%%EOF\n") -> bytes:
    """A PDF with a line of text on each page."""
    objects: list[bytes] = []
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for n, text in enumerate(pages):
        page = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
            f" /Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * n} 0 R >>"
        )
        drawn = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(page.encode())
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream".encode())
    return _numbered(objects, b"", tail)


def _numbered(objects: list[bytes], trailer: bytes, tail: bytes) -> bytes:
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n" % (size, trailer, start)
    return out + tail


def encrypted_pdf() -> bytes:
    """A PDF that asks for a password: its trailer names an encryption that no password fits."""
    whole = pdf("secret")
    secret = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O <" + b"41" * 32 + b"> /U <"
        b"" + b"42" * 32 + b"> >> /ID [<41> <41>]"
    )
    return whole.replace(b"/Root 1 0 R ", b"/Root 1 0 R " + secret)


def png(width: int = 40, height: int = 20) -> bytes:
    """A white image, or one that claims to be of any size."""

    def part(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\xff" * min(width, 1000)) * min(height, 1000)
    parts = part(b"IHDR", header) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def docx(*paragraphs: str) -> bytes:
    from docx import Document

    document = Document()
    document.add_heading("Minutes", level=1)
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "owner", "Ana"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def xlsx() -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "Budget"
    book.active.append(["item", "cost"])
    book.active.append(["Server", 120])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def pptx() -> bytes:
    from pptx import Presentation

    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Roadmap"
    slide.placeholders[1].text = "Ship in May"
    slide.notes_slide.notes_text_frame.text = "Say why"
    out = io.BytesIO()
    show.save(out)
    return out.getvalue()


def pdf_bomb() -> bytes:
    """A PDF of half a megabyte whose page unpacks to 360."""
    packer = zlib.compressobj(1)
    drawn = b"".join(packer.compress(b"0 0 m " * 1_000_000) for _ in range(60)) + packer.flush()
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>"
    stream = b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn)
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", pages, page, stream]
    return _numbered(objects, b"", b"%%EOF\n")


def laughing(whole: bytes, member: str) -> bytes:
    """A document with entities in one of its parts that unfold to gigabytes."""
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    doctype = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>'
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == member:
                start = data.index(b"?>") + 2 if data.startswith(b"<?xml") else 0
                data = data[:start] + doctype.encode() + data[start:]
                data = re.sub(rb">([^<>]*[a-zA-Z][^<>]*)<", rb">\1&l9;<", data)
            new.writestr(name, data)
    return out.getvalue()


def zip_bomb() -> bytes:
    """A document of thirty kilobytes that unpacks to a thousand times as much."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("word/document.xml", "w", force_zip64=True) as member:
            for _ in range(30):
                member.write(b" " * 1_000_000)
    return out.getvalue()


def zip_of_many() -> bytes:
    """A document of more members than are read."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(20_001):
            archive.writestr(str(number), "")
    return out.getvalue()
