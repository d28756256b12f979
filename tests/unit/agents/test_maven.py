"""Maven's tools, to the letter: a journal a day, searched by parts of words, newest first."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Holdfast, HubMemory
from holdfast.agents.dialects.maven import long_term
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.testing import FixedClock, open_for_tests

NO_FILES = "No memory journal files found."


def said(hub: HubMemory, name: str, **args: Any) -> str:
    reply = holdfast.tools("maven", hub, agent="maven", all_tools=True).call(name, args)
    assert not reply.failed, reply.text
    assert reply.data is None
    return reply.text


def refused(hub: HubMemory, name: str, **args: Any) -> str:
    reply = holdfast.tools("maven", hub).call(name, args)
    assert reply.failed
    return reply.text


def journal(hub: HubMemory, day: str = "2026-01-14") -> Path:
    return Path(hub.folder) / f"{day}.md"


# remember


def test_what_is_remembered_is_a_line_of_todays_journal(hub: HubMemory) -> None:
    content = "User prefers Postgres on Hetzner, not RDS."
    assert said(hub, "remember", content=f"  {content}\n") == "Remembered."
    assert content in journal(hub).read_text(encoding="utf-8")
    (entry,) = hub.list(layer="journal")
    assert (entry.content, entry.trust, entry.source_agent) == (content, "agent", "maven")
    assert oct(os.stat(journal(hub)).st_mode)[-3:] == "600"
    assert oct(os.stat(hub.folder).st_mode)[-3:] == "700"


@pytest.mark.parametrize("args", [{"content": " \n\t"}, {"content": ""}, {"content": None}, {}])
def test_nothing_is_not_remembered(hub: HubMemory, args: dict[str, Any]) -> None:
    assert refused(hub, "remember", **args) == "remember: content is required"
    assert not journal(hub).exists()


def test_the_same_is_written_once_a_day(hub: HubMemory, clock: FixedClock) -> None:
    for _ in range(2):
        assert said(hub, "remember", content="Uses pnpm") == "Remembered."
        clock.tick(hours=1)
    assert journal(hub).read_text(encoding="utf-8").count("Uses pnpm") == 1
    clock.tick(days=1)
    assert said(hub, "remember", content="Uses pnpm") == "Remembered."
    assert "Uses pnpm" in journal(hub, "2026-01-15").read_text(encoding="utf-8")


def _remember_five(home: str) -> None:
    clock = SystemClock()
    with open_for_tests(home, clock=clock, ids=TimeIds(clock)) as memory:
        for number in range(5):
            said(memory.hub(), "remember", content=f"fact {number}")


def test_processes_at_once_write_the_same_once(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, clock=SystemClock()) as memory:
        memory.hub()
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_remember_five, args=(str(tmp_path),)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    with open_for_tests(tmp_path, clock=SystemClock()) as memory:
        days = memory.hub().journal("2020-01-01..9999-12-31")
        told = sorted(entry.text for day in days for entry in day.entries)
    # Midnight may fall between two of them; a day has each fact once.
    for day in days:
        assert len({entry.text for entry in day.entries}) == len(day.entries)
    assert set(told) == {f"fact {number}" for number in range(5)}


def test_several_lines_are_one_entry(hub: HubMemory) -> None:
    content = "The plan:\n- first this\n\n## then that\nand the rest"
    said(hub, "remember", content=content)
    assert said(hub, "memory_search", query="AND the") == f"## 2026-01-14\n\n{content}"


def test_days_are_days_of_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    clock = FixedClock()
    clock.tick(hours=6)  # 18:00 in UTC is tomorrow in Tokyo.
    with open_for_tests(tmp_path, clock=clock, settings={"time_zone": "Asia/Tokyo"}) as memory:
        hub = memory.hub()
        said(hub, "remember", content="Uses pnpm")
        assert journal(hub).exists()
        assert said(hub, "memory_get", date="today").startswith("## 2026-01-14\n")


def test_what_memory_said_itself_is_not_written_as_new(hub: HubMemory) -> None:
    said(hub, "remember", content="Uses pnpm")
    for answer in (said(hub, "memory_search", query="pnpm"), said(hub, "memory_get", date="today")):
        assert said(hub, "remember", content=answer) == "Remembered."
    assert len(hub.list()) == 1
    assert said(hub, "remember", content=f"{answer}\n\nand likes it") == "Remembered."
    assert hub.get(2).content == "and likes it"


# memory_search


def test_hits_are_newest_first_each_under_its_date(hub: HubMemory, clock: FixedClock) -> None:
    said(hub, "remember", content="Postgres runs on Hetzner")
    said(hub, "remember", content="Redis runs elsewhere")
    clock.tick(days=1)
    said(hub, "remember", content="POSTGRES was upgraded")
    clock.tick(minutes=1)
    said(hub, "remember", content="and postgres again")
    # Written later, but of an earlier day.
    hub.journal_add("postgres was new", at="2026-01-01T10:00Z")
    assert said(hub, "memory_search", query="ostgre") == (
        "## 2026-01-15\n\nand postgres again\n\n"
        "## 2026-01-15\n\nPOSTGRES was upgraded\n\n"
        "## 2026-01-14\n\nPostgres runs on Hetzner\n\n"
        "## 2026-01-01\n\npostgres was new"
    )
    assert said(hub, "memory_search", query="postgres", limit=1) == (
        "## 2026-01-15\n\nand postgres again"
    )


def test_five_are_found_unless_more_are_asked_for(hub: HubMemory, clock: FixedClock) -> None:
    for number in range(8):
        said(hub, "remember", content=f"note {number}")
        clock.tick(minutes=1)
    assert said(hub, "memory_search", query="note").count("## ") == 5
    assert said(hub, "memory_search", query="note", limit=7).count("## ") == 7
    assert said(hub, "memory_search", query="note", limit=0).count("## ") == 1
    assert said(hub, "memory_search", query="note", limit=101).count("## ") == 8
    assert "limit must be a whole number" in refused(hub, "memory_search", query="a", limit=1.5)


def test_a_snippet_is_the_part_of_the_entry_that_matches(hub: HubMemory) -> None:
    said(hub, "remember", content="word " * 400 + "the needle " + "word " * 400)
    said(hub, "remember", content="another entry of that day")
    head, _, text = said(hub, "memory_search", query="NEEDLE").partition("\n\n")
    assert head == "## 2026-01-14"
    assert "the needle" in text
    assert len(text) == 500


def test_nothing_found_is_said(hub: HubMemory) -> None:
    assert said(hub, "memory_search", query="postgres") == NO_FILES
    hub.remember("postgres is in long-term memory, and the journal is what is searched")
    assert said(hub, "memory_search", query="postgres") == NO_FILES
    said(hub, "remember", content="Uses pnpm")
    assert said(hub, "memory_search", query="post%") == 'No journal entries matching "post%".'
    assert refused(hub, "memory_search", query="  ") == "memory_search: query is required"
    assert refused(hub, "memory_search") == "memory_search: query is required"


def test_what_people_write_into_the_files_is_found(hub: HubMemory) -> None:
    said(hub, "remember", content="Uses pnpm")
    with journal(hub).open("a", encoding="utf-8") as file:
        file.write("- 13:30 Written by hand\n")
    journal(hub, "2026-01-02").write_text("- By hand as well\n", encoding="utf-8")
    for name in ("MEMORY.md", "2026-02-31.md", "notes.md", "x2026-01-02.md"):
        (Path(hub.folder) / name).write_text("- not by hand in a journal\n", encoding="utf-8")
    assert said(hub, "memory_search", query="by hand") == (
        "## 2026-01-14\n\nWritten by hand\n\n## 2026-01-02\n\nBy hand as well"
    )


# memory_get


def test_a_day_is_printed_as_its_file_is(hub: HubMemory, clock: FixedClock) -> None:
    said(hub, "remember", content="Uses pnpm")
    text = journal(hub).read_text(encoding="utf-8").strip()
    assert said(hub, "memory_get", date="today") == f"## 2026-01-14\n\n{text}"
    clock.tick(days=1)
    assert said(hub, "memory_get", date=" Yesterday ") == f"## 2026-01-14\n\n{text}"
    assert said(hub, "memory_get", date="2026-01-14") == f"## 2026-01-14\n\n{text}"
    assert said(hub, "memory_get", date="today") == "No journal entry for 2026-01-15."


def test_a_day_without_entries_has_none(hub: HubMemory) -> None:
    assert said(hub, "memory_get", date="2020-02-29") == "No journal entry for 2020-02-29."
    said(hub, "remember", content="Uses pnpm")
    journal(hub, "2026-01-03").write_text(" \n\n", encoding="utf-8")
    assert said(hub, "memory_get", date="2026-01-03") == "No journal entry for 2026-01-03."


@pytest.mark.parametrize(
    "date",
    [
        *("2026-02-30", "2026-1-4", "20260114", "2026-W03-3", "tomorrow", "", "2026-01-14.md"),
        *("2026-01-01..2026-01-14", "../../etc/passwd", "٢٠٢٦-٠١-١٤", "x" * 5_000),
    ],
)
def test_a_date_that_is_none_is_an_error(hub: HubMemory, date: str) -> None:
    answer = refused(hub, "memory_get", date=date)
    assert answer.startswith("memory_get: ")
    assert answer.endswith("Use today, yesterday or a date such as 2026-05-27.")
    assert len(answer) < 200


def test_a_date_must_be_given(hub: HubMemory) -> None:
    assert refused(hub, "memory_get") == "memory_get: date is required"
    assert "must be text" in refused(hub, "memory_get", date=20260114)


# Long-term memory


def test_long_term_memory_is_printed_or_said_to_be_empty(hub: HubMemory) -> None:
    assert long_term(hub) == said(hub, "memory") == "No long-term memory yet."
    hub.remember("Prefers tabs", category="preference")
    hub.sync()
    assert long_term(hub).startswith("# Long-term Memory\n\n## Preference\n")
    assert "- Prefers tabs" in said(hub, "memory")
    # It is a command of the person's, not one of the three tools.
    names = holdfast.tools("maven", hub).names
    assert names == ("remember", "memory_search", "memory_get")


def test_the_prompt_holds_12288_characters_of_the_file(hub: HubMemory) -> None:
    hub.sync()
    text = "ä" * 20_000
    Path(hub.memory_md).write_text(text, encoding="utf-8")
    block = hub.context(style="maven")
    heading, _, body = block.partition("\n\n")
    assert heading == "# Long-term Memory"
    assert body.rstrip("\n").endswith("ä…")
    assert 12_288 - 2 <= len(body.rstrip("\n")) <= 12_288


# Together


def test_what_maven_writes_the_others_find(memory: Holdfast, hub: HubMemory) -> None:
    said(hub, "remember", content="User prefers Postgres on Hetzner")
    assert hub.recall("where does postgres run?")[0].memory.number == 1
    recalled = holdfast.tools("max", hub).call("recall", {"keyword": "hetzner"})
    assert "User prefers Postgres on Hetzner (auto, " in recalled.text
    ours = holdfast.tools("holdfast", hub).call("recall", {"query": "postgres"})
    assert "User prefers Postgres on Hetzner" in ours.text
    other = memory.create_hub("other")
    assert said(other, "memory_search", query="postgres") == NO_FILES
    assert said(other, "memory_get", date="today") == "No journal entry for 2026-01-14."
