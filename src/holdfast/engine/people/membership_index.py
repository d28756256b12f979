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

from holdfast.domain.records import NO_HUB, Record
from holdfast.text.names import skeleton

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader, Writer

# What is found for a name or an id: of a person their hubs, teams, organisations and keys; of a
# team or an organisation the hubs that are shared with it, of an organisation its teams, of a place
# its invitations, and of a name the hubs that are called by it without having it.
# And of what a name looks like in a place, the members that look so.
What: TypeAlias = Literal[
    "hub", "team", "org", "key", "shared", "team of", "invite", "called", "look"
]

_KIND = "belongs"
# Most have few of anything, and what stands behind them in the table is read in vain.
_PAGE_FIRST = 16
_PAGE_MAX = 500


def _prefix(whose: str, what: What) -> str:
    # Names may hold anything; their length says where they end, so that none reads like another.
    return f"{len(whose)}:{whose}/{what}/"


def look_of(scope_id: str, actor: str) -> str:
    """Whose entry a member is under by what their name looks like."""
    return f"{scope_id}/{skeleton(actor)}"


def note(writer: Writer, whose: str, what: What, which: str, at: datetime) -> None:
    writer.put_record(Record(NO_HUB, _KIND, _prefix(whose, what) + which, at, {}))


def drop(writer: Writer, whose: str, what: What, which: str) -> None:
    writer.drop_record(NO_HUB, _KIND, _prefix(whose, what) + which)


def of(reader: Reader, whose: str, what: What) -> Iterator[str]:
    """The ids, in order."""
    prefix = after = _prefix(whose, what)
    limit = _PAGE_FIRST
    while True:
        page = reader.records(NO_HUB, _KIND, limit=limit, after=after)
        for one in page:
            if not one.id.startswith(prefix):
                return
            yield one.id.removeprefix(prefix)
        if len(page) < limit:
            return
        after, limit = page[-1].id, min(_PAGE_MAX, limit * 4)


def mend(core: Core) -> int:
    """Makes the entries that are missing; how many those were."""
    made = 0
    at = core.now()
    with core.store.write() as writer:
        for whose, what, which in _all(writer):
            if writer.record(NO_HUB, _KIND, _prefix(whose, what) + which) is None:
                note(writer, whose, what, which, at)
                made += 1
    return made


def _all(reader: Reader) -> Iterator[tuple[str, What, str]]:
    """Every entry that there should be, from what it is derived from."""
    from holdfast.engine.people.records import card_of, every

    for hub in reader.hubs():
        yield hub.owner, "hub", hub.id
        for one in every(reader, hub.id, "member"):
            yield one.id, "hub", hub.id
            yield look_of(hub.id, one.id), "look", one.id
        card = card_of(reader, hub.id)
        for shared_with in (card.team_id, card.org_id):
            if shared_with:
                yield shared_with, "shared", hub.id
        if card.label:
            yield card.label, "called", hub.id
    for one in every(reader, NO_HUB, "team"):
        yield one.body["org"], "team of", one.id
    for scope in ("team", "org"):
        for one in every(reader, NO_HUB, f"{scope}-member"):
            scope_id, _, actor = one.id.partition("/")
            yield actor, "team" if scope == "team" else "org", scope_id
            yield look_of(scope_id, actor), "look", actor
    for one in every(reader, NO_HUB, "key"):
        yield one.body["actor"], "key", one.id
    for one in every(reader, NO_HUB, "invite"):
        yield one.body["scope_id"], "invite", one.id
