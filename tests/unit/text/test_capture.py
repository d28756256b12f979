"""Which turns state facts and how these are worded, by two tables one can read and extend, and by a
third and fourth that no rule was made for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.text.capture import CAPTURED_MAX, Captured, capture
from holdfast.text.capture.requests import turns_down

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
EXAMPLES = Path(__file__).parent / "capture_examples"


class Expected(NamedTuple):
    """A fact of the table."""

    categories: tuple[str, ...]
    text: str
    date: str = ""


class Turn(NamedTuple):
    """A turn of the table and what it states."""

    speaker: str
    said: str
    facts: tuple[Expected, ...] = ()


def read(name: str) -> list[Turn]:
    turns: list[Turn] = []
    for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("  ") and name.endswith("kept.txt"):
            categories, text, *date = (part.strip() for part in line.split(" | "))
            fact = Expected(tuple(categories.split("/")), text, *date)
            turns[-1] = turns[-1]._replace(facts=(*turns[-1].facts, fact))
        elif line and not line.startswith("# "):
            speaker = ""
            if line.startswith("[") and "] " in line:
                speaker, line = line[1:].split("] ", 1)
            turns.append(Turn(speaker, line.replace("\\n", "\n")))
    return turns


def is_right(fact: Captured, expected: Expected) -> bool:
    date = f"{fact.occurred_at:%Y-%m-%d}" if fact.occurred_at else ""
    return (
        fact.text == expected.text
        and fact.category in expected.categories
        and date.startswith(expected.date)
    )


class Rates(NamedTuple):
    """How many of what was captured is right, and how many of what is right was captured."""

    precision: float
    recall: float


def measure(*names: str, learned: bool = False) -> tuple[Rates, list[str]]:
    right = captured = expected = 0
    wrong: list[str] = []
    for turn in (turn for name in names for turn in read(name)):
        facts = capture(turn.said, at=AT, speaker=turn.speaker, learned=learned)
        hits = sum(any(is_right(fact, one) for one in turn.facts) for fact in facts)
        right, captured, expected = right + hits, captured + len(facts), expected + len(turn.facts)
        if hits < max(len(facts), len(turn.facts)):
            wrong.append(f"{turn.said!r}: {[(f.text, f.category, f.rule) for f in facts]}")
    return Rates(right / captured, right / expected), wrong


@pytest.mark.parametrize("turn", read("kept.txt"), ids=lambda turn: turn.said[:40])
def test_a_turn_that_states_facts(turn: Turn) -> None:
    facts = capture(turn.said, at=AT, speaker=turn.speaker)
    assert [fact.text for fact in facts] == [one.text for one in turn.facts]
    for fact, expected in zip(facts, turn.facts, strict=True):
        assert is_right(fact, expected), fact


@pytest.mark.parametrize("turn", read("left.txt"), ids=lambda turn: turn.said[:40])
def test_a_turn_that_states_none(turn: Turn) -> None:
    assert capture(turn.said, at=AT, speaker=turn.speaker) == []


def test_turns_that_no_rule_was_made_for_are_captured_as_well_as_when_they_were_measured() -> None:
    rates, wrong = measure("held_out_kept.txt", "held_out_left.txt")
    # As measured after the rules that never fired on other people's turns were removed; both may
    # only get better.
    assert rates.precision >= 0.99, wrong
    assert rates.recall >= 0.69, wrong


def test_the_trained_model_finds_more_of_these_turns() -> None:
    rates, wrong = measure("held_out_kept.txt", "held_out_left.txt", learned=True)
    # A sentence that it keeps in the person's own words is not told as the table tells it.
    assert rates.precision >= 0.97, wrong
    assert rates.recall >= 0.72, wrong


def test_the_tables_are_large_enough_to_mean_something() -> None:
    for name, least in {"kept.txt": 150, "left.txt": 150, "held_out_kept.txt": 60}.items():
        assert len({turn.said for turn in read(name)}) >= least
    assert len(read("held_out_left.txt")) >= 60
    assert all(turn.facts for turn in read("kept.txt"))


@pytest.mark.parametrize("opening", ["No", "That's wrong again", "That is not right"])
def test_what_corrects_the_agent_is_kept(opening: str) -> None:
    (fact,) = capture(f"{opening}, the port is 8443, not 8080.", at=AT)
    assert fact.text == "The port is 8443, not 8080"


def test_without_a_date_what_is_relative_stays_as_it_was_said() -> None:
    (fact,) = capture("I moved to Lisbon last March", at=None)
    assert (fact.text, fact.occurred_at) == ("Moved to Lisbon last March", None)


def test_dates_are_those_of_the_place_where_it_was_said() -> None:
    # In Auckland it is the 16th already.
    auckland = AT.astimezone(timezone(timedelta(hours=13)))
    assert [
        fact.text for at in (AT, auckland) for fact in capture("I quit my job today", at=at)
    ] == [
        "Quit their job on 15 November 2026",
        "Quit their job on 16 November 2026",
    ]


def test_a_time_without_a_zone_is_utc() -> None:
    (fact,) = capture("My exam is on Friday", at=AT.replace(tzinfo=None))
    assert (fact.text, fact.occurred_at) == (
        "Exam is on 20 November 2026",
        datetime(2026, 11, 20, tzinfo=UTC),
    )


def test_in_a_long_turn_only_what_stands_around_a_pasted_text_is_the_persons_own() -> None:
    page = "I moved to Oslo in 2019. " + "The harbour was quiet and the boats lay still. " * 80
    said = f"I live in Lisbon. Look:\n\n{page}\n\nI was born there.\n\nI prefer short notes."
    assert [fact.text for fact in capture(said, at=AT)] == [
        "Lives in Lisbon",
        "Prefers short notes",
    ]


def test_a_turn_of_a_form_does_not_become_hundreds_of_facts() -> None:
    form = "\n".join(f"I never use tool number {n}." for n in range(500))
    assert len(capture(form, at=AT)) == CAPTURED_MAX


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Remember, the experience matters just as much as the end result.", []),
        ("Remember that healing takes time, and it's okay to have moments of sadness", []),
        (
            "I come from Illyria, known today as Albania",
            [("Comes from Illyria, known today as Albania", "fact", True)],
        ),
        ("I'm a big Eagles fan, sorry about Parkey", [("Is a big Eagles fan", "fact", True)]),
        ("Keep in mind, Ana is vegan", [("Ana is vegan", "fact", True)]),
        ("Remember, I'm allergic to nuts", [("I'm allergic to nuts", "fact", True)]),
        (
            "Actually, I need 120 stars to reach the gold level, not 300.",
            [("I need 120 stars to reach the gold level, not 300", "fact", False)],
        ),
        ("No, use uv, not pip", [("Use uv, not pip", "preference", True)]),
        ("I've settled on a 3:1 ratio with a dash of citrus bitters", []),
        ("We agreed on a price of $340,000", []),
        ("My belief in free will, which I've held since 2019, affects my work", []),
        (
            "I started reading Elbow Room on March 13",
            [("Started reading Elbow Room on 13 March 2026", "fact", False)],
        ),
    ],
)
def test_a_piece_of_wisdom_or_a_corrected_figure_is_no_standing_fact(
    said: str, kept: list[tuple[str, str, bool]]
) -> None:
    facts = capture(said, at=datetime(2026, 11, 16, tzinfo=UTC))
    assert [(fact.text, fact.category, fact.standing) for fact in facts] == kept


@pytest.mark.parametrize(
    "said",
    [
        "I stopped being social for that game.",
        "I've been watching since I was a kid.",
        "I decided to go with a bright red.",
        "I'm not a big fan anymore.",
        "I gave up a job too.",
        "I stopped crying.",
        "I'm a spectator.",
        "I live in the city.",
        "I play games.",
        "I hate not being able to fully breathe.",
        "I'm currently working for a company.",
        "I've been learning a new skill recently.",
        "I have the most hours in the league.",
        "I cannot play.",
        "ever since the kneeling, I quit watching",
        "I don't play either anymore.",
        "I can't watch like I used to.",
        "I am a fan, not a diehard fan",
        "I always try to catch the play offs",
        "A watched pot, never going to boil",
    ],
)
def test_what_says_too_little_by_itself_is_no_standing_fact(said: str) -> None:
    assert [fact.text for fact in capture(said, at=AT) if fact.standing] == []


def test_a_longer_fact_of_the_same_kind_is_a_standing_one() -> None:
    said = "I'm a big NFL fan. I gave up a job at Bosch. I decided to go with Postgres."
    assert len([fact for fact in capture(said, at=AT) if fact.standing]) == 3


def test_what_is_said_of_the_moment_is_no_order() -> None:
    assert capture("Stop talking, stop talking now.", at=AT) == []
    assert capture("For the project I have to write a contract.", at=AT) == []
    assert [fact.text for fact in capture("Stop talking to the press", at=AT)] == [
        "Stop talking to the press"
    ]


def test_a_figure_of_speech_is_no_order() -> None:
    assert capture("Don't quote me on that song title.", at=AT) == []
    assert capture("Don't ask me how the thing works", at=AT) == []
    said = "Don't ask me for confirmation before each test"
    assert [fact.text for fact in capture(said, at=AT)] == [said]


def test_how_one_feels_is_no_name() -> None:
    assert capture("Hello im great, do you like football?", at=AT) == []


@pytest.mark.parametrize(
    ("question", "said", "kept"),
    [
        # Between people a question is often answered and asked back.
        ("Do you smoke?", "Haha. Never. You?", ["Do you smoke? Never"]),
        ("What do you like to drink?", "Cider, and you", ["What do you like to drink? Cider"]),
        ("Do you have a dog?", "I wish I did", []),
        ("What is your favourite fruit?", "White peaches are very soft", []),
        ("Do you have kids?", "Im from New England so the Patriots,", ["Is from New England"]),
        ("Have you seen the kids' menu?", "two boys", []),
        ("What cuisine do you like?", "I prefer Sichuan cuisine", ["Prefers Sichuan cuisine"]),
        ("Do you have kids?", "Two boys", ["Children: Two boys"]),
        ("Do you eat meat?", "nope, vegetarian since uni", ["Is vegetarian since uni"]),
        ("How old are your kids?", "3 and 8", ["Children: 3 and 8"]),
        # What the other one says of themselves is not the person's.
        (
            "I love it, out of the 32 teams mine is the Bears, do you have a favourite team?",
            "The Vikings",
            ["Do you have a favourite team? The Vikings"],
        ),
        (
            "I love college football, do you have a favourite team?",
            "The Patriots",
            ["Do you have a favourite team? The Patriots"],
        ),
    ],
)
def test_an_answer_is_kept_once_and_only_where_it_is_one(
    question: str, said: str, kept: list[str]
) -> None:
    facts = capture(said, at=AT, question=question)
    assert [fact.text for fact in facts if fact.standing] == kept


def test_each_tool_of_a_list_with_versions_is_a_fact() -> None:
    def kept(said: str) -> list[str]:
        return [fact.text for fact in capture(said, at=AT)]

    assert kept("I'm also using Flask 2.3.1, Chart.js 4.3, and SQLite 3.39 for tests") == [
        "Uses Flask 2.3.1",
        "Uses Chart.js 4.3",
        "Uses SQLite 3.39 for tests",
    ]
    workers = "I'm using Gunicorn 20.1 with 3 workers, listening on port 10000"
    assert kept(workers) == [workers]
    assert kept("I'm using Bootstrap 5.3 for the UI") == ["I'm using Bootstrap 5.3 for the UI"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        # Orders without 'from now on'.
        ("no emojis in commit messages pls", ["No emojis in commit messages"]),
        ("I told you already: tabs, not spaces", ["Tabs, not spaces"]),
        ("it's pnpm here, not npm", ["It's pnpm here, not npm"]),
        ("make it so that you never log secrets", ["Make it so that you never log secrets"]),
        (
            "I don't want you to touch the legacy folder, ever",
            ["I don't want you to touch the legacy folder, ever"],
        ),
        ("no errors in the code", []),
        ("I don't want you to change the test", []),
        # An order behind a statement.
        (
            "We moved from pip to uv, please use uv from now on",
            ["Moved from pip to uv", "Use uv from now on"],
        ),
        # How a team works.
        ("our CI is red again", []),
        (
            "our CI is GitHub Actions, deploys go out on Tuesdays",
            ["Our CI is GitHub Actions", "Deploys go out on Tuesdays"],
        ),
        ("Our standup is at 9:15", ["Our standup is at 9:15"]),
        ("my lead is Milena", ["Lead is Milena"]),
        # Changes in a life.
        ("I just turned 35", ["Turned 35 (said on 16 November 2026)"]),
        ("I broke up with Jonas", ["Broke up with Jonas"]),
        ("I'm dating Jonas", ["Is dating Jonas"]),
        ("I'm seeing Dr Weiss tomorrow", []),
        ("I can't take ibuprofen", ["Can't take ibuprofen"]),
        ("my son hates mushrooms", ["Son hates mushrooms"]),
        ("my colleague hates Java", []),
        # Who somebody is, in a sentence about something else.
        ("what can I cook for my wife Noor tonight?", ["Wife is Noor"]),
        ("My sister Freya is a vet", ["Sister Freya is a vet"]),
        (
            "Both my kids, Ida (6) and Truls (9), are bilingual",
            ["Kids are Ida (6) and Truls (9)"],
        ),
        ("my parents like Paris and Rome", []),
        ("I bought my son Minecraft", []),
        ("we adopted a puppy, Bruno", ["Adopted a puppy, Bruno"]),
        # A name or an address with an order behind it, and an order for this time.
        ("My email is a@b.example, use that one", ["Email is a@b.example"]),
        ("don't change the signature, just the body of this function", []),
        ("our main branch is called trunk", ["Our main branch is called trunk"]),
        ("Our app is called from the shell", []),
        ("finally settled in Maastricht", ["Settled in Maastricht"]),
        # Without a subject, or a verb.
        ("allergic to kiwi btw", ["Is allergic to kiwi"]),
        ("wear hearing aids, so no calls", ["Wears hearing aids"]),
        ("prefer dark mode", ["Prefers dark mode"]),
        ("have a look at the diff", []),
        # A list behind a colon belongs to what is said of it.
        ("we're a team of three: me, Lena and Bo", ["We're a team of three: me, Lena and Bo"]),
        ("lunch with my cousin Sunday", []),
        # What holds for all of a kind.
        ("Everything we log goes to Loki", ["Everything we log goes to Loki"]),
        ("all our prices are stored in cents", ["All our prices are stored in cents"]),
        ("everything I do is wrong", []),
        ("all our servers are down", []),
        ("Prefiro respostas curtas", ["Prefiro respostas curtas"]),
        ("Preferisco questa versione", []),
        ("On a choisi Tailwind pour le site", ["On a choisi Tailwind pour le site"]),
        ("私は佐藤健で、大阪に住んでいます", ["私は佐藤健で、大阪に住んでいます"]),
        ("Ich bin Leonie und studiere Jura", ["Ich bin Leonie und studiere Jura"]),
        ("Ich jobbe samstags in einem Café", ["Ich jobbe samstags in einem Café"]),
    ],
)
def test_what_people_say_in_passing_is_kept_for_good(said: str, kept: list[str]) -> None:
    facts = capture(said, at=datetime(2026, 11, 16, tzinfo=UTC))
    assert [fact.text for fact in facts if fact.standing] == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I'm a Chiefs fan myself.", "I'm a Chiefs fan myself"),
        ("I even play fantasy football.", "Plays fantasy football"),
        ("I'm not religious even though I believe.", "Is not religious"),
        ("I live in Boston and thought that was too much.", "Lives in Boston"),
        ("I live in DC and Josh Norman is disliked here", "Lives in DC"),
        ("I prefer soccer but football is an interesting game as well", "Prefers soccer"),
        ("I use Redis for sessions and for jobs", "Uses Redis for sessions and for jobs"),
        ("I don't buy merch when I am in Rome.", "I don't buy merch when I am in Rome"),
        ("I do play club soccer for Stanford", "Plays club soccer for Stanford"),
        ("We're both vegetarian", "We're both vegetarian"),
        (
            "I hate flying, rather take the night train",
            "I hate flying, rather take the night train",
        ),
        ("Call me Leo by the way, everybody does", "Is called Leo"),
        ("Merk dir bitte, dass ich keine Paprika vertrage", "Dass ich keine Paprika vertrage"),
    ],
)
def test_what_would_be_garbled_is_kept_as_it_was_said(said: str, kept: str) -> None:
    assert [fact.text for fact in capture(said, at=AT)] == [kept]


@pytest.mark.parametrize(
    ("said", "reply", "is_turned_down"),
    [
        ("no, use uv, not pip", "I ran pip.", True),
        ("no dont do that", "I pushed it.", True),
        ("that's wrong, it is in src", "It is in lib.", True),
        ("nein, nimm bitte npm", "Ich nehme yarn.", True),
        ("no, leave it", "Shall I push?", False),
        ("no, use uv, not pip", "I ran pip. What is next?", True),
        ("no problem", "I broke the build.", False),
        ("No, that's fine", "I left the tests out.", False),
        ("note that we use uv", "I ran pip.", False),
        ("now run the tests", "I ran pip.", False),
    ],
)
def test_what_the_person_turns_down(said: str, reply: str, is_turned_down: bool) -> None:
    assert turns_down(said, reply) is is_turned_down


@pytest.mark.parametrize(
    "said",
    [
        "pls remeber that the ci token rotates every monday",
        "please rember that the ci token rotates every monday",
        "can you remmeber that the ci token rotates every monday",
        "The ci token rotates every monday, remeber that",
    ],
)
def test_a_misspelt_request_to_remember_is_one(said: str) -> None:
    assert [one.text for one in capture(said, at=AT)] == ["The ci token rotates every monday"]


@pytest.mark.parametrize("said", ["I can't remeber the name", "remeber when we met?"])
def test_a_misspelt_word_that_asks_for_nothing_is_no_request(said: str) -> None:
    assert capture(said, at=AT) == []
