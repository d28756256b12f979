"""Named pipes, devices and sockets are refused at once, wherever a file is asked for: opening one
may wait for ever, and reading one may have no end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

import holdfast
from holdfast.files import hub_path
from holdfast.files.safe_read import open_regular
from tests.edges.cli.cli_calls import Run

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes"),
    # A command that waits for a pipe does so for ever.
    pytest.mark.timeout(20),
]
KINDS = ("pipe", "device", "socket", "link to a pipe", "link to a device")


def special(path: Path, kind: str) -> str:
    """Makes it; some may be named like a text, others like a paper."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        # A device of its own needs rights; a path that leads to one does not.
        return "/dev/zero"
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            # The name of a socket is short.
            made.bind(os.path.relpath(path))
    elif kind == "link to a pipe":
        os.mkfifo(path.with_suffix(".pipe"))
        path.symlink_to(path.with_suffix(".pipe"))
    else:
        path.symlink_to("/dev/zero")
    return str(path)


@pytest.mark.parametrize("name", ["notes.md", "paper.pdf"])
@pytest.mark.parametrize("kind", KINDS)
def test_push_refuses_it_at_once(push: Run, tmp_path: Path, kind: str, name: str) -> None:
    good = tmp_path / "good.md"
    good.write_text("Tea at four", encoding="utf-8")
    ran = push("push", str(good), special(tmp_path / name, kind))
    assert ran.code == 2
    assert "not a file" in ran.err
    # Nor is what was named before it stored.
    assert push("list").out == ""


@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
def test_a_folder_is_taken_in_without_it(push: Run, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "good.md").write_text("Tea at four", encoding="utf-8")
    for name in ("odd.md", "odd.pdf", ".gitignore"):
        special(folder / name, kind)
    for command in ("push", "import"):
        ran = push(command, str(folder))
        assert ran.code == 0, ran.err
    assert push("list").out.count("\n") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_import_refuses_it(run: Run, tmp_path: Path, kind: str) -> None:
    ran = run("import", special(tmp_path / "hub.jsonl", kind))
    assert ran.code == 2
    assert "not a file" in ran.err


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_is_a_file(run: Run, tmp_path: Path, kind: str) -> None:
    ran = run("restore-backup", special(tmp_path / "backup.db", kind), "--yes")
    assert ran.code != 0
    assert "There is no backup" in ran.err


@pytest.mark.parametrize("kind", KINDS)
def test_the_library_refuses_it(tmp_path: Path, kind: str) -> None:
    path = special(tmp_path / "paper.pdf", kind)
    with (
        holdfast.open(tmp_path / "home", settings={"embed.model": "none"}) as memory,
        pytest.raises(holdfast.InvalidInput, match="not a file"),
    ):
        memory.hub().remember_file(path)


@pytest.mark.parametrize("name", ["MEMORY.md", "INBOX.md", "2026-05-27.md"])
def test_a_pipe_in_the_place_of_our_own_file_holds_nothing_up(
    run: Run, home: Path, name: str
) -> None:
    assert run("remember", "Tea at four").code == 0
    folder = Path(hub_path(str(home), "default"))
    folder.mkdir(parents=True, exist_ok=True)
    os.mkfifo(folder / name)
    ran = run("list")
    assert "Tea at four" in ran.out
    assert f"{name} is" in ran.err or not ran.err


def test_what_takes_the_place_of_a_file_between_check_and_opening_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.md"
    os.mkfifo(path)
    monkeypatch.setattr("holdfast.files.safe_read.refuse_irregular", lambda _: None)
    with pytest.raises(holdfast.InvalidInput, match="is a named pipe"):
        open_regular(str(path))
