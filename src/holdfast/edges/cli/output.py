"""The output of a command: JSON, plain lines in a pipe, colours and tables on a terminal.

Text from memories is untrusted: control characters that could steer a terminal are escaped before
they are printed. `rich` is imported only if the output is a terminal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, TextIO

from holdfast.domain.memory import CATEGORIES, Memory
from holdfast.text.clean import JSON_ESCAPES, printable, printable_line

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.api.memory import Holdfast
    from holdfast.domain.change import Entry
    from holdfast.domain.hub import Hub
    from holdfast.edges.cli.call import Call

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")

Step = Callable[[int, int], None]  # (done, total); the total is 0 if it is not known

# Spaces between two columns of a table.
GAP = 2
# The last column keeps this width until another column has been cut: three or four words.
_LAST_FIRST = 20
# A column up to this width is never cut: part of an id (24) or of a time (16) is useless.
_WHOLE = 24
# Other long columns are cut to no less than this.
_LONG_LEAST = 12
# The minimum for the last column: a few letters and the ellipsis.
_LAST_LEAST = 6


def fitted(widths: Sequence[int], room: int) -> list[int]:
    """Returns the widths of a table's columns so that it fits into `room` characters.

    Numbers, times, states and ids stay complete. The last column is cut first, then other long
    ones. No column is left out: if that is not enough, lines are longer than the screen.
    """
    out = list(widths)
    over = sum(out) + GAP * (len(out) - 1) - room
    last = len(out) - 1
    over -= _cut(out, last, _LAST_FIRST, over)
    longest_first = sorted(range(1, last), key=lambda place: -widths[place])
    for place in longest_first:
        if widths[place] > _WHOLE:
            over -= _cut(out, place, _LONG_LEAST, over)
    if last > 0:
        _cut(out, last, _LAST_LEAST, over)
    return out


def _cut(out: list[int], place: int, least: int, over: int) -> int:
    """Cuts one column by up to `over` characters and returns by how many."""
    taken = max(0, min(over, out[place] - least))
    out[place] -= taken
    return taken


def short(text: str, chars_max: int = 200) -> str:
    """Puts a text on one line of the terminal: runs of white space become one space, and long text
    is cut."""
    words = " ".join(printable(text[: chars_max * 4]).split())
    return words if len(words) <= chars_max else words[: chars_max - 1].rstrip() + "…"


def counted(count: int, word: str) -> str:
    """A number of things in words for a line of output: `1 memory`, `2 memories`."""
    if count != 1:
        word = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word}"


def times(count: int) -> str:
    """How often something was done, for a line of output: `never`, `once`, `3 times`."""
    return ("never", "once")[count] if count < 2 else f"{count:,} times"


class Out:
    """Writes the output of one command."""

    def __init__(self, *, json: bool, color: bool, quiet: bool) -> None:
        self.json = json
        self.quiet = quiet
        self.color = color and not os.environ.get("NO_COLOR")
        self.stdout: TextIO = sys.stdout
        self.stderr: TextIO = sys.stderr
        self.terminal = not json and self.stdout.isatty()
        self.zone: tzinfo | None = None
        # Looks up the name of a memory's hub; set by `Call`.
        self.hub_of: Callable[[Memory], str] = lambda memory: memory.hub_id
        self._console: Console | None = None

    # Output for programs

    def value(self, data: Any, **beside: Any) -> None:
        """Prints the result as JSON in the shape that REST uses: `{"data": …}` with further members
        beside it (`result`, `degraded`, `next_cursor`). Memories include the name of their hub."""
        from holdfast.edges.to_json import to_json

        self.raw_json(to_json({"data": data, **beside}, self.memory_to_json))

    def memory_to_json(self, memory: Memory) -> dict[str, Any]:
        """A memory with all its fields and the name of its hub."""
        from holdfast.edges.to_json import memory_to_json

        return {"hub": self.hub_of(memory), **memory_to_json(memory)}

    def raw_json(self, plain: Any) -> None:
        """Prints one JSON value without `data` around it, such as schemas for another program."""
        import json

        self.utf8()
        indent = 2 if self.stdout.isatty() else None
        text = json.dumps(plain, ensure_ascii=False, indent=indent, default=_plain)
        self.stdout.write(text.translate(JSON_ESCAPES) + "\n")

    def utf8(self) -> None:
        """Switches stdout to UTF-8, because JSON is UTF-8 in any locale."""
        change = getattr(self.stdout, "reconfigure", None)
        if change is not None and not _speaks_utf8(self.stdout):
            change(encoding="utf-8")

    def done(self, word: str, data: Any, sentence: str, *row: str) -> None:
        """Prints what was done: `word` (`stored`) is the JSON's `result` and the first field in a
        pipe."""
        self.answer(data, sentence, word, *row, result=word)

    def answer(self, data: Any, sentence: str, *row: str, **beside: Any) -> None:
        """Prints JSON, a sentence on a terminal, or a line of fields in a pipe."""
        if self.json:
            self.value(data, **beside)
        elif self.terminal:
            self.line(sentence, "green")
        else:
            self.row(*row)

    def text(self, data: Any, text: str) -> None:
        """Prints one text on a terminal and in a pipe, or the data as JSON."""
        if self.json:
            self.value(data)
        else:
            self.line(text)

    def row(self, *fields: str) -> None:
        """Prints one line for a pipe: fields separated by tabs."""
        self.stdout.write("\t".join(printable_line(field) for field in fields) + "\n")

    def raw(self, text: str) -> None:
        """Prints text unchanged in a pipe; on a terminal, control characters are escaped."""
        self.stdout.write(printable(text) if self.stdout.isatty() else text)

    # Output for people

    def line(self, text: str = "", style: str = "") -> None:
        """Prints a line, in colour on a terminal that supports it."""
        if style and self.terminal and self.color:
            self.console().print(self._text(printable(text), style))
        else:
            self.stdout.write(printable(text) + "\n")

    def parts(self, *parts: tuple[str, str]) -> None:
        """Prints a line of (text, style) pieces."""
        if self.terminal and self.color:
            from rich.text import Text

            self.console().print(
                Text.assemble(*((printable(text), style) for text, style in parts))
            )
        else:
            self.line("".join(text for text, _ in parts))

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Prints a table on a terminal, or lines of tab-separated fields in a pipe."""
        if not self.terminal:
            for row in rows:
                self.row(*row)
            return
        from rich.cells import cell_len
        from rich.text import Text

        console = self.console()
        lines = [[short(cell) for cell in row] for row in rows]
        heads = [list(headings)] if headings else []
        if not heads and not lines:
            return
        natural = [max(map(cell_len, column)) for column in zip(*heads, *lines, strict=True)]
        widths = fitted(natural, console.width)
        for place, cells in enumerate([*heads, *lines]):
            line = Text()
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True)):
                style = "bold" if place < len(heads) else "cyan" if at == 0 else ""
                field = Text(cell, style if self.color else "")
                last = at == len(widths) - 1
                field.truncate(width, overflow="ellipsis", pad=not last)
                line.append_text(field).append("" if last else " " * GAP)
            line.rstrip()
            # A line that is still too long wraps; nothing is cut.
            console.print(line, soft_wrap=True)

    def rows(
        self,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        data: Any = None,
        empty: str = "",
        **headings: str,
    ) -> bool:
        """Prints a list of records: as JSON, objects with these names (or `data`); otherwise a
        table with columns of these names, unless `headings` renames them; or the note `empty`.
        Returns whether there are rows and the output is for people."""
        if self.json:
            named = [dict(zip(names, row, strict=True)) for row in rows]
            self.value(named if data is None else data)
        elif rows or not empty:
            self.table([headings.get(name, name) for name in names], rows)
        else:
            self.note(empty)
        return bool(rows) and not self.json

    def records(self, found: Any, *, empty: str = "There is nothing.", **headings: str) -> None:
        """Prints the result of an operation: a list of records as a table of their fields, one
        record as a line for each field, and JSON in full. `headings` are names of fields for
        people."""
        if self.json:
            self.value(found)
        elif isinstance(found, list):
            table = [_fields_of(one) for one in found]
            names = [headings.get(name, name.replace("_", " ")) for name in (table or [{}])[0]]
            rows = [[self._cell(value) for value in fields.values()] for fields in table]
            self.rows(names, rows, empty=empty)
        else:
            fields = {headings.get(name, name): value for name, value in _fields_of(found).items()}
            lines = [line for name, value in fields.items() for line in _lines_of(name, value)]
            self.table((), [[*filter(None, (name,)), self._cell(value)] for name, value in lines])

    def _cell(self, value: Any) -> str:
        if isinstance(value, datetime):
            return self.time(value)
        if isinstance(value, Memory):
            return f"#{value.number} {value.title}"
        if isinstance(value, list | tuple):
            return ", ".join(map(self._cell, value))
        return "" if value is None else str(value)

    def note(self, text: str) -> None:
        """Prints a remark that is not part of the result to stderr, unless quiet."""
        if not self.quiet:
            self.stderr.write(printable(text) + "\n")

    def notes(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.note(text)

    def degraded(self, reasons: Sequence[str]) -> None:
        """Notes why a result may be worse than usual, and the command that fixes it."""
        for reason in reasons:
            from holdfast.recall.gather import NO_MODEL, NO_VECTORS

            command = ""
            if reason == NO_MODEL:
                command = "; `holdfast doctor` says why and how to get one"
            elif reason.endswith(NO_VECTORS):
                command = "; `holdfast embed` makes the vectors"
            self.note(f"Degraded: {reason}{command}.")

    def time(self, at: datetime | None) -> str:
        """A time in the user's time zone."""
        if at is None:
            return ""
        local = at.astimezone(self.zone)
        if self.terminal:
            return local.strftime("%Y-%m-%d %H:%M")
        return local.isoformat(timespec="seconds")

    @property
    def person_reads_errors(self) -> bool:
        """Whether stderr is a terminal, so that a person sees notes and errors."""
        return not self.json and self.stderr.isatty()

    def localised(self, text: str) -> str:
        """Converts the times in a message to the user's time zone."""
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
        """Shows a progress bar on stderr if it is a terminal."""
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


def _fields_of(found: Any) -> dict[str, Any]:
    """The fields of a record; anything else is a single field without a name."""
    is_record = hasattr(found, "_asdict") and not isinstance(found, Memory)
    return found._asdict() if is_record else {"": found}


def _lines_of(name: str, value: Any) -> list[tuple[str, Any]]:
    """A field of a record as lines; counts by name become a line for each name."""
    if not isinstance(value, Mapping):
        return [(name.replace("_", " "), value)]
    return [(f"{name.removeprefix('by_')} {key}", value[key]) for key in sorted(value)]


def _speaks_utf8(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"


def _no_step(done: int, total: int) -> None:
    """Discards progress."""


def _plain(value: Any) -> Any:
    from holdfast.domain.clock import to_text

    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def plain_entry(entry: Entry) -> dict[str, Any]:
    from holdfast.domain.records import fields_to_plain

    return {
        "version": entry.revision.version,
        "at": entry.revision.at,
        "change": entry.change,
        "fields": fields_to_plain(entry.revision.fields),
        "memory": entry.after,
    }


def pasteable(*words: str) -> str:
    """A command line for a person to paste, with quotes where their shell needs them."""
    if sys.platform == "win32":
        import subprocess

        return subprocess.list2cmdline(words)
    import shlex

    return shlex.join(words)


def plain_hub(hub: Hub, *, used: str) -> dict[str, Any]:
    return {**hub._asdict(), "used": hub.name == used}


def print_store_notes(memory: Holdfast, command: str, *, quiet: bool) -> None:
    """Prints the store's warnings for its administrator when a server starts."""
    if quiet:
        return
    for note in memory.core.store.notes():
        sys.stderr.write(f"holdfast {command}: {note}\n")
    sys.stderr.flush()


# Notes on words that were probably mistyped. They are not errors: a category may be any word, and
# any text may contain a colon.

# A hub may have thousands of categories; a note names this many.
_NAMED_MAX = 8


def note_filters(call: Call, query: str) -> None:
    """Notes the filter that was probably meant by a mistyped one, which was searched as text."""
    if ":" not in query or call.out.json:
        return
    from holdfast.edges.cli.command import nearest
    from holdfast.recall.analyse import FIELDS

    for word in dict.fromkeys(re.findall(r"(?<!\S)-?([A-Za-z_]+):(?=[\w\"])", query)):
        near = "" if word in FIELDS else nearest(word, FIELDS)
        if near:
            call.out.note(
                f"`{word}:` is no filter, and was searched as text. Did you mean `{near}:`?"
            )


def note_absent_category(call: Call, category: str | None, query: str = "") -> None:
    """After an empty result: notes that no memory has this category, and which categories there
    are."""
    asked = [category] if category else re.findall(r"(?<!\S)category:(\w+)", query)
    if not asked or call.out.json:
        return
    from holdfast.edges.cli.command import nearest

    there = call.hub.statistics().by_category
    for one in asked:
        if one.lower() in there:
            continue
        known = sorted(there, key=lambda name: -there[name])
        near = nearest(one.lower(), [*known, *CATEGORIES])
        guess = f" Did you mean `{near}`?" if near else ""
        named = ", ".join(known[:_NAMED_MAX]) + (", …" if len(known) > _NAMED_MAX else "")
        call.out.note(
            f"No memory here has the category `{one}`.{guess}"
            + (f" There are: {named}." if named and not guess else "")
        )


def note_new_category(call: Call, memory: Memory) -> None:
    """Notes that a memory is the first of its category, if the user gave the category and it is not
    one of the usual ones."""
    from holdfast.edges.cli.command import nearest

    category = memory.category
    if category in CATEGORIES or call.out.json:
        return
    there = call.hub.statistics().by_category
    if there.get(category, 0) > 1:
        return
    near = nearest(category, [*(name for name in there if name != category), *CATEGORIES])
    if near:
        call.out.note(
            f"`{category}` is a new category. If you meant `{near}`:"
            f" `holdfast update {memory.number} --category {near}`."
        )
    else:
        call.out.note(
            f"`{category}` is a new category; the usual ones are {', '.join(CATEGORIES)}."
        )
