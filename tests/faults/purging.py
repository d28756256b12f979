"""A process that is killed at the n-th statement of a purge or of forgetting turns, for every n.

Runs as `python -m tests.faults.purging NAME FOLDER`, with a single thread, so that a fork is safe.
It prints one line of JSON: how often it was killed, and how many different states were found.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import holdfast
from holdfast import Holdfast, HubMemory
from holdfast.engine.upkeep.doctor import examine
from holdfast.errors import NotFound
from holdfast.passes.work import work_until_done
from tests.faults.scenes import killed_at
from tests.homes.traces import kept_in

SETTINGS = {"embed.model": "none", "actor": "tester", "shadowJournal.enabled": True}
WORD = "quuxberries"
# The word, and the stem of it that is in the index.
TRACES = (WORD.encode(), b"quuxber")
STATEMENTS_MAX = 2_000


def opened(folder: str) -> Holdfast:
    memory = holdfast.open(folder, settings=SETTINGS)
    memory.core.set_has_worker(True)
    return memory


# The number of the fact that is made of the first turn.
FACT = 1


ACTS: dict[str, Callable[[HubMemory], object]] = {
    "purge everywhere": lambda hub: hub.purge(FACT, everywhere=True),
    "forget the last hour": lambda hub: hub.forget_turns(since="2000-01-01T00:00:00Z", purge=True),
    "forget a word": lambda hub: hub.forget_turns(about=WORD, purge=True),
}


def filled(folder: str) -> None:
    with opened(folder) as memory:
        hub = memory.hub()
        hub.observe_turn(f"I am allergic to {WORD}.", "Noted.", session="s", turn="t1")
        hub.observe_turn("Name three rivers.", "Rhine, Elbe, Oder.", session="s", turn="t2")
        work_until_done(memory.core, memory.home)
        hub.remember("Prefers tabs over spaces")
        assert WORD in hub.get(FACT).content
        assert [turn for turn in hub.turns() if WORD in turn.content]


def state(folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The memories and the turns that are there."""
    with opened(folder) as memory:
        found = examine(memory.core).found
        assert found == [], found
        hub = memory.hub()
        memories = sorted(one.content for one in hub.list())
        return tuple(memories), tuple(turn.content for turn in hub.turns())


def complete(folder: str, name: str) -> None:
    """Runs it again, as a person would who got no answer."""
    with opened(folder) as memory:
        try:
            ACTS[name](memory.hub())
        except NotFound:
            assert name == "purge everywhere"


def traces(folder: str) -> list[str]:
    return [
        place
        for place, data in kept_in(Path(folder))
        if any(trace in data.lower() for trace in TRACES)
    ]


def main(name: str, folder: str) -> dict[str, Any]:
    start, home = os.path.join(folder, "start"), os.path.join(folder, "home")
    filled(start)
    states = [state(start)]
    number, passed = 0, False
    while not passed:
        number += 1
        assert number < STATEMENTS_MAX, "an operation without end"
        shutil.copytree(start, home)
        passed = killed_at(lambda: opened(home), ACTS[name], number)
        found = state(home)
        if found not in states:
            # It never goes back to a state of before.
            states.append(found)
        assert found == states[-1], f"statement {number}"
        complete(home, name)
        last = state(home)
        assert not any(WORD in text for texts in last for text in texts)
        assert traces(home) == [], f"statement {number}: {traces(home)}"
        shutil.rmtree(home)
    assert states[-1] == last
    return {"kills": number - 1, "states": len(states)}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
