"""`holdfast serve` as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE_S = 30.0


@contextmanager
def serve_process(home: Path, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server without an embedding model, once it has said where it listens, and
    its process."""
    given = {"HOLDFAST_HOME": str(home), "HOLDFAST_EMBED_MODEL": "none", **environment}
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | given,
    ) as running:
        try:
            yield _address(running), running
        finally:
            running.terminate()
            running.communicate(timeout=_PATIENCE_S)


def _address(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    for line in running.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    raise AssertionError("the server did not say where it listens")
