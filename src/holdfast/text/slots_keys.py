"""Two values of one key: 'Editor: Vim' and 'Editor: Helix', 'The fee is 5' and 'The fee is 7'.
Which keys have one value at a time is a list.
"""

from __future__ import annotations

import re

from holdfast.text.slots_fill import Verdict, one_holds_the_other, plain, what_of
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
    for pattern in (_KEYED, _IS):
        new, old = re.match(pattern, now.body), re.match(pattern, then.body)
        if new is not None and old is not None:
            return _by_pair(now, (new["key"], new["value"]), (old["key"], old["value"]))
    return None


def _by_pair(now: Statement, new: tuple[str, str], old: tuple[str, str]) -> Verdict | None:
    key = what_of(new[0])
    if not key or key != what_of(old[0]) or fold(new[0]).split()[-1] in _LIST_KEYS:
        return None
    first, second = plain(new[1]), plain(old[1])
    if first == second:
        return Verdict("same", f"the same {key}")
    kinds = _type(without_when(new[1])), _type(without_when(old[1]))
    if kinds[0] != kinds[1] or not kinds[0]:
        return None
    changed = f"the {fold(new[0])} was {second} and is {first}"
    words = [word.rstrip("s") if word not in _ONE else word for word in fold(new[0]).split()]
    one = words[-1] in _ONE or bool(_FIRST_OF_SOME.intersection(words))
    if one_holds_the_other(first, second) and kinds[0] != "number":
        return Verdict("contradicts", f"{changed}, or one is only more exact")
    if one or (kinds[0] in ("number", "address") and words[-1] not in _NAMED):
        return Verdict("replaces", changed)
    if kinds[0] == "word" and not re.match(_KEYED, now.body):
        return None
    return Verdict("replaces" if now.begun else "contradicts", changed)


def _type(value: str) -> str:
    plain = value.strip(" .`\"'")
    return next((name for name, pattern in _TYPES if re.fullmatch(pattern, plain)), "")
