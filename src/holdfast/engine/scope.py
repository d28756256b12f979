"""Which hub an operation is about, and for whom it runs: the value that operations are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.engine.core import require_hub

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from holdfast.domain.access import Act
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Memory
    from holdfast.domain.names import PersonName
    from holdfast.engine.core import Core
    from holdfast.settings import Settings
    from holdfast.store.base import Reader, Writer


class Scope(NamedTuple):
    """One hub of one engine, used by one person.

    The core says who acts, what they see and what they may do. `hub` is the name by which error
    messages call the hub; everything is looked up by `hub_id`."""

    core: Core
    hub_id: str
    hub: str

    @property
    def actor(self) -> PersonName:
        """Who acts: what is written is theirs."""
        return self.core.actor

    @property
    def settings(self) -> Settings:
        return self.core.settings

    def read(self, *, deadline_s: float | None = None) -> AbstractContextManager[Reader]:
        """A snapshot of the store that shows what the actor may see."""
        return self.core.read(deadline_s=deadline_s)

    def write(self) -> AbstractContextManager[Writer]:
        """A transaction on this hub."""
        return self.core.write(self.hub_id)

    def now(self) -> datetime:
        return self.core.now()

    def require(self, act: Act, memory: Memory | None = None) -> None:
        """Raises Forbidden if the actor may not do this, or not with this memory."""
        self.core.require(act, memory)

    def require_hub(self, reader: Reader) -> Hub:
        """The hub's record; raises NotFound if the hub has been removed."""
        return require_hub(reader, self.hub_id, self.hub)

    def acting(self, actor: PersonName | None = None, *, sees_all: bool = False) -> Scope:
        """The same hub for another actor, or with every memory visible; see `Core.acting`."""
        return self._replace(core=self.core.acting(actor, sees_all=sees_all))
