"""Whether a new statement says what an older one says, takes its place, or contradicts it, without
a model: the same slot (where somebody lives, which port a service has) with another value.

'replaces' is said only where any reader would agree; what may be true beside the older one, or tell
more than it, is 'contradicts' or 'unrelated'. What somebody can have several of (tools, languages,
friends) never replaces anything. English alone. It does not know who said what, or when.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, get_args

from holdfast.text.places import city_and_country
from holdfast.text.sameness import words_key
from holdfast.text.slots_rules import RULES, compiled, without_when
from holdfast.text.statements import Statement, core_stems, read, without_helpers
from holdfast.text.terms import fold

Relation: TypeAlias = Literal["same", "replaces", "contradicts", "unrelated"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

# A longer text says more than one thing, and one of them would go with the other.
CHARS_MAX = 240


class Slot(NamedTuple):
    """What is said of whom. The subject is '' for the person whose memory it is."""

    subject: str
    attribute: str
    value: str
    negated: bool = False


class Verdict(NamedTuple):
    """How a new statement stands to an older one, and why, in half a sentence."""

    relation: Relation
    reason: str


_UNRELATED = Verdict("unrelated", "they are about different things")


class _Filled(NamedTuple):
    kind: str
    what: str
    value: str
    was: str
    rest: str
    over: bool

    def attribute(self) -> str:
        return f"{self.kind} {self.what}".strip()


def is_statement(text: str) -> bool:
    """Whether a text can be compared at all: one short sentence that claims something."""
    text = text.strip()
    return bool(text) and len(text) <= CHARS_MAX and "\n" not in text and text[-1] != "?"


def slot_of(text: str) -> Slot | None:
    """The slot that a statement fills; None where no rule knows it, or where it holds no more."""
    if not is_statement(text):
        return None
    said = read(text)
    if said.subject == "?" or said.supposed or said.past:
        return None
    filled = _filled(said)
    if not filled:
        return None
    first = filled[0]
    value = first.value or first.was
    return Slot(said.subject, first.attribute(), value, said.denied or not first.value)


def subject_of(text: str) -> str:
    """Whom a statement is about: '' for the person whose memory it is, '?' for nobody knows."""
    return read(text).subject


@lru_cache(maxsize=1_024)
def compare(new: str, old: str) -> Verdict:
    """How a new statement stands to an older one."""
    if words_key(new) == words_key(old):
        return Verdict("same", "they are the same words")
    if not (is_statement(new) and is_statement(old)):
        return _UNRELATED
    now, then = read(new), read(old)
    if "?" in (now.subject, then.subject) or now.subject != then.subject:
        return _UNRELATED
    if now.supposed or then.supposed:
        return _UNRELATED
    if _says_the_same(now, then):
        return Verdict("same", "they say the same in other words")
    if now.past or then.past or now.added or then.added:
        return _UNRELATED
    for rule in (_by_slot, _by_denial, _by_state, _by_number, _by_key):
        verdict = rule(now, then)
        if verdict is not None:
            return verdict
    return _UNRELATED


def _says_the_same(now: Statement, then: Statement) -> bool:
    first, second = core_stems(now.body), core_stems(then.body)
    flags = (now.denied, now.past, now.owned) == (then.denied, then.past, then.owned)
    return bool(first) and first == second and flags and now.ended == then.ended


# Slots


@lru_cache(maxsize=1_024)
def _filled(said: Statement) -> tuple[_Filled, ...]:
    folded = said.body.lower()
    lasting = without_when(said.body)
    out = []
    for rule in RULES:
        if not any(cue in folded for cue in rule.cues):
            continue
        body = said.body if rule.dated else lasting
        match = compiled(rule).match(without_helpers(body)) or compiled(rule).match(body)
        if match is None:
            continue
        what = _what(f"{_one(match, 'whose')} {_one(match, 'what')}")
        value, was, rest = _values(match)
        over = match.groupdict().get("gone") is not None
        if value or was or over:
            out.append(_Filled(rule.kind, what, value, was, rest, over))
    return tuple(out)


def _one(match: re.Match[str], name: str) -> str:
    """The group of this name that took part; a rule of several forms numbers them."""
    for group, text in match.groupdict().items():
        if text and group.rstrip("0123456789") == name:
            return text.strip()
    return ""


def _values(match: re.Match[str]) -> tuple[str, str, str]:
    value, was, rest = (_one(match, name) for name in ("value", "was", "rest"))
    return _plain(value), _plain(was), without_when(f" {rest}") if rest else ""


def _plain(value: str) -> str:
    folded = fold(without_when(value)).strip(" .,;:!\"'`*")
    return re.sub(r"^(?:the|a|an|my|our|his|her|their) ", "", folded)


def _what(text: str) -> str:
    folded = re.sub(r"\b(?:the|a|an|my|our|its?|now|for|of|new|current)\b", " ", fold(text))
    return " ".join(core_stems(folded.replace("'s", " "))) or " ".join(folded.split())


# What there is one of, so that another value takes its place.
_SINGLE = frozenset(
    "employer occupation spouse favourite version port host due clock age residence".split()  # noqa: SIM905
)
# Of these somebody may have several, though they speak of 'my' one.
_ONE_OF_SOME = frozenset(
    [
        "dog",
        "cat",
        "pet",
        "horse",
        "bird",
        "son",
        "daughter",
        "child",
        "kid",
        "brother",
        "sister",
        "friend",
        "cousin",
        "niece",
        "nephew",
        "uncle",
        "aunt",
        "car",
        "bike",
        "colleagu",
        "neighbour",
        "neighbor",
        "babi",
        "boy",
        "girl",
    ]
)


def _by_slot(now: Statement, then: Statement) -> Verdict | None:
    weak: Verdict | None = None
    for new in _filled(now):
        for old in _filled(then):
            verdict = _by_filled(now, then, new, old)
            if verdict is not None and verdict.relation != "unrelated":
                return verdict
            weak = weak or verdict
    return weak


def _by_filled(now: Statement, then: Statement, new: _Filled, old: _Filled) -> Verdict | None:
    if new.kind == "switch" and new.was:
        return _by_switch(then, new, old)
    if new.kind != old.kind:
        return None
    if not new.value or now.ended:
        # It says that something ended: at that place, with that person.
        return _by_end(now, then, new, old)
    if now.denied or then.denied:
        return None
    if new.kind == "preference":
        return _by_preference(new, old)
    if new.kind == "tool":
        return _by_tool(now, new, old)
    if new.what != old.what or not old.value:
        return None
    if new.value == old.value:
        known = not new.rest or core_stems(new.rest) == core_stems(old.rest)
        return Verdict("same", f"the same {new.attribute()}") if known else None
    if new.kind == "residence":
        return _by_place(new, old)
    return _by_value(now, new, old)


def _by_value(now: Statement, new: _Filled, old: _Filled) -> Verdict | None:
    about = new.attribute()
    changed = f"the {about} was {old.value} and is {new.value}"
    if new.kind == "given":
        return Verdict("contradicts", f"the {about} does not change: {old.value}, {new.value}")
    if _one_holds_the_other(new.value, old.value) and new.kind not in ("version", "port", "age"):
        # 'Google' and 'Google Zurich': one may only be more exact.
        return Verdict("contradicts", f"one {about} may only be more exact than the other")
    if new.kind == "version" and core_stems(new.rest) != core_stems(old.rest):
        return None
    if new.kind == "name of":
        several = not new.what or bool(_ONE_OF_SOME.intersection(new.what.split()))
        certain = not several if new.what else True
        return Verdict("replaces" if certain or now.begun else "contradicts", changed)
    if new.kind == "due" and _is_vague(new.value) and not now.begun:
        return Verdict("contradicts", changed)
    if not _covered(new, old):
        return Verdict("contradicts", f"{changed}, but the older one says more")
    return Verdict("replaces", changed)


def _covered(new: _Filled, old: _Filled) -> bool:
    """Whether everything that the older one says goes with its value."""
    return set(core_stems(old.rest)) <= set(core_stems(new.rest))


def _is_vague(value: str) -> bool:
    return re.search(r"\d", value) is None


def _one_holds_the_other(one: str, other: str) -> bool:
    first, second = set(core_stems(one)), set(core_stems(other))
    return bool(first and second) and (first <= second or second <= first)


def _by_place(new: _Filled, old: _Filled) -> Verdict | None:
    moved = f"lived in {old.value} and lives in {new.value}"
    if new.was and new.was == old.value:
        return Verdict("replaces" if _covered(new, old) else "contradicts", moved)
    here, there = city_and_country(new.value), city_and_country(old.value)
    if here is None or there is None:
        # One may lie in the other.
        return Verdict("contradicts", f"{moved}, unless one lies in the other")
    if here[1] == there[1] and "" in (here[0], there[0]):
        return None
    if not _covered(new, old):
        return Verdict("contradicts", f"{moved}, but the older one says more")
    return Verdict("replaces", moved)


def _by_end(now: Statement, then: Statement, new: _Filled, old: _Filled) -> Verdict | None:
    gone = new.was or new.value
    if then.denied or not old.value or new.kind in ("preference", "tool", "version"):
        return None
    if new.kind == "spouse" and not gone:
        return Verdict("replaces", f"no longer with {old.value}")
    if gone != old.value:
        return None
    if not _covered(new, old) and new.kind != "employer":
        return Verdict("contradicts", f"{gone} is over, but the older one says more")
    return Verdict("replaces", f"{gone} is over")


def _by_switch(then: Statement, new: _Filled, old: _Filled) -> Verdict | None:
    if then.denied or old.kind not in ("tool", "switch", "version", "preference", "host"):
        return None
    used = f"{old.what} {old.value}" if old.kind == "version" else old.value
    if _plain(used) != new.was and fold(old.value) != new.was:
        return None
    if new.what and old.what and new.what != old.what:
        return None
    if old.kind in ("tool", "host") and old.what and not new.what and old.kind == "tool":
        # It may have been given up for one use alone.
        return Verdict("contradicts", f"switched from {new.was} to {new.value}, perhaps here too")
    return Verdict("replaces", f"switched from {new.was} to {new.value}")


def _by_preference(new: _Filled, old: _Filled) -> Verdict | None:
    if new.what != old.what:
        return None
    if new.value == old.value:
        return Verdict("same", "the same preference") if new.was in ("", old.was) else None
    if old.was == new.value or (new.was and new.was == old.value):
        return Verdict("replaces", f"preferred {old.value} and prefers {new.value}")
    return None


def _by_tool(now: Statement, new: _Filled, old: _Filled) -> Verdict | None:
    if new.value == old.value:
        return Verdict("same", f"uses {new.value}") if new.what == old.what else None
    if new.what and new.what == old.what and now.begun:
        return Verdict("replaces", f"used {old.value} and now uses {new.value}")
    return None


# Denial

_LIKES = {"like": "like", "love": "like", "enjoy": "like", "adore": "like"}
_DISLIKES = frozenset(["hate", "dislik", "detest", "loath"])
_SEVERAL = r"(?i)\b(?:and|or|but)\b|[,;/]"


def _stance(said: Statement) -> tuple[list[str], bool]:
    """What is said, and whether it is denied: to hate is not to like."""
    stems = core_stems(said.body)
    if stems and stems[0] in _DISLIKES:
        return ["like", *stems[1:]], not said.denied
    if stems and stems[0] in _LIKES:
        return ["like", *stems[1:]], said.denied
    return stems, said.denied


# A statement with more words beside those that are denied is about more than them.
_EXTRA_MAX = 3


def _by_denial(now: Statement, then: Statement) -> Verdict | None:
    if now.owned != then.owned:
        return None
    new, denied = _stance(now)
    old, was_denied = _stance(then)
    if denied == was_denied or not new or not old or new[0] != old[0]:
        return None
    denial, claim = (new, old) if denied else (old, new)
    if not set(denial) <= set(claim) or len(claim) - len(denial) > _EXTRA_MAX:
        return None
    if not denied and len(old) > len(new):
        return None
    certain = now.ended if denied else now.begun
    said = "it is no longer so" if denied else "it is so again"
    if certain and (set(new) == set(old) or not re.search(_SEVERAL, then.body)):
        return Verdict("replaces", said)
    return Verdict("contradicts", "one denies what the other says")


# States

_STATES = (
    ("enabled", "disabled"), ("on", "off"), ("open", "closed"), ("active", "inactive"),
    ("public", "private"), ("true", "false"), ("required", "optional"), ("paused", "running"),
)  # fmt: skip
_STATE = (
    r"(?i)(?:the )?(?P<what>[\w' .-]{2,60}?) (?:is|are) (?:now |currently |set to )?"
    rf"(?P<value>{'|'.join(word for pair in _STATES for word in pair)})\Z"
)


def _by_state(now: Statement, then: Statement) -> Verdict | None:
    new, old = (re.match(_STATE, without_when(one.body)) for one in (now, then))
    if new is None or old is None or _what(new["what"]) != _what(old["what"]):
        return None
    pair = (new["value"].lower(), old["value"].lower())
    if pair in _STATES or pair[::-1] in _STATES:
        return Verdict("replaces", f"it was {pair[1]} and is {pair[0]}")
    return None


# Numbers

_NUMBER = r"(?i)[$€£]?\d+(?:[.,:]\d+)*(?:%|[a-z]{1,3})?\.?"
_YEAR = r"(?:19|20)\d\d"
# A number after one of these names a thing; another number is another thing.
_NAMED = frozenset(
    [
        "issue",
        "ticket",
        "pr",
        "chapter",
        "room",
        "page",
        "step",
        "line",
        "build",
        "sprint",
        "episode",
        "season",
        "number",
        "no",
        "level",
        "phase",
        "meeting",
        "day",
        "week",
        "lesson",
        "unit",
        "task",
        "bug",
        "order",
        "invoice",
        "flight",
        "gate",
        "platform",
        "seat",
        "floor",
        "apartment",
        "option",
        "part",
        "section",
        "article",
        "rule",
        "figure",
        "table",
        "milestone",
        "iteration",
        "round",
        "run",
        "test",
    ]
)
_PRESENT = (
    r"(?i)(?:the |an? )?(?:[\w'.-]+ ){0,6}?(?:is|are|has|have|costs?|takes?|earns?|weighs?|pays?"
    r"|runs?|drinks?|sleeps?|needs?|keeps?|lasts?|spends?|owns?|limits?|timeout|limit|retries"
    r"|equals?|allows?|uses?|works?|reads?|walks?|swims?|eats?|smokes?|charges?|contains?)\b"
)
_RELATIVE = (
    r"(?i)\b(?:son|daughter|brother|sister|child|kid|baby|dog|cat|friend|niece|nephew|cousin|boy"
    r"|girl)\b"
)


def _by_number(now: Statement, then: Statement) -> Verdict | None:
    """The same sentence with another number: how much of something there is."""
    if (now.denied, now.owned) != (then.denied, then.owned):
        return None
    new, old = _tokens(now.body), _tokens(then.body)
    if len(new) != len(old):
        return None
    differing = [at for at in range(len(new)) if new[at] != old[at]]
    if len(differing) != 1:
        return None
    at = differing[0]
    first, second = new[at], old[at]
    if not (re.fullmatch(_NUMBER, first) and re.fullmatch(_NUMBER, second)) or _is_name(new, at):
        return None
    if not re.match(_PRESENT, now.body) or _unit(first) != _unit(second):
        return None
    said = f"it was {second.rstrip('.')} and is {first.rstrip('.')}"
    # 'A discount of 20%' may be one of several.
    several = re.search(_RELATIVE, now.body) or now.body[:2].lower() in ("a ", "an")
    return Verdict("contradicts" if several else "replaces", said)


def _unit(number: str) -> str:
    return re.sub(r"[\d.,:]", "", number)


def _tokens(body: str) -> list[str]:
    found = (word.strip(".!\"'") for word in re.findall(r"[^\s,;]+", fold(body)))
    return [w for w in found if w not in ("the", "a", "an", "now", "currently", "about", "around")]


# Before a number that says how much there is; after any other word it may be a name: 'Room 12'.
_BEFORE_AMOUNTS = frozenset(
    """
    is are was has have had of to at by for every about up around on with under over exactly only
    costs takes earns weighs pays runs drinks sleeps needs keeps lasts spends owns limits allows
    uses works reads walks swims eats smokes charges contains equals port version = :
    """.split()  # noqa: SIM905
)


def _is_name(tokens: list[str], at: int) -> bool:
    if re.fullmatch(_YEAR, tokens[at]):
        return True
    return at == 0 or tokens[at - 1] not in _BEFORE_AMOUNTS


# Keys and values

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
    employer job company team location city country language framework leader president principal
    pronouns plan tier size interval schedule quota threshold default number
    """.split()  # noqa: SIM905
)
_FIRST_OF_SOME = frozenset(["default", "main", "current", "primary", "preferred"])
_LIST_KEYS = frozenset(
    [
        "note",
        "notes",
        "todo",
        "decision",
        "fact",
        "likes",
        "dislikes",
        "allergy",
        "allergies",
        "tip",
        "reminder",
        "idea",
        "rule",
        "warning",
        "example",
        "question",
        "answer",
        "update",
        "remember",
        "hobby",
        "hobbies",
        "skill",
        "skills",
        "goal",
        "task",
    ]
)


def _by_key(now: Statement, then: Statement) -> Verdict | None:
    if (now.denied, now.owned) != (then.denied, then.owned) or now.denied:
        return None
    for pattern in (_KEYED, _IS):
        new, old = re.match(pattern, now.body), re.match(pattern, then.body)
        if new is not None and old is not None:
            return _by_pair(now, (new["key"], new["value"]), (old["key"], old["value"]))
    return None


def _by_pair(now: Statement, new: tuple[str, str], old: tuple[str, str]) -> Verdict | None:
    key = _what(new[0])
    if not key or key != _what(old[0]) or fold(new[0]).split()[-1] in _LIST_KEYS:
        return None
    first, second = _plain(new[1]), _plain(old[1])
    if first == second:
        return Verdict("same", f"the same {key}")
    kinds = _type(without_when(new[1])), _type(without_when(old[1]))
    if kinds[0] != kinds[1] or not kinds[0]:
        return None
    changed = f"the {fold(new[0])} was {second} and is {first}"
    words = [word.rstrip("s") if word not in _ONE else word for word in fold(new[0]).split()]
    one = words[-1] in _ONE or bool(_FIRST_OF_SOME.intersection(words))
    if _one_holds_the_other(first, second) and kinds[0] != "number":
        return Verdict("contradicts", f"{changed}, or one is only more exact")
    if one or (kinds[0] in ("number", "address") and words[-1] not in _NAMED):
        return Verdict("replaces", changed)
    if kinds[0] == "word" and not re.match(_KEYED, now.body):
        return None
    return Verdict("replaces" if now.begun else "contradicts", changed)


def _type(value: str) -> str:
    plain = value.strip(" .`\"'")
    return next((name for name, pattern in _TYPES if re.fullmatch(pattern, plain)), "")
