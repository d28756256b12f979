"""`holdfast.open()` and `Holdfast`, the open memory that it returns. Its methods turn their
arguments into values and call the engine. Thread-safe.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast import engine
from holdfast.api.arguments import check_path
from holdfast.api.hub import HubMemory
from holdfast.api.people import OpenMemory
from holdfast.domain.hub import DEFAULT_HUB
from holdfast.errors import AlreadyExists, InvalidInput, StoreClosed
from holdfast.settings import load
from holdfast.store.values import Capability
from holdfast.text import clean
from holdfast.wiring import build, home_folder, make_home

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from holdfast.api.caller import Caller
    from holdfast.api.imports import ImportReport
    from holdfast.domain.clock import Clock, Ids
    from holdfast.domain.hub import Hub, PersonName
    from holdfast.embed import OwnEmbedder
    from holdfast.engine.core import Core
    from holdfast.engine.history import Undone
    from holdfast.files.attachments import Attachments
    from holdfast.files.attachments_tar import Packed
    from holdfast.files.tool_files.follow import PurgedFile
    from holdfast.llm import Model
    from holdfast.store.base import Store


def open(
    where: str | os.PathLike[str] | None = None,
    *,
    store: Store | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    embedder: OwnEmbedder | None = None,
    model: Model | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Holdfast:
    """Opens the memory: the default home, a folder, or a store's URL such as `sqlite:/a/b.db`.

    `settings` override the file and the environment. Turns are logged and found; facts are taken
    from them only with `settings={"shadowJournal.enabled": True}` (see `observe_turn`). A clock,
    ids, an embedder, a language model or a store may be passed in by tests and by programs that
    bring their own.
    """
    if where is not None:
        # An empty one would be the person's own memory, where a variable was not set.
        check_path("where", where)
    _refuse_names(store, embedder, settings)
    flags = dict(settings or {})
    home: str | os.PathLike[str] | None = where
    if isinstance(where, str) and _is_url(where):
        flags["store.url"] = where
        home = None
    folder = home_folder(home)
    if store is None and not (flags.get("store.url") and home is None):
        make_home(folder)
    values = load(folder, flags=flags)
    scratch = None
    if home is None and where is not None and str(where).startswith("memory:"):
        from tempfile import TemporaryDirectory

        # The files of hubs go where their memories go: away.
        scratch = TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True)
        folder = scratch.name
    core = build(
        folder,
        values,
        store=store,
        clock=clock,
        ids=ids,
        embedder=embedder,
        model=model,
    )
    if any(core.settings[bound] for bound in ("log.keep", "log.days", "log.megabytes")):
        from holdfast.engine.log.turns import prune_logs

        prune_logs(core)
    return Holdfast(core, folder, scratch)


def _refuse_names(store: object, embedder: object, settings: object) -> None:
    """Raises InvalidInput for the name of a store or model where the object itself is expected."""
    if isinstance(store, str):
        raise InvalidInput(
            "The store that is handed in must be an open one, not text.",
            hint='The URL of a store is the first argument: holdfast.open("sqlite:notes.db").',
        )
    if isinstance(embedder, str):
        raise InvalidInput(
            "The embedder that is handed in must be an object, not text.",
            hint="A model is named by a setting: settings={'embed.model': NAME}.",
        )
    if settings is not None and not isinstance(settings, Mapping):
        raise InvalidInput(
            "The settings must be a dictionary.", hint="Use {'embed.model': 'none'}, for example."
        )


def _is_url(where: str) -> bool:
    scheme, colon, _ = where.partition(":")
    # A single letter before the colon is a Windows drive, not a scheme.
    return bool(colon) and len(scheme) > 1 and scheme.replace("+", "").isalnum()


class Holdfast(OpenMemory):
    """An open memory with all its hubs."""

    def __init__(
        self, core: Core, home: str, scratch: TemporaryDirectory[str] | None = None
    ) -> None:
        self.core = core
        self.home = home
        # The folder of a memory that is not kept; it is removed when this is closed.
        self._scratch = scratch
        self._closed = False

    def __repr__(self) -> str:
        return f"<memory in {self.home}>"

    @cached_property
    def _caller(self) -> Caller:
        """The owner of this machine."""
        from holdfast.api.caller import Caller

        return Caller(self)

    def __enter__(self) -> Holdfast:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Writes pending data and closes the store. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self.core.stop()
            self.core.write_counters()
            self.core.store.close()
            if self._scratch is not None:
                self._scratch.cleanup()

    def hub(self, name: str | None = None, *, create: bool = False) -> HubMemory:
        """Returns the hub of that name; without a name, the hub in use (the setting `hub`).

        Only the hub `default` is created on first use; any other must exist, so that a typing error
        does not look like lost memory. `create` creates it if it is missing.
        """
        self._refuse_closed()
        chosen = self.core.settings["hub"] if name is None else name
        made = create or (name is None and chosen == DEFAULT_HUB)
        found = engine.hubs.find_hub(self.core, chosen, create=made)
        return HubMemory(self.core, found, self.home)

    def create_hub(self, name: str) -> HubMemory:
        """Creates a hub."""
        self._refuse_closed()
        return HubMemory(self.core, engine.hubs.create_hub(self.core, name), self.home)

    def hubs(self) -> list[Hub]:
        """Lists all hubs by name."""
        self._refuse_closed()
        return engine.hubs.list_hubs(self.core)

    def rename_hub(self, name: str, new: str) -> Hub:
        return self._rename_hub(name, new)

    def _rename_hub(self, name: str, new: str, seen_by: PersonName | None = None) -> Hub:
        hub = engine.hubs.rename_hub(self.core, name, new, seen_by=seen_by)
        if os.path.isdir(os.path.join(self.home, "hubs")):
            from holdfast.files import rename_hub_folder

            rename_hub_folder(self.home, clean.clean_hub_name(name), hub.name)
        return hub

    def set_hub_folder(self, name: str, folder: str | os.PathLike[str]) -> str:
        """Keeps the hub's files (MEMORY.md, journals and the rest) in this folder from now on, and
        returns its path. Existing files of the hub move there; files already there are taken in."""
        from holdfast.files.hub_folder import link_hub_folder

        hub = self.hub(name)
        place = link_hub_folder(self.home, hub.info.name, os.fspath(folder))
        hub.sync()
        return place

    def delete_hub(self, name: str) -> Hub:
        """Deletes a hub and everything in it, permanently."""
        pages = self._pages_of(name)
        kept = self._kept_of(name)
        hub = engine.hubs.delete_hub(self.core, name)
        folder = os.path.join(self.home, "hubs", hub.name)
        if os.path.isdir(folder):
            from holdfast.files import attachments, conversation_archive, journal
            from holdfast.files.memory_md.cache import remove_mirrored
            from holdfast.files.tool_files import follow

            bytes_max = self.core.settings["content.bytes_max"]
            follow.remove_tool_files(os.path.join(folder, "files"), kept, bytes_max=bytes_max)
            remove_mirrored(os.path.join(folder, "MEMORY.md"), pages)
            remove_mirrored(os.path.join(folder, "INBOX.md"))
            journal.remove_all(folder)
            conversation_archive.remove_all(folder)
            attachments.remove_all(folder)
            if os.path.islink(folder):
                from holdfast.files.hub_folder import unlink_hub_folder

                unlink_hub_folder(self.home, hub.name)
        # Last, because it may fail on a full disk, and the hub's files must be removed in any case.
        engine.edit.clear_purged(self.core, "The hub is gone")
        return hub

    def _kept_of(self, name: str) -> list[PurgedFile]:
        """The files of a hub that agents wrote with the memory tool."""
        if not os.path.isdir(os.path.join(self.home, "hubs")):
            return []
        from holdfast.files.tool_files import follow

        return follow.all_tool_files(self.hub(name)._kept_files)

    def _pages_of(self, name: str) -> list[str]:
        """The pages of a hub's categories. Looked up before the hub is deleted, which loses the
        list."""
        from holdfast.files.memory_md.disk import page_names

        with self.core.store.read() as reader:
            hub = engine.hubs.find_hub(self.core, name)
            return page_names(reader, hub.id)

    def import_hub(
        self,
        lines: Iterable[str],
        *,
        name: str | None = None,
        progress: Callable[[int], None] | None = None,
        files: str | os.PathLike[str] | None = None,
    ) -> HubMemory:
        """Creates a hub from the lines of an export, under its own name or another, after checking
        all of them. `files` is the archive that `export_files` has written."""
        from holdfast.engine.transfer.export import import_hub

        if isinstance(lines, (str, bytes)) or not hasattr(lines, "__iter__"):
            raise InvalidInput(
                "The lines of an export are taken one by one, not as one text or a path.",
                hint="Hand in an open file: with open(path, encoding='utf-8') as lines: …",
            )
        if files is None:
            made = import_hub(self.core, lines, name=name, progress=progress)
            return HubMemory(self.core, made, self.home)
        from holdfast.files.attachments_tar import adopt, unpacked

        with unpacked(os.fspath(files), self.home) as staged:
            made = import_hub(self.core, lines, name=name, progress=progress)
            hub = HubMemory(self.core, made, self.home)
            adopt(self.core, hub.id, hub.attachments, staged)
        return hub

    def import_from(
        self,
        program: str,
        path: str | os.PathLike[str],
        *,
        hub: str | None = None,
        split: bool = False,
        merge: bool = False,
        only: str | None = None,
        options: Mapping[str, str] | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReport:
        """Imports what another memory program has stored, as one change set for each hub: into one
        hub, or with `split` into a hub for each user or project. `only` selects one of them;
        `merge` puts several users into one hub. A second run imports only new and changed records.
        A dry run writes nothing and reports what would be imported."""
        from holdfast.api.imports import Placing, import_from

        self._refuse_closed()
        check_path("path", path)
        placing = Placing(hub, only, split, merge)
        return import_from(
            self, program, path, placing, options=options or {}, dry_run=dry_run, progress=progress
        )

    def undo_import(
        self, program: str, path: str | os.PathLike[str], *, force: bool = False
    ) -> dict[str, Undone]:
        """Undoes the last import of a source in every hub that it wrote to, and returns the result
        by hub; with `force`, also where something was changed since."""
        from holdfast.api.imports import undo_import

        self._refuse_closed()
        return undo_import(self, program, path, force=force)

    def embed_missing(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Makes the missing vectors of the current model and returns how many passages had none. It
        can be interrupted and continues where it stopped. With `embed.background`, this happens by
        itself."""
        from holdfast.engine.writing.indexing import embed_missing

        return embed_missing(self.core, progress)

    def unembedded(self) -> int:
        """Counts the passages that have no vector of the current model yet."""
        from holdfast.engine.writing.indexing import unembedded

        return unembedded(self.core)

    def backup(
        self,
        path: str | os.PathLike[str],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> Packed:
        """Writes a consistent copy of the whole store while others read and write. Attached files,
        if there are any, go to an archive beside it with the same name and `.files.tar`; returns
        what is in that archive."""
        from holdfast.files import attachments_tar

        check_path("path", path)
        name = os.fspath(path)
        if os.path.exists(name + attachments_tar.BESIDE):
            raise AlreadyExists(
                f"{name}{attachments_tar.BESIDE} exists already.", hint="Choose another name."
            )
        if Capability.BACKUP in self.core.store.capabilities:
            self.core.store.backup(name, progress)
        else:
            from holdfast.wiring.copies import copy_to_file

            # The same file format as the embedded store's, so that it can be opened and restored
            # anywhere.
            copy_to_file(self.core.store, name, progress)
        return attachments_tar.pack(name + attachments_tar.BESIDE, self._attachments())

    def _attachments(self) -> Iterator[Attachments]:
        """The attached files of each hub."""
        for hub in self.hubs():
            yield HubMemory(self.core, hub, self.home).attachments

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreClosed("This memory is closed.", hint="Open it again with holdfast.open().")
