"""How often an operation waits for the server, counted on the wire. On a server that is a
millisecond away, these are its milliseconds. A change that adds one is seen here."""

from __future__ import annotations

from collections.abc import Callable
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
    "remember": (13, 17),
    "recall": (11, 12),
    "get": (4, 5),
    "update": (21, 25),
    # Four of them to find the turns of the log that say the same.
    "forget": (23, 26),
    "list hubs": (3, 3),
}


def _counted(proxy: Wire, home: Path) -> dict[str, int]:
    settings = {"embed.model": "none", "store.url": proxy.url}
    with open_memory(home, settings=settings) as memory:
        memory.create_hub("warm")
        hub = memory.hub("warm")
        for number in range(3):
            hub.remember(f"The office number {number} of Ada is in Bonn")
        hub.recall("where is the office")
        acts: dict[str, Callable[[], object]] = {
            "create a hub": lambda: memory.create_hub("second"),
            "remember": lambda: hub.remember("The cat sleeps in the garden shed"),
            "recall": lambda: hub.recall("where is the office of Ada"),
            "get": lambda: hub.get(1),
            "update": lambda: hub.update(1, content="The office moved to Ulm"),
            "forget": lambda: hub.forget(2),
            "list hubs": memory.hubs,
        }
        return {name: _round_trips(proxy, act) for name, act in acts.items()}


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
