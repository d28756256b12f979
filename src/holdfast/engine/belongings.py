"""What belongs to whom, found without looking through everything: the hubs, teams, organisations
and keys of a person, the hubs of a team, the invitations to a place.

Derived from other records: an entry says where to look, never what is allowed. Whoever reads by it
asks the thing itself, so that an entry too many does no harm; who writes a thing writes its entry
in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.domain.record import NO_HUB, Record
from holdfast.errors import StoreReadOnly

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader, Writer

# What is found for a name or an id: of a person their hubs, teams, organisations and keys; of a
# team or an organisation the hubs that are shared with it, of an organisation its teams, of a place
# its invitations, and of a name the hubs that are called by it without having it.
What: TypeAlias = Literal["hub", "team", "org", "key", "shared", "team of", "invite", "called"]

_KIND = "belongs"
_COMPLETE = "belongings-complete"
_PAGE = 500


def _prefix(whose: str, what: What) -> str:
    # Names may hold anything; their length says where they end, so that none reads like another.
    return f"{len(whose)}:{whose}/{what}/"


def note(writer: Writer, whose: str, what: What, which: str, at: datetime) -> None:
    writer.put_record(Record(NO_HUB, _KIND, _prefix(whose, what) + which, at, {}))


def drop(writer: Writer, whose: str, what: What, which: str) -> None:
    writer.drop_record(NO_HUB, _KIND, _prefix(whose, what) + which)


def of(reader: Reader, whose: str, what: What) -> Iterator[str]:
    """The ids, in order."""
    prefix = after = _prefix(whose, what)
    while True:
        page = reader.records(NO_HUB, _KIND, limit=_PAGE, after=after)
        for one in page:
            if not one.id.startswith(prefix):
                return
            yield one.id.removeprefix(prefix)
        if len(page) < _PAGE:
            return
        after = page[-1].id


def complete(core: Core) -> bool:
    """Whether all that there is has its entries. A store from before there were any gets them here,
    once; one that cannot be written is looked through instead."""
    with core.store.read() as reader:
        if reader.record(NO_HUB, _COMPLETE, _COMPLETE) is not None:
            return True
    try:
        with core.store.write() as writer:
            if writer.record(NO_HUB, _COMPLETE, _COMPLETE) is None:
                _note_all(writer, core.now())
                writer.put_record(Record(NO_HUB, _COMPLETE, _COMPLETE, core.now(), {}))
    except StoreReadOnly:
        return False
    return True


def _note_all(writer: Writer, at: datetime) -> None:
    from holdfast.engine.access_records import card_of, every

    for hub in writer.hubs():
        note(writer, hub.owner, "hub", hub.id, at)
        for one in every(writer, hub.id, "member"):
            note(writer, one.id, "hub", hub.id, at)
        card = card_of(writer, hub.id)
        for shared_with in (card.team_id, card.org_id):
            if shared_with:
                note(writer, shared_with, "shared", hub.id, at)
    for one in every(writer, NO_HUB, "team"):
        note(writer, one.body["org"], "team of", one.id, at)
    for scope in ("team", "org"):
        for one in every(writer, NO_HUB, f"{scope}-member"):
            scope_id, _, actor = one.id.partition("/")
            note(writer, actor, "team" if scope == "team" else "org", scope_id, at)
    for one in every(writer, NO_HUB, "key"):
        note(writer, one.body["actor"], "key", one.id, at)
    for one in every(writer, NO_HUB, "invite"):
        note(writer, one.body["scope_id"], "invite", one.id, at)
