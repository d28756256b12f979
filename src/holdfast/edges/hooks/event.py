"""Parses the events of all clients into one value. Only this module knows each client's names for
events and fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast.errors import InvalidInput
from holdfast.text.clean import storable
from holdfast.text.private import split_private

Kind: TypeAlias = Literal["start", "prompt", "stop", "compact", "end"]
EVENT_KINDS: tuple[Kind, ...] = get_args(Kind)
CLIENTS = (
    "claude-code",
    "codex",
    "gemini-cli",
    "opencode",
    "cursor",
    "vscode",
    "copilot-cli",
    "windsurf",
)
# By the clients' names for them, in lower case and without separators.
_KIND_OF_NAME: dict[str, Kind] = {
    **{kind: kind for kind in EVENT_KINDS},
    "sessionstart": "start",
    "userpromptsubmit": "prompt",
    "userpromptsubmitted": "prompt",
    "beforeagent": "prompt",
    "beforesubmitprompt": "prompt",
    "preuserprompt": "prompt",
    "stop": "stop",
    "afteragent": "stop",
    "afteragentresponse": "stop",
    "postcascaderesponse": "stop",
    "agentstop": "stop",
    "subagentstop": "stop",
    "precompact": "compact",
    "precompress": "compact",
    "sessionend": "end",
}
# Thirty pages. Scanning more for secrets would take longer than a client waits.
_TEXT_CHARS_MAX = 60_000
# The output of hooks that Gemini CLI puts before a person's prompt.
_HOOK_CONTEXT = re.compile(
    r"<hook_context>[^<]*+(?:<(?!/?hook_context>)[^<]*+)*+</hook_context>\s*"
)


# What programs put among a person's messages begins with one of these: output of commands that the
# person ran, notices of tasks, reminders, instructions.
_OF_PROGRAMS = (
    *("<command-name>", "<command-message>", "<command-args>", "<local-command"),
    *("<bash-input>", "<bash-stdout>", "<bash-stderr>", "<user_shell_command>"),
    *("<task-notification", "<teammate-message", "<cross-session-message"),
    *("<subagent_notification>", "<turn_aborted>", "[Request interrupted by user"),
    *("<system-reminder>", "<user-prompt-submit-hook>", "<hook_prompt", "<session_context>"),
    *("<environment_context>", "<user_instructions>", "<permissions instructions>", "<skill>"),
    *("<goal_context>", "<codex_internal_context", "<recommended_plugins>"),
    *("Caveat: The messages below", "# AGENTS.md"),
)


class Event(NamedTuple):
    """An event that a client reports to a hook in a session. `turn` names the turn, if the client
    does."""

    kind: Kind
    client: str
    session: str
    folder: str
    # The client's name for the event; some expect it in the answer.
    name: str = ""
    turn: str = ""
    transcript: str = ""
    prompt: str = ""
    answer: str = ""
    # start: startup, resume, clear, compact; end: why; compact: manual or auto.
    cause: str = ""
    subagent: bool = False


def kind_of(name: str) -> Kind:
    """The kind of a hook's event by the name that a client has for it."""
    kind = _KIND_OF_NAME.get(re.sub(r"[^a-z]", "", name.lower()))
    if kind is None:
        raise InvalidInput(
            f"There is no event {name[:40]!r}.", hint=f"Use {', '.join(EVENT_KINDS)}."
        )
    return kind


def parse(name: str, client: str, folder: str, data: bytes) -> Event:
    """The event that a client describes to a hook on standard input."""
    given = _object(data)
    said = str(given.get("hook_event_name") or given.get("agent_action_name") or name)
    kind = kind_of(name or said)
    of = client or _client_of(given)
    session = _text(given, "session_id", "sessionId", "conversation_id", "trajectory_id")
    if not session:
        raise InvalidInput("The input of the hook names no session.")
    prompt = _text(given, "prompt", "user_prompt") or _inside(given, "tool_info", "user_prompt")
    prompt = without_injected(prompt)
    answer = _text(given, "last_assistant_message", "prompt_response", "text", "response")
    return Event(
        kind,
        of,
        session,
        _folder(given) or folder,
        said,
        _text(given, "prompt_id", "turn_id", "generation_id", "execution_id"),
        _text(given, "transcript_path", "transcriptPath"),
        "" if is_of_program(prompt) else bounded(_unquoted(of, prompt)),
        bounded(answer or _inside(given, "tool_info", "response")),
        _text(given, "source", "reason", "trigger"),
        said.lower().startswith("subagent") or bool(given.get("agent_id")),
    )


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        given = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise InvalidInput("The input of the hook is not JSON.") from None
    if not isinstance(given, dict):
        raise InvalidInput("The input of the hook is not a JSON object.")
    return given


def _unquoted(client: str, prompt: str) -> str:
    """`opencode run "some words"` puts the words into quotes."""
    is_quoted = len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in prompt[1:-1]
    return prompt[1:-1] if client == "opencode" and is_quoted else prompt


def bounded(text: str) -> str:
    """The beginning and the end of a long prompt: the middle was pasted. What is private stays so,
    though its tags were in the middle."""
    if len(text) <= _TEXT_CHARS_MAX:
        return text
    shown, hidden = split_private(text)
    cut = _ends(shown)
    return f"{cut}<private>{_ends(hidden)}</private>" if hidden else cut


def _ends(text: str) -> str:
    half = _TEXT_CHARS_MAX // 2
    return text if len(text) <= _TEXT_CHARS_MAX else f"{text[:half]}\n…\n{text[-half:]}"


def without_injected(prompt: str) -> str:
    """The words that the person typed, without the output of hooks before them."""
    return _HOOK_CONTEXT.sub("", prompt).strip()


def is_of_program(text: str) -> bool:
    """Whether a client's message that is sent as the person's was written by a program."""
    return text.lstrip().startswith(_OF_PROGRAMS)


def _client_of(given: Mapping[str, Any]) -> str:
    """Detects the client by fields that only it has."""
    transcript = str(given.get("transcript_path") or "")
    for mark, client in (
        ("/.codex/", "codex"),
        ("/.gemini/", "gemini-cli"),
        ("/.claude/", "claude-code"),
    ):
        if mark in transcript.replace("\\", "/"):
            return client
    if "cursor_version" in given or "conversation_id" in given:
        return "cursor"
    if "trajectory_id" in given:
        return "windsurf"
    if "sessionId" in given:
        return "copilot-cli"
    return "codex" if "turn_id" in given else "claude-code"


def _folder(given: Mapping[str, Any]) -> str:
    roots = given.get("workspace_roots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        return roots[0]
    return _text(given, "cwd")


def _inside(given: Mapping[str, Any], holder: str, name: str) -> str:
    inner = given.get(holder)
    return _text(inner, name) if isinstance(inner, dict) else ""


def _text(given: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value:
            return storable(value)
    return ""
