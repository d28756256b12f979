"""What a call of the command line answers, as a value for the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple


class Ran(NamedTuple):
    """What a call answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The whole answer: `data`, and what is said beside it."""
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        return self.json["data"]

    @property
    def rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self.out.splitlines()]


Run = Callable[..., Ran]
