"""What does it cost that turns are recalled? Beside as many memories of the same texts.

    python -m bench.turns [--turns 100000] [--observed 400]

`observe_turn` (both sides, durable, with the words in the index), the work in the background for
each turn (its vectors, with the bundled model), bytes on disk, and recall in a hub of that many
turns beside one of that many memories, asked in turns. Vectors of the large hubs are drawn at
random: they cost the same to keep and to compare.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from datetime import UTC, datetime, timedelta

import holdfast
from bench.measure import RandomEmbedder, Times, drained, timed_ms, verdict
from bench.texts import Texts
from holdfast.domain.records import Turn
from holdfast.embed.find import find_embedder
from holdfast.engine.writing.embedding import embed_missing

QUESTIONS = 120
LIMIT = 10
# Rows of one transaction while the large hub is filled.
_BATCH = 2_000
_START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.turns")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--observed", type=int, default=400)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        observing(os.path.join(home, "observed"), args.observed)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        recalling(home, args.turns)


def observing(home: str, count: int) -> None:
    texts = Texts()
    said = [one["content"] for one in texts.memories(2 * count)]
    taking, bare = Times(), Times()
    with holdfast.open(home, embedder=find_embedder("auto")) as memory:
        memory.core.set_worked(True)
        hub = memory.create_hub("bench")
        for number in range(count):
            user, assistant = said[2 * number], said[2 * number + 1]
            taking.returned(hub.observe_turn, user, assistant, session=f"s{number // 20}")
            bare.returned(_empty_write, memory)
        made = timed_ms(lambda: embed_missing(memory.core))
        size = hub.log_size()
    print(f"{count:,} turns, {size.text_bytes // size.turns} bytes a side")
    print(f"  observe_turn                 {taking}")
    print(f"  an empty durable write       {bare}")
    p50 = taking.cpu_p50_ms if hasattr(taking, "cpu_p50_ms") else sorted(taking.cpu_ms)[count // 2]
    print(f"  observe_turn, processor, ms  {p50:8.2f} {verdict(p50, 3, at_most=True)}")
    print(f"  background, a turn           {made / (2 * count):8.2f} ms")
    disk = os.path.getsize(os.path.join(home, "memory.db"))
    print(f"  on disk, a turn              {disk // (2 * count):8,} bytes")


def _empty_write(memory: holdfast.Holdfast) -> None:
    with memory.core.store.write() as writer:
        writer.put_record(holdfast_record(memory))


def holdfast_record(memory: holdfast.Holdfast) -> object:
    from holdfast.domain.records import NO_HUB, Record

    return Record(NO_HUB, "bench", "bench", memory.core.now(), {})


def recalling(home: str, count: int) -> None:
    settings = {"recall.deadline_s": 60.0}
    with holdfast.open(home, embedder=RandomEmbedder(), settings=settings) as memory:
        memories, turns = memory.create_hub("memories"), memory.create_hub("turns")
        drained(memories.remember_stream(Texts().memories(count)))
        fill_turns(memory, turns, count)
        texts = Texts(seed=11)
        questions = [texts.question() for _ in range(QUESTIONS)]
        for hub in (memories, turns):
            hub.recall(questions[0], limit=LIMIT)
        of_memories, of_turns = Times(), Times()
        for question in questions:
            of_memories.returned(memories.recall, question, limit=LIMIT)
            of_turns.returned(turns.recall, question, limit=LIMIT)
    print(f"{count:,} of each, the same texts")
    print(f"  recall among memories        {of_memories}")
    print(f"  recall among turns           {of_turns}")
    ratio = of_turns.p50_ms / of_memories.p50_ms
    print(f"  turns / memories             {ratio:8.2f} {verdict(ratio, 1.3, at_most=True)}")


def fill_turns(memory: holdfast.Holdfast, hub: holdfast.HubMemory, count: int) -> None:
    every = list(Texts().memories(count))
    for start in range(0, count, _BATCH):
        with memory.core.store.write(hub=hub.id) as writer:
            for number, one in enumerate(every[start : start + _BATCH], start):
                role = "assistant" if number % 2 else "user"
                at = _START + timedelta(minutes=number)
                turn_id = memory.core.ids.next("trn")
                writer.add_turn(
                    Turn(turn_id, hub.id, role, one["content"], at, session=one.get("session"))
                )
    embed_missing(memory.core)


if __name__ == "__main__":
    main()
