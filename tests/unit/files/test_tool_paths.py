"""Paths as an agent writes them: which are taken, and which are refused with a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidInput
from holdfast.files.tool_files import DEPTH_MAX, ToolPath, parse


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/memories", ()),
        ("/memories/", ()),
        ("/memories/notes.md", ("notes.md",)),
        ("/memories/notes/", ("notes",)),
        ("/memories/a/b/c.txt", ("a", "b", "c.txt")),
        ("/memories/Tea & cake (2).md", ("Tea & cake (2).md",)),
        ("/memories/茶/お茶.md", ("茶", "お茶.md")),
        ("/memories/v1..2.md", ("v1..2.md",)),
        ("/memories/100%.md", ("100%.md",)),
        ("/memories/console.md", ("console.md",)),
        ("/memories/½.md", ("½.md",)),
    ],
)
def test_a_plain_path_becomes_its_names(path: str, names: tuple[str, ...]) -> None:
    assert parse(path) == ToolPath(path.removesuffix("/"), names)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "notes.md",
        "/",
        "/etc/passwd",
        "/Memories/a",
        "/MEMORIES",
        "/memoriesX/a",
        "memories/a",
        "//memories/a",
        " /memories/a",
        "C:\\memories\\a",
        "file:///memories/a",
        "~/memories",
    ],
)
def test_a_path_outside_of_memories_is_refused_in_the_tools_own_words(path: str) -> None:
    with pytest.raises(InvalidInput, match=r"^Path must start with /memories, got: "):
        parse(path)


@pytest.mark.parametrize(
    "path",
    [
        "/memories/..",
        "/memories/../etc/passwd",
        "/memories/a/../../b",
        "/memories/./a",
        "/memories/a/..",
    ],
)
def test_a_path_that_climbs_is_refused_in_the_tools_own_words(path: str) -> None:
    with pytest.raises(InvalidInput, match=r"would escape /memories directory$"):
        parse(path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/memories//etc/passwd", "two slashes"),
        ("/memories/a//", "two slashes"),
        ("/memories/%2e%2e/a", "percent-encoded"),
        ("/memories/%2E%2E%2Fa", "percent-encoded"),
        ("/memories/..%2fa", "percent-encoded"),
        ("/memories/%252e%252e", "percent-encoded"),
        ("/memories/a%00.md", "percent-encoded"),
        ("/memories/..\\a", "backslash"),
        ("/memories/a\\..\\..\\b", "backslash"),
        ("/memories/a\0.md", "invisible character (U+0000)"),
        ("/memories/a\n.md", "invisible character (U+000A)"),
        ("/memories/a\u200b.md", "invisible character (U+200B)"),
        ("/memories/\u202egpj.md", "invisible character (U+202E)"),
        ("/memories/a\ud800.md", "invisible character (U+D800)"),
        ("/memories/\uff0e\uff0e/a", "looks like a dot or a slash (U+FF0E)"),
        ("/memories/\u2024\u2024/a", "looks like a dot or a slash (U+2024)"),
        ("/memories/\u2025/a", "looks like a dot or a slash (U+2025)"),
        ("/memories/a\uff0fb", "looks like a dot or a slash (U+FF0F)"),
        ("/memories/a\u2215b", "looks like a dot or a slash (U+2215)"),
        ("/memories/a\u2044b", "looks like a dot or a slash (U+2044)"),
        ("/memories/a\uff3cb", "looks like a dot or a slash (U+FF3C)"),
        ("/memories/.env", "hidden files"),
        ("/memories/.git/config", "hidden files"),
        ("/memories/.partial-1-00", "hidden files"),
        ("/memories/...", "hidden files"),
        ("/memories/ a.md", "begins or ends with a space"),
        ("/memories/a.md ", "begins or ends with a space"),
        ("/memories/a./b", "ends with a dot"),
        ("/memories/CON", "device on Windows"),
        ("/memories/nul.txt", "device on Windows"),
        ("/memories/a/Com1.md", "device on Windows"),
        ("/memories/a:b", "the character :"),
        ("/memories/a.md::$DATA", "the character :"),
        ("/memories/what?.md", "the character ?"),
        ("/memories/node_modules/a.js", "node_modules"),
        ("/memories/Node_Modules/a.js", "node_modules"),
        ("/memories/" + "a" * 256, "more than 255 bytes"),
        ("/memories/" + "é" * 128, "more than 255 bytes"),
        ("/memories/" + "a/" * DEPTH_MAX + "b", "more than 16 levels"),
        ("/memories/" + "abc/" * 400, "more than 1,000 characters"),
    ],
)
def test_an_unsafe_path_is_refused_with_the_reason(path: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(path)
    assert refused.value.message.startswith("The path /memories/")
    assert reason in refused.value.message
    assert refused.value.hint
    assert str(refused.value).isprintable()


def test_a_refusal_does_not_carry_a_huge_path_back() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse("/memories/" + "a" * 10_000_000)
    assert len(str(refused.value)) < 500


@given(st.text(max_size=60))
def test_whatever_follows_memories_is_refused_or_stays_below_it(rest: str) -> None:
    try:
        names = parse(f"/memories/{rest}").names
    except InvalidInput:
        return
    for name in names:
        assert name not in ("", ".", "..")
        assert not set(name) & set("/\\\0")
        assert not name.startswith(".")
