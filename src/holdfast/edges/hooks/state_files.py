"""The files that hooks keep in the home: one small file for each session, with what it was given
and what was taken from it, for `holdfast session` and so that nothing is injected twice; and the
log of what went wrong, for `holdfast doctor`. A session's file names memories by id and holds
none of their words, so that nothing has to be purged from it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import from_text
from holdfast.edges.hooks.front import FOLDER
from holdfast.errors import HoldfastError
from holdfast.system.atomic_file import locked, make_folder, write_atomic

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.edges.hooks.inject import BlockLine

SESSIONS = "sessions"
# Some months of daily work; the oldest files go first.
_FILES_MAX = 1_000
# As many rows as `holdfast session` could show; what was injected is known beyond that.
_INJECTED_MAX = 5_000
_EVENTS_MAX = 400


class SessionState:
    """The file of one session, as a value that can be saved."""

    def __init__(self, path: str, body: dict[str, Any]) -> None:
        self.path = path
        self.body = body

    @property
    def injected(self) -> set[str]:
        """The memories, and the parts of long ones, that the conversation holds."""
        rows = self.body["injected"]
        return {row.get("part") or row["id"] for row in rows if not row.get("gone")}

    @property
    def is_new(self) -> bool:
        return not self.body["started_at"]

    def add_injected(self, line: BlockLine, event: str, at: str) -> None:
        row = {"hub": line.hub, "id": line.memory_id, "named": line.named, "event": event}
        row |= {"at": at, "why": line.why, **({"part": line.part} if line.part else {})}
        self.body["injected"] = [*self.body["injected"], row][-_INJECTED_MAX:]

    def add_event(self, kind: str, at: str, chars: int, note: str = "") -> None:
        row = {"event": kind, "at": at, "chars": chars, "note": note}
        self.body["events"] = [*self.body["events"], row][-_EVENTS_MAX:]
        self.body["chars"] += chars
        self.body["updated_at"] = at

    @property
    def compacted_at(self) -> datetime | None:
        """Since when the conversation holds what is said in it."""
        at = self.body.get("compacted_at")
        return from_text(at) if isinstance(at, str) else None

    def forget_injected(self, at: str) -> None:
        """After a compaction the conversation no longer holds what was injected. The rows stay, for
        people who look."""
        self.body["compacted_at"] = at
        self.body["injected"] = [{**row, "gone": True} for row in self.body["injected"]]

    def save(self) -> None:
        write_atomic(self.path, json.dumps(self.body, ensure_ascii=False) + "\n")


_EMPTY: dict[str, Any] = {
    "client": "",
    "session": "",
    "folder": "",
    "hub": "",
    "transcript": "",
    "offset": 0,
    "started_at": "",
    "updated_at": "",
    "ended_at": "",
    "turns": 0,
    "chars": 0,
    "injected": [],
    "events": [],
}


def path_of(home: str, client: str, session: str) -> str:
    name = sha256(f"{client}\0{session}".encode(errors="replace")).hexdigest()[:32]
    return os.path.join(home, FOLDER, SESSIONS, f"{name}.json")


@contextmanager
def opened(home: str, client: str, session: str) -> Iterator[SessionState]:
    """The state of a session, alone with it; it is saved when the block ends without an error."""
    path = path_of(home, client, session)
    # Two hooks of one session run at once where agents work side by side; neither takes long.
    with locked(path, wait_s=1.0):
        state = SessionState(path, _load(path) or {**_EMPTY, "client": client, "session": session})
        is_first = state.is_new
        yield state
        state.save()
    if is_first:
        _prune(os.path.dirname(path))


def _load(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:
            body = json.load(file)
    except (OSError, ValueError):
        return None
    if not isinstance(body, dict) or any(
        type(body.get(name)) is not type(value) for name, value in _EMPTY.items()
    ):
        return None
    return {**_EMPTY, **body}


def states_of(home: str, session: str, clients: Iterable[str]) -> list[SessionState]:
    """What is known of a session, by whichever of these clients has it."""
    paths = [path_of(home, client, session) for client in clients]
    return [SessionState(path, body) for path in paths if (body := _load(path))]


def all_states(home: str) -> list[SessionState]:
    """Every session that is known, the one that was used last first."""
    folder = os.path.join(home, FOLDER, SESSIONS)
    names: list[str] = []
    with suppress(OSError):
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    paths = [os.path.join(folder, name) for name in names]
    states = [SessionState(path, body) for path in paths if (body := _load(path))]
    return sorted(states, key=lambda state: state.body["updated_at"], reverse=True)


def _prune(folder: str) -> None:
    names = [name for name in os.listdir(folder) if name.endswith(".json")]
    if len(names) <= _FILES_MAX:
        return
    paths = sorted((os.path.join(folder, name) for name in names), key=os.path.getmtime)
    for path in paths[: len(paths) - _FILES_MAX]:
        with suppress(OSError):
            os.unlink(path)
            os.unlink(os.path.join(folder, f".{os.path.basename(path)}.lock"))


FILE_NAME = "faults.log"
# Some hundred lines; older ones have been seen, or never will be.
_LOG_BYTES_MAX = 64_000
_LINE_CHARS_MAX = 400
# What happened longer ago is history.
SHOWN_DAYS = 7


class Fault(NamedTuple):
    """When an event failed, which one, and why."""

    at: str
    event: str
    reason: str


def note_error(home: str, event: str, error: BaseException | str) -> None:
    """Adds a line; raises nothing."""
    text = str(error) or type(error).__name__
    if isinstance(error, BaseException) and not type(error).__module__.startswith("holdfast"):
        text = f"{type(error).__name__}: {text}"
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    reason = " ".join(text.split())[:_LINE_CHARS_MAX]
    line = f"{at}\t{' '.join(event.split())[:40] or 'hook'}\t{reason}\n".encode(errors="replace")
    for path in _paths(home):
        with suppress(OSError, HoldfastError):
            _append(path, line)
            return


def _append(path: str, line: bytes) -> None:
    make_folder(os.path.dirname(path))
    with suppress(FileNotFoundError):
        if os.stat(path).st_size > _LOG_BYTES_MAX:
            os.replace(path, f"{path}.1")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def recent_errors(home: str) -> list[Fault]:
    """What went wrong in the last days, oldest first."""
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - SHOWN_DAYS * 86_400))
    found = []
    for path in _paths(home):
        for file in (f"{path}.1", path):
            with suppress(OSError), open(file, encoding="utf-8", errors="replace") as opened:
                rows = [line.rstrip("\n").split("\t", 2) for line in opened]
                found += [Fault(*row) for row in rows if len(row) == 3 and row[0] >= since]
    return sorted(found)


def _paths(home: str) -> list[str]:
    from tempfile import gettempdir  # it takes 5 ms to load, which only a fault pays

    who = os.getuid() if hasattr(os, "getuid") else 0
    elsewhere = os.path.join(gettempdir(), f"holdfast-{who}")
    return [os.path.join(home, FOLDER, FILE_NAME), os.path.join(elsewhere, FILE_NAME)]
