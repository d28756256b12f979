"""The open connections of a server: how many there may be in total and from one address, and which
is closed to make room for a new one. It knows nothing of HTTP; `http_protocol` reports what each
connection is doing.

A connection is closed for another only while the server waits for its client: first those that have
not sent a whole request yet, then those that are idle between two requests; the oldest first.
A request that is being answered is never cut off.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from holdfast.settings import Settings

# What a connection is doing. `waiting`: it has not sent a whole request yet and its sender is not
# known. `idle`: between two requests. `busy`: it is being answered, or sends a body with a key.
State = Literal["waiting", "idle", "busy"]

# Connections that the kernel keeps until they are accepted. One that finds no room there tries
# again after a second.
BACKLOG = 2_048
# So many are accepted at once, while all else waits: with 128 a good client's p95 under a flood of
# connections is 62 to 107 ms, with 16 it is 51 to 64 ms (`make test-attack`, a busy machine).
ACCEPTED_AT_ONCE = 16
# Descriptors that are kept for everything else: the store, its pools, files that are read, and
# connections that were accepted and are not counted yet.
DESCRIPTORS_RESERVED = 256


class ConnectionLimits(NamedTuple):
    """How many connections a server holds, and how long it waits for its clients."""

    total: int = 1_000
    per_address: int = 500
    # From the start of a connection, or the first byte of its next request, to the end of the head.
    header_s: float = 10.0
    # A connection without a request is closed after this.
    idle_s: float = 5.0
    # The rest of a body that was refused is read for this long, so that the client sees the answer.
    drain_s: float = 2.0
    # A client that takes nothing of its answer for this long has gone.
    write_s: float = 60.0

    @classmethod
    def from_settings(cls, settings: Settings) -> ConnectionLimits:
        """What the settings `server.connections_*` and `server.header_seconds` say."""
        return cls(
            total=settings["server.connections_max"],
            per_address=settings["server.connections_per_address"],
            header_s=settings["server.header_seconds"],
        )

    def within_descriptors(self) -> ConnectionLimits:
        """The same limits, lowered to what the process may open."""
        most = _descriptors_max()
        total = min(self.total, most - min(DESCRIPTORS_RESERVED, most // 2))
        return self._replace(total=total, per_address=min(self.per_address, total))


def _descriptors_max() -> int:
    if sys.platform == "win32":  # It has no such limit.
        return 1 << 30
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 30 if soft == resource.RLIM_INFINITY else soft


class Connection:
    """One open connection, as the registry sees it."""

    __slots__ = ("_all", "address", "close", "known", "protected", "removed", "state")

    def __init__(self, every: Connections, address: str, close: Callable[[], None]) -> None:
        self._all = every
        self.address = address
        self.close = close
        self.state: State = "waiting"
        # Whether a request on it has brought a valid key.
        self.known = False
        # Whether the body that is arriving has one.
        self.protected = False
        self.removed = False

    def identify(self) -> None:
        """Notes that a request on it has brought a valid key."""
        if self.state == "idle":
            # It moves to where it stays longer.
            self._all.set_state(self, "busy")
            self.known = True
            self._all.set_state(self, "idle")
        self.known = True

    def protect(self) -> None:
        """Keeps it open until the request that is arriving has been answered."""
        self.protected = True
        if self.state == "waiting":
            self._all.set_state(self, "busy")


class _Address:
    """The connections of one address that may be closed, oldest first, and how many there are."""

    def __init__(self) -> None:
        self.count = 0
        self.waiting: dict[Connection, None] = {}
        self.idle: dict[Connection, None] = {}
        self.idle_known: dict[Connection, None] = {}

    def queue_of(self, connection: Connection) -> dict[Connection, None] | None:
        if connection.state == "waiting":
            return self.waiting
        if connection.state == "idle":
            return self.idle_known if connection.known else self.idle
        return None

    def oldest(self) -> Connection | None:
        for queue in (self.waiting, self.idle, self.idle_known):
            if queue:
                return next(iter(queue))
        return None


class Connections:
    """All open connections of a server."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._addresses: dict[str, _Address] = {}
        self.count = 0
        # How many were closed or refused for want of room; for the log and for tests.
        self.closed = 0

    def open(self, address: str, close: Callable[[], None]) -> Connection | None:
        """Registers a new connection; None if there is no room and none can be made."""
        own = self._addresses.get(address)
        if own is not None and own.count >= self._limits.per_address and not self._close_one(own):
            return None
        if self.count >= self._limits.total and not self.make_room():
            return None
        own = self._addresses.setdefault(address, _Address())
        connection = Connection(self, address, close)
        own.count += 1
        own.waiting[connection] = None
        self.count += 1
        return connection

    def make_room(self) -> bool:
        """Closes one connection of the address that holds the most; False if none may be."""
        holding = sorted(self._addresses.values(), key=lambda one: one.count, reverse=True)
        return any(self._close_one(one) for one in holding)

    def set_state(self, connection: Connection, state: State) -> None:
        own = self._addresses.get(connection.address)
        if own is None or connection.removed or connection.state == state:
            return
        self._unqueue(own, connection)
        connection.state = state
        if state == "idle":
            connection.protected = False
        queue = own.queue_of(connection)
        if queue is not None:
            queue[connection] = None

    def remove(self, connection: Connection) -> None:
        own = self._addresses.get(connection.address)
        if own is None or connection.removed:
            return
        self._unqueue(own, connection)
        connection.removed = True
        own.count -= 1
        self.count -= 1
        if not own.count:
            del self._addresses[connection.address]

    def _close_one(self, own: _Address) -> bool:
        oldest = own.oldest()
        if oldest is None:
            self.closed += 1
            return False
        # It is over at the next turn of the event loop; many may come in before that.
        self.remove(oldest)
        self.closed += 1
        oldest.close()
        return True

    @staticmethod
    def _unqueue(own: _Address, connection: Connection) -> None:
        queue = own.queue_of(connection)
        if queue is not None:
            queue.pop(connection, None)
