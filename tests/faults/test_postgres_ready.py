"""What a `holdfast serve` says of itself while its database is stopped, frozen, and back again: the
process is up all the time, and it is ready as soon as its database is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager

import httpx2
import pytest

from tests.postgres_server import Server, spare_server
from tests.serve_process import serve_process

pytest.importorskip("psycopg")

pytestmark = pytest.mark.faults

_PATIENCE_S = 30.0
# What `/readyz` waits for its store is 1.5 s, what others do 15: a busy machine is in between.
_SOON_S = 8.0
# More than there are threads that work: who asks how we are must not wait for one.
_STUCK = 24


@pytest.fixture(scope="module")
def server() -> Server:
    return spare_server()


@pytest.fixture(scope="module")
def client(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    home = tmp_path_factory.mktemp("home")
    with (
        serve_process(home, HOLDFAST_STORE_URL=server.url("postgres")) as (address, _),
        httpx2.Client(base_url=address, timeout=_PATIENCE_S * 2) as opened,
    ):
        yield opened


@contextmanager
def _stopped(server: Server) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


@contextmanager
def _frozen(server: Server) -> Iterator[None]:
    with server.frozen():
        yield


@pytest.mark.parametrize("trouble", [_stopped, _frozen])
def test_a_server_says_whether_its_database_answers(
    server: Server,
    client: httpx2.Client,
    trouble: Callable[[Server], AbstractContextManager[None]],
) -> None:
    assert _asked(client, "/readyz") == 200
    with ThreadPoolExecutor(_STUCK) as others:
        with trouble(server):
            asked = [others.submit(client.get, "/v1/memories") for _ in range(_STUCK)]
            # In the second case more than look at the store at once.
            for _ in range(3 if trouble is _frozen else 1):
                assert _asked(client, "/readyz") == 503
                assert _asked(client, "/healthz") == 200
        ends = time.monotonic() + _SOON_S
        while _asked(client, "/readyz") != 200:
            assert time.monotonic() < ends, "it is not ready again"
            threading.Event().wait(0.05)
        # It was short: nobody was turned away.
        assert {one.result().status_code for one in asked} == {200}


def _asked(client: httpx2.Client, path: str) -> int:
    began = time.monotonic()
    status = client.get(path).status_code
    assert time.monotonic() - began < _SOON_S
    return status
