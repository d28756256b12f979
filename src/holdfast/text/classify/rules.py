"""The tables behind `classifier`: which words make a note a preference, an event, a lasting fact.

Each row has a name that docs/reference/classification.md explains. Order matters: the first row
that matches decides. Patterns are read against folded text (lower case, no accents, straight
quotes) and are compiled when first needed.
"""

from __future__ import annotations

from typing import NamedTuple


class ClassifyRule(NamedTuple):
    """A row: the value it gives, its name, and when it matches.

    One of `cues` must be a word of the text (no cues: any text will do), and the text must begin
    with `opening` or hold `pattern` (neither of them: the cue is enough). Cues also spare most
    patterns from being run, and so do `inside`, words of which `pattern` needs one, and `sign`,
    characters without which it matches nothing.
    """

    gives: str
    name: str
    cues: frozenset[str]
    pattern: str = ""
    sign: str = ""
    opening: str = ""
    inside: frozenset[str] = frozenset()


def _cues(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ANY_TEXT: frozenset[str] = frozenset()

_FAMILY = (
    "wife|husband|spouse|partner|girlfriend|boyfriend|fiance|fiancee|mother|mom|mum|father|dad"
    "|parent|parents|sister|brother|sibling|siblings|son|sons|daughter|daughters|child|children"
    "|kid|kids|baby|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew"
)
_ACQUAINTANCE = (
    "friend|boss|manager|colleague|coworker|teammate|mentor|doctor|dentist|therapist|lawyer"
    "|accountant|neighbour|neighbor|landlord|roommate|flatmate|teacher|coach|client"
)
_RELATION_CUES = frozenset(f"{_FAMILY}|{_ACQUAINTANCE}".split("|"))
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
ORDERS = (
    "run|open|click|use|set|go|execute|type|press|call|add|install|edit|create|select|start|stop"
    "|delete|copy|restart|log|hold|turn|check|ssh|export|push|pull|build|wait|enter|remove|move"
    "|put|mix|bake|pour|heat|write|update|download|clone|commit|merge|tag|deploy|verify|test|save"
    "|ask"
)

# What a numbered step begins with; wider than ORDERS, since the number is evidence already.
STEP_ORDERS = frozenset(ORDERS.split("|")) | _cues(
    "git npm docker cd pip choose confirm configure connect drag fill find follow get give insert"
    " let make navigate pick place prepare read repeat review scan send sign stir switch take tap"
    " unplug upload visit activate apply assign attach drain"
)

_CHOICE_CUES = _cues("decided chose opted settled agreed decision went picked chosen going")
_CHOICE = (
    r"\b(?:we|i|he|she|they|team|user|have|has|was|were|been)(?:'ve| have| has)? (?:\w+ly )?"
    r"(?:decided|chose|opted|settled on|agreed (?:to|on)|going with)\b"
    r"|\b(?:went with|picked|chosen|going with)\b[^.]*\b(?:over|instead of|rather than|because)\b"
    r"|\bdecision (?:is|was|made|to)\b"
)
_CHOICE_OPENING = r"(?:decided|chose|opted|agreed|settled on|decision)\b"

_NAME_ELSEWHERE = "меня зовут|我叫|我的名字|名前は|제 이름"

CATEGORY_RULES = (
    ClassifyRule(
        "decision",
        "a choice that was made",
        _CHOICE_CUES,
        _CHOICE,
        opening=_CHOICE_OPENING,
    ),
    ClassifyRule(
        "person",
        "someone by relation",
        _RELATION_CUES,
        opening=r"(?:(?:the )?user's|my|our|his|her"
        r"|(?:i have|(?:the )?user has) (?:an?|one|two|three)"
        r"|[\w .'-]{2,40} is (?:my|our|the user's|user's)) (?:\w+ ){0,2}?"
        rf"(?:{_FAMILY}|{_ACQUAINTANCE})\b",
    ),
    ClassifyRule(
        "preference",
        "likes, dislikes and favourites",
        _cues(
            "prefer prefers preferred preference preferences favorite favourite favorites"
            " favourites like likes dislike dislikes love loves hate hates enjoy enjoys rather"
            " stand fan fond"
        ),
        r"\bprefer(?:s|red|ences?)?\b|\bfavou?rites?\b|\b(?:dislikes|loves|hates|enjoys)\b"
        r"|(?<!\d )(?<!got )(?<!many )(?<!of )\blikes\b"
        r"|\b(?:i|we|user|they) (?:also |just |don't |do not |\w+ly )*"
        r"(?:like|love|hate|dislike|enjoy)\b"
        r"|(?:'d| would) rather\b|can't stand\b|\b(?:fan of|fond of)\b",
    ),
    ClassifyRule(
        "preference",
        "standing orders to the agent",
        _cues(
            "always never don not use answer reply respond write speak call keep no wants please"
            " avoid"
        ),
        r"\bno emojis?\b|\bwants (?:me|you|the agent|answers|replies|responses|code)\b",
        opening=r"(?:always|never|do not|don't) (?!mind\b|know\b|think\b|forget\b|been\b|had\b"
        r"|was\b|saw\b|went\b|\w+ed\b|\w+[^s]s\b)[a-z]+\b"
        r"|please (?:always|never|use|answer|reply|respond|write|keep|avoid|call me|do not"
        r"|don't)\b"
        r"|(?:from now on|going forward|in future),? (?:always |never |please )?"
        rf"(?:{ORDERS}|answer|reply|keep)\b"
        r"|use\b.*\b(?:not|instead of|over|rather than|by default|everywhere)\b"
        r"|(?:answer|reply|respond|write|speak)(?: to me)? (?:in|with|briefly|concisely|only)\b"
        r"|call me\b|keep (?:answers|replies|responses)\b|avoid\b",
        inside=_cues("emoji emojis wants"),
    ),
    ClassifyRule(
        "preference",
        "what the user uses or eats",
        _cues("use uses vegetarian vegan pescatarian halal kosher"),
        opening=r"(?:i|(?:the )?user) (?:only |\w+ly )?uses? (?!to\b)"
        r"|(?:i am|i'm|(?:the )?user is|he is|she is|\w+ is|is|eats) (?:an? )?(?:strictly )?"
        r"(?:vegetarian|vegan|pescatarian|halal|kosher)\b",
    ),
    ClassifyRule(
        "preference",
        "likes in German, Spanish, French, Italian, Portuguese, Turkish",
        _cues(
            "mag bevorzuge bevorzugt liebe hasse lieber prefiero prefiere gusta gustan prefere"
            " prefiro aime adore preferisco preferisce piace tercih seviyorum"
        ),
        r"\bich (?:mag|bevorzuge|liebe|hasse)\b|\bbevorzugt\b|\b(?:trinkt|nutzt|mag) lieber\b"
        r"|\bprefier[oe]\b|\b(?:me|le) gustan?\b|\bje prefere\b|\bj'(?:aime|adore)\b"
        r"|\beu prefiro\b|\bpreferisc[oe]\b|\bmi piace\b|\btercih ed|\bseviyorum\b",
    ),
    ClassifyRule(
        "preference",
        "likes in Russian, Chinese, Japanese, Korean, Thai, Hindi",
        _ANY_TEXT,
        "предпочита|я люблю|喜欢|喜歡|偏好|好き|좋아|ชอบ|पसंद",
    ),
    ClassifyRule(
        "routine",
        "what comes again and again",
        _cues(
            "every each daily weekly biweekly monthly nightly hourly quarterly yearly annually"
            " usually normally typically weekdays weekends mornings evenings mondays tuesdays"
            " wednesdays thursdays fridays saturdays sundays"
        ),
        r"\b(?:every|each) (?:other |second |single |two |three |\d+ |first |last )*"
        r"(?:day|night|morning|evening|afternoon|week|weekday|weekend|month|quarter|year|sprint"
        rf"|hour|summer|winter|{_DAY})s?\b|\b{_DAY}s\b"
        r"|\bon (?:weekdays|weekends)\b|\bin the (?:mornings|evenings)\b"
        r"|\b(?:daily|(?:bi)?weekly|monthly|nightly|quarterly|yearly) (?:stand-?up|meeting|sync"
        r"|call|review|report|backup|run|walk|1:1|check-?in|retro|newsletter|job|build|demo)s?\b"
        r"|\b(?:runs?|happens?|meets?|rotates?|renews?|backs? up|reviews?|pays?|sends?|visits?)\b"
        r".*\b(?:daily|weekly|biweekly|monthly|nightly|hourly|quarterly|yearly|annually)\b"
        r"|\b(?:usually|normally|typically) (?:gets?|wakes?|goes|go|eats?|starts?|finish(?:es)?"
        r"|works?|runs?|meets?|takes?|leaves?|has|have|deploys?|ships?|sleeps?|drinks?)\b",
    ),
    ClassifyRule(
        "person",
        "name, birth and family status",
        _cues(
            "name birthday born married engaged pronouns native old anniversary heisse llamo"
            " appelle"
        ),
        r"\b(?:my|user's|his|her) (?:\w+ )?(?:nick)?name is\b|\bbirthday\b"
        r"|\bborn (?:in|on)\b|(?:\b(?:is|am|got|are)|'m) (?:married|engaged)\b|\bpronouns\b"
        r"|\bnative (?:speaker|language|tongue)\b|(?:\b(?:is|am)|'m) \d{1,3} years old\b"
        r"|\banniversary\b|\bich heisse\b|\bme llamo\b|\bje m'appelle\b",
        opening="name: ",
    ),
    ClassifyRule(
        "person", "a name in Russian, Chinese, Japanese, Korean", _ANY_TEXT, _NAME_ELSEWHERE
    ),
    ClassifyRule(
        "project",
        "words of software projects",
        _cues(
            "repo repos repository codebase monorepo backend frontend microservice microservices"
            " endpoint endpoints deploy deploys deployment staging linter dockerfile makefile"
            " changelog codename refactor refactoring readme ci pnpm npm webhook"
        ),
    ),
    ClassifyRule(
        "project",
        "a part of a project and what it does",
        _cues(
            "project service api app server database library module package build website site"
            " cli branch stack tests suite product feature release schema"
        ),
        r"\b(?:project|service|api|app|server|database|library|module|package|build|website|site"
        r"|cli|branch|stack|tests|test suite|product|feature|release|schema)\b(?: \w+)? "
        r"(?:is|are|uses?|runs?|lives?|has|have|needs?|depends|talks|was|will|must|requires?"
        r"|supports?|connects|listens|targets|goes|go|takes?|can)\b"
        r"|\bside project\b|\bpackage manager\b",
        opening=r"(?:the|our|this) project\b",
    ),
    ClassifyRule(
        "project",
        "a path in a code base",
        _ANY_TEXT,
        r"(?:^|[\s`(])(?:~|\.{1,2})?/[\w.-]+/[\w./-]+"
        r"|\b[\w-]+/[\w./-]+\.(?:py|tsx?|jsx?|go|rs|java|rb|md|ya?ml|toml|json|sql|sh|c|cpp|h)\b",
        sign="/",
    ),
    ClassifyRule(
        "person",
        "work and home",
        _cues(
            "work works job live lives speak speaks engineer developer designer teacher nurse"
            " doctor student manager lawyer writer scientist researcher architect consultant"
            " analyst founder artist chef pilot"
        ),
        r"\bi work (?:at|for|as)\b|\b(?:i|we) live in\b|\b(?:my|user's) job\b"
        r"|(?:\b(?:he|she|user)|^(?!this|that|it)\w+(?: \w+)?) works (?:at|for|as an?) "
        r"(?!expected|intended|me\b|us\b|all\b|everyone|both|scale|least|most|any)"
        r"|(?:\b(?:he|she|user)|^(?!the |this |that |our |it )\w+(?: \w+)?) lives in\b"
        r"|\b\w+ speaks? (?:english|german|french|spanish|italian|chinese|mandarin|japanese"
        r"|russian|arabic|portuguese|dutch|hindi|turkish|polish)\b"
        r"|(?:\bi am|\bi'm|\buser is) an? (?:\w+ ){0,3}(?:engineer|developer|designer|teacher"
        r"|nurse|doctor|student|manager|lawyer|writer|scientist|researcher|architect|consultant"
        r"|analyst|founder|artist|chef|pilot)\b",
    ),
)

# A technology that the text names is in use: 'Built with Django'.
USED = (
    r"\b(?:uses?|using|built (?:with|on|in)|written in|runs? on|deployed (?:to|on|with)"
    r"|hosted on|powered by|migrat\w+ (?:to|from))\b"
)
DECISION_HEADLINE = r"\badr\b|\bdecision (?:record|log)\b|^decision:"

HEADLINE_KINDS = (
    ClassifyRule(
        "rationale",
        "a headline that promises reasons",
        _ANY_TEXT,
        r"\badr\b|\bdecision (?:record|log)s?\b|\brationale\b|\btrade-?offs?\b"
        r"|\bpros and cons\b|\bwhy (?:we|i|the|not|use|do|did)\b|\bdesign review\b",
    ),
    ClassifyRule(
        "procedural",
        "a headline that promises instructions",
        _ANY_TEXT,
        r"\bhow-?to\b|\b(?:runbook|playbook|checklist|tutorial|recipe|onboarding"
        r"|instructions|procedure|troubleshooting|step[- ]by[- ]step)\b"
        r"|\b(?:set-?up|install(?:ation)?|deploy(?:ment)?|migration|release|upgrade) "
        r"(?:guide|steps|process)\b",
        opening=r"how (?:to|do)\b|(?:setting up|installing|deploying|getting started)\b",
    ),
    ClassifyRule(
        "episodic",
        "a headline of an event",
        _ANY_TEXT,
        r"\b(?:meeting|call|interview|workshop|1:1|one-on-one|planning|sync|session) "
        r"(?:notes|summary|recap|log)\b|\bminutes\b|\b(?:stand-?up|retro(?:spective)?"
        r"|post-?mortem|incident|journal|diary|daily log|weekly (?:update|report|review)"
        r"|status (?:update|report)|trip report)\b",
        opening=r"\W*\d{4}-\d{2}-\d{2}\b",
    ),
)

KIND_RULES = (
    ClassifyRule(
        "rationale",
        "a choice that was made",
        _CHOICE_CUES,
        _CHOICE,
        opening=_CHOICE_OPENING,
    ),
    ClassifyRule(
        "rationale",
        "a reason for how things are",
        _cues("reason rationale tradeoff tradeoffs trade pros because since so due why"),
        r"\breason (?:is|was|why|we|i|for|being)\b|\brationale\b|\btrade-?offs?\b"
        r"|\bpros and cons\b|\b(?:we|team) (?:use|avoid|don't use|do not use|keep|kept|need"
        r"|rejected|dropped|moved|switched|migrated|store|pin|run)\b[^.]*"
        r"\b(?:because|since|so that|due to)\b",
        opening=r"why (?:we|i|not|the)\b",
    ),
    ClassifyRule(
        "procedural",
        "instructions",
        _cues(
            "how step to before after when whenever if run execute type use open click press"
            " install restart first started built deployed installed restarted"
        ),
        rf"\bstep (?:1|one)\b|\bfirst,? (?:{ORDERS})\b.*\bthen\b"
        r"|\b(?:can be|is|are) (?:started|run|built|deployed|installed|restarted) "
        r"(?:with|by|via|using) ",
        opening=r"how (?:to|do i|do we)\b"
        rf"|to [a-z]+\b[^.\n]{{2,80}}?[,:] (?:you |first |just )*`?(?:{ORDERS})\b"
        r"|(?:before|after|when|whenever|if) [^,\n]{3,80}, (?:always |first |then )*"
        rf"(?:{ORDERS})\b|(?:run|execute|type|use) `[^`\n]+`"
        r"|run (?:the|make|npm|git|docker|python|all|tests)\b"
        r"|(?:open|click|press|install|restart) (?:the|your|on|ctrl|cmd)\b",
        inside=_cues("step first started run built deployed installed restarted"),
    ),
    ClassifyRule(
        "episodic",
        "a time that passes",
        _cues("yesterday today tonight tomorrow this last next ago gestern heute ayer hoy"),
        r"\b(?:yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening|weekend)"
        r"|gestern|heute|ayer|hoy)\b"
        rf"|\b(?:last|next) (?:night|week|weekend|month|{_DAY})\b"
        r"|\b(?:\d+|an?|two|three|few) (?:minute|hour|day|week|month)s? ago\b",
    ),
    ClassifyRule(
        "episodic",
        "yesterday and today in Russian, Chinese, Japanese, Korean",
        _ANY_TEXT,
        "вчера|сегодня|昨天|今天|昨日|今日|어제|오늘",
    ),
    ClassifyRule(
        "episodic",
        "an event in the past",
        _cues(
            "went met visited attended talked spoke flew celebrated watched had called fixed"
            " released ordered booked saw merged finished shipped deployed bought got sent told"
            " asked lost broke won"
        ),
        r"(?:^|\b\w+ )(?:went (?!with\b)|met (?:with |up |\w+ (?:at|in|for|on)\b)|visited"
        r"|attended|talked|spoke|flew|celebrated|watched)\b"
        r"|\b(?:i|we|he|she|they) (?:called|fixed|released|ordered|booked|saw|merged|finished"
        r"|shipped|deployed|bought|got|sent|told|asked|lost|broke|won)\b"
        r"|\bhad (?:an? |lunch|dinner|coffee|breakfast)(?:\w+ )?"
        r"(?:meeting|call|chat| ?with| at| together)\b",
    ),
    ClassifyRule(
        "episodic",
        "a line about a meeting or an incident",
        _ANY_TEXT,
        opening=r"(?!(?:daily|(?:bi)?weekly|monthly|quarterly|yearly|regular)\b)"
        r"(?:[\w'-]+ ){0,2}?(?:stand-?up|retro(?:spective)?|call|demo|1:1|one-on-one|sync|kick-?off"
        r"|incident|outage|post-?mortem|sprint (?:review|planning)|planning|refinement|workshop"
        r"|interview|meeting|town ?hall|all-hands|off-?site|check-?in|review|visit|lunch|dinner"
        r"|breakfast|coffee|beer|brunch|session|training|appointment|dentist|doctor|call-out"
        r"|handover|debrief|status|update)(?:: |,? (?:with|of the|about|in [a-z]+:) ?)(?!is\b)",
    ),
    ClassifyRule(
        "episodic",
        "a dated line",
        _ANY_TEXT,
        opening=r"(?:on )?(?:\d{4}-\d{2}-\d{2}"
        r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?)\b"
        r"(?! is\b)",
    ),
)

# A line that begins with one of these tells of how things are since then, not only of an event.
LASTING_CHANGES = _cues(
    "moved relocated switched migrated joined left quit started stopped became married divorced"
    " engaged adopted retired graduated changed renamed replaced born based named called located"
    " licensed allergic used written hosted kept stored managed owned supported interested red"
    " need decided chose chosen agreed opted settled picked promoted gave given took lived worked"
    " studied taught grew built set put cut let read run"
)

STABILITY_RULES = (
    ClassifyRule(
        "volatile",
        "a state that will pass",
        _cues(
            "now moment temporarily temporary until week sprint progress wip blocked do todo"
            " waiting office vacation holiday leave debugging deadline due remind today tomorrow"
            " tonight"
        ),
        r"\b(?:right now|for now|at the moment|temporar(?:y|ily)|this (?:week|sprint)"
        r"|in progress|wip|blocked (?:on|by)|waiting (?:for|on)|out of (?:the )?office"
        r"|on (?:vacation|holiday|leave)|debugging|deadline|due (?:on|by|date)|remind|today"
        rf"|tomorrow|tonight|until (?:{_DAY}|tomorrow|next|the end|further|\d))\b|\bto-?do:",
    ),
    ClassifyRule(
        "evolving",
        "a state that lasts a while",
        _cues("currently lately days planning plans working learning trying considering"),
        r"\b(?:currently|lately|these days|plan(?:s|ning) to|working on|learning"
        r"|trying (?:to|out)|considering)\b",
    ),
    ClassifyRule(
        "stable",
        "who someone is",
        _cues(
            "name birthday born blood allergic allergy native pronouns anniversary named called"
            " heisse llamo appelle"
        ),
        r"\bname is\b|\bbirthday\b|\bborn (?:in|on)\b|\bblood type\b|\ballerg(?:ic|y)\b"
        r"|\bpronouns\b|\bnative (?:speaker|language|tongue)\b|\banniversary\b|\bich heisse\b"
        r"|\bme llamo\b|\bje m'appelle\b"
        rf"|\b(?:{_FAMILY}|dog|cat|pet|horse)\b.*\b(?:named|called)\b",
    ),
    ClassifyRule(
        "stable",
        "family",
        _RELATION_CUES,
        rf"\b(?:my|user's) (?:\w+ )?(?:{_FAMILY}) is (?!in\b|at\b|on\b|ill\b|sick\b)\w+",
    ),
    ClassifyRule(
        "stable", "a name in Russian, Chinese, Japanese, Korean", _ANY_TEXT, _NAME_ELSEWHERE
    ),
    ClassifyRule(
        "stable",
        "what a word means",
        _cues("stands means defined glossary acronym short abbreviation licensed definition"),
        r"\bstands for\b|\b(?:is|are) defined as\b|\bglossary\b|\blicensed under\b"
        r"|\bis (?:short|an? (?:acronym|abbreviation)) for\b|\bdefinition of\b",
        opening=r"\W?[\w -]{1,30}\W? means\b",
    ),
)

# Every word that makes a rule worth trying.
CUES = frozenset[str]().union(
    *(
        words
        for rule in (*CATEGORY_RULES, *KIND_RULES, *STABILITY_RULES)
        for words in (rule.cues, rule.inside)
    )
)

STABLE_HEADLINE = (
    r"\b(?:glossary|terminology|definitions?|principles|mission|design doc(?:ument)?"
    r"|architecture|spec(?:ification)?|licen[cs]e|rfc)\b"
)
