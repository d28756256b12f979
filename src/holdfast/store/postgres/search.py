"""Searches by terms, phrases and substrings. The results are in a rough order; the engine ranks
them, the same for every store.

Terms are analysed by `holdfast.text.analysis.terms`, not by a dictionary of the server. Each is
prefixed with its hub's number ('12·tab'), so that posting lists belong to one hub: a search reads
only the postings of its own hub. Positions are not indexed: a phrase is looked for in the passage's
own terms, which has no limit on positions.

Trigrams are 32-bit hashes of hub and text. A collision only means that one more text is checked.

A query of common words matches a third of a large hub, and ranking reads a row for each match. Most
of these contain one of the words and rank behind those that contain several. So the index, which
combines posting lists without reading rows, is asked for the combinations of terms with the most
weight: those that would return enough passages if words were independent (`weightiest`). Words of
one subject occur together, so there are mostly more; where there are fewer, the search lowers the
bar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, Order
from holdfast.store.filters import ORDERINGS
from holdfast.store.postgres import rows
from holdfast.store.postgres.session import SessionPart
from holdfast.store.rows import ids_holding, matching, turn_ids_holding
from holdfast.store.values import Candidate, Lexicon, TermQuery, TextQuery
from holdfast.text.analysis.terms import trigrams

_SEPARATOR = "·"
# A tsvector has at most 1 MB of lexemes, with 4 bytes of overhead each.
_LEXEME_BYTES_MAX = 1_000_000
# Substring search asks for at most this many trigrams of a long needle. The text itself is checked
# afterwards, so fewer only means that a few more texts are checked.
_GRAMS_ASKED_MAX = 24
# Cached hashes of trigrams, about 10 MB; a language has about 20,000 common ones.
_HASHES_MAX = 100_000


def fitting_terms(hub: int, terms: Iterable[str]) -> list[str]:
    """The distinct terms that fit into one row of PostgreSQL; the rest is left out."""
    distinct = list(dict.fromkeys(terms))
    front_bytes = len(f"{hub}{_SEPARATOR}".encode()) + 4
    # No character takes more than four bytes, so most rows need no counting.
    if len("".join(distinct)) * 4 + len(distinct) * front_bytes <= _LEXEME_BYTES_MAX:
        return distinct
    room = _LEXEME_BYTES_MAX
    for at, term in enumerate(distinct):
        room -= len(term.encode()) + front_bytes
        if room < 0:
            return distinct[:at]
    return distinct


def lexemes(hub: int, terms: Iterable[str]) -> list[str]:
    """Terms that are known to fit, as lexemes of PostgreSQL."""
    front = f"{hub}{_SEPARATOR}"
    return [front + term for term in terms]


def term_of(lexeme: str) -> str:
    """The term of a lexeme of PostgreSQL."""
    return lexeme.partition(_SEPARATOR)[2]


def quoted(hub: int, term: str) -> str:
    """The term as an operand of PostgreSQL's tsquery; nothing in it is syntax."""
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{hub}{_SEPARATOR}{escaped}'"


def either(hub: int, terms: Iterable[str], prefixes: Iterable[str] = ()) -> str:
    """A tsquery of PostgreSQL for any of these terms, or for words that begin with one of the
    prefixes."""
    parts = [quoted(hub, term) for term in terms]
    parts += [f"{quoted(hub, front)}:*" for front in prefixes]
    return " | ".join(parts)


def every(hub: int, terms: Iterable[str]) -> str:
    """A tsquery of PostgreSQL for all of these terms."""
    return " & ".join(quoted(hub, term) for term in dict.fromkeys(terms))


def trigram_hashes(hub: int, text: str) -> list[int]:
    """The hashes of all trigrams of a text, for a hub."""
    return sorted(set(map(_hashes_of(hub).__getitem__, trigrams(text))))


def grams_asked(hub: int, needle: str) -> list[int]:
    """Hashes that every text with the needle has; none if it is too short for a trigram."""
    found = sorted(trigrams(needle))
    step = max(1, len(found) // _GRAMS_ASKED_MAX)
    return sorted(set(map(_hashes_of(hub).__getitem__, found[::step])))


class _Hashes(dict[str, int]):
    """The hash of each trigram, for one hub; a cache, since texts share most of their trigrams."""

    def __init__(self, hub: int) -> None:
        super().__init__()
        self.hub = hub
        self._front = crc32(str(hub).encode())

    def __missing__(self, run: str) -> int:
        if len(self) >= _HASHES_MAX:
            self.clear()
        # A signed 32-bit integer, as in the database.
        number = (crc32(run.encode(), self._front) ^ 0x80000000) - 0x80000000
        self[run] = number
        return number


# The cache of the last hub: texts come in batches of one hub.
_LAST = [_Hashes(0)]


def _hashes_of(hub: int) -> _Hashes:
    last = _LAST[0]
    if last.hub != hub:
        _LAST[0] = last = _Hashes(hub)
    return last


# Combinations use this many of the rarest terms; the others only add to the rank. Eight have 256
# combinations, which are weighed in a tenth of a millisecond.
TERMS_MAX = 8
# Sums of the same weights in another order may differ by rounding.
_ROUNDING = 1e-9


class Weighed(NamedTuple):
    """A term as a tsquery, its weight, and the number of passages that contain it."""

    query: str
    weight: float
    passages: int


def weightiest(terms: Sequence[Weighed], passages: int, wanted: int) -> str:
    """A tsquery of PostgreSQL that about `wanted` passages of the hub match, those with the most
    weight; empty where any one term is enough."""
    if sum(term.passages for term in terms) <= wanted:
        return ""
    best = sorted(terms, key=lambda term: -term.weight)[:TERMS_MAX]
    least = _bar(best, max(passages, 1), wanted)
    if least <= min(term.weight for term in terms) + _ROUNDING:
        return ""
    return _with_weight(best, least) or ""


def _bar(terms: Sequence[Weighed], passages: int, wanted: int) -> float:
    """The weight that `wanted` passages are expected to reach."""
    combinations = [(0.0, float(passages))]
    for term in terms:
        share = min(1.0, term.passages / passages)
        combinations = [
            either
            for weight, count in combinations
            for either in ((weight + term.weight, count * share), (weight, count * (1 - share)))
        ]
    found = 0.0
    for weight, count in sorted(combinations, reverse=True):
        found += count
        if found >= wanted:
            return weight
    return 0.0


def _with_weight(terms: Sequence[Weighed], least: float) -> str | None:
    """A tsquery for terms with at least this weight together; None if all have less."""
    if sum(term.weight for term in terms) < least - _ROUNDING:
        return None
    first, rest = terms[0], terms[1:]
    missing = least - first.weight
    parts = []
    if missing <= _ROUNDING:
        parts.append(first.query)
    elif with_first := _with_weight(rest, missing):
        parts.append(f"{first.query} & ({with_first})")
    if without_first := _with_weight(rest, least):
        parts.append(without_first)
    return " | ".join(parts)


# The rough order is BM25 with every term counted once, with the constants of the engine, so that
# what is cut off at the limit is what the engine would rank last.
_K1, _B = 0.9, 0.4
# Where more passages match than this times the number wanted, only those with the most weight are
# read. The factor allows for the length of a passage, which counts too and is not in the index.
_LOOKED_AT_PER_WANTED = 4
# Lateral subqueries that look up the rows of a match one by one. Plain joins are no faster where
# the server has statistics. Where it has none yet, it takes a hub for one row and compares each
# match with all of it, and takes reading all texts of the hub for as cheap as comparing numbers.
ITS_PASSAGE = (
    "SELECT b.* FROM passages b WHERE b.hub_id = %(hub)s AND b.passage = w.passage LIMIT 1"
)
ITS_MEMORY = (
    "SELECT m.id FROM memories m WHERE m.hub_id = %(hub)s AND m.number = {of}.memory{wanted}"
    " LIMIT 1"
)
_ITS_TURN = (
    "SELECT t.id FROM turns t WHERE t.hub_id = %(hub)s AND t.place = {of}.turn{wanted} LIMIT 1"
)


class SearchReader(SessionPart):
    """The part of PostgreSQL's Reader that searches."""

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon:
        self._write_counts()
        hub = self._session.hub(hub_id)
        passages, length = self._once(("passages", hub), lambda: self._totals(hub))
        known = self._once(("terms", hub), dict[str, int])
        if missing := [term for term in dict.fromkeys(terms) if term not in known]:
            known |= dict.fromkeys(missing, 0) | self._held(hub, missing)
        return Lexicon(passages, length, {term: known[term] for term in terms})

    def _totals(self, hub: int) -> tuple[int, int]:
        """The number of passages of the hub, and of their terms."""
        found = self._session.row(
            "SELECT passages, terms FROM hub_counts WHERE hub_id = %(hub)s", hub=hub
        )
        return found or (0, 0)

    def _held(self, hub: int, terms: Sequence[str]) -> dict[str, int]:
        """The number of passages with each of these terms; terms that the hub lacks are left
        out."""
        return dict(
            self._session.all(
                "SELECT term, passages FROM terms WHERE hub_id = %(hub)s AND term = ANY(%(terms)s)",
                hub=hub,
                terms=list(terms),
            )
        )

    def vocabulary(self, hub_id: str, prefix: str, *, limit: int) -> dict[str, int]:
        self._write_counts()
        found = self._session.all(
            "SELECT term, passages FROM terms WHERE hub_id = %(hub)s AND term >= %(first)s"
            " AND term < %(last)s AND passages > 0 ORDER BY term LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            first=prefix,
            last=f"{prefix}\U0010ffff",
            limit=limit,
        )
        return dict(found)

    def search_terms(
        self, hub_id: str, query: TermQuery, wanted: Filter, *, limit: int
    ) -> list[Candidate]:
        lexicon = self.lexicon(hub_id, query.terms)
        query = query.of_rarest(lexicon)
        if not (query.terms or query.phrases or query.prefixes):
            return []
        owner, values = self._owner("w", wanted)
        reach = limit
        while True:
            source, asked, whole = self._matching_words(hub_id, query, lexicon, reach)
            # Ordering before filtering avoids joins for the many weak matches. Where the filter
            # leaves too few, the next round reads further.
            found = self._session.all(
                f"SELECT {rows.PASSAGE_COLUMNS}, w.every FROM"
                f" (SELECT s.*, count(*) OVER () AS every FROM ({source}"
                "  ORDER BY merit DESC, passage LIMIT %(reach)s) AS s) AS w"
                f" CROSS JOIN LATERAL ({owner}) AS m CROSS JOIN LATERAL ({ITS_PASSAGE}) AS p"
                " ORDER BY w.merit DESC, p.passage LIMIT %(limit)s",
                reach=reach,
                limit=limit,
                **asked,
                **values,
            )
            if len(found) >= limit or (whole and self._all_reached(source, asked, found, reach)):
                return [rows.candidate_from_row(row) for row in found]
            reach *= 8

    def _owner(self, of: str, wanted: Filter) -> tuple[str, dict[str, Any]]:
        """A lateral subquery for the id of the memory or turn that a row of this alias belongs to,
        where the filter admits it, and its values."""
        conditions, values = rows.where(wanted)
        memory = ITS_MEMORY.format(of=of, wanted=f"{conditions}{self._seen}")
        turns = rows.where_turns(wanted)
        if turns is None:
            return memory, values
        turn = _ITS_TURN.format(of=of, wanted=f"{turns}{self._of_hub}")
        return f"({memory}) UNION ALL ({turn})", values

    def _all_reached(
        self, source: str, asked: dict[str, Any], found: list[Any], reach: int
    ) -> bool:
        """Whether no more passages match than were read."""
        if found:
            return bool(found[0][-1] < reach)
        matches = self._session.value(
            f"SELECT count(*) FROM ({source} LIMIT %(reach)s) AS s", reach=reach, **asked
        )
        return bool(matches < reach)

    def _matching_words(
        self, hub_id: str, query: TermQuery, lexicon: Lexicon, reach: int
    ) -> tuple[str, dict[str, Any], bool]:
        """A query for the passages that match, with their rank; its values; and whether it finds
        all of them, or only the best."""
        hub = self._session.hub(hub_id)
        weighed = [
            Weighed(quoted(hub, term), lexicon.rarity(term), lexicon.frequency[term])
            for term in query.terms
        ]
        whole = True
        if query.phrases:
            # The phrases must match; other terms only add to the rank.
            held = every(hub, (term for phrase in query.phrases for term in phrase))
        else:
            held = ""
            if not query.prefixes:
                held = weightiest(weighed, lexicon.passages, reach * _LOOKED_AT_PER_WANTED)
            whole = not held
            held = held or either(hub, query.terms, query.prefixes)
        values: dict[str, Any] = {"hub": hub, "held": held}
        merit = _merit(hub, query, weighed, values)
        values["average"] = max(lexicon.terms / max(lexicon.passages, 1), 1.0)
        found = f"SELECT w.passage, w.memory, w.turn, {merit} AS merit"
        held_by = " WHERE w.hub_id = %(hub)s AND w.words @@ %(held)s::tsquery"
        texts = [(phrase, "") for phrase in query.phrases if len(phrase) > 1]
        texts += [(phrase, "NOT ") for phrase in query.excluded]
        if not texts:
            return f"{found} FROM named_words w{held_by}", values, whole
        conditions = []
        for at, (phrase, negation) in enumerate(texts):
            conditions.append(
                f"{negation}(position(%(phrase{at})s IN ' ' || b.body || ' ') > 0"
                f" OR position(%(phrase{at})s IN ' ' || b.head || ' ') > 0)"
            )
            values[f"phrase{at}"] = f" {' '.join(phrase)} "
        return (
            f"{found} FROM named_words w CROSS JOIN LATERAL ({ITS_PASSAGE}) AS b{held_by}"
            f" AND {' AND '.join(conditions)}",
            values,
            whole,
        )

    # Parts of words

    def search_substring(
        self, hub_id: str, needle: str, wanted: Filter, *, limit: int
    ) -> list[str]:
        hub = self._session.hub(hub_id)
        conditions, values = rows.where(wanted)
        grams = grams_asked(hub, needle)
        # Too short for a trigram: every indexed text is checked.
        held = " AND s.grams @> %(grams)s::integer[]" if grams else ""
        found = self._session.scan(
            f"SELECT {rows.MEMORY_COLUMNS} FROM named_substrings s"
            " JOIN memories m ON m.hub_id = s.hub_id AND m.number = s.memory"
            f" WHERE s.hub_id = %(hub)s AND m.hub_id = %(hub)s{held}{conditions}{self._seen}"
            " ORDER BY m.number DESC",
            hub=hub,
            grams=grams,
            **values,
        )
        memories = (rows.memory_from_row(row, hub_id) for row in found)
        ids = ids_holding(memories, needle, limit)
        turns = rows.where_turns(wanted)
        if turns is None or not grams or len(ids) >= limit:
            return ids
        said = self._session.scan(
            "SELECT t.id, t.content FROM named_substrings s"
            " JOIN turns t ON t.hub_id = s.hub_id AND t.place = s.turn"
            f" WHERE s.hub_id = %(hub)s AND t.hub_id = %(hub)s{held}{turns}{self._of_hub}"
            " ORDER BY t.place DESC",
            hub=hub,
            grams=grams,
            **values,
        )
        return ids + turn_ids_holding(said, needle, limit - len(ids))

    def matching(
        self, hub_id: str, query: TextQuery, wanted: Filter, *, order: Order
    ) -> Iterator[Memory]:
        # Keys in order first, without content, which would be carried through the sort.
        keys = self._matching_keys(hub_id, query, wanted, order)

        def read(numbers: list[int]) -> dict[int, Memory]:
            found = self._select(hub_id, " AND m.number = ANY(%(numbers)s)", numbers=numbers)
            return {memory.number: memory for memory in found}

        return matching(keys, read, query)

    def _matching_keys(
        self, hub_id: str, query: TextQuery, wanted: Filter, order: Order
    ) -> list[tuple[int, bool]]:
        """The numbers of memories that may match, in order, each with whether its words do."""
        hub = self._session.hub(hub_id)
        conditions, values = rows.where(wanted)
        column, down = ORDERINGS[order]
        way = "DESC" if down else "ASC"
        grams = grams_asked(hub, query.needle)
        held = " AND s.grams @> %(grams)s::integer[]" if grams else ""
        parts = [
            "SELECT s.memory, false AS by_words FROM named_substrings s"
            f" WHERE s.hub_id = %(hub)s{held} AND s.memory IS NOT NULL"
        ]
        if query.terms:
            # The index has title and body together; the passage's own terms tell which.
            parts.append(
                f"SELECT w.memory, true FROM named_words w CROSS JOIN LATERAL ({ITS_PASSAGE}) AS b"
                " WHERE w.hub_id = %(hub)s AND w.words @@ %(every)s::tsquery"
                " AND w.memory IS NOT NULL AND string_to_array(b.body, ' ') @> %(terms)s::text[]"
            )
        return self._session.all(
            "SELECT m.number, t.by_words FROM (SELECT memory, bool_or(by_words) AS by_words"
            f" FROM ({' UNION ALL '.join(parts)}) AS u GROUP BY memory) AS t"
            f" JOIN memories m ON m.hub_id = %(hub)s AND m.number = t.memory"
            f" WHERE m.hub_id = %(hub)s{conditions}{self._seen}"
            f" ORDER BY {column} {way}, m.number {way}",
            hub=hub,
            grams=grams,
            every=every(hub, query.terms),
            terms=list(query.terms),
            **values,
        )

    # Passages

    def passages(self, hub_id: str, memory_ids: Sequence[str]) -> list[Candidate]:
        if not memory_ids:
            return []
        found = self._session.all(
            f"(SELECT {rows.PASSAGE_COLUMNS}, 0 AS kind, m.number AS place FROM memories m"
            " JOIN passages p ON p.hub_id = m.hub_id AND p.memory = m.number"
            f" WHERE m.hub_id = %(hub)s AND m.id = ANY(%(ids)s){self._seen})"
            f" UNION ALL (SELECT {rows.PASSAGE_COLUMNS}, 1, m.place FROM turns m"
            " JOIN passages p ON p.hub_id = m.hub_id AND p.turn = m.place"
            f" WHERE m.hub_id = %(hub)s AND m.id = ANY(%(ids)s){self._of_hub})"
            " ORDER BY kind, place, ordinal",
            hub=self._session.hub(hub_id),
            ids=list(memory_ids),
        )
        return [rows.candidate_from_row(row) for row in found]

    def candidates(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter
    ) -> list[Candidate]:
        if not passage_ids:
            return []
        owner, values = self._owner("p", wanted)
        found = self._session.all(
            f"SELECT {rows.PASSAGE_COLUMNS} FROM passages p CROSS JOIN LATERAL ({owner}) AS m"
            " WHERE p.hub_id = %(hub)s AND p.passage = ANY(%(ids)s::bigint[]) ORDER BY p.passage",
            hub=self._session.hub(hub_id),
            ids=list(passage_ids),
            **values,
        )
        return [rows.candidate_from_row(row) for row in found]


def _merit(hub: int, query: TermQuery, weighed: Sequence[Weighed], values: dict[str, Any]) -> str:
    """BM25 with every term counted once: how rare the terms of a passage are, and how long it is.
    Adds the values it needs."""
    # A single term orders passages by their length only.
    parts = ["1::float8"]
    for at, term in enumerate(weighed):
        values[f"term{at}"], values[f"weight{at}"] = term.query, term.weight
        parts.append(
            f"CASE WHEN w.words @@ %(term{at})s::tsquery THEN %(weight{at})s::float8 ELSE 0 END"
        )
    for at, front in enumerate(query.prefixes):
        values[f"front{at}"] = f"{quoted(hub, front)}:*"
        parts.append(f"CASE WHEN w.words @@ %(front{at})s::tsquery THEN 1 ELSE 0 END")
    damping = f"(1 + {_K1} * ({1 - _B} + {_B} * w.length::float8 / %(average)s::float8))"
    return f"({' + '.join(parts)}) / {damping}"
