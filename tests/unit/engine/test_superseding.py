"""What a person says anew takes the place of what they said before, where that is certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Duplicate, HubMemory, Quarantined, Stored, Superseded
from holdfast.domain.hub import Act
from holdfast.domain.memory import Draft, Memory
from holdfast.engine.core import Scope
from holdfast.engine.writing import supersede
from holdfast.engine.writing.remember import remember
from holdfast.errors import Forbidden
from holdfast.testing import FixedClock, open_for_tests


def texts(hub: HubMemory) -> list[str]:
    return sorted(memory.content for memory in hub.list() if memory.superseded_by is None)


def test_a_new_value_takes_the_place_of_the_old_one(hub: HubMemory, clock: FixedClock) -> None:
    old = hub.remember("Lives in Porto").memory
    clock.tick(days=1)
    new = hub.remember("Moved to Lisbon")
    assert isinstance(new, Superseded)
    assert new.previous.id == old.id
    assert new.memory.supersedes == old.id
    ended = hub.get(old.id)
    assert (ended.superseded_by, ended.valid_until) == (new.memory.id, clock.now())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Likes tea", "Likes coffee"),
        ("Uses Vim", "Uses Emacs"),
        ("Eats meat", "Does not eat meat"),
        ("Lives in Berlin", "Lives in Neukölln"),
        ("Ann lives in Oslo", "Lives in Bergen"),
        ("Lives in Porto", "Lives in Smallville"),
    ],
)
def test_what_is_not_certain_is_stored_beside_it(hub: HubMemory, old: str, new: str) -> None:
    hub.remember(old)
    assert isinstance(hub.remember(new), Stored)
    assert texts(hub) == sorted([old, new])


def test_the_successor_of_a_private_memory_stays_private_unless_a_boundary_is_given(
    hub: HubMemory,
) -> None:
    first = hub.remember("The salary is 50,000", boundary="private").memory
    second = hub.remember("The salary is 60,000", supersedes=first.id).memory
    assert second.boundary == "private"
    third = hub.remember("The salary is 70,000", supersedes=second.id, boundary="hub").memory
    assert third.boundary == "hub"


def test_what_is_superseded_is_not_recalled_and_not_in_the_context(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    hub.remember("Lives in Lisbon")
    found = [hit.memory.content for hit in hub.recall("where does the user live?")]
    assert found[0] == "Lives in Lisbon"
    block = hub.context()
    assert "Lisbon" in block
    assert "Porto" not in block


def test_the_old_one_is_still_there_for_who_looks_back(hub: HubMemory, clock: FixedClock) -> None:
    old = hub.remember("Lives in Porto").memory
    before = clock.tick()
    clock.tick(days=1)
    hub.remember("Lives in Lisbon")
    assert hub.get(old.id).content == "Lives in Porto"
    assert [entry.after.superseded_by is None for entry in hub.history(old.id)] == [True, False]
    then = hub.recall("where does the user live?", as_of=before)
    assert [hit.memory.content for hit in then] == ["Lives in Porto"]


def test_undo_brings_the_old_one_back_in_force(hub: HubMemory) -> None:
    old = hub.remember("Lives in Porto").memory
    hub.remember("Lives in Lisbon")
    hub.undo()
    back = hub.get(old.id)
    assert back.superseded_by is None
    assert back.valid_until is None
    assert texts(hub) == ["Lives in Porto"]
    assert "Porto" in hub.context()


def test_undo_of_the_undo_supersedes_again(hub: HubMemory) -> None:
    old = hub.remember("Lives in Porto").memory
    hub.remember("Lives in Lisbon")
    undone = hub.undo()
    hub.undo(undone.change.id)
    assert hub.get(old.id).superseded_by is not None
    assert texts(hub) == ["Lives in Lisbon"]


def test_all_that_say_the_old_value_end(hub: HubMemory) -> None:
    first = hub.remember("Lives in Porto").memory
    second = hub.remember("Is based in Porto").memory
    new = hub.remember("Moved to Lisbon").memory
    assert new.supersedes == second.id
    assert {hub.get(one.id).superseded_by for one in (first, second)} == {new.id}
    hub.undo()
    assert {hub.get(one.id).superseded_by for one in (first, second)} == {None}


def test_pinned_keyed_and_filed_memories_are_left_alone(hub: HubMemory) -> None:
    hub.remember("Lives in Porto", pinned=True)
    hub.remember("Lives in Oslo", key="home")
    hub.remember("Lives in Rome", source_path="notes/home.md")
    assert isinstance(hub.remember("Lives in Lisbon"), Stored)


def test_a_private_memory_does_not_end_a_shared_one(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    assert isinstance(hub.remember("Lives in Lisbon", boundary="private"), Stored)
    assert isinstance(hub.remember("Lives in Oslo", boundary="private"), Superseded)
    assert texts(hub) == ["Lives in Oslo", "Lives in Porto"]


def test_of_themselves_two_people_speak_apart(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    assert isinstance(hub.remember("Lives in Lisbon", speaker="Ann"), Stored)
    ann = HubMemory(hub.core.acting("ann"), hub.info, hub.home)
    assert isinstance(ann.remember("Lives in Oslo"), Stored)
    assert len(texts(hub)) == 3


def test_of_a_wife_there_is_one_and_of_sisters_there_may_be_two(hub: HubMemory) -> None:
    hub.remember("Wife works at Siemens")
    hub.remember("Sister lives in Hamburg")
    assert isinstance(hub.remember("My wife works at BMW"), Superseded)
    assert isinstance(hub.remember("Sister moved to Munich"), Stored)
    assert texts(hub) == [
        "My wife works at BMW",
        "Sister lives in Hamburg",
        "Sister moved to Munich",
    ]


def test_what_a_tool_says_does_not_end_what_the_user_said(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    assert isinstance(hub.remember("Lives in Lisbon", trust="tool"), Quarantined)
    assert texts(hub) == ["Lives in Porto"]


def test_what_comes_from_elsewhere_ends_nothing(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    assert isinstance(hub.remember("Lives in Lisbon", source="import"), Stored)
    assert isinstance(
        hub.remember("I live in Rome", session="s1", speaker="user", source="import"), Stored
    )


def test_what_replaces_a_lasting_memory_is_kept_where_it_was(hub: HubMemory) -> None:
    hub.remember("Lives in Porto", layer="long_term")
    new = hub.remember("Moved to Lisbon", layer="journal").memory
    assert new.layer == "long_term"


def test_the_same_words_again_are_a_duplicate(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    hub.remember("Lives in Lisbon")
    assert isinstance(hub.remember("Lives in Lisbon"), Duplicate)


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"supersede.enabled": False}) as memory:
        hub = memory.hub()
        hub.remember("Lives in Porto")
        assert isinstance(hub.remember("Lives in Lisbon"), Stored)


def test_it_works_among_many_that_share_its_words(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    hub.remember_many([f"Person{n} lives in town {n} and likes Lisbon" for n in range(400)])
    new = hub.remember("Moved to Lisbon")
    assert isinstance(new, Superseded)
    assert new.previous.number == 1


def test_an_older_event_does_not_end_what_was_learnt_since(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    told = hub.remember("Moved to Lisbon", occurred_at="2019-03-01T00:00:00Z")
    assert isinstance(told, Stored)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Porto", "Moved to Lisbon in {year}"),
        ("I'm pregnant", "My daughter was born in March {year}"),
        ("I drive a Golf", "I sold the Golf in {year}"),
        ("I'm training for the marathon", "I ran the marathon on 24 September {year}"),
        ("Works at Lidl", "Started a new job at Aldi in {year}"),
    ],
)
def test_an_event_whose_words_name_an_older_day_ends_nothing_either(
    hub: HubMemory, clock: FixedClock, old: str, new: str
) -> None:
    known = hub.remember(old).memory
    this_year = clock.now().year
    hub.remember(new.format(year=this_year - 3))
    assert hub.get(known.id).superseded_by is None
    clock.tick(days=700)
    hub.remember(new.format(year=this_year + 1))
    assert hub.get(known.id).superseded_by is not None


def test_a_year_since_which_something_holds_makes_it_no_older_event(hub: HubMemory) -> None:
    known = hub.remember("Lives in Porto").memory
    hub.remember("Lives in Lisbon since 2019")
    assert hub.get(known.id).superseded_by is not None


def test_a_long_list_ends_nothing(hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    few = hub.remember_many(["Likes tea", "Lives in Lisbon"])
    assert [type(one) for one in few] == [Stored, Superseded]
    many = hub.remember_many([f"Fact {n} of a list" for n in range(60)] + ["Lives in Oslo"])
    assert isinstance(many[-1], Stored)


def test_in_a_hub_that_is_full_of_its_words_the_rarer_ones_are_asked(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.engine.writing.supersede._POSTINGS_MAX", 20)
    hub.remember("The API runs on port 5432")
    hub.remember_many([f"Process{n} runs on machine {n}" for n in range(60)])
    assert isinstance(hub.remember("The API runs on port 5433"), Superseded)


def test_who_may_replace_nothing_is_told_of_the_older_memory(tmp_path: Path) -> None:
    def no_retiring(act: Act, memory: Memory | None) -> None:
        if act == "retire":
            raise Forbidden("This key replaces nothing.")

    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        old = hub.remember("Ann lives in Porto").memory
        scope = Scope(memory.core.acting(permit=no_retiring), hub.id, hub.name)
        result = remember(scope, Draft("Ann lives in Lisbon"), by_rule=True)
        assert isinstance(result, Stored)
        assert result.close_to is not None and result.close_to.id == old.id


@pytest.mark.parametrize(
    ("text", "begun", "searched"),
    [
        ("Maybe we could go", 0, 0),
        ("The gate is green", 0, 1),
        ("The gate is closed", 1, 1),
    ],
)
def test_only_what_can_replace_or_be_close_to_a_memory_is_searched_for(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch, text: str, begun: int, searched: int
) -> None:
    reads: list[Scope] = []
    searches: list[str] = []
    read, find = Scope.read, supersede._find_close
    monkeypatch.setattr(Scope, "read", lambda self: reads.append(self) or read(self))
    monkeypatch.setattr(
        supersede, "_find_close", lambda *given: searches.append(text) or find(*given)
    )
    hub.remember(text)
    assert (len(reads), len(searches)) == (begun, searched)
