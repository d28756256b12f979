"""How often an operation waits for the server, counted on the wire. On a server that is a
millisecond away, these are its milliseconds. A change that adds one is seen here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.postgres_server import ROLE, database, needs

pytest.importorskip("psycopg")

from holdfast.api.memory import open as open_memory
from tests.citus_standin import citus_standin
from tests.postgres_wire import Wire, wire

# The most on one server, and on Citus, where every setting that nodes need is a message of its own.
MOST = {
    "create a hub": (9, 10),
    "remember": (12, 15),
    "remember close to others": (14, 17),
    "recall": (9, 10),
    "get": (4, 5),
    "update": (20, 23),
    # Four of them to find the turns of the log that say the same.
    "forget": (23, 25),
    "list hubs": (3, 3),
}
# A statement is prepared, which is a round trip more, when a connection has sent it five times.
TIMES = 8
WORDS = ["Ada", "Berta", "Cem", "Dora", "Emil", "Frida", "Gustav", "Hilde", "Igor"]


def _counted(proxy: Wire, home: Path) -> dict[str, int]:
    """The fewest round trips of each operation: those of connections that know its statements."""
    settings = {"embed.model": "none", "store.url": proxy.url}
    with open_memory(home, settings=settings) as memory:
        memory.create_hub("warm")
        hub = memory.hub("warm")
        for number in range(TIMES):
            hub.remember(f"The office number {number} of Ada is in Bonn")
        acts: dict[str, Callable[[int], object]] = {
            "create a hub": lambda number: memory.create_hub(f"hub-{number}"),
            "remember": lambda number: hub.remember(f"{WORDS[number]} sleeps"),
            "remember close to others": lambda number: hub.remember(
                f"The cat number {number} sleeps in the shed"
            ),
            "recall": lambda number: hub.recall(f"where is the office {number} of Ada"),
            "get": lambda number: hub.get(number),
            "update": lambda number: hub.update(
                number, content=f"The office moved to {number} Ulm"
            ),
            "forget": lambda number: hub.forget(number),
            "list hubs": lambda number: memory.hubs(),
        }
        return {
            name: min(_round_trips(proxy, partial(act, number)) for number in range(1, TIMES + 1))
            for name, act in acts.items()
        }


def _round_trips(proxy: Wire, act: Callable[[], object]) -> int:
    with proxy.counted() as found:
        act()
    return found[0]


def _too_many(found: dict[str, int], at: int) -> dict[str, int]:
    return {name: count for name, count in found.items() if count > MOST[name][at]}


def test_no_operation_waits_for_the_server_more_often_than_it_has_to(tmp_path: Path) -> None:
    with database(ROLE) as url, wire(url) as proxy:
        assert _too_many(_counted(proxy, tmp_path), 0) == {}


def test_citus_costs_no_more_than_the_settings_of_its_nodes(tmp_path: Path) -> None:
    needs(version=150000)
    with citus_standin() as proxy:
        assert _too_many(_counted(proxy, tmp_path), 1) == {}


def test_a_pipeline_is_one_round_trip() -> None:
    import psycopg

    with (
        database() as url,
        wire(url) as proxy,
        psycopg.connect(proxy.url, autocommit=True) as connection,
    ):
        with proxy.counted() as found, connection.pipeline():
            for number in range(5):
                connection.execute("SELECT %s::int", (number,))
        assert found == [1]
        with proxy.counted() as found:
            for number in range(5):
                connection.execute("SELECT %s::int", (number,), prepare=False)
        assert found == [5]
