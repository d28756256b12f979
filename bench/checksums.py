"""What row checksums cost, in instructions of the processor.

    python -m bench.checksums        (needs valgrind)

The same steps run in two processes, one with checksums and one without: there the checks of
`holdfast.store.rows` are replaced by functions that answer at once. Callgrind counts the
instructions of each step, so that the figures do not depend on what else the machine does; time
that the kernel and the disk take is not in them. Words only.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import holdfast
from bench.texts import Texts
from holdfast.api.hub import HubMemory
from holdfast.store import rows

KNOWN = 300
# Nothing works in the background while a step is counted.
SETTINGS = {"embed.model": "none", "lifecycle.automatic": False}
SIDES = ("with", "without")
# A function of the interpreter that nothing else calls: Callgrind writes its counts before it.
_MARK = "os_getppid"

_WITHOUT: dict[str, Callable[..., Any]] = {
    "row_checksum": lambda *given: 0,
    "passage_checksum": lambda *given: 0,
    "vector_checksum": lambda *given: 0,
    "counters_check": lambda *given: 0,
    "is_intact": lambda *given: True,
    "are_counters_intact": lambda *given: True,
    "require_intact": lambda *given: None,
}


def switch_off() -> None:
    """Replaces the functions before anything has imported them, and where something has."""
    given = {name: getattr(rows, name) for name in _WITHOUT}
    modules = [one for name, one in sys.modules.items() if name.startswith("holdfast.")]
    for module in modules:
        for name, instead in _WITHOUT.items():
            if getattr(module, name, None) is given[name]:
                setattr(module, name, instead)


Steps = dict[str, Callable[[], object]]


def steps_of(hub: HubMemory, store: Any, texts: Texts) -> Steps:
    def new(count: int) -> list[str]:
        return [texts.text() for _ in range(count)]

    def first(step: Callable[[], object]) -> object:
        # The store is wrapped; what it holds is replaced in place.
        store._caches.__init__()
        return step()

    def recall() -> object:
        return hub.recall("the harbour project of the week")

    def listing() -> object:
        return hub.list(limit=100, order="oldest")

    return {
        "remember": lambda: hub.remember(texts.text()),
        "remember_many, 50": lambda: hub.remember_many(new(50)),
        "recall by words, rows not read before": lambda: first(recall),
        "recall by words, rows read before": recall,
        "list of 100, rows not read before": lambda: first(listing),
        "list of 100, rows read before": listing,
        "export": lambda: sum(1 for _ in hub.export()),
    }


def run_side(folder: str, side: str) -> None:
    """Takes each step twice, and marks the beginning and the end of the second."""
    if side == "without":
        switch_off()
    with holdfast.open(folder, settings=SETTINGS) as memory:
        texts = Texts(seed=8)
        for step in steps_of(memory.hub("bench"), memory.core.store, texts).values():
            step()
            os.getppid()
            step()
            os.getppid()


def make_home(folder: str, side: str) -> None:
    if side == "without":
        switch_off()
    with holdfast.open(folder, settings=SETTINGS) as memory:
        texts = Texts(seed=7)
        memory.create_hub("bench").remember_many(texts.text() for _ in range(KNOWN))


def count(folder: Path, side: str) -> list[int]:
    """The instructions of each step."""
    home, out = folder / side, folder / f"{side}.out"
    words = [sys.executable, "-m", "bench.checksums", "--side", side, "--home", str(home)]
    subprocess.run([*words, "--make"], check=True)
    valgrind = ["valgrind", "--tool=callgrind", f"--dump-before={_MARK}"]
    run = [*valgrind, f"--callgrind-out-file={out}", *words]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run(run, check=True, stderr=subprocess.DEVNULL, env=environment)
    dumps = sorted(folder.glob(f"{out.name}.*"), key=lambda one: int(one.suffix[1:]))
    # Between two marks is a step; before the first, and between two steps, the preparation.
    return [_total(dump) for dump in dumps[1::2]]


def _total(dump: Path) -> int:
    found = re.search(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)
    assert found is not None, f"{dump} has no totals"
    return int(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.checksums")
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--home")
    parser.add_argument("--make", action="store_true")
    args = parser.parse_args()
    if args.side is not None:
        (make_home if args.make else run_side)(args.home, args.side)
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        with_, without = (count(Path(folder), side) for side in SIDES)
    names = steps_of(None, Texts())  # type: ignore[arg-type]
    print("| step | million instructions without | with / without |")
    print("| --- | --- | --- |")
    for name, more, less in zip(names, with_, without, strict=True):
        print(f"| {name} | {less / 1e6:.1f} | {more / less:.3f} |")


if __name__ == "__main__":
    main()
