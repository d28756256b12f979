"""A memory on a server, used like one that is open here: `holdfast.Client(url, key)`.

    with holdfast.Client("http://127.0.0.1:4653", key) as client:
        hub = client.hub("work")
        hub.remember("Prefers tabs over spaces")

Methods, arguments, results and errors are those of the library. Needs the extra `client`.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import Any
from urllib.parse import quote

from holdfast.client.connection import RESPONSE_BYTES_MAX, Connection
from holdfast.client.hub import NEEDS_THE_MACHINE, RemoteHub, RemotePeople
from holdfast.client.responses import decoded, understanding
from holdfast.domain.clock import SystemClock
from holdfast.domain.hub import Hub
from holdfast.errors import AlreadyExists, NotFound

# Longer than the longest recall that a server allows itself, with room for a slow line.
TIMEOUT_S = 30.0

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


@understanding
class Client(RemotePeople):
    """A server. `hub` is the one to use where none is named; without it, the server's own."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        hub: str | None = None,
        timeout_s: float = TIMEOUT_S,
        home: str | os.PathLike[str] | None = None,
        response_bytes_max: int = RESPONSE_BYTES_MAX,
    ) -> None:
        self.server = Connection(
            url, key, timeout_s=timeout_s, response_bytes_max=response_bytes_max
        )
        self._hub = hub
        # The home folder with the record of what was pushed from here; None for the default.
        self._home = None if home is None else os.fspath(home)
        self._clock = SystemClock()

    @property
    def url(self) -> str:
        return self.server.url

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.server.close()

    # Hubs

    def hub(self, name: str | None = None, *, create: bool = False) -> RemoteHub:
        """The hub of that name or id; without one, the client's, else the server's. It must be
        there: `create` makes it where it is missing."""
        chosen = self._hub if name is None else name
        try:
            answer = self._fetch_hub(chosen)
        except NotFound:
            if not create or chosen is None:
                raise
            self._make(chosen)
            answer = self._fetch_hub(chosen)
        now = decoded(self.url, datetime, answer["now"])
        info = decoded(self.url, Hub, answer["data"])
        return RemoteHub(self.server, info, self._clock, now, self._home)

    def _fetch_hub(self, name: str | None) -> Any:
        """The server's description of a hub."""
        if name is not None and not _PLAIN.fullmatch(name):
            if not name.strip("."):
                raise NotFound(f"There is no hub `{name}`.", hint="List the hubs to see yours.")
            # A header holds plain letters only; a path holds all that a hub's name may have.
            found = self.server.get(f"/hubs/{quote(name, safe='')}")
            name = decoded(self.url, Hub, found["data"]).id
        return self.server.get("/hub", hub=name)

    @property
    def _hub_header(self) -> str | None:
        chosen = self._hub
        return chosen if chosen is None or _PLAIN.fullmatch(chosen) else self.hub().id

    def _make(self, name: str) -> None:
        try:
            self.server.send("POST", "/hubs", {"name": name}, once=False)
        except AlreadyExists:
            return  # Somebody else was faster.

    def create_hub(self, name: str) -> RemoteHub:
        """Makes a hub, which the caller owns."""
        made = self.server.send("POST", "/hubs", {"name": name}, once=False)
        return self.hub(decoded(self.url, Hub, made["data"]).id)

    def hubs(self) -> list[Hub]:
        """The hubs in reach, by name."""
        return decoded(self.url, list[Hub], self.server.get("/hubs")["data"])

    def rename_hub(self, name: str, new: str) -> Hub:
        hub_id = self.hub(name).id
        answer = self.server.send("PATCH", f"/hubs/{hub_id}", {"name": new}, once=False)
        return decoded(self.url, Hub, answer["data"])

    def delete_hub(self, name: str) -> Hub:
        """Removes a hub and everything in it, for good."""
        hub = self.hub(name).info
        self.server.send("DELETE", f"/hubs/{hub.id}", once=False)
        return hub


__all__ = ["NEEDS_THE_MACHINE", "Client", "RemoteHub"]
