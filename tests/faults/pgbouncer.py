"""PgBouncer in front of the tests' server, by transaction, with settings of a test's own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import psycopg
import pytest

from tests.faults.postgres_edges import url_of
from tests.postgres_server import ROLE

_PATIENCE_S = 20.0
_SETTINGS = {
    "listen_addr": "127.0.0.1",
    "unix_socket_dir": "",
    "auth_type": "trust",
    "pool_mode": "transaction",
    # Fewer connections to the server than there are to the pooler, so that they change hands.
    "default_pool_size": "3",
}


class Pooler:
    """Stands before the server that a URL names; `url` leads through it."""

    def __init__(self, url: str, **settings: str) -> None:
        program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
        if program is None:
            pytest.skip("PgBouncer is not installed")
        self._program = program
        self._folder = Path(tempfile.mkdtemp(prefix="hfpb"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        self._behind = psycopg.conninfo.conninfo_to_dict(url)
        self._settings = {**_SETTINGS, **settings, "listen_port": port}
        self.url = url_of(url, host="127.0.0.1", port=port)
        # It refuses to run as root.
        self._user = "nobody" if os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self._write()
        self.start()

    def _write(self) -> None:
        given = self._settings | {
            "auth_file": str(self._folder / "users"),
            "logfile": str(self._folder / "log"),
        }
        host, port = self._behind["host"], self._behind.get("port") or 5432
        lines = ["[databases]", f"* = host={host} port={port}", "[pgbouncer]"]
        lines += [f"{name} = {value}" for name, value in given.items()]
        (self._folder / "settings").write_text("\n".join(lines) + "\n")
        users = sorted({ROLE, str(self._behind.get("user") or "postgres"), "postgres"})
        (self._folder / "users").write_text("".join(f'"{name}" ""\n' for name in users))
        if self._user is not None:
            shutil.chown(self._folder, self._user)

    def start(self) -> None:
        self._process = subprocess.Popen(
            [self._program, "-q", str(self._folder / "settings")],
            user=self._user,
            stderr=subprocess.DEVNULL,
        )
        ends = time.monotonic() + _PATIENCE_S
        while True:
            try:
                psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                assert time.monotonic() < ends, "the pooler did not start"
                threading.Event().wait(0.05)
            else:
                return

    def stop(self) -> None:
        """Without a word to those whom it serves."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)
