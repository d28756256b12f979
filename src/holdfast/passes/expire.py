"""What nobody has looked at in time leaves the review inbox by itself, once a day, where a worker
runs. Elsewhere the lifecycle does it. It moves nothing else: memories age when somebody asks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast.passes.schedule import Periodic

# Its limit counts in days.
_EVERY = timedelta(days=1)


def _run(hub: Any) -> None:
    from holdfast.engine import verdicts

    if verdicts.expire(hub.core.for_upkeep(), hub.id, hub.name):
        # Like every operation it brings the hub's files in step first.
        hub.review_count()


PERIODIC = Periodic("expire", lambda settings: _EVERY, _run)
