"""A pooler between Holdfast and the server, which hands out another connection for each
transaction: everything works, and nothing of one transaction is left for the next."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.api.memory import open as open_memory
from holdfast.errors import StoreError
from tests.postgres_server import ROLE, database, databases

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres.initialise import check_readiness  # noqa: E402 - needs the extra
from tests.faults.pgbouncer import Pooler  # noqa: E402 - `postgres`

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


def test_a_check_of_the_store_names_the_pooler(pooled: tuple[str, str]) -> None:
    url, owner = pooled
    through, direct = check_readiness(url), check_readiness(owner)
    assert through.lacks == ()
    assert sum("pooler" in one and "max_client_conn" in one for one in through.notes) == 1
    assert not any("pooler" in one for one in direct.notes)


def test_a_pooler_that_works_by_statement_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with database() as owner:
        name = str(psycopg.conninfo.conninfo_to_dict(owner)["dbname"])
        with contextlib.closing(
            Pooler(databases().url(name, ROLE), pool_mode="statement")
        ) as pooler:
            with pytest.raises(StoreError, match="works by statement") as told:
                open_memory(tmp_path, settings={"embed.model": "none", "store.url": pooler.url})
            assert "pool_mode = transaction" in told.value.hint
            with pytest.raises(StoreError, match="works by statement"):
                check_readiness(pooler.url)
