"""Sets of texts to measure how many secrets are redacted, and how many innocent texts are touched.

`held_out.txt` and `innocent_held_out.txt` were written before the rules and are only measured.
`development.txt` and `innocent_development.txt` are what the rules are developed on.

Tokens are filled in from a seeded generator when a set is read, so that the repository contains
nothing that looks like a live credential.
"""

import base64
import hashlib
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

FOLDER = Path(__file__).parent
ALPHABETS = {
    "hex": "0123456789abcdef",
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "-_",
    "an": string.ascii_letters + string.digits,
    "up": string.ascii_uppercase + "234567",
    "lower": string.ascii_lowercase + string.digits,
    "dig": string.digits,
}
FILLER = re.compile(r"‹(?:([a-z0-9]+):(\d+))?›")
MARKED = re.compile("⟦([^⟧]*)⟧")


@dataclass(frozen=True)
class Example:
    kind: str
    question: str  # The previous turn, or nothing.
    text: str
    secrets: tuple[str, ...]


@cache
def seed_words() -> list[str]:
    """Returns the English word list of BIP-39."""
    return files("holdfast.text.secrets").joinpath("bip39_english.txt").read_text("utf-8").split()


def seed_phrase(words: int, chance: random.Random) -> list[str]:
    """Returns a random phrase whose checksum is right, as a wallet would make it."""
    entropy_bits = words * 32 // 3
    entropy = chance.randbytes(entropy_bits // 8)
    check_bits = entropy_bits // 32
    check = hashlib.sha256(entropy).digest()[0] >> (8 - check_bits)
    number = int.from_bytes(entropy, "big") << check_bits | check
    places = [number >> 11 * (words - 1 - at) & 2047 for at in range(words)]
    return [seed_words()[place] for place in places]


def filled(text: str, chance: random.Random) -> str:
    def fill(match: re.Match[str]) -> str:
        kind, count = match[1], int(match[2] or 0)
        if kind is None:
            return ""
        if kind == "seed":
            return " ".join(seed_phrase(count, chance))
        if kind == "seedlist":
            numbered = enumerate(seed_phrase(count, chance), 1)
            return "\n".join(f"{number}. {word}" for number, word in numbered)
        if kind == "pem":
            lines = [base64.b64encode(chance.randbytes(48)).decode() for _ in range(count)]
            return "\n".join(lines)
        return "".join(chance.choices(ALPHABETS[kind], k=count))

    breaks = text.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t")
    return FILLER.sub(fill, breaks.replace("\0", "\\"))


def rows(name: str) -> Iterator[str]:
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def secret_examples(name: str) -> list[Example]:
    chance = random.Random(name)
    examples = []
    for row in rows(name):
        kind, _, marked = row.partition("\t")
        question, _, answer = filled(marked, chance).rpartition(" ⇒ ")
        secrets = tuple(MARKED.findall(answer))
        assert secrets, f"nothing is marked in {row!r}"
        examples.append(Example(kind, question, MARKED.sub(r"\1", answer), secrets))
    return examples


def innocent_examples(name: str) -> list[Example]:
    chance = random.Random(name)
    examples = []
    for row in rows(name):
        times, text = (5, row[3:]) if row.startswith("5x ") else (1, row)
        for _number in range(times):
            question, _, answer = filled(text, chance).rpartition(" ⇒ ")
            examples.append(Example("innocent", question, answer, ()))
    return examples


Redact = Callable[[str, str], str]  # The question of the previous turn, the text.


def leaks(example: Example, redacted: str) -> bool:
    """Says whether half of a secret, or more, is still in the text. Pieces that the text has
    elsewhere, as 'sudo' in a password for sudo, do not count."""
    around = example.text
    for secret in example.secrets:
        around = around.replace(secret, "\0")
    return any(
        redacted.count(secret[start : start + width]) > around.count(secret[start : start + width])
        for secret in example.secrets
        for width in [max(3, (len(secret) + 1) // 2)]
        for start in range(max(1, len(secret) - width + 1))
    )


def missed(name: str, redact: Redact) -> list[Example]:
    examples = secret_examples(name)
    return [
        example for example in examples if leaks(example, redact(example.question, example.text))
    ]


def touched(name: str, redact: Redact) -> list[Example]:
    examples = innocent_examples(name)
    return [
        example for example in examples if redact(example.question, example.text) != example.text
    ]
