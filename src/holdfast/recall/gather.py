"""Candidate generation: finds the memories that may be answers, by words, by vectors and by literal
substrings.

The result is one Evidence per memory with its own scores; ranking is done elsewhere. If the filter
leaves too few of the nearest passages, the vector search is repeated with a larger limit, so that a
narrow filter does not lead to an empty answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.errors import EmbedderError
from holdfast.recall import lexical, weights
from holdfast.recall.analyse import Analysis
from holdfast.recall.confidence import Background, nearness
from holdfast.recall.evidence import Evidence, ScoredPassage, corrected, owners_by_id
from holdfast.recall.expand import Understood
from holdfast.recall.vector import Scan, VectorCache
from holdfast.recall.voice import Voice, find_speakers, first_person, is_group
from holdfast.store.rows import damaged_row
from holdfast.store.values import Candidate, Lexicon, TermQuery
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import fold, is_stop, symbols, terms, trigram_text

if TYPE_CHECKING:
    from holdfast.embed import Embedder, Vector
    from holdfast.store.base import Reader

# Why an answer may be worse than usual. The command line adds what to do about it.
NO_MODEL = "there is no embedding model, so only words were matched"
NO_VECTORS = "no vector of this model yet: only their words find them"


class SearchRequest(NamedTuple):
    """The parsed question, the hub to search, and the filter."""

    reader: Reader
    hub_id: str
    analysis: Analysis
    voice: Voice
    wanted: Filter
    limit: int
    # For a query about the past: changed memories as they were then. None for the present.
    past: Mapping[str, Memory | None] | None


class QuestionVector(NamedTuple):
    """The question's vector, the model that made it, and the cache of the hub's vectors."""

    vector: Vector
    model: str
    cache: VectorCache
    scan: Scan

    def background(self, reader: Reader, hub_id: str) -> Background | None:
        """Returns the similarity of the question to the whole hub and to general text."""
        if self.model not in weights.CONFIDENCE:
            return self.cache.background(reader, hub_id, self.model, self.vector, self.scan)
        centre = self.cache.centre(reader, hub_id, self.model)
        if centre is None:
            return None
        return Background(float(centre @ self.vector), nearness(self.model, self.vector))

    def cosines_of(
        self, reader: Reader, hub_id: str, memory_ids: Sequence[str]
    ) -> dict[str, float]:
        """Returns the cosines of the question with these memories, as far as they have vectors: of
        each memory that of its best passage."""
        owners = {one.passage_id: one.memory_id for one in reader.passages(hub_id, memory_ids)}
        found = self.cache.cosines_of(reader, hub_id, self.model, self.vector, sorted(owners))
        best: dict[str, float] = {}
        for passage, cosine in found.items():
            owner = owners[passage]
            best[owner] = max(cosine, best.get(owner, cosine))
        return best


class _Scored(NamedTuple):
    """The passages that were found, their cosines, and their word scores in units of cosine. Kept
    apart, because only those that are ranked become tuples."""

    passages: list[Candidate]
    cosines: list[float]
    words: list[float]


# The passages that were found, by memory id: the fields of ScoredPassages as plain tuples.
_Rows = dict[str, tuple[tuple[Candidate, float, float], ...]]


def embed_question(
    asked: SearchRequest,
    text: str,
    embedder: Embedder | None,
    cache: VectorCache,
    degraded: list[str],
) -> QuestionVector | None:
    """Embeds the question of a recall. Returns None if vector search is not possible, and adds the
    reason to `degraded`."""
    if embedder is None:
        degraded.append(NO_MODEL)
        return None
    missing = asked.reader.unembedded_count(asked.hub_id, embedder.identity)
    if missing:
        degraded.append(
            f"{missing} {'passage has' if missing == 1 else 'passages have'} {NO_VECTORS}"
        )
    state = asked.reader.vector_state(asked.hub_id, embedder.identity)
    # A question of punctuation alone has nothing to embed.
    if not state.size or not asked.analysis.terms:
        return None
    try:
        said = first_person(text, asked.voice)
        vector = cache.question(asked.reader, asked.hub_id, embedder, said)
        return QuestionVector(vector, embedder.identity, cache, Scan())
    except EmbedderError as error:
        degraded.append(f"the embedding model failed, so only words were matched ({error.message})")
        return None


def term_query(analysis: Analysis) -> TermQuery:
    """Returns the question in index terms. Identifiers are searched for whole and in parts."""
    parts = (t for t in symbols(analysis.words) if not is_stop(t) and t not in analysis.terms)
    return TermQuery((*analysis.terms, *parts), analysis.phrases, analysis.excluded)


def gather(
    asked: SearchRequest,
    hits: Sequence[lexical.WordHit],
    question: QuestionVector | None,
    understood: Understood,
) -> dict[str, Evidence]:
    """Returns the candidate memories by id, found by words, by vectors or as substrings."""
    found = _score_passages(asked, hits, question, understood)
    if asked.past is None:
        kept = _best(found)
        memories = owners_by_id(asked.reader, asked.hub_id, list(kept))
        if len(memories) < len(kept):
            # Its passage was read in the same transaction, so the row must be damaged. The id
            # itself may be the damaged part, and then is not a string.
            raise damaged_row("memories", str(next(key for key in kept if key not in memories)))
        items = {key: Evidence(memories[key], rows) for key, rows in kept.items()}
    else:
        items = _as_of(asked, asked.past, _by_memory(found))
    _add_substrings(asked, items, found_words=bool(hits))
    return items


def fits(one: Candidate, analysis: Analysis) -> bool:
    """Whether a passage found by recall has every quoted phrase and nothing that is excluded.

    The store checks this in a search by words; this function is for passages found in other ways.
    """
    if not (analysis.phrases or analysis.excluded):
        return True
    fields = (f" {one.body} ", f" {one.head} ")

    def holds(phrase: tuple[str, ...]) -> bool:
        return any(f" {' '.join(phrase)} " in field for field in fields)

    return all(map(holds, analysis.phrases)) and not any(map(holds, analysis.excluded))


# By words


def hear_speakers(
    asked: SearchRequest, understood: Understood, hits: Sequence[lexical.WordHit]
) -> tuple[SearchRequest, list[lexical.WordHit]]:
    """Detects speakers in transcripts that are stored as plain text ('Nate: …').

    If the question names one, the request asks for their voice, and the hits are scored without
    the name: it is in front of every line that the person says. Also detects from these texts
    whether more than two people talk.
    """
    asked, heard = _hear_in_text(asked, understood, hits)
    if not asked.voice.about or asked.voice.in_group:
        return asked, heard
    in_group = is_group(asked.reader, asked.hub_id, asked.voice.about, heard)
    return asked._replace(voice=asked.voice._replace(in_group=in_group)), heard


def _hear_in_text(
    asked: SearchRequest, understood: Understood, hits: Sequence[lexical.WordHit]
) -> tuple[SearchRequest, list[lexical.WordHit]]:
    names = asked.analysis.names
    if asked.voice.about or not names:
        return asked, list(hits)
    speakers = find_speakers(asked.reader, asked.hub_id, names, hits)
    if not speakers:
        return asked, list(hits)
    known = frozenset(term for name in speakers for term in terms(name))
    voice = asked.voice._replace(about=speakers, names=known, in_text=True)
    query, lexicon, others, *_ = understood
    rest = [term for term in query.terms if term not in known]
    candidates = [one for one, _ in hits]
    scores = lexical.bm25(candidates, rest, lexicon, alternatives=others)
    return asked._replace(voice=voice), list(zip(candidates, scores, strict=True))


def find_by_words(asked: SearchRequest, understood: Understood) -> list[lexical.WordHit]:
    """Returns the passages that match the words; in a query about the past, also past texts."""
    query, lexicon, others, *_ = understood
    hits = lexical.gather(
        asked.reader, asked.hub_id, query, lexicon, asked.wanted, alternatives=others
    )
    if not asked.past:
        return hits
    then = [
        Candidate(m.id, 0, 0, 0, len(m.content), (), " ".join(terms(m.content)), "", 1)
        for m in asked.past.values()
        if m is not None and asked.wanted.admits(m)
    ]
    then = [one for one in then if fits(one, asked.analysis)]
    # Frequencies are at least 1: a word that has disappeared from today's index must still match.
    known = {term: max(1, n) for term, n in lexicon.frequency.items()}
    lexicon = lexicon._replace(frequency=known)
    scores = lexical.bm25(then, query.terms, lexicon, alternatives=others)
    return hits + [hit for hit in zip(then, scores, strict=True) if hit[1] > 0]


def _scale_to_cosine(
    hits: Sequence[lexical.WordHit], weight: float, full: float
) -> tuple[list[float], float]:
    """Scales BM25 scores to units of cosine: the best gets the weight, the others their share.

    BM25 scores grow with the number of words in the question and with the hub, so only their
    ratios are comparable. On a fixed scale a prompt of fifty words would dominate or vanish. But
    if the best is below `full`, it gets that share of the weight only, which is returned too.
    """
    scores = [score for _, score in hits]
    best = max(scores, default=0.0)
    if best <= 0:
        return scores, 1.0
    share = min(1.0, best / full) if full else 1.0
    return [weight * share * score / best for score in scores], share


def _full_score(lexicon: Lexicon) -> float:
    """Returns the BM25 score from which words have their full weight."""
    return min(weights.LEXICAL_FULL, weights.LEXICAL_FULL_WORDS * lexicon.rarity_of(1))


# By meaning


def _score_passages(
    asked: SearchRequest,
    hits: Sequence[lexical.WordHit],
    question: QuestionVector | None,
    understood: Understood,
) -> _Scored:
    """Returns the passages found by words, with their cosines, and those found by vectors only."""
    weight = weights.LEXICAL_ALONE_WEIGHT if question is None else weights.LEXICAL_WEIGHT
    full = 0.0
    if question is not None and asked.analysis.asks_advice:
        weight *= weights.ADVICE_SHARE
    elif question is not None and not (asked.analysis.is_prompt or understood.foreign):
        full = _full_score(understood.lexicon)
    words, share = _scale_to_cosine(hits, weight, full)
    passages = [one for one, _ in hits]
    by_words = [one.passage_id for one in passages]
    cosines: dict[int, float] = {}
    others: list[Candidate] = []
    if question is not None:
        cosines, others = _search_vectors(asked, question, by_words, words)
    if share < 1:
        # Without a vector, the words are all there is to judge by.
        words = [
            score if cosines.get(one) else score / share
            for one, score in zip(by_words, words, strict=True)
        ]
    passages += others
    # Most passages have one window; checking that inline saves a call for each.
    near = [
        cosine if one.windows == 1 else corrected(cosine, one.windows)
        for one in passages
        for cosine in (cosines.get(one.passage_id, 0.0),)
    ]
    return _Scored(passages, near, words + [0.0] * len(others))


def _search_vectors(
    asked: SearchRequest, question: QuestionVector, by_words: Sequence[int], scores: Sequence[float]
) -> tuple[dict[int, float], list[Candidate]]:
    """Returns the cosines of the nearest passages and of those found by words, and the passages
    that only vectors found. If a filter leaves too few of them, more are read."""
    named = dict.fromkeys(by_words)
    reach = weights.VECTOR_CANDIDATES
    while True:
        cosines = question.cache.search(
            asked.reader,
            asked.hub_id,
            question.model,
            question.vector,
            limit=reach,
            also=list(named),
            scan=question.scan,
        )
        unknown = [passage for passage in cosines if passage not in named]
        if reach == weights.VECTOR_CANDIDATES and asked.past is None:
            unknown = _worth_reading(unknown, cosines, by_words, scores)
        others = asked.reader.candidates(asked.hub_id, unknown, asked.wanted)
        if asked.analysis.phrases or asked.analysis.excluded:
            others = [one for one in others if fits(one, asked.analysis)]
        if len(others) + len(by_words) >= asked.limit or len(cosines) < reach:
            return cosines, others
        reach *= 8


def _worth_reading(
    unknown: list[int],
    cosines: Mapping[int, float],
    by_words: Sequence[int],
    words: Sequence[float],
) -> list[int]:
    """Returns the passages found by vectors only that can still be among the memories ranked.
    `unknown` are these passages, nearest first; `by_words` those found by words, with their scores.

    Passages found by words rank by cosine plus word score. The margin makes up for passages of
    the same memory, for filtered ones, and for those with many windows.
    """
    spare = int(weights.RANKED * _MARGIN)
    if len(unknown) <= spare:
        return unknown
    strengths = sorted(
        [cosines.get(one, 0.0) + score for one, score in zip(by_words, words, strict=True)]
    )
    # A penalty for many windows may put a passage before nearer ones: those are not behind it.
    nearest = list(accumulate([cosines[one] for one in unknown[:spare]], min))

    def count_before(place: int) -> int:
        return place + len(strengths) - bisect_left(strengths, nearest[place])

    return unknown[: bisect_left(range(spare), spare, key=count_before)]


_MARGIN = 1.25


def _by_memory(found: _Scored) -> _Rows:
    out: _Rows = {}
    for one in zip(*found, strict=True):
        memory_id = one[0].memory_id
        before = out.get(memory_id)
        # Tuples, not lists: most memories have one passage, and the garbage collector tracks lists.
        out[memory_id] = (one,) if before is None else (*before, one)
    return out


def _best(found: _Scored) -> _Rows:
    """Returns the memories with the most evidence; the others are not read from the store."""
    passages, cosines, words = found
    own = list(map(add, cosines, words))
    owners = {one.memory_id for one in passages}
    if weights.RANKED < len(owners) == len(own) == len({*own}):
        # The usual case: one passage per memory, and no two with the same evidence.
        best = sorted(range(len(own)), key=own.__getitem__, reverse=True)[: weights.RANKED]
        return {passages[at].memory_id: ((passages[at], cosines[at], words[at]),) for at in best}
    rows = _by_memory(found)
    if len(rows) <= weights.RANKED:
        return rows
    order = []
    for memory_id, several in rows.items():
        _, cosine, score = several[0]
        if len(several) > 1:
            # The best cosine and the best word score may come from different passages.
            for _, other, more in several[1:]:
                cosine, score = max(cosine, other), max(score, more)
        order.append((-(cosine + score), memory_id))
    order.sort()
    return {memory_id: rows[memory_id] for _, memory_id in order[: weights.RANKED]}


def _as_of(
    asked: SearchRequest, past: Mapping[str, Memory | None], found: _Rows
) -> dict[str, Evidence]:
    memories = owners_by_id(asked.reader, asked.hub_id, list(found))
    out = {}
    for memory_id, passages in found.items():
        memory = past.get(memory_id, memories[memory_id])
        if memory is None or not asked.wanted.admits(memory):
            continue
        # If the text has changed since, today's passages do not apply, and the one made from the
        # past text (passage_id 0) is used; if it has not, today's passages are the better evidence.
        same = memory.content == memories[memory_id].content
        rows = tuple(one for one in passages if same == bool(one[0].passage_id))
        if same and not rows:
            rows = passages
        if rows:
            out[memory_id] = Evidence(memory, rows)
    return out


# Literal substrings


def _add_substrings(asked: SearchRequest, items: dict[str, Evidence], *, found_words: bool) -> None:
    """Adds memories that contain the query literally: part of a word, a symbol or an address."""
    if asked.past is not None:
        return
    needle = trigram_text(asked.analysis.words).strip()
    if not needle or (found_words and not _is_symbol(needle)):
        return
    ids = asked.reader.search_substring(
        asked.hub_id, needle, asked.wanted, limit=weights.LEXICAL_CANDIDATES
    )
    missing = [memory_id for memory_id in ids if memory_id not in items]
    memories = owners_by_id(asked.reader, asked.hub_id, missing)
    for candidate in asked.reader.passages(asked.hub_id, missing):
        if not fits(candidate, asked.analysis):
            continue
        memory = memories[candidate.memory_id]
        said = fold(memory.content[candidate.start : candidate.end])
        if candidate.memory_id not in items or needle in said:
            items[candidate.memory_id] = Evidence(memory, [ScoredPassage(candidate)])
    for memory_id in ids:
        if memory_id in items:
            items[memory_id].add("substring", weights.SUBSTRING_WEIGHT, f"holds “{needle[:40]}”")
            items[memory_id].own += weights.SUBSTRING_WEIGHT


def _is_symbol(needle: str) -> bool:
    return " " not in needle and (not needle.isalnum() or bool(symbols(needle)))
