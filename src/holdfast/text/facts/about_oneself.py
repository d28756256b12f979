"""Finds what people say about themselves in eight languages beside English: name, home, work,
allergies and diet, family, likes, languages, and what they want done always or never.

A sentence is kept in the person's own words; the row that matches (`about_oneself_rows`) says what
it is about. A question, a supposition or a sentence that points to another one is not kept.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from holdfast.text.facts.about_oneself_rows import ROWS, Row, Slot

# A longer sentence says more than who somebody is.
_CHARS_MAX = 200
_WORDS_MAX = 24
# The rule of capture, and the category, of each slot.
RULE_OF: dict[Slot, tuple[str, str]] = {
    "name": ("name", "fact"),
    "home": ("lives", "fact"),
    "moved": ("moved", "fact"),
    "work": ("work", "fact"),
    "allergy": ("allergy", "fact"),
    "diet": ("trait", "fact"),
    "family": ("kin-is", "person"),
    "like": ("likes", "preference"),
    "language": ("languages", "fact"),
    "order": ("standing-order", "preference"),
    "decision": ("decision", "decision"),
}
_OPENING = re.compile(
    r"(?:(?:hallo|hi|hey|hello|also|übrigens|ja|nein|okay|ok|guten (?:tag|morgen)|salut|bonjour"
    r"|au fait|oui|non|hola|por cierto|buenas|sí|ciao|buongiorno|comunque|oi|olá|aliás|sim|não|hoi"
    r"|trouwens|nee|et|und|y|e|en|你好|您好|大家好|对了|顺便说一下|こんにちは|はじめまして|ちなみに"
    r"|実は)[,!.、，。！:：]+ *)+"
)
# A supposition, a question, or a wish.
_NO_STATEMENT = re.compile(
    r"[?？]|[吗嗎呢か][。.!！]?$"
    r"|\b(?:würde|würden|wäre|hätte|könnte|wenn|falls|angenommen|ojalá|se eu"
    r"|morasse|abitassi|vivessi|als ik|zou|stel dat|magari)\b|(?:^|, )s[ei] |如果|要是|假如"
    r"|もし|たら|なら"
)
# Words by which a statement holds only for now.
_PASSING = re.compile(
    r"\b(?:heute|gerade eben|aujourd'hui|ce soir|hoy|esta noche|oggi|stasera|hoje|hoje à noite"
    r"|vandaag|vanavond|bis (?:freitag|montag|morgen))\b|今天|今晚|今日"
)
# An order that holds only this time, or points to something at hand.
_THIS_TIME = re.compile(
    r"\b(?:diesmal|noch nicht|jetzt noch|zuerst|erst mal|dies\w* (?:zeile|datei|funktion|mal)"
    r"|cette fois"
    r"|pas encore|d'abord|ce (?:fichier|test)|cette (?:ligne|fonction)|esta vez|todavía no|primero"
    r"|est[ea] (?:archivo|línea|función)|questa volta|non ancora|per ora|quest[ao] (?:file|riga"
    r"|funzione)|desta vez|ainda não|por enquanto|est[ea] (?:arquivo|ficheiro|linha|função)"
    r"|deze keer"
    r"|nog niet|voorlopig|dit bestand|deze (?:regel|functie))\b|这次|這次|暂时|先不|今回|まだ"
    r"|とりあえず"
)
# A time that depends on when it was said.
_MEASURED_FROM_NOW = re.compile(
    r"\b(?:seit (?!\d{4})|vor (?:kurzem|einem|zwei|drei|\d)|letzte[nsmr]? |gerade|jetzt|bald"
    r"|depuis (?!\d{4})|il y a|récemment|viens de \w+[er]r?\b|dernier|dernière|actuellement"
    r"|maintenant"
    r"|desde hace|hace (?:poco|un|dos|tres|\d)|pasad[oa]|recién|acabo de|ahora|actualmente"
    r"|da (?:poco|un|due|tre|\d)|fa\b|scors[oa]|appena|adesso|attualmente"
    r"|há (?:pouco|um|dois|três|\d)|passad[oa]|recentemente|acabei de|agora|atualmente"
    r"|vorige?|afgelopen|geleden|sinds (?!\d{4})|onlangs|nu\b|tegenwoordig"
    r"|jahre alt|ans\b|años|anni\b|anos\b|jaar\b)"
    r"|去年|今年|上个月|上個月|上周|刚|剛|最近|现在|現在|目前|昨天|已经|先月|先週|昨年|今は"
    r"|現在|今年"
    r"|岁|歲|歳"
)


class Statement(NamedTuple):
    """What a sentence says: the slot, where it begins and ends, and the value where it has one.
    `relative`: it depends on when it was said."""

    slot: Slot
    start: int
    end: int
    value: str
    relative: bool


def stated(folded: str, words: str) -> Statement | None:
    """What somebody says about themselves in a sentence; None where no row matches."""
    opening = _OPENING.match(folded)
    start = opening.end() if opening else 0
    rows = _compiled(_first(folded, start))
    if not rows or len(folded) > _CHARS_MAX or folded.count(" ") >= _WORDS_MAX:
        return None
    end = len(folded)
    if folded.rstrip().endswith(("?", "？")):
        # 'I live in Vienna, what can I do there?'
        end = max(folded.find(mark, start) for mark in (", ", "，", "、", "; "))
    said = folded[start:end].rstrip(" .!。！,，、…")
    if not said or _NO_STATEMENT.search(said) or "\x00" in said:
        return None
    for row, pattern in rows:
        if row.slot == "order" and _THIS_TIME.search(said):
            continue
        match = pattern.match(said)
        if match is None or not _has_capital(row, match, words[start:]):
            continue
        if row.slot != "order" and _PASSING.search(said):
            return None
        group = _value_group(match)
        value = words[start + match.start(group) : start + match.end(group)] if group else ""
        # A move is news for a while, so its date is kept.
        relative = row.slot == "moved" or (
            row.slot != "order" and _MEASURED_FROM_NOW.search(said) is not None
        )
        return Statement(row.slot, start, start + len(said), value.strip(" .!。！"), relative)
    return None


def _value_group(match: re.Match[str]) -> str:
    return next((name for name, found in match.groupdict().items() if found), "")


def _has_capital(row: Row, match: re.Match[str], words: str) -> bool:
    group = _value_group(match)
    if not row.capital or not group:
        return not row.capital
    value = words[match.start(group) : match.end(group)].lstrip()
    if row.capital == "first":
        return value[:1].isupper() or value[:2].isupper()
    return any(word[:1].isupper() for word in re.split(r"[\s'’-]+", value))


# By the first word of a sentence, which rows can match: most sentences are English and need none.
_FIRST = {
    "de": "nimm nehmt hör hört bei im füg lösche pushe änder ändere ich mein meine man bitte"
    " nenn nennt wir beruflich hauptberuflich seit derzeit aktuell "
    "momentan zurzeit jetzt inzwischen mittlerweile ab von künftig in immer nie niemals antworte "
    "schreib schreibe sprich nutz nutze verwende benutz benutze gib mach mache erklär erkläre "
    "formatier formatiere nenne duze sieze lass füge zeig zeige frag frage halt halte sag stell "
    "stelle rede setz setze",
    "fr": "on dans sur chez arrête arrêtez arrêtes prends prenez n'mets n'ajoutes je j'habite"
    " j'ai j'adore j'aime mon ma appelle appelle-moi appelles-moi "
    "appellez-moi nous "
    "s'il merci ne n'utilise n'utilisez n'écris n'ajoute n'ajoutez n'emploie n'explique réponds "
    "répondez écris écrivez utilise utilisez parle parlez donne donnez fais faites mets "
    "mettez ajoute "
    "ajoutez emploie tutoie tutoie-moi vouvoie explique commente désormais dorénavant à "
    "réponds-moi",
    "es": "mis hemos he decidimos deja mejor me mi yo vivo resido soy trabajo tengo tenemos"
    " estoy ahora actualmente ya no odio "
    "prefiero "
    "hablo acabo nos llámame por siempre nunca jamás a de en responde respóndeme respondas "
    "contesta "
    "contéstame escribe escríbeme usa utiliza habla háblame dame haz pon explica explícame añade "
    "agrega tutéame",
    "it": "smetti smettila in mi mio mia io il la abito vivo risiedo sono vengo lavoro faccio ho"
    " abbiamo ci ora "
    "adesso "
    "attualmente non adoro amo odio preferisco parlo chiamami per sempre mai d'ora da in rispondi "
    "rispondimi scrivi scrivimi usa parla parlami dammi dai fai metti spiega spiegami aggiungi "
    "utilizza",
    "pt": "decidimos decidi optámos optamos escolhemos pare para neste eu me meu minha o a"
    " chamo-me moro vivo resido sou trabalho tenho temos agora atualmente "
    "mudei mudei-me acabei nos mudámo-nos não adoro amo odeio prefiro gosto falo chama-me por "
    "sempre "
    "nunca jamais daqui de no responda responde responde-me escreva escreve use usa utilize "
    "utiliza "
    "fale fala dê dá faça faz explique explica coloque coloca adicione adiciona trate trata chame "
    "chama",
    "nl": "stop hou push verwijder ik mijn noem je we sinds nu tegenwoordig momenteel inmiddels"
    " alsjeblieft voortaan "
    "vanaf in "
    "altijd nooit antwoord schrijf gebruik spreek geef doe leg zet voeg maak praat tutoyeer toon",
}


@cache
def _languages_of() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for language, words in _FIRST.items():
        for word in words.split():
            found.setdefault(word, set()).add(language)
    return {word: frozenset(languages) for word, languages in found.items()}


_CJK = re.compile(r"[぀-ヿ㐀-鿿]")
_KANA = re.compile(r"[぀-ヿ]")


def _first(folded: str, start: int) -> frozenset[str]:
    """The languages that a sentence may be in."""
    said = folded[start:]
    if _CJK.search(said):
        return frozenset({"ja"} if _KANA.search(said) else {"zh"})
    word = said.split(" ", 1)[0].rstrip(",.!:")
    return _languages_of().get(word, frozenset())


@cache
def _compiled(languages: frozenset[str]) -> tuple[tuple[Row, re.Pattern[str]], ...]:
    """Compiled when a language is first met."""
    return tuple((row, re.compile(row.pattern)) for row in ROWS if row.language in languages)
