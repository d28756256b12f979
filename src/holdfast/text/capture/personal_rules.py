"""Rules for who the person is, what they have and do for good, and the people and animals around
them.
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
    I_DO,
    I_HAVE,
    KIN,
    LIKED,
    NAMED,
    NATIONS,
    OBJECT,
    PETS,
    TRADES,
    TRAITS,
    Rule,
    any_of,
)

SELF: tuple[Rule, ...] = (
    # Who the person is.
    Rule(
        "name",
        "fact",
        r"(?:my|the) name(?:'s| is|s) (?!(?:not|what|the|a|on|of|in|hard|are|were|for|and)\b)"
        r"[^\W\d]\S*",
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
    # 'Our line length is 120', 'our API port is 8443': a value of the project.
    Rule(
        "attribute",
        "project",
        r"our (?:[\w/-]+ ){1,4}(?:is|are) (?:now |still |set to |capped at )?"
        r"(?!\S*(?::\d\d|%|[ap]m\b))[\w.$€£-]*\d\S*(?: (?!of\b|more\b|less\b)[a-z]+)?"
        r"(?=$|,| not | instead| since| now)",
        lasting=True,
        verbatim=True,
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


# In the present tense these say what somebody does all the time, whatever the object is.
_LIFE_VERBS = any_of(
    r"""
    own, drive, ride, rent, raise, breed, foster, sing, dance, paint, draw, knit, sew, bake, brew,
    swim, row, climb, ski, surf, cycle, commute, volunteer, coach, mentor, freelance, homeschool,
    collect, wear, smoke, vape, fast, pray, meditate, weigh, earn, belong to, identify as,
    subscribe to, suffer from, juggle, moderate, co-?own, blog, stream, hunt, fish, garden, sail,
    backpack, babysit, co-?host, practi[cs]e, attend
    """
)
# These do so with some objects only.
_LIFE_PHRASES = any_of(
    r"""
    play (?!with\b|for\b|around\b|it\b|the (?:video|file|sound|audio|clip|game)\b),
    keep (?=(?:bees|chickens|goats|sheep|horses|rabbits|kosher|halal|a (?:diary|journal|garden))\b),
    grow (?=(?:my|our|vegetables|tomatoes|herbs|flowers)\b),
    take (?=(?:the (?:train|bus|metro|tube|tram|subway|ferry)|medication|insulin|antidepressants
    |vitamins?|(?:\w+ ){0,3}lessons|(?:\w+ ){0,3}classes)\b),
    go to (?=(?:church|mass|mosque|synagogue|school|college|university|uni|therapy|the gym)\b),
    go (?=(?:climbing|running|swimming|cycling|hiking|fishing|dancing|jogging|sailing|riding)\b),
    follow (?=an? (?:\w+ ){0,2}diet\b),
    share (?=an? (?:flat|house|apartment|room|office)\b),
    run (?=(?:the|our|my) (?:\w+ ){1,4}(?:of|for|at|department|team|shop|business|farm)\b),
    manage (?=(?:the|an?|our|my|\d+|two|three) (?:\w+ ){0,3}(?:team|people|department|shop|store
    |portfolio|property|budget)\b),
    report to (?=\S), drink (?=(?:\w+ ){0,3}(?:coffees?|teas?|water|wine|beers?|alcohol|milk)\b),
    eat (?=(?:only|no|mostly|vegan|vegetarian|halal|kosher|gluten|low|plant)\b)
    """
)
_SELF_MOCKERY = any_of(
    r"""
    bit, mix, little, lot, king, queen, god, goddess, wizard, ninja, rockstar, legend, machine,
    procrastinator, sucker, idiot, moron, mess, wreck, fool, failure, disaster, genius, monster,
    robot, vampire, zombie, bad (?:person|mood), good (?:mood), position, hurry, rush, loss, one,
    ones, same, only one, kind of, sort of, while, step, point, few, ton, person who needs, problem,
    user of (?:this|your), (?:big |huge |massive )?fan(?:$| of (?:this|that|it|your))
    """
)
_POSSESSIONS = any_of(
    r"""
    cars?, vans?, motorbikes?, motorcycles?, bikes?, boats?, house, flat, apartment, cottage, cabin,
    garden, allotment, greenhouse, balcony, piano, guitars?, violin, cello, drum kit, telescope,
    kiln, sewing machine, 3d printer, monitors?, macbook, thinkpad, laptops?, desktop, gaming pc,
    iphone, ipad, android phone, nas, homelab, raspberry pi, e-?reader, driving licen[cs]e,
    driver'?s licen[cs]e, pilot'?s licen[cs]e, passport, green card, citizenship, dumbbells,
    treadmill, home gym, season ticket, mortgage, tattoos?, glasses, braces
    """
)
_CONDITIONS = any_of(
    r"""
    allerg(?:y|ies), intolerance, disease, disorder, syndrome, condition, injury, implant,
    disability, phobia, addiction, blood pressure, cholesterol, pain, thyroid, deficiency
    """
)
_EXPERIENCE = (
    rf"(?:\d+\+?|{COUNT}|several|many|over \d+) years(?: of|') (?:\w+ ){{0,3}}experience\b"
)
# What a person takes, or is on, for a long time.
_ON = any_of(
    r"""
    (?:\w+ ){0,2}diet, medication, meds, insulin, antidepressants, blood thinners, statins,
    the pill, beta blockers, birth control, dialysis, (?:parental|maternity|paternity|sick) leave,
    a sabbatical, a (?:student |work |tourist )?visa, the (?:board|committee) of, probation
    """
)

_LEARNED = any_of(
    """
    apprenticeship, internship, masters?, master's, phd, degree, bootcamp, traineeship
    """
)

# Plain statements about oneself that no rule for a single kind of fact matches. They come last.
PLAIN: tuple[Rule, ...] = (
    # What one does.
    Rule(
        "self",
        "fact",
        rf"(?:i|we) {ADVERBS}(?:{_LIFE_VERBS} (?!it\b|this\b|that\b|them\b|these\b|those\b)"
        rf"|{_LIFE_PHRASES})\S",
        lasting=True,
    ),
    # What one is.
    Rule(
        "self",
        "fact",
        rf"(?:i'?m|i am) {ADVERBS}(?:an?|the(?= (?:\w+ ){{1,3}}(?:of|at|for|in) ))"
        rf" (?!(?:\w+ )?{_SELF_MOCKERY}\b)[^\W\d_]\w+",
        lasting=True,
    ),
    Rule(
        "self",
        "fact",
        rf"{I_AM_NOW}(?:half [^\W\d_]\w+|on (?:an? |my )?{_ON}\b"
        r"|\d[\d.]* ?(?:m|cm|kg|lbs|pounds|feet|foot|ft)\b"
        r"|in (?:my|our) (?:(?:early|mid|late)[ -])?(?:teens|twenties|thirties|forties|fifties"
        r"|sixties|seventies|\d0s)\b"
        r"|(?:in|at) (?:\w+ )?(?:school|university|college|uni|grade)\b"
        rf"|doing an? {_LEARNED}\b|(?:volunteering|raising|caring for) (?!it\b|this\b|that\b)\S)",
        lasting=True,
    ),
    # What one has.
    Rule(
        "self",
        "fact",
        rf"{I_HAVE}(?:got )?(?:an?|my|our|no|{COUNT}|\d+) (?:[\w.-]+ ){{0,3}}?(?:{_POSSESSIONS}"
        rf"|{_CONDITIONS})\b(?! (?:with (?:this|that|the)|in (?:the|this|my) (?:code|app|script"
        rf"|build)))|{I_HAVE}(?:got )?{_EXPERIENCE}",
        lasting=True,
    ),
    Rule(
        "self",
        "fact",
        r"(?:my|our) (?:\w+ )?(?:budget|team|company|household|school|office|start date|commute"
        r"|mortgage|rent|salary|income|pension|landlord|blood pressure|password manager)"
        r"(?: for (?:\S+ ){1,4}?| (?:at|in) \S+ )? ?(?:is|are|has|consists of|costs)"
        rf" (?:about |around |only )?(?:{COUNT} |[\d$€£]|(?P<name>\S+))",
        lasting=True,
    ),
)
