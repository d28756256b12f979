"""Turns of the conversation log are found like memories, and are none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import HubMemory, InvalidInput
from holdfast.domain.memory import Origin
from holdfast.testing import FixedClock, HashEmbedder, open_for_tests

AT = datetime(2026, 1, 14, 12, tzinfo=UTC)


@pytest.fixture
def talked(hub: HubMemory) -> HubMemory:
    hub.remember("The deploy runs every Thursday at noon")
    hub.observe_turn("My cat Miso is allergic to fish", "Then avoid tuna", session="pets", at=AT)
    hub.observe_turn("We ate sardines at the harbour", "Sounds lovely", session="trip")
    return hub


def test_a_hit_says_that_it_is_a_turn_who_said_it_when_and_in_which_session(
    talked: HubMemory,
) -> None:
    hit = talked.recall("what is the cat allergic to?")[0]
    assert hit.turn is not None
    assert (hit.turn.role, hit.turn.session, hit.turn.at) == ("user", "pets", AT)
    assert hit.passage.text == hit.turn.content == hit.memory.content
    assert (hit.memory.layer, hit.memory.number, hit.memory.id) == ("turn", 0, hit.turn.id)
    assert hit.around == ()


def test_both_sides_of_a_turn_are_found(talked: HubMemory) -> None:
    hit = talked.recall("tuna")[0]
    assert hit.turn is not None
    assert (hit.turn.role, hit.memory.trust) == ("assistant", "agent")


def test_a_hit_brings_its_neighbours_when_asked(talked: HubMemory) -> None:
    hit = talked.recall("cat allergic fish", around=2)[0]
    assert [turn.content for turn in hit.around] == ["Then avoid tuna"]
    with pytest.raises(InvalidInput):
        talked.recall("cat", around=11)


def test_turns_are_left_out_or_asked_for_alone(talked: HubMemory) -> None:
    talked.observe_turn("When does the deploy run?", "Every Thursday")
    assert talked.recall("cat allergic", turns=False) == []
    assert all(hit.turn is None for hit in talked.recall("deploy Thursday", turns=False))
    alone = talked.recall("deploy Thursday", layer="turn")
    assert len(alone) == 2 and all(hit.turn is not None for hit in alone)
    with pytest.raises(InvalidInput):
        talked.recall("deploy", layer="turn", turns=False)


@pytest.mark.parametrize("layer", ["turn"])
def test_a_turn_cannot_be_written_or_listed_as_a_memory(talked: HubMemory, layer: str) -> None:
    with pytest.raises(InvalidInput):
        talked.remember("Not a turn", layer=layer)
    with pytest.raises(InvalidInput):
        talked.list(layer=layer)


def test_lists_counts_and_searches_of_memories_have_no_turns(talked: HubMemory) -> None:
    assert len(talked.list()) == len(list(talked.scan())) == 1
    assert talked.statistics().memories == 1
    assert talked.search_text("cat") == []
    assert talked.search_text("cat", words=True) == []
    assert len(talked.changes()) == 1


def test_conditions_hold_for_turns_too(talked: HubMemory) -> None:
    assert len(talked.recall("cat sardines", session="trip", meaning=False)) == 1
    assert talked.recall("cat", since=datetime(2026, 2, 1, tzinfo=UTC), meaning=False) == []
    assert len(talked.recall("cat", until=datetime(2026, 2, 1, tzinfo=UTC), meaning=False)) == 1
    assert talked.recall("cat", tags=["pets"]) == []
    assert talked.recall("cat", category="fact") == []


def test_a_memory_stands_for_the_turn_that_it_was_made_from(hub: HubMemory) -> None:
    said = "My cat Miso is allergic to fish"
    turn = hub.observe_turn(said, "").turns[0]
    hub.remember("The cat Miso is allergic to fish", origin=Origin(turn.id, 0, len(said), ""))
    found = hub.recall("what is my cat Miso allergic to?", explain=True)
    assert [hit.memory.number for hit in found] == [1]
    assert [one.reason for one in found.left_out] == ["a memory stands for this turn"]


def test_a_turn_that_says_much_more_than_its_memory_is_still_found(hub: HubMemory) -> None:
    said = "My cat is Miso."
    more = "We adopted her from the shelter in Porto, where my sister Ana works on weekends."
    turn = hub.observe_turn(f"{said} {more}", "").turns[0]
    hub.remember("Has a cat called Miso", origin=Origin(turn.id, 0, len(said), ""))
    found = hub.recall("which shelter in Porto did the cat Miso come from?")
    assert any(hit.turn is not None for hit in found)


def test_a_memory_stands_before_a_turn_that_says_the_same(hub: HubMemory) -> None:
    hub.observe_turn("deploy runs every Thursday at noon", "")
    hub.remember("The deploy runs every Thursday at noon sharp")
    found = hub.recall("when does the deploy run?")
    assert [hit.memory.number for hit in found] == [1]


def test_the_turn_of_a_fact_that_was_replaced_does_not_come_back(hub: HubMemory) -> None:
    said = "I live in Porto"
    turn = hub.observe_turn(said, "").turns[0]
    old = hub.remember("Lives in Porto", origin=Origin(turn.id, 0, len(said), ""))
    hub.remember("Lives in Lisbon", supersedes=old.memory.number)
    found = hub.recall("where do I live?")
    assert [hit.memory.content for hit in found][:1] == ["Lives in Lisbon"]
    assert all(hit.turn is None for hit in found)


def test_turns_are_found_by_words_until_their_vectors_are_made(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.create_hub("work")
        hub.observe_turn("My cat Miso is allergic to fish", "")
        assert len(hub.recall("cat allergic")) == 1
        memory.core.wait()
        again = hub.recall("cat allergic")
        assert again.degraded == () and again[0].parts["vector"] > 0


def test_what_corrects_a_turn_stands_before_it(hub: HubMemory) -> None:
    hub.observe_turn("Our staging host is stage2.example.com", "Done.", session="s")
    hub.observe_turn("sorry, it's stage4.example.com, I misread", "Fixed.", session="s")
    hub.observe_turn("Our staging host has 8 cores", "I see.", session="other")
    found = hub.recall("what is the staging host?", limit=3)
    said = [hit.turn.content for hit in found if hit.turn is not None]
    assert said.index("sorry, it's stage4.example.com, I misread") + 1 == said.index(
        "Our staging host is stage2.example.com"
    )
    assert "corrects what was said before it" in str(found[0].why) + str(found[1].why)
    assert len(hub.recall("what is the staging host?", limit=1)) == 1


def test_what_corrects_a_turn_meets_the_conditions_too(hub: HubMemory) -> None:
    day = datetime(2026, 1, 10, tzinfo=UTC)
    hub.observe_turn("Our staging host is stage2", "Done.", session="s", at=day)
    hub.observe_turn("sorry, stage4", "Fixed.", session="s", at=day.replace(day=12))
    found = hub.recall("what is the staging host?", until=day.replace(day=11))
    assert all("stage4" not in hit.memory.content for hit in found)


def test_the_name_of_a_speaker_is_a_voice(hub: HubMemory) -> None:
    hub.observe_turn("I dyed my hair purple", "Nice", speaker="Nate")
    hub.log_turn("user", "Purple hair looks great on people", speaker="Ana")
    found = hub.recall("What colour did Nate dye his hair?")
    assert found[0].turn is not None and found[0].turn.speaker == "Nate"
    assert "said by Nate" in found[0].why


def test_words_of_a_tool_keep_their_trust(hub: HubMemory) -> None:
    hub.log_turn("user", "The page says that gold is cheap", trust="tool")
    assert hub.recall("gold cheap")[0].memory.trust == "tool"
    with pytest.raises(InvalidInput):
        hub.log_turn("user", "x", trust="nobody")


def test_turns_of_the_past_are_asked_as_of_then(hub: HubMemory, clock: FixedClock) -> None:
    hub.observe_turn("My cat is called Miso", "")
    before = clock.now()
    clock.tick(days=2)
    hub.observe_turn("My cat is called Miso and my dog Rex", "")
    assert len(hub.recall("cat", as_of=before)) == 1


def test_shown_turns_are_not_counted_as_memories(talked: HubMemory) -> None:
    assert talked.recall("cat allergic")
    talked.core.write_counters()
    assert [memory.shown_count for memory in talked.list()] == [0]


def test_what_recall_showed_of_a_turn_adds_nothing_when_it_comes_back(talked: HubMemory) -> None:
    from holdfast.agents.wording import hit_text

    hit = talked.recall("what is the cat allergic to?")[0]
    shown = f"1 hit, best first:\n\n{hit_text(hit)}"
    assert talked.heard(shown).nothing_new
    line = "- [turn 2026-01-14 user] My cat Miso is allergic to fish"
    assert talked.heard(line).nothing_new
    back = talked.observe_turn(line, "ok").turns[0]
    assert "Miso" not in back.content
    other = "- [turn 2026-01-14 user] My cat Miso is allergic to milk"
    assert talked.heard(other).text == other


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("ibanez-rg5", "The IBANEZ-RG550 needs new strings"),
        ("onnection_poo", "Set connection_pool_size to 20 in the gateway"),
        ("京に住", "私は東京に住んでいる"),
        ("https://example.org/a/b?c=", "See https://example.org/a/b?c=77&d=1 for it"),
    ],
)
def test_a_turn_is_found_by_a_part_of_a_word(hub: HubMemory, query: str, said: str) -> None:
    hub.observe_turn("Lunch was fine", "Good.", session="s")
    hub.observe_turn(said, "Noted.", session="s")
    hit = hub.recall(query)[0]
    assert hit.turn is not None
    assert hit.turn.content == said
    assert [turn.content for turn in hub.search_turns(query)] == [said]
    assert [turn.content for turn in hub.forget_turns(about=query, dry_run=True).turns] == [said]
