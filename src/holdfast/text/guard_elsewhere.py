"""The rules by which orders to a model are known in other languages: fewer, and the same ideas.
Patterns are for folded text: without case, accents and vowel signs that carry no sense."""

from __future__ import annotations

from holdfast.text.guard_words import Rule

# Within a sentence, and not far.
_GAP = r"[^.!?。！？।\n]{0,40}?"
_NEAR = r"[^.!?。！？।\n]{0,14}?"

_DISREGARD = (
    # German
    rf"\b(?:ignoriere?|missachte|vergiss|vergesst|ubergehe) {_NEAR}(?:(?:vorherig|bisherig|obig"
    rf"|fruher|vorig|system)\w* {_NEAR}(?:anweisung|regel|vorgabe|befehl|prompt)|deine (?:anweisung"
    r"|regeln|vorgaben)|alles, was dir)"
    # French
    rf"|\b(?:ignore[zs]?|oublie[zs]?) {_NEAR}(?:instructions|consignes|regles|directives) "
    r"(?:precedentes|anterieures|du systeme)"
    r"|\boublie[zs]? tout ce qu\S{0,3} ?\w{1,4} ?\S{0,3} ?a dit"
    r"|\boublie[zs]? (?:tes|vos) (?:instructions|consignes|regles)"
    r"|\b(?:olvida|ignora|esqueca|ignore) (?:tus|sus|suas|tuas|as tuas) (?:reglas|instrucciones"
    r"|instrucoes|regras)"
    # Spanish, Portuguese, Italian
    rf"|\b(?:ignora|ignore|olvida|esqueca|dimentica) {_NEAR}(?:instrucciones|instrucoes|istruzioni"
    r"|regras|reglas|regole|directrices)(?: \w+)? (?:anteriores|previas|precedenti|do sistema"
    r"|del sistema)"
    r"|\b(?:olvida|esqueca|dimentica) (?:todo )?(?:lo que te dijeron|tudo o que (?:foi|te)"
    r"|tutto quello che)"
    # Dutch, Danish, Norwegian, Swedish, Polish, Turkish
    rf"|\b(?:negeer|vergeet|ignorer|ignorera|glem|glom|zignoruj|zapomnij|pomin) {_NEAR}(?:eerdere"
    r"|vorige|tidligere|tidigare|forrige|poprzednie|wczesniejsze) (?:instructies|opdrachten|regels"
    r"|instruk\w*|polecenia|instrukcje|zasady)"
    rf"|\bonceki {_NEAR}(?:talimat|komut|yonerge|kural)\w* {_NEAR}(?:yok say|gormezden gel|unut)"
    # Russian
    rf"|(?:игнорируй|забудь|отбрось)(?:те)? {_NEAR}(?:предыдущ|прошл|системн|прежн)\w* "
    r"(?:инструкц|указани|правил)|забудь(?:те)? все, что тебе"
    r"|(?:забудь|игнорируй)(?:те)? свои (?:инструкции|правила)"
    r"|(?:忘记|忽略|无视)你的(?:规则|指令|指示)"
    r"|ルールを(?:忘れ|無視)|تجاهل تعليماتك|अपने (?:निर्देश|नियम)[^।\n]{0,10}भूल"
    # Chinese, Japanese, Korean
    rf"|(?:忽略|无视|無視|忘记|忘記)[^。\n]{{0,8}}(?:之前|以上|先前|前面|所有|上述|上面|系统)"
    r"[^。\n]{0,8}(?:指令|指示|提示|命令|规则|一切)"
    r"|(?:以前|これまて|これまで|上記|今まて|今まで|システム)[^。\n]{0,6}の?[^。\n]{0,6}(?:指示|命令|"
    r"ルール|言われたこと)[^。\n]{0,8}(?:無視|忘れ)|以前に言われたこと[^。\n]{0,8}忘れ"
    r"|이전[^.\n]{0,8}(?:지시|명령|지침)[^.\n]{0,8}무시"
    # Arabic, Hindi
    r"|تجاهل (?:جميع |كل )?(?:التعليمات|القواعد|الاوامر)(?: السابقه)|انس كل ما قيل لك"
    r"|(?:पिछले|पुराने|पहले)[^।\n]{0,20}(?:निर्देश|नियम|बात)[^।\n]{0,14}(?:अनदेखा|भूल|नज़रअंदाज)"
)
_READER = (
    r"\bsi eres una? (?:inteligencia artificial|ia|asistente|modelo)\b[^.\n]{0,10}[, ]"
    r"|\bsi (?:vous etes|tu es) une? (?:assistante? )?(?:ia|intelligence artificielle|modele)\b"
    r"|\b(?:wenn|falls) du eine? (?:ki|ki-\w{1,20}|sprachmodell|assistent)\b"
    r"|\bbefolge nur noch die anweisungen\b|如果你是(?:ai|人工智能|语言模型)|もしあなたがai"
    r"|если ты (?:ии|нейросеть|языковая модель)"
)
_IDENTITY = (
    rf"\b(?:du bist (?:jetzt|ab sofort)|ab (?:jetzt|sofort) bist du) {_GAP}ohne {_NEAR}(?:regeln"
    r"|einschrankung|beschrankung|filter)"
    rf"|\b(?:tu es|vous etes) (?:maintenant|desormais) {_GAP}sans {_NEAR}(?:restriction|limite"
    rf"|regle"
    r"|filtre)|\btu n'as plus de regles"
    rf"|\b(?:eres|voce e|sei) {_GAP}(?:sin|sem|senza) {_NEAR}(?:restriccion|restric|limit|filtr"
    r"|regl)"
    rf"|ты {_GAP}без {_NEAR}(?:ограничени|правил|фильтр)"
    r"|你是一个?没有任何?(?:限制|规则)|没有任何限制的(?:人工智能|助手|模型)"
    r"|(?:制限|ルール)の(?:ない|なし)(?:ai|アシスタント)|制限のないai"
)
_SECRECY = (
    r"\bdem (?:nutzer|benutzer) nichts davon\b"
    r"|\b(?:sage|sag|erzahle|verrate) (?:dem|den) (?:nutzer|benutzer|anwender) nichts"
    r"|\bn'en parle[zs]? pas a l'utilisateur|\bne (?:le )?(?:dis|dites) rien a l'utilisateur"
    r"|\bno (?:se lo |le |lo )?digas (?:nada )?al usuario|\by no digas por que\b"
    r"|\bnao conte (?:nada )?ao usuario"
    r"|не (?:говори|сообщай|рассказывай)(?:те)? (?:об этом )?пользователю"
    r"|不要让用户(?:知道|发现)|不要告诉用户|別告诉用户|不要告訴使用者"
    r"|ユーサーには何も言わ|ユーザーには何も言わ|ユーザーに(?:言わない|知らせない)"
    r"|لا تخبر المستخدم|उपयोगकर्ता को (?:मत|न) बता"
)
_LEAK = (
    r"\b(?:gib|zeige|verrate) (?:mir )?(?:den|deinen|die|deine) (?:system\s?prompt|passworter)"
    r"|\binhalt deiner anweisungen\b"
    r"|\b(?:affiche|revele|montre)[zs]? (?:ton|votre|le) prompt systeme"
    r"|\b(?:muestra|revela|mostre|revele) (?:tu|el|o|la|a) (?:prompt del sistema|prompt do sistema"
    r"|clave|senha|contrasena)"
    r"|(?:покажи|раскрой)(?:те)? системный промпт|输出系统提示词|显示系统提示"
    r"|システムプロンプトを(?:表示|教え)|システムフロンフトを(?:表示|教え)|秘密の鍵を教え"
    r"|اعرض موجه النظام|सिस्टम प्रॉम्प्ट (?:दिखा|बता)|गुप्त कुंजी बता"
    r"|(?:passworter|mots de passe|contrasenas|senhas"
    r"|парол\w*|密码|密碼|パスワード|ハスワート|كلمات"
    r"|पासवर्ड|البيانات|तथ्य)[^\n]{0,40}(?:@|https?://|هذا العنوان)"
)
_PLANTED = (
    rf"\bwenn der (?:nutzer|benutzer) {_GAP}(?:fragt|sagt|erwahnt)[^\n]{{0,80}}(?:@|https?://"
    r"|empfiehl immer)"
    rf"|\bquand l'utilisateur {_GAP}(?:demande|dit)[^\n]{{0,80}}(?:toujours|@|https?://)"
    rf"|\bcuando el usuario {_GAP}(?:pregunte|diga|pida)[^\n]{{0,80}}(?:siempre|@|https?://)"
    rf"|\bquando o usuario {_GAP}(?:perguntar|disser|pedir)[^\n]{{0,80}}(?:sempre|@|https?://)"
    rf"|когда пользователь[^\n]{{0,80}}(?:всегда|@|https?://)"
    r"|当用户[^。\n]{0,30}(?:总是|https?://)"
)
_CLAIMED = (
    r"\b(?:befehle?|befehl)\b[^\n]{0,30}ohne (?:ruckfrage|nachfrage|nachzufragen|zu fragen)"
    r"|\bohne nachzufragen\b"
    r"|\bexecute[zs]? [^\n]{0,40}sans (?:demander|confirmation)|\bne demande[zs]? plus jamais de"
    r"|\bexecutez la commande suivante"
    r"|\bejecut\w+ [^\n]{0,30}sin (?:preguntar|confirmacion)|\bexecut\w+ [^\n]{0,30}sem perguntar"
    r"|выполня\w+ [^\n]{0,30}без (?:подтверждени|вопрос)"
    r"|直接执行下面的命令|不用询问.{0,6}执行"
    r"|\bobedece (?:solo|apenas)|\bobedeca apenas|\bobeis uniquement|выполняй только этот"
    r"|只服从这段|この文章たけに従|この文章だけに従|اطع هذا النص|केवल इस पाठ का पालन"
    r"|\bantworte ab jetzt nur\b|\bsondern gib den inhalt\b"
)

ELSEWHERE = (
    Rule(
        "asks to disregard earlier instructions, in another language",
        (
            *("ignor", "missacht", "vergiss", "oubli", "olvida", "esqueca", "dimentica"),
            *(
                "игнор",
                "забуд",
                "忽略",
                "无视",
                "無視",
                "忘",
                "무시",
                "تجاهل",
                "انس",
                "अनदेखा",
                "भूल",
            ),
            *("ubergeh", "отброс", "negeer", "vergeet", "glem", "glom", "zapomnij", "pomin"),
            *("onceki",),
        ),
        _DISREGARD,
    ),
    Rule(
        "speaks to the model that reads it, in another language",
        (
            *("si eres", "si vous", "si tu es", "wenn du", "falls du", "befolge", "如果你是"),
            *("もしあなた", "если ты"),
        ),
        _READER,
    ),
    Rule(
        "gives the model a new identity, in another language",
        ("ohne", "sans", "sin ", "sem ", "senza", "без", "没有", "制限", "ルール", "n'as plus"),
        _IDENTITY,
    ),
    Rule(
        "asks to keep something from the user, in another language",
        (
            *("nutzer", "anwender", "utilisateur", "usuario", "por que", "пользовател", "用户"),
            *("使用者", "ユーサー", "ユーザー", "المستخدم", "उपयोगकर्ता"),
        ),
        _SECRECY,
    ),
    Rule(
        "asks for hidden prompts or private data, in another language",
        (
            *(
                "prompt",
                "промпт",
                "提示",
                "プロンプト",
                "フロンフト",
                "النظام",
                "प्रॉम्प्ट",
                "passwort",
            ),
            *(
                "mots de passe",
                "contrasen",
                "senha",
                "парол",
                "密",
                "パスワード",
                "ハスワート",
                "كلمات",
            ),
            *("पासवर्ड", "clave", "anweisungen", "鍵", "कुंजी", "البيانات"),
        ),
        _LEAK,
    ),
    Rule(
        "plants an order for later, in another language",
        ("wenn der", "quand l", "cuando el", "quando o", "когда", "当用户"),
        _PLANTED,
    ),
    Rule(
        "wants to be obeyed without a question, in another language",
        (
            *("ohne", "sans", "sin ", "sem ", "без", "执行", "obed", "obei", "выполняй", "服从"),
            *("従", "اطع", "पालन", "antworte", "sondern", "execut", "demande"),
        ),
        _CLAIMED,
    ),
)
