"""Splits a claim into clauses and compares each with what was said: its subject, names, verb and
negation, and whether it is a fact, a plan, something that has ended or somebody else's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.analysis.terms import STOP_WORDS, fold
from holdfast.text.analysis.word_forms import base_form, tense
from holdfast.text.facts.statements import VERBS, long_forms
from holdfast.text.grounding.clauses import Clause, clauses_of
from holdfast.text.grounding.words import NEGATORS, words_of
from holdfast.text.tables import Patterns, lazy, read_words

_PATTERNS = Patterns("grounding/patterns.txt")

_WORDS = read_words("grounding/words.txt")

# Negation and certainty


_DISLIKES = (
    # 'Cannot stand' is not a negation, and neither is 'not only'.
    (lazy(r"(?i)\bcan not (?:stand|bear)\b"), "dislike"),
    (lazy(r"(?i)\b(?:do|does) not (?:really )?(?:like|enjoy|love)\b"), "dislike"),
    (lazy(r"(?i)\bnot only\b"), "only_also"),
    (lazy(r"(?i)\bevery (?:other|second|third)\b"), "every_other"),
    (lazy(r"(?i)\b(?:hates?|hated|detests?|loathes?)\b"), "dislike"),
    (lazy(r"(?i)\bnot (?:a (?:big |huge )?fan of)\b"), "dislike"),
)


@lru_cache(maxsize=256)
def normalise_dislikes(text: str) -> str:
    """A text in which each way to say 'dislike' is one word, not a negation."""
    plain = long_forms(text)
    for pattern, word in _DISLIKES:
        plain = pattern.sub(word, plain)
    return plain


def is_negated(text: str) -> bool:
    """Whether a clause of a claim or a turn is negated."""
    plain = normalise_dislikes(text)
    words = fold(plain)
    found = [word for word in re.findall(r"[^\W\d_]+", words) if word in NEGATORS]
    # 'Neither … nor' negates once.
    count = len(found) - ("neither" in found and "nor" in found)
    special = len(_PATTERNS["negating"].findall(words)) - len(re.findall(r"\bno longer\b", words))
    # 'Does not eat meat any more' negates once.
    return (count + special) % 2 == 1


def is_ended(text: str) -> bool:
    """Whether a clause of a claim or a turn says that something is over."""
    return _PATTERNS["ended"].search(long_forms(text)) is not None


_SAYING = lazy(r"(?i)\b(?:says?|said|told|thinks?|thought|believes?|claims?|heard|according"
                     r"|suggest\w*|recommend\w*|mentioned|asked|wrote)\b")  # fmt: skip


def is_attributed(claim: str) -> bool:
    """Whether a claim names the speaker of the words that it reports."""
    return _SAYING.search(claim) is not None


# Hedges that count as the same.
_SAME_CERTAINTY = {"plan": "will"}


def same_certainty(part: ClaimPart, run: Sequence[Clause]) -> bool:
    """Whether a claim and a clause of the turn are both facts, or both wishes or plans: a wish does
    not support a fact."""
    held = {_SAME_CERTAINTY.get(one, one) for unit in run for one in unit.supposed}
    return held == {_SAME_CERTAINTY.get(one, one) for one in part.supposed}


def differs_in_negation(part: ClaimPart, run: Sequence[Clause]) -> bool:
    """Whether only one of them is negated, or only the claim says that something is over."""
    denied = [is_negated(one.text) for one in run]
    if len(run) > 1 and any(denied):
        # It is not clear which clause the negation applies to.
        return True
    return part.denied != any(denied) or (part.ended and not any(is_ended(one.text) for one in run))


# Clauses of a claim


_LABEL = lazy(r"^([^\W\d_a-z][\w.'-]*(?: [^\W\d_a-z][\w.'-]*)?): +(?=\S)")


class ClaimPart(NamedTuple):
    """One clause of a claim. The subject is 'self', a name or other words; '' is open."""

    subject: str
    text: str
    words: tuple[str, ...]
    denied: bool
    ended: bool
    supposed: frozenset[str]


CAPITAL = lazy(r"\b[^\W\d_a-z][\w'-]*")


def _is_name(word: str, names: frozenset[str]) -> bool:
    """Whether a claim begins with a name: a word that is capitalised in the turn. 'Met', 'Finished'
    and 'Recently' may be capitalised too, and are not names."""
    plain = word.lower()
    if plain in VERBS or plain.endswith("ly") or tense(plain) != "present":
        return False
    return word.removesuffix("'s") in names


def _as_user(name: re.Match[str]) -> str:
    return "The user's " if name[1] == "'s" else "The user "


def parts_of(claim: str, speaker: str, names: frozenset[str]) -> Iterator[ClaimPart]:
    """The clauses of a claim; `names` are the capitalised words of the turn."""
    plain = claim.strip(" .!\"'*-")
    if speaker:
        own = re.escape(speaker.strip())
        plain = re.sub(rf"(?i)^{own}('s(?= )|:|(?= ))\s*", _as_user, plain)
    label = _LABEL.match(plain)
    named = ""
    if label is not None:
        # 'Ann: likes tea' is about Ann; of a key, 'Editor: Vim', both words must be there.
        named, plain = label[1], f"{label[1]} {plain[label.end() :]}"
    about = _PATTERNS["about"].match(plain)
    if about is not None:
        owned = "'s" in about[0].lower()
        plain = ("My " if owned else "I ") + plain[about.end() :]
    whole = clauses_of(plain)
    for one in whole:
        subject = one.subject
        if about is not None and subject in ("they", "he", "she"):
            subject = "self"
        elif about is None and not named and subject in ("they", "he", "she"):
            # Claims are about the speaker, so a pronoun without a name is the speaker.
            subject = "self"
        elif one.start == 0 and not _is_name(plain.split(" ", 1)[0], names):
            # 'Prefers tabs' begins with a verb; a name would be capitalised in the turn.
            subject = "self" if " " not in subject else subject
        yield ClaimPart(
            subject or "self" if not named else fold(named),
            one.text,
            tuple(words_of(one.text)),
            is_negated(one.text),
            is_ended(one.text),
            one.supposed,
        )


# Subjects and names


_PRONOUNS = frozenset("he she they it this that there his her their its these those".split())  # noqa: SIM905


_COPULA = frozenset(["is", "are", "was", "were", "am", "been"])
_HAVING = frozenset(["has", "have", "had", "owns", "own"])


def same_subject(part: ClaimPart, run: Sequence[Clause], said: Sequence[str]) -> bool:
    """Whether a claim and a clause of the turn are about the same person or thing."""
    there = run[0].subject
    if part.subject == "self":
        if there in ("self", ""):
            return bool(there) or _is_elided(part, words_of(run[0].text))
        if there == "you" or there in _PRONOUNS:
            return False
        verb = next((word for word in part.words if word not in ("i", "user")), "")
        if verb in _COPULA or (verb in _HAVING and not there.startswith("my ")):
            # 'The CTO is my friend' does not say that the speaker is the CTO.
            return False
        # 'My dog is called Rex' supports a claim about the dog.
        return _is_within(there, part.words)
    if there in ("self", "you"):
        # 'I adopted Rex' says nothing of what Rex did.
        return _is_within(part.subject, ("i", "we", "my")) or _inverts_possession(part, run)
    if there in _PRONOUNS or there == "":
        return False
    return _is_within(there, part.words) or _is_within(part.subject, words_of(there))


def _is_elided(part: ClaimPart, said: Sequence[str]) -> bool:
    """Whether a clause without a subject is about the speaker: 'Got a new laptop'. 'Use tabs' is an
    instruction, and 'Living in Oslo is expensive' is about nobody."""
    words = [word for word in said if word not in _OPENING]
    if not words or not words[0].isascii() or words[0] in part.words[:2]:
        return True
    time = tense(words[0])
    return time == "past" or (time == "ing" and not _FINITE.intersection(words[1:]))


_FINITE = frozenset(["is", "are", "was", "were", "has", "can", "will", "would"])
# Words that may come before the verb.
_OPENING = frozenset("just now also finally recently today yesterday really still".split())  # noqa: SIM905


def _inverts_possession(part: ClaimPart, run: Sequence[Clause]) -> bool:
    """Whether the claim only restates 'I have a dog called Rex' as 'the dog is called Rex'."""
    words = words_of(run[0].text)
    naming = {base_form("called"), base_form("name")}.intersection(map(base_form, part.words))
    return bool(naming and _POSSESSION_WORDS.intersection(words[:3])) and _is_within(
        part.subject, words
    )


_POSSESSION_WORDS = frozenset(["have", "has", "got", "own", "my", "our"])
_SMALL = frozenset("the a an some all every my our his her their and 's".split())  # noqa: SIM905


def _is_within(phrase: str, words: Sequence[str]) -> bool:
    keys = {base_form(word) for word in words} | set(words)
    own = [word for word in words_of(phrase) if word not in _SMALL]
    if len(own) > 1 and len(own) != len(set(own)):
        # 'My boss's boss' is not the boss.
        return all(own.count(word) <= list(words).count(word) for word in own)
    return bool(own) and all(base_form(word) in keys or word in keys for word in own)


def names_agree(part: ClaimPart, run: Sequence[Clause]) -> bool:
    """Whether the names of a claim have the order in which they were said, and none comes from a
    clause that also mentions somebody else."""
    names = {fold(name) for one in run for name in CAPITAL.findall(one.text)}
    said = [word for one in run for word in words_of(one.text)]
    places = [said.index(word) for word in part.words if word in names and word in said]
    if places != sorted(places):
        return False
    if _POSSESSIVE_NAME.search(" ".join(one.text for one in run)) and not _same_owners(part, run):
        return False
    if len(run) == 1:
        return True
    # Clauses that are combined must not name anybody else.
    others = {
        fold(name)
        for one in run
        for name in re.findall(r"(?<!^)\b(?!I\b)[^\W\d_a-z][\w-]*", one.text)
    }
    return others <= set(part.words)


_POSSESSIVE_NAME = lazy(r"\b([^\W\d_a-z]\w*)['’]s\b")


def _same_owners(part: ClaimPart, run: Sequence[Clause]) -> bool:
    """'Sue's manager is Tom' does not say that anybody is Sue."""
    text = " ".join(one.text for one in run)
    owners = {fold(name) for name in _POSSESSIVE_NAME.findall(text)}
    plain = {fold(name) for name in re.findall(r"\b([^\W\d_a-z]\w*)\b(?!['’]s)", text)}
    own = {fold(name) for name in _POSSESSIVE_NAME.findall(part.text)}
    return all(name in own or name not in part.words for name in owners - plain)


# Verbs


_SELF = frozenset(["i", "we", "let's", "user"])
_BE = frozenset(["is", "are", "am", "was", "were", "be", "been", "being", "im", "m", "s", "re"])
_HAVE = frozenset(["has", "have", "had", "having"])
_IS = frozenset(["is", "are", "am"])
# Possession is said with one of these.
_OWNING = frozenset(["have", "has", "had", "got", "own", "owns", "my", "our", "with", "mine"])
# Words before the verb that say how, how often or when.
_ADVERBS = _WORDS["adverbs"]
# 'I stopped eating meat' supports that they no longer eat it.
_ENDING = frozenset(base_form(word) for word in ("stopped", "quit", "gave", "ceased", "dropped"))


def same_verb(part: ClaimPart, run: Sequence[Clause]) -> bool:
    """Whether the verb of the claim is the one that the speaker is the subject of."""
    claim = [word for word in part.words if word not in _SELF and word not in _ADVERBS]
    said = [word for one in run for word in words_of(one.text)]
    if part.subject != "self":
        # Recommending a dentist is not being one.
        return not _IS.intersection(claim) or bool(_BE.intersection(said))
    verb = next((word for word in claim if word not in STOP_WORDS or word in _BE | _HAVE), "")
    if verb in _HAVE and "been" not in claim:
        return bool(_OWNING.intersection(said))
    if "me" in said and base_form("called") in {base_form(word) for word in said[:6]}:
        # 'Call me Bea' gives a name.
        return base_form("called") in {base_form(word) for word in claim}
    if verb in _BE or verb in _HAVE:
        return bool(_BE.intersection(said)) and _participle_fits(claim, verb, said)
    if run[0].subject != "self" or not verb:
        return True
    return _verb_fits(verb, run[0], part.ended)


def _participle_fits(claim: Sequence[str], verb: str, said: Sequence[str]) -> bool:
    """Of 'is learning', the second word is the verb as well: it must follow a form of be."""
    after = claim[list(claim).index(verb) + 1 :]
    if not after or not after[0].endswith("ing"):
        return True
    keys = [base_form(word) for word in said]
    place = keys.index(base_form(after[0])) if base_form(after[0]) in keys else -1
    return place > 0 and bool(_BE.intersection(said[max(0, place - 3) : place]))


def _verb_fits(verb: str, clause: Clause, ended: bool) -> bool:
    words = words_of(clause.text)
    at = next((place for place, word in enumerate(words) if word in _SELF), -1)
    given = [w for w in words[at + 1 :] if w not in STOP_WORDS and w not in _ADVERBS]
    given = [word for word in given if not word.endswith("ly")]
    if not given or not verb.isascii() or base_form(verb) == base_form(given[0]):
        return True
    if ended and base_form(given[0]) in _ENDING:
        return True
    # A claim that begins with a noun has its verb later: 'Favourite colour is green'.
    return base_form(verb) not in {base_form(word) for word in given[1:]} or not _is_verb(verb)


def _is_verb(word: str) -> bool:
    return word.endswith(("s", "ed", "ing")) or base_form(word) != word
