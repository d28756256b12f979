"""Words that say nothing about a subject: greetings, thanks, offers to help, catching up. The title
of a conversation is not made of them."""

from __future__ import annotations

import re

# Single words, in the languages that people greet in; small words of such sentences too.
SMALL_TALK = frozenset(
    """
    hi hello hey hiya yo sup howdy greetings morning good evening afternoon day night
    welcome back there again all everyone folks team hope well how how's are is it it's
    going doing been you you're your u i i'm i'd me my we this that's what what's whats up
    new today now here anyone thanks thank thx ty cheers ok okay k yes yeah yep no nope nah
    sure fine great cool nice lol ha haha hm hmm um uh oh ah alright right gladly lovely
    glad happy meet to see for and so but not much can could may might would do does did
    should help helping assist assistance support need needed have has got a an some one the
    of course any anything something else thing question questions quick quickly please just
    ask with about like wrong funny go ahead test testing ping pong claude chatgpt gemini
    gpt assistant bot max long time chat talk talked talking spoke speak ages while few days
    week weeks since last minute wanted let know fill tell told news believe guess check out
    crazy things stuff lots happened miss missed catching catch wow woah yay omg hear heard
    sorry sounds sound too also more most very really am was were be he she they them his
    her our us in on at by from as or if then than when there's don't didn't can't won't
    haven't wasn't it'll i've i'll we've you've they're he's she's had get getting went come
    came think thought feel feeling amazing awesome excited such lot way love loved want
    make made take took still into over after before because who why where hallo guten tag
    morgen abend moin servus danke bitte wie geht's geht es ihnen dir kann ich helfen
    grüezi bonjour bonsoir salut merci comment puis je vous aider ça va hola buenas buenos
    días tardes noches qué tal gracias cómo estás está puedo ayudarte ayudarle en ciao
    buongiorno buonasera salve grazie posso aiutarti aiutarla stai olá oi bom dia boa tarde
    noite obrigado obrigada tudo bem como ajudar hej hei hejsan tack hoi goedemorgen dank
    привет здравствуйте добрый день спасибо как дела чем могу помочь cześć dzień dobry
    dziękuję merhaba selam nasıl yardımcı olabilirim teşekkürler 你好 您好 谢谢 早上好 嗨
    有什么可以帮您 有什么可以帮你 こんにちは おはよう ありがとう 안녕하세요 안녕
    مرحبا السلام عليكم नमस्ते
    """.split()  # noqa: SIM905
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
# A greeting and whoever it is meant for, before what is said: 'Hi Max, …', 'actually yes, …'.
ADDRESS = re.compile(
    r"(?i)\A(?:(?:hi|hello|hey|good (?:morning|evening|afternoon)|hallo|bonjour|hola|ciao)"
    r"(?: [^\W\d_]+){0,2}|ok(?:ay)?|actually|yes|so|well|thanks)(?: (?:yes|ok|so|well|good))?"
    r"[,!.:–—-]+ +"
)
# 'Hi Tom!', 'My name is Priya.', 'This is Kim from support.'
NAMES_SOMEBODY = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|evening|afternoon)|hallo|bonjour|hola|ciao)"
    r"(?: [^\W\d_]+){0,2}"
    r"|(?:my name is|my name's|i am|i'm|this is|mein name ist|ich bin|je m'appelle|me llamo"
    r"|mi chiamo) [^\W\d_]+(?: from [^\W\d_]+)?)[\s,.!:)]*"
)


def telling_words(sentence: str) -> set[str]:
    """The words of a sentence but those of small talk; none where it only names somebody, or says
    in brackets that there is a picture."""
    folded = sentence.casefold().replace("’", "'")
    if folded.startswith("[") or NAMES_SOMEBODY.fullmatch(folded):
        return set()
    return {word for word in _WORD.findall(folded) if word not in SMALL_TALK}
