"""Patroni for real: the primary of three servers is killed under load, another is promoted, and
later hands over to a third. What two processes were told is true, and reads go to standbys."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.api.memory import open as open_memory
from tests.faults.logging_turns import Logger
from tests.patroni.cluster import Cluster, until
from tests.scratch import folder_for_sockets

pytest.importorskip("psycopg")

# It takes a minute, and as long again where the machine is busy.
pytestmark = pytest.mark.timeout(280)

_SETTINGS = {"embed.model": "none"}
_BEFORE, _AFTER = 30, 20


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    folder = folder_for_sockets("hfpt")
    folder.chmod(0o755)
    made: Cluster | None = None
    try:
        made = Cluster(folder)
        until(lambda: made.following() == 2, "two standbys that follow")
        yield made
    finally:
        if made is not None:
            made.stop()
        shutil.rmtree(folder)


def test_no_acknowledged_write_is_lost_whoever_takes_over(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = cluster.url()
    settings = {**_SETTINGS, "store.url": url, "store.read_url": url}
    with open_memory(tmp_path / "reader", settings=settings) as memory:
        for who in ("ada", "bob"):
            memory.create_hub(who)
        loggers = [Logger(url, tmp_path / who, who) for who in ("ada", "bob")]

        def more(count: int) -> float:
            before = [one.done() for one in loggers]
            return until(
                lambda: all(
                    one.done() >= n + count for one, n in zip(loggers, before, strict=True)
                ),
                "turns that are logged",
            )

        try:
            more(_BEFORE)
            first = cluster.primary()
            assert first is not None
            first.kill()
            promoted_s = until(lambda: cluster.primary() is not None, "a promotion")
            more(_AFTER)
            killed_s = max(one.longest_s for one in loggers)
            second = cluster.primary()
            assert second is not None
            assert second is not first
            first.start()
            until(lambda: cluster.following() == 2, "the old primary as a standby")
            third = next(node for node in cluster.nodes if node not in (first, second))
            for one in loggers:
                one.longest_s = 0.0
            second.hand_over(third)
            until(lambda: cluster.primary() is third, "a switchover")
            more(_AFTER)
            handed_s = max(one.longest_s for one in loggers)
        finally:
            codes = [one.stop() for one in loggers]
        assert codes == [0, 0]
        for logger in loggers:
            logger.was_told_the_truth(memory)
        until(lambda: _from_standby(memory), "a read from a standby")
        assert memory.core.store.check() == []
        told = [told for one in loggers for told in one.told.values() if told != "done"]
    with capsys.disabled():
        print(
            f"\nAnother primary {promoted_s:.1f} s after the kill; nothing written for"
            f" {killed_s:.1f} s then, and for {handed_s:.1f} s at the switchover;"
            f" answers other than `done`: {told or 'none'}."
        )


def _from_standby(memory: object) -> bool:
    with memory.core.store.read() as reader:  # type: ignore[attr-defined]
        found: bool = reader._session.value("SELECT pg_is_in_recovery()")
        return found
