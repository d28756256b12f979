"""What does automatic memory take in, is it said so, and what does it cost?

    python -m bench.capture [FILE] [--rows N] [--turns N]

Replays conversations turn by turn with the offline rules, through `observe_turn` and the journaler.
Each person of a conversation is the user once, with a hub of their own, and the other one stands
for the assistant. FILE holds test stores (see bench/README.md); without one, the small set that
ships is replayed, which shows that the command works. Then the model calls and tokens of each pass
are counted with a scripted model: what is sent is real, what comes back is written here.
`--rows N` prints N rows of what was kept, chosen evenly, to be read by a person.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import holdfast
from bench.measure import Times
from holdfast import Holdfast, HubMemory, Memory
from holdfast.evaluation import sample_path
from holdfast.llm import Answer, Usage
from holdfast.passes.work import work_until_done
from holdfast.testing import Asked, FixedClock, ScriptedModel, call
from holdfast.text.analysis.terms import terms
from holdfast.text.capture import capture
from holdfast.text.chunking import count_tokens
from holdfast.text.facts.statements import words_key
from holdfast.text.grounding import Unsupported, ground

# Turns between two times at which the queue is worked off: less than it holds.
_BATCH = 50
_NOON = datetime(2026, 1, 14, 12, tzinfo=UTC)


class Said(NamedTuple):
    """One turn: who is the user here, what both said, and when."""

    hub: str
    user: str
    assistant: str
    at: datetime


def conversations(path: Path, turns_max: int) -> Iterator[list[Said]]:
    """The turns of each person of each conversation."""
    for line in path.read_text("utf-8").splitlines():
        store = json.loads(line)
        docs = [doc for doc in store["docs"] if doc.get("speaker")]
        for speaker in sorted({doc["speaker"] for doc in docs} - {"assistant", "Assistant"}):
            turns = [
                Said(f"{store['store']}-{speaker}".lower(), doc["text"], answer, _time(doc))
                for doc, answer in zip(docs, [*(doc["text"] for doc in docs[1:]), ""], strict=True)
                if doc["speaker"] == speaker
            ]
            yield turns[:turns_max]


def _time(doc: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(doc["time"]) if doc.get("time") else _NOON


def opened(home: str, model: ScriptedModel | None = None) -> Holdfast:
    settings = {
        "embed.model": "none",
        "shadowJournal.enabled": True,
        "time_zone": "UTC",
        # So that each row can be compared with the turn it points to.
        "log.keep": 10_000,
    }
    memory = holdfast.open(home, settings=settings, model=model, clock=FixedClock())
    # The queue is worked off here, at times that the benchmark chooses.
    memory.core.set_has_worker(True)
    return memory


# What the rules take in


def replay(memory: Holdfast, turns: list[Said]) -> HubMemory:
    hub = memory.hub(turns[0].hub, create=True)
    for number, turn in enumerate(turns, start=1):
        hub.observe_turn(turn.user, turn.assistant, at=turn.at)
        if number % _BATCH == 0 or number == len(turns):
            work_until_done(memory.core, memory.home)
    return hub


def turns_of(hub: HubMemory) -> Iterator[holdfast.Turn]:
    """The whole log, page by page."""
    before = None
    while page := hub.turns(limit=100, before=before):
        yield from page
        before = page[-1].id


def support_of(memory: Memory, turns: dict[str, holdfast.Turn]) -> str:
    """'' when the words that a memory points to say so, and why not otherwise."""
    origin = memory.origin
    turn = turns.get(origin.turn) if origin else None
    if origin is None or turn is None:
        return "no turn"
    found = ground(memory.content, turn.content[origin.start : origin.end], at=turn.at)
    return found.reason if isinstance(found, Unsupported) else ""


def measure_capture(path: Path, *, rows_shown: int, turns_max: int) -> None:
    turns = rows = twins = 0
    reasons: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    kept: list[str] = []
    passing, reading, tokenising = Times(), Times(), Times()
    # The rules are compiled once a process.
    capture("I prefer tabs", at=_NOON)
    with tempfile.TemporaryDirectory() as home, opened(home) as memory:
        for said in conversations(path, turns_max):
            found: list[HubMemory] = []
            passing.add(lambda: found.append(replay(memory, said)))  # noqa: B023 - called here
            hub = found[0]
            memories = list(hub.list(source="extraction"))
            logged = {turn.id: turn for turn in turns_of(hub)}
            turns, rows = turns + len(said), rows + len(memories)
            twins += len(memories) - len({words_key(one.content) for one in memories})
            reasons.update(support_of(one, logged) for one in memories)
            for day in hub.captured(days=100_000):
                outcomes.update(day.outcomes)
            kept += [one.content for one in memories]
            reading.add(lambda: [capture(turn.user, at=turn.at) for turn in said])  # noqa: B023
            tokenising.add(lambda: [terms(turn.user) for turn in said])  # noqa: B023
    supported = reasons.pop("", 0)
    read, bare = sum(reading.cpu_ms), sum(tokenising.cpu_ms)
    print(f"turns                          {turns}")
    print(f"rows per 100 turns             {100 * rows / max(1, turns):.1f}   ({rows} rows)")
    print(f"duplicates                     {twins}")
    print(f"supported by their span        {supported} of {rows}   {dict(reasons) or ''}")
    print(f"outcomes of what was proposed  {dict(outcomes.most_common())}")
    print(f"rules / bare tokenising        {read / bare:.1f}   ({read / turns:.2f} ms a turn)")
    print(f"whole pass, log and journal    {sum(passing.cpu_ms) / turns:.1f} ms a turn")
    step = max(1, len(kept) // rows_shown) if rows_shown else 0
    for text in kept[::step][:rows_shown] if step else []:
        print(f"  - {text}")


# What models cost


class Cost(NamedTuple):
    """What a pass asked of a model."""

    requests: int
    tokens_in: int
    tokens_out: int


def _weighed(answers: list[Any]) -> ScriptedModel:
    """A model whose answers are scripted, and whose price is what was really sent."""

    def weigh(answer: Any) -> Callable[[Asked], Answer]:
        def answered(asked: Asked) -> Answer:
            said = answer if isinstance(answer, Answer) else Answer(answer)
            sent = asked.system + "".join(message.text for message in asked.messages)
            sent += "".join(
                made.arguments for message in asked.messages for made in message.calls
            ) + json.dumps([tool._asdict() for tool in asked.tools])
            told = said.text + "".join(made.name + made.arguments for made in said.calls)
            return said._replace(usage=Usage(1, count_tokens(sent), count_tokens(told)))

        return answered

    return ScriptedModel([weigh(answer) for answer in answers], again=True)


def _spent(hub: HubMemory) -> Cost:
    used = hub.usage(days=1)
    return Cost(
        sum(row.requests for row in used),
        sum(row.tokens_in for row in used),
        sum(row.tokens_out for row in used),
    )


_USER = "We moved the launch to March, and I prefer short status notes. Can you draft one?"
_ASSISTANT = "Of course. " + "Here is a draft that says what changed and what comes next. " * 6
_SEARCH = call("memory_search", {"query": "launch"})
_PROPOSE = call("remember", {"content": "Prefers short status notes", "quote": "I prefer short"})


def _journal(answers: list[Any], known: int) -> Cost:
    with tempfile.TemporaryDirectory() as home, opened(home, _weighed(answers)) as memory:
        hub = memory.hub("work", create=True)
        hub.remember_many([f"The launch of part {n} is planned for spring." for n in range(known)])
        hub.observe_turn(_USER, _ASSISTANT)
        work_until_done(memory.core, memory.home)
        return _spent(hub)


def _consolidation(days: int, lines: int) -> Cost:
    promote = call("promote", {"sources": [1], "text": "Prefers short status notes"})
    model = _weighed([promote, "done"])
    with tempfile.TemporaryDirectory() as home, opened(home, model) as memory:
        hub = memory.hub("work", create=True)
        now = hub.core.now()
        for number in range(days * lines):
            at = now - timedelta(days=number % days, minutes=number)
            hub.journal_add(f"Agreed on step {number} of the plan with the team.", at=at)
        hub.plan_consolidation()
        return _spent(hub)


def measure_cost() -> None:
    print("\npass                                    calls  tokens in  tokens out")
    table = {
        "rules, any turn": Cost(0, 0, 0),
        "journaler, nothing new": _journal(["Nothing."], 0),
        "journaler, one fact": _journal([_PROPOSE, "Done."], 0),
        "journaler, search and one fact": _journal([_SEARCH, _PROPOSE, "Done."], 5),
        "journaler, a model that never ends": _journal([_SEARCH], 5),
        "consolidation, a day of 10 lines": _consolidation(1, 10),
        "consolidation, a week of 70 lines": _consolidation(7, 10),
    }
    for name, cost in table.items():
        print(f"{name:<40}{cost.requests:5}{cost.tokens_in:11}{cost.tokens_out:12}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.capture")
    parser.add_argument("file", nargs="?", type=Path, default=Path(sample_path()))
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--turns", type=int, default=100_000)
    args = parser.parse_args()
    measure_capture(args.file, rows_shown=args.rows, turns_max=args.turns)
    measure_cost()


if __name__ == "__main__":
    main()
