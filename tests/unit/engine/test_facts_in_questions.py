"""Facts that somebody states while they ask something (`tests/data/facts_in_questions_*`)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import holdfast
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock

DATA = Path(__file__).parents[2] / "data"
MONDAY = datetime(2026, 3, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize(("half", "missing_most"), [("dev", 0), ("held_out", 2)])
def test_a_fact_beside_a_question_is_kept_and_a_supposition_is_not(
    tmp_path: Path, half: str, missing_most: int
) -> None:
    pytest.importorskip("holdfast_embed_s", reason="the bundled model is not installed")
    lines = (DATA / f"facts_in_questions_{half}.txt").read_text("utf-8").splitlines()
    settings = {"shadowJournal.enabled": True, "time_zone": "UTC"}
    missing, wrong = [], []
    with holdfast.open(tmp_path, clock=FixedClock(MONDAY), settings=settings) as memory:
        memory.core.set_has_worker(True)
        for n, line in enumerate(lines):
            said, words = line.split(" | ")
            hub = memory.create_hub(f"turn-{n}")
            hub.observe_turn(said, "ok", session="s")
            work_until_done(memory.core, memory.home)
            facts = [one.content.casefold() for one in hub.list(layer="long_term")]
            if words == "-":
                wrong += [(line, facts)] if facts else []
            elif not any(
                all(one.casefold() in fact for one in words.split("; ")) for fact in facts
            ):
                missing.append(line)
    print(half, len(lines), missing, wrong)
    assert wrong == []
    assert len(missing) <= missing_most
