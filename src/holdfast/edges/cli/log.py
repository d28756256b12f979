"""The conversation log: log, log add, log search, log recover; and archive-conversation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_text
from holdfast.domain.records import ROLES
from holdfast.edges.cli import command
from holdfast.edges.cli.command import Command, Namespace, Parser, whole
from holdfast.edges.cli.output import plain_memory
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.records import Turn
    from holdfast.domain.results import LogRules
    from holdfast.edges.cli.call import Call


def _plain_turn(turn: Turn, hub: str) -> dict[str, Any]:
    return {"hub": hub, **turn._asdict(), "at": to_text(turn.at)}


def _show(call: Call, turns: Sequence[Turn]) -> None:
    if call.out.json:
        call.out.value([_plain_turn(turn, call.hub.name) for turn in turns])
        return
    for turn in turns:
        if not call.out.terminal:
            fields = (turn.role, turn.source, turn.session or "", turn.id, turn.content)
            call.out.row(call.out.time(turn.at), *fields)
            continue
        call.out.parts(
            (f"{call.out.time(turn.at)}  ", ""),
            (f"[{turn.source}] {turn.role}", "bold cyan"),
            (f"  {turn.content}", ""),
        )


# log


def _log_options(parser: Parser) -> None:
    command.add_limit(parser, "how many of the newest (20)")
    parser.add_argument("--session", metavar="NAME", help="of this session only")
    parser.add_argument("--before", metavar="ID", help="older than this turn")


def _log(call: Call, args: Namespace) -> None:
    limit = 20 if args.limit is None else args.limit
    turns = call.hub.turns(limit=limit, session=args.session, before=args.before)
    _show(call, turns[::-1])
    if not turns:
        call.out.note("Nothing was logged.")


# log add


def _add_options(parser: Parser) -> None:
    parser.add_argument("role", metavar="ROLE", help="who speaks: " + ", ".join(ROLES))
    parser.add_argument("content", nargs="*", metavar="WORD", help="what was said; - reads it")
    parser.add_argument("--source", default="unknown", metavar="NAME", help="where: telegram, tui")
    parser.add_argument("--session", metavar="NAME", help="the conversation it belongs to")
    parser.add_argument("--at", metavar="WHEN", help=f"when: {command.WHEN}")


def _add(call: Call, args: Namespace) -> None:
    if not args.content:
        raise InvalidInput("Say what was said.", hint="Give it as words, or - to read it.")
    text = call.read("-", "text") if args.content == ["-"] else " ".join(args.content)
    turn = call.hub.log_turn(
        args.role,
        text,
        source=args.source,
        session=args.session,
        at=call.when(args.at),
        folder=None if call.server else os.getcwd(),
    )
    if call.out.json:
        call.out.value(_plain_turn(turn, call.hub.name), result="logged")
    elif call.out.terminal:
        call.out.line("Logged.", "green")
    else:
        call.out.row("logged", turn.id)


# log search


def _search_options(parser: Parser) -> None:
    parser.add_argument("query", nargs="+", metavar="WORD", help="what to look for")
    command.add_limit(parser, "how many at most (10)")


def _search(call: Call, args: Namespace) -> None:
    query = " ".join(args.query)
    found = call.hub.search_turns(query, limit=10 if args.limit is None else args.limit)
    _show(call, found)
    if not found:
        call.out.note(f"Nothing found for “{query}”.")


# log recover


def _recover_options(parser: Parser) -> None:
    parser.add_argument("--turns", type=whole, default=10, metavar="N", help="how many turns (10)")
    parser.add_argument("--chars", type=whole, default=500, metavar="N", help="of each (500)")
    parser.add_argument("--name", default="Assistant", metavar="NAME", help="the assistant's name")
    parser.add_argument("--session", metavar="NAME", help="of this session only")


def _recover(call: Call, args: Namespace) -> None:
    prompt = call.hub.recovery_prompt(args.turns, args.chars, name=args.name, session=args.session)
    if call.out.json:
        call.out.value({"prompt": prompt})
    elif prompt:
        call.out.line(prompt)
    else:
        call.out.note("Nothing was logged, so there is nothing to recover.")


# archive-conversation


def _archive_options(parser: Parser) -> None:
    parser.add_argument("session", metavar="SESSION", help="the session, as it was logged")
    parser.add_argument("--name", metavar="TEXT", help="instead of the opening words")
    parser.add_argument("--at", metavar="WHEN", help=f"the day to file it under: {command.WHEN}")
    help_ = "messages instead of the log's: a JSON list of {role, content}; - reads it"
    parser.add_argument("--file", metavar="FILE", help=help_)


def _archive(call: Call, args: Namespace) -> int:
    messages = _messages(call, args.file) if args.file else None
    done = call.hub.archive_conversation(
        args.session, messages=messages, name=args.name, at=call.when(args.at)
    )
    memory = done.memory
    if call.out.json:
        plain = plain_memory(memory, call.hub.name) if memory else None
        word = "archived" if memory else "failed"
        told = {"memory": plain, "path": done.path, "notes": list(done.notes)}
        call.out.value(told, result=word)
    elif memory and call.out.terminal:
        call.out.parts(("Archived", "green"), (f" #{memory.number}", "bold cyan"))
        if done.path:
            call.out.line(f"  {done.path}")
    elif memory:
        call.out.row("archived", f"#{memory.number}", memory.id, done.path or "")
    for note in done.notes:
        call.out.note(note)
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


# log rules, log pause, log resume, log aside


def _no_options(parser: Parser) -> None:
    pass


def _rules(call: Call, args: Namespace) -> None:
    _show_rules(call, call.hub.log_rules())


def _pause_options(parser: Parser) -> None:
    parser.add_argument("--until", metavar="WHEN", help=f"log again from then on: {command.WHEN}")


def _pause(call: Call, args: Namespace) -> None:
    _show_rules(call, call.hub.pause_log(call.when(args.until)))


def _resume(call: Call, args: Namespace) -> None:
    _show_rules(call, call.hub.resume_log())


def _aside_options(parser: Parser) -> None:
    parser.add_argument(
        "--session", action="append", default=[], metavar="NAME", help="a session; `*` is a pattern"
    )
    parser.add_argument(
        "--folder", action="append", default=[], metavar="PATH", help="a folder and all below it"
    )
    parser.add_argument("--remove", action="store_true", help="log them again")


def _aside(call: Call, args: Namespace) -> None:

    folders = [os.path.abspath(os.path.expanduser(one)) for one in args.folder]
    _show_rules(
        call, call.hub.set_log_aside(sessions=args.session, folders=folders, remove=args.remove)
    )


def _show_rules(call: Call, rules: LogRules) -> None:
    until = None if rules.until is None else to_text(rules.until)
    if call.out.json:
        call.out.value({**rules._asdict(), "until": until})
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


# log size


def _size(call: Call, args: Namespace) -> None:
    size = call.hub.log_size()
    times = {
        name: None if at is None else to_text(at)
        for name, at in (("oldest", size.oldest), ("newest", size.newest))
    }
    if call.out.json:
        call.out.value({**size._asdict(), **times})
        return
    call.out.row("turns", str(size.turns))
    call.out.row("text", _amount(size.text_bytes))
    call.out.row("in the store", f"about {_amount(size.store_bytes)}")
    if size.turns:
        call.out.row("a year of yours", f"about {_amount(size.year_bytes)}")


def _amount(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1_000:
            return f"{size} {unit}"
        size = -(-size // 1_000)
    return f"{size} GB"


# log forget


def _forget_options(parser: Parser) -> None:
    parser.add_argument("--since", metavar="WHEN", help=f"said since: {command.WHEN}")
    parser.add_argument("--until", metavar="WHEN", help="said before")
    parser.add_argument("--session", metavar="NAME", help="of this session")
    parser.add_argument("--about", metavar="WORDS", help="that hold these words; memories too")
    parser.add_argument("--purge", action="store_true", help="remove the memories for good too")
    parser.add_argument("--yes", action="store_true", help="do it; without, only say what would go")


def _forget(call: Call, args: Namespace) -> None:
    done = call.hub.forget_turns(
        since=call.when(args.since),
        until=call.when(args.until, end=True),
        session=args.session,
        about=args.about,
        purge=args.purge,
        dry_run=not args.yes,
    )
    if call.out.json:
        call.out.value(
            {
                "total": done.total,
                "turns": [_plain_turn(turn, call.hub.name) for turn in done.turns],
                "memories": [plain_memory(one, call.hub.name) for one in done.memories],
            },
            result="preview" if done.dry_run else "forgotten",
        )
        return
    if done.dry_run:
        _show(call, done.turns)
        for memory in done.memories:
            call.out.row(f"#{memory.number}", memory.category, memory.content)
    turns = "1 turn" if done.total == 1 else f"{done.total} turns"
    count = len(done.memories)
    memories = "1 memory" if count == 1 else f"{count} memories"
    if done.dry_run:
        call.out.note(f"{turns} and {memories} would be forgotten; --yes does it.")
    else:
        call.out.note(
            f"Forgot {turns} for good and {memories}"
            + ("." if args.purge or not count else "; `holdfast undo` brings the memories back.")
        )


_TURNS = "In a pipe, a line per turn: time, role, source, session, id, content."

COMMANDS = (
    # The one-word command comes last: it is what is meant where no other matches.
    Command(
        "log add",
        "Log one turn of a conversation.",
        'holdfast log add user "Fix the JWT expiry bug" --source telegram --session s1',
        _add_options,
        _add,
        "Recall finds turns beside memories. All are kept; `log.keep` keeps only the newest.\n"
        "In a pipe: logged, id.",
        server="works",
        makes_hub=True,
    ),
    Command(
        "log search",
        "Find turns by their words, best first.",
        "holdfast log search deploy",
        _search_options,
        _search,
        _TURNS,
        server="works",
    ),
    Command(
        "log recover",
        "Print the prompt that tells a new session of the one that was lost.",
        "holdfast log recover --name Max",
        _recover_options,
        _recover,
        "It holds the last turns between an opening and a closing line; an empty log prints none.",
        server="works",
    ),
    Command(
        "log forget",
        "Forget what was said: since a time, of a session, or about a word.",
        "holdfast log forget --since 1h",
        _forget_options,
        _forget,
        "Without --yes it only says what would go. Turns go for good; memories made from them are\n"
        "forgotten too, which `holdfast undo` takes back unless they were purged.",
        server="works",
    ),
    Command(
        "log size",
        "Say how large the log is, and how much room a year of it would take.",
        "holdfast log size",
        _no_options,
        _size,
        "`log.keep`, `log.days` and `log.megabytes` bound it; without them everything is kept.",
        server="works",
    ),
    Command(
        "log pause",
        "Log no turns from now on, or until a time.",
        "holdfast log pause --until tomorrow",
        _pause_options,
        _pause,
        "What stands in <private>…</private> is never logged, paused or not.",
        server="works",
        makes_hub=True,
    ),
    Command(
        "log resume",
        "Log turns again.",
        "holdfast log resume",
        _no_options,
        _resume,
        server="works",
    ),
    Command(
        "log aside",
        "Keep sessions or folders out of the log.",
        "holdfast log aside --folder ~/taxes",
        _aside_options,
        _aside,
        "What was logged stays; `holdfast log forget` removes it.",
        server="works",
        makes_hub=True,
    ),
    Command(
        "log rules",
        "Say what is not logged.",
        "holdfast log rules",
        _no_options,
        _rules,
        server="works",
    ),
    Command(
        "log",
        "Print the newest turns of the conversation log, as they were said.",
        "holdfast log --session s1 -n 50",
        _log_options,
        _log,
        f"{_TURNS}\nSee also `holdfast log add`, `holdfast log search` and `holdfast log recover`.",
        server="works",
    ),
    Command(
        "archive-conversation",
        "Keep a conversation: a markdown file to read, and a memory with its summary to find.",
        "holdfast archive-conversation s1",
        _archive_options,
        _archive,
        "Archiving a session again adds what is new to the same file and memory.\n"
        "What goes wrong is a note and exit code 1, which blocks no hook.\n"
        "In a pipe: archived, number, id, file.",
        server="works",
    ),
)
