"""What a person at a terminal sees: tables, colours, questions; and never a stray escape."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.edges.cli.output import short
from holdfast.engine.writing import drafts, redact
from holdfast.passes.work import work_until_done
from holdfast.testing import open_for_tests
from holdfast.text.clean import printable, printable_line
from tests.edges.cli.cli_calls import Run

# What could steer a terminal, hidden in what somebody wanted remembered.
_HOSTILE = (
    "title \x1b]0;pwned\x07 colour \x1b[31m red \x9b31m c1 \u202egnirts\u202c bell \x07 back\r over"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def at_terminal(home: Path):
    """Runs `holdfast WORDS…` with a terminal on all three streams; types `typed` into it."""

    def call(*words: str, typed: str = "", **environ: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environ}
        process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=env,
            start_new_session=True,
        )
        os.close(theirs)
        os.write(ours, typed.encode())
        seen = b""
        while True:
            try:
                data = os.read(ours, 65_536)
            except OSError:  # The other side is gone: this is how a terminal ends.
                break
            if not data:
                break
            seen += data
        os.close(ours)
        return process.wait(), seen.decode()

    return call


def test_a_list_is_a_table_with_colours(stocked: Run, at_terminal) -> None:
    code, seen = at_terminal("list")
    assert code == 0
    assert _COLOUR.search(seen)
    plain = _COLOUR.sub("", seen)
    lines = [line.rstrip() for line in plain.splitlines()]
    assert lines[0].split() == ["#", "when", "category", "state", "key", "title"]
    assert lines[3].startswith("#1")
    assert lines[3].endswith("Prefers tabs over spaces")
    # The columns stand under each other.
    assert lines[0].index("title") == lines[3].index("Prefers")


@pytest.mark.parametrize("how", [("--no-color", {}), ("", {"NO_COLOR": "1"})])
def test_colours_can_be_turned_off(stocked: Run, at_terminal, how) -> None:
    option, environ = how
    for words in (("list",), ("recall", "tabs"), ("diff", "1"), ("remember", "New"), ("doctor",)):
        _, seen = at_terminal(*words, *([option] if option else []), **environ)
        # Neither bold nor dim: a terminal that shows no colours may not show those either.
        assert not _COLOUR.search(seen), words


def test_json_on_a_terminal_has_no_colours(stocked: Run, at_terminal) -> None:
    _, seen = at_terminal("list", "--json")
    assert "\x1b" not in seen


def test_a_long_list_stops_at_a_page_and_says_how_to_go_on(
    stocked: Run, at_terminal, tmp_path: Path
) -> None:
    files = []
    for number in range(30):
        path = tmp_path / f"{number}.txt"
        path.write_text(f"Note number {number}")
        files.append(str(path))
    stocked("remember", "--file", *files)
    _, seen = at_terminal("list")
    assert "Note number 29" in seen
    assert "Note number 9" not in seen
    assert "--page 2" in seen
    _, rest = at_terminal("list", "--page", "2")
    assert "Note number 9" in rest


@pytest.fixture
def hostile(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A store with texts that would be cleaned today, such as one of an import of long ago."""
    with monkeypatch.context() as lax:
        for place in (redact, drafts):
            for name in ("clean_text", "without_controls", "without_hidden"):
                lax.setattr(place, name, str, raising=False)
        run("remember", "-", "--title", _HOSTILE, stdin=_HOSTILE)
        run("remember", "-", "--title", "colour", stdin="Another colour that is red")
        run("update", "1", "-", stdin=_HOSTILE + "\nsecond line")
    assert "\x1b[31m" in run("get", "1", "--content").out
    return run


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("get", "1"),
        ("recall", "colour", "--words"),
        ("recall", "colour", "--words", "--explain", "--json"),
        ("list", "--json"),
        ("related", "2", "--explain"),
        ("timeline", "today"),
        ("history", "1"),
        ("diff", "1"),
        ("context",),
        ("export", "-"),
        ("consolidate", "--dry-run"),
        ("get", "\x1b]0;pwned\x07"),
    ],
    ids=lambda words: words[0] + "-" + str(len(words)),
)
def test_a_pipe_that_ends_on_a_terminal_steers_nothing(hostile: Run, words) -> None:
    ran = hostile(*words)
    printed = ran.out + ran.err
    for character in ("\x1b", "\x9b", "\x07", "\u202e", "\r"):
        assert character not in printed


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("export", "-"),
        ("get", "1"),
        ("get", "1", "--content"),
        ("recall", "colour", "--words"),
        ("recall", "colour", "--words", "--explain", "--json"),
        ("list", "--json"),
        ("related", "2", "--explain"),
        ("timeline", "today"),
        ("history", "1"),
        ("diff", "1"),
        ("context",),
        ("lifecycle", "--dry-run"),
        ("recall", _HOSTILE.replace("\r", " "), "--words"),
        ("get", "\x1b]0;pwned\x07"),
        ("pin", "1"),
        ("remember", "Another " + _HOSTILE),
        ("export", "/tmp/\x1b]0;pwned\x07/nowhere"),
    ],
    ids=lambda words: words[0] + "-" + str(len(words)),
)
def test_a_memory_cannot_steer_the_terminal(hostile: Run, at_terminal, words) -> None:
    _, seen = at_terminal(*words)
    printed = _COLOUR.sub("", seen) if "--json" not in words else seen
    assert "\x1b" not in printed
    assert "\x9b" not in printed
    assert "\x07" not in printed
    assert "\u202e" not in printed
    assert "\r" not in printed.replace("\r\n", "")
    # A colour of ours is fine; one that the memory asked for is text.
    assert "\x1b[31m red" not in seen


def test_a_question_is_asked_and_no_means_no(stocked: Run, at_terminal) -> None:
    code, seen = at_terminal("purge", "1", typed="n\n")
    assert code == 1
    assert "for good? [y/N]" in seen
    assert "Nothing was changed" in seen
    assert stocked("get", "1").code == 0
    code, seen = at_terminal("purge", "1", typed="y\n")
    assert code == 0
    assert "Purged #1" in seen
    assert stocked("get", "1").code == 3


def test_markup_in_a_memory_is_text(run: Run, at_terminal) -> None:
    run("remember", "Use [bold]brackets[/bold] and :smile: freely")
    for words in (("list",), ("recall", "brackets", "--words"), ("get", "1")):
        _, seen = at_terminal(*words)
        assert "[bold]brackets[/bold] and :smile:" in _COLOUR.sub("", seen)


def test_a_person_gets_sentences_for_each_outcome(run: Run, at_terminal) -> None:
    def say(*words: str) -> str:
        return _COLOUR.sub("", at_terminal(*words)[1])

    assert "Stored #1  Blue" in say("remember", "Blue", "--key", "color")
    assert "Known already #1" in say("remember", "Blue", "--key", "color")
    assert "Updated #1  Green" in say("remember", "Green", "--key", "color")
    assert "takes the place of #1" in say("remember", "Red", "--supersedes", "1")
    assert "Forgotten #2" in say("forget", "2")
    assert "Took back forget" in say("undo")
    assert "Hub work created." in say("hub", "create", "work")
    assert "healthy: all is as it should be" in say("doctor")
    assert "Imported" not in say("import", "/nonexistent")


def test_progress_is_shown_on_a_terminal(stocked: Run, at_terminal, tmp_path: Path) -> None:
    file = tmp_path / "hub.jsonl"
    stocked("export", str(file))
    _, seen = at_terminal("import", str(file), "--as", "copy")
    assert "import" in seen
    assert "Imported hub copy with 3 memories." in _COLOUR.sub("", seen)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\\x0db"),
        ("\x1b[0m", "\\x1b[0m"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("\u202e\u2066", "\\u202e\\u2066"),
        ("\u200fעברית\u200e 👩\u200d💻", "\u200fעברית\u200e 👩\u200d💻"),
    ],
)
def test_what_steers_is_made_visible_and_the_rest_is_left_alone(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_line_of_a_pipe_can_be_read_back() -> None:
    text = "a\tb\nc\\d\re\x1b"
    assert printable_line(text) == "a\\tb\\nc\\\\d\\re\\x1b"
    assert printable_line(text).encode().decode("unicode_escape") == text


def test_long_text_is_cut_for_the_eye() -> None:
    assert short("a  b\n c") == "a b c"
    assert short("x" * 300, 10) == "x" * 9 + "…"


def test_forgetting_what_was_said_shows_it_and_asks(stocked: Run, at_terminal) -> None:
    stocked("log", "add", "user", "The door code is at the desk", "--session", "s1")
    code, seen = at_terminal("log", "forget", "--session", "s1", typed="n\n")
    assert (code, "door code" in seen, "[y/N]" in seen) == (0, True, True)
    assert len(stocked("log").rows) == 1
    code, seen = at_terminal("log", "forget", "--session", "s1", typed="y\n")
    assert (code, "Forgot 1 turn for good" in seen) == (0, True)
    assert stocked("log").rows == []
    assert (
        "Nothing of that was said in hub default" in stocked("log", "forget", "--since", "1h").err
    )


def test_the_history_of_a_memory_fits_a_small_terminal(stocked: Run, screen: Run) -> None:
    stocked("update", "indent", "Prefers spaces")
    stocked("undo")
    lines = screen("history", "indent", width=80).out.splitlines()
    assert max(map(len, lines)) <= 80 and "reason" not in lines[0]
    stocked("forget", "indent", "--reason", "wrong")
    assert "reason" in screen("history", "1", width=120).out


def test_the_history_of_a_hub_fits_a_small_terminal(stocked: Run, screen: Run) -> None:
    lines = screen("history", width=80).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["change", "when", "action", "memory"]
    assert "#2 The staging server" in lines[2]


def test_help_fits_a_small_terminal(screen: Run) -> None:
    assert max(map(len, screen("help", width=80).out.splitlines())) <= 80


def test_a_list_shows_a_fact_once_that_is_in_the_journal_too(run: Run, screen: Run) -> None:
    run("config", "set", "shadowJournal.enabled", "true")
    run("observe", "--user", "I live in Lisbon.", "--session", "s1")
    run("work")
    assert len(run("list").rows) == 2
    assert screen("list").out.count("Lisbon") == 1


@pytest.mark.parametrize("option", [(), ("--dry-run",)])
def test_setup_says_that_no_agent_was_found(at_terminal, tmp_path: Path, option) -> None:
    empty = tmp_path / "nobody"
    empty.mkdir()
    code, seen = at_terminal("setup", *option, HOME=str(empty))
    assert code == 0
    assert "Holdfast has a fault" not in seen
    assert "claude-code" in seen


def _with_claude_code(folder: Path) -> Path:
    """The home of a person who has talked to Claude Code once."""
    talk = folder / ".claude" / "projects" / "-web" / "s1.jsonl"
    talk.parent.mkdir(parents=True)
    said = {"type": "user", "message": {"role": "user", "content": "I live in Lisbon."}}
    talk.write_text(json.dumps({**said, "cwd": str(folder), "promptId": "p1"}) + "\n")
    return folder


def test_an_import_of_conversations_shows_them_and_asks(
    run: Run, at_terminal, tmp_path: Path
) -> None:
    person = _with_claude_code(tmp_path / "ann")
    code, seen = at_terminal("import", "claude-code", HOME=str(person), typed="n\n")
    assert (code, run("log").out) == (1, "")
    assert str(person) in seen and "Import 1 conversation with 1 prompt?" in seen
    assert "Nothing was changed." in seen
    refused = run("import", "claude-code", "--from", str(person))
    assert (refused.code, "--yes" in refused.err) == (2, True)
    code, seen = at_terminal("import", "claude-code", HOME=str(person), typed="y\n")
    assert code == 0 and "Lisbon" in run("log").out
    assert "s1" in seen
    code, seen = at_terminal("import", "claude-code", "--yes", HOME=str(person))
    assert code == 0 and "nothing was imported" in seen
    assert "s1" not in seen


def test_an_import_of_many_conversations_shows_how_many_went_where(
    at_terminal, tmp_path: Path
) -> None:
    person = _with_claude_code(tmp_path / "ann")
    (talk,) = (person / ".claude" / "projects").glob("*/*.jsonl")
    for number in range(2, 14):
        talk.with_name(f"s{number}.jsonl").write_text(talk.read_text())
    code, seen = at_terminal("import", "claude-code", "--yes", HOME=str(person))
    assert code == 0 and "s13" not in seen
    assert re.search(r"default\s+13\s+13\b", _COLOUR.sub("", seen)), seen


def test_setup_that_was_answered_no_says_that_nothing_was_changed(
    at_terminal, tmp_path: Path
) -> None:
    person = _with_claude_code(tmp_path / "ann")
    code, seen = at_terminal("setup", HOME=str(person), typed="n\n")
    assert code == 0
    assert "Nothing was changed. `holdfast setup CLIENT` sets up one of them." in seen
    assert "Yes adds hooks" in seen and max(map(len, _COLOUR.sub("", seen).splitlines())) <= 100
    assert not (person / ".claude" / "settings.json").exists()


def test_a_limit_counts_the_rows_that_are_shown(home: Path, at_terminal) -> None:
    with open_for_tests(home, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        for said in ("I am allergic to nuts.", "I drive a Golf.", "I live in Ghent."):
            memory.hub().observe_turn(said, "", session="s")
            work_until_done(memory.core, memory.home)
        assert len(memory.hub().list()) == 6
    pages = [_COLOUR.sub("", at_terminal("list", "-n", "2", "--page", n)[1]) for n in ("1", "2")]
    numbers = [re.findall(r"^#(\d+)", page, re.MULTILINE) for page in pages]
    assert numbers == [["6", "4"], ["2"]]
    assert "add --page 2" in pages[0] and "There is more" not in pages[1]


def test_a_memory_opens_in_the_editor(stocked: Run, at_terminal) -> None:
    code, seen = at_terminal("edit", "1", EDITOR="sed -i s/tabs/four/", VISUAL="")
    assert code == 0 and "Updated" in seen
    assert stocked("get", "1", "--content").out == "Prefers four over spaces\n"
    for editor, said in (
        ("true", "is the same"),
        ("sed -i d", "is empty"),
        ("false", "failed"),
        ("no-such-editor", "cannot be started"),
        ('vi "', "cannot be started"),
    ):
        assert said in at_terminal("update", "1", EDITOR=editor, VISUAL="")[1], editor
    assert stocked("get", "1", "--content").out == "Prefers four over spaces\n"
    # A script is told what is missing.
    assert "Say what to change" in stocked("update", "1").err


def test_a_memory_that_was_changed_while_its_editor_was_open_is_not_overwritten(
    stocked: Run, at_terminal, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!/bin/sh\n{sys.executable} -m holdfast update 1 'Prefers tabs, and eight of them'\n"
        'echo "My own words" > "$1"\n'
    )
    editor.chmod(0o755)
    code, seen = at_terminal("edit", "1", EDITOR=str(editor), VISUAL="")
    assert code == 5 and "My own words" in seen
    assert stocked("get", "1", "--content").out == "Prefers tabs, and eight of them\n"


def test_what_the_editor_wrote_is_shown_where_it_cannot_be_stored(
    stocked: Run, at_terminal, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(
        f'#!/bin/sh\n{sys.executable} -m holdfast forget 1\necho "My own words" > "$1"\n'
    )
    editor.chmod(0o755)
    code, seen = at_terminal("edit", "1", EDITOR=str(editor), VISUAL="")
    assert code != 0 and "My own words" in seen
