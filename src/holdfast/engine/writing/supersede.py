"""Finds the older memories that a new one repeats, replaces or contradicts, and puts it in their
place: which memories are compared, which may be superseded by rule or because the caller named
them, and which new ones are held for the user instead. `drafts` finds duplicates, `text.slots`
compares two texts, and `recorder` writes the rows.

Older memories are found by their words in the store's index, so their number does not matter. The
search for those that may be replaced takes some milliseconds, so it runs before the transaction,
while others may write. Inside the transaction, the memories found and those changed since are
compared again, so that nothing is missed that a search inside the transaction would find. The
search for a memory that is only close reads far less, and is made inside the transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from holdfast.domain.memory import CLOSE_TO, Memory, Trust, derived_from
from holdfast.domain.query import Filter
from holdfast.domain.results import Superseded, held_as_low_trust
from holdfast.engine.core import Scope
from holdfast.engine.writing.drafts import Prepared, derived_title
from holdfast.engine.writing.recorder import Recorder
from holdfast.errors import InvalidInput
from holdfast.recall.weights import CONFIDENCE
from holdfast.store.values import TermQuery
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.classify.titles import summary_of
from holdfast.text.clean import content_hash
from holdfast.text.slots import STATEMENT_CHARS_MAX

if TYPE_CHECKING:
    from holdfast.engine.writing.indexing import Indexed
    from holdfast.store.base import Reader, Writer
    from holdfast.store.values import Candidate
    from holdfast.text.slots.compare import Sought, Verdict

# Modules with patterns of statements are imported where two texts are compared: loading them costs
# milliseconds, which most longer texts need not pay.

# Only a statement in plain words can supersede another.
_STATED = ("text", "markdown")
# The trusts whose contradiction of the user is held for review.
LESSER_VOICES: dict[Trust, str] = {"tool": "a tool", "import": "an import"}
# More at once is a list, and no questions are asked about its items.
_NAMED_MAX = 5
# A slot has one current value, copies of it, and rivals held for review; further matches by the
# same words are chance.
_CANDIDATES_MAX = 60
# Verbs such as 'lives' and 'moved' match more by chance, so more matches are read. Index terms
# distinguish short statements from long texts before any row is read.
_OF_KIND_MAX = 300
# Ranking this many passages takes some tens of milliseconds. In a large hub, a word in more
# passages than this carries too little information.
_POSTINGS_MAX = 20_000
# How many of the best matches by words are compared to find a close one.
_CLOSE_MAX = 4
# The same for `changed_by`; a fact and its journal line are two of these.
_CHANGED_LOOKED_AT = 12
# Close memories share a rare word; ranking this many passages takes a millisecond or two.
_CLOSE_POSTINGS_MAX = 1_000
# Lower than in `text.slots`, because small words and numbers are counted here too.
_SHARED_LEAST = 0.15
# If more than this has changed since the search, searching again is faster.
_CHANGED_MAX = 50
_EVERYTHING = Filter(states=(), forgotten=None, quarantined=None)
# Paraphrases of short statements are above, one changed content word mostly below; `near` has
# checked before that names, numbers and negations are the same.
_SAME_COSINE = 0.965
# Statements that begin with the same subject and are above may be about the same fact. Chosen on
# tests/data/slots_held_out.txt for the bundled model: 66 of 72 changed facts are named or replaced
# (61 by words alone), and 11 of 36 additions are asked about (7).
_CLOSE_COSINE = 0.88
# People tell a move some months ago as news, and one years ago as the past, when something learnt
# since may be newer.
_NEWS = timedelta(days=180)
# Names that a log gives to the user.
_SELF = frozenset(["", "user", "human", "me", "i"])


class Rival(NamedTuple):
    """A stored memory, and the relation of the new one to it. `protected` is the reason why it may
    not be superseded by rule; empty if it may."""

    memory: Memory
    verdict: Verdict
    protected: str = ""


class Seen(NamedTuple):
    """The older memories found at one moment that may be superseded, by id. `mark` identifies the
    revision, so that later changes can be found."""

    mark: int
    ids: tuple[str, ...]


# Which drafts are compared


def with_candidates(scope: Scope, prepared: list[Prepared]) -> list[Prepared]:
    """The drafts, each with the older memories that it may replace. They are searched here, before
    the transaction, while nobody waits."""
    # A draft that exists already was not indexed, and supersedes nothing.
    sought = [item.indexed is not None and _is_compared(item) for item in prepared]
    # Most texts can replace nothing; that is known without reading the store.
    if not any(sought):
        return prepared
    out = []
    with scope.read() as reader:
        for item, compared in zip(prepared, sought, strict=True):
            if compared:
                seen = look(reader, item.memory, replaced=_is_believed(item))
                item = item._replace(seen=seen)
            out.append(item)
    return out


def with_close(writer: Writer, prepared: list[Prepared]) -> list[Prepared]:
    """The drafts, each with the older memory that it is close to. They are searched before any of
    the drafts is stored, so that none is close to another. Inside the transaction, since this takes
    a fraction of a millisecond, less than reading the store a second time."""
    if len(prepared) > _NAMED_MAX:
        return prepared
    # A draft that replaces an older memory is not compared with close ones.
    return [
        item if _is_to_replace(item) else item._replace(close=_close_to(writer, item))
        for item in prepared
    ]


def close_to(writer: Writer, item: Prepared) -> str | None:
    """The id of an older memory that is close to the new one. Searched here only if the new one was
    to supersede another, but then did not."""
    return _close_to(writer, item) if _is_to_replace(item) else item.close


def _close_to(reader: Reader, item: Prepared) -> str | None:
    words = _close_words(item) if _is_named(item) else ()
    return _find_close(reader, item, words) if words else None


def _is_to_replace(item: Prepared) -> bool:
    """Whether it was found to replace an older memory."""
    return item.seen is not None and bool(item.seen.ids) and _is_believed(item)


def _is_named(item: Prepared) -> bool:
    """Whether an older memory that is close to it should be reported."""
    memory = item.memory
    return (
        item.indexed is not None
        and item.draft.supersedes is None
        and memory.key is None
        and memory.layer != "journal"
        and _is_plain_statement(item)
    )


def _is_compared(item: Prepared) -> bool:
    """Whether it is a plain statement that may contradict an older one."""
    if not _is_plain_statement(item):
        return False
    if not _is_believed(item):
        return True
    memory = item.memory
    if len(memory.content.strip()) > STATEMENT_CHARS_MAX:
        return False
    from holdfast.text.slots.compare import can_replace

    return can_replace(memory.content)


def _is_plain_statement(item: Prepared) -> bool:
    memory = item.memory
    if memory.quarantine or memory.source_path is not None or memory.source == "import":
        return False
    if memory.content_type not in _STATED or memory.state == "processing":
        return False
    # A turn of a conversation is a record of what was said, and is not superseded.
    return memory.session is None or memory.speaker is None


def _is_believed(item: Prepared) -> bool:
    """Whether the source is trusted enough to contradict an older memory without review."""
    return item.memory.trust not in LESSER_VOICES


# Older memories


def look(
    reader: Reader, memory: Memory, index: Indexed | None = None, *, replaced: bool = False
) -> Seen:
    """The older memories that may be superseded, found before the transaction, so that it need not
    search again."""
    # A reader sees one snapshot, so the newest revision is the same before and after the search.
    mark = reader.newest_revision(memory.hub_id)
    found = find_rivals(reader, memory, index, replaced=replaced)
    return Seen(mark, tuple(rival.memory.id for rival in found))


def find_rivals(
    reader: Reader,
    memory: Memory,
    index: Indexed | None = None,
    *,
    replaced: bool = False,
    seen: Seen | None = None,
) -> list[Rival]:
    """The memories that are current or held, visible to the same people, about the same person, and
    not unrelated to the new memory; newest first. With an index, vectors are compared too; with
    `replaced`, only those that the new one replaces are wanted."""
    found = []
    there = _comparable_memories(reader, memory, seen, replaced=replaced)
    if not there:
        return []
    is_comparable = _comparable_with(memory)
    for one in there:
        # First, because this check is cheap; comparing two texts is not.
        protected = _protected(memory, one)
        if (replaced and protected) or not is_comparable(one):
            continue
        verdict = _verdict(reader, memory, one, index, replaced=replaced)
        if verdict.relation == "replaces" or (not replaced and verdict.relation != "unrelated"):
            found.append(Rival(one, verdict, protected))
    found.sort(key=lambda rival: -rival.memory.number)
    return found


def _comparable_memories(
    reader: Reader, memory: Memory, seen: Seen | None, *, replaced: bool
) -> list[Memory]:
    """The memories to compare with the new one."""
    alike: dict[str, Memory] = {}
    ids = None if seen is None else _seen_and_changed(reader, memory, seen)
    if ids is None:
        same = reader.memories_by_hash(memory.hub_id, memory.content_hash)
        alike = {one.id: one for one in same}
        ids = []
        if _is_short(memory.content):
            ids = _candidates(reader, memory, replaced=replaced)
    if ids:
        alike |= reader.memories_by_id(memory.hub_id, ids)
    now = memory.created_at
    return [
        one
        for one in alike.values()
        if one.id != memory.id and one.forgotten_at is None and one.superseded_by is None
        if one.content_hash == memory.content_hash or _is_short(one.content)
        if one.current(now)
    ]


def _seen_and_changed(reader: Reader, memory: Memory, seen: Seen) -> list[str] | None:
    """The ids that were seen, and those added or changed since; None if those are too many. The
    passing of time can end a memory, but cannot make a rival of one that was none."""
    changed = reader.revised_since(memory.hub_id, seen.mark, limit=_CHANGED_MAX + 1)
    return None if len(changed) > _CHANGED_MAX else [*seen.ids, *changed]


def _close_words(item: Prepared) -> tuple[str, ...]:
    """Index terms of memories that may be close to an item; empty if none can be."""
    if not _is_short(item.memory.content):
        return ()
    from holdfast.text.slots.compare import close_terms

    return close_terms(item.memory.content)


def _find_close(reader: Reader, item: Prepared, words: tuple[str, ...]) -> str | None:
    """The id of the current memory that a short statement is closest to, about the same person and
    visible to the same people; the newest of equally close ones. Vectors are compared too, if the
    index has any."""
    memory, index = item.memory, item.indexed
    if index is None:
        return None
    from holdfast.text.slots.compare import has_value_of_kind, may_be_about_the_same

    # Short statements are of about the same length.
    query = TermQuery(words, by_rarity=True, postings_max=_CLOSE_POSTINGS_MAX)
    found = reader.search_terms(memory.hub_id, query, _EVERYTHING, limit=_CLOSE_MAX)
    own = frozenset[str]().union(*(entry.body for entry in index.entries))
    ids = [one.memory_id for one in found if _is_whole(one) and _shares_much(one, own)]
    if not ids:
        return None
    there = reader.memories_by_id(memory.hub_id, ids)
    close = close_in_meaning = None
    is_comparable = _comparable_with(memory)
    # Best first, in the order of the index.
    for one in (there[each] for each in ids if each in there):
        if one.id == memory.id or not one.in_force(memory.created_at):
            continue
        if one.layer == "journal" or not _is_short(one.content) or not is_comparable(one):
            continue
        if may_be_about_the_same(memory.content, one.content):
            if has_value_of_kind(memory.content, one.content):
                return one.id
            close = close or one.id
        if close_in_meaning is None and _is_close_in_meaning(reader, memory, one, index):
            close_in_meaning = one.id
    return close or close_in_meaning


def changed_by(reader: Reader, scope: Scope, text: str) -> Memory | None:
    """The memory that a person's statement may supersede, in long-term memory; of several, the one
    that shares most words with it."""
    from holdfast.text.capture.requests import order_start
    from holdfast.text.slots.compare import close_terms, may_change

    words = close_terms(text)
    if not words:
        return None
    is_order = order_start(text.lower()) is not None
    query = TermQuery(words, by_rarity=True, postings_max=_CLOSE_POSTINGS_MAX)
    found = reader.search_terms(scope.hub_id, query, _EVERYTHING, limit=_CHANGED_LOOKED_AT)
    there = reader.memories_by_id(scope.hub_id, [one.memory_id for one in found if _is_whole(one)])
    now, actor = scope.now(), scope.core.actor
    for memory in there.values():
        is_own = memory.owner == actor and memory.boundary != "private"
        if memory.layer != "long_term" or not (is_own and memory.in_force(now)):
            continue
        if not _is_short(memory.content) or not may_change(text, memory.content):
            continue
        # An order holds until another one takes its place.
        if is_order or order_start(memory.content.lower()) is None:
            return memory
    return None


def _is_close_in_meaning(reader: Reader, memory: Memory, other: Memory, index: Indexed) -> bool:
    # Other models have other ranges of cosines.
    if index.model not in CONFIDENCE:
        return False
    from holdfast.text.slots.compare import have_one_topic

    return have_one_topic(memory.content, other.content) and (
        _cosine(reader, other, index) >= _CLOSE_COSINE
    )


def _shares_much(passage: Candidate, own: frozenset[str]) -> bool:
    """Whether a passage may be close to a text of these terms, by its terms alone."""
    body = frozenset(passage.body.split(" "))
    return len(body & own) >= _SHARED_LEAST * min(len(body), len(own))


def _verdict(
    reader: Reader, memory: Memory, other: Memory, index: Indexed | None, *, replaced: bool
) -> Verdict:
    from holdfast.text.facts.statements import adds_nothing, near
    from holdfast.text.slots.compare import Verdict, compare

    verdict = compare(memory.content, other.content)
    if verdict.relation != "unrelated" or replaced:
        # The checks below only find paraphrases, which replace nothing.
        return verdict
    if adds_nothing(memory.content, other.content):
        return Verdict("same", "the older one says it already")
    if index is None or not index.model:
        return verdict
    if near(memory.content, other.content) and _cosine(reader, other, index) >= _SAME_COSINE:
        return Verdict("same", "they mean the same")
    return verdict


def _cosine(reader: Reader, other: Memory, index: Indexed) -> float:
    """The cosine of two short memories; 0 if one has no vector of this model."""
    own = [vector for entry in index.entries for vector in entry.vectors]
    rows = reader.vectors_of(other.hub_id, index.model, other.id)
    if len(own) != 1 or len(rows) != 1:
        return 0.0
    import numpy as np

    from holdfast.embed import dequantise

    one, two = dequantise(own[0]), dequantise(rows[0].vector)
    if one.shape != two.shape:
        return 0.0
    return float(one @ two / (np.linalg.norm(one) * np.linalg.norm(two)))


def _is_short(text: str) -> bool:
    text = text.strip()
    return len(text) <= STATEMENT_CHARS_MAX and "\n" not in text


def _candidates(reader: Reader, memory: Memory, *, replaced: bool) -> list[str]:
    from holdfast.text.slots.compare import sought_by

    sought = sought_by(memory.content, replaced=replaced)
    needs_terms = all(sought.required)
    queries = (_by_required_terms if needs_terms else _by_words)(reader, memory.hub_id, sought)
    found: dict[str, None] = {}
    for query, limit in queries:
        # No filter: a store that must replace filtered rows reads ever further.
        for one in reader.search_terms(memory.hub_id, query, _EVERYTHING, limit=limit):
            first = one.body.partition(" ")[0]
            # A rival is about the same subject, so a memory that begins with another name need not
            # be read. Scripts without spaces have pairs of characters as terms, and any may come
            # first.
            if not _is_whole(one) or not (first in sought.openings or not first.isascii()):
                continue
            if not needs_terms or any(map(set(one.body.split(" ")).issuperset, sought.required)):
                found[one.memory_id] = None
    return list(found)


def _by_required_terms(
    reader: Reader, hub_id: str, sought: Sought
) -> Iterator[tuple[TermQuery, int]]:
    """The queries for the index, with the most matches of each, if the terms of every rival are
    known."""
    asked = (*sought.words, *sought.kind)
    # The number of passages with a common word is counted each time, so no more words are asked for
    # than needed.
    required = dict.fromkeys(term for one in sought.required for term in one)
    frequency = reader.lexicon(hub_id, tuple(required)).frequency
    for one in sought.required:
        count = min(frequency[term] for term in one)
        if 0 < count <= _POSTINGS_MAX:
            query = TermQuery((), tuple((term,) for term in sorted(one)))
            if count > _OF_KIND_MAX:
                # If there are that few, all are read; of more, those that share most words.
                lexicon = reader.lexicon(hub_id, tuple(dict.fromkeys(asked)))
                query = query._replace(terms=lexicon.rarest(asked, _POSTINGS_MAX))
            yield query._replace(unordered=count <= _OF_KIND_MAX), _OF_KIND_MAX


def _by_words(reader: Reader, hub_id: str, sought: Sought) -> Iterator[tuple[TermQuery, int]]:
    """The queries for the index if the terms of rivals are not known: by the words of the
    statement."""
    lexicon = reader.lexicon(hub_id, tuple(dict.fromkeys([*sought.words, *sought.kind])))
    for asked, limit in ((sought.words, _CANDIDATES_MAX), (sought.kind, _OF_KIND_MAX)):
        rarest = lexicon.rarest(asked, _POSTINGS_MAX)
        matches_max = sum(lexicon.frequency[term] for term in rarest)
        yield TermQuery(rarest, unordered=matches_max <= limit), limit


def _is_whole(passage: Candidate) -> bool:
    """Whether a passage may be the whole of a short memory."""
    return passage.start == 0 and passage.end <= STATEMENT_CHARS_MAX and passage.ordinal == 0


def _comparable_with(memory: Memory) -> Callable[[Memory], bool]:
    """Makes a predicate: whether another memory is about the same person as this one, and visible
    to the same people."""
    from holdfast.text.slots.compare import subject_of

    is_private = memory.boundary == "private"
    speaker = None if subject_of(memory.content) else _speaker(memory)

    def is_comparable(other: Memory) -> bool:
        if (other.boundary == "private") != is_private:
            return False
        if is_private and other.owner != memory.owner:
            return False
        return speaker is None or (other.owner == memory.owner and _speaker(other) == speaker)

    return is_comparable


def _speaker(memory: Memory) -> str:
    speaker = (memory.speaker or "").strip().lower()
    return "" if speaker in _SELF else speaker


def _is_of_a_file(memory: Memory) -> bool:
    """Whether its text follows a file; a journal line is a memory of its own."""
    return memory.source_path is not None and memory.layer != "journal"


def _protected(memory: Memory, other: Memory) -> str:
    if other.pinned:
        return "it is pinned"
    if _is_of_a_file(other):
        return "it is kept in a file"
    if other.owner != memory.owner:
        return f"it is {other.owner}'s"
    if other.key is not None and other.key != memory.key:
        return "it has a key"
    if other.parent is not None and other.source != "extraction":
        return "it is a part of another memory"
    if other.quarantine:
        return "it waits for review itself"
    if memory.trust in ("tool", "import") and other.trust not in ("tool", "import"):
        return "a more trusted voice said it"
    if is_news_of_old(memory, other):
        return "it was learnt later than what is told now"
    return ""


def is_news_of_old(memory: Memory, other: Memory) -> bool:
    """Whether a memory is about something that happened long before the older one was learnt, and
    so does not supersede it."""
    named = memory.valid_from or _named_in(memory.content, memory.created_at)
    since = named or memory.occurred_at
    learnt = other.valid_from or other.occurred_at or other.created_at
    return since is not None and since + _NEWS < learnt


@lru_cache(maxsize=1_024)
def _named_in(text: str, said: datetime) -> datetime | None:
    """The end of the one day, month or year that a short statement names: 'sold it in 2009'."""
    if not _is_short(text):
        return None
    from holdfast.text.dates import event_in, find_dates

    if (event := event_in(text, at=said)) is not None:
        return event.until
    found = find_dates(text, now=said, zone=said.tzinfo)
    # In 'a 2014 Golf', the year is not when it happened.
    return found[0].until if len(found) == 1 and not found[0].words.isdigit() else None


# Which statement is current


def rivals_of(writer: Writer, recorder: Recorder, item: Prepared) -> list[Rival]:
    """The memories that a plain statement may supersede or contradict, newest first."""
    # If rivals were searched, they must be compared.
    if item.seen is None and not _is_compared(item):
        return []
    memory = item.memory._replace(created_at=recorder.change.at)
    return find_rivals(writer, memory, replaced=_is_believed(item), seen=item.seen)


def ended_by(rivals: Sequence[Rival]) -> list[Rival]:
    """The rivals that a new memory certainly supersedes."""
    return [
        rival for rival in rivals if rival.verdict.relation == "replaces" and not rival.protected
    ]


def doubted_by(item: Prepared, rivals: Sequence[Rival]) -> Prepared | None:
    """The new memory, held for review, if a tool or an import contradicts the user; None otherwise.
    The user decides which is right."""
    memory = item.memory
    voice = LESSER_VOICES.get(memory.trust)
    if voice is None or not rivals or memory.layer == "library":
        return None
    rival = contradicted_by(memory, rivals)
    if rival is None:
        return None
    held = held_as_low_trust(memory, voice, rival.memory, rival.verdict.reason)
    return item._replace(memory=held)


def contradicted_by(memory: Memory, rivals: Sequence[Rival]) -> Rival | None:
    """The current statement of the user that a less trusted source contradicts; None if both may be
    true. A statement about an earlier time is not contradicted by a newer one of the user."""
    return next(
        (
            rival
            for rival in rivals
            if rival.verdict.relation in ("replaces", "contradicts")
            and rival.memory.trust == "user"
            and not rival.memory.quarantine
            and not is_news_of_old(memory, rival.memory)
        ),
        None,
    )


# Putting a memory in the place of others


def supersede(recorder: Recorder, item: Prepared, previous: Memory) -> Superseded:
    """Supersedes a memory that the caller named; raises an error if that is not allowed. Without a
    boundary, the successor of a private memory is private too."""
    if item.draft.boundary is None and previous.boundary == "private":
        item = item._replace(memory=item.memory._replace(boundary="private"))
    return _put_in_place(recorder, item, [previous])


def supersede_by_known(recorder: Recorder, known: Memory, previous: Memory) -> Superseded:
    """Makes a memory that is there already the successor of another one that the caller named."""
    _check_replaced(recorder, known, previous)
    metadata = {name: value for name, value in known.metadata.items() if name != CLOSE_TO}
    memory = recorder.revise(known, supersedes=known.supersedes or previous.id, metadata=metadata)
    _end(recorder, previous, memory)
    recorder.supersede_twins(previous, memory)
    return Superseded(memory, recorder.change.id, previous)


def _check_replaced(recorder: Recorder, memory: Memory, previous: Memory) -> None:
    """Raises an error if a memory cannot be superseded by another."""
    if previous.superseded_by is not None:
        raise InvalidInput(
            f"#{previous.number} has been superseded already, by {previous.superseded_by}.",
            hint="Supersede the newest one.",
        )
    if memory.boundary == "private" and previous.owner != recorder.change.actor:
        raise InvalidInput(
            f"#{previous.number} is {previous.owner}'s, and a private memory would hide it from"
            " everyone.",
            hint="Leave the boundary out, or keep a private one beside it.",
        )


def _put_in_place(recorder: Recorder, item: Prepared, replaced: Sequence[Memory]) -> Superseded:
    """Adds a memory as the successor of others, linked with the first."""
    previous = replaced[0]
    _check_replaced(recorder, item.memory, previous)
    memory = recorder.add(item.memory._replace(supersedes=previous.id), item.indexed)
    for one in replaced:
        _end(recorder, one, memory)
    for one in replaced:
        recorder.supersede_twins(one, memory)
    return Superseded(memory, recorder.change.id, previous)


def supersede_all(recorder: Recorder, item: Prepared, replaced: Sequence[Rival]) -> Superseded:
    """Adds a memory as the successor of others that it contradicts or renews, newest first. It is
    linked with the newest, and moves to its layer if that layer is always shown. If another one
    also said something that is still true, that becomes a memory of its own."""
    previous = [rival.memory for rival in replaced]
    if item.memory.layer != "long_term" and any(one.layer == "long_term" for one in previous):
        # A journal line that moves to MEMORY.md has no place in the journal.
        path = None if item.memory.layer == "journal" else item.memory.source_path
        moved = item.memory._replace(layer="long_term", source_path=path)
        item = item._replace(memory=moved)
    result = _put_in_place(recorder, item, previous)
    kept: set[str] = set()
    for rival in replaced:
        keeps = rival.verdict.keeps
        if keeps and keeps not in kept:
            kept.add(keeps)
            recorder.add(_remainder(rival.memory, keeps))
    return result


def _remainder(ended: Memory, text: str) -> Memory:
    """A memory with the part of a superseded one that is still true."""
    kept = derived_from(
        ended,
        content=text,
        content_hash=content_hash(text),
        summary=summary_of(text),
        key=None,
        superseded_by=None,
        valid_until=None,
    )
    return kept._replace(title=derived_title(kept))


def _end(recorder: Recorder, previous: Memory, memory: Memory) -> None:
    """Marks a memory as superseded, with the end of its validity."""
    ended = memory.valid_from or recorder.change.at
    if previous.valid_from is not None:
        ended = max(ended, previous.valid_from)
    recorder.revise(previous, superseded_by=memory.id, valid_until=previous.valid_until or ended)
