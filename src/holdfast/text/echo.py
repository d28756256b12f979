"""A first look at a text: can anything in it be what Holdfast has handed out? And what is found.

Nearly every text ends here, so this module is small; `echo_shapes.py` has the shapes themselves.
Neither knows the store: whose words they are, only that can say.
"""

from __future__ import annotations

from typing import NamedTuple

# One of these is in everything we hand out with decoration; a text without any costs these looks.
SIGNS = (
    *("[#", "• #", " · ", "(#", "<item", "<memory", "# 2", "ong-Term", "ong-term"),
    *("conversations;", "Session recovered]", "id mem_", "(id: mem_"),
    *('"content"', '"text"', '"key"', '"results"', '"memories"', "Here's the content of /memories"),
    "2 levels deep in /memories",
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


def is_fixed_reply(text: str) -> bool:
    """Whether it is nothing but a reply of ours that holds no memory."""
    if len(text) > _FIXED_CHARS_MAX:
        return False
    plain = text.strip(" \t\r\n>`")
    if not plain.startswith(_FIXED_BEGIN) and "(id: hub_" not in plain:
        return False
    from holdfast.text.echo_shapes import FIXED  # whose patterns take 10 ms to make

    return FIXED.fullmatch(plain) is not None
