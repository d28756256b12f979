"""Compares statements that differ in one value: 'Logs are kept for 14 days' and '… for 30 days', or
'Editor: Vim' and 'Editor: Helix'. Another number, time, date or address in that place replaces the
first; another name or word does where the statement says that it is new ('now', 'from now on'),
names the older one ('not Tuesdays'), or where the key has one value at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import STOP_WORDS, fold, terms
from holdfast.text.analysis.word_forms import is_number_word, numbers_in, tense
from holdfast.text.facts.statements import VERBS, Statement, core_stems
from holdfast.text.slots.values import (
    SEVERAL_POSSIBLE,
    Relation,
    TermSets,
    Verdict,
    attribute_key,
    filled,
    holds_any,
    index_terms,
    one_includes_other,
    plain_value,
    without_when,
)
from holdfast.text.tables import Patterns, lazy, read_words

_PATTERNS = Patterns("slots/patterns.txt")

_WORDS = read_words("slots/words.txt")

# A longer difference makes it another statement.
_CHUNK_MAX = 3
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
# Values of these types are exclusive: there is one at a time.
VALUE_TYPES: tuple[tuple[str, str], ...] = (
    ("address", r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.]+|(?:~|\.{0,2})/\S+"),
    ("date", rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: \d{{4}})?"
             rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?: \d{{4}})?|\d{{4}}-\d\d-\d\d"),
    ("clock", r"\d{1,2}:\d\d(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?|noon|midnight"),
    ("ordinal", r"\d{1,2}(?:st|nd|rd|th)"),
    ("phone", r"\+?\d{2,4}(?: \d{2,}){1,4}"),
    ("number", r"v?[$€£]?\d+(?:[.,]\d+)*(?:%|[a-z]{1,3})?"),
)  # fmt: skip
_WHOLE = tuple((name, lazy(pattern)) for name, pattern in VALUE_TYPES)
_SAME_WORDS = {"moved": "is", "pushed": "is", "was": "is", "changed": "is", "got": "is"}
_MAPPED = frozenset(_SAME_WORDS.values())
# A number after one of these names a thing, and another number another thing.
_NUMBERED = _WORDS["numbered"]
# What follows one of these may have several values.
_SEVERAL_VERBS = _WORDS["several verbs"]
_MORE_VERBS = _WORDS["more verbs"]


_BE = frozenset(["is", "are", "was", "were"])
_WORD = lazy(r"[^\s,;:!?]+")
_PREPOSITIONS = frozenset(["at", "to", "on", "by", "until", "for"])


class Difference(NamedTuple):
    """The one place in which two compared statements differ: what is before it, and what is in
    it."""

    before: tuple[str, ...]
    new: tuple[str, ...]
    old: tuple[str, ...]
    after: tuple[str, ...]


def by_frame(now: Statement, then: Statement) -> Verdict | None:
    """Compares statements that have the same words around another value."""
    if (now.denied, now.owned) != (then.denied, then.owned) or now.denied:
        return None
    found = difference(now.body, then.body)
    if found is None or not _is_complement(now, found) or _is_event(found.before):
        return None
    changed = f"it was {' '.join(found.old)} and is {' '.join(found.new)}"
    kind = _type_of(found.new)
    if kind and kind == _type_of(found.old):
        if found.before[-1] in _NUMBERED or _is_one_of_several(now, found):
            return None
        return Verdict("replaces", changed)
    if not now.begun or then.begun:
        return None
    # 'Standup is at 10 now' after '… at 9:15 every day': what else is said of it is how often.
    is_new = kind == _type_of(found.old) or bool(kind and _TIMED.match(" ".join(found.old)))
    return Verdict("replaces", changed) if is_new else None


_TIMED = lazy(r"(?:at )?(?:\d{1,2}:\d\d|\d{1,2} ?[ap]\.?m|noon|midnight)")


def by_old_value(now: Statement, then: Statement) -> Verdict | None:
    """Compares statements where the new one names the value that no longer holds: 'The line length
    is 120, not 88'."""
    said = _with_old_value(now.body)
    if said is None or then.denied or now.owned != then.owned:
        return None
    body, was = said
    found = difference(body, then.body)
    if found is None or _without_preposition(found.old) != was or not _is_complement(now, found):
        return None
    # 'Postgres for billing, not MySQL' leaves MySQL to other things.
    if any(word in STOP_WORDS for word in _without_preposition(found.new)):
        return None
    return Verdict("replaces", f"it was {' '.join(found.old)} and is {' '.join(found.new)}")


def old_value_terms(now: Statement) -> TermSets:
    said = _with_old_value(now.body)
    return [] if said is None else [_index_terms(said[1])]


# One of these is before the value that a statement denies.
_BEFORE_OLD_VALUE = ("not ", "no longer ", "instead of ", "rather than ")


def _with_old_value(body: str) -> tuple[str, tuple[str, ...]] | None:
    """A statement without the value that it denies, and the words of that value."""
    if not holds_any(body.lower(), _BEFORE_OLD_VALUE):
        return None
    match = _PATTERNS["old value"].search(body)
    if match is None:
        return None
    return body[: match.start()], _without_preposition(_tokens(match["was"]))


def _without_preposition(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[1:] if len(words) > 1 and words[0] in _PREPOSITIONS else words


def frame_terms(now: Statement) -> TermSets:
    """Index terms of every statement that `by_frame` may replace by the value of a type: for every
    place in which this one has such a value, the words around it."""
    # Whether a word may be of a type at all; it is cheaper than to look which.
    if now.denied or _VALUE.search(fold(now.body)) is None:
        return []
    tokens = _tokens(now.body)
    valued = [_VALUE.search(word) is not None for word in tokens]
    if not any(valued) or _is_event(tokens):
        return []
    found = []
    for start in range(1, len(tokens)):
        for end in range(start + 1, min(start + _CHUNK_MAX, len(tokens)) + 1):
            before, chunk, after = tokens[:start], tokens[start:end], tokens[end:]
            if before[-1] in _NUMBERED or not any(valued[start:end]) or not _type_of(chunk):
                continue
            if _is_complement(now, Difference(before, chunk, (), after)):
                found.append(_index_terms((*before, *after)))
    return found


def begun_terms(now: Statement) -> TermSets:
    """Index terms of every statement that `by_frame` may replace by any value, where this one says
    that its value is new: nearly all words, or those before the first place in which they may
    differ."""
    if not now.begun or now.denied:
        return []
    tokens = _tokens(now.body)
    if _is_event(tokens):
        return []
    cut = (_index_terms((word,)) for word in tokens)
    whole = [term for found in cut if len(found) == 1 for term in found]
    return nearly_all(whole, _CHUNK_MAX) or [_index_terms(tokens[: _before_least(now)])]


def plain(stems: Iterable[str]) -> frozenset[str]:
    """The stems of a statement's words that are index terms of every text with these words; words
    with other signs may be cut elsewhere."""
    return frozenset(stem for stem in stems if stem.isascii() and stem.isalpha())


# More terms of a set tell no more.
_OF_SET_MAX = 3


def nearly_all(stems: Iterable[str], lacking_max: int) -> TermSets:
    """Sets of index terms for a search for older statements, one of which a text has that lacks at
    most so many of these; none where they are too few for that."""
    longest = sorted(plain(stems), key=lambda stem: (-len(stem), stem))
    parts = lacking_max + 1
    if len(longest) < parts:
        return []
    return [frozenset(longest[at::parts][:_OF_SET_MAX]) for at in range(parts)]


def _index_terms(words: tuple[str, ...]) -> frozenset[str]:
    """Terms that a text with these words surely has. A word that `_tokens` puts in the place of
    others may have been one of them; one with other signs may be cut elsewhere."""
    return frozenset(
        term
        for word in words
        if word.isascii() and word.isalnum() and word not in STOP_WORDS and word not in _MAPPED
        for term in terms(word)
    )


# The values of types without a digit in them.
_VALUE = lazy(r"\d|@|://|noon|midnight|/|www")


def difference(new: str, old: str) -> Difference | None:
    """The place in which the bodies of two statements differ; None where they differ in several, or
    in too much."""
    one, two = _tokens(new), _tokens(old)
    shorter = min(len(one), len(two))
    front = 0
    while front < shorter and one[front] == two[front]:
        front += 1
    back = 0
    while back < shorter - front and one[-1 - back] == two[-1 - back]:
        back += 1
    first, second = one[front : len(one) - back], two[front : len(two) - back]
    if not (0 < len(first) <= _CHUNK_MAX and 0 < len(second) <= _CHUNK_MAX):
        return None
    return Difference(one[:front], first, second, one[len(one) - back :] if back else ())


# Each form of the pattern ends with one of these.
_SET_TO = (
    *("cut to", "raised to", "reduced to", "increased to", "lowered to"),
    *("set to", "extended to", "shortened to", "bumped to"),
)


def _without_change(folded: str) -> str:
    """'Was cut to 5' as 'is 5'."""
    return _PATTERNS["set to"].sub("is", folded) if holds_any(folded, _SET_TO) else folded


@lru_cache(maxsize=1_024)
def _tokens(body: str) -> tuple[str, ...]:
    plain = _PATTERNS["since"].sub(" ", _without_change(fold(body)))
    found = [bare for word in plain.split() if (bare := word.strip(".,;!\"'"))]
    return tuple([_SAME_WORDS.get(word, word) for word in found])


def _is_complement(now: Statement, found: Difference) -> bool:
    """Whether the difference comes behind a verb, and is not in what the statement is about."""
    words = found.before
    if len(words) < _before_least(now):
        return False
    # 'We deploy on Tuesdays' begins with its verb.
    return f"{words[0]}s" in _MORE_VERBS or any(
        word in ("is", "are") or word in VERBS or word in _MORE_VERBS for word in words
    )


def _before_least(now: Statement) -> int:
    """How many words a difference has before it, at least: a subject is not among them."""
    return 1 if now.subject else 2


def _is_event(words: tuple[str, ...]) -> bool:
    """Whether something happened, which may have happened twice: 'Watered the plants on Monday'."""
    return bool(words) and (tense(words[0]) == "past" or words[0] == "read")


def _is_one_of_several(now: Statement, found: Difference) -> bool:
    if now.body[:2].lower() in ("a ", "an") or "one" in found.before:
        return True
    return not _SEVERAL_VERBS.isdisjoint(found.before) and "been" not in found.before


def _type_of(chunk: tuple[str, ...]) -> str:
    text = " ".join(_without_preposition(chunk))
    return next((name for name, pattern in _WHOLE if pattern.fullmatch(text)), "")


# Another number

_NUMBER = r"(?i)[$€£]?\d+(?:[.,:]\d+)*(?:%|[a-z]{1,3})?\.?"
_YEAR = r"(?:19|20)\d\d"


def by_number(now: Statement, then: Statement) -> Verdict | None:
    """Compares statements that differ in one number."""
    if (now.denied, now.owned) != (then.denied, then.owned):
        return None
    new, old = _amount_tokens(now.body), _amount_tokens(then.body)
    if len(new) != len(old):
        return None
    differing = [at for at in range(len(new)) if new[at] != old[at]]
    if new and not differing:
        return Verdict("same", "they say the same in other words")
    if len(differing) == 2 and now.begun and differing[1] == differing[0] + 1:
        # 'One cat' and 'two cats' differ in one thing.
        noun = differing.pop()
        if core_stems(new[noun]) != core_stems(old[noun]):
            return None
        new, old = (tuple("1" if word == "one" else word for word in each) for each in (new, old))
    if len(differing) != 1:
        return None
    at = differing[0]
    first, second = new[at], old[at]
    if not (re.fullmatch(_NUMBER, first) and re.fullmatch(_NUMBER, second)) or _is_part_of_name(
        new, at
    ):
        return None
    is_changed = now.begun and not then.begun
    if not (is_changed or _PATTERNS["present"].match(now.body)) or _unit(first) != _unit(second):
        return None
    said = f"it was {second.rstrip('.')} and is {first.rstrip('.')}"
    # 'A discount of 20%' may be one of several.
    several = _PATTERNS["relative"].search(now.body) and not now.begun
    several = several or now.body[:2].lower() in ("a ", "an")
    return Verdict("contradicts", said, both=True) if several else Verdict("replaces", said)


def amount_terms(now: Statement) -> TermSets:
    if not (now.begun or _PATTERNS["present"].match(now.body)):
        return []
    tokens = _amount_tokens(now.body)
    numbers = (
        at for at, word in enumerate(tokens) if not word.isalpha() and re.fullmatch(_NUMBER, word)
    )
    if all(_is_part_of_name(tokens, at) for at in numbers):
        return []
    # A stop word may be part of another word in the older statement, as in `don't`.
    words = (word for word in tokens if word.isascii() and word.isalpha())
    return [frozenset(term for word in words if word not in STOP_WORDS for term in terms(word))]


def _unit(number: str) -> str:
    return re.sub(r"[\d.,:]", "", number)


def _in_digits(word: str) -> str:
    """'three' as '3'."""
    found = numbers_in(word)
    return found[0].value if found else word


_AMOUNT_WORD = lazy(r"[^\s,;]+")
# Words without which a statement has the same amount.
_SMALL = frozenset(["the", "a", "an", "now", "currently", "about", "around"])


@lru_cache(maxsize=1_024)
def _amount_tokens(body: str) -> tuple[str, ...]:
    plain = _without_change(fold(body))
    words = [word.strip(".!\"'") for word in _AMOUNT_WORD.findall(plain)]
    found = [_in_digits(word) if is_number_word(word) else word for word in words]
    return tuple([word for word in found if word not in _SMALL])


# Words before an amount; after any other word a number may be part of a name: 'Room 12'.
_BEFORE_AMOUNTS = _WORDS["before amounts"]


def _is_part_of_name(tokens: tuple[str, ...], at: int) -> bool:
    if re.fullmatch(_YEAR, tokens[at]):
        return True
    return at == 0 or tokens[at - 1] not in _BEFORE_AMOUNTS


# Keys with a value: 'Editor: Vim', 'The fee is 5'


# A number after one of these is part of a name; another number is another thing.
_NUMBERED_NAMES = _WORDS["numbered names"]
_KEYED = r"(?P<key>[^\W\d_][\w /'()-]{1,40}?)\s*(?::|=|->|→)\s+(?P<value>\S.{0,80})\Z"
_KEY_IS = (
    r"(?i)(?:the )?(?P<key>[\w][\w /'.-]{1,50}?) (?:is|are|has been changed to|was changed to"
    r"|changed to|is set to|equals)(?: now)? (?P<value>\S.{0,80})\Z"
)
_KEY_TYPES = (
    ("address", r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.]+|(?:~|\.{0,2})/\S+"),
    ("number", r"(?i)[$€£]?\d+(?:[.,:]\d+)*(?: ?[%a-z]{1,12}(?: [a-z]+)?)?"),
    ("name", r"(?:[^\W\d_a-z][\w.&+'-]*)(?: [^\W\d_a-z][\w.&+'-]*){0,3}"),
    ("word", r"[\w.+#@/:-]+"),
)
# Keys with one value at a time.
_SINGLE_VALUED = _WORDS["single valued"]
_SINGLE_VALUED_ADJECTIVES = frozenset(["default", "main", "current", "primary", "preferred"])
_LIST_KEYS = _WORDS["list keys"]


def by_key(now: Statement, then: Statement) -> Verdict | None:
    """Compares statements with two values of the same key, or with a value that was given up for
    another."""
    if (given_up := _by_given_up(now, then)) is not None:
        return given_up
    if (now.denied, now.owned) != (then.denied, then.owned) or now.denied:
        return None
    for pattern in _PAIR_PATTERNS:
        new = _pair(pattern, now.body)
        old = new and _pair(pattern, then.body)
        if new is not None and old is not None:
            return _by_pair(now, new, old)
    return None


def _by_given_up(now: Statement, then: Statement) -> Verdict | None:
    """'Switched from vim to helix' after 'Editor is vim'."""
    for new in filled(now):
        for pattern in _PAIR_PATTERNS if new.kind == "switch" and new.was else ():
            old = _pair(pattern, then.body)
            if old is not None and old.value == new.was and old.name.split()[-1] in _SINGLE_VALUED:
                return Verdict("replaces", f"switched from {new.was} to {new.value}")
    return None


def key_terms(now: Statement) -> TermSets:
    if now.denied:
        return []
    pairs = (pair for pattern in _PAIR_PATTERNS if (pair := _pair(pattern, now.body)) is not None)
    return [
        index_terms(pair.name)
        for pair in pairs
        if _has_one(pair) and pair.kind and _key_change(now, pair) == "replaces"
    ]


class _Pair(NamedTuple):
    """A key and its value: the original name, the forms that are compared, and the value's type."""

    name: str
    key: str
    value: str
    kind: str


_PAIR_PATTERNS = (_KEYED, _KEY_IS)


@lru_cache(maxsize=2_048)
def _pair(pattern: str, body: str) -> _Pair | None:
    match = re.match(pattern, body)
    if match is None:
        return None
    kind = _value_type(without_when(match["value"]))
    return _Pair(fold(match["key"]), attribute_key(match["key"]), plain_value(match["value"]), kind)


def _by_pair(now: Statement, new: _Pair, old: _Pair) -> Verdict | None:
    if new.key != old.key or not _has_one(new):
        return None
    if new.value == old.value:
        return Verdict("same", f"the same {new.key}")
    if new.kind != old.kind or not new.kind:
        return None
    changed = f"the {new.name} was {old.value} and is {new.value}"
    if one_includes_other(new.value, old.value) and new.kind != "number":
        return Verdict("contradicts", f"{changed}, or one is only more exact", both=True)
    relation = _key_change(now, new)
    return None if relation == "unrelated" else Verdict(relation, changed)


def _has_one(pair: _Pair) -> bool:
    """Whether the key is none of which there are several, such as notes, todos and sisters."""
    last = pair.name.split()[-1]
    return bool(pair.key) and last not in _LIST_KEYS and last not in SEVERAL_POSSIBLE


def _key_change(now: Statement, new: _Pair) -> Relation:
    """How a new value of a key relates to another one of its type."""
    words = [word.rstrip("s") if word not in _SINGLE_VALUED else word for word in new.name.split()]
    one = words[-1] in _SINGLE_VALUED or bool(_SINGLE_VALUED_ADJECTIVES.intersection(words))
    if one or (new.kind in ("number", "address") and words[-1] not in _NUMBERED_NAMES):
        return "replaces"
    if new.kind == "word" and not re.match(_KEYED, now.body):
        return "unrelated"
    return "replaces" if now.begun else "contradicts"


def _value_type(value: str) -> str:
    plain_value = value.strip(" .`\"'")
    return next((name for name, pattern in _KEY_TYPES if re.fullmatch(pattern, plain_value)), "")


# Closeness


# Two statements are close if they share this part of the shorter one, and this many words; if the
# newer one reports a change, less is enough.
_SHARED_LEAST, _SHARED_CHANGED = 0.6, 0.45
_SHARED_WORDS = 2


def may_be_close(now: Statement) -> bool:
    """Whether a statement may be close to an older one at all, whatever that says. An event, an
    addition and a supposition never are."""
    if now.added or now.supposed:
        return False
    return not _is_event(_tokens(now.body)) or _tells_of_change(now)


def is_close(now: Statement, then: Statement) -> bool:
    """Whether a person would look at both statements to see whether the newer one is meant to
    replace the older one. It is never the reason to replace anything."""
    if then.supposed or not may_be_close(now):
        return False
    # First, as most share too little.
    if not (_share_enough(now, then) or _moves_what_is_done(now, then)):
        return False
    return not (
        _is_series(now, then) or _about_two_things(now, then) or _moves_another_thing(now, then)
    )


class _Move(NamedTuple):
    """What is told to have another time, place or means, and which."""

    what: list[str]
    value: str

    @property
    def is_in_time(self) -> bool:
        return _PATTERNS["time"].match(self.value) is not None


# Asked for each of the older statements that a new one is compared with.
@lru_cache(maxsize=256)
def _move(said: Statement) -> _Move | None:
    found = _PATTERNS["moved"].match(about(said))
    return _Move(core_stems(found["what"]), found["value"].strip()) if found else None


def _moves_what_is_done(now: Statement, then: Statement) -> bool:
    """Whether it tells of a move of what the older one says somebody does: 'Billing moved to the
    fifteenth' and 'We bill customers on the first'."""
    move = _move(now)
    if move is None or not move.what:
        return False
    done = _DOES.match(about(then))
    if done is None or core_stems(done["verb"]) != move.what[-1:]:
        return False
    return move.is_in_time == any(map(_is_time, _complements(then)))


# Who does something, and what they do.
_DOES = lazy(
    r"(?i)(?:(?:we|i|they|the \w+) )?(?:(?:always|usually|mostly|all|both) )?(?P<verb>[a-z]{3,})\b"
)


def _complements(said: Statement) -> list[str]:
    return [found["what"].strip() for found in _PATTERNS["complement"].finditer(about(said))]


def _is_time(text: str) -> bool:
    return _PATTERNS["time"].match(text) is not None


def _moves_another_thing(now: Statement, then: Statement) -> bool:
    """Whether what moved is only a place or a means of the older statement, as in 'I train at the
    gym' and 'The gym moved to Baker Street'; or moved in space, where the older one says when."""
    move = _move(now)
    complements = _complements(then) if move is not None else []
    if move is None or not complements:
        return False
    times = [_is_time(one) for one in complements]
    if not move.is_in_time and all(times):
        return True
    named = {stem for one in complements for stem in core_stems(one)}
    rest = set(core_stems(_PATTERNS["complement"].sub(" ", about(then))))
    return bool(move.what) and move.what[-1] in named and not rest & set(move.what)


def has_like_value(now: Statement, then: Statement) -> bool:
    """Whether the older statement has a value of the kind that the newer one changes: of 'We deploy
    with Jenkins' and 'We deploy on Fridays', 'The deploys moved to Tuesdays' means the second."""
    move = _move(now)
    return move is None or not move.is_in_time or any(map(_is_time, _complements(then)))


def _share_enough(now: Statement, then: Statement) -> bool:
    new, old = set(core_stems(about(now))), set(core_stems(about(then)))
    shared = new & old
    if shared <= _change_stems():
        # 'I moved to Helix' is not about 'Standup moved to 10:00'.
        return False
    if _tells_of_change(now):
        # A number or a time is what changes.
        new, old = without_times(new), without_times(old)
        is_shared = bool(new and old) and _share(new, old) >= _SHARED_CHANGED
        return is_shared or _ends_what_is_named(now, old)
    return len(shared) >= _SHARED_WORDS and _share(new, old) >= _SHARED_LEAST


def _share(new: set[str], old: set[str]) -> float:
    return len(new & old) / min(len(new), len(old))


def without_times(stems: set[str]) -> set[str]:
    """Stems without numbers and words for times: no two statements are about the same for these."""
    return {stem for stem in stems if not stem[0].isdigit()} - _time_stems()


@lru_cache(maxsize=1)
def _time_stems() -> frozenset[str]:
    return frozenset(term for word in _WORDS["times"] for term in terms(word))


# Asked for each of the older statements that a new one is compared with.
@lru_cache(maxsize=256)
def _tells_of_change(now: Statement) -> bool:
    return now.begun or now.ended or _PATTERNS["change"].search(now.body.lower()) is not None


def _ends_what_is_named(now: Statement, old: set[str]) -> bool:
    """Whether it ends something that the older statement names: 'I cancelled Netflix'."""
    match = _PATTERNS["ended thing"].search(now.body)
    stems = set(core_stems(match["what"] or match["who"])) if match else set()
    return bool(stems) and stems <= old


def _about_two_things(now: Statement, then: Statement) -> bool:
    """Whether the subjects name two things of one kind, or of two owners: 'The red bike' and 'The
    blue bike', 'Mum's number' and 'Dad has a new number'."""
    first, second = _owner(now), _owner(then)
    if first and second and first != second:
        return True
    new, old = _subject_stems(now), _subject_stems(then)
    return bool(new & old and new - old and old - new)


def _owner(said: Statement) -> str:
    """The owner of the subject of a statement, if it names one."""
    if said.owned and said.subject:
        return said.subject.lower()
    match = _PATTERNS["owner"].match(said.body)
    return match["owner"].lower() if match else ""


def _subject_stems(said: Statement) -> set[str]:
    """The words of a statement before its verb; empty if the verb is unknown."""
    words = _WORD.findall(about(said))
    for at, word in enumerate(words):
        plain = word.lower()
        if plain in _BE or plain in VERBS or plain in _MORE_VERBS:
            return set(core_stems(" ".join(words[:at])))
    return set()


@lru_cache(maxsize=1)
def _change_stems() -> frozenset[str]:
    return frozenset(core_stems("moved switched changed migrated replaced renamed"))


# Verbs with which a person lists what they do or have; a second one says nothing of the first.
_LISTING_VERBS = _SEVERAL_VERBS | frozenset(
    """
    like love enjoy hate use want plan prefer visit work play watch eat drink
    """.split()  # noqa: SIM905
)


def same_topic(now: Statement, then: Statement) -> bool:
    """Whether two statements begin with the same word of substance: 'The app is written in Flask'
    and 'The app runs on FastAPI'. Where they also mean nearly the same, they are close."""
    if then.supposed or not may_be_close(now):
        return False
    if _is_series(now, then) or _about_two_things(now, then):
        return False
    new, old = core_stems(about(now)), core_stems(about(then))
    return bool(new and old) and new[0] == old[0] and new[0] not in _listing_stems()


def changes_topic(now: Statement, then: Statement) -> bool:
    """Whether a statement that tells of a change shares a word of substance with an older one:
    'CI runs on Buildkite these days' and 'We use GitHub Actions for CI'. Where they also mean
    nearly the same, they are close."""
    if then.supposed or not may_be_close(now) or not _tells_of_change(now):
        return False
    if _is_series(now, then) or _about_two_things(now, then):
        return False
    shared = {*core_stems(about(now))} & {*core_stems(about(then))}
    return not without_times(shared) <= _change_stems()


@lru_cache(maxsize=1)
def _listing_stems() -> frozenset[str]:
    return frozenset(term for verb in _LISTING_VERBS for term in terms(verb))


def _is_series(now: Statement, then: Statement) -> bool:
    """Whether both only number the same thing: 'Addition 3 to …', 'Addition 4 to …'."""
    found = difference(now.body, then.body)
    if found is None or _is_complement(now, found) or (now.begun and not then.begun):
        return False
    return bool(_type_of(found.new)) and _type_of(found.new) == _type_of(found.old)


def about(said: Statement) -> str:
    """What a statement says, with its subject."""
    if said.subject in ("", "?", "we"):
        # The body itself, whose stems are known from other rules.
        return said.body
    return f"{said.subject} {said.body}"
