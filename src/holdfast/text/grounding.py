"""Whether a claim is supported by the turn it was taken from: every name, number, date and word
that carries sense, said of the same person, in the same polarity and tense, as a statement of the
speaker's own.

Precision comes first. A claim that a reader would pass and these rules do not know is dropped: what
is missed is still in the log, and what is made up would be told to an agent on every turn. The
rules are English; in other languages words, numbers, names and the words of denial are compared.
Where the claim came from is not known here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.clauses import Clause, clauses_of
from holdfast.text.grounding_dates import dates_supported
from holdfast.text.quantities import is_number_word, numbers_in
from holdfast.text.statements import VERBS, long_forms
from holdfast.text.terms import STOP_WORDS, fold, is_unspaced, phrase_terms, terms
from holdfast.text.word_forms import base_form, tense


class Span(NamedTuple):
    """The characters of the turn that support a claim."""

    start: int
    end: int


class Unsupported(NamedTuple):
    """Why a claim is not supported, in a word."""

    reason: str


# A claim is a sentence or two; a longer one is a summary, of which nobody can say what it rests on.
_CLAIM_CHARS_MAX = 600
# 'I have a dog. He is three. His name is Rex.' is as far as people carry a thought.
_CLAUSES_TOGETHER = 3


def ground(
    claim: str, said: str, *, at: datetime | None = None, quote: str = "", speaker: str = ""
) -> Span | Unsupported:
    """The part of a turn that supports a claim, or why none does. `at` is when the turn was said;
    `quote` is the part that a model says it relies on, and must stand in the turn word for word;
    `speaker` is the name by which the claim may call whoever said it."""
    claim = " ".join(claim.split())
    if not claim or len(claim) > _CLAIM_CHARS_MAX or claim.endswith(("?", "？")):
        return Unsupported("words")
    there = _find_quote(quote, said) if quote.strip() else Span(0, len(said))
    if there is None:
        return Unsupported("quote")
    units = [one for one in clauses_of(said) if one.start < there.end and one.end > there.start]
    spans: list[Span] = []
    for part in _parts(claim, speaker, frozenset(_CAPITAL.findall(said))):
        found = _ground_part(part, units, at)
        if isinstance(found, Unsupported):
            return found
        spans.append(found)
    if not spans:
        return Unsupported("words")
    if quote.strip():
        return there
    return _trimmed(said, min(span.start for span in spans), max(span.end for span in spans))


def _find_quote(quote: str, said: str) -> Span | None:
    """Where a quotation stands; only white space and the form of quote marks may differ."""
    marks = {"'": "['‘’ʼ]", '"': '["“”]'}
    words = quote.strip().strip('"“”').split()
    if not words:
        return None
    pattern = r"\s+".join(
        "".join(
            marks.get(char, re.escape(char)) for char in word.replace("’", "'").replace("‘", "'")
        )
        for word in words
    )
    match = re.search(pattern, said)
    return Span(match.start(), match.end()) if match else None


def _trimmed(said: str, start: int, end: int) -> Span:
    piece = said[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))


# The claim

_LABEL = re.compile(r"^([^\W\d_a-z][\w.'-]*(?: [^\W\d_a-z][\w.'-]*)?): +(?=\S)")
_ABOUT = re.compile(
    r"(?i)^(?:the )?(?:user|speaker|human)(?:'s)? (?:(?:has )?(?:said|says|stated|states|mentioned"
    r"|mentions|noted|reported|told \w+|shared|confirmed|explained|indicated)(?: that)? (?:they"
    r"|he|she"
    r"|the user)?\s*)?"
)


class _Part(NamedTuple):
    """One clause of a claim. The subject is 'self', a name or other words, or '' for anybody."""

    subject: str
    text: str
    words: tuple[str, ...]
    denied: bool
    ended: bool
    supposed: frozenset[str]


_CAPITAL = re.compile(r"\b[^\W\d_a-z][\w'-]*")


def _is_name(word: str, names: frozenset[str]) -> bool:
    return word.removesuffix("'s") in names and word.lower() not in VERBS


def _parts(claim: str, speaker: str, names: frozenset[str]) -> Iterator[_Part]:
    plain = claim.strip(" .!\"'*-")
    if speaker:
        own = re.escape(speaker.strip())
        plain = re.sub(rf"(?i)^{own}(?::|'s(?= )|(?= ))\s*", "The user ", plain)
    label = _LABEL.match(plain)
    named = ""
    if label is not None:
        # 'Ann: likes tea' is about Ann; of a key, 'Editor: Vim', both words must be there.
        named, plain = label[1], f"{label[1]} {plain[label.end() :]}"
    about = _ABOUT.match(plain)
    if about is not None:
        owned = "'s" in about[0].lower()
        plain = ("My " if owned else "I ") + plain[about.end() :]
    whole = clauses_of(plain)
    for one in whole:
        subject = one.subject
        if about is not None and subject in ("they", "he", "she"):
            subject = "self"
        elif about is None and not named and subject in ("they", "he", "she"):
            # Whoever that is; the speaker, if anybody, as claims are about them.
            subject = "self"
        elif one.start == 0 and not _is_name(plain.split(" ", 1)[0], names):
            # 'Prefers tabs' begins with a verb; a name would stand in the turn with its capital.
            subject = "self" if " " not in subject else subject
        yield _Part(
            subject or "self" if not named else fold(named),
            one.text,
            tuple(_words(one.text)),
            _denied(one.text),
            _ended(one.text),
            one.supposed,
        )


# Words

_WORD = re.compile(r"[^\W_]+(?:['.+#&/_@:-]+[^\W_]+)*(?:\+\+|#)?|[%€$£]")
# What claims are put in, and what they may leave out of what was said.
_GLUE = frozenset(
    """
    user users speaker human person he she they it that which who is has have had been own owns
    currently now also recently just really very actually because since so their his her its
    about
    """.split()  # noqa: SIM905
)
# Small words that make a claim larger or smaller than what was said.
_COUNTING = frozenset(
    """
    all every each both always never only most everyone everything nobody nothing none must
    exclusively daily weekly monthly entirely completely any except without more less few many
    several
    """.split()  # noqa: SIM905
)
# And those that make what was said smaller than a claim without them.
_LIMITING = frozenset(
    """
    sometimes rarely hardly barely seldom occasionally almost nearly only except mostly partly
    somewhat formerly previously once until till former ex temporarily briefly half
    """.split()  # noqa: SIM905
)


def _words(text: str) -> list[str]:
    """The folded words of a text in their order, without possessive endings."""
    out = []
    for match in _WORD.finditer(fold(long_forms(text))):
        word = match[0].strip("'.:-/&@")
        word = re.sub(
            r"(?:'s|s'|'(?:m|re|ve|ll|d))$", lambda end: "s" if end[0] == "s'" else "", word
        )
        if word:
            out.append(word)
    return out


@lru_cache(maxsize=4_096)
def _keys(word: str) -> frozenset[str]:
    """The forms under which a word of a turn is found."""
    if is_unspaced(word) or not word.isascii():
        return frozenset([word, base_form(word), *terms(word)])
    keys = {base_form(word), word}
    for piece in re.split(r"[-/&.@:_']", word):
        if len(piece) > 1:
            keys |= {base_form(piece), piece}
    return frozenset(keys)


_NEGATORS = frozenset(
    """
    not no never neither nor without nobody nothing none cannot hardly barely
    nicht kein keine keinen keinem keiner nie niemals nichts pas jamais rien nunca jamas nada nao
    non mai niet geen nooit ikke aldri inte aldrig ei nie nigdy не нет никогда
    """.split()  # noqa: SIM905
)
_NEGATING = re.compile(
    r"(?i)\b(?:no longer|stopped|stops|quit|quitting|gave up|given up|giving up|ceased|refuses?"
    r"|refused|avoids?|avoided|lacks?|unable to|fails? to|instead of|rather than)\b"
    r"|不|没|沒|ない|ません|않|안 "
)
_LIKED = (
    # 'Cannot stand' is no denial, and neither is 'not only'.
    (re.compile(r"(?i)\bcan not (?:stand|bear)\b"), "dislike"),
    (re.compile(r"(?i)\b(?:do|does) not (?:really )?(?:like|enjoy|love)\b"), "dislike"),
    (re.compile(r"(?i)\bnot only\b"), "only_also"),
    (re.compile(r"(?i)\b(?:hates?|hated|detests?|loathes?)\b"), "dislike"),
    (re.compile(r"(?i)\bnot (?:a (?:big |huge )?fan of)\b"), "dislike"),
)
_ENDED = re.compile(
    r"(?i)\b(?:no longer|any ?more|any longer|stopped|stops|quit|gave up|given up|ceased)\b"
)


def _plain_stance(text: str) -> str:
    plain = long_forms(text)
    for pattern, word in _LIKED:
        plain = pattern.sub(word, plain)
    return plain


def _denied(text: str) -> bool:
    plain = _plain_stance(text)
    words = fold(plain)
    count = sum(word in _NEGATORS for word in re.findall(r"[^\W\d_]+", words))
    special = len(_NEGATING.findall(words)) - len(re.findall(r"\bno longer\b", words))
    # 'Does not eat meat any more' denies once.
    return (count + special) % 2 == 1


def _ended(text: str) -> bool:
    return _ENDED.search(long_forms(text)) is not None


# Support


def _ground_part(part: _Part, units: Sequence[Clause], at: datetime | None) -> Span | Unsupported:
    best: tuple[float, str] = (-1.0, "words")
    for together in _together(units):
        reason, merit = _why_not(part, together, at)
        if not reason:
            return Span(together[0].start, together[-1].end)
        best = max(best, (merit, reason), key=lambda pair: pair[0])
    return Unsupported(best[1])


def _together(units: Sequence[Clause]) -> Iterator[Sequence[Clause]]:
    """Single clauses first; then runs of them in which each refers to the one before."""
    for one in units:
        yield [one]
    for size in range(2, _CLAUSES_TOGETHER + 1):
        for first in range(len(units) - size + 1):
            run = units[first : first + size]
            if all(one.refers for one in run[1:]):
                yield run


def _why_not(part: _Part, run: Sequence[Clause], at: datetime | None) -> tuple[str, float]:
    """Why these clauses do not support the claim ('' where they do), and how near they come."""
    text = " ".join(one.text for one in run)
    dated = dates_supported(part.text, text, at)
    claim_words = _sense(_words(_plain_stance(dated.claim)))
    said_words = _words(_plain_stance(text))
    missing = _missing(claim_words, said_words)
    merit = 1 - len(missing) / max(len(claim_words), 1)
    if any(one.asked for one in run):
        return "question", merit
    if missing:
        return _kind_of(missing, part.text), merit
    merit += 1
    checks = (
        ("words", not claim_words and not dated.found),
        ("date", not dated.supported),
        ("number", not _numbers_agree(dated.claim, dated.said)),
        ("quoted", any(one.told for one in run) and not _attributed(part.text)),
        ("hypothetical", not _as_sure(part, run)),
        ("negation", _polarity(part, run)),
        ("name", not _same_subject(part, run, said_words)),
        ("name", not _names_agree(part, run)),
        ("words", not _same_direction(part.words, said_words)),
        ("words", not _as_large(claim_words, said_words)),
        ("tense", not _same_tense(part, said_words)),
    )
    return next(((reason, merit) for reason, wrong in checks if wrong), ("", merit))


def _sense(words: Sequence[str]) -> list[str]:
    return [
        word
        for word in words
        if word in _COUNTING or not (word in STOP_WORDS or word in _GLUE or word in _NEGATORS)
        if not (word.isdigit() or is_number_word(word))
        and word not in ("only_also", "longer", "anymore")
    ]


def _missing(claim: Sequence[str], said: Sequence[str]) -> list[str]:
    """The words of a claim that were not said, or not as often."""
    there = frozenset(key for word in said for key in _keys(word))
    missing = [word for word in claim if not _is_there(word, there)]
    if len(claim) == len({base_form(word) for word in claim}):
        return missing
    wanted, given = Counter(map(base_form, claim)), Counter(map(base_form, said))
    return missing + [
        word for word in claim if wanted[base_form(word)] > max(given[base_form(word)], 1)
    ]


def _is_there(word: str, there: frozenset[str]) -> bool:
    if word.isascii():
        return base_form(word) in there or word in there
    # Of a script without spaces, every pair of characters.
    return word in there or set(phrase_terms(word)) <= there


def _kind_of(missing: Sequence[str], claim: str) -> str:
    capitals = {fold(word) for word in re.findall(r"(?<!^)\b[^\W\d_a-z][\w'-]*", claim)}
    if any(re.search(r"\d", word) for word in missing):
        return "number"
    return "name" if any(word in capitals for word in missing) else "words"


def _numbers_agree(claim: str, said: str) -> bool:
    """Every number of the claim was said, and of the same thing where there are several."""
    wanted, given = numbers_in(fold(long_forms(claim))), numbers_in(fold(long_forms(said)))
    values = {number.value for number in given}
    if any(number.value not in values for number in wanted):
        return False
    if len(given) < 2:
        return True
    return all(
        any(
            _neighbour(claim, number.end) in _neighbours(said, other.start, other.end)
            for other in given
            if other.value == number.value
        )
        for number in wanted
    )


def _neighbour(text: str, end: int) -> str:
    """The word of sense after a number; '' at the end."""
    after = _sense(_words(fold(long_forms(text))[end:]))
    return base_form(after[0]) if after else ""


def _neighbours(text: str, start: int, end: int) -> set[str]:
    folded = fold(long_forms(text))
    after = _sense(_words(folded[end:]))[:3]
    return {"", *(base_form(word) for word in after)}


_SAYING = re.compile(r"(?i)\b(?:says?|said|told|thinks?|thought|believes?|claims?|heard|according"
                     r"|suggest\w*|recommend\w*|mentioned|asked|wrote)\b")  # fmt: skip


def _attributed(claim: str) -> bool:
    return _SAYING.search(claim) is not None


# Hedges that count as one.
_SURENESS = {"plan": "will"}


def _as_sure(part: _Part, run: Sequence[Clause]) -> bool:
    """A wish supports a wish, and a plan a plan; neither supports a fact."""
    held = {_SURENESS.get(one, one) for unit in run for one in unit.supposed}
    return held <= {_SURENESS.get(one, one) for one in part.supposed}


def _polarity(part: _Part, run: Sequence[Clause]) -> bool:
    denied = [_denied(one.text) for one in run]
    if len(run) > 1 and any(denied):
        # Which of them the denial is about is not to be told.
        return True
    return part.denied != any(denied) or (part.ended and not any(_ended(one.text) for one in run))


_PRONOUNS = frozenset("he she they it this that there his her their its these those".split())  # noqa: SIM905


def _same_subject(part: _Part, run: Sequence[Clause], said: Sequence[str]) -> bool:
    there = run[0].subject
    if part.subject == "self":
        if there in ("self", ""):
            return bool(there) or _is_elided(part, _words(run[0].text))
        if there == "you" or there in _PRONOUNS:
            return False
        # 'My dog is called Rex' supports what speaks of the dog.
        return _is_within(there, part.words)
    if there in ("self", "you"):
        # 'I adopted Rex' says nothing of what Rex did.
        return _is_within(part.subject, ("i", "we", "my")) or _after_self(part, run)
    if there in _PRONOUNS or there == "":
        return False
    return _is_within(there, part.words) or _is_within(part.subject, _words(there))


def _is_elided(part: _Part, said: Sequence[str]) -> bool:
    """Whether a clause without a subject is about the speaker: 'Got a new laptop'. 'Use tabs' is an
    order, and 'Living in Oslo is expensive' is about nobody."""
    words = [word for word in said if word not in _OPENING]
    if not words or not words[0].isascii() or words[0] in part.words[:2]:
        return True
    time = tense(words[0])
    return time == "past" or (time == "ing" and not _FINITE.intersection(words[1:]))


_FINITE = frozenset(["is", "are", "was", "were", "has", "can", "will", "would"])
# What may stand before the verb.
_OPENING = frozenset("just now also finally recently today yesterday really still".split())  # noqa: SIM905


def _after_self(part: _Part, run: Sequence[Clause]) -> bool:
    """Whether the claim only turns 'I have a dog called Rex' round to 'the dog is called Rex'."""
    words = _words(run[0].text)
    naming = {base_form("called"), base_form("name")}.intersection(map(base_form, part.words))
    return bool(naming and _OWNING.intersection(words[:3])) and _is_within(part.subject, words)


_OWNING = frozenset(["have", "has", "got", "own", "my", "our"])
_SMALL = frozenset("the a an some all every my our his her their and 's".split())  # noqa: SIM905


def _is_within(phrase: str, words: Sequence[str]) -> bool:
    keys = {base_form(word) for word in words} | set(words)
    own = [word for word in _words(phrase) if word not in _SMALL]
    return bool(own) and all(base_form(word) in keys or word in keys for word in own)


def _names_agree(part: _Part, run: Sequence[Clause]) -> bool:
    """Names stand in the order in which they were said, and none comes from a clause that speaks
    of somebody else beside."""
    names = {fold(name) for one in run for name in _CAPITAL.findall(one.text)}
    said = [word for one in run for word in _words(one.text)]
    places = [said.index(word) for word in part.words if word in names and word in said]
    if places != sorted(places):
        return False
    if len(run) == 1:
        return True
    # Clauses that are taken together must be about nothing else.
    others = {
        fold(name)
        for one in run
        for name in re.findall(r"(?<!^)\b(?!I\b)[^\W\d_a-z][\w-]*", one.text)
    }
    return others <= set(part.words)


# Small words after which it matters what comes: from one to the other, this over that.
_DIRECTIONS = frozenset("from to into over than before after by instead with against".split())  # noqa: SIM905


def _same_direction(claim: Sequence[str], said: Sequence[str]) -> bool:
    """'From A to B' is not 'from B to A', and 'A over B' is not 'B over A'."""
    for at, word in enumerate(claim):
        if word not in _DIRECTIONS:
            continue
        after, before = _next_sense(claim, at + 1), _next_sense(claim, at - 1, -1)
        if not after:
            continue
        if word in said:
            followers = {
                _next_sense(said, place + 1) for place, one in enumerate(said) if one == word
            }
            if after not in followers:
                return False
        elif before and word in ("over", "than", "instead"):
            keys = [base_form(one) for one in said]
            if before in keys and after in keys and keys.index(before) > keys.index(after):
                return False
    return True


def _next_sense(words: Sequence[str], at: int, step: int = 1) -> str:
    while 0 <= at < len(words):
        if words[at] not in STOP_WORDS or words[at].isdigit():
            return base_form(words[at])
        at += step
    return ""


def _as_large(claim: Sequence[str], said: Sequence[str]) -> bool:
    """What was limited stays limited."""
    limits = _LIMITING.intersection(said)
    if "used" in said and "to" in said[said.index("used") + 1 : said.index("used") + 2]:
        return "used" in claim or "formerly" in claim or "previously" in claim
    return limits <= set(claim) | {"once", "half"}


def _same_tense(part: _Part, said: Sequence[str]) -> bool:
    """The first verb of the claim stands in the time in which it was said."""
    claim = list(part.words)
    by_key: dict[str, set[str]] = {}
    for at, word in enumerate(said):
        by_key.setdefault(base_form(word), set()).add(_tense_at(said, at))
    for at, word in enumerate(claim[:4]):
        if word in STOP_WORDS and word not in ("was", "were", "is", "are", "am"):
            continue
        given = by_key.get(base_form(word))
        if given is None:
            continue
        own = _tense_at(claim, at)
        return own in given or (own, *sorted(given)) in (("present", "ing"), ("ing", "present"))
    return True


_HELPERS_OF_PAST = frozenset(["did", "have", "has", "had", "having"])


def _tense_at(words: Sequence[str], at: int) -> str:
    before = words[max(0, at - 3) : at]
    found = tense(words[at])
    if found == "present" and _HELPERS_OF_PAST.intersection(before):
        return "past" if "did" in before or "had" in before else found
    if found == "past" and {"is", "are", "am", "be", "get", "gets"}.intersection(before[-2:]):
        # 'Is deployed', 'am married' hold now.
        return "present"
    return found
