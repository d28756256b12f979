"""What the server's instructions say of memory in the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import HubMemory
from holdfast.api.lazy_hub import LazyHub
from holdfast.edges.mcp.server import Options, make_server
from holdfast.testing import open_for_tests


def test_without_hooks_they_carry_the_block(hub: HubMemory) -> None:
    hub.remember("The staging server is called heron")
    said = make_server(hub, Options(prompt="block")).instructions
    assert said is not None
    assert "The staging server is called heron" in said and len(said) < 6_000


def test_with_hooks_they_say_where_memory_is_and_carry_none(hub: HubMemory) -> None:
    hub.remember("The staging server is called heron")
    said = make_server(hub, Options(prompt="hooks")).instructions
    assert said is not None
    assert "heron" not in said and "<holdfast-memory>" in said


def test_an_empty_memory_is_no_block(hub: HubMemory) -> None:
    said = make_server(hub, Options(prompt="block")).instructions
    assert said is not None and "<memory" not in said


@pytest.mark.parametrize("has_own", [True, False])
def test_a_hub_that_is_not_made_yet_is_not_made_for_them(tmp_path: Path, has_own: bool) -> None:
    with open_for_tests(tmp_path) as memory:
        own = memory.hub() if has_own else None
        if own is not None:
            own.remember("I prefer tabs over spaces")
        lazy = LazyHub(memory.core, memory.home, "web", lambda: memory.create_hub("web"), own)
        said = make_server(lazy, Options(prompt="block")).instructions or ""
        assert ("tabs" in said) == has_own
        assert [hub.name for hub in memory.hubs()] == (["default"] if has_own else [])
