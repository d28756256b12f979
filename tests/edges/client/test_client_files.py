"""Files of this machine on a server: sent as they are, read there; known again when they are sent
again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import holdfast
from tests.edges.client.servers import Served, lose_an_answer

PLAN = b"# Plan\n\nThe launch is called Heron.\n"


def test_a_file_is_kept_on_the_server_and_waits_to_be_read(
    server: Served, client: holdfast.Client, tmp_path: Path
) -> None:
    (tmp_path / "plän.md").write_bytes(PLAN)
    hub = client.hub()
    fields: dict[str, Any] = {
        "tags": ["launch", "ü"],
        "pinned": True,
        "metadata": {"n": [1]},
        "title": None,
    }
    stored = hub.remember_file(tmp_path / "plän.md", **fields)
    assert isinstance(stored, holdfast.Stored)
    memory = stored.memory
    assert (memory.state, memory.content_type, memory.title) == ("processing", "file", "plän.md")
    assert (memory.tags, memory.pinned, memory.metadata["n"]) == (("launch", "ü"), True, [1])
    kept = server.memory.hub().attachment(memory.id)
    assert Path(kept.path).read_bytes() == PLAN
    job = hub.jobs()[0]
    assert (job.state, job.about["memory"], job.hub_id) == ("waiting", memory.id, hub.id)
    again = hub.remember_file(io.BytesIO(PLAN), name="other.md")
    assert isinstance(again, holdfast.Duplicate)


def test_a_file_whose_answer_was_lost_is_sent_whole_again(
    server: Served, client: holdfast.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = client.hub()
    lost = lose_an_answer(client, monkeypatch)
    assert isinstance(hub.remember_file(io.BytesIO(PLAN), name="p.md"), holdfast.Stored)
    assert not lost
    assert len(server.memory.hub().list()) == 1


def test_what_is_no_file_is_refused_before_anything_is_sent(
    client: holdfast.Client, tmp_path: Path
) -> None:
    hub = client.hub()
    with pytest.raises(holdfast.NotFound, match="There is no file"):
        hub.remember_file(tmp_path / "nowhere.pdf")
    with pytest.raises(holdfast.InvalidInput, match="is a folder"):
        hub.remember_file(tmp_path)
    with pytest.raises(holdfast.InvalidInput, match="not int"):
        hub.remember_file(12)  # type: ignore[arg-type]
    with pytest.raises(holdfast.InvalidInput):
        hub.remember_file(io.BytesIO(PLAN), name="x.md", colour="red")
