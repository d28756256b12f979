"""An answer does not wait for having been counted."""

from __future__ import annotations

from pathlib import Path

import apsw

from holdfast.testing import open_for_tests


def test_a_recall_does_not_wait_for_another_process_that_writes(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        hub.remember("Prefers tabs")
        other = apsw.Connection(str(tmp_path / "memory.db"))
        other.execute("BEGIN IMMEDIATE")
        # With a wait, the busy handler would be asked; it stands for the minute it would take.
        assert len(hub.recall("tabs")) == 1
        memory.core.write_counters()
        other.execute("ROLLBACK")
        other.close()
        assert hub.get(1).shown_count == 0
        hub.recall("tabs")
        memory.core.write_counters()
        assert hub.get(1).shown_count == 1
