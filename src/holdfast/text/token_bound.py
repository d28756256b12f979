"""How many tokens a text can have at most, whatever the model: a budget in tokens must hold.

`chunking` estimates what is likely; this one never undershoots, and is too high by two or three
times for prose. It leans on three things that hold for the vocabularies it was checked against
(cl100k, p50k, Qwen, Tekken, Mistral's SentencePiece, an older Claude's, BERT's WordPiece):
a token is at least a byte; every ASCII letter merges with a space before it; and the pairs of
letters in `_PAIRS` merge, so no two of them are left standing alone side by side. A common word
after a space is one token. It knows no model, and nothing of tokens that a model adds around a
text. docs/reference/context-styles.md has the figures.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Which letters are one token with the letter before them, in every vocabulary checked.
_PAIRS = {
    "a": "abcdefghijklmnoprstuvwxyz",
    "b": "abcefilmnorstuy",
    "c": "abcdehiklmoprstuyz",
    "d": "abcdefhilmoprstuy",
    "e": "abcdefghijklmnprstuvwxyz",
    "f": "abcefilmoprstuy",
    "g": "abceghilnoprstuy",
    "h": "adehilmnoprstuy",
    "i": "abcdefghijklmnopqrstuvxyz",
    "j": "aeikosu",
    "k": "aehikmorstuy",
    "l": "abcdeilmnoprstuy",
    "m": "abcdegilmopstuxy",
    "n": "abcdeghilnoprstuxy",
    "o": "abcdefghijklmnoprstuvwxyz",
    "p": "acdefghilmoprstuwy",
    "q": "au",
    "r": "abcdefghilmnoprstuyz",
    "s": "abcdefghiklmoprstuwyz",
    "t": "acefhilmoprstuvyz",
    "u": "abcdefghijklmnoprstwxyz",
    "v": "abcdeiorsy",
    "w": "acdeilnorsty",
    "x": "aitxy",
    "y": "adeklmnoprst",
    "z": "adehiouyz",
}
# Words that are one token after a space in every vocabulary checked.
_WORDS = (
    "about account after again against all almost also although always am an and any anyone "
    "anything are as at be because been before being between both build but by call called can "
    "cannot change changes city class client code could customer data database date day did "
    "different do does doing done down each email even every everyone everything family few file "
    "files first for friend from front function get going good great had has have having he help "
    "her here hers herself him himself his home house how idea if in index into is it its itself "
    "job just keep key know last let letter light like line lines list long look love made make "
    "manager many market me meeting message might mine money month more morning most much music "
    "must my myself name names near need never new next night no nor not note number of off "
    "office old on once one only onto or other others our ours ourselves out over paper party "
    "password people person phone picture place plan please prefer price project projects query "
    "questions quite rather really release remember report rest review road row run running runs "
    "same school see self server set shall share she should so some someone something start still "
    "store story street such summer table talk task team tell test tests text than that the their "
    "them themselves then there these they think this those though through time to today token "
    "too train try two under unless up use used user uses using version very want was water we "
    "week were what when where which while who whom whose why will window winter with within "
    "without word words work working works would year yet you your yours yourself"
)
_COMMON = frozenset(_WORDS.split())
# A run of ASCII letters with the space before it; or a piece of anything else.
_PIECE = re.compile(r"( ?)([A-Za-z]+)|[^A-Za-z ]+| ")
# A word longer than this is a blob; a letter a token is near enough, and the cache stays small.
_WORD_CHARS_MAX = 40
_NEVER = -1_000


def tokens_at_most(text: str) -> int:
    """A bound that no vocabulary of these kinds exceeds; one more for a mark at the start."""
    count = 1
    for found in _PIECE.finditer(text):
        space, word = found.groups()
        if word is None:
            count += len(found[0].encode("utf-8", "surrogatepass"))
        elif space and word in _COMMON and not _goes_on(text, found.end()):
            count += 1
        else:
            count += _word_at_most(word) if len(word) <= _WORD_CHARS_MAX else len(word) + 1
    return count


def _goes_on(text: str, end: int) -> bool:
    """Whether a letter beyond ASCII or an apostrophe follows, which may change how it is cut."""
    return end < len(text) and (text[end] > "\x7f" or text[end] == "'")


@lru_cache(maxsize=20_000)
def _word_at_most(word: str) -> int:
    """The most pieces a word and the space before it can fall into, if no two letters that merge
    are left alone side by side. Pieces of one and of two are enough to look at: a longer one
    never makes more of them."""
    # The most for the word so far: ending in a letter alone, in a pair, and one letter earlier.
    # The space, which merges with any letter, is the letter before the first.
    alone, paired, earlier = 1, _NEVER, 0
    previous = ""
    for letter in word:
        merges = not previous or letter in _PAIRS.get(previous, "")
        after_single = _NEVER if merges else alone
        alone, paired, earlier = 1 + max(paired, after_single), 1 + earlier, max(alone, paired)
        previous = letter
    return max(alone, paired)
