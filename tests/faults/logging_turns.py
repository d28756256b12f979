"""A process that logs one turn after the other until it is told to stop, and says after each what
it was told: `done`, `not done`, or `in doubt`. A turn that is logged twice is there twice. Who
started it compares what it said with what is there."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import holdfast


class Logger:
    """One of the processes, and what it was told of each turn."""

    def __init__(self, url: str, home: Path, who: str) -> None:
        self.who = who
        self.told: dict[int, str] = {}
        # The longest that it went without a turn that was logged.
        self.longest_s = 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, url, str(home), who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        last = time.monotonic()
        for line in self._process.stdout:
            number, _, told = line.strip().partition(" ")
            self.told[int(number)] = told
            if told == "done":
                now = time.monotonic()
                self.longest_s, last = max(self.longest_s, now - last), now

    def done(self) -> int:
        return [*self.told.values()].count("done")

    def stop(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._thread.join()
        self._process.stdout.close()
        return self._process.wait()

    def was_told_the_truth(self, memory: holdfast.Holdfast) -> None:
        turns = memory.hub(self.who).turns(limit=1_000_000)
        there = Counter(int(turn.content.split()[1]) for turn in turns)
        assert set(there.values()) == {1}
        for number, told in self.told.items():
            assert told == "in doubt" or (number in there) == (told == "done"), told


def main(url: str, home: str, who: str) -> None:
    stopped = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        stopped.set()

    threading.Thread(target=listen, daemon=True).start()
    settings = {"store.url": url, "embed.model": "none", "log.keep": 1_000_000}
    with holdfast.open(home, settings=settings) as memory:
        hub = memory.hub(who)
        number = 0
        while not stopped.is_set():
            number += 1
            try:
                hub.log_turn("user", f"{who} {number}")
            except holdfast.StoreError as error:
                told = "in doubt" if error.in_doubt else "not done"
            else:
                told = "done"
            print(f"{number} {told}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
