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

# One or two words, a name say, are looked up rather than asked: a passage that holds them ranks
# before one that is only near. Longer questions are not touched. With a question mark ('What breed
# is my dog?') the answer often has other words: as much as when they are looked up loses 0.3.
KEYWORDS_MAX = 2
KEYWORDS_WEIGHT = 0.25
KEYWORDS_ASKED_WEIGHT = 0.05
# Whether such a memory is shown at all: as if the words were looked up. Else a hub of a few notes
# answers 'Which tea?' with notes on cars behind the one on tea.
KEYWORDS_HELD_WEIGHT = KEYWORDS_WEIGHT - KEYWORDS_ASKED_WEIGHT

# Conversation. What the turn before or after says counts where both are short: chat is spread over
# turns, long answers are complete by themselves.
NEIGHBOUR_WEIGHT = 0.3
# The same in a session between people, where the words around count too: with 0.3, 0.4 are lost on
# chats that had no part in the choice.
NEIGHBOUR_PEOPLE_WEIGHT = 0.2
NEIGHBOUR_CHARS_MAX = 400
# Only evidence above that of the vector hit of this rank counts as such for a neighbour.
FLOOR_RANK = 100
# What it counts in such a session that a turn, and so many before and after it, together hold all
# words of the question. On chats that its value was not chosen on +0.6 (-0.03 to +1.4). With what
# agents write it would lose 1.3 to 2.0; on notes it loses 1.9 on one set and gains 1.3 on another.
WORDS_AROUND_WEIGHT = 0.06
WORDS_AROUND_TURNS = 2
# What the best of a session lends to its other turns. 0.4 instead of 0.2 gains 0.5 on LoCoMo (0.1
# to 1.0) and 0.9 on conversations of several people, and loses 0.1 at most on seven other sets; 0.7
# loses 2.3 on long chats.
SESSION_WEIGHT = 0.4
# Memories without a session: those with numbers this near, stored within these hours, are one. On
# conversations kept as plain texts +1.9 (LoCoMo with names, 0.9 to 3.1) and +1.5 (without), and
# nothing lost on notes that have nothing to do with each other.
TOGETHER_NUMBERS = 3
TOGETHER_HOURS = 1
# Said by the one whom the question is about: -2.0.
VOICE_WEIGHT = 0.10
# A turn between people that asks something tells less: what one of nothing but questions loses. On
# LoCoMo +0.6; on its adversarial questions, which had no part in the choice, +1.1 (-0.3 to +2.8).
ASKS_WEIGHT = -0.05

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
# More than any evidence can make up: what no longer holds ranks after what does.
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
# A turn asks what is asked now where so much of each question is in the other. With words alone, a
# question that differs in one word of five is the same.
ASKED_BEFORE_COVERAGE = 0.8
# What was said later than a reply, and holds half of the question, may have replaced it.
NEWER_COVERAGE = 0.5

# Confidence (recall/confidence.py), for a model whose cosines were measured: bias, best cosine,
# gap, coverage, cosines with the hub and with general text, absent names. Learned by `python -m
# bench.confidence --public FOLDER` on twelve kinds of text, as they are, pooled and in parts. What
# was learned on four kinds loses 0.5 more on others, and 7 more where advice is asked for.
CONFIDENCE_LOOKS_AT = 10
# The nearest memory is compared with the thirtieth. In a hub of thirty that is the farthest, and
# every question has a nearest that stands out from it: there it is one at two thirds. Where there
# are fewer than sixty, general text makes up for the others.
CONFIDENCE_GAP_RANK = 30
CONFIDENCE_GAP_SHARE = 0.67
CONFIDENCE_GAP_OF = 60
CONFIDENCE = {"holdfast-embed-s/1": (-10.5, 10.12, 23.63, 3.32, 13.41, -13.66, -1.23)}
# For any other model: bias, standard deviations above the hub's background, best coverage, coverage
# of the first, and absent names.
CONFIDENCE_ANY_MODEL = (-1.67, 0.90, 5.36, 1.47, -1.0)
# With fewer windows there is no background: the answer is held to be this far above it.
CONFIDENCE_BACKGROUND_LEAST = 30
CONFIDENCE_UNKNOWN = 3.0
# From so many memories on and below that, the best cosine is compared with the others: bias,
# standard deviations above them, and the rest as before.
CONFIDENCE_SPREAD_FROM = 5
CONFIDENCE_SPREAD = (-2.49, 0.49, 3.77, 2.55, -1.77)
CONFIDENCE_SPREAD_LEAST = 0.02
CONFIDENCE_SPREAD_MAX = 6.0
# Of a hit: bias, the log odds of the answer, how far its cosine is behind, and its coverage.
HIT_PROBABILITY = (-2.62, 0.5, 21.33, 1.69)
# Less confident answers are not shown. On kinds of text that the weights were not learned on, 7 to
# 32 % of strangers' questions get a row then, 15 % on the mean, and answerable ones lose 0 to 13 of
# R@10, 2.1 on the mean. Requests for advice lose most (bench/README.md).
CUT_CONFIDENCE = 0.15
# In hubs of fewer memories than this the limit is lower, by this power of the share that is there:
# the best of a few is rarely near by chance. In hubs of 1 to 40 notes 8 to 17 % of strangers'
# questions get a row then, on two sets that were in view when it was chosen.
CONFIDENCE_FEW = 40
CONFIDENCE_FEW_POWER = 0.4
# The same for a model that was not measured, and for words alone; and for such a model among a few,
# and for prompts with any. Of prompts asked of notes that grow (notes-b), 0.15 would lose 7 points
# of R@10; what is put beside a prompt unasked has a limit of its own (engine/context/relevance.py).
CUT_CONFIDENCE_ANY_MODEL = 0.2
CUT_CONFIDENCE_UNSURE = 0.04
# Of a memory's own evidence, without the session's share, this is 0.28. From 0.35 to 0.41 R@10 is
# the same within 0.1.
CUT_BELOW_BEST = 0.385
CUT_BELOW_KEYWORDS = 0.15
CUT_PASSAGES_LEAST = 100
# Without vectors: the least share of the question's words that makes an answer.
CUT_COVERAGE = 0.2

# A literal match: as good as a rare word.
SUBSTRING_WEIGHT = 0.25
# How long a chain of facts that replaced each other is followed.
SUCCESSORS_MAX = 20
