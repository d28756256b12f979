"""Asking about the past: what has only been marked since is found as it would have been then."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

import holdfast


class _Clock:
    at = datetime(2026, 5, 27, 12, tzinfo=UTC)

    def now(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


class _Tastes:
    """Puts texts about indentation in one place and all others in another."""

    identity = "tastes/1"
    dimensions = 2
    passage_tokens_max = 512

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        return np.array([1, 0] if "indent" in text or "tabs" in text else [0, 1], np.float32)


def test_a_fact_that_was_superseded_since_is_found_by_its_meaning(tmp_path) -> None:
    clock = _Clock()
    with holdfast.open(tmp_path, clock=clock, embedder=_Tastes()) as memory:
        hub = memory.hub()
        old = hub.remember("She prefers tabs").memory
        before = clock.at
        hub.remember("She took up spaces", supersedes=old.number)
        hits = hub.recall("indent", as_of=before)
        assert [hit.memory.number for hit in hits] == [1]
        assert "vector" in hits[0].parts


def test_a_text_that_was_changed_since_is_not_found_by_its_new_meaning(tmp_path) -> None:
    clock = _Clock()
    with holdfast.open(tmp_path, clock=clock, embedder=_Tastes()) as memory:
        hub = memory.hub()
        hub.remember("She likes tea")
        before = clock.at
        hub.update(1, content="She prefers tabs")
        assert hub.recall("indent", as_of=before) == []
        assert len(hub.recall("indent")) == 1
