"""What every part of a hub stands on: who acts, which hub, where its files are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from holdfast.engine.core import require_hub
from holdfast.errors import Forbidden

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.engine.core import Core
    from holdfast.files.file_sync import Step
    from holdfast.files.journal.changes import Look
    from holdfast.files.journal.entries import Place
    from holdfast.files.memory_md.edit import Place as TextPlace


class HubBase:
    """A hub with its engine and its folder."""

    def __init__(self, core: Core, info: Hub, home: str) -> None:
        self.core = core
        self.info = info
        self.home = home
        self._step: Step | None = None
        self._looked: Look | None = None
        self._stepping: set[int] = set()
        self._owners: Self | None = None

    @property
    def _filer(self) -> Self:
        """The hub for who keeps its files: its owner, where a guest makes the call. Files hold what
        the store holds, so this one sees everything; what is told of it goes through other eyes."""
        if self.core.viewer is None:
            return self
        if self._owners is None:
            actor = self.core.actor if self.core.permit is None else self.info.owner
            core = self.core.acting(actor).for_upkeep()
            self._owners = type(self)(core, self.info, self.home)
            # What was seen of the files is the same for both.
            self._owners._looked = self._look
        return self._owners

    @property
    def _keeper(self) -> Core | None:
        """Who edits the hub's files by hand, where a guest makes the call: its owner."""
        return None if self.core.permit is None else self.core.acting(self.info.owner)

    def _refuse_guest(self) -> None:
        if self.core.permit is not None:
            raise Forbidden(
                "Files of the machine are taken in by who has it.", hint="Send the text itself."
            )

    @property
    def name(self) -> str:
        """What it is called for whom it is open."""
        return self.info.called

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def folder(self) -> str:
        """Where the hub's files are; made when the first one is written."""
        from holdfast.files.atomic import hub_folder

        return hub_folder(self.home, self.info.name)

    @property
    def memory_md(self) -> str:
        """Where the hub's MEMORY.md is, once `sync` has made it."""
        return os.path.join(self.home, "hubs", self.info.name, "MEMORY.md")

    def _look_up(self) -> None:
        """A hub may be renamed or deleted while this is held, and its old name, and the folder of
        that name, may be another hub's by now."""
        with self.core.store.read() as reader:
            found = require_hub(reader, self.id, self.name)
            if found.name == self.info.name:
                return
            from holdfast.engine.access_records import called

            self.info = called(self.core, reader, found)
        self._step = self._looked = None

    def _here(self) -> str:
        """The folder, for work in it."""
        self._look_up()
        return self.folder

    def _as_text(self, source: str, trust: str, agent: str | None) -> TextPlace:
        from holdfast.files.memory_md import edit

        return edit.place_of(
            self.core, self.memory_md, self.id, self.name, source=source, trust=trust, agent=agent
        )

    @property
    def _journals(self) -> Place:
        from holdfast.files.journal.entries import Place

        folder = self._here()
        return Place(self.core, self.id, self.name, folder, self._look)

    @property
    def _look(self) -> Look:
        from holdfast.files.journal.changes import Look

        if self._looked is None:
            self._looked = Look()
        return self._looked

    def __repr__(self) -> str:
        return f"<hub {self.name}>"
