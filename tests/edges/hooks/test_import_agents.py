"""Conversations that agents have kept are taken in once, and can be taken back."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.testing import HashEmbedder
from tests.edges.hooks.hook_calls import Hooks

SAID = "I live in Lisbon. Remember that the staging server is called heron."


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def write(path: Path, rows: list[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def claude(folder: Path) -> list[object]:
    user = {"role": "user", "content": SAID}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]}
    at = {"timestamp": "2026-05-01T10:00:00Z", "cwd": str(folder)}
    return [
        {"type": "user", "promptId": "p1", "message": user, **at},
        {"type": "assistant", "message": answer, **at},
    ]


def codex(folder: Path) -> list[object]:
    def item(role: str, kind: str, text: str) -> object:
        content = [{"type": kind, "text": text}]
        payload = {"type": "message", "role": role, "content": content}
        return {"type": "response_item", "timestamp": "2026-05-01T10:00:00Z", "payload": payload}

    head = {"type": "session_meta", "payload": {"id": "s1", "cwd": str(folder)}}
    return [head, item("user", "input_text", SAID), item("assistant", "output_text", "Noted.")]


def gemini(folder: Path) -> list[object]:
    at = {"timestamp": "2026-05-01T10:00:00Z"}
    return [
        {"sessionId": "s1", "kind": "main"},
        {"id": "1", "type": "user", "content": [{"text": SAID}], **at},
        {"id": "2", "type": "gemini", "content": "Noted.", **at},
    ]


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini"])
def test_a_past_is_taken_in_once_and_can_be_taken_back(hooks: Hooks, client: str) -> None:
    person, web = hooks.root / "person", hooks.root / "web"
    if client == "claude-code":
        write(person / ".claude" / "projects" / "-web" / "s1.jsonl", claude(web))
    elif client == "codex":
        folder = person / ".codex" / "sessions" / "2026" / "05" / "01"
        write(folder / "rollout-1.jsonl", codex(web))
    else:
        chats = person / ".gemini" / "tmp" / "web" / "chats"
        write(chats / "session-1.jsonl", gemini(web))
        (chats.parent / ".project_root").write_text(str(web))
    preview = json.loads(hooks.holdfast("import", client, "--dry-run", "--json"))["data"]
    assert preview == [{"where": str(web), "session": "s1", "count": 1}]
    assert "Lisbon" not in hooks.holdfast("context")
    hooks.holdfast("import", client, "--yes")
    again = json.loads(hooks.holdfast("import", client, "--json", "--yes"))["data"]
    assert again == [{"where": "web", "session": "s1", "count": 0}]
    block = hooks.holdfast("context")
    assert "Lisbon" in block and "heron" in block
    turns = json.loads(hooks.holdfast("log", "--json"))["data"]
    assert [turn["content"] for turn in turns] == [SAID, "Noted."]
    assert turns[0]["at"].startswith("2026-05-01T10:00:00")
    hooks.holdfast("import", client, "--undo")
    block = hooks.holdfast("context")
    assert "Lisbon" not in block and "heron" not in block
    assert json.loads(hooks.holdfast("log", "--json"))["data"] == []


def test_what_was_taken_in_is_found_by_meaning_at_once(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.wiring.embedder_of", lambda settings: HashEmbedder())
    projects = hooks.root / "person" / ".claude" / "projects"
    write(projects / "-web" / "s1.jsonl", claude(hooks.root / "web"))
    hooks.holdfast("import", "claude-code", "--yes")
    assert json.loads(hooks.holdfast("doctor", "--json"))["data"]["passages_without_vectors"] == 0


@pytest.fixture
def past(hooks: Hooks) -> Hooks:
    """Two conversations of Claude Code in two repositories."""
    projects = hooks.root / "person" / ".claude" / "projects"
    write(projects / "-web" / "s1.jsonl", claude(hooks.root / "web"))
    write(projects / "-shop" / "s2.jsonl", claude(hooks.root / "shop"))
    return hooks


def changes(hooks: Hooks, hub: str) -> list[dict[str, object]]:
    found = json.loads(hooks.holdfast("history", "--hub", hub, "--json"))
    return [one for one in found["data"] if not one["undone_by"]]


def test_a_past_goes_to_the_hub_of_a_repository_that_was_moved_since(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The trunk is called maple")
    sessions = hooks.root / "person" / ".claude" / "projects"
    write(sessions / "-web" / "s1.jsonl", claude(hooks.root / "web"))
    write(sessions / "-web-docs" / "s2.jsonl", claude(hooks.root / "web" / "docs"))
    (hooks.root / "web").rename(hooks.root / "site")
    taken = json.loads(hooks.holdfast("import", "claude-code", "--json", "--yes", folder="site"))[
        "data"
    ]
    assert {row["where"] for row in taken} == {"web"}
    assert "heron" in hooks.holdfast("recall", "staging server", "--hub", "web", folder="site")
    assert "heron" not in hooks.holdfast("context", folder="shop")


def test_a_past_of_a_repository_inside_another_goes_to_its_own_hub(hooks: Hooks) -> None:
    (hooks.root / "web" / "app" / ".git").mkdir(parents=True)
    hooks.holdfast("remember", "The trunk is called maple")
    hooks.holdfast("remember", "The trunk is called birch", folder="web/app")
    sessions = hooks.root / "person" / ".claude" / "projects"
    write(sessions / "-web-app" / "s1.jsonl", claude(hooks.root / "web" / "app"))
    (hooks.root / "web").rename(hooks.root / "site")
    taken = json.loads(hooks.holdfast("import", "claude-code", "--json", "--yes", folder="site"))
    assert {row["where"] for row in taken["data"]} == {"app"}


def test_a_past_that_went_through_two_repositories_goes_to_the_hubs_of_both(hooks: Hooks) -> None:
    sessions = hooks.root / "person" / ".claude" / "projects"
    rows: list[object] = [*claude(hooks.root / "web")]
    at = {"timestamp": "2026-05-01T11:00:00Z", "cwd": str(hooks.root / "shop")}
    rows.append({"type": "user", "promptId": "p2", "message": {"content": "The maple?"}, **at})
    rows.append({"type": "assistant", "message": {"content": "A maple."}, **at})
    write(sessions / "-web" / "s1.jsonl", rows)
    taken = json.loads(hooks.holdfast("import", "claude-code", "--json", "--yes"))["data"]
    assert taken == [{"where": "web", "session": "s1", "count": 2}]
    for name, said in (("web", [SAID, "Noted."]), ("shop", ["The maple?", "A maple."])):
        turns = json.loads(hooks.holdfast("log", "--hub", name, "--json"))["data"]
        assert sorted(turn["content"] for turn in turns) == sorted(said)
    hooks.holdfast("import", "claude-code", "--undo")
    for name in ("web", "shop"):
        assert json.loads(hooks.holdfast("log", "--hub", name, "--json"))["data"] == []


def test_a_past_goes_to_the_hub_that_is_named_for_all(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The trunk is called maple")
    sessions = hooks.root / "person" / ".claude" / "projects"
    write(sessions / "-web" / "s1.jsonl", claude(hooks.root / "web"))
    (hooks.root / "web").rename(hooks.root / "site")
    hooks.environ["HOLDFAST_HUB"] = "work"
    hooks.holdfast("hub", "create", "work", folder="site")
    taken = json.loads(hooks.holdfast("import", "claude-code", "--json", "--yes", folder="site"))
    assert {row["where"] for row in taken["data"]} == {"work"}


def test_a_past_of_a_worktree_that_is_gone_goes_to_its_repository(hooks: Hooks) -> None:
    gone = hooks.root / "web" / ".claude" / "worktrees" / "fix"
    write(hooks.root / "person" / ".claude" / "projects" / "-fix" / "s1.jsonl", claude(gone))
    taken = json.loads(hooks.holdfast("import", "claude-code", "--json", "--yes"))["data"]
    assert [row["where"] for row in taken] == ["web"]


def test_a_fact_of_an_import_shows_the_day_it_was_said(past: Hooks) -> None:
    past.holdfast("import", "claude-code", "--yes")
    for words in (["list"], ["recall", "where do I live in Lisbon"]):
        shown = past.holdfast(*words, "--hub", "default")
        assert "Lisbon" in shown
        assert set(re.findall(r"20\d\d-\d\d-\d\d", shown)) == {"2026-05-01"}, shown
    rows = json.loads(past.holdfast("list", "--hub", "default", "--json"))["data"]
    (fact,) = [row for row in rows if row["layer"] == "long_term"]
    assert fact["valid_from"].startswith("2026-05-01T10:00:00")


def test_an_import_is_one_change_set_of_the_same_id_in_every_hub(past: Hooks) -> None:
    past.holdfast("import", "claude-code", "--yes")
    found = {hub: changes(past, hub) for hub in ("web", "shop", "default")}
    assert {hub: [one["action"] for one in rows] for hub, rows in found.items()} == {
        "web": ["import"],
        "shop": ["import"],
        "default": ["import"],
    }
    assert len({one["id"] for rows in found.values() for one in rows}) == 1


def test_an_import_in_which_something_was_taken_back_is_undone_whole(hooks: Hooks) -> None:
    projects = hooks.root / "person" / ".claude" / "projects"
    rows = claude(hooks.root / "web")
    said = ("We moved from vitest to jest.", "Scratch that, we stay with vitest.")
    for number, text in enumerate(said):
        at = {"timestamp": f"2026-05-01T11:0{number}:00Z", "cwd": str(hooks.root / "web")}
        user = {"role": "user", "content": text}
        rows.append({"type": "user", "promptId": f"said{number}", "message": user, **at})
    write(projects / "-web" / "s1.jsonl", rows)
    hooks.holdfast("import", "claude-code", "--yes")
    listed = json.loads(hooks.holdfast("list", "--forgotten", "--json"))["data"]
    assert any("jest" in one["content"] for one in listed)
    assert len(changes(hooks, "web")) == 1
    hooks.holdfast("import", "claude-code", "--undo")
    assert changes(hooks, "web")[0]["action"] == "undo"
    assert json.loads(hooks.holdfast("list", "--json"))["data"] == []
    assert json.loads(hooks.holdfast("log", "--json"))["data"] == []


def test_undo_takes_an_import_back_in_its_hub_with_the_turns(past: Hooks) -> None:
    past.holdfast("import", "claude-code", "--yes")
    past.holdfast("undo", "--hub", "web")
    assert "heron" not in past.holdfast("recall", "staging server", "--hub", "web")
    assert "heron" in past.holdfast("recall", "staging server", "--hub", "shop")
    past.holdfast("import", "claude-code", "--yes")
    assert "heron" in past.holdfast("recall", "staging server", "--hub", "web")


def test_undoing_an_import_says_how_many_turns_went_for_good(past: Hooks) -> None:
    past.holdfast("import", "claude-code", "--yes")
    logged = json.loads(past.holdfast("log", "--hub", "web", "--json"))["data"]
    undone = json.loads(past.holdfast("undo", "--hub", "web", "--json"))["data"]
    assert logged and undone["turns"] == len(logged)
    back = json.loads(past.holdfast("undo", undone["change"]["id"], "--hub", "web", "--json"))
    assert (back["data"]["turns"], back["data"]["missing"]) == (0, len(logged))
    past.holdfast("import", "claude-code", "--yes")
    again = json.loads(past.holdfast("log", "--hub", "web", "--json"))["data"]
    assert [turn["content"] for turn in again] == [turn["content"] for turn in logged]


def test_undoing_an_import_leaves_what_hooks_have_logged(past: Hooks) -> None:
    past.call("UserPromptSubmit", session="s1", prompt="The mascot is a heron.", prompt_id="p0")
    past.holdfast("import", "claude-code", "--yes")
    past.holdfast("import", "claude-code", "--undo")
    turns = json.loads(past.holdfast("log", "--hub", "web", "--json"))["data"]
    assert [turn["content"] for turn in turns] == ["The mascot is a heron."]


def test_an_import_that_was_interrupted_goes_on_in_the_same_change_set(
    past: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.edges.hooks import past_sessions

    def killed(self: past_sessions.Import) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, suppress(KeyboardInterrupt, AssertionError):
        broken.setattr(past_sessions.Import, "finish", killed)
        past.holdfast("import", "claude-code", "--yes")
    more = claude(past.root / "web")
    more[0]["promptId"], more[0]["message"] = (
        "p2",
        {  # type: ignore[index]
            "role": "user",
            "content": "Remember that the production server is called bittern.",
        },
    )
    projects = past.root / "person" / ".claude" / "projects"
    write(projects / "-web" / "s1.jsonl", [*claude(past.root / "web"), *more])
    past.holdfast("import", "claude-code", "--yes")
    assert [one["action"] for one in changes(past, "web")] == ["import"]
    past.holdfast("undo", "--hub", "web")
    assert "bittern" not in past.holdfast("recall", "production server", "--hub", "web")


def three_sessions(hooks: Hooks) -> None:
    """Three conversations in one repository, each with something to note."""
    for number, name in enumerate(("heron", "bittern", "egret"), 1):
        said = {"role": "user", "content": f"Remember that server {number} is called {name}."}
        rows: list[object] = [{"type": "user", "message": said, "cwd": str(hooks.root / "web")}]
        write(hooks.root / "person/.claude/projects/-web" / f"s{number}.jsonl", rows)


def broken_off(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that is interrupted while it notes the first turn."""

    def interrupted(proposed: object, **options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, suppress(AssertionError):
        broken.setattr("holdfast.passes.journaler.by_rules", interrupted)
        hooks.holdfast("import", "claude-code", "--yes")


def test_an_import_that_was_broken_off_notes_the_rest_at_once(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    three_sessions(hooks)
    broken_off(hooks, monkeypatch)
    said = capsys.readouterr().err
    assert "Interrupted after 0 of 3 conversations." in said
    assert "`holdfast import claude-code` takes in the rest" in said
    hooks.holdfast("import", "claude-code", "--yes")
    block = hooks.holdfast("context")
    assert all(name in block for name in ("heron", "bittern", "egret")), block


def test_turns_of_an_import_wait_for_a_worker_that_was_killed(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease lasts for minutes, and the queue of notes is short."""
    three_sessions(hooks)
    monkeypatch.setattr("holdfast.engine.jobs.put_back", lambda core, job: None)
    broken_off(hooks, monkeypatch)
    hooks.environ["HOLDFAST_SHADOWJOURNAL_QUEUEMAX"] = "1"
    hooks.holdfast("import", "claude-code", "--yes")
    hooks.call("UserPromptSubmit", session="s9", prompt="The mascot is an owl.", prompt_id="p1")
    waiting = json.loads(hooks.holdfast("jobs", "--json"))["data"]
    states = [job["state"] for job in waiting]
    assert states == ["running", "waiting", "waiting", "waiting"], waiting


def test_undoing_an_import_that_was_broken_off_leaves_what_hooks_have_logged_since(
    past: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_off(past, monkeypatch)
    logged = json.loads(past.holdfast("log", "--hub", "web", "--json"))["data"]
    assert [turn["content"] for turn in logged] == [SAID, "Noted."]
    past.call("UserPromptSubmit", session="s1", prompt="The mascot is a heron.", prompt_id="p9")
    past.holdfast("import", "claude-code", "--undo")
    turns = json.loads(past.holdfast("log", "--hub", "web", "--json"))["data"]
    assert [turn["content"] for turn in turns] == ["The mascot is a heron."]
