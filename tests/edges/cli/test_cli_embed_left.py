"""Vectors that storing has left out are made after the answer, and nothing waits for a thread."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.errors import EmbedderError
from holdfast.testing import HashEmbedder
from tests.edges.cli.cli_calls import Run

LONG = "\n\n".join(f"Paragraph {n} tells of the harbour and its {n} boats." * 6 for n in range(120))


class _Failing(HashEmbedder):
    """Works for the first text or two, as a model does for short notes, then does not."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def embed_passages(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        # What was stored is told before the long part begins.
        sys.stdout.flush()
        raise self.error


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch):
    def use(embedder: HashEmbedder) -> None:
        monkeypatch.setattr("holdfast.wiring.embedder_of", lambda settings: embedder)

    use(HashEmbedder())
    return use


def missing(run: Run) -> int:
    count: int = run("doctor", "--json").data["passages_without_vectors"]
    return count


def test_a_long_text_has_its_vectors_when_the_command_is_done(run: Run, model) -> None:
    ran = run("remember", "-", stdin=LONG)
    assert (ran.code, ran.rows[0][0]) == (0, "stored")
    assert ran.err == ""
    assert missing(run) == 0


def test_a_long_update_has_its_vectors_too(run: Run, model) -> None:
    run("remember", "Short")
    assert run("update", "1", "-", stdin=LONG).code == 0
    assert missing(run) == 0


def test_what_comes_with_an_import_or_a_backup_gets_its_vectors(
    run: Run, model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("holdfast.wiring.embedder_of", lambda settings: None)
        run("remember", "-", stdin=LONG)
        run("export", str(tmp_path / "hub.jsonl"))
        run("backup", str(tmp_path / "backup.db"))
    assert missing(run) > 0
    run("restore-backup", str(tmp_path / "backup.db"), "--yes")
    assert missing(run) == 0
    run("import", str(tmp_path / "hub.jsonl"), "--as", "copy")
    assert missing(run) == 0


def test_ctrl_c_while_vectors_are_made_leaves_everything_stored(run: Run, model) -> None:
    model(_Failing(KeyboardInterrupt()))
    ran = run("remember", "-", stdin=LONG)
    assert ran.code == 130
    assert ran.rows[0][:2] == ["stored", "#1"]
    assert "everything is stored" in ran.err
    assert "holdfast embed" in ran.err
    model(HashEmbedder())
    assert run("get", "1", "--content").out == LONG + "\n"
    assert missing(run) > 0
    run("embed")
    assert missing(run) == 0


def test_a_model_that_fails_meanwhile_is_a_note(run: Run, model) -> None:
    model(_Failing(EmbedderError("The model is away.")))
    ran = run("remember", "-", stdin=LONG)
    assert (ran.code, ran.rows[0][0]) == (0, "stored")
    assert "The model is away. Everything is stored" in ran.err


def test_a_model_that_is_not_installed_comes_with_the_command_that_installs_it(
    run: Run, model
) -> None:
    model(_Failing(EmbedderError("It is not installed.", hint="Run `pip install x`.")))
    ran = run("remember", "-", stdin=LONG)
    assert "It is not installed. Run `pip install x`. Everything is stored" in ran.err


def test_a_backlog_is_not_what_a_short_note_waits_for(
    run: Run, model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.edges.cli.call._BACKLOG", 2)
    model(_Failing(EmbedderError("The model is away.")))
    run("remember", "-", stdin=LONG)
    model(HashEmbedder())
    ran = run("remember", "Short")
    assert ran.code == 0
    assert "passages have no vectors" in ran.err
    assert missing(run) > 2


def test_no_thread_is_begun_by_a_single_call(
    run: Run, model, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(
        "holdfast.engine.writing.indexing.CatchUp.start", lambda self: begun.append("thread")
    )
    model(_Failing(EmbedderError("The model is away.")))
    run("remember", "-", stdin=LONG)
    model(HashEmbedder())
    run("recall", "harbour boats")
    assert begun == []
