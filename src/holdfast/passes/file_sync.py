"""Syncs a hub's files around what a pass writes: edits are read before, files are written after. A
failure is logged; what the pass wrote is safe in the store, and the next sync catches up."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING

from holdfast.engine.scope import Scope
from holdfast.errors import HoldfastError
from holdfast.files.atomic import is_kept_in_files
from holdfast.passes.logs import logger

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.engine.core import Core


@contextmanager
def synced_files(core: Core, home: str, hub: Hub, days: Iterable[date]) -> Iterator[None]:
    """Wraps a write to the journals of these days, and perhaps to MEMORY.md. A hub without files
    costs one check of its folder."""
    folder = os.path.join(home, "hubs", hub.name)
    if not is_kept_in_files(folder):
        yield
        return
    from holdfast.files.file_sync import Step
    from holdfast.files.journal import journal
    from holdfast.files.journal.changes import Look
    from holdfast.files.journal.entries import Place

    # Files belong to the hub: they are kept in the name of its owner, and hold what the store does.
    owner = core.acting(hub.owner, sees_all=True)
    scope = Scope(owner, hub.id, hub.name)
    step = Step(scope, os.path.join(folder, "MEMORY.md"))
    place = Place(scope, folder, Look())
    notes: list[str] = []
    with _noted(notes):
        step.before()
        journal.take_in(place, place.look.changed(owner, hub.id, folder))
        if step.decisions():
            notes += journal.follow(place)
    yield
    for day in sorted(set(days)):
        with _noted(notes):
            notes += journal.sync_day(place, day)
    with _noted(notes):
        step.after()
        # A pass holds what it is not sure of.
        step.waiting()
    _tell(hub.name, [*notes, *step.notes, *place.look.notes])


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    try:
        yield
    except (HoldfastError, OSError) as error:
        notes.append(str(error))


def _tell(hub: str, notes: list[str]) -> None:
    for note in notes:
        logger("holdfast.passes").info("%s: %s", hub, note)
