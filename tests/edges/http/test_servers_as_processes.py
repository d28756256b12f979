"""Two `holdfast serve` on one database, each with a home of its own: what the one takes in, the
other knows and tells of, and work is done once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx2
import pytest

import holdfast
from tests.postgres_server import ROLE, database
from tests.serve_process import serve_process

_PATIENCE_S = 30.0
_FOODS = ("peanuts", "shellfish", "celery", "mustard", "sesame", "lupins")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    homes = tmp_path_factory.mktemp("homes")
    with database(ROLE) as url, ExitStack() as stack:
        shared = {
            "HOLDFAST_STORE_URL": url,
            "HOLDFAST_ACTOR": "ada",
            "HOLDFAST_SHADOWJOURNAL_ENABLED": "true",
        }
        started = [
            stack.enter_context(serve_process(homes / name, **shared)) for name in ("one", "two")
        ]
        yield [address for address, _ in started]


@pytest.fixture
def hubs(servers: list[str]) -> Iterator[list[holdfast.client.hub.RemoteHub]]:
    """The same hub, through each of them."""
    with ExitStack() as opened:
        yield [opened.enter_context(holdfast.Client(url)).hub() for url in servers]


def _until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + _PATIENCE_S
    while not true():
        assert time.monotonic() < ends, "it did not come true in time"
        threading.Event().wait(0.05)


def test_what_one_takes_in_the_other_recalls(hubs: list[holdfast.client.hub.RemoteHub]) -> None:
    one, two = hubs
    one.remember("The office is in Bonn", key="office")
    found = two.recall("Where is the office?")
    assert [hit.memory.content for hit in found] == ["The office is in Bonn"]
    two.update("office", content="The office is in Ulm")
    assert one.get("office").content == "The office is in Ulm"


def test_a_change_through_one_is_an_event_of_the_other(
    servers: list[str], hubs: list[holdfast.client.hub.RemoteHub]
) -> None:
    with (
        httpx2.Client(base_url=servers[1], timeout=_PATIENCE_S) as client,
        client.stream("GET", "/v1/events") as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines) == ": listening"
        made = hubs[0].remember("The harbour is closed on Mondays").memory
        told = next(line for line in lines if line.startswith("data: "))
    assert made.id in told


def test_a_turn_that_was_shown_to_one_is_noted_once(
    hubs: list[holdfast.client.hub.RemoteHub],
) -> None:
    """Both have workers, and both look for work."""
    one, two = hubs
    for number, food in enumerate(_FOODS):
        assert hubs[number % 2].observe_turn(f"I am allergic to {food}.", "Noted.").queued
    _until(lambda: not one.jobs() and _worked_on(two) >= len(_FOODS))
    assert _worked_on(one) == len(_FOODS)
    # A fact about the person is in the journal and in long-term memory.
    for layer in ("journal", "long_term"):
        kept = [memory for memory in two.scan() if memory.layer == layer]
        noted = [memory.content for memory in kept if "allergic" in memory.content]
        assert sorted(noted) == sorted(f"Is allergic to {food}" for food in _FOODS)


def _worked_on(hub: holdfast.client.hub.RemoteHub) -> int:
    """How often a turn was looked at; being queued is not yet that."""
    return sum(
        count
        for day in hub.captured(days=2)
        for outcome, count in day.outcomes.items()
        if outcome != "queued"
    )
