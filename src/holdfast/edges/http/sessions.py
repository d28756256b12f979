"""Sessions of agents, as far as they must be bounded: a client that begins one after the other and
ends none fills its own share. When a key has too many, the one that was used least recently ends;
its client is told so with its next request, and begins another, as the protocol asks of it."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from holdfast.edges.http.client_identity import Client

# All keys of a person together have so many times the share of one.
_KEYS_OF_A_PERSON = 2


class Session(NamedTuple):
    """One session; `server` is where it lives."""

    server: Hashable
    session_id: str


class Sessions:
    """Who has which sessions, the least recently used first."""

    def __init__(self, *, each: int) -> None:
        self._each = each
        self._owners: OrderedDict[Session, Client] = OrderedDict()
        self._counts = Counter[str]()

    def __len__(self) -> int:
        return len(self._owners)

    def use(self, session: Session) -> None:
        if session in self._owners:
            self._owners.move_to_end(session)

    def begin(self, session: Session, client: Client) -> list[Session]:
        """Counts a new session; returns those that have to end for it."""
        self._owners[session] = client
        self._counts.update({client.share, client.person})
        over = self._beyond(client.share, self._each)
        return over + self._beyond(client.person, self._each * _KEYS_OF_A_PERSON)

    def _beyond(self, name: str, most: int) -> list[Session]:
        """Takes out the oldest sessions of a key or person until there are no more than that."""
        over = []
        while self._counts[name] > most:
            owned = (one for one, who in self._owners.items() if name in (who.share, who.person))
            oldest = next(owned)
            self.end(oldest)
            over.append(oldest)
        return over

    def end(self, session: Session) -> None:
        owner = self._owners.pop(session, None)
        if owner is not None:
            self._counts.subtract({owner.share, owner.person})
            self._counts += Counter[str]()

    def end_all_of(self, server: Hashable) -> None:
        """Forgets the sessions of a server that is gone."""
        for session in [one for one in self._owners if one.server == server]:
            self.end(session)
