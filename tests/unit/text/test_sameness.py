"""When two texts say the same, and how alike two are: tables of examples."""

from __future__ import annotations

import pytest

from holdfast.files.memory_md.diff import ALIKE_LEAST
from holdfast.text.facts.sameness import similarity
from holdfast.text.facts.statements import words_key

SAME_WORDS = [
    ("Ann likes tea.", "ann likes  tea"),
    ("Ann likes tea", "Ann likes the tea!"),
    ("**Ann** likes `tea`", "Ann likes tea"),
    ("She doesn’t eat meat", "She does not eat meat."),
    ("Ann (the boss) likes tea", "Ann the boss likes tea"),
    ("Cafe\u0301", "Café"),
]
OTHER_WORDS = [
    ("Ann likes tea", "Ann likes green tea"),
    ("Ann likes tea", "Ann does not like tea"),
    ("Ann manages Bob", "Bob manages Ann"),
    ("Ann likes tea.", "Ann likes tea?"),
    ("Writes C", "Writes C++"),
    ("It was 5 degrees", "It was -5 degrees"),
    ("Version 3.5", "Version 35"),
    ("Call f", "Call f()"),
    ("Edit .env", "Edit env"),
    ("año", "ano"),
    ("x²", "x2"),
    ("The", "A"),
    ("...", "!!!"),
]


@pytest.mark.parametrize(("one", "other"), SAME_WORDS)
def test_case_punctuation_and_articles_make_no_difference(one: str, other: str) -> None:
    assert words_key(one) == words_key(other)


@pytest.mark.parametrize(("one", "other"), OTHER_WORDS)
def test_whatever_may_change_the_sense_makes_a_difference(one: str, other: str) -> None:
    assert words_key(one) != words_key(other)


EDITS = [
    ("Lives in Oslo", "Lives in Oslo, Norway, since 2019"),
    ("Lives in Oslo", "Lives in Bergen"),
    ("The staging database runs on port 5432", "Staging database: port 5433"),
    ("Prefers tabs over spaces", "Prefers tabs"),
    ("Likes coffee", "Loves coffee"),
    ("Backups run nightly at 02:00 UTC to the NAS", "Backups: nightly 03:00 UTC, NAS"),
    ("User prefers concise answers without bullet points", "Prefers concise answers, no bullets"),
    ("Never run rm -rf without asking first", "Never run rm -rf or git reset without asking"),
    ("东京に住んでいます", "大阪に住んでいます"),
    ("Birthday is 3 May", "Birthday: May 3"),
    ("Name: Jon Smith", "Name: John Smith"),
    ("Has two kids, Ada (5) and Max (3)", "Has two kids: Ada (6) and Max (4)"),
    ("Ann likes tea.", "Ann likes green tea."),
    ("Works at Acme as a data engineer", "Works at Globex as a data engineer"),
]
OTHERS = [
    ("The staging database runs on port 5432", "The web server runs on port 8080"),
    ("Use ruff for linting", "Use pytest for testing"),
    ("The project uses Python 3.11", "The project is deployed with Docker"),
    ("Dislikes meetings before 10", "Dislikes cilantro"),
    ("Mother: Eva, lives in Bergen", "Brother: Tom, studies in Lund"),
    ("猫を飼っています", "東京に住んでいます"),
    ("Lives in Oslo", "Born in 1980"),
    ("User prefers concise answers", "User's dog is called Rex"),
    ("Prefers tabs over spaces", "Prefers dark mode in the editor"),
    ("Likes coffee", "Likes hiking in the mountains"),
    ("Never run rm -rf without asking first", "Never commit secrets to the repository"),
    ("Ann likes tea.", "The server is Hilda."),
]


@pytest.mark.parametrize(("one", "other"), EDITS)
def test_an_edited_text_is_alike(one: str, other: str) -> None:
    assert similarity(one, other) >= ALIKE_LEAST
    assert similarity(one, other, least=ALIKE_LEAST) == similarity(one, other)


def test_a_long_table_is_alike_when_half_of_its_figures_have_changed() -> None:
    def table(of_odd: int) -> str:
        figures = (7919 * row + of_odd * (row % 2) for row in range(1, 201))
        return "\n".join(f"| host{row % 9} | {n} | ok |" for row, n in enumerate(figures))

    before, after = table(0), table(3)
    assert similarity(before, after) >= ALIKE_LEAST
    assert similarity(before, after, least=ALIKE_LEAST) == similarity(before, after)
    assert similarity(before, "\n".join(f"| {7919 * row + 5} |" for row in range(200))) < 0.1


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_another_fact_in_a_like_frame_is_not(one: str, other: str) -> None:
    assert similarity(one, other) < ALIKE_LEAST


def test_texts_without_words_are_not_alike() -> None:
    assert similarity("", "") < ALIKE_LEAST
    assert similarity("tea", "") < ALIKE_LEAST
