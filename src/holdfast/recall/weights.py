"""Every number that ranking uses, in one place, with the measurement that chose it.

Figures are turn-level R@10, the mean of four sets that the bundled model has not seen; '-x' is what
is lost without it (bench/README.md has them by set). Evidence is measured in units of cosine.
"""

from __future__ import annotations

# Gathering: so many passages by words and by meaning. 200 of each lose 0.9.
LEXICAL_CANDIDATES = 300
VECTOR_CANDIDATES = 300
# Of the memories gathered, those with the most evidence of their own are ranked. 100 lose 0.3.
RANKED = 200
# A term that more passages hold than this share is left out while rarer terms are there: it
# costs most of the time of a search and tells passages apart the least.
COMMON_SHARE = 0.1
# Hubs smaller than this are searched with every term: there it costs nothing.
COMMON_FROM_PASSAGES = 5_000

# Words. k1 and b are those of FTS5; other values (0.9, 0.4) change the fused result by under 0.3.
BM25_K1 = 1.2
BM25_B = 0.75
# What the best word score of a question counts; the others count their share of it: -3.5. Without
# vectors more, so that the priors below stay small beside it.
LEXICAL_WEIGHT = 0.12
LEXICAL_ALONE_WEIGHT = 0.3
# The best of many windows is high by chance; each doubling of their number costs this much, up to
# a limit: a book is not a worse source than a page. 0.03, right for another model, loses 2.2.
WINDOWS_PENALTY = 0.01
WINDOWS_COUNTED = 16

# Other words for a word of the question (recall/expand.py), beside the word itself: what a table or
# a definition says, another form of it, a part of a compound, a word that it may be a mistype of.
VARIANT_QUALITY = 0.9
FORM_QUALITY = 0.9
COMPOUND_QUALITY = 0.6
TYPO_QUALITY = 0.7

# One or two words, a name say, are looked up rather than asked: a passage that holds them stands
# before one that is only near. Longer questions are not touched.
KEYWORDS_MAX = 2
KEYWORDS_WEIGHT = 0.25

# Conversation. What the turn before or after says counts where both are short: chat is spread over
# turns, long answers stand alone.
NEIGHBOUR_WEIGHT = 0.3
NEIGHBOUR_CHARS_MAX = 400
# Only evidence above that of the vector hit of this rank counts as such for a neighbour.
FLOOR_RANK = 100
SESSION_WEIGHT = 0.2
# Said by the one whom the question is about: -2.0.
VOICE_WEIGHT = 0.10

# Priors: small on purpose. They decide between hits of about the same evidence (two answers to
# the same question differ by about 0.05), and never lift an unrelated memory over an answer.
WINDOW_WEIGHT = 0.10
# People tell of a thing after it happened, and 'last weekend' is vague: days before and after.
WINDOW_DAYS_BEFORE = 1
WINDOW_DAYS_AFTER = 3
# A prompt of several sentences goes on with recent work: what notes of today have over old ones.
# -1.2 without it.
RECENT_WEIGHT = 0.06
RECENT_HALF_LIFE_DAYS = 20
KIND_WEIGHT = 0.02
PINNED_WEIGHT = 0.03
PROJECT_WEIGHT = 0.04
STABILITY_WEIGHT = {"stable": 0.01, "evolving": 0.0, "volatile": -0.01}
COOLING_WEIGHT = -0.05
ARCHIVED_WEIGHT = -0.08
ACCESS_WEIGHT = 0.02  # reached in the limit; half of it at 3 accesses
DECAY_WEIGHT = 0.04  # what a volatile memory loses in the limit
DECAY_HALF_LIFE_DAYS = {"volatile": 14, "evolving": 180}
# More than any evidence can make up: what no longer holds stands behind what does.
NOT_CURRENT_WEIGHT = -1.0
# A fact that took another's place answers the questions the other answered.
SUCCESSOR_SHARE = 0.98

# Two hits of one event, or of none, whose terms overlap this much say the same thing. Collapsed
# across sessions too, 2.7 are lost on long chats, where people say the same thing twice.
NEAR_IDENTICAL = 0.9
# The same for a memory and one it was made from: it may be reworded, but a source that says much
# more than it is still shown.
MADE_FROM_ALIKE = 0.6

# Turns of the conversation log and memories that are compared: the best so many of each.
TURNS_COMPARED = 40

# Confidence (recall/confidence.py): bias, and what best cosine, gap, coverage and coverage of the
# first weigh, for a model whose cosines were measured. Learned by `python -m bench.confidence`.
CONFIDENCE_LOOKS_AT = 10
CONFIDENCE = {"holdfast-embed-s/1": (-10.67, 10.83, 19.13, 4.04, 1.80)}
# For any other model: bias, standard deviations above the hub's background, and coverages.
CONFIDENCE_ANY_MODEL = (-1.67, 0.90, 5.36, 1.47)
# With fewer windows there is no background: the answer is held to be this far above it.
CONFIDENCE_BACKGROUND_LEAST = 30
CONFIDENCE_UNKNOWN = 3.0
# Of a hit: bias, the log odds of the answer, how far its cosine is behind, and its coverage.
HIT_PROBABILITY = (-2.97, 0.38, 14.3, 1.82)
# Less confident answers are not shown. On stores of 60 notes that were set aside, 8 % of strangers'
# questions get a row then, and answerable ones lose 2.0 of R@10; on LoCoMo 13 % and 1.5.
CUT_CONFIDENCE = 0.2
# The same where fewer than 30 memories come into question. Of parts of those stores (5 to 29 of the
# notes), strangers' questions get a row in 33 % instead of 64 %, and no more answers are lost.
CUT_CONFIDENCE_FEW = 0.08
# The same for prompts of several sentences, and among a few for a model that was not measured.
CUT_CONFIDENCE_UNSURE = 0.03
CUT_BELOW_BEST = 0.35
CUT_BELOW_KEYWORDS = 0.15
CUT_PASSAGES_LEAST = 100
# Without vectors: the least share of the question's words that makes an answer.
CUT_COVERAGE = 0.2

# The text stands there to the letter: as good as a rare word.
SUBSTRING_WEIGHT = 0.25
# How long a chain of facts that replaced each other is followed.
SUCCESSORS_MAX = 20
