"""The WordPiece tokenizer of uncased BERT models: text in, token numbers out.

It reads a `vocab.txt` (one token a line, its line number is its id) and knows nothing of models.
It gives what the `tokenizers` package gives for such a vocabulary, with one difference on purpose:
`[SEP]` or `[MASK]` written in a text is text, never a control token, since texts come from
strangers. Characters that only one of the two has in its Unicode tables may differ as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from holdfast.errors import EmbedderError

WORD_CHARACTERS_MAX = 100  # what the models were trained with; a longer word is [UNK]

# A text is cut here, per token that can be used, before any other work: no reasonable text has
# 128 characters a token, and a text of megabytes should not cost seconds.
CHARACTERS_PER_TOKEN_MAX = 128

# The ideographs that are words of their own; in Japanese and Korean the kana and hangul are not
# among them. The ranges, gaps included, are those of the models' training.
_IDEOGRAPH_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_ASCII_WORD = re.compile(r"[0-9a-z]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n\r"}


class WordPiece:
    """A vocabulary, and the ids of texts under it."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._count = len(tokens)
        self.unknown = self._control("[UNK]")

    def __len__(self) -> int:
        return self._count

    def encode(self, text: str, tokens_max: int) -> list[int]:
        """The ids of a text between [CLS] and [SEP], at most `tokens_max` in all."""
        ids = self.pieces(text, tokens_max - 2)
        return [self._control("[CLS]"), *ids, self._control("[SEP]")]

    def pieces(self, text: str, tokens_max: int) -> list[int]:
        """The ids of a text alone, at most `tokens_max`."""
        ids: list[int] = []
        for word in split_words(text[: tokens_max * CHARACTERS_PER_TOKEN_MAX]):
            whole = self._ids.get(word)
            if whole is not None:
                ids.append(whole)
            else:
                ids.extend(self._split(word))
            if len(ids) >= tokens_max:
                break
        return ids[:tokens_max]

    def _control(self, token: str) -> int:
        if token not in self._ids:
            raise EmbedderError(
                f"The vocabulary has no token {token}.",
                hint="It must be the vocab.txt of an uncased BERT model, one token a line.",
            )
        return self._ids[token]

    def _split(self, word: str) -> list[int]:
        """The longest known piece from the left, again and again; [UNK] if that fails anywhere."""
        if len(word) > WORD_CHARACTERS_MAX:
            return [self.unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    pieces.append(piece)
                    start = end
                    break
            else:
                return [self.unknown]
        return pieces


def split_words(text: str) -> Iterator[str]:
    """Lower-cased words without accents; punctuation and ideographs each a word of their own."""
    if text.isascii():
        for match in _ASCII_WORD.finditer(text.translate(_ASCII_CONTROLS).lower()):
            yield match.group()
        return
    spaced = "".join(map(_clean, text))
    # Letter by letter, since the models never saw the Greek rule for a sigma at a word's end.
    plain = "".join(
        letter.lower()
        for letter in unicodedata.normalize("NFD", spaced)
        if unicodedata.category(letter) != "Mn"
    )
    for run in plain.split():
        start = 0
        for end, letter in enumerate(run):
            if _is_punctuation(letter):
                if start < end:
                    yield run[start:end]
                yield letter
                start = end + 1
        if start < len(run):
            yield run[start:]


def _clean(letter: str) -> str:
    """Nothing for a control character, a space for any white space, spaces round an ideograph."""
    if letter in "\t\n\r":
        return " "
    # A character that this Python's Unicode tables do not know yet (Cn) stays, and becomes [UNK].
    if letter == "\ufffd" or unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if letter.isspace():
        return " "
    code = ord(letter)
    if code >= 0x3400 and any(first <= code <= last for first, last in _IDEOGRAPH_RANGES):
        return f" {letter} "
    return letter


def _is_punctuation(letter: str) -> bool:
    # The symbols of ASCII ($, +, < and so on) count too, though Unicode files them elsewhere.
    if letter.isascii():
        return not letter.isalnum()
    return unicodedata.category(letter)[0] == "P"


def read_vocabulary(path: str) -> WordPiece:
    """The tokenizer of a `vocab.txt`; line ends of either kind."""
    with open(path, encoding="utf-8") as lines:
        return WordPiece([line.rstrip("\r\n") for line in lines])
