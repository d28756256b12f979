"""A real server on a free port of this machine, for tests of what talks to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
import uvicorn

import holdfast
from holdfast.client.connection import read_body
from holdfast.edges.http.limits import Limits
from holdfast.engine.people import keys
from tests.edges.http.apps import make_app

# Generous: a server that is not up by then will never be.
_UP_S = 20.0


class Served(NamedTuple):
    """A server that runs, and the memory behind it."""

    url: str
    memory: holdfast.Holdfast

    def key(self, name: str = "test", **scope: object) -> str:
        """The secret of a new key."""
        return keys.create_key(self.memory.core, name, **scope).secret  # type: ignore[arg-type]


@contextmanager
def served(
    home: Path, *, key_needed: bool = False, limits: Limits | None = None, model: str = "none"
) -> Iterator[Served]:
    """Serves a home folder until the block ends."""
    with holdfast.open(home, settings={"embed.model": model, "actor": "ada"}) as memory:
        app = make_app(memory, key_needed=key_needed, limits=limits)
        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="on")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        ends = time.monotonic() + _UP_S
        while not server.started:
            assert thread.is_alive() and time.monotonic() < ends, "the server did not start"
            thread.join(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield Served(f"http://127.0.0.1:{port}", memory)
        finally:
            server.should_exit = True
            thread.join(_UP_S)


def lose_an_answer(client: holdfast.Client, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The next answer that the client reads is lost; then what is returned is empty."""
    lost = ["one"]

    def lose_the_first(*args: Any, **values: Any) -> Any:
        answer = read_body(*args, **values)
        if lost:
            lost.clear()
            raise httpx2.ReadError("lost")
        return answer

    monkeypatch.setattr("holdfast.client.connection.read_body", lose_the_first)
    monkeypatch.setattr(client.server, "_sleep", lambda _: None)
    return lost
