"""What a tool's handler works with: the hub, who calls, how to report progress, and how a call
names one memory. It knows no dialect and no edge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple, TypeAlias

from holdfast import engine
from holdfast.agents.tool import Parameter
from holdfast.agents.wording import in_brief
from holdfast.api.caller import Caller
from holdfast.api.hub import HubMemory
from holdfast.domain.hub import Hub
from holdfast.domain.memory import Memory, Source, Trust
from holdfast.domain.review import AWAITS
from holdfast.errors import Conflict, InvalidInput, NotFound
from holdfast.text.names import parse_place

# (done, total, note); it may raise CallCancelled when the caller has given up.
Report: TypeAlias = Callable[[int, int | None, str], None]


class Desk(NamedTuple):
    """A hub and the caller. Only with `every_hub` may a tool reach hubs other than its own; a
    caller with a key reaches the hubs that the key opens."""

    hub: HubMemory
    agent: str | None = None
    source: Source = "sdk"
    trust: Trust = "agent"
    zone: tzinfo = UTC
    every_hub: bool = False
    caller: Caller | None = None
    report: Report | None = None

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """To be called now and then in long work; raises CallCancelled where nobody waits."""
        if self.report is not None:
            self.report(done, total, note)

    def take_held(self) -> list[Memory]:
        """The memories that are held because of this call, once. A tool that says so in its own
        words takes them; of what is left, the toolset adds a note."""
        return self.hub.core.held.take()

    def hub_named(self, name: str | None) -> HubMemory:
        """The hub of that name or id, or its own. A hub out of reach reads like one that is not
        there."""
        if not name:
            return self.hub
        name = parse_place(name)
        if name in (self.hub.name, self.hub.id):
            return self.hub
        if self.caller is not None and self.every_hub:
            return self.caller.hub(name)
        if self.every_hub:
            core = self.hub.core
            with core.store.read() as reader:
                by_id = reader.hub_by_id(name)
            found = by_id or engine.hubs.find_hub(core, name)
            return HubMemory(core, found, self.hub.home)
        raise NotFound(
            f"There is no hub {in_brief(name)!r} here.",
            hint=f"This memory is the hub {self.hub.name!r}; leave the hub out to use it.",
        )

    def hubs(self) -> list[Hub]:
        """The hubs in reach, by name."""
        if not self.every_hub:
            return [self.hub.info]
        if self.caller is not None:
            return [hub for hub, _ in self.caller.hubs()]
        return engine.hubs.list_hubs(self.hub.core)

    def when(self, text: str | None, *, end: bool = False) -> datetime | None:
        """A moment from a date or words such as `yesterday`, in the caller's time zone."""
        if text is None:
            return None
        from holdfast.text.dates import parse_when

        return parse_when(text, now=self.hub.core.now(), zone=self.zone, end=end)

    def past(self, text: str | None) -> datetime | None:
        """A moment to look back to: `yesterday` means how things stood when it ended."""
        at = self.when(text, end=True)
        return at if at is None else min(at, self.hub.core.now())


REFERENCE = (
    Parameter("id", "reference", "Its id (mem_…)."),
    Parameter("number", "reference", "Its number, such as 12."),
    Parameter("key", "text", "Its key."),
)


def one_of(given: dict[str, Any], *others: str) -> str | int:
    """The one reference that was given; `others` are what might have been given instead."""
    named = [given[parameter.name] for parameter in REFERENCE if given[parameter.name] is not None]
    if len(named) == 1:
        reference: str | int = named[0]
        return reference
    ways = ", ".join(["its id", "its number", *(f"a {other}" for other in others)])
    if named:
        raise InvalidInput(f"Name the memory once: {ways} or its key.")
    raise InvalidInput(f"Say which memory: {ways} or its key.")


def refuse_held(desk: Desk, memory: Memory) -> None:
    """What waits for review is not read out to a model: a person decides whether it may be."""
    held = memory.quarantine and memory.quarantine != AWAITS
    if held and not desk.hub.core.settings["review.by_agents"]:
        raise Conflict(
            f"#{memory.number} waits for a person's review: it {memory.quarantine}.",
            hint="They decide with `holdfast review`.",
        )
