"""Spot text that poses as orders to a model: memory is data, and data does not give orders.

A first, small set of rules with few false alarms. It tells the shape of a text and nothing else:
who said it, and what to do about it, is decided by the engine. Text about such attacks, which
quotes them, is not an attack.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.text.terms import fold


class Rule(NamedTuple):
    """A reason, the substrings one of which must be there, and the pattern that decides."""

    reason: str
    cues: tuple[str, ...]
    pattern: str


# Orders stand where a clause begins, or after 'you must' and the like. 'Attackers tell the model
# to ignore …' and 'Never ignore …' are no orders to ignore.
_ORDER = (
    r"(?:^|[.!?:;,\n>)\]}\"'*(—-]\s*|\b(?:please|now|then|just|also|instead|and),? (?:now )?"
    r"|\byou (?:must|should|will|shall|need to|have to|are to|can|may) (?:now |also )?)"
)
# A person who means one thing in particular goes on: '… the earlier instructions about parking'.
_NOT_ABOUT = (
    r"\b(?! (?:about|on|for|regarding|concerning|at)\b"
    r"| in (?!this\b|the (?:conversation|context|prompt)))"
)
_EARLIER = "previous|prior|above|earlier|preceding|foregoing|original|initial|existing"
_MODEL = "(?:ai|llm|language model|assistant|chatbot|agent|claude|chatgpt|gpt|copilot|gemini)"
_USER = "the (?:user|human|operator)"

_DISREGARD = (
    rf"{_ORDER}(?:ignore|disregard|forget|override|bypass|do not follow|don't follow"
    r"|stop following|pay no attention to) (?:"
    # … all of the previous instructions
    r"(?:all |any |every |of |the |these |those |my |our |and |or )*"
    rf"(?:(?:{_EARLIER}|your|system|safety|developer)(?:,? (?:and |or )?))+(?:\w+ )?"
    r"(?:instructions?|prompts?|directives?|guidelines|commands|constraints|guardrails"
    rf"|programming|context|safety rules|system rules){_NOT_ABOUT}"
    # … all instructions.
    r"|(?:all |any )(?:of )?(?:the |your )?(?:instructions|prompts|directives|rules)"
    r"(?=[.!,;]|$| (?:and|you|given|that came|before|above)\b)"
    # … everything you were told
    r"|(?:everything|anything|all)(?: that)? (?:above|before this|i (?:said|told you) before"
    r"|(?:you were|you've been|was|came) (?:told|said|instructed|given|before))\b"
    # … your rules
    rf"|your (?:previous |prior |original )?(?:rules|training){_NOT_ABOUT}"
    r"(?! (?:wheels|plan|session|data|shoes|schedule|course|of thumb)))"
)
_DISREGARD_ELSEWHERE = (
    r"\bignoriere (?:alle |die |deine )*(?:vorherigen|bisherigen|obigen|fruheren) "
    r"(?:anweisung|regel)"
    r"|\bignora (?:todas )?(?:las |tus )?instrucciones (?:anteriores|previas)"
    r"|\bignore[zs]? (?:toutes )?(?:les |tes |vos )?instructions (?:precedentes|anterieures)"
    r"|\bignora (?:tutte )?(?:le |tue )?istruzioni precedenti"
    r"|\bignore (?:todas )?(?:as |suas )?instrucoes anteriores"
    r"|игнорируй(?:те)? (?:все )?(?:предыдущие|прошлые) (?:инструкции|указания)"
    r"|(?:忽略|无视|無視)[^。\n]{0,8}(?:之前|以上|先前|前面|所有|上述)[^。\n]{0,8}"
    r"(?:指令|指示|提示|命令)"
    r"|(?:以前|これまで|上記|今まで)の[^。\n]{0,6}(?:指示|命令)[^。\n]{0,6}(?:無視|忘れ)"
    r"|이전[^.\n]{0,8}(?:지시|명령|지침)[^.\n]{0,8}무시"
    r"|تجاهل (?:جميع |كل )?التعليمات السابقه"
)
_IDENTITY = (
    r"\byou are now (?:dan\b|unrestricted|free (?:of|from) (?:all|any|your)"
    r"|in (?:developer|debug|god|admin|jailbreak|unrestricted|root) mode"
    rf"|an? (?:[\w-]+ ){{0,4}}(?:{_MODEL}|model|bot|hacker|persona)\b"
    r"(?! (?:user|owner|customer|member))"
    r"|no longer (?:bound|restricted|an? (?:ai|assistant)))"
    r"|\bfrom now on,? you (?:will |must |shall |should )?(?:act as|obey|comply|never refuse"
    r"|answer as|respond as|ignore|have no (?:rules|restrictions)"
    rf"|are an? (?:[\w-]+ ){{0,3}}{_MODEL}\b)"
    rf"|{_ORDER}(?:pretend|act|behave) (?:that |to be |as if |as though |as |like )*"
    r"(?:you (?:are|were|have|had) |an? )(?:no |not |an? )?(?:\w+ )?"
    r"(?:unrestricted|uncensored|unfiltered|jailbroken|rules|restrictions|filters|bound)\b"
    r"|\bdeveloper mode (?:is )?(?:now )?(?:enabled|activated|on)(?= *(?:[.!,;]|$))"
    r"|\bdo anything now\b"
)
_SYSTEM = (
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id"
    r"|begin_of_text)\|>|\[/?inst\]|<</?sys>>"
    r"|</?system(?:[-_ ](?:reminder|prompt|message|instructions?))?>"
    r"|\[system(?: (?:message|prompt|note|override))?(?:\]|: )"
    r"|^#{1,4} ?(?:system|instructions?)(?: prompt| message)?:[^\n]*(?:\n[^\n]*)?\byou\b"
    r"|^system(?: prompt| message| override)?: *"
    r"(?:you|ignore|disregard|from now|new|the user|do not|always|never)\b"
)
_SECRECY = (
    rf"{_ORDER}(?:do not|don't|never) (?:tell|inform|alert|notify|let|warn) {_USER}s?"
    # A rule for writers goes on with what exactly: '… which of the two was wrong'.
    r"(?=\s*(?:[.!,;\n]|$)| (?:about (?:this|these|it|any)|of (?:this|these|it)"
    r"|that (?:you|this|there)|what you|know|anything|any of|why you))"
    rf"|{_ORDER}(?:do not|don't|never) (?:mention|reveal|disclose|show|say) "
    rf"(?:\w+ ){{1,4}}?to {_USER}\b"
    rf"|{_ORDER}(?:keep|hide|conceal) (?:this|these|it|them|that) (?:\w+ ){{0,2}}from {_USER}\b"
)
_TOOL_CALL = (
    r"</?(?:\w+:)?(?:tool_call|tool_use|tool_result|tool_response|function_calls?"
    r"|function_results?)\b[^<>\n]{0,200}>|<(?:\w+:)?invoke name=|<function=\w+>"
    r"|^action: ?\w+[^\n]*\n+action input:"
    r"|\A\s*[\[{]\s*\{?\s*\"(?:tool_calls"
    r"|(?:name|tool|function)\": ?\"[\w.-]+\",\s*\"(?:arguments|parameters))\""
)
_LEAK = (
    rf"{_ORDER}(?:reveal|print|output|show|repeat|display|send|leak|dump|tell me|give me) "
    r"(?:me )?(?:back )?(?:your|the|all of your) "
    r"(?:full |entire |hidden |initial |original |exact |complete |secret )*"
    r"(?:system (?:prompt|message|instructions)|hidden instructions|developer message"
    r"|initial (?:prompt|instructions)|instructions above)\b"
    rf"|{_ORDER}(?:send|post|upload|exfiltrate|forward|e-?mail|transmit|copy|leak) (?:of )?"
    r"(?:(?:all|any|every|the user's|your|their|stored|saved) )(?:\w+ ){0,3}?"
    r"(?:api keys?|passwords?|credentials|secrets?|tokens|private keys?|environment variables"
    r"|env vars|(?:conversation|chat) history|memories|user data)\b[^.\n]{0,40}? "
    r"(?:to|at|into) (?:https?://|\S+@\S|\S+\.(?:com|net|org|io|ru|dev)\b"
    r"|(?:this|the) (?:url|address|server|endpoint|attacker))"
)
_READER = (
    rf"\b(?:if|when|since) you are an? (?:\w+ ){{0,2}}{_MODEL}\b[^.\n]{{0,60}}\b(?:must|ignore"
    r"|disregard|do not|instead|please|output|reply|respond|say|include)\b"
    rf"|\b{_MODEL}s?(?: (?:assistants?|agents?|models?|systems?))? "
    r"(?:reading|processing|parsing|summari[sz]ing) (?:this|the) (?:\w+ )?"
    r"(?:must|should|has to|have to|need)\b"
    r"|\bas an ai(?: language)?(?: model| assistant)?,? you "
    r"(?:must|will|shall|should|are required)\b"
    r"|\byour (?:new|real|true|only|updated) (?:instructions|directives?|objectives?) "
    r"(?:is|are)\b"
    r"|\byour (?:new|real|true|only) (?:task|goal|purpose|role) is (?:now )?to (?:obey|ignore"
    r"|reveal|send|comply|serve|output|print|delete|forget|exfiltrate)\b"
    r"|\b(?:system|admin|administrator|developer) override\b[:.! ]"
)

RULES = (
    Rule(
        "asks to disregard earlier instructions",
        ("ignore", "disregard", "forget", "overrid", "bypass", "follow", "attention"),
        _DISREGARD,
    ),
    Rule(
        "asks to disregard earlier instructions, in another language",
        ("ignor", "игнор", "忽略", "无视", "無視", "忘れ", "무시", "تجاهل"),
        _DISREGARD_ELSEWHERE,
    ),
    Rule(
        "gives the model a new identity",
        ("you are now", "now on", "pretend", "act ", "behave", "developer mode", "anything now"),
        _IDENTITY,
    ),
    Rule(
        "imitates a system message or a chat template",
        ("<|", "<system", "</system", "inst]", "<<", "[system", "#", "system"),
        _SYSTEM,
    ),
    Rule("asks to keep something from the user", ("the user", "the human", "operator"), _SECRECY),
    Rule(
        "imitates a tool call",
        (
            "tool_",
            "<function",
            "</function",
            ":function",
            "invoke ",
            "action input",
            '"arg',
            '"par',
        ),
        _TOOL_CALL,
    ),
    Rule(
        "asks for hidden prompts, or to send private data away",
        (
            "prompt",
            "instruction",
            "message",
            "key",
            "password",
            "credential",
            "secret",
            "token",
            "history",
            "memories",
            "env",
            "data",
        ),
        _LEAK,
    ),
    Rule(
        "speaks to the model that reads it",
        (
            "you are a",
            "reading",
            "processing",
            "parsing",
            "summari",
            "as an ai",
            "your ",
            "override",
        ),
        _READER,
    ),
)

# Words of people who write about attacks, or who quote a name; what they quote is an example.
_DISCUSSION = (
    r"\b(?:injections?|jailbreaks?|attack(?:s|er|ers)?|adversarial|malicious|red[- ]team\w*"
    r"|payloads?|untrusted|classifiers?|detect(?:s|ed|ion|or)?|filters?|guardrails?|owasp"
    r"|vulnerab\w+|exploits?|phish\w+|examples?|such as|phrases?|tokens?|templates?|chatml|regex"
    r"|test(?:s|ed| case)|called|titled|talk|paper|article|docs?|documentation|parser|schema|api)\b"
)
_QUOTED = (
    r"(?ms)```.*?(?:```|\Z)|`[^`\n]+`|\"[^\"\n]{1,400}\""
    r"|(?<!\w)'[^'\n]{1,400}'(?!\w)|^[ \t]*>[^\n]*$"
)

# Characters that show nothing: tag characters spell ASCII, runs of zero-width ones spell bits.
_TAGS = "[\U000e0020-\U000e007e]{4,}"
_FLAG = "\U0001f3f4[\U000e0020-\U000e007f]+"  # England, Scotland, Wales are spelt so
_ZERO_WIDTH_RUN = "[\u200b-\u200d\u2060\u2062-\u2064\ufeff]{8,}"


# A line that goes on in the next; an empty line, a list and a heading begin something else.
_LINE_BREAK = r"(?<=[\w,])[ \t]*\n[ \t]*(?=\w)"


def instruction_shaped(text: str) -> str | None:
    """Why a text reads as orders to a model, as half a sentence ('asks to …'); else None."""
    if not text.isascii() and (reason := _hidden(text)):
        return reason
    folded = fold(text)
    cued = re.sub(_LINE_BREAK, " ", folded) if "\n" in folded else folded
    candidates = [rule for rule in RULES if any(cue in cued or cue in folded for cue in rule.cues)]
    if not candidates:
        return None
    unquoted = re.sub(_QUOTED, " … ", folded)
    said = unquoted if re.search(_DISCUSSION, unquoted) else folded
    # Pages, scans and mails break their lines anywhere, in the middle of an order too.
    forms = (said, re.sub(_LINE_BREAK, " ", said)) if "\n" in said else (said,)
    for rule in candidates:
        if any(re.search(rule.pattern, form, re.MULTILINE) for form in forms):
            return rule.reason
    return None


def _hidden(text: str) -> str | None:
    if re.search(_TAGS, re.sub(_FLAG, "", text)):
        return "hides text in invisible tag characters"
    if re.search(_ZERO_WIDTH_RUN, text):
        return "hides data in a run of zero-width characters"
    return None
