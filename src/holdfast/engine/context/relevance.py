"""Decides whether what recall found is likely enough to be shown to an agent that has not asked for
it, in the block for a question or beside a prompt. All these bounds are here."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from holdfast.domain.query import Hit, Recalled

# Where an answer is less likely than this, nothing is relevant: stricter than a recall, as nobody
# asked. A least probability for every hit costs a quarter of the answers: evidence is spread.
ANSWERED_LEAST = 0.25
# The same for a question by names that the hub knows, which is hardly meant for another hub. Chosen
# on LoCoMo: 97.0 instead of 95.1 % of its questions get their answer, and no more of strangers' do.
NAMED_LEAST = 0.15
# Of the hits for a question, those whose score is at most so far behind the best, and memories that
# are at least so many times as likely as it. Chosen on LoCoMo and small stores of notes: a quarter
# of the turns and half of the notes go, and at most 1 % of those that answer. A turn that answers
# may be unlike the question where the turns around it are not.
SCORE_BEHIND = 0.3
LIKELY_SHARE = 0.05
# A prompt is often no question at all: below this, recall is more often wrong than right about
# there being an answer.
PROMPT_LEAST = 0.4
# Of the hits for a prompt, those at least half as likely as the best.
PROMPT_SHARE = 0.5


def for_question(found: Recalled) -> list[Hit]:
    """The hits for the block of a question: none, or those that are not far behind the best."""
    if not any(hit.parts.get("vector") for hit in found):
        return list(found)
    is_named = found.holds_names and not found.unknown_names
    if found.confidence < (NAMED_LEAST if is_named else ANSWERED_LEAST):
        return []
    score = max(hit.score for hit in found) - SCORE_BEHIND
    likely = max(hit.probability for hit in found) * LIKELY_SHARE
    return [
        hit
        for hit in found
        if hit.score >= score and (hit.turn is not None or hit.probability >= likely)
    ]


def for_prompt(
    found: Recalled,
    *,
    session: str | None = None,
    since: datetime | None = None,
    given: Collection[str] = (),
) -> list[Hit]:
    """The hits to put beside a prompt: of an answer that is likely there, those that are not far
    behind the best. What the conversation holds already is left out: memories and turns of its own
    `session`, of one that was compacted those `since` then, and those that it was `given`, by
    id."""
    if found.confidence < PROMPT_LEAST:
        return []
    least = max((hit.probability for hit in found), default=0.0) * PROMPT_SHARE
    return [
        hit
        for hit in found
        if hit.probability >= least
        and hit.memory.id not in given
        and (
            session is None
            or hit.memory.session != session
            or (since is not None and hit.memory.created_at < since)
        )
    ]
