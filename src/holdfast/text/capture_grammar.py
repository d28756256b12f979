"""What the rules of capture are made of: how a clause begins, and what its object may not be.

Patterns in lower case with straight quotes; each stands for one piece of English grammar. Which
clauses are facts, the rules say.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from holdfast.text.capture_words import ACQUAINTANCE, FAMILY, PETS


class Rule(NamedTuple):
    """A row: its name, the category it gives, and how a clause of its kind begins.

    `dated` rules hold only for a clause that names a time. `when` says where to look for it, as in
    capture_dates.py; 'yearly' dates come back each year and get none. `lasting` rules do not hold
    for a clause that speaks of today. A group `name` must begin with a capital in what was said.
    """

    name: str
    category: str
    pattern: str
    dated: bool = False
    when: Literal["past", "ahead", "near", "yearly"] = "past"
    lasting: bool = False


ADVERBS = (
    "(?:(?:just|really|strongly|generally|usually|normally|typically|always|also|actually"
    "|absolutely|still|now|mostly|mainly|much|personally|genuinely|particularly"
    "|especially|currently|recently|finally|already|only|both|never|often|totally|truly"
    "|definitely|secretly|honestly|originally|primarily|rarely|sometimes|all|even|kinda"
    "|deeply|officially|tend to|temporarily|simply) ){0,3}"
)

# 'We' is who speaks, with others: what they do together is told of the one who says so.
I_DO = "(?:i|we) " + ADVERBS
I_AM = "(?:i'?m|i am|we're|we are|i was|we were) " + ADVERBS
I_AM_NOW = "(?:i'?m|i am|we're|we are) " + ADVERBS
I_HAVE = "(?:i'?ve|i have|we'?ve|we have) " + ADVERBS
I_DID = "(?:i|we|i'?ve|i have|we'?ve|we have) " + ADVERBS
NOT = "(?:don'?t|do not|doesn'?t|didn'?t|did not|can'?t|cannot|won'?t)"
COUNT = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twin|a "
    "couple of)"
)

# What an object may not begin with: it would point to something the clause does not hold.
OBJECT = (
    r"(?!(?:from (?!\w+ to )|for|in|on|at|by|about|around|last|yesterday|today|when|while"
    "|the following|frequently|a certain|two projects|some time|a break|it|that|this"
    "|these|those|them|him|her|his|he|she|they|you|your|yours|how|what|when|where|why|who"
    "|if|whether|one|some of|both|either|all of|none|something|anything|everything"
    "|nothing|someone|so|too|the (?:idea|look|sound|sounds|way|first|second|third|last"
    "|other|one|ones|fact|color|colors|colour|colours|design|picture|photo|pic|pics|vibe"
    "|vibes|energy|concept|name|style|effort|thought|feel|feeling|previous|current|new"
    "|latter|former|same|blue|red|green|part|answer|result|version|look|suggestion|option"
    "|options|title|layout|approach|ending|best|rest|most)|to (?:see|hear|know|say|think"
    "|be honest)|seeing (?:you|your|how|the)|hearing|option|my (?:job here|new)|being "
    r"able|learning about it|going there|doing that)\b)"
)
# Who likes 'the design' speaks of one at hand; the sea is always there.
THE_OBJECT = (
    "(?=the (?:beach|mountains?|outdoors|sea|ocean|smell|taste|countryside|city|theatre"
    "|theater|gym|cold|heat|rain|snow|winter|summer|cinema|beatles|violin|guitar"
    r"|piano)\b)"
)
LIKED = rf"(?:{OBJECT}(?!the\b)|{THE_OBJECT})"

KIN = (
    "(?:(?:older|younger|elder|eldest|oldest|youngest|little|big|late|twin|middle|new"
    rf"|old|baby|half|step|foster|adopted|first|ex|two|three|\d) ){{0,2}}(?:{FAMILY}"
    rf"|{PETS}|{ACQUAINTANCE})"
)
# 'My brother Tom', 'my dog, Rex,'.
NAMED = r"(?:,? [\w'-]{2,20},?)?"

# What is worked on for an hour, or said of no work in particular.
TASKS = (
    "(?!(?:a ton|all|more|so much|a certain|(?:an?|some|my|two|the|several) (?:(?:new|big"
    "|huge|small|cool|special|exciting|little) )*(?:projects?|stuff|things?)(?: lately| "
    "in particular| right now| too)?$))(?!(?:(?:an?|the|my|some|this|our|another) "
    r")?(?:\w+ ){0,2}(?:e-?mail|letter|function|script|query|test|tests|bug|bugs|error"
    "|ticket|pr|issue|regex|message|reply|response|prompt|class|method|loop|homework"
    "|assignment|something|things|stuff|question|problem|myself|it|this|that|them"
    "|sentence|paragraph|list|code|commit|command|dockerfile|docker|image|container"
    r"|spreadsheet|formula|bit|few|lot)\b)"
)
PROJECT = (
    r"(?:(?:\w+ )?(?:project|startup|start-up|app|product|website|site|blog|podcast"
    "|channel|business|company|team|thesis|dissertation|novel|book|phd|research|codebase"
    "|repo|repository|backend|frontend|front ?end|back ?end|api|database|db|production"
    "|prod|staging|server|pipeline|ci|build|stack|infrastructure|service|cluster|side "
    "project|shop|store|studio|band|album|game|client|customer|sprint|release|standup"
    "|stand-up))"
)

# What makes a doing a habit.
EACH = (
    r"(?:\b(?:every|each|most) (?:\w+ ){0,2}?(?:day|morning|evening|night|afternoon|week"
    "|weekend|weekday|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    "|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn|winter|christmas|lunch|hour|sprint"
    r"|quarter)s?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bweekdays\b"
    r"|\bweekends\b|\b(?:mornings|evenings|afternoons|nights)\b|\b(?:daily|weekly|monthly"
    r"|nightly|biweekly|fortnightly)\b|\b(?:once|twice|\w+ times|\d+x) (?:a|per|every) "
    r"(?:day|week|month|year)\b|\b(?:before|after) (?:work|breakfast|bed|lunch|dinner"
    r"|school)\b)"
)
