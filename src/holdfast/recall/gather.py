"""Gathering: the memories that may be answers, by words, by meaning, and as they stand.

What comes out is one Evidence a memory, with what was measured of the memory itself; ranking is not
done here. Where the filter leaves too few of the nearest, the search reaches further, so that a
narrow filter never turns into an empty answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.errors import EmbedderError
from holdfast.recall import lexical, weights
from holdfast.recall.analyse import Analysis
from holdfast.recall.confidence import Background
from holdfast.recall.evidence import Evidence, Found, corrected
from holdfast.recall.expand import Understood
from holdfast.recall.owners import owners_by_id
from holdfast.recall.transcripts import find_speakers
from holdfast.recall.vector import VectorCache
from holdfast.recall.voice import Voice, first_person
from holdfast.store.checksums import damaged_row
from holdfast.store.values import Candidate, TermQuery
from holdfast.text.terms import fold, is_stop, is_unspaced, symbols, terms, trigram_text

if TYPE_CHECKING:
    from holdfast.embed.base import Embedder, Vector
    from holdfast.store.base import Reader

NO_MODEL = (
    "there is no embedding model, so only words were matched; "
    "`holdfast doctor` says why and how to get one"
)


class Asked(NamedTuple):
    """What is looked for, and where."""

    reader: Reader
    hub_id: str
    analysis: Analysis
    voice: Voice
    wanted: Filter
    limit: int
    # How changed memories stood at the past time that is asked about; None where it is now.
    past: Mapping[str, Memory | None] | None


class Question(NamedTuple):
    """The question as a vector, and the space it lives in."""

    vector: Vector
    model: str
    cache: VectorCache

    def background(self, reader: Reader, hub_id: str) -> Background | None:
        """What the question has in common with the hub at large."""
        return self.cache.background(reader, hub_id, self.model, self.vector)


_Rows = dict[str, dict[int, Found]]


def embed_question(
    asked: Asked, text: str, embedder: Embedder | None, cache: VectorCache, degraded: list[str]
) -> Question | None:
    """The question as a vector; None, and why, where meaning cannot be asked."""
    if embedder is None:
        degraded.append(NO_MODEL)
        return None
    missing = asked.reader.unembedded_count(asked.hub_id, embedder.identity)
    if missing:
        degraded.append(
            f"{missing} {'passage has' if missing == 1 else 'passages have'} no vector of this"
            " model yet; `holdfast embed` makes them"
        )
    state = asked.reader.vector_state(asked.hub_id, embedder.identity)
    # Signs alone have no meaning that a model could know.
    if not state.size or not asked.analysis.terms:
        return None
    try:
        vector = embedder.embed_query(first_person(text, asked.voice))
        return Question(
            cache.checked(asked.reader, asked.hub_id, embedder.identity, vector),
            embedder.identity,
            cache,
        )
    except EmbedderError as error:
        degraded.append(f"the embedding model failed, so only words were matched ({error.message})")
        return None


def term_query(analysis: Analysis) -> TermQuery:
    """The question in index terms; parts of identifiers count as well as the whole."""
    parts = (t for t in symbols(analysis.words) if not is_stop(t) and t not in analysis.terms)
    return TermQuery((*analysis.terms, *parts), analysis.phrases, analysis.excluded)


def gather(
    asked: Asked, hits: Sequence[lexical.WordHit], question: Question | None
) -> dict[str, Evidence]:
    """The memories that may be answers, by id: what words found, and what is near."""
    words = _scaled(hits, alone=question is None)
    found = _with_meaning(asked, words, question)
    if asked.past is None:
        kept = _best(found)
        memories = owners_by_id(asked.reader, asked.hub_id, list(kept))
        if len(memories) < len(kept):
            # Found by its passage a moment ago, in the same transaction.
            # The id itself may be what is damaged: then it is no text.
            raise damaged_row("memories", str(next(key for key in kept if key not in memories)))
        items = {key: Evidence(memories[key], list(rows.values())) for key, rows in kept.items()}
    else:
        items = _as_of(asked, asked.past, found)
    _add_substrings(asked, items, found_words=bool(words))
    return items


def fits(one: Candidate, analysis: Analysis) -> bool:
    """Whether a passage holds every quoted phrase and nothing that is excluded.

    The store asks this of what it finds by words; here it is asked of what came by another way.
    """
    if not (analysis.phrases or analysis.excluded):
        return True
    fields = (f" {one.body} ", f" {one.head} ")

    def holds(phrase: tuple[str, ...]) -> bool:
        return any(f" {' '.join(phrase)} " in field for field in fields)

    return all(map(holds, analysis.phrases)) and not any(map(holds, analysis.excluded))


def coverage(asked: Asked, understood: Understood) -> Callable[[Evidence], float]:
    """Tells how much of the question's words a memory holds, the rare ones counting for more.

    A word the hub has never seen counts too: that it is missing says the most. Speakers' names and
    dates do not: whose words these are, and of when, has been looked at already.
    """
    window = asked.analysis.window
    query, lexicon, others, *_ = understood
    said = {*asked.voice.names, *terms(window.words if window else "")}
    wanted = [term for term in query.terms if term not in said] or list(query.terms)
    # In a hub of three notes every word is common; rarity needs a little more to go by.
    lexicon = lexicon._replace(passages=max(lexicon.passages, weights.CUT_PASSAGES_LEAST))
    weight = {term: lexical.rarity(lexicon, term) for term in wanted}
    for term in wanted:
        if not lexicon.frequency[term] and term in others:
            # It is known, under another name.
            names = [other for one in others[term] for other in one.terms]
            weight[term] = max(lexical.rarity(lexicon, name) for name in names)
    whole = sum(weight.values()) or 1.0

    def covered(item: Evidence) -> float:
        held = {*item.best.candidate.body.split(), *item.best.candidate.head.split()}
        found = 0.0
        for term in wanted:
            if _is_held(term, held):
                found += weight[term]
            elif term in others:
                found += weight[term] * max(
                    (one.quality for one in others[term] if held.issuperset(one.terms)), default=0.0
                )
        return found / whole

    return covered


def _is_held(term: str, held: set[str]) -> bool:
    if term in held:
        return True
    # One character of a script without spaces stands at the beginning of some pair.
    return len(term) == 1 and is_unspaced(term) and any(word.startswith(term) for word in held)


# By words


def hear_speakers(
    asked: Asked, understood: Understood, hits: Sequence[lexical.WordHit]
) -> tuple[Asked, list[lexical.WordHit]]:
    """Where a name in the question speaks in transcripts kept as text, the voice is theirs.

    Their name is in front of all that they say, so it no longer counts as a word.
    """
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
    candidates = [hit.candidate for hit in hits]
    scores = lexical.bm25(candidates, rest, lexicon, alternatives=others)
    scored = [hit._replace(score=score) for hit, score in zip(hits, scores, strict=True)]
    return asked._replace(voice=voice), scored


def find_by_words(asked: Asked, understood: Understood) -> list[lexical.WordHit]:
    """The passages that hold the words, and past texts that did."""
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
    # Every term counts as known, or a word that is gone from today's index would not match.
    known = {term: max(1, n) for term, n in lexicon.frequency.items()}
    lexicon = lexicon._replace(frequency=known)
    scores = lexical.bm25(then, query.terms, lexicon, alternatives=others)
    return hits + [
        lexical.WordHit(candidate, score)
        for candidate, score in zip(then, scores, strict=True)
        if score > 0
    ]


def _scaled(hits: Sequence[lexical.WordHit], *, alone: bool) -> list[lexical.WordHit]:
    """Word scores in units of cosine: the best has the whole weight, the others their share.

    BM25 grows with the number of the question's words and with the hub, so only its ratios can be
    compared: a prompt of fifty words would count for nothing, or for everything, on a fixed scale.
    """
    best = max((hit.score for hit in hits), default=0.0)
    if best <= 0:
        return list(hits)
    weight = weights.LEXICAL_ALONE_WEIGHT if alone else weights.LEXICAL_WEIGHT
    return [hit._replace(score=weight * hit.score / best) for hit in hits]


# By meaning


def _with_meaning(
    asked: Asked, words: Sequence[lexical.WordHit], question: Question | None
) -> _Rows:
    """What was found by words, with its cosines, and what is near besides."""
    by_words = {hit.candidate.passage_id: None for hit in words}
    cosines: dict[int, float] = {}
    others: list[Candidate] = []
    reach = weights.VECTOR_CANDIDATES
    while question is not None:
        near = question.cache.search(
            asked.reader,
            asked.hub_id,
            question.model,
            question.vector,
            limit=reach,
            also=list(by_words),
        )
        cosines = {hit.passage_id: hit.cosine for hit in near}
        unknown = [passage for passage in cosines if passage not in by_words]
        if reach == weights.VECTOR_CANDIDATES and asked.past is None:
            unknown = _worth_reading(unknown, cosines, words)
        others = asked.reader.candidates(asked.hub_id, unknown, asked.wanted)
        others = [one for one in others if fits(one, asked.analysis)]
        if len(others) + len(words) >= asked.limit or len(near) < reach:
            break
        reach *= 8
    found: _Rows = {}
    for hit in words:
        cosine = cosines.get(hit.candidate.passage_id, 0.0)
        one = Found(hit.candidate, corrected(cosine, hit.candidate.windows), hit.score)
        found.setdefault(hit.candidate.memory_id, {})[hit.candidate.passage_id] = one
    for candidate in others:
        one = Found(candidate, corrected(cosines[candidate.passage_id], candidate.windows))
        found.setdefault(candidate.memory_id, {})[candidate.passage_id] = one
    return found


def _worth_reading(
    unknown: Sequence[int], cosines: Mapping[int, float], words: Sequence[lexical.WordHit]
) -> list[int]:
    """Of the passages found by meaning alone, those that may come among the memories ranked.

    A passage that words found has more evidence than its cosine. The margin makes up for what
    belongs to the same memory, is filtered, or has many windows.
    """
    spare = int(weights.RANKED * _MARGIN)
    if len(unknown) <= spare:
        return list(unknown)
    stronger = sorted(
        (cosines.get(hit.candidate.passage_id, 0.0) + hit.score for hit in words), reverse=True
    )
    out = []
    ahead = 0
    for place, passage in enumerate(unknown):  # nearest first
        while ahead < len(stronger) and stronger[ahead] >= cosines[passage]:
            ahead += 1
        if place + ahead >= spare:
            break
        out.append(passage)
    return out


_MARGIN = 1.25


def _best(found: _Rows) -> _Rows:
    """Those with the most evidence of their own; the rest is not worth reading from the store."""
    if len(found) <= weights.RANKED:
        return found
    own = {}
    for key, rows in found.items():
        if len(rows) == 1:
            (one,) = rows.values()
            own[key] = one.cosine + one.words
        else:
            cosine = max(one.cosine for one in rows.values())
            own[key] = cosine + max(one.words for one in rows.values())
    order = sorted(own, key=lambda key: (-own[key], key))
    return {key: found[key] for key in order[: weights.RANKED]}


def _as_of(asked: Asked, past: Mapping[str, Memory | None], found: _Rows) -> dict[str, Evidence]:
    memories = owners_by_id(asked.reader, asked.hub_id, list(found))
    out = {}
    for memory_id, passages in found.items():
        memory = past.get(memory_id, memories[memory_id])
        if memory is None or not asked.wanted.admits(memory):
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


# As they stand


def _add_substrings(asked: Asked, items: dict[str, Evidence], *, found_words: bool) -> None:
    """Part of a word, a symbol or an address: looked for as it stands."""
    if asked.past is not None:
        return
    needle = trigram_text(asked.analysis.words).strip()
    if not needle or (found_words and not _is_symbol(needle)):
        return
    ids = asked.reader.search_substring(
        asked.hub_id, needle, asked.wanted, limit=weights.LEXICAL_CANDIDATES
    )
    missing = [memory_id for memory_id in ids if memory_id not in items]
    memories = asked.reader.memories_by_id(asked.hub_id, missing)
    for candidate in asked.reader.passages(asked.hub_id, missing):
        if not fits(candidate, asked.analysis):
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
