"""Which hub a working folder belongs to, chosen the same way by the command line, the MCP server
and the hooks: one for each git repository, the same for its worktrees and clones, found again when
the repository is moved or renamed and when the hub is. The person's own hub is read beside it.

The program git is not called: it may be missing, and takes longer than everything else. A clone
is recognised by the address of its remote; `projects.by_remote` switches that off, for repositories
that come from others with their `.git` folder.

`projects.json` in the home records the hub of each repository, by the hub's id.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from holdfast.domain.hub import DEFAULT_HUB
from holdfast.errors import InvalidInput, NotFound, StoreDamaged, StoreReadOnly
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.clean import HUB_NAME_CHARS_MAX, clean_hub_name

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast
    from holdfast.domain.hub import Hub

FILE_NAME = "projects.json"
_VERSION = 1
# Six hex digits distinguish the few repositories of one name, and can still be read aloud.
_MARK_DIGITS = 6
# Files that point elsewhere hold one path; a configuration has a few lines for each branch.
_POINTER_BYTES_MAX = 10_000
_CONFIG_BYTES_MAX = 1_000_000


class Project(NamedTuple):
    """A repository: its name, its real path, and the marks that identify it elsewhere."""

    name: str
    place: str
    # Marks of its remote and of the making of its folder; '' if there is none.
    remote: str = ""
    birth: str = ""


class ProjectEntry(NamedTuple):
    """A row of the file of projects: a repository and its hub."""

    place: str
    hub: str
    remote: str = ""
    birth: str = ""


class Chosen(NamedTuple):
    """The hub chosen for a working folder, and the reason for it. `hub` is None if it does not
    exist yet; `name` is what it is, or will probably be, called."""

    hub: HubMemory | None
    name: str
    why: str
    project: Project | None = None

    @property
    def own(self) -> HubMemory | None:
        """The person's own hub, if it is read beside the project's."""
        # A command elsewhere need not load the module of this kind of hub.
        own: HubMemory | None = getattr(self.hub, "own", None)
        return own


def hub_here(
    memory: Holdfast, *, named: str | None = None, folder: str | None = None
) -> tuple[HubMemory, str]:
    """The hub to use, created if it is missing, and the reason for it: the name given, that of
    HOLDFAST_HUB, the repository of the folder (the working one), or the person's own."""
    chosen = choose(memory, named=named, folder=folder, create=True)
    assert chosen.hub is not None
    return chosen.hub, chosen.why


def choose(
    memory: Holdfast,
    *,
    named: str | None = None,
    folder: str | None = None,
    create: bool = False,
) -> Chosen:
    """Chooses the hub for a working folder, by its repository; a missing one is created only with
    `create`."""
    settings = memory.core.settings
    if named:
        return _by_name(memory, named, "as named", create=create)
    if (origin := settings.origin("hub")).startswith("HOLDFAST_"):
        return _by_name(memory, settings["hub"], f"from {origin}", create=create)
    if not settings["projects.hubs"]:
        return _own(memory, "your own, as projects.hubs is off", create=create)
    project = project_of(os.getcwd() if folder is None else folder)
    if project is None:
        return _own(memory, "your own, as this is no git repository", create=create)
    why = f"of the repository {project.name}"
    if create:
        hub = _hub_of(memory, project)
    else:
        found = _known(memory, project, _load(os.path.join(memory.home, FILE_NAME)))
        if found is None:
            return Chosen(None, _as_hub_name(project.name), why, project)
        hub = found
    place = os.path.abspath(os.getcwd() if folder is None else folder)
    return Chosen(_with_own(memory, hub, place, create=create), hub.name, why, project)


def _by_name(memory: Holdfast, name: str, why: str, *, create: bool) -> Chosen:
    try:
        return Chosen(memory.hub(name, create=create), name, why)
    except NotFound:
        return Chosen(None, name, why)


def _own(memory: Holdfast, why: str, *, create: bool) -> Chosen:
    return _by_name(memory, memory.core.settings["hub"], why, create=create)


def _with_own(memory: Holdfast, hub: HubMemory, place: str, *, create: bool) -> HubMemory:
    """A project's hub with the person's own beside it, if there is one and both have the same
    owner."""
    found = _own(memory, "", create=create).hub
    from holdfast.api.project_hub import ProjectHub, may_stand_beside

    if found is None or not may_stand_beside(found.info, hub.info, memory.core):
        found = None
    return ProjectHub(memory.core, hub.info, memory.home, found, place=place)


def own_hub(memory: Holdfast) -> HubMemory | None:
    """The person's own hub; None if it does not exist yet."""
    return _own(memory, "", create=False).hub


def hub_before(memory: Holdfast, folder: str) -> HubMemory | None:
    """The hub of the repository that was at this place and is there no longer, as it was moved,
    renamed or deleted: the innermost, where one was inside another."""
    settings = memory.core.settings
    is_chosen = settings.origin("hub").startswith("HOLDFAST_")
    if not folder or is_chosen or not settings["projects.hubs"]:
        return None
    hubs = {hub.id: hub.name for hub in memory.hubs()}
    place = os.path.realpath(folder)
    found: dict[str, str] = {}
    for entry in _load(os.path.join(memory.home, FILE_NAME)):
        above, name = os.path.split(entry.place)
        root = above if name.startswith(".") else entry.place
        was_in_it = place == root or place.startswith(root + os.sep)
        if was_in_it and entry.hub in hubs and not os.path.isdir(entry.place):
            found[root] = hubs[entry.hub]
    if not found:
        return None
    return _with_own(memory, memory.hub(found[max(found, key=len)]), place, create=True)


def hub_of_past(memory: Holdfast, folder: str) -> HubMemory | None:
    """The hub of a folder in which something was said, even if its repository was moved since; None
    if the folder is gone and no repository of it is known."""
    if folder and os.path.isdir(folder):
        return hub_here(memory, folder=folder)[0]
    if (before := hub_before(memory, folder)) is not None:
        return before
    # A missing folder may have been part of an existing repository, such as a worktree.
    is_known = bool(folder) and project_of(folder) is not None
    return hub_here(memory, folder=folder)[0] if is_known else None


def hub_by_id(memory: Holdfast, hub_id: str, *, folder: str, is_named: bool) -> HubMemory | None:
    """The hub that was chosen for a folder earlier, by id; None if it was deleted."""
    names = {hub.id: hub.name for hub in memory.hubs()}
    if hub_id not in names:
        return None
    found = memory.hub(names[hub_id])
    if is_named or found.name == memory.core.settings["hub"]:
        return found
    return _with_own(memory, found, folder, create=True)


# The repository


def project_of(folder: str) -> Project | None:
    """The repository a folder is in; None if it is in none. One that is the home folder itself
    keeps somebody's settings: it is no project."""
    root = os.path.realpath(folder)
    home = os.path.realpath(os.path.expanduser("~"))
    while root != home:
        git = os.path.join(root, ".git")
        if os.path.isdir(git):
            return _project(os.path.basename(root), git)
        if os.path.isfile(git):
            shared = _shared_by(git)
            return _project(_name_of(shared), shared) if shared else _project_in(root)
        above = os.path.dirname(root)
        if above == root:
            return None
        root = above
    return None


def _project(name: str, git: str) -> Project:
    place = os.path.realpath(git)
    return Project(name, place, _remote_of(place), _birth_of(place))


def _project_in(root: str) -> Project:
    """The project of a submodule, or of a repository with its data elsewhere: its folder."""
    return Project(os.path.basename(root), root)


def _shared_by(file: str) -> str | None:
    """What a worktree shares with its repository. Both must point at each other: a `.git` file that
    came with an archive cannot make its folder a worktree of a repository of yours."""
    own = _path_in(file, "gitdir:")
    if own is None:
        return None
    shared = _path_in(os.path.join(own, "commondir"))
    back = _path_in(os.path.join(own, "gitdir"))
    if shared is None or back is None or os.path.realpath(back) != os.path.realpath(file):
        return None
    return shared if os.path.isdir(shared) else None


def _path_in(file: str, front: str = "") -> str | None:
    """The path in a file, relative to the file's folder."""
    text = _read(file, _POINTER_BYTES_MAX)
    if text is None or not text.startswith(front):
        return None
    path = text.removeprefix(front).strip()
    return os.path.join(os.path.dirname(file), path) if path and "\0" not in path else None


def _read(file: str, bytes_max: int) -> str | None:
    try:
        with open(file, "rb") as opened:
            data = opened.read(bytes_max)
    except OSError:
        return None
    return data.decode("utf-8", "replace")


def _name_of(git: str) -> str:
    """The name of a repository by its folder: `web/.git`, `web/.bare` and `web.git` are web."""
    folder, name = os.path.split(os.path.realpath(git))
    return os.path.basename(folder) if name.startswith(".") else name.removesuffix(".git")


def _remote_of(git: str) -> str:
    """A digest of the address of `origin`: the address itself may contain a password."""
    is_origin = False
    for line in (_read(os.path.join(git, "config"), _CONFIG_BYTES_MAX) or "").splitlines():
        line = line.strip()
        if line.startswith("["):
            is_origin = line.lower().replace(" ", "") == '[remote"origin"]'
        elif is_origin and re.match(r"url\s*=", line):
            url = line.partition("=")[2].strip()
            if os.path.isabs(url):
                # A clone of a repository on this machine is known by where that one is.
                inside = os.path.join(url, ".git")
                return _digest_of(os.path.realpath(inside if os.path.isdir(inside) else url))
            return _digest_of(_address(url))
    return ""


def _address(url: str) -> str:
    """The same for every way to reach one repository: `git@host:ada/web.git` is
    `https://host/ada/web`."""
    bare = re.sub(r"^[A-Za-z][\w+.-]*://", "", url)
    if bare == url:
        # As scp writes it, with a colon behind the host; a path of this machine stays as it is.
        bare = re.sub(r"^([^/@:]+@)?([\w.-]{2,}):(?!//)", r"\1\2/", url)
    bare = re.sub(r"^[^/@]*@", "", bare)
    return bare.removesuffix("/").removesuffix(".git")


def _birth_of(git: str) -> str:
    """A mark of the making of the folder. The number of a folder may be given again to a later one;
    the moment at which git wrote a file that it never writes again may not."""
    try:
        about = os.stat(git)
        made = os.stat(os.path.join(git, "description")).st_mtime_ns
    except OSError:
        return ""
    return _digest_of(f"{about.st_dev} {about.st_ino} {made}")


def _digest_of(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode(errors="replace")).hexdigest()[:32]


# Its hub


def _hub_of(memory: Holdfast, project: Project) -> HubMemory:
    file = os.path.join(memory.home, FILE_NAME)
    hub = _known(memory, project, _load(file))
    if hub is not None:
        return hub
    from holdfast.system.atomic_file import locked

    # Two agents that start at once in a new repository get one hub.
    with locked(file):
        entries = _load(file)
        hub = _known(memory, project, entries) or _make(memory, project, entries)
        alive = {one.id for one in memory.hubs()}
        kept = [one for one in entries if one.place != project.place and one.hub in alive]
        _save(file, [*kept, ProjectEntry(project.place, hub.id, project.remote, project.birth)])
    return hub


def _known(memory: Holdfast, project: Project, entries: list[ProjectEntry]) -> HubMemory | None:
    """The hub that this repository had, here or at an earlier path."""
    hubs = {hub.id: hub.name for hub in memory.hubs()}
    alive = [entry for entry in entries if entry.hub in hubs]
    here = [entry for entry in alive if entry.place == project.place]
    gone = [entry for entry in alive if not os.path.isdir(entry.place)]
    moved = [entry for entry in gone if project.birth and entry.birth == project.birth]
    others = alive if memory.core.settings["projects.by_remote"] else gone
    cloned = [
        entry
        for entry in others
        if project.remote and project.remote in (entry.remote, _digest_of(entry.place))
    ]
    for entry in (*here, *moved, *reversed(cloned)):
        return memory.hub(hubs[entry.hub])
    return None


def _make(memory: Holdfast, project: Project, entries: list[ProjectEntry]) -> HubMemory:
    # Where the file system does not tell a and A apart, their hubs' folders would be one.
    hubs = {hub.name.casefold(): hub for hub in memory.hubs()}
    claimed = {entry.hub for entry in entries}
    kept = {DEFAULT_HUB, memory.core.settings["hub"].casefold()}
    for name in _names(project):
        found = hubs.get(name.casefold())
        if name.casefold() in kept or (found is not None and found.id in claimed):
            continue
        # One in which nothing ever was is left from a start that was cut off. One that somebody
        # filled is theirs, even where a repository has its name.
        if found is None or (found.name == name and _is_left_over(memory, found)):
            return memory.hub(name, create=True)
    raise AssertionError("names do not run out")


def _is_left_over(memory: Holdfast, hub: Hub) -> bool:
    from holdfast.engine.hubs import is_unused

    with memory.core.read() as reader:
        return hub.owner == memory.core.actor and is_unused(reader, hub)


def _names(project: Project) -> list[str]:
    """Names for a hub: the repository's name, then with a digest, then with numbers."""
    plain = _as_hub_name(project.name)
    marked = f"{plain}-{_digest_of(project.remote or project.place)[:_MARK_DIGITS]}"
    return [plain, marked, *(f"{marked}-{number}" for number in range(2, 1000))]


def _as_hub_name(name: str) -> str:
    room = HUB_NAME_CHARS_MAX - _MARK_DIGITS - len("--999")
    fitted = re.sub(r"[^\w.-]+|\.{2,}", "-", name)[:room].strip(".-") or "project"
    try:
        return clean_hub_name(fitted)
    except InvalidInput:
        # A name that Windows keeps for itself, or marks without a letter.
        return clean_hub_name("project-" + re.sub(r"[^A-Za-z0-9-]", "-", fitted).strip("-"))


def _load(file: str) -> list[ProjectEntry]:
    import json

    try:
        with open(file, encoding="utf-8") as opened:
            found = json.load(opened)
    except FileNotFoundError:
        return []
    except PermissionError:
        raise StoreReadOnly(f"{file} cannot be read.", hint="Check who owns it.") from None
    except ValueError:
        raise _damaged(file) from None
    try:
        return [
            ProjectEntry(row["place"], row["hub"], row.get("remote", ""), row.get("birth", ""))
            for row in found["projects"]
        ]
    except (TypeError, KeyError, AttributeError):
        raise _damaged(file) from None


def _damaged(file: str) -> StoreDamaged:
    # Beginning anew would give every repository a new hub, which looks like lost memory.
    return StoreDamaged(
        f"{file} cannot be understood; it says which repository has which hub.",
        hint="Mend it, or move it away and name the hub.",
        command="Mend it, or move it away and name the hub with --hub.",
    )


def _save(file: str, entries: list[ProjectEntry]) -> None:
    import json

    from holdfast.system.atomic_file import write_atomic

    rows = [entry._asdict() for entry in entries]
    write_atomic(file, json.dumps({"version": _VERSION, "projects": rows}, indent=1) + "\n")
