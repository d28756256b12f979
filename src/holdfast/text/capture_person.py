"""A person's own words in the third person, without a subject: 'I prefer tabs' is 'Prefers tabs'.

Where the speaker has a name it is the subject: 'Caroline prefers tabs'. Other words for the speaker
become 'they', which takes the verbs that 'I' takes, so that only the first verb has to change. It
knows English grammar as far as one clause needs it, and not whether the clause is worth keeping.
"""

from __future__ import annotations

import re

# The same length as the text, so that places in one are places in the other.
_QUOTES = str.maketrans({"’": "'", "‘": "'", "´": "'", "`": "'"})


def fold(text: str) -> str:
    """A text in lower case with straight quotes and plain spaces, character for character."""
    lower = text.translate(_QUOTES).lower()
    if len(lower) != len(text):
        # A few letters grow when they are lowered.
        lower = "".join(
            one if len(one.lower()) != 1 else one.lower() for one in text.translate(_QUOTES)
        )
    return _SPACE.sub(" ", lower)


_SPACE = re.compile(r"\s")

# Words that say nothing about what is told, at the front of a verb.
_FILLERS = r"(?:just|actually|also|honestly|basically|literally|obviously|simply|totally|tbh)"
_SUBJECT = re.compile(
    rf"(?:both )?(?:i|we)(?P<short>'m|m|'re|'ve|ve|'ll|'d)?(?= |$)(?P<fillers>(?: {_FILLERS})*)"
)
_ADVERBS = (
    "always never usually often sometimes mostly mainly generally normally typically rarely still"
    " now currently recently really finally only much almost strongly already then soon once"
    " first ever hardly both all even kinda sorta no longer"
)
_ADVERB_SET = frozenset(_ADVERBS.split())
_WORD = re.compile(r"[\w'-]+")

_SHORT = {
    "'m": "is", "m": "is", "'re": "is", "'ve": "has", "ve": "has", "'ll": "will", "'d": "would",
}  # fmt: skip
_IRREGULAR = {
    "am": "is", "are": "is", "was": "was", "were": "was", "have": "has", "do": "does",
    "don't": "doesn't", "dont": "doesn't", "haven't": "hasn't", "havent": "hasn't",
    "aren't": "isn't", "weren't": "wasn't", "wasn't": "wasn't", "cant": "can't", "wont": "won't",
    "didnt": "didn't", "ain't": "isn't", "gotta": "has to",
}  # fmt: skip
# Forms that are the same for everybody: modals, and past forms without -ed.
_SAME = frozenset(
    """
    can can't cannot could will won't would should must may might shall had did didn't hadn't wasn't
    got went bought sold left quit became began grew met lost won made took wrote built chose gave
    came ran saw said told taught thought felt found kept knew spent sent drove ate drank slept
    spoke broke wore paid put cut set shut hit let heard held led lent meant rode rose sang sat
    shot stood stole swam swore threw understood woke caught brought fell flew forgot froze hid
    has is does isn't hasn't doesn't
    """.split()  # noqa: SIM905 - a list of sixty quoted words is harder to read
)
_NOT_PAST = frozenset(
    [
        "need",
        "feed",
        "breed",
        "speed",
        "weed",
        "heed",
        "bleed",
        "proceed",
        "succeed",
        "exceed",
        "embed",
    ]
)

_OTHER_WORDS = (
    (re.compile(r"\b(?:i|we)(?:'?m| am|'re| are)(?=\W|$)"), "they are"),
    (re.compile(r"\b(?:i|we) was\b"), "they were"),
    (re.compile(r"\b(?:i|we) (?:wasn'?t|weren'?t)\b"), "they weren't"),
    (re.compile(r"\b(?:i|we)'?ve\b"), "they've"),
    (re.compile(r"\b(?:i|we)'ll\b"), "they'll"),
    (re.compile(r"\b(?:i|we)'d\b"), "they'd"),
    (re.compile(r"\b(?:i|we)(?![\w'-])"), "they"),
    (re.compile(r"\b(?:my|our)(?= )(?! god)"), "their"),
    (re.compile(r"\b(?:me|us)(?![\w'-])"), "them"),
    (re.compile(r"\b(?:myself|ourselves)\b"), "themselves"),
    (re.compile(r"\b(?:mine|ours)\b"), "theirs"),
)
_CONTRACTED = re.compile(r"\b(?:(?:do|does|did|have|has|is|was|are|were|would|could|should)nt)\b")


def third(verb: str) -> str:
    """The form of a verb that goes with 'she', from the one that goes with 'I'."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _SAME or (verb.endswith("ed") and verb not in _NOT_PAST):
        return verb
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def tell(clause: str, speaker: str = "") -> str:
    """A clause as memory keeps it; a speaker with a name is its subject."""
    clause = clause.strip()
    folded = fold(clause)
    subject = _SUBJECT.match(folded)
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
    """Without what only ends a sentence, and with a capital."""
    told = " ".join(told.split()).strip(" ,;:-–—")
    while told and (told[-1] in ".!,;:…~*" or _is_emoji(told[-1])):
        told = told[:-1].rstrip()
    return told[:1].upper() + told[1:]


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
        if said in _ADVERB_SET or (said.endswith("ly") and len(said) > 4 and said != "rely"):
            front += f"{clause[word.start() : word.end()]} "
            continue
        return f"{front}{third(said)}", clause[word.end() :]
    return front.strip(), ""


def others(rest: str) -> str:
    """The words for the speaker further on, as 'they'."""
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
