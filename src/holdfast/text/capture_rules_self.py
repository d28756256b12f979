"""Rows for who the person is. The table is put together in capture_rules.py."""

from __future__ import annotations

from holdfast.text.capture_grammar import (
    ADVERBS,
    COUNT,
    I_AM,
    I_AM_NOW,
    I_DO,
    I_HAVE,
    KIN,
    NAMED,
    OBJECT,
    Rule,
)
from holdfast.text.capture_words import ATTRIBUTE, NATIONS, TRADES, TRAITS

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
        "name",
        "fact",
        "(?:i go by|i'?m called|i am called|i'?m known as) (?!(?:the|what|car|train|bus"
        r"|that)\b)\w",
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
        "born",
        "fact",
        r"(?:i|we) (?:was|were) (?:born|raised|brought up|adopted) (?!yesterday|to\b|ready"
        r"|this way|in a barn|different|with\b)\S",
    ),
    Rule(
        "age",
        "fact",
        rf"{I_AM_NOW}(?:\d{{1,2}}|{COUNT}) (?:years old|yrs old|years of age|yo\b|y/o)",
    ),
    Rule(
        "age",
        "fact",
        r"(?:i|we) (?:just )?(?:turned|turn) \d{2}(?=$| (?:last|this|next|on|in|yesterday"
        "|today|years|a few|two))",
    ),
    Rule(
        "age",
        "fact",
        r"(?:i'?m|i am) turning \d{2}\b",
        when="ahead",
    ),
    Rule(
        "lives",
        "fact",
        rf"{I_DO}(?:live|lived|reside|grew up|grow up) (?:(?:in|near|on|with|w/?|just outside"
        "|outside|by|at|next to|alone|close to|around|between) )(?!(?:fear|hope|hell"
        "|peace|the (?:moment|past|present|now|future|dark)|a (?:world|bubble|dream"
        "|society|simulation|time|country where)|denial|constant|pain|my (?:head|own)"
        r"|harmony|luxury|poverty|that|this|it|the same|sin|your|you|me)\b)\S",
        lasting=True,
    ),
    Rule(
        "lives",
        "fact",
        rf"{I_DO}(?:live|lived) (?:alone|abroad|downtown)\b",
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
        "nation",
        "fact",
        rf"{I_AM_NOW}(?:an? )?(?:half |part |originally |native |naturali[sz]ed "
        rf")?(?:\w+-)?{NATIONS}(?: citizen| national| expat| by birth| and \w+| but)?(?:$"
        "|,| (?:living|and|but|by|citizen|from|based|national|expat|with))",
    ),
    Rule(
        "work",
        "fact",
        rf"{I_DO}work(?:ed)? (?:(?:full[- ]time|part[- ]time|remotely|freelance|nights"
        "|shifts|mostly|mainly) )?(?:as|at|for|in|with) (?!(?:home|night|the (?:moment"
        "|morning|evening|office|same|end|past|way|background|dark)|it|this|that|them"
        "|him|her|you|your|least|first|a (?:hurry|while|bit|few)|silence|my (?:room"
        rf"|pyjamas|own)|me|now|both|all|hours|progress|bed|pairs)\b){OBJECT}\S",
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
        "kin-order",
        "fact",
        r"(?:i'?m|i am) the (?:youngest|oldest|eldest|middle child|second|third)(?: of|$)",
    ),
    Rule(
        "health",
        "fact",
        rf"{I_AM_NOW}on (?:blood thinners|insulin|antidepressants|statins|medication|meds|beta "
        rf"blockers|an? (?:\w+ ){{0,2}}diet|the (?:\w+ )?(?:diet|pill)|hrt|chemo)\b",
        lasting=True,
    ),
    Rule(
        "never",
        "fact",
        "(?:i|we) never (?:learned|learnt|got|went) (?:how )?(?:to (?:swim|drive|ride|cook|read"
        r"|university|college|school|uni)|my (?:\w+ )?licen[cs]e)\b",
    ),
    Rule(
        "nation",
        "fact",
        rf"{I_HAVE}(?:got )?(?:an? )?(?:dual |\w+ )?(?:citizenship|nationality|passport)\b(?! "
        "(?:control|number|photo))",
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
        r"|your|bullshit|criticism|work|mornings|stupid)\b)\S",
    ),
    Rule(
        "allergy",
        "fact",
        rf"{I_HAVE}(?:got )?(?:an? )?(?:\w+ ){{0,2}}(?:allergy|allergies|intolerance)\b",
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
        rf"{I_DO}(?:take|am on|use) (?:\w+ ){{0,2}}(?:medication|insulin|antidepressants"
        r"|statins|an inhaler|blood thinners)\b",
        lasting=True,
    ),
    Rule(
        "languages",
        "fact",
        rf"{I_DO}speak (?:\w+ly )?(?:fluent |basic |some |native |a (?:bit|little) (?:of "
        rf")?)?{NATIONS}",
    ),
    Rule(
        "languages",
        "fact",
        rf"{I_AM_NOW}(?:fluent in|a native \w+ speaker|bilingual in)(?! sarcasm| the language)",
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
        "(?!mess|bit|pain|joke|disaster|lot|little|problem|good|nice|great|beast)"
        r"|(?P<name>\S+))",
        lasting=True,
    ),
)
