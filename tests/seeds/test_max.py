"""Max (seed 000): numbered facts in six categories, a summary in the system message, and a log from
which a lost session is recovered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import HubMemory
from holdfast.errors import InvalidInput
from holdfast.testing import CountedIds, FixedClock, open_for_tests
from tests.edges.hooks.hook_calls import Hooks
from tests.seeds.documented import Seed, documented

SEED = Seed("000", "Max", "max", 12, {"title": [1]})


def said(hub: HubMemory, name: str, **args: Any) -> str:
    reply = holdfast.tools("max", hub, agent="max").call(name, args)
    assert not reply.failed, reply.text
    return reply.text


@documented(
    "two memories: a rolling log of turns, and facts that survive restarts",
    lines=2,
    call="`hub.log_turn(role, text)` and `hub.remember(text)`, in one store",
)
def test_facts_and_turns_survive_a_restart_and_are_kept_apart(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        said(memory.hub(), "remember", category="fact", content="Works from Oslo")
        memory.hub().log_turn("user", "Good morning")
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        assert "Works from Oslo" in hub.context(style="max")
        assert [turn.content for turn in hub.turns()] == ["Good morning"]
        assert "Good morning" not in said(hub, "recall")


@documented(
    "three tools manage memory: remember, recall, forget",
    lines=3,
    call='`holdfast.tools("max", hub)`, or `holdfast mcp --dialect max`',
)
def test_there_are_three_tools(hub: HubMemory) -> None:
    assert holdfast.tools("max", hub).names == ("remember", "recall", "forget")
    said(hub, "remember", category="fact", content="Works from Oslo")
    assert "Works from Oslo" in said(hub, "recall", keyword="oslo")
    assert said(hub, "forget", memory_id=1) == "Memory #1 forgotten."


@documented(
    "the reply to remember has the number, the category and the fact",
    lines=4,
    call='`call remember {"category": "preference", "content": …}`',
    differs="a fact that contradicts an older one also says which number it replaces",
)
def test_the_reply_is_that_of_the_document(hub: HubMemory) -> None:
    content = "Prefers TypeScript over JavaScript"
    reply = said(hub, "remember", category="preference", content=content)
    assert reply == f'Remembered (#1, preference): "{content}"'
    said(hub, "remember", category="fact", content="Lives in Berlin")
    moved = said(hub, "remember", category="fact", content="Lives in Lisbon")
    assert moved == 'Remembered (#3, fact): "Lives in Lisbon" It replaces #2.'


@documented(
    "what is mentioned in passing is saved unasked, with source auto",
    lines=5,
    call="`shadowJournal.enabled` and `hub.observe_turn(user, assistant)`, or hooks",
    differs="off until `shadowJournal.enabled` or `holdfast setup` switches it on",
)
def test_what_is_said_in_passing_is_saved_as_auto(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"shadowJournal.enabled": True}) as memory:
        hub = memory.hub()
        hub.observe_turn("I prefer tabs over spaces, by the way. Fix the build.", "Done.")
        memory.core.wait()
        recalled = said(hub, "recall", keyword="tabs")
        assert "Prefers tabs over spaces (auto, " in recalled
        assert "Prefers tabs over spaces" in hub.context(style="max")


@documented(
    "the summary is put into the system message when a session is created or resumed",
    lines=6,
    call="`holdfast setup` installs hooks that do it; in a host of one's own "
    '`hub.context(style="max")` ([twenty lines](../how-to/max-in-twenty-lines.md))',
    differs="hooks write the block in the style of their client",
)
def test_a_hook_injects_the_summary_into_a_new_session(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The staging server is called heron")
    assert "heron" in hooks.call("SessionStart", source="startup")
    assert "heron" in hooks.call("SessionStart", session="s2", source="resume")


@documented(
    "the summary: a heading, one sentence, then `[#12]` lines grouped by category",
    lines=7,
    call='`hub.context(style="max")`, `holdfast context --style max`',
    differs="at most `context.chars_max` characters; what does not fit is left out, least used "
    "first",
)
def test_the_summary_is_that_of_the_document(hub: HubMemory) -> None:
    said(hub, "remember", category="routine", content="Daily standup is at 9:30 AM Pacific")
    said(hub, "remember", category="project", content="The auth service lives in ~/dev/api")
    said(hub, "remember", category="preference", content="Prefers TypeScript over JavaScript")
    assert hub.context(style="max") == (
        "## Long-Term Memory\n"
        "These are things you've been asked to remember or have noted as important:\n\n"
        "**preference**:\n- [#3] Prefers TypeScript over JavaScript\n\n"
        "**project**:\n- [#2] The auth service lives in ~/dev/api\n\n"
        "**routine**:\n- [#1] Daily standup is at 9:30 AM Pacific\n"
    )


@documented(
    "a memory saved during a session takes effect in the next one",
    lines=8,
    call='call `hub.context(style="max")` once, when a session is created',
    differs="`recall` finds it at once, and hooks add what a prompt asks about",
)
def test_a_block_is_of_the_moment_it_was_made(hub: HubMemory) -> None:
    at_start = hub.context(style="max")
    said(hub, "remember", category="fact", content="Works from Oslo")
    assert "Oslo" not in at_start
    assert "Oslo" in hub.context(style="max")
    assert "Oslo" in said(hub, "recall", keyword="oslo")


@documented(
    "every turn of the user and of the assistant is recorded",
    lines=9,
    call="by hooks; in a host of one's own `hub.observe_turn(user, assistant)`",
)
def test_hooks_record_every_turn(hooks: Hooks) -> None:
    hooks.turn("Fix the JWT expiry bug", "On it.", turn="t1")
    hooks.turn("And the tests?", "They pass.", turn="t2")
    log = hooks.holdfast("log", "-n", "10")
    for text in ("Fix the JWT expiry bug", "On it.", "And the tests?", "They pass."):
        assert text in log


@documented(
    "a row of the log: role user, assistant or system, content, source (unknown), time",
    lines=10,
    call='`hub.log_turn("user", text, source="telegram")`, `holdfast log add`',
    differs="any label is a source; a turn also has a session and a speaker; times are UTC",
)
def test_a_turn_has_a_role_a_content_a_source_and_a_time(hub: HubMemory, clock: FixedClock) -> None:
    for role in ("user", "assistant", "system"):
        turn = hub.log_turn(role, "Good morning")
        assert (turn.role, turn.content, turn.source) == (role, "Good morning", "unknown")
        assert turn.at == clock.now()
    assert hub.log_turn("user", "Hello", source="telegram").source == "telegram"
    with pytest.raises(InvalidInput, match="role"):
        hub.log_turn("robot", "Hello")


@documented(
    "the log is cut to its last 200 entries at start-up and every 50 inserts",
    lines=11,
    call='`holdfast.tools("max", hub)`, then `hub.log_turn(…)`; or `log.keep` 200 for all',
    differs="a program that has Max's tools cuts the log as it logs; for others every turn is kept"
    " unless `log.keep` is set, because recall finds turns",
)
def test_the_log_is_pruned_at_start_up_and_every_50_inserts(tmp_path: Path) -> None:
    ids = CountedIds()
    with open_for_tests(tmp_path, ids=ids) as memory:
        for number in range(230):
            memory.hub().log_turn("user", f"turn {number}")
        assert len(memory.hub().turns(500)) == 230
    with open_for_tests(tmp_path, ids=ids) as memory:
        hub = memory.hub()
        holdfast.tools("max", hub)
        hub.log_turn("user", "the first turn of a start")
        assert len(hub.turns(500)) == 200
    with open_for_tests(tmp_path, ids=ids, settings={"log.keep": 200}) as memory:
        hub = memory.hub()
        assert len(hub.turns(500)) == 200
        for number in range(50):
            hub.log_turn("user", f"later turn {number}")
        assert len(hub.turns(500)) == 200
        assert hub.turns(1)[0].content == "later turn 49"


@documented(
    "after a lost session the last 10 entries are injected as a recovery prompt",
    lines=11,
    call='`hub.recovery_prompt(name="Max")`, `holdfast log recover`',
    differs="a turn of more than 500 characters is cut, and its further lines are indented",
)
def test_the_recovery_prompt_holds_the_last_ten_turns(hub: HubMemory) -> None:
    for number in range(12):
        hub.log_turn("user", f"turn {number}.")
    prompt = hub.recovery_prompt(name="Max")
    assert "turn 1." not in prompt
    assert [f"turn {number}." in prompt for number in range(2, 12)] == [True] * 10


@documented(
    "the recovery prompt opens, quotes and closes in fixed words",
    lines=12,
    call='`hub.recovery_prompt(name="Max")`',
)
def test_the_recovery_prompt_is_that_of_the_document(hub: HubMemory) -> None:
    hub.log_turn("user", "Fix the JWT expiry bug", source="telegram")
    hub.log_turn("assistant", "On it — I'll let you know when auth-fix finishes.")
    assert hub.recovery_prompt(name="Max") == (
        "[System: Session recovered] Your previous session was lost. Here's the recent "
        "conversation for context — do NOT respond to these messages, just absorb the context "
        "silently:\n\n"
        "[telegram] User: Fix the JWT expiry bug\n\n"
        "Max: On it — I'll let you know when auth-fix finishes.\n\n"
        "(End of recovery context. Wait for the next real message.)"
    )
