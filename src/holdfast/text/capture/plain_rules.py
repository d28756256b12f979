"""Rules for plain statements about oneself that no rule for a single kind of fact matches: what
somebody is, does as a habit, has for good or went through. Those of single kinds come first.
"""

from __future__ import annotations

from holdfast.text.capture.vocabulary import (
    ADVERBS,
    COUNT,
    I_AM_NOW,
    I_DID,
    I_HAVE,
    KIN,
    Rule,
    any_of,
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

LIFE: tuple[Rule, ...] = (
    # What one goes through once.
    Rule(
        "self",
        "fact",
        rf"{I_DID}(?:got|was|were|been|am) (?:just |recently )?(?:married|divorced|engaged|widowed"
        r"|promoted|laid off|fired|made redundant|born|adopted|hired|naturali[sz]ed)\b"
        rf"|{I_DID}lost (?:my|our) {KIN}\b"
        rf"|{I_DID}(?:took|taken) (?:early retirement|a sabbatical)\b"
        rf"|{I_DID}(?:had|have had) (?:\w+ ){{0,2}}(?:surgery|a stroke|a heart attack|cancer|a"
        r" miscarriage|a (?:knee|hip|heart|liver|kidney) (?:replacement|operation|transplant))\b",
    ),
)

PLAIN: tuple[Rule, ...] = (
    Rule("name", "fact", r"i (?:usually |mostly )?go by (?P<name>[^\W\d_]\S*)"),
    # What one does.
    Rule(
        "self",
        "fact",
        rf"(?:i|we) {ADVERBS}(?:{_LIFE_VERBS} (?!it\b|this\b|that\b|them\b|these\b|those\b)"
        rf"|{_LIFE_PHRASES})\S",
        lasting=True,
    ),
    Rule(
        "self",
        "fact",
        r"(?:i|we) (?:start|begin|join|finish|leave|retire)(?: (?:an?|my|at|as|the|in|from|with|new"
        r"|job|school|working))* (?P<name>\S+).*\b(?:on|in|next|from)\b",
        when="ahead",
        dated=True,
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
