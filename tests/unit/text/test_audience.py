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
I go to mass every Sunday with my parents.
I wake up at five without an alarm.
I fast during Ramadan.
I commute by bike most days.
I take the 7:40 train from Leiden.
I'm going through a divorce, so I may be slow to answer.
I will be on parental leave from May.
I donated to the Labour party last year.
I weigh 92 kilos and want to get to 85.
I grew up in a small town near Zagreb.
I changed my surname after the wedding.
I owe my brother about two thousand euros.
I run a half marathon every spring.
I play bass in a cover band on weekends.
I can't eat gluten.
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
I run the migrations by hand before each release.
I use feature flags for every rollout.
I keep the secrets in Vault, not in .env files.
I decided to store sessions in Redis.
I rebased onto main and the conflicts are gone.
I see a 502 from the gateway every few minutes.
I gave the staging bucket a 30 day lifecycle.
I'd rather have the parser raise than return None.
I split the worker into two queues.
I measured 40 ms for the hot path.
I pinned numpy to 1.26 because 2.0 breaks the wheels.
I own the ingestion service until Marta is back.
I got a segfault in libpq on Alpine.
I want the CLI to print JSON when piped.
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
I vote Green.
I broke my wrist skiing in February.
I earn 50k before taxes.
I sleep badly when the kids are home from school.
I started seeing a therapist in March.
I got married last summer in Porto.
I quit smoking two years ago.
I read mostly Russian novels.
I feel anxious before presentations.
I drive an old Volvo.
I cook for my grandmother on Thursdays.
I bought a flat in Malmö and the mortgage is killing me.
I need reading glasses these days.
I was diagnosed with ADHD as an adult.
I got laid off from my previous company.
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
I added a retry to the payment webhook.
I think the cache key is missing the tenant id.
I renamed the module to billing_core.
I reviewed Lena's pull request and left two comments.
I set the timeout to 30 seconds in nginx.conf.
I deploy on Fridays.
I wrote the docs for the export endpoint.
I test against Postgres 14 and 16.
I closed the ticket about duplicate invoices.
I reverted the schema change in staging.
I generate the client from openapi.yaml.
I tagged v2.3.1 this morning.
I benchmark with hyperfine before merging.
I moved the fixtures under tests/data.
I bumped the minimum Python to 3.11.
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


# Others may read what is kept of a project, so doubt keeps a statement with the person.
IN_DOUBT = """
Last summer I got married.
Our rent is 900 a month.
Got divorced last year.
We are trying for a second child.
Lactose intolerant.
Pacific, I'm in Portland.
Keep in mind I'm colour blind, so no red charts.
I told my wife about the release.
Ich verdiene 50.000 Euro.
Ich wohne in Wien und wir deployen freitags.
Je gagne 3000 euros par mois.
我在上海工作。
"""
AT_HAND = """
I think it is wrong.
I want you to fix that.
Ich habe das Modul umbenannt.
我改了数据库。
IO is slow.
The salary column is an integer.
The allergies endpoint returns 404.
EU users need consent.
"""


def test_in_doubt_a_statement_is_about_the_person() -> None:
    assert {text: about(text)[0] for text in rows(IN_DOUBT)} == dict.fromkeys(
        rows(IN_DOUBT), "person"
    )
    assert {text: about(text)[0] for text in rows(AT_HAND)} == dict.fromkeys(
        rows(AT_HAND), "project"
    )


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
        (
            "I got married in May and we deploy on Fridays.",
            "I got married in May.",
            "We deploy on Fridays.",
        ),
        (
            "My son is ill. He has a fever. The API is up.",
            "My son is ill. He has a fever.",
            "The API is up.",
        ),
        ("Our parser is slow. It returns late.", "", "Our parser is slow. It returns late."),
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
