"""The guided tour."""

from __future__ import annotations

import os
import pty
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.testing import HashEmbedder
from tests.edges.cli.cli_calls import Ran, Run


def _answers(ran) -> dict[str, object]:
    return {step["command"]: step["answer"]["data"] for step in ran.data}


def test_the_tour_tells_shows_and_touches_nothing(run: Run, home: Path) -> None:
    ran = run("demo")
    assert ran.code == 0
    assert "$ holdfast remember 'Ada prefers tabs over spaces in Python'" in ran.out
    assert '<memory hub="default">' in ran.out
    assert ran.err.count("Degraded") == 1
    assert not home.exists()


def test_the_tour_leaves_a_store_alone_that_the_environment_names(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_STORE_URL", f"sqlite:{tmp_path / 'team.db'}")
    assert run("demo").code == 0
    assert not (tmp_path / "team.db").exists()


def test_what_the_tour_says_is_true_without_a_model(run: Run) -> None:
    _check(_answers(run("demo", "--json")))


def test_what_the_tour_says_is_true_with_a_model(run: Run, monkeypatch) -> None:
    monkeypatch.setattr("holdfast.wiring.embedder_of", lambda settings: HashEmbedder())
    ran = run("demo", "--json")
    assert ran.err == ""
    _check(_answers(ran))


def _check(answers) -> None:
    asked = [answer[0] for command, answer in answers.items() if " recall " in command]
    first, new, old = [hit["memory"]["content"] for hit in asked]
    assert first == old == "Ada prefers tabs over spaces in Python"
    assert new == "Ada switched to spaces in Python"
    assert answers["holdfast get staging --content"]["content"].endswith("10.0.0.9")
    assert answers["holdfast undo"]["undone"]["action"] == "forget"


@pytest.fixture
def keyboard(
    screen: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Ran, int]]:
    """Runs the tour on a terminal of its own with these keys; also tells how many were read."""

    def tour(keys: str, *words: str) -> tuple[Ran, int]:
        import holdfast.edges.cli.demo as module

        master, slave = pty.openpty()
        os.write(master, keys.encode())
        read = []

        def key() -> str:
            read.append(1)
            return real()

        real = module._key
        with os.fdopen(slave, encoding="utf-8") as typed, monkeypatch.context() as patched:

            class Sys:
                stdin, platform, argv, executable = typed, sys.platform, sys.argv, sys.executable

            patched.setattr(module, "sys", Sys)
            patched.setattr(module, "_key", key)
            try:
                ran = screen("demo", *words)
            finally:
                os.close(master)
        return ran, len(read)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tour


def test_a_person_goes_from_scene_to_scene_with_a_key(
    keyboard: Callable[..., tuple[Ran, int]],
) -> None:
    ran, read = keyboard(" " * 12)
    assert (ran.code, read) == (0, 12)
    assert "Press a key for the next scene" in ran.out
    assert "That was it." in ran.out


def test_a_tour_is_ended_with_q_and_nothing_is_left(
    keyboard: Callable[..., tuple[Ran, int]],
) -> None:
    # All of them typed ahead; the second is an arrow.
    ran, read = keyboard(" \x1b[Cq")
    assert (ran.code, read) == (0, 3)
    assert "3. " in ran.out and "4. " not in ran.out
    assert os.listdir(tempfile.gettempdir()) == []


def test_a_fast_tour_waits_for_nothing(keyboard: Callable[..., tuple[Ran, int]]) -> None:
    ran, read = keyboard("", "--fast")
    assert (ran.code, read) == (0, 0)
    assert "That was it." in ran.out


@pytest.mark.sqlite_only("a tour that is kept is in a file")
def test_the_tour_can_be_kept(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert run("demo", "--keep", str(kept)).code == 0
    assert len(run("list", "--home", str(kept), "--state", "all").rows) == 4
    assert run("demo", "--keep", str(kept)).code == 4


@pytest.mark.parametrize(
    ("found", "script", "called"),
    [
        ("/usr/bin/holdfast", "/opt/venv/bin/holdfast", "holdfast"),
        (None, "/opt/my venv/bin/holdfast", "'/opt/my venv/bin/holdfast'"),
        (None, "/opt/lib/holdfast/__main__.py", "/opt/python -m holdfast"),
    ],
)
def test_the_tour_ends_with_a_command_that_can_be_called(
    run: Run, monkeypatch, found: str | None, script: str, called: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: found)
    monkeypatch.setattr(sys, "argv", [script])
    monkeypatch.setattr(sys, "executable", "/opt/python")
    last = run("demo").out.splitlines()[-1]
    assert f"`{called} remember …`" in last
