"""Recognises requests to remember something, in nine languages: 'Remember that …', 'Merk dir, dass
…', 'Souviens-toi que …', '记住…', '…を覚えておいて'. What is asked for is kept as it was said.
"""

from __future__ import annotations

from holdfast.text.patterns import lazy

# After the request comes what to remember: behind 'that' in the language, a colon or a comma.
_REQUESTS: dict[str, str] = {
    "en": (
        r"(?:(?:can|could|would|will) you +)?(?:please +|pls +)?(?:also +)?(?:note that|take note"
        r" that|for the record *[,:])"
    ),
    "de": (
        r"(?:bitte +)?(?:merke? +(?:dir|euch)|merken +sie +sich|denke? +(?:bitte +)?daran"
        r"|vergiss +(?:bitte +)?nicht|behalte? +(?:bitte +)?im +(?:kopf|hinterkopf|auge)"
        r"|notiere?(?: +dir)?|halte? +fest|erinnere? +dich +daran|zur +erinnerung"
        r"|für +die +zukunft|schreibe? +dir +auf)(?: +bitte)?"
        # Behind 'dass' the verb comes last: without it, the rest is no sentence.
        r"(?: *[,:]? *(?=dass )| *[:,] *)"
    ),
    "fr": (
        r"(?:s'il te plaît,? +|merci de +)?(?:souviens[- ]toi|souvenez[- ]vous|rappelle[- ]toi"
        r"|rappelez[- ]vous|n'oublie(?:z)? +pas|retiens(?: +bien)?(?: +(?:ceci|ça))?|retenez"
        r"|note(?:z)?(?: +(?:bien|ça|ceci))?"
        r"|garde(?:z)? +(?:en +tête|à +l'esprit)|mémorise(?:z)?|pour +(?:la +suite|info|mémoire))"
        r" *(?:qu(?:e +|['’])|: *|, *)"
    ),
    "es": (
        r"(?:por +favor,? +)?(?:recuerd[ae]|acuérdate|acuerdate|no +(?:te +)?olvides|no +olvide"
        r"|ten(?:ga)? +(?:en +cuenta|presente)|(?:apunta|anota|memoriza)(?: +(?:esto|que))?"
        r"|toma +nota|para +el +futuro|que +no +se +te +olvide)"
        r" *(?:(?:de +)?que +|: *|, *)"
    ),
    "it": (
        r"(?:per +favore,? +)?(?:ricorda(?:ti)?|ricordi|non +(?:dimenticare|scordare|ti +scordare)"
        r"|tieni +(?:presente|a +mente|conto)|(?:annota|segna(?:ti)?|memorizza)(?: +questo)?"
        r"|prendi +nota|per +il +futuro)"
        r" *(?:che +|: *|, *)"
    ),
    "pt": (
        r"(?:por +favor,? +)?(?:lembr[ae](?:-te|-se)?|não +(?:te +|se +)?esque[çc]as?"
        r"|ten(?:ha|s|m)? +em +(?:mente|conta)|(?:anot[ae]|guard[ae]|memoriz[ae])(?: +(?:aí|isso"
        r"|isto))?|tom[ae] +nota|para +o +futuro)"
        r" *(?:(?:de +)?que +|: *|, *)"
    ),
    "nl": (
        r"(?:alsjeblieft,? +)?(?:onthoud|vergeet +niet|denk +eraan|h(?:ou|oud) +(?:er +)?(?:in"
        r" +gedachten|rekening +mee)|let +op|(?:noteer|onthou|schrijf +op)(?: +(?:dit|even))?"
        r"|voor +de +toekomst)(?: +alsjeblieft)?"
        r" *(?:,? *dat +|[:,] *)"
    ),
    "zh": (r"[请請]?你?(?:一定)?要?(?:[记記]住|[记記]下[来來]?|[别別]忘了|不要忘[记記])[，,：: ]*"),
    "ja": (
        r"(?:覚えておいて|覚えといて|忘れないで|メモして|記憶して)(?:おいて)?(?:ください|下さい"
        r"|くださいね|ね)?"
        r"[。、，,：:！! ]+"
    ),
}
_BEFORE = tuple(lazy(pattern) for pattern in _REQUESTS.values())
# In Japanese the request may come last.
_BEHIND = lazy(
    r"(?P<what>.{2,200}?)(?:だ|です)?(?:という(?:こと|の))?(?:と|を|は)"
    r"(?:覚えておいて|覚えといて|忘れないで|記憶して|メモして)(?:おいて)?(?:ください|下さい"
    r"|くださいね|ね)?[。！!]*$"
)
# 'Remember that time …' and 'remember when' are no requests.
_NO_REQUEST = lazy(r"[^?？]*[?？]\s*$")
_WORDS = lazy(r"\w")
# What is to be remembered has at least so many letters.
_LETTERS_MIN = 4


def requested(folded: str) -> tuple[int, int] | None:
    """Where what is to be remembered begins and ends in a sentence; None where nothing is asked."""
    if _NO_REQUEST.match(folded):
        return None
    for pattern in _BEFORE:
        found = pattern.match(folded)
        if found is not None and len(_WORDS.findall(folded[found.end() :])) >= _LETTERS_MIN:
            return found.end(), len(folded)
    behind = _BEHIND.match(folded)
    return None if behind is None else behind.span("what")
