"""Members and invitations, the teams and organisations that a hub is shared with, and the role of a
person in it. `domain/hub.py` defines what a role allows; the callers of these functions have
checked the permission. An invitation is a one-time token for membership in a hub, a team or an
organisation."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.domain.hub import (
    MEMBER_SEES,
    ROLES,
    DeletePolicy,
    Hub,
    HubCard,
    Invite,
    Member,
    PersonName,
    PlaceRef,
    Role,
    ScopeKind,
    Standing,
)
from holdfast.domain.records import NO_HUB
from holdfast.engine.core import Core
from holdfast.engine.people import records
from holdfast.engine.people.records import (
    HandedInvite,
    card_of,
    clean_policy,
    drop_member,
    hash_of,
    hub_of_scope,
    invite_from,
    invite_record,
    members_of,
    need,
    need_hub,
    need_scope,
    new_secret,
    put_card,
    put_member,
    refuse_lookalike,
    refuse_ownerless,
    role_of,
)
from holdfast.errors import InvalidInput, NotFound
from holdfast.text import names

if TYPE_CHECKING:
    from holdfast.domain.memory import Boundary
    from holdfast.store.base import Reader


# Hubs and who they are shared with


def card(core: Core, hub_id: str) -> HubCard:
    with core.store.read() as reader:
        return card_of(reader, hub_id)


def checked_policy(
    team_id: str | None, org_id: str | None, delete_policy: str | None
) -> DeletePolicy | None:
    """The delete policy; raises InvalidInput if `set_card` would refuse these arguments."""
    if team_id and org_id:
        raise InvalidInput("A hub belongs to a team or to an organisation, not to both.")
    return None if delete_policy is None else clean_policy(delete_policy)


def set_card(
    core: Core,
    hub_id: str,
    *,
    team_id: str | None = None,
    org_id: str | None = None,
    delete_policy: str | None = None,
) -> HubCard:
    """Shares a hub with a team or a whole organisation; an empty id ends that. `delete_policy`
    defines what contributors may delete."""
    policy = checked_policy(team_id, org_id, delete_policy)
    with core.store.write(hub=hub_id) as writer:
        need_hub(writer, hub_id)
        new = card_of(writer, hub_id)
        for kind, given in (("team", team_id), ("org", org_id)):
            if given:
                need(writer, kind, given)
            if given is not None:
                new = new._replace(team_id=None, org_id=None)
        new = new._replace(
            team_id=team_id or new.team_id,
            org_id=org_id or new.org_id,
            delete_policy=policy or new.delete_policy,
        )
        put_card(writer, new, core.now())
    return new


# Members


def members(core: Core, scope: ScopeKind, scope_id: str) -> list[Member]:
    """The members, by name, including the owner of a hub."""
    with core.store.read() as reader:
        need_scope(reader, scope, scope_id)
        found = list(members_of(reader, scope, scope_id))
        if scope == "hub" and (hub := reader.hub_by_id(scope_id)) is not None:
            owner = Member("hub", hub.id, hub.owner, "owner", hub.created_at, hub.owner)
            found = [owner, *(one for one in found if one.actor != hub.owner)]
    return sorted(found, key=lambda member: member.actor)


def member_called(core: Core, scope: ScopeKind, scope_id: str, text: str) -> PersonName:
    """The stored name of a member, from what a caller typed. A stored name that would be refused
    today is found if it matches exactly, so that it can be removed."""
    try:
        return names.parse_person(text)
    except InvalidInput:
        with core.store.read() as reader:
            if text and role_of(reader, scope, scope_id, PersonName(text)) is not None:
                return PersonName(text)
        raise


def set_member(
    core: Core, scope: ScopeKind, scope_id: str, actor: PersonName, role: Role
) -> Member:
    """Adds a member, or changes their role. The last owner cannot be demoted. A name that looks
    like that of another member is refused."""
    member = Member(scope, scope_id, actor, role, core.now(), core.actor)
    with core.store.write(hub=hub_of_scope(scope, scope_id)) as writer:
        need_scope(writer, scope, scope_id)
        if member.role != "owner":
            refuse_ownerless(writer, scope, scope_id, actor)
        refuse_lookalike(writer, scope, scope_id, actor)
        put_member(writer, member)
    return member


def remove_member(core: Core, scope: ScopeKind, scope_id: str, actor: PersonName) -> None:
    with core.store.write(hub=hub_of_scope(scope, scope_id)) as writer:
        need_scope(writer, scope, scope_id)
        refuse_ownerless(writer, scope, scope_id, actor)
        if not drop_member(writer, scope, scope_id, actor):
            raise NotFound(f"{actor!r} is not a member.", hint="List the members to see who is.")


def standing(core: Core, hub: Hub, actor: PersonName) -> Standing | None:
    """A person's access to a hub as a member; None if they have none."""
    with core.store.read() as reader:
        return _standing(reader, hub, card_of(reader, hub.id), actor)


def hubs_of(core: Core, actor: PersonName) -> list[tuple[Hub, Standing]]:
    """The hubs that a person can access, under the names that they see, by name."""
    with core.store.read() as reader:
        hubs = (reader.hub_by_id(hub_id) for hub_id in _reachable_hubs(reader, actor))
        seen = (_with_standing(reader, hub, actor) for hub in hubs if hub is not None)
        found = [pair for pair in seen if pair is not None]
    return sorted(found, key=lambda pair: (pair[0].called, pair[0].id))


def _reachable_hubs(reader: Reader, actor: PersonName) -> set[str]:
    """The ids of all hubs that a person may have access to, before the check of roles."""
    groups = {*records.of(reader, actor, "team")}
    for org_id in records.of(reader, actor, "org"):
        groups |= {org_id, *records.of(reader, org_id, "team of")}
    found = set(records.of(reader, actor, "hub"))
    for group in groups:
        found.update(records.of(reader, group, "shared"))
    return found


def hubs_called(core: Core, name: PlaceRef, actor: PersonName) -> list[tuple[Hub, Standing]]:
    """The hubs that a person can access with this id or name."""
    with core.read() as reader:
        by_id = reader.hub_by_id(name)
        if by_id is not None:
            pair = _with_standing(reader, by_id, actor)
            return [] if pair is None else [pair]
        return seen_as(reader, name, actor)


def seen_as(reader: Reader, name: str, actor: PersonName) -> list[tuple[Hub, Standing]]:
    """The hubs that a person can access and sees under that name."""
    labelled = (reader.hub_by_id(one) for one in records.of(reader, name, "called"))
    hubs = [hub for hub in (reader.hub(name), *labelled) if hub is not None]
    seen = {hub.id: _with_standing(reader, hub, actor) for hub in hubs}
    return [pair for pair in seen.values() if pair is not None and pair[0].called == name]


def _with_standing(reader: Reader, hub: Hub, actor: PersonName) -> tuple[Hub, Standing] | None:
    about = card_of(reader, hub.id)
    how = _standing(reader, hub, about, actor)
    if how is None or hub.state != "active":
        return None
    return hub._replace(label=about.label), how


def _standing(reader: Reader, hub: Hub, about: HubCard, actor: PersonName) -> Standing | None:
    role = "owner" if hub.owner == actor else role_of(reader, "hub", hub.id, actor)
    if role is not None:
        return Standing(actor, role, MEMBER_SEES, about.delete_policy)
    sees: tuple[Boundary, ...] = ()
    org_id = about.org_id
    if about.team_id is not None:
        if role_of(reader, "team", about.team_id, actor) is not None:
            sees = ("team", "org")
        elif (team := reader.record(NO_HUB, "team", about.team_id)) is not None:
            org_id = team.body["org"]
    if not sees and org_id and role_of(reader, "org", org_id, actor) is not None:
        sees = ("org",)
    return Standing(actor, None, sees, about.delete_policy) if sees else None


def is_alone(reader: Reader, hub: Hub, actor: PersonName) -> bool:
    """Whether a person owns a hub that is shared with nobody."""
    about = card_of(reader, hub.id)
    if hub.owner != actor or about.team_id or about.org_id:
        return False
    return all(one.actor == actor for one in members_of(reader, "hub", hub.id))


def role_in(core: Core, scope: ScopeKind, scope_id: str, actor: PersonName) -> Role | None:
    """A person's role in a team or an organisation, or in a hub they do not own."""
    with core.store.read() as reader:
        return role_of(reader, scope, scope_id, actor)


_INVITE_DAYS = 7


def invite(
    core: Core, scope: ScopeKind, scope_id: str, role: Role, *, days: int = _INVITE_DAYS
) -> HandedInvite:
    """Creates an invitation with a one-time token; `accept` gives its bearer the role."""
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= 365:
        raise InvalidInput("An invitation is good for 1 to 365 days.")
    now = core.now()
    made = Invite(
        core.ids.next("inv"),
        scope,
        scope_id,
        role,
        core.actor,
        now,
        now + timedelta(days=days),
    )
    token = new_secret()
    with core.store.write(hub=NO_HUB) as writer:
        need_scope(writer, scope, scope_id)
        writer.put_record(invite_record(made, hash_of(token)))
        records.note(writer, scope_id, "invite", made.id, now)
    return HandedInvite(made, token)


def invites(core: Core, scope: ScopeKind, scope_id: str) -> list[Invite]:
    """The invitations of a scope, oldest first, including used ones."""
    with core.store.read() as reader:
        ids = records.of(reader, scope_id, "invite")
        rows = [reader.record(NO_HUB, "invite", invite_id) for invite_id in ids]
    found = [invite_from(one) for one in rows if one is not None]
    return [one for one in found if (one.scope, one.scope_id) == (scope, scope_id)]


def accept(core: Core, token: str, actor: PersonName) -> Member:
    """Accepts an invitation to a hub, a team or an organisation by its token. Unknown, used and
    expired tokens are refused with the same message, so that nothing is revealed about tokens."""
    now = core.now()
    refused = NotFound(
        "This invitation is not valid.", hint="Ask for a new one; each can be used once."
    )
    if not isinstance(token, str):
        raise refused
    token = token.strip()
    # The write needs the hub beforehand, and a standby may not have the invitation yet.
    with core.store.write(hub=NO_HUB) as writer:
        seen = writer.record_by_lookup(NO_HUB, "invite", hash_of(token))
    if seen is None:
        raise refused
    offered = invite_from(seen)
    with core.store.write(hub=hub_of_scope(offered.scope, offered.scope_id)) as writer:
        record = writer.record_by_lookup(NO_HUB, "invite", hash_of(token))
        if record is None:
            raise refused
        found = invite_from(record)
        if found.used_at is not None or found.expires_at <= now:
            raise refused
        try:
            need_scope(writer, found.scope, found.scope_id)
        except NotFound:
            raise refused from None
        member = Member(found.scope, found.scope_id, actor, found.role, now, found.invited_by)
        held = role_of(writer, found.scope, found.scope_id, actor)
        if held is None or ROLES.index(held) < ROLES.index(found.role):
            refuse_lookalike(writer, found.scope, found.scope_id, actor)
            put_member(writer, member)
        else:
            member = member._replace(role=held)
        used = found._replace(used_at=now, used_by=actor)
        writer.put_record(invite_record(used, record.lookup))
    return member


def withdraw(core: Core, invite_id: str) -> None:
    """Withdraws an invitation to a hub, a team or an organisation."""
    with core.store.write(hub=NO_HUB) as writer:
        record = writer.record(NO_HUB, "invite", invite_id)
        if record is None:
            raise NotFound(f"There is no invitation {invite_id!r}.")
        records.drop(writer, invite_from(record).scope_id, "invite", invite_id)
        writer.drop_record(NO_HUB, "invite", invite_id)
