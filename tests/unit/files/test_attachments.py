"""Files beside the database: stored once, for their owner's eyes, gone with the last that needs
them."""

from __future__ import annotations

import hashlib
import io
import os
import queue
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast import Duplicate, Holdfast, HubFull, HubMemory, NotFound, Stored, TooLarge, Updated
from holdfast.engine.writing import origins
from holdfast.errors import InvalidInput
from holdfast.files import ATTACHMENTS
from holdfast.files.attachments import FOLDER
from holdfast.testing import open_for_tests


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    settings = {"attachments.bytes_max": 1_000, "attachments.hub_bytes_max": 2_500}
    with open_for_tests(tmp_path, settings=settings) as opened:
        yield opened


def push(hub: HubMemory, data: bytes, name: str = "a.txt", **fields: Any) -> Any:
    return hub.remember_file(io.BytesIO(data), name=name, **fields)


def test_both_know_the_folder_by_the_same_name() -> None:
    assert ATTACHMENTS == FOLDER


def stored(hub: HubMemory) -> dict[str, bytes]:
    found = {}
    for folder, _, names in os.walk(os.path.join(hub.folder, "attachments")):
        for name in names:
            if not name.startswith("."):
                found[os.path.relpath(os.path.join(folder, name), hub.folder)] = Path(
                    folder, name
                ).read_bytes()
    return found


def test_a_file_lies_under_its_hash_for_its_owner_only(hub: HubMemory) -> None:
    pushed = push(hub, b"hello", "greeting.txt")
    assert isinstance(pushed, Stored)
    digest = hashlib.sha256(b"hello").hexdigest()
    assert stored(hub) == {f"attachments/{digest[:2]}/{digest}": b"hello"}
    kept = hub.attachment(pushed.memory.id)
    assert kept.attachment == (digest, "greeting.txt", 5, "text/plain")
    assert stat.S_IMODE(os.stat(kept.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(kept.path)).st_mode) == 0o700


def test_it_is_a_memory_at_once_with_its_name_as_title_and_a_job(hub: HubMemory) -> None:
    memory = push(hub, b"hello", "Quarterly report.txt", tags=["finance"]).memory
    assert (memory.state, memory.content_type) == ("processing", "file")
    assert memory.title == memory.content == "Quarterly report.txt"
    assert memory.tags == ("finance",)
    assert memory.layer == "library"
    assert [hit.memory.id for hit in hub.recall("quarterly report")] == [memory.id]
    (job,) = hub.jobs()
    assert (job.state, job.about["memory"]) == ("waiting", memory.id)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\plan.md", "plan.md"),
        ("/absolute/plan.md", "plan.md"),
        ("..", "file"),
        ("a\0b\nc.txt", "abc.txt"),
        ("отчёт.pdf", "отчёт.pdf"),
        ("x" * 500, "x" * 200),
    ],
)
def test_a_name_is_data_and_never_a_path(hub: HubMemory, given: str, kept: str) -> None:
    memory = push(hub, b"data", given).memory
    assert memory.metadata["attachment"]["name"] == kept
    assert len(stored(hub)) == 1


def test_the_same_bytes_are_there_once_and_a_duplicate_under_any_name(hub: HubMemory) -> None:
    first = push(hub, b"the same")
    again = push(hub, b"the same", "other-name.txt")
    assert isinstance(again, Duplicate)
    assert again.memory == first.memory
    assert len(stored(hub)) == len(hub.jobs()) == 1


def test_files_of_the_same_name_are_two_memories(hub: HubMemory) -> None:
    assert push(hub, b"one").memory.id != push(hub, b"two").memory.id
    assert isinstance(hub.remember("a.txt"), Stored), "a note is not the file it names"


def test_a_new_file_at_the_same_path_is_a_new_version(hub: HubMemory) -> None:
    first = push(hub, b"one", source_path="notes/a.txt")
    second = push(hub, b"two", source_path="notes/a.txt")
    assert isinstance(second, Updated)
    assert second.memory.id == first.memory.id
    assert Path(hub.attachment(first.memory.id).path).read_bytes() == b"two"
    assert len(stored(hub)) == 2, "the old version can be brought back"
    hub.undo()
    assert Path(hub.attachment(first.memory.id).path).read_bytes() == b"one"
    hub.purge(first.memory.id)
    assert stored(hub) == {}


def test_the_file_goes_with_the_last_memory_that_was_made_from_it(hub: HubMemory) -> None:
    one = push(hub, b"shared", session="monday").memory
    two = push(hub, b"shared", session="tuesday").memory
    assert one.id != two.id
    hub.purge(one.id)
    assert len(stored(hub)) == 1
    hub.purge(two.id)
    assert stored(hub) == {}
    with hub.core.read() as reader:
        assert origins.usage(reader, hub.id) == (0, 0)


def test_a_forgotten_file_stays_until_it_is_purged(hub: HubMemory) -> None:
    memory = push(hub, b"data").memory
    hub.forget(memory.id)
    assert len(stored(hub)) == 1
    hub.restore(memory.id)
    assert Path(hub.attachment(memory.id).path).read_bytes() == b"data"


def test_the_files_of_a_hub_go_with_it(memory: Holdfast, hub: HubMemory) -> None:
    push(hub, b"data")
    memory.delete_hub("work")
    assert stored(hub) == {}


def test_attachments_alone_do_not_turn_memories_into_files(hub: HubMemory) -> None:
    push(hub, b"data")
    hub.remember("Prefers tabs")
    assert os.listdir(hub.folder) == [FOLDER]
    hub.sync()
    hub.remember("Prefers tea")
    assert "Prefers tea" in Path(hub.memory_md).read_text()


def test_a_renamed_hub_takes_its_files_along(memory: Holdfast, hub: HubMemory) -> None:
    made = push(hub, b"data").memory
    memory.rename_hub("work", "home")
    assert Path(memory.hub("home").attachment(made.id).path).read_bytes() == b"data"


def test_a_file_that_is_too_large_leaves_nothing(hub: HubMemory) -> None:
    with pytest.raises(TooLarge, match="more than 1,000 bytes"):
        push(hub, b"x" * 1_001)
    with pytest.raises(TooLarge):
        hub.attachments.incoming(5_000)
    assert stored(hub) == {}
    assert list(hub.list()) == []


def test_a_full_hub_takes_no_more_but_what_it_has(hub: HubMemory) -> None:
    push(hub, b"a" * 1_000)
    push(hub, b"b" * 1_000)
    with pytest.raises(HubFull, match="2,000 bytes"):
        push(hub, b"c" * 1_000)
    assert len(stored(hub)) == len(list(hub.list())) == 2
    assert isinstance(push(hub, b"a" * 1_000), Duplicate)
    push(hub, b"d" * 500)
    with pytest.raises(HubFull):
        hub.attachments.incoming(10)


def test_an_empty_file_and_a_missing_one_are_refused(hub: HubMemory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        push(hub, b"")
    with pytest.raises(NotFound):
        hub.remember_file(tmp_path / "nowhere.txt")
    assert stored(hub) == {}


def test_a_memory_that_only_claims_a_file_has_none(hub: HubMemory) -> None:
    real = push(hub, b"data").memory
    liar = hub.remember("I have it too", metadata=dict(real.metadata)).memory
    with pytest.raises(NotFound):
        hub.attachment(liar.id)


def test_new_metadata_do_not_part_a_memory_from_its_file(hub: HubMemory) -> None:
    made = push(hub, b"data").memory
    hub.update(made.id, metadata={"project": "orion"})
    assert hub.get(made.id).metadata["project"] == "orion"
    assert Path(hub.attachment(made.id).path).read_bytes() == b"data"


def test_a_check_names_what_is_missing_and_what_belongs_to_nobody(hub: HubMemory) -> None:
    made = push(hub, b"data").memory
    assert hub.attachments.check() == []
    path = Path(hub.attachment(made.id).path)
    astray = Path(hub.attachments.path("f" * 64))
    astray.parent.mkdir()
    path.rename(astray)
    missing, orphaned = hub.attachments.check()
    assert made.id in missing
    assert "home of another machine" in missing
    assert "belong to no memory" in orphaned
    with pytest.raises(NotFound, match="not there any more"):
        hub.attachment(made.id)
    assert hub.attachments.sweep() == 1
    assert stored(hub) == {}
    assert isinstance(push(hub, b"data"), Duplicate), "the same bytes again mend it"
    assert hub.attachments.check() == []


def test_a_sweep_leaves_files_that_memories_need(hub: HubMemory) -> None:
    push(hub, b"data")
    assert hub.attachments.sweep() == 0
    assert len(stored(hub)) == 1


def test_what_is_private_to_somebody_else_is_no_duplicate(hub: HubMemory) -> None:
    push(hub, b"secret plan", boundary="private")
    other = HubMemory(hub.core.acting("somebody else"), hub.info, hub.home)
    assert isinstance(push(other, b"secret plan"), Stored)
    assert len(other.jobs()) == 1


def test_a_file_pushed_while_its_last_memory_is_purged_is_there(hub: HubMemory) -> None:
    pushed: queue.SimpleQueue[str] = queue.SimpleQueue()

    def purge() -> None:
        for _ in range(30):
            hub.purge(pushed.get(timeout=30))

    with ThreadPoolExecutor(1) as others:
        purging = others.submit(purge)
        for turn in range(30):
            # The one before is purged at any moment; this one has the file from now on.
            made = push(hub, b"the same bytes", session=str(turn)).memory.id
            assert Path(hub.attachment(made).path).read_bytes() == b"the same bytes"
            pushed.put(made)
        purging.result(timeout=60)
    assert stored(hub) == {}
