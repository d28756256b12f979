"""Which connection is closed for a new one, and how often an error is logged."""

from __future__ import annotations

import logging

import pytest

from holdfast.edges.server import connections as module
from holdfast.edges.server.connections import Connection, ConnectionLimits, Connections
from holdfast.edges.server.listening import PER_PERIOD, PERIOD_S, RepeatLimit


class Line:
    """A connection of a test: it notes that it was closed."""

    def __init__(self, every: Connections, address: str = "a") -> None:
        self.closed = False
        self._every = every
        self.entry: Connection | None = every.open(address, self._close)

    def _close(self) -> None:
        self.closed = True

    def becomes(self, state: module.State) -> None:
        assert self.entry is not None
        self._every.set_state(self.entry, state)


def test_the_oldest_unfinished_request_makes_room() -> None:
    every = Connections(ConnectionLimits(total=3, per_address=3))
    idle, first, second = Line(every), Line(every), Line(every)
    idle.becomes("idle")
    third = Line(every)
    assert (idle.closed, first.closed, second.closed) == (False, True, False)
    assert third.entry is not None
    assert every.count == 3


def test_idle_connections_make_room_and_those_with_a_key_last() -> None:
    every = Connections(ConnectionLimits(total=3, per_address=3))
    known, stranger, busy = Line(every), Line(every), Line(every)
    assert known.entry is not None
    known.entry.identify()
    for line, state in ((known, "idle"), (stranger, "idle"), (busy, "busy")):
        line.becomes(state)  # type: ignore[arg-type]
    Line(every).becomes("busy")
    assert (known.closed, stranger.closed) == (False, True)
    Line(every).becomes("busy")
    assert known.closed
    assert Line(every).entry is None
    assert not busy.closed


def test_a_body_with_a_key_is_not_cut_off_for_a_stranger() -> None:
    every = Connections(ConnectionLimits(total=2, per_address=2))
    sending, stranger = Line(every), Line(every)
    assert sending.entry is not None
    sending.entry.protect()
    Line(every)
    assert (sending.closed, stranger.closed) == (False, True)


def test_an_address_makes_room_for_itself_and_the_largest_for_others() -> None:
    every = Connections(ConnectionLimits(total=5, per_address=3))
    good = Line(every, "good")
    bad = [Line(every, "bad") for _ in range(5)]
    assert [line.closed for line in bad] == [True, True, False, False, False]
    others = [Line(every, name) for name in ("c", "d")]
    assert bad[2].closed
    assert not good.closed
    assert not any(line.closed for line in others)
    assert every.count == 5


def test_the_registry_forgets_addresses_that_are_gone() -> None:
    every = Connections(ConnectionLimits(total=2, per_address=1))
    for number in range(100):
        line = Line(every, str(number))
        assert line.entry is not None
    assert every.count == 2
    assert len(every._addresses) == 2


def test_limits_stay_below_the_descriptors_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_descriptors_max", lambda: 256)
    limits = ConnectionLimits(total=1_000, per_address=500).within_descriptors()
    assert (limits.total, limits.per_address) == (128, 128)
    monkeypatch.setattr(module, "_descriptors_max", lambda: 1_024)
    assert ConnectionLimits().within_descriptors().total == 1_024 - module.DESCRIPTORS_RESERVED
    monkeypatch.setattr(module, "_descriptors_max", lambda: 1 << 20)
    assert ConnectionLimits().within_descriptors() == ConnectionLimits()


def record(message: str, *given: object, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("holdfast", level, "", 0, message, given, None)


def test_a_repeated_error_is_logged_a_few_times_and_then_counted() -> None:
    now = 0.0
    limit = RepeatLimit(lambda: now)
    assert sum(limit.filter(record("client %d failed", one)) for one in range(500)) == PER_PERIOD
    assert limit.filter(record("another error"))
    assert all(limit.filter(record("a request", level=logging.INFO)) for _ in range(50))
    now = PERIOD_S
    last = record("client %d failed", 501)
    assert limit.filter(last)
    assert last.getMessage() == "client 501 failed (495 more like this were not logged)"


def test_the_memory_of_what_was_logged_is_bounded() -> None:
    limit = RepeatLimit(lambda: 0.0)
    for number in range(5_000):
        limit.filter(record(f"error {number}"))
    assert len(limit._seen) <= 1_000
