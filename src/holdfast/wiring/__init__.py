"""Builds a running engine from the settings. Only this package names concrete backends. This module
opens the store, gives the URL of a store for display and storage (without its password, and valid
from any folder), and runs `store init`, `migrate` and `index`, which only PostgreSQL needs;
`copies.py` has the operations on whole stores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.domain.clock import Clock, Ids, SystemClock, TimeIds
from holdfast.engine.core import Core
from holdfast.errors import InvalidInput, InvalidSetting, StoreReadOnly, install_hint
from holdfast.settings import Settings, load
from holdfast.settings import home_folder as home_folder
from holdfast.text.names import parse_person

if TYPE_CHECKING:
    from datetime import tzinfo
    from importlib.metadata import EntryPoint

    from holdfast.domain.hub import PersonName
    from holdfast.embed import Embedder, OwnEmbedder
    from holdfast.llm import Model
    from holdfast.store.base import Store
    from holdfast.store.postgres import PostgresStore
    from holdfast.store.postgres.initialise import Initialised as Initialised
    from holdfast.store.postgres.initialise import Readiness
    from holdfast.store.postgres.vector_index import Indexed


DATABASE = "memory.db"
STORES_GROUP = "holdfast.stores"
# What a scheme may hold beside letters and digits.
_SCHEME_MARKS = str.maketrans("", "", "+-._")


def make_home(home: str) -> None:
    """The folder, for its owner's eyes only."""
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
    except OSError as error:
        is_file = isinstance(error, FileExistsError)
        raise StoreReadOnly(
            f"{home} is a file, not a folder."
            if is_file
            else f"The folder {home} cannot be made: {error.strerror}.",
            hint="Choose another folder.",
            command="Choose another with --home or HOLDFAST_HOME.",
        ) from None


def store_url(home: str, settings: Settings) -> str:
    """The URL of the store."""
    return settings["store.url"] or f"sqlite:{os.path.join(home, DATABASE)}"


def store_file(home: str, settings: Settings) -> str:
    """The file of the embedded store; '' where another store is in use."""
    url: str = settings["store.url"]
    if not url:
        return os.path.join(home, DATABASE)
    return os.path.abspath(url.removeprefix("sqlite:")) if url.startswith("sqlite:") else ""


def build(
    home: str,
    settings: Settings,
    *,
    store: Store | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    embedder: OwnEmbedder | None = None,
    model: Model | None = None,
) -> Core:
    """The engine for these settings; what is handed in is used instead of what they name."""
    clock = clock or SystemClock()
    if store is None:
        store = open_store(
            store_url(home, settings),
            read_url=settings["store.read_url"],
            answer_s=settings["store.answer_s"],
        )

    given = None if embedder is None else _checked(embedder)

    def find() -> Embedder | None:
        if given is not None:
            return given
        found = embedder_of(settings)
        return None if found is None else _checked(found)

    def find_model(name: str, settings: Settings) -> Model | None:
        if model is not None:
            # A pass may be set to do without, whatever there is.
            return None if name == "none" else model
        return _find_model(name, settings)

    return Core(
        store,
        clock=clock,
        ids=ids or TimeIds(clock),
        actor=parse_person(settings["actor"] or _login()),
        settings=settings,
        find_embedder=find,
        find_model=find_model,
        find_zone=_find_zone,
    )


def _checked(embedder: Embedder | OwnEmbedder) -> Embedder:
    """An embedder that checks its vectors. Most commands need none, and load nothing of it."""
    from holdfast.embed import CheckedEmbedder, SizedEmbedder

    if isinstance(embedder, CheckedEmbedder | SizedEmbedder):
        return embedder
    return CheckedEmbedder(embedder)


def embedder_of(settings: Settings) -> Embedder | None:
    """The embedder that the settings name."""
    from holdfast.embed.providers import find_embedder

    return find_embedder(
        settings["embed.model"],
        key_variable=settings["embed.key_variable"],
        timeout_s=settings["embed.timeout_s"],
        threads=settings["embed.threads"],
    )


def _find_model(name: str, settings: Settings) -> Model | None:
    from holdfast.llm import find_model

    return find_model(
        name, inherit=settings["llm.model"], key_variable_named=settings["llm.key_variable"]
    )


def _find_zone(settings: Settings) -> tzinfo:
    from holdfast.wiring.zone import zone_of

    try:
        return zone_of(settings["time_zone"])
    except InvalidSetting:
        # The edges name the wrong setting; what is said is remembered all the same.
        return zone_of("")


def _login() -> str:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if name := os.environ.get(variable):
            return name
    return "user"


def build_for_reading(
    home: str, *, actor: PersonName, clock: Clock, find_embedder: Callable[[], Embedder | None]
) -> Core:
    """An engine that only reads another home, with the caller's view: nothing there is created,
    migrated, counted or embedded. The environment does not apply to that home."""
    quiet = {"recall.count_shown": False, "embed.background": False}
    settings = load(home, environ={}, flags=quiet)
    return Core(
        _open_read_only(home, store_url(home, settings)),
        clock=clock,
        ids=TimeIds(clock),
        actor=actor,
        settings=settings,
        find_embedder=find_embedder,
    )


def _open_read_only(home: str, url: str) -> Store:
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        from holdfast.store.sqlite import open_store as open_sqlite

        return open_sqlite(url, read_only=True)
    if scheme in ("postgresql", "postgres"):
        need_postgres()
        from holdfast.store.postgres import open_read_only

        return open_read_only(url)
    raise InvalidSetting(
        f"The memories of {home} are in a store of another kind (store.url is"
        f" `{without_password(url)}`).",
        hint="Only a file of the embedded store and a PostgreSQL database can be a source.",
    )


def open_store(url: str, *, read_url: str = "", answer_s: float | None = None) -> Store:
    """The store that a URL names by its scheme: built in, or found by its entry point. Where it is
    a database with a standby, `read_url` names that; `answer_s` is how long its server may take for
    one answer to a write."""
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        # Named here so that the usual start does not read the metadata of every package.
        from holdfast.store.sqlite import open_store as open_sqlite

        return open_sqlite(url)
    if scheme == "memory":
        from holdfast.store.inmemory import open_store as open_memory

        return open_memory(url)
    if scheme in ("postgresql", "postgres"):
        return _open_postgres(url, read_url, answer_s)
    if not scheme.translate(_SCHEME_MARKS).isalnum():
        # Repeated only as a path: what looks like no URL may be a password among other words.
        is_path = url.startswith(("/", "~/", "./", "../"))
        raise InvalidSetting(
            "The store's URL cannot be read.",
            hint=f"For this file, write sqlite:{url}."
            if is_path
            else "For example: sqlite:memory.db, or postgresql://user@host/database.",
        )
    store: Store = _store_plugin(scheme).load()(url)
    return store


def _open_postgres(url: str, read_url: str, answer_s: float | None) -> Store:
    need_postgres()
    from holdfast.store.postgres import open_store as open_postgres

    return open_postgres(url, read_url=read_url, answer_s=answer_s)


def need_postgres() -> None:
    """InvalidSetting where the packages are not there."""
    try:
        import psycopg_pool  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise InvalidSetting(
            "The store on PostgreSQL needs packages that are not installed.",
            hint=install_hint("postgres"),
        ) from None


def check_store_url(url: str) -> None:
    """InvalidSetting where no installed store opens that URL. A path is a file of SQLite."""
    scheme, colon, _ = url.partition(":")
    if url and not colon:
        raise InvalidSetting(
            f"`{url}` is not the URL of a store.",
            hint="For example: sqlite:/data/memory.db, or postgresql://user@host/database.",
        )
    if url:
        _store_plugin(scheme)


def _store_plugin(scheme: str) -> EntryPoint:
    from importlib.metadata import entry_points

    found = [point for point in entry_points(group=STORES_GROUP) if point.name == scheme]
    if not found:
        known = ", ".join(sorted({point.name for point in entry_points(group=STORES_GROUP)}))
        raise InvalidSetting(
            f"No store is installed for `{scheme}:`.",
            hint=f"Installed are: {known}. For example: postgresql://user@host/database.",
        )
    if len(found) > 1:
        names = ", ".join(sorted(f"{point.value}" for point in found))
        raise InvalidSetting(
            f"Several stores call themselves `{scheme}:` ({names}); exactly one can be primary.",
            hint="Uninstall all but one.",
        )
    return found[0]


def from_anywhere(url: str) -> str:
    """The URL with an absolute path, so that it names the same store from every folder."""
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
) -> Initialised:
    """Makes a database ready to be the store; the only kind of store that needs it."""
    _need_server(
        url,
        "Only a PostgreSQL database is made ready by hand; other stores make themselves.",
        hint="Name one: holdfast store init --url postgresql://HOST/NAME",
    )
    from holdfast.store.postgres.initialise import initialise

    return initialise(url, partitions=partitions, citus=citus, role=role, report=report)


def check_store(url: str, *, role: str) -> Readiness:
    """Checks a database without changing it; returns what it lacks to be the store."""
    _need_server(
        url,
        "Only a PostgreSQL database is examined this way; `holdfast doctor` examines other stores.",
        hint="Name one: holdfast store check --url postgresql://HOST/NAME",
    )
    from holdfast.store.postgres.initialise import check_readiness

    return check_readiness(url, role=role)


def migrate_store(url: str, *, report: Callable[[str], None]) -> Initialised:
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
