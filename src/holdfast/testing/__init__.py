"""For authors of stores and tests of Holdfast: the conformance kit, and fixed clocks and ids.

`StoreConformance` is the suite of promises that every store keeps; `FixedClock`, `CountedIds`,
`HashEmbedder` (a hashed bag of words), `ScriptedModel` and `open_for_tests` take time, chance and
models out of a test. Nothing here imports pytest until `StoreConformance` is asked for.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.embed import check, unit_rows
from holdfast.errors import ModelError
from holdfast.llm import Answer, Message, ModelCall, Usage
from holdfast.text.analysis.terms import terms

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast
    from holdfast.domain.clock import Clock, Ids
    from holdfast.embed import Embedder, Matrix, Vector
    from holdfast.llm import Model, ModelTool
    from holdfast.store.base import Store
    from holdfast.testing.conformance import StoreConformance


# A Wednesday, at noon, far from any change of the clocks.
START = datetime(2026, 1, 14, 12, tzinfo=UTC)


class FixedClock:
    """A clock that moves only when `tick` is called."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def tick(self, **span: float) -> datetime:
        """Moves on by a second, or by days, hours, minutes …; returns the new time."""
        self._now += timedelta(**(span or {"seconds": 1}))
        return self._now


class CountedIds:
    """Identifiers that count up for each prefix: `mem_00000001`, `mem_00000002`, …"""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._lock = threading.Lock()

    def next(self, prefix: str) -> str:
        with self._lock:
            self._last[prefix] = self._last.get(prefix, 0) + 1
            return f"{prefix}_{self._last[prefix]:08d}"


def open_for_tests(
    where: str | os.PathLike[str],
    *,
    store: Store | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    embedder: Embedder | None = None,
    model: Model | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Holdfast:
    """A memory in a folder, with a fixed clock, counted ids and no models.

    Whatever is handed in takes the place of these.
    """
    from holdfast.api.memory import open as open_memory

    held = {"actor": "tester", "embed.model": "none", "time_zone": "UTC"}
    return open_memory(
        where,
        store=store,
        clock=clock or FixedClock(),
        ids=ids or CountedIds(),
        embedder=embedder,
        model=model,
        settings={**held, **(settings or {})},
    )


# Few enough to be fast, many enough that two words of a test rarely share a place.
_DIMENSIONS = 64


class HashEmbedder:
    """Each term of a text adds one to the place that its hash names."""

    identity = "hash-words-64"
    dimensions = _DIMENSIONS
    passage_tokens_max = 512

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        matrix = np.zeros((len(texts), _DIMENSIONS), np.float32)
        for row, text in zip(matrix, texts, strict=True):
            # A text without a term still needs a direction: a vector of zeros has none.
            for term in terms(text) or [""]:
                row[zlib.crc32(term.encode()) % _DIMENSIONS] += 1
        return unit_rows(check(matrix, _DIMENSIONS, len(texts))) if len(texts) else matrix

    def embed_query(self, text: str) -> Vector:
        row: Vector = self.embed_passages([text])[0]
        return row


# A fixed price, so that sums in tests are easy to check.
_USAGE = Usage(1, 100, 10)


class Asked(NamedTuple):
    """One request as the model got it."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ModelTool, ...]
    tokens_max: int
    timeout_s: float

    @property
    def prompt(self) -> str:
        """The first message: what the pass wanted to know."""
        return self.messages[0].text

    @property
    def results(self) -> list[str]:
        """The results of tools so far."""
        return [message.text for message in self.messages if message.role == "tool"]


# What to answer: a text, an answer, an error to raise, or a function of what was asked.
Scripted: TypeAlias = "str | Answer | ModelError | Callable[[Asked], str | Answer | ModelError]"


def call(tool: str, arguments: Mapping[str, Any] | str | None = None, *, text: str = "") -> Answer:
    """An answer that calls one tool. Arguments given as a string are sent to the letter, also
    where they are no JSON."""
    return calls((tool, arguments or {}), text=text)


def calls(*wanted: tuple[str, Mapping[str, Any] | str], text: str = "") -> Answer:
    """An answer that calls several tools at once."""
    made = tuple(
        ModelCall(
            f"call_{number}",
            name,
            arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        for number, (name, arguments) in enumerate(wanted)
    )
    return Answer(text, made, _USAGE)


class ScriptedModel:
    """Gives its answers in their order, one for each request, and then says nothing more.

    `asked` holds the requests. With `again`, the last answer is given for ever.
    """

    def __init__(
        self, answers: Iterable[Scripted] = (), *, name: str = "scripted", again: bool = False
    ) -> None:
        self.name = name
        self.asked: list[Asked] = []
        self._answers = list(answers)
        self._again = again
        self._lock = threading.Lock()

    def ask(
        self,
        system: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[ModelTool] = (),
        tokens_max: int,
        timeout_s: float,
    ) -> Answer:
        asked = Asked(system, tuple(messages), tuple(tools), tokens_max, timeout_s)
        with self._lock:
            self.asked.append(asked)
            if len(self._answers) > 1 or (self._answers and not self._again):
                said: Scripted = self._answers.pop(0)
            else:
                said = self._answers[0] if self._answers else ""
        if callable(said):
            said = said(asked)
        if isinstance(said, ModelError):
            raise said
        return Answer(said, usage=_USAGE) if isinstance(said, str) else said


__all__ = [
    "START",
    "Asked",
    "CountedIds",
    "FixedClock",
    "HashEmbedder",
    "ScriptedModel",
    "StoreConformance",
    "call",
    "calls",
    "open_for_tests",
]


def __getattr__(name: str) -> Any:
    if name == "StoreConformance":
        import pytest

        # So that a promise that is broken says what was expected and what came.
        pytest.register_assert_rewrite("holdfast.testing.conformance")
        from holdfast.testing.conformance import StoreConformance

        return StoreConformance
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
