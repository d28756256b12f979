"""MEMORY.md: any text survives parsing, any content survives being an item."""

from __future__ import annotations

import re
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.files.memory_md import (
    Document,
    MarkdownItem,
    category_of,
    escaped,
    heading_of,
    render,
    unescaped,
)
from holdfast.files.memory_md import parse as memory_md_parse
from holdfast.files.memory_md import parse as near
from holdfast.files.memory_md.parse import identified, item_text, parse, parse_anew, rewritten
from holdfast.text.clean import clean_category, clean_text, is_visible

# Pieces that mean something to the format, so that chance finds the corners.
PIECES = st.sampled_from(
    [
        "- ", "* ", "+ ", "  ", "    ", "\t", "\n", "\r\n", "\r", "\n\n", " ", "-", "---", "- - -",
        "## Fact", "## ", "# ", "### x", "#", "<!--", "-->", "<!-- mem_1 -->", "<!-- mem_2 -->",
        "<!-- updated 2026-05-27 -->", "mem_1", "```", "~~~", "````py", "| a | b |", "|", "> ",
        "&", "&amp;", "&lt;!--", "&#13;", "&amp;#10;", "&#45;", "amp;", "lt;!--", "#32;", "\ufeff",
        "\x0c", "\x0b", "\u2028", "\xa0", "word", "Ann likes tea.", "é", "1. ", "[ ] ", "***",
    ]
)  # fmt: skip
LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
TEXT = st.lists(PIECES | st.text(LETTERS, max_size=4), max_size=24).map("".join)
CONTENT = TEXT.filter(is_visible)
# As a store keeps it: without control and hidden characters.
STORED = TEXT.map(clean_text).filter(is_visible)
NEWLINE = st.sampled_from(["\n", "\r\n"])


@settings(max_examples=250)
@given(TEXT)
def test_any_text_is_rendered_as_it_was_parsed(text: str) -> None:
    assert render(parse(text)) == text


@settings(max_examples=250)
@given(st.lists(CONTENT, max_size=3), TEXT)
def test_the_short_way_finds_what_the_long_way_finds(contents: list[str], text: str) -> None:
    whole = "## Fact\n" + "".join(item_text(one, "mem_1") for one in contents) + text
    with mock.patch.object(memory_md_parse, "_PLAIN", re.compile("(?!)")):
        long = parse_anew(whole)
    assert parse_anew(whole) == long


PLAIN = st.integers(1, 40).map(lambda number: f"- Fact {number}. <!-- mem_{number} -->\n")
LINES = st.lists(
    PLAIN | PLAIN | PLAIN | TEXT | st.sampled_from(["## Fact\n", "## b\n", "# c\n"]), max_size=10
)
SOME_PLAIN = st.lists(PLAIN, max_size=6)


@settings(max_examples=400)
@given(
    st.tuples(SOME_PLAIN, LINES, SOME_PLAIN),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), TEXT | PLAIN), max_size=3),
)
def test_what_is_parsed_from_what_was_known_is_what_is_parsed_anew(
    parts: tuple[list[str], ...], edits: list[tuple[float, int, str]]
) -> None:
    text = "".join("".join(part) for part in parts)
    with mock.patch.object(near, "_LARGE_CHARS", 0):
        recent = near.Recent(
            parse_anew, memory_md_parse._is_barrier, memory_md_parse._heading_above
        )
        assert recent(text) == parse_anew(text)
        for where, length, new in edits:
            start = int(where * len(text))
            text = text[:start] + new + text[start + length :]
            assert recent(text) == parse_anew(text)


def test_a_small_change_of_a_large_file_leaves_the_other_blocks_as_they_are() -> None:
    lines = [f"- Fact {number}. <!-- mem_{number} -->\n" for number in range(2_000)]
    text = "# Mine\n\n## Fact\n" + "".join(lines)
    before = parse(text)
    parsed: list[int] = []

    def counted(piece: str) -> Document:
        parsed.append(len(piece))
        return parse_anew(piece)

    with mock.patch.object(memory_md_parse._recent, "_anew", counted):
        after = parse(text.replace("Fact 1000.", "Fact 1000, edited."))
    assert parsed and max(parsed) < 300
    assert after == parse_anew(render(after))
    same = sum(a is b for a, b in zip(before.blocks, after.blocks, strict=True))
    assert same == len(before.blocks) - 1


@settings(max_examples=250)
@given(CONTENT)
def test_escaping_can_be_undone(content: str) -> None:
    assert unescaped(escaped(content)) == content


@settings(max_examples=250)
@given(st.lists(CONTENT, min_size=1, max_size=4), NEWLINE)
def test_any_contents_are_items_and_come_back(contents: list[str], newline: str) -> None:
    raws = [item_text(content, f"mem_{n}", newline) for n, content in enumerate(contents)]
    text = f"## Fact{newline}{newline}" + "".join(raws)
    found = parse(text)
    assert [(item.id, item.content) for item in found.items] == [
        (f"mem_{n}", content) for n, content in enumerate(contents)
    ]
    assert [item.raw for item in found.items] == raws
    assert render(found) == text


@settings(max_examples=250)
@given(TEXT, NEWLINE)
def test_giving_an_id_to_what_a_person_typed_changes_nothing_else(text: str, newline: str) -> None:
    for item in parse(f"## Fact\n{text}").items:
        if not item.content or item.content.isspace():
            continue
        named = identified(item, "mem_new", newline)
        again = parse(f"## Fact\n{named.raw}").items
        assert [(one.id, one.content) for one in again] == [("mem_new", item.content)]


@settings(max_examples=150)
@given(TEXT, CONTENT)
def test_a_rewritten_item_holds_the_new_content(text: str, content: str) -> None:
    for item in parse(f"## Fact\n{text}").items:
        new = rewritten(item, content, "mem_new")
        assert isinstance(new, MarkdownItem)
        again = parse(f"## Fact\n{new.raw}").items
        assert [(one.id, one.content) for one in again] == [("mem_new", content)]


@settings(max_examples=250)
@given(st.text(LETTERS, max_size=70) | TEXT)
def test_a_heading_and_its_category_name_each_other(heading: str) -> None:
    category = category_of(heading)
    if category is not None:
        assert clean_category(category) == category
        assert category_of(heading_of(category)) == category
        assert parse(f"## {heading_of(category)}\n").blocks[0].category == category  # type: ignore[union-attr]
