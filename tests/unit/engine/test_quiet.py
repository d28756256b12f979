"""Work in the background begins in a quiet moment, so that it slows no call of the program."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from holdfast import Holdfast
from holdfast.api import perform
from holdfast.engine import jobs, quiet
from holdfast.engine.writing import indexing
from holdfast.passes import work
from holdfast.testing import HashEmbedder

if TYPE_CHECKING:
    from holdfast.embed import Matrix

NEVER_S = 3600.0
SAID = ("I use vim for everything.", "A fine choice.")


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that makes calls all the time."""
    monkeypatch.setattr(perform, "QUIET_S", NEVER_S)
    monkeypatch.setattr(quiet, "PUT_OFF_S", NEVER_S)


def opened(folder: Path, **settings: Any) -> Holdfast:
    given = {name.replace("__", "."): value for name, value in settings.items()}
    given = {"actor": "tester", "shadowJournal.enabled": True, **given}
    return holdfast.open(folder, settings=given, embedder=HashEmbedder())


def waiting(memory: Holdfast) -> int:
    """How many turns are still to be noted, asked without a call."""
    with memory.core.store.read() as reader:
        hubs = reader.hubs()
        return sum(len(list(jobs.open_jobs(reader, hub.id, jobs.JOURNAL))) for hub in hubs)


def becomes(number: int, count: Callable[[], int], within_s: float = 20.0) -> bool:
    ends = time.monotonic() + within_s
    while count() != number and time.monotonic() < ends:
        time.sleep(0.01)
    return count() == number


@pytest.mark.usefixtures("busy")
def test_a_turn_is_noted_when_the_program_makes_no_calls(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        hub = memory.hub()
        hub.observe_turn(*SAID)
        assert not becomes(0, lambda: waiting(memory), within_s=2.0)
        # Until then the log has it, and words find it.
        assert "vim" in hub.recall("which editor: vim?")[0].passage.text
        # Who waits for it has it done at once.
        memory.core.wait()
        assert waiting(memory) == 0


def test_a_quiet_moment_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "PUT_OFF_S", NEVER_S)
    with opened(tmp_path) as memory:
        memory.hub().observe_turn(*SAID)
        assert becomes(0, lambda: waiting(memory))


def test_a_program_that_never_pauses_has_its_turns_noted_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "QUIET_S", NEVER_S)
    monkeypatch.setattr(quiet, "PUT_OFF_S", 0.3)
    with opened(tmp_path) as memory:
        memory.hub().observe_turn(*SAID)
        assert becomes(0, lambda: waiting(memory))


@pytest.mark.usefixtures("busy")
def test_half_a_queue_does_not_wait(tmp_path: Path) -> None:
    with opened(tmp_path, shadowJournal__queueMax=4) as memory:
        memory.hub().observe_turn(*SAID)
        memory.hub().observe_turn("My name is Karl.", "Hello Karl.")
        assert becomes(0, lambda: waiting(memory))


@pytest.mark.usefixtures("busy")
def test_what_was_put_off_is_noted_when_the_store_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "_CLOSE_S", 60.0)
    with opened(tmp_path) as memory:
        memory.hub().observe_turn(*SAID)
    with opened(tmp_path) as memory:
        memory.core.set_has_worker(True)
        assert memory.hub().jobs() == []
        assert [day.outcomes["stored"] for day in memory.hub().captured()] == [1]


@pytest.mark.usefixtures("busy")
def test_vectors_are_made_when_the_program_makes_no_calls(tmp_path: Path) -> None:
    with opened(tmp_path, shadowJournal__enabled=False) as memory:
        assert memory.core.embedder is not None
        memory.hub().observe_turn(*SAID)
        assert not becomes(0, memory.unembedded, within_s=0.3)
        memory.core.wait()
        assert memory.unembedded() == 0


class Counting(HashEmbedder):
    """Notes how many texts it is given at once."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.sizes.append(len(texts))
        return super().embed_passages(texts)


def test_vectors_are_made_in_steps_that_grow_where_they_cost_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as memory:
        counting = Counting()
        calm = quiet.Quiet(memory.core)
        texts = [f"text {number}" for number in range(40)]
        monkeypatch.setattr(indexing, "_STEP_S", NEVER_S)
        every = list(indexing._embed_in_steps(counting, texts, calm))
        assert counting.sizes == [8, 16, 16]
        monkeypatch.setattr(indexing, "_STEP_S", 0.0)
        assert list(indexing._embed_in_steps(counting, texts, calm)) == every
        assert counting.sizes[3:] == [8] * 5
        assert list(indexing._embed_in_steps(counting, texts, None)) == every
        assert counting.sizes[8:] == [40]


def test_a_call_that_is_under_way_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "CALL_S", NEVER_S)
    monkeypatch.setattr(quiet, "PUT_OFF_S", NEVER_S)
    with opened(tmp_path) as memory:
        begun, end = threading.Event(), threading.Event()

        def slow() -> None:
            def before_commit(_: Any) -> None:
                begun.set()
                end.wait()

            hub = memory.hub()
            hub.core = hub.core.acting(before_commit=before_commit)
            hub.remember("A slow write.")

        memory.hub()
        calling = threading.Thread(target=slow)
        calling.start()
        begun.wait()
        calm = quiet.Quiet(memory.core)
        passed = threading.Event()

        def step() -> None:
            calm.wait()
            passed.set()

        thread = threading.Thread(target=step)
        thread.start()
        assert not passed.wait(0.2)
        end.set()
        calling.join()
        assert passed.wait(20)
        thread.join()
