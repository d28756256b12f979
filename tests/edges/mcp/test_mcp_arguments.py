"""Arguments that are too large, or that cannot be written as UTF-8."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import HubMemory
from holdfast.edges.mcp.server import is_larger, make_server
from tests.edges.mcp.sessions import call, text_of


@pytest.mark.parametrize(
    ("value", "size_max", "larger"),
    [
        ("x" * 10, 11, False),
        ("x" * 11, 11, True),
        (None, 0, True),
        ({"a": ["x" * 5, {"b": "x" * 5}]}, 20, False),
        ({"a": ["x" * 50, {"b": "x" * 5}]}, 20, True),
        ([0] * 100, 50, True),
    ],
)
def test_the_size_of_arguments_counts_everything(value: Any, size_max: int, larger: bool) -> None:
    assert is_larger(value, size_max) is larger


def test_half_a_character_pair_is_answered(odd_tools: None, hub: HubMemory) -> None:
    found = call(make_server(hub), "name", {"echo": "\ud83d cut"})
    assert found.structured_content["echo"] == "\ufffd cut"


def test_the_longest_content_that_is_allowed_is_kept(hub: HubMemory) -> None:
    server = make_server(hub)
    kept = call(server, "remember", {"content": ("lorem " * 500_000).strip()})
    assert not kept.is_error, text_of(kept)[:300]
    too_long = call(server, "remember", {"content": "lorem " * 501_000})
    assert too_long.is_error and "3,000,000" in text_of(too_long)
