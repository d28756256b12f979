"""From the setting `sources.read` to sources: built in, or found by their entry point.

An entry is `NAME=WHERE`. WHERE is a folder, `holdfast:HOME#HUB`, or `KIND:REST` for a plugin of
the group `holdfast.sources`. A mistake in one entry is a note, and keeps no other from being used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import HoldfastError, InvalidSetting
from holdfast.sources import Excerpt, MemorySource, Registry

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from holdfast.api.hub import HubMemory

SOURCES_GROUP = "holdfast.sources"
SETTING = "sources.read"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)
# A single letter before the colon is a drive, not a kind.
_KIND = re.compile(r"([a-z][a-z0-9_-]+):(.*)", re.ASCII | re.DOTALL)


class SourceEntry(NamedTuple):
    """One entry of `sources.read`, taken apart but not checked: `problem` says what is wrong."""

    name: str
    kind: str
    where: str
    problem: str = ""


def entries(text: str) -> list[SourceEntry]:
    """The entries of the setting `sources.read`, in order."""
    out: list[SourceEntry] = []
    for part in re.split(r"[,\n]", text):
        if not part.strip():
            continue
        name, equals, where = (side.strip() for side in part.partition("="))
        found = _KIND.fullmatch(where)
        kind, rest = (found[1], found[2]) if found else ("folder", where)
        problem = ""
        if not equals or not where:
            problem = f"`{part.strip()}` in {SETTING} is not written as NAME=WHERE."
        elif not _NAME.fullmatch(name):
            problem = f"`{name}` in {SETTING} is no name: use letters, digits, - and _."
        elif any(name == other.name for other in out):
            problem = f"Two sources in {SETTING} are called `{name}`."
        out.append(SourceEntry(name, kind, rest, problem))
    return out


def check_entries(text: str) -> None:
    """InvalidSetting for an entry of `sources.read` that could not be used."""
    for entry in entries(text):
        if entry.problem:
            raise InvalidSetting(entry.problem, hint="For example: notes=~/notes")
        if entry.kind not in ("folder", "holdfast"):
            _plugin_of(entry)


def registry_of(hub: HubMemory) -> Registry:
    """The sources that a hub is searched together with, created once while its store is open."""
    resources = hub.core.resources
    # Actors see different memories of a hub.
    place = ("sources", hub.id, hub.core.actor)
    if place not in resources:
        # Two threads may both make one; both use the first that is stored.
        resources.setdefault(place, _new_registry(hub))
    registry: Registry = resources[place]
    return registry


def _new_registry(hub: HubMemory) -> Registry:
    notes: list[str] = []
    members = [HubMember(hub), *_sources(hub, notes)]
    return Registry(members, budget_ms=hub.core.settings["sources.budget_ms"], notes=notes)


def _sources(hub: HubMemory, notes: list[str]) -> Iterator[MemorySource]:
    for entry in entries(hub.core.settings[SETTING]):
        try:
            source = open_source(entry, hub)
        except HoldfastError as error:
            notes.append(str(error))
            continue
        if source.primary:
            notes.append(f"The source `{entry.name}` wants to be the primary memory; it is not.")
        else:
            yield source


def open_source(entry: SourceEntry, hub: HubMemory) -> MemorySource:
    """The source that an entry names, for a hub."""
    if entry.problem:
        raise InvalidSetting(entry.problem, hint="For example: notes=~/notes")
    if entry.name == hub.name:
        raise InvalidSetting(
            f"The source `{entry.name}` has the name of the hub.", hint="Give it another name."
        )
    if entry.kind == "folder":
        from holdfast.sources.builtin import FolderSource

        return FolderSource(entry.name, _path(entry.where, hub.home))
    if entry.kind == "holdfast":
        from holdfast.sources.builtin import HoldfastSource

        home, _, name = entry.where.partition("#")
        folder = _path(home, hub.home)
        return HoldfastSource(entry.name, folder, name.strip(), asking=hub.core, asking_hub=hub.id)
    return _plugin(entry)


def _path(text: str, home: str) -> str:
    """A path as it was written in the settings: from the user's folder, or from the home folder."""
    return os.path.abspath(os.path.join(home, os.path.expanduser(text.strip())))


def _plugin_of(entry: SourceEntry) -> EntryPoint:
    from importlib.metadata import entry_points

    points = entry_points(group=SOURCES_GROUP)
    found = [point for point in points if point.name == entry.kind]
    if len(found) != 1:
        known = ", ".join(["folder", "holdfast", *sorted({point.name for point in points})])
        many = "Several kinds of source call themselves" if found else "There is no kind of source"
        raise InvalidSetting(
            f"{many} `{entry.kind}` (source `{entry.name}`).", hint=f"Installed are: {known}."
        )
    return found[0]


def _plugin(entry: SourceEntry) -> MemorySource:
    plugin = _plugin_of(entry)
    try:
        source: MemorySource = plugin.load()(entry.name, entry.where)
    # A plugin may raise anything.
    except Exception as error:
        raise InvalidSetting(
            f"The source `{entry.name}` could not be made: {error or type(error).__name__}.",
            hint=f"Its kind `{entry.kind}` comes from {plugin.value}.",
        ) from error
    return source


class Described(NamedTuple):
    """A source for a list of sources: what it is, what is in it, or why it cannot be used."""

    name: str
    kind: str
    where: str
    state: str = ""
    problem: str = ""


def described(hub: HubMemory) -> list[Described]:
    """The sources that the settings name, each opened to see its state."""
    out = []
    for entry in entries(hub.core.settings[SETTING]):
        shown = Described(entry.name, entry.kind, entry.where)
        try:
            source = open_source(entry, hub)
            # A plugin need not have `place` and `state`.
            shown = shown._replace(where=getattr(source, "place", entry.where))
            out.append(shown._replace(state=getattr(source, "state", str)()))
        except (HoldfastError, OSError) as error:
            out.append(shown._replace(problem=str(error)))
    return out


class HubMember:
    """The hub itself, as the primary member beside its sources."""

    primary = True

    def __init__(self, hub: HubMemory) -> None:
        self._hub = hub

    @property
    def name(self) -> str:
        return self._hub.name

    def search(self, query: str, limit: int) -> list[Excerpt]:
        return [
            Excerpt(
                hit.passage.text,
                f"#{hit.memory.number}",
                hit.memory.dated,
            )
            for hit in self._hub.recall(query, limit=limit, turns=False)
        ]
