"""Whether a text in the place of a secret can be one: how random it is, and whether it is an
example, a reference to a variable, or a word. Pure functions; what the places are, others know.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

# A string over few characters, such as aaaa1111, was typed to fill a gap.
_DISTINCT_MIN = 4
# Of 32 random hex digits the entropy is about 3.4 bits a character, of 20 random letters and
# digits about 4; of names and sentences mostly less than 3.
_ENTROPY_MIN = 2.9
# How often the class (digit, small, capital) changes per character: about 0.45 in hex, 0.6 in
# base 62, and under 0.2 in names made of words and numbers.
_CHANGES_MIN = 0.22

_EXAMPLE = re.compile(
    r"x{4,}|\*{3,}|\.{3}|…|•|example|sample|placeholder|dummy|redacted|change.?me|change.?this"
    r"|replace.?(?:me|this|with)|your.?(?:api|key|token|secret|pass|own|\w*here)|_here\b|insert.?"
    r"|not.?a.?(?:real|secret)|fake|todo|foo.?bar|lorem|\[secret:",
    re.IGNORECASE,
)
# Where the value comes from elsewhere: variables, templates, vaults, paths, calls.
_REFERENCE = re.compile(
    r"^[<$%{*@/\\~&]|^\W*$|\$\{|\$\(|\{\{|%\(|#\{|<[\w -]+>|\benv\b|environ|getenv|process\."
    r"|^(?:self|this|os|config|settings|secrets|vault|args|options|params|request|req|ctx|data|file"
    r"|arn|op|ref\+\w*|ssm|keyring|azurekv|projects|https?|ftp)[.:\[/]|::|->|=>|\(\)|^//|\.\.|\?\.",
    re.IGNORECASE,
)
_WORDS = frozenset(
    (
        *("none", "null", "nil", "true", "false", "undefined", "empty", "required"),
        *("optional", "string", "str", "bytes", "int", "bool", "text", "any", "secret"),
        *("password", "passwd", "token", "test", "default", "unset", "missing"),
        *("invalid", "hidden", "masked", "unknown", "value", "changed", "expired"),
        *("wrong", "correct", "incorrect", "weak", "strong", "stored", "hashed"),
        *("encrypted", "same", "different", "known", "needed", "shown", "sent", "valid"),
        *("public", "private", "admin", "root", "user", "username", "email", "login"),
    )
)
# Names of methods and formats, which have letters and digits and are no passwords.
_TECHNICAL = re.compile(
    r"(?:sha|md|hs|rs|es|utf|oauth|bcrypt|argon|scrypt|pbkdf|base|aes|rsa|ed|x|ipv|http|python|py|v"
    r"|s|ec|int|uint|str|sec|p|h|u|iso|rfc|win|ntlm|crypt|tls|ssl|gpt|mem|step|line|part|utf-)"
    r"[-_]?\d[\w.-]*|\w*sha(?:1|256|512)\w*|\w*base64\w*|2fa|two-factor|[\w-]+-\w*ed",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_.-]*\d?")
_VERSION = re.compile(r"v?\d+(?:[.:/-]\d+)*\w?|\d{4}-\d\d-\d\d.*")
_SYMBOLS = re.compile(r"[^\w\s.:/,\\-]")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{32}")
_RUNS = re.compile(r"0123456|1234567|abcdefg|abcd1234|deadbeef", re.IGNORECASE)


def is_example(secret: str) -> bool:
    """Whether it says of itself that it is none, or was typed to fill a gap."""
    return len(set(secret)) < _DISTINCT_MIN or _EXAMPLE.search(secret) is not None


def is_reference(value: str) -> bool:
    """Whether it names a place where the secret is, and is none itself."""
    return _REFERENCE.search(value) is not None


def entropy(text: str) -> float:
    """Bits a character, by how often each one stands in the text itself."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if text else 0.0


def is_mixed(text: str) -> bool:
    """Whether it looks drawn at random: letters and digits, one for another all the time."""
    if not (any(map(str.isdigit, text)) and any(map(str.isalpha, text))):
        return False
    kinds = [0 if c.isdigit() else 1 if c.islower() else 2 if c.isupper() else 3 for c in text]
    changes = sum(a != b for a, b in pairwise(kinds))
    return changes >= _CHANGES_MIN * len(text) and entropy(text) >= _ENTROPY_MIN


def is_password(value: str) -> bool:
    """What a person may have chosen: no word, no number of something, nothing from elsewhere."""
    bare = value.strip(".,;:")
    if len(bare) < 4 or is_example(value) or is_reference(value):
        return False
    if bare.lower() in _WORDS or _TECHNICAL.fullmatch(bare):
        return False
    if bare.isdigit():
        return len(bare) >= 6
    if _VERSION.fullmatch(bare) or _IDENTIFIER.fullmatch(bare):
        return False
    letters = any(map(str.isalpha, bare))
    return letters and (any(map(str.isdigit, bare)) or _SYMBOLS.search(bare) is not None)


def is_token(value: str) -> bool:
    """What a program was given: long and drawn at random."""
    if len(value) < 16 or is_example(value) or is_reference(value) or _RUNS.search(value):
        return False
    return is_mixed(value)


def is_basic(value: str) -> bool:
    """Whether it is a user and a password in base 64."""
    import base64
    import binascii

    try:
        told = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    user, colon, password = told.partition(":")
    return bool(user and colon) and len(password) >= 3 and told.isprintable()


def is_url_password(value: str) -> bool:
    """In a URL even a word is a password; a port, a variable or `password` itself is none."""
    plain = value.lower()
    if is_example(value) or is_reference(value) or plain in _WORDS or plain in ("pass", "pw"):
        return False
    return not (value.isdigit() and len(value) <= 5)


def is_pem(value: str) -> bool:
    """Whether there is a key in the block; a page that speaks of one has only its ends."""
    return _KEY_LINE.search(value) is not None


CHECKS = {
    "": lambda _: True,
    "pem": is_pem,
    "mixed": is_mixed,
    "token": is_token,
    "password": is_url_password,
    "basic": is_basic,
}
