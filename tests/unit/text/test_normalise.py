"""What is let in, in which form, and the sentences that turn the rest away."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidInput
from holdfast.text.clean import (
    clean_category,
    clean_content,
    clean_hub_name,
    clean_key,
    clean_tags,
    clean_time,
    content_hash,
    one_of,
)

# ── content ──


@pytest.mark.parametrize(
    "text",
    [
        "Prefers tabs",
        "  indented\r\nlines\tand tabs  \n",
        "\x1b[31mred\x1b[0m and a bell \x07",
        "مرحبا \u202eright to left\u202c",
        "zero\u200bwidth",
        "🎉",
        "e\u0301",
        "x" * 3_000_000,
    ],
)
def test_content_is_kept_to_the_letter(text: str) -> None:
    assert clean_content(text) is text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The content is empty."),
        (" \t\r\n\u00a0\u3000", "The content is empty."),
        ("\u200b\u2060\x07", "The content is empty."),
        ("ab\0c", "NUL character at position 2"),
        ("ab\ud83dc", r"lone surrogate \(U\+D83D\) at position 2"),
        ("x" * 3_000_001, "has 3,000,001 bytes; at most 3,000,000"),
        ("é" * 1_500_001, "has 3,000,002 bytes; at most 3,000,000"),
        (b"bytes", "must be text, not bytes"),
        (None, "must be text, not NoneType"),
        (12, "must be text, not int"),
    ],
)
def test_content_that_cannot_be_kept_is_refused_with_a_reason(text: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence) as raised:
        clean_content(text)
    assert raised.value.hint


def test_the_bound_on_content_can_be_set() -> None:
    assert clean_content("é" * 5, bytes_max=10)
    with pytest.raises(InvalidInput, match="11 bytes; at most 10"):
        clean_content("é" * 5 + "x", bytes_max=10)


@pytest.mark.parametrize(
    "other", ["Café\nau lait", "Cafe\u0301\r\nau lait", "\n  Café\rau lait \n"]
)
def test_a_trivial_resave_has_the_same_hash(other: str) -> None:
    assert content_hash(other) == content_hash("Café\nau lait")


@pytest.mark.parametrize("other", ["café\nau lait", "Café au lait", "Café\n\nau lait", "Cafe"])
def test_a_change_a_reader_sees_changes_the_hash(other: str) -> None:
    assert content_hash(other) != content_hash("Café\nau lait")


def test_the_hash_is_sha_256_in_hexadecimal() -> None:
    assert content_hash("abc").startswith("ba7816bf8f01cfea")
    assert len(content_hash("\ud800")) == 64


# ── keys and hub names ──


@pytest.mark.parametrize(
    "key",
    [
        "user-name",
        "user_name",
        "user.name",
        "project:db",
        "favourite colour",
        "conversation-2026-05-27-standup",
        "überschrift",
        "咖啡",
        "हिंदी",
        "k" * 200,
        ".hidden",
        "user/name",
        "../etc/passwd",
        "a\\b",
        "what?",
        "o'brien@example.org",
        '"quoted" 100%_',
        "🎉",
        "-rf",
        "12.5",
        "memo_1",
    ],
)
def test_a_key_of_any_characters_that_can_be_seen_is_kept(key: str) -> None:
    assert clean_key(key) == key


def test_a_key_is_trimmed_and_composed() -> None:
    assert clean_key("  cafe\u0301\n") == "café"


@pytest.mark.parametrize(
    ("key", "sentence", "suggested"),
    [
        ("", "The key is empty", None),
        (" \n", "The key is empty", None),
        ("12", "number or id", "key-12"),
        ("#12", "number or id", "key-12"),
        ("mem_x", "number or id", "key-x"),
        ("a\nb", r"invisible character \(U\+000A\) at position 1", None),
        ("a\u200bb", r"invisible character \(U\+200B\)", None),
        ("a\u202eb", r"invisible character \(U\+202E\)", None),
        ("a\0b", "NUL", None),
        ("a\ud800", "lone surrogate", None),
        ("k" * 201, "201 characters; at most 200", None),
        (7, "must be text, not int", None),
    ],
)
def test_a_bad_key_is_refused_with_a_way_out(
    key: Any, sentence: str, suggested: str | None
) -> None:
    with pytest.raises(InvalidInput, match=sentence) as raised:
        clean_key(key)
    assert raised.value.hint
    if suggested:
        assert f"Try {suggested!r}." in raised.value.hint
        assert clean_key(suggested) == suggested


@pytest.mark.parametrize(
    "name",
    ["work", "Work", "my-hub_2", "v1.2", "大阪", "équipe", "_", "7", "n" * 63, "𐐨" * 63, "console"],
)
def test_a_good_hub_name_is_kept(name: str) -> None:
    assert clean_hub_name(name) == name


@pytest.mark.parametrize(
    ("name", "sentence", "suggested"),
    [
        ("", "hub name is empty", None),
        ("team/one", "a slash", "team-one"),
        ("team\\one", "a backslash", "team-one"),
        ("..", "two dots", None),
        ("../up", "a slash", "up"),
        (".git", "starts with", "git"),
        ("-rf", "starts with", "rf"),
        ("end.", "ends with", "end"),
        ("a..b", "two dots", "a.b"),
        ("my hub", "a space", "my-hub"),
        ("a:b", "the character ':'", "a-b"),
        ("con", "reserved on Windows", "con-hub"),
        ("NUL.txt", "reserved on Windows", "NUL-hub"),
        ("Lpt1", "reserved on Windows", "Lpt1-hub"),
        ("n" * 64, "64 characters; at most 63", None),
        ("🎉", "the character", None),
        (None, "must be text", None),
    ],
)
def test_a_bad_hub_name_is_refused_with_a_way_out(
    name: Any, sentence: str, suggested: str | None
) -> None:
    with pytest.raises(InvalidInput, match=sentence) as raised:
        clean_hub_name(name)
    assert raised.value.hint
    if suggested:
        assert f"Try {suggested!r}." in raised.value.hint
        assert clean_hub_name(suggested) == suggested


@given(st.text(max_size=80))
def test_a_name_that_passes_is_safe_as_one_folder(name: str) -> None:
    try:
        clean = clean_hub_name(name)
    except InvalidInput as refused:
        assert refused.hint
        return
    assert clean == clean_hub_name(clean) == unicodedata.normalize("NFC", clean)
    assert clean not in (".", "..")
    assert not set(clean) & set('/\\:*?"<>|\0')
    assert len(clean.encode()) <= 255


# ── labels ──


def test_tags_are_lowered_trimmed_and_told_once() -> None:
    assert clean_tags([" Work ", "#work", "Side  Project", "", "été", "area/home"]) == (
        "work",
        "side project",
        "été",
        "area/home",
    )


@pytest.mark.parametrize(
    ("tags", "sentence"),
    [
        ("work", "must be a list"),
        ([f"t{i}" for i in range(33)], "33 tags; at most 32"),
        (["x" * 65], "65 characters; at most 64"),
        (["a, b"], "has the character ',', which is not allowed there. Try 'a-b'."),
        ([3], "must be text"),
        (["a\0"], "NUL"),
    ],
)
def test_bad_tags_are_refused(tags: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        clean_tags(tags)


def test_a_category_is_any_label_in_lower_case() -> None:
    assert clean_category(" Preference ") == "preference"
    assert clean_category("Meine Notizen") == "meine notizen"
    for bad in ("", "a/b", "x" * 65, "a\nb"):
        with pytest.raises(InvalidInput):
            clean_category(bad)


# ── closed lists and times ──

KINDS = ("episodic", "semantic", "procedural", "rationale")


def test_a_value_of_a_closed_list_is_found_in_any_case() -> None:
    assert one_of(" Semantic", KINDS, "kind") == "semantic"


def test_an_unknown_value_is_answered_with_the_nearest_and_the_list() -> None:
    with pytest.raises(InvalidInput) as raised:
        one_of("semantics", KINDS, "kind")
    assert str(raised.value) == (
        "'semantics' is not a valid kind. Did you mean 'semantic'? "
        "Valid are: episodic, semantic, procedural, rationale."
    )
    with pytest.raises(InvalidInput, match=r"^'zzz' is not a valid kind\. Valid are: epi"):
        one_of("zzz", KINDS, "kind")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("2026-05-27T14:30:00+02:00", datetime(2026, 5, 27, 12, 30, tzinfo=UTC)),
        (" 2026-05-27T12:30:00Z ", datetime(2026, 5, 27, 12, 30, tzinfo=UTC)),
        (
            datetime(2026, 5, 27, 1, tzinfo=timezone(timedelta(hours=2))),
            datetime(2026, 5, 26, 23, tzinfo=UTC),
        ),
    ],
)
def test_a_time_with_a_zone_becomes_utc(value: Any, expected: datetime | None) -> None:
    cleaned = clean_time(value)
    assert cleaned == expected
    assert cleaned is None or cleaned.tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (datetime(2026, 5, 27), "Add a zone"),  # noqa: DTZ001 - the missing zone is the point
        ("2026-05-27T12:30:00", "Add a zone"),
        ("2026-05-27", "Add a zone"),
        ("2026-02-30T00:00:00Z", "not a date and time that exists"),
        ("yesterday", "not a date and time that exists"),
        ("", "not a date and time that exists"),
        ("0001-01-01T00:00:00+14:00", "outside the years"),
        (1_700_000_000, "must be a datetime or text, not int"),
    ],
)
def test_a_time_that_is_unclear_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        clean_time(value)
