"""What a hub on a server does by itself: consolidation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.client import values
from holdfast.client.base import RemoteBase

if TYPE_CHECKING:
    from holdfast.passes.consolidate_plan import Consolidated, Plan

# The methods are those of `HubMemory`, where each says what it does.


class RemotePasses(RemoteBase):
    def plan_consolidation(self) -> Plan:
        from holdfast.passes.consolidate_plan import from_plain

        return from_plain(self._ask("/consolidation/plan", {})["data"])

    def consolidate(self, plan: Plan | str | None = None, *, dry_run: bool = False) -> Consolidated:
        from holdfast.passes.consolidate_plan import to_plain

        sent: Any = plan if plan is None or isinstance(plan, str) else to_plain(plan)
        told = self._send("/consolidation", {"plan": sent, "dry_run": dry_run})["data"]
        return _consolidated_of(told)


def _consolidated_of(told: dict[str, Any]) -> Consolidated:
    from holdfast.passes.consolidate_plan import (
        Consolidated,
        Done,
        Refused,
        from_plain,
        step_from,
    )

    return Consolidated(
        from_plain(told["plan"]),
        tuple(
            Done(step_from(one["step"]), values.memory_of(one["memory"])) for one in told["done"]
        ),
        tuple(Refused(step_from(one["step"]), one["reason"]) for one in told["refused"]),
        told["change"],
        told["skipped"],
        tuple(told["diff"]),
        notes=tuple(told["notes"]),
    )
