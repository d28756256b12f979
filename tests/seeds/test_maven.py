"""Maven (seed 001): MEMORY.md in the prompt, a journal a day, a pass that writes notes after each
turn, and one that promotes what lasts."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Holdfast, HubMemory
from holdfast.errors import InvalidSetting
from holdfast.llm import parse
from holdfast.passes import schedule
from holdfast.passes.consolidation.run import NAME, PERIODIC, RUNNING
from holdfast.sources import Registry
from holdfast.testing import FixedClock, ScriptedModel, call, open_for_tests
from tests.edges.cli.cli_calls import Run
from tests.seeds.documented import Seed, documented
from tests.unit.sources.test_registry import Plain

_BLANK = [
    *(2, 4, 6, 8, 12, 14, 16, 18, 20, 22, 24, 26, 28, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50),
    *(52, 54, 56, 58, 66, 68, 70, 72, 80, 82, 84, 86, 96, 98, 100, 105, 107, 109, 112, 114),
    *(120, 122),
]
SEED = Seed(
    "001",
    "Maven",
    "maven",
    123,
    {
        "navigation and title": [1, 3],
        "headings and heads of tables": [
            *(7, 9, 15, 23, 27, 33, 35, 41, 47, 53, 71, 77, 83, 93, 97, 99, 108, 113, 121),
        ],
        "empty": _BLANK,
    },
)
EXAMPLE = "User prefers Postgres on Hetzner, not RDS."
ON = {"shadowJournal.enabled": True}


def said(hub: HubMemory, name: str, **args: Any) -> str:
    reply = holdfast.tools("maven", hub, agent="maven").call(name, args)
    assert not reply.failed, reply.text
    return reply.text


def journal(hub: HubMemory, day: str = "2026-01-14") -> Path:
    return Path(hub.folder) / f"{day}.md"


def run_consolidation(memory: Holdfast) -> None:
    """A look of the schedule."""
    schedule.run_due(memory.core, memory.hub, stop=lambda: False, passes=[PERIODIC])


@documented(
    "two layers, long-term (always in context) and episodic (on demand), and a pass between them",
    lines=(5, 13),
    call='`hub.context(style="maven")`, `memory_search`, `holdfast consolidate`',
)
def test_two_layers_and_a_pass_between_them(hub: HubMemory, clock: FixedClock) -> None:
    said(hub, "remember", content=EXAMPLE)
    assert EXAMPLE not in hub.context(style="maven")
    assert EXAMPLE in said(hub, "memory_search", query="hetzner")
    clock.tick(hours=1)
    hub.consolidate()
    assert EXAMPLE in hub.context(style="maven")


@documented(
    "long-term memory is MEMORY.md, edited directly as a file",
    lines=(10, 17),
    call="edit `MEMORY.md` in the hub's folder (`holdfast hub folder`)",
    differs="what was edited is seen at the next operation, not only at a reload; each line "
    "becomes a memory with a history",
)
def test_memory_md_is_edited_as_a_file(hub: HubMemory) -> None:
    hub.sync()
    file = Path(hub.memory_md)
    file.write_text(file.read_text() + "\n## Preference\n\n- Prefers tabs\n")
    assert "- Prefers tabs" in hub.context(style="maven")
    assert hub.get(1).content == "Prefers tabs"


@documented(
    "the episodic layer is one file for each UTC date",
    lines=11,
    call="`remember`, `memory_search` and `memory_get` of the dialect",
)
def test_each_utc_date_has_a_file(hub: HubMemory, clock: FixedClock) -> None:
    said(hub, "remember", content="Uses pnpm")
    clock.tick(days=1)
    said(hub, "remember", content="Uses tabs")
    assert "Uses pnpm" in journal(hub).read_text()
    assert "Uses tabs" in journal(hub, "2026-01-15").read_text()


@documented(
    "the file is put after the system prompt under `# Long-term Memory`",
    lines=17,
    call='`hub.context(style="maven")`',
)
def test_the_block_has_the_heading(hub: HubMemory) -> None:
    hub.remember("Prefers tabs", category="preference")
    assert hub.context(style="maven").startswith("# Long-term Memory\n")


@documented(
    "of several memory plugins exactly one is primary, checked at construction",
    lines=19,
    call="`holdfast.sources.Registry`; `sources.read` adds read-only ones",
)
def test_exactly_one_memory_is_primary() -> None:
    with pytest.raises(InvalidSetting, match="Several memories are primary"):
        Registry([Plain("a", primary=True), Plain("b", primary=True)])
    with pytest.raises(InvalidSetting, match="None of these memories is primary"):
        Registry([Plain("a")])


@documented(
    "at most 12,288 characters of the file are in the prompt; what is cut ends with `…`",
    lines=21,
    call='`hub.context(style="maven")`; `context.chars_max`',
)
def test_the_block_is_capped(hub: HubMemory) -> None:
    hub.sync()
    Path(hub.memory_md).write_text("ä" * 20_000, encoding="utf-8")
    body = hub.context(style="maven").partition("\n\n")[2].rstrip("\n")
    assert len(body) <= 12_288
    assert body.endswith("ä…")


@documented(
    "a journal is plain markdown; remember appends and touches nothing else",
    lines=25,
    call='`call remember {"content": …}`',
    differs="a line begins with `- HH:MM`; what the day says already is not written again",
)
def test_remember_appends_and_touches_nothing_else(hub: HubMemory) -> None:
    said(hub, "remember", content="Uses pnpm")
    typed = journal(hub).read_text() + "\n# A heading of mine\n\nsome text\n"
    journal(hub).write_text(typed)
    said(hub, "remember", content="Uses tabs")
    assert journal(hub).read_text().startswith(typed)
    assert journal(hub).read_text().splitlines()[-1].endswith("Uses tabs")


@documented(
    "only files named YYYY-MM-DD.md are journals, and MEMORY.md is none",
    lines=(29, 30),
    call="files in the hub's folder; `memory_search`",
)
def test_other_names_are_no_journals(hub: HubMemory) -> None:
    said(hub, "remember", content="Uses pnpm")
    for name in ("MEMORY.md", "2026-02-31.md", "notes.md", "2026-1-2.md"):
        (Path(hub.folder) / name).write_text("- typed by hand\n", encoding="utf-8")
    assert "No journal entries" in said(hub, "memory_search", query="by hand")
    journal(hub, "2026-01-02").write_text("- typed by hand\n", encoding="utf-8")
    assert said(hub, "memory_search", query="by hand") == "## 2026-01-02\n\ntyped by hand"


@documented(
    "search and lists go from the newest day to the oldest",
    lines=31,
    call="`memory_search`, `holdfast journal`",
)
def test_the_newest_day_comes_first(hub: HubMemory, clock: FixedClock) -> None:
    for _ in range(3):
        said(hub, "remember", content=f"note of {clock.now():%d}")
        clock.tick(days=1)
    found = said(hub, "memory_search", query="note")
    assert [line for line in found.splitlines() if line.startswith("##")] == [
        *("## 2026-01-16", "## 2026-01-15", "## 2026-01-14"),
    ]


@documented(
    "remember takes a content and appends it to today's journal, whose file and folder it makes",
    lines=(37, 39),
    call=f'`call remember {{"content": "{EXAMPLE}"}}`',
)
def test_remember_makes_the_file_and_the_folder(hub: HubMemory) -> None:
    assert not os.path.exists(hub.folder)
    assert said(hub, "remember", content=EXAMPLE) == "Remembered."
    assert EXAMPLE in journal(hub).read_text()


@documented(
    "memory_search matches part of a text in any case: 5 entries by default, snippets of 500",
    lines=(43, 45),
    call='`call memory_search {"query": "postgres", "limit": 5}`',
    differs="a snippet is the part of the entry that matches, not the beginning of the file",
)
def test_search_is_by_part_of_a_text(hub: HubMemory, clock: FixedClock) -> None:
    for number in range(7):
        said(hub, "remember", content=f"POSTGRES note {number} " + "x " * 500)
        clock.tick(minutes=1)
    found = said(hub, "memory_search", query="ostgre")
    assert found.count("## ") == 5
    assert "note 6" in found
    assert max(map(len, found.splitlines())) == 500


@documented(
    "a limit outside of 1 to 100 is brought inside",
    lines=(41, 45),
    call='`call memory_search {"query": "postgres", "limit": 0}`',
)
def test_a_limit_is_clamped(hub: HubMemory, clock: FixedClock) -> None:
    for number in range(103):
        hub.journal_add(f"note {number}")
    assert said(hub, "memory_search", query="note", limit=0).count("## ") == 1
    assert said(hub, "memory_search", query="note", limit=-5).count("## ") == 1
    assert said(hub, "memory_search", query="note", limit=10**9).count("## ") == 100


@documented(
    "memory_get takes today, yesterday or a date, and says where there is no entry",
    lines=(49, 51),
    call='`call memory_get {"date": "today"}`',
)
def test_a_day_is_got_by_its_date(hub: HubMemory, clock: FixedClock) -> None:
    said(hub, "remember", content="Uses pnpm")
    assert said(hub, "memory_get", date="today").startswith("## 2026-01-14\n\n")
    clock.tick(days=1)
    for date in ("yesterday", "2026-01-14"):
        assert "Uses pnpm" in said(hub, "memory_get", date=date)
    assert said(hub, "memory_get", date="today") == "No journal entry for 2026-01-15."


@documented(
    "after each real turn a shadow pass runs beside the reply, and its notes are in the day's file",
    lines=(55, 59, 60, 61, 62, 63, 64, 65),
    call="`shadowJournal.enabled`, then `hub.observe_turn(user, assistant)`",
    differs="without a model rules do the work. Hooks alone make no files; "
    "`shadowJournal.files` decides",
)
@pytest.mark.sqlite_only("a store that several machines use makes no files by itself")
def test_a_note_is_in_the_days_file_at_once(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings=ON) as memory:
        hub = memory.create_hub("work")
        assert not os.path.exists(hub.folder)
        observed = hub.observe_turn("I use vim for everything.", "A fine choice.")
        assert observed.queued
        memory.core.wait()
        assert "Uses vim for everything" in journal(hub).read_text()


@documented(
    "the pass has only memory_search and remember, and adds what is new; greetings add nothing",
    lines=57,
    call="`shadowJournal.model`, or `llm.model`",
    differs="what a model proposes and the turn does not support is dropped",
)
def test_the_pass_has_two_tools_and_notes_what_is_new(tmp_path: Path) -> None:
    noted = call("remember", {"content": "Moved to Lisbon", "quote": "I moved to Lisbon"})
    model = ScriptedModel([call("memory_search", {"query": "Lisbon"}), noted, "", "Hello."])
    with open_for_tests(tmp_path, model=model, settings=ON) as memory:
        hub = memory.create_hub("work")
        hub.observe_turn("I moved to Lisbon last week.", "How nice!")
        hub.observe_turn("Good morning!", "Good morning.")
        memory.core.wait()
        assert [tool.name for tool in model.asked[0].tools] == ["memory_search", "remember"]
        assert [one.content for one in hub.list(layer="journal")] == ["Moved to Lisbon"]


@documented(
    "each pass starts afresh, without the history of earlier turns",
    lines=67,
    call="nothing to call",
)
def test_each_pass_starts_afresh(tmp_path: Path) -> None:
    model = ScriptedModel(["I see.", "I see."])
    with open_for_tests(tmp_path, model=model, settings=ON) as memory:
        hub = memory.create_hub("work")
        hub.observe_turn("I use vim for everything.", "A fine choice.")
        memory.core.wait()
        hub.observe_turn("I moved to Lisbon.", "Nice.")
        memory.core.wait()
        assert "vim" not in str(model.asked[1].messages)


@documented(
    "cron jobs, heartbeats and consolidations do not trigger the journaler",
    lines=69,
    call='`hub.observe_turn(…, mode="cron")`: current, cron, heartbeat or consolidation',
)
@pytest.mark.parametrize("mode", ["cron", "heartbeat", "consolidation"])
def test_only_real_turns_are_noted(tmp_path: Path, mode: str) -> None:
    with open_for_tests(tmp_path, settings=ON) as memory:
        hub = memory.create_hub("work")
        assert not hub.observe_turn("I use vim for everything.", "Yes.", mode=mode).queued
        assert hub.observe_turn("I use vim for everything.", "Yes.").queued
        memory.core.wait()


@documented(
    "`shadowJournal` has enabled (false) and model (empty)",
    lines=(73, 74, 75, 76, 78),
    call="`holdfast config set shadowJournal.enabled true`",
)
def test_the_shadow_journal_is_off_by_default(memory: Holdfast, hub: HubMemory) -> None:
    settings = memory.core.settings
    assert (settings["shadowJournal.enabled"], settings["shadowJournal.model"]) == (False, "")
    assert not hub.observe_turn("I use vim for everything.", "Yes.").queued


@documented(
    "an empty model inherits the main one; `xai/grok-…` names another; the provider is inherited",
    lines=79,
    call="`shadowJournal.model xai/grok-4-1-fast-non-reasoning`, or a bare model name "
    "([providers](../how-to/use-a-language-model.md#providers))",
)
def test_a_model_is_named_by_provider_or_inherits_it() -> None:
    main = "xai/grok-4"
    cheap = parse("xai/grok-4-1-fast-non-reasoning")
    bare = parse("grok-4-1-fast-non-reasoning", inherit=main)
    assert cheap == bare
    assert cheap is not None
    assert (cheap.protocol, cheap.url) == ("openai", "https://api.x.ai/v1")
    other = parse("acme/large@https://llm.acme.example/v1")
    assert other is not None
    assert (other.model, other.url) == ("large", "https://llm.acme.example/v1")


@documented(
    "both fields are read anew without a restart",
    lines=81,
    call="`holdfast config set …`; the next turn obeys",
)
def test_settings_are_read_anew(run: Run, home: Path) -> None:
    run("hub", "create", "work")
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        hub = memory.hub("work")
        assert not hub.observe_turn("I use vim for everything.", "Yes.").queued
        run("config", "set", "shadowJournal.enabled", "true")
        assert hub.observe_turn("I use vim for everything.", "Yes.").queued
        memory.core.wait()


@documented(
    "consolidation promotes facts worth keeping from recent journals to MEMORY.md",
    lines=85,
    call="`holdfast consolidate`, `hub.consolidate()`",
    differs="without a model by rules; one undo takes it back, and a copy of the file is kept",
)
def test_the_example_of_the_document_is_promoted(hub: HubMemory, clock: FixedClock) -> None:
    said(hub, "remember", content=EXAMPLE)
    hub.sync()
    clock.tick(hours=1)
    assert len(hub.consolidate().done) == 1
    assert EXAMPLE in Path(hub.memory_md).read_text()
    hub.undo()
    assert EXAMPLE not in Path(hub.memory_md).read_text()


@documented(
    "`memConsolidate` has enabled (false) and intervalHours (24)",
    lines=(87, 88, 89, 90, 91, 92, 94, 95),
    call="`holdfast config set memConsolidate.enabled true`",
)
def test_consolidation_runs_by_itself_every_so_many_hours(
    tmp_path: Path, clock: FixedClock
) -> None:
    with open_for_tests(tmp_path / "off") as memory:
        settings = memory.core.settings
        assert settings["memConsolidate.enabled"] is False
        assert settings["memConsolidate.intervalHours"] == 24
    on = {"memConsolidate.enabled": True}
    with open_for_tests(tmp_path / "on", clock=clock, settings=on) as memory:
        hub = memory.hub()
        said(hub, "remember", content=EXAMPLE)
        clock.tick(hours=1)
        run_consolidation(memory)
        assert EXAMPLE in hub.context(style="maven")
        clock.tick(hours=1)
        said(hub, "remember", content="I prefer tabs over spaces.")
        run_consolidation(memory)
        assert "tabs" not in hub.context(style="maven")
        clock.tick(hours=24)
        run_consolidation(memory)
        assert "tabs" in hub.context(style="maven")


@documented(
    "it reviews journals of the last 7 days, 4,000 characters of each",
    lines=(101, 102),
    call="`holdfast consolidate --dry-run` shows the plan",
)
def test_seven_days_and_4000_characters_of_each(hub: HubMemory) -> None:
    hub.journal_add("I prefer tabs over spaces.", at=hub.core.now() - timedelta(days=8))
    assert hub.plan_consolidation().steps == ()
    hub.journal_add("x" * 3_990, at=hub.core.now() - timedelta(days=1, hours=2))
    hub.journal_add("I prefer dark mode always.", at=hub.core.now() - timedelta(days=1))
    assert hub.plan_consolidation().steps == ()
    hub.journal_add(EXAMPLE, at=hub.core.now() - timedelta(minutes=5))
    assert [step.text for step in hub.plan_consolidation().steps] == [EXAMPLE]


@documented(
    "one isolated turn of a model, with the long-term memory before it, decides what to promote; "
    "if nothing warrants it, the file is unchanged",
    lines=(103, 104),
    call="`memConsolidate.model`, or `llm.model`",
    differs="the model proposes steps with their sources, which are checked; it does not write the "
    "file itself",
)
def test_a_model_sees_long_term_memory_and_may_leave_it(tmp_path: Path, clock: FixedClock) -> None:
    model = ScriptedModel(["Nothing to promote."])
    with open_for_tests(tmp_path, clock=clock, model=model) as memory:
        hub = memory.hub()
        hub.remember("Works at Acme", layer="long_term")
        hub.journal_add("Had lunch with Bob", at=clock.now() - timedelta(minutes=5))
        before = hub.context(style="maven")
        hub.consolidate()
        assert "Works at Acme" in model.asked[0].prompt
        assert "Had lunch with Bob" in model.asked[0].prompt
        assert hub.context(style="maven") == before


@documented(
    "a tick is skipped without journals, and while the previous one is running",
    lines=(106, 110, 111),
    call="`hub.consolidate()` says why it was skipped",
)
def test_a_run_is_skipped_where_there_is_nothing_to_do_or_one_is_running(hub: HubMemory) -> None:
    assert "journal" in hub.consolidate().skipped
    hub.journal_add(EXAMPLE, at=hub.core.now() - timedelta(minutes=5))
    with schedule.taking_turn(hub.core, hub.id, NAME) as free:
        assert free
        assert hub.consolidate().skipped == RUNNING


@documented(
    "the folder of the workspace holds MEMORY.md and the journals",
    lines=(115, 116, 117, 118, 119),
    call="`holdfast hub folder work ~/workspace/memory`; without it, `hubs/work` of the home",
    differs="files that are there already are taken in",
)
def test_the_workspace_is_a_folder_of_ones_own(memory: Holdfast, tmp_path: Path) -> None:
    hub = memory.create_hub("maven")
    workspace = tmp_path.parent / f"{tmp_path.name}-workspace" / "memory"
    workspace.mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Mine\n\n## Preference\n\n- Prefers tabs\n")
    (workspace / "2026-01-13.md").write_text("- Uses pnpm\n")
    memory.set_hub_folder("maven", workspace)
    assert "Prefers tabs" in hub.context(style="maven")
    assert said(hub, "memory_search", query="pnpm") == "## 2026-01-13\n\nUses pnpm"
    said(hub, "remember", content="Uses vim")
    assert "Uses vim" in (workspace / "2026-01-14.md").read_text()


@documented(
    "memory files are plain markdown; credentials in a journal might be promoted",
    lines=123,
    call="nothing to call",
    differs="credentials are replaced by placeholders before anything is written",
)
def test_files_are_plain_and_credentials_are_not_kept(hub: HubMemory) -> None:
    key = "AKIA" + "Q3EGPW7ZBN5TDYVA"
    said(hub, "remember", content=f"The key is {key}, region eu-west-1")
    text = journal(hub).read_text(encoding="utf-8")
    assert key not in text
    assert "eu-west-1" in text
