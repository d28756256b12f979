"""A secret that is only the answer to a question is replaced wherever conversations are stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.engine.writing import redacting_store
from holdfast.settings import save
from holdfast.testing import open_for_tests
from tests.homes.traces import kept_in

ASKED = "And what is the Wi-Fi password at your place?"
SECRET = "marigoldine"


@pytest.fixture
def hub(memory: Holdfast) -> HubMemory:
    return memory.hub()


def traces(hub: HubMemory) -> list[str]:
    return [place for place, data in kept_in(Path(hub.home)) if SECRET.encode() in data.lower()]


def test_an_answer_in_the_log_is_replaced(hub: HubMemory) -> None:
    hub.log_turn("assistant", ASKED, session="a")
    turn = hub.log_turn("user", SECRET, session="a")
    assert turn.content.startswith("[secret:password:")
    assert not traces(hub)


def test_an_answer_without_a_session_is_replaced(hub: HubMemory) -> None:
    hub.log_turn("assistant", ASKED)
    assert hub.log_turn("user", f"it's {SECRET}").content.startswith("it's [secret:password:")
    assert not traces(hub)


def test_the_question_of_another_session_says_nothing(hub: HubMemory) -> None:
    hub.log_turn("assistant", ASKED, session="a")
    assert hub.log_turn("user", SECRET, session="b").content == SECRET


def test_an_answer_to_another_question_stays(hub: HubMemory) -> None:
    hub.log_turn("assistant", "Where is the password kept?", session="a")
    assert hub.log_turn("user", SECRET, session="a").content == SECRET


def test_an_observed_answer_is_replaced_and_so_is_its_echo(hub: HubMemory) -> None:
    save(hub.home, "shadowJournal.enabled", "true")
    hub.observe_turn("Help me with the printer", ASKED, session="a")
    hub.observe_turn(SECRET, f"Thanks, I will use {SECRET} for it.", session="a")
    assert not traces(hub)


def test_an_answer_within_an_observed_turn_is_replaced(hub: HubMemory) -> None:
    hub.observe_turn("What is the password of the printer?", SECRET, session="a")
    assert not traces(hub)


def test_an_archived_answer_is_replaced_and_so_is_its_echo(hub: HubMemory) -> None:
    hub.archive_conversation(
        "a", messages=[("assistant", ASKED), ("user", SECRET), ("assistant", f"Got {SECRET}, ok")]
    )
    assert not traces(hub)


def test_a_flushed_answer_is_replaced(hub: HubMemory) -> None:
    said = [
        {"role": "assistant", "content": ASKED},
        {"role": "user", "content": f"{SECRET}"},
        {"role": "user", "content": f"Remember that I like {SECRET}, the flower"},
    ]
    assert SECRET not in repr(hub.flush(said))
    assert not traces(hub)


def test_a_transcript_that_is_remembered_has_no_answer_in_it(hub: HubMemory) -> None:
    made = hub.remember(f"Assistant: {ASKED}\nUser: {SECRET}\nAssistant: thank you")
    assert SECRET not in made.memory.content


def test_turns_that_are_written_together_are_read_together(hub: HubMemory) -> None:
    asked = hub.log_turn("assistant", ASKED, session="a")
    turns = [
        asked._replace(id="trn_x1", session="b"),
        asked._replace(id="trn_x2", session="b", role="user", content=SECRET),
    ]
    with hub.core.store.write(hub=hub.id) as writer:
        for turn in turns:
            writer.add_turn(turn)
    assert not traces(hub)


def test_a_scan_finds_and_replaces_answers_of_the_log(hub: HubMemory) -> None:
    asked = hub.log_turn("assistant", ASKED, session="a")
    answer = asked._replace(id="trn_zzz", role="user", content=SECRET)
    with redacting_store.unguarded(hub.core.store).write(hub=hub.id) as writer:
        writer.add_turn(answer)
    assert [(one.where, one.kind) for one in hub.find_secrets()] == [
        ("conversation log", "password")
    ]
    hub.redact_secrets()
    assert hub.find_secrets() == []
    assert not traces(hub)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("My card is 4111 1111 1111 1111", "card-number"),
        ("pay to DE89 3704 0044 0532 0130 00 please", "iban"),
    ],
)
def test_payment_numbers_are_replaced_only_on_request(tmp_path: Path, text: str, kind: str) -> None:
    with open_for_tests(tmp_path / "off") as memory:
        assert memory.hub().remember(text).memory.content == text
    (tmp_path / "on").mkdir()
    save(str(tmp_path / "on"), "secrets.payment_numbers", "true")
    with open_for_tests(tmp_path / "on") as memory:
        assert f"[secret:{kind}:" in memory.hub().remember(text).memory.content
