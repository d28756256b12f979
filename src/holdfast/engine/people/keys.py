"""API keys: create, list, revoke, and find by their secret, which is shown once and stored only as
a hash. And sign-ins of the web page: a random token in a cookie represents a key until it expires
or is signed out. Only the token's hash is stored, and the key is looked up again each time, so that
revoking a key ends its sign-ins at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from holdfast.domain.hub import Key, Label, PersonName
from holdfast.domain.records import NO_HUB, Record
from holdfast.engine.core import Core
from holdfast.engine.people import records
from holdfast.engine.people.records import (
    HandedKey,
    hash_of,
    key_from,
    key_record,
    need_hub,
    new_secret,
    require_parsed,
)
from holdfast.errors import HoldfastError, NotFound
from holdfast.store.values import every_record

# The prefix of every key, by which secret scanners recognise it.
KEY_PREFIX = "hf_"
# A key's last use is recorded at most this often; it is for people, who need no exact second.
_USE_NOTED_EVERY = timedelta(minutes=1)


def create_key(
    core: Core,
    name: Label,
    *,
    actor: PersonName | None = None,
    hubs: Sequence[str] = (),
    read_only: bool = False,
    no_delete: bool = False,
    expires_at: datetime | None = None,
) -> HandedKey:
    """Creates a key; its secret is shown once. `hubs` are the ids of the hubs that it may use."""
    key = Key(
        core.ids.next("key"),
        core.actor if actor is None else actor,
        name,
        core.now(),
        tuple(hubs),
        read_only,
        no_delete,
        expires_at,
    )
    require_parsed(key.actor)
    secret = KEY_PREFIX + new_secret()
    with core.store.write(hub=NO_HUB) as writer:
        for hub_id in key.hubs:
            need_hub(writer, hub_id)
        writer.put_record(key_record(key, hash_of(secret)))
        records.note(writer, key.actor, "key", key.id, key.at)
    return HandedKey(key, secret)


def keys(core: Core, actor: PersonName | None = None) -> list[Key]:
    """All keys, or those of one person, oldest first, including revoked ones."""
    with core.store.read() as reader:
        if actor is None:
            return [key_from(one) for one in every_record(reader, NO_HUB, "key")]
        ids = records.of(reader, actor, "key")
        there = (reader.record(NO_HUB, "key", key_id) for key_id in ids)
        return [key_from(one) for one in there if one is not None]


def revoke_key(core: Core, key_id: str) -> Key:
    """Revokes a key permanently; revoking it again changes nothing."""
    with core.store.write(hub=NO_HUB) as writer:
        record = writer.record(NO_HUB, "key", key_id)
        if record is None:
            raise NotFound(
                f"There is no key {key_id!r}.",
                hint="List the keys to see which there are.",
                command="`holdfast key list` shows them.",
            )
        key = key_from(record)
        if key.revoked_at is None:
            key = key._replace(revoked_at=core.now())
            writer.put_record(key_record(key, record.lookup))
    return key


def find_key(core: Core, secret: str) -> Key | None:
    """The API key with this secret; None if it is unknown, revoked or expired. The token of a
    sign-in gives its key."""
    if secret.startswith(TOKEN_PREFIX):
        signed_in = key_of_sign_in(core, secret)
        good = signed_in is not None and not signed_in.refusal(core.now())
        return signed_in if good else None
    if not secret.startswith(KEY_PREFIX):
        return None
    with core.read() as reader:
        record = reader.record_by_lookup(NO_HUB, "key", hash_of(secret))
    if record is None:
        return None
    key = key_from(record)
    now = core.now()
    if key.refusal(now):
        return None
    if key.used_at is None or now - key.used_at >= _USE_NOTED_EVERY:
        _note_use(core, record, key._replace(used_at=now))
    return key


def has_keys(core: Core) -> bool:
    """Whether any key is valid now."""
    now = core.now()
    return any(not key.refusal(now) for key in keys(core))


def _note_use(core: Core, read: Record, used: Key) -> None:
    try:
        with core.store.write(durable=False, hub=NO_HUB) as writer:
            # Only if it is unchanged: it may have been revoked since it was read.
            writer.swap_record(read, key_record(used, read.lookup))
    except HoldfastError:
        # As with other counters, a busy or full store must not make a request fail.
        return


# Different from a key's prefix, so that neither is taken for the other.
TOKEN_PREFIX = "hfs_"
KIND = "sign-in"
# A working week and a weekend; people sign in again after that.
LASTS = timedelta(days=9)
# The most expired sign-ins that a new sign-in removes.
_DROPPED_AT_ONCE = 50


def sign_in(core: Core, key: Key) -> str:
    """Creates a token for a browser that signs in with a valid key."""
    token = TOKEN_PREFIX + new_secret()
    now = core.now()
    with core.store.write(hub=NO_HUB) as writer:
        for old in writer.due_records(KIND, now, limit=_DROPPED_AT_ONCE):
            writer.drop_record(old.hub_id, KIND, old.id)
        record_id = core.ids.next("sign-in")
        body = {"key": key.id}
        writer.put_record(
            Record(NO_HUB, KIND, record_id, now, body, hash_of(token), due=now + LASTS)
        )
    return token


def key_of_sign_in(core: Core, token: str) -> Key | None:
    """The API key of a sign-in's token; None if it was signed out or has expired. The caller checks
    whether the key itself is still valid."""
    with core.read() as reader:
        record = reader.record_by_lookup(NO_HUB, KIND, hash_of(token))
        if record is None or record.due is None or record.due <= core.now():
            return None
        found = reader.record(NO_HUB, "key", str(record.body["key"]))
    return None if found is None else key_from(found)


def sign_out(core: Core, token: str) -> None:
    """Ends a browser's sign-in; an unknown token is ignored."""
    with core.store.write(hub=NO_HUB) as writer:
        record = writer.record_by_lookup(NO_HUB, KIND, hash_of(token))
        if record is not None:
            writer.drop_record(NO_HUB, KIND, record.id)
