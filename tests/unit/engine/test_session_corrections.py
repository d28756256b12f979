"""What a new session is shown of one in which the person corrected themselves, moved a date, took
something back, answered tersely or pasted what others wrote
(`tests/data/session_corrections_*`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

import holdfast
from holdfast import HubMemory
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock, open_for_tests

DATA = Path(__file__).parents[2] / "data"
MONDAY = datetime(2026, 3, 2, 10, tzinfo=UTC)


class Session(NamedTuple):
    """Turns of the person and the agent; the question of a later session, what a line of its block
    must have, what no standing fact may say, and what may be nowhere."""

    name: str
    said: list[tuple[str, str]]
    asked: list[str]
    wanted: list[str]
    over: list[str]
    never: list[str]


def sessions(name: str) -> list[Session]:
    found: list[Session] = []
    for line in (DATA / f"session_corrections_{name}.txt").read_text("utf-8").splitlines():
        mark, rest = line.split(" ", 1)
        if mark == "=":
            found.append(Session(rest, [], [], [], [], []))
        elif mark in "ua":
            found[-1].said.append((mark, rest.replace("\\n", "\n")))
        else:
            one = found[-1]
            {"?": one.asked, "+": one.wanted, "-": one.over, "!": one.never}[mark].append(rest)
    return found


def observe(hub: HubMemory, clock: FixedClock, session: Session) -> None:
    waiting = ""
    for who, text in [*session.said, ("u", "")]:
        if who == "u" and waiting:
            hub.observe_turn(waiting, "", session="s")
        if who == "a":
            hub.observe_turn(waiting, text, session="s")
        waiting = text if who == "u" else ""
        work_until_done(hub.core, hub.home)
        clock.tick(seconds=30)
    clock.tick(days=3)


def has(pattern: str, lines: list[str]) -> bool:
    return any(re.search(pattern, line, re.IGNORECASE) for line in lines)


@pytest.mark.parametrize(("name", "missing_most", "over_most"), [("dev", 1, 0), ("2_dev", 0, 2)])
def test_a_new_session_is_shown_what_holds(
    tmp_path: Path, name: str, missing_most: int, over_most: int
) -> None:
    pytest.importorskip("holdfast_embed_s", reason="the bundled model is not installed")
    missing: list[str] = []
    over: list[str] = []
    for n, session in enumerate(sessions(name)):
        clock = FixedClock(MONDAY)
        settings = {"shadowJournal.enabled": True, "time_zone": "UTC"}
        with holdfast.open(tmp_path / str(n), clock=clock, settings=settings) as memory:
            memory.core.set_has_worker(True)
            hub = memory.create_hub("work")
            observe(hub, clock, session)
            memory.core.wait()
            standing = re.findall(r"(?m)^- \[#\d[^]]*\] (.*)", hub.context())
            blocks = [hub.context(), *map(hub.context, session.asked)]
        lines = blocks[-1].splitlines()
        missing += [f"{session.name}: {one}" for one in session.wanted if not has(one, lines)]
        left = [line for line in standing if not any(has(one, [line]) for one in session.wanted)]
        over += [f"{session.name}: {one}" for one in session.over if has(one, left)]
        assert not any(has(one, blocks) for one in session.never), session.name
    print(missing, over)
    assert len(missing) <= missing_most
    assert len(over) <= over_most


def test_of_two_statements_days_apart_the_newer_is_shown_first(tmp_path: Path) -> None:
    pytest.importorskip("holdfast_embed_s", reason="the bundled model is not installed")
    there = first = 0
    lines = (DATA / "changed_facts_asked_dev.txt").read_text("utf-8").splitlines()
    clock = FixedClock(MONDAY)
    with holdfast.open(tmp_path, clock=clock, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        for n, (asked, old, new) in enumerate(line.split(" | ") for line in lines):
            hub = memory.create_hub(f"pair-{n}")
            for session, text in (("a", old), ("b", new)):
                hub.observe_turn(text, "ok", session=session)
                work_until_done(memory.core, memory.home)
                clock.tick(days=10)
            memory.core.wait()
            block = hub.context(asked)
            place = {text: block.find(f"] {text}") for text in (old, new)}
            there += place[new] >= 0
            first += place[new] >= 0 and (place[old] < 0 or place[new] < place[old])
    print(there, first)
    # Of 20.
    assert there >= 15
    assert first >= 14


Say = Callable[..., HubMemory]


@pytest.fixture
def observed(tmp_path: Path, clock: FixedClock) -> Iterator[Say]:
    settings = {"shadowJournal.enabled": True}
    with open_for_tests(tmp_path, clock=clock, settings=settings) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")

        def say(*turns: str) -> HubMemory:
            for text in turns:
                hub.observe_turn(text, "ok", session="s")
                work_until_done(memory.core, memory.home)
            return hub

        yield say


def facts(hub: HubMemory) -> list[str]:
    there = [one for one in hub.list() if one.layer == "long_term"]
    return [one.content for one in there if one.superseded_by is None]


def test_a_value_takes_the_place_of_the_one_it_corrects(observed: Say) -> None:
    hub = observed("Our rent is 900 euros.", "make that 950")
    assert facts(hub) == ["Our rent is 950 euros"]
    hub.undo()
    assert facts(hub) == ["Our rent is 900 euros"]


def test_what_is_taken_back_is_forgotten_and_can_be_undone(observed: Say) -> None:
    hub = observed("Always answer in French.", "scratch that")
    assert facts(hub) == [] and hub.list() == []
    hub.undo()
    assert facts(hub) == ["Always answer in French"]


def test_what_is_named_is_taken_back_alone(observed: Say) -> None:
    hub = observed(
        "Always run the linter before you commit.",
        "I prefer tabs over spaces.",
        "never mind the linter thing, the hook does it",
    )
    assert facts(hub) == ["Prefers tabs over spaces"]


@pytest.mark.parametrize(
    "said",
    [
        "no, don't write to Chidi yet",
        "not this file, it is generated",
        "never mind, I found it",
        "wait, the tests are failing again",
        "Sorry for the typo, I meant well",
        "that's wrong, it still returns null",
        "that's wrong",
        "sorry, it's still failing",
        "my bad, try again",
        "make it blue",
        "I changed my mind about the colours. What else is there?",
    ],
)
def test_other_words_leave_a_fact_alone(observed: Say, said: str) -> None:
    assert facts(observed("My manager is Chidi.", said)) == ["Manager is Chidi"]


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I live in Vienna.", "Correction: the script is broken"),
        ("I live in Vienna.", "I misspoke, the command is git pull"),
        ("I live in Vienna.", "I'm kidding around with the kids tonight"),
        ("My rent is 900 euros.", "Correction: line 15 is wrong"),
        ("Mein Mann heißt Bernd.", "Das ist falsch, mein Test ist rot"),
        ("Ich wohne in Wien.", "Ich habe mich vertippt, der Befehl heißt ls"),
        ("Wir nutzen Postgres.", "Korrektur der Klausuren bis Freitag"),
        ("J'habite à Lyon.", "J'ai changé d'avis, ajoute un test"),
        ("J'habite à Lyon.", "Plutôt sympa, ton code"),
        ("Nous utilisons Postgres.", "Correction : le test est rouge"),
        ("Vivo en Madrid.", "Me equivoqué, el test falla"),
        ("Vivo en Madrid.", "Quiero decir gracias"),
        ("Abito a Roma.", "Anzi, scrivimi una funzione in Rust"),
        ("Abito a Roma.", "Ho sbagliato, il test non passa"),
        ("Moro em Lisboa.", "Errei o comando, era git pull"),
        ("Ik woon in Utrecht.", "Ik bedoel de functie parse"),
        ("大阪に住んでいます。", "間違いでした、テストが落ちます"),
    ],
)
def test_a_correction_of_something_else_leaves_a_fact_alone(
    observed: Say, fact: str, said: str
) -> None:
    kept = facts(observed(fact))
    assert kept
    assert facts(observed(said)) == kept


def test_another_session_is_not_meant(observed: Say) -> None:
    hub = observed("Our rent is 900 euros.")
    hub.observe_turn("make that 950", "ok", session="other")
    work_until_done(hub.core, hub.home)
    assert facts(hub) == ["Our rent is 900 euros"]


def test_the_words_of_a_tool_correct_nothing(observed: Say) -> None:
    hub = observed("Our rent is 900 euros.")
    hub.observe_turn("make that 950", "ok", session="s", trust="tool")
    work_until_done(hub.core, hub.home)
    assert facts(hub) == ["Our rent is 900 euros"]
