"""How fast is recall in a warm process? Measured against the bare cost of its own parts.

    python -m bench.recall_speed [--memories 100000] [--large] [--home FOLDER] [--profile]

One hub, vectors of 384 dimensions drawn at random (a real model's query cost is printed apart: it
does not depend on the size of the hub). The bare cost of a question is what its own FTS5 expression
takes on a bare connection (`SELECT rowid ... ORDER BY rank LIMIT n`) plus one product of a float32
matrix with the question and the choice of the best; both are measured in turns with recall.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np

import holdfast
from bench.measure import (
    DIMENSIONS,
    RandomEmbedder,
    drained,
    folder_bytes,
    rss_mb,
    spread,
    timed_ms,
    verdict,
)
from bench.texts import Texts
from holdfast.embed.find import find_embedder
from holdfast.evaluation.metrics import percentile
from holdfast.recall import weights
from holdfast.store.sqlite import search

QUESTIONS = 200
LIMIT = 10


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall_speed")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--large", action="store_true", help="go on to 1,000,000 memories")
    parser.add_argument("--home", help="keep the filled store there and use it again")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    args = parser.parse_args()
    sizes = [args.memories, *([1_000_000] if args.large else [])]
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
        medians = [measure(args.home or scratch, size, profile=args.profile) for size in sizes]
    if len(medians) > 1:
        growth = medians[1] / medians[0]
        print(
            f"\nfrom {sizes[0]:,} to {sizes[1]:,} memories recall takes {growth:.1f} times as long"
        )
    model_cost()


def measure(home: str, size: int, *, profile: bool) -> float:
    """Everything at one size; returns the median of recall in ms."""
    home = os.path.join(home, f"speed-{size}")
    os.makedirs(home, exist_ok=True)
    fill(home, size)
    texts = Texts(seed=11)
    usual = [texts.question() for _ in range(QUESTIONS)]
    common = [texts.common_question() for _ in range(QUESTIONS)]
    before_mb = rss_mb()
    with holdfast.open(home, embedder=RandomEmbedder()) as memory:
        hub = memory.hub("bench")
        first_ms = timed_ms(lambda: hub.recall(usual[0], limit=LIMIT))
        held_mb = rss_mb() - before_mb
        print(f"\n{size:,} memories of one hub")
        disk = folder_bytes(home) / size
        print(f"  first recall, reading the vectors       {first_ms:8.0f} ms")
        print(
            f"  memory held {held_mb:.0f} MB, {held_mb * 1e6 / size:.0f} bytes a memory;"
            f" on disk {disk:.0f} bytes a memory"
        )
        ours = measure_questions(hub, home, size, usual, "usual questions")
        slow = measure_questions(hub, home, size, common, "only common words")
        said = verdict(slow / ours, 5, at_most=True)
        print(f"  common words / usual                    {slow / ours:8.2f} {said}")
        if profile:
            print_profile(hub, usual)
    return ours


def fill(home: str, size: int) -> None:
    with holdfast.open(home, embedder=RandomEmbedder()) as memory:
        if memory.hubs():
            return
        hub = memory.create_hub("bench")
        started = time.perf_counter()
        drained(hub.remember_stream(Texts().memories(size)))
        seconds = time.perf_counter() - started
        rate = size / seconds
        print(f"filled {size:,} memories with vectors in {seconds:.0f} s, {rate:.0f} a second")


class recorded_expressions:  # noqa: N801 - used as a word in a with statement
    """Notes the FTS5 expressions that recall asks, so that they can be asked bare."""

    def __enter__(self) -> list[str]:
        self._original = search.match_expression
        noted: list[str] = []

        def note(hub: int, query: Any) -> str:
            noted.append(self._original(hub, query))
            return noted[-1]

        search.match_expression = note
        return noted

    def __exit__(self, *_: object) -> None:
        search.match_expression = self._original


def measure_questions(hub: Any, home: str, size: int, questions: Sequence[str], name: str) -> float:
    bare = apsw.Connection(os.path.join(home, "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    bare.pragma("cache_size", -16_000)
    chance = np.random.default_rng(3)
    matrix = chance.standard_normal((size, DIMENSIONS), dtype=np.float32)
    embedder = RandomEmbedder()
    recall_ms, words_ms, scan_ms = [], [], []
    for question in questions:
        with recorded_expressions() as noted:
            recall_ms.append(timed_ms(lambda q=question: hub.recall(q, limit=LIMIT)))
        words_ms.append(sum(timed_ms(lambda e=e: bare_words(bare, e)) for e in noted))
        vector = embedder.embed_query(question)
        scan_ms.append(timed_ms(lambda v=vector: bare_scan(matrix, v)))
    bare.close()
    ours = percentile(recall_ms, 0.5)
    cost = percentile([w + s for w, s in zip(words_ms, scan_ms, strict=True)], 0.5)
    print(f"  {name}")
    print(f"    recall                                {spread(recall_ms)}")
    print(f"    bare FTS5 query                       {spread(words_ms)}")
    print(f"    bare float32 scan                     {spread(scan_ms)}")
    said = verdict(ours / cost, 3, at_most=True)
    print(f"    recall / bare query and scan          {ours / cost:8.2f} {said}")
    return ours


def bare_words(connection: apsw.Connection, expression: str) -> object:
    return connection.execute(
        "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
        (expression, weights.LEXICAL_CANDIDATES),
    ).fetchall()


def bare_scan(matrix: Any, vector: Any) -> object:
    cosines = matrix @ vector
    return np.argpartition(cosines, -weights.VECTOR_CANDIDATES)[-weights.VECTOR_CANDIDATES :]


def model_cost() -> None:
    embedder = find_embedder("auto")
    if embedder is None:
        print("\nno embedding model is installed, so its query cost is not measured")
        return
    texts = Texts(seed=12)
    embedder.embed_query("warm")
    times = [timed_ms(lambda: embedder.embed_query(texts.question())) for _ in range(100)]
    print(f"\nthe bundled model embeds a question in   {spread(times)}")


def print_profile(hub: Any, questions: Sequence[str]) -> None:
    import cProfile
    import pstats

    profiler = cProfile.Profile()
    profiler.enable()
    for question in questions:
        hub.recall(question, limit=LIMIT)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
