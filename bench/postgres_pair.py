"""How long do single writes and recalls take on one database, beside another?

    python -m bench.postgres_pair URL URL [--memories N] [--times N]

For a Citus cluster beside a plain server, or a managed service beside one of your own. Both have to
be prepared (`holdfast store init`); a hub is created in each and deleted at the end. Both are asked
in turns, so that the ratio of the medians says the same on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory


def _timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def _filled(memory: Holdfast, name: str, memories: int) -> HubMemory:
    hub = memory.create_hub(name)
    hub.remember_many([f"Box {number} of Ada is in the attic" for number in range(memories)])
    return hub


def _acts(hub: HubMemory, number: int) -> dict[str, Callable[[], object]]:
    return {
        "remember": lambda: hub.remember(f"The cat of shed {number} sleeps"),
        "recall": lambda: hub.recall(f"where is box {number} of Ada"),
        "get": lambda: hub.get(1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("urls", nargs=2, metavar="URL")
    parser.add_argument("--memories", type=int, default=200)
    parser.add_argument("--times", type=int, default=40)
    args = parser.parse_args()
    name = f"pair-{os.getpid()}"
    took: dict[str, list[list[float]]] = {"remember": [[], []], "recall": [[], []], "get": [[], []]}
    with tempfile.TemporaryDirectory() as folder:
        opened = [
            open_memory(f"{folder}/{at}", settings={"embed.model": "none", "store.url": url})
            for at, url in enumerate(args.urls)
        ]
        hubs = [_filled(memory, name, args.memories) for memory in opened]
        for number in range(args.times + 5):
            for at, hub in enumerate(hubs):
                for what, act in _acts(hub, number).items():
                    value = _timed(act)
                    # The first few open connections and prepare statements.
                    if number >= 5:
                        took[what][at].append(value)
        for memory in opened:
            memory.delete_hub(name)
            memory.close()
    print("             first ms  second ms  second / first (medians)")
    for what, (first, second) in took.items():
        one, two = statistics.median(first), statistics.median(second)
        print(f"{what:<12} {one:>8.1f} {two:>10.1f} {two / one:>7.2f}")


if __name__ == "__main__":
    main()
