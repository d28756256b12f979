"""A restore into a database whose process is killed with -9 in its middle: whoever looks is told,
what was there before is in a file, and the same restore, run again, ends as if nothing had been."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import holdfast
from tests.postgres_server import database

psycopg = pytest.importorskip("psycopg")

from tests.faults.postgres_edges import SETTINGS, run_command  # noqa: E402 - needs the extra

pytestmark = pytest.mark.faults

_PATIENCE_S = 30.0
# Any number: the rows wait for whoever holds it.
_HELD = 4711
_OTHERS = (
    "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)


@contextmanager
def _rows_wait(url: str) -> Iterator[psycopg.Connection]:
    """New memories wait for somebody, who may be asked how many do."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(
            "CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" PERFORM pg_advisory_xact_lock({_HELD}); RETURN NEW; END $$;"
            " CREATE TRIGGER waits BEFORE INSERT ON holdfast.memories"
            " FOR EACH ROW EXECUTE FUNCTION public.wait()"
        )
        owner.execute(f"SELECT pg_advisory_lock({_HELD})")
        try:
            yield owner
        finally:
            owner.execute("SELECT pg_advisory_unlock_all()")
            # The server goes on with the statement of who was killed, and then finds nobody there.
            _until(owner, f"SELECT 1 {_OTHERS} HAVING count(*) = 0")
            owner.execute("DROP FUNCTION public.wait CASCADE")


def test_a_restore_that_is_killed_is_run_again(tmp_path: Path) -> None:
    home, backup = tmp_path / "home", tmp_path / "monday.db"
    with database() as url:
        with holdfast.open(home, settings={**SETTINGS, "store.url": url}) as memory:
            for number in range(20):
                memory.hub().remember(f"Box {number} is in the attic")
            before = list(memory.hub().export())
            memory.backup(backup)
            memory.hub().remember("Said on Tuesday")

        command = ["restore-backup", str(backup), "--yes"]
        with _rows_wait(url) as owner:
            restoring = subprocess.Popen(
                [sys.executable, "-m", "holdfast.edges.cli", *command],
                env={**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_STORE_URL": url},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            _until(owner, f"SELECT 1 {_OTHERS} AND wait_event = 'advisory'")
            restoring.kill()
            assert restoring.wait(_PATIENCE_S) == -9

        told = run_command(["list"], url, home)
        assert told.returncode == 3
        assert "`holdfast restore-backup`" in told.stderr
        assert "Tuesday" in _kept(home)
        # The doctor does not take away what the next run needs.
        copies = [name for name in os.listdir(home) if ".restoring-" in name]
        mended = run_command(["doctor", "--fix"], url, home)
        assert "a restore was broken off" in mended.stdout
        assert [name for name in os.listdir(home) if ".restoring-" in name] == copies != []
        ran = run_command(command, url, home)
        assert ran.returncode == 0, ran.stderr
        with holdfast.open(home, settings={**SETTINGS, "store.url": url}) as memory:
            assert list(memory.hub().export()) == before
            assert memory.core.store.check() == []
        left = [name for name in os.listdir(home) if "restoring" in name or "filling" in name]
        assert left == []


def _until(owner: psycopg.Connection, query: str) -> None:
    ends = time.monotonic() + _PATIENCE_S
    while owner.execute(query).fetchone() is None:
        assert time.monotonic() < ends, query
        threading.Event().wait(0.02)


def _kept(home: Path) -> str:
    """What was there before the restore: the copy that was made first."""
    (name,) = [one for one in os.listdir(home) if one.startswith("memory.db.before-restore")]
    with holdfast.open(f"sqlite:{home / name}", settings=SETTINGS) as copy:
        return " ".join(memory.content for memory in copy.hub().list(limit=100))
