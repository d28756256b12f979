"""What hooks answer, what they take from a session, and what they do when something is wrong."""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.edges.hooks import front
from holdfast.edges.hooks.event import kind_of
from holdfast.edges.hooks.state_files import note_error, recent_errors
from holdfast.edges.hooks.transcripts import read_turns
from holdfast.edges.local_socket import is_one_there
from holdfast.edges.project import hub_here
from holdfast.errors import InvalidInput
from tests.edges.hooks.hook_calls import Hooks
from tests.growth import assert_time_grows

SAID = (
    "I prefer tabs over spaces. I live in Lisbon. Remember that the staging server is called heron."
)


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[Hooks]:
    hooks = Hooks(tmp_path, server=True)
    yield hooks
    hooks.kill()


def logged(hooks: Hooks, folder: str = "web") -> list[str]:
    turns = json.loads(hooks.holdfast("log", "--json", "-n", "500", folder=folder))["data"]
    return [turn["content"] for turn in turns]


def test_a_new_session_knows_what_an_earlier_one_said(hooks: Hooks) -> None:
    assert hooks.call("SessionStart", source="startup") == ""
    hooks.turn(SAID, turn="t1")
    hooks.turn("Actually, I live in Porto now.", turn="t2")
    block = hooks.call("SessionStart", session="s2", source="startup")
    assert "Porto" in block and "tabs" in block and "heron" in block
    # The fact is superseded; what was said stays in the conversation, before its correction.
    assert "Lives in Lisbon" not in block
    assert "holdfast session" in block and len(block) < 8_000
    assert "user] Actually, I live in Porto now." in block
    # In another project: what is about the person, and nothing of this one.
    other = hooks.call("SessionStart", session="s3", source="startup", folder="shop")
    assert "Porto" in other and "tabs" in other
    assert "heron" not in other


def test_what_a_person_said_last_is_once_in_the_block_of_a_project(hooks: Hooks) -> None:
    hooks.turn("I grew up in Lisbon, and the staging server is called heron.", turn="t1")
    hooks.turn("I have two cats. Rename the parser module.", turn="t2")
    block = hooks.call("SessionStart", session="s2", source="startup")
    ended = [line for line in block.splitlines() if "user]" in line]
    assert len([line for line in ended if "two cats" in line]) == 1, block
    assert len([line for line in ended if "grew up" in line]) == 1, block
    assert block.count("last session") == 1
    found = hooks.turn("How many cats do I have?", turn="t1", session="s3")
    quoted = [line for line in found.splitlines() if line.startswith("- [said")]
    assert len([line for line in quoted if "two cats" in line]) <= 1


def test_a_turn_is_logged_once_however_often_its_hooks_are_called(hooks: Hooks) -> None:
    for _ in range(3):
        hooks.turn("The release branch is called orchard.", "Noted.", turn="t1")
    assert logged(hooks) == ["The release branch is called orchard.", "Noted."]


def test_what_is_in_the_session_is_not_injected_again(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The staging database runs on port 5544")
    first = hooks.turn("Which port does the staging database use?", turn="t1")
    assert "5544" in first and first.startswith("<holdfast-memory")
    assert hooks.turn("And which port does the staging database use?", turn="t2") == ""
    assert hooks.turn("hello there", turn="t3") == ""
    # Another session has not seen it; nor has this one after a compaction.
    assert "5544" in hooks.turn("Which port does staging database use?", turn="t1", session="s2")
    assert "5544" in hooks.call("SessionStart", source="compact")


def test_a_resumed_session_gets_its_block_once(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The staging server is called heron")
    assert "heron" in hooks.call("SessionStart", source="startup")
    assert hooks.call("SessionStart", source="resume") == ""
    assert hooks.turn("What is the staging server called?", turn="t1") == ""


def test_what_a_session_says_is_not_injected_into_it(hooks: Hooks) -> None:
    hooks.turn("Remember that the staging server is called heron.", turn="t1")
    hooks.holdfast("work")
    assert hooks.turn("What is the staging server called?", turn="t2") == ""
    assert "heron" in hooks.turn("What is the staging server called?", turn="t1", session="s2")


def test_an_end_without_a_session_makes_none(hooks: Hooks) -> None:
    """Claude Code sends it where only `claude mcp list` has run, which `holdfast setup` does."""
    missing = str(hooks.root / "none.jsonl")
    for session, given in (("s1", {}), ("s2", {"transcript_path": missing})):
        hooks.call("SessionEnd", reason="other", session=session, **given)
    assert json.loads(hooks.holdfast("status", "--json"))["data"]["session"] is None
    assert json.loads(hooks.holdfast("hub", "list", "--json"))["data"] == []
    hooks.turn("I live in Lisbon.", turn="t1", session="s1")
    hooks.call("SessionEnd", reason="exit", session="s1")
    assert json.loads(hooks.holdfast("status", "--json"))["data"]["session"]["session"] == "s1"


@pytest.mark.parametrize("folder", ["web", "."])
def test_hooks_log_nothing_of_a_folder_that_is_set_aside(hooks: Hooks, folder: str) -> None:
    aside = str((hooks.root / folder).resolve())
    hooks.holdfast("log", "aside", "--folder", aside, folder=folder)
    hooks.turn("I live in Lisbon. The release branch is orchard.", turn="t1", folder=folder)
    given = transcript(hooks.root / "session.jsonl", "The trunk is called maple.")
    hooks.call("SessionEnd", reason="exit", folder=folder, **given)
    assert logged(hooks, folder) == []
    assert "Lisbon" not in hooks.holdfast("list", "--hub", "default")


def test_subagents_log_nothing(hooks: Hooks) -> None:
    hooks.turn("Look at the parser.", "Done.", turn="t1")
    hooks.call("SubagentStop", last_assistant_message="A subagent's words", prompt_id="t1")
    assert logged(hooks) == ["Look at the parser.", "Done."]


def test_forget_that_takes_back_what_was_said_last(hooks: Hooks) -> None:
    hooks.turn("Remember that the staging server is called heron.", turn="t1")
    hooks.turn("Remember that the door code is at the desk.", turn="t2")
    told = hooks.turn("Forget that.", turn="t3")
    assert "Forgotten as asked" in told and told.count("door code") == 1
    block = hooks.call("SessionStart", session="s2", source="startup")
    assert "heron" in block
    listed = hooks.holdfast("list")
    assert "door code" not in listed and "heron" in listed


def test_forget_that_takes_back_nothing_that_was_said_before(hooks: Hooks) -> None:
    hooks.turn("Remember that the staging server is called heron.", turn="t1")
    # The archive of the session is younger than what was said.
    hooks.call("PreCompact", trigger="auto")
    hooks.turn("Thanks!", turn="t2")
    assert "heron" in hooks.turn("Forget that.", turn="t3")
    hooks.turn("I am allergic to nuts, and remember that the build runs on Mondays.", turn="t4")
    hooks.turn("Let us look at the parser now.", turn="t5")
    told = hooks.turn("Forget it.", turn="t6")
    assert "nothing was forgotten" in told
    listed = hooks.holdfast("list") + hooks.holdfast("list", "--hub", "default")
    assert "Mondays" in listed and "nuts" in listed


def test_what_is_forgotten_does_not_come_back_from_the_archive_of_its_session(
    hooks: Hooks,
) -> None:
    hooks.turn("The nightly backup goes to Oslo.", turn="t1")
    hooks.turn("Remember that the staging server is called heron.", turn="t2")
    hooks.call("PreCompact", trigger="auto")
    hooks.turn("Forget that.", turn="t3")
    asked = "What is the staging server called?"
    assert "heron" not in hooks.turn(asked, turn="t1", session="s2")
    assert "heron" not in hooks.holdfast("recall", asked, "--explain", "--json")
    assert "Oslo" in hooks.turn("Where does the nightly backup go?", turn="t2", session="s2")
    # Nor when the archive is made anew.
    hooks.call("PreCompact", trigger="auto")
    assert "heron" not in hooks.holdfast("recall", asked, "--json")
    for _ in ("the archive", "the fact"):
        hooks.holdfast("undo")
    assert "heron" in hooks.holdfast("recall", asked, "--json")


def test_forget_that_takes_back_what_is_in_both_hubs(hooks: Hooks) -> None:
    hooks.turn("I am allergic to nuts, and remember that the build runs on Mondays.", turn="t1")
    told = hooks.turn("Forget that.", turn="t2")
    assert "nuts" in told and "Mondays" in told
    hooks.turn("I have two cats.", turn="t3")
    hooks.turn("Remember that the release branch is called orchard.", turn="t4")
    told = hooks.turn("Forget that.", turn="t5")
    assert "orchard" in told and "cats" not in told


def test_what_a_session_was_given_and_gave_can_be_seen(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The staging server is called heron")
    hooks.call("SessionStart", source="startup")
    hooks.turn("Remember that the door code is at the desk.", turn="t1")
    hooks.call("SessionEnd", reason="exit")
    hooks.holdfast("work")
    seen = json.loads(hooks.holdfast("session", "--json"))["data"]
    assert [row["title"] for row in seen["injected"]] == ["The staging server is called heron"]
    # The line of the journal that it was made from says no more.
    assert [row["title"] for row in seen["captured"]] == ["The door code is at the desk"]
    assert seen["turns"] == 1 and seen["ended_at"]
    text = hooks.holdfast("session", "s1")
    assert "heron" in text and "door code" in text
    assert "s1" in hooks.holdfast("session", "--list")
    # The file of the session holds no words of memories.
    for file in (hooks.home / "hooks" / "sessions").glob("*.json"):
        assert "heron" not in file.read_text() and "desk" not in file.read_text()


def test_a_session_shows_the_turns_that_it_was_given_and_counts_its_own(hooks: Hooks) -> None:
    hooks.turn("The parser is slow on long lines.", "I made it faster.", turn="t1", session="s0")
    hooks.call("SessionEnd", reason="exit", session="s0")
    hooks.call("SessionStart", source="startup")
    given = transcript(hooks.root / "session.jsonl", "Is the parser fast now?")
    # Clients that do not hand the answer to the hook: it is read from the transcript.
    hooks.call("UserPromptSubmit", prompt="Is the parser fast now?")
    hooks.call("SessionEnd", reason="exit", **given)
    text = hooks.holdfast("session", "s1")
    assert "I made it faster." in text and "no longer there" not in text
    assert "1 turn logged" in text


def test_the_transcript_catches_up_what_no_hook_has_seen(hooks: Hooks, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    rows = []
    for number in range(3):
        rows.append(
            {
                "type": "user",
                "promptId": f"p{number}",
                "timestamp": f"2026-11-16T10:0{number}:00Z",
                "message": {"role": "user", "content": f"Question {number}?"},
            }
        )
        answer = [{"type": "text", "text": f"Answer {number}."}]
        rows.append({"type": "assistant", "message": {"role": "assistant", "content": answer}})
    rows.append({"type": "user", "isSidechain": True, "message": {"content": "A subagent's"}})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"type": "user", "mess')
    given = {"transcript_path": str(path)}
    hooks.turn("Question 2?", "Answer 2.", turn="p2", **given)
    assert sorted(logged(hooks)) == sorted(
        f"{side} {number}{end}"
        for number in range(3)
        for side, end in (("Question", "?"), ("Answer", "."))
    )
    hooks.call("SessionEnd", reason="exit", **given)
    assert len(logged(hooks)) == 6


def test_a_turn_of_thousands_of_parts_is_read_once(tmp_path: Path) -> None:
    def call(lines: str) -> None:
        path = tmp_path / "session.jsonl"
        path.write_text(lines)
        [turn], _ = read_turns("claude-code", str(path))
        assert turn.assistant.startswith("Done and done")

    prompt = json.dumps({"type": "user", "message": {"content": "Go on."}}) + "\n"
    words = [{"type": "text", "text": "Done and done. " * 10}]
    part = json.dumps({"type": "assistant", "message": {"content": words}}) + "\n"
    short, long = prompt + part * 4_000, prompt + part * 20_000
    # The square would take 25 times as long.
    assert_time_grows(call, short, long, allowed_s=lambda short_s: 12 * short_s)


@pytest.mark.parametrize("answers", [["Noted."], ["Let me look.", "Noted."]])
def test_a_client_without_names_for_turns_has_its_answers_logged_once(
    hooks: Hooks, answers: list[str]
) -> None:
    """Its hook at the end of a turn knows the last answer and not the prompt."""
    path = hooks.root / "session.jsonl"
    rows: list[dict[str, object]] = []
    for number in range(2):
        prompt = f"The release branch {number} is called orchard."
        rows.append({"type": "user", "message": {"role": "user", "content": prompt}})
        for answer in answers:
            words = [{"type": "text", "text": answer}]
            rows.append({"type": "assistant", "message": {"role": "assistant", "content": words}})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        given = {"transcript_path": str(path)}
        hooks.call("UserPromptSubmit", prompt=prompt, **given)
        hooks.call("Stop", last_assistant_message=answers[-1], **given)
    hooks.call("SessionEnd", reason="exit", **given)
    assert len([text for text in logged(hooks) if "Noted." in text]) == 2
    assert len(logged(hooks)) == 4


def test_the_answer_to_a_prompt_that_is_not_logged_is_logged_once(hooks: Hooks) -> None:
    path = hooks.root / "session.jsonl"
    rows: list[dict[str, object]] = []
    for prompt, answer in (
        ("The trunk is called maple.", "Noted."),
        ("Forget that.", "It is gone."),
    ):
        said = [{"type": "text", "text": answer}]
        rows.append({"type": "user", "message": {"role": "user", "content": prompt}})
        rows.append({"type": "assistant", "message": {"role": "assistant", "content": said}})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        given = {"transcript_path": str(path)}
        hooks.call("UserPromptSubmit", prompt=prompt, **given)
        hooks.call("Stop", last_assistant_message=answer, **given)
    hooks.call("SessionEnd", reason="exit", **given)
    assert logged(hooks).count("It is gone.") == 1


def transcript(path: Path, *said: str) -> dict[str, str]:
    """A transcript of Claude Code with these prompts, each answered."""
    rows: list[dict[str, object]] = []
    for number, words in enumerate(said):
        at = f"2026-11-16T10:{number:02}:00Z"
        user = {"role": "user", "content": words}
        answer = {"role": "assistant", "content": [{"type": "text", "text": f"Answer {number}."}]}
        rows.append({"type": "user", "promptId": f"p{number}", "timestamp": at, "message": user})
        rows.append({"type": "assistant", "timestamp": at, "message": answer})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"transcript_path": str(path)}


def test_before_a_compaction_the_conversation_is_captured_and_archived(
    hooks: Hooks, tmp_path: Path
) -> None:
    # Nothing is noted turn by turn: what is captured, the flush has captured.
    hooks.environ["HOLDFAST_SHADOWJOURNAL_ENABLED"] = "false"
    given = transcript(
        tmp_path / "session.jsonl",
        "Remember that the staging server is called heron.",
        "Which colour is the sky? <private>My code is 1234.</private>",
    )
    for _ in range(2):
        assert hooks.call("PreCompact", trigger="auto", **given) == ""
    assert [words for words in logged(hooks) if "heron" in words] == [
        "Remember that the staging server is called heron."
    ]
    assert len(logged(hooks)) == 4
    (archive,) = (hooks.home / "hubs" / "web" / "conversations").glob("*.md")
    text = archive.read_text()
    assert text.count("<!-- message") == 4 and "called heron" in text and "1234" not in text
    listed = json.loads(hooks.holdfast("list", "--json"))["data"]
    heron = [one for one in listed if "heron" in one["content"] and one["layer"] == "journal"]
    assert len(heron) == 1
    # The session goes on without what it was given before, and gets it anew.
    assert "heron" in hooks.call("SessionStart", source="compact")


@pytest.mark.parametrize("server", [False, True])
def test_sessions_side_by_side_in_one_project_do_not_disturb_each_other(
    tmp_path: Path, server: bool
) -> None:
    hooks = Hooks(tmp_path, server=server)
    hooks.in_process, hooks.patient = False, True
    hooks.holdfast("remember", "The staging database runs on port 5544")
    if server:
        hooks.call("SessionStart", session="s0", source="startup")
        hooks.wait_for_server()
    asked = "Which port does the staging database use?"

    def session(name: str) -> list[str]:
        out = [hooks.turn(asked, f"Answer in {name}.", turn="t1", session=name)]
        out.append(hooks.turn(f"My own words of {name}.", "Yes.", turn="t2", session=name))
        out.append(hooks.turn(f"And again, {asked}", "No.", turn="t3", session=name))
        return out

    try:
        # Each session has two clients that report the same turns at the same time.
        with ThreadPoolExecutor(4) as pool:
            given = list(pool.map(session, ("s1", "s2", "s1", "s2")))
    finally:
        hooks.kill()
    for name, both in (("s1", given[0::2]), ("s2", given[1::2])):
        lines = [line for texts in both for text in texts for line in text.splitlines()]
        assert sum("5544" in line for line in lines) == 1, name
        assert not any(f"My own words of {name}" in line for line in lines)
    turns = json.loads(hooks.holdfast("log", "--json", "-n", "500"))["data"]
    said = sorted((turn["session"], turn["content"]) for turn in turns)
    assert len(said) == len(set(said)) == 12


def test_a_turn_whose_client_was_killed_is_not_lost(hooks: Hooks) -> None:
    # No Stop comes: the person's words were logged with the prompt.
    hooks.call("UserPromptSubmit", prompt="The release branch is orchard.", prompt_id="t1")
    block = hooks.call("SessionStart", session="s2", source="startup")
    assert "orchard" in block


def test_what_programs_write_among_a_persons_messages_is_not_the_persons_word(hooks: Hooks) -> None:
    """Clients write the output of a command that a person ran, and notices, as the user's."""
    path = hooks.root / "session.jsonl"
    fact = "Remember that the server is called heron."
    written = (
        f"<bash-stdout>{fact}</bash-stdout> {fact}",
        f"\n<task-notification>\n<summary>{fact}</summary></task-notification>",
        "[Request interrupted by user]",
    )
    rows: list[dict[str, object]] = [
        {"type": "user", "message": {"role": "user", "content": text}}
        for text in (*written, "Which server is it?")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hooks.call("UserPromptSubmit", prompt=written[1], prompt_id="t1")
    hooks.call("SessionEnd", reason="exit", transcript_path=str(path))
    assert logged(hooks) == ["Which server is it?"]
    run = f"<user_shell_command>\n<result>\n{fact}\n</result>\n</user_shell_command>"
    asked = f"# Context from my IDE setup:\n{fact}\n## My request for Codex:\nWhich port is it?"
    parts = [[{"type": "input_text", "text": text}] for text in (run, asked)]
    said = [{"type": "message", "role": "user", "content": part} for part in parts]
    rows = [{"type": "response_item", "payload": one} for one in said]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hooks.call("SessionEnd", client="codex", session="s2", transcript_path=str(path))
    assert sorted(map(str.strip, logged(hooks))) == ["Which port is it?", "Which server is it?"]


@pytest.mark.parametrize("names", [{"prompt_id": "t1"}, {}])
def test_an_answer_is_logged_without_what_its_prompt_says_in_private(
    hooks: Hooks, names: dict[str, str]
) -> None:
    """The hook at the end of a turn does not know the prompt; the transcript has both."""
    path = hooks.root / "session.jsonl"
    given = {"transcript_path": str(path)}
    prompt = "Mind the gate. <private>Its code is tulipwood.</private>"
    answer = "I will not note tulipwood. The gate is minded."
    words = [{"type": "text", "text": answer}]
    user = {"type": "user", "message": {"content": prompt}, "promptId": names.get("prompt_id")}
    rows = [user, {"type": "assistant", "message": {"content": words}}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for _ in range(2):
        hooks.call("UserPromptSubmit", prompt=prompt, **names, **given)
        hooks.call("Stop", last_assistant_message=answer, **names, **given)
    hooks.call("SessionEnd", reason="exit", **given)
    assert sorted(map(str.strip, logged(hooks))) == ["Mind the gate.", "The gate is minded."]


def test_what_is_private_in_a_long_prompt_stays_so_where_its_tag_is_cut_out(hooks: Hooks) -> None:
    prompt = "Mind the gate. " + "x y " * 12_000 + "<private>never closed " + "z w " * 12_000
    hooks.call("UserPromptSubmit", prompt=prompt, prompt_id="t1")
    (said,) = logged(hooks)
    assert said.startswith("Mind the gate.") and "z w" not in said


# Which hub a turn belongs to


def written(hooks: Hooks, *turns: tuple[str, str, str, str]) -> dict[str, str]:
    """A transcript of turns: each its name, its folder, the prompt and the answer."""
    path = hooks.root / "session.jsonl"
    rows = []
    for name, folder, prompt, answer in turns:
        about = {"promptId": name, "cwd": str(hooks.root / folder)}
        rows.append({"type": "user", "message": {"content": prompt}, **about})
        if answer:
            words = [{"type": "text", "text": answer}]
            rows.append({"type": "assistant", "message": {"content": words}, **about})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"transcript_path": str(path)}


def hubs_with(hooks: Hooks, word: str) -> list[str]:
    """The hubs whose logs have a word."""
    with hooks.opened() as memory:
        names = [hub.name for hub in memory.hubs()]
        return [name for name in names if any(word in t.content for t in memory.hub(name).turns())]


IN_SHOP = ("t1", "shop", "The trunk is called maple.", "Then it is maple.")


def test_a_killed_session_is_logged_in_its_own_hub_by_one_whose_hooks_name_another(
    hooks: Hooks,
) -> None:
    given = written(hooks, IN_SHOP, ("t2", "shop", "Thanks.", ""))
    hooks.call("SessionStart", folder="shop", session="killed", source="startup", **given)
    hooks.call("SessionStart", hub="team", session="s2", source="startup")
    assert hubs_with(hooks, "maple") == ["shop"]


def test_a_killed_session_is_logged_in_the_hub_that_its_hooks_name(hooks: Hooks) -> None:
    given = written(hooks, IN_SHOP, ("t2", "shop", "Thanks.", ""))
    started = {"session": "killed", "source": "startup", **given}
    hooks.call("SessionStart", folder="shop", hub="team", **started)
    hooks.call("SessionStart", session="s2", source="startup")
    assert hubs_with(hooks, "maple") == ["team"]


def test_a_killed_session_of_a_worktree_that_is_gone_is_logged_in_its_hub(hooks: Hooks) -> None:
    tree = hooks.root / "tree"
    tree.mkdir()
    own = hooks.root / "shop" / ".git" / "worktrees" / "tree"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{tree / '.git'}\n")
    (tree / ".git").write_text(f"gitdir: {own}\n")
    turns = [(name, "tree", *said) for name, _, *said in (IN_SHOP, ("t2", "shop", "Thanks.", ""))]
    given = written(hooks, *turns)
    hooks.call("SessionStart", folder="tree", session="killed", source="startup", **given)
    shutil.rmtree(tree)
    hooks.call("SessionStart", session="s2", source="startup")
    assert hubs_with(hooks, "maple") == ["shop"]


def test_a_killed_session_of_a_deleted_hub_is_logged_nowhere(hooks: Hooks) -> None:
    given = written(hooks, IN_SHOP, ("t2", "shop", "Thanks.", ""))
    hooks.call("SessionStart", folder="shop", session="killed", source="startup", **given)
    hooks.holdfast("hub", "delete", "shop", "--yes")
    hooks.call("SessionStart", session="s2", source="startup")
    assert hubs_with(hooks, "maple") == []


def test_a_turn_belongs_to_the_folder_in_which_it_began(hooks: Hooks) -> None:
    """An agent may change to another repository, within a turn and between two."""
    given = written(hooks)
    hooks.call("SessionStart", folder="shop", source="startup", **given)
    name, _, prompt, answer = IN_SHOP
    hooks.call("UserPromptSubmit", folder="shop", prompt=prompt, prompt_id=name, **given)
    written(hooks, IN_SHOP)
    hooks.call("Stop", folder="web", last_assistant_message=answer, prompt_id=name, **given)
    missed = ("t2", "shop", "The maple is old.", "An old maple.")
    written(hooks, IN_SHOP, missed, ("t3", "web", "The site is heron.", "Heron it is."))
    asked = {"prompt": "The site is heron.", "prompt_id": "t3"}
    hooks.call("UserPromptSubmit", folder="web", **asked, **given)
    hooks.call("Stop", folder="web", last_assistant_message="Heron it is.", prompt_id="t3", **given)
    hooks.call("SessionEnd", folder="web", reason="exit", **given)
    assert (hubs_with(hooks, "maple"), hubs_with(hooks, "eron")) == (["shop"], ["web"])
    assert len(logged(hooks, "shop")) == 4
    assert len(logged(hooks, "web")) == 2


@pytest.mark.parametrize("by", ["hook", "transcript"])
@pytest.mark.parametrize("names", ["named", "unnamed"])
def test_an_answer_to_what_is_about_the_person_stays_out_of_a_hub_that_others_read(
    hooks: Hooks, by: str, names: str
) -> None:
    hooks.holdfast("remember", "The trunk is called maple")
    with hooks.opened() as memory:
        memory.set_member("ben", "viewer", hub="web")
    turns = (
        ("t1" if names == "named" else "", "web", "My wife is called Zelda.", "Zelda, noted."),
        ("t2" if names == "named" else "", "web", "The site is heron.", "Heron it is."),
    )
    given = written(hooks, *turns)
    for name, _, prompt, answer in turns if by == "hook" else ():
        called = {"prompt_id": name} if name else {}
        hooks.call("UserPromptSubmit", prompt=prompt, **called, **given)
        hooks.call("Stop", last_assistant_message=answer, **called, **given)
    hooks.call("SessionEnd", reason="exit", **given)
    assert (hubs_with(hooks, "Zelda"), hubs_with(hooks, "eron")) == (["default"], ["web"])
    assert len(logged(hooks)) == 2


# What goes wrong


def test_half_a_character_keeps_no_turn_out_of_the_log(hooks: Hooks) -> None:
    path = hooks.root / "session.jsonl"
    words = [{"type": "text", "text": "It is\0 minded \ud83d."}]
    rows = [{"type": "user", "timestamp": "2026-11-16T10:00:00", "message": {"content": "Hello."}}]
    rows.append({"type": "assistant", "message": {"content": words}})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hooks.call("UserPromptSubmit", prompt="Mind the gate \ud83d\0.", prompt_id="t1")
    hooks.call("SessionEnd", reason="exit", transcript_path=str(path))
    assert sorted(logged(hooks)) == ["Hello.", "It is minded .", "Mind the gate ."]


@pytest.mark.parametrize(
    "data",
    [b"", b"garbage", b"[]", b"{}", b'{"session_id": 5}', b"\xff\xfe", b"[" * 100_000, b"null"],
)
def test_input_that_is_no_event_is_passed_over_and_told_by_the_doctor(
    hooks: Hooks, data: bytes
) -> None:
    ran = hooks.raw("UserPromptSubmit", data)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    notes = json.loads(hooks.holdfast("doctor", "--json"))["data"]["notes"]
    assert len(notes) == 1 and notes[0].startswith("A hook failed (UserPromptSubmit, ")


def test_a_huge_prompt_is_answered(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The staging database runs on port 5544")
    prompt = "Which port does the staging database use? " + "x y " * 1_250_000
    assert "5544" in hooks.call("UserPromptSubmit", prompt=prompt, prompt_id="t1")


def without_override() -> None:
    """Takes from a process of root the right to write where modes forbid it."""
    drop_from_bounding_set, override = 24, 1
    if os.geteuid() == 0 and ctypes.CDLL(None).prctl(drop_from_bounding_set, override, 0, 0, 0):
        os._exit(77)


def test_a_home_that_cannot_be_written_keeps_no_session_from_going_on(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks.holdfast("remember", "The staging server is called heron")
    temporary = hooks.root / "temporary"
    temporary.mkdir()
    hooks.environ["TMPDIR"] = str(temporary)
    paths = [hooks.home, *hooks.home.rglob("*")]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        ran = [
            hooks.raw(event, b'{"session_id": "s1", "prompt": "hi"}', before=without_override)
            for event in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
        ]
    finally:
        for path in paths:
            path.chmod(0o700 if path.is_dir() else 0o600)
    if any(one.returncode == 77 for one in ran):
        pytest.skip("root cannot give up its right to write everywhere here")
    assert [(one.returncode, one.stderr) for one in ran] == [(0, b"")] * 5
    assert logged(hooks) == []
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    notes = json.loads(hooks.holdfast("doctor", "--json"))["data"]["notes"]
    assert any(note.startswith("A hook failed (SessionStart, ") for note in notes)


def test_a_fault_that_a_home_could_not_keep_is_reported_for_that_home_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    # A file in the place of the folder refuses it to root too.
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        home.write_text("")
    note_error(str(homes[0]), "Stop", "it cannot be written")
    assert [len(recent_errors(str(home))) for home in homes] == [1, 0]


def test_a_damaged_store_keeps_no_session_from_going_on(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The staging server is called heron")
    store = hooks.home / "memory.db"
    for path in hooks.home.glob("memory.db-*"):
        path.unlink()
    store.write_bytes(b"not a database" * 1_000)
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"):
        ran = hooks.raw(event, b'{"session_id": "s1", "prompt": "hello"}')
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    faults = (hooks.home / "hooks" / "faults.log").read_text().splitlines()
    assert len(faults) == 5


# The warm process


def test_the_first_hook_starts_a_process_that_answers_the_next(warm: Hooks) -> None:
    warm.holdfast("remember", "The staging server is called heron")
    assert "heron" in warm.call("SessionStart", source="startup")
    warm.wait_for_server()
    pid = warm.server_pid
    socket = warm.home / "hooks" / "socket"
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    warm.turn("The release branch is called orchard.", turn="t1")
    assert logged(warm) == ["The release branch is called orchard.", "Understood."]
    assert warm.server_pid == pid
    # It is killed: the next hook does the work itself, and starts another.
    warm.kill()
    warm.turn("The trunk is called maple.", turn="t2")
    assert "The trunk is called maple." in logged(warm)
    warm.wait_for_server()
    assert warm.server_pid != pid


def test_it_ends_when_nobody_needs_it(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path, server=True)
    hooks.environ["HOLDFAST_HOOKS_IDLE_S"] = "1"
    hooks.call("SessionStart", source="startup")
    hooks.wait_for_server()
    pid = hooks.server_pid
    socket = hooks.home / "hooks" / "socket"
    for _ in range(500):
        if not socket.exists():
            break
        _pause()
    assert not socket.exists()
    with pytest.raises(ProcessLookupError):
        for _ in range(500):
            os.kill(pid, 0)
            _pause()


def test_the_end_of_a_turn_is_logged_by_it_and_does_not_end_it(warm: Hooks) -> None:
    """`stop` is also how a person would call it."""
    warm.call("start", source="startup")
    warm.wait_for_server()
    pid = warm.server_pid
    warm.call("prompt", prompt="The release branch is called orchard.", prompt_id="t1")
    warm.call("stop", last_assistant_message="Understood.", prompt_id="t1")
    assert front.ask(str(warm.home), [front.PING, "", "", ""], b"") == front.PONG
    assert warm.server_pid == pid
    assert logged(warm) == ["The release branch is called orchard.", "Understood."]


def test_it_goes_by_the_settings_as_they_are(warm: Hooks) -> None:
    warm.turn("I prefer tea.", turn="t1")
    warm.wait_for_server()
    warm.holdfast("config", "set", "shadowJournal.enabled", "false")
    warm.turn("I prefer oak.", turn="t2")
    assert "oak" not in warm.holdfast("list", "--hub", "default")
    assert "I prefer oak." in logged(warm)


@pytest.mark.parametrize("word", [front.PING, front.SHUT_DOWN])
def test_no_event_has_the_name_of_a_request_to_the_process(word: str) -> None:
    with pytest.raises(InvalidInput, match="event"):
        kind_of(word)


def test_a_teardown_ends_it_when_no_client_has_hooks_left(warm: Hooks) -> None:
    warm.holdfast("setup", "cursor")
    warm.holdfast("setup", "claude-code")
    warm.wait_for_server()
    pid = warm.server_pid
    warm.holdfast("teardown", "cursor", "--dry-run")
    warm.holdfast("teardown", "cursor")
    assert warm.server_pid == pid
    assert front.ask(str(warm.home), [front.PING, "", "", ""], b"") == front.PONG
    warm.holdfast("teardown", "claude-code")
    with pytest.raises(ProcessLookupError):
        for _ in range(500):
            os.kill(pid, 0)
            _pause()
    assert not (warm.home / "hooks" / "socket").exists()


def _pause() -> None:
    import time

    time.sleep(0.02)


def test_two_hundred_prompts_of_one_session_get_no_line_twice(hooks: Hooks) -> None:
    with hooks.opened() as memory:
        hub, _ = hub_here(memory, folder=str(hooks.root / "web"))
        hub.remember_many(
            {"content": f"Service {n} listens on port {2_000 + n}"} for n in range(60)
        )
    lines: list[str] = []
    chars = 0
    hooks.call("SessionStart", source="startup")
    for number in range(200):
        prompt = f"Which port does service {number % 60} use?"
        text = hooks.call("UserPromptSubmit", prompt=prompt, prompt_id=f"t{number}")
        chars += len(text)
        assert len(text) <= 2_000
        lines += [line for line in text.splitlines() if line.startswith("- [")]
    assert len(lines) == len(set(lines))
    # All 60 are known after the first sixty prompts at the latest.
    assert chars < 60 * 400


def test_a_full_disk_keeps_no_session_from_going_on(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The staging server is called heron")
    event = {"session_id": "s1", "prompt": "The release branch is orchard.", "prompt_id": "t1"}
    # No file may grow: that is how a full disk looks.
    words = [sys.executable, "-I", "-S", front.__file__, "prompt", "--client", "claude-code"]
    ran = subprocess.run(
        ["/bin/sh", "-c", f"trap '' XFSZ; ulimit -f 1; exec {shlex.join(words)}"],
        input=json.dumps(event).encode(),
        env=hooks.environ,
        cwd=hooks.root / "web",
        capture_output=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    faults = json.loads(hooks.holdfast("doctor", "--json"))["data"]["notes"]
    assert any(note.startswith("A hook failed (prompt, ") for note in faults)
    # When there is room again, the turn is logged.
    hooks.turn("The release branch is orchard.", turn="t1")
    assert "The release branch is orchard." in logged(hooks)


def test_the_doctor_ends_the_warm_process_before_it_repairs(warm: Hooks) -> None:
    warm.turn("I live in Lisbon.", "Noted.", turn="t1")
    warm.wait_for_server()
    ping = [front.PING, "", "", ""]
    assert front.ask(str(warm.home), ping, b"") == front.PONG
    warm.holdfast("doctor")
    assert is_one_there(str(warm.home / front.FOLDER))
    assert front.ask(str(warm.home), ping, b"") == front.PONG
    # It has the store open, which is repaired only while nobody else has.
    warm.holdfast("doctor", "--fix")
    assert front.ask(str(warm.home), ping, b"") is None
    assert not is_one_there(str(warm.home / front.FOLDER))
    warm.turn("I work as a nurse.", "Noted.", turn="t2")
    assert logged(warm) == ["I live in Lisbon.", "Noted.", "I work as a nurse.", "Noted."]
