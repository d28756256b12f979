"""Evidence from meaning: the cosine of a question and each passage of a hub, exactly.

The rows in the store are the truth. A hub's vectors are kept as one int8 matrix in memory, which is
a quarter of the room of float32 and, taken in blocks that fit the processor's cache, twice as
fast. The matrix is brought up to date from the store before each use: new rows are appended, and
where rows went away it is read anew.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from holdfast.recall.weights import WINDOWS_COUNTED, WINDOWS_PENALTY
from holdfast.store.values import VectorRow, VectorState

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from holdfast.store.base import Reader

# Blocks of 1,024 to 4,096 rows are equally fast for 384 dimensions; smaller and larger are slower.
_BLOCK_ROWS = 2_048
_SCALE_BYTES = 4


class VectorHit(NamedTuple):
    """A passage and the cosine of its best window."""

    passage_id: int
    cosine: float


class _Matrix:
    """The vectors of one hub and model, in the order of their passages. Never changed once made."""

    def __init__(self, state: VectorState, rows: list[VectorRow], before: _Matrix | None) -> None:
        import numpy as np

        self.state = state
        self.ids: npt.NDArray[np.int64]
        self.values: npt.NDArray[np.int8]
        self.scales: npt.NDArray[np.float32]
        ids = np.fromiter((row.passage_id for row in rows), np.int64, len(rows))
        width = len(rows[0].vector) if rows else _SCALE_BYTES
        raw = np.frombuffer(b"".join(row.vector for row in rows), np.uint8).reshape(-1, width)
        scales = raw[:, :_SCALE_BYTES].copy().view("<f4").reshape(-1)
        values = raw[:, _SCALE_BYTES:].copy().view(np.int8)
        if before is not None:
            ids = np.concatenate([before.ids, ids])
            values = np.concatenate([before.values, values])
            scales = np.concatenate([before.scales, scales])
        self.ids, self.values, self.scales = ids, values, scales
        # Where each passage begins, and what the best of its windows has by chance.
        self.starts = np.flatnonzero(np.diff(ids, prepend=-1))
        counts = np.minimum(np.diff(self.starts, append=len(ids)), WINDOWS_COUNTED)
        self.penalties = (WINDOWS_PENALTY * np.log2(counts)).astype(np.float32)

    def cosines(self, question: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The cosine of every window."""
        import numpy as np

        rows, width = self.values.shape
        out = np.empty(rows, np.float32)
        block = np.empty((min(rows, _BLOCK_ROWS), width), np.float32)
        for start in range(0, rows, _BLOCK_ROWS):
            some = self.values[start : start + _BLOCK_ROWS]
            wide = block[: len(some)]
            np.copyto(wide, some)
            np.dot(wide, question, out=out[start : start + len(some)])
        out *= self.scales
        return out


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
        """The `limit` passages nearest to the question, best first; ties in the order they came.

        A passage is as near as its best window, less what the best of so many has by chance.
        """
        import numpy as np

        matrix = self._current(reader, hub_id, model)
        if not len(matrix.ids):
            return []
        cosines = np.maximum.reduceat(matrix.cosines(question), matrix.starts)
        merits = cosines - matrix.penalties
        places = np.arange(len(merits))
        if limit < len(merits):
            # All ties of the last place come along, so that the order does not depend on chance.
            edge = np.partition(merits, len(merits) - limit)[len(merits) - limit]
            places = np.flatnonzero(merits >= edge)
        order = places[np.lexsort((places, -merits[places]))][:limit]
        passages = matrix.ids[matrix.starts[order]].tolist()
        return [VectorHit(*pair) for pair in zip(passages, cosines[order].tolist(), strict=True)]

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
        """Drops everything; the next search reads anew."""
        with self._lock:
            self._matrices.clear()


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
        # Where older passages got vectors as well, only reading anew finds them.
        if len(rows) == grown:
            return _Matrix(state, rows, old)
    return _Matrix(state, list(reader.vectors(hub_id, model, after=0)), None)
