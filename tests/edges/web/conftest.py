"""The web page in process, over the same server as the REST tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.api.memory import Holdfast
from tests.edges.http.apps import make_app
from tests.edges.http.conftest import PATIENT, House

PAGE = {"X-Holdfast-Client": "page", "HX-Request": "true"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path, settings={"embed.model": "none", "actor": "olga"}) as made:
        made.hub()
        yield made


@pytest.fixture
def client(memory: Holdfast) -> Iterator[TestClient]:
    """A server of this machine, without a key."""
    app = make_app(memory, key_needed=False, limits=PATIENT)
    with TestClient(app, base_url="http://localhost", follow_redirects=False) as made:
        yield made


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A server that asks for keys, with a hub `plans` of Olga's."""
    with House(tmp_path) as made:
        made.hub.remember("The vault opens on Friday")
        yield made


@pytest.fixture
def door(house: House) -> Iterator[TestClient]:
    """A client of that server that keeps cookies."""
    with TestClient(house.app, base_url="http://localhost", follow_redirects=False) as made:
        yield made
