"""Pick content type, kind, stability, category, tags and layer of a memory by ordered rules.

The first rule that matches decides; what the caller gave is never overruled. Precision comes
before recall: a wrong label hides a memory from a filter, the default hides nothing. The tables
are in `rules` and in words in docs/reference/classification.md. It reads the text only,
and no store, clock or caller.
"""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from holdfast.domain.memory import ContentType, Kind, Layer, Stability
from holdfast.text.classify import rules
from holdfast.text.content_types import SAMPLE_CHARS, content_type_of, language_of
from holdfast.text.tags import tags_of, technologies
from holdfast.text.terms import fold
from holdfast.text.titles import heading_of

# One remembered sentence or three. Beyond this a word proves nothing about the whole text, and
# only its headline is read.
NOTE_CHARS_MAX = 600
# What may stand in MEMORY.md and be injected on every turn; longer texts are documents.
LONG_TERM_CHARS_MAX = 2_000
# A headline is a line, not a paragraph that happens to come first.
_HEADLINE_CHARS_MAX = 120

_LIBRARY_TYPES = ("code", "structured", "link", "chat", "transcript", "file")
_SCRIPTS = ("shell", "docker", "make", "powershell")


class Classified(NamedTuple):
    """How a memory is filed."""

    content_type: ContentType
    kind: Kind
    stability: Stability
    category: str
    tags: tuple[str, ...]
    layer: Layer


class _Reading(NamedTuple):
    """A text as the rules see it; `note` is '' when the text is too long to judge by a word."""

    headline: str
    note: str
    words: frozenset[str]


def classify(
    content: str,
    *,
    title: str = "",
    category: str | None = None,
    source_path: str | None = None,
    content_type: str | None = None,
    kind: str | None = None,
) -> Classified:
    """File a memory; `category`, `content_type` and `kind`, where given, stay as they are."""
    shape = cast("ContentType", content_type or content_type_of(content, source_path))
    language = language_of(content, source_path) if shape == "code" else ""
    reading = _read(content, title, shape)
    category = category or _category(shape, reading, content)
    kind = kind or _kind(content, shape, category, language, reading)
    return Classified(
        shape,
        cast("Kind", kind),
        _stability(category, kind, reading),
        category,
        tuple(tags_of(content, content_type=shape, title=title, language=language)),
        _layer(content, shape, category, source_path),
    )


def _read(content: str, title: str, shape: str) -> _Reading:
    text = content.strip()
    headline = title.strip() or heading_of(text) or _first_line(text)
    # A note of one line has no headline: its own words, repeated as a title, are none.
    is_echo = "\n" not in text and text.startswith(headline.rstrip("…"))
    if is_echo or len(headline) > _HEADLINE_CHARS_MAX:
        headline = ""
    is_note = len(text) <= NOTE_CHARS_MAX and shape in ("text", "markdown")
    # Marks that open a line (a bullet, bold) would hide how the sentence begins.
    note = fold(text).lstrip("#*->• ") if is_note else ""
    words = frozenset(re.findall(r"[^\W\d_]+", note))
    return _Reading(fold(headline).lstrip("#*->• "), note, words)


def _first_line(text: str) -> str:
    """The first line that says something: blank lines and rules do not."""
    lines = text[:SAMPLE_CHARS].splitlines()
    return next((line for line in lines if any(map(str.isalnum, line))), "")


def _category(shape: str, reading: _Reading, content: str) -> str:
    """`core` and `daily` are never guessed: one is always shown, the other expires."""
    if shape in ("chat", "transcript"):
        return "conversation"
    if reading.note:
        found = rules.first_match(rules.CATEGORY_RULES, reading.note, reading.words)
        if found:
            return found
        is_used = re.search(rules.USED, reading.note) and technologies(content)
        return "project" if is_used else "fact"
    return "decision" if re.search(rules.DECISION_HEADLINE, reading.headline) else "fact"


def _kind(content: str, shape: str, category: str, language: str, reading: _Reading) -> str:
    if shape in ("chat", "transcript") or category in ("conversation", "daily"):
        return "episodic"
    if shape in ("structured", "link", "file"):
        return "semantic"
    if shape == "code":
        return "procedural" if language in _SCRIPTS else "semantic"
    if found := rules.first_match(rules.HEADLINE_KINDS, reading.headline, frozenset()):
        return found
    if _has_steps(content):
        return "procedural"
    if reading.note:
        found = rules.first_match(rules.KIND_RULES, reading.note, reading.words)
        return found or ("episodic" if _tells_of_event(reading.note) else "semantic")
    return "semantic"


def _tells_of_event(note: str) -> bool:
    """Whether a line begins with a verb in the past tense, as in 'Fixed the flaky test', and tells
    of something that is over."""
    first, second, *_ = (*note.split(" ", 2), "", "")
    if not first.isalpha() or first in rules.LASTING_CHANGES or second in ("", "in", "by"):
        return False
    from holdfast.text.word_forms import tense

    return tense(first) == "past"


def _has_steps(content: str) -> bool:
    """Two or more numbered lines, most of which begin with an order."""
    if "\n" not in content:
        return False
    steps = re.findall(r"(?mi)^[ \t]*(?:step )?\d+[.):] +(?:\*\*|`)?(\w+)", content[:SAMPLE_CHARS])
    orders = sum(1 for word in steps if word.lower() in rules.STEP_ORDERS)
    return orders >= 2 and orders > len(steps) / 2


def _stability(category: str, kind: str, reading: _Reading) -> Stability:
    if category in ("daily", "conversation") or kind == "episodic":
        return "volatile"
    # What is core to a person, and why something was chosen, do not go stale.
    if category == "core" or kind == "rationale":
        return "stable"
    if reading.note:
        found = rules.first_match(rules.STABILITY_RULES, reading.note, reading.words)
        return cast("Stability", found or "evolving")
    is_reference = kind == "semantic" and re.search(rules.STABLE_HEADLINE, reading.headline)
    return "stable" if is_reference else "evolving"


def _layer(content: str, shape: str, category: str, source_path: str | None) -> Layer:
    """`journal` is never guessed: whoever writes a journal says so."""
    if source_path or shape in _LIBRARY_TYPES or category == "conversation":
        return "library"
    return "library" if len(content) > LONG_TERM_CHARS_MAX else "long_term"
