"""Records a session at a terminal as an animated SVG, for the README:

    python -m tools.terminal_recording docs/assets/session.svg

Every command runs, in a home of its own; what it prints is what the picture shows. Viewers that do
not animate, and people who asked for less motion, see the whole session.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple

COLUMNS = 92
# What is shown: a remark, or the words of a command. Commands of SETUP run unseen.
SETUP: tuple[tuple[str, ...], ...] = (
    ("config", "set", "shadowJournal.enabled", "true"),
    ("remember", "Releases are cut from main, never from a branch"),
    ("remember", "Production runs Postgres 15"),
)
SESSION: tuple[str | tuple[str, ...], ...] = (
    "# Monday. Hooks show Holdfast what you say to your agent:",
    ("observe", "No, use uv, not pip. And we deploy on Thursdays.", "--work"),
    "# Days later, a new session. This goes into its prompt:",
    ("context", "how do I install a package?"),
    "# Ask it yourself, in your own words:",
    ("recall", "which day is deployment?", "--limit", "1"),
    "# Facts change. The old one stays in the history, and every change can be undone:",
    ("remember", "Production runs Postgres 16"),
    ("undo",),
)

_ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")
_OTHER_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\x1b\][^\x07]*\x07")
_CLASSES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}
_CHAR_WIDTH, _LINE_HEIGHT, _MARGIN = 8.4, 20, 18
_TYPING, _ANSWER, _PAUSE = 0.03, 0.35, 1.4
_STYLE = """
.s{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d7dce2;white-space:pre}
.b{font-weight:600}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#79c0ff}
@media (prefers-reduced-motion:no-preference){.l{animation:show .01s backwards}}
@keyframes show{from{opacity:0}}
"""


class Line(NamedTuple):
    """A line of the picture, and the second it appears at."""

    at: float
    text: str


def record(home: str) -> list[Line]:
    """Runs the session in `home`."""
    lines: list[Line] = []
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")},
        "HOME": home,
        "TERM": "xterm",
        "COLUMNS": str(COLUMNS),
        "LINES": "50",
    }
    for words in SETUP:
        _run(words, home, environ)
    clock = 0.5
    for step in SESSION:
        if isinstance(step, str):
            lines += [Line(clock, ""), Line(clock, f"\x1b[2m{step}\x1b[0m")]
            clock += _PAUSE / 2
            continue
        shown = " ".join(shlex.quote(word) for word in ("holdfast", *step) if word != "--work")
        lines.append(Line(clock, f"\x1b[32m$\x1b[0m \x1b[1m{shown}\x1b[0m"))
        clock += len(shown) * _TYPING + _ANSWER
        answer = _run(step, home, environ)
        lines += [Line(clock, line) for line in answer.splitlines() if line.strip()]
        clock += _PAUSE
        if "--work" in step:
            _run(("work",), home, environ)
    return lines[1:]


def _run(words: tuple[str, ...], home: str, environ: Mapping[str, str]) -> str:
    """What a command prints on a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "holdfast", *words]
    with subprocess.Popen(
        command, cwd=home, env=environ, stdin=theirs, stdout=theirs, stderr=theirs
    ) as running:
        os.close(theirs)
        printed = b"".join(_chunks(ours))
    os.close(ours)
    text = printed.decode().replace("\r\n", "\n")
    if running.returncode:
        raise SystemExit(f"{shlex.join(command)} failed:\n{text}")
    return _OTHER_ESCAPE.sub("", text)


def _chunks(file: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(file, 65536)
        except OSError:  # On Linux this is how a terminal ends.
            return
        if not chunk:
            return
        yield chunk


def svg(lines: list[Line]) -> str:
    """The picture."""
    width = round(COLUMNS * _CHAR_WIDTH + 2 * _MARGIN)
    height = len(lines) * _LINE_HEIGHT + 2 * _MARGIN
    rows = [
        f'<text class="s l" x="{_MARGIN}" y="{_MARGIN + 14 + place * _LINE_HEIGHT}"'
        f' style="animation-delay:{line.at:.2f}s">{_spans(line.text)}</text>'
        for place, line in enumerate(lines)
        if line.text
    ]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" role="img">',
            "<title>A session with Holdfast at a terminal</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            *rows,
            "</svg>\n",
        )
    )


def _spans(text: str) -> str:
    """Colours of the terminal as classes."""
    parts, style, at = [], "", 0
    for found in [*_ESCAPE.finditer(text), None]:
        piece = text[at : found.start() if found else len(text)]
        if piece:
            parts.append(
                f'<tspan class="{style}">{escape(piece)}</tspan>' if style else escape(piece)
            )
        if found:
            codes = [code for code in found[1].split(";") if code.lstrip("0")]
            style = " ".join(_CLASSES.get(code, "") for code in codes).strip()
            at = found.end()
    return "".join(parts)


def main(target: str) -> None:
    with tempfile.TemporaryDirectory(prefix="holdfast-recording-") as home:
        lines = record(home)
    Path(target).write_text(svg(lines), encoding="utf-8")
    for line in lines:
        print(_ESCAPE.sub("", line.text))


if __name__ == "__main__":
    main(sys.argv[1])
