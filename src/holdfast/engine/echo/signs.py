"""A quick check whether a text can hold something that Holdfast has handed out. Most cannot; the
patterns of `echo`, which take 20 ms to compile, are loaded only for those that can."""

from __future__ import annotations

from holdfast.system.named_tuple import NamedTuple

# Everything that Holdfast hands out with decoration has one of these; a text without any needs no
# other check.
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
    # As JSON, HTML and editors have the signs above.
    *("\\u00b7 ", "\\u2022 #", "&lt;item", "&lt;turn", "&lt;memory", "\u00a0·\u00a0", "•\u00a0#"),
)
# How replies begin that hold no memory; they are ours only as a whole.
_FIXED_BEGIN = (
    *("Remembered.", "No ", "Nothing ", "There ", "Memory #", "(MEMORY.md", "Forgotten:"),
    *("Logged as", "Updated to", "Approved:", "Rejected:", "Archived as", "Took back"),
    *("Already known", "File created", "The file /memories/", "Successfully ", "{"),
    "Decision requested:",
)
_FIXED_CHARS_MAX = 600


class Echo(NamedTuple):
    """A span of the text that is ours, and the memory or turn it is; no id for what is between."""

    start: int
    end: int
    id: str = ""


def may_be_ours(text: str) -> bool:
    """Whether it is worth a closer look."""
    return any(sign in text for sign in SIGNS)


def may_be_fixed_reply(text: str) -> bool:
    """Whether it may be a reply of ours that holds no memory."""
    if len(text) > _FIXED_CHARS_MAX:
        return False
    plain = bare_reply(text)
    return plain.startswith(_FIXED_BEGIN) or "(id: hub_" in plain


def bare_reply(text: str) -> str:
    """The text without what a chat puts around a reply."""
    return text.strip(" \t\r\n>`")
