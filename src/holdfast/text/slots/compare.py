"""Decides whether a new statement repeats, replaces or contradicts an older one, without a model:
the same slot (where somebody lives, which port a service has) with another value, or almost the
same words with a negation, another state or another number.

'replaces' is the result only where any reader would agree. What may be true beside the older one,
or adds to it, is 'contradicts' or 'unrelated'. What somebody can have several of (tools, languages,
friends) never replaces anything. Statements about a home, a name or an employer are understood in
nine languages, others in English only. It does not know who said what, or when.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.spans import fold_in_place
from holdfast.text.analysis.terms import query_terms, terms
from holdfast.text.facts import about_oneself
from holdfast.text.facts.statements import (
    KEPT_MAX,
    VERBS,
    Statement,
    core_stems,
    read,
    turned_around,
    without_note,
    words_key,
)
from holdfast.text.slots import STATEMENT_CHARS_MAX
from holdfast.text.slots.endings import (
    by_duration,
    by_ending,
    by_kind,
    duration_terms,
    ended_terms,
)
from holdfast.text.slots.frames import (
    about,
    amount_terms,
    begun_terms,
    by_frame,
    by_key,
    by_number,
    by_old_value,
    changes_topic,
    frame_terms,
    has_like_value,
    is_close,
    key_terms,
    may_be_close,
    nearly_all,
    old_value_terms,
    plain,
    same_topic,
    without_times,
)
from holdfast.text.slots.values import (
    RELATIONS,
    Relation,
    TermSets,
    Verdict,
    attribute_key,
    by_relative,
    by_slot,
    filled,
    index_terms,
    relative_terms,
    slot_terms,
    without_when,
)
from holdfast.text.tables import Patterns, lazy, read_table, read_words

_PATTERNS = Patterns("slots/patterns.txt")

# Negations


_LIKES = {"like": "like", "love": "like", "enjoy": "like", "adore": "like"}
_DISLIKES = frozenset(["hate", "dislik", "detest", "loath"])
_SEVERAL = r"(?i)\b(?:and|or|but)\b|[,;/]"


def _stops_a_thing(said: Statement) -> bool:
    match = _PATTERNS["stopped"].search(said.body) if said.ended else None
    return match is not None and not (match[1] or "").endswith("ing")


def _stance(said: Statement) -> tuple[list[str], bool]:
    """The stems of a statement, and whether it is negated: hating counts as not liking."""
    stems = core_stems(without_when(said.body))
    if stems and stems[0] in _DISLIKES:
        return ["like", *stems[1:]], not said.denied
    if stems and stems[0] in _LIKES:
        return ["like", *stems[1:]], said.denied
    return stems, said.denied


# A statement with more extra words than this is about more than what is negated.
_EXTRA_MAX = 3


def by_negation(now: Statement, then: Statement) -> Verdict | None:
    """Compares statements of which one denies, ends or resumes what the other says."""
    if now.owned != then.owned or _stops_a_thing(now) or _stops_a_thing(then):
        return None
    new, denied = _stance(now)
    old, was_denied = _stance(then)
    if denied == was_denied or not new or not old or new[0] != old[0]:
        return None
    denial, claim = (new, old) if denied else (old, new)
    if not set(denial) <= set(claim) or len(set(claim) - set(denial)) > _EXTRA_MAX:
        return None
    if not denied and len(old) > len(new):
        return None
    certain = now.ended if denied else now.begun
    said = "it is no longer so" if denied else "it is so again"
    if certain and (set(new) == set(old) or not re.search(_SEVERAL, then.body)):
        return Verdict("replaces", said)
    return Verdict("contradicts", "one denies what the other says")


def negation_terms(now: Statement) -> TermSets:
    """Index terms of every statement that `by_negation` may replace: a denial repeats all of what
    it denies, and what is so again says nearly all of its denial."""
    stems, denied = _stance(now)
    if not stems or not (now.ended if denied else now.begun) or _stops_a_thing(now):
        return []
    # A person who liked a thing may have loved or hated it.
    first = [] if stems[0] in ("like", *_TRANSLATED) else stems[:1]
    said = [*first, *stems[1:]]
    return [plain(said)] if denied else nearly_all(said, _EXTRA_MAX) or [plain(first)]


# States

_STATES = (
    ("enabled", "disabled"), ("on", "off"), ("open", "closed"), ("active", "inactive"),
    ("public", "private"), ("true", "false"), ("required", "optional"), ("paused", "running"),
)  # fmt: skip
_STATE_WORDS = frozenset(word for pair in _STATES for word in pair)
_STATE = (
    r"(?i)(?:the )?(?P<what>[\w' .-]{2,60}?) (?:is|are) (?:now |currently |set to )?"
    rf"(?P<value>{'|'.join(word for pair in _STATES for word in pair)})\Z"
)


@lru_cache(maxsize=1_024)
def _state_of(said: Statement) -> tuple[str, str] | None:
    """The thing and its state."""
    plain = without_when(f"{said.subject} {said.body}".strip())
    if plain.rsplit(" ", 1)[-1].lower() not in _STATE_WORDS:
        return None
    match = re.match(_STATE, plain)
    return match and (match["what"], match["value"].lower())


def by_state(now: Statement, then: Statement) -> Verdict | None:
    """Compares statements of opposite states: it was off and is on."""
    new = _state_of(now)
    old = new and _state_of(then)
    if new is None or old is None or attribute_key(new[0]) != attribute_key(old[0]):
        return None
    pair = (new[1], old[1])
    if pair in _STATES or pair[::-1] in _STATES:
        return Verdict("replaces", f"it was {pair[1]} and is {pair[0]}")
    return None


def state_terms(now: Statement) -> TermSets:
    state = _state_of(now)
    return [] if state is None else [index_terms(state[0])]


# Statements


__all__ = [
    "RELATIONS",
    "Relation",
    "Slot",
    "Verdict",
    "can_replace",
    "compare",
    "has_value_of_kind",
    "have_one_topic",
    "is_statement",
    "may_be_about_the_same",
    "may_change",
    "slot_of",
    "subject_of",
    "tells_of_change",
    "terms_of_replaced",
]


class Slot(NamedTuple):
    """An attribute of a subject and its value. The subject '' is the owner of the memory."""

    subject: str
    attribute: str
    value: str
    negated: bool = False


_UNRELATED = Verdict("unrelated", "they are about different things")


def is_statement(text: str) -> bool:
    """Whether a text can be compared at all: one short sentence that claims something."""
    text = text.strip()
    return bool(text) and len(text) <= STATEMENT_CHARS_MAX and "\n" not in text and text[-1] != "?"


@lru_cache(maxsize=KEPT_MAX)
def slot_of(text: str) -> Slot | None:
    """The slot that a statement fills; None where no rule matches, or where it no longer holds."""
    if not is_statement(text):
        return None
    said = _read(text)
    if said.subject == "?" or said.supposed or said.past:
        return None
    found = filled(said)
    if not found:
        return None
    first = found[0]
    value = first.value or first.was
    return Slot(said.subject, first.attribute(), value, said.denied or not first.value)


def can_replace(text: str) -> bool:
    """Whether a statement can replace any other. Most statements fill no slot and need not be
    compared at all."""
    return bool(terms_of_replaced(text))


@lru_cache(maxsize=1_024)
def terms_of_replaced(text: str) -> frozenset[frozenset[str]]:
    """Sets of index terms to find what a statement replaces: whatever it replaces has all terms of
    one of the sets. An empty set is no restriction; where there is no set, it replaces nothing."""
    if not is_statement(text):
        return frozenset()
    now = _read(text)
    if now.subject == "?" or now.supposed or now.past or now.added:
        return frozenset()
    return frozenset(one for rule in _TERMS_OF_REPLACED for one in rule(now))


_TERMS_OF_REPLACED = (
    slot_terms,
    negation_terms,
    state_terms,
    duration_terms,
    amount_terms,
    key_terms,
    relative_terms,
    frame_terms,
    begun_terms,
    old_value_terms,
    ended_terms,
)


def subject_of(text: str) -> str:
    """The subject of a statement: empty for the owner of the memory, '?' if it is unknown."""
    return _read(text).subject


_RULES = (
    by_slot,
    by_old_value,
    by_negation,
    by_state,
    by_duration,
    by_number,
    by_key,
    by_relative,
    by_frame,
    by_kind,
    by_ending,
)


@lru_cache(maxsize=1_024)
def compare(new: str, old: str) -> Verdict:
    """How a new statement relates to an older one."""
    verdict = _compare(new, old)
    if verdict.keeps and (own := _relative_in_own_words(old)):
        verdict = verdict._replace(keeps=own)
    if verdict.relation == "unrelated" and (parts := _two_in_one(old)) is not None:
        first = _compare(new, parts[0])
        if first.relation in ("replaces", "contradicts"):
            return first._replace(keeps=parts[1])
    return verdict


def _two_in_one(text: str) -> tuple[str, str] | None:
    """The two statements of 'Ich wohne in Kassel und arbeite bei Bosch', of which one may end."""
    # 'En' is 'and' in Dutch, and 'in' in Spanish and French.
    for found in _AND.finditer(text):
        first, rest = text[: found.start()], text[found.end() :]
        if as_english(first) != first:
            return first, rest[:1].upper() + rest[1:]
    return None


_AND = lazy(r",? (?:und|et|y|e|en) ")


def _compare(new: str, old: str) -> Verdict:
    if words_key(new) == words_key(old):
        return Verdict("same", "they are the same words")
    if not (is_statement(new) and is_statement(old)):
        return _UNRELATED
    now, then = _read(new), _read(old)
    if now.subject != then.subject and "we" in (now.subject, then.subject):
        now, then = _without_owner(now), _without_owner(then)
    if "?" in (now.subject, then.subject) or now.subject != then.subject:
        return _UNRELATED
    if now.supposed or then.supposed:
        return _UNRELATED
    if _is_paraphrase(now, then):
        return Verdict("same", "they say the same in other words")
    if now.past or then.past or now.added or then.added:
        return _UNRELATED
    for rule in _RULES:
        verdict = rule(now, then)
        if verdict is not None:
            return verdict
    return _UNRELATED


@lru_cache(maxsize=1_024)
def may_be_about_the_same(new: str, old: str) -> bool:
    """Whether a new statement is close enough to an older one to ask which of them holds."""
    if not (is_statement(new) and is_statement(old)):
        return False
    relation = compare(new, old).relation
    if relation != "unrelated":
        return relation in ("contradicts", "replaces")
    return is_close(read(new), read(old))


def has_value_of_kind(new: str, old: str) -> bool:
    """Whether an older statement has a value of the kind that a newer one changes. Of several that
    are close to it, this one is meant."""
    return has_like_value(read(new), read(old))


def tells_of_change(text: str) -> bool:
    """Whether a statement says that something has changed, whatever it is."""
    if not is_statement(text):
        return False
    said = read(text)
    return not said.supposed and (said.denied or _is_told_change(text))


def may_change(new: str, old: str) -> bool:
    """Whether a statement is about the topic of an older one, and reports a change of it, or
    contradicts it."""
    now, then = read(new), read(old)
    is_change = _is_told_change(new) or now.denied != then.denied
    return is_change and _share_a_thing(now, then) and may_be_about_the_same(new, old)


def _is_told_change(text: str) -> bool:
    return _PATTERNS["told change"].search(without_note(text)) is not None


def _share_a_thing(now: Statement, then: Statement) -> bool:
    """Whether two statements share more than what is done, and neither is about somebody whom the
    other leaves out: 'Stopped taking vitamins' is not about 'Takes insulin'."""
    new, old = core_stems(about(now)), set(core_stems(about(then)))
    if now.owned and new and new[0] not in old and _PATTERNS["speaker"].search(now.body) is None:
        return False
    return not without_times(old.intersection(new)) <= _verb_stems()


_STATES_OF_PEOPLE = frozenset("vegan vegetarian allergic rent rents favourite favorite".split())  # noqa: SIM905


@cache
def _verb_stems() -> frozenset[str]:
    # Among the words that statements begin with are some that say what somebody is or has.
    verbs = VERBS - _STATES_OF_PEOPLE
    return frozenset(term for verb in verbs for term in terms(verb))


def have_one_topic(new: str, old: str) -> bool:
    """Whether two statements begin with the same thing, or the newer one tells of a change of
    something that the older one names, so that it may be meant to replace the older one if they
    also mean nearly the same."""
    if not (is_statement(new) and is_statement(old)):
        return False
    now, then = read(new), read(old)
    return same_topic(now, then) or changes_topic(now, then)


def _without_owner(said: Statement) -> Statement:
    """'Our standup is at 9' in the form of 'Standup is at 9' and 'The standup is at 9'."""
    if said.subject == "we" and said.owned:
        return said._replace(subject="", owned=False)
    if said.subject not in ("", "?", "we") and not said.owned:
        return said._replace(subject="", body=f"{said.subject} {said.body}")
    return said


def _is_paraphrase(now: Statement, then: Statement) -> bool:
    first, second = core_stems(now.body), core_stems(then.body)
    flags = (now.denied, now.past, now.owned) == (then.denied, then.past, then.owned)
    if not first or first != second or not flags or now.ended != then.ended:
        return False
    return not turned_around(now.body, then.body)


# Statements in other languages


_ENGLISH = {"name": "Name is {}", "home": "Lives in {}", "moved": "Lives in {}"}
# The stems with which those begin: the text itself has other words.
_TRANSLATED = ("name", "live", "work")
_EMPLOYED = lazy(r"\b(?:bei|beim|chez|bij)\b|在.*(?:工作|上班)|(?:働いて|勤めて)")
_CJK = lazy(r"[぀-ヿ㐀-鿿]")
# A longer value is no name.
_CJK_CHARS_MAX = 12


@lru_cache(maxsize=KEPT_MAX)
def _read(text: str) -> Statement:
    """A statement of any of the languages, taken apart."""
    # A new statement is held against dozens of old ones.
    return read(as_english(text))


# What a statement may begin with, also behind a greeting.
_BEGINNINGS = lazy(r"(?:\A|[,!.:][,!.:\s]*)([^\s,!.:]+)")


@cache
def _first_words() -> frozenset[str]:
    """The words with which statements about oneself begin in all of these languages."""
    lists = read_words("facts/words.txt").items()
    return frozenset(word for name, words in lists if name.startswith("first ") for word in words)


def as_english(text: str) -> str:
    """The English statement with which one about oneself in another language is compared, as it
    fills the same slot: 'Lives in Graz' for 'Ich bin nach Graz gezogen'. Only name, home
    and employer, and only where the value is certain; other text is returned as it is."""
    plain = without_note(text).strip()
    if plain.isascii() and _first_words().isdisjoint(_BEGINNINGS.findall(plain.lower())):
        return text
    found = about_oneself.stated(fold_in_place(plain), plain)
    if found is None:
        return text
    form = _ENGLISH.get(found.slot, "")
    if found.slot == "work" and _EMPLOYED.search(plain):
        form = "Works at {}"
    value = _value(found)
    return form.format(value) if form and value else text


def _value(found: about_oneself.SelfStatement) -> str:
    """The value, and what else is said after it unless that is a time."""
    if not found.value.isascii() and _CJK.search(found.value):
        return found.value if len(found.value) <= _CJK_CHARS_MAX else ""
    name = _PATTERNS["name"].match(found.value)
    if name is None:
        return ""
    rest = "" if found.relative else found.value[name.end() :].strip(" ,")
    if (relative := _PATTERNS["relative elsewhere"].match(rest)) and _kin(relative["who"]):
        rest = f"with my {_kin(relative['who'])} {relative['name']}"
    value = name["name"].rstrip(".,")
    return f"{value}, {rest}" if rest else value


def _kin(word: str) -> str:
    """The English word for a relative, a partner or a pet in one of the languages; else empty."""
    return next((name[4:] for name, words in _KIN.items() if word.lower() in words), "")


_KIN = {
    name: words for name, words in read_words("slots/words.txt").items() if name.startswith("kin ")
}
# How a relative is named, by the word for 'my' behind 'with'.
_IS_CALLED = {
    "meiner": "Meine {} heißt {}", "meinem": "Mein {} heißt {}", "ma": "Ma {} s'appelle {}",
    "mon": "Mon {} s'appelle {}", "mi": "Mi {} se llama {}", "mia": "Mia {} si chiama {}",
    "mio": "Mio {} si chiama {}", "minha": "Minha {} se chama {}", "meu": "Meu {} se chama {}",
    "mijn": "Mijn {} heet {}",
}  # fmt: skip


def _relative_in_own_words(text: str) -> str:
    """'Meine Frau heißt Ana' of 'Ich wohne in Wien mit meiner Frau Ana'; empty of other texts."""
    found = _PATTERNS["relative elsewhere"].search(without_note(text).strip(" ."))
    if found is None or not _kin(found["who"]):
        return ""
    return _IS_CALLED[found["my"].lower()].format(found["who"], found["name"])


# Index terms


@cache
def _synonym_rows() -> tuple[frozenset[str], ...]:
    """Index terms of words that express the same kind of fact, so that one is found by another."""
    rows = []
    for words, *others in read_table("slots/synonyms.txt", joiner=" "):
        plain = " ".join(filter(str.isascii, words.split()))
        rows.append(frozenset([*terms(plain), *" ".join(others).split()]))
    return tuple(rows)


class SearchTerms(NamedTuple):
    """What to search for: the words of the statement, and related words."""

    words: tuple[str, ...]
    kind: tuple[str, ...]


def search_terms_of(text: str) -> SearchTerms:
    """The terms to find older statements about the same thing."""
    words = tuple(query_terms(text))
    own = set(words)
    kind: dict[str, None] = {}
    for row in _synonym_rows():
        if not row.isdisjoint(own):
            kind.update(dict.fromkeys(sorted(row)))
    return SearchTerms(words, tuple(kind))


# Index terms with which a statement may begin, whatever it says.
_OPENINGS = read_words("slots/words.txt")["openings"]


class Sought(NamedTuple):
    """Index terms by which the statements are found that a new one may repeat, replace or
    contradict: its words, and related words. Such a statement begins with one of `openings`, and
    has all terms of one of the sets in `required`; an empty set is no restriction."""

    words: tuple[str, ...]
    kind: tuple[str, ...]
    openings: frozenset[str]
    required: tuple[frozenset[str], ...]


def sought_by(text: str, *, replaced: bool) -> Sought:
    """What to search for; with `replaced`, only what the new statement may replace."""
    words, kind = search_terms_of(text)
    named: frozenset[str] = frozenset()
    subject = subject_of(text)
    # In scripts without spaces, the terms of a name depend on what is written next to it.
    if subject not in ("", "?", "we") and subject.isascii():
        named = frozenset(terms(subject))
    sets = terms_of_replaced(text) if replaced else frozenset([named])
    # What has all terms of a set has those of a smaller one.
    required = tuple(named | one for one in sets if not any(other < one for other in sets))
    # A rival begins with a word of this one, of its kind, or a small word.
    return Sought(words, kind, _OPENINGS.union(words, kind, terms(text)), required)


# How common a word is takes a walk through all that hold it. Long words are rarer, and what is
# close shares most of them.
_CLOSE_TERMS_MAX = 8


def close_terms(text: str) -> tuple[str, ...]:
    """Index terms by which a statement is found that is close to a new one, or begins like it. None
    for most longer texts: it is certain that nothing is, before a store is asked."""
    if not is_statement(text):
        return ()
    now = _read(text)
    is_compared = now.subject != "?" and not (now.supposed or now.past or now.added)
    if not is_compared and not may_be_close(read(text)):
        return ()
    return tuple(sorted(query_terms(text), key=len, reverse=True)[:_CLOSE_TERMS_MAX])
