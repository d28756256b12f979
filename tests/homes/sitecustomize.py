"""Puts the memories of every home into a database of its own, in this process: the folder stays
where it is, and what would be its memory.db is a database named for the folder.

Python runs this file at the start of each process that a test on PostgreSQL starts, as its folder
is on PYTHONPATH; the tests themselves import it. It knows nothing of pytest, and does nothing where
the variable HOMES is not set.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

# What a process has to know, as JSON; see `Told`.
HOMES = "HOLDFAST_TEST_HOMES"
_STORE_URL = "HOLDFAST_STORE_URL"
_ANY_STORE = "memory:"


class Told:
    """Where the databases are: how those who own them and those who use them connect, and what
    those of this run are called."""

    def __init__(self, text: str) -> None:
        told = json.loads(text)
        self.text = text
        self.owner: str = told["owner"]
        self.user: str = told["user"]
        self.front: str = told["front"]

    def owner_of(self, name: str) -> str:
        return self.owner.replace("/postgres?", f"/{name}?", 1)

    def url_of(self, home: str) -> str:
        return self.user.format(database=self.name_of(home))

    def name_of(self, home: str) -> str:
        from hashlib import blake2b

        named = blake2b(os.path.realpath(home).encode(), digest_size=10).hexdigest()
        return f"{self.front}_home_{named}"

    def is_home(self, name: str) -> bool:
        return name.startswith(f"{self.front}_home_")

    @property
    def template(self) -> str:
        return f"{self.front}_template"


def claim(told: Told, name: str) -> None:
    """Sees to it that a home's database is there: an empty one is given its name, or it is copied
    from the template. Several processes may want the same one at the same moment."""
    import psycopg

    errors = psycopg.errors
    with psycopg.connect(told.owner, autocommit=True) as owner:
        query = "SELECT datname FROM pg_database WHERE datname = %s OR starts_with(datname, %s)"
        there = [row[0] for row in owner.execute(query, (name, f"{told.front}_free_"))]
        if name in there:
            return
        for free in there:
            try:
                owner.execute(f"ALTER DATABASE {free} RENAME TO {name}")
                return
            except errors.DuplicateDatabase:
                return
            except (errors.InvalidCatalogName, errors.ObjectInUse):
                continue
        _copy(owner, told.template, name)


def _copy(owner: Any, template: str, name: str) -> None:
    import psycopg

    # Two copies at once wait for each other on the server, and one may be told to try again.
    for _ in range(50):
        try:
            # Before 15 there is no other way, and no word for it.
            how = "STRATEGY FILE_COPY" if owner.info.server_version >= 150000 else ""
            owner.execute(f"CREATE DATABASE {name} TEMPLATE {template} {how}")
            return
        except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            return
        except psycopg.errors.ObjectInUse:
            continue
    raise RuntimeError(f"the database {template} is in use, and cannot be copied")


# The folders of databases that this process has named, and those it has seen to.
FOLDERS: dict[str, str] = {}
CLAIMED: set[str] = set()
# Called before a database is asked for; the tests make room here.
BEFORE_CLAIM: list[Callable[[], None]] = []


def _of_a_home(
    path: str, environ: Mapping[str, str], flags: Mapping[str, Any]
) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """The environment and the flags with the database of a home, where nothing names another store.
    A test that asks for a store in memory would take any, and wants a fast one."""
    from holdfast.settings import read_file

    # Not from `environ`: a home that is read as a source is without any.
    there = os.environ.get(HOMES)
    if there is None or _STORE_URL in environ or flags.get("store.url") not in (None, _ANY_STORE):
        return environ, flags
    if "store.url" in read_file(path):
        return environ, flags
    told, home = Told(there), os.path.dirname(path)
    FOLDERS[told.name_of(home)] = home
    return {**environ, _STORE_URL: told.url_of(home)}, {**flags, "store.url": None}


def redirect() -> None:
    """From here on every home of this process has its memories in a database."""
    from holdfast import settings, wiring

    loaded = settings.Settings.__init__
    opened = wiring._open_postgres

    def load(
        self: settings.Settings, path: str, environ: Mapping[str, str], flags: Mapping[str, Any]
    ) -> None:
        loaded(self, path, *_of_a_home(path, environ, flags))

    def open_(url: str, *given: Any) -> Any:
        name = url.rpartition("/")[2].partition("?")[0]
        text = os.environ.get(HOMES)
        if text and name not in CLAIMED and Told(text).is_home(name):
            for ready in BEFORE_CLAIM:
                ready()
            claim(Told(text), name)
            CLAIMED.add(name)
        return opened(url, *given)

    settings.Settings.__init__ = load  # type: ignore[method-assign]
    wiring._open_postgres = open_


if HOMES in os.environ:
    redirect()
