"""A process is killed between any two steps of taking a turn in: none is lost, none is there twice,
and what is there is found."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.domain.records import WITHOUT_WORDS
from holdfast.engine.writing.indexing import embed_missing
from holdfast.testing import HashEmbedder
from tests.faults.taking_turns import LATE_STEPS, SAID, SAID_AT_LENGTH, SETTINGS, STEPS

pytestmark = [pytest.mark.faults, pytest.mark.sqlite_only("the steps are those of its writer")]

ROOT = Path(__file__).parents[2]


def _killed(folder: Path, step: str, length: str) -> None:
    words = [sys.executable, "-m", "tests.faults.taking_turns", str(folder), step, length]
    process = subprocess.run(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, timeout=60)
    assert (process.stdout, process.returncode) == ("ready\n", -signal.SIGKILL)


@pytest.mark.parametrize("step", STEPS)
def test_a_turn_is_there_once_wherever_the_process_dies(tmp_path: Path, step: str) -> None:
    _killed(tmp_path, step, "short")
    with holdfast.open(tmp_path, settings=SETTINGS, embedder=HashEmbedder()) as memory:
        memory.core.set_has_worker(True)
        hub = memory.hub()
        # Both sides or none: half a turn is never there.
        there = [turn.content for turn in hub.turns()][::-1]
        committed = step in ("committed", "before the vectors")
        assert there == (list(SAID) if committed else [])
        # Who was not told that it was taken in shows it again, under the same name.
        hub.observe_turn(*SAID, session="s", turn="t1")
        assert [turn.content for turn in hub.turns()][::-1] == list(SAID)
        embed_missing(memory.core)
        hit = hub.recall("what is the cat Miso allergic to?")[0]
        assert hit.turn is not None and hit.parts["vector"] > 0
        assert len(hub.jobs()) == 1
        assert memory.core.store.check() == []


@pytest.mark.parametrize("step", LATE_STEPS)
def test_a_long_turn_is_in_the_index_wherever_the_process_dies(tmp_path: Path, step: str) -> None:
    _killed(tmp_path, step, "long")
    said = list(SAID_AT_LENGTH)
    with holdfast.open(tmp_path, settings=SETTINGS, embedder=HashEmbedder()) as memory:
        memory.core.set_has_worker(True)
        hub = memory.hub()
        there = [turn.content for turn in hub.turns()][::-1]
        assert there == ([] if step in STEPS[:3] else said)
        assert memory.core.store.check() == []
        hub.observe_turn(*said, session="s", turn="t1")
        # Words find it at once, before anything was done in the background.
        assert [turn.content for turn in hub.search_turns("salmon")] == said[1:]
        assert [turn.content for turn in hub.turns()][::-1] == said
        assert len(hub.jobs()) == 1
        with memory.core.store.read() as reader:
            assert reader.records(hub.id, WITHOUT_WORDS, limit=1) == []
            assert reader.lexicon(hub.id, ["salmon"]).frequency == {"salmon": 1}
        assert memory.core.store.check() == []
