"""Secrets in attached files are found in every kind that can be read, what cannot is told, and the
files are removed only on request."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory, Memory
from holdfast.engine.writing import origins
from holdfast.files import secret_scan
from holdfast.passes.work import work_until_done
from tests.unit.extract import makes
from tests.unit.text.secret_corpus import Draw

TOKEN = "ghp_" + Draw(47).alnum(36)
FRONT, BACK = TOKEN[:9], TOKEN[9:]


def keep(hub: HubMemory, data: bytes, name: str = "a.txt") -> Memory:
    return hub.remember_file(io.BytesIO(data), name=name).memory


def zipped(**parts: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), part)
    return out.getvalue()


def docx(*runs: str, between: str = "") -> bytes:
    """A document with a paragraph of several runs, between which a speller left its marks."""
    said = between.join(f"<w:r><w:rPr><w:b/></w:rPr><w:t>{run}</w:t></w:r>" for run in runs)
    body = f'<w:document xmlns:w="urn:w"><w:body><w:p>{said}</w:p><w:p/></w:body></w:document>'
    return zipped(word__document_xml=body)


_RUNS = f"<a:r><a:t>key {FRONT}</a:t></a:r><a:r><a:t>{BACK}</a:t></a:r>"
_SHEET = f"<sst><si><t>one</t></si><si>{_RUNS.replace('a:', '')}</si></sst>"
_SLIDE = f'<p:sld xmlns:p="urn:p" xmlns:a="urn:a"><a:p>{_RUNS}</a:p></p:sld>'
_SPAN = f"<text:span>{FRONT}</text:span>{BACK}"
_ODT = f'<o:d xmlns:o="urn:o" xmlns:text="urn:t"><text:p>key {_SPAN}</text:p></o:d>'
_LINK = f'<R><S Id="rId1" Target="https://example.com/?token={TOKEN}"/></R>'

FILES = {
    "a text": (f"The key is {TOKEN}, keep it\n".encode(), "a.txt"),
    "a text in UTF-16": (f"The key is {TOKEN}\n".encode("utf-16"), "a.txt"),
    "a text in no known encoding": (f"Schl\xfcssel {TOKEN}\n".encode("latin-1"), "a.txt"),
    "a page": (f"<html><body>{TOKEN}</body></html>".encode(), "a.html"),
    "a document": (docx(f"The key is {TOKEN}"), "a.docx"),
    "a document, over runs": (docx(FRONT, BACK, between="<w:proofErr/>"), "a.docx"),
    "a document, in a link": (zipped(word__document_xml="<d/>", word__r_xml=_LINK), "a.docx"),
    "a document that is no XML": (zipped(word__document_xml=f"<d>{TOKEN}"), "a.docx"),
    "a table": (zipped(xl__workbook_xml="<w/>", xl__sharedStrings_xml=_SHEET), "a.xlsx"),
    "slides": (zipped(ppt__slides__slide1_xml=_SLIDE), "a.pptx"),
    "an open document": (zipped(mimetype=b"application/odt", content_xml=_ODT), "a.odt"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_secret_is_found_in(hub: HubMemory, kind: str) -> None:
    data, name = FILES[kind]
    keep(hub, data, name)
    (found,) = hub.find_secrets()
    assert found == (f"file of #1 ({name})", "github-token", 1, False, True)


def test_a_secret_is_found_in_a_pdf(hub: HubMemory) -> None:
    pytest.importorskip("pypdfium2")
    # Small enough for the line to end on the page.
    keep(hub, makes.pdf(f"The key is {TOKEN}").replace(b"24 Tf", b" 8 Tf"), "a.pdf")
    (found,) = hub.find_secrets()
    assert found.where == "file of #1 (a.pdf)"


def test_a_pdf_that_nothing_here_reads_is_reported(
    hub: HubMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pypdfium2.py").write_text("raise ModuleNotFoundError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    keep(hub, makes.pdf(f"The key is {TOKEN}"), "a.pdf")
    notes: list[str] = []
    assert hub.find_secrets(note=notes.append) == []
    (note,) = notes
    assert note.startswith("file of #1 (a.pdf): it was not looked into: reading PDFs needs")


def test_files_without_secrets_are_clean(hub: HubMemory) -> None:
    keep(hub, b"The heron has landed.")
    keep(hub, docx("The heron ", "has landed"), "a.docx")
    notes: list[str] = []
    assert hub.find_secrets(note=notes.append) == []
    assert notes == []


def test_words_of_two_paragraphs_are_no_secret_together(hub: HubMemory) -> None:
    body = f"<d><p><t>{FRONT}</t></p><p><t>{BACK}</t></p></d>"
    keep(hub, zipped(word__document_xml=body), "a.docx")
    assert hub.find_secrets() == []


@pytest.mark.parametrize("before", [(1 << 20) - 20, (1 << 20) - 1_000, 3_000_000])
def test_a_secret_deep_in_a_long_text_is_counted_once(hub: HubMemory, before: int) -> None:
    line = "the heron has landed\n"
    text = (line * (before // len(line) + 1))[: before - 1] + "\n" + TOKEN + "\n" + line * 60_000
    keep(hub, text.encode())
    (found,) = hub.find_secrets()
    assert found.times == 1


def _many() -> bytes:
    return zipped(**{f"p{number}_xml": "<a/>" for number in range(20_001)})


UNREAD = {
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(40), "it is of the type image/png"),
    "a broken archive": (b"PK\x03\x04 no document", "the archive is broken"),
    "a bomb": (zipped(word__document_xml=b" " * 20_000_000), "it would unpack to 20,000,000 bytes"),
    "very many parts": (_many, "it holds too many files"),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_what_is_not_looked_into_is_reported(hub: HubMemory, kind: str) -> None:
    data, reason = UNREAD[kind]
    keep(hub, data() if callable(data) else data, "a.docx")
    notes: list[str] = []
    hub.find_secrets(note=notes.append)
    (note,) = notes
    assert f"not looked into: {reason}" in note


def test_a_part_that_is_no_text_is_reported(hub: HubMemory) -> None:
    keep(hub, zipped(word__document_xml="<d/>", word__media__a=b"\x89PNG"), "a.docx")
    notes: list[str] = []
    hub.find_secrets(note=notes.append)
    assert "1 of the 2 parts in it were not looked at" in notes[0]


def test_a_text_is_looked_at_up_to_a_bound(hub: HubMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_scan, "BYTES_MAX", 1_000)
    keep(hub, b"a line\n" * 1_000)
    notes: list[str] = []
    hub.find_secrets(note=notes.append)
    assert "only its first 1,000 bytes were looked at" in notes[0]


def test_entities_that_grow_are_not_followed(hub: HubMemory) -> None:
    # Too few for the parser's own bound.
    lines = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 6))
    body = f'<!DOCTYPE d [<!ENTITY e0 "heron">{lines}]><d>&e5; {TOKEN}</d>'
    data = zipped(word__document_xml=body)
    assert len("".join(secret_scan.zip_pieces(io.BytesIO(data), print))) < 2 * len(body)
    keep(hub, data, "a.docx")
    (found,) = hub.find_secrets()
    assert found.times == 1


# Taking them away


def test_a_fix_alone_leaves_attached_files(hub: HubMemory) -> None:
    made = keep(hub, docx(TOKEN), "a.docx")
    hub.redact_secrets()
    assert hub.attachment(made.id).attachment.name == "a.docx"
    assert len(hub.find_secrets()) == 1


def test_a_file_with_secrets_is_removed_and_its_memory_stays(
    hub: HubMemory, memory: Holdfast
) -> None:
    made = keep(hub, f"The heron has {TOKEN} in its nest".encode())
    clean = keep(hub, b"The owl has landed.", "b.txt")
    work_until_done(memory.core, memory.home)
    notes = hub.redact_secrets(attachments=True)
    assert notes == ["#1 stays, and a.txt is removed for good"]
    after = hub.get(made.id)
    assert "The heron has [secret:github-token:" in after.content
    assert after.state_reason == "its file was removed, as it held secrets"
    assert after.metadata["attachment_removed"]["name"] == "a.txt"
    assert hub.attachments.of(after) is None
    assert hub.attachment(clean.id).attachment.name == "b.txt"
    assert hub.attachments.check() == []
    assert hub.find_secrets() == []
    for path in Path(hub.folder, "attachments").rglob("*"):
        assert path.is_dir() or TOKEN.encode() not in path.read_bytes()
    with hub.core.read() as reader:
        assert origins.usage(reader, hub.id) == (1, len(b"The owl has landed."))
    assert hub.receipts()[-1].number == made.number
    assert hub.redact_secrets(attachments=True) == []


def test_a_removed_file_does_not_come_back_by_undo(hub: HubMemory) -> None:
    made = keep(hub, TOKEN.encode())
    hub.update(made.id, title="Nest")
    hub.redact_secrets(attachments=True)
    hub.undo()
    assert hub.get(made.id).title != "Nest"
    assert hub.attachments.of(hub.get(made.id)) is None
    assert hub.find_secrets() == []


def test_a_memory_that_waits_for_its_text_does_not_wait_for_ever(
    hub: HubMemory, memory: Holdfast
) -> None:
    made = keep(hub, TOKEN.encode())
    assert made.state == "processing"
    hub.redact_secrets(attachments=True)
    work_until_done(memory.core, memory.home)
    assert hub.get(made.id).state == "active"


def test_a_forgotten_memorys_file_is_removed_too(hub: HubMemory) -> None:
    made = keep(hub, TOKEN.encode())
    hub.forget(made.id)
    assert len(hub.find_secrets()) == 1
    hub.redact_secrets(attachments=True)
    assert hub.find_secrets() == []
