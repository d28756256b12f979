"""What is forgotten does not come back: from its twin in another layer, or from the log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.api.caller import Caller
from holdfast.api.project_hub import ProjectHub
from holdfast.domain.memory import Origin
from holdfast.engine import traces
from holdfast.engine.context.items import TURN_VERSION, outdated
from holdfast.engine.people import keys
from holdfast.engine.traces import NOTE
from holdfast.errors import InvalidInput
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock, open_for_tests

AT = datetime(2026, 1, 14, 12, tzinfo=UTC)
SAID = "I am allergic to nuts. Which snack should I take to the harbour?"
REPLY = "As you are allergic to nuts: apple slices. The harbour has a kiosk too."


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Holdfast]:
    settings = {"shadowJournal.enabled": True}
    with open_for_tests(tmp_path, clock=clock, settings=settings) as memory:
        memory.core.set_has_worker(True)
        yield memory


@pytest.fixture
def hub(memory: Holdfast) -> HubMemory:
    return memory.create_hub("own")


def observed(hub: HubMemory, user: str, assistant: str = "", *, session: str = "s") -> None:
    hub.observe_turn(user, assistant, session=session)
    work_until_done(hub.core, hub.home)


def fact(hub: HubMemory, word: str = "nuts", layer: str = "long_term") -> int:
    (found,) = [one for one in hub.list() if word in one.content and one.layer == layer]
    return found.number


def shown(hub: HubMemory) -> str:
    """Everything that is shown unasked, and what leads when it is asked for."""
    parts = [hub.context(), hub.context("am I allergic to nuts?"), hub.recovery_prompt()]
    parts += [hub.context("snack for the harbour", style="xml"), hub.context(style="max")]
    parts += [hit.passage.text for hit in hub.recall("allergic to nuts")]
    return "\n".join(parts)


@pytest.mark.parametrize("layer", ["long_term", "journal"])
def test_a_forgotten_fact_is_nowhere_else_unasked(hub: HubMemory, layer: str) -> None:
    observed(hub, SAID, REPLY)
    assert "nuts" in hub.context() and len(hub.list()) == 2
    hub.forget(fact(hub, layer=layer))
    assert "nuts" not in shown(hub)
    assert hub.list() == []


def test_a_point_inside_a_word_does_not_hide_a_sentence_from_what_is_withheld(
    hub: HubMemory,
) -> None:
    observed(hub, "My server is db.example.com in Oslo. The harbour has a kiosk.")
    hub.remember("The user's server is db.example.com in Oslo")
    hub.forget(fact(hub, "db.example.com"))
    assert "kiosk" in hub.recovery_prompt()
    assert "db.example.com" not in hub.recovery_prompt()


def test_the_rest_of_the_turn_is_still_shown(hub: HubMemory) -> None:
    observed(hub, SAID, REPLY)
    hub.forget(fact(hub))
    block = hub.context()
    assert "… Which snack should I take to the harbour?" in block
    assert "… The harbour has a kiosk too." in block
    assert "kiosk" in hub.recovery_prompt()


def test_the_log_keeps_the_turn_and_marks_it(hub: HubMemory) -> None:
    observed(hub, SAID, REPLY)
    observed(hub, "What is the weather like?", "Fine.")
    assert {turn.note for turn in hub.turns()} == {""}
    hub.forget(fact(hub))
    assert [turn.note for turn in hub.turns()] == ["", "", NOTE, NOTE]
    found = hub.search_turns("allergic nuts")
    assert [turn.note for turn in found] == [NOTE, NOTE]
    assert {turn.content for turn in found} == {SAID, REPLY}


@pytest.mark.parametrize("way", ["undo", "restore", "restore the twin"])
def test_undo_and_restore_bring_all_of_it_back(hub: HubMemory, way: str) -> None:
    observed(hub, SAID, REPLY)
    block, listed, line = hub.context(), {one.id for one in hub.list()}, fact(hub, layer="journal")
    number = fact(hub)
    hub.forget(number)
    if way == "undo":
        hub.undo()
    else:
        hub.restore(number if way == "restore" else line)
    assert {one.id for one in hub.list()} == listed
    assert hub.context() == block
    assert {turn.note for turn in hub.turns()} == {""}
    assert any(hit.turn is not None for hit in hub.recall("harbour kiosk"))


def test_a_capture_that_is_taken_back_takes_the_turn_along(hub: HubMemory) -> None:
    observed(hub, SAID, REPLY)
    block = hub.context()
    undone = hub.undo()
    assert "nuts" not in shown(hub)
    hub.undo(undone.change.id)
    assert hub.context() == block


def test_what_is_said_again_is_a_new_statement(hub: HubMemory) -> None:
    observed(hub, SAID, REPLY)
    hub.forget(fact(hub))
    observed(hub, "By the way, I am allergic to nuts.", session="later")
    assert fact(hub) and "allergic to nuts" in hub.context()
    newest = hub.turns(limit=1)[0]
    assert newest.note == "" and newest.session == "later"


def test_an_earlier_repetition_is_withheld_too(hub: HubMemory) -> None:
    observed(hub, "I am allergic to hazelnut butter.", session="one")
    observed(hub, "Again: I am allergic to hazelnut butter!", session="two")
    hub.forget(fact(hub, "hazelnut"))
    assert "hazelnut" not in hub.context()
    assert not hub.recall("allergic to hazelnut butter")


def test_other_turns_with_the_same_words_are_found(hub: HubMemory) -> None:
    observed(hub, "I use uv for everything.", session="one")
    question = "How do I use uv to build a wheel for the exporter with a custom index?"
    observed(hub, question, "Run uv build, and give it the index.", session="two")
    hub.forget(fact(hub, "uv"))
    assert any(hit.turn is not None for hit in hub.recall("build a wheel for the exporter with uv"))
    assert question in hub.context()


@pytest.mark.parametrize(
    ("gone", "other"),
    [
        ("My rent is 800 euros a month.", "My rent is 900 euros a month."),
        ("My PIN hint is 4.", "My PIN hint is 7."),
        ("My younger sister lives in Oslo.", "My younger sister lives in Rome."),
    ],
)
def test_a_sentence_with_another_number_or_name_is_still_shown(
    hub: HubMemory, gone: str, other: str
) -> None:
    hub.log_turn("user", other, session="s")
    hub.log_turn("user", gone, session="s")
    hub.forget(hub.remember(gone, session="s").memory.number)
    log = hub.recovery_prompt()
    assert other in log and gone not in log


def test_a_date_that_a_memory_adds_is_no_other_number(hub: HubMemory) -> None:
    hub.log_turn("user", "My rent is 800 euros a month.", session="s")
    made = hub.remember("My rent is 800 euros a month (said on 3 May 2026)", session="s")
    hub.forget(made.memory.number)
    assert "800" not in hub.recovery_prompt()


@pytest.mark.parametrize("way", ["forget", "supersede"])
def test_nobody_hides_what_others_said(memory: Holdfast, way: str) -> None:
    """A contributor who may delete what is their own claims a turn of somebody else."""
    ada = memory.create_hub("team")
    memory.share("team", delete_policy="own")
    memory.set_member("ben", "contributor", hub="team")
    ben = Caller(memory, keys.create_key(memory.core, "k", actor="ben").what).hub("team")
    said = "The vault code of the cellar is posted on the door."
    turn = ada.log_turn("user", said, session="s")
    theirs = ben.log_turn("user", "The cellar lamp of the office is broken again.", session="t")
    ben.log_turn("user", "The cellar is wet.", session="s")
    for one, session in ((turn, "s"), (theirs, "t")):
        origin = Origin(one.id, 0, len(one.content), "")
        made = ben.remember(one.content, origin=origin, session=session).memory
        assert {found.id for found in ben.traces([made.number]).turns} <= {theirs.id}
        if way == "forget":
            ben.forget(made.number)
        else:
            ben.remember(f"Nothing is known of {session}.", supersedes=made.number)
    log = ada.recovery_prompt()
    assert said in log and theirs.content not in log


def test_a_memory_that_an_agent_wrote_is_forgotten_with_the_turn_it_was_asked_in(
    hub: HubMemory,
) -> None:
    hub.log_turn("user", "Note that the door code of the office is under the mat.", session="s")
    stored = hub.remember("The door code of the office is under the mat", session="s")
    hub.forget(stored.memory.number)
    assert "mat" not in hub.context()


def test_a_moved_memory_leaves_the_turn_as_it_is(memory: Holdfast, hub: HubMemory) -> None:
    observed(hub, SAID)
    hub.move_many([fact(hub)], memory.create_hub("other"))
    assert "allergic to nuts" in hub.context()


def test_traces_tell_what_else_holds_the_words(hub: HubMemory) -> None:
    observed(hub, SAID, REPLY)
    number, line = fact(hub), fact(hub, layer="journal")
    before = hub.traces([number])
    assert [one.number for one in before.memories] == [line]
    assert {turn.content for turn in before.turns} == {SAID, REPLY}
    hub.forget(number)
    after = hub.traces([number])
    assert [one.number for one in after.memories] == [line]
    assert {turn.content for turn in after.turns} == {SAID, REPLY}
    assert hub.traces([hub.remember("Standup is at 9").memory.number]) == ((), ())


def test_what_else_holds_the_words_of_a_purged_memory_stays_hidden(hub: HubMemory) -> None:
    observed(hub, SAID, REPLY)
    hub.purge(fact(hub))
    assert "nuts" not in shown(hub)
    assert hub.list() == []
    assert len(hub.turns()) == 2


def test_a_purge_everywhere_leaves_nothing(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    observed(hub, "I am allergic to zzyzxnuts.", "Noted, you are allergic to zzyzxnuts.")
    observed(hub, "What is the weather like?", "Fine.")
    hub.purge(fact(hub, "zzyzxnuts"), everywhere=True)
    assert [turn.content for turn in hub.turns()] == ["Fine.", "What is the weather like?"]
    assert not hub.search_turns("zzyzxnuts") and not hub.search_text("zzyzxnuts")
    memory.close()
    held = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"zzyzxnuts" in path.read_bytes() for path in held)


def test_a_block_that_shows_a_withheld_turn_is_outdated(hub: HubMemory) -> None:
    observed(hub, SAID)
    shown_turn = {hub.turns()[0].id: TURN_VERSION}
    assert not outdated(hub.scope, shown_turn)
    hub.forget(fact(hub))
    assert outdated(hub.scope, shown_turn) == set(shown_turn)


def test_a_fact_of_the_persons_own_hub_is_withheld_in_the_projects_log(
    memory: Holdfast, hub: HubMemory
) -> None:
    info = memory.create_hub("project").info
    project = ProjectHub(memory.core, info, memory.home, hub)
    observed(project, SAID, REPLY)
    assert "nuts" in project.context() and fact(hub)
    hub.forget(fact(hub))
    assert "nuts" not in shown(project)
    assert "kiosk" in project.context()
    hub.undo()
    assert "nuts" in project.context()


def test_a_fact_of_the_persons_own_hub_is_withheld_where_the_project_is_named(
    memory: Holdfast, clock: FixedClock
) -> None:
    """By its name, the hub is opened without the person's own beside it."""
    own, info = memory.hub(), memory.create_hub("project").info
    project = ProjectHub(memory.core, info, memory.home, own)
    observed(project, SAID)
    clock.tick(seconds=40)
    project.observe_turn("", REPLY, session="s", noted="")
    named = memory.hub("project")
    assert "nuts" in shown(named)
    clock.tick(seconds=40)
    own.forget(fact(own))
    assert "nuts" not in shown(named) and "kiosk" in shown(named)
    other = memory.create_hub("other")
    other.log_turn("user", SAID, session="s")
    assert "nuts" in shown(other)


@pytest.mark.parametrize("how", ["forgotten", "purged"])
def test_a_fact_of_the_persons_own_hub_is_withheld_in_a_reply_that_came_later(
    memory: Holdfast, hub: HubMemory, clock: FixedClock, how: str
) -> None:
    """Hooks log a reply when it ends, with its own time."""
    info = memory.create_hub("project").info
    project = ProjectHub(memory.core, info, memory.home, hub)
    observed(project, SAID)
    clock.tick(seconds=40)
    project.observe_turn("$ ls\nharbour.txt", "", session="s", trust="tool")
    project.observe_turn("", REPLY, session="s", noted="")
    clock.tick(seconds=40)
    observed(project, "Thanks. Where is the kiosk?")
    clock.tick(seconds=40)
    project.observe_turn("", "You are allergic to nuts. Take the left one.", session="s")
    assert "nuts" in project.context() and fact(hub)
    clock.tick(seconds=40)
    if how == "purged":
        hub.purge(fact(hub), everywhere=True)
        assert REPLY not in shown(project)
        return
    hub.forget(fact(hub))
    assert "nuts" not in shown(project)
    assert "kiosk" in project.context()
    clock.tick(seconds=40)
    observed(project, "I am allergic to nuts after all.")
    assert "nuts after all" in shown(project)
    hub.undo()
    hub.undo()
    assert REPLY in shown(project)


@pytest.mark.parametrize("named_by", ["number", "id"])
def test_a_purge_everywhere_in_a_project_removes_what_its_log_holds_too(
    memory: Holdfast, hub: HubMemory, named_by: str
) -> None:
    info = memory.create_hub("project").info
    project = ProjectHub(memory.core, info, memory.home, hub)
    observed(project, SAID, REPLY)
    observed(project, "The harbour opens at nine.", session="t")
    found = hub.get(fact(hub))
    name = found.id if named_by == "id" else f"own#{found.number}"
    assert {turn.content for turn in project.traces([name]).turns} >= {SAID, REPLY}
    project.purge(name, everywhere=True)
    assert not [turn for turn in (*project.turns(), *hub.turns()) if "nuts" in turn.content]
    assert project.turns() and not hub.list()


def test_a_reply_in_the_projects_log_stays_hidden_when_the_own_turn_is_purged(
    memory: Holdfast, hub: HubMemory
) -> None:
    info = memory.create_hub("project").info
    project = ProjectHub(memory.core, info, memory.home, hub)
    observed(project, SAID, REPLY)
    hub.purge_many(iter([fact(hub)]), everywhere=True)
    assert "nuts" not in shown(project)


def test_the_past_is_as_it_was(hub: HubMemory) -> None:
    hub.log_turn("user", "I am allergic to nuts.", at=AT, session="s")
    hub.remember("Allergic to nuts", session="s")
    before = hub.core.now()
    hub.core.clock.tick(hours=1)  # type: ignore[attr-defined]
    hub.forget(1)
    assert not hub.recall("allergic nuts")
    assert hub.recall("allergic nuts", as_of=before)
    hub.core.clock.tick(hours=1)  # type: ignore[attr-defined]
    assert not hub.recall("allergic nuts", as_of=hub.core.now())


LONG = " ".join(
    f"The office of the harbour wrote report {number} on the freight of the winter in good order."
    for number in range(60)
)


def long_turn(hub: HubMemory) -> None:
    text = f"I am allergic to nuts. {LONG} The zebras of Tallinn are fed at noon."
    hub.log_turn("user", text, at=AT, session="s")
    hub.remember("Allergic to nuts", session="s")


def test_a_turn_that_is_found_by_another_part_does_not_bring_what_is_withheld(
    hub: HubMemory,
) -> None:
    long_turn(hub)
    hub.forget(1)
    (hit,) = hub.recall("When are the zebras of Tallinn fed?")
    assert hit.turn is not None and "nuts" not in repr(hit)
    assert hit.turn.content == hit.memory.content and hit.turn.content.startswith("… The office")
    assert hit.turn.content[hit.passage.start : hit.passage.end].split() == hit.passage.text.split()


def test_an_explanation_does_not_say_what_is_withheld(hub: HubMemory) -> None:
    hub.log_turn("user", "I am allergic to nuts.", at=AT, session="s")
    hub.remember("Allergic to nuts", session="s")
    hub.forget(1)
    (left_out,) = hub.recall("allergic nuts", explain=True).left_out
    assert "nuts" not in repr(left_out)


def test_taking_back_a_restore_withholds_it_again(hub: HubMemory) -> None:
    hub.log_turn("user", "I am allergic to nuts.", at=AT, session="s")
    hub.remember("Allergic to nuts", session="s")
    hub.forget(1)
    hub.restore(1)
    assert "nuts" in hub.recovery_prompt()
    hub.undo()
    assert "nuts" not in shown(hub)


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_purge_finds_turns_that_have_no_words_yet(hub: HubMemory, everywhere: bool) -> None:
    long_turn(hub)
    hub.purge(1, everywhere=everywhere)
    assert "nuts" not in shown(hub)
    assert len(hub.turns()) == (0 if everywhere else 1)


def test_many_notes_hide_what_few_hide(
    memory: Holdfast, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "_FEW_MAX", 0)
    info = memory.create_hub("project").info
    project = ProjectHub(memory.core, info, memory.home, hub)
    observed(project, SAID, REPLY)
    hub.forget(fact(hub))
    assert "nuts" not in shown(project) and "nuts" not in shown(hub)
    assert "kiosk" in project.context()
    hub.undo()
    assert "nuts" in project.context()


# What no longer holds


@pytest.mark.parametrize("way", ["supersedes", "update", "MEMORY.md"])
def test_a_corrected_fact_is_nowhere_else_unasked(hub: HubMemory, way: str) -> None:
    observed(hub, "I drive a Golf. Which tyres fit?", "Any of 16 inches.")
    number = fact(hub, "Golf")
    block = hub.context()
    if way == "supersedes":
        hub.remember("Drives a Kona", supersedes=number)
    elif way == "update":
        hub.update(number, content="Drives a Kona")
    else:
        hub.sync()
        path = Path(hub.memory_md)
        path.write_text(path.read_text().replace("Golf", "Kona"))
        hub.sync()
    after = hub.context()
    assert "Drives a Kona" in after and "Golf" not in after
    assert "… Which tyres fit?" in after
    assert "Golf" not in hub.recovery_prompt()
    # Somebody who asks finds it behind what holds now.
    assert "Kona" in hub.recall("which car do I drive?")[0].memory.content
    assert {turn.note for turn in hub.turns()} == {""}
    if way != "MEMORY.md":
        hub.undo()
        assert hub.context() == block


def test_a_line_that_is_removed_from_memory_md_does_not_come_back(hub: HubMemory) -> None:
    observed(hub, "I drive a Golf.")
    hub.sync()
    path = Path(hub.memory_md)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "Golf" not in line))
    hub.sync()
    assert "Drives a Golf" not in hub.context()


# Other ways back


def test_a_flush_takes_nothing_from_a_withheld_turn(hub: HubMemory) -> None:
    hub.log_turn("user", "I am allergic to nuts.", session="s")
    hub.remember("Is allergic to nuts", session="s")
    hub.forget(1)
    hub.flush(session="s")
    assert hub.list() == []


def test_an_archive_of_the_conversation_leaves_out_what_was_forgotten(hub: HubMemory) -> None:
    observed(hub, SAID, REPLY)
    hub.forget(fact(hub))
    archived = hub.archive_conversation("s")
    text = Path(archived.path or "").read_text()
    assert "nuts" not in text and "harbour" in text
    assert "nuts" not in shown(hub)


def test_an_export_that_is_imported_elsewhere_brings_nothing_back(
    memory: Holdfast, hub: HubMemory
) -> None:
    observed(hub, SAID, REPLY)
    hub.forget(fact(hub))
    copy = memory.import_hub(list(hub.export()), name="copy")
    assert "nuts" not in shown(copy) and "kiosk" in copy.context()
    assert len(copy.turns()) == 2


def test_consolidation_promotes_nothing_that_was_forgotten(hub: HubMemory) -> None:
    observed(hub, SAID, REPLY)
    hub.forget(fact(hub))
    hub.core.clock.tick(days=3)  # type: ignore[attr-defined]
    hub.consolidate()
    assert "nuts" not in shown(hub)


@pytest.mark.parametrize("way", ["forget", "purge"])
def test_an_export_takes_along_what_is_withheld(memory: Holdfast, hub: HubMemory, way: str) -> None:
    hub.log_turn("user", "I am allergic to nuts.", at=AT, session="s")
    hub.remember("Allergic to nuts", session="s")
    getattr(hub, way)(1)
    lines = list(hub.export())
    assert "nuts" not in next(line for line in lines if '"withheld"' in line)
    copy = memory.import_hub(lines, name="copy")
    assert "nuts" not in shown(copy)
    assert list(copy.export())[1:] == lines[1:]
    if way == "forget":
        copy.restore(1)
        assert "nuts" in copy.recovery_prompt()


@pytest.mark.parametrize(
    "parts", ['{"":[[5,2]]}', '{"":[["a",2]]}', '{"":[[1]]}', "[]", '{"":7}', '{"":[[true,2]]}']
)
def test_a_note_that_no_export_writes_is_refused(
    memory: Holdfast, hub: HubMemory, parts: str
) -> None:
    hub.log_turn("user", "I am allergic to nuts.", at=AT, session="s")
    hub.remember("Allergic to nuts", session="s")
    hub.purge(1)
    lines = list(hub.export())
    changed = [line.replace('"parts":{"":[[0,22]]}', f'"parts":{parts}') for line in lines]
    assert changed != lines
    with pytest.raises(InvalidInput, match="cannot be read"):
        memory.import_hub(changed, name="copy")
