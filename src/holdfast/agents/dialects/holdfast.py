"""Holdfast's own dialect: five tools by default, and more when asked for: changing, listing,
looking back, taking back, the conversation log, archives, the review of what is held, and the hub's
files. It puts arguments into calls of the hub and the results into sentences; it decides nothing.
"""

from __future__ import annotations

import os
import shlex
from typing import Any

from holdfast import sources
from holdfast.agents import (
    REFERENCE,
    Parameter,
    ToolContext,
    one_of,
    refuse_held,
)
from holdfast.agents.dialects import read_dialect
from holdfast.agents.wording import (
    head,
    hit_text,
    in_brief,
    notes_of,
    on_a_line,
    quoted,
    traces_text,
    turn_head,
    whole,
)
from holdfast.api.hub import HubMemory
from holdfast.api.project_hub import named as named_in
from holdfast.domain.memory import KINDS, LAYERS, STATES
from holdfast.domain.query import ORDERS
from holdfast.domain.records import ROLES
from holdfast.domain.results import (
    Duplicate,
    Quarantined,
    Remembered,
    Stored,
    Superseded,
    Updated,
)
from holdfast.engine.writing.drafts import reason_to_hold
from holdfast.errors import Conflict, Forbidden, InvalidInput

_BUDGET_MAX = 1_000_000


def _remember(ctx: ToolContext, given: dict[str, Any]) -> str:
    heard = ctx.hub.heard(given["content"])
    if heard.nothing_new:
        return heard.sentence
    result = ctx.hub.remember(
        heard.text,
        category=given["category"],
        key=given["key"],
        kind=given["kind"],
        tags=given["tags"],
        pinned=given["pinned"],
        supersedes=given["supersedes"],
        trust=ctx.trust,
        source=ctx.source,
        source_agent=ctx.agent,
    )
    if isinstance(result, Quarantined):
        ctx.take_held()
    return outcome(result, ctx.hub)


def outcome(result: Remembered, hub: HubMemory | None = None) -> str:
    """The result of remembering in words; `hub` is the one that was asked."""
    memory = result.memory
    number = f"#{memory.number}" if hub is None else named_in(hub, memory)
    named = f"{number} ({memory.category}, id {memory.id})"
    text = quoted(in_brief(memory.content))
    if isinstance(result, Duplicate):
        return f"Already known as {named}; nothing new was stored.\n{text}"
    if isinstance(result, Updated):
        before = quoted(in_brief(result.previous.content))
        return f"Updated {named}.\n{text}\nIt said before:\n{before}"
    if isinstance(result, Superseded):
        before = quoted(in_brief(result.previous.content))
        return (
            f"Remembered {named}. It supersedes #{result.previous.number}.\n{text}\n"
            f"That one said:\n{before}"
        )
    if isinstance(result, Quarantined):
        return f"Kept as {named}, but hidden until a person approves it: {result.reason}.\n{text}"
    if isinstance(result, Stored) and (close := result.close_to) is not None:
        return (
            f"Remembered {named}.\n{text}\nClose to #{close.number}; remember it with supersedes"
            f" {close.number} where it replaces that one, which says:\n"
            f"{quoted(in_brief(close.content))}"
        )
    return f"Remembered {named}.\n{text}"


def _recall(ctx: ToolContext, given: dict[str, Any]) -> str:
    query = given["query"]
    # Other memories that may be read are asked at the same time; what they say comes after ours.
    asked = sources.begin(ctx.hub, query, limit=given["limit"])
    found = ctx.hub.recall(
        query,
        limit=given["limit"],
        category=given["category"],
        kind=given["kind"],
        where=given["where"],
        since=ctx.when(given["since"]),
        until=ctx.when(given["until"], end=True),
        as_of=ctx.past(given["as_of"]),
        zone=ctx.zone,
    )
    notes = list(notes_of(found))
    if beside := asked.answers().text():
        notes.append(beside)
    if not found:
        return "\n\n".join([f"Nothing in memory matches “{in_brief(query)}”.", *notes])
    one, many = ("memory", "memories") if not any(hit.turn for hit in found) else ("hit", "hits")
    count = f"1 {one}" if len(found) == 1 else f"{len(found)} {many}"
    return "\n\n".join(
        [f"{count}, best first:", *(hit_text(hit, ctx.hub) for hit in found), *notes]
    )


def _forget(ctx: ToolContext, given: dict[str, Any]) -> str:
    if given["about"] is not None:
        if any(given[parameter.name] is not None for parameter in REFERENCE):
            raise InvalidInput("Give one memory's id, number or key, or `about`, not both.")
        return _would_forget(ctx, given["about"])
    memory = ctx.hub.forget(one_of(given), reason=given["reason"] or "")
    also = traces_text(ctx.hub.traces([memory.id]))
    hidden = f"Also hidden: {also}.\n" if also else ""
    return (
        f"Forgot {named_in(ctx.hub, memory)} ({memory.category}, id {memory.id}).\n"
        f"{quoted(in_brief(memory.content))}\n"
        f"{hidden}"
        f"`holdfast restore {named_in(ctx.hub, memory).removeprefix('#')}` brings it back."
    )


def _would_forget(ctx: ToolContext, about: str) -> str:
    """Lists what is stored about a word. Turns are removed for good, which is left to a person."""
    found = ctx.hub.forget_turns(about=about, dry_run=True)
    if not found.total and not found.memories:
        return f"Nothing is remembered or was said about “{on_a_line(about)}”."
    shown = [one for one in found.memories if one.visible]
    lines = [f"- {head(one, ctx.hub)}: {in_brief(one.content)}" for one in shown]
    lines += [f"- {turn_head(one)}: {in_brief(one.content)}" for one in found.turns]
    more = len(lines) - _LISTED_MAX
    if more > 0:
        lines[_LISTED_MAX:] = [f"- and {more} more"]
    memories = "1 memory" if len(shown) == 1 else f"{len(shown)} memories"
    turns = "1 turn" if found.total == 1 else f"{found.total} turns"
    listed = "\n".join(lines)
    return (
        f"Nothing is forgotten yet. {memories} and {turns} hold “{on_a_line(about)}”:\n"
        f"{quoted(listed)}\n"
        f"The person forgets them with `holdfast log forget --about {shlex.quote(about)}`, which "
        "shows them and asks. Turns go for good."
    )


# More lines than this say nothing more to a model.
_LISTED_MAX = 20


def _get(ctx: ToolContext, given: dict[str, Any]) -> str:
    if given["date"] is None:
        reference = one_of(given, "date")
        refuse_held(ctx, ctx.hub.get(reference))
        return whole(ctx.hub.access(reference), ctx.hub)
    if any(given[name] is not None for name in ("id", "number", "key")):
        raise InvalidInput("Give a date or one memory's id, number or key, not both.")
    days = ctx.hub.journal(given["date"])
    if not any(day.entries for day in days):
        return f"There is no journal entry for {given['date']}."
    return "\n\n".join(f"## {day.date}\n\n{quoted(day.text)}" for day in days if day.entries)


def _context(ctx: ToolContext, given: dict[str, Any]) -> str:
    return ctx.hub.context(given["query"], budget=given["budget"]) or "There is nothing yet."


CATEGORY = Parameter(
    "category",
    "text",
    "How it is filed: preference, fact, project, person, routine, decision, or any other label.",
)
KIND = Parameter(
    "kind",
    "text",
    "episodic (an event), semantic (a fact), procedural (a how-to) or rationale (a why).",
    choices=KINDS,
)


# Tools that are offered only when asked for


_CHANGED = ("content", "title", "category", "tags", "kind", "pinned")


WHERE = Parameter(
    "where",
    "filter",
    "Only what meets a condition on metadata or fields: a line such as priority >= 3 and team in"
    ' (core, web), or an object such as {"priority": {"gte": 3}, "team": {"in": ["core", "web"]}},'
    " with AND, OR and NOT.",
)


def _update(ctx: ToolContext, given: dict[str, Any]) -> str:
    changes = {name: given[name] for name in _CHANGED if given[name] is not None}
    if given["new_key"] is not None:
        changes["key"] = given["new_key"]
    if not changes:
        raise InvalidInput("Say what to change: content, title, category, tags, kind or pinned.")
    _refuse_echo(ctx, changes.get("content", ""))
    if "content" in changes:
        if reason := reason_to_hold(changes["content"], ctx.trust):
            raise InvalidInput(
                f"This text {reason}, so it is not put in the place of a memory.",
                hint="What you remember anew waits for a person who decides.",
            )
        # The words are the agent's from now on.
        changes["trust"] = ctx.trust
    reference = one_of(given)
    refuse_held(ctx, ctx.hub.get(reference))
    memory = ctx.hub.update(
        reference,
        expected_version=given["expected_version"],
        reason=given["reason"] or "",
        **changes,
    )
    return f"Updated to version {memory.version}.\n{head(memory)}\n{quoted(memory.content)}"


def _refuse_echo(ctx: ToolContext, content: str) -> None:
    """Refuses a new text with a block or a reply in it. Taking that out, as where something is
    remembered, could leave a memory with half of its words."""
    heard = ctx.hub.heard(content)
    if heard.nothing_new:
        raise InvalidInput(heard.sentence)
    if heard.echoes:
        raise InvalidInput(
            "A part of this content is what memory has handed out; nothing new was stored.",
            hint="Give only the new text of this memory.",
        )


def _list(ctx: ToolContext, given: dict[str, Any]) -> str:
    page = ctx.hub.list(
        category=given["category"],
        kind=given["kind"],
        layer=given["layer"],
        state=given["state"],
        tags=given["tags"],
        where=given["where"],
        order=given["order"],
        limit=given["limit"],
        cursor=given["cursor"],
    )
    if not page:
        return "There are no memories to list."
    lines = [f"{head(memory)}\n{quoted(in_brief(memory.content))}" for memory in page]
    more = [f"There are more; go on with cursor {page.cursor}."] if page.cursor else []
    return "\n\n".join([*lines, *more])


def _history(ctx: ToolContext, given: dict[str, Any]) -> str:
    reference = one_of(given)
    refuse_held(ctx, ctx.hub.find(reference))
    entries = ctx.hub.history(reference)
    lines = []
    for entry in entries:
        change = entry.change
        why = f": {in_brief(change.reason)}" if change.reason else ""
        act = f"{change.action} (change {change.id})"
        lines.append(
            f"version {entry.after.version} · {entry.after.updated_at.isoformat()} · {act}{why}\n"
            f"{quoted(in_brief(entry.after.content))}"
        )
    return "\n\n".join(lines)


def _undo(ctx: ToolContext, given: dict[str, Any]) -> str:
    if not ctx.review_by_agents():
        _refuse_release(ctx, given["change"])
    undone = ctx.hub.undo(given["change"])
    numbers = ", ".join(f"#{memory.number}" for memory in undone.memories) or "none"
    return (
        f"Took back change {undone.undone.id} ({undone.undone.action}); memories touched: "
        f"{numbers}. To bring it back, undo change {undone.change.id}."
        + (f" {undone.note}" if undone.note else "")
    )


def _refuse_release(ctx: ToolContext, change: str | None) -> None:
    """An agent cannot release what waits for review, not even by an undo. The changes that hold
    something again are those that took back an approval, and an undo of those is named."""
    hub = ctx.hub
    for memory in hub.touched([change]).get(change, []) if change else []:
        for entry in hub.history(memory.id):
            before, after = entry.revision.fields.get("quarantine", ("", ""))
            if entry.change.id == change and after and not before:
                raise Conflict(
                    f"Undoing {change} would let #{memory.number} through, which waits for review.",
                    hint="A person decides with `holdfast review`.",
                )


def _log_turn(ctx: ToolContext, given: dict[str, Any]) -> str:
    turn = ctx.hub.log_turn(
        given["role"],
        given["content"],
        session=given["session"],
        source=given["source"] or ctx.agent or "unknown",
    )
    return f"Logged as {turn.id}."


def _archive(ctx: ToolContext, given: dict[str, Any]) -> str:
    done = ctx.hub.archive_conversation(
        given["session"], messages=given["messages"], name=given["name"]
    )
    # The path is shown to the owner of the machine alone.
    far = ctx.caller is not None and not ctx.caller.local
    path = os.path.basename(done.path) if far and done.path else done.path
    said = [f"Archived as {path}."] if path else ["Nothing was archived."]
    if done.memory is not None:
        said.append(f"Its summary is #{done.memory.number}.")
    ctx.take_held()  # The notes say what is held.
    return " ".join([*said, *done.notes])


def _review(ctx: ToolContext, given: dict[str, Any]) -> str:
    by_agents = ctx.review_by_agents()
    if given["action"] == "list":
        items = ctx.hub.review(limit=given["limit"])
        if not items:
            return "Nothing waits for review."
        # Why something is a conflict names the values of both.
        reasons = [item.why if by_agents else item.why.split(": ")[0] for item in items]
        lines = [
            f"{head(item.memory)}\n{item.kind}: it {in_brief(why)}"
            for item, why in zip(items, reasons, strict=True)
        ]
        if by_agents:
            texts = [quoted(item.memory.content) for item in items]
            lines = [f"{line}\n{text}" for line, text in zip(lines, texts, strict=True)]
        else:
            lines.append("Their texts are not shown. A person decides with `holdfast review`.")
        return "\n\n".join(lines)
    if not by_agents:
        raise Forbidden(
            f"Only a person may {given['action']} what waits for review.",
            hint="Tell them that something waits: `holdfast review` shows it.",
        )
    reference = one_of(given)
    if given["action"] == "approve":
        (memory,) = ctx.hub.approve(reference, reason="by an agent")
        return f"Approved: #{memory.number} can be recalled from now on."
    (memory,) = ctx.hub.reject(reference, reason="by an agent")
    return f"Rejected: #{memory.number} is archived; `holdfast undo` brings it back."


def _index_files(ctx: ToolContext, given: dict[str, Any]) -> str:
    report = ctx.hub.index_files(
        progress=lambda done, total: ctx.progress(done, total, "files read")
    )
    said = (
        f"{len(report.added)} added, {len(report.updated)} updated, {len(report.removed)} "
        f"removed, {len(report.unchanged)} unchanged, {len(report.skipped)} skipped."
    )
    refused = [f"Not read: {note.path}: {note.reason}" for note in report.refused[:20]]
    withheld = [
        f"{len(report.withheld)} files are gone at once; their memories stay until a person "
        "confirms with `holdfast index-files --remove-many`."
    ]
    return "\n".join([said, *refused, *(withheld if report.withheld else [])])


# The messages of a conversation, as a strict schema says it.
_MESSAGES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
        "required": ["role", "content"],
        "additionalProperties": False,
    },
}

DIALECT = read_dialect(
    "holdfast",
    {
        "remember": _remember,
        "recall": _recall,
        "forget": _forget,
        "memory_get": _get,
        "memory_context": _context,
        "memory_update": _update,
        "memory_list": _list,
        "memory_history": _history,
        "memory_undo": _undo,
        "log_turn": _log_turn,
        "archive_conversation": _archive,
        "review": _review,
        "index_files": _index_files,
    },
    {
        "REFERENCE": REFERENCE,
        "CATEGORY": CATEGORY,
        "KIND": KIND,
        "WHERE": WHERE,
        "KINDS": KINDS,
        "LAYERS": LAYERS,
        "STATES": STATES,
        "ORDERS": ORDERS,
        "ROLES": ROLES,
        "BUDGET_MAX": _BUDGET_MAX,
        "MESSAGES": _MESSAGES,
    },
)
