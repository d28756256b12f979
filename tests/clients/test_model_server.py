"""The model server that stands in for the models of real agents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.model_server import ANSWER, ModelServer
from tests.clients.programs import CLIENTS, Agent, needs


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("client", [pytest.param(one, marks=needs(one)) for one in CLIENTS])
def test_each_agent_talks_to_the_model_on_loopback(
    client: str, model: ModelServer, tmp_path: Path
) -> None:
    agent = Agent(client, tmp_path / "home", model)
    agent.prepare()
    started = agent.start("Good morning, what is new?", tmp_path)
    out, err = started.communicate(timeout=100)
    assert started.returncode == 0, err
    assert ANSWER in out
    assert any("what is new?" in request.text for request in model.take())
