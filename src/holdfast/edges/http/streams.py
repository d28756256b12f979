"""Requests that stay open: streams that agents listen to, and uploads. They are counted apart from
requests that are answered at once, and bounded for each key, each person and in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.edges.http.answers import Refused

if TYPE_CHECKING:
    from holdfast.edges.http.client_identity import Client

# All keys of a person together have so many times the share of one.
_KEYS_OF_A_PERSON = 2
_RETRY_AFTER_S = "30"


class Streams:
    """So many are open at once. `what` names them in the answer to one too many."""

    def __init__(self, what: str, *, total: int, each: int) -> None:
        self._what = what
        self._total = total
        self._each = each
        self._open = Counter[str]()
        self.count = 0

    @contextmanager
    def open(self, client: Client) -> Iterator[None]:
        """Counts one while it is open; refuses it where there are too many."""
        names = {client.person: self._each * _KEYS_OF_A_PERSON, client.share: self._each}
        if self.count >= self._total:
            raise self._refused("The server has")
        if any(self._open[name] >= most for name, most in names.items()):
            raise self._refused("You have")
        self.count += 1
        self._open.update(names.keys())
        try:
            yield
        finally:
            self.count -= 1
            self._open.subtract(names.keys())
            self._open += Counter[str]()

    def _refused(self, who: str) -> Refused:
        return Refused(
            503,
            "overloaded",
            f"{who} too many open {self._what} already.",
            hint="Close some of them, or try again later.",
            headers={"Retry-After": _RETRY_AFTER_S},
        )
