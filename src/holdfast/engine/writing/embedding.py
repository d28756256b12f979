"""Vectors that are missing: of passages written while no model answered, or for a new model.

What was made in about a second is kept together, so the work can be broken off at any point and
goes on where it was, in this process or another. Vectors of different models are never mixed: until
a model has its own, words answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.embed.base import Embedder
from holdfast.engine.writing.passages import window_texts
from holdfast.errors import HoldfastError
from holdfast.recall.owners import owners_by_id
from holdfast.store.values import Capability, VectorRow

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.store.values import Candidate

# Handed to the model at once; small enough that stopping takes about a second with the bundled one.
_BATCH = 64
# Read and kept at once: as many as are made within these times, so that a kill costs a second of
# work, and a quick model does not wait for a durable write after every batch. Past the most, a
# write costs next to nothing for each of them.
_ROUND_S = (0.5, 1.0)
_ROUND_MAX = 2_048
# An undo of a few memories ends with their vectors in place; one of many does not keep its caller
# waiting: this many take seconds with the bundled model, the rest is made in the background.
_AT_ONCE_MAX = 256


def unembedded(core: Core) -> int:
    """How many passages have no vector of the present model."""
    embedder = core.embedder
    if embedder is None:
        return 0
    with core.store.read() as reader:
        return sum(reader.unembedded_count(hub.id, embedder.identity) for hub in reader.hubs())


def slowed_by_index(core: Core, at_least: int) -> list[str]:
    """The hubs in which so many passages wait for vectors, and each of them will be added to an
    index that the store keeps: several times the work of building that index afterwards."""
    embedder = core.embedder
    if embedder is None or Capability.NEAREST not in core.store.capabilities:
        return []
    with core.store.read() as reader:
        return [
            hub.name
            for hub in reader.hubs()
            if reader.vector_index(hub.id, embedder.identity)
            and reader.unembedded_count(hub.id, embedder.identity) >= at_least
        ]


def embed_missing(
    core: Core,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
    hub_id: str | None = None,
) -> int:
    """Makes the missing vectors, of one hub or of all, and returns of how many passages;
    EmbedderError where it fails."""
    embedder = core.embedder
    if embedder is None:
        return 0
    total, done = unembedded(core), 0
    with core.store.read() as reader:
        hub_ids = [hub.id for hub in reader.hubs() if hub_id in (None, hub.id)]
    size = _BATCH
    for each in hub_ids:
        after = 0
        while not _is_set(stop):
            began = time.monotonic()
            with core.store.read() as reader:
                found = reader.unembedded(each, embedder.identity, after=after, limit=size)
                memories = owners_by_id(reader, each, [item.memory_id for item in found])
            if not found:
                break
            made = _keep(core, each, embedder, _made(embedder, found, memories, stop))
            # Passages before this one have their vectors, or are gone: none is looked at twice.
            after = found[-1].passage_id
            done += made
            if progress is not None:
                progress(min(done, total), total)
            size = _next_size(size, time.monotonic() - began)
    return done


def _is_set(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()


def _next_size(size: int, took_s: float) -> int:
    quick_s, slow_s = _ROUND_S
    if took_s < quick_s:
        return min(2 * size, _ROUND_MAX)
    return max(size // 2, _BATCH) if took_s > slow_s else size


def embed_memories(core: Core, hub_id: str, memory_ids: Sequence[str]) -> None:
    """Makes the vectors of these memories, after a write that could not ask the model.

    Where the model or the store fails, or they are very many, they are left for later: recall says
    that it is degraded until then.
    """
    embedder = core.embedder
    if embedder is None:
        return
    # The write is done and acknowledged, so whatever fails in here is no failure of it.
    try:
        with core.store.read() as reader:
            passages = reader.passages(hub_id, memory_ids)
        for start in range(0, min(len(passages), _AT_ONCE_MAX), _BATCH):
            batch = passages[start : start + _BATCH]
            with core.store.read() as reader:
                memories = reader.memories_by_id(hub_id, [item.memory_id for item in batch])
                # Changed meanwhile: whoever changed it makes the vectors of what is there now.
                there = {p.passage_id for p in reader.passages(hub_id, list(memories))}
            left = [p for p in batch if p.passage_id in there]
            _keep(core, hub_id, embedder, _made(embedder, left, memories))
    except HoldfastError:
        return
    if len(passages) > _AT_ONCE_MAX:
        core.catch_up()


def embed_hub(core: Core, hub_id: str) -> None:
    """Makes the missing vectors of one hub; where the model fails they are left for later."""
    # The write itself is done and acknowledged; vectors that could not be made are made later.
    with suppress(HoldfastError):
        embed_missing(core, hub_id=hub_id)


def _made(
    embedder: Embedder,
    passages: Sequence[Candidate],
    memories: Mapping[str, Memory],
    stop: threading.Event | None = None,
) -> list[VectorRow]:
    """The vectors of these passages, or of the first of them where it was stopped."""
    from holdfast.embed.base import quantise

    rows: list[VectorRow] = []
    for start in range(0, len(passages), _BATCH):
        if rows and _is_set(stop):
            break
        batch = passages[start : start + _BATCH]
        texts = [window_texts(memories[item.memory_id], item) for item in batch]
        vectors = iter(quantise(embedder.embed_passages([text for some in texts for text in some])))
        rows += [
            VectorRow(item.passage_id, window, next(vectors))
            for item, some in zip(batch, texts, strict=True)
            for window in range(len(some))
        ]
    return rows


def _keep(core: Core, hub_id: str, embedder: Embedder, rows: Sequence[VectorRow]) -> int:
    """Writes the vectors that were made; returns of how many passages."""
    if rows:
        with core.store.write(hub=hub_id) as writer:
            writer.set_vectors(hub_id, embedder.identity, rows)
    return len({row.passage_id for row in rows})


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
