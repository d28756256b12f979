"""A database of its own for each test, and a store on it with a hub."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.postgres_server import database

if TYPE_CHECKING:
    from holdfast.store.postgres import PostgresStore


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    from holdfast.store.postgres import PostgresStore
    from holdfast.testing.conformance.base import make_hub

    opened = PostgresStore(url)
    with opened.write() as writer:
        writer.add_hub(make_hub())
    yield opened
    opened.close()
