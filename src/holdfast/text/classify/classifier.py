"""Files a memory: content type by the shape of the text or the extension of its file, then kind,
stability, category, tags and layer by the ordered rules in `rules.txt`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import cast

from holdfast.domain.memory import CATEGORIES, KINDS, ContentType, Kind, Layer, Stability
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import fold
from holdfast.text.classify.titles import FRONT_MATTER, heading_of
from holdfast.text.clean import LABEL_CHARS_MAX
from holdfast.text.tables import Patterns, lazy, pieces, read_table, read_words

_PATTERNS = Patterns("classify/patterns.txt")

# Patterns over lines look at no more than this, so that a 3 MB file costs what a page costs.
SAMPLE_CHARS = 20_000
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
    """The fields of a memory that are chosen by rules: its type, kind, category and so on."""

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
    """The category and kind that a caller's hint suggests for a text."""

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


_ASCII_WORD = lazy(r"[a-z]+")
_WORD = lazy(r"[^\W\d_]+")


def _read(content: str, title: str, shape: str) -> _Reading:
    text = content.strip()
    headline = title.strip() or heading_of(text) or _first_line(text)
    # A note of one line has no headline: its own words, repeated as a title, do not count.
    is_echo = "\n" not in text and text.startswith(headline.rstrip("…"))
    if is_echo or len(headline) > _HEADLINE_CHARS_MAX:
        headline = ""
    is_note = len(text) <= NOTE_CHARS_MAX and shape in ("text", "markdown")
    # Marks that open a line (a bullet, bold) would hide how the sentence begins.
    note = fold(text).lstrip("#*->• ") if is_note else ""
    words = _cue_words().intersection((_ASCII_WORD if note.isascii() else _WORD).findall(note))
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
        found = _first_match("category", reading.note, reading.words)
        if found:
            return found
        may_name = not reading.note.isascii() or not reading.words.isdisjoint(_openings())
        is_used = may_name and _PATTERNS["used"].search(reading.note) and technologies(content)
        return "project" if is_used else "fact"
    return "decision" if _PATTERNS["decision headline"].search(reading.headline) else "fact"


def _kind(content: str, shape: str, category: str, language: str, reading: _Reading) -> str:
    if shape in ("chat", "transcript") or category in ("conversation", "daily"):
        return "episodic"
    if shape in ("structured", "link", "file"):
        return "semantic"
    if shape == "code":
        return "procedural" if language in _SCRIPTS else "semantic"
    if found := _first_match("headline", reading.headline, frozenset()):
        return found
    if _has_steps(content):
        return "procedural"
    if reading.note:
        found = _first_match("kind", reading.note, reading.words)
        return found or ("episodic" if _tells_of_event(reading.note) else "semantic")
    return "semantic"


def _tells_of_event(note: str) -> bool:
    """Whether a line begins with a verb in the past tense, as in 'Fixed the flaky test', and is
    about something that is over."""
    first, second, *_ = (*note.split(" ", 2), "", "")
    if not first.isalpha() or first in _words("lasting changes") or second in ("", "in", "by"):
        return False
    from holdfast.text.analysis.word_forms import tense

    return tense(first) == "past"


def _has_steps(content: str) -> bool:
    """Two or more numbered lines, most of which begin with an order."""
    if "\n" not in content:
        return False
    steps = re.findall(r"(?mi)^[ \t]*(?:step )?\d+[.):] +(?:\*\*|`)?(\w+)", content[:SAMPLE_CHARS])
    known = _words("step orders")
    orders = sum(1 for word in steps if word.lower() in known)
    return orders >= 2 and orders > len(steps) / 2


def _stability(category: str, kind: str, reading: _Reading) -> Stability:
    if category in ("daily", "conversation") or kind == "episodic":
        return "volatile"
    # What is core to a person, and why something was chosen, do not go stale.
    if category == "core" or kind == "rationale":
        return "stable"
    if reading.note:
        found = _first_match("stability", reading.note, reading.words)
        return cast("Stability", found or "evolving")
    is_reference = kind == "semantic" and _PATTERNS["stable headline"].search(reading.headline)
    return "stable" if is_reference else "evolving"


def _layer(content: str, shape: str, category: str, source_path: str | None) -> Layer:
    """`journal` is never guessed: a writer of journals says so."""
    if source_path or shape in _LIBRARY_TYPES or category == "conversation":
        return "library"
    return "library" if len(content) > LONG_TERM_CHARS_MAX else "long_term"


# Rules


class ClassifyRule(NamedTuple):
    """A rule of the classifier: a row of its `rules.txt`. One of `cues` must be a word of the text
    (no cues: any text will do), and the text must begin with `opening` or hold `pattern` (neither
    of them: the cue is enough). Cues also spare most patterns from being run, and so do `inside`,
    words of which `pattern` needs one, and `sign`, characters without which it matches nothing."""

    gives: str
    sign: str
    name: str
    example: str
    cues: frozenset[str]
    inside: frozenset[str]
    opening: str
    pattern: str


@cache
def rules() -> dict[str, tuple[ClassifyRule, ...]]:
    """The table of rules of the classifier, by what is decided."""
    found: dict[str, list[ClassifyRule]] = {}
    for table, gives, sign, name, example, *cells in read_table("classify/rules.txt"):
        cues, inside, opening, pattern = ("" if cell == "-" else cell for cell in cells)
        words = frozenset(cues.split()), frozenset(inside.split())
        row = ClassifyRule(gives, sign.strip("-"), name, example, *words, opening, pattern)
        found.setdefault(table, []).append(row)
    return {table: tuple(rows) for table, rows in found.items()}


@cache
def _cue_words() -> frozenset[str]:
    """The words that are looked for in a note."""
    cues = (words for rows in rules().values() for row in rows for words in (row.cues, row.inside))
    return frozenset[str]().union(_openings(), *cues)


def _first_match(table: str, text: str, words: frozenset[str]) -> str:
    """The value of the first matching rule, or ''."""
    rule = matching(table, text, words)
    return "" if rule is None else rule.gives


def matching(table: str, text: str, words: frozenset[str]) -> ClassifyRule | None:
    """The first rule that matches a folded text; `words` are those of it that some rule needs."""
    if not text:
        return None
    without_cues, by_cue = _tried(table, text.isascii())
    tried: Sequence[int] = without_cues
    if cued := by_cue.keys() & words:
        tried = sorted({*without_cues, *(at for word in cued for at in by_cue[word])})
    of_table = rules()[table]
    for at in tried:
        rule = of_table[at]
        _, sign, _, _, _, inside, opening, pattern = rule
        if not (opening or pattern) or (opening and _compiled(opening).match(text)):
            return rule
        if not pattern or sign not in text or (inside and words.isdisjoint(inside)):
            continue
        if _compiled(pattern).search(text):
            return rule
    return None


@cache
def _tried(table: str, is_ascii: bool) -> tuple[tuple[int, ...], dict[str, list[int]]]:
    """The places of the rules that are tried for any text, and of those for a word."""
    without_cues: list[int] = []
    by_cue: dict[str, list[int]] = {}
    for at, rule in enumerate(rules()[table]):
        for cue in rule.cues:
            by_cue.setdefault(cue, []).append(at)
        # Words of other scripts are not looked for in ASCII.
        if not rule.cues and (rule.opening or not is_ascii or rule.pattern.isascii()):
            without_cues.append(at)
    return tuple(without_cues), by_cue


_compiled = cache(re.compile)


def _words(name: str) -> frozenset[str]:
    return read_words("classify/words.txt")[name]


# Tags

# Guessed tags only fill up to this many; more would be noise next to chosen ones.
TAGS_GUESSED_MAX = 5
# Tags the text itself names are wishes; this is a bound, not a taste.
TAGS_NAMED_MAX = 16
# Technologies are searched in the title and this much of the text, because a text begins with its
# topic.
_OPENING_CHARS = 600
_SAME_AS = {"postgres": "postgresql"}


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
def _openings() -> frozenset[str]:
    """The first run of letters of each name."""
    names = " ".join(_words("technologies") | _words("technologies with capitals")).lower().split()
    return frozenset(found.group() for name in names if (found := re.match(r"[a-z]+", name)))


@cache
def _technology_pattern() -> re.Pattern[str]:
    exact, any_case = _words("technologies with capitals"), _words("technologies")
    forms = "|".join(map(re.escape, exact)) + f"|(?i:{'|'.join(map(re.escape, any_case))})"
    return re.compile(rf"(?<![\w./@-])(?:{forms})(?![\w@+#-]|\.\w)")


def _named(text: str) -> list[str]:
    """Tags of the front matter, then hashtags in the prose."""
    named: list[str] = []
    if text.startswith("---") and (matter := FRONT_MATTER.match(text)):
        if field := _PATTERNS["tags field"].search(matter.group(1)):
            items = re.split(r"[,\n]", field.group(1).strip("[] \t\r") + field.group(2))
            named.extend(item.strip(" \t\r-\"'#") for item in items)
        text = text[matter.end() :]
    if "#" in text:
        hashtags = _PATTERNS["hashtag"].findall(
            _PATTERNS["code"].sub(" ", text) if "`" in text else text
        )
        named.extend(
            tag for tag in hashtags if len(tag) > 1 and not _PATTERNS["colour"].fullmatch(tag)
        )
    fitting = (" ".join(tag.lower().split()) for tag in named if len(tag) <= LABEL_CHARS_MAX)
    return list(dict.fromkeys(tag for tag in fitting if tag and not set(tag) & set(",;\\")))[
        :TAGS_NAMED_MAX
    ]


# Content types

_LANGUAGE_OF_FILE = {"dockerfile": "docker", "makefile": "make", "jenkinsfile": "groovy"}


@cache
def _by_extension(kind: str) -> dict[str, str]:
    """The content type (`type`) or the programming language (`language`) by a file's extension."""
    lists = (
        (name.removeprefix(f"{kind} "), extensions)
        for name, extensions in read_words("classify/words.txt").items()
        if name.startswith(f"{kind} ")
    )
    return {extension: name for name, extensions in lists for extension in extensions}


_ROLES = {"user", "assistant", "human", "ai", "system", "bot", "agent", "me", "you"}
_ROLES |= {"claude", "chatgpt", "gpt"}
_COMMENTS = ("//", "/*", "*", "--", "# ")
# The rest of a text must look like code as well, but for a stray line or two.
_CODE_SHARE_MIN = 0.7


class FirstLine(NamedTuple):
    """A row of `first_lines.txt`: how the first line of code in a language begins, and all of
    it."""

    language: str
    example: str
    openings: tuple[str, ...]
    pattern: str


@cache
def first_lines() -> tuple[FirstLine, ...]:
    return tuple(
        FirstLine(language, example, pieces(openings) or ("",), pattern)
        for language, example, openings, pattern in read_table("classify/first_lines.txt")
    )


@cache
def _code_openings() -> tuple[str, ...]:
    """How all but CSS begins, which is known by the end of its line."""
    return tuple({one for row in first_lines() for one in row.openings if one})


def content_type_of(content: str, source_path: str | None = None) -> ContentType:
    """The content type of a memory, by the file's extension, else by the text's own shape."""
    if source_path:
        extension, name = _extension(source_path)
        if known := _by_extension("type").get(extension):
            return cast("ContentType", known)
        if extension in _by_extension("language") or name in _LANGUAGE_OF_FILE:
            return "code"
    text = content.strip()[:SAMPLE_CHARS]
    if "://" in text and _PATTERNS["link"].fullmatch(text):
        return "link"
    if _is_structured(content, text):
        return "structured"
    if text.startswith("WEBVTT"):
        return "transcript"
    # Two that speak have a colon each.
    if text.count(":") >= 2:
        if len(_PATTERNS["timed turn"].findall(text)) >= 2:
            return "transcript"
        if _is_chat(text):
            return "chat"
    if language_of(content):
        return "code"
    return "markdown" if _is_markdown(text) else "text"


def language_of(content: str, source_path: str | None = None) -> str:
    """The programming language in lower case (`python`, `c++`), or '' when it is not code."""
    if source_path:
        extension, name = _extension(source_path)
        if known := _by_extension("language").get(extension) or _LANGUAGE_OF_FILE.get(name):
            return known
    text = content.strip()[:SAMPLE_CHARS]
    if text.startswith("```"):
        fence = re.fullmatch(r"```([\w+#-]*)[^\n]*\n(.*?)\n```", text, re.DOTALL)
        if fence is None or "\n```" in fence.group(2):
            return ""
        named = fence.group(1).lower()
        return _by_extension("language").get(named, named) or language_of(fence.group(2))
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    start = next((line for line in lines if not line.startswith(_COMMENTS)), "")
    opening = start.lower()
    if not opening.startswith(_code_openings()) and not start.endswith("{"):
        return ""
    for language, _, openings, pattern in first_lines():
        if not opening.startswith(openings) or (language == "css" and not start.endswith("{")):
            continue
        if re.match(pattern, start):
            if start.startswith("#!"):
                return language
            codelike = sum(
                1 for line in lines if line is start or _PATTERNS["code line"].fullmatch(line)
            )
            return language if codelike >= _CODE_SHARE_MIN * len(lines) else ""
    return ""


def _extension(source_path: str) -> tuple[str, str]:
    """A path's extension without the dot, and its last part; both in lower case."""
    name = source_path.replace("\\", "/").rpartition("/")[2].lower()
    return (name.rpartition(".")[2] if "." in name else ""), name


def _is_structured(content: str, text: str) -> bool:
    if text.startswith("<?xml"):
        return True
    if text[:1] in ("{", "[") and content.rstrip()[-1:] in ("}", "]"):
        if len(content) > SAMPLE_CHARS:
            return re.match(r'[\[{\s]*"', text) is not None
        import json  # here, because few texts begin like this

        try:
            json.loads(content)
        except (ValueError, RecursionError):
            pass  # a TOML table or a remark in brackets
        else:
            return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 3:
        return False
    # Keys in lower case and nothing but such lines: 'Name: Ann' is how people write notes.
    if sum(1 for line in lines if _PATTERNS["entry"].match(line)) < 2:
        return False
    forms = (_PATTERNS["key line"], _PATTERNS["assignment line"])
    return any(all(form.fullmatch(line) for line in lines) for form in forms)


_MARKDOWN_SIGNS = ("\n", "#", "**", "](", "```", "~~~", "---")


def _is_markdown(text: str) -> bool:
    # Every sign that can be in a single line has one of these.
    if not [sign for sign in _MARKDOWN_SIGNS if sign in text]:
        return False
    return _PATTERNS["markdown"].search(text) is not None


def _is_chat(text: str) -> bool:
    """Two known roles that speak, or four turns of two to six people who fill most lines."""
    speakers = [speaker.lower() for speaker in _PATTERNS["turn"].findall(text)]
    distinct = set(speakers)
    if len(distinct) < 2:
        return False
    if len(distinct & _ROLES) >= 2:
        return True
    if len(speakers) < 4 or len(distinct) > 6:
        return False
    returning = sum(1 for speaker in distinct if speakers.count(speaker) > 1)
    lines = sum(1 for line in text.splitlines() if line.strip())
    return returning >= 2 and len(speakers) >= 0.7 * lines
