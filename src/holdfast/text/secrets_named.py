"""Secrets that only their name gives away: `password = …`, `API_KEY: …`, 'my wifi password is …'.

The names are found with plain substring search; patterns only look at what stands behind them.
What follows must look like a secret (secrets_checks): most lines that say `password` hold none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from holdfast.text.secrets_checks import is_example, is_password, is_reference, is_token

# Chosen by people, so they may be short.
_PASSWORDS = (
    *("password", "passwd", "passphrase", "pass phrase", "passcode", "_pass", "pwd", "passwort"),
    *("kennwort", "contraseña", "mot de passe", "wachtwoord", "senha", "hasło", "пароль", "密码"),
)
# Given out by programs, so they are long.
_TOKENS = (
    *("api key", "api_key", "api-key", "apikey", "access key", "access_key", "access-key"),
    *("accesskey", "secret key", "secret_key", "secret-key", "secretkey", "private_key"),
    *("privatekey", "auth_key", "authkey", "encryption_key", "signing_key", "account_key"),
    *("license_key", "secret", "token", "credential"),
)
_PINS = ("pin", "door code", "alarm code", "gate code", "safe code", "access code", "pin code")
# Names that end like those of secrets, and hold none.
_NO_SECRETS = re.compile(
    r"(?:next|page|continuation|cursor|sync|csrf|public|pub|reset|forgot|change|show|hide|max|min"
    r"|num|count|total|stop|start|end|pad|eos|bos|unk|mask|sep|cls|special|prompt|completion)[_-]?$",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(r"[\w.-]{0,40}$")

_ASSIGNED = (
    r"(?:_?(?:base|value|b64|hex|string|text|1|2))?\\?[\"'`\])]{0,2}\s{0,4}"
    r"(?::\s{0,3}[A-Za-z_.]{1,30}(?:\[[^\]\n]{1,40}\])?(?:\s?\|\s?None)?\s{0,3}=|:=|=>|={1,3}|:)\s{0,4}"
    r"(?:(?:[rbuRBU]{0,2}(?P<quote>\\?[\"'`])(?P<quoted>[^\"'`\n\\]{4,400})(?P=quote))"
    r"|(?P<bare>[^\s\"'`,;&<>(){}\[\]\\|]{6,400}))"
)
_FLAG = r"[ \t]+(?P<bare>[^\s\"'`-][^\s\"'`]{5,200})"
_SAID = (
    r"(?:\s+(?:for|of|to|on|at|für|zum|zur|von|vom|del|de|para|do|pour)\s+[^\n.:;=?!\"']{1,40}?)?"
    r"\s+(?:(?:is|was|has been|is now)? ?(?:changed|set|reset) to|is|was|ist|lautet|war|es|est|é"
    r"|jest|—|–|-)\s+(?:now |still |just |jetzt |ahora |:)?\s?"
    r"(?P<quote>[\"'“‘`«*]{0,2})(?P<said>[^\s\"'”’`»\\]{4,128})"
)
# 'the password is wrong' tells none; what a state of things sounds like.
_STATE = re.compile(
    r"\w+(?:ed|ing|able|ible|ly|less|ful|ous)|too|very|being|been|also|only|always|never|about|"
    r"there|here|this|that|what|where|your|mine|theirs|same|wrong|right|short|long|weak|strong|safe|"
    r"unsafe|secure|gone|lost|fine|good|known|unknown|empty|blank|stale|public|private|correct|"
    r"incorrect|optional|mandatory|case-sensitive|available|different|identical|simple|complex|"
    r"complicated|easy|hard|rubbish|terrible|written|kept|sent|hidden|given|unique|random|null|none|"
    r"still|just|another|something|anything|nothing|under|inside|behind|with|from|like|more|less|"
    r"much|enough|really|quite|then|when|case|sensitive|mostly|part|part-of|falsch|richtig|sicher",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?:my|our|his|her|their|wi-?fi|wlan|router|guest|netflix|mein|unser|mi|mon|meu)\b[^\n.!?]{0,30}$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!*\"'”’`»)]{0,3}(?:\s*$|\n|[.!,;]\s|\s+(?:and|und|y|et)\s)")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def find_named(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of what names give away; `low` is the text in small letters, as long."""
    for name, at in _places(low, _PASSWORDS):
        yield from _assigned(text, at, name, "password", token=False)
        yield from _said(text, at, name, "password")
    for name, at in _places(low, _TOKENS):
        kind = "secret" if name in ("secret", "credential") else "token"
        kind = "api-key" if "key" in name else kind
        yield from _assigned(text, at, name, kind, token=True)
        yield from _said(text, at, name, kind)
    for name, at in _places(low, _PINS):
        yield from _said_pin(text, at, name)


def is_named_secret(name: str, value: str) -> str:
    """The kind of secret that a value is by its name, as in a dictionary; '' where it is none."""
    line = f"{name}={value}"
    for kind, start, end in find_named(line, line.lower()):
        if end == len(line) and start <= len(name) + 1:
            return kind
    return ""


def _places(low: str, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for name in names:
        at = low.find(name)
        while at >= 0:
            yield name, at
            at = low.find(name, at + len(name))


def _assigned(
    text: str, at: int, name: str, kind: str, *, token: bool
) -> Iterator[tuple[str, int, int]]:
    before = _NAME_BEFORE.search(text, max(0, at - 40), at)
    if before is not None and _NO_SECRETS.search(before[0]):
        return
    end = at + len(name)
    found = _compiled(_ASSIGNED).match(text, end)
    if found is None and before is not None and before[0].startswith("--"):
        found = _compiled(_FLAG).match(text, end)
    if found is None:
        return
    group = "quoted" if "quoted" in found.groupdict() and found["quoted"] else "bare"
    value = found[group]
    start = found.start(group)
    if group == "bare":
        value = value.rstrip(".,:")
        # A call or an index: code that reads the value from somewhere.
        if text[start + len(value) : start + len(value) + 1] in ("(", "[", "{"):
            return
    if _fits(value, name, token=token, quoted=group == "quoted"):
        yield kind, start, start + len(value)


def _fits(value: str, name: str, *, token: bool, quoted: bool) -> bool:
    if any(map(str.isspace, value)):
        return False
    if not token:
        return len(value) >= 6 and is_password(value)
    if is_token(value):
        return True
    # Short ones only where the line leaves no doubt: in quotes, under a name for nothing else.
    short = quoted and len(value) >= 8 and name not in ("token", "credential")
    return short and any(map(str.isdigit, value)) and is_password(value)


def _said(text: str, at: int, name: str, kind: str) -> Iterator[tuple[str, int, int]]:
    found = _compiled(_SAID).match(text, at + len(name))
    if found is None:
        return
    value = found["said"].rstrip(".,;:)*")
    start = found.start("said")
    if len(value) < 4 or is_example(value) or is_reference(value):
        return
    if kind != "password":
        fits = is_token(value)
    elif value.isdigit():
        fits = True
    else:
        fits = is_password(value) or _is_told_word(text, at, start, value, found["quote"])
    if fits:
        yield kind, start, start + len(value)


def _is_told_word(text: str, at: int, start: int, value: str, quote: str) -> bool:
    """A password that is only a word: where it is quoted, or somebody tells their own and says
    nothing more."""
    if _STATE.fullmatch(value) or not value.isalpha():
        return False
    if quote:
        return len(value) >= 5
    personal = _PERSONAL.search(text, max(0, at - 60), at)
    ends = _ENDS.match(text, start + len(value))
    return len(value) >= 6 and personal is not None and ends is not None


def _said_pin(text: str, at: int, name: str) -> Iterator[tuple[str, int, int]]:
    if at and (text[at - 1].isalnum() or text[at - 1] in "_-"):
        return
    found = _compiled(_SAID).match(text, at + len(name))
    if found is None:
        return
    value = found["said"].rstrip(".,;:!?)*")
    if value.isdigit() and 4 <= len(value) <= 10:
        yield "pin", found.start("said"), found.start("said") + len(value)
