"""Organisations and their teams: create, list, rename, remove, and the role of a person in them.
Permissions are checked by the caller; members are in `members.py`.

Names are unique among those that a person sees, so that a name identifies one. Nobody can create a
second one of a name that they see; a name that they cannot see is free for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from holdfast.domain.hub import ROLES, Member, Org, Role, ScopeKind, Standing, Team
from holdfast.domain.records import NO_HUB, Record
from holdfast.engine.people import records
from holdfast.engine.people.records import (
    card_of,
    drop_member,
    members_of,
    need,
    put_card,
    put_member,
    role_of,
    unknown,
    word_for,
)
from holdfast.errors import AlreadyExists, Conflict, NotFound
from holdfast.store.values import every_record
from holdfast.text.names import composed, skeleton

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.domain.hub import Label, PersonName, PlaceRef
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader, Writer

# Creating and listing


def create_org(core: Core, name: Label, *, seen_by: PersonName | None = None) -> Org:
    """Creates an organisation, owned by its creator. `seen_by` is a caller with a key, who sees
    only some of them."""
    org = Org(core.ids.next("org"), name, core.now())
    with core.store.write(hub=NO_HUB) as writer:
        _refuse_taken("org", org.name, _orgs(writer, seen_by))
        _put_org(writer, org)
        put_member(writer, Member("org", org.id, core.actor, "owner", core.now(), core.actor))
    return org


def create_team(core: Core, org_id: str, name: Label) -> Team:
    """Creates a team of an organisation, owned by its creator."""
    team = Team(core.ids.next("team"), org_id, name, core.now())
    with core.store.write(hub=NO_HUB) as writer:
        need(writer, "org", org_id)
        _refuse_taken("team", team.name, _teams(writer, org_id))
        _put_team(writer, team)
        put_member(writer, Member("team", team.id, core.actor, "owner", core.now(), core.actor))
    return team


def orgs(core: Core) -> list[Org]:
    """All organisations."""
    with core.store.read() as reader:
        return _orgs(reader)


def teams(core: Core, org_id: str | None = None) -> list[Team]:
    """All teams, or those of an organisation."""
    with core.store.read() as reader:
        return _teams(reader, org_id)


# Changing


def rename_org(core: Core, org_id: str, name: Label, *, seen_by: PersonName | None = None) -> Org:
    with core.store.write(hub=NO_HUB) as writer:
        org = _org_from(need(writer, "org", org_id))._replace(name=name)
        _refuse_taken("org", name, (one for one in _orgs(writer, seen_by) if one.id != org_id))
        _put_org(writer, org)
    return org


def rename_team(core: Core, team_id: str, name: Label) -> Team:
    with core.store.write(hub=NO_HUB) as writer:
        team = _team_from(need(writer, "team", team_id))._replace(name=name)
        others = (one for one in _teams(writer, team.org_id) if one.id != team_id)
        _refuse_taken("team", name, others)
        _put_team(writer, team)
    return team


def remove_team(core: Core, team_id: str) -> Team:
    """Removes a team. Its hubs stay, and belong to no team: memories for the team are then visible
    to the members of the hub, until the hub is shared with another team."""
    with core.store.write() as writer:
        team = _team_from(need(writer, "team", team_id))
        _take_hubs_back(writer, team.id, core)
        _drop_scope(writer, "team", team.id)
        records.drop(writer, team.org_id, "team of", team.id)
    return team


def remove_org(core: Core, org_id: str) -> Org:
    """Removes an organisation that has no teams any more."""
    with core.store.write() as writer:
        org = _org_from(need(writer, "org", org_id))
        if left := _teams(writer, org_id):
            names = ", ".join(team.name for team in left[:5])
            raise Conflict(f"It still has teams: {names}.", hint="Remove them first.")
        _take_hubs_back(writer, org.id, core)
        _drop_scope(writer, "org", org.id)
    return org


def _take_hubs_back(writer: Writer, shared_with: str, core: Core) -> None:
    for hub_id in list(records.of(writer, shared_with, "shared")):
        if writer.hub_by_id(hub_id) is None:
            records.drop(writer, shared_with, "shared", hub_id)
            continue
        card = card_of(writer, hub_id)
        put_card(writer, card._replace(team_id=None, org_id=None), core.now())


def _drop_scope(writer: Writer, scope: ScopeKind, scope_id: str) -> None:
    """Drops a team or an organisation, with its members and invitations."""
    for member in list(members_of(writer, scope, scope_id)):
        drop_member(writer, scope, scope_id, member.actor)
    for invite_id in list(records.of(writer, scope_id, "invite")):
        records.drop(writer, scope_id, "invite", invite_id)
        writer.drop_record(NO_HUB, "invite", invite_id)
    writer.drop_record(NO_HUB, scope, scope_id)


# Roles


def orgs_of(core: Core, actor: PersonName) -> list[tuple[Org, Standing]]:
    """The organisations that a person belongs to, by name."""
    with core.store.read() as reader:
        found = [
            (_org_from(record), Standing(actor, role, ()))
            for org_id in records.of(reader, actor, "org")
            if (record := reader.record(NO_HUB, "org", org_id)) is not None
            and (role := role_of(reader, "org", org_id, actor)) is not None
        ]
    return sorted(found, key=lambda pair: (pair[0].name, pair[0].id))


def teams_of(core: Core, actor: PersonName) -> list[tuple[Team, Standing]]:
    """The teams that a person can see, by name: their own, and those of their organisations."""
    with core.store.read() as reader:
        ids = set(records.of(reader, actor, "team"))
        for org_id in records.of(reader, actor, "org"):
            ids.update(records.of(reader, org_id, "team of"))
        found = []
        for team_id in ids:
            record = reader.record(NO_HUB, "team", team_id)
            if record is not None:
                team = _team_from(record)
                if (how := _team_standing(reader, team, actor)) is not None:
                    found.append((team, how))
    return sorted(found, key=lambda pair: (pair[0].name, pair[0].id))


def org_of(core: Core, actor: PersonName, name: PlaceRef) -> tuple[Org, Standing]:
    """The organisation with that id or name, if the person belongs to it."""
    with core.store.read() as reader:
        record = reader.record(NO_HUB, "org", name)
        if record is not None and (role := role_of(reader, "org", name, actor)) is not None:
            return _org_from(record), Standing(actor, role, ())
    found = dict(orgs_of(core, actor))
    org = one_of("org", [*found], name)
    return org, found[org]


def team_of(core: Core, actor: PersonName, name: PlaceRef) -> tuple[Team, Standing]:
    """The team with that id or name, if the person can see it."""
    with core.store.read() as reader:
        record = reader.record(NO_HUB, "team", name)
        if record is not None:
            team = _team_from(record)
            if (how := _team_standing(reader, team, actor)) is not None:
                return team, how
    found = dict(teams_of(core, actor))
    team = one_of("team", [*found], name)
    return team, found[team]


def _team_standing(reader: Reader, team: Team, actor: PersonName) -> Standing | None:
    """The managers of an organisation manage its teams; other members know that the teams exist."""
    own = role_of(reader, "team", team.id, actor)
    above = role_of(reader, "org", team.org_id, actor)
    if own is None and above is None:
        return None
    held: list[Role] = [] if own is None else [own]
    if above in ("admin", "owner"):
        held.append(above)
    role = max(held, key=ROLES.index) if held else None
    # Without a role in it, a team is a name.
    return Standing(actor, role, () if role else ("org",))


_Group = TypeVar("_Group", Org, Team)


def one_of(kind: ScopeKind, found: Sequence[_Group], name: PlaceRef) -> _Group:
    """The team or organisation with that id or name among those that a person sees."""
    by_id = [one for one in found if one.id == name]
    meant = by_id or [one for one in found if composed(one.name) == name]
    if not meant:
        raise unknown(kind, name)
    if len(meant) > 1:
        raise NotFound(f"Several {word_for(kind)}s are called {name!r}.", hint="Give its id.")
    return meant[0]


# As records


def _refuse_taken(kind: ScopeKind, name: str, there: Iterable[Org | Team]) -> None:
    look = skeleton(name)
    for one in there:
        if skeleton(one.name) == look:
            word = word_for(kind)
            article = "an" if word[0] in "aeiou" else "a"
            alike = "" if one.name == name else f", which looks like {name!r}"
            raise AlreadyExists(
                f"There is {article} {word} {one.name!r} already{alike}.",
                hint="Choose another name.",
            )


def _orgs(reader: Reader, seen_by: PersonName | None = None) -> list[Org]:
    """Sorted by creation time."""
    return [
        _org_from(one)
        for one in every_record(reader, NO_HUB, "org")
        if seen_by is None or role_of(reader, "org", one.id, seen_by) is not None
    ]


def _teams(reader: Reader, org_id: str | None = None) -> list[Team]:
    found = [_team_from(one) for one in every_record(reader, NO_HUB, "team")]
    return [team for team in found if org_id is None or team.org_id == org_id]


def _org_from(record: Record) -> Org:
    return Org(record.id, record.body["name"], record.at)


def _team_from(record: Record) -> Team:
    return Team(record.id, record.body["org"], record.body["name"], record.at)


def _put_org(writer: Writer, org: Org) -> None:
    writer.put_record(Record(NO_HUB, "org", org.id, org.created_at, {"name": org.name}))


def _put_team(writer: Writer, team: Team) -> None:
    body = {"name": team.name, "org": team.org_id}
    writer.put_record(Record(NO_HUB, "team", team.id, team.created_at, body))
    records.note(writer, team.org_id, "team of", team.id, team.created_at)
