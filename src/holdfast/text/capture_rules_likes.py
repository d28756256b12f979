"""Rows for what the person likes, uses and never does. The table is put together in
capture_rules.py.
"""

from __future__ import annotations

from holdfast.text.capture_grammar import I_AM_NOW, I_DO, LIKED, NOT, OBJECT, Rule

LIKES: tuple[Rule, ...] = (
    # Likes and dislikes.
    Rule(
        "favourite",
        "preference",
        "(?:my|our) (?:absolute |all[- ]time |current |personal |old |new |second |least "
        ")?(?:favou?rite|fave|fav)(?! (?:part|thing|bit|line|scene|moment|one|place here"
        r"|is|are|was)\b)(?: [\w'-]+){1,5}? (?:is|are|was|has always been|'s) (?!(?:when"
        r"|how|that|the one|the fact|not|part|this|it|you|your|here|there|what)\b)\S",
    ),
    Rule(
        "prefers",
        "preference",
        rf"{I_DO}(?:prefer|favou?r) (?:{LIKED}|(?=the (?:\S+ ){{1,5}}(?:over|to|than) "
        r"))(?!(?:the )?(?:first|second|third|last|other|latter|former|blue|red|green)\b"
        r"|not to (?:say|answer|discuss|share|tell|disclose|think))\S",
        lasting=True,
    ),
    Rule(
        "hates",
        "preference",
        rf"{I_DO}(?:hate|dislike|detest|loathe|despise|can'?t stand|cannot stand|can'?t bear"
        rf"|{NOT} (?:really |particularly |actually )?(?:like|enjoy|love|care for)) "
        rf"{LIKED}(?!(?:to (?:say|admit|bother|ask|break|be that|complain|interrupt|see"
        r"|tell|do this)|saying|asking|bother|myself|sounding|my (?:life|self))\b)\S",
        lasting=True,
    ),
    Rule(
        "likes",
        "preference",
        rf"{I_DO}(?:like|love|enjoy|adore|appreciate it when) {LIKED}(?!(?:to (?:see|hear"
        "|know|think|say|thank|ask|try|have|get|make|talk|help|go|join|schedule|book"
        "|learn|understand|use|add|build|create)|my (?:new|job here)|being (?:here|able)"
        "|our (?:chats?|talks?|conversations?)|chatting|talking (?:to|with) you|having "
        "you|working with you|hanging out with you|catching up|a (?:good|nice|few)"
        r"|to$)\b)\S",
        lasting=True,
    ),
    Rule(
        "likes",
        "preference",
        rf"{I_AM_NOW}(?:not )?(?:(?:really|very|super|big|huge|quite|so|pretty|totally|always) "
        rf"){{0,2}}(?:an? (?:big |huge |massive |total |lifelong |die-?hard |great |avid "
        "|keen )*(?:fan|lover|fanatic|collector|hater) of|fond of|keen on|into"
        "|passionate about|obsessed with|addicted to|scared of|afraid of|terrified of) "
        "(?!(?:the (?:idea|fact|moment|meeting|zone|weeds|details|result|first|second"
        "|last)|hearing|seeing|knowing|what|trouble|learning more|buying|getting|doing "
        rf"that)\b){OBJECT}\S",
        lasting=True,
    ),
    Rule(
        "likes",
        "preference",
        rf"{I_AM_NOW}(?:more of )?an? (?:avid|keen|big|huge|passionate|total) (?:\w+ fan\b"
        rf"|(?:\w+ ){{0,2}}(?:reader|gamer|runner|cyclist|hiker|cook|baker|gardener"
        "|collector|photographer|traveller|traveler|swimmer|climber|foodie|knitter"
        r"|birder|birdwatcher|skier|surfer|coffee drinker|tea drinker)\b)",
    ),
    Rule(
        "likes",
        "preference",
        rf"{I_AM_NOW}(?:more of )?an? (?!(?:nice|good|bad|terrible|horrible|different|private"
        r"|busy|new|real|normal|changed|better|great|happy|kind|people)\b)[\w-]+ "
        r"person\b(?! (?:who|that))",
    ),
    Rule(
        "hates",
        "preference",
        rf"{I_DO}(?:hate|love|like|dislike|{NOT} (?:really )?like) (?:it )?when"
        r" (?!(?:that|this|it|you|i|we|things?)\b)\S",
    ),
    Rule(
        "never",
        "fact",
        "(?:i|we) (?:can'?t|cannot|can not) (?:have|eat|drink|digest|tolerate|hear|drive|swim|fly"
        r"|donate)(?:$|, |(?! it| this| that| them| a | an | to | the| my) \S)",
        lasting=True,
    ),
    Rule(
        "never",
        "preference",
        rf"(?:i|we) (?:{NOT}) (?:really |ever )?(?:eat|drink|smoke|use|wear|drive|cook"
        "|watch|own|celebrate|do|swim|speak|read|play|fly|buy|have (?:any |a )?(?:food "
        ")?(?:allergies|kids|children|siblings|pets|a car|car|tv|television|smartphone"
        "|social media|facebook|instagram|driver'?s licen[cs]e|brothers|sisters"
        rf"|licen[cs]e))(?:$| {OBJECT}(?!(?:much|well|anymore|to|so|too|a lot|good|anything"
        r"|enough|very|great|the (?:same|right|code|file))\b)\S)",
        lasting=True,
    ),
    Rule(
        "never",
        "preference",
        "(?:i|we) (?:always|never|only|mostly|exclusively|primarily|mainly) (?:ever )?(?:use|eat"
        "|drink|write|work|take|buy|wear|read|cook|fly|travel|order|listen to|watch|drive|play"
        "|shop|pay|sleep|code|deploy|test|commit|sign|go by|book|choose|ask for|bring|carry|sit"
        "|park|name|tip|stay|skip|avoid|bake|grow|sleep|keep) (?!(?:when|it|this|that|these"
        "|those|to (?:get|be|know)|them|him|her|you|the (?:best|same|first|second|last"
        r"|following)|on (?:this|that)|what|for|in)\b)\S",
        lasting=True,
    ),
    Rule(
        "uses",
        "preference",
        "(?:i|we) (?:(?:mostly|mainly|primarily|usually|generally|normally|currently|now"
        rf"|still|both|all|exclusively|personally|typically|only) ){{0,2}}(?:use|code in"
        "|program in|write in|develop on|listen to|wear|take my coffee|drink my) "
        rf"{OBJECT}(?!(?:to\b|the (?:following|above|command|code|same|default)|a (?:lot"
        r"|different|loop|function|for)|an? (?:\w+ )?(?:loop|function|regex|class|method|list|dict"
        r"|query|script)\b|an? \w+ to|too|following|python to|my (?:own"
        r"|phone|hands|head|imagination|time)))\S",
        lasting=True,
    ),
    Rule(
        "used-to",
        "fact",
        "(?:i|we) (?:also |actually |just )?used to (?!(?:it|that|this|think|say|hear|see"
        r"|know|feel|believe|be able|get)\b)\w+ \S",
    ),
    Rule(
        "likes",
        "preference",
        rf"{I_AM_NOW}(?:a (?:total |real |big |complete )?(?:sucker|foodie|stickler)(?: for)?"
        rf"|hooked on|crazy about|mad about|fascinated (?:by|with)|all about) {OBJECT}\S",
        lasting=True,
    ),
    Rule(
        "likes",
        "preference",
        r"(?:i'?m|i am) (?:also )?interested in (?!the\b|\w+ing\b|more\b|any\b|getting"
        rf"|a\b|an\b|some\b|both|your|\"|“|how|practical|all|hearing){OBJECT}\S",
        lasting=True,
    ),
    Rule(
        "goal",
        "project",
        "(?:my|our|one of my|one of our) (?:(?:main|big|biggest|ultimate|long-term|life"
        "|career|fitness|savings|new year's) (?:goals?|aims?|dreams?|ambitions?"
        "|resolutions?)|goals?|aims?|dreams?|ambitions?) (?:is|are) to (?:become|be "
        "(?:an?|the|successful)|learn|run an?|lose|save|retire|publish|open|graduate|buy"
        "|travel|move|keep (?:teaching|doing|playing)|own|start an?|contribute|devise"
        "|write an? (?:book|novel)|get (?:into|fit|my|married)|live|visit|help) ?",
        lasting=True,
    ),
    Rule(
        "uses",
        "preference",
        "(?:i|we) usually (?:watch|read|wear|cook|drink|eat|order|buy|listen to|play) "
        r"(?!(?:it|this|that|them|these|those|the)\b)\S",
        lasting=True,
    ),
)
