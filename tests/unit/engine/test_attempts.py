"""An operation whose store is lost under it is begun again, unless something of it was written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from holdfast.api.hub import HubMemory
from holdfast.api.memory import open as open_memory
from holdfast.api.perform import retried
from holdfast.errors import ServerUnreachable
from holdfast.store.base import Store
from holdfast.store.inmemory import InMemoryStore


class Flaky:
    """A store that is lost: before, at the end of, or after the write of a given number."""

    def __init__(self) -> None:
        self.inner = InMemoryStore()
        self.lost_at: dict[int, bool] = {}  # number of a write → whether it is in doubt
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @contextmanager
    def write(self, **values: Any) -> Iterator[Any]:
        if values.get("durable", True):
            self.writes += 1
        if (in_doubt := self.lost_at.pop(self.writes, None)) is not None:
            raise ServerUnreachable("Lost.", again=not in_doubt, in_doubt=in_doubt)
        with self.inner.write(**values) as writer:
            yield writer


@pytest.fixture
def store() -> Flaky:
    return Flaky()


@pytest.fixture
def hub(store: Flaky, tmp_path: Any) -> Iterator[HubMemory]:
    settings = {"embed.model": "none"}
    with open_memory(tmp_path, store=cast("Store", store), settings=settings) as memory:
        hub = memory.hub()
        hub.remember("something, so that the store is ready")
        store.writes = 0
        yield hub


def contents(hub: HubMemory) -> list[str]:
    return sorted(memory.content for memory in hub.scan())[:-1]


def test_an_operation_that_wrote_nothing_is_begun_again(store: Flaky, hub: HubMemory) -> None:
    store.lost_at = {1: False, 2: False}
    hub.remember("Ada lives in Bonn")
    assert store.writes == 3
    assert contents(hub) == ["Ada lives in Bonn"]


def test_what_is_in_doubt_is_left_to_the_caller(store: Flaky, hub: HubMemory) -> None:
    store.lost_at = {1: True}
    with pytest.raises(ServerUnreachable) as caught:
        hub.log_turn("user", "Hello")
    assert caught.value.in_doubt
    assert store.writes == 1


def test_an_operation_that_wrote_a_part_is_not_begun_again(store: Flaky, hub: HubMemory) -> None:
    store.lost_at = {2: False}

    def two_steps() -> None:
        for _ in range(2):
            with hub.core.write():
                pass

    with pytest.raises(ServerUnreachable, match="part of it was written") as caught:
        retried(two_steps)
    assert not caught.value.again
    assert store.writes == 2


def test_what_can_be_walked_through_once_is_not_walked_through_twice(
    store: Flaky, hub: HubMemory
) -> None:
    store.lost_at = {1: False}
    with pytest.raises(ServerUnreachable):
        hub.remember_many(iter(["one", "two"]))
    assert contents(hub) == []


def test_a_store_that_stays_away_is_given_up(
    store: Flaky, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.api.perform._RETRY_WRITES_S", 0.1)
    store.lost_at = dict.fromkeys(range(1, 100), False)
    with pytest.raises(ServerUnreachable) as caught:
        hub.remember("Ada lives in Bonn")
    assert caught.value.again
    assert 1 < store.writes < 20
