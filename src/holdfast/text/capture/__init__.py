"""Captures statements of a person about themselves, and instructions for the future, from one turn.

Requests to remember something and orders are recognised as such and kept in the person's own words.
Statements are matched by rules for single English clauses and told in the third person. In eight
other languages a sentence about oneself is kept as it was said (`facts/about_oneself.py`). A
sentence that no rule matches is judged by a trained model, and kept as it was said too
(`learned.py`).
Precision comes before recall: a wrong fact is shown to an agent on every turn, and a missed one is
still found in the conversation log.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from holdfast.text.capture.answers import answer_to
from holdfast.text.capture.learned import VectorOf, with_learned
from holdfast.text.capture.requests import asked_behind, order_start, requested
from holdfast.text.capture.sentence_model import Message
from holdfast.text.capture.sentences import (
    ASIDE,
    BLANK,
    Sentence,
    clauses,
    sentences,
    stated_part,
    without_fillers,
)
from holdfast.text.capture.statements import (
    CALLED,
    Captured,
    matching,
    opening_end,
    stated,
    without_end,
)
from holdfast.text.capture.wording import (
    Resolved,
    as_said,
    dated,
    in_other_language,
    in_own_words,
    resolve,
    said_on,
    tell,
)
from holdfast.text.facts import about_oneself
from holdfast.text.tables import Patterns, lazy, read_words

__all__ = ["CAPTURED_MAX", "Captured", "VectorOf", "capture", "told_changes"]


_PATTERNS = Patterns("capture/patterns.txt")
_WORDS = read_words("capture/words.txt")

# A turn with more facts is a form or a pasted list.
CAPTURED_MAX = 20
_NOT_NAMES = frozenset({"", "user", "human", "me", "you"})


def capture(
    said: str,
    *,
    at: datetime | None,
    speaker: str = "",
    question: str = "",
    learned: bool = True,
    vector_of: VectorOf | None = None,
) -> list[Captured]:
    """The facts of one turn in the order they were said, each once.

    `at` is when it was said. Without it, 'last March' stays 'last March'. With a speaker that is a
    name, the name is the subject. `question` is what the assistant said last, which a short turn
    may answer. `learned`: whether the trained model judges sentences, as said to an assistant; with
    `vector_of` it finds more.
    """
    plain, places = without_fillers(said)
    if places:
        facts = capture(
            plain,
            at=at,
            speaker=speaker,
            question=question,
            learned=learned,
            vector_of=vector_of,
        )
        return [one._replace(start=places[one.start], end=places[one.end - 1] + 1) for one in facts]
    named = "" if speaker.strip().lower() in _NOT_NAMES else speaker.strip()
    found: dict[str, Captured] = {}
    answer = answer_to(question, said) if question and not named else None
    if answer is not None:
        start = len(said) - len(said.lstrip())
        end = len(said.rstrip())
        fact = Captured(answer.text, answer.category, start, end, "answer", verbatim=True)
        found[fact.text.casefold()] = fact
    for sentence in asked_behind(sentences(said)):
        facts = _facts(sentence, at, named)
        for fact in facts:
            found.setdefault(fact.text.casefold(), fact)
        beside = [] if named else list(_named_beside(sentence))
        for fact in beside:
            name = _IS_CALLED.split(fact.text, maxsplit=1)[-1].casefold()
            if not any(name in text for text in found):
                found[fact.text.casefold()] = fact
        if learned and answer is None and not (named or beside):
            stating = stated_part(sentence)
            message = Message(said[: stating.start], said[stating.end :], question)
            for fact in with_learned(stating, facts, message, at, vector_of):
                key = fact.text.casefold()
                found[key] = found.get(key, fact)._replace(rule=fact.rule, lasting=fact.lasting)
        if len(found) >= CAPTURED_MAX:
            break
    facts = list(found.values())[:CAPTURED_MAX]
    return _answered_once(facts)


def _answered_once(facts: list[Captured]) -> list[Captured]:
    """The facts of a turn without the answer that one of its statements gives by itself."""
    answer = next((one for one in facts if one.rule == "answer"), None)
    stated = next((one for one in facts if one.rule != "answer" and one.standing), None)
    if answer is None or stated is None:
        return facts
    if "? " in answer.text:
        # 'I prefer tea' says by itself what was asked.
        return [one for one in facts if one is not answer]
    if stated.text.rsplit(" ", 1)[-1] != answer.text.rsplit(" ", 1)[-1]:
        return facts
    # It was asked for, which makes it no less than the answer.
    return [
        one._replace(rule="answer") if one is stated else one for one in facts if one is not answer
    ]


def told_changes(said: str, *, at: datetime) -> Iterator[Captured]:
    """Sentences of a turn that may report a changed fact, in the person's own words: each as a
    whole, or else a statement in it. They are stored only if they change an existing memory."""
    from holdfast.text.slots.compare import tells_of_change

    for sentence in sentences(said):
        if sentence.asked or sentence.folded.rstrip("\"')]”’ ").endswith("?"):
            continue
        start = opening_end(sentence.folded)
        whole = (sentence.start + start, sentence.folded[start:], sentence.said[start:])
        parts = ((one.start, one.folded, one.said) for one in clauses(sentence) if not one.inherits)
        for begin, folded, words in (whole, *parts):
            folded, words = without_end(folded, words)
            if _stands_alone(folded) and tells_of_change(words):
                text = in_own_words(words, at)
                yield Captured(text, "fact", begin, begin + len(words), "change", verbatim=True)


def _stands_alone(folded: str) -> bool:
    """Whether a statement needs no other to be understood: what its first part names, its others
    may point at."""
    # 'They raised our rent': whoever they are.
    plain = _THEY.sub(" ", _PATTERNS["refers nowhere"].sub(" ", folded))
    first = _FIRST_PART.match(plain)
    head = first[0] if first else plain
    return (
        BLANK not in folded
        and _PATTERNS["supposed"].search(plain) is None
        and not any(_PATTERNS[name].search(head) for name in ("refers", "third"))
    )


_THEY = lazy(r"^they (?=(?:\w+ ){1,2}(?:my|our|me|us)\b)")
# At least three words, which name something that 'it' may be.
_FIRST_PART = lazy(r"(?:[^\s,;]+ ){2,}[^\s,;]+(?=[,;] )")


def _facts(sentence: Sentence, at: datetime | None, named: str) -> list[Captured]:
    order = None if named else _ordered(sentence)
    if order is not None and sentence.asked:
        return [order._replace(rule="remember", explicit=True)]
    asked = _asked(sentence, at, named)
    if asked is not None:
        return [asked]
    if order is not None:
        return [order]
    if not named and (others := _in_another_language(sentence, at)):
        return others
    if not named and (called := _got_and_named(sentence, at)) is not None:
        return [called]
    greeted = sentence.start if _HELLO.match(sentence.folded) else None
    last = None if named else _ordered_last(sentence)
    facts = [
        fact
        for clause in clauses(sentence)
        if last is None or clause.start < last.start
        for fact in stated(clause, at, named, greeted=greeted)
    ]
    return [*facts, last] if last else facts


def _ordered_last(sentence: Sentence) -> Captured | None:
    """The order behind a statement: 'We moved to uv, so please use uv from now on'. One that means
    what the statement names needs it: 'The key is in 1Password, never put it in .env'."""
    found = _THEN_ORDER.search(sentence.folded)
    if found is None:
        return None
    order = _from(sentence, found.end())
    if (alone := _ordered(order)) is not None:
        return alone
    start = opening_end(sentence.folded)
    head = sentence.folded[start : found.start()]
    is_whole = _FIRM_ORDER.match(order.folded) and _THERE.search(order.folded)
    if not is_whole or not _HEAD.search(head) or _PATTERNS["refers"].search(head):
        return None
    if BLANK in sentence.folded or sentence.folded.rstrip(" \"')").endswith("?"):
        return None
    _, words = without_end(sentence.folded[start:], sentence.said[start:])
    at = sentence.start + start
    return Captured(
        as_said(words), "preference", at, at + len(words), "standing-order", verbatim=True
    )


def _from(sentence: Sentence, at: int) -> Sentence:
    return sentence._replace(
        start=sentence.start + at, said=sentence.said[at:], folded=sentence.folded[at:]
    )


# An order for good, which means something that was named before it.
_FIRM_ORDER = lazy(r"(?:please )?never (?:ever )?(?!mind|again)\w+")
_THERE = lazy(r"\b(?:it|them|there|those)\b")
# What comes before states something.
_HEAD = lazy(r"\b(?:is|are|lives?|happens?|goes|runs?|comes?|belongs?)\b")
_THEN_ORDER = lazy(
    r"[,;] (?:(?:and|so|but) )?(?=(?:please|pls|from now on) |(?:please )?never (?!mind|again))"
)


def _got_and_named(sentence: Sentence, at: datetime | None) -> Captured | None:
    """'We got a puppy on Saturday, her name is Biscuit': the name says nothing by itself."""
    found = _PATTERNS["named later"].match(sentence.folded)
    found = found or _PATTERNS["named first"].match(sentence.folded)
    if found is None or at is None or BLANK in found[0]:
        return None
    if (
        _PATTERNS["supposed"].search(sentence.folded)
        or not sentence.said[found.start("name")].isupper()
    ):
        return None
    words = without_end(found[0], sentence.said[: found.end()])[1]
    text = in_own_words(words, at)
    return Captured(
        text, "person", sentence.start, sentence.start + len(words), "kin-name", verbatim=True
    )


def _named_beside(sentence: Sentence) -> Iterator[Captured]:
    """Who relatives and pets are, where a sentence about something else names them."""
    for form, verb in (("named beside", "is"), ("several named", "are")):
        for found in _PATTERNS[form].finditer(sentence.folded):
            begin, end = found.span("names" if verb == "are" else "name")
            said, after = sentence.said[begin:end], sentence.said[end : end + 2]
            if verb == "is" and (found["verb"] or "").strip() in _WORDS["takes two"]:
                continue
            # 'My sister Mary Ann' has a second name, and 'my dad Formula 1' none.
            if after[1:2].isupper() or after[1:2].isdigit() or BLANK in said + after:
                continue
            if not all(map(_is_name, _BETWEEN_NAMES.split(said))):
                continue
            text = f"{found['who'].capitalize()} {verb} {said}"
            start = sentence.start + found.start("who")
            yield Captured(text, "person", start, sentence.start + end, "kin-name", verbatim=True)


_IS_CALLED = lazy(r" (?:is|are) ")
_BETWEEN_NAMES = lazy(r"(?: ?\(\d+\))?(?:,? (?:and|&) |, |\Z)")


def _is_name(word: str) -> bool:
    if not word:
        return True
    return (
        word[0].isupper()
        and not word.isupper()
        and _PATTERNS["no name"].match(word.lower()) is None
    )


_HELLO = lazy(r"(?:hi|hey|hello|hiya|yo|good (?:morning|evening|afternoon))\b")


# Explicit requests


def _asked(sentence: Sentence, at: datetime | None, named: str) -> Captured | None:
    """What the person asks to be remembered or labels as a decision, to the end of the sentence."""
    opened = opening_end(sentence.folded, until=_PATTERNS["explicit"])
    explicit = _PATTERNS["explicit"].match(sentence.folded, opened)
    if explicit and _REMINDS.match(explicit[0]) and sentence.folded.rstrip(" \"')").endswith("?"):
        return None  # 'Remember that book I told you about?'
    labelled = _PATTERNS["decision label"].match(sentence.folded, opened)
    begin = explicit or labelled
    front, end = begin.end() if begin else 0, len(sentence.said)
    if begin is None and not sentence.asked:
        # 'Please' and 'note' are fillers elsewhere, and begin a request here.
        places = ((at, requested(sentence.folded[at:])) for at in dict.fromkeys((0, opened)))
        found = next(((at, place) for at, place in places if place is not None), None)
        if found is None:
            return None
        front, end = found[0] + found[1][0], found[0] + found[1][1]
    # Addresses and notes in brackets are part of what is to be remembered.
    folded = sentence.folded[front:end].replace(ASIDE, "x").rstrip("? ")
    folded, words = without_end(folded, sentence.said[front:end])
    if len(folded) < _CHARS_MIN or BLANK in folded:
        return None
    if begin and (_PATTERNS["to you"].search(folded) or _PATTERNS["advice"].search(folded)):
        return None
    is_short = folded.count(" ") < _SHORT_WORDS
    if explicit and is_short and _PATTERNS["refers"].search(folded):
        return None  # 'Remember, just do it.'
    if begin and _SAYING.match(begin[0]) and not _PATTERNS["says something"].search(words):
        return None  # 'Remember, the experience matters as much as the result.'
    rule = next(matching(folded, words), None)
    if named and rule is None and not _STATES.search(folded):
        # Between people, 'remember …' is also encouragement.
        return None
    when = rule.when if rule else "past" if _PAST.search(folded) else "ahead"
    if when == "past" and _IS_ON.search(folded) and not _PAST.search(folded):
        when = "ahead"
    if when == "yearly":
        resolved = Resolved(words, None, None)
    else:
        resolved = resolve(words, at, when=when)
    if resolved.since is None and not named:
        resolved = in_other_language(words, at) or resolved
    start = sentence.start + front
    # A request to remember is stored in the person's own words.
    return Captured(
        tell(resolved.text, named) if named else dated(as_said(words), resolved, at),
        "decision" if labelled else rule.category if rule else "fact",
        start,
        start + len(words),
        "decision" if labelled else "remember",
        not labelled,
        resolved.since,
        resolved.until,
        not named,
    )


# 'is 5' is the least that says something; it may be one word in other scripts.
_CHARS_MIN = 4
_SHORT_WORDS = 4
# With a comma, 'remember' also begins a piece of wisdom: what tells something has a person, a
# number, a name or an instruction in it.
_SAYING = lazy(r"(?:remember|never forget|don'?t forget|keep in mind), *$")
_REMINDS = lazy(r"(?:remember|do you remember)\b")
_STATES = lazy(r"\b(?:is|are|was|were|has|have)\b")
# 'The release is on Friday' is about the next one.
_IS_ON = lazy(r"\b(?:is|are|starts?|begins?|opens?|closes?|ends?|leaves?) (?:due )?(?:on|by) ")
_PAST = lazy(r"\b(?:was|were|had|did|went|got|came|left|\w{3,}ed)\b")


# Orders


def _ordered(sentence: Sentence) -> Captured | None:
    """What the person wants done from now on, in their own words."""
    opened = _order_opening(sentence.folded)
    start = order_start(sentence.folded[opened:])
    if start is None or BLANK in sentence.folded or CALLED.search(sentence.folded):
        return None
    front = opened + start
    front += _POLITE.match(sentence.folded[front:]).end()  # type: ignore[union-attr]
    words = without_end(sentence.folded[front:], sentence.said[front:])[1].rstrip("? ")
    begin = sentence.start + front
    # 'No, I need 120 stars, not 300' corrects what was said and orders nothing.
    told = _PATTERNS["own correction"].match(sentence.folded[front:])
    category, rule = ("fact", "correction") if told else ("preference", "standing-order")
    return Captured(as_said(words), category, begin, begin + len(words), rule, verbatim=True)


_POLITE = lazy(r"(?:(?:please|pls|plz|just|and|but|so|also|again)\b,? *)*")
_GREETING = lazy(
    r"(?:(?:hi|hey|hello|ok|okay|btw|also|and|so|thanks|cool|great|oh|ah|well|right|alright|hm+"
    r"|u+gh+|a+r+gh+|gr+|(?:one|an)(?: more| last)? ?(?:other )?thing|whatever you do)[,!.:; ]+)+"
)


def _order_opening(folded: str) -> int:
    """Where a sentence begins after a greeting; 'no' and 'please' are part of an order."""
    found = _GREETING.match(folded)
    return found.end() if found else 0


# Other languages


def _in_another_language(sentence: Sentence, at: datetime | None) -> list[Captured]:
    """What the person says about themselves in another language than English, as they said it."""
    several = about_oneself.several_stated(sentence.folded, sentence.said)
    if several:
        return [_of_oneself(sentence, one.found, at, one.subject) for one in several]
    found = about_oneself.stated(sentence.folded, sentence.said)
    return [] if found is None else [_of_oneself(sentence, found, at)]


def _of_oneself(
    sentence: Sentence,
    found: about_oneself.SelfStatement,
    at: datetime | None,
    subject: str = "",
) -> Captured:
    rule, category = about_oneself.RULE_OF[found.slot]
    words = as_said(subject + sentence.said[found.start : found.end])
    if found.relative and at is not None:
        words = said_on(words, at)
    start = sentence.start + found.start
    return Captured(words, category, start, sentence.start + found.end, rule, verbatim=True)
