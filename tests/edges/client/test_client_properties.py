"""Whatever a key, a text or a label holds, a server takes it, refuses it and finds it again as the
library does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import holdfast
from tests.edges.client.servers import served

Both = tuple[Any, Any]

# What stands out in addresses, headers, JSON and paths; and anything else.
ODD = st.text(
    st.sampled_from("a1/#?%&=+ .\\\"'<>{}[]:;,@~ü漢\u200d\t\0\ud800"), min_size=1, max_size=12
)
NAMES = st.one_of(
    ODD, st.text(min_size=1, max_size=30), st.sampled_from(["find", "..", "12", "#12"])
)


@pytest.fixture(scope="module")
def both(homes: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """A hub here, and one on a server."""
    folder: Path = tmp_path_factory.mktemp("both")
    here = holdfast.open(folder / "here", settings={"embed.model": "none", "actor": "ada"})
    with here, served(folder / "there") as server, holdfast.Client(server.url) as client:
        yield here.hub(), client.hub()


def _outcome(ask: Any, hub: Any) -> Any:
    """What came of it, as far as it can be the same in both."""
    try:
        result = ask(hub)
    except holdfast.HoldfastError as error:
        return type(error)
    memory = getattr(result, "memory", result)
    return type(result), memory.number, memory.key, memory.content, memory.tags, memory.title


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=NAMES, content=NAMES, tag=NAMES)
def test_any_name_is_taken_refused_and_found_as_in_the_library(
    both: Both, name: str, content: str, tag: str
) -> None:
    here, there = both
    for ask in (
        lambda hub: hub.remember(f"x {content}", key=name, tags=[tag]),
        lambda hub: hub.get(name),
        lambda hub: hub.find(name),
        lambda hub: hub.update(name, title="Another"),
        lambda hub: hub.access(name),
    ):
        assert _outcome(ask, here) == _outcome(ask, there)
