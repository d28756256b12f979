"""The lifecycle as a pass that runs automatically, at most once a day in each hub. Workers run it
by schedule; elsewhere `upkeep` does, after answers were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.engine.upkeep import lifecycle_due
from holdfast.passes.schedule import Periodic

if TYPE_CHECKING:
    from datetime import timedelta

    from holdfast.settings import Settings


def _every(settings: Settings) -> timedelta | None:
    return lifecycle_due.EVERY if settings["lifecycle.automatic"] else None


def run_if_due(hub: Any) -> bool:
    """Runs the lifecycle in a hub (a HubMemory) where it is due; returns whether it did."""
    if not lifecycle_due.claim(hub.core, hub.id):
        return False
    hub._lifecycle_automatically()
    return True


PERIODIC = Periodic("lifecycle", _every, run_if_due, lifecycle_due.is_due)
