"""What is understood in a MEMORY.md, and what is left alone: rules as examples."""

from __future__ import annotations

from datetime import date

import pytest

from holdfast.files.memory_md import Section, category_of, dated, heading_of, render
from holdfast.files.memory_md.parse import identified, item_text, paragraph_text, parse

ONE = "<!-- mem_1 -->"
TWO = "<!-- mem_2 -->"


def items(text: str) -> list[tuple[str | None, str]]:
    return [(item.id, item.content) for item in parse(text).items]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"- tea {ONE}\n", [("mem_1", "tea")], id="a bullet with its comment"),
        pytest.param(f"* tea {ONE}", [("mem_1", "tea")], id="a star, no line end"),
        pytest.param(f"-   tea   {ONE}  \n", [("mem_1", "tea")], id="wide spaces"),
        pytest.param(f"-\ttea {ONE}\n", [("mem_1", "tea")], id="a tab after the mark"),
        pytest.param("- tea\n", [(None, "tea")], id="new"),
        pytest.param("- tea\n  and milk\n", [(None, "tea\nand milk")], id="goes on below"),
        pytest.param("- tea\n\tand milk\n", [(None, "tea\nand milk")], id="goes on after a tab"),
        pytest.param("- tea\nand milk\n", [(None, "tea\nand milk")], id="wrapped, not indented"),
        pytest.param("- tea\n\n  and milk\n", [(None, "tea\n\nand milk")], id="two paragraphs"),
        pytest.param("- tea\n\nand milk\n", [(None, "tea")], id="a blank line ends it"),
        pytest.param(f"- tea {ONE}\nand milk\n", [("mem_1", "tea")], id="a comment ends it"),
        pytest.param(
            f"- tea {ONE}\n  - with milk\n", [("mem_1", "tea\n- with milk")], id="added below"
        ),
        pytest.param(
            f"- tea {ONE}\n  - milk {TWO}\n", [("mem_1", "tea"), ("mem_2", "milk")], id="nested"
        ),
        pytest.param(
            f"- drinks:\n  - tea {ONE}\n  - milk {TWO}\n",
            [(None, "drinks:"), ("mem_1", "tea"), ("mem_2", "milk")],
            id="grouped",
        ),
        pytest.param("  - tea\n  - milk\n", [(None, "tea"), (None, "milk")], id="an indented list"),
        pytest.param(f"tea\nand milk {ONE}\n", [("mem_1", "tea\nand milk")], id="a paragraph"),
        pytest.param("tea\nand milk\n", [], id="free text"),
        pytest.param(f"- {ONE}\n", [("mem_1", "")], id="only the comment is left"),
        pytest.param("- \n-\ntext\n", [], id="empty bullets"),
        pytest.param("- - -\n* * *\n---\n", [], id="ruled lines"),
        pytest.param("```\n- tea\n```\n- milk\n", [(None, "milk")], id="a fence"),
        pytest.param("~~~~\n```\n- tea\n~~~~\n", [], id="a fence within a fence"),
        pytest.param("<!--\n- tea\n-->\n- milk\n", [(None, "milk")], id="commented out"),
        pytest.param("```\n- tea\n", [(None, "tea")], id="a fence that is never closed"),
        pytest.param(
            f"```\n- tea {ONE}\n```\n", [("mem_1", "tea")], id="no fence swallows an item"
        ),
        pytest.param("| - a | b |\n|---|---|\n", [], id="a table"),
        pytest.param("> - tea\n", [], id="a quotation"),
        pytest.param("- [ ] tea\n", [(None, "[ ] tea")], id="a task"),
        pytest.param("- &lt;!-- tea\n", [(None, "<!-- tea")], id="a reference"),
        pytest.param("- tea & milk &amp; more\n", [(None, "tea & milk &amp; more")], id="plain &"),
        pytest.param("- tea\r\n  and milk\r\n", [(None, "tea\nand milk")], id="windows"),
        pytest.param("- tea\x0cmilk\u2028x\n", [(None, "tea\x0cmilk\u2028x")], id="odd breaks"),
    ],
)
def test_what_is_an_item(text: str, expected: list[tuple[str | None, str]]) -> None:
    assert items(f"## Fact\n{text}") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- tea\n", []),
        (f"- tea {ONE}\n", [None]),
        ("## Fact\n- tea\n# Notes\n- milk\n", ["fact"]),
        ("## Fact\n### Small\n- tea\n", ["fact"]),
        ("## Machine / Runtime\n- tea\n", ["machine-runtime"]),
        ("## \n- tea\n", []),
        ("## Fact\n<!-- updated 2026-05-27 -->\n- tea\n## FACT\n- milk\n", ["fact", "fact"]),
        ("\ufeff## Fact\n- tea\n", ["fact"]),
        ("---\n- tea\n---\n## Fact\n- milk\n", ["fact"]),
    ],
)
def test_which_section_an_item_is_in(text: str, expected: list[str | None]) -> None:
    assert [item.category for item in parse(text).items] == expected


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("tea", f"- tea {ONE}\n"),
        ("tea\nand milk", f"- tea\n  and milk {ONE}\n"),
        ("tea\n\nmilk", f"- tea\n\n  milk {ONE}\n"),
        ("```\ntea\n```", f"- ```\n  tea\n  ```\n  {ONE}\n"),
        ("| a |\n| 1 |", f"- | a |\n  | 1 |\n  {ONE}\n"),
        ("drinks:\n- tea", f"- drinks:\n  - tea\n  {ONE}\n"),
        ("a <!-- b --> c", f"- a &lt;!-- b --> c {ONE}\n"),
        ("a &lt;!-- b", f"- a &amp;lt;!-- b {ONE}\n"),
        (" tea\n", f"- &#32;tea&#10; {ONE}\n"),
        ("a\r\nb", f"- a&#13;\n  b {ONE}\n"),
        ("---", f"- &#45;-- {ONE}\n"),
    ],
)
def test_how_content_is_written(content: str, text: str) -> None:
    assert item_text(content, "mem_1") == text
    assert items(f"## Fact\n{text}") == [("mem_1", content)]


def test_windows_line_ends_are_used_where_the_file_has_them() -> None:
    assert parse("# x\r\n").newline == "\r\n"
    assert item_text("a\nb", "mem_1", "\r\n") == f"- a\r\n  b {ONE}\r\n"


def test_an_id_is_added_without_touching_what_was_typed() -> None:
    typed = "## Fact\n*   tea\n    and *milk*\n"
    [item] = parse(typed).items
    assert identified(item, "mem_1").raw == f"*   tea\n    and *milk* {ONE}\n"


def test_a_paragraph_stays_one_where_it_can() -> None:
    assert paragraph_text("tea\nand milk", "mem_1") == f"tea\nand milk {ONE}\n"
    assert paragraph_text("tea\n\nmilk", "mem_1") is None
    assert paragraph_text("- tea", "mem_1") is None


def test_a_section_gets_its_date_below_the_heading() -> None:
    day = date(2026, 5, 27)
    typed = Section("##  My   Facts", "my facts")
    first = dated(typed, day)
    assert first.raw == "##  My   Facts\n<!-- updated 2026-05-27 -->\n"
    assert dated(first, date(2026, 6, 1)).raw == "##  My   Facts\n<!-- updated 2026-06-01 -->\n"
    assert parse(first.raw).blocks == (first,)


@pytest.mark.parametrize(
    ("category", "heading"),
    [("fact", "Fact"), ("about me", "About Me"), ("c++", "C++"), ("ßtraße", "ßtraße"), ("9", "9")],
)
def test_categories_are_headings_in_title_case(category: str, heading: str) -> None:
    assert heading_of(category) == heading
    assert category_of(heading) == category


def test_nothing_is_lost_of_a_file_with_everything() -> None:
    text = (
        "\ufeff---\na: 1\n---\r\n# T\n\n- free\n\n## Fact\n<!-- updated 2026-05-27 -->\n\n- a\n\n\n"
        f"  b {ONE}\n\ntext {TWO}\n```\nx\n```\n| t |\n<!-- c -->\n## \n\x0b\n- no end"
    )
    assert render(parse(text)) == text


def test_a_paragraph_directly_below_a_bullet_is_shown_as_one_of_its_own() -> None:
    from holdfast.files.memory_md.diff import shown

    first, second = "mem_1j8azcfqm0e2jhx90x1k", "mem_1j8azcfqm0fdfsvv0emy"
    text = f"- a <!-- {first} -->\nb <!-- {second} -->\n- c <!-- mem_1j8azcfqm08q8mbmvc0j -->\n"
    assert [item.content for item in parse(text).items] == ["a", "b", "c"]
    assert shown(text) == "- a\n\nb\n- c\n"
    assert [item.content for item in parse(shown(text), whole=True).items] == ["a", "b", "c"]
