"""The dialect minion: MEMORY.md read and updated by a model, safely."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Holdfast, HubMemory, ModelError
from holdfast.agents.toolset import Reply, Toolset
from holdfast.testing import FixedClock, ScriptedModel, open_for_tests


@pytest.fixture
def tools(hub: HubMemory) -> Toolset:
    return holdfast.tools("minion", hub, agent="minion")


def update(tools: Toolset, action: str, content: str) -> Reply:
    return tools.call("memory_update", {"action": action, "content": content})


def content(tools: Toolset) -> str:
    reply = tools.call("memory_read")
    assert reply.data is not None
    return str(reply.data["content"])


def test_without_memory_there_is_no_file(tools: Toolset, hub: HubMemory) -> None:
    assert tools.call("memory_read").data == {"content": "(MEMORY.md does not exist yet)"}
    assert not Path(hub.memory_md).exists()


def test_an_append_is_read_back_and_answers_with_success_alone(tools: Toolset) -> None:
    reply = update(tools, "append", "## About Me\n- Lives in Oslo.\n")
    assert (reply.text, reply.data) == ('{"success": true}', {"success": True})
    assert content(tools) == "# Long-term Memory\n\n## About Me\n- Lives in Oslo.\n"


def test_memories_are_those_of_all_dialects(tools: Toolset, hub: HubMemory) -> None:
    hub.remember("Prefers tabs", category="preference")
    update(tools, "append", "- Lives in Oslo.")
    assert "Prefers tabs" in content(tools)
    found = hub.recall("Where does she live? Oslo")
    assert (found[0].memory.source_agent, found[0].memory.trust) == ("minion", "agent")
    update(tools, "rewrite", content(tools).replace("Prefers tabs", "Prefers spaces"))
    assert hub.get(1).content == "Prefers spaces"
    assert [entry.after.content for entry in hub.history(1)] == ["Prefers tabs", "Prefers spaces"]


def test_a_duplicate_is_not_appended_and_the_answer_says_so(tools: Toolset, hub: HubMemory) -> None:
    hub.remember("Prefers tabs", category="preference")
    reply = update(tools, "append", "- prefers tabs.")
    assert reply.data == {
        "success": True,
        "note": "Known already and not added again: #1 “Prefers tabs”.",
    }
    assert len(hub.list()) == 1


def test_what_a_rewrite_drops_is_archived_and_the_answer_has_the_way_back(
    tools: Toolset, hub: HubMemory
) -> None:
    hub.remember_many([{"content": f"Fact {n}.", "category": "fact"} for n in range(9)])
    content(tools)
    reply = update(tools, "rewrite", "# Memory\n\n## Person\n- Only this is left\n")
    assert reply.data is not None
    assert reply.data["success"] is True
    change = hub.changes()[0].id
    assert f"`holdfast undo {change}`" in reply.data["note"]
    assert "and 4 more" in reply.data["note"]
    assert [m.content for m in hub.list()] == ["Only this is left"]
    hub.undo(change)
    assert len(hub.list()) == 9
    assert content(tools).count("- Fact ") == 9


def test_what_a_person_typed_between_read_and_rewrite_stays(tools: Toolset, hub: HubMemory) -> None:
    update(tools, "append", "## Fact\n- One.\n- Two.")
    text = content(tools)
    file = Path(hub.memory_md)
    file.write_text(file.read_text() + "- Three, typed by hand.\n")
    reply = update(tools, "rewrite", text.replace("- One.\n", ""))
    assert reply.data is not None
    assert "“Three, typed by hand.”" in reply.data["note"]
    assert content(tools) == "# Long-term Memory\n\n## Fact\n- Two.\n- Three, typed by hand.\n"


def test_past_the_cap_the_model_is_asked_to_condense(
    memory: Holdfast, tools: Toolset, hub: HubMemory
) -> None:
    for n in range(200):
        reply = update(tools, "append", f"## Fact\n- Fact number {n} about something or other.")
        if reply.failed:
            break
    assert 4_000 < len(content(tools)) <= 4_096
    assert "more than the 4,096 allowed" in reply.text
    assert "rewrite it with a shorter text" in reply.text
    too_long = update(tools, "rewrite", content(tools) + "x" * 100)
    assert too_long.failed
    assert "at most 4,096" in too_long.text
    assert not update(tools, "rewrite", "## Fact\n- Facts about something or other.\n").failed
    assert not update(tools, "append", "- Now it fits").failed


OLD = "## About Me\n- Lives in Oslo.\n- Had lunch with Bob on Monday, which was nice.\n"
SHORTER = "## About Me\n- Lives in Oslo.\n- Prefers tabs.\n"


@contextmanager
def condensing(folder: Path, *answers: Any) -> Iterator[tuple[HubMemory, Toolset, ScriptedModel]]:
    model = ScriptedModel(answers)
    settings = {"minion.chars_max": 200}
    with open_for_tests(folder, model=model, settings=settings) as memory:
        hub = memory.hub()
        tools = holdfast.tools("minion", hub)
        update(tools, "append", OLD + "- " + "A long line about something. " * 3)
        yield hub, tools, model


def test_with_a_model_a_file_over_the_cap_is_condensed_and_that_can_be_undone(
    tmp_path: Path,
) -> None:
    with condensing(tmp_path, f"```markdown\n{SHORTER}```") as (hub, tools, model):
        before = Path(hub.memory_md).read_bytes()
        reply = update(tools, "append", "- Prefers tabs.\n- And this is over the cap, I think.")
        assert not reply.failed
        assert content(tools) == SHORTER
        assert "Had lunch with Bob" in model.asked[0].prompt
        note = reply.data["note"] if reply.data else ""
        assert "condensed it" in note
        assert f"`holdfast undo {hub.changes()[0].id}`" in note
        hub.undo(hub.changes()[0].id)
        assert Path(hub.memory_md).read_bytes() == before


@pytest.mark.parametrize(
    "answer",
    ["## About Me\n- Lives in Rome.\n", "", "x " * 200, ModelError("It is down.", hint="Wait.")],
)
def test_what_a_model_makes_up_is_not_used_and_the_append_is_refused(
    tmp_path: Path, answer: Any
) -> None:
    with condensing(tmp_path, answer, answer) as (_, tools, _):
        before = content(tools)
        reply = update(tools, "append", "- Prefers tabs, and this is far over the cap, I think.")
        assert reply.failed
        assert "rewrite it with a shorter text" in reply.text
        assert content(tools) == before


def test_a_model_hears_what_was_wrong_and_may_do_better(tmp_path: Path) -> None:
    wrong = SHORTER.replace("Oslo", "Rome")
    with condensing(tmp_path, wrong, SHORTER) as (_, tools, model):
        assert not update(tools, "append", "- Prefers tabs.\n- And this is over, I think.").failed
        assert "The file does not say: Lives in Rome." in model.asked[1].prompt
        assert content(tools) == SHORTER


def test_the_cap_is_a_setting(tmp_path: Path) -> None:
    with open_for_tests(tmp_path / "other", settings={"minion.chars_max": 200}) as memory:
        tools = holdfast.tools("minion", memory.hub())
        assert not update(tools, "append", "- A short one").failed
        assert "200 allowed" in update(tools, "append", f"- {'long ' * 50}").text


def test_sections_carry_the_date_they_were_last_updated(
    tools: Toolset, hub: HubMemory, clock: FixedClock
) -> None:
    update(tools, "append", "## Fact\n- One.")
    clock.tick(days=2)
    update(tools, "append", "## Person\n- Ann.")
    text = Path(hub.memory_md).read_text()
    assert "## Fact\n<!-- updated 2026-01-14 -->" in text
    assert "## Person\n<!-- updated 2026-01-16 -->" in text


MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    (
        "memory_update",
        {"action": "delete", "content": "x"},
        "action must be one of append, rewrite",
    ),
    ("memory_update", {"action": "append"}, "content must be given"),
    ("memory_update", {"content": "x"}, "action must be given"),
    ("memory_update", {"action": "append", "content": " \n"}, "empty"),
    ("memory_update", {"action": "append", "content": "a\0b"}, "NUL"),
    ("memory_update", {"action": "rewrite", "content": " \n"}, "would empty the memory"),
    ("memory_update", {"action": "rewrite", "content": "x" * 10_000_000}, "at most 3,000,000"),
]


@pytest.mark.parametrize(("tool", "args", "sentence"), MISTAKES)
def test_a_mistake_changes_nothing_and_says_what_is_wrong(
    tools: Toolset, hub: HubMemory, tool: str, args: dict[str, Any], sentence: str
) -> None:
    update(tools, "append", "## Fact\n- One.")
    before = content(tools)
    reply = tools.call(tool, args)
    assert reply.failed
    assert sentence in reply.text
    assert content(tools) == before
    assert len(hub.changes()) == 1


def test_a_hub_sees_nothing_of_another(memory: Holdfast, tools: Toolset) -> None:
    update(tools, "append", "- Lives in Oslo.")
    other = holdfast.tools("minion", memory.create_hub("other"), agent="minion")
    assert content(other) == "(MEMORY.md does not exist yet)"
    update(other, "rewrite", "## Fact\n- Mine.\n")
    assert "Oslo" in content(tools)


def test_read_only_tools_cannot_update(hub: HubMemory) -> None:
    tools = holdfast.tools("minion", hub, read_only=True)
    assert tools.names == ("memory_read",)
    assert update(tools, "append", "- x").failed
