"""One statement taken apart: whom it is about, whether it is denied, whether it says that something
ended, and whether it is only asked, supposed or wished; and whether one wording of a statement adds
nothing to another.

English alone, by its function words. It knows neither what a statement is worth nor its source.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.analysis.terms import STOP_WORDS, fold, terms
from holdfast.text.analysis.word_forms import numbers_in

# How many parsed statements are cached, some hundred bytes each. A pass goes through a few thousand
# several times, in the same order: of fewer, each would be forgotten before it comes again.
KEPT_MAX = 4_096


class Statement(NamedTuple):
    """A statement. The subject is '' for the person whose memory it is, otherwise folded words.
    With `owned`, the body begins with what that subject has: 'Ann's dog is called Rex'."""

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
_LONG_FORMS = (
    (r"(?i)\b(ca)n't\b", r"\1n not"),
    (r"(?i)\bcannot\b", "can not"),
    (r"(?i)\bcant\b", "can not"),
    (r"(?i)\bwo(?:n't)\b", "will not"),
    (r"(?i)\bain't\b", "is not"),
    (r"(?i)(?<=\w)n't\b", " not"),
    (r"(?i)\b(do|does|did|is|was|were|has|have|had|would|could|should)nt\b", r"\1 not"),
    (r"(?i)\b(i)'m\b", r"\1 am"),
    (r"(?i)\b(i|you|we|they)'ve\b", r"\1 have"),
    (r"(?i)\b(you|we|they)'re\b", r"\1 are"),
    (r"(?i)\b(i|you|he|she|it|we|they)'ll\b", r"\1 will"),
    (r"(?i)\b(i|you|he|she|it|we|they)'d\b", r"\1 would"),
    # Not the building, the wedding or the siblings of somebody.
    (
        r"(?<=\w)'s(?= (?:not |just |still |now )?(?!(?:build|meet|wedd|train|someth|morn|even|ceil"
        r"|paint|str|spr|sibl|cloth|feel|open|end|offer|sav|earn|hear|housewarm|k|r|w|th)ing\b)"
        r"\w{2,}ing\b)",
        " is",
    ),
    (r"(?i)\b(he|she|it|that|there|here|what|who)'s\b", r"\1 is"),
)  # fmt: skip


def long_forms(text: str) -> str:
    """Straight quotes, and `don't` as `do not`."""
    text = text.translate(_STRAIGHT)
    if "'" in text or "nt" in text or "annot" in text:
        for short, long in _LONG_FORMS:
            text = re.sub(short, long, text)
    return text


# Words by which a statement without a subject begins; it is about the person whose memory it is.
VERBS = frozenset(
    """
    lives live lived moved relocated works worked work prefers prefer preferred uses use used likes
    like liked loves love hates hate dislikes dislike enjoys enjoy wants want needs need drinks
    drink drank eats eat ate takes take took owns own runs run ran plays play speaks speak drives
    drive rides sleeps wakes studies studied teaches learns learning writes reads switched switches
    joined left quit stopped stops started starts began gave got gets became becomes changed
    upgraded downgraded migrated renamed married divorced engaged
    avoids knows keeps goes went bought sold
    plans considers thinks believes decided agreed trains cooks has have had is are am was were
    does do did can will should must no not never always usually often currently now recently
    finally just formerly previously also allergic favourite favorite named called born based
    employed retired vegan vegetarian deployed hosted listens costs earns weighs promoted resigned
    moving living working using plans hopes intends might may would could remembers celebrates
    collects grew graduated finished completed adopted lost found met visited attended manages
    leads supports follows replaced dropped ditched abandoned resumed returned spends pays rents
    """.split()  # noqa: SIM905 - a list of two hundred quoted words is harder to read
)
# Words that are no names, though they begin a statement: what they name is somebody's.
_NOUNS = frozenset(
    """
    name email birthday nationality occupation job title role address phone wife husband partner
    spouse boss manager mother father mom dad sister brother son daughter dog cat pet team company
    project rent salary budget deadline pronouns timezone hometown height weight blood favourite
    favorite editor shell theme staging production backend frontend friend colleague neighbour
    neighbor cousin aunt uncle niece nephew horse bird car teacher doctor dentist therapist landlord
    client coach roommate flatmate girlfriend boyfriend stepson
    """.split()  # noqa: SIM905
)
_PERSON = r"(?:the )?(?:user|human|speaker)"
_OPENING = re.compile(
    r"(?i)^(?:(?:and|but|so|also|ok|okay|btw|by the way|actually|well|yes|note|fyi|as of (?:now"
    r"|today))"
    r"(?:[,:] *| +))+"
)
_OWN = re.compile(rf"(?i)^(?:my|our|{_PERSON}(?:'s|s'))\s+")
_SELF = re.compile(rf"(?i)^(?:i|{_PERSON})\s+")
_NAME = r"[^\W\d_a-z][\w.&+-]*(?: (?:[^\W\d_a-z]|de |van |von |da )[\w.&+-]*){0,2}"
_OTHERS = re.compile(rf"^({_NAME})(?:'s|(?<=s)')\s+(?=\S)")
_OTHER = re.compile(rf"^({_NAME})\s+(?=(\w+))")
_LABEL = re.compile(rf"^({_NAME}): +(?=\S+ \S+)")

# Words that make it worth trying the larger patterns below: compiling them takes milliseconds, and
# most statements have none of them.
_SIGNS = {
    "denied": """
        not never neither nor no nobody nothing none without stopped stops quit gave given ceased
        hardly rarely dropped ditched abandoned refuses avoids lacks against
    """,
    "ended": "longer any anymore stopped quit gave given ceased dropped ditched abandoned",
    "begun": """
        again now nowadays days since started began begun resumed switched changed moved migrated
        upgraded downgraded renamed replaced instead became become promoted returned went
    """,
    "added": """
        also too well another additionally second besides addition both sometimes occasionally part
        side part-time volunteer volunteers weekends
    """,
    "supposed": """
        if unless whether would could might may maybe perhaps possibly probably suppose supposing
        imagine pretend let's say as hypothetical hypothetically what wish wishes wished hope hopes
        hoping plan plans planned planning want wants wanted wanting wanna like intend intends
        intending going gonna about consider considers considered considering think thinks thinking
        thought dream dreams dreaming tempted in assuming should wonder wonders wondering looking
        moving will shall someday one eventually almost nearly
    """,
    "past": """
        used previously formerly once past back child kid teenager student was were lived worked
        until till before ex former grew had
    """,
}
_PATTERNS = {
    "denied": (
        r"(?i)\b(?:not|never|neither|nor|no longer|nobody|nothing|none|without|stopped|stops|quit"
        r"|gave up|given up|ceased|hardly|rarely|dropped|ditched|abandoned|refuses|avoids|lacks"
        r"|(?:decided|opted|voted|chose|chosen|advised|is|are|am) against"
        r"|no(?! (?:longer|later|\d)\b)(?= [a-z]))\b"
    ),
    "ended": (
        r"(?i)\b(?:no longer|not\b.{0,80}\b(?:any ?more|any longer)|stopped|quit|gave up|given up"
        r"|ceased|dropped|ditched|abandoned)\b"
    ),
    "begun": (
        r"(?i)\b(?:again|now|nowadays|these days|since (?:today|yesterday)|started|began|begun"
        r"|resumed|switched|changed|moved|migrated|upgraded|downgraded|renamed|replaced|instead"
        r"|became|has become|promoted|returned to|went back to)\b"
    ),
    "added": (
        r"(?i)\b(?:also|too|as well|another|additionally|a second|besides|in addition|both"
        r"|sometimes|occasionally|part[- ]time|side (?:job|project|gig)|volunteers?|(?:on"
        r"|at) weekends)\b"
    ),
    "supposed": (
        r"(?i)\b(?:if|unless|whether|would|could|might|(?-i:may)(?= [a-z])|maybe|perhaps|possibly"
        r"|probably|suppose|supposing|imagine|pretend|let's say|say we|as if|as though"
        r"|hypothetical\w*|what about|wish(?:es|ed)?|hop(?:e|es|ing)|plan(?:s|ned|ning)? (?:to|on)"
        r"|want(?:s|ed|ing)? to|wanna|like to (?:move|live|work|buy|get|try)|intend(?:s|ing)? to"
        r"|going to|gonna|about to|consider(?:s|ed|ing)?|think(?:s|ing)? (?:about|of)"
        r"|thought (?:about|of)|dream(?:s|ing)? of|tempted|in case|assuming|should"
        r"|wonder(?:s|ing)?|looking (?:to|into)|(?:is|are|am) moving|will|shall|someday|one day"
        r"|eventually|almost|nearly)\b"
    ),
    "past": (
        r"(?i)\b(?:used to|previously|formerly|once|in the past|back then|back in|as a (?:child|kid"
        r"|teenager|student)|(?:was|were) (?:living|working|using)|lived|worked(?! out)|until|till"
        r"|before (?:that|then)|ex-|former|grew up|had been|had)\b"
    ),
}
_SIGN_WORDS = {name: frozenset(words.split()) for name, words in _SIGNS.items()}


def _shows(name: str, text: str, words: frozenset[str]) -> bool:
    return not _SIGN_WORDS[name].isdisjoint(words) and bool(re.search(_PATTERNS[name], text))


# When something was said, as capture notes it behind the words.
_NOTED = re.compile(r" \(said on \d{1,2} [A-Z][a-z]+ \d{4}\)\Z")


def without_note(text: str) -> str:
    """A statement without the date on which it was said."""
    return _NOTED.sub("", text)


@lru_cache(maxsize=KEPT_MAX)
def read(text: str) -> Statement:
    """A statement of one sentence, taken apart."""
    plain = long_forms(without_note(" ".join(text.split()))).strip(" .!;,\"'*")
    plain = _OPENING.sub("", plain) if not plain.lower().startswith("also ") else plain
    subject, body, owned = _subject(plain)
    words = frozenset(re.findall(r"[a-z'-]+", body.lower()))
    # The subject may hide a word of doubt: 'Maybe Ann lives in Oslo'.
    all_words = words | frozenset(re.findall(r"[a-z'-]+", plain.lower()))
    return Statement(
        subject,
        body,
        owned,
        _shows("denied", body, words),
        _shows("ended", body, words),
        _shows("begun", body, words),
        _shows("added", body, words),
        _shows("supposed", plain, all_words) or text.rstrip("\"' ").endswith("?"),
        _shows("past", body, words),
    )


def _subject(plain: str) -> tuple[str, str, bool]:
    if match := _OWN.match(plain):
        return ("we" if match[0][:3].lower() == "our" else ""), plain[match.end() :], True
    if match := _SELF.match(plain):
        return "", plain[match.end() :], False
    if re.match(r"(?i)we\s", plain):
        return "we", plain[3:], False
    if re.match(r"(?i)(?:he|she|they|it|you)\s", plain):
        # Nobody knows who.
        return "?", plain.split(" ", 1)[1], False
    if match := _LABEL.match(plain):
        inner = plain[match.end() :]
        if (word := inner.split(" ", 1)[0].lower()) in VERBS or word in ("i", "my"):
            subject, body, owned = _subject(inner)
            return subject or fold(match[1]), body, owned
    first = re.split(r"[\s:']", plain, maxsplit=1)[0].lower()
    if first in VERBS or first in _NOUNS:
        return "", plain, first in _NOUNS
    if match := _OTHERS.match(plain):
        return fold(match[1]), plain[match.end() :], True
    if (match := _OTHER.match(plain)) and match[2].lower() in VERBS and first != "the":
        return fold(match[1]), plain[match.end() :], False
    return "", plain, False


# Adverbs and helpers before the verb; what they mean was read from the statement already.
_HELPERS = frozenset(
    """
    now currently just recently finally actually still officially no longer not never has have had
    been is am are was does do did really strongly generally usually mostly mainly primarily always
    permanently temporarily already since
    """.split()  # noqa: SIM905
)


def without_helpers(body: str) -> str:
    """A body that begins with its verb."""
    words = body.split(" ")
    at = 0
    while at < len(words) - 1 and words[at].lower() in _HELPERS:
        at += 1
    return " ".join(words[at:])


# Words that carry no part of what a statement says once its polarity and time are known.
_SMALL = frozenset(
    """
    no not never longer anymore any more stopped stop quit gave give given up ceased dropped ditched
    again now currently nowadays just recently finally actually started start began begin resumed
    resume has have had does do did is are am was were be been user today yesterday always usually
    since these days ago last
    """.split()  # noqa: SIM905
)


_WORD = re.compile(r"[^\W_]+(?:[.+#'&/-][^\W_]+)*[+#]*")


def core_stems(body: str) -> list[str]:
    """The stems of what is said, without denial, time and small words, in their order."""
    return list(_core_stems(body))


@lru_cache(maxsize=KEPT_MAX)
def _core_stems(body: str) -> tuple[str, ...]:
    # A new statement is held against dozens of old ones, by several rules.
    return tuple(stem for word in _WORD.findall(fold(body)) for stem in _stems(word))


def _stems(word: str) -> list[str]:
    if word in _SMALL or word in STOP_WORDS:
        return []
    # Numbers, host names and paths are what they are: staging.example is not stage.example.
    return [word] if any(c.isdigit() or c in "./" for c in word) else terms(word)


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
                if _turned(turns - others, others - turns):
                    return True
                break
    return False


def _turned(here: frozenset[str], there: frozenset[str]) -> bool:
    if _TURN & (here | there):
        return True
    return any(frozenset((one, other)) in _OPPOSITES for one in here for other in there)


def _with_turns(body: str) -> list[tuple[str, frozenset[str]]]:
    """The stems of a body, each with the small words before it; '' is its end."""
    found: list[tuple[str, frozenset[str]]] = []
    before: set[str] = set()
    for word in _WORD.findall(fold(body).replace("any more", "anymore")):
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
_LIMITS = frozenset(
    """
    only except sometimes rarely hardly seldom occasionally mostly partly almost nearly until unless
    if when while instead rather
    """.split()  # noqa: SIM905
)


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
_APART = frozenset(
    """
    before after old new early late morning noon afternoon evening night midnight day week weekend
    month year daily weekly monthly yearly first last next previous left right more less most least
    many few with without in out inside outside up down over under above below from to into hot cold
    warm cool big small large tiny huge high low long short fast slow quick hard easy soft good bad
    best worst better worse cheap expensive rich poor young strong weak light dark heavy dry wet
    open closed full empty public private left-handed right-handed for against north south east west
    black white red green blue yellow orange brown pink purple grey gray spring summer autumn fall
    winter monday tuesday wednesday thursday friday saturday sunday mother father sister brother son
    daughter wife husband aunt uncle niece nephew man woman boy girl dog cat he she his her alone
    together always often usually never start stop begin end buy sell come go love hate like
    """.split()  # noqa: SIM905
)


def near(new: str, old: str) -> bool:
    """Whether two statements share names, numbers, stance and most of their words."""
    now, then = read(new), read(old)
    if not _same_stance(now, then) or _fixed(new) != _fixed(old):
        return False
    one, other = (set(re.findall(r"[^\W\d_]+", fold(text))) for text in (new, old))
    if _APART & (one - other) and _APART & (other - one):
        return False
    first, second = set(core_stems(now.body)), set(core_stems(then.body))
    return bool(first | second) and len(first & second) / len(first | second) >= _SHARED_LEAST


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


def _fixed(text: str) -> tuple[list[str], list[str]]:
    """The names and numbers of a text, in order."""
    names = re.findall(r"(?<=\s)[^\W\d_a-z][\w.'-]*", text)
    return [fold(name) for name in names], [one.value for one in numbers_in(fold(text))]
