"""The bound on tokens: checked against a byte-pair tokenizer with as few merges as it allows for,
against the bundled WordPiece vocabulary, and against every way of cutting a word."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engine.context.budget import _PAIRS, _word_at_most, tokens_at_most
from holdfast.text.chunking import count_tokens


def poorest_bpe(text: str) -> int:
    """Greedy merges of the promised pairs only, each used as soon as it can be: the worst
    tokenizer that keeps the promises."""
    pieces = [bytes([byte]) for byte in text.encode()]
    at = 0
    while at < len(pieces) - 1:
        left, right = pieces[at], pieces[at + 1]
        letters = len(left) == len(right) == 1 and right.isalpha()
        if letters and (left == b" " or right.decode() in _PAIRS.get(left.decode("latin-1"), "")):
            pieces[at : at + 2] = [left + right]
        at += 1
    return len(pieces)


def without_common_words(text: str) -> str:
    """Common words count as one token, and the poorest of all tokenizers does not know them."""
    return text.replace(" ", " q")


def cuts(word: str) -> list[list[str]]:
    """Every way to cut a word into pieces."""
    ways = []
    for ends in product([True, False], repeat=len(word) - 1):
        pieces, start = [], 0
        for at, end in enumerate(ends, 1):
            if end:
                pieces.append(word[start:at])
                start = at
        ways.append([*pieces, word[start:]])
    return ways


def allowed(pieces: list[str]) -> bool:
    """Whether no two letters that merge stand alone side by side; ^ is the space before."""
    for left, right in pairwise(pieces):
        if len(left) == len(right) == 1 and (left == "^" or right in _PAIRS.get(left, "")):
            return False
    return True


@pytest.mark.parametrize("word", ["a", "q", "the", "qzxj", "banana", "strength", "Holdfast", "iOS"])
def test_the_bound_of_a_word_is_the_most_pieces_it_can_fall_into(word: str) -> None:
    most = max(len(pieces) for pieces in cuts("^" + word) if allowed(pieces))
    assert _word_at_most(word) == most


@settings(max_examples=150)
@given(st.text(max_size=200) | st.text("abcdefghijklmnopqrstuvwxyzXYZ 019.-\n", max_size=200))
def test_no_text_has_more_tokens_than_the_bound(text: str) -> None:
    text = without_common_words(text.encode("utf-8", "ignore").decode())
    assert poorest_bpe(text) <= tokens_at_most(text)


@pytest.mark.parametrize(
    "text",
    [
        "a3f9c2b1d4e5f60718293a4b5c6d7e8f",
        "SGVsbG8gd29ybGQhIFRoaXMgaXMgYmFzZTY0IQ==",
        "def f(x):\n    return {k: v for k, v in x.items() if v is not None}",
        "日本語のテキスト и русский текст ٣ नमस्ते 👩‍👩‍👧",
        "qzxjvkwb " * 20,
        "𝄞" * 50,
    ],
)
def test_code_hex_and_other_scripts_are_not_undershot(text: str) -> None:
    assert tokens_at_most(text) >= count_tokens(text)
    text = without_common_words(text)
    assert tokens_at_most(text) >= poorest_bpe(text)


def test_prose_is_bounded_far_below_its_characters() -> None:
    prose = "She moved to the harbour in May and has been painting boats there every morning. " * 20
    assert tokens_at_most(prose) < len(prose) * 0.65


def test_the_bundled_word_pieces_stay_below_the_bound() -> None:
    model = pytest.importorskip("holdfast_embed_s")
    from pathlib import Path

    from holdfast.embed.onnx import read_vocabulary

    folder = Path(model.__file__).parent / "data"
    tokenizer = read_vocabulary(str(folder / "vocab.txt"))
    for path in sorted(Path(__file__).parent.glob("*.py"))[:6]:
        text = path.read_text(encoding="utf-8")[:20_000]
        assert len(tokenizer.encode(text, tokens_max=10**6)) <= tokens_at_most(text) + 2
