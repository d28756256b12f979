"""Fixtures of the command line and of hooks, for behaviours that are seen from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.edges.cli.conftest import home, run
from tests.edges.hooks.hook_calls import Hooks
from tests.edges.http.conftest import _asked, _served, ask, house

__all__ = ["_asked", "_served", "ask", "home", "house", "run"]


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)
