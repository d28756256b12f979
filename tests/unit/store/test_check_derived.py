"""What the doctor says of dangling rows: those of derived tables can be rebuilt."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from holdfast.engine.upkeep.doctor import examine, mend
from holdfast.testing import HashEmbedder, open_for_tests


def test_a_dangling_row_of_a_derived_table_is_not_called_damage(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        memory.hub().remember("Prefers tabs over spaces")
    outside = apsw.Connection(os.path.join(tmp_path, "memory.db"))
    outside.execute("DELETE FROM passages")
    outside.close()
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        found = examine(memory.core).found
        assert "a row of vectors points to a missing row of passages" in [p.what for p in found]
        assert all(problem.derived for problem in found), found
        assert mend(memory.core).left == []


def test_a_dangling_row_of_a_canonical_table_is_damage(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        memory.hub().remember("Prefers tabs over spaces")
    outside = apsw.Connection(os.path.join(tmp_path, "memory.db"))
    outside.execute("DELETE FROM changes")
    outside.close()
    with open_for_tests(tmp_path) as memory:
        damage = [problem for problem in examine(memory.core).found if not problem.derived]
        assert damage[0].what == "row 1 of revisions points to a missing row of changes"
