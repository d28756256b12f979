"""Records who logged the turns of a hub. A turn has no author field, so a record names the authors,
for the hub and for each session: people may forget what they said themselves, but not what others
said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.domain.records import Turn
    from holdfast.engine.core import Scope
    from holdfast.store.base import Reader, Writer

# Keyed by the name of an actor who logged turns in a hub.
_IN_HUB = "log-author"
# Keyed by the digest of a session's name, which may contain anything: who logged it (empty for
# several people), and the first turn for which that is known.
_IN_SESSION = "session-author"


def note_author(scope: Scope, writer: Writer, turns: Iterable[Turn]) -> None:
    """Records that the actor of a scope logs these turns."""
    if writer.record(scope.hub_id, _IN_HUB, scope.actor) is None:
        writer.put_record(Record(scope.hub_id, _IN_HUB, scope.actor, scope.now(), {}))
    for session, first in {turn.session: turn.id for turn in reversed(list(turns))}.items():
        if session is None:
            continue
        session_id = _digest(session)
        known = writer.record(scope.hub_id, _IN_SESSION, session_id)
        if known is None:
            body = {"actor": scope.actor, "first": first}
        elif known.body["actor"] in (scope.actor, ""):
            continue
        else:
            body = {**known.body, "actor": ""}
        writer.put_record(Record(scope.hub_id, _IN_SESSION, session_id, scope.now(), body))


def others_logged(reader: Reader, hub_id: str, actor: str) -> bool:
    """Whether anybody else is known to have logged turns there, including former members."""
    return any(one.id != actor for one in reader.records(hub_id, _IN_HUB, limit=2))


def is_logged_by(reader: Reader, turn: Turn, actor: str) -> bool:
    """Whether only this actor is known to have logged a turn and its session."""
    if turn.session is not None:
        known = reader.record(turn.hub_id, _IN_SESSION, _digest(turn.session))
        if known is not None:
            return bool(known.body["actor"] == actor and turn.id >= known.body["first"])
    authors = reader.records(turn.hub_id, _IN_HUB, limit=2)
    return [one.id for one in authors] == [actor]


def forget_empty(writer: Writer, hub_id: str, sessions: Iterable[str | None]) -> None:
    """Drops the records of who logged sessions that have no turns any more."""
    for session in set(sessions):
        if session is not None and not writer.turns(hub_id, limit=1, session=session):
            writer.drop_record(hub_id, _IN_SESSION, _digest(session))


def _digest(session: str) -> str:
    from hashlib import sha256  # imported late: a turn without a session does not need it

    return sha256(session.encode(errors="replace")).hexdigest()[:32]
