"""What does a server cost over the library, and does it hold under load?

    python -m bench.rest [--seconds 10] [--memories 5000]

Recall and remember over HTTP on loopback with 1, 8 and 64 clients, beside the same calls from as
many threads of one process. The server is a process of its own, the clients are another; by words,
without a model, so that what is compared is the way and not the work.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import holdfast
from bench.measure import drained
from bench.texts import Texts
from holdfast.engine.people import keys
from holdfast.evaluation.run import percentile

CLIENTS = (1, 8, 64)
_SETTINGS = {"embed.model": "none", "actor": "bench"}
_SERVER = """
import sys
from holdfast.edges.server import listening
from holdfast.edges.http.app import create_app
from holdfast.edges.http.limits import Limits
from holdfast.api.memory import open as open_memory
memory = open_memory(sys.argv[1], settings={"embed.model": "none", "actor": "bench"})
socket_ = listening.listen("127.0.0.1", 0)
print(socket_.getsockname()[1], flush=True)
app = create_app(memory, limits=Limits(per_minute=10**9, requests_max=64))
listening.run(app, socket_, stop_s=5)
memory.close()
"""
# The calls of a thread are counted in the library; more threads than this only wait.
_THREADS_MAX = 16


class Measured(NamedTuple):
    """What came of a time of calls."""

    calls: int
    seconds: float
    times_ms: list[float]
    errors: list[str]

    @property
    def per_second(self) -> float:
        return self.calls / self.seconds


# The clients: a process of their own


async def _client(port: int, key: str, requests: Any, until: float, told: Measured) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nX-Hub-ID: bench\r\n"
    while time.perf_counter() < until:
        path, body = next(requests)
        data = json.dumps(body).encode()
        began = time.perf_counter()
        writer.write(
            f"POST {path} HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        answer = await reader.readuntil(b"\r\n\r\n")
        length = answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        content = await reader.readexactly(int(length))
        told.times_ms.append((time.perf_counter() - began) * 1_000)
        if answer[9:10] != b"2":
            told.errors.append(f"{answer[:15].decode()} {content[:200].decode()}")
    writer.close()


async def _clients(port: int, key: str, kind: str, clients: int, seconds: float) -> Measured:
    requests = _requests(kind, f"http {clients}")
    told = Measured(0, 0, [], [])
    began = time.perf_counter()
    await asyncio.gather(
        *(_client(port, key, requests, began + seconds, told) for _ in range(clients))
    )
    took = time.perf_counter() - began
    return Measured(len(told.times_ms), took, told.times_ms, told.errors[:5])


def _requests(kind: str, salt: str) -> Any:
    texts = Texts()
    if kind == "recall":
        while True:
            yield "/v1/recall", {"query": texts.question()}
    for number in count():
        yield "/v1/memories", {"content": f"{texts.question()} of {salt}, number {number}"}


def _run_clients(words: list[str]) -> None:
    port, key, kind, clients, seconds = words
    told = asyncio.run(_clients(int(port), key, kind, int(clients), float(seconds)))
    print(json.dumps(told._asdict()))


# The same from the library


def _in_process(home: str, kind: str, clients: int, seconds: float) -> Measured:
    threads_count = min(clients, _THREADS_MAX)
    with holdfast.open(home, settings=_SETTINGS) as memory:
        hub = memory.hub("bench")
        requests = _requests(kind, f"library {clients}")
        lock = threading.Lock()
        times: list[float] = []
        call: Callable[[Any], object] = (
            (lambda body: hub.recall(body["query"], limit=5))
            if kind == "recall"
            else (lambda body: hub.remember(body["content"]))
        )
        began = time.perf_counter()

        def work() -> None:
            while time.perf_counter() < began + seconds:
                with lock:
                    _, body = next(requests)
                started = time.perf_counter()
                call(body)
                times.append((time.perf_counter() - started) * 1_000)

        threads = [threading.Thread(target=work) for _ in range(threads_count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Measured(len(times), time.perf_counter() - began, times, [])


def _rss_mb(process: int) -> float | None:
    try:
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            rows = dict(line.split(":", 1) for line in file)
    except OSError:
        return None
    return int(rows["VmRSS"].split()[0]) / 1_024


def main() -> None:
    if sys.argv[1:2] == ["--clients"]:
        _run_clients(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m bench.rest")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--memories", type=int, default=5_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        with holdfast.open(home, settings=_SETTINGS) as memory:
            hub = memory.hub("bench", create=True)
            drained(hub.remember_stream(Texts().memories(args.memories)))
            key = keys.create_key(memory.core, "bench").secret
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, home], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            _measure(home, server, int(server.stdout.readline()), key, args.seconds)
        finally:
            server.terminate()
            server.communicate()


def _measure(home: str, server: subprocess.Popen[str], port: int, key: str, seconds: float) -> None:
    print(f"{os.cpu_count()} cores; {seconds:g} s each; by words")
    for kind in ("recall", "remember"):
        # The first calls load what the others share, start the threads and fill their caches.
        _over_http(port, key, kind, CLIENTS[-1], seconds / 2)
        before = _rss_mb(server.pid)
        for clients in CLIENTS:
            library = _in_process(home, kind, clients, seconds)
            over = _over_http(port, key, kind, clients, seconds)
            _tell(kind, clients, library, over)
        after = _rss_mb(server.pid)
        if before is not None and after is not None:
            print(f"  memory of the server: {before:.0f} MB before, {after:.0f} MB after")


def _over_http(port: int, key: str, kind: str, clients: int, seconds: float) -> Measured:
    words = ["--clients", str(port), key, kind, str(clients), str(seconds)]
    done = subprocess.run(
        [sys.executable, "-m", "bench.rest", *words], capture_output=True, text=True, check=True
    )
    return Measured(**json.loads(done.stdout))


def _tell(kind: str, clients: int, library: Measured, over: Measured) -> None:
    p50, p95, p99 = (percentile(over.times_ms, part) for part in (0.5, 0.95, 0.99))
    ratio = over.per_second / library.per_second
    print(
        f"  {kind:9} {clients:3} clients  {over.per_second:7.0f}/s over HTTP"
        f" {library.per_second:7.0f}/s in process {ratio:5.2f}"
        f"   p50 {p50:7.1f} ms  p95 {p95:7.1f}  p99 {p99:7.1f}   errors {len(over.errors)}"
    )
    for error in over.errors:
        print(f"    {error}")


if __name__ == "__main__":
    main()
