"""The stream of changes, from a real server to a real client."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from holdfast.edges.http import changes
from holdfast.engine import change_feed
from holdfast.engine.people import keys, members
from holdfast.errors import ServerUnreachable, StoreBusy
from holdfast.passes.work import work_until_done
from tests.edges.http.conftest import House
from tests.edges.http.serving import served

# A stream has something to say every 15 s, so that no time-out ends a wait for the wrong event.
_LISTEN_S = 60.0


class Server:
    def __init__(self, house: House, url: str, folder: Path) -> None:
        self.house = house
        self.url = url
        self.folder = folder

    @contextmanager
    def listening(self, key: str, **headers: str) -> Iterator[Iterator[tuple[str, Any, str]]]:
        """Events as (name, data, id); it is listening once this begins."""
        sent = {"Authorization": f"Bearer {key}", "X-Hub-ID": self.house.hub.id, **headers}
        with (
            httpx2.Client(base_url=self.url, timeout=20) as client,
            client.stream("GET", "/v1/events", headers=sent) as answer,
        ):
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            assert next(lines) == ": listening"
            yield self._events(lines)

    @staticmethod
    def _events(lines: Iterator[str]) -> Iterator[tuple[str, Any, str]]:
        fields: dict[str, str] = {}
        ends = time.monotonic() + _LISTEN_S
        for line in lines:
            assert time.monotonic() < ends, "what was waited for is no event"
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "event" in fields:
                yield fields["event"], json.loads(fields["data"]), fields.get("id", "")
                fields = {}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(changes, "_EVERY_S", 0.02)
    house = House(tmp_path)
    with served(house.app) as url:
        yield Server(house, url, tmp_path)
    house.memory.close()


def test_a_change_made_by_another_process_arrives(server: Server) -> None:
    code = (
        "import sys, holdfast\n"
        "with holdfast.open(sys.argv[1], settings={'embed.model': 'none'}) as memory:\n"
        "    print(memory.hub('plans').remember('From elsewhere').memory.id)"
    )
    with server.listening(server.house.key()) as told:
        done = subprocess.run(
            [sys.executable, "-c", code, str(server.folder)],
            capture_output=True,
            text=True,
            check=True,
        )
        name, data, event_id = next(told)
    assert name == "change"
    assert data["change"]["id"] == event_id
    assert data["change"]["action"] == "remember"
    assert data["memories"] == [{"id": done.stdout.strip(), "version": 1}]


def test_a_store_that_is_away_for_a_moment_ends_no_stream(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = changes._since
    away = iter([ServerUnreachable("Another server takes over."), StoreBusy("Busy.")])

    def since(*given: Any) -> Any:
        for error in away:
            raise error
        return looked(*given)

    monkeypatch.setattr(changes, "_since", since)
    with server.listening(server.house.key()) as told:
        server.house.hub.remember("After that")
        assert next(told)[0] == "change"


def test_changes_come_in_order_and_only_new_ones(server: Server) -> None:
    hub = server.house.hub
    hub.remember("Before")
    with server.listening(server.house.key()) as told:
        made = [hub.remember(f"After {number}").memory.id for number in range(5)]
        seen = [next(told)[1]["memories"][0]["id"] for _ in made]
    assert seen == made


def test_a_listener_comes_back_to_where_it_was(server: Server) -> None:
    hub = server.house.hub
    hub.remember("One")
    last = hub.changes()[0].id
    two, three = hub.remember("Two").memory, hub.remember("Three").memory
    with server.listening(server.house.key(), **{"Last-Event-ID": last}) as told:
        seen = [next(told)[1]["memories"][0]["id"] for _ in range(2)]
    assert seen == [two.id, three.id]


@pytest.mark.parametrize("last", ["chg_00000000000000000000", "x" * 500, "0"])
def test_who_was_away_for_too_long_is_told_to_look(server: Server, last: str) -> None:
    hub = server.house.hub
    hub.remember("One")
    with server.listening(server.house.key(), **{"Last-Event-ID": last}) as told:
        name, _, event_id = next(told)
        assert (name, event_id) == ("missed", hub.changes()[0].id)
        two = hub.remember("Two").memory
        assert next(told)[1]["memories"][0]["id"] == two.id


def test_a_purge_is_an_event_that_tells_nothing_of_what_it_was(server: Server) -> None:
    hub = server.house.hub
    old = hub.remember("The first zebra").memory
    hub.purge(old.id)
    gone = hub.remember("The second zebra").memory
    ben = server.house.member("ben", "viewer")
    with server.listening(ben) as told:
        hub.purge(gone.id, reason="the zebra is out")
        name, data, _ = next(told)
        assert name == "purge"
        (receipt,) = data["receipts"]
        assert (receipt["memory_id"], receipt["actor"]) == (gone.id, "olga")
        assert "zebra" not in json.dumps(data)
        # With the memory the change is gone that was told last: so there may be more.
        assert next(told)[0] == "missed"
        other = hub.remember("Another").memory
        assert next(told)[1]["memories"] == [{"id": other.id, "version": 1}]
        hub.purge(other.id)
        assert [one["memory_id"] for one in next(told)[1]["receipts"]] == [other.id]


def test_a_listener_who_comes_back_is_told_of_purges_since(server: Server) -> None:
    hub = server.house.hub
    gone = hub.remember("One").memory
    hub.purge(hub.remember("Before").memory.id)
    hub.remember("Two")
    last = hub.changes()[0].id
    hub.purge(gone.id)
    with server.listening(server.house.key(), **{"Last-Event-ID": last}) as told:
        assert [one["memory_id"] for one in next(told)[1]["receipts"]] == [gone.id]


def test_a_purge_in_the_middle_of_a_look_is_told_before_what_is_missed_by_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = server.house.hub
    hub.remember("The first zebra")
    gone = hub.remember("The second zebra").memory
    look = change_feed.changes_since
    purged: list[str] = []

    def purge_and_look(*given: Any) -> Any:
        if not purged:
            purged.append(hub.purge(gone.id).memory_id)
        return look(*given)

    with server.listening(server.house.member("ben", "viewer")) as told:
        monkeypatch.setattr(change_feed, "changes_since", purge_and_look)
        assert [next(told)[0] for _ in range(2)] == ["purge", "missed"]


def test_a_purge_is_no_event_for_who_is_no_member(server: Server) -> None:
    hub, memory = server.house.hub, server.house.memory
    memory.create_org("Acme")
    memory.set_member("olaf", "viewer", org="Acme")
    memory.share("plans", org="Acme")
    with server.listening(server.house.key("olaf")) as told:
        gone = hub.remember("Gone", boundary="org").memory
        assert next(told)[0] == "change"
        hub.purge(gone.id)
        # The change is gone that was told last: so there may be more, and what there is by now is
        # not told. What comes from now on is.
        assert next(told)[0] == "missed"
        seen = hub.remember("For all", boundary="org").memory
        name, data, _ = next(told)
        assert (name, data["memories"]) == ("change", [{"id": seen.id, "version": 1}])


def test_what_is_private_to_others_is_no_event(server: Server) -> None:
    hub = server.house.hub
    ben = server.house.member("ben", "contributor")
    with server.listening(ben) as told:
        hub.remember("A secret", boundary="private")
        seen = hub.remember("For all").memory
        hub.remember_many([{"content": "Mine", "boundary": "private"}, {"content": "Ours"}])
        first, second = next(told)[1], next(told)[1]
    assert [row["id"] for row in first["memories"]] == [seen.id]
    # Of a change that touched both, what may be seen is told.
    (row,) = second["memories"]
    assert hub.get(row["id"]).content == "Ours"


def test_a_key_that_is_revoked_ends_its_stream(server: Server) -> None:
    core = server.house.memory.core
    handed = keys.create_key(core, "laptop")
    with server.listening(handed.secret) as told:
        keys.revoke_key(core, handed.what.id)
        assert [name for name, _, _ in told] == ["end"]


def test_who_is_sent_away_hears_no_more(server: Server) -> None:
    ben = server.house.member("ben", "viewer")
    with server.listening(ben) as told:
        members.remove_member(server.house.memory.core, "hub", server.house.hub.id, "ben")
        server.house.hub.remember("After he left")
        assert [name for name, _, _ in told] == ["end"]


@pytest.mark.parametrize("becomes", [None, "admin"], ids=["removed", "another role"])
def test_what_was_read_before_somebody_was_sent_away_is_not_told_after(
    server: Server, monkeypatch: pytest.MonkeyPatch, becomes: str | None
) -> None:
    house = server.house
    core, hub = house.memory.core, house.hub.id
    ben = house.member("ben", "viewer")
    read = change_feed.news_since
    found: list[int] = []

    def news_since(*given: Any, **named: Any) -> Any:
        news = read(*given, **named)
        if news.changes and not any(found):
            if becomes is None:
                members.remove_member(core, "hub", hub, "ben")
            else:
                members.set_member(core, "hub", hub, "ben", becomes)
        found.append(len(news.changes))
        return news

    monkeypatch.setattr(change_feed, "news_since", news_since)
    with server.listening(ben) as told:
        house.hub.remember("While he leaves")
        name = next(told)[0]
    # With another role it is read again, as that role sees it.
    assert name == ("end" if becomes is None else "change")
    assert sum(count > 0 for count in found) == (1 if becomes is None else 2)


@pytest.mark.parametrize("limit", ["_LISTENERS_MAX", "_LISTENERS_EACH"])
def test_streams_are_counted_and_the_next_is_told_to_come_back(
    server: Server, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(changes, limit, 1)
    key = server.house.key()
    headers = {"Authorization": f"Bearer {key}", "X-Hub-ID": server.house.hub.id}
    with server.listening(key), httpx2.Client(base_url=server.url) as client:
        answer = client.get("/v1/events", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "overloaded")
        assert answer.headers["Retry-After"]


def test_the_streams_of_one_do_not_take_the_place_of_others(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_LISTENERS_EACH", 1)
    ben = server.house.member("ben", "viewer")
    with server.listening(server.house.key()), server.listening(ben) as told:
        seen = server.house.hub.remember("For both").memory
        assert next(told)[1]["memories"][0]["id"] == seen.id


def test_a_server_that_stops_ends_its_streams(server: Server) -> None:
    with server.listening(server.house.key()) as told:
        server.house.app.state.stopping.set()
        assert list(told) == []


def test_a_file_that_was_read_is_an_event_of_its_own_and_told_once(server: Server) -> None:
    house = server.house
    vera = house.member("vera", "viewer")
    with server.listening(house.key()) as hers, server.listening(vera) as veras:
        secret = house.hub.remember_file(io.BytesIO(b"x"), name="b.txt", boundary="private").memory
        made = house.hub.remember_file(io.BytesIO(b"The heron."), name="a.txt").memory
        assert [next(hers)[0], next(hers)[0]] == ["change", "change"]
        work_until_done(house.memory.core, house.memory.home)
        read: dict[str, Any] = {}
        while len(read) < 2:
            name, data, event_id = next(hers)
            assert (name, event_id) == ("text", "")
            read |= {one["id"]: one for one in data["memories"]}
        assert set(read) == {secret.id, made.id}
        assert (read[made.id]["state"], read[made.id]["version"]) == ("active", 2)
        note = house.hub.remember("a note").memory
        # Nothing is told twice: the next event is the note.
        assert next(hers)[1]["memories"][0]["id"] == note.id
        told = [next(veras), next(veras), next(veras)]
        # What came between two looks is told in one: the changes first.
        assert sorted(name for name, _, _ in told) == ["change", "change", "text"]
        texts = [data for name, data, _ in told if name == "text"]
        assert [one["id"] for one in texts[0]["memories"]] == [made.id]
