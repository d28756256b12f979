"""What is never logged: turns while the log is paused, of sessions and of folders that were set
aside. One record of the hub holds the rules, so that they hold for every process and machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.records import Record
from holdfast.domain.results import LogRules
from holdfast.engine.scope import Scope
from holdfast.engine.turns import clean_session
from holdfast.errors import InvalidInput
from holdfast.text import normalise

if TYPE_CHECKING:
    from holdfast.store.base import Reader

KIND, _ID = "log-rules", "rules"
# More rules than a person sets by hand would slow down every turn.
_RULES_MAX = 500
PAUSED = "the log is paused"
SESSION_ASIDE = "its session was set aside"
PROJECT_ASIDE = "its folder was set aside"
PRIVATE = "all of it is private"


def rules(scope: Scope) -> LogRules:
    """The rules of a hub."""
    with scope.read() as reader:
        scope.require_hub(reader)
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
    """Logs nothing from now on, or until a time."""
    moment = normalise.clean_time(until)
    if moment is not None and moment <= scope.now():
        raise InvalidInput("The pause would be over already.", hint="Give a time to come.")
    return _change(scope, lambda old: old._replace(paused=True, until=moment))


def resume(scope: Scope) -> LogRules:
    """Logs again."""
    return _change(scope, lambda old: old._replace(paused=False, until=None))


def set_aside(
    scope: Scope,
    *,
    sessions: Sequence[str] = (),
    folders: Sequence[str] = (),
    remove: bool = False,
) -> LogRules:
    """Sets sessions (by name, or a pattern with `*`) and folders aside, or takes that back."""
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
        scope.require_hub(writer)
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
    """Why a turn is not to be logged; empty where it is."""
    found = read_rules(reader, hub_id)
    if found.paused and (found.until is None or now < found.until):
        return PAUSED
    name = clean_session(session)
    if name is not None and any(fnmatchcase(name, one) for one in found.sessions):
        return SESSION_ASIDE
    if folder and any(_is_under(folder, one) for one in found.folders):
        return PROJECT_ASIDE
    return ""


def _is_under(folder: str, aside: str) -> bool:
    here = folder.rstrip("/") or "/"
    return here == aside or here.startswith(aside.rstrip("/") + "/")
