"""Forgets everything about a word: a preview, line by line, then the removal.
Turns are deleted permanently; memories are forgotten in a change set that can be undone, or
purged."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from holdfast.edges.web.memory import UndoStep
from holdfast.edges.web.rendering import t
from holdfast.edges.web.visit import Visit, route
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from starlette.responses import Response

    from holdfast.api.hub import HubMemory
    from holdfast.domain.results import ForgottenTurns

_LINES_MAX = 100


def _forget(visit: Visit) -> Response:
    visit.hub("manage")
    return visit.page("forget.html", {"tab": "agent"})


def _preview(visit: Visit) -> Response:
    return visit.fragment("_going.html", _preview_values(visit, visit.hub("manage", lasting=True)))


def _do(visit: Visit) -> Response:
    """Forgets what the preview showed; if something has changed since, shows a new preview."""
    hub = visit.hub("manage", lasting=True)
    now = _preview_values(visit, hub)
    if visit.field("seen") != now["seen"]:
        return visit.fragment("_going.html", now | {"changed": True})
    purge = visit.has("purge")
    reason = visit.field("reason").strip()
    done = hub.forget_turns(about=now["about"], purge=purge, reason=reason)
    undo = []
    if done.memories and not purge:
        undo = [UndoStep(visit.slug, hub.history(done.memories[0].id)[-1].change.id)]
    said = t("forget.done", turns=done.total, memories=len(done.memories))
    return visit.fragment("_gone.html", {"said": said, "undo": undo, "done": done, "purge": purge})


def _preview_values(visit: Visit, hub: HubMemory) -> dict[str, Any]:
    about = visit.field("about").strip()
    if not about:
        raise InvalidInput(t("error.no_word"))
    purge = visit.has("purge")
    found = hub.forget_turns(about=about, purge=purge, dry_run=True)
    # Callers who may not read the log see only how many turns would be deleted.
    turns = found.turns[::-1][:_LINES_MAX] if visit.allows("read_log") else ()
    memories = found.memories[:_LINES_MAX]
    return {
        "about": about,
        "purge": purge,
        "total": found.total,
        "turns": turns,
        "more_turns": found.total - len(turns),
        "count": len(found.memories),
        "memories": memories,
        "more_memories": len(found.memories) - len(memories),
        "seen": _seen(found, purge),
        "changed": False,
    }


def _seen(found: ForgottenTurns, purge: bool) -> str:
    """A digest of a preview: the removal must match it."""
    named = [str(found.total), str(purge)]
    named += [turn.id for turn in found.turns]
    named += [f"{memory.id} {memory.version}" for memory in found.memories]
    return hashlib.sha256("\n".join(named).encode()).hexdigest()


ROUTES = [
    route("/h/{hub}/forget", _forget),
    route("/h/{hub}/forget/preview", _preview, post=True),
    route("/h/{hub}/forget", _do, post=True),
]
