"""Which sentences of a conversation are facts; precision before recall."""

from __future__ import annotations

import pytest

from holdfast.text.extract_facts import FACTS_MAX, extract_facts


def facts(said: str, speaker: str = "User") -> list[tuple[str, str | None]]:
    text = (
        f"{speaker}: {said}\nAssistant: I see. I prefer the other one, remember that I said so.\n"
    )
    return [(fact.text, fact.category) for fact in extract_facts(text)]


@pytest.mark.parametrize(
    ("said", "fact", "category"),
    [
        ("Remember that staging is called Orion.", "Staging is called Orion.", None),
        ("Please remember: deploys are on Fridays.", "Deploys are on Fridays.", None),
        ("Can you remember that Ana is on leave in May?", None, None),
        ("Could you please remember that Ana leaves in May.", "Ana leaves in May.", None),
        ("For future reference, the API is v2.", "The API is v2.", None),
        ("Keep in mind that tests run on two cores.", "Tests run on two cores.", None),
        ("Don't forget that Bob is allergic to nuts.", "Bob is allergic to nuts.", None),
        ("I prefer tabs over spaces.", "I prefer tabs over spaces.", "preference"),
        ("Also, I really prefer dark mode!", "I really prefer dark mode!", "preference"),
        ("I can't stand cilantro.", "I can't stand cilantro.", "preference"),
        ("I never eat meat.", "I never eat meat.", "preference"),
        ("My favorite editor is Helix.", "My favorite editor is Helix.", "preference"),
        ("My name is Ana Silva.", "My name is Ana Silva.", "fact"),
        ("Call me Ishmael please.", "Call me Ishmael please.", "fact"),
        ("I live in Lisbon.", "I live in Lisbon.", "fact"),
        ("I work as a nurse at night.", "I work as a nurse at night.", "fact"),
        ("I’m a senior data scientist.", "I’m a senior data scientist.", "fact"),
        ("I am vegetarian.", "I am vegetarian.", "fact"),
        ("I'm allergic to peanuts.", "I'm allergic to peanuts.", "fact"),
        ("I'm originally from Porto.", "I'm originally from Porto.", "fact"),
        ("My wife's name is Rita.", "My wife's name is Rita.", "fact"),
        ("My time zone is Europe/Lisbon.", "My time zone is Europe/Lisbon.", "fact"),
        ("We decided to use Postgres.", "We decided to use Postgres.", "decision"),
        ("We've agreed on weekly releases.", "We've agreed on weekly releases.", "decision"),
        ("Let's go with plan B.", "Let's go with plan B.", "decision"),
        ("Decision: ship on Monday.", "Ship on Monday.", "decision"),
    ],
)
def test_a_sentence_that_states_a_fact(said: str, fact: str | None, category: str | None) -> None:
    assert facts(said) == ([] if fact is None else [(fact, category)])


@pytest.mark.parametrize(
    "said",
    [
        "Do you remember that time in Rome?",
        "Remember that time when we met in Rome.",
        "I remember that we met in Rome.",
        "Remember when we met in Rome.",
        "I prefer that one.",
        "I prefer it this way.",
        "I'd prefer the first option.",
        "If I prefer Rust, what would you say.",
        "Maybe I prefer Rust.",
        "Suppose my name is Bob.",
        "Which one do I prefer?",
        "I hate this.",
        "I hate it when that happens.",
        "I live in fear.",
        "I'm a bit tired.",
        "I'm a big fan of yours.",
        "I'm a teacher in this story, let's say.",
        "I work at home today.",
        "I'm from now on here.",
        "Call me when you are done.",
        "Call me a cynic.",
        "We decided?",
        "We could decide to use Postgres.",
        "My name is what?",
        "He said I prefer tea.",
        "The docs say: I prefer tabs.",
        "> I prefer quoting others.",
        "```\nI prefer code\nI live in Lisbon\n```",
        "I prefer " + "very " * 80 + "long sentences.",
        "Let's go with it.",
        "ok",
    ],
)
def test_a_sentence_that_states_none(said: str) -> None:
    assert facts(said) == []


def test_what_an_assistant_or_a_tool_says_is_nobodys_fact() -> None:
    for speaker in ("Assistant", "AI", "System", "Tool", "Claude"):
        assert facts("I prefer tabs. Remember that I live in Lisbon.", speaker) == []


def test_named_people_state_decisions_and_what_to_remember_under_their_name() -> None:
    said = "I prefer tea. We agreed to ship on Monday. Remember that the door code is 1234."
    assert facts(said, "Ann") == [
        ("Ann: We agreed to ship on Monday.", "decision"),
        ("Ann: The door code is 1234.", None),
    ]


def test_facts_come_in_order_each_once_with_the_place_they_were_said_at() -> None:
    text = (
        "User: Hello there. I prefer tabs over spaces.\n"
        "Assistant: Noted.\n"
        "User: As I said, tabs.\nI prefer tabs over spaces. My name is Ana.\n"
    )
    found = extract_facts(text)
    assert [fact.text for fact in found] == ["I prefer tabs over spaces.", "My name is Ana."]
    for fact in found:
        assert text[fact.start : fact.end].strip() == fact.text


def test_a_conversation_in_json_is_read_too() -> None:
    text = (
        '[{"role": "user", "content": "Hi.\\nI prefer dark mode in all editors."},'
        ' {"role": "assistant", "content": "I prefer light mode."}]'
    )
    assert [fact.text for fact in extract_facts(text)] == ["I prefer dark mode in all editors."]


def test_a_list_that_somebody_pasted_does_not_become_hundreds_of_facts() -> None:
    lines = "\n".join(f"I never use tool number {n}." for n in range(500))
    assert len(extract_facts(f"User: {lines}\nAssistant: ok\n")) == FACTS_MAX


@pytest.mark.parametrize(
    "text", ["", "no turns at all", "User:", "[{]", "User: " + "and " * 20_000, "\n" * 50_000]
)
def test_any_text_is_read_without_harm(text: str) -> None:
    assert extract_facts(text) == []
