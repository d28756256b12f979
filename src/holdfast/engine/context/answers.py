"""The lines of a block that answer its question: the hits, and what the person said later that
belongs to them. Which hits are likely enough is decided in `relevance.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from holdfast.domain.query import Hit
from holdfast.domain.records import Turn, as_memory
from holdfast.engine.context.beside_prompt import reply_to
from holdfast.engine.context.items import (
    MARK,
    MAYBE_OLD,
    CorrectedFact,
    day_named,
    is_corrected,
    joined_notes,
    quoted,
    reason_to_omit,
    turned_down_by,
)
from holdfast.engine.context.styles import BlockItem
from holdfast.engine.core import Scope
from holdfast.engine.reading.follow_ups import (
    FollowUp,
    Newer,
    follow_ups,
    newer_statements,
    source_turn,
)
from holdfast.engine.traces import Withheld

if TYPE_CHECKING:
    from holdfast.store.base import Reader

# The number of the best hits that are shown with what the person said after them.
_FOLLOWED_MAX = 5


class Answers:
    """Makes the lines for one question. Usable once, as long as its reader. `words` are the terms
    of the question, `outdated` facts that were superseded, and `elsewhere` says which sessions
    another block shows."""

    def __init__(
        self,
        reader: Reader,
        scope: Scope,
        now: datetime,
        words: Sequence[str],
        outdated: Sequence[CorrectedFact],
        line_chars: int,
        elsewhere: Callable[[str | None], bool] | None,
    ) -> None:
        self._scope = scope
        self._now = now
        self._words = words
        self._outdated = outdated
        self._line_chars = line_chars
        self._elsewhere = elsewhere
        self._said_later = _SaidLater(reader, scope, elsewhere)
        self._out: list[BlockItem] = []
        self._said_next: list[BlockItem] = []
        # The texts that are shown, so that each is shown once.
        self._shown: set[str] = set()

    def lines(self, hits: Sequence[Hit]) -> tuple[list[BlockItem], list[BlockItem]]:
        """The lines that answer, and what the person said next after the best of them. Of turns
        with the same words only the best is shown; a turn that only asks comes with its reply if
        that fits into a line, and what was corrected or changed later with what was said then."""
        # Turns that hits were made from are not repeated.
        sources = {hit.memory.origin.turn for hit in hits if hit.memory.origin is not None}
        for rank, hit in enumerate(hits):
            if reason_to_omit(self._scope.core, hit.memory, self._now, asked=True):
                continue
            if hit.turn is not None and not self._is_first(hit.turn):
                continue
            later: list[FollowUp] = []
            newer: list[Newer] = []
            if rank < _FOLLOWED_MAX:
                later, newer = self._said_later.words_after(hit), self._said_later.newer(hit)
            note = self._note(hit.turn, later, newer)
            for one in newer:
                if one.turn.id not in sources and self._is_new(_words_said(one.turn)):
                    self._out.append(_turn_item(self._scope, one.turn, one.text))
            if hit.turn is None or not any(one.takes_back for one in later):
                self._out.append(self._hit_item(hit, note))
            self._add_reply(hit.turn)
            self._add_later([one for one in later if one.turn.id not in sources])
        shown = {item.memory.id for item in self._out}
        return self._out, [item for item in self._said_next if item.memory.id not in shown]

    def _is_new(self, words: str) -> bool:
        """Whether these words are not shown yet; from now on they are."""
        if words in self._shown:
            return False
        self._shown.add(words)
        return True

    def _is_first(self, turn: Turn) -> bool:
        """Whether a turn is the first with its words, and not left to another block."""
        is_elsewhere = self._elsewhere is not None and self._elsewhere(turn.session)
        return not is_elsewhere and self._is_new(_words_said(turn))

    def _note(self, turn: Turn | None, later: Sequence[FollowUp], newer: Sequence[Newer]) -> str:
        """The note that a hit is outdated, or may be."""
        is_corrected_later = any(one.corrects for one in later)
        if turn is not None and (is_corrected_later or self._is_outdated(turn)):
            return MARK
        return MAYBE_OLD if newer else ""

    def _is_outdated(self, turn: Turn) -> bool:
        with self._scope.core.read() as reader:
            if is_corrected(turn, self._outdated):
                return True
            return turned_down_by(reader, self._scope, turn) is not None

    def _hit_item(self, hit: Hit, note: str) -> BlockItem:
        text = quoted(hit, self._words, self._line_chars)
        if hit.turn is not None:
            note = joined_notes(note, day_named(self._scope, hit.turn, text))
        return BlockItem(hit.memory, text, "relevant", note)

    def _add_reply(self, turn: Turn | None) -> None:
        """Adds the reply to a question, unless it is too long for a line or was turned down."""
        if turn is None:
            return
        with self._scope.core.read() as reader:
            reply = reply_to(reader, self._scope, turn)
            if reply is None or len(reply.content) > self._line_chars:
                return
            if turned_down_by(reader, self._scope, reply):
                return
        if self._is_new(_words_said(reply)):
            text = " ".join(reply.content.split())
            self._out.append(BlockItem(as_memory(reply), text, "relevant"))

    def _add_later(self, later: Sequence[FollowUp]) -> None:
        """Adds what the person said after a hit: behind it if it belongs to it, else at the end."""
        for one in later:
            text = " ".join(one.turn.content.split())
            if len(text) > self._line_chars or text.casefold() in self._shown:
                continue
            if one.takes_back and not one.says_more:
                continue
            item = _turn_item(self._scope, one.turn, text)
            if one.belongs:
                self._shown.add(text.casefold())
                self._out.append(item)
            else:
                self._said_next.append(item)


class _SaidLater:
    """What the person said later that belongs to a hit. Usable as long as its reader."""

    def __init__(
        self,
        reader: Reader,
        scope: Scope,
        elsewhere: Callable[[str | None], bool] | None,
    ) -> None:
        self._reader = reader
        self._withheld = Withheld(reader, scope)
        self._elsewhere = elsewhere
        self._is_on = scope.settings["context.turns"]

    def words_after(self, hit: Hit) -> list[FollowUp]:
        """What was said in the same session after a turn, or after that which a memory was made
        from."""
        if (hit.turn or hit.memory.origin) is None or not self._is_on:
            return []
        turn = hit.turn or source_turn(self._reader, hit.memory)
        if turn is None or self._is_elsewhere(turn):
            return []
        return follow_ups(self._reader, self._withheld, turn)

    def newer(self, hit: Hit) -> list[Newer]:
        """What was said in any session that may be meant to replace a hit."""
        if not self._is_on or (hit.turn and hit.turn.role != "user"):
            return []
        since = hit.turn.at if hit.turn else hit.memory.said_at
        memory = hit.memory
        found = newer_statements(self._reader, self._withheld, memory.hub_id, memory.content, since)
        return [one for one in found if not self._is_elsewhere(one.turn)]

    def _is_elsewhere(self, turn: Turn) -> bool:
        return self._elsewhere is not None and self._elsewhere(turn.session)


def _words_said(turn: Turn) -> str:
    return " ".join(turn.content.split()).casefold()


def _turn_item(scope: Scope, turn: Turn, text: str) -> BlockItem:
    return BlockItem(as_memory(turn), text, "relevant", day_named(scope, turn, text))
