"""Invitations: a one-time token for a place in a hub, a team or an organisation."""

from __future__ import annotations

from datetime import timedelta

from holdfast.domain.access import ROLES, Invite, Member, Role, ScopeKind
from holdfast.domain.names import PersonName
from holdfast.domain.records import NO_HUB
from holdfast.engine.core import Core
from holdfast.engine.people import membership_index
from holdfast.engine.people.records import (
    Handed,
    hash_of,
    hub_of_scope,
    invite_from,
    invite_record,
    need_scope,
    new_secret,
    put_member,
    refuse_lookalike,
    role_of,
)
from holdfast.errors import InvalidInput, NotFound

_INVITE_DAYS = 7


def invite(
    core: Core, scope: ScopeKind, scope_id: str, role: Role, *, days: int = _INVITE_DAYS
) -> Handed:
    """A one-time token for a place; whoever brings it to `accept` gets the role."""
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
        membership_index.note(writer, scope_id, "invite", made.id, now)
    return Handed(made, token)


def invites(core: Core, scope: ScopeKind, scope_id: str) -> list[Invite]:
    """The invitations of a scope, oldest first, used ones among them."""
    with core.store.read() as reader:
        ids = membership_index.of(reader, scope_id, "invite")
        records = [reader.record(NO_HUB, "invite", invite_id) for invite_id in ids]
    found = [invite_from(one) for one in records if one is not None]
    return [one for one in found if (one.scope, one.scope_id) == (scope, scope_id)]


def accept(core: Core, token: str, actor: PersonName) -> Member:
    """Takes the place that a token offers. A token that is unknown, used or too old is refused with
    one sentence for all: nothing is told about tokens."""
    now = core.now()
    refused = NotFound(
        "This invitation is not valid.", hint="Ask for a new one; each can be used once."
    )
    if not isinstance(token, str):
        raise refused
    token = token.strip()
    # For which hub it is, has to be known before the write that takes the place; a read may be of
    # a standby that has not heard of it yet.
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
    """Takes an invitation back."""
    with core.store.write(hub=NO_HUB) as writer:
        record = writer.record(NO_HUB, "invite", invite_id)
        if record is None:
            raise NotFound(f"There is no invitation {invite_id!r}.")
        membership_index.drop(writer, invite_from(record).scope_id, "invite", invite_id)
        writer.drop_record(NO_HUB, "invite", invite_id)
