"""What is new in a hub since somebody last looked: changes, texts that were read from files, and
purges, for a stream of events. The store is the one place that all processes write to, so it is
asked again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from holdfast.engine.writing import extraction
from holdfast.engine.writing.edit import PURGES

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Receipt
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Scope
    from holdfast.store.base import Reader

# What was read is looked for this far back: a text that is written takes a moment to be there.
_LATE = timedelta(seconds=10)
# A listener who was away for longer than this many changes has to look for themselves.
_MISSED_MAX = 200


class Purges(NamedTuple):
    """How far a listener knows of purges: by which mark, and how many receipts there were."""

    mark: str = ""
    receipts: int = 0


class Touched(NamedTuple):
    """A change, and the memories that it touched, each with its version."""

    change: Change
    memories: Sequence[tuple[str, int]]


class News(NamedTuple):
    """What is new, up to which change and which purge; `missed`: more than is listed."""

    last: str | None
    purges: Purges
    changes: Sequence[Touched] = ()
    missed: bool = False
    read: Sequence[Memory] = ()
    purged: Sequence[Receipt] = ()


# The newest changes of the hub, as many as are asked for, as the caller sees them.
Newest = Callable[[int], Sequence["Change"]]


def newest(changes: Newest) -> str | None:
    """The id of the newest change."""
    found = changes(1)
    return found[0].id if found else None


def purges_before(scope: Scope, last: str | None) -> Purges:
    """What a listener knows of: all purges up to now, or up to the last change they saw. One that
    is sent twice does no harm."""
    with scope.core.read() as reader:
        change = reader.change(scope.hub_id, last) if last else None
        if change is None:
            return Purges(_mark(reader, scope.hub_id), len(reader.receipts(scope.hub_id)))
        return Purges("", sum(one.at < change.at for one in reader.receipts(scope.hub_id)))


def news_since(
    scope: Scope,
    changes: Newest,
    last: str | None,
    purges: Purges,
    *,
    begun: datetime,
    is_member: Callable[[], bool],
) -> News:
    """What is new since the last change that a listener has seen, who listens since `begun`.
    Receipts of purges are for members."""
    # Before the purges: one that comes between the two must not be sent after what is missed by it.
    found = changes_since(scope, changes, last, purges)
    purged: Sequence[Receipt] = ()
    with scope.core.read() as reader:
        since = max(begun, scope.core.now() - _LATE)
        read = extraction.just_read(reader, scope.hub_id, since)
        mark = _mark(reader, scope.hub_id)
        if mark != purges.mark and is_member():
            receipts = scope.core.receipts(reader, scope.hub_id)
            purged = receipts[purges.receipts :]
            purges = Purges(mark, len(receipts))
    return found._replace(purges=purges, read=read, purged=purged)


def changes_since(scope: Scope, changes: Newest, last: str | None, purges: Purges) -> News:
    """The changes after the last one that was seen, oldest first."""
    # Nearly always nothing is new: that costs one row.
    latest = newest(changes)
    if latest == last:
        return News(last, purges)
    new = []
    for change in changes(_MISSED_MAX):
        if change.id == last:
            break
        new.append(change)
    else:
        if last is not None:
            # It is too long ago, was purged, or was never here.
            return News(latest, purges, missed=True)
    with scope.core.read() as reader:
        out = [
            Touched(
                change,
                [
                    (one.memory_id, one.version)
                    for one in reader.revisions_of(scope.hub_id, change.id)
                ],
            )
            for change in reversed(new)
        ]
    return News(new[0].id if new else last, purges, out)


def _mark(reader: Reader, hub_id: str) -> str:
    record = reader.record(hub_id, PURGES, PURGES)
    return "" if record is None else str(record.body["purge"])
