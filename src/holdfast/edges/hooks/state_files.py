"""The files that hooks write to the home: one small file for each session, with what was injected
and captured, for `holdfast session` and so that nothing is injected twice; and the log of errors,
for `holdfast doctor`. A session's file names memories by id and contains none of their text, so
that nothing needs to be purged from it."""

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

    from holdfast.api.prompt_blocks import BlockLine

SESSIONS = "sessions"
# Some months of daily work; the oldest files are deleted.
_FILES_MAX = 1_000
# As many rows as `holdfast session` can show; what was injected is recorded beyond that.
_INJECTED_MAX = 5_000
_EVENTS_MAX = 400


class SessionState:
    """What hooks recorded of one agent session, as a value that can be saved."""

    def __init__(self, path: str, body: dict[str, Any]) -> None:
        self.path = path
        self.body = body

    @property
    def injected(self) -> set[str]:
        """The memories, and parts of long ones, that are in the conversation."""
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
        """The time of the last compaction: the conversation contains what was said since."""
        at = self.body.get("compacted_at")
        return from_text(at) if isinstance(at, str) else None

    def forget_injected(self, at: str) -> None:
        """After a compaction, the injected text is no longer in the conversation. The rows stay,
        for people to read."""
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


def is_known(home: str, client: str, session: str) -> bool:
    return os.path.exists(path_of(home, client, session))


@contextmanager
def opened(home: str, client: str, session: str) -> Iterator[SessionState]:
    """The state of a session, locked; it is saved if the block ends without an error."""
    path = path_of(home, client, session)
    # Two hooks of one session may run at once if agents work in parallel; neither takes long.
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
    """The states of a session, for any of these clients."""
    paths = [path_of(home, client, session) for client in clients]
    return [SessionState(path, body) for path in paths if (body := _load(path))]


def all_states(home: str) -> list[SessionState]:
    """Every agent session that hooks recorded, the most recently used first."""
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
# Some hundred lines; older ones are dropped.
_LOG_BYTES_MAX = 64_000
_LINE_CHARS_MAX = 400
# Older errors are not shown.
SHOWN_DAYS = 7


class Fault(NamedTuple):
    """An error of a hook's event: the time, the event, and the reason."""

    at: str
    event: str
    reason: str


def note_error(home: str, event: str, error: BaseException | str) -> None:
    """Adds a line to the file of hooks' errors; raises nothing."""
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
    """The hooks' errors of the last days, oldest first."""
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
    # The folder is for all homes of a person, the file for one.
    mark = sha256(os.fsencode(os.path.abspath(home))).hexdigest()[:8]
    name = f"{mark}-{FILE_NAME}"
    return [os.path.join(home, FOLDER, FILE_NAME), os.path.join(elsewhere, name)]
