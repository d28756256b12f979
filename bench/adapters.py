"""What does each adapter cost over the bare library?

    python -m bench.adapters [NAME ...] [--rounds 60]

Each act through an adapter is measured in turns with the operation of the hub that it stands for,
in a hub of 500 memories, by the time of the processor. A framework runs in a process of its own,
with its folder of `.venv/frameworks` on the path (`make test-frameworks` installs them).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import holdfast
from bench.measure import RandomEmbedder, Times
from holdfast import Holdfast, HubMemory

_MEMORIES = 500
_QUESTION = "What did house 77 cost in the year 1977?"
_ROOT = Path(__file__).parents[1]
_WARM_UP = 5


class Pair(NamedTuple):
    """An act through an adapter, and the same with the library."""

    name: str
    adapter: Callable[[int], object]
    bare: Callable[[int], object]


def _texts() -> Iterator[str]:
    for n in count():
        yield f"House {n} cost {n * 1_000} in the year {1_900 + n % 100}"


def _filled(hub: HubMemory) -> HubMemory:
    texts = _texts()
    hub.remember_many([next(texts) for _ in range(_MEMORIES)])
    return hub


def _remember(hub: HubMemory, n: int) -> object:
    return hub.remember(
        f"Written {n}", key=f"bare/{n}", metadata={"value": {"n": n}}, content_type="structured"
    )


def langgraph(memory: Holdfast, hub: HubMemory) -> list[Pair]:
    from holdfast.adapters.langgraph import HoldfastStore

    store: Any = HoldfastStore(memory, fill=False)
    there, other = ("user", "alice"), memory.create_hub("bare")
    store.put(there, "k", {"content": "A value"})
    hub.remember("A value", key="bare")
    return [
        Pair("put", lambda n: store.put(there, f"k{n}", {"n": n}), lambda n: _remember(other, n)),
        Pair("get", lambda n: store.get(there, "k"), lambda n: hub.get("bare")),
        Pair(
            "search",
            lambda n: store.search(there, query=_QUESTION, limit=5),
            lambda n: hub.recall(_QUESTION, limit=5),
        ),
    ]


def mem0(memory: Holdfast, hub: HubMemory) -> list[Pair]:
    from holdfast.adapters.mem0 import Memory

    m, other = Memory(memory=memory), memory.create_hub("bare")
    scope = {"user_id": "alice"}
    return [
        Pair(
            "add",
            lambda n: m.add(f"Written {n}", user_id="bob", infer=False),
            lambda n: other.remember(f"Written {n}"),
        ),
        Pair(
            "search",
            lambda n: m.search(_QUESTION, filters=scope, top_k=5),
            lambda n: hub.recall(_QUESTION, limit=5),
        ),
        Pair("get_all", lambda n: m.get_all(filters=scope), lambda n: hub.list(limit=20)),
    ]


def openai_agents(memory: Holdfast, hub: HubMemory) -> list[Pair]:
    from holdfast.adapters.openai_agents import HoldfastSession, inject_memory

    loop, other = asyncio.new_event_loop(), memory.create_hub("bare")
    session = HoldfastSession("s", memory.create_hub("sessions"))
    filter_ = inject_memory(hub)
    asked = SimpleNamespace(
        model_data=SimpleNamespace(
            input=[{"role": "user", "content": _QUESTION}], instructions="Be brief."
        )
    )

    def run(work: Any) -> object:
        return loop.run_until_complete(work)

    return [
        Pair(
            "add_items",
            lambda n: run(session.add_items([{"role": "user", "content": f"Written {n}"}])),
            lambda n: _remember(other, n),
        ),
        Pair("get_items", lambda n: run(session.get_items(20)), lambda n: hub.list(limit=20)),
        Pair("inject", lambda n: run(filter_(asked)), lambda n: hub.context(_QUESTION)),
    ]


def pydantic_ai(memory: Holdfast, hub: HubMemory) -> list[Pair]:
    from holdfast.adapters.pydantic_ai import memory_instructions, memory_toolset

    loop = asyncio.new_event_loop()
    instructions, toolset = memory_instructions(hub), memory_toolset(hub)
    recall: Any = toolset.tools["recall"].function
    bare = holdfast.tools("holdfast", hub)
    asked: Any = SimpleNamespace(prompt=_QUESTION)

    def run(work: Any) -> object:
        return loop.run_until_complete(work)

    return [
        Pair("instructions", lambda n: run(instructions(asked)), lambda n: hub.context(_QUESTION)),
        Pair(
            "tool",
            lambda n: run(recall(query=_QUESTION)),
            lambda n: bare.call("recall", {"query": _QUESTION}),
        ),
    ]


def llama_index(memory: Holdfast, hub: HubMemory) -> list[Pair]:
    from llama_index.core.base.llms.types import ChatMessage

    from holdfast.adapters.llama_index import HoldfastChatStore, HoldfastMemoryBlock

    loop, other = asyncio.new_event_loop(), memory.create_hub("bare")
    store = HoldfastChatStore(hub=memory.create_hub("chats"))
    block = HoldfastMemoryBlock(hub=hub)
    asked = [ChatMessage(role="user", content=_QUESTION)]
    return [
        Pair(
            "add_message",
            lambda n: store.add_message("c", ChatMessage(role="user", content=f"Written {n}")),
            lambda n: _remember(other, n),
        ),
        Pair(
            "block",
            lambda n: loop.run_until_complete(block.aget(asked)),
            lambda n: hub.context(_QUESTION),
        ),
    ]


def google_adk(memory: Holdfast, hub: HubMemory) -> list[Pair]:
    from holdfast.adapters.google_adk import HoldfastMemoryService

    loop = asyncio.new_event_loop()
    service = HoldfastMemoryService(memory, app="agents", limit=5)
    return [
        Pair(
            "search_memory",
            lambda n: loop.run_until_complete(
                service.search_memory(app_name="x", user_id="alice", query=_QUESTION)
            ),
            lambda n: hub.recall(_QUESTION, limit=5),
        )
    ]


def smolagents(memory: Holdfast, hub: HubMemory) -> list[Pair]:
    from holdfast.adapters.smolagents import memory_tools

    recall = next(tool for tool in memory_tools(hub) if tool.name == "recall")
    bare = holdfast.tools("holdfast", hub)
    return [
        Pair(
            "tool",
            lambda n: recall(query=_QUESTION),
            lambda n: bare.call("recall", {"query": _QUESTION}),
        )
    ]


def anthropic(memory: Holdfast, hub: HubMemory) -> list[Pair]:
    from holdfast.adapters.anthropic_memory import HoldfastMemoryTool

    tool, bare = HoldfastMemoryTool(hub), holdfast.tools("anthropic", hub)
    path = "/memories/a.md"
    tool.call({"command": "create", "path": path, "file_text": "One line.\n"})
    look = {"command": "view", "path": path}
    return [Pair("view", lambda n: tool.call(look), lambda n: bare.call("memory", look))]


ADAPTERS: dict[str, Callable[[Holdfast, HubMemory], list[Pair]]] = {
    "langgraph": langgraph,
    "mem0": mem0,
    "openai-agents": openai_agents,
    "pydantic-ai": pydantic_ai,
    "llama-index": llama_index,
    "google-adk": google_adk,
    "smolagents": smolagents,
    "anthropic": anthropic,
}


def measure(name: str, rounds: int) -> None:
    """Prints a row for each act of an adapter."""
    with (
        tempfile.TemporaryDirectory() as home,
        holdfast.open(home, embedder=RandomEmbedder()) as memory,
    ):
        hub = _filled(memory.create_hub("agents.user.alice"))
        for pair in ADAPTERS[name](memory, hub):
            ours, bare = Times(), Times()
            for n in range(rounds + _WARM_UP):
                if n < _WARM_UP:
                    pair.adapter(n)
                    pair.bare(n)
                    continue
                ours.add(lambda n=n, pair=pair: pair.adapter(n))  # type: ignore[misc]
                bare.add(lambda n=n, pair=pair: pair.bare(n))  # type: ignore[misc]
            ratio = ours.cpu_p50_ms / bare.cpu_p50_ms
            print(
                f"{name:14} {pair.name:14} {ours.cpu_p50_ms:8.2f} ms {bare.cpu_p50_ms:8.2f} ms"
                f" {ratio:6.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ADAPTERS, []])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        measure(given.names[0], given.rounds)
        return
    print(f"{'adapter':14} {'act':14} {'adapter':>11} {'library':>11} {'ratio':>6}", flush=True)
    for name in given.names or ADAPTERS:
        folder = Path(sys.prefix) / "frameworks" / f"{name}-high"
        path = os.pathsep.join(str(one) for one in (folder, _ROOT / "src", _ROOT))
        words = [name, "--here", "--rounds", str(given.rounds)]
        subprocess.run(
            [sys.executable, "-m", "bench.adapters", *words],
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )


if __name__ == "__main__":
    main()
