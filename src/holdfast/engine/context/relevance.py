"""Decides which hits are relevant enough to be injected unasked, in the block for a question or
beside a prompt. All thresholds for this are here."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from holdfast.domain.query import Hit, Recalled

# If an answer is less likely than this, nothing is shown: stricter than a recall, because nobody
# asked. Requiring a probability of each hit instead costs a quarter of the answers, because
# evidence is spread over hits.
ANSWERED_LEAST = 0.25
# The same for a question with names that the hub knows, which is hardly meant for another hub.
# Chosen on LoCoMo: 97.0 instead of 95.1 % of its questions get their answer, and no more questions
# about strangers do.
NAMED_LEAST = 0.15
# For a question, hits are shown with a score at most this far behind the best, and memories that
# are at least this share as likely. Chosen on LoCoMo and small stores of notes: it removes a
# quarter of the turns and half of the notes, and at most 1 % of those that answer. A turn that
# answers may be unlike the question if the turns around it are like it.
SCORE_BEHIND = 0.3
LIKELY_SHARE = 0.05
# A prompt is often not a question. With this limit, 1 to 5 % of the ordinary prompts of strangers
# get a line in hubs of conversations, and 12 to 19 % in hubs of a few dozen notes.
PROMPT_LEAST = 0.3
# The most hits for a prompt, if the answer is certain; otherwise that share of them, at least two.
PROMPT_HITS = 12
# For a prompt, hits are shown that are at least this share as likely as the best.
PROMPT_SHARE = 0.15


def for_question(found: Recalled) -> list[Hit]:
    """The hits for the block of a question: none, or those close to the best."""
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
    """The hits to put beside a prompt: none if there is probably no answer, else those close to the
    best. What the conversation contains already is left out: memories and turns of its own
    `session` (of a compacted session, those `since` then), and those that it was `given`, by id."""
    if found.confidence < PROMPT_LEAST:
        return []
    least = max((hit.probability for hit in found), default=0.0) * PROMPT_SHARE
    few = max(2, round(PROMPT_HITS * found.confidence))
    likely = [hit for hit in found if hit.probability >= least][:few]
    return [
        hit
        for hit in likely
        if hit.memory.id not in given
        and (
            session is None
            or hit.memory.session != session
            or (since is not None and hit.memory.created_at < since)
        )
    ]
