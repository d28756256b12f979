"""Keeps access that has ended from coming back with an older backup: keys that were revoked since
stay revoked, and invitations and sign-ins that have ended open nothing. Roles come back as the
backup has them, since they may be what is restored; those that had been taken away are named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from holdfast.domain.hub import ROLES, ScopeKind
from holdfast.domain.records import NO_HUB
from holdfast.engine.people.keys import KIND as SIGN_IN
from holdfast.engine.people.records import (
    card_of,
    drop,
    invite_from,
    key_from,
    key_record,
    members_of,
    role_of,
)
from holdfast.store.values import every_record

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Store, Writer


def keep_ended(before: Store, into: Store) -> list[str]:
    """Ends in a copy of a backup what had ended in the store that it replaces; returns sentences
    on that, and on who gets back what was taken from them."""
    with before.read() as old, into.write(hub=NO_HUB) as writer:
        _end_sign_ins(writer)
        return [
            *_revoked_keys(old, writer),
            *_ended_invitations(old, writer),
            *_returning(old, writer),
        ]


def unknown_access(store: Store) -> list[str]:
    """Returns a sentence on the keys of a restored store, if the store before could not be read,
    so that nobody knows which of them had been revoked."""
    with store.read() as reader:
        keys = [key_from(record) for record in every_record(reader, NO_HUB, "key")]
    good = sorted(key.name for key in keys if key.revoked_at is None)
    if not good:
        return []
    return [
        f"The store before could not be read, so these keys are good as in the backup:"
        f" {', '.join(good)}. Revoke those that had ended (`holdfast key list` has their ids)."
    ]


def _revoked_keys(old: Reader, writer: Writer) -> Iterator[str]:
    for record in list(every_record(writer, NO_HUB, "key")):
        known = old.record(NO_HUB, "key", record.id)
        if known is None:
            continue
        key, revoked_at = key_from(record), key_from(known).revoked_at
        if revoked_at is not None and key.revoked_at is None:
            writer.put_record(key_record(key._replace(revoked_at=revoked_at), record.lookup))
            yield f"The key {key.name} of {key.actor} was revoked after the backup and stays so."


def _ended_invitations(old: Reader, writer: Writer) -> Iterator[str]:
    dropped = 0
    for record in list(every_record(writer, NO_HUB, "invite")):
        invitation = invite_from(record)
        if invitation.used_at is not None:
            continue
        known = old.record(NO_HUB, "invite", record.id)
        if known is None:
            # One that was withdrawn leaves nothing behind, so it cannot be told from one that the
            # store before never had.
            drop(writer, invitation.scope_id, "invite", record.id)
            writer.drop_record(NO_HUB, "invite", record.id)
            dropped += 1
        elif invite_from(known).used_at is not None:
            writer.put_record(known)
    if dropped:
        yield (
            f"Invitations that were not there before the restore do not come back: {dropped}."
            " Where one is still wanted, make a new one."
        )


def _end_sign_ins(writer: Writer) -> None:
    """People sign in to the page again: some had signed out since."""
    for record in list(every_record(writer, NO_HUB, SIGN_IN)):
        writer.drop_record(NO_HUB, SIGN_IN, record.id)


def _returning(old: Reader, new: Reader) -> Iterator[str]:
    for hub in new.hubs():
        known = old.hub_by_id(hub.id)
        if known is None or known.state != "active":
            continue
        yield from _members(old, new, "hub", hub.id, f"hub {hub.name}")
        card, card_before = card_of(new, hub.id), card_of(old, hub.id)
        for kind, now, then in (
            ("team", card.team_id, card_before.team_id),
            ("org", card.org_id, card_before.org_id),
        ):
            if now and now != then:
                yield f"The hub {hub.name} is shared with {_called(new, kind, now)} again."
    for scope in ("org", "team"):
        for record in every_record(new, NO_HUB, scope):
            if old.record(NO_HUB, scope, record.id) is not None:
                place = _called(new, scope, record.id)
                yield from _members(old, new, scope, record.id, place)


def _members(
    old: Reader, new: Reader, scope: ScopeKind, scope_id: str, place: str
) -> Iterator[str]:
    for member in members_of(new, scope, scope_id):
        role = role_of(old, scope, scope_id, member.actor)
        if role is None or ROLES.index(role) < ROLES.index(member.role):
            yield f"{member.actor} is {member.role} of {place} again, as in the backup."


def _called(reader: Reader, kind: str, record_id: str) -> str:
    record = reader.record(NO_HUB, kind, record_id)
    name = record_id if record is None else record.body["name"]
    return f"{'team' if kind == 'team' else 'organisation'} {name}"
