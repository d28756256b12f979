"""The first screen, the groups of commands, synonyms and misspelt commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.edges.cli.table import FIRST, GROUPS, SYNONYMS, all_commands, find
from tests.edges.cli.cli_calls import Run


def test_the_first_screen_fits_a_small_terminal(stocked: Run) -> None:
    ran = stocked()
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


@pytest.mark.sqlite_only("without a store in the settings, a home is new where it has no file")
def test_the_first_screen_names_what_a_newcomer_needs_and_every_group(stocked: Run) -> None:
    out = stocked().out
    for word in (
        *("remember", "recall", "context", "list", "update", "forget", "undo"),
        *("status", "setup", "ui", "doctor", "help"),
    ):
        assert f"  {word} " in out
    for group in GROUPS:
        assert group.name in out


def test_every_first_command_is_a_command() -> None:
    assert set(FIRST) <= {command.name for command in all_commands()}


def test_every_command_is_in_one_group() -> None:
    words = [word for group in GROUPS for word in group.words]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_a_group_lists_its_commands(run: Run, group) -> None:
    ran = run("help", group.name)
    assert ran.code == 0
    for word in group.words:
        assert f"  {word} " in ran.out
    assert run(group.name, "--help").out == ran.out


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_a_group_alone_says_what_can_follow(run: Run, group) -> None:
    ran = run(group.name)
    assert ran.code == 2
    assert f"Say what to do: `holdfast {group.name}` has " in ran.err
    assert f"`holdfast help {group.name}`" in ran.err


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.name)
def test_every_command_answers_with_and_without_its_group(command) -> None:
    name = command.name.split()
    group = next(group for group in GROUPS if name[0] in group.words)
    assert find([*name, "more"]) == (command, len(name))
    found, count = find([group.name, *name, "more"])
    assert (found, count) == (command, len(name) + 1)


def test_a_grouped_command_does_what_the_short_one_does(run: Run) -> None:
    assert run("memory", "remember", "Likes tea").code == 0
    assert "Likes tea" in run("--json", "memory", "recall", "--words", "tea", "-n", "1").out
    assert run("memory", "list").out == run("list").out
    assert run("hub", "member", "list").out == run("member", "list").out
    assert run("hub", "list").out != run("list").out


def test_the_short_spelling_says_nothing_about_the_group(run: Run) -> None:
    ran = run("admin", "stats")
    assert run("stats").err == ran.err == ""


@pytest.mark.parametrize(
    ("synonym", "command"),
    [
        ("add", "remember"),
        ("search", "recall"),
        ("find", "recall"),
        ("delete", "forget"),
        ("rm", "forget"),
        ("show", "get"),
        ("edit", "update"),
        ("ls", "list"),
        ("note", "remember"),
        ("ask", "recall"),
        ("change", "update"),
    ],
)
def test_a_synonym_leads_to_the_command(run: Run, synonym: str, command: str) -> None:
    for words in ([synonym, "x"], ["memory", synonym, "x"]):
        found, count = find(words)
        assert (found.name, count) == (command, len(words) - 1)
    assert run(synonym, "--help").out == run(command, "--help").out


def test_a_synonym_runs(run: Run) -> None:
    assert run("add", "Likes tea").out.startswith("stored")
    assert "Likes tea" in run("search", "--words", "tea").out
    assert run("ls").out == run("list").out
    assert run("rm", "1").code == 0
    assert "Likes tea" not in run("ls").out


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("tag", "`holdfast update 12 --tag NAME`"),
        ("why", "`holdfast recall QUESTION --explain`"),
        ("reset", "`holdfast hub delete NAME`"),
        ("stop", "`holdfast log pause`"),
    ],
)
def test_a_word_without_a_command_leads_to_what_does_it(run: Run, word: str, hint: str) -> None:
    ran = run(word, "1")
    assert ran.code == 2 and hint in ran.err


def test_version_is_a_word_too(run: Run) -> None:
    assert run("version").out == run("--version").out


def test_a_memory_named_by_its_words_is_to_be_searched_for(run: Run) -> None:
    run("remember", "Likes tea")
    assert "`holdfast recall Likes tea`" in run("forget", "Likes tea").err
    assert "`holdfast list`" in run("forget", "99").err


def test_the_name_of_a_file_stored_as_text_is_noted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("Likes tea", encoding="utf-8")
    assert f"`holdfast remember --file {file}`" in run("remember", str(file)).err
    assert "--file" not in run("remember", f"see {file}").err


def test_no_synonym_hides_a_command_or_a_group() -> None:
    taken = {word for group in GROUPS for word in (group.name, *group.words)}
    assert not taken & set(SYNONYMS)
    assert set(SYNONYMS.values()) <= taken


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("hub", "ls"), "hub list"),
        (("hub", "rm", "work"), "hub delete"),
        (("hub", "add", "work"), "hub create"),
        (("team", "delete", "core"), "team remove"),
        (("config", "ls"), "config list"),
        (("hub", "key", "ls"), "key list"),
    ],
)
def test_a_synonym_leads_to_the_part_of_a_command(words, name: str) -> None:
    assert find(list(words))[0].name == name


@pytest.mark.parametrize(
    ("words", "guess"),
    [
        (("rember", "x"), "Did you mean `holdfast remember`?"),
        (("serach", "x"), "Did you mean `holdfast recall`?"),
        (("amdin", "stats"), "Did you mean `holdfast admin`?"),
        (("admin", "bakcup"), "Did you mean `holdfast backup`?"),
        (("admin", "recall"), "Did you mean `holdfast recall`?"),
        (("help", "rember"), "Did you mean `holdfast remember`?"),
    ],
)
def test_a_misspelt_command_names_the_nearest(run: Run, words, guess: str) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert guess in ran.err
