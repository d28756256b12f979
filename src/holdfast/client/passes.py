"""What a hub on a server does by itself: noting turns, a flush, consolidation, the
lifecycle."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.client import values
from holdfast.client.base import RemoteBase

if TYPE_CHECKING:
    from holdfast.domain.results import CapturedDay, Flushed, LifecycleMoves, Noted, Observed
    from holdfast.passes.consolidation.plan import Consolidated, Plan

# The methods are those of `HubMemory`, where each says what it does.


class RemotePasses(RemoteBase):
    def observe_turn(
        self,
        user: str,
        assistant: str,
        *,
        mode: str = "current",
        session: str | None = None,
        source: str = "unknown",
        at: datetime | str | None = None,
    ) -> Observed:
        from holdfast.domain.results import Observed

        body = {
            "user": user,
            "assistant": assistant,
            "mode": mode,
            "session": session,
            "source": source,
            "at": values.sent_time(at),
        }
        told = self._send("/observe", body)["data"]
        turns = tuple(values.turn_of(one) for one in told["turns"])
        for turn in turns:
            self._note_redacted(user if turn.role == "user" else assistant, turn.content)
        return Observed(turns, told["queued"], told["reason"], told["dropped"])

    def flush(
        self, messages: Iterable[Any] | str | None = None, *, session: str | None = None
    ) -> Flushed:
        from holdfast.domain.results import Flushed

        sent: Any = messages if messages is None or isinstance(messages, str) else list(messages)
        told = self._send("/flush", {"messages": sent, "session": session})["data"]
        noted = tuple(_noted(one) for one in told["noted"])
        return Flushed(told["prompt"], told["turns"], noted, told["left_out"], told["note"])

    def captured(self, *, days: int = 7) -> list[CapturedDay]:
        from holdfast.domain.results import CapturedDay

        return [
            CapturedDay(
                one["day"],
                one["outcomes"],
                one["reasons"],
                tuple((values.moment(last["at"]), _noted(last)) for last in one["last"]),
            )
            for one in self._get("/captured", days=days)["data"]
        ]

    def plan_consolidation(self) -> Plan:
        from holdfast.passes.consolidation.plan import from_plain

        return from_plain(self._ask("/consolidation/plan", {})["data"])

    def consolidate(self, plan: Plan | str | None = None, *, dry_run: bool = False) -> Consolidated:
        from holdfast.passes.consolidation.plan import to_plain

        sent: Any = plan if plan is None or isinstance(plan, str) else to_plain(plan)
        told = self._send("/consolidation", {"plan": sent, "dry_run": dry_run})["data"]
        return _consolidated_of(told)

    def lifecycle(self, *, dry_run: bool = False, category: str | None = None) -> LifecycleMoves:
        from holdfast.domain.results import LifecycleMove, LifecycleMoves

        told = self._send("/lifecycle", {"dry_run": dry_run, "category": category})["data"]
        moves = [
            LifecycleMove(values.memory_of(one["memory"]), one["to"], one["reason"])
            for one in told["moves"]
        ]
        return LifecycleMoves(moves, told["change"])


def _noted(told: dict[str, Any]) -> Noted:
    from holdfast.domain.results import Noted

    return Noted(told["outcome"], told["reason"], told["text"])


def _consolidated_of(told: dict[str, Any]) -> Consolidated:
    from holdfast.passes.consolidation.plan import (
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
