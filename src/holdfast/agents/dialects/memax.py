"""The MCP tools of Memax: push, recall, get, list and forget across hubs; capture, topics and
decisions. Arguments become calls of the hub, results sentences; nothing is decided here. Text from
the store is quoted line by line, so that it cannot pose as words of ours.

A context that may reach only its own hub sees only that one, and what is in another hub reads like
what does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from holdfast.agents import Answer, Parameter, ToolContext
from holdfast.agents.dialects import read_dialect
from holdfast.agents.wording import day, in_brief, notes_of, origin, quoted
from holdfast.api.hub import HubMemory
from holdfast.domain.memory import KINDS, STABILITIES, Memory
from holdfast.domain.query import Hit
from holdfast.domain.results import (
    OPTIONS_LEAST,
    OPTIONS_MOST,
    Decision,
    Duplicate,
    Remembered,
    Stored,
    Superseded,
    decision_of,
)
from holdfast.engine.echo.detect import Heard
from holdfast.engine.people import members
from holdfast.errors import (
    Conflict,
    Forbidden,
    HoldfastError,
    InvalidInput,
    NotFound,
    StoreError,
)
from holdfast.text.classify import read_hint

# Titles are cut to this length, as some hold the whole text.
_TITLE_CHARS = 200
# Past this a list of topics is no overview any more.
_TOPICS_MAX = 100


def named(title: str, memory_id: str) -> str:
    """How memax's tools name a memory: `{title} (id: {id})`, on one line."""
    return f"{in_brief(title, _TITLE_CHARS)} (id: {memory_id})"


def saved(result: Remembered, *, known: str = "Saved") -> str:
    """What memax's tools say of a memory that was saved: `Saved: {title} (id: {id})`; `known` is
    the word for what was there already."""
    memory = result.memory
    word = known if isinstance(result, Duplicate) else "Saved"
    lines = [f"{word}: {named(memory.title, memory.id)}"]
    if isinstance(result, Superseded):
        lines.append(f"Replaces: {named(result.previous.title, result.previous.id)}")
    elif isinstance(result, Stored) and (close := result.close_to) is not None:
        lines.append(f"Close to: {named(close.title, close.id)}")
    return "\n".join(lines)


def held_lines(answer: Answer, held: Sequence[Memory]) -> str:
    """An answer of memax's tools with a line for each memory that is held."""
    lines = [
        f"{memory.id} is hidden until a person approves it: it {memory.quarantine}."
        for memory in held
    ]
    return "\n".join([str(answer), *lines])


def came_back(heard: Heard, *, known: str = "Saved") -> str:
    """The answer of memax's tools where all that was said had been handed out by memory itself."""
    if len(heard.memories) != 1 or not heard.memories[0].visible:
        return heard.sentence
    memory = heard.memories[0]
    return f"{known}: {named(memory.title, memory.id)}"


def hit_text(place: int, hit: Hit) -> str:
    """One result of a recall in memax's words."""
    memory = hit.memory
    facts = [memory.kind, memory.stability, day(memory.dated)]
    if memory.tags:
        facts.append(f"tags {', '.join(memory.tags)}")
    facts += [origin(memory), f"score {hit.score:.2f}"]
    return f"{place}. {named(memory.title, memory.id)}\n{' · '.join(facts)}\n" + quoted(
        hit.passage.text
    )


def line_of(memory: Memory) -> str:
    """One line of a list of memories in memax's words."""
    facts = [memory.kind, memory.stability, memory.state, day(memory.updated_at)]
    return f"- {named(memory.title, memory.id)} · {' · '.join(facts)}"


def memory_text(hub: str, memory: Memory) -> str:
    """One memory as a whole in memax's words."""
    facts = [
        named(memory.title, memory.id),
        f"hub: {hub}",
        f"kind: {memory.kind}, {memory.stability}, {memory.state}, {memory.boundary}",
        f"category: {memory.category}",
        f"tags: {', '.join(memory.tags)}" if memory.tags else "",
        f"key: {memory.key}" if memory.key else "",
        f"part of: {memory.parent}" if memory.parent else "",
        f"superseded by: {memory.superseded_by}" if memory.superseded_by else "",
        f"source: {origin(memory).removeprefix('from ')}",
        f"version {memory.version}, created {day(memory.created_at)},"
        f" updated {day(memory.updated_at)}, access count {memory.access_count}",
    ]
    asked = decision_of(memory)
    if asked is not None:
        facts += decision_lines(asked)
    return "\n".join([*(fact for fact in facts if fact), "", quoted(memory.content)])


def decision_lines(decision: Decision) -> list[str]:
    """The status of a decision in memax's words."""
    if decision.status == "decided":
        lines = [f"decided: {decision.option}", f"answer: {decision.answer}"]
    else:
        lines = [f"decision: {decision.status}"]
        lines += [f"option {at}: {option}" for at, option in enumerate(decision.options, 1)]
    return [*lines, f"why: {in_brief(decision.note, 1_000)}"] if decision.note else lines


def topics_text(counts: Mapping[str, int]) -> str:
    """Topics in memax's words, the largest first, and among equals by name."""
    if not counts:
        return "No topics yet."
    order = sorted(counts, key=lambda topic: (-counts[topic], topic))
    lines = [f"- {topic}: {counts[topic]}" for topic in order[:_TOPICS_MAX]]
    if len(order) > _TOPICS_MAX:
        lines.append(f"{len(order) - _TOPICS_MAX} smaller ones are not listed.")
    return "\n".join(lines)


NOTHING = "No results found."
_TOPICS_BATCH = 500
# How the parts of a capture are filed, and the word for those that were there already.
_SUMMARY = {"kind": "episodic", "category": "conversation"}
_DECISION = {"kind": "rationale", "category": "decision", "stability": "stable"}
_LEARNING = {"kind": "semantic"}
_KNOWN = "Known already"


def recall(ctx: ToolContext, given: dict[str, Any]) -> str:
    try:
        found = _hub(ctx, given).recall(
            given["query"],
            limit=given["limit"],
            kind=given["kind"],
            tags=given["tags"],
            project=given["project"],
            zone=ctx.zone,
            plain=True,
            turns=False,
        )
    except HoldfastError as error:
        # A failure must not read like an empty result.
        raise type(error)(f"Recall failed: {error.message}", hint=error.hint) from error
    notes = list(notes_of(found))
    if not found:
        return "\n".join([NOTHING, *notes])
    return "\n\n".join([*(hit_text(at, hit) for at, hit in enumerate(found, 1)), *notes])


def push(ctx: ToolContext, given: dict[str, Any]) -> str:
    hub, kind, category = _hub(ctx, given), given["kind"], None
    heard = hub.heard(given["content"])
    if heard.nothing_new:
        return came_back(heard)
    content = heard.text
    if hinted := read_hint(given["hint"], content, given["source_path"]):
        category = hinted.category
        kind = kind or hinted.kind
    result = hub.remember(
        content,
        title=given["title"],
        tags=given["tags"],
        kind=kind,
        category=category,
        source_path=given["source_path"],
        layer="library",
        **_caller(ctx),
    )
    return saved(result)


def get_memory(ctx: ToolContext, given: dict[str, Any]) -> str:
    hub, memory = _find(ctx, given["id"])
    if memory.quarantine and decision_of(memory) is None:
        raise Conflict(f"{memory.id} waits for a person's review: it {memory.quarantine}.")
    # If counting the use fails, the answer is given all the same.
    with suppress(StoreError):
        memory = hub.access(memory.id)
    return memory_text(hub.name, memory)


def list_memories(ctx: ToolContext, given: dict[str, Any]) -> str:
    page = _hub(ctx, given).list(
        kind=given["kind"],
        state=given["state"],
        stability=given["stability"],
        category=given["category"],
        tags=given["tags"],
        order=given["sort"],
        limit=given["limit"],
        cursor=given["cursor"],
    )
    if not page:
        return NOTHING
    more = [f"Next cursor: {page.cursor}"] if page.cursor else []
    return "\n".join([*(line_of(memory) for memory in page), *more])


def list_hubs(ctx: ToolContext, given: dict[str, Any]) -> str:
    lines = []
    for info in ctx.hubs():
        visible = ctx.hub_named(info.id).statistics().visible
        count = "1 memory" if visible == 1 else f"{visible} memories"
        standing = members.standing(ctx.hub.core, info, ctx.hub.core.actor)
        role = f", role {standing.role}" if standing is not None and standing.role else ""
        used = ", in use" if info.id == ctx.hub.id else ""
        lines.append(f"- {info.called} (id: {info.id}): {count}{role}{used}")
    return "\n".join(lines)


def list_members(ctx: ToolContext, given: dict[str, Any]) -> str:
    hub = _hub(ctx, given)
    # A caller who only reads what is shared beyond the hub is no member, and sees no members.
    if ctx.caller is not None and ctx.caller.hub_standing(hub.id)[1].role is None:
        raise Forbidden(f"You are not a member of the hub `{hub.name}`.")
    found = members.members(hub.core, "hub", hub.id)
    return "\n".join(f"- {member.actor} ({member.role})" for member in found)


def forget(ctx: ToolContext, given: dict[str, Any]) -> str:
    hub, memory = _find(ctx, given["id"])
    return f"Forgotten: {hub.forget(memory.id).id}"


def capture(ctx: ToolContext, given: dict[str, Any]) -> str:
    hub = _hub(ctx, given)
    summary = hub.heard(given["summary"])
    if summary.nothing_new:
        raise InvalidInput(summary.sentence, hint="Sum up what happened in words of your own.")
    drafts = [{"content": summary.text, **_SUMMARY, **_caller(ctx)}]
    known = []
    for texts, fields in ((given["decisions"], _DECISION), (given["learnings"], _LEARNING)):
        for text in texts:
            heard = hub.heard(text)
            if heard.nothing_new:
                known.append(came_back(heard, known=_KNOWN))
            else:
                drafts.append({"content": heard.text, **fields, **_caller(ctx)})
    results = hub.remember_many(drafts, first_is_parent=True)
    return "\n".join([*(saved(result, known=_KNOWN) for result in results), *known])


def list_topics(ctx: ToolContext, given: dict[str, Any]) -> str:
    hub = _hub(ctx, given)
    counts: dict[str, int] = {}
    seen, cursor = 0, None
    while True:
        page = hub.list(limit=_TOPICS_BATCH, cursor=cursor)
        for memory in page:
            for topic in {memory.category, *memory.tags}:
                counts[topic] = counts.get(topic, 0) + 1
        seen, cursor = seen + len(page), page.cursor
        ctx.progress(seen)
        if cursor is None:
            return topics_text(counts)


def request_decision(ctx: ToolContext, given: dict[str, Any]) -> str:
    asked = _hub(ctx, given).request_decision(
        given["question"], given["options"], given["context"], **_caller(ctx)
    )
    return "\n".join(
        [
            f"Decision requested: {named(asked.question, asked.memory.id)}",
            *decision_lines(asked),
            "A person answers it. Go on with other work; memax_get with this id says what was "
            "decided, and recall finds it.",
        ]
    )


# Where and who


def _hub(ctx: ToolContext, given: dict[str, Any]) -> HubMemory:
    """The hub that is named, by its name or its id; else the one in use."""
    return ctx.hub_named(given["hub"])


def _find(ctx: ToolContext, reference: str | int) -> tuple[HubMemory, Memory]:
    """A memory of the hub in use; an id is good in every hub in reach."""
    try:
        return ctx.hub, ctx.hub.get(reference)
    except NotFound as error:
        if str(reference).strip().startswith("mem_"):
            for info in ctx.hubs():
                try:
                    hub = ctx.hub_named(info.id)
                    return hub, hub.get(reference)
                except NotFound:
                    continue
        raise error


def _caller(ctx: ToolContext) -> dict[str, Any]:
    return {"trust": ctx.trust, "source": ctx.source, "source_agent": ctx.agent}


# The dialect

_HUB = Parameter("hub", "text", "Another hub, by its name or id; left out, the one in use.")
_KIND = Parameter(
    "kind",
    "text",
    "episodic (an event), semantic (a fact), procedural (a how-to) or rationale (a why).",
    choices=KINDS,
)
_ID = Parameter("id", "reference", "Its id (mem_…), as recall and list give it.", required=True)

DIALECT = read_dialect(
    "memax",
    {
        "memax_recall": recall,
        "memax_push": push,
        "memax_get": get_memory,
        "memax_list": list_memories,
        "memax_hubs": list_hubs,
        "memax_hub_members": list_members,
        "memax_forget": forget,
        "memax_capture": capture,
        "memax_topics": list_topics,
        "memax_request_decision": request_decision,
    },
    {
        "HUB": _HUB,
        "KIND": _KIND,
        "ID": _ID,
        "STABILITIES": STABILITIES,
        "OPTIONS_LEAST": OPTIONS_LEAST,
        "OPTIONS_MOST": OPTIONS_MOST,
    },
    held=held_lines,
)
