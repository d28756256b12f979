"""The URL of a store as it is shown and stored (without its password, and valid from any folder);
and initialising, migrating and indexing a store on a server, which only PostgreSQL needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import InvalidInput
from holdfast.wiring import need_postgres

if TYPE_CHECKING:
    from holdfast.store.postgres import PostgresStore
    from holdfast.store.postgres.initialise import Prepared as Prepared
    from holdfast.store.postgres.initialise import Readiness
    from holdfast.store.postgres.vector_index import Indexed


def from_anywhere(url: str) -> str:
    """The same store from whichever folder it is opened: the path of a file is made whole."""
    path = url.removeprefix("sqlite:")
    return url if path in (url, "") else f"sqlite:{os.path.abspath(path)}"


def without_password(url: str) -> str:
    """A URL as it may be shown. A server's password may be before its name, or be an option."""
    from urllib.parse import unquote

    front, mark, rest = url.partition("://")
    if not mark:
        return url
    place, question, options = rest.partition("?")
    if "@" in options:
        # An option, or the second half of a password.
        return f"{front}{mark}…"
    user, at, path = place.rpartition("@")
    kept = [one for one in options.split("&") if "password" not in unquote(one.partition("=")[0])]
    shown = f"{user.partition(':')[0]}{at}{path}" if at else place
    return f"{front}{mark}{shown}{question if any(kept) else ''}{'&'.join(kept)}"


def refuse_password(url: str) -> None:
    """InvalidInput for a URL that is about to be written into the settings, with a password."""
    if without_password(url) != url:
        raise InvalidInput(
            "The settings file must not hold a password, so this URL is not written into it.",
            hint="Put the password into PGPASSWORD or ~/.pgpass, and leave it out of the URL.",
        )


def init_store(
    url: str, *, partitions: int | None, citus: bool, role: str, report: Callable[[str], None]
) -> Prepared:
    """Makes a database ready to be the store; the only kind of store that needs it."""
    _need_server(
        url,
        "Only a PostgreSQL database is made ready by hand; other stores make themselves.",
        hint="Name one: holdfast store init --url postgresql://HOST/NAME",
    )
    from holdfast.store.postgres.initialise import initialise

    return initialise(url, partitions=partitions, citus=citus, role=role, report=report)


def check_store(url: str, *, role: str) -> Readiness:
    """What a database lacks to be the store; changes nothing."""
    _need_server(
        url,
        "Only a PostgreSQL database is examined this way; `holdfast doctor` examines other stores.",
        hint="Name one: holdfast store check --url postgresql://HOST/NAME",
    )
    from holdfast.store.postgres.initialise import check_readiness

    return check_readiness(url, role=role)


def migrate_store(url: str, *, report: Callable[[str], None]) -> Prepared:
    """Brings a database up to date, with what takes long on tables that are in use."""
    _need_server(
        url,
        "Only a PostgreSQL database is migrated by hand; other stores do it when opened.",
        hint="Name one: holdfast store migrate --url postgresql://HOST/NAME",
    )
    from holdfast.store.postgres.initialise import migrate

    return migrate(url, report=report)


def index_store(url: str, *, hub: str = "", memory: str = "") -> Iterator[Indexed]:
    """Builds the server's own index of the vectors of large hubs, or of one, one after the other;
    the server may take so much memory for it."""
    with _indexed_store(url) as store:
        from holdfast.store.postgres.vector_index import build

        yield from build(store, hub=hub, memory=memory)


def drop_store_index(url: str, *, hub: str = "") -> Iterator[Indexed]:
    """Takes these indexes away, of all hubs or of one."""
    with _indexed_store(url) as store:
        from holdfast.store.postgres.vector_index import drop

        yield from drop(store, hub=hub)


@contextmanager
def _indexed_store(url: str) -> Iterator[PostgresStore]:
    _need_server(
        url,
        "Only a PostgreSQL server keeps an index of vectors; here they are scanned.",
        hint="Past 100,000 the extra `index` makes that faster.",
    )
    from holdfast.store.postgres import PostgresStore

    store = PostgresStore(url)
    try:
        yield store
    finally:
        store.close()


def _need_server(url: str, otherwise: str, *, hint: str) -> None:
    """InvalidInput for a store of another kind."""
    if not url.startswith(("postgresql:", "postgres:")):
        raise InvalidInput(otherwise, hint=hint)
    need_postgres()
