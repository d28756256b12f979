"""The words for credentials in a dozen languages, where they are in a text, and how values are
written in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.text.patterns import lazy
from holdfast.text.secrets.rules import NOUN_CUES

# Kind, start, end.
Span = tuple[str, int, int]

QUOTES = dict(zip("\"'`“”„‘«「『", "\"'`””“’»」』", strict=True))
# Not part of a value at whose end they are.
TRAILING = ".,;:)*]}…?_"
PIN = lazy(r"[#*]?\d{4,10}[#*]?(?![A-Za-z0-9_-]|\.\d)|\d{1,2}(?:-\d{1,2}){2,4}(?![A-Za-z0-9_-])")


def either(words: Mapping[str, str]) -> str:
    """The words of all languages as alternatives of a pattern."""
    return "|".join(piece for text in words.values() for piece in text.split())


def spaced(words: Mapping[str, str]) -> str:
    """The same, where `_` is a space within a phrase."""
    return either(words).replace("_", "[ ]")


# Begins a description between the noun and the verb: 'for the printer', 'du serveur'.
DESCRIBES = {
    "en": "for of to on at from in into with that which we you i he she they still now here again",
    "de": "für fuer zum zur von vom am im unter bei der des",
    "fr": "du de des d pour au sur",
    "it": "del della dello dell dei per di",
    "es": "el la en los las",
    "pt": "para do da dos das no na",
    "nl": "van voor het op",
    "sv": "till för av på",
    "pl": "od z",
    "ru": "от для на к у в",
}
# The verb between a noun and its value. In English a single word may be a value.
IS_ENGLISH = (
    "is was are were (?:has|have|had)_been will_be would_be should_be can_be may_be might_be"
    " (?:turned_out|turns_out|happens|used|ought|has|supposed|going)_to_be"
    " becomes became remains stays equals reads means"
)
IS = {
    "de": "ist war lautet lautete heißt heisst wird bleibt wäre",
    "fr": "est était sera reste devient serait",
    "it": "è e['’] era sarà resta diventa",
    "es": "es fue será sigue queda",
    "pt": "é foi são fica será continua",
    "nl": "wordt blijft luidt was",
    "sv": "är blir var",
    "da": "er",
    "pl": "to jest brzmi",
    "ru": "это теперь",
}
# Written without spaces around them.
IS_CJK = "就?是|就?为|為|は|が|는|은|「"
# Between a verb of change and the new value: 'changed the password to …'.
INTO_ENGLISH = "to into"
INTO = {
    "en": "as",
    "de": "auf in zu",
    "fr": "en à pour par",
    "it": "a con",
    "es": "por",
    "pt": "para",
    "nl": "naar",
    "sv": "till",
    "pl": "na",
    "ru": "на",
}
INTO_CJK = "(?:已经?|被)?(?:改为|改成了?|改為|设为|设成|设置为|換成|换成了?|更新为)|を"
CHANGE = {
    "en": "chang (?<![a-z])(?:re)?set\\b setting updat switch rotat modif made replac",
    "de": "änder gesetzt setz umgestellt gewechselt",
    "fr": "mis_à mis_le remplac défini modifi",
    "it": "cambi impost aggiorn",
    "es": "cambi actualic puse",
    "pt": "troqu troc mud[aáeo] alter atualiz",
    "nl": "verander gewijzigd aangepast ingesteld gezet",
    "sv": "ändra bytt bytte",
    "pl": "zmieni ustawi",
    "ru": "поменя смени измени",
    "cjk": "改 设 換 换 変 設定 更新 바꿨 변경",
}
# A verb of change behind the value: 'das Passwort auf … geändert'.
CHANGED_BEHIND = {
    "de": "geändert gesetzt umgestellt gewechselt",
    "nl": "veranderd gewijzigd gezet aangepast ingesteld",
}
CHANGED_BEHIND_CJK = "(?:に|へ)[ \\t]?(?:変|設定|し|更新)|(?:로|으로)[ \\t]?(?:바꿨|변경)"
# May be between the verb and the value.
ALREADY = {
    "en": "now still just simply currently probably actually also always again really apparently"
    " the_following as_follows going_to_be been made (?:re)?set_to"
    " (?:chang|updat|switch|rotat|modifi)ed_to",
    "de": "jetzt nun noch immer einfach wieder folgendes",
    "fr": "maintenant toujours simplement encore désormais",
    "it": "ora adesso sempre ancora semplicemente",
    "es": "ahora siempre todavía simplemente",
    "pt": "agora ainda sempre",
    "nl": "nu nog gewoon",
    "sv": "nu fortfarande",
    "pl": "teraz",
    "ru": "теперь сейчас",
}
# What begins a request for a credential.
ASKS = {
    "en": "what which tell give send share enter type provide paste can could would will need"
    " i_need i['’]ll_need we_need do_you_(?:have|know|remember) remind say the your my wi-?fi"
    " password passphrase pin api new let_me_have",
    "de": "was wie welche nenn gib sag kannst könntest brauche ich_brauche bitte",
    "fr": "quel donne dis peux pouvez c['’]est_quoi il_me_faut j['’]ai_besoin envoie",
    "it": "qual dimmi puoi dammi mi_serve potresti",
    "es": "cu[aá]l dime puedes me_das necesito envíame",
    "pt": "qual diga pode me_diga preciso",
    "nl": "wat welk geef kun kan ik_heb",
    "sv": "vad ge",
    "pl": "jakie podaj",
    "ru": "какой скажи дай",
}
# What makes it another question: where it is, how long it should be, whether it was changed.
ASKS_ELSE = {
    "en": "what(?:['’]s|_is|_are|_does)_an? where how why when who whether should shall"
    " does reset changed? store rotate",
    "de": "wo warum hast haben soll",
    "fr": "où comment pourquoi as-tu combien gestionnaire",
    "it": "dove come perché hai",
    "es": "dónde cómo por_qué has",
    "pt": "onde porque",
    "nl": "waar hoe waarom heb_je",
    "ru": "где",
}
# What may follow the noun in a request.
ASKED_BEHIND = {
    "en": "for of to on at so again please then now here there did do you that which is was"
    " you['’]re i we what and",
    "de": "für vom von zum zur bitte lautet und",
    "fr": "de du pour et",
    "it": "del della di",
    "pt": "do da para",
    "nl": "van voor",
    "ru": "от",
}
# What an answer may begin with.
LEAD_IN = {
    "en": "sure ok okay yes yep yeah of_course certainly here_you_go here_it_is here hm+ well"
    " oh right fine",
    "de": "ja klar gerne",
    "fr": "oui bien_sûr voilà",
    "it": "sì certo ecco",
    "es": "sí claro",
    "pt": "sim",
    "ru": "да",
    "zh": "好的 好",
    "ja": "はい",
}
ANSWER_IS = {
    "en": "it['’]?s it_is that['’]?s that_is i_chose i_use use try it_should_be i_think_it['’]?s",
    "de": "es_ist das_ist es_lautet",
    "fr": "c['’]est",
    "it": "è",
    "es": "es",
    "pt": "é",
    "nl": "het_is",
    "ru": "это",
    "zh": "是 我的是",
}


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
    """A noun at a place of a text."""

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
    r"|porte|alarme|coffre|immeuble|porta|allarme|cassaforte|cancello|portão|cofre|deur|kluis"
)
_CODE_OF = (
    rf"(?:\b(?:{_LOCKED}|access|pin|unlock|security)|tür|haus|alarm|tresor|zugangs|sperr)[ _-]?$"
)
_CODE_FOR = (
    rf"[ _-](?:for|of|to|de|del|du|da|do|della|dell|van|vom|der)\b[^\n.:?!]{{0,24}}?\b(?:{_LOCKED})"
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
