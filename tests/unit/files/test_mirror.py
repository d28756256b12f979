"""MEMORY.md and the store in step: what each kind of edit means, and what no accident may do."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Conflict, HubMemory, InvalidInput, engine
from holdfast.api.memory import Holdfast
from holdfast.api.operation import operations_of
from holdfast.errors import StoreError, StoreReadOnly
from holdfast.files import safe_read
from holdfast.files.memory_md import cache, disk, sync
from holdfast.files.memory_md.merge import StoreWriter, SyncReport
from holdfast.files.memory_md.parse import parse
from holdfast.system import atomic_file
from holdfast.testing import FixedClock, open_for_tests
from tests.property.test_mirror_stateful import CRASHES, Crash, crash_at

FRESH = """\
# Long-term Memory

## Preference
<!-- updated 2026-01-14 -->

- Ann likes tea. <!-- mem_00000001 -->

## Fact
<!-- updated 2026-01-14 -->

- The server is Hilda. <!-- mem_00000002 -->
- It runs Debian. <!-- mem_00000003 -->
"""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holdfast]:
    monkeypatch.setattr(safe_read, "PAUSE_S", 0)
    with open_for_tests(tmp_path, settings={"store.url": "memory:"}) as memory:
        yield memory


@pytest.fixture
def hub(memory: Holdfast) -> HubMemory:
    return with_three(memory)


def with_three(memory: Holdfast) -> HubMemory:
    """Three memories and their file."""
    hub = memory.hub()
    hub.remember("Ann likes tea.", category="preference", layer="long_term")
    hub.remember("The server is Hilda.", category="fact", layer="long_term")
    hub.remember("It runs Debian.", category="fact", layer="long_term")
    hub.sync()
    return hub


@pytest.fixture
def file(hub: HubMemory) -> Path:
    return Path(hub.memory_md)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_bytes().decode()
    assert old in text
    file.write_bytes(text.replace(old, new).encode())


def tell_store(hub: HubMemory, number: int, **changes: Any) -> None:
    """A write of another process that was stopped before the file could follow."""
    engine.edit.update(hub.scope, number, changes)


def lines(file: Path) -> list[str]:
    return [item.content for item in parse(file.read_bytes().decode()).items]


# What edits mean


def test_a_fresh_file_has_a_section_for_each_category(file: Path) -> None:
    assert file.read_text() == FRESH


def test_a_changed_line_is_a_new_revision(hub: HubMemory, file: Path) -> None:
    edit(file, "likes tea", "likes coffee")
    report = hub.sync()
    assert [memory.number for memory in report.taken_in] == [1]
    assert hub.get(1).content == "Ann likes coffee."
    assert hub.get(1).title == "Ann likes coffee"
    last = hub.history(1)[-1]
    assert (last.change.action, last.change.reason) == ("update", "edited in MEMORY.md")
    assert [hit.memory.number for hit in hub.recall("coffee")] == [1]


def test_a_new_line_is_a_new_memory_of_its_section(hub: HubMemory, file: Path) -> None:
    edit(file, "## Fact\n", "## About Me / Home\n* Born in Oslo\n  in 1980\n\n## Fact\n")
    [new] = hub.sync().taken_in
    assert (new.content, new.category, new.layer) == (
        "Born in Oslo\nin 1980",
        "about me-home",
        "long_term",
    )
    assert (new.source, new.trust) == ("cli", "user")
    assert "* Born in Oslo\n  in 1980 <!-- mem_00000004 -->\n" in file.read_text()
    assert hub.sync() == SyncReport()


def test_a_missing_line_is_archived(hub: HubMemory, file: Path) -> None:
    edit(file, "- It runs Debian. <!-- mem_00000003 -->\n", "")
    assert [memory.number for memory in hub.sync().archived] == [3]
    assert (hub.get(3).state, hub.get(3).state_reason) == ("archived", "removed from MEMORY.md")


def test_a_line_of_which_only_the_comment_is_left_was_removed(hub: HubMemory, file: Path) -> None:
    edit(file, "- It runs Debian. <!--", "- <!--")
    assert [memory.number for memory in hub.sync().archived] == [3]
    assert "mem_00000003" not in file.read_text()


def test_a_moved_line_changes_its_category(hub: HubMemory, file: Path) -> None:
    edit(file, "- It runs Debian. <!-- mem_00000003 -->\n", "")
    edit(file, "## Fact\n", "- It runs Debian. <!-- mem_00000003 -->\n\n## Fact\n")
    hub.sync()
    assert (hub.get(3).category, hub.get(3).content) == ("preference", "It runs Debian.")


def test_everything_in_one_save_is_one_change_set(hub: HubMemory, file: Path) -> None:
    before = len(hub.changes())
    edit(file, "likes tea", "likes coffee")
    edit(file, "- The server is Hilda. <!-- mem_00000002 -->", "- A new one")
    hub.sync()
    assert len(hub.changes()) == before + 1
    hub.undo()
    assert sorted(file.read_text().splitlines()) == sorted(FRESH.splitlines())


def test_a_bullet_outside_of_a_section_is_no_memory(hub: HubMemory, file: Path) -> None:
    edit(file, "# Long-term Memory\n", "# Long-term Memory\n\n- only a note\n")
    assert hub.sync().taken_in == ()
    assert "- only a note\n" in file.read_text()


def test_the_date_of_a_section_moves_with_its_lines(hub: HubMemory, file: Path) -> None:
    hub.core.clock.tick(days=3)  # type: ignore[attr-defined]
    edit(file, "likes tea", "likes coffee")
    hub.sync()
    assert "## Preference\n<!-- updated 2026-01-17 -->" in file.read_text()
    assert "## Fact\n<!-- updated 2026-01-14 -->" in file.read_text()


def test_an_edit_keeps_counters_that_moved_meanwhile(
    hub: HubMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = StoreWriter.apply

    def and_count(self: StoreWriter, *args: Any) -> Any:
        engine.edit.access(hub.scope, [1])
        return apply(self, *args)

    monkeypatch.setattr(StoreWriter, "apply", and_count)
    edit(file, "likes tea", "likes coffee")
    hub.sync()
    assert (hub.get(1).content, hub.get(1).access_count) == ("Ann likes coffee.", 1)


# What the store does


def test_the_file_follows_every_kind_of_write(hub: HubMemory, file: Path) -> None:
    hub.remember("Bob is tall.", category="person", layer="long_term")
    assert file.read_text() == FRESH + (
        "\n## Person\n<!-- updated 2026-01-14 -->\n\n- Bob is tall. <!-- mem_00000004 -->\n"
    )
    hub.update(2, content="The server is Greta.")
    hub.update(1, category="person")
    assert lines(file) == [
        "The server is Greta.",
        "It runs Debian.",
        "Bob is tall.",
        "Ann likes tea.",
    ]
    hub.forget(2)
    hub.archive(3)
    assert lines(file) == ["Bob is tall.", "Ann likes tea."]
    hub.restore(2)
    list(hub.remember_stream([{"content": "One more.", "layer": "long_term"}]))
    assert {"The server is Greta.", "One more."} <= set(lines(file))


def test_a_heading_made_here_goes_with_its_last_line(hub: HubMemory, file: Path) -> None:
    fact = FRESH.partition("## Fact")
    hub.forget(1)
    assert file.read_text() == "# Long-term Memory\n\n" + fact[1] + fact[2]
    hub.undo()
    assert lines(file) == ["The server is Hilda.", "It runs Debian.", "Ann likes tea."]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Typed anew, with words below it, with a word beside it, and a second one.
        ("## Preference\n<!-- updated 2026-01-14 -->\n", "## Preference\n"),
        ("## Preference\n<!-- updated 2026-01-14 -->\n", "## preference\n"),
        ("\n## Fact", "\nMy own words.\n\n## Fact"),
        ("# Long-term Memory\n", "# Long-term Memory\n\n## Preference\n"),
    ],
)
def test_a_heading_that_a_person_has_a_part_in_stays(
    hub: HubMemory, file: Path, old: str, new: str
) -> None:
    edit(file, old, new)
    hub.sync()
    hub.update(1, content="Ann likes coffee.")
    hub.forget(1)
    assert "## preference" in file.read_text().lower()
    assert new.strip().splitlines()[0] in file.read_text()


def test_free_text_is_kept_to_the_letter_when_lines_change(hub: HubMemory, file: Path) -> None:
    typed = (
        "---\ntitle: mine\n---\n\nSome *free* text  \nwith two lines.\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\n- not a memory\n## nor a section\n```\n\n"
        "<!-- a note\n- to myself\n-->\n\n1. numbered\n\n"
    )
    text = typed + file.read_text().replace("- The server", "> quoted\n\n- The server")
    file.write_text(text)
    hub.update(2, content="The server is Greta.")
    assert file.read_text() == text.replace("Hilda", "Greta")
    assert hub.sync().taken_in == ()


def test_a_purged_line_leaves_file_and_agreement_at_once(hub: HubMemory, file: Path) -> None:
    hub.purge(2)
    assert "Hilda" not in file.read_text()
    with hub.core.store.read() as reader:
        agreed = reader.agreed(hub.id, "MEMORY.md")
    assert agreed is not None
    assert "Hilda" not in agreed.text


def test_a_purge_that_the_file_did_not_see_is_not_taken_in_again(
    hub: HubMemory, file: Path
) -> None:
    engine.edit.purge(hub.scope, [2], "")
    assert [memory.number for memory in hub.list(order="number")] == [1, 3]
    assert "Hilda" not in file.read_text()


# Both sides


def test_changes_of_different_memories_are_merged(hub: HubMemory, file: Path) -> None:
    tell_store(hub, 2, content="The server is Greta.")
    edit(file, "likes tea", "likes coffee")
    assert hub.sync().clashes == ()
    assert lines(file) == ["Ann likes coffee.", "The server is Greta.", "It runs Debian."]
    assert hub.get(1).content == "Ann likes coffee."


def test_the_same_change_on_both_sides_is_no_conflict(hub: HubMemory, file: Path) -> None:
    tell_store(hub, 1, content="Ann likes coffee.")
    edit(file, "likes tea", "likes coffee")
    assert (hub.sync().clashes, hub.get(1).version) == ((), 2)


def test_two_changes_of_one_memory_are_both_kept(hub: HubMemory, file: Path) -> None:
    tell_store(hub, 1, content="Ann likes water.")
    edit(file, "likes tea", "likes coffee")
    [clash] = hub.sync().clashes
    assert (clash.in_store, clash.in_file) == ("Ann likes water.", "Ann likes coffee.")
    assert lines(file)[:2] == ["Ann likes water.", "Ann likes coffee."]
    assert hub.get(1).content == "Ann likes water."
    assert hub.conflicts() == [clash]
    assert hub.sync().clashes == ()


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ("store", ["Ann likes water."]),
        ("file", ["Ann likes coffee."]),
        ("both", ["Ann likes water.", "Ann likes coffee."]),
    ],
)
def test_settling_keeps_what_was_chosen(
    hub: HubMemory, file: Path, keep: str, left: list[str]
) -> None:
    tell_store(hub, 1, content="Ann likes water.")
    edit(file, "likes tea", "likes coffee")
    [clash] = hub.sync().clashes
    assert hub.settle(clash.id, keep=keep).settled_at is not None
    assert lines(file)[: len(left)] == left
    assert len(lines(file)) == len(left) + 2
    assert hub.conflicts() == []


def test_what_the_store_changed_is_not_archived_by_a_line_taken_out_before(
    hub: HubMemory, file: Path
) -> None:
    tell_store(hub, 3, content="It runs NixOS.")
    edit(file, "- It runs Debian. <!-- mem_00000003 -->\n", "")
    assert hub.sync().archived == ()
    assert "It runs NixOS." in lines(file)


def test_a_line_that_was_edited_while_it_was_archived_comes_back(
    hub: HubMemory, file: Path
) -> None:
    engine.edit.archive(hub.scope, [3], "old")
    edit(file, "It runs Debian.", "It runs NixOS.")
    hub.sync()
    assert (hub.get(3).state, hub.get(3).content) == ("active", "It runs NixOS.")


def test_a_line_that_was_edited_while_it_was_forgotten_is_a_new_memory(
    hub: HubMemory, file: Path
) -> None:
    engine.edit.forget(hub.scope, [3], "")
    edit(file, "It runs Debian.", "It runs NixOS.")
    [new] = hub.sync().taken_in
    assert (new.number, new.content) == (4, "It runs NixOS.")


# Ids


def test_of_two_lines_with_one_id_the_first_keeps_it(hub: HubMemory, file: Path) -> None:
    line = "- The server is Hilda. <!-- mem_00000002 -->\n"
    edit(file, line, line + line.replace("Hilda", "Greta"))
    [new] = hub.sync().taken_in
    assert (new.number, new.content) == (4, "The server is Greta.")
    assert hub.get(2).content == "The server is Hilda."


def test_an_id_of_another_hub_makes_a_new_memory(
    memory: Holdfast, hub: HubMemory, file: Path
) -> None:
    other = memory.create_hub("other")
    secret = other.remember("Theirs alone").memory
    edit(file, "## Fact\n", f"## Fact\n- Mine <!-- {secret.id} -->\n- My own <!-- mem_none -->\n")
    assert [new.content for new in hub.sync().taken_in] == ["Mine", "My own"]
    assert other.get(1).content == "Theirs alone"
    assert secret.id not in file.read_text()


def test_lines_that_lost_their_comments_are_known_by_their_text(hub: HubMemory, file: Path) -> None:
    bare = [line.partition(" <!-- mem_")[0] for line in file.read_text().splitlines()]
    file.write_text("\n".join(bare) + "\n")
    report = hub.sync()
    assert (report.taken_in, report.archived) == ((), ())
    assert file.read_text() == FRESH


# Accidents


@pytest.mark.parametrize("content", [None, b"", b" \n\n"])
def test_a_file_deleted_or_emptied_is_restored_with_its_free_text(
    hub: HubMemory, file: Path, content: bytes | None
) -> None:
    edit(file, "## Fact\n", "Free text.\n\n## Fact\n")
    hub.sync()
    text = file.read_text()
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    report = hub.sync()
    assert file.read_text() == text
    assert "restored" in report.notes[0]
    assert len(hub.list()) == 3


def test_a_file_that_is_not_utf8_is_kept_aside_and_restored(hub: HubMemory, file: Path) -> None:
    file.write_bytes(b"- caf\xe9\n")
    tell_store(hub, 1, content="Ann likes water.")
    [note] = hub.sync().notes
    assert "byte 5" in note
    [kept] = file.parent.glob("MEMORY.md.kept-*")
    assert kept.name in note
    assert kept.read_bytes() == b"- caf\xe9\n"
    assert lines(file)[0] == "Ann likes water."


def kept(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.glob("MEMORY.md.kept-*"))


def spoil(file: Path, hub: HubMemory, data: bytes) -> None:
    file.write_bytes(data)
    hub.sync()


def test_a_save_while_the_new_file_is_being_written_is_not_lost(
    hub: HubMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = atomic_file.write_file_unless
    saves = iter([file.read_text() + "- Saved in between.\n"])

    def meanwhile(path: str, data: bytes, unless: Callable[[], bool], *, mode: int) -> bool:
        def after_it_was_written() -> bool:
            for text in saves:
                file.write_text(text)
            return unless()

        return real(path, data, after_it_was_written, mode=mode)

    monkeypatch.setattr(atomic_file, "write_file_unless", meanwhile)
    hub.update(1, content="Ann likes coffee.")
    assert "Saved in between." in lines(file)
    assert {"Saved in between.", "Ann likes coffee."} <= {one.content for one in hub.list()}
    assert not [path for path in file.parent.iterdir() if "partial" in path.name]


def test_of_kept_files_that_say_nothing_new_only_the_newest_few_stay(
    hub: HubMemory, file: Path
) -> None:
    hub.update(1, content="Ann likes the café.")
    older = file.read_text()
    hub.update(1, content="Ann likes coffee.")
    for number in range(6):
        # All that is said here is in the store, or was.
        spoil(file, hub, older.encode("cp1252") + b"\n" * number)
    assert len(kept(file)) == 3
    assert lines(file) == ["Ann likes coffee.", "The server is Hilda.", "It runs Debian."]


def test_a_kept_file_that_says_something_of_its_own_stays(hub: HubMemory, file: Path) -> None:
    own = file.read_text() + "\nMy own line, née here.\n"
    spoil(file, hub, own.encode("cp1252"))
    new = file.read_text().replace("likes tea", "likes crème")
    spoil(file, hub, new.encode("cp1252"))
    told = kept(file)
    for number in range(6):
        spoil(file, hub, b"\xe9" + b"\n" * number + file.read_bytes()[:40])
    assert set(told) <= set(kept(file))


def test_what_is_kept_twice_is_kept_once(hub: HubMemory, file: Path) -> None:
    for _ in range(5):
        spoil(file, hub, b"The same words, n\xe9 each time.\n")
    assert len(kept(file)) == 1


def test_a_memory_leaves_the_file_at_the_next_operation_after_its_end(
    tmp_path: Path,
) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock) as memory:
        hub = memory.hub()
        hub.remember("The code is 1234.", layer="long_term", ttl=timedelta(hours=1))
        hub.remember(
            "The fair is on.", layer="long_term", valid_until=clock.now() + timedelta(hours=3)
        )
        hub.remember("It runs Debian.", layer="long_term")
        hub.sync()
        file = Path(hub.memory_md)
        # As if it had been written a while ago, so that its time proves something.
        os.utime(file, (1e9, 1e9))
        hub.list()
        clock.tick(minutes=59)
        hub.list()
        assert lines(file) == ["The code is 1234.", "The fair is on.", "It runs Debian."]
        clock.tick(minutes=1)
        hub.recall("Debian")
        assert lines(file) == ["The fair is on.", "It runs Debian."]
        os.utime(file, (1e9, 1e9))
        hub.list()
        clock.tick(hours=2)
        # A process that begins only now knows it from the note beside the file.
        memory.hub().list()
        assert lines(file) == ["It runs Debian."]
        assert [one.content for one in hub.list()] == ["The fair is on.", "It runs Debian."][::-1]


def test_a_file_cut_in_the_middle_is_kept_aside_and_restored(hub: HubMemory, file: Path) -> None:
    file.write_text(FRESH[:18])
    [note] = hub.sync().notes
    assert "ends in the middle" in note
    assert file.read_text() == FRESH
    assert [kept.read_text() for kept in file.parent.glob("*.kept-*")] == [FRESH[:18]]


def test_a_sync_that_would_archive_a_third_asks_first(hub: HubMemory, file: Path) -> None:
    hub.remember_many([{"content": f"Fact {n}.", "category": "fact"} for n in range(6)])
    text = file.read_text()
    kept = [line for line in text.splitlines() if "Fact " not in line] + ["- One more"]
    file.write_text("\n".join(kept) + "\n")
    with pytest.raises(Conflict, match=r"lacks 6 of the 9 .*`confirm`"):
        hub.sync()
    # Nothing was taken in and nothing was written; other operations go on, with a note.
    assert file.read_text() == "\n".join(kept) + "\n"
    assert len(hub.list()) == 9
    assert "lacks 6 of the 9" in hub.notes[0]
    assert len(hub.sync(confirm=True).archived) == 6
    assert len(hub.list()) == 4


def test_a_few_lines_may_go_without_asking(hub: HubMemory, file: Path) -> None:
    file.write_text("# Long-term Memory\n")
    assert len(hub.sync().archived) == 3


def test_a_file_with_windows_line_ends_keeps_them(hub: HubMemory, file: Path) -> None:
    file.write_bytes(FRESH.replace("\n", "\r\n").encode())
    assert hub.sync().taken_in == ()
    hub.remember("Line one\nline two", category="person", layer="long_term")
    data = file.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    assert lines(file)[-1] == "Line one\nline two"


def test_a_file_of_50_mb_is_refused_and_left_alone(hub: HubMemory, file: Path) -> None:
    with file.open("r+b") as open_file:
        open_file.truncate(50_000_000)
    with pytest.raises(InvalidInput, match="50,000,000 bytes"):
        hub.sync()
    assert file.stat().st_size == 50_000_000
    assert len(hub.list()) == 3


def test_an_editor_that_saves_by_renaming_is_taken_in(hub: HubMemory, file: Path) -> None:
    swap = file.with_name("MEMORY.md~")
    swap.write_text(FRESH.replace("tea", "tee"))
    swap.replace(file)
    assert hub.get(1).content == "Ann likes tee."


def test_an_edit_of_the_same_size_in_the_same_instant_is_seen(hub: HubMemory, file: Path) -> None:
    for word in ("tee", "ale", "tea", "oil"):
        edit(file, lines(file)[0], f"Ann likes {word}.")
        assert hub.get(1).content == f"Ann likes {word}."


def test_an_edit_that_keeps_the_time_of_the_file_is_seen(
    hub: HubMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "TICK_NS", 0)
    hub.sync()
    before = file.stat()
    edit(file, "likes tea", "likes ale")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert hub.get(1).content == "Ann likes ale."


def test_a_save_between_the_last_look_and_the_stamp_is_seen_at_the_next_operation(
    hub: HubMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a slow disk: by the time both sides have agreed, the save is older than a tick.
    monkeypatch.setattr(cache, "TICK_NS", 0)

    def agree_and_be_overtaken(*args: Any, **kwargs: Any) -> None:
        set_agreed(*args, **kwargs)
        edit(file, "likes tea", "likes ale")

    set_agreed = disk.set_agreed
    with monkeypatch.context() as slow:
        slow.setattr(disk, "set_agreed", agree_and_be_overtaken)
        hub.remember("Bob is tall.", category="person", layer="long_term")
    assert hub.get(1).content == "Ann likes ale."


def test_a_checkout_of_an_older_file_brings_its_lines_back(hub: HubMemory, file: Path) -> None:
    older = file.read_text()
    hub.update(1, content="Ann likes coffee.")
    hub.archive(3)
    assert file.read_text() != older
    file.write_text(older)
    hub.sync()
    assert (hub.get(1).content, hub.get(3).state) == ("Ann likes tea.", "active")
    assert file.read_text() == older


def test_a_line_that_cannot_be_taken_in_stays_and_the_rest_is_synced(
    hub: HubMemory, file: Path
) -> None:
    edit(file, "likes tea", "likes \0 tea")
    edit(file, "It runs Debian.", "It runs NixOS.")
    edit(file, "## Fact\n", "## Fact\n- new \0 too\n")
    for _ in range(3):
        report = hub.sync()
        assert len(report.refused) == 2
        assert "NUL" in report.refused[0]
        assert "likes \0 tea" in file.read_text()
        assert "- new \0 too\n" in file.read_text()
        assert file.read_text().count("mem_00000001") == 1
    assert hub.get(1).content == "Ann likes tea."
    assert hub.get(3).content == "It runs NixOS."
    edit(file, "\0 ", "")
    hub.sync()
    assert {"Ann likes tea.", "new too"} <= {memory.content for memory in hub.list()}


def test_an_editor_that_saves_during_a_sync_is_not_written_over(
    hub: HubMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_store(hub, 2, content="The server is Greta.")
    apply = StoreWriter.apply
    saves = iter(["Ann likes coffee."])

    def and_save(self: StoreWriter, *args: Any) -> Any:
        taken = apply(self, *args)
        for text in saves:
            edit(file, "Ann likes tea.", text)
        return taken

    monkeypatch.setattr(StoreWriter, "apply", and_save)
    hub.sync()
    assert lines(file)[:2] == ["Ann likes coffee.", "The server is Greta."]
    assert hub.get(1).content == "Ann likes coffee."


@pytest.mark.parametrize("point", CRASHES)
def test_a_crash_between_two_steps_takes_nothing_back(
    hub: HubMemory, file: Path, point: str
) -> None:
    tell_store(hub, 2, content="The server is Greta.", category="person")
    edit(file, "likes tea", "likes coffee")
    edit(file, "## Fact\n", "## Fact\n- A new one\n- A new one\n")
    edit(file, "- It runs Debian. <!-- mem_00000003 -->\n", "")
    with crash_at(point), pytest.raises(Crash):
        hub.sync()
    report = hub.sync()
    assert report.clashes == ()
    after = {memory.number: memory.content for memory in hub.list()}
    assert after == {
        1: "Ann likes coffee.",
        2: "The server is Greta.",
        4: "A new one",
        5: "A new one",
    }
    assert (hub.get(2).category, hub.get(3).state) == ("person", "archived")
    assert sorted(lines(file)) == sorted(after.values())


@pytest.mark.parametrize("point", CRASHES)
def test_a_conflict_that_was_broken_off_is_listed_once(
    hub: HubMemory, file: Path, point: str
) -> None:
    tell_store(hub, 1, content="Ann likes water.")
    edit(file, "likes tea", "likes coffee")
    with crash_at(point), pytest.raises(Crash):
        hub.sync()
    hub.sync()
    assert len(hub.conflicts()) == 1
    assert sorted(lines(file))[:2] == ["Ann likes coffee.", "Ann likes water."]
    assert len(lines(file)) == 4


def test_a_store_that_moves_on_after_a_crash_makes_no_conflict(hub: HubMemory, file: Path) -> None:
    tell_store(hub, 1, content="Ann likes water.")
    with crash_at("after the file"), pytest.raises(Crash):
        hub.sync()
    tell_store(hub, 1, content="Ann likes wine.")
    assert hub.sync().clashes == ()
    assert lines(file)[0] == "Ann likes wine."


# Hubs, folders, operations


def test_a_hub_without_a_folder_costs_one_look(
    memory: Holdfast, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = memory.hub()
    looks: list[str] = []
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **k: looks.append(path) or real(path, **k))
    monkeypatch.setattr(os.path, "isdir", lambda path: looks.append(path) or False)
    # And one at the settings, which may have changed.
    each = [memory.core.settings.path, os.path.dirname(hub.memory_md)]
    hub.remember("Ann likes tea.")
    assert looks == each
    hub.recall("tea")
    assert looks == each * 2


def test_a_folder_that_cannot_be_written_is_a_note_and_no_error(
    hub: HubMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(path: str) -> Any:
        raise StoreReadOnly(f"{path} cannot be written: Permission denied.")

    monkeypatch.setattr(sync, "locked", locked)
    hub.remember("Bob is tall.")
    edit(file, "tea", "coffee")
    assert len(hub.list()) == 4
    assert "cannot be written" in hub.notes[0]


def test_a_file_that_cannot_be_read_is_reported_in_a_sentence(hub: HubMemory, file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)
    with pytest.raises(StoreError, match=r"MEMORY\.md cannot be read: Too many levels"):
        hub.sync()
    file.unlink()
    file.mkdir()
    assert len(hub.list()) == 3
    assert f"{file} cannot be read: Is a directory." in hub.notes[-1]


def test_a_renamed_hub_takes_its_files_along(memory: Holdfast, hub: HubMemory) -> None:
    memory.rename_hub("default", "home")
    renamed = memory.hub("home")
    edit(Path(renamed.memory_md), "tea", "coffee")
    assert renamed.get(1).content == "Ann likes coffee."
    assert not Path(hub.memory_md).exists()


def test_a_deleted_hub_leaves_no_file_of_memories(memory: Holdfast, file: Path) -> None:
    memory.delete_hub("default")
    assert not file.exists()


def test_files_of_another_hub_of_that_name_are_not_taken_in_unasked(
    hub: HubMemory, file: Path
) -> None:
    cache = file.with_name(".MEMORY.md.stamp")
    cache.write_text(cache.read_text().replace(hub.id, "hub_another"))
    with pytest.raises(Conflict, match="another hub"):
        hub.sync()
    hub.sync(confirm=True)
    assert hub.sync() == SyncReport()


def test_a_link_that_leads_out_of_the_folder_is_not_read(
    hub: HubMemory, file: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("## Fact\n- The password\n")
    file.unlink()
    file.symlink_to(secret)
    with pytest.raises(InvalidInput, match="leads out"):
        hub.sync()
    assert secret.read_text() == "## Fact\n- The password\n"
    assert len(hub.list()) == 3


def test_every_operation_looks_at_the_file_or_has_no_need_to() -> None:
    public = {name for name, value in vars(HubMemory).items() if callable(value)}
    public = {name for name in public if not name.startswith("_")}
    # The log and the journals have files of their own, and `sync` is the look itself.
    others = {name for name in public if "turn" in name or "journal" in name} - {"forget_turns"}
    others |= {"sync", "recovery_prompt", "archive_conversation", "index_files", "files", "heard"}
    # These go through `remember_draft` and `get`, or speak of no memory's text.
    others |= {"remember_file", "attachment", "jobs", "take_redacted", "usage", "captured"}
    others |= {"flush", "export_files", "activity", "meaning_map"}
    # What is logged is decided without a look at memories.
    others |= {"speakers", "log_rules", "log_size", "pause_log", "resume_log", "set_log_aside"}
    # This calls `get`, `remember_many` and `forget_many`.
    others |= {"move_many"}
    # A scan looks at the file as it is.
    others |= {"find_secrets"}
    operations = operations_of(HubMemory)
    assert public - others == {name for name, one in operations.items() if one.sync}


def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    from holdfast.api.memory import open as open_memory

    options = {"embed.model": "none"}
    with open_memory(tmp_path, settings=options) as memory:
        memory.hub().sync()
        context = multiprocessing.get_context("spawn")
        workers = [
            context.Process(target=_write, args=(str(tmp_path), name)) for name in ("Ann", "Bob")
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        hub = memory.hub()
        wanted = {f"{name} says {number}." for name in ("Ann", "Bob") for number in range(6)}
        assert {one.content for one in hub.list()} == wanted
        assert set(lines(Path(hub.memory_md))) == wanted
        assert hub.conflicts() == []


def _write(home: str, name: str) -> None:
    from holdfast.api.memory import open as open_memory

    with open_memory(home, settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        for number in range(6):
            hub.remember(f"{name} says {number}.", category="fact", layer="long_term")


def test_a_carriage_return_as_a_reference_is_a_line_break_and_alone_is_refused(
    hub: HubMemory, file: Path
) -> None:
    hub.sync()
    typed = file.read_text() + "\n## Fact\n- Two&#13;lines\n- &#13;\n"
    file.write_text(typed)
    report = hub.sync()
    assert [one.content for one in report.taken_in] == ["Two\nlines"]
    assert "The content is empty" in report.refused[0]
    # What is refused stays where it was typed.
    assert file.read_text().endswith("- &#13;\n")
