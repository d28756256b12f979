"""Passages of prose and Markdown: where a text is cut, and what a passage stands under."""

from __future__ import annotations

import subprocess
import sys

import pytest

from holdfast.errors import InvalidInput
from holdfast.text.chunking import Chunk, chunk, count_tokens
from tests.growth import assert_time_grows

# 25 tokens or so: enough to be a section of its own.
BODY = "The harbour opens at six and the first boat leaves half an hour later, if the sea is calm."
LONG = "The harbour opens at six and the first boat leaves at seven. " * 60


def passages(text: str, **options: object) -> list[str]:
    return [text[c.start : c.end] for c in chunk(text, **options)]  # type: ignore[arg-type]


def headings(text: str, **options: object) -> list[tuple[str, ...]]:
    return [c.headings for c in chunk(text, **options)]  # type: ignore[arg-type]


# ── short texts ──────────────────────────────────────────────────────────────────────────────


def test_a_short_text_is_one_passage() -> None:
    assert chunk("I had lunch with Ana.") == [Chunk(0, 21, (), "", None)]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u2003\r\n"])
def test_white_space_has_no_passages(text: str) -> None:
    assert chunk(text) == []


def test_white_space_around_a_text_is_not_in_the_passage() -> None:
    assert chunk("\n\n  two words \n") == [Chunk(2, 13, (), "", None)]
    assert passages("\n\n  two words \n") == ["  two words"], "indentation stays"


def test_offsets_count_code_points_not_bytes() -> None:
    text = "é😀漢 " + LONG
    assert "".join(passages(text)).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("tokens_max", [0, 63, 2049, -1])
def test_a_size_out_of_range_is_refused(tokens_max: int) -> None:
    with pytest.raises(InvalidInput, match="between 64 and 2048"):
        chunk("x", tokens_max=tokens_max)


@pytest.mark.parametrize("tokens_max", [64, 200, 512, 1024, 2048])
def test_every_size_in_range_is_kept_to_and_used(tokens_max: int) -> None:
    sizes = [count_tokens(p) for p in passages(LONG * 8, tokens_max=tokens_max)]
    assert max(sizes) <= tokens_max
    assert all(size > tokens_max * 0.6 for size in sizes[:-1])


# ── headings ─────────────────────────────────────────────────────────────────────────────────


def test_a_heading_begins_a_passage_and_the_chain_is_kept() -> None:
    text = (
        f"# Guide\n\n{BODY}\n\n## Boats\n\n{BODY}\n\n### Sails ###\n\n{BODY}\n\n## Food\n\n{BODY}"
    )
    assert headings(text) == [
        ("Guide",),
        ("Guide", "Boats"),
        ("Guide", "Boats", "Sails"),
        ("Guide", "Food"),
    ]
    assert passages(text)[1] == f"## Boats\n\n{BODY}"


def test_underlined_headings_count_too() -> None:
    text = f"Guide\n=====\n\n{BODY}\n\nBoats\n---\n{BODY}\n"
    assert headings(text) == [("Guide",), ("Guide", "Boats")]


def test_every_passage_of_a_long_section_has_its_chain() -> None:
    text = f"# Guide\n\n## Boats\n\n{LONG}"
    assert len(headings(text)) > 1
    assert set(headings(text)) == {("Guide", "Boats")}


def test_text_before_the_first_heading_stands_under_none() -> None:
    assert headings(f"{BODY}\n\n# Guide\n\n{BODY}") == [(), ("Guide",)]


def test_a_level_that_was_skipped_leaves_no_gap_in_the_chain() -> None:
    assert headings(f"# A\n{BODY}\n\n#### D\n{BODY}\n\n## B\n{BODY}") == [
        ("A",),
        ("A", "D"),
        ("A", "B"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "#hashtag", "####### seven", "    # indented code", "\\# escaped", "a # b",
        "#1 in the list",
        "- item\n---", "text\nmore\n---", "> quote\n---", "| a |\n---", "---", "* * *", "-- signed",
    ],
)  # fmt: skip
def test_what_is_no_heading_cuts_nothing(line: str) -> None:
    assert headings(f"{BODY}\n\n{line}\n\n{BODY}") == [()]


def test_front_matter_is_no_heading() -> None:
    text = f"---\ntitle: Boats\ntags: sea\n---\n{BODY}\n"
    assert chunk(text) == [Chunk(0, len(text) - 1)]


def test_windows_line_ends_change_nothing() -> None:
    text = f"# Guide\n\n{BODY}\n\nBoats\n-----\n{BODY}\n\n```\n# x\n```\n"
    assert (
        headings(text.replace("\n", "\r\n")) == headings(text) == [("Guide",), ("Guide", "Boats")]
    )


def test_a_long_title_is_bounded() -> None:
    (title,) = headings(f"# {'very ' * 100}\n{BODY}")[0]
    assert len(title) == 200


# ── small sections ───────────────────────────────────────────────────────────────────────────


def test_a_title_alone_joins_its_first_section() -> None:
    assert headings(f"# Guide\n\n## Boats\n\n{BODY}") == [("Guide", "Boats")]


def test_small_sections_join_the_next_under_the_same_parent() -> None:
    text = f"# Guide\n\n{BODY}\n\n## A\n\nyes\n\n## B\n\nno\n\n## C\n\n{BODY}"
    assert headings(text) == [("Guide",), ("Guide",)]
    assert passages(text)[1].startswith("## A")


def test_a_small_section_does_not_join_a_sibling_too_long_for_one_passage() -> None:
    assert headings(f"# Guide\n\n{BODY}\n\n## A\n\nyes\n\n## B\n\n{LONG}")[:3] == [
        ("Guide",),
        ("Guide", "A"),
        ("Guide", "B"),
    ]


def test_a_small_section_does_not_join_one_of_another_parent() -> None:
    text = f"# One\n\n{BODY}\n\n## A\n\nyes\n\n# Two\n\n{BODY}"
    assert headings(text) == [("One",), ("One", "A"), ("Two",)]


# ── fences, tables, paragraphs ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mark", ["```", "~~~", "`````"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_fence_larger_than_the_target_stays_whole(mark: str, newline: str) -> None:
    fence = newline.join([f"{mark}py", *["# a comment, not a heading"] * 40, mark])
    assert count_tokens(fence) > 128
    found = passages(f"{LONG}{newline}{newline}{fence}{newline}{newline}{LONG}", tokens_max=128)
    assert [p for p in found if mark in p] == [fence]


def test_a_fence_is_closed_only_by_one_as_long() -> None:
    fence = "````\n```\n# not a heading\n```\n# nor this\n````"
    assert headings(f"{BODY}\n\n{fence}\n\n# Title\n\n{BODY}") == [(), ("Title",)]


def test_a_few_words_before_a_large_fence_stay_with_it() -> None:
    fence = "```\n" + "call(me)\n" * 60 + "```"
    assert f"## Use\n\nLike this:\n\n{fence}" in passages(
        f"# Guide\n\n{LONG}\n\n## Use\n\nLike this:\n\n{fence}\n\n{LONG}", tokens_max=128
    )


def test_a_fence_beyond_the_hard_maximum_is_cut_at_lines() -> None:
    lines = [f"value_{n} = compute({n})" for n in range(400)]
    found = passages("\n".join(["```", *lines, "```"]), tokens_max=64)
    assert [line for p in found for line in p.split("\n")] == ["```", *lines, "```"]
    assert all(count_tokens(p) <= 64 for p in found)


def test_a_fence_in_a_quote_or_a_list_is_a_fence() -> None:
    for prefix in ("> ", "  ", "- "):
        inner = prefix if prefix != "- " else "  "
        fence = "\n".join([f"{prefix}```", *[f"{inner}# x = compute(1)"] * 30, f"{inner}```"])
        assert any(fence in p for p in passages(f"{LONG}\n\n{fence}\n\n{LONG}", tokens_max=100))


def test_an_unclosed_fence_does_not_swallow_the_headings_below_it() -> None:
    assert headings(f"# A\n\n```\n{BODY}\n\n# B\n\n{BODY}") == [("A",), ("B",)]


def test_a_table_stays_whole() -> None:
    table = "| name | size |\n| --- | ---: |\n" + "| harbour | 12 |\n" * 40
    assert count_tokens(table) > 128
    found = passages(f"{LONG}\n\n{table}\n{LONG}", tokens_max=128)
    assert [p for p in found if "|" in p] == [table.rstrip()]


def test_a_paragraph_that_fits_is_not_cut() -> None:
    paragraphs = [f"{BODY} {BODY} Number {n}." for n in range(30)]
    found = passages("\n\n".join(paragraphs), tokens_max=128)
    assert all(any(paragraph in p for p in found) for paragraph in paragraphs)
    assert len(found) > 10


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    assert all(p.endswith("seven.") for p in passages(LONG, tokens_max=100))


# ── token estimate ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("word" * 10, 10), ("漢字", 2), ("1234", 2), ("ééé", 2), ("{}()", 4),
     ("привет", 6), ("😀", 1), ("\ud800", 1)],
)  # fmt: skip
def test_the_estimate_of_tokens(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


# ── cost ─────────────────────────────────────────────────────────────────────────────────────


def test_a_short_note_loads_nothing_more() -> None:
    code = (
        "import sys; from holdfast.text.chunking import chunk; before = set(sys.modules);"
        "chunk('I had lunch with Ana at the harbour. ' * 12);"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == "[]\n"


HARD = {
    "one line": "word " * 100_000,
    "one word": "x" * 150_000,
    "no spaces": "漢字" * 50_000,
    "open fences": "```a\n" * 50_000,
    "fences closed too short": "````a\n```b\n```\n" * 10_000,
    "fences of falling length": "".join("`" * n + "x\n" for n in range(900, 3, -1)),
    "headings": "# a\n\n" * 30_000,
    "short lines": "a b\n" * 50_000,
    "pipes": "|---|\n" * 30_000,
    "dashes": "--\n" * 50_000,
    "colons": "Ana: a\n" * 30_000,
    "brackets": "[" * 50_000,
    "spaces": "a" + " " * 150_000 + "b",
    "stars": "*" * 100_000,
    "hashes": "#" * 100_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("content_type", ["text", "chat", "code"])
def test_time_grows_with_the_length_and_no_faster(name: str, content_type: str) -> None:
    def act(text: str) -> None:
        chunk(text, content_type=content_type)

    text = HARD[name]
    # Four times the text; quadratic would be sixteen.
    quarter = text[: len(text) // 4]
    assert_time_grows(act, quarter, text, allowed_s=lambda quarter_s: 8 * quarter_s + 0.12)
