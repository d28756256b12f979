"""Token buckets: how often each caller may do something. A bucket holds a burst of tokens and fills
evenly; an empty one says how long to wait."""

from __future__ import annotations

# With more buckets than this the fullest half is dropped: those would be full again soonest.
BUCKETS_MAX = 10_000


class TokenBuckets:
    """One bucket for each name; a name that is new has a full one."""

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst = burst
        self._per_second = per_second
        # Tokens left, and when that was counted.
        self._buckets: dict[str, tuple[float, float]] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def take(
        self, name: str, now: float, burst: float | None = None, per_second: float | None = None
    ) -> float:
        """Takes a token and returns 0; where there is none, returns the seconds until there is.
        `burst` and `per_second` apply to this bucket instead of the usual ones."""
        burst = self._burst if burst is None else burst
        per_second = self._per_second if per_second is None else per_second
        left, counted_at = self._buckets.get(name, (burst, now))
        left = min(burst, left + (now - counted_at) * per_second)
        if left < 1:
            self._buckets[name] = (left, now)
            return (1 - left) / per_second
        if len(self._buckets) >= BUCKETS_MAX and name not in self._buckets:
            self._drop_fullest()
        self._buckets[name] = (left - 1, now)
        return 0.0

    def give_back(self, name: str) -> None:
        """Returns a token that was taken."""
        if name in self._buckets:
            left, counted_at = self._buckets[name]
            self._buckets[name] = (left + 1, counted_at)

    def _drop_fullest(self) -> None:
        fullest = sorted(self._buckets, key=lambda name: self._buckets[name], reverse=True)
        for name in fullest[: BUCKETS_MAX // 2]:
            del self._buckets[name]
