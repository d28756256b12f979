"""Which language a question is in, its function words, and the stems of its words.

The index stems every Latin word as English, so that one analysis fits all text. A question in
another language is brought to it: its function words are left out, and words of the hub with the
same stem in that language count as the word itself. Six languages beside English.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

# Function words, folded (no accents), that are rare or mean something else in English texts. A word
# may be of several languages; what is asked for (names, nouns) must not be here.
_FUNCTION_WORDS = {
    "german": """
        der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine
        keinen ist sind war waren bin bist hat haben habe hatte hast wird werden wurde wurden
        ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihnen mein meine meinen meinem
        meiner dein deine unser unsere unseren unserem unserer sein seine seinen ihre ihren
        wer wen wem wessen was wann wo wohin woher wie warum wieso weshalb welche welcher welches
        welchen welchem wieviel wie viele
        von vom zu zum zur mit nach bei beim aus auf an am im in ins fur durch gegen ohne um uber
        unter vor hinter neben zwischen seit bis als auch noch schon nur sehr mehr man kann konnen
        muss mussen soll sollen will wollen darf durfen mag dass ob wenn weil da hier dort gibt
    """,
    "dutch": """
        de het een en of maar niet geen is zijn was waren ben bent heeft hebben heb had hadden
        wordt worden werd ik jij je hij zij ze wij we jullie mij me jou hem haar ons mijn jouw
        onze hun wie wat wanneer waar waarom hoe welke welk hoeveel
        van voor met naar bij uit op aan in tot door tegen zonder om over onder tussen sinds als
        ook nog al alleen zeer meer men kan kunnen moet moeten zal zullen wil willen mag dat dit
        die deze er daar hier
    """,
    "french": """
        le la les l un une des du de d et ou mais ne pas n est sont etait etaient suis es sommes
        etes a ont ai as avons avez avait sera etre avoir je tu il elle on nous vous ils elles
        me te se moi toi lui leur mon ma mes ton ta tes son sa ses notre nos votre vos leurs
        qui que qu quoi quand ou comment pourquoi quel quelle quels quelles combien
        a au aux dans par pour sur sous avec sans chez entre vers depuis ce cet cette ces c y en
        plus tres aussi encore deja peut doit faut fait
    """,
    "spanish": """
        el la los las un una unos unas del de y o u pero no es son era eran soy eres somos fue
        ha han he has hemos habia hay ser estar esta estan estoy yo tu el ella usted nosotros
        ellos ellas me te se nos os lo le les mi mis tu tus su sus nuestro nuestra nuestros
        nuestras quien quienes que cual cuales cuando donde como por porque cuanto cuanta cuantos
        cuantas a al en con sin para sobre entre hasta desde este esta estos estas ese esa eso
        muy mas tambien ya puede debe tiene tienen
    """,
    "italian": """
        il lo la i gli le l un uno una di del dello della dei degli delle da dal dalla e ed o ma
        non e sono era erano sei siamo siete ha hanno ho hai abbiamo avete essere avere io tu lui
        lei noi voi loro mi ti si ci vi mio mia miei mie tuo tua suo sua suoi sue nostro nostra
        nostri nostre chi che cosa quando dove come perche quale quali quanto quanta quanti quante
        a al allo alla ai agli alle in nel nella nei con su sul sulla per tra fra c
        molto piu anche gia puo deve questo questa questi queste
    """,
    "portuguese": """
        o a os as um uma uns umas do da dos das de e ou mas nao e sao era eram sou somos foi foram
        tem temos tinha ha ser estar esta estao estou eu tu ele ela nos voces voce eles elas me te
        se lhe meu minha meus minhas teu tua seu sua seus suas nosso nossa nossos nossas quem que
        qual quais quando onde como porque quanto quanta quantos quantas ao aos em no na nos nas
        com sem para por pelo pela sobre entre ate desde este esta isto esse essa isso muito mais
        tambem ja pode deve
    """,
}
LANGUAGES = tuple(_FUNCTION_WORDS)
# Words that English questions are full of: they speak for no other language.
_ENGLISH = frozenset(
    """
    the a an i me my we our you he she it its they is are was were do does did have has had be
    in on at of to for from with by and or not no who what when where why how which that this as
    so if will can would could should there about us use die war des am man mag bin hat also
    come sin son sur es par per pour te tu van over been his her
    """.split()  # noqa: SIM905
)
_LEAST = 2


@cache
def function_words(language: str) -> frozenset[str]:
    return frozenset(_FUNCTION_WORDS[language].split())


def language_of(words: Sequence[str]) -> str:
    """The language of a question by its function words; empty for English, and in doubt."""
    said = set(words)
    english = len(said & _ENGLISH_ONLY)
    counts = [(len(said & function_words(name)), name) for name in LANGUAGES]
    best, language = max(counts)
    # Portuguese and Spanish, German and Dutch share words: what only one has decides a tie.
    tied = [name for count, name in counts if count == best]
    if len(tied) > 1:
        language = max(tied, key=lambda name: len(said & _own_words(name)))
    telling = len(said & function_words(language) - _ENGLISH)
    enough = best >= _LEAST or (said & _own_words(language) and len(words) >= _LEAST)
    return language if enough and telling and best > english else ""


_ENGLISH_ONLY = frozenset(
    """
    the my we our you she it its they is are were does did have has be of to for from with by
    and not who what when where why how which that this if will can would could should there
    about
    """.split()  # noqa: SIM905
)


@cache
def _own_words(language: str) -> frozenset[str]:
    others = (function_words(name) for name in LANGUAGES if name != language)
    return function_words(language).difference(*others)


class _Stemmers(dict[str, Any]):
    def __missing__(self, language: str) -> Any:
        import Stemmer  # here, because most questions need none

        self[language] = stemmer = Stemmer.Stemmer(language, 0)
        return stemmer


_STEMMERS = _Stemmers()


def stem(word: str, language: str) -> str:
    """The stem of a folded word in one of the LANGUAGES."""
    found: str = _STEMMERS[language].stemWord(word)
    return found
