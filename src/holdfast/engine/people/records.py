"""Reads and writes organisations, teams, members, invitations and keys as records of the store.
Secrets are stored only as hashes.

The index of memberships finds the hubs, teams, organisations and keys of a person, the hubs of a
team, and the invitations to a place without a scan. It is derived from other records: an entry says
where to look, never what is allowed. Readers check the record itself, so a stale entry is harmless;
an entry is written in the same transaction as its record.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.hub import (
    DELETE_POLICIES,
    ROLES,
    SCOPE_KINDS,
    DeletePolicy,
    Hub,
    HubCard,
    Invite,
    Key,
    Member,
    PersonName,
    Role,
    ScopeKind,
)
from holdfast.domain.records import NO_HUB, Record
from holdfast.engine.core import Core, require_hub
from holdfast.errors import AlreadyExists, Conflict, InvalidInput, NotFound
from holdfast.store.values import every_record
from holdfast.system.named_tuple import NamedTuple
from holdfast.text import clean, names
from holdfast.text.names import skeleton

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer


# 256 random bits of the operating system cannot be guessed, so a fast hash is enough.
_SECRET_BYTES = 32


class HandedInvite(NamedTuple):
    """A new invitation with its token, which is shown now and never again."""

    what: Invite
    secret: str


class HandedKey(NamedTuple):
    """A new key with its secret, which is shown now and never again."""

    what: Key
    secret: str


def member_place(scope: ScopeKind, scope_id: str, actor: str) -> tuple[str, str, str]:
    if scope == "hub":
        return scope_id, "member", actor
    # The scope's id contains no slash; the actor's name may contain any character.
    return NO_HUB, f"{scope}-member", f"{scope_id}/{actor}"


def hub_of_scope(scope: ScopeKind, scope_id: str) -> str:
    """The hub that a transaction about the members of a scope belongs to."""
    return member_place(scope, scope_id, "")[0]


def require_parsed(actor: PersonName) -> None:
    """Refuses a name that parsing would change; the last check before it is stored."""
    if names.parse_person(actor) != actor:
        raise InvalidInput(f"The name {actor!r} was not parsed.", hint="Use `parse_person`.")


def put_member(writer: Writer, member: Member) -> None:
    require_parsed(member.actor)
    if member.role not in ROLES:
        raise InvalidInput(f"The role {member.role!r} was not parsed.", hint="Use `parse_role`.")
    place = member_place(member.scope, member.scope_id, member.actor)
    body = {"role": member.role, "added_by": member.added_by}
    writer.put_record(Record(*place, member.since, body))
    note(writer, member.actor, member.scope, member.scope_id, member.since)
    look = look_of(member.scope_id, member.actor)
    note(writer, look, "look", member.actor, member.since)


def refuse_lookalike(writer: Writer, scope: ScopeKind, scope_id: str, actor: PersonName) -> None:
    """Refuses a new member with a name that looks like that of another."""
    found = [*of(writer, look_of(scope_id, actor), "look")]
    hub = writer.hub_by_id(scope_id) if scope == "hub" else None
    if hub is not None and names.skeleton(hub.owner) == names.skeleton(actor):
        found.append(hub.owner)
    for other in found:
        known = other != actor and (
            (hub is not None and hub.owner == other)
            or role_of(writer, scope, scope_id, PersonName(other)) is not None
        )
        if known and actor not in found:
            raise AlreadyExists(
                f"The name {actor!r} looks like that of the member {other!r}.",
                hint="Choose a name that nobody takes for theirs.",
            )


def drop_member(writer: Writer, scope: ScopeKind, scope_id: str, actor: PersonName) -> bool:
    """Removes a member; returns whether there was one."""
    drop(writer, look_of(scope_id, actor), "look", actor)
    hub = writer.hub_by_id(scope_id) if scope == "hub" else None
    if hub is None or hub.owner != actor:
        drop(writer, actor, scope, scope_id)
    return writer.drop_record(*member_place(scope, scope_id, actor))


def members_of(reader: Reader, scope: ScopeKind, scope_id: str) -> Iterator[Member]:
    hub_id, kind, prefix = member_place(scope, scope_id, "")
    for one in every_record(reader, hub_id, kind, prefix):
        actor = PersonName(one.id.removeprefix(prefix))
        yield Member(scope, scope_id, actor, one.body["role"], one.at, one.body["added_by"])


def role_of(reader: Reader, scope: ScopeKind, scope_id: str, actor: PersonName) -> Role | None:
    record = reader.record(*member_place(scope, scope_id, actor))
    role: Role | None = None if record is None else record.body["role"]
    return role


def refuse_ownerless(writer: Writer, scope: ScopeKind, scope_id: str, actor: PersonName) -> None:
    hub = writer.hub_by_id(scope_id) if scope == "hub" else None
    if hub is not None:
        if hub.owner == actor:
            raise Conflict(
                f"{actor!r} made this hub and stays its owner.",
                hint="To end their access, revoke their keys; others can be owners beside them.",
                command="To end their access: `holdfast key list`, then `holdfast key revoke ID`.",
            )
        return
    owners = [one.actor for one in members_of(writer, scope, scope_id) if one.role == "owner"]
    if owners == [actor]:
        raise Conflict(f"{actor!r} is the last owner.", hint="Make somebody else an owner first.")


def card_of(reader: Reader, hub_id: str) -> HubCard:
    record = reader.record(hub_id, "card", "card")
    if record is None:
        return HubCard(hub_id)
    body = record.body
    return HubCard(
        hub_id, body["team"], body["delete_policy"], body.get("org"), body.get("label", "")
    )


def called(core: Core, reader: Reader, hub: Hub) -> Hub:
    """The hub with the name that the actor knows: its label for a caller with a key, else its own
    name."""
    return hub if core.permit is None else hub._replace(label=card_of(reader, hub.id).label)


def put_card(writer: Writer, card: HubCard, at: datetime) -> None:
    """Stores the card of a hub (its place and label), with the index entries by which the hub is
    found."""
    old = card_of(writer, card.hub_id)
    changed: tuple[tuple[str | None, str | None, What], ...] = (
        (old.team_id, card.team_id, "shared"),
        (old.org_id, card.org_id, "shared"),
        (old.label, card.label, "called"),
    )
    for before, now, what in changed:
        if before and before != now:
            drop(writer, before, what, card.hub_id)
        if now:
            note(writer, now, what, card.hub_id, at)
    body = {
        "team": card.team_id,
        "delete_policy": card.delete_policy,
        "org": card.org_id,
        "label": card.label,
    }
    writer.put_record(Record(card.hub_id, "card", "card", at, body))


_WORDS = {"org": "organisation"}


def word_for(kind: str) -> str:
    """The word that people use for a kind of scope."""
    return _WORDS.get(kind, kind)


def unknown(kind: str, name: str) -> NotFound:
    return NotFound(f"There is no {word_for(kind)} {name!r}.", hint=f"List the {kind}s to see.")


def need(reader: Reader, kind: str, record_id: str) -> Record:
    record = reader.record(NO_HUB, kind, record_id)
    if record is None:
        raise unknown(kind, record_id)
    return record


def need_hub(reader: Reader, hub_id: str) -> Hub:
    return require_hub(reader, hub_id, hub_id)


def need_scope(reader: Reader, scope: ScopeKind, scope_id: str) -> None:
    clean.one_of(scope, SCOPE_KINDS, "scope")
    if scope == "hub":
        need_hub(reader, scope_id)
    else:
        need(reader, scope, scope_id)


def invite_record(one: Invite, lookup: str | None) -> Record:
    body = {
        "scope": one.scope,
        "scope_id": one.scope_id,
        "role": one.role,
        "invited_by": one.invited_by,
        "expires_at": to_text(one.expires_at),
        "used_at": _text(one.used_at),
        "used_by": one.used_by,
    }
    return Record(NO_HUB, "invite", one.id, one.at, body, lookup)


def invite_from(record: Record) -> Invite:
    body = record.body
    return Invite(
        record.id,
        body["scope"],
        body["scope_id"],
        body["role"],
        body["invited_by"],
        record.at,
        from_text(body["expires_at"]),
        _time(body["used_at"]),
        body["used_by"],
    )


def key_record(key: Key, lookup: str | None) -> Record:
    body = {
        "actor": key.actor,
        "name": key.name,
        "hubs": list(key.hubs),
        "read_only": key.read_only,
        "no_delete": key.no_delete,
        "expires_at": _text(key.expires_at),
        "revoked_at": _text(key.revoked_at),
        "used_at": _text(key.used_at),
    }
    return Record(NO_HUB, "key", key.id, key.at, body, lookup)


def key_from(record: Record) -> Key:
    body = record.body
    return Key(
        record.id,
        body["actor"],
        body["name"],
        record.at,
        tuple(body["hubs"]),
        body["read_only"],
        body["no_delete"],
        _time(body["expires_at"]),
        _time(body["revoked_at"]),
        _time(body["used_at"]),
    )


def _text(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)


def _time(text: str | None) -> datetime | None:
    return None if text is None else from_text(text)


def new_secret() -> str:
    import secrets

    made = secrets.token_urlsafe(_SECRET_BYTES)
    # On a command line, an argument that begins with a dash is an option.
    return f"_{made[1:]}" if made.startswith("-") else made


def hash_of(secret: str) -> str:
    import hashlib

    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def parse_role(role: str) -> Role:
    """The role of that name; case and whitespace around it do not matter."""
    checked: Role = clean.one_of(role, ROLES, "role")  # type: ignore[assignment]
    return checked


def clean_policy(policy: str) -> DeletePolicy:
    checked: DeletePolicy = clean.one_of(policy, DELETE_POLICIES, "delete policy")  # type: ignore[assignment]
    return checked


# The kinds of index entries. For a person: their hubs, teams, organisations and keys. For a team or
# an organisation: the hubs shared with it. For an organisation: its teams. For a scope: its
# invitations. For a name: the hubs labelled with it. For the look of a name in a scope: the members
# with names that look like that.
What: TypeAlias = Literal[
    "hub", "team", "org", "key", "shared", "team of", "invite", "called", "look"
]

_KIND = "belongs"


def _prefix(owner: str, what: What) -> str:
    # Names may contain any character; the length marks their end, so that no two keys are the same.
    return f"{len(owner)}:{owner}/{what}/"


def look_of(scope_id: str, actor: str) -> str:
    """The owner of the index entry of a member by the look of their name."""
    return f"{scope_id}/{skeleton(actor)}"


def note(writer: Writer, owner: str, what: What, which: str, at: datetime) -> None:
    writer.put_record(Record(NO_HUB, _KIND, _prefix(owner, what) + which, at, {}))


def drop(writer: Writer, owner: str, what: What, which: str) -> None:
    writer.drop_record(NO_HUB, _KIND, _prefix(owner, what) + which)


def of(reader: Reader, owner: str, what: What) -> Iterator[str]:
    """The ids of the entries in the index of memberships, in order."""
    prefix = _prefix(owner, what)
    found = every_record(reader, NO_HUB, _KIND, prefix)
    return (one.id.removeprefix(prefix) for one in found)


def mend(core: Core) -> int:
    """Writes missing entries of the index of memberships; returns how many there were."""
    made = 0
    at = core.now()
    with core.store.write() as writer:
        for owner, what, which in _all(writer):
            if writer.record(NO_HUB, _KIND, _prefix(owner, what) + which) is None:
                note(writer, owner, what, which, at)
                made += 1
    return made


def note_hub(writer: Writer, hub: Hub, at: datetime) -> None:
    """Writes the index of memberships of a hub that came from another store with its members."""
    for owner, what, which in list(_of_hub(writer, hub)):
        note(writer, owner, what, which, at)


def _of_hub(reader: Reader, hub: Hub) -> Iterator[tuple[str, What, str]]:
    yield hub.owner, "hub", hub.id
    for one in every_record(reader, hub.id, "member"):
        yield one.id, "hub", hub.id
        yield look_of(hub.id, one.id), "look", one.id
    card = card_of(reader, hub.id)
    for shared_with in (card.team_id, card.org_id):
        if shared_with:
            yield shared_with, "shared", hub.id
    if card.label:
        yield card.label, "called", hub.id


def _all(reader: Reader) -> Iterator[tuple[str, What, str]]:
    """Every entry that should exist, computed from the records."""

    for hub in reader.hubs():
        yield from _of_hub(reader, hub)
    for one in every_record(reader, NO_HUB, "team"):
        yield one.body["org"], "team of", one.id
    for scope in ("team", "org"):
        for one in every_record(reader, NO_HUB, f"{scope}-member"):
            scope_id, _, actor = one.id.partition("/")
            yield actor, "team" if scope == "team" else "org", scope_id
            yield look_of(scope_id, actor), "look", actor
    for one in every_record(reader, NO_HUB, "key"):
        yield one.body["actor"], "key", one.id
    for one in every_record(reader, NO_HUB, "invite"):
        yield one.body["scope_id"], "invite", one.id
