"""A server that is killed in the middle of a push: what it acknowledged is there, and the next push
sends the rest, each file once."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

import holdfast
from tests.serve_process import serve_process

_FILES = 120


def test_a_push_goes_on_after_the_server_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(_FILES):
        (folder / f"{number}.md").write_text(f"Note {number}")
    with serve_process(tmp_path / "served") as (url, running), holdfast.Client(url) as client:
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
    with serve_process(tmp_path / "served") as (url, _), holdfast.Client(url) as client:
        hub = client.hub()
        there = [memory.content for memory in hub.scan()]
        assert set(acknowledged) <= set(there)
        hub.index_files(folder)
        there = [memory.content for memory in hub.scan()]
        assert sorted(there) == sorted(f"Note {number}" for number in range(_FILES))
        assert not hub.index_files(folder).added
