"""Tests of a framework are collected only in a process that has it on its path."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import holdfast
from holdfast import Holdfast
from holdfast.embed import providers
from tests.frameworks.environments import HERE, VARIABLE

DRIVER = "test_frameworks.py"

if not os.environ.get(VARIABLE):
    collect_ignore = [path.name for path in HERE.glob("test_*.py") if path.name != DRIVER]

_MODEL = cache(providers._bundled)


@pytest.fixture(scope="session", autouse=True)
def _one_model() -> Iterator[None]:
    """Reads the bundled model once, not for every memory that is opened."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(providers, "_bundled", _MODEL)
        yield


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    """An open memory, with the bundled embedding model where it is installed."""
    with holdfast.open(tmp_path / "home") as opened:
        yield opened
