"""Arguments that are too large, or that cannot be written as UTF-8."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import HubMemory
from holdfast.edges.mcp.server import Options, is_larger, make_server
from tests.edges.mcp.sessions import MODES, call, text_of


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


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "where",
    ["team in (core, ops)", {"team": {"in": ["core", "ops"]}}, '{"team": {"$in": ["core"]}}'],
)
def test_a_filter_is_text_or_an_object(hub: HubMemory, where: Any, mode: str) -> None:
    hub.remember("The billing deploy needs a review", metadata={"team": "core"})
    hub.remember("The web shop deploy is automatic", metadata={"team": "web"})
    server = make_server(hub, Options("holdfast", all_tools=True))
    for name, given in (("recall", {"query": "deploy"}), ("memory_list", {})):
        found = call(server, name, {**given, "where": where}, mode)
        assert not found.is_error, text_of(found)
        assert "billing" in text_of(found) and "web shop" not in text_of(found)


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ({"team": {"near": 1}}, "'near' is not an operator. There are eq, ne"),
        ({"AND": []}, "AND needs a list of conditions."),
        ("team ~ core", "'~' is not an operator."),
        (["core"], "must be a condition as text or as an object, not a list."),
    ],
)
def test_a_wrong_filter_is_a_sentence(hub: HubMemory, where: Any, sentence: str) -> None:
    found = call(make_server(hub), "recall", {"query": "deploy", "where": where})
    assert found.is_error and sentence in text_of(found)
