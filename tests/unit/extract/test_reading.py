"""What comes out of files, honest and hostile, read by real processes with their limits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from holdfast import HubMemory
from holdfast.engine.core import Core
from holdfast.engine.jobs import Job
from holdfast.extract import run
from tests.unit.extract import makes
from tests.unit.extract.conftest import Push

# Not `importorskip`: that loads it in every process that collects tests.
pytestmark = pytest.mark.skipif(find_spec("pypdfium2") is None, reason="PDFs need pypdfium2")

# What takes long to make is made by the test that reads it.
Made = bytes | Callable[[], bytes]


def _bytes(data: Made) -> bytes:
    return data if isinstance(data, bytes) else data()


@pytest.mark.parametrize(
    ("data", "name", "words", "media_type"),
    [
        (makes.pdf("The launch code is heron", "Second page"), "a.pdf", "heron", "application/pdf"),
        (
            partial(makes.docx, "The budget is approved."),
            "m.docx",
            "approved",
            "wordprocessingml.document",
        ),
        (makes.docx, "m.docx", "owner | Ana", "wordprocessingml.document"),
        (makes.docx, "m.docx", "# Minutes", "wordprocessingml.document"),
        (makes.xlsx, "b.xlsx", "Server | 120", "spreadsheetml.sheet"),
        (makes.pptx, "r.pptx", "# Roadmap\nShip in May\nSay why", "presentationml.presentation"),
        ("Grüße aus Köln".encode(), "n.txt", "Grüße aus Köln", "text/plain"),
        ("Grüße aus Köln, und wie geht es?".encode("cp1252"), "n.txt", "Köln", "text/plain"),
        ("Grüße".encode("utf-16"), "n.txt", "Grüße", "text/plain"),
        (b"<!doctype html><p>Hi<script>x()</script>", "p.html", "Hi", "text/html"),
        (b"a,b\n1,2\n", "t.csv", "a,b", "text/csv"),
    ],
)
def test_the_text_of_a_file_becomes_the_content(
    read: Push, data: Made, name: str, words: str, media_type: str
) -> None:
    memory = read(_bytes(data), name)
    assert (memory.state, memory.state_reason) == ("active", "")
    assert words in memory.content
    assert memory.metadata["attachment"]["media_type"].endswith(media_type)
    assert memory.content_type == "file"
    assert memory.title == name


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (makes.encrypted_pdf(), "a.pdf", "encrypted"),
        (b"%PDF-1.7\nnothing of the kind", "a.pdf", "broken"),
        (makes.pdf("cut off")[:60], "a.pdf", "broken"),
        (b"not a picture at all", "photo.png", "named like an image and is none"),
        (makes.pdf("in disguise"), "photo.jpg", "named like an image and is none"),
        (makes.png(60_000, 60_000), "huge.png", "pixels"),
        (makes.png()[:14], "cut.png", "the image is broken"),
        (makes.zip_bomb, "b.docx", "far too much"),
        (makes.zip_of_many, "b.docx", "too many files"),
        (b"PK\x03\x04 and then nothing", "b.docx", "archive is broken"),
        (b"\x00\x01\x02\x03" * 50, "x.bin", "application/octet-stream"),
        (b"\x7fELF\x02\x01", "notes.txt", "application/x-executable"),
        ("Привет, как дела".encode("koi8-r"), "n.txt", "encoding"),
    ],
)
def test_what_cannot_be_read_stays_findable_by_its_title_with_the_reason(
    read: Push, hub: HubMemory, data: Made, name: str, reason: str
) -> None:
    memory = read(_bytes(data), name)
    assert memory.state == "active"
    assert reason in memory.state_reason
    assert reason in memory.summary
    assert memory.content == memory.title == name
    assert [hit.memory.id for hit in hub.recall(name)] == [memory.id]
    (job,) = hub.jobs()
    assert (job.state, job.attempts) == ("failed", 1)


def test_an_image_without_ocr_says_that_ocr_is_not_available(
    read: Push, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hub.core.settings._values, "extract.tesseract", _value("no-such-program"))
    memory = read(makes.png(), "scan.png")
    assert memory.state == "active"
    assert "OCR is not available" in memory.state_reason
    assert memory.metadata["attachment"]["media_type"] == "image/png"


def _value(text: str) -> object:
    from holdfast.settings import Value

    return Value(text, "test")


def _is_over(process: int) -> bool:
    """Whether it has ended; one that nobody has asked about yet is still in the table."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
    return False


def _program(folder: Path, body: str) -> str:
    path = folder / "reads-images"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_the_words_of_an_image_are_read_by_the_program(
    read: Push, hub: HubMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(tmp_path, 'head -c 4 | tail -c 3; echo " said $1 $2 $3 $4"')
    monkeypatch.setitem(hub.core.settings._values, "extract.tesseract", _value(program))
    monkeypatch.setitem(hub.core.settings._values, "extract.languages", _value("eng+deu"))
    assert read(makes.png(), "scan.png").content == "PNG said stdin stdout -l eng+deu"


def test_the_pages_of_a_scanned_pdf_are_read_as_images(
    read: Push, hub: HubMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(tmp_path, "echo page; head -c 15")
    monkeypatch.setitem(hub.core.settings._values, "extract.tesseract", _value(program))
    # 612 by 792 points at 150 dots per inch.
    assert read(makes.pdf("", ""), "scan.pdf").content.startswith("page\nP5 1275 1651 25")


def test_a_scanned_pdf_without_ocr_says_so(
    read: Push, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hub.core.settings._values, "extract.tesseract", _value("no-such-program"))
    assert "its pages are pictures, and OCR" in read(makes.pdf(""), "scan.pdf").state_reason


def test_reading_that_takes_too_much_processor_time_is_ended(
    read: Push, hub: HubMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hub.core.settings._values, "extract.cpu_s", _value(1))
    program = _program(tmp_path, "while :; do :; done")
    monkeypatch.setitem(hub.core.settings._values, "extract.tesseract", _value(program))
    memory = read(makes.png(), "busy.png")
    assert memory.state == "active"
    assert "more time or memory than is allowed" in memory.state_reason


def test_reading_that_hangs_is_ended_with_everything_it_started(
    read: Push, hub: HubMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "WALL_S", 1)
    # A folder, as the process may write no file.
    program = _program(tmp_path, f"mkdir -p {tmp_path}/started/$$; exec sleep 600")
    monkeypatch.setitem(hub.core.settings._values, "extract.tesseract", _value(program))
    memory = read(makes.png(), "hangs.png")
    assert memory.state_reason == "reading it takes longer than is allowed"
    (started,) = os.listdir(tmp_path / "started")
    assert _is_over(int(started))


def test_reading_that_takes_too_much_memory_is_ended(
    read: Push, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hub.core.settings._values, "extract.memory_mb", _value(100))
    monkeypatch.setitem(hub.core.settings._values, "content.bytes_max", _value(60_000_000))
    memory = read(b"word " * 9_000_000, "long.txt")
    assert memory.state_reason == "reading it takes more memory than is allowed"


def test_a_text_longer_than_a_memory_may_be_is_cut_and_says_so(
    read: Push, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hub.core.settings._values, "content.bytes_max", _value(1_000))
    memory = read("Grüße an alle.\n".encode() * 1_000, "long.txt")
    assert len(memory.content.encode()) <= 1_000
    assert memory.content.endswith("Grüße an alle.") or memory.content.startswith("Grüße")
    assert "first" in memory.state_reason


def _laughing(make: Callable[[], bytes], part: str) -> bytes:
    return makes.laughing(make(), part)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (makes.pdf_bomb, "bomb.pdf"),
        (partial(_laughing, partial(makes.docx, "ha"), "word/document.xml"), "laughs.docx"),
        (partial(_laughing, makes.xlsx, "xl/sharedStrings.xml"), "laughs.xlsx"),
        (partial(_laughing, makes.pptx, "ppt/slides/slide1.xml"), "laughs.pptx"),
    ],
)
def test_a_bomb_goes_off_where_it_harms_nobody(
    read: Push, hub: HubMemory, monkeypatch: pytest.MonkeyPatch, data: Made, name: str
) -> None:
    monkeypatch.setitem(hub.core.settings._values, "extract.cpu_s", _value(3))
    monkeypatch.setitem(hub.core.settings._values, "extract.memory_mb", _value(300))
    memory = read(_bytes(data), name)
    assert (memory.title, memory.state) == (name, "active")
    assert len(memory.content) < 10_000
    assert hub.jobs()[0].attempts == 1


def test_how_far_it_is_can_be_seen(
    read: Push, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    tell = run.jobs.progress

    def progress(core: Core, job: Job, done: int, total: int | None) -> Job:
        told = tell(core, job, done, total)
        (shown,) = hub.jobs()
        seen.append((shown.state, shown.done, shown.total))
        return told

    monkeypatch.setattr(run, "_PROGRESS_S", 0.0)
    monkeypatch.setattr(run.jobs, "progress", progress)
    read(makes.pdf("one", "two", "three"), "a.pdf")
    assert seen == [("running", 1, 3), ("running", 2, 3), ("running", 3, 3)]


def test_no_key_in_the_environment_reaches_the_process_that_reads(
    read: Push, hub: HubMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setitem(
        hub.core.settings._values, "extract.tesseract", _value(_program(tmp_path, "env"))
    )
    content = read(makes.png(), "env.png").content
    assert "PATH=" in content
    assert "sk-secret" not in content


def test_how_a_process_ended_where_the_system_cannot_wait_without_taking_it(monkeypatch) -> None:
    """As on macOS before Python 3.13."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr(os, "waitid")
    for program, reason, final in (
        ("os.kill(os.getpid(), signal.SIGSEGV)", "more memory than is allowed", True),
        ("os.kill(os.getpid(), signal.SIGKILL)", "longer than is allowed", True),
        ("sys.exit(3)", "with code 3", False),
    ):
        ran = subprocess.Popen([sys.executable, "-c", f"import os, signal, sys; {program}"])
        failed = run._ended(ran)
        assert reason in failed.reason
        assert failed.final is final
