"""Made-up memories in a natural vocabulary: always the same for the same seed.

Words follow Zipf's law as natural text does: a few dozen function words make up half of it, a few
hundred everyday words most of the rest, and names and rare words the long tail. The everyday words
are real; the tail is put together from syllables, so that a stemmer and an index have as many
different words to cope with as in real notes.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

VOCABULARY = 30_000
WORDS_LEAST, WORDS_MOST = 8, 40
TURNS_PER_SESSION = 20
BEGAN = datetime(2024, 1, 1, 8, tzinfo=UTC)

_FUNCTION = (
    "the i to and a of you it in that is my for was we on have but with me so be this are not at"
    " do just they can like he as all what up if she out or about from one had when your get will"
    " would there been some an how more then them their were has our her his who by no could"
)
_COMMON = (
    "time good day think know going want work really make need see people week new year today"
    " great help start try love home call plan friend project team meeting family book food house"
    " idea place morning weekend school job feel long sure look talk tell keep week month night"
    " price report server client budget release customer database report design review garden"
    " kitchen doctor train ticket coffee recipe music guitar running bike dog cat birthday party"
    " holiday beach mountain river city street office phone laptop screen picture paint color paper"
    " letter story movie game team player score winter summer spring autumn rain snow sun cold"
    " warm water bread cheese fish chicken apple tomato potato onion butter sugar salt wine beer"
    " table chair window door floor wall roof light lamp bed sofa car bus plane boat road bridge"
    " church market shop store bank money cost bill tax loan rent salary boss colleague manager"
    " contract deadline agenda note task bug test branch commit deploy cluster queue cache index"
    " query schema table row column key token password account email message channel thread"
)
_ONSET = "b br c ch cl d dr f fl g gr h j k kl l m n p pl pr qu r s sh sk sl st t th tr v w z"
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ee", "oa", "ou"]
_CODAS = ["", "", "", "n", "r", "l", "s", "t", "nd", "rk", "m", "st", "ck"]
_ONSETS = tuple(_ONSET.split())
FUNCTION = tuple(_FUNCTION.split())
EVERYDAY = tuple(dict.fromkeys(_COMMON.split()))
SPEAKERS = ("Amara", "Bruno", "Chandra", "Dov")


class Texts:
    """A stream of texts and of questions about them."""

    def __init__(self, seed: int = 7) -> None:
        self._chance = random.Random(seed)
        self._words = self._vocabulary()
        # Mandelbrot's form of Zipf's law, with constants near those of English prose: 40 function
        # words are two fifths of the text.
        ranks = range(1, VOCABULARY + 1)
        self._weights = list(accumulate((rank + 2.7) ** -1.1 for rank in ranks))

    def _vocabulary(self) -> list[str]:
        # Function words and everyday words share the front as they do in speech.
        front = list(FUNCTION[:40])
        rest = iter(FUNCTION[40:])
        for at, word in enumerate(EVERYDAY):
            front.append(word)
            if at % 3 == 0 and (function := next(rest, None)):
                front.append(function)
        words = dict.fromkeys(front)
        while len(words) < VOCABULARY:
            syllables = 1 + (len(words) > 1_000) + (self._chance.random() < 0.5)
            words.setdefault("".join(self._syllable() for _ in range(syllables)))
        return list(words)

    def _syllable(self) -> str:
        pick = self._chance.choice
        return pick(_ONSETS) + pick(_VOWELS) + pick(_CODAS)

    def word(self) -> str:
        at = bisect(self._weights, self._chance.random() * self._weights[-1])
        return self._words[min(at, VOCABULARY - 1)]

    def text(self) -> str:
        count = self._chance.randint(WORDS_LEAST, WORDS_MOST)
        said = " ".join(self.word() for _ in range(count))
        return f"{said[0].upper()}{said[1:]}."

    def memories(self, count: int) -> Iterator[dict[str, Any]]:
        """Drafts of a long conversation: sessions of twenty turns between two people."""
        for number in range(count):
            session, turn = divmod(number, TURNS_PER_SESSION)
            yield {
                "content": self.text(),
                "session": f"session-{session}",
                "speaker": SPEAKERS[(session % 2) * 2 + turn % 2],
                "occurred_at": BEGAN + timedelta(minutes=number),
            }

    def question(self) -> str:
        """A question about one text: some of its telling words between function words."""
        while True:
            telling = [
                word for word in self.text().lower().rstrip(".").split() if word not in FUNCTION
            ]
            if len(telling) >= 3:
                some = self._chance.sample(telling, min(len(telling), self._chance.randint(3, 5)))
                return f"What did you say about the {' and the '.join(some)}?"

    def common_question(self) -> str:
        """A question of nothing but everyday words: the slow case of a word index."""
        return f"What about the {' '.join(self._chance.sample(EVERYDAY[:40], 5))}?"
