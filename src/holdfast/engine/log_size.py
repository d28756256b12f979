"""How much room the conversation log takes, how much a year of the like would, and the bounds that
a person may set: turns, days, megabytes of text. Without any, everything is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.domain.results import LogSize
from holdfast.engine.scope import Scope

if TYPE_CHECKING:
    from holdfast.store.base import Writer

# What a turn takes in a SQLite store with its index and vectors: this much for itself, and this
# much for each byte of its text. Measured on short chat (128 bytes a turn: 1,719) and on long
# answers (1,209: 7,228).
_BYTES_PER_TURN = 1_000
_BYTES_PER_BYTE = 5
_YEAR = timedelta(days=365)
# A forecast from less than this would be chance.
_DAYS_LEAST = timedelta(days=1)
# Removed in one transaction at most; the rest goes with the next turns.
_DROPPED_MAX = 1_000


def log_size(scope: Scope) -> LogSize:
    """The size of the log, and the forecast."""
    with scope.read() as reader:
        scope.require_hub(reader)
        turns, text, oldest, newest = reader.log_size(scope.hub_id)
    if oldest is None or newest is None:
        return LogSize()
    store = _in_store(turns, text)
    span = max(newest - oldest, _DAYS_LEAST)
    return LogSize(turns, text, store, oldest, newest, int(store * (_YEAR / span)))


def _in_store(turns: int, text_bytes: int) -> int:
    return turns * _BYTES_PER_TURN + text_bytes * _BYTES_PER_BYTE


def prune(scope: Scope, writer: Writer) -> None:
    """Removes what is beyond the bounds, oldest first."""
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
            # As many of the oldest as make up for it, were all of the same length.
            count = min(_DROPPED_MAX, -(-over * turns // text))
            writer.drop_turns(scope.hub_id, writer.turn_ids(scope.hub_id, limit=count))


def is_bounded(scope: Scope) -> bool:
    """Whether anything bounds the log."""
    settings = scope.settings
    return bool(_kept(scope) or settings["log.days"] or settings["log.megabytes"])


def _kept(scope: Scope) -> int:
    """How many turns are kept, 0 for all: as somebody has set it, else as the dialect has it with
    which this process works on the hub."""
    keep: int = scope.settings["log.keep"]
    if scope.settings.origin("log.keep") != "default":
        return keep
    return scope.core.log_keeps.get(scope.hub_id, keep)
