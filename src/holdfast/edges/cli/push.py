"""`holdfast push`: stores files, folders, standard input and links. `import` takes folders too.

A file that is pushed again becomes a new version of its memory; unchanged files are skipped. PDFs,
office documents and images are stored as attachments, and a worker extracts their text later. A
manifest in the home folder lists the attachments of a folder that were sent.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.api.hub import HubMemory
from holdfast.client.files import Sent, read_record, record_file, write_record
from holdfast.domain.results import Duplicate, Updated
from holdfast.edges.cli.bind import Flags, flag
from holdfast.edges.cli.command import YES, Commands, Namespace, option, switch
from holdfast.edges.cli.files import show_report
from holdfast.edges.cli.output import counted, short
from holdfast.edges.cli.write import plain_result, show_result
from holdfast.errors import HoldfastError, InvalidInput, NotFound, StoreFull
from holdfast.files.documents import REMOVED, other_place, too_many
from holdfast.files.folder_walk import OTHER_KIND, Note, stamp_of
from holdfast.files.safe_read import open_regular, refuse_irregular

if TYPE_CHECKING:
    from holdfast.domain.results import Remembered
    from holdfast.edges.cli.call import Call
    from holdfast.files.documents import Report

COMMANDS = Commands()


# More new files than this need a confirmation.
_UNASKED = 10
# Files in one transaction, and in one request to a server.
_BATCH = 50
_BATCH_BYTES = 500_000
# Missing files named in a question: as many as a person reads before saying yes.
_NAMED = 5
# Types that a worker can extract text from, besides plain text.
_SUFFIXES = frozenset("pdf png jpg jpeg gif webp tif tiff bmp docx xlsx pptx".split())  # noqa: SIM905


def is_attachment(path: str) -> bool:
    """Whether a file is stored as an attachment, judged by its extension."""
    return os.path.splitext(path)[1].lstrip(".").lower() in _SUFFIXES


class Attachments:
    """The attachments in one folder, among the files that `index_files` skipped."""

    def __init__(self, call: Call, folder: str, report: Report) -> None:
        self._call = call
        self._place = other_place(folder)
        where = (call.server or "here", call.hub.id, self._place.name, "papers")
        self._record = record_file(call.home, *where)
        self._known = read_record(self._record)
        there = {
            note.path: stamp
            for note in report.skipped
            if note.reason == OTHER_KIND
            and is_attachment(note.path)
            and (stamp := self._stamp(note.path)) is not None
        }
        self._there = there
        self.new = [
            path
            for path, stamp in there.items()
            if path not in self._known or self._known[path].stamp != stamp
        ]
        # If a part of the folder could not be read, missing files prove nothing.
        self.gone = [] if report.unread else [path for path in self._known if path not in there]

    @property
    def many_gone(self) -> bool:
        return too_many(len(self.gone), len(self._known))

    def _stamp(self, path: str) -> tuple[int, int, int] | None:
        try:
            status = os.lstat(os.path.join(self._place.folder, path))
        except OSError:
            return None
        return stamp_of(status) if stat.S_ISREG(status.st_mode) else None

    def with_attachments(self, report: Report) -> Report:
        """Adds the attachments to the report of a dry run."""
        return report._replace(
            added=(*report.added, *(path for path in self.new if path not in self._known)),
            updated=(*report.updated, *(path for path in self.new if path in self._known)),
            unchanged=(*report.unchanged, *self._unchanged),
            removed=(*report.removed, *self.gone),
            skipped=self._others(report),
        )

    @property
    def _unchanged(self) -> list[str]:
        return [path for path in self._there if path not in self.new]

    def _others(self, report: Report) -> tuple[Note, ...]:
        return tuple(note for note in report.skipped if note.path not in self._there)

    def push(
        self, report: Report, *, remove: bool, progress: Callable[[int, int], None] | None = None
    ) -> Report:
        """Uploads new and changed attachments and, with `remove`, archives those that are missing.
        Returns the report with the attachments added."""
        outcomes: dict[str, list[str]] = {"added": [], "updated": [], "unchanged": self._unchanged}
        refused: list[Note] = []
        sent = dict(self._known)
        try:
            for done, path in enumerate(self.new, 1):
                try:
                    outcome, entry = self._send(path)
                except (InvalidInput, NotFound, StoreFull) as error:
                    refused.append(Note(path, _reason(error)))
                    continue
                sent[path] = entry
                outcomes[outcome].append(path)
                if progress is not None:
                    progress(done, len(self.new))
            removed = self._archive(sent) if remove else []
        finally:
            # Also after an error, so that uploaded files are not sent again.
            if sent != self._known:
                about = {"server": self._call.server, "folder": self._place.folder}
                write_record(self._record, about, sent)
        return report._replace(
            **{name: (*getattr(report, name), *paths) for name, paths in outcomes.items()},
            removed=(*report.removed, *removed),
            withheld=(*report.withheld, *(() if remove else self.gone)),
            skipped=self._others(report),
            refused=(*report.refused, *refused),
        )

    def _send(self, path: str) -> tuple[str, Sent]:
        full = os.path.join(self._place.folder, path)
        try:
            # A link that replaced the file in the meantime could lead anywhere.
            opened = open_regular(full, follow_links=False)
        except OSError as error:
            raise InvalidInput(f"It cannot be read: {error.strerror}.") from None
        with opened as file:
            result = self._call.hub.remember_file(
                file,
                name=os.path.basename(path),
                source_path=self._place.name + path,
                layer="library",
                source="import",
                trust=self._place.trust,
                stability="stable",
            )
        outcome = "added"
        if isinstance(result, Duplicate):
            outcome = "unchanged"
        elif isinstance(result, Updated):
            outcome = "updated"
        memory = result.memory
        return outcome, Sent(self._there[path], memory.content_hash, memory.id)

    def _archive(self, sent: dict[str, Sent]) -> list[str]:
        kept = {entry.memory for path, entry in sent.items() if path not in self.gone}
        out = []
        for path in self.gone:
            memory = sent.pop(path).memory
            if memory in kept:
                continue
            try:
                self._call.hub.archive(memory, reason=REMOVED)
            except NotFound:
                continue  # Already forgotten or purged, which is just as well.
            out.append(path)
        return out


def _reason(error: HoldfastError) -> str:
    plain = error.message.rstrip(".")
    return plain[:1].lower() + plain[1:]


class _Sorted(NamedTuple):
    """The arguments, sorted by what they are."""

    texts: list[str]
    attachments: list[str]
    folders: list[str]
    links: list[str]
    stdin: bool


_FIELDS = Flags(
    HubMemory.remember,
    only=("title", "category", "tags", "boundary", "fetch"),
    fetch=flag(about="of links, also get the pages"),
)


# Options for folders, which `import` takes too.
FOLDER_OPTIONS = (
    switch("--dry-run", "only say what would happen"),
    switch("--watch", "go on when files change"),
    YES,
)


@COMMANDS.add(
    "push",
    "holdfast push notes/ --watch",
    option("things", "THING", "files, folders, links; - or a pipe reads text", nargs="*"),
    _FIELDS,
    option("--hint", "TEXT", "what it is about, where rules would guess"),
    *FOLDER_OPTIONS,
    makes_hub=True,
)
def _push(call: Call, args: Namespace) -> None:
    """Store files, folders, links or standard input.

    In a folder, text and code are read, respecting .gitignore. More than 10 new files need
    a confirmation; unchanged files are not read again; memories of missing files are
    archived if you confirm it. PDFs, office files and pictures are stored, and read later.
    In a pipe, a line per memory as `remember` prints it, or per file as `index-files` does."""
    named = _sort(args.things)
    _refuse_mixtures(args, named)
    files = named.texts + named.attachments
    if len(files) > _UNASKED and not args.dry_run:
        call.confirm(f"Store {len(files)} files?")
    results = _push_single(call, args, named)
    if call.out.json and not named.folders:
        values = [plain_result(result) for result in results]
        if len(args.things) <= 1 and values:
            call.out.value(**values[0])
        else:
            call.out.value(values)
    elif not call.out.json:
        for result in results:
            show_result(call, result)
    if any(one.memory.content_type == "link" and one.memory.state == "active" for one in results):
        call.out.note("Only the address is kept; `holdfast push --fetch URL` gets the page too.")
    call.embed_left()
    if named.folders:
        push_folders(call, args, named.folders)
    elif args.watch:
        _watch(call, args, named.texts)


def _sort(things: Sequence[str]) -> _Sorted:
    out = _Sorted([], [], [], [], not things or list(things) == ["-"])
    if out.stdin:
        return out
    for thing in things:
        if thing == "-":
            raise InvalidInput("Standard input is pushed by itself, without files beside it.")
        if thing.lower().startswith(("http://", "https://")):
            out.links.append(thing)
        elif os.path.isdir(thing):
            out.folders.append(thing)
        elif os.path.basename(thing).startswith(".env"):
            raise InvalidInput(
                f"{thing} is not pushed: such files hold secrets.",
                hint="Push what you want remembered of it as text.",
            )
        elif os.path.exists(thing):
            # Unreadable files are reported before anything is stored or asked.
            refuse_irregular(thing)
            (out.attachments if is_attachment(thing) else out.texts).append(thing)
        elif "://" in thing:
            raise InvalidInput(
                f"{thing} is no link that can be pushed.",
                hint="Links begin with https:// or http://.",
            )
        else:
            raise NotFound(f"There is no file or folder {thing}.", hint="Check the name.")
    return out


def _refuse_mixtures(args: Namespace, named: _Sorted) -> None:
    single = len(named.texts) + len(named.attachments) + len(named.links) + named.stdin
    labels = ("title", "tags", "hint", "category", "boundary")
    given = [f"--{name.removesuffix('s')}" for name in labels if getattr(args, name)]
    if named.folders and given:
        raise InvalidInput(
            f"{given[0]} is for what is named by itself, not for a whole folder.",
            hint="Push the files one at a time, or the folder without it.",
        )
    if args.title and single > 1:
        raise InvalidInput("A title belongs to one memory.", hint="Push them one at a time.")
    if args.fetch and not named.links:
        raise InvalidInput("--fetch is for links, and none was named.")
    if args.watch and not (named.texts or named.folders):
        raise InvalidInput("--watch is for files and folders.", hint="Name one.")
    if args.dry_run and not named.folders:
        raise InvalidInput("--dry-run is for folders.", hint="Name one.")
    if named.folders and single and args.json:
        raise InvalidInput("With --json, folders are pushed by themselves.")
    if len(named.folders) > 1 and args.json:
        raise InvalidInput("With --json, one folder is pushed at a time.")
    if len(named.folders) > 1 and args.watch:
        raise InvalidInput("--watch follows one folder.", hint="Start one for each.")


# Files, links and standard input


def _push_single(call: Call, args: Namespace, named: _Sorted) -> list[Remembered]:
    drafts: list[dict[str, Any]] = []
    if named.stdin:
        drafts.append(_draft(args, _stdin(call)))
    drafts += [_draft(args, link, content_type="link", fetch=args.fetch) for link in named.links]
    results: list[Remembered] = []
    total = len(drafts) + len(named.texts) + len(named.attachments)
    with call.out.progress("push") as step:
        for path in named.texts:
            # The path decides whether it is a new version or a new memory.
            drafts.append(_file_draft(call, args, path))
            size = sum(len(draft["content"]) for draft in drafts)
            if len(drafts) >= _BATCH or size >= _BATCH_BYTES:
                results += call.hub.remember_many(drafts)
                drafts = []
                step(len(results), total)
        if drafts:
            results += call.hub.remember_many(drafts)
            step(len(results), total)
        for path in named.attachments:
            fields = _labels(args) | {"source": "cli", "layer": "library"}
            results.append(call.hub.remember_file(path, source_path=_place(path), **fields))
            step(len(results), total)
    return results


def _stdin(call: Call) -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidInput(
            "Say what to push.", hint="Name files, folders or links, or pipe text into it."
        )
    return call.read("-", "text")


def _draft(args: Namespace, content: str, **more: Any) -> dict[str, Any]:
    from holdfast.text.classify import read_hint

    hinted = read_hint(args.hint, content, more.get("source_path"))
    picked = {} if hinted is None else hinted._asdict()
    labels = _labels(args)
    return {"content": content, "source": "cli", "layer": "library", **picked, **labels, **more}


def _file_draft(call: Call, args: Namespace, path: str) -> dict[str, Any]:
    """A draft from a text file. Its words are its author's, so it gets the same trust as a folder's
    files."""
    return _draft(args, call.read(path, "a file"), source_path=_place(path), trust="import")


def _labels(args: Namespace) -> dict[str, Any]:
    given = {
        "title": args.title,
        "tags": args.tags,
        "category": args.category,
        "boundary": args.boundary,
    }
    return {name: value for name, value in given.items() if value is not None}


def _place(path: str) -> str:
    """The source path of a file: the same as when its folder is pushed."""
    return os.path.realpath(path).replace(os.sep, "/")


# Folders


def push_folders(call: Call, args: Namespace, folders: Sequence[str]) -> None:
    """Updates the hub from folders; with --watch, continuously."""
    for folder in folders:
        _push_folder(call, args, folder)
    if args.watch:
        _watch(call, args, folders)


def _push_folder(call: Call, args: Namespace, folder: str) -> None:
    coming = call.hub.index_files(folder, dry_run=True)
    attachments = Attachments(call, folder, coming)
    if args.dry_run:
        show_report(call, attachments.with_attachments(coming), dry_run=True)
        return
    new = len(coming.added) + len(attachments.new)
    if new > _UNASKED:
        call.confirm(f"Store {new} files of {folder}?")
    gone = [*coming.removed, *coming.withheld, *attachments.gone]
    remove = bool(gone) and call.offers(_question(gone))
    with call.out.progress("push") as step:
        report = call.hub.index_files(folder, remove=remove, remove_many=remove, progress=step)
        report = attachments.push(report, remove=remove, progress=step)
    show_report(call, report, dry_run=False)
    if report.withheld:
        call.out.note(
            f"{counted(len(report.withheld), 'file')} gone, and what they said stays. To archive"
            " it, run it again with --yes."
        )
    call.embed_left()


def _question(gone: Sequence[str]) -> str:
    names = ", ".join(short(path, 60) for path in gone[:_NAMED])
    more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
    return f"{counted(len(gone), 'file')} gone ({names}{more}). Archive what they said?"


def _watch(call: Call, args: Namespace, paths: Sequence[str]) -> None:
    from holdfast.files.folder_walk import watch_paths

    call.out.stdout.flush()
    call.out.note(f"Watching {', '.join(paths)}. Ctrl-C ends it.")
    for _ in watch_paths(paths):
        for path in paths:
            try:
                _repeat_pass(call, args, path)
            except HoldfastError as error:
                # An unreadable file or an unreachable server does not end the watch.
                call.out.note(str(error))
        call.out.stdout.flush()


def _repeat_pass(call: Call, args: Namespace, path: str) -> None:
    """Runs one more pass and prints only what changed."""
    if not os.path.isdir(path):
        if os.path.exists(path):
            for result in call.hub.remember_many([_file_draft(call, args, path)]):
                show_result(call, result)
        return
    # If very many files disappear at once, a disk was probably unmounted.
    report = call.hub.index_files(path, remove=args.yes)
    attachments = Attachments(call, path, report)
    report = attachments.push(report, remove=args.yes and not attachments.many_gone)
    if report.added or report.updated or report.removed or report.refused:
        show_report(call, report._replace(skipped=()), dry_run=False)
    call.embed_left()
