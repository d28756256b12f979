"""How a store on PostgreSQL grows: 10,000, 100,000 and 1,000,000 memories, in one hub and in many.

    python -m bench.postgres_growth [FILE...] [--cache FOLDER] [--to 1000000] [--hubs 1,1000]
        [--from 10000] [--url postgresql://…] [--filled]

At each size: taking in (straight to the store, as an import does), the time that building the index
of vectors takes, room on disk by table, and through the library, one client after the other: recall
of usual questions and of questions of common words, a durable `remember`, the first page of a list,
the injected block. Beside the clock stands the time of processors, client and server together: on a
shared machine it tells more. Memories are made up (bench/texts.py), vectors are those of test
stores, mixed (bench/vectors.py); no model is asked. `--filled` measures the database as it is.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

import holdfast
from bench.bulk import fill
from bench.measure import RandomEmbedder
from bench.postgres_server import bytes_by_table, server
from bench.texts import Texts
from bench.vectors import AskedEmbedder, RealVectors
from holdfast.evaluation.run import percentile
from holdfast.store.postgres import PostgresStore, vector_index

SIZES = (10_000, 100_000, 1_000_000)
QUESTIONS = 100
WRITES = 50
MEMORY = "2GB"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.postgres_growth")
    parser.add_argument("files", nargs="*", metavar="FILE", help="test stores, as lines of JSON")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument("--to", type=int, default=SIZES[-1])
    parser.add_argument("--from", type=int, default=SIZES[0], dest="least")
    parser.add_argument("--hubs", default="1,1000", help="in how many hubs, one run each")
    parser.add_argument("--url", default="", help="a database that may be filled")
    parser.add_argument("--filled", action="store_true", help="measure it as it is")
    args = parser.parse_args()
    vectors = RealVectors(args.files, args.cache)
    for hubs in map(int, args.hubs.split(",")):
        sizes = [size for size in SIZES if args.least <= size <= args.to]
        print(f"\n{'one hub' if hubs == 1 else f'{hubs:,} hubs'}", flush=True)
        with server(args.url, f"growth_{hubs}") as url:
            Growth(url, hubs, vectors).run(sizes, filled=args.filled)


class Growth:
    """One database that is filled further and further."""

    def __init__(self, url: str, hubs: int, vectors: RealVectors) -> None:
        self._url, self._hubs, self._vectors = url, hubs, vectors
        self._texts = Texts()
        self._chance = random.Random(5)
        self._before: dict[str, float] = {}

    def run(self, sizes: list[int], *, filled: bool) -> None:
        store = PostgresStore(self._url)
        done = 0
        if filled:
            with store.read() as reader:
                sizes = [sum(hub.numbers for hub in reader.hubs())]
        for size in sizes:
            print(f"\n  {size:,} memories", flush=True)
            if not filled:
                self._fill(store, done, size)
                self._index(store, size)
            done = size
            self._disk(size)
            self._use()
            if not filled and size != sizes[-1]:
                self._drop_index()
        store.close()

    # Filling

    def _fill(self, store: PostgresStore, done: int, size: int) -> None:
        if not done:
            settings = {"embed.model": "none"}
            with holdfast.open(self._url, embedder=RandomEmbedder(), settings=settings) as memory:
                for place in range(self._hubs):
                    memory.create_hub(_name(place))
        with store.read() as reader:
            hubs = reader.hubs()
        seeds = iter(range(size, 10 * size + 1))

        def draw(texts: Any) -> list[bytes]:
            return self._vectors.blobs(len(texts), next(seeds))

        started = time.perf_counter()
        count = (size - done) // self._hubs
        for hub in hubs:
            drafts = self._texts.memories(count)
            # Above those that measuring has added.
            fill(store, hub.id, drafts, count=count, first=hub.numbers + 1, vectors=draw)
        took_s = time.perf_counter() - started
        rate = (size - done) / took_s
        print(f"    taken in, a second         {rate:10,.0f}   ({took_s:.0f} s)", flush=True)
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")

    def _index(self, store: PostgresStore, size: int) -> None:
        started = time.perf_counter()
        built = list(vector_index.build(store, memory=MEMORY))
        took_s = time.perf_counter() - started
        if built:
            rate = sum(one.vectors for one in built) / took_s
            print(f"    index built in, s          {took_s:10,.0f}   ({rate:,.0f} a second)")

    def _drop_index(self) -> None:
        """So that the next rows come faster, and building is measured at each size."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            names = connection.execute(
                "SELECT indexname FROM pg_indexes WHERE schemaname = 'holdfast'"
                " AND starts_with(indexname, 'embeddings_hub_')"
            ).fetchall()
            for (name,) in names:
                connection.execute(f"DROP INDEX holdfast.{name}")
            connection.execute("TRUNCATE holdfast.embeddings")
            connection.execute("UPDATE holdfast.vector_totals SET indexed = 0")

    # Measuring

    def _disk(self, size: int) -> None:
        found = bytes_by_table(self._url)
        total = sum(rows + indexes for rows, indexes in found.values())
        self._tell("bytes a memory, in all", total / size, "")
        for name, (rows, indexes) in sorted(found.items(), key=lambda one: -sum(one[1])):
            if (rows + indexes) / size >= 20:
                print(f"      {name:<24} {rows / size:10,.0f} rows {indexes / size:8,.0f} indexes")

    def _use(self) -> None:
        embedder = AskedEmbedder(self._vectors.questions)
        settings = {"embed.model": "none", "recall.deadline_s": 60.0}
        with holdfast.open(self._url, embedder=embedder, settings=settings) as memory:
            texts = Texts(seed=11)
            self._times("recall", lambda: self._hub(memory).recall(texts.question()))
            self._times(
                "recall, common words", lambda: self._hub(memory).recall(texts.common_question())
            )
            # Others each time: what is known already is not written.
            new = Texts(seed=time.time_ns())
            self._times("remember", lambda: self._hub(memory).remember(new.text()), WRITES)
            self._times("list, first 50", lambda: self._hub(memory).list(limit=50), 20)
            self._times("context", lambda: self._hub(memory).context(), 5)
            self._times("statistics", lambda: self._hub(memory).statistics(), 3)

    def _hub(self, memory: Any) -> Any:
        return memory.hub(_name(self._chance.randrange(self._hubs)))

    def _times(self, name: str, act: Callable[[], object], count: int = QUESTIONS) -> None:
        for _ in range(max(1, count // 10)):
            act()
        took_ms = []
        with self._processors() as spent_ms:
            for _ in range(count):
                started = time.perf_counter()
                act()
                took_ms.append((time.perf_counter() - started) * 1_000)
        p50, p95 = percentile(took_ms, 0.5), percentile(took_ms, 0.95)
        self._tell(
            name, spent_ms[0] / count, f"   p50 {p50:8.1f} ms   p95 {p95:8.1f} ms", unit="ms cpu"
        )

    @contextmanager
    def _processors(self) -> Iterator[list[float]]:
        """The time of processors that this process and those that serve it spend."""
        spent = [0.0]
        before = self._serving()
        own = time.process_time()
        yield spent
        spent[0] = (time.process_time() - own) * 1_000
        after = self._serving()
        spent[0] += sum(after[pid] - before.get(pid, 0.0) for pid in after)

    def _serving(self) -> dict[int, float]:
        with psycopg.connect(self._url) as connection:
            pids = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast'"
            ).fetchall()
        out = {}
        for (pid,) in pids:
            # Where the server is on another machine, its time is not known.
            if os.path.exists(path := f"/proc/{pid}/schedstat"):
                with open(path, encoding="ascii") as file:
                    out[pid] = int(file.read().split()[0]) / 1e6
        return out

    def _tell(self, name: str, value: float, more: str, unit: str = "") -> None:
        """A figure, and how many times that at the size before it is."""
        before = self._before.get(name)
        growth = f"   × {value / before:.1f}" if before else ""
        self._before[name] = value
        print(f"    {name:<24} {value:12,.1f} {unit:<6}{growth:<9}{more}", flush=True)


def _name(place: int) -> str:
    return f"bench-{place}"


if __name__ == "__main__":
    main()
