"""What a close reading of the engine found: each test is one promise that did not hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.engine import repair
from holdfast.errors import EmbedderError
from holdfast.testing import HashEmbedder, open_for_tests

# The model and the write lock


class WatchedEmbedder(HashEmbedder):
    """Notes whether anybody could write while it was asked; fails where it is told to."""

    def __init__(self) -> None:
        self.memory: Holdfast | None = None
        self.asked = 0
        self.inside = 0
        self.failing = False

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.asked += 1
        if self.memory is not None:
            writer = getattr(self.memory.core.store, "_writer")  # noqa: B009
            self.inside += not writer.get_autocommit()
        if self.failing:
            raise EmbedderError("The model is away.")
        return super().embed_passages(texts)


@pytest.fixture
def watched(tmp_path: Path) -> Any:
    embedder = WatchedEmbedder()
    settings = {"embed.background": False}
    with open_for_tests(tmp_path, embedder=embedder, settings=settings) as memory:
        embedder.memory = memory
        yield memory, embedder


def test_the_model_is_never_asked_inside_a_write(watched: tuple[Holdfast, WatchedEmbedder]) -> None:
    memory, embedder = watched
    hub = memory.hub()
    hub.remember_many(["alpha beta", "gamma delta"])
    hub.update(1, content="epsilon zeta")
    hub.undo()
    hub.forget(1)
    hub.restore(1)
    lines = list(hub.export())
    copy = memory.import_hub(lines, name="copy")
    repair.rebuild(memory.core)
    repair.mend(memory.core)
    assert embedder.inside == 0
    assert memory.unembedded() == 0
    assert "vector" in hub.recall("alpha beta")[0].parts
    assert "vector" in copy.recall("alpha beta")[0].parts


def test_vectors_are_in_place_after_undo_restore_and_import(
    watched: tuple[Holdfast, WatchedEmbedder],
) -> None:
    memory, embedder = watched
    hub = memory.hub()
    hub.remember("alpha beta")
    for act in (
        lambda: hub.update(1, content="gamma delta"),
        hub.undo,
        lambda: hub.forget(1),
        lambda: hub.restore(1),
        lambda: memory.import_hub(list(hub.export()), name="copy"),
    ):
        act()
        assert memory.unembedded() == 0
    assert embedder.inside == 0


def test_a_new_key_keeps_the_vectors_it_has(watched: tuple[Holdfast, WatchedEmbedder]) -> None:
    memory, embedder = watched
    hub = memory.hub()
    hub.remember("alpha beta")
    asked = embedder.asked
    hub.remember("alpha beta", key="greek")
    assert hub.get("greek").number == 1
    assert (memory.unembedded(), embedder.asked) == (0, asked)
    assert repair.examine(memory.core).found == []


def test_a_model_that_fails_keeps_nothing_from_being_written(
    watched: tuple[Holdfast, WatchedEmbedder],
) -> None:
    memory, embedder = watched
    hub = memory.hub()
    hub.remember("alpha beta")
    hub.forget(1)
    embedder.failing = True
    hub.restore(1)
    memory.import_hub(list(hub.export()), name="copy")
    assert hub.recall("alpha").degraded
    assert "left the missing vectors for later" in repair.mend(memory.core).mended[-1]
    embedder.failing = False
    repair.mend(memory.core)
    assert memory.unembedded() == 0
