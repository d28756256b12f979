"""Which operations of a hub outlive the loss of their store: they are begun again, unseen.

Only those that write to the store before anything else. What writes a file first (a journal,
MEMORY.md) would write it twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import Any, TypeVar

from holdfast.engine.attempts import persist

READS = (
    *("recall", "search_text", "get", "find", "list", "related", "statistics", "context"),
    *("history", "diff", "changes", "touched", "receipts", "turns", "search_turns"),
    *("decisions", "review", "review_count", "jobs"),
)
WRITES = (
    *("remember", "remember_draft", "remember_many", "update", "pin", "unpin"),
    *("access", "access_many", "archive", "archive_many", "forget", "forget_many"),
    *("restore", "restore_many", "purge", "purge_many", "undo"),
    *("request_decision", "decide", "withdraw_decision", "approve", "reject"),
    *("log_turn", "observe_turn"),
)

Hub = TypeVar("Hub")


def _persistent(method: Any, *, writes: bool) -> Any:
    @wraps(method)
    def until_done(self: Any, *args: Any, **values: Any) -> Any:
        # What can be walked through once is empty at the second attempt.
        if any(isinstance(one, Iterator) for one in (*args, *values.values())):
            return method(self, *args, **values)
        return persist(lambda: method(self, *args, **values), writes=writes)

    return until_done


def done_again(hub: type[Hub]) -> type[Hub]:
    """Wraps the operations of a hub that may be begun again, and leaves the rest."""
    for name in (*READS, *WRITES):
        setattr(hub, name, _persistent(getattr(hub, name), writes=name in WRITES))
    return hub
