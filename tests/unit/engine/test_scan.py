"""Secrets that were let in before are found wherever they are, and replaced for good."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.engine import idempotency
from holdfast.engine.upkeep.doctor import examine
from holdfast.errors import Forbidden
from holdfast.testing import HashEmbedder, open_for_tests
from tests.unit.engine.test_secret_doors import (
    Secrets,
    fields,
    left_in,
    log_turn,
)

OFF = {"secrets.enabled": False, "shadowJournal.enabled": True, "shadowJournal.queueMax": 1}


def open_at(folder: Path, settings: dict[str, object] | None = None) -> Holdfast:
    clock = SystemClock()
    return open_for_tests(
        folder, clock=clock, ids=TimeIds(clock), embedder=HashEmbedder(), settings=settings
    )


@pytest.fixture
def secret() -> Secrets:
    return Secrets()


@pytest.fixture
def hub(tmp_path: Path, secret: Secrets) -> Iterator[HubMemory]:
    """A hub that was filled while nobody looked for secrets, opened now that somebody does."""
    with open_at(tmp_path, OFF) as memory:
        memory.core.set_has_worker(True)
        fill(memory.create_hub("work"), secret)
    assert len(left_in(tmp_path, secret)) > len(secret.given)
    with open_at(tmp_path) as memory:
        yield memory.hub("work")


def fill(hub: HubMemory, secret: Secrets) -> None:
    hub.remember("Prefers tabs", layer="long_term")
    # A category becomes a heading in other letters, in which nobody knows a secret again.
    told = {**fields(secret), "category": "fact"}
    hub.remember(f"The deploy key of Lisbon is {secret()}", layer="long_term", **told)
    hub.remember("Something to change")
    hub.update(3, content=f"now {secret()}", reason=f"because {secret()}", title=secret())
    hub.update(3, content=f"Rotated to {secret()}")
    hub.update(3, content="Nothing in here any more")
    hub.forget(hub.remember(f"forgotten {secret()}").memory.id, reason=secret())
    hub.purge(hub.remember("gone").memory.id, reason=secret())
    log_turn(hub, secret)
    messages = [("user", f"the key is {secret()}"), ("assistant", f"noted {secret()}")]
    hub.archive_conversation("s-1", messages=messages, name="Keys")
    hub.journal_add(f"Used {secret()} today")
    hub.journal_add("Had tea")
    # One of them leaves the queue for the other.
    for _ in range(2):
        hub.observe_turn(f"Remember: {secret()}", f"noted {secret()}")
    claimed = idempotency.claim(hub.core, "a key", "a request")
    answer = json.dumps({"data": {"content": f"now {secret()}", "title": f'"{secret()}"'}})
    idempotency.keep(hub.core, claimed, 201, answer, hub_id=hub.id)
    hub.sync()
    path = Path(hub.memory_md)
    path.write_text(path.read_text() + f"\nMy own prose {secret()}\n")
    hub.sync()
    hub.read_memory_md(source_agent="reader")


def test_a_scan_says_where_and_how_many_and_never_what(hub: HubMemory, secret: Secrets) -> None:
    found = hub.find_secrets()
    assert not any(one in repr(found) for one in secret.given)
    places = {one.where for one in found}
    assert {"#2", "history of #3", "conversation log", "MEMORY.md"} <= places
    assert {"turns that wait", "what was captured", "answers to requests"} <= places
    assert any(where.startswith("conversations/") for where in places)
    assert any(where.startswith("20") and where.endswith(".md") for where in places)
    assert any(where.startswith("receipt of") for where in places)
    assert any(where.startswith("reason of") for where in places)
    assert all(one.kind in ("github-token", "password") and one.times for one in found)


def test_a_scan_changes_nothing(hub: HubMemory) -> None:
    before = list(hub.export())
    assert hub.find_secrets() == hub.find_secrets()
    assert list(hub.export()) == before


def test_what_is_fixed_is_gone_from_every_byte(
    hub: HubMemory, tmp_path: Path, secret: Secrets
) -> None:
    notes = hub.redact_secrets()
    assert hub.find_secrets() == [], notes
    assert left_in(tmp_path, secret) == []


def test_after_a_fix_everything_else_is_as_it_was(hub: HubMemory) -> None:
    before = {memory.number: memory for memory in hub.list(limit=100)}
    versions = [len(hub.history(number)) for number in before]
    changes = [change.id for change in hub.changes()]
    hub.redact_secrets()
    after = {memory.number: memory for memory in hub.list(limit=100)}
    assert after.keys() == before.keys()
    assert [len(hub.history(number)) for number in before] == versions
    assert [change.id for change in hub.changes()] == changes
    assert after[1] == before[1]
    assert after[2].version == before[2].version
    assert after[2].content.startswith("The deploy key of Lisbon is [secret:github-token:")
    assert hub.recall("deploy key of Lisbon")[0].memory.number == 2
    assert hub.conflicts() == []
    hub.core.wait()  # Vectors of what has other words now are made in the background.
    diagnosis = examine(hub.core)
    assert diagnosis.left == []
    assert diagnosis.unembedded == 0


def test_a_fix_leaves_receipts_without_content(hub: HubMemory) -> None:
    before = hub.receipts()
    hub.redact_secrets()
    new = [one for one in hub.receipts() if "replaced" in one.reason]
    assert 3 in {one.number for one in new}
    assert len(hub.receipts()) == len(before) + len(new)


def test_a_second_fix_does_nothing(hub: HubMemory) -> None:
    hub.redact_secrets()
    before = list(hub.export())
    assert hub.redact_secrets() == []
    assert list(hub.export()) == before


def test_the_files_agree_with_the_store_after_a_fix(hub: HubMemory) -> None:
    hub.redact_secrets()
    text = Path(hub.memory_md).read_text()
    assert "The deploy key of Lisbon is [secret:github-token:" in text
    assert "My own prose [secret:github-token:" in text
    report = hub.sync()
    assert (report.taken_in, report.written, report.archived) == ((), False, ())
    day = hub.journal("today")[0]
    assert [entry.text.split()[0] for entry in day.entries] == ["Used", "Had"]
    assert all(entry.memory is not None for entry in day.entries)


def test_an_edit_that_nobody_has_taken_in_yet_is_no_conflict(hub: HubMemory) -> None:
    path = Path(hub.memory_md)
    edited = path.read_text().replace("The deploy key of Lisbon is", "The deploy key of Porto is")
    assert edited != path.read_text()
    path.write_text(edited)
    hub.redact_secrets()
    assert hub.conflicts() == []
    assert hub.find_secrets() == []
    assert hub.get(2).content.startswith("The deploy key of Porto is [secret:")


def test_files_of_ones_own_are_named_and_left(hub: HubMemory, secret: Secrets) -> None:
    folder = Path(hub.folder, "files")
    folder.mkdir()
    text = f"mine: {secret()}\n"
    Path(folder, "mine.md").write_text(text)
    hub.redact_secrets()
    (left,) = hub.find_secrets()
    assert left == ("files/mine.md", "github-token", 1, False, False)
    assert Path(folder, "mine.md").read_text() == text


def test_progress_is_reported(hub: HubMemory) -> None:
    steps: list[tuple[int, int]] = []
    hub.redact_secrets(lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] > 5


def test_a_caller_may_not_scan(hub: HubMemory) -> None:
    caller = HubMemory(hub.core.acting("bob", permit=lambda act, memory: None), hub.info, hub.home)
    for act in (caller.find_secrets, caller.redact_secrets):
        with pytest.raises(Forbidden):
            act()
