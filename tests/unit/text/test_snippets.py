"""Snippets: never too long, and what is sought is in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.analysis.spans import snippet, span_of
from holdfast.text.analysis.terms import trigram_text

FILLER = "word " * 300


@pytest.mark.parametrize(
    ("text", "sought", "found"),
    [
        ("short needle text", "needle", "short needle text"),
        ("needle " + FILLER, "NEEDLE", "needle word"),
        (FILLER + "needle", "needle", "word needle"),
        (FILLER + "the needle in it " + FILLER, "needle", "word the needle in it word"),
        (FILLER + "the Café de  Flore " + FILLER, "cafe de flore", "the Café de  Flore word"),
        ("İ" * 600 + " İstanbul " + FILLER, "istanbul", "İ İstanbul word"),
        (FILLER, "absent", "word word"),
    ],
)
def test_what_is_sought_is_in_the_snippet(text: str, sought: str, found: str) -> None:
    out = snippet(text, sought, 100)
    assert len(out) <= 100
    assert found in out


def test_what_is_left_out_is_marked() -> None:
    text = FILLER + "needle" + FILLER
    assert snippet("needle" + FILLER, "needle", 50).endswith("…")
    assert snippet(FILLER + "needle", "needle", 50).startswith("…")
    middle = snippet(text, "needle", 50)
    assert (middle[0], middle[-1], len(middle)) == ("…", "…", 50)


@given(st.text(max_size=60), st.text(max_size=200), st.text(min_size=1, max_size=10))
def test_a_snippet_holds_what_its_text_holds(front: str, back: str, sought: str) -> None:
    text = f"{front} {sought} {back}"
    out = snippet(text, sought, 120)
    assert len(out) <= 120
    start, end = span_of(text, sought)
    assert trigram_text(sought) in trigram_text(text[start:end])


@given(st.text(alphabet="ab ", min_size=1, max_size=9), st.integers(0, 400))
def test_a_plain_match_is_never_cut_off(sought: str, before: int) -> None:
    sought = f"x{sought}x"
    text = "." * before + sought + "." * 300
    assert sought in snippet(text, sought, 60)
