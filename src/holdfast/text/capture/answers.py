"""Reads a short answer together with the question that it answers: 'Nuts.' after 'Any allergies?'
is an allergy. Only questions about the person, how they work and what they want done from now on
are read; a question about the task at hand is not. The words of the answer are kept.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.text.analysis.spans import fold_in_place as fold
from holdfast.text.capture.vocabulary import NATIONS, PASSING, POINTS, TRADES, TRAITS, any_of
from holdfast.text.capture.wording import finish
from holdfast.text.patterns import lazy

# A longer answer says itself what it is about.
_ANSWER_CHARS_MAX = 80
_ANSWER_WORDS_MAX = 9


class _Question(NamedTuple):
    """A kind of question, and the statement that an answer to it makes."""

    pattern: str
    statement: str
    category: str = "fact"


# The first that matches decides.
_QUESTIONS = (
    _Question(
        r"\b(?:allerg(?:y|ies|ic)|allergien?|allergies|alergias?|allergie|allergico|allergisch)\b",
        "Allergies: {}",
    ),
    _Question(
        r"\b(?:your (?:\w+ )?name|(?:should|may|can) i call you|(?:hei(?:ß|ss)t du|hei(?:ß"
        r"|ss)en sie"
        r"|t'appelles|vous appelez|te llamas|se llama usted|ti chiami|te chamas|seu nome"
        r"|heet je))\b",
        "Name is {}",
    ),
    _Question(
        r"\bwhere (?:do|are) you (?:live|living|based|located)\b|\b(?:which|what) (?:city|town"
        r"|country) (?:do|are) you\b|\bwhere are you from\b"
        r"|\b(?:wo (?:wohnst|lebst) du|où habites|où habitez|dónde vives|dove (?:abiti|vivi)"
        r"|onde (?:moras|você mora|vives)|waar woon je)\b",
        "Lives in {}",
    ),
    _Question(r"\b(?:diet|dietary (?:needs|restrictions|preferences|requirements))\b", "Diet: {}"),
    _Question(r"\b(?:kids|children)\b", "Children: {}", "person"),
    _Question(r"\bpets?\b", "Pets: {}", "person"),
    _Question(
        r"\b(?:what do you do (?:for (?:work|a living)|professionally)|your (?:job|occupation"
        r"|profession)|you do for a living)\b",
        "Occupation: {}",
    ),
    _Question(r"\b(?:where|who) do you work\b|\byour (?:employer|company)\b", "Employer: {}"),
    _Question(r"\byour (?:time ?zone)\b|\btime ?zone are you in\b", "Time zone: {}"),
    _Question(r"\byour pronouns\b", "Pronouns: {}"),
    _Question(r"\blanguages? do you speak\b", "Speaks {}"),
    _Question(r"\bhow old are you\b|\byour age\b", "Age: {}"),
    _Question(r"\b(?:medical|health) (?:conditions?|issues?)\b", "Health: {}"),
)
# Whatever else is asked about the person, or how they work: question and answer are kept together.
_ABOUT_THE_PERSON = lazy(
    r"\byour (?:\w+ )?(?:birthday|language|tongue|hobb(?:y|ies)|team|editor|stack|setup|budget"
    r"|goals?"
    r"|schedule|family|partner|wife|husband|favou?rite|preferred|size|height|weight|role|title"
    r"|address|phone|laptop|machine|experience|level|background|preference|working hours)\b"
    r"|\bdo you (?:have (?:any|a)|take|own|drive|drink|smoke|eat|speak|play|prefer|like|live"
    r"|work|use)\b"
    r"|\b(?:are|when were) you (?:born|married|based|working)\b|\bwhen do you (?:usually|work"
    r"|start)\b"
    r"|\b(?:which|what) .{2,60} (?:do|would|should|shall) (?:you|we) (?:like|want|prefer|be"
    r"|plan)?\b"
    r".*\b(?:use|prefer|stick|standardi[sz]e|go with|target|support)\b"
    r"|\b(?:tabs or spaces|or)\b.*\?$(?<=spaces\?)|\bhow do you (?:prefer|like|want)\b"
    r"|\b(?:welche[rsn]?|was) .{2,60} (?:nutzt|benutzt|verwendest|bevorzugst|magst) du\b"
    r"|\b(?:hast|bist|isst|trinkst|sprichst) du\b|\bquel(?:le)?s? .{2,60} (?:utilises"
    r"|préfères)-tu\b"
    r"|\b(?:qué|cuál) .{2,60} (?:usas|prefieres)\b|\b(?:che|quale) .{2,60} (?:usi|preferisci)\b"
    r"|\b(?:qual|que) .{2,60} (?:usas|você usa|preferes)\b|\bwelke? .{2,60} gebruik je\b"
)
_THE_TASK = lazy(
    r"\b(?:options?|files?|branch|lines?|errors?|results?|continue|proceed|now|next|step|message"
    r"|first|again|main character|quiz|game|story|instead|here|this|these|that|those|it"
    r"|tests? fail)\b"
    r"(?! project| repo| repository| codebase)"
)
# 'Should I always ask first?': an order, if it is answered with yes.
_ORDER = lazy(
    r"\b(?:should|shall|may) i (?P<should>.+)\?|\b(?:do you want|would you like"
    r"|would you prefer) me to"
    r" (?P<want>.+)\?"
)
_STANDING = lazy(
    r"\b(?:always|never|every|each|from now on|going forward|in (?:the )?future|by default|whenever"
    r"|as a rule)\b"
)
# The whole answer: 'always prefix it with the ticket' is an order of its own.
_ALWAYS = lazy(
    r"(?:yes,? |yeah,? |no,? )?(?P<when>always|never|every time)"
    r"(?:,? (?:please|pls|thanks))?[.! ]*$"
)
# How things are done, behind the yes or no: 'yes, we squash on merge'.
_PRACTICE = lazy(
    r"(?:yes|yeah|yep|yup|no|nope|nah|sure|right|correct)[,.!:]* (?:but |because |since |as )?"
    r"(?P<what>(?:we|our team|everyone|nobody) (?:(?:always|never|only|usually|don'?t|do not) )?"
    r"(?!(?:have|had|has|will|can|can'?t|could|would|should|may|might|must|need|want|think|guess"
    r"|hope|did|didn'?t|was|were|are|see|saw|get|got|know|knew|agree|agreed|already|just|found|hit"
    r"|went|made|ran|lost|still|also|all|both|love|like)\b)[a-z]+(?<!ed)(?<!ing) \w.*)"
)
_WHICH_USED = lazy(
    r"\b(?:which|what) (?P<what>[\w-]+(?: [\w-]+){0,2}?)(?: do| are) you (?:use|using|work with"
    r"|on|running)\b"
)
_YES_OR_NO = lazy(
    rf"\bare you (?P<what>(?:an? )?(?:{TRAITS}|{TRADES}|{NATIONS}|lactose intolerant"
    r"|allergic to [\w ]+))\s*\?"
)
_YES = lazy(r"(?:yes|yeah|yep|yup|i am|correct|right|please do|sure)\b")
_NO = lazy(r"(?:no|nope|nah|not|i'?m not)\b")
_NONE = lazy(
    r"(?:no|nope|none|nothing|nah|n/a|not that i know(?: of)?|nein|keine?|non|ninguna?|nessuna?"
    r"|nenhuma?|geen)(?:,? (?:none|nothing|no))?[.! ]*$"
)
_NO_ANSWER = lazy(
    r"(?:ok|okay|sure|yes|yeah|yep|no|nope|thanks?|thank you|please|go ahead|the (?:\w+ )?(?:one"
    r"|first|second|third|last)|first|second|both|either|whatever|not sure|idk|i don'?t know"
    r"|dunno|never ?mind|why|what|how|can|could|do|does|is|are|you|later|skip|maybe|hmm+|it|this"
    r"|that|stop|wait|hi|hello|hey|good|great|fine|cool|all good|nothing|depends|any|anything"
    r"|i don'?t|i'?m not|ja|nein|oui|non|sí|si|sim|não|nee)\b"
)
# 'No gluten' after 'Any dietary needs?'.
_WITHOUT = lazy(
    r"no (?!idea|clue|thanks?|thank|problem|worries|need|preference|special|particular|more|way"
    r"|one|not|i\b|we\b|it\b|that\b|this\b|please|real|specific)[a-z]"
)
# Before the answer itself: 'yeah, two rabbits', 'let's go with SQLite'.
_LEADING = lazy(
    any_of(
        r"""
        well, oh, um+, uh+, er, yeah, yes, yep, yup, ja, oui, sí, sim, it'?s, just(?! outside),
        mostly, let'?s (?:go with|use|take|say), i'?d say, i (?:use|prefer), we use, i'?m on,
        we'?re on, i'?m, my name is, i live, gegen, a bit of
        """
    )
    + r"[,.!]? +",
    re.IGNORECASE,
)
_TRAILING = lazy(
    r"(?i),? (?:is (?:fine|ok|okay|good|great)|will do|works(?: for me)?|please|pls|actually"
    r"|i think"
    r"|i guess|thanks|thank you|for now|btw)[.! ]*$"
)
# 'Outside Bath' is a place with its preposition.
_PLACE = lazy(r"(?i)(?:in|near|just|outside|close to|around|by|at|on|between|en|em|à|au|a) (?=\S)")
_PLAIN_IN = lazy(r"(?i)(?:in|en|em|à|au|a) ")


# What the assistant calls 'I' is 'you' in the words of the person.
_OTHER = {"i": "you", "me": "you", "my": "your", "you": "me", "your": "my"}
_SPEAKERS = lazy(r"(?i)\b(?:i|me|my|you|your)\b")


class Answer(NamedTuple):
    """What an answer states, and its category."""

    text: str
    category: str


def answer_to(question: str, said: str) -> Answer | None:
    """What a short answer to a question of the assistant says about the person."""
    asked, words = _last_question(question), said.strip()
    if not asked or not words or len(words) > _ANSWER_CHARS_MAX or "\n" in words or "?" in words:
        return None
    folded, own = fold(asked), fold(words)
    if own.count(" ") >= _ANSWER_WORDS_MAX:
        return None
    if (about := _YES_OR_NO.search(folded)) is not None and (_YES.match(own) or _NO.match(own)):
        return Answer(f"{'Is' if _YES.match(own) else 'Is not'} {about['what']}", "fact")
    kind = next((one for one in _QUESTIONS if re.search(one.pattern, folded)), None)
    if kind is not None and kind.statement.endswith(": {}") and _NONE.match(own):
        return Answer(kind.statement.format("none"), kind.category)
    if kind is None and (practice := _PRACTICE.match(own)) is not None:
        what = words[practice.start("what") :]
        return None if _points(practice["what"]) else Answer(finish(what), "preference")
    if kind is None and (order := _ORDER.search(folded)) is not None:
        return _ordered(order, asked, own)
    value = _value(words)
    is_without = kind is not None and _WITHOUT.match(fold(value)) is not None
    if not value or (_NO_ANSWER.match(fold(value)) and not is_without):
        return None
    if kind is not None:
        return Answer(_stated(kind, value), kind.category)
    if (used := _WHICH_USED.search(folded)) is not None:
        return Answer(f"{used['what'].capitalize()}: {value}", "preference")
    if about is None and (not _ABOUT_THE_PERSON.search(folded) or _THE_TASK.search(folded)):
        return None
    return Answer(f"{asked} {finish(words)}", "fact")


def _stated(kind: _Question, value: str) -> str:
    if kind.statement.startswith("Lives") and _PLACE.match(value) and not _PLAIN_IN.match(value):
        return f"Lives {value[:1].lower()}{value[1:]}"
    if kind.statement.startswith("Lives"):
        value = _PLAIN_IN.sub("", value, count=1)
    return kind.statement.format(value)


def _value(words: str) -> str:
    """What was answered, without the words around it."""
    value = words
    for _ in range(2):
        leading = _LEADING.match(value)
        value = value[leading.end() :] if leading else value
    return _TRAILING.sub("", value).strip(" .!,;")


def _ordered(order: re.Match[str], asked: str, own: str) -> Answer | None:
    """'Yes' to 'Should I …?', where it is asked or answered for more than this time."""
    group = "should" if order["should"] else "want"
    what = _SPEAKERS.sub(
        lambda word: _OTHER[word[0].lower()], asked[order.start(group) : order.end(group)]
    )
    always = _ALWAYS.match(own)
    if always is not None:
        when = "Never" if always["when"] == "never" else "Always"
        return Answer(f"{when} {re.sub(r'(?i)^(?:always|never) ', '', what)}", "preference")
    if not _STANDING.search(fold(what)):
        return None
    if _YES.match(own):
        return Answer(finish(what), "preference")
    return Answer(f"Do not {what}", "preference") if _NO.match(own) else None


def _points(what: str) -> bool:
    """Whether it is about this time, or about something that was said before."""
    return POINTS.search(what) is not None or PASSING.search(what) is not None


def _last_question(question: str) -> str:
    """The question at the end of what the assistant said; '' where there is none, or several."""
    last = question.strip().rsplit("\n", 1)[-1].rstrip(" \"')*_")
    if not last.endswith(("?", "？")) or last.count("?") + last.count("？") != 1:
        return ""
    # What comes before the question is no part of it.
    return re.split(r"(?<=[.!:]) +", last)[-1].lstrip("¿ ")
