"""Picks content type, kind, stability, category, tags and layer of a memory by ordered rules."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple, cast

from holdfast.domain.memory import CATEGORIES, KINDS, ContentType, Kind, Layer, Stability
from holdfast.text.analysis.terms import fold
from holdfast.text.classify import rules
from holdfast.text.classify.content_types import SAMPLE_CHARS, content_type_of, language_of
from holdfast.text.classify.titles import heading_of
from holdfast.text.clean import LABEL_CHARS_MAX

# One remembered sentence or three. Beyond this a word proves nothing about the whole text, and
# only its headline is read.
NOTE_CHARS_MAX = 600
# The longest text that goes into MEMORY.md and is injected on every turn; longer texts are
# documents.
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
    """A text as the rules see it; `note` is '' when the text is too long to judge by a word, and
    `words` are those of the note that some rule looks for, or that may begin the name of a
    technology."""

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
    # The words of a note in ASCII are those of its text; folding may change others.
    is_all_read = bool(reading.note) and reading.note.isascii() and not title
    category = category or _category(shape, reading, content)
    kind = kind or _kind(content, shape, category, language, reading)
    return Classified(
        shape,
        cast("Kind", kind),
        _stability(category, kind, reading),
        category,
        tuple(
            tags_of(
                content,
                content_type=shape,
                title=title,
                language=language,
                words=reading.words if is_all_read else None,
            )
        ),
        _layer(content, shape, category, source_path),
    )


class Hinted(NamedTuple):
    """What a hint says of a text."""

    category: str
    kind: str


def read_hint(hint: str | None, content: str, source_path: str | None = None) -> Hinted | None:
    """The category and the kind that a hint names, or that it would give the text as its title;
    None for an empty hint."""
    words = " ".join((hint or "").split()).lower()
    if not words:
        return None
    found = classify(content, title=words, source_path=source_path)
    return Hinted(
        words if words in CATEGORIES else found.category,
        words if words in KINDS else found.kind,
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
    pattern = r"[a-z]+" if note.isascii() else r"[^\W\d_]+"
    words = _telling().intersection(re.findall(pattern, note))
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
        found = _first_match(rules.CATEGORY_RULES, reading.note, reading.words)
        if found:
            return found
        may_name = not reading.note.isascii() or not reading.words.isdisjoint(_openings())
        is_used = may_name and re.search(rules.USED, reading.note) and technologies(content)
        return "project" if is_used else "fact"
    return "decision" if re.search(rules.DECISION_HEADLINE, reading.headline) else "fact"


def _kind(content: str, shape: str, category: str, language: str, reading: _Reading) -> str:
    if shape in ("chat", "transcript") or category in ("conversation", "daily"):
        return "episodic"
    if shape in ("structured", "link", "file"):
        return "semantic"
    if shape == "code":
        return "procedural" if language in _SCRIPTS else "semantic"
    if found := _first_match(rules.HEADLINE_KINDS, reading.headline, frozenset()):
        return found
    if _has_steps(content):
        return "procedural"
    if reading.note:
        found = _first_match(rules.KIND_RULES, reading.note, reading.words)
        return found or ("episodic" if _tells_of_event(reading.note) else "semantic")
    return "semantic"


def _tells_of_event(note: str) -> bool:
    """Whether a line begins with a verb in the past tense, as in 'Fixed the flaky test', and tells
    of something that is over."""
    first, second, *_ = (*note.split(" ", 2), "", "")
    if not first.isalpha() or first in rules.LASTING_CHANGES or second in ("", "in", "by"):
        return False
    from holdfast.text.analysis.word_forms import tense

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
        found = _first_match(rules.STABILITY_RULES, reading.note, reading.words)
        return cast("Stability", found or "evolving")
    is_reference = kind == "semantic" and re.search(rules.STABLE_HEADLINE, reading.headline)
    return "stable" if is_reference else "evolving"


def _layer(content: str, shape: str, category: str, source_path: str | None) -> Layer:
    """`journal` is never guessed: a writer of journals says so."""
    if source_path or shape in _LIBRARY_TYPES or category == "conversation":
        return "library"
    return "library" if len(content) > LONG_TERM_CHARS_MAX else "long_term"


# Guessed tags only fill up to this many; more would be noise next to chosen ones.
TAGS_GUESSED_MAX = 5
# Tags the text itself names are wishes; this is a bound, not a taste.
TAGS_NAMED_MAX = 16
# Technologies are looked for in the title and this much of the text: what it opens with is what
# it is about.
_OPENING_CHARS = 600

# Spelt as they are written. Names that are common words too (Go, Swift, Spring, Express) are left
# out, and those before the bar only count with their own capitals.
_TECHNOLOGIES = """
    Rust Java Ruby Haskell Elixir Scala Deno React Angular Vue Svelte Next.js Nuxt Flask Rails
    Laravel Tailwind Cassandra Kafka Ansible Azure Firebase Jenkins Linux macOS Windows Android iOS
    Git Vim Emacs Figma Notion Obsidian Slack Jira Yarn Vite pandas Anthropic Claude Ollama
    Prometheus Grafana Datadog Sentry Playwright Selenium Jest Prisma Celery Bluetooth
    |
    Python TypeScript JavaScript Kotlin C++ C# PHP Node.js Django FastAPI GraphQL gRPC PostgreSQL
    Postgres MySQL MariaDB SQLite MongoDB Redis Elasticsearch DynamoDB RabbitMQ Docker Kubernetes
    Terraform Nginx AWS GCP Cloudflare Vercel Netlify Supabase GitHub GitLab pnpm npm webpack
    pytest PyTorch TensorFlow NumPy OpenAI LangChain Neovim VSCode WebSocket WebAssembly JWT OAuth
    SQLAlchemy
"""
_SAME_AS = {"postgres": "postgresql"}

_HASHTAG = r"(?<![\w&/#(=\"'])#([^\W\d_][\w-]*(?:/[\w-]+)*)"
# Three, six or eight hexadecimal digits are a colour.
_COLOUR = r"(?i)[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8}"
_CODE = r"(?s)```.*?(?:```|\Z)|`[^`\n]*`"
_FRONT_MATTER = r"(?s)\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)"
_TAGS_FIELD = r"(?mi)^tags:[ \t]*(.*)((?:\n[ \t]*- .*)*)"


def tags_of(
    content: str,
    *,
    content_type: str,
    title: str = "",
    language: str = "",
    words: frozenset[str] | None = None,
) -> list[str]:
    """Named tags first, then the language of code, then technologies, all in lower case. `words`
    are those of the text, or enough of them, where they are known."""
    if content_type == "code":
        return [language or language_of(content)] if language or language_of(content) else []
    if content_type not in ("text", "markdown"):
        return []
    tags = dict.fromkeys(_named(content[:SAMPLE_CHARS]))
    if words is not None and words.isdisjoint(_openings()):
        return list(tags)
    for technology in technologies(f"{title}\n{content[:_OPENING_CHARS]}"):
        if len(tags) < TAGS_GUESSED_MAX:
            tags[technology] = None
    return list(tags)


def technologies(text: str) -> list[str]:
    """The well-known technologies a text names, in order of appearance."""
    # One cheap pass over the words decides whether the long pattern is worth making at all.
    if _openings().isdisjoint(re.findall(r"[a-z]+", text.lower())):
        return []
    found = (match.group().lower() for match in _technology_pattern().finditer(text))
    return list(dict.fromkeys(_SAME_AS.get(name, name) for name in found))


@cache
def _telling() -> frozenset[str]:
    """The words that are looked for in a note."""
    return rules.CUES | _openings()


@cache
def _openings() -> frozenset[str]:
    """The first run of letters of each name."""
    names = _TECHNOLOGIES.replace("|", " ").lower().split()
    return frozenset(found.group() for name in names if (found := re.match(r"[a-z]+", name)))


@cache
def _technology_pattern() -> re.Pattern[str]:
    exact, any_case = (table.split() for table in _TECHNOLOGIES.split("|"))
    forms = "|".join(map(re.escape, exact)) + f"|(?i:{'|'.join(map(re.escape, any_case))})"
    return re.compile(rf"(?<![\w./@-])(?:{forms})(?![\w@+#-]|\.\w)")


def _named(text: str) -> list[str]:
    """Tags of the front matter, then hashtags in the prose."""
    named: list[str] = []
    if text.startswith("---") and (matter := re.match(_FRONT_MATTER, text)):
        if field := re.search(_TAGS_FIELD, matter.group(1)):
            items = re.split(r"[,\n]", field.group(1).strip("[] \t\r") + field.group(2))
            named.extend(item.strip(" \t\r-\"'#") for item in items)
        text = text[matter.end() :]
    if "#" in text:
        hashtags = re.findall(_HASHTAG, re.sub(_CODE, " ", text) if "`" in text else text)
        named.extend(tag for tag in hashtags if len(tag) > 1 and not re.fullmatch(_COLOUR, tag))
    fitting = (" ".join(tag.lower().split()) for tag in named if len(tag) <= LABEL_CHARS_MAX)
    return list(dict.fromkeys(tag for tag in fitting if tag and not set(tag) & set(",;\\")))[
        :TAGS_NAMED_MAX
    ]


def _first_match(table: tuple[rules.ClassifyRule, ...], text: str, words: frozenset[str]) -> str:
    """What the first matching rule gives, or ''."""
    if not text:
        return ""
    is_ascii = text.isascii()
    for gives, _, cues, pattern, sign, opening, inside in table:
        if cues and words.isdisjoint(cues):
            continue
        if not (opening or pattern) or (opening and _compiled(opening).match(text)):
            return gives
        if not pattern or sign not in text or (inside and words.isdisjoint(inside)):
            continue
        # Words of other scripts are not looked for in ASCII.
        if is_ascii and not cues and not pattern.isascii():
            continue
        if _compiled(pattern).search(text):
            return gives
    return ""


_compiled = cache(re.compile)
