"""A journal's text: what is an entry, what is not, and that nothing is lost between them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.files.journal.entries import JournalBlock, keys_of, parse, plain, render
from holdfast.text.clean import clean_text

# What journals are made of, so that random texts hit the rules.
PIECES = st.sampled_from(
    (
        *("\n", "\r\n", "- ", "* ", "10:15 ", "99:99 ", "  ", "\t", "# ", "---", "```", "<!--"),
        *("-->", "|", "a", "tea", "\ufeff", "\u2028", "\x0b", "é", "字", "🐍", "[ ] "),
    )
)
JOURNALS = st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join)
ANYTHING = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
WORDS = ANYTHING.map(clean_text).filter(bool)


def entries(text: str) -> list[tuple[str, str]]:
    return [(block.time, block.text) for block in parse(text) if block.text]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- 10:15 tea\n", [("10:15", "tea")]),
        ("- tea\n* milk\n+ rum", [("", "tea"), ("", "milk"), ("", "rum")]),
        ("tea\nmilk\n", [("", "tea"), ("", "milk")]),
        ("- tea\r\n- milk\r\n", [("", "tea"), ("", "milk")]),
        (
            "- tea\n  with milk\n\n  and sugar\n\n- rum",
            [("", "tea\nwith milk\n\nand sugar"), ("", "rum")],
        ),
        ("- tea\n\twith milk\n", [("", "tea\nwith milk")]),
        ("- tea\n  - with milk\n", [("", "tea\n- with milk")]),
        ("# Monday\n\n## Tea\n- tea\n", [("", "tea")]),
        ("#tea\n", [("", "#tea")]),
        ("- 10:15\n", [("", "10:15")]),
        ("- 25:15 tea\n", [("", "25:15 tea")]),
        ("10:15 tea\n", [("10:15", "tea")]),
        ("- [x] tea\n", [("", "[x] tea")]),
        ("---\ntitle: x\n---\ntea\n", [("", "tea")]),
        ("tea\n---\n***\nmilk\n", [("", "tea"), ("", "milk")]),
        ("<!-- tea\nmilk -->\nrum\n", [("", "rum")]),
        ("<!-- tea\nrum\n", [("", "<!-- tea"), ("", "rum")]),
        ("```py\n# tea\n```\nrum\n", [("", "```py\n# tea\n```"), ("", "rum")]),
        ("```py\nrum\n", [("", "```py"), ("", "rum")]),
        ("| a | b |\n| - | - |\ntea", [("", "| a | b |\n| - | - |"), ("", "tea")]),
        ("\ufefftea\n", [("", "tea")]),
        ("- \n-\n", [("", "-")]),
        ("", []),
        ("\n \n\t\n", []),
    ],
)
def test_what_is_an_entry(text: str, found: list[tuple[str, str]]) -> None:
    assert entries(text) == found


def test_an_open_comment_or_fence_does_not_swallow_what_is_added_below() -> None:
    for opening in ("<!-- to do", "```", "~~~"):
        text = f"{opening}\n{render('a --> b', '10:15')}\n{render('```', '10:16')}\n{opening}\n"
        assert ("10:15", "a --> b") in entries(text)
        assert ("10:16", "```") in entries(text)


@given(JOURNALS | st.text())
def test_the_blocks_joined_are_the_text_to_the_letter(text: str) -> None:
    assert "".join(block.raw for block in parse(text)) == text


@given(WORDS)
def test_any_text_that_is_added_is_one_entry_that_says_the_same(text: str) -> None:
    if not text.strip():
        return
    found = parse(render(text, "10:15") + "\n")
    assert len(found) == 1
    assert found[0].time == "10:15"
    assert plain(found[0].text) == plain(text)


@given(JOURNALS, WORDS)
def test_an_entry_added_to_any_journal_is_read_and_changes_no_other(text: str, added: str) -> None:
    if not added.strip():
        return
    text = text if not text or text.endswith("\n") else text + "\n"
    before = parse(text)
    after = parse(text + render(added, "10:15") + "\n")
    assert after[:-1] == before
    assert plain(after[-1].text) == plain(added)


def test_indented_lines_keep_their_indent_when_added() -> None:
    text = "a\n    b\n\n\tc\n- d"
    assert parse(render(text, "10:15") + "\n")[0].text == text


def test_a_key_is_of_the_time_and_the_words_and_counts_what_is_alike() -> None:
    same = keys_of(parse("- tea\n- tea\n*  tea \n# tea\n- 10:15 tea\n- te\u0301a\n- t\u00e9a\n"))
    assert same[1:3] == [f"{same[0]}-2", f"{same[0]}-3"]
    assert same[3] == ""
    assert len({*same}) == 7
    assert same[6] == f"{same[5]}-2"


@pytest.mark.parametrize(
    "line", ["<!--\n", "```\n", "```a\n", "- a\n\n\n", "---\n", "|\n", "  x\n"]
)
def test_a_long_journal_is_read_in_time_that_grows_with_it(line: str) -> None:
    started = time.thread_time()
    blocks = parse(line * 20_000)
    assert blocks and isinstance(blocks[0], JournalBlock)
    assert time.thread_time() - started < 20
