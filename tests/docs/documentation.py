"""The pages of the documentation and the examples in them: finding them, running them, comparing.

An example in Python prints, and says in comments what it prints:

    print(hub.name)  # -> work

Every line that is printed stands behind a `# -> `, in order. An example for the shell is a block
that starts with `$ holdfast`; below each command stands what a person sees on a terminal: first
what was asked for, then the notes. In both, `…` stands for anything on that line.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from holdfast.edges.cli import main

ROOT = Path(__file__).parents[2]
NAMED = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
SHELLS = ("console", "sh")
_FENCE = re.compile(r"^(```+)\s*(\S*)\s*(.*)$")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SAYS = re.compile(r"# -> ?(.*)$")
_COLUMNS = 96
# Between quotes, most of what means something to a shell does not.
_QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
_OF_A_SHELL = re.compile(r"[|<>;&$`*?~!#(){}\[\]\\]")


class Block(NamedTuple):
    """A fenced block: its language, the line its text begins on, and the text."""

    language: str
    line: int
    text: str

    @property
    def is_shell_example(self) -> bool:
        return self.language in SHELLS and self.text.startswith("$ holdfast")


class Command(NamedTuple):
    """A line of a shell example, and what should come out."""

    line: int
    words: str
    expected: list[str]


def pages() -> list[Path]:
    """Every page that people read."""
    found = [ROOT / name for name in NAMED]
    return [*found, *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    out: list[Block] = []
    fence = ""
    language, begins, inside = "", 0, []
    for number, line in enumerate(text.splitlines(), 1):
        found = _FENCE.match(line)
        if not fence and found:
            fence, language, begins, inside = found[1], found[2], number + 1, []
        elif fence and line.strip() == fence:
            out.append(Block(language, begins, "\n".join(inside)))
            fence = ""
        elif fence:
            inside.append(line)
    assert not fence, "a fence is never closed"
    return out


def prose_of(text: str) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^(```+).*?^\1\s*$", "", text, flags=re.MULTILINE | re.DOTALL)


def differences(expected: list[str], got: list[str], first_line: int) -> list[str]:
    """Where the output is not what the page says; empty where all is well."""
    out = []
    for place in range(max(len(expected), len(got))):
        said = expected[place] if place < len(expected) else "(nothing)"
        came = got[place] if place < len(got) else "(nothing)"
        if not matches(said, came):
            out.append(f"near line {first_line}: the page says {said!r}, it is {came!r}")
    return out


def matches(said: str, came: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in said.rstrip().split("…"))
    return re.fullmatch(pattern, came.rstrip()) is not None


def run_python(block: Block, page: Path, names: dict[str, Any]) -> list[str]:
    """Runs a block in the page's namespace; returns what differs from what it says."""
    expected = [found[1] for line in block.text.splitlines() if (found := _SAYS.search(line))]
    # As many lines above as in the page, so that a traceback names the right one.
    source = "\n" * (block.line - 1) + block.text
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(source, str(page), "exec"), names)
    return differences(expected, printed.getvalue().splitlines(), block.line)


def commands_of(block: Block) -> Iterator[Command]:
    """The commands of a shell example, each with what the page says it prints."""
    lines = block.text.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        words = lines[start].removeprefix("$ ")
        after = start + 1
        while words.endswith("\\"):
            words = words.removesuffix("\\") + lines[after].removeprefix("> ").strip()
            after += 1
        yield Command(block.line + start, words, [line for line in lines[after:end] if line])


def run_shell(block: Block, folder: Path, environment: dict[str, str]) -> list[str]:
    """Runs every command of the block; returns what differs from what the page shows."""
    out = []
    for command in commands_of(block):
        got = [line for line in run_command(command.words, folder, environment) if line]
        out += differences(command.expected, got, command.line)
    return out


def run_command(words: str, folder: Path, environment: dict[str, str]) -> list[str]:
    """The lines a person sees: what the command prints on a terminal, then its notes. One that
    needs no shell runs in this process, which has long started."""
    environment = environment | {"NO_COLOR": "1", "TERM": "xterm", "COLUMNS": str(_COLUMNS)}
    if words.startswith("holdfast ") and not _OF_A_SHELL.search(_QUOTED.sub("", words)):
        return _run_here(shlex.split(words)[1:], folder, environment)
    return _run_in_a_shell(words, folder, environment)


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def _run_here(words: list[str], folder: Path, environment: dict[str, str]) -> list[str]:
    shown, notes = _Screen(), io.StringIO()
    with (
        open(os.devnull, encoding="utf-8") as nothing,
        chdir(folder),
        patch.dict(os.environ, environment, clear=True),
        patch.object(sys, "stdin", nothing),
        redirect_stdout(shown),
        redirect_stderr(notes),
    ):
        main(words)
    return _ESCAPE.sub("", shown.getvalue() + notes.getvalue()).splitlines()


def _run_in_a_shell(words: str, folder: Path, environment: dict[str, str]) -> list[str]:
    python = shlex.quote(sys.executable)
    script = f'holdfast() {{ {python} -m holdfast "$@"; }}\n{words}\n'
    terminal, inner = os.openpty()
    process = subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=inner,
        stderr=subprocess.PIPE,
    )
    os.close(inner)
    printed = _read_to_end(terminal)
    assert process.stderr is not None
    notes = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
    text = _ESCAPE.sub("", (printed + notes).decode())
    return text.replace("\r\n", "\n").splitlines()


def _read_to_end(terminal: int) -> bytes:
    printed = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:
            # Linux answers so when the last writer is gone.
            piece = b""
        if not piece:
            os.close(terminal)
            return printed
        printed += piece
