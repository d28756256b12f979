"""A day's journal is rewritten as a whole, and what others wrote meanwhile is kept."""

from __future__ import annotations

import pytest

from holdfast import HubMemory
from holdfast.errors import HoldfastError
from holdfast.files.journal.edits import merged

DAY = "2026-05-27"


@pytest.mark.parametrize(
    ("shown", "current", "text", "wanted", "clashed"),
    [
        ("- a\n- b\n", "- a\n- b\n", "- a\n- c\n", "- a\n- c\n", False),
        # Others added.
        ("- a\n- b\n", "- a\n- x\n- b\n", "- a\n- c\n", "- a\n- x\n- c\n", False),
        ("- a\n", "- a\n- x\n", "- a\n- y\n", "- a\n- x\n- y\n", False),
        ("", "- x\n", "- y\n", "- x\n- y\n", False),
        # Others removed what the author left alone, and the other way round.
        ("- a\n- b\n", "- a\n", "- a\n- b\n- c\n", "- a\n- c\n", False),
        ("- a\n- b\n", "- a\n- b\n- x\n", "- b\n", "- b\n- x\n", False),
        # Both removed, both added the same.
        ("- a\n- b\n", "- a\n", "- a\n", "- a\n", False),
        ("- a\n", "- a\n- x\n", "- a\n- x\n", "- a\n- x\n", False),
        # Both changed the same.
        ("- a\n- b\n", "- a\n- b2\n", "- a\n- b1\n", "- a\n- b2\n- b1\n", True),
        # The same entry twice is two.
        ("- a\n- a\n", "- a\n- a\n", "- a\n", "- a\n", False),
        ("- a\n", "- a\n- a\n", "- a\n- b\n", "- a\n- a\n- b\n", False),
        # Line ends and bytes that an editor cannot show are as they were.
        ("- a\n- b\n", "- a\r\n- b\r\n", "- a\n- c\n", "- a\r\n- c\n", False),
        ("- a\ufffd\n", "- a\udcff\n", "- a\ufffd\n- b\n", "- a\udcff\n- b\n", False),
        # A last line without an end, and text that is no entry.
        ("- a", "- a\n- x", "- a\n- b", "- a\n- x\n- b", False),
        (
            "# Day\n\n- a\n",
            "# Day\n\n- a\n",
            "# A good day\n\n- a\n",
            "# A good day\n\n- a\n",
            False,
        ),
    ],
)
def test_both_sides_are_merged(
    shown: str, current: str, text: str, wanted: str, clashed: bool
) -> None:
    assert merged(shown, current, text) == (wanted, clashed)


def contents(hub: HubMemory) -> list[str]:
    return [one.content for one in hub.list(layer="journal", order="number")]


def test_entries_are_changed_added_and_left_out_and_it_can_be_undone(hub: HubMemory) -> None:
    for text in ("Fixed the lamp", "Met Jo", "Had soup"):
        hub.journal_add(text, at=f"{DAY}T10:00:00Z")
    shown = hub.journal(DAY)[0].text
    meanwhile = hub.journal_add("Called Sam", at=f"{DAY}T11:00:00Z")
    text = shown.replace("Met Jo", "Met Joanna").replace("- 10:00 Had soup\n", "")
    assert "Had soup" not in text
    done = hub.rewrite_journal(DAY, f"{text}- Slept well\n", shown=shown)
    assert sorted(contents(hub)) == ["Called Sam", "Fixed the lamp", "Met Joanna", "Slept well"]
    after = hub.journal(DAY)[0].text
    assert "Called Sam" in after and "Slept well" in after and "Had soup" not in after
    assert done.changes and done.notes == ()
    for change in reversed(done.changes):
        hub.undo(change)
    back = contents(hub)
    assert "Met Jo" in back and "Had soup" in back and "Slept well" not in back
    assert hub.get(meanwhile.id).content == "Called Sam"


def test_a_day_without_a_journal_gets_one(hub: HubMemory) -> None:
    assert hub.rewrite_journal(DAY, "- First\n- Second\n", shown="").changes
    assert sorted(contents(hub)) == ["First", "Second"]


def test_nothing_changed_is_no_change(hub: HubMemory) -> None:
    hub.journal_add("Met Jo", at=f"{DAY}T10:00:00Z")
    shown = hub.journal(DAY)[0].text
    assert hub.rewrite_journal(DAY, shown, shown=shown).changes == ()


def test_both_versions_of_an_entry_are_kept(hub: HubMemory) -> None:
    one = hub.journal_add("Met Jo", at=f"{DAY}T10:00:00Z")
    shown = hub.journal(DAY)[0].text
    hub.update(one.id, content="Met Jo at noon")
    done = hub.rewrite_journal(DAY, shown.replace("Met Jo", "Met Joanna"), shown=shown)
    assert "both versions were kept" in done.notes[0]
    assert sorted(contents(hub)) == ["Met Jo at noon", "Met Joanna"]


def test_what_is_no_day_is_refused(hub: HubMemory) -> None:
    for wrong in ("../../etc/passwd", "2026-02-30", "x"):
        with pytest.raises(HoldfastError):
            hub.rewrite_journal(wrong, "- a\n", shown="")
