"""Backups and exports take along the files that memories were made from; what is brought back is
checked first, and no archive can write anywhere."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import holdfast
from holdfast import AlreadyExists, Holdfast, HubMemory, NotFound, StoreDamaged
from holdfast.files import attachments_tar as tar_archive
from holdfast.testing import open_for_tests
from holdfast.wiring.copies import restore_backup


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with open_for_tests(tmp_path / "home") as opened:
        yield opened


def push(hub: HubMemory, text: str, **fields: object) -> holdfast.Memory:
    file = io.BytesIO(text.encode())
    return hub.remember_file(file, name=f"{text[:8]}.txt", **fields).memory


def bytes_of(hub: HubMemory, memory: holdfast.Memory) -> bytes:
    return Path(hub.attachments.kept(memory).path).read_bytes()


def brought_back(backup: Path, home: Path) -> Holdfast:
    """A new machine with what the backup holds."""
    home.mkdir()
    with tar_archive.unpacked_beside(str(backup), str(home)) as staged:
        restore_backup(str(home / "memory.db"), str(backup))
        memory = open_for_tests(home)
        tar_archive.put_back(memory._attachments(), staged)
    return memory


@pytest.mark.sqlite_only("puts a backup in the place of the embedded store's file")
def test_a_backup_brings_back_the_files_of_every_hub(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    other = memory.create_hub("other")
    pushed = [(hub, push(hub, "Same")), (other, push(other, "Same")), (hub, push(hub, "Mine"))]
    packed = memory.backup(tmp_path / "all.db")
    assert (packed.path, packed.files) == (str(tmp_path / "all.db.files.tar"), 2)
    with brought_back(tmp_path / "all.db", tmp_path / "new") as again:
        for place, one in pushed:
            here = again.hub(place.name)
            assert bytes_of(here, here.get(one.id)) == bytes_of(place, one)
        assert [
            one for name in ("work", "other") for one in again.hub(name).attachments.check()
        ] == []
    assert os.listdir(tmp_path / "new" / "hubs") and not list((tmp_path / "new").glob(".bring*"))


def test_a_backup_without_files_is_one_file(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    hub.remember("Only words")
    assert memory.backup(tmp_path / "all.db") == ("", 0, ())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.db", "home"]


def test_a_name_that_is_taken_is_refused_before_anything_is_written(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    (tmp_path / "all.db.files.tar").write_text("mine")
    with pytest.raises(AlreadyExists):
        memory.backup(tmp_path / "all.db")
    assert not (tmp_path / "all.db").exists()
    assert (tmp_path / "all.db.files.tar").read_text() == "mine"


@pytest.mark.sqlite_only("puts a backup in the place of the embedded store's file")
def test_a_file_that_is_gone_or_damaged_is_reported(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    good, gone, bad = (push(hub, text) for text in ("Good", "Gone", "Damaged"))
    os.unlink(hub.attachments.kept(gone).path)
    Path(hub.attachments.kept(bad).path).write_text("Something else")
    packed = memory.backup(tmp_path / "all.db")
    assert packed.files == 1
    assert set(packed.missing) == {one.metadata["attachment"]["hash"] for one in (gone, bad)}
    with brought_back(tmp_path / "all.db", tmp_path / "new") as again:
        here = again.hub("work")
        assert bytes_of(here, here.get(good.id)) == b"Good"
        with pytest.raises(NotFound):
            here.attachment(gone.id)


def test_what_is_damaged_on_this_machine_is_mended_by_a_backup(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    one, two = push(hub, "One"), push(hub, "Two")
    memory.backup(tmp_path / "all.db")
    Path(hub.attachments.kept(one).path).write_text("Something else")
    os.unlink(hub.attachments.kept(two).path)
    with tar_archive.unpacked_beside(str(tmp_path / "all.db"), memory.home) as staged:
        assert tar_archive.put_back(memory._attachments(), staged) == (2, 0)
    assert (bytes_of(hub, one), bytes_of(hub, two)) == (b"One", b"Two")


def made(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> None:
    with tarfile.open(path, "w") as file:
        for info, data in members:
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))


def info(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname = kind, link
    return one


DIGEST = sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    "members",
    [
        [(info("../../escape"), b"x")],
        [(info("/tmp/escape"), b"x")],
        [(info(f"{DIGEST[:2]}/{DIGEST}"), b"x")],
        [(info(f"./{DIGEST}"), b"x")],
        [(info(DIGEST.upper()), b"x")],
        [(info(DIGEST + "\n"), b"x")],
        [(info(DIGEST), b"y")],
        [(info(DIGEST, tarfile.SYMTYPE, "/etc/passwd"), b"")],
        [(info(DIGEST, tarfile.LNKTYPE, "/etc/passwd"), b"")],
        [(info(DIGEST, tarfile.DIRTYPE), b"")],
        [(info(DIGEST, tarfile.FIFOTYPE), b"")],
        [(info(DIGEST, tarfile.GNUTYPE_SPARSE), b"x")],
        [(info("held.jsonl"), b"[]")],
        [(info("held.jsonl"), b'{"hash": 1, "memory": "m", "size": 1}')],
        [(info(DIGEST), b"x"), (info("held.jsonl"), b"")],
    ],
)
def test_an_archive_that_is_not_ours_changes_nothing(
    memory: Holdfast, tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    made(tmp_path / "bad.tar", *members)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with (
        pytest.raises(StoreDamaged, match="Nothing was changed"),
        tar_archive.unpacked(str(tmp_path / "bad.tar"), memory.home),
    ):
        raise AssertionError("it was taken")
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("cut", [10, 513, 700, 1500])
def test_an_archive_that_was_cut_off_is_refused_or_whole(
    memory: Holdfast, hub: HubMemory, tmp_path: Path, cut: int
) -> None:
    push(hub, "One" * 100)
    packed = memory.backup(tmp_path / "all.db")
    path = Path(packed.path)
    path.write_bytes(path.read_bytes()[:cut])
    try:
        with tar_archive.unpacked(packed.path, memory.home) as staged:
            assert len(staged.files) == 1
    except StoreDamaged:
        assert cut < 1024


# Exports


def test_an_export_takes_files_along(memory: Holdfast, hub: HubMemory, tmp_path: Path) -> None:
    one, two = push(hub, "One"), push(hub, "Two")
    hub.remember("No file")
    packed = hub.export_files(tmp_path / "work.tar")
    assert packed.files == 2
    lines = list(hub.export())
    with open_for_tests(tmp_path / "other") as elsewhere:
        copy = elsewhere.import_hub(lines, files=packed.path)
        for memory_ in (one, two):
            assert bytes_of(copy, copy.get(memory_.id)) == bytes_of(hub, memory_)
        assert copy.attachments.check() == []
        # They are held as if they had been pushed here: the last one that goes takes its file.
        copy.purge(one.id)
        assert len(list(copy.attachments.present())) == 1
    with open_for_tests(tmp_path / "third") as third:
        without = third.import_hub(lines)
        with pytest.raises(NotFound, match="has no file"):
            without.attachment(one.id)


def test_an_export_takes_no_file_along_that_its_lines_do_not_tell_of(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    bob = HubMemory(memory.core.acting("bob"), hub.info, memory.home)
    push(bob, "Private", boundary="private")
    shared = push(bob, "Shared")
    packed = hub.export_files(tmp_path / "work.tar")
    assert packed.files == 1
    with tar_archive.unpacked(packed.path, memory.home) as staged:
        assert [one.memory for one in staged.held] == [shared.id]
        assert list(staged.files) == [shared.metadata["attachment"]["hash"]]


def test_a_list_that_lies_gives_nobody_a_file(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    """A memory that says it was made from another hub's file gets it only with the bytes."""
    secret = push(hub, "Secret")
    digest = secret.metadata["attachment"]["hash"]
    other = memory.create_hub("other")
    claims = other.remember("Mine", metadata={"attachment": secret.metadata["attachment"]}).memory
    listed = f'{{"hash": "{digest}", "memory": "{claims.id}", "size": 6}}'
    made(tmp_path / "lies.tar", (info("held.jsonl"), listed.encode()))
    copy = memory.import_hub(list(other.export()), name="copy", files=tmp_path / "lies.tar")
    with pytest.raises(NotFound):
        copy.attachment(claims.id)
