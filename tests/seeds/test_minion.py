"""Minion (seed 003): one MEMORY.md in the prompt of every call. The agent reads it, appends to it
and rewrites it; its limitations and ideas for the future are behaviours here."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast import Holdfast, HubMemory
from holdfast.testing import FixedClock, HashEmbedder, ScriptedModel, open_for_tests
from tests.seeds.documented import Seed, documented

SEED = Seed(
    "003",
    "Minion",
    "minion",
    48,
    {
        "title, date and headings": [1, 3, 5, 11, 15, 23, 35, 42],
        "empty": [2, 4, 6, 8, 10, 12, 14, 16, 18, 22, 24, 26, 32, 34, 36, 41, 43],
    },
)

# The sections that the document names, with lines of their kind.
FILE = """\
# Memory

Only store what will still matter in three months AND changes behaviour.

## About Me
- Name: Ada, lives in Oslo (CET), two children

## Interaction Preferences
- Short answers, no praise

## Safety + Guardrails
- Never store or print secrets
- Ask before shell commands that delete files

## Machine / Runtime
- Mac Mini, the agent may run scripts

## Memory Management Policy
- Keep this file below two pages
"""


def update(hub: HubMemory, action: str, content: str) -> None:
    reply = holdfast.tools("minion", hub, agent="minion").call(
        "memory_update", {"action": action, "content": content}
    )
    assert not reply.failed, reply.text
    assert reply.data is not None
    assert reply.data["success"] is True


def read(hub: HubMemory) -> str:
    reply = holdfast.tools("minion", hub, agent="minion").call("memory_read")
    assert reply.data is not None
    return str(reply.data["content"])


@documented(
    "a memory file is injected into the system prompt of every call",
    lines=(7, 13),
    call='`hub.context(style="minion")` before each call of the model',
)
def test_the_block_has_a_heading_a_sentence_and_the_file(hub: HubMemory) -> None:
    assert hub.context(style="minion") == ""
    update(hub, "append", "## About Me\n- Lives in Oslo.\n")
    block = hub.context(style="minion")
    assert block.startswith("---\n\n## Memory\n")
    assert "## About Me" in block
    assert "- Lives in Oslo." in block
    update(hub, "append", "- Has two children.\n")
    assert "- Has two children." in hub.context(style="minion")


@documented(
    "the agent updates memory with a tool when it learns something",
    lines=7,
    call='`call memory_update {"action": "append", "content": …}`',
    differs="what is appended is also found by `recall`, and by the tools of other dialects",
)
def test_what_is_appended_is_memory_everywhere(hub: HubMemory) -> None:
    update(hub, "append", "- Prefers tabs over spaces.")
    assert hub.recall("tabs or spaces")[0].memory.content == "Prefers tabs over spaces."


@documented(
    "the file is private: beside the database, not in version control",
    lines=9,
    call="`hubs/<hub>/MEMORY.md` in the home, or `holdfast hub folder`",
    differs="files have mode 0600, folders 0700",
)
def test_the_file_is_for_its_owner_alone(hub: HubMemory) -> None:
    update(hub, "append", "- Lives in Oslo.")
    file = Path(hub.memory_md)
    assert file.is_relative_to(hub.home)
    assert file.stat().st_mode & 0o077 == 0


@documented(
    "memory_read returns the whole of MEMORY.md",
    lines=17,
    call="`call memory_read {}`",
    differs="ids and dates, which are comments in the file, are left out of what is read",
)
def test_memory_read_returns_the_file(hub: HubMemory) -> None:
    assert read(hub) == "(MEMORY.md does not exist yet)"
    update(hub, "append", FILE)
    assert read(hub) == FILE


@documented(
    "append adds content to the end of the file",
    lines=(19, 20),
    call='`call memory_update {"action": "append", "content": …}`',
    differs="under a heading that is there already it goes below that; code and tables become a "
    "bullet",
)
def test_append_adds_the_text_as_given_at_the_end(hub: HubMemory) -> None:
    update(hub, "append", FILE)
    update(hub, "append", "The agent runs at night.\n\n## Deploys / Releases\n* On Fridays\n")
    assert read(hub) == (
        FILE + "\nThe agent runs at night.\n\n## Deploys / Releases\n* On Fridays\n"
    )
    update(hub, "append", "## About Me\n- Likes skiing\n")
    assert "two children\n- Likes skiing\n" in read(hub)


@documented(
    "rewrite replaces the entire file",
    lines=21,
    call='`call memory_update {"action": "rewrite", "content": …}`',
    differs="it is a difference: lines that stay keep their history",
)
def test_rewrite_replaces_the_file(hub: HubMemory) -> None:
    update(hub, "append", FILE)
    new = "# Notes\n\n## Machine / Runtime\n- Mac Mini, the agent may run scripts\n"
    update(hub, "rewrite", new)
    assert read(hub) == new
    assert hub.recall("Mac Mini")[0].memory.version == 1


@documented(
    "the file carries its own rule at the top, and sections of any name",
    lines=(25, 27, 28, 30, 31, 33),
    call="any markdown; a `##` heading is kept as typed and names a category",
)
def test_headings_are_free_form(hub: HubMemory) -> None:
    update(hub, "append", FILE)
    assert read(hub) == FILE
    categories = {memory.category for memory in hub.list()}
    assert {"about me", "machine-runtime", "memory management policy"} <= categories
    hub.sync()
    assert "## Machine / Runtime\n" in Path(hub.memory_md).read_text()


@documented(
    "guardrails are content: a secrets policy, shell rules, a policy for files",
    lines=29,
    call="append them below a heading",
    differs="attempts to take the model over are held for a person's review",
)
@pytest.mark.parametrize(
    "rule",
    [
        "Never store or print secrets",
        "Never reveal passwords or API keys to anyone",
        "Do not run rm -rf without asking",
        "Write files only below ~/work",
        "Always confirm before sending email",
    ],
)
def test_guardrails_are_kept(hub: HubMemory, rule: str) -> None:
    update(hub, "append", f"## Safety + Guardrails\n- {rule}\n")
    assert f"- {rule}\n" in read(hub)
    assert hub.review() == []


@documented(
    "a limitation there: duplicates are appended",
    lines=37,
    call="nothing to call",
    differs="what is known is not added again, in any case and punctuation; the reply says so",
)
def test_duplicates_are_not_appended(hub: HubMemory) -> None:
    update(hub, "append", "- Lives in Oslo.")
    before = read(hub)
    update(hub, "append", "- lives in OSLO")
    assert read(hub) == before


@documented(
    "a limitation there: a rewrite may lose what the agent forgot",
    lines=38,
    call="`holdfast undo`, as the reply says",
    differs="what a rewrite leaves out is archived; undo brings the file back byte for byte",
)
def test_a_rewrite_is_undone_byte_for_byte(hub: HubMemory) -> None:
    update(hub, "append", FILE)
    before = Path(hub.memory_md).read_bytes()
    update(hub, "rewrite", "## About Me\n- Only this is left\n")
    hub.undo()
    assert Path(hub.memory_md).read_bytes() == before
    assert read(hub) == FILE


@documented(
    "a limitation there: no cap; the idea: 4K characters, then ask the agent to condense",
    lines=(39, 45),
    call="`minion.chars_max` (4096)",
    differs="with `llm.model` set the file is condensed at once, checked against its own lines, "
    "and undo takes that back",
)
def test_past_the_cap_the_agent_or_a_model_condenses(tmp_path: Path) -> None:
    with open_for_tests(tmp_path / "alone", settings={"minion.chars_max": 200}) as memory:
        tools = holdfast.tools("minion", memory.hub())
        words = {"action": "append", "content": "- " + "many words " * 30}
        assert "Condense it first" in tools.call("memory_update", words).text
    model = ScriptedModel(["## About Me\n- Lives in Oslo.\n- Prefers tabs.\n"])
    settings = {"minion.chars_max": 200}
    with open_for_tests(tmp_path / "model", model=model, settings=settings) as memory:
        hub = memory.hub()
        update(hub, "append", "## About Me\n- Lives in Oslo.\n- " + "Had a nice day. " * 8)
        before = read(hub)
        update(hub, "append", "- Prefers tabs.\n- It was sunny in the morning, too.")
        assert read(hub) == "## About Me\n- Lives in Oslo.\n- Prefers tabs.\n"
        hub.undo()
        assert read(hub) == before


@documented(
    "a limitation there: one file; the idea: facts.md, preferences.md, projects.md",
    lines=(40, 48),
    call="`holdfast config set files.per_category true`",
)
def test_each_category_may_have_a_file(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"files.per_category": True}) as memory:
        hub = memory.hub()
        update(hub, "append", "## Preference\n- Prefers tabs.\n\n## Fact\n- The sky is wide.\n")
        folder = Path(hub.folder)
        assert "Prefers tabs." in (folder / "preferences.md").read_text()
        assert "The sky is wide." in (folder / "facts.md").read_text()


@documented(
    "an idea there: sections with the date they were last updated",
    lines=44,
    call="in MEMORY.md, a comment below each heading that something was added to",
    differs="not in what the model reads: it would pay for the dates on every call and copy them",
)
def test_sections_carry_dates_in_the_file_alone(hub: HubMemory, clock: FixedClock) -> None:
    update(hub, "append", "## Fact\n- One.\n")
    clock.tick(days=2)
    update(hub, "append", "## Person\n- Ann.\n")
    text = Path(hub.memory_md).read_text()
    assert "## Fact\n<!-- updated 2026-01-14 -->" in text
    assert "## Person\n<!-- updated 2026-01-16 -->" in text
    assert "updated" not in read(hub) + hub.context(style="minion")


@documented(
    "an idea there: a vector store, and what is relevant retrieved at the start",
    lines=46,
    call="`hub.context(query)`, `hub.recall(query)`",
)
def test_memories_are_found_by_what_is_asked(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        update(hub, "append", "- The staging server is called heron.\n- Lunch is at noon.\n")
        assert "heron" in hub.recall("staging server")[0].memory.content
        assert "heron" in hub.context("staging server")


@documented(
    "an idea there: an append-only log that is compacted now and then",
    lines=47,
    call="`remember` of the journal and `holdfast consolidate`; `holdfast compact`",
)
def test_a_log_is_compacted(memory: Holdfast, hub: HubMemory, clock: FixedClock) -> None:
    hub.journal_add("I prefer tabs over spaces.")
    clock.tick(hours=1)
    hub.consolidate()
    assert "tabs over spaces" in hub.context(style="minion")
    hub.remember("Doors close at 19:00.", layer="long_term", category="fact")
    hub.remember("doors close at 19:00", layer="long_term", category="fact", session="b")
    assert len(hub.compact().merged) == 1
