"""Pauses between attempts, and the loop that takes them."""

from __future__ import annotations

import math

import pytest

from holdfast.system import Backoff, Failed, retry, retry_after_s


def test_each_pause_is_twice_as_long_up_to_the_longest() -> None:
    steady = Backoff(first_s=0.5, longest_s=3.0, jitter=False)
    assert [steady.pause_s(attempt) for attempt in (1, 2, 3, 4, 10_000)] == [0.5, 1, 2, 3, 3]


def test_jitter_takes_between_half_and_all_of_a_pause() -> None:
    pauses = {Backoff(first_s=1.0, longest_s=1.0).pause_s(1) for _ in range(200)}
    assert 0.5 <= min(pauses) < max(pauses) <= 1.0


def test_attempts_end_with_the_first_that_succeeds() -> None:
    results: list[int | Failed] = [Failed("a", again=True), Failed("b", True, 7.0), 3]
    waits: list[float] = []
    came = retry(
        lambda: results.pop(0),
        Backoff(1.0, 9.0, attempts=5, jitter=False),
        until=math.inf,
        wait=waits.append,
    )
    assert came == (3, 3)
    assert waits == [1.0, 7.0]


@pytest.mark.parametrize(
    ("failed", "until", "attempts"),
    [
        (Failed("x", again=True), math.inf, 2),
        (Failed("x", again=False), math.inf, 1),
        (Failed("x", again=True), 0.0, 1),
        (Failed("x", again=True, wait_s=math.inf), 1e12, 1),
    ],
)
def test_attempts_end_when_there_is_no_sense_in_another(
    failed: Failed, until: float, attempts: int
) -> None:
    backoff = Backoff(0.0, 0.0, attempts=2)
    assert retry(lambda: failed, backoff, until=until) == (failed, attempts)


def test_pauses_end_when_the_time_is_up() -> None:
    assert list(Backoff(1.0, 1.0).pauses(0.0)) == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(" 3 ", 3.0), ("9" * 50, 999_999.0), ("Wed, 21 Oct 2026", None), ("-1", None), ("", None)],
)
def test_the_seconds_of_retry_after(header: str, seconds: float | None) -> None:
    assert retry_after_s(header) == seconds
