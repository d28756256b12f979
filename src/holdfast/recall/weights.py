"""All weights and limits of ranking, each with the measurement that chose it.

Figures are points of turn-level R@10, averaged over four sets that the bundled model has not seen;
'-x' is the loss without the weight (bench/README.md has the figures per set). Evidence is measured
in units of cosine.
"""

from __future__ import annotations

# Candidates: passages requested by words and by vectors. 200 of each lose 0.9.
LEXICAL_CANDIDATES = 300
VECTOR_CANDIDATES = 300
# How many of the candidates are ranked: those with the most evidence. 100 lose 0.3.
RANKED = 200
# A term that occurs in more than this share of the passages is not searched for if there are rarer
# terms: it takes most of the time of a search and discriminates the least.
COMMON_SHARE = 0.1
# Smaller hubs are searched for every term, which is fast there.
COMMON_FROM_PASSAGES = 5_000

# BM25. k1 and b are those of FTS5; other values (0.9, 0.4) change the fused result by under 0.3.
BM25_K1 = 1.2
BM25_B = 0.75
# The weight of the best word score of a question; the others are scaled in proportion: -3.5. It is
# larger if there are no vectors, so that the priors below stay small in comparison.
LEXICAL_WEIGHT = 0.12
LEXICAL_ALONE_WEIGHT = 0.3
# The words of a question have their full weight if the best BM25 score is at least LEXICAL_FULL, or
# that of LEXICAL_FULL_WORDS words that occur in no other passage; else the share of it. In a
# small hub every word is rare, so a chance word that one note shares with the question would
# outweigh what is meant: without this, 5 points of R@1 are lost on questions in other words than
# the notes. Hubs of more than a few hundred memories answer the same. Not for prompts, which have
# many words, for requests for advice, nor for questions in other languages than English, whose
# vectors are worse (-1.6 of R@1).
LEXICAL_FULL = 8.0
LEXICAL_FULL_WORDS = 2.0
# The best cosine of many windows is high by chance, so each doubling of their number subtracts this
# much, up to a limit: a book is not a worse source than a page. 0.03, which suits another model,
# loses 2.2.
WINDOWS_PENALTY = 0.01
WINDOWS_COUNTED = 16

# Weights of alternatives relative to the word of the question (recall/expand.py): from a table or a
# definition, another inflection, a part of a compound, the correction of a misspelling.
VARIANT_QUALITY = 0.9
FORM_QUALITY = 0.9
COMPOUND_QUALITY = 0.6
TYPO_QUALITY = 0.7

# A query of one or two terms, a name for example, is a keyword search: passages that contain them
# rank before passages that are only similar. Longer questions are not affected. After a question
# mark ('What breed is my dog?') the answer often uses other words; the full weight loses 0.3 there.
KEYWORDS_MAX = 2
KEYWORDS_WEIGHT = 0.25
KEYWORDS_ASKED_WEIGHT = 0.05
# For the cut-off, such questions count the words as fully as a keyword search does. Otherwise a hub
# of a few notes answers 'Which tea?' with notes on cars behind the one on tea.
KEYWORDS_HELD_WEIGHT = KEYWORDS_WEIGHT - KEYWORDS_ASKED_WEIGHT

# Conversations. The turn before or after counts if both are short: chat is spread over turns, long
# answers are complete by themselves.
NEIGHBOUR_WEIGHT = 0.3
# The same in a session between people, where words of surrounding turns count too: 0.3 loses 0.4 on
# held-out chats.
NEIGHBOUR_PEOPLE_WEIGHT = 0.2
NEIGHBOUR_CHARS_MAX = 400
# Neighbours only add evidence above the cosine of the vector hit at this rank.
FLOOR_RANK = 100
# The weight, in sessions between people, of having all words of the question in a turn and
# WORDS_AROUND_TURNS turns before and after it. On held-out chats +0.6 (-0.03 to +1.4). On turns of
# agents it would lose 1.3 to 2.0; on notes it loses 1.9 on one set and gains 1.3 on another.
WORDS_AROUND_WEIGHT = 0.06
WORDS_AROUND_TURNS = 2
# The share of the best turn's evidence that all turns of its session get. 0.4 instead of 0.2 gains
# 0.5 on LoCoMo (0.1 to 1.0) and 0.9 on conversations of several people, and loses 0.1 at most on
# seven other sets; 0.7 loses 2.3 on long chats.
SESSION_WEIGHT = 0.4
# What words and session count in a request for advice ('Can you recommend …?'): the preference that
# it bears on was said in passing and in other words, and what else was said about the subject is
# long. On requests of people who had no part in it +8.0, in long chats +7.3 (11 questions).
ADVICE_SHARE = 0.5
# Memories without a session count as one if their numbers differ by at most this, and they were
# stored within these hours. On conversations stored as plain texts +1.9 (LoCoMo with names, 0.9 to
# 3.1) and +1.5 (without), and no loss on unrelated notes.
TOGETHER_NUMBERS = 3
TOGETHER_HOURS = 1
# Said by the person that the question is about: -2.0.
VOICE_WEIGHT = 0.10
# In a conversation between people, a turn that asks a question says less. This is for a turn of
# nothing but questions. On LoCoMo +0.6; on its adversarial questions, which were held out, +1.1
# (-0.3 to +2.8).
ASKS_WEIGHT = -0.05

# Priors. Small on purpose: they decide between hits with about the same evidence (two answers to
# the same question differ by about 0.05), and never raise an unrelated memory above an answer.
WINDOW_WEIGHT = 0.10
# Tolerance around the period asked for, in days: people talk about a thing after it happened, and
# 'last weekend' is vague.
WINDOW_DAYS_BEFORE = 1
WINDOW_DAYS_AFTER = 3
# The bonus of a note made today in a prompt of several sentences, which usually continues recent
# work: -1.2.
RECENT_WEIGHT = 0.06
RECENT_HALF_LIFE_DAYS = 20
KIND_WEIGHT = 0.02
PINNED_WEIGHT = 0.03
PROJECT_WEIGHT = 0.04
STABILITY_WEIGHT = {"stable": 0.01, "evolving": 0.0, "volatile": -0.01}
COOLING_WEIGHT = -0.05
ARCHIVED_WEIGHT = -0.08
ACCESS_WEIGHT = 0.02  # the limit for many accesses; half of it at 3
DECAY_WEIGHT = 0.04  # the limit of what an old memory that is not stable loses
DECAY_HALF_LIFE_DAYS = {"volatile": 14, "evolving": 180}
# Larger than any evidence, so that outdated memories rank after current ones.
NOT_CURRENT_WEIGHT = -1.0
# The share of a superseded memory's evidence that its successor gets, as it answers the same
# questions.
SUCCESSOR_SHARE = 0.98

# Two hits of the same event, or of none, are near duplicates if their terms overlap this much.
# Collapsing across sessions as well loses 2.7 on long chats, where people say the same thing twice.
NEAR_IDENTICAL = 0.9
# The same for a memory and its source: the memory may be reworded, but a source that says much more
# is still shown.
MADE_FROM_ALIKE = 0.6

# How many turns of the conversation log are compared with how many memories: the best of each.
TURNS_COMPARED = 40
# A turn repeats the question if each of the two has at least this share of the other's words, so
# two questions that differ in one word of five are the same.
ASKED_BEFORE_COVERAGE = 0.8
# A newer statement that covers this share of the question may have superseded a reply.
NEWER_COVERAGE = 0.5

# Confidence (recall/confidence.py), for a model with trained weights: bias, best cosine, gap,
# coverage, cosines with the hub and with general text, absent names. Trained by `python -m
# bench.confidence --public FOLDER` on twelve kinds of text, as they are, pooled and in parts.
# Weights trained on four kinds lose 0.5 more on others, and 7 more on requests for advice.
CONFIDENCE_LOOKS_AT = 10
# The gap is the difference between the cosines of the nearest memory and of the thirtieth. In a hub
# of thirty that would be the farthest, which is always far from the nearest, so below 45
# memories the one at two thirds is used. Below sixty, general text replaces the missing
# memories.
CONFIDENCE_GAP_RANK = 30
CONFIDENCE_GAP_SHARE = 0.67
CONFIDENCE_GAP_OF = 60
CONFIDENCE = {"holdfast-embed-s/1": (-10.5, 10.12, 23.63, 3.32, 13.41, -13.66, -1.23)}
# For any other model: bias, standard deviations above the hub's background, best coverage, coverage
# of the first hit, and absent names.
CONFIDENCE_ANY_MODEL = (-1.67, 0.90, 5.36, 1.47, -1.0)
# For a question that is not in English, by model, and for any other model (""): bias, standard
# deviations of the best cosine above the next ones, best coverage, coverage of the first hit, and
# whether its script has no spaces. Cosines of the bundled model say little in other languages, and
# those of a multilingual one differ between languages, so neither the hub's background nor general
# text is compared (bench/confidence_languages.py).
CONFIDENCE_FOREIGN = {
    "holdfast-embed-s/1": (-3.92, 0.33, 8.1, 8.04, 1.38),
    "": (-5.51, 0.86, 6.26, 4.98, 0.33),
}
CONFIDENCE_FOREIGN_COMPARED = 30
# With fewer windows there are no background statistics, and CONFIDENCE_UNKNOWN standard deviations
# are assumed.
CONFIDENCE_BACKGROUND_LEAST = 30
CONFIDENCE_UNKNOWN = 3.0
# Between CONFIDENCE_SPREAD_FROM and CONFIDENCE_BACKGROUND_LEAST memories, the best cosine is
# compared with the others: bias, standard deviations above them, and the rest as before.
CONFIDENCE_SPREAD_FROM = 5
CONFIDENCE_SPREAD = (-2.49, 0.49, 3.77, 2.55, -1.77)
CONFIDENCE_SPREAD_LEAST = 0.02
CONFIDENCE_SPREAD_MAX = 6.0
# Probability of a hit: bias, log odds of the answer, how far its cosine is behind the best, and its
# coverage.
HIT_PROBABILITY = (-2.62, 0.5, 21.33, 1.69)
# Less confident answers are not shown. On kinds of text that the weights were not trained on, 7 to
# 32 % (15 % on average) of the questions meant for other hubs still get a hit, and answerable ones
# lose 0 to 13 points of R@10, 2.1 on average. Requests for advice lose most (bench/README.md).
CUT_CONFIDENCE = 0.15
# With fewer candidates than CONFIDENCE_FEW the limit is multiplied by (candidates / CONFIDENCE_FEW)
# to this power: the best of a few is rarely near by chance. In hubs of 1 to 40 notes 8 to 17 % of
# the questions meant for other hubs then get a hit, on two sets that were not held out.
CONFIDENCE_FEW = 40
CONFIDENCE_FEW_POWER = 0.4
# CUT_CONFIDENCE_ANY_MODEL is the limit for models without trained weights and for words alone;
# CUT_CONFIDENCE_UNSURE is the limit for such models among few memories, and for prompts with any
# model. On prompts about growing notes (notes-b), 0.15 would lose 7 points of R@10. Lines that are
# added to a prompt without being asked for have their own limit (engine/context/relevance.py).
# CUT_CONFIDENCE_FOREIGN is that for other languages than English: low, because a fifth of the
# questions that have an answer are below 0.3, and somebody who asks can judge the hits.
CUT_CONFIDENCE_ANY_MODEL = 0.2
CUT_CONFIDENCE_FOREIGN = 0.01
CUT_CONFIDENCE_UNSURE = 0.04
# How far an answer may be behind the best. Without the share of the session this is 0.28 of a
# memory's own evidence. Values from 0.35 to 0.41 change R@10 by less than 0.1.
CUT_BELOW_BEST = 0.385
CUT_BELOW_KEYWORDS = 0.15
CUT_PASSAGES_LEAST = 100
# Without vectors, an answer must have at least this share of the question's words.
CUT_COVERAGE = 0.2

# A literal match counts as much as a rare word.
SUBSTRING_WEIGHT = 0.25
# How many successors of a superseded memory are followed.
SUCCESSORS_MAX = 20
