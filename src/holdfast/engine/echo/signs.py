"""A quick check whether a text may contain an echo. Most cannot; the patterns of `echo`, which take
20 ms to compile, are loaded only for those that may."""

from __future__ import annotations

import re

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.tables import lazy

# All decorated output of Holdfast contains one of these, or begins as below; a text without any
# needs no other check.
SIGNS = (
    *(
        "[#",
        "• #",
        " · ",
        "(#",
        "<item",
        "[turn ",
        "<turn",
        "<memory",
        *("- #", "* #", "+ #"),
    ),
    *("conversations;", "recovered]", "id mem_", "(id: mem_"),
    *('"content"', '"text"', '"key"', '"results"', '"memories"', "Here's the content of /memories"),
    "2 levels deep in /memories",
    # The same signs as written in JSON, HTML and editors.
    *("\\u00b7 ", "\\u2022 #", "&lt;item", "&lt;turn", "&lt;memory", "\u00a0·\u00a0", "•\u00a0#"),
    "-\u00a0#",
)
# How a day and the long-term memory begin, whatever is between the words. One heading in ten of an
# agent's answers is `### 2. …`, and the words alone are frequent.
_OPENINGS = (
    ("# 2", lazy(r"# 2\d{3}\W{1,3}\d\d")),
    ("#\u00a02", lazy(r"#\u00a02\d{3}\W{1,3}\d\d")),
    ("ong-Term", lazy(r"ong-Term.{1,40}Memory", re.DOTALL)),
    ("ong-term", lazy(r"ong-term.{1,40}Memory", re.DOTALL)),
)
# The beginnings of replies without a memory, which are echoes only as a whole.
_FIXED_BEGIN = (
    *("Remembered.", "No ", "Nothing ", "There ", "Memory #", "(MEMORY.md", "Forgotten:"),
    *("Logged as", "Updated to", "Approved:", "Rejected:", "Archived as", "Took back"),
    *("Already known", "File created", "The file /memories/", "Successfully ", "{"),
    "Decision requested:",
)
_FIXED_CHARS_MAX = 600


class Echo(NamedTuple):
    """A span of the text that is an echo, with the id of the memory or turn; no id for what is
    between."""

    start: int
    end: int
    id: str = ""


def may_be_ours(text: str) -> bool:
    """Whether the text may contain an echo."""
    return any(sign in text for sign in SIGNS) or any(
        sign in text and opening.search(text) for sign, opening in _OPENINGS
    )


def may_be_fixed_reply(text: str) -> bool:
    """Whether a text may be a reply of Holdfast without a memory."""
    if len(text) > _FIXED_CHARS_MAX:
        return False
    plain = bare_reply(text)
    return plain.startswith(_FIXED_BEGIN) or "(id: hub_" in plain


def bare_reply(text: str) -> str:
    """The text without what a chat puts around a reply, before echoes are looked for."""
    return text.strip(" \t\r\n>`")
