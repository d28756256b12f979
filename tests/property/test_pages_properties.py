"""One document in several files: nothing that is typed anywhere gets lost on the way."""

from __future__ import annotations

from collections import Counter
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.domain.memory import CATEGORIES
from holdfast.files.memory_md import Document, Section, Verbatim, render, section_text
from holdfast.files.memory_md.pages import (
    category_of_page,
    gathered,
    joined,
    page_of,
    split,
    spread,
    tidied,
    with_sections,
)
from holdfast.files.memory_md.parse import parse
from tests.property.test_mirror_properties import CONTENT, TEXT

NAMES = ("preferences.md", "facts.md", "machine-runtime.md")
# Without marks that make two items one: those have a rule of their own.
PLAIN = TEXT.filter(lambda text: "mem_" not in text)
FILES = st.fixed_dictionaries({"MEMORY.md": PLAIN}, optional=dict.fromkeys(NAMES, PLAIN))
DAY = date(2026, 1, 14)


def said(document: Document) -> Counter[str]:
    """The words that stand anywhere but in headings and dates."""
    rest = [block.raw for block in document.blocks if not isinstance(block, Section)]
    return Counter(line.strip() for raw in rest for line in raw.split("\n") if line.strip())


@settings(max_examples=200)
@given(FILES)
def test_files_that_are_joined_are_split_to_the_letter(texts: dict[str, str]) -> None:
    assert split(joined(texts)) == texts


@settings(max_examples=200)
@given(FILES)
def test_no_line_is_lost_when_pages_come_and_go(texts: dict[str, str]) -> None:
    document = joined(texts)
    before = said(document)
    for change in (spread, gathered, tidied, gathered, spread):
        document = change(document)
        # Of free text that was there twice in a section, once is enough.
        assert before.keys() == said(document).keys()


MARKED = st.lists(
    st.tuples(st.sampled_from(["preference", "fact", "about me", "odd-one", "日本"]), CONTENT),
    max_size=8,
)


def laid_out(items: list[tuple[str, str]]) -> str:
    from holdfast.files.memory_md.parse import item_text

    out = "# Long-term Memory\n"
    for number, (category, content) in enumerate(items):
        out += f"\n{section_text(category, DAY)}\n{item_text(content, f'mem_{number}')}"
    return out


def known(document: Document) -> dict[str | None, tuple[str, str | None]]:
    texts = split(document)
    return {item.id: (item.content, item.category) for item in joined(texts).items}


@settings(max_examples=150)
@given(MARKED)
def test_memories_keep_id_content_and_category_in_either_form(items: list[tuple[str, str]]) -> None:
    one = parse(laid_out(items))
    before = known(one)
    assert len(before) == len(items)
    for change in (spread, tidied, gathered, tidied, spread, gathered):
        one = change(one)
        assert known(one) == before
    assert set(split(one)) <= {"MEMORY.md"} | {page_of(category) for category, _ in items}
    assert set(split(gathered(one))) == {"MEMORY.md"}


@given(st.lists(st.sampled_from(CATEGORIES), unique=True))
def test_a_document_is_tidied_once(categories: list[str]) -> None:
    text = laid_out([(category, "one") for category in categories * 2])
    once = tidied(parse(text))
    assert render(tidied(once)) == render(once)
    sections = [block.category for block in once.blocks if isinstance(block, Section)]
    assert sections == list(dict.fromkeys(categories))


@settings(max_examples=200)
@given(st.sampled_from(CATEGORIES) | st.from_regex(r"[a-z0-9 -]{1,12}", fullmatch=True) | TEXT)
def test_a_page_belongs_to_one_category(category: str) -> None:
    name = page_of(category)
    if name is not None:
        assert category_of_page(name) == category
        assert "/" not in name
        assert name not in ("MEMORY.md", "memory.md", "2026-01-14.md")


def test_missing_sections_are_made_where_they_belong() -> None:
    document = with_sections(parse("# Long-term Memory"), ["fact", "odd-one"], DAY)
    assert split(document) == {
        "MEMORY.md": "# Long-term Memory\n\n## Odd-one\n<!-- updated 2026-01-14 -->\n",
        "facts.md": "## Fact\n<!-- updated 2026-01-14 -->\n",
    }


def test_a_page_may_have_a_title_of_its_own_or_none() -> None:
    for text in ("# My facts\n- One\n", "- One\n", "## Fact\n- One\n", "# My\n\n## Fact\n- One\n"):
        [item] = joined({"MEMORY.md": "", "facts.md": text}).items
        assert (item.content, item.category) == ("One", "fact")


def test_a_line_that_is_in_two_files_is_one() -> None:
    line = "- One <!-- mem_1 -->\n"
    texts = {"MEMORY.md": f"## Fact\n{line}", "facts.md": line, "preferences.md": line}
    assert [item.id for item in joined(texts).items] == ["mem_1"]
    assert len(joined({"MEMORY.md": f"## Fact\n{line}{line}"}).items) == 2
    assert isinstance(joined(texts).blocks[0], Section | Verbatim)
