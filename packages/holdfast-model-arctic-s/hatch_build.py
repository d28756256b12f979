"""Before a wheel is packed: the weights must be there, and are fetched if they are not."""

from __future__ import annotations

import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FetchWeights(BuildHookInterface):  # type: ignore[misc,type-arg]
    """Runs `fetch.py`, which does nothing when the files are whole."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        try:
            from fetch import fetch
        finally:
            sys.path.remove(self.root)
        fetch()
