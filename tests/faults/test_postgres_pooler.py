"""A pooler between Holdfast and the server, which hands out another connection for each
transaction: everything works, and nothing of one transaction is left for the next."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.library import open as open_memory
from tests.postgres_server import ROLE, database, databases

psycopg = pytest.importorskip("psycopg")

from tests.faults.postgres_edges import url_of  # noqa: E402 - needs the extra `postgres`

pytestmark = pytest.mark.faults

_PATIENCE_S = 20.0
# Fewer connections to the server than there are to the pooler, so that they change hands.
_SETTINGS = """
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 3
logfile = {folder}/log
"""


@pytest.fixture
def pooled() -> Iterator[tuple[str, str]]:
    """The URL of a store as programs have it, through the pooler, and its owner's without."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed")
    folder = Path(tempfile.mkdtemp(prefix="hfpb"))
    with database() as owner, socket.create_server(("127.0.0.1", 0)) as free:
        own = free.getsockname()[1]
        free.close()
        given = psycopg.conninfo.conninfo_to_dict(owner)
        settings = _SETTINGS.format(
            host=given["host"], port=given.get("port", 5432), own=own, folder=folder
        )
        (folder / "settings").write_text(settings)
        (folder / "users").write_text(f'"{ROLE}" ""\n')
        # It refuses to run as root.
        user = "nobody" if os.geteuid() == 0 else None
        if user is not None:
            shutil.chown(folder, user)
        process = subprocess.Popen(
            [program, "-q", str(folder / "settings")], user=user, stderr=subprocess.DEVNULL
        )
        try:
            through = databases().url(str(given["dbname"]), ROLE)
            url = url_of(through, host="127.0.0.1", port=str(own))
            _until_it_answers(url)
            yield url, owner
        finally:
            process.kill()
            process.wait()
            shutil.rmtree(folder)


def _until_it_answers(url: str) -> None:
    ends = time.monotonic() + _PATIENCE_S
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            assert time.monotonic() < ends, "the pooler did not start"
            threading.Event().wait(0.05)
        else:
            return


def test_connections_may_change_hands_between_transactions(
    pooled: tuple[str, str], tmp_path: Path
) -> None:
    url, owner = pooled
    settings = {"embed.model": "none", "store.url": url}
    with open_memory(tmp_path, settings=settings) as memory:
        for name in ("ada", "bob"):
            memory.create_hub(name)

        def work(number: int) -> int:
            """More often than a statement is run before the driver would prepare it."""
            hub = memory.hub(("ada", "bob")[number % 2])
            for turn in range(8):
                hub.remember(f"Box {number} {turn} is in the attic")
                assert hub.recall(f"box {number} {turn}")
            return len(hub.list(limit=100))

        with ThreadPoolExecutor(4) as workers:
            assert max(workers.map(work, range(4))) == 16
        assert memory.core.store.check() == []
        with memory.core.store.alone("a pass", memory.hub("ada").id) as mine:
            assert mine
    with psycopg.connect(owner) as connection:
        counted = "SELECT count(*), count(DISTINCT content) FROM holdfast.memories"
        assert connection.execute(counted).fetchone() == (32, 32)
    with psycopg.connect(url) as connection:
        # What a transaction was told has ended with it.
        shown = connection.execute("SELECT current_setting('holdfast.hubs', true)").fetchone()
        assert shown is not None
        assert not shown[0]
        assert connection.execute("SHOW search_path").fetchone() == ('"$user", public',)
