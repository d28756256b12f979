"""Commands for the conversation log (log, log add, log search, log recover, …) and
archive-conversation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.domain.clock import to_text
from holdfast.domain.records import ROLES
from holdfast.edges.cli.bind import Flags, flag, joined, moment, text_of
from holdfast.edges.cli.command import (
    Commands,
    Namespace,
    switch,
)
from holdfast.edges.cli.output import counted
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.records import Turn
    from holdfast.domain.results import ForgottenTurns, LogRules, LogSize
    from holdfast.edges.cli.call import Call
    from holdfast.files.conversation_archive import Archived

COMMANDS = Commands()


def _plain_turn(turn: Turn, hub: str) -> dict[str, Any]:
    return {"hub": hub, **turn._asdict()}


def _show(call: Call, turns: Sequence[Turn]) -> None:
    if call.out.json:
        call.out.value([_plain_turn(turn, call.hub.name) for turn in turns])
        return
    for turn in turns:
        if not call.out.terminal:
            fields = (turn.role, turn.source, turn.session or "", turn.id, turn.content, turn.note)
            call.out.row(call.out.time(turn.at), *fields)
            continue
        call.out.parts(
            (f"{call.out.time(turn.at)}  ", ""),
            (f"[{turn.source}] {turn.voice}", "bold cyan"),
            (f"  {turn.content}", ""),
            (f"  ({turn.note})" if turn.note else "", "dim"),
        )


# log


@COMMANDS.shows(
    "log",
    "holdfast log --session s1 -n 50",
    Flags(
        HubMemory.turns,
        limit=flag(about="how many of the newest (20)"),
        session=flag(about="of this session only"),
        before=flag(metavar="ID", about="older than this turn"),
    ),
)
def _show_log(call: Call, args: Namespace, turns: list[Turn]) -> None:
    """Print the newest turns of the conversation log.

    In a pipe, a line per turn: time, role, source, session, id, content, note.
    See also `holdfast log add`, `holdfast log search` and `holdfast log recover`."""
    _show(call, turns[::-1])
    if not turns:
        call.out.note("Nothing was logged.")


# log add


_ADD = Flags(
    HubMemory.log_turn,
    only=("role", "content", "source", "session", "at", "speaker"),
    role=flag(about="who speaks: " + ", ".join(ROLES)),
    content=flag(nargs="*", metavar="WORD", about="what was said; - reads it", convert=text_of),
    source=flag(metavar="NAME", about="where: telegram, tui"),
    session=flag(about="the conversation it belongs to"),
)


@COMMANDS.add(
    "log add",
    'holdfast log add user "Fix the JWT expiry bug" --source telegram --session s1',
    _ADD,
    makes_hub=True,
)
def _add(call: Call, args: Namespace) -> None:
    """Log one turn of a conversation.

    Recall finds turns beside memories. All are kept; `log.keep` keeps only the newest.
    In a pipe: logged, id."""
    if not args.content:
        raise InvalidInput("Say what was said.", hint="Give it as words, or - to read it.")
    turn = _ADD.run(call, args, folder=None if call.server else os.getcwd())
    plain = _plain_turn(turn, call.hub.name)
    call.out.done("logged", plain, "Logged.", turn.id)


# log search


@COMMANDS.shows(
    "log search",
    "holdfast log search deploy",
    Flags(
        HubMemory.search_turns,
        query=flag(nargs="+", metavar="WORD", about="what to look for", convert=joined),
        limit=flag(about="how many at most (10)"),
    ),
)
def _show_found(call: Call, args: Namespace, found: list[Turn]) -> None:
    """Find turns by their words, best first.

    In a pipe, a line per turn: time, role, source, session, id, content, note."""
    _show(call, found)
    if not found:
        call.out.note(f"Nothing found for “{' '.join(args.query)}”.")


# log recover


@COMMANDS.shows(
    "log recover",
    "holdfast log recover --name Max",
    Flags(
        HubMemory.recovery_prompt,
        turns=flag(about="how many turns (10)"),
        chars=flag(about="of each (500)"),
        name=flag(about="the assistant's name"),
        session=flag(about="of this session only"),
    ),
)
def _show_recovered(call: Call, args: Namespace, prompt: str) -> None:
    """Print a prompt that informs a new session about the one that was lost.

    It holds the last turns between an opening and a closing line. Nothing is printed if
    the log is empty."""
    if call.out.json:
        call.out.value({"prompt": prompt})
    elif prompt:
        call.out.line(prompt)
    else:
        call.out.note("Nothing was logged, so there is nothing to recover.")


# log forget


_FORGET = Flags(
    HubMemory.forget_turns,
    omit=("dry_run", "reason"),
    since=flag(about="said since"),
    until=flag(about="said before"),
    session=flag(about="of this session"),
    about=flag(metavar="WORDS", about="that hold these words; memories too"),
    turns=flag("--turn", metavar="ID", about="the turn with this id; may be repeated"),
    purge=flag(about="remove the memories for good too"),
)


@COMMANDS.add(
    "log forget",
    "holdfast log forget --since 1h",
    _FORGET,
    switch("--yes", "do it, and do not ask"),
)
def _forget(call: Call, args: Namespace) -> None:
    """Forget turns: since a time, of a session, or about a word.

    Shows what would go, and asks; in a pipe nothing goes without --yes. Turns are deleted
    permanently. Memories made from them are forgotten, which `holdfast undo` reverts, or
    purged."""
    done = _FORGET.run(call, args, dry_run=not args.yes)
    if done.dry_run and not call.out.json and (done.total or done.memories):
        _show_preview(call, done)
        if not call.offers(f"Forget {_counts_text(done)}? Turns go for good."):
            call.out.note(f"{_counts_text(done)} would be forgotten; --yes does it.")
            return
        done = _FORGET.run(call, args, dry_run=False)
    if call.out.json:
        call.out.value(
            {
                "total": done.total,
                "turns": [_plain_turn(turn, call.hub.name) for turn in done.turns],
                "memories": done.memories,
            },
            result="preview" if done.dry_run else "forgotten",
        )
        return
    if done.dry_run:
        call.out.note(f"Nothing of that was said in hub {call.hub.name}.")
        return
    rest = "." if args.purge or not done.memories else "; `holdfast undo` brings the memories back."
    turns, memories = counted(done.total, "turn"), counted(len(done.memories), "memory")
    call.out.note(f"Forgot {turns} for good and {memories}{rest}")


def _counts_text(done: ForgottenTurns) -> str:
    return f"{counted(done.total, 'turn')} and {counted(len(done.memories), 'memory')}"


def _show_preview(call: Call, done: ForgottenTurns) -> None:
    _show(call, done.turns)
    for memory in done.memories:
        if call.out.terminal:
            call.out.parts((call.named(memory), "bold cyan"), (f"  {memory.content}", ""))
        else:
            call.out.row(call.named(memory), memory.category, memory.content)


# log size


@COMMANDS.shows("log size", "holdfast log size", Flags(HubMemory.log_size))
def _show_size(call: Call, args: Namespace, size: LogSize) -> None:
    """Show how large the log is, and how much room a year of it would take.

    `log.keep`, `log.days` and `log.megabytes` limit it; without them everything is kept."""
    if call.out.json:
        call.out.value(size)
        return
    rows = [
        ("turns", str(size.turns)),
        ("text", _amount(size.text_bytes)),
        ("in the store", f"about {_amount(size.store_bytes)}"),
    ]
    if size.turns:
        rows.append(("a year of yours", f"about {_amount(size.year_bytes)}"))
    call.out.table((), rows)


def _amount(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1_000:
            return f"{size} {unit}"
        size = -(-size // 1_000)
    return f"{size} GB"


COMMANDS.prints(
    "log speakers",
    "holdfast log speakers -n 10",
    Flags(HubMemory.speakers, limit=flag(about="how many at most (100)")),
    text="""List who is named in the log, most turns first.

    In a pipe, a line per name: name, turns, when the last was said.""",
    empty="Nobody is named in the log.",
)


# log rules, log pause, log resume, log aside


def _path(folder: str) -> str:
    """The absolute path. An empty one, as from an unset variable, is refused later."""
    return os.path.abspath(os.path.expanduser(folder)) if folder.strip() else folder


@COMMANDS.shows(
    "log rules",
    "holdfast log rules",
    Flags(HubMemory.log_rules),
    text="List what is kept out of the log.",
)
@COMMANDS.shows(
    "log aside",
    "holdfast log aside --folder ~/taxes",
    Flags(
        HubMemory.set_log_aside,
        sessions=flag(metavar="NAME", about="a session; `*` is a pattern"),
        folders=flag(
            metavar="PATH",
            about="a folder and all below it",
            convert=lambda call, paths: [_path(one) for one in paths],
        ),
        remove=flag(about="log them again"),
    ),
    makes_hub=True,
    text="""Keep sessions or folders out of the log.

    What was logged stays; `holdfast log forget` removes it.""",
)
@COMMANDS.shows(
    "log resume", "holdfast log resume", Flags(HubMemory.resume_log), text="Log turns again."
)
@COMMANDS.shows(
    "log pause",
    "holdfast log pause --until tomorrow",
    Flags(
        HubMemory.pause_log,
        until=flag("--until", about="log again from then on", convert=moment),
    ),
    makes_hub=True,
    text="""Log no turns from now on, or until a time.

    Text in <private>…</private> is never logged, paused or not.""",
)
def _show_rules(call: Call, args: Namespace, rules: LogRules) -> None:
    until = None if rules.until is None else to_text(rules.until)
    if call.out.json:
        call.out.value(rules)
        return
    state = "paused" if rules.paused else "logging"
    if not call.out.terminal:
        call.out.row(state, until or "")
    elif rules.paused:
        when = "" if rules.until is None else f" until {call.out.time(rules.until)}"
        call.out.line(f"Turns are not logged{when}. `holdfast log resume` logs them again.")
    else:
        call.out.line("Turns are logged.")
    for kind, named in (("session", rules.sessions), ("folder", rules.folders)):
        for one in named:
            call.out.row("aside", kind, one)


# archive-conversation


@COMMANDS.shows(
    "archive-conversation",
    "holdfast archive-conversation s1",
    Flags(
        HubMemory.archive_conversation,
        session=flag(metavar="SESSION", about="the session, as it was logged"),
        messages=flag(
            "--file",
            metavar="FILE",
            about="messages instead of the log's: a JSON list of {role, content}; - reads it",
            convert=lambda call, path: _messages(call, path),
        ),
        name=flag(metavar="TEXT", about="instead of the opening words"),
        at=flag(about="the day to file it under"),
    ),
)
def _show_archived(call: Call, args: Namespace, done: Archived) -> int:
    """Archive a conversation: a markdown file to read, and a searchable memory with a summary.

    Archiving a session again adds what is new to the same file and memory.
    Errors are notes with exit code 1, which does not block a hook.
    In a pipe: archived, number, id, file."""
    memory = done.memory
    if call.out.json:
        word = "archived" if memory else "failed"
        call.out.value({"memory": memory, "path": done.path, "notes": done.notes}, result=word)
    elif memory and call.out.terminal:
        call.out.parts(("Archived", "green"), (f" #{memory.number}", "bold cyan"))
        if done.path:
            call.out.line(f"  {done.path}")
    elif memory:
        call.out.row("archived", f"#{memory.number}", memory.id, done.path or "")
    call.out.notes(done.notes)
    return 0 if memory else 1


def _messages(call: Call, path: str) -> list[Any]:
    import json

    try:
        value = json.loads(call.read(path, "a file of messages"))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise InvalidInput(
            "The messages are not a JSON list.",
            hint='For example: [{"role": "user", "content": "Hello"}]',
        )
    return value
