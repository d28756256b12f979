"""Rules for what the person likes, uses, works on and does regularly, and for dated events."""

from __future__ import annotations

from holdfast.text.capture.vocabulary import (
    BUILDING,
    COUNT,
    EACH,
    EVENT,
    HABITS,
    I_AM_NOW,
    I_DID,
    I_DO,
    I_HAVE,
    LIKED,
    NOT,
    OBJECT,
    PROJECT,
    TASKS,
    Rule,
)

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
        "|drink|write|code|deploy|test|commit|sign|go by|name|avoid) (?!(?:when|it|this|that|these"
        "|those|to (?:get|be|know)|them|him|her|you|the (?:best|same|first|second|last"
        r"|following)|on (?:this|that)|what|for|in)\b)\S",
        lasting=True,
    ),
    Rule(
        "habit",
        "preference",
        "(?:i|we) (?:always|never|only|mostly|exclusively|primarily|mainly) (?:ever )?(?:"
        "work|take|buy|wear|read|cook|fly|travel|order|listen to|watch|drive|play"
        "|shop|pay|sleep|book|choose|ask for|bring|carry|sit"
        "|park|tip|stay|skip|bake|grow|sleep|keep) (?!(?:when|it|this|that|these"
        "|those|to (?:get|be|know)|them|him|her|you|the (?:best|same|first|second|last"
        r"|following)|on (?:this|that)|what|for|in)\b)\S",
        lasting=True,
    ),
    Rule(
        "uses",
        "preference",
        "(?:i|we) (?:(?:mostly|mainly|primarily|usually|generally|normally|currently|now"
        rf"|still|both|all|exclusively|personally|typically|only) ){{0,2}}(?:use|code in"
        "|program in|write in|develop on) "
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
        "habit",
        "preference",
        rf"{I_DO}(?:listen to|wear|take my coffee|drink my (?:coffee|tea)) {OBJECT}\S",
        lasting=True,
    ),
    Rule(
        "habit",
        "preference",
        "(?:i|we) usually (?:watch|read|wear|cook|drink|eat|order|buy|listen to|play) "
        r"(?!(?:it|this|that|them|these|those|the)\b)\S",
        lasting=True,
    ),
)


DOING: tuple[Rule, ...] = (
    # What they work on.
    Rule(
        "project",
        "project",
        rf"{I_AM_NOW}(?:busy )?{BUILDING} {TASKS}{OBJECT}(?!(?:into|from (?:my|home|here|there"
        "|the)|late|out|up|low|an upcoming|(?:an?|the|my|our) (?:upcoming |next |team "
        r")*(?:meeting|interview)|a (?:fever|temperature|bit)|on|for|my best|(?:\w+ "
        r")?today)\b)\S",
        when="near",
    ),
    Rule(
        "project",
        "project",
        rf"{I_HAVE}been {BUILDING} {TASKS}{OBJECT}(?!(?:a (?:week|while|few|couple|long"
        r"|month)|into|hard|different)\b)\S",
        when="near",
    ),
    Rule(
        "project",
        "project",
        rf"(?:my|our) {PROJECT}(?: \w+)? (?:is|are|was) (?:(?:now|currently|still) "
        ")?(?:called|named|about|on|an?|written in|built (?:with|in|on)|based (?:on|in)"
        "|hosted (?:on|at|in)|due (?:on|by|in)?|in (?!progress|trouble|a (?:bad|mess)"
        "|the)|using|running on|deployed (?:on|to)|due|launching|scheduled for|open "
        "source|opening) (?!(?:mess|bit|disaster|joke|pain|fire|hold|track|slow|lot"
        "|success|hit|roller ?coaster|dream|work in progress|big|great|good|huge"
        rf"|challenge|top|point)\b){OBJECT}\S",
        when="ahead",
    ),
    Rule(
        "setup",
        "project",
        rf"(?:my|our) {PROJECT}(?: \w+)? (?:(?:now|currently|mostly|mainly|only|still"
        "|primarily) )?(?:uses?|runs? (?:on|in|with|at)|targets?|supports?|lives? in"
        "|stores?|depends? on|ships?|consists? of|sells?|makes?|builds?|specializes? in"
        rf"|requires?|meets?|has (?:about |around |over )?(?:\d+|{COUNT})|follows?"
        "|deploys?|talks? to|sits? in) (?!(?:sense|me|it|up|out|fine|slow|well|into"
        r"|errors?|this|that|you|sure|progress)\b)\S",
        lasting=True,
    ),
    Rule(
        "project",
        "project",
        "(?:i|we) (?:recently |just |finally |are |'re )?(?:launched|founded|co-?founded"
        r"|opened|started) (?:an?|my|our|the) (?:own )?(?:\w+ ){0,3}(?:company|startup"
        "|business|podcast|blog|channel|shop|store|studio|band|newsletter|app|website"
        "|bakery|restaurant|cafe|agency|non-?profit|charity|club|project|initiative"
        r"|campaign|program|garden)\b",
    ),
    # What comes at a time.
    Rule(
        "event",
        "fact",
        r"(?:the |our |my )?(?:[\w'-]+ ){0,4}?(?:deadline|due date|launch|release|go-live|project"
        "|course|semester|term|sprint|season|demo|lease|exam|wedding)(?: (?:for|of|to|on|with|at"
        r"|in) (?:\S+ ){0,6}?\S+)? (?:is|are|will be|(?:got|was|has been) (?:moved|pushed"
        r"|postponed|delayed|brought forward) to|ends|expires|runs out|starts|kicks off|begins)\b",
        dated=True,
        when="ahead",
    ),
    Rule(
        "event",
        "fact",
        rf"(?:my|our) (?:[\w'-]+ ){{0,4}}?{EVENT}(?: (?:for|of|to|with|at|in|on) (?:\S+ "
        rf"){{0,6}}?\S+)? (?:is|was|are|will be|got moved to|has been moved to|moved to"
        r"|was moved to|starts|begins|ends|expires|runs out|opens)\b",
        dated=True,
        when="ahead",
    ),
    Rule(
        "event",
        "fact",
        rf"(?:{I_HAVE}(?:got )?)(?:(?:an?|my|our|the|two) (?:[\w'-]+ ){{0,4}}?{EVENT}"
        r"|(?:[\w'-]+ ){0,3}?(?:tickets|reservations))\b",
        dated=True,
        when="ahead",
    ),
    Rule(
        "event",
        "fact",
        rf"{I_AM_NOW}(?:getting (?:married|surgery|an? (?:operation|scan|mri)|my (?:\w+ "
        rf"){{0,2}}(?:results|visa|licen[cs]e))|flying|travell?ing|going (?:to (?:the |an? |my "
        r")?(?P<name>\S+)|on (?:an?|holiday|vacation|our|honeymoon|parental|maternity)|back to"
        r"|abroad|away|camping|hiking|skiing)|visiting|starting|having (?:surgery|an? (?:\w+ "
        ")?operation|a baby)|taking|running|presenting|speaking|defending|graduating|retiring"
        "|leaving|expecting|competing|performing|attending|hosting|touring|due)(?:$| (?!some "
        "time|a break|a nap|a look))",
        dated=True,
        when="ahead",
    ),
    Rule(
        "since",
        "fact",
        rf"{I_HAVE}(?:been|lived|worked|had|done|used|coded|run|driven|rowed|sung|skied|surfed"
        r"|danced|played|known|studied|taught|owned|practi[cs]ed|been \w+ing) (?!(?:for|since"
        "|together|thinking|trying|meaning|having|getting|feeling|waiting|wondering|looking|seeing|there"
        "|here|asking|hearing|sick|busy|up|awake|told|sitting|staring|struggling|stuck|better"
        "|great|good|crazy|so|really|very|this|it|that|struggling|fighting|hoping|stressed"
        rf"|tired)\b).*\b(?:for (?:\w+ ){{0,3}}(?:years?|decades?|months)|since (?:i was|\d{{4}}"
        rf"|last|\w+ \d{{4}}|january|february|march|april|may|june|july|august|september|october"
        r"|november|december|childhood|college|university|high school|forever))\b",
    ),
    Rule(
        "happened",
        "fact",
        # What happened today may be forgotten tomorrow.
        r"(?!.*\b(?:today|tonight|this (?:morning|afternoon|evening)|just now)\b)(?!(?:i'?ve|i "
        rf"have|we'?ve|we have) (?:\w+ )?got\b){I_DID}(?:visited|went (?:to|on|hiking|camping"
        "|skiing|surfing|swimming|diving|kayaking)|attended|participated in|took part in"
        "|helped (?:out )?(?:at|with)|got back from|performed|competed|hosted|organi[sz]ed"
        "|volunteered|donated|met|auditioned|took (?:an?|my|our|the|up)|hiked|camped|travell?ed"
        "|flew|bought|got|restored|sold|presented|gave (?:an?|my)|had (?:an?|my|our)|celebrated"
        "|lost|won|broke|injured|opened|launched|planted|painted|tried|submitted|finished"
        "|completed|started|adopted|dyed|signed (?:up|a)|climbed|passed|failed|proposed"
        "|interviewed|graduated|pitched|applied|saw|joined|ran (?:an?|my)|read|watched|wrote"
        "|recorded|published|made (?:an?|my)|built|baked|cooked|harvested|moved) (?!(?:the|this"
        r"|that|these|an?|my|our|some) (?:\w+ )?(?:tests?|script|code|package|server|build"
        "|command|query|error|bug|function|file|files|branch|commit|pr|app|job|pipeline"
        "|deployment|migration|logs?|update|upgrade|reply|email|answer|message|look|nap|shower"
        "|break|headache|question|idea|problem|issue|chance|pic|picture|photo|lot|hard time"
        "|tough time|great time|good time|weird|few)\b)(?!(?:an? )?(?:bit of|(?:(?:really|very|so"
        "|pretty) )?(?:cool|great|nice|fun|major|bit|big|good|bad|tough|rough|crazy|amazing"
        "|awesome|interesting|weird|terrible|lovely|wonderful|incredible) (?:of |event|time"
        "|milestone|day|week|experience|conversation|talk|thing|place|moment|night)|(?:place"
        r"|thing|time|milestone|blast|ball) ))(?!(?:work|lunch|the (?:gym|shop|office|doctor))\b"
        r"|in\b|on\b|at\b|from\b|for\b|about\b|around\b|last\b|yesterday|two\b|a (?:few|couple"
        r"|week|month|year)|it\b|this\b|that\b|them\b|so\b|too\b|back\b|up\b|out\b|stuck|tired"
        "|lost|sick|an? error|errors|here|there|better|worse|it's|confused|home|to (?:bed|sleep"
        "|work|see|know|think|the (?:next|page|link|settings|store|shop|office|bathroom"
        r"|toilet)))\S",
        dated=True,
    ),
    # What comes again and again.
    Rule(
        "routine",
        "routine",
        "(?:i|we) (?:(?:usually|always|normally|typically|generally|often|try to|also"
        rf"|tend to|still|both|only|have to|like to) ){{0,2}}{HABITS}\b.*{EACH}",
    ),
    Rule(
        "routine",
        "routine",
        "(?:i|we) (?:usually|normally|typically|generally|tend to|always) (?:wake up|get "
        "up|go to bed|go to sleep|work|start|finish|have (?:lunch|breakfast|dinner)|eat"
        "|skip (?:breakfast|lunch)|take the (?:bus|train|tube|metro|subway)|cycle|walk"
        r"|run|exercise|train)\b.*\b(?:at|around|by|from|before|after|to work|breakfast"
        r"|late|early|in the (?:morning|evening|afternoon)s?)\b",
    ),
    Rule(
        "routine",
        "routine",
        "(?:i|we) (?:wake up|get up|go to bed|start work|finish work|leave work|go to "
        r"sleep) (?:at|around|by|before|after) \d",
    ),
    Rule(
        "hobby",
        "fact",
        rf"{I_DO}(?:ride (?:an?|my) \w|celebrate (?P<name>\S+)|homeschool\b"
        r"|stick to (?!(?:the|this|that|it|your|what|plan|my)\b)\S"
        r")",
        lasting=True,
    ),
)
