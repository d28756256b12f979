"""The worker: a thread that reads what comes, and lets go of it when it has to stop."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast import Holdfast
from holdfast.edges.server.worker import Worker
from holdfast.settings import Value
from holdfast.testing import ScriptedModel, open_for_tests
from tests.unit.extract import makes


def until(is_so: Callable[[], bool]) -> None:
    """Waits for something that another thread does, and not for long."""
    pause = threading.Event()
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        pause.wait(0.02)


def use_program(memory: Holdfast, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = memory.core.settings._values
    monkeypatch.setitem(settings, "extract.tesseract", Value(program, "test"))


def use_hanging_program(memory: Holdfast, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that reads images and never ends; it makes the folder `begun` first."""
    program = folder / "hangs"
    program.write_text(f"#!/bin/sh\nmkdir {folder}/begun; exec sleep 600\n")
    program.chmod(0o755)
    use_program(memory, str(program), monkeypatch)


def test_what_comes_while_it_works_is_read(memory: Holdfast) -> None:
    hub = memory.create_hub("work")
    with Worker(memory):
        made = hub.remember_file(io.BytesIO(b"The heron has landed."), name="a.txt").memory
        until(lambda: hub.get(made.id).state == "active")
    assert hub.get(made.id).content == "The heron has landed."


def test_a_worker_that_stops_puts_its_job_back_and_ends_what_it_started(
    memory: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_hanging_program(memory, tmp_path, monkeypatch)
    hub = memory.create_hub("work")
    made = hub.remember_file(io.BytesIO(makes.png()), name="a.png").memory
    with Worker(memory):
        until((tmp_path / "begun").exists)
        assert hub.jobs()[0].state == "running"
    (job,) = hub.jobs()
    assert (job.state, job.attempts) == ("waiting", 0)
    use_program(memory, "no-such-program", monkeypatch)
    with Worker(memory):
        until(lambda: hub.get(made.id).state == "active")


def test_a_file_that_hangs_does_not_keep_the_others_waiting(
    memory: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_hanging_program(memory, tmp_path, monkeypatch)
    hub = memory.create_hub("work")
    hub.remember_file(io.BytesIO(makes.png()), name="a.png")
    with Worker(memory):
        until((tmp_path / "begun").exists)
        made = hub.remember_file(io.BytesIO(b"The heron has landed."), name="a.txt").memory
        until(lambda: hub.get(made.id).state == "active")


def test_a_memory_that_waits_without_a_job_gets_one_or_a_reason(memory: Holdfast) -> None:
    hub = memory.create_hub("work")
    made = hub.remember_file(io.BytesIO(b"The heron has landed."), name="a.txt").memory
    lines = list(hub.export())
    (job,) = hub.jobs()
    with memory.core.store.write() as writer:
        writer.drop_record(hub.id, "job", job.id)
    copy = memory.import_hub(lines, name="copy")
    with Worker(memory):
        until(lambda: hub.get(made.id).state == "active")
        until(lambda: copy.get(made.number).state == "active")
    assert hub.get(made.id).content == "The heron has landed."
    assert copy.get(made.number).state_reason == "its file is not here"


def test_a_crash_leaves_no_file_behind_for_long(memory: Holdfast) -> None:
    hub = memory.create_hub("work")
    hub.remember_file(io.BytesIO(b"kept"), name="a.txt")
    astray = Path(hub.attachments.path("ab" * 32))
    astray.parent.mkdir(parents=True)
    astray.write_bytes(b"left by a crash")
    with Worker(memory):
        until(lambda: not astray.exists())
    assert hub.attachments.check() == []


def test_turns_are_noted_while_it_works_and_no_thread_of_the_library_is_begun(
    tmp_path: Path,
) -> None:
    with open_for_tests(tmp_path, settings={"shadowJournal.enabled": True}) as memory:
        hub = memory.create_hub("work")
        with Worker(memory):
            hub.observe_turn("I use vim for everything.", "A fine choice.")
            assert "holdfast-journaler" in {one.name for one in threading.enumerate()}
            until(lambda: len(hub.list(layer="journal")) == 1)
        assert memory.core._shared.background == {}


def test_a_model_that_hangs_keeps_no_file_waiting_and_its_turn_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.edges.server.worker._STOP_S", 0.2)
    begun, over = threading.Event(), threading.Event()

    def hangs(asked: object) -> str:
        begun.set()
        over.wait(20)
        return ""

    model = ScriptedModel([hangs])
    settings = {"shadowJournal.enabled": True}
    with open_for_tests(tmp_path, model=model, settings=settings) as memory:
        hub = memory.create_hub("work")
        with Worker(memory):
            hub.observe_turn("I use vim for everything.", "A fine choice.")
            assert begun.wait(20)
            made = hub.remember_file(io.BytesIO(b"The heron has landed."), name="a.txt").memory
            until(lambda: hub.get(made.id).state == "active")
        (job,) = [job for job in hub.jobs() if job.work == "journal"]
        assert (job.state, job.attempts) == ("waiting", 0)
        over.set()
        for one in threading.enumerate():
            if one.name == "holdfast-journaler":
                one.join(20)
        # Whoever let go of it writes nothing.
        assert hub.list(layer="journal") == []
