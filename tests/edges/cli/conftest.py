"""A home of its own for each test, and a way to call the command line in this process."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.edges.cli import main
from tests.edges.cli.cli_calls import Ran, Run
from tests.edges.client.servers import served


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "none")
    monkeypatch.setenv("HOLDFAST_TIME_ZONE", "UTC")
    monkeypatch.setenv("HOLDFAST_ACTOR", "ada")
    monkeypatch.delenv("HOLDFAST_HUB", raising=False)
    monkeypatch.delenv("HOLDFAST_DEBUG", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return home


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Calls `holdfast WORDS…` with `stdin` and returns its exit code and what it printed."""

    def call(*words: str, stdin: str | bytes = "") -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capsys.readouterr()
        code = main(words)
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return call


_STYLE = re.compile(r"\x1b\[[0-9;]*m")


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same with a terminal of `width` columns on stdout; its colours are taken off."""

    def call(*words: str, width: int = 100, stdin: str = "") -> Ran:
        shown = _Screen()
        with monkeypatch.context() as patched:
            patched.setenv("COLUMNS", str(width))
            patched.setenv("TERM", "xterm")
            patched.setattr(sys, "stdout", shown)
            ran = run(*words, stdin=stdin)
        return ran._replace(out=_STYLE.sub("", shown.getvalue()))

    return call


@pytest.fixture
def stocked(run: Run) -> Run:
    """A home with three memories: #1 (key indent), #2 and #3 (which happened in 2024)."""
    run("remember", "Prefers tabs over spaces", "--key", "indent", "--category", "preference")
    run("remember", "The staging server is called Hilda", "--tag", "servers")
    run("remember", "Release 1.0 went out", "--occurred-at", "2024-05-03")
    return run


@pytest.fixture(params=["here", "through a server"])
def push(
    request: pytest.FixtureRequest, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Run]:
    """The command line, on this machine's memory and on a server's."""
    if request.param == "here":
        yield run
        return
    with served(tmp_path / "served") as server:
        monkeypatch.setenv("HOLDFAST_SERVER", server.url)
        yield run
