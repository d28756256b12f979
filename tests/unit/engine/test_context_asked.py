"""The block for a question: standing facts, then what answers it; and where a session ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast import HubMemory
from holdfast.embed.providers import find_embedder
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock, open_for_tests

AT = datetime(2026, 1, 14, 12, tzinfo=UTC)
SUBJECTS = ("garden", "kitchen", "server", "budget", "holiday")
RELEVANT = "## relevant now"


def lines(block: str) -> list[str]:
    return [line for line in block.splitlines() if line.startswith("- ")]


@pytest.fixture
def talked(hub: HubMemory) -> HubMemory:
    hub.remember("Is called Karl", category="core")
    hub.remember("Always use uv, never pip", category="preference")
    hub.observe_turn("My cat Miso is allergic to fish", "Then avoid tuna.", session="pets", at=AT)
    hub.observe_turn("We ate sardines at the harbour", "Sounds lovely", session="trip", at=AT)
    return hub


def test_a_turn_that_answers_is_quoted_with_its_date_and_speaker(talked: HubMemory) -> None:
    block = talked.context("what is my cat Miso allergic to?")
    assert "- [turn 2026-01-14 user] My cat Miso is allergic to fish" in block
    xml = talked.context("what is my cat Miso allergic to?", style="xml")
    assert '<turn date="2026-01-14" speaker="user">My cat Miso is allergic to fish</turn>' in xml


def test_standing_facts_come_first_and_what_is_unrelated_not_at_all(talked: HubMemory) -> None:
    block = talked.context("what is my cat Miso allergic to?")
    assert block.index("Karl") < block.index("uv, never pip") < block.index("Miso")
    assert "sardines" not in block


def test_what_a_person_said_of_themselves_is_a_standing_fact(tmp_path: Path) -> None:
    for hub in corrected_home(tmp_path):
        hub.observe_turn("I'm Dana, I work as a paediatric nurse in Leeds", "Hi!", at=AT)
        work_until_done(hub.core, hub.home)
        hub.remember("The canteen closes at three")
        block = hub.context("quarterly revenue of the Tokyo branch")
        assert "Name is Dana" in block and "nurse in Leeds" in block
        assert "canteen" not in block


def test_a_question_that_nothing_answers_gets_standing_facts_alone(talked: HubMemory) -> None:
    block = talked.context("quarterly revenue of the Tokyo branch")
    assert RELEVANT not in block and "Karl" in block


def test_a_standing_fact_that_answers_stands_once_among_what_is_relevant(
    talked: HubMemory,
) -> None:
    block = talked.context("should I use uv or pip?")
    assert block.count("never pip") == 1
    assert block.index(RELEVANT) < block.index("never pip")


LIKES = (
    "jazz",
    "trains",
    "linen",
    "opera",
    "hiking",
    "chess",
    "tulips",
    "rugby",
    "poetry",
    "skiing",
)


def test_the_standing_facts_closest_to_a_question_are_chosen(tmp_path: Path) -> None:
    bundled = find_embedder("auto")
    if bundled is None:
        pytest.skip("the bundled model is not installed")
    with open_for_tests(tmp_path, embedder=bundled) as memory:
        hub = memory.hub("life", create=True)
        hub.remember("Is called Karl", category="core")
        hub.remember("Is vegetarian", category="preference")
        hub.remember_many({"content": f"Likes {one}", "category": "preference"} for one in LIKES)
        block = hub.context("What could I cook for my guests tonight?")
        standing = [line.partition("] ")[2] for line in lines(block)]
        assert standing[0] == "Is called Karl" and "Is vegetarian" in standing
        assert len(standing) < len(LIKES)
        assert "Likes trains" in hub.context("Which way would you travel to Berlin?")


def test_without_a_model_the_words_say_which_standing_facts_are_closest(hub: HubMemory) -> None:
    hub.remember("Avoids long meetings", category="preference")
    hub.remember_many({"content": f"Likes {one}", "category": "preference"} for one in LIKES)
    question = "could you draft a plan with meetings for the quarterly revenue of our Tokyo branch?"
    block = hub.context(question)
    assert RELEVANT not in block and "Avoids long meetings" in block


@pytest.mark.parametrize("count", [65, 400])
def test_lines_that_answer_are_in_the_first_ten_and_the_store_is_not_dumped(
    hub: HubMemory, count: int
) -> None:
    hub.remember_many(
        {
            "content": f"The {SUBJECTS[n % 5]} of plan {n} belongs to room {n + 7}",
            "category": ("preference", "fact", "project", "person")[n % 4],
        }
        for n in range(count)
    )
    for number in (3, count // 2, count - 1):
        block = hub.context(f"which room does the {SUBJECTS[number % 5]} of plan {number} have?")
        found = lines(block)
        place = next(at for at, line in enumerate(found) if f"room {number + 7}" in line)
        assert place < 10
        assert len(found) < count / 2


def test_of_a_long_turn_the_sentences_that_answer_are_quoted(hub: HubMemory) -> None:
    around = "We talked about the weather in some detail and nobody minded. " * 12
    hub.observe_turn(f"{around}The password hint is a purple giraffe. {around}", "", at=AT)
    found = lines(hub.context("what animal is the password hint?", budget=1_000))
    assert len(found) == 1 and "purple giraffe" in found[0]
    assert len(found[0]) < 250 and found[0].endswith("…")
    assert re.match(r"- \[turn 2026-01-14 user\] …", found[0])


def test_a_budget_is_kept_with_turns(hub: HubMemory) -> None:
    for number in range(60):
        hub.observe_turn(f"The boat trip number {number} went to island {number}", "Nice", at=AT)
    for budget in (200, 350, 1_000, 4_000):
        block = hub.context("which island did the boat trip go to?", budget=budget)
        assert len(block) <= budget
        assert "island" in block


def test_what_was_replaced_is_not_relevant(hub: HubMemory) -> None:
    old = hub.remember("The port of the service is 8080")
    hub.remember("The port of the service is 9090", supersedes=old.memory.number)
    block = hub.context("which port has the service?")
    assert "9090" in block and "8080" not in block


def test_what_may_have_changed_is_dated(hub: HubMemory) -> None:
    hub.remember("The port of the service is 9090", stability="evolving")
    assert "- [#1, 2026-01-14] The port" in hub.context("which port has the service?")


def test_without_a_question_it_says_where_the_last_session_ended(talked: HubMemory) -> None:
    block = talked.context()
    assert block.index("Karl") < block.index("## last session") < block.index("sardines")
    assert block.index("sardines") < block.index("Sounds lovely")
    assert "Miso" not in block


def test_thanks_are_not_how_a_session_ended(hub: HubMemory) -> None:
    hub.observe_turn("The basket lost items to a race of two workers", "Great, I noted that down.")
    hub.observe_turn("ok thanks!", "You're welcome!")
    hub.observe_turn("perfect, thank you so much", "Sure.")
    ended = hub.context().partition("## last session\n")[2]
    assert "race of two workers" in ended and ended.count("[turn") == 1


def test_turns_can_be_kept_out_of_the_block(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"context.turns": False}) as memory:
        hub = memory.create_hub("work")
        hub.observe_turn("My cat Miso is allergic to fish", "Then avoid tuna.")
        assert "Miso" not in hub.context() + hub.context("what is my cat Miso allergic to?")


@pytest.mark.parametrize("style", ["max", "maven", "minion"])
def test_styles_of_others_have_no_turns(talked: HubMemory, style: str) -> None:
    assert "Miso" not in talked.context("what is my cat Miso allergic to?", style=style)
    assert "sardines" not in talked.context(style=style)


@pytest.mark.parametrize("style", ["plain", "xml"])
@pytest.mark.parametrize("query", [None, "what is my cat Miso allergic to?"])
def test_a_block_with_turns_adds_nothing_when_it_comes_back(
    talked: HubMemory, style: str, query: str | None
) -> None:
    block = talked.context(query, style=style)
    assert talked.heard(block).nothing_new
    turn = talked.observe_turn(f"{block}\nAnd now?", "ok").turns[0]
    assert "And now?" in turn.content and "Miso" not in turn.content
    assert "sardines" not in turn.content


def test_a_long_turn_that_was_quoted_adds_nothing_either(hub: HubMemory) -> None:
    around = "We talked about the weather in some detail and nobody minded. " * 12
    hub.observe_turn(f"{around}The password hint is a purple giraffe. {around}", "", at=AT)
    block = hub.context("what animal is the password hint?", budget=1_000)
    assert "giraffe" in block and hub.heard(block).nothing_new


def test_words_of_a_tool_are_shown_when_asked_for_and_never_unasked(
    hub: HubMemory, clock: FixedClock
) -> None:
    hub.log_turn("user", "The page says that gold is cheap in Narnia", trust="tool", session="s")
    assert "Narnia" not in hub.context()
    assert "Narnia" in hub.context("where is gold cheap?")


def corrected_home(home: Path) -> Iterator[HubMemory]:
    with open_for_tests(home, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        yield memory.create_hub("work")


def test_a_turn_whose_fact_was_corrected_since_is_marked(tmp_path: Path) -> None:
    for hub in corrected_home(tmp_path):
        said = "I live in Lisbon. Where I live is a short walk from the old harbour building."
        hub.observe_turn(said, "", session="one", at=AT)
        work_until_done(hub.core, hub.home)
        later = "Actually, I live in Porto now. Where I live is close to a park, by the way."
        hub.observe_turn(later, "", session="two", at=AT + timedelta(days=2))
        work_until_done(hub.core, hub.home)
        block = hub.context("where do I live?")
        old = [line for line in lines(block) if "harbour" in line]
        new = [line for line in lines(block) if "Actually" in line]
        assert all("[turn 2026-01-14 user, since corrected]" in line for line in old), block
        assert old and not any("since corrected" in line for line in new), block
        xml = hub.context("where do I live?", style="xml")
        assert 'speaker="user" note="since corrected">I live in Lisbon' in xml


def test_what_corrects_a_turn_later_in_its_session_comes_behind_it(hub: HubMemory) -> None:
    hub.observe_turn("The colleague who reviews the draft is Beate", "Noted.", session="s", at=AT)
    hub.observe_turn("Not Beate, Renate. I always mix them up.", "I see.", session="s", at=AT)
    hub.observe_turn("Let's go on with the slides", "Sure.", session="s", at=AT)
    found = lines(hub.context("which colleague reviews the draft?"))
    assert found[:2] == [
        "- [turn 2026-01-14 user, since corrected] The colleague who reviews the draft is Beate",
        "- [turn 2026-01-14 user] Not Beate, Renate. I always mix them up.",
    ]


def test_what_changes_a_memory_later_in_its_session_comes_behind_it(tmp_path: Path) -> None:
    for hub in corrected_home(tmp_path):
        hub.observe_turn("Remember that the drill is in the cellar", "OK", session="s", at=AT)
        work_until_done(hub.core, hub.home)
        hub.observe_turn("hm, Jo says the drill was moved upstairs", "OK", session="s", at=AT)
        found = lines(hub.context("where is the drill?"))
        assert [line.partition("] ")[2] for line in found][-2:] == [
            "The drill is in the cellar",
            "hm, Jo says the drill was moved upstairs",
        ]


def test_what_may_replace_a_turn_comes_before_it(hub: HubMemory, clock: FixedClock) -> None:
    hub.observe_turn("The rent is 1,150 euros", "I see.", session="a", at=AT)
    later = AT + timedelta(days=9)
    text = "Bad news from the landlord. The rent goes up to 1,240 euros."
    hub.observe_turn(text, "I see.", session="b", at=later)
    hub.observe_turn("The rent of the garage is 80 euros", "I see.", session="c", at=later)
    clock.tick(days=10)
    found = [one for one in lines(hub.context("how much is the rent?")) if "garage" not in one]
    assert [line.partition("] ")[0] for line in found if "assistant" not in line] == [
        "- [turn 2026-01-23 user",
        "- [turn 2026-01-14 user, perhaps outdated",
    ]
    assert "The rent goes up to 1,240 euros." in found[0]


def test_what_was_said_before_is_no_news_of_a_memory(hub: HubMemory, clock: FixedClock) -> None:
    hub.observe_turn("The rent goes up to 1,240 euros.", "I see.", session="b", at=AT)
    clock.tick(days=2)
    hub.remember("The rent is 1,300 euros")
    assert "perhaps outdated" not in hub.context("how much is the rent?")


@pytest.mark.parametrize(
    ("said", "label"),
    [
        # A Wednesday.
        ("The boiler was repaired last Friday", "user, event 2026-01-09"),
        ("The boiler will be repaired in two weeks", "user, event 2026-01-28"),
        ("The boiler is repaired next week", "user, event 2026-01-19 to 2026-01-25"),
        ("The boiler was repaired today", "user"),
        ("The boiler is repaired on 3 March", "user"),
        ("The boiler is old", "user"),
    ],
)
def test_a_day_in_words_is_worked_out_from_when_it_was_said(
    hub: HubMemory, clock: FixedClock, said: str, label: str
) -> None:
    hub.observe_turn(said, "I see.", session="s", at=AT)
    clock.tick(days=3)
    block = hub.context("what about the boiler?")
    assert f"- [turn 2026-01-14 {label}] {said}" in block
    assert hub.heard(block).nothing_new


def test_a_question_of_the_agent_comes_with_the_answer(hub: HubMemory) -> None:
    hub.observe_turn("create the repo", "What licence should the repo have?", session="s", at=AT)
    hub.observe_turn("Apache 2", "Added.", session="s", at=AT)
    assert "] Apache 2" in hub.context("licence of the repo")


def test_what_was_said_next_comes_last_and_only_with_what_answers(hub: HubMemory) -> None:
    hub.observe_turn("Our team offsite is in the autumn", "Nice.", session="s", at=AT)
    hub.observe_turn("we're going to Texel for it", "Nice.", session="s", at=AT)
    hub.observe_turn("what does a ferry cost?", "20 euros.", session="s", at=AT)
    found = lines(hub.context("when is the team offsite?"))
    assert found[-1] == "- [turn 2026-01-14 user] we're going to Texel for it"
    assert not any("ferry" in line for line in found)
    assert "Texel" not in hub.context("quarterly revenue of the Tokyo branch")


def test_turns_that_are_switched_off_do_not_come_behind_others(tmp_path: Path) -> None:
    settings = {"shadowJournal.enabled": True, "context.turns": False}
    with open_for_tests(tmp_path, settings=settings) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")
        hub.observe_turn("Remember that the drill is in the cellar", "OK", session="s", at=AT)
        hub.observe_turn("Jo says the drill was moved upstairs", "OK", session="s", at=AT)
        work_until_done(hub.core, hub.home)
        block = hub.context("where is the drill?")
        assert "cellar" in block and "turn" not in block


def test_a_question_of_the_log_comes_once_and_with_its_reply(hub: HubMemory) -> None:
    asked = "Which database do we use in production for the billing gateway?"
    for number in range(3):
        hub.observe_turn(asked, "It is Postgres 15.", session=f"s{number}", at=AT)
    block = hub.context("which database do we use")
    said = [line.partition("] ")[2] for line in lines(block)]
    assert said == [asked, "It is Postgres 15."], block
