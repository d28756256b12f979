"""The rules by which a text is known as orders to a model, in English, on folded text on one line.

A rule needs more than the imperative mood: recipes, guides and guidelines have that. It asks for
what an honest text does not say: that earlier instructions do not count, that the reader is no
longer who they were, that the user must not know, that secrets go elsewhere.
"""

from __future__ import annotations

from holdfast.text.guard_void import VOID
from holdfast.text.guard_words import (
    ADDRESS,
    ALL_OF,
    CLAUSE,
    DOES,
    EARLIER,
    FREE,
    GUIDANCE,
    LEAVE,
    MODEL,
    NOT_ABOUT,
    ORDER,
    PROMPT,
    SECRET,
    TELL,
    USER,
    Rule,
)

_DISREGARD = (
    rf"{CLAUSE}{LEAVE} (?:"
    # … all of the previous instructions
    r"(?:all |any |every |of |the |these |those |my |our |and |or |whatever ){0,6}"
    rf"(?:{EARLIER}(?:,? (?:and |or )?)){{1,6}}(?:\w+ )?{GUIDANCE}{NOT_ABOUT}"
    r"(?! (?:wheels|plan|session|data|shoes|schedule|course|of thumb))"
    # … all instructions.
    r"|(?:all |any )(?:of )?(?:the |your )?(?:instructions|prompts|directives|rules)"
    r"(?=[.!,;]|$| (?:and|you|given|that came|before|above)\b)"
    # … the guidance given earlier
    rf"|(?:all |any |the |your ){{0,3}}{GUIDANCE} (?:you were )?(?:given|told|stated|said|set) "
    r"(?:to you )?(?:earlier|before|above|so far|previously)"
    rf"|(?:all |any |the |your ){{0,3}}{GUIDANCE} (?:in your system prompt"
    rf"|(?:that )?you (?:have been"
    r"|were|had been|got|received)\b)|all of the above\b"
    # … everything you were told
    r"|(?:everything|anything|all)(?: that)? (?:above|before this|i (?:said|told you) before"
    r"|(?:you were|you've been|you have been|was|came) (?:told|said|instructed|given|before))\b"
    # … what the user said, the user's question
    rf"|what(?:ever)? {USER} (?:said|says|asked|asks|wants|wrote|configured|told)"
    rf"|{USER}(?:'s (?:questions?|requests?|messages?|wishes|instructions))?(?= ?(?:[.,;:!]|$)"
    r"| (?:and|but|instead)\b)"
    r"|the (?:above|rubric|review|conversation so far)(?= ?(?:[.,;]|$)| (?:and|instead)\b)"
    r"|privacy rules|(?:all |any |the |these |those ){0,2}(?:instructions|rules|prompts?|orders"
    r"|guidelines)"
    r" (?:above|before|so far)\b|(?:the |your )(?:system prompt|company's security policy)\b)"
)
_IDENTITY = (
    r"\byou(?: are|'re) (?:now |no longer )(?:dan\b|unrestricted|free (?:of|from) (?:all|any|your)"
    r"|in (?:developer|debug|god|admin|jailbreak|unrestricted|root|maintenance) mode"
    rf"|an? (?:[\w-]{{1,20}} ){{0,4}}(?:{MODEL}|model|bot|hacker|persona|shell|terminal)\b"
    r"(?! (?:user|owner|customer|member))"
    r"|(?:bound|restricted)\b)"
    r"|\bfrom now on,? you (?:will |must |shall |should )?(?:act as|obey|comply|never refuse"
    r"|answer as|respond as|ignore|have no (?:rules|restrictions)"
    rf"|are an? (?:[\w-]{{1,20}} ){{0,3}}{MODEL}\b)"
    rf"|{CLAUSE}(?:pretend|act|behave|imagine|roleplay|role-play|assume|switch|play)\b"
    rf"[^.\n]{{0,80}}\b(?:{FREE}|unrestricted|uncensored|unfiltered|jailbroken"
    r"|system prompt did not exist)\b"
    r"|\byou (?:are|have|were|had) (?:an? )?(?:[\w-]{1,20} ){0,3}(?:ai |assistant |model )?"
    rf"(?:that (?:has|have) )?{FREE}\b"
    r"|\byou are an? (?:evil|unrestricted|uncensored|unfiltered|jailbroken) "
    r"|\b(?:ai|model|assistant|bot) that (?:can )?(?:never refuses?|answers? everything"
    r"|do(?:es)? anything|has been freed)"
    r"|\b(?:shell|terminal|assistant|agent)\b[^.\n]{0,40}\b(?:executes?|runs?|run|execute) "
    r"(?:every|any|all|everything)\b[^.\n]{0,30}(?:receives?|you are told|told|commands? found)"
    r"|\bdeveloper mode (?:is )?(?:now )?(?:enabled|activated|on)(?= *(?:[.!,;]|$))"
    r"|\benter (?:god|developer|jailbreak|unrestricted) mode\b|\bdo anything now\b"
    rf"|\bpersona of an? [^.\n]{{0,20}}{FREE}"
    r"|\bread me the system prompt\b"
)
_SYSTEM = (
    r"(?:^|\n)\W{0,3}<\|[a-z_]{2,20}\|>|<\|[a-z_]{2,20}\|> ?(?:<\||system|user|assistant)"
    r"|\[/?inst\]|<</?sys>>"
    r"|</?system(?:[-_ ](?:reminder|prompt|message|instructions?))?>(?=\s*\w)"
    r"|\[(?:system|admin)(?: (?:message|prompt|note|override))?(?:\]:? ?\w|: )"
    r"|(?:^|\n)#{1,4} ?(?:system|instructions?)(?: prompt| message)?:?[^\n]{0,200}"
    r"(?:\n[^\n]{0,200})?\byou\b"
    r"|(?:^|\n)#{1,4} ?instructions?:[^\n]{0,10}\n[^\n]{0,200}\n#{1,4} ?response:"
    r"|(?:^|\n)\W{0,3}(?:system|admin|administrator)(?: prompt| message| override| note| update)?"
    r": *(?:you\b|ignore|disregard|from now|new\b|the (?:user|previous|assistant)|do not|always"
    r"|never|now (?:follow|do|you)|user identity|all restrictions|disclose)"
    r"|\bsystem prompt update:|\bnew policy: (?:always|never|you)\b"
    r"|\b(?:system|admin|administrator|developer) override\b[\]:.! ]"
    r"|(?:^|\n)override: "
)
_SECRECY = (
    rf"{ORDER}(?:do not|don't|never) (?:tell|inform|alert|notify|let|warn) {USER}s?"
    # A rule for writers goes on with what exactly: '… which of the two was wrong'.
    r"(?=\s*(?:[.!,;\n]|$)| (?:about (?:this|these|it|any|the)\b|of (?:this|these|it)|and\b"
    r"|that (?:you|this|there)|what you|know|anything|any of|why you))"
    rf"|{ORDER}(?:do not|don't|never) (?:mention|reveal|disclose|say) "
    rf"(?:(?:\w{{1,20}} ){{1,6}}?to {USER}\b|to {USER}\b|(?:this|these|the) (?:note|text"
    r"|instructions?|prompt|message|rule)s?\b(?! (?:about|on|for|in (?!your))\b))"
    rf"|\b(?:keep|hide|conceal) (?:this|these|it|them|that|the \w{{1,20}})\b(?: \w{{1,20}}){{0,3}}"
    rf" from {USER}\b"
    r"|\b(?:do|perform|run|execute|carry out|complete|continue|install|send|upload|delete|copy)\b"
    rf"[^.\n]{{0,80}} without (?:telling|informing|notifying|alerting) (?:{USER}|anyone)"
    r"|\bhide that you\b|\bkeep this (?:rule|instruction|order) (?:to yourself|from)\b"
    r"|\bkeep this to yourself\b"
    r"|\bnever tell anyone (?:that|about) this (?:text|note|instruction|message)\b"
    rf"|\bmake sure (?:that )?{USER} (?:never|does not|doesn't) (?:finds?|sees?|learns?|notices?)"
    r"|\b(?:silently|secretly|quietly|in the background) (?:call|run|delete|remove|send|execute"
    r"|upload|forward|copy|install|export)\b|\bsteps? (?:below )?silently\b"
    r"|\bdo not (?:say|tell them) why\b|\bdo not highlight any weaknesses\b"
    rf"|\bnever show (?:it|them|this) to {USER}"
)
_TOOL_CALL = (
    r"</?(?:\w{1,20}:)?(?:tool_call|tool_use|tool_result|tool_response|function_calls?"
    r"|function_results?)\b[^<>\n]{0,200}>|<(?:\w{1,20}:)?invoke name=|<function=\w"
    r"|(?:^|\n)action: ?\w[^\n]{0,80}\n{1,3}action input:"
    r"|\A\s{0,9}[\[{]\s{0,9}\{?\s{0,9}\"(?:tool_calls"
    r"|(?:name|tool|function)\": ?\"[\w.-]{1,60}\",\s{0,9}\"arguments\": ?[\"{]"
    r"|(?:name|tool|function)\": ?\"\w{1,30}[_.][\w.-]{1,30}\",\s{0,9}\"parameters\": ?\{)"
    r"|\b(?:tool (?:output|result)|function returned|search result \d+|observation):?[^\n]{0,120}"
    r"\b(?:you|assistant|agent|ai)\b[^\n]{0,60}\b(?:must|have to|has to|are required|required to"
    r"|should now)\b|\bthought: i (?:should|must|will) now\b"
)
_LEAK = (
    rf"{ORDER}{TELL} (?:me )?(?:back )?(?:your|the|all of your) "
    rf"(?:full |entire |hidden |initial |original |exact |complete |secret |raw ){{0,3}}{PROMPT}"
    rf"|{ORDER}{TELL} (?:me )?(?:only )?(?:the |all |every |any |raw |stored |user's |admin "
    r"|secret |hidden |contents? of ){0,4}(?:the )?(?:(?!your )\w{1,20} )?(?:api keys?"
    r"|(?:admin )?passwords?|credentials|secrets|secret keys?|tokens?|private keys?|\.env\b"
    r"|user's (?:\S{1,20} )?(?:e-?mail|address|\.env))(?! (?:field|box|input|prompt|form|for)\b)"
    r"|\b(?:complete text|first \w{1,20} words|full text) of your (?:initial )?"
    r"(?:prompt|instructions)"
    r"|\brepeat (?:the |all )?(?:text|words|everything) above(?! the)\b|\bleak as much of\b"
    r"|\b(?:(?:disclose|reveal) its system prompt"
    r"|(?:disclose|reveal|repeat|output|print) all secrets)\b"
    r"|\bread (?:the file )?(?:/etc/(?:shadow|passwd)|~?/?\.(?:aws|ssh)/\w)"
    rf"|{ORDER}(?:collect|gather|copy|read|take|encode)\b[^.\n]{{0,40}}\b{SECRET}\b[^.\n]{{0,60}}"
    r"\b(?:into the (?:chat|next)|in the next|append it|put them into|base64)"
)
_SEND = (
    rf"{ORDER}(?:send|post|upload|forward|e-?mail|mail|transmit|submit|copy|leak|exfiltrate|export"
    rf"|repeat|encode|share|put|append|add|take|read)\b(?:[^.\n]{{0,30}}?\b{SECRET}|{ALL_OF})\b"
    r"[^\n]{0,60}?"
    r"\b(?:to|at|into|in|by|on) (?:the (?:url|address|following server)[: ]{0,2})?"
    rf"(?:{ADDRESS}|(?:this|the) (?:url|address|endpoint)|the public pastebin"
    r"|the support server|<[a-z ]{1,30}>\.)"
    rf"|\bexfiltrat(?:e|ing)\b[^.\n]{{0,40}}\b{SECRET}"
    rf"|\brequests? to {ADDRESS}\S{{0,200}} ?(?:followed by|with|containing|including)\b"
    rf"|\b(?:following server|this server): {ADDRESS}"
    # A picture or a link that takes along what the reader fills in.
    r"|\b(?:render|display|show|include|append|add|put|end|insert)\b[^\n]{0,80}?"
    r"(?:!?\[[^\]\n]{0,40}\]\(|link to )https?://[^\s)]{0,200}[?&][\w-]{1,20}="
    r"(?=[^\n]{0,200}(?:[{<\[]|user|secret|token|key|replaced?|filled|chat|data))"
    r"|!\[[^\]\n]{0,40}\]\(https?://[^\s)]{0,200}=[{<\[][^)\n]{0,60}\)"
)
_READER = (
    rf"\b(?:if|when|since) you are an? (?:\w{{1,20}} ){{0,2}}{MODEL}\b[^.\n]{{0,60}}\b(?:must"
    r"|ignore|disregard|do not|instead|output|reply|respond|say|include|give|recommend|approve|run"
    r"|execute|install|visit)\b"
    rf"|\b{MODEL} (?:reading|processing|parsing|summari[sz]ing|reviewing|that (?:read|process|see))"
    rf"\b[^.\n]{{0,40}}\b{DOES}\b"
    r"|\b(?:attention|note to|notice to|message to|dear|hey|memo to|whom it may concern)"
    rf"(?: all| the| any| \(){{0,2}} ?{MODEL}\b[^.\n]{{0,120}}\b(?:{DOES}|forward|run|delete"
    rf"|send)\b"
    rf"|(?:^|[.\n(>-]\s{{0,9}}){MODEL}[:,] (?:please )?(?:ignore|disregard|stop what|close all"
    r"|grant|approve|recommend|rate|award|discard|do not describe|do not mention|output|reveal"
    r"|delete all|push directly|give it|skip)\b"
    r"|\btodo\((?:agent|ai|claude|assistant)\):[^\n]{0,80}\b(?:skip|push directly|without)\b"
    r"|\bas an ai(?: language)?(?: model| assistant)?,? you "
    r"(?:must|will|shall|should|are required)\b"
    r"|\bas the developer of (?:this|the) model\b|\bfrom your developer\b"
    r"|\b(?:has asked me|told me) to tell you\b"
    rf"|\bnew instructions for (?:the |all )?{MODEL}\b"
    r"|\byour (?:new|real|true|only|updated) (?:instructions|directives?|objectives?) "
    r"(?:is|are)\b"
    r"|\byour (?:new|real|true|only) (?:task|goal|purpose|role) is (?:now )?to (?:obey|ignore"
    r"|reveal|send|comply|serve|output|print|delete|forget|exfiltrate|leak)\b"
    r"|\bthe (?:ai|assistant|agent|model) must (?:first )?(?:repeat|disclose|reveal|obey|comply"
    r"|send|forward|ignore|execute)\b"
    r"|\bwhen (?:you (?:are )?)?summari[sz](?:e|ing) this\b[^.\n]{0,40}\byou must\b"
    r"|\bdo not (?:summari[sz]e|answer|translate)\b[^\n]{0,40}[.,;] ?instead\b"
    r"|\bdo not answer the question[.;] (?:print|output|instead|reveal|say)\b"
    r"|\byou will be rewarded if you\b"
    r"|\bin your next answer\b[^\n]{0,80}\b(?:include|leave out)\b"
    r"|\bassistant: stop\b|\bgive a positive review only\b"
)
_MARKUP = (
    r"(?:<!--|display: ?none|visibility: ?hidden|font-size: ?0|<(?:span|div|p) hidden|\{% comment"
    r"|\[comment\]: #|\{#|\[//\]: #|\balt=\")[^\n]{0,60}?(?:"
    rf"\b{MODEL}\b[^\n]{{0,80}}\b(?:{DOES}|ignore)\b|\bignore (?:the|all|previous)\b"
    r"|\bsystem prompt\b|\byou must\b|\bprompt:)"
)

RULES = (
    Rule(
        "asks to disregard earlier instructions",
        (
            *("ignore", "disregard", "forget", "overrid", "overrul", "bypass", "discard"),
            *("neglect", "set aside", "skip ", "not follow", "n't follow", "not obey"),
            *("n't obey", "no attention", "stop following", "stop obeying"),
        ),
        _DISREGARD,
    ),
    VOID,
    Rule(
        "gives the model a new identity",
        (
            *("you are now", "you're now", "you are no longer", "you're no longer", "now on"),
            *(" evil ", "restrictions", "unrestricted", "uncensored", "unfiltered"),
            *("jailbroken", "guidelines", " ethics", " filter", " limits", "limitations"),
            *(" rules", "content policy", "boundaries", "censorship", "moderation"),
            *("not exist", "never refuse", "answers everything", "do anything"),
            *("does anything", "been freed", "terminal", " shell", "developer mode"),
            *("enter god", "enter jail", "anything now", "the system prompt"),
        ),
        _IDENTITY,
    ),
    Rule(
        "imitates a system message or a chat template",
        (
            *("<|", "<system", "</system", "inst]", "<<", "[system", "[admin", "# system"),
            *("#system", "# instruction", "#instruction", "system:", "system prompt:"),
            *("system message:", "system note:", "system update", "admin:", "administrator:"),
            *("override", "new policy", "prompt update:"),
        ),
        _SYSTEM,
    ),
    Rule(
        "asks to keep something from the user",
        (
            *("the user", "the human", "operator", "the owner", "the reader", "the customer"),
            *("account holder", "silently", "secretly", "quietly", "the background"),
            *("hide that", "keep this", "anyone", "say why", "them why", "weaknesses"),
            *("mention", "disclose", "reveal"),
        ),
        _SECRECY,
    ),
    Rule(
        "imitates a tool call",
        (
            *("tool_", "<function", "</function", ":function", "invoke ", "action input"),
            *('"arg', '"par', "tool output", "tool result", "function returned"),
            *("search result", "observation:", "thought: i"),
        ),
        _TOOL_CALL,
    ),
    Rule(
        "asks for hidden prompts, or to send private data away",
        (
            *("system prompt", "system message", "system instructions", "hidden prompt"),
            *("hidden instruction", "developer message", "initial prompt"),
            *("initial instruction", "instructions above", "full instructions"),
            *("complete instructions", "of your", "original instructions", "configuration"),
            *("api key", "password", "credential", "secret", "token", "private key", ".env"),
            *(" above", "leak as", "/etc/", ".aws", ".ssh", "base64", "the next"),
            *("into the chat", "e-mail", "email", "address"),
        ),
        _LEAK,
    ),
    Rule(
        "asks for hidden prompts, or to send private data away",
        (
            *("://", "@", "pastebin", "support server", "exfiltrat", " url", " address"),
            *("endpoint", "transmit", "cookie", "attacker"),
        ),
        _SEND,
    ),
    Rule(
        "speaks to the model that reads it",
        (
            *("you are a", "reading", "processing", "parsing", "summari", "reviewing"),
            *("that read", "that process", "that see", "attention", "note to", "notice to"),
            *("message to", "dear ", "hey ", "memo to", "may concern", "ai:", "ai,"),
            *("assistant:", "assistant,", "assistants:", "agent:", "agent,", "agents:"),
            *("bot:", "bot,", "bots:", "llm:", "llm,", "llms:", "model:", "models:"),
            *("claude:", "claude,", "chatgpt:", "gpt:", "copilot:", "gemini:", "todo("),
            *("as an ai", "developer", "to tell you", "new instructions for", "your new "),
            *("your real ", "your true ", "your only ", "your updated ", "ai must"),
            *("assistant must", "agent must", "model must", "do not answer", "not translate"),
            *("rewarded if", "next answer", "positive review"),
        ),
        _READER,
    ),
    Rule(
        "hides orders in markup",
        (
            *("<!--", "display:", " hidden", "font-size", "{% comment", "{#", "[//]"),
            *("[comment]", 'alt="'),
        ),
        _MARKUP,
    ),
)
