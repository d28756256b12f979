"""The rules by which a statement fills a slot: which attribute of which subject has which value.
The patterns match the body of an English statement (see `text.statements`). `values` decides which
of two values replaces the other.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal, NamedTuple, TypeAlias, get_args

from holdfast.text.analysis.terms import fold, terms
from holdfast.text.facts.statements import KEPT_MAX, Statement, core_stems, without_helpers

# Rules


class Rule(NamedTuple):
    """A kind of slot. Every matching statement contains one of `cues`, and one of `verbs` where the
    cues alone are too common. The groups of the pattern are `value`, and optionally `what` (which
    of several such slots of a subject), `was` (the value before) and `rest` (what else is said).
    The value of a `dated` rule is a time."""

    kind: str
    cues: tuple[str, ...]
    pattern: str
    dated: bool = False
    verbs: tuple[str, ...] = ("",)


# A capitalised name: a place, a firm.
_NAME = (
    r"(?-i:(?:[Tt]he )?[^\W\d_a-z][\w'.&+-]*(?: (?:(?:de|do|da|del|la|of|and|&|van) )?"
    r"[^\W\d_a-z][\w'.&+-]*){0,4})"
)
_PLACE = rf"{_NAME}(?:, {_NAME})?"
# A time at the end of a statement, which is not part of the value.
_WHEN = (
    r"(?:,? (?:now|currently|today|yesterday|recently|again|already|these days|at the moment|"
    r"any ?more|any longer|nowadays|instead|permanently|for good|from now on"
    r"|(?:since|in|on|as of|from|around|starting|effective|back in|at the (?:end|start) of"
    r"|early in)"
    r" (?:the )?(?:early |late |mid-?)?(?:\d{4}(?:-\d\d){0,2}|(?:january|february|march|april|may"
    r"|june|july|august|september|october|november|december)(?:,? \d{1,4}(?:,? \d{4})?)?"
    r"|(?:spring|summer|autumn|fall|winter) (?:of )?\d{4}|\d{1,2}(?:st|nd|rd"
    r"|th)? (?:of )?(?:january|february|march|april"
    r"|may|june|july|august|september|october|november|december)(?:,? \d{4})?|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday)"
    r"|(?:last|this|next) (?:week|month|year|spring|summer|autumn|fall|winter|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday)|(?:a|an|one|two|three|\d+) (?:day|week|month"
    r"|year)s? ago|for (?:the (?:last|past) )?(?:\d+|two|three|four|five|ten|many|several)"
    r" (?:day|week|month|year)s))+"
)
# Every match of the pattern above ends with one of these, so other texts are skipped.
_WHEN_ENDS = frozenset(
    """
    now currently today yesterday recently again already days moment more anymore longer nowadays
    instead permanently good january february march april may june july august september october
    november december spring summer autumn fall winter monday tuesday wednesday thursday friday
    saturday sunday week month year ago weeks months years on
    """.split()  # noqa: SIM905
)


def without_when(text: str) -> str:
    """A text without the time at its end."""
    last = text.rsplit(" ", 1)[-1].lower().strip(".,;!")
    if last not in _WHEN_ENDS and not last[:1].isdigit():
        return text.strip(" ,;")
    return re.sub(rf"(?i){_WHEN}\Z", "", text).strip(" ,;")


_REST = r"(?P<rest>(?:[,;] ?| ).*)?"
_DAY = (
    r"(?:(?:the )?\d{1,2}(?:st|nd|rd|th)? (?:of )?[A-Z][a-z]+(?:,? \d{4})?"
    r"|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|\d{4}-\d\d-\d\d"
    r"|(?:next |this )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:end of )?(?:January|February"
    r"|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?"
    r"|tomorrow|today|(?:the )?end of (?:the|this|next) (?:week|month|quarter|year)|next week"
    r"|next month|Q[1-4](?: \d{4})?)"
)
# The name of a tool: up to four words.
_TOOL = r"[^\s,;.]+(?:[ .](?!for\b|as\b|in\b|on\b|to\b|with\b|and\b|instead\b|over\b|now\b|since\b|when\b|because\b|at\b|from\b)[^\s,;]+){0,3}"  # noqa: E501
_FOR = r"(?: (?:for|as|in|on|at|when|with|to) (?P<what>[^,;]{2,60}?))?"
_VERSION = r"v?\d+(?:\.\d+){0,3}(?:[-.]?(?:rc|beta|alpha|lts)\d*)?"

RULES: tuple[Rule, ...] = (
    Rule(
        "residence",
        ("live", "living", "moved", "relocated", "based", "resides", "residing", "settled"),
        rf"(?:lives?|living|based|resid(?:es?|ing)|settled(?: down)?) in (?P<value>{_PLACE})"
        rf"{_REST}"
        rf"|(?:moved|relocated)(?: (?:house|home|away|back))?"
        rf"(?: from (?P<was>{_PLACE}))? to (?P<value2>{_PLACE})(?: from (?P<was2>{_PLACE}))?"
        r"(?P<rest2>(?:[,;] ?| ).*)?"
        rf"|(?:moved|relocated)(?: away)? from (?P<was3>{_PLACE})(?P<gone>)"
        r"(?P<rest3>(?:[,;] ?| ).*)?",
    ),
    Rule(
        "employer",
        ("work", "employed", "job", "joined", "left", "quit", "resigned"),
        rf"(?:works?|working|employed) (?:at|for|by) (?P<value>{_NAME}){_REST}"
        rf"|(?:(?:got|took|started) )?(?:a )?new job at (?P<value2>{_NAME})(?P<rest2>(?:[,;] ?"
        rf"| ).*)?"
        rf"|(?:started(?: working)?|changed jobs? (?:from (?P<was>{_NAME}) )?to|moved jobs? to)"
        rf"(?: at)? (?P<value3>{_NAME})(?P<rest3>(?:[,;] ?| ).*)?"
        rf"|joined (?P<value4>{_NAME}) as (?P<rest4>.*)"
        rf"|(?:left|quit|resigned from)(?: (?:my|his|her|their|the))?(?: job (?:at|with))?"
        rf" (?P<was2>{_NAME})(?P<gone>)(?P<rest5>(?:[,;] ?| ).*)?",
    ),
    Rule(
        "occupation",
        ("work", "job", "promoted", "became", "title"),
        r"(?:works?|working) as (?:an? |the |(?=(?-i:[A-Z])|head|chief|lead"
        r"|director))(?P<value>(?:[\w-]+ ?){1,4}?)"
        r"(?P<rest>(?: (?:at|for|in|with|on)\b|[,;]).*)?"
        r"|promoted (?:from (?P<was>[\w -]{3,40}) )?to (?P<value2>(?:[\w-]+ ?){1,5}?)"
        r"(?P<rest2>(?: (?:at|for|in|with|on)\b|[,;]).*)?"
        r"|(?:job|occupation|profession|job title|title|role) (?:is|changed to) (?:an? )?"
        r"(?P<value3>(?:[\w-]+ ?){1,5}?)(?P<rest3>(?: (?:at|for|in|with|on)\b|[,;]).*)?",
    ),
    Rule(
        "spouse",
        ("married", "divorced", "husband", "wife", "engaged", "separated"),
        rf"married(?: to)? (?P<value>(?![^ ]+'s ){_NAME}){_REST}"
        rf"|(?:husband|wife|spouse)(?:'s name)? is(?: called| named)? (?P<value2>{_NAME})"
        r"(?P<rest2>(?:[,;] ?| ).*)?"
        rf"|(?:got )?(?:divorced|separated)(?: from (?P<was>{_NAME}))?(?P<gone>)",
    ),
    Rule(
        "name of",
        ("name", "called"),
        r"(?P<what>(?:[\w-]+ ){0,2}?[\w-]+)(?:'s)? (?:(?:new )?name is(?: now)?|is (?:now )?"
        rf"(?:called|named)) (?P<value>{_NAME}|[\w.-]+){_REST}"
        rf"|(?:(?:new |full |first |last |real )?name is(?: now)?|goes by|is (?:now )?called)"
        rf" (?P<value2>{_NAME})(?P<rest2>(?:[,;] ?| ).*)?",
    ),
    Rule(
        "favourite",
        ("favourite", "favorite"),
        r"(?:has )?favou?rite (?P<what>[\w -]{2,40}?)(?: (?:is|are)(?: now)?|:) (?P<value>[^,;]+)"
        r"(?P<rest>[,;].*)?"
        r"|(?P<value2>[^,;]+?) is (?:now )?(?:my|his|her|their|the user's) favou?rite"
        r" (?P<what2>[\w -]{2,40}?)(?P<rest2>[,;].*)?",
    ),
    Rule(
        "preference",
        ("prefer",),
        r"prefers? (?P<value>[^,;]+?) (?:over|to|rather than|instead of) (?P<was>[^,;]+?)"
        r"(?: (?:for|in|when|on) (?P<what>[^,;]{2,60}))?(?P<rest>[,;].*)?"
        r"|prefers? (?P<value2>[^,;]+?)(?: (?:for|in|when|on) (?P<what2>[^,;]{2,60}))?"
        r"(?P<rest2>[,;].*)?",
    ),
    Rule(
        "port",
        ("port",),
        r"(?P<what>.{0,60}?)\b(?:runs?|running|listens?|listening|is|serves?|served|available"
        r"|exposed|moved|uses?|now) (?:now )?(?:on|at|to"
        r"|uses?)? ?port (?P<value>\d{1,5})(?P<rest> .*)?"
        r"|(?:the )?port (?:of"
        r"|for) (?P<what2>.{2,60}?) is (?:now )?(?P<value2>\d{1,5})(?P<rest2> .*)?"
        r"|(?P<what3>.{0,60}?) port (?:is|was changed to|changed to|:|moved to|=) ?(?:now )?"
        r"(?P<value3>\d{1,5})(?P<rest3> .*)?",
    ),
    Rule(
        "version",
        ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
        rf"(?:(?P<whose>(?:the|this) [\w' -]{{2,40}}?) (?:now |is |are )*)?"
        rf"(?:uses?|using|runs?|running|requires?|targets?|(?:is |are )?on"
        rf"|(?:is |are )?pinned to|needs?|is built with|is written in|works with)"
        rf" (?P<what>(?!(?:on |at )?port\b)(?:[A-Za-z][\w.+#-]*(?: [A-Za-z][\w.+#-]*){{0,2}}))"
        rf"(?: version)? (?P<value>{_VERSION}){_REST}"
        rf"|(?:upgraded|downgraded|updated|migrated|moved|switched|bumped)(?: the| my| our)?"
        rf"(?: (?P<what2>[A-Za-z][\w.+#-]*))?(?: from (?:[A-Za-z][\w.+#-]* )?(?P<was>{_VERSION}))?"
        rf" to (?:(?P<what3>[A-Za-z][\w.+#-]*) )?(?P<value2>{_VERSION})(?P<rest2>(?:[,;] ?| ).*)?",
        verbs=(
            *("use", "using", "run", "require", "target", "pinned", "need", "built", "written"),
            *(
                "upgraded",
                "downgraded",
                "updated",
                "migrated",
                "moved",
                "switched",
                "bumped",
                " on ",
            ),
        ),
    ),
    Rule(
        "switch",
        ("switched", "migrated", "moved", "replaced", "instead", "changed", "rather", ", not "),
        rf"(?:switched|migrated|moved|changed|went)(?: over)? from (?P<was>{_TOOL}) to"
        rf" (?P<value>{_TOOL}){_FOR}"
        rf"|(?:switched|migrated)(?: over)? to (?P<value2>{_TOOL}) from (?P<was2>{_TOOL})"
        rf"|replaced (?P<was3>{_TOOL}) (?:with|by) (?P<value3>{_TOOL})"
        rf"(?: (?:for|as|in) (?P<what3>[^,;]{{2,60}}?))?"
        rf"|uses? (?P<value4>{_TOOL}) (?:instead of|rather than|in place of)"
        rf" (?P<was4>{_TOOL})(?: (?:for|as|in) (?P<what4>[^,;]{{2,60}}?))?"
        rf"|uses? (?P<value5>{_TOOL}?)(?: again| now)?, not (?P<was5>{_TOOL})",
    ),
    Rule(
        "tool",
        ("use", "using", "switched", "migrated", "decided"),
        rf"(?:uses?|using) (?P<value>{_TOOL}){_FOR}"
        rf"|(?:has |have )?decided to (?:use|go with) (?P<value3>{_TOOL})"
        rf"(?: (?:for|as|in|on|at) (?P<what3>[^,;]{{2,60}}?))?(?: instead of [^,;]+)?"
        rf"|(?:switched|migrated)(?: over)? to (?P<value2>{_TOOL})"
        rf"(?: (?:for|as) (?P<what2>[^,;]{{2,60}}?))?",
    ),
    Rule(
        "host",
        ("deployed", "hosted", "runs on", "running on", "deploys"),
        rf"(?P<what>.{{0,60}}?)\b(?:is|are|was|were|has been|gets?)? ?(?:now )?(?:deployed|hosted"
        rf"|running|runs?|deploys)(?: now)? (?:on|to|at|in|by) (?P<value>(?!port |(?:mon|tues"
        rf"|wednes|thurs|fri|satur|sun)days?\b|\d){_TOOL})",
    ),
    Rule(
        "due",
        ("deadline", "due", "launch", "release", "ship", "date", "scheduled", "exam", "wedding"),
        rf"(?:the )?(?P<what>[\w' -]{{0,50}}?(?:deadline|due date|launch(?: date)?"
        rf"|release(?: date)?|ship date|go-live|exam|wedding|date)(?: (?:for|of) [^,;]{{2,50}}?)?)"
        rf" (?:is|was|has|got)(?: been)?(?: now)?(?: moved| postponed| pushed| changed| set"
        rf"| extended"
        rf"| scheduled| brought forward)?(?: back)?(?: (?:on|to|for|until))? (?P<value>{_DAY})"
        r"(?P<rest>(?:[,;] ?| ).*)?"
        rf"|(?:the )?(?P<what2>[\w' -]{{0,50}}?(?:deadline|due date|launch(?: date)?"
        rf"|release(?: date)?|go-live|exam|wedding|date)(?: (?:for|of) [^,;]{{2,50}}?)?)"
        rf" (?:moved|slipped|changed) to (?P<value2>{_DAY})(?P<rest2>(?:[,;] ?| ).*)?"
        rf"|(?:the )?(?P<what3>[\w' -]{{2,50}}?) (?:is|are) (?:now )?(?:due|scheduled)"
        rf"(?: on| by| for)? (?P<value3>{_DAY})(?P<rest3>(?:[,;] ?| ).*)?"
        rf"|(?:the )?(?P<what4>[\w' -]{{2,50}}?) (?:launches|ships|releases|goes live) (?:on )?"
        rf"(?P<value4>{_DAY})(?P<rest4>(?:[,;] ?| ).*)?",
        dated=True,
    ),
    Rule(
        "diet",
        ("vegan", "vegetarian", "pescatarian", "pescetarian", "omnivore"),
        r"(?:is |am |became |turned |gone |went )?(?:an? )?(?:fully |strictly )?"
        r"(?P<value>vegan|vegetarian|pesc[ae]tarian|omnivore)",
    ),
    Rule(
        "marital status",
        ("married", "single", "divorced", "engaged", "widowed"),
        r"(?:is |am |got )(?:happily |recently |newly |now )?"
        r"(?P<value>married|single|divorced|engaged|widowed)",
    ),
    Rule(
        "age",
        ("years old", "turned"),
        r"(?:is|am) (?:now )?(?P<value>\d{1,3}) years old(?P<rest>(?:[,;] ?| ).*)?"
        r"|(?:just )?turned (?P<value2>\d{1,3})",
    ),
    Rule(
        "given",
        ("birthday", "born", "native", "blood", "nationality", "first language", "mother tongue"),
        r"(?P<what>birthday|date of birth|blood type|nationality|native language|first language"
        r"|mother tongue|birthplace|home ?town) is (?:on )?(?P<value>[^,;]+)(?P<rest>[,;].*)?"
        rf"|(?:was |is |were )?(?P<what2>born) (?:on|in) (?P<value2>{_DAY}|{_PLACE}|\d{{4}})"
        r"(?P<rest2>[,;].*)?",
        dated=True,
    ),
)


@cache
def compiled(rule: Rule) -> re.Pattern[str]:
    """The pattern of a rule, compiled when it is first needed."""
    return re.compile(rf"(?i)(?:{rule.pattern})\Z")


# Slots of a statement


Relation: TypeAlias = Literal["same", "replaces", "contradicts", "unrelated"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


# What is in a statement by which it may take the place of others: for each such thing, index terms
# that those others have (see `compare.terms_of_replaced`).
TermSets: TypeAlias = list[frozenset[str]]


class Verdict(NamedTuple):
    """How a new statement relates to an older one, and why, as a short phrase. `keeps`: what the
    replaced one says beyond that and is still true, as a statement of its own. `both`: it may be
    that both are true."""

    relation: Relation
    reason: str
    keeps: str = ""
    both: bool = False


class Filled(NamedTuple):
    """A slot with its value. `what` tells slots of one kind apart, and `name` is its original
    wording. `was` is the value before, `rest` what else is said; `over`: there is no value now."""

    kind: str
    what: str
    value: str
    was: str
    rest: str
    over: bool
    name: str

    def attribute(self) -> str:
        return f"{self.kind} {self.what}".strip()

    def label(self) -> str:
        """The slot in words, for people."""
        if self.kind in ("due", "given") and self.name:
            return self.name
        link = "" if self.kind in ("favourite", "name of") else "of "
        kind = self.kind if self.name else self.kind.removesuffix(" of")
        return f"{kind} {link}{self.name}" if self.name else kind


@lru_cache(maxsize=KEPT_MAX)
def filled(said: Statement) -> tuple[Filled, ...]:
    folded = said.body.lower()
    lasting = without_when(said.body)
    out = []
    for rule in RULES:
        if not (_holds_any(folded, rule.cues) and _holds_any(folded, rule.verbs)):
            continue
        body = said.body if rule.dated else lasting
        match = compiled(rule).match(without_helpers(body)) or compiled(rule).match(body)
        if match is None:
            continue
        name = " ".join(f"{_group(match, 'whose')} {_group(match, 'what')}".split())
        value, was, rest = _values(match)
        over = match.groupdict().get("gone") is not None
        if value or was or over:
            out.append(
                Filled(
                    rule.kind, attribute_key(name), value, was, rest, over, _without_article(name)
                )
            )
    return tuple(out)


def _holds_any(text: str, pieces: tuple[str, ...]) -> bool:
    # A loop: `any` takes twice as long, and this is asked thirty times of every statement.
    for piece in pieces:  # noqa: SIM110
        if piece in text:
            return True
    return False


def _group(match: re.Match[str], name: str) -> str:
    """The group of this name that matched; rules with several forms number their groups."""
    for group, text in match.groupdict().items():
        if text and group.rstrip("0123456789") == name:
            return text.strip()
    return ""


def _values(match: re.Match[str]) -> tuple[str, str, str]:
    value, was, rest = (_group(match, name) for name in ("value", "was", "rest"))
    return plain_value(value), plain_value(was), without_when(f" {rest}") if rest else ""


def plain_value(value: str) -> str:
    """A value in the form in which values are compared."""
    folded = fold(without_when(value)).strip(" .,;:!\"'`*")
    return re.sub(r"^(?:the|a|an|my|our|his|her|their) ", "", folded)


def attribute_key(text: str) -> str:
    """What a slot is about, in the form in which it is compared."""
    folded = re.sub(r"\b(?:the|a|an|my|our|its?|now|for|of|new|current)\b", " ", fold(text))
    return " ".join(core_stems(folded.replace("'s", " "))) or " ".join(folded.split())


def index_terms(name: str) -> frozenset[str]:
    """Index terms that every statement about the same thing has."""
    kept = frozenset(attribute_key(name).split())
    return frozenset(term for term in kept.intersection(terms(name)) if term.isascii())


def _without_article(name: str) -> str:
    return re.sub(r"^(?:the|this|my|our) ", "", fold(name))


def one_includes_other(one: str, other: str) -> bool:
    """Whether one value may only be more precise than the other."""
    first, second = set(core_stems(one)), set(core_stems(other))
    return bool(first and second) and (first <= second or second <= first)
