"""Lines that must be safe: a server that proves who it is is let in, any other is told of, at once
and without another try."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.memory import open as open_memory
from holdfast.errors import ServerUnreachable
from tests.postgres_server import Server, make_server, programs_with_tls

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("cryptography", reason="certificates are made with it")

from holdfast.store.postgres.pool import MonitoredConnection  # noqa: E402 - needs the extra
from tests.faults.certificates import Authority  # noqa: E402
from tests.faults.postgres_edges import SETTINGS, run_command, url_of  # noqa: E402

pytestmark = pytest.mark.faults

HOST = "db.example"


class Safe:
    """A server with a certificate for HOST, and the authority that signed it."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = str(free.getsockname()[1])
        self.server: Server = make_server(
            programs=programs_with_tls(), listen_addresses="127.0.0.1", port=self._port
        )
        self.authority = Authority(folder / "authority.pem", "the tests")
        self.other = Authority(folder / "other.pem", "somebody else")
        with (self.server.data / "pg_hba.conf").open("a") as rules:
            rules.write("hostssl all strict all trust\nhost all postgres all trust\n")
        self.certify()
        self.run("CREATE ROLE strict LOGIN")
        self.set_tls(on=True)

    def certify(self, ends: timedelta = timedelta(days=1)) -> None:
        data = self.server.data
        self.authority.sign(data, HOST, ends=ends)
        for name in ("server.crt", "server.key"):
            (data / name).chmod(0o600)
            shutil.chown(data / name, data.owner())

    def set_tls(self, *, on: bool) -> None:
        """Read again by the server, and by who connects from then on."""
        self.run(f"ALTER SYSTEM SET ssl = {'on' if on else 'off'}")
        self.server.stop()
        self.server.start()

    def run(self, statement: str) -> None:
        with psycopg.connect(self.server.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def url(self, **parts: str) -> str:
        """By the name of the certificate, whatever names this machine knows."""
        given = {
            "host": HOST,
            "hostaddr": "127.0.0.1",
            "port": self._port,
            "sslmode": "verify-full",
            "sslrootcert": str(self.authority.path),
        }
        return url_of("postgresql://postgres@/postgres", **{**given, **parts})


@pytest.fixture(scope="module")
def safe(tmp_path_factory: pytest.TempPathFactory) -> Safe:
    return Safe(tmp_path_factory.mktemp("authorities"))


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """One entry for each attempt to connect."""
    made: list[str] = []
    connect = MonitoredConnection.connect.__func__  # type: ignore[attr-defined]

    def connecting(
        cls: type[MonitoredConnection], conninfo: str = "", **values: Any
    ) -> MonitoredConnection:
        made.append(conninfo)
        found: MonitoredConnection = connect(cls, conninfo, **values)
        return found

    monkeypatch.setattr(MonitoredConnection, "connect", classmethod(connecting))
    yield made


def test_a_server_that_proves_who_it_is_is_let_in(safe: Safe, tmp_path: Path) -> None:
    with open_memory(tmp_path, settings={**SETTINGS, "store.url": safe.url()}) as memory:
        memory.hub().remember("The office is in Bonn")
        assert len(memory.hub().recall("office")) == 1
        with memory.core.store.read() as reader:
            connection = reader._session.connection
            asked = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            assert connection.execute(asked).fetchone() == (True,)
    ran = run_command(["recall", "office"], safe.url(), tmp_path)
    assert (ran.returncode, "Bonn" in ran.stdout) == (0, True)


UNSAFE = {
    "another name": ({"host": "other.example"}, f"is for {HOST} and not for other.example", "name"),
    "an unknown authority": ({"sslrootcert": "other.pem"}, "cannot be trusted", "sslrootcert=FILE"),
    "no file": ({"sslrootcert": "none.pem"}, "There is no file", "sslrootcert="),
    "in the clear": ({"user": "strict", "sslmode": "disable"}, "no encryption", "sslmode=require"),
    "a certificate that has ended": ({}, "its time is over", "until when it holds"),
    "no TLS": ({}, "offers no TLS", "ssl = on"),
}


@pytest.mark.parametrize("trouble", UNSAFE)
def test_a_line_that_is_not_safe_is_reported_at_once(
    safe: Safe, tmp_path: Path, attempts: list[str], trouble: str
) -> None:
    parts, words, advice = UNSAFE[trouble]
    if name := parts.get("sslrootcert"):
        parts = {**parts, "sslrootcert": str(safe.authority.path.with_name(name))}
    url = safe.url(**parts, password="hunter2")
    if trouble == "no TLS":
        safe.set_tls(on=False)
    if trouble == "a certificate that has ended":
        safe.certify(ends=-timedelta(days=1))
        safe.set_tls(on=True)
    try:
        with pytest.raises(ServerUnreachable) as caught:
            open_memory(tmp_path, settings={**SETTINGS, "store.url": url})
        # One of them shows that a command ends in the same way.
        ran = run_command(["recall", "office"], url, tmp_path) if trouble == "no TLS" else None
    finally:
        if not parts:
            safe.certify()
            safe.set_tls(on=True)
    assert words in caught.value.message
    assert advice in caught.value.hint
    assert not caught.value.again
    assert len(attempts) == 1
    assert "hunter2" not in str(caught.value)
    if ran is not None:
        assert ran.returncode == 6
        assert words in ran.stderr
        assert advice in ran.stderr
        assert "hunter2" not in ran.stderr
