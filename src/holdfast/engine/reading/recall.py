"""Asking: from words and arguments to a parsed question, and to what recall answers."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.domain.query import Filter, Hit, Passage, Recalled
from holdfast.engine.core import Core, require_hub
from holdfast.errors import InvalidInput
from holdfast.recall.analyse import analyse
from holdfast.recall.pipeline import Ask, recall

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.reading.lookup import Reference
    from holdfast.store.base import Reader

LIMIT_MAX = 1_000


def recall_memories(
    core: Core,
    hub_id: str,
    hub: str,
    query: str,
    wanted: Filter,
    *,
    limit: int | None = None,
    as_of: datetime | None = None,
    now: datetime | None = None,
    zone: tzinfo | None = None,
    meaning: bool = True,
    explain: bool = False,
    project: str = "",
    plain: bool = False,
    count_shown: bool = True,
) -> Recalled:
    """The hits for a question. What was shown is counted, off the path of the answer, unless it was
    shown to nobody who asked."""
    count = checked_limit(core.settings["recall.limit"] if limit is None else limit)
    if not isinstance(query, str):
        raise InvalidInput("The query must be text.")
    moment = now or as_of or core.now()
    analysis = analyse(query, now=moment, zone=zone, plain=plain)
    wanted = wanted._replace(alive_at=moment, known_by=as_of)
    embedder = core.embedder if meaning else None
    model = "" if embedder is None else embedder.identity

    def answer(reader: Reader) -> Recalled:
        past = None if as_of is None else engine.history.states_as_of(core, reader, hub_id, as_of)
        ask = Ask(analysis, wanted, count, moment, past, project)
        return recall(reader, hub_id, ask, embedder, core.vectors, meaning=meaning, explain=explain)

    deadline_s = core.settings["recall.deadline_s"]
    recalled = None
    with core.read(deadline_s=deadline_s) as reader:
        require_hub(reader, hub_id, hub)
        if not model or core.vectors.ready(reader, hub_id, model):
            recalled = answer(reader)
    if recalled is None:
        # The first look at a large hub reads all of its vectors: no part of the answer's deadline.
        with core.read() as reader:
            core.vectors.refresh(reader, hub_id, model)
        with core.read(deadline_s=deadline_s) as reader:
            require_hub(reader, hub_id, hub)
            recalled = answer(reader)
    if recalled.degraded:
        core.catch_up()
    if count_shown:
        core.shown(hub_id, [hit.memory.id for hit in recalled])
    return recalled


def checked_limit(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput(f"The limit is {limit}; it must be from 1 to {LIMIT_MAX}.")
    return limit


def related(core: Core, hub_id: str, hub: str, reference: Reference, *, limit: int = 5) -> Recalled:
    """Memories near a memory: by meaning where it has vectors, else by its words."""
    checked_limit(limit)
    with core.read(deadline_s=core.settings["recall.deadline_s"]) as reader:
        require_hub(reader, hub_id, hub)
        memory = engine.lookup.find_memory(reader, hub_id, hub, reference)
        wanted = Filter(alive_at=core.now())
        embedder = core.embedder
        own = [] if embedder is None else reader.vectors_of(hub_id, embedder.identity, memory.id)
        if embedder is not None and own:
            import numpy as np

            from holdfast.embed.base import dequantise

            middle = np.stack([dequantise(row.vector) for row in own]).mean(axis=0)
            middle = (middle / np.linalg.norm(middle)).astype(np.float32)
            near = core.vectors.search(
                reader, hub_id, embedder.identity, middle, limit=limit * 4 + len(own)
            )
            cosines = {hit.passage_id: hit.cosine for hit in near}
            found = reader.candidates(hub_id, list(cosines), wanted)
            found.sort(key=lambda one: (-cosines[one.passage_id], one.passage_id))
            memories = reader.memories_by_id(hub_id, [one.memory_id for one in found])
            hits: dict[str, Hit] = {}
            for one in found:
                if one.memory_id != memory.id and one.memory_id not in hits:
                    other = memories[one.memory_id]
                    text = other.content[one.start : one.end]
                    cosine = round(cosines[one.passage_id], 6)
                    hits[other.id] = Hit(
                        other,
                        Passage(text, one.start, one.end, one.headings),
                        cosine,
                        (f"meaning {cosine:.2f}",),
                        {"vector": cosine},
                    )
            return Recalled(list(hits.values())[:limit])
    return _related_by_words(core, hub_id, hub, memory, limit)


def _related_by_words(core: Core, hub_id: str, hub: str, memory: Memory, limit: int) -> Recalled:
    words = " ".join(memory.content.split()[:40])
    plain = "".join(char if char.isalnum() else " " for char in words)
    if not plain.strip():
        return Recalled([])
    found = recall_memories(core, hub_id, hub, plain, Filter(), limit=limit + 1, meaning=False)
    return Recalled([hit for hit in found if hit.memory.id != memory.id][:limit])
