"""Regular expressions that are compiled when they are first used.

A rule of many is needed by few texts, and compiling all of them takes a tenth of a second of a
process that lives for two.
"""

from __future__ import annotations

import re
from typing import Any, cast


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern as `re.compile` gives it, compiled at its first use."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))


class LazyPattern:
    """Has the attributes of a compiled pattern once it was asked for one of them."""

    _USED = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.given_flags = flags

    def __getattr__(self, name: str) -> Any:
        # Only for what the instance does not have yet: from then on the methods are its own, and
        # calling one costs what it costs of a compiled pattern.
        compiled = re.compile(self.pattern, self.given_flags)
        vars(self).update({used: getattr(compiled, used) for used in self._USED})
        return getattr(compiled, name)
