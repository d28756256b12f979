"""The block that is put into an agent's prompt.

Without a question: standing facts, a few of the other long-term memories, the journal of today and
yesterday, and where the last session ended. With one: the few standing facts that are closest to
it, and then what is relevant to it, memories and turns of the conversation log alike; nothing else,
however much room is left. The styles of other systems have long-term memory in both cases, and
memories that are relevant below it.

Same state, same block, byte for byte. What grows, grows at the end of its section, and what no
longer fits leaves in steps, so that a prompt cache keeps most of the block. A budget is never
exceeded. What the block looks like is the style's business, and fitting it the block's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from holdfast.domain.memory import TRUSTS, Memory, Trust, made_from
from holdfast.domain.query import Filter, Hit
from holdfast.domain.records import Turn, as_memory
from holdfast.engine.context.budget import Budget, Candidates, Tokenizer, Unit, budget_of
from holdfast.engine.context.items import (
    CATEGORIES,
    MARK,
    CorrectedFact,
    by_weight,
    closest_first,
    corrected_in,
    is_corrected,
    line_chars,
    quoted,
)
from holdfast.engine.context.layout import Block, FilePart, newer_first
from holdfast.engine.context.relevance import for_question
from holdfast.engine.context.styles import MORE_MAX, STYLES, WAITING_MAX, BlockItem, Part, Style
from holdfast.engine.core import Core, Scope
from holdfast.engine.reading.listing import list_memories
from holdfast.engine.review import inbox
from holdfast.engine.traces import Withheld
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import query_terms
from holdfast.text.classify.titles import listed_text
from holdfast.text.clean import one_of

# How many hits of recall are considered.
_RELEVANT_MAX = 8
# Shares of the budget that are reserved for what comes after long-term memory. They do not depend
# on what is found, so that different questions get the same first part.
_RELEVANT_SHARE = 4
_JOURNAL_SHARE = 8
_FILES_SHARE = 8
# What a tool printed may be recalled, but is not put before an agent that has not asked.
_ASKED_ONLY = "tool"
_UNASKED: tuple[Trust, ...] = tuple(trust for trust in TRUSTS if trust != _ASKED_ONLY)
# For a question: how many hits are considered, and how many standing facts come before them, with
# which share of the budget, so that the answer is among the first lines. Eight or twelve facts hold
# no more of the preferences that a question bears on than five.
_ANSWERS_MAX = 40
_STANDING_MAX = 5
_STANDING_SHARE = 4
_STANDING_READ = 200
# Without a question: how many lines of standing facts there are at most, and of other long-term
# memories, the last used of them. Together they are about 4,000 characters: what a question does
# not ask for is not worth more of a prompt. Pinned ones are all in, as far as there is room.
_STANDING_LINES, _OTHER_LINES = 48, 16
# How many documents are listed at most.
_FILES_MAX = 50
# How many turns show where a session ended.
_LAST_TURNS = 4
_NO_ROOM = "there is no room for it"
_NO_ROOM_USE = f"{_NO_ROOM}; what is in was used more recently"
_NO_ROOM_AGE = f"{_NO_ROOM}; what is in is newer"
_NOT_ASKED = "more of its kind than are shown without a question"


class Absent(NamedTuple):
    """A memory that is not in the block, where it would have been, and why it is not."""

    memory: Memory
    section: str
    reason: str


class Context(NamedTuple):
    """The block, and how it came about."""

    text: str
    included: tuple[Memory, ...]
    left_out: tuple[Absent, ...]
    used: int
    budget: int
    unit: Unit
    # Why what a question makes relevant may be weaker than usual; empty when it is not.
    degraded: tuple[str, ...] = ()
    # Facts that fit the question and no longer hold.
    outdated: tuple[CorrectedFact, ...] = ()


# In a very large hub only this many memories are considered: twice as many as are counted.
_IDS_MAX = 2 * MORE_MAX
# A block of this size, in characters or tokens, holds fewer than MORE_MAX.
_BUDGET_MOST = 3 * MORE_MAX


def context(
    scope: Scope,
    query: str | None = None,
    *,
    budget: int | None = None,
    unit: str = "chars",
    style: str = "plain",
    count_tokens: Tokenizer | None = None,
    explain: bool = False,
    file: Sequence[FilePart] | None = None,
    elsewhere: Callable[[str | None], bool] | None = None,
    outdated: Sequence[CorrectedFact] = (),
    own_files: Sequence[str] = (),
) -> Context:
    """Builds the block. Only with `explain` is there a list of what is not in it. `file` is
    MEMORY.md for the styles that show it; without it they show what it would hold. `own_files` are
    the paths of the hub's own documents, which are listed where there is no question. Where this
    block is shown beside one of another hub, `elsewhere` says which sessions that hub has logged:
    their turns, and where the last session ended, are left to it. `outdated` are facts of the other
    hub that no longer hold: turns that say so are marked."""
    look = STYLES[one_of(style, tuple(STYLES), "style")]
    allowed = budget_of(budget, unit, count_tokens, chars_max=scope.settings["context.chars_max"])
    if look.cut_as_text and budget is None and allowed.unit == "chars":
        # The cap of this style is on the file's text; its heading comes on top.
        allowed = allowed._replace(limit=allowed.limit + len(look.opening(scope.hub)))
    now = scope.now()
    asked = query if query is not None and query.strip() else None
    request = _Request(scope, look, allowed, now, explain, elsewhere)
    if asked is not None and look.by_relevance:
        return _answering(request, asked, outdated)
    return _always(request, asked, file, own_files)


class _Request(NamedTuple):
    """The arguments of `context` that its parts share."""

    scope: Scope
    style: Style
    budget: Budget
    now: datetime
    explain: bool
    elsewhere: Callable[[str | None], bool] | None

    @property
    def line_chars(self) -> int:
        """How long one line may be at most."""
        limit = self.budget.limit
        return line_chars(limit if self.budget.unit == "chars" else 4 * limit)

    def finished(
        self,
        block: Block,
        left_out: Iterable[Absent],
        degraded: tuple[str, ...],
        corrected: Sequence[CorrectedFact] = (),
    ) -> Context:
        """The block as it is returned. What `left_out` adds is not among its candidates."""
        text, used = block.finish()
        absent: list[Absent] = []
        if self.explain:
            absent = [Absent(item.memory, item.section, reason) for item, reason in block.left_out]
            absent += left_out
        included = tuple(item.memory for item in block.chosen)
        limit, unit = self.budget.limit, self.budget.unit
        return Context(text, included, tuple(absent), used, limit, unit, degraded, tuple(corrected))


def _always(
    request: _Request,
    asked: str | None,
    file: Sequence[FilePart] | None,
    own_files: Sequence[str],
) -> Context:
    """The block of what is always kept in mind, with a share for what answers a question, for the
    journal and for documents, and where the last session ended."""
    scope, look, allowed, now, explain, elsewhere = request
    journal = _journal(scope, now) if look.journal else []
    files = documents_listed(scope, own_files, now) if look.by_relevance else []
    as_file = look.cut_as_text and file is None
    # So that more than MORE_MAX are left however many are shown.
    bounded = file is None and allowed.limit <= _BUDGET_MOST
    with _long_term(scope, now, look, everything=explain, as_file=as_file, bounded=bounded) as (
        candidates,
        unfit,
    ):
        items_max = len(candidates) + len(journal) + len(files) + _RELEVANT_MAX
        waiting = inbox.count(scope, most=WAITING_MAX)
        block = Block(look, scope.hub, allowed, items_max=items_max, waiting=waiting)
        for_relevant = allowed.limit // _RELEVANT_SHARE if asked else 0
        for_journal = allowed.limit // _JOURNAL_SHARE if journal else 0
        for_files = allowed.limit // _FILES_SHARE if files else 0
        room = block.room - for_relevant - for_journal - for_files
        if file is not None and look.is_file:
            block.add_file(file, candidates, room, _NO_ROOM_USE)
        elif look.by_relevance:
            _add_standing(block, candidates, _standing(scope, now), look, room)
        else:
            block.add_best(candidates, room, _NO_ROOM_USE)
    degraded: tuple[str, ...] = ()
    if asked is not None:
        # Here, as a session begins without a question.
        from holdfast.engine.reading.recall import recall_memories

        found = recall_memories(scope, asked, Filter(), limit=_RELEVANT_MAX)
        degraded = found.degraded
        hits = [BlockItem(hit.memory, hit.passage.text, "relevant") for hit in found]
        hits = _without_said(hits, block.chosen, unfit)
        block.add_fitting(hits, block.room - for_journal, _NO_ROOM)
    block.add_fitting(files, min(for_files, block.room - for_journal), _NO_ROOM)
    newest_first = [BlockItem(entry, entry.content, "recent") for entry in reversed(journal)]
    newest_first = _without_said(newest_first, block.chosen, unfit)
    block.add_best(newest_first, block.room, _NO_ROOM_AGE)
    if look.by_relevance and elsewhere is None:
        block.add_fitting(_last_session(request), block.room, _NO_ROOM)
    return request.finished(block, unfit, degraded)


def _add_standing(
    block: Block, candidates: Candidates, standing: Sequence[Memory], look: Style, room: int
) -> None:
    """Adds standing facts, those that matter most first, and then some of the others."""
    before = block.room
    ids = {memory.id for memory in standing}
    first = [_item(memory, look) for memory in standing]
    others = candidates.among([one for one in candidates.ids if one not in ids])
    for items, most in ((first, _STANDING_LINES), (others, _OTHER_LINES)):
        left = room - (before - block.room)
        block.add_best(items, left, _NO_ROOM_USE, most=most, beyond=_NOT_ASKED)


def documents_listed(scope: Scope, paths: Sequence[str], now: datetime) -> list[BlockItem]:
    """The hub's own documents by their paths, each with how it begins."""
    found = []
    with scope.core.read() as reader:
        for path in sorted(paths)[:_FILES_MAX]:
            memory = reader.memory_by_path(scope.hub_id, path)
            shown = memory is not None and memory.visible and memory.state != "archived"
            if memory is not None and shown and not _unfit(scope.core, memory, now):
                found.append(BlockItem(memory, listed_text(path, memory.content), "files"))
    return found


# For a question


def _answering(request: _Request, asked: str, outdated: Sequence[CorrectedFact]) -> Context:
    """The block for a question: standing facts, then what answers."""
    from holdfast.engine.reading.recall import recall_memories

    scope, look, allowed, now, explain, elsewhere = request
    wanted = Filter(turns=scope.settings["context.turns"])
    facts = _standing(scope, now)
    found = recall_memories(
        scope,
        asked,
        wanted,
        limit=_ANSWERS_MAX,
        windows=True,
        explain=explain,
        compared=[memory.id for memory in facts],
    )
    chars, words = request.line_chars, query_terms(asked)
    old = corrected_in(scope, found)
    known = (*outdated, *old)
    hits = [
        BlockItem(hit.memory, quoted(hit, words, chars), "relevant", _note(hit, known))
        for hit in for_question(found)
        if not _unfit(scope.core, hit.memory, now, asked=True)
        and not (elsewhere and hit.turn is not None and elsewhere(hit.turn.session))
    ]
    hits = newer_first(hits)
    relevant = {item.memory.id for item in hits}
    standing = [
        BlockItem(memory, memory.content, "standing")
        for memory in closest_first(facts, words, found.cosines)
        if memory.id not in relevant
    ][:_STANDING_MAX]
    waiting = inbox.count(scope, most=WAITING_MAX)
    block = Block(look, scope.hub, allowed, items_max=0, waiting=waiting, counts_left=False)
    block.add_fitting(standing, block.room // _STANDING_SHARE, _NO_ROOM)
    block.add_fitting(hits, block.room, _NO_ROOM)
    left_out = [Absent(one.memory, "relevant now", one.reason) for one in found.left_out]
    return request.finished(block, left_out, found.degraded, old)


def _note(hit: Hit, outdated: Sequence[CorrectedFact]) -> str:
    return MARK if hit.turn is not None and is_corrected(hit.turn, outdated) else ""


def _standing(scope: Scope, now: datetime) -> list[Memory]:
    """Standing facts, most important first and, among equals, most recently used first."""
    wanted = Filter(
        layers=("long_term",), states=("active",), alive_at=now, holds_at=now, trusts=_UNASKED
    )
    with scope.read() as reader:
        ids = reader.ids_by_use(scope.hub_id, wanted, limit=_STANDING_READ)
        if len(ids) == _STANDING_READ:
            # Who somebody is may not have been used for long.
            lasting = wanted._replace(categories=CATEGORIES)
            ids += reader.ids_by_use(scope.hub_id, lasting, limit=_STANDING_READ)
            ids = [*dict.fromkeys(ids)]
        found = reader.memories_by_id(scope.hub_id, ids)
    return by_weight(one for one in found.values() if not _unfit(scope.core, one, now))


def _last_session(request: _Request) -> list[BlockItem]:
    """The last turns of the session that was logged last, in order: where it ended."""
    scope, chars = request.scope, request.line_chars
    if not scope.settings["context.turns"]:
        return []
    with scope.core.read() as reader:
        newest = reader.turns(scope.hub_id, limit=_LAST_TURNS)
        ended = [
            turn
            for turn in newest
            if turn.session == newest[0].session and turn.trust != _ASKED_ONLY
        ]
        withheld = Withheld(reader, scope)
        shown = withheld.shown_turns(_without_forgotten(ended[::-1], withheld))
    out = []
    for turn in shown:
        line = " ".join(turn.content.split())
        text = line if len(line) <= chars else line[:chars].rstrip() + "…"
        out.append(BlockItem(as_memory(turn), text, "ended"))
    return out


def _without_forgotten(turns: Sequence[Turn], withheld: Withheld) -> list[Turn]:
    """Without what is withheld as a whole, 'forget that', and the replies to these."""
    from holdfast.text.facts.about_oneself import asks_to_forget_last

    out = []
    is_gone = False
    for turn in turns:
        if turn.role == "user":
            is_gone = asks_to_forget_last(turn.content) or not withheld.shown_turns([turn])
        if not is_gone:
            out.append(turn)
    return out


# What may be in it


@contextmanager
def _long_term(
    scope: Scope, now: datetime, look: Style, *, everything: bool, as_file: bool, bounded: bool
) -> Iterator[tuple[Candidates, list[Absent]]]:
    """The candidates, best first, and where everything is asked for, the rest of the layer with
    reasons. Otherwise most of them are never read, unless a file has to be made of all of them."""
    if everything or as_file or not _sees_no_others_private(scope.core):
        fit, unfit = _all_long_term(scope, now, everything=everything)
        yield _ranked(fit, look), unfit
        return
    wanted = Filter(
        layers=("long_term",), states=("active",), alive_at=now, holds_at=now, trusts=_UNASKED
    )
    with scope.read() as reader:
        ids = reader.ids_by_use(scope.hub_id, wanted, limit=_IDS_MAX if bounded else None)

        def read(some: Sequence[str]) -> dict[str, Memory]:
            return reader.memories_by_id(scope.hub_id, some)

        yield Candidates(ids, read, lambda memory: _item(memory, look)), []


def _sees_no_others_private(core: Core) -> bool:
    """Whether what is private to somebody else is left out by the store already."""
    viewer = core.viewer
    return viewer is not None and viewer.actor == core.actor and "private" not in viewer.boundaries


def _all_long_term(
    scope: Scope, now: datetime, *, everything: bool
) -> tuple[list[Memory], list[Absent]]:
    wanted = Filter(layers=("long_term",), states=("active",), alive_at=now)
    wide = Filter(layers=("long_term",), states=(), quarantined=None)
    found = list_memories(scope, wide if everything else wanted, order="number")
    fit: list[Memory] = []
    unfit: list[Absent] = []
    for memory in found:
        reason = (everything and wanted.refusal(memory)) or _unfit(scope.core, memory, now)
        if not reason:
            fit.append(memory)
        # The block does not even mention that somebody else's private memories exist.
        elif everything and not _private(scope.core, memory):
            unfit.append(Absent(memory, memory.category, reason))
    return fit, unfit


def _journal(scope: Scope, now: datetime) -> list[Memory]:
    """The entries of today and yesterday, oldest first; days are days of UTC."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    wanted = Filter(layers=("journal",), since=today - timedelta(days=1), alive_at=now)
    # In the order of the index that knows when things happened.
    found = list_memories(scope, wanted, order="happened")
    fit = [memory for memory in found if not _unfit(scope.core, memory, now)]
    return sorted(fit, key=lambda entry: (entry.occurred_at or entry.created_at, entry.number))


def _unfit(core: Core, memory: Memory, now: datetime, *, asked: bool = False) -> str:
    """Why a memory may not be in the block, unasked or as an answer; empty if it may."""
    if memory.superseded_by is not None:
        return "something newer took its place"
    if not memory.current(now):
        return "it no longer holds"
    if memory.trust == _ASKED_ONLY and not asked:
        return "a tool said it, so it is shown only when a question asks for it"
    if _private(core, memory):
        return "it is private to somebody else"
    return ""


def _private(core: Core, memory: Memory) -> bool:
    return memory.boundary == "private" and memory.owner != core.actor


def _without_said(
    items: list[BlockItem], chosen: Sequence[BlockItem], unfit: list[Absent]
) -> list[BlockItem]:
    """Without lines of the journal whose words a long-term memory that was made from them says in
    the block already."""
    above = {source: item.memory for item in chosen for source in made_from(item.memory)}
    if not above:
        return items
    from holdfast.text.facts.statements import words_key

    out = []
    for item in items:
        earlier = above.get(item.memory.id)
        if earlier is None or words_key(earlier.content) != words_key(item.memory.content):
            out.append(item)
        elif all(absent.memory.id != item.memory.id for absent in unfit):
            unfit.append(Absent(item.memory, item.section, f"#{earlier.number} says it"))
    return out


# What is dropped first, and the order in the block


def _ranked(memories: Iterable[Memory], look: Style) -> Candidates:
    """Best first: pinned, then by last use. Older, less used ones are the first to leave."""

    def worth(memory: Memory) -> tuple[bool, datetime, int]:
        return (memory.pinned, memory.last_use, memory.number)

    found = {memory.id: memory for memory in sorted(memories, key=worth, reverse=True)}

    def read(some: Sequence[str]) -> dict[str, Memory]:
        return {one: found[one] for one in some}

    return Candidates(list(found), read, lambda memory: _item(memory, look))


def _item(memory: Memory, look: Style) -> BlockItem:
    return BlockItem(memory, memory.content, _part(memory, look))


def _part(memory: Memory, look: Style) -> Part:
    return "pinned" if look.pinned_apart and memory.pinned else "long_term"
