"""Several processes tell one hub new values of one thing at once: each takes the place of what the
others have said, and in the end one is in force. On both stores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from tests.postgres_server import ROLE, database

pytestmark = pytest.mark.faults

PROCESSES, EACH = 3, 12
_SPEAKER = """
import sys, holdfast
with holdfast.open(sys.argv[1], settings={"embed.model": "none"}) as memory:
    hub = memory.hub("h")
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[3])):
        hub.remember(f"The API runs on port {int(sys.argv[2]) + number}")
"""


@pytest.fixture(params=["sqlite", "postgres"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "home")
        return
    pytest.importorskip("psycopg")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    with database(ROLE) as url:
        yield url


def test_of_what_several_processes_say_at_once_one_value_is_in_force(place: str) -> None:
    with holdfast.open(place, settings={"embed.model": "none"}) as memory:
        hub = memory.hub("h", create=True)
        hub.remember("The API runs on port 999")
        speakers = [
            subprocess.Popen(
                [sys.executable, "-c", _SPEAKER, place, str(1_000 * number), str(EACH)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(1, PROCESSES + 1)
        ]
        for one in speakers:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in speakers:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        for one in speakers:
            one.communicate(timeout=120)
            assert one.returncode == 0
        everything = {one.id: one for one in hub.list(state=None, limit=1_000)}
        assert len(everything) == 1 + PROCESSES * EACH
        in_force = [one for one in everything.values() if one.superseded_by is None]
        assert [one.content for one in in_force] == [
            max(everything.values(), key=lambda one: one.number).content
        ]
        # One chain, without a fork: what two had both taken the place of would be missing in it.
        newest, links = in_force[0], 0
        while newest.supersedes is not None:
            newest, links = everything[newest.supersedes], links + 1
        assert links == PROCESSES * EACH
