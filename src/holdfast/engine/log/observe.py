"""Logs an observed turn and, if the journaler is on, enqueues a job for it, in one transaction. The
agent's reply waits for this, so it does nothing else; `passes` processes the turn later.

Also records which turns were processed, for `flush`, which reads the log later.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_text
from holdfast.domain.records import Record, is_own_word
from holdfast.domain.results import MODES, Noted, Observed
from holdfast.engine import jobs
from holdfast.engine.core import Core, Scope
from holdfast.engine.log import import_run as runs
from holdfast.engine.log import log_rules
from holdfast.engine.log.turns import (
    UNKNOWN_SOURCE,
    AlreadyLogged,
    SetAside,
    add_turns,
    last_said,
    logged_roles,
    made_turn,
    note_logged,
    turn_name,
)
from holdfast.engine.upkeep import capture_stats
from holdfast.errors import InvalidInput
from holdfast.text import clean
from holdfast.text.private import without_private, without_private_sides

if TYPE_CHECKING:
    from holdfast.domain.records import Turn
    from holdfast.store.base import Reader, Writer

# A person rarely types more; longer text was pasted, and its beginning is enough to process.
USER_CHARS_MAX = 12_000
# Answers are searched for agreements, not for explanations.
ASSISTANT_CHARS_MAX = 8_000
# The question is at the end of the previous message.
QUESTION_CHARS_MAX = 400
_SEEN, _SEEN_LAST = "seen-turns", "last"
# At least so many are known: twice as many as a flush reads.
SEEN_MAX = 400
# In records of so many, so that a turn writes the last few of them again and not all.
_SEEN_EACH = 25
# The reason if a turn is only logged because automatic memory is off.
SWITCHED_OFF = "shadowJournal.enabled is false"
# Turns with the words of a tool or a document are logged, but no facts are taken from them.
_OWN_WORDS = ("user", "agent")
# The reason if a turn with a known name was not logged again.
KNOWN = "it was logged already"


def observe(
    scope: Scope,
    user: str | None,
    assistant: str | None,
    *,
    mode: str = "current",
    session: str | None = None,
    source: str = UNKNOWN_SOURCE,
    at: datetime | str | None = None,
    turn: str | None = None,
    noted: str | None = None,
    speaker: str | None = None,
    trust: str | None = None,
    folder: str | None = None,
    import_run: str | None = None,
) -> Observed:
    """Logs both sides of a turn, and queues it for the journaler if that is enabled and this is a
    real conversation. `turn` names it in its session: a side that was logged under this name is not
    logged again. `noted` is the part of the user's words that the journaler is given. `import_run`
    is the change set of the import that the turn belongs to."""
    mode = clean.one_of(mode, MODES, "mode")
    said, empty = _sides(user, assistant)
    if empty:
        return Observed(reason=empty)
    noted = noted if noted is None else without_private(noted)
    name = turn_name(turn)
    said, asked, aside = _still_to_log(scope, said, name, session, folder, import_run)
    if aside:
        return Observed(reason=aside)
    scope.settings.refresh()
    question = asked.content if asked else ""
    turns = _turns(
        scope, said, question, source=source, session=session, at=at, speaker=speaker, trust=trust
    )
    reason = _why_not_noted(scope.core, mode, noted, turns[0])
    dropped: list[jobs.Job] = []

    def also(writer: Writer) -> None:
        where = {"session": session, "folder": folder}
        if why := log_rules.why_not(writer, scope.hub_id, **where, now=scope.now()):
            raise SetAside(why)
        if name:
            roles = [turn.role for turn in turns]
            note_logged(scope.core, writer, scope.hub_id, session, name, roles)
        dropped[:] = (
            []
            if reason
            else _queue(scope.core, writer, turns, noted, _to_answer(asked), import_run)
        )
        if reason and reason != SWITCHED_OFF:
            # So that a flush does not process it as the words of a person.
            mark_seen(
                scope.core, writer, scope.hub_id, [turn.content for turn in turns if _is_user(turn)]
            )

    try:
        add_turns(scope, turns, also, is_reply=import_run is None)
    except AlreadyLogged:
        # Another process logged it first; nothing was written.
        return Observed(reason=KNOWN)
    except SetAside as since:
        return Observed(reason=str(since))
    return Observed(tuple(turns), not reason, reason, len(dropped))


def _sides(user: str | None, assistant: str | None) -> tuple[dict[str, str], str]:
    """Both sides without private passages; and if nothing is left, the reason."""
    said = {"user": _text(user), "assistant": _text(assistant)}
    if not any(said.values()):
        return said, "both messages are empty"
    sides = without_private_sides(said["user"], said["assistant"])
    said = {role: _text(text) for role, text in zip(said, sides, strict=True)}
    return said, "" if any(said.values()) else log_rules.PRIVATE


def _still_to_log(
    scope: Scope,
    said: dict[str, str],
    name: str,
    session: str | None,
    folder: str | None,
    import_run: str | None,
) -> tuple[dict[str, str], Turn | None, str]:
    """The sides of a turn without those that were logged under its name; the turn that it may
    answer; and if nothing is left, the reason."""
    with scope.core.read() as reader:
        aside = log_rules.why_not(
            reader, scope.hub_id, session=session, folder=folder, now=scope.now()
        )
        if aside:
            return said, None, aside
        if import_run is not None:
            runs.require_open(reader, scope.hub_id, import_run)
        if name:
            logged = logged_roles(reader, scope.hub_id, session, name)
            said = {role: "" if logged(role) else text for role, text in said.items()}
        asked = last_said(reader, scope.hub_id, session, said["user"])
    return said, asked, "" if any(said.values()) else KNOWN


def _to_answer(asked: Turn | None) -> str:
    """The question that the user may have answered: nobody answers a tool or a document."""
    if not asked or (asked.role == "user" and not is_own_word(asked)):
        return ""
    return asked.content


def _turns(
    scope: Scope,
    said: dict[str, str],
    question: str,
    *,
    source: str,
    session: str | None,
    at: datetime | str | None,
    speaker: str | None,
    trust: str | None,
) -> list[Turn]:
    """The turns of the non-empty sides, without secrets. `speaker` and `trust` are about the
    user."""
    # Both have the same time: they are one turn of the conversation.
    moment = clean.clean_time(at) or scope.now()
    spoken = scope.core.redactor.conversation(list(filter(None, said.values())), question)
    return [
        made_turn(
            scope,
            role,
            text,
            source=source,
            session=session,
            at=moment,
            speaker=speaker if role == "user" else None,
            trust=trust if role == "user" else None,
        )
        for role, text in zip(filter(said.get, said), spoken, strict=True)
    ]


def _text(text: Any) -> str:
    if text is not None and not isinstance(text, str):
        raise InvalidInput(f"A message must be text, not {type(text).__name__}.")
    return text if text and clean.is_visible(text) else ""


def _why_not_noted(core: Core, mode: str, noted: str | None, first: Turn) -> str:
    """The reason why a turn is logged but not given to the journaler; empty if it is."""
    if mode != "current":
        return f"turns of mode {mode} are not looked at"
    if not core.settings["shadowJournal.enabled"]:
        return SWITCHED_OFF
    if noted is not None and not noted.strip():
        return "there is nothing to note"
    if first.role == "user" and first.trust not in _OWN_WORDS:
        return f"these are the words of {first.trust}, not of the user"
    return ""


def _queue(
    core: Core,
    writer: Writer,
    turns: list[Turn],
    noted: str | None,
    question: str,
    import_run: str | None,
) -> list[jobs.Job]:
    """Queues the turn; returns the jobs that were removed to make room, oldest first."""
    hub_id = turns[0].hub_id
    most = core.settings["shadowJournal.queueMax"]
    dropped: list[jobs.Job] = []
    if import_run is None:
        dropped = jobs.make_room(writer, hub_id, jobs.JOURNAL, most=most)
    about: dict[str, Any] = {"actor": core.actor, "at": to_text(turns[0].at)}
    about["session"] = turns[0].session
    about["replaces"] = core.allows("retire")
    about["turns"] = {turn.role: turn.id for turn in turns}
    about[jobs.SAID] = {
        turn.role: turn.content[: USER_CHARS_MAX if _is_user(turn) else ASSISTANT_CHARS_MAX]
        for turn in turns
    }
    if noted is not None and "user" in about[jobs.SAID]:
        about[jobs.SAID]["user"] = core.redactor.text(noted)[:USER_CHARS_MAX]
    if import_run is not None:
        about[jobs.IMPORT_RUN] = import_run
    if question.rstrip().endswith("?"):
        about[jobs.QUESTION] = question[-QUESTION_CHARS_MAX:]
    jobs.enqueue(core, writer, hub_id, jobs.JOURNAL, about)
    users = [turn.content for turn in turns if _is_user(turn)]
    left = [job.about[jobs.SAID].get("user", "") for job in dropped]
    mark_seen(core, writer, hub_id, users, not_seen=left)
    capture_stats.note(
        core,
        writer,
        hub_id,
        [Noted("queued"), *(Noted("left out", "the queue was full", text) for text in left)],
    )
    return dropped


def _is_user(turn: Turn) -> bool:
    return turn.role == "user"


# Processed turns


def mark_of(text: str) -> str:
    """A checksum that identifies a text of an observed turn, cut like the texts of a job. It is
    sufficient to distinguish the last few hundred and needs no import."""
    data = unicodedata.normalize("NFC", text[:USER_CHARS_MAX]).strip().encode("utf-8", "replace")
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}"


def seen(reader: Reader, hub_id: str) -> list[str]:
    """The checksums of the users' texts of observed turns that were processed."""
    return [mark for record in _seen_records(reader, hub_id) for mark in record.body["marks"]]


def _seen_records(reader: Reader, hub_id: str) -> list[Record]:
    return reader.records(hub_id, _SEEN, limit=SEEN_MAX)


def mark_seen(
    core: Core, writer: Writer, hub_id: str, texts: Iterable[str], *, not_seen: Iterable[str] = ()
) -> None:
    """Records that the users' texts of observed turns were processed, and that `not_seen` were not
    after all."""
    new, gone = [mark_of(text) for text in texts if text], {mark_of(text) for text in not_seen}
    for record in _seen_records(writer, hub_id) if gone else ():
        kept = [mark for mark in record.body["marks"] if mark not in gone]
        writer.put_record(record._replace(body={"marks": kept}))
    last = writer.record(hub_id, _SEEN, _SEEN_LAST)
    marks = [] if last is None else [mark for mark in last.body["marks"] if mark not in new]
    marks += new
    while len(marks) >= _SEEN_EACH:
        full = {"marks": marks[:_SEEN_EACH]}
        writer.put_record(Record(hub_id, _SEEN, core.ids.next("seen"), core.now(), full))
        marks = marks[_SEEN_EACH:]
        ids = [one.id for one in _seen_records(writer, hub_id) if one.id != _SEEN_LAST]
        for old in ids[: -SEEN_MAX // _SEEN_EACH]:
            writer.drop_record(hub_id, _SEEN, old)
    writer.put_record(Record(hub_id, _SEEN, _SEEN_LAST, core.now(), {"marks": marks}))
