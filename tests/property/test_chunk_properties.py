"""What holds for the passages of every text, whatever is in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.text.chunking import INTACT_TIMES_MAX, TOKENS_MIN, Chunk, chunk, count_tokens

CONTENT_TYPES = ("text", "markdown", "code", "chat", "transcript", "file", "structured", "link")

# Pieces that decide where a text is cut, and those that trip up offsets.
PIECES = st.sampled_from(
    [
        "# Title\n", "## Part ##\n", "####### seven\n", "Under\n=====\n", "Line\n---\n", "---\n",
        "```\n", "```py\n", "~~~\n", "````\n", "  ```\n", "> ```\n", "```", "`` ` ``",
        "| a | b |\n|---|---|\n| 1 | 2 |\n", "|---|\n", "- item\n", "    code\n", "\t# tab\n",
        "\n", "\n\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\ufeff", "\x00", " ", "\t",
        "Ana: hello there\n", "[10:32] Bob: yes\n", "**Cy**: no\n", "2026-05-01 10:32 Ana: x\n",
        "2026-05-01\n", "[{\"role\": \"user\", \"content\": \"hi\"}]", "[", "]", "{", "}",
        "def f():\n    return 1\n\n", "class A:\n    def g(self):\n        pass\n\n", "@dec\n",
        "A sentence. Another one! A third? ", "漢字かな交じり文。", "ไทย", "😀👩‍👩‍👧🏽",
        "e\u0301", "\ud800",
        "word " * 60, "x" * 700, "漢" * 300, "line of text\n" * 40, "1 2 3 4 5 " * 50,
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=40).map("".join),
)
SIZES = st.sampled_from([64, 100, 512, 2048])


def assert_exact(text: str, chunks: list[Chunk]) -> None:
    """In order, apart, never blank, and nothing but white space left over."""
    at = 0
    for passage in chunks:
        assert at <= passage.start < passage.end <= len(text)
        assert not text[at : passage.start].strip()
        assert text[passage.start : passage.end].strip()
        at = passage.end
    assert not text[at:].strip()


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@given(text=TEXTS, tokens_max=SIZES)
def test_every_character_is_in_exactly_one_passage(
    content_type: str, text: str, tokens_max: int
) -> None:
    assert_exact(text, chunk(text, content_type=content_type, tokens_max=tokens_max))


@pytest.mark.parametrize("language", ["python", "javascript"])
@given(text=TEXTS)
def test_every_character_of_code_is_in_exactly_one_passage(language: str, text: str) -> None:
    assert_exact(text, chunk(text, content_type="code", language=language, tokens_max=64))


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@given(text=TEXTS, tokens_max=SIZES)
def test_no_passage_is_larger_than_the_hard_maximum(
    content_type: str, text: str, tokens_max: int
) -> None:
    for passage in chunk(text, content_type=content_type, tokens_max=tokens_max):
        tokens = count_tokens(text[passage.start : passage.end])
        assert tokens <= tokens_max * INTACT_TIMES_MAX + TOKENS_MIN


@given(
    text=st.text(st.characters(exclude_characters="`~|-=#", exclude_categories=())),
    repeats=st.integers(1, 40),
)
def test_prose_keeps_to_the_target(text: str, repeats: int) -> None:
    text = text * repeats
    for passage in chunk(text, tokens_max=64):
        assert count_tokens(text[passage.start : passage.end]) <= 64


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@given(text=TEXTS)
def test_the_same_text_gives_the_same_passages(content_type: str, text: str) -> None:
    first = chunk(text, content_type=content_type, tokens_max=64)
    assert first == chunk(text, content_type=content_type, tokens_max=64)


PARAGRAPH = st.integers(3, 120).map(lambda words: "plain words of a paragraph " * words)
FENCE = st.tuples(
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "py", "text"]),
    st.lists(
        st.sampled_from(
            ["x = 1", "# not a heading", "", "```inner", "Ana: hi", "---", "| a | b |"]
        ),
        max_size=40,
    ),
)


@given(
    blocks=st.lists(st.one_of(PARAGRAPH, FENCE, st.just("# Heading")), max_size=12),
    newline=st.sampled_from(["\n", "\r\n"]),
    tokens_max=st.sampled_from([64, 128]),
)
@settings(max_examples=120)
def test_no_passage_ends_or_begins_inside_a_fence_that_fits(
    blocks: list[str | tuple[str, str, list[str]]], newline: str, tokens_max: int
) -> None:
    text = ""
    fences: list[tuple[int, int]] = []
    for block in blocks:
        if isinstance(block, str):
            text += block.rstrip() + newline * 2
            continue
        mark, info, lines = block
        fence = newline.join([mark + info, *lines, mark])
        if count_tokens(fence) + 1 <= tokens_max * INTACT_TIMES_MAX:
            fences.append((len(text), len(text) + len(fence)))
        text += fence + newline * 2
    edges = [edge for c in chunk(text, tokens_max=tokens_max) for edge in (c.start, c.end)]
    for start, end in fences:
        assert not [edge for edge in edges if start < edge < end]


@given(paragraphs=st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_a_paragraph_that_fits_is_never_cut(paragraphs: list[int]) -> None:
    text = "\n\n".join("One short sentence stands here. " * n for n in paragraphs)
    edges = {edge for c in chunk(text, tokens_max=100) for edge in (c.start, c.end)}
    at = 0
    for n in paragraphs:
        length = len("One short sentence stands here. ") * n
        assert not [edge for edge in edges if at < edge < at + length - 1]
        at += length + 2
