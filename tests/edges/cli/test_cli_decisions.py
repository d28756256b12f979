"""decisions and decide, as a shell sees them."""

from __future__ import annotations

import json

import pytest

from tests.edges.cli.cli_calls import Run

QUESTION = "Which database?"


def ask(run: Run, question: str = QUESTION, **more: object) -> None:
    given = {"question": question, "options": ["PostgreSQL", "SQLite"], **more}
    words = ("--dialect", "memax", "--agent", "codex", "--args", json.dumps(given))
    assert run("call", "memax_request_decision", *words).code == 0


def test_a_question_is_listed_answered_and_found(run: Run) -> None:
    ask(run, context="A million rows")
    assert run("decisions").rows == [["#1", "open", QUESTION, "PostgreSQL", "SQLite"]]
    done = run("decide", "1", "2", "--note", "One machine is enough")
    assert done.rows[0][:3] == ["decided", "#1", "SQLite"]
    assert run("decisions").out == ""
    (found,) = run("recall", QUESTION, "--json").data
    assert found["memory"]["id"] == done.rows[0][3]
    assert found["memory"]["source"] == "cli"
    (settled,) = run("decisions", "--all", "--json").data
    assert (settled["status"], settled["option"]) == ("decided", "SQLite")
    assert settled["note"] == "One machine is enough"
    assert settled["asked_by"] == "codex"


def test_a_question_is_withdrawn_and_that_can_be_undone(run: Run) -> None:
    ask(run)
    assert run("decide", "1", "--withdraw", "--note", "moot").rows[0][:2] == ["withdrawn", "#1"]
    assert run("decisions").err.strip() == "No decision is open."
    run("undo")
    assert len(run("decisions").rows) == 1


def test_a_terminal_shows_options_with_numbers_and_nothing_that_steers_it(
    run: Run, screen: Run
) -> None:
    ask(run, "Which \x1b[2Jdatabase?", context="line one\nline two")
    shown = screen("decisions").out
    assert "\x1b[2J" not in shown
    assert "    1. PostgreSQL\n    2. SQLite\n    | line one\n    | line two\n" in shown
    assert "codex" in shown
    assert screen("decide", "1", "sqlite").out == "Decided #1: SQLite\n"
    assert "2. SQLite  ← decided" in screen("decisions", "--all").out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("decide",), 2, "NUMBER"),
        (("decide", "1"), 2, "Say which option"),
        (("decide", "1", "3"), 2, "no option of #1"),
        (("decide", "1", "Oracle"), 2, "1: PostgreSQL; 2: SQLite"),
        (("decide", "1", "2", "--withdraw"), 2, "not both"),
        (("decide", "9", "1"), 3, "no memory"),
    ],
)
def test_a_mistake_is_a_sentence_an_exit_code_and_no_change(
    run: Run, words: tuple[str, ...], code: int, message: str
) -> None:
    ask(run)
    ran = run(*words)
    assert ran.code == code
    assert message in ran.err
    assert len(run("decisions").rows) == 1
