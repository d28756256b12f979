"""Holdfast on Windows and macOS, as far as Linux can stand in for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is made on Linux")


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_a_first_day_of_commands(platform: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.portability.standin", platform, str(tmp_path)]
    paths = os.pathsep.join((str(ROOT), str(ROOT / "src")))
    environ = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": paths}
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, capture_output=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.endswith("hook answered\n")
    assert "Bob feeds the otter" in done.stdout.rpartition("$ holdfast search")[2]
