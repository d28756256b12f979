"""What memory adds to a conversation: the block of a new one, the block for a prompt, and the
answer to 'forget that'. Hooks and the proxy share it; how the text reaches the model, and what a
conversation was given before, they know themselves."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from holdfast.api.project_hub import ProjectHub, built_context, named
from holdfast.edges.hooks import blocks
from holdfast.engine.context.changed_since import outdated
from holdfast.engine.context.relevance import for_prompt
from holdfast.engine.context.styles import escaped
from holdfast.errors import HoldfastError, NotFound

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast
    from holdfast.domain.memory import Memory

# A question is in its first words and its last; what lies between was pasted.
_QUERY_CHARS = 2_000
# How many memories a prompt is held against.
_HITS_MAX = 8
_START_ROOM_MIN = 200
_STANDING = "kept in mind always, or said lately"
_FORGET = re.compile(
    r"^\W*(?:please |ok(?:ay)?,? |actually,? |no,? )*"
    r"(?:forget (?:that|this|it|what i (?:just )?said)"
    r"|(?:do not|don'?t) (?:remember|keep|store|save) (?:that|this|it))(?: please)?\W*$",
    re.IGNORECASE,
)


class Block(NamedTuple):
    """A text for a prompt, empty where there is nothing to say, and the memories in it."""

    text: str = ""
    lines: tuple[blocks.Line, ...] = ()


def start_block(memory: Holdfast, hub: HubMemory) -> Block:
    """The block of a new conversation: what is always kept in mind, and where the last one
    ended."""
    finish_jobs(memory)
    limit: int = memory.core.settings["hooks.start_chars"]
    room = limit - len(blocks.start_block(hub, "x"))
    for one in filter(None, (hub, hub.own if isinstance(hub, ProjectHub) else None)):
        # Takes in what was edited by hand in the hub's files.
        one.list(limit=1)
    built = built_context(hub, budget=max(room, _START_ROOM_MIN))
    # With nothing in it, the block of the hub is an empty frame.
    text = blocks.start_block(hub, built.text if built.included else "")
    if not text or len(text) > limit:
        return Block()
    return Block(text, tuple(_as_line(hub, one) for one in built.included))


def _as_line(hub: HubMemory, memory: Memory) -> blocks.Line:
    """A memory of the standing block; its words are in the block itself."""
    at = hub.hub_of(memory).name if isinstance(hub, ProjectHub) else hub.name
    version = blocks.shown_version(memory)
    return blocks.Line("", memory.id, named(hub, memory), at, _STANDING, version)


def is_current(memory: Holdfast, block: Block) -> bool:
    """Whether all that a block shows is still as it was."""
    hubs: dict[str, dict[str, int]] = {}
    for line in block.lines:
        hubs.setdefault(line.hub, {})[line.memory_id] = line.version
    try:
        return not any(
            outdated(memory.hub(name).scope, versions) for name, versions in hubs.items()
        )
    except NotFound:
        # A hub is gone.
        return False


def prompt_block(
    hub: HubMemory, prompt: str, *, session: str, given: Collection[str], meaning: bool
) -> Block:
    """The memories that answer a prompt, without those that the conversation was given already
    and those that were made from it. `meaning` says whether the embedding model is ready."""
    query = prompt
    if len(query) > _QUERY_CHARS:
        half = _QUERY_CHARS // 2
        query = f"{query[:half]} {query[-half:]}"
    found = hub.recall(query, limit=_HITS_MAX, meaning=meaning, plain=True)
    lines = [
        blocks.memory_line(hub, hit.memory, hit.passage.text, "; ".join(hit.why[:3]))
        for hit in for_prompt(found)
        if hit.memory.id not in given and hit.memory.session != session
    ]
    text, taken = blocks.prompt_block(hub, lines, hub.core.settings["hooks.prompt_chars"])
    return Block(text, tuple(taken))


def finish_jobs(memory: Holdfast) -> None:
    """Notes what an earlier session said and nobody has looked at yet, where that needs no model:
    the next session may ask for it at once."""
    settings = memory.core.settings
    if settings["llm.model"] or settings["shadowJournal.model"]:
        return
    from holdfast.engine.jobs.queue import JOURNAL
    from holdfast.passes.work import work_until_done

    with suppress(HoldfastError):
        work_until_done(memory.core, memory.home, works=(JOURNAL,))


def asks_to_forget(prompt: str) -> bool:
    """Whether a person asks to forget what they said last, and says nothing else."""
    return _FORGET.match(prompt) is not None


def forget_last(memory: Holdfast, hub: HubMemory, session: str) -> str:
    """Forgets what was taken in from the last thing that the person said in this session; the text
    that says so to the model."""
    finish_jobs(memory)
    own = hub.own if isinstance(hub, ProjectHub) else None
    taken: list[tuple[HubMemory, Memory]] = []
    for one in filter(None, (hub, own)):
        found = one.list(session=session, order="newest", limit=20)
        taken += [(one, each) for each in found]
    if not taken:
        return _notice(hub, "Nothing of this session is in memory, so there is nothing to forget.")
    newest = max(each.created_at for _, each in taken)
    gone = [(one, each) for one, each in taken if each.created_at == newest]
    for one, each in gone:
        one.forget(each.id, reason="the person said: forget that")
    words = "; ".join(
        f"{named(hub, each)} {' '.join(each.content.split())[:200]}" for _, each in gone
    )
    return _notice(hub, f"Forgotten as asked: {escaped(words)}. `holdfast undo` brings it back.")


def _notice(hub: HubMemory, sentence: str) -> str:
    return "\n".join([blocks.opening(hub), sentence, "</holdfast-memory>"])
