"""What would make a store better is said once, where a server starts, and by the doctor."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run
from tests.postgres_server import ROLE, databases, needs


@pytest.fixture
def name() -> Iterator[str]:
    databases().make_role()
    made = databases().make_empty()
    yield made
    databases().drop(made)


def test_servers_and_the_doctor_say_it_and_no_other_command_does(
    run: Run, name: str, tmp_path: Path
) -> None:
    needs(extension="vector", least=(0, 8))
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


def test_a_schema_is_brought_up_to_date_by_its_owner(
    run: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.postgres_migrations import KNOWN, SCHEMA_PATH

    owner, app = databases().url(name), databases().url(name, ROLE)
    run("store", "init", "--url", owner, "--partitions", "2", "--role", ROLE)
    monkeypatch.setattr(SCHEMA_PATH, KNOWN)
    run("config", "set", "store.url", app)
    assert run("remember", "The office is in Bonn").code == 0
    told = run("doctor")
    assert told.code == 0
    assert "holdfast store migrate" in told.err
    refused = run("store", "migrate")
    assert refused.code == 6
    assert "Let the owner of the schema run" in refused.err
    done = run("store", "migrate", "--url", owner)
    assert done.code == 0, done.err
    assert f"schema {KNOWN[-1].version}" in done.out
    assert "part 2 of 2" in done.err
    assert "holdfast store migrate" not in run("doctor").err
    assert "Bonn" in run("recall", "office").out


@pytest.mark.sqlite_only("about the file of the embedded store")
def test_a_file_is_not_migrated_by_hand(run: Run) -> None:
    told = run("store", "migrate")
    assert told.code == 2
    assert "PostgreSQL" in told.err
