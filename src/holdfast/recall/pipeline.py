"""The steps of a recall, and the explanation of each hit's rank.

analyse → gather by words, vectors and substring → one Evidence per memory → successors → context →
priors → order → cut → duplicates collapsed.

Nothing fails silently: if a step was not possible, the answer is marked as degraded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.domain.memory import CONVERSATION, TURN, Memory, is_archive
from holdfast.domain.query import EVERYTHING, Filter, Hit, LeftOut, Passage, Recalled
from holdfast.recall import lexical, rank, weights
from holdfast.recall.analyse import Analysis, read_conditions, respelled
from holdfast.recall.confidence import (
    Estimate,
    estimate,
    estimate_foreign,
    has_spread,
    least_among,
    rate,
)
from holdfast.recall.evidence import (
    Admits,
    Evidence,
    bring_successors,
    owners_by_id,
    replace_by_replies,
)
from holdfast.recall.expand import Understood, names_in, understand, unknown_names
from holdfast.recall.gather import (
    SearchRequest,
    embed_question,
    find_by_words,
    fits,
    gather,
    hear_speakers,
    term_query,
)
from holdfast.recall.lexical import Coverage
from holdfast.recall.rank import cut, merge_turns
from holdfast.recall.vector import VectorCache, best_window
from holdfast.recall.voice import SPEAKERS_MAX, find_voice, misspelled_speakers
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import is_unspaced

if TYPE_CHECKING:
    from holdfast.domain.records import Turn
    from holdfast.embed import Embedder
    from holdfast.recall.gather import QuestionVector
    from holdfast.store.base import Reader
    from holdfast.store.values import Candidate

ECHO = "a better hit says the same"
MERGED = "a memory stands for this turn"
ASKED_BEFORE = "the same question, asked before"
WITHHELD = "a memory made of it was forgotten"
EXCLUDED = "the question excludes it"
_TOO_LONG = "the query was too long; only its beginning was used"
# An explanation lists at most this many memories that were left out.
LEFT_OUT_MAX = 20
# At most this many superseded memories are reported.
SUPERSEDED_MAX = 20


class Ask(NamedTuple):
    """A parsed request to recall."""

    analysis: Analysis
    wanted: Filter
    limit: int
    now: datetime
    # For a query about the past: changed memories as they were then. None for the present.
    past: Mapping[str, Memory | None] | None = None
    # A folder or a name; memories of this project rank a little higher.
    project: str = ""
    # Whether hits include the span that is nearest to the question.
    windows: bool = False
    # Memories for which the cosine with the question is wanted, whether they are hits or not.
    compared: Sequence[str] = ()
    # Returns whether a span of a turn is withheld because a memory made from it was forgotten.
    withheld: Callable[[Memory, int, int], bool] | None = None
    # What the least confidence at which answers are shown is multiplied by.
    caution: float = 1.0


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
    """Answers a question from one hub."""
    wanted, unwanted = read_conditions(ask.wanted, ask.analysis.filters)
    if not ask.analysis.words.strip():
        return _filtered_only(reader, hub_id, ask, wanted, unwanted)
    ask, speakers = _with_known_names(reader, hub_id, ask)
    voice = find_voice(ask.analysis.words, speakers)
    asked = SearchRequest(reader, hub_id, ask.analysis, voice, wanted, ask.limit, ask.past)
    degraded = [_TOO_LONG] if ask.analysis.cut else []
    understood = understand(reader, hub_id, ask.analysis.words, term_query(ask.analysis))
    asked, words = hear_speakers(asked, understood, find_by_words(asked, understood))
    question = (
        embed_question(asked, understood.text, embedder, cache, degraded) if meaning else None
    )
    left = _NotShown(names=explain)
    if explain:
        left.hidden(_hidden(reader, hub_id, understood, wanted))
    covered = Coverage(asked, understood)
    found = list(gather(asked, words, question, understood).values())
    admits = _admits(ask, wanted, unwanted)
    kept = _eligible(ask, asked, understood, covered, found, unwanted, admits, left)
    if not kept:
        return _no_hits(degraded, left)
    ordered, merged = _ranked(ask, asked, understood, kept, covered, unwanted)
    left.add(merged, MERGED)
    names = names_in(ask.analysis.words, understood)
    estimated, least = _estimated(asked, understood, question, ordered, covered, names)
    answers, others, reason = cut(
        ordered,
        covered,
        estimated.confidence,
        least=least * ask.caution,
        looked_up=not ask.analysis.is_question,
        held_words=weights.KEYWORDS_HELD_WEIGHT if _is_short_question(ask, understood) else 0.0,
        past=ask.past is not None,
        session_weight=_session_weight(ask),
    )
    left.add(others, reason)
    shown, echoes = rank.collapsed(answers, keep=ask.limit)
    left.add(echoes, ECHO)
    rate(shown, covered, estimated)
    answer = Recalled(
        _hits(reader, hub_id, ask, shown, understood, question),
        degraded=tuple(degraded),
        filtered=left.counts,
        left_out=left.named[:LEFT_OUT_MAX] if explain else (),
        confidence=estimated.confidence,
    )
    _describe(answer, ordered, covered, names, unknown_names(names, understood, speakers))
    if question is not None and ask.compared:
        answer.cosines = question.cosines_of(reader, hub_id, ask.compared)
    return answer


def _eligible(
    ask: Ask,
    asked: SearchRequest,
    understood: Understood,
    covered: Coverage,
    found: list[Evidence],
    unwanted: Sequence[Filter],
    admits: Callable[[Memory, Candidate], bool],
    left: _NotShown,
) -> list[Evidence]:
    """Returns the candidates without those that the question excludes and those that are withheld.
    A turn that asks the same question is replaced by its reply."""
    kept = found
    if unwanted:
        excluded = [item for item in kept if _is_excluded(item.memory, unwanted)]
        kept = left.without(excluded, EXCLUDED, kept)
    if kept and ask.analysis.is_question:
        repeated = replace_by_replies(asked.reader, asked.hub_id, kept, understood, covered, admits)
        left.add(repeated, ASKED_BEFORE)
    if kept and ask.withheld is not None:
        kept = _without_withheld(kept, ask.withheld, left)
    return kept


def _describe(
    answer: Recalled,
    ordered: Sequence[Evidence],
    covered: Coverage,
    names: Sequence[str],
    unknown: Sequence[str],
) -> None:
    """Adds the superseded memories that were found, and which names of the question were not."""
    answer.unknown_names = tuple(unknown)
    old = (item.memory for item in ordered if item.memory.superseded_by is not None)
    answer.superseded = tuple(islice(old, SUPERSEDED_MAX))
    answer.holds_names = _holds_all(names, covered, ordered)


def _holds_all(names: Sequence[str], covered: Coverage, ordered: Sequence[Evidence]) -> bool:
    """Whether the question has names and all of them occur in the best hits."""
    best = ordered[: weights.CONFIDENCE_LOOKS_AT]
    return bool(names) and covered.absent_names(names, best) == 0


def _with_known_names(reader: Reader, hub_id: str, ask: Ask) -> tuple[Ask, list[str]]:
    """Returns the request with speakers' names spelled as in the hub, and the hub's speakers."""
    speakers = reader.speakers(hub_id, limit=SPEAKERS_MAX)
    if others := misspelled_speakers(reader, hub_id, ask.analysis.names, speakers):
        ask = ask._replace(analysis=respelled(ask.analysis, others))
    return ask, speakers


def _without_withheld(
    items: list[Evidence], withheld: Callable[[Memory, int, int], bool], left: _NotShown
) -> list[Evidence]:
    """Returns the items without turns and archives of which the part that was found is withheld."""
    said = [item for item in items if item.memory.category == CONVERSATION]
    said = [item for item in said if item.memory.layer == TURN or is_archive(item.memory)]
    found = [(item, item.candidate) for item in said]
    hidden = [item for item, at in found if withheld(item.memory, at.start, at.end)]
    return left.without(hidden, WITHHELD, items)


def _no_hits(degraded: Sequence[str], left: _NotShown) -> Recalled:
    return Recalled([], degraded=tuple(degraded), filtered=left.counts, left_out=left.named)


def _admits(ask: Ask, wanted: Filter, unwanted: Sequence[Filter]) -> Admits:
    """Returns a predicate for memories that were not found by a search: whether they may be among
    the answers."""
    return lambda memory, passage: (
        wanted.admits(memory) and not _is_excluded(memory, unwanted) and fits(passage, ask.analysis)
    )


def _ranked(
    ask: Ask,
    asked: SearchRequest,
    understood: Understood,
    kept: list[Evidence],
    covered: Coverage,
    unwanted: Sequence[Filter],
) -> tuple[list[Evidence], list[Evidence]]:
    """Returns the candidates and their successors, best first, and the turns that are represented
    by a memory."""
    reader, hub_id, wanted = asked.reader, asked.hub_id, asked.wanted
    bring_successors(reader, hub_id, kept, ask.past or {}, _admits(ask, wanted, unwanted))
    rank.add_missing_vectors(kept, covered)
    if len(understood.query.terms) <= weights.KEYWORDS_MAX:
        rank.add_keywords(kept, covered, asked=_is_short_question(ask, understood))
    rank.add_surroundings(
        kept,
        asked.voice,
        covered,
        lambda pairs: _adjacent(reader, hub_id, pairs),
        lambda pairs: reader.adjacent_turns(hub_id, [(a.id, b.id) for a, b in pairs]),
        _session_weight(ask),
    )
    rank.add_priors(kept, ask.analysis, ask.now, ask.project)
    kept, merged = merge_turns(kept)
    # Last, so that a memory made from a journal line gains what that line gains from its turn.
    rank.lift_consolidated(kept)
    return rank.ordered(kept), merged


def _session_weight(ask: Ask) -> float:
    share = weights.ADVICE_SHARE if ask.analysis.asks_advice else 1.0
    return weights.SESSION_WEIGHT * share


def _is_short_question(ask: Ask, understood: Understood) -> bool:
    """Whether this is a question with so few words that it may be a keyword lookup."""
    few = len(understood.query.terms) <= weights.KEYWORDS_MAX
    return few and ask.analysis.words.endswith("?")


def _estimated(
    asked: SearchRequest,
    understood: Understood,
    question: QuestionVector | None,
    ordered: Sequence[Evidence],
    covered: Coverage,
    names: Sequence[str],
) -> tuple[Estimate, float]:
    """Returns the estimated confidence that the hub holds an answer, and the least confidence at
    which answers are shown."""
    if question and understood.foreign:
        unspaced = any(map(is_unspaced, understood.text))
        found = estimate_foreign(ordered, covered, question.model, unspaced=unspaced)
        if asked.analysis.is_prompt:
            return found, weights.CUT_CONFIDENCE_UNSURE
        return found, least_among(len(ordered), weights.CUT_CONFIDENCE_FOREIGN)
    model = question.model if question else ""
    # Background statistics do not apply behind a narrow filter, where all candidates differ from
    # the rest of the hub.
    narrow = _is_narrow(asked.wanted)
    compared = model in weights.CONFIDENCE or not narrow
    background = question.background(asked.reader, asked.hub_id) if question and compared else None
    # A prompt often introduces new names, and so does a request for advice ('… in Rome?').
    introduces = asked.analysis.is_prompt or asked.analysis.asks_advice
    telling = () if introduces else names
    estimated = estimate(ordered, covered, model, background, telling)
    if not question:
        return estimated, weights.CUT_CONFIDENCE_ANY_MODEL
    return estimated, _least_confidence(asked.analysis, len(ordered), model, narrow=narrow)


def _least_confidence(analysis: Analysis, found: int, model: str, *, narrow: bool) -> float:
    """Returns the least confidence at which answers are shown, for a search that used vectors."""
    # Only part of a prompt is a question, so its cosines are lower.
    if analysis.is_prompt:
        return weights.CUT_CONFIDENCE_UNSURE
    few = found < weights.CONFIDENCE_BACKGROUND_LEAST
    if model in weights.CONFIDENCE and not (few and narrow):
        return least_among(found)
    # Among few memories, a cosine says no more than chance.
    if few and (narrow or not has_spread(found)):
        return weights.CUT_CONFIDENCE_UNSURE
    return weights.CUT_CONFIDENCE_ANY_MODEL


def _hits(
    reader: Reader,
    hub_id: str,
    ask: Ask,
    shown: Sequence[Evidence],
    understood: Understood,
    question: QuestionVector | None,
) -> list[Hit]:
    """Returns the hits, with the turn of each hit from the log and, on request, its best window."""
    turns = [item.memory.id for item in shown if item.memory.layer == TURN]
    said = reader.turns_by_id(hub_id, turns) if turns else {}
    hits = [_hit(item, understood, said.get(item.memory.id)) for item in shown]
    if not ask.windows:
        return hits
    return [
        hit._replace(window=best_window(reader, hub_id, question, ask.analysis.terms, item))
        for hit, item in zip(hits, shown, strict=True)
    ]


def _filtered_only(
    reader: Reader, hub_id: str, ask: Ask, wanted: Filter, unwanted: Sequence[Filter]
) -> Recalled:
    """Answers a query of filters alone: lists the memories that match, newest first."""
    found = reader.memories(hub_id, wanted, order="newest", after=None, limit=_FILTERED_MAX)
    fitting = [memory for memory in found if not _is_excluded(memory, unwanted)][: ask.limit]
    return Recalled(
        Hit(m, Passage(m.content, 0, len(m.content)), 0.0, ("meets the conditions",), {})
        for m in fitting
    )


# Enough that memories excluded by negated filters do not use up the answer.
_FILTERED_MAX = 2_000


class _NotShown:
    """Counts the memories that were found and not shown, by reason."""

    def __init__(self, *, names: bool) -> None:
        self.counts: dict[str, int] = {}
        self.named: list[LeftOut] = []
        self._names = names

    def add(self, items: Sequence[Evidence], reason: str) -> None:
        if items:
            self.counts[reason] = self.counts.get(reason, 0) + len(items)
        if self._names:
            self.named += [LeftOut(i.memory, reason, round(i.score, 6)) for i in items]

    def without(
        self, dropped: Sequence[Evidence], reason: str, items: list[Evidence]
    ) -> list[Evidence]:
        """Records the dropped items, and returns the others."""
        if not dropped:
            return items
        self.add(dropped, reason)
        gone = set(dropped)
        return [item for item in items if item not in gone]

    def hidden(self, memories: Sequence[tuple[Memory, str]]) -> None:
        for memory, reason in memories:
            self.counts[reason] = self.counts.get(reason, 0) + 1
            self.named.append(LeftOut(memory, reason, 0.0))


def _hidden(
    reader: Reader, hub_id: str, understood: Understood, wanted: Filter
) -> list[tuple[Memory, str]]:
    """Returns memories that match the words but not the filter, with the reason for each."""
    query, lexicon, others, *_ = understood
    found = lexical.gather(reader, hub_id, query, lexicon, EVERYTHING, alternatives=others)
    ids = [one.memory_id for one, _ in found]
    memories = owners_by_id(reader, hub_id, list(dict.fromkeys(ids)))
    return [(m, reason) for m in memories.values() if (reason := wanted.refusal(m))]


def _is_narrow(wanted: Filter) -> bool:
    """Whether a filter is narrower than the default one."""
    usual = wanted._replace(states=(), alive_at=None, known_by=None, turns=False)
    return usual != Filter(states=(), turns=False)


def _is_excluded(memory: Memory, conditions: Sequence[Filter]) -> bool:
    return any(condition.admits(memory) for condition in conditions)


def _adjacent(reader: Reader, hub_id: str, pairs: Sequence[tuple[Memory, Memory]]) -> list[bool]:
    """For each pair from one session, whether no memory of it lies between the two."""
    # Between consecutive numbers there is nothing.
    asked = [(a.session or "", a.number, b.number) for a, b in pairs if b.number - a.number > 1]
    answers = iter(reader.adjacent(hub_id, asked) if asked else ())
    return [b.number - a.number == 1 or next(answers) for a, b in pairs]


def _hit(item: Evidence, understood: Understood, turn: Turn | None) -> Hit:
    why = []
    held = set(item.candidate.body.split()) | set(item.candidate.head.split())
    matched = []
    for term in understood.query.terms:
        others = understood.alternatives.get(term, ())
        if term in held:
            matched.append(term)
        elif other := next((one.terms for one in others if held.issuperset(one.terms)), None):
            matched.append(f"{' '.join(other)} (for {term})")
    if matched:
        why.append(f"words: {', '.join(matched)}")
    if item.parts["vector"] > 0:
        why.append(f"meaning {item.parts['vector']:.2f}")
    parts = {name: part for name, value in item.parts.items() if (part := round(value, 6))}
    score, probability = round(item.score, 6), round(item.probability, 4)
    return Hit(item.memory, item.passage, score, (*why, *item.why), parts, probability, turn)
