"""Memories beside a hub's own: read-only sources that are asked side by side with it.

A source may be a folder that another agent keeps, another Holdfast, or what a plugin reads. Its
text is never stored and never injected unasked: it is shown on request, fenced, as data. Which
sources there are is the person's business (the setting `sources.read`), not the agent's.

`begin` sends a question out and returns at once, so that the hub itself can be asked meanwhile;
`answers` on what it returns waits for what is left of the budget. Without sources both are free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.sources.registry import Answers as Answers
from holdfast.sources.registry import Excerpt as Excerpt
from holdfast.sources.registry import Excerpts as Excerpts
from holdfast.sources.registry import MemorySource as MemorySource

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.sources.registry import Registry


class NothingAsked:
    """The question that went to nobody."""

    def answers(self) -> Answers:
        return Answers()


def begin(hub: HubMemory, query: str, *, limit: int = 5, budget_ms: float | None = None) -> Asking:
    """Asks the sources of a hub; `answers()` on what is returned never raises. The budget is that
    of the settings, unless one is given."""
    # They are the folders and hubs of who has the machine: a key opens this hub alone.
    if not hub.core.settings["sources.read"] or not query.strip() or hub.core.permit is not None:
        return NothingAsked()
    return registry_of(hub).begin(query, limit, budget_ms=budget_ms)


def ask(hub: HubMemory, query: str, *, limit: int = 5, budget_ms: float | None = None) -> Answers:
    """What the sources of a hub have to say, at most `limit` excerpts of them all."""
    return begin(hub, query, limit=limit, budget_ms=budget_ms).answers()


def registry_of(hub: HubMemory) -> Registry:
    """The hub as primary memory, and the sources that the settings name."""
    from holdfast.sources.configured import registry_of

    return registry_of(hub)


if TYPE_CHECKING:
    from typing import TypeAlias

    from holdfast.sources.registry import Asked

    Asking: TypeAlias = Asked | NothingAsked
