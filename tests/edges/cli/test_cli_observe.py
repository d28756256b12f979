"""Memory that fills itself, through the command line: observe, work, captured, flush."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run


@pytest.fixture
def on(run: Run) -> Run:
    run("config", "set", "shadowJournal.enabled", "true")
    return run


def test_a_turn_is_logged_queued_and_noted_by_who_works(on: Run) -> None:
    words = ("--user", "I use vim for everything.", "--assistant", "Nice.", "--session", "s1")
    (row,) = on("observe", *words).rows
    assert row[0] == "queued"
    assert [line[1] for line in on("log", "--session", "s1").rows] == ["user", "assistant"]
    (job,) = on("jobs").rows
    assert (job[1], job[3]) == ("journal", "waiting")
    assert on("work", "--json").data["jobs"] == 1
    assert on("jobs", "--all").out == ""
    assert on("journal").rows[0][-1] == "Uses vim for everything"
    assert [row[1:3] for row in on("captured").rows] == [["queued", "1"], ["stored", "1"]]


def test_what_the_user_said_needs_no_option(run: Run) -> None:
    run("observe", "I", "use vim.")
    assert [row[5] for row in run("log").rows] == ["I use vim."]


def test_jobs_behind_one_that_another_process_does_are_no_failures(on: Run, home: Path) -> None:
    from holdfast.api.memory import open as open_memory
    from holdfast.engine import jobs
    from holdfast.passes.journaler import WORK

    for said in ("I use vim.", "I use emacs.", "I use nano."):
        on("observe", "--user", said)
    with open_memory(home) as other:
        assert jobs.lease(other.core, work=WORK, in_order=True) is not None
    ran = on("work")
    assert ran.rows == [["worked", "0"]]
    assert "2 wait for another process: `holdfast jobs`" in ran.err


def test_what_is_not_looked_at_says_why(run: Run) -> None:
    told = run("observe", "--user", "I use vim for everything.")
    assert "holdfast config set shadowJournal.enabled true" in told.err
    off = told.rows
    assert off == [["logged", off[0][1], "shadowJournal.enabled is false"]]
    empty = run("observe").rows
    assert empty == [["skipped", "", "both messages are empty"]]
    run("config", "set", "shadowJournal.enabled", "true")
    cron = run("observe", "--user", "tick", "--mode", "cron", "--json").data
    assert (cron["queued"], cron["reason"]) == (False, "turns of mode cron are not looked at")


def test_turns_come_as_lines_of_json_and_options_hold_for_all(on: Run) -> None:
    lines = [
        {"user": "I use vim for everything.", "assistant": "Nice."},
        {"user": "I live in Berlin.", "session": "s2", "at": "2026-01-14T12:00:00Z"},
    ]
    text = "\n".join(json.dumps(line) for line in lines) + "\n\n"
    told = on("observe", "--from", "-", "--session", "s1", "--json", stdin=text).data
    assert [one["queued"] for one in told] == [True, True]
    assert len(on("log", "--session", "s1").rows) == 2
    assert on("log", "--session", "s2").rows[0][0] == "2026-01-14T12:00:00+00:00"


@pytest.mark.parametrize("line", ["hello", "[1]", '{"user": "a", "usr": "b"}', '{"user": 7}'])
def test_a_line_that_is_no_turn_is_an_error(on: Run, line: str) -> None:
    done = on("observe", "--from", "-", stdin=line + "\n")
    assert done.code == 2
    assert on("log").out == ""


def test_a_full_queue_is_reported(on: Run) -> None:
    on("config", "set", "shadowJournal.queueMax", "1")
    on("observe", "--user", "I use vim for everything.")
    done = on("observe", "--user", "I live in Berlin.")
    assert "1 older turn left the queue unread: it was full." in done.err
    assert "1 turn was left out today: the queue was full." in on("jobs").err
    rows = on("captured").rows
    assert ["left out", "1", "the queue was full (1)"] in [row[1:] for row in rows]


def test_a_process_of_its_own_notes_the_turn_where_that_is_asked_for(
    on: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda words, **how: begun.append(words))
    on("observe", "--user", "I use vim for everything.", "--work")
    assert [words[:3] for words in begun] == [[sys.executable, "-m", "holdfast"]]
    on("observe", "--user", "tick", "--mode", "cron", "--work")
    assert len(begun) == 1


def test_that_process_does_what_waits_and_ends(on: Run, home: Path) -> None:
    on("observe", "--user", "I use vim for everything.")
    words = [sys.executable, "-m", "holdfast", "--home", str(home), "--quiet", "work"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert on("journal").rows[0][-1] == "Uses vim for everything"


def test_a_flush_prints_the_prompt_and_captures_once(run: Run) -> None:
    run("log", "add", "user", "I use vim for everything.")
    first = run("flush")
    assert first.out.startswith("Your context is about to be compacted.")
    assert "1 turn looked at, 1 fact captured." in first.err
    assert run("flush", "--json").data["turns"] == 0
    assert len(run("list", "--layer", "long_term").rows) == 1


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"role": "user", "content": "I use vim for everything."}]),
        '{"role": "user", "content": "I use vim for everything."}\n'
        '{"role": "assistant", "content": "I live in Berlin."}\n',
        "User: I use vim for everything.\nAssistant: I live in Berlin.\n",
    ],
)
def test_a_flush_reads_a_conversation(run: Run, text: str) -> None:
    told = run("flush", "--from", "-", "--json", stdin=text).data
    assert [one["text"] for one in told["noted"]] == ["Uses vim for everything"]


def test_a_flush_says_what_it_did_not_look_at(run: Run) -> None:
    lines = "".join(f"User: My locker is {n}.\n" for n in range(203))
    assert "3 older turns were not looked at" in run("flush", "--from", "-", stdin=lines).err
    run("member", "set", "bob", "--role", "contributor")
    run("log", "add", "user", "I use vim for everything.")
    ran = run("flush")
    assert ran.out.startswith("Your context is about to be compacted.")
    assert "The log was not looked at: this hub is not yours alone" in ran.err
    assert run("flush", "--json").data["note"] in ran.err


def test_the_screen_shows_what_was_left_out_and_why(screen: Run, run: Run) -> None:
    assert "Nothing was captured" in run("captured").err
    run("config", "set", "shadowJournal.enabled", "true")
    assert "Logged, and queued for the journal." in screen("observe", "--user", "Hello.").out
    run("config", "set", "shadowJournal.queueMax", "1")
    screen("observe", "--user", "Bye.")
    assert "left out: “Hello.” (the queue was full)" in screen("captured").out


_PROGRAM = """
import sys
from holdfast.edges.cli import main
main(["observe", "--user", "I use vim for everything.", "--assistant", "Nice."])
print(*sys.modules)
"""


@pytest.mark.sqlite_only("the driver of PostgreSQL imports more")
def test_observing_loads_nothing_that_the_work_takes(on: Run) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    first, _, modules = done.stdout.partition("\n")
    assert first.startswith("queued"), done.stderr
    heavy = {"logging", "hashlib", "numpy", "asyncio", "dataclasses", "inspect", "pathlib"}
    heavy |= {
        "holdfast.passes",
        "holdfast.llm",
        "holdfast.text.capture",
        "holdfast.engine.writing.remember",
    }
    assert heavy.isdisjoint(modules.split())
