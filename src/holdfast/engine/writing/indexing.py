"""From a memory to its search index: passages, their index terms, their vectors; and the vectors
that are missing, of passages written while no model answered, or for a new model.

Missing vectors are written about once a second, so the work can be interrupted at any point and is
continued in this process or another. Vectors of different models are never mixed: until a model has
its own, words answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.engine.quiet import Quiet
from holdfast.errors import HoldfastError
from holdfast.store.values import Candidate, Capability, IndexEntry, VectorRow
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import searchable, symbols, terms
from holdfast.text.analysis.variants import DEFINING_TERMS, definition_marks
from holdfast.text.chunking import Chunk, chunk, windows_of

if TYPE_CHECKING:
    from holdfast.embed import Embedder
    from holdfast.engine.core import Core


# More windows than this (about 15,000 characters, a second or two) are embedded after the write.
WINDOWS_AT_ONCE = 64


class Indexed(NamedTuple):
    """A memory's derived state, ready for the store."""

    text: str
    entries: list[IndexEntry]
    model: str


def indexed(memory: Memory, core: Core) -> Indexed:
    """Everything the store needs to find this memory."""
    return indexed_all([memory], core)[0]


def indexed_all(memories: Sequence[Memory], core: Core | None) -> list[Indexed]:
    """The same for many at once: the embedding model is asked in one go.

    A long text is stored without vectors at first, so that the write does not take a minute: it is
    found by its words at once, and its vectors are made in the background. Without a core no model
    is asked at all: for inside a write, where everyone who wants to write would wait for it.
    """
    cut = [_passages(memory) for memory in memories]
    texts = [
        [window_texts(memory, piece) for piece in pieces]
        for memory, pieces in zip(memories, cut, strict=True)
    ]
    short = [sum(map(len, many)) <= WINDOWS_AT_ONCE for many in texts]
    model, vectors = "", list[bytes]()
    if core is not None:
        asked = [many for many, now in zip(texts, short, strict=True) if now]
        model, vectors = core.embed([text for many in asked for some in many for text in some])
    remaining = iter(vectors)
    out = []
    for memory, pieces, many, now in zip(memories, cut, texts, short, strict=True):
        windows = sum(map(len, many))
        entries = []
        for ordinal, (piece, some) in enumerate(zip(pieces, many, strict=True)):
            made = tuple(next(remaining) for _ in some) if model and now else ()
            entries.append(_entry(memory, ordinal, piece, windows, made))
        out.append(Indexed(searchable(memory), entries, model))
    return out


def _passages(memory: Memory) -> list[Chunk]:
    language = ""
    if memory.content_type == "code":
        from holdfast.text.classify.classifier import language_of

        language = language_of(memory.content, memory.source_path)
    return chunk(memory.content, content_type=memory.content_type, language=language)


def window_texts(memory: Memory, piece: Chunk | Candidate) -> list[str]:
    """What the embedding model reads of a passage: a few sentences at a time, under the heading.

    A speaker's name is put in front, as in a transcript; a role (`user`, `assistant`) says nothing.
    """
    chain = " > ".join(piece.headings)
    front = f"{chain}\n" if chain else ""
    if memory.speaker:
        from holdfast.recall.voice import ROLES

        if memory.speaker.casefold() not in ROLES:
            front += f"{memory.speaker}: "
    return [
        front + memory.content[start:end]
        for start, end in windows_of(memory.content, piece.start, piece.end)
    ]


def _entry(
    memory: Memory, ordinal: int, piece: Chunk, windows: int, vectors: tuple[bytes, ...]
) -> IndexEntry:
    said = memory.content[piece.start : piece.end]
    around = [*piece.headings, *memory.tags, memory.key or "", piece.speaker]
    if not memory.content.startswith(memory.title.rstrip("…")):
        # A title taken from the first words would only count them twice.
        around.insert(0, memory.title)
    around = list(filter(None, around))
    head, body = terms(" ".join(around)) if around else [], terms(said)
    defines = "(" in said or not DEFINING_TERMS.isdisjoint(body)
    return IndexEntry(
        ordinal,
        piece.start,
        piece.end,
        piece.headings,
        tuple(body),
        tuple(head + symbols(said, body) + (definition_marks(said) if defines else [])),
        windows,
        vectors,
    )


# The windows of a first step between two calls of the program, and the processor time below which
# the next step is twice as long. The bundled model takes 40 ms for this many on two cores.
_STEP, _STEP_S = 8, 0.02
# Handed to the model at once; small enough that stopping takes about a second with the bundled one.
_BATCH = 64
# Read and written at once: as many as are made within these times, so that a kill costs a second of
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
    quiet: Quiet | None = None,
) -> int:
    """Makes the missing vectors, of one hub or of all, and returns of how many passages;
    EmbedderError where it fails. With `quiet`, each step waits for a quiet moment."""
    embedder = core.embedder
    if embedder is None:
        return 0
    # Here, as most commands only write.
    from holdfast.engine.late_words import index_late_turns
    from holdfast.recall.evidence import owners_by_id

    with core.store.read() as reader:
        hub_ids = [hub.id for hub in reader.hubs() if hub_id in (None, hub.id)]
    for each in hub_ids:
        _wait(quiet)
        index_late_turns(core, each)
    total, done = unembedded(core), 0
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
            rows = _made(embedder, found, memories, stop, quiet)
            _wait(quiet)
            made = _keep(core, each, embedder, rows)
            # Passages before this one have their vectors, or are gone; none is tried twice.
            after = found[-1].passage_id
            done += made
            if progress is not None:
                progress(min(done, total), total)
            size = _next_size(size, time.monotonic() - began)
    return done


def _is_set(stop: threading.Event | None) -> bool:
    return stop is not None and stop.is_set()


def _wait(quiet: Quiet | None) -> None:
    if quiet is not None:
        quiet.wait()


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
                # Changed meanwhile: the vectors of the new text are made by the write that changed
                # it.
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
    quiet: Quiet | None = None,
) -> list[VectorRow]:
    """The vectors of these passages, or of the first of them where it was stopped."""
    rows: list[VectorRow] = []
    for start in range(0, len(passages), _BATCH):
        if rows and _is_set(stop):
            break
        batch = passages[start : start + _BATCH]
        texts = [window_texts(memories[item.memory_id], item) for item in batch]
        vectors = _embedded(embedder, [text for some in texts for text in some], quiet)
        rows += [
            VectorRow(item.passage_id, window, next(vectors))
            for item, some in zip(batch, texts, strict=True)
            for window in range(len(some))
        ]
    return rows


def _embedded(embedder: Embedder, texts: Sequence[str], quiet: Quiet | None) -> Iterator[bytes]:
    """The stored vectors of these texts: all at once, or in steps that are short where this process
    makes them. A server of models is soon given all of them."""
    from holdfast.embed import quantise

    if quiet is None:
        yield from quantise(embedder.embed_passages(texts))
        return
    size, start = _STEP, 0
    while start < len(texts):
        quiet.wait()
        began = time.process_time()
        yield from quantise(embedder.embed_passages(texts[start : start + size]))
        start += size
        if time.process_time() - began < _STEP_S:
            size *= 2


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
        self._asked = False
        self._quiet = Quiet(core)

    def start(self) -> None:
        """Begins, unless it has been stopped for good. Where it is running it looks once more
        before it ends, as it may have read the hub already."""
        with self._lock:
            self._asked = True
            self._quiet.asked()
            running = self._thread is not None and self._thread.is_alive()
            if not running and not self._stop.is_set():
                self._thread = threading.Thread(
                    target=self._run, name="holdfast-catch-up", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        while self._is_asked():
            # The answer that started this said that it was degraded; the next one tries again.
            with suppress(HoldfastError):
                embed_missing(self._core, stop=self._stop, quiet=self._quiet)

    def _is_asked(self) -> bool:
        with self._lock:
            asked, self._asked = self._asked and not self._stop.is_set(), False
            if not asked:
                self._thread = None
                self._quiet.done()
        return asked

    def stop(self) -> None:
        """Ends after the batch at hand and does not begin again."""
        self._stop.set()
        self.wait()

    def wait(self) -> None:
        """Until it is done."""
        self._quiet.hurry()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()
