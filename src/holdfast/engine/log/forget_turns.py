"""Deletes turns of the log: the last hour, a session, or everything about a word.

Turns are deleted permanently, with their passages, terms and vectors, their queued jobs, and the
examples of them in statistics. Memories that were made from them are forgotten in one change set
that can be undone, or purged. A purge by words also purges memories that were forgotten before, and
removes the words from the history of others. A dry run lists what would be deleted.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import CATEGORIES, TURN, is_archive
from holdfast.domain.query import EVERYTHING, Filter
from holdfast.domain.records import is_own_word
from holdfast.domain.results import ForgottenTurns
from holdfast.engine import jobs, late_words, traces
from holdfast.engine.core import Scope
from holdfast.engine.log import authors
from holdfast.engine.log.turns import clean_session
from holdfast.engine.upkeep import capture_stats
from holdfast.engine.writing import edit
from holdfast.errors import InvalidInput
from holdfast.recall.expand import language_of
from holdfast.store.values import TermQuery, TextQuery, every_memory
from holdfast.system.named_tuple import NamedTuple
from holdfast.text import clean
from holdfast.text.analysis.terms import fold, is_unspaced, query_terms, terms, trigram_text
from holdfast.text.analysis.word_forms import LANGUAGES, stem

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Revision
    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Turn
    from holdfast.store.base import Reader, Writer

_ABOUT_CHARS_MAX = 200
# The most turns of one call; a further call deletes the others.
_FOUND_MAX = 100_000
_BATCH = 500
# More memories than are made from one turn: facts and their journal lines.
_LAST_MAX = 50
# A turn this short that gave no memory is an interjection such as thanks.
_INTERJECTION_WORDS = 2
# Forms of shorter words are too often other words.
_INFLECTED_CHARS_MIN = 5
_STEM_CHARS_LESS, _STEM_CHARS_MIN = 2, 4
_INFLECTED = re.compile(r"[a-z]+")
_TURNS_ONLY = Filter(layers=(TURN,), turns=True)


class _Wanted(NamedTuple):
    """The conditions on turns; `words` are the index terms of what they are about."""

    since: datetime | None
    until: datetime | None
    session: str | None
    turns: frozenset[str]
    about: str
    words: tuple[str, ...]

    @property
    def needle(self) -> str:
        """What they are about, as the substring index has it."""
        return trigram_text(self.about).strip()

    @property
    def stem(self) -> str:
        """The beginning that the forms of the word have in common in other languages than English:
        'Schwester' and 'Schwestern'. Empty for several words, a short one, and other scripts."""
        folded = fold(self.about).strip()
        if len(folded) < _INFLECTED_CHARS_MIN or not _INFLECTED.fullmatch(folded):
            return ""
        shortest = min(len(stem(folded, language)) for language in LANGUAGES)
        # A stem may have lost a letter from its middle: 'afspraak' and 'afspraken'.
        return folded[: max(shortest - _STEM_CHARS_LESS, _STEM_CHARS_MIN)]

    @property
    def is_all_about(self) -> bool:
        """Whether everything about the words is meant, in the whole log."""
        return bool(self.words) and not self.is_bounded

    @property
    def is_bounded(self) -> bool:
        return bool(self.since or self.until or self.session is not None or self.turns)


def forget_turns(
    scope: Scope,
    *,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    session: str | None = None,
    about: str | None = None,
    turns: Sequence[str] = (),
    purge: Callable[[list[str], str], object] | None = None,
    cut_archives: Callable[[Sequence[Turn]], object] = len,
    dry_run: bool = False,
    reason: str = "",
) -> ForgottenTurns:
    """Deletes turns that meet all conditions, and forgets the memories made from them: the archives
    of their sessions too, and with `about` those that contain the words. At least one condition is
    needed. `purge` is called with ids and a reason to delete memories permanently, including from
    files. `cut_archives` removes turns from the files of archives."""
    wanted = _wanted(since, until, session, about, turns)
    scope.require("write")
    if wanted.words:
        late_words.index_late_turns(scope.core, scope.hub_id, wait=not dry_run)
    with scope.read() as reader:
        ids = _turns_wanted(reader, scope.hub_id, wanted)
        sessions = _sessions(reader, scope.hub_id, ids)
        memories = _made_from(reader, scope.hub_id, set(ids), sessions)
        if wanted.is_all_about:
            memories = _with_those_about(
                reader, scope.hub_id, memories, wanted, also_forgotten=purge is not None
            )
        shown = reader.turns_by_id(scope.hub_id, ids[-_BATCH:])
    found = ForgottenTurns(len(ids), tuple(shown.values()), tuple(memories), dry_run)
    if dry_run:
        return found
    scope.core.require("manage")
    why = reason or "its turns were forgotten"

    def forget(memories: Iterable[Memory]) -> None:
        if doomed := [memory.id for memory in memories]:
            _ = purge(doomed, why) if purge is not None else edit.forget(scope, doomed, why)

    # Memories first: if the call is cut off here, repeating it finds the same turns.
    forget(memories)
    if purge is not None and wanted.is_all_about:
        _clean_history(scope, wanted)
    for start in range(0, len(ids), _BATCH):
        some = ids[start : start + _BATCH]
        if sessions:
            with scope.read() as reader:
                turns_here = reader.turns_by_id(scope.hub_id, some)
            cut_archives([*turns_here.values()])
        with scope.write() as writer:
            drop(scope, writer, some)
    # Memories that were made in the meantime. From now on, none is made from these turns.
    with scope.read() as reader:
        forget(_made_from(reader, scope.hub_id, set(ids), sessions))
    edit.clear_purged(scope.core, "The turns are forgotten")
    return found


def forget_last(
    scope: Scope, session: str, *, dry_run: bool = False, reason: str = ""
) -> list[Memory]:
    """Forgets the memories that were made from the last message of a session."""
    last = made_last([scope], session)
    if dry_run or not last:
        return last
    return edit.forget(scope, [one.id for one in last], reason)


def made_last(scopes: Sequence[Scope], session: str) -> list[Memory]:
    """The memories of these hubs that were made from the last message of a session; empty if it
    gave none. An interjection ('ok, thanks') that gave none does not count as the last message."""
    name = clean_session(session)
    if name is None:
        raise InvalidInput("Name the session whose last memories are to be forgotten.")
    # For each memory, when its source was said, and in which turn.
    made: list[tuple[datetime, Turn | None, Memory]] = []
    said: list[Turn] = []
    for scope in scopes:
        with scope.read() as reader:
            wanted = Filter(session=name)
            found = reader.memories(
                scope.hub_id, wanted, order="newest", after=None, limit=_LAST_MAX
            )
            ids = [one.origin.turn for one in found if one.origin is not None]
            turns = reader.turns_by_id(scope.hub_id, ids)
            logged = reader.turns(scope.hub_id, limit=_LAST_MAX, session=name)
        for one in found:
            turn = turns.get(one.origin.turn) if one.origin is not None else None
            # An archive of the whole session is not made from one message.
            if turn is not None or (one.origin is None and one.category != "conversation"):
                made.append((turn.at if turn else one.created_at, turn, one))
        said += filter(is_own_word, logged)
    if not made:
        return []
    at, last, newest = max(made, key=lambda row: (row[0], row[2].created_at))
    giving = {turn.id for _, turn, _ in made if turn is not None}
    for turn in said:
        is_said = turn.id in giving or len(turn.content.split()) > _INTERJECTION_WORDS
        if is_said and turn.at > at and not _is_copy(turn, last):
            return []
    return [
        one
        for _, turn, one in made
        if one.created_at == newest.created_at or (last is not None and turn == last)
    ]


def _is_copy(turn: Turn, last: Turn | None) -> bool:
    """Whether a turn is the full version of one of which the person's own log has only a part."""
    return (
        last is not None
        and turn.hub_id != last.hub_id
        and turn.at - last.at <= traces.SAME_MOMENT
        and _has_all_words(turn, last)
    )


def _has_all_words(turn: Turn, part: Turn) -> bool:
    return set(query_terms(part.content)) <= set(query_terms(turn.content))


def parts_beside(
    scope: Scope,
    beside: Scope,
    *,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    session: str | None = None,
    about: str | None = None,
    turns: Sequence[str] = (),
    is_shared: bool = False,
    dry_run: bool = False,
) -> list[str]:
    """The ids of the turns in the person's own log that are parts of turns of a project's log which
    meet all conditions: what the person said about themselves is in both, or, if others can read
    the project, only there. With `about`, only parts that contain the words themselves."""
    wanted = _wanted(since, until, session, about, turns)
    if wanted.words:
        for hub_id in (scope.hub_id, beside.hub_id):
            late_words.index_late_turns(scope.core, hub_id, wait=not dry_run)
    alone = _alone_beside(scope, beside, wanted) if is_shared else []
    said: dict[str | None, list[Turn]] = {}
    for one in _read_turns(scope, wanted):
        said.setdefault(one.session, []).append(one)
    if not said:
        return alone
    times = [one.at for some in said.values() for one in some]
    around = _Wanted(
        min(times) - traces.SAME_MOMENT,
        max(times) + 2 * traces.SAME_MOMENT,
        session=wanted.session,
        turns=frozenset(),
        about=wanted.about,
        words=wanted.words,
    )
    for some in said.values():
        some.sort(key=_TIME)
    parts = [
        part.id
        for part in _read_turns(beside, around)
        if any(_is_part(part, one) for one in _said_with(part, said.get(part.session, [])))
    ]
    return list(dict.fromkeys([*alone, *parts]))


def _alone_beside(scope: Scope, beside: Scope, wanted: _Wanted) -> list[str]:
    """The turns in the person's own log that meet all conditions and are of the session named, or
    of one that has turns in the project's log."""
    found = [one for one in _read_turns(beside, wanted) if one.session is not None]
    sessions = {one.session for one in found}
    if wanted.session is None:
        with scope.core.read() as reader:
            sessions = {one for one in sessions if reader.turns(scope.hub_id, limit=1, session=one)}
    return [one.id for one in found if one.session in sessions]


_TIME = attrgetter("at")


def _said_with(turn: Turn, others: list[Turn]) -> list[Turn]:
    """Those of other turns, in order of time, that were said at the same moment."""
    first = bisect_left(others, turn.at - traces.SAME_MOMENT, key=_TIME)
    return others[first : bisect_right(others, turn.at + traces.SAME_MOMENT, key=_TIME)]


def _read_turns(scope: Scope, wanted: _Wanted) -> Iterator[Turn]:
    with scope.read() as reader:
        ids = _turns_wanted(reader, scope.hub_id, wanted)
        for start in range(0, len(ids), _BATCH):
            yield from reader.turns_by_id(scope.hub_id, ids[start : start + _BATCH]).values()


def _is_part(part: Turn, whole: Turn) -> bool:
    """Whether a turn of the person's own log is a part of one that was said at the same moment. If
    others read the project, its log lacks that part, and the session must do."""
    return part.session is not None or _has_all_words(whole, part)


def _wanted(
    since: datetime | str | None,
    until: datetime | str | None,
    session: str | None,
    about: str | None,
    turns: Sequence[str],
) -> _Wanted:
    wanted = _Wanted(
        clean.clean_time(since),
        clean.clean_time(until),
        clean_session(session),
        frozenset(turns),
        about or "",
        _words(about),
    )
    if not wanted.is_bounded and not wanted.words:
        raise InvalidInput(
            "Say what to forget: since a time, until a time, a session, about a word, or turns."
        )
    return wanted


def _turns_wanted(reader: Reader, hub_id: str, wanted: _Wanted) -> list[str]:
    """The ids of the turns that meet all conditions, oldest first."""
    ids = reader.turn_ids(hub_id, session=wanted.session, since=wanted.since, until=wanted.until)
    if wanted.turns:
        ids = [one for one in ids if one in wanted.turns]
    if wanted.words:
        held = _holding(reader, hub_id, wanted)
        ids = [one for one in ids if one in held]
    return ids


def _words(about: str | None) -> tuple[str, ...]:
    if about is None:
        return ()
    if not isinstance(about, str) or not about.strip() or len(about) > _ABOUT_CHARS_MAX:
        raise InvalidInput(
            f"What it is about is a word or a few, at most {_ABOUT_CHARS_MAX} characters."
        )
    found = tuple(dict.fromkeys(query_terms(about)))
    if not found:
        raise InvalidInput(f"{about!r} holds no word that can be looked for.")
    return found


def _holding(reader: Reader, hub_id: str, wanted: _Wanted) -> set[str]:
    """The turns that contain all of the words, or the text literally."""
    words, asked = wanted.words, TermQuery(wanted.words)
    whole: list[str] = []
    # The beginning of a word finds all its forms.
    needle, is_form = wanted.stem or wanted.needle, _form_of(wanted)
    ids = reader.search_substring(hub_id, needle, _TURNS_ONLY, limit=_FOUND_MAX)
    for start in range(0, len(ids), _BATCH):
        for turn in reader.turns_by_id(hub_id, ids[start : start + _BATCH]).values():
            text = trigram_text(turn.content)
            if _says_literally(text, wanted.needle) or is_form(turn.content):
                whole.append(turn.id)
    held: dict[str, set[str]] = {}
    for one in reader.search_terms(hub_id, asked, _TURNS_ONLY, limit=_FOUND_MAX):
        together = {*one.body.split(), *one.head.split()}
        held.setdefault(one.memory_id, set()).update(word for word in words if word in together)
    return {*whole, *(one for one, found in held.items() if len(found) == len(words))}


def archives_of(scope: Scope, turns: Sequence[Turn]) -> list[str]:
    """The ids of the archives of the sessions of these turns."""
    sessions = {turn.session for turn in turns} - {None}
    wanted = EVERYTHING._replace(categories=("conversation",), forgotten=None)
    with scope.read() as reader:
        found = every_memory(reader, scope.hub_id, wanted) if sessions else ()
        return [one.id for one in found if one.session in sessions and is_archive(one)]


def _sessions(reader: Reader, hub_id: str, ids: Sequence[str]) -> set[str]:
    """The sessions of these turns that were archived."""
    wanted = EVERYTHING._replace(categories=("conversation",), forgotten=None)
    archived = {one.session for one in every_memory(reader, hub_id, wanted) if is_archive(one)}
    found: set[str | None] = set()
    for start in range(0, len(ids) if archived else 0, _BATCH):
        turns = reader.turns_by_id(hub_id, ids[start : start + _BATCH])
        found |= {turn.session for turn in turns.values()} & archived
    return {one for one in found if one is not None}


def _made_from(reader: Reader, hub_id: str, ids: set[str], sessions: set[str]) -> list[Memory]:
    """The memories that are not forgotten and were made from one of these turns, or are archives of
    one of these sessions."""
    if not ids:
        return []
    found = every_memory(reader, hub_id, EVERYTHING._replace(forgotten=False))
    return [
        one
        for one in found
        if (one.origin is not None and one.origin.turn in ids)
        or (one.session in sessions and is_archive(one))
    ]


def _with_those_about(
    reader: Reader,
    hub_id: str,
    memories: list[Memory],
    wanted: _Wanted,
    *,
    also_forgotten: bool,
) -> list[Memory]:
    holds = _holding_text(wanted)
    query = TextQuery(wanted.needle, tuple(terms(wanted.about)) or wanted.words)
    found = {one.id: one for one in memories}
    current = EVERYTHING._replace(forgotten=False)
    forms = [TextQuery(wanted.stem, ())] if wanted.stem else []
    for each in (query, *forms):
        for one in reader.matching(hub_id, each, current, order="number"):
            if holds(one.content):
                found.setdefault(one.id, one)
    # Only contents are found by the index, and none of forgotten memories.
    for one in every_memory(reader, hub_id, EVERYTHING if also_forgotten else current):
        texts = _texts_beside(one)
        if one.forgotten_at is not None:
            texts.append(one.content)
        if one.id not in found and any(map(holds, texts)):
            found[one.id] = one
    return sorted(found.values(), key=lambda one: one.number)


def _texts_beside(memory: Memory) -> list[str]:
    """What people wrote beside the content. Categories of Holdfast are in its own words."""
    label = "" if memory.category in CATEGORIES else memory.category
    return [memory.title, " ".join(memory.tags), memory.summary, memory.key or "", label]


def _holding_text(wanted: _Wanted) -> Callable[[str], bool]:
    """Makes a predicate: whether a text contains all of the words, or the text literally."""
    needle, words, is_form = wanted.needle, set(wanted.words), _form_of(wanted)
    return lambda text: (
        _says_literally(trigram_text(text), needle)
        or words <= set(query_terms(text))
        or is_form(text)
    )


def _form_of(wanted: _Wanted) -> Callable[[str], bool]:
    """Makes a predicate: whether a text in another language than English has another form of the
    word. English forms have the same index terms."""
    beginning = wanted.stem
    if not beginning:
        return lambda _: False
    word = fold(wanted.about).strip()

    def has_form(text: str) -> bool:
        folded = fold(text)
        if beginning not in folded:
            return False
        language = language_of(_LETTERS.findall(folded))
        if not language:
            return False
        root = stem(word, language)
        typed = _LETTERS.findall(unicodedata.normalize("NFC", text))
        return any(
            stem(fold(one), language) == root and not _may_be_name(one, language)
            for one in typed
            if fold(one).startswith(beginning)
        )

    return has_form


def _may_be_name(form: str, language: str) -> bool:
    """Whether another form of a word may be the name of somebody else: Roberto is not Roberta.
    German writes all nouns with a capital letter, and does not tell such names by their ends."""
    return language != "german" and form[:1].isupper() and not (form[1:] and form.isupper())


_LETTERS = re.compile(r"[^\W\d_]+")


def _says_literally(text: str, needle: str) -> bool:
    """Whether a text contains another. Words are whole, so that 'Ines' is not in 'machines', but in
    scripts without spaces; a part of an identifier or an address may be anywhere."""
    at = text.find(needle) if needle else -1
    if at >= 0 and _SIGN_INSIDE.search(needle):
        return True
    while at >= 0:
        end = at + len(needle)
        if not (_is_inside_word(text, at) or _is_inside_word(text, end)):
            return True
        at = text.find(needle, at + 1)
    return False


_SIGN_INSIDE = re.compile(r"\w(?:_|[^\w\s])+\w")


def _is_inside_word(text: str, place: int) -> bool:
    around = text[max(0, place - 1) : place + 1]
    return len(around) == 2 and all(one.isalnum() and not is_unspaced(one) for one in around)


# What replaces a text in the history that was purged by a word of it.
_REMOVED = "(removed)"
# The fields of memories with words of people; the values of others are Holdfast's own.
_WRITTEN = frozenset(
    {"content", "title", "summary", "key", "category", "tags", "session", "speaker", "metadata"}
    | {"source_path", "source_agent", "assisted_by_agent", "state_reason", "quarantine"}
)


def _clean_history(scope: Scope, wanted: _Wanted) -> None:
    """Removes texts with the words from earlier versions of memories that no longer contain them,
    from the reasons of changes, and from stored responses."""
    from holdfast.engine import idempotency

    holds = _holding_text(wanted)

    def removed(value: Any) -> Any:
        if isinstance(value, str):
            return _REMOVED if value not in CATEGORIES and holds(value) else value
        if isinstance(value, Mapping):
            return {name: removed(one) for name, one in value.items() if not holds(name)}
        if isinstance(value, tuple | list):
            return type(value)(one for one in value if removed(one) == one)
        return value

    def cleaned(revision: Revision) -> Revision:
        fields = {
            name: (removed(old), removed(new)) if name in _WRITTEN else (old, new)
            for name, (old, new) in revision.fields.items()
        }
        return revision if fields == dict(revision.fields) else revision._replace(fields=fields)

    with scope.read() as reader:
        rows: list[Revision | Change] = [
            clean
            for row in reader.scan_revisions(scope.hub_id)
            if (clean := cleaned(row)) is not row
        ]
        rows += [
            row._replace(reason=_REMOVED)
            for row in reader.scan_changes(scope.hub_id)
            if holds(row.reason)
        ]
    for start in range(0, len(rows), _BATCH):
        with scope.write() as writer:
            for row in rows[start : start + _BATCH]:
                writer.correct(scope.hub_id, row)
    with scope.write() as writer:
        idempotency.blank_saying(writer, scope.hub_id, holds)


def dropping(scope: Scope, turns: Sequence[Turn]) -> Callable[[Writer], None]:
    """Makes a function that drops these turns in another transaction."""
    return lambda writer: drop(scope, writer, [turn.id for turn in turns])


def drop_turns_saying(scope: Scope, memories: Sequence[Memory]) -> list[str]:
    """Drops the turns of this hub's log that say what memories of another hub say; returns the ids
    of the archives of their sessions."""
    late_words.index_late_turns(scope.core, scope.hub_id, wait=True)
    said = traces.turns_saying(scope, memories)
    if said:
        scope.require("manage")
        with scope.write() as writer:
            drop(scope, writer, [turn.id for turn in said])
    return archives_of(scope, said)


def drop(scope: Scope, writer: Writer, ids: Sequence[str]) -> None:
    """Drops turns with everything that is stored about them except memories."""
    # Imported here, because logging a turn does not need it.
    from holdfast.engine import idempotency

    gone = writer.turns_by_id(scope.hub_id, ids)
    jobs.drop_about(writer, scope.hub_id, gone)
    capture_stats.forget(writer, scope.hub_id, [turn.content for turn in gone.values()])
    late_words.drop_marks(writer, scope.hub_id, ids)
    writer.drop_turns(scope.hub_id, ids)
    texts = [turn.content for turn in gone.values()]
    idempotency.blank(writer, scope.hub_id, ids, texts)
    authors.forget_empty(writer, scope.hub_id, (turn.session for turn in gone.values()))
