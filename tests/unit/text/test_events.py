"""Which day a statement means, measured on statements that no rule was made for (`tests/data`)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import HubMemory
from holdfast.testing import FixedClock
from holdfast.text.dates import event_in

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(("name", "wrong_most"), [("dev", 0), ("held_out", 1)])
def test_a_statement_means_the_day_it_meant_when_it_was_said(name: str, wrong_most: int) -> None:
    wrong = []
    for line in (DATA / f"dates_{name}.txt").read_text(encoding="utf-8").splitlines():
        said_on, text, meant = line.split(" | ")
        event = event_in(text, at=datetime.fromisoformat(f"{said_on}T12:00+00:00"))
        found = f"{event.since:%Y-%m-%d}" if event else "-"
        if found != meant:
            wrong.append((text, found, meant))
    assert len(wrong) <= wrong_most, wrong


def test_a_relative_date_is_resolved_when_it_is_remembered_and_the_words_stay(
    hub: HubMemory, clock: FixedClock
) -> None:
    memory = hub.remember("Had a dentist appointment yesterday").memory
    assert memory.content == "Had a dentist appointment yesterday"
    assert memory.occurred_at == datetime(2026, 1, 13, tzinfo=UTC)
    assert memory.occurred_until == datetime(2026, 1, 14, tzinfo=UTC)
    clock.tick(days=1)
    again = hub.remember("Had a dentist appointment yesterday").memory
    assert again.id != memory.id
    given = datetime(2025, 5, 1, tzinfo=UTC)
    told = hub.remember("Saw a play yesterday", occurred_at=given).memory
    assert told.occurred_at == given
