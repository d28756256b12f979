"""Does recall answer as it did before? Writes every answer to the digit, and compares two runs.

    export PYTHONHASHSEED=0
    python -m bench.recall_answers answers.jsonl [FILE...] [--sizes 2000 20000] [--cache FOLDER]
    python -m bench.recall_answers after.jsonl [the same] --against answers.jsonl

Run it once with the code of before and once with the code of after, with one seed of hashes: sums
over sets differ in their last digit with another. Hits, scores, parts, reasons,
probabilities, confidence, what was left out and what was superseded are written. The hubs:

- the stores of the files, as they grow, with the bundled model (`--cache` keeps its vectors)
- a made-up hub with turns, states, keys, metadata, pins, expiries, past versions and texts without
  vectors, asked with filters, about the past, by words alone and with explanations, before and
  after writes
- made-up hubs of the given sizes; both runs need the same ones (`--home`), as two imports of the
  same texts may index a few terms more or less

The clock is fixed and ids are counted, so that two runs differ only where the code does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import zip_longest
from typing import Any

import holdfast
from bench.measure import RandomEmbedder, drained
from bench.texts import SPEAKERS, Texts
from holdfast.domain.query import Recalled
from holdfast.embed.providers import find_embedder
from holdfast.evaluation import CachedEmbedder, Collection, read_stores
from holdfast.testing import START, CountedIds, FixedClock

QUESTIONS = 100
MIXED_MEMORIES = 3_000
MIXED_TURNS = 400
LATE = 60  # memories and turns without vectors
SHOWN_DIFFERENCES = 5

# How a made-up hub is asked, in turns.
_USUAL: tuple[dict[str, Any], ...] = (
    {"limit": 10},
    {"limit": 5, "explain": True},
    {"limit": 10, "meaning": False},
)
_FILTERED: tuple[dict[str, Any], ...] = (
    *_USUAL,
    {"turns": False},
    {"layer": "turn"},
    {"tags": ["red"]},
    {"kind": "procedural", "explain": True},
    {"session": "session-3"},
    {"where": {"priority": {"gte": 3}}},
    {"include_archived": True},
    {"since": START - timedelta(days=400), "until": START - timedelta(days=200)},
    {"as_of": START + timedelta(days=1), "explain": True},
    {"as_of": START + timedelta(days=40)},
    {"project": "red"},
    {"around": 2},
    {"limit": 100},
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall_answers")
    parser.add_argument("out", help="the answers are written there, one a line")
    parser.add_argument("files", nargs="*", help="test stores")
    parser.add_argument("--sizes", type=int, nargs="*", default=[2_000, 20_000])
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument("--home", metavar="FOLDER", help="keep made-up hubs between runs")
    parser.add_argument("--against", metavar="FILE", help="the answers of another run")
    args = parser.parse_args()
    count = 0
    with open(args.out, "w", encoding="utf-8") as out:
        for name, asked, answer in answers(args):
            line = {"hub": name, "asked": asked, **plain(answer)}
            out.write(json.dumps(line, default=str, ensure_ascii=False) + "\n")
            count += 1
    print(f"{count} answers")
    if args.against:
        raise SystemExit(compare(args.against, args.out))


Answers = Iterator[tuple[str, Any, Recalled]]


def answers(args: argparse.Namespace) -> Answers:
    found = find_embedder("auto") if args.files else None
    embedder = None if found is None else CachedEmbedder(found, args.cache)
    for path in args.files:
        for store in read_stores(path):
            yield from of_store(store, embedder)
    yield from of_mixed_hub()
    for size in args.sizes:
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as scratch:
            yield from of_made_up_hub(os.path.join(args.home or scratch, f"answers-{size}"), size)


def opened(folder: str, clock: FixedClock, ids: CountedIds, embedder: Any, **settings: Any) -> Any:
    chosen = {"recall.deadline_s": 60.0, "store.url": "", **settings}
    return holdfast.open(folder, clock=clock, ids=ids, embedder=embedder, settings=chosen)


def of_store(store: Collection, embedder: Any) -> Answers:
    clock = FixedClock(max((doc.time for doc in store.docs if doc.time), default=START))
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder,
        opened(folder, clock, CountedIds(), embedder) as memory,
    ):
        hub = memory.create_hub("bench")
        done = 0
        everything = len(store.docs)
        questions = sorted(store.questions, key=lambda one: one.upto or everything)
        for at, question in enumerate(questions):
            new = store.docs[done : question.upto or everything]
            done += len(new)
            drained(
                hub.remember_stream(
                    {
                        "content": doc.text,
                        "session": doc.session,
                        "speaker": doc.speaker,
                        "occurred_at": doc.time,
                    }
                    for doc in new
                )
            )
            how = _USUAL[at % len(_USUAL)] if at % 4 == 0 else _USUAL[0]
            answer = hub.recall(question.text, now=question.asked_at, **how)
            yield store.name, [question.text, how], answer


def of_made_up_hub(folder: str, size: int) -> Answers:
    os.makedirs(folder, exist_ok=True)
    with opened(folder, FixedClock(), CountedIds(), RandomEmbedder()) as memory:
        if memory.hubs():
            hub = memory.hub("bench")
        else:
            hub = memory.create_hub("bench")
            drained(hub.remember_stream(Texts().memories(size)))
        texts = Texts(seed=11)
        for at in range(QUESTIONS):
            question = texts.common_question() if at % 5 == 4 else texts.question()
            how = _USUAL[at % len(_USUAL)]
            yield f"made-up {size}", [question, how], hub.recall(question, **how)


def of_mixed_hub() -> Answers:
    clock, ids = FixedClock(), CountedIds()
    texts, chance = Texts(seed=5), random.Random(5)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        with opened(folder, clock, ids, RandomEmbedder()) as memory:
            hub = memory.create_hub("bench")
            _fill(hub, clock, texts, chance, MIXED_MEMORIES, MIXED_TURNS)
            memory.core.wait()
            # Once more for turns that were logged while it ended.
            memory.core.catch_up()
            memory.core.wait()
        with opened(folder, clock, ids, None, **{"embed.model": "none"}) as memory:
            _fill(memory.hub("bench"), clock, texts, chance, LATE, LATE)
        with opened(folder, clock, ids, RandomEmbedder(), **{"embed.background": False}) as memory:
            hub = memory.hub("bench")
            asked = _mixed_questions(hub, texts, chance)
            yield from _asked(hub, "mixed", asked)
            _change(hub, clock, texts, chance)
            yield from _asked(hub, "mixed, after writes", asked)
            for at, question in enumerate(asked):
                # Each is asked right after a write.
                hub.remember(texts.text(), session=f"session-{at % 7}", speaker="Dov")
                yield "mixed, between writes", question, hub.recall(question)


def _asked(hub: Any, name: str, questions: Sequence[str]) -> Answers:
    for at, question in enumerate(questions):
        for how in (_FILTERED[0], _FILTERED[at % len(_FILTERED)]):
            yield name, [question, how], hub.recall(question, **how)


def _mixed_questions(hub: Any, texts: Texts, chance: random.Random) -> list[str]:
    contents = [memory.content for memory in hub.scan()]
    said = [turn.content for turn in hub.turns(limit=200)]
    out = []
    for at in range(QUESTIONS):
        words = chance.choice(said if at % 3 == 0 else contents).rstrip(".?").split()
        some = " ".join(chance.sample(words, min(len(words), chance.randint(1, 6))))
        name = chance.choice(SPEAKERS)
        forms = (
            f"What did {name} say about {some}?",
            some,
            f"When was {some}? And why did we choose {words[0]} last week?",
            f'"{" ".join(words[:2])}" {some} -{words[-1]}',
            f"tag:red {some}",
            texts.question(),
            said[at % len(said)],
        )
        out.append(forms[at % len(forms)])
    return out


def _fill(
    hub: Any, clock: FixedClock, texts: Texts, chance: random.Random, memories: int, turns: int
) -> None:
    drafts = []
    for number, draft in enumerate(texts.memories(memories)):
        if number % 2:
            draft = {"content": draft["content"]}
        if number % 10 == 3:
            draft["content"] = draft["content"].rstrip(".") + "?"
        if number % 11 == 0:
            draft["content"] = "\n\n".join(texts.text() for _ in range(30))
        if number % 7 == 0:
            draft["metadata"] = {"priority": number % 5, "project": "red" if number % 3 else "blue"}
        if number % 13 == 0:
            draft["key"] = f"key-{hub.statistics().memories}-{number}"
        if number % 17 == 0:
            draft["expires_at"] = clock.now() + timedelta(days=chance.randint(1, 60))
        if number % 19 == 0:
            draft["valid_until"] = clock.now() + timedelta(days=chance.randint(1, 60))
        if number % 5 == 0:
            draft["tags"] = ["red"] if number % 2 else ["blue", "red"]
        draft["kind"] = chance.choice(["semantic", "procedural", "episodic"])
        draft["stability"] = chance.choice(["stable", "evolving", "volatile"])
        drafts.append(draft)
    drained(hub.remember_stream(drafts))
    for number in range(turns):
        content = texts.question() if number % 4 == 0 else texts.text()
        role = "user" if number % 2 == 0 else "assistant"
        clock.tick()
        hub.log_turn(role, content, session=f"chat-{number // 10}", source="bench")


def _change(hub: Any, clock: FixedClock, texts: Texts, chance: random.Random) -> None:
    """Everything that may make what a reader knows wrong."""
    clock.tick(days=30)
    numbers = chance.sample(range(1, MIXED_MEMORIES), 400)
    for at, number in enumerate(numbers):
        match at % 8:
            case 0:
                hub.pin(number)
            case 1:
                hub.archive(number)
            case 2:
                hub.forget(number)
            case 3:
                hub.update(number, content=texts.text())
            case 4:
                hub.access(number)
            case 5:
                hub.update(number, stability="volatile", tags=["red", "new"])
            case 6:
                hub.update(number, valid_until=clock.now() + timedelta(days=1))
            case _:
                hub.remember(texts.text(), supersedes=hub.get(number).id)
    clock.tick(days=15)
    for _ in range(5):
        hub.log_turn("user", texts.question(), session="chat-new")


def plain(answer: Recalled) -> dict[str, Any]:
    return {
        "hits": [
            {
                **hit._asdict(),
                # When it is counted that a memory was shown is not part of an answer.
                "memory": list(hit.memory._replace(shown_count=0)),
                "turn": hit.turn and list(hit.turn),
                "around": [turn.id for turn in hit.around],
            }
            for hit in answer
        ],
        "confidence": answer.confidence,
        "degraded": answer.degraded,
        "filtered": answer.filtered,
        "left_out": [[one.memory.id, one.reason, one.score] for one in answer.left_out],
        "superseded": [memory.id for memory in answer.superseded],
        "unknown_names": answer.unknown_names,
    }


def compare(before: str, after: str) -> int:
    """Prints how many answers differ, and the first of them; 1 where any does."""
    different = []
    with open(before, encoding="utf-8") as old, open(after, encoding="utf-8") as new:
        for one, two in zip_longest(old, new):
            if one != two:
                different.append((json.loads(one or "{}"), json.loads(two or "{}")))
    print(f"{len(different)} differ")
    for one, two in different[:SHOWN_DIFFERENCES]:
        print(f"\n{one.get('hub')}: {one.get('asked')}")
        for path in _differences(one, two)[:SHOWN_DIFFERENCES]:
            print(f"  {path}")
    return 1 if different else 0


def _differences(one: Any, two: Any, path: str = "") -> list[str]:
    """Where two values differ, and how."""
    if isinstance(one, dict) and isinstance(two, dict):
        keys = [*one, *(key for key in two if key not in one)]
        return [
            d for key in keys for d in _differences(one.get(key), two.get(key), f"{path}.{key}")
        ]
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = enumerate(zip(one, two, strict=True))
        return [d for at, pair in pairs for d in _differences(*pair, f"{path}[{at}]")]
    return [] if one == two else [f"{path}: {str(one)[:200]} -> {str(two)[:200]}"]


if __name__ == "__main__":
    main()
