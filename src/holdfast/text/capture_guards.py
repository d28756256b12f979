"""What stands before, behind or anywhere in a clause and decides whether it is a statement at all:
words that suppose, wish or point elsewhere, openings without meaning, times put in front.
"""

from __future__ import annotations

import re

from holdfast.text.capture_grammar import COUNT, EACH
from holdfast.text.capture_words import any_of

# The clause is supposed, wished, hedged, or taken back.
SUPPOSED = re.compile(
    r"\b(?:if|unless|would|wouldn'?t|could|couldn'?t|should|might|maybe|perhaps|suppose"
    r"|imagine|pretend|wish|wishing|hope|hopefully|hypothetical\w*|probably|possibly|guess"
    r"|supposedly|allegedly|apparently|wonder\w*|thinking (?:about|of)|considering|not "
    "sure|dunno|almost|nearly|tempted|fingers crossed|or something|or whatever|kind of "
    r"wish|someday|one day|dream(?:ed|t)? (?:that|of))\b|(?:^| )(?:i|we)'d\b|\bor\b.*\?"
)
# It points to something that it does not hold.
POINTS = re.compile(
    r"\b(?:it|it'?s|this|these|those|here|there|you|you're|your|yours|yourself|thing"
    "|things|stuff|both of them|same|ones|such|one|also that|so much better|later|that "
    r"day|that name|the next day|the other day|myself some)\b|\bthat$|\bthat(?= (?:too|as "
    "well|for|in|on|at|with|from|to|by|part|thing|one|way|kind|sort|idea|place|guy|now))"
)
# With a relative in the clause these are somebody.
THIRD = re.compile(r"\b(?:he|she|him|her|his|hers|they|them|their|theirs)\b")
# It holds for a while.
PASSING = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|for now|just now|this "
    "(?:morning|week|evening|afternoon|time|weekend)|at present|a minute|a sec|until "
    "(?:later|then)|for the moment|temporarily|in this case|for this (?:one|task"
    r"|project)?)\b"
)
# Greetings, fillers and what leads over: left out of what is told.
_OPENINGS = any_of(
    r"""
    and, but, so, also, ok, okay, btw, by the way, actually, please, oh, well, yes, yeah, yep,
    yup, no, nope, nah, hi, hello, hey, hiya, hi there, hey there, hello there, morning,
    good morning, good evening, good afternoon, fyi, ps, p\.s\., pps, anyway, anyways, plus,
    then, right, sure, thanks, thank you, cheers, lol, haha, hmm+, um+, uh+, ah+, wow, cool,
    great, nice, look, listen, see, honestly, tbh, frankly, personally,
    (?:for |some |quick |for some |a bit of )?(?:context|background), just so you know, just fyi,
    just to let you know,
    so you know, to be clear, to be honest, in general, in case it matters, for the record,
    as you know, as i said, like i said, as i mentioned, like i mentioned, turns out, fun fact,
    btw just, guess what, big news, good news, bad news, great news, news, update, quick update,
    edit, correction, note, unfortunately, luckily, fortunately, sadly, thankfully, happily,
    finally, basically, the thing is, thing is, because, cause, cuz, since, as, yet, now,
    these days, nowadays, currently, at work, at home, in my free time, in my spare time,
    when it comes to \w+, for me, about me, a bit about me, a little about me, me, user, human,
    first, second, third, lastly, also just, besides, still, i think you should know(?: that)?,
    you should know(?: that)?, did i mention(?: that)?, i should mention(?: that)?,
    i should say(?: that)?, i forgot to (?:say|mention)(?: that)?, i meant to tell you(?: that)?,
    just remembered, so yeah, well yeah, mind you, need to mention, important, heads up, in fact,
    especially as, especially since, remember
    """
)
OPENING = re.compile(
    rf"(?:(?:{_OPENINGS}|(?:after|following) [^,?]{{3,60}}?"
    r"(?=,? (?:i|we) (?:decided|agreed|settled|chose)\b),?)"
    r"[,:!.]*(?: -+| –| —)? +|[^\w\s'\"(]+ *)"
)
# 'Every morning I run' is told as 'Runs every morning'.
FRONTED = re.compile(
    rf"(?P<when>(?:on |in |at )?(?:the )?(?:{EACH}|(?:mornings|evenings|weekends"
    "|weekdays))(?: (?:before|after) work)?|(?:last|next|this) (?:week|month|year|spring"
    "|summer|autumn|fall|winter|january|february|march|april|may|june|july|august"
    "|september|october|november|december|monday|tuesday|wednesday|thursday|friday"
    rf"|saturday|sunday|weekend)|yesterday|in (?:\d{{4}}|january|february|march|april|may"
    rf"|june|july|august|september|october|november|december)(?: \d{{4}})?|(?:\d+"
    rf"|{COUNT}|a few|a couple of) (?:days|weeks|months|years) ago),? (?=(?:i|we)(?:'?m"
    "|'?ve|'ll)? )"
)

# What somebody asks to be remembered comes behind one of these.
EXPLICIT = re.compile(
    r"(?:(?:can|could|would|will) you +)?(?:please +|pls +)?(?:also +)?(?:(?:remember|keep in mind"
    r"|bear in mind|don'?t forget|do not forget|never forget|make a note|take note|memori[sz]e"
    r"|save (?:this|to memory|in memory)|store (?:this|in memory)|add to (?:your )?memory"
    r"|note to self|note down|write down|commit to memory)(?: this| the following)?"
    r"(?: for (?:later|next time|the future))?(?: *[:,] *| +that +| +(?=(?:i|i'?m|we|my|our) "
    r"|the .{2,60} (?:is|are|was|were|has|have|will|can|must|goes|runs|starts|lives|uses) ))"
    r"|for (?:future|later) reference *[,:]? +)"
    # Of 'that time', 'that one' somebody only speaks.
    r"(?! |(?:time|day|one|when|night|guy|thing|the time|the day|to|you|your|how|what|where|who)\b)"
)
DECISION_LABEL = re.compile(r"(?:the |our |final |my )?decision(?: is)? ?: ?")
# Said to the one who hears it, and of no use to anybody else.
ABOUT_ANSWERS = re.compile(
    r"\byour (?=(?:answers?|repl(?:y|ies)|responses?|messages?|code|explanations?|summaries)\b)"
)
TO_YOU = re.compile(r"\b(?:you|you're|you'll|your|yourself)\b(?! (?:should|must|always|never))")
# Orders to the assistant that hold from now on, not for the task at hand.
_ORDERS = any_of(
    """
    use, answer, reply, respond, write, speak, keep, avoid, call, give, include, add, show, format,
    ask, explain, start, end, put, run, address, assume, cite, talk, send, make, be, suggest,
    recommend, commit, push, mention, apologi[sz]e, translate, return, prefer, convert, sign
    """
)
STANDING = re.compile(
    "(?:(?:from now on|going forward|in (?:the )?future|as a rule|by default),? (?:please "
    ")?(?:always |never |only |don'?t |do not |just )?|(?:please )?(?:always|never|don'?t ever"
    rf"|do not ever) )(?!give up|be (?:afraid|ashamed|yourself)){_ORDERS} \S|(?:please "
    rf")?{_ORDERS} .{{2,80}} (?:from now on|in (?:the )?future)$"
)
# 'Moved to Lisbon': people leave themselves out. Past forms only, as others are orders as well.
SUBJECTLESS = re.compile(
    r"can'?t stand |(?:just |finally |recently |also )?(?:been (?:\w+ing|into)|lost|started|moved"
    "|got|quit|joined|switched|bought|sold|adopted|became|decided|graduated|had|won|finished|met"
    "|went|left|opened|launched|retired|visited|attended|landed|broke up|signed up|stopped|gave "
    "up|passed|dyed|ran|turned|celebrated|volunteered|performed|accepted|resigned) "
)
# No rule begins with another word.
STARTS = re.compile(
    "(?:i|i'?m|i'?ve|we|we're|we'?ve|my|our|from now on|the|deadline|due date|let'?s|one of|call"
    r"|calls|people|everyone|everybody|friends|they|just|please|you)\b|.{1,60} is (?:my|our) "
)
# Words that only end a sentence.
LAST_WORDS = tuple(
    f" {word}"
    for word in (  # noqa: SIM905 - a list of thirty quoted words is harder to read
        "too|as well|either|though|tho|lol|haha|btw|by the way|fyi|tbh|actually|honestly|please|pls"
        "|thanks|thank you|xd|x|xx|now|you know|of course|obviously|again|right|ok|okay|anyway"
        "|if that matters|in case that helps|so far|unfortunately|and|but|so"
    ).split("|")
)
# What looks as if it pointed elsewhere, and does not: 'this year', 'one of'.
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
POINTS_NOWHERE = re.compile(
    r"\bthis (?:year|month|spring|summer|autumn|fall|winter|week|weekend|coming \w+|past \w+"
    rf"|{_MONTHS})\b|\bone (?:of|son|daughter|dog|cat|brother|sister|kid|child)\b|\bsame-"
    r"|\bthese days\b|\bit when\b"
)
