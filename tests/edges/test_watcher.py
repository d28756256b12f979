"""The watcher: a thread of a server that takes in what people save, without anybody asking."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.edges.server.worker import Watcher
from tests.edges.test_worker import until


def texts(hub: HubMemory) -> list[str]:
    """What the store holds, without an operation that would take edits in itself."""
    with hub.core.store.read() as reader:
        found = reader.memories_by_id(hub.id, [f"mem_{number:08}" for number in range(1, 9)])
    return [memory.content for memory in found.values()]


def test_a_save_is_taken_in_without_a_request(memory: Holdfast) -> None:
    pytest.importorskip("watchfiles")
    hub = memory.create_hub("work")
    hub.remember("Ann likes tea 0.", layer="long_term")
    hub.sync()
    file = Path(hub.memory_md)
    saved = 0

    def is_taken_in() -> bool:
        # A watch that has only just begun may miss the first saves.
        nonlocal saved
        before, saved = saved, saved + 1
        text = file.read_text()
        if f"tea {before}." in text:
            file.write_text(text.replace(f"tea {before}.", f"tea {saved}."))
        return texts(hub) not in ([], ["Ann likes tea 0."])

    with Watcher(memory):
        until(is_taken_in)


def test_a_file_that_cannot_be_read_does_not_end_the_watch(memory: Holdfast) -> None:
    pytest.importorskip("watchfiles")
    broken, hub = memory.create_hub("broken"), memory.create_hub("work")
    for one in (broken, hub):
        one.remember("Ann likes tea.", layer="long_term")
        one.sync()
    Path(broken.memory_md).unlink()
    Path(broken.memory_md).mkdir()
    journal = Path(hub.folder, "2026-01-14.md")
    saved = 0

    def is_taken_in() -> bool:
        nonlocal saved
        saved += 1
        journal.write_text("- Seen.\n" * (saved % 2 + 1))
        Path(broken.memory_md, f"{saved}.md").touch()
        Path(broken.folder, "facts.md").write_text(str(saved))
        return "Seen." in texts(hub)

    with Watcher(memory):
        until(is_taken_in)


def test_without_the_package_the_server_runs_and_says_so(
    memory: Holdfast, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with Watcher(memory):
        until(lambda: "taken in by the next request" in caplog.text)
