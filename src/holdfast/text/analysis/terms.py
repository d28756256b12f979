"""The one analysis of text into index terms, the same for documents and queries on every backend.

A term holds ASCII letters, ASCII digits and non-ASCII characters only, so a store may join terms
with spaces and split them again without a tokenizer of its own. This module knows scripts and
word forms; it does not know queries' operators, ranking, fields or any store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from holdfast.domain.memory import Memory
from holdfast.text.tables import lazy

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


def _ranges(table: str) -> str:
    """The inside of a character class from rows of hexadecimal ranges; `|` opens a comment."""
    pairs = " ".join(line.partition("|")[0] for line in table.splitlines()).split()
    return "".join("-".join(chr(int(end, 16)) for end in pair.split("-")) for pair in pairs)


# Marks that can be lost without changing the word. Indic and Thai vowel signs are letters in all
# but name and are not here.
_ACCENTS = """
    0300-0305 0307-036F 1AB0-1AFF 1DC0-1DFF FE20-FE2F  | Latin, Greek; 0306 is handled below
    0483-0489                                          | Cyrillic
    0591-05BD 05BF 05C1-05C2 05C4-05C5 05C7            | Hebrew points and cantillation
    0610-061A 064B-065F 0670 06D6-06DC 06DF-06E4       | Arabic vowels
    06E7-06E8 06EA-06ED 08D3-08FF 0640                 | and tatweel
    20D0-20F0                                          | symbols, keycaps
"""


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
        **dict.fromkeys(map(ord, "‘’‛ʼʹ′ꞌ´"), "'"),
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
        # A lone surrogate is in no stored text, and no store can search for it.
        **dict.fromkeys(range(0xD800, 0xE000), ""),
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
        # The breve of й stays: it makes a letter of its own, which Russian endings are full of.
        self.accents = re.compile(f"(?<!и)\u0306|[{_ranges(_ACCENTS)}]")
        signs, unspaced = _ranges(_SIGNS + _INDIC_SIGNS), _ranges(_UNSPACED)
        # A flag is two letters of its own alphabet; every other emoji is a word by itself.
        flag, emoji = "[\U0001f1e6-\U0001f1ff]{2}", f"[{_ranges(_EMOJI)}]"
        self.word = re.compile(rf"[\w{signs}{unspaced}]+|{flag}|{emoji}")
        self.unspaced = re.compile(f"([{unspaced}]+)")
        # The mark of an acronym is inside a Hebrew word.
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
    if text[-1] == "…" and (plain := text[:-1]).isascii():
        # As titles end that were cut; the rest of this takes ten times as long.
        return plain.lower() + "..."
    wide = _wide()
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFKC", text).translate(wide.folds)
    if not text.isascii():
        text = wide.accents.sub("", unicodedata.normalize("NFD", text))
        # Taking marks away uncovers letters the table knows (ǿ → ø), and composing may uncover
        # capitals of rare scripts: hence the second round.
        text = unicodedata.normalize("NFKC", text.translate(wide.folds)).casefold()
    return text


def trigrams(text: str) -> set[str]:
    """Every run of three characters of a word, for a substring index. Those that reach from one
    word into the next are two fifths of all, and tell little that their neighbours do not."""
    return set(_TRIGRAM.findall(text))


# Looks ahead, so that the next one may overlap it.
_TRIGRAM = re.compile("(?=([^ ]{3}))")


def trigram_text(text: str) -> str:
    """The text for the substring index: folded, with each run of whitespace as one space."""
    return " ".join(fold(text).split())


# ── words ────────────────────────────────────────────────────────────────────────────────────

# Scripts written without spaces, and Korean, where particles are part of the word: cut by a
# dictionary they would be found only when both sides cut alike, so they become bigrams instead.
_UNSPACED = """
    0E01-0E3A 0E40-0E4E                                | Thai
    0E81-0ECE 0EDC-0EDF                                | Lao
    1000-103F 1050-109F AA60-AA7F A9E0-A9FE            | Myanmar
    1780-17D3 17DC-17DD                                | Khmer
    1100-11FF 3131-318E A960-A97C AC00-D7A3 D7B0-D7FB  | Hangul
    2E80-2FD5 3005-3007 3021-3029 3038-303C 3400-4DBF  | Han
    4E00-9FFF F900-FAFF 20000-3FFFD
    3041-3096 3099-309A 309D-309F 30A1-30FA 30FC-30FF 31F0-31FF  | kana
    3105-312F 31A0-31BF                                | Bopomofo
"""

# Signs that `\w` leaves out though they belong to a word: the marks that fold() keeps.
_SIGNS = """
    0711 0730-074A                                     | Syriac
    07A6-07B0 07EB-07F3                                | Thaana, N'Ko
    0F18-0F19 0F35 0F37 0F39 0F71-0F84 0F8D-0FBC       | Tibetan
    135D-135F 1B00-1B04 1B34-1B44                      | Ethiopic, Balinese
    11000-11046 11100-11134                            | Brahmi, Chakma
"""
# The Indic blocks, Devanagari to Sinhala, share one plan.
_INDIC_SIGNS = "".join(
    f"{block:04X}-{block + 0x03:04X} {block + 0x3A:04X}-{block + 0x57:04X} "
    f"{block + 0x62:04X}-{block + 0x63:04X} "
    for block in range(0x0900, 0x0E00, 0x80)
)

_EMOJI = "2300-23FF 2600-27BF 2B00-2BFF 1F000-1F1E5 1F200-1FAFF"

_ASCII_WORD = lazy("[a-z0-9]+")

# Possessives and contractions: `user's` must match `users` and `user`, so the ending goes; so do
# 'll 're 've 'd 'm, because joining them makes other words (we'll, we're, I'd → well, were, id).
# `don't` becomes `dont`, as many type it. Any other apostrophe parts two words: l'homme, Ankara'da.
# The apostrophe comes first, so that the search looks only at places with one.
_CONTRACTION = lazy(r"'(?:(?<=[^\W_]')(?:s|ll|re|ve|d|m)\b|(?<=n')(?=t\b))")


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
    """The stemmer for a word's script; '' if there is none."""
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
        if word.isascii() or not is_unspaced(word):
            found.append(_STEMS[word])
        else:
            found.extend(_bigrams(word, closing=closing))
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
    words, plain = _words(text)
    if plain:
        return list(map(_STEMS.__getitem__, words))
    return _stemmed(words, closing=False)


def words_of(text: str) -> list[str]:
    """The folded words of a text in order, as they are before they are stemmed."""
    return _words(text)[0]


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query in order, without stop words; all if nothing else is left."""
    words, _ = _words(text)
    telling = [word for word in words if word not in STOP_WORDS]
    return list(dict.fromkeys(_stemmed(telling or words, closing=False)))


# ── identifiers ──────────────────────────────────────────────────────────────────────────────

# Any sign that a text holds an identifier at all; prose mostly has none and stops here. It opens
# with the class of characters that prose has few of, which makes the search four times as fast.
_IDENTIFIER_SIGN = lazy(
    r"[A-Z0-9_+#-](?:"
    r"(?<=[a-z][A-Z])|(?<=[A-Z]{2})(?=[a-z]{2})"  # camelCase, HTTPServer
    r"|(?<=[A-Za-z][0-9])|(?<=[0-9])(?=[A-Za-z])"  # utf8, 100ms
    r"|(?<=[A-Za-z0-9][_-])(?=[A-Za-z0-9_])"  # snake_case, kebab-case
    r"|(?<=[Cc]\+)(?=\+)|(?<=[CcFf]#))"
)
_COMPOUND = lazy(r"[A-Za-z0-9]+(?:[_-]+[A-Za-z0-9]+)*")
_SIMPLE = lazy("[A-Za-z0-9]+")
_CAMEL_PART = lazy(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_DIGIT_PART = lazy(r"[A-Za-z]+|[0-9]+")
# Names that are mostly punctuation; without these a search for C++ is a search for the letter c.
_PUNCTUATED = lazy(r"(?<![A-Za-z0-9])(?:([Cc]\+\+)|([Cc]#)|([Ff]#))(?![A-Za-z0-9#])")
_PUNCTUATED_NAMES = ("", "cplusplus", "csharp", "fsharp")


def symbols(text: str, known: Iterable[str] | None = None) -> list[str]:
    """Further terms for the identifiers in a text, those that `terms` does not give already;
    `known` is what it gives, where the caller has it.

    `getUserById` adds get, user, by, id (terms has getuserbyid); `get_user_by_id` and `e-mail`
    add the joined getuserbyid and email; `utf8` adds utf and 8; `C++` adds cplusplus. Dotted
    paths are separate terms anyway.
    """
    found: dict[str, None] = {}
    read = 0
    for sign in _IDENTIFIER_SIGN.finditer(text):
        if sign.start() < read:
            continue
        start, read = _run_around(text, sign.start(), read)
        for match in _COMPOUND.finditer(text, start, read):
            compound = match.group()
            if len(compound) <= _IDENTIFIER_CHARS_MAX:
                found.update(dict.fromkeys(_identifier_words(compound)))
    if not read:
        return []
    if "#" in text or "++" in text:
        for match in _PUNCTUATED.finditer(text):
            found[_PUNCTUATED_NAMES[match.lastindex or 0]] = None
    if not found:
        return []
    known = set(terms(text) if known is None else known)
    stems = dict.fromkeys(map(_STEMS.__getitem__, found))
    return [stem for stem in stems if stem not in known]


_RUN_END = lazy(r"[^A-Za-z0-9_-]")


def _run_around(text: str, at: int, least: int) -> tuple[int, int]:
    """Where the run of letters, digits, _ and - around a place begins, not before `least`, and
    where it ends."""
    start = at
    while start > least and not _RUN_END.match(text[start - 1]):
        start -= 1
    end = _RUN_END.search(text, at + 1)
    return start, end.start() if end else len(text)


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
# them (so contractions have no apostrophe). Left out on purpose: words that can be the whole point
# of a memory, such as first, last, never, always, used, new, like, home, work; and words that are
# names as well: may (the month), us (the country).
_STOP_WORDS = """
    a an the this that these those
    i me my mine myself you your yours yourself he him his himself she her hers herself
    it its itself we our ours ourselves they them their theirs themselves
    one someone something anyone anything everyone everything
    am is are was were be been being do does did doing done have has had having
    can could might must shall should will would
    and or but nor so yet if then than because as while although though unless
    of at by for with about against between into through
    to from in out on off over under up down onto within without
    who whom whose which what when where why how
    here there again once just only also too very really quite rather almost even still
    all any both each few more most much many other others some such same
    no not
    dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant cannot
    couldnt shouldnt aint
    im ive youre youve theyre theyve thats whats
    let lets please tell ok okay etc
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def is_stop(word: str) -> bool:
    """Whether a word, as typed, is too common to search for."""
    if word in STOP_WORDS:
        return True
    # A plain word is its own only part.
    if word.isascii() and word.isalpha() and word.islower():
        return False
    return all(part in STOP_WORDS for part in _words(word)[0])


def searchable(memory: Memory) -> str:
    """Content, title, key and tags, folded."""
    parts = memory.content, memory.title, memory.key or "", " ".join(memory.tags)
    # A memory is asked for this when it is indexed, and again when its index is written.
    return _kept_searchable(*parts) if len(parts[0]) <= _KEPT_CHARS_MAX else _searchable(*parts)


def _searchable(*parts: str) -> str:
    # Each by itself: folding text beyond ASCII takes ten times as long.
    return " ".join(filter(None, map(trigram_text, parts)))


# As many as are written in one transaction, and short ones, so that they take up little.
_KEPT_CHARS_MAX = 1_000
_kept_searchable = lru_cache(maxsize=1_024)(_searchable)
