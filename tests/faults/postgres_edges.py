"""The same request through three edges, on a PostgreSQL that something is wrong with: what the
library raises, what the command line prints and ends with, what the REST server answers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import psycopg
from starlette.testclient import TestClient

from holdfast.api.memory import Holdfast
from holdfast.errors import HoldfastError

PATIENCE_S = 30.0
SETTINGS = {"embed.model": "none", "actor": "olga"}


def url_of(url: str, **parts: str) -> str:
    """The same place with other words: another user, another password."""
    given = {**psycopg.conninfo.conninfo_to_dict(url), **parts}
    return f"postgresql://?{urlencode(given, quote_via=quote)}"


class Answer(NamedTuple):
    """What came back. `code` is what a program acts on: the name of the error (library), the exit
    code (command line), the status (REST); '' or 0 or 2xx where it was done."""

    code: str | int
    name: str = ""
    said: str = ""
    hint: str = ""
    later: bool = False

    @property
    def done(self) -> bool:
        return self.code in ("", 0, 200, 201)


Ask = Callable[[str], Answer]


def library(memory: Holdfast) -> Ask:
    def remember(text: str) -> Answer:
        try:
            memory.hub("plans").remember(text)
        except HoldfastError as error:
            name = type(error).__name__
            return Answer(name, name, error.message, error.hint)
        return Answer("")

    return remember


def command_line(url: str, home: Path) -> Ask:
    """A process of its own for each call, as a person has it."""

    def remember(text: str) -> Answer:
        words = ["remember", text, "--hub", "plans", "--json"]
        ran = run_command(words, url, home)
        if ran.returncode == 0:
            return Answer(0)
        told = json.loads(ran.stderr)["error"]
        return Answer(ran.returncode, told["code"], told["message"], told["hint"])

    return remember


def run_command(words: list[str], url: str, home: Path) -> subprocess.CompletedProcess[str]:
    given = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("HOLDFAST_", "PG"))},
        "HOLDFAST_HOME": str(home),
        "HOLDFAST_STORE_URL": url,
        "HOLDFAST_EMBED_MODEL": "none",
        "HOLDFAST_ACTOR": "olga",
    }
    return subprocess.run(
        [sys.executable, "-m", "holdfast.edges.cli", *words],
        env=given,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * 2,
        check=False,
    )


def rest(client: TestClient, memory: Holdfast, key: str) -> Ask:
    hub = memory.hub("plans").id

    def remember(text: str) -> Answer:
        client.app.state.memory = memory  # type: ignore[attr-defined]
        headers = {"Authorization": f"Bearer {key}", "X-Hub-ID": hub}
        answer = client.post("/v1/memories", json={"content": text}, headers=headers)
        later = "retry-after" in answer.headers
        if answer.status_code < 300:
            return Answer(answer.status_code)
        told = answer.json()["error"]
        return Answer(answer.status_code, told["code"], told["message"], told["hint"], later)

    return remember


@contextmanager
def answering(ask: Ask, text: str) -> Iterator[Callable[[], Answer]]:
    """Asks beside this thread; what the block is given waits for the answer."""
    came: list[Answer] = []
    asking = threading.Thread(target=lambda: came.append(ask(text)))
    asking.start()

    def answer() -> Answer:
        asking.join(PATIENCE_S)
        assert not asking.is_alive(), "no answer in time"
        return came[0]

    try:
        yield answer
    finally:
        asking.join(PATIENCE_S)


_WAITS = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


class Stranger:
    """Somebody else on the same database, who holds what a write needs in its middle: rows of
    memories go in after the writer has its turn, and before it has ended."""

    def __init__(self, url: str) -> None:
        self._holding = psycopg.connect(url)
        self._looking = psycopg.connect(url, autocommit=True)

    def hold(self) -> None:
        self._holding.execute("LOCK TABLE holdfast.memories IN SHARE ROW EXCLUSIVE MODE")

    def victim(self) -> int:
        """Who waits for what is held, once somebody does."""
        return int(self._asked(f"SELECT pid {_WAITS} AND wait_event = 'relation'"))

    def waiting(self, count: int) -> None:
        """Waits until so many wait, for what is held or for each other."""
        self._asked(f"SELECT count(*) {_WAITS} HAVING count(*) = {count}")

    def _asked(self, query: str) -> Any:
        ends = time.monotonic() + PATIENCE_S
        while (row := self._looking.execute(query).fetchone()) is None:
            assert time.monotonic() < ends, "nobody waits"
            threading.Event().wait(0.01)
        return row[0]

    def end(self, pid: int) -> None:
        self._looking.execute("SELECT pg_terminate_backend(%s)", (pid,))

    def want(self, lock_class: int) -> None:
        """Asks for what a writer holds, and so closes the circle."""
        self._holding.execute("SELECT pg_advisory_xact_lock(%s::int, 0)", (lock_class,))

    def let_go(self) -> None:
        self._holding.rollback()

    def close(self) -> None:
        self._holding.close()
        self._looking.close()


class Line:
    """A line over TCP to a server, which can be cut while something is under way."""

    def __init__(self, url: str) -> None:
        given = psycopg.conninfo.conninfo_to_dict(url)
        self._host = str(given["host"])
        self._port = int(given.get("port") or 5432)
        self._ends: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = str(self._listener.getsockname()[1])
        self.url = url_of(url, host="127.0.0.1", port=port)
        self._serving = threading.Thread(target=self._serve, daemon=True)
        self._serving.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = self._to_server()
                self._ends += [client, server]
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _to_server(self) -> socket.socket:
        if not self._host.startswith("/"):
            return socket.create_connection((self._host, self._port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{self._host}/.s.PGSQL.{self._port}")
        return server

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while sent := one.recv(65536):
                other.sendall(sent)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """Every connection ends without a word; new ones may be made."""
        while self._ends:
            with self._ends.pop() as end, suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._serving.join()
        self._listener.close()
        self.cut()
