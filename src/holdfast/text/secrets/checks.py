"""Whether a text in the place of a secret can be one: how random it is, and whether it is an
example, a reference to a variable, or a word. Pure functions; what the places are, others know.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from enum import Enum
from itertools import pairwise

from holdfast.text.tables import Patterns, lazy

_PATTERNS = Patterns("secrets/patterns.txt")

# A string over few characters, such as aaaa1111, was typed to fill a gap.
_DISTINCT_MIN = 4
# Of 32 random hex digits the entropy is about 3.4 bits a character, of 20 random letters and
# digits about 4; of names and sentences mostly less than 3.
_ENTROPY_MIN = 2.9
# How often the class (digit, small, capital) changes per character: about 0.45 in hex, 0.6 in
# base 62, and under 0.2 in names made of words and numbers.
_CHANGES_MIN = 0.22

_EXAMPLE = lazy(
    r"x{4,}|\*{3,}|\.{3}|…|•|example|sample|placeholder|dummy|redacted|change.?me|change.?this"
    r"|replace.?(?:me|this|with)|your.?(?:api|key|token|secret|pass|own|\w{0,30}here)|_here\b|insert.?"
    r"|not.?a.?(?:real|secret)|fake|todo|foo.?bar|lorem|\[secret:",
    re.IGNORECASE,
)
# In a long random text, four letters in a row that mean something are chance: of keys of 4,096
# bits, one in 70 has an 'xxxx', 'todo' or 'fake' in it.
_EXAMPLE_LONG = lazy(
    _EXAMPLE.pattern.replace("x{4,}", "x{8,}").replace("|fake|todo|", r"|\bfake\b|\btodo\b|"),
    re.IGNORECASE,
)
_LONG_CHARS = 64
_WORDS = frozenset(
    (
        *("none", "null", "nil", "true", "false", "undefined", "empty", "required"),
        *("optional", "string", "str", "bytes", "int", "bool", "text", "any", "secret"),
        *("password", "passwd", "token", "test", "default", "unset", "missing"),
        *("invalid", "hidden", "masked", "unknown", "value", "changed", "expired"),
        *("wrong", "correct", "incorrect", "weak", "strong", "stored", "hashed"),
        *("encrypted", "same", "different", "known", "needed", "shown", "sent", "valid"),
        *("public", "private", "admin", "root", "user", "username", "email", "login"),
        *(
            "bcrypt",
            "scrypt",
            "argon2",
            "argon2id",
            "pbkdf2",
            "sha256",
            "hmac",
            "oauth",
            "plaintext",
        ),
        *("text/plain", "varchar", "wrongpassword", "wrong_password", "vault", "keychain"),
    )
)
_VERSION = lazy(r"v?\d+(?:[.:/-]\d+)*\w?|\d{4}-\d\d-\d\d.*")
_SYMBOLS = lazy(r"[^\w\s.:/,\\-]")
_KEY_LINE = lazy(r"[A-Za-z0-9+/]{32}")
_RUNS = lazy(r"0123456|1234567|abcdefg|abcd1234|deadbeef", re.IGNORECASE)


def is_example(secret: str) -> bool:
    """Whether the value of a secret is a placeholder or an example."""
    words = _EXAMPLE if len(secret) < _LONG_CHARS else _EXAMPLE_LONG
    return len(set(secret)) < _DISTINCT_MIN or words.search(secret) is not None


def is_reference(value: str) -> bool:
    """Whether a value is a reference to a secret, and not one itself."""
    return _PATTERNS["reference"].search(value) is not None and not is_random(value)


def entropy(text: str) -> float:
    """Entropy in bits per character, by the frequencies in the text itself."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if text else 0.0


def is_mixed(text: str) -> bool:
    """Whether the value of a secret looks drawn at random: letters and digits, one for another all
    the time."""
    if not (any(map(str.isdigit, text)) and any(map(str.isalpha, text))):
        return False
    kinds = [0 if c.isdigit() else 1 if c.islower() else 2 if c.isupper() else 3 for c in text]
    changes = sum(a != b for a, b in pairwise(kinds))
    return changes >= _CHANGES_MIN * len(text) and entropy(text) >= _ENTROPY_MIN


def is_random(text: str) -> bool:
    """Whether a value is base 64 of random bytes, though the slashes in it make it look like a
    path.

    In the names of a path, a capital comes first and digits last; so what counts is how often a
    digit is beside a letter, or a capital behind a small letter. Of random bytes it is 0.4."""
    if len(text) < _RANDOM_CHARS_MIN or _BASE64.fullmatch(text) is None:
        return False
    if not (any(map(str.isdigit, text)) and any(map(str.isupper, text))):
        return False
    inner = len(_INNER_CHANGE.findall(text))
    return inner >= _CHANGES_MIN * len(text) and entropy(text) >= _RANDOM_ENTROPY_MIN


# 24 characters are 18 bytes; of fewer, words with a number in them are too often taken for one.
_RANDOM_CHARS_MIN = 24
# Of 24 random characters it is 4.2 on average.
_RANDOM_ENTROPY_MIN = 3.7
_BASE64 = lazy(r"[A-Za-z0-9+/_-]+={0,2}")
_INNER_CHANGE = lazy(r"(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d|(?<=[a-z])[A-Z]")


class Strength(Enum):
    """A score for how much a value looks like a secret and not like ordinary text, without its
    context."""

    NONE = 0  # An example, a reference, a version, a type: never a password.
    WORD = 1  # An ordinary word.
    NUMBER = 2  # Four digits or more.
    COINED = 3  # Words joined as in an identifier: four-words, fourWords, four_words5.
    STRONG = 4  # Letters with digits or symbols.


_COINED = lazy(r"[^\W\d]+(?:[_-][^\W\d_]+)*\d?|[^\W\d_]+(?:[_-][^\W_]+)+")
_INNER_CAPITAL = lazy(r"[a-zà-ÿ][A-ZÀ-Þ]")


def strength(value: str) -> Strength:
    """The strength of a value as a password, by its form alone."""
    bare = value.strip(".,;:…")
    if bare.endswith(("(", "[", "{")):
        return Strength.NONE
    if bare.isdigit() and len(bare) >= 4:
        return Strength.NUMBER
    if len(bare) < 4 or is_example(value) or is_reference(value):
        return Strength.NONE
    if is_random(value):
        return Strength.STRONG
    if (
        bare.lower() in _WORDS
        or _PATTERNS["technical"].fullmatch(bare)
        or _NAMES_ITSELF.fullmatch(bare)
    ):
        return Strength.NONE
    if _VERSION.fullmatch(bare) or _PATTERNS["other form"].fullmatch(bare):
        return Strength.NONE
    if not any(map(str.isalpha, bare)):
        return Strength.NONE
    if bare.isalpha():
        return Strength.COINED if _INNER_CAPITAL.search(bare) else Strength.WORD
    if _COINED.fullmatch(bare) and sum(map(str.isdigit, bare)) <= 1:
        return Strength.COINED
    if any(map(str.isdigit, bare)) or _SYMBOLS.search(bare) is not None or "_" in bare:
        return Strength.STRONG
    return Strength.NONE


def is_coined(value: str) -> bool:
    """Whether a value is a strong password, or words joined with a digit: `lime-4-tree`,
    `lime_tree4`."""
    found = strength(value)
    joined = found is Strength.COINED and any(map(str.isdigit, value)) and not is_state(value)
    return found is Strength.STRONG or joined


# 'The password is wrong' gives none: what the state of a thing sounds like.
_STATE_ENDING = lazy(r"\w*(?:ed|ing|able|ible|ly|less|ful|ous|ive|ory)", re.IGNORECASE)


def is_state(value: str, *, by_ending: bool = True) -> bool:
    """Whether a value says how something is, as 'wrong' and 'case-sensitive' do, and is no secret;
    also by an ending such as -ed, unless the text is known to answer a question."""
    last = re.split(r"[-_]", value.rstrip("!?."))[-1]
    if by_ending and _STATE_ENDING.fullmatch(last):
        return True
    return _PATTERNS["state"].fullmatch(last) is not None


# Words that nearly every sentence has, and hardly any passphrase.
_FUNCTION_WORDS = frozenset(
    word
    for line in (
        "a an the i i'm you he she it we they me my your his her our their is are was were be been",
        "am do does did don't have has had can can't could will would should must may might not no",
        "yes and or but if as of to in on at for from with by about into than then so that this",
        "these those there here what which who where when why how ask same see sorry idea know",
        "tell told please later maybe nothing none dunno never enter type forgot forgotten",
        "ich du er sie es wir ihr ist sind nicht kein keine der die das und oder mit für von zu im",
        "je tu il elle nous vous ne pas le la les un une des est et ou de du pour avec dans sur",
        "io lui lei noi non il lo gli uno una che di da con su per è sono",
        "yo él ella el los las y o del al por para no sé eu ele ela não os as do da em um uma que",
        "ik jij hij zij wij niet geen het een en of van voor met op",
    )
    for word in line.split()
)


def is_phrase(value: str) -> bool:
    """Whether several words can be a passphrase: no sentence, no message, not many of them."""
    words = value.split()
    if not 1 <= len(words) <= 12 or len(value) > 80 or is_example(value) or is_reference(value):
        return False
    plain = [word.strip(".,;:!?'’").lower() for word in words]
    if any(word in _FUNCTION_WORDS for word in plain) or all(word in _WORDS for word in plain):
        return False
    return len(value.strip()) >= 4 and not value.endswith(("?", ":", ".", "!")) and "," not in value


def is_token(value: str) -> bool:
    """Whether a value is a token of a program: long and random."""
    if len(value) < 16 or is_example(value) or is_reference(value) or _RUNS.search(value):
        return False
    return is_mixed(value)


def is_basic(value: str) -> bool:
    """Whether a value is a user and a password in base 64."""
    import base64
    import binascii

    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    user, colon, password = decoded.partition(":")
    return bool(user and colon) and len(password) >= 3 and decoded.isprintable()


def is_url_password(value: str) -> bool:
    """In a URL even a word is a password, but not a port, a variable or `password` itself."""
    plain = value.lower()
    if is_example(value) or is_reference(value) or plain in _WORDS or plain in ("pass", "pw"):
        return False
    return not (value.isdigit() and len(value) <= 5)


def is_docker_auth(value: str) -> bool:
    """Whether a value is a user and a password in base 64, or a token in their place."""
    return is_basic(value) or (len(value) >= 32 and is_mixed(value))


def is_pem(value: str) -> bool:
    """Whether there is a key in the block; a page that speaks of one has only its ends."""
    return _KEY_LINE.search(value) is not None


def is_encoded_pem(value: str) -> bool:
    """Whether base 64 holds the beginning of a private key, as in a kubeconfig."""
    import base64
    import binascii

    try:
        return b" PRIVATE KEY-----" in base64.b64decode(value[:88])
    except (binascii.Error, ValueError):
        return False


_NAMES_ITSELF = lazy(
    r"[A-Za-z_ -]{0,100}(?:pass(?:word|wort|phrase)|secret|token)[A-Za-z_ -]*", re.IGNORECASE
)


def is_chosen(value: str) -> bool:
    """Where a program expects a password, anything but an example or a reference is one."""
    if _NAMES_ITSELF.fullmatch(value):
        return False
    return is_url_password(value) and not value.startswith("-") and len(value) >= 4


def is_cookie(value: str) -> bool:
    """Whether a value is that of a session: long and random, or signed."""
    return (
        len(value) >= 16
        and not is_example(value)
        and not is_reference(value)
        and (is_mixed(value) or entropy(value) >= _COOKIE_ENTROPY_MIN)
    )


_COOKIE_ENTROPY_MIN = 3.8

CHECKS: dict[str, Callable[[str], bool]] = {
    "": lambda _: True,
    "pem": is_pem,
    "encoded_pem": is_encoded_pem,
    "mixed": is_mixed,
    "token": is_token,
    "password": is_url_password,
    "basic": is_basic,
    "docker": is_docker_auth,
    "chosen": is_chosen,
    "cookie": is_cookie,
    "coined": is_coined,
    "digits": lambda value: any(map(str.isdigit, value)),
}
