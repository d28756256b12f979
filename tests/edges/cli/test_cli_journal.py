"""Journals through the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import holdfast
from holdfast import engine
from tests.edges.cli.cli_calls import Run


def file_of(home: Path, day: str) -> Path:
    return home / "hubs" / "default" / f"{day}.md"


def test_an_entry_is_noted_printed_and_found(run: Run, home: Path) -> None:
    answer = run("journal", "add", "Moved", "the standup", "--at", "2026-05-27T09:30")
    assert answer.code == 0
    assert answer.rows[0][0::3] == ["noted", "2026-05-27.md"]
    assert file_of(home, "2026-05-27").read_text() == "- 09:30 Moved the standup\n"
    assert run("journal", "2026-05-27").rows == [["2026-05-27", "09:30", "#1", "Moved the standup"]]
    assert "Moved the standup" in run("recall", "standup").out


def test_without_a_day_it_is_today_in_utc(run: Run, home: Path) -> None:
    before = datetime.now(UTC).date()
    run("journal", "add", "-", stdin="tea\nwith milk\n")
    days = {before, datetime.now(UTC).date()}
    assert any(file_of(home, str(day)).exists() for day in days)
    assert [row[3] for row in run("journal").rows] == ["tea\\nwith milk"]
    assert [row[3] for row in run("journal", "today").rows] == ["tea\\nwith milk"]
    yesterday = run("journal", "yesterday")
    assert (yesterday.code, yesterday.out) == (0, "")
    assert "No journal entry for yesterday." in yesterday.err


def test_a_range_is_printed_newest_day_first(run: Run) -> None:
    for day in ("01", "03", "02"):
        run("journal", "add", f"day {day}", "--at", f"2026-05-{day}T10:00")
    rows = run("journal", "2026-05-01..2026-05-02").rows
    assert [row[0] for row in rows] == ["2026-05-02", "2026-05-01"]


def test_json_has_days_entries_memories_and_notes(run: Run, home: Path) -> None:
    noted = run("journal", "add", "tea", "--at", "2026-05-27T10:00", "--json").json
    assert noted["result"] == "noted" and noted["data"]["layer"] == "journal"
    file_of(home, "2026-02-31").write_text("never\n")
    value = run("journal", "2026-05-27", "--json").json
    assert value["data"][0]["date"] == "2026-05-27"
    assert value["data"][0]["text"] == "- 10:00 tea\n"
    entry = value["data"][0]["entries"][0]
    assert (entry["text"], entry["time"]) == ("tea", "10:00")
    assert entry["memory"]["id"] == noted["data"]["id"]
    assert value["notes"][0].startswith("2026-02-31.md is ignored")


def test_what_is_ignored_is_said_on_standard_error(run: Run, home: Path) -> None:
    run("journal", "add", "tea", "--at", "2026-05-27T10:00")
    file_of(home, "2026-02-31").write_text("never\n")
    answer = run("journal", "2026-05-27")
    assert answer.code == 0 and "2026-02-31.md is ignored" in answer.err
    assert "ignored" not in run("journal", "2026-05-27", "--quiet").err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["journal", "add"], "Say what to note"),
        (["journal", "add", " "], "content is empty"),
        (["journal", "2026-02-31"], "'2026-02-31' is not a day"),
        (["journal", "someday"], "is not a day"),
        (["journal", "2026-05-02..2026-05-01"], "ends before it begins"),
        (["journal", "today", "yesterday"], "does not take"),
    ],
)
def test_a_mistake_is_a_sentence_and_exit_code_two(
    run: Run, words: list[str], message: str
) -> None:
    answer = run(*words)
    assert answer.code == 2 and answer.out == ""
    assert message in answer.err


def test_help_of_the_journal_names_the_command_below_it(run: Run) -> None:
    assert "holdfast journal add" in run("journal", "--help").out
    assert "--at" in run("journal", "add", "--help").out


def test_a_journal_of_the_future_can_be_written_and_read(run: Run) -> None:
    day = datetime.now(UTC).date() + timedelta(days=400)
    run("journal", "add", "see you", "--at", f"{day}T10:00")
    assert run("journal", str(day)).rows[0][3] == "see you"


def test_a_purged_entry_is_gone_from_the_file_at_once(run: Run, home: Path) -> None:
    for text in ("tea", "milk", "rum"):
        run("journal", "add", text, "--at", "2026-05-27T10:00")
    path = file_of(home, "2026-05-27")
    run("purge", "1", "2", "--yes")
    assert path.read_text() == "- 10:00 rum\n"
    run("forget", "3")
    assert path.read_text() == ""
    run("restore", "3")
    assert path.read_text() == "- 10:00 rum\n"


def test_an_edited_journal_is_taken_in_by_the_next_command_of_any_kind(
    run: Run, home: Path
) -> None:
    run("journal", "add", "tea", "--at", "2026-05-27T10:00")
    file = file_of(home, "2026-05-27")
    file.write_text(file.read_text() + "Ann is back from Lisbon\n")
    assert "Ann is back from Lisbon" in run("recall", "--words", "Lisbon").out


def test_many_missing_entries_are_asked_about_and_confirmed(run: Run, home: Path) -> None:
    for number in range(6):
        run("journal", "add", f"entry {number}", "--at", f"2026-05-27T10:0{number}")
    file = file_of(home, "2026-05-27")
    file.write_text("- 10:00 entry 0\n")
    asked = run("list")
    assert len(asked.rows) == 6
    assert "lacks 5 of its entries" in asked.err and "holdfast sync --confirm" in asked.err
    assert run("sync", "--confirm").code == 0
    assert [row[-1] for row in run("list").rows] == ["entry 0"]


def test_a_conflict_in_a_journal_is_listed_until_it_is_settled(run: Run, home: Path) -> None:
    run("journal", "add", "The deploy failed because of the proxy", "--at", "2026-05-27T10:00")
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        # A write of another process that was stopped before the file could follow.
        content = {"content": "The deploy failed because of Bob"}
        engine.edit.update(hub.scope, 1, content)
    file = file_of(home, "2026-05-27")
    file.write_text(file.read_text().replace("the proxy", "a full disk"))
    [row] = run("conflicts").rows
    assert row[-2:] == [
        "The deploy failed because of Bob",
        "The deploy failed because of a full disk",
    ]
    assert run("conflicts", "settle", row[0], "--keep", "file").code == 0
    assert run("conflicts").rows == []
    assert file.read_text() == "- 10:00 The deploy failed because of a full disk\n"
