"""The time by the clock of the store, which all who use it share: for whatever one machine puts off
and another takes up (leases, what is due). What happened, and when, goes by the machine's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.engine.core import Core


def shared_now(core: Core) -> datetime:
    """What time it is for everybody."""
    return core.now() + core.store.skew()
