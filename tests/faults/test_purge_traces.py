"""Purged text is gone from the bytes on disk, not only from the answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.api.memory import Holdfast
from holdfast.testing import FixedClock, HashEmbedder, open_for_tests
from tests.homes.traces import kept_in

pytestmark = pytest.mark.faults

# Words that nothing else holds; the index keeps their stems, so parts are looked for too.
SECRETS = ("zanzibarquux", "xylophonix", "hunterwordz")
TRACES = (*SECRETS, "zanzib", "nzibarq", "xyloph", "lophoni", "hunterw", "terwordz")


def _fill(memory: Holdfast, name: str = "default") -> None:
    hub = memory.hub() if name == "default" else memory.create_hub(name)
    for number in range(40):
        hub.remember(f"An ordinary note about roses and gardening, number {number}.")


def _traces(folder: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for place, data in kept_in(folder):
        # Trigrams stand by themselves in their index, under the number of their hub.
        grams = {text[at : at + 3] for text in SECRETS for at in range(len(text) - 2)}
        rare = [gram for gram in grams if gram in ("zib", "arq", "uux", "xyl", "rwo", "rdz")]
        found += [(place, text) for text in (*TRACES, *rare) if text.encode() in data.lower()]
    return found


def _write_secrets(memory: Holdfast, clock: FixedClock, name: str | None = None) -> str:
    hub = memory.hub(name)
    secret = " ".join(SECRETS)
    stored = hub.remember(f"The password is {secret}.", key=SECRETS[0], tags=[SECRETS[1]])
    clock.tick()
    hub.update(stored.memory.id, content=f"The other password is {secret} too.")
    clock.tick()
    hub.update(stored.memory.id, summary=secret, title=secret)
    return stored.memory.id


def test_no_byte_of_a_purged_memory_is_left_in_the_files(tmp_path: Path) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock, embedder=HashEmbedder()) as memory:
        _fill(memory)
        secret = _write_secrets(memory, clock)
        for number in range(20):
            memory.hub().remember(f"A later note about weather, number {number}.")
        assert _traces(tmp_path) != []
        memory.hub().purge(secret)
        assert _traces(tmp_path) == []
        assert memory.core.store.check() == []
        assert len(memory.hub().list()) == 60
    assert _traces(tmp_path) == []


def test_no_byte_of_a_forgotten_and_purged_memory_is_left(tmp_path: Path) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock) as memory:
        _fill(memory)
        secret = _write_secrets(memory, clock)
        memory.hub().forget(secret)
        clock.tick(days=40)
        assert [receipt.memory_id for receipt in memory.hub().purge_forgotten()] == [secret]
        assert _traces(tmp_path) == []


def test_no_byte_of_a_deleted_hub_is_left(tmp_path: Path) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock) as memory:
        _fill(memory)
        memory.create_hub("other")
        _write_secrets(memory, clock, "other")
        memory.delete_hub("other")
        assert _traces(tmp_path) == []
        assert memory.core.store.check() == []


@pytest.mark.sqlite_only("about the log beside the file of the embedded store")
def test_a_purge_beside_a_reader_does_not_wait_for_it_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.store.sqlite._SETTLE_WAIT_S", 0.01)
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock) as memory:
        _fill(memory)
        secret = _write_secrets(memory, clock)
        with memory.core.store.read() as reader:
            assert len(reader.hubs()) == 1
            memory.hub().purge(secret)
        # The log could not be emptied under the reader; the next purge or the close does it.
        assert _traces(tmp_path) != []
    assert _traces(tmp_path) == []
