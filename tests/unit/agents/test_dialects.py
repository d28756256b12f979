"""All dialects at once: the contracts as one table of calls and replies, and that what one writes
the others find."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import holdfast
from holdfast import Holdfast, HubMemory
from holdfast.agents import ToolContext
from holdfast.agents.dialects import NAMES, _read_tool, find_dialect
from holdfast.agents.wording import notes_of
from holdfast.domain.query import Recalled
from holdfast.errors import Forbidden
from holdfast.testing import FixedClock, open_for_tests


class Row(NamedTuple):
    """A call of a tool and its reply: to the letter, as a pattern, or as data."""

    dialect: str
    tool: str
    args: dict[str, Any]
    reply: str | re.Pattern[str] | dict[str, Any] | Callable[[dict[str, Any]], bool]
    failed: bool = False


def like(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


ID = "mem_[0-9]+"
# In the order in which they are called, on one hub: later rows see what earlier ones wrote.
CONTRACT: list[Row] = [
    # holdfast
    Row("holdfast", "recall", {"query": "tea"}, like("Nothing in memory matches “tea”.*")),
    Row(
        "holdfast",
        "remember",
        {"content": "Drinks green tea", "category": "preference", "key": "tea"},
        like(rf"Remembered #1 \(preference, id {ID}\)\.\n> Drinks green tea"),
    ),
    Row(
        "holdfast",
        "remember",
        {"content": "Drinks green tea"},
        like(rf"Already known as #1 \(preference, id {ID}\); nothing new was stored\..*"),
    ),
    Row(
        "holdfast",
        "remember",
        {"content": "Drinks black tea", "key": "tea"},
        like(r"Updated #1 .*> Drinks black tea\nIt said before:\n> Drinks green tea"),
    ),
    Row(
        "holdfast",
        "remember",
        {"content": "Drinks black tea from Assam", "supersedes": 1},
        like(
            r"Remembered #2 .* It supersedes #1\.\n> Drinks black tea from Assam\n"
            r"That one said:\n> Drinks black tea"
        ),
    ),
    Row("holdfast", "forget", {"number": 2}, like(r"Forgot #2 .*")),
    Row(
        "holdfast",
        "recall",
        {"query": "tea", "limit": 1},
        like(
            r"1 memory, best first:\n\n#1 · 2026-01-14 · preference · from sdk · key tea\n.*why: .*"
        ),
    ),
    Row("holdfast", "memory_get", {"key": "tea"}, like(r"#1 .*version 4, .*> Drinks black tea")),
    Row("holdfast", "memory_get", {"date": "today"}, "There is no journal entry for today."),
    Row("holdfast", "memory_context", {}, like(r"<memory hub=.*Drinks black tea.*</memory>\n?")),
    Row("holdfast", "forget", {"key": "tea"}, like(r"Forgot #1 .*`holdfast restore 1` brings .*")),
    # max
    Row(
        "max",
        "remember",
        {"category": "preference", "content": "Prefers TypeScript over JavaScript"},
        'Remembered (#3, preference): "Prefers TypeScript over JavaScript"',
    ),
    Row(
        "max",
        "remember",
        {"category": "project", "content": "Uses pnpm", "source": "auto"},
        'Remembered (#4, project): "Uses pnpm"',
    ),
    Row(
        "max",
        "recall",
        {"keyword": "typescript"},
        "Found 1 memory:\n"
        "• #3 [preference] Prefers TypeScript over JavaScript (user, 2026-01-14 12:00:12)",
    ),
    Row(
        "max",
        "recall",
        {},
        like(r"Found 2 memories:\n• #3 .*\n• #4 \[project\] Uses pnpm \(auto, 2026-01-14 .*\)"),
    ),
    Row("max", "recall", {"keyword": "nothing"}, "No matching memories found."),
    Row("max", "forget", {"memory_id": 4}, "Memory #4 forgotten."),
    Row(
        "max",
        "forget",
        {"memory_id": 4},
        "Memory #4 not found — it may have already been removed.",
    ),
    # maven
    Row("maven", "memory_search", {"query": "postgres"}, "No memory journal files found."),
    Row("maven", "memory_get", {"date": "today"}, like(r"No journal entry for .*\.")),
    Row("maven", "remember", {"content": "User prefers Postgres on Hetzner"}, "Remembered."),
    Row("maven", "remember", {"content": "  "}, "remember: content is required", failed=True),
    Row("maven", "remember", {}, "remember: content is required", failed=True),
    Row(
        "maven",
        "memory_search",
        {"query": "POSTGRES"},
        like(r"## 2026-01-14\n+.*User prefers Postgres on Hetzner.*"),
    ),
    Row("maven", "memory_search", {"query": "mysql"}, 'No journal entries matching "mysql".'),
    Row("maven", "memory_get", {"date": "today"}, like(r"## 2026-01-14\n+.*Postgres on Hetzner.*")),
    Row("maven", "memory_get", {"date": "2026-01-13"}, "No journal entry for 2026-01-13."),
    Row("maven", "memory_get", {"date": "2026-02-31"}, like(".*2026-02-31.*"), failed=True),
    # memax
    Row("memax", "memax_recall", {"query": "zebra"}, like(r"No results found\..*")),
    Row(
        "memax",
        "memax_push",
        {"content": "Deploys run on Fridays", "title": "Deploys"},
        like(rf"Saved: Deploys \(id: {ID}\)"),
    ),
    Row("memax", "memax_recall", {"query": "deploys"}, like(".*Deploys run on Fridays.*")),
    Row("memax", "memax_hubs", {}, like(".*work.*")),
    Row("memax", "memax_hub_members", {}, like(".*owner.*")),
    Row(
        "memax",
        "memax_request_decision",
        {"question": "Which queue?", "options": ["one"]},
        like(".*options.*"),
        failed=True,
    ),
    # minion
    Row(
        "minion",
        "memory_update",
        {"action": "append", "content": "- Likes rye bread"},
        {"success": True},
    ),
    Row("minion", "memory_read", {}, lambda told: "- Likes rye bread" in told["content"]),
    Row(
        "minion",
        "memory_update",
        {"action": "burn", "content": "x"},
        like(".*action.*"),
        failed=True,
    ),
    # pynchy
    Row(
        "pynchy",
        "save_memory",
        {"key": "color", "content": "Favorite color is teal"},
        {"key": "color", "status": "created"},
    ),
    Row(
        "pynchy",
        "save_memory",
        {"key": "color", "content": "Favorite color is blue"},
        {"key": "color", "status": "updated"},
    ),
    Row("pynchy", "save_memory", {}, "Error: Missing required fields: key, content", failed=True),
    Row(
        "pynchy",
        "recall_memories",
        {"query": "favorite color", "limit": 1},
        lambda told: (
            told["count"] == 1
            and set(told["memories"][0])
            == {"key", "content", "category", "metadata", "updated_at", "score"}
            and told["memories"][0]["content"] == "Favorite color is blue"
        ),
    ),
    Row(
        "pynchy",
        "list_memories",
        {"category": "core"},
        lambda told: (
            told["count"] == 1 and set(told["memories"][0]) == {"key", "category", "updated_at"}
        ),
    ),
    Row("pynchy", "forget_memory", {"key": "color"}, {"removed": True}),
    Row("pynchy", "forget_memory", {"key": "color"}, {"removed": False}),
    # anthropic
    Row(
        "anthropic",
        "memory",
        {"command": "create", "path": "/memories/notes.md", "file_text": "one\ntwo\n"},
        "File created successfully at: /memories/notes.md",
    ),
    Row(
        "anthropic",
        "memory",
        {"command": "create", "path": "/memories/notes.md", "file_text": "x"},
        like(".*File /memories/notes.md already exists.*"),
        failed=True,
    ),
    Row(
        "anthropic",
        "memory",
        {"command": "view", "path": "/memories/notes.md"},
        like(
            r"Here's the content of /memories/notes.md with line numbers:\n"
            r"     1\tone\n     2\ttwo.*"
        ),
    ),
    Row(
        "anthropic",
        "memory",
        {"command": "view", "path": "/memories"},
        like(
            r"Here're the files and directories up to 2 levels deep in /memories, "
            r"excluding hidden items:\n.*\t/memories/notes.md.*"
        ),
    ),
    Row(
        "anthropic",
        "memory",
        {"command": "str_replace", "path": "/memories/notes.md", "old_str": "two", "new_str": "2"},
        like(
            r"The memory file has been edited\. Here is the snippet showing the change "
            r"\(with line numbers\):.*"
        ),
    ),
    Row(
        "anthropic",
        "memory",
        {
            "command": "insert",
            "path": "/memories/notes.md",
            "insert_line": 0,
            "insert_text": "zero\n",
        },
        "The file /memories/notes.md has been edited.",
    ),
    Row(
        "anthropic",
        "memory",
        {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/n.md"},
        "Successfully renamed /memories/notes.md to /memories/n.md",
    ),
    Row(
        "anthropic",
        "memory",
        {"command": "view", "path": "/memories/notes.md"},
        "The path /memories/notes.md does not exist. Please provide a valid path.",
        failed=True,
    ),
    Row(
        "anthropic",
        "memory",
        {"command": "delete", "path": "/memories/n.md"},
        "Successfully deleted /memories/n.md",
    ),
    Row("anthropic", "memory", {"command": "delete", "path": "/memories"}, like(".+"), failed=True),
    # chatgpt
    Row(
        "chatgpt",
        "search",
        {"query": "deploys on fridays"},
        lambda told: set(told["results"][0]) == {"id", "title", "url"},
    ),
    Row("chatgpt", "fetch", {"id": "mem_nothing"}, like(".*no memory.*"), failed=True),
]


def test_every_row_of_the_contracts_holds(hub: HubMemory, clock: FixedClock) -> None:
    for number, row in enumerate(CONTRACT):
        clock.tick()
        reply = holdfast.tools(row.dialect, hub).call(row.tool, row.args)
        said = f"row {number}: {row.dialect} {row.tool} {row.args} answered {reply.text!r}"
        assert reply.failed == row.failed, said
        if isinstance(row.reply, str):
            assert reply.text == row.reply, said
        elif isinstance(row.reply, re.Pattern):
            assert row.reply.fullmatch(reply.text), said
        elif isinstance(row.reply, dict):
            assert reply.data == row.reply, said
            assert json.loads(reply.text) == row.reply
        else:
            assert reply.data is not None, said
            assert row.reply(reply.data), said


def test_a_tool_that_runs_an_operation_needs_no_handler(hub: HubMemory) -> None:
    said = "## {0}: {0} ({1})\nDoes it.\n- reference (reference, required): Which."
    unpin = _read_tool(said.format("unpin", "repeats, runs unpin"), {}, {})
    assert (unpin.reads, unpin.repeats, unpin.extra) == (False, True, False)
    pinned = hub.remember("Drinks tea", pinned=True).memory
    assert unpin.run(ToolContext(hub), {"reference": pinned.number}) == "> #1"
    assert not hub.get(pinned.id).pinned
    assert _read_tool(said.format("history", "extra, runs history"), {}, {}).reads
    forbidden = hub.core.acting(permit=_forbid)
    with pytest.raises(Forbidden):
        unpin.run(ToolContext(HubMemory(forbidden, hub.info, hub.home)), {"reference": 1})


def _forbid(act: str, memory: object) -> None:
    raise Forbidden(f"You may not {act}.")


def test_the_table_calls_every_tool_that_is_offered() -> None:
    called = {(row.dialect, row.tool) for row in CONTRACT}
    # These have tables of their own: test_memax.py.
    elsewhere = {
        ("memax", name)
        for name in ("memax_get", "memax_list", "memax_forget", "memax_capture", "memax_topics")
    }
    offered = {
        (name, tool.name) for name in NAMES for tool in find_dialect(name).tools if not tool.extra
    }
    assert offered == called | elsewhere


def test_the_contracts_name_the_tools_that_there_are(hub: HubMemory) -> None:
    expected = {
        "holdfast": "remember recall forget memory_get memory_context",
        "max": "remember recall forget",
        "maven": "remember memory_search memory_get",
        "memax": "memax_recall memax_push memax_get memax_list memax_hubs memax_hub_members"
        " memax_forget memax_capture memax_topics memax_request_decision",
        "minion": "memory_read memory_update",
        "pynchy": "save_memory recall_memories forget_memory list_memories",
        "anthropic": "memory",
        "chatgpt": "search fetch",
    }
    for name, names in expected.items():
        assert set(holdfast.tools(name, hub).names) == set(names.split()), name


WRITERS: dict[str, tuple[str, dict[str, Any]]] = {
    "holdfast": ("remember", {"content": "The blue heron nests by the weir"}),
    "max": ("remember", {"category": "fact", "content": "The blue heron nests by the weir"}),
    "maven": ("remember", {"content": "The blue heron nests by the weir"}),
    "memax": ("memax_push", {"content": "The blue heron nests by the weir"}),
    "minion": (
        "memory_update",
        {"action": "append", "content": "- The blue heron nests by the weir"},
    ),
    "pynchy": ("save_memory", {"key": "heron", "content": "The blue heron nests by the weir"}),
    "anthropic": (
        "memory",
        {
            "command": "create",
            "path": "/memories/birds.md",
            "file_text": "The blue heron nests by the weir\n",
        },
    ),
}
FINDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "holdfast": ("recall", {"query": "heron weir"}),
    "max": ("recall", {"keyword": "heron"}),
    "memax": ("memax_recall", {"query": "heron weir"}),
    "pynchy": ("recall_memories", {"query": "heron weir"}),
    "chatgpt": ("search", {"query": "heron weir"}),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_what_one_dialect_writes_the_others_find(hub: HubMemory, writer: str) -> None:
    tool, args = WRITERS[writer]
    assert not holdfast.tools(writer, hub).call(tool, args).failed
    for finder, (search, query) in FINDERS.items():
        found = holdfast.tools(finder, hub).call(search, query)
        assert "heron" in found.text.lower() or "birds" in found.text, f"{finder}: {found.text}"


@pytest.mark.parametrize("writer", WRITERS)
def test_no_dialect_reaches_another_hub(memory: Holdfast, hub: HubMemory, writer: str) -> None:
    other = memory.create_hub("other")
    tool, args = WRITERS[writer]
    assert not holdfast.tools(writer, other).call(tool, args).failed
    secret = other.list()[0]
    for name in NAMES:
        tools = holdfast.tools(name, hub, all_tools=True)
        for one in tools.tools:
            for value in ("heron weir", secret.id, str(secret.number), secret.key or "heron"):
                given = {
                    parameter.name: value
                    for parameter in one.parameters
                    if parameter.kind in ("text", "reference") and not parameter.choices
                }
                if one.name in ("forget", "memory_undo") or "create" in str(one.parameters):
                    given.pop("file_text", None)
                reply = tools.call(one.name, {k: v for k, v in given.items() if k != "content"})
                assert "nests by the weir" not in reply.text, f"{name} {one.name} {given}"
    assert other.get(secret.id).content == secret.content


@pytest.mark.parametrize("dialect", NAMES)
def test_read_only_leaves_the_hub_as_it_was(
    hub: HubMemory, clock: FixedClock, dialect: str
) -> None:
    hub.remember("Drinks green tea", key="tea")
    hub.journal_add("Ran ten miles")
    before = list(hub.export())
    tools = holdfast.tools(dialect, hub, read_only=True, all_tools=True)
    clock.tick()
    for tool in find_dialect(dialect).tools:
        given: dict[str, Any] = {}
        for parameter in tool.parameters:
            if parameter.required:
                given[parameter.name] = (
                    parameter.choices[0]
                    if parameter.choices
                    else {"text": "tea", "whole": 1, "reference": 1, "texts": ["a", "b"]}.get(
                        parameter.kind
                    )
                )
        tools.call(tool.name, given)

    def without_counters(lines: list[str]) -> list[dict[str, Any]]:
        told = [json.loads(line) for line in lines]
        for line in told:
            for counter in ("access_count", "accessed_at", "shown_count"):
                line.pop(counter, None)
        return told

    assert without_counters(list(hub.export())) == without_counters(before)
    assert not Path(hub.folder, "files").exists()


@pytest.mark.parametrize(
    ("dialect", "tool", "given", "named"),
    [
        ("holdfast", "remember", {}, "Close to #1; remember it with supersedes 1"),
        ("max", "remember", {"category": "fact"}, "Close to #1; forget #1 if this replaces it."),
        (
            "max",
            "remember",
            {"category": "fact", "source": "auto"},
            "Close to #1; forget #1 if this replaces it.",
        ),
        ("memax", "memax_push", {}, "Close to: The owner of the billing service is Maria"),
    ],
)
def test_what_may_be_meant_to_replace_another_memory_names_it(
    hub: HubMemory, dialect: str, tool: str, given: dict[str, str], named: str
) -> None:
    hub.remember("The owner of the billing service is Maria")
    content = {"content": "Tom owns the billing service now"}
    reply = holdfast.tools(dialect, hub).call(tool, {**given, **content})
    assert named in reply.text


@pytest.mark.parametrize(
    ("dialect", "tool", "given"),
    [
        ("holdfast", "recall", {"query": "porto"}),
        ("max", "recall", {"keyword": "porto"}),
        ("memax", "memax_recall", {"query": "porto"}),
        ("pynchy", "recall_memories", {"query": "porto"}),
        ("chatgpt", "fetch", {"id": "mem_00000002"}),
    ],
)
def test_what_was_captured_by_itself_is_marked(
    tmp_path: Path, dialect: str, tool: str, given: dict[str, Any]
) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.create_hub("own")
        hub.flush([{"role": "user", "content": "I live in Porto."}])
        shown = holdfast.tools(dialect, hub).call(tool, given).text
        assert "Lives in Porto" in shown and re.search(r"\bauto\b", shown), shown
        hub.flush([{"role": "user", "content": "Remember that the gate in Faro is green."}])
        asked = [one for one in hub.list() if "Faro" in one.content]
        assert asked and not any(one.is_auto for one in asked)


def test_the_note_on_what_is_not_shown_keeps_number_and_reason_apart() -> None:
    found = Recalled([], filtered={"an answer is too unlikely": 2, "a better hit says the same": 1})
    assert list(notes_of(found)) == [
        "Note: found but not shown: 2 (an answer is too unlikely); 1 (a better hit says the same)."
    ]
