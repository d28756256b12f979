"""Finds and imports the conversations that agents have stored on this machine before hooks were set
up. A turn that was logged already is not imported again, so that an import can be interrupted and
restarted."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.api.project import hub_of_past
from holdfast.api.project_hub import ProjectHub
from holdfast.edges.hooks import transcripts
from holdfast.edges.hooks.respond import log_turn
from holdfast.engine.core import Scope
from holdfast.engine.jobs import JOURNAL
from holdfast.engine.log import import_run
from holdfast.engine.log.import_run import Run
from holdfast.passes.work import work_until_done

# The transcripts of each client, below the person's home.
_PATTERNS = {
    "claude-code": (".claude", "projects", "*", "*.jsonl"),
    "codex": (".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"),
    "gemini-cli": (".gemini", "tmp", "*", "chats", "session-*.jsonl"),
}
# The session's metadata is in the first lines.
_HEAD_LINES = 20
# Less than the queue of jobs may hold.
_BATCH = 50


class Conversation(NamedTuple):
    """A transcript of a past session: its client, its session, its folder, and its number of
    turns."""

    client: str
    path: str
    session: str
    folder: str
    turns: int


def transcript_files(client: str, person: str) -> list[str]:
    """The paths of a client's transcripts."""
    return glob.glob(os.path.join(glob.escape(person), *_PATTERNS[client]))


def conversations(client: str, person: str) -> Iterator[Conversation]:
    """The conversations of a client from before the hooks, oldest first."""
    for path in sorted(transcript_files(client, person), key=os.path.getmtime):
        with suppress(OSError):
            turns, _ = transcripts.read_turns(client, path)
            session, folder = _head(client, path)
            folder = folder or next((turn.folder for turn in turns if turn.folder), "")
            if turns and session:
                yield Conversation(client, path, session, folder, len(turns))


def _head(client: str, path: str) -> tuple[str, str]:
    """The session and the folder, from the file or its path."""
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
    """The hub of the repository in which a past session took place; the person's own hub if no
    repository is known."""
    return hub_of_past(memory, one.folder) or memory.hub()


class Import:
    """The import of a client's past sessions: everything that is made from them is one change set,
    with the same id in each hub."""

    def __init__(self, memory: Holdfast, client: str) -> None:
        self._memory, self._client = memory, client
        scopes = [memory.hub(hub.name).scope for hub in memory.hubs()]
        self.change = import_run.interrupted(scopes, client) or memory.core.ids.next("chg")
        self._runs: dict[str, tuple[Scope, Run]] = {}

    def import_session(self, one: Conversation) -> int:
        """Logs the turns that are new, each in the hub of the folder it was said in, and notes what
        they say; how many that were."""
        turns, _ = transcripts.read_turns(one.client, one.path)
        places = {one.folder, *(turn.folder for turn in turns if turn.folder)}
        hub = hub_for(self._memory, one)
        hubs = {place: hub_of_past(self._memory, place) or hub for place in places}
        scopes = {each.id: each.scope for hub in hubs.values() for each in _hubs_of(hub)}
        for hub_id, scope in scopes.items():
            _, run = self._runs.get(hub_id) or (
                scope,
                import_run.begin(scope, self._client, self.change),
            )
            run = import_run.begin_session(scope, run, one.session)
            self._runs[hub_id] = (scope, run)
        count = 0
        # A turn without a time was said before the transcript was last written.
        written = datetime.fromtimestamp(os.path.getmtime(one.path), UTC)
        for start in range(0, len(turns), _BATCH):
            for turn in turns[start : start + _BATCH]:
                at, place = turn.at or written, turn.folder or one.folder
                count += log_turn(
                    hubs[place],
                    one.client,
                    one.session,
                    turn._replace(at=at),
                    folder=one.folder,
                    run=self.change,
                )
            # The queue is limited, and drops its oldest jobs.
            work_until_done(self._memory.core, self._memory.home, works=(JOURNAL,))
        for hub_id, scope in scopes.items():
            run = import_run.end_session(scope, self._runs[hub_id][1], one.session)
            self._runs[hub_id] = (scope, run)
        return count

    def finish(self) -> None:
        """Ends the run: the next one makes another change set."""
        for scope, run in self._runs.values():
            import_run.finish(scope, run)


def take_back(memory: Holdfast, client: str, *, force: bool = False) -> dict[str, int]:
    """Undoes the last import of a client in every hub, and drops the turns that it logged; returns
    the number of memories by hub."""
    scopes = {hub.name: memory.hub(hub.name).scope for hub in memory.hubs()}
    taken: dict[str, int] = {}
    for name, run in import_run.last_runs(scopes, client).items():
        undone = import_run.undo(scopes[name], run, force=force)
        taken[name] = 0 if undone is None else len(undone.memories)
        memory.hub(name).list(limit=1)
    return taken


def _hubs_of(hub: HubMemory) -> list[HubMemory]:
    """A project's hub, and the person's own hub."""
    own = hub.own if isinstance(hub, ProjectHub) else None
    return [one for one in (hub, own) if one is not None]
