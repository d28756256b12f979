"""Kill -9 at any statement of a purge or of forgetting turns: all is there, or it is gone, and the
same call again completes it and leaves no bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.faults, pytest.mark.sqlite_only("the statements are those of its writer")]

ROOT = Path(__file__).parents[2]


def _killed(name: str, folder: Path) -> dict[str, Any]:
    words = [sys.executable, "-m", "tests.faults.purging", name, str(folder)]
    process = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert process.returncode == 0, process.stderr
    seen: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return seen


def test_a_purge_everywhere_is_one_step(tmp_path: Path) -> None:
    seen = _killed("purge everywhere", tmp_path)
    assert seen["kills"] > 20
    assert seen["states"] == 2


@pytest.mark.parametrize("name", ["forget the last hour", "forget a word"])
def test_forgetting_turns_takes_memories_first_and_then_turns(tmp_path: Path, name: str) -> None:
    seen = _killed(name, tmp_path)
    assert seen["kills"] > 20
    # Between the two steps the memories are gone, and the same call finds the turns again.
    assert seen["states"] <= 3
