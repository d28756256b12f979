"""MEMORY.md: a sync of many bullets after a one-line edit, against hashing the same file.

    python -m bench.mirror [--bullets 5000]

Words only (`embed.model` none): an embedding model would be asked about the one edited line.
Both sides are measured in turns. The other rows say what a sync is made of: an edit taken in
writes durably (twice: the store, and what both agreed on) and replaces the file.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import tempfile
from pathlib import Path

import holdfast
from bench.measure import Times, drained
from holdfast.files.memory_md.parse import parse, parse_anew

BULLETS = 5_000
ROUNDS = 15
WORDS = ("Ann", "likes", "tea", "server", "Hilda", "Debian", "prefers", "tabs", "project", "Oslo")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.mirror")
    parser.add_argument("--bullets", type=int, default=BULLETS)
    count = parser.parse_args().bullets
    words_only = {"embed.model": "none"}
    with (
        tempfile.TemporaryDirectory() as home,
        holdfast.open(home, settings=words_only) as memory,
    ):
        hub = memory.hub()
        drained(hub.remember_stream(_facts(count)))
        hub.sync()
        _measure(hub, Path(hub.memory_md))


def _facts(count: int) -> list[dict[str, str]]:
    chance = random.Random(7)
    return [
        {
            "content": f"Fact {number}: {' '.join(chance.choices(WORDS, k=14))}.",
            "category": ("fact", "person", "project")[number % 3],
            "layer": "long_term",
        }
        for number in range(count)
    ]


def _measure(hub: holdfast.HubMemory, file: Path) -> None:
    times = {
        name: Times()
        for name in ("hash", "edit taken in", "nothing to do", "a write, followed", "parse")
    }
    for turn in range(ROUNDS):
        times["hash"].add(lambda: hashlib.sha256(file.read_bytes()).hexdigest())
        text = file.read_text(encoding="utf-8")
        times["parse"].add(lambda text=text: parse_anew(text))
        file.write_text(text.replace("Fact 17:", f"Fact 17: edit {turn},", 1), encoding="utf-8")
        times["edit taken in"].add(hub.sync)
        assert hub.get(18).content.startswith(f"Fact 17: edit {turn},")
        times["nothing to do"].add(hub.sync)
        times["a write, followed"].add(
            lambda turn=turn: hub.update(30, content=f"Fact 29: written {turn}.")
        )
    size_kb = file.stat().st_size / 1_000
    lines = len(parse(file.read_text(encoding="utf-8")).items)
    bare = times["hash"]
    print(f"{lines:,} bullets, {size_kb:,.0f} KB, {ROUNDS} rounds, p50: on the clock, processor")
    for name, measured in times.items():
        ratio, cpu_ratio = measured.p50_ms / bare.p50_ms, measured.cpu_p50_ms / bare.cpu_p50_ms
        print(
            f"{name:20} {measured.p50_ms:9.2f} ms {ratio:7.1f} times hashing"
            f" {measured.cpu_p50_ms:9.2f} ms {cpu_ratio:7.1f} times"
        )


if __name__ == "__main__":
    main()
