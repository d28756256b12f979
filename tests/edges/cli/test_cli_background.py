"""The automatic lifecycle after a command: in a process of its own, once a day, and never where it
was not asked for or nothing can be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import holdfast
from holdfast.edges.cli import upkeep
from holdfast.testing import FixedClock
from tests.edges.cli.cli_calls import Run


@pytest.fixture
def old(home: Path) -> Path:
    """A home that was last used three weeks ago."""
    clock = FixedClock(datetime.now(UTC) - timedelta(days=20))
    with holdfast.open(home, clock=clock) as memory:
        memory.hub().remember("Volatile note", stability="volatile")
    return home


@pytest.fixture(autouse=True)
def started() -> Iterator[list[object]]:
    upkeep.started.clear()
    yield upkeep.started  # type: ignore[misc]
    for process in upkeep.started:
        process.wait()
    upkeep.started.clear()


def test_it_runs_once_after_the_answer_in_a_process_of_its_own(old: Path, run: Run) -> None:
    assert run("recall", "volatile").code == 0
    (process,) = upkeep.started
    assert process.wait() == 0
    assert run("get", "1", "--json").data["state"] == "cooling"
    assert run("undo").code != 0
    changes = run("history", "--json").data
    assert "lifecycle" in str(changes)
    assert len(upkeep.started) == 1
    assert dict(run("stats").rows)["last lifecycle run"]
    assert "last run: 20" in dict(run("doctor").rows)["lifecycle"]


def test_only_one_of_several_commands_begins_it(
    old: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []
    monkeypatch.setattr(upkeep, "start", lambda *words: begun.append(words))
    for _ in range(3):
        assert run("list").code == 0
    assert len(begun) == 1


@pytest.mark.parametrize("words", [("lifecycle", "--dry-run"), ("get", "77"), ("config", "list")])
def test_a_dry_run_and_a_command_that_failed_begin_nothing(
    words: tuple[str, ...], old: Path, run: Run
) -> None:
    run(*words)
    assert upkeep.started == []


def test_the_setting_turns_it_off(old: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_LIFECYCLE_AUTOMATIC", "false")
    assert run("list").code == 0
    assert upkeep.started == []
    assert "only by hand" in dict(run("doctor").rows)["lifecycle"]


@pytest.mark.skipif(os.name != "posix", reason="the search path of programs")
def test_a_process_that_cannot_be_started_is_no_error(
    old: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert run("list").code == 0
    assert upkeep.started == []
