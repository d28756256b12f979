"""A process is killed between any two steps of taking a turn in: none is lost, none is there twice,
and what is there is found."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.writing.indexing import embed_missing
from holdfast.testing import HashEmbedder
from tests.faults.taking_turns import SAID, SETTINGS, STEPS

pytestmark = [pytest.mark.faults, pytest.mark.sqlite_only("the steps are those of its writer")]

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("step", STEPS)
def test_a_turn_is_there_once_wherever_the_process_dies(tmp_path: Path, step: str) -> None:
    words = [sys.executable, "-m", "tests.faults.taking_turns", str(tmp_path), step]
    process = subprocess.run(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, timeout=60)
    assert (process.stdout, process.returncode) == ("ready\n", -signal.SIGKILL)
    with holdfast.open(tmp_path, settings=SETTINGS, embedder=HashEmbedder()) as memory:
        memory.core.set_worked(True)
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
