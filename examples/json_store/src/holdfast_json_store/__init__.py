"""A store in one JSON file: everything is in memory, and each write puts a new file in place.

It builds on Holdfast's in-memory store, which knows how to search and to roll back, and adds the
one thing that it lacks: what was acknowledged is on disk.
"""

from __future__ import annotations

import json
import os

from holdfast.errors import StoreDamaged, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from holdfast.store.base import Store
from holdfast.store.inmemory import InMemoryStore, State
from holdfast.store.values import Capability
from holdfast_json_store.codec import decode, encode

FORMAT = "holdfast-json-store"
VERSION = 1


def open_store(url: str) -> Store:
    """The store at `json:PATH`, made if it is not there. This is what the entry point names."""
    path = url.removeprefix("json:")
    if not path:
        raise StoreError("The URL names no file.", hint="For example: json:notes/memory.json")
    return JsonStore(path)


class JsonStore(InMemoryStore):
    """One JSON file, for one process at a time."""

    capabilities = InMemoryStore.capabilities | {Capability.DURABLE}

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = os.path.abspath(path)
        self._state = self._load()

    def _load(self) -> State:
        try:
            with open(self.path, encoding="utf-8") as file:
                document = json.load(file)
            if document["type"] != FORMAT:
                raise ValueError("it was written by another program")
            if document["version"] > VERSION:
                raise StoreTooNew(
                    f"{self.path} has version {document['version']}; this store knows {VERSION}.",
                    hint="Upgrade holdfast-json-store.",
                )
            state: State = decode(document["state"])
        except FileNotFoundError:
            return State()
        except PermissionError:
            raise StoreReadOnly(
                f"{self.path} cannot be read.", hint="Check the permissions of the file."
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise StoreDamaged(
                f"{self.path} is damaged, or not a store of this kind ({error}).",
                hint="Move it away, or bring back a copy.",
            ) from None
        return state

    def keep(self, state: State) -> None:
        """Writes the new state beside the old file, flushes it, and puts it in its place."""
        partial = f"{self.path}.partial-{os.getpid()}"
        document = {"type": FORMAT, "version": VERSION, "state": encode(state)}
        try:
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(document, file, ensure_ascii=False, separators=(",", ":"))
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self.path)
            _flush_folder(os.path.dirname(self.path))
        except OSError as error:
            kind = StoreReadOnly if isinstance(error, PermissionError) else StoreFull
            raise kind(
                f"{self.path} cannot be written: {error.strerror}.",
                hint="Nothing was changed; make room or check the permissions, and try again.",
            ) from None


def _flush_folder(folder: str) -> None:
    """Without this the new name might not outlive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
