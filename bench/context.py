"""How long does the block for a prompt take to build?

    python -m bench.context [--memories 10000] [--rounds 40]

One hub with that many long-term memories. The bare cost is reading all their rows from the store,
which is what `explain` does; without it the store only names them in order, and as many are read as
the block holds. No model is asked: the question is answered by words.
"""

from __future__ import annotations

import argparse
import tempfile

import holdfast
from bench.measure import Times, drained
from bench.texts import Texts
from holdfast.domain.query import Filter
from holdfast.engine.reading.listing import list_memories


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.context")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=40)
    args = parser.parse_args()
    settings = {"embed.model": "none"}
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home,
        holdfast.open(home, settings=settings) as memory,
    ):
        hub = memory.create_hub("bench")
        texts = Texts()
        layer = {"layer": "long_term", "session": None, "category": "fact"}
        drained(hub.remember_stream({**one, **layer} for one in texts.memories(args.memories)))
        print(f"{args.memories:,} long-term memories")
        measure(hub, texts, args.rounds)


def measure(hub: holdfast.HubMemory, texts: Texts, rounds: int) -> None:
    bare, block, tokens, asked, explained = (Times() for _ in range(5))
    wanted = Filter(layers=("long_term",), states=("active",))
    for _ in range(rounds):
        bare.add(lambda: list_memories(hub.scope, wanted, order="number"))
        block.add(hub.context)
        tokens.add(lambda: hub.context(unit="tokens", budget=4_000))
        asked.add(lambda: hub.context(texts.question()))
        explained.add(lambda: hub.context(explain=True))
    print(f"  reading the rows        {bare}")
    print(f"  context                 {block}")
    print(f"  context, 4,000 tokens   {tokens}")
    print(f"  context with a question {asked}")
    print(f"  context, explained      {explained}")
    print(f"  context / reading       {block.p50_ms / bare.p50_ms:8.2f}")


if __name__ == "__main__":
    main()
