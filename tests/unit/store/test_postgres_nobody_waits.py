"""On a server for many, nobody waits for who writes into another hub; and what every request does
waits for nobody who changes keys, teams and members either."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from secrets import token_hex
from typing import Any

import pytest

from holdfast.domain.records import NO_HUB
from holdfast.engine.people import keys, members, teams
from holdfast.engine.upkeep import model_usage
from holdfast.llm import Usage
from holdfast.store.postgres import PostgresStore, connections
from tests.edges.http.conftest import House
from tests.postgres_server import ROLE, database

psycopg = pytest.importorskip("psycopg")

Doing = Callable[[House], object]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home = tmp_path_factory.mktemp("home")
    with (
        pytest.MonkeyPatch.context() as patch,
        database(ROLE) as url,
        ExitStack() as stack,
    ):
        patch.setenv("HOLDFAST_HOME", str(home))
        house = stack.enter_context(House(url))  # type: ignore[arg-type]
        house.url = url  # type: ignore[attr-defined]
        house.hub.remember("Likes tea")
        house.hub.remember("Lives in Porto")
        house.other = house.memory.create_hub("other")  # type: ignore[attr-defined]
        house.secret = house.key()  # type: ignore[attr-defined]
        house.unused = [house.key() for _ in range(4)]  # type: ignore[attr-defined]
        teams.create_org(house.memory.core, "Org")
        yield house


@pytest.fixture
def another_machine(house: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """A store of its own. Whoever waits for it gives up at once, with an error."""
    store = PostgresStore(house.url)
    monkeypatch.setattr(connections, "BUSY_WAIT_S", 0.2)
    yield store
    store.close()


def _asked(house: Any, path: str, body: dict[str, Any], **headers: str) -> None:
    answer = house.ask(house.secret).post(path, body, headers=headers)
    assert answer.status_code < 300, answer.text


def _key_is_used(house: Any) -> None:
    secret = house.unused.pop()
    key = keys.find_key(house.memory.core, secret)
    assert key is not None
    (kept,) = [one for one in keys.keys(house.memory.core) if one.id == key.id]
    assert kept.used_at is not None, "counters are dropped where somebody writes"


def _shown_is_counted(house: Any) -> None:
    before = house.hub.list()[0].shown_count
    house.memory.core.count_shown(house.hub.id, [house.hub.list()[0].id])
    house.memory.core.write_counters()
    assert house.hub.list()[0].shown_count == before + 1


# What requests do all the time.
HOT: dict[str, Doing] = {
    "remember": lambda house: house.hub.remember("Lives in Lisbon"),
    "remember many": lambda house: house.hub.remember_many(["One", "Two"]),
    "recall": lambda house: house.hub.recall("tea"),
    "get": lambda house: house.hub.get(1),
    "update": lambda house: house.hub.update(1, pinned=True),
    "forget and undo": lambda house: (house.hub.forget(1), house.hub.undo()),
    "log a turn": lambda house: house.hub.log_turn("user", "Hello"),
    "observe a turn": lambda house: house.hub.observe_turn("I like figs.", "Noted."),
    "context": lambda house: house.hub.context(),
    "shown counts": _shown_is_counted,
    "the use of a key": _key_is_used,
    "a request by key": lambda house: _asked(house, "/v1/recall", {"query": "tea"}),
    "a write by key": lambda house: _asked(house, "/v1/memories", {"content": "Likes figs"}),
    "a write under an idempotency key": lambda house: _asked(
        house, "/v1/memories", {"content": "Likes dates"}, **{"Idempotency-Key": token_hex(8)}
    ),
}
# What is about one hub, or about none, and is asked for now and then.
ORDINARY: dict[str, Doing] = {
    "the same request again": lambda house: [
        _asked(house, "/v1/log", {"role": "user", "content": "x"}, **{"Idempotency-Key": "k2"})
        for _ in range(2)
    ],
    "a decision": lambda house: house.hub.decide(
        house.hub.request_decision("Tabs?", ["yes", "no"]).memory.id, "yes"
    ),
    "review": lambda house: house.hub.review(),
    "consolidate": lambda house: house.hub.consolidate(),
    "compact": lambda house: house.hub.compact(),
    "a member": lambda house: members.set_member(
        house.memory.core, "hub", house.hub.id, "ann", "viewer"
    ),
    "no member": lambda house: (
        members.set_member(house.memory.core, "hub", house.hub.id, "bob", "viewer"),
        members.remove_member(house.memory.core, "hub", house.hub.id, "bob"),
    ),
    "an invitation": lambda house: members.accept(
        house.memory.core,
        members.invite(house.memory.core, "hub", house.hub.id, "viewer").secret,
        "cleo",
    ),
    "a new key": lambda house: keys.revoke_key(
        house.memory.core, keys.create_key(house.memory.core, "one").what.id
    ),
    "a team": lambda house: teams.rename_team(
        house.memory.core,
        teams.create_team(house.memory.core, teams.orgs(house.memory.core)[0].id, "Blue").id,
        "Green",
    ),
    "what a model cost": lambda house: _usage(house),
    "upkeep": lambda house: house.hub.lifecycle(),
}


def _usage(house: Any) -> None:
    core = house.memory.core
    with core.store.write(hub=house.hub.id) as writer:
        model_usage.record(core, writer, house.hub.id, "journal", "model", Usage(1))


@pytest.mark.parametrize("name", [*HOT, *ORDINARY])
def test_nobody_waits_for_a_writer_of_another_hub(
    house: Any, another_machine: PostgresStore, name: str
) -> None:
    with another_machine.write(hub=house.other.id) as writer:
        writer.take_numbers(house.other.id, 1)
        (HOT | ORDINARY)[name](house)


@pytest.mark.parametrize("name", HOT)
def test_no_request_waits_for_who_writes_what_belongs_to_no_hub(
    house: Any, another_machine: PostgresStore, name: str
) -> None:
    with another_machine.write(hub=NO_HUB) as writer:
        writer.record(NO_HUB, "key", "none")
        HOT[name](house)


def test_the_whole_store_is_still_locked_by_who_needs_it(
    house: Any, another_machine: PostgresStore
) -> None:
    """Or the tests above could not fail."""
    from holdfast.errors import StoreBusy

    with another_machine.write() as writer:
        writer.hubs()
        with pytest.raises(StoreBusy):
            house.hub.remember("Waits")
    with another_machine.write(hub=house.hub.id), pytest.raises(StoreBusy):
        house.hub.remember("Waits")
