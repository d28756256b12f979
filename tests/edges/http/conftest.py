"""A real server to ask: an open memory, the app over it, and people with keys."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from starlette.testclient import TestClient

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory
from holdfast.edges.http.limits import Limits
from holdfast.engine.people import keys, members
from tests.edges.http.apps import make_app

if TYPE_CHECKING:
    from tests.edges.http.permissions import Scene, Scenes

# More than any test asks for in a minute.
PATIENT = Limits(per_minute=1_000_000)
OWNER = "olga"


class House:
    """A memory with a hub of Olga's and the app over it. `key` lets people in; `ask` is a client
    of one of them, who means that hub."""

    def __init__(
        self,
        folder: Path,
        limits: Limits = PATIENT,
        *,
        client: TestClient | None = None,
        asked: LoopClient | None = None,
        **settings: Any,
    ) -> None:
        self.memory: Holdfast = open_memory(
            folder, settings={"embed.model": "none", "actor": OWNER, **settings}
        )
        self.hub: HubMemory = self.memory.create_hub("plans")
        self._lent = client is not None
        self.client = client_of(self.memory, limits) if client is None else client
        self._asked: TestClient | LoopClient = asked or self.client
        self.app: Any = self.client.app
        self.app.state.memory = self.memory

    def key(self, actor: str = OWNER, **limits: Any) -> str:
        return keys.create_key(self.memory.core, f"of {actor}", actor=actor, **limits).secret

    def member(self, actor: str, role: str) -> str:
        """Somebody with a role in the hub, and a key of theirs."""
        members.set_member(self.memory.core, "hub", self.hub.id, actor, role)
        return self.key(actor)

    def ask(self, key: str | None = None, hub: str | None = None) -> Asking:
        return Asking(self._asked, key or self.key(), self.hub.id if hub is None else hub)

    def __enter__(self) -> House:
        if not self._lent:
            self.client.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._lent:
            self.client.__exit__()
        self.memory.close()


def client_of(memory: Holdfast | None, limits: Limits = PATIENT) -> TestClient:
    app = make_app(memory, limits=limits)
    # What breaks in a route is the server's to answer, as it is for a client on the network.
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


class LoopClient:
    """Asks an app in a loop of this thread. A TestClient hands each request to another thread and
    takes twice the processor time; here only requests of other threads go to one."""

    def __init__(self, client: TestClient) -> None:
        self._of_others = client
        self._thread = threading.get_ident()
        self._loop = asyncio.new_event_loop()
        # What breaks in a route is the server's to answer.
        transport = httpx2.ASGITransport(app=client.app, raise_app_exceptions=False)
        self._client = httpx2.AsyncClient(transport=transport, base_url="http://localhost")

    def request(self, method: str, path: str, **given: Any) -> Any:
        if threading.get_ident() != self._thread:
            return self._of_others.request(method, path, **given)
        return self._loop.run_until_complete(self._client.request(method, path, **given))

    def close(self) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


class Asking:
    """A client with somebody's key and a hub in its headers."""

    def __init__(self, client: TestClient | LoopClient, key: str, hub: str) -> None:
        self._client = client
        self.key = key
        self.headers = {"Authorization": f"Bearer {key}"}
        if hub:
            self.headers["X-Hub-ID"] = hub

    def __call__(self, method: str, path: str, **given: Any) -> Any:
        headers = {**self.headers, **given.pop("headers", {})}
        return self._client.request(method, path, headers=headers, **given)

    def get(self, path: str, **given: Any) -> Any:
        return self("GET", path, **given)

    def post(self, path: str, body: Any = None, **given: Any) -> Any:
        return self("POST", path, json=body, **given)

    def push(self, content: str, **fields: Any) -> dict[str, Any]:
        """A memory that was taken in."""
        answer = self.post("/v1/memories", {"content": content, **fields})
        assert answer.status_code in (200, 201), answer.text
        told: dict[str, Any] = answer.json()["data"]
        return told


@pytest.fixture(scope="session")
def _served() -> Iterator[TestClient]:
    """One app for all tests: making it takes far longer than opening a memory for it."""
    with client_of(None) as client:
        yield client


@pytest.fixture(scope="session")
def _asked(_served: TestClient) -> Iterator[LoopClient]:
    with contextlib.closing(LoopClient(_served)) as client:
        yield client


@pytest.fixture
def house(tmp_path: Path, _served: TestClient, _asked: LoopClient) -> Iterator[House]:
    with House(tmp_path, client=_served, asked=_asked) as open_house:
        yield open_house


@pytest.fixture
def ask(house: House) -> Asking:
    """Olga, who owns the hub."""
    return house.ask()


@pytest.fixture
def open_house(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Makes a house with limits or settings of its own."""
    with contextlib.ExitStack() as stack:
        made = 0

        def make(limits: Limits = PATIENT, **settings: Any) -> House:
            nonlocal made
            made += 1
            return stack.enter_context(House(tmp_path / str(made), limits, **settings))

        yield make


@pytest.fixture(scope="module")
def scenes(homes: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenes]:
    from tests.edges.http.permissions import Scenes

    with contextlib.closing(Scenes(lambda: tmp_path_factory.mktemp("scene"))) as made:
        yield made


@pytest.fixture
def scene(scenes: Scenes) -> Scene:
    return scenes.current()
