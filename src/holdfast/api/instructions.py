"""The files in which people and agents keep instructions: CLAUDE.md, AGENTS.md, GEMINI.md, rules of
Cursor, and the folder in which Claude Code keeps its own memory. Each bullet and paragraph is a
statement, with the headings above it; a short example of code belongs to the statement before it.

The files on this machine are taken into hubs, and their edits followed: those of the person into
their own hub, those of a project into its hub. A run is one change set, of the same id in both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from glob import escape, glob
from typing import TYPE_CHECKING, Literal, NamedTuple

from holdfast.api.project import choose, hub_here, own_hub, project_of
from holdfast.domain.memory import Draft, Trust
from holdfast.engine.log import import_run
from holdfast.engine.transfer.imports import (
    ImportItem,
    Source,
    SourceStatement,
    Taken,
    followed_places,
)
from holdfast.errors import HoldfastError
from holdfast.files.memory_md import MarkdownItem as Line
from holdfast.files.memory_md.parse import parse
from holdfast.importers import IMPORTED, digest

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast

PROGRAM = "claude-md"
# Somebody's instructions to an agent; more is a document.
BYTES_MAX = 1_000_000
_CODE_CHARS_MAX = 1_000
_STATEMENT_CHARS_MIN = 3
_HEADING = re.compile(r"(#{1,6})[ \t]++(.+)")
# A line that includes another file, which says it itself.
_INCLUDED = re.compile(r"@[^\s@]+")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(description|globs|name|paths):[ \t]*(\S.*)$", re.MULTILINE)

# Below the home of a person, and below a project.
_OWN = (
    (".claude", "CLAUDE.md"),
    (".codex", "AGENTS.md"),
    (".gemini", "GEMINI.md"),
    (".config", "opencode", "AGENTS.md"),
)
_PROJECT = (
    "CLAUDE.md",
    os.path.join(".claude", "CLAUDE.md"),
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    os.path.join(".cursor", "rules", "*.mdc"),
    os.path.join(".cursor", "rules", "*.md"),
)


class InstructionFile(NamedTuple):
    """A file, and whether it is about the person, in all projects, or about one project. `trust`
    says who wrote it: a file of a project may be by anybody who writes to the repository."""

    path: str
    about: Literal["person", "project"]
    trust: Trust


def instruction_files(person: str, project: str | None) -> Iterator[InstructionFile]:
    """The files that are there: of the person with this home folder, and of a project. A link that
    leads out of the project is passed over, as it may come from anybody; one file under two names
    is read once."""
    seen: set[str] = set()
    for parts in _OWN:
        path = os.path.join(person, *parts)
        if os.path.isfile(path) and _first(path, seen):
            yield InstructionFile(path, "person", "user")
    if project is None:
        return
    root = os.path.realpath(project)
    for pattern in _PROJECT:
        for path in sorted(glob(os.path.join(escape(root), pattern))):
            inside = os.path.realpath(path).startswith(root + os.sep)
            if inside and os.path.isfile(path) and _first(path, seen):
                yield InstructionFile(path, "project", "agent")
    for path in sorted(glob(os.path.join(escape(_memory_folder(person, root)), "*.md"))):
        if os.path.isfile(path) and not os.path.islink(path) and _first(path, seen):
            yield InstructionFile(path, "project", "agent")


def _first(path: str, seen: set[str]) -> bool:
    real = os.path.realpath(path)
    is_first = real not in seen
    seen.add(real)
    return is_first


def _memory_folder(person: str, project: str) -> str:
    """The folder of Claude Code's own memory for a working folder."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", project)
    return os.path.join(person, ".claude", "projects", slug, "memory")


def read_statements(file: InstructionFile) -> list[SourceStatement]:
    """The text of a file of instructions; raises InvalidInput if it cannot be read."""
    from holdfast.importers.source_files import bounded, decoded, opened

    with opened(file.path) as data:
        text = decoded(bounded(data, file.path, BYTES_MAX), file.path)
    return statements(text, file)


def statements(text: str, file: InstructionFile) -> list[SourceStatement]:
    """The statements of a file of instructions, in order; one that comes twice in a section counts
    once."""
    matter = _FRONT_MATTER.match(text)
    fields = _FIELD.findall(matter[1]) if matter else []
    about = {name: value.rstrip() for name, value in fields}
    found: dict[str, SourceStatement] = {}
    for section, words in _parts(text[matter.end() :] if matter else text):
        heading = section.rpartition(" > ")[2]
        content = f"{heading}: {words}" if heading else words
        if len(words) < _STATEMENT_CHARS_MIN or _INCLUDED.fullmatch(words):
            continue
        item = _item(file, section, content, about)
        found.setdefault(item.id, SourceStatement(item, section))
    return list(found.values())


def _item(file: InstructionFile, section: str, content: str, about: dict[str, str]) -> ImportItem:
    origin = {"from": PROGRAM, "file": file.path, "section": section, **about}
    draft = Draft(
        content,
        layer="long_term",
        trust=file.trust,
        source="import",
        source_agent=os.path.basename(file.path),
        metadata={IMPORTED: {name: value for name, value in origin.items() if value}},
    )
    return ImportItem(digest(file.path, content), draft)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Each statement with its section: the headings above it below the title of the file."""
    headings: list[tuple[int, str]] = []
    section, waiting = "", ""
    for block in parse(text, whole=True).blocks:
        if isinstance(block, Line):
            if waiting:
                yield section, waiting
            waiting = block.content.strip()
            continue
        for piece in _pieces(block.raw):
            if heading := _HEADING.match(piece):
                if waiting:
                    yield section, waiting
                waiting = ""
                depth = len(heading[1])
                headings = [one for one in headings if one[0] < depth] + [
                    (depth, _words_of(heading[2]))
                ]
                section = " > ".join(words for level, words in headings if level > 1)
            elif _FENCE.match(piece) and len(piece) <= _CODE_CHARS_MAX:
                waiting = f"{waiting}\n{piece}" if waiting else piece
    if waiting:
        yield section, waiting


def _pieces(raw: str) -> Iterator[str]:
    """The headings and examples of code in a text that is no statement."""
    code: list[str] = []
    for line in raw.splitlines():
        if code:
            code.append(line)
            if _FENCE.match(line):
                yield "\n".join(code)
                code = []
        elif _FENCE.match(line):
            code = [line]
        elif _HEADING.match(line):
            yield line


def _words_of(heading: str) -> str:
    """A heading without the signs that may close it."""
    return heading.rstrip(" \t").rstrip("#").rstrip(" \t") or heading[0]


class FileReport(NamedTuple):
    """The outcome of one file of instructions; `note` says why it could not be read."""

    hub: str
    path: str
    taken: tuple[Taken, ...] = ()
    note: str = ""


def import_files(memory: Holdfast, person: str, folder: str, *, dry_run: bool) -> list[FileReport]:
    """Brings memory up to date with files of instructions, also with those that are gone since."""
    run = _Run(memory, folder, dry_run=dry_run)
    root = folder if project_of(folder) is None else _root_of(folder)
    found = list(instruction_files(person, root))
    reports = [run.take(file) for file in found]
    reports += run.take_gone({file.path for file in found}, person, root)
    run.finish()
    return reports


def take_back(memory: Holdfast, *, force: bool = False) -> dict[str, int]:
    """Undoes the last import of instructions in every hub; by hub, how many memories that were."""
    scopes = {hub.name: memory.hub(hub.name).scope for hub in memory.hubs()}
    runs = import_run.last_runs(scopes, PROGRAM)
    return {
        name: len(memory.hub(name).undo(run.change_id, force=force).memories)
        for name, run in runs.items()
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
        self._change = import_run.interrupted(scopes, PROGRAM) or memory.core.ids.next("chg")

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
        """The hub for files of the person or the project; in a dry run None if it is yet to be
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
