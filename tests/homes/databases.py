"""The databases of homes, for a test that runs on PostgreSQL: lent as homes are opened, emptied and
lent again when the test is over.

Emptying one takes 9 ms, copying one from the template 30 and dropping it as long.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.homes import sitecustomize as homes
from tests.postgres_server import PASSWORD, ROLE, Databases, databases

# Rows that were removed stay in the files, as nobody vacuums here: after so many tests a database
# is dropped.
_LENT_MAX = 25
# Whoever is not gone by then is told again by the server, or keeps the database.
_SEEN_OFF_S = 5.0
_FOLDER = str(Path(__file__).parent)


class Lent:
    """The databases of one pytest worker."""

    def __init__(self, server: Databases) -> None:
        import psycopg

        self._server = server
        self.told = homes.Told(
            json.dumps(
                {
                    "owner": _url(server.url("postgres")),
                    "user": _url(server.url("postgres"), user=ROLE, password=PASSWORD),
                    "front": f"holdfast_{os.getpid()}",
                }
            )
        )
        self._owner = psycopg.connect(self.told.owner, autocommit=True)
        self._made = 0
        # How often each database was lent; they keep their numbers, whatever they are called.
        self._uses: dict[int, int] = {}
        # Those that outlive the test that has opened them.
        self.kept: set[str] = set()
        self._tables = self._make_template()

    def _make_template(self) -> int:
        from holdfast.store.postgres import PostgresStore

        name = self._server.make_empty()
        # As a server would be set up; without it, each start of a server says so.
        if self._server.has_extension("vector"):
            self._server.execute("CREATE EXTENSION vector", name)
        # One part to a table: fewer files to copy and to empty.
        PostgresStore(self._server.url(name), partitions=1).close()
        self._server.let_in(name)
        tables = self._server.empty(name)
        self._owner.execute(f"ALTER DATABASE {name} RENAME TO {self.told.template}")
        return tables

    def variables(self) -> dict[str, str]:
        """What a process must be told so that its homes are here."""
        before = os.environ.get("PYTHONPATH")
        path = _FOLDER if not before else f"{_FOLDER}{os.pathsep}{before}"
        return {homes.HOMES: self.told.text, "PYTHONPATH": path}

    def in_use(self) -> dict[str, int]:
        """The homes' databases that there are, with their numbers."""
        query = "SELECT datname, oid::bigint FROM pg_database WHERE starts_with(datname, %s)"
        rows = self._owner.execute(query, (f"{self.told.front}_home_",))
        return {str(name): int(number) for name, number in rows}

    def take_back(self, names: dict[str, int]) -> None:
        for name, number in names.items():
            self._take_back(name, number)
            homes.CLAIMED.discard(name)

    def take_back_those_without_folder(self) -> None:
        """A property test opens a home for each example, and removes its folder."""
        gone = {
            name
            for name in homes.CLAIMED
            if name in homes.FOLDERS and not os.path.isdir(homes.FOLDERS[name])
        }
        if gone:
            self.take_back({n: number for n, number in self.in_use().items() if n in gone})

    def _take_back(self, name: str, number: int) -> None:
        import psycopg

        self._uses[number] = self._uses.get(number, 0) + 1
        self._see_off(name)
        if self._uses[number] >= _LENT_MAX or self._server.empty(name) != self._tables:
            return self._server.drop(name)
        self._see_off(name)
        try:
            self._owner.execute(f"ALTER DATABASE {name} RENAME TO {self.told.front}_free_{number}")
        except psycopg.errors.ObjectInUse:
            # A process that the test left behind is still there.
            self._server.drop(name)

    def _see_off(self, name: str) -> None:
        """Ends all connections to a database. The server itself waits for them in steps of 0.1 s,
        both where it ends them and where it renames what they were connected to."""
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        ends = time.monotonic() + _SEEN_OFF_S
        while self._owner.execute(query, (name,)).rowcount and time.monotonic() < ends:
            time.sleep(0.001)
        # It is off the list a moment before it is gone.
        time.sleep(0.001)

    def close(self) -> None:
        for name in [*self.in_use(), self.told.template]:
            self._server.drop(name)
        self._owner.close()


def _url(conninfo: str, **changed: str) -> str:
    """As a URL with `{database}` for the name, or with the name it has where nothing changes."""
    from psycopg.conninfo import conninfo_to_dict

    given = {name: str(value) for name, value in conninfo_to_dict(conninfo).items()}
    database = given.pop("dbname")
    if changed:
        database = "{database}"
        given |= changed
        if not given.get("password") or given.get("host", "").startswith("/"):
            given.pop("password", None)
    return f"postgresql:///{database}?{urlencode(given)}"


_LENT: list[Lent] = []


def lent() -> Lent:
    """Those of this worker; the server starts when it is first asked for."""
    if not _LENT:
        _LENT.append(Lent(databases()))
        homes.redirect()
        homes.BEFORE_CLAIM.append(_LENT[0].take_back_those_without_folder)
    return _LENT[0]


@contextmanager
def on_postgres() -> Iterator[None]:
    """In here, and in processes started in here, homes have their memories in databases; those
    that come to be in here are taken back at the end."""
    there = lent()
    before = there.in_use()
    outermost = homes.HOMES not in os.environ
    with pytest.MonkeyPatch.context() as patched:
        for name, value in there.variables().items():
            patched.setenv(name, value)
        yield
    if outermost:
        there.kept.clear()
    left = {n: number for n, number in there.in_use().items() if n not in before}
    there.take_back({n: number for n, number in left.items() if n not in there.kept})


@contextmanager
def kept_for_module() -> Iterator[None]:
    """Homes that a test opens in here have their databases until the tests of its module are over:
    for what is made by the first test that needs it."""
    if homes.HOMES not in os.environ:
        yield
        return
    before = lent().in_use()
    yield
    lent().kept.update(set(lent().in_use()) - set(before))
