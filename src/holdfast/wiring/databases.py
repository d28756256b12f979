"""What is done by hand with a store on a server: it is made ready, brought up to date, and given an
index of vectors. Only PostgreSQL needs any of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import InvalidInput
from holdfast.wiring import need_postgres

if TYPE_CHECKING:
    from holdfast.store.postgres import PostgresStore
    from holdfast.store.postgres.initialise import Prepared as Prepared
    from holdfast.store.postgres.readiness import Readiness
    from holdfast.store.postgres.vector_index import Indexed


def init_store(
    url: str, *, partitions: int | None, citus: bool, role: str, told: Callable[[str], None]
) -> Prepared:
    """Makes a database ready to be the store; the only kind of store that needs it."""
    _need_server(
        url,
        "Only a PostgreSQL database is made ready by hand; other stores make themselves.",
        hint="Name one: holdfast store init --url postgresql://HOST/NAME",
    )
    from holdfast.store.postgres.initialise import initialise

    return initialise(url, partitions=partitions, citus=citus, role=role, report=told)


def check_store(url: str, *, role: str) -> Readiness:
    """What a database lacks to be the store; changes nothing."""
    _need_server(
        url,
        "Only a PostgreSQL database is examined this way; `holdfast doctor` examines other stores.",
        hint="Name one: holdfast store check --url postgresql://HOST/NAME",
    )
    from holdfast.store.postgres.readiness import check_readiness

    return check_readiness(url, role=role)


def migrate_store(url: str, *, told: Callable[[str], None]) -> Prepared:
    """Brings a database up to date, with what takes long on tables that are in use."""
    _need_server(
        url,
        "Only a PostgreSQL database is migrated by hand; other stores do it when opened.",
        hint="Name one: holdfast store migrate --url postgresql://HOST/NAME",
    )
    from holdfast.store.postgres.initialise import migrate

    return migrate(url, report=told)


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
