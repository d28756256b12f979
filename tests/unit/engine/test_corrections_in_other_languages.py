"""What people correct or take back in a session in eight languages beside English
(`tests/data/session_corrections_languages_*`)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

import holdfast
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock

DATA = Path(__file__).parents[2] / "data"
MONDAY = datetime(2026, 3, 2, 10, tzinfo=UTC)
_NOTE = re.compile(r" \((?:instead of|taken back): .*\)\Z")


def words(cell: str) -> list[str]:
    return [] if cell == "-" else [word.casefold() for word in cell.split("; ")]


@pytest.mark.parametrize(("half", "missing_most"), [("dev", 0), ("held_out", 1)])
def test_a_correction_replaces_the_fact_and_other_words_leave_it(
    tmp_path: Path, half: str, missing_most: int
) -> None:
    lines = (DATA / f"session_corrections_languages_{half}.txt").read_text("utf-8").splitlines()
    clock = FixedClock(MONDAY)
    settings = {"shadowJournal.enabled": True, "time_zone": "UTC"}
    missing, changed = [], []
    with holdfast.open(tmp_path, clock=clock, settings=settings) as memory:
        memory.core.set_has_worker(True)
        for n, line in enumerate(lines):
            _, said, later, wanted, over = line.split(" | ")
            hub = memory.create_hub(f"session-{n}")
            for text in (said, later):
                hub.observe_turn(text, "ok", session="s")
                work_until_done(memory.core, memory.home)
                clock.tick(seconds=30)
            there = [one.content.casefold() for one in hub.list() if one.superseded_by is None]
            facts = [_NOTE.sub("", text) for text in there]
            is_held = all(any(word in text for text in facts) for word in words(wanted))
            if over == "keep":
                changed += [] if is_held else [line]
            elif not is_held or any(word in text for word in words(over) for text in facts):
                missing.append(line)
    print(half, len(lines), missing, changed)
    assert changed == []
    assert len(missing) <= missing_most
