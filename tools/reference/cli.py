"""Generates docs/reference/cli.md from the definitions of the commands.

`python -m tools.reference.cli > docs/reference/cli.md` writes it; a test compares the two.
"""

from __future__ import annotations

import sys

from holdfast.edges.cli.command import Command, Option, Parser, add_globals, parser_of
from holdfast.edges.cli.table import GROUPS, SYNONYMS, commands_of

_OPENING = """\
# The command line

Type `holdfast`, a command and its options; `--help` after a command prints the same text.
Options and words may stand in any order; what follows `--` is never an option. REF names a memory:
its number (`12` or `#12`), its id (`mem_…`) or its key. WHEN is a date (`2026-05-27`), a time
(`2026-05-27T14:30`), a length of time for that long ago (`7d`, `12h`) or words such as `yesterday`,
`last Tuesday`, `in May 2024`, in your zone (the setting `time_zone`, else this machine's). A day
given to `--until` or `--as-of` counts to its end.

This page is made from the commands themselves:
`make reference`.

## What comes out

| where | what |
| --- | --- |
| on a terminal | sentences, tables and colours (`--no-color` or `NO_COLOR` turns colours off) |
| in a pipe | lines of fields between tabs, always the same; each command below names its fields |
| with `--json` | `{"data": …}`, as over REST; times in UTC; memories with all their fields |

In a line of a pipe, a tab is written `\\t`, a line end `\\n`, a backslash `\\\\`, and any other
control character like `\\x1b`; times are ISO 8601 in your zone. Only `holdfast get --content` and
`holdfast export` give text to the letter. On a terminal, whatever could steer it is made visible,
there too.

With `--json` every command answers in the shape that [REST](rest.md) has. `data` is the answer:
a list where there can be several (hits of `recall`, memories of `list`), else an object. Beside it
is what is said about the answer: `result` (what was done: `stored`, `forgotten`, `imported`),
`change`, `degraded`, `confidence`, `next_cursor`. A memory also has the name of its hub. Only
`tools --format` prints schemas as they are, for another program.

Notes (hints, a degraded answer, `Nothing found for “…”.`) and progress go to standard error, so a
pipe holds only the answer; `--quiet` leaves them out. An error is a sentence and what to do next
on standard error; with `--json` it is `{"error": {"code": …, "message": …, "hint": …}}`. With
`HOLDFAST_DEBUG=1` it is a traceback.

## Exit codes

| code | meaning |
| --- | --- |
| 0 | done; also a recall that found nothing |
| 1 | failed, or a question was answered with no |
| 2 | bad input: content, names, dates, options, settings |
| 3 | no such hub, memory, change set or file |
| 4 | exists already |
| 5 | conflict: the state has moved on |
| 6 | the store: damaged, busy, full, read-only, too new; also a doctor with a problem left |
| 7 | a read took longer than `recall.deadline_s` |
| 8 | the embedding model |
| 9 | the role or the key does not allow it |
| 10 | the language model is missing, does not answer, or its cap is reached |
| 130 | interrupted with Ctrl-C; nothing is left half done, or it is said how to go on |
| 141 | the reader of the pipe has seen enough |
"""


def page() -> str:
    """The whole page."""
    everywhere = Parser("holdfast")
    add_globals(everywhere)
    parts = [_OPENING, "## Everywhere\n", _table(list(everywhere.options.values()))]
    parts.append(_groups())
    for group in GROUPS:
        parts.append(f"## {group.name}: {group.title}\n")
        parts += [_section(command) for command in commands_of(group)]
    return "\n".join(parts)


def _groups() -> str:
    """The groups with their commands, and the synonyms."""
    rows = [
        f"| `{group.name}` | {group.title} | {', '.join(f'`{word}`' for word in group.words)} |"
        for group in GROUPS
    ]
    synonyms: dict[str, list[str]] = {}
    for word, command in SYNONYMS.items():
        synonyms.setdefault(command, []).append(f"`{word}`")
    meant = [f"| {', '.join(words)} | `{command}` |" for command, words in synonyms.items()]
    return "\n".join(
        [
            "## Groups and synonyms\n",
            "`holdfast` alone prints what one needs first, `holdfast help` every command,",
            "`holdfast help GROUP` those of a group. A command may have its group in front:",
            "`holdfast admin backup` is `holdfast backup`.\n",
            *("| group | for | commands |", "| --- | --- | --- |", *rows, ""),
            "What other programs call a command works too:\n",
            *("| you type | it is |", "| --- | --- |", *meant, ""),
        ]
    )


def _section(command: Command) -> str:
    parser = parser_of(command)
    options = [*parser.words, *parser.options.values()]
    own = [option for option in options if not option.everywhere]
    lines = [f"### holdfast {command.name}", "", command.help, ""]
    if command.more:
        lines += [command.more, ""]
    lines += ["```text", command.example, "```", ""]
    if own:
        lines.append(_table(own))
    return "\n".join(lines)


def _table(options: list[Option]) -> str:
    rows = [f"| {_named(option)} | {option.help} |" for option in dict.fromkeys(options)]
    return "\n".join(["| option | what it is |", "| --- | --- |", *rows, ""])


def _named(option: Option) -> str:
    if option.positional:
        more = {"*": " …", "+": " …", "?": "?"}.get(option.nargs or "", "")
        return f"`{option.shown}{more}`"
    value = f" {option.metavar}" if option.metavar else ""
    more = " …" if option.nargs == "+" else ""
    return ", ".join(f"`{name}{value}{more}`" for name in option.names)


if __name__ == "__main__":
    sys.stdout.write(page())
