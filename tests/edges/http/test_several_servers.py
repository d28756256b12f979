"""Several servers on one PostgreSQL database: what one takes in, the others know at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory
from holdfast.engine import jobs
from tests.edges.http.conftest import OWNER, Asking, House, client_of
from tests.postgres_server import ROLE, database

_SERVERS = 2
_EACH = 4


@pytest.fixture
def url() -> Iterator[str]:
    with database(ROLE) as found:
        yield found


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Asking]]:
    """A client of each, all with one key of the owner. Made once: making an app takes a while."""
    tmp_path = tmp_path_factory.mktemp("servers")
    with database(ROLE) as url, House(tmp_path / "first", **{"store.url": url}) as house:
        key = house.key()
        asking = [house.ask(key)]
        opened: list[Holdfast] = []
        for number in range(1, _SERVERS):
            # Homes of their own: only the database is shared.
            settings = {"embed.model": "none", "actor": OWNER, "store.url": url}
            opened.append(open_memory(tmp_path / f"home{number}", settings=settings))
            client = client_of(opened[-1])
            client.__enter__()
            asking.append(Asking(client, key, house.hub.id))
        yield asking
        for ask in asking[1:]:
            ask._client.__exit__()
        for memory in opened:
            memory.close()


def test_what_one_server_takes_in_the_others_recall(servers: list[Asking]) -> None:
    made = servers[0].post("/v1/memories", {"content": "The office is in Bonn", "key": "office"})
    assert made.status_code < 300, made.text
    for ask in servers:
        assert ask.get("/v1/memories/office").json()["data"]["content"] == "The office is in Bonn"
        assert "Bonn" in ask.post("/v1/recall", {"query": "office"}).text
    changed = servers[1]("PATCH", "/v1/memories/office", json={"content": "It is in Ulm"})
    assert changed.status_code < 300, changed.text
    assert servers[0].get("/v1/memories/office").json()["data"]["content"] == "It is in Ulm"


def test_writes_through_all_of_them_at_once_lose_nothing(servers: list[Asking]) -> None:
    start = threading.Barrier(_SERVERS)

    def push(number: int) -> None:
        start.wait(30)
        for count in range(_EACH):
            said = {"content": f"Note {count} of server {number}, about harbour {count}{number}"}
            answer = servers[number].post("/v1/memories", said)
            assert answer.status_code < 300, answer.text

    with ThreadPoolExecutor(_SERVERS) as pool:
        for done in [pool.submit(push, number) for number in range(_SERVERS)]:
            done.result(60)
    for ask in servers:
        listed = ask.get("/v1/memories", params={"limit": 100}).json()["data"]
        notes = [one for one in listed if one["content"].startswith("Note ")]
        assert len({one["content"] for one in notes}) == _SERVERS * _EACH
        assert len({one["number"] for one in listed}) == len(listed)


def test_a_write_sent_to_two_servers_with_one_key_is_done_once(servers: list[Asking]) -> None:
    key = {"Idempotency-Key": "once"}
    said = {"role": "user", "content": "Hello"}
    answers = [ask.post("/v1/log", said, headers=key) for ask in servers]
    assert {answer.status_code for answer in answers} == {answers[0].status_code}
    assert answers[0].status_code < 300
    assert len(servers[0].get("/v1/log").json()["data"]) == 1


def test_a_job_is_leased_by_one_worker_of_all(url: str, tmp_path: Path) -> None:
    settings = {"embed.model": "none", "store.url": url}
    opened = [open_memory(tmp_path / str(n), settings=settings) for n in range(_SERVERS)]
    hubs = [opened[0].create_hub(name) for name in ("one", "two")]
    core = opened[0].core
    for hub in hubs:
        with core.write() as writer:
            for _ in range(5):
                jobs.enqueue(core, writer, hub.id, jobs.EXTRACT, {})
    start = threading.Barrier(_SERVERS)

    def work(memory: Holdfast) -> list[str]:
        start.wait(30)
        taken = []
        while (job := jobs.lease(memory.core)) is not None:
            taken.append(job.id)
        return taken

    with ThreadPoolExecutor(_SERVERS) as pool:
        leased = [one for done in pool.map(work, opened) for one in done]
    assert len(leased) == len(set(leased)) == 10
    for memory in opened:
        memory.close()
