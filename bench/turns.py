"""What does it cost that turns are recalled? Beside as many memories of the same texts.

    python -m bench.turns [--turns 100000] [--observed 400] [--chars 0]
    python -m bench.turns --replay FILE [--limit 100]

`observe_turn` (both sides, durable, with the words in the index), the work in the background for
each turn (its vectors, with the bundled model), bytes on disk, and recall in a hub of that many
turns beside one of that many memories, asked in turns. With `--chars`, each side of an observed
turn has so many characters, and nothing is recalled. With `--replay`, the first turns of each
store of FILE are shown one right after the other, without the threads that note and embed earlier
turns and beside them (whose time of the processor counts too, then), in turns with an empty durable
write, and nothing else is measured. Vectors of the large hubs are drawn at random: they cost the
same to keep and to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import holdfast
from bench.bulk import fill
from bench.measure import RandomEmbedder, Times, timed_ms, verdict
from bench.memory import Said, turns_of
from bench.texts import Texts
from holdfast.domain.records import Turn
from holdfast.embed.providers import find_embedder
from holdfast.engine.late_words import index_late_turns
from holdfast.engine.writing.indexing import embed_missing
from holdfast.evaluation.run import percentile

QUESTIONS = 120
LIMIT = 10
# Rows of one transaction while the large hub is filled.
_BATCH = 2_000
_START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.turns")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--observed", type=int, default=400)
    parser.add_argument("--chars", type=int, default=0, help="length of each side of a turn")
    parser.add_argument("--replay", metavar="FILE", default="")
    parser.add_argument("--limit", type=int, default=100, help="turns of each store to replay")
    args = parser.parse_args()
    if args.replay:
        replaying(args.replay, args.limit)
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        observing(os.path.join(home, "observed"), args.observed, args.chars)
    if args.chars:
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        recalling(home, args.turns)


def observing(home: str, count: int, chars: int) -> None:
    texts = Texts()
    said = [text_of(texts, chars) for _ in range(2 * count)]
    taking, bare = Times(), Times()
    with holdfast.open(home, embedder=find_embedder("auto")) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("bench")
        for number in range(count):
            user, assistant = said[2 * number], said[2 * number + 1]
            taking.returned(hub.observe_turn, user, assistant, session=f"s{number // 20}")
            bare.returned(_empty_write, memory)
        made = 0.0 if chars else timed_ms(lambda: embed_missing(memory.core))
        index_late_turns(memory.core, hub.id, wait=True)
        size = hub.log_size()
    print(f"{count:,} turns, {size.text_bytes // size.turns} bytes a side")
    print(f"  observe_turn                 {taking}")
    print(f"  an empty durable write       {bare}")
    print(f"  observe_turn, processor, ms  {_by_processor(taking)}")
    print(f"  background, a turn           {made / (2 * count):8.2f} ms")
    disk = os.path.getsize(os.path.join(home, "memory.db"))
    print(f"  on disk, a turn              {disk // (2 * count):8,} bytes")


def replaying(path: str, limit: int) -> None:
    """`observe_turn` without and beside the threads of the library, store by store in turns."""
    with open(path, encoding="utf-8") as lines:
        stores = [list(turns_of(json.loads(line)["docs"]))[:limit] for line in lines]
    alone, beside, bare = Times(), Times(), Times()
    for turns in stores:
        for times, worked in ((alone, True), (beside, False)):
            with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
                _show(home, turns, times, bare, worked=worked)
    print(f"  an empty durable write             {bare}")
    for name, times in (("without the threads", alone), ("beside the threads", beside)):
        print(f"  observe_turn, {name:20} {times}")
        print(f"    of the processor, ms             {_by_processor(times)}")


def _by_processor(times: Times) -> str:
    p95 = percentile(times.cpu_ms, 0.95)
    return f"p50 {times.cpu_p50_ms:.2f}, p95 {p95:.2f} {verdict(p95, 3, at_most=True)}"


def _show(home: str, turns: Sequence[Said], times: Times, bare: Times, *, worked: bool) -> None:
    """Shows memory these turns. The first one loads modules, and is not counted."""
    # None is left out, however slow the machine.
    settings = {
        "shadowJournal.enabled": True,
        "shadowJournal.queueMax": 10_000,
        "embed.background": not worked,
    }
    with holdfast.open(home, embedder=find_embedder("auto"), settings=settings) as memory:
        assert memory.core.embedder is not None, "the bundled model is needed"
        memory.core.embedder.embed_query("loads the model")
        hub = memory.create_hub("bench")
        hub.observe_turn("Hello!", "Hello.")
        memory.core.wait()
        memory.core.set_has_worker(worked)
        for one in turns:
            times.returned(
                hub.observe_turn, one.user, one.assistant, session=one.session, at=one.at
            )
            bare.returned(_empty_write, memory)
        memory.core.wait()


def text_of(texts: Texts, chars: int) -> str:
    """A text of so many characters, or of the usual length where it is 0."""
    out = texts.text()
    while len(out) < chars:
        out += f" {texts.text()}"
    return out[:chars] if chars else out


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
        fill(memory.core.store, memories.id, Texts().memories(count), count=count)
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
    cpu = of_turns.cpu_p50_ms / of_memories.cpu_p50_ms
    said = verdict(ratio, 1.3, at_most=True)
    print(f"  turns / memories             {ratio:8.2f} {said}; cpu {cpu:.2f}")


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
