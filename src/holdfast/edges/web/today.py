"""The start page: changes by day with their reasons, and what waits for a person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.memory import without_copies
from holdfast.edges.web.memory import UndoStep
from holdfast.edges.web.rendering import t
from holdfast.edges.web.visit import Visit, route
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from starlette.responses import Response

    from holdfast.api.hub import HubMemory
    from holdfast.domain.change import Change
    from holdfast.domain.memory import Memory
    from holdfast.domain.results import CapturedDay

_CHANGES_MAX = 60
_TOUCHED_MAX = 4
_INBOX_MAX = 100
_CAPTURED_DAYS = 14


class Happened(NamedTuple):
    """A change set on the web page of today, the first of the memories that it touched, and whether
    there are more."""

    change: Change
    memories: Sequence[Memory]
    more: bool


class Day(NamedTuple):
    """A day of the web page of today: its changes, and what automatic memory left out."""

    day: date
    happened: list[Happened]
    captured: CapturedDay | None

    @property
    def counts(self) -> dict[str, int]:
        """The number of changes of each action, the most frequent first."""
        out: dict[str, int] = {}
        for one in self.happened:
            out[one.change.action] = out.get(one.change.action, 0) + 1
        return dict(sorted(out.items(), key=lambda item: -item[1]))


def _days(visit: Visit, hub: HubMemory, before: str | None) -> tuple[list[Day], str]:
    """Days, newest first, and the cursor of older ones; empty if there are none."""
    changes = hub.changes(limit=_CHANGES_MAX, before=before)
    named = [change.id for change in changes]
    # Most facts of a conversation are stored twice, once as a line of the journal.
    touched = hub.touched(named, limit=2 * _TOUCHED_MAX + 1) if changes else {}
    captured: dict[str, CapturedDay] = {}
    if visit.allows("read_log"):
        captured = {one.day: one for one in hub.captured(days=_CAPTURED_DAYS)}
    days: dict[date, Day] = {}
    for change in changes:
        day = change.at.astimezone(UTC).date()
        made = days.setdefault(day, Day(day, [], captured.get(day.isoformat())))
        memories = without_copies(touched.get(change.id, []))
        more = len(memories) > _TOUCHED_MAX
        made.happened.append(Happened(change, memories[:_TOUCHED_MAX], more))
    older = changes[-1].id if len(changes) == _CHANGES_MAX else ""
    return list(days.values()), older


def _inbox(visit: Visit, hub: HubMemory) -> dict[str, Any]:
    items = hub.review(limit=_INBOX_MAX)
    return {"items": items, "waiting": hub.review_count()}


def _today(visit: Visit) -> Response:
    hub = visit.hub()
    days, older = _days(visit, hub, visit.query("before") or None)
    values = {
        "tab": "today",
        "days": days,
        "older": older,
        "decisions": hub.decisions(),
        "clashes": hub.conflicts() if visit.caller.local else [],
        "now_day": hub.core.now().astimezone(UTC).date(),
        **_inbox(visit, hub),
    }
    return visit.page("today.html", values)


def _feed(visit: Visit) -> Response:
    """The days only; the page asks for them after a change."""
    hub = visit.hub()
    days, older = _days(visit, hub, visit.query("before") or None)
    values = {"days": days, "older": older, "now_day": hub.core.now().astimezone(UTC).date()}
    return visit.fragment("_feed.html", values)


def _last_change(hub: HubMemory, memories: Sequence[Memory]) -> str:
    return hub.history(memories[0].id)[-1].change.id if memories else ""


def _verdict(visit: Visit) -> Response:
    """Approves or rejects the chosen items, as one change set."""
    hub = visit.hub("write")
    verdict, _, single = visit.field("verdict").partition(":")
    chosen = [single] if single else visit.fields("item")
    if not chosen:
        raise InvalidInput(t("error.nothing_chosen"))
    reason = visit.field("reason").strip()
    if verdict == "reject":
        done = hub.reject(chosen, reason=reason)
        said = t("done.rejected", count=len(chosen))
    else:
        text = visit.field(f"text-{single}").strip() if single else ""
        before = hub.find(single).content if single else ""
        done = hub.approve(
            chosen,
            text=text if text and text != before else None,
            keep_both=verdict == "keep_both",
            reason=reason,
        )
        said = t("done.approved", count=len(chosen))
    values = _inbox(visit, hub) | {
        "said": said,
        "undo": [UndoStep(visit.slug, change)] if (change := _last_change(hub, done)) else [],
    }
    return visit.fragment("_inbox.html", values)


def _decide(visit: Visit) -> Response:
    hub = visit.hub("write")
    reference = visit.path("reference")
    note = visit.field("note").strip()
    if visit.field("verdict") == "withdraw":
        decision = hub.withdraw_decision(reference, note=note)
        said = t("done.withdrawn")
    else:
        option = visit.field("option")
        if not option:
            raise InvalidInput(t("error.no_option"))
        decision = hub.decide(reference, int(option), note=note, source="web")
        said = t("done.decided")
    change = hub.history(decision.memory.id)[-1].change.id
    values = {
        "decisions": hub.decisions(),
        "said": said,
        "undo": [UndoStep(visit.slug, change)],
    }
    return visit.fragment("_decisions.html", values)


def _settle(visit: Visit) -> Response:
    hub = visit.hub("write")
    if not visit.caller.local:
        raise InvalidInput(t("error.files_local"))
    hub.settle(visit.path("conflict"), keep=visit.field("keep"))
    values = {"clashes": hub.conflicts(), "said": t("done.settled"), "undo": []}
    return visit.fragment("_clashes.html", values)


ROUTES = [
    route("/h/{hub}/today", _today),
    route("/h/{hub}/feed", _feed),
    route("/h/{hub}/review", _verdict, post=True),
    route("/h/{hub}/decisions/{reference}", _decide, post=True),
    route("/h/{hub}/conflicts/{conflict}", _settle, post=True),
]
