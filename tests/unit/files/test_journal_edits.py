"""Journals edited behind our back: taken in at the next operation of any kind, never archived in
bulk without a word, and kept both ways where both sides changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, HubMemory, engine
from holdfast.domain.query import Filter
from holdfast.files.journal import changes, day_sync
from tests.unit.files.test_journal import journal_killed_at

TODAY = "2026-01-14"


def file_of(hub: HubMemory, day: str = TODAY) -> Path:
    return Path(hub.folder) / f"{day}.md"


def write(hub: HubMemory, text: str, day: str = TODAY) -> None:
    """What an editor does: another file takes the place of the old one."""
    path = file_of(hub, day)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name("saved~")
    new.write_text(text)
    new.replace(path)


def said(hub: HubMemory, when: Any = "today") -> list[str]:
    return [entry.text for day in hub.journal(when) for entry in day.entries]


def in_store(hub: HubMemory) -> list[str]:
    return [memory.content for memory in hub.list(layer="journal", order="number")]


# Changed on both sides


def changed_elsewhere(hub: HubMemory, memory_id: str, content: str) -> None:
    """What a process does that was killed before its file could follow."""
    engine.edit.update(hub.scope, memory_id, {"content": content})


def clash_of(hub: HubMemory) -> tuple[str, str]:
    """An entry that both sides changed; its memory's id, and the conflict's."""
    kept = hub.journal_add("The deploy failed because of the proxy")
    hub.journal_add("tea")
    changed_elsewhere(hub, kept.id, "The deploy failed because of Bob")
    write(hub, "- 12:00 The deploy failed because of a full disk\n- 12:00 tea\n")
    (clash,) = hub.conflicts()
    assert (clash.memory_id, clash.path) == (kept.id, f"{TODAY}.md")
    assert clash.in_store == "The deploy failed because of Bob"
    assert clash.in_file == "The deploy failed because of a full disk"
    return kept.id, clash.id


BOB, DISK = "The deploy failed because of Bob", "The deploy failed because of a full disk"


def test_an_entry_changed_on_both_sides_is_kept_both_ways_and_listed(hub: HubMemory) -> None:
    kept, _ = clash_of(hub)
    assert said(hub) == [BOB, DISK, "tea"]
    assert sorted(in_store(hub)) == sorted([BOB, DISK, "tea"])
    assert hub.get(kept).content == BOB
    assert len(hub.conflicts()) == 1
    assert any("both texts are kept" in note for note in hub.notes)


@pytest.mark.parametrize(
    ("keep", "left"), [("store", [BOB]), ("file", [DISK]), ("both", [BOB, DISK])]
)
def test_a_settled_conflict_leaves_the_lines_that_were_chosen(
    hub: HubMemory, keep: str, left: list[str]
) -> None:
    kept, clash = clash_of(hub)
    hub.settle(clash, keep=keep)
    assert hub.conflicts() == []
    assert said(hub) == [*left, "tea"]
    assert sorted(in_store(hub)) == sorted([*left, "tea"])
    assert hub.get(kept).content == left[0]
    assert file_of(hub).read_text() == "".join(f"- 12:00 {text}\n" for text in [*left, "tea"])
    every = [m.content for m in hub.list(state="archived")] + [
        entry.after.content for entry in hub.history(kept)
    ]
    assert {BOB, DISK} <= {*every, *left}


@pytest.mark.parametrize("step", ["apply_day", "note_clashes", "write_file", "agree"])
def test_a_kill_in_a_conflict_lists_it_once(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    kept = hub.journal_add("The deploy failed because of the proxy")
    changed_elsewhere(hub, kept.id, BOB)
    write(hub, f"- 12:00 {DISK}\n")
    journal_killed_at(hub, step, monkeypatch)
    assert said(hub) == [BOB, DISK]
    assert len(hub.conflicts()) == 1 and len(in_store(hub)) == 2


def test_a_line_taken_out_that_the_store_has_changed_since_comes_back(hub: HubMemory) -> None:
    kept = hub.journal_add("The deploy failed because of the proxy")
    hub.journal_add("tea")
    changed_elsewhere(hub, kept.id, "Bob did it, on purpose and with a smile")
    write(hub, "- 12:00 tea\n")
    assert said(hub) == ["tea", "Bob did it, on purpose and with a smile"]
    assert hub.conflicts() == []


# Taken in at the next operation of any kind

LOOKS: list[Callable[[HubMemory], object]] = [
    lambda hub: hub.list(),
    lambda hub: hub.recall("who was in Lisbon?"),
    lambda hub: hub.context(),
    lambda hub: hub.statistics(),
    lambda hub: hub.get(1),
    lambda hub: hub.changes(),
    lambda hub: hub.remember("something else"),
]


def in_store_alone(hub: HubMemory) -> list[str]:
    """What the store has, without looking at the files."""
    with hub.core.store.read() as reader:
        wanted = Filter(layers=("journal",))
        found = reader.memories(hub.id, wanted, order="number", after=None, limit=1_000)
    return [memory.content for memory in found]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("day", [TODAY, "2025-03-01"])
def test_an_edit_is_taken_in_at_the_next_operation_of_any_kind(
    hub: HubMemory, look: Callable[[HubMemory], object], day: str
) -> None:
    for old in range(1, 9):
        hub.journal_add(f"old {old}", at=f"2026-01-{old:02}T12:00:00Z")
    hub.journal_add("tea", at=f"{day}T12:00:00Z")
    hub.list()
    write(hub, "- 12:00 tea\nAnn is in Lisbon\n", day)
    look(hub)
    assert "Ann is in Lisbon" in in_store_alone(hub)


def test_an_edit_in_place_of_a_recent_journal_is_taken_in_at_the_next_operation(
    hub: HubMemory,
) -> None:
    hub.journal_add("tea")
    hub.list()
    with open(file_of(hub), "a") as file:
        file.write("Ann is in Lisbon\n")
    assert hub.recall("Lisbon")[0].memory.content == "Ann is in Lisbon"


def test_an_edit_in_place_of_an_old_journal_is_taken_in_when_each_is_looked_at(
    memory: Holdfast, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_EVERY_S", 0.0)
    for old in range(1, 9):
        hub.journal_add(f"old {old}", at=f"2026-01-{old:02}T12:00:00Z")
    hub.list()
    with open(file_of(hub, "2026-01-01"), "a") as file:
        file.write("Ann is in Lisbon\n")
    hub.list()
    assert "Ann is in Lisbon" in in_store_alone(hub)
    # Another process looks at each when it begins.
    monkeypatch.setattr(changes, "_EVERY_S", 1e9)
    with open(file_of(hub, "2026-01-02"), "a") as file:
        file.write("Bob is in Oslo\n")
    memory.hub("work").list()
    assert "Bob is in Oslo" in in_store_alone(hub)


def test_a_journal_deleted_by_mistake_is_restored_at_the_next_operation(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.journal_add("tea", at="2025-03-01T12:00:00Z")
    old_enough(file_of(hub, "2025-03-01"))
    hub.list()
    file_of(hub, "2025-03-01").unlink()
    # Also by a process that begins only now: what was there is noted beside the journals.
    assert [one.content for one in memory.hub("work").list()] == ["tea"]
    assert file_of(hub, "2025-03-01").read_text() == "- 12:00 tea\n"


def test_a_journal_deleted_right_after_it_was_written_is_restored_as_well(
    hub: HubMemory,
) -> None:
    hub.journal_add("tea")
    file_of(hub).unlink()
    hub.recall("tea")
    assert file_of(hub).read_text() == "- 12:00 tea\n"


def test_a_day_without_a_journal_is_looked_at_once(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.journal_add("tea")
    old_enough(file_of(hub))
    assert said(hub, "2020-01-01") == []
    hub.list()
    synced: list[object] = []
    monkeypatch.setattr(day_sync, "survey", lambda *args: synced.append(args))
    hub.list()
    assert synced == [] and not file_of(hub, "2020-01-01").exists()


def test_an_empty_journal_that_is_deleted_stays_so_and_is_looked_at_once(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = hub.journal_add("tea")
    hub.forget(kept.id)
    assert file_of(hub).read_text() == ""
    file_of(hub).unlink()
    hub.list()
    looked: list[object] = []
    monkeypatch.setattr(day_sync, "survey", lambda *args: looked.append(args))
    hub.list()
    assert looked == [] and not file_of(hub).exists()


def old_enough(path: Path) -> None:
    """As if it had been written a minute ago, so that its time says something."""
    then = path.stat().st_mtime - 60
    os.utime(path, (then, then))


def test_few_files_are_asked_for_however_many_there_are(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [f"20{year:02}-{month:02}-01" for year in range(10, 25) for month in range(1, 13)]
    for day in days:
        write(hub, "- tea\n", day)
        old_enough(file_of(hub, day))
    old_enough(Path(hub.folder))
    hub.sync_journals()
    old_enough(Path(hub.folder))
    hub.list()
    asked: list[str] = []
    real = changes.signature_at
    monkeypatch.setattr(changes, "signature_at", lambda path: asked.append(path) or real(path))
    hub.list()
    assert len(asked) <= 3
    asked.clear()
    write(hub, "- milk\n", days[0])
    hub.list()
    assert "milk" in in_store_alone(hub)
    assert len(set(asked)) <= 4


# Many entries gone at once


def many(hub: HubMemory) -> list[str]:
    """Four days with three entries each."""
    texts = []
    for day in range(1, 5):
        for word in ("tea", "milk", "bread"):
            texts.append(f"{word} {day}")
            hub.journal_add(texts[-1], at=f"2026-01-{day:02}T12:00:00Z")
    hub.list()
    return texts


def test_a_sync_that_would_archive_a_third_of_the_journals_asks_first(hub: HubMemory) -> None:
    texts = many(hub)
    for day in range(1, 5):
        write(hub, f"- 12:00 tea {day}\nwholly new: {day}\n", f"2026-01-{day:02}")
    expected = [*texts, *(f"wholly new: {day}" for day in range(1, 5))]
    assert in_store(hub) == expected
    assert any("holdfast sync --confirm" in note for note in hub.notes)
    # Nor does reading one day, adding to it, or another process archive them bit by bit.
    hub.journal("2026-01-01")
    hub.journal_add("added", at="2026-01-01T13:00:00Z")
    assert in_store(hub) == [*expected, "added"]
    assert said(hub, "2026-01-01") == ["tea 1", "wholly new: 1", "added"]
    again = HubMemory(hub.core, hub.info, hub.home)
    assert in_store(again) == [*expected, "added"]
    assert any("--confirm" in note for note in again.sync_journals())
    assert any("--confirm" in note for note in again.sync().notes)
    again.sync(confirm=True)
    left = [text for text in [*expected, "added"] if not text.startswith(("milk", "bread"))]
    assert in_store(again) == left
    assert {m.state_reason for m in again.list(state="archived")} == {"removed from the journal"}


def test_what_was_withheld_comes_back_with_its_file(hub: HubMemory) -> None:
    texts = many(hub)
    for day in range(1, 5):
        write(hub, f"- 12:00 bread {day}\n", f"2026-01-{day:02}")
    hub.list()
    for day in range(1, 5):
        file_of(hub, f"2026-01-{day:02}").unlink()
    assert in_store(hub) == texts
    assert said(hub, "2026-01-03") == ["tea 3", "milk 3", "bread 3"]


def test_a_few_lines_go_without_a_question(hub: HubMemory) -> None:
    many(hub)
    write(hub, "- 12:00 bread 1\n", "2026-01-01")
    assert len(in_store(hub)) == 10
    assert hub.notes == []
