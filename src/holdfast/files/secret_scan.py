"""Finds secrets in the files of a hub, and in the files attached to memories; their text is read
piece by piece.

Files written by Holdfast (MEMORY.md, its pages, journals, archives) are cleaned; other files (the
hub's own files, anything else in its folder) are listed and left unchanged. An attachment with a
secret can be removed.
"""

from __future__ import annotations

import codecs
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn
from xml.parsers import expat

from holdfast.domain.change import Receipt
from holdfast.domain.memory import ATTACHMENT, attachment_of
from holdfast.engine.core import Core
from holdfast.engine.upkeep.secret_scan import Secret, for_everything, secrets_found, together
from holdfast.engine.writing import origins
from holdfast.engine.writing.edit import clear_purged
from holdfast.errors import HoldfastError
from holdfast.extract import ZipRefused, open_zip
from holdfast.files import attachments, conversation_archive, journal
from holdfast.files.attachments import HEAD_BYTES
from holdfast.files.journal.changes import day_of_name
from holdfast.files.journal.entries import JournalFolder
from holdfast.files.memory_md import FILE_NAME
from holdfast.files.memory_md.cache import COPY, drop_copy
from holdfast.files.memory_md.disk import page_names
from holdfast.files.memory_md.edit import forget_seen
from holdfast.files.memory_md.sync import Mirror
from holdfast.files.safe_read import open_regular
from holdfast.system.atomic_file import locked, real_path, write_atomic

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.files.attachments import Attachments


# A larger file is not text that somebody wrote, and would fill the memory.
_BYTES_MAX = 16_000_000


def find_in_files(place: JournalFolder) -> list[Secret]:
    """The secrets in the files below a hub's folder."""
    found: list[Secret] = []
    core, folder = for_everything(place.scope.core), place.folder
    with core.read() as reader:
        mirrored = {FILE_NAME, *page_names(reader, place.scope.hub_id)}
    for path in _paths(folder):
        text = _text(folder, path)
        if text is not None:
            core.redactor.take()
            core.redactor.text(text)
            ours = path in mirrored or day_of_name(path) is not None or _is_archive(folder, path)
            ours = ours or path == FILE_NAME + COPY
            found += secrets_found(core, path, fixable=ours)
    return together(found)


def clean_files(place: JournalFolder) -> list[str]:
    """Replaces secrets in files written by Holdfast; returns notes on those that could not be
    cleaned. The store was cleaned before, so both sides become equal."""
    notes: list[str] = []
    core, folder = place.scope.core, place.folder
    forget_seen(place.scope)
    for path in _paths(folder):
        text = _text(folder, path)
        if text is None or not core.redactor.found(text):
            continue
        day = day_of_name(path)
        try:
            if day is not None:
                notes += journal.sync_day(place, day)
            elif path == FILE_NAME + COPY:
                drop_copy(os.path.join(folder, FILE_NAME))
            elif _is_archive(folder, path):
                _clean_archive(core, folder, path)
        except (HoldfastError, OSError) as error:
            notes.append(str(error))
    memory_md = os.path.join(folder, FILE_NAME)
    if os.path.exists(memory_md):
        try:
            notes += Mirror(place.scope, memory_md).sync().notes
        except (HoldfastError, OSError) as error:
            notes.append(str(error))
    clear_purged(core, "The secrets are replaced")
    core.redactor.take()
    return notes


def _clean_archive(core: Core, folder: str, path: str) -> None:
    with locked(os.path.join(folder, conversation_archive.FOLDER)):
        text = _text(folder, path)
        if text is not None:
            write_atomic(os.path.join(folder, path), core.redactor.text(text), within=folder)


def _paths(folder: str) -> Iterator[str]:
    """Every file below the folder, relative to it; links are not followed."""
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.relpath(os.path.join(root, name), folder).replace(os.sep, "/")
            # Locks and stamps contain no text.
            if _is_attached(path) or name.startswith("."):
                continue
            if not os.path.islink(os.path.join(root, name)):
                yield path


def _is_attached(path: str) -> bool:
    front, _, name = path.rpartition("/")
    return len(name) == 64 and front == f"{attachments.FOLDER}/{name[:2]}"


def _text(folder: str, path: str) -> str | None:
    """The text of a file; None if it is not text."""
    try:
        full = real_path(os.path.join(folder, path), within=folder)
        with open_regular(full) as file:
            data = file.read(_BYTES_MAX + 1)
    except (OSError, HoldfastError):
        return None
    if len(data) > _BYTES_MAX or b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", "surrogateescape")


def _is_archive(folder: str, path: str) -> bool:
    return path.startswith(f"{conversation_archive.FOLDER}/") and conversation_archive.is_archive(
        os.path.join(folder, path)
    )


_PIECE = 1 << 18
# Larger than any file that is stored unchanged; scanning it takes a minute.
BYTES_MAX = 64_000_000
_XML = (".xml", ".rels", ".vml", ".xhtml", ".rdf")
_TEXT = (".txt", ".csv", ".json", ".md", ".html", ".htm", ".css", ".js", ".svg")
# Elements that may contain parts of a word; after other elements with text, a line ends.
_INLINE = frozenset(
    "t r span a hyperlink ins smartTag fldSimple sdt sdtContent ruby rubyBase customXml".split()  # noqa: SIM905
)
# Empty elements that represent a character.
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "line-break": "\n", "s": " "}
# Shorter values are flags, sizes and colours.
_VALUE_CHARS_MIN = 8

NoteUnread = Callable[[str], None]


class NotRead(Exception):
    """The file could not be scanned for secrets; the reason completes 'it was not looked into:
    …'."""


def plain_pieces(file: BinaryIO, note: NoteUnread) -> Iterator[str]:
    """The text of a text file. Undecodable bytes are replaced, because secrets are ASCII."""
    yield from _decoded(_bounded(file, BYTES_MAX, note))


def _decoded(pieces: Iterator[bytes]) -> Iterator[str]:
    decoder = None
    for data in pieces:
        if decoder is None:
            wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8-sig")("replace")
        yield decoder.decode(data)


def _bounded(file: Any, most: int, note: NoteUnread) -> Iterator[bytes]:
    left = most
    while left > 0 and (data := file.read(min(_PIECE, left))):
        left -= len(data)
        yield data
    if left <= 0 and file.read(1):
        note(f"only its first {most:,} bytes were looked at")


def zip_pieces(file: BinaryIO, note: NoteUnread) -> Iterator[str]:
    """The text of the parts of a zip file to scan for secrets; notes list the parts that were not
    scanned."""
    try:
        with open_zip(file) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            yield from _parts(archive, members, note)
    except ZipRefused as error:
        raise NotRead(str(error)) from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise NotRead("the archive is broken and cannot be opened") from None


def _parts(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], note: NoteUnread
) -> Iterator[str]:
    left = BYTES_MAX
    unread = 0
    for member in members:
        name = member.filename.lower()
        # Other compression methods may need any amount of memory at their first byte.
        packed = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if not packed or left <= 0 or not (name.endswith((*_XML, *_TEXT)) or name == "mimetype"):
            unread += 1
            continue
        try:
            with archive.open(member) as part:
                pieces = _bounded(part, left, note)
                yield from _xml(pieces) if name.endswith(_XML) else _decoded(pieces)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            unread += 1
        left -= member.file_size
        yield "\n"
    if unread:
        note(f"{unread} of the {len(members)} parts in it were not looked at, as pictures")


def _xml(pieces: Iterator[bytes]) -> Iterator[str]:
    """The words of XML, those of one paragraph together, and the values of attributes. What is not
    well-formed XML is returned unchanged."""
    words = _Words()
    broken = None
    for data in pieces:
        if broken is None:
            try:
                words.parser.Parse(data)
            except (expat.ExpatError, _Declared):
                broken = codecs.getincrementaldecoder("utf-8-sig")("replace")
            yield words.take()
        if broken is not None:
            yield broken.decode(data)
    yield words.take()
    yield "\n" + "\n".join(words.values)


class _Declared(Exception):
    """The XML declares entities, which may grow without end."""


class _Words:
    """Collects the text of one part."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._declared
        self.values: set[str] = set()
        self._heard: list[str] = []
        # For each open element, whether it has had text so far.
        self._spoke = [False]

    def take(self) -> str:
        out, self._heard = "".join(self._heard), []
        return out

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._spoke.append(False)
        for value in attributes.values():
            if len(value) >= _VALUE_CHARS_MIN:
                self.values.add(value)

    def _end(self, name: str) -> None:
        local = name.rpartition(":")[2]
        if self._spoke.pop():
            self._spoke[-1] = True
            if local not in _INLINE:
                self._heard.append("\n")
        elif local in _CHARACTERS:
            self._heard.append(_CHARACTERS[local])

    def _text(self, text: str) -> None:
        if text.strip():
            self._heard.append(text)
            self._spoke[-1] = True
        else:
            # White space with line ends between elements is formatting.
            self._heard.append("" if "\n" in text else text)

    def _declared(self, *about: object) -> NoReturn:
        raise _Declared


REMOVED = "its file was removed, as it held secrets"
# The metadata key that describes a removed file; without its hash, which would claim that the bytes
# are here.
GONE = "attachment_removed"
# The number of characters that are scanned together.
_WINDOW = 1 << 20
# A secret at the end of a window is complete in the overlap: a private key has 3,000 characters.
_OVERLAP = 1 << 14

# The text of a book of some thousand pages; it comes in one line of another process.
_PDF_CHARS_MAX = 16_000_000

Note = Callable[[str], None]


def find_in_attachments(core: Core, hub_id: str, place: Attachments, note: Note) -> list[Secret]:
    """The secrets in the attached files of a hub; files that could not be scanned are noted."""
    return [
        secret for _, some in _found(for_everything(core), hub_id, place, note) for secret in some
    ]


def remove_attachments(core: Core, hub_id: str, place: Attachments, note: Note) -> int:
    """Removes the attached files with secrets permanently; returns how many there were."""
    core = for_everything(core)
    dirty = [digest for digest, some in _found(core, hub_id, place, lambda text: None) if some]
    for digest in dirty:
        with place.letting_go(digest), core.write(hub_id) as writer:
            for memory in origins.of_file(writer, hub_id, digest):
                origins.let_go(writer, hub_id, memory.id, digest, core.now())
                file = attachment_of(memory.metadata)
                if file is not None and file.hash == digest:
                    writer.set_memory(_without_file(memory))
                    note(f"#{memory.number} stays, and {file.name} is removed for good")
                versions = len(writer.revisions(hub_id, memory.id))
                made = (memory.id, memory.number, core.now(), core.actor, REMOVED, versions)
                writer.add_receipt(hub_id, Receipt(*made))
    return len(dirty)


def _without_file(memory: Memory) -> Memory:
    metadata: dict[str, Any] = dict(memory.metadata)
    file = metadata.pop(ATTACHMENT)
    metadata[GONE] = {name: file[name] for name in ("name", "size", "media_type")}
    # A memory that waits for the text of its file would wait for ever.
    state = "active" if memory.state == "processing" else memory.state
    reason = REMOVED if state == "active" else memory.state_reason
    return memory._replace(metadata=metadata, state=state, state_reason=reason)


def _found(
    core: Core, hub_id: str, place: Attachments, note: Note
) -> Iterator[tuple[str, list[Secret]]]:
    for digest in sorted(set(place.present())):
        with core.read() as reader:
            memories = origins.of_file(reader, hub_id, digest)
        where, name = _describe(memories, digest)
        times: Counter[str] = Counter()

        def note_here(reason: str, where: str = where) -> None:
            note(f"{where}: {reason}")

        try:
            with place.open(digest) as file:
                for kinds in _count_by_window(core, _pieces(core, file, name, note_here)):
                    times += kinds
        except NotRead as error:
            note_here(f"it was not looked into: {error}")
        except (HoldfastError, OSError) as error:
            note_here(f"it could not be read: {error}")
        kinds_found = sorted(times.items())
        yield digest, [Secret(where, kind, n, False, True) for kind, n in kinds_found]


def _describe(memories: list[Memory], digest: str) -> tuple[str, str]:
    """The description of a file, and its name."""
    for memory in memories:
        file = attachment_of(memory.metadata)
        if file is not None and file.hash == digest:
            return f"file of #{memory.number} ({file.name})", file.name
    if memories:
        return f"older file of #{memories[0].number}", ""
    return "file that belongs to no memory", ""


def _pieces(core: Core, file: BinaryIO, name: str, note: Note) -> Iterable[str]:
    from holdfast.extract.readers import kind_of

    head = file.read(HEAD_BYTES)
    file.seek(0)
    media_type, family = kind_of(head, name)
    if family in ("text", "html"):
        return plain_pieces(file, note)
    if family == "zip":
        return zip_pieces(file, note)
    if family == "pdf":
        return _pdf(core, file, note)
    raise NotRead(f"it is of the type {media_type}")


def _pdf(core: Core, file: BinaryIO, note: Note) -> list[str]:
    from holdfast.extract.run import Failed, text_of

    # Its name would only identify the kind of text.
    made = text_of(core, file, "file.pdf", _PDF_CHARS_MAX)
    if isinstance(made, Failed):
        raise NotRead(made.reason)
    if not made.text:
        raise NotRead(made.note or "there are no words in it")
    if made.note:
        note(f"it was not looked into as a whole: {made.note}")
    return [made.text]


def _count_by_window(core: Core, pieces: Iterable[str]) -> Iterator[Counter[str]]:
    """The number of secrets of each kind in each window of a text."""
    held, seen = "", 0
    for piece in pieces:
        held += piece
        if len(held) >= _WINDOW:
            yield _kinds(core, held) - _kinds(core, held[:seen])
            held = held[-_OVERLAP:]
            seen = len(held)
    yield _kinds(core, held) - _kinds(core, held[:seen])


def _kinds(core: Core, text: str) -> Counter[str]:
    core.redactor.take()
    core.redactor.text(text)
    return Counter(core.redactor.take())
