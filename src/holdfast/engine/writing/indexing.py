"""Makes the index entries of a memory: passages, their index terms and their vectors. Also makes
missing vectors, of passages written while no model answered, or for a new model.

Missing vectors are written about once a second, so the work can be interrupted at any point and
continued in this process or another. Vectors of different models are never mixed: until the current
model has its own, search uses words only.
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
    """The index entries of a memory, ready to be stored."""

    text: str
    entries: list[IndexEntry]
    model: str


def indexed(memory: Memory, core: Core) -> Indexed:
    """Makes the index entries of one memory."""
    return indexed_all([memory], core)[0]


def indexed_all(memories: Sequence[Memory], core: Core | None) -> list[Indexed]:
    """Makes the index entries of many memories, with one call of the embedding model.

    A long text is stored without vectors at first, so that the write does not take a minute: it is
    found by its words at once, and its vectors are made in the background. Without a core no
    vectors are made: this is for use inside a transaction, where all other writers would wait for
    the model.
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
    """The texts of a passage that are embedded: a few sentences each, under their heading.

    The speaker's name is put in front, as in a transcript; a role (`user`, `assistant`) carries no
    meaning.
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
        # A title taken from the first words would count them twice.
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
# Texts per call of the model; small enough that stopping takes about a second with the bundled one.
_BATCH = 64
# Passages are read and written in rounds of about this long, so that a kill costs a second of work,
# and a fast model does not wait for a durable write after every batch. Beyond the larger time, the
# cost of a write per vector is negligible.
_ROUND_S = (0.5, 1.0)
_ROUND_MAX = 2_048
# Words of long turns in one transaction: 10 ms, for which a program that logs a turn may wait.
_TURNS_AT_ONCE = 16
# An undo of a few memories returns with their vectors made; an undo of many does not block its
# caller: this many take seconds with the bundled model, the rest is made in the background.
_AT_ONCE_MAX = 256


def unembedded(core: Core) -> int:
    """How many passages have no vector of the current model."""
    embedder = core.embedder
    if embedder is None:
        return 0
    with core.store.read() as reader:
        return sum(reader.unembedded_count(hub.id, embedder.identity) for hub in reader.hubs())


def slowed_by_index(core: Core, at_least: int) -> list[str]:
    """The hubs in which at least this many passages wait for vectors and the store has a vector
    index: adding each of them to it takes several times as long as building it afterwards."""
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
    """Makes the missing vectors, of one hub or of all, and returns for how many passages. Raises
    EmbedderError if the model fails. With `quiet`, each step waits for a quiet moment."""
    embedder = core.embedder
    if embedder is None:
        return 0
    # Imported here, because most commands only write.
    from holdfast.recall.evidence import owners_by_id

    hub_ids = _index_late_words(core, stop, hub_id, quiet)
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
            rows = _make_vectors(embedder, found, memories, stop, quiet)
            _wait(quiet)
            made = _write_vectors(core, each, embedder, rows)
            # Passages before this one have their vectors or were removed; none is tried twice.
            after = found[-1].passage_id
            done += made
            if progress is not None:
                progress(min(done, total), total)
            size = _next_size(size, time.monotonic() - began)
    return done


def _index_late_words(
    core: Core, stop: threading.Event | None, hub_id: str | None, quiet: Quiet | None
) -> list[str]:
    """Indexes the turns of one hub, or of all, that were logged without their words; returns the
    ids of the hubs."""
    # Imported here, because most commands only write.
    from holdfast.engine.late_words import index_some

    with core.store.read() as reader:
        hub_ids = [hub.id for hub in reader.hubs() if hub_id in (None, hub.id)]
    # Before a read-only or busy store is searched, it is tried again.
    with suppress(HoldfastError):
        for each in hub_ids:
            more = Capability.LATE_WORDS in core.store.capabilities
            while more and not _is_set(stop):
                _wait(quiet)
                more = index_some(core, each, at_most=_TURNS_AT_ONCE)
    return hub_ids


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
    """Makes the vectors of these memories after a transaction that could not call the model.

    If the model or the store fails, or there are very many, they are left for later; until then,
    recall reports that it is degraded.
    """
    embedder = core.embedder
    if embedder is None:
        return
    # The write is committed, so a failure here is not a failure of the write.
    try:
        with core.store.read() as reader:
            passages = reader.passages(hub_id, memory_ids)
        for start in range(0, min(len(passages), _AT_ONCE_MAX), _BATCH):
            batch = passages[start : start + _BATCH]
            with core.store.read() as reader:
                memories = reader.memories_by_id(hub_id, [item.memory_id for item in batch])
                # Some changed meanwhile: the write that changed a text makes its vectors.
                there = {p.passage_id for p in reader.passages(hub_id, list(memories))}
            left = [p for p in batch if p.passage_id in there]
            _write_vectors(core, hub_id, embedder, _make_vectors(embedder, left, memories))
    except HoldfastError:
        return
    if len(passages) > _AT_ONCE_MAX:
        core.catch_up()


def embed_hub(core: Core, hub_id: str) -> None:
    """Makes the missing vectors of one hub; if the model fails, they are left for later."""
    # The write is committed; missing vectors can be made later.
    with suppress(HoldfastError):
        embed_missing(core, hub_id=hub_id)


def _make_vectors(
    embedder: Embedder,
    passages: Sequence[Candidate],
    memories: Mapping[str, Memory],
    stop: threading.Event | None = None,
    quiet: Quiet | None = None,
) -> list[VectorRow]:
    """The vectors of these passages, or of the first of them if it was stopped."""
    rows: list[VectorRow] = []
    for start in range(0, len(passages), _BATCH):
        if rows and _is_set(stop):
            break
        batch = passages[start : start + _BATCH]
        texts = [window_texts(memories[item.memory_id], item) for item in batch]
        vectors = _embed_in_steps(embedder, [text for some in texts for text in some], quiet)
        rows += [
            VectorRow(item.passage_id, window, next(vectors))
            for item, some in zip(batch, texts, strict=True)
            for window in range(len(some))
        ]
    return rows


def _embed_in_steps(
    embedder: Embedder, texts: Sequence[str], quiet: Quiet | None
) -> Iterator[bytes]:
    """The stored vectors of these texts: with one call, or in short steps if the model runs in this
    process. A model on a server soon gets all of them at once."""
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


def _write_vectors(core: Core, hub_id: str, embedder: Embedder, rows: Sequence[VectorRow]) -> int:
    """Writes the vectors; returns for how many passages."""
    if rows:
        with core.store.write(hub=hub_id) as writer:
            writer.set_vectors(hub_id, embedder.identity, rows)
    return len({row.passage_id for row in rows})


class CatchUp:
    """Indexes the words of long turns, and makes missing vectors if the model is loaded, in a
    background thread, one at a time."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._asked = False
        self._quiet = Quiet(core)

    def start(self) -> None:
        """Starts the thread, unless it was stopped permanently. If it is running, it looks again
        before it ends, because it may have read the hub already."""
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
            # The recall that started this reported that it was degraded; the next one tries again.
            with suppress(HoldfastError):
                if self._core.is_model_loaded:
                    embed_missing(self._core, stop=self._stop, quiet=self._quiet)
                else:
                    _index_late_words(self._core, self._stop, None, self._quiet)

    def _is_asked(self) -> bool:
        with self._lock:
            asked, self._asked = self._asked and not self._stop.is_set(), False
            if not asked:
                self._thread = None
                self._quiet.done()
        return asked

    def stop(self) -> None:
        """Stops after the current batch, permanently."""
        self._stop.set()
        self.wait()

    def wait(self) -> None:
        """Waits until the thread has ended."""
        self._quiet.hurry()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()
