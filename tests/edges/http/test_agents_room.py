"""Servers of agents are kept for those who ask, and nobody fills the room of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdfast.edges.http import mcp_routes
from tests.edges.http.conftest import House

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def begin(house: House, actor: str, hub: str, key: str | None = None) -> tuple[Any, str]:
    """A session of somebody with a hub."""
    ask = house.ask(key or house.key(actor), hub)
    answer = ask.post("/mcp", HELLO, headers=ACCEPT)
    assert answer.status_code == 200, answer.text
    return ask, answer.headers["mcp-session-id"]


def is_there(session: tuple[Any, str]) -> bool:
    ask, session_id = session
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
    answer = ask.post("/mcp", listing, headers={**ACCEPT, "mcp-session-id": session_id})
    assert answer.status_code in (200, 404)
    return answer.status_code == 200


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_routes, "_SERVERS_EACH", 3)
    monkeypatch.setattr(mcp_routes, "_SERVERS_MAX", 6)


def hub_of(house: House, actor: str, number: int) -> str:
    made = house.ask(house.key(actor), "").post("/v1/hubs", {"name": f"{actor}{number}"})
    return str(made.json()["data"]["id"])


def which_are_there(sessions: list[tuple[Any, str]]) -> list[bool]:
    """The newest is asked first: whoever asks for one that is gone gets a new server, which may
    take the room of an old one."""
    return [is_there(one) for one in reversed(sessions)][::-1]


def test_one_caller_makes_room_only_for_themselves(
    open_house: Callable[..., House], small: None
) -> None:
    house = open_house()
    ben = begin(house, "ben", hub_of(house, "ben", 0))
    eve = [begin(house, "eve", hub_of(house, "eve", number)) for number in range(8)]
    assert is_there(ben)
    assert which_are_there(eve) == [False] * 5 + [True] * 3


def test_many_keys_of_one_person_are_one_caller(
    open_house: Callable[..., House], small: None
) -> None:
    house = open_house()
    hub = hub_of(house, "eve", 0)
    ben = begin(house, "ben", hub_of(house, "ben", 0))
    eve = [begin(house, "eve", hub) for _ in range(5)]
    assert is_there(ben)
    assert which_are_there(eve) == [False, False, True, True, True]


def test_when_the_house_is_full_who_holds_the_most_makes_room(
    open_house: Callable[..., House], small: None
) -> None:
    house = open_house()
    few = [begin(house, name, hub_of(house, name, 0)) for name in ("ada", "ben", "cleo")]
    eve = [begin(house, "eve", hub_of(house, "eve", number)) for number in range(3)]
    few.append(begin(house, "dan", hub_of(house, "dan", 0)))
    assert which_are_there(few) == [True] * 4
    assert which_are_there(eve) == [False, True, True]
