"""Which lines a prompt gets: each says something that the conversation does not hold yet."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.api import prompt_blocks
from holdfast.api.prompt_blocks import prompt_block
from holdfast.engine import jobs
from holdfast.passes.work import work_until_done
from holdfast.testing import HashEmbedder, open_for_tests
from tests.edges.hooks.hook_calls import Hooks


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def lines(block: str) -> list[str]:
    """What the lines of a block say, without their labels' days."""
    return [
        line.replace("- [turn ", "").partition(" ")[2]
        for line in block.splitlines()
        if line.startswith("- [")
    ]


def test_a_question_of_the_log_comes_with_its_reply(hooks: Hooks) -> None:
    hooks.turn("Which port does the billing gateway use?", "It listens on 7443.", turn="t1")
    asked = "Tell me the port of the billing gateway, please."
    assert lines(hooks.turn(asked, turn="t1", session="s2")) == [
        "user] Which port does the billing gateway use?",
        "assistant] It listens on 7443.",
    ]


@pytest.mark.parametrize(
    "reply", ["I do not know.", "The billing gateway?", "OK, done!", "Alles klar, erledigt."]
)
def test_a_question_that_nobody_answered_is_not_put_beside_a_prompt(
    hooks: Hooks, reply: str
) -> None:
    hooks.turn("Which port does the billing gateway use?", reply, turn="t1")
    asked = "Tell me the port of the billing gateway, please."
    assert hooks.turn(asked, turn="t1", session="s2") == ""


def test_a_day_in_words_is_worked_out(hooks: Hooks) -> None:
    hooks.turn("The billing gateway will be restarted tomorrow.", turn="t1")
    (line,) = lines(hooks.turn("When is the billing gateway restarted?", turn="t1", session="s2"))
    assert re.match(r"user, event 20\d\d-\d\d-\d\d] The billing", line)


def test_what_corrects_a_turn_comes_with_it(hooks: Hooks) -> None:
    hooks.turn("The billing gateway restarts at night, at two.", "I see.", turn="t1")
    hooks.turn("Correction: at four", "I see.", turn="t2")
    asked = "When does the billing gateway restart?"
    assert lines(hooks.turn(asked, turn="t1", session="s2"))[:2] == [
        "user] Correction: at four",
        "user, since corrected] The billing gateway restarts at night, at two.",
    ]


def test_thanks_are_not_put_beside_a_prompt(hooks: Hooks) -> None:
    hooks.turn("Great, thank you very much!", "You're welcome!", turn="t1")
    assert hooks.turn("Thank you very much, where is it?", turn="t1", session="s2") == ""


def test_a_line_says_who_said_it(hooks: Hooks) -> None:
    hooks.turn("The billing gateway restarts at night, I saw it twice.", turn="t1")
    found = hooks.turn("When does the billing gateway restart?", turn="t1", session="s2")
    assert lines(found) == ["user] The billing gateway restarts at night, I saw it twice."]


def test_a_line_that_a_memory_of_the_block_says_is_left_out(hooks: Hooks) -> None:
    hooks.holdfast("remember", "The billing gateway listens on port 7443")
    hooks.turn("Which port does the billing gateway use?", "7443.", turn="t1")
    assert "7443" in hooks.call("SessionStart", session="s2", source="startup")
    asked = "Which port does the billing gateway use?"
    assert hooks.turn(asked, turn="t1", session="s2") == ""


def test_a_line_of_the_journal_is_left_out_where_its_memory_was_given(hooks: Hooks) -> None:
    hooks.turn("We decided to go with Stripe for payments because of SEPA support.", turn="t1")
    assert "SEPA" in hooks.call("SessionStart", session="s2", source="startup")
    assert hooks.turn("Why did we choose Stripe?", turn="t1", session="s2") == ""


def test_a_turn_that_no_longer_holds_is_marked(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")
        for days, said in (
            (2, "I live in Lisbon. Where I live is a short walk from the old harbour building."),
            (1, "Actually, I live in Porto now. Where I live is close to a park, by the way."),
        ):
            hub.observe_turn(
                said,
                "",
                session=f"s{days}",
                at=datetime(2026, 1, 14, tzinfo=UTC) - timedelta(days=days),
            )
            work_until_done(hub.core, hub.home)
        block = prompt_block(hub, "where do I live?", session="s", given=(), meaning=False)
    marks = {"harbour" in line: "since corrected]" in line for line in lines(block.text)}
    assert marks == {True: True, False: False}, block.text


def test_a_memory_that_was_told_to_have_changed_comes_after_what_changed_it(hooks: Hooks) -> None:
    hooks.turn("The staging db is on port 5433, its password is in the vault.", "Noted.", turn="t1")
    hooks.turn("Actually staging moved to 5434 yesterday.", "Noted.", turn="t1", session="s2")
    with hooks.opened() as memory:
        work_until_done(memory.core, memory.home)
    block = hooks.turn("Where is the password of the staging db?", turn="t1", session="s3")
    newer, older = (line for line in block.splitlines() if " db is on" in line or "5434" in line)
    assert ", newer] Staging moved to 5434" in newer, block
    assert ", perhaps outdated] The staging db is on port 5433" in older, block
    again = hooks.turn("Is the password of the db in the vault?", turn="t2", session="s3")
    assert "5434" not in again and "5433" not in again


def test_the_journal_line_of_a_fact_that_was_told_to_have_changed_is_left_out(
    hooks: Hooks,
) -> None:
    hooks.turn("The staging db is on port 5433, its password is in the vault.", "Noted.", turn="t1")
    hooks.turn("Actually staging moved to 5434 yesterday.", "Noted.", turn="t1", session="s2")
    with hooks.opened() as memory:
        work_until_done(memory.core, memory.home)
        block = memory.hub("web").context()
        said = prompt_blocks.start_block(memory, memory.hub("web")).text
    for text in (block, said):
        before_turns = text.partition("## last session")[0]
        assert "newer than #" in before_turns, text
        assert "5433" not in before_turns, text


def test_what_was_put_beside_a_prompt_is_recognised_when_it_comes_back(hooks: Hooks) -> None:
    hooks.turn("Which port does the billing gateway use?", "It listens on 7443.", turn="t1")
    asked = "Tell me the port of the billing gateway, please."
    block = hooks.turn(asked, turn="t1", session="s2")
    assert block
    hooks.turn(f"Here is what you gave me:\n{block}", turn="t2", session="s2")
    with hooks.opened() as memory:
        said = [turn.content for turn in memory.hub("web").turns(session="s2", limit=10)]
    assert not any("7443" in text for text in said), said


def test_the_first_block_says_once_that_it_is_data(hooks: Hooks) -> None:
    hooks.turn("I live in Lisbon, and the staging server is called heron.", turn="t1")
    block = hooks.call("SessionStart", session="s2", source="startup")
    assert block.count("<memory hub=") == 2 and "Lisbon" in block and "heron" in block
    assert block.count("data") == 1
    assert "\n\n\n" not in block


def test_what_the_person_said_comes_before_the_answer_where_it_was_forget_that(
    hooks: Hooks,
) -> None:
    hooks.turn("Remember that the door code is at the desk.", turn="t1")
    hooks.turn("Forget that.", "Forgotten.", turn="t2")
    with hooks.opened() as memory:
        said = [turn.content for turn in memory.hub("web").turns(limit=2)]
    assert said == ["Forgotten.", "Forget that."]


def test_status_names_the_session_that_session_shows(hooks: Hooks) -> None:
    hooks.turn("The staging server is called heron.", turn="t1", session="web-one")
    hooks.turn("The shop opens at nine.", turn="t1", session="shop-one", folder="shop")
    (hooks.root / "web" / "docs").mkdir()
    for folder in ("web", "web/docs", "shop"):
        status = json.loads(hooks.holdfast("status", "--json", folder=folder))["data"]
        shown = json.loads(hooks.holdfast("session", "--json", folder=folder))["data"]
        assert status["session"]["session"] == shown["session"]
        assert shown["hub"] == folder.partition("/")[0]


def test_a_turn_is_shown_where_that_it_was_said_is_the_answer(hooks: Hooks) -> None:
    hooks.turn("The billing gateway restarts at night.", turn="t1")
    asked = "On which day did I say that the billing gateway restarts at night?"
    assert "restarts at night." in hooks.turn(asked, turn="t1", session="s2")


def test_private_passages_of_a_prompt_are_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = HashEmbedder()
    asked: list[str] = []
    embed = embedder.embed_query
    monkeypatch.setattr(embedder, "embed_query", lambda text: (asked.append(text), embed(text))[1])
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.create_hub("work")
        hub.remember("The safe is behind the wardrobe")
        for prompt in ("where is it? <private>the safe</private>", "<private>the safe</private>"):
            block = prompt_block(hub, prompt, session="s", given=(), meaning=True)
        assert block.text == ""
    assert asked == ["where is it?"]


def test_the_end_of_the_last_session_is_not_that_something_was_forgotten(hooks: Hooks) -> None:
    hooks.turn("The parser is slow on long lines.", "Noted, I will profile it.", turn="t1")
    hooks.turn("Remember that the door code is at the desk.", "Ok, kept.", turn="t2")
    hooks.turn("Forget that.", "Done, gone.", turn="t3")
    block = hooks.call("SessionStart", session="s2", source="startup")
    for text in ("door code", "Ok, kept", "Forget that", "Done, gone"):
        assert text not in block, block


def test_another_part_of_a_long_memory_is_new(hooks: Hooks) -> None:
    for number, said in enumerate(
        (
            "We never touch the production database from a laptop, only through the bastion.",
            "The invoices are partitioned by quarter, as months were too many.",
            "The nightly backup goes to the vault in Oslo.",
        )
    ):
        hooks.turn(said, turn=f"t{number}")
    # The archive stands for the turns.
    hooks.call("PreCompact", trigger="auto")
    hooks.call("SessionStart", session="s2", source="startup")
    for number in range(2):
        found = [
            lines(hooks.turn(asked, turn=f"{asked}{number}", session="s2"))
            for asked in ("How are the invoices partitioned?", "Where does the nightly backup go?")
        ]
        assert ["quarter" in str(found[0]), "Oslo" in str(found[1])] == [number == 0] * 2


def test_a_new_session_waits_for_facts_that_another_process_works_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_for_tests(tmp_path, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("web")
        hub.observe_turn("I moved to Porto.", "How nice.")
        core = memory.core.acting(sees_all=True)
        job = jobs.lease(core, work=jobs.JOURNAL, in_order=True)
        assert job is not None
        monkeypatch.setattr(prompt_blocks, "_pause", lambda seconds: jobs.put_back(core, job))
        assert "Moved to Porto" in prompt_blocks.start_block(memory, hub).text
        # One that takes longer is not waited for.
        hub.observe_turn("I have two cats.", "How nice.")
        assert jobs.lease(core, work=jobs.JOURNAL, in_order=True) is not None
        monkeypatch.setattr(prompt_blocks, "_WAIT_S", 0.0)
        assert "Moved to Porto" in prompt_blocks.start_block(memory, hub).text


def test_after_a_compaction_what_was_said_before_is_found_again(hooks: Hooks) -> None:
    hooks.turn("The nightly backup goes to the vault in Oslo.", turn="t1")
    asked = "Where does the nightly backup go?"
    assert hooks.turn(asked, "To Oslo.", turn="t2") == ""
    hooks.turn("The billing gateway restarts at night, I saw it twice.", turn="t3")
    hooks.turn("Rename the parser module.", turn="t4")
    hooks.turn("And its tests.", turn="t5")
    hooks.call("PreCompact", trigger="auto")
    start = hooks.call("SessionStart", source="compact")
    found = hooks.turn(asked, turn="t6")
    assert "Oslo" in start + found
    assert "restarts" in hooks.turn("When does the billing gateway restart?", turn="t7")
    assert hooks.turn(asked, turn="t8") == ""
    # What was said since is in the conversation.
    hooks.turn("The release branch is called orchard.", turn="t9")
    assert hooks.turn("What is the release branch called?", turn="t10") == ""


def test_a_reply_that_was_turned_down_comes_with_the_correction(hooks: Hooks) -> None:
    hooks.turn("Bring up the billing gateway.", "It listens on 7443 from now on.", turn="t1")
    hooks.turn("no, that is the port of the old one", "Then 7444 it is.", turn="t2")
    found = hooks.turn("Which port does the billing gateway listen on?", turn="t1", session="s2")
    at = lines(found).index("assistant, since corrected] It listens on 7443 from now on.")
    assert lines(found)[at + 1] == "user] no, that is the port of the old one", found


def test_a_reply_that_was_turned_down_is_left_out_where_the_correction_is_known(
    hooks: Hooks,
) -> None:
    hooks.turn("Bring up the billing gateway.", "The gateway listens on port 7443.", turn="t1")
    hooks.turn("no, use 7444, not 7443", "Right, changed.", turn="t2")
    # So that it is not where the last session ended.
    for number in range(3):
        hooks.turn(f"Rename parser {number}.", turn=f"p{number}")
    start = hooks.call("SessionStart", session="s2", source="startup")
    assert "use 7444, not 7443" in start.lower(), start
    found = hooks.turn("Which port does the gateway listen on?", turn="t1", session="s2")
    assert "listens on port 7443" not in found, found
