"""The hub of a project with the person's own hub beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import holdfast
from holdfast.api.project import choose, hub_here
from holdfast.api.project_hub import ProjectHub
from holdfast.edges.cli import main
from holdfast.errors import Conflict, InvalidInput, NotFound
from holdfast.passes.work import work_until_done
from holdfast.testing import open_for_tests
from tests.edges.test_project import repository


@pytest.fixture(autouse=True)
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("HOLDFAST_PROJECTS_HUBS", "true")
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "none")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    repository(tmp_path / "web")
    repository(tmp_path / "shop")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[holdfast.Holdfast]:
    with open_for_tests(tmp_path / "home") as opened:
        yield opened


def project(memory: holdfast.Holdfast, folder: Path) -> ProjectHub:
    hub, _ = hub_here(memory, folder=str(folder))
    assert isinstance(hub, ProjectHub)
    return hub


def test_what_is_about_the_person_is_known_in_every_project(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = project(memory, tmp_path / "web")
    web.remember("I prefer tabs over spaces")
    web.remember("The staging server is called heron")
    web.remember("For all projects: British spelling in comments")
    shop = project(memory, tmp_path / "shop")
    assert [hit.memory.content for hit in shop.recall("tabs or spaces?", meaning=False)] == [
        "I prefer tabs over spaces"
    ]
    assert not shop.recall("staging server", meaning=False)
    block = shop.context()
    assert "tabs" in block and "British" in block and "heron" not in block


def test_both_are_ranked_together_and_marked(memory: holdfast.Holdfast, tmp_path: Path) -> None:
    web = project(memory, tmp_path / "web")
    web.remember("I like the colour green for terminals")
    web.remember("The colour of the terminals in the office is blue", category="fact")
    found = web.recall("colour of terminals", meaning=False)
    assert {web.named(hit.memory) for hit in found} == {"#1", "default#1"}
    assert sorted((hit.score for hit in found), reverse=True) == [hit.score for hit in found]
    marked = next(hit for hit in found if web.named(hit.memory) == "default#1")
    assert marked.why[0] == "from default, the person's own hub"


def test_a_memory_of_the_person_is_named_by_hub_and_number(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = project(memory, tmp_path / "web")
    mine = web.remember("I prefer tabs over spaces", key="indent").memory
    web.remember("The staging server is called heron")
    assert web.get("default#1").id == mine.id
    assert web.get(mine.id).id == web.get("indent").id == mine.id
    assert "heron" in web.get(1).content
    with pytest.raises(NotFound):
        web.get(2)
    # The same key updates it where it is, whatever the words are.
    web.remember("Tabs are four wide", key="indent")
    assert web.get("default#1").content == "Tabs are four wide"
    with pytest.raises(InvalidInput):
        web.forget_many(["default#1", "#1"])
    assert [one.id for one in web.forget_many(["default#1"])] == [mine.id]


def test_undo_takes_back_the_last_change_whichever_hub_it_is_in(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = project(memory, tmp_path / "web")
    web.remember("The staging server is called heron")
    web.remember("I prefer tabs over spaces")
    first = web.undo()
    assert [one.content for one in first.memories] == ["I prefer tabs over spaces"]
    assert [web.named(one) for one in first.memories] == ["default#1"]
    assert "heron" in web.undo().memories[0].content
    with pytest.raises(NotFound, match="nothing to undo"):
        web.undo()
    web.undo(first.change.id)
    assert web.get("default#1").forgotten_at is None
    with pytest.raises(NotFound, match="hub `web`"):
        web.undo("chg_0000000000000000000g")


def test_history_lists_what_undo_takes_back_whichever_hub_it_is_in(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = project(memory, tmp_path / "web")
    said = ["The staging server is called heron", "I prefer tabs over spaces"]
    said += ["The staging port is 5433", "I am allergic to nuts"]
    for text in said:
        web.remember(text)
    newest = web.changes()
    touched = web.touched([one.id for one in newest])
    assert [touched[one.id][0].content for one in newest] == said[::-1]
    assert web.undo().undone.id == newest[0].id
    for at, change in enumerate(newest[:-1]):
        assert web.changes(limit=1, before=change.id) == [newest[at + 1]]
    assert web.changes(before=newest[-1].id) == []
    with pytest.raises(NotFound, match="hub `web`"):
        web.changes(before="chg_0000000000000000000g")


def test_a_block_for_both_stays_within_its_budget(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = project(memory, tmp_path / "web")
    for number in range(60):
        web.remember(f"I like plant number {number} in my garden of {number * 7} plants")
        web.remember(f"The service {number} listens on port {5000 + number * 3} of its machine")
    for budget in (1_000, 2_000, 5_000):
        built = web.context("plant 7", budget=budget, explain=True)
        assert len(built.text) == built.used <= budget
        assert "plant number" in built.text and "The service" in built.text


def test_nothing_crosses_between_hubs_of_different_owners(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "home", settings={"actor": "ada"}) as memory:
        memory.hub().remember("I prefer tabs over spaces")
    with holdfast.open(tmp_path / "home", settings={"actor": "eve"}) as memory:
        web = project(memory, tmp_path / "web")
        assert web.own is None
        assert not web.recall("tabs", meaning=False)


def test_a_turn_is_noted_where_its_parts_belong(memory: holdfast.Holdfast, tmp_path: Path) -> None:
    web = project(memory, tmp_path / "web")
    said = "I live in Lisbon. The release branch is called orchard."
    for _ in range(2):
        web.observe_turn(said, "Noted.", session="s", turn="t1")
    assert [turn.content for turn in web.turns()] == ["Noted.", said]
    assert web.own is not None
    assert [turn.content for turn in web.own.turns()] == ["I live in Lisbon."]


def test_each_fact_of_a_mixed_sentence_goes_where_it_belongs(tmp_path: Path) -> None:
    said = "I live in Lisbon and we deploy on Fridays."
    with open_for_tests(tmp_path / "home", settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        web = project(memory, tmp_path / "web")
        assert web.own is not None
        hub = memory.hub(web.name)
        web.observe_turn(said, "", session="one")
        work_until_done(memory.core, memory.home)
        assert [turn.content for turn in web.turns()] == [said]
        assert [turn.content for turn in web.own.turns()] == ["I live in Lisbon."]
        (home, *_), (deploys, *_) = web.own.list(), hub.list()
        assert not any("Lisbon" in one.content for one in hub.list())
        assert not any("Friday" in one.content for one in web.own.list())

        web.forget(f"default#{home.number}")
        assert "Lisbon" not in web.context("where do I live?")
        assert "Friday" in web.context("when do we deploy?")
        web.undo()
        assert "Lisbon" in web.context("where do I live?")
        web.forget(deploys.number)
        assert "Friday" not in web.context("when do we deploy?")
        assert "Lisbon" in web.context("where do I live?")
        web.undo()
        assert "Friday" in web.context("when do we deploy?")


@pytest.mark.parametrize("is_given", [False, True])
def test_a_flush_captures_each_fact_where_it_belongs(
    memory: holdfast.Holdfast, tmp_path: Path, is_given: bool
) -> None:
    web = project(memory, tmp_path / "web")
    assert web.own is not None
    said = "I live in Lisbon and we deploy on Fridays."
    if is_given:
        done = web.flush(iter([{"role": "user", "content": said}]))
    else:
        web.observe_turn(said, "", session="s")
        done = web.flush(session="s")
    assert [one.text for one in done.noted] == ["Lives in Lisbon", "Deploys on Fridays"]
    assert {one.content for one in web.own.list()} == {"Lives in Lisbon"}
    assert {one.content for one in memory.hub(web.name).list()} == {"Deploys on Fridays"}


def test_a_hub_that_others_read_has_nothing_of_the_person_in_its_log(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = project(memory, tmp_path / "web")
    assert web.own is not None
    memory.set_member("ben", "viewer", hub=web.name)
    web.observe_turn("I live in Lisbon and we deploy on Fridays.", "Lisbon!", session="s")
    web.observe_turn("My dog is called Rex.", "Nice.", session="s")
    assert [turn.content for turn in web.turns()] == ["We deploy on Fridays."]
    assert {turn.content for turn in web.own.turns()} == {
        "I live in Lisbon.",
        "Lisbon!",
        "My dog is called Rex.",
        "Nice.",
    }
    assert "Lisbon" in str(web.recall("where do I live?", meaning=False))


def test_a_reply_by_itself_goes_where_what_it_answers_went(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = project(memory, tmp_path / "web")
    assert web.own is not None
    memory.set_member("ben", "viewer", hub=web.name)
    web.observe_turn("My dog is called Rex.", "", session="s", turn="a")
    web.observe_turn("", "Rex, a fine name.", session="s", turn="a")
    web.log_turn("user", "My cat is called Tom.", session="t")
    web.log_turn("assistant", "Tom, a fine name.", session="t")
    web.observe_turn("ls\nRex Tom", "", session="u", trust="tool")
    web.observe_turn(
        "I live in Lisbon. The build is red.", "", session="u", noted="I live in Lisbon."
    )
    web.observe_turn("ls -l", "", session="u", trust="tool")
    web.observe_turn("", "Lisbon!", session="u")
    past = {"session": "v", "at": "2026-01-01T10:00:00Z"}
    web.observe_turn("The tests are green.", "", session="v", turn="c")
    web.observe_turn("", "Green indeed.", session="v")
    web.observe_turn("My car is a Fiat.", "", **past, turn="d")
    web.observe_turn("", "A red Fiat.", **past)
    seen = {turn.content for turn in web.turns()}
    assert seen == {
        "ls\nRex Tom",
        "The build is red.",
        "ls -l",
        "The tests are green.",
        "Green indeed.",
    }


@pytest.mark.parametrize(
    "said",
    [
        "I got married in May.",
        "I earn 50k.",
        "I commute by bike.",
        "I vote Green.",
        "Our rent is 900.",
    ],
)
def test_what_is_private_stays_out_of_a_hub_that_others_read(
    memory: holdfast.Holdfast, tmp_path: Path, said: str
) -> None:
    web = project(memory, tmp_path / "web")
    assert web.own is not None
    memory.set_member("ben", "viewer", hub=web.name)
    web.observe_turn(f"{said} The build is red.", "I see.", session="s")
    web.log_turn("user", f"{said} The tests are green.", session="s")
    web.log_turn("user", said, session="s")
    web.remember(said)
    assert [turn.content for turn in web.turns()] == ["The tests are green.", "The build is red."]
    assert sum(turn.content == said for turn in web.own.turns()) == 3
    assert memory.hub(web.name).list() == []
    assert any(said.rstrip(".") in one.content for one in web.own.list())


def test_a_side_that_was_missing_is_logged_later(memory: holdfast.Holdfast, tmp_path: Path) -> None:
    hub = memory.create_hub("plain")
    assert len(hub.observe_turn("Where is it?", "", session="s", turn="a").turns) == 1
    assert len(hub.observe_turn("Where is it?", "There.", session="s", turn="a").turns) == 1
    again = hub.observe_turn("Where is it?", "There.", session="s", turn="a")
    assert not again.turns and again.reason == "it was logged already"
    assert len(hub.observe_turn("Where is it?", "There.", session="other", turn="a").turns) == 2
    assert [turn.content for turn in hub.turns(session="s")] == ["There.", "Where is it?"]


# On the command line


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_the_command_line_uses_the_hub_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path / "web")
    assert json.loads(run(capsys, "where", "--json"))["data"]["exists"] is False
    # Reading makes no hub.
    run(capsys, "recall", "heron")
    assert not os.path.exists(tmp_path / "home" / "projects.json")
    run(capsys, "remember", "The staging server is called heron")
    run(capsys, "remember", "I prefer tabs over spaces")
    where = json.loads(run(capsys, "where", "--json"))["data"]
    assert where == {
        "folder": str(tmp_path / "web"),
        "hub": "web",
        "exists": True,
        "why": "of the repository web",
        "own": "default",
    }
    assert run(capsys, "recall", "heron").startswith("#1\t")
    assert run(capsys, "recall", "tabs").startswith("default#1\t")
    hits = json.loads(run(capsys, "recall", "tabs", "--json"))["data"]
    assert hits[0]["memory"]["hub"] == "default"
    assert "tabs" in run(capsys, "get", "default#1")
    monkeypatch.chdir(tmp_path / "shop")
    assert run(capsys, "recall", "heron") == ""
    assert run(capsys, "recall", "tabs").startswith("#1\t")
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "where").startswith("default\tyour own, as this is no git repository")


def test_a_list_of_a_project_without_memories_says_where_those_of_the_person_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path / "web")
    run(capsys, "remember", "I prefer tabs over spaces")
    for words in (("list",), ("list", "--limit", "3")):
        assert main(words) == 0
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "What is about you is in your own hub: add `--hub default`." in printed.err
    assert "tabs" in run(capsys, "list", "--hub", "default")


def test_a_hub_of_a_repository_is_found_without_being_made(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    assert choose(memory, folder=str(tmp_path / "web")).hub is None
    assert memory.hubs() == []


def test_what_was_corrected_since_is_marked_in_the_log_of_the_project_too(tmp_path: Path) -> None:
    at = datetime(2026, 1, 14, 12, tzinfo=UTC)
    said = "I live in Lisbon. Where I live is a short walk from the old harbour building."
    later = {"session": "two", "at": at + timedelta(days=2)}
    with open_for_tests(tmp_path / "home", settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        web = project(memory, tmp_path / "web")
        web.observe_turn(said, "", session="one", at=at)
        web.observe_turn("Actually, I live in Porto now.", "", **later)  # type: ignore[arg-type]
        work_until_done(memory.core, memory.home)
        block = web.context("where do I live?")
    (old,) = [line for line in block.splitlines() if "harbour" in line]
    assert "since corrected" in old, block


@pytest.mark.parametrize("where", ["web", "own"])
def test_a_folder_that_is_set_aside_is_logged_nowhere(
    memory: holdfast.Holdfast, tmp_path: Path, where: str
) -> None:
    web = project(memory, tmp_path / "web")
    assert web.own is not None
    (web if where == "web" else web.own).set_log_aside(folders=[str(tmp_path / "web")])
    seen = web.observe_turn("I live in Lisbon. The staging server is heron.", "Noted.")
    assert seen.reason == "its folder was set aside"
    with pytest.raises(Conflict):
        web.log_turn("user", "I live in Lisbon.")
    assert web.turns() == web.own.turns() == []
    shop = project(memory, tmp_path / "shop")
    assert shop.observe_turn("The staging server is heron.", "Noted.").turns


def test_a_private_passage_of_several_sentences_reaches_neither_log(
    memory: holdfast.Holdfast, tmp_path: Path
) -> None:
    web = project(memory, tmp_path / "web")
    web.observe_turn("We use Go. <private>Our bank is Acme. I like 1234.</private> I am Ada.", "")
    assert web.own is not None
    for hub in (web, web.own):
        said = " ".join(turn.content for turn in hub.turns())
        assert "1234" not in said and "Acme" not in said and "I am Ada." in said


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("wanted", ["session", "since", "about"])
def test_turns_that_are_forgotten_in_a_project_are_forgotten_in_the_persons_own_log_too(
    tmp_path: Path, wanted: str, shared: bool
) -> None:
    with open_for_tests(tmp_path / "home", settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        web, own = project(memory, tmp_path / "web"), memory.hub()
        if shared:
            memory.set_member("bob", "viewer", hub=web.name)
        own.observe_turn("I live in Lisbon, and I like kites.", "", session="another")
        since = memory.core.now()
        said = "I live in Lisbon with my wife Ines. The server in Lisbon is called heron."
        web.observe_turn(said, "Noted.", session="s")
        work_until_done(memory.core, memory.home)
        asked = {"session": "s", "since": since, "about": "Lisbon"}
        seen = web.forget_turns(**{wanted: asked[wanted]}, dry_run=True)
        gone = web.forget_turns(**{wanted: asked[wanted]})
        assert seen.memories == gone.memories
        assert any("Ines" in one.content for one in gone.memories)
        left = [turn.content for turn in own.turns()]
        assert "I live in Lisbon, and I like kites." in left
        assert not any("Ines" in one for one in left)
        assert "Ines" not in web.context("Who is Ines?")


@pytest.mark.parametrize("wanted", ["session", "since", "about"])
def test_turns_that_are_in_the_persons_own_log_alone_are_forgotten_with_their_session(
    memory: holdfast.Holdfast, tmp_path: Path, wanted: str
) -> None:
    """Where others read the project, what is about the person is in no log but theirs."""
    web, own = project(memory, tmp_path / "web"), memory.hub()
    memory.set_member("bob", "viewer", hub=web.name)
    own.observe_turn("My wife is called Ines.", "Ines.", session="another")
    since = memory.core.now()
    memory.core.clock.tick(hours=1)  # type: ignore[attr-defined]
    web.observe_turn("The trunk is called maple.", "Maple.", session="s")
    memory.core.clock.tick(minutes=1)  # type: ignore[attr-defined]
    web.observe_turn("My wife is called Ines.", "", session="s", turn="a")
    memory.core.clock.tick(minutes=1)  # type: ignore[attr-defined]
    web.observe_turn("", "Ines is a fine name.", session="s", turn="a")
    asked = {"session": "s", "since": since, "about": "Ines"}
    total = 2 if wanted == "about" else 4
    seen = web.forget_turns(**{wanted: asked[wanted]}, dry_run=True)
    assert seen.total == len(seen.turns) == total
    assert web.forget_turns(**{wanted: asked[wanted]}).total == total
    assert [turn.session for turn in own.turns()] == ["another", "another"]
    assert len(web.turns()) == (2 if wanted == "about" else 0)
