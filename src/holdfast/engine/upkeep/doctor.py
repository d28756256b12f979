"""The doctor: finds damage in a store, and repairs it.

Derived state (passages, word index, substring index, vectors, membership) is rebuilt from canonical
state. Damaged canonical rows are repaired if the repair can be proven correct; the others are set
aside, with a copy of the damaged store. Intact rows are never touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.domain.query import EVERYTHING, Filter
from holdfast.engine.core import Core
from holdfast.engine.hubs import is_being_moved
from holdfast.engine.people import records
from holdfast.engine.transfer.copy import is_running
from holdfast.engine.transfer.export import seems_running
from holdfast.engine.writing.indexing import embed_missing, unembedded
from holdfast.engine.writing.recorder import reindex
from holdfast.errors import EmbedderError, StoreBusy, StoreDamaged, StoreError
from holdfast.store.values import Problem, Rescued, every_memory
from holdfast.text.clean import content_hash

_BATCH = 200
# A rebuild, and a rescue if that was not enough.
_ROUNDS_MAX = 3
# The most problems of a kind that are listed; the others are counted.
_LISTED_MAX = 20
_CHANGED_OUTSIDE = "was changed outside Holdfast or is damaged; restore a backup"
_VISIBLE_OR_HELD = Filter(states=(), forgotten=False, quarantined=None)


class Diagnosis(NamedTuple):
    """The problems of a store that the doctor found, repaired, and left."""

    found: list[Problem]
    mended: list[str]
    left: list[Problem]
    unembedded: int


def examine(core: Core) -> Diagnosis:
    """Finds problems of a store without changing anything."""
    found = _problems(core)
    # If derived tables are broken, what they count is unknown.
    broken = any(not _is_import(problem) for problem in found)
    return Diagnosis(found, [], found, 0 if broken else unembedded(core))


def mend(core: Core, progress: Callable[[int, int], None] | None = None) -> Diagnosis:
    """Repairs a store: its damaged rows, derived state and aborted imports; then checks it
    again."""
    found = left = _problems(core)
    mended: list[str] = []
    rescued = rebuilt = False
    for _ in range(_ROUNDS_MAX):
        damage = [problem for problem in left if not _is_import(problem)]
        if not damage:
            break
        derived = any(problem.derived for problem in damage)
        # A rebuild is enough if only derived state is damaged, unless a problem is left afterwards.
        if rebuilt or not all(problem.derived for problem in damage):
            if rescued:
                break
            rescued = True
            if not _rescue(core, mended) and not derived:
                break
        try:
            count = rebuild(core, progress)
        except StoreDamaged:
            if rescued or not _rescue(core, mended):
                break
            rescued = True
            count = rebuild(core, progress)
        rebuilt = True
        core.vectors.forget()
        mended.append(f"rebuilt the search index of {count} memories")
        left = _problems(core)
    if not any(not _is_import(problem) for problem in left):
        _finish(core, mended, progress)
        left = _problems(core)
        return Diagnosis(found, mended, left, unembedded(core))
    return Diagnosis(found, mended, left, 0)


def _rescue(core: Core, mended: list[str]) -> bool:
    """Rescues the store; returns whether that was possible. A store on a server may not support
    it."""
    try:
        done = core.store.rescue()
    except StoreBusy:
        raise
    except StoreError as error:
        mended.append(f"left damaged rows as they are: {error.message}")
        return False
    mended += rescued_in_words(done)
    return True


def rescued_in_words(done: Rescued) -> list[str]:
    """What the doctor's rescue did, one sentence each."""
    said = []
    if done.kept:
        said.append(f"moved what is canonical to a new file; the damaged one is {done.kept}")
    said += done.notes
    if done.aside:
        said.append(f"wrote the rows that were set aside to {done.aside}")
    return said


def _finish(
    core: Core, mended: list[str], progress: Callable[[int, int], None] | None = None
) -> None:
    """Repairs what can be repaired in an intact store."""
    mended += ["removed what a broken-off import had left"] * _drop_broken_imports(core)
    if entries := records.mend(core):
        mended.append(f"noted {entries} places and keys that people have")
    try:
        embedded = embed_missing(core, progress)
    except EmbedderError as error:
        mended.append(f"left the missing vectors for later: {error}")
    else:
        if embedded:
            mended.append(f"made {embedded} missing vectors")


def _problems(core: Core) -> list[Problem]:
    """All problems. A part that cannot be read is a problem, never an error."""
    found = core.store.check()
    for look in (changed_outside, _broken_imports):
        try:
            found = found + look(core)
        except StoreDamaged as error:
            if not found:
                found = [Problem(f"something cannot be read: {error.message}", False)]
    return found


def changed_outside(core: Core) -> list[Problem]:
    """Memories that were changed from outside: by an edit of the database file, or a
    failing disk."""
    out: list[Problem] = []
    more = 0
    try:
        with core.store.read() as reader:
            for hub in reader.hubs():
                for memory in every_memory(reader, hub.id, EVERYTHING):
                    if content_hash(memory.content) == memory.content_hash:
                        continue
                    if len(out) == _LISTED_MAX:
                        more += 1
                        continue
                    what = f"memory #{memory.number} of hub {hub.name} {_CHANGED_OUTSIDE}"
                    out.append(Problem(what, False, memory.id, hub.id))
    except StoreDamaged as error:
        return [*out, Problem(f"not every memory can be read: {error.message}", False)]
    if more:
        out.append(Problem(f"and {more} more of that kind", False))
    return out


_IMPORT = "an import into hub "
# The source is still complete, so the copy can be run again; the repair only frees space.
_MOVE = "a move or restore into hub "


def _is_import(problem: Problem) -> bool:
    return problem.what.startswith((_IMPORT, _MOVE))


def _broken_imports(core: Core) -> list[Problem]:
    with core.store.read() as reader:
        hubs = [hub for hub in reader.hubs() if hub.state == "importing"]
        moved = {hub.id for hub in hubs if is_being_moved(reader, hub)}
    return [
        Problem(
            f"{_MOVE}{hub.name} is still running, or was broken off; run it again"
            if hub.id in moved
            else f"{_IMPORT}{hub.name} is still running, or was broken off a few minutes ago"
            if seems_running(core, hub)
            else f"{_IMPORT}{hub.name} was broken off",
            True,
            "",
            hub.id,
        )
        for hub in hubs
    ]


def _drop_broken_imports(core: Core) -> int:
    """Removes imports that have not written anything for a while; one that may still be running is
    left alone. Checked inside the transaction, so that it cannot resume in between."""
    with core.store.write() as writer:
        gone = [
            hub
            for hub in writer.hubs()
            if hub.state == "importing"
            and not seems_running(core, hub)
            and not (is_being_moved(writer, hub) and is_running(writer, core.now()))
        ]
        for hub in gone:
            writer.drop_hub(hub.id)
    return len(gone)


def rebuild(core: Core, progress: Callable[[int, int], None] | None = None) -> int:
    """Rebuilds all derived state except the vectors, in one transaction, so that nobody searches
    half an index; returns the number of memories. `embed_missing` makes the vectors afterwards."""
    done = 0
    with core.store.write() as writer:
        writer.drop_derived()
        hubs = writer.hubs()
        total = sum(writer.statistics(hub.id).memories for hub in hubs)
        for hub in hubs:
            after = None
            while True:
                batch = writer.memories(
                    hub.id, _VISIBLE_OR_HELD, order="number", after=after, limit=_BATCH
                )
                reindex(writer, batch)
                done += len(batch)
                if progress is not None:
                    progress(done, total)
                if len(batch) < _BATCH:
                    break
                after = (batch[-1].number, batch[-1].number)
    return done
