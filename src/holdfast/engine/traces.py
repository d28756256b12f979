"""Other places with the words of a memory: its twin in another layer, and turns of the log.

A forgotten memory must not come back from there. Its twin (the journal line that a long-term memory
was made from, or the reverse) is forgotten and restored with it. Sentences of turns that say the
same are withheld: context blocks, recall and the recovery prompt leave them out, while the log
keeps the turn and marks it. One record per turn holds the positions of these sentences, without
their words. It is written in the transaction that forgets the memory, and it remains after a purge.
For a superseded fact, only the sentence that it was taken from is recorded, and left out of text
that is injected without a question: recall still finds it, behind the current fact.

What a person says later is a new statement and is not withheld. A caller who may forget only their
own memories hides only turns that they logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.memory import CONVERSATION, TURN, Memory, is_archive, made_from
from holdfast.domain.query import EVERYTHING, Filter
from holdfast.domain.records import Record, Role, Turn, is_own_word
from holdfast.engine.core import Scope
from holdfast.engine.late_words import index_late_turns
from holdfast.engine.log.authors import is_logged_by
from holdfast.engine.reading.lookup import Reference, find_memory
from holdfast.store.values import TermQuery, every_memory, every_record
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import query_terms
from holdfast.text.sentences import sentence_spans

if TYPE_CHECKING:
    from holdfast.domain.query import Hit, LeftOut
    from holdfast.domain.results import Traces
    from holdfast.store.base import Reader, Writer
    from holdfast.text.facts.statements import FixedWords

# Keyed by the id of a turn: its session and time, and by memory the parts that are withheld, and
# those that are outdated.
_KIND = "withheld-turn"
_PARTS, _CORRECTED = "parts", "corrected"
# Keyed by the session of such a turn and its id, because the log of a project's hub knows the turn
# by its session only.
_BY_SESSION = "withheld-in-session"
# Keyed by the id of a memory: the turns that are withheld because of it.
_BY_MEMORY = "withheld-by"
# The most turns with words of a memory that are examined.
_FOUND_MAX = 200
_CHANGE_MAX = 500
# Up to this many notes of a hub are read at once; if there are more, each is read by itself.
_FEW_MAX = 200
# The share of a memory's words that a sentence must contain to count as saying the same.
_HELD = 0.75
# The share of the sentence that these words must make up: lower in the conversation that the memory
# was taken from, where a reply repeats it in passing, than in others.
_SHARE_NEAR, _SHARE_FAR = 0.5, 0.75
_WORDS_LEAST, _WORDS_LEAST_FAR = 2, 3
_NEAR = timedelta(minutes=10)
# The times of the same turn in the logs of two hubs differ slightly.
SAME_MOMENT = timedelta(seconds=5)
# Between what a person says and the reply are at most so many turns, of tools for example.
_BEFORE_REPLY = 20
_TURNS_ONLY = Filter(layers=(TURN,), turns=True)

Part = tuple[int, int]


# Twins


def twins(reader: Reader, memory: Memory) -> list[Memory]:
    """The other traces of a memory: those of the same capture in another layer that are not
    forgotten."""
    if memory.layer == "journal":
        # A memory that was made from a journal line refers to the line, not the reverse; all
        # memories of one capture have the same text.
        found = reader.memories_by_hash(memory.hub_id, memory.content_hash)
    else:
        found = [*reader.memories_by_id(memory.hub_id, made_from(memory)).values()]
    return [one for one in found if one.forgotten_at is None and _is_twin(memory, one)]


def forgotten_twins(reader: Reader, memory: Memory) -> list[Memory]:
    """The twins that were forgotten by the same change set as this memory."""
    for revision in reversed(reader.revisions(memory.hub_id, memory.id)):
        if revision.fields.get("forgotten_at", (None, None))[1] is not None:
            beside = reader.revisions_of(memory.hub_id, revision.change_id, limit=_CHANGE_MAX)
            ids = list(dict.fromkeys(one.memory_id for one in beside))
            found = reader.memories_by_id(memory.hub_id, ids).values()
            return [one for one in found if one.forgotten_at is not None and _is_twin(memory, one)]
    return []


def _is_twin(memory: Memory, other: Memory) -> bool:
    if memory.layer == other.layer or "journal" not in (memory.layer, other.layer):
        return False
    made, line = (other, memory) if memory.layer == "journal" else (memory, other)
    if line.id not in made_from(made):
        return False
    # A memory may be made from several lines, and contain little of some of them.
    words = query_terms(line.content)
    return len(set(words) & set(query_terms(made.content))) >= _HELD * len(words)


# Turns


def said_in(reader: Reader, memory: Memory) -> dict[Turn, list[Part]]:
    """The turns that say what a memory says, with the parts of each that do."""
    origin = memory.origin
    words = set(query_terms(memory.content))
    ids = [] if origin is None else [origin.turn]
    if len(words) >= _WORDS_LEAST:
        asked = TermQuery(tuple(sorted(words)))
        found = reader.search_terms(memory.hub_id, asked, _TURNS_ONLY, limit=_FOUND_MAX)
        ids += [one.memory_id for one in found]
    out: dict[Turn, list[Part]] = {}
    for turn in reader.turns_by_id(memory.hub_id, list(dict.fromkeys(ids))).values():
        is_origin = origin is not None and origin.turn == turn.id
        parts = _around(turn.content, origin.start, origin.end) if origin and is_origin else []
        parts += parts_saying(turn, memory.content, near=is_origin or _is_near(memory, turn))
        if parts:
            out[turn] = _merged(parts)
    return out


def parts_saying(turn: Turn, statement: str, *, near: bool) -> list[Part]:
    """The sentences of a turn that say the same as a memory, and are withheld with it. A user's
    question does not count, nor does a sentence with another number or name: 'My rent is 800' and
    'My rent is 900'."""
    # Imported here because recall imports this module too, and does not need these.
    from holdfast.text.facts.statements import fixed_words, without_note

    statement = without_note(statement)
    words, fixed = set(query_terms(statement)), fixed_words(statement)
    if len(words) < (_WORDS_LEAST if near else _WORDS_LEAST_FAR):
        return []
    share = _SHARE_NEAR if near else _SHARE_FAR
    out = []
    for start, end in sentence_spans(turn.content):
        text = turn.content[start:end]
        if turn.role == "user" and text.rstrip().endswith(("?", "？")):
            continue
        said = set(query_terms(text))
        held = len(words & said)
        is_same = held >= _HELD * len(words) and held >= share * len(said)
        if is_same and not _differ(fixed, fixed_words(text)):
            out.append((start, end))
    return out


def _differ(one: FixedWords, other: FixedWords) -> bool:
    """Whether each of two texts has a name, or each a number, that is not in the other."""
    return any(set(a) - set(b) and set(b) - set(a) for a, b in zip(one, other, strict=True))


def _around(text: str, start: int, end: int) -> list[Part]:
    """The sentences that contain a part of a text; the whole text if none does."""
    found = [one for one in sentence_spans(text) if one[0] < end and one[1] > start]
    return found or [(0, len(text))]


def _is_near(memory: Memory, turn: Turn) -> bool:
    if memory.session is not None and memory.session == turn.session:
        return True
    is_taken = memory.layer == "journal" or made_from(memory)
    said_at = memory.said_at if is_taken else memory.created_at
    return abs(said_at - turn.at) <= _NEAR


def _merged(parts: Iterable[Part]) -> list[Part]:
    out: list[Part] = []
    for start, end in sorted(set(parts)):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def withhold(scope: Scope, writer: Writer, memory: Memory, at: datetime) -> None:
    """Withholds the sentences of turns that repeat a forgotten memory."""
    said = _hidden_with(scope, writer, memory)
    for turn, parts in said.items():
        _note(writer, turn, at, _PARTS, memory.id, parts)
    if said:
        ids = [turn.id for turn in said]
        writer.put_record(Record(memory.hub_id, _BY_MEMORY, memory.id, at, {"turns": ids}))


def _hidden_with(scope: Scope, reader: Reader, memory: Memory) -> dict[Turn, list[Part]]:
    """The turns that say what a memory says, as far as the actor may hide them."""
    said = said_in(reader, memory)
    return {turn: parts for turn, parts in said.items() if _may_hide(scope, reader, memory, turn)}


def _may_hide(scope: Scope, reader: Reader, memory: Memory, turn: Turn) -> bool:
    """Anybody may name any turn as the origin of a memory, so the turn's recorded author is
    checked."""
    return scope.core.allows("delete_any", memory) or is_logged_by(reader, turn, memory.owner)


def show_again(writer: Writer, memory: Memory) -> None:
    """Ends the withholding of turns because of a memory that was restored."""
    for turn_id in _withheld_by(writer, memory):
        _drop_note(writer, memory, turn_id, _PARTS)
    writer.drop_record(memory.hub_id, _BY_MEMORY, memory.id)


def note_superseded(scope: Scope, writer: Writer, memory: Memory, at: datetime) -> None:
    """Records that the sentence a memory was taken from is outdated; or current again, if nothing
    supersedes the memory any more."""
    origin = memory.origin
    if origin is None:
        return
    if memory.superseded_by is None:
        _drop_note(writer, memory, origin.turn, _CORRECTED)
        return
    for turn in writer.turns_by_id(memory.hub_id, [origin.turn]).values():
        if not _may_hide(scope, writer, memory, turn):
            continue
        parts = _around(turn.content, origin.start, origin.end)
        _note(writer, turn, at, _CORRECTED, memory.id, parts)


def note_all(scope: Scope, writer: Writer, at: datetime) -> None:
    """Records what is withheld in a hub imported from an old export without these records."""
    for memory in every_memory(writer, scope.hub_id, EVERYTHING):
        if memory.forgotten_at is not None and memory.origin is not None:
            withhold(scope, writer, memory, at)
        if memory.superseded_by is not None:
            note_superseded(scope, writer, memory, at)


def exported(reader: Reader, hub_id: str) -> Iterable[dict[str, Any]]:
    """The records of what is withheld from all turns, for an export. Memories that are purged, or
    that the caller cannot see, are not named."""
    for one in every_record(reader, hub_id, _KIND):
        seen = reader.memories_by_id(hub_id, [*one.body[_PARTS], *one.body[_CORRECTED]])
        plain = {"turn": one.id, "session": one.body["session"], "said_at": one.body["at"]}
        for why in (_PARTS, _CORRECTED):
            named: dict[str, list[Part]] = {}
            for memory_id, parts in sorted(one.body[why].items()):
                named.setdefault(memory_id if memory_id in seen else "", []).extend(parts)
            plain[why] = named
        yield {**plain, "at": to_text(one.at)}


def note_from_export(hub_id: str, line: Mapping[str, Any]) -> Record:
    """Parses the record of what is withheld from a line of an export; raises ValueError or
    TypeError if it is none."""
    session, at = line["session"], to_text(from_text(line["said_at"]))
    if not isinstance(line["turn"], str) or not isinstance(session, str | None):
        raise TypeError("a turn and its session are named by text")
    body: dict[str, Any] = {"session": session, "at": at}
    for why in (_PARTS, _CORRECTED):
        body[why] = {
            memory_id: [[start, end] for start, end in parts]
            for memory_id, parts in line[why].items()
        }
        for start, end in _parts_of(body[why]):
            if type(start) is not int or type(end) is not int or not 0 <= start < end:
                raise ValueError(f"there is no part of a text from {start!r} to {end!r}")
    return Record(hub_id, _KIND, line["turn"], from_text(line["at"]), body)


def add_note(writer: Writer, note: Record) -> None:
    """Adds a record of what is withheld from an export, with its index records."""
    writer.put_record(note)
    if (session := note.body["session"]) is not None:
        by_session = _in_session(session, note.id)
        writer.put_record(Record(note.hub_id, _BY_SESSION, by_session, note.at, {}))
    for memory_id in filter(None, note.body[_PARTS]):
        known = writer.record(note.hub_id, _BY_MEMORY, memory_id)
        ids = [*([] if known is None else known.body["turns"]), note.id]
        writer.put_record(Record(note.hub_id, _BY_MEMORY, memory_id, note.at, {"turns": ids}))


def _note(
    writer: Writer, turn: Turn, at: datetime, why: str, memory_id: str, parts: Sequence[Part]
) -> None:
    record = writer.record(turn.hub_id, _KIND, turn.id)
    noted = {_PARTS: {}, _CORRECTED: {}} if record is None else record.body
    body = {**noted, "session": turn.session, "at": to_text(turn.at)}
    body[why] = {**noted[why], memory_id: [list(part) for part in parts]}
    writer.put_record(Record(turn.hub_id, _KIND, turn.id, at, body))
    if record is None and turn.session is not None:
        writer.put_record(
            Record(turn.hub_id, _BY_SESSION, _in_session(turn.session, turn.id), at, {})
        )


def _drop_note(writer: Writer, memory: Memory, turn_id: str, why: str) -> None:
    record = writer.record(memory.hub_id, _KIND, turn_id)
    if record is None:
        return
    left = {name: parts for name, parts in record.body[why].items() if name != memory.id}
    body = {**record.body, why: left}
    if body[_PARTS] or body[_CORRECTED]:
        writer.put_record(record._replace(body=body))
    else:
        writer.drop_record(memory.hub_id, _KIND, turn_id)
        if (session := record.body["session"]) is not None:
            writer.drop_record(memory.hub_id, _BY_SESSION, _in_session(session, turn_id))


def _in_session(session: str, turn_id: str = "") -> str:
    return f"{session}\n{turn_id}"


def _withheld_by(reader: Reader, memory: Memory) -> list[str]:
    record = reader.record(memory.hub_id, _BY_MEMORY, memory.id)
    return [] if record is None else list(record.body["turns"])


# Reading


class _Noted(NamedTuple):
    """The record of a turn. The same turn in a project's log is identified by session and time.
    `until` is when something of it was withheld last."""

    turn_id: str
    at: datetime
    until: datetime
    parts: Sequence[Part]
    corrected: Sequence[Part]


class _Notes:
    """The records of a hub, read lazily: all at once if there are few, otherwise only those that
    are asked for. A hub with thousands of forgotten memories has as many records, and reading them
    all takes longer than a recall. With `as_of`, only records that existed then."""

    def __init__(self, reader: Reader, hub_id: str, as_of: datetime | None) -> None:
        self._reader, self._hub_id, self._as_of = reader, hub_id, as_of
        self._by_session: dict[str, list[_Noted]] = {}

    @cached_property
    def _few(self) -> list[Record]:
        return self._reader.records(self._hub_id, _KIND, limit=_FEW_MAX + 1)

    @cached_property
    def _all(self) -> dict[str, Record] | None:
        return None if len(self._few) > _FEW_MAX else {one.id: one for one in self._few}

    def __bool__(self) -> bool:
        return bool(self._few)

    def of(self, turn_id: str) -> _Noted | None:
        if self._all is not None:
            record = self._all.get(turn_id)
        else:
            record = self._reader.record(self._hub_id, _KIND, turn_id)
        if record is None or (self._as_of is not None and record.at > self._as_of):
            return None
        parts = (_parts_of(record.body[why]) for why in (_PARTS, _CORRECTED))
        return _Noted(turn_id, from_text(record.body["at"]), record.at, *parts)

    def in_session(self, session: str) -> list[_Noted]:
        if not self:
            return []
        if session not in self._by_session:
            begin = _in_session(session)
            found = every_record(self._reader, self._hub_id, _BY_SESSION, begin)
            noted = [self.of(one.id.removeprefix(begin)) for one in found]
            self._by_session[session] = [one for one in noted if one is not None]
        return self._by_session[session]


class Withheld:
    """The parts of turns that are withheld in a scope. Usable as long as its reader."""

    def __init__(self, reader: Reader, scope: Scope, *, as_of: datetime | None = None) -> None:
        self._reader = reader
        self._scope = scope
        self._hub_id = scope.hub_id
        self._as_of = as_of
        # A project's hub that is named is read without the person's own hub, and has the same log.
        self._is_named = not scope.beside
        self._notes = _Notes(reader, scope.hub_id, as_of)

    # Looked up for the first turn: most questions find none.
    @cached_property
    def _beside(self) -> str:
        return self._scope.beside or _own_hub(self._reader, self._scope)

    @cached_property
    def _own(self) -> _Notes | None:
        return _Notes(self._reader, self._beside, self._as_of) if self._beside else None

    def __bool__(self) -> bool:
        return bool(self._notes or self._own)

    def parts(self, turn: Turn, *, corrected: bool = False) -> list[Part]:
        """The withheld parts of a turn, in order; empty if none is. With `corrected`, also the
        outdated parts."""
        parts: list[Part] = []
        if (noted := self._notes.of(turn.id)) is not None:
            parts += [*noted.parts, *(noted.corrected if corrected else ())]
        in_own = self._own.in_session(turn.session) if self._own and turn.session else ()
        for own in in_own:
            withheld = [*own.parts, *(own.corrected if corrected else ())]
            if withheld and abs(own.at - self._asked_at(turn)) <= SAME_MOMENT:
                parts += self._said_beside(own.turn_id, withheld, turn, is_same=True)
            elif own.parts and turn.at <= own.until and not self._is_named:
                parts += self._said_beside(own.turn_id, own.parts, turn, is_same=False)
        return _merged(parts)

    def _asked_at(self, turn: Turn) -> datetime:
        """When the person said what a turn says or replies to: a reply may come minutes later."""
        if turn.role == "user":
            return turn.at
        before = self._reader.turns_around(self._hub_id, turn.id, before=_BEFORE_REPLY, after=0)
        asked = [one.at for one in before if is_own_word(one)]
        return asked[-1] if asked else turn.at

    def _said_beside(
        self, turn_id: str, parts: Sequence[Part], turn: Turn, *, is_same: bool
    ) -> list[Part]:
        """What the person's own hub withholds of a turn, or of the reply to it (`is_same`): the
        part that is about them. This hub withholds the whole turn. In others of the session, what
        says the same."""
        own = self._reader.turns_by_id(self._beside, [turn_id]).get(turn_id)
        if own is None:
            # The memory was purged, so its words are unknown, and the reply may repeat them.
            return [(0, len(turn.content))] if is_same else []
        said = " ".join(own.content[start:end] for start, end in parts)
        return parts_saying(turn, said, near=True)

    def hides_in(self, found: Memory, start: int, end: int) -> bool:
        """Whether this part of a turn, as returned by search, is withheld, fully or partly."""
        return any(first < end and last > start for first, last in self._hidden(found))

    def _hidden(self, found: Memory) -> list[Part]:
        """The withheld parts of a turn as returned by search, or of the archive of a session."""
        if found.layer == TURN:
            return self.parts(_as_turn(found))
        if found.category != CONVERSATION or not is_archive(found) or found.session is None:
            return []
        whole = (0, len(found.content))
        parts: list[Part] = []
        for hub_id, notes in ((self._hub_id, self._notes), (self._beside, self._own)):
            if not notes:
                continue
            noted = [one for one in notes.in_session(found.session) if one.parts]
            turns = self._reader.turns_by_id(hub_id, [one.turn_id for one in noted])
            for one in noted:
                turn = turns.get(one.turn_id)
                if turn is None:
                    # Its words may be anywhere in it.
                    return [whole]
                said = " ".join(turn.content[start:end] for start, end in one.parts)
                parts += parts_saying(_as_turn(found), said, near=True)
        return _merged(parts)

    def without(self, hit: Hit) -> Hit:
        """The hit without the withheld parts of its turn or archive."""
        hidden = self._hidden(hit.memory) if hit.turn is None else self.parts(hit.turn)
        if not hidden:
            return hit
        content = _cut(hit.memory.content, hidden)

        def moved(place: int) -> int:
            return place - sum(end - start - 1 for start, end in hidden if end <= place)

        at, window = hit.passage, hit.window
        if window is not None and any(s < window[1] and e > window[0] for s, e in hidden):
            window = None
        return hit._replace(
            memory=hit.memory._replace(content=content),
            turn=hit.turn and hit.turn._replace(content=content),
            passage=at._replace(start=moved(at.start), end=moved(at.end)),
            window=None if window is None else (moved(window[0]), moved(window[1])),
        )

    def without_left_out(self, found: LeftOut) -> LeftOut:
        """The same for a hit that was left out of the results."""
        if not (hidden := self._hidden(found.memory)):
            return found
        content = _cut(found.memory.content, hidden)
        return found._replace(memory=found.memory._replace(content=content))

    def shown(self, turn: Turn) -> str:
        """The text of a turn with an ellipsis for withheld and outdated parts; empty if nothing is
        left."""
        hidden = self.parts(turn, corrected=True)
        if not hidden:
            return turn.content
        out, at = [], 0
        for start, end in hidden:
            out.append(turn.content[at:start])
            at = end
        rest = [*out, turn.content[at:]]
        if not any(_TELLS.search(text) for text in rest):
            return ""
        return " … ".join(text.strip() for text in rest).strip()

    def shown_turns(self, turns: Iterable[Turn]) -> list[Turn]:
        """The turns without their withheld parts; those with nothing left are dropped."""
        shown = [turn._replace(content=self.shown(turn)) for turn in turns]
        return [turn for turn in shown if turn.content]


def _own_hub(reader: Reader, scope: Scope) -> str:
    """The id of the person's own hub, if this is another hub of theirs; else empty."""
    own = reader.hub(scope.settings["hub"])
    if own is None or own.id == scope.hub_id:
        return ""
    here = reader.hub_by_id(scope.hub_id)
    return own.id if here is not None and here.owner == own.owner else ""


_TELLS = re.compile(r"\w")
# The note on such a turn in the log.
NOTE = "a memory made of it was forgotten"


def with_notes(scope: Scope, reader: Reader, turns: Iterable[Turn]) -> list[Turn]:
    """The turns for a person who reads the log, with a note on each that is partly withheld."""
    hidden = Withheld(reader, scope)
    if not hidden:
        return list(turns)
    return [turn._replace(note=NOTE) if hidden.parts(turn) else turn for turn in turns]


def _cut(text: str, parts: Sequence[Part]) -> str:
    """A text with an ellipsis for each of these parts."""
    out, last = [], 0
    for start, end in parts:
        out += [text[last:start], "…"]
        last = end
    return "".join([*out, text[last:]])


def _as_turn(found: Memory) -> Turn:
    role: Role = "user" if found.trust == "user" else "assistant"
    turn = Turn(found.id, found.hub_id, role, found.content, found.created_at)
    return turn._replace(session=found.session)


def _parts_of(by_memory: Mapping[str, Any]) -> list[Part]:
    return [(start, end) for parts in by_memory.values() for start, end in parts]


def traces(scope: Scope, references: Sequence[Reference]) -> Traces:
    """Finds other places with the words of memories: their twins, and turns of the log. For a
    forgotten memory, what was hidden with it."""
    # Imported here because recall imports this module too, and does not need it.
    from holdfast.domain.results import Traces

    memories: dict[str, Memory] = {}
    turns: dict[str, Turn] = {}
    reads_log = scope.core.allows("read_log")
    index_late_turns(scope.core, scope.hub_id)
    with scope.read() as reader:
        named = [find_memory(reader, scope, one, forgotten=True) for one in references]
        for memory in named:
            if memory.forgotten_at is None:
                beside, said = twins(reader, memory), list(_hidden_with(scope, reader, memory))
            else:
                beside = forgotten_twins(reader, memory)
                hidden = [
                    turn_id for one in (memory, *beside) for turn_id in _withheld_by(reader, one)
                ]
                said = list(reader.turns_by_id(scope.hub_id, hidden).values())
                if not said:
                    # A move forgets a memory and hides nothing.
                    found = _hidden_with(scope, reader, memory)
                    said = [turn for turn in found if turn.at <= memory.forgotten_at]
            memories |= {one.id: one for one in beside}
            turns |= {turn.id: turn for turn in said if reads_log}
    for memory in named:
        memories.pop(memory.id, None)
    return Traces(tuple(memories.values()), tuple(turns.values()))


def turns_saying(scope: Scope, memories: Sequence[Memory]) -> list[Turn]:
    """The turns of this hub's log that say what memories of another hub say."""
    if not memories or not scope.core.allows("read_log"):
        return []
    index_late_turns(scope.core, scope.hub_id)
    found: dict[str, Turn] = {}
    with scope.core.read() as reader:
        for memory in memories:
            said = said_in(reader, memory._replace(hub_id=scope.hub_id, origin=None))
            found |= {turn.id: turn for turn in said}
    return list(found.values())
