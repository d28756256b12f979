"""Texts to token numbers, as uncased BERT models expect them."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.embed.onnx import WordPiece, read_vocabulary, split_words
from holdfast.errors import EmbedderError

TINY = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "##a", "cat", ","])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("snake_case a+b", ["snake", "_", "case", "a", "+", "b"]),
        ("é $5+x^`y`", ["e", "$", "5", "+", "x", "^", "`", "y", "`"]),
        ("Café ZOË", ["cafe", "zoe"]),
        ("e\u0301te\u0301", ["ete"]),
        ("東京 tower", ["東", "京", "tower"]),
        ("ひらがな", ["ひらかな"]),
        ("ΟΔΟΣ", ["οδοσ"]),
        ("İstanbul", ["istanbul"]),
        ("¿qué? — «sí»", ["¿", "que", "?", "—", "«", "si", "»"]),
        ("a\u00adb\u200bc\ufffdd", ["abcd"]),
        ("a\x00b\x07c\x0bd", ["abcd"]),
        ("é\x00b\x07c\x0bd", ["ebcd"]),
        ("one\ttwo\nthree\rfour", ["one", "two", "three", "four"]),
        ("é\u00a0x\u3000y\u2028z", ["e", "x", "y", "z"]),
        ("half \ud800 pair", ["half", "pair"]),
        (" \t\n ", []),
        ("", []),
    ],
)
def test_words_are_lower_plain_and_apart_from_punctuation(text: str, words: list[str]) -> None:
    assert list(split_words(text)) == words


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("cat, cat", [2, 8, 9, 8, 3]),
        ("unaffable", [2, 4, 5, 6, 3]),
        ("unaffablex", [2, 1, 3]),
        ("dog", [2, 1, 3]),
        ("", [2, 3]),
        ("[SEP] [CLS]", [2, 1, 1, 1, 1, 1, 1, 3]),
    ],
)
def test_a_word_becomes_its_longest_pieces_or_unknown(text: str, ids: list[int]) -> None:
    assert TINY.encode(text, 512) == ids


def test_a_word_of_over_100_letters_is_unknown() -> None:
    assert TINY.encode("un" + "a" * 98, 512) == [2, 4, *[7] * 98, 3]
    assert TINY.encode("un" + "a" * 99, 512) == [2, 1, 3]


def test_a_long_text_is_cut_to_the_limit_with_its_end_mark() -> None:
    ids = TINY.encode("cat " * 1000, 16)
    assert ids == [2, *[8] * 14, 3]


@given(st.text(), st.integers(2, 40))
def test_any_text_at_all_gives_known_numbers_within_the_limit(text: str, tokens_max: int) -> None:
    ids = TINY.encode(text, tokens_max)
    assert ids[0] == 2
    assert ids[-1] == 3
    assert len(ids) <= tokens_max
    assert all(0 <= number < len(TINY) for number in ids)


def test_a_vocabulary_without_its_control_tokens_is_refused() -> None:
    with pytest.raises(EmbedderError, match=r"no token \[UNK\]"):
        WordPiece(["a", "b"])
    with pytest.raises(EmbedderError, match=r"no token \[CLS\]"):
        WordPiece(["[UNK]", "a"]).encode("a", 8)


# What the `tokenizers` package gives for the bundled vocabulary.
IDS: tuple[tuple[str, list[int]], ...] = (
    ("", [101, 102]),
    ("Hello, World!", [101, 7592, 1010, 2088, 999, 102]),
    (
        "don't panic: it's 42.5% done",
        [101, 2123, 1005, 1056, 6634, 1024, 2009, 1005, 1055, 4413, 1012, 1019, 1003, 2589, 102],
    ),
    (
        "getUserById(user_id) != null",
        [101, 2131, 20330, 3762, 3593, 1006, 5310, 1035, 8909, 1007, 999, 1027, 19701, 102],
    ),
    ("Café déjà vu, naïve Zoë", [101, 7668, 2139, 3900, 24728, 1010, 15743, 11199, 102]),
    ("東京都に行きました", [101, 1879, 1755, 1961, 1668, 1945, 1652, 30203, 30183, 30187, 102]),
    ("İstanbul'da ışık", [101, 9960, 1005, 4830, 1104, 2015, 11722, 2243, 102]),
    ("Straße in Österreich", [101, 2358, 27807, 1999, 9808, 3334, 2890, 7033, 102]),
    (
        "Σίσυφος ΟΔΟΣ",
        [101, 1173, 18199, 29733, 29735, 29736, 15297, 1169, 29722, 29730, 29733, 102],
    ),
    ("Привет, мир", [101, 1194, 16856, 10325, 25529, 15290, 22919, 1010, 1191, 10325, 16856, 102]),
    ("a\xadb\u200bc\ufffdd\x00e\x07f", [101, 5925, 3207, 2546, 102]),
    (
        "tab\tnew\nline\xa0nbsp\u3000wide\u2028ls",
        [101, 21628, 2047, 2240, 1050, 5910, 2361, 2898, 1048, 2015, 102],
    ),
    (
        "the <b>&amp;</b> $5 + ~3 ^ `x`",
        [
            101,
            1996,
            1026,
            1038,
            1028,
            1004,
            23713,
            1025,
            1026,
            1013,
            1038,
            1028,
            1002,
            1019,
            1009,
            1066,
            1017,
            1034,
            1036,
            1060,
            1036,
            102,
        ],
    ),
    (
        "unaffable antidisestablishmentarianism",
        [101, 14477, 20961, 3468, 3424, 10521, 4355, 7875, 13602, 3672, 12199, 2964, 102],
    ),
    (
        "한국어 문장",
        [
            101,
            1469,
            30006,
            30021,
            29991,
            30014,
            30020,
            29999,
            30008,
            1459,
            30014,
            30021,
            30000,
            30006,
            30025,
            102,
        ],
    ),
    (
        "مرحبا بالعالم",
        [
            101,
            1295,
            17149,
            29820,
            29816,
            25573,
            1271,
            25573,
            23673,
            29830,
            25573,
            23673,
            22192,
            102,
        ],
    ),
    ("สวัสดีชาวโลก", [101, 100, 102]),
    ("\U0001f389 party \U0001f469\u200d\U0001f469\u200d\U0001f467", [101, 100, 2283, 100, 102]),
    (
        "https://example.org/v2?x=1&y=%20",
        [
            101,
            16770,
            1024,
            1013,
            1013,
            2742,
            1012,
            8917,
            1013,
            1058,
            2475,
            1029,
            1060,
            1027,
            1015,
            1004,
            1061,
            1027,
            1003,
            2322,
            102,
        ],
    ),
    ("x" * 100 + " " + "y" * 101, [101, 22038, *[20348] * 49, 100, 102]),
    ("“quoted” — dash… ¿qué?", [101, 1523, 9339, 1524, 1517, 11454, 1529, 1094, 10861, 1029, 102]),
    ("e\u0301 e\u0300", [101, 1041, 1041, 102]),
    (
        "snake_case kebab-case CamelCase",
        [101, 7488, 1035, 2553, 17710, 3676, 2497, 1011, 2553, 19130, 18382, 102],
    ),
)


@pytest.mark.parametrize(("text", "ids"), IDS)
def test_the_bundled_vocabulary_gives_the_reference_ids(
    model_folder: str, text: str, ids: list[int]
) -> None:
    words = read_vocabulary(os.path.join(model_folder, "vocab.txt"))
    assert words.encode(text, 512) == ids
