"""Evidence from meaning: the cosine of a question and each passage of a hub, exactly.

The rows in the store are the truth. A hub's vectors are kept as one int8 matrix in memory, which is
a quarter of the room of float32 and, taken in blocks that fit the processor's cache, twice as
fast. The matrix is brought up to date from the store before each use: new rows are appended, and
where rows went away it is read anew.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from holdfast.store.base import Reader, VectorState

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Blocks of 1,024 to 4,096 rows are equally fast for 384 dimensions; smaller and larger are slower.
_BLOCK_ROWS = 2_048
_SCALE_BYTES = 4


class VectorHit(NamedTuple):
    """A passage and the cosine of its best window."""

    passage_id: int
    cosine: float


class _Matrix:
    """The vectors of one hub and model."""

    def __init__(self) -> None:
        self.state = VectorState(0, 0, 0, 0)
        self.ids: npt.NDArray[np.int64] | None = None
        self.values: npt.NDArray[np.int8] | None = None
        self.scales: npt.NDArray[np.float32] | None = None


class VectorCache:
    """The matrices of the hubs that were asked, most recently used last. Thread-safe."""

    def __init__(self, *, matrices_max: int = 8) -> None:
        self._matrices: dict[tuple[str, str], _Matrix] = {}
        self._matrices_max = matrices_max
        self._lock = threading.Lock()

    def search(
        self,
        reader: Reader,
        hub_id: str,
        model: str,
        question: npt.NDArray[np.float32],
        *,
        limit: int,
    ) -> list[VectorHit]:
        """The passages of the `limit` nearest windows, best first; ties in the order they came."""
        import numpy as np

        ids, values, scales = self._current(reader, hub_id, model)
        if ids is None or values is None or scales is None or not len(ids):
            return []
        cosines = _cosines(values, scales, question)
        if limit < len(cosines):
            # All ties of the last place come along, so that the order does not depend on chance.
            edge = np.partition(cosines, len(cosines) - limit)[len(cosines) - limit]
            places = np.flatnonzero(cosines >= edge)
        else:
            places = np.arange(len(cosines))
        order = places[np.lexsort((ids[places], -cosines[places]))][:limit]
        best: dict[int, float] = {}
        for at in order:
            best.setdefault(int(ids[at]), float(cosines[at]))
        return [VectorHit(passage, cosine) for passage, cosine in best.items()]

    def _current(
        self, reader: Reader, hub_id: str, model: str
    ) -> tuple[
        npt.NDArray[np.int64] | None, npt.NDArray[np.int8] | None, npt.NDArray[np.float32] | None
    ]:
        state = reader.vector_state(hub_id, model)
        with self._lock:
            matrix = self._matrices.pop((hub_id, model), None) or _Matrix()
            self._matrices[hub_id, model] = matrix
            while len(self._matrices) > self._matrices_max:
                del self._matrices[next(iter(self._matrices))]
            if matrix.state != state:
                _refresh(matrix, reader, hub_id, model, state)
            return matrix.ids, matrix.values, matrix.scales

    def forget(self) -> None:
        """Drops everything; the next search reads anew."""
        with self._lock:
            self._matrices.clear()


def _refresh(matrix: _Matrix, reader: Reader, hub_id: str, model: str, state: VectorState) -> None:
    import numpy as np

    grown = state.size - matrix.state.size
    appended = (
        matrix.ids is not None
        and state.removals == matrix.state.removals
        and state.newest > matrix.state.newest
        and grown > 0
    )
    after = matrix.state.newest if appended else 0
    rows = list(reader.vectors(hub_id, model, after=after))
    if appended and len(rows) != grown:
        # Older passages got vectors as well: only reading anew finds them.
        appended, rows = False, list(reader.vectors(hub_id, model, after=0))
    ids = np.fromiter((row.passage_id for row in rows), np.int64, len(rows))
    width = len(rows[0].vector) if rows else _SCALE_BYTES
    raw = np.frombuffer(b"".join(row.vector for row in rows), np.uint8).reshape(-1, width)
    scales = raw[:, :_SCALE_BYTES].copy().view("<f4").reshape(-1)
    values = raw[:, _SCALE_BYTES:].copy().view(np.int8)
    if appended and matrix.ids is not None and matrix.values is not None:
        ids = np.concatenate([matrix.ids, ids])
        values = np.concatenate([matrix.values, values])
        assert matrix.scales is not None
        scales = np.concatenate([matrix.scales, scales])
    matrix.ids, matrix.values, matrix.scales = ids, values, scales
    matrix.state = state


def _cosines(
    values: npt.NDArray[np.int8],
    scales: npt.NDArray[np.float32],
    question: npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]:
    import numpy as np

    rows, width = values.shape
    out = np.empty(rows, np.float32)
    block = np.empty((min(rows, _BLOCK_ROWS), width), np.float32)
    for start in range(0, rows, _BLOCK_ROWS):
        some = values[start : start + _BLOCK_ROWS]
        wide = block[: len(some)]
        np.copyto(wide, some)
        np.dot(wide, question, out=out[start : start + len(some)])
    out *= scales
    return out
