"""A database that is only read: the memories of another home, beside one's own. Nothing in it is
made or migrated; the server itself refuses whatever would write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from holdfast.store.postgres.store import PostgresStore
from holdfast.store.postgres.urls import address_of

if TYPE_CHECKING:
    from holdfast.store.base import Store

_READ_ONLY = "-c default_transaction_read_only=on"


def open_to_read(url: str) -> Store:
    """The store in a database, for who may not change it."""
    address_of(url)  # says what is wrong with a URL that cannot be read
    options = conninfo_to_dict(url).get("options") or ""
    return PostgresStore(make_conninfo(url, options=f"{options} {_READ_ONLY}".strip()))
