"""Does the server's index of vectors find what an exact scan finds? Over hubs of uneven size.

    python -m bench.postgres_nearest [FILE...] [--cache FOLDER] [--hubs 64] [--largest 80000]
        [--index-from 20000] [--questions 30] [--url postgresql://…]

The n-th hub has 1/n of the vectors of the largest. Hubs above --index-from are searched by their
index, those below are scanned. Recall@10: how many of the ten nearest, by the cosines of all stored
vectors, are among the ten best of what a recall gathers (300 passages) and of a search for ten.
Vectors and questions are those of test stores, mixed past their number (see bench/vectors.py);
where all hubs together have no more than there are real ones, none are mixed. Only vectors are
stored.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg

from bench.measure import RandomEmbedder
from bench.postgres_server import server
from bench.vectors import RealVectors
from holdfast.domain.clock import to_micros
from holdfast.embed import quantise
from holdfast.evaluation.run import percentile
from holdfast.recall.vector import VectorCache
from holdfast.recall.weights import VECTOR_CANDIDATES
from holdfast.store.postgres import PostgresStore, vector_index
from holdfast.store.rows import sealed

MODEL = RandomEmbedder.identity
WANTED = 10
AIM = 0.95
# So few that large hubs share a part of the table.
PARTITIONS = 2
_AT = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.postgres_nearest")
    parser.add_argument("files", nargs="*", metavar="FILE", help="test stores, as lines of JSON")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument("--hubs", type=int, default=64)
    parser.add_argument("--largest", type=int, default=80_000)
    parser.add_argument("--index-from", type=int, default=vector_index.INDEX_FROM)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--url", default="", help="a database that may be filled")
    args = parser.parse_args()
    sizes = [max(WANTED, args.largest // place) for place in range(1, args.hubs + 1)]
    vectors = RealVectors(args.files, args.cache)
    mixed = sum(sizes) > len(vectors.real)
    print(
        f"{args.hubs} hubs, {sum(sizes):,} vectors, from {sizes[-1]:,} to {sizes[0]:,} a hub;"
        f" {len(vectors.real):,} real ones{', mixed' if mixed else ''}"
    )
    with server(args.url, "nearest") as url:
        store = PostgresStore(url, partitions=PARTITIONS)
        matrices = {}
        done = 0
        for place, size in enumerate(sizes):
            if mixed:
                made = vectors.draw(size, seed=place)
            else:
                made = vectors.real[done : done + size]
            done += size
            matrices[place] = _store(url, place, made)
        started = time.perf_counter()
        built = list(vector_index.build(store, index_from=args.index_from, memory="2GB"))
        took_s = time.perf_counter() - started
        indexed = sum(one.vectors for one in built)
        print(f"{len(built)} hubs indexed, {indexed:,} vectors, in {took_s:.0f} s\n")
        chance = np.random.default_rng(17)
        rows = []
        for place, size in enumerate(sizes):
            asked = vectors.questions[chance.integers(0, len(vectors.questions), args.questions)]
            rows.append((place, size, *_measure(store, place, matrices[place], asked)))
        store.close()
    _report(rows, len(built))


def _hub_fields(place: int, at: int) -> tuple[str, str, str, int, str]:
    return (f"hub_{place}", f"hub-{place}", "bench", at, "active")


def _store(url: str, place: int, made: Any) -> Any:
    """Rows of vectors alone, straight into the tables; returns what is compared exactly."""
    blobs = list(quantise(made))
    with psycopg.connect(url) as connection:
        connection.execute("SET search_path = holdfast, public")
        hub = place + 1
        connection.execute(f"SET holdfast.hubs = '{hub}'")
        at = to_micros(_AT)
        connection.execute(
            "INSERT INTO hubs (hub_id, id, name, owner, created_at, state, checksum)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (hub, *sealed("hubs", f"hub_{place}", _hub_fields(place, at))),
        )
        connection.execute("INSERT INTO hub_counts (hub_id, numbers) VALUES (%s, 0)", (hub,))
        connection.execute(
            "INSERT INTO models (model, name) VALUES (1, %s) ON CONFLICT DO NOTHING", (MODEL,)
        )
        with connection.cursor().copy(
            "COPY vectors (hub_id, model, passage, window_no, vector) FROM STDIN"
        ) as copy:
            for passage, blob in enumerate(blobs, 1):
                copy.write_row((hub, 1, passage, 0, blob))
        connection.execute(
            "INSERT INTO vector_totals (hub_id, model, size, passages, newest, removals)"
            " VALUES (%s, 1, %s, %s, %s, 0)",
            (hub, len(blobs), len(blobs), len(blobs)),
        )
    # Without their scales: the length of the whole numbers is what a cosine divides by.
    whole = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), -1)[:, 4:].view(np.int8)
    scales = np.frombuffer(b"".join(blob[:4] for blob in blobs), "<f4")
    return whole, scales


def _measure(store: PostgresStore, place: int, kept: Any, asked: Any) -> tuple[Any, ...]:
    whole, scales = kept
    hub_id = f"hub_{place}"
    cache = VectorCache()
    gathered, direct, took_ms = [], [], []
    with store.read() as reader:
        has_index = bool(reader.vector_index(hub_id, MODEL))
        cache.refresh(reader, hub_id, MODEL)
    for question in asked:
        cosines = (whole.astype(np.float32) @ question) * scales
        exact = {int(at) + 1 for at in np.argsort(-cosines, kind="stable")[:WANTED]}
        with store.read() as reader:
            started = time.perf_counter()
            hits = cache.search(reader, hub_id, MODEL, question, limit=VECTOR_CANDIDATES)
            took_ms.append((time.perf_counter() - started) * 1_000)
            few = cache.search(reader, hub_id, MODEL, question, limit=WANTED)
        gathered.append(len(exact & {hit.passage_id for hit in hits[:WANTED]}) / WANTED)
        direct.append(len(exact & {hit.passage_id for hit in few}) / WANTED)
    return (
        has_index,
        float(np.mean(gathered)),
        float(np.mean(direct)),
        percentile(took_ms, 0.5),
        percentile(took_ms, 0.95),
    )


def _report(rows: list[tuple[Any, ...]], indexed: int) -> None:
    print("hub   vectors   searched by   recall@10 of 300   of 10   p50 ms   p95 ms")
    for place, size, has_index, of_many, of_ten, p50, p95 in rows:
        if place < indexed + 2 or place == len(rows) - 1:
            how = "index" if has_index else "scan"
            print(
                f"{place + 1:>3}   {size:>7,}   {how:<11}   {of_many:>16.3f}   {of_ten:>5.3f}"
                f"   {p50:>6.1f}   {p95:>6.1f}"
            )
    by_index = [row for row in rows if row[2]]
    for name, some in (("all hubs", rows), ("hubs with an index", by_index)):
        if some:
            many = [row[3] for row in some]
            ten = [row[4] for row in some]
            print(
                f"{name}: recall@10 mean {np.mean(many):.3f}, worst hub {min(many):.3f};"
                f" asked for ten: mean {np.mean(ten):.3f}, worst {min(ten):.3f}"
                f" (aim: {AIM}; {'met' if min(many + ten) >= AIM else 'MISSED'})"
            )


if __name__ == "__main__":
    main()
