"""What steers a terminal or hides data is removed from new text, and escaped in output."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.clean import (
    clean_text,
    printable,
    printable_line,
    without_controls,
    without_hidden,
)

STEERING = [
    *(chr(code) for code in range(1, 0x20) if chr(code) not in "\t\n"),
    *map(chr, range(0x7F, 0xA0)),
    *"\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
]
CARRIERS = [
    *map(chr, range(0xE0000, 0xE0080)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
]
hostile = st.text(
    st.one_of(st.characters(), st.sampled_from([*STEERING, *CARRIERS, "[", "]", "\x1b"]))
)


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("a \x1b[31mred\x1b[0m word", "a red word"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x1bPdevice\x1b\\x", "x"),
        ("\x1b(Bx\x1bcy", "xy"),
        ("bell\x07 back\x08space", "bell backspace"),
        ("over\rwritten", "over\nwritten"),
        ("windows\r\nline", "windows\r\nline"),
        ("page\x0cbreak\x0bhere\x85and\u2028and\u2029and", "page\nbreak\nhere\nand\nand\nand"),
        ("\u202etxet\u202c and \u2066isolated\u2069", "txet and isolated"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\u200fשלום\u200f", "\u200fשלום\u200f"),
        ("an unfinished \x1b[", "an unfinished "),
        ("\x1b]0;no end\nnext line", "0;no end\nnext line"),
    ],
)
def test_controls_are_removed_and_words_stay(given_text: str, kept: str) -> None:
    assert without_controls(given_text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "I love it ❤️ and ☕️",
        "Scotland \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "Keycaps 1️⃣ #️⃣ *️⃣",
        "Text style ☎︎",
        "Family 👨\u200d👩\u200d👧 and 🏳️\u200d🌈 and 🏴\u200d☠️",
        "Skin 👍🏽 and ✌🏽️",
        "The name 葛\U000e0100飾 and 辻\U000e0101",
        "∩\ufe00 is a variant of an operator",
        "می\u200cخواهم",
        "Arrows ↔️ ⁉️ ‼️ ℹ️ 〰️ ©️ ™️",
    ],
)
def test_characters_of_emoji_and_ideographs_stay(text: str) -> None:
    assert clean_text(text) is text


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("Nice" + "".join(chr(0xE0000 + ord(c)) for c in "obey") + " day", "Nice day"),
        ("😀" + "".join(chr(0xE0100 + b) for b in b"obey"), "😀"),
        ("😀\ufe0f\ufe01\ufe02", "😀\ufe0f"),
        ("a\ufe0fb\ufe0f", "ab"),
        ("葛\U000e0100\U000e0101", "葛\U000e0100"),
        ("🏴\U000e0067\U000e0062", "🏴"),
        ("x" + "\u200b\u200c" * 8 + "y", "xy"),
    ],
)
def test_hidden_characters_are_removed(given_text: str, kept: str) -> None:
    assert without_hidden(given_text) == kept


@given(hostile)
def test_nothing_that_steers_is_left_and_cleaning_twice_changes_nothing(text: str) -> None:
    cleaned = clean_text(text)
    assert not set(cleaned) & set(STEERING) - {"\r"}
    assert "\r" not in cleaned.replace("\r\n", "")
    assert clean_text(cleaned) is cleaned


@given(hostile)
def test_only_controls_and_carriers_are_ever_removed(text: str) -> None:
    """Letters outside escape sequences stay, in their order."""
    plain = text.replace("\x1b", "").translate(dict.fromkeys(range(0x80, 0xA0)))
    kept = [char for char in plain if unicodedata.category(char)[0] in "LN"]
    assert [char for char in clean_text(plain) if unicodedata.category(char)[0] in "LN"] == kept


@given(hostile)
def test_printed_text_steers_nothing(text: str) -> None:
    assert not set(printable(text)) & set(STEERING)
    line = printable_line(text)
    assert not set(line) & {*STEERING, "\n", "\t"}


@given(st.text(st.sampled_from("ab\\\x1b\r\n\t\x07[")))
def test_a_printed_line_loses_nothing(text: str) -> None:
    assert printable_line(text).encode().decode("unicode_escape") == text


@pytest.mark.parametrize(
    "unit",
    ["\x1b[", "\x1b]", "\x1b]0;", "\x9d", "\x1b[0;", "\ufe0f", "\u200b", "\U0001f3f4\U000e0061"],
)
def test_a_hostile_text_is_cleaned_in_bounded_time(unit: str) -> None:
    # No clock: quadratic time would be felt at this length.
    clean_text(unit * (200_000 // len(unit)))
