"""Vectors that are missing: of passages written while no model answered, or for a new model.

A batch is kept as soon as it is made, so the work can be broken off at any point and goes on where
it was, in this process or another. Vectors of different models are never mixed: until a model has
its own, words answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.embed.base import Embedder
from holdfast.engine.passages import window_texts
from holdfast.errors import HoldfastError
from holdfast.store.values import VectorRow

if TYPE_CHECKING:
    from holdfast.engine.core import Core

# Small enough that stopping takes about a second with the bundled model.
_BATCH = 64


def unembedded(core: Core) -> int:
    """How many passages have no vector of the present model."""
    embedder = core.embedder
    if embedder is None:
        return 0
    with core.store.read() as reader:
        return sum(reader.unembedded_count(hub.id, embedder.identity) for hub in reader.hubs())


def embed_missing(
    core: Core,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
) -> int:
    """Makes the missing vectors and returns of how many passages; EmbedderError where it fails."""
    embedder = core.embedder
    if embedder is None:
        return 0
    total, done = unembedded(core), 0
    with core.store.read() as reader:
        hubs = reader.hubs()
    for hub in hubs:
        while not (stop is not None and stop.is_set()):
            count = _embed_batch(core, hub.id, embedder)
            if not count:
                break
            done += count
            if progress is not None:
                progress(min(done, total), total)
    return done


def _embed_batch(core: Core, hub_id: str, embedder: Embedder) -> int:
    from holdfast.embed.base import quantise

    with core.store.read() as reader:
        batch = reader.unembedded(hub_id, embedder.identity, limit=_BATCH)
        memories = reader.memories_by_id(hub_id, [item.memory_id for item in batch])
    if not batch:
        return 0
    texts = [window_texts(memories[item.memory_id], item) for item in batch]
    vectors = iter(quantise(embedder.embed_passages([text for some in texts for text in some])))
    rows = [
        VectorRow(item.passage_id, window, next(vectors))
        for item, some in zip(batch, texts, strict=True)
        for window in range(len(some))
    ]
    with core.store.write() as writer:
        writer.set_vectors(hub_id, embedder.identity, rows)
    return len(batch)


class CatchUp:
    """Makes missing vectors in a thread of its own, at most one at a time."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins, unless it is running or has been stopped for good."""
        with self._lock:
            running = self._thread is not None and self._thread.is_alive()
            if not running and not self._stop.is_set():
                self._thread = threading.Thread(
                    target=self._run, name="holdfast-catch-up", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        try:
            embed_missing(self._core, stop=self._stop)
        except HoldfastError:
            # The answer that started this said that it was degraded; the next one tries again.
            return

    def stop(self) -> None:
        """Ends after the batch at hand and does not begin again."""
        self._stop.set()
        self.wait()

    def wait(self) -> None:
        """Until it is done."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()
