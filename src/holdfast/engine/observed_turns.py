"""Which turns of a session were logged, by the names that an agent gives them: a hook may be called
twice for one turn, and a transcript read again holds turns that were logged long ago.

A name and a role are kept as a hash, in the transaction that logs the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.domain.records import Record
from holdfast.engine.core import Core
from holdfast.engine.turns import clean_session
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer

KIND = "observed-turns"
# A session of more turns is a program's; its oldest turns will not come again.
_TURNS_MAX = 4_000
# Who resumes a session after a longer time has its old turns logged again at worst.
_KEPT_DAYS = 400
_DIGITS = 16


class AlreadyLogged(Exception):
    """A side of this turn was logged while this transaction waited."""


def name_of(turn: str | None) -> str:
    """The name of a turn, checked; empty where it has none."""
    if turn is None:
        return ""
    if not isinstance(turn, str):
        raise InvalidInput(f"A turn is named by text, not {type(turn).__name__}.")
    return turn.strip()


def is_logged(reader: Reader, hub_id: str, session: str | None, name: str) -> Callable[[str], bool]:
    """Asks by role whether that side of a turn was logged."""
    marks = frozenset(_marks(reader, hub_id, session))
    return lambda role: _mark(name, role) in marks


def add(
    core: Core, writer: Writer, hub_id: str, session: str | None, name: str, roles: Iterable[str]
) -> None:
    """Notes that these sides of a turn are logged; AlreadyLogged where one of them was."""
    marks = _marks(writer, hub_id, session)
    new = [_mark(name, role) for role in roles]
    if not set(new).isdisjoint(marks):
        raise AlreadyLogged
    now = core.now()
    body = {"turns": [*marks, *new][-_TURNS_MAX:]}
    due = now + timedelta(days=_KEPT_DAYS)
    writer.put_record(Record(hub_id, KIND, _id_of(session), now, body, due=due))
    for old in writer.due_records(KIND, now, limit=10, hub_id=hub_id):
        writer.drop_record(old.hub_id, KIND, old.id)


def forget(writer: Writer, hub_id: str, session: str) -> None:
    """Forgets which turns of a session were logged."""
    writer.drop_record(hub_id, KIND, _id_of(session))


def _marks(reader: Reader, hub_id: str, session: str | None) -> list[str]:
    record = reader.record(hub_id, KIND, _id_of(session))
    return [] if record is None else list(record.body["turns"])


def _id_of(session: str | None) -> str:
    return _digest(clean_session(session) or "")[:32]


def _mark(name: str, role: str) -> str:
    return _digest(f"{role}\0{name}")[:_DIGITS]


def _digest(text: str) -> str:
    from hashlib import sha256  # not at the top: a turn without a name pays nothing for it

    return sha256(text.encode(errors="replace")).hexdigest()
