"""A home that cannot be written is read all the same: on a read-only mount, and where only somebody
else may write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import StoreBusy, StoreReadOnly
from holdfast.store.sqlite import open_store

pytestmark = [
    pytest.mark.faults,
    pytest.mark.sqlite_only("about the file of the embedded store"),
    pytest.mark.skipif(sys.platform == "win32", reason="modes and mounts are those of POSIX"),
]
READS = (
    *("recall tabs", "list", "context", "get 1", "history 1", "stats", "export -", "doctor"),
    *("journal", "log", "hub list", "related 1", "review"),
)
WRITES = ("remember x", "forget 1", "doctor --fix", "journal add x", "sync", "lifecycle")
# Runs commands one after the other, and prints the exit code and the output of each.
DRIVER = """
import contextlib, io, json, sys
from holdfast.edges.cli import main
ran = {}
for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command.split())
    ran[command] = (code, out.getvalue(), err.getvalue())
json.dump(ran, sys.stdout)
"""
Ran = dict[str, tuple[int, str, str]]


def filled(home: Path, state: str) -> None:
    """A home with memories, files that were edited since, and a log where it was not closed."""
    settings = {"embed.model": "none", "actor": "ada"}
    source = home.parent / "source"
    with holdfast.open(source, settings=settings) as memory:
        hub = memory.hub()
        hub.remember("Ada prefers tabs over spaces")
        hub.read_memory_md()
        hub.journal_add("Walked the dog")
        if state == "with a log":
            shutil.copytree(source, home, dirs_exist_ok=True)
    if state == "closed":
        shutil.copytree(source, home, dirs_exist_ok=True)
    assert (home / "memory.db-wal").exists() == (state == "with a log")
    folder = home / "hubs" / "default"
    for name in ("MEMORY.md", "2026-05-27.md"):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("- Edited by hand\n")


def run(home: Path, commands: tuple[str, ...], *, prefix: tuple[str, ...] = ()) -> Ran:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOLDFAST_HOME": str(home),
        "HOLDFAST_EMBED_MODEL": "none",
        "HOLDFAST_ACTOR": "ada",
    }
    ended = subprocess.run(
        [*prefix, sys.executable, "-c", DRIVER, json.dumps(commands)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    ran: Ran = json.loads(ended.stdout)
    return ran


@pytest.fixture(params=["closed", "with a log"])
def state(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def mounted(tmp_path: Path, state: str) -> Iterator[Path]:
    """The home on a file system of its own, mounted read-only."""
    place = tmp_path / "mount"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)]
    made = shutil.which("mount") and subprocess.run(mount, capture_output=True, check=False)
    if not made or made.returncode:
        pytest.skip("this process may not mount a file system")
    try:
        home = place / "home"
        home.mkdir(mode=0o700)
        filled(home, state)
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        yield home
    finally:
        subprocess.run(["umount", str(place)], check=False)


@pytest.fixture
def without_rights(tmp_path: Path, state: str) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """A home whose modes allow reading alone, and how to start a process that keeps to modes."""
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0:
        # Root may write whatever the mode is, as long as it has this capability.
        prefix = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
        tried = shutil.which("setpriv") and subprocess.run(
            [*prefix, "true"], capture_output=True, check=False
        )
        if not tried or tried.returncode:
            pytest.skip("root cannot drop the capability to ignore modes")
    home = tmp_path / "home"
    home.mkdir()
    filled(home, state)
    for path in (home, *home.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    yield home, prefix
    for path in (home, *home.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def tree(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def check(home: Path, prefix: tuple[str, ...] = ()) -> None:
    before = tree(home)
    ran = run(home, (*READS, *WRITES), prefix=prefix)
    for command in READS:
        code, _, err = ran[command]
        assert code == 0, (command, err)
        assert "Traceback" not in err
    for command in ("recall tabs", "list", "context", "get 1", "export -"):
        assert "Ada prefers tabs over spaces" in ran[command][1], command
    assert "Walked the dog" in ran["journal"][1]
    assert "can only be read" in ran["doctor"][2]
    assert "damage" not in ran["doctor"][1]
    for command in WRITES:
        code, _, err = ran[command]
        assert code == StoreReadOnly.exit_code, (command, err)
        assert "can only be read" in err or "cannot be written" in err, (command, err)
        assert "Traceback" not in err
    assert tree(home) == before


def test_a_home_on_a_read_only_mount_is_read(mounted: Path) -> None:
    check(mounted)


def test_a_home_whose_modes_allow_reading_alone_is_read(
    without_rights: tuple[Path, tuple[str, ...]],
) -> None:
    check(*without_rights)


def test_a_log_without_its_index_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the log, the last writes would be missing from the answer."""
    home = tmp_path / "home"
    home.mkdir()
    filled(home, "with a log")
    (home / "memory.db-shm").unlink()
    unwritable(monkeypatch)
    with pytest.raises(StoreReadOnly, match="has a log"):
        open_store(f"sqlite:{home / 'memory.db'}")


def test_what_is_written_meanwhile_by_somebody_else_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"embed.model": "none"}
    with holdfast.open(tmp_path, settings=settings) as memory:
        memory.hub().remember("Tea at four")
    with monkeypatch.context() as patched:
        unwritable(patched)
        store = open_store(f"sqlite:{tmp_path / 'memory.db'}")
        with store.read() as reader:
            hub_id = reader.hubs()[0].id
            assert reader.statistics(hub_id).memories == 1
    with closing(store):
        with holdfast.open(tmp_path, settings=settings) as memory:
            memory.hub().remember("Coffee at five")
        unwritable(monkeypatch)
        with store.read() as reader:
            assert reader.statistics(hub_id).memories == 2
        with pytest.raises(StoreBusy, match="written while it was read"), store.read() as reader:
            os.utime(tmp_path / "memory.db", (1, 1))


def unwritable(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a read-only mount, for root too."""
    monkeypatch.setattr(os, "access", lambda _, mode, **__: not mode & os.W_OK)
