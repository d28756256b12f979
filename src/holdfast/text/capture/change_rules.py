"""Rules for what has changed in the life of the person, what they went through and what was
decided.
"""

from __future__ import annotations

from holdfast.text.capture.vocabulary import (
    ADVERBS,
    I_AM_NOW,
    I_DID,
    JOB,
    KIN,
    NOT,
    OBJECT,
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
        "switched",
        "decision",
        r"(?:we|we'?ve|we have) (?:just |recently |finally )?(?:renamed|rebranded) (?!it\b|this\b"
        r"|that\b|(?:the |a |some |these |those )?(?:\w+ )?(?:files?|functions?|methods?"
        r"|class(?:es)?|variables?|fields?|columns?|parameters?|arguments?|tests?|props?)"
        r"\b)\S.* (?:to|as) \S",
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
