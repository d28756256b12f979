"""Whether what recall found is likely enough to be put before an agent that has not asked for it:
into the block for a question, or beside a prompt. The one place for these bounds."""

from __future__ import annotations

from holdfast.domain.query import Hit, Recalled

# Where the likeliest hit is less likely than this, nothing is relevant. Chosen on three
# conversations of LoCoMo, where 92 % of the own questions are answered within 4,000 characters with
# 0.25 and with 0.3, and 89 % with 0.4; of questions about others 87 % get nothing, after 84 %. On
# sets that it was not chosen on, 80 % (LongMemEval-b, after 71 %) and 83 % (BEAM-b, after 77 %). A
# least probability for every hit costs a quarter of the answers: evidence is spread.
ANSWERED_LEAST = 0.3
# A prompt is often no question at all: below this, recall is more often wrong than right about
# there being an answer.
PROMPT_LEAST = 0.4
# Of the hits for a prompt, those at least half as likely as the best.
PROMPT_SHARE = 0.5


def for_question(found: Recalled) -> list[Hit]:
    """The hits for the block of a question: all or none."""
    if not any(hit.parts.get("vector") for hit in found):
        return list(found)
    return [] if found.confidence < ANSWERED_LEAST else list(found)


def for_prompt(found: Recalled) -> list[Hit]:
    """The hits to put beside a prompt: of an answer that is likely there, those that are not far
    behind the best."""
    if found.confidence < PROMPT_LEAST:
        return []
    least = max((hit.probability for hit in found), default=0.0) * PROMPT_SHARE
    return [hit for hit in found if hit.probability >= least]
