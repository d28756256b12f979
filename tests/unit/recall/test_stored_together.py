"""Memories without a session that were stored one after the other lend each other evidence."""

from __future__ import annotations

import pathlib
from datetime import UTC, datetime, timedelta

from holdfast.domain.query import Hit
from holdfast.recall import weights
from holdfast.testing import FixedClock, open_for_tests

AT = datetime(2026, 1, 14, 12, tzinfo=UTC)


def _lift(hits: list[Hit], number: int) -> float:
    """What the session adds beside the memory's own evidence."""
    (hit,) = (hit for hit in hits if hit.memory.number == number)
    return hit.parts["session"] - weights.SESSION_WEIGHT * hit.parts["words"]


def _asked(folder: pathlib.Path, *, apart: timedelta, between: int = 0, session: str = "") -> float:
    """How much 'cello' is lifted, which says a part of what the memory stored before it says."""
    clock = FixedClock(AT)
    with open_for_tests(folder, clock=clock) as memory:
        hub = memory.hub()
        hub.remember("The cello lesson is on Friday at noon", session=session or None)
        for number in range(between):
            hub.remember(f"Invoice {number} was paid")
        clock.tick(seconds=apart.total_seconds())
        hub.remember("A cello is in the hall")
        found = hub.recall("when is the cello lesson on Friday at noon", meaning=False)
        return _lift(list(found), between + 2)


def test_what_was_stored_right_before_lends_its_evidence(tmp_path: pathlib.Path) -> None:
    assert _asked(tmp_path, apart=timedelta(minutes=1)) > 0.01


def test_what_was_stored_long_before_does_not(tmp_path: pathlib.Path) -> None:
    assert abs(_asked(tmp_path, apart=timedelta(hours=2))) < 1e-5


def test_what_was_stored_several_memories_before_does_not(tmp_path: pathlib.Path) -> None:
    assert abs(_asked(tmp_path, apart=timedelta(0), between=4)) < 1e-5


def test_what_has_a_session_lends_to_its_session_only(tmp_path: pathlib.Path) -> None:
    assert abs(_asked(tmp_path, apart=timedelta(0), session="music")) < 1e-5
