"""What a client can do to the log: nothing. One error a thousand times a second fills no disk, as
the first few are written, the rest counted, and the count written with the next one of its kind.
And no text of a client begins a line or steers the terminal that shows the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from holdfast.text.characters import printable

# So many of one kind are written in each period.
PER_PERIOD = 5
PERIOD_S = 10.0
# Kinds that are remembered; beyond that all are forgotten, which costs a few more lines.
_KINDS_MAX = 1_000


class RepeatLimit(logging.Filter):
    """Lets a warning or error through `PER_PERIOD` times in `PERIOD_S` seconds. Records of one kind
    have the same logger, level, message template and type of exception. What is below a warning
    passes: those lines are wanted one by one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        # Kind: when its period began, how many came in it.
        self._seen: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        error = record.exc_info[0] if record.exc_info else None
        kind = (record.name, record.levelno, str(record.msg)[:200], error)
        now = self._clock()
        began, count = self._seen.get(kind, (now, 0))
        if now - began >= PERIOD_S:
            dropped = count - PER_PERIOD
            if dropped > 0:
                record.msg = f"{record.getMessage()} ({dropped:,} more like this were not logged)"
                record.args = None
            began, count = now, 0
        if len(self._seen) >= _KINDS_MAX and kind not in self._seen:
            self._seen.clear()
        self._seen[kind] = (began, count + 1)
        return count < PER_PERIOD


class LineFormatter(logging.Formatter):
    """Writes a message on one line with control characters escaped, and indents tracebacks, so
    that text from outside cannot pose as a line of the log."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        record.message = _one_line(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's name
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802  logging's name
        return _indented(super().formatStack(stack_info))


def _one_line(text: str) -> str:
    """Escaped like a line of a pipe, but with its backslashes as they are: JSON has its own."""
    return printable(text).replace("\n", "\\n")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in printable(text).split("\n"))


def guard_log() -> None:
    """Limits repeated errors and escapes control characters in everything this process logs."""
    for handler in (*logging.getLogger().handlers, logging.lastResort):
        if handler is None:
            continue
        if not any(isinstance(one, RepeatLimit) for one in handler.filters):
            handler.addFilter(RepeatLimit())
        if not isinstance(handler.formatter, LineFormatter):
            old = handler.formatter or logging.Formatter()
            handler.setFormatter(LineFormatter(old._fmt, old.datefmt))
