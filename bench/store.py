"""The store: durable writes against a bare loop, what superseding costs, batch import, recall by
words, start-up.

    python -m bench.store [--part write|supersede|import|vectors|recall|start] [--large]

Words only (`embed.model` none), but for one row of start-up and for `vectors`, a batch import whose
vectors are at hand: what an embedding model costs depends on the model, not the store.
Every part runs in a process of its own, so that one does not sit on the memory of another.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import apsw
import numpy as np

import holdfast
from bench.measure import (
    DIMENSIONS,
    Times,
    drained,
    folder_bytes,
    rss_mb,
    spread,
    timed_ms,
    verdict,
)
from bench.texts import Texts
from holdfast.evaluation.run import percentile
from holdfast.store.sqlite.connection import connect, migrate, prepare_file

WORDS_ONLY = {"embed.model": "none"}
PARTS = ("write", "supersede", "import", "vectors", "recall", "start")
WRITES = 500
KNOWN = 5_000
IMPORTED = 100_000
WITH_VECTORS = 10_000
# As many as a program hands over at once.
STREAMED = 500
QUESTIONS = 200
STARTS = 30

ENDINGS = ("", "na", "ito", "ella", "wyn", "son", "rick", "ora")

Statement = tuple[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.store")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--large", action="store_true", help="recall at 1,000,000 memories as well")
    args = parser.parse_args()
    if args.part is None:
        for part in PARTS:
            large = ["--large"] if args.large else []
            subprocess.run(
                [sys.executable, "-m", "bench.store", "--part", part, *large], check=True
            )
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        match args.part:
            case "write":
                bench_write(folder)
            case "supersede":
                bench_supersede(folder)
            case "import":
                bench_import(folder)
            case "vectors":
                bench_vectors(folder)
            case "recall":
                sizes = [10_000, 100_000, *([1_000_000] if args.large else [])]
                for size in sizes:
                    bench_recall(folder, size)
            case "start":
                bench_start(folder)


# Durable writes


def bench_write(folder: str) -> None:
    """`remember` one by one, in turns with a bare loop that writes the same rows.

    The bare loop is given the very INSERT and UPDATE statements, with their values, that
    `remember` sent for the same texts to a store of its own beforehand: hub counter, change,
    memory, revision, passage, full-text row, trigram row, totals. It runs them on one apsw
    connection with the same schema and pragmas, one transaction a memory, and does nothing else: no
    checks, no rules, no look for duplicates, no reading back.
    """
    drafts = list(Texts().memories(WRITES))
    transactions = recorded(os.path.join(folder, "recorded"), drafts)
    path = os.path.join(folder, "bare.db")
    prepare_file(path)
    bare = connect(path)
    migrate(bare, path)
    for sql, values in transactions.pop(0):
        bare.execute(sql, values)
    ours_ms, bare_ms = Times(), Times()
    with holdfast.open(os.path.join(folder, "ours"), settings=WORDS_ONLY) as memory:
        hub = memory.create_hub("bench")
        for draft, statements in zip(drafts, transactions, strict=True):
            ours_ms.add(lambda d=draft: hub.remember(**d))
            bare_ms.add(lambda s=statements: write_bare(bare, s))
        same = counts(bare) == counts(memory.core.store._writer)
    bare.close()
    ours, alone = 1_000 * WRITES / sum(ours_ms.wall_ms), 1_000 * WRITES / sum(bare_ms.wall_ms)
    print(f"durable single writes, {WRITES} of each in turns")
    print(f"  remember        {ours:8.0f} a second   {ours_ms}")
    print(f"  bare apsw loop  {alone:8.0f} a second   {bare_ms}")
    print(f"  the same rows in both: {'yes' if same else 'NO'}")
    print(f"  remember / bare {ours / alone:8.2f} {verdict(ours / alone, 0.5, at_most=False)}\n")


def bench_supersede(folder: str) -> None:
    """`remember` in a hub of 5,000 memories, with and without the rules by which a new fact takes
    the place of an old one, in turns: prose, of which next to nothing can, and short statements,
    of which half fill a slot and many replace one of those before."""
    print(f"superseding by rule among {KNOWN:,} memories, {WRITES} of each in turns")
    for name, texts in (("prose", prose()), ("statements", statements())):
        with_ms, without_ms = Times(), Times()
        with (
            holdfast.open(os.path.join(folder, f"with {name}"), settings=WORDS_ONLY) as one,
            holdfast.open(
                os.path.join(folder, f"without {name}"),
                settings={**WORDS_ONLY, "supersede.enabled": False},
            ) as other,
        ):
            hubs = [memory.create_hub("bench") for memory in (one, other)]
            for hub in hubs:
                drained(hub.remember_stream(Texts().memories(KNOWN)))
            for text in texts:
                with_ms.add(lambda h=hubs[0], t=text: h.remember(t))
                without_ms.add(lambda h=hubs[1], t=text: h.remember(t))
        rate = 1_000 * WRITES / sum(with_ms.wall_ms)
        ratio = sum(without_ms.wall_ms) / sum(with_ms.wall_ms)
        of_cpu = sum(without_ms.cpu_ms) / sum(with_ms.cpu_ms)
        print(f"  {name:<11} with the rules    {rate:6.0f} a second   {with_ms}")
        print(f"  {'':<11} without           {rate / ratio:6.0f} a second   {without_ms}")
        print(f"  {'':<11} with / without    {ratio:6.2f} (of the processor {of_cpu:.2f})")
    print()


def prose() -> list[str]:
    return [draft["content"] for draft in Texts(seed=5).memories(WRITES)]


def statements() -> list[str]:
    """What agents note of people and things: places, employers, tools, ports, dates."""
    chance, texts = random.Random(4), Texts(seed=3)
    people = [f"{front}{end}" for front in ("Ann", "Bob", "Eve", "Gus") for end in ENDINGS]
    towns = ("Porto", "Lisbon", "Oslo", "Rome", "Milan", "Paris", "Berlin", "Madrid")
    firms = ("Acme", "Initech", "Globex", "Hooli", "Stark", "Soylent")

    def one() -> str:
        who, word = chance.choice(people), texts.word()
        return chance.choice(
            (
                f"{who} lives in {chance.choice(towns)}",
                f"{who} works at {chance.choice(firms)}",
                f"{who} likes {word}",
                f"{who} uses {word} for {texts.word()}",
                f"{who}'s {word} is {texts.word()}",
                f"The {word} service runs on port {chance.randint(1_000, 9_999)}",
                f"The deadline of {word} is March {chance.randint(1, 28)}",
                f"I moved to {chance.choice(towns)}",
            )
        )

    return [one() for _ in range(WRITES)]


def recorded(home: str, drafts: Sequence[dict[str, Any]]) -> list[list[Statement]]:
    """The writing statements of making a hub and of each `remember`, transaction by transaction."""
    transactions: list[list[Statement]] = []

    def trace(_: object, sql: str, values: Any) -> bool:
        word = sql.split(None, 1)[0].upper()
        if word == "BEGIN":
            transactions.append([])
        elif word in ("INSERT", "UPDATE", "DELETE"):
            transactions[-1].append((sql, values))
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    with holdfast.open(home, settings=WORDS_ONLY) as memory:
        # The schema is there; from here on every connection is watched.
        apsw.connection_hooks.append(watch)
        watch(memory.core.store._writer)
        try:
            hub = memory.create_hub("bench")
            for draft in drafts:
                hub.remember(**draft)
        finally:
            apsw.connection_hooks.remove(watch)
    return [some for some in transactions if some]


def write_bare(connection: apsw.Connection, statements: Sequence[Statement]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for sql, values in statements:
        connection.execute(sql, values)
    connection.execute("COMMIT")


def counts(connection: apsw.Connection) -> list[int]:
    tables = ("hubs", "memories", "changes", "revisions", "passages", "words", "trigrams")
    return [connection.execute(f"SELECT count(*) FROM {table}").get for table in tables]


# Batches


def bench_import(folder: str) -> None:
    print(f"batches of {IMPORTED:,} short memories")
    with holdfast.open(os.path.join(folder, "first"), settings=WORDS_ONLY) as memory:
        hub = memory.create_hub("bench")
        watch = Watch("remember_stream")
        drained(hub.remember_stream(Texts().memories(IMPORTED)), report=watch.at)
        watch.done()
        path = os.path.join(folder, "hub.jsonl")
        watch = Watch("export")
        with open(path, "w", encoding="utf-8") as file:
            for number, line in enumerate(hub.export(), 1):
                file.write(line + "\n")
                watch.at(number)
        watch.done()
    with holdfast.open(os.path.join(folder, "second"), settings=WORDS_ONLY) as memory:
        watch = Watch("import of JSON Lines")
        with open(path, encoding="utf-8") as file:
            memory.import_hub(watched(file, watch))
        watch.done()
    print()


class VectorsAtHand:
    """An embedder that costs nothing: its vectors are of use only to be many."""

    identity = "bench:at-hand"
    dimensions = DIMENSIONS
    passage_tokens_max = 512

    def __init__(self) -> None:
        drawn = np.random.default_rng(1).standard_normal((4_096, DIMENSIONS)).astype(np.float32)
        self._vectors = drawn / np.linalg.norm(drawn, axis=1)[:, None]

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return self._vectors[: len(texts)]

    def embed_query(self, text: str) -> Any:
        return self._vectors[0]


def bench_vectors(folder: str) -> None:
    """Processor time of each memory of a batch whose vectors are at hand. Run the code before and
    after a change in turns: the figures of one run depend on what else the machine does."""
    print(f"batches of {WITH_VECTORS:,} short memories with vectors at hand, of the processor")
    settings = {"embed.background": False}
    drafts = list(Texts().memories(WITH_VECTORS))
    home = os.path.join(folder, "streamed")
    with holdfast.open(home, embedder=VectorsAtHand(), settings=settings) as memory:
        hub = memory.create_hub("bench")
        drained(hub.remember_stream(Texts(seed=99).memories(STREAMED)))
        began = time.process_time()
        for start in range(0, WITH_VECTORS, STREAMED):
            drained(hub.remember_stream(drafts[start : start + STREAMED]))
        _report("remember_stream", time.process_time() - began, WITH_VECTORS)
        lines = list(hub.export())
    home = os.path.join(folder, "imported")
    with holdfast.open(home, embedder=VectorsAtHand(), settings=settings) as memory:
        began = time.process_time()
        memory.import_hub(lines)
        _report("import of JSON Lines", time.process_time() - began, WITH_VECTORS + STREAMED)
    print()


def _report(name: str, seconds: float, count: int) -> None:
    print(f"  {name:<22}{1e6 * seconds / count:8.0f} µs each, {count / seconds:,.0f} a second")


class Watch:
    """Rows per second, and the memory held on the way."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._began_mb = rss_mb()
        self._held: list[str] = []
        self._started = time.perf_counter()

    def at(self, count: int) -> None:
        if count in (10_000, 50_000, 100_000, 150_000, 200_000):
            self._held.append(f"{rss_mb():.0f} MB at {count // 1_000}k")

    def done(self) -> None:
        seconds = time.perf_counter() - self._started
        print(f"  {self._name:<22}{IMPORTED / seconds:8.0f} memories a second, {seconds:.0f} s")
        print(f"    process: {self._began_mb:.0f} MB before, {', '.join(self._held)}")


def watched(lines: Iterable[str], watch: Watch) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        watch.at(number)
        yield line


# Recall by words


def bench_recall(folder: str, size: int) -> None:
    home = os.path.join(folder, f"recall-{size}")
    texts = Texts(seed=11)
    with holdfast.open(home, settings=WORDS_ONLY) as memory:
        hub = memory.create_hub("bench")
        started = time.perf_counter()
        drained(hub.remember_stream(Texts().memories(size)))
        filling_s = time.perf_counter() - started
        questions = [texts.question() for _ in range(QUESTIONS)]
        common = [texts.common_question() for _ in range(QUESTIONS)]
        hub.recall(questions[0])
        usual_ms = [timed_ms(lambda q=q: hub.recall(q, meaning=False)) for q in questions]
        common_ms = [timed_ms(lambda q=q: hub.recall(q, meaning=False)) for q in common]
    print(f"recall by words among {size:,} memories ({folder_bytes(home) / 1e6:.0f} MB on disk,")
    print(f"  filled in {filling_s:.0f} s, {size / filling_s:.0f} a second)")
    print(f"  usual questions   {spread(usual_ms)}")
    print(f"  only common words {spread(common_ms)}\n")


# Start-up


def bench_start(folder: str) -> None:
    """What a command costs from its start to its end, on the clock and of the processor."""
    home = os.path.join(folder, "start")
    texts = Texts()
    with holdfast.open(home, settings=WORDS_ONLY) as memory:
        drained(memory.hub().remember_stream(texts.memories(1_000)))
    script = os.path.join(os.path.dirname(sys.executable), "holdfast")
    ours = [script] if os.path.exists(script) else [sys.executable, "-m", "holdfast"]
    with_model = {**with_bytecode(folder), "HOLDFAST_HOME": home}
    words_only = {**with_model, "HOLDFAST_EMBED_MODEL": "none"}
    commands: dict[str, Callable[[], float]] = {
        "python -c pass": lambda: started([sys.executable, "-c", "pass"], words_only),
        "recall --words": lambda: started([*ours, "recall", "--words", "kitchen"], words_only),
        "remember, words only": lambda: started([*ours, "remember", texts.text()], words_only),
        "remember": lambda: started([*ours, "remember", texts.text()], with_model),
    }
    clock_ms: dict[str, list[float]] = {name: [] for name in commands}
    processor_ms: dict[str, list[float]] = {name: [] for name in commands}
    for run in commands.values():
        run()
    for _ in range(STARTS):
        for name, run in commands.items():
            began = time.perf_counter()
            processor_ms[name].append(run())
            clock_ms[name].append((time.perf_counter() - began) * 1_000)
    print(f"start-up, {STARTS} of each in turns, 1,000 memories, {' '.join(ours)}")
    bare = "python -c pass"
    for name in commands:
        ratio = percentile(clock_ms[name], 0.5) / percentile(clock_ms[bare], 0.5)
        own = percentile(processor_ms[name], 0.5)
        times = f"{own:.0f} ms of the processor, {own / percentile(processor_ms[bare], 0.5):.1f} ×"
        print(f"  {name:22}{spread(clock_ms[name])}  {ratio:.1f} × bare; {times}")
    ratio = percentile(clock_ms["recall --words"], 0.5) / percentile(clock_ms[bare], 0.5)
    print(f"  recall / bare            {ratio:8.2f} {verdict(ratio, 3, at_most=True)}")


def with_bytecode(folder: str) -> dict[str, str]:
    """The environment with compiled modules at hand, as an installed package has them."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": os.path.join(folder, "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def started(command: Sequence[str], environment: dict[str, str]) -> float:
    """Runs it, and returns how long the processor worked for it, in ms."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    child = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    assert status == 0, f"{' '.join(command)} failed"
    return (used.ru_utime + used.ru_stime) * 1_000


if __name__ == "__main__":
    main()
