"""The hub of a repository that is created only when it is first used, so that a client that merely
starts a server leaves no empty hub."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.api.project_hub import ProjectHub

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.domain.hub import Hub
    from holdfast.engine.core import Core


class LazyHub(ProjectHub):
    """The hub of a repository, created by the first operation on it."""

    def __init__(
        self,
        core: Core,
        home: str,
        name: str,
        make: Callable[[], HubMemory],
        beside: HubMemory | None = None,
    ) -> None:
        # The personal hub, which may be read before this one is created.
        self.beside = beside
        self._name = name
        self._make = make
        self._made: HubMemory | None = None
        super().__init__(core, None, home)  # type: ignore[arg-type]

    @property
    def is_created(self) -> bool:
        return self._made is not None

    @property
    def name(self) -> str:
        return self._name if self._made is None else self.info.called

    def _hub(self) -> HubMemory:
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def info(self) -> Hub:
        return self._hub().info

    @info.setter
    def info(self, info: Hub) -> None:
        if self._made is not None:
            self._made.info = info

    @property
    def own(self) -> HubMemory | None:
        made = self._hub()
        return made.own if isinstance(made, ProjectHub) else None

    @own.setter
    def own(self, own: HubMemory | None) -> None:
        """Ignored: it is set when the hub is created."""

    @property
    def place(self) -> str | None:
        made = self._hub()
        return made.place if isinstance(made, ProjectHub) else None

    @place.setter
    def place(self, place: str | None) -> None:
        """Ignored: it is set when the hub is created."""
