"""The command line as a process of its own: pipes, signals, exit codes, and what it imports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from tests.edges.cli.cli_calls import Run

_HOLDFAST = [sys.executable, "-m", "holdfast"]


@pytest.fixture
def many(home: Path) -> Path:
    """A home with enough memories that a list of them does not fit into a pipe."""
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        memory.hub().remember_many(
            [
                f"Note {number}: the quick brown fox jumps over dog {number}"
                for number in range(1500)
            ]
        )
    return home


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("stats",), 0),
        (("recall", "x", "--limit", "0"), 2),
        (("nonsense",), 2),
        (("get", "9"), 3),
        (("hub", "create", "default"), 4),
        (("update", "indent", "x", "--expect-version", "9"), 5),
    ],
)
def test_a_process_ends_with_the_code_of_its_error(stocked: Run, words, code) -> None:
    done = subprocess.run([*_HOLDFAST, *words], capture_output=True, text=True)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_slow_read_has_a_code_of_its_own(many: Path) -> None:
    env = {**os.environ, "HOLDFAST_RECALL_DEADLINE_S": "0.01"}
    words = " OR ".join(f"fox dog quick brown {number}" for number in range(400))
    done = subprocess.run(
        [*_HOLDFAST, "recall", "--words", words], capture_output=True, text=True, env=env
    )
    # A fast machine may answer in time; it never answers wrongly.
    assert done.returncode in (0, 7)
    if done.returncode == 7:
        assert "not an empty answer" in done.stderr


def test_text_goes_through_pipes(home: Path) -> None:
    subprocess.run([*_HOLDFAST, "remember", "-"], input="Grüße aus Köln 👋\n".encode(), check=True)
    out = subprocess.run([*_HOLDFAST, "get", "1", "--content"], capture_output=True, check=True)
    assert out.stdout.decode() == "Grüße aus Köln 👋\n"
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    out = subprocess.run([*_HOLDFAST, "list"], capture_output=True, env=env)
    assert out.returncode == 0
    assert b"Gr\\xfc\\xdfe" in out.stdout
    out = subprocess.run([*_HOLDFAST, "get", "1", "--json"], capture_output=True, env=env)
    assert json.loads(out.stdout.decode())["data"]["content"] == "Grüße aus Köln 👋"


@pytest.mark.parametrize("words", [(), ("help",), ("recall", "--help"), ("--version",)])
def test_the_first_screen_is_shown_whatever_the_encoding(words: tuple[str, ...], tmp_path) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "HOME": str(tmp_path)}
    env["HOLDFAST_HOME"] = str(tmp_path / "new – home")
    out = subprocess.run([*_HOLDFAST, *words], capture_output=True, env=env)
    assert (out.returncode, out.stderr) == (0, b"")
    out = subprocess.run([*_HOLDFAST, "get", "“é”", "--json"], capture_output=True, env=env)
    assert "“é”" in json.loads(out.stderr)["error"]["message"]


def test_a_reader_that_has_seen_enough_is_no_error(many: Path, monkeypatch) -> None:
    # Python itself passes over a short write where its output is unbuffered.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    for words in (("list",), ("export", "-"), ("list", "--json")):
        process = subprocess.Popen(
            [*_HOLDFAST, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait() == 141


def test_an_import_that_is_interrupted_leaves_nothing(many: Path) -> None:
    exported = subprocess.run([*_HOLDFAST, "export", "-"], capture_output=True, check=True).stdout
    lines = exported.splitlines(keepends=True)
    importing = subprocess.Popen(
        [*_HOLDFAST, "import", "-", "--as", "copy"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert importing.stdin is not None
    # A pipe holds 64 KB: once all but the end is written, most of it has been taken in. The end
    # never comes, so the import waits for it, in the middle.
    importing.stdin.write(b"".join(lines[:-1]))
    importing.stdin.flush()
    importing.send_signal(signal.SIGINT)
    assert importing.wait() == 130
    assert importing.stderr is not None
    assert importing.stderr.read() == b"holdfast: Interrupted; nothing was left half done.\n"
    for stream in (importing.stdin, importing.stdout, importing.stderr):
        assert stream is not None
        stream.close()
    with holdfast.open(many, settings={"embed.model": "none"}) as memory:
        assert [hub.name for hub in memory.hubs()] == ["default"]
        with memory.core.store.read() as reader:
            assert len(reader.hubs()) == 1
        assert memory.core.store.check() == []


def _modules(*words: str) -> set[str]:
    script = (
        "import sys, json; from holdfast.edges.cli import main; code = main(sys.argv[1:]);"
        "sys.stderr.write(json.dumps([code, sorted(sys.modules)]))"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    code, modules = json.loads(done.stderr)
    assert code == 0
    assert done.stdout
    return set(modules)


# Each of these costs milliseconds that an agent would wait for on every turn.
_HEAVY = {
    *("rich", "numpy", "onnxruntime", "dataclasses", "asyncio", "tomllib", "tomlkit"),
    *("importlib.metadata", "hashlib", "argparse", "gettext", "locale", "shutil", "pathlib"),
    *("inspect", "difflib", "logging", "unittest", "zoneinfo", "platform", "tempfile"),
    *("holdfast.text.classify", "holdfast.text.chunking", "holdfast.engine.writing.remember"),
    *(
        "holdfast.engine.writing.edit",
        "holdfast.engine.upkeep.lifecycle",
        "holdfast.engine.transfer.export",
    ),
    *("holdfast.domain.results", "holdfast.text.dates.expressions"),
    *("holdfast.edges.cli.write", "holdfast.edges.cli.upkeep", "holdfast.edges.cli.help"),
}


@pytest.mark.sqlite_only("the driver of PostgreSQL imports more")
def test_a_recall_by_words_imports_only_what_it_uses(stocked: Run, monkeypatch) -> None:
    monkeypatch.delenv("HOLDFAST_TIME_ZONE")
    assert _modules("recall", "--words", "tabs") & _HEAVY == set()


@pytest.mark.sqlite_only("the driver of PostgreSQL imports more")
def test_a_remember_imports_only_what_it_uses(stocked: Run, monkeypatch) -> None:
    monkeypatch.delenv("HOLDFAST_TIME_ZONE")
    used = {"holdfast.text.classify", "holdfast.text.chunking", "holdfast.engine.writing.remember"}
    used |= {"holdfast.domain.results", "holdfast.edges.cli.write"}
    more = {"holdfast.text.guard", "holdfast.recall.lexical", "holdfast.recall.voice"}
    assert _modules("remember", "Enjoys long walks") & (_HEAVY - used | more) == set()


@pytest.mark.sqlite_only("the driver of PostgreSQL imports more")
def test_a_list_imports_only_what_it_uses(stocked: Run, monkeypatch) -> None:
    monkeypatch.delenv("HOLDFAST_TIME_ZONE")
    more = {
        *("holdfast.engine.history", "holdfast.engine.traces", "holdfast.engine.reading.recall"),
        *("holdfast.engine.writing.drafts", "holdfast.engine.writing.recorder"),
        *("holdfast.recall.pipeline", "holdfast.recall.analyse", "holdfast.recall.confidence"),
        *("holdfast.system.atomic_file", "holdfast.text.dates"),
    }
    assert _modules("list") & (_HEAVY | more | _ELSEWHERE) == set()


# What only writes, compares vectors, looks for echoes, or is for repositories.
_ELSEWHERE = {
    *("holdfast.store.sqlite.writer", "holdfast.store.sqlite.indexing", "holdfast.embed"),
    *("holdfast.recall.vector", "holdfast.engine.echo.detect", "holdfast.api.project_hub"),
}


@pytest.mark.sqlite_only("the driver of PostgreSQL imports more")
def test_a_context_without_a_question_imports_nothing_that_recalls_or_writes(
    stocked: Run, monkeypatch
) -> None:
    monkeypatch.delenv("HOLDFAST_TIME_ZONE")
    more = {
        *("holdfast.engine.reading.recall", "holdfast.recall.pipeline", "holdfast.recall.expand"),
        *("holdfast.engine.writing.drafts", "holdfast.engine.writing.recorder"),
        *("holdfast.engine.writing.indexing", "holdfast.text.chunking"),
    }
    assert _modules("context") & more == set()


@pytest.mark.sqlite_only("the driver of PostgreSQL imports more")
def test_the_log_imports_only_what_it_uses(stocked: Run, home: Path, monkeypatch) -> None:
    monkeypatch.delenv("HOLDFAST_TIME_ZONE")
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        memory.hub().log_turn("user", "Which port has the mail server?")
    assert _modules("log") & (_HEAVY | _ELSEWHERE) == set()


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("log",),
        ("context",),
        ("recall", "--words", "tabs"),
        ("remember", "Enjoys walks"),
    ],
)
def test_a_command_makes_no_values_with_typing(stocked: Run, words: tuple[str, ...]) -> None:
    # `holdfast.system.named_tuple` says why.
    script = """
import json, sys, typing
made, original = [], typing.NamedTupleMeta.__new__
def new(cls, name, bases, namespace):
    made.append(namespace["__module__"])
    return original(cls, name, bases, namespace)
typing.NamedTupleMeta.__new__ = new
from holdfast.edges.cli import main
code = main(sys.argv[1:])
sys.stderr.write(json.dumps([code, made]))
"""
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert json.loads(done.stderr.splitlines()[-1]) == [0, []]


# Compiling the patterns of these takes milliseconds, and most commands use few of them.
_COMPILE_LATE = (
    *("holdfast.recall.analyse", "holdfast.recall.expand", "holdfast.recall.voice"),
    *("holdfast.text.analysis.spans", "holdfast.text.analysis.variants"),
    *("holdfast.text.classify.titles", "holdfast.text.dates", "holdfast.text.dates.context"),
    *("holdfast.text.facts.about_oneself", "holdfast.text.slots.compare"),
    *("holdfast.text.slots.frames", "holdfast.text.slots.values"),
)
_COMPILED = """
import importlib, json, re, sys
made, original = [], re._compiler.compile
def compile(pattern, flags=0):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].split(".")[0] == "re":
        frame = frame.f_back
    made.append((frame.f_globals["__name__"], pattern))
    return original(pattern, flags)
re._compiler.compile = compile
"""


def _patterns(script: str, *words: str) -> list[tuple[str, str]]:
    """The modules that compile a pattern while the script runs, each with the pattern."""
    line = [sys.executable, "-c", _COMPILED + script, *words]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return [tuple(pair) for pair in json.loads(done.stderr)]


def test_patterns_are_compiled_when_they_are_used() -> None:
    script = "for name in sys.argv[1:]: importlib.import_module(name)\n"
    made = _patterns(script + "sys.stderr.write(json.dumps(made))", *_COMPILE_LATE)
    assert [pair for pair in made if pair[0] in _COMPILE_LATE] == []


@pytest.mark.parametrize(("text", "read"), [("Enjoys long walks", 0), ("Gestern beim Arzt", 1)])
def test_days_in_other_languages_are_looked_for_where_one_is_named(text, read) -> None:
    script = "from datetime import UTC, datetime; from holdfast.text.dates import event_in\n"
    script += "event_in(sys.argv[1], at=datetime(2026, 11, 18, tzinfo=UTC))\n"
    made = _patterns(script + "sys.stderr.write(json.dumps(made))", text)
    assert len([pattern for _, pattern in made if "gestern" in pattern]) == read


def test_a_command_begins_no_threads_for_algebra_unless_told_to(stocked: Run, monkeypatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    stocked("stats")
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    stocked("stats")
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"


@pytest.mark.sqlite_only("the driver of PostgreSQL imports more")
def test_the_version_imports_next_to_nothing(home: Path) -> None:
    modules = _modules("--version")
    assert not {name for name in modules if name.startswith(("holdfast.api", "holdfast.engine"))}
    assert not modules & _HEAVY


def test_the_module_can_be_run_too(home: Path) -> None:
    for module in ("holdfast", "holdfast.edges.cli"):
        done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True)
        assert done.stdout.startswith(b"holdfast ")
