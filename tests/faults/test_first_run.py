"""A first run where something is wrong with the home: each says what, and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.edges.hooks import front
from holdfast.errors import HoldfastError

_HOLDFAST = [sys.executable, "-m", "holdfast"]


def _run(home: Path | str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environ = kept | {"HOME": str(home), "HOLDFAST_EMBED_MODEL": "none", "LANG": "C.UTF-8"} | more
    return subprocess.run(
        [*_HOLDFAST, *words], env=environ, cwd="/", capture_output=True, encoding="utf-8"
    )


def test_without_a_home_nothing_is_written_anywhere(tmp_path: Path) -> None:
    # An account without an entry among the users has no other home than HOME.
    for words in (("remember", "Ada lives in Bonn"), ("recall", "Ada"), ("setup", "--all")):
        ran = _run("", *words)
        assert ran.returncode == 2
        assert "HOME is empty or not set." in ran.stderr
        assert "HOLDFAST_HOME" in ran.stderr
    assert not Path("/.holdfast").exists()
    assert _run("", "remember", "Ada", "--home", str(tmp_path / "home")).returncode == 0


def test_a_hook_without_a_home_does_nothing_and_says_nothing(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": ""}
    done = subprocess.run(
        [sys.executable, "-I", "-S", front.__file__, "SessionStart", "--client", "claude-code"],
        env=environ,
        cwd=tmp_path,
        input=b"{}",
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []
    assert not Path("/.holdfast").exists()


@pytest.mark.parametrize("name", ["a home with spaces", "Zuhause – 家", 'it\'s "quoted" $HOME'])
def test_a_home_may_have_any_name(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    home.mkdir()
    assert _run(home, "remember", "Ada lives in Bonn").returncode == 0
    assert "Ada lives in Bonn" in _run(home, "recall", "Ada").stdout
    assert _run(home, "sync").returncode == 0
    assert (home / ".holdfast" / "hubs" / "default" / "MEMORY.md").exists()


def test_a_file_where_the_home_should_be(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").write_text("mine")
    ran = _run(tmp_path, "remember", "Ada lives in Bonn")
    assert ran.returncode == 6
    assert "is a file, not a folder." in ran.stderr
    assert "--home" in ran.stderr
    with pytest.raises(HoldfastError) as caught:
        holdfast.open(tmp_path / ".holdfast")
    assert "--home" not in str(caught.value)


def test_settings_that_cannot_be_read_are_named_with_the_place(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").mkdir()
    settings = tmp_path / ".holdfast" / "holdfast.toml"
    settings.write_text("[recall]\nlimit = \n")
    for words in ((), ("--version",), ("help",)):
        assert _run(tmp_path, *words).returncode == 0
    ran = _run(tmp_path, "remember", "Ada lives in Bonn")
    assert ran.returncode == 2
    assert str(settings) in ran.stderr
    assert "line 2" in ran.stderr
    settings.write_bytes(b"\xff\xfe\x00nonsense")
    for words in (("recall", "Ada"), ("config", "set", "recall.limit", "3"), ("status",)):
        ran = _run(tmp_path, *words)
        assert ran.returncode == 2, words
        assert str(settings) in ran.stderr
        assert "fault" not in ran.stderr


@pytest.mark.parametrize("kind", ["text", "empty folder"])
def test_something_else_where_the_store_should_be(tmp_path: Path, kind: str) -> None:
    (tmp_path / ".holdfast").mkdir()
    store = tmp_path / ".holdfast" / "memory.db"
    if kind == "text":
        store.write_text("this is not a database, and longer than its header is\n" * 20)
    else:
        store.mkdir()
    for words in (("remember", "Ada lives in Bonn"), ("recall", "Ada")):
        ran = _run(tmp_path, *words)
        assert ran.returncode == 6
        assert str(store) in ran.stderr
        assert "fault" not in ran.stderr
    assert store.is_dir() or store.read_text().startswith("this is not")


def test_two_first_runs_at_once_store_both(tmp_path: Path) -> None:
    environ = os.environ | {"HOME": str(tmp_path), "HOLDFAST_EMBED_MODEL": "none"}
    environ.pop("HOLDFAST_HOME", None)
    texts = [f"Colour number {number} is a good one" for number in range(4)]
    running = [
        subprocess.Popen([*_HOLDFAST, "remember", text], env=environ, stderr=subprocess.PIPE)
        for text in texts
    ]
    errors = [one.communicate()[1] for one in running]
    assert [one.returncode for one in running] == [0] * len(texts), errors
    listed = _run(tmp_path, "list").stdout
    assert all(text in listed for text in texts)
