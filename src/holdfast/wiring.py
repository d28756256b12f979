"""From settings to a running engine: the only place that names concrete backends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from holdfast.domain.clock import Clock, SystemClock
from holdfast.domain.ids import Ids, TimeIds
from holdfast.engine.core import Core
from holdfast.errors import InvalidInput, InvalidSetting, NotFound, StoreReadOnly
from holdfast.settings import Settings, load

if TYPE_CHECKING:
    from holdfast.embed.base import Embedder
    from holdfast.engine.move import Moved, Told
    from holdfast.llm.base import Model
    from holdfast.store.base import Store
    from holdfast.store.postgres import PostgresStore
    from holdfast.store.postgres.init import Prepared as Prepared
    from holdfast.store.postgres.nearest import Indexed
    from holdfast.store.values import Progress

DATABASE = "memory.db"
STORES_GROUP = "holdfast.stores"
# A copy that is being made is written all the time; one this old was left by a process that died.
_ABANDONED_S = 3600.0


def home_folder(home: str | os.PathLike[str] | None = None) -> str:
    """Where everything lives: what was named, $HOLDFAST_HOME, or ~/.holdfast."""
    chosen = os.fspath(home) if home is not None else os.environ.get("HOLDFAST_HOME")
    return os.path.abspath(os.path.expanduser(chosen or "~/.holdfast"))


def make_home(home: str) -> None:
    """The folder, for its owner's eyes only."""
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreReadOnly(
            f"The folder {home} cannot be made: {error.strerror}.",
            hint="Choose another with --home or HOLDFAST_HOME.",
        ) from None


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
        return embedder or _find_embedder(settings)

    def find_model(name: str, settings: Settings) -> Model | None:
        if model is not None:
            # A pass may be set to do without, whatever there is.
            return None if name == "none" else model
        return _find_model(name, settings)

    return Core(
        store,
        clock=clock,
        ids=ids or TimeIds(clock),
        actor=settings["actor"] or _login(),
        settings=settings,
        find_embedder=find,
        find_model=find_model,
    )


def build_for_reading(
    home: str, *, actor: str, clock: Clock, find_embedder: Callable[[], Embedder | None]
) -> Core:
    """An engine that only reads another home, with the eyes of who asks: nothing there is made,
    migrated, counted or embedded. The environment is ours, and says nothing about that home."""
    quiet = {"recall.count_shown": False, "embed.background": False}
    settings = load(home, environ={}, flags=quiet)
    return Core(
        _open_to_read(home, store_url(home, settings)),
        clock=clock,
        ids=TimeIds(clock),
        actor=actor,
        settings=settings,
        find_embedder=find_embedder,
    )


# What a scheme may hold beside letters and digits.
_SCHEME_MARKS = str.maketrans("", "", "+-._")


def _open_to_read(home: str, url: str) -> Store:
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        from holdfast.store.sqlite import open_store as open_sqlite

        return open_sqlite(url, read_only=True)
    if scheme in ("postgresql", "postgres"):
        _need_postgres()
        from holdfast.store.postgres.source import open_to_read

        return open_to_read(url)
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


def store_url(home: str, settings: Settings) -> str:
    """Where memories are kept, as a URL."""
    return settings["store.url"] or f"sqlite:{os.path.join(home, DATABASE)}"


def from_anywhere(url: str) -> str:
    """The same store from whichever folder it is opened: the path of a file is made whole."""
    path = url.removeprefix("sqlite:")
    return url if path in (url, "") else f"sqlite:{os.path.abspath(path)}"


def move_store(source: str, target: str, *, told: Told | None = None) -> Moved:
    """Everything from one store into another, both named by their URLs; the first is only read."""
    from holdfast.engine.move import move

    if from_anywhere(source) == from_anywhere(target):
        raise InvalidSetting("A store cannot be moved into itself.", hint="Name another target.")
    clock = SystemClock()
    old = _open_source(source)
    try:
        new = open_store(target)
        try:
            return move(old, new, clock=clock, run=TimeIds(clock).next("run"), told=told)
        finally:
            new.close()
    finally:
        old.close()


def bring_attachments(source: str, home: str, settings: Settings) -> tuple[int, int]:
    """Copies the files of the memories in a store into this home, from the home that its file is
    in; how many there are here now, and how many are not. Before a move, so that one that is broken
    off is begun again with them."""
    from holdfast.files.atomic import hub_folder
    from holdfast.files.attachment_archive import bring
    from holdfast.files.attachments import Attachments

    path = source.removeprefix("sqlite:")
    other = home if path == source else os.path.dirname(os.path.abspath(path))
    old = _open_source(source)
    there, missing = 0, 0
    try:
        core = build(home, settings, store=old)
        with old.read() as reader:
            hubs = reader.hubs()
        for hub in hubs:
            place = Attachments(core, hub.id, hub_folder(home, hub.name))
            found = bring(place, Attachments(core, hub.id, hub_folder(other, hub.name)))
            there, missing = there + found[0], missing + found[1]
    finally:
        old.close()
    return there, missing


def _open_source(source: str) -> Store:
    """A store that is only read, where it can be opened so."""
    if source.startswith("sqlite:"):
        from holdfast.store.sqlite import open_store as open_sqlite

        return open_sqlite(source, read_only=True)
    return open_store(source)


def _open_postgres(url: str, read_url: str, answer_s: float | None) -> Store:
    _need_postgres()
    from holdfast.store.postgres import open_store as open_postgres

    return open_postgres(url, read_url=read_url, answer_s=answer_s)


def _need_postgres() -> None:
    try:
        import psycopg_pool  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise InvalidSetting(
            "The store on PostgreSQL needs packages that are not installed.",
            hint='Install them from a checkout: `pip install ".[postgres]"`.',
        ) from None


def init_store(
    url: str, *, partitions: int | None, citus: bool, role: str, told: Callable[[str], None]
) -> Prepared:
    """Makes a database ready to be the store; the only kind of store that needs it."""
    if not url.startswith(("postgresql:", "postgres:")):
        raise InvalidInput(
            "Only a PostgreSQL database is made ready by hand; other stores make themselves.",
            hint="Name one: holdfast store init --url postgresql://HOST/NAME",
        )
    _need_postgres()
    from holdfast.store.postgres.init import initialise

    return initialise(url, partitions=partitions, citus=citus, role=role, told=told)


def migrate_store(url: str, *, told: Callable[[str], None]) -> Prepared:
    """Brings a database up to date, with what takes long on tables that are in use."""
    if not url.startswith(("postgresql:", "postgres:")):
        raise InvalidInput(
            "Only a PostgreSQL database is migrated by hand; other stores do it when opened.",
            hint="Name one: holdfast store migrate --url postgresql://HOST/NAME",
        )
    _need_postgres()
    from holdfast.store.postgres.init import migrate

    return migrate(url, told=told)


def index_store(url: str, *, hub: str = "", memory: str = "") -> Iterator[Indexed]:
    """Builds the server's own index of the vectors of large hubs, or of one, one after the other;
    the server may take so much memory for it."""
    with _indexed_store(url) as store:
        from holdfast.store.postgres.nearest import build

        yield from build(store, hub=hub, memory=memory)


def drop_store_index(url: str, *, hub: str = "") -> Iterator[Indexed]:
    """Takes these indexes away, of all hubs or of one."""
    with _indexed_store(url) as store:
        from holdfast.store.postgres.unindexing import drop

        yield from drop(store, hub=hub)


@contextmanager
def _indexed_store(url: str) -> Iterator[PostgresStore]:
    if not url.startswith(("postgresql:", "postgres:")):
        raise InvalidInput(
            "Only a PostgreSQL server keeps an index of vectors; here they are scanned.",
            hint="Past 100,000 the extra `index` makes that faster.",
        )
    _need_postgres()
    from holdfast.store.postgres import PostgresStore

    store = PostgresStore(url)
    try:
        yield store
    finally:
        store.close()


def without_password(url: str) -> str:
    """A URL as it may be shown. A server's password may stand before its name, or be an option."""
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


def store_file(home: str, settings: Settings) -> str:
    """The file of the embedded store; '' where another store is in use."""
    url: str = settings["store.url"]
    if not url:
        return os.path.join(home, DATABASE)
    return os.path.abspath(url.removeprefix("sqlite:")) if url.startswith("sqlite:") else ""


def check_backup(backup: str) -> None:
    """Refuses a file that the embedded store could not be restored from."""
    from holdfast.store.sqlite.files import verify

    if not os.path.isfile(backup):
        raise NotFound(f"There is no backup at {backup}.", hint="Check the name.")
    verify(backup)


def restore_backup(path: str, backup: str, progress: Progress | None = None) -> str:
    """Makes the embedded store at `path` what the backup holds, and returns where the copy of
    what was there before is ('' where nothing was)."""
    from holdfast.store.sqlite.files import copy_in, keep_aside

    kept = keep_aside(path)
    copy_in(path, backup, progress)
    return kept


def copy_to_file(store: Store, path: str, progress: Progress | None = None) -> None:
    """One moment of a store that is no file, as a file of the embedded store: complete and checked,
    or not there at all."""
    from holdfast.engine.move import move
    from holdfast.store.sqlite import open_store as open_sqlite
    from holdfast.store.sqlite.files import refuse_place, remove

    refuse_place(path)
    _clear_left(f"{path}.filling-", older_than_s=_ABANDONED_S)
    partial = f"{path}.filling-{os.getpid()}"
    clock = SystemClock()
    try:
        target = open_sqlite(f"sqlite:{partial}")
        try:
            move(store, target, clock=clock, run=TimeIds(clock).next("run"), told=_rows(progress))
            target.backup(path)
        finally:
            target.close()
    finally:
        remove(partial)


def restore_into(store: Store, home: str, backup: str, progress: Progress | None = None) -> str:
    """Makes a store that is no file what the backup holds, and returns where the copy of what was
    there before is ('' where nothing was). Others see hubs come back one after the other; broken
    off, it is begun again with the same backup."""
    from holdfast.files.atomic import locked

    with locked(os.path.join(home, "restore")):
        # Whoever left one died in the middle: nobody else is at it now.
        _clear_left(os.path.join(home, f"{DATABASE}.restoring-"))
        _clear_left(os.path.join(home, f"{DATABASE}.before-restore"), ".filling-")
        return _restore_into(store, home, backup, progress)


def _restore_into(store: Store, home: str, backup: str, progress: Progress | None) -> str:
    from holdfast.engine.move import empty, move
    from holdfast.store.sqlite import open_store as open_sqlite
    from holdfast.store.sqlite.files import copy_in, free_name, remove

    kept = ""
    with store.read() as reader:
        something = bool(reader.hubs())
    if something:
        kept = free_name(os.path.join(home, f"{DATABASE}.before-restore"))
        copy_to_file(store, kept)
    staged = os.path.join(home, f"{DATABASE}.restoring-{os.getpid()}")
    clock = SystemClock()
    try:
        # A copy, which may be brought up to date: the backup is not ours to change.
        copy_in(staged, backup)
        source = open_sqlite(f"sqlite:{staged}")
        try:
            empty(store)
            move(source, store, clock=clock, run=TimeIds(clock).next("run"), told=_rows(progress))
        finally:
            source.close()
    finally:
        remove(staged)
    return kept


def _clear_left(start: str, then: str = "", *, older_than_s: float = 0.0) -> None:
    """Removes copies that a process left which died before they were done."""
    import time

    folder, name = os.path.split(os.path.abspath(start))
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(name) and then in entry.name:
                with suppress(FileNotFoundError):
                    if time.time() - entry.stat().st_mtime >= older_than_s:
                        os.unlink(entry.path)


def _rows(progress: Progress | None) -> Told | None:
    if progress is None:
        return None
    return lambda what, done, total: progress(done, total) if total else None


def _open_plugin(scheme: str, url: str) -> Store:
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
    store: Store = found[0].load()(url)
    return store


def _find_embedder(settings: Settings) -> Embedder | None:
    from holdfast.embed.find import find_embedder

    return find_embedder(
        settings["embed.model"],
        key_variable=settings["embed.key_variable"],
        timeout_s=settings["embed.timeout_s"],
        threads=settings["embed.threads"],
    )


def _find_model(name: str, settings: Settings) -> Model | None:
    from holdfast.llm.find import find_model

    return find_model(name, key_variable_named=settings["llm.key_variable"])


def _login() -> str:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if name := os.environ.get(variable):
            return name
    return "user"
