"""Notes on words that were probably mistyped: categories nobody uses, filters that are none.

A category may be any word, and any text may contain a colon: neither is an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.domain.memory import CATEGORIES
from holdfast.edges.cli.command import nearest

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.edges.cli.call import Call

_FILTER = re.compile(r"(?<!\S)-?([A-Za-z_]+):(?=[\w\"])")
# A hub may have thousands of categories; a note names a few.
_NAMED_MAX = 8


def note_filters(call: Call, query: str) -> None:
    """Says which filter was meant by one that is mistyped, and was searched as text."""
    if ":" not in query or call.out.json:
        return
    from holdfast.recall.analyse import FIELDS

    for word in dict.fromkeys(_FILTER.findall(query)):
        near = "" if word in FIELDS else nearest(word, FIELDS)
        if near:
            call.out.note(
                f"`{word}:` is no filter, and was searched as text. Did you mean `{near}:`?"
            )


def note_absent_category(call: Call, category: str | None, query: str = "") -> None:
    """For an answer without any memory: says that none has this category, and which there are."""
    asked = [category] if category else _CATEGORY.findall(query)
    if not asked or call.out.json:
        return
    there = call.hub.statistics().by_category
    for one in asked:
        if one.lower() in there:
            continue
        known = sorted(there, key=lambda name: -there[name])
        near = nearest(one.lower(), [*known, *CATEGORIES])
        guess = f" Did you mean `{near}`?" if near else ""
        named = ", ".join(known[:_NAMED_MAX]) + (", …" if len(known) > _NAMED_MAX else "")
        call.out.note(
            f"No memory here has the category `{one}`.{guess}"
            + (f" There are: {named}." if named and not guess else "")
        )


_CATEGORY = re.compile(r"(?<!\S)category:(\w+)")


def note_new_category(call: Call, memory: Memory) -> None:
    """Says that a memory is the first of its category, where that was given and is not one of the
    usual ones."""
    category = memory.category
    if category in CATEGORIES or call.out.json:
        return
    there = call.hub.statistics().by_category
    if there.get(category, 0) > 1:
        return
    near = nearest(category, [*(name for name in there if name != category), *CATEGORIES])
    if near:
        call.out.note(
            f"`{category}` is a new category. If you meant `{near}`:"
            f" `holdfast update {memory.number} --category {near}`."
        )
    else:
        call.out.note(f"`{category}` is a new category; the usual ones are {_USUAL}.")


_USUAL = ", ".join(CATEGORIES)
