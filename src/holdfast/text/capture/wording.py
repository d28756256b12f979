"""Rewords a captured clause in the third person, with dates written out: 'I prefer tabs' becomes
'Prefers tabs', and 'last March' becomes 'in March 2026'. A speaker with a name is the subject:
'Caroline prefers tabs'. Other words for the speaker become 'they', which takes the same verb forms
as 'I', so that only the first verb changes.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple, TypeAlias

from holdfast.text.analysis.spans import fold_in_place as fold
from holdfast.text.dates import DateMention, find_dates
from holdfast.text.facts.statements import VERBS
from holdfast.text.tables import Patterns, lazy, read_words

_PATTERNS = Patterns("capture/patterns.txt")
_WORDS = read_words("capture/words.txt")

# Third person


_WORD = lazy(r"[\w'-]+")

_SHORT = {
    "'m": "is", "m": "is", "'re": "is", "'ve": "has", "ve": "has", "'ll": "will", "'d": "would",
}  # fmt: skip
_IRREGULAR = {
    "am": "is", "are": "is", "was": "was", "were": "was", "have": "has", "do": "does",
    "don't": "doesn't", "dont": "doesn't", "haven't": "hasn't", "havent": "hasn't",
    "aren't": "isn't", "weren't": "wasn't", "wasn't": "wasn't", "cant": "can't", "wont": "won't",
    "didnt": "didn't", "ain't": "isn't", "gotta": "has to",
}  # fmt: skip

_OTHER_WORDS = (
    (lazy(r"\b(?:i|we)(?:'?m| am|'re| are)(?=\W|$)"), "they are"),
    (lazy(r"\b(?:i|we) was\b"), "they were"),
    (lazy(r"\b(?:i|we) (?:wasn'?t|weren'?t)\b"), "they weren't"),
    (lazy(r"\b(?:i|we)'?ve\b"), "they've"),
    (lazy(r"\b(?:i|we)'ll\b"), "they'll"),
    (lazy(r"\b(?:i|we)'d\b"), "they'd"),
    (lazy(r"\b(?:i|we)(?![\w'-])"), "they"),
    (lazy(r"\b(?:my|our)(?= )(?! god)"), "their"),
    (lazy(r"\b(?:me|us)(?![\w'-])"), "them"),
    (lazy(r"\b(?:myself|ourselves)\b"), "themselves"),
    (lazy(r"\b(?:mine|ours)\b"), "theirs"),
)
# 'I do have a soft spot' only stresses the verb.
_STRESSED = frozenset(
    [
        "have",
        "like",
        "love",
        "play",
        "enjoy",
        "live",
        "work",
        "prefer",
        "own",
        "eat",
        "use",
        "speak",
    ]
)
_CONTRACTED = lazy(r"\b(?:(?:do|does|did|have|has|is|was|are|were|would|could|should)nt)\b")


def third(verb: str) -> str:
    """The form of a verb in the third person, from the one that goes with 'I'."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _WORDS["same"] or (verb.endswith("ed") and verb not in _WORDS["not past"]):
        return verb
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def tell(clause: str, speaker: str = "") -> str:
    """A clause in the third person; a speaker with a name is its subject."""
    clause = clause.strip()
    folded = fold(clause)
    subject = _PATTERNS["subject"].match(folded)
    if subject is not None:
        verb, rest = _verb(folded, clause, subject)
        told = f"{verb}{others(rest)}"
        told = f"{speaker} {told}" if speaker else told
    elif one := re.match(r"one of (?:my|our) ", folded):
        told = f"One of {speaker}'s " if speaker else "One of their "
        told += others(clause[one.end() :])
    elif own := re.match(r"(?:my|our|mine)(?: own)? ", folded):
        rest = re.sub(r" (?:also|just) ", " ", others(clause[own.end() :]))
        told = f"{speaker}'s {rest}" if speaker else rest
    else:
        told = others(clause)
    return finish(told)


def finish(told: str) -> str:
    """The text without trailing punctuation, and with a capital letter."""
    told = " ".join(told.split()).strip(" ,;:-–—")
    while told and (told[-1] in ".!,;:…~*" or _is_emoji(told[-1])):
        told = told[:-1].rstrip()
    return told[:1].upper() + told[1:]


def as_said(words: str) -> str:
    """The person's own words as the wording of a memory."""
    return finish(words)


def dated(text: str, resolved: Resolved, at: datetime | None, *, in_words: bool = False) -> str:
    """A line of memory with the date that it needs to be understood later: the one that its words
    mean, unless that is written out already (`in_words`), or the one on which it was said."""
    if at is None:
        return text
    if resolved.dates and not in_words:
        return f"{text} ({', '.join(resolved.dates)})"
    if not resolved.dates and _PATTERNS["measured from now"].search(text):
        return said_on(text, at)
    return text


def in_own_words(words: str, at: datetime) -> str:
    """The person's own words as the wording of a memory, with the date that it needs."""
    found = resolve(words, at)
    return said_on(as_said(words), at) if found.dates else dated(as_said(words), found, at)


def in_other_language(words: str, at: datetime | None) -> Resolved | None:
    """The time that words name in another language than English, which they keep; None if they name
    none."""
    from holdfast.text.dates import in_another_language

    if at is None or (named := in_another_language(words, at=at)) is None:
        return None
    month = f"{_MONTHS[named.since.month - 1]} {named.since.year}"
    day = f"{named.since.day} {month}"
    days = (named.until - named.since).days
    written = day if days == 1 else f"the week of {day}" if days == 7 else month
    if days > _MONTH_DAYS_MAX:
        written = str(named.since.year)
    return Resolved(words, named.since, named.until, (written,))


_MONTH_DAYS_MAX = 31


def said_on(text: str, at: datetime) -> str:
    """A sentence that was captured from a turn, with the day of the turn added, so that words such
    as 'recently' keep their meaning: 'Recently moved (said on 3 May 2026)'."""
    return f"{text} (said on {at.day} {_MONTHS[at.month - 1]} {at.year})"


def is_told_well(words: str, resolved: Resolved) -> bool:
    """Whether telling a clause in the third person, with its dates written out, is certain to be
    grammatical. Where it is not, the person's own words are kept."""
    if resolved.inside or _TOGETHER.search(fold(words)):
        return False
    if any(_may_be_verb(found) for found in _AND.finditer(fold(words))):
        return False  # 'I go to the gym and work out': only the first verb is changed.
    return _PATTERNS["hanging"].search(fold(words)) is None


_AND = lazy(
    r"(?:\b(?:and|or|then)|,) (?P<word>[a-z]+(?<!ing)(?<!ed)(?<!s))\b"
    r"(?P<object> (?:the|my|our|an?|at|in|on|to|up|out|all|some|it)\b)?"
)
_NO_VERBS = frozenset(
    "in on at to for with by from of a an the my our some all then also now even but so".split()  # noqa: SIM905
)


def _may_be_verb(found: re.Match[str]) -> bool:
    word = found["word"]
    if (word in VERBS and third(word) in VERBS) or word in _WORDS["second verbs"]:
        return True
    return found["object"] is not None and word not in _NO_VERBS


def speaks_of_oneself(words: str) -> bool:
    """Whether a clause names the speaker behind its subject too: 'they' would then be anybody."""
    return _ONESELF.search(words) is not None


_ONESELF = lazy(
    r"(?<=[^\w'’-])(?<!since )(?<!teaching )(?:(?i:i|we|me|myself|ourselves)|us)"
    r"(?=$|[^\w'’-]|['’](?:m|ve|ll|d|re)\b)"
)
# 'We' that is more than 'I', and clauses that were cut in the middle.
_TOGETHER = lazy(r"^(?:we|we'(?:re|ve)) .*\b(?:both|together|each other|one another)\b")


def _is_emoji(char: str) -> bool:
    return ord(char) >= 0x2190 and not char.isalnum()


def _verb(folded: str, clause: str, subject: re.Match[str]) -> tuple[str, str]:
    """The verb for a third person, with its adverbs, and what comes after it."""
    at = subject.end()
    if short := subject["short"]:
        return _SHORT[short], clause[at:]
    front = ""
    for word in _WORD.finditer(folded, at):
        said = word.group()
        if said in _WORDS["adverbs"] or (said.endswith("ly") and len(said) > 4 and said != "rely"):
            front += f"{clause[word.start() : word.end()]} "
            continue
        after = _WORD.search(folded, word.end()) if said == "do" else None
        if after is not None and after.group() in _STRESSED:
            continue
        return f"{front}{third(said)}", clause[word.end() :]
    return front.strip(), ""


def others(rest: str) -> str:
    """The words for the speaker further on, in the third person, as 'they'."""
    folded = fold(rest)
    edits: list[tuple[int, int, str]] = []
    for pattern, word in _OTHER_WORDS:
        for found in pattern.finditer(folded):
            if all(found.start() >= end or found.end() <= start for start, end, _ in edits):
                edits.append((*found.span(), word))
    edits += [(*found.span(), f"{found.group()[:-1]}'t") for found in _CONTRACTED.finditer(folded)]
    for start, end, word in sorted(edits, reverse=True):
        # 'US' is a country, and 'Book I' the first of its kind.
        if rest[start:end] == "US" or (rest[start:end] == "I" and not rest[end:].strip(" .,!")):
            continue
        rest = rest[:start] + word + rest[end:]
    return rest


# Dates


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAY = timedelta(days=1)
_YEAR = lazy(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_HELD_BY = lazy(r"(?i)\b(?:by|for|from|of|due) *$")
_ABOUT = lazy(r"(?i)\b(?:about|around|almost) *$")
_SEASONS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}
# 'On Monday evenings' is every week.
_REPEATED = lazy(r"(?i)(?:(?:,? (?:and|or)|,) \w+days?)* (?:mornings|afternoons|evenings|nights)\b")
_WEEKDAY = lazy(r"(?i)(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day")
_NEXT_WORD = lazy(r" ([A-Za-z]+)")
_SOME_YEAR = lazy(r"(?i)(?:last|this|next) year")
_AGO = lazy(r"(?i)\b(?:ago|earlier|from now)\b")
_NAMED = lazy(r"(?i)\b(?:last|past|this|current|next|coming|previous)\b")


When: TypeAlias = Literal["past", "ahead", "near"]


class Resolved(NamedTuple):
    """A clause with its dates written out, and the window of the first of them. `dates` are those
    that its own words did not name in full; `inside`: one of them stands in the middle of a phrase,
    as in 'the next week dates', where it cannot be written out."""

    text: str
    since: datetime | None
    until: datetime | None
    dates: tuple[str, ...] = ()
    inside: bool = False


def resolve(clause: str, at: datetime | None, *, when: When = "past") -> Resolved:
    """Write out the dates of a clause that was said at a moment. A date without a year is the
    latest, the next, or the nearest of the two."""
    if at is None:
        return Resolved(clause, None, None)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    zone = at.tzinfo or UTC
    # 'By Friday' is read as 'on Friday': of the same length, so that places stay.
    read = _PATTERNS["by day"].sub("on", _PATTERNS["by month"].sub("in", clause))
    found = [
        one._replace(words=clause[one.start : one.end])
        for one in _with_years(clause, find_dates(read, now=at, zone=zone))
    ]
    said = [
        _later(one, at, near=when == "near") if when != "past" or _is_due(clause, one) else one
        for one in found
        if not _REPEATED.match(clause, one.end)
        and not _PATTERNS["stretch"].search(one.words)
        and not _describes(clause, one)
    ]
    if not said:
        return Resolved(clause, None, None)
    text = clause
    dates: list[str] = []
    for mention in reversed(said):
        written = _written(clause, mention, at, zone)
        if written != mention.words:
            dates.insert(0, re.sub(r"^(?:on|in) (?!the\b)", "", written))
        text = text[: mention.start] + written + text[mention.end :]
    inside = any(_is_inside(clause, mention) for mention in said)
    first = said[0]
    since, until = (
        (first.since, None)
        if re.match(r"(?i)since|after|starting", first.words)
        else (None, first.until)
        if _PATTERNS["operator"].match(first.words)
        and not re.match(r"(?i)around|during|by", first.words)
        else (first.since, first.until)
    )
    return Resolved(text, since, until, tuple(dates), inside)


_WAS = lazy(r"(?i)\b(?:was|were|had|went|attended|ended)\b")
# 'My last day is 30 October': what is still to come is told in the present.
_IS_ON = lazy(
    r"(?i)\b(?:is|are|will be|starts?|begins?|ends?|expires?|opens?|closes?|leaves?|runs out)"
    r"(?: (?:due|on|by|at))? *$"
)


def _is_due(clause: str, mention: DateMention) -> bool:
    if re.match(r"(?i)(?:until|till) ", mention.words):
        # 'On leave until February' is the next one, unless it is over.
        return _WAS.search(clause[: mention.start]) is None
    if _IS_ON.search(clause[: mention.start]) and not re.match(r"(?i)since\b", mention.words):
        return True
    before = clause[: mention.start] + (
        "for " if re.match(r"(?i)(?:for|on|by) ", mention.words) else ""
    )
    return _PATTERNS["due"].search(before) is not None and not _WAS.search(clause[: mention.start])


_INSIDE = lazy(r"(?i)\b(?:the|my|our|your|their|this|a|an|those|these|earlier|late|early) *$")


def _is_inside(clause: str, mention: DateMention) -> bool:
    """Whether words of a date are part of a phrase: 'the next week dates', 'earlier this year'."""
    if _YEAR.search(mention.words):
        return False
    if _INSIDE.search(clause[: mention.start]) and not re.match(
        r"(?i)(?:the|this|last|next|\d)", mention.words
    ):
        return True
    return (
        re.search(r"(?i)\b(?:the|earlier|later|early|late) *$", clause[: mention.start]) is not None
    )


def _with_years(clause: str, found: list[DateMention]) -> list[DateMention]:
    """'12 June next year' as one date."""
    out: list[DateMention] = []
    for one in found:
        last = out[-1] if out else None
        if (
            last
            and _SOME_YEAR.fullmatch(one.words)
            and not clause[last.end : one.start].strip(" ,")
        ):
            year = (one.since + timedelta(days=1)).year
            if not _YEAR.search(last.words) and last.since.month + last.since.day > 2:
                words = f"{last.words} {year}"
                moved = find_dates(words, now=one.until, zone=last.since.tzinfo)
                if len(moved) == 1:
                    out[-1] = moved[0]._replace(start=last.start, end=one.end, words=words)
                    continue
        out.append(one)
    return out


_BORN = lazy(r"(?i)\bborn *$")
_CHILD = lazy(r"(?i)\b(?:son|daughter|baby|twins?|child|kid|boy|girl|niece|nephew|grand\w+)s?\b")


def _describes(clause: str, mention: DateMention) -> bool:
    """Whether a day of the week only says of which kind a thing is ('Friday deploys'), or a day of
    the year comes every year."""
    if clause.startswith(" as ", mention.end) and mention.words.lower() == "today":
        return True  # 'Illyria, known today as Albania'
    if _BORN.search(clause[: mention.start]) and not _CHILD.search(clause):
        return True  # Grown-ups were not born last 3 May.
    if not _WEEKDAY.fullmatch(mention.words):
        return False
    after = _NEXT_WORD.match(clause, mention.end)
    return after is not None and after[1].lower() not in _WORDS["after days"]


def _later(mention: DateMention, at: datetime, *, near: bool) -> DateMention:
    """The next one, where the words name no year, the latest one is over, and, with `near`, it was
    longer ago."""
    if mention.until > at or _YEAR.search(mention.words) or _NAMED.search(mention.words):
        return mention
    if _AGO.search(mention.words) or re.search(r"(?i)yesterday|weekend", mention.words):
        return mention
    if re.search(r"(?i)day|\b(?:mon|tue|wed|thu|fri|sat|sun)", mention.words):
        week = timedelta(days=7)
        since, until = mention.since + week, mention.until + week
    else:
        try:
            since = mention.since.replace(year=mention.since.year + 1)
            until = mention.until.replace(year=mention.until.year + 1)
        except ValueError:
            return mention  # a 29 February
    if near and at - mention.until < since - at:
        return mention
    return mention._replace(since=since, until=until)


def _written(clause: str, mention: DateMention, at: datetime, zone: tzinfo) -> str:
    words = mention.words
    if _YEAR.search(words):
        return words
    operator = _PATTERNS["operator"].match(words)
    since, until = mention.since.astimezone(zone), mention.until.astimezone(zone)
    if operator is not None:
        head = operator.group().lower()
        window = _named_by(head, words[operator.end() :].strip(), since, until, at)
        if window is None:
            return words
        name = _name(*window, words[operator.end() :])
        return f"{head} {name[3:] if name[:3] in ('on ', 'in ') else name}"
    name = _name(since, until, words)
    before = clause[: mention.start]
    if name.startswith("around ") and _ABOUT.search(before):
        return name[7:]
    if (
        name.startswith("on ")
        and not re.match(r"(?i)on ", words)
        and _PATTERNS["held"].search(before)
    ):
        return name[3:]
    if name.startswith("in ") and _HELD_BY.search(before):
        return name[3:]
    return name


def _named_by(
    head: str, words: str, since: datetime, until: datetime, at: datetime
) -> tuple[datetime, datetime] | None:
    """The window that is named behind 'since' or 'before', from the one that these make of it."""
    if head in ("by", "around", "during"):
        return since, until
    # A month or a day of the week alone is no date without its preposition.
    tries = (find_dates(front + words, now=at, zone=at.tzinfo) for front in ("", "in ", "on "))
    named = next((found for found in tries if found), [])
    if len(named) != 1:
        return None
    width = named[0].until - named[0].since
    if head in ("since", "starting"):
        return since, since + width
    if head == "after":
        return since - width, since
    if head in ("before", "prior to"):
        return until, until + width
    return until - width, until


def _name(since: datetime, until: datetime, words: str) -> str:
    """A window in words, as precise as it was said."""
    days = (until - since) / _DAY
    month = f"{_MONTHS[since.month - 1]} {since.year}"
    if _AGO.search(words):
        middle = since + (until - since) / 2
        if days > 300 or "year" in words.lower():
            return f"around {middle.year}"
        if days > 25 or "month" in words.lower():
            return f"around {_MONTHS[middle.month - 1]} {middle.year}"
        if days > 1.5:
            return f"around {middle.day} {_MONTHS[middle.month - 1]} {middle.year}"
    if days <= 1.5:
        return f"on {since.day} {month}"
    if days <= 3.5:
        return f"on the weekend of {since.day} {month}"
    if days <= 8:
        return f"in the week of {since.day} {month}"
    if days <= 32 and since.day == 1:
        return f"in {month}"
    if 80 < days < 100 and since.month in _SEASONS:
        return f"in {_SEASONS[since.month]} {since.year}"
    if days > 360 and (since.day, since.month) == (1, 1):
        return f"in {since.year}"
    return words
