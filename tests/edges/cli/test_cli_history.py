"""history, diff, undo, as a shell sees them."""

from __future__ import annotations

import pytest

from tests.edges.cli.cli_calls import Run


def test_history_lists_the_change_sets_of_the_hub(stocked: Run) -> None:
    stocked("forget", "2", "--reason", "gone")
    rows = stocked("history").rows
    assert [row[3] for row in rows] == ["forget", "remember", "remember", "remember"]
    assert rows[0][2] == "ada"
    assert rows[0][4:] == ["#2 The staging server is called…", "gone"]
    older = stocked("history", "--before", rows[1][0], "--limit", "1").rows
    assert older == [rows[2]]
    newest = stocked("history", "--json").data[0]
    assert (newest["action"], newest["memories"]) == ("forget", [2])


def test_history_says_how_many_memories_a_change_touched_and_keeps_the_reason_when_undone(
    stocked: Run,
) -> None:
    stocked("forget", "1", "3", "--reason", "spring cleaning")
    stocked("undo")
    undo, forget, *_ = stocked("history").rows
    assert forget[4:] == ["2 memories", f"spring cleaning (undone by {undo[0]})"]
    assert undo[4:] == ["2 memories", f"undoes {forget[0]}"]
    assert stocked("history", "--json").data[1]["memories"] == [1, 3]


def test_history_of_one_memory_gives_the_reason(stocked: Run) -> None:
    stocked("update", "1", "Prefers spaces", "--reason", "changed her mind")
    assert [row[6] for row in stocked("history", "1").rows] == ["", "changed her mind"]


def test_history_of_one_memory_says_what_changed(stocked: Run) -> None:
    stocked("update", "1", "Prefers spaces", "--category", "fact")
    rows = stocked("history", "1").rows
    assert [row[0] for row in rows] == ["1", "2"]
    assert "content" in rows[1][5]
    assert "category" in rows[1][5]
    entries = stocked("history", "1", "--json").data
    assert entries[1]["fields"]["category"] == ["preference", "fact"]
    assert entries[0]["memory"]["content"] == "Prefers tabs over spaces"


def test_an_empty_hub_has_no_history(run: Run) -> None:
    ran = run("history")
    assert (ran.code, ran.out) == (0, "")
    assert "Nothing has happened" in ran.err


def test_a_diff_shows_old_and_new(stocked: Run) -> None:
    stocked("update", "1", "Prefers spaces", "--tag", "editor")
    ran = stocked("diff", "1")
    assert "-Prefers tabs over spaces\n+Prefers spaces\n" in ran.out
    assert "tags:\n-\n+editor\n" in ran.out
    parts = stocked("diff", "1", "--from", "1", "--to", "2", "--json").data
    assert {"field": "tags", "old": [], "new": ["editor"]} in parts


def test_a_memory_that_never_changed_has_no_diff(stocked: Run) -> None:
    ran = stocked("diff", "1")
    assert (ran.code, ran.out) == (0, "")
    assert "Nothing differs" in ran.err


def test_undo_says_what_it_took_back_and_how_to_bring_it_back(stocked: Run) -> None:
    stocked("forget", "1")
    forgot = stocked("history").rows[0][0]
    ran = stocked("undo")
    assert ran.rows == [["undone", forgot, "forget", "#1", "version 3"]]
    undo = ran.err.split("`")[1].split()[-1]
    assert stocked("get", "1").code == 0
    assert stocked("undo", undo, "--json").data["undone"]["action"] == "undo"
    assert stocked("get", "1").code == 3


def test_a_later_change_stops_an_undo_unless_it_is_forced(stocked: Run) -> None:
    first = stocked("history", "1").rows[0][4]
    stocked("update", "1", "Prefers spaces")
    ran = stocked("undo", first)
    assert ran.code == 5
    assert "--force" in ran.err
    assert stocked("undo", first, "--force").code == 0
    assert stocked("get", "1").code == 3


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("history", "9"), 3, "no memory 9"),
        (("diff", "9"), 3, "no memory 9"),
        (("diff", "1", "--from", "7"), 3, "has no version 7"),
        (("diff", "1", "--from", "x"), 2, "whole number"),
        (("undo", "chg_nothing"), 3, "no change set"),
    ],
)
def test_bad_input_is_a_sentence_and_an_exit_code(stocked: Run, words, code, message) -> None:
    ran = stocked(*words)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err


def test_undo_in_an_empty_hub_finds_nothing(run: Run) -> None:
    assert run("undo").code == 3


def test_history_says_that_there_is_more_and_how_to_see_it(stocked: Run) -> None:
    ran = stocked("history", "--limit", "2")
    assert f"There is more: add --before {ran.rows[1][0]}" in ran.err
    assert len(ran.rows) == 2
    rest = stocked("history", "--limit", "2", "--before", ran.rows[1][0])
    assert (len(rest.rows), rest.err) == (1, "")
    for limit in ("0", "-1"):
        assert "at least 1" in stocked("history", "--limit", limit).err
