"""What `holdfast` prints in a new home: what was found on this machine, and what to do next.

Nothing is written, and no transcript is opened: files are only counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.edges.cli.imports import NAMES
from holdfast.edges.clients.clients import CLIENTS
from holdfast.edges.clients.program import Place
from holdfast.edges.hooks.past_sessions import transcript_files

# Files of instructions that agents read, in the person's home and in a project.
_OF_A_PERSON = (
    (".claude", "CLAUDE.md"),
    (".codex", "AGENTS.md"),
    (".gemini", "GEMINI.md"),
    (".config", "opencode", "AGENTS.md"),
)
_OF_A_PROJECT = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md")
_COLUMNS = 80
_LABEL = 17


class Found(NamedTuple):
    """What is on this machine: titles of agents, transcripts by client, files of instructions."""

    agents: tuple[str, ...]
    conversations: dict[str, int]
    notes: tuple[str, ...]


def look_around(place: Place) -> Found:
    """What a new memory could begin with."""
    agents = tuple(client.title for client in CLIENTS if client.installed(place))
    counts = {client: len(transcript_files(client, place.home)) for client in NAMES}
    files = [place.at_home(*parts) for parts in _OF_A_PERSON]
    files += [os.path.join(place.project, name) for name in _OF_A_PROJECT]
    notes = (_shown(path, place) for path in dict.fromkeys(files) if os.path.isfile(path))
    return Found(agents, {name: count for name, count in counts.items() if count}, tuple(notes))


def is_new(home: str, environ: os._Environ[str] | dict[str, str]) -> bool:
    """Whether nothing was ever stored there, and the environment names no other place."""
    if environ.get("HOLDFAST_STORE_URL") or environ.get("HOLDFAST_SERVER"):
        return False
    return not any(os.path.exists(os.path.join(home, name)) for name in _KEPT)


_KEPT = ("memory.db", "holdfast.toml")


def welcome(found: Found, home: str, place: Place) -> str:
    """The greeting: at most 24 lines of 80 columns."""
    lines = ["Welcome to Holdfast: long-term memory for your agents. Nothing is stored yet.", ""]
    lines.append("On this machine:")
    lines += _row("agents", found.agents or ("none that we know; any MCP client works",))
    if found.conversations:
        titles = {client.name: client.title for client in CLIENTS}
        counts = tuple(
            f"{count:,} of {titles[NAMES[one]]}" for one, count in found.conversations.items()
        )
        lines += _row("conversations", counts)
    if found.notes:
        lines += _row("instructions", found.notes)
    lines += ["", "Next:"]
    lines += [f"  {name:<{_STEP}}{said}" for name, said in _steps(found)]
    lines += [
        "",
        f"Everything stays on this machine, in {_short(_shown(home, place))}.",
        "No key, no account, nothing is sent anywhere. `holdfast undo` takes back a",
        "change, `holdfast teardown` takes Holdfast out of your agents again.",
        "`holdfast help` lists all commands.",
    ]
    return "\n".join(lines)


_STEP = 30


def _steps(found: Found) -> list[tuple[str, str]]:
    steps = []
    if found.agents:
        steps.append(("holdfast setup", "put memory into your agents; it asks first"))
    if found.conversations:
        first = next(iter(found.conversations))
        said = "take in what was said so far (or --dry-run)"
        steps.append((f"holdfast import {NAMES[first]}", said))
    if found.notes:
        steps.append(("holdfast import claude-md", "take in the instructions that are in files"))
    steps.append(("holdfast demo", "a tour of a minute that leaves nothing behind"))
    steps.append(('holdfast remember "…"', "keep something; `recall` finds it again"))
    return steps


def _row(label: str, items: Sequence[str]) -> list[str]:
    """A label and what belongs to it, on at most two lines; what does not fit is counted."""
    lines = [""]
    for place, item in enumerate(items):
        left = len(items) - place
        text = f"{item}, " if left > 1 else item
        if len(lines[-1]) + len(text) > _COLUMNS - _LABEL:
            if len(lines) == 2:
                lines[-1] += f"… ({left} more)"
                break
            lines.append("")
        room = _COLUMNS - _LABEL - (len("… (99 more)") if len(lines) == 2 else 0)
        if len(lines[-1]) + len(text) > room:
            lines[-1] += f"… ({left} more)"
            break
        lines[-1] += text
    heads = (f"  {label}", "")
    return [f"{heads[at]:<{_LABEL}}{line.rstrip()}" for at, line in enumerate(lines)]


def _short(path: str) -> str:
    """A path that fits on the line: the end of a long one."""
    return path if len(path) <= _PATH_MAX else f"…{path[1 - _PATH_MAX :]}"


_PATH_MAX = 40


def _shown(path: str, place: Place) -> str:
    """A path as a person writes it: from the project or from ~."""
    for folder, short in ((place.project, ""), (place.home, f"~{os.sep}")):
        if path.startswith(folder + os.sep) and (short or folder != place.home):
            return short + path[len(folder) + 1 :]
    return path
