"""Word lists and patterns of the capture rules: nouns by kind, how a clause begins, what its object
may not be, and words that decide whether a clause is a statement at all. Patterns are in lower case
with straight quotes.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from holdfast.text.patterns import lazy

# Nouns


def any_of(entries: str) -> str:
    """A pattern that matches any entry of a list."""
    split = (" ".join(entry.split()) for entry in re.split(r",\s", entries))
    return f"(?:{'|'.join(split)})"


TRADES = (
    any_of(
        """
    accountant, actor, actress, actuary, advisor, anaesthetist, analyst, anthropologist,
    architect, archivist, artist, astronomer, athlete, attorney, author, baker, banker, barber,
    barista, barrister, bartender, beekeeper, biologist, blogger, bookkeeper, botanist,
    bricklayer, builder, butcher, caregiver, carer, carpenter, cashier, ceo, cfo, chef, chemist,
    chiropractor, civil servant, cleaner, coach, co-?founder, composer, consultant, contractor,
    cook, copywriter, counsellor, counselor, cto, curator, cyclist, dancer, dentist,
    dermatologist, designer, dev, developer, dietitian, director, dj, doctor, driver, ecologist,
    economist, editor, educator, electrician, engineer, entrepreneur, executive, farmer,
    filmmaker, firefighter, fisherman, florist, founder, freelancer, freshman, gamer, gardener,
    geographer, geologist, goldsmith, gp, grad student, hairdresser, historian, homemaker,
    housewife, illustrator, immunologist, instructor, interpreter, investor, janitor, jeweller,
    journalist, judge, lawyer, lecturer, librarian, linguist, locksmith, machinist, manager,
    marketer, mason, mathematician, mechanic, medic, merchant, meteorologist, midwife, miner,
    minister, model, musician, nanny, naturopath, neurologist, nurse, nutritionist, officer,
    optician, optometrist, paediatrician, painter, paralegal, paramedic, pastor, pathologist,
    pediatrician, pensioner, pharmacist, phd student, philosopher, photographer, physician,
    physicist, physio, physiotherapist, pianist, pilot, plumber, podcaster, poet, police officer,
    politician, postdoc, potter, preacher, priest, principal, producer, professor, programmer,
    psychiatrist, psychologist, realtor, receptionist, recruiter, reporter, researcher, retailer,
    roofer, runner, sailor, salesman, salesperson, scientist, secretary, security guard,
    shepherd, singer, social worker, sociologist, soldier, solicitor, songwriter, sophomore,
    statistician, stay-at-home (?:mom|mum|dad|parent), streamer, student, stylist, surfer,
    surgeon, surveyor, swimmer, tailor, taxi driver, teacher, teaching assistant, technician,
    therapist, toolmaker, trader, trainer, translator, tutor, undergrad, undergraduate, vet,
    veteran, veterinarian, videographer, violinist, virologist, waiter, waitress, welder, writer,
    zookeeper, zoologist
    """
    )
    + r"\b"
)

TRAITS = any_of(
    """
    vegan, vegetarian, pescatarian, pescetarian, coeliac, celiac, diabetic,
    type (?:1|2|one|two) diabetic, asthmatic, epileptic, dyslexic, autistic, colou?r[- ]?blind,
    (?:left|right)[- ]handed, lactose[- ]intolerant, gluten[- ]intolerant, gluten[- ]free,
    teetotal, halal, kosher, deaf, blind, hard of hearing, neurodivergent, bilingual, trilingual,
    self[- ]taught,
    gay, lesbian, bisexual, queer, trans, transgender, non-?binary, catholic, christian, muslim,
    jewish, buddhist, hindu, sikh, atheist, an atheist, agnostic, religious, self-?employed,
    retired, semi-retired, unemployed, freelance, freelancing, on parental leave,
    on maternity leave, married(?! to (?:my|the) (?:job|work)), divorced, widowed, single,
    engaged(?! in| with), separated(?! from the), pregnant, adopted, an only child, a twin,
    an introvert, an extrovert, introverted, extroverted, a morning person, an early bird,
    an early riser, a night owl, a cat person, a dog person, a widow, a widower,
    a single (?:mom|mum|dad|mother|father|parent),
    a (?:new |first-time )?(?:mom|mum|dad|mother|father|grandmother|grandfather|grandma|grandpa),
    a minimalist, a perfectionist, a polyglot, a pacifist, a feminist, a non-?smoker, a smoker,
    a vegan, a vegetarian, a celiac, a coeliac
    """
) + (
    # 'Vegan options' are no trait of who speaks.
    r"(?![\w-])(?! (?:curious|minded|about|to (?:see|say)|with (?:it|that|the)|food|recipes?"
    r"|options?|dish|dishes|meal|restaurant))"
)

NATIONS = (
    any_of(
        """
    afghan, albanian, algerian, american, argentine, argentinian, armenian, australian, austrian,
    bangladeshi, basque, belgian, bolivian, bosnian, brazilian, british, bulgarian, cambodian,
    canadian, catalan, chilean, chinese, colombian, croatian, cuban, czech, danish, dominican,
    dutch, ecuadorian, egyptian, english, estonian, ethiopian, filipina, filipino, finnish,
    french, georgian, german, ghanaian, greek, hungarian, icelandic, indian, indonesian, iranian,
    iraqi, irish, israeli, italian, jamaican, japanese, jordanian, kenyan, korean, latvian,
    lebanese, lithuanian, malaysian, maltese, mexican, moroccan, nepalese, nepali, nigerian,
    norwegian, pakistani, palestinian, persian, peruvian, polish, portuguese, romanian, russian,
    scottish, serbian, singaporean, slovak, slovenian, somali, spanish, sri lankan, swedish,
    swiss, syrian, taiwanese, thai, tunisian, turkish, ukrainian, uruguayan, venezuelan,
    vietnamese, welsh
    """
    )
    + r"\b"
)

FAMILY = any_of(
    """
    aunt, auntie, baby, bf, boyfriend, brother, brother-in-law, child, children, cousin, dad,
    daughter, daughters, ex, ex-husband, ex-wife, family, father, father-in-law, fianc[eé]e?,
    folks, gf, girlfriend, goddaughter, godmother, godson, gran, grandad, granddad,
    granddaughter, grandfather, grandkids, grandma, grandmother, grandpa, grandparents, grandson,
    husband, in-laws, kids?, mam, mom, mommy, mother, mother-in-law, mum, nana, nephew, niece,
    parents, partner, siblings, sister, sister-in-law, son, sons, spouse, stepdad, stepdaughter,
    stepmom, stepmum, stepson, toddler, twins?, uncle, wife
    """
)

PETS = any_of(
    """
    birds?, cats?, chickens?, dogs?, gecko, goldfish, guinea pigs?, hamsters?, horses?, kittens?,
    lizard, parrots?, pets?, pony, pupp(?:y|ies), rabbits?, snakes?, tortoises?, turtles?
    """
)

ACQUAINTANCE = any_of(
    """
    best friend, boss, manager, line manager, co-?founder, business partner, landlord, landlady,
    flatmate, roommate, housemate, doctor, gp, dentist, therapist, mentor, supervisor, advisor,
    coach, accountant, lawyer, neighbou?r, assistant, coworker, co-worker, colleague, teammate,
    friend, team lead, tutor, trainer, nanny, team, company, employer
    """
)

JOB = any_of(
    """
    job, role, position, career, gig, school, course, degree, business, company, shop, store,
    studio, internship, apprenticeship, phd, masters?, master's, programme, program, mba,
    bootcamp, diet, medication, treatment, therapy
    """
)

EVENT = any_of(
    """
    birthday party, wedding, exam, exams, final, finals, flight, deadline, interview,
    appointment, surgery, operation, graduation, due date, start date, first day, last day, move,
    moving day, trip, holiday, vacation, honeymoon, conference, talk, presentation, launch,
    release, go-live, demo, marathon, half marathon, race, concert, recital, visa, passport,
    lease, contract, warranty, insurance, subscription, licen[cs]e, thesis, dissertation,
    defen[cs]e, viva, probation, scan, check-?up, baby, meeting, hearing, tournament,
    competition, gig, show, performance, premiere, opening, reunion, court date, driving test
    """
)

ATTRIBUTE = any_of(
    r"""
    (?:full |first |last |middle |legal |maiden |sur)?name, nickname, surname, pronouns,
    (?:native|first|mother|second) (?:language|tongue), mother tongue, home ?town, time ?zone,
    nationality, blood type, blood group, star sign, zodiac sign, shoe size, ring size, height,
    job title, title, profession, occupation, major, minor, degree, employer, address,
    home address, postcode, zip code, (?:phone |mobile )?number, number plate,
    e-?mail(?: address)?,
    (?:github|gitlab|twitter|instagram|discord|steam|slack) (?:handle|username|account|name|user),
    username, user name, handle, default (?:branch|shell|editor|language|browser), go-to \w+,
    hobby, hobbies, budget, editor, ide, shell, browser, terminal, os, distro,
    religion, faith, main language, stack, tech stack, work(?:ing)? hours,
    lunch break, commute, work schedule, diet, daily driver, dream job, resolution,
    new year's resolution
    """
)

BUILDING = any_of(
    r"""
    working on, building, writing, developing, learning, training for, studying for,
    preparing for, renovating, organi[sz]ing, researching for my, launching, starting, creating,
    designing, recording, restoring, setting up, opening, migrating, rewriting, porting,
    teaching myself, remodell?ing, refurbishing, volunteering, mentoring, saving (?:up )?for,
    taking (?:\w+ )?(?:classes|lessons), running,
    planning (?=(?:an?|my|our) (?:\w+ ){0,3}(?:trip|wedding|party|holiday|vacation|move)\b)
    """
)

HABITS = any_of(
    """
    wake up, get up, go, run, swim, cycle, bike, walk, meditate, journal, work, cook, call,
    visit, play, train, read, practi[cs]e, do, have, take, eat, drink, meet, start, finish,
    commute, volunteer, study, clean, shop, pray, exercise, lift, write, teach, attend, skip,
    fast, hike, stretch, garden, review, deploy, release, ship, watch, listen, host,
    babysit, drive, jog, work out, hit the gym, sleep, stream, climb, dance, paint, spend,
    go to bed, plan, bake, drop, pick, walk the dog, make
    """
)


# Grammar


class Rule(NamedTuple):
    """A rule: its name, the category of its facts, and the pattern that a clause begins with.

    A `dated` rule needs a clause that names a time. `when` says in which direction to look for the
    time (see `wording.resolve`); a 'yearly' date recurs and gets no year. A `lasting` rule does not
    apply to a clause about today. What a `verbatim` rule finds is kept in the person's own words.
    The group `name` must begin with a capital letter.
    """

    name: str
    category: str
    pattern: str
    dated: bool = False
    when: Literal["past", "ahead", "near", "yearly"] = "past"
    lasting: bool = False
    verbatim: bool = False


ADVERBS = (
    "(?:(?:just|really|strongly|generally|usually|normally|typically|always|also|actually"
    "|absolutely|still|now|mostly|mainly|much|personally|genuinely|particularly"
    "|especially|currently|recently|finally|already|only|both|never|often|totally|truly"
    "|definitely|secretly|honestly|originally|primarily|rarely|sometimes|all|even|kinda"
    "|deeply|officially|tend to|temporarily|simply) ){0,3}"
)

# 'We' includes the speaker, so it counts as 'I'.
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

# What an object may not begin with: it would refer to something outside the clause.
OBJECT = (
    r"(?!(?:from (?!\w+ to )|for|in|on|at|by|about|around|last|yesterday|today|when|while"
    "|the following|frequently|a certain|two projects|some time|a break|it|that|this"
    "|these|those|them|him|her|his|he|she|they|you|your|yours|mine|ours|theirs|how|what|when"
    "|where|why|who"
    "|if|whether|one|some of|both|either|all of|none|something|anything|everything"
    "|nothing|someone|so|too|the (?:idea|look|sound|sounds|way|first|second|third|last"
    "|other|one|ones|fact|color|colors|colour|colours|design|picture|photo|pic|pics|vibe"
    "|vibes|energy|concept|name|style|effort|thought|feel|feeling|previous|current|new"
    "|latter|former|same|blue|red|green|part|answer|result|version|look|suggestion|option"
    "|options|title|layout|approach|ending|best|rest|most)|to (?:see|hear|know|say|think"
    "|be honest)|seeing (?:you|your|how|the)|hearing|option|my (?:job here|new)|being "
    r"able|learning about it|going there|doing that)\b)"
)
# 'The design' is something at hand; 'the sea' is not.
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

# Short tasks, and work without a subject.
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
    "|repo|repository|monorepo|backend|frontend|front ?end|back ?end|api|database|db|production"
    "|prod|staging|server|pipeline|ci|build|stack|infrastructure|service|cluster|side "
    "project|shop|store|studio|band|album|game|client|customer|sprint|release|standup"
    "|stand-up))"
)

# What makes an activity a habit.
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


# Statements


# The clause is hypothetical, a wish, hedged or retracted.
SUPPOSED = lazy(
    r"\b(?:if|unless|would|wouldn'?t|could|couldn'?t|should|might|maybe|perhaps|suppose"
    r"|imagine|pretend|wish|wishing|hope|hopefully|hypothetical\w*|probably|possibly|guess"
    r"|supposedly|allegedly|apparently|wonder\w*|thinking (?:about|of)|considering|not "
    "sure|dunno|almost|nearly|tempted|fingers crossed|or something|or whatever|kind of "
    r"wish|someday|one day|dream(?:ed|t)? (?:that|of))\b|(?:^| )(?:i|we)'d\b|\bor\b.*\?"
)
# The clause refers to something outside it.
POINTS = lazy(
    r"\b(?:it|it'?s|this|these|those|here|there|you|you're|your|yours|yourself|thing"
    "|things|stuff|both of them|same|ones|such|one|also that|so much better|later|that "
    r"day|that name|the next day|the other day|myself some)\b|\bthat$|\bthat(?= (?:too|as "
    "well|for|in|on|at|with|from|to|by|part|thing|one|way|kind|sort|idea|place|guy|now))"
)
# With a relative in the clause, these refer to that person.
THIRD = lazy(r"\b(?:he|she|him|her|his|hers|they|them|their|theirs)\b")
# True only for a while.
PASSING = lazy(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|for now|just now|this "
    "(?:morning|week|evening|afternoon|time|weekend)|at present|a minute|a sec|until "
    "(?:later|then)|for the moment|temporarily|in this case|for this (?:one|task"
    r"|project)?)\b"
)
# Greetings, fillers and transitions, which are dropped.
_OPENINGS = any_of(
    r"""
    and, but, so, also, ok, okay, btw, by the way, actually, please, oh, well, yes, yeah, yep,
    yup, no, nope, nah, wrong, hi, hello, hey, hiya, hi there, hey there, hello there, morning,
    good morning, good evening, good afternoon, fyi, ps, p\.s\., pps, anyway, anyways, plus,
    then, right, sure, thanks, thank you, cheers, lol, haha, hmm+, um+, uh+, ah+, wow, cool,
    great, nice, look, listen, see, honestly, tbh, frankly, personally,
    (?:for |some |quick |for some |a bit of )?(?:context|background), just so you know, just fyi,
    just to let you know, (?:a )?(?:quick |short |brief )?(?:intro|introduction)(?: \w+){0,3},
    before i forget,
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
OPENING = lazy(
    rf"(?:(?:{_OPENINGS}|(?:after|following) [^,?]{{3,60}}?"
    r"(?=,? (?:i|we) (?:decided|agreed|settled|chose)\b),?)"
    r"[,:!.]*(?: -+| –| —)? +|[^\w\s'\"(]+ *)"
)
# 'Every morning I run' is worded as 'Runs every morning'.
FRONTED = lazy(
    rf"(?P<when>(?:on |in |at )?(?:the )?(?:{EACH}|(?:mornings|evenings|weekends"
    "|weekdays))(?: (?:before|after) work)?|(?:last|next|this) (?:week|month|year|spring"
    "|summer|autumn|fall|winter|january|february|march|april|may|june|july|august"
    "|september|october|november|december|monday|tuesday|wednesday|thursday|friday"
    rf"|saturday|sunday|weekend)|yesterday|in (?:\d{{4}}|january|february|march|april|may"
    rf"|june|july|august|september|october|november|december)(?: \d{{4}})?|(?:\d+"
    rf"|{COUNT}|a few|a couple of) (?:days|weeks|months|years) ago"
    r"|(?:from|starting) (?!now|here)\w+(?: on)?),? (?=(?:i|we)(?:'?m|'?ve|'ll)? )"
)

# What the person asks to be remembered follows one of these.
EXPLICIT = lazy(
    r"(?:(?:can|could|would|will) you +)?(?:please +|pls +)?(?:also +)?(?:(?:remember|keep in mind"
    r"|bear in mind|don'?t forget|do not forget|never forget|make a note|take note|memori[sz]e"
    r"|save (?:this|to memory|in memory)|store (?:this|in memory)|add to (?:your )?memory"
    r"|note to self|note down|write down|commit to memory)(?: this| the following)?"
    r"(?: for (?:later|next time|the future))?(?: *[:,] *| +that +| +(?=(?:i|i'?m|we|my|our) "
    r"|the .{2,60} (?:is|are|was|were|has|have|will|can|must|goes|runs|starts|lives|uses) ))"
    r"|for (?:future|later) reference *[,:]? +)"
    # 'Remember that time …' is not a request.
    r"(?! |(?:time|day|one|when|night|guy|thing|the time|the day|to|you|your|how|what|where|who)\b)"
)
DECISION_LABEL = lazy(r"(?:the |our |final |my )?decision(?: is)? ?: ?")
# Addressed to the assistant.
TO_YOU = lazy(r"\b(?:you|you're|you'll|your|yourself)\b(?! (?:should|must|always|never))")
# 'Moved to Lisbon': the subject is left out. Past forms only, since others are also imperatives.
SUBJECTLESS = lazy(
    r"can'?t stand |(?:just |finally |recently |also )?(?:been (?:\w+ing|into)|lost|started|moved"
    "|got|quit|joined|switched|bought|sold|adopted|became|decided|graduated|had|won|finished|met"
    "|went|left|opened|launched|retired|visited|attended|landed|broke up|signed up|stopped|gave "
    "up|passed|dyed|ran|turned|celebrated|volunteered|performed|accepted|resigned) "
)
# Every rule begins with one of these.
STARTS = lazy(
    "(?:i|i'?m|i'?ve|we|we're|we'?ve|my|our|from now on|the|production|prod|staging|deadline"
    "|due date|one of|call"
    r"|calls|people|everyone|everybody|friends|they|just|please|you|all|deploys|deployments|builds"
    r"|releases|backups|tests|logs|secrets|migrations)\b|.{1,60} is (?:my|our) "
    r"|.{1,80} works? (?:best|better|well) for (?:me|us)"
    r"|\S+(?: \S+)? (?:owns|maintains|is responsible|is in charge|takes care|handles|leads) "
)
# Words that only end a sentence.
LAST_WORDS = tuple(
    f" {word}"
    for word in (  # noqa: SIM905 - a list of thirty quoted words is harder to read
        "too|as well|either|though|tho|lol|haha|btw|by the way|fyi|tbh|actually|honestly|please|pls"
        "|thanks|thank you|xd|x|xx|you know|of course|obviously|right|ok|okay|anyway"
        "|if that matters|in case that helps|so far|unfortunately|and|but|so"
    ).split("|")
)
# Phrases that look like references and are not: 'this year', 'one of'.
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
POINTS_NOWHERE = lazy(
    r"\bthis (?:year|month|spring|summer|autumn|fall|winter|week|weekend|coming \w+|past \w+"
    rf"|{_MONTHS})\b|\bone (?:of|son|daughter|dog|cat|brother|sister|kid|child)\b|\bsame-"
    r"|\bthese days\b|\bit when\b|\b(?:over|than|to) \w+ ones\b"
)
