"""The tools of our dialect that are offered only when asked for: changing, listing, looking back,
taking back, the conversation log, archives, the review of what is held, and the hub's files."""

from __future__ import annotations

import os
from typing import Any

from holdfast.agents.tool import REFERENCE, Parameter, Tool, ToolContext, one_of, refuse_held
from holdfast.agents.wording import head, in_brief, quoted
from holdfast.domain.memory import KINDS, LAYERS, STATES
from holdfast.domain.query import ORDERS
from holdfast.domain.records import ROLES
from holdfast.engine.writing.drafts import reason_to_hold
from holdfast.errors import Conflict, Forbidden, InvalidInput

_CHANGED = ("content", "title", "category", "tags", "kind", "pinned")


WHERE = Parameter(
    "where",
    "text",
    "Only what meets a condition on metadata or fields, such as: priority >= 3 and team = core.",
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
    if not ctx.hub.core.settings["review.by_agents"]:
        _refuse_release(ctx, given["change"])
    undone = ctx.hub.undo(given["change"])
    numbers = ", ".join(f"#{memory.number}" for memory in undone.memories) or "none"
    return (
        f"Took back change {undone.undone.id} ({undone.undone.action}); memories touched: "
        f"{numbers}. To bring it back, undo change {undone.change.id}."
    )


def _refuse_release(ctx: ToolContext, change: str | None) -> None:
    """An agent lets nothing through that waits for review, not by undoing either. The changes that
    hold something again are those that took back an approval, and an undo of those is named."""
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
    # Where it is on the machine is the business of who has the machine.
    far = ctx.caller is not None and not ctx.caller.local
    path = os.path.basename(done.path) if far and done.path else done.path
    said = [f"Archived as {path}."] if path else ["Nothing was archived."]
    if done.memory is not None:
        said.append(f"Its summary is #{done.memory.number}.")
    ctx.take_held()  # The notes say what is held.
    return " ".join([*said, *done.notes])


def _review(ctx: ToolContext, given: dict[str, Any]) -> str:
    by_agents = ctx.hub.core.settings["review.by_agents"]
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


TOOLS = (
    Tool(
        "memory_update",
        "Change a memory",
        "Changes fields of one memory; the old version stays in its history. Use it to correct "
        "wording, filing or tags. Answers with the new version.",
        (
            *REFERENCE,
            Parameter("content", "text", "The new text, whole."),
            Parameter("title", "text", "A new title."),
            Parameter("category", "text", "A new category."),
            Parameter("tags", "texts", "The tags, all of them."),
            Parameter("kind", "text", "A new kind.", choices=KINDS),
            Parameter("pinned", "flag", "Whether it is kept from ageing."),
            Parameter("new_key", "text", "A new key."),
            Parameter("expected_version", "whole", "Refuse if it has moved on.", least=1),
            Parameter("reason", "text", "Why, for the history."),
        ),
        _update,
        repeats=True,
        extra=True,
    ),
    Tool(
        "memory_list",
        "List memories",
        "Memories in an order, a line each. Use it to look through what is there; to find "
        "something, use recall.",
        (
            Parameter("category", "text", "Only this category."),
            Parameter("kind", "text", "Only this kind.", choices=KINDS),
            Parameter("layer", "text", "Only this layer.", choices=LAYERS),
            Parameter("state", "text", "Only this state.", choices=STATES),
            Parameter("tags", "texts", "Only those with all of these tags."),
            WHERE,
            Parameter("order", "text", "The order.", default="newest", choices=ORDERS),
            Parameter("limit", "whole", "How many at most.", default=20, least=1, most=100),
            Parameter("cursor", "text", "Where the list before ended."),
        ),
        _list,
        reads=True,
        extra=True,
    ),
    Tool(
        "memory_history",
        "History of a memory",
        "Every version of one memory, oldest first, with when and why it changed.",
        REFERENCE,
        _history,
        reads=True,
        extra=True,
    ),
    Tool(
        "memory_undo",
        "Undo a change",
        "Takes back the last change, or the one named. Undoing an undo brings it back.",
        (Parameter("change", "text", "The id of a change, from memory_history."),),
        _undo,
        destroys=True,
        extra=True,
    ),
    Tool(
        "log_turn",
        "Log a turn",
        "Adds one message to the conversation log, from which a lost session is recovered.",
        (
            Parameter("role", "text", "Who said it.", required=True, choices=ROLES),
            Parameter("content", "text", "What was said.", required=True),
            Parameter("session", "text", "The conversation it belongs to."),
            Parameter("source", "text", "Where it was said, such as tui."),
        ),
        _log_turn,
        extra=True,
    ),
    Tool(
        "archive_conversation",
        "Archive a conversation",
        "Keeps a conversation as a file to read and a summary to recall. Use it before the "
        "context is compacted. Doing it again for the same session updates the archive.",
        (
            Parameter("session", "text", "The conversation's id.", required=True),
            Parameter(
                "messages",
                "value",
                "The messages, each with role and content; left out: those of the log.",
                shape={
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
                        "required": ["role", "content"],
                        "additionalProperties": False,
                    },
                },
            ),
            Parameter("name", "text", "A name for it."),
        ),
        _archive,
        repeats=True,
        extra=True,
    ),
    Tool(
        "review",
        "Review what is held",
        "What was kept but is hidden until a person approves it. Use it to tell the person what "
        "waits; approving and rejecting is theirs, unless their settings leave it to agents.",
        (
            Parameter(
                "action",
                "text",
                "What to do.",
                default="list",
                choices=("list", "approve", "reject"),
            ),
            *REFERENCE,
            Parameter("limit", "whole", "How many to list.", default=20, least=1, most=100),
        ),
        _review,
        extra=True,
    ),
    Tool(
        "index_files",
        "Take in the hub's files",
        "Brings the documents of this memory up to date with its folder of files. Answers with "
        "how many were added, updated and removed.",
        (),
        _index_files,
        repeats=True,
        extra=True,
    ),
)
