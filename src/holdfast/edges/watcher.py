"""The watcher: a thread of a server that takes in what people save in the files of its hubs, the
moment they do. Without it an edit waits for the next request, so a server that cannot watch still
serves. What an edit means is decided elsewhere; this only asks for it to be looked at."""

from __future__ import annotations

import logging
import os
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast

_log = logging.getLogger("holdfast.watcher")

# The watch looks every 50 ms whether it is to end; a sync of a large file takes less than the rest.
_STOP_S = 10.0


class Watcher:
    """Watches from the beginning of a `with` block to its end."""

    def __init__(self, memory: Holdfast) -> None:
        self._memory = memory
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="holdfast-watcher", daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join(_STOP_S)

    def _watch(self) -> None:
        from holdfast.files.folders.watch import watch_hubs

        try:
            for names in watch_hubs(self._memory.home, stop=self._stop):
                for name in sorted(names):
                    self._take_in(name)
        except (HoldfastError, OSError) as error:
            _log.warning("files are not watched; edits are taken in by the next request: %s", error)

    def _take_in(self, name: str) -> None:
        try:
            hub = self._memory.hub(name)
            # Like every operation it takes in first what was edited; it makes no files itself.
            hub.conflicts()
            if os.path.isdir(os.path.join(hub.folder, "files")):
                hub.index_files()
        except (HoldfastError, OSError) as error:
            _log.warning("%s: what was saved is not taken in yet: %s", name, error)
            return
        for note in hub.notes:
            _log.info("%s: %s", name, note)
