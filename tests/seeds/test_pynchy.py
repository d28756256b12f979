"""Pynchy (seed 004): four tools on memories with keys, a folder of files for each group, and
archives of conversations."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Holdfast, HubMemory
from holdfast.store.inmemory import InMemoryStore
from holdfast.testing import FixedClock, open_for_tests
from tests.edges.hooks.hook_calls import Hooks
from tests.edges.hooks.test_hooks import transcript
from tests.seeds.documented import Seed, documented

SEED = Seed(
    "004",
    "Pynchy",
    "pynchy",
    58,
    {
        "navigation, title and headings": [1, 3, 9, 13, 21, 28, 30, 35, 42, 46, 53],
        "empty": [
            *(2, 4, 6, 8, 10, 12, 18, 20, 25, 27, 29, 31, 34, 36, 38, 41, 43, 45, 47, 49, 52),
            *(54, 56, 57),
        ],
    },
)


def call(hub: HubMemory, name: str, **args: Any) -> dict[str, Any]:
    reply = holdfast.tools("pynchy", hub, agent="pynchy").call(name, args)
    assert not reply.failed, reply.text
    assert reply.data is not None
    return reply.data


def recalled(hub: HubMemory, query: str, **more: Any) -> list[str]:
    return [row["key"] for row in call(hub, "recall_memories", query=query, **more)["memories"]]


def put(hub: HubMemory, name: str, text: str) -> None:
    path = Path(hub.folder) / "files" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    at = hub.core.now().timestamp() - 3_600
    os.utime(path, (at, at))


@documented(
    "agents save preferences, recall decisions and keep context between sessions",
    lines=5,
    call="`holdfast mcp --dialect pynchy`",
)
def test_memories_outlive_a_session(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        call(memory.hub(), "save_memory", key="colour", content="The favourite colour is blue")
    with open_for_tests(tmp_path) as memory:
        assert recalled(memory.hub(), "favourite colour") == ["colour"]


@documented(
    "the backend can be swapped for another by a plugin",
    lines=(7, 58),
    call="`store.url`; the entry point `holdfast.stores` "
    "([write a store](../how-to/write-a-store.md))",
    differs="a swapped-in backend serves all four tools, and a conformance kit tests it",
)
def test_another_backend_serves_the_tools(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, store=InMemoryStore()) as memory:
        hub = memory.hub()
        assert call(hub, "save_memory", key="a", content="Blue sky")["status"] == "created"
        assert recalled(hub, "blue") == ["a"]
        assert call(hub, "list_memories")["count"] == 1
        assert call(hub, "forget_memory", key="a") == {"removed": True}


@documented(
    "each group has its own memory, which no other group can read",
    lines=11,
    call="a group is a hub: `memory.create_hub(name)`, `--hub NAME`",
)
def test_no_group_sees_another(memory: Holdfast) -> None:
    one, two = memory.create_hub("one"), memory.create_hub("two")
    call(one, "save_memory", key="code", content="The code is 4711")
    put(one, "notes.md", "The safe is behind the picture.")
    assert recalled(one, "safe")
    assert recalled(two, "code") == recalled(two, "safe") == []
    assert call(two, "list_memories") == {"memories": [], "count": 0}


@documented(
    "four tools: save_memory, recall_memories, forget_memory, list_memories",
    lines=(14, 15, 16, 17),
    call='`holdfast.tools("pynchy", hub)`',
    differs="recall and list read new files of the group; they change nothing else, and the "
    "schedule archives daily notes",
)
def test_the_four_tools(hub: HubMemory, clock: FixedClock) -> None:
    assert holdfast.tools("pynchy", hub).names == (
        *("save_memory", "recall_memories", "forget_memory", "list_memories"),
    )
    saved = call(hub, "save_memory", key="colour", content="The colour is blue")
    assert saved == {"key": "colour", "status": "created"}
    call(hub, "save_memory", key="standup", content="Standup at ten", category="daily")
    clock.tick(days=9)
    changes = hub.changes()
    assert recalled(hub, "standup") == []
    assert [row["key"] for row in call(hub, "list_memories")["memories"]] == ["colour"]
    assert hub.changes() == changes
    assert hub.get("standup").state == "active"
    hub.lifecycle()
    assert hub.get("standup").state == "archived"
    assert call(hub, "forget_memory", key="colour") == {"removed": True}


@documented(
    "a memory has a unique key, a content and a category",
    lines=19,
    call='`call save_memory {"key": …, "content": …}`; the same key again replaces it',
    differs="earlier contents of a key stay in its history",
)
def test_a_key_is_unique(hub: HubMemory) -> None:
    call(hub, "save_memory", key="colour", content="Blue")
    assert call(hub, "save_memory", key="colour", content="Green")["status"] == "updated"
    (row,) = call(hub, "recall_memories", query="green")["memories"]
    assert (row["key"], row["content"], row["category"]) == ("colour", "Green", "core")
    assert len(hub.history("colour")) == 2


@documented(
    "core is the default and permanent, daily is for the current work, conversation for archives",
    lines=(22, 23, 24, 26),
    call="`category` of save_memory; the instructions of the dialect tell the agent which",
    differs="daily notes cool after 2 days and are archived after 7, not destroyed",
)
def test_the_categories(hub: HubMemory, clock: FixedClock) -> None:
    call(hub, "save_memory", key="stack", content="The stack is Python")
    call(hub, "save_memory", key="today", content="Review the stack today", category="daily")
    assert hub.get("stack").category == "core"
    clock.tick(days=8)
    hub.lifecycle()
    assert recalled(hub, "stack") == ["stack"]
    dialect = holdfast.tools("pynchy", hub).dialect
    assert "daily for notes of the current work" in dialect.instructions


@documented(
    "each group has a folder whose files the agent reads on every run",
    lines=32,
    call="`hubs/<hub>/files/`; `hub.context()` lists them with their first lines",
    differs="within the budget of the block; the whole text is found by recall_memories",
)
def test_files_of_a_group_are_in_the_block(hub: HubMemory) -> None:
    put(hub, "deploy.md", "# Deploy guide\n\nThe staging server is called Hilda.\n\nMore text.")
    put(hub, "notes/team.md", "Ann leads the team.\n")
    block = hub.context()
    assert "## files\n" in block
    assert "deploy.md: Deploy guide · The staging server is called Hilda." in block
    assert "notes/team.md: Ann leads the team." in block
    put(hub, "new.md", "A new file.")
    assert "new.md: A new file." in hub.context()
    for number in range(80):
        put(hub, f"many/{number}.md", f"Note {number} " + "word " * 40)
    assert len(hub.context(budget=2_000)) <= 2_000


@documented(
    "groups create and read files in their folder",
    lines=33,
    call="`hub.files()` or Claude's memory tool (dialect `anthropic`); recall_memories finds them",
)
def test_files_can_be_created_and_found(hub: HubMemory) -> None:
    hub.files().create("/memories/plan.md", "The launch is called Heron.\n")
    assert (Path(hub.folder) / "files" / "plan.md").read_text() == "The launch is called Heron.\n"
    (row,) = call(hub, "recall_memories", query="launch")["memories"]
    assert "Heron" in row["content"]


@documented(
    "when a session compacts, the conversation is archived as a file and as a memory",
    lines=(37, 39, 40),
    call="by the hook PreCompact; in a host of one's own `hub.archive_conversation(session)`",
    differs="the memory is a summary, not the beginning; archiving never blocks a compaction",
)
def test_the_hook_archives_when_a_session_compacts(hooks: Hooks, tmp_path: Path) -> None:
    given = transcript(
        tmp_path / "session.jsonl",
        "We decided to deploy with the blue script on Mondays.",
        "Which colour is the sky?",
    )
    assert hooks.call("PreCompact", trigger="auto", **given) == ""
    (file,) = (hooks.home / "hubs" / "web" / "conversations").glob("*.md")
    assert "blue script" in file.read_text()
    args = json.dumps({"query": "deploy script", "category": "conversation"})
    told = json.loads(
        hooks.holdfast("call", "recall_memories", "--dialect", "pynchy", "--args", args)
    )
    assert told["memories"][0]["key"] == f"conversation-{file.stem}"
    assert told["memories"][0]["category"] == "conversation"


@documented(
    "the default backend is SQLite with full-text search",
    lines=44,
    call="nothing to call; `holdfast doctor` says which store is used",
    differs="words are analysed by Holdfast, so that ranking is the same on every store",
)
@pytest.mark.sqlite_only("about the file of the embedded store")
def test_the_default_backend_is_sqlite(hub: HubMemory) -> None:
    call(hub, "save_memory", key="a", content="Blue sky")
    header = (Path(hub.home) / "memory.db").read_bytes()[:15]
    assert header == b"SQLite format 3"


@documented(
    "recall ranks by BM25 first, best for natural language",
    lines=(48, 50),
    call='`call recall_memories {"query": "favorite color"}`',
)
def test_words_come_first_ranked_by_bm25(hub: HubMemory) -> None:
    call(hub, "save_memory", key="both", content="The project deadline is Friday")
    call(hub, "save_memory", key="one", content="The project has three people, a dog and a garden")
    assert recalled(hub, "project deadline")[0] == "both"
    assert recalled(hub, "a dog in the garden")[0] == "one"
    scores = [row["score"] for row in call(hub, "recall_memories", query="project")["memories"]]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)


@documented(
    "where words find nothing, the text as it stands is looked for: URLs, signs, parts of words",
    lines=51,
    call="nothing to call",
    differs="quotes and wildcards in a query are characters like any other",
)
@pytest.mark.parametrize("query", ["example.org/a?b", "100%", "ake_ca", '"hello'])
def test_then_the_text_as_it_stands(hub: HubMemory, query: str) -> None:
    content = 'See https://example.org/a?b=c for snake_case, 100% "hello world"'
    call(hub, "save_memory", key="a", content=content)
    assert recalled(hub, query) == ["a"]
    assert recalled(hub, "1%0") == []


@documented(
    "memories have a database of their own, in WAL mode for concurrent access",
    lines=55,
    call="`memory.db` in the home",
    differs="messages (the conversation log) are in the same file, in tables of their own",
)
@pytest.mark.sqlite_only("about the file of the embedded store")
def test_the_database_is_in_wal_mode(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory, open_for_tests(tmp_path) as other:
        call(memory.hub(), "save_memory", key="a", content="Blue sky")
        assert recalled(other.hub(), "blue") == ["a"]
        # Bytes 18 and 19 of the header are 2 in WAL mode.
        assert (tmp_path / "memory.db").read_bytes()[18:20] == b"\x02\x02"
