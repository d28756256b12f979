"""The facts of a whole conversation. Which sentences are facts, test_capture.py shows."""

from __future__ import annotations

import pytest

from holdfast.text.capture.transcript import FACTS_MAX, extract_facts


def facts(said: str, speaker: str = "User") -> list[tuple[str, str | None]]:
    text = (
        f"{speaker}: {said}\nAssistant: I see. I prefer the other one, remember that I said so.\n"
    )
    return [(fact.text, fact.category) for fact in extract_facts(text)]


def test_what_an_assistant_or_a_tool_says_is_nobodys_fact() -> None:
    for speaker in ("Assistant", "AI", "System", "Tool", "Claude"):
        assert facts("I prefer tabs. Remember that I live in Lisbon.", speaker) == []


def test_what_named_people_say_of_themselves_has_their_name() -> None:
    said = "I prefer tea. We agreed to ship on Mondays. Remember that the door code is 1234."
    assert facts(said, "Ann") == [
        ("Ann prefers tea", "preference"),
        ("Ann agreed to ship on Mondays", "decision"),
        ("The door code is 1234", "fact"),
    ]


def test_facts_come_in_order_each_once_with_the_place_they_were_said_at() -> None:
    text = (
        "User: Hello there. I prefer tabs over spaces.\n"
        "Assistant: Noted.\n"
        "User: As I said, tabs.\nI prefer tabs over spaces. My name is Ana.\n"
    )
    found = extract_facts(text)
    assert [fact.text for fact in found] == ["Prefers tabs over spaces", "Name is Ana"]
    assert [text[fact.start : fact.end] for fact in found] == [
        "I prefer tabs over spaces.",
        "My name is Ana.",
    ]


def test_a_conversation_in_json_is_read_too() -> None:
    text = (
        '[{"role": "user", "content": "Hi.\\nI prefer dark mode in all editors."},'
        ' {"role": "assistant", "content": "I prefer light mode."}]'
    )
    assert [fact.text for fact in extract_facts(text)] == ["Prefers dark mode in all editors"]


def test_a_list_that_somebody_pasted_does_not_become_hundreds_of_facts() -> None:
    lines = "\n".join(f"I never use tool number {n}." for n in range(500))
    assert len(extract_facts(f"User: {lines}\nAssistant: ok\n")) == FACTS_MAX


@pytest.mark.parametrize(
    "text", ["", "no turns at all", "User:", "[{]", "User: " + "and " * 20_000, "\n" * 50_000]
)
def test_any_text_is_read_without_harm(text: str) -> None:
    assert extract_facts(text) == []
