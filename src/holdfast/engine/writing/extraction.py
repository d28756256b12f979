"""Memories whose text is added later: files to be read and links to be fetched.

They are stored at once, in state `processing`, found by their title, with a job that is enqueued in
the same transaction. The worker of the job passes the text to `finish`: it becomes a new version of
the memory, and the job ends in the same transaction. The text belongs to the change set that stored
the memory, so that one undo reverts both. `extract` reads the files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.memory import ATTACHMENT, PAGE, attachment_of, page_of
from holdfast.domain.query import Filter
from holdfast.domain.results import Duplicate, Remembered, Updated
from holdfast.engine import jobs
from holdfast.engine.core import Core, Scope
from holdfast.engine.writing import origins
from holdfast.engine.writing.drafts import GUARDED, derived_title
from holdfast.engine.writing.indexing import indexed
from holdfast.engine.writing.origins import address_of, is_made_from_same
from holdfast.engine.writing.recorder import Recorder
from holdfast.text import clean
from holdfast.text.classify import classify
from holdfast.text.classify.titles import summary_of
from holdfast.text.clean import clean_text
from holdfast.text.guard import instruction_shaped

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.memory import Draft, Memory
    from holdfast.engine.jobs import Job
    from holdfast.store.base import Reader, Writer

WORK = jobs.EXTRACT
# At most this many at a time; the rest waits for the next start.
_BATCH = 1_000
_WAITING = Filter(states=("processing",), forgotten=None, quarantined=None)
# Fields that the rules derive from the text, and derive again when the text has been extracted.
_PICKED = ("kind", "stability", "category", "tags")


class Made(NamedTuple):
    """The text of a file or a page. `note` tells a person that it was cut, or why there is none;
    `media_type` is the type that its bytes turned out to have."""

    text: str
    title: str = ""
    note: str = ""
    media_type: str = ""
    address: str = ""


# The beginning of a job


def begin(core: Core, writer: Writer, draft: Draft, result: Remembered) -> None:
    """Records the file or page of a memory, and enqueues the job that extracts its text if it needs
    one."""
    memory = result.memory
    if isinstance(result, Duplicate):
        return
    if draft.attachment is not None:
        bytes_max = core.settings["attachments.hub_bytes_max"]
        origins.attach(writer, memory, draft.attachment, core.now(), bytes_max=bytes_max)
    if memory.state != "processing":
        return
    before = result.previous if isinstance(result, Updated) else None
    if before and before.state == "processing" and is_made_from_same(before, memory):
        # It has a job already.
        return
    about: dict[str, Any] = {"memory": memory.id, "change": result.change}
    if draft.attachment is not None:
        about |= {"hash": draft.attachment.hash, "name": draft.attachment.name}
    elif draft.fetch:
        address = address_of(draft.content) or ""
        origins.bind_page(writer, memory, address, core.now())
        about |= {"address": address}
    else:
        return
    about["content_hash"] = memory.content_hash
    about["picked"] = {
        name: _plain(getattr(memory, name)) for name in _PICKED if getattr(draft, name) is None
    }
    jobs.enqueue(core, writer, memory.hub_id, WORK, about)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# The end of a job


def finish(core: Core, job: Job, made: Made) -> Memory | None:
    """Writes the text and ends the job. Raises Conflict if another worker took the job over; then
    nothing is written. Returns None if the memory was removed or has another file by now."""
    core = core.acting(sees_all=True)
    with core.read() as reader:
        seen = reader.memory(job.hub_id, job.about["memory"])
    # The text is embedded before the transaction begins.
    fields = {} if seen is None else _filled(core, job.about, seen, made)
    index = indexed(seen._replace(**fields), core) if seen and "content" in fields else None
    with core.write(job.hub_id) as writer:
        jobs.finish(core, writer, job)
        memory = writer.memory(job.hub_id, job.about["memory"])
        if memory is None or not _is_about(job.about, memory):
            return None
        if seen is None or memory.version != seen.version:
            fields, index = _filled(core, job.about, memory, made), None
        recorder = _recorder(core, writer, job, memory)
        # A forgotten memory gets its text too, and stays forgotten: it may be restored.
        memory = recorder.revise(memory, index, **fields)
    recorder.embed()
    return memory


def give_up(core: Core, job: Job, reason: str) -> None:
    """Ends a job of text extraction that cannot succeed: the memory stays, found by its title, with
    the reason."""
    core = core.acting(sees_all=True)
    with core.write(job.hub_id) as writer:
        jobs.give_up(core, writer, job, reason)
        lost(core, writer, job, reason)


def lost(core: Core, writer: Writer, job: Job, reason: str) -> None:
    """Marks a memory whose job of text extraction ended without a text."""
    memory = writer.memory(job.hub_id, job.about["memory"])
    if memory is None or memory.state != "processing" or not _is_about(job.about, memory):
        return
    fields: dict[str, Any] = {"state": "active", "state_reason": reason}
    if not memory.summary:
        fields["summary"] = f"There is no text of it: {reason}."
    _recorder(core, writer, job, memory).revise(memory, **fields)


def just_read(reader: Reader, hub_id: str, since: datetime) -> list[Memory]:
    """The memories whose text was added, or failed to be, since then. The text is part of an older
    change set, so a search for new change sets does not find it."""
    ids = reader.changed_after(hub_id, since)[:_BATCH]
    found = reader.memories_by_id(hub_id, ids) if ids else {}
    waited = [one for one in found.values() if ATTACHMENT in one.metadata or _is_link(one)]
    return [one for one in waited if one.state != "processing" and _was_waiting(reader, one)]


def _is_link(memory: Memory) -> bool:
    return memory.content_type == "link" and memory.version > 1


def _was_waiting(reader: Reader, memory: Memory) -> bool:
    last = reader.revisions(memory.hub_id, memory.id)[-1]
    return bool(last.fields.get("state", ("", ""))[0] == "processing")


def mend(core: Core) -> int:
    """Enqueues jobs again for memories that wait without one. If the file is missing, as after an
    import, the memory stops waiting and says so. Returns how many memories waited."""
    core = core.acting(sees_all=True)
    mended = 0
    with core.read() as reader:
        hubs = [hub for hub in reader.hubs() if hub.state == "active"]
    for hub in hubs:
        with core.read() as reader:
            waiting = reader.memories(hub.id, _WAITING, order="number", after=None, limit=_BATCH)
        if waiting:
            mended += _enqueue_missing(core, hub.id, waiting)
    return mended


def _enqueue_missing(core: Core, hub_id: str, waiting: Sequence[Memory]) -> int:
    mended = 0
    with core.write(hub_id) as writer:
        busy = {job.about.get("memory") for job in jobs.open_jobs(writer, hub_id, WORK)}
        for seen in waiting:
            memory = writer.memory(hub_id, seen.id)
            if memory is None or memory.state != "processing" or memory.id in busy:
                continue
            mended += 1
            change = writer.revisions(hub_id, memory.id)[-1].change_id
            about: dict[str, Any] = {"memory": memory.id, "change": change, "picked": {}}
            about["content_hash"] = memory.content_hash
            file = attachment_of(memory.metadata)
            if file is not None and origins.holds(writer, hub_id, memory.id, file.hash):
                about |= {"hash": file.hash, "name": file.name}
            elif address := page_of(memory.metadata) or address_of(memory.content):
                about |= {"address": address}
            else:
                job = jobs.Job("", hub_id, WORK, about, core.now())
                lost(core, writer, job, "its file is not here")
                continue
            jobs.enqueue(core, writer, hub_id, WORK, about)
    return mended


def _is_about(about: Mapping[str, Any], memory: Memory) -> bool:
    """Whether the memory still has the file that the job is about."""
    file = attachment_of(memory.metadata)
    return "hash" not in about or (file is not None and file.hash == about["hash"])


def _recorder(core: Core, writer: Writer, job: Job, memory: Memory) -> Recorder:
    """A recorder for the change set that stored the memory, or for a new one if that was purged."""
    change = writer.change(job.hub_id, job.about["change"])
    if change is not None:
        # The revision has the time of the text; the change set began before.
        change = change._replace(at=max(core.now(), memory.updated_at))
    # The recorder does not use the name of the hub.
    scope = Scope(core, job.hub_id, job.hub_id)
    return Recorder(scope, writer, "update", reason="its text was read", change=change)


def _filled(core: Core, about: Mapping[str, Any], memory: Memory, made: Made) -> dict[str, Any]:
    """The fields of the memory with its text."""
    fields: dict[str, Any] = {}
    note = made.note
    text = clean_text(clean.storable(made.text).strip())
    if "address" in about and text:
        # The address stays at the start: the memory is still a link, and found as one.
        text = f"{about['address']}\n\n{text}"
    text, cut = _within(text, core.settings["content.bytes_max"])
    if cut:
        note = f"{note}; {cut}" if note else cut
    if memory.content_hash not in (about["content_hash"], clean.content_hash(text)):
        note = "its content was changed by hand before its text was read"
    elif clean.is_visible(text):
        fields |= _with_words(memory, about, text, made)
    else:
        note = note or "there are no words in it"
        if not memory.summary:
            fields["summary"] = f"There is no text of it: {note}."
    if memory.state == "processing":
        fields |= {"state": "active", "state_reason": note}
    metadata = dict(memory.metadata)
    if made.media_type and ATTACHMENT in metadata:
        metadata[ATTACHMENT] = {**metadata[ATTACHMENT], "media_type": made.media_type}
    if "address" in about:
        metadata[PAGE] = {"asked": about["address"], "address": made.address}
    return {**fields, "metadata": metadata}


def _with_words(memory: Memory, about: Mapping[str, Any], text: str, made: Made) -> dict[str, Any]:
    fields: dict[str, Any] = {"content": text, "content_hash": clean.content_hash(text)}
    if made.title and "address" in about and memory.title == derived_title(memory):
        fields["title"] = made.title
    if memory.summary == summary_of(memory.content):
        fields["summary"] = summary_of(text)
    if "address" in about:
        # A page was written by strangers, even if the user gave its address.
        fields["trust"] = "tool"
    elif "hash" in about and memory.trust not in GUARDED:
        # Handing over a file does not vouch for every word in it, as typing a text does.
        fields["trust"] = "import"
    # The unchanged text, because the guard decodes what is hidden in it.
    fields["quarantine"] = instruction_shaped(clean.storable(made.text).strip()) or ""
    # Derived from the text alone: that it comes from a file says nothing about its kind.
    unset = [
        name for name, before in about["picked"].items() if _plain(getattr(memory, name)) == before
    ]
    # The given fields are inputs for the derived ones.
    given = {name: getattr(memory, name) for name in ("category", "kind") if name not in unset}
    picked = classify(text, title=memory.title, **given)
    return fields | {name: getattr(picked, name) for name in unset}


def _within(text: str, bytes_max: int) -> tuple[str, str]:
    """The text, cut at the largest size of a memory, and a note on that."""
    data = text.encode()
    if len(data) <= bytes_max:
        return text, ""
    kept = data[:bytes_max].decode("utf-8", "ignore").rstrip()
    return kept, f"only the first {len(kept):,} of its {len(text):,} characters are kept"
