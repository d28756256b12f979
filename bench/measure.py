"""Stopwatch, scales and a cheap embedder: what the benchmarks share."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from holdfast.evaluation.run import percentile

DIMENSIONS = 384  # as the bundled model's


class RandomEmbedder:
    """A unit vector drawn from the text's hash: the cost of vectors without the cost of a model.
    That of a question is drawn once, so that it can be at hand before the question is timed."""

    identity = "bench:random"
    dimensions = DIMENSIONS
    passage_tokens_max = 512

    def embed_passages(self, texts: Sequence[str]) -> Any:
        if not texts:
            return np.zeros((0, DIMENSIONS), np.float32)
        return np.stack([_drawn(text) for text in texts])

    def embed_query(self, text: str) -> Any:
        return _drawn_once(text)


def _drawn(text: str) -> Any:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    vector = np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


_drawn_once = lru_cache(maxsize=2_048)(_drawn)


def timed_ms(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1_000


class Times:
    """Many measurements of one thing: on the clock, and of the processor."""

    def __init__(self) -> None:
        self.wall_ms: list[float] = []
        self.cpu_ms: list[float] = []

    def add(self, act: Callable[[], object]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        act()
        self.cpu_ms.append((time.process_time() - cpu) * 1_000)
        self.wall_ms.append((time.perf_counter() - wall) * 1_000)

    def returned(self, act: Callable[..., Any], *args: Any, **values: Any) -> Any:
        """What an act returns, which is measured."""
        made: list[Any] = []
        self.add(lambda: made.append(act(*args, **values)))
        return made[0]

    def sum_of(self, *others: Times) -> None:
        """One measurement more: the sum of the others' last ones."""
        self.wall_ms.append(sum(other.wall_ms[-1] for other in others))
        self.cpu_ms.append(sum(other.cpu_ms[-1] for other in others))

    @property
    def p50_ms(self) -> float:
        return percentile(self.wall_ms, 0.5)

    @property
    def cpu_p50_ms(self) -> float:
        return percentile(self.cpu_ms, 0.5)

    def __str__(self) -> str:
        return f"{spread(self.wall_ms)}   cpu p50 {self.cpu_p50_ms:8.2f} ms"


def spread(times_ms: Sequence[float]) -> str:
    return f"p50 {percentile(times_ms, 0.5):8.2f} ms   p95 {percentile(times_ms, 0.95):8.2f} ms"


def rss_mb() -> float:
    """The memory this process holds right now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def folder_bytes(folder: str) -> int:
    return sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())


def drained(items: Iterable[object], *, report: Callable[[int], None] | None = None) -> int:
    """Takes everything from a stream and keeps nothing of it."""
    count = 0
    for _ in items:
        count += 1
        if report is not None:
            report(count)
    return count


def verdict(value: float, aim: float, *, at_most: bool) -> str:
    met = value <= aim if at_most else value >= aim
    return f"(aim: {'at most' if at_most else 'at least'} {aim:g}; {'met' if met else 'MISSED'})"
