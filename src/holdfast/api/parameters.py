"""What the parameters of operations mean, in one line each, and the values that some of them take.

A name means the same in every operation, so it is described once, here. The command line reads its
help and its completions from this table, and REST the descriptions of its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.domain.memory import (
    BOUNDARIES,
    CATEGORIES,
    CONTENT_TYPES,
    KINDS,
    LAYERS,
    SOURCES,
    STABILITIES,
    STATES,
    TRUSTS,
)
from holdfast.domain.query import ORDERS


class Parameter(NamedTuple):
    """The description of a parameter. `values` are offered; the engine checks what is given."""

    about: str = ""
    values: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """The description; without one, the values."""
        return self.about or ", ".join(self.values)


PARAMETERS: Mapping[str, Parameter] = {
    # A memory
    "reference": Parameter("the memory: its number (12), its id (mem_…) or its key"),
    "references": Parameter("the memory: its number (12), its id (mem_…) or its key"),
    "title": Parameter("instead of one taken from the content"),
    "summary": Parameter("instead of one taken from the content"),
    "content_type": Parameter(values=CONTENT_TYPES),
    "key": Parameter("a name of its own; the same key updates"),
    "category": Parameter("for example preference or fact", CATEGORIES),
    "tags": Parameter("a tag"),
    "kind": Parameter(values=KINDS),
    "stability": Parameter(values=STABILITIES),
    "boundary": Parameter(values=BOUNDARIES),
    "layer": Parameter(values=LAYERS),
    "state": Parameter(values=(*STATES, "all")),
    "session": Parameter("the conversation it is from"),
    "speaker": Parameter("who said it"),
    "occurred_at": Parameter("when it happened"),
    "occurred_until": Parameter("when it was over"),
    "valid_from": Parameter("when it begins to hold"),
    "valid_until": Parameter("when it ceases to hold"),
    "expires_at": Parameter("when it is archived"),
    "ttl": Parameter("archive it after this long"),
    "metadata": Parameter("an object with whatever you need"),
    "pinned": Parameter("keep it from ageing"),
    "trust": Parameter("who said it: " + ", ".join(TRUSTS), TRUSTS),
    "source": Parameter("where it came in", SOURCES),
    "source_path": Parameter("where it comes from"),
    "source_agent": Parameter("the agent that it comes from"),
    "assisted_by_agent": Parameter("the agent that helped to write it"),
    "supersedes": Parameter("the memory whose place it takes"),
    "parent": Parameter("the memory that it is a part of"),
    "origin": Parameter("where in a conversation it was taken from"),
    "fetch": Parameter("whether the page behind a link is fetched"),
    "expected_version": Parameter("refuse if it moved on"),
    # Which memories, and how many
    "query": Parameter("the question"),
    "where": Parameter("on metadata and fields, such as 'priority >= 3 and team = core'"),
    "since": Parameter("not before"),
    "until": Parameter("not after; a day counts to its end"),
    "as_of": Parameter("as things stood then"),
    "include_archived": Parameter("archived memories too"),
    "forgotten": Parameter("what was forgotten"),
    "quarantined": Parameter("what waits for review"),
    "order": Parameter(values=ORDERS),
    "limit": Parameter("how many"),
    "cursor": Parameter("go on where the last page ended"),
    # How they are found
    "explain": Parameter("say why each hit ranked"),
    "meaning": Parameter("match words and meaning; without it words only"),
    "turns": Parameter("find turns of the conversation log too"),
    "around": Parameter("with N turns before and after a turn"),
    "plain": Parameter("no character of the query is an operator"),
    "project": Parameter("a folder or a name; what belongs to it ranks a little higher"),
    "now": Parameter("the moment of the question"),
    "zone": Parameter("the time zone of the question"),
    # Changes
    "reason": Parameter("why; kept in the history"),
    "dry_run": Parameter("only say what would happen"),
    "force": Parameter("also over later changes"),
    "every": Parameter("all of them"),
    "note": Parameter("why"),
    # The conversation log
    "at": Parameter("when it was"),
    "days": Parameter("how many days"),
    "new": Parameter("its new name"),
}
