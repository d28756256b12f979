"""Rows for the people and animals around the person. The table is put together in
capture_rules.py.
"""

from __future__ import annotations

from holdfast.text.capture_grammar import COUNT, I_AM_NOW, I_HAVE, KIN, LIKED, NAMED, Rule
from holdfast.text.capture_words import ACQUAINTANCE, FAMILY, NATIONS, PETS, TRADES, TRAITS

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
        rf"(?:my|our) {KIN}{NAMED} (?:is|are|was|were|'s) (?:(?:also|now|currently"
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
        "kin-is",
        "person",
        rf"(?:my|our) {KIN} (?:is|are) \d{{1,2}}(?:, \d{{1,2}})*,? (?:and|&) \d{{1,2}}\b",
    ),
    Rule(
        "kin-is",
        "person",
        rf"(?:my|our) {KIN}'s (?:(?:also|now|both) )?(?:an? (?:[\w-]+ ){{0,2}}?{TRADES}|{TRAITS}$"
        rf"|{NATIONS}$|allergic to \S|from (?P<name>\S+))",
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
        rf"(?:{I_HAVE}(?:got )?)(?:an? |{COUNT} |no |\d )(?:(?:older|younger|little|big"
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
        "kin-tie",
        "person",
        rf"{I_AM_NOW}(?:happily )?(?:married|engaged) to (?!(?:my (?:work|job)|the (?:job"
        r"|idea))\b)\S",
    ),
    Rule(
        "kin-tie",
        "person",
        rf"{I_AM_NOW}(?:dating (?!(?:this|that|it|things?|a (?:lot|problem|pattern|weird"
        "|strange|bug|few|doctor)|an? error|results?|the|errors|red|double|stars|you|how"
        r"|what|why)\b)\S|seeing (?:a|my) (?:therapist|counsell?or|psychologist"
        r"|psychiatrist|nutritionist|physio\w*|someone))",
    ),
    Rule(
        "kin-is",
        "person",
        r"[^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*)? is (?:my|our) (?:(?:older|younger|eldest"
        rf"|youngest|little|big|twin|new) )?(?:{FAMILY}|{ACQUAINTANCE})$",
    ),
)
