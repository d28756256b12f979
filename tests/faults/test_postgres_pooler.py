"""A pooler between Holdfast and the server, which hands out another connection for each
transaction: everything works, and nothing of one transaction is left for the next."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.api.memory import open as open_memory
from tests.postgres_server import ROLE, database, databases

psycopg = pytest.importorskip("psycopg")

from tests.faults.pgbouncer import Pooler  # noqa: E402 - needs the extra `postgres`

pytestmark = pytest.mark.faults


@pytest.fixture
def pooled() -> Iterator[tuple[str, str]]:
    """The URL of a store as programs have it, through the pooler, and its owner's without."""
    with database() as owner:
        name = str(psycopg.conninfo.conninfo_to_dict(owner)["dbname"])
        pooler = Pooler(databases().url(name, ROLE))
        try:
            yield pooler.url, owner
        finally:
            pooler.close()


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
