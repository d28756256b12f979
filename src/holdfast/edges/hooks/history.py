"""The conversations that agents have kept on this machine, before hooks were there: which there
are, and how they are taken in. A turn that is known already is not taken in again, so that an
import can be broken off and begun anew."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.api.project_hub import ProjectHub
from holdfast.edges.hooks import transcripts
from holdfast.edges.hooks.respond import catch_up
from holdfast.edges.project import hub_here, project_of
from holdfast.engine.jobs.queue import JOURNAL
from holdfast.passes.work import work_until_done

# Where each client keeps its transcripts, below the person's home.
_PATTERNS = {
    "claude-code": (".claude", "projects", "*", "*.jsonl"),
    "codex": (".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"),
    "gemini-cli": (".gemini", "tmp", "*", "chats", "session-*.jsonl"),
}
# The head of a session is in its first lines.
_HEAD_LINES = 20


class Conversation(NamedTuple):
    """A transcript: whose it is, which session, where it took place, and how many turns it has."""

    client: str
    path: str
    session: str
    folder: str
    turns: int


def conversations(client: str, person: str) -> Iterator[Conversation]:
    """What a client has kept, oldest first."""
    pattern = os.path.join(glob.escape(person), *_PATTERNS[client])
    for path in sorted(glob.glob(pattern), key=os.path.getmtime):
        with suppress(OSError):
            turns, _ = transcripts.read_turns(client, path)
            session, folder = _head(client, path)
            folder = folder or next((turn.folder for turn in turns if turn.folder), "")
            if turns and session:
                yield Conversation(client, path, session, folder, len(turns))


def _head(client: str, path: str) -> tuple[str, str]:
    """The session and the folder, as the file or its place says."""
    if client == "claude-code":
        return os.path.splitext(os.path.basename(path))[0], ""
    session = folder = ""
    with open(path, encoding="utf-8", errors="replace") as file:
        for _, line in zip(range(_HEAD_LINES), file, strict=False):
            with suppress(ValueError):
                row: Any = json.loads(line)
                given = row.get("payload", row) if isinstance(row, dict) else {}
                if isinstance(given, dict):
                    named = given.get("session_id") or given.get("id") or given.get("sessionId")
                    session = session or (str(named) if "$set" not in row and named else "")
                    folder = folder or str(given.get("cwd") or "")
    if client == "gemini-cli":
        with (
            suppress(OSError),
            open(
                os.path.join(os.path.dirname(os.path.dirname(path)), ".project_root"),
                encoding="utf-8",
            ) as file,
        ):
            folder = file.read().strip()
    return session, folder


def hub_for(memory: Holdfast, one: Conversation) -> HubMemory:
    """The hub of the repository where it took place; the person's own where that is gone."""
    is_there = os.path.isdir(one.folder) and project_of(one.folder) is not None
    return hub_here(memory, folder=one.folder)[0] if is_there else memory.hub()


def take_in(memory: Holdfast, one: Conversation) -> int:
    """Logs the turns that are new and notes what they say; how many that were."""
    hub = hub_for(memory, one)
    count = 0
    while True:
        new = catch_up(memory, hub, one.client, one.session, one.path, whole=True)
        count += new
        # The queue is short, and drops its oldest.
        work_until_done(memory.core, memory.home, works=(JOURNAL,))
        if not new:
            return count


def take_back(memory: Holdfast, found: list[Conversation]) -> dict[str, int]:
    """Forgets what was noted from conversations, in one change of each hub, and drops their turns
    from the log; how many memories that were."""
    gone: dict[str, list[str]] = {}
    hubs: dict[str, HubMemory] = {}
    logs: list[tuple[HubMemory, str]] = []
    for one in found:
        hub = hub_for(memory, one)
        own = hub.own if isinstance(hub, ProjectHub) else None
        for each in filter(None, (hub, own)):
            plain = HubMemory(each.core, each.info, each.home)
            hubs[plain.name] = plain
            ids = [memory.id for memory in plain.list(session=one.session)]
            gone.setdefault(plain.name, []).extend(ids)
            logs.append((plain, one.session))
    for name, ids in gone.items():
        if ids:
            hubs[name].forget_many(list(dict.fromkeys(ids)), reason="an import was taken back")
    for plain, session in logs:
        plain.forget_turns(session=session)
    return {name: len(ids) for name, ids in gone.items() if ids}
