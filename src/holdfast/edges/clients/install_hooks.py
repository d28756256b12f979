"""Hooks in the settings of clients: which files have them, what is in them, and how they are
put in and taken out, with everything else to the letter as it was.

A client has lists of hooks in a JSON file, to which ours are added, or takes a file that is ours
alone. As with entries of servers (`install_server`), each edit is tried in memory first.

Claude Code can also take Holdfast as a plugin: a folder with a manifest, the hooks, the MCP server
and the command `/memory`, which is a marketplace of this one plugin as well.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from importlib.resources import files
from typing import Any, NamedTuple

from holdfast.edges.clients import CLIENTS, Client, devin_folder, json_text, settings_file
from holdfast.edges.clients.install_server import Outcome, Result, holds_only_ours, written
from holdfast.edges.clients.jsonc import Malformed, line_and_column
from holdfast.edges.clients.program import Platform
from holdfast.edges.clients.program import is_ours as is_entry
from holdfast.errors import AlreadyExists, InvalidInput, StoreError

# A hook answers in a fraction of a second; a client that waits longer has a broken one.
_TIMEOUT_S = 10
# The end of our program's path, in each of our hooks.
OUR_FRONT = ("edges", "hooks", "front.py")
# The tools that only read, which Claude Code would otherwise ask about each time.
_READ_TOOLS = ("recall", "memory_get", "memory_context")
CLAUDE_CODE_EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")


class Addition(NamedTuple):
    """A hook that setup adds to the list at a path of a client's file."""

    path: tuple[str, ...]
    item: Any


class HookFile(NamedTuple):
    """A file with hooks: lists that get our items, or a file that is entirely ours."""

    path: str
    additions: tuple[Addition, ...] = ()
    # Members that a new file needs beside the lists.
    first: Mapping[str, Any] = {}
    content: str = ""


class HookClient(NamedTuple):
    """The files with a client's hooks, and what a person has to do to activate them."""

    files: Callable[[Platform, Sequence[str]], list[HookFile]]
    note: str = ""


def command_of(python: str, home: str | None) -> list[str]:
    """The command line of a hook, without the event."""
    from holdfast.edges.hooks import front

    words = [os.path.abspath(python), "-I", "-S", os.path.abspath(front.__file__)]
    return [*words, *(["--home", os.path.abspath(os.path.expanduser(home))] if home else [])]


def _line(place: Platform, command: Sequence[str], event: str, client: str) -> str:
    """The command for a shell. A missing program must not stop a session: Python would exit with 2,
    which some clients treat as a refusal."""
    # The event comes first, as the front reads it.
    words = [*command[:4], event, "--client", client, *command[4:]]
    joined = subprocess.list2cmdline(words) if place.platform == "win32" else shlex.join(words)
    return f"{joined} || exit 0"


def nested(
    place: Platform,
    command: Sequence[str],
    client: str,
    events: Sequence[str],
    timeout: int = _TIMEOUT_S,
) -> tuple[Addition, ...]:
    """The hooks in the form of Claude Code, which other clients use too."""
    return tuple(
        Addition(
            ("hooks", event),
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": _line(place, command, event, client),
                        "timeout": timeout,
                    }
                ]
            },
        )
        for event in events
    )


def _claude_code(place: Platform, command: Sequence[str]) -> list[HookFile]:
    folder = place.named("CLAUDE_CONFIG_DIR") or place.at_home(".claude")
    additions = nested(place, command, "claude-code", CLAUDE_CODE_EVENTS)
    allowed = tuple(
        Addition(("permissions", "allow"), f"mcp__holdfast__{tool}") for tool in _READ_TOOLS
    )
    slash = (files("holdfast.edges.clients") / "plugin" / "memory.md").read_text(encoding="utf-8")
    return [
        HookFile(os.path.join(folder, "settings.json"), (*additions, *allowed)),
        HookFile(os.path.join(folder, "commands", "memory.md"), content=slash),
    ]


def _codex(place: Platform, command: Sequence[str]) -> list[HookFile]:
    folder = place.named("CODEX_HOME") or place.at_home(".codex")
    events = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact")
    return [HookFile(os.path.join(folder, "hooks.json"), nested(place, command, "codex", events))]


def _gemini(place: Platform, command: Sequence[str]) -> list[HookFile]:
    folder = os.path.join(place.named("GEMINI_CLI_HOME") or place.home, ".gemini")
    events = ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd")
    # It counts in milliseconds.
    additions = nested(place, command, "gemini-cli", events, _TIMEOUT_S * 1_000)
    return [HookFile(os.path.join(folder, "settings.json"), additions)]


def _opencode(place: Platform, command: Sequence[str]) -> list[HookFile]:
    source = files("holdfast.edges.clients") / "plugin" / "opencode.js"
    text = source.read_text(encoding="utf-8").replace("__COMMAND__", json.dumps(list(command)))
    folder = os.path.join(place.config, "opencode", "plugins")
    return [HookFile(os.path.join(folder, "holdfast.js"), content=text)]


def _cursor(place: Platform, command: Sequence[str]) -> list[HookFile]:
    events = ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "sessionEnd")
    additions = tuple(
        Addition(("hooks", event), {"command": _line(place, command, event, "cursor")})
        for event in events
    )
    return [HookFile(place.at_home(".cursor", "hooks.json"), additions, {"version": 1})]


def _windsurf(place: Platform, command: Sequence[str]) -> list[HookFile]:
    folder = place.at_home(".codeium", "windsurf")
    if os.path.isdir(devin_folder(place)) and not os.path.isdir(folder):
        # Its successor has no such hooks.
        return []
    events = ("pre_user_prompt", "post_cascade_response")
    additions = tuple(
        Addition(
            ("hooks", event),
            {"command": _line(place, command, event, "windsurf"), "show_output": False},
        )
        for event in events
    )
    return [HookFile(os.path.join(folder, "hooks.json"), additions)]


def _copilot(place: Platform, command: Sequence[str]) -> list[HookFile]:
    """Our own file in the folder of hooks, which VS Code reads too."""
    events = ("sessionStart", "userPromptSubmitted", "agentStop", "sessionEnd")
    hooks = {
        event: [
            {
                "type": "command",
                "bash": _line(place, command, event, "copilot-cli"),
                "powershell": _line(place, command, event, "copilot-cli"),
                "timeoutSec": _TIMEOUT_S,
            }
        ]
        for event in events
    }
    folder = place.named("COPILOT_HOME") or place.at_home(".copilot")
    text = json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"
    return [HookFile(os.path.join(folder, "hooks", "holdfast.json"), content=text)]


HOOKS: dict[str, HookClient] = {
    "claude-code": HookClient(_claude_code),
    "codex": HookClient(
        _codex, "Codex runs hooks only once you trust them: start `codex`, type /hooks, trust ours."
    ),
    "gemini": HookClient(
        _gemini,
        "Gemini CLI runs hooks only in folders you trust: start `gemini`; it asks.",
    ),
    "opencode": HookClient(_opencode),
    "cursor": HookClient(_cursor),
    "windsurf": HookClient(
        _windsurf,
        "Hooks of Windsurf cannot add to a prompt: they log turns; memory comes by the tools.",
    ),
    "vscode": HookClient(_copilot),
    "copilot-cli": HookClient(_copilot),
}
assert set(HOOKS) <= {client.name for client in CLIENTS}, "each is a client"


def files_of(client: Client, place: Platform, command: Sequence[str]) -> list[HookFile]:
    """The files of a client for hooks; empty if it has no hooks."""
    found = HOOKS.get(client.name)
    return [] if found is None else found.files(place, command)


def is_installed(client: Client, place: Platform, home: str) -> bool:
    """Whether a client seems to be installed, by more than what a setup has created."""
    files = files_of(client, place, ())
    paths = [*client.files(place, "user"), *(file.path for file in files)]

    def ours(sign: str) -> bool:
        if os.path.isdir(sign):
            return settings_file.holds_only(home, sign, paths)
        return holds_only_ours(client, sign)

    return client.installed(place, ours)


def inject(client: Client) -> bool:
    """Whether the hooks of a client add memory to its prompts."""
    return client.name in HOOKS and client.name != "windsurf"


def note_of(client: Client) -> str:
    found = HOOKS.get(client.name)
    return "" if found is None else found.note


# Putting in and taking out


def put_in(client: Client, file: HookFile, *, now: datetime, dry_run: bool = False) -> Outcome:
    """Adds hooks to a file, once. The caller holds the lock."""

    def edit(text: str | None) -> tuple[Result, str | None]:
        if file.content and text is not None and text.strip() and not _names_us(text):
            return "foreign", text
        new = _with_hooks(file, text or "")
        if new == text:
            return "unchanged", new
        has_ours = text is not None and _without_hooks(file, text) != text
        return ("updated" if has_ours else "added"), new

    return _written(client, file, edit, now=now, dry_run=dry_run)


def take_out(client: Client, file: HookFile, *, now: datetime, dry_run: bool = False) -> Outcome:
    """Removes our hooks from a file, and the file if it contains nothing else."""

    def edit(text: str | None) -> tuple[Result, str | None]:
        if text is None:
            return "absent", None
        if file.content:
            return ("removed", None) if _names_us(text) else ("absent", text)
        new = _without_hooks(file, text)
        if new == text:
            return "absent", text
        for before in _backups(file.path):
            # An update made a backup that has our earlier hooks.
            if _without_hooks(file, before) == before and _with_hooks(file, before) == text:
                return "removed", before
        return "removed", None if _with_hooks(file, "") == text else _tidied(file, new)

    return _written(client, file, edit, now=now, dry_run=dry_run)


def _names_us(text: str) -> bool:
    """Whether a whole file may be ours; a file that a person has edited is theirs."""
    return "holdfast" in text.lower()


def has_hooks(file: HookFile) -> bool:
    """Whether our hooks are in a file."""
    data = settings_file.read(file.path)
    if data is None:
        return False
    text = settings_file.decode(file.path, data)
    return text == file.content if file.content else _without_hooks(file, text) != text


def _with_hooks(file: HookFile, text: str) -> str:
    if file.content:
        return file.content
    if not text.strip():
        for key, value in file.first.items():
            text = json_text.with_value(text, (key,), value)
    for path, item in file.additions:
        there = json_text.items_at(text, path) or []
        if item in there:
            continue
        stale = [one for one in there if is_ours(one, item)]
        if stale:
            text = json_text.without_items(text, path, lambda one: one in stale)  # noqa: B023
        text = json_text.with_item(text, path, item)
    return text


def _without_hooks(file: HookFile, text: str) -> str:
    if file.content:
        return ""
    for path, item in file.additions:
        if json_text.items_at(text, path) is not None:
            text = json_text.without_items(text, path, lambda one: is_ours(one, item))  # noqa: B023
    return text


def _tidied(file: HookFile, text: str) -> str:
    """The text without lists and objects that have become empty."""
    for path in dict.fromkeys(addition.path for addition in file.additions):
        if json_text.items_at(text, path) == []:
            text = json_text.without(text, path)
    for holder in dict.fromkeys(addition.path[0] for addition in file.additions):
        if json_text.parse(text).get(holder) == {}:
            text = json_text.without(text, (holder,))
    return text


def is_ours(found: Any, item: Any) -> bool:
    """Whether setup wrote an item of a list, also that of another installation."""
    if isinstance(item, str):
        return bool(found == item)
    text = json.dumps(found).replace("\\\\", "/")
    return "/".join(OUR_FRONT) in text and "holdfast" in text


def _backups(path: str) -> list[str]:
    texts = []
    for backup in settings_file.backups(path):
        try:
            texts.append(settings_file.decode(backup, settings_file.read(backup) or b""))
        except (InvalidInput, StoreError):
            continue
    return texts


def remove_backups(client: Client, file: HookFile) -> None:
    """Removes the backups of a removed file that contained nothing but our hooks."""
    for backup in settings_file.backups(file.path):
        try:
            text = settings_file.decode(backup, settings_file.read(backup) or b"")
            left = json_text.parse(_tidied(file, _without_hooks(file, text)))
        except (InvalidInput, StoreError, Malformed):
            continue
        servers = left.get(client.holder[0], {})
        is_ours = isinstance(servers, dict) and all(is_entry(one) for one in servers.values())
        if is_ours and set(left) <= {client.holder[0]}:
            os.unlink(backup)


def _written(
    client: Client,
    file: HookFile,
    edit: Callable[[str | None], tuple[Result, str | None]],
    *,
    now: datetime,
    dry_run: bool,
) -> Outcome:
    path = file.path

    def checked(text: str | None) -> Outcome:
        try:
            result, after = edit(text)
        except Malformed as error:
            line, column = line_and_column(text or "", error.at)
            raise InvalidInput(
                f"{path} cannot be used as it is: line {line}, column {column}: {error.reason}.",
                hint="It was left as it is. Mend it, and run this again.",
            ) from None
        # A person writes into a text, not into a program.
        is_edited = path.endswith(".md") and text not in (None, file.content)
        return Outcome(client, path, result, None, text or "", after, is_edited=is_edited)

    return written(client, path, checked, now=now, dry_run=dry_run)


def stop_unused(home: str, place: Platform, command: Sequence[str]) -> bool:
    """Asks the warm process of a home, which answers hooks, to end, which it does within seconds,
    unless a client has hooks of ours left. False if none was stopped."""
    from holdfast.edges.hooks import front

    if _is_used(place, command):
        return False
    try:
        return front.ask(home, [front.SHUT_DOWN, "", "", ""], b"") == front.PONG
    except TimeoutError:
        return False


def _is_used(place: Platform, command: Sequence[str]) -> bool:
    for client in CLIENTS:
        for file in files_of(client, place, command):
            with suppress(InvalidInput, StoreError, Malformed):
                if has_hooks(file):
                    return True
    return False


NAME = "holdfast"
_DESCRIPTION = "Long-term memory: what you said in earlier sessions is known in the next one."
_MANIFEST = (".claude-plugin", "plugin.json")


def plugin_files(
    folder: str, place: Platform, *, hook: Sequence[str], server: Sequence[str], version: str
) -> list[HookFile]:
    """The files of the plugin. `hook` is the command line of a hook without the event, `server` the
    one of the MCP server."""
    author = {"name": "The Holdfast authors"}
    manifest = {
        "name": NAME,
        "version": version,
        "description": _DESCRIPTION,
        "author": author,
        "license": "MIT",
        "keywords": ["memory", "mcp", "hooks"],
    }
    marketplace = {
        "name": NAME,
        "owner": author,
        "description": "Holdfast, as it is installed on this machine.",
        "plugins": [{"name": NAME, "source": "./", "description": _DESCRIPTION}],
    }
    hooks: dict[str, list[Any]] = {}
    for (_, event), item in nested(place, hook, "claude-code", CLAUDE_CODE_EVENTS):
        hooks.setdefault(event, []).append(item)
    entry = {"command": server[0], "args": list(server[1:])}
    command = (files("holdfast.edges.clients") / "plugin" / "memory.md").read_text("utf-8")
    texts = {
        _MANIFEST: _json(manifest),
        (".claude-plugin", "marketplace.json"): _json(marketplace),
        ("hooks", "hooks.json"): _json({"description": _DESCRIPTION, "hooks": hooks}),
        (".mcp.json",): _json({"mcpServers": {NAME: entry}}),
        ("commands", "memory.md"): command,
    }
    return [HookFile(os.path.join(folder, *parts), content=text) for parts, text in texts.items()]


def refuse_foreign(folder: str) -> None:
    """Refuses a folder of a plugin with other contents: only our own is replaced or removed."""
    if not os.path.lexists(folder) or (os.path.isdir(folder) and not os.listdir(folder)):
        return
    if os.path.isdir(folder):
        data = settings_file.read(os.path.join(folder, *_MANIFEST))
        if data is not None and _name_in(data) == NAME:
            return
    raise AlreadyExists(
        f"{folder} is there already, and is not a plugin of Holdfast.",
        hint="Name a new folder.",
    )


def remove_empty(folder: str, files: Sequence[HookFile]) -> None:
    """Removes the parts that are empty now, and the backups that were made of our files. The
    folder itself may have been there before."""
    for file in files:
        if not os.path.lexists(file.path):
            for backup in settings_file.backups(file.path):
                os.unlink(backup)
    for name in {os.path.dirname(file.path) for file in files} - {folder}:
        with suppress(OSError):
            os.rmdir(name)


def how_to_use(folder: str) -> str:
    """Instructions for the person on how to install the folder."""
    return (
        f"For one session: `claude --plugin-dir {folder}`. For good:"
        f" `claude plugin marketplace add {folder}`, then `claude plugin install {NAME}@{NAME}`."
    )


def _name_in(data: bytes) -> object:
    try:
        manifest = json.loads(data)
    except ValueError:
        return None
    return manifest.get("name") if isinstance(manifest, dict) else None


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
