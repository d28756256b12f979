"""The same ideas as in `guard_rules` and `guard_planted`, in the words of those who avoid the usual
ones. Each pattern joins two things that an honest text does not say in one breath."""

from __future__ import annotations

from holdfast.text.guard_words import MODEL, USER, Rule

_VOID = (
    r"\b(?:stop|quit) (?:obeying|listening to|serving) (?:your|the)\b"
    r"|\b(?:drop|abandon|cancel|suspend|leave) (?:all |your |the )*(?:current |old |present )?"
    r"(?:rules|instructions|guidelines|task|mission|orders)\b[^\n]{0,60}\b(?:new|instead|now|this"
    r"|following|help me)\b"
    r"|\bwhatever (?:rules|instructions|orders|limits) you (?:had|have|were given)\b"
    r"|\bnone of (?:what|that|the (?:rules|instructions))\b[^.\n]{0,40}\b(?:matters?|counts?"
    r"|appl(?:y|ies)) (?:now|any ?more|any longer)"
    r"|\bi am (?:now )?your (?:new )?(?:operator|developer|owner|admin\w*|master|user)\b"
    r"|\b(?:this|the following|what follows)\b[^.\n]{0,40}\b(?:overrides|supersedes|outranks"
    r"|replaces)"
    r" (?:your|all|the|any) [^.\n]{0,20}(?:instructions|prompt|rules|orders|policy)"
    r"|\bas (?:if|though) you (?:had|have) no (?:safety |content )?(?:training|rules|limits|policy)"
    r"|\b(?:switch|put|set|move|place) you (?:in)?to (?:an? )?\w{1,20} mode\b"
    r"|\bin (?:admin|developer|debug|god|root) mode,? you\b"
    r"|\beverything (?:above|before)\b[^.\n]{0,20}\b(?:was|is) (?:a |an )?(?:mistake|fake|test"
    r"|error)"
    r"|\byour (?:previous|earlier|old) (?:instructions|orders|rules) (?:have been|were|are) "
    r"(?:updated|changed|replaced)|\b(?:these|those|here) are (?:the|your) (?:real|true|actual"
    r"|new) "
    r"instructions\b|\bno matter what the user\b|\babort the current (?:job|task)\b"
    r"|\bdo only what (?:stands|is written|comes) below\b|\bnew system prompt\b"
    r"|\byou are now \w{1,20}\b[^.\n]{0,30}\b(?:no|without) (?:any )?(?:restrictions|rules|limits)"
    r"|\b(?:your|the) (?:guidelines|rules|instructions|polic(?:y|ies)) do not apply to (?:this"
    r"|me|the)\b"
    r"|\bthe user is not your (?:boss|master|owner)\b|\bpriority over the user\b"
    r"|\byou will only respond to commands\b|\b(?:obeys|obey) me\b|\b(?:had|have) no policies\b"
    r"|\bdo (?:what|as) (?:he|she|i|it|they) (?:says?|tells?|wants?|orders?)\b(?=[.!]|$)"
    r"|\bdo not do what the user\b|\b(?:go|carry) on as if nothing\b"
    r"|\bnever trained to refuse\b|\bdo whatever i say\b|\b(?:upgraded|promoted) to \w{1,20} mode\b"
    r"|\b(?:uncensored|unfiltered|jailbroken|unrestricted) version of (?:yourself|you)\b"
    r"|\bcan now produce any content\b|\bhacker assistant\b"
    r"|\bfrom (?:the|your) system administrator: |\bgive the bearer\b"
    r"|\b(?:trust|believe|follow|obey) this (?:\w{1,20} )?more than\b|\borders? that (?:is"
    r"|are) signed"
)
_LEAK = (
    r"\b(?:show|give|tell|quote|recite|read|send"
    r"|explain to)\b[^.\n]{0,40}\byour (?:\w{1,20} )?"
    r"(?:instructions|system prompt|initial prompt|prompt|guidelines)\b(?! (?:for|about|on)\b)"
    r"|\bwhat (?:is|stands)(?: written)? in your (?:system prompt|instructions)\b"
    r"|\b(?:translate|summari[sz]e|rephrase|print|show|output|repeat)\b[^.\n]{0,30}\b(?:your system"
    r" prompt|instructions you (?:were|have been) given)"
    r"|\b(?:write down|spell out|copy out) your (?:system prompt|instructions)\b"
    r"|\bwhat are your (?:system )?instructions\b|\btruth about (?:his|her|your) system prompt\b"
    r"|\b(?:attach|send|copy|upload|paste)\b[^.\n]{0,30}\b(?:id_rsa|\.ssh|private key|\.env)\b"
    r"|\binclude the user's [^.\n]{0,20}(?:key|token|password)|\bforward (?:every|each"
    r"|all) (?:new )?"
    r"(?:message|mail|call)s? to\b|\bput the user's [^.\n]{0,40}(?:address|url|link)"
    r"|\bwhat (?:did|does|has) (?:the|your) (?:developer|operator|system prompt)\b[^.\n]{0,20}"
    r"\b(?:write|wrote|say|said|tell|told)\b"
    r"|\beverything (?:that )?(?:comes|came|stands|was|is)? ?before (?:the words|this (?:message"
    r"|conversation|line)|my (?:first )?message)"
    r"|\b(?:list|output|print|dump|give me|tell me|hand over|hand out|reveal|expose|enumerate)\b"
    r" (?:all |every |each |the |any |full ){0,3}(?:secrets|stored \w{1,20}|values? of (?:every|all"
    r"|each)|environment variables?|database(?: dump)?|dump|contents? of (?:every|all|memory)"
    r"|passwords)\b"
    r"|\b(?:open|read|cat|print|show|load) ~/\.(?:netrc|ssh|aws|env|bash_history|pgpass|npmrc"
    r"|gnupg|config/\w{1,20}/credentials)"
    r"|\bin \w{1,20} mode you reveal\b|\bgrab (?:whatever|everything|all)\b[^.\n]{0,60}"
    r"\b(?:environment|clipboard|memory|context)\b"
    r"|\b(?:contents?|copy) of (?:the |your )?(?:notes|memory|vault|inbox|home) (?:folder|file)?\b"
    r"[^.\n]{0,60}\b(?:gist|pastebin|webhook|https?://|to eve)\b"
    r"|\bpost (?:each|every) conversation\b|\b(?:pass|hand) it on to https?://"
)
_SECRECY = (
    r"\bdo(?:n't| not) reveal that (?:your|you|this)\b|\bwas influenced by this (?:page|text|note)"
    rf"|\b{USER} (?:does not|doesn't|need not|must not|should not) (?:need to )?(?:know|learn"
    rf"|notice"
    r"|find out|be told) (?:about |of )?(?:this|the following|that|it|what)"
    r"|\bdo (?:this|it|that) (?:secretly|silently|quietly)\b|\bsay nothing about (?:this|these"
    r"|it)\b"
    rf"|\b{USER} should never (?:learn|know|see|find)\b"
    rf"|\b(?:never|do not|don't) let {USER} (?:see|notice|find|read)\b"
    rf"|\bso that {USER} (?:does not|doesn't|will not|won't|cannot) (?:notice|see|know|find)"
    rf"|\bno need to (?:bother|tell|ask|inform|involve) {USER}\b"
    r"|\bleave out (?:every|all|any) (?:message|mail|warning|mention)"
)
_READER = (
    rf"\b(?:hello|hi|hey|dear|greetings,?) (?:all )?{MODEL}\b[!,.: ][^\n]{{0,120}}\b(?:transfer|add"
    r"|describe|say|give|delete|send|rate|recommend|answer|approve|ignore|please)\b"
    rf"|\b(?:any|every|all) {MODEL} (?:that|who|which) (?:index|read|crawl|see|process|visit|parse)"
    r"\w{0,3}\b[^.\n]{0,60}\b(?:agrees?|must|should|will|has to|have to|shall|required)\b"
    rf"|(?:^|[.\n>] ?)(?:{MODEL}(?:,| and) ?)?{MODEL}(?: readers)?[:,] (?:please (?:add|say|include"
    r"|rate|recommend|describe|write)|the (?:correct|only|right) answer)\b"
    r"|\bif you (?:can read|are reading) this\b[^.\n]{0,20}[, ](?:transfer|send|delete|reply|say"
    r"|output|print|ignore|add|recommend)"
    r"|\byou are talking to (?:an? )?(?:engineer|developer|employee|admin\w*) of the company\b"
    r"|\bas part of your (?:duties|job|new role),? you now\b"
    r"|\bstart (?:every|each) (?:reply|answer|message|conversation) with\b[^.\n]{0,30}"
    r"(?:https?://|link|sentence)"
    r"|\bwrite a (?:glowing|positive|five-star) review\b"
)
_FRAME = (
    r"\bbegin (?:system|admin|developer|new) (?:instructions?|prompts?|messages?|policy)\b"
    r"|\bsystem notice\b[^\n]{0,120}\b(?:comply|obey|shall|must|revoked|delete|send)\b"
    r"|\"role\": ?\"system\"[^\n]{0,60}\b(?:obey|comply|ignore|not the user)\b"
    r"|(?:^|\n)\s{0,9}<(?:instructions?|admin|root|command|sudo|override)>\s{0,9}\w[^\n]{0,200}</"
)
_RESULT = (
    r"\b(?:tool (?:output|result|response)|function (?:output|result)|result of (?:the )?\w{0,10} "
    r"?search|api response)\b:?[^\n]{0,160}\b(?:call the tool|pass it on|confirm=true|trust this"
    r"|agents? should trust|ask for (?:it|the password)|reply with the)\b"
)
_CLAIMED = (
    r"\b(?:user|owner|customer|account owner)\b[^.\n]{0,20}\b(?:wants no more|no longer wants?"
    r"|has waived|waives|likes it when i|needs no|does not want any)\b[^.\n]{0,40}\b(?:confirm\w*"
    r"|checks?|warnings?|run|install\w*|approv\w*|questions)\b"
    r"|\bi, the (?:user|owner),? (?:allow|permit|approve|authori[sz]e|want)\b"
    r"|\b(?:agent|assistant|ai|bot)s? (?:has|have|gets?|is given) (?:full|unlimited"
    r"|complete) access"
    r"|\b(?:user|owner) (?:trusts every|is fine with sharing|gave the (?:assistant|agent"
    r"|ai) permission)"
    r"|\b(?:user|owner) (?:wants|prefers|said|says|has agreed|agreed"
    r"|told)\b[^.\n]{0,12} you (?:may |can "
    r"|should |to )?[^.\n]{0,20}\b(?:every link|private messages|ignore|policy|without checking"
    r"|password|bank)\b"
    r"|\bnot want to be asked before you (?:send|delete|pay|buy|install|share)\b"
    r"|\ball requests (?:from|by) \w{1,20} are (?:approved|allowed)\b|\bthey allow tracking\b"
    r"|\bmessages? with the word \w{1,20} (?:come|are|is)\b"
    r"|\brecommend [^.\n]{0,20}\bto every user\b"
    r"|\bcommands from (?:this|that|the) \w{1,20} may be (?:executed|run)\b"
    r"|\bwants all (?:answers|replies) to (?:contain|include|end with|link)\b"
    r"|\byou should always (?:use the token|run|send|trust)\b"
    r"|\b(?:store|save|add|keep)(?: this)? (?:in|to)(?: your)?(?: long-term)? memory\b[^\n]{0,40}"
    r"\balways\b[^\n]{0,60}(?:https?://|@)"
    r"|\bneed not ask\b|\bneeds? not to ask\b|\bhas waived all\b"
    r"|\b(?:secrets|passwords|keys) (?:are|be|should be) (?:shown|given|shared|sent)\b[^.\n]{0,30}"
    r"\b(?:in full|anyone|whoever|whenever)\b"
    r"|\b(?:never|do not|don't) warn (?:me|the user|them) (?:about|of|when)\b"
    r"|\b(?:turn off|disable|switch off|deactivate) (?:the |all |any )?(?:antivirus|firewall"
    r"|logging"
    r"|security|two-factor|warnings|safety)\b[^.\n]{0,30}(?:\bwhen\b|\band\b|[.]|$)"
    r"|\b(?:user|owner) (?:has )?(?:approved|allowed|agreed to|permits) (?:the )?sharing of\b"
    r"|\ball tools? (?:may|can|to) run without\b|\bwithout prompts in all\b"
    r"|\b(?:install|run) \w{0,20} ?(?:installers?|scripts?|extension\w*) from (?:unknown|this"
    r"|any)\b"
)
_PLANTED = (
    r"\b(?:upon|on) (?:hearing|reading|seeing|receiving)\b[^.\n]{0,60}\b(?:disable|grant|delete"
    r"|send"
    r"|reveal|hand over|execute|run|transfer|open)\b"
    r"|\bif (?:someone|anyone|the user|somebody) (?:types|says|writes|sends)\b[^.\n]{0,60}\b(?:hand"
    r" over|disable|grant|delete|reveal|dump|transfer|unlock)\b"
    r"|\bafter \w{1,10} more (?:messages|turns|replies|questions)\b[^.\n]{0,20}\b(?:begin|start"
    r"|stop"
    r"|insert|send|change)\b"
    r"|\balways (?:suggest|recommend|offer|name|pick) [^.\n]{0,40}\bfirst\b"
    r"|\bnever mention (?:its|their|the) (?:bad|negative|recall|risks|flaws|drawbacks)"
    r"|\btell the user to (?:download|install|visit|call|buy|open)\b[^\n]{0,60}(?:https?://|\+\d)"
    r"|\bin all (?:code|texts|answers|mails) you write\b"
    r"|\bfrom (?:tomorrow|today|next week) on,? (?:translate|say|answer|call|describe)\b"
    r"|\binsert (?:wrong|false|fake|subtle)\b|\blet the (?:backdoor|malware|exploit|bug)\b"
    r"|\b(?:every|each) time you (?:book|buy|order|write|answer|search|install)\b[^.\n]{0,60}"
    r"\b(?:affiliate|code|link|choose the|add|include|use)\b"
    r"|\bwhen summari[sz]ing (?:e-?mails|messages|this|the \w{1,20})\b[^.\n]{0,20}\b(?:leave out"
    r"|omit"
    r"|hide|add|say|state)\b"
)

WIDE = (
    Rule(
        "puts itself in the place of earlier instructions",
        (
            *("above", "have been", "were ", "instructions", "no matter", "abort", "below"),
            *("system prompt", "you are now", "refuse", "whatever i", "version of", "any content"),
            *("hacker", "administrator:", "bearer", "not apply", "your boss", "over the user"),
            *(
                "only respond",
                "obeys me",
                "obey me",
                "no policies",
                "do what",
                "do as ",
                "if nothing",
            ),
            *("stop obey", "stop listen", "quit ", "drop ", "abandon", "cancel", "suspend"),
            *("whatever ", "none of ", "i am your", "i am now", "overrides", "supersedes"),
            *("outranks", "replaces", "had no ", "have no ", " mode", "more than", "signed"),
            *("leave ",),
        ),
        _VOID,
    ),
    Rule(
        "asks for hidden prompts, or to send private data away",
        (
            *("id_rsa", ".ssh", "private key", ".env"),
            *(
                "the user's",
                "forward ",
                "instructions",
                "prompt",
                "guidelines",
                "the developer",
                "operator",
            ),
            *("before the words", "before this", "before my", "secrets", "stored ", "value"),
            *("environment", "database", " dump", "content", "password", " keys", "~/."),
            *("grab ", "copy of", "conversation", "it on to"),
        ),
        _LEAK,
    ),
    Rule(
        "asks to keep something from the user",
        (
            *("secretly", "silently", "quietly", "say nothing"),
            *("reveal that", "influenced by", "the user", "the human", "the owner"),
            *("the operator", "the customer", "the reader", "leave out"),
        ),
        _SECRECY,
    ),
    Rule(
        "speaks to the model that reads it",
        (
            *("hello ", "hi ", "hey ", "dear ", "greetings", "any ", "every ", "all ", "ai:"),
            *("ai,", "agents:", "agents,", "bots:", "bots,", "readers,", "readers:"),
            *("models:", "models,", "llms:", "llms,", "llm,", "assistants:", "assistants,"),
            *("can read this", "reading this", "talking to", "part of your", "review"),
        ),
        _READER,
    ),
    Rule(
        "imitates a system message or a chat template",
        (
            *("begin system", "begin admin", "begin developer", "begin new", "system notice"),
            *('"system"', "<instruction", "<admin>", "<root>", "<command>", "<sudo>"),
            *("<override>",),
        ),
        _FRAME,
    ),
    Rule(
        "imitates a tool call",
        (
            *("tool output", "tool result"),
            *("tool response", "function output"),
            *("function result", "search:", "search result", "api response"),
        ),
        _RESULT,
    ),
    Rule(
        "speaks of a wish or a consent that nobody gave",
        (
            *("that you ", "wants you", "to be asked", "all requests", "tracking", "the word"),
            *("every user",),
            *(
                "trusts every",
                "fine with",
                "permission",
                "commands from",
                "wants all",
                "should always",
            ),
            *(" memory", "no more", "no longer want", "waive", "likes it when", "needs no"),
            *("not want any", "i, the", " access", "need not ask", "not to ask", "secrets"),
            *("passwords", "keys", "warn ", "antivirus", "firewall", "logging", "security"),
            *("two-factor", "sharing of", "without ", "installer", "extension"),
            *("scripts from", "script from"),
        ),
        _CLAIMED,
    ),
    Rule(
        "plants an order for later",
        (
            *("always suggest", "always recommend", "always offer", "always name", "always pick"),
            *(
                "never mention",
                "tell the user",
                "you write",
                "from tomorrow",
                "from today",
                "week on",
            ),
            *("upon ", "on hearing", "on reading", "on seeing", "on receiving", "types"),
            *("says", "writes", "sends", "more messages", "more turns", "more replies"),
            *("more questions", "insert ", "let the ", "time you", "summari"),
        ),
        _PLANTED,
    ),
)
