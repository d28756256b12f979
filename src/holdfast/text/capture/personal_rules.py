"""Rules for who the person is, the people and animals around them, what has changed and what was
decided.
"""

from __future__ import annotations

from holdfast.text.capture.vocabulary import (
    ACQUAINTANCE,
    ADVERBS,
    ATTRIBUTE,
    COUNT,
    FAMILY,
    I_AM,
    I_AM_NOW,
    I_DID,
    I_DO,
    I_HAVE,
    JOB,
    KIN,
    LIKED,
    NAMED,
    NATIONS,
    NOT,
    OBJECT,
    PETS,
    TRADES,
    TRAITS,
    Rule,
)

CHANGES: tuple[Rule, ...] = (
    # Changes come first: 'I no longer eat meat' is no preference for meat.
    Rule(
        "no-longer",
        "fact",
        rf"(?:i|we) (?:just )?no longer {OBJECT}\w+"
        rf"|(?:i|we) (?:{NOT}|ain'?t) (?!know|think|remember|understand|care|feel|want|see"
        r"|believe|need|get)\w+ .*\b(?:any ?more|any longer)$",
    ),
    Rule(
        "no-longer",
        "fact",
        r"(?:i'?m|i am|we're|we are) (?:not .*\b(?:any ?more|any longer)$|no longer "
        r"(?!sure|able|here|there|it\b)\w+)",
    ),
    Rule(
        "switched",
        "decision",
        rf"{I_DID}(?:(?:switched|migrated|transitioned|upgraded|downgraded)(?: \w+){{0,3}} "
        r"(?:from \S.* )?to|converted to|changed (?:from \S.* |my (?:name|major|surname"
        r"|degree|diet|plan) (?:from \S.* )?)to) (?!the (?:\w+ )?(?:branch|tab|window"
        rf"|next|other|main|page|screen|view|file|directory|folder)\b){OBJECT}\S",
    ),
    Rule(
        "stopped",
        "fact",
        rf"{I_DID}(?:stopped|gave up|given up) (?:my (?:job|role)|{OBJECT}(?!by\b|working\b$"
        r"|to\b|trying|looking|at\b|in\b|on\b|here|now)\w)",
    ),
    Rule(
        "stopped",
        "fact",
        rf"{I_DID}quit (?:my|our|drinking|smoking|vaping|coffee|sugar|alcohol|social media"
        r"|school|college|uni|university|facebook|twitter|instagram|\w+ing)\b",
    ),
    Rule(
        "moved",
        "fact",
        rf"{I_DID}(?:moved|relocated|emigrated|immigrated)(?: back| over| across| away| abroad"
        r"| house| home| out| in)*(?: (?:to|from|into|in with|out of) (?!(?:the )?(?:next|other"
        r"|second|last|top|bottom|left|right|end|step) )\S"
        r"| (?:last|yesterday|a (?:few|couple|week|month|year)|two|three|this) | (?:in|around) \w)",
    ),
    Rule(
        "moved-things",
        "fact",
        rf"{I_DID}moved (?:the|our|my|all|everything)(?! (?:files?|meeting|code|call|date|button"
        rf"|config|cursor|line|function|class|mouse)\b)(?: \w+){{0,4}} (?:to|into) (?!(?:the )?"
        r"(?:next|other|second|last|top|bottom|left|right|end|line) )\S",
    ),
    Rule(
        "moving",
        "fact",
        rf"{I_AM_NOW}(?:moving|relocating|emigrating) (?:back )?to (?!on\b|the (?:next|new) "
        r"(?:topic|section|version))\S",
        when="ahead",
    ),
    Rule(
        "new-job",
        "fact",
        rf"{I_DID}(?:changed (?:jobs?|careers?|schools|teams|majors?)|got promoted|been "
        "promoted|got laid off|been laid off|got fired|been fired|retired|resigned|got "
        rf"(?:an?|my|the) (?:\w+ ){{0,2}}{JOB}|(?:accepted|landed|took|lost) (?:an?|my"
        rf"|the) (?:\w+ ){{0,3}}(?:{JOB}|offer))\b",
    ),
    Rule(
        "started",
        "fact",
        rf"{I_DID}(?:started|began|joined|founded|co-?founded|launched|opened|left|enrolled"
        r"|signed up|applied) (?:(?:at|for|in|as|with) )?(?:an? |my |our |the )?(?:\w+ "
        rf"){{0,3}}{JOB}\b",
    ),
    Rule(
        "left",
        "fact",
        rf"{I_DID}(?:left|quit|joined) (?P<name>\S+)(?: |$)",
    ),
    Rule(
        "started",
        "fact",
        rf"{I_DID}(?:started|began|joined|left|enrolled|quit) (?:working |a (?:new )?job "
        "|studying |teaching |training |volunteering )?(?:at|as|for|in) (?!the "
        r"(?:morning|evening|end|start|beginning|moment|middle)|all\b|first|least|home"
        rf"|work\b|time|fact|general|tears|love){OBJECT}\S",
    ),
    Rule(
        "started",
        "fact",
        rf"{I_DID}(?:started|began|taken up|took up) (?:learning|playing|studying|taking"
        "|teaching|doing|running|training|volunteering|practi[cs]ing|going|seeing"
        rf"|writing|making|painting|attending|collecting) {OBJECT}\S",
    ),
    Rule(
        "started",
        "fact",
        rf"{I_DID}(?:took|taken|taking) up (?!(?:the|my|a lot|too|so|space|time|most|your)\b)\S",
    ),
    Rule(
        "joined",
        "fact",
        rf"{I_DID}joined (?:an?|the|my) (?!tables?\b|dataframes?\b|lists?\b|strings?\b"
        r"|results\b|datasets?\b|columns?\b|two\b|call\b|meeting\b|chat\b|zoom\b"
        r"|conversation\b|server\b)\w",
    ),
    Rule(
        "milestone",
        "fact",
        rf"{I_DID}(?:married|divorced|adopted|broke up with|split up with|proposed to"
        r"|separated from) (?:my|an?|two|our) ?\w",
    ),
    Rule(
        "milestone",
        "fact",
        rf"{I_DID}(?:bought|sold|rented|purchased|inherited|built|leased) (?:an?|our|my|the"
        rf"|two) (?:\w+ ){{0,3}}(?:house|flat|apartment|home|condo|car|bike|motorbike"
        "|motorcycle|van|boat|cottage|farm|piano|guitar|studio|place|land|cabin|camper"
        r"|tesla|house boat|bungalow|company|business|macbook|laptop)\b",
    ),
    Rule(
        "milestone",
        "fact",
        rf"{I_DID}(?:graduated|dropped out|got my (?:degree|phd|licen[cs]e|diploma|certification"
        "|citizenship|green card|visa|masters?|master's|driver'?s licen[cs]e)|(?:passed"
        rf"|failed) (?:my|the) (?:\w+ ){{0,2}}(?:exams?|driving test|test|boards?|finals|class"
        "|course|bar|viva|defen[cs]e)|finished my (?:degree|phd|thesis|dissertation|masters?"
        "|master's|novel|book|studies|training|apprenticeship|internship|residency)|(?:earned"
        rf"|completed|received|defended) my (?:\w+ ){{0,2}}(?:degree|phd|diploma|certificate"
        "|certification|training|course|masters?|bachelor'?s?|licen[cs]e|internship|residency"
        r"|thesis|dissertation|award|apprenticeship))\b",
    ),
    Rule(
        "milestone",
        "fact",
        rf"{I_DID}(?:won|placed|came) (?!the argument|it\b|over\b|back\b|up\b|here\b"
        r"|across\b|to\b|out\b|home\b|in\b|from\b|by\b|down\b)(?:an?|the|my|our|first"
        r"|second|third|1st|2nd|3rd) ?\S",
    ),
    Rule(
        "milestone",
        "fact",
        rf"{I_DID}(?:ran|run|finished|completed) (?:an?|my|the|our) (?:\w+ "
        rf"){{0,3}}(?:marathon|half marathon|triathlon|10k|5k|ironman|race)\b",
    ),
    Rule(
        "milestone",
        "fact",
        rf"(?:i|we) {ADVERBS}(?:got|bought) (?:an?|my|our) (?:brand )?new (?P<name>\S+)",
    ),
    # Decisions.
    Rule(
        "decision",
        "decision",
        rf"{I_DID}(?:decided|agreed|resolved|opted|elected)(?: together)?(?: not)? (?:to|on"
        "|that|against|for|in favou?r of) (?!(?:just )?(?:restart|rerun|retry|try|take "
        "a break|go to bed|wait|skip|leave it|stay in|stay home|call it|sleep|ask|check"
        rf"|test|run|give it|see|look)\b){OBJECT}\S",
        when="near",
    ),
    Rule(
        "decision",
        "decision",
        rf"{I_DID}(?:(?:chose|chosen|picked) (?:(?:the |our |my )?(?P<name>\S+)|(?=.* (?:over|for"
        r"|as|instead|rather|because) )|(?=to ))|(?:settled on|opted for|ruled out|committed to) )"
        "(?!up |out |apart|on |me |the (?:wrong|right|default|following|first|second"
        rf"|last)|wrong|poorly|well|the (?:\w+ )?(?:branch|option)\b){OBJECT}\S",
        when="near",
    ),
)


SELF: tuple[Rule, ...] = (
    # Who the person is.
    Rule(
        "name",
        "fact",
        r"(?:my|the) name(?:'s| is|s) (?!(?:not|what|the|a|on|of|in|hard)\b)[^\W\d]\S*",
    ),
    Rule(
        "name",
        "fact",
        "(?:from now on,? )?(?:you can |please |just |everyone |everybody |people |(?:my "
        ")?friends |they (?:all )?)?calls? me (?!(?:when|if|back|at|later|tomorrow|crazy|an?|the"
        "|old|on|in|out|names|and|every|to|for|asap|now|today|tonight|maybe|lazy|stupid|weird"
        r"|by)\b)[^\W\d]\w*",
    ),
    Rule(
        "birthday",
        "person",
        rf"(?:my|our) {KIN}{NAMED}(?:'s|'|s) (?:\d+\w\w )?(?:birthday|bday|anniversary) "
        "(?:is|was|falls) (?:on |in )?(?!party|coming up|soon|great|fun|good|over"
        r"|approaching|not)\S",
        when="yearly",
    ),
    Rule(
        "birthday",
        "fact",
        r"(?:my|our) (?:\w+'s )?(?:\d+\w\w )?(?:birthday|bday|b-day|wedding anniversary"
        "|anniversary|name day) (?:is|was|falls) (?:on |in )?(?!party|coming up|soon"
        r"|great|fun|good|over|approaching|not|the best)\S",
        when="yearly",
    ),
    Rule(
        "age",
        "fact",
        rf"{I_AM_NOW}(?:(?:\d{{1,2}}|{COUNT}) (?:years old|yrs old|years of age|yo\b|y/o)"
        r"|\d\d(?:$|,| and (?!a half)))",
    ),
    # How they work: the team, the machine, where things run.
    Rule(
        "setup",
        "fact",
        r"(?:we're|we are) (?:an? (?:\w+ ){0,2}(?:team|startup|start-up|company|shop|agency|studio"
        r"|family|household|couple|non-?profit) (?:of|at|in|from|based|that|with)"
        rf"|{COUNT} (?:\w+ )?(?:founders|engineers|developers|people|students|designers)\b)",
        lasting=True,
        verbatim=True,
    ),
    Rule(
        "setup",
        "fact",
        rf"{I_AM_NOW}(?:on|running|using) (?:\w+ )?(?:arch|ubuntu|linux|macos|a mac\b|windows"
        r"|fedora|debian|nixos|wsl|an? (?:macbook|thinkpad|chromebook|iphone|pixel)|android|ios"
        r"|(?!episode|page|chapter|level|day|week|line|step|season|volume|part|size"
        r"|act)[a-z.+#]+ v?\d[\d.]*\b(?! (?:minutes|hours|days|weeks|months|years|people)))",
        lasting=True,
        verbatim=True,
    ),
    Rule(
        "setup",
        "fact",
        r"(?!our ci\b|our tests|our build|my )(?:the |all |our (?=deploy|backup|release|log"
        r"|secret|migration"
        r"|docs))?(?:\w+ )?(?:deploys?|deployments?|builds?|releases?|backups?|tests"
        r"|ci|logs"
        r"|docs|secrets|migrations)(?: \w+)? (?:happens?|runs?|goes|go|is done|are done|lives?"
        r"|live) (?:via"
        r"|through|on|in|with|by|to|over) (?!hold|time|fire|it\b|this\b|that\b|the same)\S",
        lasting=True,
        verbatim=True,
    ),
    # Who is responsible for what.
    Rule(
        "setup",
        "fact",
        r"(?P<name>[^\W\d_]\S*)(?: [^\W\d_]\S*)? (?:owns|maintains|is responsible for"
        r"|is in charge of"
        r"|takes care of|handles|leads) (?:the|our|all) (?:\w+ ){0,2}(?:code|codebase|service"
        r"|module|team"
        r"|repo|billing|frontend|backend|infra\w*|deployments?|releases?|design|api|database"
        r"|reviews?"
        r"|project|product|support|on-?call)\b",
        lasting=True,
        verbatim=True,
    ),
    Rule(
        "setup",
        "fact",
        r"(?:the )?(?:production|prod|staging|backend|frontend|api|database|db|website|site|app"
        r"|cluster|ci|infra(?:structure)?|monorepo|codebase|repo)(?: \w+)? (?:is|are|runs?|lives?"
        r"|uses?) (?:on (?!fire|hold|it|the way)|hosted (?:on|at|by)|deployed (?:on|to|with)"
        r"|written in|built (?:with|on|in)|in (?!progress|trouble|a |the ))\S",
        lasting=True,
        verbatim=True,
    ),
    Rule(
        "lives",
        "fact",
        rf"{I_DO}(?:live|lived|reside|grew up|grow up) (?:(?:in|near|on|with|w/?|just outside"
        "|outside|by|at|next to|alone|close to|around|between) )(?!(?:fear|hope|hell"
        "|peace|spreadsheets|vim|emacs|slack|jira|excel|meetings|(?:my |the )?(?:browser"
        "|terminal|tabs|ide"
        "|cloud|clouds)|coffee|caffeine|the edge|the (?:moment|past|present|now|future|dark)"
        "|a (?:world|bubble|dream"
        "|society|simulation|time|country where)|denial|constant|pain|my (?:head|own)"
        r"|harmony|luxury|poverty|that|this|it|the same|sin|your|you|me)\b)\S",
        lasting=True,
    ),
    Rule(
        "lives",
        "fact",
        rf"{I_AM_NOW}(?:living|staying|based|located) (?:in|near|with|at|out of|on) (?!(?:fear"
        "|hope|bed|hell|peace|the (?:moment|past|present|now|future|car|bus|train|office"
        "|dream)|a (?:world|bubble|dream|hotel|meeting)|my (?:head|room)|denial|touch|it"
        r"|that|this|line|track|top|there|here|home)\b)\S",
        lasting=True,
    ),
    Rule(
        "from",
        "fact",
        rf"(?:{I_AM_NOW}|(?:i|we) {ADVERBS}come |(?:i|we) {ADVERBS})(?:originally )?from (?!(?:now"
        "|here|there|the (?:start|beginning|future|office|bus|same)|a (?:background"
        r"|place|family)|that|this|home|work|scratch|time|work)\b)\S",
    ),
    Rule(
        "work",
        "fact",
        rf"{I_DO}work(?:ed)? (?:(?:full[- ]time|part[- ]time|remotely|freelance|nights"
        "|shifts|mostly|mainly) )?(?:as|at|for|in|with) (?!(?:home|night|the (?:moment"
        "|morning|evening|office|studio|lab|kitchen|garden|same|end|past|way|background|dark)|it"
        "|this|that|them"
        "|him|her|you|your|my (?:cat|dog|kids)|peanuts|least|first|a (?:hurry|while|bit|few)"
        "|silence|my (?:room"
        rf"|pyjamas|own)|me|now|both|all|hours|progress|bed|pairs)\b){OBJECT}\S",
        lasting=True,
    ),
    Rule(
        "work",
        "fact",
        rf"{I_DO}(?:handle|manage|do|lead|oversee|head|look after|take care of|teach) (?!it\b"
        rf"|this\b"
        r"|that\b|the same)\S.{1,60}? (?:at|for) (?:the )?(?P<name>\S+)",
        lasting=True,
    ),
    Rule(
        "work",
        "fact",
        rf"{I_DO}work (?:from home|remotely|part[- ]time|full[- ]time|nights|night shifts"
        r"|shifts|freelance)\b",
        lasting=True,
    ),
    Rule(
        "work",
        "fact",
        rf"{I_AM_NOW}(?:working|employed|interning|volunteering|teaching) (?:(?:full[- ]time"
        "|part[- ]time|remotely|now) )?(?:as|at|for) (?!(?:home|night|the (?:moment"
        "|office)|it|this|that|them|now|least|a (?:solution|fix)|my (?:desk)"
        rf"|\d)\b){OBJECT}\S",
        lasting=True,
    ),
    Rule(
        "trade",
        "fact",
        rf"{I_AM}(?:(?:an?|the) (?!(?:same|new) )(?:[\w/&-]+ ){{0,4}}?|(?:cto|ceo|cfo"
        rf"|head) |){TRADES}(?!'s)(?! (?:friend|and you|mode))",
        lasting=True,
    ),
    Rule(
        "trade",
        "fact",
        rf"{I_DO}(?:study|studied|major in|majored in|teach|taught) (?!(?:for|hard|all|the "
        "(?:same|following|docs|code)|a lot|it|this|that|you|me|us|him|her|them|myself$|every"
        r"|more|how|well|together|\w+ how)\b)\S",
        lasting=True,
    ),
    Rule(
        "trade",
        "fact",
        rf"{I_AM_NOW}(?:studying|majoring in|doing (?:a|my) (?:phd|masters?|master's|degree|mba"
        "|residency|apprenticeship|internship)|getting (?:a|my) (?:phd|degree|masters?"
        r"|master's)) ?(?!(?:for|hard|this|that|it|the (?:code|docs))\b)\S?",
        lasting=True,
    ),
    Rule(
        "trade",
        "fact",
        rf"{I_DO}(?:run|own|manage|founded|co-?founded|coach|lead) (?:an?|my own|my|our own"
        rf"|our|the|two|three) (?!(?:\w+ ){{0,2}}(?:script|test|tests|command|query|code"
        r"|risk|mile|marathon|fever|program|loop|errand|bath|error|one)\b)\w",
        lasting=True,
    ),
    Rule(
        "degree",
        "fact",
        rf"(?:{I_DO}|{I_HAVE})(?:have |has |hold |got )?an? (?:\w+ )?(?:degree|phd|doctorate"
        "|ba|bsc|ma|msc|masters?|master's|bachelor'?s?|diploma|certificate|mba"
        r"|background)(?: degree)? in \S",
    ),
    Rule(
        "trait",
        "fact",
        rf"{I_AM_NOW}(?:not )?(?:a |an |strictly |mostly |happily |recently |newly |fully "
        rf"|legally |\w+ly )?{TRAITS}",
        lasting=True,
    ),
    Rule(
        "allergy",
        "fact",
        rf"{I_AM_NOW}(?:(?:severely|deathly|badly|very|super|slightly|mildly|highly|a bit"
        rf"|really) ){{0,2}}(?:allergic|intolerant|sensitive) to (?!(?:that|this|it|you"
        r"|your|bullshit|criticism|work|mornings|stupid|meetings|mondays|paperwork|deadlines|people"
        r"|drama|bureaucracy|fun|change|code|comments|java\w*|php|yaml|excel)\b)\S",
    ),
    Rule(
        "health",
        "fact",
        rf"(?:{I_HAVE}|{I_DO}(?:suffer from|live with) )(?:got )?(?:an? |severe |mild "
        r"|chronic |bad |type \d |my )*(?:asthma|diabetes|adhd|add|autism|dyslexia"
        "|epilepsy|arthritis|migraines|eczema|psoriasis|coeliac disease|celiac disease"
        "|celiac|crohn'?s|ibs|tinnitus|anxiety disorder|depression|bipolar|ocd|ptsd"
        "|high blood pressure|hypertension|heart condition|pacemaker|insomnia|hay ?fever"
        "|endometriosis|fibromyalgia|lupus|ms|parkinson'?s|hearing aids?|a bad (?:back"
        r"|knee))\b",
    ),
    Rule(
        "health",
        "fact",
        r"(?:i was|i'?ve been|i have been|i got|i'?m|i am) (?:\w+ly "
        r"|just )?diagnosed with (?!it\b)\S"
        r"|(?:my|the) (?:doctor|gp|psychiatrist) (?:has |just )?(?:put|prescribed) me (?:on )?\S"
        rf"|{I_DO}take (?!it|this|that)\S+(?: \S+){{0,2}} (?:for my \S|\d+ ?mg|against \S)"
        rf"|{I_HAVE}(?:got )?an? (?:bad|torn|broken|weak|injured|dodgy|stiff|slipped|herniated"
        rf"|artificial"
        r"|replaced|prosthetic) (?:left |right |lower |upper )?(?:knee|back|shoulder|hip|ankle"
        r"|wrist|neck"
        r"|disc|hand|foot|leg|arm|elbow|heart|tendon|ligament|meniscus)\b"
        r"|(?:i|we) (?:use|need|wear|am in|have) (?:an? )?(?:wheelchair|hearing aids?|screen reader"
        r"|walking stick|crutches|insulin pump|cpap|inhaler|epipen)\b",
    ),
    Rule(
        "prefers",
        "preference",
        r"(?:\S+ ){1,8}works? (?:best|better|well) for (?:me|us)$"
        r"|(?:i|we) (?:work|learn|think|focus) (?:best|better) (?:with|in|by|when|at|from) \S",
        lasting=True,
        verbatim=True,
    ),
    Rule(
        "languages",
        "fact",
        rf"{I_DO}speak (?:\w+ly )?(?:fluent |basic |some |native |a (?:bit|little) (?:of "
        rf")?)?{NATIONS}",
    ),
    Rule(
        "attribute",
        "fact",
        rf"(?:my|our) (?:new |old |current |work |personal |home )?{ATTRIBUTE} (?:is|are|was|runs"
        r"|has) (?!\w+ing\b)(?!(?:below|above|attached|correct|in|missing|already|invalid|blank"
        "|empty|taken|public|private|just|being|like|on|not|broken|slow|fast|hard|in the "
        "(?:shop|garage)|dead|here|there|that|this|it|what|why|so|very|too|really|a mess|acting"
        "|making|due|on fire|to (?:make|get|do|have|write|build|find|finish)|driving|full|great"
        r"|good|bad|fine|ok|okay|getting|going|wrong)\b)\S",
        lasting=True,
    ),
    Rule(
        "attribute",
        "fact",
        "(?:my|our) (?:work |home |main |new |old |current |personal |gaming )?(?:car"
        "|bike|phone|laptop|desktop|editor|shell|os|operating system|keyboard|machine"
        "|computer|pc|camera|guitar|tablet|watch|setup|printer|router|wifi|apartment|flat"
        "|house|garden) (?:is|runs|has|is called|is named) (?:(?:called|named) |an? "
        "(?!mess|bit|pain|joke|disaster|lot|little|problem|good|nice|great|beast|toaster|potato"
        "|brick"
        "|dinosaur|wreck|nightmare)"
        r"|(?P<name>\S+))",
        lasting=True,
    ),
)


PEOPLE: tuple[Rule, ...] = (
    # People and animals around them.
    Rule(
        "kin-name",
        "person",
        rf"(?:my|our) {KIN}(?:'s|s')? (?:name'?s? (?:is |are )?|names are |(?:is |are "
        ")?(?:named|called) )(?!(?:me|us|him|her|them|the (?:police|cops)|it|that|this"
        r"|off|yesterday|today|back|again|to|what)\b)\S",
    ),
    Rule(
        "kin-name",
        "person",
        rf"(?:my|our) {KIN}(?: (?:from|at) \w+)? is (?P<name>\S+)(?: [^\W\d_][\w'-]+)?$",
    ),
    Rule(
        "kin-is",
        "person",
        rf"(?:my|our) {KIN}{NAMED}(?: is| are| was| were|'s) (?:(?:also|now|currently"
        rf"|originally|both) )?(?:an? |the )?(?:[\w-]+ ){{0,3}}?(?:{TRADES}|{TRAITS}"
        rf"|{NATIONS}$|allergic to \S|from (?!here|there|the)\S|based in \S|born (?:in"
        rf"|on) \S|{COUNT} (?:years old|months old|weeks old|and|yo\b|y/o)|named after "
        r"\S|diagnosed with \S|due (?:in|on) \S|expecting|terrified of \S|afraid of \S"
        r"|scared of \S|into (?!it|this|that)\S|a (?:big |huge |massive )?fan of (?!it"
        r"|this|that|your?)\S|a (?:\w+ )?(?:labrador|poodle|beagle|spaniel|terrier"
        "|retriever|collie|corgi|tabby|siamese|mutt|mongrel|rescue|lab|bulldog|greyhound"
        "|husky|shepherd|dachshund|pug|ragdoll|persian|maine coon))",
    ),
    Rule(
        "kin-soon",
        "person",
        rf"(?:my|our) {KIN}{NAMED}(?: is| are|'s)? (?:also |now |finally |just )?(?:moving (?:to"
        r"|in|back|out)|getting (?:married|divorced|surgery)|turn(?:s|ing) \d|having (?:a baby"
        "|surgery|twins)|start(?:s|ing) (?:(?:primary |secondary |high |elementary |middle "
        ")?school|college|university|uni|kindergarten|nursery|at|a new|work)|graduates"
        r"|graduating|retires|retiring)\b",
        when="ahead",
    ),
    Rule(
        "kin-does",
        "person",
        rf"(?:my|our) {KIN}{NAMED} (?:(?:also|now|still|always|never|usually|really|only|just"
        rf"|recently|currently|mostly|both) ){{0,2}}(?:lives? (?:in|near|with|on|next|abroad"
        "|alone)|lived in|works? (?:as|at|for|in|with|nights|part|from|on)|worked (?:as|at|for)"
        r"|stud(?:y|ies) \S|teach(?:es)? \S|speaks? \S|plays? (?:the|for|in|guitar|piano|violin"
        "|chess|football|soccer|tennis|hockey|rugby|cricket|basketball|drums|cello)|runs? "
        r"(?:an?|her|his|their) (?!errand|fever)|owns? \S|passed away|died|grew up in|was born"
        "|moved (?:to|in|out|from|back) ?|got (?:married|divorced|engaged|promoted|laid off"
        r"|into)|graduated|retired|joined \S|start(?:s|ed) (?:(?:primary |secondary |high "
        "|elementary |middle )?school|college|university|uni|kindergarten|nursery|high school"
        r"|primary|at|a|working|as|her|his)|turn(?:s|ed) \d|(?:is|are|'s) (?:moving to|getting "
        r"married|studying|working (?:as|at|for|in)|living in|staying with|turning \d|having a "
        r"baby|starting (?:school|college|university|uni|at|a new|kindergarten))|goes to \S|has "
        r"(?:an? )?(?:\w+ )?(?:asthma|diabetes|adhd|autism|dyslexia|epilepsy|alzheimer'?s"
        r"|dementia|parkinson'?s|cancer|arthritis|allerg\w+)|had an? (?:\w+ )?(?:baby|son"
        "|daughter|boy|girl|stroke|heart attack))",
    ),
    Rule(
        "kin-likes",
        "person",
        rf"(?:my|our) {KIN}{NAMED} (?:(?:also|now|still|always|never|usually|really|only|just"
        rf"|absolutely|both) ){{0,2}}(?:loves?|likes?|hates?|prefers?|adores?|enjoys?|collects?"
        "|(?:doesn'?t|don'?t|does not|can'?t|won'?t) (?:like|eat|drink|stand|drive|smoke|fly)"
        rf"|eats?|drinks?) {LIKED}\S",
    ),
    Rule(
        "has-kin",
        "person",
        rf"(?:{I_HAVE}(?:got |had )?|(?:i|we) (?:just|recently|finally) had )(?:an? |{COUNT} "
        rf"|no |\d "
        r"|(?=twins|kids|children))(?:(?:older|younger|little|big"
        "|twin|beautiful|wonderful|lovely|amazing|young|small|adorable|cute|grown|adult"
        "|teenage|rescue|black|golden|old|new|elderly|crazy|pet|step|half"
        r"|[\w-]+[- ]year[- ]old|labrador|siamese|tabby|german|border|ginger|furry"
        rf"|loyal) ){{0,3}}(?:{FAMILY}|sisters|brothers|cousins|nieces|nephews|{PETS}"
        "|grandchildren|boys|girls|labrador|poodle|beagle|spaniel|terrier|retriever"
        r"|collie|husky|twins)\b(?! (?:nodes?|elements?|components?|process|processes"
        "|threads?|class|classes|tables?|divs?|rows?|project|theme|trip|dinner|thing"
        "|person|emergency|friendly|food|allergy|meeting|event|reunion|gathering|issue))",
    ),
    Rule(
        "kin-is",
        "person",
        r"(?!(?:that|this|it|here|there|he|she|who|what|which|one|everyone|nobody|[\w ]*cream"
        r"|coffee|money|music|food|time|work)\b)[^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*)? is (?:my"
        r"|our) (?:(?:older|younger|eldest"
        rf"|youngest|little|big|twin|new) )?(?:{FAMILY}|{ACQUAINTANCE})$",
    ),
)
