"""The table behind capture.py: which openings of a clause make it a fact, and of which kind.

Patterns are read against the clause in lower case with straight quotes, from its first word on. The
first row that matches decides. What must not stand anywhere in a clause is below the rows. They are
compiled when first needed.
"""

# ruff: noqa: E501 - being laid out

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple


class Rule(NamedTuple):
    """A row: its name, the category it gives, and how a clause of its kind begins.

    `dated` rules hold only for a clause that names a time. `ahead` looks for it in the future.
    `yearly` dates come back each year and get none. `lasting` rules do not hold for a clause that
    speaks of today.
    """

    name: str
    category: str
    pattern: str
    dated: bool = False
    when: Literal["past", "ahead", "yearly"] = "past"
    lasting: bool = False


_ADV = (
    r"(?:(?:just|really|strongly|generally|usually|normally|typically|always|also|actually|absolutely|still|now|mostly"
    r"|mainly|much|personally|genuinely|particularly|especially|currently|recently|finally|already|only|both|never|often"
    r"|totally|truly|definitely|secretly|honestly|originally|primarily|rarely|sometimes|all|even|kinda|deeply|officially"
    r"|tend to|temporarily|simply) ){0,3}"
)
_I = r"(?:i|we) " + _ADV
_AM = r"(?:i'?m|i am|we're|we are|i was|we were) " + _ADV
_IS = r"(?:i'?m|i am|we're|we are) " + _ADV
_HAVE = r"(?:i'?ve|i have|we'?ve|we have) " + _ADV
_DID = r"(?:i|we|i'?ve|i have|we'?ve|we have) " + _ADV
_NOT = r"(?:don'?t|do not|doesn'?t|didn'?t|did not|can'?t|cannot|won'?t)"
_NUMBER = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twin|a couple of)"
)

# What an object may not begin with: it would point to something the clause does not hold.
_OBJ = (
    r"(?!(?:from (?!\w+ to )|for|in|on|at|by|about|around|last|yesterday|today|when|while|the following|frequently|a certain|two projects|some time|a break|it|that|this|these|those|them|him|her|his|he|she|they|you|your|yours|how|what|when|where|why|who|if|whether"
    r"|one|some of|both|either|all of|none|something|anything|everything|nothing|someone|so|too|the (?:idea|look|sound"
    r"|sounds|way|first|second|third|last|other|one|ones|fact|color|colors|colour|colours|design|picture|photo|pic|pics"
    r"|vibe|vibes|energy|concept|name|style|effort|thought|feel|feeling|previous|current|new|latter|former|same|blue"
    r"|red|green|part|answer|result|version|look|suggestion|option|options|title|layout|approach|ending|best|rest|most)"
    r"|to (?:see|hear|know|say|think|be honest)|seeing (?:you|your|how|the)|hearing|option|my (?:job here|new)|being able|learning about it"
    r"|going there|doing that)\b)"
)
_THE_OBJECT = r"(?=the (?:beach|mountains?|outdoors|sea|ocean|smell|taste|countryside|city|theatre|theater|gym|cold|heat|rain|snow|winter|summer|cinema|beatles|violin|guitar|piano)\b)"
_LIKED = rf"(?:{_OBJ}(?!the\b)|{_THE_OBJECT})"

TRADES = (
    r"(?:accountant|actor|actress|actuary|advisor|analyst|anaesthetist|anthropologist|architect|archivist|artist|astronomer|athlete|attorney|author|baker|banker|barber"
    r"|barista|barrister|bartender|beekeeper|biologist|blogger|bookkeeper|botanist|bricklayer|builder|butcher|caregiver|carer|carpenter|cashier|ceo|cfo|chef|chemist|chiropractor|civil servant|cleaner"
    r"|coach|composer|consultant|contractor|cook|copywriter|counsellor|counselor|cto|curator|cyclist|dancer|dentist|dermatologist|designer|dev|developer|dietitian|director|dj|doctor|driver|ecologist|economist|editor|educator|electrician"
    r"|engineer|entrepreneur|executive|farmer|filmmaker|firefighter|fisherman|florist|freelancer|founder|co-?founder|gamer|gardener|geographer|geologist|goldsmith|gp|grad student|hairdresser|historian|homemaker|housewife|illustrator|immunologist|interpreter"
    r"|instructor|investor|janitor|jeweller|journalist|judge|lawyer|lecturer|librarian|linguist|locksmith|machinist|manager|marketer|mathematician|mechanic|medic|merchant|meteorologist|midwife|mason|miner|minister|model|musician|nanny|naturopath|neurologist|nurse|nutritionist|officer|optician|optometrist"
    r"|paediatrician|painter|paralegal|paramedic|pastor|pathologist|pediatrician|pensioner|pharmacist|phd student|philosopher|photographer|physician|physicist|physio|physiotherapist|pianist|pilot|plumber|podcaster|poet"
    r"|police officer|politician|postdoc|potter|preacher|priest|principal|producer|professor|programmer|psychiatrist|psychologist|realtor|receptionist|recruiter|reporter|researcher|retailer|roofer|runner|sailor|salesman|salesperson|scientist"
    r"|secretary|security guard|shepherd|singer|social worker|sociologist|soldier|solicitor|songwriter|statistician|stay-at-home (?:mom|mum|dad|parent)|stylist|streamer|student|surfer|surgeon|surveyor|swimmer|tailor|taxi driver|teacher|teaching assistant|technician|therapist|toolmaker"
    r"|trader|trainer|translator|tutor|undergrad|undergraduate|sophomore|freshman|veteran|vet|veterinarian|videographer|violinist|virologist|waiter|waitress|welder|writer|zookeeper|zoologist)\b"
)
_TRAITS = (
    r"(?:vegan|vegetarian|pescatarian|pescetarian|coeliac|celiac|diabetic|type (?:1|2|one|two) diabetic|asthmatic|epileptic|dyslexic|autistic|colou?r-?blind|left-handed|right-handed"
    r"|lactose[- ]intolerant|gluten[- ]intolerant|gluten[- ]free|teetotal|halal|kosher|deaf|blind|hard of hearing|neurodivergent|bilingual|trilingual|gay|lesbian|bisexual|queer|trans|transgender|non-?binary"
    r"|catholic|christian|muslim|jewish|buddhist|hindu|sikh|atheist|an atheist|agnostic|religious|self-?employed|retired|semi-retired|unemployed|freelance|freelancing|on parental leave|on maternity leave"
    r"|married(?! to (?:my|the) (?:job|work))|divorced|widowed|single|engaged(?! in| with)|separated(?! from the)|pregnant|adopted|an only child|a twin|an introvert|an extrovert|introverted|extroverted|a morning person|an early bird|an early riser|a night owl|a cat person|a dog person"
    r"|a widow|a widower|a single (?:mom|mum|dad|mother|father|parent)|a (?:new |first-time )?(?:mom|mum|dad|mother|father|grandmother|grandfather|grandma|grandpa)|a minimalist|a perfectionist|a polyglot|a pacifist|a feminist|a non-?smoker|a smoker|a vegan|a vegetarian|a celiac|a coeliac)"
    r"(?![\w-])(?! (?:curious|minded|about|to (?:see|say)|with (?:it|that|the)|food|recipe|recipes|options?|dish|dishes|meal|restaurant))"
)
_NATIONS = (
    r"(?:afghan|albanian|algerian|american|argentinian|argentine|armenian|australian|austrian|bangladeshi|basque|belgian|bolivian|bosnian|brazilian|british|bulgarian|cambodian|canadian|catalan|chilean|chinese|colombian|croatian|cuban|czech|danish"
    r"|dominican|dutch|ecuadorian|egyptian|english|estonian|ethiopian|filipino|filipina|finnish|french|georgian|german|ghanaian|greek|hungarian|icelandic|indian|indonesian|iranian|iraqi|irish|israeli|italian|jamaican|japanese|jordanian|kenyan"
    r"|korean|latvian|lebanese|lithuanian|malaysian|maltese|mexican|moroccan|nepali|nepalese|nigerian|norwegian|pakistani|palestinian|persian|peruvian|polish|portuguese|romanian|russian|scottish|serbian|singaporean|slovak|slovenian|somali|spanish"
    r"|sri lankan|swedish|swiss|syrian|taiwanese|thai|tunisian|turkish|ukrainian|uruguayan|venezuelan|vietnamese|welsh)\b"
)
_FAMILY = (
    r"(?:wife|husband|spouse|partner|girlfriend|boyfriend|gf|bf|fianc[eé]e?|mother|mom|mum|mam|mommy|father|dad|parents|folks|sister|brother|siblings|son|sons|daughter|daughters|kids?|children|child|baby|toddler"
    r"|grandmother|grandma|gran|nana|grandfather|grandpa|grandad|granddad|grandparents|grandson|granddaughter|grandkids|aunt|auntie|uncle|cousin|niece|nephew|in-laws|mother-in-law|father-in-law|sister-in-law|brother-in-law"
    r"|stepdad|stepmum|stepmom|stepson|stepdaughter|twins?|ex-wife|ex-husband|ex|family|godson|goddaughter|godmother)"
)
_PETS = r"(?:dogs?|cats?|pupp(?:y|ies)|kittens?|pets?|horses?|rabbits?|hamsters?|parrots?|turtles?|tortoises?|snakes?|guinea pigs?|chickens?|goldfish|birds?|pony|lizard|gecko)"
_ACQUAINTANCE = r"(?:best friend|boss|manager|line manager|co-?founder|business partner|landlord|landlady|flatmate|roommate|housemate|doctor|gp|dentist|therapist|mentor|supervisor|advisor|coach|accountant|lawyer|neighbou?r|assistant|coworker|co-worker|colleague|teammate|friend|team lead|tutor|trainer|nanny|team|company|employer)"
_KIN = rf"(?:(?:older|younger|elder|eldest|oldest|youngest|little|big|late|twin|middle|new|old|baby|half|step|foster|adopted|first|ex|two|three|\d) ){{0,2}}(?:{_FAMILY}|{_PETS}|{_ACQUAINTANCE})"
# 'My brother Tom', 'my dog, Rex,'.
_NAMED = r"(?:,? [\w'-]{2,20},?)?"
_TASKS = r"(?!(?:a ton|all|more|so much|a certain|(?:an?|some|my|two|the|several) (?:(?:new|big|huge|small|cool|special|exciting|little) )*(?:projects?|stuff|things?)(?: lately| in particular| right now| too)?$))(?!(?:(?:an?|the|my|some|this|our|another) )?(?:\w+ ){0,2}(?:e-?mail|letter|function|script|query|test|tests|bug|bugs|error|ticket|pr|issue|regex|message|reply|response|prompt|class|method|loop|homework|assignment|something|things|stuff|question|problem|myself|it|this|that|them|sentence|paragraph|list|code|commit|command|dockerfile|docker|image|container|spreadsheet|formula|bit|few|lot)\b)"
_JOB = r"(?:job|role|position|career|gig|school|course|degree|business|company|shop|store|studio|course|internship|apprenticeship|phd|masters?|master's|programme|program|mba|bootcamp|diet|medication|treatment|therapy)"
_EVENT = (
    r"(?:birthday party|wedding|exam|exams|final|finals|flight|deadline|interview|appointment|surgery|operation|graduation|due date|start date|first day|last day|move|moving day|trip|holiday|vacation|honeymoon|conference|talk|presentation"
    r"|launch|release|go-live|demo|marathon|half marathon|race|concert|recital|visa|passport|lease|contract|warranty|insurance|subscription|licen[cs]e|thesis|dissertation|defen[cs]e|viva|probation|scan|check-?up|baby|meeting|hearing|tournament|competition|gig|show|performance|premiere|opening|reunion|court date|driving test)"
)
_ATTRIBUTE = (
    r"(?:(?:full |first |last |middle |legal |maiden |sur)?name|nickname|surname|pronouns|(?:native|first|mother|second) (?:language|tongue)|mother tongue|home ?town|time ?zone|nationality|blood type|blood group|star sign|zodiac sign|shoe size|ring size|height|job title|title|profession"
    r"|occupation|major|minor|degree|employer|address|home address|postcode|zip code|phone number|mobile number|number plate|e-?mail(?: address)?|(?:github|gitlab|twitter|instagram|discord|steam|slack) (?:handle|username|account|name|user)|username|user name|handle|default (?:branch|shell|editor|language|browser)|go-to \w+|hobby|hobbies|religion|faith|main language|stack|tech stack|work(?:ing)? hours|lunch break|commute|work schedule|diet|daily driver|dream job|resolution|new year's resolution)"
)
_PROJECT = r"(?:(?:\w+ )?(?:project|startup|start-up|app|product|website|site|blog|podcast|channel|business|company|team|thesis|dissertation|novel|book|phd|research|codebase|repo|repository|backend|frontend|front ?end|back ?end|api|database|db|production|prod|staging|server|pipeline|ci|build|stack|infrastructure|service|cluster|side project|shop|store|studio|band|album|game|client|customer|sprint|release|standup|stand-up))"
_BUILDING = r"(?:working on|building|writing|developing|learning|training for|studying for|preparing for|renovating|organi[sz]ing|researching for my|launching|starting|creating|designing|recording|restoring|setting up|opening|migrating|rewriting|porting|teaching myself|remodell?ing|refurbishing|volunteering|mentoring|saving (?:up )?for|taking (?:\w+ )?(?:classes|lessons)|running|planning (?=(?:an?|my|our) (?:\w+ ){0,3}(?:trip|wedding|party|holiday|vacation|move|honeymoon|reunion|gathering|retreat|baby shower)))"
_EACH = (
    r"(?:\b(?:every|each|most) (?:\w+ ){0,2}?(?:day|morning|evening|night|afternoon|week|weekend|weekday|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn|winter|christmas|lunch|hour|sprint|quarter)s?\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bweekdays\b|\bweekends\b|\b(?:mornings|evenings|afternoons|nights)\b|\b(?:daily|weekly|monthly|nightly|biweekly|fortnightly)\b"
    r"|\b(?:once|twice|\w+ times|\d+x) (?:a|per|every) (?:day|week|month|year)\b|\b(?:before|after) (?:work|breakfast|bed|lunch|dinner|school)\b)"
)
_HABITS = r"(?:wake up|get up|go|run|swim|cycle|bike|walk|meditate|journal|work|cook|call|visit|play|train|read|practi[cs]e|do|have|take|eat|drink|meet|start|finish|commute|volunteer|study|clean|shop|pray|exercise|lift|write|teach|attend|skip|fast|meal prep|hike|stretch|garden|review|deploy|release|ship|watch|listen|host|babysit|drive|jog|work out|hit the gym|sleep|stream|climb|dance|paint|spend|go to bed|plan|bake|drop|pick|walk the dog|make)"

RULES: tuple[Rule, ...] = (
    # Changes come first: 'I no longer eat meat' is no preference for meat.
    Rule("no-longer", "fact", rf"(?:i|we) (?:just )?no longer {_OBJ}\w+"),
    Rule("no-longer", "fact", rf"(?:i|we) (?:{_NOT}|ain'?t) (?!know|think|remember|understand|care|feel|want|see|believe|need|get)\w+ .*\b(?:any ?more|any longer)$"),
    Rule("no-longer", "fact", rf"(?:i'?m|i am|we're|we are) (?:not .*\b(?:any ?more|any longer)$|no longer {_OBJ}\w+)"),
    Rule("switched", "decision", rf"{_DID}(?:(?:switched|migrated|transitioned|upgraded|downgraded)(?: \w+){{0,3}} (?:from \S.* )?to|converted to|changed (?:from \S.* |my (?:name|major|surname|degree|diet|plan) (?:from \S.* )?)to) (?!the (?:\w+ )?(?:branch|tab|window|next|other|main|page|screen|view|file|directory|folder)\b){_OBJ}\S"),
    Rule("switched", "decision", rf"{_DID}(?:replaced|swapped) (?:our |my )?(?P<name>\S+).* (?:with|for|by) \S"),
    Rule("stopped", "fact", rf"{_DID}(?:stopped|gave up|given up) (?:my (?:job|role)|{_OBJ}(?!by\b|working\b$|to\b|trying|looking|at\b|in\b|on\b|here|now)\w)"),
    Rule("stopped", "fact", rf"{_DID}quit (?:my|our|drinking|smoking|vaping|coffee|sugar|alcohol|social media|school|college|uni|university|facebook|twitter|instagram|\w+ing)\b"),
    Rule("moved", "fact", rf"{_DID}(?:moved|relocated|emigrated|immigrated) (?:back |house|home|out|in with|away|over |across )?(?:to|from|into|house|home|out of|in with|here from)? ?(?!on\b|past|forward|ahead|(?:to )?(?:the )?(?:next|other|second|last|top|bottom|left|right|end|step) |the (?:file|files|meeting|code|call|date|button|config)|my (?:file|files))\S"),
    Rule("moving", "fact", rf"{_IS}(?:moving|relocating|emigrating) (?:back )?to (?!on\b|the (?:next|new) (?:topic|section|version))\S", when="ahead"),
    Rule("new-job", "fact", rf"{_DID}(?:changed (?:jobs?|careers?|schools|teams|majors?)|got promoted|been promoted|got laid off|been laid off|got fired|been fired|retired|resigned|got (?:an?|my|the) (?:\w+ ){{0,2}}{_JOB}|(?:accepted|landed|took|lost) (?:an?|my|the) (?:\w+ ){{0,3}}(?:{_JOB}|offer))\b"),
    Rule("new-job", "fact", r"(?:i|we) (?:was|were) (?:just |recently )?(?:promoted|laid off|made redundant|fired(?! up)|hired)\b"),
    Rule("started", "fact", rf"{_DID}(?:started|began|joined|founded|co-?founded|launched|opened|left|enrolled|signed up|applied) (?:(?:at|for|in|as|with) )?(?:an? |my |our |the )?(?:\w+ ){{0,3}}{_JOB}\b"),
    Rule("left", "fact", rf"{_DID}(?:left|quit|joined) (?P<name>\S+)(?: |$)"),
    Rule("started", "fact", rf"{_DID}(?:started|began|joined|left|enrolled|quit) (?:working |a (?:new )?job |studying |teaching |training |volunteering )?(?:at|as|for|in) (?!the (?:morning|evening|end|start|beginning|moment|middle)|all\b|first|least|home|work\b|time|fact|general|tears|love){_OBJ}\S"),
    Rule("started", "fact", rf"{_DID}(?:started|began|taken up|took up) (?:learning|playing|studying|taking|teaching|doing|running|training|volunteering|practi[cs]ing|going|seeing|writing|making|painting|attending|collecting) {_OBJ}\S"),
    Rule("joined", "fact", rf"{_DID}joined (?:an?|the|my) (?!tables?\b|dataframes?\b|lists?\b|strings?\b|results\b|datasets?\b|columns?\b|two\b|call\b|meeting\b|chat\b|zoom\b|conversation\b|server\b)\w"),
    Rule("became", "fact", rf"{_DID}(?:became|become) (?!a (?:bit|little|lot|problem|mess))(?:an?|the|vegan|vegetarian|parents|friends with) ?\S"),
    Rule("milestone", "fact", rf"{_DID}(?:got|gotten|been) (?:married|engaged|divorced|remarried)\b"),
    Rule("milestone", "fact", rf"{_DID}(?:married|divorced|adopted|broke up with|split up with|proposed to|separated from) (?:my|an?|two|our) ?\w"),
    Rule("milestone", "fact", rf"{_DID}(?:had|welcomed) (?:an?|our|my|twin) (?:\w+ ){{0,2}}(?:baby|son|daughter|boy|girl|twins|child|miscarriage|stroke|heart attack)\b"),
    Rule("milestone", "fact", rf"{_DID}(?:bought|sold|rented|purchased|inherited|built|leased) (?:an?|our|my|the|two) (?:\w+ ){{0,3}}(?:house|flat|apartment|home|condo|car|bike|motorbike|motorcycle|van|boat|cottage|farm|piano|guitar|studio|place|land|cabin|camper|tesla|house boat|bungalow|company|business|macbook|laptop)\b"),
    Rule("milestone", "fact", rf"(?:i|we) {_ADV}(?:got|adopted|rescued|bought) (?:an?|two|three|our|my|another) (?:\w+ ){{0,3}}{_PETS}\b"),
    Rule("milestone", "fact", rf"{_DID}(?:graduated|dropped out|got my (?:degree|phd|licen[cs]e|diploma|certification|citizenship|green card|visa|masters?|master's|driver'?s licen[cs]e)|(?:passed|failed) (?:my|the) (?:\w+ ){{0,2}}(?:exams?|driving test|test|boards?|finals|class|course|bar|viva|defen[cs]e)|finished my (?:degree|phd|thesis|dissertation|masters?|master's|novel|book|studies|training)|(?:earned|completed|received|defended) my (?:\w+ ){{0,2}}(?:degree|phd|diploma|certificate|certification|training|course|masters?|bachelor'?s?|licen[cs]e|internship|residency|thesis|dissertation|award|apprenticeship))\b"),
    Rule("milestone", "fact", rf"{_DID}(?:was|been|were|got) diagnosed with \S"),
    Rule("milestone", "fact", rf"{_DID}(?:published|released|self-published) (?:my|our|an?) (?:\w+ ){{0,3}}(?:book|novel|album|single|song|paper|article|game|app|ep|screenplay|story|poem|memoir)\b"),
    Rule("milestone", "fact", rf"{_DID}(?:won|placed|came) (?!the argument|it\b|over\b|back\b|up\b|here\b|across\b|to\b|out\b|home\b|in\b|from\b|by\b|down\b)(?:an?|the|my|our|first|second|third|1st|2nd|3rd) ?\S"),
    Rule("milestone", "fact", rf"{_DID}(?:ran|run|finished|completed) (?:an?|my|the|our) (?:\w+ ){{0,3}}(?:marathon|half marathon|triathlon|10k|5k|ironman|race)\b"),
    Rule("milestone", "fact", rf"{_DID}lost my (?:{_KIN})\b"),
    Rule("milestone", "fact", rf"(?:i|we) {_ADV}(?:got|bought) (?:an?|my|our) (?:brand )?new (?P<name>\S+)"),
    # Decisions.
    Rule("decision", "decision", rf"{_DID}(?:decided|agreed|resolved|opted|elected)(?: together)?(?: not)? (?:to|on|that|against|for|in favou?r of) (?!(?:just )?(?:restart|rerun|retry|try|take a break|go to bed|wait|skip|leave it|stay in|stay home|call it|sleep|ask|check|test|run|give it|see|look)\b){_OBJ}\S"),
    Rule("decision", "decision", rf"{_DID}(?:settled on|chose|chosen|picked(?! up| out| apart| on| me)|opted for|ruled out|committed to) (?!the (?:wrong|right|default|following|first|second|last)|wrong|poorly|well|the (?:\w+ )?(?:branch|option)\b){_OBJ}\S"),
    Rule("decision", "decision", rf"{_DID}went with {_OBJ}\S.* (?:over|instead of|rather than) "),
    Rule("decision", "decision", rf"(?:we're|we are) (?:now )?(?:going|sticking) with {_OBJ}\S"),
    Rule("decision", "decision", rf"let'?s (?:go|stick) with (?!option|plan|number|version|approach|\d|yours?\b){_OBJ}\S"),
    Rule("decision", "decision", r"(?:the |our |final |my )?decision(?: is)? ?: ?\S"),
    Rule("decision", "decision", r"(?:the|our|my) (?:final )?decision (?:is|was) to \S"),
    # Who the person is.
    Rule("name", "fact", r"(?:my|the) name(?:'s| is|s) (?!(?:not|what|the|a|on|of|in|hard)\b)[^\W\d]\S*"),
    Rule("name", "fact", r"(?:you can |please |just |everyone |everybody |people |(?:my )?friends |they (?:all )?)?calls? me (?!(?:when|if|back|at|later|tomorrow|crazy|an?|the|old|on|in|out|names|and|every|to|for|asap|now|today|tonight|maybe|lazy|stupid|weird|by)\b)[^\W\d]\w*"),
    Rule("name", "fact", r"(?:i go by|i'?m called|i am called|i'?m known as) (?!(?:the|what|car|train|bus|that)\b)\w"),
    Rule("birthday", "person", rf"(?:my|our) {_KIN}{_NAMED}(?:'s|'|s) (?:\d+\w\w )?(?:birthday|bday|anniversary) (?:is|was|falls) (?:on |in )?(?!party|coming up|soon|great|fun|good|over|approaching|not)\S", when="yearly"),
    Rule("birthday", "fact", r"(?:my|our) (?:\w+'s )?(?:\d+\w\w )?(?:birthday|bday|b-day|wedding anniversary|anniversary|name day) (?:is|was|falls) (?:on |in )?(?!party|coming up|soon|great|fun|good|over|approaching|not|the best)\S", when="yearly"),
    Rule("born", "fact", r"(?:i|we) (?:was|were) (?:born|raised|brought up|adopted) (?!yesterday|to\b|ready|this way|in a barn|different|with\b)\S"),
    Rule("age", "fact", rf"{_IS}(?:\d{{1,2}}|{_NUMBER}) (?:years old|yrs old|years of age|yo\b|y/o)"),
    Rule("age", "fact", r"(?:i|we) (?:just )?(?:turned|turn) \d{2}(?=$| (?:last|this|next|on|in|yesterday|today|years|a few|two))"),
    Rule("age", "fact", r"(?:i'?m|i am) turning \d{2}\b", when="ahead"),
    Rule("lives", "fact", rf"{_I}(?:live|lived|reside|grew up|grow up) (?:(?:in|near|on|with|just outside|outside|by|at|next to|alone|close to|around|between) )(?!(?:fear|hope|hell|peace|the (?:moment|past|present|now|future|dark)|a (?:world|bubble|dream|society|simulation|time|country where)|denial|constant|pain|my (?:head|own)|harmony|luxury|poverty|that|this|it|the same|sin|your|you|me)\b)\S", lasting=True),
    Rule("lives", "fact", rf"{_I}(?:live|lived) (?:alone|abroad|downtown)\b", lasting=True),
    Rule("lives", "fact", rf"{_IS}(?:living|staying|based|located) (?:in|near|with|at|out of|on) (?!(?:fear|hope|bed|hell|peace|the (?:moment|past|present|now|future|car|bus|train|office|dream)|a (?:world|bubble|dream|hotel|meeting)|my (?:head|room)|denial|touch|it|that|this|line|track|top|there|here|home)\b)\S", lasting=True),
    Rule("from", "fact", rf"(?:{_IS}|(?:i|we) {_ADV}come |(?:i|we) {_ADV})(?:originally )?from (?!(?:now|here|there|the (?:start|beginning|future|office|bus|same)|a (?:background|place|family)|that|this|home|work|scratch|time|work)\b)\S"),
    Rule("nation", "fact", rf"{_IS}(?:an? )?(?:half |part |originally |native |naturali[sz]ed )?(?:\w+-)?{_NATIONS}(?: citizen| national| expat| by birth| and \w+| but)?(?:$|,| (?:living|and|but|by|citizen|from|based|national|expat|with))"),
    Rule("work", "fact", rf"{_I}work(?:ed)? (?:(?:full[- ]time|part[- ]time|remotely|freelance|nights|shifts|mostly|mainly) )?(?:as|at|for|in|with) (?!(?:home|night|the (?:moment|morning|evening|office|same|end|past|way|background|dark)|it|this|that|them|him|her|you|your|least|first|a (?:hurry|while|bit|few)|silence|my (?:room|pyjamas|own)|me|now|both|all|hours|progress|bed|pairs)\b){_OBJ}\S", lasting=True),
    Rule("work", "fact", rf"{_I}work (?:from home|remotely|part[- ]time|full[- ]time|nights|night shifts|shifts|freelance)\b", lasting=True),
    Rule("work", "fact", rf"{_IS}(?:working|employed|interning|volunteering|teaching) (?:(?:full[- ]time|part[- ]time|remotely|now) )?(?:as|at|for) (?!(?:home|night|the (?:moment|office)|it|this|that|them|now|least|a (?:solution|fix)|my (?:desk)|\d)\b){_OBJ}\S", lasting=True),
    Rule("trade", "fact", rf"{_AM}(?:(?:an?|the) (?!(?:same|new) )(?:[\w/&-]+ ){{0,4}}?|(?:cto|ceo|cfo|head) |){TRADES}(?!'s)(?! (?:friend|and you|mode))", lasting=True),
    Rule("trade", "fact", rf"{_I}(?:study|studied|major in|majored in|teach|taught) (?!(?:for|hard|all|the (?:same|following|docs|code)|a lot|it|this|that|you|me|us|him|her|them|every|more|how|well|together|\w+ how)\b)\S", lasting=True),
    Rule("trade", "fact", rf"{_IS}(?:studying|majoring in|doing (?:a|my) (?:phd|masters?|master's|degree|mba|residency|apprenticeship|internship)|getting (?:a|my) (?:phd|degree|masters?|master's)) ?(?!(?:for|hard|this|that|it|the (?:code|docs))\b)\S?", lasting=True),
    Rule("trade", "fact", rf"{_I}(?:run|own|manage|founded|co-?founded|coach|lead) (?:an?|my own|my|our own|our|the|two|three) (?!(?:\w+ ){{0,2}}(?:script|test|tests|command|query|code|risk|mile|marathon|fever|program|loop|errand|bath|error|one)\b)\w", lasting=True),
    Rule("degree", "fact", rf"(?:{_I}|{_HAVE})(?:have |has |hold |got )?an? (?:\w+ )?(?:degree|phd|doctorate|ba|bsc|ma|msc|masters?|master's|bachelor'?s?|diploma|certificate|mba|background)(?: degree)? in \S"),
    Rule("trait", "fact", rf"{_IS}(?:not )?(?:a |an |strictly |mostly |happily |recently |newly |fully |legally |\w+ly )?{_TRAITS}", lasting=True),
    Rule("allergy", "fact", rf"{_IS}(?:(?:severely|deathly|badly|very|super|slightly|mildly|highly|a bit|really) ){{0,2}}(?:allergic|intolerant|sensitive) to (?!(?:that|this|it|you|your|bullshit|criticism|work|mornings|stupid)\b)\S"),
    Rule("allergy", "fact", rf"{_HAVE}(?:got )?(?:an? )?(?:\w+ ){{0,2}}(?:allergy|allergies|intolerance)\b"),
    Rule("health", "fact", rf"(?:{_HAVE}|{_I}(?:suffer from|live with) )(?:got )?(?:an? |severe |mild |chronic |bad |type \d |my )*(?:asthma|diabetes|adhd|add|autism|dyslexia|epilepsy|arthritis|migraines|eczema|psoriasis|coeliac disease|celiac disease|celiac|crohn'?s|ibs|tinnitus|anxiety disorder|depression|bipolar|ocd|ptsd|high blood pressure|hypertension|heart condition|pacemaker|insomnia|hay ?fever|endometriosis|fibromyalgia|lupus|ms|parkinson'?s|hearing aids?|a bad (?:back|knee))\b"),
    Rule("health", "fact", rf"{_I}(?:take|am on|use) (?:\w+ ){{0,2}}(?:medication|insulin|antidepressants|statins|an inhaler|blood thinners)\b", lasting=True),
    Rule("languages", "fact", rf"{_I}speak (?:\w+ly )?(?:fluent |basic |some |native |a (?:bit|little) (?:of )?)?{_NATIONS}"),
    Rule("languages", "fact", rf"{_IS}(?:fluent in|a native \w+ speaker|bilingual in)(?! sarcasm| the language)"),
    Rule("attribute", "fact", rf"(?:my|our) {_ATTRIBUTE} (?:is|are|was|runs|has) (?!\w+ing\b)(?!(?:below|above|attached|correct|in|missing|already|invalid|blank|empty|taken|public|private|just|being|like|on|not|broken|slow|fast|hard|in the (?:shop|garage)|dead|here|there|that|this|it|what|why|so|very|too|really|a mess|acting|making|due|on fire|to (?:make|get|do|have|write|build|find|finish)|driving|full|great|good|bad|fine|ok|okay|getting|going|wrong)\b)\S", lasting=True),
    Rule("attribute", "fact", r"(?:my|our) (?:work |home |main |new |old |current |personal |gaming )?(?:car|bike|phone|laptop|desktop|editor|shell|os|operating system|keyboard|machine|computer|pc|camera|guitar|tablet|watch|setup|printer|router|wifi|apartment|flat|house|garden) (?:is|runs|has|is called|is named) (?:(?:called|named) |an? (?!mess|bit|pain|joke|disaster|lot|little|problem|good|nice|great|beast)|(?P<name>\S+))", lasting=True),
    # People and animals around them.
    Rule("kin-name", "person", rf"(?:my|our) {_KIN}(?:'s|s')? (?:name'?s? (?:is |are )?|names are |(?:is |are )?(?:named|called) )(?!(?:me|us|him|her|them|the (?:police|cops)|it|that|this|off|yesterday|today|back|again|to|what)\b)\S"),
    Rule("kin-is", "person", rf"(?:my|our) {_KIN}{_NAMED} (?:is|are|was|were|'s) (?:(?:also|now|currently|originally|both) )?(?:an? |the )?(?:[\w-]+ ){{0,3}}?(?:{TRADES}|{_TRAITS}|{_NATIONS}$|allergic to \S|from (?!here|there|the)\S|based in \S|born (?:in|on) \S|{_NUMBER} (?:years old|months old|weeks old|and|yo\b|y/o)|named after \S|diagnosed with \S|due (?:in|on) \S|expecting|terrified of \S|afraid of \S|scared of \S|into (?!it|this|that)\S|a (?:big |huge |massive )?fan of (?!it|this|that|your?)\S|a (?:\w+ )?(?:labrador|poodle|beagle|spaniel|terrier|retriever|collie|corgi|tabby|siamese|mutt|mongrel|rescue|lab|bulldog|greyhound|husky|shepherd|dachshund|pug|ragdoll|persian|maine coon))"),
    Rule("kin-does", "person", rf"(?:my|our) {_KIN}{_NAMED} (?:(?:also|now|still|always|never|usually|really|only|just|recently|currently|mostly|both) ){{0,2}}(?:lives? (?:in|near|with|on|next|abroad|alone)|lived in|works? (?:as|at|for|in|with|nights|part|from|on)|worked (?:as|at|for)|stud(?:y|ies) \S|teach(?:es)? \S|speaks? \S|plays? (?:the|for|in|guitar|piano|violin|chess|football|soccer|tennis|hockey|rugby|cricket|basketball|drums|cello)|runs? (?:an?|her|his|their) (?!errand|fever)|owns? \S|passed away|died|grew up in|was born|moved (?:to|in|out|from|back) ?|got (?:married|divorced|engaged|promoted|laid off|into)|graduated|retired|joined \S|started (?:school|college|university|uni|kindergarten|nursery|high school|primary|at|a|working|as|her|his)|turn(?:s|ed) \d|(?:is|are) (?:moving to|getting married|studying|working (?:as|at|for|in)|living in|staying with|turning \d|having a baby|starting (?:school|college|university|uni|at|a new|kindergarten))|goes to \S|has (?:an? )?(?:\w+ )?(?:asthma|diabetes|adhd|autism|dyslexia|epilepsy|alzheimer'?s|dementia|parkinson'?s|cancer|arthritis|allerg\w+)|had an? (?:\w+ )?(?:baby|son|daughter|boy|girl|stroke|heart attack))"),
    Rule("kin-likes", "person", rf"(?:my|our) {_KIN}{_NAMED} (?:(?:also|now|still|always|never|usually|really|only|just|absolutely|both) ){{0,2}}(?:loves?|likes?|hates?|prefers?|adores?|enjoys?|collects?|(?:doesn'?t|don'?t|does not|can'?t|won'?t) (?:like|eat|drink|stand|drive|smoke|fly)|eats?|drinks?) {_LIKED}\S"),
    Rule("has-kin", "person", rf"(?:{_HAVE}(?:got )?)(?:an? |{_NUMBER} |no |\d )(?:(?:older|younger|little|big|twin|beautiful|wonderful|lovely|amazing|young|small|adorable|cute|grown|adult|teenage|rescue|black|golden|old|new|elderly|crazy|pet|step|half|[\w-]+[- ]year[- ]old|labrador|siamese|tabby|german|border|ginger|furry|loyal) ){{0,3}}(?:{_FAMILY}|sisters|brothers|cousins|nieces|nephews|{_PETS}|grandchildren|boys|girls|labrador|poodle|beagle|spaniel|terrier|retriever|collie|husky|twins)\b(?! (?:nodes?|elements?|components?|process|processes|threads?|class|classes|tables?|divs?|rows?|project|theme|trip|dinner|thing|person|emergency|friendly|food|allergy|meeting|event|reunion|gathering|issue))"),
    Rule("kin-tie", "person", rf"{_IS}(?:happily )?(?:married|engaged) to (?!(?:my (?:work|job)|the (?:job|idea))\b)\S"),
    Rule("kin-tie", "person", rf"{_IS}(?:dating (?!(?:this|that|it|things?|a (?:lot|problem|pattern|weird|strange|bug|few|doctor)|an? error|results?|the|errors|red|double|stars|you|how|what|why)\b)\S|seeing (?:a|my) (?:therapist|counsell?or|psychologist|psychiatrist|nutritionist|physio\w*|someone))"),
    Rule("kin-is", "person", rf"[^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*)? is (?:my|our) (?:(?:older|younger|eldest|youngest|little|big|twin|new) )?(?:{_FAMILY}|{_ACQUAINTANCE})$"),
    # Likes and dislikes.
    Rule("favourite", "preference", r"(?:my|our) (?:absolute |all[- ]time |current |personal |old |new |second |least )?(?:favou?rite|fave|fav)(?! (?:part|thing|bit|line|scene|moment|one|place here|is|are|was)\b)(?: [\w'-]+){1,5}? (?:is|are|was|has always been|'s) (?!(?:when|how|that|the one|the fact|not|part|this|it|you|your|here|there|what)\b)\S"),
    Rule("prefers", "preference", rf"{_I}(?:prefer|favou?r) (?:{_LIKED}|(?=the (?:\S+ ){{1,5}}(?:over|to|than) ))(?!(?:the )?(?:first|second|third|last|other|latter|former|blue|red|green)\b|not to (?:say|answer|discuss|share|tell|disclose|think))\S", lasting=True),
    Rule("hates", "preference", rf"{_I}(?:hate|dislike|detest|loathe|despise|can'?t stand|cannot stand|can'?t bear|{_NOT} (?:really |particularly |actually )?(?:like|enjoy|love|care for)) {_LIKED}(?!(?:to (?:say|admit|bother|ask|break|be that|complain|interrupt|see|tell|do this)|saying|asking|bother|myself|sounding|my (?:life|self))\b)\S", lasting=True),
    Rule("likes", "preference", rf"{_I}(?:like|love|enjoy|adore|appreciate it when) {_LIKED}(?!(?:to (?:see|hear|know|think|say|thank|ask|try|have|get|make|talk|help|go|join|schedule|book|learn|understand|use|add|build|create)|my (?:new|job here)|being (?:here|able)|our (?:chats?|talks?|conversations?)|chatting|talking (?:to|with) you|having you|working with you|hanging out with you|catching up|a (?:good|nice|few)|to$)\b)\S", lasting=True),
    Rule("likes", "preference", rf"{_IS}(?:not )?(?:(?:really|very|super|big|huge|quite|so|pretty|totally|always) ){{0,2}}(?:an? (?:big |huge |massive |total |lifelong |die-?hard |great |avid |keen )*(?:fan|lover|fanatic|collector|hater) of|fond of|keen on|into|passionate about|obsessed with|addicted to|scared of|afraid of|terrified of) (?!(?:the (?:idea|fact|moment|meeting|zone|weeds|details|result|first|second|last)|hearing|seeing|knowing|what|trouble|learning more|buying|getting|doing that)\b){_OBJ}\S", lasting=True),
    Rule("likes", "preference", rf"{_IS}(?:more of )?an? (?:avid|keen|big|huge|passionate|total) (?:\w+ fan\b|(?:\w+ ){{0,2}}(?:reader|gamer|runner|cyclist|hiker|cook|baker|gardener|collector|photographer|traveller|traveler|swimmer|climber|foodie|knitter|birder|birdwatcher|skier|surfer|coffee drinker|tea drinker)\b)"),
    Rule("likes", "preference", rf"{_IS}(?:more of )?an? (?!(?:nice|good|bad|terrible|horrible|different|private|busy|new|real|normal|changed|better|great|happy|kind|people)\b)[\w-]+ person\b(?! (?:who|that))"),
    Rule("never", "preference", rf"(?:i|we) (?:{_NOT}) (?:really |ever )?(?:eat|drink|smoke|use|wear|drive|cook|watch|own|celebrate|do|speak|read|play|fly|buy|have (?:any |a )?(?:food )?(?:allergies|kids|children|siblings|pets|a car|car|tv|television|smartphone|social media|facebook|instagram|driver'?s licen[cs]e|brothers|sisters|licen[cs]e))(?:$| {_OBJ}(?!(?:much|well|anymore|to|so|too|a lot|good|anything|enough|very|great|the (?:same|right|code|file))\b)\S)", lasting=True),
    Rule("never", "preference", r"(?:i|we) (?:always|never|only|mostly|exclusively|primarily|mainly) (?:ever )?(?:use|eat|drink|write|work|take|buy|wear|read|cook|fly|travel|order|listen to|watch|drive|play|shop|pay|sleep|code|deploy|test|commit|sign|go by) (?!(?:when|it|this|that|these|those|to (?:get|be|know)|them|him|her|you|the (?:best|same|first|second|last|following)|on (?:this|that)|what|for|in)\b)\S", lasting=True),
    Rule("uses", "preference", rf"(?:i|we) (?:(?:mostly|mainly|primarily|usually|generally|normally|currently|now|still|both|all|exclusively|personally|typically|only) ){{0,2}}(?:use|code in|program in|write in|develop on|listen to|wear|take my coffee|drink my) {_OBJ}(?!(?:to\b|the (?:following|above|command|code|same|default)|a (?:lot|different|loop|function|for)|an? \w+ to|too|following|python to|my (?:own|phone|hands|head|imagination|time)))\S", lasting=True),
    Rule("used-to", "fact", r"(?:i|we) (?:also |actually |just )?used to (?!(?:it|that|this|think|say|hear|see|know|feel|believe|be able|get)\b)\w+ \S"),
    Rule("likes", "preference", rf"{_IS}(?:a (?:total |real |big |complete )?(?:sucker|foodie|stickler)(?: for)?|hooked on|crazy about|mad about|fascinated (?:by|with)|all about) {_OBJ}\S", lasting=True),
    Rule("likes", "preference", rf"(?:i'?m|i am) (?:also )?interested in (?!the\b|\w+ing\b|more\b|any\b|getting|a\b|an\b|some\b|both|your|\"|“|how|practical|all|hearing){_OBJ}\S", lasting=True),
    Rule("goal", "project", r"(?:my|our|one of my|one of our) (?:(?:main|big|biggest|ultimate|long-term|life|career|fitness|savings|new year's) (?:goals?|aims?|dreams?|ambitions?|resolutions?)|goals?|aims?|dreams?|ambitions?) (?:is|are) to (?:become|be (?:an?|the|successful)|learn|run an?|lose|save|retire|publish|open|graduate|buy|travel|move|keep (?:teaching|doing|playing)|own|start an?|contribute|devise|write an? (?:book|novel)|get (?:into|fit|my|married)|live|visit|help) ?", lasting=True),
    Rule("uses", "preference", r"(?:i|we) usually (?:watch|read|wear|cook|drink|eat|order|buy|listen to|play) (?!(?:it|this|that|them|these|those|the)\b)\S", lasting=True),
    # What they work on.
    Rule("project", "project", rf"{_IS}(?:busy )?{_BUILDING} {_TASKS}{_OBJ}(?!(?:into|from (?:my|home|here|there|the)|late|out|up|low|an upcoming|(?:an?|the|my|our) (?:upcoming |next |team )*(?:meeting|interview)|a (?:fever|temperature|bit)|on|for|my best|(?:\w+ )?today)\b)\S", when="ahead"),
    Rule("project", "project", rf"{_HAVE}been {_BUILDING} {_TASKS}{_OBJ}(?!(?:a (?:week|while|few|couple|long|month)|into|hard|different)\b)\S", when="ahead"),
    Rule("project", "project", rf"(?:my|our) {_PROJECT}(?: \w+)? (?:is|are|was) (?:(?:now|currently|still) )?(?:called|named|about|on|an?|written in|built (?:with|in|on)|based (?:on|in)|hosted (?:on|at|in)|due (?:on|by|in)?|in (?!progress|trouble|a (?:bad|mess)|the)|using|running on|deployed (?:on|to)|due|launching|scheduled for|open source|opening) (?!(?:mess|bit|disaster|joke|pain|fire|hold|track|slow|lot|success|hit|roller ?coaster|dream|work in progress|big|great|good|huge|challenge|top|point)\b){_OBJ}\S", when="ahead"),
    Rule("project", "project", rf"(?:my|our) {_PROJECT}(?: \w+)? (?:(?:now|currently|mostly|mainly|only|still|primarily) )?(?:uses?|runs? (?:on|in|with|at)|targets?|supports?|lives? in|stores?|depends? on|ships?|consists? of|sells?|makes?|builds?|specializes? in|requires?|meets?|has (?:about |around |over )?(?:\d+|{_NUMBER})|follows?|deploys?|talks? to|sits? in) (?!(?:sense|me|it|up|out|fine|slow|well|into|errors?|this|that|you|sure|progress)\b)\S", lasting=True),
    Rule("project", "project", r"(?:i|we) (?:recently |just |finally |are |'re )?(?:launched|founded|co-?founded|opened|started) (?:an?|my|our|the) (?:own )?(?:\w+ ){0,3}(?:company|startup|business|podcast|blog|channel|shop|store|studio|band|newsletter|app|website|bakery|restaurant|cafe|agency|non-?profit|charity|club|project|initiative|campaign|program|garden)\b"),
    # What comes at a time.
    Rule("event", "fact", r"the (?:[\w'-]+ ){0,4}?(?:deadline|due date|launch|release|go-live|demo|lease|exam|wedding)(?: (?:for|of|to|on|with|at|in) (?:\S+ ){0,6}?\S+)? (?:is|are|will be|(?:got|was|has been) moved to|ends|expires|runs out|starts)\b", dated=True, when="ahead"),
    Rule("event", "fact", rf"(?:my|our) (?:[\w'-]+ ){{0,4}}?{_EVENT}(?: (?:for|of|to|with|at|in|on) (?:\S+ ){{0,6}}?\S+)? (?:is|was|are|will be|got moved to|has been moved to|moved to|was moved to|starts|begins|ends|expires|runs out|opens)\b", dated=True, when="ahead"),
    Rule("event", "fact", rf"(?:{_HAVE}(?:got )?)(?:an?|my|our|the|two) (?:[\w'-]+ ){{0,4}}?{_EVENT}\b", dated=True, when="ahead"),
    Rule("event", "fact", rf"{_IS}(?:getting married|flying|travell?ing|going (?:to (?:the |an? |my )?(?P<name>\S+)|on (?:an?|holiday|vacation|our|honeymoon|parental|maternity)|back to|abroad|away|camping|hiking|skiing)|visiting|starting|having (?:surgery|an? (?:\w+ )?operation|a baby)|taking|running|presenting|speaking|defending|graduating|retiring|leaving|expecting|competing|performing|attending|hosting|touring|due)(?:$| (?!some time|a break|a nap|a look))", dated=True, when="ahead"),
    Rule("event", "fact", r"(?:i|we) (?:will (?:be )?|'?ll (?:be )?)?(?:start(?:ing)?|launch(?:ing)?|release|ship|get married|fly|leave for|graduate|retire|move(?: in| house)?|go live|finish school)(?: |$)", dated=True, when="ahead"),
    Rule("since", "fact", rf"{_HAVE}(?:been|lived|worked|had|played|known|studied|taught|owned|practi[cs]ed|been \w+ing) (?!(?:together|thinking|trying|meaning|having|getting|feeling|waiting|wondering|looking|seeing|there|here|asking|hearing|sick|busy|up|awake|told|sitting|staring|struggling|stuck|better|great|good|crazy|so|really|very|this|it|that|struggling|fighting|hoping|stressed|tired)\b).*\b(?:for (?:\w+ ){{0,3}}(?:years?|decades?|months)|since (?:i was|\d{{4}}|last|\w+ \d{{4}}|january|february|march|april|may|june|july|august|september|october|november|december|childhood|college|university|high school|forever))\b"),
    Rule("happened", "fact", rf"(?!(?:i'?ve|i have|we'?ve|we have) (?:\w+ )?got\b){_DID}(?:visited|went (?:to|on|hiking|camping|skiing|surfing|swimming|diving|kayaking)|attended|participated in|took part in|helped (?:out )?(?:at|with)|got back from|performed|competed|hosted|organi[sz]ed|volunteered|donated|met|auditioned|took (?:an?|my|our|the|up)|hiked|camped|travell?ed|flew|bought|got|restored|sold|presented|gave (?:an?|my)|had (?:an?|my|our)|celebrated|lost|won|broke|injured|opened|launched|planted|painted|tried|submitted|finished|completed|started|adopted|dyed|signed (?:up|a)|climbed|passed|failed|proposed|interviewed|graduated|pitched|applied|saw|joined|ran (?:an?|my)|read|watched|wrote|recorded|published|made (?:an?|my)|built|baked|cooked|harvested|moved) (?!(?:the|this|that|these|an?|my|our|some) (?:\w+ )?(?:tests?|script|code|package|server|build|command|query|error|bug|function|file|files|branch|commit|pr|app|job|pipeline|deployment|migration|logs?|update|upgrade|reply|email|answer|message|look|nap|shower|break|headache|question|idea|problem|issue|chance|pic|picture|photo|lot|hard time|tough time|great time|good time|weird|few))(?!(?:work|lunch|the (?:gym|shop|office|doctor))\b|in\b|on\b|at\b|from\b|for\b|about\b|around\b|last\b|yesterday|two\b|a (?:few|couple|week|month|year)|it\b|this\b|that\b|them\b|so\b|too\b|back\b|up\b|out\b|stuck|tired|lost|sick|an? error|errors|here|there|better|worse|it's|confused|home|to (?:bed|sleep|work|see|know|think|the (?:next|page|link|settings|store|shop|office|bathroom|toilet)))\S", dated=True, lasting=True),
    # What comes again and again.
    Rule("routine", "routine", rf"(?:i|we) (?:(?:usually|always|normally|typically|generally|often|try to|also|tend to|still|both|only|have to|like to) ){{0,2}}{_HABITS}\b.*{_EACH}"),
    Rule("routine", "routine", r"(?:i|we) (?:usually|normally|typically|generally|tend to|always) (?:wake up|get up|go to bed|go to sleep|work|start|finish|have (?:lunch|breakfast|dinner)|eat|skip (?:breakfast|lunch)|take the (?:bus|train|tube|metro|subway)|cycle|walk|run|exercise|train)\b.*\b(?:at|around|by|from|before|after|to work|breakfast|late|early|in the (?:morning|evening|afternoon)s?)\b"),
    Rule("routine", "routine", r"(?:i|we) (?:wake up|get up|go to bed|start work|finish work|leave work|go to sleep) (?:at|around|by|before|after) \d"),
    Rule("routine", "routine", rf"(?:my|our) (?:[\w'-]+ ){{0,3}}(?:is|are|happens?|starts?|takes? place|meets?) .*{_EACH}"),
    Rule("routine", "routine", rf"(?:the team|everyone|our team) (?:meets|has|does|gathers) .*{_EACH}"),
)  # fmt: skip

# Anywhere in a clause: it is supposed, wished, hedged, or taken back.
SUPPOSED = re.compile(
    r"\b(?:if|unless|would|wouldn'?t|could|couldn'?t|should|might|maybe|perhaps|suppose|imagine|pretend|wish|wishing"
    r"|hope|hopefully|hypothetical\w*|probably|possibly|guess|supposedly|allegedly|apparently|wonder\w*|thinking (?:about|of)|considering"
    r"|not sure|dunno|almost|nearly|tempted|fingers crossed|or something|or whatever|kind of wish|someday|one day|dream(?:ed|t)? (?:that|of))\b"
    r"|(?:^| )(?:i|we)'d\b|\bor\b.*\?"
)
# What points to something that the clause does not hold.
POINTS = re.compile(
    r"\b(?:it|it'?s|this|these|those|here|there|you|you're|your|yours|yourself|thing|things|stuff|both of them|same|ones|such|one|also that|so much better|later|that day|that name|the next day|the other day|myself some)\b"
    r"|\bthat$|\bthat(?= (?:too|as well|for|in|on|at|with|from|to|by|part|thing|one|way|kind|sort|idea|place|guy|now))"
)
# With a relative in the clause these are somebody.
THIRD = re.compile(r"\b(?:he|she|him|her|his|hers|they|them|their|theirs)\b")
PASSING = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|for now|just now|this (?:morning|week|evening|afternoon|time|weekend)|at present|a minute|a sec|until (?:later|then)|for the moment|temporarily|in this case|for this (?:one|task|project)?)\b"
)
# Where the first verb is about what somebody might do, the clause states nothing yet.
WANTED = re.compile(
    r"(?:i|we) (?:\w+ly |just |also |still |really )?(?:want|need|wanna|gotta|plan|intend|have to|had to|should|must|hope|tried|try|think|guess|believe|feel|know|forgot|remember|mean|meant|heard|saw|said|asked|wonder|wish)\b"
)

OPENING = re.compile(
    r"(?:(?:and|but|so|also|ok|okay|btw|by the way|actually|please|oh|well|yes|yeah|yep|yup|no|nope|nah|hi|hello|hey|hiya|hi there|hey there|hello there|morning|good morning|good evening|good afternoon|fyi|ps|p\.s\.|pps|anyway|anyways|plus|then|right|sure|thanks|thank you|cheers|lol|haha|hmm+|um+|uh+|ah+|wow|cool|great|nice|look|listen|see|honestly|tbh|frankly|personally|for context|context|some context|background|for background|just so you know|just fyi|just to let you know|so you know|to be clear|to be honest|in general|in case it matters|for the record|as you know|as i said|like i said|as i mentioned|like i mentioned|turns out|fun fact|btw just|guess what|big news|good news|bad news|great news|news|update|quick update|edit|correction|note|unfortunately|luckily|fortunately|sadly|thankfully|happily|finally|basically|the thing is|thing is|because|cause|cuz|since|as|yet|now|these days|nowadays|currently|at work|at home|in my free time|in my spare time|when it comes to \w+|for me|about me|a bit about me|a little about me|me|user|human|first|second|third|lastly|also just|besides|still|(?:after|following) [^,?]{3,60}?(?=,? (?:i|we) (?:decided|agreed|settled|chose)\b),?|i think you should know(?: that)?|you should know(?: that)?|did i mention(?: that)?|i should mention(?: that)?|i should say(?: that)?|i forgot to (?:say|mention)(?: that)?|i meant to tell you(?: that)?|just remembered|so yeah|well yeah|mind you|need to mention|important|heads up|in fact|especially as|especially since|remember)[,:!.]*(?: -+| –| —)? +|[^\w\s'\"(]+ *)"
)
# 'Every morning I run' is told as 'Runs every morning'.
FRONTED = re.compile(
    rf"(?P<when>(?:on |in |at )?(?:the )?(?:{_EACH}|(?:mornings|evenings|weekends|weekdays))(?: (?:before|after) work)?|(?:last|next|this) (?:week|month|year|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend)|yesterday|in (?:\d{{4}}|january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{{4}})?|(?:\d+|{_NUMBER}|a few|a couple of) (?:days|weeks|months|years) ago),? (?=(?:i|we)(?:'?m|'?ve|'ll)? )"
)


@lru_cache(maxsize=1)
def compiled() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """The rows with their patterns, compiled once a process."""
    return tuple((rule, re.compile(rule.pattern)) for rule in RULES)
