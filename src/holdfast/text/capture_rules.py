"""The table behind capture.py: which openings of a clause make it a fact, and of which kind.

Patterns are read against a clause in lower case with straight quotes, from its first word on. The
first row that matches decides. They are compiled when first needed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.text.capture_grammar import Rule
from holdfast.text.capture_rules_changes import CHANGES
from holdfast.text.capture_rules_doing import DOING
from holdfast.text.capture_rules_likes import LIKES
from holdfast.text.capture_rules_people import PEOPLE
from holdfast.text.capture_rules_self import SELF

# Changes come first: 'I no longer eat meat' is no preference for meat.
RULES = (*CHANGES, *SELF, *PEOPLE, *LIKES, *DOING)


def rows_for(folded: str) -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """The rows that can match a clause by its first word, with their patterns."""
    if folded.startswith(("i ", "i'", "im ", "ive ", "we ", "we'", "weve ")):
        return _compiled("i")
    return _compiled("my" if folded.startswith(("my ", "our ")) else "")


@lru_cache(maxsize=3)
def _compiled(subject: str) -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """Compiled once a process, and only what is needed: all of them take a tenth of a second."""
    rows = (rule for rule in RULES if _subject(rule) in ("", subject))
    return tuple((rule, re.compile(rule.pattern)) for rule in rows)


def _subject(rule: Rule) -> str:
    """What a row's clauses begin with, where its pattern tells: 'i', 'my', or ''."""
    if rule.pattern.startswith(("(?:i|we", "(?:i'?m|i am|", "(?:i'?ve|i have|")):
        return "i"
    return "my" if rule.pattern.startswith("(?:my|our) ") else ""
