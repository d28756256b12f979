"""A memory with time held still that is shown turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.llm import Model
from holdfast.testing import CountedIds, FixedClock, open_for_tests

Opener = Callable[..., Holdfast]


@pytest.fixture
def opened(tmp_path: Path, clock: FixedClock) -> Iterator[Opener]:
    """Opens the same folder, with a model and settings of the test's choice."""
    every: list[Holdfast] = []
    ids = CountedIds()

    def open_(model: Model | None = None, **settings: Any) -> Holdfast:
        given = {name.replace("__", "."): value for name, value in settings.items()}
        on = {"shadowJournal.enabled": True}
        memory = open_for_tests(
            tmp_path, clock=clock, ids=ids, model=model, settings={**on, **given}
        )
        every.append(memory)
        return memory

    yield open_
    for memory in every:
        memory.close()


@pytest.fixture
def memory(opened: Opener) -> Holdfast:
    return opened()


@pytest.fixture
def hub(memory: Holdfast) -> HubMemory:
    # Whoever works is another one: tests say when.
    memory.core.set_has_worker(True)
    return memory.create_hub("work")
