"""Anthropic's memory tool, to the letter: six commands, their replies and their errors."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import holdfast
from holdfast import HubMemory
from holdfast.agents import ToolContext
from holdfast.agents.dialects import anthropic as memory_md
from holdfast.files.tool_files.operations import Edited, replaced

NOTES = "/memories/notes.md"


def said(hub: HubMemory, command: str, **given: Any) -> str:
    reply = holdfast.tools("anthropic", hub, agent="claude").call(
        "memory", {"command": command, **given}
    )
    assert not reply.failed, reply.text
    assert reply.data is None
    return reply.text


def refused(hub: HubMemory, command: str, **given: Any) -> str:
    reply = holdfast.tools("anthropic", hub).call("memory", {"command": command, **given})
    assert reply.failed, reply.text
    return reply.text


def create(hub: HubMemory, path: str, text: str) -> None:
    said(hub, "create", path=path, file_text=text)


# view


def test_a_folder_is_listed_two_levels_deep_with_sizes(hub: HubMemory) -> None:
    create(hub, "/memories/b.md", "x" * 1_536)
    create(hub, "/memories/a.md", "")
    create(hub, "/memories/box/inner/deep.md", "too deep")
    create(hub, "/memories/box/c.md", "x" * 2_048)
    root = Path(hub.folder) / "files"
    (root / ".hidden").write_text("x")
    (root / "node_modules").mkdir()
    lines = said(hub, "view", path="/memories").splitlines()
    assert lines[0] == (
        "Here're the files and directories up to 2 levels deep in /memories,"
        " excluding hidden items:"
    )
    shown = [line.split("\t") for line in lines[1:]]
    assert [path for _, path in shown] == [
        "/memories",
        "/memories/a.md",
        "/memories/b.md",
        "/memories/box/",
        "/memories/box/c.md",
        "/memories/box/inner/",
    ]
    sizes = {path: size for size, path in shown}
    assert sizes["/memories/a.md"] == "0B"
    assert sizes["/memories/b.md"] == "1.5K"
    assert sizes["/memories/box/c.md"] == "2K"


def test_a_folder_below_the_root_is_listed_with_whole_paths(hub: HubMemory) -> None:
    create(hub, "/memories/box/inner/deep.md", "deep")
    for path in ("/memories/box", "/memories/box/"):
        lines = said(hub, "view", path=path).splitlines()
        assert lines[0].endswith("in /memories/box, excluding hidden items:")
        assert [line.split("\t")[1] for line in lines[1:]] == [
            "/memories/box",
            "/memories/box/inner/",
            "/memories/box/inner/deep.md",
        ]


def test_an_empty_memory_is_an_empty_folder(hub: HubMemory) -> None:
    assert said(hub, "view", path="/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories,"
        " excluding hidden items:\n0B\t/memories"
    )


def test_a_file_is_shown_with_line_numbers_six_wide(hub: HubMemory) -> None:
    create(hub, NOTES, "one\ntwo")
    assert said(hub, "view", path=NOTES) == (
        "Here's the content of /memories/notes.md with line numbers:\n     1\tone\n     2\ttwo"
    )


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ([1, 1], "     1\ta"),
        ([2, 3], "     2\tb\n     3\tc"),
        ([2, -1], "     2\tb\n     3\tc\n     4\t"),
        ([3, 99], "     3\tc\n     4\t"),
        (None, "     1\ta\n     2\tb\n     3\tc\n     4\t"),
    ],
)
def test_a_range_of_lines_is_shown_with_their_own_numbers(
    hub: HubMemory, wanted: list[int] | None, shown: str
) -> None:
    create(hub, NOTES, "a\nb\nc\n")
    reply = said(hub, "view", path=NOTES, view_range=wanted)
    assert reply == f"Here's the content of /memories/notes.md with line numbers:\n{shown}"


@pytest.mark.parametrize(
    "wanted",
    [
        [0, 1],
        [5, 6],
        [3, 2],
        [1],
        [1, 2, 3],
        [1, -2],
        "12",
        {"1": 2},
        [1.5, 2],
        [True, 2],
        ["1", 2],
    ],
)
def test_a_range_that_makes_no_sense_is_a_sentence(hub: HubMemory, wanted: Any) -> None:
    create(hub, NOTES, "a\nb\nc\n")
    said_so = refused(hub, "view", path=NOTES, view_range=wanted)
    assert said_so.startswith("Invalid `view_range` parameter.")
    assert "[1, 4]" in said_so


def test_what_is_not_there_is_said_to_the_letter(hub: HubMemory) -> None:
    missing = "The path /memories/no.md does not exist. Please provide a valid path."
    path = "/memories/no.md"
    assert refused(hub, "view", path=path) == missing
    assert refused(hub, "str_replace", path=path, old_str="a", new_str="b") == missing
    assert refused(hub, "insert", path=path, insert_line=0, insert_text="b") == missing
    gone = "The path /memories/no.md does not exist"
    assert refused(hub, "delete", path=path) == gone
    assert refused(hub, "rename", old_path=path, new_path=NOTES) == gone


def test_a_file_of_more_than_999_999_lines_is_not_shown(hub: HubMemory) -> None:
    create(hub, NOTES, "\n" * 999_998)
    assert said(hub, "view", path=NOTES, view_range=[999_998, -1]).endswith("\n999999\t")
    said(hub, "insert", path=NOTES, insert_line=0, insert_text="\n")
    assert refused(hub, "view", path=NOTES) == (
        "File /memories/notes.md exceeds maximum line limit of 999,999 lines."
    )


# create, str_replace, insert, delete, rename


def test_a_file_is_created_once(hub: HubMemory) -> None:
    reply = said(hub, "create", path=NOTES, file_text="one")
    assert reply == "File created successfully at: /memories/notes.md"
    assert refused(hub, "create", path=NOTES, file_text="two") == (
        "File /memories/notes.md already exists"
    )
    create(hub, "/memories/box/a.md", "a")
    assert refused(hub, "create", path="/memories/box", file_text="two") == (
        "File /memories/box already exists"
    )
    assert (
        refused(hub, "create", path="/memories", file_text="x") == "File /memories already exists"
    )


def test_a_replacement_answers_with_the_lines_around_it(hub: HubMemory) -> None:
    create(hub, NOTES, "a\nb\nc\nd\ne\nf\n")
    reply = said(hub, "str_replace", path=NOTES, old_str="d", new_str="D\nD")
    assert reply == (
        "The memory file has been edited. Here is the snippet showing the change (with line "
        "numbers):\n     2\tb\n     3\tc\n     4\tD\n     5\tD\n     6\te"
    )
    said(hub, "str_replace", path=NOTES, old_str="D\nD\n", new_str="")
    assert said(hub, "view", path=NOTES).endswith("     3\tc\n     4\te\n     5\tf\n     6\t")


def test_a_text_that_is_not_there_is_not_replaced(hub: HubMemory) -> None:
    create(hub, NOTES, "a\nb\n")
    assert refused(hub, "str_replace", path=NOTES, old_str="x", new_str="y") == (
        "No replacement was performed, old_str `x` did not appear verbatim in /memories/notes.md."
    )


@pytest.mark.parametrize(
    ("text", "old", "lines"),
    [
        ("a\nb\na\n", "a", "1, 3"),
        ("aa\n", "a", "1, 1"),
        ("aaa", "aa", "1, 1"),
        ("x\ny\nx\ny\n", "x\ny", "1, 3"),
    ],
)
def test_a_text_that_is_there_twice_is_not_replaced_and_its_lines_are_named(
    hub: HubMemory, text: str, old: str, lines: str
) -> None:
    create(hub, NOTES, text)
    assert refused(hub, "str_replace", path=NOTES, old_str=old, new_str="z") == (
        f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}."
        " Please ensure it is unique"
    )


def test_a_refused_replacement_stays_short(hub: HubMemory) -> None:
    create(hub, NOTES, "a\n" * 100_000)
    for old in ("a", "b" * 1_000_000, ""):
        assert len(refused(hub, "str_replace", path=NOTES, old_str=old, new_str="c")) < 2_000


def test_a_folder_cannot_be_edited(hub: HubMemory) -> None:
    create(hub, "/memories/box/a.md", "a")
    for path in ("/memories/box", "/memories"):
        edit = refused(hub, "str_replace", path=path, old_str="a", new_str="b")
        assert edit == f"The path {path} is not a file."
        assert refused(hub, "insert", path=path, insert_line=0, insert_text="b") == edit


def test_lines_are_inserted_within_the_file(hub: HubMemory) -> None:
    create(hub, NOTES, "a\nb\n")
    reply = said(hub, "insert", path=NOTES, insert_line=2, insert_text="c")
    assert reply == "The file /memories/notes.md has been edited."
    for line in (-1, 4):
        assert refused(hub, "insert", path=NOTES, insert_line=line, insert_text="d") == (
            f"Invalid `insert_line` parameter: {line}. It should be within the range [0, 3]."
        )


def test_a_file_or_folder_is_deleted_and_the_root_is_not(hub: HubMemory) -> None:
    create(hub, NOTES, "a")
    create(hub, "/memories/box/a.md", "a")
    assert said(hub, "delete", path=NOTES) == "Successfully deleted /memories/notes.md"
    assert said(hub, "delete", path="/memories/box") == "Successfully deleted /memories/box"
    for root in ("/memories", "/memories/"):
        assert refused(hub, "delete", path=root) == "Cannot delete the /memories directory itself"


def test_a_file_is_renamed_to_a_free_name_only(hub: HubMemory) -> None:
    create(hub, NOTES, "a")
    create(hub, "/memories/b.md", "b")
    reply = said(hub, "rename", old_path=NOTES, new_path="/memories/box/c.md")
    assert reply == "Successfully renamed /memories/notes.md to /memories/box/c.md"
    for taken in ("/memories/b.md", "/memories/box", "/memories", "/memories/box/c.md"):
        assert refused(hub, "rename", old_path="/memories/box/c.md", new_path=taken) == (
            f"The destination {taken} already exists"
        )
    assert refused(hub, "rename", old_path="/memories", new_path="/memories/d") == (
        "Cannot rename the /memories directory itself"
    )
    into = refused(hub, "rename", old_path="/memories/box", new_path="/memories/box/in")
    assert into == "/memories/box cannot be moved into itself."


# What a model may get wrong


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/memories/../../etc/passwd",
        "/memories/%2e%2e/passwd",
        "/memories/..\\passwd",
        "/memories/\uff0e\uff0e/passwd",
        "/memories/a\0b",
        "/Memories/a",
        "/memories/nul",
        "/memories/" + "x" * 10_000_000,
    ],
)
@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete", "rename"])
def test_an_unsafe_path_is_answered_with_a_sentence(
    hub: HubMemory, command: str, path: str
) -> None:
    given: dict[str, Any] = {
        "view": {"path": path},
        "create": {"path": path, "file_text": "x"},
        "str_replace": {"path": path, "old_str": "a", "new_str": "b"},
        "insert": {"path": path, "insert_line": 0, "insert_text": "b"},
        "delete": {"path": path},
        "rename": {"old_path": path, "new_path": "/memories/b.md"},
    }[command]
    words = refused(hub, command, **given)
    assert len(words) < 600
    assert words.startswith(("Path ", "The path "))
    assert not hub.list()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"command": "view"}, "The command view needs path."),
        ({"command": "create", "path": NOTES}, "The command create needs file_text."),
        ({"command": "rename"}, "The command rename needs old_path and new_path."),
        ({"command": "str_replace", "path": NOTES, "old_str": "a"}, "needs new_str."),
        ({}, "command must be given"),
        ({"command": "erase", "path": NOTES}, "command must be one of view, create"),
        ({"command": "view", "path": 5}, "path must be text"),
        ({"command": "insert", "path": NOTES, "insert_line": "x"}, "insert_line must be a whole"),
        ({"command": "view", "path": NOTES, "paths": "x"}, "memory has no argument 'paths'"),
    ],
)
def test_a_wrong_call_is_answered_with_what_is_needed(
    hub: HubMemory, given: dict[str, Any], words: str
) -> None:
    reply = holdfast.tools("anthropic", hub).call("memory", given)
    assert reply.failed
    assert words in reply.text


# MEMORY.md

LONG_TERM = "/memories/MEMORY.md"


@pytest.fixture
def known(hub: HubMemory) -> HubMemory:
    """A hub with long-term memories."""
    hub.remember("Ann likes tea.", category="preference")
    hub.remember("Bob is the neighbour.", category="person")
    return hub


def test_long_term_memory_is_a_file_among_the_files_without_its_marks(known: HubMemory) -> None:
    create(known, "/memories/ZOO.md", "z")
    create(known, "/memories/A/b.md", "b")
    lines = said(known, "view", path="/memories").splitlines()
    assert [line.split("\t")[1] for line in lines[2:]] == [
        "/memories/A/",
        "/memories/A/b.md",
        "/memories/MEMORY.md",
        "/memories/ZOO.md",
    ]
    text = said(known, "view", path=LONG_TERM)
    assert text.startswith(
        "Here's the content of /memories/MEMORY.md with line numbers:\n     1\t#"
    )
    assert "\t- Ann likes tea.\n" in text
    assert "mem_" not in text
    assert "<!--" not in text
    assert lines[4].split("\t")[0] == f"{len((known.read_memory_md() or '').encode())}B"


def test_an_edit_of_long_term_memory_is_a_version_of_the_memory(known: HubMemory) -> None:
    reply = said(known, "str_replace", path=LONG_TERM, old_str="likes tea", new_str="likes oolong")
    assert reply.startswith("The memory file has been edited. Here is the snippet showing")
    assert "\t- Ann likes oolong." in reply
    assert [entry.after.content for entry in known.history(1)] == [
        "Ann likes tea.",
        "Ann likes oolong.",
    ]
    known.undo()
    assert "Ann likes tea." in said(known, "view", path=LONG_TERM)


def test_a_line_put_into_long_term_memory_is_a_new_memory(known: HubMemory) -> None:
    lines = said(known, "view", path=LONG_TERM).splitlines()[1:]
    (at,) = [number for number, line in enumerate(lines, 1) if "Ann likes tea" in line]
    said(known, "insert", path=LONG_TERM, insert_line=at, insert_text="- Ann has a boat.")
    found = known.recall("boat")[0].memory
    assert (found.content, found.category, found.trust) == (
        "Ann has a boat.",
        "preference",
        "agent",
    )


def test_a_line_taken_out_of_long_term_memory_is_archived(known: HubMemory) -> None:
    said(known, "str_replace", path=LONG_TERM, old_str="- Bob is the neighbour.\n", new_str="")
    assert known.get(2).state == "archived"
    assert known.get(1).state == "active"


def test_errors_in_long_term_memory_are_those_of_any_file(known: HubMemory) -> None:
    assert refused(known, "str_replace", path=LONG_TERM, old_str="x1", new_str="y") == (
        "No replacement was performed, old_str `x1` did not appear verbatim in /memories/MEMORY.md."
    )
    assert refused(known, "insert", path=LONG_TERM, insert_line=99, insert_text="y").startswith(
        "Invalid `insert_line` parameter: 99."
    )
    assert refused(known, "create", path=LONG_TERM, file_text="x") == (
        "File /memories/MEMORY.md already exists"
    )


def test_long_term_memory_is_neither_deleted_nor_renamed(known: HubMemory) -> None:
    create(known, NOTES, "one")
    away = "/memories/MEMORY.md holds the long-term memories and cannot be "
    assert refused(known, "delete", path=LONG_TERM).startswith(away + "deleted.")
    assert refused(known, "rename", old_path=LONG_TERM, new_path="/memories/x.md").startswith(
        away + "renamed."
    )
    assert refused(known, "rename", old_path=NOTES, new_path=LONG_TERM) == (
        "The destination /memories/MEMORY.md already exists"
    )
    assert "take the two for one" in refused(
        known, "create", path="/memories/memory.md", file_text="x"
    )
    assert len(known.list(layer="long_term")) == 2


def test_two_who_edit_long_term_memory_at_once_lose_nothing(known: HubMemory) -> None:
    context = ToolContext(known, agent="claude")
    others: list[Thread] = []

    def slowly(text: str) -> Edited:
        """While this one makes its edit, another comes; it has to wait."""
        other = Thread(
            target=said,
            args=(known, "str_replace"),
            kwargs={"path": LONG_TERM, "old_str": "Bob is", "new_str": "Bob was"},
        )
        other.start()
        other.join(timeout=0.3)
        others.append(other)
        return replaced(text, "likes tea", "likes oolong", LONG_TERM)

    memory_md.edit_memory_md(context, known.files(), slowly)
    others[0].join()
    assert {memory.content for memory in known.list()} == {
        "Ann likes oolong.",
        "Bob was the neighbour.",
    }


def test_without_long_term_memories_it_is_a_file_like_any_other(hub: HubMemory) -> None:
    assert refused(hub, "view", path=LONG_TERM).endswith("Please provide a valid path.")
    create(hub, LONG_TERM, "Ann likes tea.")
    said(hub, "str_replace", path=LONG_TERM, old_str="tea", new_str="oolong")
    hub.remember("Bob is the neighbour.", category="person")
    assert said(hub, "view", path=LONG_TERM).endswith("     1\tAnn likes oolong.")
    assert said(hub, "view", path="/memories").count("MEMORY.md") == 1
    said(hub, "delete", path=LONG_TERM)
    assert "Bob is the neighbour." in said(hub, "view", path=LONG_TERM)


# With the rest of Holdfast


def test_what_memory_handed_out_is_not_taken_in_again(known: HubMemory) -> None:
    create(known, NOTES, "one")
    handed_out = [
        known.context(),
        said(known, "view", path=NOTES),
        said(known, "view", path="/memories"),
    ]
    for text in handed_out:
        for words in (
            refused(known, "create", path="/memories/new.md", file_text=text),
            refused(known, "insert", path=NOTES, insert_line=0, insert_text=text),
            refused(known, "str_replace", path=NOTES, old_str="one", new_str=text),
        ):
            assert words.endswith("nothing new was stored.")
    mine = f"What I was told:\n{known.context()}\nI doubt it."
    create(known, "/memories/new.md", mine)
    assert known.files().look("/memories/new.md").text == mine  # type: ignore[union-attr]


def test_what_the_tool_writes_is_found_by_the_other_dialects_and_by_a_person(
    hub: HubMemory,
) -> None:
    create(hub, "/memories/people/ann.md", "Ann drinks oolong.")
    found = hub.recall("oolong")[0].memory
    assert (found.trust, found.source_agent) == ("agent", "claude")
    reply = holdfast.tools("holdfast", hub).call("recall", {"query": "oolong"})
    assert "Ann drinks oolong." in reply.text


def test_the_api_knows_the_tool_by_its_type_and_others_get_a_schema(hub: HubMemory) -> None:
    tools = holdfast.tools("anthropic", hub)
    assert tools.schemas("anthropic") == [{"type": "memory_20250818", "name": "memory"}]
    (schema,) = tools.schemas("mcp")
    assert schema["inputSchema"]["required"] == ["command"]
    assert schema["inputSchema"]["properties"]["command"]["enum"] == [
        "view",
        "create",
        "str_replace",
        "insert",
        "delete",
        "rename",
    ]
    assert schema["annotations"]["readOnlyHint"] is False
    assert schema["annotations"]["destructiveHint"] is True


def test_read_only_views_and_nothing_else(hub: HubMemory) -> None:
    holdfast.tools("anthropic", hub).call(
        "memory", {"command": "create", "path": "/memories/a.md", "file_text": "tea"}
    )
    tools = holdfast.tools("anthropic", hub, read_only=True)
    assert tools.names == ("memory",)
    assert "tea" in tools.call("memory", {"command": "view", "path": "/memories/a.md"}).text
    reply = tools.call("memory", {"command": "delete", "path": "/memories/a.md"})
    assert reply.failed
    assert "read-only" in reply.text
