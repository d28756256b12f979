"""Searches words, substrings, passages and vectors, and translates index terms for FTS5.

Every term is indexed with its hub's number as a prefix ('12·tab'), so that posting lists and
document frequencies belong to one hub. Terms come from `holdfast.text.analysis.terms` and contain
no ASCII punctuation; the `ascii` tokenizer splits them only at spaces.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, Order
from holdfast.store import rows as shared
from holdfast.store.filters import ORDERINGS
from holdfast.store.rows import damaged_row, ids_holding, matching, turn_ids_holding
from holdfast.store.sqlite import rows
from holdfast.store.sqlite.rows import HubState, KnownTerms
from holdfast.store.sqlite.session import SessionPart, where_turns
from holdfast.store.values import (
    Candidate,
    Lexicon,
    TermQuery,
    TextQuery,
    VectorRow,
    VectorState,
)
from holdfast.text.analysis.terms import trigrams

_MARK = "·"
# Substring search uses at most this many of a long needle's trigrams. The text itself is checked
# afterwards, so fewer only means more texts to check.
_TRIGRAMS_MAX = 24
# ASCII punctuation would split a trigram; it is mapped to the private use area.
_PUNCTUATION = {
    sign: chr(0xE000 + ord(sign)) for sign in map(chr, range(128)) if not sign.isalnum()
}
del _PUNCTUATION[" "]  # a trigram has none
_SIGNS = frozenset(_PUNCTUATION)


def prefixed(hub: int, terms: Collection[str]) -> str:
    """The terms as FTS5 indexes them."""
    front = f"{hub}{_MARK}"
    return front + f" {front}".join(terms) if terms else ""


def prefixed_term(hub: int, term: str) -> str:
    return f"{hub}{_MARK}{term}"


def match_expression(hub: int, query: TermQuery) -> str:
    """The MATCH expression of a query; every term is a quoted string, so nothing is syntax."""
    either = [f'"{prefixed_term(hub, term)}"' for term in query.terms]
    either += [f'"{prefixed_term(hub, term)}" *' for term in query.prefixes]
    phrases = [f'"{prefixed(hub, phrase)}"' for phrase in query.phrases]
    must = " AND ".join(phrases)
    if either and phrases:
        # A phrase is required; the loose terms only add to the score.
        any_of = " OR ".join(either)
        expression = f"(({must}) AND ({any_of})) OR ({must})"
    else:
        expression = must or " OR ".join(either)
    if query.excluded:
        without = " OR ".join(f'"{prefixed(hub, phrase)}"' for phrase in query.excluded)
        expression = f"({expression}) NOT ({without})"
    return expression


def body_expression(hub: int, terms: Collection[str]) -> str:
    """A MATCH expression for all of these terms in the body of one passage."""
    every = " AND ".join(f'"{prefixed_term(hub, term)}"' for term in terms)
    return f"body : ({every})" if every else ""


def indexed_trigrams(text: str) -> set[str]:
    """The trigrams of a text, with punctuation mapped."""
    # A text has few different ones, so this takes half the time of `translate`.
    for sign in _SIGNS.intersection(text):
        text = text.replace(sign, _PUNCTUATION[sign])
    return trigrams(text)


def trigram_expression(hub: int, needle: str) -> str:
    """A MATCH expression that every text with the needle matches; empty if the needle is too
    short."""
    found = sorted(indexed_trigrams(needle))
    step = max(1, len(found) // _TRIGRAMS_MAX)
    return " AND ".join(f'"{prefixed_term(hub, gram)}"' for gram in found[::step])


_REST = 'p.pk, p.ordinal, p.start, p."end", p.headings, p.body, p.head, p.windows'
_PASSAGE_COLUMNS = f"m.id, {_REST}"
# Of a memory or a turn.
_OWNED_COLUMNS = f"coalesce(m.id, t.id), {_REST}"
# The columns that validate a cached memory, after the columns of its passage.
_CHECKED = f", m.pk, {rows.CHECKED}"
# Whether the usual filter, which excludes expired memories, will match it at any time.
_LASTS = ", m.expires_at IS NULL"
# Of rows of these columns: their passage; and with the merit behind them, that first.
_BY_PASSAGE = itemgetter(1)
_BY_MERIT = itemgetter(-1, 1)
# Of the number of a passage, and its merit.
_BEST_FIRST = itemgetter(1, 0)
_USUAL = Filter()
# Reads JSON that SQLite made, without the checks for white space around it.
_read_array = json.JSONDecoder().raw_decode
# More than sums of the same weights differ by.
_ROUNDING = 1e-9
# If more passages were added at once, terms are counted again.
_ADDED_MAX = 200


class FindingReader(SessionPart):
    """The part of the Reader for derived state."""

    # Search

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon:
        known = self._known_terms(hub_id)
        passages, length = self._word_totals(hub_id)
        there = {term: known.count(term) for term in terms}
        unknown = [term for term, count in there.items() if count is None]
        frequency = {term: count or 0 for term, count in there.items()}
        if unknown:
            front = prefixed_term(self._pk(hub_id), "")
            found = self._all(
                "SELECT j.value, w.doc FROM json_each(?) j CROSS JOIN word_counts w"
                " ON w.term = j.value",
                (self._array([front + term for term in unknown]),),
            )
            counts = dict.fromkeys(unknown, 0)
            counts |= {term[len(front) :]: passages for term, passages in found}
            known.keep_counts(counts)
            frequency |= counts
        return Lexicon(passages, length, frequency)

    def _known_terms(self, hub_id: str) -> KnownTerms:
        """The cached terms of a hub in this state. A writer has no cache: it may roll back."""
        before = self._read_before(hub_id)
        if before is None or before.state is None or self._caches is None:
            return KnownTerms()
        state = before.state
        if before.terms is None:
            before.terms = self._caches.terms.at(state, lambda then: self._added_terms(then, state))
        return before.terms

    def _added_terms(self, before: HubState, now: HubState) -> list[list[str]] | None:
        """The terms of the passages added between two states; None if more has changed."""
        few = now.passages - before.passages <= _ADDED_MAX
        if not (few and now.may_have_grown_from(before) and self._has_only_grown(before, now)):
            return None
        found = self._all(
            "SELECT body, head FROM passages WHERE hub = ? AND pk > ?",
            (now.hub, before.newest_passage),
        )
        return [f"{body} {head}".split() for body, head in found]

    def _word_totals(self, hub_id: str) -> tuple[int, int]:
        """The number of passages of a hub, and of their terms."""
        before = self._read_before(hub_id, rows=1)
        if before is not None and before.state is not None:
            _, passages, length, *_ = before.state
        else:
            self._write_totals()
            query = "SELECT passages, terms FROM word_totals WHERE hub = ?"
            passages, length = self._one(query, (self._pk(hub_id),)) or (0, 0)
        if passages < 0 or length < 0:
            raise damaged_row("word_totals", hub_id)
        return passages, length

    def vocabulary(self, hub_id: str, prefix: str, *, limit: int) -> dict[str, int]:
        known = self._known_terms(hub_id)
        found = known.vocabulary(prefix, limit)
        if found is None:
            front = prefixed_term(self._pk(hub_id), "")
            first = front + prefix
            # The last character of Unicode: all terms with the prefix sort before it.
            rows = self._all(
                "SELECT term, doc FROM word_counts WHERE term >= ? AND term < ? LIMIT ?",
                (first, f"{first}\U0010ffff", limit),
            )
            found = {term[len(front) :]: passages for term, passages in rows}
            known.keep_vocabulary(prefix, limit, found)
        return found

    def search_terms(
        self, hub_id: str, query: TermQuery, wanted: Filter, *, limit: int
    ) -> list[Candidate]:
        if not (query.terms or query.phrases or query.prefixes):
            return []
        if query.by_rarity and not (query.phrases or query.excluded or query.prefixes):
            return self._by_rarity(hub_id, query, wanted, limit)
        hub = self._pk(hub_id)
        if query.postings_max is not None:
            query = query.of_rarest(self.lexicon(hub_id, query.terms))
            if not (query.terms or query.phrases or query.prefixes):
                return []
        expression = match_expression(hub, query)
        if not query.unordered and (kept := self._kept_passages(hub_id, wanted)) is not None:
            return self._by_rank(hub_id, expression, wanted, limit, kept)
        joins, conditions, values = self._owners(wanted)
        columns = _OWNED_COLUMNS if " turns " in joins else _PASSAGE_COLUMNS
        if query.unordered:
            found = self._all(
                f"SELECT {columns}{_CHECKED} FROM"
                " (SELECT rowid AS pk FROM words WHERE words MATCH ?) AS w"
                f" CROSS JOIN passages p ON p.pk = w.pk{joins}{conditions} LIMIT ?",
                (expression, hub, *values, limit),
            )
            return self._candidates(hub_id, found)
        reach = limit
        while True:
            # Ranking before filtering avoids joining the many weak matches. If the filter then
            # leaves too few, the next round reads more. Sorted here, because SQLite would carry the
            # long rows through its sorter.
            found = self._all(
                f"SELECT {columns}{_CHECKED}, w.merit FROM"
                " (SELECT rowid AS pk, rank AS merit FROM words WHERE words MATCH ?"
                "  ORDER BY rank LIMIT ?) AS w"
                # CROSS JOIN fixes the join order: from the few matches to their rows.
                f" CROSS JOIN passages p ON p.pk = w.pk{joins}{conditions}",
                (expression, reach, hub, *values),
            )
            if len(found) >= limit or self._matches_at_most(expression, reach):
                found.sort(key=_BY_MERIT)
                return self._candidates(hub_id, found[:limit])
            reach *= 8

    def _candidates(self, hub_id: str, found: list[shared.Row]) -> list[Candidate]:
        """The candidates of rows, which are cached for reading their memories next."""
        if (before := self._read_before(hub_id, len(found))) is not None:
            before.noted.update({row[0]: row for row in found})
        return [_candidate(row) for row in found]

    def _kept_passages(self, hub_id: str, wanted: Filter) -> dict[int, Candidate] | None:
        """The cached passages of this state for the usual filter; None for another filter."""
        if self._caches is None or wanted._replace(alive_at=None, turns=False) != _USUAL:
            return None
        before = self._read_before(hub_id)
        return None if before is None else before.passages[wanted.turns]

    def _by_rank(
        self,
        hub_id: str,
        expression: str,
        wanted: Filter,
        limit: int,
        kept: dict[int, Candidate],
    ) -> list[Candidate]:
        """The best matches for the usual filter; only passages that are not cached are joined with
        their memories."""
        reach = limit
        while True:
            found = self._all(
                "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
                (expression, reach),
            )
            found.sort(key=_BEST_FIRST)
            there = self._admitted(hub_id, [row[0] for row in found], wanted, kept)
            if len(there) >= limit or len(found) < reach:
                return there[:limit]
            reach *= 8

    def _admitted(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter, kept: dict[int, Candidate]
    ) -> list[Candidate]:
        """The passages that match the usual filter, in the same order."""
        unknown = set(passage_ids).difference(kept)
        if not unknown:
            return [kept[passage] for passage in passage_ids]
        rows = self._joined(hub_id, list(unknown), wanted)
        there = dict(zip(map(_BY_PASSAGE, rows), self._candidates(hub_id, rows), strict=True))
        # The last column says whether the filter will match it at any time.
        kept.update({row[1]: there[row[1]] for row in rows if row[-1]})
        found = [kept.get(passage) or there.get(passage) for passage in passage_ids]
        return [one for one in found if one is not None]

    def _by_rarity(
        self, hub_id: str, query: TermQuery, wanted: Filter, limit: int
    ) -> list[Candidate]:
        """Passages with any of the terms, sorted by the rarity of the shared terms, then newest
        first.

        FTS5's `rank` reads every posting twice, and the length of every match. This takes a quarter
        of the time for a few thousand postings."""
        hub = self._pk(hub_id)
        passages, length = self._word_totals(hub_id)
        # One more than the limit: for a word that is too common, the exact number does not matter.
        most = -1 if query.postings_max is None else query.postings_max + 1
        postings = self._postings_of(hub, query.terms, most)
        lexicon = Lexicon(passages, length, {term: len(some) for term, some in postings.items()})
        weighed = [
            (lexicon.rarity(term), postings[term]) for term in query.of_rarest(lexicon).terms
        ]
        reach = limit
        while True:
            best = _sharing_most(weighed, reach)
            admitted = self.candidates(hub_id, best, wanted)
            # Rows removed by the filter are replaced by the next ones.
            if len(admitted) >= limit or len(best) < reach:
                place = {pk: at for at, pk in enumerate(best)}
                return sorted(admitted, key=lambda one: place[one.passage_id])[:limit]
            reach *= 8

    def _postings_of(self, hub: int, terms: Sequence[str], most: int) -> dict[str, list[int]]:
        """The numbers of the passages with each of the terms; of at most so many passages."""
        asked = {f'"{prefixed_term(hub, term)}"': term for term in terms}
        held = self._all(
            "SELECT j.value, (SELECT json_group_array(rowid) FROM"
            " (SELECT rowid FROM words WHERE words MATCH j.value LIMIT ?)) FROM json_each(?) j",
            (most, self._array(asked)),
        )
        return {asked[term]: _read_array(rowids)[0] for term, rowids in held}

    def _matches_at_most(self, expression: str, count: int) -> bool:
        reached = self._one(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
            (expression, count + 1),
        )
        return bool(reached <= count)

    def search_substring(
        self, hub_id: str, needle: str, wanted: Filter, *, limit: int
    ) -> list[str]:
        hub = self._pk(hub_id)
        conditions, values = self._where(wanted)
        expression = trigram_expression(hub, needle)
        source = "memories m"
        if not expression:
            # Too short for a trigram: every indexed text is checked.
            conditions += " AND EXISTS (SELECT 1 FROM passages p WHERE p.memory = m.pk)"
        else:
            source = (
                "(SELECT rowid AS pk FROM trigrams WHERE trigrams MATCH ?) AS g"
                " CROSS JOIN passages p ON p.pk = g.pk CROSS JOIN memories m ON m.pk = p.memory"
            )
        found = self._connection.execute(
            f"SELECT {rows.MEMORY_COLUMNS} FROM {source} WHERE m.hub = ?{conditions}"
            " ORDER BY m.number DESC",
            (*([expression] if expression else []), hub, *values),
        )
        memories = (rows.memory_from_row(row, hub_id) for row in found)
        ids = ids_holding(memories, needle, limit)
        if expression and len(ids) < limit:
            ids += self._turns_holding(hub_id, needle, expression, wanted, limit - len(ids))
        return ids

    def _turns_holding(
        self, hub_id: str, needle: str, expression: str, wanted: Filter, limit: int
    ) -> list[str]:
        turns = where_turns(wanted)
        if turns is None:
            return []
        found = self._connection.execute(
            # In reverse index order: nothing is sorted, and reading stops early.
            "SELECT t.id, t.content FROM trigrams CROSS JOIN passages p ON p.pk = trigrams.rowid"
            " CROSS JOIN turns t ON t.pk = p.turn"
            f" WHERE trigrams MATCH ? AND t.hub = ?{turns[0]}{self._of_hub}"
            " ORDER BY trigrams.rowid DESC",
            (expression, self._pk(hub_id), *turns[1]),
        )
        return turn_ids_holding(found, needle, limit)

    def matching(
        self, hub_id: str, query: TextQuery, wanted: Filter, *, order: Order
    ) -> Iterator[Memory]:
        # The keys in order, before any content is read: sorting would carry the content along.
        keys = self._matching_keys(hub_id, query, wanted, order)

        def read(pks: list[int]) -> dict[int, Memory]:
            found = self._all(
                f"SELECT m.pk, {rows.MEMORY_COLUMNS} FROM json_each(?) j CROSS JOIN memories m"
                " ON m.pk = j.value",
                (self._array(pks),),
            )
            return {row[0]: rows.memory_from_row(row[1:], hub_id) for row in found}

        return matching(keys, read, query)

    def _matching_keys(
        self, hub_id: str, query: TextQuery, wanted: Filter, order: Order
    ) -> list[tuple[int, int]]:
        """The rows that may match, in order, each with whether its words match."""
        hub = self._pk(hub_id)
        conditions, values = self._where(wanted)
        column, down = ORDERINGS[order]
        way = "DESC" if down else "ASC"
        words = body_expression(hub, query.terms)
        substring = trigram_expression(hub, query.needle)
        parts: list[str] = []
        given: list[Any] = []
        if substring:
            parts.append(
                "SELECT p.memory AS pk, 0 AS by_words FROM"
                " (SELECT rowid AS pk FROM trigrams WHERE trigrams MATCH ?) AS g"
                " CROSS JOIN passages p ON p.pk = g.pk"
            )
            given.append(substring)
        else:
            # Too short for a trigram: every indexed text may contain it.
            parts.append("SELECT memory AS pk, 0 AS by_words FROM passages WHERE hub = ?")
            given.append(hub)
        if words:
            parts.append(
                # A turn has no memory, and joins none below.
                "SELECT p.memory, 1 FROM (SELECT rowid AS pk FROM words WHERE words MATCH ?) AS w"
                " CROSS JOIN passages p ON p.pk = w.pk"
            )
            given.append(words)
        return self._all(
            f"SELECT m.pk, t.by_words FROM (SELECT pk, max(by_words) AS by_words"
            f" FROM ({' UNION ALL '.join(parts)}) GROUP BY pk) AS t"
            f" CROSS JOIN memories m ON m.pk = t.pk WHERE m.hub = ?{conditions}"
            f" ORDER BY {column} {way}, m.number {way}",
            (*given, hub, *values),
        )

    def passages(self, hub_id: str, memory_ids: Sequence[str]) -> list[Candidate]:
        found = self._all(
            f"SELECT {_PASSAGE_COLUMNS} FROM json_each(?) j CROSS JOIN memories m"
            f" ON m.hub = ? AND m.id = j.value{self._seen}"
            " CROSS JOIN passages p ON p.memory = m.pk ORDER BY +m.number, p.ordinal",
            (self._array(memory_ids), self._pk(hub_id)),
        )
        if len({row[0] for row in found}) < len(memory_ids):
            found += self._all(
                f"SELECT t.id, {_REST} FROM json_each(?) j CROSS JOIN turns t"
                f" ON t.hub = ? AND t.id = j.value{self._of_hub}"
                " CROSS JOIN passages p ON p.turn = t.pk ORDER BY +t.pk, p.ordinal",
                (self._array(memory_ids), self._pk(hub_id)),
            )
        return [_candidate(row) for row in found]

    def candidates(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter
    ) -> list[Candidate]:
        if (kept := self._kept_passages(hub_id, wanted)) is not None:
            return self._admitted(hub_id, sorted(passage_ids), wanted, kept)
        found = self._joined(hub_id, passage_ids, wanted)
        found.sort(key=_BY_PASSAGE)
        return self._candidates(hub_id, found)

    def _joined(self, hub_id: str, passage_ids: Sequence[int], wanted: Filter) -> list[shared.Row]:
        """The rows of passages of memories or turns that match a filter."""
        joins, conditions, values = self._owners(wanted)
        columns = _OWNED_COLUMNS if " turns " in joins else _PASSAGE_COLUMNS
        return self._all(
            f"SELECT {columns}{_CHECKED}{_LASTS} FROM json_each(?) j CROSS JOIN passages p"
            f" ON p.pk = j.value{joins}{conditions}",
            (self._array(sorted(passage_ids)), self._pk(hub_id), *values),
        )

    # Vectors

    def vector_state(self, hub_id: str, model: str) -> VectorState:
        before = self._read_before(hub_id)
        if before is None:
            return self._vector_state(hub_id, model)
        if model not in before.vector_states:
            before.vector_states[model] = self._vector_state(hub_id, model)
        return before.vector_states[model]

    def _vector_state(self, hub_id: str, model: str) -> VectorState:
        self._write_totals()
        row = self._one(
            "SELECT size, passages, newest, removals FROM vector_totals"
            " WHERE hub = ? AND model = ?",
            (self._pk(hub_id), model),
        )
        return VectorState(*(row or (0, 0, 0, 0)))

    def vector_models(self, hub_id: str) -> list[str]:
        self._write_totals()
        found = self._all(
            "SELECT model FROM vector_totals WHERE hub = ? AND size > 0 ORDER BY model",
            (self._pk(hub_id),),
        )
        return [row[0] for row in found]

    def vectors(self, hub_id: str, model: str, *, after: int) -> Iterable[VectorRow]:
        for row in self._connection.execute(
            'SELECT passage, "window", vector FROM vectors'
            ' WHERE hub = ? AND model = ? AND passage > ? ORDER BY passage, "window"',
            (self._pk(hub_id), model, after),
        ):
            yield VectorRow(*row)

    def vectors_of(self, hub_id: str, model: str, memory_id: str) -> list[VectorRow]:
        for owners, column, seen in (
            ("memories", "memory", self._seen),
            ("turns", "turn", self._of_hub),
        ):
            found = self._all(
                # CROSS JOIN fixes the join order: from the row to its few vectors.
                f'SELECT v.passage, v."window", v.vector FROM {owners} m'
                f" CROSS JOIN passages p ON p.{column} = m.pk"
                " CROSS JOIN vectors v ON v.passage = p.pk AND v.hub = m.hub AND v.model = ?"
                f' WHERE m.hub = ? AND m.id = ?{seen} ORDER BY p.ordinal, v."window"',
                (model, self._pk(hub_id), memory_id),
            )
            if found:
                return [VectorRow(*row) for row in found]
        return []

    def unembedded(self, hub_id: str, model: str, *, limit: int, after: int = 0) -> list[Candidate]:
        found = self._all(
            f"SELECT {_OWNED_COLUMNS} FROM passages p LEFT JOIN memories m ON m.pk = p.memory"
            " LEFT JOIN turns t ON t.pk = p.turn WHERE p.hub = ? AND p.pk > ?"
            " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.hub = p.hub AND v.model = ?"
            " AND v.passage = p.pk) ORDER BY p.pk LIMIT ?",
            (self._pk(hub_id), after, model, limit),
        )
        return [_candidate(row) for row in found]

    def unembedded_count(self, hub_id: str, model: str) -> int:
        passages, _ = self._word_totals(hub_id)
        return passages - self.vector_state(hub_id, model).passages


def _sharing_most(weighed: Sequence[tuple[float, list[int]]], count: int) -> list[int]:
    """The numbers with the highest sums of weights, the newest of equal ones first. Each weight is
    of the numbers in its list; the lists with the greatest weights come first."""
    scores: dict[int, float] = {}
    left = sum(weight for weight, _ in weighed)
    for weight, holding in weighed:
        if len(scores) >= count and (least := _least_of_best(scores, count)) > left + _ROUNDING:
            # What comes up only now cannot have as much as is needed, nor what is too far behind.
            scores = {
                pk: score for pk, score in scores.items() if score + left + _ROUNDING >= least
            }
            for pk in scores.keys() & holding:
                scores[pk] += weight
        else:
            for pk in holding:
                scores[pk] = scores.get(pk, 0.0) + weight
        left -= weight
    if not scores:
        return []
    # A few of hundreds are asked for, so not all of them are sorted.
    least = _least_of_best(scores, count)
    best = [(score, pk) for pk, score in scores.items() if score >= least]
    return [pk for _, pk in sorted(best, reverse=True)[:count]]


def _least_of_best(scores: dict[int, float], count: int) -> float:
    return sorted(scores.values(), reverse=True)[:count][-1]


def _candidate(row: shared.Row) -> Candidate:
    headings = () if row[5] == "[]" else tuple(json.loads(row[5]))
    return Candidate(row[0], row[1], row[2], row[3], row[4], headings, row[6], row[7], row[8])
