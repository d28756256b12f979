"""Does the block for a prompt hold what answers, when all that memory was shown is a conversation?

    python -m bench.memory [FILE...] [--limit-stores N] [--limit-queries N] [--cache FOLDER]

Replays conversations turn by turn through `observe_turn`, at the turns' own times. Three days after
the last turn each question asks for its block, at several budgets. A question counts where one line
of the block covers at least 60 % of the content words, and at least two, of a sentence of a turn
that answers it. Beside it: the same block without turns; the ceiling, for which each turn is a
memory and whole hits of recall fill the budget; and what a hook adds to the question as a prompt.
At last the questions are asked in another person's hub, where nothing should be 'relevant now'.

FILE holds test stores (see bench/README.md); without one, the small set that ships is replayed.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import holdfast
from bench.measure import Times
from bench.recall import SEEN_BY_MODEL
from holdfast import Holdfast, HubMemory
from holdfast.api.prompt_blocks import prompt_block
from holdfast.embed.providers import find_embedder
from holdfast.engine.writing.indexing import embed_missing
from holdfast.evaluation import CachedEmbedder, sample_path
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock
from holdfast.text.analysis.terms import terms

BUDGETS = (1_000, 2_000, 4_000)
COVERED = 0.6
WORDS_LEAST = 2
LATER = timedelta(days=3)
RELEVANT = "## relevant now"
_NOON = datetime(2026, 1, 14, 12, tzinfo=UTC)
_SENTENCES = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
_ROLES = ("user", "assistant")
# Turns between two times at which the queue of the journaler is worked off: less than it holds.
_BATCH = 50


class Said(NamedTuple):
    """Both sides of a turn, or one; and the name of the user where there is one."""

    user: str
    assistant: str
    session: str | None
    at: datetime
    speaker: str | None


def turns_of(docs: Sequence[dict[str, Any]]) -> Iterator[Said]:
    """The turns of a conversation: what an assistant says belongs to the user's words before it;
    where people have names, each line is a turn of a user."""
    waiting: dict[str, Any] | None = None
    for doc in docs:
        speaker = (doc.get("speaker") or "user").casefold()
        if waiting is not None and (speaker != "assistant" or _session(doc) != _session(waiting)):
            yield Said(waiting["text"], "", _session(waiting), _time(waiting), None)
            waiting = None
        if speaker not in _ROLES:
            yield Said(doc["text"], "", _session(doc), _time(doc), doc["speaker"])
        elif speaker == "user":
            waiting = doc
        else:
            user = "" if waiting is None else waiting["text"]
            yield Said(user, doc["text"], _session(doc), _time(doc), None)
            waiting = None
    if waiting is not None:
        yield Said(waiting["text"], "", _session(waiting), _time(waiting), None)


def _session(doc: dict[str, Any]) -> str | None:
    return None if doc.get("session") is None else str(doc["session"])


def _time(doc: dict[str, Any]) -> datetime:
    at = datetime.fromisoformat(doc["time"]) if doc.get("time") else _NOON
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class Goal(NamedTuple):
    """A question, and the content words of each sentence that answers it."""

    question: str
    sentences: tuple[frozenset[str], ...]


def goals_of(store: dict[str, Any]) -> list[Goal]:
    texts = {doc["id"]: doc["text"] for doc in store["docs"]}
    out = []
    for query in store["queries"]:
        if query.get("category") == "adversarial" or not query["gold"]:
            continue
        sentences = [
            frozenset(terms(sentence))
            for gold in query["gold"]
            for sentence in _SENTENCES.split(texts[gold])
        ]
        kept = tuple(one for one in sentences if len(one) >= WORDS_LEAST)
        if kept:
            out.append(Goal(query["text"], kept))
    return out


def is_answered(goal: Goal, block: str) -> bool:
    lines = [set(terms(line)) for line in block.splitlines()]
    return any(
        len(sentence & line) >= max(WORDS_LEAST, COVERED * len(sentence))
        for sentence in goal.sentences
        for line in lines
    )


# Replaying


def opened(home: str, embedder: Any, clock: FixedClock, **settings: Any) -> Holdfast:
    memory = holdfast.open(
        home,
        settings={
            "shadowJournal.enabled": True,
            "time_zone": "UTC",
            # A busy machine makes no answer fail here.
            "recall.deadline_s": 60,
            **settings,
        },
        embedder=embedder,
        clock=clock,
    )
    # Jobs and vectors are worked off at times that the benchmark chooses.
    memory.core.set_has_worker(True)
    return memory


def replay(memory: Holdfast, clock: FixedClock, turns: Sequence[Said], times: Times) -> HubMemory:
    hub = memory.hub("replay", create=True)
    for number, turn in enumerate(turns, start=1):
        _set(clock, turn.at)
        times.returned(
            hub.observe_turn,
            turn.user,
            turn.assistant,
            session=turn.session,
            at=turn.at,
            speaker=turn.speaker,
        )
        if number % _BATCH == 0:
            work_until_done(memory.core, memory.home)
    work_until_done(memory.core, memory.home)
    embed_missing(memory.core)
    return hub


def _set(clock: FixedClock, at: datetime) -> None:
    if at > clock.now():
        clock.tick(seconds=(at - clock.now()).total_seconds())


def as_memories(memory: Holdfast, docs: Sequence[dict[str, Any]]) -> HubMemory:
    """The ceiling: each turn a memory of its own."""
    hub = memory.hub("ceiling", create=True)
    drafts = (
        {
            "content": doc["text"],
            "session": _session(doc),
            "speaker": doc.get("speaker"),
            "occurred_at": _time(doc),
            "layer": "library",
            "category": "conversation",
            "content_type": "text",
        }
        for doc in docs
    )
    for _ in hub.remember_stream(drafts):
        pass
    embed_missing(memory.core)
    return hub


def beside_prompt(hub: HubMemory, question: str) -> str:
    """What a hook adds to the question in a new conversation."""
    return prompt_block(hub, question, session="another", given=(), meaning=True).text


def whole_hits(hub: HubMemory, question: str, budget: int) -> str:
    """What recall finds, each passage on a line, as many as the budget holds."""
    out, used = [], 0
    for hit in hub.recall(question, limit=50, plain=True):
        line = f"- [#{hit.memory.number}] {' '.join(hit.passage.text.split())}"
        if used + len(line) + 1 > budget:
            continue
        out.append(line)
        used += len(line) + 1
    return "\n".join(out)


# Counting


class Counted:
    """How many of the questions were answered, by name of a column."""

    def __init__(self) -> None:
        self.questions = self.strangers = self.quiet = self.quiet_prompts = 0
        self.prompt_chars = 0
        self.hits: dict[str, int] = {}
        self.missed: list[str] = []

    def add(self, column: str, answered: bool) -> None:
        self.hits[column] = self.hits.get(column, 0) + answered

    def share(self, column: str) -> str:
        return f"{100 * self.hits.get(column, 0) / max(1, self.questions):5.1f} %"


def measure(
    stores: Sequence[dict[str, Any]], embedder: Any, strangers: Sequence[str], args: Any
) -> Counted:
    counted = Counted()
    observing, asking = Times(), Times()
    for place, store in enumerate(stores):
        turns = list(turns_of(store["docs"]))
        clock = FixedClock(min(turn.at for turn in turns))
        with (
            tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home,
            opened(home, embedder, clock) as memory,
            opened(home, embedder, clock, **{"context.turns": False}) as without,
        ):
            hub = replay(memory, clock, turns, observing)
            ceiling = None if args.no_ceiling else as_memories(memory, store["docs"])
            _set(clock, max(turn.at for turn in turns) + LATER)
            goals = goals_of(store)[: args.limit_queries]
            bare = without.hub(hub.name)
            for goal in goals:
                counted.questions += 1
                for budget in BUDGETS:
                    block = asking.returned(hub.context, goal.question, budget=budget)
                    counted.add(f"{budget}", is_answered(goal, block))
                    if budget == BUDGETS[-1] and args.missed and not is_answered(goal, block):
                        counted.missed.append(f"{goal.question}\n{block}")
                    if ceiling is not None:
                        hits = whole_hits(ceiling, goal.question, budget)
                        counted.add(f"{budget} ceiling", is_answered(goal, hits))
                    block = bare.context(goal.question, budget=budget)
                    counted.add(f"{budget} without turns", is_answered(goal, block))
                added = beside_prompt(hub, goal.question)
                counted.add("prompt", is_answered(goal, added))
                counted.prompt_chars += len(added)
            others = [g.question for g in goals_of(stores[place - 1])] if len(stores) > 1 else []
            for question in (others or list(strangers))[: args.limit_queries]:
                counted.strangers += 1
                counted.quiet += RELEVANT not in hub.context(question, budget=BUDGETS[-1])
                counted.quiet_prompts += not beside_prompt(hub, question)
    print(f"  observe_turn  {observing}")
    print(f"  context       {asking}")
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.memory")
    parser.add_argument("files", nargs="*", metavar="FILE", help="test stores, as lines of JSON")
    parser.add_argument("--limit-stores", type=int, metavar="N")
    parser.add_argument("--limit-queries", type=int, metavar="N", help="of each store")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument("--no-ceiling", action="store_true")
    parser.add_argument("--missed", type=int, default=0, metavar="N", help="print N misses")
    args = parser.parse_args()
    embedder = find_embedder("auto")
    if embedder is not None:
        embedder = CachedEmbedder(embedder, args.cache)
    read = {
        path: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in [Path(name) for name in args.files] or [sample_path()]
    }
    for path, stores in read.items():
        # Of a file with one store, the strangers' questions are those of the other files.
        strangers = [
            goal.question
            for other, some in read.items()
            if other.stem.split("-")[0] != path.stem.split("-")[0]
            for store in some
            for goal in goals_of(store)
        ]
        seen = " (the bundled model was trained on it)" if path.stem in SEEN_BY_MODEL else ""
        print(f"{path.stem}{seen}")
        counted = measure(stores[: args.limit_stores], embedder, strangers[::7], args)
        print(f"  {counted.questions} questions      block    without turns    ceiling")
        for budget in BUDGETS:
            columns = [f"{budget}", f"{budget} without turns", f"{budget} ceiling"]
            print(f"  {budget:>6,} characters   " + "      ".join(map(counted.share, columns)))
        print(
            f"  beside a prompt    {counted.share('prompt')}"
            f"   {counted.prompt_chars // max(1, counted.questions):,} characters on the mean"
        )
        if counted.strangers:
            print(
                f"  asked in another's hub: {100 * counted.quiet / counted.strangers:.1f} % of"
                f" {counted.strangers} questions get nothing relevant,"
                f" {100 * counted.quiet_prompts / counted.strangers:.1f} % nothing as prompts"
            )
        for miss in counted.missed[: args.missed]:
            print(miss)


if __name__ == "__main__":
    main()
