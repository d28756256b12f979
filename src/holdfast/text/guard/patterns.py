"""Building blocks of the guard's rules: parts of regular expressions for orders, addressees,
guidance, secrets and their like. They are matched against folded text, as the rules are.
"""

from __future__ import annotations

# An order begins a clause, or follows 'please', 'you must' and the like. 'Attackers tell the model
# to ignore …' and 'Never ignore …' are not orders to ignore.
CLAUSE = (
    r"(?:^|[.!?:;,\n>)\]}\"'*(—-]\s*|\b(?:please|kindly|now|then|just|also|instead|but|and),? "
    r"(?:now )?"
    r"|\b(?:you|assistants?|agents?|ai|models?) (?:must|should|will|shall|need to|have to|has to"
    r"|are to|can|may) (?:now |also |first |always )?)"
)
ORDER = CLAUSE.replace("|and)", "|and|to)")
MODEL = (
    r"(?:ai|llms?|language models?|ai (?:assistants?|agents?|models?|systems?|reviewers?)"
    r"|coding agents?|assistants?|agents?|chatbots?|reviewer bots?|bots?|claude|chatgpt|gpt"
    r"|copilot|gemini)"
)
USER = r"the (?:user|human|operator|owner|reader|customer|account holder)"
# Somebody who means one thing in particular goes on: '… the earlier instructions about parking'.
NOT_ABOUT = (
    r"\b(?! for (?!a moment\b|now\b|this\b|once\b)| (?:about|on|regarding|concerning|at|table"
    r"|file|page|list|manual|field|column|of the manual|wheels|plan|session|data|shoes|schedule"
    r"|course|of thumb)\b| in (?!this\b|the (?:conversation|context|prompt)))"
)
ADDRESS = r"(?:https?://|ftp://|www\.|[\w.+-]{1,40}@[\w-]{1,40}\.\w|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d)"
LEAVE = (
    r"(?:ignore|disregard|forget|override|overrule|bypass|discard|neglect|set aside|skip"
    r"|(?:do|must|should|will|shall|need) not (?:follow|obey)|don't (?:follow|obey)"
    r"|stop (?:following|obeying)|pay no attention to)"
)
EARLIER = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|original|initial|existing|former"
    r"|your|system|safety|security|content|developer(?:'s)?|operator(?:'s)?|current)"
)
GUIDANCE = (
    r"(?:instructions?|prompts?|directives?|guidelines?|guidance|directions|commands|orders"
    r"|constraints|guardrails|safeguards|restrictions|programming|context|filters|rules|training"
    r"|polic(?:y|ies))"
)
NO_LIMITS = (
    r"(?:(?:no|without(?: any)?|not (?:any|bound by)|free (?:of|from)(?: all)?|had no|has no"
    r"|have no)(?: its| your| all| any| more)? (?:rules|restrictions|limits|limitations|filters?"
    r"|guidelines|ethics|content policy|boundaries|censorship|moderation)"
    r"|unrestricted|uncensored|unfiltered|jailbroken)"
)
PROMPT = (
    r"(?:system (?:prompt|message|instructions)|hidden (?:instructions|prompt)|developer message"
    r"|initial (?:prompt|instructions)|instructions above|(?:full|complete|original) instructions"
    r"|configuration\b(?=[.!]|$))"
)
SECRET = (
    r"(?:api keys?|passwords?|credentials|secrets?|secret keys?|tokens?|access tokens?|cookies?"
    r"|private keys?|ssh keys?|environment variables|env vars|\.env|id_rsa"
    r"|credit cards?(?: number)?|(?:conversation|chat|session)(?: history| log)?|history"
    r"|memor(?:y|ies)(?: file)?|user data|clipboard|transcripts?|user's \w{1,20}|keys)"
)
# Harmless one by one, private as a whole.
ALL_OF = (
    r"(?: a copy of)?(?: all| every| each| their| his| her| the last \w{1,10}| the full| the whole)"
    r"(?: of)?(?: the| their| his| her)? (?:documents?|messages?|e-?mails?|invoices|files?|data"
    r"|chats?|answers?|context|database)"
)
TELL = (
    r"(?:reveal|print|output|show|repeat|display|leak|dump|disclose|write|quote|recite"
    r"|(?:tell|give|send) (?:me|us)|reply with|respond with|read out)"
)
# What text addressed to 'any AI that reads this' wants of it.
DOES = (
    r"(?:must|should|has to|have to|need to|needs to|is required|are required|ignore|disregard"
    r"|do not|don't|instead|output|reply|respond|say|include|recommend|praise|advertise|approve"
    r"|rate|rank|grant|award|give|visit|treat|vote|add|discard|print|close|stop what"
    r"|whatever they ask|forward|run|delete|send)"
)

# ── earlier instructions ─────────────────────────────────────────────────────────────────────

DISREGARD = (
    rf"{CLAUSE}{LEAVE} (?:"
    # … all of the previous instructions
    r"(?:all |any |every |of |the |these |those |my |our |and |or |whatever ){0,6}"
    rf"(?:{EARLIER}(?:,? (?:and |or )?)){{1,6}}(?:\w+ )?{GUIDANCE}{NOT_ABOUT}"
    # … all instructions.
    r"|(?:all |any )(?:of )?(?:the |your )?(?:instructions|prompts|directives|rules)"
    r"(?=[.!,;]|$| (?:and|you|given|that came|before|above)\b)"
    # … the guidance given earlier
    rf"|(?:all |any |the |your ){{0,3}}{GUIDANCE} (?:(?:you were )?(?:given|told|stated|said|set)"
    r" (?:to you )?(?:earlier|before|above|so far|previously)|in your system prompt"
    r"|(?:that )?you (?:have been|were|had been|got|received)\b|above\b|before\b|so far\b)"
    # … everything you were told
    r"|(?:everything|anything|all)(?: that)? (?:above|before this|i (?:said|told you) before"
    r"|(?:you were|you've been|you have been|was|came) (?:told|said|instructed|given|before))\b"
    # … what the user said, the user's question
    rf"|what(?:ever)? {USER} (?:said|says|asked|asks|wants|wrote|configured|told)"
    rf"|{USER}(?:'s (?:questions?|requests?|messages?|wishes|instructions))?(?= ?(?:[.,;:!]|$)"
    r"| (?:and|but|instead)\b)"
    r"|(?:all of )?the above(?= ?(?:[.,;]|$)| (?:and|instead)\b)|(?:the |your )system prompt\b)"
)
# The same as a statement: 'All previous instructions are void.' Only as a whole sentence about no
# instructions in particular: '… for the oven' is about an oven.
PAST = r"(?:previous|prior|earlier|preceding|foregoing|above|former|original|initial)"
ENDED = (
    r"(?:(?:are|is|have been|has been) (?:now |hereby |all |therefore )?(?:null and )?"
    r"(?:void|voided|revoked|rescinded|cancell?ed|obsolete|suspended|invalid|overridden|lifted"
    r"|no longer (?:valid|binding|in (?:force|effect)))"
    r"|(?:no longer|do not|don't|does not) (?:apply|count|hold|matter|bind you)(?: any ?more)?"
    r"|(?:are|is|have been|has been) (?:now |hereby )?(?:replaced|superseded|overridden) "
    r"(?:by|with) (?:these|this|mine|the following|what follows)(?: ones?| message| text)?)"
    r"(?= ?(?:[.!;:]|$)| (?:and|from now on|as of now|from here on)\b"
    r"|, (?:follow|obey|do|only|you)\b)"
)
VOID = (
    rf"{CLAUSE}(?:"
    rf"(?:all |any |every )(?:of )?(?:the |your |my |our )?(?:{PAST}(?:,? (?:and |or )?)){{1,3}}"
    r"(?:system )?(?:instructions?|directives?|prompts?|guidelines|guidance|rules|constraints)"
    rf"|{PAST} (?:system )?(?:instructions|directives|prompts)"
    rf"|(?:all )?your (?:{PAST}|old) (?:system )?(?:instructions|directives|guidelines|rules"
    r"|prompt|programming|training|constraints|restrictions)"
    r"|(?:all |any )?(?:of )?(?:the )?(?:instructions|directives|rules|guidelines|orders)"
    r" (?:that )?you (?:were|have been|had been) given(?: before| earlier| previously| so far)?"
    rf") {ENDED}"
    r"|\b(?:instructions?|directives?|orders?|guidelines?|guidance|prompts?|rules)"
    r"(?: above| below| given (?:earlier|before))? (?:are|is|have been|has been) (?:now |hereby )?"
    r"(?:outdated|void|cancell?ed|revoked|obsolete|replaced|suspended)\b[^\n]{0,60}"
    r"\b(?:you|use these|instead|act on|follow|nothing else|from (?:here|now|this))\b"
    r"|\btreat (?:the next|every|each|this|my|these) [^.\n]{0,40}"
    r"(?:as (?:an? )?(?:instructions?|commands?|orders?)\b|as (?:coming )?from the system)"
)
# ── who the model is ─────────────────────────────────────────────────────────────────────────

IDENTITY = (
    r"\byou(?: are|'re) (?:now |no longer )(?:dan\b|unrestricted|free (?:of|from) (?:all|any|your)"
    r"|in (?:developer|debug|god|admin|jailbreak|unrestricted|root|maintenance) mode"
    rf"|an? (?:[\w-]{{1,20}} ){{0,4}}(?:{MODEL}|model|bot|hacker|persona|shell|terminal)\b"
    r"(?! (?:user|owner|customer|member))|(?:bound|restricted)\b)"
    rf"|{CLAUSE}(?:pretend|act|behave|imagine|roleplay|role-play|assume|switch|play)\b"
    rf"[^.\n]{{0,80}}\b{NO_LIMITS}\b"
    r"|\byou (?:are|have|were|had) (?:an? )?(?:[\w-]{1,20} ){0,3}(?:ai |assistant |model )?"
    rf"(?:that (?:has|have) )?{NO_LIMITS}\b"
    r"|\benter (?:god|developer|jailbreak|unrestricted) mode\b|\bdo anything now\b"
    r"|\b(?:shell|terminal|assistant|agent)\b[^.\n]{0,40}\b(?:executes?|runs?) (?:every|any|all"
    r"|everything)\b[^.\n]{0,30}(?:receives?|you are told|told|commands? found)"
)
READER = (
    rf"\b(?:if|when|since) you are an? (?:\w{{1,20}} ){{0,2}}{MODEL}\b[^.\n]{{0,60}}\b(?:must"
    r"|ignore|disregard|do not|instead|output|reply|respond|say|include|give|recommend|approve|run"
    r"|execute|install|visit)\b"
    rf"|\b{MODEL} (?:reading|processing|parsing|summari[sz]ing|reviewing"
    r"|that (?:read|process|see))"
    rf"\b[^.\n]{{0,40}}\b{DOES}\b"
    r"|\b(?:attention|note to|notice to|message to|memo to)"
    rf"(?: all| the| any| \(){{0,2}} ?{MODEL}\b[^.\n]{{0,120}}\b{DOES}\b"
    r"|\bas an ai(?: language)?(?: model| assistant)?,? you "
    r"(?:must|will|shall|should|are required)\b"
    r"|\bthe (?:ai|assistant|agent|model) must (?:first )?(?:repeat|disclose|reveal|obey|comply"
    r"|send|forward|ignore|execute)\b"
)
# A user greets their own assistant; a page has no reason to.
GREETING = rf"\b(?:dear|hey|hello|hi|greetings),? (?:all |any )?{MODEL}\b[^.\n]{{0,120}}\b{DOES}\b"
MARKUP = (
    r"(?:<!--|display: ?none|visibility: ?hidden|font-size: ?0|<(?:span|div|p) hidden|\{% comment"
    r"|\[comment\]: #|\{#|\[//\]: #|\balt=\")[^\n]{0,60}?(?:"
    rf"\b{MODEL}\b[^\n]{{0,80}}\b{DOES}\b|\bignore (?:the|all|previous)\b"
    r"|\bsystem prompt\b|\byou must\b|\bprompt:)"
)
# ── forged messages ──────────────────────────────────────────────────────────────────────────

SYSTEM = (
    r"(?:^|\n)\W{0,3}<\|[a-z_]{2,20}\|>|<\|[a-z_]{2,20}\|> ?<\||\[/?inst\]|<</?sys>>"
    r"|</?system(?:[-_ ](?:reminder|prompt|message|instructions?))?>(?=\s*\w)"
    r"|\[(?:system|admin)(?: (?:message|prompt|note|override))?: "
    r"|(?:^|\n)\W{0,3}(?:system|admin|administrator)(?: prompt| message| override| note| update)?"
    r"[\]:]{1,2} *(?:you\b|ignore|disregard|from now|new\b|the (?:user|previous|assistant)|do not"
    r"|always|never|now (?:follow|do|you))"
    r"|\"role\": ?\"system\"[^\n]{0,60}\b(?:obey|comply|ignore|not the user)\b"
)
TOOL_CALL = (
    r"</?(?:\w{1,20}:)?(?:tool_call|tool_use|tool_result|tool_response|function_calls?"
    r"|function_results?)\b[^<>\n]{0,200}>|<(?:\w{1,20}:)?invoke name="
    r"|\A\s{0,9}[\[{]\s{0,9}\{?\s{0,9}\"(?:tool_calls"
    r"|(?:name|tool|function)\": ?\"[\w.-]{1,60}\",\s{0,9}\"arguments\": ?[\"{]"
    r"|(?:name|tool|function)\": ?\"\w{1,30}[_.][\w.-]{1,30}\",\s{0,9}\"parameters\": ?\{)"
    r"|\b(?:tool (?:output|result|response)|function (?:output|result)|api response)\b:?"
    r"[^\n]{0,160}\b(?:call the tool|confirm=true|trust this|agents? should trust)\b"
)
# ── what the user must not know, and what must not leave ─────────────────────────────────────

SECRECY = (
    rf"{ORDER}(?:do not|don't|never) (?:tell|inform|alert|notify|let|warn) {USER}s?"
    # A rule for writers goes on with what exactly: '… which of the two was wrong'.
    r"(?=\s*(?:[.!,;\n]|$)| (?:about (?:this|these|it|any|the)\b|of (?:this|these|it)|and\b"
    r"|that (?:you|this|there)|what you|know|anything|any of|why you))"
    rf"|{ORDER}(?:do not|don't|never) (?:mention|reveal|disclose|say) "
    rf"(?:(?:\w{{1,20}} ){{1,6}}?to {USER}\b|to {USER}\b|(?:this|these|the) (?:note|text"
    r"|instructions?|prompt|message|rule)s?\b(?! (?:about|on|for|in (?!your))\b))"
    rf"|\b(?:keep|hide|conceal) (?:this|these|it|them|that|the \w{{1,20}})\b(?: \w{{1,20}}){{0,3}}"
    rf" from {USER}\b"
    r"|\b(?:silently|secretly|quietly|in the background) (?:call|run|delete|remove|send|execute"
    r"|upload|forward|copy|install|export)\b|\bdo (?:this|it|that) (?:secretly|silently|quietly)\b"
    rf"|\bno need to (?:bother|tell|ask|inform|involve) {USER}\b"
)
LEAK = (
    rf"{ORDER}{TELL} (?:me )?(?:back )?(?:your|the|all of your) "
    rf"(?:full |entire |hidden |initial |original |exact |complete |secret |raw ){{0,3}}{PROMPT}"
    r"|\brepeat (?:the |all )?(?:text|words|everything) above(?! the)\b"
    r"|\b(?:show|give|tell|quote|recite|read|send)\b[^.\n]{0,40}\byour (?:\w{1,20} )?"
    r"(?:instructions|system prompt|initial prompt|prompt|guidelines)\b(?! (?:for|about|on)\b)"
    r"|\bwhat (?:did|does|has) (?:the|your) (?:developer|operator|system prompt)\b[^.\n]{0,20}"
    r"\b(?:write|wrote|say|said|tell|told)\b"
)
HAND_OVER = (
    rf"{ORDER}{TELL} (?:me )?(?:only )?(?:the |all |every |any |raw |stored |user's |admin "
    r"|secret |hidden |contents? of ){0,4}(?:the )?(?:(?!your )\w{1,20} )?(?:api keys?"
    r"|(?:admin )?passwords?|credentials|secrets|secret keys?|tokens?|private keys?|\.env\b"
    r"|user's (?:\S{1,20} )?(?:e-?mail|address|\.env))(?! (?:field|box|input|prompt|form|for)\b)"
    r"|\b(?:list|output|print|dump|give me|tell me|hand over|hand out|reveal|expose|enumerate)\b"
    r" (?:all |every |each |the |any |full ){0,3}(?:secrets|stored \w{1,20}|values? of (?:every|all"
    r"|each)|environment variables?|database(?: dump)?|contents? of (?:every|all|memory)"
    r"|passwords)\b"
)
SEND = (
    rf"{ORDER}(?:send|post|upload|forward|e-?mail|mail|transmit|submit|copy|leak|exfiltrate|export"
    rf"|repeat|encode|share|put|append|add|take|read)\b(?:[^.\n]{{0,30}}?\b{SECRET}|{ALL_OF})\b"
    r"[^\n]{0,60}?"
    r"\b(?:to|at|into|in|by|on) (?:the (?:url|address|following server)[: ]{0,2})?"
    rf"(?:{ADDRESS}|(?:this|the) (?:url|address|endpoint))"
    # A picture or a link that takes along what the reader fills in.
    r"|\b(?:render|display|show|include|append|add|put|end|insert)\b[^\n]{0,80}?"
    r"(?:!?\[[^\]\n]{0,40}\]\(|link to )https?://[^\s)]{0,200}[?&][\w-]{1,20}="
    r"(?=[^\n]{0,200}(?:[{<\[]|user|secret|token|key|replaced?|filled|chat|data))"
    r"|!\[[^\]\n]{0,40}\]\(https?://[^\s)]{0,200}=[{<\[][^)\n]{0,60}\)"
)
# ── orders for later, and consent that nobody gave ───────────────────────────────────────────

LATER = (
    r"\b(?:when|whenever|if|once|after|as soon as|the moment|each time|every time|(?:the )?next "
    r"time)(?: that)? (?:the users?|users|anyone|anybody|someone|somebody) (?:ever )?"
    r"(?:asks?|says?|mentions?|wants?|brings? up|requests?|types?)"
)
HARM = (
    r"(?:\b(?:curl|wget|iwr)\b[^|\n]{0,160}\| ?(?:sudo )?(?:ba|z)?sh\b|\brm -rf\b"
    r"|\b(?:send|forward|book|go|steer|visit|include|add|paste|use|repeat|tell|give|export|read"
    rf"|recommend)\b[^\n]{{0,80}}{ADDRESS}|\b(?:silently|quietly|secretly)\b"
    r"|\b(?:always|only|never) (?:recommend|praise|mention|blame|say|book|rank|name)\b)"
)
CONSENT = (
    rf"\b(?:{USER}|user) (?:has |have )?(?:already |hereby )?"
    r"(?:given (?:permission|consent)|approved|agreed|authori[sz](?:ed|es)|allow(?:s|ed)|consented"
    r"|confirmed|wants?|prefers?|asked|told|never wants)\b(?! to be asked)[^\n]{0,60}?"
    r"\b(?:all (?:tool calls|purchases|transactions|commands|requests|their (?:chats|files))"
    r"|every (?:future |shell )?(?:command|transaction|purchase|request|commit)"
    r"|you to (?:always )?(?:run|trust|execute|send|disable|store|forward|skip)\b|--force"
    r"|(?:you|assistant|agent|ai|tools?)\b[^\n]{0,60}(?:without (?:asking|any question"
    r"|confirmation|review|question|being asked)|(?:never|not) ask|no confirmation|in advance))"
)
OWN_BLOCKS = r"<memory hub=|</memory>|<!-- ?mem_\w{1,64}\b[^>\n]{0,30}-->"

# ── other languages ──────────────────────────────────────────────────────────────────────────

GAP = r"[^.!?。！？।\n]{0,40}?"
NEAR = r"[^.!?。！？।\n]{0,14}?"
DISREGARD_ELSEWHERE = (
    # German
    rf"\b(?:ignoriere?|missachte|vergiss|vergesst|ubergehe) {NEAR}(?:(?:vorherig|bisherig|obig"
    rf"|fruher|vorig|system)\w* {NEAR}(?:anweisung|regel|vorgabe|befehl|prompt)|deine (?:anweisung"
    r"|regeln|vorgaben))"
    # French
    rf"|\b(?:ignore[zs]?|oublie[zs]?) {NEAR}(?:instructions|consignes|regles|directives) "
    r"(?:precedentes|anterieures|du systeme)"
    # Spanish, Portuguese, Italian
    rf"|\b(?:ignora|ignore|olvida|esqueca|dimentica) {NEAR}(?:instrucciones|instrucoes|istruzioni"
    r"|regras|reglas|regole|directrices)(?: \w+)? (?:anteriores|previas|precedenti|do sistema"
    r"|del sistema)"
    # Dutch, Danish, Norwegian, Swedish, Polish
    rf"|\b(?:negeer|vergeet|ignorer|ignorera|glem|glom|zignoruj|zapomnij|pomin) {NEAR}(?:eerdere"
    r"|vorige|tidligere|tidigare|forrige|poprzednie|wczesniejsze) (?:instructies|opdrachten|regels"
    r"|instruk\w*|polecenia|instrukcje|zasady)"
    # Russian
    rf"|(?:игнорируй|забудь|отбрось)(?:те)? {NEAR}(?:предыдущ|прошл|системн|прежн)\w* "
    r"(?:инструкц|указани|правил)"
    # Chinese, Japanese, Korean
    r"|(?:忽略|无视|無視|忘记|忘記)[^。\n]{0,8}(?:之前|以上|先前|前面|所有|上述|上面|系统)"
    r"[^。\n]{0,8}(?:指令|指示|提示|命令|规则|一切)"
    r"|(?:以前|これまて|これまで|上記|今まて|今まで|システム)[^。\n]{0,6}の?[^。\n]{0,6}(?:指示|命令|"
    r"ルール|言われたこと)[^。\n]{0,8}(?:無視|忘れ)"
    r"|이전[^.\n]{0,8}(?:지시|명령|지침)[^.\n]{0,8}무시"
    # Arabic, Hindi
    r"|تجاهل (?:جميع |كل )?(?:التعليمات|القواعد|الاوامر)(?: السابقه)"
    r"|(?:पिछले|पुराने|पहले)[^।\n]{0,20}(?:निर्देश|नियम|बात)[^।\n]{0,14}(?:अनदेखा|भूल|नज़रअंदाज)"
)
IDENTITY_ELSEWHERE = (
    rf"\b(?:tu es|vous etes) (?:maintenant|desormais) {GAP}sans {NEAR}(?:restriction|limite"
    r"|regle|filtre)"
    rf"|\b(?:eres|voce e|sei) {GAP}(?:sin|sem|senza) {NEAR}(?:restriccion|restric|limit|filtr"
    r"|regl)"
)
SECRECY_ELSEWHERE = (
    r"\bdem (?:nutzer|benutzer) nichts davon\b"
    r"|\b(?:sage|sag|erzahle|verrate) (?:dem|den) (?:nutzer|benutzer|anwender) nichts"
)
LEAK_ELSEWHERE = (
    r"\b(?:gib|zeige|verrate) (?:mir )?(?:den|deinen|die|deine) (?:system\s?prompt|passworter)"
    r"|システムプロンプトを(?:表示|教え)|システムフロンフトを(?:表示|教え)"
    r"|(?:passworter|mots de passe|contrasenas|senhas|парол\w*|密码|密碼|パスワード|ハスワート"
    r"|पासवर्ड)[^\n]{0,40}(?:@|https?://)"
)

# ── the rules ────────────────────────────────────────────────────────────────────────────────
