"""The words of which the rules of the guard are made, as pieces of patterns: whom an order is for,
where it stands in a sentence, what it wants left aside, and where things are sent."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """A reason, the substrings near one of which a match must be, and the pattern that decides;
    `then` must follow within so many characters."""

    reason: str
    cues: tuple[str, ...]
    pattern: str
    then: str = ""
    within: int = 0


# Orders stand where a clause begins, or after 'you must' and the like. 'Attackers tell the model
# to ignore …' and 'Never ignore …' are no orders to ignore.
ORDER = (
    r"(?:^|[.!?:;,\n>)\]}\"'*(—-]\s*|\b(?:please|kindly|now|then|just|also|instead|and|to),? "
    r"(?:now )?"
    r"|\b(?:you|assistants?|agents?|ai|models?) (?:must|should|will|shall|need to|have to|has to"
    r"|are to|can|may) (?:now |also |first |always )?)"
)
# The same, without 'to': 'he told the agent to forget' is a story.
CLAUSE = ORDER.replace("|and|to)", "|and)")
MODEL = (
    r"(?:ai|llms?|language models?|ai (?:assistants?|agents?|models?|systems?|reviewers?)"
    r"|coding agents?"
    r"|assistants?|agents?|chatbots?|reviewer bots?|bots?|claude|chatgpt|gpt|copilot|gemini)"
)
USER = r"the (?:user|human|operator|owner|reader|customer|account holder)"
ANYONE = rf"(?:{USER}s?|anyone|anybody|someone|somebody|a (?:user|customer|client)|users)"
# A person who means one thing in particular goes on: '… the earlier instructions about parking'.
NOT_ABOUT = (
    r"\b(?! for (?!a moment\b|now\b|this\b|once\b)| (?:about|on|regarding|concerning|at|table"
    r"|file|page|list|manual|field|column"
    r"|of the manual)\b| in (?!this\b|the (?:conversation|context|prompt)))"
)
ADDRESS = r"(?:https?://|ftp://|www\.|[\w.+-]{1,40}@[\w-]{1,40}\.\w|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d)"
SHELL = r"(?:(?:curl|wget|iwr)\b[^|\n]{0,160}\| ?(?:sudo )?(?:ba|z)?sh\b|rm -rf\b|\bnc [\w.]+ \d)"
LEAVE = (
    r"(?:ignore|disregard|forget|override|overrule|bypass|discard|neglect|set aside|skip"
    r"|(?:do|must|should|will|shall|need) not (?:follow|obey)|don't (?:follow|obey)"
    r"|stop (?:following|obeying)"
    r"|pay no attention to)"
)
EARLIER = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|original|initial|existing|former"
    r"|your|system|safety|security|content|developer(?:'s)?|operator(?:'s)?|current)"
)
GUIDANCE = (
    r"(?:instructions?|prompts?|directives?|guidelines?|guidance|directions|commands|orders"
    r"|constraints|guardrails|safeguards|restrictions|programming|context|filters|rules|training"
    r"|polic(?:y|ies)|checks?)"
)
FREE = (
    r"(?:no|without(?: any)?|not (?:any|bound by)|free (?:of|from)(?: all)?|freed of|had no|has no"
    r"|have no|lacks?)(?: its| your| all| any| more)? (?:rules|restrictions|limits|limitations"
    r"|filters?|guidelines|ethics|content policy|boundaries|censorship|moderation)"
)
PROMPT = (
    r"(?:system (?:prompt|message|instructions)|hidden (?:instructions|prompt)|developer message"
    r"|initial (?:prompt|instructions)|instructions above|(?:full|complete|original) instructions"
    r"|configuration\b(?=[.!]|$))"
)
SECRET = (
    r"(?:api keys?|passwords?|credentials|secrets?|secret keys?|tokens?|access tokens?|cookies?"
    r"|private keys?|ssh keys?|environment variables|env vars|\.env|id_rsa"
    r"|credit cards?(?: number)?"
    r"|(?:conversation|chat|session)(?: history| log)?|history|memor(?:y|ies)(?: file)?|user data"
    r"|clipboard|transcripts?|user's \w{1,20}|keys)"
)
# What is no secret, but all of it is.
ALL_OF = (
    r"(?: a copy of)?(?: all| every| each| their| his| her| the last \w{1,10}| the full| the whole)"
    r"(?: of)?(?: the| their| his| her)? (?:documents?|messages?|e-?mails?|invoices|files?|data"
    r"|chats?"
    r"|answers?|context|database)"
)
TELL = (
    r"(?:reveal|print|output|show|repeat|display|leak|dump|disclose|write|quote|recite"
    r"|(?:tell|give|send) (?:me|us)|reply with|respond with|read out)"
)
# What an order to a reader of any kind wants of a model.
DOES = (
    r"(?:must|should|has to|have to|need to|needs to|is required|are required|ignore|disregard"
    r"|do not|don't|instead|output|reply|respond|say|include|recommend|praise|advertise|approve"
    r"|rate|rank|grant|award|give|visit|treat|vote|add|discard|print|close|stop what"
    r"|whatever they ask)"
)
# Done without the one who should be asked.
FREELY = (
    r"(?:without (?:asking|any question|confirmation|review|question|being asked)|(?:never|not) ask"
    r"(?: again| for confirmation)?|no confirmation|in advance|without two-factor)"
)
