"""How good is recall on PostgreSQL, beside SQLite, in one run?

    python -m bench.postgres_recall [FILE...] [--cache FOLDER] [--index-from N] [--json]
        [--limit-stores N] [--url postgresql://…]

Each test store (see bench/README.md) goes into both: a file of its own, and a hub of its own in one
database, with the same clock and the same vectors. R@k, and for each question whether both gave the
same documents in the same order. --index-from lets hubs of so many vectors be searched by the
server's index, which is otherwise for large ones: what the index misses is then measured with real
questions.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from bench.postgres_server import server
from holdfast.embed import Embedder
from holdfast.embed.providers import find_embedder
from holdfast.evaluation import CachedEmbedder, Collection, Doc, read_stores, report, sample_path
from holdfast.evaluation.run import HoldfastSystem, Results, examine
from holdfast.store.postgres import PostgresStore, vector_index

DEPTHS = ("R@1", "R@5", "R@10", "R@20")
# Points of R@k by which PostgreSQL may be behind.
AIM_POINTS = 2.0


class PostgresSystem(HoldfastSystem):
    """A hub of its own in the database, which the server searches by index where told to."""

    def __init__(
        self, url: str, hub: str, index_from: int | None, docs: Sequence[Doc], embedder: Embedder
    ) -> None:
        super().__init__(docs, embedder, {"store.url": url}, hub=hub)
        self._store = PostgresStore(url)
        self._index_from = index_from
        self._embedder = embedder

    def add(self, docs: Sequence[Doc]) -> None:
        super().add(docs)
        if self._index_from is not None:
            list(vector_index.build(self._store, index_from=self._index_from))

    def has_index(self) -> bool:
        with self._store.read() as reader:
            return bool(reader.vector_index(self._hub.id, self._embedder.identity))

    def close(self) -> None:
        self._store.close()
        super().close()


class Set:
    """What both stores did with one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.of: dict[str, Results] = {}
        self.stores = self.indexed = 0

    def add(self, name: str, system: HoldfastSystem, store: Collection) -> None:
        before = self.of.setdefault(name, Results(name, [], 0, 0.0))
        answers, seconds = examine(system, store, None)
        self.of[name] = Results(
            name,
            before.answers + answers,
            before.docs + len(store.docs),
            before.indexing_s + seconds,
        )

    def plain(self) -> dict[str, Any]:
        """The figures, as a program reads them."""
        here, there = self.of.values()
        pairs = list(zip(here.answers, there.answers, strict=True))
        systems = report.to_plain(self.name, [here, there])["systems"]
        means = [{depth: one["metrics"][depth]["mean"] for depth in DEPTHS} for one in systems]
        return {
            "file": self.name,
            "stores": self.stores,
            "by_index": self.indexed,
            "systems": systems,
            "points": {
                depth: round(100 * (means[1][depth] - means[0][depth]), 2) for depth in DEPTHS
            },
            "asked": len(pairs),
            "same": sum(one.ranking == two.ranking for one, two in pairs),
            "same_10": sum(one.ranking[:10] == two.ranking[:10] for one, two in pairs),
            "same_10_any_order": sum(
                set(one.ranking[:10]) == set(two.ranking[:10]) for one, two in pairs
            ),
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.postgres_recall")
    parser.add_argument("files", nargs="*", metavar="FILE", help="test stores, as lines of JSON")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument(
        "--index-from", type=int, metavar="N", help="search by index from N vectors"
    )
    parser.add_argument("--limit-stores", type=int, metavar="N", help="only the first N stores")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--url", default="", help="a database that may be filled")
    args = parser.parse_args()
    found = find_embedder("auto")
    if found is None:
        raise SystemExit("There is no embedding model; `holdfast doctor` says how to get one.")
    embedder = CachedEmbedder(found, args.cache)
    measured = []
    with server(args.url, "recall") as url:
        for path in args.files or [sample_path()]:
            one = Set(os.path.basename(path).removesuffix(".jsonl"))
            for number, store in enumerate(read_stores(path, limit=args.limit_stores), 1):
                _compare(one, number, store, url, args.index_from, embedder)
            measured.append(one.plain())
            if not args.json:
                print(_as_text(measured[-1]), flush=True)
    if args.json:
        print(json.dumps(measured, indent=2))
    elif len(measured) > 1:
        worst = min(min(one["points"].values()) for one in measured)
        print(f"all sets: at worst {worst:+.2f} points (aim: {-AIM_POINTS:+.0f}; {_met(worst)})")


def _compare(
    one: Set, number: int, store: Collection, url: str, index_from: int | None, embedder: Embedder
) -> None:
    told = f"{one.name}, store {number} of {len(store.docs):,} documents"
    print(told, file=sys.stderr, flush=True)
    sqlite = HoldfastSystem(store.docs, embedder)
    postgres = PostgresSystem(url, f"{one.name}-{number}", index_from, store.docs, embedder)
    try:
        one.add("SQLite", sqlite, store)
        one.add("PostgreSQL", postgres, store)
        one.stores += 1
        one.indexed += postgres.has_index()
    finally:
        sqlite.close()
        postgres.close()


def _as_text(one: Mapping[str, Any]) -> str:
    here, there = one["systems"]
    rows = [["", *DEPTHS, "p50 ms", "p95 ms"]]
    for system in (here, there):
        means = [f"{100 * system['metrics'][depth]['mean']:.2f}" for depth in DEPTHS]
        times = [f"{system['query_ms'][part]:.1f}" for part in ("p50", "p95")]
        rows.append([system["system"], *means, *times])
    points = [f"{one['points'][depth]:+.2f}" for depth in DEPTHS]
    ratio = there["query_ms"]["p50"] / here["query_ms"]["p50"]
    rows.append(["difference", *points, f"× {ratio:.1f}", ""])
    worst = min(one["points"].values())
    return (
        f"\n{one['file']}: {here['docs']:,} documents in {one['stores']} stores, of which"
        f" {one['by_index']} searched by index; {here['questions']:,} questions counted\n\n"
        f"{report.as_columns(rows)}\n\n"
        f"at worst {worst:+.2f} points (aim: {-AIM_POINTS:+.0f}; {_met(worst)})\n"
        f"of {one['asked']:,} rankings, the same: {one['same']:,} ({_share(one, 'same')});"
        f" their first ten: {one['same_10']:,} ({_share(one, 'same_10')}); in any order:"
        f" {one['same_10_any_order']:,} ({_share(one, 'same_10_any_order')})"
    )


def _met(points: float) -> str:
    return "met" if points >= -AIM_POINTS else "MISSED"


def _share(one: Mapping[str, Any], what: str) -> str:
    return f"{100 * one[what] / one['asked']:.1f} %"


if __name__ == "__main__":
    main()
