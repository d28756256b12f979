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


@lru_cache(maxsize=1)
def compiled() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    """The rows with their patterns, compiled once a process."""
    return tuple((rule, re.compile(rule.pattern)) for rule in RULES)
