"""Who may do what with tools: the part of the table that is about the tools of every dialect. What
each takes is said in the words of `permissions`; nothing is computed from the code under test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.edges.http.permissions import MAY, SEES, WITH, Scene

Arguments = Callable[[Scene, str], dict[str, Any]]


class Call(NamedTuple):
    """What a call of a tool takes, and its arguments. `about` makes the memory that it is about,
    for a boundary and an owner. `reads` tools are offered to who only reads. `silent` ones answer
    that there was nothing, instead of refusing."""

    takes: str
    arguments: Arguments
    about: Callable[[Scene, str, str], str] | None = None
    reads: bool = False
    silent: bool = False


def _given(**fields: Any) -> Arguments:
    return lambda scene, memory: fields


def _new(field: str, **fields: Any) -> Arguments:
    return lambda scene, memory: {field: scene.new(), **fields}


def _named(field: str, **fields: Any) -> Arguments:
    return lambda scene, memory: {field: memory, **fields}


def _reads(takes: str = "read", arguments: Arguments = _given(), **more: Any) -> Call:  # noqa: B008
    return Call(takes, arguments, reads=True, **more)


def _number(scene: Scene, memory: str) -> dict[str, Any]:
    return {"memory_id": scene.stored(memory).number}


def _question(scene: Scene, memory: str) -> dict[str, Any]:
    for one in scene.somebody.decisions():
        scene.somebody.withdraw_decision(one.memory.id)
    return {"question": f"{scene.new()}?", "options": ["yes", "no"]}


def _rewritten(scene: Scene, memory: str) -> dict[str, Any]:
    """MEMORY.md as the caller reads it, without the line of this memory, where they see it."""
    said = scene.stored(memory).content if memory else ""
    text = scene.calling.read_memory_md() or ""
    kept = [line for line in text.splitlines() if not said or said not in line]
    return {"action": "rewrite", "content": "\n".join([*kept, f"- {scene.new()}", ""])}


def _file(command: str, **fields: Any) -> Arguments:
    """A command about a file that somebody else has put there."""

    def arguments(scene: Scene, memory: str) -> dict[str, Any]:
        path = f"/memories/{scene.new().replace(' ', '-')}.md"
        scene.somebody.files().create(path, "tea\n")
        if command == "rename":
            return {"command": command, "old_path": path, "new_path": path[:-3] + "-2.md"}
        return {"command": command, "path": path, **fields}

    return arguments


MEMORY = Scene.memory
_HELLO = [{"role": "user", "content": "Hello"}]

# Agents decide nothing that waits for a person, unless that is switched on.
NOBODY = "nobody"

# Dialect and tool, with a word that tells calls apart that take different things.
TOOLS: dict[str, Call] = {
    "holdfast remember": Call("write", _new("content")),
    "holdfast remember supersedes": Call(
        "retire", lambda s, m: {"content": s.new(), "supersedes": m}, MEMORY
    ),
    "holdfast recall": _reads(arguments=_given(query="word")),
    "holdfast forget": Call("delete", _named("id"), MEMORY),
    "holdfast memory_get": _reads(arguments=_named("id"), about=MEMORY),
    "holdfast memory_context": _reads(),
    "holdfast memory_update": Call("write", _named("id", title="Another"), MEMORY),
    "holdfast memory_list": _reads(),
    "holdfast memory_history": _reads(arguments=_named("id"), about=MEMORY),
    "holdfast memory_undo": Call("write", lambda s, m: {"change": s.change()}),
    "holdfast log_turn": Call("write", _given(role="user", content="Hello")),
    "holdfast log_speakers": _reads("belong"),
    "holdfast archive_conversation": Call("write", _new("session", messages=_HELLO)),
    "holdfast review": Call("write", _given(action="list")),
    "holdfast review approve": Call(NOBODY, _named("id", action="approve"), Scene.held),
    "holdfast review reject": Call(NOBODY, _named("id", action="reject"), Scene.held),
    "holdfast index_files": Call("write", _given()),
    "max remember": Call("write", _new("content", category="fact")),
    "max recall": _reads(arguments=_given(keyword="word")),
    "max forget": Call("delete", _number, MEMORY, silent=True),
    "maven remember": Call("write", _new("content")),
    "maven memory_search": _reads(arguments=_given(query="word")),
    "maven memory_get": _reads(arguments=_given(date="today")),
    "maven memory": _reads(),
    "memax memax_recall": _reads(arguments=_given(query="word")),
    "memax memax_push": Call("write", _new("content")),
    "memax memax_get": _reads(arguments=_named("id"), about=MEMORY),
    "memax memax_list": _reads(),
    "memax memax_hubs": _reads(),
    "memax memax_hub_members": _reads("belong"),
    "memax memax_forget": Call("delete", _named("id"), MEMORY),
    "memax memax_capture": Call("write", _new("summary")),
    "memax memax_topics": _reads(),
    "memax memax_request_decision": Call("write", _question),
    "minion memory_read": _reads(),
    "minion memory_update append": Call("write", _new("content", action="append")),
    "minion memory_update rewrite, adding a line": Call("write", _rewritten),
    # Where the memory is not seen, its line is not in the text, and stays.
    "minion memory_update rewrite, leaving a line out": Call(
        "retire", _rewritten, Scene.line, silent=True
    ),
    "pynchy save_memory": Call("write", lambda s, m: {"key": s.new(), "content": s.new()}),
    "pynchy recall_memories": _reads(arguments=_given(query="word")),
    "pynchy forget_memory": Call("delete", _named("key"), MEMORY, silent=True),
    "pynchy list_memories": _reads(),
    "anthropic memory view": _reads("belong", _given(command="view", path="/memories")),
    "anthropic memory create": Call(
        "write",
        lambda s, m: {
            "command": "create",
            "path": f"/memories/{s.new().replace(' ', '-')}.md",
            "file_text": s.new(),
        },
    ),
    "anthropic memory str_replace": Call(
        "write", _file("str_replace", old_str="tea", new_str="coffee")
    ),
    "anthropic memory insert": Call("write", _file("insert", insert_line=0, insert_text="milk\n")),
    "anthropic memory rename": Call("write", _file("rename")),
    "anthropic memory delete": Call("delete", _file("delete")),
    "chatgpt search": _reads(arguments=_given(query="word")),
    "chatgpt fetch": _reads(arguments=_named("id"), about=MEMORY),
}

# What a call comes to: it is answered, refused in a sentence, or there is no such hub.
ANSWERED, REFUSED, NO_HUB = "answered", "refused", "no hub"


def expected_call(call: Call, role: str, scope: str, boundary: str = "org") -> str:
    """What a call comes to, from the table alone."""
    if role == "outsider" or scope == "other hub":
        return NO_HUB
    if call.takes == NOBODY:
        return REFUSED
    needed = [] if call.reads else ["write"]
    unseen = call.about is not None and role not in SEES[boundary]
    if not unseen or not call.silent:
        own = (call.takes, boundary) == ("delete", "own")
        needed.append("delete own" if own else call.takes)
    allowed = all(role in MAY[takes] and scope in WITH[takes] for takes in needed)
    if not allowed or (unseen and not call.silent):
        return REFUSED
    return ANSWERED
