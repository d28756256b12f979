"""Organisations, teams and members, and how somebody stands to a hub. What a standing allows,
`domain.access` says; whether somebody may do these things themselves, their caller has checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.access import (
    MEMBER_SEES,
    HubCard,
    Member,
    Org,
    Role,
    ScopeKind,
    Standing,
    Team,
)
from holdfast.domain.hub import Hub
from holdfast.domain.record import NO_HUB, Record
from holdfast.engine.access_records import (
    card_of,
    clean_name,
    clean_policy,
    clean_role,
    every,
    member_place,
    members_of,
    need,
    need_hub,
    need_scope,
    put_member,
    put_named,
    refuse_ownerless,
    role_of,
)
from holdfast.engine.core import Core
from holdfast.errors import NotFound

if TYPE_CHECKING:
    from holdfast.domain.memory import Boundary
    from holdfast.store.base import Reader

# Organisations and teams


def create_org(core: Core, name: str) -> Org:
    """A new organisation; whoever makes it owns it."""
    org = Org(core.ids.next("org"), clean_name("organisation", name), core.now())
    with core.store.write() as writer:
        put_named(writer, "org", org.id, org.name, org.created_at, {"name": org.name})
        put_member(writer, Member("org", org.id, core.actor, "owner", core.now(), core.actor))
    return org


def create_team(core: Core, org_id: str, name: str) -> Team:
    """A new team of an organisation; whoever makes it owns it."""
    team = Team(core.ids.next("team"), org_id, clean_name("team", name), core.now())
    with core.store.write() as writer:
        need(writer, "org", org_id)
        body = {"name": team.name, "org": org_id}
        put_named(writer, "team", team.id, f"{org_id}/{team.name}", team.created_at, body)
        put_member(writer, Member("team", team.id, core.actor, "owner", core.now(), core.actor))
    return team


def orgs(core: Core) -> list[Org]:
    with core.store.read() as reader:
        return [Org(one.id, one.body["name"], one.at) for one in every(reader, NO_HUB, "org")]


def teams(core: Core, org_id: str | None = None) -> list[Team]:
    with core.store.read() as reader:
        found = [
            Team(one.id, one.body["org"], one.body["name"], one.at)
            for one in every(reader, NO_HUB, "team")
        ]
    return [team for team in found if org_id is None or team.org_id == org_id]


def card(core: Core, hub_id: str) -> HubCard:
    with core.store.read() as reader:
        return card_of(reader, hub_id)


def set_card(
    core: Core, hub_id: str, *, team_id: str | None = None, delete_policy: str | None = None
) -> HubCard:
    """Gives a hub to a team, or says what its contributors may delete; an empty team takes it
    back."""
    policy = None if delete_policy is None else clean_policy(delete_policy)
    with core.store.write() as writer:
        need_hub(writer, hub_id)
        if team_id:
            need(writer, "team", team_id)
        old = card_of(writer, hub_id)
        new = HubCard(
            hub_id,
            old.team_id if team_id is None else team_id or None,
            policy or old.delete_policy,
        )
        body = {"team": new.team_id, "delete_policy": new.delete_policy}
        writer.put_record(Record(hub_id, "card", "card", core.now(), body))
    return new


# Members


def members(core: Core, scope: ScopeKind, scope_id: str) -> list[Member]:
    """Who belongs, by name; the owner of a hub is among them."""
    with core.store.read() as reader:
        need_scope(reader, scope, scope_id)
        found = list(members_of(reader, scope, scope_id))
        if scope == "hub" and (hub := reader.hub_by_id(scope_id)) is not None:
            owner = Member("hub", hub.id, hub.owner, "owner", hub.created_at, hub.owner)
            found = [owner, *(one for one in found if one.actor != hub.owner)]
    return sorted(found, key=lambda member: member.actor)


def set_member(core: Core, scope: ScopeKind, scope_id: str, actor: str, role: str) -> Member:
    """Adds somebody, or changes their role. The last owner stays one."""
    actor = clean_name("member", actor)
    member = Member(scope, scope_id, actor, clean_role(role), core.now(), core.actor)
    with core.store.write() as writer:
        need_scope(writer, scope, scope_id)
        if member.role != "owner":
            refuse_ownerless(writer, scope, scope_id, actor)
        put_member(writer, member)
    return member


def remove_member(core: Core, scope: ScopeKind, scope_id: str, actor: str) -> None:
    with core.store.write() as writer:
        need_scope(writer, scope, scope_id)
        refuse_ownerless(writer, scope, scope_id, actor)
        if not writer.drop_record(*member_place(scope, scope_id, actor)):
            raise NotFound(f"{actor!r} is not a member.", hint="List the members to see who is.")


def standing(core: Core, hub: Hub, actor: str) -> Standing | None:
    """How somebody stands to a hub; None where it is nothing to them."""
    with core.store.read() as reader:
        return _standing(reader, hub, actor)


def hubs_of(core: Core, actor: str) -> list[tuple[Hub, Standing]]:
    """The hubs that somebody can reach, by name."""
    with core.store.read() as reader:
        found = ((hub, _standing(reader, hub, actor)) for hub in reader.hubs())
        return [(hub, how) for hub, how in found if how is not None and hub.state == "active"]


def _standing(reader: Reader, hub: Hub, actor: str) -> Standing | None:
    about = card_of(reader, hub.id)
    role = "owner" if hub.owner == actor else role_of(reader, "hub", hub.id, actor)
    if role is not None:
        return Standing(actor, role, MEMBER_SEES, about.delete_policy)
    if about.team_id is None:
        return None
    sees: tuple[Boundary, ...] = ()
    if role_of(reader, "team", about.team_id, actor) is not None:
        sees = ("team", "org")
    else:
        team = reader.record(NO_HUB, "team", about.team_id)
        if team is not None and role_of(reader, "org", team.body["org"], actor) is not None:
            sees = ("org",)
    return Standing(actor, None, sees, about.delete_policy) if sees else None


def role_in(core: Core, scope: ScopeKind, scope_id: str, actor: str) -> Role | None:
    """Somebody's role in a team or an organisation, or in a hub they do not own."""
    with core.store.read() as reader:
        return role_of(reader, scope, scope_id, actor)
