"""Two values of one key: 'Editor: Vim' and 'Editor: Helix', 'The fee is 5' and 'The fee is 7'.
Which keys have one value at a time is a list.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.slots_fill import (
    Held,
    Relation,
    Verdict,
    index_terms,
    one_holds_the_other,
    plain,
    what_of,
)
from holdfast.text.slots_rules import without_when
from holdfast.text.statements import Statement
from holdfast.text.terms import fold

# A number with one of these names a thing; another number is another thing.
_NAMED = frozenset(
    """
    issue ticket pr chapter room page step line build sprint episode season number no level phase
    meeting day week lesson unit task bug order invoice flight gate platform seat floor apartment
    option part section article rule figure table milestone iteration round run test
    """.split()  # noqa: SIM905
)
_KEYED = r"(?P<key>[^\W\d_][\w /'()-]{1,40}?)\s*(?::|=|->|→)\s+(?P<value>\S.{0,80})\Z"
_IS = (
    r"(?i)(?:the )?(?P<key>[\w][\w /'.-]{1,50}?) (?:is|are|has been changed to|was changed to"
    r"|changed to|is set to|equals)(?: now)? (?P<value>\S.{0,80})\Z"
)
_TYPES = (
    ("address", r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.]+|(?:~|\.{0,2})/\S+"),
    ("number", r"(?i)[$€£]?\d+(?:[.,:]\d+)*(?: ?[%a-z]{1,12}(?: [a-z]+)?)?"),
    ("name", r"(?:[^\W\d_a-z][\w.&+'-]*)(?: [^\W\d_a-z][\w.&+'-]*){0,3}"),
    ("word", r"[\w.+#@/:-]+"),
)
# What there is one of at a time, in whatever it is said of.
_ONE = frozenset(
    """
    version port timezone zone deadline budget status owner lead manager boss ceo cto maintainer
    database region address phone email mail branch currency password host url domain repository
    repo theme editor shell locale timeout limit price salary rent height weight captain coach
    teacher doctor dentist therapist supervisor landlord provider registry bucket endpoint model
    employer job company team location city country framework leader president principal
    pronouns plan tier size interval schedule quota threshold default number
    """.split()  # noqa: SIM905
)
_FIRST_OF_SOME = frozenset(["default", "main", "current", "primary", "preferred"])
_LIST_KEYS = frozenset(
    """
    note notes todo decision fact likes dislikes allergy allergies tip reminder idea rule warning
    example question answer update remember hobby hobbies skill skills goal task
    """.split()  # noqa: SIM905
)


def by_key(now: Statement, then: Statement) -> Verdict | None:
    """By a key and its value."""
    if (now.denied, now.owned) != (then.denied, then.owned) or now.denied:
        return None
    for pattern in _PATTERNS:
        new = _pair(pattern, now.body)
        old = new and _pair(pattern, then.body)
        if new is not None and old is not None:
            return _by_pair(now, new, old)
    return None


def keys_in(now: Statement) -> Held:
    if now.denied:
        return []
    pairs = (pair for pattern in _PATTERNS if (pair := _pair(pattern, now.body)) is not None)
    return [
        index_terms(pair.name)
        for pair in pairs
        if _has_one(pair) and pair.kind and _change(now, pair) == "replaces"
    ]


class _Pair(NamedTuple):
    """A key and its value, as they were said and as they are compared; `kind` is the value's."""

    name: str
    key: str
    value: str
    kind: str


_PATTERNS = (_KEYED, _IS)


@lru_cache(maxsize=2_048)
def _pair(pattern: str, body: str) -> _Pair | None:
    match = re.match(pattern, body)
    if match is None:
        return None
    kind = _type(without_when(match["value"]))
    return _Pair(fold(match["key"]), what_of(match["key"]), plain(match["value"]), kind)


def _by_pair(now: Statement, new: _Pair, old: _Pair) -> Verdict | None:
    if new.key != old.key or not _has_one(new):
        return None
    if new.value == old.value:
        return Verdict("same", f"the same {new.key}")
    if new.kind != old.kind or not new.kind:
        return None
    changed = f"the {new.name} was {old.value} and is {new.value}"
    if one_holds_the_other(new.value, old.value) and new.kind != "number":
        return Verdict("contradicts", f"{changed}, or one is only more exact")
    relation = _change(now, new)
    return None if relation == "unrelated" else Verdict(relation, changed)


def _has_one(pair: _Pair) -> bool:
    """Whether the key has one value at a time, and is no list that goes on."""
    return bool(pair.key) and pair.name.split()[-1] not in _LIST_KEYS


def _change(now: Statement, new: _Pair) -> Relation:
    """How a new value of a key stands to another one of its kind."""
    words = [word.rstrip("s") if word not in _ONE else word for word in new.name.split()]
    one = words[-1] in _ONE or bool(_FIRST_OF_SOME.intersection(words))
    if one or (new.kind in ("number", "address") and words[-1] not in _NAMED):
        return "replaces"
    if new.kind == "word" and not re.match(_KEYED, now.body):
        return "unrelated"
    return "replaces" if now.begun else "contradicts"


def _type(value: str) -> str:
    plain = value.strip(" .`\"'")
    return next((name for name, pattern in _TYPES if re.fullmatch(pattern, plain)), "")
