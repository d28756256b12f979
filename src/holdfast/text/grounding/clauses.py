"""What somebody said, cut into clauses: whom each is about, whether it is denied, asked, supposed,
or reported in somebody else's words. English; of other languages only the words of denial are
known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from holdfast.text.analysis.terms import STOP_WORDS, fold
from holdfast.text.analysis.word_forms import tense
from holdfast.text.facts.statements import VERBS, long_forms
from holdfast.text.patterns import lazy
from holdfast.text.tables import read_table


class Clause(NamedTuple):
    """A piece of a text. The subject is 'self', 'you', a pronoun, or folded words; '' where it is
    that of the clause before it."""

    start: int
    end: int
    text: str
    subject: str
    asked: bool = False
    supposed: frozenset[str] = frozenset()
    told: bool = False
    refers: bool = False
    sentence: int = 0


_FENCE = lazy(r"(?ms)^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[ \t]*$|\Z)|^[ \t]*[>|].*?$")
_QUOTED = lazy(
    r"\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|«[^»\n]{1,600}»|(?<!\w)'(?=\w)[^'\n]{8,600}'(?!\w)"
)
_SENTENCE = lazy(r"(?<=[.!?…。！？])[\"')\]”’]*(?:\s+|(?<=[。！？]))|\n+")
_ABBREVIATION = lazy(r"(?i)\b(?:mr|mrs|ms|dr|st|prof|vs|e\.g|i\.e|etc|approx|no|inc|jr)\.\s*$")

_VERB = (
    r"(?:live|lives|lived|work|works|worked|use|uses|used|prefer|prefers|like|likes|love|loves|hate"
    r"|hates|have|has|had|am|is|are|was|were|moved|move|started|start|stopped|quit|bought|sold|got"
    r"|went|go|goes|play|plays|drink|drinks|eat|eats|run|runs|speak|speaks|want|wants|need|needs"
    r"|do|does|did|don't|doesn't|can|can't|will|would|should|could|never|always|usually|adopted"
    r"|joined|left|study|studies|studied|teach|teaches|own|owns|take|takes|took|met|switched"
    r"|decided|drive|drives|enjoy|enjoys|dislike|dislikes|think|thinks|plan|plans|hope|hopes)"
)
_WHO = (
    r"(?:i|i'm|i've|i'd|i'll|we|we're|we've|he|he's|she|she's|they|they're|it|it's|you|my|our|his"
    r"|her|their|its|the|this|that|there)"
)
# The white space between two words. Code and quotations are blanked to long runs of it, of which a
# pattern without a bound would try every part with every other.
_GAP, _GAP_BEFORE = r"\s{1,20}", r"\s{0,2}"
# A name and a word that may be a verb: 'and Bob won'.
_SOMEBODY_DOES = (
    r"(?-i:[A-Z][\w']*)\s(?!(?:in|at|on|of|for|with|to|from|and|or|by|as|but|is my)\b)(?-i:[a-z]+)"
)
_SPLIT = lazy(
    rf"(?i){_GAP_BEFORE}(?:[;:]{_GAP}|\s[-–—]+\s|\(|\)"
    rf"|(?<!thing)(?<!all)(?<!one),?{_GAP}but{_GAP}"
    rf"|{_GAP}that{_GAP}(?={_WHO}\b)"
    rf"|,?{_GAP}(?:because(?! of)|'?cause(?! of)|while|although|though|whereas|which|who"
    r"|whereupon|except that|even though|since(?= (?:i|we|he|she|they|it|my)\b)"
    rf"|so(?! (?:that|much|many|far|good|well|long|often)\b)){_GAP}"
    rf"|,?{_GAP}(?:and|or|then|plus)(?={_GAP}(?:{_WHO}|{_VERB}|{_SOMEBODY_DOES})\b){_GAP}"
    rf"|,{_GAP}(?=(?:{_WHO}|not|nobody|no one|can you|could you|would you|have you|do you"
    rf"|did you|is there|are there|any|please|what|how|where|when|why|which|right|"
    rf"(?-i:[A-Z])[\w']*{_GAP}{_VERB})\b)|,{_GAP}(?=and\b|then\b|so\b))\s*"
)
_RELATIVE = lazy(r"(?i)\b(?:who|which)\b")
# Words that carry on with whom the clause before was about.
_LINK = lazy(r"(?i)^(?:and|then|or|which|who|plus|also|so|but|now|because|while|that|where)\s+")

_OPENER = lazy(
    r"(?i)^(?:(?:hi|hello|hey|ok|okay|yes|no(?=[,.!:])|nope|yeah|yep|well|oh|ah|so|and|but|also|btw"
    r"|by the way|fyi|actually|sure|thanks|thank you|please|pls|plz|just fyi|anyway|right|look"
    r"|lol|haha|honestly|frankly|basically|just so you know|you should know(?: that)?|for context"
    r"|(?:(?:can|could|would|will) you (?:please )?)?(?:remember|keep in mind|note)(?: that)?"
    r"|(?:don't|do not|never) forget(?: that)?|for the record|to be clear|as i said|as you know"
    r"|i think(?: that)?|i believe(?: that)?|i guess(?: that)?|you know|i mean"
    r"|quick note|(?:quick )?(?:update|news|reminder|correction))\b[,:!.]*\s*)+"
)
# A request to remember is no question, though it has the mark of one.
_REQUEST = lazy(
    r"(?i)^(?:(?:and|so|hey|hi|also|please)[, ]+)*(?:can|could|would|will) you (?:please )?"
    r"(?:remember|note|keep in mind)(?: that)? "
)
_ASKS = lazy(
    r"(?i)^(?:(?:and|so|but|or|then)\s+)?(?:do|does|did|is|are|am|was|were|can|could|would|will"
    r"|should"
    r"|shall|have|has|had|may|might|what|what's|where|where's|when|who|who's|whom|whose|which"
    r"|why|how"
    r"|how's|isn't|aren't|don't|doesn't|didn't|won't|any \w+|right|correct"
    r"|tell me)\b"
)
_TAG = lazy(
    r"(?i)^(?:right|correct|no|yes|huh|eh|ok|okay|isn't it|is it|don't i|do i|didn't i|did i|am i"
    r"|aren't i|remember|don't you think|or not|or am i\b.*|or\b.*)\W*\?*$"
)
# 'Not sure if …' asks, and puts no condition on what was said before it; nor does a polite request
# on anything.
_ASKED_IF = lazy(
    r"(?i)\b(?:wonder\w*|ask\w*|know|knows|see|tell me|check|(?:un)?sure|curious|figure out"
    r"|decid\w+|understand|determine) if\b"
)
_REQUESTED_IF = lazy(
    r"(?i)\b(?:wonder\w*|ask\w*|hop\w+|(?:appreciate it|grateful|great|nice|helpful|love it)) if"
    r" you (?:can|could|would|might|have)\b|\bif (?:you (?:don't mind|can|could)|possible)\b"
)
# At the front, they are about all that follows.
_PERHAPS = lazy(r"(?i)(?:maybe|perhaps|possibly|probably|apparently|supposedly)\b")
_TOLD = lazy(
    r"(?i)\b(?:said|says|saying|told (?:me|us|him|her|them|everyone)|tells (?:me|us)|claims?"
    r"|claimed"
    r"|thinks|thought|believes|believed|insists|insisted|mentioned|wrote|writes|texted|asked|argues"
    r"|argued|according to|reads|announced|heard|suggested|suggests|joked|lied)\b"
)
_OWN_WORDS = lazy(r"(?i)^(?:i|we)\s+(?:\w+\s+)?(?:said|told|mentioned|wrote|think|believe)\b")


_ORDER_TEXT = lazy(
    r"(?i)\s*(?:(?:hi|hey|ok|okay|so|and|please|now)[,!]? )*(?:(?:can|could|would"
    r"|will) you )?(?:please )?"
    r"(?:help me )?(?:write|compose|draft|generate|create|translate|rewrite|rephrase|reword"
    r"|summari[sz]e"
    r"|proofread|correct|improve|polish|shorten|continue|finish|edit|analy[sz]e|act as|role-?play"
    r"|pretend|imagine|reply to|respond to|answer(?! in\b))\b"
)


def clauses_of(said: str) -> tuple[Clause, ...]:
    """The clauses of a text in order."""
    return _clauses(said)


@lru_cache(maxsize=64)
def _clauses(said: str) -> tuple[Clause, ...]:
    blanked = _blank(said)
    out: list[Clause] = []
    given = False
    for number, (start, end) in enumerate(_sentences(blanked)):
        found = _of_sentence(blanked, start, end, number)
        orders = _ORDER_TEXT.match(blanked[start:end])
        if given or orders:
            # What is to be written or translated is nobody's statement, and neither is the text
            # below such an order.
            found = [one._replace(supposed=one.supposed | {"if"}) for one in found]
            given = given or ":" in blanked[start:end]
        out += found
    return tuple(out)


def _blank(said: str) -> str:
    """The text with code, quoted lines and what others said word for word taken out; everything
    keeps its place."""
    blank = _FENCE.sub(lambda found: " " * len(found[0]), said)
    whole = said.strip()

    def unless_name(found: re.Match[str]) -> str:
        # A title or a name in quotes is no speech; a turn that is one quotation is its own.
        if len(found[0].split()) <= 4 or found[0] == whole:
            return found[0]
        return " " * len(found[0])

    return _QUOTED.sub(unless_name, blank)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _SENTENCE.finditer(text):
        if "\n" not in mark[0] and _ABBREVIATION.search(
            text[max(0, mark.start() - 12) : mark.end()]
        ):
            continue
        if text[start : mark.start()].strip():
            yield start, mark.start()
        start = mark.end()
    if text[start:].strip():
        yield start, len(text)


def _of_sentence(text: str, start: int, end: int, number: int) -> list[Clause]:
    whole = text[start:end]
    asking = whole.rstrip("\"')]”’* ").endswith(("?", "？")) and not _REQUEST.match(whole)
    asked_if = _ASKED_IF.search(_REQUESTED_IF.sub(_same_length, whole))
    always = _supposed(long_forms(_ASKED_IF.sub("", _REQUESTED_IF.sub("", whole)))) & {"if"}
    if _PERHAPS.match(_OPENER.sub("", whole.strip())):
        always.add("may")
    cuts = [(mark.start(), mark.end()) for mark in _SPLIT.finditer(whole)]
    starts = [0, *(stop for _, stop in cuts)]
    ends = [*(begin for begin, _ in cuts), len(whole)]
    links = ["", *(whole[begin:stop] for begin, stop in cuts)]
    pieces = [
        (start + a, start + b, whole[a:b], link)
        for a, b, link in zip(starts, ends, links, strict=True)
        if whole[a:b].strip(" .,!?")
    ]
    statement_first = asking and _mixed([piece[2] for piece in pieces])
    out: list[Clause] = []
    told = False
    for at, (begin, stop, raw, link) in enumerate(pieces):
        plain = _OPENER.sub("", raw.strip(" .,!?*-"))
        subject = _subject(plain)
        refers = subject in _PRONOUNS
        if not subject:
            # The subject of the clause before it; after 'who', somebody named in it.
            refers = bool(out)
            subject = out[-1].subject if out else ""
            if _RELATIVE.search(link):
                subject = "that"
        # 'I hate that he lost his job' does not carry on with the speaker.
        refers = refers and link.strip() != "that"
        told = told or (bool(_TOLD.search(plain)) and not _OWN_WORDS.match(plain))
        full = long_forms(plain)
        supposed = always | _supposed(full)
        if asked_if and begin > start + asked_if.start():
            supposed.add("if")
        asked = asking and not (statement_first and at < len(pieces) - 1)
        held = frozenset(supposed)
        out.append(Clause(begin, stop, plain, subject, asked, held, told, refers, number))
    return out


def _same_length(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _supposed(text: str) -> set[str]:
    return {name for name, pattern in _supposing() if pattern.search(text)}


@cache
def _supposing() -> list[tuple[str, re.Pattern[str]]]:
    rows = read_table("grounding/supposed.txt")
    return [(name, lazy(pattern, re.IGNORECASE)) for name, _, pattern in rows]


def _mixed(pieces: list[str]) -> bool:
    """Whether a statement comes before the question: 'I moved, can you note that?'"""
    if len(pieces) < 2 or _ASKS.match(_OPENER.sub("", pieces[0].strip())):
        return False
    last = pieces[-1].strip(" ,")
    return _ASKS.match(last) is not None and not _TAG.match(last)


_SELF = lazy(r"(?i)^(?:i|we|let's|let us|me|i'm|i've|i'd|i'll|we're|we've|we'll|we'd|im|ive)\b")
_CALL_ME = lazy(
    r"(?i)^(?:you can |please |just |(?:everyone|everybody|people|friends|my friends) )?calls? me\b"
)
_BEFORE_VERB = r"(?:(?:just|now|also|really|still|always|never|only|usually|recently|finally)\s+)?"
_OWNED = lazy(
    r"(?i)^(?:my|our)\s+((?:[\w'-]+\s+){0,3}?[\w'-]+)(?=\s+"
    rf"{_BEFORE_VERB}(?:is|are|was|were|has|have|had|'s|{_VERB})\b)"
)
# A verb that is not known: the first word after 'my' is what it is about.
_OWN_THING = lazy(r"(?i)^(?:my|our)\s+([\w'-]+)")
_PRONOUNS = frozenset(
    "he she they it this that there his her their its these those".split()  # noqa: SIM905
)
_PRONOUN = lazy(
    r"(?i)^(he|she|they|it|you|this|that|there|his|her|their|its|these|those)(?:'s|'re|'ve|'ll"
    r"|'d)?\b"
)
_NOUN = lazy(
    rf"(?i)^((?:the|a|an|some|all|every)\s+(?:[\w'.-]+\s+){{0,4}}?[\w'.-]+)(?=\s+(?:is|are|was"
    rf"|were|has|have|had|{_VERB}"
    r"|listens|costs|takes|needs|runs|lives)\b)"
)
# A name, and whatever it does.
_NAMED = lazy(
    r"^([A-Z][\w'.-]*(?:\s+(?:and\s+)?[A-Z][\w'.-]*){0,3})(?=\s+"
    r"(?!(?:a|an|the|my|your|our|his|her|their|this|that|in|at|on|of|for|with|to|from|by"
    r"|as)\b)[a-z])"
)
# 'Ana is my wife' is about the wife.
_TURNED = lazy(
    r"^[A-Z][\w'.-]*(?: [A-Z][\w'.-]*)? (?:is|was) (?:my|our) ((?:[\w'-]+ ){0,2}[\w'-]+)\Z"
)
_ADVERBS = lazy(
    r"(?i)^(?:(?:last|next|this|every|each) \w+|yesterday|today|tomorrow|now|currently|recently"
    r"|[\w ]{1,20} ago|from now on|in \w+(?: \d{4})?|in the \w+|at (?:work|home)|these days"
    r"|nowadays"
    r"|finally|sometimes|usually|always|often|on \w+"
    r"|(?:after|before|since|during|until|for|over) [\w' ]{1,60}?(?=,? (?:i|we)\b)),?\s+"
)


def _may_be_name(word: str) -> bool:
    """Whether a word at the beginning, with a capital for that, may be a name."""
    if word in VERBS or word in STOP_WORDS or word.endswith("ly"):
        return False
    return tense(word) == "present"


def _subject(plain: str) -> str:
    """Whom a clause is about; '' where it does not say."""
    bare = _ADVERBS.sub("", _LINK.sub("", plain))
    if _SELF.match(bare) or _CALL_ME.match(bare):
        return "self"
    if match := _OWNED.match(bare) or _OWN_THING.match(bare):
        return f"my {fold(match[1])}"
    if match := _PRONOUN.match(bare):
        return match[1].lower()
    if match := _TURNED.match(bare):
        return f"my {fold(match[1])}"
    if (match := _NAMED.match(bare)) and _may_be_name(match[1].split()[0].lower()):
        return fold(match[1])
    if match := _NOUN.match(bare):
        return fold(match[1])
    return ""
