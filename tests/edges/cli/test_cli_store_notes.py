"""What would make a store better is said once, where a server starts, and by the doctor."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run
from tests.postgres_server import ROLE, databases


@pytest.fixture
def name() -> Iterator[str]:
    databases().make_role()
    made = databases().make_empty()
    yield made
    databases().drop(made)


def test_servers_and_the_doctor_say_it_and_no_other_command_does(
    run: Run, name: str, tmp_path: Path
) -> None:
    run("store", "init", "--url", databases().url(name), "--partitions", "1", "--role", ROLE)
    databases().execute("DROP EXTENSION vector", name)
    url = databases().url(name, ROLE)
    run("config", "set", "store.url", url)
    said = "CREATE EXTENSION vector"
    assert said not in run("remember", "The office is in Bonn").err
    assert said not in run("recall", "office").err
    doctor = run("doctor")
    assert doctor.code == 0
    assert doctor.err.count(said) == 1
    env = {"HOLDFAST_HOME": str(tmp_path / "server"), "HOLDFAST_STORE_URL": url}
    server = [sys.executable, "-m", "holdfast", "mcp"]
    started = subprocess.run(
        server, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert started.stderr.count(said) == 1, started.stderr
    quiet = subprocess.run(
        [*server, "--quiet"],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said not in quiet.stderr
