"""How people say who they are in eight languages beside English: one row for each way of saying it,
with an example, which is its test.

A pattern is matched at the beginning of a sentence in lower case, after greetings. The group
`value` is what fills the slot (a place, a name) and begins with a capital letter, or holds one,
where its row says so.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Slot: TypeAlias = Literal[
    "name",
    "home",
    "moved",
    "work",
    "allergy",
    "diet",
    "family",
    "like",
    "language",
    "order",
    "decision",
]
# What the value of a row has to look like: any text, a word that begins with a capital letter at
# its very beginning, or such a word anywhere.
Capital: TypeAlias = Literal["", "first", "any"]


class Row(NamedTuple):
    """A way of saying something about oneself."""

    language: str
    slot: Slot
    pattern: str
    example: str
    capital: Capital = ""


_DE_KIN = (
    r"(?:frau|mann|ehefrau|ehemann|partner(?:in)?|freund(?:in)?|tochter|sohn|mutter|vater|mama|papa"
    r"|schwester|bruder|oma|opa|großmutter|großvater|hund|katze|kater|baby|kind|verlobte[r]?)"
)
_DE_TRADE = (
    r"[^\W\d_]{2,}(?:er|erin|or|orin|ist|istin|eur|eurin|ent|entin|ant|antin|loge|login|arzt|ärztin"
    r"|wirt|wirtin|mann|frau|schwester|anwalt|anwältin|architekt(?:in)?|koch|köchin|schüler(?:in)?"
    r"|rentner(?:in)?|hebamme|chirurg(?:in)?|pilot(?:in)?)"
)
_DE_VERB = (
    r"(?:antworte|schreibe?|sprich|nutze?|verwende|benutze?|gib|mache?|erkläre?|formatiere?|nenne?"
    r"|duze|sieze|lass|füge|zeige?|frage?|halte?|sag|stelle?|rede|setze?)"
)
_DE_ALWAYS = (
    r"(?:immer|niemals|nie|stets|grundsätzlich|ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig"
    r"|in zukunft)"
)

_FR_KIN = (
    r"(?:femme|mari|conjointe?|compagne|compagnon|copine|copain|fille|fils|mère|père|maman|papa"
    r"|sœur|soeur|frère|grand-mère|grand-père|chien(?:ne)?|chat(?:te)?|bébé|fiancée?)"
)
_FR_TRADE = (
    r"(?:professe|prof\b|enseign|institut|infirmi|médecin|avocat|ingénieu|développeu|étudiant"
    r"|lycéen|architect|comptabl|journalist|graphist|cuisini|photograph|pharmacien|dentist"
    r"|vétérinair|psycholog|chauffeu|agricult|électricien|plombi|menuisi|artist|musicien"
    r"|écrivain|traduct|chercheu|retraité|consultant|entrepreneu|designe|secrétair|vendeu|serveu"
    r"|coiffeu|polici|pompi|pilot|freelance|chef de projet|sage-femme|kiné)\w*"
)
_FR_VERB = (
    r"(?:réponds|répondez|écris|écrivez|utilisez?|parlez?|donnez?|fais|faites|mets|mettez|ajoutez?"
    r"|emploie|tutoie|vouvoie|explique[zs]?|commente[zs]?|appelle)"
)
_FR_ALWAYS = (
    r"(?:toujours|jamais|systématiquement|désormais|dorénavant|à l'avenir|à partir de maintenant)"
)

_ES_KIN = (
    r"(?:mujer|esposa|esposo|marido|novia|novio|pareja|hija|hijo|madre|padre|mamá|papá|hermana"
    r"|hermano|abuela|abuelo|perra|perro|gata|gato|bebé|prometid[oa])"
)
_ES_TRADE = (
    r"(?:profesor|maestr[oa]|docente|enfermer|médic|doctora?\b|abogad|ingenier|desarrollador"
    r"|programador|estudiante|arquitect|contador|contable|periodista|diseñador|cociner|fotógraf"
    r"|farmacéutic|dentista|veterinari|psicólog|conductor|agricultor|electricista|fontaner|artista"
    r"|músic|escritor|traductor|investigador|jubilad|consultor|empresari|camarer|policía|bomber"
    r"|pilot|autónom|peluquer)\w*"
)
_ES_VERB = (
    r"(?:respond[ea]s?(?:me)?|respóndeme|contest[ea]s?|contéstame|escrib[ea]s?|escríbeme|us[ae]s?"
    r"|utilic?[ae]s?|utilices|habl[ae]s?|háblame|dame|des|haz|hagas|pon|pongas|expli(?:ca|que)s?"
    r"|explícame|añad[ae]s?|agregu?[ae]s?|llámame|tut[eé][ae]me)"
)
_ES_ALWAYS = r"(?:siempre|nunca|jamás|a partir de ahora|de ahora en adelante|en adelante)"

_IT_KIN = (
    r"(?:moglie|marito|compagn[oa]|fidanzat[oa]|ragazz[oa]|figli[oa]|madre|padre|mamma|papà"
    r"|sorella|fratello|nonn[oa]|cane|gatt[oa]|bimb[oa])"
)
_IT_TRADE = (
    r"(?:insegnant|professor|maestr[oa]|infermier|medic|dottor|avvocat|ingegner|sviluppat"
    r"|programmat|student|architett|contabil|commercialist|giornalist|designer|grafic|cuoc"
    r"|fotograf|farmacist|dentist|veterinari|psicolog|autist|contadin|agricolt|elettricist|idraulic"
    r"|artist|musicist|scritt|tradutt|ricercat|pensionat|consulent|imprendit|camerier|poliziott"
    r"|pompier|pilot|impiegat|operai|parrucchier)\w*"
)
_IT_VERB = (
    r"(?:rispondi(?:mi)?|rispondere|scrivi(?:mi)?|scrivere|us(?:a|are)|parla(?:mi)?|dammi|dai|fai"
    r"|fare|metti|mettere|spiega(?:mi)?|aggiung(?:i|ere)|utilizza(?:re)?|chiamami|dammi del)"
)
_IT_ALWAYS = r"(?:sempre|mai|d'ora in poi|da ora in poi|d'ora in avanti|in futuro)"

_PT_KIN = (
    r"(?:mulher|esposa|esposo|marido|namorad[oa]|companheir[oa]|filh[oa]|mãe|pai|irmã|irmão|avó|avô"
    r"|cachorr[oa]|cadela|cão|gat[oa]|bebé|bebê|noiv[oa])"
)
_PT_TRADE = (
    r"(?:professor|enfermeir|médic|advogad|engenheir|desenvolvedor|programador|estudante|arquitet"
    r"|contador|contabilista|jornalista|designer|cozinheir|fotógraf|farmacêutic|dentista|veterinári"
    r"|psicólog|motorista|agricultor|eletricista|canalizador|encanador|artista|músic|escritor"
    r"|tradutor|pesquisador|investigador|aposentad|reformad|consultor|empresári|garç|policial"
    r"|polícia|bombeir|pilot|cabeleireir)\w*"
)
_PT_VERB = (
    r"(?:respond[ae](?:-me)?|escrev[ae](?:-me)?|us[ae]|utiliz[ae]|fal[ae](?:-me)?|dê|dá-me|faça"
    r"|expli(?:ca|que)|coloqu?[ae]|adicion[ae]|trat[ae](?:-me)?|cham[ae](?:-me)?)"
)
_PT_ALWAYS = r"(?:sempre|nunca|jamais|a partir de agora|(?:daqui|de agora) em diante|no futuro)"

_NL_KIN = (
    r"(?:vrouw|man|vriendin|vriend|partner|dochter|zoon|moeder|vader|mama|papa|zus|broer|oma|opa"
    r"|hond|kat|baby|verloofde)"
)
_NL_TRADE = (
    r"(?:\w*(?:leraar|lerares|docente?|verpleegkundige|arts|dokter|advocaat|advocate|ingenieur"
    r"|ontwikkelaar|programmeur|architect|boekhouder|accountant|journaliste?|ontwerper|fotograaf"
    r"|apotheker|psycholoog|chauffeur|elektricien|kunstenaar|muzikant|schrijver|schrijfster"
    r"|vertaler|onderzoeker|consultant|ondernemer|agent|piloot|timmerman|loodgieter|monteur"
    r"|verkoper|kapper|kapster|student|studente)|kok|boer|boerin|gepensioneerd|zzp'er)\b"
)
_NL_VERB = (
    r"(?:antwoord|schrijf|gebruik|spreek|geef|doe|leg|zet|voeg|noem|maak|praat|tutoyeer|toon)"
)
_NL_ALWAYS = r"(?:altijd|nooit|voortaan|vanaf nu|in het vervolg|in de toekomst)"

_ZH_KIN = (
    r"(?:女儿|女兒|儿子|兒子|妻子|老婆|太太|丈夫|老公|先生|妈妈|媽媽|爸爸|母亲|父亲|哥哥|姐姐"
    r"|弟弟|妹妹|男朋友|女朋友|孩子|狗|猫|貓)"
)
_JA_I = r"(?:(?:私|僕|ぼく|俺|わたし|あたし)(?:は|も|の場合は)、?)"
_JA_KIN = r"(?:妻|夫|嫁|旦那|主人|娘|息子|母|父|兄|姉|弟|妹|祖母|祖父|犬|猫|ペット|子供|子ども)"

ROWS: tuple[Row, ...] = (
    # German
    Row("de", "name", r"(?:ich hei(?:ß|ss)e|mein name ist|man nennt mich|(?:bitte )?nennt? mich"
        r"(?: bitte)?) (?P<value>[^\W\d_][\w'-]+(?: [^\W\d_][\w'-]+)?)",
        "Mein Name ist Katharina Vogel.", "first"),
    Row("de", "home", r"(?:ich (?:wohne|lebe)|wir (?:wohnen|leben))"
        r"(?: (?:jetzt|nun|gerade|derzeit|aktuell|momentan|zurzeit"
        r"|noch|schon|immer noch|wieder|mit|seit) ?[^.]{0,30}?)? (?:in|bei|nahe|nähe|am|auf)"
        r" (?P<value>.+)", "Ich wohne in Wien.", "any"),
    Row("de", "home", r"(?:seit|derzeit|aktuell|momentan|zurzeit|jetzt|inzwischen|mittlerweile)\b"
        r".{0,30}? ?(?:wohne|lebe) ich (?:in|bei|nahe|am|auf) (?P<value>.+)",
        "Seit 2019 wohne ich in Kassel.", "any"),
    Row("de", "moved", r"(?:ich bin|wir sind) (?:.{0,30} )?nach (?P<value>[^,]{2,40}?)"
        r" (?:um)?gezogen", "Ich bin vor kurzem nach Graz gezogen.", "first"),
    Row("de", "home", r"ich komme (?:ursprünglich )?aus (?P<value>(?!dem|der haut)[^,]{2,40})",
        "Ich komme aus Bremen.", "any"),
    Row("de", "work", r"(?:(?:beruflich|hauptberuflich|zurzeit|derzeit) arbeite ich|ich arbeite"
        r"(?: (?:jetzt|derzeit|seit [^,]{2,20}|zurzeit|hauptberuflich|nebenbei|freiberuflich))?)"
        r" (?:bei|beim|als|für die|in der|in einer|in einem) (?!uns\b|dir\b|ihm\b)(?P<value>.+)",
        "Ich arbeite als Lehrerin in Köln.", "any"),
    Row("de", "work", r"ich bin (?:(?:ein|eine|von beruf|gelernte[r]?|selbständige[r]?|freie[r]?"
        rf"|angehende[r]?|leitende[r]?) )*(?P<value>{_DE_TRADE})\b(?! (?:meinung|von))",
        "Ich bin Krankenschwester in einer Kinderklinik.", "first"),
    Row("de", "diet", r"ich (?:bin|lebe|esse|ernähre mich)(?: (?:seit [^,]{2,25}|überwiegend|streng"
        r"|strikt))? (?:vegetarier(?:in)?|veganer(?:in)?|pescetarier(?:in)?|vegetarisch|vegan)\b",
        "Ich bin seit zehn Jahren Vegetarierin."),
    Row("de", "diet",
        r"ich (?:esse?|trinke?|vertrage?) (?:(?:grundsätzlich|überhaupt|gar) )?(?:kein"
        r"(?:e|en|erlei)?|nie|niemals) \w{3,}(?! (?:heute|jetzt|mehr heute))",
        "Ich esse kein Schweinefleisch."),
    Row("de", "allergy", r"ich bin (?:\w+ )?(?:gegen|auf) .{2,40} allergisch"
        r"|ich bin (?:\w+ )?allergisch (?:gegen|auf) \w|ich habe eine \w*(?:allergie|intoleranz"
        r"|unverträglichkeit)|ich habe (?:diabetes|asthma|zöliakie)\b",
        "Ich bin gegen Erdnüsse allergisch."),
    Row("de", "family", rf"meine? {_DE_KIN} (?:(?:\w+ )?(?:hei(?:ß|ss)t|ist (?:\w+ )?jahre alt"
        r"|ist \d+)|\w+ ist \w+ jahre alt)", "Meine Frau heißt Petra."),
    Row("de", "family", r"(?:ich habe|wir haben) (?:einen|eine|ein|zwei|drei|vier|fünf|\d)"
        r" (?:\w+ )?(?:söhne?|töchter|tochter|kinder|kind|brüder|bruder|schwestern?|hunde?|katzen?)"
        r"\b|ich bin (?:\w+ )?(?:verheiratet|geschieden|verlobt|verwitwet)\b",
        "Ich habe zwei Kinder."),
    Row("de", "like", r"ich (?:mag|liebe|hasse) (?!das\b|dies|es\b|dich|diese|ihn|sie\b|den ton"
        r"|deine?|nicht|wie|wenn|solche|lieber)[^,]{3,60}$|meine? lieblings\w+ (?:ist|sind) \w",
        "Ich mag klassische Musik sehr gern."),
    Row("de", "language", r"ich spreche (?:.{0,20} )?(?:deutsch|englisch|französisch|spanisch"
        r"|italienisch|polnisch|türkisch|russisch|arabisch|chinesisch|japanisch|niederländisch"
        r"|portugiesisch|kroatisch|serbisch|ukrainisch)\b|meine muttersprache ist \w",
        "Ich spreche Englisch und Türkisch."),
    Row("de", "order", rf"(?:bitte )?{_DE_VERB}\b.{{0,60}}\b{_DE_ALWAYS}\b",
        "Antworte mir bitte immer auf Deutsch."),
    Row("de", "order", r"(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig|in zukunft),? (?:bitte"
        rf"|keine?|nur|nicht|{_DE_VERB})\b.{{3,}}|(?:bitte )?(?:immer|nie|niemals"
        rf"|nie wieder) .{{3,60}}"
        r"(?:antworten|schreiben|verwenden|benutzen|nutzen|sprechen|machen|hinzufügen|erklären)$",
        "Ab jetzt bitte keine Emojis mehr."),
    Row("de", "family", rf"meine? {_DE_KIN}(?: [^\W\d_]\w+)? (?:hat|arbeitet|studiert"
        r"|spielt|spricht|leidet|ist) (?!gerade|heute|da\b|hier|weg|krank|müde|so\b|nicht)\w{2,}",
        "Meine Tochter Lina hat Asthma."),
    Row("de", "order", r"(?:bitte )?(?:nimm|nehmt|nutze?|verwende|benutze?|schreibe?) .{1,40}"
        r"(?: statt | anstatt | anstelle von "
        r"|,? (?:und )?nicht )\S", "Nimm lieber Yarn statt npm."),
    Row("de", "order", r"(?:bitte )?(?:hört? (?:bitte )?(?:endlich )?auf,? (?:damit,? )?.{3,}"
        r"|(?:füge?|schreibe?|mache?|nutze?|verwende|benutze?|nimm|gib|pushe?|lösche?|ändere?)"
        r"(?: bitte)? (?:(?:\w+ ){0,3}nicht mehr|keine?n?) .{3,})",
        "Schreib bitte keine Kommentare in den Code."),
    Row("de", "order",
        r"(?:in diesem|im|bei uns im|in unserem) (?:projekt|repo|repository|team|code)\b"
        r".{0,40}\b(?:wir|immer|nie|niemals)\b.{3,}|bei uns (?:nutzen|verwenden|schreiben"
        r"|benutzen) wir .{2,}|wir (?:nutzen|verwenden"
        r"|benutzen|schreiben) (?:hier|in diesem \w+|immer|nur|keine?n?) .{2,}",
        "In diesem Projekt nutzen wir Tabs."),
    Row("de", "decision",
        r"wir haben (?:uns )?(?:(?:\w+ ){0,6})(?:entschieden|beschlossen|geeinigt)\b"
        r"(?!.*\b(?:essen|kino|heute)\b)|ich habe mich (?:für|gegen) .{2,60} entschieden",
        "Wir haben beschlossen, auf Kotlin umzusteigen."),
    # French
    Row("fr", "name", r"(?:je m'appelle|mon (?:nom|prénom) est|appelle[sz]?-moi) (?P<value>[^\W\d_]"
        r"[\w'-]+(?: [^\W\d_][\w'-]+)?)", "Je m'appelle Chloé.", "first"),
    Row("fr", "home", r"(?:j'habite|je vis|je réside|nous (?:habitons|vivons))"
        r"(?: (?:maintenant|actuellement|toujours"
        r"|désormais|avec [^,]{2,20}))? (?:à|au|aux|en|dans|près d[eu'])(?P<value>.+)",
        "Je vis dans un petit village près de Nantes.", "any"),
    Row("fr", "moved", r"je (?:viens de déménager|me suis installée?|ai déménagé|suis partie?"
        r" vivre)(?: .{0,15})? (?:à|au|aux|en) (?P<value>.+)|j'ai (?:récemment )?déménagé"
        r"(?: .{0,15})? (?:à|au|aux|en) (?P<value2>.+)", "J'ai déménagé à Toulouse.", "any"),
    Row("fr", "home", r"je (?:viens|suis originaire) d(?:e |u |es |')(?P<value>.+)",
        "Je suis originaire de Lille.", "first"),
    Row("fr", "work", r"je travaille (?:(?:actuellement|maintenant|toujours) )?(?:chez|pour (?!moi"
        r"|toi|ça)|comme|en tant qu|à la|au sein d)(?P<value>.+)", "Je travaille chez Airbus."),
    Row("fr", "work", rf"je suis (?:une? )?(?:\w+ ){{0,1}}?(?P<value>{_FR_TRADE})",
        "Je suis infirmière à l'hôpital de Rennes."),
    Row("fr", "diet", r"je suis (?:\w+ )?(?:végétarien|végane?\b|vegan|végétalien|pescétarien)\w*"
        r"|je ne (?:mange|bois) (?:pas|jamais|plus) (?:de |d'|du )(?!tout)\w",
        "Je ne mange pas de porc."),
    Row("fr", "allergy", r"je suis (?:\w+ )?(?:allergique|intolérante?|cœliaque|diabétique"
        r"|asthmatique)\b(?! à (?:eux|ça|cela|elles?\b))|j'ai une (?:allergie|intolérance)\b",
        "Je suis allergique aux noix."),
    Row("fr", "family", rf"(?:mon|ma) {_FR_KIN} (?:\w+ )?(?:s'appelle|a \w+ (?:ans|mois)\b)"
        r"|(?:j'ai|nous avons) (?:une?|deux|trois|quatre|\d) (?:\w+ )?(?:filles?|fils|enfants?"
        r"|frères?|sœurs?|chiens?|chats?)\b|je suis (?:mariée?|divorcée?|veuve?|fiancée?)\b",
        "Ma fille s'appelle Zoé."),
    Row("fr", "like", r"(?:j'adore|j'aime(?: beaucoup| bien)?|je déteste|je préfère) (?!ce\b|cet"
        r"|ces\b|ça|ta\b|ton\b|tes\b|votre|vos\b|quand|bien c|que\b|la (?:version|réponse|première"
        r"|deuxième)|qu'on|le (?:premier|deuxième|ton|mieux)|les deux)[^,]{3,60}$",
        "J'adore le jazz et la randonnée."),
    Row("fr", "language", r"je parle (?:.{0,20} )?(?:français|anglais|espagnol|italien|allemand"
        r"|arabe|portugais|chinois|japonais|russe|turc|néerlandais|breton|basque)\b"
        r"|ma langue maternelle est \w", "Je parle anglais et un peu italien."),
    Row("fr", "order", rf"(?:s'il te plaît,? |merci de )?(?:ne |n')?{_FR_VERB}\b.{{0,60}}"
        rf"{_FR_ALWAYS}\b|(?:désormais|dorénavant|à partir de maintenant|à l'avenir),? .{{0,25}}\b"
        rf"{_FR_VERB}\b", "Réponds toujours en français s'il te plaît."),
    Row("fr", "family", rf"(?:mon|ma) {_FR_KIN}(?: [^\W\d_][\w-]+)? (?:est|a|travaille|étudie"
        r"|fait|joue|souffre|parle) (?!là\b|malade|parti|encore|fatigué)\w{2,}",
        "Mon mari Paul est diabétique."),
    Row("fr", "order",
        r"(?:utilise[zs]?|prends|prenez|emploie|écris|mets) .{1,40}(?: au lieu d| plutôt qu"
        r"| et (?:non|pas) |, pas )\S", "Utilise Yarn au lieu de npm."),
    Row("fr", "order",
        r"(?:s'il te plaît,? )?(?:arrête[zs]? d(?:e |')\w.{3,}|n(?:e |')(?:ajoute|utilise|mets"
        r"|écris|fais|pousse|commite|supprime|modifie|réponds|touche)[zs]? (?:pas|plus"
        r"|jamais) .{3,})",
        "N'ajoute plus d'émojis dans tes réponses."),
    Row("fr", "order",
        r"(?:dans|sur) (?:ce|notre) (?:projet|dépôt|repo|code),? (?:on|nous) (?!a\b|avons).{3,}"
        r"|je préfère qu(?:'on|e tu|e vous) .{3,}|chez nous,? on \w+ .{3,}",
        "Dans ce projet, on utilise des tabulations."),
    Row("fr", "decision", r"(?:on a|nous avons|j'ai) (?:finalement |enfin )?(?:décidé|choisi|opté)"
        r" (?:de |d'|pour |que ).{3,}", "Nous avons décidé de passer à Kotlin."),
    # Spanish
    Row("es", "name", r"(?:(?:yo )?me llamo|mi nombre es|llámame) (?P<value>[^\W\d_][\w'-]+"
        r"(?: [^\W\d_][\w'-]+)?)", "Me llamo Ana.", "first"),
    Row("es", "home", r"(?:yo )?(?:ahora |actualmente |ya )?(?:vivo|resido)(?: (?:ahora"
        r"|actualmente|solo|sola|con [^,]{2,20}))? (?:en|cerca de) (?P<value>.+)",
        "Vivo en Sevilla con mis padres.", "any"),
    Row("es", "home", r"(?:yo )?soy de (?P<value>(?!los que|las que)[^,]{2,40})",
        "Soy de Guadalajara pero vivo en Monterrey.", "first"),
    Row("es", "moved", r"(?:me (?:mudé|he mudado|trasladé|acabo de mudar|fui a vivir)|acabo de"
        r" mudarme|nos mudamos)(?: .{0,15})? a (?P<value>.+)", "Me acabo de mudar a Quito.",
        "first"),
    Row("es",
        "work", r"(?:yo )?(?:ahora )?trabajo (?:(?:ahora|actualmente) )?(?:en (?!ello|eso|esto"
        r"|ell[oa]s)|para |como |de (?=\w+[oar]\b))(?P<value>.+)",
        "Trabajo como diseñador gráfico."),
    Row("es", "work", rf"(?:yo )?soy (?:una? )?(?P<value>{_ES_TRADE})",
        "Soy enfermera en un hospital público."),
    Row("es", "diet", r"(?:yo )?soy (?:vegan|vegetarian|pescetarian)[oa]\b|(?:yo )?no (?:como|bebo"
        r"|tomo) (?!nada|hoy|ahora|desde|mucho|en serio|notas)\w", "No como carne de cerdo."),
    Row("es", "allergy", r"(?:yo )?soy (?:muy )?(?:alérgic[oa]|intolerante|celíac[oa]|diabétic[oa]"
        r"|asmátic[oa])\b|tengo (?:una )?(?:alergia|intolerancia)\b",
        "Soy alérgico a los mariscos."),
    Row("es", "family", rf"mi {_ES_KIN} (?:\w+ )?(?:se llama|tiene \w+ (?:años|meses))\b"
        r"|(?:tengo|tenemos) (?:una?|dos|tres|cuatro|\d) (?:\w+ )?(?:hij[oa]s?|niñ[oa]s?"
        r"|herman[oa]s?"
        r"|perr[oa]s?|gat[oa]s?)\b|(?:estoy|soy) (?:casad|divorciad|viud|comprometid)[oa]\b",
        "Mi hija se llama Carmen."),
    Row("es", "like", r"(?:me (?:encantan?|gustan?|fascinan?)(?: mucho)?|odio|prefiero) (?!est[aeo]"
        r"|es[aeo]|eso|tu\b|tus\b|cómo|como|que\b|la (?:respuesta|idea|primera|segunda|versión))"
        r"[^,]{3,60}$|mi \w+ favorit[oa] es \w", "Me gusta mucho la cocina peruana."),
    Row("es", "language", r"(?:yo )?hablo (?:.{0,20} )?(?:español|castellano|inglés|catalán|gallego"
        r"|euskera|francés|portugués|italiano|alemán|árabe|chino|quechua|guaraní)\b"
        r"|mi lengua materna"
        r" es \w", "Hablo inglés y un poco de francés."),
    Row("es", "order", rf"(?:por favor,? )?(?:no )?{_ES_VERB}\b.{{0,60}}\b{_ES_ALWAYS}\b"
        rf"|(?:por favor,? )?{_ES_ALWAYS},? (?:por favor,? )?(?:no )?(?:me )?{_ES_VERB}\b",
        "Nunca uses emojis en tus respuestas."),
    Row("es", "family", rf"mi {_ES_KIN}(?: [^\W\d_]\w+)? (?:es|tiene|trabaja|estudia|juega|sufre"
        r"|habla) (?!aquí|ahora|así)\w{2,}|mis (?:hij[oa]s|padres|herman[oa]s|gat[oa]s|perr[oa]s"
        r"|abuelos)"
        r" (?:se llaman|tienen|son) .{2,}", "Mi hijo Leo tiene asma."),
    Row("es", "order",
        r"(?:usa|utiliza|escribe|pon|mejor usa) .{1,40}(?: en (?:vez|lugar) de | y no |, no )\S"
        r"|no (?:uses|utilices|pongas|añadas|agregues|hagas|escribas|borres|toques|subas"
        r"|modifiques)"
        r" .{3,}|(?:por favor,? )?deja de \w+r .{2,}", "No uses emojis en tus respuestas."),
    Row("es", "order", r"en (?:este|nuestro) (?:proyecto|repo|repositorio|equipo|código),?"
        r"(?: (?:no|siempre|nunca|solo))* \w+[aei]mos .{3,}",
        "En este proyecto usamos tabuladores."),
    Row("es", "decision", r"(?:hemos|he) (?:decidido|optado por|elegido) .{3,}|decidimos .{3,}"
        r"|nos quedamos con .{2,}", "Hemos decidido pasar a Kotlin."),
    # Italian
    Row("it", "name", r"(?:(?:io )?mi chiamo|il mio nome è|chiamami) (?P<value>[^\W\d_][\w'-]+"
        r"(?: [^\W\d_][\w'-]+)?)", "Il mio nome è Paolo Ricci.", "first"),
    Row("it", "home", r"(?:io )?(?:ora |adesso |attualmente )?(?:abito|vivo|risiedo)(?: (?:ora"
        r"|adesso|attualmente|da solo|da sola|con [^,]{2,20}))? (?:a|ad|in|nel|nella|nelle|vicino"
        r"|fuori|presso)\b(?P<value>.+)", "Vivo in campagna fuori Siena.", "any"),
    Row("it", "home", r"(?:io )?(?:sono|vengo) (?:di|da) (?P<value>[^,]{2,40})", "Sono di Palermo.",
        "first"),
    Row("it",
        "moved", r"mi sono (?:appena |da poco )?trasferit[oa](?: .{0,15})? (?:a|in) (?P<value>"
        r".+)|ci siamo trasferiti (?:a|in) (?P<value2>.+)", "Mi sono trasferito a Torino.",
        "first"),
    Row("it",
        "work", r"(?:io )?(?:ora )?lavoro (?:(?:ora|attualmente) )?(?:per (?!te|me|ora|questo)"
        r"|come |presso |da (?=[^\W\d_])(?!ieri|ore|casa|solo|sola|stamattina|un|due|tre"
        r"|quando)|alla |al "
        r"(?!momento|tuo)|in (?!questo|corso|modo))(?P<value>.+)",
        "Lavoro come architetto a Milano."),
    Row("it",
        "work", rf"(?:io )?(?:sono|faccio) (?:un |una |un'|il |la |l')?(?P<value>{_IT_TRADE})",
        "Sono un insegnante di musica."),
    Row("it", "diet", r"(?:io )?sono (?:vegetarian|vegan|pescetarian)[oa]\b|(?:io )?non (?:mangio"
        r"|bevo) (?:mai |più )?(?!da\b|niente|nulla|ancora|oggi|molto|qui)\w",
        "Non mangio carne."),
    Row("it", "allergy", r"(?:io )?sono (?:molto )?(?:allergic[oa]|intollerante|celiac[oa]|diabetic"
        r"[oa]|asmatic[oa])\b|ho (?:una |un')?(?:allergia|intolleranza)\b",
        "Sono allergica alle fragole."),
    Row("it",
        "family", rf"(?:il mio |la mia |mi[oa] ){_IT_KIN} (?:\w+ )?(?:si chiama|ha \w+ (?:anni"
        r"|mesi))\b|(?:ho|abbiamo) (?:una?|due|tre|quattro|\d) (?:\w+ )?(?:figli[oae]?|bambin[oi]"
        r"|fratelli|fratello|sorell[ae]|can[ei]|gatt[oi])\b|sono (?:sposat|divorziat|vedov"
        r"|fidanzat)"
        r"[oa]\b", "Mia figlia si chiama Anna."),
    Row("it",
        "like", r"(?:mi (?:piace|piacciono)(?: molto| tanto)?|adoro|amo|odio|preferisco) (?!quest"
        r"|quel|e\b|anche|il tuo|la tua|come|che\b|la (?:risposta|prima|seconda"
        r"|versione))[^,]{3,60}$"
        r"|(?:il mio|la mia) \w+ preferit[oa] è \w", "Mi piace molto il ciclismo."),
    Row("it",
        "language", r"(?:io )?parlo (?:.{0,20} )?(?:italiano|inglese|francese|spagnolo|tedesco"
        r"|portoghese|arabo|cinese|russo|rumeno|albanese)\b|la mia (?:lingua madre"
        r"|madrelingua) è \w",
        "Parlo inglese e spagnolo."),
    Row("it", "order", rf"(?:per favore,? )?(?:non )?{_IT_VERB}\b.{{0,60}}\b{_IT_ALWAYS}\b"
        rf"|{_IT_ALWAYS},? (?:per favore,? )?(?:non )?{_IT_VERB}\b",
        "Rispondimi sempre in italiano."),
    Row("it", "family", rf"(?:il mio|la mia|mi[oa]) {_IT_KIN}(?: [^\W\d_]\w+)? (?:è|ha|lavora"
        r"|studia|gioca|soffre|parla) (?!qui|ora|così)[\w']{2,}", "Mia figlia Sara ha l'asma."),
    Row("it", "order",
        r"(?:usa|utilizza|scrivi|metti) .{1,40}(?: al posto d| invece d| e non |, non )\S"
        r"|non (?:usare|utilizzare|aggiungere|mettere|scrivere|fare|toccare|cancellare"
        r"|modificare) .{3,}"
        r"|(?:per favore,? )?smetti(?:la)? di \w+ .{2,}", "Non usare emoji nelle risposte."),
    Row("it", "order", r"in questo (?:progetto|repo|repository|codice),?"
        r"(?: (?:non|sempre|solo))* \w+iamo .{3,}",
        "In questo progetto usiamo i tab."),
    Row("it", "decision", r"(?:abbiamo|ho) (?:deciso|scelto|optato) (?:di |per |che ).{3,}",
        "Abbiamo deciso di passare a Kotlin."),
    # Portuguese
    Row("pt", "name", r"(?:(?:eu )?(?:me chamo|chamo-me)|(?:o )?meu nome é|(?:me chame de|chama-me|"
        r"me chama de)) (?P<value>[^\W\d_][\w'-]+(?: [^\W\d_][\w'-]+)?)", "Chamo-me Inês.",
        "first"),
    Row("pt", "home", r"(?:eu )?(?:agora |atualmente )?(?:moro|vivo|resido)(?: (?:agora|atualmente"
        r"|sozinh[oa]|com [^,]{2,20}))? (?:em|no|na|nos|nas|perto d[eoa]) (?P<value>.+)",
        "Moro em Lisboa.", "any"),
    Row("pt", "home", r"(?:eu )?sou d[eoa] (?P<value>[^,]{2,40})", "Sou de Recife.", "first"),
    Row("pt",
        "moved", r"(?:eu )?(?:mudei(?:-me)?|me mudei|acabei de (?:me )?mudar(?:-me)?|nos mudamos"
        r"|mudámo-nos)(?: .{0,15})? para (?:o |a )?(?P<value>.+)",
        "Mudei-me para Braga no ano passado.", "first"),
    Row("pt", "work", r"(?:eu )?trabalho (?:(?:agora|atualmente) )?(?:em (?!casa hoje|cima)|no |na "
        r"(?!parte)|para (?!você|ti)|como |de (?=\w+[oar]\b))(?P<value>(?!momento)(?!isso"
        r"|isto)\w.+)",
        "Trabalho na Petrobras."),
    Row("pt", "work", rf"(?:eu )?sou (?:uma? )?(?P<value>{_PT_TRADE})",
        "Sou professora de química."),
    Row("pt",
        "diet", r"(?:eu )?sou (?:vegetarian|vegan)[oa]\b|(?:eu )?não (?:como|bebo) (?!nada|hoje"
        r"|desde|agora|muito)\w", "Não como carne."),
    Row("pt",
        "allergy", r"(?:eu )?sou (?:muito )?(?:alérgic[oa]|intolerante|celíac[oa]|diabétic[oa]"
        r"|asmátic[oa])\b|tenho (?:uma )?(?:alergia|intolerância)\b", "Tenho alergia a amendoim."),
    Row("pt",
        "family", rf"(?:o meu|a minha|meu|minha) {_PT_KIN} (?:\w+ )?(?:se chama|chama-se|tem \w+"
        r" (?:anos|meses))\b|(?:tenho|temos) (?:uma?|dois|duas|três|quatro"
        r"|\d) (?:\w+ )?(?:filh[oa]s?"
        r"|irmãos?|irmãs?|cachorr[oa]s?|cães|gat[oa]s?)\b|sou (?:casad|divorciad|viúv)[oa]\b",
        "Meu filho se chama Davi."),
    Row("pt",
        "like", r"(?:(?:eu )?(?:adoro|amo|odeio|prefiro|gosto(?: muito)? d[eoa]s?)) (?!est[ea]"
        r"|ess[ea]|isso|isto|quando|a (?:resposta|primeira|segunda|versão))[^,]{3,60}$",
        "Gosto de jogar xadrez."),
    Row("pt", "language", r"(?:eu )?falo (?:.{0,20} )?(?:português|inglês|espanhol|francês|italiano"
        r"|alemão|árabe|chinês|japonês)\b|(?:a )?minha língua materna é \w",
        "Falo inglês fluente."),
    Row("pt", "order", rf"(?:por favor,? )?(?:não )?{_PT_VERB}\b.{{0,60}}\b{_PT_ALWAYS}\b"
        rf"|(?:por favor,? )?{_PT_ALWAYS},? (?:por favor,? )?(?:não )?(?:me )?{_PT_VERB}\b",
        "Responda sempre em português."),
    Row("pt", "family", rf"(?:o meu|a minha|meu|minha) {_PT_KIN}(?: [^\W\d_]\w+)? (?:é|tem|trabalha"
        r"|estuda|joga|sofre|fala) (?!aqui|agora|assim)\w{2,}", "Minha filha Sara tem asma."),
    Row("pt", "order",
        r"(?:use|usa|utilize|escreva|coloque) .{1,40}(?: em vez d| ao invés d| e não |, não )\S"
        r"|não (?:uses?|utilizes?|adiciones?|coloques?|faças?|escrevas?|apagues?|mexas?"
        r"|modifiques?)"
        r" .{3,}|(?:por favor,? )?(?:pare|para) de \w+r .{2,}", "Não use emojis nas respostas."),
    Row("pt", "order", r"neste (?:projeto|repo|repositório|código),?"
        r"(?: (?:não|sempre|nunca|só))* \w+[aei]mos .{3,}",
        "Neste projeto usamos tabs."),
    Row("pt", "decision", r"(?:decidimos|decidi|optámos|optamos|escolhemos) .{3,}",
        "Decidimos mudar para Kotlin."),
    # Dutch
    Row("nl", "name", r"(?:ik heet|mijn naam is|noem me|je mag me) (?P<value>[^\W\d_][\w'-]+"
        r"(?: (?:de |van |van de |van der )?[^\W\d_][\w'-]+)?)", "Mijn naam is Pieter de Jong.",
        "first"),
    Row("nl", "home", r"(?:ik woon|(?:wij|we) wonen)"
        r"(?: (?:nu|al|tegenwoordig|momenteel|nog|sinds|samen|alleen|met)"
        r"(?: [^.]{0,25}?)?)? (?:in|te|bij|op|vlak bij|net buiten) (?P<value>.+)",
        "Ik woon in Utrecht.", "any"),
    Row("nl",
        "home", r"(?:sinds|nu|tegenwoordig|momenteel|inmiddels)\b.{0,25}? ?woon ik (?:in|te|bij"
        r"|op) (?P<value>.+)", "Sinds 2020 woon ik in Groningen.", "any"),
    Row("nl", "home", r"ik kom (?:oorspronkelijk )?uit (?P<value>[^,]{2,40})", "Ik kom uit Breda.",
        "first"),
    Row("nl", "moved", r"(?:ik ben|we zijn) (?:.{0,25} )?(?:naar (?P<value>[^,]{2,40}?) verhuisd"
        r"|verhuisd naar (?P<value2>.+))", "Ik ben pas naar Leiden verhuisd.", "first"),
    Row("nl",
        "work", r"ik werk(?: (?:nu|al|sinds|parttime|fulltime|tegenwoordig)(?: [^.]{0,20}?)?)?"
        r" (?:bij|voor (?!mezelf|jou)|als|in een|in het|in de) (?P<value>(?!nacht|ochtend).+)",
        "Ik werk bij Philips."),
    Row("nl", "work", rf"ik ben (?:een )?(?:\w+e )?(?P<value>{_NL_TRADE})",
        "Ik ben wiskundeleraar in Delft."),
    Row("nl", "diet", r"ik ben (?:\w+ )?(?:vegetariër|vegetarisch|veganist(?:e)?|vegan)\b|ik (?:eet"
        r"|drink) (?:geen|nooit) \w{3,}", "Ik eet geen varkensvlees."),
    Row("nl", "allergy", r"ik ben (?:\w+ )?(?:allergisch|intolerant|diabeet)\b|ik heb (?:een )?"
        r"(?:\w*allergie|astma|diabetes|coeliakie)\b", "Ik ben allergisch voor katten."),
    Row("nl",
        "family", rf"mijn {_NL_KIN} (?:\w+ )?(?:heet|is \w+ jaar)\b|(?:ik heb|we hebben) (?:een"
        r"|twee|drie|vier|\d) (?:\w+ )?(?:kinderen|kind|dochters?|zonen|zoon|broers?|zussen"
        r"|zus|honden"
        r"|hond|katten|kat)\b|ik ben (?:getrouwd|gescheiden|verloofd)\b", "Mijn zoon heet Bram."),
    Row("nl",
        "like", r"ik (?:hou(?:d)? (?:heel |erg )?(?:veel )?van|haat) (?!dit|dat|deze|die\b|je\b"
        r"|jou)[^,]{3,60}$|mijn favoriete \w+ is \w", "Ik hou van schaatsen."),
    Row("nl", "language", r"ik spreek (?:.{0,20} )?(?:nederlands|engels|frans|duits|spaans|turks"
        r"|arabisch|fries|papiaments)\b|mijn moedertaal is \w", "Ik spreek Engels en Duits."),
    Row("nl", "order", rf"(?:alsjeblieft,? )?{_NL_VERB}\b.{{0,60}}\b{_NL_ALWAYS}\b"
        rf"|(?:voortaan|vanaf nu|in het vervolg),? (?:graag|geen|alleen|niet|{_NL_VERB})\b.{{3,}}"
        r"|(?:altijd|nooit) .{3,60}(?:antwoorden|schrijven|gebruiken|spreken)$",
        "Gebruik nooit emoji's."),
    Row("nl", "family", rf"mijn {_NL_KIN}(?: [^\W\d_]\w+)? (?:is|heeft|werkt|studeert|zit op|speelt"
        r"|spreekt) (?!hier|nu\b|ziek|moe|weg)\w{2,}", "Mijn dochter Lotte heeft astma."),
    Row("nl", "order", r"gebruik .{1,40}(?: in plaats van | en niet |, niet | maar )\S"
        r"|(?:gebruik|voeg|schrijf|zet|maak|push|verwijder) (?:\w+ ){0,3}(?:geen|niet meer) .{3,}"
        r"|(?:stop|hou op) met \w+ .{2,}|stop met .{3,}", "Gebruik geen emoji's in je antwoorden."),
    Row("nl", "order", r"in (?:dit|ons) (?:project|repo|team|codebase),? \w+ we .{3,}",
        "In dit project gebruiken we tabs."),
    Row("nl", "decision", r"we hebben (?:(?:\w+ ){0,4})(?:besloten|gekozen|afgesproken)\b.{3,}"
        r"|we hebben voor .{2,40} gekozen", "We hebben besloten om naar Kotlin over te stappen."),
    # Chinese
    Row("zh", "name", r"我(?:的名字(?:是|叫)|名?叫(?!了|他|她|你|个|到|车|外|人)|姓)"
        r"(?P<value>[㐀-鿿·]{1,6}|[a-z]+(?: [a-z]+)?)(?=$|[,，。.!！、])", "我叫李明。"),
    Row("zh",
        "home", r"我(?:们|們)?(?:现在|現在|目前|一直|平时)?(?:住|居住"
        r"|定居)在(?P<value>[^,，。的吗嗎]"
        r"{1,15})(?=$|[,，。.!！])|我(?:来自|來自)(?P<value2>[㐀-鿿]{2,8})(?=$|[,，。.!！])",
        "我住在上海。"),
    Row("zh",
        "moved", r"我(?:们|們)?(?:(?:去年|今年|上个月|上個月|上周|刚刚|刚|剛|最近|已经|昨天|前年)"
        r"){0,2}(?:从.{1,8})?搬(?:到|去|来|來)了?(?P<value>[^,，。了吗嗎]{1,12})",
        "我上个月搬到了成都。"),
    Row("zh",
        "work", r"我(?:现在|現在|目前"
        r"|一直)?在(?P<value>(?!家)[^,，。的想看做找用这那]{1,15}?)(?:工作|上班"
        r"|任职)(?:了.{0,6})?(?=$|[,，。.!！])|我的(?:职业|職業|工作|专业)是[^,，。]{1,15}",
        "我在华为工作。"),
    Row("zh",
        "work", r"我是(?:一?[名位个個])?(?P<value>(?!说|說|大家)[^,，。的]{0,8}(?:师|師|员|員|护士"
        r"|護士|医生|醫生|学生|學生|作家|画家|记者|经理|教授|主管|总监|工人|农民|老板|司机|警察))"
        r"(?=$|[,，。.!！])", "我是一名护士。"),
    Row("zh",
        "diet", r"我(?:是)?(?:纯)?(?:素食(?:者|主义者|主義者)?|吃素)|我(?:从来|从|一直|平时)?不"
        r"(?:吃|喝|能吃|能喝)(?P<value>[^了,，。饭吗嗎]{1,10})(?=$|[,，。.!！])", "我不吃猪肉。"),
    Row("zh",
        "allergy", r"我对(?P<value>[^,，。这那]{1,10})(?:严重)?(?:过敏|過敏)"
        r"|我有[^,，。]{0,8}(?:过敏|過敏"
        r"|糖尿病|哮喘|高血压)", "我对花生过敏。"),
    Row("zh",
        "family", rf"我(?:的|家)?{_ZH_KIN}(?:的名字)?(?:叫|名叫|是|今年)[^,，。]{{1,10}}"
        rf"|我(?:们)?有"
        r"(?:一|两|二|三|四|\d)(?:个|只|條|条)[^,，。]{0,4}(?:孩子|女儿|儿子|哥哥|姐姐|弟弟"
        r"|妹妹|狗|猫)"
        r"|我(?:已经)?(?:结婚了|离婚了|已婚|单身)", "我女儿叫小雪,今年六岁。"),
    Row("zh", "like", r"我(?:很|最|非常|特别|超|比较)?(?:喜欢|喜歡|热爱|讨厌)(?!第|上面)"
        r"[^,，。吗嗎这這那你它她他]{2,20}(?=$|[,，。.!！])", "我喜欢打羽毛球。"),
    Row("zh",
        "language", r"我(?:会|能|會)?(?:说|讲|說|講)(?:一点|一口|流利的)?[^,，。]{0,6}(?:语|話"
        r"|话|文)"
        r"(?:和[^,，。]{1,8})?(?=$|[,，。.!！])|我的母语是[^,，。]{1,8}", "我会说英语和粤语。"),
    Row("zh",
        "order", r"(?=.*(?:回答|回复|称呼|使用|[说說写寫叫用]))(?:请|請)?(?:总是|始终|永远"
        r"|永遠|每次|以后|以後|今后|从现在(?:起|开始)|一律)(?:都|请|請)?"
        r"(?:不要|别|別|要|用|以|叫|称呼).{2,}|(?:请|請)?(?:永远|以后|绝对)?不要再.{2,}|(?:请"
        r"|請)?(?:永远|绝对)不要.{2,}",
        "请始终用中文回答我。"),
    Row("zh", "family", rf"我(?:的|家)?{_ZH_KIN}(?:对|有|不吃|患)[^,，。]{{2,20}}",
        "我儿子有哮喘。"),
    Row("zh", "order",
        r"(?:请|請)?(?:别|別|不要)再?(?:加|添加|使用|用|写|寫|改|删|刪|推送|提交|碰|动)"
        r"(?!了?$).{1,}|(?:请|請)?用.{1,15}[，,]?(?:不要|别|不|而不是|代替)用?.{1,15}"
        r"|(?:在)?(?:这个|這個|本|我们的)(?:项目|專案|仓库|代码库)(?:里"
        r"|中)?(?=.*(?:用|必须|不要|都)).{2,}", "请不要使用表情符号。"),
    Row("zh", "decision",
        r"我们?(?:已经|已經)?(?:决定|決定)了?不?(?!第).{2,}", "我们决定改用Kotlin。"),
    # Japanese
    Row("ja",
        "name", r"(?:私|僕)の名前は(?P<value>[^、。]{1,12}?)(?:です|といいます|だ)(?=$|[。、!！])"
        rf"|{_JA_I}?(?P<value2>[^、。はがを]{{1,12}})(?:と申します|といいます)(?=$|[。、!！])"
        r"|(?P<value3>[^、。はがを]{1,10})と呼んで(?:ください|下さい|ね)", "田中健と申します。"),
    Row("ja",
        "home", rf"{_JA_I}?(?:今は|現在は?|いまは)?、?(?P<value>(?!.*(?:どこ|ここ"
        rf"|そこ))[^はがを、。]{{1,15}})"
        r"(?:(?:に|で)住んで(?:い(?:ます|る)|る|ます)|で暮らして(?:い(?:ます|る)|ます|る))(?=$"
        r"|[。、!！])",
        "大阪に住んでいます。"),
    Row("ja",
        "moved", rf"{_JA_I}?(?:(?:先月|先週|去年|昨年|最近|今年|今月"
        rf"|\d+月に)、?)?(?P<value>(?!どこ)[^はがを、。]"
        r"{1,15})(?:に|へ)引っ越し(?:ました|た|したばかりです|してきました)(?=$|[。、!！])",
        "先月、福岡に引っ越しました。"),
    Row("ja",
        "work", rf"{_JA_I}(?:[^はがを、。]{{0,10}}の)?(?P<value>[^はがを、。]{{0,8}}(?:師|士"
        rf"|員|医|官|家|者|学生|主婦"
        r"|エンジニア|デザイナー|プログラマー|フリーランス))(?:です|だ|をしています)(?=$"
        r"|[。、!！])",
        "私は看護師です。"),
    Row("ja",
        "work", rf"{_JA_I}?(?P<value>(?!どこ|家|ここ)[^はがを、。]{{1,15}})(?:で"
        rf"|に)(?:働いて(?:い(?:ます|る)|ます|る)"
        r"|勤めて(?:い(?:ます|る)|ます|る)|勤務して(?:い(?:ます|る)|ます))(?=$|[。、!！])"
        rf"|{_JA_I}?[^はが、。]{{0,12}}(?:師|士|員|医者|エンジニア|デザイナー|店長"
        rf"|社長)をして(?:います|いる|ます)(?=$|[。、!！])",
        "トヨタで働いています。"),
    Row("ja",
        "diet", rf"{_JA_I}(?:ベジタリアン|ヴィーガン|ビーガン|菜食主義者?)(?:です|だ"
        rf"|なんです)(?=$|[。、!！])"
        rf"|{_JA_I}?(?:お?肉|魚|豚肉|牛肉|乳製品|お酒|卵)(?:は|を|が)(?:食べません|食べない"
        rf"|食べられません|食べられない|飲みません"
        r"|飲めません|飲まない)(?=$|[。、!！])", "私はベジタリアンです。"),
    Row("ja",
        "allergy", rf"{_JA_I}?[^はが、。]{{1,12}}(?:に|の)?アレルギー(?:が(?:あります|ある)"
        rf"|です|持ちです)(?=$|[。、!！])",
        "私は卵アレルギーがあります。"),
    Row("ja",
        "family", rf"(?:私の)?{_JA_KIN}の名前は[^、。]{{1,12}}(?:です|といいます)"
        rf"|{_JA_I}?{_JA_KIN}が(?:一|二|三|\d)"
        r"?(?:人|匹)?(?:います|いる)(?=$|[。、!！])|(?:娘|息子|子供"
        r"|子ども)は[^、。]{0,3}歳です|私?は?結婚しています",
        "妻の名前は由美子です。"),
    Row("ja",
        "like", rf"{_JA_I}(?!.*(?:この|その|それ|これ|ここ|そこ|そう"
        rf"|彼))[^はが、。]{{1,15}}が(?:大?好き|嫌い|苦手)(?:です|だ|なんです)(?=$|[。、!！])"
        rf"|{_JA_I}?趣味は[^、。]{{1,15}}です", "私は登山が好きです。"),
    Row("ja",
        "language", rf"{_JA_I}?(?:日本語|英語|中国語|韓国語|フランス語|ドイツ語"
        rf"|スペイン語)(?:と[^、。]{{1,6}})?(?:が話せ|を話し)"
        r"(?:ます|る)(?=$|[。、!！])|母語は[^、。]{1,8}です", "私は英語が話せます。"),
    Row("ja",
        "order", r"(?:いつも|必ず|常に|今後は?|これからは?|毎回|以後)、?.{2,40}(?:ください"
        r"|下さい|てね|ないで|ように|すること)"
        r"(?=$|[。、!！])|絶対に.{2,40}ないで", "いつも日本語で答えてください。"),
    Row("ja", "family",
        rf"(?:私の)?{_JA_KIN}は(?!今|今日|どこ|.*住ん).{{1,30}}(?:です|ます|でいる|ている)(?=$"
        rf"|[。、!！])",
        "娘は喘息です。"),
    Row("ja", "order",
        r"(?!今|今回|まだ|ここ).{1,30}(?:を|は)[^、。]{0,10}(?:しないで|入れないで|使わないで"
        r"|書かないで|つけないで|消さないで|やめて)(?:ください|下さい|ね)?(?=$|[。、!！])"
        r"|(?:この|うちの)?(?:プロジェクト|リポジトリ|チーム)では、?.{1,30}(?:を使|ください"
        r"|書き|書く|こと).*"
        r"|.{1,20}(?:ではなく|の代わりに|じゃなくて)、?.{1,20}(?:使って|使用して|書いて).{0,6}",
        "絵文字は使わないでください。"),
    Row("ja", "decision",
        r".{2,40}(?:ことに(?:しました|した)|に(?:決めました|決めた|決定しました))(?=$|[。、!！])"
        r"|.{2,30}を採用しました", "Kotlinに移行することに決めました。"),
)  # fmt: skip
