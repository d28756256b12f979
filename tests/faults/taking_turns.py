"""A process that takes one turn in and kills itself at a step of that, with SIGKILL."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import holdfast
from holdfast.engine import late_words
from holdfast.engine.log import observe, turns
from holdfast.engine.writing import indexing
from holdfast.store.sqlite.writer import SqliteWriter
from holdfast.testing import HashEmbedder

SETTINGS = {"actor": "tester", "shadowJournal.enabled": True}
SAID = ("My cat Miso is allergic to fish", "Then avoid tuna")
# So long that the words are indexed in a transaction of their own.
SAID_AT_LENGTH = (SAID[0], f"{SAID[1]}. {'Salmon is a fish as well. ' * 40}".strip())
STEPS = (
    "before the transaction",
    "between the sides",
    "before the commit",
    "committed",
    "before the vectors",
)
LATE_STEPS = (
    *STEPS,
    "before the words",
    "between the words of the sides",
    "before the words are committed",
)


def _die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def _after(act: Callable[..., Any]) -> Callable[..., Any]:
    def dying(*args: Any, **values: Any) -> Any:
        act(*args, **values)
        _die()

    return dying


def main(folder: str, step: str, length: str) -> None:
    with holdfast.open(folder, settings=SETTINGS, embedder=HashEmbedder()) as memory:
        memory.core.set_has_worker(True)
        hub = memory.hub()
        print("ready", flush=True)
        if step == "before the transaction":
            observe.add_turns = _die  # type: ignore[assignment]
        elif step == "between the sides":
            SqliteWriter.add_turn = _after(SqliteWriter.add_turn)  # type: ignore[method-assign]
        elif step == "before the commit":
            turns.Record = _die  # type: ignore[misc, assignment]
        elif step == "committed":
            observe.Observed = _die  # type: ignore[misc, assignment]
        elif step == "before the words":
            late_words.index_some = _die
        elif step == "between the words of the sides":
            SqliteWriter._index_turn = _after(SqliteWriter._index_turn)  # type: ignore[method-assign]
        elif step == "before the words are committed":
            late_words.drop_marks = _die
        else:
            indexing._write_vectors = _die
        hub.observe_turn(*(SAID_AT_LENGTH if length == "long" else SAID), session="s", turn="t1")
        indexing.embed_missing(memory.core)
        print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
