"""Whether a statement can be understood without what was said around it.

A standing fact is read half a year later, beside facts of other conversations. 'I use it every
morning' says nothing then, nor does 'most of those are at home' or 'I love the bag that I got'.
What rules and the trained model find goes through this check. What does not pass it is still in the
conversation log, and what rules found is in the journal.
"""

from __future__ import annotations

from holdfast.text.analysis.spans import fold_in_place
from holdfast.text.tables import Patterns, lazy

_PATTERNS = Patterns("capture/patterns.txt")


def is_self_contained(statement: str) -> bool:
    """Whether a statement names what it is about. What its first clause names, a later one may
    point at: 'I have a kiln and use it on Sundays'."""
    plain = _PATTERNS["means nothing"].sub(" ", fold_in_place(statement))
    if _PATTERNS["named elsewhere"].search(plain):
        return False
    first = _FIRST_CLAUSE.match(plain)
    return _PATTERNS["points elsewhere"].search(first[0] if first else plain) is None


# At least two words, which name something.
_FIRST_CLAUSE = lazy(
    r"(?:[^\s,;:]+ )+?[^\s,;:]+(?=[,;:]? (?:and|but|so|because|since|which|who|where|when|while"
    r"|if|though|although) |[,;:] )"
)
