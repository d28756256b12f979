"""The small words of sentences that give or ask for a credential, by language.

Each entry is a piece of a regular expression; the words of one purpose are tried together, as a
text does not say which language it is in. The nouns themselves are in nouns.py.
"""

from __future__ import annotations

from collections.abc import Mapping


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
# May stand between the verb and the value.
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
