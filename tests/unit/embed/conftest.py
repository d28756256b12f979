"""What the embedder tests share: the bundled model where it is installed."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from holdfast.embed import Embedder
from holdfast.embed.providers import DEFAULT_NAME, GROUP, MISSING_MODEL, find_embedder


@pytest.fixture(scope="session")
def bundled() -> Embedder:
    if DEFAULT_NAME not in {point.name for point in entry_points(group=GROUP)}:
        pytest.skip(MISSING_MODEL)
    embedder = find_embedder("auto")
    assert embedder is not None
    return embedder


@pytest.fixture(scope="session")
def model_folder(bundled: Embedder) -> str:
    from holdfast_embed_s import DATA

    return str(DATA)
