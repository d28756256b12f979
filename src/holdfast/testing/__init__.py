"""What a store's author and a test of Holdfast need: the conformance kit and things held still.

`StoreConformance` is the suite of promises that every store keeps; `FixedClock`, `CountedIds`,
`HashEmbedder`, `ScriptedModel` and `open_for_tests` take time, chance and models out of a test.
Nothing here imports pytest until `StoreConformance` is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.testing.fixtures import (
    START,
    Asked,
    CountedIds,
    FixedClock,
    HashEmbedder,
    ScriptedModel,
    call,
    calls,
    open_for_tests,
)

if TYPE_CHECKING:
    from holdfast.testing.conformance import StoreConformance

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
