"""A run of an importer of conversations: one change set for everything that is made from them in a
hub, so that one undo reverts it. An interrupted run is continued by the next one of the same
importer, in the same change set.

Turns of the conversation log are not part of change sets: the run records which it logged, and
undoing it drops them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.records import Record
from holdfast.engine.core import Scope
from holdfast.engine.log import turns
from holdfast.errors import InvalidInput
from holdfast.store.values import every_record

if TYPE_CHECKING:
    from holdfast.engine.history import Undone
    from holdfast.store.base import Reader, Writer

_KIND = "import-of-turns"
_BATCH = 500


class Span(NamedTuple):
    """The turns of a session that a run logged without interruption: those with ids between these
    two, said before it began. Others that have such ids were logged by somebody else meanwhile.
    `last` is empty until the session is logged completely."""

    first: str
    last: str
    began: str = ""


class Run(NamedTuple):
    """One run of an import in one hub, identified by the id of its change set."""

    change_id: str
    name: str
    # By session, the spans in which the run logged its turns.
    sessions: dict[str, list[Span]]
    done: bool = False
    # How many turns an undo has removed.
    dropped: int = 0


def begin(scope: Scope, name: str, change_id: str) -> Run:
    """The import run with this change set in a hub; a new one if none was begun."""
    with scope.write() as writer:
        record = writer.record(scope.hub_id, _KIND, change_id)
        if record is not None:
            return _run(record)
        run = Run(change_id, name, {})
        _put(scope, writer, run)
    return run


def require_open(reader: Reader, hub_id: str, change_id: str) -> None:
    """Raises InvalidInput if no import run with this change set is in progress in the hub."""
    record = reader.record(hub_id, _KIND, change_id) if isinstance(change_id, str) else None
    if record is None or _run(record).done:
        raise InvalidInput(
            f"No import with the change set {change_id!r} is under way.",
            hint="Leave import_run out: turns are logged without it.",
        )


def interrupted(scopes: Iterable[Scope], name: str) -> str | None:
    """The change set of an import run that was interrupted in one of these hubs."""
    runs = (_last_run(scope, name) for scope in scopes)
    return next((run.change_id for run in runs if run is not None and not run.done), None)


def begin_session(scope: Scope, run: Run, session: str) -> Run:
    """Records that an import run is about to log turns of a session."""
    marker = scope.core.ids.next("trn")
    before = _ended(run.sessions.get(session, []), marker)
    spans = [*before, Span(marker, "", to_text(scope.now()))]
    return _update(scope, run, sessions={**run.sessions, session: spans})


def end_session(scope: Scope, run: Run, session: str) -> Run:
    """Records that an import run has logged a session completely: turns that are added later do not
    belong to this run."""
    spans = _ended(run.sessions[session], scope.core.ids.next("trn"))
    return _update(scope, run, sessions={**run.sessions, session: spans})


def _ended(spans: list[Span], last: str) -> list[Span]:
    return [one if one.last else one._replace(last=last) for one in spans]


def finish(scope: Scope, run: Run) -> None:
    """Ends the run of an import. A run that imported nothing leaves no record."""
    with scope.write() as writer:
        kept = {
            session: spans
            for session, spans in run.sessions.items()
            if _turns_of(writer, scope.hub_id, session, spans)
        }
        if kept or writer.change(scope.hub_id, run.change_id) is not None:
            _put(scope, writer, run._replace(sessions=kept, done=True))
        else:
            writer.drop_record(scope.hub_id, _KIND, run.change_id)


def runs(reader: Reader, hub_id: str) -> Iterator[Run]:
    """The runs of all importers in a hub, oldest first."""
    return map(_run, every_record(reader, hub_id, _KIND))


def last_runs(scopes: Mapping[str, Scope], name: str) -> dict[str, Run]:
    """The newest run of an importer over these hubs, by hub; it has the same change set in each."""
    found = {hub: run for hub, scope in scopes.items() if (run := _last_run(scope, name))}
    newest = max((run.change_id for run in found.values()), default="")
    return {hub: run for hub, run in found.items() if run.change_id == newest}


def _last_run(scope: Scope, name: str) -> Run | None:
    """The newest run of an importer that was not undone."""
    with scope.read() as reader:
        found = [
            run
            for run in runs(reader, scope.hub_id)
            if run.name == name and not _is_undone(reader, scope.hub_id, run)
        ]
    return found[-1] if found else None


def undo(scope: Scope, run: Run, *, force: bool = False) -> Undone | None:
    """Undoes an import run: its memories with one undo, and its turns. Returns None if it wrote no
    memory."""
    from holdfast.engine import history

    with scope.read() as reader:
        wrote = reader.change(scope.hub_id, run.change_id) is not None
    if wrote:
        return history.undo(scope, run.change_id, force=force)
    with scope.write() as writer:
        drop_turns(scope, writer, run.change_id)
        writer.drop_record(scope.hub_id, _KIND, run.change_id)
    return None


def drop_turns(scope: Scope, writer: Writer, change_id: str) -> int:
    """Drops the turns that the import run with this change set logged, and their queued jobs;
    returns how many. Does nothing if the change set belongs to no run."""
    from holdfast.engine.log import forget_turns

    record = writer.record(scope.hub_id, _KIND, change_id)
    if record is None:
        return 0
    run = _run(record)
    ids = [
        turn_id
        for session, spans in run.sessions.items()
        for turn_id in _turns_of(writer, scope.hub_id, session, spans)
    ]
    for start in range(0, len(ids), _BATCH):
        forget_turns.drop(scope, writer, ids[start : start + _BATCH])
    for session in run.sessions:
        if not writer.turn_ids(scope.hub_id, session=session):
            # A later run may log them again.
            turns.forget_names(writer, scope.hub_id, session)
    _put(scope, writer, run._replace(sessions={}, done=True, dropped=run.dropped + len(ids)))
    return len(ids)


def dropped_by_undo(reader: Reader, hub_id: str, change_id: str) -> int:
    """The number of turns that undoing this change set removed; 0 if it is not an import."""
    record = reader.record(hub_id, _KIND, change_id)
    return 0 if record is None else _run(record).dropped


def _turns_of(reader: Reader, hub_id: str, session: str, spans: list[Span]) -> list[str]:
    ids: list[str] = []
    for first, last, began in spans:
        until = from_text(began) if began else None
        found = reader.turn_ids(hub_id, session=session, until=until)
        ids += [one for one in found if first < one and (not last or one < last)]
    return ids


def _is_undone(reader: Reader, hub_id: str, run: Run) -> bool:
    change = reader.change(hub_id, run.change_id)
    return change is not None and change.undone_by is not None


def _update(scope: Scope, run: Run, **new: Any) -> Run:
    run = run._replace(**new)
    with scope.write() as writer:
        _put(scope, writer, run)
    return run


def _put(scope: Scope, writer: Writer, run: Run) -> None:
    body = {"name": run.name, "sessions": run.sessions, "done": run.done, "dropped": run.dropped}
    writer.put_record(Record(scope.hub_id, _KIND, run.change_id, scope.now(), body))


def _run(record: Record) -> Run:
    body = record.body
    sessions = {
        # Earlier versions wrote one span, without the time.
        session: [Span(*one) for one in (spans if isinstance(spans[0], list) else [spans])]
        for session, spans in body["sessions"].items()
    }
    return Run(record.id, body["name"], sessions, body["done"], body.get("dropped", 0))
