"""How fast is recall in a warm process? Measured against the bare cost of its own parts.

    python -m bench.recall_speed [--memories 100000] [--large] [--home FOLDER] [--profile]
                                 [--chroma]

One hub, vectors of 384 dimensions drawn at random (a real model's query cost is printed apart: it
does not depend on the size of the hub). The bare cost of a question is what its own FTS5 expression
takes on a bare connection (`SELECT rowid ... ORDER BY rank LIMIT n`) plus one exact scan of as many
int8 vectors and the choice of the best. A float32 matrix, as most would use, takes twice as long
to scan as the int8 one and is printed for comparison only. All are measured in turns with recall.

With `--chroma`, Chroma answers the same questions from the same texts and vectors, in turns with
recall: its nearest vectors, without words, time or checksums. The question's vector is at hand on
both sides; the ratio is printed without and with what the bundled model takes to make it, on both
sides. It needs `pip install chromadb`.

Next to the time on the clock stands the processor's: on a shared machine it tells more.
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
    Times,
    drained,
    folder_bytes,
    rss_mb,
    timed_ms,
    verdict,
)
from bench.texts import Texts
from holdfast.embed.providers import find_embedder
from holdfast.recall import weights
from holdfast.store.sqlite import search

QUESTIONS = 200
LIMIT = 10
CHROMA_BATCH = 2_000  # it takes at most about 5,000 at once
BLOCK_ROWS = 1_024  # more than 1,200 rows are multiplied by threads that wait for each other


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall_speed")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--large", action="store_true", help="go on to 1,000,000 memories")
    parser.add_argument("--home", help="keep the filled store there and use it again")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("--chroma", action="store_true", help="compare with Chroma")
    args = parser.parse_args()
    sizes = [args.memories, *([1_000_000] if args.large else [])]
    args.model_ms = model_cost()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
        medians = [measure(args.home or scratch, size, args) for size in sizes]
    if len(medians) > 1:
        growth = medians[1] / medians[0]
        print(
            f"\nfrom {sizes[0]:,} to {sizes[1]:,} memories recall takes {growth:.1f} times as long"
        )


def measure(home: str, size: int, args: argparse.Namespace) -> float:
    """Everything at one size; returns the median of recall in ms."""
    home = os.path.join(home, f"speed-{size}")
    os.makedirs(home, exist_ok=True)
    fill(home, size)
    texts = Texts(seed=11)
    usual = [texts.question() for _ in range(QUESTIONS)]
    common = [texts.common_question() for _ in range(QUESTIONS)]
    before_mb = rss_mb()
    # The first recall reads a million vectors, which may take longer than a recall is allowed.
    settings = {"recall.deadline_s": 60.0}
    with holdfast.open(home, embedder=RandomEmbedder(), settings=settings) as memory:
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
        if size <= 100_000:
            said = verdict(ours.p50_ms, 30, at_most=True)
            print(f"    recall, ms             {ours.p50_ms:8.2f} {said}")
        words_only(hub, usual)
        slow = measure_questions(hub, home, size, common, "only common words")
        ratio = slow.p50_ms / ours.p50_ms
        print(f"  common words / usual     {ratio:8.2f} {verdict(ratio, 5, at_most=True)}")
        float32_scan(size)
        if args.chroma:
            # Questions that were not asked yet, so that no row or term of theirs is cached yet.
            unasked = [texts.question() for _ in range(QUESTIONS)]
            against_chroma(hub, size, unasked, args.model_ms)
        if args.profile:
            print_profile(hub, usual)
    return ours.p50_ms


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


def measure_questions(hub: Any, home: str, size: int, questions: Sequence[str], name: str) -> Times:
    bare = apsw.Connection(os.path.join(home, "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    bare.pragma("cache_size", -16_000)
    chance = np.random.default_rng(3)
    table = chance.integers(-127, 128, (size, DIMENSIONS), dtype=np.int8)
    scales = np.full(size, 1 / 127, np.float32)
    embedder = RandomEmbedder()
    recall, words, scan, both = Times(), Times(), Times(), Times()
    for question in questions:
        vector = embedder.embed_query(question)
        with recorded_expressions() as noted:
            recall.add(lambda q=question: hub.recall(q, limit=LIMIT))
        words.add(lambda n=tuple(noted): [bare_words(bare, expression) for expression in n])
        scan.add(lambda v=vector: bare_scan(table, scales, v))
        both.sum_of(words, scan)
    bare.close()
    print(f"  {name}")
    print(f"    recall                 {recall}")
    print(f"    bare FTS5 query        {words}")
    print(f"    bare scan, int8        {scan}")
    wall = recall.p50_ms / both.p50_ms
    cpu = recall.cpu_p50_ms / both.cpu_p50_ms
    print(f"    recall / bare both     {wall:8.2f} {verdict(wall, 2, at_most=True)}; cpu {cpu:.2f}")
    return recall


def bare_words(connection: apsw.Connection, expression: str) -> object:
    return connection.execute(
        "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
        (expression, weights.LEXICAL_CANDIDATES),
    ).fetchall()


def bare_scan(table: Any, scales: Any, vector: Any) -> object:
    """The cosines of all rows, widened a block at a time so that the block stays in the cache."""
    cosines = np.empty(len(table), np.float32)
    block = np.empty((min(len(table), BLOCK_ROWS), DIMENSIONS), np.float32)
    for start in range(0, len(table), BLOCK_ROWS):
        some = table[start : start + BLOCK_ROWS]
        wide = block[: len(some)]
        np.copyto(wide, some)
        np.dot(wide, vector, out=cosines[start : start + len(some)])
    cosines *= scales
    return np.argpartition(cosines, -weights.VECTOR_CANDIDATES)[-weights.VECTOR_CANDIDATES :]


def words_only(hub: Any, questions: Sequence[str]) -> None:
    times = Times()
    for question in questions:
        times.add(lambda q=question: hub.recall(q, limit=LIMIT, meaning=False))
    print(f"    recall by words only   {times}")


def float32_scan(size: int) -> None:
    if size > 200_000:  # 1.5 GB for a million
        return
    matrix = np.random.default_rng(3).standard_normal((size, DIMENSIONS), dtype=np.float32)
    times = Times()
    for _ in range(20):
        times.add(lambda: matrix @ matrix[0])
    print(f"  (scan of float32 vectors {times})")


def against_chroma(hub: Any, size: int, questions: Sequence[str], model_ms: float) -> None:
    import chromadb

    settings = chromadb.config.Settings(anonymized_telemetry=False)
    collection = chromadb.EphemeralClient(settings).create_collection(
        f"bench-{size}", metadata={"hnsw:space": "cosine"}
    )
    embedder = RandomEmbedder()
    texts = [memory.content for memory in hub.scan()]
    started = time.perf_counter()
    for at in range(0, len(texts), CHROMA_BATCH):
        some = texts[at : at + CHROMA_BATCH]
        names = [str(number) for number in range(at, at + len(some))]
        collection.add(ids=names, documents=some, embeddings=embedder.embed_passages(some))
    print(f"  Chroma took {len(texts):,} texts in {time.perf_counter() - started:.0f} s")
    ours, theirs = Times(), Times()
    for question in questions:
        vector = embedder.embed_query(question)
        ours.add(lambda q=question: hub.recall(q, limit=LIMIT))
        theirs.add(lambda v=vector: collection.query(query_embeddings=[v], n_results=LIMIT))
    print(f"    recall                 {ours}")
    print(f"    Chroma                 {theirs}")
    ratio, of_cpu = ours.p50_ms / theirs.p50_ms, ours.cpu_p50_ms / theirs.cpu_p50_ms
    print(f"    recall / Chroma        {ratio:8.2f}; cpu {of_cpu:.2f}")
    if model_ms:
        ratio = (ours.cpu_p50_ms + model_ms) / (theirs.cpu_p50_ms + model_ms)
        print(f"    the same, and the model on both sides, cpu {ratio:.2f}")


def model_cost() -> float:
    """What the bundled model takes for a question, in ms of the processor; 0 without a model."""
    embedder = find_embedder("auto")
    if embedder is None:
        print("no embedding model is installed, so its query cost is not measured")
        return 0.0
    texts = Texts(seed=12)
    embedder.embed_query("warm")
    times = Times()
    for question in [texts.question() for _ in range(100)]:
        times.add(lambda q=question: embedder.embed_query(q))
    print(f"the bundled model embeds a question in {times}")
    return times.cpu_p50_ms


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
