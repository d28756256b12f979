"""A browser for all tests of the web page, and a site with memories for each module of them. The
module says in `MEMORIES` how many it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


# Not for a session: while it runs, no other test of its process can run a loop of asyncio.
@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    from tests.e2e.pages import chromium

    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    from tests.e2e.pages import site

    with site(tmp_path_factory.mktemp("web"), memories=request.module.MEMORIES) as made:
        yield made


@pytest.fixture
def page(browser: Any, place: Any) -> Iterator[Any]:
    from tests.e2e.pages import visiting

    with visiting(browser, place) as made:
        yield made
