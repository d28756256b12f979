"""Lists of words behind the rules of capture: trades, relatives, animals, events, nations.

A list reads as a sentence does: entries between commas, each a small pattern in lower case. They
are here, apart from the rules, so that somebody can add a trade without reading one.
"""

from __future__ import annotations

import re


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
    hobby, hobbies, budget, religion, faith, main language, stack, tech stack, work(?:ing)? hours,
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
    fast, meal prep, hike, stretch, garden, review, deploy, release, ship, watch, listen, host,
    babysit, drive, jog, work out, hit the gym, sleep, stream, climb, dance, paint, spend,
    go to bed, plan, bake, drop, pick, walk the dog, make
    """
)
