"""Vectors that are made later: how many go into one write, and what breaking it off costs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.api.memory import Holdfast
from holdfast.engine.core import Core
from holdfast.engine.writing import indexing
from holdfast.errors import EmbedderError
from holdfast.testing import HashEmbedder, open_for_tests

NOTES = 600


class Timed(HashEmbedder):
    """A model that takes so long for a batch, and does something else besides."""

    def __init__(self, seconds: float, besides: Callable[[int], None] = lambda batch: None) -> None:
        super().__init__()
        self.seconds, self.besides = seconds, besides
        self.now = 0.0
        self.batches: list[int] = []

    def embed_passages(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        self.now += self.seconds
        self.batches.append(len(texts))
        self.besides(len(self.batches))
        return super().embed_passages(texts)


Opened = Callable[[Timed], Holdfast]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """A home with notes that have no vectors, opened with a model whose time is the time."""
    with open_for_tests(tmp_path) as memory:
        memory.hub().remember_many([f"Note {n} about topic {n % 7}" for n in range(NOTES)])
    open_now: list[Holdfast] = []

    def open_with(model: Timed) -> Holdfast:
        monkeypatch.setattr(indexing, "time", SimpleNamespace(monotonic=lambda: model.now))
        settings = {"embed.background": False}
        open_now.append(open_for_tests(tmp_path, embedder=model, settings=settings))
        return open_now[-1]

    yield open_with
    for memory in open_now:
        memory.close()


def _kept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of how many passages each write was."""
    writes: list[int] = []
    keep = indexing._write_vectors

    def noted(*given: object) -> int:
        writes.append(keep(*given))  # type: ignore[arg-type]
        return writes[-1]

    monkeypatch.setattr(indexing, "_write_vectors", noted)
    return writes


@pytest.mark.parametrize(
    ("batch_s", "writes"),
    [
        (0.001, [64, 128, 256, 152]),  # quick: more and more at a time
        (0.8, [64] * 9 + [24]),  # as the bundled model: what a second makes is kept
        (30.0, [64] * 9 + [24]),  # slow: never less than is handed to the model at once
    ],
)
def test_what_about_a_second_makes_is_kept_in_one_write(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, batch_s: float, writes: list[int]
) -> None:
    model = Timed(batch_s)
    memory = opened(model)
    kept = _kept(monkeypatch)
    assert memory.embed_missing() == NOTES
    assert kept == writes
    assert max(model.batches) == 64, "a model is handed no more than before"
    assert memory.unembedded() == 0
    assert memory.hub().recall("Note 599")[0].parts["vector"] > 0


def test_a_model_that_becomes_slow_is_waited_for_in_smaller_rounds(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Timed(0.001)

    def slower(batch: int) -> None:
        if batch == 3:
            model.seconds = 2.0

    model.besides = slower
    memory = opened(model)
    kept = _kept(monkeypatch)
    memory.embed_missing()
    assert kept == [64, 128, 256, 128, 24]


def test_stopping_keeps_what_was_made(opened: Opened) -> None:
    stop = threading.Event()
    # The third round has four batches, of which two are made.
    model = Timed(0.001, lambda batch: stop.set() if batch == 5 else None)
    memory = opened(model)
    assert indexing.embed_missing(memory.core, stop=stop) == 64 * 5
    assert memory.unembedded() == NOTES - 64 * 5
    assert memory.embed_missing() == NOTES - 64 * 5


def test_a_model_that_fails_costs_no_more_than_the_round_at_hand(opened: Opened) -> None:
    def failing(batch: int) -> None:
        if batch == 4:
            raise EmbedderError("The model is away.")

    model = Timed(0.001, failing)
    memory = opened(model)
    with pytest.raises(EmbedderError):
        memory.embed_missing()
    assert memory.unembedded() == NOTES - 64 - 128
    assert memory.embed_missing() == NOTES - 64 - 128


def test_what_is_logged_when_the_last_round_is_over_gets_its_vector_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = []
    embed_missing = indexing.embed_missing

    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()

        def log_at_the_end(core: Core, **options: Any) -> int:
            made = embed_missing(core, **options)
            rounds.append(made)
            if len(rounds) == 1:
                hub.observe_turn("The boiler is serviced every October", "")
            return made

        monkeypatch.setattr(indexing, "embed_missing", log_at_the_end)
        hub.recall("which finds nothing, and loads the model")
        hub.observe_turn("My cat Miso is allergic to fish", "")
        memory.core.wait()
        assert len(rounds) == 2
        found = hub.recall("boiler serviced in October")
        assert found.degraded == ()
        assert found[0].parts["vector"] > 0
