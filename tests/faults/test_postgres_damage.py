"""Rows of a PostgreSQL database that were changed outside Holdfast: no read returns them, and the
doctor finds each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.api.memory import Holdfast
from holdfast.domain.records import NO_HUB, Agreed, Clash, Record
from holdfast.engine.upkeep.doctor import examine, mend
from holdfast.errors import StoreDamaged
from holdfast.testing import START, HashEmbedder, open_for_tests

psycopg = pytest.importorskip("psycopg")

pytestmark = pytest.mark.faults

CHANGES = {
    "a text": "UPDATE memories SET title = 'Another title' WHERE number = 2",
    "several fields": "UPDATE memories SET title = 'B', version = 9, updated_at = 7"
    " WHERE number = 2",
    "tags": "UPDATE memories SET tags = ARRAY['x'] WHERE number = 2",
    "a counter": "UPDATE memories SET shown_count = shown_count + 1 WHERE number = 2",
    "a hub": "UPDATE hubs SET owner = 'mallory'",
    "a change set": "UPDATE changes SET actor = 'mallory'",
    "a revision": 'UPDATE revisions SET fields = \'{"title":["a","b"]}\' WHERE memory = 2',
    "a receipt": "UPDATE receipts SET actor = 'mallory'",
    "a turn": "UPDATE turns SET content = 'Something else'",
    "a mirrored file": "UPDATE agreed SET text = 'Another line.'",
    "a conflict": "UPDATE clashes SET in_file = 'nothing'",
    "a record": "UPDATE records SET due = 7 WHERE kind = 'thing'",
    "a record of no hub": "UPDATE records SET body = '{\"n\":2}' WHERE kind = 'alone'",
}

# What is repaired: by values of revisions that match the checksum, and by counting anew.
REPAIRED = {
    "a text": "restored memory #2 from its revisions",
    "several fields": "restored memory #2 from its revisions",
    "a counter": "set the counters of memory #2 to what they start with",
}


def _open(folder: Path, url: str) -> Holdfast:
    return open_for_tests(folder, embedder=HashEmbedder(), settings={"store.url": url})


def _read(memory: Holdfast) -> None:
    with memory.core.store.read() as reader:
        for hub in reader.hubs():
            list(reader.scan_revisions(hub.id))
            list(reader.scan_changes(hub.id))
            reader.memory_by_number(hub.id, 2)
            reader.receipts(hub.id)
            reader.turns(hub.id, limit=9)
            list(reader.scan_agreed(hub.id))
            reader.clashes(hub.id)
            list(reader.scan_records(hub.id))
        list(reader.scan_records(NO_HUB))


@pytest.mark.parametrize("what", CHANGES)
def test_a_row_that_was_changed_outside_cannot_be_read_and_is_found(
    tmp_path: Path, url: str, what: str
) -> None:
    with _open(tmp_path, url) as memory:
        hub = memory.hub()
        for n in range(3):
            hub.remember(f"Note {n} about apples.", tags=["fruit"])
        hub.update(2, title="A title")
        hub.purge(3)
        hub.log_turn("user", "Where are the apples?")
        with memory.core.store.write() as writer:
            writer.set_agreed(hub.id, Agreed("a.md", "A line.", START))
            writer.add_clash(hub.id, Clash("clash_1", hub.get(2).id, "a.md", "x", "y", START))
            writer.put_record(Record(hub.id, "thing", "one", START, {"n": 1}, "look", START))
            writer.put_record(Record(NO_HUB, "alone", "one", START, {"n": 1}))
            writer.mark_undone(hub.id, hub.changes()[0].id, None)
        assert examine(memory.core).found == []
        _read(memory)
        whole = hub.get(2)
        with psycopg.connect(url) as connection:
            connection.execute("SET search_path = holdfast, public")
            connection.execute("SET row_security = off")
            connection.execute(CHANGES[what])
        assert any("checksum" in one.what for one in examine(memory.core).found)
        with pytest.raises(StoreDamaged, match="holdfast doctor"):
            _read(memory)
        told = mend(memory.core)
        if what in REPAIRED:
            assert told.left == []
            assert REPAIRED[what] in told.mended
            assert hub.get(2)._replace(shown_count=0) == whole._replace(shown_count=0)
            _read(memory)
            return
        assert any("checksum" in one.what for one in told.left)
        assert any("left damaged rows as they are" in one for one in told.mended)
