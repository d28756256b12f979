"""Read a question into what recall needs: terms, phrases, exclusions, filters, a time, an intent.

Only what is written below has a meaning; every other character, also the operators of a search
engine, is a character like any other. It knows no store and no ranking: what a window or an
intent is worth is decided where hits are ranked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

from holdfast.domain.memory import KINDS, SOURCES, Kind
from holdfast.domain.query import EVERYTHING, Filter
from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import is_stop, phrase_terms, query_terms
from holdfast.text.dates import find_dates, parse_when
from holdfast.text.sentences import SPACES_AND_LINES
from holdfast.text.tables import lazy

# A question is a few sentences; what is pasted after that slows every stage and blurs the vector.
CHARS_MAX = 4_000
# The cost of a full-text query grows with its terms, and past some dozens they only add noise.
TERMS_MAX = 64
# Each is a condition of its own on every candidate row.
PHRASES_MAX = 16
FILTERS_MAX = 16

Field: TypeAlias = Literal["tag", "category", "kind", "key", "source", "before", "after"]
FIELDS: tuple[Field, ...] = get_args(Field)


class FieldCondition(NamedTuple):
    """A condition a memory must meet, or with `negated` must not; before and after hold times."""

    field: Field
    value: str | datetime
    negated: bool = False


class Window(NamedTuple):
    """The time a question speaks of, [since, until), and the words that say so."""

    since: datetime
    until: datetime
    words: str


class Analysis(NamedTuple):
    """A question, taken apart."""

    text: str
    words: str
    terms: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    filters: tuple[FieldCondition, ...] = ()
    window: Window | None = None
    kind: Kind | None = None
    names: tuple[str, ...] = ()
    cut: bool = False
    # Several sentences: part of a dialogue rather than a question or a search.
    is_prompt: bool = False
    # Asked in a sentence, and no search for words.
    is_question: bool = False


def analyse(
    text: str, *, now: datetime, zone: tzinfo | None = None, plain: bool = False
) -> Analysis:
    """Take a question apart; InvalidInput when it is empty or a filter makes no sense.

    `now` and `zone` settle what 'last Tuesday' means; without a zone days are those of UTC. The
    query language is that of a search field. In a question in prose (one that ends with a question
    mark, or several sentences) quotes and dashes are text; in several sentences, and in a `plain`
    question, colons are as well.
    """
    if not text.strip():
        raise InvalidInput("Say what to look for, in a few words: the query is empty.")
    asked = text.strip()
    is_prompt = len(_sentences(asked[:CHARS_MAX])) > 1
    if is_prompt:
        asked = _written(asked)
    cut = len(asked) > CHARS_MAX
    if cut:
        # At a space, so that no half a filter is left at the end.
        asked = asked[:CHARS_MAX].rsplit(None, 1)[0]
    filters: tuple[FieldCondition, ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    words = asked
    if not plain and not is_prompt:
        filters, words = _take_filters(asked, now=now, zone=zone)
    if not plain and not is_prompt and not asked.endswith("?"):
        rest = words
        excluded, words = _take_exclusions(rest)
        if excluded and not filters and not _WORD.search(words):
            # Everything but these would be the whole store; a query of '-i' alone means '-i'.
            excluded, words = (), rest
        phrases, words = _take_phrases(words)
    words = " ".join(words.split())
    terms = query_terms(words)
    return Analysis(
        text=text,
        words=words,
        terms=tuple(terms[:TERMS_MAX]),
        phrases=phrases,
        excluded=excluded,
        filters=filters,
        window=_window(words, now=now, zone=zone),
        kind=_intent(words),
        names=_names(words),
        cut=cut or len(terms) > TERMS_MAX,
        is_prompt=is_prompt,
        is_question=bool(_QUESTION.match(asked)),
    )


def respelled(analysis: Analysis, names: Mapping[str, str]) -> Analysis:
    """The question with these names written in another way."""
    words = analysis.words
    for name, other in names.items():
        words = re.sub(rf"\b{re.escape(name)}\b", other, words)
    terms = tuple(query_terms(words)[:TERMS_MAX])
    return analysis._replace(words=words, terms=terms, names=_names(words))


_QUESTION = lazy(
    r"(?:who|whom|whose|what|when|where|which|why|how|am|is|are|was|were|do|does|did|can|could|has"
    r"|have|had|may|must|will|would|should)\s|[^?]*\?\s*$",
    re.IGNORECASE,
)
# Fewer words are an abbreviation, a greeting or a remark.
_SENTENCE_WORDS_LEAST = 3


def _sentences(text: str) -> list[str]:
    every = SPACES_AND_LINES.split(text)
    return [one for one in every if len(one.split()) >= _SENTENCE_WORDS_LEAST]


# Fewer telling words ('fix this') ask about what was pasted.
_WRITTEN_TERMS_LEAST = 4
# More is never read; a file that was pasted whole must not take a second.
_WRITTEN_CHARS_MAX = 100_000


def _written(prompt: str) -> str:
    """What a prompt asks, without the code or log that was pasted into it; text that is too short
    to be asked alone is put before what was pasted."""
    if "\n" not in prompt:
        return prompt
    from holdfast.text.analysis.spans import without_pasted  # few questions need its patterns

    text = prompt
    if len(prompt) > _WRITTEN_CHARS_MAX:
        half = _WRITTEN_CHARS_MAX // 2
        text = f"{prompt[:half]}\n{prompt[-half:]}"
    written = without_pasted(text)
    if len(written) == len(text):
        return prompt
    if len(query_terms(written)) < _WRITTEN_TERMS_LEAST:
        return f"{written}\n{prompt}"
    return written


# ── filters ──────────────────────────────────────────────────────────────────────────────────

_QUOTES = '"“”„'
_QUOTED = f"[{_QUOTES}]([^{_QUOTES}]+)[{_QUOTES}]"
# A filter at the end of a sentence takes the sentence's punctuation with it.
_VALUE_TAIL = ",;?!." + _QUOTES


@cache
def _filter_pattern() -> re.Pattern[str]:
    # At the start of a word only, so that `https://…/tag:x` and `note:` are text; and with a value
    # right behind the colon, so that 'kind: it depends' is text too. Compiled when first needed,
    # like the two below, since most questions need none and each costs a fraction of the start.
    fields = "|".join(FIELDS)
    return re.compile(rf"(?<!\S)(-?)({fields}):(?:{_QUOTED}(?!\w)|(\S+))", re.IGNORECASE)


def _take_filters(
    text: str, *, now: datetime, zone: tzinfo | None
) -> tuple[tuple[FieldCondition, ...], str]:
    if ":" not in text:
        return (), text
    filters: list[FieldCondition] = []

    def take(found: re.Match[str]) -> str:
        minus, name, quoted, bare = found.groups()
        value = (quoted or bare.lstrip(_QUOTES).rstrip(_VALUE_TAIL)).strip()
        filters.append(_filter(name.lower(), value, bool(minus), now=now, zone=zone))
        return " "

    rest = _filter_pattern().sub(take, text)
    if len(filters) > FILTERS_MAX:
        raise InvalidInput(
            f"The query has {len(filters)} filters.", hint=f"Use at most {FILTERS_MAX}."
        )
    _check_window(filters)
    return tuple(dict.fromkeys(filters)), rest


def _filter(
    name: str, value: str, negated: bool, *, now: datetime, zone: tzinfo | None
) -> FieldCondition:
    field = next(known for known in FIELDS if known == name)
    if not value:
        raise InvalidInput(
            f"The filter '{field}:' has no value.",
            hint=f'Write {field}:value or {field}:"two words".',
        )
    if field == "kind":
        return FieldCondition(field, _kind(value), negated)
    if field == "source" and value.lower() in SOURCES:
        # Any other value may name a file or an agent, so it cannot be wrong here.
        return FieldCondition(field, value.lower(), negated)
    if field in ("before", "after"):
        when = parse_when(value, now=now, zone=zone or UTC)
        if negated:
            # Not before a moment is from it on: the same as after, which begins with it.
            field = "after" if field == "before" else "before"
        return FieldCondition(field, when)
    return FieldCondition(field, value, negated)


def _kind(value: str) -> str:
    if value.lower() in KINDS:
        return value.lower()
    from difflib import get_close_matches  # only for the sentence of an error

    near = get_close_matches(value.lower(), KINDS, n=1, cutoff=0.0)
    raise InvalidInput(
        f"'{value}' is not a kind.",
        hint=f"Did you mean kind:{near[0]}? There are {', '.join(KINDS)}.",
    )


def _check_window(filters: list[FieldCondition]) -> None:
    after = [f.value for f in filters if f.field == "after" and isinstance(f.value, datetime)]
    before = [f.value for f in filters if f.field == "before" and isinstance(f.value, datetime)]
    if after and before and max(after) >= min(before):
        raise InvalidInput(
            f"Nothing can be after {max(after):%Y-%m-%d %H:%M} and before "
            f"{min(before):%Y-%m-%d %H:%M} (UTC).",
            hint="Swap the two dates, or drop one.",
        )


# ── exclusions and phrases ───────────────────────────────────────────────────────────────────

_WORD = lazy(r"\w")


@cache
def _exclusion_pattern() -> re.Pattern[str]:
    # A minus counts at the start of a word only, and before a letter or a quote: so `gpt-4`, `-5`
    # and a dash between words are text. Nor before a single ASCII letter: nobody means to leave
    # out every memory with an 'i' in it, but many ask what `rm -r` does.
    return re.compile(rf"(?<!\S)-(?:{_QUOTED}(?!\w)|(?![A-Za-z](?!\S))([^\W\d_]\S*))")


@cache
def _phrase_pattern() -> re.Pattern[str]:
    # A quote opens after a space and closes before one, so that 5" and 6" are sizes.
    return re.compile(rf"(?<![^\s(\[]){_QUOTED}(?!\w)")


def _take_exclusions(text: str) -> tuple[tuple[tuple[str, ...], ...], str]:
    if "-" not in text:
        return (), text
    excluded: list[tuple[str, ...]] = []

    def take(found: re.Match[str]) -> str:
        terms = tuple(phrase_terms(found.group(1) or found.group(2)))
        if not terms or len(excluded) >= PHRASES_MAX:
            return found.group()
        excluded.append(terms)
        return " "

    rest = _exclusion_pattern().sub(take, text)
    return tuple(dict.fromkeys(excluded)), rest


def _take_phrases(text: str) -> tuple[tuple[tuple[str, ...], ...], str]:
    """The phrases, and the text with their words but without their quotes."""
    if not any(quote in text for quote in _QUOTES):
        return (), text
    phrases: list[tuple[str, ...]] = []

    def take(found: re.Match[str]) -> str:
        terms = tuple(phrase_terms(found.group(1)))
        if not terms or len(phrases) >= PHRASES_MAX:
            return found.group()
        phrases.append(terms)
        return found.group(1)

    rest = _phrase_pattern().sub(take, text)
    return tuple(dict.fromkeys(phrases)), rest


# ── time, intent, names ──────────────────────────────────────────────────────────────────────


def _window(words: str, *, now: datetime, zone: tzinfo | None) -> Window | None:
    """Times that overlap narrow each other; times apart are spanned, from the first to the last."""
    window: Window | None = None
    for found in find_dates(words, now=now, zone=zone or UTC):
        if window is None:
            window = Window(found.since, found.until, found.words)
            continue
        said = f"{window.words}, {found.words}"
        if found.since < window.until and window.since < found.until:
            since, until = max(window.since, found.since), min(window.until, found.until)
        else:
            since, until = min(window.since, found.since), max(window.until, found.until)
        window = Window(since, until, said)
    return window


# In this order: 'why did we choose how to deploy' asks for the reason.
_INTENTS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("rationale", lazy(r"\b(?:why|reasons?|rationale|how come)\b", re.IGNORECASE)),
    (
        "procedural",
        lazy(
            r"\bhow (?:do|can|could|should|would) (?:i|we|you|one)\b|\bhow to\b"
            r"|\bsteps (?:to|for)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "episodic",
        lazy(
            r"^\W*when\b|\bwhen (?:did|was|were|is|will|have|has|had)\b|\bwhat happened\b"
            r"|\bwhat (?:did|have|has) .{1,60}? (?:say|said|tell|told|mention)",
            re.IGNORECASE,
        ),
    ),
)


def _intent(words: str) -> Kind | None:
    for kind, pattern in _INTENTS:
        if pattern.search(words):
            return kind
    return None


# A word with the mark before it, if any, that makes it the first of a sentence.
_NAME = lazy(r"(^\W*|[.!?:]\s+\W*)?\b([^\W\d_](?:[^\W_]|['’-](?=\w))*)")


def _names(words: str) -> tuple[str, ...]:
    """Words written like a name where a plain word would not be: inside a sentence."""
    names: dict[str, None] = {}
    for found in _NAME.finditer(words):
        word = found.group(2)
        if found.group(1) is not None or not word[0].isupper() or word.isupper():
            continue
        name = re.sub("['’]s$", "", word)
        if not is_stop(name):
            names[name] = None
    return tuple(names)


Label = TypeVar("Label", bound=str)


def read_conditions(
    wanted: Filter, conditions: Sequence[FieldCondition]
) -> tuple[Filter, list[Filter]]:
    """The caller's filter narrowed by the conditions of a question (`tag:x`, `-kind:y`,
    `after:May`), and the filters that must not be met."""
    unwanted = []
    for condition in conditions:
        if condition.negated:
            unwanted.append(_narrowed(EVERYTHING, condition))
        else:
            wanted = _narrowed(wanted, condition)
    return wanted, unwanted


def _narrowed(wanted: Filter, condition: FieldCondition) -> Filter:
    value = condition.value
    if isinstance(value, datetime):
        if condition.field == "after":
            return wanted._replace(since=max(value, wanted.since or value))
        return wanted._replace(until=min(value, wanted.until or value))
    match condition.field:
        case "tag":
            return wanted._replace(tags=(*wanted.tags, value.lower()))
        case "category":
            return wanted._replace(categories=_narrower(wanted.categories, value.lower()))
        case "kind":
            return wanted._replace(kinds=_narrower(wanted.kinds, cast(Kind, value)))
        case "key":
            return wanted._replace(key=value if wanted.key in (None, value) else _NOTHING)
        case _ if value in SOURCES:
            return wanted._replace(sources=_narrower(wanted.sources, value))
        case _:
            return wanted._replace(came_from=value if wanted.came_from is None else _NOTHING)


# No memory has this key, category or source: a space is taken off every label.
_NOTHING: Any = " "


def _narrower(allowed: tuple[Label, ...], value: Label) -> tuple[Label, ...]:
    """The question may narrow what the caller asked for, and never widen it."""
    return (value,) if not allowed or value in allowed else (_NOTHING,)
