"""How far this machine's clock is from the server's: machines that share a store do not share a
clock, and a lease must not run out sooner on one than on another."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg

from holdfast.domain.clock import SystemClock, from_micros

# Clocks that are looked after agree within milliseconds, and nothing here hangs on seconds. So they
# count as equal, and what one machine put off until now is not early on another.
_NEAR = timedelta(seconds=5)
# In microseconds: how a time is written is a setting of the server (DateStyle), a number is not.
# By their full names: it is also asked where the path of the role counts.
_CLOCK = "(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000000)::bigint"


def measured(connection: psycopg.Connection[Any], also: str = "NULL") -> tuple[timedelta, Any]:
    """How much later it is on the server; nothing where both are near each other. With it the
    answer to what is asked `also`, on the same way."""
    before = SystemClock().now()
    row = connection.execute(f"SELECT {_CLOCK}, ({also})").fetchone()
    after = SystemClock().now()
    assert row is not None
    # The answer is from somewhere between the two.
    skew = from_micros(row[0]) - (before + (after - before) / 2)
    return (skew if abs(skew) > _NEAR + (after - before) else timedelta()), row[1]
