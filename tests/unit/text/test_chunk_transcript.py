"""Passages of conversations: one per turn, with who spoke and when."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from holdfast.text.chunking import chunk, count_tokens

AT = datetime(2026, 5, 1, 10, 32, tzinfo=UTC)


def turns(text: str, content_type: str = "chat", **options: int) -> list[tuple[str, str]]:
    return [
        (c.speaker, text[c.start : c.end])
        for c in chunk(text, content_type=content_type, **options)
    ]


@pytest.mark.parametrize(
    ("line", "speaker", "at"),
    [
        ("Ana: hello", "Ana", None),
        ("Ana Maria Lopez: hello", "Ana Maria Lopez", None),
        ("Ludwig van Beethoven: hello", "Ludwig van Beethoven", None),
        ("Dr. O'Neil-Smith: hello", "Dr. O'Neil-Smith", None),
        ("user: hello", "user", None),
        ("Assistant: hello", "Assistant", None),
        ("安娜: 你好", "安娜", None),
        ("[10:32] Ana: hello", "Ana", None),
        ("10:32 Ana: hello", "Ana", None),
        ("[10:32:05 AM] Ana: hello", "Ana", None),
        ("**Ana**: hello", "Ana", None),
        ("**Ana:** hello", "Ana", None),
        ("2026-05-01 10:32 Ana: hello", "Ana", AT),
        ("[2026-05-01 10:32] Ana: hello", "Ana", AT),
        ("[2026-05-01, 10:32:00] Ana: hello", "Ana", AT),
        ("2026-05-01T10:32:00Z ana: hello", "ana", AT),
        ("2026-05-01T12:32:00+02:00 Ana: hello", "Ana", AT),
        ("[2026-05-01 10:32] **Ana**: hello", "Ana", AT),
        ("Ana (2026-05-01 10:32): hello", "Ana", AT),
        ("Ana [2026-05-01 10:32 AM]: hello", "Ana", AT),
        ("2026-05-01 10:32 PM Ana: hello", "Ana", AT.replace(hour=22)),
        ("2026-05-01 12:05 am Ana: hello", "Ana", AT.replace(hour=0, minute=5)),
        ("2026-05-01 Ana: hello", "Ana", AT.replace(hour=0, minute=0)),
        ("2026-02-31 10:32 Ana: hello", "Ana", None),
    ],
)
def test_the_ways_to_write_a_turn(line: str, speaker: str, at: datetime | None) -> None:
    text = f"Zed: before\n{line}\nZed: after"
    found = chunk(text, content_type="transcript")
    assert [c.speaker for c in found] == ["Zed", speaker, "Zed"]
    assert text[found[1].start : found[1].end] == line
    assert found[1].at == at


@pytest.mark.parametrize(
    "line",
    [
        "Note: the boat is late", "TODO: call", "https://example.org/x", "at 10:32 we left",
        "ratio 3:4", "the plan is this: go", "so I said: no", "**Warning**: deep water", "  - a: b",
        "C:\\boats", "::", ":", "Summary of the day: fine", "1. one: two", "a:b", "key:value",
    ],
)  # fmt: skip
def test_a_line_that_is_no_turn_belongs_to_the_one_above(line: str) -> None:
    assert turns(f"Ana: hello\n{line}\nBob: hi") == [
        ("Ana", f"Ana: hello\n{line}"),
        ("Bob", "Bob: hi"),
    ]


def test_a_turn_goes_on_over_lines_and_paragraphs() -> None:
    assert turns("Ana: one\n\ntwo\nthree\n\nBob: four") == [
        ("Ana", "Ana: one\n\ntwo\nthree"),
        ("Bob", "Bob: four"),
    ]


def test_lines_in_a_fence_are_no_turns() -> None:
    text = "Ana: see\n```\nBob: in code\n```\nBob: hi"
    assert turns(text) == [("Ana", "Ana: see\n```\nBob: in code\n```"), ("Bob", "Bob: hi")]


def test_a_line_with_the_date_dates_the_times_below_it() -> None:
    text = "[10:32] Ana: a\n--- 2026-05-01 ---\n[10:32] Ana: b\n\n# 2026-05-02\n10:32 Bob: c"
    found = chunk(text, content_type="chat")
    assert [c.at for c in found] == [None, AT, AT.replace(day=2)]


def test_headings_are_kept_and_join_the_turn_below() -> None:
    text = "# Trip\n\n## Day one\n\nAna: hello\nBob: hi\n\n## Day two\n\nAna: bye"
    found = chunk(text, content_type="chat")
    assert [c.headings for c in found] == [("Trip", "Day one")] * 2 + [("Trip", "Day two")]
    assert [c.speaker for c in found] == ["Ana", "Bob", "Ana"]
    assert found[0].start == 0


def test_a_preamble_of_some_length_is_a_passage_without_a_speaker() -> None:
    preamble = "Notes of the meeting at the harbour, " * 6
    assert turns(f"{preamble}\nAna: hello") == [("", preamble.strip()), ("Ana", "Ana: hello")]


def test_a_long_turn_is_cut_between_sentences_and_keeps_speaker_and_time() -> None:
    text = (
        "2026-05-01 10:32 Ana: " + "The boat leaves at seven from the old pier. " * 60 + "\nBob: ok"
    )
    found = chunk(text, content_type="transcript", tokens_max=128)
    assert len(found) > 4
    assert {(c.speaker, c.at) for c in found[:-1]} == {("Ana", AT)}
    for c in found[:-1]:
        assert text[c.start : c.end].endswith("pier.")
        assert count_tokens(text[c.start : c.end]) <= 128


def test_a_json_list_of_messages_is_cut_by_message() -> None:
    messages = [
        {"role": "user", "content": 'hello {"a": [1]}\n"quoted" 😀'},
        {"role": "assistant", "content": "hi", "timestamp": "2026-05-01T10:32:00Z"},
        {"role": "tool", "content": [{"type": "text", "text": "nested"}]},
    ]
    for indent in (None, 2):
        text = json.dumps(messages, indent=indent, ensure_ascii=False)
        found = chunk(text, content_type="chat")
        assert [c.speaker for c in found] == ["user", "assistant", "tool"]
        assert [c.at for c in found] == [None, AT, None]
        assert found == chunk(text), "it is plain to see without being told"


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2]",
        "[]",
        "[{}]",
        '[{"role": 1, "content": "x"}]',
        "[x] task",
        '[{"role": "a"',
        "[" * 9999,
    ],
)
def test_other_lists_are_text(text: str) -> None:
    assert [c.speaker for c in chunk(text)] == [""] * len(chunk(text))


TALK = "Ana: the boat leaves at seven\nBob: so we should hurry up\n" * 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TALK, True),
        ("User: hi\nAssistant: yes\nUser: ok\nAssistant: bye\n", True),
        ("[10:01] Ana: a\n[10:02] Bob: b\n[10:03] Ana: c\n[10:04] Bob: d\n", True),
        ("**Ana**: a\n\n**Bob**: b\n\n**Ana**: c\n\n**Bob**: d\n", True),
        ("Ana: hi\nBob: hello\n", False),
        ("Boat: red\nPier: old\nBoat: blue\nPier: new\n", False),
        ("Name: Ana\nStatus: fine and well today\nName: Bob\nStatus: ill in bed today\n", False),
        (
            "".join(f"{c}: is a colour that I like\n" for c in ("Red", "Blue", "Pink", "Grey")),
            False,
        ),
        ("Ana: I said it once\nAna: I said it twice\nAna: and then again\nAna: and again\n", False),
    ],
)
def test_a_text_is_taken_for_a_conversation_only_beyond_doubt(text: str, expected: bool) -> None:
    assert (len(chunk(text)) > 1) is expected
