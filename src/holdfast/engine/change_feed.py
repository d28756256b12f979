"""The events of a hub since a listener's last poll: changes, texts extracted from files, and
purges. Many processes may write to the store, so the store is polled."""

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

# Extracted texts are searched this far back: a write becomes visible a moment after its time stamp.
_LATE = timedelta(seconds=10)
# A listener that missed more changes than this has to read the hub again.
_MISSED_MAX = 200


class Purges(NamedTuple):
    """The purges that a listener of the stream of events knows of: the mark of the last one, and
    the number of receipts."""

    mark: str = ""
    receipts: int = 0


class Touched(NamedTuple):
    """A change in the stream of events, and the memories that it touched, each with its version."""

    change: Change
    memories: Sequence[tuple[str, int]]


class News(NamedTuple):
    """The new events of the stream, and the change and the purge they reach up to; `missed` says
    that there were more than are listed."""

    last: str | None
    purges: Purges
    changes: Sequence[Touched] = ()
    missed: bool = False
    read: Sequence[Memory] = ()
    purged: Sequence[Receipt] = ()


# Returns up to N of the newest changes of the hub, as the caller sees them.
Newest = Callable[[int], Sequence["Change"]]


def newest(changes: Newest) -> str | None:
    """The id of the newest change, from which the stream of events begins."""
    found = changes(1)
    return found[0].id if found else None


def purges_before(scope: Scope, last: str | None) -> Purges:
    """The purges that a listener knows of: all until now, or until the last change it saw. Sending
    one twice does no harm."""
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
    """The events after the last change that a listener has seen; it has listened since `begun`.
    Receipts of purges are for members."""
    # Read before the purges, so that a purge between the two reads is reported again and not
    # missed.
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
    """The changes for a listener of the stream after the last one that was seen, oldest first."""
    # Usually nothing is new, and finding that out costs reading one row.
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
            # The last change seen is too old, was purged, or never existed here.
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
