"""What a person wants not to be kept: passages in `<private>…</private>`, messages that begin like
'Off the record: …', and what they said before a prompt like 'forget that'."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from holdfast.text.tables import lazy

# Characters that are not seen and may be inside a tag, and marks on its letters.
_UNSEEN = "[\u00ad\u0300-\u036f\u200b-\u200f\u2060-\u2064\ufeff]{0,8}"
_BEGIN = r"\\?(?:<|&(?:amp;){0,3}(?:lt|#0{0,6}60|#x0{0,6}3c);|\\u003c|\\x3c|%3c)"
_END = r"(?:\\?>|&(?:amp;){0,3}(?:gt|#0{0,6}62|#x0{0,6}3e);|\\u003e|\\x3e|%3e)"
_SLASH = r"(?:\\?/|%2f|&#0{0,6}47;)"


# A tag begins with one of these. They are looked for first, in a hundredth of the time: the pattern
# tries several forms at every character.
_TAG_SIGNS = lazy(r"[<&%\\＜﹤‹⟨〈《]")


@cache
def _tag_begins() -> re.Pattern[str]:
    return re.compile(rf"(?i){_BEGIN}|[＜﹤‹⟨〈《]")


@cache
def _private_tag() -> re.Pattern[str]:
    """A tag in any case, with spaces, or escaped. One with attributes that do not end is a tag
    too."""
    name = _UNSEEN.join(("", *"private", ""))
    attributes = r"(?:\s(?:[^<>'\"]|'[^'<]*'|\"[^\"<]*\"){0,200})?"
    return re.compile(
        rf"(?i){_BEGIN}\s{{0,8}}({_SLASH}?)\s{{0,8}}{name}"
        rf"(?:{attributes}\s{{0,8}}{_END}|(?=\s|\Z))"
    )


class _Likeness(dict[int, str]):
    """For each character the plain one that it looks like: full width, bold, accented, or of
    another alphabet."""

    def __missing__(self, code: int) -> str:
        first = unicodedata.normalize("NFKD", chr(code))[0]
        self[code] = plain = first if first.isascii() else chr(code)
        return plain


_LIKENESS = _Likeness(
    zip(map(ord, "‹›⟨⟩〈〉《》рРρгіІινѵаАαтТτеЕε"), "<><><><>pPpriIivvaAatTteEe", strict=True)
)


def without_private(text: str) -> str:
    """The text without the passages in `<private>…</private>`, which may be nested. A tag that is
    not closed hides all that follows, and one that was not opened all that precedes it: better too
    much than too little."""
    return split_private(text)[0]


def split_private(text: str) -> tuple[str, str]:
    """The text that is not private, and the text that is."""
    if is_off_record(text):
        return "", text
    if text.isascii() and "private" not in text.lower():
        return text, ""
    if not _TAG_SIGNS.search(text) or not _tag_begins().search(text):
        return text, ""
    # Of the same length, so that places in one are places in the other.
    plain = text if text.isascii() else text.translate(_LIKENESS)
    shown: list[str] = []
    hidden: list[str] = []
    depth = last = 0
    for tag in _private_tag().finditer(plain):
        part = text[last : tag.start()]
        if tag[1]:
            if depth == 0:
                hidden += [*shown, part]
                shown = []
            else:
                hidden.append(part)
            depth = max(0, depth - 1)
        else:
            (hidden if depth else shown).append(part)
            depth += 1
        last = tag.end()
    if not last:
        return text, ""
    (hidden if depth else shown).append(text[last:])
    return "".join(shown), " ".join(hidden)


# At the beginning of a message, and with something behind it.
_OFF_RECORD = lazy(
    r"(?i)\A\W*(?:(?:ok(?:ay)?|so|hey|but|and|please|just|strictly|this is|ganz|nur|bitte"
    r"|strictement|juste|aquí|solo|só|strikt)\W+)*"
    r"(?:off the record|between (?:us|you and me|the two of us)|entre nous|entre nosotros|unter uns"
    r"|onder ons|detto tra noi|tra (?:di )?noi|cá entre nós|aqui entre nós"
    r"|(?:do not|don['’]?t|never) (?:remember|memori[sz]e|log) this|merk dir das nicht"
    r"|ne (?:retiens|note) pas (?:ça|cela)|no (?:recuerdes|apuntes|guardes) esto|non ricordarlo"
    r"|não (?:guardes?|anotes?) isto|onthoud dit niet|别记(?:这个|下来)|これは覚えないで)"
    r"(?:\s*[,:;–—、，：]|\s+-|\s+but\b)\s*+\w"
)


# The words with which the pattern begins, in ASCII. The first word is looked at before, because
# compiling the pattern takes a millisecond.
_OFF_RECORD_FIRST = frozenset(
    """
    ok okay so hey but and please just strictly this ganz nur bitte strictement juste solo strikt
    off between entre unter onder detto tra aqui do don dont never merk ne no non onthoud
    """.split()  # noqa: SIM905
)
_FIRST_WORD = lazy(r"\w+")


def is_off_record(text: str) -> bool:
    """Whether a message begins with the request not to keep it: 'Off the record: …'."""
    found = _FIRST_WORD.search(text)
    if found is None or (found[0].isascii() and found[0].lower() not in _OFF_RECORD_FIRST):
        return False
    return _OFF_RECORD.match(text) is not None


def without_private_sides(user: str, assistant: str) -> tuple[str, str]:
    """Both sides of a turn without private passages; and the reply without sentences that hold a
    word which the user said in private and not in the open."""
    said, hidden = split_private(user)
    reply = without_private(assistant)
    if not hidden or not reply:
        return said, reply
    # Here, because few turns have a private passage.
    from holdfast.text.analysis.terms import query_terms
    from holdfast.text.sentences import sentence_spans

    secret = set(query_terms(hidden)) - set(query_terms(said))
    kept, last = list[str](), 0
    for start, end in sentence_spans(reply):
        if not secret.isdisjoint(query_terms(reply[start:end])):
            kept.append(reply[last:start])
            last = end
    return said, "".join([*kept, reply[last:]])


# 'Forget that', and nothing else. A hook asks this of every prompt, before it reads any table.
_FORGET_LAST = lazy(
    r"^\W*(?:please |ok(?:ay)?,? |actually,? |no,? |bitte |nein,? |por favor,? |per favore,? "
    r"|non,? )*"
    r"(?:forget (?:that|this|it|what i (?:just )?said)"
    r"|(?:do not|don'?t) (?:remember|keep|store|save) (?:that|this|it)"
    r"|vergiss (?:das|es)|merk dir das nicht|oublie (?:ça|cela)|oublie-le|olvida(?:lo| eso| esto)"
    r"|dimentica(?:lo|telo)?(?: questo)?|esque[çc][ae] (?:isso|isto)|vergeet (?:dat|het|dit)"
    r"|(?:请)?(?:忘掉|忘了|别记|不要记)(?:这个|那个|它|吧|住)*|(?:今の|それ|これ)(?:は|を)?(?:忘れて|覚えないで)"
    r"(?:ください|下さい|ね)?)(?: please| bitte| alsjeblieft)?\W*$",
    re.IGNORECASE,
)


def asks_to_forget_last(said: str) -> bool:
    """Whether a person asks to forget what they said last, and says nothing else."""
    return _FORGET_LAST.match(said) is not None
