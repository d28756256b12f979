"""A process that logs one turn after the other until it is told to stop, and says after each what
it was told: `done`, `not done`, or `in doubt`. A turn that is logged twice is there twice."""

from __future__ import annotations

import sys
import threading

import holdfast


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
