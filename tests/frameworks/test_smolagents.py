"""The memory tools and the capturing callback of smolagents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from smolagents import CodeAgent, Model, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from holdfast import Holdfast
from holdfast.adapters.smolagents import capture, memory_tools
from tests.frameworks.pages import wrong_on_page


class ScriptedModel(Model):
    """Answers with what it was given, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(model_id="scripted")
        self.answers = list(answers)
        self.asked: list[Any] = []

    def generate(self, messages: Any, *args: Any, **values: Any) -> ChatMessage:
        self.asked.append(messages)
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=answer)
        function = ChatMessageToolCallFunction(name=answer[0], arguments=answer[1])
        call = ChatMessageToolCall(id=f"c{len(self.asked)}", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def test_a_tool_calling_agent_remembers_recalls_and_is_captured(memory: Holdfast) -> None:
    hub = memory.hub()
    model = ScriptedModel(
        ("remember", {"content": "Alice prefers oolong tea"}),
        ("recall", {"query": "What tea does Alice prefer?"}),
        ("forget", {"number": 77}),
        ("final_answer", {"answer": "Oolong."}),
    )
    agent = ToolCallingAgent(
        tools=memory_tools(hub, agent="a"),
        model=model,
        step_callbacks=[capture(hub, session="s")],
        verbosity_level=0,
    )
    assert agent.run("What tea does Alice like?") == "Oolong."
    [kept] = hub.list()
    assert (kept.content, kept.source_agent, kept.trust) == (
        "Alice prefers oolong tea",
        "a",
        "agent",
    )
    assert "Alice prefers oolong tea" in str(model.asked[2])
    assert "There is no memory #77" in str(model.asked[3])
    assert [turn.content for turn in hub.turns(session="s")] == [
        "Oolong.",
        "What tea does Alice like?",
    ]


def test_a_filter_is_text_or_an_object(memory: Holdfast) -> None:
    hub = memory.hub()
    hub.remember("The billing deploy needs a review", metadata={"team": "core"})
    hub.remember("The web shop deploy is automatic", metadata={"team": "web"})
    [recall] = [tool for tool in memory_tools(hub) if tool.name == "recall"]
    for where in ("team in (core, ops)", {"team": {"in": ["core", "ops"]}}):
        found = recall(query="deploy", where=where)
        assert "billing" in found and "web shop" not in found
    assert "'near' is not an operator" in recall(query="deploy", where={"team": {"near": 1}})


def test_a_code_agent_calls_tools_by_name_and_by_position(memory: Holdfast) -> None:
    hub = memory.hub()
    code = (
        "Thought: I store it.\n<code>\nremember('Bob prefers coffee', category='preference')\n"
        "final_answer(recall(query='What does Bob prefer to drink: coffee?'))\n</code>"
    )
    agent = CodeAgent(tools=memory_tools(hub), model=ScriptedModel(code), verbosity_level=0)
    assert "Bob prefers coffee" in str(agent.run("What does Bob drink?"))
    assert hub.list()[0].category == "preference"


def test_reading_tools_leave_out_those_that_write(memory: Holdfast) -> None:
    names = {tool.name for tool in memory_tools(memory.hub(), read_only=True)}
    assert "recall" in names
    assert "remember" not in names


def test_the_examples_of_the_page_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert wrong_on_page("smolagents.md", tmp_path, monkeypatch) == []
