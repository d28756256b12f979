"""Secrets in the files that memories were made from: found, and on request taken away.

A file has its hash for a name, and nobody knows how to take a word out of every kind of it. So the
whole file goes, and the memory stays with its redacted text and a note. What could not be looked
into is told, and never passes for clean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from holdfast.domain.attachment import ATTACHMENT, attachment_of
from holdfast.domain.change import Receipt
from holdfast.engine import attached
from holdfast.engine.scan import Secret, for_everything
from holdfast.errors import HoldfastError
from holdfast.files.attachment_text import NotRead, plain_pieces, zip_pieces
from holdfast.files.attachments import HEAD_BYTES

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.files.attachments import Attachments

REMOVED = "its file was removed, as it held secrets"
# The name in a memory's metadata under which a removed file is told of; without its hash, as that
# would say that the bytes are here.
GONE = "attachment_removed"
# So many characters are looked at together.
_WINDOW = 1 << 20
# What reaches from one window into the next is seen whole: a private key has 3,000 characters.
_OVERLAP = 1 << 14

# The text of a book of some thousand pages; it comes in one line of another process.
_PDF_CHARS_MAX = 16_000_000

Note = Callable[[str], None]


def find_in_attachments(core: Core, hub_id: str, place: Attachments, note: Note) -> list[Secret]:
    """The secrets in the attached files of a hub; what was not looked into is noted."""
    return [
        secret for _, some in _found(for_everything(core), hub_id, place, note) for secret in some
    ]


def remove_attachments(core: Core, hub_id: str, place: Attachments, note: Note) -> int:
    """Removes the attached files that hold secrets, for good; returns how many that were."""
    core = for_everything(core)
    dirty = [digest for digest, some in _found(core, hub_id, place, lambda told: None) if some]
    for digest in dirty:
        with place.letting_go(digest), core.write(hub_id) as writer:
            for memory in attached.of_file(writer, hub_id, digest):
                attached.let_go(writer, hub_id, memory.id, digest, core.now())
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
    told = metadata.pop(ATTACHMENT)
    metadata[GONE] = {name: told[name] for name in ("name", "size", "media_type")}
    # What waits for its text would wait for ever.
    state = "active" if memory.state == "processing" else memory.state
    reason = REMOVED if state == "active" else memory.state_reason
    return memory._replace(metadata=metadata, state=state, state_reason=reason)


def _found(
    core: Core, hub_id: str, place: Attachments, note: Note
) -> Iterator[tuple[str, list[Secret]]]:
    for digest in sorted(set(place.present())):
        with core.read() as reader:
            memories = attached.of_file(reader, hub_id, digest)
        where, name = _called(memories, digest)
        times: Counter[str] = Counter()

        def told(reason: str, where: str = where) -> None:
            note(f"{where}: {reason}")

        try:
            with place.open(digest) as file:
                for kinds in _looked(core, _pieces(core, file, name, told)):
                    times += kinds
        except NotRead as error:
            told(f"it was not looked into: {error}")
        except (HoldfastError, OSError) as error:
            told(f"it could not be read: {error}")
        kinds_found = sorted(times.items())
        yield digest, [Secret(where, kind, n, False, True) for kind, n in kinds_found]


def _called(memories: list[Memory], digest: str) -> tuple[str, str]:
    """How a file is told of, and its name."""
    for memory in memories:
        file = attachment_of(memory.metadata)
        if file is not None and file.hash == digest:
            return f"file of #{memory.number} ({file.name})", file.name
    if memories:
        return f"older file of #{memories[0].number}", ""
    return "file that belongs to no memory", ""


def _pieces(core: Core, file: BinaryIO, name: str, note: Note) -> Iterable[str]:
    from holdfast.extract.kinds import kind_of

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

    # Its name would only say which kind of text it is.
    made = text_of(core, file, "file.pdf", _PDF_CHARS_MAX)
    if isinstance(made, Failed):
        raise NotRead(made.reason)
    if not made.text:
        raise NotRead(made.note or "there are no words in it")
    if made.note:
        note(f"it was not looked into as a whole: {made.note}")
    return [made.text]


def _looked(core: Core, pieces: Iterable[str]) -> Iterator[Counter[str]]:
    """How many secrets of which kind there are in each window of a text."""
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
