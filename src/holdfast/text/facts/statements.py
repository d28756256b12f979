"""Analyses one statement: its subject, whether it is negated, whether it says that something ended,
and whether it is only a question, a supposition or a wish; whether one wording of a statement adds
nothing to another; and whether it is about the person, and so relevant to all of their projects, or
about the current project.

English only, by its function words. It knows neither the importance of a statement nor its source.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import STOP_WORDS, fold, terms
from holdfast.text.analysis.word_forms import numbers_in
from holdfast.text.facts import about_oneself
from holdfast.text.sentences import sentence_spans
from holdfast.text.tables import Patterns, lazy, read_table, read_words

_PATTERNS = Patterns("facts/patterns.txt")

_WORDS = read_words("facts/words.txt")

# How many parsed statements are cached, some hundred bytes each. A pass goes through a few thousand
# several times, in the same order: of fewer, each would be forgotten before it comes again.
KEPT_MAX = 4_096


class Statement(NamedTuple):
    """A statement taken apart. The subject is '' for the owner of the memory, otherwise folded
    words. With `owned`, the body begins with what that subject has: 'Ann's dog is called Rex'."""

    subject: str
    body: str
    owned: bool = False
    denied: bool = False
    ended: bool = False
    begun: bool = False
    added: bool = False
    supposed: bool = False
    past: bool = False


_STRAIGHT = str.maketrans({"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "–": "-", "—": "-"})


def _behind(words: str, short: str) -> re.Pattern[str]:
    """A short form behind one of the words. It is looked for by its first sign, and the word before
    it only there: a search for the word would try every character."""
    before = "|".join(rf"(?<=\b{word}{short})" for word in words.split())
    return lazy(rf"(?i){short}\b(?:{before})")


# What shows that a short form may be there, its pattern, and the long one.
_LONG_FORMS = (
    ("can't", lazy(r"(?i)\b(ca)n't\b"), r"\1n not"),
    ("cannot", lazy(r"(?i)\bcannot\b"), "can not"),
    ("cant", lazy(r"(?i)\bcant\b"), "can not"),
    ("won't", lazy(r"(?i)\bwo(?:n't)\b"), "will not"),
    ("ain't", lazy(r"(?i)\bain't\b"), "is not"),
    ("n't", lazy(r"[nN]'[tT]\b(?<=\w..[tT])"), " not"),
    ("nt", lazy(r"(?i)\b(do|does|did|is|was|were|has|have|had|would|could|should)nt\b"), r"\1 not"),
    ("'m", _behind("i", "'m"), " am"),
    ("'ve", _behind("i you we they", "'ve"), " have"),
    ("'re", _behind("you we they", "'re"), " are"),
    ("'ll", _behind("i you he she it we they", "'ll"), " will"),
    ("'d", _behind("i you he she it we they", "'d"), " would"),
    # Not the building, the wedding or the siblings of somebody.
    (
        "'s",
        lazy(
            r"'s(?<=\w's)(?= (?:not |just |still |now )?"
            r"(?!(?:build|meet|wedd|train|someth|morn|even|ceil"
            r"|paint|str|spr|sibl|cloth|feel|open|end|offer|sav|earn|hear|housewarm|k|r|w|th)ing\b)"
            r"\w{2,}ing\b)"
        ),
        " is",
    ),
    ("'s", _behind("he she it that there here what who", "'s"), " is"),
)


# How short forms end that are written without one.
_WITHOUT_QUOTE = r"(?i)cannot\b|nt\b"


def long_forms(text: str) -> str:
    """A statement with straight quotes, and `don't` as `do not`."""
    if not text.isascii():
        text = text.translate(_STRAIGHT)
    # Letters of other scripts are equal to some of these in a pattern without regard to case.
    folded = text.casefold()
    # Looked for first, as a search without regard to case takes fifty times as long.
    may_be_short = "nt" in folded or "cannot" in folded
    if "'" in text or (may_be_short and re.search(_WITHOUT_QUOTE, text)):
        for sign, short, long in _LONG_FORMS:
            # A long form has no sign of a later one.
            if sign in folded:
                text = short.sub(long, text)
    return text


# Words by which a statement without a subject begins; it is about the owner of the memory.
VERBS = _WORDS["verbs"]
# Words that are no names, though they begin a statement: what they name is somebody's.
_NOUNS = _WORDS["nouns"]


@cache
def _signs() -> dict[str, tuple[frozenset[str], re.Pattern[str]]]:
    """By what a statement shows: words of which one is needed, and the pattern."""
    rows = read_table("facts/signs.txt")
    return {name: (frozenset(words.split(",")), lazy(pattern)) for name, _, words, pattern in rows}


def _shows(name: str, lowered: str, words: frozenset[str]) -> bool:
    """Whether a text in small letters shows this. A pattern that ignores case takes three to six
    times as long."""
    needed, pattern = _signs()[name]
    return not needed.isdisjoint(words) and pattern.search(lowered) is not None


def without_note(text: str) -> str:
    """A statement without the date on which it was said."""
    return _PATTERNS["noted"].sub("", text) if text.endswith(")") else text


_SIGN_WORD = lazy(r"[a-z'-]+")
# Not the month, nor a name.
_MAY = lazy(r"\bmay(?= (?i:[a-z]))")


@lru_cache(maxsize=KEPT_MAX)
def read(text: str) -> Statement:
    """A statement of one sentence, taken apart."""
    plain = long_forms(without_note(" ".join(text.split()))).strip(" .!;,\"'*")
    plain = _PATTERNS["opening"].sub("", plain) if not plain.lower().startswith("also ") else plain
    subject, body, owned = _subject(plain)
    lowered = body.lower()
    words = frozenset(_SIGN_WORD.findall(lowered))
    # The subject may hide a word of doubt: 'Maybe Ann lives in Oslo'.
    whole, all_words = lowered, words
    if body is not plain:
        whole = plain.lower()
        all_words = words.union(_SIGN_WORD.findall(whole))
    supposed = _shows("supposed", whole, all_words) or (
        "may" in all_words and _MAY.search(plain) is not None
    )
    return Statement(
        subject,
        body,
        owned,
        _shows("denied", lowered, words),
        _shows("ended", lowered, words),
        _shows("begun", lowered, words),
        _shows("added", lowered, words),
        supposed or text.rstrip("\"' ").endswith("?"),
        _shows("past", lowered, words),
    )


_FIRST_WORD = lazy(r"[^\s:']*")


def _subject(plain: str) -> tuple[str, str, bool]:
    if match := _PATTERNS["own"].match(plain):
        return ("we" if match[0][:3].lower() == "our" else ""), plain[match.end() :], True
    if match := _PATTERNS["oneself"].match(plain):
        return "", plain[match.end() :], False
    word, space, rest = plain.partition(" ")
    word = word.lower() if space else ""
    if word == "we":
        return "we", rest, False
    if word in ("he", "she", "they", "it", "you"):
        # Nobody knows who.
        return "?", rest, False
    if match := _PATTERNS["label"].match(plain):
        inner = plain[match.end() :]
        if (word := inner.split(" ", 1)[0].lower()) in VERBS or word in ("i", "my"):
            subject, body, owned = _subject(inner)
            return subject or fold(match[1]), body, owned
    first = _FIRST_WORD.match(plain)[0].lower()  # type: ignore[index]  # it matches any text
    if first in VERBS or first in _NOUNS:
        return "", plain, first in _NOUNS
    if match := _PATTERNS["others"].match(plain):
        return fold(match[1]), plain[match.end() :], True
    if (match := _PATTERNS["other"].match(plain)) and match[2].lower() in VERBS and first != "the":
        return fold(match[1]), plain[match.end() :], False
    return "", plain, False


# Adverbs and helpers before the verb; what they mean was read from the statement already.
_HELPERS = _WORDS["helpers"]


def without_helpers(body: str) -> str:
    """The body of a statement, so that it begins with its verb."""
    words = body.split(" ")
    at = 0
    while at < len(words) - 1 and words[at].lower() in _HELPERS:
        at += 1
    return " ".join(words[at:])


# Words without meaning of their own, once the polarity and time of a statement are known.
_SMALL = _WORDS["small"]


def core_stems(body: str) -> list[str]:
    """The stems of a statement, without denial, time and small words, in their order."""
    return list(_core_stems(body))


@lru_cache(maxsize=KEPT_MAX)
def _core_stems(body: str) -> tuple[str, ...]:
    # A new statement is held against dozens of old ones, by several rules.
    return tuple([stem for word in _PATTERNS["word"].findall(fold(body)) for stem in _stems(word)])


# The words of a language are few; each is met in many statements.
@lru_cache(maxsize=16_384)
def _stems(word: str) -> tuple[str, ...]:
    if word in _SMALL or word in STOP_WORDS:
        return ()
    # Numbers, host names and paths are compared exactly: staging.example is not stage.example.
    return (word,) if any(c.isdigit() or c in "./" for c in word) else tuple(terms(word))


# The words themselves

# Words that can come or go without changing what a sentence says.
_ARTICLES = frozenset({"a", "an", "the"})
_KEY_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "`": None})
_SHORT_FORMS = (
    (r"\b(?:can't|cannot)\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
)
# Only what ends or encloses words: `C++`, `-5`, `.env`, `5%` and `f()` keep their signs, and a
# question mark stays, for a question is not its answer.
_WORD_ENDS = ".,;:!…\"'"
_WORD_OPENS = "\"'"


# Who compares many statements asks for the same ones again and again; a longer text is asked for
# once, and would fill the memory.
_KEY_CHARS_MAX = 500


def words_key(text: str) -> str:
    """The words of a text in their order, without case, punctuation and articles.

    Texts with the same key say the same. It errs on the side of telling apart: no word forms are
    brought together, so `likes` and `liked`, or a number and another, are always two.
    """
    return _kept_words_key(text) if len(text) <= _KEY_CHARS_MAX else _words_key(text)


def _words_key(text: str) -> str:
    plain = unicodedata.normalize("NFC", text).casefold().translate(_KEY_QUOTES)
    if "**" in plain or "__" in plain:
        plain = _PATTERNS["bold"].sub(r"\2", plain)
    if "n't" in plain or "cannot" in plain:
        for short, long in _SHORT_FORMS:
            plain = re.sub(short, long, plain)
    found = [word for raw in plain.split() if (word := raw if raw.isalnum() else _bare_word(raw))]
    kept = [word for word in found if word not in _ARTICLES]
    # `The A` is a name: text of nothing but articles and signs is compared by its letters.
    return " ".join(kept) or " ".join(text.split())


_kept_words_key = lru_cache(maxsize=4_096)(_words_key)


def _bare_word(word: str) -> str:
    before = None
    while word != before:
        before = word
        word = word.lstrip(_WORD_OPENS).rstrip(_WORD_ENDS)
        for opening, closing in ("()", "[]"):
            if word.startswith(opening) and closing not in word[:-1]:
                word = word[1:].removesuffix(closing)
            elif word.endswith(closing) and opening not in word:
                word = word[:-1]
    return word


# Two statements

# Small words that turn what is said around: by themselves, or where the other statement has their
# opposite in the same place.
_TURN = frozenset(["against", "out", "off", "down", "few", "over", "than", "more", "most", "other"])
_OPPOSITES = frozenset(
    frozenset(pair.split())
    for pair in (
        "from to", "from into", "from at", "from in", "in out", "on off", "up down", "over under",
        "for against", "for with", "above below", "before after", "at after", "at before",
        "all some", "here there", "him her",
    )
)  # fmt: skip


def turned_around(one: str, other: str) -> bool:
    """Whether small words make two bodies with the same stems say different things: to move from a
    town and to a town. The stems of one may be some of those of the other."""
    first, second = _with_turns(one), _with_turns(other)
    if len(first) > len(second):
        first, second = second, first
    remaining = iter(second)
    for stem, turns in first:
        for also, others in remaining:
            if also == stem:
                if _is_opposite(turns - others, others - turns):
                    return True
                break
    return False


def _is_opposite(here: frozenset[str], there: frozenset[str]) -> bool:
    if _TURN & (here | there):
        return True
    return any(frozenset((one, other)) in _OPPOSITES for one in here for other in there)


def _with_turns(body: str) -> list[tuple[str, frozenset[str]]]:
    """The stems of a body, each with the small words before it; '' is its end."""
    found: list[tuple[str, frozenset[str]]] = []
    before: set[str] = set()
    for word in _PATTERNS["word"].findall(fold(body).replace("any more", "anymore")):
        stems = _stems(word)
        if not stems:
            before.add(word)
        for stem in stems:
            found.append((stem, frozenset(before)))
            before.clear()
    return [*found, ("", frozenset(before))]


# Of the words of both, this share is in both; with fewer, they are about different things however
# near a model finds them.
_SHARED_LEAST = 0.6
# Words that make less of what is said; without them it is another claim.
_LIMITS = _WORDS["limits"]


@lru_cache(maxsize=1_024)
def adds_nothing(new: str, old: str) -> bool:
    """Whether the new statement says nothing that the older one does not say: 'Has a dog' after
    'Has a dog named Rex'."""
    now, then = read(new), read(old)
    if not _same_stance(now, then) or _LIMITS.intersection(fold(old).split()):
        return False
    first, second = core_stems(now.body), core_stems(then.body)
    if not first or first[:1] != second[:1]:
        return False
    remaining = iter(second)
    return all(stem in remaining for stem in first) and not turned_around(now.body, then.body)


# Words of which two differ in sense though a model finds them near: where both statements have one
# that the other lacks, they are two.
_APART = _WORDS["apart"]


def near(new: str, old: str) -> bool:
    """Whether two statements share names, numbers, stance and most of their words."""
    now, then = read(new), read(old)
    if not _same_stance(now, then) or fixed_words(new) != fixed_words(old):
        return False
    one, other = (set(re.findall(r"[^\W\d_]+", fold(text))) for text in (new, old))
    if _APART & (one - other) and _APART & (other - one):
        return False
    if _DAYS_UNSPACED.findall(new) != _DAYS_UNSPACED.findall(old):
        return False
    first, second = set(core_stems(now.body)), set(core_stems(then.body))
    return bool(first | second) and len(first & second) / len(first | second) >= _SHARED_LEAST


# Days of the week and months of Chinese and Japanese, in which words have no spaces between them.
_DAYS_UNSPACED = lazy(r"(?:周|星期|礼拜|週)[一二三四五六日天]|[月火水木金土日]曜|\d+月")


def _same_stance(now: Statement, then: Statement) -> bool:
    if now.supposed or then.supposed or "?" in (now.subject, then.subject):
        return False
    return (now.subject, now.owned, now.denied, now.ended, now.past, now.added) == (
        then.subject,
        then.owned,
        then.denied,
        then.ended,
        then.past,
        then.added,
    )


class FixedWords(NamedTuple):
    """The names and numbers of a text, in order: no other word says the same."""

    names: list[str]
    numbers: list[str]


def fixed_words(text: str) -> FixedWords:
    names = re.findall(r"(?<![.!?]\s)(?<=\s)(?!I\b)[^\W\d_a-z][\w.'-]*", text)
    return FixedWords(
        [fold(name.rstrip(".'-")) for name in names], [one.value for one in numbers_in(fold(text))]
    )


# The person, or the current project

About: TypeAlias = Literal["person", "project"]

# Categories of a memory that say by themselves who it is about.
_PERSONAL = ("person", "preference", "routine")


# How a clause ends that was cut from the next one.
_JOINT = r"(?i)(?:[,;]?\s+(?:and|but|so|while|whereas|plus)|[,;]|\s+[-–—])\s+(?:also\s+)?\Z"


class TextPart(NamedTuple):
    """A part of a text, and its subject."""

    text: str
    about: About


def about(text: str, *, category: str | None = None) -> tuple[About, str]:
    """What one statement is about, and the reason in a few words. In doubt it is about the person:
    others may read what is kept of the project."""
    line = " ".join(text.translate(_STRAIGHT).split())
    if _PATTERNS["everywhere"].search(line):
        return "person", "it is said for all projects"
    if _PATTERNS["household"].search(line):
        return "person", "it is about the people they live with"
    if _PATTERNS["private"].search(line) or _says_of_oneself(line):
        return "person", "it is private"
    is_self = bool(_PATTERNS["self"].search(line) or _PATTERNS["self abroad"].search(line))
    is_of_work = bool(_PATTERNS["work at hand"].search(line))
    if _PATTERNS["delicate"].search(line) and (is_self or not is_of_work):
        return "person", "it is private"
    if _PATTERNS["here"].search(line):
        return "project", "it is said of this project"
    if category in _PERSONAL and category is not None and not _PATTERNS["work"].search(line):
        return "person", f"its category is {category}"
    if _PATTERNS["at hand"].search(line):
        return "project", "it is about the work at hand"
    if not is_self:
        return "project", "nothing says that it is about the person"
    is_character = _PATTERNS["character"].search(line) and not _PATTERNS["work"].search(line)
    if is_of_work and not is_character:
        return "project", "it is about the work at hand"
    return "person", "it is about the person"


def _says_of_oneself(line: str) -> bool:
    """Whether a sentence in another language than English says who somebody is."""
    found = about_oneself.stated(line.lower(), line)
    return found is not None and found.slot not in ("order", "decision")


def parts_of(text: str) -> list[TextPart]:
    """What a person said, sentence by sentence; neighbours about the same thing are one part. A
    sentence is cut between clauses that are about different things."""
    parts: list[TextPart] = []
    for start, end in sentence_spans(text, _PATTERNS["sentence end"]):
        _add_sentence(parts, text[start:end])
    return parts


def said_about(parts: Iterable[TextPart], what: About) -> str:
    """The parts about the person, or about the project, as sentences of their own."""
    said, is_inside = "", False
    for part in parts:
        text = part.text
        if is_inside:
            text = text[:1].upper() + text[1:]
        joint = re.search(_JOINT, text)
        is_inside = joint is not None
        if part.about == what:
            said += text if joint is None else text[: joint.start()] + ". "
    return said.strip()


def _add_sentence(parts: list[TextPart], text: str) -> None:
    """Adds a sentence, in one part unless a clause is about something else than the one before."""
    clauses, start = [], 0
    for mark in _PATTERNS["next clause"].finditer(text):
        clause = text[start : mark.end()]
        # 'I check that we test and the build is green' is one statement, and so is one with two
        # subjects: 'My team and I deploy'.
        if _PATTERNS["dependent"].search(clause) or not _PATTERNS["clause"].match(clause):
            continue
        clauses.append(clause)
        start = mark.end()
    for clause in (*clauses, text[start:]):
        _add(parts, clause)


def _add(parts: list[TextPart], text: str) -> None:
    if not text.strip():
        return
    found, _ = about(text)
    if parts and _PATTERNS["goes on"].match(text) and not _PATTERNS["work at hand"].search(text):
        found = parts[-1].about
    if parts and parts[-1].about == found:
        parts[-1] = TextPart(parts[-1].text + text, found)
    else:
        parts.append(TextPart(text, found))
