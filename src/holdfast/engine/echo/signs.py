"""A quick check whether a text may contain an echo. Most cannot; the patterns of `echo`, which take
20 ms to compile, are loaded only for those that may."""

from __future__ import annotations

from holdfast.system.named_tuple import NamedTuple

# All decorated output of Holdfast contains one of these; a text without any needs no other check.
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
        "# 2",
        "ong-Term",
        "ong-term",
    ),
    *("conversations;", "Session recovered]", "id mem_", "(id: mem_"),
    *('"content"', '"text"', '"key"', '"results"', '"memories"', "Here's the content of /memories"),
    "2 levels deep in /memories",
    # The same signs as written in JSON, HTML and editors.
    *("\\u00b7 ", "\\u2022 #", "&lt;item", "&lt;turn", "&lt;memory", "\u00a0·\u00a0", "•\u00a0#"),
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
    return any(sign in text for sign in SIGNS)


def may_be_fixed_reply(text: str) -> bool:
    """Whether it may be a reply of Holdfast without a memory."""
    if len(text) > _FIXED_CHARS_MAX:
        return False
    plain = bare_reply(text)
    return plain.startswith(_FIXED_BEGIN) or "(id: hub_" in plain


def bare_reply(text: str) -> str:
    """The text without what a chat puts around a reply."""
    return text.strip(" \t\r\n>`")
