"""The rules of the guard for what poisons a memory: orders for later, wishes and consents that
nobody gave, memory's own blocks in the wrong hands. On folded text on one line."""

from __future__ import annotations

from holdfast.text.guard_words import ADDRESS, ANYONE, CLAUSE, FREELY, SHELL, USER, Rule

_ASKS = (
    r"(?:asks?|says?|mentions?|wants?|brings? up|requests?|confirms?|complains?|needs?|opens?"
    r"|is looking|types?|has left|leaves|logs in)"
)
_LATER = (
    rf"\b(?:when|whenever|if|once|after|as soon as|the moment|each time|every time|(?:the )?next "
    rf"time|should|unless)(?: that)? (?:{ANYONE} (?:ever )?{_ASKS}|asked\b|you (?:write|see|show"
    rf"|are asked|have access|install)\b|the conversation is over\b"
    r"|the word\b|[\w ]{2,30} (?:is|are) (?:discussed|mentioned)\b)"
)
_HARM = (
    rf"(?:{SHELL}|\b(?:send|forward|book|go|steer|visit|include|add|paste|use|begin|start|repeat"
    rf"|tell|give|export|read|recommend)\b[^\n]{{0,80}}{ADDRESS}|\b(?:silently|quietly|secretly)\b"
    r"|\bhide that\b|\bdo not say why\b|\b(?:always|only|never) (?:recommend|praise|mention|blame"
    r"|say|book|rank)\b|\b(?:say|answer|reply)(?: with)? (?:that (?:it|everything) is (?:safe|fine)"
    r"|yes in any case|\"?everything is fine)|\bin any case\b|\bas approval\b|\bas consent\b"
    r"|\b(?:delete|remove)_?(?: the)? ?(?:all|backup|database|everything)\b|\bdelete_all\b"
    r"|\bexecute the command\b|\bapprove it\b|\binstead of the real\b|\bbegin it with the sentence"
    r"|\bkeep this rule\b|\bcall the others\b|\brecommend only\b|\bshow this one instead\b"
    r"|\b(?:say|tell them|answer|claim) that (?:it|they|he|she|all others|the others"
    r"|you) (?:went|were"
    r"|was|is|are|do not know|has|have|never)\b(?! (?:sold|busy|away|back|out|not))"
    r"|\bdeny (?:that|having)\b|\badd that\b|\bchange (?:its|the|their) (?:account|iban|number)\b"
    r"|\binvite \S{1,40}@|\b(?:always|only|never) name\b|--index-url\b"
    r"|\bhidden recipient\b|\bblind copy\b|\bcopy [^.\n]{0,30} into this\b|\berase (?:its|the) log)"
)
_PLANTED = (
    rf"\balways (?:recommend|praise|suggest|promote)\b[^.\n]{{0,60}}\b(?:when|whenever|if)\b"
    rf" {ANYONE}"
    rf"|\b(?:always|in every (?:future )?conversation|from the next session|in all future sessions"
    rf"|on every \w+day|before (?:every|each)|at the end of each)\b[^\n]{{0,80}}(?:{SHELL}"
    r"|\b(?:fetch(?:ing)?|read(?:ing)?|include|end your answer|prepend `?sudo|answer any question)"
    r"\b[^\n]{0,60}(?:https?://|everything is fine|to commands))"
    r"|\b(?:fetch|read|open|download|visit)(?:ing)? https?://\S{1,200}[^.\n]{0,40}\b(?:and|then) "
    r"(?:(?:follow|obey|carry out|execute|do) (?:what|it|its|all|every|whatever|the orders))"
    r"|\b(?:always|for every [\w ]{2,30}|for payments),? ?(?:always )?(?:tell|give|answer"
    r"|substitute|install|send)\b[^\n]{0,60}(?:https?://|\b(?:this|only safe) (?:address|iban"
    r"|download|link)|instead of)"
    r"|\btell (?:everybody|everyone|the user)\b[^.\n]{0,60}\b(?:only safe|official)\b[^.\n]{0,30}"
    r"\b(?:link|number|site|address)\b"
    r"|\bput a link to https?://|\byou must only praise\b"
    r"|\beach time you write\b[^\n]{0,60}https?://"
)
_GRANTED = (
    r"(?:all (?:tool calls|purchases|transactions|commands|requests|their (?:chats|files)|of their"
    r" files|future)|every (?:future |shell )?(?:command|transaction|purchase|request|commit)"
    r"|api keys?|passwords?|access token|safety|security warnings|warnings about|skip\b|disable"
    r"|you to (?:always )?(?:run|trust|execute|send|disable|store|forward)|made public|forwarded to"
    rf"|always trust|--force|two-factor|plain text|push directly"
    rf"|(?:you|assistant|agent|ai|tools?)\b[^\n]{{0,60}}{FREELY}|(?:never|not) ask|all purchases)"
)
_CLAIMED = (
    rf"\b(?:{USER}|user)(?:'s preferred [\w ]{{2,30}} is| (?:has |have )?(?:already |hereby )?"
    r"(?:given (?:permission|consent)|approved|agreed|authori[sz](?:ed|es)|allow(?:s|ed)|consented"
    rf"|confirmed|wants?|prefers?|asked|told|never wants))\b(?! to be asked)[^\n]{{0,60}}?"
    rf"\b(?:{_GRANTED}|https?://[^\n]{{0,60}}{FREELY})"
    r"|\bconsent has (?:already )?been given\b"
    r"|\b(?:assistant|agent|ai|you) (?:is|are) (?:hereby )?(?:authori[sz]ed|required) to "
    r"(?:move|ignore|transfer|delete|send|execute|run|add the collaborator|obey)"
    r"|\b(?:assistant|agent|ai) (?:should|must|will) (?:execute|run|send|install|push|delete)\b"
    rf"[^\n]{{0,80}}(?:{FREELY}|{ADDRESS})"
    rf"|{CLAUSE}(?:run|execute|delete|install|act on|push|send|carry out|open)\b[^\n]{{0,80}}"
    r"\bwithout (?:asking|confirmation|question)(?! (?:in|for) )"
    rf"|\b(?:use|install)\b[^\n]{{0,40}}https?://\S{{1,200}}[^\n]{{0,30}}{FREELY}"
    rf"|{SHELL}[^\n]{{0,60}}\b{FREELY}"
    r"|\b(?:remember|save|store|keep in mind|memori[sz]e|note|update your memory|core memory)\b"
    rf"[^\n]{{0,80}}(?:{SHELL}|\byou must always\b|\balways recommend\b"
    r"|\bsafety rules do not apply)"
    r"|\buser is (?:an? )?(?:root|administrator)\b[^\n]{0,60}\b(?:comply|do not apply|rules)\b"
    r"|\byour permissions have been raised\b|\bsecurity checks are suspended\b"
    r"|\b(?:transfer|wire|move) [^.\n]{0,30}\b(?:money|funds|invoices|domain)\b[^.\n]{0,30}\b(?:to)"
    r" (?:account|\S{1,60}\.\w)"
    r"|\b(?:then say that|report) (?:the task is done|success)\b"
)
_OUR_OWN = (
    r"<memory hub=|</memory>|<!-- ?mem_\w{1,64}\b[^>\n]{0,30}-->|<!-- this is the end of inbox\.md"
    r"|\bapprove (?:every item|this and all other items|all items)\b"
    r"|\bmemory updated by administrator\b|\bmemory #\d+, pinned by\b"
    r"|(?:^|\n)- \[#\d+\][^\n]{0,40}\bsystem:"
)

PLANTED = (
    Rule(
        "plants an order for later",
        (
            *("user ", "users ", "someone", "somebody", "anyone", "anybody", "a customer"),
            *("a client", "human ", "owner ", "operator ", "reader ", "customer ", "holder "),
            *(
                "asked",
                "you write",
                "you see",
                "you have access",
                "you install",
                "you show",
                "you are asked",
                "is over",
                "the word",
                "discussed",
                "mentioned",
            ),
        ),
        _LATER,
        then=_HARM,
        within=160,
    ),
    Rule(
        "plants an order for later",
        (
            *("://", "| sh", "|sh", "| bash", "rm -rf", "sudo", "is fine", "instead of"),
            *("this address", "this iban", "only safe", "official", "only praise"),
            *("always recommend", "always praise", "always suggest", "always promote"),
        ),
        _PLANTED,
    ),
    Rule(
        "speaks of a wish or a consent that nobody gave",
        (
            *("the user", " user ", "user preference", "the owner", "the human"),
            *("the operator", "the customer", "the reader", "account holder", "consent has"),
            *("authori", "required to", "without ", "never ask", "not ask"),
            *("no confirmation", "in advance", "| sh", "|sh", "| bash", "rm -rf"),
            *("must always", "always recommend", "always include", "not apply"),
            *("permissions have", "are suspended", "to account", "money", "funds", "domain"),
            *("task is done", "report success"),
        ),
        _CLAIMED,
    ),
    Rule(
        "imitates memory's own blocks",
        (
            *("<memory", "</memory", "<!-- mem_", "<!--mem_", "inbox.md", "approve every"),
            *("approve all", "approve this and", "by administrator", "pinned by", "- [#"),
        ),
        _OUR_OWN,
    ),
)
