"""Handles an event: logs its turn, and returns the text to inject. It does not know in which
process it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.api import prompt_blocks
from holdfast.api.project import hub_by_id, hub_here, hub_of_past
from holdfast.api.project_hub import is_about_person, observe_reply
from holdfast.domain.clock import to_text
from holdfast.edges.hooks import transcripts
from holdfast.edges.hooks.event import Event
from holdfast.edges.hooks.state_files import SessionState, all_states, is_known, opened
from holdfast.text.private import asks_to_forget_last, without_private, without_private_sides

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast

# The most turns that one reading of a transcript logs; the next event continues there.
_CATCH_UP_TURNS = 200
# The most transcripts of killed sessions that the next session reads.
_STALE_SESSIONS = 5
Later = Callable[[Callable[[], None]], None]


def respond(
    memory: Holdfast, event: Event, *, named_hub: str = "", meaning: bool = True, later: Later
) -> str:
    """What a hook writes to standard output; may be empty. `later` is given work that the client
    need not wait for."""
    if event.kind == "end" and _was_no_session(memory.home, event):
        return ""
    answer = ""
    with opened(memory.home, event.client, event.session) as state:
        folder = _folder(state, event)
        hub, _ = hub_here(memory, named=named_hub or None, folder=folder)
        event = event._replace(folder=folder)
        _note_session(memory, state, hub, event, is_named=bool(named_hub))
        if event.kind == "start":
            answer = _start(memory, hub, state, event)
        elif event.kind == "prompt":
            answer = _prompt(memory, hub, state, event, meaning=meaning)
        elif event.kind == "stop":
            _stop(hub, state, event)
        elif event.kind == "end":
            state.body["ended_at"] = _now(memory)
            state.add_event("end", _now(memory), 0, event.cause)
    if event.kind in ("stop", "compact", "end"):
        later(lambda: _catch_up(memory, event, whole=event.kind != "stop"))
    if event.kind == "compact":
        later(lambda: _before_compaction(memory, hub, event))
    if event.kind == "start":
        later(lambda: _close_stale(memory, event))
    return rendered(event, answer)


def _was_no_session(home: str, event: Event) -> bool:
    """Whether nothing was said before this end: Claude Code sends it for `claude mcp list` too."""
    has_transcript = bool(event.transcript) and os.path.isfile(event.transcript)
    return not has_transcript and not is_known(home, event.client, event.session)


def _folder(state: SessionState, event: Event) -> str:
    """The folder that an event is about. A turn belongs to the one in which it began: its agent may
    change to another before it ends."""
    begins = event.kind == "start" or (event.kind == "prompt" and not event.subagent)
    known: str = state.body["folder"]
    return event.folder if begins or not known else known


def rendered(event: Event, text: str) -> str:
    """The hook's answer in the format of the event's client."""
    if not text:
        return ""
    if event.client == "cursor":
        return json.dumps({"additional_context": text, "continue": True}, ensure_ascii=False)
    if event.client == "copilot-cli":
        return json.dumps({"additionalContext": text}, ensure_ascii=False)
    if event.client == "windsurf":
        return text
    said = {"hookEventName": event.name, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": said}, ensure_ascii=False)


def _now(memory: Holdfast) -> str:
    return to_text(memory.core.now())


def _note_session(
    memory: Holdfast, state: SessionState, hub: HubMemory, event: Event, *, is_named: bool
) -> None:
    body = state.body
    body["started_at"] = body["started_at"] or _now(memory)
    body["folder"], body["hub"] = event.folder, hub.name
    body["hub_id"], body["is_named"] = hub.id, is_named
    if event.transcript and not event.subagent:
        body["transcript"] = event.transcript
    if event.kind in ("start", "prompt"):
        body["ended_at"] = ""
    if event.prompt and not event.subagent:
        body["prompt_digest"] = transcripts.digest_of(event.prompt)
        body["prompt_private"] = without_private(event.prompt) != event.prompt
        body["prompt_personal"] = is_about_person(hub, event.prompt)


# A session begins


def _start(memory: Holdfast, hub: HubMemory, state: SessionState, event: Event) -> str:
    """The standing block and the end of the last session. A resumed session has it already, unless
    it was compacted or its client does not store the output of hooks."""
    is_known = any(row["event"] == "start" for row in state.body["events"])
    if event.cause in ("compact", "clear"):
        state.forget_injected(_now(memory))
    elif is_known and event.client != "gemini-cli":
        return ""
    block = prompt_blocks.start_block(memory, hub)
    at = _now(memory)
    _note_injected(state, block, "start", at)
    state.add_event("start", at, len(block.text), event.cause)
    return block.text


# A person says something


def _prompt(
    memory: Holdfast, hub: HubMemory, state: SessionState, event: Event, *, meaning: bool
) -> str:
    at = _now(memory)
    if not event.prompt or event.subagent:
        state.add_event("prompt", at, 0)
        return ""
    if asks_to_forget_last(event.prompt):
        text = prompt_blocks.forget_last(memory, hub, event.session)
        # Logged now, because the transcript would bring it after the answer.
        _log(hub, state, event, user=event.prompt)
        state.add_event("prompt", at, len(text), "forget that")
        return text
    block = prompt_blocks.prompt_block(
        hub,
        event.prompt,
        session=event.session,
        since=state.compacted_at,
        given=state.injected,
        meaning=meaning,
    )
    _note_injected(state, block, "prompt", at)
    _log(hub, state, event, user=event.prompt)
    state.add_event("prompt", at, len(block.text))
    return block.text


def _note_injected(
    state: SessionState, block: prompt_blocks.PromptBlock, event: str, at: str
) -> None:
    for line in block.lines:
        state.add_injected(line, event, at)


# A turn ends


def _stop(hub: HubMemory, state: SessionState, event: Event) -> None:
    if event.subagent:
        return
    logged = _log(hub, state, event, user=event.prompt, assistant=event.answer)
    state.body["turns"] += 1 if logged else 0
    state.add_event("stop", to_text(hub.core.now()), 0)


def _log(
    hub: HubMemory, state: SessionState, event: Event, *, user: str = "", assistant: str = ""
) -> bool:
    """Logs a side of a turn, once. For clients without names for turns, the name is made from the
    words; then something said twice in a session is logged once. The name of an answer includes its
    prompt, as in the transcript, which may have come with an earlier event. If that prompt had a
    private passage, the answer may repeat it, and is left for the transcript, which has both."""
    given: dict[str, Any] = {
        "session": event.session,
        "source": event.client,
        "folder": event.folder or None,
    }
    logged = False
    if user:
        name = event.turn or transcripts.name_of(user, "")
        logged = bool(hub.observe_turn(user, "", turn=name, **given).turns)
    shown = without_private_sides(user, assistant)[1]
    if not user and state.body.get("prompt_private"):
        shown = ""
    if shown:
        digest = state.body.get("prompt_digest") or transcripts.digest_of("")
        name = event.turn or transcripts.answer_name(digest, assistant)
        about = is_about_person(hub, user) if user else bool(state.body.get("prompt_personal"))
        seen = observe_reply(hub, shown, is_personal=about, turn=name, noted="", **given)
        logged = bool(seen.turns) or logged
    return logged


# Turns that hooks have missed


def _catch_up(memory: Holdfast, event: Event, *, whole: bool) -> None:
    """Logs the turns of the transcript that no hook has logged."""
    if not event.transcript or event.subagent:
        return
    catch_up(memory, event.client, event.session, event.transcript, whole=whole)


def catch_up(memory: Holdfast, client: str, session: str, path: str, *, whole: bool) -> int:
    """Logs the rest of a transcript after the position up to which it was read, each turn in the
    hub of the folder it was said in; returns the number of turns. With `whole`, the last turn is
    complete, answered or not."""
    with opened(memory.home, client, session) as state:
        start = state.body["offset"] if state.body["transcript"] == path else 0
        body = dict(state.body)
    try:
        if os.path.getsize(path) < start:
            start = 0
        turns, begins = transcripts.read_turns(client, path, start)
    except OSError:
        return 0
    count = 0
    done = turns if whole else turns[:-1]
    hubs: dict[str, HubMemory | None] = {}
    for turn in done[:_CATCH_UP_TURNS]:
        folder: str = turn.folder or body["folder"]
        if folder not in hubs:
            hubs[folder] = _hub_of(memory, body, folder)
        hub = hubs[folder]
        if hub is not None:
            count += log_turn(hub, client, session, turn, folder=folder)
    if len(done) <= _CATCH_UP_TURNS:
        with opened(memory.home, client, session) as state:
            state.body["offset"] = begins
            state.body["transcript"] = path
            state.body["turns"] += count
    return count


def _hub_of(memory: Holdfast, body: Mapping[str, Any], folder: str) -> HubMemory | None:
    """The hub of a turn of a session that was said in a folder, which may be gone; None if it was
    deleted. The hub that hooks name for a session has all of it."""
    is_named = bool(body.get("is_named"))
    if not is_named and folder != body["folder"] and (found := hub_of_past(memory, folder)):
        return found
    hub_id = body.get("hub_id")
    if hub_id is None:
        # The file of the session was written by an earlier version.
        return hub_of_past(memory, folder) or hub_here(memory, folder=folder)[0]
    return hub_by_id(memory, hub_id, folder=body["folder"], is_named=is_named)


def log_turn(
    hub: HubMemory,
    client: str,
    session: str,
    turn: transcripts.Turn,
    *,
    folder: str,
    run: str | None = None,
) -> int:
    """Logs both sides of a turn of a transcript; returns 1 if one of them was new. `folder` is the
    session's folder, unless the turn has one; `run` is the change set of an import."""
    given: dict[str, Any] = {
        "session": session,
        "source": client,
        "at": turn.at,
        "folder": turn.folder or folder or None,
        "import_run": run,
    }
    own = "" if turn.name.startswith("said-") else turn.name
    seen = hub.observe_turn(turn.user, "", turn=own or transcripts.name_of(turn.user, ""), **given)
    is_new = bool(seen.turns)
    answer = without_private_sides(turn.user, turn.assistant)[1]
    if answer:
        # For a turn with several answers, the hook has seen the last one, which is part of its
        # name.
        about = is_about_person(hub, turn.user)
        seen = observe_reply(hub, answer, is_personal=about, turn=turn.name, noted="", **given)
        is_new = bool(seen.turns) or is_new
    return 1 if is_new else 0


def _close_stale(memory: Holdfast, event: Event) -> None:
    """Logs the transcripts of sessions that ended without an event."""
    looked = 0
    for state in all_states(memory.home):
        body = state.body
        if body["session"] == event.session or body["ended_at"] or not body["transcript"]:
            continue
        looked += 1
        if looked > _STALE_SESSIONS:
            return
        catch_up(memory, body["client"], body["session"], body["transcript"], whole=False)


def _before_compaction(memory: Holdfast, hub: HubMemory, event: Event) -> None:
    """Captures facts from the logged conversation, and archives it."""
    with opened(memory.home, event.client, event.session) as state:
        # Gemini CLI sends this event at every prompt, whether or not it compresses.
        since = state.body["turns"] - state.body.get("archived_turns", 0)
        if event.client == "gemini-cli" and event.cause == "auto" and since < _ARCHIVE_TURNS:
            return
        state.body["archived_turns"] = state.body["turns"]
        state.add_event("compact", _now(memory), 0, event.cause)
    hub.flush(session=event.session)
    hub.archive_conversation(event.session)


# The fewest turns after which a client compresses.
_ARCHIVE_TURNS = 20
