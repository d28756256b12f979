"""A real language model on this machine, for who asked for it with `make test-llm`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Where the packages are; without it these tests are skipped.
FOLDER = "HOLDFAST_TEST_LLM"


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the model is served."""
    folder = os.environ.get(FOLDER)
    if not folder:
        pytest.skip("a real model is tried with `make test-llm`")
    served = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("serve.py"))],
        env={**os.environ, "PYTHONPATH": os.path.abspath(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert served.stdout is not None
    try:
        found = served.stdout.readline().strip()
        assert found.startswith("http://127.0.0.1:"), "the model's server did not start"
        yield found
    finally:
        served.kill()
        served.wait()
        served.stdout.close()
        assert served.stdin is not None
        served.stdin.close()
