"""Those who answer: Holdfast through its public API, behind the same two calls as the baselines."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import holdfast
from holdfast.embed.base import Embedder
from holdfast.evaluation.stores import Doc, Question


class System(Protocol):
    """Takes documents in, and answers with document ids, best first."""

    def add(self, docs: Sequence[Doc]) -> None: ...

    def ask(self, question: Question, limit: int) -> list[str]: ...

    def close(self) -> None: ...


class _Still:
    """A clock that stands still, so that two runs rank alike."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at


class HoldfastSystem:
    """One hub in a home folder of its own, filled by `remember_stream`, asked by `recall`.

    A question without a time of its own is asked at the time of the store's last document.
    """

    def __init__(
        self,
        docs: Sequence[Doc],
        embedder: Embedder | None,
        settings: Mapping[str, Any] | None = None,
        *,
        hub: str = "bench",
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="holdfast-bench-")
        last = max((doc.time for doc in docs if doc.time), default=datetime(2026, 1, 1, tzinfo=UTC))
        # A file of its own, also where the environment names a store that people use.
        chosen = {"store.url": "", "store.read_url": ""}
        if embedder is None:
            chosen["embed.model"] = "none"
        self._memory = holdfast.open(
            self._folder.name,
            clock=_Still(last),
            embedder=embedder,
            settings={**chosen, **(settings or {})},
        )
        self._hub = self._memory.create_hub(hub)
        self._docs_of: dict[str, list[str]] = {}

    def add(self, docs: Sequence[Doc]) -> None:
        drafts = (
            {
                "content": doc.text,
                "session": doc.session,
                "speaker": doc.speaker,
                "occurred_at": doc.time,
            }
            for doc in docs
        )
        for doc, result in zip(docs, self._hub.remember_stream(drafts), strict=True):
            # The same words said twice in one breath are one memory that stands for both.
            self._docs_of.setdefault(result.memory.id, []).append(doc.id)

    def ask(self, question: Question, limit: int) -> list[str]:
        hits = self._hub.recall(question.text, limit=limit, now=question.asked_at)
        return [doc for hit in hits for doc in self._docs_of[hit.memory.id]]

    def close(self) -> None:
        self._memory.close()
        self._folder.cleanup()
