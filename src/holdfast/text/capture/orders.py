"""Recognises orders for the future: corrections ('no, use uv, not pip'), prohibitions ('stop adding
comments'), permissions ('no need to ask') and conventions ('in this repo we use tabs'). What is
said about the task at hand ('stop the server', 'use the second one') is none.

An order is kept in the person's own words: whoever reads it has to follow it to the letter.
"""

from __future__ import annotations

import re

from holdfast.text.capture.vocabulary import POINTS, any_of
from holdfast.text.patterns import lazy

# What an agent does, as a verb in its base form.
_ACTIONS = any_of(
    r"""
    use, answer, reply, respond, write, speak, keep(?! (?:up|going|on|it)\b), avoid, call,
    give(?! up), include, add, show, format,
    ask, explain, start, end, put, run, address, assume, cite, talk, send, make, suggest,
    recommend, commit, push, force[- ]push, mention, apologi[sz]e, translate, return, prefer,
    convert, sign, delete, touch, edit, change, modify, remove, rename, merge, rebase, deploy,
    install, upgrade, downgrade, refactor, create, generate, print, log, mock, import, hardcode,
    hard-code, skip, disable, share, post, publish, summari[sz]e, repeat, guess, invent, overwrite,
    amend, squash, reformat, comment, document, describe, quote, praise, lecture, interrupt,
    name, type, indent, wrap, leave, set, read, open, store, save, cache, commit to, squash, tag,
    bump, test, lint, review, check, work, drop
    """
)
_DOING = any_of(
    """
    using, answering, replying, responding, writing, speaking, giving, including, adding, showing,
    formatting, asking, explaining, starting, ending, putting, running, assuming, citing, talking,
    sending, making, suggesting, recommending, committing, pushing, mentioning, apologi[sz]ing,
    translating, returning, converting, signing, deleting, touching, editing, changing, modifying,
    removing, renaming, merging, rebasing, deploying, installing, upgrading, refactoring, creating,
    generating, printing, logging, mocking, importing, hardcoding, skipping, disabling, sharing,
    summari[sz]ing, repeating, guessing, inventing, overwriting, reformatting, commenting,
    praising, lecturing, calling me, saying, telling me, quoting, naming, wrapping
    """
)
# What is written, in 'keep your answers short'.
_WRITTEN = any_of(
    """
    answers?, repl(?:y|ies), responses?, explanations?, messages?, commit messages?, commits,
    functions?, files?, lines?, tests?, comments?, names?, prs?, pull requests?, summaries,
    docstrings?, code, diffs?, changes, emails?, paragraphs?, sentences?
    """
)
_FIRM = r"(?:please |pls |plz |just |and |but |so |also |really |again,? )*"
# From when on an order holds.
_FROM_NOW = (
    r"(?:from (?:now|here|today) on(?: out)?|going forward|moving forward|in (?:the )?future"
    r"|next time|for (?:the )?next time|as a rule|by default)"
)
# 'No, …', 'wrong. …', 'I told you, …', 'you keep forgetting: …': what follows corrects the agent.
_CORRECTS = lazy(
    r"(?:(?:no|nope|nah|wrong|actually|again|seriously|hey|ugh|hmm)(?: no)*(?:[,.!:]| -)[,.!: -]*)+"
    r"|i(?:'ve| have)? (?:already |just )?(?:told|said|asked)(?: you)?(?: (?:before|again|twice"
    r"|already|many times))?[,: ]+(?=(?:no|not|to|use|never|always|don'?t|only)\b)"
    r"|you (?:keep|always|constantly) (?:forget(?:ting)?|ignor(?:e|ing))(?: this| that| it)?[,:] *"
)
# 'House rules: …', 'how I want it: …'.
_LABEL = lazy(
    r"(?:(?:my|our|the|house|ground|team|project|coding)(?: \w+)? (?:rules?|preferences?"
    r"|conventions?"
    r"|guidelines?)|(?:the way|how) (?:i|we) (?:want|like|do) (?:it|things|code|tests|commits"
    r"|(?:my|our) \w+))(?: here)?(?: is| are)?: *(?=\S+ \S)"
)
_PROHIBITION = lazy(
    rf"{_FIRM}(?:stop|quit) (?!talking about){_DOING}\b"
    rf"|{_FIRM}(?:(?:do not|don'?t)(?: ever)?|never(?: ever)?) {_ACTIONS}\b"
)
# 'Always a pleasure', 'always loved it' and 'always makes me laugh' are no orders.
_ALWAYS_DO = (
    r"always (?!(?:a|an|the|my|your|our|his|her|their|so|too|very|really|more|better|best|been|had"
    r"|was|were|is|are|be|have|has|got|here|there|in|on|at|up|down|out|about|nice|good|great|fun"
    r"|happy|glad|open|ready|late|early|hungry|tired|worth|love|like|hate|enjoy|appreciate|feel"
    r"|want|need|wonder|think|thought|knew|felt|went|did|made|found|someone|somebody|something"
    r"|people|room|time|welcome|interesting|interested|hard|easy|tough|possible|true|the same)\b)"
    r"[a-z]+(?<!ed)(?<!ing)(?<!ly)(?:(?<!s)|(?<=ss)) \w"
)
_STANDING_ORDER = lazy(
    rf"{_FIRM}(?:always {_ACTIONS}\b(?! be)|{_ALWAYS_DO})"
    rf"|{_FROM_NOW},? (?:(?:please|pls|always|never|only|don'?t|do not|just|also|make sure to|be"
    rf" sure"
    rf" to|i (?:want|need|expect) you to|you (?:should|must)) )*(?:{_ACTIONS}|no|only)\b"
    rf"|{_FIRM}(?:{_ACTIONS}|no|only|i (?:want|need|expect)) .{{2,100}} {_FROM_NOW}$"
    rf"|{_FIRM}keep (?:your |the |all |our |my )?(?:\w+ )?{_WRITTEN} \w"
    rf"|{_FIRM}{_ACTIONS} .{{2,80}} (?:before|after) (?:each|every|any) \w"
    # 'Whenever you change the schema, also bump the version', 'when you refactor, never …'.
    rf"|(?:whenever|every time|each time|any ?time) you \w.{{2,80}}?[, ]{_FIRM}(?:always |never "
    rf"|don'?t"
    rf" |do not |make sure )?{_ACTIONS}\b"
    rf"|(?:when|before|after|if) you \w.{{2,80}}?[, ]{_FIRM}(?:always|never|don'?t|do not)"
    rf" {_ACTIONS}\b"
)
# What the person wants the agent to do or not to do: 'I'd rather you ask before installing'.
_WISH = lazy(
    rf"{_FIRM}i(?:'d| would)? (?:much )?(?:rather|prefer(?: it)?)(?: if| that)? you \w"
    rf"|{_FIRM}i(?:'d| would)? (?:like|want|need|expect|prefer) (?:for )?you (?:to (?:always"
    rf"|never|stop)"
    r"|not to) \w"
    r"|i (?:really |absolutely )?(?:hate|dislike|don'?t like|can'?t stand) it when you \w"
)
# 'Can you always show the diff first?' is an order in the shape of a question.
_ASKED_FOR = lazy(
    rf"{_FIRM}(?:can|could|would|will) (?:you|u) {_FIRM}(?=(?:always|never) {_ACTIONS}\b|stop"
    rf" {_DOING}\b"
    rf"|{_ACTIONS} .{{2,80}} {_FROM_NOW}\W*$)"
)
_PERMISSION = lazy(rf"{_FIRM}(?:no need to|you (?:don'?t|do not) (?:need|have) to) {_ACTIONS}\b")
# 'Use uv, not pip': only what says what to use instead of what is an order by itself.
_INSTEAD = lazy(
    rf"{_FIRM}(?:we |you should |please |let'?s )?(?:use|prefer|write|run|call|go with) .{{1,60}}?"
    r"(?:, not | not | instead of | rather than |, never )\S"
    r"|i(?:'d| would) rather (?:have|use|see|get|write|work with|you) .{2,80} than \S"
)
_NOT_THAT = lazy(r".{2,80}(?:, not|\b(?:like|as in|say|use) \S.{1,30} not) \S+(?: \S+){0,3}$")
_NO_THINGS = lazy(r"(?:no|not to|only|never|always) \S")
# After a correction, what to use is an order by itself: 'no, use tabs'.
_CORRECTED = lazy(r"(?:please )?(?:use|prefer|we (?:use|always|never|don'?t|only)) \S")
# How things are done in a place: 'in this repo we use tabs', 'we never use default exports here'.
_PLACE = (
    r"(?:in|at|for|across) (?:this|our|the|my) (?:\w+ )?(?:repo(?:sitory)?|project|codebase|team"
    r"|company|org|monorepo|app|library|house|stack|shop|office)"
)
_CONVENTION = lazy(
    rf"{_PLACE},? (?:we|i|all|every|everything|nobody|no one"
    rf"|(?:\w+ ){{1,2}}(?:are|is|must|should|go|live|belong)"
    rf"|{_ACTIONS})\b"
    rf"|{_FIRM}(?:use|write|prefer|follow|avoid|stick to|keep to) .{{2,60}} {_PLACE}\b"
    rf"|we (?:always|never|only|don'?t|do not) \w+ .{{2,100}}(?:{_PLACE}|here|around here)$"
    rf"|(?:we|i) use .{{2,80}} (?:{_PLACE}|here|around here)$"
    r"|we (?:don'?t|do not) \w+ .{2,60} here\b"
)
_HERE_PLACE = lazy(rf"\b{_PLACE}\b|\b(?:around )?here\b")
_THAT = lazy(r"\b(?:it|this|that|these|those|them)\b")
_IT_IS = lazy(r"^(?:it'?s|it is) ")
_PASSING = lazy(
    r"\b(?:yet|for now|right now|today|tonight|tomorrow|just now|this time|at the moment|just"
    r" this once"
    # 'Never deploy without asking me first' is no order of steps.
    r"|(?<!me )(?<!us )(?<!ask )(?<!asking )first"
    r"|until|anymore for|the (?:second|first|last|other|same|above|next|previous) (?:one|part"
    r"|option|file|line|step|test)|line \d+)\b"
)
# At least so many words say what to do; 'no tests' alone does not.
_WORDS_MIN, _WORDS_MAX = 2, 40


def order_start(folded: str) -> int | None:
    """Where an order for the future begins in a sentence; None where it is none."""
    if not _WORDS_MIN <= folded.count(" ") + 1 <= _WORDS_MAX:
        return None
    if folded.rstrip(" \"')").endswith("?"):
        asked = _ASKED_FOR.match(folded)
        if asked is None or _PASSING.search(folded):
            return None
        return asked.end() if _points_nowhere(folded[asked.end() :]) else None
    correction = _CORRECTS.match(folded) or _LABEL.match(folded)
    start = correction.end() if correction else 0
    order = folded[start:].rstrip(" .!,;…")
    if _PASSING.search(order):
        return None
    if _LABEL.match(folded):
        return start
    if _CONVENTION.match(order):
        return None if _THAT.search(_HERE_PLACE.sub(" ", order)) else start
    if correction and _NOT_THAT.match(order):
        return None if _THAT.search(_IT_IS.sub("", order)) else start
    if _WISH.match(order):
        return start
    if not _points_nowhere(order):
        return None
    forms = (_PROHIBITION, _STANDING_ORDER, _PERMISSION, _INSTEAD)
    if any(form.match(order) for form in forms):
        return start
    if correction and (_says_no(correction, order) or _CORRECTED.match(order)):
        return start
    return None


def _says_no(correction: re.Match[str], order: str) -> bool:
    """'I told you, no emojis.'"""
    return correction[0].startswith("i") and _NO_THINGS.match(order) is not None


_ABOUT_YOU = lazy(
    r"\b(?:your|you)\b(?= (?:answers?|repl(?:y|ies)|responses?|messages?|code|explanations?"
    rf"|summaries|don'?t|do not|need|should|finish|tell|{_ACTIONS}))|\bi (?:want|need|expect) you\b"
)
_OWN_THINGS = lazy(
    r"\b(?:it|this|that)(?= (?:repo|project|codebase|folder|file type))\b|\bhere on out\b"
)
# A shorter beginning says nothing by itself.
_FIRST_WORDS_MIN = 3


def _points_nowhere(order: str) -> bool:
    """Whether an order makes sense without what was said before it: 'don't apologize all the time,
    just fix it' does by its first part."""
    plain = _OWN_THINGS.sub(" ", _ABOUT_YOU.sub(" ", order))
    first = plain.split(", ", 1)[0]
    if first.count(" ") + 1 >= _FIRST_WORDS_MIN and not order.startswith(("when", "if")):
        plain = first
    return POINTS.search(plain) is None
