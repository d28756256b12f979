"""consolidate, as a shell sees it."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run


@pytest.fixture
def noted(run: Run) -> Run:
    run("journal", "add", "Prefers tabs over spaces")
    run("journal", "add", "--at", "yesterday", "Prefers tabs over spaces.")
    run("journal", "add", "Important: the gate is blue")
    return run


def test_a_dry_run_prints_the_plan_and_does_nothing(noted: Run) -> None:
    ran = noted("consolidate", "--dry-run")
    assert ran.code == 0
    assert "- promote #2 #1 as preference: Prefers tabs over spaces." in ran.out
    assert "  > said on 2 days; a preference" in ran.out
    assert "- #3 " in ran.out
    assert [change["action"] for change in noted("history", "--json").data] == ["remember"] * 3


def test_it_does_what_it_planned_and_says_how_to_take_it_back(noted: Run) -> None:
    ran = noted("consolidate")
    assert sorted(row[0] for row in ran.rows) == ["promote", "promote"]
    assert "holdfast undo chg_" in ran.err
    assert len(noted("list", "--layer", "long_term").rows) == 2
    again = noted("consolidate")
    assert again.err.strip() == "Skipped: nothing has changed since the last one."
    assert "undone" in noted("undo").out
    assert noted("list", "--layer", "long_term").rows == []


def test_a_memory_tells_what_it_was_made_from(noted: Run) -> None:
    done = noted("consolidate", "--json").data["done"]
    made = next(one["memory"] for one in done if "tabs" in one["memory"]["content"])
    got = noted("get", str(made["number"]), "--json").data
    assert got["metadata"]["sources"] == [noted("get", n, "--json").data["id"] for n in "21"]
    assert noted("history", str(made["number"])).rows[0][3] == "consolidate"


def test_a_plan_is_written_edited_and_done(noted: Run, tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    told = noted("consolidate", "--plan", str(file))
    assert "A plan with 2 steps is in" in told.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert noted("consolidate", "--plan", str(file)).code == 4, "an edited plan is not lost"
    lines = [line for line in file.read_text().splitlines() if "- promote #3" not in line]
    text = "\n".join(lines).replace("over spaces.", "and never spaces", 1)
    file.write_text(text)
    ran = noted("consolidate", "--apply", str(file))
    assert [row[-1] for row in ran.rows] == ["Prefers tabs and never spaces"]
    noted("journal", "add", "The heating hums")
    assert noted("consolidate").err.strip() == "There is nothing to do."


def test_a_plan_that_is_there_needs_no_model(
    noted: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plan.md"
    noted("consolidate", "--plan", str(file))
    monkeypatch.setenv("HOLDFAST_MEMCONSOLIDATE_MODEL", "no such model")
    assert noted("consolidate").code != 0
    assert noted("consolidate", "--apply", str(file), "--dry-run").code == 0
    ran = noted("consolidate", "--apply", str(file))
    assert (ran.code, [row[0] for row in ran.rows]) == (0, ["promote", "promote"])


def test_lines_that_cannot_be_done_are_named(noted: Run, tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    noted("consolidate", "--plan", str(file))
    noted("update", "3", "Important: the gate is red")
    ran = noted("consolidate", "--apply", str(file))
    assert len(ran.rows) == 1
    assert "promote #3: #3 says something else since the plan was made" in ran.err
    assert "Not done: line " in ran.err
    file.write_text(file.read_text() + "and delete the rest\n")
    broken = noted("consolidate", "--apply", str(file))
    assert broken.code == 2
    assert "and delete the rest" in broken.err


def test_a_plan_is_read_from_a_pipe_and_as_json(noted: Run, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    noted("consolidate", "--plan", str(file), "--json")
    assert len(json.loads(file.read_text())["steps"]) == 2
    looked = noted("consolidate", "--apply", str(file), "--dry-run", "--json").data
    assert (looked["change"], looked["refused"]) == (None, [])
    done = noted("consolidate", "--apply", "-", "--json", stdin=file.read_text()).data
    assert [one["step"]["kind"] for one in done["done"]] == ["promote", "promote"]
    assert done["change"].startswith("chg_")
    assert noted("consolidate", "--plan", "x", "--apply", "y").code == 2


def test_the_copy_and_the_difference_are_shown(noted: Run) -> None:
    noted("sync")
    noted("remember", "Prefers dark mode")
    done = noted("consolidate", "--json").data
    assert done["backup"].endswith("MEMORY.md.before-consolidation")
    assert sorted(line[:1] for line in done["diff"]) == ["+", "+"]
    assert "Prefers dark mode" in Path(done["backup"]).read_text()


def test_without_journals_it_says_so(run: Run) -> None:
    assert "Skipped: there is no journal entry" in run("consolidate").err
    assert "There is no journal entry of the last 7 days." in run("consolidate", "--dry-run").out
