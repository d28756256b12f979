"""Files are whole or not there, locks hold across processes and threads, links do not lead out."""

from __future__ import annotations

import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from holdfast.errors import InvalidInput, StoreBusy, StoreError, StoreFull, StoreReadOnly
from holdfast.files import hub_path
from holdfast.system import atomic_file
from holdfast.system.atomic_file import append_line, locked, remove_partials, write_atomic


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_and_its_folders_are_for_their_owner_only(tmp_path: Path) -> None:
    path = Path(hub_path(str(tmp_path), "work")) / "MEMORY.md"
    write_atomic(str(path), "Ann likes tea.\n")
    assert path.read_bytes() == b"Ann likes tea.\n"
    assert (mode(path), mode(path.parent), mode(path.parent.parent)) == (0o600, 0o700, 0o700)


def test_line_ends_are_written_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    write_atomic(str(path), "one\r\ntwo\n\rthree")
    assert path.read_bytes() == b"one\r\ntwo\n\rthree"


def test_a_write_that_fails_leaves_the_old_text_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    write_atomic(str(path), "old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFull, match="no room left"):
        write_atomic(str(path), "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_said_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreReadOnly, match="cannot be written"):
            write_atomic(str(tmp_path / "a.md"), "x")
        with pytest.raises(StoreReadOnly), locked(str(tmp_path / "a.md")):
            pass
    finally:
        tmp_path.chmod(0o700)


def test_a_link_that_leads_out_is_refused_and_its_target_untouched(tmp_path: Path) -> None:
    outside = tmp_path / "passwd"
    outside.write_text("precious")
    folder = tmp_path / "hub"
    folder.mkdir()
    (folder / "a.md").symlink_to(outside)
    with pytest.raises(InvalidInput, match="leads out"):
        write_atomic(str(folder / "a.md"), "x")
    (folder / "conversations").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(InvalidInput, match="leads out"):
        write_atomic(str(folder / "conversations" / "passwd"), "x", within=str(folder))
    assert outside.read_text() == "precious"


def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "a.md").symlink_to("real.md")
    write_atomic(str(tmp_path / "a.md"), "new")
    assert (tmp_path / "a.md").is_symlink()
    assert (tmp_path / "real.md").read_text() == "new"


def test_a_loop_of_links_is_an_error_and_not_a_hang(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(StoreError):
        write_atomic(str(tmp_path / "a" / "x.md"), "x")


def test_a_file_in_the_place_of_a_folder_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "hubs").write_text("")
    with pytest.raises(StoreError):
        write_atomic(str(tmp_path / "hubs" / "work" / "MEMORY.md"), "x")


def test_an_appended_line_ends_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    append_line(str(path), "one")
    assert path.read_text() == "one\n"
    path.write_text("one\ntwo without an end")
    append_line(str(path), "three")
    assert path.read_text() == "one\ntwo without an end\nthree\n"
    assert mode(path) == 0o600


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".a.md.partial-1-00").write_text("half")
    (tmp_path / ".b.md.partial-1-00").write_text("somebody else's")
    remove_partials(str(tmp_path / "a.md"), held=True)
    assert os.listdir(tmp_path) == [".b.md.partial-1-00"]


def test_a_lock_that_is_held_is_waited_for_and_then_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "a.md")
    refused = pytest.raises(StoreBusy, match="Another process")
    with locked(path), refused, locked(path, wait_s=0.01):
        pass
    with locked(path, wait_s=0):
        pass


def test_threads_do_not_hold_a_lock_together(tmp_path: Path) -> None:
    path = str(tmp_path / "count")
    write_atomic(path, "0")

    def add() -> None:
        for _ in range(20):
            with locked(path):
                write_atomic(path, str(int(Path(path).read_text()) + 1))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Path(path).read_text() == "80"


def _append(path: str, name: str) -> None:
    for number in range(25):
        with atomic_file.locked(path):
            atomic_file.append_line(path, f"{name}-{number}")


def test_processes_that_append_lose_no_line(tmp_path: Path) -> None:
    path = str(tmp_path / "a.md")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_append, args=(path, name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    lines = Path(path).read_text().splitlines()
    assert sorted(lines) == sorted(f"{name}-{number}" for name in "ab" for number in range(25))


_FILL = """
import resource, signal, sys
from holdfast.errors import HoldfastError
from holdfast.system.atomic_file import append_line

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
append_line(sys.argv[1], "fits in there")
try:
    append_line(sys.argv[1], "does not fit any more")
except HoldfastError as error:
    print(type(error).__name__)
"""


def test_a_line_that_does_not_fit_on_the_disk_leaves_no_half(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "StoreFull\n"
    assert path.read_text() == "fits in there\n"


def test_a_file_that_is_not_ours_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(str(path), "x", mode=0o640)
    assert mode(path) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_what_a_killed_export_left_is_removed_and_what_is_written_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "all.jsonl")
    partials = [Path(atomic_file.partial_path(path)) for _ in range(3)]
    other = Path(atomic_file.partial_path(str(tmp_path / "other.jsonl")))
    for left in (*partials[:2], other):
        left.write_text("What was remembered")
    for old in (partials[0], other):
        os.utime(old, (1, 1))
    with atomic_file.new_file(str(partials[2])) as file:
        file.write(b"x")
        file.flush()
        os.utime(partials[2], (1, 1))
        atomic_file.remove_partials(path)
    assert [left.exists() for left in (*partials, other)] == [False, True, True, True]
