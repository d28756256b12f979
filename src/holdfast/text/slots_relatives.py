"""What is said of somebody's relatives: where the wife lives, whom the boss works for. Of some
there is one, and a new value is a change; of others there may be several, and it may be another.
"""

from __future__ import annotations

import re

from holdfast.text.slots_fill import Held, Verdict, filled
from holdfast.text.slots_values import by_slot
from holdfast.text.statements import Statement

_ONE = {
    "wife": "wife",
    "husband": "husband",
    "mother": "mother",
    "mom": "mother",
    "father": "father",
    "dad": "father",
    "boss": "boss",
}
# 'Sister' without a name is mostly the only one, which is no certainty; a friend never is.
_MOSTLY_ONE = ("sister", "brother", "son", "daughter")
_SEVERAL = (*_MOSTLY_ONE, "friend")
_RELATIVE = (
    rf"(?P<who>(?i:{'|'.join((*_ONE, *_SEVERAL))}))(?: (?P<name>[^\W\d_a-z][\w-]*))?"
    r" (?P<does>\S.*)\Z"
)
# What changes in anybody's life, and has one value at a time.
_KINDS = frozenset(["residence", "employer", "occupation"])


def relatives_in(now: Statement) -> Held:
    match = re.match(_RELATIVE, now.body) if now.owned else None
    if match is None or not _tells(now._replace(body=match["does"], owned=False)):
        return []
    return [frozenset()]


def _tells(said: Statement) -> bool:
    return any(one.kind in _KINDS for one in filled(said))


def by_relative(now: Statement, then: Statement) -> Verdict | None:
    """By a slot of the same relative."""
    if not (now.owned and then.owned):
        return None
    new, old = re.match(_RELATIVE, now.body), re.match(_RELATIVE, then.body)
    if new is None or old is None:
        return None
    who, other = new["who"].lower(), old["who"].lower()
    if _ONE.get(who, who) != _ONE.get(other, other):
        return None
    first, second = (
        said._replace(body=match["does"], owned=False) for said, match in ((now, new), (then, old))
    )
    if not (_tells(first) and _tells(second)):
        return None
    verdict = by_slot(first, second)
    if verdict is None or verdict.relation == "unrelated":
        return None
    verdict = verdict._replace(reason=f"{verdict.reason} (the {who})")
    names = (new["name"] or "").lower(), (old["name"] or "").lower()
    return _of_one(verdict, *names) if who in _ONE else _of_several(verdict, who, *names)


def _of_one(verdict: Verdict, new: str, old: str) -> Verdict | None:
    if new and old and new != old:
        # Two names are two people.
        return None
    if old and not new and verdict.relation == "replaces":
        return Verdict("contradicts", f"{verdict.reason}, but the older one says more")
    return verdict


def _of_several(verdict: Verdict, who: str, new: str, old: str) -> Verdict | None:
    if new != old:
        return None
    if not new and (who not in _MOSTLY_ONE or verdict.relation == "same"):
        return None
    if verdict.relation == "same":
        return verdict
    return Verdict("contradicts", f"{verdict.reason}, unless they are two")
