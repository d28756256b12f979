"""What a close reading of the engine found: each test is one promise that did not hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.engine import repair
from holdfast.errors import EmbedderError, InvalidInput
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


# What an import lets in


def _spoilt(lines: list[str], kind: str, **new: Any) -> list[str]:
    at = next(n for n, line in enumerate(lines) if json.loads(line)["type"] == kind)
    return [*lines[:at], json.dumps({**json.loads(lines[at]), **new}), *lines[at + 1 :]]


@pytest.mark.parametrize(
    ("kind", "new", "words"),
    [
        ("memory", {"content": "   "}, "empty"),
        ("memory", {"content": 5}, "must be text"),
        ("memory", {"content": "Other words"}, "does not match its hash"),
        ("memory", {"content": "half a \ud800"}, "Line 2"),
        ("memory", {"trust": "god"}, "not a valid trust"),
        ("memory", {"state": "asleep"}, "not a valid state"),
        ("memory", {"tags": ["a,b"]}, "tag"),
        ("memory", {"key": "a/b"}, "slash"),
        ("memory", {"metadata": [1]}, "dictionary"),
        ("memory", {"number": 0}, "number must be"),
        ("memory", {"number": 2**70}, "number must be"),
        ("memory", {"number": 9}, "9"),
        ("memory", {"created_at": "2026-01-01T00:00:00"}, "no zone"),
        ("memory", {"origin": 5}, "Line 2"),
        ("memory", {"owner": None}, "owner must be text"),
        ("memory", {"pinned": "yes"}, "pinned"),
        ("revision", {"fields": {"content": 5}}, "cannot be read"),
        ("revision", {"fields": [1]}, "cannot be read"),
        ("revision", {"version": 2**70}, "cannot be read"),
        ("holdfast-hub", {"numbers": -1}, "numbers must be"),
        ("holdfast-hub", {"numbers": 2**70}, "numbers must be"),
        ("holdfast-hub", {"numbers": "many"}, "numbers must be"),
    ],
)
def test_an_import_refuses_what_the_door_would_refuse(
    tmp_path: Path, kind: str, new: dict[str, Any], words: str
) -> None:
    with open_for_tests(tmp_path) as memory:
        memory.hub().remember("Prefers tabs", key="indent", tags=["style"])
        lines = list(memory.hub().export())
        with pytest.raises(InvalidInput, match=words):
            memory.import_hub(_spoilt(lines, kind, **new), name="copy")
        assert [hub.name for hub in memory.hubs()] == ["default"]
        assert memory.import_hub(lines, name="copy").get("indent").tags == ("style",)


def test_an_import_minds_the_bound_of_this_store(tmp_path: Path) -> None:
    with open_for_tests(tmp_path / "a") as memory:
        memory.hub().remember("A text of many bytes")
        lines = list(memory.hub().export())
    with (
        open_for_tests(tmp_path / "b", settings={"content.bytes_max": 5}) as memory,
        pytest.raises(InvalidInput, match="at most 5"),
    ):
        memory.import_hub(lines)


def test_a_bad_name_for_an_import_is_said_to_be_one(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        lines = list(memory.hub().export())
        with pytest.raises(InvalidInput, match="hub name 'bad name' has a space"):
            memory.import_hub(lines, name="bad name")
