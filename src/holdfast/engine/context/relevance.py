"""Whether what recall found is likely enough to be put before an agent that has not asked for it:
into the block for a question, or beside a prompt. The one place for these bounds."""

from __future__ import annotations

import math

from holdfast.domain.query import Hit, Recalled

# Where the likeliest hit is less likely than this, nothing is relevant. A least probability for
# every hit costs a quarter of the answers: evidence is spread.
ANSWERED_LEAST = 0.25
# By how much a question that names somebody unknown is less likely to be answered, in log odds.
# Chosen on three conversations of LoCoMo: with 1 none of the own questions loses its answer within
# 4,000 characters (92 %), and of questions about others 94 % get nothing, after 83 %. On sets that
# it was not chosen on: 83 % after 71 % (LongMemEval-b), 81 % after 77 % (BEAM-b), and as many
# answers as before.
UNKNOWN_NAME = 1.0
# A prompt is often no question at all: below this, recall is more often wrong than right about
# there being an answer.
PROMPT_LEAST = 0.4
# Of the hits for a prompt, those at least half as likely as the best.
PROMPT_SHARE = 0.5


def for_question(found: Recalled) -> list[Hit]:
    """The hits for the block of a question: all or none."""
    if not any(hit.parts.get("vector") for hit in found):
        return list(found)
    return [] if _confidence(found) < ANSWERED_LEAST else list(found)


def _confidence(found: Recalled) -> float:
    """How likely the hub holds an answer, given the names that it does not know."""
    likely = min(max(found.confidence, 1e-6), 1 - 1e-6)
    odds = likely / (1 - likely)
    if found.unknown_names:
        odds *= math.exp(-UNKNOWN_NAME)
    return odds / (1 + odds)


def for_prompt(found: Recalled) -> list[Hit]:
    """The hits to put beside a prompt: of an answer that is likely there, those that are not far
    behind the best."""
    if _confidence(found) < PROMPT_LEAST:
        return []
    least = max((hit.probability for hit in found), default=0.0) * PROMPT_SHARE
    return [hit for hit in found if hit.probability >= least]
