"""How a claim is meant and how what was said was meant: denied, ended, supposed, or somebody else's
words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.text.clauses import Clause
from holdfast.text.grounding_words import NEGATORS
from holdfast.text.statements import long_forms
from holdfast.text.terms import fold

if TYPE_CHECKING:
    from holdfast.text.grounding_claim import Part


_NEGATING = re.compile(
    r"(?i)\b(?:no longer|stopped|stops|quit|quitting|gave up|given up|giving up|ceased|refuses?"
    r"|refused|avoids?|avoided|lacks?|unable to|fails? to|instead of|rather than)\b"
    r"|不|没|沒|ない|ません|않|안 "
)
_LIKED = (
    # 'Cannot stand' is no denial, and neither is 'not only'.
    (re.compile(r"(?i)\bcan not (?:stand|bear)\b"), "dislike"),
    (re.compile(r"(?i)\b(?:do|does) not (?:really )?(?:like|enjoy|love)\b"), "dislike"),
    (re.compile(r"(?i)\bnot only\b"), "only_also"),
    (re.compile(r"(?i)\bevery (?:other|second|third)\b"), "every_other"),
    (re.compile(r"(?i)\b(?:hates?|hated|detests?|loathes?)\b"), "dislike"),
    (re.compile(r"(?i)\bnot (?:a (?:big |huge )?fan of)\b"), "dislike"),
)
_ENDED = re.compile(
    r"(?i)\b(?:no longer|any ?more|any longer|stopped|stops|quit|gave up|given up|ceased)\b"
)


def plain_stance(text: str) -> str:
    """A text with one word for each way to dislike, so that it is not taken for a denial."""
    plain = long_forms(text)
    for pattern, word in _LIKED:
        plain = pattern.sub(word, plain)
    return plain


def is_denied(text: str) -> bool:
    """Whether a clause denies what it speaks of."""
    plain = plain_stance(text)
    words = fold(plain)
    found = [word for word in re.findall(r"[^\W\d_]+", words) if word in NEGATORS]
    # 'Neither … nor' denies once.
    count = len(found) - ("neither" in found and "nor" in found)
    special = len(_NEGATING.findall(words)) - len(re.findall(r"\bno longer\b", words))
    # 'Does not eat meat any more' denies once.
    return (count + special) % 2 == 1


def is_ended(text: str) -> bool:
    """Whether it says that something is over."""
    return _ENDED.search(long_forms(text)) is not None


_SAYING = re.compile(r"(?i)\b(?:says?|said|told|thinks?|thought|believes?|claims?|heard|according"
                     r"|suggest\w*|recommend\w*|mentioned|asked|wrote)\b")  # fmt: skip


def is_attributed(claim: str) -> bool:
    """Whether a claim says whose words it tells."""
    return _SAYING.search(claim) is not None


# Hedges that count as one.
_SURENESS = {"plan": "will"}


def as_sure(part: Part, run: Sequence[Clause]) -> bool:
    """A wish supports a wish, and a plan a plan; neither supports a fact."""
    held = {_SURENESS.get(one, one) for unit in run for one in unit.supposed}
    return held == {_SURENESS.get(one, one) for one in part.supposed}


def differs_in_denial(part: Part, run: Sequence[Clause]) -> bool:
    """Whether one denies what the other says, or only one says that it is over."""
    denied = [is_denied(one.text) for one in run]
    if len(run) > 1 and any(denied):
        # Which of them the denial is about is not to be told.
        return True
    return part.denied != any(denied) or (part.ended and not any(is_ended(one.text) for one in run))
