"""What `holdfast proxy` costs: a request through it beside the same request without it.

    python -m bench.proxy [--memories 2000]

Client, proxy and model are in one process, on loopback; the model answers at once. The clock
depends on what else the machine does, so the processor's time is given too. Recall is by words.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
from tests.clients.model_server import ModelServer
from tests.edges.proxy.proxies import proxy

from bench.web import _texts

_REQUESTS = 40
_QUESTION = "When does the harbour sensor of the station report, and who reads the forecast? ({})"


def _times(ask: Callable[[int], Any]) -> tuple[float, float]:
    """The median of milliseconds on the clock, and the mean of the processor's."""
    for number in range(5):
        ask(-number - 1)
    clock = []
    cpu = time.process_time()
    for number in range(_REQUESTS):
        begun = time.perf_counter()
        ask(number)
        clock.append(1000 * (time.perf_counter() - begun))
    return statistics.median(clock), 1000 * (time.process_time() - cpu) / _REQUESTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=2_000)
    count = parser.parse_args().memories
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-proxy-") as folder,
        ModelServer("It reports at noon.") as model,
        proxy(Path(folder) / "home", model.url) as running,
        httpx2.Client(trust_env=False, timeout=60) as client,
    ):
        for _ in running.memory.hub("default", create=True).remember_stream(_texts(count)):
            pass

        def asking(url: str, turns: int) -> Callable[[int], Any]:
            past = [
                {"role": ("user", "assistant")[place % 2], "content": f"Earlier message {place}"}
                for place in range(2 * turns)
            ]

            def ask(number: int) -> Any:
                said = {"role": "user", "content": _QUESTION.format(number)}
                body = {"model": "m", "messages": [*past, said]}
                return client.post(f"{url}/v1/chat/completions", json=body).raise_for_status()

            return ask

        print(f"{count:,} memories, {_REQUESTS} requests each")
        for name, turns in (("first message", 0), ("behind 20 turns", 20)):
            bare = _times(asking(model.url, turns))
            ours = _times(asking(running.url, turns))
            running.settle()
            print(
                f"  {name:16} bare {bare[0]:.1f} ms (processor {bare[1]:.1f}), through the proxy"
                f" {ours[0]:.1f} ms (processor {ours[1]:.1f})"
            )


if __name__ == "__main__":
    main()
