"""The same scenario gives the same answers on SQLite and on PostgreSQL, to the letter; only scores
are compared to six digits (`scenario.SCORE_DIGITS`), and what is ranked comes in the same order."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path

import pytest

from tests.edges import scenario
from tests.postgres_server import ROLE, database


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_the_same_scenario_gives_the_same_answers(tmp_path: Path) -> None:
    with scenario.opened(tmp_path / "file") as day:
        scenario.whole(day)
        expected = day.lines
    with database(ROLE) as url, scenario.opened(tmp_path / "server", url) as day:
        scenario.whole(day)
        found = day.lines
    differences = list(unified_diff(expected, found, "SQLite", "PostgreSQL", n=0, lineterm=""))
    assert not differences, "\n".join(line[:600] for line in differences[:20])
    # So that it is about something.
    assert len(found) > 700
