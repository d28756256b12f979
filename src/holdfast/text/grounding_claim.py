"""A claim cut into its clauses: whom each is about, by whatever name, and how it is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.text.clauses import clauses_of
from holdfast.text.grounding_stance import is_denied, is_ended
from holdfast.text.grounding_words import words_of
from holdfast.text.statements import VERBS
from holdfast.text.terms import fold
from holdfast.text.word_forms import tense

_LABEL = re.compile(r"^([^\W\d_a-z][\w.'-]*(?: [^\W\d_a-z][\w.'-]*)?): +(?=\S)")
_ABOUT = re.compile(
    r"(?i)^(?:the )?(?:user|speaker|human)(?:'s)? (?:(?:has )?(?:said|says|stated|states|mentioned"
    r"|mentions|noted|reported|told \w+|shared|confirmed|explained|indicated)(?: that)? (?:they"
    r"|he|she"
    r"|the user)?\s*)?"
)


class Part(NamedTuple):
    """One clause of a claim. The subject is 'self', a name or other words, or '' for anybody."""

    subject: str
    text: str
    words: tuple[str, ...]
    denied: bool
    ended: bool
    supposed: frozenset[str]


CAPITAL = re.compile(r"\b[^\W\d_a-z][\w'-]*")


def _is_name(word: str, names: frozenset[str]) -> bool:
    """Whether a claim begins with a name: one that stands in the turn with its capital. 'Met',
    'Finished' and 'Recently' may stand there so too, and are none."""
    plain = word.lower()
    if plain in VERBS or plain.endswith("ly") or tense(plain) != "present":
        return False
    return word.removesuffix("'s") in names


def _called_user(name: re.Match[str]) -> str:
    return "The user's " if name[1] == "'s" else "The user "


def parts_of(claim: str, speaker: str, names: frozenset[str]) -> Iterator[Part]:
    """The clauses of a claim; `names` are the words that stand in the turn with a capital."""
    plain = claim.strip(" .!\"'*-")
    if speaker:
        own = re.escape(speaker.strip())
        plain = re.sub(rf"(?i)^{own}('s(?= )|:|(?= ))\s*", _called_user, plain)
    label = _LABEL.match(plain)
    named = ""
    if label is not None:
        # 'Ann: likes tea' is about Ann; of a key, 'Editor: Vim', both words must be there.
        named, plain = label[1], f"{label[1]} {plain[label.end() :]}"
    about = _ABOUT.match(plain)
    if about is not None:
        owned = "'s" in about[0].lower()
        plain = ("My " if owned else "I ") + plain[about.end() :]
    whole = clauses_of(plain)
    for one in whole:
        subject = one.subject
        if about is not None and subject in ("they", "he", "she"):
            subject = "self"
        elif about is None and not named and subject in ("they", "he", "she"):
            # Whoever that is; the speaker, if anybody, as claims are about them.
            subject = "self"
        elif one.start == 0 and not _is_name(plain.split(" ", 1)[0], names):
            # 'Prefers tabs' begins with a verb; a name would stand in the turn with its capital.
            subject = "self" if " " not in subject else subject
        yield Part(
            subject or "self" if not named else fold(named),
            one.text,
            tuple(words_of(one.text)),
            is_denied(one.text),
            is_ended(one.text),
            one.supposed,
        )
