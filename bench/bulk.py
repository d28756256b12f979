"""A hub of any size, filled as fast as the store takes it: for benchmarks of what comes after.

    from bench.bulk import fill
    fill(memory.core.store, hub.id, Texts().memories(1_000_000), count=1_000_000)

Goes straight to the store: the rows of `remember` without its checks, rules and look for
duplicates; texts are analysed as always. Vectors are noise, drawn for all windows of a batch at
once (any others can be given). The next batch is analysed while the one before is written. Two
hubs can be filled at once, each from a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, cast

import numpy as np

from bench.measure import DIMENSIONS, RandomEmbedder
from holdfast.domain.change import Change
from holdfast.domain.memory import Memory
from holdfast.engine.transfer.export import prefetched
from holdfast.engine.writing.indexing import Indexed, indexed_all
from holdfast.store.base import Store
from holdfast.text.clean import content_hash

BATCH = 5_000
_AT = datetime(2026, 1, 1, tzinfo=UTC)

Vectors = Callable[[Sequence[str]], list[bytes]]
_Batch = list[tuple[Memory, Indexed]]


def noise(seed: int = 7) -> Vectors:
    """Vectors of random directions, as they are stored; of no use but to be many."""
    chance = np.random.default_rng(seed)
    scale = np.float32(1 / 1_200).tobytes()

    def draw(texts: Sequence[str]) -> list[bytes]:
        rows = chance.normal(0, 42, (len(texts), DIMENSIONS)).clip(-127, 127).astype(np.int8)
        return [scale + row.tobytes() for row in rows]

    return draw


class _Model:
    """What stands in for the engine where vectors are asked for."""

    def __init__(self, vectors: Vectors, model: str) -> None:
        self._vectors, self._model = vectors, model

    def embed(self, texts: Sequence[str]) -> tuple[str, list[bytes]]:
        return self._model, self._vectors(texts)


def fill(
    store: Store,
    hub_id: str,
    drafts: Iterable[Mapping[str, Any]],
    *,
    count: int,
    first: int = 1,
    vectors: Vectors | None = None,
    model: str = RandomEmbedder.identity,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Adds `count` drafts to a hub that is there, with numbers from `first` on; without a model
    (''), without vectors."""
    core = cast(Any, _Model(vectors or noise(first), model) if model else None)
    numbered = enumerate(islice(drafts, count), first)
    done = 0
    for batch in prefetched(lambda some: _analysed(hub_id, some, core), _batches(numbered)):
        _write(store, hub_id, batch)
        done += len(batch)
        if progress is not None:
            progress(done)


def _batches(numbered: Iterator[tuple[int, Mapping[str, Any]]]) -> Iterator[list[Any]]:
    while batch := list(islice(numbered, BATCH)):
        yield batch


def _analysed(hub_id: str, some: Sequence[tuple[int, Mapping[str, Any]]], core: Any) -> _Batch:
    memories = [drafted(hub_id, number, draft) for number, draft in some]
    return list(zip(memories, indexed_all(memories, core), strict=True))


def drafted(hub_id: str, number: int, draft: Mapping[str, Any]) -> Memory:
    """A draft as a memory, without being looked at."""
    content = draft["content"]
    named = {"id": f"mem_{number:020d}", "title": content[:80], "owner": "user"}
    hashed = content_hash(content)
    return Memory(
        hub_id=hub_id,
        number=number,
        content_hash=hashed,
        created_at=_AT,
        updated_at=_AT,
        **named,
        **draft,
    )


def _write(store: Store, hub_id: str, batch: _Batch) -> None:
    change = Change(f"chg_{batch[0][0].number:020d}", hub_id, _AT, "user", "remember", "", None)
    with store.write(hub=hub_id) as writer:
        writer.take_numbers(hub_id, len(batch))
        writer.add_change(change)
        for memory, index in batch:
            writer.add_memory(memory)
            writer.add_revision(hub_id, change.id, memory.id, 1, _AT, {})
            writer.index(hub_id, memory.id, index.text, index.entries, index.model)
