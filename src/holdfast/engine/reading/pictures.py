"""Overviews of a hub: a map on which memories of similar meaning are close together, and the
changes by UTC day. Ranking does not use them.

For the map, vectors are reduced to their main directions and grouped by k-means, and the groups are
laid out as islands, sized by their number of memories. A large hub is sampled evenly by age.
Without vectors, memories are compared by their words. The same memories always give the same map.
The last result for each hub and viewer is cached while the store is open.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from holdfast.domain.query import Filter, check_count
from holdfast.errors import InvalidInput
from holdfast.text.analysis.terms import STOP_WORDS

if TYPE_CHECKING:
    from holdfast.engine.core import Scope
    from holdfast.store.base import Reader


T = TypeVar("T")
# The size of the cache, for all hubs and viewers together.
_ANSWERS_MAX = 32


class Cached:
    """A cached picture of a hub, and the state of the hub that it was made from."""

    def __init__(self, state: tuple[Any, ...], answer: Any) -> None:
        self.state = state
        self.answer = answer

    def close(self) -> None:
        """Nothing to close; the engine closes all `Core.resources`."""


def cached(scope: Scope, name: str, state: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Returns the cached picture of a hub if its state is unchanged; else makes a new one."""
    viewer = scope.core.viewer
    place = (name, scope.hub_id, "" if viewer is None else repr(viewer))
    known = scope.core.resources.get(place)
    if isinstance(known, Cached) and known.state == state:
        return cast("T", known.answer)
    answer = make()
    cache = scope.core.resources
    old = [one for one, value in [*cache.items()] if isinstance(value, Cached)]
    for one in old[: max(len(old) - _ANSWERS_MAX + 1, 0)]:
        cache.pop(one, None)
    cache[place] = Cached(state, answer)
    return answer


if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Scope
    from holdfast.store.base import Reader

    Matrix = npt.NDArray[np.float32]

POINTS_MAX = 20_000
_CHUNK = 1_000
# The number of dimensions for clustering: more contain noise, fewer merge different topics.
_DIRECTIONS = 24
_GROUPS_MIN, _GROUPS_MAX = 2, 14
_ROUNDS = 25
# The most rows from which dimensions, clusters and names are computed: hundreds for each of 14
# clusters. All 20,000 would take longer, and could give other names.
_FITTED = 4_000
_HASHED_WORDS = 256
_NAME_WORDS = 3
_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")
_TEXT_CHARS = 400


class MapPoint(NamedTuple):
    """A memory on the map. Both coordinates are from 0 to 1."""

    number: int
    x: float
    y: float
    group: int


class MapGroup(NamedTuple):
    """An island of the map of a hub: the words that distinguish it, its centre, and its number of
    memories."""

    group: int
    name: str
    x: float
    y: float
    size: int


class MeaningMap(NamedTuple):
    """The map of memories by meaning. `total` is how many memories there are; `by` is `meaning` or
    `words`."""

    points: list[MapPoint]
    groups: list[MapGroup]
    total: int
    by: str


def meaning_map(scope: Scope, *, limit: int = POINTS_MAX) -> MeaningMap:
    """The map of the memories that the caller sees, cached until something changes."""
    check_count(limit)
    with scope.read() as reader:
        # A purge leaves no revision, and its words must not stay in the names of groups.
        purged = len(reader.receipts(scope.hub_id))
        state = (reader.newest_revision(scope.hub_id), purged, limit)
        return cached(scope, "meaning map", state, lambda: _made(scope, reader, limit))


def _made(scope: Scope, reader: Reader, limit: int) -> MeaningMap:
    memories, matrix = _by_meaning(scope, reader, limit)
    total = reader.statistics(scope.hub_id).visible
    by = "meaning"
    if matrix is None:
        memories = _sample(scope, reader, limit)
        matrix = _hashed(memories)
        by = "words"
    if len(memories) < _GROUPS_MIN + 1:
        points = [MapPoint(memory.number, 0.5, 0.5, 0) for memory in memories]
        return MeaningMap(points, [], total, by)
    groups, places = _lay_out(matrix)
    names = _names(memories, groups)
    points = [
        MapPoint(memory.number, round(float(x), 4), round(float(y), 4), int(group))
        for memory, (x, y), group in zip(memories, places, groups, strict=True)
    ]
    islands = []
    for group, name in enumerate(names):
        own = places[groups == group]
        if len(own):
            x, y = own.mean(axis=0)
            islands.append(MapGroup(group, name, round(float(x), 4), round(float(y), 4), len(own)))
    return MeaningMap(points, islands, total, by)


# Vectors


def _by_meaning(scope: Scope, reader: Reader, limit: int) -> tuple[list[Memory], Matrix | None]:
    """Memories with their vectors; None if hardly any has one."""
    embedder = scope.core.embedder
    if embedder is None:
        return [], None
    from holdfast.embed import SCALE_BYTES, dequantise_all

    first = [
        (row.passage_id, row.vector)
        for row in reader.vectors(scope.hub_id, embedder.identity, after=0)
        if row.window == 0
    ]
    wanted = Filter(alive_at=scope.now())
    # A memory has one passage or a few, and some are filtered out.
    step = max(1, math.ceil(len(first) / (2 * limit)))
    vectors = dict(first[::step])
    found: dict[str, bytes] = {}
    ids = list(vectors)
    for at in range(0, len(ids), _CHUNK):
        for one in reader.candidates(scope.hub_id, ids[at : at + _CHUNK], wanted):
            if one.ordinal == 0 or one.memory_id not in found:
                found[one.memory_id] = vectors[one.passage_id]
    memories = _loaded(scope, reader, list(found))
    memories = memories[:: max(1, math.ceil(len(memories) / limit))]
    if len(memories) < _GROUPS_MIN + 1:
        return [], None
    blobs = [found[memory.id] for memory in memories]
    return memories, dequantise_all(blobs, len(blobs[0]) - SCALE_BYTES)


def _loaded(scope: Scope, reader: Reader, ids: Sequence[str]) -> list[Memory]:
    out: list[Memory] = []
    for at in range(0, len(ids), _CHUNK):
        out += reader.memories_by_id(scope.hub_id, ids[at : at + _CHUNK]).values()
    return sorted((memory for memory in out if memory.number), key=lambda one: one.number)


def _sample(scope: Scope, reader: Reader, limit: int) -> list[Memory]:
    """An even sample by age, for hubs without vectors."""
    wanted = Filter(alive_at=scope.now())
    ids = reader.ids_by_use(scope.hub_id, wanted)
    return _loaded(scope, reader, ids[:: max(1, math.ceil(len(ids) / limit))])


def _hashed(memories: Sequence[Memory]) -> Matrix:
    """Vectors of hashed words, weighted by rarity."""
    import numpy as np

    texts = [_words(memory) for memory in memories]
    common = Counter(word for words in texts for word in set(words))
    matrix = np.zeros((len(memories), _HASHED_WORDS), np.float32)
    for row, words in zip(matrix, texts, strict=True):
        for word in words:
            hashed = zlib.crc32(word.encode())
            sign = 1.0 if hashed & 1 else -1.0
            row[(hashed >> 1) % _HASHED_WORDS] += sign * math.log(1 + len(texts) / common[word])
        norm = float(np.linalg.norm(row))
        if norm:
            row /= norm
    return matrix


def _words(memory: Memory) -> list[str]:
    text = f"{memory.title} {memory.content[:_TEXT_CHARS]}".lower()
    return [word for word in _WORD.findall(text) if word not in STOP_WORDS]


# The layout


def _lay_out(matrix: Matrix) -> tuple[Any, Any]:
    """The cluster of each row, and its position on the map."""
    import numpy as np

    rows = _principal_components(matrix)
    count = int(np.clip(math.sqrt(len(rows)) / 1.3, _GROUPS_MIN, _GROUPS_MAX))
    groups, centres = _cluster(rows, count)
    sizes = np.bincount(groups, minlength=len(centres)).astype(np.float32)
    radii = np.sqrt(np.maximum(sizes, 1) / sizes.sum()) * 0.9
    middles = _separate(_two_directions(centres), radii)
    places = np.empty((len(rows), 2), np.float32)
    for group, centre in enumerate(centres):
        own = groups == group
        if not own.any():
            continue
        local = _two_directions(rows[own] - centre)
        reach = float(np.quantile(np.linalg.norm(local, axis=1), 0.9)) or 1.0
        # Points far from the centre are moved closer, so that islands stay compact.
        length = np.linalg.norm(local, axis=1, keepdims=True) / reach
        places[own] = middles[group] + radii[group] * (local / reach) / (1 + 0.35 * length)
    low, high = places.min(axis=0), places.max(axis=0)
    span = float((high - low).max()) or 1.0
    middle = (low + high) / 2
    return groups, (places - middle) / span + 0.5


def _principal_components(matrix: Matrix) -> Matrix:
    """The rows reduced to their principal components."""
    import numpy as np

    rows = (matrix - matrix.mean(axis=0)).astype(np.float32)
    fitted = _evenly(rows)
    _, directions = np.linalg.eigh(fitted.T @ fitted)
    main = directions[:, ::-1][:, :_DIRECTIONS]
    # The sign of a component is arbitrary: the largest value is made positive.
    main = main * np.sign(main[np.abs(main).argmax(axis=0), np.arange(main.shape[1])])
    reduced: Matrix = (rows @ main).astype(np.float32)
    return reduced


def _evenly(rows: Any) -> Any:
    """An even sample of rows, or of a list."""
    return rows[:: max(1, math.ceil(len(rows) / _FITTED))]


def _two_directions(rows: Matrix) -> Matrix:
    return _principal_components(rows)[:, :2] if len(rows) > 1 else rows[:, :2] * 0


def _cluster(rows: Matrix, count: int) -> tuple[Any, Matrix]:
    """k-means on a sample; all rows are then assigned to the nearest centre."""
    centres = _initial_centres(_evenly(rows), count)
    return _nearest(rows, centres), centres


def _nearest(rows: Matrix, centres: Matrix) -> Any:
    distances = (centres**2).sum(axis=1)[None] - 2 * rows @ centres.T
    return distances.argmin(axis=1)


def _initial_centres(rows: Matrix, count: int) -> Matrix:
    """Initial centres that are far from each other, chosen with a fixed seed."""
    import numpy as np

    chance = np.random.default_rng(11)
    centres: Matrix = rows[chance.integers(len(rows))][None]
    near = ((rows - centres[0]) ** 2).sum(axis=1)
    for _ in range(1, count):
        share = near / near.sum() if near.sum() else None
        chosen = rows[chance.choice(len(rows), p=share)]
        centres = np.vstack([centres, chosen[None]])
        near = np.minimum(near, ((rows - chosen) ** 2).sum(axis=1))
    groups = np.zeros(len(rows), np.int64)
    for _ in range(_ROUNDS):
        new = _nearest(rows, centres)
        if (new == groups).all():
            break
        groups = new
        for group in range(len(centres)):
            own = rows[groups == group]
            if len(own):
                centres[group] = own.mean(axis=0)
    return centres


def _separate(middles: Matrix, radii: Any) -> Matrix:
    """Moves the centres until their circles do not overlap."""
    import numpy as np

    spread = float(np.abs(middles).max()) or 1.0
    out = middles / spread
    for _ in range(200):
        moved = False
        for a in range(len(out)):
            for b in range(a + 1, len(out)):
                gap = out[b] - out[a]
                distance = float(np.linalg.norm(gap))
                least = float(radii[a] + radii[b]) * 1.05
                if distance < least:
                    way = gap / distance if distance > 1e-6 else np.array([1.0, 0.3 * (a - b)])
                    out[a] -= way * (least - distance) / 2
                    out[b] += way * (least - distance) / 2
                    moved = True
        # Pulls distant islands slightly towards the middle.
        out *= 0.995
        if not moved:
            break
    placed: Matrix = out.astype(np.float32)
    return placed


def _names(memories: Sequence[Memory], groups: Any) -> list[str]:
    """The name of each cluster: words that are frequent in it and rare elsewhere."""
    count = int(groups.max()) + 1
    groups = _evenly(groups)
    texts = [set(_words(memory)) for memory in _evenly(memories)]
    common = Counter(word for words in texts for word in words)
    names = []
    for group in range(count):
        own = [words for words, of in zip(texts, groups, strict=True) if of == group]
        inside = Counter(word for words in own for word in words)
        scores = {
            word: times / len(own) * math.log(len(texts) / common[word] + 0.01) * (times > 1)
            for word, times in inside.items()
        }
        best = sorted(scores, key=lambda word: (-scores[word], word))
        names.append(", ".join(word for word in best[:_NAME_WORDS] if scores[word] > 0))
    return names


DAYS_MAX = 371
_PAGE = 1_000
# Older changes of a very busy hub are not counted; `complete_from` says so.
_CHANGES_MAX = 100_000
_GROWTH_POINTS = 120


class ActivityDay(NamedTuple):
    """The number of change sets of each action on a day."""

    day: date
    counts: Mapping[str, int]


class GrowthPoint(NamedTuple):
    """The number of memories created up to a time, including forgotten ones."""

    at: datetime
    made: int


class Activity(NamedTuple):
    """The days with changes, oldest first; `complete_from` is the first day that is fully counted;
    and the growth."""

    days: list[ActivityDay]
    complete_from: date
    growth: list[GrowthPoint]


def activity(scope: Scope, *, days: int = DAYS_MAX) -> Activity:
    """The changes of the last days, cached until something changes."""
    if not isinstance(days, int) or not 1 <= days <= DAYS_MAX:
        raise InvalidInput(
            f"You asked for {days!r} days.", hint=f"Give a number from 1 to {DAYS_MAX}."
        )
    with scope.read() as reader:
        today = scope.now().astimezone(UTC).date()
        first = today - timedelta(days=days - 1)
        state = (reader.newest_revision(scope.hub_id), first)

        def make() -> Activity:
            counted, complete_from = _counted(scope, reader, first)
            return Activity(counted, complete_from, _growth(scope, reader))

        return cached(scope, "activity", state, make)


def _counted(scope: Scope, reader: Reader, first: date) -> tuple[list[ActivityDay], date]:
    counts: dict[date, dict[str, int]] = {}
    before: str | None = None
    for _ in range(0, _CHANGES_MAX, _PAGE):
        page = reader.changes(scope.hub_id, limit=_PAGE, before=before)
        for change in page:
            day = change.at.astimezone(UTC).date()
            if day < first:
                break
            of_day = counts.setdefault(day, {})
            of_day[change.action] = of_day.get(change.action, 0) + 1
        else:
            if len(page) == _PAGE:
                before = page[-1].id
                continue
        return [ActivityDay(day, counts[day]) for day in sorted(counts)], first
    oldest = min(counts) + timedelta(days=1)
    return [ActivityDay(day, counts[day]) for day in sorted(counts) if day >= oldest], oldest


def _growth(scope: Scope, reader: Reader) -> list[GrowthPoint]:
    """Numbers are assigned in order, so a few of them show how many memories there were at which
    time."""
    hub = reader.hub_by_id(scope.hub_id)
    numbers = 0 if hub is None else hub.numbers
    step = max(1, numbers // _GROWTH_POINTS)
    wanted = sorted({*range(1, numbers + 1, step), numbers} - {0})
    found = (reader.memory_by_number(scope.hub_id, number) for number in wanted)
    return [GrowthPoint(one.created_at, one.number) for one in found if one is not None]
