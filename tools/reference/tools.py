"""Generates docs/reference/tools.md from the dialects' tables of tools.

`python -m tools.reference.tools > docs/reference/tools.md` writes it; a test compares the two.
"""

from __future__ import annotations

import sys

from holdfast.agents import Parameter, Tool
from holdfast.agents.dialects import NAMES, find_dialect

_OPENING = """# Tools and dialects

A dialect is a named set of tools with exact names, parameters and replies, so that an agent \
written for another system keeps working when Holdfast takes its place. All dialects see the same \
memories.

| dialect | |
| --- | --- |
"""
_MORE = """
`holdfast tools --dialect NAME --format mcp|openai|openai-responses|anthropic|json` prints the \
schemas, `holdfast call TOOL --dialect NAME --args JSON` runs one, \
[`holdfast.tools`](library.md#holdfasttools-the-tools-of-an-agent) does both in Python, and \
`holdfast mcp --dialect NAME` serves them.

Missing, unknown and wrongly typed arguments are answered with a sentence, and nothing is done. \
`null` means: left out.
"""


# What differs from the system of that name on purpose, in one line.
_SEEDS = {
    "max": "Differs on purpose: `auto` memories that age are archived instead of destroyed, long "
    "contents are cut, further lines are indented, and a fact that contradicts another says which "
    "number it replaces "
    "([line by line]({page})).",
    "maven": "Differs on purpose: a snippet is the entry that matches, a day is not told twice, "
    "without a model rules take notes and consolidate, and credentials are never written "
    "([line by line]({page})).",
    "memax": "Differs on purpose: uses and retrievals are counted apart, a link is fetched only "
    "where that is asked for, and boundaries are enforced on every read ([line by line]({page})).",
    "minion": "Differs on purpose: duplicates are not appended, a rewrite archives what it leaves "
    "out and can be undone, the file has a cap, and ids and dates are not in what is read "
    "([line by line]({page})).",
    "pynchy": "Differs on purpose: daily notes are archived by the schedule, a conversation is "
    "kept as a summary, and the block lists a group's files with their first lines only "
    "([line by line]({page})).",
}


def page() -> str:
    """The whole page."""
    out = [_OPENING]
    out += [f"| [`{name}`](#{name}) | {find_dialect(name).summary} |\n" for name in NAMES]
    out.append(_MORE)
    for name in NAMES:
        out.append(f"\n## {name}\n")
        if name in _SEEDS:
            out.append(f"\n{_SEEDS[name].format(page=f'seeds.md#{name}')}\n")
        out += [_tool(tool) for tool in find_dialect(name).tools]
    return "".join(out)


def _tool(tool: Tool) -> str:
    marks = [
        word
        for word, applies in (
            ("only with `--all-tools`", tool.extra),
            ("changes nothing", tool.reads),
            ("takes something away", tool.destroys),
        )
        if applies
    ]
    about = f" *({', '.join(marks)})*" if marks else ""
    lines = [f"\n### `{tool.name}`\n\n{tool.description}{about}\n"]
    if tool.parameters:
        lines.append("\n| parameter | | |\n| --- | --- | --- |\n")
        lines += [_parameter(parameter) for parameter in tool.parameters]
    return "".join(lines)


def _parameter(parameter: Parameter) -> str:
    kind = " or ".join(f"`{choice}`" for choice in parameter.choices) or parameter.kind
    if parameter.required:
        kind += ", required"
    elif parameter.default is not None:
        kind += f", `{_shown(parameter.default)}` by default"
    if bounds := _bounds(parameter):
        kind += f", {bounds}"
    return f"| `{parameter.name}` | {kind} | {parameter.help} |\n"


def _bounds(parameter: Parameter) -> str:
    low, high = parameter.least, parameter.most
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    if low is not None:
        return f"at least {low:,}"
    return "" if high is None else f"at most {high:,}"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    sys.stdout.write(page())
