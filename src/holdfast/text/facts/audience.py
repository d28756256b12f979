"""Whether a statement is about the person, and so known in all of their projects, or about the
project at hand. By rules on its words; it knows no hubs.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

About: TypeAlias = Literal["person", "project"]

_PROJECTS = r"(?:projects?|repos?|repositor(?:y|ies)|code ?bases?|workspaces?)"
# Said in so many words, this decides.
_EVERYWHERE = re.compile(
    rf"\b(?:for|in|across|on) (?:all|any|every|each)(?: of)?(?: my| our| the)? {_PROJECTS}\b"
    rf"|\bwhatever the {_PROJECTS}\b|\bregardless of the {_PROJECTS}\b|\bacross {_PROJECTS}\b"
    r"|\b(?:globally|everywhere i work|wherever i work|in general, i)\b",
    re.IGNORECASE,
)
_HERE = re.compile(
    rf"\b(?:for|in|on|of) (?:this|our|the|that) (?:\w+ )?{_PROJECTS}\b|\bthis {_PROJECTS}\b"
    r"|\bin here\b|\b(?:we|our|us)\b",
    re.IGNORECASE,
)
# The person as subject: 'I', 'my name', or as a tool writes of them.
_SELF = re.compile(
    r"^\W*(?:(?:and|but|so|also|actually|by the way|btw|oh|well|please|remember(?: that)?|note that"
    r"|no|yes|correction|sorry)\b\W*)*"
    r"(?:i|i'm|i've|i'd|i'll|im|my|the (?:user|person)(?:'s)?|user(?:'s)?)\b",
    re.IGNORECASE,
)
# What 'I' do to the work at hand: 'I decided to use PostgreSQL', 'I fixed the parser'.
_WORK = re.compile(
    r"\b(?:i|i've|i'm|i'll|i'd|user|person)\s+"
    r"(?:have |had |just |also |already |now |am |was |will |'ll )*"
    r"(?:decid|chos|choos|chang|fix|add|remov|mov|merg|push|commit|creat|writ|wrote|rewr|refactor"
    r"|implement|deploy|releas|renam|delet|updat|upgrad|install|configur|set up|mad|built|build"
    r"|tri|test|run|ran|need|want|think|believ|see|saw|get|got|found|notic|switch|migrat|start"
    r"|stopp|finish|will|would|can|could|should)\w*",
    re.IGNORECASE,
)
_MY_WORK = re.compile(
    r"^\W*my (?:\w+ )?(?:branch|patch|pr|pull request|change|commit|code|function|class|module|test"
    r"|build|script|question|point|plan|task|idea|file|folder|server|database|deployment)s?\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:prefer|like|love|hate|dislike|live|work|study|am|'m|always|never|usually|speak|allergic"
    r"|have|'ve|own|eat|drink|use|name|birthday|timezone|time zone|pronouns?|wife|husband|partner"
    r"|son|daughter|child|children|kids?|mother|father|sister|brother|dog|cat|job|email|address"
    r"|grew|born|moved|favou?rite|team|manager|boss|want|expect)\w*",
    re.IGNORECASE,
)
# Categories of a memory that say by themselves whom it is about.
_PERSONAL = ("person", "preference", "routine")


# Where a sentence ends: not at the point of `api.v2` or `e.g.` before a small letter.
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|\n+")


class Part(NamedTuple):
    """A stretch of a text, and what it is about."""

    text: str
    about: About


def about(text: str, *, category: str | None = None) -> tuple[About, str]:
    """What one statement is about, and the reason in a few words."""
    line = " ".join(text.split())
    if _EVERYWHERE.search(line):
        return "person", "it is said for all projects"
    if _HERE.search(line):
        return "project", "it is said of this project"
    if category in _PERSONAL and category is not None and not _WORK.search(line):
        return "person", f"its category is {category}"
    is_work = _WORK.search(line) or _MY_WORK.search(line)
    if _SELF.search(line) and not is_work and _LASTING.search(line):
        return "person", "it is about the person"
    return "project", "nothing says that it is about the person"


def parts_of(text: str) -> list[Part]:
    """What a person said, sentence by sentence; neighbours about the same thing are one part."""
    parts: list[Part] = []
    start = 0
    for mark in _ENDS.finditer(text):
        _add(parts, text[start : mark.end()])
        start = mark.end()
    _add(parts, text[start:])
    return parts


def _add(parts: list[Part], text: str) -> None:
    if not text.strip():
        return
    found, _ = about(text)
    if parts and parts[-1].about == found:
        parts[-1] = Part(parts[-1].text + text, found)
    else:
        parts.append(Part(text, found))
