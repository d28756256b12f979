"""Rows for what the person works on, what happens at a time, and what comes again and again. The
table is put together in capture_rules.py.
"""

from __future__ import annotations

from holdfast.text.capture_grammar import (
    COUNT,
    EACH,
    I_AM_NOW,
    I_DID,
    I_DO,
    I_HAVE,
    OBJECT,
    PROJECT,
    TASKS,
    Rule,
)
from holdfast.text.capture_words import BUILDING, EVENT, HABITS

DOING: tuple[Rule, ...] = (
    # What they work on.
    Rule(
        "project",
        "project",
        r"(?:we'?ve got|we have) (?:about |around |over |roughly |some )?\d\d[\d,.k]* (?:\w+ "
        ")?(?:customers|users|employees|clients|students|members|subscribers|developers"
        r"|engineers|people|stores|shops|readers)\b",
    ),
    Rule(
        "project",
        "project",
        r"(?:(?:we're|we are) an? (?:\w+ )?(?:team|family|company|startup|household|couple|crew"
        r"|band) of \w|(?:the|our|my) (?:\w+ )?team is (?:based )?in (?P<name>\S+)|(?:my|our) "
        rf"{PROJECT} is (?:only )?for (?!(?:this|that|sale|now|me|you|the (?:most|first))\b)\S)",
        lasting=True,
    ),
    Rule(
        "project",
        "project",
        rf"(?:my|our|the) {PROJECT}(?: (?:has|was|is|got))?(?: been)?(?: now)? (?:moved|migrated"
        r"|renamed|switched|ported) (?:from \S+ )?to (?!the (?:next|other)|next|another|a )\S",
    ),
    Rule(
        "project",
        "project",
        rf"(?:my|our) {PROJECT} is (?:now |still |currently )?(?P<name>\S+)",
        lasting=True,
    ),
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
        "project",
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
        rf"(?:{I_HAVE}(?:got )?)(?:an?|my|our|the|two) (?:[\w'-]+ ){{0,4}}?{EVENT}\b",
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
        "event",
        "fact",
        "(?:i|we) (?:will (?:be )?|'?ll (?:be )?)?(?:start(?:ing)?|launch(?:ing)?|release"
        "|ship|get married|fly|leave for|graduate|retire|move(?: in| house)?|go live"
        "|finish school)(?: |$)",
        dated=True,
        when="ahead",
    ),
    Rule(
        "since",
        "fact",
        rf"{I_HAVE}(?:been|lived|worked|had|done|used|coded|run|driven|rowed|sung|skied|surfed"
        r"|danced|played|known|studied|taught|owned|practi[cs]ed|been \w+ing) (?!(?:together"
        "|thinking|trying|meaning|having|getting|feeling|waiting|wondering|looking|seeing|there"
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
        "routine",
        "routine",
        rf"(?:my|our) (?:[\w'-]+ ){{0,3}}(?:is|are|happens?|starts?|takes? place|meets?) "
        rf".*{EACH}",
    ),
    Rule(
        "routine",
        "routine",
        rf"(?:the team|everyone|our team) (?:meets|has|does|gathers) .*{EACH}",
    ),
    Rule(
        "hobby",
        "fact",
        rf"{I_DO}(?:(?:sing|play|dance|act|perform|row|swim|run|compete|sail) (?:\w+ "
        rf"){{0,3}}(?:in|for|with) (?:an?|the|my|our) (?:[\w-]+ ){{0,3}}(?:choir|band|orchestra"
        r"|team|league|club|theatre|theater|group|quartet|trio|ensemble|troupe)\b|play (?:the "
        ")?(?:guitar|bass|piano|violin|cello|drums|flute|trumpet|saxophone|sax|clarinet|harp"
        "|ukulele|banjo|viola|accordion|organ|chess|tennis|football|soccer|basketball|hockey"
        r"|rugby|cricket|volleyball|badminton|golf|squash|d&d|padel)\b|collect (?!(?:the|my|this"
        r"|that|all|data|logs|info\w*|it|some|feedback)\b)\S|keep (?:bees|chickens|horses|goats"
        rf"|sheep|ducks|fish|pigeons)\b|support (?P<name>\S+)$|drive an? (?:\d{{4}} )?\w|commute "
        r"(?:by|from|to)\b|volunteer (?:at|for|with|as) (?!this|that|it)\S)",
        lasting=True,
    ),
    Rule(
        "hobby",
        "fact",
        rf"{I_DO}(?:ride (?:an?|my) \w|celebrate (?P<name>\S+)|homeschool\b"
        r"|stick to (?!(?:the|this|that|it|your|what|plan|my)\b)\S"
        r"|(?:format|lint|deploy|build|test|develop|log) (?:our \w+ |everything )?(?:with|on|using)"
        r" (?!(?:the|this|that|it|them|a|my|our|top|first)\b)\S)",
        lasting=True,
    ),
)
