"""The toolset, the instructions and the history processor of Pydantic AI, with its test models."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel as ModelThatCallsEverything

from holdfast import Holdfast
from holdfast.adapters.pydantic_ai import MemoryHistory, memory_instructions, memory_toolset
from tests.frameworks.pages import wrong_on_page

NEWEST = int(version("pydantic-ai-slim").partition(".")[0]) >= 2


def with_history(history: MemoryHistory) -> dict[str, Any]:
    if not NEWEST:
        return {"history_processors": [history]}
    from pydantic_ai.capabilities import ProcessHistory

    return {"capabilities": [ProcessHistory(history)]}


class Scripted:
    """A model that answers with what it was given, and keeps what it was asked."""

    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)
        self.asked: list[tuple[list[ModelMessage], AgentInfo]] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append((list(messages), info))
        return ModelResponse(parts=[self.parts.pop(0)])

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.answer)

    def instructions(self, at: int) -> str:
        requests = [one for one in self.asked[at][0] if isinstance(one, ModelRequest)]
        return str(requests[-1].instructions or "")


def returned(messages: list[ModelMessage], kind: type) -> list[Any]:
    return [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, kind)
    ]


def test_a_filter_is_text_or_an_object(memory: Holdfast) -> None:
    hub = memory.hub()
    hub.remember("The billing deploy needs a review", metadata={"team": "core"})
    hub.remember("The web shop deploy is automatic", metadata={"team": "web"})
    wheres = ("team in (core, ops)", {"team": {"in": ["core", "ops"]}}, {"team": {"near": 1}})
    script = Scripted(
        *(ToolCallPart("recall", {"query": "deploy", "where": where}) for where in wheres),
        TextPart("Done."),
    )
    agent = Agent(script.model, toolsets=[memory_toolset(hub)])
    messages = agent.run_sync("What about deploys?").all_messages()
    # Since version 2 a retry is the return of a tool too.
    parts = returned(messages, ToolReturnPart) + returned(messages, RetryPromptPart)
    line, mapping, wrong = (str(part.content) for part in parts)
    assert line == mapping and "billing" in line and "web shop" not in line
    assert "'near' is not an operator. There are" in wrong


def test_an_agent_remembers_and_recalls_by_tools(memory: Holdfast) -> None:
    hub = memory.hub()
    script = Scripted(
        ToolCallPart("remember", {"content": "Prefers tea"}),
        ToolCallPart("recall", {"query": "What does the user prefer to drink: tea?"}),
        TextPart("Tea."),
    )
    agent = Agent(script.model, toolsets=[memory_toolset(hub, agent="helper")])
    result = agent.run_sync("What do I like?")
    assert result.output == "Tea."
    [kept] = hub.list()
    assert (kept.content, kept.source_agent, kept.trust) == ("Prefers tea", "helper", "agent")
    answers = returned(result.all_messages(), ToolReturnPart)
    assert "Prefers tea" in str(answers[1].content)


def test_a_mistake_of_the_model_is_a_retry_with_a_sentence(memory: Holdfast) -> None:
    script = Scripted(ToolCallPart("forget", {"number": 77}), TextPart("There is none."))
    agent = Agent(script.model, toolsets=[memory_toolset(memory.hub())])
    result = agent.run_sync("Forget number 77")
    assert "There is no memory #77" in str(script.asked[1][0])
    assert result.output == "There is none."


def test_the_test_model_calls_every_tool(memory: Holdfast) -> None:
    toolset = memory_toolset(memory.hub(), read_only=True)
    agent = Agent(
        ModelThatCallsEverything(call_tools=["recall", "memory_context"]), toolsets=[toolset]
    )
    assert agent.run_sync("Hello").output
    assert "remember" not in toolset.tools


def test_instructions_hold_what_is_known_about_the_prompt(memory: Holdfast) -> None:
    alice, bob = memory.create_hub("alice"), memory.create_hub("bob")
    alice.remember("Alice is allergic to peanuts")
    script = Scripted(TextPart("No."), TextPart("Yes."))
    for hub in (alice, bob):
        agent = Agent(script.model, instructions=["Be brief.", memory_instructions(hub)])
        agent.run_sync("May Alice eat peanut butter?")
    assert "Be brief." in script.instructions(0)
    assert "allergic to peanuts" in script.instructions(0)
    assert "allergic" not in script.instructions(1)


def test_a_history_captures_each_turn_once_and_keeps_the_last_ones(memory: Holdfast) -> None:
    hub = memory.hub()
    history = MemoryHistory(hub, session="s", keep=2)
    script = Scripted(
        TextPart("Hello Ann."),
        ToolCallPart("recall", {"query": "x"}),
        TextPart("Your dog is Rex."),
        TextPart("You are welcome."),
    )
    agent = Agent(script.model, toolsets=[memory_toolset(hub)], **with_history(history))
    messages: list[ModelMessage] = []
    for said in ("I am Ann.", "My dog is Rex.", "Thanks!"):
        result = agent.run_sync(said, message_history=messages)
        messages = result.all_messages()
    last = script.asked[-1][0]
    assert "I am Ann." not in str(last)
    assert "My dog is Rex." in str(last)
    asyncio.run(history.observe(messages))
    asyncio.run(history.observe(messages))
    logged = [turn.content for turn in reversed(hub.turns(session="s"))]
    assert logged[:4] == [
        "I am Ann.",
        "Hello Ann.",
        "My dog is Rex.",
        "Your dog is Rex.",
    ]
    assert len(logged) == 6


def test_our_errors_are_those_of_the_framework(memory: Holdfast) -> None:
    with pytest.raises(UserError):
        MemoryHistory(memory.hub(), keep=0)
    agent = Agent(Scripted().model, instructions=memory_instructions(memory.hub()))
    memory.close()
    with pytest.raises(UserError, match="closed"):
        agent.run_sync("Hello")


def test_the_examples_of_the_page_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert wrong_on_page("pydantic-ai.md", tmp_path, monkeypatch) == []
