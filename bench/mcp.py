"""What does the MCP server cost over the SDK and over the library?

    python -m bench.mcp [--starts 15] [--calls 1000]

Over stdio, with a client that only writes and reads lines, so that no client is measured. The bare
server is one of the same SDK with one tool that does nothing.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import holdfast
from bench.measure import drained, timed_ms
from bench.texts import Texts
from holdfast.evaluation.run import percentile

_BARE = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def listed(ctx, params):
    schema = {"type": "object"}
    return types.ListToolsResult(tools=[types.Tool(name="nothing", input_schema=schema)])

async def called(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="nothing")])

async def main():
    server = Server("bare", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""
_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Served:
    """A server as a process, past its handshake."""

    def __init__(self, words: Sequence[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **env},
        )
        self._number = 0
        self._ask("initialize", _HELLO)
        self._send({"method": "notifications/initialized"})

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.communicate()

    def call(self, tool: str, **arguments: Any) -> str:
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer
        text: str = answer["content"][0]["text"]
        return text

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())["result"]
        return answer

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def memory_mb(self) -> tuple[float, float] | None:
        """What it holds now and the most it ever held; None where the system does not say."""
        try:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
                rows = dict(line.split(":", 1) for line in file)
        except OSError:
            return None
        now, most = (int(rows[name].split()[0]) / 1_024 for name in ("VmRSS", "VmHWM"))
        return now, most


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.mcp")
    parser.add_argument("--starts", type=int, default=15)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=1_000)
    args = parser.parse_args()
    # As pip does it when it installs: otherwise every start would compile ours, and none the SDK's.
    compileall.compile_dir(os.path.dirname(holdfast.__file__), quiet=1)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        texts = Texts()
        with holdfast.open(home) as memory:
            drained(memory.hub("bench", create=True).remember_stream(texts.memories(args.memories)))
            memory.embed_missing()
            has_model = memory.core.embedder is not None
        print(f"{args.memories:,} memories; model: {'yes' if has_model else 'none'}")
        starts(home, args.starts)
        calls(home, texts, args.calls)
        peak(home)


def _ours(home: str, *, model: bool = True) -> tuple[list[str], dict[str, str]]:
    words = [sys.executable, "-c", "from holdfast.edges.cli import run; run()"]
    env = {"HOLDFAST_HOME": home}
    if not model:
        env["HOLDFAST_EMBED_MODEL"] = "none"
    return [*words, "mcp", "--hub", "bench"], env


def _bare() -> tuple[list[str], dict[str, str]]:
    return [sys.executable, "-c", _BARE], {}


def starts(home: str, rounds: int) -> None:
    """From the start of the process to the first answer of a tool, in turns."""
    kinds: dict[str, tuple[tuple[list[str], dict[str, str]], str, dict[str, str]]] = {
        "bare SDK server": (_bare(), "nothing", {}),
        "first memory_context": (_ours(home), "memory_context", {}),
        "first recall, words": (_ours(home, model=False), "recall", {"query": "what is it?"}),
        "first recall, model": (_ours(home), "recall", {"query": "what is it?"}),
    }
    took: dict[str, list[float]] = {name: [] for name in kinds}
    worked: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, (start, tool, arguments) in kinds.items():
            began, used = time.perf_counter(), _cpu_ms()
            with Served(*start) as server:
                server.call(tool, **arguments)
                took[name].append((time.perf_counter() - began) * 1_000)
            worked[name].append(_cpu_ms() - used)
    print("from the start of the process to the first answer; cpu: to the end of the process")
    bare, bare_cpu = (percentile(kind["bare SDK server"], 0.5) for kind in (took, worked))
    for name in kinds:
        p50, cpu = percentile(took[name], 0.5), percentile(worked[name], 0.5)
        clock = f"{p50:6.0f} ms {p50 / bare:5.2f} of bare"
        print(f"  {name:24} {clock}   cpu {cpu:6.0f} ms {cpu / bare_cpu:5.2f} of bare")


def _cpu_ms() -> float:
    """What the processes that have ended took of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1_000


def calls(home: str, texts: Texts, count: int) -> None:
    """The same questions over stdio and from the library, in turns; without a model, so that what
    is compared is the way and not the work."""
    over: dict[str, list[float]] = {"bare SDK server": [], "library": [], "over stdio": []}
    start, env = _ours(home, model=False)
    settings = {"embed.model": "none"}
    with (
        Served(*_bare()) as bare,
        Served(start, env) as server,
        holdfast.open(home, settings=settings) as memory,
    ):
        tools = holdfast.tools("holdfast", memory.hub("bench"))
        for _ in range(count):
            asked = {"query": texts.question()}
            over["bare SDK server"].append(timed_ms(partial(bare.call, "nothing")))
            over["library"].append(timed_ms(partial(tools.call, "recall", asked)))
            over["over stdio"].append(timed_ms(partial(server.call, "recall", **asked)))
    print(f"{count:,} calls in a row, recall by words")
    for name, times in over.items():
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        print(f"  {name:24} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms")
    added = percentile(over["over stdio"], 0.5) - percentile(over["library"], 0.5)
    print(f"  stdio adds at p50 {added:5.2f} ms")


def peak(home: str) -> None:
    """What an idle server holds."""
    print("memory of an idle server: now, and at most so far")
    with Served(*_bare()) as bare:
        bare.call("nothing")
        _print_memory("bare SDK server", bare)
    with Served(*_ours(home)) as server:
        server.call("memory_context")
        _print_memory("model not loaded", server)
        server.call("recall", query="what is it?")
        _print_memory("model loaded", server)


def _print_memory(name: str, server: Served) -> None:
    found = server.memory_mb()
    said = "not known here" if found is None else f"{found[0]:6.0f} MB  {found[1]:6.0f} MB"
    print(f"  {name:24} {said}")


if __name__ == "__main__":
    main()
