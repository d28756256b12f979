"""Sign-ins of the web page: a random token in a cookie stands for a key until it expires or is
signed out. Only the token's hash is stored, and the key is looked up again each time, so that a
revoked key ends its sign-ins at once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.domain.records import NO_HUB, Record
from holdfast.engine.people.records import hash_of, key_from, new_secret

if TYPE_CHECKING:
    from holdfast.domain.access import Key
    from holdfast.engine.core import Core

# Unlike a key's prefix, so that neither is taken for the other.
TOKEN_PREFIX = "hfs_"
KIND = "sign-in"
# A working week and a weekend; people sign in again after that.
LASTS = timedelta(days=9)
# Expired sign-ins that one new sign-in removes.
_DROPPED_AT_ONCE = 50


def sign_in(core: Core, key: Key) -> str:
    """A new token for a key that is good now."""
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
    """The key that a token stands for; None where it was signed out, or has expired. Whether the
    key itself is still good is for the caller to check."""
    with core.read() as reader:
        record = reader.record_by_lookup(NO_HUB, KIND, hash_of(token))
        if record is None or record.due is None or record.due <= core.now():
            return None
        found = reader.record(NO_HUB, "key", str(record.body["key"]))
    return None if found is None else key_from(found)


def sign_out(core: Core, token: str) -> None:
    """Ends a sign-in; one that is not there is left alone."""
    with core.store.write(hub=NO_HUB) as writer:
        record = writer.record_by_lookup(NO_HUB, KIND, hash_of(token))
        if record is not None:
            writer.drop_record(NO_HUB, KIND, record.id)
