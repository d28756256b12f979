"""What stands in the block after weeks in which something changed (`tests/data/weeks_*`): the
newest line is there, and none that it contradicts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock, open_for_tests
from tests.unit.engine.session_sets import DATA

Words = tuple[str, ...]


class Story(NamedTuple):
    """What was said on which day, words that some line must have, and words that none may have
    unless it has those of a wanted one."""

    name: str
    said: list[tuple[datetime, str]]
    wanted: list[Words]
    over: list[Words]


def stories(name: str) -> list[Story]:
    found: list[Story] = []
    for line in (DATA / f"weeks_{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            found.append(Story(line[2:], [], [], []))
        elif line.startswith("    "):
            words = tuple(line[6:].casefold().split())
            (found[-1].wanted if line[4] == "+" else found[-1].over).append(words)
        else:
            day, text = line.split(" | ", 1)
            found[-1].said.append(
                (datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC), text)
            )
    return found


def standing_lines(where: Path, story: Story) -> list[str]:
    """The facts in the block a day after the last of what was said."""
    clock = FixedClock(story.said[0][0])
    with open_for_tests(where, clock=clock, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        hub = memory.hub()
        for n, (at, text) in enumerate(story.said):
            clock.tick(seconds=(at - clock.now()).total_seconds())
            hub.observe_turn(text, "ok", session=f"session-{n}")
            work_until_done(memory.core, memory.home)
        clock.tick(days=1)
        return re.findall(r"(?m)^- \[#\d.*", hub.context().casefold())


def _has(line: str, words: Words) -> bool:
    return all(word in line for word in words)


@pytest.mark.parametrize(
    ("name", "wanted_least", "over_most"), [("dev", 18, 8), ("held_out", 9, 2)]
)
def test_the_newest_word_is_there_and_little_that_it_contradicts(
    tmp_path: Path, name: str, wanted_least: int, over_most: int
) -> None:
    there = over = 0
    for n, story in enumerate(stories(name)):
        lines = standing_lines(tmp_path / str(n), story)
        there += sum(any(_has(line, words) for line in lines) for words in story.wanted)
        left = [line for line in lines if not any(_has(line, one) for one in story.wanted)]
        over += sum(any(_has(line, words) for line in left) for words in story.over)
    print(f"{name}: {there} there, {over} over")
    assert there >= wanted_least
    assert over <= over_most
