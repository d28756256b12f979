"""The conversation log through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run


@pytest.fixture
def talked(run: Run) -> Run:
    """A log of three turns in two sessions."""
    run("log", "add", "user", "Fix", "the", "JWT bug", "--source", "telegram", "--session", "s1")
    run("log", "add", "assistant", "On it.", "--session", "s1", "--at", "2026-01-14T12:00")
    run("log", "add", "user", "-", "--session", "s2", stdin="lunch\tat noon\n")
    return run


def test_a_turn_is_logged_and_printed_as_it_was_said(talked: Run) -> None:
    rows = talked("log").rows
    assert [row[1] for row in rows] == ["user", "assistant", "user"]
    assert rows[0][2:4] == ["telegram", "s1"]
    assert rows[0][5] == "Fix the JWT bug"
    assert rows[1][0] == "2026-01-14T12:00:00+00:00"
    assert rows[2][5] == "lunch\\tat noon"


def test_the_log_can_be_of_one_session_and_by_page(talked: Run) -> None:
    assert [row[5] for row in talked("log", "--session", "s1").rows] == [
        "Fix the JWT bug",
        "On it.",
    ]
    newest = talked("log", "-n", "1").rows
    assert len(newest) == 1
    older = talked("log", "-n", "1", "--before", newest[0][4]).rows
    assert older[0][5] == "On it."


def test_json_has_every_field_of_a_turn(talked: Run) -> None:
    turn = talked("log", "--json").data[1]
    assert turn["role"] == "assistant" and turn["at"] == "2026-01-14T12:00:00.000000Z"
    fields = {"hub", "hub_id", "id", "role", "content", "at", "source", "session"}
    assert set(turn) == fields | {"speaker", "trust", "note"}
    logged = talked("log", "add", "system", "rebooted", "--json").json
    assert logged["result"] == "logged" and logged["data"]["content"] == "rebooted"


def test_turns_are_found_by_their_words(talked: Run) -> None:
    assert [row[5] for row in talked("log", "search", "bugs").rows] == ["Fix the JWT bug"]
    nothing = talked("log", "search", "giraffe")
    assert nothing.code == 0 and nothing.out == ""
    assert "Nothing found for “giraffe”." in nothing.err


def test_those_who_speak_are_listed(talked: Run, screen: Run) -> None:
    assert talked("log", "speakers").err == "Nobody is named in the log.\n"
    talked("log", "add", "user", "Morning!", "--speaker", "Ben", "--at", "2026-01-15T08:00")
    talked("log", "add", "user", "Tea?", "--speaker", "Ada", "--at", "2026-01-14T08:00")
    talked("log", "add", "user", "Coffee.", "--speaker", "Ada", "--at", "2026-01-13T08:00")
    lines = screen("log", "speakers").out.splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["name", "turns", "last"],
        ["Ada", "2", "2026-01-14", "08:00"],
    ]
    assert talked("log", "speakers").rows == [
        ["Ada", "2", "2026-01-14T08:00:00+00:00"],
        ["Ben", "1", "2026-01-15T08:00:00+00:00"],
    ]
    (first,) = talked("log", "speakers", "-n", "1", "--json").data
    assert first == {"name": "Ada", "turns": 2, "last": "2026-01-14T08:00:00.000000Z"}


def test_the_recovery_prompt_is_printed_to_the_letter(talked: Run) -> None:
    prompt = talked("log", "recover", "--name", "Max", "--session", "s1", "--chars", "3").out
    assert prompt == (
        "[System: Session recovered] Your previous session was lost. Here's the recent "
        "conversation for context — do NOT respond to these messages, just absorb the context "
        "silently:\n\n"
        "Max: On …\n\n"
        "[telegram] User: Fix…\n\n"
        "(End of recovery context. Wait for the next real message.)\n"
    )
    assert talked("log", "recover", "--json", "--turns", "1").data["prompt"].count("User:") == 1


def test_an_empty_log_prints_nothing_and_says_so(run: Run) -> None:
    for words in (["log"], ["log", "recover"]):
        answer = run(*words)
        assert (answer.code, answer.out) == (0, "")
        assert "Nothing was logged" in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["log", "add", "robot", "hi"], "not a valid role"),
        (["log", "add", "user"], "Say what was said"),
        (["log", "add", "user", "  "], "content is empty"),
        (["log", "add", "user", "hi", "--source", "a[b"], "U+005B"),
        (["log", "-n", "0"], "at least 1"),
        (["log", "recover", "--chars", "0"], "at least 1"),
        (["log", "search", " "], "content is empty"),
        (["log", "everything"], "does not take `everything`"),
        (["log", "aside", "--folder", ""], "A folder is named by its path"),
    ],
)
def test_a_mistake_is_a_sentence_and_exit_code_two(
    run: Run, words: list[str], message: str
) -> None:
    answer = run(*words)
    assert answer.code == 2 and answer.out == ""
    assert message in answer.err


def test_bytes_that_are_no_text_are_refused(run: Run) -> None:
    answer = run("log", "add", "user", "-", stdin=b"\xff\xfe")
    assert answer.code == 2 and "not UTF-8" in answer.err


def test_help_of_the_log_names_the_commands_below_it(run: Run) -> None:
    text = run("log", "--help").out
    assert "--session" in text and "holdfast log recover" in text
    assert "--name" in run("log", "recover", "--help").out


def test_a_session_is_archived_as_a_file_and_a_memory(talked: Run, home: Path) -> None:
    answer = talked("archive-conversation", "s1", "--name", "Auth fix", "--at", "2026-05-27")
    assert answer.code == 0 and answer.err == ""
    path = home / "hubs" / "default" / "conversations" / "2026-05-27-auth-fix.md"
    assert answer.rows[0][0::3] == ["archived", str(path)]
    assert "> Fix the JWT bug" in path.read_text()
    answer = talked("archive-conversation", "s1", "--json")
    again = answer.data
    assert answer.json["result"] == "archived" and again["path"] == str(path)
    assert again["memory"]["key"] == "conversation-2026-05-27-auth-fix"
    assert again["notes"] == []


def test_messages_to_archive_can_be_read(run: Run) -> None:
    said = '[{"role": "user", "content": "Hello there"}, 5]'
    value = run("archive-conversation", "s9", "--file", "-", "--json", stdin=said).data
    assert value["memory"]["content"] == "User: Hello there"
    assert value["notes"] == [
        "1 message was left out: no role and text, or characters that are none."
    ]
    for wrong in ("{}", "[", "text"):
        answer = run("archive-conversation", "s9", "--file", "-", stdin=wrong)
        assert answer.code == 2 and "not a JSON list" in answer.err


def test_what_cannot_be_archived_is_a_note_and_exit_code_one(run: Run) -> None:
    answer = run("archive-conversation", "nobody")
    assert answer.code == 1 and answer.out == ""
    assert "nothing to archive" in answer.err
    assert run("archive-conversation", "nobody", "--json").json["result"] == "failed"
