"""Rules of the log: what is not logged (while the log is paused; excluded sessions and folders),
and the limits that a person may set: turns, days, megabytes of text. Without limits, everything
stays. One record of the hub stores the rules, so that they apply to every process and machine. Also
the size of the log, and a forecast for a year."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.records import Record
from holdfast.domain.results import LogRules, LogSize
from holdfast.engine.core import Scope
from holdfast.engine.log.turns import clean_session
from holdfast.errors import InvalidInput
from holdfast.text import clean

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer


KIND, _ID = "log-rules", "rules"
# A limit on the number of rules: very many would slow down every turn.
_RULES_MAX = 500
PAUSED = "the log is paused"
SESSION_ASIDE = "its session was set aside"
PROJECT_ASIDE = "its folder was set aside"
PRIVATE = "all of it is private"


def rules(scope: Scope) -> LogRules:
    """The rules for what is logged of a hub."""
    with scope.read() as reader:
        return read_rules(reader, scope.hub_id)


def read_rules(reader: Reader, hub_id: str) -> LogRules:
    record = reader.record(hub_id, KIND, _ID)
    if record is None:
        return LogRules()
    body = record.body
    until = body.get("until")
    return LogRules(
        bool(body.get("paused")),
        None if until is None else from_text(until),
        tuple(body.get("sessions", ())),
        tuple(body.get("folders", ())),
    )


def pause(scope: Scope, until: datetime | str | None = None) -> LogRules:
    """Pauses logging, until a time if one is given."""
    moment = clean.clean_time(until)
    if moment is not None and moment <= scope.now():
        raise InvalidInput("The pause would be over already.", hint="Give a time to come.")
    return _change(scope, lambda old: old._replace(paused=True, until=moment))


def resume(scope: Scope) -> LogRules:
    """Resumes logging of turns."""
    return _change(scope, lambda old: old._replace(paused=False, until=None))


def set_aside(
    scope: Scope,
    *,
    sessions: Sequence[str] = (),
    folders: Sequence[str] = (),
    remove: bool = False,
) -> LogRules:
    """Excludes sessions (by name, or a pattern with `*`) and folders from the log, or ends their
    exclusion."""
    hidden = scope.core.redactor.text
    named = tuple(hidden(one) for one in map(clean_session, sessions) if one)
    placed = tuple(hidden(_folder(one)) for one in folders)
    if not named and not placed:
        raise InvalidInput("Name a session or a folder that is not to be logged.")

    def change(old: LogRules) -> LogRules:
        return old._replace(
            sessions=_changed(old.sessions, named, remove),
            folders=_changed(old.folders, placed, remove),
        )

    return _change(scope, change)


def _changed(old: Sequence[str], named: Sequence[str], remove: bool) -> tuple[str, ...]:
    if remove:
        return tuple(one for one in old if one not in named)
    return tuple(dict.fromkeys((*old, *named)))


def _folder(folder: str) -> str:
    if not isinstance(folder, str) or not folder.strip() or "\0" in folder:
        raise InvalidInput("A folder is named by its path.")
    return folder.strip().rstrip("/") or "/"


def _change(scope: Scope, change: Callable[[LogRules], LogRules]) -> LogRules:
    scope.require("write")
    with scope.write() as writer:
        new = change(read_rules(writer, scope.hub_id))
        if len(new.sessions) + len(new.folders) > _RULES_MAX:
            raise InvalidInput(
                f"More than {_RULES_MAX} sessions and folders would be set aside.",
                hint="Use a pattern for sessions (`work-*`), or a folder above the others.",
            )
        body = {
            "paused": new.paused,
            "until": None if new.until is None else to_text(new.until),
            "sessions": list(new.sessions),
            "folders": list(new.folders),
        }
        writer.put_record(Record(scope.hub_id, KIND, _ID, scope.now(), body))
    return new


def why_not(
    reader: Reader, hub_id: str, *, session: str | None, folder: str | None, now: datetime
) -> str:
    """The rule by which a turn is not logged, as a reason; empty if it is logged."""
    found = read_rules(reader, hub_id)
    if found.paused and (found.until is None or now < found.until):
        return PAUSED
    name = clean_session(session)
    if name is not None and any(_is_named(name, one) for one in found.sessions):
        return SESSION_ASIDE
    if folder and found.folders:
        here = _places(folder)
        if any(_is_under(place, one) for place in here for one in found.folders):
            return PROJECT_ASIDE
    return ""


def _is_named(session: str, aside: str) -> bool:
    """Matches by name or pattern, ignoring case. A name may have brackets, which are special in a
    pattern."""
    name, wanted = session.casefold(), aside.casefold()
    return name == wanted or fnmatchcase(name, wanted)


def _is_under(place: str, aside: str) -> bool:
    return any(
        place == above or place.startswith(above.rstrip("/") + "/") for above in _places(aside)
    )


def _places(folder: str) -> set[str]:
    """The forms of a path that are compared: as written, and with links resolved if they are on
    this machine. Case is ignored, as many file systems do: it is better to exclude too much. A path
    of Windows may come from another machine."""
    plain = os.path.expanduser(folder.strip())
    if _WINDOWS.match(plain):
        plain = plain.replace("\\", "/")
    plain = os.path.normpath(plain)
    both = {plain, os.path.realpath(plain)} if os.path.isabs(plain) else {plain}
    return {unicodedata.normalize("NFC", one).casefold() for one in both}


# A path with a drive letter, or on a server.
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


# The size of a turn in a SQLite store with its index and vectors: this much for itself, and this
# much for each byte of its text. Measured on short chat (128 bytes a turn: 1,719) and on long
# answers (1,209: 7,228).
_BYTES_PER_TURN = 1_000
_BYTES_PER_BYTE = 5
_YEAR = timedelta(days=365)
# No forecast from less than this: it would be chance.
_DAYS_LEAST = timedelta(days=1)
# The most turns removed in one transaction; the rest is removed with the next turns.
_DROPPED_MAX = 1_000


def log_size(scope: Scope) -> LogSize:
    """The size of the log, and the forecast."""
    with scope.read() as reader:
        turns, text, oldest, newest = reader.log_size(scope.hub_id)
    if oldest is None or newest is None:
        return LogSize()
    store = _in_store(turns, text)
    span = max(newest - oldest, _DAYS_LEAST)
    return LogSize(turns, text, store, oldest, newest, int(store * (_YEAR / span)))


def _in_store(turns: int, text_bytes: int) -> int:
    return turns * _BYTES_PER_TURN + text_bytes * _BYTES_PER_BYTE


def prune(scope: Scope, writer: Writer) -> None:
    """Removes the turns of the log beyond its limits, oldest first."""
    settings = scope.settings
    if keep := _kept(scope):
        writer.prune_turns(scope.hub_id, keep=keep)
    if days := settings["log.days"]:
        old = writer.turn_ids(
            scope.hub_id, until=scope.now() - timedelta(days=days), limit=_DROPPED_MAX
        )
        writer.drop_turns(scope.hub_id, old)
    if megabytes := settings["log.megabytes"]:
        turns, text, _, _ = writer.log_size(scope.hub_id)
        over = text - megabytes * 1_000_000
        if over > 0:
            # As many of the oldest turns as would free enough if all had the same length.
            count = min(_DROPPED_MAX, -(-over * turns // text))
            writer.drop_turns(scope.hub_id, writer.turn_ids(scope.hub_id, limit=count))


def is_bounded(scope: Scope) -> bool:
    """Whether the conversation log of a hub has any limit."""
    settings = scope.settings
    return bool(_kept(scope) or settings["log.days"] or settings["log.megabytes"])


def _kept(scope: Scope) -> int:
    """The most turns that stay, 0 for all: as set for the hub, else as the dialect of this process
    sets it."""
    keep: int = scope.settings["log.keep"]
    if scope.settings.origin("log.keep") != "default":
        return keep
    return scope.core.log_limits.get(scope.hub_id, keep)
