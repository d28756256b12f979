"""Archives conversations: as a Markdown file that people read, and as a memory that search finds.

An agent archives while it compacts its context and must not be interrupted, so any problem becomes
a note in the result, never an error. A session has one archive, to which later messages are added;
archived messages are never removed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from typing import Any, NamedTuple

from holdfast import engine
from holdfast.domain.memory import Draft, Memory
from holdfast.domain.query import Filter
from holdfast.domain.records import Turn
from holdfast.engine.log.turns import clean_session
from holdfast.engine.reading.lookup import Reference
from holdfast.engine.traces import Withheld
from holdfast.engine.writing.redact import Redactor
from holdfast.errors import AlreadyExists, HoldfastError, InvalidInput, StoreReadOnly
from holdfast.files import conversation_archive_format
from holdfast.files.conversation_archive_format import Message
from holdfast.files.journal.entries import JournalFolder
from holdfast.files.safe_read import open_regular
from holdfast.system.atomic_file import locked, real_path, write_atomic
from holdfast.text import clean
from holdfast.text.private import without_private, without_private_sides

FOLDER = "conversations"
# More than any context window holds; if there are more, the newest are archived.
MESSAGES_MAX = 10_000
_TITLE_CHARS_MAX = 200
# An archive of that many messages of 2,000 characters is smaller.
_FILE_BYTES_MAX = 100_000_000
# The title and the session are at the beginning; both are bounded.
_OPENING_CHARS = 20_000
# The most archives with the same name on one day.
_NAMES_MAX = 1_000


class Archived(NamedTuple):
    """The result of archiving a conversation: the memory and the file's path. If one of them is
    missing, the notes say why."""

    memory: Memory | None
    path: str | None
    notes: tuple[str, ...] = ()


def archive_conversation(
    place: JournalFolder,
    session: str,
    *,
    messages: Iterable[Any] | None = None,
    name: str | None = None,
    at: datetime | str | None = None,
) -> Archived:
    """Archives the given messages, or else the session's turns in the log. Never raises."""
    notes: list[str] = []
    memory = path = None
    try:
        # Checked before the file is written: the memory comes after it.
        place.scope.require("write")
        job = _job(place, session, messages, name, at, notes)
        if job is not None:
            with ExitStack() as held:
                every = job.messages
                if _holds_lock(place, held, notes):
                    path, every = _write_file(place, job, notes)
                memory = _remember(place, job, path, every)
                if memory is not None and memory.quarantine:
                    notes.append(
                        f"Its summary, #{memory.number}, is held for review: it "
                        f"{memory.quarantine}. A person decides with `holdfast review`."
                    )
    except (HoldfastError, OSError) as error:
        notes.append(str(error))
    return Archived(memory, os.path.join(place.folder, path) if path else None, tuple(notes))


def files_of(place: JournalFolder, references: Sequence[Reference]) -> list[str]:
    """The archives of these memories, relative to the hub's folder."""
    if not os.path.isdir(os.path.join(place.folder, FOLDER)):
        return []
    with place.scope.read() as reader:
        found = [
            engine.lookup.find_memory(reader, place.scope, one, forgotten=True)
            for one in references
        ]
    paths = (memory.source_path or "" for memory in found)
    return [path for path in paths if path.startswith(f"{FOLDER}/")]


def remove(place: JournalFolder, files: Sequence[str]) -> None:
    """Removes archives after their memory was purged, unless another memory has them now."""
    for relative in files:
        with place.scope.core.store.read() as reader:
            if reader.memory_by_path(place.scope.hub_id, relative) is not None:
                continue
        path = real_path(os.path.join(place.folder, relative), within=place.folder)
        if is_archive(path):
            try:
                os.unlink(path)
            except OSError as error:
                raise StoreReadOnly(
                    f"The memory is purged, but its file {path} stays: {error.strerror}.",
                    hint="Remove it yourself.",
                ) from None


def cut_turns(place: JournalFolder, turns: Sequence[Turn]) -> None:
    """Removes turns that are about to be deleted from the archives of their sessions, and deletes
    archives that become empty."""
    said = {turn.id: turn.content for turn in turns}
    for session in {turn.session for turn in turns if turn.session is not None}:
        wanted = Filter(
            states=(),
            categories=("conversation",),
            session=session,
            forgotten=None,
            quarantined=None,
        )
        found = engine.listing.scan_memories(place.scope, wanted)
        paths = {one.source_path or "" for one in found}
        for path in (one for one in paths if one.startswith(f"{FOLDER}/")):
            with locked(os.path.join(place.folder, FOLDER)):
                text = _read(place, path)
                if text is None or conversation_archive_format.session_of(text) != session:
                    continue
                left = conversation_archive_format.without(text, said)
                if left is None:
                    os.unlink(real_path(os.path.join(place.folder, path), within=place.folder))
                elif left != text:
                    write_atomic(os.path.join(place.folder, path), left, within=place.folder)


def remove_all(folder: str) -> None:
    """Removes the archives of a deleted hub; other files in their folder stay."""
    place = os.path.join(folder, FOLDER)
    with suppress(OSError):
        for name in os.listdir(place):
            path = os.path.join(place, name)
            if name.endswith(".md") and is_archive(path):
                os.unlink(path)
        os.rmdir(place)
    with suppress(OSError):
        os.unlink(os.path.join(folder, f".{FOLDER}.lock"))


def is_archive(path: str) -> bool:
    """Whether a file is an archive of a conversation that Holdfast wrote."""
    with (
        suppress(OSError, ValueError, InvalidInput),
        open_regular(path) as file,
        io.TextIOWrapper(file, encoding="utf-8") as text,
    ):
        return conversation_archive_format.session_of(text.read(_OPENING_CHARS)) is not None
    return False


class _Job(NamedTuple):
    session: str
    messages: list[Message]
    times: list[datetime]
    title: str
    name: str
    day: str
    before: Memory | None


def _job(
    place: JournalFolder,
    session: str,
    given: Iterable[Any] | None,
    name: str | None,
    at: datetime | str | None,
    notes: list[str],
) -> _Job | None:
    checked = clean_session(session)
    if checked is None:
        raise InvalidInput("Name the session that is to be archived.")
    if not isinstance(name, (str, type(None))):
        raise InvalidInput(f"The name must be text, not {type(name).__name__}.")
    if given is not None and not isinstance(given, Iterable):
        raise InvalidInput(f"The messages must be a list, not {type(given).__name__}.")
    moment = clean.clean_time(at) or place.scope.now()
    with place.scope.core.store.read() as reader:
        place.scope.require_hub(reader)
    redactor = place.scope.core.redactor
    checked, name = redactor.text(checked), redactor.text(name or "")
    turns = _from_log(place, checked) if given is None else _from_caller(redactor, given, notes)
    if len(turns) > MESSAGES_MAX:
        notes.append(f"Of {len(turns):,} messages the newest {MESSAGES_MAX:,} were archived.")
        turns = turns[-MESSAGES_MAX:]
    if not turns:
        notes.append(f"There is nothing to archive: the session {checked!r} has no messages.")
        return None
    turns = _without_echo(place, turns)
    title = conversation_archive_format.bare(name) or _title(turns)
    return _Job(
        checked,
        [
            conversation_archive_format.message_of(
                turn.id, turn.role.capitalize(), turn.content, source=turn.source, at=turn.at
            )
            for turn in turns
        ],
        [turn.at for turn in turns if turn.at is not None],
        title,
        conversation_archive_format.slug_of(title) or f"conversation-{moment:%H%M}",
        moment.date().isoformat(),
        _memory_of(place, checked),
    )


# Messages


class _Said(NamedTuple):
    id: str
    role: str
    content: str
    source: str = ""
    at: datetime | None = None


def _from_log(place: JournalFolder, session: str) -> list[_Said]:
    with place.scope.core.store.read() as reader:
        found = reader.turns(place.scope.hub_id, limit=MESSAGES_MAX, session=session)
        shown = Withheld(reader, place.scope).shown_turns(reversed(found))
    return [_said(turn) for turn in shown]


def _said(turn: Turn) -> _Said:
    source = "" if turn.source == "unknown" else turn.source
    # What a tool or a document said is not under the user's name.
    return _Said(turn.id, turn.voice, turn.content, source, turn.at)


def _from_caller(redactor: Redactor, given: Iterable[Any], notes: list[str]) -> list[_Said]:
    """The messages that can be read; a note counts the others. A reply may not repeat what
    the message before it says in private."""
    out: list[_Said] = []
    unreadable = 0
    asker = asked = ""
    for item in given:
        said = _said(item) if isinstance(item, Turn) else _message(item)
        if said is None:
            unreadable += 1
            continue
        shown = without_private(said.content)
        if shown != said.content or said.role == asker:
            asker, asked = said.role, said.content
        else:
            shown = without_private_sides(asked, said.content)[1]
        said = said._replace(content=shown)
        if clean.is_visible(said.content):
            out.append(redactor.row(said))
    spoken = redactor.conversation([said.content for said in out])
    out = [said._replace(content=text) for said, text in zip(out, spoken, strict=True)]
    if unreadable:
        noun = "message was" if unreadable == 1 else "messages were"
        notes.append(
            f"{unreadable} {noun} left out: no role and text, or characters that are none."
        )
    ids = conversation_archive_format.ids_of((said.role, said.content) for said in out)
    return [said if said.id else said._replace(id=id_) for said, id_ in zip(out, ids, strict=True)]


def _without_echo(place: JournalFolder, turns: list[_Said]) -> list[_Said]:
    """The messages without echoes of memory. Their ids are those of the original messages, so that
    the same message is recognised when the memory has changed."""
    core, hub_id = place.scope.core, place.scope.hub_id
    return [
        turn._replace(content=engine.detect.with_echo_marked(core, hub_id, turn.content))
        for turn in turns
    ]


def _message(item: Any) -> _Said | None:
    if isinstance(item, Mapping):
        role, content = item.get("role"), _text(item.get("content"))
        source, at = item.get("source"), item.get("at")
    elif isinstance(item, (tuple, list)) and len(item) == 2:
        role, content, source, at = item[0], _text(item[1]), None, None
    else:
        return None
    if not isinstance(role, str) or not role.strip():
        return None
    try:
        clean.clean_content(content)
        moment = clean.clean_time(at)
    except InvalidInput:
        return None
    return _Said("", role.strip(), content, source if isinstance(source, str) else "", moment)


def _text(content: Any) -> str:
    """The text of a message: a string, or a list of parts of which some are text."""
    if isinstance(content, (list, tuple)):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        return "\n\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _title(turns: list[_Said]) -> str:
    from holdfast.text.classify.titles import title_of, topic_of

    said = [turn.content for turn in turns if turn.role.lower() == "user"]
    return title_of(topic_of(said) or (said or [turns[0].content])[0])


# The file


def _holds_lock(place: JournalFolder, held: ExitStack, notes: list[str]) -> bool:
    """Tries to take the folder's lock; if that is impossible, nothing can be written there."""
    try:
        held.enter_context(locked(os.path.join(place.folder, FOLDER)))
    except HoldfastError as error:
        notes.append(f"There is no file of it: {error}")
        return False
    return True


def _write_file(
    place: JournalFolder, job: _Job, notes: list[str]
) -> tuple[str | None, list[Message]]:
    """The archive's path, relative to the hub's folder, and all its messages."""
    try:
        relative, old = _file_of(place, job)
        if old is None:
            new = conversation_archive_format.make(job.title, job.session, job.day, job.messages)
        else:
            new = conversation_archive_format.add(old, job.messages)
        if new != old:
            write_atomic(os.path.join(place.folder, relative), new, within=place.folder)
        return relative, conversation_archive_format.read(new)
    except (HoldfastError, OSError) as error:
        notes.append(f"There is no file of it: {error}")
        return None, job.messages


def _file_of(place: JournalFolder, job: _Job) -> tuple[str, str | None]:
    """The path of the session's archive, existing or new, and its text."""
    known = job.before.source_path if job.before else None
    if known and known.startswith(f"{FOLDER}/"):
        return known, _read(place, known)
    for number in range(1, _NAMES_MAX):
        ending = "" if number == 1 else f"-{number}"
        relative = f"{FOLDER}/{job.day}-{job.name}{ending}.md"
        text = _read(place, relative)
        ours = text is None or conversation_archive_format.session_of(text) == job.session
        if ours and not _is_of_other_memory(place, relative):
            return relative, text
    raise AlreadyExists(f"There are too many archives named {job.name} of {job.day}.")


def _is_of_other_memory(place: JournalFolder, relative: str) -> bool:
    """Whether the file belongs to a memory, forgotten or not, that the caller may not see."""
    wanted = Filter(states=(), came_from=relative, forgotten=None, quarantined=None)
    with place.scope.core.store.read() as reader:
        found = reader.memories(
            place.scope.hub_id, wanted, order="number", after=None, limit=_NAMES_MAX
        )
    return any(one.source_path == relative and not place.scope.core.sees(one) for one in found)


def _read(place: JournalFolder, relative: str) -> str | None:
    path = real_path(os.path.join(place.folder, relative), within=place.folder)
    try:
        with open_regular(path) as file:
            data = file.read(_FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    if len(data) > _FILE_BYTES_MAX:
        raise InvalidInput(f"{path} is larger than an archive can be.", hint="Move it away.")
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8 text.", hint="Mend it or move it away.") from None


# The memory


def _memory_of(place: JournalFolder, session: str) -> Memory | None:
    wanted = Filter(states=(), categories=("conversation",), session=session)
    for memory in engine.listing.scan_memories(place.scope, wanted):
        if (memory.key or "").startswith("conversation-"):
            return memory
    return None


def _remember(place: JournalFolder, job: _Job, path: str | None, every: list[Message]) -> Memory:
    before = job.before
    draft = Draft(
        content=conversation_archive_format.summary_of(every) or job.title,
        title=before.title if before else job.title[:_TITLE_CHARS_MAX],
        key=before.key if before else _free_key(place, job),
        category="conversation",
        content_type="text",
        layer="library",
        # It includes the output of tools and pages, so it is not the user's own words.
        trust="agent",
        session=job.session,
        source_path=path,
        occurred_at=_earliest(before, job),
        occurred_until=max(job.times, default=None),
    )
    result = engine.remember.remember(place.scope, draft)
    return result.memory


def _earliest(before: Memory | None, job: _Job) -> datetime | None:
    known = [before.occurred_at] if before and before.occurred_at else []
    return min([*known, *job.times], default=None)


def _free_key(place: JournalFolder, job: _Job) -> str:
    wanted = f"conversation-{job.day}-{job.name}"
    with place.scope.core.store.read() as reader:
        for number in range(1, _NAMES_MAX):
            key = wanted if number == 1 else f"{wanted}-{number}"
            other = reader.memory_by_key(place.scope.hub_id, key)
            if other is None:
                return key
    raise AlreadyExists(f"There are too many memories with the key {wanted}.")
