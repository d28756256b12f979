"""The folders that frameworks are installed in, and processes that run in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REQUIREMENTS = HERE / "requirements"
# Says to pytest which framework is on the path.
VARIABLE = "HOLDFAST_TEST_FRAMEWORK"


def environments() -> list[str]:
    """The names of all of them, such as `langgraph-high`."""
    return sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))


def folder_of(environment: str) -> Path:
    return Path(sys.prefix) / "frameworks" / environment


def is_installed(environment: str) -> bool:
    return (folder_of(environment) / ".ready").exists()


def suite_of(environment: str) -> Path:
    framework = environment.rpartition("-")[0]
    return HERE / f"test_{framework.replace('-', '_')}.py"


def run_tests(environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the tests of a framework. Its own warnings are not our errors."""
    path = os.pathsep.join((str(folder_of(environment)), str(ROOT / "src")))
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "default")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(suite_of(environment))],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, VARIABLE: environment, "PYTEST_ADDOPTS": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
