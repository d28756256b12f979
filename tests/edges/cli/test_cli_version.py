"""`holdfast --version`: also the model and the store, whatever is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from tests.edges.cli.cli_calls import Run

FIRST = f"holdfast {holdfast.__version__}"


@pytest.mark.sqlite_only("the header of a file is read")
def test_the_version_names_the_model_and_the_store(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "memory.db"
    assert run("--version").out.splitlines() == [
        *(FIRST, "model    none", f"store    {path} (not there yet)"),
    ]
    assert not home.exists()
    run("remember", "Prefers tabs")
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "auto")
    _, model, store = run("--version").out.splitlines()
    assert model == "model    holdfast-embed-s/1"
    assert store == f"store    {path} (schema 1)"
    assert run("--version", "--json").data["store"] == f"{path} (schema 1)"


@pytest.mark.sqlite_only("the header of a file is read")
def test_a_schema_that_is_not_in_the_file_yet_is_not_called_0(run: Run, home: Path) -> None:
    home.mkdir()
    (home / "memory.db").write_bytes(b"SQLite format 3\x00".ljust(4_096, b"\0"))
    assert run("--version").out.splitlines()[-1] == f"store    {home / 'memory.db'}"


def test_no_password_is_in_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_STORE_URL", "postgresql://ada:s3cret@db/memory")
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "openai:m@https://ada:s3cret@host/v1")
    out = run("--version").out
    assert "s3cret" not in out
    assert "db/memory" in out


@pytest.mark.sqlite_only("a file is damaged")
def test_nothing_that_is_wrong_keeps_it_from_being_told(run: Run, home: Path) -> None:
    home.mkdir()
    (home / "memory.db").write_bytes(b"no store")
    assert "not a store" in run("--version").out
    (home / "holdfast.toml").write_text("recall.limit = 'many'")
    ran = run("--version")
    assert (ran.code, ran.out.splitlines()[0]) == (0, FIRST)
    assert "model    unknown: " in ran.out
