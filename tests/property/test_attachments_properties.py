"""Whatever is pushed, forgotten, brought back, undone, moved on or purged: each file that a memory
was made from is there once, and no other is."""

from __future__ import annotations

import hashlib
import io
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import HubMemory
from holdfast.domain.memory import attachment_of
from holdfast.engine.writing import origins
from holdfast.errors import AlreadyExists, Conflict, NotFound
from holdfast.testing import open_for_tests

# Few files and places, so that they meet.
DATA = st.sampled_from([b"one", b"two", b"three"])
PLACES = st.sampled_from([None, None, "a.txt", "b.txt"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), DATA, PLACES),
        st.tuples(
            st.sampled_from(["purge", "forget", "restore"]), st.integers(0, 5), st.just(None)
        ),
        st.tuples(st.just("undo"), st.integers(0, 3), st.just(None)),
    ),
    max_size=12,
)


def step(hub: HubMemory, made: list[str], what: str, which: object, place: str | None) -> None:
    if what == "push":
        assert isinstance(which, bytes)
        pushed = hub.remember_file(io.BytesIO(which), name="a.txt", source_path=place).memory
        made.append(pushed.id)
    elif what == "undo":
        changes = hub.changes()
        if changes:
            hub.undo(changes[int(str(which)) % len(changes)].id)
    elif made:
        getattr(hub, what)(made[int(str(which)) % len(made)])


@settings(max_examples=60)
@given(steps=STEPS)
def test_the_files_on_disk_are_those_that_memories_were_made_from(
    steps: list[tuple[str, object, str | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder, open_for_tests(folder) as memory:
        hub = memory.create_hub("work")
        made: list[str] = []
        for what, which, place in steps:
            try:
                step(hub, made, what, which, place)
            except (NotFound, Conflict, AlreadyExists):
                assert what != "push", "a file is always taken in"
        with memory.core.store.read() as reader:
            held = {digest for digest, _, _ in origins.held_files(reader, hub.id)}
            used = origins.usage(reader, hub.id)
        there = set(hub.attachments.present())
        assert there == held
        assert used.files == len(there)
        paths = [Path(hub.attachments.path(digest)) for digest in there]
        assert used.bytes == sum(path.stat().st_size for path in paths)
        for path in paths:
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
        for one in hub.scan():
            file = attachment_of(one.metadata)
            assert file is not None
            assert Path(hub.attachment(one.id).path).name == file.hash
        assert hub.attachments.check() == []
        assert hub.attachments.sweep() == 0
