"""Notes on mistyped categories and filters; neither is an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.edges.cli.cli_calls import Ran, Run


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (("list", "--category", "prefrence"), "Did you mean `preference`?"),
        (("recall", "tabs", "--category", "prefrence"), "Did you mean `preference`?"),
        (("recall", "category:prefrence tabs"), "Did you mean `preference`?"),
        (("list", "--category", "zebra"), "No memory here has the category `zebra`. There are: "),
        (("recall", "categry:fact tabs"), "`categry:` is no filter, and was searched as text."),
        (("recall", "-tg:fact tabs"), "Did you mean `tag:`?"),
    ],
)
def test_a_mistyped_category_or_filter_is_named(
    stocked: Run, words: tuple[str, ...], note: str
) -> None:
    ran = stocked(*words)
    assert ran.code == 0
    assert note in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("list", "--category", "preference", "--tag", "nobody-has-it"),
        ("recall", "tag:x tabs"),
        ("recall", "see https://example.org:80/a note: tabs"),
        ("recall", "tabs TODO:later 10:30"),
    ],
)
def test_what_is_no_mistake_has_no_note(stocked: Run, words: tuple[str, ...]) -> None:
    ran = stocked(*words)
    assert "Did you mean" not in ran.err
    assert "category" not in ran.err


def test_a_new_category_is_said_once(run: Run) -> None:
    first = run("remember", "Likes tea", "--category", "prefrence")
    assert "`holdfast update 1 --category preference`" in first.err
    assert "new category" not in run("remember", "Likes jam", "--category", "prefrence").err
    assert "the usual ones are" in run("remember", "A zebra", "--category", "zebra").err
    assert run("remember", "Likes cake", "--category", "preference").err == ""
    assert run("remember", "Likes pie", "--category", "pastry", "--json").err == ""


def test_without_a_terminal_a_question_is_refused_in_plain_words(stocked: Run) -> None:
    ran = stocked("purge", "1")
    assert ran.code == 2
    assert ran.err.startswith("holdfast: Nothing was done: there is no terminal")
    assert ran.err.endswith("Add --yes to answer yes beforehand.\n")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("import", "claudecode"), "Did you mean `holdfast import claude-code`?"),
        (("import", "basicmemory"), "Did you mean `holdfast import basic-memory`?"),
        (("import", "week.jsonl"), "Check the name."),
        (("hub", "delete", "nowhere"), "`holdfast hub list` shows them all."),
        (("hub", "rename", "nowhere", "there"), "`holdfast hub list` shows them all."),
        (("undo", "3"), "`holdfast history 3` lists those of memory 3."),
        (("undo", "chg_3"), "`holdfast history` lists them."),
    ],
)
def test_what_is_not_there_names_what_may_be_meant(
    stocked: Run, words: tuple[str, ...], hint: str
) -> None:
    ran = stocked(*words)
    assert (ran.code, hint in ran.err) == (3, True), ran.err


def test_a_person_sees_in_the_history_what_was_undone(
    stocked: Run, screen: Callable[..., Ran]
) -> None:
    stocked("forget", "1", "--reason", "wrong")
    stocked("undo")
    shown = screen("history").out
    assert "forget, undone" in shown and "wrong" in shown and "undone by chg_" not in shown
