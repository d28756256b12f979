"""The words for credentials in a dozen languages, and where they are in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.text.secrets.rules import NOUN_CUES
from holdfast.text.tables import lazy

# Kind, start, end.
Span = tuple[str, int, int]

QUOTES = dict(zip("\"'`“”„‘«「『", "\"'`””“’»」』", strict=True))
# Not part of the value that they follow.
TRAILING = ".,;:)*]}…?_"
PIN = lazy(r"[#*]?\d{4,10}[#*]?(?![A-Za-z0-9_-]|\.\d)|\d{1,2}(?:-\d{1,2}){2,4}(?![A-Za-z0-9_-])")


class Noun(NamedTuple):
    """A word for a credential. A weak one also means other things ('the pass is closed'), so only
    a value that is no ordinary word counts. `before` and `after` must match around the word."""

    text: str
    kind: str
    weak: bool = False
    before: str = ""
    after: str = ""

    @property
    def is_english(self) -> bool:
        """Whether only English sentences have this word; 'password' is used in Italian too."""
        return self.text.startswith("pass") and self.text not in (
            "passwort",
            "passord",
            "passordet",
        )

    @property
    def is_token(self) -> bool:
        """Whether programs make such a secret: then it is long and looks random."""
        return self.kind in ("api-key", "token", "secret")


class Place(NamedTuple):
    """A noun for a secret at a place of a text."""

    noun: Noun
    at: int
    end: int


_KEY_OF = (
    r"(?:api|access|secret|private|auth|encryption|signing|account|license|app|storage|shared"
    r"|master|service|deploy|client|consumer|session|subscription|geheime[rn]?)[ _-]?$"
)
_NETWORK = r"(?:wpa[23]?|wi-?fi|wlan|wireless|network|hotspot|router|ssid\b[^\n]{0,40})[ _-]?$"
_LOCKED = (
    r"door|gate|alarm|safe|vault|lock|locker|garage|entry|building|house|keypad|puerta|alarma|caja"
    r"|(?:haus|wohnungs|keller|garagen)?tür|tor|tresor|alarmanlage|schließfach"
    r"|porte|alarme|coffre|immeuble|porta|allarme|cassaforte|cancello|portão|cofre|deur|kluis"
)
_CODE_OF = (
    rf"(?:\b(?:{_LOCKED}|access|pin|unlock|security)|tür|haus|alarm|tresor|zugangs|sperr)[ _-]?$"
)
_CODE_FOR = (
    r"[ _-](?:for|of|to|für|zur|zum|de|del|du|da|do|della|dell|van|vom|der)\b"
    rf"[^\n.:?!]{{0,24}}?\b(?:{_LOCKED})"
)
_WORD = r"(?<![a-z0-9à-ɏ])$"

_PASSWORD_WORDS = (
    *("password", "passwd", "passphrase", "pass phrase", "passcode", "pass code", "passwort"),
    *("psswd", "requirepass", "masterauth", "pswd", "passwrd", "mot de passe", "palavra-passe"),
    *("palavra passe", "passord", "pwd", "kennwort", "contraseña", "contrasena", "wachtwoord"),
    *(
        "senha",
        "hasło",
        "haslo",
        "lösenordet",
        "lösenord",
        "passordet",
        "adgangskode",
        "salasana",
        "пароль",
        "пароля",
        "паролем",
    ),
    *("密码", "密碼", "口令", "パスワード", "パスフレーズ", "비밀번호", "암호", "keymaterial"),
    "parola d'ordine",
)
NOUNS = (
    *(Noun(word, "password") for word in _PASSWORD_WORDS),
    Noun("pw", "password", weak=True, before=_WORD, after=r"(?![a-z0-9à-ɏ])"),
    Noun("mdp", "password", before=_WORD, after=r"(?![a-z0-9à-ɏ])"),
    Noun(
        "pass",
        "password",
        weak=True,
        before=r"(?:_|(?<![a-z0-9à-ɏ]))$",
        after=r"(?![a-z0-9à-ɏ]|word)",
    ),
    Noun("pass", "password", before=r"(?:^|\s)--?\w+$", after=r"(?![a-z0-9à-ɏ])"),
    Noun("psw", "password", before=_WORD, after=r"(?![a-z0-9à-ɏ])"),
    Noun("key", "password", before=r"master[ _-]$", after=r"(?![a-z0-9à-ɏ])"),
    Noun("psk", "password", before=r"(?<![a-z0-9à-ɏ])$", after=r"(?![a-z0-9à-ɏ])"),
    Noun("clave", "password", weak=True, before=_WORD, after=r"(?![a-z0-9à-ɏ])"),
    Noun("schlüssel", "password", weak=True, before=rf"{_NETWORK}|wlan-?netz-?$"),
    Noun("key", "password", before=_NETWORK, after=r"(?![a-z0-9à-ɏ])"),
    Noun("code", "password", weak=True, before=_NETWORK, after=r"(?![a-z0-9à-ɏ])"),
    Noun("code wifi", "password", weak=True),
    Noun("codice wifi", "password", weak=True),
    Noun("clé wifi", "password", weak=True),
    Noun("parola", "password", weak=True, before=_WORD, after=r"(?![a-z0-9à-ɏ])"),
    # Made by programs.
    Noun("key", "api-key", before=_KEY_OF, after=r"(?![a-z0-9à-ɏ])"),
    Noun("apikey", "api-key"),
    Noun("accesskey", "api-key"),
    Noun("secretkey", "api-key"),
    Noun("privatekey", "api-key"),
    Noun("authkey", "api-key"),
    Noun("secret", "secret"),
    Noun("token", "token"),
    Noun("credential", "secret"),
    Noun("chiave", "api-key", before=_WORD),
    Noun("clé", "api-key", before=_WORD),
    Noun("clave", "api-key", before=_WORD),
    Noun("chave", "api-key", before=_WORD),
    Noun("schlüssel", "api-key"),
    Noun("sleutel", "api-key"),
    Noun("密钥", "api-key"),
    Noun("キー", "api-key"),
    Noun("トークン", "token"),
    Noun("токен", "token"),
    Noun("ключ", "api-key"),
    # A few digits.
    Noun("pin", "pin", before=r"(?<![a-z0-9à-ɏ])(?<!-)$", after=r"(?![a-z0-9à-ɏ]|-[^\W\d])"),
    Noun("pincode", "pin"),
    Noun("pin-code", "pin"),
    Noun("pin code", "pin"),
    Noun("code", "pin", before=_CODE_OF, after=r"(?![a-z0-9à-ɏ])"),
    Noun("code", "pin", before=_WORD, after=_CODE_FOR),
    Noun("código", "pin", before=_WORD, after=_CODE_FOR),
    Noun("codigo", "pin", before=_WORD, after=_CODE_FOR),
    Noun("codice", "pin", before=_WORD, after=_CODE_FOR),
    Noun("codice", "pin", before=_WORD, after=r" pin\b"),
    Noun("combination", "pin", before=rf"(?:{_LOCKED})[ _-]$", after=r"(?![a-z0-9à-ɏ])"),
    Noun(
        "combination", "pin", before=_WORD, after=rf" (?:of|for|to) [^\n.:?!]{{0,24}}?(?:{_LOCKED})"
    ),
    Noun("暗証番号", "pin"),
    Noun("暗证码", "pin"),
)


def _by_cue() -> dict[str, list[tuple[int, Noun]]]:
    """For each cue the nouns that contain it, longest first, and where in the noun it is."""
    out: dict[str, list[tuple[int, Noun]]] = {}
    for noun in sorted(NOUNS, key=lambda noun: -len(noun.text)):
        cue = next(cue for cue in NOUN_CUES if cue in noun.text)
        out.setdefault(cue, []).append((noun.text.index(cue), noun))
    return out


_BY_CUE = _by_cue()
_TRAIL_CHARS = 60
_HEADING_CHARS_MAX = 60


def _compiled(pattern: str) -> re.Pattern[str]:
    found = _patterns.get(pattern)
    if found is None:
        found = _patterns[pattern] = re.compile(pattern)
    return found


_patterns: dict[str, re.Pattern[str]] = {}


def find_nouns(low: str, cues: Sequence[str] = NOUN_CUES) -> Iterator[Place]:
    """Each noun in a text of small letters. Nouns may overlap, as `pin code` and `code` do."""
    for cue in cues:
        nouns = _BY_CUE.get(cue, ())
        at = low.find(cue)
        while at >= 0:
            for offset, noun in nouns:
                begin = at - offset
                if begin >= 0 and low.startswith(noun.text, begin) and _is_used(low, noun, begin):
                    yield Place(noun, begin, begin + len(noun.text))
            at = low.find(cue, at + len(cue))


def _is_used(low: str, noun: Noun, at: int) -> bool:
    """Whether what is around a noun makes it a name for a credential."""
    if noun.before and not _compiled(noun.before).search(low, max(0, at - _TRAIL_CHARS), at):
        return False
    return not noun.after or bool(_compiled(noun.after).match(low, at + len(noun.text)))


_HEADING = lazy(r"[\s\"'`*_]*(?P<phrase>[^\W\d_][^|,;\t]{1,40}?)[\s\"'`*_:]*")


def is_heading(cell: str, cues: Sequence[str]) -> str:
    """The kind of secret that a column with this heading has; '' for all others."""
    if len(cell) > _HEADING_CHARS_MAX or not any(cue in cell for cue in cues):
        return ""
    match = _HEADING.fullmatch(cell)
    if match is None:
        return ""
    phrase = match["phrase"]
    if phrase in ("pass", "pw", "pwd", "mdp"):
        return "password"
    for place in find_nouns(phrase, cues):
        if place.end == len(phrase) and not place.noun.weak:
            return place.noun.kind
    return ""
