"""Finds the statements of a turn that are the person's own. Code, quotations, pasted texts and
mails, lines of other speakers, fiction and irony are left out. A sentence is cut into clauses, so
that each clause states one fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.text.analysis.spans import fold_in_place as fold
from holdfast.text.capture.vocabulary import OPENING, TRADES, TRAITS, any_of
from holdfast.text.patterns import lazy

# Sentences


# A longer line without a sentence end is a table or a dump.
_SENTENCE_CHARS_MAX = 1_200
# A turn with more sentences was pasted.
SENTENCES_MAX = 300
# A longer turn contains pasted text; what the person says about it is above or below.
_PASTED_CHARS_MIN = 3_000
# BLANK replaces each character of somebody else's words; ASIDE replaces notes in brackets and URLs.
BLANK, ASIDE = "\x00", "\x01"


class Sentence(NamedTuple):
    """A sentence of the person's own, and its place in the turn. `asked` are the lines under
    'Please remember:'."""

    start: int
    end: int
    said: str
    folded: str
    asked: bool = False


_NO_LINE_END = lazy(r"[^\n]")
_FENCE = lazy(r"(?m)^ {0,3}(```+|~~~+)")
_QUOTED = lazy(r"`[^`\n]{1,300}`|“[^”]{1,600}”|\"[^\"\n]{1,600}\"|\[[^\]\n]{1,400}\]|https?://\S+")
_SINGLE_QUOTED = lazy(r"(?<![\w])['‘](?=\w)[^'’\n]{2,300}(?<=[\w.!?,])['’](?!\w)")
_PARAGRAPH = lazy(r"\n[ \t]*\r?\n")
_LINE = lazy(r"[^\r\n]*(?:\r\n?|\n|$)")
# After one of these lines the text is somebody else's.
_PASTED = lazy(
    r"(?:-{2,} ?(?:original message|forwarded message|begin)|(?:from|to|subject|sent|cc|date): \S"
    r"|on .{4,80} wrote: *$|begin forwarded message|dear [\w. ]{1,40},? *$)"
)
_HEADING = lazy(r"#{1,6} \S")
_WORK_ON_TEXT = any_of(
    """
    translate, rewrite, re-write, summari[sz]e, proofread, proof-read, correct, fix, edit, review,
    improve, polish, check, shorten, rephrase, paraphrase, reword, reply, respond, answer,
    analy[sz]e, grade, format, convert, explain, classify, extract, draft, text, email, e-mail,
    message, letter, essay, bio, article, post, lyrics, quote, sentence, paragraph, poem, wrote,
    says?, said, reads, goes, prompt, input, example, following, transcript, caption, tweet, story,
    dialogue, outputs?, logs?, terminal, console, stack ?trace, job ad, ticket,
    (?:here(?:'s| is| are)|below is|this is|that's|got this)
    (?:an?|the|my|what(?! i (?:need|want|have|know|did|think))|some|how)
    """
)
_GIVEN = lazy(rf"\b{_WORK_ON_TEXT}\b[^:\n]{{0,120}}:(?= |$)")
_TEXTS = any_of(
    r"""
    texts?, essays?, e-?mails?, messages?, letters?, bios?, articles?, posts?, poems?, ads?, readme,
    sections?, paragraphs?, sentences?, reviews?, transcripts?, notes?, documents?, docs?, pages?,
    descriptions?, abstract, speech, prompts?, logs?, outputs?, tickets?, comments?, repl(?:y|ies),
    answers?, translations?, cv, r[eé]sum[eé]s?, statements?, stor(?:y|ies), chapters?, captions?,
    tweets?, changelog, polic(?:y|ies), contracts?, survey, quotes?, guide, chats?, threads?
    """
)
# A paragraph that speaks of a text: what comes below it was pasted.
_ABOUT_TEXT = lazy(
    rf"\b(?:this|these|following|attached|here(?:'s| is| are))\b.{{0,40}}\b{_TEXTS}\b"
    rf"|\b(?:grade|translate|rewrite|summari[sz]e|proofread|shorten|rephrase|paraphrase|polish"
    rf"|review"
    rf"|improve|extract|analy[sz]e)\b.{{0,40}}\b{_TEXTS}\b"
    r"|\bhere(?:'s| is) what (?!i\b|we\b)|\b(?:wrote|writes|sent|says|said|posted"
    r"|replied)\b[^.]{0,30}$"
)
# 'Here's a bio, make it shorter.' Even in the same paragraph, the rest is the text.
_TEXT_AND_TASK = lazy(
    rf"\bhere(?:'s| is) (?:an?|the|my|our|some) (?:\w+ ){{0,3}}{_TEXTS}\b.*\b(?:make|shorten"
    rf"|rewrite"
    r"|translate|improve|fix|polish|correct|summari[sz]e|check|edit|turn)\b"
)
# Code and quotations end by themselves; what comes after them is the person's again.
_DELIMITED = lazy(
    r"\s*(?:```|~~~|[>|$<{\[#@(]|//|/\*|\w+\(|(?:def|class|import|from|const|let|var|func|fn|public"
    r"|select|traceback|file)\b)|\s*\n(?: {4}|\t)",
    re.IGNORECASE,
)
_FICTIONS = any_of(
    """
    story, poem, song, scene, dialogue, monologue, haiku, joke, lyrics, rap, limerick, skit,
    screenplay, persona, fanfic, conversation, diary, test data, sample, example
    """
)
_FICTION = lazy(
    r"\b(?:pretend|imagine|suppose|hypothetically|role-?play\w*|assume|first[- ]person|for example"
    r"|let'?s (?:say|pretend|imagine|assume|practi[cs]e|play)|e\.g\.|lorem|(?:my|the"
    r"|main) character"
    r"|in (?:this|the|my) (?:story|scenario|game|novel|scene|dream|play)"
    r"|you(?:'re| are) (?:an?|my|the(?! (?:best|only|one))) |be my \w+|mock (?:interview|exam"
    r"|trial|call|debate)|in character"
    r"|simulat\w+|(?:i|we)(?:'re|'m| are| am)? play(?:ing)? (?:d&d|an? (?:\w+ )?(?:game|round"
    r"|character)"
    r"|dungeons)|in (?:this|the) game|i'?ll (?:be|play|act as)|(?:from|in) the (?:view|voice"
    r"|perspective) of"
    r"|(?:act|speak|talk|answer) (?:as|like)|(?:write|tell|give|make|compose|generate|create)"
    rf"(?: me| us)? (?:an? |some |the )?(?:\w+ ){{0,3}}{_FICTIONS})\b"
)
_IRONY = lazy(
    r"(?:^|\s)/s\b|\byeah,? right\b|\bsure,? jan\b|\bas if\b|\b(?:just |only )?kidding\b|\bj/?k\b"
    r"|\bjoking\b|🙄|\bnot!|\bsarcas\w+|\bwhatever you say\b"
)
# A shorter sentence with a sign of irony retracts the sentence before it.
_TAKES_BACK_CHARS_MAX = 40
_SPEAKER = lazy(
    r"[ \t]*(?:\*\*)?[A-Z@][\w.-]*(?: [A-Z][\w.-]*)?(?:\*\*)?(?: ?[\[(][^\])\n]{0,40}[\])])?"
    r" ?:(?:\*\*)? "
)
_OWN_LABELS = frozenset(
    """
    remember decision decided note ps fyi update edit reminder correction important context
    background deadline birthday user me human memo notiere notiz merke wichtig apunta anota
    importante annota nota noteer belangrijk onthoud recuerda ricorda lembra
    """.split()  # noqa: SIM905 - a list of twenty quoted words is harder to read
)
_NO_PROSE = (">", "|", "#", "{", "}", "<", "$", "//", "/*", "import ", "def ", "    ", "\t")
_BULLET = lazy(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_SENTENCE_END = lazy(
    r"(?<=[.!?…])[\"')\]”’]*\s+|(?<=[^\W\d_][)\s])[.!?]+(?=\s)|(?<=\w)\.(?=[A-Z]\w* )"
    # Scripts without spaces have none behind the end of a sentence.
    r"|(?<=[。！？])(?=.)"
)
_ABBREVIATION = lazy(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|jr|sr|vs|etc|inc|ltd|co|approx|dept|fig|no|vol|e\.g|i\.e|a\.m"
    r"|p\.m|u\.s|u\.k)|\b\w)\.$"
)
_OPENS_NEXT = lazy(
    r"\s*(?:(?:覚えて|忘れないで|メモして|記憶して)[^。！？]{0,12}。"
    r"|(?i:no|nope|nah|wrong|ugh|stop|remember this|note this)(?i:,? no)*[.!]+)"
)
_ASKED_BELOW = lazy(
    r"(?:(?:can|could) you )?(?:please |pls )?(?:also )?(?:remember|keep in mind|memori[sz]e|save"
    r"|store|note)(?: these| this| the following)?(?: \w+){0,3} ?:"
)


def sentences(said: str) -> list[Sentence]:
    """The sentences of a turn that are the person's own, in order."""
    plain = _without_quotations(said)
    first, last = _outer_paragraphs(plain)
    kept: list[Sentence] = []
    imagined = asked = headed = about_text = in_shell = False
    for line in _LINE.finditer(plain):
        if first < line.start() < last:
            continue
        text = line.group()
        stripped = text.strip()
        if not stripped:
            # Fiction, and a list to remember, end with their paragraph.
            imagined, asked = imagined and line.end() >= len(plain), False
            if about_text and not _DELIMITED.match(said, line.start()):
                break
            about_text = in_shell = False
            continue
        if _PASTED.match(fold(stripped)):
            break
        # Below a heading is a document; what the person says about it is above.
        headed = headed or _HEADING.match(stripped) is not None
        # Below a command is its output, to the end of the paragraph.
        in_shell = in_shell or stripped.startswith(("$ ", ">>> "))
        if headed or in_shell:
            continue
        if not _is_prose(text, stripped):
            continue
        for start, end in _cut(plain, line.start(), line.end()):
            folded = fold(plain[start:end])
            if _IRONY.search(folded):
                if len(folded) < _TAKES_BACK_CHARS_MAX and kept:
                    kept.pop()
                continue
            if _ASKED_BELOW.fullmatch(folded):
                asked = True
                continue
            imagined = imagined or _FICTION.search(folded) is not None
            about_text = about_text or _ABOUT_TEXT.search(folded) is not None
            given = _GIVEN.search(folded)
            if given is not None:
                whole, end, folded = end, start + given.end(), folded[: given.end()]
            if not imagined:
                kept.append(Sentence(start, end, said[start:end], folded, asked))
            if len(kept) == SENTENCES_MAX or _TEXT_AND_TASK.search(folded):
                return kept
            if given is not None and (end < whole or not _DELIMITED.match(said, whole)):
                return kept
    return kept


def _outer_paragraphs(plain: str) -> tuple[int, int]:
    """Where the first paragraph ends and the last one begins, in a turn with pasted text."""
    if len(plain) < _PASTED_CHARS_MIN:
        return len(plain), len(plain)
    text = plain.rstrip()
    first, last = _PARAGRAPH.search(plain, len(plain) - len(plain.lstrip())), text.rfind("\n\n")
    return (first.start(), last) if first else (len(plain), len(plain))


def _without_quotations(said: str) -> str:
    """The text with code and quotations blanked, character for character."""
    pieces: list[str] = []
    at = 0
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(said):
        if opened is None:
            pieces.append(said[at : fence.start()])
            opened = fence
        elif fence[1].startswith(opened[1]):
            pieces.append(_NO_LINE_END.sub(" ", said[opened.start() : fence.end()]))
            opened, at = None, fence.end()
    if opened is not None:
        # An unclosed fence.
        pieces.append(_NO_LINE_END.sub(" ", said[opened.start() :]))
    else:
        pieces.append(said[at:])
    plain = "".join(pieces)
    for pattern in (_QUOTED, _SINGLE_QUOTED):
        plain = pattern.sub(_blanked, plain)
    return plain


def _blanked(found: re.Match[str]) -> str:
    said = found.group()
    # A name in quotes is kept, and so is a word in code; anything longer is a quotation.
    if said[0] == "[" or said.startswith("http"):
        return ASIDE * len(said)
    if len(said) <= 42 and said.count(" ") < 3:
        return said
    return BLANK * len(said)


def _is_prose(text: str, stripped: str) -> bool:
    if text.startswith(_NO_PROSE) or stripped.startswith((">", "|")):
        return False
    speaker = _SPEAKER.match(text)
    if speaker is not None:
        label = fold(speaker.group()).strip(" *:").split(" ")[0]
        if label not in _OWN_LABELS:
            return False
    letters = sum(map(str.isalpha, stripped)) + stripped.count(" ")
    # Code, tables and numbers have fewer letters than this.
    return letters >= 0.5 * len(stripped)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of a line."""
    bullet = _BULLET.match(text, start, end)
    at = bullet.end() if bullet else start
    for found in _SENTENCE_END.finditer(text, at, end):
        # 8 characters hold the longest abbreviation.
        if _ABBREVIATION.search(fold(text[max(at, found.start() - 8) : found.start()])):
            continue
        if _OPENS_NEXT.fullmatch(text, at, found.start()):
            # What is to be remembered, or said instead, comes after it.
            continue
        yield from _trimmed(text, at, found.end())
        at = found.end()
    yield from _trimmed(text, at, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    said = text[start:end]
    begin = start + len(said) - len(said.lstrip())
    stop = start + len(said.rstrip())
    if begin < stop <= begin + _SENTENCE_CHARS_MAX:
        yield begin, stop


# Clauses


# A longer clause states several things, and its beginning says little about it.
CLAUSE_CHARS_MAX = 220
# After more words than this, 'i' probably belongs to a phrase such as 'the mixer i got'.
_RUN_ON_WORDS_MAX = 6
# The subject of a clause begins within this many characters, after greetings and fillers.
_SUBJECT_CHARS_MAX = 60


class Clause(NamedTuple):
    """A statement within a sentence, and its place in the turn."""

    start: int
    end: int
    said: str
    folded: str
    # 'I live in Porto and work as a nurse': the second clause has no subject of its own.
    inherits: str = ""
    # Where the support for the clause begins: at its subject, when it is inherited.
    support: int = -1
    first: bool = True


_ASKS = any_of(
    """
    please, pls, plz, can, could, would, will you, what, what's, whats, which, how, how's, any,
    where, when, should, do, does, did, is, are, who, why, let'?s, let me, tell, give, help,
    suggest, recommend, make, write, show, find, thoughts, is there, got any, have you, has anyone
    """
)
_WHO = any_of(
    r"""
    i, i'?m, i'?ve, i'?ll(?= \w), i'd, we, we're, we'?ve, my, our, he, he's, she, she's, they,
    they're, it, it's, its, you, you're, your, the, that, that's, this, there, there's, nobody,
    everyone, people, his, her, their
    """
)
_JOINT = lazy(
    r",? (?:and|but|(?<!just )so|because|cause|'cause|cuz|coz|bc|though|although|while|whereas"
    r"|plus|except"
    rf"|then|as|yet|or)(?: also| now| then)?(?= {_WHO}\b)"
    rf"|,? (?:and|so|but)(?= {_ASKS}\b)"
    # What follows 'so' is a consequence of the fact, not the fact.
    r"|,? so(?= (?:no|not|nothing|none|avoid|don'?t|never)\b"
    r"| (?!much\b|many\b|far\b|that\b)\S+ (?:\S+ ){0,7}(?:is|are|don'?t|doesn'?t|won'?t|can'?t|has"
    r"|have|works?|matters?|needs?)\b)"
    # 'Since I was a kid' is a time, 'since I'm vegan' a statement.
    r"|,? since(?= (?:i'?m|i am|i have|i don'?t|i prefer|my|our|we're|we are|it|it's|the|you|she"
    r"|he|they)\b)"
    r"|, (?:but|so|which|where|though|although|because|since|except|unless|hence|meaning|thanks"
    r"|thank you|lol|haha)\b"
    rf"|,(?= {_WHO}\b)|,(?= {_ASKS}\b)|,(?= been\b)"
    r"| (?:lol|haha|lmao|tbh|btw|fyi|thx|thanks|xx+|xd)\b"
    r"| (?:-+|–|—) |[;()]| ?(?:\.{2,}|…)| [:;]-?[)(dp](?= |$)|: |\x01+"
    # People who use no punctuation: 'hi im ana i live in porto'.
    r"|(?<=[a-z])(?= i(?:'?m| am| live| work| have)\b)"
)
# After one of these words, an 'I' does not begin a new statement.
_HOLDS = frozenset(
    """
    that if when where what who whom how why because since while as before after until unless than
    think know said say says believe guess hope wish feel like the of to in on at for with by from
    monday tuesday wednesday thursday friday saturday sunday week month year weekend ago days
    spring summer autumn fall winter morning evening mornings evenings weekends yesterday today
    january february march april may june july august september october november december
    place thing things time way reason day year one ones everything all something anything nothing
    and or but so which whether whenever wherever whatever though although once suppose sure told
    decided agreed not did do does am was cause cuz person people stuff only every food city town
    now here
    """.split()  # noqa: SIM905 - a list of eighty quoted words is harder to read
)
_VERBS = any_of(
    """
    work, live, use, prefer, hate, love, like, enjoy, study, teach, speak, play, eat, drink, run,
    own, drive, moved, started, decided, switched, bought, got, joined, quit, left, am, 'm, have,
    don't, dont, can't, cant, never, always, usually, commute, go, grew up, was born, graduated,
    sold, adopted, married, stopped, became, hope, want, need, plan, think, wish, would, might,
    feel, guess, put, make, try, keep, get, take, find, bring, help, spend, write, read, watch,
    listen, made, took, went, said, told, had, saw, met, format, lint, deploy, build, test
    """
)
_AND_VERB = lazy(
    rf",? (?:and|but)(?: also| now| then)? (?={_VERBS}\b)"
    # 'I'm 41, have a bad knee and …'
    r"|, (?=(?:have|live|work|run|own|speak|teach|study|drive|play)\b)"
)
# 'I'm 34, single, based in Leipzig, working as a paramedic': each part says who somebody is. A
# first part that says something else ('I'm meeting Ann, a producer') is no such list.
_WHO_ONE_IS = (
    rf"(?:(?:an? |the )?(?:[\w-]+ ){{0,2}}?{TRADES}|{TRAITS}|(?:single )?(?:mum|mom|dad|mother"
    rf"|father"
    r"|parent) of|(?:married|engaged) to|(?:originally |currently |now )?(?:based|living|working"
    r"|studying|from|born) )"
)
_SELF = lazy(
    rf"(?:i'?m|i am) (?:\d\d,|{_WHO_ONE_IS}|(?!\w+ing\b)[^\W\d_][\w'-]+(?: [^\W\d_][\w'-]+)?,)"
)
_PART = lazy(
    rf"(?<!\d),(?: and)? (?=\d\d(?:$|, [a-z]| years old)|{_WHO_ONE_IS})"
    rf"|(?<=\d\d),(?= {_WHO_ONE_IS})"
)
_INFINITIVE = lazy(r"\b(?:to|will|can|could|would|should|might|must|may) [a-z]+ ")
_QUESTION = lazy(rf"{_ASKS}\b")
_OPENS = lazy(rf"(?:{OPENING.pattern}){{1,4}}")
_BEGINS = lazy(r"(?:hi|hey|hello|yo|ok|so|and|well|i|i'?m|my|we)\b")
_SUBJECT = lazy(r"(?:^|[\s,])(i|we)(?:'?m|'?ve|'re)? ")
_REPORTED = lazy(
    r"(?:\b(?:said|says|say|told|tells|asked|asks|thinks?|thought|wrote|writes|goes|reads|claims?"
    r"|like|heard|if|unless|whether|suppose)(?: (?:me|us|that|him|her|them))?|:)[ ,]*$"
)
_SUPPOSED_OPENING = lazy(
    r"(?:and |but |so |well,? |ok,? )*(?:if|unless|suppose|imagine|pretend|assuming|in case|were i"
    r"|had i|say|let'?s say|what if|maybe|perhaps)\b"
)


def clauses(sentence: Sentence) -> Iterator[Clause]:
    """The statements of a sentence, in order; none of a question."""
    folded = sentence.folded
    if _SUPPOSED_OPENING.match(folded):
        return
    joints = _joints(folded)
    last = len(joints) - 1
    if folded.rstrip("\"')]”’ ").endswith("?"):
        # Only what comes before a question of its own is stated.
        opens = [n for n in range(1, last) if _QUESTION.match(folded[joints[n][1] :].lstrip())]
        last = opens[-1] if opens else 0
    for n in range(last):
        if folded.endswith("which", *joints[n]) and _SUBJECT.match(folded, joints[n][1]):
            continue  # 'A belief which I have held since April' says what the belief is elsewhere.
        yield from _by_verbs(sentence, joints[n][1], joints[n + 1][0], n == 0)


def _joints(folded: str) -> list[tuple[int, int]]:
    """The places between statements, with the beginning and the end of them all."""
    joints = [(0, 0)]
    stop = len(folded)
    for found in _JOINT.finditer(folded):
        if found.group() == ": " and not _OPENS.fullmatch(folded[: found.end()]):
            # What comes behind a colon is quoted, or an example.
            stop = found.start()
            break
        if _is_joint(folded, joints[-1][1], found):
            joints.append(found.span())
    return [*joints, (stop, stop)]


def _is_joint(folded: str, begin: int, found: re.Match[str]) -> bool:
    before = folded[begin : found.start()]
    if found.end() == found.start():
        short = before.count(" ") < _RUN_ON_WORDS_MAX and _BEGINS.match(before.lstrip())
        return bool(short) and before.rsplit(" ", 1)[-1] not in _HOLDS
    # 40 characters hold the longest of these.
    return _REPORTED.search(before[-40:]) is None


def _by_verbs(sentence: Sentence, begin: int, stop: int, first: bool) -> Iterator[Clause]:
    """A clause, cut again where its subject has a second verb."""
    offset, folded = sentence.start, sentence.folded
    subject = _SUBJECT.search(folded[begin : begin + _SUBJECT_CHARS_MAX])
    marks = list(_AND_VERB.finditer(folded, begin, stop)) if subject else []
    # In 'trying to balance work and study', the second verb has no subject.
    marks = [mark for mark in marks if not _INFINITIVE.search(folded, begin, mark.start())]
    parts = _parts(folded, begin, stop)
    marks = sorted([*marks, *parts], key=lambda mark: mark.start())
    bounds = [begin, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), stop]
    for n, (left, right) in enumerate(zip(bounds, ends, strict=True)):
        text = folded[left:right]
        left, right = left + len(text) - len(text.lstrip()), left + len(text.rstrip())
        if not 0 < right - left <= CLAUSE_CHARS_MAX:
            continue
        yield Clause(
            offset + left,
            offset + right,
            sentence.said[left:right],
            folded[left:right],
            inherits=("i'm" if marks[n - 1] in parts else subject[1]) if subject and n else "",
            support=offset + begin + len(folded[begin:stop]) - len(folded[begin:stop].lstrip()),
            first=first and not n,
        )


def _parts(folded: str, begin: int, stop: int) -> list[re.Match[str]]:
    """The commas of 'I'm 34, single, based in Leipzig'."""
    at = begin + len(folded[begin:stop]) - len(folded[begin:stop].lstrip())
    opening = _OPENS.match(folded, at, stop)
    if not _SELF.match(folded, opening.end() if opening else at, stop):
        return []
    return list(_PART.finditer(folded, begin, stop))
