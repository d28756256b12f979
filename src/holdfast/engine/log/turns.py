"""The conversation log: logging turns, listing and searching them, and the prompt that restores a
lost session.

Every turn is stored unless a setting limits the log. Turns are in the same index as memories, and
recall finds them. This module does not know which memories are made from them.

It also records which turns of a session were logged, by the names that an agent gives them: a hook
may be called twice for one turn, and a transcript that is read again contains turns that were
logged before. A name and a role are stored as a hash, in the transaction that logs the turn.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.domain.memory import TRUSTS, TURN, Trust
from holdfast.domain.query import Filter, check_count
from holdfast.domain.records import (
    ROLES,
    TRUST_OF_ROLE,
    Record,
    Role,
    Turn,
    is_own_word,
)
from holdfast.engine import late_words
from holdfast.engine.core import Core, Scope
from holdfast.engine.log.authors import note_author
from holdfast.engine.traces import SAME_MOMENT, Withheld, with_notes
from holdfast.errors import Conflict, HoldfastError, InvalidInput
from holdfast.system.named_tuple import NamedTuple
from holdfast.text import clean
from holdfast.text.private import without_private

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer


UNKNOWN_SOURCE = "unknown"
# As many turns, and as much of each, as the systems that this prompt is taken from show.
RECOVERY_TURNS = 10
RECOVERY_CHARS = 500
RECOVERY_OPENING = (
    "[System: Session recovered] Your previous session was lost. Here's the recent conversation "
    "for context — do NOT respond to these messages, just absorb the context silently:"
)
RECOVERY_CLOSING = "(End of recovery context. Wait for the next real message.)"
# A longer text is not just the answer to 'What is the password?'.
_ANSWER_CHARS_MAX = 1_000
# After so many turns a background thread writes the index entries of those that wait: not for one
# turn, as a process may log one and end.
_LATE_SOME = 10
# The most turns that may wait if there is to be no such thread.
_LATE_MAX = 100
_TURN_ID = re.compile(r"trn_[0-9a-z]{1,64}")
# A name up to this length passes all checks of a memory's fields.
_PLAIN_SESSION_CHARS = 1_000
# A source or a name starts a line, so it must be short.
_LABEL_CHARS_MAX = 100


def log_turn(
    scope: Scope,
    role: str,
    content: str,
    *,
    source: str = UNKNOWN_SOURCE,
    session: str | None = None,
    at: datetime | str | None = None,
    speaker: str | None = None,
    trust: str | None = None,
    folder: str | None = None,
) -> Turn:
    """Adds a turn, and prunes the log in the same transaction. Raises Conflict if the log is
    paused, or the session or the folder is excluded."""
    from holdfast.engine.log import log_rules

    def refuse(reader: Reader) -> None:
        aside = log_rules.why_not(
            reader, scope.hub_id, session=session, folder=folder, now=scope.now()
        )
        if aside:
            raise Conflict(
                f"The turn was not logged: {aside}.",
                hint="The rules of the log say what is not logged.",
                command="`holdfast log rules` shows what is not logged.",
            )

    with scope.core.read() as reader:
        refuse(reader)
        asked = last_said(reader, scope.hub_id, session, content)
    turn = made_turn(
        scope,
        role,
        content,
        source=source,
        session=session,
        at=at,
        speaker=speaker,
        trust=trust,
        question=asked.content if asked else "",
    )
    # Again inside the transaction: the log may have been paused since.
    add_turns(scope, [turn], refuse)
    return turn


def made_turn(
    scope: Scope,
    role: str,
    content: str,
    *,
    source: str,
    session: str | None,
    at: datetime | str | None,
    speaker: str | None = None,
    trust: str | None = None,
    question: str = "",
) -> Turn:
    """Makes the turn to be logged: checked, without secrets and echoes. `question` is the turn that
    it may answer."""
    # Imported here, because reading the log does not need it.
    from holdfast.engine.echo.detect import with_echo_marked

    scope.require("write")
    checked: Role = clean.one_of(role, ROLES, "role")  # type: ignore[assignment]
    open_words = without_private(content) if isinstance(content, str) else content
    said = clean.clean_content(open_words, bytes_max=scope.settings["content.bytes_max"])
    turn = Turn(
        id=scope.core.ids.next("trn"),
        hub_id=scope.hub_id,
        role=checked,
        # Text that memory gave to an agent is not logged as the agent's own.
        content=with_echo_marked(scope.core, scope.hub_id, said),
        at=clean.clean_time(at) or scope.now(),
        source=_clean_label(source, "source") or UNKNOWN_SOURCE,
        session=clean_session(session),
        speaker=None if speaker is None else _clean_label(speaker, "speaker") or None,
        trust=_trust(trust, checked),
    )
    return scope.core.redactor.turn(turn, question)


def _trust(trust: str | None, role: Role) -> Trust:
    if trust is None:
        return TRUST_OF_ROLE[role]
    checked: Trust = clean.one_of(trust, TRUSTS, "trust")  # type: ignore[assignment]
    return checked


def last_said(reader: Reader, hub_id: str, session: str | None, answer: str) -> Turn | None:
    """The newest turn of a session, if what is said next may answer it."""
    if not answer or len(answer) > _ANSWER_CHARS_MAX:
        return None
    session = clean_session(session)
    newest = reader.turns(hub_id, limit=1, session=session)
    return newest[0] if newest and newest[0].session == session else None


def is_last_said_beside(
    scope: Scope,
    beside: Scope,
    *,
    session: str | None,
    turn: str | None,
    at: datetime | str | None,
) -> bool:
    """Whether what a reply answers is in the log of another hub too, or only there: the side of the
    user under this name; else the last that the user said in this session."""
    before = (clean.clean_time(at) or scope.now()) + SAME_MOMENT
    name, wanted = turn_name(turn), clean_session(session)

    def last_said_at(hub_id: str) -> datetime | None:
        newest = reader.turns(hub_id, limit=_ASKED_TURNS, session=wanted)
        times = (
            one.at
            for one in filter(is_own_word, newest)
            if one.session == wanted and one.at <= before
        )
        return max(times, default=None)

    with scope.core.read() as reader:
        if name:
            here, there = (
                logged_roles(reader, one.hub_id, session, name)("user") for one in (scope, beside)
            )
            if here or there:
                return there
        there_at, here_at = last_said_at(beside.hub_id), last_said_at(scope.hub_id)
        return there_at is not None and (here_at is None or there_at >= here_at - SAME_MOMENT)


# A message has at most so many answers by tools and agents before the last one.
_ASKED_TURNS = 100


def add_turns(
    scope: Scope,
    turns: Sequence[Turn],
    also: Callable[[Writer], None] | None = None,
    *,
    is_reply: bool = True,
) -> None:
    """Logs turns and calls `also` in the same transaction. With `is_reply`, somebody waits, and the
    words of long turns are indexed later."""
    late = is_reply and late_words.are_late(scope.core, turns)
    with scope.write() as writer:
        for turn in turns:
            if late:
                late_words.add_without_words(scope.core, writer, turn)
            else:
                writer.add_turn(turn)
            _prune_when_due(scope, writer)
        note_author(scope, writer, turns)
        if also is not None:
            also(writer)
    logged = scope.core.turns_logged[scope.hub_id]
    if late and logged % _LATE_SOME < len(turns):
        by_thread = scope.core.catch_up(words=True)
        if not by_thread and logged % _LATE_MAX < len(turns):
            late_words.index_late_turns(scope.core, scope.hub_id)


def clean_session(session: str | None) -> str | None:
    """A session's name, cleaned as in memories; None if it is empty."""
    if session is None:
        return None
    if not isinstance(session, str):
        raise InvalidInput(f"A session is named by text, not {type(session).__name__}.")
    if not session.isascii() or "\0" in session or len(session) > _PLAIN_SESSION_CHARS:
        # Imported here, because the rules that classify a memory take 10 ms to load, and a turn
        # needs none of them.
        from holdfast.engine.writing.drafts import clean_fields

        session = clean_fields({"session": session})["session"]
    if not session.isprintable():
        # Cleaned as in the log, so that a session is found by the name it was given.
        session = clean.without_controls(session)
    return session.strip() or None


def _clean_label(text: str, what: str) -> str:
    """A label on one line, without brackets, which would look like the end of the label."""
    if not isinstance(text, str):
        raise InvalidInput(f"The {what} must be text, not {type(text).__name__}.")
    label = " ".join(text.split())
    if len(label) > _LABEL_CHARS_MAX:
        raise InvalidInput(
            f"The {what} has {len(label)} characters; at most {_LABEL_CHARS_MAX} are allowed."
        )
    for char in label:
        if char in "[]" or unicodedata.category(char) in ("Cc", "Cf", "Cs"):
            raise InvalidInput(
                f"The {what} has the character U+{ord(char):04X}, which is not allowed there.",
                hint="Use a plain name, for example telegram.",
            )
    return label


def prune_logs(core: Core) -> None:
    """Prunes the log of each hub that has limits, when a store is opened. If the store cannot be
    written now, the next turn does it."""
    from holdfast.engine.log.log_rules import is_bounded, prune

    with suppress(HoldfastError):
        with core.store.read() as reader:
            scopes = [Scope(core, hub.id, hub.name) for hub in reader.hubs()]
        for scope in scopes:
            if is_bounded(scope):
                with core.store.write(hub=scope.hub_id) as writer:
                    prune(scope, writer)


def _prune_when_due(scope: Scope, writer: Writer) -> None:
    """Prunes at the first turn of a process, because the previous one may have been killed before,
    and then every N turns: pruning at each turn would double the work."""
    count = scope.core.turns_logged.get(scope.hub_id, 0) + 1
    scope.core.turns_logged[scope.hub_id] = count
    if count == 1 or count % scope.settings["log.prune_every"] == 0:
        from holdfast.engine.log.log_rules import is_bounded, prune

        if is_bounded(scope):
            prune(scope, writer)


def turns(
    scope: Scope, *, limit: int = 20, session: str | None = None, before: str | None = None
) -> list[Turn]:
    """Turns, newest first; `before` is the id of the last one seen, which may have been removed
    since."""
    check_count(limit)
    _check_id(before)
    wanted = clean_session(session)
    with scope.read() as reader:
        found = reader.turns(scope.hub_id, limit=limit, session=wanted, before=before)
        if not found and before is not None:
            found = _earlier(reader, scope.hub_id, limit, wanted, before)
        return with_notes(scope, reader, found)


# Turns that are read at a time, and how often, to find those without a session.
_SCAN_BATCH, _SCAN_BATCHES_MAX = 500, 100


def turns_without_session(scope: Scope, *, limit: int) -> list[Turn]:
    """Turns that belong to no session, newest first, among the newest 50,000 of the log."""
    check_count(limit)
    out: list[Turn] = []
    before: str | None = None
    with scope.read() as reader:
        for _ in range(_SCAN_BATCHES_MAX):
            batch = reader.turns(scope.hub_id, limit=_SCAN_BATCH, before=before)
            out += [turn for turn in batch if turn.session is None]
            if len(out) >= limit or len(batch) < _SCAN_BATCH:
                break
            before = batch[-1].id
        return with_notes(scope, reader, out[:limit])


class Speaker(NamedTuple):
    """A named speaker in the log: the number of their turns, and the time of the last."""

    name: str
    turns: int
    last: datetime


def speakers(scope: Scope, *, limit: int = 100) -> list[Speaker]:
    """The named speakers of the log, most turns first."""
    check_count(limit)
    with scope.read() as reader:
        return [Speaker(*one) for one in reader.turns_by_speaker(scope.hub_id, limit=limit)]


def turns_by_id(scope: Scope, turn_ids: Sequence[str]) -> dict[str, Turn]:
    """The turns with these ids that are still in the log."""
    with scope.read() as reader:
        return reader.turns_by_id(scope.hub_id, turn_ids)


def _earlier(
    reader: Reader, hub_id: str, limit: int, session: str | None, before: str
) -> list[Turn]:
    """The turns before one that is no longer in the log: ids sort by the time they were made.

    If the turn is in the log, the store has already found that there is nothing before it.
    """
    every = list(reader.scan_turns(hub_id))
    if any(turn.id == before for turn in every):
        return []
    earlier = (turn for turn in reversed(every) if turn.id < before)
    return [turn for turn in earlier if session in (None, turn.session)][:limit]


def _check_id(before: str | None) -> None:
    if before is not None and not (isinstance(before, str) and _TURN_ID.fullmatch(before)):
        raise InvalidInput(
            f"{before!r} is not the id of a turn.",
            hint="Give the id of the last turn you saw; it begins with trn_.",
        )


def search_turns(scope: Scope, query: str, *, limit: int = 10) -> list[Turn]:
    """Turns that contain words of the query: those with most of them first, then the newest. If the
    query has no index term, turns that contain it literally."""
    from holdfast.store.values import TermQuery
    from holdfast.text.analysis.terms import query_terms, trigram_text

    check_count(limit)
    sought = clean.clean_content(query, bytes_max=_QUERY_BYTES_MAX)
    terms = query_terms(sought)
    asked = TermQuery(tuple(dict.fromkeys(terms)))
    late_words.index_late_turns(scope.core, scope.hub_id)
    with scope.read() as reader:
        found = reader.search_terms(scope.hub_id, asked, _TURNS_ONLY, limit=limit * _REACH)
        merits: dict[str, int] = {}
        for one in found:
            held = {*one.body.split(), *one.head.split()}
            merit = sum(term in held for term in asked.terms)
            merits[one.memory_id] = max(merit, merits.get(one.memory_id, 0))
        best = sorted(merits, key=lambda turn_id: (merits[turn_id], turn_id), reverse=True)
        if not best:
            needle = trigram_text(sought).strip()
            best = reader.search_substring(scope.hub_id, needle, _TURNS_ONLY, limit=limit)
        found_turns = reader.turns_by_id(scope.hub_id, best[:limit])
        return with_notes(scope, reader, found_turns.values())


_TURNS_ONLY = Filter(layers=(TURN,), turns=True)
# The store's order is approximate, so this many times as many turns are ranked.
_REACH = 8
# Queries are questions, not documents: more words would match everything.
_QUERY_BYTES_MAX = 20_000


def recovery_prompt(
    scope: Scope,
    *,
    count: int = RECOVERY_TURNS,
    chars: int = RECOVERY_CHARS,
    name: str = "Assistant",
    session: str | None = None,
) -> str:
    """Builds the prompt that gives a new session the last turns of a lost one; empty if there are
    none."""
    check_count(chars, "number of characters")
    label = _clean_label(name, "name") or "Assistant"
    newest = turns(scope, limit=count, session=session)
    with scope.core.read() as reader:
        shown = Withheld(reader, scope).shown_turns(newest)
    return render_recovery(shown, chars=chars, name=label)


def render_recovery(newest: Sequence[Turn], *, chars: int, name: str) -> str:
    """Renders the prompt for these turns, in order of time."""
    if not newest:
        return ""
    # For turns with the same time, the order of logging counts.
    ordered = list(reversed(newest))
    ordered.sort(key=lambda turn: turn.at)
    lines = [
        f"{_speaker_label(turn, name)}: {_indented(cut(turn.content, chars))}" for turn in ordered
    ]
    return "\n\n".join([RECOVERY_OPENING, *lines, RECOVERY_CLOSING])


def _speaker_label(turn: Turn, name: str) -> str:
    if turn.role == "assistant":
        return name
    return f"[{turn.source}] {_LABELS[turn.voice]}"


_LABELS = {"user": "User", "system": "System", "tool": "Tool", "import": "Document"}


def cut(text: str, chars: int) -> str:
    """The text of a turn cut to this many characters, with `…` if there were more."""
    return text if len(text) <= chars else text[:chars] + "…"


def _indented(text: str) -> str:
    """The text indented: only labels, the opening and the closing begin a line, so that no turn can
    imitate them."""
    first, *rest = text.splitlines() or [""]
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])


KIND = "observed-turns"
# A session with more turns belongs to a program; its oldest turns are not sent again.
_TURNS_MAX = 4_000
# If a session is resumed later than this, its old turns may be logged again.
_KEPT_DAYS = 400
_DIGITS = 16


class AlreadyLogged(Exception):
    """A side of this turn was logged while this transaction waited."""


class SetAside(Exception):
    """The log was paused, or the turn set aside, while this transaction waited; with the reason."""


def turn_name(turn: str | None) -> str:
    """The name of a turn, checked; empty if it has none."""
    if turn is None:
        return ""
    if not isinstance(turn, str):
        raise InvalidInput(f"A turn is named by text, not {type(turn).__name__}.")
    return turn.strip()


def logged_roles(
    reader: Reader, hub_id: str, session: str | None, name: str
) -> Callable[[str], bool]:
    """A function that says whether the side of a turn with a role was logged."""
    marks = frozenset(_marks(reader, hub_id, session))
    return lambda role: _mark(name, role) in marks


def note_logged(
    core: Core, writer: Writer, hub_id: str, session: str | None, name: str, roles: Iterable[str]
) -> None:
    """Records that these sides of a turn are in the log; raises AlreadyLogged if one of them
    was."""
    marks = _marks(writer, hub_id, session)
    new = [_mark(name, role) for role in roles]
    if not set(new).isdisjoint(marks):
        raise AlreadyLogged
    now = core.now()
    body = {"turns": [*marks, *new][-_TURNS_MAX:]}
    due = now + timedelta(days=_KEPT_DAYS)
    writer.put_record(Record(hub_id, KIND, _id_of(session), now, body, due=due))
    for old in writer.due_records(KIND, now, limit=10, hub_id=hub_id):
        writer.drop_record(old.hub_id, KIND, old.id)


def forget_names(writer: Writer, hub_id: str, session: str) -> None:
    """Drops the record of which turns of a session were logged."""
    writer.drop_record(hub_id, KIND, _id_of(session))


def _marks(reader: Reader, hub_id: str, session: str | None) -> list[str]:
    record = reader.record(hub_id, KIND, _id_of(session))
    return [] if record is None else list(record.body["turns"])


def _id_of(session: str | None) -> str:
    return _digest(clean_session(session) or "")[:32]


def _mark(name: str, role: str) -> str:
    return _digest(f"{role}\0{name}")[:_DIGITS]


def _digest(text: str) -> str:
    from hashlib import sha256  # imported late: a turn without a name does not need it

    return sha256(text.encode(errors="replace")).hexdigest()
