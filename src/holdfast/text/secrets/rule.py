"""One row of the tables of secrets."""

from typing import NamedTuple

# The shortest token with a shape of its own: an access key of AWS.
TOKEN_CHARS_MIN = 20


class Rule(NamedTuple):
    """One kind of secret. `check` names a check of checks.py beyond 'not an example'. One that is
    not `spaced` matches only within a word of TOKEN_CHARS_MIN characters, as its cues do. One that
    is `at_cue` is only tried where a cue begins. Cues contain no spaces."""

    kind: str
    cues: tuple[str, ...]
    pattern: str
    check: str = ""
    spaced: bool = False
    example: str = ""
    at_cue: bool = False
