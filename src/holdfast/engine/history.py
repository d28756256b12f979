"""History and undo: the history of a memory, diffs, reads as of a past time, undo."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Change, Entry, Revision, as_of, entries
from holdfast.domain.memory import REVISED, Memory
from holdfast.domain.query import check_count
from holdfast.domain.records import field_to_plain
from holdfast.engine.core import Core, Scope
from holdfast.engine.reading.lookup import Reference, find_memory
from holdfast.errors import Conflict, InvalidInput, NotFound
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from holdfast.engine.writing.recorder import Recorder
    from holdfast.store.base import Reader, Writer


class Undone(NamedTuple):
    """The result of an undo: its own change set, the one it reverted, the memories it touched, and
    how many turns of an import it removed from the log permanently. If it restores an import,
    `missing` is the number of turns that cannot be restored."""

    change: Change
    undone: Change
    memories: list[Memory]
    turns: int = 0
    missing: int = 0

    def __str__(self) -> str:
        said = f"Took back {self.undone.action} ({self.undone.id})"
        return "\n".join([said, *filter(None, [self.note]), *map(str, self.memories)])

    @property
    def note(self) -> str:
        """A sentence on the turns of an import; empty if it had none."""
        if not (count := self.turns or self.missing):
            return ""
        turns = "1 turn" if count == 1 else f"{count} turns"
        gone = "was removed" if count == 1 else "were removed"
        return (
            f"{turns} of the conversation log {gone} for good, because the log keeps no history; "
            "import again to log what was said."
        )


class FieldDiff(NamedTuple):
    """One field in the difference of two versions, before and after; for the content also a unified
    diff, by lines."""

    field: str
    old: Any
    new: Any
    lines: tuple[str, ...] = ()


def history(scope: Scope, reference: Reference) -> list[Entry]:
    """The history of a memory, oldest first. Forgotten memories have one too."""
    with scope.read() as reader:
        memory = find_memory(reader, scope, reference, forgotten=True)
        return entries_seen(scope.core, reader, memory)


def entries_seen(core: Core, reader: Reader, memory: Memory) -> list[Entry]:
    """The history of a memory, as the actor may see it. Versions from the time when it was private
    stay private after it is shared: for others, the history begins when it was shared."""
    return [
        entry
        if entry.before is None or core.sees(entry.before)
        else entry._replace(before=None, revision=entry.revision._replace(fields={}))
        for entry in _entries(reader, memory)
        if core.sees(entry.after)
    ]


def _entries(reader: Reader, memory: Memory) -> list[Entry]:
    revisions = reader.revisions(memory.hub_id, memory.id)
    wanted = dict.fromkeys(revision.change_id for revision in revisions)
    return entries(memory, revisions, reader.changes_by_id(memory.hub_id, list(wanted)))


def diff(
    scope: Scope, reference: Reference, *, old: int | None = None, new: int | None = None
) -> list[FieldDiff]:
    """The differences between two versions; by default between the newest and the one before it."""
    found = history(scope, reference)
    versions = {entry.after.version: entry.after for entry in found}
    newest = found[-1].after.version
    after = versions.get(newest if new is None else new)
    before = versions.get((after.version if after else newest) - 1 if old is None else old)
    for wanted, version in ((new, after), (old, before)):
        if wanted is not None and version is None:
            raise NotFound(
                f"Memory #{found[-1].after.number} has no version {wanted}; it has 1 to {newest}."
            )
    if after is None or before is None:
        return []
    return [
        FieldDiff(name, left, right, _lines(left, right) if name == "content" else ())
        for name in REVISED
        if (left := getattr(before, name)) != (right := getattr(after, name))
        and name != "content_hash"
    ]


def _lines(old: str, new: str) -> tuple[str, ...]:
    from difflib import unified_diff

    return tuple(unified_diff(old.splitlines(), new.splitlines(), "before", "after", lineterm=""))


def memory_as_of(scope: Scope, reference: Reference, at: datetime) -> Memory:
    """One memory as it was at a past time."""
    with scope.read() as reader:
        memory = find_memory(reader, scope, reference, forgotten=True)
        then = as_of(memory, reader.revisions(scope.hub_id, memory.id), at)
    if then is None or then.forgotten_at is not None or not scope.core.sees(then):
        raise NotFound(
            f"Memory #{memory.number} was not there at that time.",
            hint="Its history says when it was.",
            command=f"`holdfast history {memory.number}` shows when it was.",
        )
    return then


def states_as_of(scope: Scope, reader: Reader, at: datetime) -> dict[str, Memory | None]:
    """The memories that changed since `at`, as they were then; None for those that did not exist
    yet or were private then.

    A memory that is not in the result is the same today as it was then.
    """
    changed = reader.changed_after(scope.hub_id, at)
    heads = reader.memories_by_id(scope.hub_id, changed)
    revisions = reader.revisions_by_memory(scope.hub_id, list(heads))
    then = {
        memory_id: as_of(head, revisions.get(memory_id, ()), at)
        for memory_id, head in heads.items()
    }
    return {
        memory_id: None if memory is None or not scope.core.sees(memory) else memory
        for memory_id, memory in then.items()
    }


def undo(scope: Scope, change_id: str | None = None, *, force: bool = False) -> Undone:
    """Reverts a change set: the last one, or the one named.

    Undoing an undo reapplies the change. If a later change touched the same fields, the undo is
    refused, unless forced.
    """
    from holdfast.engine import late_words, traces
    from holdfast.engine.log import import_run
    from holdfast.engine.writing.recorder import Recorder

    late_words.index_late_turns(scope.core, scope.hub_id, wait=True)
    with scope.write() as writer:
        target = _target(scope, writer, change_id)
        recorder = Recorder(scope, writer, "undo", undoes=target.id)
        touched: dict[str, Memory] = {}
        dropped = missing = 0
        _refuse_private_of_others(scope.core, target)
        for revision in reversed(writer.revisions_of(scope.hub_id, target.id)):
            memory = writer.memory(scope.hub_id, revision.memory_id)
            if memory is None:
                continue  # It was purged, so there is nothing to revert.
            _refuse_private_past(scope.core, writer, memory, target)
            new = _restored_fields(writer, recorder, memory, revision, force=force)
            _refuse_taken_key(writer, memory, new)
            after = touched[memory.id] = recorder.revise(memory, **new)
            if memory.forgotten_at is not None and after.forgotten_at is None:
                traces.show_again(writer, after)
            elif after.forgotten_at != memory.forgotten_at and (
                # The memory is undone, but its turn was really said, so it stays in the log.
                memory.origin is not None or not revision.creates
            ):
                traces.withhold(scope, writer, after, recorder.change.at)
        if recorder.written:
            writer.mark_undone(scope.hub_id, target.id, recorder.change.id)
            _mark_undone_chain(writer, scope.hub_id, target)
            if target.action == "import":
                dropped = import_run.drop_turns(scope, writer, target.id)
            elif target.undoes is not None:
                missing = import_run.dropped_by_undo(writer, scope.hub_id, target.undoes)
        else:
            raise Conflict(f"There is nothing left to take back in {target.id}.")
    recorder.embed()
    return Undone(recorder.change, target, list(touched.values()), dropped, missing)


def _refuse_private_of_others(core: Core, target: Change) -> None:
    """Refuses to undo a change set that touched private memories of others: a change set is
    reverted as a whole, and only their owner may revert changes of those."""
    hub_id = target.hub_id
    with core.read() as mine, core.store.read() as everything:
        seen = len(mine.revisions_of(hub_id, target.id))
        if seen != len(everything.revisions_of(hub_id, target.id)):
            raise Conflict(
                f"{target.id} also changed what is private to others, and is taken back whole.",
                hint="Change back what is yours one by one.",
            )


def _refuse_private_past(core: Core, writer: Writer, memory: Memory, target: Change) -> None:
    """Refuses to restore the content that somebody else's memory had while it was private, or to
    make it private again."""
    if core.viewer is None or memory.owner == core.viewer.actor:
        return
    for entry in _entries(writer, memory):
        if entry.change.id == target.id and not all(
            core.sees(state) for state in (entry.before, entry.after) if state is not None
        ):
            raise Conflict(
                f"Memory #{memory.number} was private when {target.id} changed it.",
                hint=f"{memory.owner} can take it back.",
            )


def _mark_undone_chain(writer: Writer, hub_id: str, target: Change) -> None:
    """Updates which change sets count as undone. Undoing an undo reapplies what that one had
    reverted; if that was an undo itself, its target is reverted again, and so on down the chain."""
    in_force = False
    while target.undoes is not None:
        below = writer.change(hub_id, target.undoes)
        if below is None:
            return  # Everything that it changed was purged.
        in_force = not in_force
        writer.mark_undone(hub_id, below.id, None if in_force else target.id)
        target = below


def _target(scope: Scope, writer: Writer, change_id: str | None) -> Change:
    if change_id is None:
        last = _last_own(scope, writer)
        if last is None:
            theirs = writer.last_undoable(scope.hub_id)
            left = "to undo" if theirs is None else "of yours to undo"
            raise NotFound(
                f"There is nothing {left} in hub `{scope.hub}`.",
                hint="" if theirs is None else f"The last change is {theirs.actor}'s: {theirs.id}.",
            )
        if any(receipt.at > last.at for receipt in writer.receipts(scope.hub_id)):
            # A bare `undo` means the last action, not the one before it.
            raise Conflict(
                "The last thing done was a purge, which cannot be undone.",
                hint=f"To take back the change before it, undo {last.id}.",
                command=f"To take back the change before it: `holdfast undo {last.id}`",
            )
        return last
    if not isinstance(change_id, str):
        raise InvalidInput("Name a change set by its id, such as chg_….")
    change = _require_change(writer, scope, change_id)
    if change.undone_by is not None:
        raise Conflict(
            f"{change.id} has been undone already, by {change.undone_by}.",
            hint=f"Undoing {change.undone_by} brings it back.",
            command=f"`holdfast undo {change.undone_by}` brings it back.",
        )
    return change


def _require_change(reader: Reader, scope: Scope, change_id: str) -> Change:
    from holdfast.engine.writing.drafts import clean_label

    change_id = clean_label("change set", change_id)
    change = reader.change(scope.hub_id, change_id)
    if change is None:
        raise NotFound(
            f"There is no change set {change_id} in hub `{scope.hub}`.",
            hint="List the changes to see which there are.",
            command=f"`holdfast history {change_id}` lists those of memory {change_id}."
            if change_id.isdigit()
            else "`holdfast history` lists them.",
        )
    return change


def last_change(scope: Scope) -> Change | None:
    """The change set that `undo` without an id would revert."""
    with scope.read() as reader:
        return _last_own(scope, reader)


# How many change sets a bare `undo` searches for one of the caller's own; an older one must be
# named.
_OWN_SEARCHED_MAX = 1_000


def _last_own(scope: Scope, reader: Reader) -> Change | None:
    """The caller's newest change set that is not an undo and has not been undone: `undo` without an
    id means the caller's own last change, not what somebody else did meanwhile."""
    last = reader.last_undoable(scope.hub_id)
    if last is None or last.actor == scope.actor:
        return last
    for change in reader.changes(scope.hub_id, limit=_OWN_SEARCHED_MAX):
        own = change.actor == scope.actor and change.undoes is None and change.undone_by is None
        if own:
            return change
    return None


def _restored_fields(
    writer: Writer, recorder: Recorder, memory: Memory, revision: Revision, *, force: bool
) -> dict[str, Any]:
    if revision.creates:
        # Forgetting counts as a change: undoing the forgetting later would otherwise restore a
        # memory if its creation was undone.
        if not force:
            _refuse_changed_since(writer, memory, revision)
        return {"forgotten_at": memory.forgotten_at or recorder.change.at}
    new = {}
    for name, (old, set_to) in revision.fields.items():
        if getattr(memory, name) != set_to and not force:
            raise Conflict(
                f"The {name} of memory #{memory.number} was changed again after"
                f" {revision.change_id}.",
                hint="Undo the later change first, or undo this one with force.",
                command="Undo the later change first, or force it:"
                f" `holdfast undo {revision.change_id} --force`.",
            )
        new[name] = old
    return new


def _refuse_changed_since(writer: Writer, memory: Memory, first: Revision) -> None:
    found = _entries(writer, memory)
    at_first = found[0].after
    differing = [name for name in REVISED if getattr(at_first, name) != getattr(memory, name)]
    if differing:
        raise Conflict(
            f"Memory #{memory.number} was changed ({', '.join(differing)}) after it was made by"
            f" {first.change_id}.",
            hint="Undo the later change first, or undo this one with force.",
            command="Undo the later change first, or force it:"
            f" `holdfast undo {first.change_id} --force`.",
        )


def _refuse_taken_key(writer: Writer, memory: Memory, new: dict[str, Any]) -> None:
    after = memory._replace(**new)
    if after.forgotten_at is None and (
        memory.forgotten_at is not None
        or (after.key, after.source_path, after.audience)
        != (memory.key, memory.source_path, memory.audience)
    ):
        from holdfast.engine.writing.edit import refuse_taken

        refuse_taken(writer, after)


def changes(scope: Scope, *, limit: int = 50, before: str | None = None) -> list[Change]:
    """Change sets, newest first; `before` is the id of the last one seen."""
    check_count(limit)
    with scope.read() as reader:
        if before is not None:
            # An empty list would say that there is nothing older.
            _require_change(reader, scope, before)
        found = reader.changes(scope.hub_id, limit=limit, before=before)
        reasons = Reasons(scope.core, reader)
        return [reasons.seen(change) for change in found]


def changes_before(scope: Scope, other: str, *, limit: int) -> list[Change]:
    """Change sets that were made before a given one of another hub, newest first. Ids are in
    chronological order."""
    found = changes(scope, limit=_PAGE)
    while found and found[-1].id > other:
        found = changes(scope, limit=_PAGE, before=found[-1].id)
    older = [change for change in found if change.id < other]
    if found and len(older) < limit:
        older += changes(scope, limit=limit, before=found[-1].id)
    return older[:limit]


_PAGE = 200


class Reasons:
    """The reasons of changes, as far as the caller may see them. The history of each memory is read
    once, even if many change sets touched it."""

    def __init__(self, core: Core, reader: Reader) -> None:
        self._core, self._reader = core, reader
        self._seen: dict[str, frozenset[str]] = {}

    def seen(self, change: Change) -> Change:
        """The change set, without its reason if the caller could see nothing of what it changed at
        the time: a reason may quote private content."""
        viewer = self._core.viewer
        if not change.reason or viewer is None or change.actor == viewer.actor:
            return change
        for revision in self._reader.revisions_of(change.hub_id, change.id):
            if change.id in self._changes_seen(change.hub_id, revision.memory_id):
                return change
        return change._replace(reason="")

    def _changes_seen(self, hub_id: str, memory_id: str) -> frozenset[str]:
        found = self._seen.get(memory_id)
        if found is None:
            memory = self._reader.memory(hub_id, memory_id)
            history = () if memory is None else entries_seen(self._core, self._reader, memory)
            found = frozenset(entry.change.id for entry in history)
            self._seen[memory_id] = found
        return found


def plain_diff(differences: list[FieldDiff]) -> list[dict[str, Any]]:
    """A diff as plain values for JSON."""
    return [
        {
            "field": part.field,
            "old": field_to_plain(part.field, part.old),
            "new": field_to_plain(part.field, part.new),
        }
        for part in differences
    ]
