"""The shapes of secrets (`rules.txt`), and which of them are worth trying on a text.

A text that holds no cue of a rule costs a few substring searches and nothing more. Patterns are
compiled when a cue was seen, since compiling all of them would cost a start more than everything
else. Secrets that a name gives away (`password = …`) are in named.py; whether a match is a made-up
example, checks.py decides.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.tables import read_table

# The shortest token with a shape of its own: an access key of AWS.
TOKEN_CHARS_MIN = 20
# What a question asks for is in its last sentence, which is not longer.
QUESTION_CHARS_MAX = 400


class Rule(NamedTuple):
    """A row of `rules.txt`, which says what the cells mean."""

    kind: str
    check: str
    how: str
    example: str
    cues: tuple[str, ...]
    pattern: str

    @property
    def is_token(self) -> bool:
        """Whether it matches only within a word of TOKEN_CHARS_MIN characters, as its cues do."""
        return self.how == "word"

    @property
    def is_in_line(self) -> bool:
        """Whether it matches only within a line that holds a cue."""
        return self.how == "line"

    @property
    def is_command(self) -> bool:
        return self.how == "command"

    @property
    def is_at_cue(self) -> bool:
        """Whether it is only tried where a cue begins."""
        return self.how in ("at_cue", "command")


def _rules() -> Iterable[Rule]:
    for kind, check, how, example, cues, pattern in read_table("secrets/rules.txt"):
        yield Rule(
            kind,
            "" if check == "-" else check,
            how,
            "" if example == "-" else example,
            tuple(cues.replace("\\n", "\n").split(";")),
            pattern,
        )


RULES = tuple(_rules())


def _rules_by_cue(rules: Iterable[Rule]) -> list[tuple[str, list[Rule]]]:
    out: dict[str, list[Rule]] = {}
    for rule in rules:
        for cue in rule.cues:
            out.setdefault(cue, []).append(rule)
    return list(out.items())


COMMANDS_BY_CUE = _rules_by_cue(rule for rule in RULES if rule.is_command)
SPACED_BY_CUE = _rules_by_cue(rule for rule in RULES if not (rule.is_token or rule.is_command))
TOKENS_BY_CUE = _rules_by_cue(rule for rule in RULES if rule.is_token)
ORDER = {rule: place for place, rule in enumerate(RULES)}
# Each noun of nouns.py contains one of these; that module is only loaded where one is found.
NOUN_CUES = tuple(
    """
    pass psswd psw masterauth pswd pw key secret token credential kennwort contrase wachtwoord
    senha hasło haslo lösenord adgangskode salasana парол 密码 密碼 口令 パス 비밀번호 암호 mdp psk
    clave schlüssel parola chiave clé chave sleutel 密钥 キー トークン токен ключ pin code códi codi
    combination 暗証 暗证
    """.split()  # noqa: SIM905 - a list of fifty quoted words is harder to read
)
