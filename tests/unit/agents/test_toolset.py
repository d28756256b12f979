"""A call of a tool: arguments are checked, mistakes are answered in sentences, nothing raises."""

from __future__ import annotations

from typing import Any

import pytest

import holdfast
from holdfast import CallCancelled, Holdfast, HubMemory
from holdfast.agents import ToolContext
from holdfast.agents.dialects import find_dialect
from holdfast.agents.toolset import Toolset
from holdfast.edges.mcp.resources import Resources


def test_a_call_answers_with_text(hub: HubMemory) -> None:
    tools = holdfast.tools("holdfast", hub, agent="tester")
    reply = tools.call("remember", {"content": "Prefers tabs", "category": "preference"})
    assert not reply.failed
    assert str(reply).startswith("Remembered #1 (preference, id mem_")
    assert hub.get(1).source_agent == "tester"
    assert hub.get(1).trust == "agent"


def test_what_is_about_a_word_is_listed_and_a_person_forgets_it(hub: HubMemory) -> None:
    ours = holdfast.tools("holdfast", hub)
    hub.remember("The heron nests in May")
    hub.log_turn("user", "I saw the heron's nest", session="s")
    hub.remember("The trumpet is in the hall")
    listed = ours.call("forget", {"about": "heron"}).text
    assert "1 memory and 1 turn hold “heron”" in listed and "nests in May" in listed
    assert "`holdfast log forget --about heron`" in listed and "trumpet" not in listed
    assert len(hub.list()) == 2 and len(hub.turns()) == 1
    assert "Nothing is remembered" in ours.call("forget", {"about": "walrus"}).text
    assert "not both" in ours.call("forget", {"about": "heron", "number": 1}).text


FILTERS: list[Any] = [
    "team in (core, ops) and not priority < 2",
    {"team": {"in": ["core", "ops"]}, "NOT": [{"priority": {"lt": 2}}]},
    {"AND": [{"team": {"$in": ["core"]}}, {"priority": {"$gte": 2}}]},
    {"tags": {"in": ["billing", "none"]}},
    '{"team": "core", "priority": {"gte": 2}}',
]


@pytest.mark.parametrize("where", FILTERS)
def test_a_filter_is_a_line_an_object_or_the_json_of_one(hub: HubMemory, where: Any) -> None:
    team = {"team": "core", "priority": 3}
    hub.remember("The billing deploy needs a review", metadata=team, tags=["billing"])
    hub.remember("The web shop deploy is automatic", metadata={"team": "web", "priority": 3})
    hub.remember("The core deploy has a runbook", metadata={"team": "core", "priority": 1})
    ours = holdfast.tools("holdfast", hub, all_tools=True)
    for reply in (
        ours.call("recall", {"query": "deploy", "where": where}),
        ours.call("memory_list", {"where": where}),
    ):
        assert not reply.failed, reply.text
        assert "billing deploy" in reply.text
        assert "web shop" not in reply.text and "runbook" not in reply.text


def test_an_empty_filter_leaves_nothing_out(hub: HubMemory) -> None:
    hub.remember("The web shop deploy is automatic")
    ours = holdfast.tools("holdfast", hub)
    for where in ({}, "", None):
        assert "web shop" in ours.call("recall", {"query": "deploy", "where": where}).text


def test_tools_can_be_listed(hub: HubMemory) -> None:
    tools = holdfast.tools("holdfast", hub)
    assert tuple(tool.name for tool in tools) == tools.names


MISTAKES: list[tuple[str, Any, str]] = [
    ("remember", None, "remember: content must be given."),
    ("remember", {}, "remember: content must be given."),
    ("remember", {"content": None}, "remember: content must be given."),
    ("remember", {"content": 5}, "remember: content must be text, not 5."),
    ("remember", {"content": True}, "remember: content must be text, not true."),
    ("remember", {"content": ["a"]}, "remember: content must be text, not a list."),
    ("remember", {"content": {"a": 1}}, "remember: content must be text, not an object."),
    ("remember", ["Prefers tabs"], "remember: the arguments must be an object"),
    ("remember", {"content": "a", "contnt": 1}, "has no argument 'contnt'. Did you mean content?"),
    ("remember", {"content": "a", "tags": "x"}, "tags must be a list of texts, not 'x'."),
    ("remember", {"content": "a", "tags": ["b", 1]}, "tags must be a list of texts; 1 is no text."),
    ("remember", {"content": "a", "pinned": "yes"}, "pinned must be true or false, not 'yes'."),
    ("remember", {"content": "a", "kind": "odd"}, "kind must be one of episodic, semantic"),
    ("recall", {"query": "a", "limit": 0}, "recall: limit must be 1 to 50; 0 is not."),
    ("recall", {"query": "a", "limit": 51}, "recall: limit must be 1 to 50; 51 is not."),
    ("recall", {"query": "a", "limit": 2.5}, "limit must be a whole number, not 2.5."),
    ("recall", {"query": "a", "limit": True}, "limit must be a whole number, not true."),
    ("recall", {"query": "a", "since": "the 31st of nowhere"}, "the 31st of nowhere"),
    (
        "recall",
        {"query": "a", "where": 5},
        "where must be a condition as text or as an object, not 5",
    ),
    ("recall", {"query": "a", "where": ["b"]}, "as text or as an object, not a list."),
    ("recall", {"query": "a", "where": {"team": {"near": 1}}}, "'near' is not an operator."),
    ("recall", {"query": "a", "where": {"team": ["core"]}}, "A list stands beside 'team'. Write"),
    ("recall", {"query": "a", "where": {"OR": {}}}, "OR needs a list of conditions. Write"),
    ("recall", {"query": "a", "where": '{"team": }'}, "begins like a JSON object and is none"),
    ("recall", {"query": "a", "where": "team ="}, "a value after '='"),
    ("forget", {}, "Say which memory: its id, its number or its key."),
    ("forget", {"id": "mem_1", "number": 1}, "Name the memory once"),
    ("forget", {"number": 99}, "There is no memory"),
    ("forget", {"number": 10**30}, "There is no memory"),
    ("memory_get", {"date": "2026-02-31"}, "2026-02-31"),
    ("memory_get", {"date": "today", "number": 1}, "not both"),
    ("memory_context", {"budget": 10}, "budget must be 200 to 1000000; 10 is not."),
    ("no_such_tool", {}, "There is no tool 'no_such_tool'. The tools are remember, recall"),
    ("memory_list", {}, "The tool memory_list cannot be used"),
]


@pytest.mark.parametrize(("tool", "args", "sentence"), MISTAKES)
def test_a_mistake_is_answered_with_a_sentence(
    hub: HubMemory, tool: str, args: Any, sentence: str
) -> None:
    reply = holdfast.tools("holdfast", hub).call(tool, args)
    assert reply.failed
    assert sentence in reply.text
    assert hub.list() == []


def test_a_wrong_value_of_ten_megabytes_does_not_come_back(hub: HubMemory) -> None:
    huge = "x" * 10_000_000
    reply = holdfast.tools("holdfast", hub).call("recall", {"query": "a", "kind": huge})
    assert reply.failed
    assert len(reply.text) < 300


@pytest.mark.parametrize(
    ("dialect", "tool", "args"),
    [
        ("holdfast", "memory_get", {"date": "x" * 10_000_000}),
        ("memax", "memax_recall", {"query": "a", "hub": "x" * 10_000_000}),
        ("memax", "memax_topics", {"hub": "x" * 10_000_000}),
    ],
)
def test_a_name_of_ten_megabytes_does_not_come_back(
    hub: HubMemory, dialect: str, tool: str, args: dict[str, str]
) -> None:
    reply = holdfast.tools(dialect, hub).call(tool, args)
    assert reply.failed
    assert len(reply.text) < 400


def test_what_is_answered_can_be_sent_as_utf8(hub: HubMemory) -> None:
    reply = holdfast.tools("holdfast", hub).call("recall", {"query": "\ud83d cut"})
    assert reply.text.startswith("Nothing in memory matches “\ufffd cut”.")


def test_where_no_tool_is_offered_it_is_said(hub: HubMemory) -> None:
    writing = find_dialect("anthropic")._replace(when_read_only=())
    reply = Toolset(writing, ToolContext(hub), read_only=True).call("memory", {"command": "view"})
    assert reply.text == (
        "The tool memory cannot be used: this memory is read-only. No tools are offered here."
    )


def test_a_rarer_tool_that_reads_is_not_refused_as_if_it_wrote(hub: HubMemory) -> None:
    tools = holdfast.tools("holdfast", hub, read_only=True)
    assert tools.call("memory_list", {}).text.startswith(
        "The tool memory_list cannot be used: it is not one of those offered."
    )
    assert tools.call("remember", {}).text.startswith(
        "The tool remember cannot be used: this memory is read-only."
    )


def test_ten_megabytes_of_content_are_refused_with_a_sentence(hub: HubMemory) -> None:
    reply = holdfast.tools("holdfast", hub).call("remember", {"content": "x" * 10_000_000})
    assert reply.failed
    assert "at most 3,000,000 are allowed" in reply.text


def test_whole_numbers_may_be_written_as_json_has_them(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    assert not holdfast.tools("holdfast", hub).call("recall", {"query": "a", "limit": 3.0}).failed
    assert not holdfast.tools("holdfast", hub).call("memory_get", {"number": "1"}).failed
    assert not holdfast.tools("holdfast", hub).call("memory_get", {"number": "#1"}).failed


def test_read_only_offers_and_allows_nothing_that_writes(hub: HubMemory) -> None:
    tools = holdfast.tools("holdfast", hub, read_only=True, all_tools=True)
    assert all(tool.reads for tool in tools.tools)
    reply = tools.call("remember", {"content": "Prefers tabs"})
    assert reply.failed
    assert "read-only" in reply.text
    assert hub.list() == []


def test_the_less_usual_tools_are_offered_when_asked_for(hub: HubMemory) -> None:
    few = holdfast.tools("holdfast", hub).names
    assert few == ("remember", "recall", "forget", "memory_get", "memory_context")
    many = holdfast.tools("holdfast", hub, all_tools=True).names
    assert many[: len(few)] == few
    assert {
        "memory_update",
        "memory_list",
        "memory_history",
        "memory_undo",
        "log_turn",
        "archive_conversation",
        "review",
    } <= set(many)


def test_an_unknown_dialect_is_named_with_those_there_are(hub: HubMemory) -> None:
    with pytest.raises(holdfast.InvalidInput, match="Use holdfast, "):
        holdfast.tools("mavn", hub)


def test_a_desk_knows_no_hub_but_its_own(memory: Holdfast, hub: HubMemory) -> None:
    memory.create_hub("other")
    context = ToolContext(hub)
    assert [found.name for found in context.hubs()] == ["work"]
    with pytest.raises(holdfast.NotFound) as there:
        context.hub_named("other")
    with pytest.raises(holdfast.NotFound) as nowhere:
        context.hub_named("nowhere")
    assert str(there.value).replace("other", "x") == str(nowhere.value).replace("nowhere", "x")
    wide = ToolContext(hub, every_hub=True)
    assert wide.hub_named("other").name == "other"
    assert [found.name for found in wide.hubs()] == ["other", "work"]


def test_an_id_of_another_hub_is_not_found(memory: Holdfast, hub: HubMemory) -> None:
    secret = memory.create_hub("other").remember("The vault is blue").memory
    tools = holdfast.tools("holdfast", hub, all_tools=True)
    for name in ("memory_get", "forget", "memory_history"):
        reply = tools.call(name, {"id": secret.id})
        assert reply.failed, name
        assert "vault" not in reply.text
    assert "The vault" not in tools.call("recall", {"query": "vault blue"}).text


def test_long_work_reports_and_stops_when_nobody_waits(hub: HubMemory) -> None:
    from pathlib import Path

    folder = Path(hub.folder, "files")
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThe {number}th note.\n")
    tools = Toolset(find_dialect("holdfast"), ToolContext(hub), all_tools=True)
    seen: list[tuple[int, int | None]] = []
    assert "30 added" in tools.call("index_files", report=lambda d, t, _: seen.append((d, t))).text
    assert seen
    assert seen[-1] == (30, 30)

    for number in range(30):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nChanged {number}.\n")

    def give_up(done: int, total: int | None, note: str) -> None:
        raise CallCancelled("Nobody waits.")

    with pytest.raises(CallCancelled):
        tools.call("index_files", report=give_up)
    assert "index" not in tools.call("recall", {"query": "changed"}).text


def test_addresses_of_a_hub_with_letters_of_any_script_can_be_read(memory: Holdfast) -> None:
    hub = memory.create_hub("café")
    hub.remember("The heron nests at the weir")
    found = holdfast.tools("chatgpt", hub).call("search", {"query": "heron"}).data
    assert found is not None
    assert found["results"][0]["url"] == f"memory://caf%C3%A9/{hub.get(1).id}"
    assert Resources(hub).read(found["results"][0]["url"]).text.endswith("at the weir")
