"""Evidence from vectors: the exact cosine of a question with each passage of a hub.

The rows in the store are authoritative. A hub's vectors are cached in memory as one int8 matrix,
which takes a quarter of the space of float32 and, multiplied in blocks that fit the processor's
cache, is twice as fast. Before each use the matrix is updated from the store: new rows are
appended, and if rows were removed it is read again.

From INDEX_FROM vectors on, and if `turbovec` is installed (extra `index`), an approximate index of
4-bit codes selects the candidate windows. Their cosines are still computed from the rows, so the
result differs from the exact one only if the index misses a window. The index is derived from the
matrix, never stored, and rebuilt with it.

If the store has a vector index of its own for a large hub, it selects the candidates instead, and
the hub's vectors are not loaded into memory; the cosines of the candidates are computed here.

`best_window` finds the part of a hit that answers the question, for the few hits that are quoted.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.errors import EmbedderError
from holdfast.recall import weights
from holdfast.store.values import VectorRow, VectorState
from holdfast.text.analysis.terms import terms

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from holdfast.embed import Embedder
    from holdfast.recall.confidence import Background
    from holdfast.recall.evidence import Evidence
    from holdfast.recall.gather import QuestionVector
    from holdfast.store.base import Reader

# Values per block: 1,024 rows of 384 dimensions. For more than 460,800 values OpenBLAS uses several
# threads that wait for each other: on a busy machine that took 40 times the processor time of one
# thread. What it saves on an idle machine was not measured.
_BLOCK_VALUES = 393_216
# So many vectors are kept as float32 too, which takes 3 MB at most and 70 % off their scan.
_WIDE_ROWS_MAX = 2_048
# Rows added to an index in one call.
_INDEX_ROWS = 2_048
_SCALE_BYTES = 4
# Enough for a mean and a standard deviation, in a fraction of a millisecond.
_SAMPLE_ROWS = 2_048
# Rows read before they are copied into the matrix: as one list, the rows of a large hub would take
# three times the memory of the matrix itself.
_ROWS_PER_PART = 4_096
# A matrix that outgrows its capacity gets one sixteenth more than it needs.
_SPARE = 16
# An exact scan takes about 8 ms a 100,000 vectors of 384 dimensions.
INDEX_FROM = 100_000
# Candidates requested from the index per passage wanted. On 41,816 windows of conversations, 600
# candidates include all of the 10 nearest and 99.6 % of the 300 nearest; four times is safe.
_NAMED_PER_WANTED = 4


# Vectors of questions that are kept, of 1.5 kB each beside their texts.
_QUESTIONS_MAX = 64


class Scan:
    """Holds the cosines of a question with every window of a hub, once computed."""

    cosines: npt.NDArray[np.float32] | None = None


class _Column:
    """An array with spare capacity. Matrices that grew from one another share it, each with a view
    of its first rows; otherwise adding to a hub of 100,000 memories would copy all of them."""

    def __init__(self, rows: int, dtype: npt.DTypeLike, *width: int) -> None:
        import numpy as np

        self._array = np.empty((rows, *width), dtype)
        self._used = 0

    @property
    def empty(self) -> Any:
        return self._array[:0]

    def grown(self, front: npt.NDArray[Any], more: npt.ArrayLike, count: int) -> Any:
        """Appends `count` rows to `front`, a view of this column, and returns the longer view."""
        import numpy as np

        begin, end = len(front), len(front) + count
        if front.base is not self._array or begin != self._used or end > len(self._array):
            array = np.empty((end + end // _SPARE, *front.shape[1:]), front.dtype)
            array[:begin] = front
            self._array = array
        self._array[begin:end] = more
        self._used = end
        return self._array[:end]


class _Matrix:
    """The vectors of one hub and model, in the order of their passages. Immutable."""

    def __init__(
        self, state: VectorState, rows: Iterable[VectorRow], before: _Matrix | None
    ) -> None:
        import numpy as np

        self.state = state
        self._columns: tuple[_Column, _Column, _Column, _Column, _Column] | None = None
        self.ids: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.values: npt.NDArray[np.int8] = np.empty((0, 0), np.int8)
        self.scales: npt.NDArray[np.float32] = np.empty(0, np.float32)
        # For each passage, the row of its first window and the penalty for its number of windows.
        self.starts: npt.NDArray[np.intp] = np.empty(0, np.intp)
        self.penalties: npt.NDArray[np.float32] = np.empty(0, np.float32)
        if before is not None and len(before.ids):
            self._columns = before._columns
            self.ids, self.values, self.scales = before.ids, before.values, before.scales
            self.starts, self.penalties = before.starts, before.penalties
        done = len(self.ids)
        # No more rows than the store's count, even if that is wrong: `doctor` detects it.
        waiting = islice(rows, state.size - done)
        while some := list(islice(waiting, _ROWS_PER_PART)):
            self._add(some)
        self._find_passage_starts(done)
        one_window_each = len(self.starts) == len(self.ids)
        self.passages = self.ids if one_window_each else self.ids[self.starts]
        # Matrices that grew from one another share an index, which is not thread-safe.
        self.index_lock: threading.Lock = threading.Lock() if before is None else before.index_lock
        self.index: Any
        self.index = self._indexed(before)

    def _add(self, rows: Sequence[VectorRow]) -> None:
        import numpy as np

        # A model that was replaced under the same name leaves vectors of two lengths; those that
        # differ from the first are skipped.
        width = self.values.shape[1] or len(rows[0].vector) - _SCALE_BYTES
        rows = [row for row in rows if len(row.vector) - _SCALE_BYTES == width]
        if not rows:
            return
        if self._columns is None:
            size = self.state.size
            self._columns = (
                _Column(size, np.int64),
                _Column(size, np.int8, width),
                _Column(size, np.float32),
                _Column(size, np.intp),
                _Column(size, np.float32),
            )
            self.ids, self.values, self.scales, self.starts, self.penalties = (
                column.empty for column in self._columns
            )
        ids, values, scales, *_ = self._columns
        joined = np.frombuffer(b"".join(row.vector for row in rows), np.uint8)
        raw = joined.reshape(len(rows), width + _SCALE_BYTES)
        self.ids = ids.grown(self.ids, [row.passage_id for row in rows], len(rows))
        scale = raw[:, :_SCALE_BYTES].copy().view("<f4").reshape(-1)
        self.scales = scales.grown(self.scales, scale, len(rows))
        self.values = values.grown(self.values, raw[:, _SCALE_BYTES:].view(np.int8), len(rows))

    def _find_passage_starts(self, done: int) -> None:
        """Finds where passages begin among the windows from `done` on."""
        import numpy as np

        if self._columns is None:
            return
        *_, starts, penalties = self._columns
        new = np.flatnonzero(np.diff(self.ids[done:], prepend=-1)) + done
        counts = np.minimum(np.diff(new, append=len(self.ids)), weights.WINDOWS_COUNTED)
        by_chance = weights.WINDOWS_PENALTY * np.log2(counts)
        self.starts = starts.grown(self.starts, new, len(new))
        self.penalties = penalties.grown(self.penalties, by_chance, len(new))

    def _indexed(self, before: _Matrix | None) -> Any:
        """Returns the index over these vectors: the previous matrix's index, with the new ones
        added. None for few vectors, or if `turbovec` is not installed."""
        if len(self.ids) < INDEX_FROM:
            return None
        try:
            from turbovec import TurboQuantIndex
        except ImportError:
            return None
        index, done = None, 0
        if before is not None and before.index is not None:
            # Older matrices share it, and ignore the rows that they do not have.
            index, done = before.index, len(before.ids)
        index = index or TurboQuantIndex(dim=self.values.shape[1], bit_width=4)
        for start in range(done, len(self.ids), _INDEX_ROWS):
            some = slice(start, start + _INDEX_ROWS)
            with self.index_lock:
                index.add(self.values[some] * self.scales[some, None])
        with self.index_lock:
            index.prepare()
        return index

    def nearest(
        self,
        question: npt.NDArray[np.float32],
        limit: int,
        also: Sequence[int],
        scan: Scan | None = None,
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]:
        """Returns the indices of the nearest passages and of those in `also`, best first, and
        their cosines."""
        import numpy as np

        named = self.places_of(also)
        if self.index is None or limit * _NAMED_PER_WANTED >= len(self.ids):
            cosines = self.cosines(question)
            if scan is not None:
                scan.cosines = cosines
            if len(self.starts) < len(self.ids):
                cosines = np.maximum.reduceat(cosines, self.starts)
            order = _best_first(cosines - self.penalties, limit, named)
            return order, cosines[order]
        places, cosines = self._exact_cosines(question, limit, named)
        wanted = np.searchsorted(places, named)
        order = _best_first(cosines - self.penalties[places], limit, wanted)
        return places[order], cosines[order]

    def _exact_cosines(
        self, question: npt.NDArray[np.float32], limit: int, named: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]:
        """Computes the exact cosines of the passages that the index or the caller selected."""
        import numpy as np

        with self.index_lock:
            _, slots = self.index.search(question[None, :], limit * _NAMED_PER_WANTED)
        slots = slots[0][(slots[0] >= 0) & (slots[0] < len(self.ids))]
        one_window_each = len(self.starts) == len(self.ids)
        if not one_window_each:
            slots = np.searchsorted(self.starts, slots, side="right") - 1
        found = np.sort(np.concatenate([slots, named]))
        places = found[np.diff(found, prepend=-1) > 0]
        return places, self.cosines_at(places, question)

    def cosines_at(
        self, places: npt.NDArray[np.intp], question: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """The cosines of the passages at these indices: of each passage that of its best window."""
        import numpy as np

        if len(self.starts) == len(self.ids):
            return products(self.values[places], question) * self.scales[places]
        counts = np.diff(self.starts, append=len(self.ids))[places]
        firsts = np.cumsum(counts) - counts
        windows = np.arange(counts.sum()) + np.repeat(self.starts[places] - firsts, counts)
        exact = products(self.values[windows], question) * self.scales[windows]
        return np.maximum.reduceat(exact, firsts)

    @cached_property
    def sample(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """A sample of a few thousand vectors and their scales. Copied, because rows far apart in
        memory take several times as long to multiply."""
        return self.values[self.sampled].copy(), self.scales[self.sampled].copy()

    @property
    def sampled(self) -> slice:
        """An even sample of the windows."""
        return slice(None, None, max(1, len(self.ids) // _SAMPLE_ROWS))

    def places_of(self, passages: Sequence[int]) -> npt.NDArray[np.intp]:
        """Returns the indices of these passages, without those that have no vector."""
        import numpy as np

        wanted = np.asarray(passages, np.int64)
        places = np.searchsorted(self.passages, wanted)
        places = np.minimum(places, len(self.passages) - 1)
        known: npt.NDArray[np.intp] = places[self.passages[places] == wanted]
        return known

    @cached_property
    def centre(self) -> npt.NDArray[np.float32] | None:
        """The mean of the windows, or of an even sample of them."""
        if not len(self.ids):
            return None
        values, scales = self.values[self.sampled], self.scales[self.sampled]
        return (scales @ values.astype(scales.dtype)) / scales.dtype.type(len(scales))

    @cached_property
    def _wide(self) -> npt.NDArray[np.float32]:
        return self.values.astype(self.scales.dtype)

    def cosines(self, question: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The cosine of every window."""
        out = products(self._wide if len(self.ids) <= _WIDE_ROWS_MAX else self.values, question)
        out *= self.scales
        return out


def _best_first(
    scores: npt.NDArray[np.float32], limit: int, also: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Returns the indices of the `limit` best, ties in order, then the others of `also`."""
    import numpy as np

    if limit >= len(scores):
        return np.argsort(-scores, kind="stable")
    # All ties for the last place are sorted too, so that the result is deterministic.
    edge = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    kept = np.flatnonzero(scores >= edge)
    kept = kept[np.argsort(-scores[kept], kind="stable")][:limit]
    others = np.zeros(len(scores), np.bool_)
    others[also] = True
    others[kept] = False
    return np.concatenate([kept, np.flatnonzero(others)])


def products(
    values: npt.NDArray[np.int8] | npt.NDArray[np.float32], question: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Returns the dot product of each row with the question. Works in blocks, so that a block
    converted to float32 stays in the processor's cache."""
    import numpy as np

    rows, width = values.shape
    step = max(1, _BLOCK_VALUES // max(1, width))
    out = np.empty(rows, np.float32)
    block = None if values.dtype == out.dtype else np.empty((min(rows, step), width), out.dtype)
    for start in range(0, rows, step):
        some = values[start : start + step]
        if block is not None:
            np.copyto(block[: len(some)], some)
            some = block[: len(some)]
        np.dot(some, question, out=out[start : start + len(some)])
    return out


class VectorCache:
    """An LRU cache of the matrices of hubs, by hub and model. Thread-safe."""

    def __init__(self, *, matrices_max: int = 8) -> None:
        self._matrices: dict[tuple[str, str], _Matrix] = {}
        self._matrices_max = matrices_max
        # For hubs with a vector index in the store: their size when it was read, and the mean.
        self._centres: dict[tuple[str, str], tuple[int, npt.NDArray[np.float32] | None]] = {}
        # By model and text, those that were asked last.
        self._questions: dict[tuple[str, str], npt.NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def search(
        self,
        reader: Reader,
        hub_id: str,
        model: str,
        question: npt.NDArray[np.float32],
        *,
        limit: int,
        also: Sequence[int] = (),
        scan: Scan | None = None,
    ) -> dict[int, float]:
        """Returns the cosines of the `limit` passages nearest to the question, best first, and of
        those in `also`. Ties are in order of passage id. An exact search stores all cosines in
        `scan`.

        Passages rank by their best window, minus a penalty for the number of windows.
        """
        if reader.vector_index(hub_id, model):
            rows = reader.nearest(hub_id, model, question.tolist(), limit=limit, also=also)
            matrix, scan = _Matrix(VectorState(len(rows), 0, 0, 0), rows, None), None
        else:
            matrix = self._current(reader, hub_id, model)
        if not len(matrix.ids):
            return {}
        places, cosines = matrix.nearest(question, limit, also, scan)
        passages = matrix.passages[places].tolist()
        return dict(zip(passages, cosines.tolist(), strict=True))

    def cosines_of(
        self,
        reader: Reader,
        hub_id: str,
        model: str,
        question: npt.NDArray[np.float32],
        passages: Sequence[int],
    ) -> dict[int, float]:
        """Returns the cosines of the question with these passages, as far as they have vectors."""
        if reader.vector_index(hub_id, model):
            found = self.search(reader, hub_id, model, question, limit=1, also=passages)
            return {passage: found[passage] for passage in passages if passage in found}
        matrix = self._current(reader, hub_id, model)
        if not len(matrix.ids) or not passages:
            return {}
        places = matrix.places_of(passages)
        if not len(places):
            return {}
        cosines = matrix.cosines_at(places, question)
        return dict(zip(matrix.passages[places].tolist(), cosines.tolist(), strict=True))

    def background(
        self,
        reader: Reader,
        hub_id: str,
        model: str,
        question: npt.NDArray[np.float32],
        scan: Scan,
    ) -> Background | None:
        """Returns the mean and deviation of the question's cosines with the hub's windows, or with
        a sample of them. None if the store has a vector index and the vectors are not loaded."""
        if reader.vector_index(hub_id, model):
            return None
        matrix = self._current(reader, hub_id, model)
        count = len(matrix.ids)
        if not count:
            return None
        if scan.cosines is not None and len(scan.cosines) == count:
            cosines = scan.cosines[matrix.sampled]
        else:
            values, scales = matrix.sample
            cosines = products(values, question) * scales
        from holdfast.recall.confidence import Background

        return Background(float(cosines.mean()), deviation=float(cosines.std()), windows=count)

    def centre(self, reader: Reader, hub_id: str, model: str) -> npt.NDArray[np.float32] | None:
        """Returns the mean of the hub's vectors, or of a sample of them."""
        if not reader.vector_index(hub_id, model):
            return self._current(reader, hub_id, model).centre
        size = reader.vector_state(hub_id, model).size
        with self._lock:
            known = self._centres.get((hub_id, model))
        if known is None or not size / 2 <= known[0] <= size * 2:
            # The store has a vector index: a sample of the rows is read, and read again when the
            # hub's size has doubled or halved.
            rows = list(islice(reader.vectors(hub_id, model, after=0), _SAMPLE_ROWS))
            known = size, _Matrix(VectorState(len(rows), 0, 0, 0), rows, None).centre
            with self._lock:
                self._centres[hub_id, model] = known
        return known[1]

    def question(
        self, reader: Reader, hub_id: str, embedder: Embedder, text: str
    ) -> npt.NDArray[np.float32]:
        """Returns the vector of a question. Raises EmbedderError if it is not finite, or its length
        differs from the stored vectors."""
        import numpy as np

        model = embedder.identity
        vector = self._embedded(embedder, model, text)
        width = reader.vector_index(hub_id, model)
        if not width:
            width = self._current(reader, hub_id, model).values.shape[1]
        if not np.isfinite(vector).all():
            raise EmbedderError("The model returned a vector that holds no numbers.")
        if width and len(vector) != width:
            raise EmbedderError(
                f"The model's vectors have length {len(vector)}, those in the store {width}.",
                hint="Name the new model in embed.model, so that its vectors are made anew.",
            )
        return vector

    def _embedded(self, embedder: Embedder, model: str, text: str) -> npt.NDArray[np.float32]:
        """Embeds a question, or finds its vector among those of the last questions: a project's hub
        and the person's own are asked the same, and making a vector takes longer than the rest."""
        with self._lock:
            vector = self._questions.pop((model, text), None)
        if vector is None:
            vector = embedder.embed_query(text)
        with self._lock:
            self._questions[model, text] = vector
            if len(self._questions) > _QUESTIONS_MAX:
                del self._questions[next(iter(self._questions))]
        return vector

    def ready(self, reader: Reader, hub_id: str, model: str) -> bool:
        """Whether a search can start without loading more than a few new vectors."""
        if reader.vector_index(hub_id, model):
            return True
        state = reader.vector_state(hub_id, model)
        with self._lock:
            matrix = self._matrices.get((hub_id, model))
        if matrix is None:
            return state.size <= _ROWS_PER_PART
        known = matrix.state
        return state.removals == known.removals and state.size - known.size <= _ROWS_PER_PART

    def refresh(self, reader: Reader, hub_id: str, model: str) -> None:
        """Loads a hub's new vectors, so that the next search need not wait for them."""
        if not reader.vector_index(hub_id, model):
            self._current(reader, hub_id, model)

    def _current(self, reader: Reader, hub_id: str, model: str) -> _Matrix:
        state = reader.vector_state(hub_id, model)
        with self._lock:
            matrix = self._matrices.pop((hub_id, model), None)
            if matrix is None or matrix.state != state:
                # A new object, because another thread may be searching the old one.
                matrix = _refreshed(matrix, reader, hub_id, model, state)
            self._matrices[hub_id, model] = matrix
            while len(self._matrices) > self._matrices_max:
                del self._matrices[next(iter(self._matrices))]
            return matrix

    def forget(self) -> None:
        """Drops all matrices; the next search reads them again."""
        with self._lock:
            self._matrices.clear()
            self._centres.clear()
            self._questions.clear()


def _refreshed(
    old: _Matrix | None, reader: Reader, hub_id: str, model: str, state: VectorState
) -> _Matrix:
    if (
        old is not None
        and state.removals == old.state.removals
        and state.newest > old.state.newest
        and (grown := state.size - old.state.size) > 0
    ):
        rows = list(reader.vectors(hub_id, model, after=old.state.newest))
        # If older passages got vectors too, the counts differ, and only a full read finds them.
        if len(rows) == grown:
            return _Matrix(state, rows, old)
    return _Matrix(state, reader.vectors(hub_id, model, after=0), None)


def best_window(
    reader: Reader,
    hub_id: str,
    question: QuestionVector | None,
    asked: Sequence[str],
    item: Evidence,
) -> tuple[int, int]:
    """Returns the span of the memory's content that is nearest to the question: by vectors if the
    passage has them, otherwise by words."""
    from holdfast.text.chunking import windows_of

    found = item.candidate
    spans = windows_of(item.memory.content, found.start, found.end)
    if len(spans) < 2:
        return found.start, found.end
    scores = _by_words(item.memory.content, spans, asked)
    if question is not None:
        rows = reader.vectors_of(hub_id, question.model, item.memory.id)
        vectors = [row.vector for row in rows if row.passage_id == found.passage_id]
        if len(vectors) == len(spans):
            from holdfast.embed import dequantise_all

            near = dequantise_all(vectors, len(question.vector)) @ question.vector
            scores = [
                cosine + _WORDS_SHARE * held for cosine, held in zip(near, scores, strict=True)
            ]
    return spans[max(range(len(spans)), key=lambda at: scores[at])]


# The weight of having all of the question's words, in units of cosine.
_WORDS_SHARE = 0.2


def _by_words(content: str, spans: Sequence[tuple[int, int]], asked: Sequence[str]) -> list[float]:
    """Returns the share of the question's words in each window."""
    wanted = set(asked)
    return [
        len(wanted & set(terms(content[start:end]))) / max(1, len(wanted)) for start, end in spans
    ]
