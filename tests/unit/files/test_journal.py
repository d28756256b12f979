"""Journals: files and memories in step, whoever changed what and wherever a process was killed."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from holdfast import (
    Holdfast,
    HubMemory,
    InvalidInput,
    NotFound,
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    engine,
)
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.files import journal
from holdfast.files.journal import day_sync, entries
from holdfast.system.atomic_file import locked
from holdfast.testing import FixedClock, open_for_tests

TODAY = "2026-01-14"


def file_of(hub: HubMemory, day: str = TODAY) -> Path:
    return Path(hub.folder) / f"{day}.md"


def write(hub: HubMemory, text: str | bytes, day: str = TODAY) -> None:
    """What an editor does: another file takes the place of the old one."""
    path = file_of(hub, day)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name("saved~")
    new.write_bytes(text.encode() if isinstance(text, str) else text)
    new.replace(path)


def said(hub: HubMemory, when: Any = "today") -> list[str]:
    return [entry.text for day in hub.journal(when) for entry in day.entries]


def in_store(hub: HubMemory) -> list[str]:
    return [memory.content for memory in hub.list(layer="journal", order="number")]


# Adding and reading


def test_an_entry_is_a_line_of_the_day_and_a_memory_of_the_journal(hub: HubMemory) -> None:
    kept = hub.journal_add("User prefers Postgres on Hetzner, not RDS.")
    path = file_of(hub)
    assert path.read_text() == "- 12:00 User prefers Postgres on Hetzner, not RDS.\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert (kept.layer, kept.session, kept.category) == ("journal", None, "preference")
    assert kept.occurred_at == datetime(2026, 1, 14, 12, tzinfo=UTC)
    assert (kept.source_path or "").startswith("2026-01-14.md#")
    assert hub.recall("which database?  postgres")[0].memory == kept
    day = hub.journal()[0]
    assert (day.date, day.text) == (date(2026, 1, 14), path.read_text())
    assert day.entries[0].memory == kept


def test_lines_of_an_entry_are_indented_below_the_first(hub: HubMemory) -> None:
    kept = hub.journal_add("\nOne\r\n\n  two\nthree ")
    assert kept.content == "One\r\n\n  two\nthree"
    assert file_of(hub).read_bytes() == b"- 12:00 One\n\n    two\n  three\n"
    assert len(said(hub)) == 1
    assert hub.get(kept.id).version == 1


def test_what_is_to_be_there_once_is_not_written_again_that_day(
    hub: HubMemory, clock: FixedClock
) -> None:
    first = hub.journal_add("Prefers tabs\nand says so", once=True)
    clock.tick(hours=1)
    assert hub.journal_add("Prefers  tabs\nand says so ", once=True).id == first.id
    assert hub.journal_add("Prefers tabs", once=True).id != first.id
    assert len(hub.journal()[0].entries) == 2
    hub.forget(first.id)
    again = hub.journal_add("Prefers tabs\nand says so", once=True)
    assert again.id != first.id
    clock.tick(days=1)
    assert hub.journal_add("Prefers tabs", once=True).id not in (first.id, again.id)


def test_the_same_words_twice_are_two_entries(hub: HubMemory, clock: FixedClock) -> None:
    for _ in range(2):
        hub.journal_add("Ate lunch")
    clock.tick(hours=6)
    hub.journal_add("Ate lunch")
    assert said(hub) == ["Ate lunch"] * 3
    assert len(in_store(hub)) == 3


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2026-01-14T23:59:59Z", "2026-01-14"),
        ("2026-01-15T00:00:00Z", "2026-01-15"),
        ("2026-01-15T00:30:00+02:00", "2026-01-14"),
        ("2026-01-14T22:00:00-05:00", "2026-01-15"),
        (datetime(2024, 2, 29, 12, tzinfo=UTC), "2024-02-29"),
    ],
)
def test_a_day_is_a_day_in_utc(hub: HubMemory, at: Any, day: str) -> None:
    hub.journal_add("x marks the spot", at=at)
    assert file_of(hub, day).exists()
    assert said(hub, day) == ["x marks the spot"]


def test_today_and_yesterday_move_at_midnight_in_utc(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 3, 31, 23, 59, 59, tzinfo=UTC))
    with open_for_tests(tmp_path, clock=clock) as memory:
        hub = memory.create_hub("work")
        hub.journal_add("before midnight")
        clock.tick(seconds=1)
        hub.journal_add("after midnight")
        assert said(hub) == ["after midnight"]
        assert said(hub, "yesterday") == ["before midnight"]
        clock.tick(days=1)
        assert said(hub) == []
        assert said(hub, "Yesterday ") == ["after midnight"]


def test_a_range_lists_the_newest_day_first(hub: HubMemory) -> None:
    for day in (1, 3, 2, 9):
        hub.journal_add(f"day {day}", at=f"2026-01-0{day}T10:00:00Z")
    assert said(hub, "2026-01-01..2026-01-03") == ["day 3", "day 2", "day 1"]
    assert said(hub, (date(2026, 1, 2), date(2026, 1, 9))) == ["day 9", "day 3", "day 2"]
    assert said(hub, "2026-01-03..") == ["day 9", "day 3"]
    assert said(hub, "..2026-01-01") == ["day 1"]
    assert said(hub, "..") == ["day 9", "day 3", "day 2", "day 1"]
    assert said(hub, date(2026, 1, 2)) == ["day 2"]
    late = datetime(2026, 1, 2, 23, tzinfo=timezone(timedelta(hours=-5)))
    assert said(hub, late) == ["day 3"]


@pytest.mark.parametrize(
    "when",
    (
        *("2026-02-31", "2026-2-3", "tomorrow", "", "MEMORY", "20260101", "2026-01-01T00:00"),
        *("../x", "２０２６-01-01", "2026-01-09..2026-01-01", "2026-01-01..x", None, 5),
        datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None),
    ),
)
def test_a_day_that_is_none_is_refused(hub: HubMemory, when: Any) -> None:
    with pytest.raises(InvalidInput):
        hub.journal(when)


def test_only_files_named_after_a_real_day_are_journals(hub: HubMemory) -> None:
    for name in ("2026-02-31", "2026-1-4", "MEMORY", "2026-01-14-notes", "notes", "2026-01-14 (1)"):
        write(hub, "- not a journal\n", name)
    write(hub, "- a journal\n", "2026-01-13")
    found = hub.journal("..")
    assert [day.date for day in found] == [date(2026, 1, 13)]
    assert in_store(hub) == ["a journal"]
    assert [note.partition(" is ignored")[0] for note in found.notes] == [
        "2026-01-14 (1).md",
        "2026-01-14-notes.md",
        "2026-02-31.md",
        "2026-1-4.md",
    ]


def test_a_hub_without_journals_has_none_and_gets_no_folder(hub: HubMemory) -> None:
    assert hub.journal() == [] and hub.journal("..") == []
    assert not os.path.exists(hub.folder)


# What a person changes in the file


def test_what_a_person_writes_is_found_and_kept_once(hub: HubMemory) -> None:
    write(hub, "# Wednesday\n\n- 09:15 Standup moved to ten\nSlept badly\n<!-- private -->\n")
    assert said(hub) == ["Standup moved to ten", "Slept badly"]
    for _ in range(3):
        hub.journal()
    assert in_store(hub) == ["Standup moved to ten", "Slept badly"]
    first, second = hub.list(layer="journal", order="number")
    assert first.occurred_at == datetime(2026, 1, 14, 9, 15, tzinfo=UTC)
    assert second.occurred_at == datetime(2026, 1, 14, tzinfo=UTC)
    assert hub.recall("standup")[0].memory == first


def test_what_a_person_wrote_stays_to_the_letter_when_an_entry_is_added(hub: HubMemory) -> None:
    typed = "---\nmood: fine\n---\n# Wednesday\r\n\r\n* tea\r\n\t* with milk\r\n\nno line end"
    write(hub, typed)
    hub.journal_add("added")
    assert file_of(hub).read_bytes().decode() == typed + "\n- 12:00 added\n"
    assert said(hub) == ["tea\n* with milk", "no line end", "added"]


def test_an_edited_line_is_a_new_version_of_its_memory(hub: HubMemory) -> None:
    kept = hub.journal_add("The deploy failed because of the proxy")
    other = hub.journal_add("Lunch with Ann")
    write(hub, file_of(hub).read_text().replace("the proxy", "a full disk"))
    hub.journal()
    after = hub.get(kept.id)
    assert after.content == "The deploy failed because of a full disk"
    assert (after.version, hub.get(other.id).version) == (2, 1)
    assert hub.changes()[0].reason == "edited in the journal"
    assert len(in_store(hub)) == 2
    hub.undo()
    assert said(hub)[0] == "The deploy failed because of the proxy"
    assert "the proxy" in file_of(hub).read_text()


def test_an_edited_time_moves_the_memory(hub: HubMemory) -> None:
    kept = hub.journal_add("Standup")
    write(hub, "- 09:30 Standup\n")
    hub.journal()
    assert hub.get(kept.id).occurred_at == datetime(2026, 1, 14, 9, 30, tzinfo=UTC)
    assert len(in_store(hub)) == 1


def test_a_line_that_became_another_is_archived_and_the_new_one_kept(hub: HubMemory) -> None:
    kept = hub.journal_add("The deploy failed because of the proxy")
    write(hub, "- 12:00 Quite unlike it: giraffes!\n")
    assert said(hub) == ["Quite unlike it: giraffes!"]
    assert (hub.get(kept.id).state, hub.get(kept.id).state_reason) == (
        "archived",
        "removed from the journal",
    )


def test_a_removed_line_is_archived_and_comes_back_when_restored(hub: HubMemory) -> None:
    kept = hub.journal_add("One")
    hub.journal_add("Two")
    write(hub, "- 12:00 Two\n")
    assert said(hub) == ["Two"]
    assert hub.get(kept.id).state_reason == "removed from the journal"
    hub.restore(kept.id)
    assert said(hub) == ["Two", "One"]
    assert "- 12:00 One\n" in file_of(hub).read_text()


def test_a_removed_line_that_is_typed_again_is_the_same_memory(hub: HubMemory) -> None:
    kept = hub.journal_add("One")
    hub.journal_add("Two")
    both = file_of(hub).read_text()
    write(hub, "- 12:00 Two\n")
    hub.journal()
    write(hub, both)
    assert said(hub) == ["One", "Two"]
    assert hub.get(kept.id).state == "active"
    assert len(in_store(hub)) == 2


def test_a_line_typed_again_after_it_was_edited_is_another_entry(hub: HubMemory) -> None:
    hub.journal_add("The deploy failed because of the proxy")
    before = file_of(hub).read_text()
    write(hub, before.replace("the proxy", "a full disk"))
    hub.journal()
    write(hub, file_of(hub).read_text() + before)
    texts = ["The deploy failed because of a full disk", "The deploy failed because of the proxy"]
    assert said(hub) == texts == in_store(hub)


def test_lines_in_another_order_change_nothing(hub: HubMemory) -> None:
    for number in range(5):
        hub.journal_add(f"Entry number {number}")
    before = hub.list(layer="journal", order="number")
    write(hub, "".join(reversed(file_of(hub).read_text().splitlines(keepends=True))))
    assert said(hub) == [f"Entry number {number}" for number in reversed(range(5))]
    assert hub.list(layer="journal", order="number") == before


def test_an_older_day_that_was_edited_is_taken_in_as_well(hub: HubMemory) -> None:
    hub.journal_add("long ago", at="2025-05-05T10:00:00Z")
    hub.journal()
    write(hub, "- 10:00 long ago\n- new in the old file\n", "2025-05-05")
    hub.journal()
    assert "new in the old file" in in_store(hub)
    write(hub, "- 10:00 long ago\n", "2025-05-05")
    assert hub.sync_journals() == []
    assert in_store(hub) == ["long ago"]


@pytest.mark.parametrize("left", [None, "", "\n \n"])
def test_a_file_that_is_gone_or_emptied_is_restored(hub: HubMemory, left: str | None) -> None:
    write(hub, "# Wednesday\n\n- 09:15 tea\nmilk\n")
    hub.journal()
    hub.journal_add("rum")
    if left is None:
        file_of(hub).unlink()
    else:
        write(hub, left)
    assert said(hub) == ["tea", "milk", "rum"]
    assert file_of(hub).read_text() == "# Wednesday\n\n- 09:15 tea\n- milk\n- 12:00 rum\n"
    assert len(in_store(hub)) == 3


def test_lines_without_a_time_are_restored_without_one(hub: HubMemory) -> None:
    written = "- 09:00 Early.\n- No time.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n- code\n```\n"
    file = Path(hub.folder, "2026-01-14.md")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(written)
    hub.sync_journals()
    file.unlink()
    hub.sync_journals()
    assert file.read_text() == written


def test_a_heading_without_a_line_end_is_restored_on_a_line_of_its_own(hub: HubMemory) -> None:
    write(hub, "# Wednesday")
    hub.journal_add("tea")
    file_of(hub).unlink()
    assert said(hub) == ["tea"]
    assert file_of(hub).read_text() == "# Wednesday\n- 12:00 tea\n"


def test_an_old_journal_is_restored_with_what_age_has_archived(hub: HubMemory) -> None:
    write(hub, "tea\n- 10:00 milk\n")
    hub.journal()
    hub.archive_many([1, 2])
    file_of(hub).unlink()
    assert said(hub) == ["tea", "milk"]
    assert hub.journal()[0].entries[0].memory == hub.get(1)
    assert hub.statistics().memories == 2


# What changes in the store


def test_a_forgotten_entry_leaves_the_file_and_undo_brings_it_back(hub: HubMemory) -> None:
    kept = hub.journal_add("secret tea")
    hub.journal_add("milk")
    hub.forget(kept.id)
    assert said(hub) == ["milk"]
    assert file_of(hub).read_text() == "- 12:00 milk\n"
    hub.restore(kept.id)
    assert sorted(said(hub)) == ["milk", "secret tea"]


def test_a_purged_entry_leaves_the_file_and_does_not_come_back(hub: HubMemory) -> None:
    kept = hub.journal_add("secret tea")
    hub.journal_add("milk")
    hub.purge(kept.id)
    assert said(hub) == ["milk"]
    assert b"secret" not in file_of(hub).read_bytes()
    with hub.core.store.read() as reader:
        agreed = reader.agreed(hub.id, f"{TODAY}.md")
    assert agreed is not None and "secret" not in agreed.text
    assert said(hub) == ["milk"]


def test_the_line_follows_at_once(hub: HubMemory) -> None:
    first = hub.journal_add("tea")
    second = hub.journal_add("old tea", at="2025-05-05T10:00:00Z")
    hub.forget(first.id)
    assert file_of(hub).read_text() == ""
    hub.undo()
    assert file_of(hub).read_text() == "- 12:00 tea\n"
    hub.update(first.id, content="milk")
    assert file_of(hub).read_text() == "- 12:00 milk\n"
    hub.purge(second.id)
    assert file_of(hub, "2025-05-05").read_text() == ""
    hub.forget_many([first.id])
    hub.restore(first.id)
    assert file_of(hub).read_text() == "- 12:00 milk\n"


def test_a_journal_that_cannot_follow_is_a_note_and_not_an_error(hub: HubMemory) -> None:
    kept = hub.journal_add("tea")
    file_of(hub).unlink()
    file_of(hub).mkdir()
    hub.forget(kept.id)
    assert hub.get(hub.remember("milk").memory.id).content == "milk"
    assert any("is not a file" in note for note in hub.notes)


def test_of_two_that_are_alike_only_the_forgotten_one_goes(hub: HubMemory) -> None:
    first = hub.journal_add("tea")
    second = hub.journal_add("tea")
    hub.forget(first.id)
    assert said(hub) == ["tea"]
    third = hub.journal_add("tea")
    assert third.id not in (first.id, second.id)
    assert len(in_store(hub)) == len(said(hub)) == 2


@pytest.mark.parametrize("text", ["better tea", "---", "14:30 tea", "# tea", "a\n\nb", "- tea"])
def test_an_entry_updated_in_the_store_changes_its_line(hub: HubMemory, text: str) -> None:
    write(hub, "# Wednesday\ntea for two\n- 10:15 milk\n")
    hub.journal()
    hub.update(1, content=text)
    hub.update(2, content="rum")
    assert said(hub) == [text, "rum"]
    assert file_of(hub).read_text().startswith("# Wednesday\n- ")
    before = hub.list(layer="journal")
    assert said(hub) == [text, "rum"]
    assert hub.list(layer="journal") == before


def test_what_another_tool_put_in_the_journal_layer_is_entered(hub: HubMemory) -> None:
    kept = hub.remember("From a tool", layer="journal").memory
    hub.remember("Private", layer="journal", boundary="private")
    hub.remember("A fact of no day")
    assert said(hub) == ["From a tool"]
    assert file_of(hub).read_text() == "- 12:00 From a tool\n"
    assert hub.journal()[0].entries[0].memory == hub.get(kept.id)


def test_an_archived_entry_stays_in_its_journal(hub: HubMemory) -> None:
    kept = hub.journal_add("tea")
    hub.archive(kept.id)
    assert said(hub) == ["tea"]
    assert hub.get(kept.id).state == "archived"


def test_both_sides_changed_and_both_survive(hub: HubMemory) -> None:
    kept = hub.journal_add("The deploy failed because of the proxy")
    hub.update(kept.id, content="The deploy failed because of Bob")
    write(hub, "- 12:00 The deploy failed because of a full disk\n")
    hub.journal()
    texts = [entry.after.content for entry in hub.history(kept.id)]
    assert "The deploy failed because of Bob" in texts
    assert "The deploy failed because of a full disk" in texts


# Moving house


def test_an_imported_hub_writes_its_journals_anew(hub: HubMemory, tmp_path: Path) -> None:
    hub.journal_add("tea", at="2026-01-01T10:00:00Z")
    hub.journal_add("milk")
    lines = list(hub.export())
    with open_for_tests(tmp_path / "elsewhere") as memory:
        moved = memory.import_hub(lines)
        assert said(moved, "..") == ["milk", "tea"]
        assert file_of(moved, "2026-01-01").read_text() == "- 10:00 tea\n"
        assert len(in_store(moved)) == 2
        assert said(moved, "..") == ["milk", "tea"]


@pytest.mark.sqlite_only("puts a backup in the place of the embedded store's file")
def test_a_store_that_was_copied_back_by_hand_takes_in_what_the_files_have_since(
    tmp_path: Path,
) -> None:
    ids = TimeIds(SystemClock())
    with open_for_tests(tmp_path / "home", ids=ids) as memory:
        hub = memory.create_hub("work")
        hub.journal_add("in the backup")
        memory.backup(tmp_path / "backup.db")
        hub.journal_add("after the backup")
    for beside in (tmp_path / "home").glob("memory.db-*"):
        beside.unlink()
    shutil.copy(tmp_path / "backup.db", tmp_path / "home" / "memory.db")
    with open_for_tests(tmp_path / "home", ids=ids) as memory:
        hub = memory.hub("work")
        assert said(hub) == ["in the backup", "after the backup"]
        assert in_store(hub) == ["in the backup", "after the backup"]


# Crashes


class Killed(BaseException):
    """Stands for a kill between two steps."""


def killed(*_: Any, **__: Any) -> None:
    raise Killed


def journal_killed_at(hub: HubMemory, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads the journal twice, and is killed before and after a step of it."""
    module: Any = entries if step == "agree" else day_sync
    real = getattr(module, step)

    def after(*args: Any, **kwargs: Any) -> Any:
        real(*args, **kwargs)
        raise Killed

    for cut in (killed, after):
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(module, step, cut)
            hub.journal()


@pytest.mark.parametrize(
    ("module", "step"),
    [(engine.remember, "remember"), (journal, "append_line"), (entries, "agree")],
)
def test_a_kill_between_the_steps_of_an_addition_loses_nothing(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch, module: Any, step: str
) -> None:
    hub.journal_add("safe before")
    with monkeypatch.context() as patched, pytest.raises(Killed):
        if step == "agree":
            # The sync before the addition agrees too; it is the addition's that is cut off.
            patched.setattr(entries, "agree", _second_time(entries.agree))
        else:
            patched.setattr(module, step, killed)
        hub.journal_add("cut off")
    hub.journal_add("safe after")
    expected = ["safe before", "safe after"]
    if step != "remember":
        expected.insert(1, "cut off")
    assert said(hub) == expected
    assert sorted(in_store(hub)) == sorted(expected)


@pytest.mark.parametrize(
    ("module", "step"), [(engine.remember, "remember"), (journal, "append_line")]
)
def test_an_addition_that_failed_can_be_tried_again_without_doubling(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch, module: Any, step: str
) -> None:
    hub.journal_add("safe before")

    def full(*_: Any, **__: Any) -> None:
        raise StoreFull("There is no room left.")

    with monkeypatch.context() as patched:
        patched.setattr(module, step, full)
        try:
            hub.journal_add("tea")
        except StoreFull:
            failed = True
        else:
            failed = False
    # Whoever was told that it failed tries again; whoever was not has it, and its line comes.
    assert failed == (step == "remember")
    assert in_store(hub) == (["safe before"] if failed else ["safe before", "tea"])
    if failed:
        hub.journal_add("tea")
    else:
        assert any("has no line" in note for note in hub.notes)
    assert said(hub) == in_store(hub) == ["safe before", "tea"]
    assert file_of(hub).read_text() == "- 12:00 safe before\n- 12:00 tea\n"


def test_who_said_it_survives_a_kill(hub: HubMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(entries, "agree", killed)
        hub.journal_add("tea", trust="agent", source="mcp", source_agent="max")
    assert said(hub) == ["tea"]
    (kept,) = hub.list(layer="journal")
    assert (kept.trust, kept.source, kept.source_agent) == ("agent", "mcp", "max")
    assert kept.version == 1


def _second_time(real: Any) -> Any:
    calls = []

    def agree(*args: Any, **kwargs: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise Killed
        real(*args, **kwargs)

    return agree


@pytest.mark.parametrize("step", ["apply_day", "follow_store", "set_paths", "write_file", "agree"])
def test_a_kill_during_a_sync_loses_nothing_and_doubles_nothing(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    hub.journal_add("The deploy failed because of the proxy")
    hub.journal_add("removed in the file")
    third = hub.journal_add("forgotten in the store")
    text = file_of(hub).read_text().replace("the proxy", "a full disk")
    write(hub, text.replace("- 12:00 removed in the file\n", "") + "typed\n")
    hub.forget(third.id)
    hub.remember("from a tool", layer="journal")
    journal_killed_at(hub, step, monkeypatch)
    expected = ["The deploy failed because of a full disk", "typed", "from a tool"]
    assert said(hub) == expected
    assert sorted(in_store(hub)) == sorted(expected)


# They begin together, and an entry takes longer the more there are.
EACH = 60


def _append(folder: str, name: str, ready: Barrier) -> None:
    with open_for_tests(folder, clock=SystemClock(), ids=TimeIds(SystemClock())) as memory:
        hub = memory.hub("work")
        ready.wait(60)
        for number in range(EACH):
            hub.journal_add(f"entry {number} of {name}", at="2026-01-14T12:00:00Z")


def test_two_processes_append_and_everything_is_there_once(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        memory.create_hub("work")
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(2)
    crowd = [context.Process(target=_append, args=(str(tmp_path), name, ready)) for name in "ab"]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(100)
    assert [process.exitcode for process in crowd] == [0, 0]
    expected = sorted(f"entry {number} of {name}" for number in range(EACH) for name in "ab")
    with open_for_tests(tmp_path, ids=TimeIds(SystemClock())) as memory:
        hub = memory.hub("work")
        lines = file_of(hub).read_text().splitlines()
        assert sorted(line.removeprefix("- 12:00 ") for line in lines) == expected
        assert sorted(in_store(hub)) == expected
        assert sorted(said(hub)) == expected
        assert len(in_store(hub)) == 2 * EACH


def test_an_editor_that_saves_while_we_write_is_not_written_over(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = hub.journal_add("tea")
    hub.journal_add("milk")
    real = day_sync.set_paths
    saves = iter(["- 12:00 tea\n- 12:00 milk\nsaved in between\n"])

    def meanwhile(*args: Any) -> None:
        real(*args)
        for text in saves:
            write(hub, text)

    monkeypatch.setattr(day_sync, "set_paths", meanwhile)
    hub.forget(kept.id)
    assert file_of(hub).read_text() == "- 12:00 milk\nsaved in between\n"
    assert in_store(hub) == ["milk", "saved in between"]


def test_a_file_that_never_comes_to_rest_is_said_so(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = hub.journal_add("tea")
    monkeypatch.setattr(day_sync, "write_file", lambda *_: False)
    hub.forget(kept.id)
    assert any("all the time" in note for note in hub.notes)


def test_while_another_process_writes_an_addition_waits_and_then_says_so(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "locked", partial(locked, wait_s=0.01))
    with locked(f"{hub.folder}/journal"), pytest.raises(StoreBusy):
        hub.journal_add("tea")
    assert not file_of(hub).exists() and in_store(hub) == []


# Bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("a\0b", "NUL"),
        ("a\ud800", "surrogate"),
        ("x" * 3_000_001, "at most 3,000,000"),
        (b"bytes", "must be text"),
        (None, "must be text"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_leaves_no_file(
    hub: HubMemory, text: Any, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        hub.journal_add(text)
    assert not os.path.exists(hub.folder)
    assert in_store(hub) == []


def test_a_wrong_label_is_refused_before_anything_is_written(hub: HubMemory) -> None:
    for wrong in ({"trust": "everyone"}, {"source": "door"}, {"at": "noon"}):
        with pytest.raises(InvalidInput):
            hub.journal_add("tea", **wrong)
    assert not file_of(hub).exists()


def test_a_large_entry_is_kept_whole(hub: HubMemory) -> None:
    text = "wörd " * 100_000
    assert hub.journal_add(text).content == text.strip()
    assert said(hub) == [text.strip()]


def test_bytes_that_are_no_text_stay_and_the_rest_is_taken_in(hub: HubMemory) -> None:
    write(hub, b"- tea\n- \xff\xfe broken\n- milk\n- nul \x00 here\n")
    found = hub.journal()
    assert in_store(hub) == ["tea", "milk"]
    assert len(found.notes) == 2
    assert all("cannot be remembered" in note for note in found.notes)
    assert "It is not UTF-8 text." in found.notes[0]
    hub.journal_add("rum")
    hub.forget(1)
    assert said(hub) == ["milk", "rum"]
    assert file_of(hub).read_bytes() == (
        b"- \xff\xfe broken\n- milk\n- nul \x00 here\n- 12:00 rum\n"
    )


def test_a_file_that_is_too_large_is_named_and_the_others_are_read(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "FILE_BYTES_MAX", 20)
    write(hub, "- " + "x" * 30, "2026-01-13")
    write(hub, "- tea\n")
    found = hub.journal("..")
    assert [day.date for day in found] == [date(2026, 1, 14)]
    assert any("2026-01-13.md has 32 bytes" in note for note in found.notes)
    with pytest.raises(InvalidInput, match="at most"):
        hub.journal_add("more", at="2026-01-13T10:00:00Z")


def test_links_that_lead_out_and_things_that_are_no_files_are_refused(
    hub: HubMemory, tmp_path: Path
) -> None:
    write(hub, "- tea\n")
    outside = tmp_path / "outside.md"
    outside.write_text("- not ours\n")
    file_of(hub, "2026-01-01").symlink_to(outside)
    file_of(hub, "2026-01-02").symlink_to(file_of(hub, "2026-01-02"))
    file_of(hub, "2026-01-03").mkdir()
    os.mkfifo(file_of(hub, "2026-01-04"))
    found = hub.journal("..")
    assert said(hub, "..") == ["tea"] == in_store(hub)
    assert len(found.notes) == 4
    with pytest.raises(InvalidInput, match="leads out"):
        hub.journal_add("over it", at="2026-01-01T10:00:00Z")
    assert outside.read_text() == "- not ours\n"
    assert in_store(hub) == ["tea"]


def test_a_deleted_hub_takes_its_journals_and_archives_along(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.journal_add("tea")
    hub.archive_conversation("s1", messages=[("user", "Hello there.")])
    mine = Path(hub.folder, "conversations", "mine.md")
    mine.write_text("my own notes")
    write(hub, "not a journal", "2026-02-31")
    memory.delete_hub("work")
    left = [path.name for path in Path(hub.folder).rglob("*") if path.is_file()]
    assert sorted(left) == ["2026-02-31.md", "mine.md"]
    again = memory.create_hub("work")
    assert again.journal("..") == [] and in_store(again) == []


def test_a_hub_that_is_gone_is_said_so(memory: Holdfast, hub: HubMemory) -> None:
    memory.delete_hub("work")
    with pytest.raises(NotFound):
        hub.journal_add("tea")
    assert not os.path.exists(hub.folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_a_folder_without_write_permission_can_be_read_and_says_so() -> None:
    # Not in pytest's own folder, which nobody but its owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="holdfast-journal-"))
    try:
        folder.chmod(0o777)
        answers = _as_nobody(folder)
    finally:
        shutil.rmtree(folder)
    assert answers == "read:tea|added:StoreReadOnly|stored:1"


def _as_nobody(folder: Path) -> str:
    """What somebody sees whose files are theirs, in a hub folder that is not. In an interpreter of
    its own: this one cannot give its rights away, and a fork of one with the threads of a whole
    suite may stand still."""
    code = f"from {__name__} import become_nobody; become_nobody({str(folder)!r})"
    words = [sys.executable, "-c", code]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def become_nobody(folder: str) -> None:
    # Modules that are first needed on the way may be where nobody can read them.
    _try_to_write(Path(folder, "for root"))
    os.setgroups([])
    os.setgid(65_534)
    os.setuid(65_534)
    print(_try_to_write(Path(folder, "home")), end="")


def _try_to_write(folder: Path) -> str:
    with open_for_tests(folder) as memory:
        hub = memory.create_hub("work")
        hub.journal_add("tea")
        os.chmod(file_of(hub), 0o400)
        os.unlink(Path(hub.folder) / ".journal.lock")
        os.chmod(hub.folder, 0o500)
        seen = [entry.text for day in hub.journal() for entry in day.entries]
        try:
            hub.journal_add("milk")
            added = "fine"
        except StoreReadOnly:
            added = "StoreReadOnly"
        os.chmod(hub.folder, 0o700)
        return f"read:{','.join(seen)}|added:{added}|stored:{len(in_store(hub))}"


def test_a_list_of_the_journal_has_the_newest_days_first(hub: HubMemory) -> None:
    hub.journal_add("Today")
    hub.journal_add("Long ago", at="2025-03-01T10:00:00Z")
    hub.journal_add("Last week", at="2026-01-07T10:00:00Z")
    listed = [entry.content for entry in hub.list(layer="journal")]
    assert listed == ["Today", "Last week", "Long ago"]
    first = hub.list(layer="journal", limit=2)
    rest = hub.list(layer="journal", limit=2, cursor=first.cursor)
    assert [entry.content for entry in [*first, *rest]] == listed
