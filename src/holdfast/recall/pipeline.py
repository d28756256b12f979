"""The order of things in a recall, and why each hit ranked where it did.

analyse → words and meaning (and substrings, where words find nothing) → one evidence per memory →
surroundings → priors → order → echoes collapsed → cut.

Nothing here fails silently: where a part could not be asked, the answer says that it is degraded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import EVERYTHING, Filter, Hit, LeftOut, Recalled
from holdfast.errors import EmbedderError
from holdfast.recall import lexical, rank, weights
from holdfast.recall.analyse import Analysis
from holdfast.recall.conditions import read_conditions
from holdfast.recall.cut import cut
from holdfast.recall.evidence import Evidence, Found, corrected, saturated
from holdfast.recall.successors import bring_successors
from holdfast.recall.vector import VectorCache, VectorHit
from holdfast.recall.voice import SPEAKERS_MAX, Voice, find_voice, first_person
from holdfast.store.values import Candidate, TermQuery
from holdfast.text.terms import fold, is_stop, symbols, terms, trigram_text

if TYPE_CHECKING:
    from holdfast.embed.base import Embedder
    from holdfast.store.base import Reader

NO_MODEL = (
    "there is no embedding model, so only words were matched; "
    "`holdfast doctor` says why and how to get one"
)

FAR = "it is too far from the question"
ECHO = "a better hit says the same"
# An explanation names at most this many.
LEFT_OUT_MAX = 20


class Ask(NamedTuple):
    """A recall, parsed."""

    analysis: Analysis
    wanted: Filter
    limit: int
    now: datetime
    # How changed memories stood at the past time that is asked about; None where it is now.
    past: Mapping[str, Memory | None] | None = None


def recall(
    reader: Reader,
    hub_id: str,
    ask: Ask,
    embedder: Embedder | None,
    cache: VectorCache,
    *,
    meaning: bool = True,
    explain: bool = False,
) -> Recalled:
    """The answer to a question in one hub."""
    wanted, unwanted = read_conditions(ask.wanted, ask.analysis.filters)
    voice = find_voice(ask.analysis.words, reader.speakers(hub_id, limit=SPEAKERS_MAX))
    degraded: list[str] = []
    if ask.analysis.cut:
        degraded.append("the query was too long; only its beginning was used")
    near: list[VectorHit] = []
    model = "" if embedder is None or not meaning else embedder.identity
    if meaning:
        near = _by_meaning(reader, hub_id, ask.analysis, voice, embedder, cache, degraded)
    query = _term_query(ask.analysis)
    words = _by_words(reader, hub_id, ask, query, wanted)
    items = _gathered(reader, hub_id, ask, wanted, words, near)
    _add_substrings(reader, hub_id, ask, wanted, items, found_words=bool(words))
    left = _Left()
    if explain:
        left.hidden(_hidden(reader, hub_id, query, wanted, near))
    kept = left.unless(list(items.values()), lambda item: _met(item.memory, unwanted))
    if kept:
        bring_successors(
            reader,
            hub_id,
            kept,
            ask.past or {},
            lambda memory, passage: (
                wanted.admits(memory)
                and not _met(memory, unwanted)
                and _fits(passage, ask.analysis)
            ),
        )
        rank.add_surroundings(kept, voice, lambda pairs: reader.adjacent(hub_id, pairs))
        rank.add_priors(kept, ask.analysis, ask.now)
    answers, far = cut(
        rank.ordered(kept), _coverage(reader, hub_id, query, ask.analysis, voice), model
    )
    left.add(far, FAR)
    shown, echoes = rank.collapsed(answers, keep=ask.limit)
    left.add(echoes, ECHO)
    return Recalled(
        [_hit(item, ask.analysis) for item in shown],
        degraded=tuple(degraded),
        filtered=left.counts,
        left_out=left.named[:LEFT_OUT_MAX] if explain else (),
    )


class _Left:
    """What was found and is not shown, and why."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.named: list[LeftOut] = []

    def add(self, items: Sequence[Evidence], reason: str) -> None:
        for item in items:
            self.counts[reason] = self.counts.get(reason, 0) + 1
            self.named.append(LeftOut(item.memory, reason, round(item.score, 6)))

    def unless(
        self, items: Sequence[Evidence], reason_of: Callable[[Evidence], str]
    ) -> list[Evidence]:
        """Those for which there is no reason to leave them out."""
        kept = []
        for item in items:
            if reason := reason_of(item):
                self.add([item], reason)
            else:
                kept.append(item)
        return kept

    def hidden(self, memories: Sequence[tuple[Memory, str]]) -> None:
        for memory, reason in memories:
            self.counts[reason] = self.counts.get(reason, 0) + 1
            self.named.append(LeftOut(memory, reason, 0.0))


def _hidden(
    reader: Reader,
    hub_id: str,
    query: TermQuery,
    wanted: Filter,
    near: list[VectorHit],
) -> list[tuple[Memory, str]]:
    """What fits the words or the meaning, but not the filter."""
    ids = [hit.candidate.memory_id for hit in lexical.gather(reader, hub_id, query, EVERYTHING)]
    closest = [hit.passage_id for hit in near[:LEFT_OUT_MAX]]
    ids += [one.memory_id for one in reader.candidates(hub_id, closest, EVERYTHING)]
    memories = reader.memories_by_id(hub_id, list(dict.fromkeys(ids)))
    return [(m, reason) for m in memories.values() if (reason := wanted.refusal(m))]


def _coverage(
    reader: Reader, hub_id: str, query: TermQuery, analysis: Analysis, voice: Voice
) -> Callable[[Evidence], float]:
    """Tells how much of the question's words a memory holds, the rare ones counting for more.

    A word the hub has never seen counts too: that it is missing says the most. Speakers' names and
    dates do not: whose words these are, and of when, has been looked at already.
    """
    understood = {*voice.names, *terms(analysis.window.words if analysis.window else "")}
    asked = [term for term in query.terms if term not in understood] or list(query.terms)
    lexicon = reader.lexicon(hub_id, asked)
    # In a hub of three notes every word is common; rarity needs a little more to go by.
    lexicon = lexicon._replace(passages=max(lexicon.passages, weights.CUT_PASSAGES_LEAST))
    weight = {term: lexical.rarity(lexicon, term) for term in asked}
    whole = sum(weight.values()) or 1.0

    def covered(item: Evidence) -> float:
        held = {*item.best.candidate.body.split(), *item.best.candidate.head.split()}
        return sum(weight[term] for term in asked if term in held) / whole

    return covered


def _met(memory: Memory, conditions: Sequence[Filter]) -> str:
    met = any(condition.admits(memory) for condition in conditions)
    return "the question excludes it" if met else ""


# Gathering


def _term_query(analysis: Analysis) -> TermQuery:
    parts = (t for t in symbols(analysis.words) if not is_stop(t) and t not in analysis.terms)
    return TermQuery((*analysis.terms, *parts), analysis.phrases, analysis.excluded)


def _fits(one: Candidate, analysis: Analysis) -> bool:
    """Whether a passage holds every quoted phrase and nothing that is excluded.

    The store asks this of what it finds by words; here it is asked of what came by another way.
    """
    if not (analysis.phrases or analysis.excluded):
        return True
    fields = (f" {one.body} ", f" {one.head} ")

    def holds(phrase: tuple[str, ...]) -> bool:
        return any(f" {' '.join(phrase)} " in field for field in fields)

    return all(map(holds, analysis.phrases)) and not any(map(holds, analysis.excluded))


def _by_words(
    reader: Reader, hub_id: str, ask: Ask, query: TermQuery, wanted: Filter
) -> list[lexical.WordHit]:
    hits = lexical.gather(reader, hub_id, query, wanted)
    if ask.past:
        lexicon = reader.lexicon(hub_id, query.terms)
        then = [
            Candidate(m.id, 0, 0, 0, len(m.content), (), " ".join(terms(m.content)), "", 1)
            for m in ask.past.values()
            if m is not None and wanted.admits(m)
        ]
        then = [one for one in then if _fits(one, ask.analysis)]
        # Every term counts as known, or a word that is gone from today's index would not match.
        known = {term: max(1, n) for term, n in lexicon.frequency.items()}
        scores = lexical.bm25(then, query.terms, lexicon._replace(frequency=known))
        hits += [
            lexical.WordHit(candidate, saturated(score, lexicon.passages))
            for candidate, score in zip(then, scores, strict=True)
            if score > 0
        ]
    return hits


def _by_meaning(
    reader: Reader,
    hub_id: str,
    analysis: Analysis,
    voice: Voice,
    embedder: Embedder | None,
    cache: VectorCache,
    degraded: list[str],
) -> list[VectorHit]:
    if embedder is None:
        degraded.append(NO_MODEL)
        return []
    missing = reader.unembedded_count(hub_id, embedder.identity)
    if missing:
        degraded.append(
            f"{missing} passages have no vector of this model yet; `holdfast doctor --fix` makes"
            " them"
        )
    if not reader.vector_state(hub_id, embedder.identity).size:
        return []
    try:
        question = embedder.embed_query(first_person(analysis.words, voice))
        return cache.search(
            reader, hub_id, embedder.identity, question, limit=weights.VECTOR_CANDIDATES
        )
    except EmbedderError as error:
        degraded.append(f"the embedding model failed, so only words were matched ({error.message})")
        return []


def _gathered(
    reader: Reader,
    hub_id: str,
    ask: Ask,
    wanted: Filter,
    words: list[lexical.WordHit],
    near: list[VectorHit],
) -> dict[str, Evidence]:
    cosines = {hit.passage_id: hit.cosine for hit in near}
    found: dict[str, dict[int, Found]] = {}
    for hit in words:
        cosine = cosines.get(hit.candidate.passage_id, 0.0)
        one = Found(hit.candidate, corrected(cosine, hit.candidate.windows), hit.score)
        found.setdefault(hit.candidate.memory_id, {})[hit.candidate.passage_id] = one
    known = {passage for passages in found.values() for passage in passages}
    others = [passage for passage in cosines if passage not in known]
    for candidate in reader.candidates(hub_id, others, wanted):
        if not _fits(candidate, ask.analysis):
            continue
        one = Found(candidate, corrected(cosines[candidate.passage_id], candidate.windows))
        found.setdefault(candidate.memory_id, {})[candidate.passage_id] = one
    if ask.past is None:
        kept = _best(found)
        memories = reader.memories_by_id(hub_id, list(kept))
        return {key: Evidence(memories[key], list(rows.values())) for key, rows in kept.items()}
    return _as_of(reader, hub_id, ask.past, wanted, found)


_Rows = dict[str, dict[int, Found]]


def _best(found: _Rows) -> _Rows:
    """Those with the most evidence of their own; the rest is not worth reading from the store."""
    if len(found) <= weights.RANKED:
        return found
    own = {
        key: max(one.cosine for one in rows.values()) + max(one.words for one in rows.values())
        for key, rows in found.items()
    }
    return {
        key: found[key] for key in sorted(own, key=lambda key: (-own[key], key))[: weights.RANKED]
    }


def _as_of(
    reader: Reader,
    hub_id: str,
    past: Mapping[str, Memory | None],
    wanted: Filter,
    found: _Rows,
) -> dict[str, Evidence]:
    memories = reader.memories_by_id(hub_id, list(found))
    out = {}
    for memory_id, passages in found.items():
        memory = past.get(memory_id, memories[memory_id])
        if memory is None or not wanted.admits(memory):
            continue
        # Today's passages say nothing about a text that has changed since; the one passage that
        # was made of the past text (0) says less than they do where it has not.
        same = memory.content == memories[memory_id].content
        rows = [one for one in passages.values() if same == bool(one.candidate.passage_id)]
        if same and not rows:
            rows = list(passages.values())
        if rows:
            out[memory_id] = Evidence(memory, rows)
    return out


def _add_substrings(
    reader: Reader,
    hub_id: str,
    ask: Ask,
    wanted: Filter,
    items: dict[str, Evidence],
    *,
    found_words: bool,
) -> None:
    """Part of a word, a symbol or an address: looked for as it stands."""
    if ask.past is not None:
        return
    needle = trigram_text(ask.analysis.words).strip()
    if not needle or (found_words and not _is_symbol(needle)):
        return
    ids = reader.search_substring(hub_id, needle, wanted, limit=weights.LEXICAL_CANDIDATES)
    missing = [memory_id for memory_id in ids if memory_id not in items]
    memories = reader.memories_by_id(hub_id, missing)
    for candidate in reader.passages(hub_id, missing):
        if not _fits(candidate, ask.analysis):
            continue
        memory = memories[candidate.memory_id]
        said = fold(memory.content[candidate.start : candidate.end])
        if candidate.memory_id not in items or needle in said:
            items[candidate.memory_id] = Evidence(memory, [Found(candidate)])
    for memory_id in ids:
        if memory_id in items:
            items[memory_id].add("substring", weights.SUBSTRING_WEIGHT, f"holds “{needle[:40]}”")
            items[memory_id].own += weights.SUBSTRING_WEIGHT


def _is_symbol(needle: str) -> bool:
    return " " not in needle and (not needle.isalnum() or bool(symbols(needle)))


def _hit(item: Evidence, analysis: Analysis) -> Hit:
    why = []
    held = set(item.best.candidate.body.split()) | set(item.best.candidate.head.split())
    matched = [term for term in analysis.terms if term in held]
    if matched:
        why.append(f"words: {', '.join(matched)}")
    if item.parts["vector"] > 0:
        why.append(f"meaning {item.parts['vector']:.2f}")
    parts = {name: part for name, value in item.parts.items() if (part := round(value, 6))}
    return Hit(item.memory, item.passage, round(item.score, 6), (*why, *item.why), parts)
