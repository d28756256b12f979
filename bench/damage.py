"""Flips bytes at random in every table and index of a store, in free pages and in the write-ahead
log, and asks the doctor and every read what they make of it.

A trial fails where the doctor calls a store healthy and a read fails or answers otherwise than
before; where the doctor itself fails; where a repaired store is not healthy; and where something
that could be read on the damaged store is gone after the repair.

    python -m bench.damage --flips 1100 --seed 1
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.faults.flips import Bench

from holdfast.store.sqlite import rescue


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=1_100, help="how many trials")
    parser.add_argument("--seed", type=int, default=1, help="where the seeds of trials begin")
    args = parser.parse_args()
    # The search for a changed byte takes a second for each row; here it is tried for a moment.
    rescue.TRIES_MAX = 1_000
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(_run(Bench(Path(folder), count=12), args.flips, args.seed))


def _run(bench: Bench, flips: int, seed: int) -> int:
    names = [*bench.trees, "log"]
    counts: Counter[str] = Counter()
    failures: list[str] = []
    started = time.process_time()
    for number in range(flips):
        name, one = names[number % len(names)], seed * 1_000_003 + number
        try:
            trial = bench.trial(name, one)
        except Exception:  # noqa: BLE001 - whatever is raised is what the trials look for
            failures.append(f"{name}, seed {one}: {traceback.format_exc(limit=-2)}")
            continue
        failures += trial.wrong
        counts["found"] += trial.found
        counts["harmless"] += not trial.found
        counts["not opened"] += trial.unopened
        counts["a read failed"] += bool(trial.failed)
        counts["a read answered otherwise"] += bool(trial.changed)
        counts["repaired to the byte"] += trial.repaired_all
    for failure in failures:
        print(failure)
    print(f"{flips} flips over {len(names)} trees: {len(failures)} failures")
    for what, count in counts.items():
        print(f"  {what}: {count}")
    print(f"  processor time: {time.process_time() - started:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    main()
