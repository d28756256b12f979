"""Which rules are worth trying on a text, by the cues that are in it."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.text.secrets.program_formats import COMMANDS, Rule
from holdfast.text.secrets.rules import RULES


def _by_cue(rules: Iterable[Rule]) -> list[tuple[str, list[Rule]]]:
    out: dict[str, list[Rule]] = {}
    for rule in rules:
        for cue in rule.cues:
            out.setdefault(cue, []).append(rule)
    return list(out.items())


COMMANDS_BY_CUE = _by_cue(COMMANDS)
SPACED_BY_CUE = _by_cue(rule for rule in RULES if rule.spaced and rule not in COMMANDS)
TOKENS_BY_CUE = _by_cue(rule for rule in RULES if not rule.spaced)
ORDER = {rule: place for place, rule in enumerate(RULES)}
# Each noun of nouns.py contains one of these; that module is only loaded where one is found.
NOUN_CUES = (
    *(
        "pass",
        "psswd",
        "psw",
        "masterauth",
        "pswd",
        "pw",
        "key",
        "secret",
        "token",
        "credential",
        "kennwort",
    ),
    *("contrase", "wachtwoord", "senha", "hasło", "haslo", "lösenord", "adgangskode", "salasana"),
    *(
        "парол",
        "密码",
        "密碼",
        "口令",
        "パス",
        "비밀번호",
        "암호",
        "mdp",
        "psk",
        "clave",
        "schlüssel",
    ),
    *("parola", "chiave", "clé", "chave", "sleutel", "密钥", "キー", "トークン", "токен", "ключ"),
    *("pin", "code", "códi", "codi", "combination", "暗証", "暗证"),
)
