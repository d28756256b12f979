"""What people say in sessions with a coding agent or a chat, and what has to become of it: read
from `tests/data/session_*`, observed, and compared with what long-term memory holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from holdfast import Holdfast, HubMemory
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock, open_for_tests

DATA = Path(__file__).parents[2] / "data"
AT = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Said(NamedTuple):
    """A turn, the question of the assistant before it, and, for each fact that has to be kept, the
    words that its text must have."""

    section: str
    turn: str
    question: str = ""
    facts: tuple[tuple[str, ...], ...] = ()


class Outcome(NamedTuple):
    """What long-term memory holds after a turn, and which facts it does not hold."""

    said: Said
    kept: tuple[str, ...]
    missing: tuple[tuple[str, ...], ...]


def said_in(name: str) -> list[Said]:
    found: list[Said] = []
    section = question = ""
    for line in (DATA / f"session_{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
        elif line.startswith("< "):
            question = line[2:]
        elif line.startswith("    + "):
            words = tuple(line[6:].split())
            found[-1] = found[-1]._replace(facts=(*found[-1].facts, words))
        elif line:
            found.append(Said(section, line.replace("\\n", "\n"), question))
            question = ""
    return found


def observe_each(where: Path, turns: Sequence[Said]) -> list[Outcome]:
    """Observes each turn in a hub of its own."""
    settings = {"shadowJournal.enabled": True}
    with open_for_tests(where, clock=FixedClock(AT), settings=settings) as memory:
        memory.core.set_has_worker(True)
        return [_observe(memory, f"turn-{n}", said) for n, said in enumerate(turns)]


def _observe(memory: Holdfast, name: str, said: Said) -> Outcome:
    hub = memory.create_hub(name)
    if said.question:
        hub.observe_turn("hi", said.question, at=AT)
    hub.observe_turn(said.turn, "", at=AT)
    work_until_done(memory.core, memory.home)
    kept = standing(hub)
    missing = [words for words in said.facts if not any(_has(text, words) for text in kept)]
    return Outcome(said, kept, tuple(missing))


def standing(hub: HubMemory) -> tuple[str, ...]:
    return tuple(one.content for one in hub.list(layer="long_term"))


def _has(text: str, words: tuple[str, ...]) -> bool:
    return all(word in text.casefold() for word in words)
