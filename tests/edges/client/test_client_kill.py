"""A server that is killed in the middle of a push: what it acknowledged is there, and the next push
sends the rest, each file once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import holdfast

_FILES = 120


@contextmanager
def process(home: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`holdfast serve` as a process of its own, and its address."""
    environment = os.environ | {"HOLDFAST_HOME": str(home), "HOLDFAST_EMBED_MODEL": "none"}
    words = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as running:
        try:
            assert running.stdout is not None
            for line in running.stdout:
                if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                    yield found[0], running
                    return
            raise AssertionError("the server did not say where it listens")
        finally:
            running.kill()


def test_a_push_goes_on_after_the_server_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(_FILES):
        (folder / f"{number}.md").write_text(f"Note {number}")
    with process(tmp_path / "served") as (url, running), holdfast.Client(url) as client:
        client.server._sleep = lambda _: None
        hub = client.hub()
        send = hub.remember_many
        acknowledged: list[str] = []

        def killed_after_one(*args: Any, **values: Any) -> Any:
            results = send(*args, **values)
            acknowledged.extend(result.memory.content for result in results)
            running.send_signal(signal.SIGKILL)
            running.wait()
            return results

        monkeypatch.setattr(hub, "remember_many", killed_after_one)
        with pytest.raises(holdfast.ServerUnreachable):
            hub.index_files(folder)
    assert 0 < len(acknowledged) < _FILES
    with process(tmp_path / "served") as (url, _), holdfast.Client(url) as client:
        hub = client.hub()
        there = [memory.content for memory in hub.scan()]
        assert set(acknowledged) <= set(there)
        hub.index_files(folder)
        there = [memory.content for memory in hub.scan()]
        assert sorted(there) == sorted(f"Note {number}" for number in range(_FILES))
        assert not hub.index_files(folder).added
