"""Two wordings of one statement: whether one adds nothing to the other, and whether both may mean
the same, so that their meaning is worth comparing. Names, numbers and denials never differ.
"""

from __future__ import annotations

import re

from holdfast.text.quantities import numbers_in
from holdfast.text.statements import Statement, core_stems, read, turned_around
from holdfast.text.terms import fold

# Of the words of both, this share is in both; with fewer, they are about different things however
# near a model finds them.
_SHARED_LEAST = 0.6
# Words that make less of what is said; without them it is another claim.
_LIMITS = frozenset(
    """
    only except sometimes rarely hardly seldom occasionally mostly partly almost nearly until unless
    if when while instead rather
    """.split()  # noqa: SIM905
)


def adds_nothing(new: str, old: str) -> bool:
    """Whether the new statement says nothing that the older one does not say: 'Has a dog' after
    'Has a dog named Rex'."""
    now, then = read(new), read(old)
    if not _same_stance(now, then) or _LIMITS.intersection(fold(old).split()):
        return False
    first, second = core_stems(now.body), core_stems(then.body)
    if not first or first[:1] != second[:1]:
        return False
    remaining = iter(second)
    return all(stem in remaining for stem in first) and not turned_around(now.body, then.body)


# Words of which two differ in sense though a model finds them near: where both statements have one
# that the other lacks, they are two.
_APART = frozenset(
    """
    before after old new early late morning noon afternoon evening night midnight day week weekend
    month year daily weekly monthly yearly first last next previous left right more less most least
    many few with without in out inside outside up down over under above below from to into hot cold
    warm cool big small large tiny huge high low long short fast slow quick hard easy soft good bad
    best worst better worse cheap expensive rich poor young strong weak light dark heavy dry wet
    open closed full empty public private left-handed right-handed for against north south east west
    black white red green blue yellow orange brown pink purple grey gray spring summer autumn fall
    winter monday tuesday wednesday thursday friday saturday sunday mother father sister brother son
    daughter wife husband aunt uncle niece nephew man woman boy girl dog cat he she his her alone
    together always often usually never start stop begin end buy sell come go love hate like
    """.split()  # noqa: SIM905
)


def near(new: str, old: str) -> bool:
    """Whether two statements share names, numbers, stance and most of their words."""
    now, then = read(new), read(old)
    if not _same_stance(now, then) or _fixed(new) != _fixed(old):
        return False
    one, other = (set(re.findall(r"[^\W\d_]+", fold(text))) for text in (new, old))
    if _APART & (one - other) and _APART & (other - one):
        return False
    first, second = set(core_stems(now.body)), set(core_stems(then.body))
    return bool(first | second) and len(first & second) / len(first | second) >= _SHARED_LEAST


def _same_stance(now: Statement, then: Statement) -> bool:
    if now.supposed or then.supposed or "?" in (now.subject, then.subject):
        return False
    return (now.subject, now.owned, now.denied, now.ended, now.past, now.added) == (
        then.subject,
        then.owned,
        then.denied,
        then.ended,
        then.past,
        then.added,
    )


def _fixed(text: str) -> tuple[list[str], list[str]]:
    """The names and numbers of a text, in order."""
    names = re.findall(r"(?<=\s)[^\W\d_a-z][\w.'-]*", text)
    return [fold(name) for name in names], [one.value for one in numbers_in(fold(text))]
