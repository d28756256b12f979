"""Files that an agent edits, against two models: the SDK's own file tool, whose replies ours must
match, and a plain record of every text, none of which may be lost."""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast import HubMemory
from holdfast.errors import HoldfastError, NotFound
from holdfast.files.documents import REMOVED
from holdfast.files.tool_files.operations import inserted, replaced
from holdfast.files.tool_files.sync import EMPTIED
from holdfast.testing import open_for_tests

PATHS = st.sampled_from(
    [
        *("/memories", "/memories/a.md", "/memories/b.txt", "/memories/box", "/memories/box/a.md"),
        # Beyond the two levels that are shown, and below what may be a file.
        *("/memories/box/in/er.md", "/memories/a.md/x", "/etc/passwd", "/memories/../x"),
    ]
)
WORDS = st.sampled_from(["tea", "cake", "tea cake", "é", "茶"])
LINES = st.lists(WORDS, max_size=4).map(lambda lines: "".join(f"{line}\n" for line in lines))


def commands_on(paths: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries({"command": st.just("view"), "path": paths}),
        st.fixed_dictionaries(
            {
                "command": st.just("view"),
                "path": paths,
                "view_range": st.sampled_from([[1, 1], [1, -1]]),
            }
        ),
        st.fixed_dictionaries({"command": st.just("create"), "path": paths, "file_text": LINES}),
        st.fixed_dictionaries(
            {"command": st.just("str_replace"), "path": paths, "old_str": WORDS, "new_str": WORDS}
        ),
        st.fixed_dictionaries(
            {
                "command": st.just("insert"),
                "path": paths,
                "insert_line": st.integers(-1, 4),
                "insert_text": WORDS,
            }
        ),
        st.fixed_dictionaries({"command": st.just("delete"), "path": paths}),
        st.fixed_dictionaries({"command": st.just("rename"), "old_path": paths, "new_path": paths}),
    )


def ours(hub: HubMemory, command: dict[str, Any]) -> tuple[bool, str]:
    reply = holdfast.tools("anthropic", hub).call("memory", command)
    return not reply.failed, reply.text


def same_but_folder_sizes(one: str, other: str) -> bool:
    """How large a folder is depends on the file system, and on what was in it."""
    folder = r"(?m)^\S+\t(/memories(?:/box)?|/\S+/)$"
    return re.sub(folder, r"-\t\1", one) == re.sub(folder, r"-\t\1", other)


def as_meant(got: tuple[bool, str], wanted: tuple[bool, str]) -> bool:
    """The same words; of a refusal only that it is one where theirs are those of the system."""
    if not wanted[0] and ("Errno" in wanted[1] or "passwd" in wanted[1] or "/x" in wanted[1]):
        return not got[0]
    return got[0] == wanted[0] and same_but_folder_sizes(got[1], wanted[1])


@settings(max_examples=60)
@given(st.lists(commands_on(PATHS), max_size=14))
def test_replies_are_those_of_the_sdks_own_tool(commands: list[dict[str, Any]]) -> None:
    tools = pytest.importorskip("anthropic.tools", reason="the Anthropic SDK is not installed")
    with tempfile.TemporaryDirectory() as folder, open_for_tests(Path(folder) / "ours") as memory:
        hub = memory.create_hub("work")
        theirs = tools.BetaLocalFilesystemMemoryTool(str(Path(folder) / "theirs"))
        (Path(hub.folder) / "files").mkdir(parents=True)
        for command in commands:
            if leaves_folders_behind(command, Path(folder) / "theirs"):
                assert not ours(hub, command)[0]
                continue
            try:
                wanted = True, str(theirs.call(command))
            except (tools.ToolError, OSError) as error:
                wanted = False, str(error)
            got = ours(hub, command)
            assert as_meant(got, wanted), (command, got, wanted)


def leaves_folders_behind(command: dict[str, Any], theirs: Path) -> bool:
    """The SDK makes the folders of a rename before it knows whether there is anything to rename."""
    if command["command"] != "rename":
        return False
    source = theirs / command["old_path"].lstrip("/")
    return not source.exists() or command["new_path"].startswith(f"{command['old_path']}/")


# So few that commands meet.
FEW = st.sampled_from(["/memories/a.md", "/memories/b.md", "/memories/box", "/memories/box/a.md"])
NUMBERS = st.integers(1, 4)
OPERATIONS = st.lists(
    st.one_of(
        commands_on(FEW),
        st.tuples(st.just("hand"), FEW, LINES),
        st.tuples(st.just("update"), NUMBERS, LINES),
        st.tuples(st.sampled_from(["forget", "restore", "archive"]), NUMBERS),
        st.just(("undo",)),
        st.just(("index_files",)),
    ),
    min_size=4,
    max_size=16,
)


@settings(max_examples=60)
@given(OPERATIONS)
def test_file_and_memory_agree_and_no_text_is_lost(operations: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_for_tests(Path(folder)) as memory:
        hub = memory.create_hub("work")
        root = Path(hub.folder) / "files"
        for path in ("/memories/a.md", "/memories/box/a.md"):
            hub.files().create(path, f"The first text of {path}\n")
        seen: set[str] = set()
        for operation in operations:
            with suppress(HoldfastError):
                carry_out(hub, root, operation)
            seen |= set(on_disk(root).values())
            if hub.notes:
                # A folder stands where the file of a memory that came back would be.
                assert all("is not a file" in n or "below it" in n for n in hub.notes), hub.notes
                return
            there, meant = on_disk(root), in_store(hub)
            for path in archived_by_hand(hub):
                there.pop(path, None)
            assert there == meant, operation
            assert not list(root.rglob(".*"))
        assert seen <= every_text(hub)


def carry_out(hub: HubMemory, root: Path, operation: Any) -> None:
    if isinstance(operation, dict):
        ours(hub, operation)
        return
    name, *given = operation
    if name == "hand":
        edit_by_hand(hub, root, *given)
    elif name == "update":
        hub.update(given[0], content=given[1])
    else:
        getattr(hub, name)(*given)


def every_text(hub: HubMemory) -> set[str]:
    """All that any memory ever said."""
    out: set[str] = set()
    for number in count(1):
        try:
            out |= {entry.after.content for entry in hub.history(number)}
        except NotFound:
            return out
    return out


def edit_by_hand(hub: HubMemory, root: Path, path: str, text: str) -> None:
    """A person saves a file; the agent looks at it next."""
    file = root / path.removeprefix("/memories").lstrip("/")
    if path.startswith("/memories/") and ".." not in path and not file.is_dir():
        if file.parent.is_dir():
            file.write_text(text)
        ours(hub, {"command": "view", "path": path})


def on_disk(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*") if path.is_file()]
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in files}
    return {path: text for path, text in texts.items() if text.strip()}


def in_store(hub: HubMemory) -> dict[str | None, str]:
    """What the memories say that there should be on the disk."""
    return {
        memory.source_path: memory.content
        for memory in hub.list(layer="library", state="all")
        if memory.source_path and memory.state != "archived"
    }


def archived_by_hand(hub: HubMemory) -> list[str]:
    """Their files stay as they are, there or not."""
    return [
        memory.source_path or ""
        for memory in hub.list(layer="library", state="archived")
        if memory.state_reason not in (REMOVED, EMPTIED)
    ]


TEXTS = st.text(alphabet="ab\r\n", max_size=12)


@given(TEXTS, st.integers(0, 12), TEXTS)
def test_an_insert_keeps_every_line_that_was_there(text: str, line: int, new: str) -> None:
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    line = min(line, len(lines))
    before, behind = "".join(lines[:line]), "".join(lines[line:])
    after = inserted(text, line, new).text
    assert after.startswith(before)
    assert after.endswith(behind)
    middle = after[len(before) : len(after) - len(behind)]
    assert middle.replace("\r", "").strip("\n") == new.replace("\r", "").strip("\n")
    # A text that had no line end at its end still has none, and one that had one has one.
    if text and not behind:
        ended = new.endswith("\n\n") or new == "\n" if not text.endswith("\n") else True
        assert after.endswith("\n") >= text.endswith("\n") or ended


@given(TEXTS, TEXTS, TEXTS)
def test_a_replacement_changes_one_place_and_no_other(text: str, old: str, new: str) -> None:
    try:
        after = replaced(text, old, new, "x").text
    except HoldfastError:
        return
    windows = "\n" in text and text.count("\n") == text.count("\r\n")
    if not windows:
        assert text.count(old) == 1
        assert after == text.replace(old, new)
