"""Builds the block that is put into an agent's prompt.

Without a question, it contains standing facts, a few of the other long-term memories, the journal
of today and yesterday, and the end of the last session. With a question, it contains the few
standing facts that are closest to it, and then what is relevant, memories and turns of the
conversation log alike; nothing else, however much room is left. The styles of other systems have
long-term memory in both cases, with relevant memories below it.

The same state gives the same block, byte for byte. Sections grow at their end, and items that no
longer fit are removed in steps, so that a prompt cache can reuse most of the block. The budget is
never exceeded. `styles.py` words the block, and `layout.py` fits it into the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.domain.memory import TRUSTS, Memory, Trust, made_from, renewed_id
from holdfast.domain.query import Filter
from holdfast.domain.records import Turn, as_memory
from holdfast.engine.context.answers import Answers
from holdfast.engine.context.budget import Budget, Candidates, Tokenizer, Unit, budget_of
from holdfast.engine.context.items import (
    ASKED_ONLY,
    CATEGORIES,
    CorrectedFact,
    by_weight,
    closest_first,
    corrected_in,
    is_others_private,
    line_chars,
    reason_to_omit,
)
from holdfast.engine.context.layout import Block, FilePart, newer_first
from holdfast.engine.context.relevance import for_question
from holdfast.engine.context.styles import MORE_MAX, STYLES, WAITING_MAX, BlockItem, Part, Style
from holdfast.engine.core import Core, Scope
from holdfast.engine.reading.follow_ups import (
    only_acknowledges,
)
from holdfast.engine.reading.listing import list_memories
from holdfast.engine.review import inbox
from holdfast.engine.traces import Withheld
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import query_terms
from holdfast.text.classify.titles import listed_text
from holdfast.text.clean import one_of

if TYPE_CHECKING:
    pass

# How many hits of recall are considered.
_RELEVANT_MAX = 8
# Shares of the budget reserved for the parts after long-term memory. They do not depend on what is
# found, so that different questions get the same first part.
_RELEVANT_SHARE = 4
_JOURNAL_SHARE = 8
_FILES_SHARE = 8
_UNASKED: tuple[Trust, ...] = tuple(trust for trust in TRUSTS if trust != ASKED_ONLY)
# For a question: the most hits that are considered, and the most standing facts before them, with
# their share of the budget, so that the answer is among the first lines. Eight or twelve facts
# contain no more of the preferences relevant to a question than five.
_ANSWERS_MAX = 40
_STANDING_MAX = 5
_STANDING_SHARE = 4
_STANDING_READ = 200
# Without a question: the most lines of standing facts, and of other long-term memories, the most
# recently used of them. Together they are about 4,000 characters: more of the prompt is not worth
# spending without a question. Pinned ones are all included, as far as there is room.
_STANDING_LINES, _OTHER_LINES = 48, 16
# The most documents that are listed.
_FILES_MAX = 50
# The number of turns that show how a session ended.
_LAST_TURNS = 4
# Thanks between them are left out.
_LAST_TURNS_READ = 12
_NO_ROOM = "there is no room for it"
_NO_ROOM_USE = f"{_NO_ROOM}; what is in was used more recently"
_NO_ROOM_AGE = f"{_NO_ROOM}; what is in is newer"
_NOT_ASKED = "more of its kind than are shown without a question"


class Absent(NamedTuple):
    """A memory that is not in the block for a prompt: its section, and the reason."""

    memory: Memory
    section: str
    reason: str


class Context(NamedTuple):
    """The block for a prompt, and how it was built."""

    text: str
    included: tuple[Memory, ...]
    left_out: tuple[Absent, ...]
    used: int
    budget: int
    unit: Unit
    # Why the search was weaker than usual; empty if it was not.
    degraded: tuple[str, ...] = ()
    # Facts that match the question but are outdated.
    outdated: tuple[CorrectedFact, ...] = ()


# The most memories that are considered in a very large hub: twice as many as are counted.
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
    """Builds the context block. Only `explain` lists what is not in it. `file` is MEMORY.md for the
    styles that show it; without it they show what it would contain. `own_files` are the paths of
    the hub's own documents, which are listed if there is no question. If this block is shown beside
    one of another hub, `elsewhere` says which sessions that hub has logged: their turns, and the
    end of the last session, are left to it. `outdated` are facts of the other hub that were
    superseded: turns that say them are marked."""
    look = STYLES[one_of(style, tuple(STYLES), "style")]
    allowed = budget_of(budget, unit, count_tokens, chars_max=scope.settings["context.chars_max"])
    if look.cut_as_text and budget is None and allowed.unit == "chars":
        # This style limits the text of the file; its heading is extra.
        allowed = allowed._replace(limit=allowed.limit + len(look.opening(scope.hub)))
    now = scope.now()
    asked = query if query is not None and query.strip() else None
    request = _Request(scope, look, allowed, now, explain, elsewhere)
    if asked is not None and look.by_relevance:
        return _for_question(request, asked, outdated)
    return _without_question(request, asked, file, own_files)


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
        """The largest length of a line."""
        limit = self.budget.limit
        return line_chars(limit if self.budget.unit == "chars" else 4 * limit)

    def finished(
        self,
        block: Block,
        left_out: Iterable[Absent],
        degraded: tuple[str, ...],
        corrected: Sequence[CorrectedFact] = (),
    ) -> Context:
        """The finished block. `left_out` are items besides its candidates."""
        text, used = block.finish()
        absent: list[Absent] = []
        if self.explain:
            absent = [Absent(item.memory, item.section, reason) for item, reason in block.left_out]
            absent += left_out
        included = tuple(item.memory for item in block.chosen)
        limit, unit = self.budget.limit, self.budget.unit
        return Context(text, included, tuple(absent), used, limit, unit, degraded, tuple(corrected))


def _without_question(
    request: _Request,
    asked: str | None,
    file: Sequence[FilePart] | None,
    own_files: Sequence[str],
) -> Context:
    """The block without a question, or of a style that always shows long-term memory: with a share
    for what answers a question, for the journal and for documents, and the end of the last session.
    """
    scope, look, allowed, now, explain, elsewhere = request
    journal = _journal(scope, now) if look.journal else []
    files = documents_listed(scope, own_files, now) if look.by_relevance else []
    as_file = look.cut_as_text and file is None
    # Then more than MORE_MAX are left, however many are shown.
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
        # Imported here, because a session begins without a question.
        from holdfast.engine.reading.recall import recall_memories

        found = recall_memories(scope, asked, Filter(), limit=_RELEVANT_MAX)
        degraded = found.degraded
        hits = [BlockItem(hit.memory, hit.passage.text, "relevant") for hit in found]
        hits = _without_said(hits, block.chosen, unfit)
        block.add_fitting(hits, block.room - for_journal, _NO_ROOM)
    block.add_fitting(files, min(for_files, block.room - for_journal), _NO_ROOM)
    newest_first = [BlockItem(entry, entry.content, "recent") for entry in reversed(journal)]
    newest_first = _without_said(newest_first, block.chosen, unfit)
    newest_first = _without_renewed(scope, newest_first, block.chosen, unfit)
    block.add_best(newest_first, block.room, _NO_ROOM_AGE)
    if look.by_relevance and elsewhere is None:
        block.add_fitting(_last_session(request), block.room, _NO_ROOM)
    return request.finished(block, unfit, degraded)


def _add_standing(
    block: Block, candidates: Candidates, standing: Sequence[Memory], look: Style, room: int
) -> None:
    """Adds standing facts, the most important first, and then some of the other memories."""
    before = block.room
    ids = {memory.id for memory in standing} | _renewed(standing)
    first = [_item(memory, look) for memory in standing]
    others = candidates.without(ids)
    for items, most in ((first, _STANDING_LINES), (others, _OTHER_LINES)):
        left = room - (before - block.room)
        block.add_best(items, left, _NO_ROOM_USE, most=most, beyond=_NOT_ASKED)


def documents_listed(scope: Scope, paths: Sequence[str], now: datetime) -> list[BlockItem]:
    """The hub's own documents: their paths, each with its beginning."""
    found = []
    with scope.core.read() as reader:
        for path in sorted(paths)[:_FILES_MAX]:
            memory = reader.memory_by_path(scope.hub_id, path)
            shown = memory is not None and memory.visible and memory.state != "archived"
            if memory is not None and shown and not reason_to_omit(scope.core, memory, now):
                found.append(BlockItem(memory, listed_text(path, memory.content), "files"))
    return found


# For a question


def _for_question(request: _Request, asked: str, outdated: Sequence[CorrectedFact]) -> Context:
    """The block for a question: standing facts, then the hits."""
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
        # Shown behind what they correct, which is marked.
        corrections=False,
    )
    words = query_terms(asked)
    old = corrected_in(scope, found)
    known = (*outdated, *old)
    with scope.core.read() as reader:
        answers = Answers(reader, scope, now, words, known, request.line_chars, elsewhere)
        lines, said_next = answers.lines(for_question(found))
    hits = newer_first(lines)
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
    block.add_fitting(said_next, block.room, _NO_ROOM)
    left_out = [Absent(one.memory, "relevant now", one.reason) for one in found.left_out]
    return request.finished(block, left_out, found.degraded, old)


def _standing(scope: Scope, now: datetime) -> list[Memory]:
    """Standing facts, most important first and, among equals, most recently used first. Of a fact
    and what it has changed into, only the newer one."""
    wanted = Filter(
        layers=("long_term",), states=("active",), alive_at=now, holds_at=now, trusts=_UNASKED
    )
    with scope.read() as reader:
        ids = reader.ids_by_use(scope.hub_id, wanted, limit=_STANDING_READ)
        if len(ids) == _STANDING_READ:
            # Facts about a person may not have been used for long.
            lasting = wanted._replace(categories=CATEGORIES)
            ids += reader.ids_by_use(scope.hub_id, lasting, limit=_STANDING_READ)
            ids = [*dict.fromkeys(ids)]
        found = reader.memories_by_id(scope.hub_id, ids)
    fit = [one for one in found.values() if not reason_to_omit(scope.core, one, now)]
    renewed = _renewed(fit)
    return by_weight(one for one in fit if one.pinned or one.id not in renewed)


def _renewed(memories: Iterable[Memory]) -> set[str]:
    """The older memories that some of these were told as a change of."""
    return {older for one in memories if (older := renewed_id(one)) is not None}


def _last_session(request: _Request) -> list[BlockItem]:
    """The last turns of the most recently logged session, in order."""
    scope, chars = request.scope, request.line_chars
    if not scope.settings["context.turns"]:
        return []
    with scope.core.read() as reader:
        newest = reader.turns(scope.hub_id, limit=_LAST_TURNS_READ)
        ended = [
            turn
            for turn in newest
            if turn.session == newest[0].session
            and turn.trust != ASKED_ONLY
            and not only_acknowledges(turn.content)
        ][:_LAST_TURNS]
        withheld = Withheld(reader, scope)
        shown = withheld.shown_turns(_without_forgotten(ended[::-1], withheld))
    out = []
    for turn in shown:
        line = " ".join(turn.content.split())
        text = line if len(line) <= chars else line[:chars].rstrip() + "…"
        out.append(BlockItem(as_memory(turn), text, "ended"))
    return out


def _without_forgotten(turns: Sequence[Turn], withheld: Withheld) -> list[Turn]:
    """The turns without those that are withheld completely, requests to forget, and the replies to
    these."""
    from holdfast.text.private import asks_to_forget_last

    out = []
    is_gone = False
    for turn in turns:
        if turn.role == "user":
            is_gone = asks_to_forget_last(turn.content) or not withheld.shown_turns([turn])
        if not is_gone:
            out.append(turn)
    return out


# The candidates


@contextmanager
def _long_term(
    scope: Scope, now: datetime, look: Style, *, everything: bool, as_file: bool, bounded: bool
) -> Iterator[tuple[Candidates, list[Absent]]]:
    """The candidates, best first, and with `everything`, the rest of the layer with reasons.
    Otherwise most of them are never read, unless a file must be made of all of them."""
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
    """Whether the store already hides the private memories of others."""
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
        reason = (everything and wanted.refusal(memory)) or reason_to_omit(scope.core, memory, now)
        if not reason:
            fit.append(memory)
        # The block does not even mention that somebody else's private memories exist.
        elif everything and not is_others_private(scope.core, memory):
            unfit.append(Absent(memory, memory.category, reason))
    return fit, unfit


def _journal(scope: Scope, now: datetime) -> list[Memory]:
    """The entries of today and yesterday (UTC), oldest first."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    wanted = Filter(layers=("journal",), since=today - timedelta(days=1), alive_at=now)
    # In the order of the index on times of events.
    found = list_memories(scope, wanted, order="happened")
    fit = [memory for memory in found if not reason_to_omit(scope.core, memory, now)]
    return sorted(fit, key=lambda entry: (entry.occurred_at or entry.created_at, entry.number))


def _without_said(
    items: list[BlockItem], chosen: Sequence[BlockItem], unfit: list[Absent]
) -> list[BlockItem]:
    """The items without journal lines that a long-term memory in the block, made from them,
    repeats."""
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


def _without_renewed(
    scope: Scope,
    items: list[BlockItem],
    chosen: Sequence[BlockItem],
    unfit: list[Absent],
) -> list[BlockItem]:
    """The items without journal lines of a fact that a memory in the block was told as a change of:
    the block leaves out that fact itself."""
    shown = {item.memory.id for item in chosen}
    newer = {renewed_id(item.memory) or "": item.memory for item in chosen}
    hidden = [one for one in newer if one and one not in shown]
    if not items or not hidden:
        return items
    with scope.read() as reader:
        facts = reader.memories_by_id(scope.hub_id, hidden)
    outdated = {line: newer[id_] for id_, fact in facts.items() for line in made_from(fact)}
    unfit += [
        Absent(item.memory, item.section, f"#{outdated[item.memory.id].number} is newer")
        for item in items
        if item.memory.id in outdated
    ]
    return [item for item in items if item.memory.id not in outdated]


# What is removed first, and the order in the block


def _ranked(memories: Iterable[Memory], look: Style) -> Candidates:
    """Best first: pinned, then by last use. The least recently used are removed first."""

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
