"""hub create, list, use, rename, delete, as a shell sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run


def test_hubs_are_made_listed_and_kept_apart(run: Run) -> None:
    assert run("hub", "create", "work").rows[0][:2] == ["created", "work"]
    run("remember", "Only at work", "--hub", "work")
    run("remember", "Only at home")
    assert [row[-1] for row in run("list", "--hub", "work").rows] == ["Only at work"]
    assert [row[:3] for row in run("hub", "list").rows] == [
        ["*", "default", "1"],
        ["", "work", "1"],
    ]
    hubs = run("hub", "list", "--json").data
    assert [(hub["name"], hub["used"]) for hub in hubs] == [("default", True), ("work", False)]


def test_using_a_hub_lasts(run: Run) -> None:
    run("hub", "create", "work")
    assert run("hub", "use", "work").code == 0
    run("remember", "At work")
    assert run("stats", "--json").data["hub"] == "work"
    assert run("config", "get", "hub").out == "work\n"


def test_a_variable_wins_over_the_hub_in_use_and_that_is_said(run: Run, monkeypatch) -> None:
    run("hub", "create", "work", "--use")
    run("hub", "create", "play")
    monkeypatch.setenv("HOLDFAST_HUB", "play")
    assert "HOLDFAST_HUB is set" in run("hub", "use", "work").err
    assert run("stats", "--json").data["hub"] == "play"


def test_renaming_the_hub_in_use_keeps_it_in_use(run: Run) -> None:
    run("hub", "create", "work", "--use")
    run("remember", "At work")
    assert run("hub", "rename", "work", "job").rows[0][:2] == ["renamed", "job"]
    assert run("stats", "--json").data["hub"] == "job"
    assert len(run("list").rows) == 1


def test_deleting_asks_first(run: Run) -> None:
    run("hub", "create", "work", "--use")
    ran = run("hub", "delete", "work")
    assert ran.code == 2
    assert "--yes" in ran.err
    assert len(run("hub", "list").rows) == 1
    assert run("hub", "delete", "work", "--yes").code == 0
    assert run("hub", "list").out == ""
    assert run("config", "get", "hub").out == "default\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("create", "work"), 4, "already"),
        (("create", "a/b"), 2, "slash"),
        (("create", ".."), 2, "dots"),
        (("create", "con"), 2, "Windows"),
        (("create", ""), 2, "empty"),
        (("use", "nowhere"), 3, "hub create nowhere"),
        (("rename", "nowhere", "x"), 3, "no hub"),
        (("rename", "work", "default"), 4, "already"),
        (("delete", "nowhere", "--yes"), 3, "no hub"),
        (("list", "extra"), 2, "does not take `extra`"),
    ],
)
def test_bad_input_is_a_sentence_and_an_exit_code(run: Run, words, code, message) -> None:
    run("remember", "x")
    run("hub", "create", "work")
    ran = run("hub", *words)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err


def test_an_error_as_json_goes_to_stderr_with_code_message_and_hint(run: Run) -> None:
    import json

    ran = run("hub", "use", "nowhere", "--json")
    assert (ran.code, ran.out) == (3, "")
    error = json.loads(ran.err)["error"]
    assert error["code"] == "not_found"
    assert error["message"] == "There is no hub `nowhere`."
    assert "hub create nowhere" in error["hint"]


def test_a_rename_says_both_names(run: Run, screen: Run) -> None:
    run("hub", "create", "job")
    assert screen("hub", "rename", "job", "work").out == "Hub job renamed to work.\n"


def test_a_hub_that_is_there_can_be_used_instead(run: Run) -> None:
    run("hub", "create", "work")
    ran = run("hub", "create", "work")
    assert ran.code == 4
    assert "Use it: `holdfast hub use work`." in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("hub", "use", "wrok"),
        ("hub", "rename", "wrok", "job"),
        ("hub", "delete", "wrok", "--yes"),
        ("list", "--hub", "wrok"),
    ],
)
def test_a_mistyped_hub_is_answered_with_the_nearest(run: Run, words) -> None:
    run("hub", "create", "work")
    ran = run(*words)
    assert ran.code == 3
    assert "Did you mean `work`?" in ran.err


def test_a_hub_has_its_files_in_a_folder_of_ones_choice(run: Run, tmp_path: Path) -> None:
    run("hub", "create", "work")
    assert run("hub", "folder", "work").out.endswith("hubs/work\n")
    chosen = tmp_path / "workspace" / "memory"
    assert run("hub", "folder", "work", str(chosen)).out == f"{chosen}\n"
    run("journal", "add", "Uses pnpm", "--hub", "work")
    assert any("Uses pnpm" in file.read_text() for file in chosen.glob("????-??-??.md"))
    assert run("hub", "folder", "work", "--json").data["hub"] == "work"
