"""Takes the files of instructions on this machine into hubs, and follows their edits: those of the
person into their own hub, those of a project into its hub. A run is one change set, of the same id
in both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from holdfast.edges.project import choose, hub_here, own_hub, project_of
from holdfast.engine.log import import_run
from holdfast.engine.transfer.imports import Source, Taken, followed_places
from holdfast.errors import HoldfastError
from holdfast.importers.instruction_files import (
    PROGRAM,
    InstructionFile,
    instruction_files,
    read_statements,
)

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast


class FileReport(NamedTuple):
    """What became of one file; `note` says why it could not be read."""

    hub: str
    path: str
    taken: tuple[Taken, ...] = ()
    note: str = ""


def take_in(memory: Holdfast, person: str, folder: str, *, dry_run: bool) -> list[FileReport]:
    """Brings memory up to date with the files, also with those that are gone since."""
    run = _Run(memory, folder, dry_run=dry_run)
    root = folder if project_of(folder) is None else _root_of(folder)
    found = list(instruction_files(person, root))
    reports = [run.take(file) for file in found]
    reports += run.take_gone({file.path for file in found}, person, root)
    run.finish()
    return reports


def take_back(memory: Holdfast, *, force: bool = False) -> dict[str, int]:
    """Undoes the last run in every hub; by hub, how many memories that were."""
    scopes = {hub.name: memory.hub(hub.name).scope for hub in memory.hubs()}
    runs = {name: import_run.last_run(scope, PROGRAM) for name, scope in scopes.items()}
    last = max((run.change_id for run in runs.values() if run is not None), default="")
    return {
        name: len(memory.hub(name).undo(run.change_id, force=force).memories)
        for name, run in runs.items()
        if run is not None and run.change_id == last
    }


def _root_of(folder: str) -> str:
    """The folder of the repository, in which its instructions are."""
    root = os.path.realpath(folder)
    while not os.path.exists(os.path.join(root, ".git")):
        root = os.path.dirname(root)
    return root


class _Run:
    def __init__(self, memory: Holdfast, folder: str, *, dry_run: bool) -> None:
        self._memory, self._folder, self._dry_run = memory, folder, dry_run
        self._hubs: dict[str, HubMemory | None] = {}
        self._runs: dict[str, tuple[HubMemory, import_run.Run]] = {}
        scopes = [memory.hub(hub.name).scope for hub in memory.hubs()]
        found = (import_run.interrupted(scope, PROGRAM) for scope in scopes)
        self._change = next(filter(None, found), None) or memory.core.ids.next("chg")

    def take(self, file: InstructionFile) -> FileReport:
        hub = self._hub(file.about)
        name = choose(self._memory, folder=self._folder).name if hub is None else hub.name
        try:
            statements = read_statements(file)
        except HoldfastError as error:
            return FileReport(name, file.path, note=error.message)
        if hub is None:
            # A dry run makes no hub: all of it would be new.
            new = tuple(Taken(one.item.id, "new") for one in statements)
            return FileReport(name, file.path, new)
        source = Source(PROGRAM, file.path)
        taken = hub.follow_items(statements, source, self._change, dry_run=self._dry_run)
        return FileReport(name, file.path, tuple(taken))

    def take_gone(self, there: set[str], person: str, root: str) -> list[FileReport]:
        """Files that were followed and are gone: what they said is archived."""
        reports = []
        for about in ("person", "project"):
            hub = self._hub(about)
            for place in [] if hub is None else followed_places(hub.scope, PROGRAM):
                of_this = place.startswith((root + os.sep, os.path.join(person, ".")))
                if hub is not None and of_this and place not in there:
                    source = Source(PROGRAM, place)
                    taken = hub.follow_items([], source, self._change, dry_run=self._dry_run)
                    if taken:
                        reports.append(FileReport(hub.name, place, tuple(taken), "It is gone."))
        return reports

    def finish(self) -> None:
        for hub, run in self._runs.values():
            import_run.finish(hub.scope, run)

    def _hub(self, about: str) -> HubMemory | None:
        """The hub for files of the person or the project; in a dry run None where it is yet to be
        made."""
        if about not in self._hubs:
            self._hubs[about] = self._opened(about)
        return self._hubs[about]

    def _opened(self, about: str) -> HubMemory | None:
        if self._dry_run:
            chosen = choose(self._memory, folder=self._folder).hub
            return chosen if about == "project" else own_hub(self._memory)
        hub = hub_here(self._memory, folder=self._folder)[0]
        if about == "person":
            hub = self._memory.hub()
        if hub.id not in self._runs:
            run = import_run.begin(hub.scope, PROGRAM, self._change)
            self._runs[hub.id] = (hub, run)
        return hub
