"""How long does it take to bring a folder of documents up to date after one change?

    python -m bench.documents [--files 10000] [--rounds 10]

The bare cost is what a tool without a list of stamps would do: read and hash every file. Files are
about 700 characters long; no embedding model is asked.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time

import holdfast
from bench.measure import Times, verdict
from bench.texts import Texts

# Files in one folder; a real tree is not one folder of ten thousand.
_PER_FOLDER = 100


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.documents")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    settings = {"embed.model": "none"}
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home,
        holdfast.open(home, settings=settings) as memory,
    ):
        hub = memory.create_hub("bench")
        folder = os.path.join(hub.folder, "files")
        paths = write_files(folder, args.files)
        started = time.perf_counter()
        report = hub.index_files()
        seconds = time.perf_counter() - started
        print(f"{len(report.added):,} files read for the first time in {seconds:.1f} s")
        # What was written within two seconds of being read is read once more.
        time.sleep(2.1)
        hub.index_files()
        measure(hub, paths, args.rounds)


def write_files(folder: str, count: int) -> list[str]:
    texts = Texts(seed=5).memories(count * 4)
    paths = []
    for number in range(count):
        inside = os.path.join(folder, f"part-{number // _PER_FOLDER}")
        os.makedirs(inside, exist_ok=True)
        path = os.path.join(inside, f"note-{number}.md")
        text = "\n\n".join(str(next(texts)["content"]) for _ in range(4))
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"# Note {number}\n\n{text}\n")
        paths.append(path)
    return paths


def measure(hub: holdfast.HubMemory, paths: list[str], rounds: int) -> None:
    bare, one, none = Times(), Times(), Times()
    for number in range(rounds):
        bare.add(lambda: [hashed(path) for path in paths])
        with open(paths[number * 7], "a", encoding="utf-8") as file:
            file.write(f"\nAn addition, number {number}.\n")
        one.add(hub.index_files)
        time.sleep(2.1)
        hub.index_files()
        none.add(hub.index_files)
    print(f"  hashing all files        {bare}")
    print(f"  index, one file changed  {one}")
    print(f"  index, nothing changed   {none}")
    ratio = one.p50_ms / bare.p50_ms
    print(f"  one changed / hashing    {ratio:8.2f} {verdict(ratio, 1.5, at_most=True)}")


def hashed(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


if __name__ == "__main__":
    main()
