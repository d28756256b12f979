"""PostgreSQL beside SQLite in one run: recall with several clients, a durable write, room on disk.

    python -m bench.postgres [--memories 10000] [--url postgresql://…] [--clients 1,8,32]
        [--questions 320] [--together]

A client asks one question after the other. Eight share a process, as the threads of one server do;
32 are four such processes on one database, or on one file. With `--together`, all clients are
threads of one process instead: Python runs one of them at a time, and a store lends at most ten
connections to readers, so that is what one overloaded server looks like.

Vectors are drawn at random, so that no model is measured. Both stores are filled with the same rows
and asked the same questions, in turns. What a client waits for is counted: its p50 and p95, and how
many answers a second all of them get together.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import threading
import time
from typing import Any, NamedTuple

import holdfast
from bench.bulk import fill
from bench.measure import RandomEmbedder, folder_bytes
from bench.postgres_server import bytes_by_table, server
from bench.texts import Texts
from holdfast.evaluation.run import percentile
from holdfast.store.postgres import PostgresStore, vector_index

PER_PROCESS = 8
WRITES = 100
_SETTINGS = {"embed.model": "none", "recall.count_shown": False, "recall.deadline_s": 60.0}


class Asking(NamedTuple):
    """What one process does: how many clients it is, and how often each asks."""

    where: str
    clients: int
    questions: int
    seed: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.postgres")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--url", default="", help="a database that may be filled")
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--questions", type=int, default=320, help="of all clients together")
    parser.add_argument("--together", action="store_true", help="all clients in one process")
    args = parser.parse_args()
    counts = [int(part) for part in args.clients.split(",")]
    with (
        server(args.url, "beside") as url,
        tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder,
    ):
        stores = {"SQLite": folder, "PostgreSQL": url}
        for name, where in stores.items():
            _fill(name, where, args.memories)
        print(f"{args.memories:,} memories", flush=True)
        for count in counts:
            at_once = count if args.together else PER_PROCESS
            medians = {}
            for name, where in stores.items():
                p50, p95, rate = _ask(where, count, at_once, args.questions)
                medians[name] = p50
                processes = -(-count // at_once)
                told = f"{count} client{'s' * (count > 1)}"
                told += f" in {processes} processes" if processes > 1 else ""
                print(
                    f"  recall, {told:<28} {name:<11} p50 {p50:8.1f} ms   p95 {p95:8.1f} ms"
                    f"   {rate:7.1f} a second",
                    flush=True,
                )
            print(f"    PostgreSQL / SQLite, p50 {medians['PostgreSQL'] / medians['SQLite']:8.2f}")
        for name, where in stores.items():
            p50, p95 = _write(where)
            print(f"  remember, durable {'':<20} {name:<11} p50 {p50:8.1f} ms   p95 {p95:8.1f} ms")
        sqlite = folder_bytes(folder) / args.memories
        postgres = sum(map(sum, bytes_by_table(url).values())) / args.memories
        print(f"  bytes a memory: SQLite {sqlite:,.0f}, PostgreSQL {postgres:,.0f}")


def _fill(name: str, where: str, memories: int) -> None:
    started = time.perf_counter()
    with holdfast.open(where, embedder=RandomEmbedder(), settings=_SETTINGS) as memory:
        hub = memory.create_hub("bench")
        fill(memory.core.store, hub.id, Texts().memories(memories), count=memories)
    if name == "PostgreSQL":
        import psycopg

        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        store = PostgresStore(where)
        list(vector_index.build(store, memory="1GB"))
        store.close()
    print(f"{name} filled in {time.perf_counter() - started:.0f} s", flush=True)


def _ask(where: str, clients: int, at_once: int, questions: int) -> tuple[float, float, float]:
    """The p50 and p95 of what a client waits, in ms, and the answers a second of all."""
    each = max(1, questions // clients)
    parts = [min(at_once, clients - start) for start in range(0, clients, at_once)]
    asking = [Asking(where, part, each, seed) for seed, part in enumerate(parts)]
    start_methods = multiprocessing.get_context("spawn")
    ready = start_methods.Barrier(len(asking))
    with start_methods.Pool(len(asking), _begin, (ready,)) as pool:
        answers = pool.map(_process, asking, chunksize=1)
    took_ms = [one for times, _, _ in answers for one in times]
    began, ended = min(one for _, one, _ in answers), max(one for _, _, one in answers)
    return percentile(took_ms, 0.5), percentile(took_ms, 0.95), len(took_ms) / (ended - began)


_READY: list[Any] = []


def _begin(ready: Any) -> None:
    _READY.append(ready)


def _process(asking: Asking) -> tuple[list[float], float, float]:
    took_ms: list[float] = []
    with holdfast.open(asking.where, embedder=RandomEmbedder(), settings=_SETTINGS) as memory:
        hub = memory.hub("bench")

        def ask(seed: int) -> None:
            texts = Texts(seed)
            questions = [texts.question() for _ in range(asking.questions + 1)]
            hub.recall(questions.pop())
            together.wait()
            for question in questions:
                started = time.perf_counter()
                hub.recall(question)
                took_ms.append((time.perf_counter() - started) * 1_000)

        # One more: this thread, which takes the time when all of them begin.
        together = threading.Barrier(asking.clients + 1)
        threads = [
            threading.Thread(target=ask, args=(asking.seed * 1_000 + place,))
            for place in range(asking.clients)
        ]
        for thread in threads:
            thread.start()
        _READY[0].wait()
        together.wait()
        # The clock of the machine, which all processes share.
        began = time.time()
        for thread in threads:
            thread.join()
        return took_ms, began, time.time()


def _write(where: str) -> tuple[float, float]:
    texts = Texts(seed=23)
    took_ms = []
    with holdfast.open(where, embedder=RandomEmbedder(), settings=_SETTINGS) as memory:
        hub = memory.hub("bench")
        for _ in range(WRITES):
            text = texts.text()
            started = time.perf_counter()
            hub.remember(text)
            took_ms.append((time.perf_counter() - started) * 1_000)
    return percentile(took_ms, 0.5), percentile(took_ms, 0.95)


if __name__ == "__main__":
    main()
