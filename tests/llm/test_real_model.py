"""A real model over real protocols: what it says comes through, within the bounds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from holdfast.errors import ModelError
from holdfast.llm import Message, Model, ModelTool, find_model
from holdfast.llm.tool_loop import Limits, talk

REMEMBER = ModelTool(
    "remember",
    "Store one fact about the user.",
    {
        "type": "object",
        "properties": {"content": {"type": "string"}},
        "required": ["content"],
    },
)
# Slow machines say a few tokens a second.
PATIENT_S = 240.0


@pytest.fixture(params=["openai", "anthropic"])
def model(request: pytest.FixtureRequest, address: str) -> Model:
    path = "/v1" if request.param == "openai" else ""
    found = find_model(f"{request.param}:smollm2@{address}{path}")
    assert found is not None
    return found


def test_it_answers(model: Model) -> None:
    said = model.ask(
        "You are brief.",
        [Message("user", "What is the capital of France?")],
        tokens_max=20,
        timeout_s=PATIENT_S,
    )
    # What a model of this size says is another matter.
    assert said.text.strip()
    assert said.usage.requests == 1
    assert 10 < said.usage.tokens_in < 100
    assert 0 < said.usage.tokens_out <= 20


def test_it_calls_a_tool_and_hears_the_answer(model: Model) -> None:
    kept: list[dict[str, Any]] = []

    def remember(given: dict[str, Any]) -> str:
        kept.append(given)
        return "Stored."

    limits = Limits(rounds=2, tokens_out=120, seconds=PATIENT_S)
    tools = {"remember": (REMEMBER, remember)}
    found = talk(model, "You keep a memory.", "I moved to Lisbon in March.", tools, limits)
    assert found.ended in ("done", "rounds", "tokens")
    assert found.usage.requests == 2
    assert kept
    assert "Lisbon" in kept[0]["content"]


def test_it_is_given_up_when_its_time_is_up(model: Model) -> None:
    began = time.monotonic()
    with pytest.raises(ModelError, match="did not answer within") as caught:
        model.ask("", [Message("user", "Tell a very long story.")], tokens_max=3_000, timeout_s=1.0)
    assert caught.value.again
    assert time.monotonic() - began < 4.0
