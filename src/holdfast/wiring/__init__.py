"""From settings to a running engine. This package alone names concrete backends: here the one that
is opened, beside it what is done with a whole store."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.domain.clock import Clock, Ids, SystemClock, TimeIds
from holdfast.engine.core import Core
from holdfast.errors import InvalidSetting, StoreReadOnly, install_hint
from holdfast.settings import Settings, load
from holdfast.settings.file import home_folder as home_folder
from holdfast.text.names import parse_person

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from holdfast.domain.hub import PersonName
    from holdfast.embed.base import Embedder
    from holdfast.llm.base import Model
    from holdfast.store.base import Store

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
    embedder: Embedder | None = None,
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

    def find() -> Embedder | None:
        return embedder or embedder_of(settings)

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
    )


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
    from holdfast.llm.providers import find_model

    return find_model(
        name, inherit=settings["llm.model"], key_variable_named=settings["llm.key_variable"]
    )


def _login() -> str:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if name := os.environ.get(variable):
            return name
    return "user"


def build_for_reading(
    home: str, *, actor: PersonName, clock: Clock, find_embedder: Callable[[], Embedder | None]
) -> Core:
    """An engine that only reads another home, with the caller's view: nothing there is created,
    migrated, counted or embedded. The environment is ours, and says nothing about that home."""
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
        from holdfast.store.postgres.store import open_read_only

        return open_read_only(url)
    from holdfast.wiring.databases import without_password

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
        # Not repeated: what looks like no URL may be a password among other words.
        raise InvalidSetting(
            "The store's URL cannot be read.",
            hint="For example: sqlite:memory.db, or postgresql://user@host/database.",
        )
    return _open_plugin(scheme, url)


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


def _open_plugin(scheme: str, url: str) -> Store:
    store: Store = _store_plugin(scheme).load()(url)
    return store


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
