"""A process that pushes files or works on jobs until it is killed: `python pushing.py WHAT FOLDER
LATER_S [PROGRAM]`. Its clock is that many seconds ahead, so that leases of the dead have ended. It
says in lines what is safe."""

from __future__ import annotations

import io
import sys
from datetime import datetime, timedelta

import holdfast
from holdfast.domain.clock import SystemClock
from holdfast.engine import jobs
from holdfast.extract import run


class Ahead:
    """The machine's clock, some time ahead."""

    def __init__(self, by: timedelta) -> None:
        self._by = by

    def now(self) -> datetime:
        return SystemClock().now() + self._by


def main() -> None:
    what, folder, later_s, *program = sys.argv[1:]
    settings = {"embed.model": "none", "actor": "tester"}
    if program:
        settings["extract.tesseract"] = program[0]
    clock = Ahead(timedelta(seconds=float(later_s)))
    with holdfast.open(folder, clock=clock, settings=settings) as memory:
        hub = memory.hub()
        if what == "push":
            for number in range(10_000):
                data = f"File {later_s} {number}: ".encode() * 1_000
                made = hub.remember_file(io.BytesIO(data), name=f"{number}.txt").memory
                print(made.id, made.metadata["attachment"]["hash"], flush=True)
        run.tidy(memory.core, memory.home)
        print("ready", flush=True)
        while jobs.work_on_next(memory.core, run.runner(memory.home)) is not None:
            pass
        print("done", flush=True)


if __name__ == "__main__":
    main()
