"""What a person or a program sees: JSON, plain lines in a pipe, colours and tables on a terminal.

Text from memories is data: what could steer a terminal is made visible before it is printed. `rich`
is imported only when a terminal is there to be pleased.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, TextIO

from holdfast.text.characters import JSON_ESCAPES, printable, printable_line

if TYPE_CHECKING:
    from rich.console import Console

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")

Step = Callable[[int, int], None]  # (done, total); a total of 0 is one nobody knows


def short(text: str, chars_max: int = 200) -> str:
    """The text on one line for the eye: spaces run together, and cut where it is long."""
    words = " ".join(printable(text[: chars_max * 4]).split())
    return words if len(words) <= chars_max else words[: chars_max - 1].rstrip() + "…"


def counted(count: int, word: str) -> str:
    """`1 memory`, `2 memories`."""
    if count != 1:
        word = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word}"


def times(count: int) -> str:
    """`never`, `once`, `3 times`."""
    return ("never", "once")[count] if count < 2 else f"{count:,} times"


class Out:
    """Where one call writes."""

    def __init__(self, *, json: bool, color: bool, quiet: bool) -> None:
        self.json = json
        self.quiet = quiet
        self.color = color and not os.environ.get("NO_COLOR")
        self.stdout: TextIO = sys.stdout
        self.stderr: TextIO = sys.stderr
        self.terminal = not json and self.stdout.isatty()
        if not _speaks_utf8(self.stdout):
            # What an old terminal cannot show is written as an escape, not as an error.
            _reconfigure(self.stdout, errors="backslashreplace")
        self.zone: tzinfo | None = None
        self._console: Console | None = None

    # For programs

    def value(self, plain: Any) -> None:
        """One JSON value."""
        import json

        self.utf8()
        indent = 2 if self.stdout.isatty() else None
        text = json.dumps(plain, ensure_ascii=False, indent=indent, default=_plain)
        self.stdout.write(text.translate(JSON_ESCAPES) + "\n")

    def utf8(self) -> None:
        """JSON is UTF-8, whatever the locale says."""
        if not _speaks_utf8(self.stdout):
            _reconfigure(self.stdout, encoding="utf-8")

    def row(self, *fields: str) -> None:
        """One line of a pipe: fields between tabs."""
        self.stdout.write("\t".join(printable_line(field) for field in fields) + "\n")

    def raw(self, text: str) -> None:
        """Text to the letter in a pipe; escaped where a terminal would obey it."""
        self.stdout.write(printable(text) if self.stdout.isatty() else text)

    # For people

    def line(self, text: str = "", style: str = "") -> None:
        """A line; coloured where a terminal shows it."""
        if style and self.terminal and self.color:
            self.console().print(self._text(printable(text), style))
        else:
            self.stdout.write(printable(text) + "\n")

    def parts(self, *parts: tuple[str, str]) -> None:
        """A line of (text, style) pieces."""
        if self.terminal and self.color:
            from rich.text import Text

            self.console().print(
                Text.assemble(*((printable(text), style) for text, style in parts))
            )
        else:
            self.line("".join(text for text, _ in parts))

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table on a terminal, lines of fields between tabs in a pipe."""
        if not self.terminal:
            for row in rows:
                self.row(*row)
            return
        from rich.cells import cell_len
        from rich.text import Text

        from holdfast.edges.cli.columns import GAP, fitted

        console = self.console()
        lines = [[short(cell) for cell in row] for row in rows]
        heads = [list(headings)] if headings else []
        natural = [max(map(cell_len, column)) for column in zip(*heads, *lines, strict=True)]
        widths = fitted(natural, console.width)
        for place, cells in enumerate([*heads, *lines]):
            line = Text()
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True)):
                style = "bold" if place < len(heads) else "cyan" if at == 0 else ""
                field = Text(cell, style)
                last = at == len(widths) - 1
                field.truncate(width, overflow="ellipsis", pad=not last)
                line.append_text(field).append("" if last else " " * GAP)
            line.rstrip()
            # A line that is still too long runs on: nothing of it is dropped.
            console.print(line, soft_wrap=True)

    def note(self, text: str) -> None:
        """Something worth knowing that is not the answer: to stderr, unless quiet."""
        if not self.quiet:
            self.stderr.write(printable(text) + "\n")

    def time(self, at: datetime | None) -> str:
        """A moment in the person's zone."""
        if at is None:
            return ""
        local = at.astimezone(self.zone)
        if self.terminal:
            return local.strftime("%Y-%m-%d %H:%M")
        return local.isoformat(timespec="seconds")

    @property
    def person_reads_errors(self) -> bool:
        """Whether notes and errors end on a terminal, where a person sees them."""
        return not self.json and self.stderr.isatty()

    def localised(self, text: str) -> str:
        """A message for a person, with the moments in it in the person's zone."""
        if not self.person_reads_errors:
            return text

        def local(found: re.Match[str]) -> str:
            at = datetime.fromisoformat(found[0])
            return at.astimezone(self.zone).strftime("%Y-%m-%d %H:%M")

        return _MOMENT.sub(local, text)

    def console(self) -> Console:
        if self._console is None:
            from rich.console import Console

            self._console = Console(
                file=self.stdout,
                no_color=not self.color,
                markup=False,
                emoji=False,
                highlight=False,
                soft_wrap=False,
            )
        return self._console

    def _text(self, text: str, style: str) -> Any:
        from rich.text import Text

        return Text(text, style)

    @contextmanager
    def progress(self, label: str) -> Iterator[Step]:
        """A bar on the terminal's stderr while something long runs; elsewhere nothing."""
        if self.quiet or self.json or not self.stderr.isatty():
            yield _no_step
            return
        from rich.console import Console
        from rich.progress import Progress

        console = Console(file=self.stderr, no_color=not self.color)
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(label, total=None)

            def step(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total or None)

            yield step


def _speaks_utf8(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"


def _reconfigure(stream: TextIO, **how: str) -> None:
    change = getattr(stream, "reconfigure", None)
    if change is not None:
        change(**how)


def _no_step(done: int, total: int) -> None:
    """Nobody is looking."""


def _plain(value: Any) -> Any:
    from holdfast.domain.clock import to_text

    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
