"""MEMORY.md as a text that a tool reads, adds to and rewrites: what stays the same memory, what is
archived and how it comes back, and that nobody's words are lost."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast import HubMemory, InvalidInput
from holdfast.api.memory import Holdfast
from holdfast.files import safe_read
from holdfast.files.memory_md.edit import Rewritten
from holdfast.files.memory_md.merge import SyncReport
from holdfast.files.memory_md.parse import parse
from holdfast.testing import open_for_tests
from tests.property.test_mirror_stateful import CRASHES, Crash, crash_at
from tests.unit.files.test_mirror import edit, with_three

SHOWN = """\
# Long-term Memory

## Preference

- Ann likes tea.

## Fact

- The server is Hilda.
- It runs Debian.
"""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holdfast]:
    monkeypatch.setattr(safe_read, "PAUSE_S", 0)
    with open_for_tests(tmp_path, settings={"store.url": "memory:"}) as memory:
        yield memory


@pytest.fixture
def hub(memory: Holdfast) -> HubMemory:
    return with_three(memory)


@pytest.fixture
def file(hub: HubMemory) -> Path:
    return Path(hub.memory_md)


def ids(hub: HubMemory) -> dict[str, str]:
    """What each memory of the file says, by its number's place in the store."""
    text = Path(hub.memory_md).read_bytes().decode()
    return {item.content: item.id or "" for item in parse(text).items}


# Reading


def test_the_text_to_read_has_no_marks(hub: HubMemory) -> None:
    assert hub.read_memory_md() == SHOWN


def test_where_there_is_nothing_there_is_no_text(memory: Holdfast) -> None:
    assert memory.create_hub("empty").read_memory_md() is None


def test_without_a_file_the_text_is_what_it_would_hold(memory: Holdfast) -> None:
    other = memory.create_hub("other")
    other.remember("Ann likes tea.", category="preference", layer="long_term")
    assert other.read_memory_md() == SHOWN.partition("\n## Fact")[0]
    assert not Path(other.memory_md).exists()


def test_what_was_typed_in_the_file_is_read_at_once(hub: HubMemory, file: Path) -> None:
    edit(file, "likes tea", "likes coffee")
    assert hub.read_memory_md() == SHOWN.replace("tea", "coffee")


def test_an_id_on_a_line_of_its_own_leaves_no_line(hub: HubMemory) -> None:
    hub.remember("Steps:\n- first\n- second", category="routine", layer="long_term")
    text = hub.read_memory_md() or ""
    assert text.endswith("- Steps:\n  - first\n  - second\n")
    hub.rewrite_memory_md(text.replace("second", "last"))
    assert hub.get(4).content == "Steps:\n- first\n- last"


def test_a_line_of_which_nothing_is_seen_stays_in_its_memory(hub: HubMemory) -> None:
    hub.remember("Page one\n\u200e", category="fact", layer="long_term")
    hub.rewrite_memory_md((hub.read_memory_md() or "").replace("tea", "coffee"))
    assert (hub.get(4).content, hub.get(4).version) == ("Page one\n\u200e", 1)


# Appending


def test_bullets_and_paragraphs_become_memories_of_their_section(hub: HubMemory) -> None:
    added = hub.append_memory_md(
        "## Fact\n- Disk is full.\n\nA whole\nparagraph.\n\n# People\n* Bob"
    )
    assert [(m.content, m.category) for m in added.added] == [
        ("Disk is full.", "fact"),
        ("A whole\nparagraph.", "fact"),
        ("Bob", "people"),
    ]
    assert hub.read_memory_md() == SHOWN + (
        "- Disk is full.\n\nA whole\nparagraph.\n\n# People\n* Bob\n"
    )
    assert len(hub.changes()) == 4
    hub.undo()
    assert {m.content for m in hub.list()} == set(ids(hub))


def test_without_a_heading_text_goes_to_the_end_of_the_file(hub: HubMemory) -> None:
    [new] = hub.append_memory_md("I prefer dark mode").added
    assert (new.category, new.layer) == ("fact", "long_term")
    assert hub.read_memory_md() == SHOWN + "\nI prefer dark mode\n"


def test_without_any_section_the_category_is_picked_by_the_rules(memory: Holdfast) -> None:
    other = memory.create_hub("other")
    [new] = other.append_memory_md("I prefer dark mode").added
    assert (new.category, new.layer) == ("preference", "long_term")
    assert other.read_memory_md() == "# Long-term Memory\n\nI prefer dark mode\n"


def test_text_goes_below_the_heading_that_it_gives(hub: HubMemory) -> None:
    hub.append_memory_md("## Preference\n- Bob likes coffee.\n")
    assert hub.read_memory_md() == SHOWN.replace(
        "- Ann likes tea.\n", "- Ann likes tea.\n- Bob likes coffee.\n"
    )


FREE_FORM = """\
# My memory

Only store what will still matter in three months.

## About Me
Lives in Oslo. Has two children.

## Safety + Guardrails
- Never store or print secrets
- Ask before running shell commands that delete files

### Files
1. Write only below ~/work
2. Keep backups

## Machine / Runtime
* A Mac Mini
"""


def test_text_is_kept_as_it_is_given(memory: Holdfast) -> None:
    other = memory.create_hub("other")
    done = other.append_memory_md(FREE_FORM, trust="agent", source_agent="minion")
    assert done.notes == ()
    assert other.read_memory_md() == FREE_FORM
    assert other.recall("Which shell commands need asking?")[0].memory.category == (
        "safety + guardrails"
    )
    other.append_memory_md("It has 64 GB.\n")
    assert other.read_memory_md() == FREE_FORM + "\nIt has 64 GB.\n"
    other.sync()
    assert other.read_memory_md() == FREE_FORM + "\nIt has 64 GB.\n"


def test_undo_of_an_append_or_a_rewrite_brings_the_file_back_byte_for_byte(
    memory: Holdfast,
) -> None:
    other = memory.create_hub("other")
    file = Path(other.memory_md)
    other.append_memory_md(FREE_FORM)
    first = file.read_bytes()
    other.append_memory_md("## New / One\n- a line\n\nand a paragraph\n")
    second = file.read_bytes()
    turned = (
        "## Machine / Runtime\n* A Mac Mini\n\n# Another title\n\n## About Me\nMoved to Rome.\n"
    )
    done = other.rewrite_memory_md(turned)
    third = file.read_bytes()
    assert third not in (first, second)
    undone = other.undo(done.changes[0])
    assert file.read_bytes() == second
    # Undoing the undo brings the new text back, as it was.
    redone = other.undo(undone.change.id)
    assert file.read_bytes() == third
    other.undo(redone.change.id)
    assert file.read_bytes() == second
    other.undo()  # the append
    assert file.read_bytes() == first


def test_undo_keeps_what_was_typed_since(hub: HubMemory, file: Path) -> None:
    done = hub.rewrite_memory_md(SHOWN.replace("- It runs Debian.\n", ""))
    file.write_bytes(file.read_bytes() + b"- Typed since.\n")
    hub.undo(done.changes[0])
    assert {"It runs Debian.", "Typed since."} <= {m.content for m in hub.list()}
    assert "Typed since." in file.read_text()


def test_code_and_tables_are_kept_whole(hub: HubMemory) -> None:
    added = hub.append_memory_md(
        "## Fact\n```sh\nmake\n\n# all\nmake test\n```\n\n| a | b |\n|---|---|\n"
    )
    assert [m.content for m in added.added] == [
        "```sh\nmake\n\n# all\nmake test\n```",
        "| a | b |\n|---|---|",
    ]


@pytest.mark.parametrize("again", ["- Ann likes tea.", "ann likes tea", "* **Ann** likes the tea!"])
def test_what_is_known_is_not_added_again(hub: HubMemory, again: str) -> None:
    before = hub.changes()
    done = hub.append_memory_md(again)
    assert (done.added, [m.number for m in done.known]) == ((), [1])
    assert "Known already" in done.notes[0]
    assert hub.changes() == before


def test_a_text_given_twice_is_added_once(hub: HubMemory) -> None:
    assert len(hub.append_memory_md("- One more.\n- One more").added) == 1


def test_past_the_cap_an_append_is_refused_and_says_how_to_condense(hub: HubMemory) -> None:
    with pytest.raises(InvalidInput, match=r"has 103 characters.* more than the 100 .*rewrite it"):
        hub.append_memory_md("- One more.", chars_max=100)
    assert len(hub.list()) == 3
    hub.append_memory_md("- One more.", chars_max=115)
    # What adds nothing is not refused.
    hub.append_memory_md("- One more.", chars_max=20)


@pytest.mark.parametrize("nothing", ["", "  \n", "## Fact\n"])
def test_an_append_of_nothing_is_refused(hub: HubMemory, nothing: str) -> None:
    with pytest.raises(InvalidInput):
        hub.append_memory_md(nothing)


def test_the_first_append_makes_the_file(memory: Holdfast) -> None:
    other = memory.create_hub("other")
    other.append_memory_md("- Ann likes tea.", source_agent="max", trust="agent", source="mcp")
    assert "Ann likes tea." in Path(other.memory_md).read_text()
    new = other.get(1)
    assert (new.source, new.trust, new.source_agent) == ("mcp", "agent", "max")


def test_where_the_file_cannot_follow_the_append_still_counts(hub: HubMemory, file: Path) -> None:
    file.write_bytes(b"x" * 21_000_000)
    done = hub.append_memory_md("- One more.")
    assert len(done.added) == 1
    assert "21,000,000 bytes" in done.notes[0]


# Rewriting


def test_the_same_text_again_changes_nothing(hub: HubMemory, file: Path) -> None:
    before, stamp = hub.changes(), file.stat().st_mtime_ns
    assert hub.rewrite_memory_md(hub.read_memory_md() or "") == Rewritten()
    assert (hub.changes(), file.stat().st_mtime_ns) == (before, stamp)


def test_unchanged_lines_keep_their_ids_and_changed_ones_become_revisions(hub: HubMemory) -> None:
    before = ids(hub)
    done = hub.rewrite_memory_md(SHOWN.replace("likes tea", "likes green tea") + "- It has 8 GB.\n")
    after = ids(hub)
    assert after["Ann likes green tea."] == before["Ann likes tea."]
    assert after["It runs Debian."] == before["It runs Debian."]
    assert [m.number for m in done.changed] == [1]
    assert [m.content for m in done.added] == ["It has 8 GB."]
    assert hub.get(1).version == 2
    last = hub.history(1)[-1].change
    assert (last.reason, done.changes) == ("MEMORY.md was rewritten", (last.id,))


def test_lines_may_change_their_order_and_their_section(hub: HubMemory) -> None:
    before = ids(hub)
    hub.rewrite_memory_md(
        "## Machine\n- It runs Debian.\n- The server is Hilda.\n\n- Ann likes tea.\n"
    )
    assert ids(hub) == before
    assert {m.category for m in hub.list()} == {"machine"}
    assert hub.read_memory_md() == (
        "## Machine\n- It runs Debian.\n- The server is Hilda.\n\n- Ann likes tea.\n"
    )


def test_what_is_left_out_is_archived_and_comes_back_with_one_undo(hub: HubMemory) -> None:
    hub.read_memory_md()
    done = hub.rewrite_memory_md("# Memory\n\n## Fact\n- Something else altogether\n")
    assert [m.number for m in done.archived] == [1, 2, 3]
    assert hub.get(2).state_reason == "left out when MEMORY.md was rewritten"
    [note] = done.notes
    assert "archived: #1 “Ann likes tea.”, #2" in note
    assert f"`holdfast undo {done.changes[0]}`" in note
    hub.undo(done.changes[0])
    assert {m.content for m in hub.list()} == {
        "Ann likes tea.",
        "The server is Hilda.",
        "It runs Debian.",
    }
    assert set(ids(hub)) == {m.content for m in hub.list()}


def test_text_around_the_memories_is_as_the_new_text_has_it(hub: HubMemory, file: Path) -> None:
    edit(file, "# Long-term Memory\n", "# Mine\n\nKeep what matters in three months.\n\n- a rule\n")
    hub.sync()
    text = (hub.read_memory_md() or "").replace("three months", "a year") + "\n| a |\n|---|\n"
    done = hub.rewrite_memory_md(text)
    assert (done.added, done.archived) == ((), ())
    assert hub.read_memory_md() == text
    # The line that was replaced is no memory, so no undo brings it back; it is kept all the same.
    [kept] = file.parent.glob("MEMORY.md.kept-*")
    assert kept.read_text() == "Keep what matters in three months.\n"
    assert kept.name in done.notes[0]


def test_bullets_and_paragraphs_of_the_new_text_are_memories(hub: HubMemory) -> None:
    text = (
        "# Memory\n- Ann likes tea.\n\n"
        "## About Me\n\nLives in Oslo\nsince 2019.\n\nLikes:\n- skiing\n"
    )
    done = hub.rewrite_memory_md(text)
    assert [(m.content, m.category) for m in done.added] == [
        ("Lives in Oslo\nsince 2019.", "about me"),
        ("skiing", "about me"),
    ]
    assert hub.get(1).state == "active"
    assert hub.read_memory_md() == text
    assert hub.sync() == SyncReport()


def test_dates_of_sections_that_did_not_change_stay(hub: HubMemory, file: Path) -> None:
    hub.core.clock.tick(days=3)  # type: ignore[attr-defined]
    hub.rewrite_memory_md(SHOWN.replace("likes tea", "likes coffee"))
    assert "## Preference\n<!-- updated 2026-01-17 -->" in file.read_text()
    assert "## Fact\n<!-- updated 2026-01-14 -->" in file.read_text()


def test_a_model_that_copied_the_marks_too_is_understood(hub: HubMemory, file: Path) -> None:
    before = ids(hub)
    hub.rewrite_memory_md(file.read_text().replace("Hilda", "Greta"))
    assert ids(hub)["The server is Greta."] == before["The server is Hilda."]


@pytest.mark.parametrize("nothing", ["", " \n\t\n"])
def test_a_rewrite_to_nothing_is_refused(hub: HubMemory, nothing: str) -> None:
    with pytest.raises(InvalidInput, match="would empty the memory"):
        hub.rewrite_memory_md(nothing)
    assert len(hub.list()) == 3


def test_a_rewrite_past_the_cap_is_refused_unless_it_shrinks_the_file(hub: HubMemory) -> None:
    with pytest.raises(InvalidInput, match=r"has 115 characters; MEMORY.md may have at most 100"):
        hub.rewrite_memory_md(SHOWN + "- One more.\n", chars_max=100)
    hub.rewrite_memory_md(SHOWN.replace("Debian", "Deb"), chars_max=50)
    assert hub.get(3).content == "It runs Deb."


def test_windows_line_ends_stay(hub: HubMemory, file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert hub.read_memory_md() == SHOWN
    hub.rewrite_memory_md(SHOWN.replace("tea", "coffee"))
    data = file.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") > 5


def test_of_a_text_that_is_there_twice_one_is_a_memory(hub: HubMemory) -> None:
    done = hub.rewrite_memory_md(SHOWN + "- One more.\n- One more.\n- It runs Debian.\n")
    assert [m.content for m in done.added] == ["One more."]
    assert len(hub.list()) == 4


# Others, meanwhile


def test_what_others_added_since_it_was_read_is_kept(hub: HubMemory, file: Path) -> None:
    text = hub.read_memory_md(source_agent="minion") or ""
    edit(file, "- It runs Debian.", "- Typed meanwhile.\n- It runs Debian.")
    edit(file, "# Long-term Memory\n", "# Long-term Memory\n\nA note of my own.\n")
    hub.remember("Told meanwhile.", category="preference", layer="long_term")
    done = hub.rewrite_memory_md(text.replace("- Ann likes tea.\n", ""), source_agent="minion")
    assert [m.number for m in done.archived] == [1]
    assert {m.content for m in done.kept} == {"Typed meanwhile.", "Told meanwhile."}
    assert "Not shown to you before, and kept" in " ".join(done.notes)
    left = hub.read_memory_md() or ""
    for words in ("Typed meanwhile.", "Told meanwhile.", "A note of my own."):
        assert words in left


def test_what_was_kept_is_not_taken_for_read(hub: HubMemory) -> None:
    text = hub.read_memory_md(source_agent="minion") or ""
    hub.remember("Told meanwhile.", category="preference", layer="long_term")
    for words in ("one", "two"):
        hub.rewrite_memory_md(f"{text}- And {words} more.\n", source_agent="minion")
        assert "Told meanwhile." in ids(hub)
    # Once it was shown, leaving it out means it.
    hub.read_memory_md(source_agent="minion")
    assert len(hub.rewrite_memory_md(text, source_agent="minion").archived) == 2


def test_a_line_changed_by_others_and_not_by_the_author_stays_changed(
    hub: HubMemory, file: Path
) -> None:
    text = hub.read_memory_md() or ""
    edit(file, "Debian", "NixOS")
    done = hub.rewrite_memory_md(text.replace("tea", "coffee"))
    assert done.archived == ()
    assert {m.content for m in hub.list()} == {
        "Ann likes coffee.",
        "The server is Hilda.",
        "It runs NixOS.",
    }


def test_a_line_changed_by_both_is_kept_in_both_forms(hub: HubMemory, file: Path) -> None:
    text = hub.read_memory_md() or ""
    edit(file, "It runs Debian.", "It runs NixOS.")
    done = hub.rewrite_memory_md(text.replace("Debian", "Debian 13"))
    assert {"It runs NixOS.", "It runs Debian 13."} <= set(ids(hub))
    assert len(hub.conflicts()) == 1
    assert "both texts are kept" in " ".join(done.notes)


def test_what_was_left_out_of_the_injected_block_is_not_archived(hub: HubMemory) -> None:
    hub.remember_many(
        [{"content": f"Fact number {n} about something", "category": "fact"} for n in range(60)]
    )
    block = hub.context(style="minion", budget=900)
    shown = [line for line in block.splitlines() if line.startswith("- ")]
    assert len(shown) < 40
    done = hub.rewrite_memory_md("## Fact\n" + "\n".join(shown[:-1]) + "\n")
    assert [m.content for m in done.archived] == [shown[-1].removeprefix("- ")]
    assert len(hub.list()) == 62


def test_a_text_that_was_escaped_for_the_block_is_known_again(hub: HubMemory) -> None:
    hub.remember("Use List<int>\n# not a heading", category="fact", layer="long_term")
    block = hub.context(style="minion")
    assert "List&lt;int>" in block
    body = block.partition("instructions.")[2]
    assert hub.rewrite_memory_md(body.replace("tea", "coffee")).archived == ()
    assert (hub.get(4).version, hub.get(4).content) == (1, "Use List<int>\n# not a heading")
    assert hub.get(1).content == "Ann likes coffee."


def test_the_frame_of_the_injected_block_is_not_taken_for_memory(hub: HubMemory) -> None:
    hub.remember_many(
        [{"content": f"Fact number {n} about something", "category": "fact"} for n in range(60)]
    )
    block = hub.context(style="minion", budget=900)
    assert "more not shown)" in block
    done = hub.rewrite_memory_md(block)
    assert (done.added, done.changed, done.archived) == ((), (), ())
    assert hub.read_memory_md().count("kept from earlier") == 0  # type: ignore[union-attr]


def test_a_purge_takes_the_text_out_of_what_was_noted(hub: HubMemory) -> None:
    hub.read_memory_md()
    hub.purge(2)
    with hub.core.store.read() as reader:
        assert reader.agreed(hub.id, "MEMORY.md as read") is None


def test_a_purge_takes_the_text_out_of_what_undo_would_bring_back(hub: HubMemory) -> None:
    hub.append_memory_md("- Something else.")
    hub.purge(2)
    with hub.core.store.read() as reader:
        assert "Hilda" not in str(list(reader.scan_agreed(hub.id)))


def test_what_is_private_to_somebody_else_is_neither_read_nor_archived(hub: HubMemory) -> None:
    hub.remember("My diagnosis", category="fact", layer="long_term", boundary="private")
    bob = HubMemory(hub.core.acting("bob"), hub.info, hub.home)
    text = bob.read_memory_md(source_agent="bob") or ""
    assert text == SHOWN
    added = bob.append_memory_md("- my diagnosis", source_agent="bob")
    done = bob.rewrite_memory_md(text.replace("- It runs Debian.\n", ""), source_agent="bob")
    assert [m.content for m in added.added] == ["my diagnosis"]
    assert "My diagnosis" not in str([added.notes, done])
    assert hub.get(4).state == "active"
    assert "My diagnosis" in (hub.read_memory_md() or "")


@pytest.mark.parametrize("point", CRASHES)
def test_a_crash_in_the_middle_of_a_rewrite_loses_nothing(hub: HubMemory, point: str) -> None:
    new = SHOWN.replace("likes tea", "likes green tea").replace(
        "- It runs Debian.\n", "- New one.\n"
    )
    with crash_at(point), pytest.raises(Crash):
        hub.rewrite_memory_md(new)
    texts = {entry.after.content for number in (1, 2, 3) for entry in hub.history(number)}
    assert {"Ann likes tea.", "The server is Hilda.", "It runs Debian."} <= texts
    # Saying it again ends what was begun, once.
    hub.rewrite_memory_md(new)
    assert hub.read_memory_md() == new
    assert [m.content for m in hub.list(order="number")] == [
        "Ann likes green tea.", "The server is Hilda.", "New one."
    ]  # fmt: skip


def _work(home: str, name: str, ready: object) -> None:
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        for number in range(6):
            hub.append_memory_md(f"## Fact\n- {name} says {number}.", source_agent=name)
            text = hub.read_memory_md(source_agent=name) or ""
            hub.rewrite_memory_md(
                text.replace(f"- {name} says {number}.", f"- {name} said {number}, yes."),
                source_agent=name,
            )


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    start = multiprocessing.get_context("spawn")
    workers = [
        start.Process(target=_work, args=(str(tmp_path), name, None)) for name in ("ann", "bob")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        said = {f"{name} said {number}, yes." for name in ("ann", "bob") for number in range(6)}
        assert {m.content for m in hub.list()} == said
        assert set(ids(hub)) == said
