"""Parse a question into what recall needs: terms, phrases, exclusions, filters, time and intent.

Only the syntax below has a meaning; every other character, operators of other search engines
included, is plain text. This module knows no store and no ranking: how much a time window or an
intent counts is decided in rank.py.
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
from holdfast.text.dates import DATE_NUMBERS, DATE_WORDS, find_dates, parse_when
from holdfast.text.sentences import SPACES_AND_LINES
from holdfast.text.tables import lazy

# A question is a few sentences; pasted text behind it slows every stage and blurs the vector.
CHARS_MAX = 4_000
# The cost of a full-text query grows with its terms, and beyond a few dozen they only add noise.
TERMS_MAX = 64
# Each phrase and each filter is a separate condition on every candidate row.
PHRASES_MAX = 16
FILTERS_MAX = 16

Field: TypeAlias = Literal["tag", "category", "kind", "key", "source", "before", "after"]
FIELDS: tuple[Field, ...] = get_args(Field)


class FieldCondition(NamedTuple):
    """A condition that a memory must meet, or must not meet if `negated`. The value of `before` and
    `after` is a datetime."""

    field: Field
    value: str | datetime
    negated: bool = False


class Window(NamedTuple):
    """The period that a question mentions, [since, until), and the words that mention it."""

    since: datetime
    until: datetime
    words: str


class Analysis(NamedTuple):
    """A question to recall, parsed."""

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
    # Several sentences: a message in a dialogue rather than a question or a search.
    is_prompt: bool = False
    # A question in a sentence, not a search for keywords.
    is_question: bool = False
    # 'Can you recommend …?': it asks about the world, and the hub knows what the advice depends on.
    asks_advice: bool = False


def analyse(
    text: str, *, now: datetime, zone: tzinfo | None = None, plain: bool = False
) -> Analysis:
    """Parses a question to recall. Raises InvalidInput if it is empty or a filter is not valid.

    `now` and `zone` (UTC by default) resolve dates such as 'last Tuesday'. The query syntax is
    that of a search field. In prose (a text that ends with a question mark, or several sentences)
    quotes and dashes are plain text; in several sentences, and if `plain` is set, colons are too.
    """
    if not text.strip():
        raise InvalidInput("Say what to look for, in a few words: the query is empty.")
    asked = text.strip()
    is_prompt = len(_sentences(asked[:CHARS_MAX])) > 1
    if is_prompt:
        asked = _without_pasted_text(asked)
    cut = len(asked) > CHARS_MAX
    if cut:
        # Cut at a space, so that no half of a filter is left at the end.
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
            # Exclusions alone would match nearly the whole store, so '-i' alone is searched as
            # text.
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
        asks_advice=not is_prompt and _asks_advice(words),
    )


def respelled(analysis: Analysis, names: Mapping[str, str]) -> Analysis:
    """The question with the names in `names` replaced by the spellings they map to."""
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
# Fewer words are an abbreviation, a greeting or a remark, and do not count as a sentence.
_SENTENCE_WORDS_LEAST = 3


def _sentences(text: str) -> list[str]:
    every = SPACES_AND_LINES.split(text)
    return [one for one in every if len(one.split()) >= _SENTENCE_WORDS_LEAST]


# A prompt with fewer index terms of its own ('fix this') asks about the text pasted into it.
_OWN_TERMS_LEAST = 4
# Only the first and last half of this are read: a large pasted file must not take a second.
_PROMPT_CHARS_MAX = 100_000


def _without_pasted_text(prompt: str) -> str:
    """Returns the prompt without the code or log pasted into it. If too little remains to search
    for, that remainder is put in front of the whole prompt."""
    if "\n" not in prompt:
        return prompt
    from holdfast.text.analysis.spans import without_pasted  # few questions need its patterns

    text = prompt
    if len(prompt) > _PROMPT_CHARS_MAX:
        half = _PROMPT_CHARS_MAX // 2
        text = f"{prompt[:half]}\n{prompt[-half:]}"
    written = without_pasted(text)
    if len(written) == len(text):
        return prompt
    if len(query_terms(written)) < _OWN_TERMS_LEAST:
        return f"{written}\n{prompt}"
    return written


# ── filters ──────────────────────────────────────────────────────────────────────────────────

_QUOTES = '"“”„'
_QUOTED = f"[{_QUOTES}]([^{_QUOTES}]+)[{_QUOTES}]"
# A filter at the end of a sentence takes the sentence's punctuation with it.
_VALUE_TAIL = ",;?!." + _QUOTES


@cache
def _filter_pattern() -> re.Pattern[str]:
    # Only at the start of a word, so that `https://…/tag:x` and `note:` are text; and only with a
    # value directly after the colon, so that 'kind: it depends' is text too. Compiled on first use,
    # like the two below: most questions need none of them, and compiling slows down start-up.
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
        # Any other value may be the name of a file or an agent, so it is not validated.
        return FieldCondition(field, value.lower(), negated)
    if field in ("before", "after"):
        when = parse_when(value, now=now, zone=zone or UTC)
        if negated:
            # 'Not before t' means from t on, which is what `after` means: it includes t.
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
    # A minus excludes only at the start of a word and before a letter or a quote, so `gpt-4`, `-5`
    # and a dash between words are text. A minus before a single ASCII letter is text too: nobody
    # wants to exclude every memory with an 'i' in it, but many ask what `rm -r` does.
    return re.compile(rf"(?<!\S)-(?:{_QUOTED}(?!\w)|(?![A-Za-z](?!\S))([^\W\d_]\S*))")


@cache
def _phrase_pattern() -> re.Pattern[str]:
    # A phrase opens after a space and closes before one, so that 5" and 6" are read as sizes.
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
    """Returns the phrases, and the text without the quotation marks around them."""
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
    """Returns one window for all dates in the text: the intersection of periods that overlap, and
    otherwise the span from the first to the last."""
    window: Window | None = None
    if DATE_WORDS.isdisjoint(_LETTERS.findall(words.lower())) and not DATE_NUMBERS.search(words):
        return None  # as most questions
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


_LETTERS = lazy("[a-z]+")

_ADVICE = lazy(
    r"\b(?:recommend|suggest|advise|recommendations?|suggestions?|advice|tips|ideas|help me)\b"
    r"|\b(?:what are|what would be|what['’]s|what is|are there)"
    r" (?:some|a few|any|good|the best|a good)\b",
    re.IGNORECASE,
)
_TO_ONE_ANOTHER = lazy(r"\b(?:i|me|my|we|us|our|you)\b", re.IGNORECASE)
# Advice that was given is a fact: 'Which dentist did you recommend?'
_GIVEN_BEFORE = lazy(r"\b(?:did|gave|given|said|told|was|were|had)\b", re.IGNORECASE)


def _asks_advice(words: str) -> bool:
    return bool(
        _ADVICE.search(words) and _TO_ONE_ANOTHER.search(words) and not _GIVEN_BEFORE.search(words)
    )


# The first that matches counts: 'why did we choose how to deploy' asks for the reason.
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


# What is between two words; a word; what has a digit or an underscore in front.
_NAME = lazy(r"(?P<between>\W+)|(?P<word>[^\W\d_](?:[^\W_]|['’-](?=\w))*)|\w+")
_SENTENCE_BEGINS = lazy(r"[.!?:]\s")


def _names(words: str) -> tuple[str, ...]:
    """The capitalised words that do not begin a sentence: probably names."""
    if words[1:].islower():
        return ()
    names: dict[str, None] = {}
    begins = True
    for found in _NAME.finditer(words):
        if (between := found["between"]) is not None:
            begins = found.start() == 0 or _SENTENCE_BEGINS.search(between) is not None
            continue
        word, is_first, begins = found["word"], begins, False
        if word is None or is_first or not word[0].isupper() or word.isupper():
            continue
        name = re.sub("['’]s$", "", word)
        if not is_stop(name):
            names[name] = None
    return tuple(names)


Label = TypeVar("Label", bound=str)


def read_conditions(
    wanted: Filter, conditions: Sequence[FieldCondition]
) -> tuple[Filter, list[Filter]]:
    """Returns the caller's filter, narrowed by the conditions in a question (`tag:x`,
    `after:May`), and the filters that a memory must not match (`-kind:y`)."""
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
            return wanted._replace(key=value if wanted.key in (None, value) else _MATCHES_NOTHING)
        case _ if value in SOURCES:
            return wanted._replace(sources=_narrower(wanted.sources, value))
        case _:
            return wanted._replace(
                came_from=value if wanted.came_from is None else _MATCHES_NOTHING
            )


# No memory has this key, category or source, because labels are stripped of spaces.
_MATCHES_NOTHING: Any = " "


def _narrower(allowed: tuple[Label, ...], value: Label) -> tuple[Label, ...]:
    """Returns the one value that is left. A question can narrow the caller's filter but never
    widen it: a value that the caller did not allow matches nothing."""
    return (value,) if not allowed or value in allowed else (_MATCHES_NOTHING,)
