"""A process that shows memory turns and notes them until it is killed, by itself at a step or by
others: `python noting.py FOLDER LATER_S [STEP [thread]]`. Its clock is that many seconds ahead, so
that leases of the dead have ended. With `thread` the thread of the library does the work, and not
the process itself. It says in lines what is safe."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import holdfast
from holdfast.engine.quiet import Quiet
from holdfast.passes import journaler, work
from tests.faults.pushing import Ahead


def die(*given: Any, **named: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_after(method: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*given: Any, **named: Any) -> Any:
        method(*given, **named)
        die()

    return wrapped


def prepare(step: str) -> None:
    """Has the process die at a step of the pass."""
    if step == "put off":
        Quiet.wait = die  # type: ignore[method-assign]
    elif step == "leased":
        journaler.by_rules = die
    elif step == "proposed":
        journaler.take = die
    elif step == "in the transaction":
        journaler.jobs.finish = dying_after(journaler.jobs.finish)
    elif step == "committed":
        journaler.take = dying_after(journaler.take)


def main() -> None:
    folder, later_s, *step = sys.argv[1:]
    prepare(step[0] if step else "")
    settings = {"embed.model": "none", "actor": "tester", "shadowJournal.enabled": True}
    clock = Ahead(timedelta(seconds=float(later_s)))
    with holdfast.open(folder, clock=clock, settings=settings) as memory:
        memory.core.set_has_worker(True)
        if step == ["observe"]:
            for number in range(10_000):
                seen = memory.hub().observe_turn(f"My locker number is {number}.", "Noted.")
                print(seen.turns[0].id, flush=True)
        print("ready", flush=True)
        if step[1:] == ["thread"]:
            memory.core.start_background("journaler", lambda: work.Shadow(memory.core, memory.home))
            memory.core.wait()
        work.work_until_done(memory.core, memory.home)
        print("done", flush=True)


if __name__ == "__main__":
    main()
