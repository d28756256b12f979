"""Whether a statement is about the person or about the project at hand."""

from __future__ import annotations

import pytest

from holdfast.text.facts.statements import TextPart, about, parts_of, said_about

# The rules were written with these in view.
PERSON = """
I prefer tabs over spaces.
My name is Ada Winter and I live in Lisbon.
I'm allergic to peanuts.
I work at Initech as a data engineer.
For all projects, use British spelling.
In every project, run the linter before you commit.
Actually, I live in Porto now.
Remember that my daughter is called Mina.
The user prefers short answers.
I always drink tea in the morning.
My time zone is Europe/Lisbon.
"""
PROJECT = """
The staging database runs on port 5544.
We deploy with fly.io on Fridays.
I decided to use PostgreSQL for the store.
Our API prefix is /v2.
Actually, staging runs on port 5545.
I fixed the parser and pushed my branch.
In this repository I prefer spaces.
My branch is called orchard.
The release branch is called harvest.
I want the login page to be blue.
Always run make lint before committing.
"""
# These were written before the rules were tried on them, and changed no rule afterwards.
HELD_OUT_PERSON = """
I hate long pull request descriptions.
My pronouns are they/them.
I speak German and a little Dutch.
Whatever the repo, keep functions short.
I usually work late on Thursdays.
My husband is a nurse.
I'm colour-blind, so avoid red and green.
My favourite editor is Helix.
I never use dark mode.
By the way, I moved to Ghent last month.
"""
HELD_OUT_PROJECT = """
The queue is drained every five minutes.
We never deploy on Mondays.
I added a retry to the uploader.
Use snake_case for the tables here.
I think the bug is in the cache.
The default branch is trunk.
My test fails on Windows.
I renamed the module to ledger.
Customers are identified by their tax number.
Our linter is ruff.
"""


def rows(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.mark.parametrize("text", rows(PERSON))
def test_what_is_about_the_person(text: str) -> None:
    assert about(text)[0] == "person"


@pytest.mark.parametrize("text", rows(PROJECT))
def test_what_is_about_the_project(text: str) -> None:
    assert about(text)[0] == "project"


def test_the_rules_hold_on_statements_that_they_were_not_written_for() -> None:
    cases = [(text, "person") for text in rows(HELD_OUT_PERSON)]
    cases += [(text, "project") for text in rows(HELD_OUT_PROJECT)]
    wrong = [text for text, wanted in cases if about(text)[0] != wanted]
    assert len(wrong) <= 2, wrong


def test_a_category_speaks_for_a_memory_that_does_not_say() -> None:
    assert about("Tabs over spaces", category="preference")[0] == "person"
    assert about("Tabs over spaces in this project", category="preference")[0] == "project"
    assert about("Tabs over spaces", category="decision")[0] == "project"


def test_a_turn_is_taken_apart_by_what_its_sentences_are_about() -> None:
    said = "I prefer tabs. The API is at api.example.org/v2. It has e.g. no cache. I live in Bonn."
    assert parts_of(said) == [
        TextPart("I prefer tabs. ", "person"),
        TextPart("The API is at api.example.org/v2. It has e.g. no cache. ", "project"),
        TextPart("I live in Bonn.", "person"),
    ]
    assert "".join(part.text for part in parts_of(said)) == said


@pytest.mark.parametrize(
    ("said", "person", "project"),
    [
        (
            "I live in Lisbon and we deploy on Fridays.",
            "I live in Lisbon.",
            "We deploy on Fridays.",
        ),
        ("We ship daily, but I’m vegan.", "I’m vegan.", "We ship daily."),
        ("Hi, my son is Bo; the API is slow.", "Hi, my son is Bo.", "The API is slow."),
        ("I like tea.\nthe API is up and I am 40", "I like tea.\nI am 40", "the API is up."),
        ("I divorced in May and our DB is up.", "I divorced in May.", "Our DB is up."),
        ("I take insulin, and we use uv.", "I take insulin.", "We use uv."),
        # One statement.
        ("My team and I deploy on Fridays.", "", "My team and I deploy on Fridays."),
        (
            "I always check that we test and we lint.",
            "",
            "I always check that we test and we lint.",
        ),
        ("I have a dog and the vet is Ann.", "I have a dog and the vet is Ann.", ""),
        ("I live in Lisbon and we have two kids.", "I live in Lisbon and we have two kids.", ""),
    ],
)
def test_a_sentence_is_cut_between_clauses_about_the_person_and_the_project(
    said: str, person: str, project: str
) -> None:
    parts = parts_of(said)
    assert (said_about(parts, "person"), said_about(parts, "project")) == (person, project)
    assert "".join(part.text for part in parts) == said
