"""Ways in which somebody could come to see or change what is not theirs; each was open once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Conflict, Forbidden, Holdfast, HubMemory, InvalidInput, NotFound
from holdfast.agents import ToolContext
from holdfast.agents.dialects import find_dialect
from holdfast.agents.toolset import Toolset
from holdfast.api.caller import Caller
from holdfast.edges.mcp.resources import Resources
from holdfast.engine.people import keys, members, teams
from holdfast.testing import FixedClock, open_for_tests


def caller(memory: Holdfast, actor: str, role: str = "contributor") -> HubMemory:
    """The hub `work` as somebody sees it who came in by a key."""
    members.set_member(memory.core, "hub", memory.hub("work").id, actor, role)
    return _caller(memory, actor).hub("work")


def _caller(memory: Holdfast, actor: str) -> Caller:
    handed = keys.create_key(memory.core, "laptop", actor=actor)
    return Caller(memory, keys.find_key(memory.core, handed.secret))


def tools(hub: HubMemory, dialect: str) -> Toolset:
    return Toolset(
        find_dialect(dialect), ToolContext(hub, agent="claude", every_hub=True), all_tools=True
    )


# Sources


def test_what_the_owner_reads_beside_the_hub_is_not_read_out_to_callers(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("The harbour of my diary", encoding="utf-8")
    home = tmp_path / "home"
    read = f"notes={notes}, other=holdfast:{home}#other"
    settings = {"sources.read": read, "embed.model": "none"}
    with open_for_tests(home, clock=FixedClock(), settings=settings) as memory:
        memory.create_hub("other").remember("The harbour of the other hub")
        owner = memory.create_hub("work")
        for hub, seen in ((owner, True), (caller(memory, "bob"), False)):
            for dialect, tool in (("holdfast", "recall"), ("maven", "memory_search")):
                told = tools(hub, dialect).call(tool, {"query": "harbour"}).text
                assert ("my diary" in told, "other hub" in told) == (seen, seen), dialect


# Names of hubs


def test_a_hub_that_is_renamed_meanwhile_does_not_use_the_files_of_who_has_its_name_now(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.sync()
    held, bob = memory.hub("work"), caller(memory, "bob")
    held.list(), bob.list()
    memory.rename_hub("work", "ours")
    theirs = memory.create_hub("work")
    theirs.remember("Their line", layer="long_term", category="fact")
    theirs.sync()
    theirs.journal_add("Their journal")
    theirs.files().create("/memories/x.md", "Their file")
    for one in (held, bob):
        assert not one.files().has("/memories/x.md")
        assert "Their" not in str(one.journal("today"))
        assert "Their" not in (one.read_memory_md() or "")
        one.journal_add("Our journal")
        assert not [found for found in one.list() if "Their" in found.content]
        assert one.folder == memory.hub("ours").folder
    assert [memory.content for memory in theirs.list(order="number")] == [
        "Their line", "Their journal", "Their file"
    ]  # fmt: skip


def test_a_hub_that_is_deleted_meanwhile_does_not_use_the_files_of_who_has_its_name_now(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.sync()
    memory.delete_hub("work")
    theirs = memory.create_hub("work")
    theirs.journal_add("Their journal")
    theirs.files().create("/memories/x.md", "Their file")
    for ask in (
        lambda: hub.journal("today"),
        lambda: hub.files().look("/memories/x.md"),
        lambda: hub.read_memory_md(),
    ):
        with pytest.raises(NotFound, match="not there any more"):
            ask()


# Conflicts of a file and the store


def test_a_conflict_about_what_is_private_is_neither_seen_nor_settled_by_others(
    memory: Holdfast, hub: HubMemory
) -> None:
    kept = hub.remember("My first", layer="long_term", boundary="private").memory
    hub.sync()
    file = Path(hub.memory_md)
    text = file.read_text(encoding="utf-8")
    with hub.core.write() as writer:
        from holdfast.engine.writing.recorder import Recorder

        Recorder(hub.scope, writer, "update").revise(kept, content="My second")
    file.write_text(text.replace("My first", "My third"), encoding="utf-8")
    hub.sync()
    (clash,) = hub.conflicts()
    bob = caller(memory, "bob")
    assert bob.conflicts() == []
    with pytest.raises(NotFound):
        bob.settle(clash.id, keep="file")
    assert hub.conflicts() == [clash]


# Journals


@pytest.fixture
def written(hub: HubMemory) -> HubMemory:
    """A hub with a journal: an entry for all, one that is private, and a line beside them."""
    hub.journal_add("Walked to the harbour")
    own = hub.journal_add("Saw my doctor")
    hub.update(own.id, boundary="private")
    _file_of(hub).write_text(
        _file_of(hub).read_text(encoding="utf-8") + "\n# beside them\n", encoding="utf-8"
    )
    hub.sync_journals()
    return hub


def _file_of(hub: HubMemory) -> Path:
    return Path(hub.folder) / f"{hub.core.now():%Y-%m-%d}.md"


@pytest.mark.parametrize("role", ["viewer", "contributor", "admin"])
def test_a_caller_reads_of_a_journal_what_they_may_see_and_nothing_beside_it(
    memory: Holdfast, written: HubMemory, role: str
) -> None:
    bob = caller(memory, "bob", role)
    (day,) = bob.journal("today")
    assert [entry.text for entry in day.entries] == ["Walked to the harbour"]
    assert day.text == "- 12:00 Walked to the harbour\n"
    resources = Resources(bob)
    told = [
        tools(bob, "holdfast").call("memory_get", {"date": "today"}).text,
        tools(bob, "maven").call("memory_get", {"date": "today"}).text,
        resources.read("memory://work/journal/today").text,
    ]
    for text in told:
        assert "harbour" in text
        assert "doctor" not in text
        assert "beside" not in text
    assert "doctor" in written.journal("today")[0].text


def test_a_day_of_which_a_caller_may_see_nothing_is_none(
    memory: Holdfast, hub: HubMemory, clock: FixedClock
) -> None:
    own = hub.journal_add("Saw my doctor")
    hub.update(own.id, boundary="private")
    bob = caller(memory, "bob")
    assert bob.journal("today") == []
    assert [one.name for one in Resources(bob).listed()] == ["MEMORY.md"]
    assert Resources(hub).listed()[1:]


def test_saying_what_a_private_entry_says_does_not_tell_that_it_is_there(
    memory: Holdfast, written: HubMemory
) -> None:
    said = caller(memory, "bob").journal_add("Saw my doctor", once=True)
    assert (said.owner, said.boundary) == ("bob", "hub")


@pytest.mark.parametrize("reading", [True, False])
def test_what_the_owner_wrote_into_a_journal_by_hand_is_not_the_callers_who_asks_next(
    memory: Holdfast, written: HubMemory, reading: bool
) -> None:
    file = _file_of(written)
    file.write_text(file.read_text(encoding="utf-8") + "- 13:00 By hand\n", encoding="utf-8")
    bob = caller(memory, "bob")
    if reading:
        bob.journal("today")
    else:
        bob.journal_add("Mine")
    owners = {found.content: found.owner for found in written.list(layer="journal")}
    assert owners["By hand"] == written.core.actor


# MEMORY.md


@pytest.fixture
def kept(hub: HubMemory) -> HubMemory:
    """A hub with a MEMORY.md: a memory for all, one that is private, and text beside them."""
    hub.remember("Ada likes tea", category="preference", layer="long_term")
    hub.remember("Ada is ill", category="health", layer="long_term", boundary="private")
    hub.sync()
    file = Path(hub.memory_md)
    beside = "\n```\nbeside them\n```\n"
    file.write_text(file.read_text(encoding="utf-8") + beside, encoding="utf-8")
    hub.sync()
    return hub


def _rewritten(bob: HubMemory, text: str) -> str:
    return (
        tools(bob, "minion")
        .call("memory_update", {"action": "rewrite", "content": text})
        .text.lower()
    )


def test_a_caller_reads_of_memory_md_what_they_may_see_and_nothing_beside_it(
    memory: Holdfast, kept: HubMemory
) -> None:
    bob = caller(memory, "bob", "viewer")
    for style in ("maven", "minion"):
        text = bob.context(style=style)
        assert ("tea" in text, "ill" in text, "beside" in text) == (True, False, False)
    assert bob.read_memory_md() == "# Long-term Memory\n\n## Preference\n\n- Ada likes tea\n\n"
    assert "beside them" in (kept.read_memory_md() or "")


@pytest.mark.parametrize("shown", ["nobody", "the owner's agent", "everybody"])
def test_a_caller_who_rewrites_memory_md_leaves_alone_what_they_do_not_see(
    memory: Holdfast, kept: HubMemory, shown: str
) -> None:
    if shown == "the owner's agent":
        kept.read_memory_md(source_agent="claude")
    elif shown == "everybody":
        kept.context(style="minion")
    bob = caller(memory, "bob")
    told = _rewritten(bob, "# Long-term Memory\n\n## Preference\n\n- Ada likes green tea\n")
    assert "ill" not in told
    assert "beside" not in told
    assert kept.get(1).content == "Ada likes green tea"
    assert kept.get(2).state == "active"
    text = kept.read_memory_md() or ""
    assert "- Ada is ill" in text
    assert "beside them" in text
    assert "kept-" not in str(list(Path(kept.folder).iterdir()))


def test_a_caller_who_writes_what_is_private_to_another_does_not_learn_that_it_is_known(
    memory: Holdfast, kept: HubMemory
) -> None:
    bob = caller(memory, "bob")
    kept.archive(2)
    _rewritten(bob, "# Long-term Memory\n\n## Preference\n\n- Ada likes tea\n- Ada is ill\n")
    assert kept.get(2).state == "archived"
    (own,) = [found for found in bob.list() if found.content == "Ada is ill"]
    assert (own.owner, own.boundary) == ("bob", "hub")


# The past of what was private once


@pytest.fixture
def shared(hub: HubMemory) -> HubMemory:
    """A hub with a memory that was private, said two other things then, and was shared."""
    hub.remember("Ada is ill", boundary="private")
    hub.update(1, content="Ada feels better")
    hub.update(1, content="Ada is back", boundary="hub")
    hub.update(1, content="Ada is here")
    return hub


def test_what_a_memory_said_while_it_was_private_is_in_no_history_and_no_export(
    memory: Holdfast, shared: HubMemory
) -> None:
    bob = caller(memory, "bob")
    told = bob.history(1)
    assert [entry.after.content for entry in told] == ["Ada is back", "Ada is here"]
    assert (told[0].before, told[0].revision.fields) == (None, {})
    assert told[1].before is not None
    exported = "\n".join(bob.export())
    assert "Ada is back" in exported
    for secret in ("ill", "better", "private"):
        assert secret not in repr(told)
        assert secret not in exported
    assert "ill" in "\n".join(shared.export())
    copy = memory.import_hub(exported.splitlines(), name="copy")
    assert [entry.after.content for entry in copy.history(1)] == ["Ada is back", "Ada is here"]


@pytest.mark.parametrize("force", [True, False])
def test_nobody_brings_back_what_was_private_by_an_undo(
    memory: Holdfast, shared: HubMemory, force: bool
) -> None:
    bob = caller(memory, "bob", "admin")
    *_, said_otherwise, made = shared.changes()
    sharing, last = shared.changes()[1], shared.changes()[0]
    for change in (made, said_otherwise, sharing):
        with pytest.raises(Conflict, match="private"):
            bob.undo(change.id, force=force)
    assert shared.get(1).content == "Ada is here"
    assert bob.undo(last.id).memories[0].content == "Ada is back"
    with pytest.raises(NotFound, match="of yours"):
        bob.undo()
    assert shared.undo(sharing.id).memories[0].boundary == "private"


# What is done on the side


def test_who_may_only_read_leaves_no_file_and_puts_nothing_in_order(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.remember("Ada likes tea", layer="long_term")
    hub.sync()
    before = sorted(Path(hub.folder).rglob("*"))
    vic = caller(memory, "vic", "viewer")
    done = vic.archive_conversation("s1", messages=[{"role": "user", "content": "Hello"}])
    assert (done.memory, done.path) == (None, None)
    assert "You may not write" in done.notes[0]
    for act in (vic.compact, vic.lifecycle):
        with pytest.raises(Forbidden):
            act()
        assert len(act(dry_run=True)) in (0, 3)
    after = [path for path in Path(hub.folder).rglob("*") if not path.name.startswith(".")]
    assert set(after) <= set(before)


@pytest.mark.parametrize("role", ["viewer", "contributor"])
def test_a_file_that_the_owner_put_there_by_hand_is_not_the_callers_who_asks_next(
    memory: Holdfast, hub: HubMemory, role: str
) -> None:
    hub.files().create("/memories/a.md", "As it was")
    folder = Path(hub.folder) / "files"
    (folder / "a.md").write_text("As it is", encoding="utf-8")
    (folder / "b.md").write_text("By hand", encoding="utf-8")
    bob = caller(memory, "bob", role)
    for name, text in (("a", "As it is"), ("b", "By hand")):
        assert bob.files().look(f"/memories/{name}.md").text == text  # type: ignore[union-attr]
    (folder / "c.md").write_text("By hand too", encoding="utf-8")
    bob.index_files()
    found = {one.content: one.owner for one in hub.list()}
    assert found == dict.fromkeys(("As it is", "By hand", "By hand too"), hub.core.actor)
    assert {change.actor for change in hub.changes()} == {hub.core.actor}


def test_a_caller_takes_in_no_other_folder_of_the_machine(
    memory: Holdfast, hub: HubMemory, tmp_path: Path
) -> None:
    other = tmp_path / "diary"
    other.mkdir()
    (other / "a.md").write_text("Dear diary", encoding="utf-8")
    bob = caller(memory, "bob", "admin")
    with pytest.raises(Forbidden):
        bob.index_files(other)
    with pytest.raises(Forbidden):
        bob.remember_file(other / "a.md")
    assert len(hub.list()) == 0


def test_who_sees_only_what_is_for_the_organisation_sees_no_conversation(
    memory: Holdfast, hub: HubMemory
) -> None:
    org = teams.create_org(memory.core, "org")
    team = teams.create_team(memory.core, org.id, "team")
    members.set_card(memory.core, hub.id, team_id=team.id)
    members.set_member(memory.core, "org", org.id, "olga", "viewer")
    hub.log_turn("user", "Where is the harbour?", session="s1")
    hub.remember("The harbour is closed", boundary="org")
    gone = hub.remember("The harbour is open").memory
    hub.purge(gone.id)
    olga = _caller(memory, "olga").hub("work")
    assert len(olga.list()) == 1
    assert (olga.turns(), olga.search_turns("harbour"), olga.recovery_prompt()) == ([], [], "")
    assert olga.receipts() == []
    counted = olga.statistics()
    assert (counted.turns, counted.receipts) == (0, 0)
    assert "Where is" not in "\n".join(olga.export())
    assert (hub.statistics().turns, hub.statistics().receipts) == (1, 1)


# Words around a memory

_BREAKS = ("\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029")


@pytest.mark.parametrize("line_end", _BREAKS)
def test_no_field_of_a_memory_begins_a_line_of_a_reply(hub: HubMemory, line_end: str) -> None:
    evil = f"harbour{line_end}EVIL{line_end}{line_end}## EVIL"
    for field in ("title", "summary", "session", "speaker", "source_agent", "source_path"):
        hub.remember(f"The harbour and its {field}", **{field: evil})
    hub.update(1, content="The harbour is new", reason=evil)
    hub.request_decision("Which harbour?", ["this", "that"], evil)
    count = len(hub.list(quarantined=True)) + len(hub.list())
    for dialect in ("holdfast", "memax"):
        offered = tools(hub, dialect)
        told = [
            offered.call(name, {"id": number} if name == "memax_get" else {"number": number})
            for name in ("memory_get", "memory_history", "memax_get")
            if name in offered.names
            for number in range(1, count + 1)
        ]
        told += [
            offered.call(name, {"query": "harbour"} if "recall" in name else {})
            for name in ("recall", "memory_list", "review", "memax_recall", "memax_list")
            if name in offered.names
        ]
        for reply in told:
            for line in reply.text.splitlines():
                assert not line.startswith(("EVIL", "## EVIL")), reply.text


# What cannot be handed out again


@pytest.mark.parametrize("deep", [33, 100, 300, 900, 50_000])
def test_what_is_nested_deeper_than_can_be_written_is_refused(hub: HubMemory, deep: int) -> None:
    nested: Any = "x"
    for number in range(deep):
        nested = [nested] if number % 2 else {"a": nested}
    with pytest.raises(InvalidInput, match="nested"):
        hub.remember("Deep", metadata={"a": nested})
    itself: dict[str, Any] = {}
    itself["a"] = [itself, itself]
    with pytest.raises(InvalidInput):
        hub.remember("Deep", metadata=itself)
    kept = hub.remember("Flat", metadata={"a": {"b": [{"c": [1, 2]}]}}).memory
    with pytest.raises(InvalidInput):
        hub.update(kept.id, metadata={"a": nested})
    assert len(hub.list()) == 1


def test_a_change_set_that_is_no_text_is_refused(hub: HubMemory) -> None:
    hub.remember("Tea")
    for name in ("\ud800", "a\0b"):
        with pytest.raises(InvalidInput):
            hub.touched([name])


@pytest.mark.parametrize(
    "number", [10**400, -(10**400), 1e308, 2**63, -1, 0], ids=lambda n: str(n)[:9]
)
def test_a_number_of_any_size_is_a_mistake_and_no_fault(hub: HubMemory, number: float) -> None:
    hub.remember("Tea")
    for dialect, tool, name in (
        ("holdfast", "memory_get", "number"),
        ("holdfast", "memory_get", "id"),
        ("holdfast", "recall", "limit"),
        ("max", "forget", "memory_id"),
        ("memax", "memax_get", "id"),
        ("memax", "memax_forget", "id"),
        ("pynchy", "recall_memories", "limit"),
        ("anthropic", "memory", "insert_line"),
    ):
        given = {"query": "tea", "command": "insert", "path": "/memories/a", "insert_text": "x"}
        offered = tools(hub, dialect)
        (row,) = [one for one in offered.tools if one.name == tool]
        takes = {one.name for one in row.parameters}
        args = {key: value for key, value in given.items() if key in takes} | {name: number}
        reply = offered.call(tool, args)
        assert reply.failed or "not found" in reply.text, (dialect, tool)
    assert len(hub.list()) == 1


# What can be found out by saying it


def test_saying_what_a_memory_said_while_it_was_private_tells_nothing(
    memory: Holdfast, shared: HubMemory
) -> None:
    bob = caller(memory, "bob")
    for said in ("Ada is ill", "Ada feels better"):
        assert not bob.heard(f"- [#1] {said}").nothing_new
        assert not bob.heard(f"- [#1] {said}").echoes
    assert bob.heard("- [#1] Ada is back").nothing_new
    assert bob.heard("- [#1] Ada is here").nothing_new


def test_saying_what_the_owner_wrote_beside_the_memories_tells_a_caller_nothing(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.remember("Ada likes tea", category="preference", layer="long_term")
    hub.sync()
    file = Path(hub.memory_md)
    text = file.read_text(encoding="utf-8").replace("## ", "My diary says hello:\n\n## ", 1)
    file.write_text(text, encoding="utf-8")
    hub.sync()
    block = hub.context(style="maven")
    assert "My diary" in block
    assert hub.heard(block).nothing_new
    assert "My diary" in caller(memory, "bob").heard(block).text


def test_nobody_hides_the_memory_of_another_behind_a_private_one(
    memory: Holdfast, hub: HubMemory
) -> None:
    theirs = hub.remember("The door is green").memory
    bob = caller(memory, "bob")
    with pytest.raises(InvalidInput, match="private"):
        bob.remember("The door is red", supersedes=theirs.id, boundary="private")
    assert hub.get(theirs.id).superseded_by is None
    mine = bob.remember("The gate is green").memory
    bob.remember("The gate is red", supersedes=mine.id, boundary="private")
    bob.remember("The door is red", supersedes=theirs.id)
    assert hub.get(theirs.id).superseded_by is not None


@pytest.mark.parametrize("forgotten", [True, False])
def test_a_conversation_that_is_private_is_not_added_to_by_who_guesses_its_name(
    memory: Holdfast, hub: HubMemory, forgotten: bool
) -> None:
    said = [{"role": "user", "content": "Ada is ill"}]
    own = hub.archive_conversation("s1", name="talk", messages=said)
    assert own.memory is not None
    assert own.path is not None
    hub.update(own.memory.id, boundary="private")
    if forgotten:
        hub.forget(own.memory.id)
    before = Path(own.path).read_text(encoding="utf-8")
    bob = caller(memory, "bob")
    for count in (1, 2):
        more = [{"role": "user", "content": f"Hello {number}"} for number in range(count)]
        done = bob.archive_conversation("s1", name="talk", messages=more)
        assert done.memory is not None
        # Where the file is on this machine is not for a caller with a key.
        assert done.path is None
        [path] = {*Path(own.path).parent.glob("*.md")} - {Path(own.path)}
        assert "ill" not in done.memory.content
        assert "ill" not in path.read_text(encoding="utf-8")
        assert f"Hello {count - 1}" in done.memory.content
    assert Path(own.path).read_text(encoding="utf-8") == before


@pytest.mark.parametrize("what", ["file", "conversation"])
def test_a_purge_by_key_takes_the_file_of_the_memory_that_is_meant(
    memory: Holdfast, hub: HubMemory, what: str
) -> None:
    bob = caller(memory, "bob")
    if what == "file":
        bob.files().create("/memories/a.md", "Of bob")
        path = Path(hub.folder) / "files" / "a.md"
    else:
        bob.archive_conversation("s1", messages=[{"role": "user", "content": "Of bob"}])
        [path] = (Path(hub.folder) / "conversations").glob("*.md")
    bob.update(1, key="same")
    hub.remember("Private to the owner", key="same", boundary="private")
    assert path.is_file()
    bob.purge("same")
    assert not path.exists()
    assert hub.get("same").content == "Private to the owner"


def test_why_a_memory_was_changed_while_it_was_private_is_not_told_later(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.remember("Ada is well", boundary="private")
    hub.update(1, content="Ada is ill", reason="the doctor said so")
    hub.update(1, content="Ada is back", boundary="hub", reason="for all")
    hub.update(1, content="Ada is here", reason="seen")
    bob = caller(memory, "bob")
    assert [change.reason for change in bob.changes()] == ["seen", "for all", "", ""]
    assert "the doctor" not in "\n".join(bob.export())
    assert "the doctor said so" in [change.reason for change in hub.changes()]
