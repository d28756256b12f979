"""The one analysis of text into index terms, the same for documents and queries on every backend.

A term holds ASCII letters, ASCII digits and non-ASCII characters only, so a store may join terms
with spaces and split them again without a tokenizer of its own. This module knows scripts and
word forms; it does not know queries' operators, ranking, fields or any store.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

# Longer words are hashes and encoded blobs: the first 64 characters tell them apart, and cutting
# keeps the index small. Both sides are cut alike, so a whole-word match still matches.
_TERM_CHARS_MAX = 64
# Parts of longer identifiers are noise (base64, minified code), so they are not taken apart.
_IDENTIFIER_CHARS_MAX = 64
# More changes between letters and digits than this is a hash ('a3f9c2b1'), not a name.
_DIGIT_RUNS_MAX = 3
# About 6 MB of strings when full; a personal vocabulary is a tenth of it. Emptied when full,
# which costs one slow pass over the live vocabulary and keeps lookups a plain dict access.
_STEMS_MAX = 50_000


# ── folding ──────────────────────────────────────────────────────────────────────────────────


def _ranges(*pairs: tuple[int, int]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in pairs)


# Marks whose loss does not change the word: accents of Latin, Greek and Cyrillic, Arabic harakat
# and tatweel, Hebrew points. Indic and Thai vowel signs are letters in all but name and stay.
_ACCENTS = (
    # The breve of й stays: it makes a letter of its own, half of all Russian adjective endings.
    "(?<!и)\u0306|["
    + _ranges(
        (0x0300, 0x0305),
        (0x0307, 0x036F),  # general combining marks
        (0x0483, 0x0489),  # Cyrillic
        (0x0591, 0x05BD),
        (0x05BF, 0x05BF),
        (0x05C1, 0x05C2),
        (0x05C4, 0x05C5),
        (0x05C7, 0x05C7),  # Hebrew points and cantillation
        (0x0610, 0x061A),
        (0x0640, 0x0640),  # tatweel
        (0x064B, 0x065F),
        (0x0670, 0x0670),
        (0x06D6, 0x06DC),
        (0x06DF, 0x06E4),
        (0x06E7, 0x06E8),
        (0x06EA, 0x06ED),  # Arabic harakat and Quranic signs
        (0x08D3, 0x08FF),
        (0x1AB0, 0x1AFF),
        (0x1DC0, 0x1DFF),
        (0x20D0, 0x20F0),  # marks for symbols, keycaps
        (0xFE20, 0xFE2F),
    )
    + "]"
)


def _fold_table() -> dict[int, str]:
    table = {
        **dict.fromkeys(map(ord, "ıĩ"), "i"),  # Turkish dotless i; casefold has done the dotted
        **dict.fromkeys(map(ord, "đð"), "d"),
        **dict.fromkeys(map(ord, "øɵ"), "o"),
        **dict.fromkeys(map(ord, "æǽ"), "ae"),
        **dict.fromkeys(map(ord, "ł"), "l"),
        **dict.fromkeys(map(ord, "ħ"), "h"),
        **dict.fromkeys(map(ord, "ŧ"), "t"),
        **dict.fromkeys(map(ord, "œ"), "oe"),
        **dict.fromkeys(map(ord, "þ"), "th"),
        **dict.fromkeys(map(ord, "آأإٱٲٳ"), "ا"),
        **dict.fromkeys(map(ord, "ىیېے"), "ي"),
        **dict.fromkeys(map(ord, "ک"), "ك"),
        **dict.fromkeys(map(ord, "ةہۂە"), "ه"),
        **dict.fromkeys(map(ord, "‘’‛ʼʹ′ꞌ`´"), "'"),
        **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
        **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
        # Invisible characters carry no sense a searcher can type: soft hyphen, zero-width and
        # bidirectional controls, variation selectors; skin tones so that 👍🏽 is found by 👍.
        **dict.fromkeys((0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF), ""),
        **dict.fromkeys(range(0x200B, 0x2010), ""),
        **dict.fromkeys(range(0x202A, 0x202F), ""),
        **dict.fromkeys(range(0x2060, 0x2070), ""),
        **dict.fromkeys(range(0xFE00, 0xFE10), ""),
        **dict.fromkeys(range(0x1F3FB, 0x1F400), ""),
        **dict.fromkeys(range(0xE0000, 0xE0080), ""),
    }
    # Digits of other scripts are the same numbers: Arabic-Indic, Persian, Indic, Thai, Lao, …
    zeros = (0x0660, 0x06F0, *range(0x0966, 0x0DE6, 0x80), 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0)
    for zero in zeros:
        table.update({zero + digit: str(digit) for digit in range(10)})
    return table


class _Wide:
    """What only text beyond ASCII needs; built on first use, since most processes never do."""

    def __init__(self) -> None:
        self.folds = _fold_table()
        self.accents = re.compile(_ACCENTS)
        # A flag is two letters of its own alphabet; every other emoji is a word by itself.
        self.word = re.compile(rf"[\w{_SIGNS}{_UNSPACED}]+|[\U0001f1e6-\U0001f1ff]{{2}}|[{_EMOJI}]")
        self.unspaced = re.compile(f"([{_UNSPACED}]+)")
        # The mark of an acronym stands inside a Hebrew word.
        self.hebrew_quote = re.compile("(?<=[א-ת])[\"'׳״](?=[א-ת])")


@cache
def _wide() -> _Wide:
    return _Wide()


def fold(text: str) -> str:
    """Text with case, accents, width and look-alike forms taken out; folding twice changes nothing.

    `İstanbul`, `ISTANBUL` and `ıstanbul` fold alike, as do `Straße` and `STRASSE`, an Arabic word
    with and without its vowels, and curly and straight quotes.
    """
    if text.isascii():
        return text.lower()
    wide = _wide()
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFKC", text).translate(wide.folds)
    if not text.isascii():
        text = wide.accents.sub("", unicodedata.normalize("NFD", text))
        # Taking marks away uncovers letters the table knows (ǿ → ø), and composing may uncover
        # capitals of rare scripts: hence the second round.
        text = unicodedata.normalize("NFKC", text.translate(wide.folds)).casefold()
    return text


def trigram_text(text: str) -> str:
    """What a substring index gets: the folded text with each run of whitespace one space."""
    return " ".join(fold(text).split())


# ── words ────────────────────────────────────────────────────────────────────────────────────

# Scripts written without spaces, and Korean, whose particles hang on to the word: cut by a
# dictionary they would be found only when both sides cut alike, so they become bigrams instead.
_UNSPACED = _ranges(
    (0x0E01, 0x0E3A),
    (0x0E40, 0x0E4E),  # Thai
    (0x0E81, 0x0ECE),
    (0x0EDC, 0x0EDF),  # Lao
    (0x1000, 0x103F),
    (0x1050, 0x109F),
    (0xAA60, 0xAA7F),
    (0xA9E0, 0xA9FE),  # Myanmar
    (0x1780, 0x17D3),
    (0x17DC, 0x17DD),  # Khmer
    (0x1100, 0x11FF),
    (0x3131, 0x318E),
    (0xA960, 0xA97C),
    (0xAC00, 0xD7A3),
    (0xD7B0, 0xD7FB),  # Hangul
    (0x2E80, 0x2FD5),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303C),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFD),  # Han
    (0x3041, 0x3096),
    (0x3099, 0x309A),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x31F0, 0x31FF),  # kana
    (0x3105, 0x312F),
    (0x31A0, 0x31BF),  # Bopomofo
)

# Signs that `\w` leaves out though they belong to a word: the marks that fold() keeps.
_SIGNS = _ranges(
    *(
        part
        for block in range(0x0900, 0x0E00, 0x80)  # the Indic blocks share one plan
        for part in (
            (block, block + 3),
            (block + 0x3A, block + 0x57),
            (block + 0x62, block + 0x63),
        )
    ),
    (0x0711, 0x0711),
    (0x0730, 0x074A),
    (0x07A6, 0x07B0),
    (0x07EB, 0x07F3),
    (0x0F18, 0x0F19),
    (0x0F35, 0x0F35),
    (0x0F37, 0x0F37),
    (0x0F39, 0x0F39),
    (0x0F71, 0x0F84),
    (0x0F8D, 0x0FBC),
    (0x135D, 0x135F),
    (0x1B00, 0x1B04),
    (0x1B34, 0x1B44),
    (0x11000, 0x11046),
    (0x11100, 0x11134),
)

_EMOJI = _ranges(
    (0x2300, 0x23FF), (0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F000, 0x1F1E5), (0x1F200, 0x1FAFF)
)

_ASCII_WORD = re.compile("[a-z0-9]+")

# Possessives and contractions: `user's` must match `users` and `user`, so the ending goes; so do
# 'll 're 've 'd 'm, because joining them makes other words (we'll, we're, I'd → well, were, id).
# `don't` becomes `dont`, as many type it. Any other apostrophe parts two words: l'homme, Ankara'da.
_CONTRACTION = re.compile(r"(?<=[^\W_])'(?:s|ll|re|ve|d|m)\b|(?<=n)'(?=t\b)")


def _words(text: str) -> tuple[list[str], bool]:
    """Folded words in order, unstemmed, and whether all are ASCII.

    A run of an unspaced script is one word.
    """
    text = fold(text)
    if "'" in text:
        text = _CONTRACTION.sub("", text)
    if text.isascii():
        return _ASCII_WORD.findall(text), True
    wide = _wide()
    text = wide.hebrew_quote.sub("", text).replace("_", " ")
    words: list[str] = []
    for word in wide.word.findall(text):
        if word.isascii() or not wide.unspaced.search(word):
            words.append(word)
        else:
            words.extend(filter(None, wide.unspaced.split(word)))
    return words, False


# ── stems ────────────────────────────────────────────────────────────────────────────────────

_STEMMER_OF_BLOCK = (  # first and last code point, PyStemmer's name
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0600, 0x06FF, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
)


def _stemmer_name(word: str) -> str:
    """Which stemmer a word's own script calls for; '' when none does."""
    if word.isascii():
        # A word with a digit in it is a name (`mp3`, `3a5f`), and names are kept as they are.
        return "english" if word.isalpha() else ""
    first = ord(word[0])
    for low, high, name in _STEMMER_OF_BLOCK:
        if low <= first <= high:
            return name
    return ""


class _Stems(dict[str, str]):
    """word → stem, filled on demand, so that a known word costs one dict access.

    Shared by all threads: a stemmer never lets go of the interpreter lock inside a call, and its
    own cache is off.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stemmers: dict[str, Any] = {}

    def __missing__(self, word: str) -> str:
        stem = word
        if len(word) > _TERM_CHARS_MAX:
            return word[:_TERM_CHARS_MAX]
        if name := _stemmer_name(word):
            stem = self._stemmer(name).stemWord(word) or word
        if len(self) >= _STEMS_MAX:
            self.clear()
        self[word] = stem
        return stem

    def _stemmer(self, name: str) -> Any:
        if name not in self._stemmers:
            import Stemmer  # here, because it costs some milliseconds a `--help` need not pay

            self._stemmers[name] = Stemmer.Stemmer(name, 0)
        return self._stemmers[name]


_STEMS = _Stems()


def _bigrams(run: str, *, closing: bool) -> list[str]:
    """Overlapping pairs of a run; `closing` adds its last character alone.

    With it every character of a document begins some term, so that a one-character query is a
    prefix match. A query must leave it out: in the document the run may go on.
    """
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    if closing or not pairs:
        pairs.append(run[-1])
    return pairs


def is_unspaced(word: str) -> bool:
    """Whether a word or term is of a script that is indexed as bigrams.

    Such a term of one character is matched as a prefix (`字*`); all others match exactly.
    """
    return not word.isascii() and _wide().unspaced.match(word) is not None


def _stemmed(words: list[str], *, closing: bool) -> list[str]:
    found: list[str] = []
    for word in words:
        if is_unspaced(word):
            found.extend(_bigrams(word, closing=closing))
        else:
            found.append(_STEMS[word])
    return found


def terms(text: str) -> list[str]:
    """The terms of a document's text in order, repeats included; what an index stores."""
    words, plain = _words(text)
    if plain:
        return list(map(_STEMS.__getitem__, words))
    return _stemmed(words, closing=True)


def phrase_terms(text: str) -> list[str]:
    """The terms of a quoted phrase, in order: a consecutive run of these in `terms` of a document.

    Stop words are kept, since the document keeps them too.
    """
    return _stemmed(_words(text)[0], closing=False)


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query in order, without stop words; all if nothing else is left."""
    words, _ = _words(text)
    telling = [word for word in words if word not in STOP_WORDS]
    return list(dict.fromkeys(_stemmed(telling or words, closing=False)))


# ── identifiers ──────────────────────────────────────────────────────────────────────────────

# Any sign that a text holds an identifier at all; prose mostly has none and stops here. It opens
# with the class of characters that prose has few of, which makes the search four times as fast.
_IDENTIFIER_SIGN = re.compile(
    r"[A-Z0-9_+#-](?:"
    r"(?<=[a-z][A-Z])|(?<=[A-Z]{2})(?=[a-z]{2})"  # camelCase, HTTPServer
    r"|(?<=[A-Za-z][0-9])|(?<=[0-9])(?=[A-Za-z])"  # utf8, 100ms
    r"|(?<=[A-Za-z0-9][_-])(?=[A-Za-z0-9_])"  # snake_case, kebab-case
    r"|(?<=[Cc]\+)(?=\+)|(?<=[CcFf]#))"
)
_COMPOUND = re.compile(r"[A-Za-z0-9]+(?:[_-]+[A-Za-z0-9]+)*")
_SIMPLE = re.compile("[A-Za-z0-9]+")
_CAMEL_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_DIGIT_PART = re.compile(r"[A-Za-z]+|[0-9]+")
# Names that are mostly punctuation; without these a search for C++ is a search for the letter c.
_PUNCTUATED = re.compile(r"(?<![A-Za-z0-9])(?:([Cc]\+\+)|([Cc]#)|([Ff]#))(?![A-Za-z0-9#])")
_PUNCTUATED_NAMES = ("", "cplusplus", "csharp", "fsharp")


def symbols(text: str) -> list[str]:
    """Further terms for the identifiers in a text, those that `terms` does not give already.

    `getUserById` adds get, user, by, id (terms has getuserbyid); `get_user_by_id` and `e-mail`
    add the joined getuserbyid and email; `utf8` adds utf and 8; `C++` adds cplusplus. Dotted
    paths are separate terms anyway.
    """
    if not _IDENTIFIER_SIGN.search(text):
        return []
    found: dict[str, None] = {}
    for match in _COMPOUND.finditer(text):
        compound = match.group()
        if len(compound) <= _IDENTIFIER_CHARS_MAX:
            found.update(dict.fromkeys(_identifier_words(compound)))
    for match in _PUNCTUATED.finditer(text):
        found[_PUNCTUATED_NAMES[match.lastindex or 0]] = None
    if not found:
        return []
    known = set(terms(text))
    stems = dict.fromkeys(map(_STEMS.__getitem__, found))
    return [stem for stem in stems if stem not in known]


def _identifier_words(compound: str) -> list[str]:
    """Lower-case parts and joined form of one compound; [] for a plain word or a number."""
    if compound.isalpha() and (compound.islower() or compound.isupper() or compound.istitle()):
        return []
    simples = _SIMPLE.findall(compound)
    words: list[str] = []
    if len(simples) > 1 and not all(map(str.isdigit, simples)):
        words.append("".join(simples))
    for simple in simples:
        parts = _CAMEL_PART.findall(simple)
        by_digit = _DIGIT_PART.findall(simple)
        if len(by_digit) > _DIGIT_RUNS_MAX:
            continue
        # Both cuts, so that iPhone15 is found by `iphone` as well as by `phone`.
        words.extend(
            part
            for part in (*parts, *by_digit)
            if part != simple and (len(part) > 1 or part.isdigit())
        )
    return [word.lower() for word in words]


# ── stop words ───────────────────────────────────────────────────────────────────────────────

# Words of English that say nothing about what is sought, folded and unstemmed, as `_words` gives
# them (so contractions stand without apostrophe). Left out on purpose: words that can be the
# whole point of a memory, such as first, last, never, always, used, new, like, home, work.
_STOP_WORDS = """
    a an the this that these those
    i me my mine myself you your yours yourself he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves
    one ones someone something anyone anything everyone everything
    am is are was were be been being do does did doing done have has had having
    can could may might must shall should will would ought
    and or but nor so yet if then else than because as while although though unless
    of at by for with about against between into through during before after
    to from in out on off over under up down onto upon within without via per
    who whom whose which what when where why how
    whatever whenever wherever whichever
    here there again once just only also too very really quite rather almost even still
    all any both each few more most much many other others some such same own
    no not
    dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant cannot
    couldnt shouldnt mustnt mightnt shant neednt aint
    im ive youre youve theyre theyve thats whats
    let lets please tell ok okay etc
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def is_stop(word: str) -> bool:
    """Whether a word, as typed, is too common to search for."""
    return word in STOP_WORDS or fold(word).replace("'", "") in STOP_WORDS
